"""Do the attacks find what was planted, and nothing where nothing was?

People come from a known population, synthetic tables from known generators, so that the true excess is known.
Quick forms run always, their band 3 standard errors wide because the seed is fixed and the runs are few.
Full forms (``-m full``) repeat more and use the 95% band of the simulation's own error.
"""

import functools
import math

import numpy as np
import polars as pl
import pytest

import divulge
from divulge.case.case import build_case
from divulge.core.schema import Bins, Column, Schema
from divulge.stats import newcombe

LEVELS = [2, 3, 4, 5, 6, 8, 4, 4]
SHARES = [0.5, 0.3, 0.2]
KEYS = [f"k{j}" for j in range(7)]


def runs(quick, full):
    return pytest.mark.parametrize(
        ("runs", "errors"),
        [pytest.param(quick, 3.0, id="quick"), pytest.param(full, 1.96, id="full", marks=pytest.mark.full)],
    )


def band(rate, runs, errors):
    half = errors * math.sqrt(rate * (1 - rate) / runs)
    return rate - half, rate + half


def most(rate, runs, errors):
    return band(rate, runs, errors)[1]


# ---------------------------------------------------------------- populations


@functools.cache
def profiles():
    """Cumulated shares of each column's levels in each of 3 latent classes."""
    rng = np.random.default_rng(7)
    return [np.cumsum(rng.dirichlet(np.full(n, 1.5), size=3), axis=1) for n in LEVELS]


def people(rng, n):
    """Seven keys and a secret that depend on each other through a latent class, shape (n, 8)."""
    latent = rng.choice(3, n, p=SHARES)
    return np.stack([(rng.random((n, 1)) > p[latent][:, :-1]).sum(axis=1) for p in profiles()], axis=1)


def frame(rows, **more):
    return pl.DataFrame({f"k{j}": c for j, c in enumerate(rows.T[:-1])} | {"secret": rows[:, -1]} | more)


SCHEMA = Schema(tuple(Column(c, "integer-coded") for c in [*KEYS, "secret"]))


def case(real, synthetic, holdout, seed=0):
    return build_case(frame(real), frame(synthetic), frame(holdout), schema=SCHEMA, seed=seed)


def attacked(laid, keys=KEYS):
    (copied,) = divulge.copies.run(laid, variants=["exact"])
    return copied, divulge.cap.run(laid, keys=keys, target="secret", unseen="zero")


def covers(interval, truth):
    return interval.low <= truth <= interval.high


# ---------------------------------------------------------------- no leak


@runs(200, 1500)
def test_independent_tables_show_no_excess(runs, errors):
    rng = np.random.default_rng(1)
    seen = []
    for i in range(runs):
        for r in attacked(case(*(people(rng, 400) for _ in range(3)), seed=i)):
            alarm = r.difference.low > 0  # the one-sided test at 2.5%
            one_sided = r.difference.value > 0 and r.p_value <= 0.10
            seen.append((covers(r.difference, 0), covers(r.risk, 0), alarm, one_sided, r.difference.value))
    seen = np.array(seen, dtype=float).reshape(runs, 2, 5)
    for attack in (0, 1):
        difference, risk, alarm, one_sided, mean = seen[:, attack].mean(axis=0)
        low, high = band(0.95, runs, errors)
        assert low <= difference
        assert low <= risk
        # the wider of two intervals covers a little more than its level; far more would cost power
        assert difference <= 0.975 + high - 0.95
        assert risk <= 0.975 + high - 0.95
        assert alarm <= most(0.025, runs, errors)
        assert one_sided <= most(0.05, runs, errors)
        assert abs(mean) <= 3 * seen[:, attack, 4].std() / math.sqrt(runs)


# ---------------------------------------------------------------- planted copies


def planted(rng, n, share):
    """Real, synthetic and holdout people; a share of the synthetic rows are distinct real rows."""
    real, synthetic, holdout = (people(rng, n) for _ in range(3))
    copied = round(share * n)
    synthetic[:copied] = real[rng.permutation(n)[:copied]]
    return real, synthetic, holdout


def plain_cap(rows, synthetic, keys=7):
    """Mean CAP, unseen keys 0, by numpy alone."""
    radix = np.cumprod([1, *LEVELS[: keys - 1]])
    of_key, of_rows = synthetic[:, :keys] @ radix, rows[:, :keys] @ radix
    size = math.prod(LEVELS[:keys])
    s_key = np.bincount(of_key, minlength=size)[of_rows]
    s = np.bincount(of_key * 4 + synthetic[:, 7], minlength=4 * size)[of_rows * 4 + rows[:, 7]]
    return float((s / np.maximum(s_key, 1)).mean())


@functools.cache
def true_cap_residual(share, n, times):
    rng = np.random.default_rng(321)
    tables = (planted(rng, n, share) for _ in range(times))
    rates = np.array([[plain_cap(t, s), plain_cap(c, s)] for t, s, c in tables])
    member, stranger = rates.mean(axis=0)
    return (member - stranger) / (1 - stranger)


PLANTED = [0.0, 0.01, 0.05, 0.1, 0.25, 0.5]


@functools.cache
def found_planted(runs):
    """Per share: value, low and high of the risk of copies and of CAP, shape (runs, 2, 3)."""
    found = {}
    for share in PLANTED:
        rng = np.random.default_rng(round(1000 * share))
        risks = [
            [(r.risk.value, r.risk.low, r.risk.high) for r in attacked(case(*planted(rng, 500, share), seed=i))]
            for i in range(runs)
        ]
        found[share] = np.array(risks)
    return found


@runs(100, 400)
def test_planted_copies_are_the_risk_of_copies(runs, errors):
    for share, seen in found_planted(runs).items():
        value, low, high = seen[:, 0].T
        detected = (low > 0).mean()
        assert abs(value.mean() - share) <= 0.003 + 3 * value.std() / math.sqrt(runs)
        assert ((low <= share) & (share <= high)).mean() >= band(0.95, runs, errors)[0]
        if share == 0:
            assert detected <= most(0.025, runs, errors)
        elif share >= 0.05:
            assert detected >= 0.90


@runs(100, 400)
def test_planted_copies_raise_the_risk_of_cap(runs, errors):
    means = []
    for share, seen in found_planted(runs).items():
        truth = true_cap_residual(share, 500, 4 * runs)
        value, low, high = seen[:, 1].T
        means.append(value.mean())
        # the truth was simulated, too: its error adds to that of the mean
        assert abs(value.mean() - truth) <= 3 * value.std() * math.sqrt(1 / runs + 1 / (4 * runs))
        # conservative: the whole real table is attacked, so that only strangers are a sample
        assert ((low <= truth) & (truth <= high)).mean() >= band(0.95, runs, errors)[0]
        if share == 0:
            assert (low > 0).mean() <= most(0.025, runs, errors)
    assert means == sorted(means)
    assert ([m > 0.02 for m in means]) == [False, False, True, True, True, True]


@pytest.mark.quick
@pytest.mark.parametrize("share", PLANTED)
def test_copies_of_people_with_keys_of_their_own_are_counted_one_by_one(share):
    rng = np.random.default_rng(5)
    real, synthetic, holdout = (rng.random(500) for _ in range(3))
    synthetic[: round(500 * share)] = real[: round(500 * share)]
    secret = rng.integers(0, 4, (3, 500))
    secret[1, : round(500 * share)] = secret[0, : round(500 * share)]
    tables = [pl.DataFrame({"k": k, "t": t}) for k, t in zip((real, synthetic, holdout), secret, strict=True)]
    found = divulge.cap(
        tables[0], tables[1], holdout=tables[2], keys=["k"], target="t", unseen="zero",
        schema=Schema((Column("k", "numeric", bins=Bins("none")),)),
    )  # fmt: skip
    assert (found.real.rate, found.holdout.rate, found.risk.value) == (pytest.approx(share), 0, pytest.approx(share))


@runs(40, 400)
@pytest.mark.parametrize("ratio", [0.25, 1, 2])
def test_a_bootstrap_of_the_real_table_is_that_many_copies(ratio, runs, errors):
    n, m = 500, round(500 * ratio)
    share = 1 - (1 - 1 / n) ** m
    rng = np.random.default_rng(3)
    seen = []
    for i in range(runs):
        real, holdout = people(rng, n), people(rng, n)
        (found,) = divulge.copies.run(case(real, real[rng.integers(0, n, m)], holdout, seed=i), variants=["exact"])
        seen.append((found.risk.value, covers(found.risk, share)))
    seen = np.array(seen, dtype=float)
    assert abs(seen[:, 0].mean() - share) <= max(0.005, 3 * seen[:, 0].std() / math.sqrt(runs))
    assert seen[:, 1].mean() >= band(0.95, runs, errors)[0]


# ---------------------------------------------------------------- uniques


def keyed(rng, n, n_keys=200):
    return rng.integers(0, n_keys, n)


def alone_in(table, people, synthetic, n_keys=200):
    """How many people have a key that one row of a table and one synthetic row has, by numpy alone."""
    once = (np.bincount(table, minlength=n_keys) == 1) & (np.bincount(synthetic, minlength=n_keys) == 1)
    return int(once[people].sum())


@pytest.mark.parametrize("sizes", [(300, 300, 300), (100, 2000, 100)], ids=["even", "many strangers"])
@pytest.mark.parametrize("runs", [pytest.param(400, id="quick"), pytest.param(4000, id="full", marks=pytest.mark.full)])
def test_uniques_of_independent_tables_show_no_excess(runs, sizes):
    """People alone among members and strangers together; those alone among members alone raise alarms."""
    rng = np.random.default_rng(15)
    n, h, m = sizes
    schema = Schema((Column("k", "categorical"),))
    alarms, values = [], []
    for i in range(runs):
        real, holdout, synthetic = (keyed(rng, size) for size in (n, h, m))
        tables = (pl.DataFrame({"k": t}) for t in (real, synthetic, holdout))
        found = {
            r.variant: r for r in divulge.replicated_uniques.run(build_case(*tables, schema=schema, seed=i), keys=["k"])
        }
        pooled = found["repU pooled"]
        everybody = np.concatenate([real, holdout])
        assert (pooled.real.hits, pooled.holdout.hits) == (
            alone_in(everybody, real, synthetic),
            alone_in(everybody, holdout, synthetic),
        )
        # the same question with the real table as everybody: a stranger must be one more there
        none = (np.bincount(real, minlength=200) == 0) & (np.bincount(synthetic, minlength=200) == 1)
        own = newcombe(alone_in(real, real, synthetic), n, int(none[holdout].sum()), h)
        alarms.append((pooled.difference.low > 0, pooled.verdict == "excess found", own.low > 0))
        values.append(pooled.difference.value)
    alarm, verdict, of_own = np.mean(alarms, axis=0)
    assert alarm <= most(0.025, runs, 3.0)
    assert verdict <= alarm
    assert of_own > most(0.025, runs, 3.0)  # what the comparison of before would have done
    assert abs(np.mean(values)) <= 3 * np.std(values) / math.sqrt(runs)


# ---------------------------------------------------------------- households


def households(rng, n=80, size=5):
    """Households whose members agree in every column, but for one in 14 who is his own."""
    rows = np.repeat(people(rng, n), size, axis=0)
    alone = rng.random(n * size) < 1 / 14
    rows[alone] = people(rng, int(alone.sum()))
    return rows, np.repeat(np.arange(n), size)


@runs(200, 1500)
def test_households_must_be_the_unit_of_cap(runs, errors):
    rng = np.random.default_rng(12)
    schema = Schema((*SCHEMA.columns, Column("household", "categorical")))
    covered = []
    for i in range(runs):
        (real, home), (holdout, _) = households(rng), households(rng)
        synthetic = people(rng, 400)
        tables = frame(real, household=home), frame(synthetic, household=0 * home), frame(holdout, household=home)
        for unit in ("household", None):
            # strangers live elsewhere, though the numbers of their homes are the same: units are told apart by table
            r = divulge.cap.run(
                build_case(*tables, schema=schema, unit=unit, seed=i), keys=KEYS[:3], target="secret", unseen="zero"
            )
            covered += [covers(r.difference, 0), covers(r.risk, 0), r.p_value > 0.05]
    covered = np.array(covered).reshape(runs, 2, 3).mean(axis=0)
    low, high = band(0.95, runs, errors)
    assert np.all((low <= covered[0]) & (covered[0] <= high))
    assert np.all(covered[1] < 0.80)


# ---------------------------------------------------------------- knowledge about the population


def ruled(rng, n):
    """A secret that is a function of the key in 92 of 100 people and another value in 8."""
    key = rng.integers(0, 12, n)
    return pl.DataFrame({"key": key, "secret": (key + rng.integers(1, 4, n) * (rng.random(n) >= 0.92)) % 4})


@runs(60, 400)
def test_what_everybody_may_infer_is_no_excess(runs, errors):
    rng = np.random.default_rng(13)
    rates = []
    for i in range(runs):
        laid = build_case(ruled(rng, 2000), ruled(rng, 2000), ruled(rng, 2000), seed=i)
        r = divulge.modal_guess.run(laid, keys=["key"], target="secret")
        c = divulge.cap.run(laid, keys=["key"], target="secret", unseen="zero")
        rates.append((r.real.rate, r.difference.value, c.difference.value))
    rates = np.array(rates)
    assert abs(rates[:, 0].mean() - 0.92) <= 0.003
    assert np.all(np.abs(rates[:, 1:].mean(axis=0)) <= 0.003)


def test_inference_without_disclosure_is_called_so():
    rng = np.random.default_rng(14)
    tables = [ruled(rng, 120_000) for _ in range(3)]
    pair = {"keys": ["key"], "target": "secret"}
    for r in (
        divulge.modal_guess(tables[0], tables[1], holdout=tables[2], **pair),
        divulge.cap(tables[0], tables[1], holdout=tables[2], unseen="zero", **pair),
    ):
        assert r.verdict == "none found"
        assert any(n.startswith("inference without disclosure") for n in r.notes)
    few = [t[:2000] for t in tables]
    report = divulge.assess(few[0], few[1], holdout=few[2], keys=["key"], targets=["secret"])
    assert report.verdict != "excess found"


# ---------------------------------------------------------------- the default search


def searched(rng, seed, copied):
    real, synthetic, holdout = (people(rng, 200)[:, 3:] for _ in range(3))
    synthetic[:copied] = real[rng.permutation(200)[:copied]]
    tables = [
        pl.DataFrame({f"c{j}": [f"v{x}" for x in c] for j, c in enumerate(t.T)}) for t in (real, synthetic, holdout)
    ]
    return divulge.assess(tables[0], tables[1], holdout=tables[2], seed=seed, models=False)


@runs(8, 1000)
def test_the_search_finds_nothing_where_nothing_is(runs, errors):
    rng = np.random.default_rng(20)
    overall, in_family = 0, 0
    for i in range(runs):
        report = searched(rng, i, 0)
        overall += report.verdict == "excess found"
        in_family += any(r.attack == "cap" and r.verdict == "excess found" for r in report.results)
    assert overall / runs <= most(0.05, runs, min(errors, 2))
    assert in_family / runs <= most(0.05, runs, min(errors, 2))  # 100 key sets and targets, tested as one family


@runs(3, 200)
def test_the_search_finds_copied_people(runs, errors):
    rng = np.random.default_rng(21)
    verdicts = [searched(rng, i, 60).verdict for i in range(runs)]
    assert verdicts.count("excess found") / runs >= 0.95
