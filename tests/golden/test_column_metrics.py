"""`divulge.sdmetrics` against SDMetrics 0.32.0: metrics of one and two columns, and what they make of a table.

`remake_columns.py` made the golden values. Where SDMetrics raises an error of its own, ours is the same. Where it
crashes further down, in pandas or numpy, ours refuses in words, or answers (`ANSWERED`).
"""

import importlib
import json
import math
import warnings
from pathlib import Path

import amount
import pytest
from column_cases import CASES, MODULES, arguments

from divulge.sdmetrics.errors import ConstantInputError, IncomputableMetricError

FILE = json.loads(Path(__file__).with_name("columns.json").read_text(encoding="utf-8"))["cases"]
METRICS = sorted({(c.kind, c.metric) for c in CASES})
EVERY = 16
"""The default run takes one case in so many of each metric."""
REFUSALS = (TypeError, ValueError, IncomputableMetricError, ConstantInputError)

NO_ORDER = "complex numbers and categories have no order"
DIFFERS = {
    ("KSComplement", "complex"): NO_ORDER,
    ("StatisticSimilarity", "complex"): NO_ORDER,
    ("BoundaryAdherence", "complex"): NO_ORDER,
    ("RangeCoverage", "complex"): NO_ORDER,
    ("BoundaryAdherence", "category dtype, ordered"): NO_ORDER,
}  # fmt: skip
"""Why ours refuses, or gives another number, where SDMetrics gives one."""

NUMBERS = "dates, decimals and numbers as objects are numbers"
ANSWERED = {
    ("StatisticSimilarity", "nullable integers, all missing"): "nan, as for a column of floats",
    ("RangeCoverage", "nullable integers, all missing"): "nan, as for a column of floats",
    ("StatisticSimilarity", "dates of Python"): NUMBERS,
    ("StatisticSimilarity", "instants as objects"): NUMBERS,
    ("StatisticSimilarity", "decimals"): NUMBERS,
    **{("KSComplement", name): NUMBERS for name in ("booleans with None", "numbers as objects", "numbers as objects with None", "decimals")},
    **{
        (metric, "category dtype of numbers"): "numbers, whatever dtype holds them"
        for metric in ("StatisticSimilarity", "BoundaryAdherence", "RangeCoverage")
    },
    ("CorrelationSimilarity", "huge integers"): "nan, as float64 has one number for all of them",
    ("ContingencySimilarity", "huge integers"): "float64 has no bins for them",
    ("ContinuousKLDivergence", "dates"): NUMBERS,
    ("ContinuousKLDivergence", "date with NaT and float"): NUMBERS,
    **{
        ("BoundaryAdherence", name): "text beside missing values, which pandas cannot order"
        for name in ("dates as text with gaps", "text with None", "text with nan", "None against nan", "text, all missing", "keys with gaps")
    },
}  # fmt: skip
"""Why ours answers where SDMetrics crashes, or gives nan."""


def plain(value):
    if isinstance(value, dict):
        return {" & ".join(map(str, k)) if isinstance(k, tuple) else str(k): plain(v) for k, v in value.items()}
    if isinstance(value, Exception):
        return {"raised": type(value).__name__}
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return None if math.isnan(value) else value


def same(ours, theirs):
    if isinstance(ours, dict) or isinstance(theirs, dict):
        if not isinstance(ours, dict) or not isinstance(theirs, dict):
            return False
        if "raised" in theirs:
            return "raised" in ours
        return set(ours) == set(theirs) and all(same(ours[k], theirs[k]) for k in theirs)
    if not isinstance(ours, int | float) or not isinstance(theirs, int | float):
        return ours == theirs
    return math.isclose(ours, theirs, rel_tol=1e-12, abs_tol=1e-9)


def outcome(case):
    """Return what ours gives, and the categories of its warnings."""
    metric = getattr(importlib.import_module(f"divulge.sdmetrics.{MODULES.get(case.kind, case.kind)}"), case.metric)
    args, kwargs = arguments(case)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = {"value": plain(getattr(metric, case.call)(*args, **kwargs))}
        except REFUSALS as error:
            found = {"raised": type(error).__name__, "message": str(error)}
    return found, sorted({w.category.__name__ for w in caught})


def is_empty(golden):
    """Return whether SDMetrics crashed, or gave nan."""
    return set(golden.get("value", {}).values()) <= {None} and "message" not in golden


def is_golden(case):
    golden = FILE[case.id]
    ours, warned = outcome(case)
    if (case.metric, case.data) in DIFFERS:
        return "value" in golden and not ("value" in ours and same(ours["value"], golden["value"]))
    if (case.metric, case.data) in ANSWERED and is_empty(golden):
        return "value" in ours
    if "value" in golden:
        return "value" in ours and same(ours["value"], golden["value"]) and warned == golden.get("warned", [])
    return (
        ours.get("raised") == golden["raised"] and ours["message"] == golden["message"]
        if "message" in golden
        else "raised" in ours
    )


@pytest.mark.parametrize(("kind", "metric"), METRICS)
def test_metric(kind, metric):
    cases = [c for c in CASES if (c.kind, c.metric) == (kind, metric)]
    assert len({c.data for c in cases}) >= 25
    chosen = cases if amount.everything else cases[::EVERY]
    assert [c.id for c in chosen if not is_golden(c)] == []


def test_every_case_has_its_golden_values():
    assert list(FILE) == [c.id for c in CASES]
    assert set(DIFFERS) | set(ANSWERED) <= {(c.metric, c.data) for c in CASES}
