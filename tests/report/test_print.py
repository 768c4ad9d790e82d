"""The printed report: few pages, the annex only when it is asked for, margins with title, edition, hash and page."""

import re
import shutil
import subprocess
import sys
from hashlib import sha256

import pytest
from test_first_page import CALM, EXACT, bound
from test_first_page import report as made

from divulge import cli
from divulge.core.errors import SettingError
from divulge.report.documents import pdf, weasyprint_page
from divulge.report.report import Report

CHROMIUM = pdf.printer()


@pytest.fixture(scope="module")
def report():
    return Report(made(EXACT, *CALM, bounds=[bound(EXACT), bound(CALM[2], limit=0.2)]), (), None)


def test_each_printed_page_names_edition_and_hash(report):
    page = report.to_html()
    mark = sha256(report.to_json().encode()).hexdigest()
    assert f'@bottom-center {{ content: "assessment {mark[:16]}"; }}' in page
    assert "custodian's edition\"; }" in page
    assert f"sha256 of assessment.json: {mark}" in page
    assert 'external edition"; }' in report.external().to_html()


def test_the_annex_is_folded_and_opened_on_demand(report):
    folded, whole = report.to_html(), report.to_html(annex=True)
    assert '<details class="fold"><summary>' in folded
    assert '<details class="fold"><summary>' not in whole
    assert whole.count('<details class="fold" open>') == folded.count('<details class="fold">') > 10
    assert '<html lang="en" class="with-annex">' in whole


def test_the_same_report_is_the_same_page(report):
    again = Report.from_dict(report.data, report.record_frame)
    assert again.to_html(annex=True) == report.to_html(annex=True)


def test_all_forests_have_one_axis(report):
    page = report.to_html()
    forests = re.findall(r'<table class="forest[^"]*">.*?</table>', page, re.DOTALL)
    axes = [re.findall(r'<svg class="row-plot"[^>]*><title id="p?xt">(Axis[^<]*)', f) for f in forests]
    assert len(forests) == 2
    assert axes[0] == axes[1]
    assert [len(a) for a in axes] == [1, 1]


def test_without_a_printer_one_sentence_says_what_to_do(report, tmp_path, monkeypatch):
    monkeypatch.setattr(pdf.shutil, "which", lambda name: None)
    monkeypatch.setattr(pdf, "_APPS", ())
    monkeypatch.setitem(sys.modules, "weasyprint", None)
    with pytest.raises(SettingError, match=r"neither Chromium .* nor WeasyPrint is installed. hint: install"):
        pdf.printed(report.to_html(), tmp_path / "report.pdf")
    assert not list(tmp_path.iterdir())


def test_a_browser_that_fails_leaves_no_file(report, tmp_path, monkeypatch):
    monkeypatch.setattr(pdf, "printer", lambda: shutil.which("false"))
    with pytest.raises(SettingError, match="the browser could not print"):
        pdf.printed(report.to_html(), tmp_path / "report.pdf")
    assert not list(tmp_path.iterdir())


class PrinterThatFails:
    """A WeasyPrint that meets a rule that it cannot set."""

    def HTML(self, **page):
        raise AssertionError(page["string"][:9])


def test_a_weasyprint_that_fails_leaves_no_file_and_no_words_of_the_page(report, tmp_path, monkeypatch):
    monkeypatch.setattr(pdf, "printer", lambda: None)
    monkeypatch.setitem(sys.modules, "weasyprint", PrinterThatFails())
    with pytest.raises(SettingError, match=r"WeasyPrint could not print \(AssertionError\)\. hint: open") as stopped:
        pdf.printed(report.to_html(), tmp_path / "report.pdf")
    assert "<!DOCTYPE" not in str(stopped.value)
    assert not list(tmp_path.iterdir())


def test_each_drawing_of_the_page_for_weasyprint_holds_its_style(report):
    page = report.to_html()
    drawn, whole = weasyprint_page.drawn(page), weasyprint_page.adapted(page)
    assert whole.count(f"<style>{drawn}</style>") == page.count("<svg") > 10
    assert "var(" not in drawn
    assert "currentColor" not in drawn
    used = {c for svg in re.findall(r"<svg.*?</svg>", page, re.DOTALL) for c in re.findall(r'class="([^"]*)"', svg)}
    styled = set(re.findall(r"\.([a-z][\w-]*)[ ,]", drawn))
    assert {word for c in used for word in c.split()} - styled <= {
        "bar",
        "chart",
        "dot",
        "icon",
        "row-plot",
        "tick",
        "tile-bar",
    }
    assert ".f-members { fill: #a83210; }" in drawn  # the colour of print, and not of a dark screen


def test_bars_of_tiles_without_a_finding_stay_grey_for_weasyprint(report):
    whole = weasyprint_page.adapted(report.to_html())
    for tile in re.findall(r'<li class="tile [^"]*">.*?</li>', whole, re.DOTALL):
        assert ("bar f-members" in tile) == ('class="v excess"' in tile), tile[:200]


def run(monkeypatch, capsys, *arguments):
    monkeypatch.setattr(sys, "argv", ["divulge", *map(str, arguments)])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    out = capsys.readouterr()
    return stopped.value.code or 0, out.out, out.err


def test_the_command_prints_and_writes_nothing_else(report, tmp_path, monkeypatch, capsys):
    folder = report.write(tmp_path / "run", only=["assessment.json"])
    asked = []
    monkeypatch.setattr(pdf, "printer", lambda: "chromium")
    monkeypatch.setattr(pdf, "_by_browser", lambda browser, page: asked.append(page) or b"%PDF-1.7")
    target = tmp_path / "out.pdf"
    assert run(monkeypatch, capsys, "render", folder / "assessment.json", "--pdf", target)[0] == 0
    assert target.read_bytes() == b"%PDF-1.7"
    assert [p.name for p in folder.iterdir()] == ["assessment.json"]
    assert run(monkeypatch, capsys, "render", folder / "assessment.json", "--pdf", target, "--annex")[0] == 0
    assert ['class="with-annex"' in page for page in asked] == [False, True]


def test_the_annex_alone_is_refused(report, tmp_path, monkeypatch, capsys):
    folder = report.write(tmp_path / "run", only=["assessment.json"])
    status, _, told = run(monkeypatch, capsys, "render", folder / "assessment.json", "--annex")
    assert status == 2
    assert "--annex: only a printed report leaves the annex out" in told


# ---------------------------------------------------------------- with a browser


def pages(path):
    """Return how many pages a PDF of Chromium has, by the largest count of its page tree."""
    return max(map(int, re.findall(rb"/Count (\d+)", path.read_bytes())))


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium")
def test_the_demo_is_printed_on_seven_pages_at_most(tmp_path):
    subprocess.run(
        [sys.executable, "-m", "divulge", "demo", "--out", tmp_path / "demo"], check=True, capture_output=True
    )
    source = tmp_path / "demo" / "assessment.json"
    command = [sys.executable, "-m", "divulge", "render", source, "--pdf"]
    subprocess.run([*command, tmp_path / "few.pdf"], check=True, capture_output=True)
    subprocess.run([*command, tmp_path / "all.pdf", "--annex"], check=True, capture_output=True)
    assert 4 <= pages(tmp_path / "few.pdf") <= 7  # the second is the record of processing
    assert pages(tmp_path / "all.pdf") > 12


def test_weasyprint_sets_the_page_without_a_browser(report, tmp_path, monkeypatch, caplog):
    pypdf = pytest.importorskip("pypdf", reason="no pypdf")
    pytest.importorskip("weasyprint", reason="no WeasyPrint", exc_type=ImportError)
    monkeypatch.setattr(pdf, "printer", lambda: None)
    pdf.printed(report.to_html(), tmp_path / "few.pdf")
    read = pypdf.PdfReader(tmp_path / "few.pdf")
    assert 3 <= len(read.pages) <= 6
    assert "custodian's edition" in read.pages[1].extract_text()
    assert not caplog.records
