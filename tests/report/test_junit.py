"""JUnit XML: its structure is what the usual readers expect, and its outcomes are those of the assessment."""

import re
import xml.etree.ElementTree as ET

import pytest
from report_helpers import junit

NASTY = "a<b>&\"'\x00\x0b\x1b\u202e\ud800\ufffe\n]]>é"
"""A column name with markup and characters that XML 1.0 forbids."""


def result(attack, verdict, *, seconds=0.25, keys=(), notes=(), low=0.1):
    return {
        "attack": attack, "variant": "", "keys": list(keys), "target": None, "verdict": verdict, "seconds": seconds,
        "real": {"rate": 0.5}, "risk": {"value": 0.2, "low_simultaneous": low, "high_simultaneous": 0.3},
        "notes": list(notes),
    }  # fmt: skip


def run(**more):
    return {
        "started": "2026-11-22T04:05:06+00:00", "seconds": 3.0, "policy": None, "failed": [], "left_out": [],
        "preconditions": [
            {"check": "exchangeable", "ok": False, "detail": "they are no random split"},
            {"check": "sizes", "ok": False, "detail": "holdout are few"},
            {"check": "same columns", "ok": True, "detail": "3 columns"},
        ],
        "results": [
            result("copies", "none found"), result("copies", "excess found", keys=["age"], low=0.05),
            result("copies", "excess found", keys=[NASTY]),
            result("cap", "cannot tell", notes=["column age: binned", "cannot tell: 900 people would do"]),
            result("dcr", "none found"), result("dcr", "cannot tell"), result("disco", "no holdout"),
            result("weap", None), result("nndr", "none found"),
        ],
    } | more  # fmt: skip


POLICY = {
    "name": NASTY, "sha256": None, "kept": False,
    "conditions": [
        {"condition": "copies: score at least 95", "found": "99.0 (copies)", "kept": True, "why": ""},
        {"condition": f"{NASTY}: high", "found": f"0.3 ({NASTY})", "kept": False, "why": "above 0.1"},
    ],
}  # fmt: skip
FAILED = [{"attack": "tcap", "why": "ValueError"}, {"attack": "tcap", "why": "again"}, {"attack": "dcr", "why": "x"}]
FULL = run(policy=POLICY, failed=FAILED, left_out=[{"attack": "cap", "n": 3, "of": 9, "why": "the time was up"}])


def cases(data):
    """Outcome and message of each case, by suite and name; an element that passes has none."""
    root = ET.fromstring(junit(data))
    out = {}
    for suite in root:
        for case in suite:
            said = [c for c in case if c.tag != "system-out"]
            out[suite.get("name"), case.get("name")] = (said[0].tag, said[0].get("message")) if said else None
    return out


# what the XSD of Jenkins' xunit plugin allows: attributes that must and may be there, and children
FORM = {
    "testsuites": ({"name", "tests", "failures", "errors", "time"}, set(), {"testsuite"}),
    "testsuite": (
        {"name", "tests", "failures", "errors", "skipped", "time", "timestamp"}, set(), {"testcase"},
    ),
    "testcase": ({"name", "classname", "time"}, set(), {"failure", "error", "skipped", "system-out"}),
    "failure": ({"message", "type"}, set(), set()), "error": ({"message", "type"}, set(), set()),
    "skipped": ({"message", "type"}, set(), set()), "system-out": (set(), set(), set()),
}  # fmt: skip


@pytest.mark.parametrize("data", [FULL, run(), run(results=[], preconditions=[])], ids=["full", "plain", "empty"])
def test_the_structure_is_that_of_the_format(data):
    text = junit(data)
    assert text.startswith('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites')
    assert not re.search("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", text)
    root = ET.fromstring(text.encode())
    for element in root.iter():
        must, may, children = FORM[element.tag]
        assert must <= set(element.attrib) <= must | may
        assert {c.tag for c in element} <= children
        for name in {"tests", "failures", "errors", "skipped"} & set(element.attrib):
            assert re.fullmatch(r"\d+", element.get(name))
        if "time" in element.attrib:
            assert re.fullmatch(r"\d+\.\d{3}", element.get("time"))
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", element.get("timestamp", "2026-01-01T00:00:00"))
    for case in root.iter("testcase"):
        assert case.get("name")
        assert len([c for c in case if c.tag != "system-out"]) <= 1
    for suite in root:
        names = [c.get("name") for c in suite]
        assert len(set(names)) == len(names)


def test_the_counts_are_those_of_the_cases():
    root = ET.fromstring(junit(FULL))
    assert [s.get("name") for s in root] == ["policy", "attacks", "preconditions"]
    for attribute, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error")):
        counted = [len(list(s.iter(tag))) for s in root]
        assert [int(s.get(attribute)) for s in root] == counted
        assert int(root.get(attribute)) == sum(counted) > 0
    # with a policy a precondition that fails is skipped, whatever its weight
    assert [s.get("skipped") for s in root] == ["0", "3", "2"]
    assert root.get("time") == "3.000"
    assert root[1].get("time") == "2.000"  # eight results with a verdict, a quarter of a second each


def test_a_condition_that_is_not_kept_is_a_failure():
    found = {name: outcome for (suite, name), outcome in cases(FULL).items() if suite == "policy"}
    assert found.pop("copies: score at least 95") is None
    ((name, (tag, message)),) = found.items()
    assert name.startswith("a<b>&\"'") and name.endswith("]]>é: high")
    assert tag == "failure"
    assert message.startswith("found: 0.3 (a<b>") and message.endswith("; above 0.1")


def test_without_a_policy_there_is_no_suite_of_it():
    assert {suite for suite, _ in cases(run())} == {"attacks", "preconditions"}


def test_attacks_fail_by_an_excess_and_are_skipped_where_nothing_can_be_told():
    found = {name: outcome for (suite, name), outcome in cases(run()).items() if suite == "attacks"}
    tag, message = found["copies"]
    assert tag == "failure"
    assert message.startswith("2 excess found, 1 none found; clearest: copies: a<b>")
    assert message.endswith("risk 0.200 (0.100 to 0.300)")
    assert found["cap"] == ("skipped", "1 cannot tell; cap: cannot tell: 900 people would do")
    assert found["disco"] == ("skipped", "1 no holdout")
    assert found["dcr"] is None and found["nndr"] is None
    assert "weap" not in found


def test_every_excess_is_listed_in_the_text():
    case = next(c for c in ET.fromstring(junit(run())).iter("testcase") if c.get("name") == "copies")
    lines = case.find("failure").text.splitlines()
    assert len(lines) == 2
    assert lines[1] == "copies: age: risk 0.200 (0.050 to 0.300)"
    many = run(results=[result("copies", "excess found", keys=[f"k{i}"]) for i in range(30)])
    assert next(ET.fromstring(junit(many)).iter("failure")).text.splitlines()[-1] == "and 10 more"


def test_attacks_that_failed_are_errors_and_tests_left_out_are_skipped():
    found = cases(FULL)
    assert found["attacks", "tcap: runs"] == ("error", "ValueError")
    assert found["attacks", "dcr: runs"] == ("error", "x")
    assert found["attacks", "dcr"] is None
    assert found["attacks", "cap: every test is made"] == (
        "skipped", "3 of 9 tests were left out: the time was up",
    )  # fmt: skip


def test_critical_preconditions_fail_and_others_are_skipped():
    found = cases(run())
    assert found["preconditions", "exchangeable"] == ("failure", "they are no random split")
    assert found["preconditions", "sizes"] == ("skipped", "holdout are few")
    assert found["preconditions", "same columns"] is None


def test_a_policy_that_is_kept_turns_nothing_red():
    kept = run(policy={"name": "p", "sha256": None, "kept": True, "conditions": [
        {"condition": "c", "found": "f", "kept": True, "why": ""}]})  # fmt: skip
    root = ET.fromstring(junit(kept))
    assert root.get("failures") == "0"
    case = next(c for c in root.iter("testcase") if c.get("name") == "copies")
    assert "2 excess found" in case.find("system-out").text
