"""The reports of `divulge.sdmetrics` against those of SDMetrics 0.32.0: `reports.json` holds its answers.

`remake_reports.py` writes them anew; the file says which versions gave them. Scores agree to 1e-9. Where SDMetrics has an
error, so have we; its type is compared where SDMetrics chose it, and not where pandas, numpy or scipy stumbled.
"""

import json
import math
from pathlib import Path

import pytest

pytest.importorskip("pandas")

from report_cases import CASES, Case, found

FILE = json.loads(Path(__file__).with_name("reports.json").read_text(encoding="utf-8"))
GOLDEN = FILE["cases"]
QUICK = {
    "every sdtype",
    "missing values",
    "two tables",
    "orphans",
    "dates as text",
    "keys and patterns",
    "single table path",
}
OURS = {"IncomputableMetricError", "ConstantInputError"}
DIFFERS = {"category dtype | QualityReport": "scipy refuses tables of counts with a category that no row has"}


def same(ours, golden, path: str) -> list[str]:
    if isinstance(golden, dict):
        if not isinstance(ours, dict) or ours.keys() != golden.keys():
            return [f"{path}: {ours} for {golden}"]
        return [line for key in golden for line in same(ours[key], golden[key], f"{path}/{key}")]
    if path.endswith("Error"):
        pairs = list(zip(ours, golden, strict=True))
        return [f"{path}: {a} for {b}" for a, b in pairs if (a is None) != (b is None) or (b in OURS and a != b)]
    if isinstance(golden, list):
        if len(ours) != len(golden):
            return [f"{path}: {len(ours)} rows for {len(golden)}"]
        return [line for i, g in enumerate(golden) for line in same(ours[i], g, f"{path}/{i}")]
    if isinstance(golden, float) and isinstance(ours, float):
        return [] if math.isclose(ours, golden, rel_tol=0, abs_tol=1e-9) else [f"{path}: {ours} for {golden}"]
    return [] if ours == golden else [f"{path}: {ours!r} for {golden!r}"]


def parts(case: Case) -> list[tuple[str, str]]:
    return [(f"{case.id} | {report}", report) for report in case.reports]


def apart(case: Case) -> list[str]:
    lines = []
    for key, report in parts(case):
        ours, golden = found("divulge.sdmetrics.reports", report, case), dict(GOLDEN[key])
        if key in DIFFERS:
            assert any(ours["details"]["Column Pair Trends"]["Score"])
            continue
        if "raised" in golden or "raised" in ours:
            lines += [] if ours == golden else [f"{key}: {ours} for {golden}"]
            continue
        assert set(ours.pop("info")) == {*golden.pop("info"), "divulge_version"}
        lines += same(ours, golden, key)
    return lines


@pytest.mark.parametrize("case", [c for c in CASES if c.id in QUICK], ids=lambda c: c.id)
def test_a_report_is_that_of_sdmetrics(case):
    assert not apart(case)


@pytest.mark.slow
@pytest.mark.parametrize("case", [c for c in CASES if c.id not in QUICK], ids=lambda c: c.id)
def test_every_report_is_that_of_sdmetrics(case):
    assert not apart(case)


def test_the_file_has_every_case():
    assert GOLDEN.keys() == {key for case in CASES for key, _ in parts(case)}
    assert len(GOLDEN) >= 120
