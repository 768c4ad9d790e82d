"""Numbers nearly equal, and rare pairs of categories: against plain Python, the leaks that these alone see, and laws."""

import datetime
import math
from collections import Counter

import numpy as np
import polars as pl
import pytest
from amount import tries
from hypothesis import given, settings
from hypothesis import strategies as st

import divulge
from divulge.attacks.copying.nearly_equal import NEARLY, NEARLY_EQUAL, nearly_equal
from divulge.attacks.copying.rare_pairs import MOST, RARE_PAIR
from divulge.case.case import build_case

few = settings(max_examples=tries(60, 15), deadline=None, derandomize=True, database=None)


def plainly(values, person, released):
    """The definition, pair by pair."""
    out = []
    for i, v in enumerate(values):
        if not math.isfinite(v) or person[i] == -2:
            out.append(math.nan)
            continue
        synthetic = [abs(v - w) for w, there in zip(values, released, strict=True) if there and math.isfinite(w)]
        others = [
            abs(v - w)
            for w, who in zip(values, person, strict=True)
            if who != -2 and (who == -1 or who != person[i]) and math.isfinite(w)
        ]
        if person[i] == -1 or not synthetic:
            out.append(0.0)
        elif min(synthetic) == 0:
            out.append(1.0)
        else:
            out.append(min(1.0, NEARLY * min(others, default=math.inf) / min(synthetic)))
    return np.array(out)


@few
@given(st.integers(0, 10_000), st.integers(1, 30))
def test_nearness_is_its_definition(seed, n):
    rng = np.random.default_rng(seed)
    values = np.unique(np.round(rng.exponential(10, n), 2))
    values = np.concatenate([values, rng.choice([math.nan, math.inf, -math.inf], 1)])
    person, released = rng.integers(-2, 6, len(values)), rng.random(len(values)) < 0.3
    assert nearly_equal(values, person, released) == pytest.approx(
        plainly(values, person, released), abs=2e-9, nan_ok=True
    )


def stamps(rng, n):
    return rng.integers(0, 6 * 365 * 86_400, n)


def tables(seed=0, n=400, share=0.05, at_most=30):
    rng = np.random.default_rng([seed, 6])
    real, synthetic, holdout = (stamps(rng, n) for _ in range(3))
    k = round(share * n)
    synthetic[:k] = real[:k] + rng.integers(1, at_most + 1, k)

    def frame(seconds):
        start = datetime.datetime(2020, 1, 1)
        when = [start + datetime.timedelta(seconds=int(s)) for s in seconds]
        return pl.DataFrame({"when": when, "c": rng.integers(0, 9, n).astype(str)})

    return [frame(s) for s in (real, synthetic, holdout)]


def of(results, variant):
    return [r for r in results if r.variant == variant]


def test_moments_moved_by_half_a_minute_are_found_by_this_comparison_alone():
    real, synthetic, holdout = tables()
    results = divulge.copies(real, synthetic, holdout=holdout)
    assert [(r.variant, r.keys) for r in results if r.verdict == "excess found"] == [(NEARLY_EQUAL, ("when",))]
    (found,) = of(results, NEARLY_EQUAL)
    assert found.real.rate - found.holdout.rate == pytest.approx(0.05, abs=0.02)
    fresh = tables(share=0)
    assert of(divulge.copies(fresh[0], fresh[1], holdout=fresh[2]), NEARLY_EQUAL)[0].verdict != "excess found"


def test_the_unit_of_a_column_and_the_order_of_rows_change_no_digit():
    rng = np.random.default_rng(3)
    real, synthetic, holdout = (pl.DataFrame({"x": rng.normal(5, 2, 80), "y": rng.normal(size=80)}) for _ in range(3))
    scaled = [t.with_columns(pl.col("x") * 3.7) for t in (real, synthetic, holdout)]
    shuffled = [t.sample(fraction=1, shuffle=True, seed=1) for t in (real, synthetic, holdout)]
    want = of(divulge.copies(real, synthetic, holdout=holdout), NEARLY_EQUAL)
    assert [r.keys for r in want] == [("x",), ("y",)]
    for other in (scaled, shuffled):
        got = of(divulge.copies(other[0], other[1], holdout=other[2]), NEARLY_EQUAL)
        assert [(r.real, r.holdout, r.p_value, r.risk) for r in got] == [
            (r.real, r.holdout, r.p_value, r.risk) for r in want
        ]


def test_a_row_number_a_code_and_a_unit_are_not_asked_and_half_of_the_people_is_enough():
    rng = np.random.default_rng(4)
    n = 100
    half = np.concatenate([np.arange(60) * 7.5, np.zeros(n - 60)])
    frame = pl.DataFrame(
        {
            "row": np.arange(n),
            "code": rng.integers(0, 5, n),
            "half": half + np.where(half > 0, rng.random(n), 0),
            "u": np.arange(n) * 3.5,
        }
    )
    other = frame.with_columns(row=pl.col("row") + n, half=pl.col("half") * 1.01, u=pl.col("u") + 0.25)
    results = divulge.copies(frame, frame, holdout=other, unit="u")
    assert [r.keys for r in of(results, NEARLY_EQUAL)] == [("half",)]


@pytest.mark.parametrize("values", [[1.0, math.inf, -math.inf, None], [1.5] * 4, [None] * 4, [1e308, -1e308, 5.0, 0.0]])
def test_strange_numbers_are_no_error(values):
    many = pl.DataFrame({"x": pl.Series([*values * 10, *np.arange(60) / 7], dtype=pl.Float64), "c": ["a", "b"] * 50})
    divulge.copies(many, many, holdout=many)
    divulge.copies(many, many.head(1), holdout=many.tail(3))


# ---------------------------------------------------------------- rare pairs


def codes(seed=0, n=400, share=0.2, levels=40, columns=2):
    rng = np.random.default_rng([seed, 12])
    real, synthetic, holdout = (rng.integers(0, levels, (n, columns)) for _ in range(3))
    k = round(share * n)
    synthetic[rng.permutation(n)[:k], :2] = real[:k, :2]
    names = [f"c{j}" for j in range(columns)]
    return [pl.DataFrame([[f"v{v}" for v in row] for row in t], schema=names, orient="row") for t in
            (real, synthetic, holdout)]  # fmt: skip


def test_rare_pairs_are_counted_as_by_hand():
    real, synthetic, holdout = codes(n=60, levels=9)
    (found,) = of(divulge.copies(real, synthetic, holdout=holdout), RARE_PAIR)
    people = Counter([*real.rows(), *holdout.rows()])
    released = set(synthetic.rows())
    for rate, table in ((found.real, real), (found.holdout, holdout)):
        assert rate.hits == sum(people[row] <= 2 and row in released for row in table.rows())
        assert rate.n == table.height


def test_a_copied_pair_beside_a_fresh_row_is_found_by_this_comparison_alone():
    rng = np.random.default_rng(5)
    own = [
        t.with_columns(**{f"x{j}": pl.Series(rng.normal(size=400).round(1)) for j in range(9)})
        for t in codes(share=0.15)
    ]
    results = divulge.copies(own[0], own[1], holdout=own[2])
    found = [
        (r.variant, r.keys) for r in results if r.verdict == "excess found" and not r.variant.startswith("near on")
    ]
    assert found == [(RARE_PAIR, ("c0", "c1"))]


def test_the_rows_of_a_unit_are_one_person():
    base = codes(n=60, levels=9)
    many = [pl.concat([t.with_columns(u=pl.int_range(pl.len()).cast(pl.String) + pl.lit(side))] * 3)
            for t, side in zip(base, "rsh", strict=True)]  # fmt: skip
    (found,) = of(divulge.copies(many[0], many[1], holdout=many[2], unit="u"), RARE_PAIR)
    (want,) = of(divulge.copies(base[0], base[1], holdout=base[2]), RARE_PAIR)
    assert (found.real.rate, found.holdout.rate) == (want.real.rate, want.holdout.rate)


def test_ten_pairs_of_columns_at_most_and_none_of_coarse_ones():
    real, synthetic, holdout = codes(n=200, levels=25, columns=6)
    results = divulge.copies(real, synthetic, holdout=holdout)
    assert len(of(results, RARE_PAIR)) == MOST
    note = f"rare pairs: {MOST} of 15 pairs of columns in which a quarter of the people has a rare pair were tested"
    assert any(note in r.notes for r in results)
    coarse = codes(n=200, levels=3, columns=6)
    assert not of(divulge.copies(coarse[0], coarse[1], holdout=coarse[2]), RARE_PAIR)


def test_pairs_depend_on_no_label():
    """Members and strangers change places: the same pairs of columns are asked, with the rates changed over."""
    real, synthetic, holdout = codes(n=150, levels=15, columns=4)
    one = of(divulge.copies.run(build_case(real, synthetic, holdout)), RARE_PAIR)
    two = of(divulge.copies.run(build_case(holdout, synthetic, real)), RARE_PAIR)
    assert [(r.keys, r.real, r.holdout) for r in one] == [(r.keys, r.holdout, r.real) for r in two]
