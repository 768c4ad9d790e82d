"""The variant `hole` of `dcr`: rows near to members that are missing."""

import numpy as np
import polars as pl
import pytest
from msgspec.structs import replace

import divulge
from divulge.attacks.catalogue import CATALOGUE
from divulge.attacks.multiplicity import correct
from divulge.case.case import build_case
from divulge.core.schema import Column, Schema
from divulge.run.judging.verdict import adjust_across_families

SCHEMA = Schema((Column("x", "numeric"),))


def column(*values, **more):
    return pl.DataFrame({"x": np.array(values, dtype=float), **more})


def found(real, synthetic, holdout, **more):
    (result,) = (r for r in divulge.dcr(real, synthetic, holdout=holdout, **more) if r.variant == "hole")
    return result


def filtered(seed=0, n=400, width=0.02):
    """People and rows on a line; no synthetic row lies near to a member."""
    rng = np.random.default_rng(seed)
    real, holdout, rows = rng.random(n), rng.random(n), rng.random(4 * n)
    rows = rows[np.abs(rows[:, None] - real).min(axis=1) > width / n]
    return column(*real), column(*rows), column(*holdout)


def test_by_hand():
    # distances to the one row, over a range of 10: strangers 0, .1 and 1, members .2, .3 and .4
    real, synthetic, holdout = column(2, 3, 4), column(0), column(0, 1, 10)
    result = found(real, synthetic, holdout, schema=SCHEMA)
    # 1% of 6 people is one, the stranger at 0; two strangers lie before every member: 3/6 * 2/5 = 1/5, times four
    assert (result.real.hits, result.real.n, result.holdout.hits, result.holdout.n) == (0, 3, 1, 3)
    assert result.p_value == result.p_adjusted == pytest.approx(0.8)
    assert result.context["strangers nearer to the synthetic table than every member"] == 2
    assert result.context["p-value, members among the nearest 1%"] == pytest.approx(0.5)
    assert result.verdict is result.risk is result.score is result.comparison is None
    assert any("it can find a deficit" in n for n in result.notes)


def test_a_filter_is_found_and_innocent_causes_are_named():
    result = found(*filtered(), schema=SCHEMA)
    assert result.verdict == "deficit found"
    assert result.real.hits == 0
    assert result.risk.low_simultaneous < result.risk.low < result.risk.value
    assert result.risk.value < result.risk.high < result.risk.high_simultaneous < 0
    assert result.difference.value == -result.holdout.rate
    assert result.score == pytest.approx(100 * (1 + result.risk.low))
    told = " ".join(result.notes)
    for cause in ("absence tells who is a member", "rejects copies", "--together", "no random counterpart"):
        assert cause in told


def test_copies_of_members_are_no_hole():
    real, synthetic, holdout = filtered()
    assert found(holdout, synthetic, real, schema=SCHEMA).p_value == 1
    assert found(real, real, holdout, schema=SCHEMA).verdict is None


def test_strangers_alone_in_the_table_are_a_hole_of_undefined_risk():
    result = found(column(*range(1, 60)), column(*range(100, 130)), column(*range(100, 130)), schema=SCHEMA)
    assert (result.verdict, result.holdout.rate, result.risk.value, result.score) == ("deficit found", 1, None, None)


def test_of_a_household_the_nearest_row_counts():
    # households of two: a stranger's two rows at 0 are one stranger who lies first
    real = column(2, 3, 4, 9, home=["a", "a", "b", "b"])
    synthetic, holdout = column(0, home=["s"]), column(0, 0, 1, 5, home=["p", "p", "q", "q"])
    result = found(real, synthetic, holdout, schema=SCHEMA, unit="home")
    assert (result.real.n, result.holdout.n) == (2, 2)
    assert result.p_value == pytest.approx(4 * 2 / 4 * 1 / 3)
    rows = found(*(t.drop("home") for t in (real, synthetic, holdout)), schema=SCHEMA)
    assert rows.p_value == pytest.approx(4 * (4 * 3 * 2) / (8 * 7 * 6))
    turned = found(real[::-1], synthetic, holdout[::-1], schema=SCHEMA, unit="home")
    assert turned.context == result.context


def test_a_small_p_value_alone_is_no_finding():
    """43 of 300 strangers before 30 members: p = .049, while the limits of 43 of 300 and 0 of 30 reach above 0."""
    holdout = column(*range(1, 44), *range(1000, 1257))
    result = found(column(*range(100, 130)), column(0), holdout, schema=SCHEMA)
    assert result.p_value == pytest.approx(0.049, abs=0.0005)
    assert result.verdict is result.risk is None
    assert found(column(*range(100, 130)), column(0), column(*range(1, 100), *range(1000, 1201)), schema=SCHEMA).verdict


def test_without_strangers_there_is_none():
    real, synthetic, _ = filtered()
    assert all(r.variant != "hole" for r in divulge.dcr(real, synthetic))


def test_the_p_value_is_corrected_in_no_family_of_the_attack_and_over_the_attacks():
    assert CATALOGUE["dcr"].alone == ("nearness", "hole", "aligned")
    case = build_case(*filtered(), schema=SCHEMA)
    results = divulge.dcr.run(case)
    (own,) = (r for r in correct(case, results) if r.variant == "hole")
    assert own == next(r for r in results if r.variant == "hole")
    assert own in adjust_across_families(correct(case, results), 0.95)
    # two families, that of the attack and the hole: .04 is .08 after Holm, while another finding leaves it be
    weak = replace(own, p_adjusted=0.04)
    assert adjust_across_families([weak], 0.95) == [weak]
    held = adjust_across_families([results[0], weak], 0.95)[1]
    assert held.verdict == "cannot tell"
    assert any("a deficit was found within this attack, but not after" in n for n in held.notes)
    strong = replace(results[0], verdict="excess found", p_adjusted=0.01)
    assert adjust_across_families([strong, weak], 0.95) == [strong, weak]
