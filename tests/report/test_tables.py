"""Every table of the documents is written by all writers, and a column is one edit."""

import gzip
import json
import re
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import msgspec
import pandas as pd
import pytest
from report_helpers import Page

import divulge
from divulge.auditing.report import AuditReport, read_audit
from divulge.core.result import number
from divulge.report.blocks import results
from divulge.report.blocks.table import ALL, HTML, MARKDOWN, TERMINAL, Col, Dim, Hash, Name, Small, Table, Word
from divulge.report.comparison import text as comparison_text
from divulge.report.comparison.html import page as comparison_page
from divulge.report.comparison.model import Comparison
from divulge.report.documents import tables
from divulge.report.documents.console import as_terminal_text
from divulge.report.documents.html import page
from divulge.report.documents.markdown import markdown
from divulge.report.documents.terminal import summary
from divulge.report.policy_model import Condition
from divulge.report.report import Report
from divulge.report.verdicts import RISK
from divulge.sdmetrics.reports import QualityReport
from divulge.sdmetrics.reports.page import page as quality_page
from divulge.sdmetrics.reports.text import summary as quality_text

CORPUS = sorted((Path(__file__).parents[2] / "tests/corpus").glob("*/*.json.gz"))
NAMED = ("demo", "judged", "positive-control", "subgroups", "searched", "no-holdout", "external")


def content(name):
    (path,) = (p for p in CORPUS if p.name == f"{name}.json.gz")
    return json.loads(gzip.decompress(path.read_bytes()))


def report(name):
    return Report.from_dict(content(name)).assessment


@contextmanager
def seen():
    """The tables that are written meanwhile, each once."""
    made, of = {}, Table.of

    def kept(self, *args):
        made.setdefault((str(self.caption), len(self.cols)), self)
        return of(self, *args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Table, "of", kept)
        yield made


@pytest.fixture(scope="module")
def everywhere(tmp_path_factory):
    """The tables of the documents of several reports."""
    with seen() as made:
        for data in map(report, NAMED):
            page(data, []), markdown(data), summary(data)
        data = msgspec.convert(content("comparison"), Comparison)
        comparison_page(data), comparison_text.markdown(data), comparison_text.summary(data)
        (tmp := tmp_path_factory.mktemp("audit") / "audit.json").write_text(json.dumps(content("audit")))
        audit = AuditReport(read_audit(tmp))
        audit.to_html(), audit.to_markdown()
        people = pd.DataFrame({"age": [30, 40, 50, 60] * 20, "ill": ["yes", "no", "no", "yes", "no"] * 16})
        divulge.fidelity(people, people[::-1], holdout=people, models=False).to_html()
        kinds = {"age": {"sdtype": "numerical"}, "ill": {"sdtype": "categorical"}}
        quality = QualityReport()
        quality.generate(people, people[:50], {"columns": kinds}, verbose=False)
        quality_page(quality.content(), [Condition(condition="a", found="b", kept=False, why="c")])
        quality_text(quality.content())
    return list(made.values())


def cells(line):
    return [c.strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]]


def test_documents_have_many_tables(everywhere):
    assert len(everywhere) >= 60


def test_every_table_is_written_by_all_writers(everywhere):
    for table in everywhere:
        few = replace(table, group=None, rows=table.rows[:3], cols=[replace(c, where=ALL) for c in table.cols])
        n = len(few.of(HTML))
        html = Page(str(tables.html_table(few)))
        assert [len(html.of(tag)) for tag in ("th", "td")] == [n + len(few.rows), (n - 1) * len(few.rows)]
        lines = tables.markdown_table(few).splitlines()
        assert [len(cells(line)) for line in lines] == [n] * len(lines)
        told = as_terminal_text([tables.terminal_table(few)], width=4000)
        for c in few.of(TERMINAL):
            head = tables.plain(c.head)
            assert head in told
            assert head.split("(")[0].strip() in html.text


def test_every_column_is_somewhere(everywhere):
    for table in everywhere:
        assert all(set(c.where if isinstance(c.where, tuple) else (c.where,)) <= set(ALL) for c in table.cols)
        assert all(table.of(writer) for writer in (HTML, MARKDOWN))


def test_a_column_is_one_edit(monkeypatch):
    """The trial: one `Col` in the table of results stands in the page, in Markdown and in the terminal."""
    made = results.results

    def with_one_more(*args, **kwargs):
        table = made(*args, **kwargs)
        gap = Col("gap", lambda r: number(r.real.rate - r.holdout.rate if r.real and r.holdout else None))
        return replace(table, cols=[*table.cols, gap])

    data = report("excess")
    before = page(data, []), markdown(data), summary(data, width=200)
    monkeypatch.setattr(results, "results", with_one_more)
    after = page(data, []), markdown(data), summary(data, width=200)
    for old, new, head in zip(before, after, (">gap</th>", "| gap |", " gap"), strict=True):
        assert new.count(head) == old.count(head) + 1
        assert len(new) > len(old) + 50


CELL = ("20.0%", Small("2 of 10 (all)"), " ", Name("a|b<i>"), Word("none found", RISK["none found"]), Hash("0f"))


def test_a_cell_is_escaped_by_each_writer():
    assert tables.html_cell(CELL) == (
        '20.0% <small>2 of 10 (all)</small> a|b&lt;i&gt;<span class="v none">none found</span>'
        '<span class="hash">0f</span>'
    )
    assert tables.markdown_cell(CELL) == "20.0% (2 of 10; all) a\\|b&lt;i&gt;● none found`0f`"
    assert tables.plain(CELL) == "20.0% (2 of 10; all) a|b<i>none found0f"


def test_nothing_is_a_word_in_html_and_a_dash_elsewhere():
    assert tables.html_cell(Dim("none")) == '<span class="dim">none</span>'
    assert tables.markdown_cell(Dim("none")) == tables.plain(None) == "-"


def test_a_narrow_terminal_leaves_columns_out_and_cuts_none():
    table = Table("t", [Col("first", str), Col("second", str, keep=80), Col("third", str, needs=False)], [1])
    assert [c.head for c in table.of(TERMINAL, 79)] == ["first"]
    assert [c.head for c in table.of(TERMINAL, 80)] == ["first", "second"]
    assert tables.markdown_table(replace(table, rows=[])) == ""


SOURCE = Path(divulge.__file__).parent
BY_HAND = {"macros.j2": 1}
"""Tables that a template writes itself: places to sign."""


def test_templates_write_no_tables():
    found = {p.name: p.read_text(encoding="utf-8").count("<table") for p in SOURCE.rglob("*.j2")}
    assert {name: n for name, n in found.items() if n} == BY_HAND


def test_a_terminal_table_is_made_in_one_place():
    found = {p.name for p in SOURCE.rglob("*.py") if "from rich.table import" in p.read_text(encoding="utf-8")}
    assert found == {"tables.py"}
