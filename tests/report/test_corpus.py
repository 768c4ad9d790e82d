"""Reports of earlier versions are read, rendered in every format, judged by a policy and compared, as docs/stability.md says.

`tests/corpus/remake_corpus.py` wrote them.
"""

import gzip
import json
from pathlib import Path

import amount
import pytest
from amount import some

from divulge.auditing.report import AuditReport, read_audit
from divulge.core.errors import SettingError
from divulge.release.baseline import change
from divulge.release.conditions import judge_policy
from divulge.release.policy import read_policy
from divulge.report.comparison.report import ComparisonReport
from divulge.report.order import in_doubt
from divulge.report.report import Report

ROOT = Path(__file__).parents[2]
CORPUS = sorted((ROOT / "tests/corpus").glob("*/*.json.gz"))
POLICY = read_policy(ROOT / "tests/corpus/0.1.0/policy.toml")
VERDICTS = {"excess found", "deficit found", "none found", "cannot tell", "no holdout"}


def content(path):
    return json.loads(gzip.decompress(path.read_bytes()))


def of_kind(kind):
    found = [p for p in CORPUS if (p.name in ("audit.json.gz", "comparison.json.gz")) != (kind == "assessment")]
    paths = [p for p in found if kind == "assessment" or kind in p.name]
    return some(paths, 6, (f"{p.parent.name}-{p.name.partition('.')[0]}" for p in paths))


GONE = {"utility"}
"""Fields that went before a version was released."""


def holds(now, before, place=""):
    """Fail where a field of an earlier version is missing or has another value."""
    if isinstance(before, dict):
        assert set(before) - GONE <= set(now), place
        for name in set(before) - GONE:
            holds(now[name], before[name], f"{place}.{name}")
    elif isinstance(before, list):
        assert len(now) == len(before), place
        for i, value in enumerate(before):
            holds(now[i], value, f"{place}[{i}]")
    else:
        assert now == before, place


@pytest.mark.first(2)
@pytest.mark.parametrize("path", of_kind("assessment"))
def test_an_assessment_is_read_rendered_judged_and_compared(path, tmp_path):
    before = content(path)
    (tmp_path / "assessment.json").write_text(json.dumps(before))
    report = Report.from_json(tmp_path / "assessment.json")
    holds(report.data, before)
    outside = before["edition"] == "external"
    editions = [report] if outside or not amount.everything else [report, report.external()]
    for edition in editions:
        assert edition.verdict == before["verdict"]["verdict"]
        folder = edition.write(tmp_path / edition.assessment.edition)
        documents = {p.name: p.read_text() for p in folder.iterdir()}
        documents |= {"terminal": str(edition), "notebook": edition._repr_html_(), "csv": edition.to_csv()}
        assert len(documents) == 7 and all(documents.values())
        for name in ("assessment.json", "report.html", "report.md", "terminal", "notebook"):
            assert edition.verdict in documents[name].lower(), name
    if outside:
        with pytest.raises(SettingError, match="an external edition is not judged"):
            judge_policy(report.assessment, POLICY)
    else:
        clear = report.verdict in ("none found", "cannot tell") and not in_doubt(report.assessment)
        gate = judge_policy(report.assessment, None, ["excess"])
        assert gate.kept == (clear and not before["failed"] and not before["left_out"])
    if before["policy"] and not outside:
        found = judge_policy(report.assessment, POLICY, ["excess"])
        kept = [(c["condition"], c["kept"]) for c in before["policy"]["conditions"]]
        assert [(c.condition, c.kept) for c in found.conditions] == kept
    if outside and "columns" not in before["revealed"]:
        with pytest.raises(SettingError, match="which numbers its columns"):
            change(report.assessment, report.assessment)
        return
    moved = {c.verdict for c in change(report.assessment, report.assessment).comparisons}
    assert moved <= {"no change found", "cannot compare"}


@pytest.mark.parametrize("path", of_kind("audit"))
def test_an_audit_is_read_and_rendered(path, tmp_path):
    before = content(path)
    (tmp_path / "audit.json").write_text(json.dumps(before))
    report = AuditReport(read_audit(tmp_path / "audit.json"))
    holds(json.loads(report.to_json()), before)
    for text in (report.to_html(), report.to_markdown(), str(report), report.external().to_html()):
        assert before["verdict"] in text.lower()


@pytest.mark.parametrize("path", of_kind("comparison"))
def test_a_comparison_is_read_and_rendered(path):
    before = content(path)
    report = ComparisonReport.build(before, {})
    holds(json.loads(report.to_json()), before)
    for text in (report.to_html(), report.to_markdown(), str(report)):
        assert all(c["verdict"] in text for c in before["candidates"])


def test_the_corpus_is_of_twenty_reports_of_every_kind():
    first = [content(p) for p in CORPUS if p.parent.name == "0.1.0"]
    assert len(first) == 20
    assert sum(p.stat().st_size for p in CORPUS) < 20 * 50_000
    assessments = [d for d in first if "edition" in d and "tables" in d]
    assert {d["verdict"]["verdict"] for d in assessments} == VERDICTS
    for field in ("failed", "left_out", "key_sets", "minimal_key_sets", "positive_control", "sampling", "fidelity", "policy",
                  "change", "records", "revealed", "not_run"):  # fmt: skip
        assert any(d[field] for d in assessments), field
    assert sum(d["edition"] == "external" for d in assessments) == 2
    assert any(d["settings"].get("unit") for d in assessments)
