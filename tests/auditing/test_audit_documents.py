"""The documents, rules and JSON of an audit."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from helpers_of_audits import audited, people
from msgspec.structs import replace

import divulge
from divulge.auditing.documents.words import reasons
from divulge.auditing.model import Trained, audit_schema_text
from divulge.auditing.report import AuditReport, read_audit
from divulge.auditing.result import AuditResult, Epsilon, Findable, People, Run
from divulge.auditing.rules import judge_audit, judge_audit_rule
from divulge.auditing.verdict import too_many_failed, verdict_of
from divulge.cli import cli

DOCS = Path(__file__).parents[2] / "docs"
EVIL = "<b>|x\x1b[31m"


@pytest.fixture(scope="module")
def report():
    """Return an audit whose only column name with a sign is untrusted."""
    found = audited("--leak 0.9", data=people(40), runs=2)
    result = replace(
        found.audit.results[0], target=EVIL, people=People(tested=40, flagged=3, rate=0.1),
        findable=Findable(rate=0.6, needed=1600), e_value=30.0,
        epsilon=Epsilon(low=0.4, ceiling=1.4, delta=1e-5, level=0.95, neighbour="one secret replaced",
                        method="one run", claim=0.1, rejected=True, power=0.9),
    )  # fmt: skip
    weaker = replace(
        result, variant="weaker", p_value=0.5, e_value=0.1, people=None, epsilon=None, verdict="none found"
    )
    failed = Run(number=2, status="failed", seed=1, attempts=2, reason="ended with exit status 3")
    trained = replace(found.audit.trainings, planned=3, failed=1)
    return found.replaced(results=(result, weaker), runs=(*found.audit.runs, failed), trainings=trained)


def test_the_published_schema_is_that_of_the_structs():
    assert (DOCS / "audit.schema.json").read_text(encoding="utf-8") == audit_schema_text()


def test_an_audit_reads_its_own_json(report, tmp_path):
    report.to_json(tmp_path / "audit.json")
    assert read_audit(tmp_path / "audit.json") == report.audit
    assert "persons" not in report.to_json()


@pytest.mark.parametrize(("content", "why"), [('{"format": "divulge-audit/2"}', "another format"),
                                              ('{"format": "divulge-audit/1"}', "damaged at")])  # fmt: skip
def test_a_damaged_audit_is_told(content, why, tmp_path):
    (tmp_path / "audit.json").write_text(content)
    with pytest.raises(divulge.SettingError, match=why):
        read_audit(tmp_path / "audit.json")
    (tmp_path / "other.json").write_text("{}")
    assert read_audit(tmp_path / "other.json") is None


def test_the_page_is_whole_offline_and_escaped(report):
    page = report.to_html()
    assert "://" not in re.sub(r'xmlns="[^"]*"', "", page)
    assert "<b>|x" not in page and "\x1b" not in page and "&lt;b&gt;|x" in page
    assert page.count("<svg") == page.count("</svg>") == 1
    for told in ("could not have shown more than 1.40", "claimed epsilon of 0.1 is contradicted", "a rate of 60.0% would be found",
                 "3 of 40 people", "ended with exit status 3", "2 of 3 trainings gave a table, 1 failed"):  # fmt: skip
        assert told in page


def test_markdown_and_terminal_say_the_same_and_are_harmless(report):
    assert re.fullmatch(r"<AuditReport [a-z ]+: \d+ of \d+ trainings>", repr(report))
    for text in (report.to_markdown(), str(report)):
        assert "1 failed" in text and "excess found" in text and "\x1b" not in text
    assert "&lt;b&gt;\\|x" in report.to_markdown()


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (("none found", "cannot tell"), "cannot tell"),
        (("none found", "excess found", "cannot tell"), "excess found"),
        (("none found", "none found"), "none found"),
        ((), "cannot tell"),
    ],
)
def test_of_several_verdicts_the_gravest_is_that_of_the_audit(verdicts, expected):
    found = [AuditResult(test="swapped_secrets", n=20, verdict=v) for v in verdicts]
    assert verdict_of(found, Trained(planned=1, done=1, failed=0, left_out=0, seconds=1.0))[0] == expected


@pytest.mark.parametrize(("done", "failed", "too_many"), [(8, 2, True), (9, 1, False), (0, 0, False)])
def test_failed_trainings_are_counted_among_those_that_were_made(done, failed, too_many):
    assert too_many_failed(Trained(planned=100, done=done, failed=failed, left_out=90, seconds=1.0)) == too_many


def test_reasons_that_differ_in_numbers_are_one(report):
    failed = [Run(number=n, status="failed", seed=1, reason=f"line {n} has 9 fields, of 16") for n in (3, 4, 5)]
    told = reasons(report.replaced(runs=tuple(failed)).audit)
    assert told == [("failed: line 3 has 9 fields, of 16", 3)]


@pytest.mark.parametrize(
    ("low", "ceiling", "rejected", "told"),
    [
        (0.0, 1.8, False, "is not contradicted, which does not confirm it: no epsilon above 0 was shown"),
        (0.4, 1.8, False, "epsilon is at least 0.40, and this audit could have shown 1.80"),
        (1.2, 1.8, True, "at most 1 is contradicted: it is at least 1.20 (95% confidence)"),
        (0.4, 0.9, False, "This audit cannot contradict the claim that epsilon is at most 1: no epsilon above 0.90"),
    ],
)
def test_the_first_sentence_is_about_the_claim(low, ceiling, rejected, told):
    bound = Epsilon(low=low, ceiling=ceiling, delta=0.0, level=0.95, neighbour="one person more", method="game",
                    claim=1.0, rejected=rejected, power=float(ceiling > 1))  # fmt: skip
    found = AuditResult(test="canaries", n=20, verdict="cannot tell", epsilon=bound)
    assert told in verdict_of([found], Trained(planned=1, done=1, failed=0, left_out=0, seconds=1.0))[1]


@pytest.mark.parametrize(
    ("rule", "kept"),
    [
        ("swapped_secrets.p < 0.01", False), ("swapped_secrets.p < 1e-300", True), ("swapped_secrets.e >= 20", False),
        ("any.epsilon_low > 0.4", True), ("any.epsilon_low > 0.3", False), ("swapped_secrets.people > 3", True),
        ("swapped_secrets.rate > 0.6", False), ("canaries.p < 0.01", False), ("swapped_secrets.high > 0.05", False),
        ("swapped_secrets[surest tenth].p < 0.01", False), ("swapped_secrets[weaker].p < 0.01", True), ("excess", False),
    ],
)  # fmt: skip
def test_rules(report, rule, kept):
    judged = judge_audit_rule(report.audit, rule)
    assert judged.kept is kept
    assert bool(judged.why) is not kept


@pytest.mark.parametrize("rule", ["swapped_secrets.score < 3", "nothing.p < 0.1", "swapped_secrets", "a.p < x"])
def test_what_is_no_rule_is_told(report, rule):
    with pytest.raises(divulge.SettingError, match="fail-on"):
        judge_audit_rule(report.audit, rule)


def test_junit_has_rules_tests_and_trainings(report):
    plain = ET.fromstring(report.to_junit())
    assert [s.attrib["name"] for s in plain] == ["tests", "trainings"]
    assert plain.attrib["failures"] == "1" and plain.attrib["errors"] == "1"
    ruled = report.replaced(policy=judge_audit(report.audit, ["swapped_secrets.p < 0.01", "any.people > 5"]))
    root = ET.fromstring(ruled.to_junit())
    assert [s.attrib["name"] for s in root] == ["rules", "tests", "trainings"]
    assert root.attrib["failures"] == "1"


def test_gate_judges_an_audit(report, tmp_path, capsys):
    path = tmp_path / "audit.json"
    report.to_json(path)
    for rule, status in (("swapped_secrets.p < 0.01", 1), ("swapped_secrets.people > 5", 0)):
        with pytest.raises(SystemExit) as caught:
            cli.main(["gate", str(path), "--fail-on", rule, "--junit", str(tmp_path / "j.xml")], standalone_mode=False)
        assert caught.value.code == status
    assert "not kept: swapped_secrets: p-value at least 0.01" in capsys.readouterr().err
    assert ET.parse(tmp_path / "j.xml").getroot().attrib["failures"] == "0"


def test_people_are_numbered_as_in_the_table_that_was_given(report, tmp_path):
    report.write(tmp_path)
    assert {p.name for p in tmp_path.iterdir()} == {"audit.html", "audit.json", "audit.md", "people.parquet"}
    assert report.people["row"].to_list() == list(range(1, 41))
    assert json.loads((tmp_path / "audit.json").read_text())["trainings"]["failed"] == 1
    assert isinstance(report, AuditReport)
