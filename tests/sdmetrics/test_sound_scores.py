"""`mode="sound"` of every metric: a mode or a reason, the released score inside, a defect that differs."""

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest

from divulge.measures.permuted_score import permuted_score
from divulge.sdmetrics import column_pairs, multi_table, single_column, single_table, timeseries
from divulge.sdmetrics.base import BaseMetric
from divulge.sdmetrics.catalogue import ROWS

MODULES = (single_column, column_pairs, single_table, multi_table, timeseries)
BASES = {
    "BinaryEfficacyMetric", "CategoricalPrivacyMetric", "ColumnPairsMetric", "DetectionMetric", "MLEfficacyMetric",
    "MultiColumnPairsMetric", "MultiSingleColumnMetric", "MultiSingleTableMetric", "MultiTableMetric",
    "MulticlassEfficacyMetric", "NumericalPrivacyMetric", "ParentChildDetectionMetric", "RegressionEfficacyMetric",
    "ScikitLearnClassifierDetectionMetric", "SingleColumnMetric", "SingleTableMetric",
    "TimeSeriesClassificationEfficacyMetric", "TimeSeriesDetectionMetric", "TimeSeriesEfficacyMetric",
    "TimeSeriesMetric",
}  # fmt: skip
REASONS = {
    "BinaryClassifierPrecisionEfficacy", "BinaryClassifierRecallEfficacy", "ConstraintAdherence",
    "EqualizedOddsImprovement", "LSTMClassifierEfficacy", "LSTMDetection", "TableStructure",
    *(row.name for row in ROWS if row.sound is None),
}  # fmt: skip
RNG = np.random.default_rng(4)


def every_metric():
    for module in MODULES:
        for name in module.__all__:
            metric = getattr(module, name)
            if inspect.isclass(metric) and issubclass(metric, BaseMetric) and name not in BASES:
                yield pytest.param(metric, id=f"{module.__name__.rpartition('.')[2]}.{name}")


@pytest.mark.parametrize("metric", list(every_metric()))
def test_each_metric_has_a_sound_mode_or_a_reason(metric):
    parameters = inspect.signature(metric.compute).parameters
    assert "mode" in parameters or "kwargs" in parameters
    assert callable(metric.compute_both)
    if metric.__name__ in REASONS:
        given = [p for p in parameters.values() if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
        with pytest.raises((TypeError, NotImplementedError), match="has no sound counterpart"):
            metric.compute(*(None for _ in given), mode="sound")


def numbers(shift=0.0, n=200):
    return pd.Series(RNG.normal(size=n) + shift)


def visits(shift, n=60):
    keys = pd.Series(np.repeat([f"p{i}" for i in range(n)], RNG.integers(2 + 2 * bool(shift), 7, n)))
    return keys, pd.Series(RNG.normal(size=len(keys)) * (1 + shift)).round(3) + shift * (np.arange(len(keys)) % 2)


def links(found, n=100):
    return pd.Series(range(n)), pd.Series(RNG.integers(0, int(n / found), 300))


def plane(angle):
    x, y = RNG.normal(size=(2, 300))
    return pd.DataFrame({"a": x, "b": angle * x + y})


def codes(mixed):
    a = RNG.choice(["u", "v"], 300)
    return pd.DataFrame({"a": a, "b": np.where(RNG.random(300) < mixed, RNG.choice(["u", "v"], 300), a)})


DAYS = [pd.Series([f"2020-01-{1 + i % 28:02d}" for i in range(200)]), pd.Series(["2020-01-01"] * 150 + ["soon"] * 50)]
KEYS = [pd.Series([f"k{i}" for i in RNG.permutation(200)]) for _ in range(2)]
CASES = [
    (single_column.RangeCoverage, numbers(), pd.Series(RNG.uniform(-0.5, 0.5, 200)), numbers(), {}),
    (single_column.StatisticSimilarity, numbers(), numbers(2), numbers(), {"statistic": "median"}),
    (single_column.SmoothnessSimilarity, numbers(), numbers() * 3, numbers(), {}),
    (single_column.CSTest, codes(0)["a"], codes(0)["a"].replace("v", "w"), codes(0)["a"], {}),
    (single_column.KeyUniqueness, KEYS[0], pd.concat([KEYS[1][:150], KEYS[1][:50]]), KEYS[1], {}),
    (single_column.DatetimeFormatAdherence, *DAYS, DAYS[0], {"datetime_format": "%Y-%m-%d"}),
    (single_column.RegexFormatAdherence, KEYS[0], pd.Series(["k1", "x"] * 100), KEYS[1], {"regex_format": "k[0-9]+"}),
    (single_column.SequenceLengthSimilarity, visits(0)[0], visits(1)[0], visits(0)[0], {}),
    (column_pairs.StatisticMSAS, visits(0), visits(2), visits(0), {"statistic": "std"}),
    (column_pairs.InterRowMSAS, visits(0), visits(1), visits(0), {}),
    pytest.param(column_pairs.ContinuousKLDivergence, plane(0), plane(2), plane(0), {}, marks=pytest.mark.slow),
    pytest.param(column_pairs.DiscreteKLDivergence, codes(0.2), codes(1), codes(0.2), {}, marks=pytest.mark.slow),
    (column_pairs.ReferentialIntegrity, links(1), links(0.7), links(1), {}),
    (column_pairs.CardinalityBoundaryAdherence, links(1), links(5), links(1), {}),
]


@pytest.mark.parametrize(
    ("metric", "real", "broken", "fresh", "settings"), CASES, ids=lambda v: getattr(v, "__name__", "")
)
def test_a_defect_differs_and_strangers_stand_beside(metric, real, broken, fresh, settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        both = metric.compute_both(real, broken, **settings, real_validation_data=fresh)
        score = metric.compute(real, broken, **settings)
        again = metric.compute_breakdown(real, fresh, **settings, mode="sound")
    sound = both["sound"]
    assert both["compatible"]["score"] == score
    if metric not in (single_column.CSTest, column_pairs.ReferentialIntegrity):
        assert sound["score"] == pytest.approx(score)
    assert sound["verdict"] == "differs"
    assert again["p_value"] > 0.01  # of fourteen fresh samples one in ten runs is below
    assert sound["low"] <= sound["score"] <= sound["high"] < 1
    assert sound["score"] < sound["fresh_sample"]["low"]
    assert sound["holdout"]["score"] == pytest.approx(again["score"])


@pytest.mark.slow
def test_the_order_of_rows_changes_no_digit():
    x, y = numbers(), numbers(0.5)
    frames = plane(0), plane(1)
    for metric, sides in ((single_column.RangeCoverage, (x, y)), (column_pairs.ContinuousKLDivergence, frames)):
        turned = [s[::-1].reset_index(drop=True) for s in sides]
        found = [metric.compute_breakdown(*given, mode="sound") for given in (sides, turned)]
        assert found[0] == found[1]


def test_permuted_scores_by_hand():
    """Of 0 0 against 1 1 the six ways to split four give distances 1, 1 and four times 0: p = 1/3."""
    x = np.array([0.0, 0.0, 1.0, 1.0])
    found = permuted_score(lambda a, b: 1 - abs(x[a].mean() - x[b].mean()), 2, 2, np.random.default_rng(0), draws=3000)
    assert found.value == 1
    assert found.p_value == pytest.approx(1 / 3, abs=0.03)
    assert found.fresh_sample.mean == pytest.approx(1 / 3, abs=0.03)


def test_an_undefined_score_is_not_measured():
    found = permuted_score(lambda a, b: np.nan, 5, 5, np.random.default_rng(0))
    assert (found.value, found.verdict) == (None, "not measured")


def table(shift=0.0, n=200):
    x = RNG.normal(size=n)
    return pd.DataFrame({"x": x + shift, "y": x + RNG.normal(size=n), "k": np.where(x > 0, "a", "b")})


COLUMNS = {"x": {"sdtype": "numerical"}, "y": {"sdtype": "numerical"}, "k": {"sdtype": "categorical"}}


def test_tables_correct_over_columns():
    real, broken, fresh = table(), table(1.5), table()
    both = single_table.KSComplement.compute_both(real, broken, {"columns": COLUMNS}, real_validation_data=fresh)
    assert {c: both["sound"][c].get("verdict") for c in "xy"} == {"x": "differs", "y": both["sound"]["y"]["verdict"]}
    assert both["sound"]["y"]["p_adjusted"] >= both["sound"]["y"]["p_value"]
    assert both["sound"]["x"]["p_adjusted"] == pytest.approx(2 * both["sound"]["x"]["p_value"])
    assert "holdout" in both["sound"]["x"]
    pairs = single_table.CorrelationSimilarity.compute_both(real, broken, {"columns": COLUMNS})
    assert set(pairs["sound"]) == {("x", "y")}
    metadata = {"tables": {"t": {"columns": COLUMNS}}}
    several = multi_table.KSComplement.compute_both(
        {"t": real}, {"t": broken}, metadata, real_validation_data={"t": fresh}
    )
    assert several["sound"]["t"]["x"]["verdict"] == "differs"


def test_relations():
    def side(few, n=100):
        users = pd.DataFrame({"u": range(n)})
        orders = pd.DataFrame({"o": range(3 * n), "u": RNG.integers(0, n // (1 + few), 3 * n)})
        return {"users": users, "orders": orders}

    metadata = {"tables": {"users": {"columns": {"u": {"sdtype": "id"}}, "primary_key": "u"},
                           "orders": {"columns": {"o": {"sdtype": "id"}, "u": {"sdtype": "id"}}}},
                "relationships": [{"parent_table_name": "users", "parent_primary_key": "u",
                                   "child_table_name": "orders", "child_foreign_key": "u"}]}  # fmt: skip
    for metric in (multi_table.CardinalityShapeSimilarity, multi_table.CardinalityStatisticSimilarity):
        own = {"statistic": "std"} if metric is multi_table.CardinalityStatisticSimilarity else {}
        both = metric.compute_both(side(0), side(3), metadata, **own, real_validation_data=side(0))
        found = both["sound"]["users", "orders"]
        assert found["verdict"] == "differs"
        assert found["score"] == pytest.approx(both["compatible"]["users", "orders"]["score"])
        assert found["holdout"]["score"] > found["score"]


@pytest.mark.slow
def test_models():
    real, broken, fresh = table(), table(1.5), table()
    metadata = {"columns": COLUMNS}
    for metric in (single_table.LogisticDetection, single_table.SVCDetection):
        both = metric.compute_both(real, broken, metadata, real_validation_data=fresh)
        assert both["sound"]["verdict"] == "differs"
        assert both["sound"]["holdout"]["verdict"] != "differs"
        assert metric.compute(real, broken, metadata, mode="sound") == both["sound"]["score"]
    torn = broken.assign(k=RNG.permutation(broken["k"]))
    both = single_table.BinaryDecisionTreeClassifier.compute_both(
        real, torn, metadata, target="k", real_validation_data=fresh
    )
    assert both["sound"]["verdict"] == "differs"
    assert both["sound"]["score"] < 0.5
    for metric in (single_table.GMLogLikelihood, single_table.BNLogLikelihood):
        found = metric.compute_breakdown(real, torn, metadata, mode="sound", real_validation_data=fresh)
        assert found["verdict"] == "differs"
    with pytest.raises(TypeError, match="needs `real_validation_data`"):
        single_table.MLEfficacy.compute(real, torn, metadata, target="k", mode="sound")
    with pytest.raises(TypeError, match="needs `real_validation_data`"):
        single_table.BNLikelihood.compute(real, torn, metadata, mode="sound")
