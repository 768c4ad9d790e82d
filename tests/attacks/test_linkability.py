"""Linkability: worked numbers, an oracle that enumerates every draw in fractions, engines, laws, bad input."""

import itertools
import math
from fractions import Fraction as F

import numpy as np
import polars as pl
import pytest
from amount import tries
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import divulge
from divulge.attacks.checks import SHOWN
from divulge.attacks.identity.linkability import _entropy, random_meeting
from divulge.case.case import COLLECTED, build_case
from divulge.core.errors import ColumnError, SettingError
from divulge.core.schema import Column, Schema
from divulge.kernels.linkage import record_linkage
from divulge.kernels.linkage._chance import link_probability
from divulge.kernels.linkage.record_linkage import ColumnHalf, chances, once
from divulge.kernels.neighbours.gower import Field, fit_ruler

SCHEMA = Schema(
    (Column("x", "numeric"), Column("c", "categorical"), Column("y", "numeric"), Column("d", "categorical"))
)
SPLIT = (["x", "c"], ["y", "d"])
# no shrinking: a failing table is small as it is
few = settings(
    max_examples=tries(60), deadline=None, derandomize=True, database=None, phases=[Phase.explicit, Phase.generate]
)


def frame(rows):
    return pl.DataFrame(rows, schema={"x": pl.Float64, "c": pl.String, "y": pl.Float64, "d": pl.String}, orient="row")


def run(tables, **options):
    """The results of linkability, by variant."""
    real, synthetic, *rest = tables
    found = divulge.linkability(real, synthetic, holdout=rest[0] if rest else None, **options)
    return {r.variant: r for r in found}


def linked(tables, ks, **options):
    """The scores of members and strangers for each k, on the halves of SPLIT."""
    found = run(tables, columns=SPLIT, k=ks, schema=SCHEMA, **options)
    return {r.settings["k"]: r for r in found.values()}


# ---------------------------------------------------------------- the oracle: every draw, in fractions

number, letter = st.sampled_from([0.0, 1.0, 2.0, 3.0, 4.0, None]), st.sampled_from(["a", "b", None])
row = st.tuples(number, letter, number, letter)
people = st.lists(row, min_size=1, max_size=6).map(lambda rows: [(0.0, "a", 0.0, "a"), (4.0, "b", 4.0, "b"), *rows])
table = st.lists(row, min_size=2, max_size=7)


def distance(a, b):
    """Of a number and a letter, on the range 0 to 4."""
    gap = None in (a[0], b[0])
    term = F(a[0] is not b[0]) if gap else abs(F(a[0]) - F(b[0])) / 4
    return (term + F(a[1] != b[1])) / 2


def draws(far, k):
    """All ways to fill k places: what is nearer than the k-th distance, and any of those at it."""
    kth = sorted(far)[k - 1]
    sure = [i for i, d in enumerate(far) if d < kth]
    tied = [i for i, d in enumerate(far) if d == kth]
    return [{*sure, *some} for some in itertools.combinations(tied, k - len(sure))]


def meets(one, other, k):
    ways = list(itertools.product(draws(one, k), draws(other, k)))
    return F(sum(bool(a & b) for a, b in ways), len(ways))


def expected(who, synthetic, k):
    """A table written out g times counts once."""
    repeats = math.gcd(*(synthetic.count(s) for s in synthetic))
    once = [s for s in set(synthetic) for _ in range(synthetic.count(s) // repeats)]
    return [meets([distance(p[:2], s[:2]) for s in once], [distance(p[2:], s[2:]) for s in once], k) for p in who]


@few
@given(people, table, people)
def test_links_are_those_of_every_draw(real, synthetic, holdout):
    repeats = math.gcd(*(synthetic.count(s) for s in synthetic))
    ks = [k for k in (1, 2, 3, 4) if k <= len(synthetic) // repeats]
    found = linked((frame(real), frame(synthetic), frame(holdout)), ks)
    assert list(found) == ks
    for k, r in found.items():
        members, strangers = expected(real, synthetic, k), expected(holdout, synthetic, k)
        assert np.abs(r.individual.real - [float(p) for p in members]).max() < 1e-12
        assert np.abs(r.individual.holdout - [float(p) for p in strangers]).max() < 1e-12
        a, b = F(sum(members), len(members)), F(sum(strangers), len(strangers))
        assert r.real.rate == pytest.approx(float(a), abs=1e-12)
        assert r.holdout.rate == pytest.approx(float(b), abs=1e-12)
        assert r.difference.value == pytest.approx(float(a - b), abs=1e-12)
        assert r.risk.value == (None if b == 1 else pytest.approx(float((a - b) / (1 - b)), abs=1e-9))
        m = len(synthetic) // repeats
        assert r.baseline.rate == pytest.approx(float(1 - F(math.comb(m - k, k), math.comb(m, k))), abs=1e-15)
        drawn = [0 < p < 1 for p in members + strangers]
        assert r.context["share of people whose link is drawn from ties"] == sum(drawn) / len(drawn)


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=8),
    st.integers(1, 4),
)
def test_a_chance_is_the_share_of_all_draws(far, k):
    k = min(k, len(far))
    one, other = zip(*far, strict=True)
    sets = []
    for d in (one, other):
        kth = sorted(d)[k - 1]
        sets += [{i for i, x in enumerate(d) if x < kth}, {i for i, x in enumerate(d) if x == kth}]
    sure, tied, other_sure, other_tied = sets
    if sure & other_sure:
        assert meets(one, other, k) == 1
        return
    counts = len(tied & other_sure), len(sure & other_tied), len(tied & other_tied)
    found = link_probability(len(tied), k - len(sure), len(other_tied), k - len(other_sure), *counts)
    assert found == pytest.approx(float(meets(one, other, k)), abs=1e-12)


def hypergeometric(g, a, h, b, x, y, z):
    """The sum over the number of shared rows that the first draw has, in fractions."""
    missed = F(0)
    for j in range(min(z, a) + 1):
        first = F(math.comb(z, j) * math.comb(g - x - z, a - j), math.comb(g, a)) if a - j <= g - x - z else F(0)
        second = F(math.comb(h - y - j, b), math.comb(h, b)) if b <= h - y - j else F(0)
        missed += first * second
    return 1 - missed


@pytest.mark.parametrize(
    "counts",
    [
        (5000, 10, 30_000, 10, 0, 0, 400), (5000, 3, 12, 9, 2, 1, 5), (200_000, 10, 200_000, 10, 0, 0, 150_000),
        (40, 20, 60, 30, 1, 1, 3), (3000, 400, 3000, 400, 0, 0, 3000), (900, 899, 900, 1, 0, 0, 2),
    ],
)  # fmt: skip
def test_chances_of_large_ties_are_exact(counts):
    assert link_probability(*counts) == pytest.approx(float(hypergeometric(*counts)), abs=1e-12)


# ---------------------------------------------------------------- by hand


def test_a_worked_example():
    """Ages 20.5 and 60.5 at the ends of the range; of the three rows two share a town.

    The first person is nearest to row 0 by age; his town, Ayr, is that of rows 0 and 1, of which one is drawn: 1/2.
    With k = 2 age gives rows 0 and 1, town the same: 1. The stranger is nearest to row 2 by age; his town is that of
    rows 0 and 1: 0. With k = 2 age gives rows 2 and 1, town both others: 1.
    """
    real = pl.DataFrame({"age": [20.5], "town": ["Ayr"]})
    synthetic = pl.DataFrame({"age": [22.5, 30.5, 58.5], "town": ["Ayr", "Ayr", "Deal"]})
    holdout = pl.DataFrame({"age": [60.5], "town": ["Ayr"]})
    schema = Schema((Column("age", "numeric"), Column("town", "categorical")))
    pair = ["age"], ["town"]
    one, two = divulge.linkability(real, synthetic, holdout=holdout, columns=pair, k=[1, 2], schema=schema)
    assert (one.real.hits, one.holdout.hits, two.real.hits, two.holdout.hits) == (0.5, 0, 1, 1)
    assert (one.baseline.rate, two.baseline.rate) == (1 / 3, 1)
    assert one.settings == {"first": ["age"], "second": ["town"], "k": 1, "split": "given columns"}
    assert (one.attack, one.variant, one.keys, one.target) == ("linkability", "given columns, k = 1", (), None)
    assert one.context == {"share of people whose link is drawn from ties": 0.5, SHOWN: 1.0}


def test_what_two_random_sets_give():
    assert [random_meeting(m, k) for m, k in [(1, 1), (10, 1), (10, 5), (10, 6)]] == [1, 0.1, 251 / 252, 1]
    assert random_meeting(39_040, 10) == pytest.approx(
        float(1 - math.prod(1 - F(10, 39_040 - i) for i in range(10))), abs=1e-15
    )
    assert random_meeting(10**6, 500) == pytest.approx(1 - math.exp(-0.25), rel=1e-3)


# ---------------------------------------------------------------- engines, threads, parts


def half(rng, n, m):
    fields = []
    for j in range(int(rng.integers(1, 4))):
        if rng.random() < 0.4:
            x = rng.normal(size=n + m).round(int(rng.integers(0, 3)))
            x[rng.random(n + m) < 0.1] = np.nan
            marks = np.isnan(x).astype(np.int32)
            fields.append(Field(f"n{j}", (x[:n], x[n:]), (marks[:n], marks[n:])))
        else:
            c = rng.integers(0, int(rng.choice([2, 3, 6, 20])), n + m).astype(np.int32)
            fields.append(Field(f"c{j}", None, (c[:n], c[n:])))
    ruler, (synthetic, asked) = fit_ruler(fields, [0, 1])
    return ColumnHalf(ruler, synthetic, asked)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_the_compiled_walk_counts_as_the_matrices_do(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    n, m = int(rng.choice([3, 20, 300])), int(rng.choice([1, 30, 200]))
    halves = [half(rng, n, m) for _ in range(2)]
    ks = sorted({int(k) for k in rng.integers(1, min(n, 12) + 1, 4)})
    slow = chances(halves, ks, engine="numpy")
    monkeypatch.setattr("divulge.kernels.neighbours._reached._LISTED", int(rng.choice([5, 1000, 20_000_000])))
    monkeypatch.setattr(
        "divulge.kernels.linkage.record_linkage._SEARCHES", int(rng.choice([0, 8, 10_000]))
    )  # look up always, or never
    for threads in (1, 3):
        assert np.array_equal(chances(halves, ks, engine="compiled", threads=threads), slow)
    turned = chances(halves[::-1], ks, engine="compiled")
    assert np.abs(turned - slow).max() < 1e-12


@pytest.mark.parametrize("engine", ["compiled", "numpy"])
@pytest.mark.parametrize("seed", range(3))
def test_people_are_linked_in_parts_to_the_bit(seed, engine, monkeypatch):
    rng = np.random.default_rng(seed)
    halves = [half(rng, 60, 50) for _ in range(2)]
    whole = chances(halves, [1, 3, 10], engine=engine)
    asked = []
    monkeypatch.setattr(record_linkage, "_PEOPLE", 7)
    monkeypatch.setattr(
        record_linkage, "_chances", lambda *given, of=record_linkage._chances: asked.append(0) or of(*given)
    )
    assert chances(halves, [1, 3, 10], engine=engine).tobytes() == whole.tobytes()
    assert len(asked) > 2


@pytest.mark.slow
def test_a_large_table_with_large_ties():
    """Both engines where each class of one half has a thousand rows, each of the other two thirds of one."""
    rng = np.random.default_rng(3)
    n, m = 6000, 900
    ruler, (synthetic, asked) = fit_ruler(
        [Field("c", None, tuple(rng.integers(0, 6, k).astype(np.int32) for k in (n, m)))], [0, 1]
    )
    x = rng.integers(0, 9000, n + m).astype(float)
    numbers = Field("x", (x[:n], x[n:]), (np.zeros(n, np.int32), np.zeros(m, np.int32)))
    other, (rows, people) = fit_ruler([numbers], [0, 1])
    halves = [ColumnHalf(ruler, synthetic, asked), ColumnHalf(other, rows, people)]
    ks = [1, 2, 5, 10]
    assert np.array_equal(chances(halves, ks), chances(halves, ks, engine="numpy"))


def test_a_table_written_out_several_times_keeps_one_of_each():
    rng = np.random.default_rng(4)
    halves = [half(rng, 50, 5) for _ in range(2)]
    thrice = [h._replace(synthetic=h.synthetic.take(np.repeat(np.arange(50), 3))) for h in halves]
    kept = once([h.synthetic for h in thrice])
    written, kept_rows = (
        sorted(map(str, zip(*(rows for h in hs for rows in (h.synthetic.numbers, h.synthetic.codes)), strict=True)))
        for hs in (halves, [h._replace(synthetic=h.synthetic.take(kept)) for h in thrice])
    )
    assert kept_rows == written
    assert len(once([h.synthetic for h in halves])) == 50


# ---------------------------------------------------------------- laws


def draw(seed, n, m, h, levels=4):
    rng = np.random.default_rng(seed)

    def some(k):
        towns = [None if t == levels else f"t{t}" for t in rng.integers(0, levels + 1, k)]
        return pl.DataFrame(
            {
                "age": rng.normal(50, 9, k).round(0) + 0.5,
                "town": pl.Series(towns, dtype=pl.String),
                "income": np.exp(rng.normal(size=k)).round(1),
                "job": [f"j{j}" for j in rng.integers(0, 5, k)],
                "sex": [f"s{j}" for j in rng.integers(0, 2, k)],
                "home": [f"h{j}" for j in rng.integers(0, k // 2 + 1, k)],
            }
        )

    return some(n), some(m), some(h)


def told(found):
    """Every field but the time, and but the note that a lazy table was read into memory."""
    notes = [[n for n in r.notes if not n.startswith(COLLECTED)] for r in found]
    return [{**r.to_dict(), "seconds": 0, "notes": n} for r, n in zip(found, notes, strict=True)]


PAIR = (["age", "town"], ["income", "job"])


def both(tables, **options):
    """Given halves and the sweep."""
    real, synthetic, holdout = tables
    options = {"holdout": holdout, "unit": "home"} | options
    return [
        *divulge.linkability(real, synthetic, columns=PAIR, **options),
        *divulge.linkability(real, synthetic, **options),
    ]


@pytest.mark.slow
@pytest.mark.first(1)
@pytest.mark.parametrize("seed", range(2))
def test_what_changes_no_digit(seed):
    tables = draw(seed, 90, 120, 70)
    found = both(tables)
    expected = told(found)
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(len(t)) for t in tables]
    moved = both(tuple(t[o] for t, o in zip(tables, orders, strict=True)))
    assert told(moved) == expected
    for one, other in zip(found, moved, strict=True):
        assert np.array_equal(one.individual.real[orders[0]], other.individual.real)
        assert np.array_equal(one.individual.holdout[orders[2]], other.individual.holdout)
    assert told(both(tuple(t.select(reversed(t.columns)) for t in tables))) == expected
    renamed = {"t0": "z", "t1": "m", "t2": "b", "t3": "y"}
    assert told(both(tuple(t.with_columns(pl.col("town").replace(renamed)) for t in tables))) == expected
    assert told(both(tuple(t.to_pandas() for t in tables))) == expected
    assert told(both(tuple(t.to_arrow() for t in tables))) == expected
    doubled = both((tables[0], pl.concat([tables[1]] * 2), tables[2]))
    assert told(doubled) == expected


def test_halves_in_the_other_order_give_the_same_digits():
    tables, pair = draw(8, 300, 300, 200), (["town", "sex"], ["job"])
    there = run(tables, columns=pair, unit="home")
    back = run(tables, columns=(pair[1], pair[0][::-1]), unit="home")
    for name, r in there.items():
        assert back[name].settings["second"] == ["sex", "town"]
        assert {**r.to_dict(), "seconds": 0, "settings": 0} == {**back[name].to_dict(), "seconds": 0, "settings": 0}
        assert np.array_equal(r.individual.real, back[name].individual.real)


def test_what_a_column_tells_forgets_the_names_of_its_values():
    rng = np.random.default_rng(2)
    counts = np.bincount(rng.geometric(0.1, 3000))
    for _ in range(20):
        assert _entropy(rng.permutation(counts)) == _entropy(counts)


def test_lazy_frames_are_collected():
    real, synthetic, holdout = draw(9, 40, 40, 40)
    one = divulge.linkability(real, synthetic, holdout=holdout, columns=PAIR, k=1)
    lazy = divulge.linkability(real, synthetic.lazy(), holdout=holdout, columns=PAIR, k=1)
    assert told(lazy) == told(one)


def test_members_and_strangers_change_places():
    real, synthetic, holdout = draw(5, 80, 90, 60)
    schema = build_case(real, synthetic, holdout).schema
    here, there = (run((a, synthetic, b), schema=schema, unit="home") for a, b in ((real, holdout), (holdout, real)))
    assert len(here) >= 20
    for name, r in here.items():
        assert r.difference.value == -there[name].difference.value


def test_releasing_a_table_links_its_people():
    real, _, holdout = draw(6, 300, 1, 200)
    rng = np.random.default_rng(6)
    # no two people alike on either half
    real, holdout = (t.with_columns(age=rng.random(len(t)), income=rng.random(len(t))) for t in (real, holdout))
    for r in run((real, real, holdout), columns=PAIR, unit="home").values():
        assert (r.real.rate, r.risk.value, r.verdict) == (1, 1, "excess found")
    for r in run((real, holdout, holdout), columns=PAIR, unit="home").values():
        assert r.holdout.rate == 1 > r.real.rate
        assert r.difference.high < 0
        assert r.risk.value is None
        assert r.verdict == "cannot tell"


def test_more_places_link_more_people():
    found = [r for r in both(draw(7, 90, 200, 90)) if r.settings["split"] == "balanced halves"]
    rates = [r.real.rate for r in found]
    assert rates == sorted(rates)
    assert rates[0] < rates[-1]


def test_all_results_are_one_family():
    real, synthetic, holdout = draw(10, 150, 200, 150)
    found = divulge.linkability(real, synthetic, holdout=holdout)
    assert len({r.settings["split"] for r in found}) > 2
    for r in found:
        assert r.p_adjusted >= r.p_value
        assert r.risk.low_simultaneous <= r.risk.low
    alone = divulge.linkability(real, synthetic, holdout=holdout, k=1, columns=PAIR)
    assert len(alone) == 1
    assert alone[0].p_adjusted == alone[0].p_value
    assert "bootstrap" in alone[0].risk.method


def test_without_strangers_there_is_no_verdict():
    real, synthetic, _ = draw(12, 40, 50, 1)
    for r in divulge.linkability(real, synthetic):
        assert (r.verdict, r.holdout, r.risk) == ("no holdout", None, None)
        assert r.individual.holdout is None


# ---------------------------------------------------------------- which halves are tried


def splits(tables, **options):
    return {r.settings["split"]: (r.settings["first"], r.settings["second"]) for r in run(tables, **options).values()}


def test_the_default_sweep_deals_columns_out():
    tables = draw(13, 80, 80, 80)
    roles = build_case(*tables).schema
    found = splits(tables, unit="home", k=1)
    assert found["numbers and categories"] == (["age", "income"], ["job", "sex", "town"])
    # by how much they tell: age or income, then the other, job or town, then the other, sex
    assert sorted(map(len, found["balanced halves"])) == [2, 3]
    assert ("age" in found["balanced halves"][0]) != ("income" in found["balanced halves"][0])
    assert "keys and the rest" not in found
    for pair in found.values():
        assert sorted(pair[0] + pair[1]) == ["age", "income", "job", "sex", "town"]
    keyed = splits(
        tables, unit="home", k=1, schema=Schema(tuple(
            Column(c.name, c.kind, c.why, ("key",) if c.name in ("age", "sex") else ()) for c in roles.columns
        )),
    )  # fmt: skip
    assert keyed["keys and the rest"] == (["age", "sex"], ["income", "job", "town"])
    assert splits(tables, unit="home", k=1, seed=4)["random halves"] != found["random halves"]


def test_a_column_tells_by_the_synthetic_table():
    """Eight levels, then six, three and two, dealt out to first, second, second, first."""
    levels = {"b": 8, "d": 6, "a": 3, "c": 2}
    table = pl.DataFrame({c: [f"v{i % k}" for i in range(48)] for c, k in levels.items()})
    assert splits((table, table), k=1)["balanced halves"] == (["b", "c"], ["a", "d"])
    flat = table.with_columns(b=pl.lit("v0"))
    assert splits((table, flat), k=1)["balanced halves"] == (["b", "d"], ["a", "c"])


def test_two_columns_are_split_once():
    real, synthetic, _ = draw(14, 40, 40, 1)
    assert list(splits((real[["age", "job"]], synthetic[["age", "job"]]), k=1)) == ["balanced halves"]


def test_what_is_left_out_is_said():
    tables = [
        t.with_columns(person_id=pl.Series([f"{i}{j}" for j in range(len(t))]))
        for i, t in enumerate(draw(15, 60, 60, 60))
    ]
    first = divulge.linkability(*tables[:2], holdout=tables[2])[0]
    assert any("'person_id'" in n for n in first.notes)
    given = divulge.linkability(*tables[:2], holdout=tables[2], columns=PAIR, unit="home")[0]
    assert "left out of both lists: 'sex'" in given.notes
    assert any("whole halves" in n for n in given.notes)


def test_the_sweep_stops_at_the_number_of_synthetic_rows():
    real, synthetic, _ = draw(16, 30, 4, 1)
    found = divulge.linkability(real, synthetic, columns=PAIR)
    assert [r.settings["k"] for r in found] == [1, 2, 3, 4]
    assert "k above 4 was left out: there are no more synthetic rows" in found[0].notes
    assert found[3].real.rate == 1


# ---------------------------------------------------------------- bad input

GOOD = draw(17, 40, 40, 40)
CALLS = [
    ("one list", {"columns": ["age", "town", "job"]}, "columns: 3 given where two lists are meant"),
    ("a text", {"columns": "age"}, "columns: a str is no pair of lists.*hint"),
    ("two texts", {"columns": ("age", "town")}, "columns: the first is no list"),
    ("a number", {"columns": 3}, "columns: a int is no pair"),
    ("an empty list", {"columns": (["age"], [])}, "columns: the second list is empty"),
    ("a column in both", {"columns": (["age", "job"], ["job"])}, "'job' in both lists.*hint"),
    ("a column twice", {"columns": (["age", "age"], ["job"])}, "named twice"),
    ("an unknown column", {"columns": (["agee"], ["job"])}, "no column 'agee'.*did you mean 'age'"),
    ("k of 0", {"k": 0}, "k: 0 is below 1"),
    ("half a k", {"k": 1.5}, "k: a float is no whole number"),
    ("k as a truth", {"k": True}, "k: a bool is no whole number"),
    ("k as a text", {"k": "10"}, "k: a str is no whole number"),
    ("no k", {"k": []}, "k: none given"),
    ("a k among several", {"k": [1, -2]}, "k: -2 is below 1"),
    ("too many", {"k": [1, 41]}, "k: 41 is more than the 40 synthetic rows"),
]


@pytest.mark.parametrize(("options", "says"), [c[1:] for c in CALLS], ids=[c[0] for c in CALLS])
def test_a_wrong_call_says_what_was_found_and_what_to_do(options, says):
    kind = ColumnError if "no column" in says else SettingError
    with pytest.raises(kind, match=f"(?s){says}"):
        divulge.linkability(*GOOD[:2], holdout=GOOD[2], **options)


def test_one_column_makes_no_two_lists():
    with pytest.raises(SettingError, match="one column to compare"):
        divulge.linkability(GOOD[0][["age"]], GOOD[1][["age"]])


def test_what_a_full_copy_would_show_is_what_it_shows():
    """On coarse halves, of which members have every value: then it is exact at k = 1."""
    rng = np.random.default_rng(5)
    tables = [pl.DataFrame({c: rng.choice(list("abc"), n) for c in "vwxy"}) for n in (300, 200)]
    for found in divulge.linkability(tables[0], tables[0], holdout=tables[1], columns=(["v", "w"], ["x", "y"]), k=[1]):
        assert 0 < found.context[SHOWN] < 0.2
        assert found.risk.value == pytest.approx(found.context[SHOWN], abs=1e-12)
        assert found.score == pytest.approx(100 * (1 - min(1, found.risk.high / found.context[SHOWN])))


def test_halves_that_cannot_link_tell_nothing():
    people = pl.DataFrame({"v": list("ab") * 200, "w": list("aabb") * 100})
    found, *_ = divulge.linkability(people, people, holdout=people, columns=(["v"], ["w"]), k=1)
    assert (found.verdict, found.score, found.context[SHOWN]) == ("cannot tell", None, 0)
