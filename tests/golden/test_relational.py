"""Sequences and several tables of `divulge.sdmetrics` against SDMetrics 0.32.0: `relational.json` holds its answers.

`remake_relational.py` writes them anew; the file says which versions gave them. Numbers agree to 1e-9. An error that
SDMetrics raises itself has the same type and text. Where it crashes further down, in pandas or scipy, the case has a word
in DIFFERS, and ours answers or refuses in words of its own.
"""

import importlib
import json
import math
import traceback
import warnings
from pathlib import Path

import pytest

pytest.importorskip("pandas")

from relational_cases import CASES, OF_SEQUENCES, WRAPPERS, Case, arguments

import divulge.sdmetrics

FILE = json.loads(Path(__file__).with_name("relational.json").read_text(encoding="utf-8"))
GOLDEN = FILE["cases"]
HOME = str(Path(divulge.sdmetrics.__file__).parents[1])

DIFFERS = {
    "texts as values": "statistics and differences of texts",
    "truth values": "numpy does not subtract truth values",
    "dates as values": "dates are subtracted, and their difference is no number",
    "Int64 with missing": "a missing value is compared with 0",
    "Float64 with missing": "a missing value is compared with 0",
    "text against number": "pandas does not join texts to numbers",
    "date against number": "pandas does not join dates to numbers",
    "a relation to an unknown table": "a KeyError that names the unknown name only",
    "a relation to an unknown column": "a KeyError that names the unknown name only",
    "keys of other lengths": "a join of keys of other lengths",
    "metadata of one table": "a KeyError: 'tables'",
    "metadata that lack a table": "a KeyError that names the unknown name only",
}


def crashes(golden: dict) -> bool:
    return "raised" in golden and not golden["raised"]["published"]


def metric_of(case: Case):
    return getattr(importlib.import_module(f"divulge.sdmetrics.{case.kind}"), case.metric, None)


def ours(warning: warnings.WarningMessage) -> bool:
    return warning.category.__module__.split(".")[0] not in ("numpy", "scipy", "pandas")


def called(case: Case, call: str):
    """Return what our class answers or the exception it raises, and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value = getattr(metric_of(case), call)(*arguments(case), **case.kwargs)
        except Exception as error:
            value = error
    return value, {f"{w.category.__name__}: {w.message}" for w in caught if ours(w)}


def plain(value):
    if isinstance(value, dict):
        return {" -> ".join(map(str, k)) if isinstance(k, tuple) else str(k): plain(v) for k, v in value.items()}
    return value


def same(value, golden, path: str = "") -> list[str]:
    """Return where the two part ways."""
    if isinstance(golden, dict):
        if not isinstance(value, dict) or value.keys() != golden.keys():
            return [f"{path}: {value} for {golden}"]
        return [found for k in golden for found in same(value[k], golden[k], f"{path}/{k}")]
    if isinstance(value, Exception):
        # a division by no row, in SDMetrics, is an error in words of ours
        alike = type(value).__name__ == golden or golden == "ZeroDivisionError"
        return [] if alike else [f"{path}: {value!r} for {golden}"]
    expected = {None: math.nan, "inf": math.inf, "-inf": -math.inf}.get(golden, golden)
    return [] if value == pytest.approx(expected, rel=0, abs=1e-9, nan_ok=True) else [f"{path}: {value} for {golden}"]


def refused(value: Exception) -> bool:
    """Return whether our own code raised it, and not a package below."""
    last = traceback.extract_tb(value.__traceback__)[-1]
    return last.filename.startswith(HOME) and last.line.startswith("raise ") and bool(str(value))


def check(case: Case) -> None:
    golden = GOLDEN[case.id]
    value, warned = called(case, "compute")
    if crashes(golden):
        assert case.data in DIFFERS
        assert not isinstance(value, Exception) or refused(value), repr(value)
        return
    if "raised" in golden:
        assert type(value).__name__ == golden["raised"]["type"], repr(value)
        if "Encountered the following errors" not in str(value):
            assert str(value) == golden["raised"]["message"]
        return
    if isinstance(value, Exception):
        raise value
    assert same(value, golden["compute"]) == []
    assert {w for w in warned if "RuntimeWarning" not in w} == set(golden.get("warnings", []))
    parts, _ = called(case, "compute_breakdown")
    expected = golden.get("compute_breakdown", {"score": golden["compute"]})
    assert same(plain(parts), expected) == []


def of(*metrics: str) -> list[Case]:
    return [c for c in CASES if c.metric in metrics]


OWN = (*OF_SEQUENCES, "CardinalityShapeSimilarity", "CardinalityStatisticSimilarity")


@pytest.mark.parametrize("metric", OWN)
def test_every_fifth_call(metric):
    for case in of(metric)[::5]:
        check(case)


@pytest.mark.slow
@pytest.mark.parametrize("metric", OWN)
def test_every_call(metric):
    for case in of(metric):
        check(case)


@pytest.mark.slow
@pytest.mark.parametrize("metric", WRAPPERS)
def test_measures_of_one_table_over_several(metric):
    for case in of(metric):
        check(case)


def test_every_case_has_its_golden_values():
    assert set(GOLDEN) == {c.id for c in CASES}
    assert len(GOLDEN) == len(CASES)
    for metric in (*OWN, *WRAPPERS):
        assert len({c.data for c in CASES if c.metric == metric and not crashes(GOLDEN[c.id])}) >= 25


def test_every_crash_of_sdmetrics_has_a_word():
    assert {c.data for c in CASES if crashes(GOLDEN[c.id])} == set(DIFFERS)
