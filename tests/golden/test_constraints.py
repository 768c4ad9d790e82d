"""Constraints against SDMetrics 0.32.0: `constraints.json` holds its answers.

`remake_constraints.py` writes them anew; the file says which versions gave them. Scores agree to 1e-9, errors of its own
by type and text. Where SDMetrics crashes further down, ours answers or refuses in words of its own, and the case has a
word in DIFFERS.
"""

import json
import math
import warnings
from pathlib import Path

import pytest

pytest.importorskip("pandas")

import constraint_cases
from constraint_cases import CASES, Case, arguments

from divulge.sdmetrics.constraints.adherence import CONSTRAINTS
from divulge.sdmetrics.multi_table import ConstraintAdherence

FILE = json.loads(Path(__file__).with_name("constraints.json").read_text(encoding="utf-8"))
GOLDEN = FILE["cases"]
DIFFERS = {
    "Inequality | texts beside gaps": "a text is compared with None",
    "Inequality | without parameters": "a KeyError: 'parameters'",
    "FixedCombinations | text against numbers": "pandas does not join texts to numbers",
    "CarryOverColumns | two values of a key of text": "keys are taken for row numbers",
    "FixedIncrements | text": "text has no remainder",
    "ForeignToPrimaryKeySubset | a key of two columns": "a list is looked up among names",
    "PolymorphicRelationship | a key of two columns": "a list is looked up among names",
}


def our_arguments(case: Case):
    real, synthetic, metadata, constraint = arguments(case)
    if isinstance(constraint, dict) and constraint.get("class_name") == "ColumnFormula":
        own = dict(constraint["parameters"])
        own["formula_function_name"] = getattr(constraint_cases, own["formula_function_name"])
        own.pop("module_name")  # SDMetrics imports it
        constraint = {**constraint, "parameters": own}
    return real, synthetic, metadata, constraint


def outcome(case: Case) -> dict:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            score = ConstraintAdherence.compute(*our_arguments(case))
        except Exception as error:
            return {"raised": error}
    return {"score": score, "warnings": [str(w.message) for w in caught]}


def differs(case: Case) -> str | None:
    golden, ours = GOLDEN[case.id], outcome(case)
    if case.id in DIFFERS:
        refused = ours.get("raised")
        good = "score" in ours or (isinstance(refused, (TypeError, ValueError)) and str(refused))
        return None if good and not golden["raised"]["published"] else f"{case.id}: {ours}"
    if "raised" in golden or "raised" in ours:
        error, theirs = ours.get("raised"), golden.get("raised", {})
        same = type(error).__name__ == theirs.get("type") and str(error) == theirs.get("message")
        return None if same else f"{case.id}: {error!r} for {theirs or golden}"
    expected = math.nan if golden["score"] is None else golden["score"]
    same = ours["score"] == pytest.approx(expected, rel=0, abs=1e-9, nan_ok=True)
    return None if same and ours["warnings"] == golden.get("warnings", []) else f"{case.id}: {ours} for {golden}"


@pytest.mark.first(8)
@pytest.mark.parametrize("name", [*sorted(CONSTRAINTS), ""])
def test_every_case(name):
    own = [
        case
        for case in CASES
        if (case.id.split(" | ")[0] == name if name else case.id.split(" | ")[0] not in CONSTRAINTS)
    ]
    assert own and [d for case in own for d in [differs(case)] if d] == []


BY_ROW = ("of numbers", "twice", "without a format", "no row", "no real row")
"""Keys that are row numbers, a key twice in a main table, and formats guessed from the first date go by rows."""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_row_order_plays_no_part():
    checked = set()
    for case in CASES:
        name = case.id.split(" | ")[0]
        if "raised" in GOLDEN[case.id] or name == "CarryOverColumns" or any(w in case.id for w in BY_ROW):
            continue
        real, synthetic, *rest = our_arguments(case)
        turned = [{n: t.iloc[::-1].reset_index(drop=True) for n, t in side.items()} for side in (real, synthetic)]
        first = ConstraintAdherence.compute(real, synthetic, *rest)
        assert ConstraintAdherence.compute(*turned, *rest) == pytest.approx(first, nan_ok=True), case.id
        checked.add(name)
    assert checked == set(CONSTRAINTS) - {"CarryOverColumns"}


def test_the_file_has_every_case():
    assert list(GOLDEN) == [c.id for c in CASES]
    assert {c.id for c in CASES if "raised" in GOLDEN[c.id] and not GOLDEN[c.id]["raised"]["published"]} == set(DIFFERS)
    assert set(CONSTRAINTS) <= {c.id.split(" | ")[0] for c in CASES}
