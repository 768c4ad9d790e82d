"""An audit as JUnit XML."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from divulge.auditing.documents import words
from divulge.auditing.model import Audit
from divulge.auditing.result import AuditRecord
from divulge.core.result import FOUND
from divulge.report.documents.junit import case_of, conditions_of, document_of, outcome_of, suite_of
from divulge.report.formatting import name

__all__ = ["junit"]


def junit(audit: Audit) -> str:
    """Return an audit as JUnit XML: the suites "rules" (where there are any), "tests" and "trainings".

    Failures are rules that are not kept; without rules, tests with the verdict "excess found". Skipped are tests that
    cannot tell and trainings that the budget left out. Errors are trainings that failed.
    """
    suites = [("tests", [_test(r, judging=audit.policy is None) for r in audit.results])]
    if audit.runs:
        suites.append(("trainings", [_training(r.number, r.status, r.reason) for r in audit.runs]))
    if audit.policy is not None:
        suites = [("rules", conditions_of("rules", audit.policy.conditions)), *suites]
    return document_of([suite_of(title, cases, audit.started) for title, cases in suites], audit.seconds)


def _test(result: AuditRecord, *, judging: bool) -> ET.Element:
    case = case_of("tests", words.label(result) + (f": {name(result.target)}" if result.target else ""))
    told = result.sentence or result.verdict or "no verdict"
    if result.verdict in FOUND and judging:
        return outcome_of(case, "failure", told)
    if result.verdict == "cannot tell":
        return outcome_of(case, "skipped", told)
    ET.SubElement(case, "system-out").text = name(told)
    return case


def _training(number: int, status: str, reason: str) -> ET.Element:
    case = case_of("trainings", f"training {number + 1}")
    if status == "done":
        return case
    return outcome_of(case, "error" if status == "failed" else "skipped", reason)
