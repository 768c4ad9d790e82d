"""Metrics of users: derived from the base classes, or added by another package."""

import importlib.metadata
import types

import numpy as np
import polars as pl
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import accuracy_score, f1_score
from sklearn.tree import DecisionTreeClassifier

import divulge.sdmetrics as sdmetrics
from divulge.sdmetrics import Goal, addons, base
from divulge.sdmetrics.column_pairs import ColumnPairsMetric
from divulge.sdmetrics.errors import IncomputableMetricError
from divulge.sdmetrics.multi_table.base import MultiTableMetric
from divulge.sdmetrics.single_column.base import SingleColumnMetric
from divulge.sdmetrics.single_table.base import SingleTableMetric
from divulge.sdmetrics.single_table.detection import DetectionMetric, ScikitLearnClassifierDetectionMetric
from divulge.sdmetrics.single_table.efficacy import BinaryDecisionTreeClassifier, BinaryEfficacyMetric, MLEfficacyMetric
from divulge.sdmetrics.timeseries import TimeSeriesMetric

pd = pytest.importorskip("pandas")

BASES = (SingleColumnMetric, ColumnPairsMetric, SingleTableMetric, MultiTableMetric, TimeSeriesMetric)


@pytest.fixture
def entries(monkeypatch):
    """Let the entry points of the group be these."""

    def name(*pairs):
        found = [importlib.metadata.EntryPoint(name, value, addons.GROUP) for name, value in pairs]
        monkeypatch.setattr(addons, "entry_points", lambda group: found if group == "sdmetrics_modules" else [])

    return name


@pytest.mark.parametrize("above", BASES)
def test_a_metric_of_ones_own(above):
    class Mine(above):
        name, goal, min_value, max_value = "My metric", Goal.MINIMIZE, 0.0, 4.0

        @staticmethod
        def compute(real_data, synthetic_data, factor=1):
            return factor * abs(len(real_data) - len(synthetic_data))

    assert Mine.compute([1, 2], [1], factor=3) == 3
    assert Mine.compute_breakdown([1, 2], [1], factor=3) == {"score": 3}
    assert Mine.normalize(1) == 0.75
    assert above.get_subclasses()["Mine"] is base.BaseMetric.get_subclasses()["Mine"] is Mine


@pytest.mark.parametrize("above", BASES)
def test_a_base_class_computes_nothing(above):
    for call in (above.compute, above.compute_breakdown):
        with pytest.raises(NotImplementedError, match="hint: define compute"):
            call([1], [1])


def test_an_add_on_is_attached_where_its_name_says(entries, monkeypatch):
    entries(
        ("sdmetrics.single_table:Other", "fractions:Fraction"), ("divulge.sdmetrics.fractions_of_others", "fractions")
    )
    addons.attach()
    import fractions

    from divulge.sdmetrics.fractions_of_others import Fraction

    assert sdmetrics.single_table.Other is Fraction is fractions.Fraction
    monkeypatch.delattr(sdmetrics.single_table, "Other")
    monkeypatch.delattr(sdmetrics, "fractions_of_others")
    monkeypatch.delitem(__import__("sys").modules, "divulge.sdmetrics.fractions_of_others")


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("sdmetrics.single_table:Other", "no_such_module_of_ours", 'Failed to load "sdmetrics.single_table:Other"'),
        ("pandas.single_table:Other", "fractions", "expected base module to be 'sdmetrics', found 'pandas'"),
        ("sdmetrics.nowhere:Other", "fractions", r"Failed to set 'sdmetrics.nowhere:Other': .*nowhere"),
        ("sdmetrics", "fractions", "Failed to set"),
    ],
)
def test_an_add_on_that_fails_is_a_warning(entries, name, value, text):
    entries((name, value))
    with pytest.warns(UserWarning, match=text):
        addons.attach()


def test_errors_and_warnings_have_their_paths():
    from divulge.sdmetrics import errors, warnings

    assert issubclass(warnings.ConstantInputWarning, warnings.SDMetricsWarning)
    assert issubclass(warnings.SDMetricsWarning, RuntimeWarning)
    assert all(issubclass(getattr(errors, n), Exception) for n in errors.__all__)
    assert isinstance(sdmetrics.timeseries, types.ModuleType)


# --- what a metric of one's own takes from its base class ---------------------------------------------------------------

PEOPLE = {
    "columns": {
        "id": {"sdtype": "id"}, "age": {"sdtype": "numerical"}, "job": {"sdtype": "categorical"},
        "since": {"sdtype": "datetime", "datetime_format": "%Y-%m-%d"}, "mail": {"sdtype": "email", "pii": True},
    },
    "primary_key": "id",
}  # fmt: skip


def people(n=6):
    return pd.DataFrame(
        {
            "id": range(n), "age": [30 + i % 4 for i in range(n)], "job": ["xy"[i % 2] for i in range(n)],
            "since": [f"2020-01-{i + 1:02d}" for i in range(n)], "mail": ["m"] * n,
        }
    )  # fmt: skip


def test_a_metric_of_a_table_checks_its_tables_and_chooses_its_columns():
    class Ages(SingleTableMetric):
        name, goal, min_value, max_value = "Ages", Goal.MAXIMIZE, 0.0, 1.0

        @classmethod
        def compute(cls, real_data, synthetic_data, metadata=None, table_name=None):
            real, synthetic, metadata = cls._validate_inputs(real_data, synthetic_data, metadata, table_name)
            fields = cls._select_fields(metadata, ("numerical", "datetime"))
            assert fields == (["age", "since"] if metadata.get("primary_key") else ["id", "age"])
            assert isinstance(real, pd.DataFrame) and (real["since"].dtype.kind == "M") == ("since" in fields)
            return 1 - abs(real["age"].mean() - synthetic["age"].mean())

    real, synthetic = people(), people(5)
    before = real.copy()
    for metadata, name in ((PEOPLE, None), ({"tables": {"t": PEOPLE, "u": {"columns": {}}}}, "t"), (None, None)):
        assert Ages.compute(real, synthetic, metadata, name) == pytest.approx(1 - 1 / 30)
    pd.testing.assert_frame_equal(real, before)
    assert Ages.compute_breakdown(pl.DataFrame(real), pl.DataFrame(synthetic), PEOPLE)["score"] < 1
    assert SingleTableMetric._select_fields(PEOPLE, "categorical") == ["job"]
    assert SingleTableMetric._select_fields({"tables": {"t": PEOPLE}}, ("categorical",)) == ["job"]
    with pytest.raises(IncomputableMetricError, match="Cannot find fields of types"):
        SingleTableMetric._select_fields(PEOPLE, "boolean")
    for tables, metadata, message in (
        ((real, synthetic.drop(columns="age")), None, "must have the same columns"),
        ((real, synthetic), {"columns": {}}, "not found in metadata"),
        ((real.drop(columns="age"), synthetic.drop(columns="age")), PEOPLE, "Field age not found in data"),
        ((real.assign(since="soon"), synthetic), PEOPLE, "Error converting column 'since'"),
    ):
        with pytest.raises(ValueError, match=message):
            SingleTableMetric._validate_inputs(*tables, metadata)


def test_a_metric_of_sequences_gets_its_key():
    for metadata, key, expected in (
        ({**PEOPLE, "sequence_index": "since"}, None, ["since"]),
        (PEOPLE, "id", ["id"]),
        (PEOPLE, ["id", "job"], ["id", "job"]),
        (None, "id", ["id"]),
    ):
        found, keys = TimeSeriesMetric._validate_inputs(people(), people(), metadata, key)
        assert keys == expected and "columns" in found
    with pytest.raises(ValueError, match="same columns"):
        TimeSeriesMetric._validate_inputs(people(), people().drop(columns="job"))


def test_a_detection_of_ones_own():
    class Far(DetectionMetric):
        name = "Far"

        @staticmethod
        def _fit_predict(X_train, y_train, X_test):
            return np.abs(X_test[:, 0] - X_train[y_train == 0, 0].mean())

    class Tree(ScikitLearnClassifierDetectionMetric):
        name = "Tree"

        @staticmethod
        def _get_classifier():
            return DecisionTreeClassifier(max_depth=2)

    rng = np.random.default_rng(1)
    real, near, far = (
        pd.DataFrame({"x": rng.normal(loc, 1, 90), "c": rng.choice(["u", "v"], 90)}) for loc in (0, 0, 4)
    )
    for metric in (Far, Tree):
        assert metric.compute(real, near) > 0.7 > 0.4 > metric.compute(real, far)
        assert metric.compute(real, far, seed=3) == metric.compute(real, far, seed=3)
        assert metric.normalize(0.5) == 0.5
    with pytest.raises(NotImplementedError, match="hint: define _fit_predict"):
        DetectionMetric.compute(real, near)
    with pytest.raises(NotImplementedError, match="hint: define _get_classifier"):
        ScikitLearnClassifierDetectionMetric.compute(real, near)


def test_an_efficacy_of_ones_own():
    class Forest(BinaryEfficacyMetric):
        MODEL, MODEL_KWARGS = RandomForestClassifier, {"n_estimators": 5}  # as users write it

    class Stump(BinaryDecisionTreeClassifier):
        MODEL_KWARGS = {"max_depth": 1}  # noqa: RUF012
        SCORER = [accuracy_score, f1_score]  # noqa: RUF012

    x = np.arange(60)
    table = pd.DataFrame({"x": x, "y": np.where(x < 30, "low", "high")})
    assert Forest.compute(table, table, target="y") == Forest.compute(table, table, target="y") > 0.9
    assert Stump.compute(table, table, target="y") == (1.0, 1.0)
    assert Forest.compute_breakdown(table, table, target="y")["score"] > 0.9
    with pytest.raises(NotImplementedError, match=r"no MODEL\. hint"):
        MLEfficacyMetric.compute(table, table, target="y")
