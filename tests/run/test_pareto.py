"""The front of risk and use: who is bettered, by whom, and what the limits say."""

import re

import numpy as np
import polars as pl
import pytest
from kept_helpers import kept
from report_helpers import typed

import divulge
from divulge.demo import tables
from divulge.measures.result import FidelityResult
from divulge.report.comparison.charts import Point, risk_against_use
from divulge.report.comparison.html import page
from divulge.report.comparison.model import CandidateFidelity, FidelityPair
from divulge.report.comparison.prose import front_in_words
from divulge.run.comparing.pareto import Standing, candidate_fidelity, front_of, measure_of_use


def standing(label, risk, excess, *, safer=(), width=0.01):
    low, high = max(0.0, excess - width), max(0.0, excess) + width
    found = CandidateFidelity(ruler=1.0, excess=excess, low=low, high=high, verdict="cannot tell")
    return Standing(label, risk, frozenset(safer), found)


def why(front):
    return {d.label: (d.by, d.sure) for d in front.dominated}


def test_a_candidate_that_is_better_in_one_and_no_worse_in_the_other_betters_another():
    front = front_of([standing("a", 0.01, 0.0), standing("b", 0.02, 0.2), standing("c", 0.3, 0.2, safer="ab")], 0.95)
    assert front.labels == ("a",)
    assert why(front) == {"b": ("a", "use"), "c": ("a", "risk and use")}
    assert front.sentence == (
        "On the front of risk and use: “a”. Not on it: “b” (“a” is better in use), “c” (“a” is better in risk and use)."
    )


def test_risk_against_use_keeps_both_on_the_front():
    front = front_of([standing("near and risky", 0.3, 0.0, safer={"far"}), standing("far", 0.0, 0.3)], 0.95)
    assert front.labels == ("near and risky", "far") and not front.dominated
    assert front.sentence.startswith("No candidate is bettered")


def test_what_is_not_certain_betters_nobody():
    assert front_of([standing("a", 0.01, 0.01), standing("b", 0.02, 0.015)], 0.95).labels == ("a", "b")


def test_to_be_closer_than_a_fresh_sample_is_no_merit():
    copy, clean = standing("copy", 0.9, -0.1, safer={"clean"}), standing("clean", 0.0, 0.005)
    front = front_of([copy, clean], 0.95)
    assert why(front) == {} and front.pairs[0].farther is None  # by estimate the copy is nearer, by 0.005
    assert why(front_of([copy, standing("clean", 0.0, 0.0)], 0.95)) == {"copy": ("clean", "risk")}


def test_differences_are_those_of_all_pairs_together():
    three = [standing(label, 0.0, x, width=0.02) for label, x in (("a", 0.1), ("b", 0.1), ("c", 0.2))]
    front = front_of(three, 0.95)
    pair = front.pairs[1]
    assert (pair.first, pair.second, pair.farther) == ("a", "c", "c")
    # three candidates and three pairs: the limits of the candidates are at the level of the pairs already
    assert pair.low == pytest.approx(-0.1 - 0.02 * 2**0.5)
    one = front_of(three[:2], 0.95).pairs[0]
    assert one.high == pytest.approx(0.02 * 2**0.5 * 1.959964 / 2.241403, abs=1e-6)


def test_paired_differences_come_before_those_of_independent_estimates():
    two = [standing("a", 0.0, 0.1, width=0.05), standing("b", 0.0, 0.13, width=0.05)]
    assert front_of(two, 0.95).labels == ("a", "b")
    paired = FidelityPair(first="a", second="b", difference=-0.03, low=-0.05, high=-0.01, farther="b", paired=True)
    front = front_of(two, 0.95, [paired])
    assert why(front) == {"b": ("a", "use")} and front.pairs == (paired,)


def head(excess, low, high, **more):
    return typed(kept(1.5, "cannot tell") | {"excess": excess, "low": low, "high": high} | more, FidelityResult)


def test_limits_of_a_candidate_hold_for_all_together_and_are_means_over_its_tables():
    one = candidate_fidelity([[head(0.1, 0.08, 0.12)]], "column_pairs", 0.95, 1)
    assert (one.excess, one.low, one.high) == pytest.approx((0.1, 0.08, 0.12))
    four = candidate_fidelity([[head(0.1, 0.08, 0.12)]], "column_pairs", 0.95, 4)
    assert four.high - 0.1 == pytest.approx(0.02 * 2.497705 / 1.959964, abs=1e-6)
    mean = candidate_fidelity(
        [[head(0.1, 0.08, 0.12)], [head(0.2, 0.18, 0.22, verdict="differs")]], "column_pairs", 0.95, 1
    )
    assert (mean.excess, mean.verdict) == (pytest.approx(0.15), "differs")
    assert candidate_fidelity([[head(0.1, 0.08, 0.12)], []], "column_pairs", 0.95, 1) is None


def test_names_of_candidates_stand_off_the_lines():
    points = [
        Point("one", 0.02, 0.1, 0.0, 0.2, "none found"),
        Point("two", 0.03, 0.3, 0.3, 0.3, "none found"),
    ]
    drawn = risk_against_use("x", points, measure="m", acceptable=0.05)
    (at,) = (float(y) for y in re.findall(r'y="([0-9.]+)"[^>]*>one<', drawn))
    mark, _ = (float(b) for b in re.findall(r'<path class="thin" d="M[0-9.]+ ([0-9.]+)H[0-9.]+"', drawn))
    assert abs(at - 4 - mark) > 10  # the name is above or below the line, not struck through


@pytest.mark.slow
def test_a_comparison_names_the_front():
    real, synthetic, holdout = tables(seed=0)
    rng = np.random.default_rng(0)
    even = pl.DataFrame({c: rng.choice(real[c].unique().sort().to_numpy(), len(real)) for c in real.columns})
    run = {"holdout": holdout, "membership": False, "jobs": 1}
    found = divulge.compare(real, {"even": even, "copy": real, "trees": synthetic}, **run)
    data = found.comparison
    by = {c.label: c.fidelity for c in data.candidates}
    assert by["even"].low > 0.05 > by["trees"].low == by["copy"].low == 0
    assert {(p.first, p.second): p.farther for p in data.front.pairs}["copy", "even"] == "even"
    assert "copy" not in data.front.labels and data.verdict.order[0] in data.front.labels
    assert front_in_words(data) in found.to_markdown().replace("\\", "")
    assert front_in_words(data) in str(found).replace("\n", " ")
    assert "another sample" in page(data) and "1 a new sample" in str(found).replace("\n", " ")
    without = divulge.compare(real, {"a": synthetic, "b": even}, fidelity=False, **run)
    assert without.comparison.front is None and "front" not in without.to_markdown()


def test_use_is_of_columns_where_there_are_no_pairs():
    shapes, pairs = head(0.1, 0.08, 0.12, measure="column_shapes"), head(0.2, 0.1, 0.3)
    silent = typed({"measure": "column_pairs"}, FidelityResult)
    assert measure_of_use([shapes, silent]) == "column_shapes"
    assert measure_of_use([shapes, silent, pairs]) == measure_of_use([]) == "column_pairs"
    assert candidate_fidelity([[shapes, silent]], "column_shapes", 0.95, 1).measure == "column_shapes"


def test_one_column_alone_has_a_distance_and_a_front():
    real, synthetic, holdout = (t.select("age") for t in tables(seed=0))
    found = divulge.compare(real, {"a": synthetic, "b": real}, holdout=holdout, membership=False, jobs=1)
    assert {c.fidelity.measure for c in found.comparison.candidates} == {"column_shapes"}
    assert found.comparison.front is not None and "distance of columns" in page(found.comparison)
    assert "Use: distance of columns, 1 a new sample" in str(found)


def test_without_strangers_the_distance_is_told_and_nothing_is_ranked():
    real, synthetic, _ = (t.select("age", "educ") for t in tables(seed=0))
    found = divulge.compare(real, {"a": synthetic, "b": real}, membership=False, jobs=1)
    assert found.comparison.front is None and all(c.fidelity for c in found.comparison.candidates)
    assert "distance of pairs of columns" in page(found.comparison) and "<svg" not in page(found.comparison)
    assert "| candidate | pairs of columns |" in found.to_markdown() and "distance" in str(found)
