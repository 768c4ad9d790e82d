"""Copies with one column changed, against plain Python, and the leak that they are for."""

from fractions import Fraction as F

import numpy as np
import polars as pl
import pytest
from amount import tries
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import divulge
from divulge.attacks.checks import SHOWN
from divulge.attacks.copying.all_but_one import SMALLEST
from divulge.case.case import build_case
from divulge.core.schema import Column, Schema

COLUMNS = "abcd"
SCHEMA = Schema(tuple(Column(c, "categorical") for c in COLUMNS))
row = st.tuples(*[st.sampled_from(["u", "v", None])] * 4)
table = st.lists(row, min_size=1, max_size=9)
alone = ["all but one"]


def frame(rows):
    return pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.String), orient="row")


def near(one, other):
    return sum(x != y for x, y in zip(one, other, strict=True)) <= 1


def chance(person, people, synthetic):
    """The chance that a table of distinct counts, thinned by their common divisor, has a match from the others."""
    counts = {s: synthetic.count(s) for s in synthetic}
    m = sum(counts.values()) // np.gcd.reduce(list(counts.values()))
    others = sum(near(person, p) for p in people) - 1
    return 1 - (1 - F(others, max(1, len(people) - 1))) ** int(m)


@settings(max_examples=tries(150, 20), deadline=None, derandomize=True, database=None, phases=[Phase.generate])
@given(real=table, synthetic=table, holdout=table)
def test_matches_are_weighted_as_plain_python_does(real, synthetic, holdout):
    (found,) = divulge.copies(frame(real), frame(synthetic), holdout=frame(holdout), schema=SCHEMA, variants=alone)
    people = real + holdout
    weights = [F(1, 10) / max(F(1, 10), chance(p, people, synthetic)) for p in people]
    scores = [float(w) * any(near(p, s) for s in synthetic) for p, w in zip(people, weights, strict=True)]
    np.testing.assert_allclose(found.individual.real, scores[: len(real)], rtol=1e-12)
    np.testing.assert_allclose(found.individual.holdout, scores[len(real) :], rtol=1e-12)
    copied = [float(w) * any(near(p, r) for r in real) for p, w in zip(people, weights, strict=True)]
    p, q = np.mean(copied[: len(real)]), np.mean(copied[len(real) :])
    assert found.context[SHOWN] == (pytest.approx(max(0, (p - q) / (1 - q))) if q < 1 else None)


def coarse(rng, n, d=9, levels=4):
    latent = rng.integers(0, 2, (n, 1))
    codes = np.where(rng.random((n, d)) < 0.4, latent, rng.integers(0, levels, (n, d)))
    return pl.DataFrame({f"c{j}": codes[:, j].astype(str) for j in range(d)})


def changed(rng, table, people):
    """Copies of people with one column taken from somebody else, among the rows of a table."""
    codes = people.to_numpy().copy()
    other = table.to_numpy()
    which = rng.integers(0, codes.shape[1], len(codes))
    place = np.arange(len(codes))
    codes[place, which] = (codes[place, which].astype(int) + 1) % 4
    return pl.DataFrame(np.concatenate([codes.astype(str), other[len(codes) :]]), schema=table.columns, orient="row")


def test_people_copied_with_one_column_changed_are_found():
    rng = np.random.default_rng(3)
    real, synthetic, holdout = (coarse(rng, 400) for _ in range(3))
    leaked = changed(rng, synthetic, real[:80])
    exact, one = divulge.copies(real, leaked, holdout=holdout, variants=["exact", "all but one"])
    assert (exact.verdict, one.verdict) != ("excess found", "excess found")
    assert one.verdict == "excess found"
    assert one.individual.real[:80].min() > 0
    assert one.settings == {"columns": 9}
    assert 0 < one.context[SMALLEST] < 0.2 < one.context[SHOWN]


def test_what_the_weights_are_by_hand():
    """Ten people; u u u has one neighbour of nine others, so 1 - (8 / 9)^2 of two rows; the rest have none."""
    real = [("u", "u", "u"), ("u", "u", "v"), *((f"a{i}", f"b{i}", f"c{i}") for i in range(3))]
    holdout = [(f"d{i}", f"e{i}", f"f{i}") for i in range(5)]
    synthetic = [("u", "u", "w"), ("a0", "b0", "x")]
    (found,) = divulge.copies(*(pl.DataFrame(t, schema=list("abc"), orient="row") for t in (real, synthetic)),
                              holdout=pl.DataFrame(holdout, schema=list("abc"), orient="row"), variants=alone)  # fmt: skip
    w = 0.1 / (1 - (8 / 9) ** 2)
    assert found.individual.real == pytest.approx([w, w, 1, 0, 0])
    assert found.individual.holdout.tolist() == [0] * 5


def test_constants_and_order_change_nothing():
    rng = np.random.default_rng(4)
    tables = [coarse(rng, 60, 4) for _ in range(3)]
    tables[1] = changed(rng, tables[1], tables[0][:20])
    (before,) = divulge.copies(*tables[:2], holdout=tables[2], variants=alone)
    orders = [rng.permutation(60) for _ in range(3)]
    moved = [
        t[o].select(reversed(t.columns)).with_columns(one=pl.lit("x")) for t, o in zip(tables, orders, strict=True)
    ]
    (after,) = divulge.copies(*moved[:2], holdout=moved[2], variants=alone)
    assert {**before.to_dict(), "seconds": 0} == {**after.to_dict(), "seconds": 0}
    np.testing.assert_array_equal(before.individual.real[orders[0]], after.individual.real)
    (twice,) = divulge.copies(tables[0], pl.concat([tables[1]] * 2), holdout=tables[2], variants=alone)
    assert {**before.to_dict(), "seconds": 0} == {**twice.to_dict(), "seconds": 0}


@pytest.mark.parametrize("columns", [1, 2])
def test_two_columns_are_too_few(columns):
    t = coarse(np.random.default_rng(5), 20, columns)
    exact, *_ = divulge.copies(t, t, holdout=t, variants=["exact", "all but one"])
    assert "all but one: not tested, fewer than 3 columns are compared" in exact.notes


@pytest.mark.parametrize("n", [1, 2])
def test_tiny_and_missing_tables_have_an_answer(n):
    t = coarse(np.random.default_rng(6), n, 4)
    schema = Schema(tuple(Column(c, "categorical") for c in t.columns))
    empty = t.with_columns(c0=pl.lit(None, dtype=pl.String))
    for tables in ((t, t, t), (t, t, None), (empty, t, empty)):
        _, one = divulge.copies.run(build_case(*tables, schema=schema), variants=["exact", "all but one"])
        assert one.real.n == n
        assert one.individual.real.min() > 0  # all have themselves, or themselves but for one column
