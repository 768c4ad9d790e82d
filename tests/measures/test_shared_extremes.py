"""Extremes that one real person alone has: who else has them, and when a report says that they were copied."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import fisher_exact

import divulge
from divulge.case.case import build_case
from divulge.measures.catalogue import all_measures
from divulge.measures.shared_extremes import copied_extremes

VALIDITY = next(m for m in all_measures() if m.name == "validity")
REAL = {"x": [1.0, 2.0, 2.0, 3.0, 9.0], "y": [5.5, 5.5, 6.0, 7.0, 8.0], "k": list("aabbc")}
HOLDOUT = {"x": [1.5, 2.0, 2.5, 3.0, 4.0], "y": [5.5, 6.0, 6.0, 8.0, 8.0], "k": list("aabbc")}


def test_extremes_of_one_person_are_counted_in_each_table():
    # ends of x: 1 and 9, each of one person; of y: 8, as two have 5.5
    synthetic = pl.DataFrame({"x": [1.0, 1.0, 2.0, 9.0], "y": [6.0, 8.0, 7.0, 7.0], "k": list("abca")})
    found = divulge.validity(pl.DataFrame(REAL), synthetic, holdout=pl.DataFrame(HOLDOUT))
    told = {r.columns: r.context for r in found if r.variant == "out of range"}
    of_x, of_y = ([told[c,][f"{key}"] for key in ("extremes of one person", "of these in the synthetic table")]
                  for c in "xy")  # fmt: skip
    assert (of_x, of_y) == ([2, 2], [1, 1])
    head = found[0].context
    assert head["synthetic rows with an extreme of one person"] == 3  # two rows with 1, of which one has 8 too; 9
    assert head["strangers with an extreme of one person"] == 2
    assert head["p of copied extremes"] == pytest.approx(fisher_exact([[3, 1], [2, 3]])[1])


def test_people_with_several_rows_count_once():
    of = {"who": ["a", "a", "b", "c", "d"]}
    case = build_case(
        pl.DataFrame({"x": [9.5, 9.5, 3.0, 1.0, 2.0]} | of), pl.DataFrame({"x": [9.5, 9.5, 3.0, 2.0, 2.0]} | of),
        pl.DataFrame({"x": [4.0, 4.0, 3.0, 2.0, 2.0]} | of), unit="who",
    )  # fmt: skip
    found = VALIDITY.run(case)
    assert found[1].context["extremes of one person"] == 2
    assert found[0].context["synthetic rows with an extreme of one person"] == 1


def worlds(seed, n=120, k=6):
    rng = np.random.default_rng(seed)
    return [pl.DataFrame({f"x{j}": rng.normal(size=n).round(2) for j in range(k)}) for _ in range(3)]


def drawn(real, seed):
    """Each column drawn from the real values, as trees and copulas do."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame({c: rng.choice(real[c].to_numpy(), len(real)) for c in real.columns})


@pytest.mark.slow
def test_values_drawn_from_the_real_ones_have_copied_extremes_and_a_fresh_sample_seldom_has():
    seen, false = 0, 0
    for seed in range(20):
        real, other, holdout = worlds(seed)
        seen += copied_extremes(divulge.validity(real, drawn(real, seed), holdout=holdout)) is not None
        false += copied_extremes(divulge.validity(real, other, holdout=holdout)) is not None
    assert seen >= 12
    assert false <= 3  # binomial: 4 or more of 20 at .05 happen once in 60


def test_row_and_column_order_change_nothing_and_without_a_holdout_nothing_is_said():
    real, _, holdout = worlds(3)
    other = drawn(real, 3)
    found = divulge.validity(real, other, holdout=holdout)
    again = divulge.validity(real[::-1].select(real.columns[::-1]), other[::-1], holdout=holdout[::-1])
    assert [(r.columns, r.context) for r in found] == [(r.columns, r.context) for r in again]
    told = copied_extremes(found)
    assert told is not None and told.shared <= told.of_one
    assert copied_extremes(divulge.validity(real, other)) is None
