"""Do exact, near and partial copies find what was planted, and only that?

Theory: when a share phi of the synthetic rows are copies of distinct members (as many synthetic rows as members) and
strangers are matched at a rate p_C by chance, members are matched at phi + (1 - phi) p_C, so that the residual is phi.
Quick forms run always, in a band of 3 standard errors; full forms (``-m full``) repeat more, in the 95% band.
"""

import math

import numpy as np
import polars as pl
import pytest

import divulge
from divulge.attacks.copying import column_subsets as subsets
from divulge.case.case import build_case
from divulge.core.schema import Column, Schema

KEYS = [f"k{j}" for j in range(6)]
HALF = ("k0", "k1", "k2")
SCHEMA = Schema((*(Column(k, "numeric") for k in KEYS), Column("secret", "categorical")))


def runs(quick, full):
    return pytest.mark.parametrize(
        ("runs", "errors"),
        [pytest.param(quick, 3.0, id="quick"), pytest.param(full, 1.96, id="full", marks=pytest.mark.full)],
    )


def most(rate, runs, errors):
    return rate + errors * math.sqrt(rate * (1 - rate) / runs)


def people(rng, n):
    """Six numbers that depend on each other, shape (n, 6), and a secret of four equal levels, shape (n,)."""
    z = rng.standard_normal((n, 1))
    return 0.5 * z + rng.standard_normal((n, 6)), rng.integers(0, 4, n)


def frame(keys, secret):
    return pl.DataFrame(dict(zip(KEYS, keys.T, strict=True)) | {"secret": [f"s{v}" for v in secret]})


# ---------------------------------------------------------------- D4: which leak which measure sees


def leaky(rng, leak, n=300, share=0.25):
    """Real, synthetic and holdout tables with one kind of leak."""
    (real, told), (keys, secret), (others, theirs) = (people(rng, n) for _ in range(3))
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
    order = rng.permutation(n)
    return frame(real, told), frame(keys[order], secret[order]), frame(others, theirs)


MATRIX = [  # residual of exact copies, of near copies on the keys, and on the whole row (where the secret counts too)
    ("none", 0, 0, 0),
    ("full copy", 0.25, 0.25, 0.25),
    ("keys copied", 0.0625, 0.25, 0.0625),
    ("jitter", 0, 0.25, 0.25),
    ("half copied", 0, 0, 0),
    ("secrets permuted", 0, 0, 0),
]


@runs(8, 100)
@pytest.mark.parametrize(("leak", "exact", "near", "row"), MATRIX)
def test_each_measure_sees_the_leaks_it_should(leak, exact, near, row, runs, errors):
    found = []
    for i in range(runs):
        rng = np.random.default_rng([i, 4])
        laid = build_case(*leaky(rng, leak), schema=SCHEMA, seed=i)
        whole = divulge.copies.run(laid, variants=["exact", "near"])
        keys = divulge.copies.run(laid, columns=KEYS, variants=["near"])
        found.append([whole[0].risk.value, keys[0].risk.value, whole[1].risk.value])
    mean = np.mean(found, axis=0)
    assert np.abs(mean - [exact, near, row]).max() <= 0.02


@pytest.mark.parametrize("how", ["all sets", "search"])
@runs(3, 60)
def test_half_a_row_is_found_on_its_own_columns(monkeypatch, how, runs, errors):
    """No measure of the whole row sees this leak; near copies on the three columns must: .25, and a verdict."""
    if how == "search":
        monkeypatch.setattr(subsets, "_ALL_PAIRS", 0)
    risks, found = [], 0
    for i in range(runs):
        tables = leaky(np.random.default_rng([i, 5]), "half copied")
        results = divulge.copies(tables[0], tables[1], holdout=tables[2], schema=SCHEMA, seed=i)
        assert not any(r.verdict == "excess found" for r in results if not r.keys)
        on_half = [r for r in results if r.keys == HALF]
        found += any(r.verdict == "excess found" for r in on_half)
        risks += [r.risk.value for r in on_half]
    assert found >= 0.9 * runs
    assert abs(np.mean(risks) - 0.25) <= 0.02


# ---------------------------------------------------------------- D2: how many were planted


@runs(12, 400)
@pytest.mark.parametrize("share", [0, 0.01, 0.05, 0.1, 0.25, 0.5])
def test_planted_near_copies_are_the_risk_of_near_copies(share, runs, errors):
    """Copies with a jitter of 2% of a standard deviation in every number: none is exact."""
    n, risks, covered, alarms = 500, [], 0, 0
    for i in range(runs):
        rng = np.random.default_rng([i, 2, round(100 * share)])
        (real, told), (keys, secret), (others, theirs) = (people(rng, n) for _ in range(3))
        k = round(share * n)
        who = rng.choice(n, k, replace=False)
        keys[:k], secret[:k] = real[who] + 0.02 * rng.standard_normal((k, 6)), told[who]
        laid = build_case(frame(real, told), frame(keys, secret), frame(others, theirs), schema=SCHEMA, seed=i)
        exact, near = divulge.copies.run(laid, variants=["exact", "near"])
        assert exact.real.hits == 0
        risks.append(near.risk.value)
        covered += near.risk.low <= share <= near.risk.high
        alarms += near.difference.low > 0
    assert abs(np.mean(risks) - share) <= 0.003 + 3 * np.std(risks) / math.sqrt(runs)
    # the interval may be conservative: few runs may miss by their own error, many may not
    assert covered / runs >= 0.93 - (errors * math.sqrt(0.93 * 0.07 / runs) if runs < 400 else 0)
    if share == 0:
        assert alarms / runs <= most(0.025, runs, errors)
    if share >= 0.05:
        assert alarms / runs >= 0.9


# ---------------------------------------------------------------- no leak: no verdict, whatever the table


def shares():
    rng = np.random.default_rng(7)
    return [np.cumsum(rng.dirichlet(np.full(n, 1.5), size=3), axis=1) for n in (2, 3, 4, 5, 6, 8, 4, 4)]


SHARES = shares()


def coarse(rng, n):
    latent = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    return pl.DataFrame(
        {f"c{j}": [f"v{v}" for v in (rng.random((n, 1)) > p[latent][:, :-1]).sum(axis=1)] for j, p in enumerate(SHARES)}
    )


def numbers(rng, n):
    return frame(*people(rng, n))


def mixed(rng, n):
    x = people(rng, n)[0]
    heavy = np.where(x[:, 2] > 0.5, np.round(1000 * x[:, 2]), 0.0)
    return coarse(rng, n).with_columns(age=np.round(x[:, 0], 1), size=x[:, 1], gain=heavy)


def homes(rng, n):
    """Homes of three who share all but four columns."""
    whole = mixed(rng, n // 3)[np.repeat(np.arange(n // 3), 3)]
    own = mixed(rng, len(whole)).select("c0", "c1", "c2", "age")
    names = rng.integers(0, 2**60, n // 3).astype(str)
    return whole.with_columns(*own.get_columns(), home=pl.Series(np.repeat(names, 3)))


TEMPLATE = "the patient was seen on the ward and sent home with"


def told(rng, n):
    """Row numbers, addresses, and texts that share a sentence; rows are sorted by two columns."""
    table = mixed(rng, n).sort("c0", "age")
    words = [" ".join(f"w{v}" for v in row) for row in rng.integers(0, 40, (n, 6)) ** 2]
    note = [f"{TEMPLATE} {w}" for w in words]
    return table.with_columns(
        nr=np.arange(n), mail=pl.Series(rng.integers(0, 20 * n, n).astype(str)) + "@x", note=pl.Series(note)
    )


def poor(rng, n):
    """What a poor generator makes: each column right, nothing in common."""
    table = mixed(rng, n)
    return table.select(pl.Series(c.name, c.gather(rng.permutation(n))) for c in table)


HONEST = {
    "numbers": (numbers, numbers, (200, 200, 200)),
    "coarse": (coarse, coarse, (300, 300, 300)),
    "mixed": (mixed, mixed, (300, 300, 300)),
    "few strangers": (mixed, mixed, (500, 400, 60)),
    "few members": (coarse, coarse, (60, 400, 500)),
    "homes": (homes, homes, (240, 240, 240)),
    "poor": (mixed, poor, (300, 300, 300)),
    "told": (told, told, (300, 300, 300)),
}


@runs(5, 100)
@pytest.mark.parametrize("kind", HONEST)
@pytest.mark.parametrize("recurs", [3.0, -9.0], ids=["as it is", "twenty sets"])
def test_honest_tables_have_no_leak(monkeypatch, kind, recurs, runs, errors):
    """A finding anywhere in the family counts. A search that takes any set, however little it recurs, must hold too."""
    monkeypatch.setattr(subsets, "_ALL_PAIRS", 0)
    monkeypatch.setattr(subsets, "_RECURS", recurs)
    real, synthetic, sizes = HONEST[kind]
    unit = {"unit": "home"} if kind == "homes" else {}
    wrong, n_sets = 0, 0
    for i in range(runs):
        rng = np.random.default_rng([i, 9])
        tables = [make(rng, n) for make, n in zip((real, synthetic, real), sizes, strict=True)]
        results = divulge.copies(tables[0], tables[1], holdout=tables[2], seed=i, **unit)
        wrong += any(r.verdict == "excess found" for r in results)
        n_sets += sum(bool(r.keys) for r in results)
    assert wrong / runs <= most(0.05, runs, errors)
    assert recurs > 0 or n_sets >= runs  # coarse tables have few sets that tell enough, the others many


# ---------------------------------------------------------------- single columns, and rows with one column changed


@runs(200, 2000)
@pytest.mark.parametrize("shared", [0.02, 0.1])
def test_values_that_recur_by_chance_are_no_leak(shared, runs, errors):
    """Numbers of which 90 % of people have one of their own; strangers' values recur as often as members'."""
    wrong, hits = 0, 0.0
    for i in range(runs):
        rng = np.random.default_rng([i, 11])
        size = round(150 / shared)
        tables = [pl.DataFrame({"x": rng.integers(0, size, 100) * 0.5, "c": rng.integers(0, 3, 100)}) for _ in range(3)]
        schema = Schema((Column("x", "identifier"), Column("c", "categorical")))
        own, *_ = divulge.copies.run(build_case(*tables, schema=schema, seed=i), variants=["one column"])
        wrong += own.p_value <= 0.05
        hits += own.holdout.rate / runs
    assert hits > shared / 3
    assert wrong / runs <= most(0.05, runs, errors)


def spelled(rng, n, form):
    """Identifiers of n people: names of two words, or numbers of six digits; and how the leak spells them."""
    if form == "digits":
        texts = [f"{v:06d}" for v in rng.integers(0, 10**6, n)]
        place = rng.integers(0, 6, n)
        return texts, [t[:i] + str((int(t[i]) + 1) % 10) + t[i + 1 :] for t, i in zip(texts, place, strict=True)]
    if form == "backwards":
        texts = [f"{v:015x}" for v in rng.integers(0, 2**60, n)]
        return texts, [t[::-1] for t in texts]
    parts = rng.integers(0, [40, 800], (n, 2))
    texts = [f"Given{a} Family{b}é" for a, b in parts]
    turned = {
        "order": "family{1}e, given{0}", "marks": "GIVEN{0} FAMILY{1}E", "within": "No. 7: given{0} family{1}e (closed)",
    }[form]  # fmt: skip
    return texts, [turned.format(a, b) for a, b in parts]


@runs(20, 200)
@pytest.mark.parametrize("form", ["order", "marks", "digits", "within", "backwards"])
def test_identifiers_in_another_spelling_are_found_and_chance_is_not(form, runs, errors):
    """A twentieth of 400 people is found; without any of them, no form finds more than one table in twenty."""
    wrong, found = 0, 0
    for i in range(runs):
        rng = np.random.default_rng([i, 13])
        real, synthetic, holdout = (spelled(rng, 400, form) for _ in range(3))
        codes = [pl.Series("c", rng.integers(0, 9, 400).astype(str)) for _ in range(3)]
        leaky = [*real[1][:20], *synthetic[0][20:]]
        schema = Schema((Column("who", "identifier"), Column("c", "categorical")))
        for released, planted in ((synthetic[0], False), (leaky, True)):
            tables = [
                pl.DataFrame({"who": t, "c": c}) for t, c in zip((real[0], released, holdout[0]), codes, strict=True)
            ]
            results = divulge.copies(*tables[:2], holdout=tables[2], schema=schema, seed=i, variants=["one column"])
            seen = any(r.verdict == "excess found" for r in results)
            wrong, found = wrong + (seen and not planted), found + (seen and planted)
    assert wrong / runs <= most(0.05, runs, errors)
    assert found / runs >= 0.9 - errors * math.sqrt(0.09 / runs)


def neighbours(rng, n, kind):
    """Numbers of people, and the same moved by a little."""
    if kind == "stamps":
        drawn = rng.integers(0, 6 * 365 * 86_400, n).astype(float)
        return drawn, drawn + rng.integers(-30, 31, n)
    drawn = rng.lognormal(10, 1, n)
    return drawn, drawn * (1 + rng.uniform(-1e-5, 1e-5, n))


@runs(20, 200)
@pytest.mark.parametrize("kind", ["stamps", "lognormal"])
def test_numbers_nearly_equal_are_found_and_chance_is_not(kind, runs, errors):
    """A twentieth of 400 people is found; without any of them, at most one table in twenty has a finding."""
    wrong, found = 0, 0
    for i in range(runs):
        rng = np.random.default_rng([i, 14])
        (real, moved), (synthetic, _), (holdout, _) = (neighbours(rng, 400, kind) for _ in range(3))
        codes = [pl.Series("c", rng.integers(0, 9, 400).astype(str)) for _ in range(3)]
        for released, planted in ((synthetic, False), (np.r_[moved[:20], synthetic[20:]], True)):
            tables = [pl.DataFrame({"x": x, "c": c}) for x, c in zip((real, released, holdout), codes, strict=True)]
            results = divulge.copies(*tables[:2], holdout=tables[2], seed=i, variants=["one column"])
            seen = any(r.verdict == "excess found" for r in results)
            wrong, found = wrong + (seen and not planted), found + (seen and planted)
    assert wrong / runs <= most(0.05, runs, errors)
    assert found / runs >= 0.9 - errors * math.sqrt(0.09 / runs)


@runs(20, 200)
@pytest.mark.parametrize(("kind", "power"), [("another time zone", 0.9), ("with a tax", 0.5)])
def test_moved_numbers_are_found_and_chance_is_not(kind, power, runs, errors):
    """A twentieth of 400 people is found; where as many strangers stand there, at most one table in twenty has a finding."""
    shares = {"fresh": (0.0, 0.0), "both": (0.05, 0.05), "members": (0.05, 0.0)}
    seen = dict.fromkeys(shares, 0)
    for i in range(runs):
        for name, (members, strangers) in shares.items():
            rng = np.random.default_rng([i, 16])
            zone = kind == "another time zone"
            real, released, holdout = (
                rng.integers(0, 10**8, 400).astype(float) if zone else rng.lognormal(7, 0.5, 400).round(2)
                for _ in range(3)
            )
            k, m = round(400 * members), round(400 * strangers)
            released = np.concatenate([real[:k], holdout[:m], released[k + m :]])
            released = released + 18_000 if zone else (released * 1.19).round(2)
            codes = [pl.Series("c", rng.integers(0, 9, 400).astype(str)) for _ in range(3)]
            tables = [pl.DataFrame({"x": x, "c": c}) for x, c in zip((real, released, holdout), codes, strict=True)]
            results = divulge.copies(*tables[:2], holdout=tables[2], seed=i, variants=["one column"])
            seen[name] += any(r.verdict == "excess found" for r in results)
    assert seen["fresh"] / runs <= most(0.05, runs, errors)
    assert seen["both"] / runs <= most(0.05, runs, errors)
    assert seen["members"] / runs >= power - errors * math.sqrt(power * (1 - power) / runs)


@runs(20, 200)
def test_rare_pairs_are_found_and_chance_is_not(runs, errors):
    """Pairs of two codes of 10% of 500 people, who alone have them, are found; without any, at most one table in twenty has a finding."""
    wrong, found = 0, 0
    for i in range(runs):
        rng = np.random.default_rng([i, 15])
        levels = np.array([60, 60, 30, 5, 3])
        real, synthetic, holdout = (rng.random((500, 5)) ** 1.2 * levels // 1 for _ in range(3))
        leaky = synthetic.copy()
        _, own, times = np.unique(real[:, :2], axis=0, return_index=True, return_counts=True)
        leaky[rng.permutation(500)[:50], :2] = real[rng.permutation(own[times == 1])[:50], :2]
        for released, planted in ((synthetic, False), (leaky, True)):
            tables = [
                pl.DataFrame([[f"v{v:.0f}" for v in row] for row in t], schema=list("abcde"), orient="row")
                for t in (real, released, holdout)
            ]
            results = divulge.copies(*tables[:2], holdout=tables[2], seed=i, variants=["rare pairs"])
            seen = any(r.verdict == "excess found" for r in results)
            wrong, found = wrong + (seen and not planted), found + (seen and planted)
    assert wrong / runs <= most(0.05, runs, errors)
    assert found / runs >= 0.75 - errors * math.sqrt(0.19 / runs)


@runs(20, 200)
def test_intervals_between_dates_are_found_and_chance_is_not(runs, errors):
    """Rows of 5% of 400 people, all dates of each moved by days of its own, are found; without any, at most one table in twenty has a finding."""
    wrong, found = 0, 0
    for i in range(runs):
        rng = np.random.default_rng([i, 19])
        stays = [rng.exponential([[0, 40, 90]], (400, 3)).round().cumsum(axis=1) for _ in range(3)]
        leaky = stays[1].copy()
        leaky[:20] = stays[0][:20]
        for released, planted in ((stays[1], False), (leaky, True)):
            first = [np.datetime64("2015-01-01") + rng.integers(0, 1500, (400, 1)) for _ in range(3)]
            tables = [
                pl.DataFrame((start + own.astype(int)).T.tolist(), schema=list("abc"))
                for start, own in zip(first, (stays[0], released, stays[2]), strict=True)
            ]
            results = divulge.copies(*tables[:2], holdout=tables[2], seed=i, variants=["intervals"])
            seen = any(r.verdict == "excess found" for r in results)
            wrong, found = wrong + (seen and not planted), found + (seen and planted)
    assert wrong / runs <= most(0.05, runs, errors)
    assert found / runs >= 0.8 - errors * math.sqrt(0.16 / runs)


@runs(20, 200)
@pytest.mark.parametrize("zeros", [0, 0.7])
def test_moved_rows_are_found_and_chance_is_not(zeros, runs, errors):
    """The numbers of 5% of 400 people, those of each times a factor of its own, are found; without any, at most one table in twenty has a finding."""
    wrong, found = 0, 0
    for i in range(runs):
        rng = np.random.default_rng([i, 23])
        amounts = [np.exp(rng.normal(0, 1, (400, 12)) + rng.normal(0, 1, (400, 1))) for _ in range(3)]
        amounts = [np.where(rng.random(x.shape) < zeros, 0, x) for x in amounts]
        leaky = amounts[1].copy()
        leaky[:20] = amounts[0][:20] * rng.uniform(0.5, 2, (20, 1))
        for released, planted in ((amounts[1], False), (leaky, True)):
            tables = [
                pl.DataFrame(x.round(3), schema=[f"c{j}" for j in range(12)])
                for x in (amounts[0], released, amounts[2])
            ]
            results = divulge.copies(*tables[:2], holdout=tables[2], seed=i, variants=["moved rows"])
            seen = any(r.verdict == "excess found" for r in results)
            wrong, found = wrong + (seen and not planted), found + (seen and planted)
    assert wrong / runs <= most(0.05, runs, errors)
    assert found / runs >= 0.9 - errors * math.sqrt(0.09 / runs)


@runs(20, 200)
@pytest.mark.parametrize("length", [8, 3])
def test_whole_histories_are_found_and_chance_is_not(length, runs, errors):
    """All rows of 5% of 300 people under one synthetic person are found, though each row is common; chance is not."""
    wrong, found = 0, 0
    for i in range(runs):
        rng = np.random.default_rng([i, 18])
        real, synthetic, holdout = (
            pl.DataFrame(
                {
                    "person": np.repeat(np.arange(300), length) + 1000 * k,
                    "event": rng.integers(0, 40, 300 * length).astype(str),
                    "day": rng.integers(0, 7, 300 * length).astype(str),
                }
            )
            for k in range(3)
        )
        copied = real[: 15 * length].with_columns(person=synthetic["person"][: 15 * length])
        for released, planted in ((synthetic, False), (pl.concat([copied, synthetic[15 * length :]]), True)):
            results = divulge.copies(
                real, released, holdout=holdout, seed=i, unit="person", variants=["exact", "histories"]
            )
            seen = any(r.verdict in ("excess found", "deficit found") for r in results)
            wrong, found = wrong + (seen and not planted), found + (seen and planted)
    assert wrong / runs <= most(0.05, runs, errors)
    assert found / runs >= 0.95 - errors * math.sqrt(0.0475 / runs)


@runs(20, 200)
@pytest.mark.parametrize(("columns", "least"), [(1, 0.6), (3, 0.95)])
def test_last_digits_are_found_and_chance_is_not(columns, least, runs, errors):
    """The last four digits of 5% of 400 people, in cents: .73 in one column by the lab, nearly always in three."""
    wrong, found = 0, 0
    for i in range(runs):
        rng = np.random.default_rng([i, 17])
        names = [f"x{k}" for k in range(columns)]
        real, synthetic, holdout = (
            pl.DataFrame({c: rng.uniform(1000, 9999, 400).round(2) for c in names}) for _ in range(3)
        )
        kept = real[:20].select((pl.all() % 100 + 100 * pl.Series(rng.integers(10, 99, 20))).round(2))
        for released, planted in ((synthetic, False), (pl.concat([kept, synthetic[20:]]), True)):
            results = divulge.copies(real, released, holdout=holdout, seed=i, variants=["last digits"])
            seen = any(r.p_adjusted is not None and r.p_adjusted <= 0.05 for r in results)
            wrong, found = wrong + (seen and not planted), found + (seen and planted)
    assert wrong / runs <= most(0.05, runs, errors)
    assert found / runs >= least - errors * math.sqrt(least * (1 - least) / runs)


def few_values(rng, n, d=9, levels=4, dependent=0.3):
    latent = rng.integers(0, 3, (n, 1))
    return np.where(rng.random((n, d)) < dependent, latent % levels, rng.integers(0, levels, (n, d)))


@runs(30, 400)
@pytest.mark.parametrize("n", [200, 600])
def test_the_smallest_share_with_one_column_changed_is_found(n, runs, errors):
    """No more than one leak-free table in twenty is called a leak; the share that is named is found in four of five."""
    wrong, found, shares = 0, 0, []
    for i in range(runs):
        rng = np.random.default_rng([i, n, 12])
        real, synthetic, holdout = (few_values(rng, n) for _ in range(3))

        def asked(synthetic, real=real, holdout=holdout, i=i):
            tables = [
                pl.DataFrame(t.astype(str), schema=[f"c{j}" for j in range(9)]) for t in (real, synthetic, holdout)
            ]
            return divulge.copies.run(build_case(*tables, seed=i), variants=["all but one"])[0]

        clean = asked(synthetic)
        wrong += clean.p_value <= 0.05
        shares.append(clean.context["smallest share of copied people that would be found"])
        k = math.ceil(shares[-1] * n)
        synthetic[:k] = real[:k]
        column = rng.integers(0, 9, k)
        synthetic[np.arange(k), column] += rng.integers(1, 4, k)
        synthetic %= 4
        found += asked(synthetic).p_value <= 0.05
    assert max(shares) < 0.2
    assert wrong / runs <= most(0.05, runs, errors)
    assert found / runs >= 0.8 - errors * math.sqrt(0.8 * 0.2 / runs)
