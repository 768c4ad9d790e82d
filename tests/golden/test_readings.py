"""`divulge.sdmetrics` against SDMetrics 0.32.0 (July 2026): numbers, durations and periods in unusual dtypes.

`remake_readings.py` made the golden values. Where SDMetrics raises an error or gives nan, ours answers or refuses.
"""

import json
import math
import warnings
from pathlib import Path

import pytest
from reading_cases import KINDS, calls, plain

from divulge.sdmetrics import column_pairs, single_column, single_table

FILE = json.loads(Path(__file__).with_name("readings.json").read_text(encoding="utf-8"))["cases"]
CALLS = calls(single_column, column_pairs, single_table)


def same(ours, theirs):
    """Return whether each number of SDMetrics' is ours; its nan and its errors may be anything."""
    if theirs is None or isinstance(theirs, str):
        return True
    if isinstance(theirs, dict):
        if set(map(type, theirs.values())) == {str}:
            return True
        return isinstance(ours, dict) and all(same(ours.get(k), v) for k, v in theirs.items())
    return isinstance(ours, float) and math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-9)


def outcome(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return plain(CALLS[name]())
        except (TypeError, ValueError) as error:
            return plain(error)


def test_every_case_has_its_golden_value():
    assert list(FILE) == list(CALLS)


def test_what_sdmetrics_answers_has_its_digits():
    assert [(n, outcome(n), FILE[n]) for n in CALLS if not same(outcome(n), FILE[n])] == []


SHIFTED = [k for k in KINDS if "22" in k or "2**" in k]
INVARIANT = ("KSComplement", "RangeCoverage", "BoundaryAdherence", "CorrelationSimilarity", "DCROverfittingProtection")


@pytest.mark.parametrize("kind", SHIFTED)
def test_large_numbers_score_as_the_same_numbers_less_a_constant(kind):
    small = "nullable numbers" if "nullable" in kind or "None" in kind else "numbers of Python"
    # as released, differences of unsigned numbers wrap around
    metrics = INVARIANT[:-1] if kind.startswith("unsigned") else INVARIANT
    assert [m for m in metrics if not same(outcome(f"{m} | {kind}"), outcome(f"{m} | {small}"))] == []


@pytest.mark.parametrize("kind", [k for k in KINDS if k not in ("nullable truth values",)])
def test_every_kind_has_the_scores_of_numbers(kind):
    gaps = any(word in kind for word in ("missing", "None", "nullable"))
    plain_kind = "nullable numbers" if gaps else "numbers of Python"
    for metric in ("KSComplement", "BoundaryAdherence", "RangeCoverage", "CorrelationSimilarity"):
        assert same(outcome(f"{metric} | {kind}"), outcome(f"{metric} | {plain_kind}")), metric
