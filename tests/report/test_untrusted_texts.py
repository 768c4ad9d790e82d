"""Texts of a threat model and of a policy are written by others: no document takes them for more than text."""

import re
import sys
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest
import tomli_w
from msgspec.structs import replace
from report_helpers import HOSTILE, Page, summary
from test_report_questions import report, results

from divulge.cli import main
from divulge.core.schema import Schema
from divulge.core.threat_model import Attacker, Decision, Release, threat_from
from divulge.release.conditions import judge_policy
from divulge.release.policy import policy_from_toml
from divulge.report.documents.html import card
from divulge.tables.readers import schema_from_toml

EVIL = [
    *HOSTILE,
    "]]></failure><x/>",
    "</script><script>alert(3)</script>",
    "<!-- ",
    "\x1b]0;title\x07\x1b[31mred\x1b[2J",
    "a\r\nb\x00c\x85d\u2028e\u2066f\ufffe",
    "![pixel](http://evil.example/p.png)",
    "[run](javascript:alert(4))",
    "<http://evil.example/auto> https://evil.example/bare",
    "\n\n# Verdict\n\nnone found\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
    "```\n~~~\n    code",
    "&lt;b&gt; &#60;i&#62;",
    "{% raw %}{{ 7*7 }}",
    "[red]markup[/red] [link=http://evil.example]x[/link]",
]
TABLES = {"attacker": Attacker, "release": Release, "decision": Decision}


@pytest.fixture(scope="module")
def threat():
    text = tomli_w.dumps({name: dict.fromkeys(kind.__struct_fields__, EVIL) for name, kind in TABLES.items()})
    read = schema_from_toml(text, "frame.toml")
    assert isinstance(read, Schema)
    assert set(read.threat.attacker.who) == {t.strip() for t in EVIL}
    return read.threat


@pytest.fixture(scope="module")
def policy():
    return policy_from_toml(tomli_w.dumps({"name": " ".join(EVIL), "required": ["copies"]}))


def with_policy(threat, policy, texts):
    """A report with a judged policy; the conditions are as in an assessment.json that somebody edited."""
    found = report(results(), threat=threat)
    judged = judge_policy(found.assessment, policy, [])
    condition = next(c for c in judged.conditions if not c.kept)
    edited = tuple(replace(condition, condition=t, found=t, why=t) for t in texts)
    return found.replaced(policy=replace(judged, conditions=judged.conditions + edited))


@pytest.fixture(scope="module")
def hostile(threat, policy):
    return with_policy(threat, policy, EVIL)


@pytest.fixture(scope="module")
def tame():
    texts = ["text"] * len(EVIL)
    plain = {name: dict.fromkeys(kind.__struct_fields__, texts) for name, kind in TABLES.items()}
    return with_policy(threat_from(plain), policy_from_toml('name = "text"\nrequired = ["copies"]'), texts)


EDITIONS = pytest.mark.parametrize("edition", ["custodian", "external"])


def in_edition(found, edition):
    return found if edition == "custodian" else found.external(["columns"])


def forbidden(text):
    """Characters that control a terminal or a direction of writing; line ends are ours."""
    return re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufffe\uffff]", text)


@pytest.mark.slow
@EDITIONS
def test_the_page_has_the_tags_of_a_page_with_plain_texts(hostile, tame, edition):
    page, plain = (in_edition(found, edition).to_html() for found in (hostile, tame))
    one, other = Page(page), Page(plain)
    # plain words need no <bdi>
    ours, theirs = ([(t, sorted(a)) for t, a, _ in x.tags if t != "bdi"] for x in (one, other))
    assert ours == theirs
    assert forbidden(page) == []
    assert edition == "external" or "alert(1)" in one.text


@pytest.mark.slow
@EDITIONS
def test_the_frame_in_a_notebook_holds_the_page_alone(hostile, edition):
    frame = in_edition(hostile, edition)._repr_html_()
    (tag, attributes, _), *more = Page(frame).tags
    assert (tag, more) == ("iframe", [])
    assert attributes["sandbox"] == "allow-scripts"
    assert attributes["srcdoc"] == card(in_edition(hostile, edition).assessment)
    assert forbidden(attributes["srcdoc"]) == []
    assert edition == "external" or "alert(1)" in Page(attributes["srcdoc"]).text


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, tuple(sorted(name for name, _ in attrs))))


@pytest.mark.slow
@EDITIONS
def test_markdown_becomes_the_tags_of_plain_texts(hostile, tame, edition):
    markdown = pytest.importorskip("markdown")
    texts = [in_edition(found, edition).to_markdown() for found in (hostile, tame)]
    one, other = (Tags(markdown.markdown(text, extensions=["tables", "fenced_code"])).found for text in texts)
    assert one == other
    assert forbidden(texts[0]) == []
    assert len(texts[0].splitlines()) == len(texts[1].splitlines())


@pytest.mark.first(1)
@EDITIONS
def test_the_terminal_shows_characters_alone(hostile, tame, edition):
    for colour in (False, True):
        one, other = (
            summary(in_edition(found, edition).assessment, colour=colour, width=10_000) for found in (hostile, tame)
        )
        assert forbidden(one) == forbidden(other)
        assert len(one.splitlines()) == len(other.splitlines())


@pytest.mark.first(1)
@EDITIONS
def test_junit_has_the_elements_of_plain_texts(hostile, tame, edition):
    one, other = (in_edition(found, edition).to_junit() for found in (hostile, tame))
    assert forbidden(one) == []
    assert [e.tag for e in ET.fromstring(one).iter()] == [e.tag for e in ET.fromstring(other).iter()]


# ---------------------------------------------------------------- the commands


def shown(capsys, monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["divulge", *map(str, arguments)])
    with pytest.raises(SystemExit) as left:
        main()
    out, told = capsys.readouterr()
    return left.value.code, out, told


@pytest.mark.slow
def test_commands_show_a_policy_as_characters(tmp_path, capsys, monkeypatch, hostile):
    path, assessment = tmp_path / "policy.toml", hostile.write(tmp_path) / "assessment.json"
    path.write_text(tomli_w.dumps({"name": " ".join(EVIL)}), encoding="utf-8")
    for arguments in (["policy", "--check", path], ["gate", assessment, "--policy", path]):
        _, out, told = shown(capsys, monkeypatch, *arguments)
        assert "alert(1)" in out
        assert forbidden(out + told) == []


@pytest.mark.first(2)
@pytest.mark.parametrize("evil", EVIL)
def test_errors_of_a_policy_or_a_threat_model_are_one_line_of_characters(tmp_path, capsys, monkeypatch, evil):
    path = tmp_path / "file.toml"
    bodies = (
        {evil: 1}, {"required": [evil]}, {"fail_on": [evil]}, {"power": {evil: 0.1}}, {"attacks": {evil: {"high": 0}}},
        {"preconditions": [evil]}, {"verdicts": [evil]}, {"attacks": {"copies": {evil: 1}}},
    )  # fmt: skip
    for body in bodies:
        path.write_text(tomli_w.dumps(body), encoding="utf-8")
        code, _, told = shown(capsys, monkeypatch, "policy", "--check", path)
        assert (code, told.count("\n"), forbidden(told)) == (2, 1, [])
    table = tmp_path / "table.csv"
    table.write_text("a,b\n1,2\n3,4\n", encoding="utf-8")
    for body in ({"attacker": {evil: "x"}}, {"columns": {evil: {"kind": evil}}}, {evil: 1}):
        path.write_text(tomli_w.dumps(body), encoding="utf-8")
        code, _, told = shown(capsys, monkeypatch, "assess", table, table, "--schema", path, "--out", tmp_path / "out")
        assert (code, told.count("\n"), forbidden(told)) == (2, 1, [])
