"""Metrics by XGBoost, against SDMetrics 0.32.0 (`remake_boosted.py`); skipped where XGBoost is not installed."""

import json
import sys
from pathlib import Path

import pytest
from boosted_cases import CASES, METADATA, tables

from divulge.core.errors import SettingError
from divulge.sdmetrics import single_table

GOLDEN = json.loads(Path(__file__).with_name("boosted.json").read_text(encoding="utf-8"))["cases"]


def flat(value, path=""):
    if not isinstance(value, dict):
        return {path: value}
    return {k: v for name, part in value.items() for k, v in flat(part, f"{path}/{name}").items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_golden(name):
    pytest.importorskip("xgboost")
    metric, arguments = CASES[name]
    call = getattr(single_table, metric).compute_breakdown
    if isinstance(GOLDEN[name], str):
        with pytest.raises(ValueError):
            call(*tables(), *arguments)
        return
    ours, theirs = flat(call(*tables(), *arguments)), flat(GOLDEN[name])
    assert set(ours) == set(theirs)
    for key, value in theirs.items():
        assert ours[key] == (pytest.approx(value, abs=1e-9) if isinstance(value, float) else value), key


@pytest.mark.slow
def test_truth_values_are_features():
    """SDMetrics passes categories that are truth values, which XGBoost refuses."""
    pytest.importorskip("xgboost")
    arguments = (METADATA, None, "y", "yes", "sex", "f")
    assert 0 < single_table.EqualizedOddsImprovement.compute(*tables(), *arguments) < 1
    real, synthetic, validation = tables()
    with pytest.raises(ValueError, match="Insufficient data for sensitive group"):
        single_table.EqualizedOddsImprovement.compute(real.head(20), synthetic, validation, *arguments)


@pytest.mark.parametrize("name", ["truth values", "odds"])
def test_without_xgboost_the_extra_is_named(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "xgboost", None)
    metric, arguments = CASES[name]
    with pytest.raises(SettingError, match=r"pip install 'divulge\[xgboost\]'"):
        getattr(single_table, metric).compute(*tables(), *arguments)


def test_every_case_has_its_golden_values():
    assert list(GOLDEN) == list(CASES)
