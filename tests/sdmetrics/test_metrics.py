"""The classes that the table of rows makes: names, bounds, calls, modes, seeds."""

import copy
import inspect
import math
import pickle
import subprocess
import sys

import pandas as pd
import pytest

import divulge.sdmetrics as sdmetrics
from divulge.sdmetrics import METRICS, Goal, SingleTableMetric, compute_metrics
from divulge.sdmetrics.catalogue import ROWS

# name, bounds: as in SDMetrics 0.32.0
RELEASED = {
    "CategoricalCAP": ("CategoricalCAP", 0, 1),
    "CategoricalZeroCAP": ("0CAP", 0, 1),
    "CategoricalGeneralizedCAP": ("Categorical GeneralizedCAP", 0, 1),
    "DisclosureProtection": (None, 0, 1),
    "DisclosureProtectionEstimate": (None, 0, 1),
    "DCROverfittingProtection": ("DCROverfittingProtection", 0, 1),
    "DCRBaselineProtection": ("DCRBaselineProtection", 0, 1),
    "NewRowSynthesis": ("NewRowSynthesis", 0, 1),
    "CategoricalKNN": ("K-Nearest Neighbors", 0, 1),
    "CategoricalNB": ("Categorical NaiveBayesian", 0, 1),
    "CategoricalRF": ("Categorical Random Forest", 0, 1),
    "CategoricalSVM": ("Support Vector Classifier", 0, 1),
    "CategoricalEnsemble": ("Ensemble", 0, 1),
    "NumericalLR": ("Numerical Linear Regression", 0, math.inf),
    "NumericalMLP": ("Multi-layer Perceptron Regression", 0, math.inf),
    "NumericalSVR": ("Numerical Support-vector Regression", 0, math.inf),
    "NumericalRadiusNearestNeighbor": ("Numerical Radius Nearest Neighbor", 0, math.inf),
}
TABLE = pd.DataFrame({"k": ["a", "b", "a"], "j": ["p", "p", "q"], "t": ["x", "y", "y"]})
FIELDS = {"key_fields": ["k", "j"], "sensitive_fields": ["t"]}


pytestmark = pytest.mark.usefixtures("deprecated_as_released")


def test_the_metrics_are_those_of_sdmetrics():
    assert list(METRICS) == list(RELEASED)


@pytest.mark.parametrize("name", RELEASED)
def test_attributes(name):
    metric = getattr(sdmetrics, name)
    assert (metric.name, metric.min_value, metric.max_value) == RELEASED[name]
    assert metric.goal is Goal.MAXIMIZE
    assert metric.__module__ == "divulge.sdmetrics" and metric.__name__ == name
    assert metric is getattr(sdmetrics.single_table, name) is pickle.loads(pickle.dumps(metric))


@pytest.mark.parametrize("row", ROWS, ids=lambda r: r.name)
def test_each_class_says_what_it_does(row):
    metric = METRICS[row.name]
    assert "Parameters" in metric.__doc__ and 'mode="sound"' in metric.__doc__ and "divulge." in metric.__doc__
    assert max(map(len, metric.__doc__.splitlines())) <= 120
    for call in (metric.compute, metric.compute_breakdown, metric.compute_both):
        parameters = inspect.signature(call).parameters
        assert {"mode", "seed"} - set(parameters) == ({"mode"} if call == metric.compute_both else set())
        assert call.__doc__.startswith("Return the ")
        assert list(parameters)[:2] == list(inspect.signature(row.breakdown).parameters)[:2]
    if row.sound is not None:
        assert "real_validation_data" in inspect.signature(metric.compute).parameters


def test_subclasses_are_found_as_in_sdmetrics():
    # the estimate is a kind of DisclosureProtection, and classes with some below are not listed
    assert set(SingleTableMetric.get_subclasses()) >= set(RELEASED) - {"DisclosureProtection"} | {"KSComplement"}
    assert not {"DisclosureProtection", "MultiSingleColumnMetric"} & set(SingleTableMetric.get_subclasses())
    assert set(sdmetrics.NumericalPrivacyMetric.get_subclasses()) == {n for n in RELEASED if n.startswith("Numerical")}
    assert "CategoricalPrivacyMetric" in SingleTableMetric.get_subclasses(include_parents=True)


def test_normalize():
    cap, lr = METRICS["CategoricalCAP"], METRICS["NumericalLR"]
    assert [cap.normalize(x) for x in (0, 0.25, 1)] == [0, 0.25, 1]
    assert math.isnan(cap.normalize(math.nan))
    assert lr.normalize(2.0) == pytest.approx(1 - math.exp(-2))
    for metric, outside in ((cap, 1.01), (cap, -0.01), (lr, -0.1)):
        with pytest.raises(ValueError, match="must be between `min_value` and `max_value`"):
            metric.normalize(outside)


@pytest.mark.parametrize(
    ("low", "high", "goal", "raw", "want"),
    [
        (0.0, 4.0, Goal.MINIMIZE, 1.0, 0.75),
        (-math.inf, 0.0, Goal.MAXIMIZE, -1.0, math.exp(-1)),
        (-math.inf, math.inf, Goal.MAXIMIZE, 0.0, 0.5),
        (0.0, math.inf, Goal.MINIMIZE, 1.0, math.exp(-1)),
    ],
)
def test_normalize_of_other_bounds(low, high, goal, raw, want):
    metric = type("Other", (sdmetrics.base.BaseMetric,), {"min_value": low, "max_value": high, "goal": goal})
    assert metric.normalize(raw) == pytest.approx(want)


def test_calls_by_place_and_by_name_agree():
    cap = METRICS["CategoricalCAP"]
    by_name = cap.compute(real_data=TABLE, synthetic_data=TABLE, **FIELDS)
    assert cap.compute(TABLE, TABLE, None, None, ["k", "j"], ["t"], None) == by_name
    assert cap.compute_breakdown(TABLE, TABLE, **FIELDS) == {"score": by_name}
    inside = {"columns": {c: {"sdtype": "categorical"} for c in TABLE}, **FIELDS}
    assert cap.compute_breakdown(TABLE, TABLE, inside) == {"score": by_name}
    assert cap.compute(TABLE, TABLE, {"tables": {"t": inside}}) == by_name


class Metadata:
    def to_dict(self):
        return {"columns": {c: {"sdtype": "categorical"} for c in TABLE}}


def test_a_metadata_object_is_taken_and_nothing_is_changed():
    before = copy.deepcopy(TABLE)
    metadata = Metadata().to_dict()
    METRICS["CategoricalCAP"].compute(TABLE, TABLE, Metadata(), **FIELDS)
    METRICS["NewRowSynthesis"].compute(TABLE, TABLE, metadata)
    pd.testing.assert_frame_equal(TABLE, before)
    assert metadata == Metadata().to_dict()


@pytest.mark.parametrize(
    ("args", "kwargs", "error", "text"),
    [
        ((TABLE,), FIELDS, TypeError, r"CategoricalCAP.compute\(\): missing a required argument: 'synthetic_data'"),
        ((TABLE, TABLE), FIELDS | {"keys": 1}, TypeError, r"CategoricalCAP.compute\(\): .*'keys'"),
        ((TABLE, TABLE), FIELDS | {"mode": "best"}, ValueError, "unknown mode. hint: one of compatible, sound"),
        ((TABLE, TABLE), FIELDS | {"mode": ["sound"]}, ValueError, "unknown mode"),
        ((TABLE, TABLE), FIELDS | {"mode": "sound", "seed": -1}, ValueError, "`seed` must be a whole number"),
        ((TABLE, TABLE), FIELDS | {"seed": -1}, ValueError, "`seed` must be a whole number"),
        ((TABLE, TABLE), FIELDS | {"seed": 1.5}, ValueError, "`seed` must be a whole number"),
        ((TABLE, TABLE), FIELDS | {"real_validation_data": TABLE}, TypeError, 'used in mode="sound" only'),
        ((TABLE, TABLE, "m"), FIELDS, TypeError, "Expected a dictionary but received a 'str'"),
        ((TABLE, TABLE, {}), FIELDS, ValueError, "must include a 'columns' key"),
        ((TABLE, TABLE, {"tables": {}}), FIELDS, ValueError, "does not contain any tables"),
        ((TABLE, TABLE, {"tables": {"a": {}, "b": {}}}), FIELDS, ValueError, "more than one table"),
        ((TABLE, TABLE, {"tables": {"a": {}}}, "c"), FIELDS, ValueError, "Unknown table"),
        ((TABLE, TABLE, {"tables": {"a": {}}}, 3), FIELDS, TypeError, "`table_name` must be a string"),
        ((TABLE, TABLE, {"columns": {}}), FIELDS, ValueError, "Column k not found in metadata"),
        ((TABLE, TABLE[["k", "t"]]), FIELDS, ValueError, "must have the same columns"),
    ],
)
def test_wrong_calls(args, kwargs, error, text):
    with pytest.raises(error, match=text):
        METRICS["CategoricalCAP"].compute(*args, **kwargs)


def test_metadata_of_columns_that_are_not_there_or_no_dates():
    entries = {c: {"sdtype": "categorical"} for c in TABLE}
    cap = METRICS["CategoricalCAP"]
    with pytest.raises(ValueError, match="Field z not found in data"):
        cap.compute(TABLE, TABLE, {"columns": entries | {"z": {"sdtype": "id"}}}, **FIELDS)
    with pytest.raises(ValueError, match="does not have a specified 'datetime_format'"):
        cap.compute(TABLE, TABLE, {"columns": entries | {"k": {"sdtype": "datetime"}}}, **FIELDS)
    dated = {"columns": entries | {"k": {"sdtype": "datetime", "datetime_format": "%Y"}}}
    with pytest.raises(ValueError, match="Error converting column 'k' to timestamp") as raised:
        cap.compute(TABLE, TABLE, dated, **FIELDS)
    assert raised.value.__cause__ is None and '"a"' not in str(raised.value)


@pytest.mark.parametrize("row", [r for r in ROWS if r.sound is None], ids=lambda r: r.name)
def test_without_a_sound_counterpart_the_function_to_use_is_named(row):
    with pytest.raises(NotImplementedError, match=r"divulge\.(dcr|inference)\("):
        METRICS[row.name].compute(TABLE, TABLE, mode="sound")


def test_both_needs_a_sound_counterpart():
    with pytest.raises(NotImplementedError, match="no sound counterpart"):
        METRICS["CategoricalNB"].compute_both(TABLE, TABLE, **FIELDS)


def test_a_class_of_ones_own_is_told_where_to_go():
    mine = type("Mine", (sdmetrics.CategoricalPrivacyMetric,), {"MODEL": sdmetrics.CAPAttacker})
    for call in (mine.compute, mine.compute_breakdown, mine.compute_both):
        with pytest.raises(NotImplementedError, match=r"Mine computes nothing itself.*CategoricalEnsemble"):
            call(TABLE, TABLE)


def test_paths_of_sdmetrics():
    from divulge.sdmetrics.errors import IncomputableMetricError
    from divulge.sdmetrics.goal import Goal as same_goal
    from divulge.sdmetrics.single_table.base import SingleTableMetric as same_base
    from divulge.sdmetrics.single_table.privacy import CAPAttacker, CategoricalCAP

    assert same_goal is Goal and same_base is SingleTableMetric and issubclass(IncomputableMetricError, Exception)
    assert (CategoricalCAP, CAPAttacker) == (METRICS["CategoricalCAP"], sdmetrics.CAPAttacker)
    for module in (sdmetrics, sdmetrics.single_table):
        with pytest.raises(AttributeError, match=r"NoSuchMetric.*import what is not here from sdmetrics"):
            module.NoSuchMetric  # noqa: B018


def test_compute_metrics_gives_a_row_each_and_keeps_errors():
    chosen = {n: METRICS[n] for n in ("CategoricalCAP", "CategoricalZeroCAP", "NumericalLR")}
    found = compute_metrics(chosen, TABLE, TABLE, **FIELDS)
    assert found["metric"].tolist() == list(chosen)
    assert found["normalized_score"][0] == found["raw_score"][0] == 0.0
    assert found["error"][2].startswith("Column k has invalid data type")
    assert pd.isna(found["raw_score"][2]) and found["goal"].tolist() == ["MAXIMIZE"] * 3


def test_divulge_itself_does_not_load_it():
    code = "import sys, divulge; assert 'divulge.sdmetrics' not in sys.modules and 'pandas' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
