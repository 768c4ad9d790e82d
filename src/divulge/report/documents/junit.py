"""The report as JUnit XML, which dashboards of nightly builds read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.etree import ElementTree as ET

from divulge.core.records import CRITICAL
from divulge.core.result import FOUND, number
from divulge.report import formatting, order
from divulge.report.model import Assessment, Precondition, ResultRecord
from divulge.report.policy_model import Condition

__all__ = ["case_of", "conditions_of", "document_of", "junit", "outcome_of", "suite_of"]

_LISTED = 20


def junit(data: Assessment) -> str:
    """Return an assessment as JUnit XML: the suites "policy" (where there is one), "attacks" and "preconditions".

    Parameters
    ----------
    data
        The assessment.

    Returns
    -------
    str
        Failures are the conditions of the policy that are not kept; without a policy, attacks with an excess or a
        deficit and critical preconditions that do not hold. Errors are attacks that failed. Skipped are attacks with
        neither and without "none found", tests that were left out, and other preconditions that do not hold.

    Examples
    --------
    >>> import divulge, polars as pl
    >>> people = pl.DataFrame({"age": [30, 40, 50] * 20, "ill": ["yes", "no"] * 30})
    >>> found = divulge.assess(people, people, search="off", models=False)
    >>> [line.strip()[:30] for line in junit(found.assessment).splitlines() if "<testsuite " in line]
    ['<testsuite name="attacks" time', '<testsuite name="preconditions']
    """
    return document_of([suite_of(name, cases, data.started) for name, cases in _suites(data)], data.seconds)


def document_of(suites: Sequence[ET.Element], seconds: float) -> str:
    """Return suites as JUnit XML."""
    root = ET.Element("testsuites", {"name": "divulge", **_totals(suites), "time": _seconds(seconds)})
    root.extend(suites)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _suites(data: Assessment) -> list[tuple[str, list[ET.Element]]]:
    judging = data.policy is None  # with a policy, only its conditions are failures
    suites = [
        ("attacks", _attacks(data)),
        ("preconditions", [_precondition(c, judging) for c in data.preconditions]),
    ]
    return suites if data.policy is None else [("policy", conditions_of("policy", data.policy.conditions)), *suites]


def suite_of(name: str, cases: Sequence[ET.Element], started: str) -> ET.Element:
    """Return a suite with the counts of its cases."""
    # UTC, without the offset, which the usual XSD of the format does not allow
    suite = ET.Element("testsuite", {"name": name, "timestamp": str(started)[:19]})
    suite.extend(cases)
    counts = {"tests": len(cases)}
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        counts[attribute] = len(suite.findall(f"testcase/{tag}"))
    for attribute, n in counts.items():
        suite.set(attribute, str(n))
    suite.set("time", _seconds(sum(float(c.attrib["time"]) for c in cases)))
    return suite


def _totals(suites: Sequence[ET.Element]) -> dict[str, str]:
    return {a: str(sum(int(s.attrib[a]) for s in suites)) for a in ("tests", "failures", "errors")}


def case_of(suite: str, name: str, seconds: float = 0.0) -> ET.Element:
    """Return a case that passed."""
    return ET.Element("testcase", {"name": _text(name), "classname": f"divulge.{suite}", "time": _seconds(seconds)})


def outcome_of(case: ET.Element, tag: str, message: str, lines: Sequence[str] = ()) -> ET.Element:
    """Add the outcome of a case; the message is one line, `lines` are its text."""
    outcome = ET.SubElement(case, tag, {"message": _text(message), "type": f"{case.attrib['classname']}"})
    outcome.text = "\n".join(map(_text, lines)) or None
    return case


def conditions_of(suite: str, conditions: Iterable[Condition]) -> list[ET.Element]:
    """Return a case for each condition; one that is not kept fails."""
    cases = [(case_of(suite, c.condition), c) for c in conditions]
    return [case if c.kept else outcome_of(case, "failure", f"found: {c.found}; {c.why}") for case, c in cases]


def _attacks(data: Assessment) -> list[ET.Element]:
    compared = [r for r in data.results if r.verdict is not None]
    cases = [
        _attack(name, [r for r in compared if r.attack == name], data.policy is None)
        for name in dict.fromkeys(r.attack for r in compared)
    ]
    for name in dict.fromkeys(f.attack for f in data.failed):
        whys = [f.why for f in data.failed if f.attack == name]
        cases.append(outcome_of(case_of("attacks", f"{name}: runs"), "error", whys[0], whys[1:]))
    for left in data.left_out:
        message = f"{left.n:,} of {left.of:,} tests were left out: {left.why}"
        cases.append(outcome_of(case_of("attacks", f"{left.attack}: every test is made"), "skipped", message))
    return cases


def _attack(name: str, results: Sequence[ResultRecord], judging: bool) -> ET.Element:
    case = case_of("attacks", name, sum(float(r.seconds) for r in results))
    counts = dict(order.verdict_counts(results))
    told = ", ".join(f"{n} {verdict}" for verdict, n in counts.items())
    worst = order.worst_first(results)
    found = [_finding(r) for r in worst if r.verdict in FOUND]
    if found:
        more = [f"and {len(found) - _LISTED} more"] if len(found) > _LISTED else []
        told = f"{told}; clearest: {found[0]}"
        if judging:
            return outcome_of(case, "failure", told, found[:_LISTED] + more)
        ET.SubElement(case, "system-out").text = _text("\n".join([told, *found[:_LISTED], *more]))
        return case
    if "none found" not in counts:
        why = next((n for r in worst for n in r.notes if n.startswith("cannot tell")), "")
        return outcome_of(case, "skipped", f"{told}; {formatting.label(worst[0], '->')}: {why}" if why else told)
    ET.SubElement(case, "system-out").text = _text(told)
    return case


def _finding(r: ResultRecord) -> str:
    low, high = (formatting.limit(formatting.risk_value(r, f"{end}_simultaneous")) for end in ("low", "high"))
    return f"{formatting.label(r, '->')}: risk {number(formatting.risk_value(r))} ({low} to {high})"


def _precondition(check: Precondition, judging: bool) -> ET.Element:
    case = case_of("preconditions", check.check)
    if not check.tested:
        return outcome_of(case, "skipped", check.detail)
    if check.ok:
        return case
    return outcome_of(case, "failure" if judging and check.check in CRITICAL else "skipped", check.detail)


def _text(text: object) -> str:
    """Return text on one line, with the characters that XML 1.0 forbids replaced: `tidy` replaces all of them."""
    return formatting.tidy(" ".join(str(text).split()))


def _seconds(seconds: float) -> str:
    return f"{seconds:.3f}"
