"""`mode="sound"` of metrics of columns and pairs: the released score beside a fresh sample's."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest

import divulge
from divulge.sdmetrics.column_pairs import ContingencySimilarity, CorrelationSimilarity
from divulge.sdmetrics.single_column import (
    BoundaryAdherence,
    CategoryAdherence,
    CategoryCoverage,
    KSComplement,
    MissingValueSimilarity,
    TVComplement,
)
from divulge.sdmetrics.single_table import TableStructure

RNG = np.random.default_rng(1)
NUMBERS = [pd.Series(RNG.normal(size=400) + shift) for shift in (0, 0.6, 0)]
TEXTS = [pd.Series(RNG.choice(["a", "b", "c"], 400, p=p)) for p in ([0.5, 0.3, 0.2], [0.2, 0.3, 0.5], [0.5, 0.3, 0.2])]


@pytest.mark.parametrize(("metric", "data"), [(KSComplement, NUMBERS), (TVComplement, TEXTS)])
def test_a_defect_differs_and_people_do_not(metric, data):
    real, synthetic, strangers = data
    found = metric.compute_breakdown(real, synthetic, mode="sound", real_validation_data=strangers)
    assert found["verdict"] == "differs"
    assert found["fresh_sample"]["low"] < found["holdout"]["score"] <= found["fresh_sample"]["high"] + 0.02
    assert found["low"] < found["score"] < found["high"] < found["fresh_sample"]["low"] + 0.1
    assert found["score"] == metric.compute(real, synthetic, mode="sound") or metric is KSComplement  # bins of all
    assert found["score"] == pytest.approx(metric.compute(real, synthetic), abs=0.02)
    assert metric.compute_breakdown(real, strangers, mode="sound")["verdict"] != "differs"


def test_both_modes_stand_side_by_side():
    both = TVComplement.compute_both(*TEXTS[:2], real_validation_data=TEXTS[2])
    assert both["compatible"] == TVComplement.compute_breakdown(*TEXTS[:2])
    assert both["sound"]["holdout"]["n"] == 400


@pytest.mark.parametrize(
    ("metric", "real", "synthetic", "score"),
    [
        (MissingValueSimilarity, [None] * 50 + ["a"] * 50, ["a"] * 100, 0.5),
        (CategoryCoverage, ["a", "b"] * 50, ["a"] * 100, 0.5),
        (CategoryAdherence, ["a", "b"] * 50, ["a", "c"] * 50, 0.5),
        (BoundaryAdherence, [1.5, 2.5, 3.5, 4.5] * 25, [1.5, 2.5, 3.5, 9.5] * 25, 0.75),
    ],
)
def test_scores_by_hand(metric, real, synthetic, score):
    found = metric.compute_breakdown(pd.Series(real), pd.Series(synthetic), mode="sound")
    assert (found["score"], found["verdict"]) == (score, "differs")


def test_pairs():
    x = np.arange(300) % 71
    frames = [pl.DataFrame({"x": x + 0.5, "y": y + 0.5}) for y in (x, x[::-1])]
    tied = CorrelationSimilarity.compute_breakdown(*frames, coefficient="Spearman", mode="sound")
    assert tied["verdict"] == "differs"
    assert tied["real"] == pytest.approx(1)
    texts = [f.select(pl.col("x", "y").cast(pl.String).str.head(1)) for f in frames]
    found = ContingencySimilarity.compute_breakdown(*texts, mode="sound")
    assert found["verdict"] == "differs"
    assert found["score"] == pytest.approx(ContingencySimilarity.compute(*texts))


def test_nothing_to_measure_is_nan():
    found = MissingValueSimilarity.compute_breakdown(pd.Series(["a", "b"] * 20), pd.Series(["a"] * 40), mode="sound")
    assert math.isnan(found["score"])
    assert found["verdict"] == "not measured"


def test_mistakes():
    with pytest.raises(ValueError, match="unknown mode"):
        KSComplement.compute(*NUMBERS[:2], mode="better")
    with pytest.raises(TypeError, match='is used in mode="sound" only'):
        KSComplement.compute(*NUMBERS[:2], real_validation_data=NUMBERS[2])
    with pytest.raises(TypeError, match="range_min"):
        BoundaryAdherence.compute(*NUMBERS[:2], range_min=0, mode="sound")
    with pytest.raises(TypeError, match="TableStructure has no sound counterpart: names and types of columns"):
        TableStructure.compute(*(s.to_frame() for s in NUMBERS[:2]), mode="sound")


def test_the_answer_is_that_of_the_measure():
    tables = [pl.DataFrame({"x": s.to_numpy()}) for s in NUMBERS[:2]]
    (_, wanted) = divulge.column_shapes(*tables)
    assert KSComplement.compute(*NUMBERS[:2], mode="sound") == pytest.approx(1 - wanted.value)
