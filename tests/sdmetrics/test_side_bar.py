"""The page on SDMetrics has a row for each name of the side bar of its documentation, and each path of a row is there."""

import importlib
import re
from pathlib import Path

import pytest

from divulge.sdmetrics.base import BaseMetric
from divulge.sdmetrics.constraints.adherence import CONSTRAINTS

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "sdmetrics.md").read_text(encoding="utf-8")
SIDE_BAR = """
Installation; Quickstart; Metadata; Single Table Metadata; Multi Table Metadata; Sequential Metadata; Quality Report;
What's included?; Single Table API; Multi Table API; Diagnostic Report; Other Reports; Visualization Utilities;
BoundaryAdherence; CardinalityBoundaryAdherence; CategoryAdherence; KeyUniqueness; ReferentialIntegrity; TableStructure;
CardinalityShapeSimilarity; CategoryCoverage; ContingencySimilarity; CorrelationSimilarity; KSComplement;
MissingValueSimilarity; RangeCoverage; SequenceLengthSimilarity; StatisticMSAS; StatisticSimilarity; TVComplement;
DCRBaselineProtection; DCROverfittingProtection; DisclosureProtection; DisclosureProtectionEstimate; CategoricalCAP;
BinaryClassifierPrecisionEfficacy; BinaryClassifierRecallEfficacy; CSTest; Data Likelihood; BNLikelihood; BNLogLikelihood;
GMLikelihood; Detection: Sequential; Detection: Single Table; InterRowMSAS; ML Efficacy: Sequential;
ML Efficacy: Single Table; Binary Classification; Multiclass Classification; Regression; NewRowSynthesis; * OutlierCoverage;
Privacy Against Inference; * SmoothnessSimilarity; Citation; Contributions; Defining your metric; Development; Release FAQs;
Enterprise; Domain Specific Reports; Blog
"""
"""Of the page on DCROverfittingProtection in November 2026, headings of groups left out."""
NEWER = ("ConstraintAdherence", "EqualizedOddsImprovement", "DatetimeFormatAdherence", "RegexFormatAdherence")
NAMES = [" ".join(name.split()) for name in SIDE_BAR.split(";")] + list(NEWER)
SECTION = PAGE.split("## Every name of the side bar")[1].split("\n## ")[0]
ROWS = {
    cells[0].strip(): cells[1:]
    for line in SECTION.splitlines()
    if line.startswith("| ") and len(cells := line.strip("|").split("|")) == 3 and cells[0].strip() != "name"
}
MODULES = ("single_column", "column_pairs", "single_table", "multi_table", "timeseries")


@pytest.mark.parametrize("name", NAMES)
def test_each_name_has_a_row_of_its_own(name):
    assert name in ROWS
    where, same = ROWS[name]
    metric = name.removeprefix("* ")
    packages = [path for path in re.findall(r"`([\w.]+)`", where) if path in MODULES]
    for package in packages if " " not in metric else ():
        assert issubclass(getattr(importlib.import_module(f"divulge.sdmetrics.{package}"), metric), BaseMetric)
    assert same.strip() or not packages


def test_each_path_of_the_rows_is_there():
    n = 0
    for where, _ in ROWS.values():
        for path in re.findall(r"`((?:\w+\.)+\w+|load_demo|demos|base|visualization)`", where):
            if path.endswith((".md", ".cff")):
                assert (DOCS.parent / path).exists()
                continue
            module, _, name = f"divulge.sdmetrics.{path}".rpartition(".")
            try:
                importlib.import_module(f"{module}.{name}")
            except ImportError:
                assert hasattr(importlib.import_module(module), name), path
            n += 1
    assert n > 40


def test_there_is_no_row_of_another_name():
    others = {name for name in ROWS if name[0] not in "(-"} - set(NAMES)
    assert others == {"CardinalityStatisticSimilarity"}


def test_each_constraint_and_each_longer_path_stands_on_the_page():
    listed = re.findall(r"^\| (\w+) \|", PAGE.split("## Constraints")[1].split("\n## ")[0], flags=re.M)
    assert set(CONSTRAINTS) <= set(listed)
    for path in re.findall(r"`(single_(?:table|column)\.\w+\.\w+)`", PAGE):
        importlib.import_module(f"divulge.sdmetrics.{path}")
