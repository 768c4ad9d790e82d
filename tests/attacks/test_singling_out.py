"""Singling out: guesses by hand, every guess of small tables by plain Python, laws, bad input."""

import itertools
import json
import math
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest
from amount import tries
from hypothesis import given, settings
from hypothesis import strategies as st

import divulge
from divulge.attacks.checks import SHOWN
from divulge.core.errors import ColumnError, DivulgeError, SettingError
from divulge.core.schema import Column, Schema

KINDS = {"A": "categorical", "B": "categorical", "N": "numeric", "M": "numeric"}
SCHEMA = Schema(tuple(Column(c, k) for c, k in KINDS.items()))


def frame(**columns):
    return pl.DataFrame(columns, strict=False)


def ask(real, synthetic, holdout=None, n_columns=None, **more):
    """Results by variant, kinds fixed by the names of the columns."""
    known = [c for c in KINDS if c in real.columns]
    schema = Schema(tuple(Column(c, KINDS[c]) for c in known))
    found = divulge.singling_out(real, synthetic, holdout=holdout, n_columns=n_columns, schema=schema, **more)
    return {r.variant: r for r in found}


def hits(result):
    return result.real.hits, result.real.n


# ---------------------------------------------------------------- by hand


def test_categories_are_named():
    """Guesses on one column: A = b and B = y. On two: each of the three rows."""
    synthetic = frame(A=["a", "a", "b"], B=["x", "y", "x"])
    real = frame(A=["b", "a", "a", "c"], B=["y", "x", "x", "y"])
    found = ask(real, synthetic)
    assert list(found) == ["univariate", "1 column", "2 columns"]
    assert hits(found["1 column"]) == (1, 2)  # b is there once, y twice
    assert hits(found["univariate"]) == (1, 2)
    assert hits(found["2 columns"]) == (0, 3)  # (a, x) fits two, the others nobody
    assert found["2 columns"].context["guesses that fit nobody"] == 2
    assert found["1 column"].individual.real.tolist() == [1, 0, 0, 0]
    assert found["1 column"].context["tries"] == 6


def test_numbers_are_bounded_away_from_the_median():
    """The median of 1 to 5 is 3: at most 1 and at least 5 fit one synthetic row, at most 2 fits two of them."""
    found = ask(frame(N=[0.5, 6, 7, 3]), frame(N=[1.0, 2, 3, 4, 5]), n_columns=1)["1 column"]
    assert hits(found) == (1, 2)
    assert found.individual.real.tolist() == [1, 0, 0, 0]


@pytest.mark.parametrize(("third", "expected"), [(2, (1, 1)), (3, (0, 1))])
def test_the_value_at_the_median_is_bounded_from_above(third, expected):
    """Beside A = a the values are 1, 2 and 3: 2 is the lower median, and 3 the only one above it."""
    synthetic = frame(A=["a", "b", "b"], N=[2, 1, 3])
    real = frame(A=["a", "a", "c"], N=[third, 9, 2])
    found = divulge.singling_out(
        real, synthetic, schema=Schema((Column("A", "categorical"), Column("N", "numeric"))), n_columns=2
    )[0]
    # A = a and N at most 2; A = b and N at most 1; A = b and N at least 3
    assert (found.real.n, found.real.hits) == (3, expected[0])


def test_of_two_middle_values_the_lower_is_the_border():
    """1, 2, 3, 4: 3 is above the border, and of "at least 3" two rows are fitted; with 2 it is "at most"."""
    synthetic = frame(A=["a", "b", "c", "d"], N=[1, 2, 3, 4])
    real = frame(A=["b", "b", "c", "c"], N=[1, 9, 3, 0])
    found = ask(real, synthetic, n_columns=2)["2 columns"]
    assert hits(found) == (2, 4)  # b with at most 2: the first person; c with at least 3: the third
    assert found.individual.real.tolist() == [1, 0, 1, 0]


def test_missing_is_a_value_of_its_own():
    synthetic = frame(A=["a", None, "a"], N=[1.0, 2, None])
    real = frame(A=[None, "a", "b"], N=[9.0, None, None])
    found = ask(real, synthetic)
    # A missing; N at most 1, at least 2 (the bounds), missing
    assert hits(found["univariate"]) == (2, 4)  # the first person twice: A missing, N at least 2
    assert found["univariate"].context["distinct people singled out"] == 1
    # (a, at most 1), (missing, at least 2: the median of 1 and 2 is 1), (a, missing)
    assert hits(found["2 columns"]) == (2, 3)
    assert found["2 columns"].individual.real.tolist() == [1, 1, 0]


def test_univariate_guesses_are_rare_values_and_bounds():
    synthetic = frame(N=[5, 5, 7, 8, 9, 2], A=["p", "q", "p", "p", "q", "q"])
    real = frame(N=[1, 7, 7, 10, 8, 4], A=["q", "p", "p", "p", "p", "p"])
    found = ask(real, synthetic, n_columns="univariate")["univariate"]
    # at most 2 (the first person), 7 (two), 8 (one), at least 9 (one)
    assert hits(found) == (3, 4)
    assert {g.name: (g.real.hits, g.real.n) for g in found.groups} == {"N": (3, 4)}
    assert found.individual.real.tolist() == [1, 0, 0, 1, 1, 0]


def test_a_bound_and_the_value_at_it_are_one_guess():
    numbers = frame(N=[1, 2, 3, 4, 5])
    assert ask(numbers, numbers, n_columns="univariate")["univariate"].real.n == 5


def test_equal_synthetic_rows_are_one_record():
    """Anonymeter's rule too: rows are made distinct before guesses are tried on them."""
    synthetic = frame(A=["a", "a", "b"], B=["x", "x", "y"])
    found = ask(frame(A=["a", "b", "b"], B=["x", "x", "y"]), synthetic, n_columns=[1, 2])
    assert hits(found["2 columns"]) == (2, 2)
    assert hits(found["1 column"]) == (2, 4)  # a and y
    assert found["1 column"].context["synthetic records described"] == 2


def test_equal_people_are_not_made_one():
    """Two real people with the same row are two people: nobody is singled out."""
    found = ask(frame(A=["a", "a"], B=["x", "x"]), frame(A=["a", "b"], B=["x", "y"]), n_columns=2)["2 columns"]
    assert hits(found) == (0, 2)


def test_groups_are_column_sets_with_most_hits_first():
    synthetic = frame(A=["a", "b", "c"], B=["x", "y", "y"], N=[1, 2, 3])
    real = frame(A=["a", "b", "d"], B=["x", "z", "z"], N=[5, 6, 7])
    found = ask(real, synthetic, n_columns=1)["1 column"]
    assert [(g.of, g.name, g.real.hits, g.real.n) for g in found.groups] == [
        ("column set", "A", 2, 3),
        ("column set", "B", 1, 1),
        ("column set", "N", 0, 2),
    ]
    strangers = frame(A=["q"] * 3, B=["x", "z", "z"], N=[1, 3, 9])
    groups = ask(real, synthetic, strangers, n_columns=1)["1 column"].groups
    assert [(g.name, g.real.hits, g.holdout.hits) for g in groups] == [("A", 2, 0), ("B", 1, 1), ("N", 0, 1)]
    pairs = ask(real, synthetic, n_columns=2)["2 columns"].groups
    assert [g.name for g in pairs] == ["A + B", "A + N", "B + N"]


def test_distinct_people_are_fewer_than_guesses():
    """Four guesses that all fit the first person."""
    synthetic = frame(A=["a", "b", "b"], B=["x", "y", "y"], N=[9, 1, 2])
    real = frame(A=["a", "c", "c"], B=["x", "z", "z"], N=[9, 5, 5])
    found = ask(real, synthetic, n_columns=[1, 2])
    assert hits(found["1 column"])[0] == 3  # a; x; at least 9
    assert found["1 column"].context["distinct people singled out"] == 1
    assert found["2 columns"].context["distinct people singled out"] == 1
    assert found["2 columns"].individual.real.tolist() == [1, 0, 0]


def test_no_column_is_the_whole_result():
    """A column with a hundred values takes part in twice its share: half the guesses on one of four columns."""
    n = 100
    flags = {c: ["u", "v"] * (n // 2) for c in "AB"}
    table = frame(N=list(range(n)), M=[0, 1] * (n // 2), **flags)
    found = ask(table, table, n_columns="univariate", guesses=20)["univariate"]
    assert hits(found) == (10, 10)
    assert any("90 guesses were left out because one of their columns had its share" in x for x in found.notes)
    assert any(x.startswith("10 guesses found of 20 wanted") for x in found.notes)
    alone = ask(table.select("N"), table.select("N"), n_columns="univariate", guesses=20)["univariate"]
    assert hits(alone) == (20, 20)


@pytest.mark.parametrize(("k", "share"), [(1, 0.5), (2, 1.0)])
def test_the_cap_is_twice_the_fair_share(k, share):
    rng = np.random.default_rng(0)
    table = frame(**{f"c{j}": rng.normal(size=400) for j in range(4)})
    (found,) = divulge.singling_out(table, table, n_columns=k, guesses=8 if k == 1 else 100)
    assert found.context["largest share of one column"] <= share


def test_heavy_guesses_can_be_left_out():
    synthetic = frame(A=["a", "b", "c"], B=["x", "y", "y"])
    real, holdout = frame(A=["a", "b", "b", "e"], B=["z"] * 4), frame(A=["b", "e", "e", "e"], B=["z"] * 4)
    full = ask(real, synthetic, holdout, n_columns=1)["1 column"]
    assert hits(full) == (1, 4)  # a; b fits two members; c and x nobody
    assert full.holdout.hits == 1  # b
    few = ask(real, synthetic, holdout, n_columns=1, weight_at_most=0.3)["1 column"]
    assert hits(few) == (1, 3)  # b fits 3 of 8 people
    assert few.holdout.hits == 0
    assert any("1 guesses were left out because they fit more people" in x for x in few.notes)
    exactly = ask(real, synthetic, holdout, n_columns=1, weight_at_most=3 / 8)["1 column"]
    assert hits(exactly) == (1, 4)


def test_a_guess_that_fits_more_than_64_people_is_a_failure():
    synthetic, others = frame(A=["a", "b", "b"]), frame(A=["c"] * 100)
    for number, too_many in ((64, 0), (65, 1)):
        found = ask(frame(A=["a"] * number + ["c"] * (100 - number)), synthetic, others, n_columns=1)["1 column"]
        assert found.context["guesses that fit more than 64 people"] == too_many


def test_of_a_larger_table_a_guess_may_fit_more_people():
    """65 of 1,300 members fit: in a part of 20 exactly one does by chance in 38% of parts."""
    real = frame(A=["a"] * 65 + ["c"] * 1235)
    found = ask(real, frame(A=["a", "b", "b"]), frame(A=["c"] * 20), n_columns=1)["1 column"]
    assert found.real.hits == pytest.approx(65 * math.comb(1235, 19) / math.comb(1300, 20))
    assert found.settings["most people"] == 64 * 1320 / 40
    assert found.context["guesses that fit more than 2112 people"] == 0


def test_of_too_few_guesses_nothing_can_be_told():
    table = frame(N=list(range(19)))
    few = ask(table, table, table, n_columns="univariate")["univariate"]
    assert (few.verdict, few.risk, few.p_value) == ("cannot tell", None, None)
    assert (few.real.rate, few.holdout.rate) == (1, 1)
    assert any("fewer than 20 guesses could be made" in x for x in few.notes)
    table = frame(N=list(range(20)))
    enough = ask(table, table, table, n_columns="univariate")["univariate"]
    assert enough.verdict is not None and enough.p_value == 1


def test_a_larger_table_is_thinned():
    """The guess fits 2 of 4 members; of the 6 parts of 2 members, 4 hold exactly one of them."""
    synthetic = frame(A=["a", "b", "b"])
    found = ask(frame(A=["a", "a", "c", "c"]), synthetic, frame(A=["a", "c"]), n_columns=1)["1 column"]
    assert (found.real.hits, found.holdout.hits) == (pytest.approx(4 / 6), 1)
    assert found.individual.real.tolist() == [0, 0, 0, 0]  # in the whole table it fits two
    assert found.individual.holdout.tolist() == [1, 0]
    assert found.context["distinct people singled out"] == pytest.approx(2 / 3)
    # 3 of all 6 people fit, and the other guess fits nobody
    assert found.baseline.rate == pytest.approx(3 * math.comb(3, 1) / math.comb(6, 2) / 2)
    assert found.context["n w (1 - w)^(n - 1)"] == pytest.approx(2 * 0.5 * 0.5 / 2)


def test_without_a_holdout_rates_alone_are_told():
    table = frame(N=list(range(30)))
    found = ask(table, table, n_columns="univariate")["univariate"]
    assert (found.verdict, found.holdout, found.risk, found.p_value) == ("no holdout", None, None, None)
    assert hits(found) == (30, 30)
    assert found.individual.holdout is None
    assert not any("stranger" in c for c in found.context)
    assert all(g.holdout is None for g in found.groups)
    assert not any("both tables" in x for x in found.notes)


def test_a_household_is_singled_out_together():
    synthetic = frame(A=["a", "b", "b"], home=["s1", "s2", "s3"])
    real = frame(A=["a", "a", "c", "c"], home=["h1", "h1", "h2", "h3"])
    split = real.with_columns(home=pl.Series(["h1", "h4", "h2", "h3"]))
    together = ask(real, synthetic, real, n_columns=1, unit="home")["1 column"]
    assert (together.real.hits, together.holdout.hits, together.individual.real.tolist()) == (1, 1, [1, 1, 0, 0])
    assert together.context["distinct people singled out"] == 1
    assert ask(split, synthetic, n_columns=1, unit="home")["1 column"].real.hits == 0
    assert ask(real.drop("home"), synthetic.drop("home"), n_columns=1)["1 column"].real.hits == 0


def test_a_household_of_many_rows_is_still_one():
    """The cap counts households: 100 rows of one home that fit are one."""
    synthetic = frame(A=["a", "b", "b"], home=["s1", "s2", "s3"])
    real = frame(A=["a"] * 100 + ["c"], home=["h1"] * 100 + ["h2"])
    found = ask(real, synthetic, n_columns=1, unit="home")["1 column"]
    assert (found.real.hits, found.context["guesses that fit more than 64 people"]) == (1, 0)


def test_homes_of_strangers_are_other_homes():
    """A home of the same name in the holdout is another one: two homes fit, one on each side."""
    synthetic = frame(A=["a", "b", "b"], home=["s1", "s2", "s3"])
    real = frame(A=["a", "a"], home=["h1", "h1"])
    found = ask(real, synthetic, real, n_columns=1, unit="home")["1 column"]
    assert (found.real.hits, found.holdout.hits) == (1, 1)


# ---------------------------------------------------------------- every guess, by plain Python

COLUMNS = ("A", "B", "N")
row = st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from(["x", "y", "z"]), st.sampled_from([1, 2, 3, 4, 7, None]))  # fmt: skip
table = st.lists(row, min_size=1, max_size=9)


def framed(rows):
    return pl.DataFrame(rows, schema={"A": pl.String, "B": pl.String, "N": pl.Int64}, orient="row")


def lower_median(values):
    return sorted(values)[(len(values) - 1) // 2] if values else None


def condition(value, j, middle):
    if value is None:
        return lambda x: x is None
    if COLUMNS[j] != "N":
        return lambda x: x == value
    if value > middle:
        return lambda x: x is not None and x >= value
    return lambda x: x is not None and x <= value


def univariate(value, j, records):
    """The condition on one column that fits this record alone, or None."""
    if sum(r[j] == value for r in records) > 1:
        return None
    numbers = [r[j] for r in records if r[j] is not None]
    if COLUMNS[j] == "N" and value is not None:
        low = -math.inf if value == min(numbers) else value
        high = math.inf if value == max(numbers) else value
        return lambda x: x is not None and low <= x <= high
    return lambda x: x == value


def plain(synthetic, people, k):
    """For each guess whom it fits: (columns, people numbers), made by enumeration; k = 0 is univariate."""
    records = sorted(set(synthetic), key=str)
    middle = lower_median([r[2] for r in records if r[2] is not None])
    out = []
    for record in records:
        for columns in itertools.combinations(range(3), max(1, k)):
            if k:
                conditions = [condition(record[j], j, middle) for j in columns]
            else:
                conditions = [univariate(record[columns[0]], columns[0], records)]
                if conditions[0] is None:
                    continue

            def fits(r, conditions=conditions, columns=columns):
                return all(c(r[j]) for c, j in zip(conditions, columns, strict=True))

            if sum(map(fits, records)) == 1:
                out.append((columns, [i for i, p in enumerate(people) if fits(p)]))
    return out


@settings(max_examples=tries(80), deadline=None, derandomize=True, database=None)
@given(real=table, synthetic=table, holdout=table)
def test_all_guesses_are_those_of_plain_python(real, synthetic, holdout):
    n, m = len(real), len(holdout)
    size = min(n, m)
    found = ask(framed(real), framed(synthetic), framed(holdout))
    for k, name in enumerate(("univariate", "1 column", "2 columns", "3 columns")):
        guesses, r = plain(synthetic, real + holdout, k), found[name]

        def alone(k, n):
            return k * math.comb(n - k, size - 1) / math.comb(n, size) if k else 0.0

        each = [(sum(p < n for p in fitted), sum(p >= n for p in fitted)) for _, fitted in guesses]
        assert (r.real.n, r.holdout.n) == (len(guesses), len(guesses))
        assert r.real.hits == pytest.approx(sum(alone(a, n) for a, _ in each))
        assert r.holdout.hits == pytest.approx(sum(alone(b, m) for _, b in each))
        assert r.context["guesses that fit nobody"] == sum(not fitted for _, fitted in guesses)
        if n == m:
            singled = {f[0] for f in ([p for p in fitted if p < n] for _, fitted in guesses) if len(f) == 1}
            assert r.individual.real.tolist() == [float(i in singled) for i in range(n)]
            assert r.context["distinct people singled out"] == len(singled)
        tried = Counter(" + ".join(COLUMNS[j] for j in columns) for columns, _ in guesses)
        assert {g.name: g.real.n for g in r.groups} == tried
        if not guesses:
            assert r.baseline.rate is None
            continue
        w = [len(fitted) / (n + m) for _, fitted in guesses]
        rule = sum(size * x * (1 - x) ** (size - 1) for x in w) / len(w)
        assert r.context["n w (1 - w)^(n - 1)"] == pytest.approx(rule)
        assert r.baseline.rate == pytest.approx(sum(alone(len(fitted), n + m) for _, fitted in guesses) / len(w))


# ---------------------------------------------------------------- the search


def mixed(seed, n, with_missing=True):
    rng = np.random.default_rng(seed)
    hidden = rng.integers(0, 3, n)
    return pl.DataFrame(
        {
            "job": [f"job {v}" for v in rng.poisson(1 + hidden) % 6],
            "town": [None if with_missing and rng.random() < 0.1 else f"t{v}" for v in rng.integers(0, 5, n)],
            "age": rng.integers(18, 90, n),
            "income": np.round(rng.gamma(2, 900, n)) + 0.25,
            "member": rng.random(n) < 0.5,
        },
        schema_overrides={"town": pl.String},
    )


def told(results):
    return [{**r.to_dict(), "seconds": 0} for r in results]


THREE = [mixed(s, 120) for s in (1, 2, 3)]


def of(tables, **more):
    return divulge.singling_out(tables[0], tables[1], holdout=tables[2], **({"guesses": 300} | more))


@pytest.mark.parametrize("k", [2, 4])
def test_random_tries_find_guesses_that_enumeration_finds(k):
    """With fewer tries than there are guesses some are drawn, none twice, and their rate is about that of all."""
    (every,) = of(THREE, n_columns=k, guesses=100_000)
    (some,) = of(THREE, n_columns=k, guesses=100_000, tries=round(0.6 * every.context["tries"]))
    assert every.context["tries"] == 120 * math.comb(5, k)
    assert some.context["tries"] == round(0.6 * every.context["tries"])
    # drawn with replacement: 1 - exp(-0.6) of them
    assert some.real.n == pytest.approx((1 - math.exp(-0.6)) * every.real.n, rel=0.15)
    assert some.real.rate == pytest.approx(every.real.rate, abs=4 * math.sqrt(0.25 / some.real.n))
    for g in some.groups:
        full = {x.name: x for x in every.groups}
        assert g.name not in full or g.real.n <= full[g.name].real.n


def test_the_search_stops_at_the_number_wanted():
    (found,) = of(THREE, n_columns=4, guesses=50)
    assert found.real.n == 50
    assert found.context["tries"] < 600
    assert not any("wanted" in x for x in found.notes)


def test_very_many_column_sets_are_drawn():
    rng = np.random.default_rng(5)
    wide = pl.DataFrame({f"c{j:02d}": rng.normal(size=30) for j in range(30)})
    one, other = (divulge.singling_out(wide, wide, n_columns=5, guesses=200)[0] for _ in range(2))
    assert hits(one) == (200, 200)
    assert told([one]) == told([other])
    assert all(len(set(g.name.split(" + "))) == 5 for g in one.groups)


# ---------------------------------------------------------------- laws


def distinct(seed, n):
    return mixed(seed, n).with_columns(income=pl.Series(np.random.default_rng(seed).permutation(9000)[:n] + 0.25))


def test_releasing_the_real_table_is_always_right():
    real, holdout = distinct(1, 150), distinct(2, 150)
    for r in divulge.singling_out(real, real, holdout=holdout, guesses=300):
        assert r.real.rate == 1, r.variant
        if r.variant == "1 column" and r.real.n < 20:
            continue  # too few for a verdict
        assert r.risk.value == 1
        assert r.verdict == "excess found"


def test_releasing_the_strangers_is_negative_and_not_clipped():
    real, holdout = distinct(1, 150), distinct(2, 150)
    for r in divulge.singling_out(real, holdout, holdout=holdout, guesses=300):
        assert r.holdout.rate == 1, r.variant
        assert r.real.rate < 1
        if r.variant == "1 column" and r.real.n < 20:
            continue  # too few for a verdict
        assert r.difference.value < 0
        assert r.difference.high < 0
        assert r.risk.value is None  # strangers never fail: undefined
        assert r.verdict != "excess found"
    half = pl.concat([holdout[:75], distinct(3, 75)])
    for r in divulge.singling_out(real, half, holdout=holdout, guesses=300, n_columns=["univariate", 2, 3, 4, 5]):
        assert r.risk.value < 0
        assert r.verdict != "excess found"


def test_a_synthetic_table_written_twice_says_no_more():
    real, synthetic, holdout = THREE
    assert told(of((real, pl.concat([synthetic, synthetic]), holdout))) == told(of(THREE))


def changed(tables, change):
    return tuple(change(t, i) for i, t in enumerate(tables))


CHANGES = {
    "rows": lambda t, i: t[np.random.default_rng(i).permutation(len(t))],
    "columns": lambda t, i: t.select(reversed(t.columns)) if i < 2 else t.select(sorted(t.columns)),
    "categories": lambda t, i: t.with_columns(
        job=pl.col("job").str.reverse() + "!", town=pl.col("town").replace({f"t{v}": f"u{9 - v}" for v in range(5)})
    ),
    "numbers": lambda t, i: t.with_columns(age=pl.col("age") * 12 + 7, income=pl.col("income") * 0.5 - 3),
}


@pytest.mark.first(4)
@pytest.mark.parametrize("sizes", [(120, 120, 120), (150, 90, 60), (60, 90, 150)])
@pytest.mark.parametrize("what", CHANGES)
def test_what_must_change_nothing(what, sizes):
    tables = tuple(mixed(10 + i, n) for i, n in enumerate(sizes))
    before, after = of(tables), of(changed(tables, CHANGES[what]))
    one, other = told(before), told(after)
    if what == "columns":
        for r in (*one, *other):
            r["notes"] = sorted(r["notes"])
    assert one == other
    if what != "rows":
        for a, b in zip(before, after, strict=True):
            np.testing.assert_array_equal(a.individual.real, b.individual.real)


def test_constant_columns_change_nothing_but_a_note():
    other = of(changed(THREE, lambda t, i: t.with_columns(one=pl.lit("x"), again=pl.lit("x"))))
    for a, b in zip(told(of(THREE)), told(other), strict=True):
        notes = a.pop("notes"), b.pop("notes")
        assert a == b
        assert [x for x in notes[1] if x not in notes[0]] == [
            "left out of the guesses: 'again' (constant), 'one' (constant)"
        ]


SMALL = tuple(mixed(20 + i, 60) for i in range(3))


def test_the_kind_of_frame_changes_nothing(make):
    fixed = Schema(tuple(Column(c, k) for c, k in zip(SMALL[0].columns, ("categorical", "categorical", "numeric", "numeric", "boolean"), strict=True)))  # fmt: skip
    expected = told(of(SMALL, schema=fixed))
    found = told(of(tuple(make(t) for t in SMALL), schema=fixed))
    for r in (*expected, *found):
        r["notes"] = [x for x in r["notes"] if not x.startswith("the tables were read into memory")]
    assert found == expected


@pytest.mark.parametrize("sizes", [(120, 120, 120), (150, 90, 60)])
def test_swapping_members_and_strangers_turns_the_sign(sizes):
    real, synthetic, holdout = (mixed(30 + i, n) for i, n in enumerate(sizes))
    here, there = of((real, synthetic, holdout)), of((holdout, synthetic, real))
    for a, b in zip(here, there, strict=True):
        assert (a.real, a.holdout) == (b.holdout, b.real)
        assert a.individual.real.tolist() == b.individual.holdout.tolist()
        if a.variant == "1 column" and a.real.n < 20:
            continue  # too few for a verdict
        assert a.difference.value == -b.difference.value
        assert (a.difference.low, a.difference.high) == (-b.difference.high, -b.difference.low)
        assert (a.p_value, a.p_adjusted) == (b.p_value, b.p_adjusted)


def test_seeds_choose_the_guesses():
    one, again, other = (of(THREE, n_columns=3, seed=s)[0] for s in (1, 1, 2))
    assert told([one]) == told([again])
    assert one.real != other.real


def test_each_number_of_columns_has_its_own_draws():
    """What else is asked changes no guess: only the correction for several tests sees the others."""
    alone, family = of(THREE, n_columns=3)[0], {r.variant: r for r in of(THREE)}["3 columns"]
    assert (alone.real, alone.holdout, alone.context["tries"]) == (family.real, family.holdout, family.context["tries"])
    assert [g.name for g in alone.groups] == [g.name for g in family.groups]


def test_several_numbers_of_columns_are_one_family():
    results = of(THREE, n_columns=["univariate", 2, 4])
    assert [r.variant for r in results] == ["univariate", "2 columns", "4 columns"]
    for r in results:
        assert r.p_adjusted >= r.p_value
        assert r.risk.low_simultaneous <= r.risk.low
        assert r.risk.high_simultaneous >= r.risk.high
    assert any(r.p_adjusted > r.p_value for r in results)


# ---------------------------------------------------------------- odd tables and bad input


def test_one_row_each():
    one = frame(A=["a"], N=[1])
    found = ask(one, one, one)
    assert [hits(r) for r in found.values()] == [(2, 2), (2, 2), (1, 1)]
    assert all(r.verdict == "cannot tell" for r in found.values())
    other = ask(one, frame(A=["b"], N=[1]), one)
    assert hits(other["2 columns"]) == (0, 1)


def test_infinities_are_numbers():
    synthetic = frame(N=[-math.inf, 1.0, 2, math.inf], A=["a", "a", "b", "b"])
    real = frame(N=[-math.inf, 1.0, 5, 6], A=["c"] * 4)
    found = ask(real, synthetic, n_columns="univariate")["univariate"]
    assert hits(found) == (2, 4)  # at most -inf, 1


def test_a_column_that_is_all_missing_is_left_out():
    tables = changed(SMALL, lambda t, i: t.with_columns(none=pl.lit(None, dtype=pl.String)))
    found = of(tables, n_columns=2)[0]
    assert found.settings["columns"] == 5
    assert any(x == "left out of the guesses: 'none' (constant)" for x in found.notes)


def test_a_column_that_misses_everything_in_the_synthetic_table_names_nobody():
    synthetic = SMALL[1].with_columns(town=pl.lit(None, dtype=pl.String), age=pl.lit(None, dtype=pl.Int64))
    (found,) = divulge.singling_out(SMALL[0], synthetic, holdout=SMALL[2], n_columns=1)
    assert not {"town", "age"} & {g.name for g in found.groups}


def test_identifiers_are_left_out_unless_named():
    tables = changed(SMALL, lambda t, i: t.with_columns(person_id=pl.Series([f"P{i}{j:05d}" for j in range(len(t))])))
    found = of(tables, n_columns="univariate")[0]
    assert any("'person_id' (identifier)" in x for x in found.notes)
    assert "person_id" not in {g.name for g in found.groups}
    named = divulge.singling_out(
        tables[0], tables[0], holdout=tables[2], n_columns="univariate", columns=["person_id", "age"]
    )
    assert "person_id" in {g.name for g in named[0].groups}
    assert named[0].settings["columns"] == ["person_id", "age"]


def test_mixed_types_are_read_as_they_are():
    """A column of texts and numbers: numbers are bounded, texts are named."""
    column = [str(v) for v in range(30)] + ["unknown"] + ["31"] * 4
    real = pd.DataFrame({"x": column, "y": ["u", "v"] * 17 + ["u"]})
    schema = Schema((Column("x", "numeric"), Column("y", "categorical")))
    found = {r.variant: r for r in divulge.singling_out(real, real, schema=schema, n_columns=["univariate", 1])}
    # 30 numbers and the text once each, the largest number four times but once with each y: two records
    assert hits(found["univariate"]) == (31, 31)
    objects = pd.DataFrame({"x": [1, "1", 2.5, None, True] * 4, "y": list("ababa") * 4}, dtype=object)
    assert divulge.singling_out(objects, objects, n_columns=2)[0].real.n <= 10


WRONG = [
    ({"n_columns": 6}, "6, and usable columns: 5"),
    ({"n_columns": 0}, "0 is below 1"),
    ({"n_columns": -2}, "-2 is below 1"),
    ({"n_columns": True}, "a bool is no whole number"),
    ({"n_columns": 2.5}, "a float is no whole number"),
    ({"n_columns": "three"}, "not a known text"),
    ({"n_columns": []}, "none given"),
    ({"n_columns": [2, 2]}, "named twice"),
    ({"n_columns": [1, "all"]}, "not a known text"),
    ({"n_columns": [1, None]}, "a NoneType is no whole number"),
    ({"guesses": 0}, "guesses: 0 is below 1"),
    ({"guesses": 10.0}, "guesses: a float is no whole number"),
    ({"tries": 0}, "tries: 0 is below 1"),
    ({"weight_at_most": 0}, "weight_at_most: 0 is outside"),
    ({"weight_at_most": 1.5}, "1.5 is outside"),
    ({"weight_at_most": math.nan}, "nan is outside"),
    ({"weight_at_most": "light"}, "weight_at_most: 'light' is outside"),
    ({"columns": []}, "none given"),
    ({"columns": ["age", "age"]}, "named twice"),
]


@pytest.mark.parametrize(("wrong", "message"), WRONG)
def test_wrong_settings_are_told(wrong, message):
    with pytest.raises(SettingError, match=message) as told_so:
        of(SMALL, **wrong)
    assert "hint:" in str(told_so.value)


def test_numbers_of_numpy_are_numbers():
    assert of(SMALL, n_columns=np.int64(2))[0].variant == "2 columns"
    assert [r.variant for r in of(SMALL, n_columns=np.array([1, 3]))] == ["1 column", "3 columns"]


def test_unknown_columns_and_empty_tables_are_told():
    with pytest.raises(ColumnError, match="hint:"):
        of(SMALL, columns=["agee"])
    with pytest.raises(DivulgeError, match="no rows"):
        of((SMALL[0], SMALL[1][:0], SMALL[2]))
    with pytest.raises(DivulgeError, match="no column to compare"):
        divulge.singling_out(frame(x=["a", "a"]), frame(x=["a", "a"]))


def test_no_result_shows_a_data_value():
    secret = "s3cr3t"
    real = SMALL[0].with_columns(job=pl.lit(secret) + pl.col("job"), income=pl.col("income") * 0 + 98765.4321)
    real = real.with_columns(income=pl.when(pl.int_range(pl.len()) == 0).then(12345.678).otherwise(pl.col("income")))
    results = divulge.singling_out(real, real, holdout=SMALL[2])
    text = json.dumps([r.to_dict() for r in results]) + "".join(f"{r}{r!r}{r._repr_html_()}" for r in results)
    for value in (secret, "98765", "12345", "98,765", "12,345"):
        assert value not in text
    for wrong, _ in WRONG:
        with pytest.raises(SettingError) as told_so:
            divulge.singling_out(real, real, holdout=SMALL[2], **wrong)
        assert secret not in str(told_so.value)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "m"), [(400, 400), (1200, 300)])
def test_what_a_full_copy_would_show(n, m):
    """Read off the strangers of a leak-free table, it is about the risk that copies of everybody have for the first few."""
    rng = np.random.default_rng(n)

    def drawn(size):
        return pl.DataFrame({c: rng.normal(size=size) for c in "uvwxy"})

    real, holdout, fresh = drawn(n), drawn(m), drawn(n)
    free = divulge.singling_out(real, fresh, holdout=holdout, n_columns=3)[0]
    shown = free.context[SHOWN]
    assert 0.3 * m / n < shown < m / n
    copied = pl.concat([real[: n // 5], fresh[n // 5 :]])
    leak = divulge.singling_out(real, copied, holdout=holdout, n_columns=3)[0]
    assert leak.risk.value == pytest.approx(shown / 5, abs=0.04 * m / n + 0.03)
    assert free.score == pytest.approx(100 * (1 - min(1, max(0, free.risk.high / shown))))
    assert (free.verdict == "none found") == (free.risk.high <= 0.05 * shown)


def test_nothing_of_a_copy_shows_where_everybody_has_a_double():
    table = frame(A=[x for x in "abcdefghijklmnopqrstuvwxy" for _ in range(4)])
    found = ask(table, table, table, n_columns=1)["1 column"]
    assert (found.context[SHOWN], found.score, found.verdict) == (0, None, "cannot tell")


def test_what_chance_gives_is_told_with_strangers_only():
    """The same guesses had 8.0% by chance without a holdout and 14.1% with one: without, n people are all there are."""
    real, synthetic, holdout = mixed(1, 80), mixed(2, 80), mixed(3, 80)
    with_strangers = divulge.singling_out(real, synthetic, holdout=holdout, n_columns=2)[0]
    without = divulge.singling_out(real, synthetic, n_columns=2)[0]
    assert without.real == with_strangers.real
    assert without.baseline is None and "n w (1 - w)^(n - 1)" not in without.context
    assert with_strangers.baseline.rate > with_strangers.context["n w (1 - w)^(n - 1)"] > 0
