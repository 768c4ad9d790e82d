"""Metrics of users: derived from the base classes, or added by another package."""

import importlib.metadata
import types

import pytest

import divulge.sdmetrics as sdmetrics
from divulge.sdmetrics import Goal, addons, base
from divulge.sdmetrics.column_pairs import ColumnPairsMetric
from divulge.sdmetrics.multi_table.base import MultiTableMetric
from divulge.sdmetrics.single_column.base import SingleColumnMetric
from divulge.sdmetrics.single_table.base import SingleTableMetric
from divulge.sdmetrics.timeseries import TimeSeriesMetric

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
