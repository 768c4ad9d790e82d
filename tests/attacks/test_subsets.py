"""The search for columns that were copied together: it finds them, and cannot tell members from strangers."""

import numpy as np
import polars as pl
import pytest

import divulge
from divulge.attacks.copying import column_subsets as subsets
from divulge.attacks.copying.column_subsets import candidate_subsets
from divulge.case.case import build_case

TOWNS = [f"town{j}" for j in range(25)]


@pytest.fixture
def searched(monkeypatch):
    """Search although the tables are small enough to try every set."""
    monkeypatch.setattr(subsets, "_ALL_PAIRS", 0)


def people(rng, n):
    """Nine columns: numbers that depend on each other, one with a heavy value, categories, missing values."""
    z = rng.standard_normal(n)
    return pl.DataFrame(
        {
            "age": np.round(40 + 12 * z + 8 * rng.standard_normal(n), 1),
            "wage": np.where(rng.random(n) < 0.4, 0.0, np.round(rng.gamma(2, 900, n) * (1 + np.abs(z)))),
            "height": np.round(170 + 9 * rng.standard_normal(n), 1),
            "rent": np.round(rng.gamma(3, 200, n), 2),
            "sex": rng.choice(["f", "m"], n),
            "town": [TOWNS[j] for j in rng.integers(0, 25, n)],
            "job": [None if u < 0.1 else f"job{int(6 * u)}" for u in rng.random(n)],
            "school": [f"level{j}" for j in np.digitize(z, [-1, 0, 1])],
            "children": rng.poisson(1.1, n),
        }
    )


def with_copied(synthetic, real, columns, share, noise=0.0, rng=None):
    k = round(share * len(synthetic))
    new = []
    for c in columns:
        taken = real[c][:k]
        if noise and taken.dtype.is_float():
            taken = taken + noise * real[c].std() * pl.Series(rng.standard_normal(k))
        new.append(pl.concat([taken, synthetic[c][k:]]).alias(c))
    return synthetic.with_columns(new)


def candidates(real, synthetic, holdout, **more):
    case = build_case(real, synthetic, holdout, **more)
    return candidate_subsets(case, case.schema.usable())


@pytest.mark.parametrize(
    ("columns", "share"),
    [
        (("age", "height", "rent"), 0.1),
        (("rent", "town", "wage"), 0.1),
        (("age", "height", "job", "town"), 0.1),
        (("age", "height", "rent"), 0.25),
        (("height", "rent"), 0.25),  # a pair tells less, and is missed at 0.1
    ],
)
def test_columns_copied_together_are_the_first_set(columns, share):
    rng = np.random.default_rng(1)
    real, synthetic, holdout = (people(rng, 400) for _ in range(3))
    found, note = candidates(real, with_copied(synthetic, real, columns, share), holdout)
    assert found[0] == columns
    assert "clearly more often than people agree with each other" in note


def test_jitter_does_not_hide_a_set():
    rng = np.random.default_rng(2)
    real, synthetic, holdout = (people(rng, 400) for _ in range(3))
    copied = with_copied(synthetic, real, ("age", "height", "rent"), 0.25, noise=0.01, rng=rng)
    found, _ = candidates(real, copied, holdout)
    assert ("age", "height", "rent") in found


def test_two_sets_are_both_found():
    rng = np.random.default_rng(3)
    real, synthetic, holdout = (people(rng, 500) for _ in range(3))
    synthetic = with_copied(synthetic, real, ("age", "height", "rent"), 0.2)
    synthetic = with_copied(synthetic[::-1], real, ("rent", "town", "wage"), 0.2)
    found, _ = candidates(real, synthetic, holdout)
    assert {("age", "height", "rent"), ("rent", "town", "wage")} <= set(found)


@pytest.mark.slow
def test_dependent_columns_are_no_copies():
    """Columns that go together among people go together in an honest table too."""
    rng = np.random.default_rng(4)

    def table(n):
        t = people(rng, n)
        return t.with_columns(age2=pl.col("age") * 2, town2=pl.col("town") + "!", rent2=pl.col("rent").round(0))

    n_found = [len(candidates(table(300), table(300), table(300))[0]) for _ in range(8)]
    assert sum(n_found) <= 8  # 3 standard errors, many sets: a few by chance
    real, synthetic, holdout = (table(400) for _ in range(3))
    copied = with_copied(synthetic, real, ("age", "height", "rent"), 0.25)
    copied = copied.with_columns(age2=pl.col("age") * 2, rent2=pl.col("rent").round(0))
    assert set(candidates(real, copied, holdout)[0][0]) >= {"age", "height", "rent"}


def test_members_and_strangers_change_places_and_nothing_else():
    rng = np.random.default_rng(5)
    real, synthetic, holdout = people(rng, 300), people(rng, 350), people(rng, 200)
    copied = with_copied(synthetic, real, ("age", "height", "rent"), 0.3)
    assert candidates(real, copied, holdout) == candidates(holdout, copied, real)
    assert candidates(real, copied, holdout)[0]


RENAMED = {"sex": {"f": "1", "m": "0"}, "school": {f"level{j}": f"{9 - j}x" for j in range(4)}}

NO_DIGITS = ["exact", "near", "subsets", "all but one", "one column", "rare pairs", "linked", "row order"]
"""Last digits are those of a unit of measure."""


@pytest.mark.slow
@pytest.mark.parametrize("n_queries", [1_000, 120])
@pytest.mark.parametrize("unit", [None, "home"])
def test_order_names_and_units_change_nothing(monkeypatch, searched, n_queries, unit):
    monkeypatch.setattr(subsets, "_MOST_QUERIES", n_queries)
    rng = np.random.default_rng(6)
    real, synthetic, holdout = (people(rng, 260) for _ in range(3))
    synthetic = with_copied(synthetic, real, ("age", "height", "rent"), 0.3)
    tables = [t.with_columns(home=pl.Series([f"{name}{i // 2}" for i in range(len(t))])) for t, name in zip((real, synthetic, holdout), "rsh", strict=True)]  # fmt: skip
    if unit is None:
        tables = [t.drop("home") for t in tables]
    before = candidates(*tables, unit=unit)
    assert ("age", "height", "rent") in before[0]

    def results(tables):
        found = divulge.copies(tables[0], tables[1], holdout=tables[2], unit=unit, variants=NO_DIGITS)
        return [{**r.to_dict(), "seconds": 0} for r in found]

    def in_any_order(results):
        """Without what is about the order of the rows, and the p-values that are corrected together with it."""
        rest = [r for r in results if r["variant"] != "row order"]
        assert len(rest) == len(results) - 1
        return [{**r, "p_adjusted": None} if r["variant"] == "linked" else r for r in rest]

    whole = results(tables)
    shuffled = [t[rng.permutation(len(t))] for t in tables]
    assert candidates(*shuffled, unit=unit) == before
    assert in_any_order(results(shuffled)) == in_any_order(whole)
    for change in (
        lambda t: t.select(reversed(t.columns)),
        lambda t: t.with_columns(pl.col(c).replace(m) for c, m in RENAMED.items()),
        lambda t: t.with_columns(pl.col("rent") * 3 + 7),
        lambda t: t.to_pandas(),
    ):
        other = [change(t) for t in tables]
        assert candidates(*other, unit=unit) == before
        assert results(other) == whole
    doubled = [tables[0], pl.concat([tables[1], tables[1]]), tables[2]]
    assert candidates(*doubled, unit=unit) == before
    constant = [t.with_columns(one=pl.lit("x"), again=pl.lit("x")) for t in tables]
    assert candidates(*constant, unit=unit) == before


def test_households_are_not_compared_with_themselves():
    """Members of a home share much; that is no reason to expect the same of synthetic rows."""
    rng = np.random.default_rng(7)

    def homes(n, name):
        t = people(rng, n)
        return t[np.repeat(np.arange(n), 3)].with_columns(
            people(rng, 3 * n)["age", "sex", "job", "children"],
            home=pl.Series(np.repeat([f"{name}{i}" for i in range(n)], 3)),
        )

    real, synthetic, holdout = homes(120, "r"), homes(120, "s"), homes(120, "h")
    shared = ("height", "rent", "town", "wage")
    copied = with_copied(synthetic, real, shared, 0.2)
    found, _ = candidates(real, copied, holdout, unit="home")
    assert any(set(shared[:2]) <= set(f) for f in found)
    alone, _ = candidates(real, copied, holdout, ignore=["home"])
    assert not any(set(shared[:2]) <= set(f) for f in alone)


def test_small_tables_of_few_columns_are_tried_in_full():
    rng = np.random.default_rng(8)
    tables = [people(rng, 50).select("age", "sex", "town", "rent", "job") for _ in range(3)]
    found, note = candidates(*tables)
    assert len(found) == 10 + 5
    assert {len(f) for f in found} == {3, 4}
    assert "all 15 sets of 3 to 4 columns" in note


def test_large_tables_say_what_was_not_searched(monkeypatch, searched):
    rng = np.random.default_rng(9)
    real, synthetic, holdout = (people(rng, 200) for _ in range(3))
    synthetic = with_copied(synthetic, real, ("age", "height", "rent"), 0.5)
    monkeypatch.setattr(subsets, "_ROWS", (300, 200, 100))
    found, note = candidates(real, synthetic, holdout)
    assert (found, "were not searched: more than 300 rows" in note) == ([], True)
    monkeypatch.setattr(subsets, "_ROWS", (3000, 200, 100))
    monkeypatch.setattr(subsets, "_RECURS", 1.0)
    found, note = candidates(real, synthetic, holdout)
    assert len(found) == 5
    assert "do, the best 5 were tested" in note


def test_a_table_without_copies_says_that_none_was_found(monkeypatch, searched):
    monkeypatch.setattr(subsets, "_RECURS", 9.0)
    rng = np.random.default_rng(12)
    found, note = candidates(*(people(rng, 100) for _ in range(3)))
    assert (found, "none does. A set that few rows copy can be missed" in note) == ([], True)


def test_fewer_than_three_columns_have_no_part():
    rng = np.random.default_rng(10)
    tables = [people(rng, 20).select("age", "sex") for _ in range(3)]
    assert candidates(*tables) == ([], "copies of part of a row were not searched: fewer than 3 columns")


def test_degenerate_tables_are_searched_without_error(searched):
    rng = np.random.default_rng(11)
    for real in (people(rng, 1), people(rng, 2), people(rng, 30)[:1].select(pl.all().repeat_by(30).explode())):
        for holdout in (None, people(rng, 1), real):
            case = build_case(real, people(rng, 3), holdout)
            usable = case.schema.usable() or case.columns
            assert isinstance(candidate_subsets(case, usable)[0], list)
    missing = pl.DataFrame({c: [None] * 9 + [v] * 9 for c, v in zip("abcd", ["x", 1.5, 2.5, "y"], strict=True)}, strict=False)  # fmt: skip
    assert isinstance(candidates(missing, missing, missing)[0], list)


def test_a_pattern_is_that_of_the_person_who_shares_most():
    """Two columns, bits 3 and 2: the person who agrees in the first, and of equals the one who agrees by name."""
    places = np.array([[1, 5, 9], [7, 2, 2]], dtype=np.int16)
    queries = np.array([[1, 8, 9], [2, 2, 2]], dtype=np.int16)
    found = subsets._patterns(queries, np.ones(3), places, np.zeros(2, np.int16), np.array([3, 2]), None)
    assert found.agrees.tolist() == [[True, False], [False, True], [True, True]]
    tied = subsets._patterns(queries[:, :1], np.ones(1), places, np.zeros(2, np.int16), np.array([2, 2]), None)
    assert tied.agrees.tolist() == [[True, False]]
    wider = subsets._patterns(queries[:, 1:2], np.ones(1), places, np.array([1, 0], np.int16), np.array([3, 2]), None)
    assert wider.agrees.tolist() == [[True, True]]
    away = (np.array([2]), np.array([0, 1, 2]))
    alone = subsets._patterns(queries[:, 2:], np.ones(1), places, np.zeros(2, np.int16), np.array([3, 2]), away)
    assert alone.agrees.tolist() == [[False, True]]


@pytest.mark.parametrize("seed", range(8))
def test_the_rarest_rows_are_chosen_and_of_equal_ones_the_first_by_their_places(seed):
    rng = np.random.default_rng(seed)
    places = rng.integers(-2, 3, (1 + seed % 4, 150)).astype(np.int16)
    rarity = np.abs(places).sum(axis=0).astype(np.uint64)
    rows, first, times = np.unique(places.T, axis=0, return_index=True, return_counts=True)
    order = np.lexsort((np.arange(len(rows)), rarity[first]))
    for n in (1, 7, 1000):
        chosen, how_often = subsets._chosen(places, rarity, n)
        np.testing.assert_array_equal(places.T[chosen], rows[order][:n])
        np.testing.assert_array_equal(how_often, times[order][:n])
