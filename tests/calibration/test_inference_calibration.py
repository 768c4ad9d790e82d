"""Does inference find the share of rows that was copied, see the leaks it should, and none where none is?

Quick forms run always, their band 3 standard errors wide because the seed is fixed and the runs are few.
Full forms (``-m full``) repeat more and use the 95% band of the simulation's own error.
"""

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import divulge
from divulge.attacks.multiplicity import correct
from divulge.case.case import build_case
from divulge.core.schema import Column, Schema

KEYS = [f"x{j}" for j in range(6)]
NUMBERS = Schema((*(Column(c, "numeric") for c in KEYS), Column("secret", "categorical")))
LEVELS = (2, 3, 4, 5, 6, 8, 4, 4)
CODES = Schema((*(Column(f"k{j}", "integer-coded") for j in range(7)), Column("secret", "integer-coded")))
COUNTED = ("nearest record", "CAP", "k-vote")


def runs(quick, full):
    return pytest.mark.parametrize(
        ("runs", "errors"),
        [pytest.param(quick, 3.0, id="quick"), pytest.param(full, 1.96, id="full", marks=pytest.mark.full)],
    )


def half(rate, runs, errors):
    return errors * math.sqrt(rate * (1 - rate) / runs)


def within(values, expected, errors=3.0):
    """Whether the mean of the runs is as expected, by its own error."""
    return abs(np.mean(values) - expected) <= errors * np.std(values) / math.sqrt(len(values))


# ---------------------------------------------------------------- populations

SHARES = [np.cumsum(np.random.default_rng(7).dirichlet(np.full(n, 1.5), size=3), axis=1) for n in LEVELS]


def classes(rng, n):
    """Seven keys and a secret that depend on each other through one of three latent classes, shape (n, 8)."""
    latent = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    return np.stack([(rng.random((n, 1)) > p[latent][:, :-1]).sum(axis=1) for p in SHARES], axis=1)


def coded(rows):
    return pl.DataFrame({f"k{j}": c for j, c in enumerate(rows.T[:-1])} | {"secret": rows[:, -1]})


def normal(rng, n):
    """Six numbers and a secret that depends on the first two."""
    keys = rng.normal(size=(n, 6))
    return keys, np.digitize(keys[:, 0] + keys[:, 1] + rng.normal(size=n), [-1, 0, 1])


def frame(keys, secret):
    return pl.DataFrame(dict(zip(KEYS, keys.T, strict=True)) | {"secret": [f"s{x}" for x in secret]})


def attacked(case, ways=COUNTED, target="secret", **options):
    return divulge.inference.run(case, target=target, ways=ways, **options)


# ---------------------------------------------------------------- D1: no leak


@runs(60, 1500)
def test_leak_free_codes_are_no_excess(runs, errors):
    """Full of ties: most scores are fractions, all but those of the vote."""
    seen = {way: [] for way in COUNTED}
    for i in range(runs):
        rng = np.random.default_rng([i, 1])
        case = build_case(*(coded(classes(rng, 400)) for _ in range(3)), schema=CODES, seed=i)
        for r in attacked(case):
            gap, risk = r.difference, r.risk
            covered = gap.low <= 0 <= gap.high, risk.low <= 0 <= risk.high
            one_sided = gap.value > 0 and r.p_value <= 0.10
            seen[r.variant].append((gap.value, *covered, gap.low > 0, one_sided, r.verdict == "excess found"))
    for way, rows in seen.items():
        excess, by_gap, by_risk, alarms, one_sided, found = np.array(rows, dtype=float).T
        said = f"{way}: {np.mean(rows, axis=0).round(4).tolist()}"
        print(said)
        assert within(excess, 0), said
        for covered in (by_gap, by_risk):
            # a conservative interval covers a little more; far more would cost power
            assert 0.95 - half(0.95, runs, errors) <= covered.mean() <= min(1.0, 0.975 + half(0.95, runs, errors)), said
        assert alarms.mean() <= 0.025 + half(0.025, runs, errors), said
        assert one_sided.mean() <= 0.05 + half(0.05, runs, errors), said
        assert found.mean() <= alarms.mean()


# ---------------------------------------------------------------- D2: how many were planted


def normal_case(i, design, share, n=500):
    """People with keys of their own; a share of the synthetic rows are distinct real ones."""
    rng = np.random.default_rng([i, design, round(100 * share)])
    (real, told), (keys, secret), others = (normal(rng, n) for _ in range(3))
    k = round(share * n)
    who = rng.choice(n, k, replace=False)
    keys[:k], secret[:k] = real[who], told[who]
    case = build_case(frame(real, told), frame(keys, secret), frame(*others), schema=NUMBERS, seed=i)
    return case, who


@runs(20, 400)
@pytest.mark.parametrize("share", [0, 0.01, 0.05, 0.1, 0.25, 0.5])
def test_the_planted_share_of_people_with_keys_of_their_own_is_the_risk(share, runs, errors):
    seen = []
    for i in range(runs):
        case, who = normal_case(i, 2, share)
        (r,) = attacked(case, ["nearest record"])
        assert (r.individual.real[who] == 1).all()
        seen.append((r.risk.value, r.risk.low <= share <= r.risk.high, r.difference.low > 0))
    risk, covered, alarms = np.array(seen, dtype=float).T
    said = f"share {share}: {np.mean(seen, axis=0).round(4).tolist()}"
    print(said)
    assert within(risk, share), said
    # the whole real table is attacked: only strangers are a sample, and the interval may be too wide
    assert covered.mean() >= 0.93 - (half(0.93, runs, errors) if runs < 400 else 0), said
    if share == 0:
        assert alarms.mean() <= 0.025 + half(0.025, runs, errors), said
    elif share >= 0.25:
        assert alarms.mean() == 1, said


@runs(30, 400)
@pytest.mark.parametrize("share", [0.1, 0.25, 0.5])
def test_the_planted_share_of_people_who_tie_is_the_risk_of_what_is_told_of_them(share, runs, errors):
    """Theory: share times (s - p) / (1 - p), s the success on copied people, p that on strangers."""
    seen, n = [], 500
    for i in range(runs):
        rng = np.random.default_rng([i, 3, round(100 * share)])
        real, synthetic, holdout = (classes(rng, n) for _ in range(3))
        k = round(share * n)
        who = rng.choice(n, k, replace=False)
        synthetic[:k] = real[who]
        case = build_case(coded(real), coded(synthetic), coded(holdout), schema=CODES, seed=i)
        (r,) = attacked(case, ["nearest record"])
        copied = r.individual.real[who].mean()
        p = r.holdout.rate
        truth = share * (copied - p) / (1 - p)
        seen.append((r.risk.value, truth, copied, p, r.risk.low, r.risk.high))
    risk, truth, copied, p, low, high = np.array(seen).T
    said = f"share {share}: {np.mean(seen, axis=0).round(4).tolist()}"
    print(said)
    assert 0.7 < copied.mean() < 1, said
    # a ratio is off, on average, by the variance of its denominator
    bias = p.var() / (1 - p.mean()) ** 2
    assert abs((risk - truth).mean()) <= bias + 3 * (risk - truth).std() / math.sqrt(runs), said
    covered = ((low <= truth.mean()) & (truth.mean() <= high)).mean()
    assert covered >= 0.93 - (half(0.93, runs, errors) if runs < 400 else 0), said


# ---------------------------------------------------------------- D4: which leak it sees

MATRIX = {
    "none": 0,
    "full copy": 0.25,
    "keys copied": -0.04,
    "jitter": 0.25,
    "half copied": 0,
    "secrets permuted": 0,
}


@runs(40, 100)
@pytest.mark.parametrize("leak", MATRIX)
def test_it_sees_copies_of_keys_and_secret_and_no_other_leak(leak, runs, errors):
    n, share, found = 300, 0.25, []
    for i in range(runs):
        rng = np.random.default_rng([i, 4])
        (real, told), (keys, secret), others = (normal(rng, n) for _ in range(3))
        k = round(share * n)
        who = rng.choice(n, k, replace=False)
        if leak == "full copy":
            keys[:k], secret[:k] = real[who], told[who]
        elif leak == "keys copied":
            keys[:k] = real[who]
        elif leak == "jitter":
            keys[:k], secret[:k] = real[who] + 0.05 * real.std(axis=0) * rng.standard_normal((k, 6)), told[who]
        elif leak == "half copied":
            keys[:k, :3] = real[who, :3]
        elif leak == "secrets permuted":
            secret = rng.permutation(secret)
        case = build_case(frame(real, told), frame(keys, secret), frame(*others), schema=NUMBERS, seed=i)
        (r,) = attacked(case, ["nearest record"])
        found.append(r.risk.value)
    print(f"{leak}: {np.mean(found):.4f} +- {np.std(found) / math.sqrt(runs):.4f}")
    # few runs may miss by their own error
    assert abs(np.mean(found) - MATRIX[leak]) <= 0.03 + (errors * np.std(found) / math.sqrt(runs) if runs < 100 else 0)
    if leak == "keys copied":
        assert np.mean(found) < 0


# ---------------------------------------------------------------- D13: what everybody may infer


def ruled(rng, n):
    """A secret that is a function of the key in 92 of 100 people and another value in 8."""
    key = rng.integers(0, 12, n)
    secret = (key + rng.integers(1, 4, n) * (rng.random(n) >= 0.92)) % 4
    return pl.DataFrame({"key": [f"k{x}" for x in key], "secret": [f"s{x}" for x in secret]})


@runs(40, 400)
def test_what_everybody_may_infer_is_no_excess(runs, errors):
    rates = {way: [] for way in COUNTED}
    for i in range(runs):
        rng = np.random.default_rng([i, 5])
        case = build_case(*(ruled(rng, 2000) for _ in range(3)), seed=i)
        for r in attacked(case):
            rates[r.variant].append((r.real.rate, r.difference.value, r.difference.low > 0))
    for way, rows in rates.items():
        accuracy, excess, alarms = np.array(rows, dtype=float).T
        # a nearest row is drawn among those of the key: right when both follow the rule, or err alike
        expected = 0.92 if way == "k-vote" else 0.92**2 + 0.08**2 / 3
        print(way, accuracy.mean().round(4), excess.mean().round(5), alarms.mean())
        assert abs(accuracy.mean() - expected) <= 0.003
        assert alarms.mean() <= 0.025 + half(0.025, runs, errors)
        assert abs(excess.mean()) <= 0.003


def test_inference_without_disclosure_is_called_so():
    rng = np.random.default_rng(14)
    case = build_case(*(ruled(rng, 120_000) for _ in range(3)))
    for r in attacked(case):
        assert r.verdict == "none found", r.variant
        assert any(n.startswith("inference without disclosure") for n in r.notes), r.variant
        assert r.baseline.rate < 0.3 < r.holdout.rate
    # where the attack is no better than the commonest value nothing is inferred
    random = [ruled(rng, 20_000).with_columns(secret=pl.col("secret").shuffle(seed=i)) for i in range(3)]
    for r in attacked(build_case(*random)):
        assert not any(n.startswith("inference without disclosure") for n in r.notes), r.variant


# ---------------------------------------------------------------- many targets


def correlated(rng, n):
    """A key of one's own and 12 correlated binary secrets."""
    shared = rng.normal(size=(n, 1))
    return rng.random(n), (shared + rng.normal(size=(n, 12)) > 0).astype(int)


def many_targets(i, design, leak):
    rng = np.random.default_rng([i, design])
    (real, told), (keys, secret), others = (correlated(rng, 400) for _ in range(3))
    if leak:
        k = round(leak * 400)
        who = rng.choice(400, k, replace=False)
        keys[:k], secret[:k, 0] = real[who], told[who, 0]
    tables = [
        pl.DataFrame({"key": k} | {f"s{j:02}": [f"v{x}" for x in s[:, j]] for j in range(12)})
        for k, s in ((real, told), (keys, secret), others)
    ]
    # no interval of one target alone: the family draws for all
    case = replace(build_case(*tables, schema=Schema((Column("key", "numeric"),)), seed=i), draws=0)
    return correct(case, attacked(case, ["nearest record"], [f"s{j:02}" for j in range(12)], keys=["key"]))


@runs(20, 400)
def test_twelve_targets_without_a_leak_are_one_family(runs, errors):
    found = [[r.verdict == "excess found" for r in many_targets(i, 6, 0)] for i in range(runs)]
    alone = [any(found_in) for found_in in found]
    print("family-wise", np.mean(alone))
    assert np.mean(alone) <= 0.05 + half(0.05, runs, errors)
    assert np.mean(alone) <= 0.07 or runs < 400


@runs(20, 200)
def test_one_leaking_target_of_twelve_is_found(runs, errors):
    found = np.array([[r.verdict == "excess found" for r in many_targets(i, 7, 0.35)] for i in range(runs)])
    print("found", found[:, 0].mean(), "others", found[:, 1:].any(axis=1).mean())
    assert found[:, 0].mean() >= 0.90
    assert found[:, 1:].any(axis=1).mean() <= 0.05 + half(0.05, runs, errors)


# ---------------------------------------------------------------- subgroups


@runs(60, 600)
def test_groups_of_noise_have_no_excess(runs, errors):
    """Of unequal sizes: risk is of each group's own people, and the limits of all groups of a column hold together."""
    value, covered, together = [], [], []
    for i in range(runs):
        rng = np.random.default_rng([i, 8])
        tables = [
            pl.DataFrame({"x": rng.random(n), "secret": [f"s{v}" for v in rng.choice(4, n, p=[0.4, 0.3, 0.2, 0.1])]})
            for n in (300, 400, 900)
        ]
        case = build_case(*tables, schema=Schema((Column("x", "numeric"), Column("secret", "categorical"))), seed=i)
        (r,) = attacked(case, ["nearest record"])
        risks = [g.risk for g in r.groups]
        value.append(np.mean([k.value for k in risks]))
        covered.append(np.mean([k.low <= 0 <= k.high for k in risks]))
        together.append(all(k.low_simultaneous <= 0 <= k.high_simultaneous for k in risks))
    said = f"{np.mean(value):.4f} {np.mean(covered):.4f} {np.mean(together):.4f}"
    print(said)
    assert within(value, 0), said
    for share in (covered, together):
        assert 0.95 - half(0.95, runs, errors) <= np.mean(share) <= min(1.0, 0.975 + half(0.95, runs, errors)), said


# ---------------------------------------------------------------- the attacker who learns


@runs(6, 30)
def test_a_model_finds_copies_and_nothing_where_nothing_is(runs, errors):
    excess, power = [], []
    for i in range(runs):
        for share, out in ((0, excess), (0.5, power)):
            case, _ = normal_case(i, 9, share, n=300)
            (r,) = attacked(case, ["model"])
            out.append((r.difference.value, r.difference.low > 0, r.holdout.rate))
    (null, alarms, _), (gap, found, _) = np.array(excess).T, np.array(power).T
    print(np.mean(excess, axis=0), np.mean(power, axis=0))
    assert within(null, 0)
    assert alarms.mean() <= 0.025 + half(0.025, runs, errors)
    assert gap.mean() > 0.1
    assert found.mean() >= 0.8
