"""Regimes: what each line names is there, what a document says, what a stranger's file may hold, and its policy."""

import re
import tomllib

import pytest
from msgspec.structs import replace

import divulge as package
from divulge.attacks.entry import CATALOGUE
from divulge.core.errors import SettingError
from divulge.demo import tables
from divulge.release.conditions import conditions
from divulge.release.policy import policy_from_toml, read_policy
from divulge.release.regimes.answers import NOT_ANSWERED, answers, open_points
from divulge.release.regimes.document import DOCUMENTS, regime_markdown, regime_page
from divulge.release.regimes.fields import FIELDS
from divulge.release.regimes.regime import MAPPING, known_fields, policy_text, read_regime, regime_from_toml, regimes
from divulge.report.documents import pdf
from divulge.report.model import Assessment
from divulge.report.prose.decision import decision

OWN = """\
name = "house-rules"
title = "House rules"
source = "Handbook"
edition = "third"
date = "2026"
read = "source"
note = "Ours."
by = "the statistics office"

[[line]]
under = "People"
asks = "Is a record copied?"
results = ["copies"]
fields = ["facts.verbatim"]

[[line]]
under = "Paper"
asks = "Has the board agreed?"
missing = "the board keeps its own minutes"

[[condition]]
toml = 'verdicts = ["none found"]'
why = "The handbook says so."
"""


@pytest.fixture(scope="module")
def report():
    real, synthetic, holdout = tables()
    return package.assess(real, synthetic, holdout, keys=["age", "educ"], targets=["vote"], models=False)


@pytest.fixture(params=["custodian", "external"])
def edition(request, report):
    return report if request.param == "custodian" else report.external()


def lines():
    return [(name, i) for name in regimes() for i in range(len(read_regime(name).line))]


# ---------------------------------------------------------------- every line


@pytest.mark.parametrize(("name", "i"), lines())
def test_each_line_names_what_a_real_report_has_or_says_that_it_is_missing(name, i, report):
    regime = read_regime(name)
    answer = answers(regime, report.assessment)[i]
    line = regime.line[i]
    assert set(line.results) <= set(CATALOGUE) and set(line.fields) <= set(known_fields())
    for said in answer.said:
        assert said.text or said.why
        if said.name in CATALOGUE:
            assert said.text, f"{said.name} is not in a report with all default attacks"
    for field in line.fields:
        found = report.assessment
        for part in field.split("."):
            if not isinstance(found, tuple | dict) and found is not None:
                assert part in found.__struct_fields__, field
                found = getattr(found, part)
    assert answer.said or line.missing


def test_each_field_has_a_sentence_or_is_stated():
    assert [f for f in known_fields() if not f.startswith("threat.")] == list(FIELDS)


@pytest.mark.parametrize("field", known_fields())
def test_each_field_that_a_line_may_name_is_one_of_the_report(field, report):
    found, *rest = field.split(".")
    assert found in Assessment.__struct_fields__
    part = getattr(report.assessment, found)
    for name in rest:
        assert name in part.__struct_fields__
        part = getattr(part, name)


@pytest.mark.parametrize("name", regimes())
def test_each_regime_says_where_it_is_from(name):
    regime = read_regime(name)
    assert all((regime.source, regime.edition, regime.date, regime.note, regime.line, regime.condition))
    for line in regime.line:
        assert not line.source or (line.edition and line.date)
    distances = [i for i, line in enumerate(regime.line) if {"dcr", "nndr", "nnaa"} & set(line.results)]
    assert not distances


# ---------------------------------------------------------------- documents


@pytest.mark.parametrize("name", regimes())
def test_a_document_has_each_line_what_is_missing_actors_and_places_to_sign(name, edition):
    regime = read_regime(name)
    for text in (regime_page(regime, edition.assessment), regime_markdown(regime, edition.assessment)):
        plain = re.sub(r"<[^>]+>|\\", "", text).replace("&#39;", "'")
        assert MAPPING in plain
        assert "complian" not in plain.lower()
        assert all(line.asks in plain for line in regime.line)
        assert all(head in plain for head in ("What is missing", "Actors", "Sign-off", NOT_ANSWERED))
        assert "anonymous" not in plain


@pytest.mark.parametrize("name", regimes())
def test_a_document_of_an_external_edition_has_its_numbers_and_names_alone(name, report):
    outside = report.external()
    text = regime_markdown(read_regime(name), outside.assessment)
    names = [c.name for c in report.assessment.schema]
    assert not [n for n in names if re.search(rf"\b{re.escape(n)}\b", text) and n not in ("age",)]
    numbers = {n.replace(",", "") for n in re.findall(r"\b\d[\d,]*\b", text)}
    sizes = {str(t.rows) for t in report.assessment.tables.by_role().values()}
    assert not (sizes - {str(outside.assessment.tables.synthetic.rows)}) & numbers
    assert "withheld in an external edition" in text or "facts.verbatim" not in {
        f for line in read_regime(name).line for f in line.fields
    }


@pytest.mark.parametrize("name", regimes())
def test_a_document_begins_with_table_verdict_and_limit_of_the_report_and_how_many_lines_are_answered(name, report):
    threat = report.assessment.threat
    told = report.replaced(threat=replace(threat, release=replace(threat.release, recipient=("the ward",))))
    data, regime = told.assessment, read_regime(name)
    for text in (regime_page(regime, data), regime_markdown(regime, data)):
        plain = re.sub(r"<[^>]+>|\\", "", text).replace("&#39;", "'")
        first = plain[: plain.index("1. ")]
        assert "recipient: the ward" in first and decision(data).title in first and decision(data).headline in first
        assert "5% of members" in first
        made = answers(regime, data)
        whole = [a for a in made if not open_points(a)]
        assert f"{len(whole)} of {len(made)} are answered" in first
        none = [str(a.number) for a in made if not a.answered]
        assert not none or f"not answered: {', '.join(none)}" in first
        # what a line lacks stands beside it, and what nobody decided where it is signed
        assert plain.count("Not answered in full: ") == len(made) - len(whole) - len(none)
        assert "advice of the data protection officer" in plain[plain.rindex("Sign-off") :]


def test_what_the_run_assumes_of_an_attacker_is_no_statement(report):
    sees = next(a for a in answers(read_regime("gdpr-recipient"), report.assessment) if "sees" in str(a.line.fields))
    assert sees.said[0].text.startswith("Assumed by the run: The whole synthetic table.")
    assert open_points(sees).startswith("not stated in the schema file: what else the attacker sees, ")
    threat = report.assessment.threat
    told = report.replaced(threat=replace(threat, attacker=replace(threat.attacker, sees=("the table",)))).assessment
    sees = next(a for a in answers(read_regime("gdpr-recipient"), told) if "sees" in str(a.line.fields))
    assert sees.said[0].text == "the table" and "attacker sees" not in open_points(sees)


def test_what_is_stated_stands_beside_its_line_and_hostile_text_is_escaped(report):
    threat = report.assessment.threat
    hostile = "<script>alert(1)</script>"
    told = report.replaced(threat=replace(threat, release=replace(threat.release, legal_basis=(hostile,))))
    page = regime_page(read_regime("wp216"), told.assessment)
    assert hostile not in page and "&lt;script&gt;alert(1)" in page
    assert "Line 9:" not in page and "Line 9:" in regime_page(read_regime("wp216"), report.assessment)


def test_a_run_without_an_attack_or_a_holdout_says_so():
    real, synthetic, _ = tables()
    alone = package.assess(real, synthetic, keys=["age"], targets=["vote"], models=False, fidelity=False)
    text = regime_markdown(read_regime("ehds"), alone.assessment)
    assert "Missing: members cannot be compared with strangers." in text
    assert "Line 7: membership: " in text


def test_the_same_report_makes_the_same_document(report):
    for make in DOCUMENTS.values():
        assert make(read_regime("ehds"), report.assessment) == make(read_regime("ehds"), report.assessment)


@pytest.mark.browser
@pytest.mark.parametrize("name", regimes())
def test_a_document_prints_on_four_pages_at_most(name, edition, tmp_path):
    if pdf.printer() is None:
        pytest.skip("no Chromium")
    path = pdf.printed(regime_page(read_regime(name), edition.assessment), tmp_path / "regime.pdf")
    assert len(re.findall(rb"/Type\s*/Page\b", path.read_bytes())) <= 4


@pytest.mark.browser
def test_the_longest_regime_prints_on_four_pages(report, tmp_path):
    if pdf.printer() is None:
        pytest.skip("no Chromium")
    line = '[[line]]\nunder = "H{}"\nasks = "{}"\nresults = ["copies"]\nfields = ["tables", "verdict"]\n'
    text = OWN[: OWN.index("[[line]]")] + "\n".join(
        line.format(i % 6, "Is it so, or is it not so? " * 10) for i in range(20)
    )
    path = pdf.printed(regime_page(regime_from_toml(text), report.assessment), tmp_path / "regime.pdf")
    assert len(re.findall(rb"/Type\s*/Page\b", path.read_bytes())) <= 4


@pytest.mark.browser
@pytest.mark.parametrize("name", regimes())
def test_long_answers_in_the_schema_file_make_no_fifth_page(name, report, tmp_path):
    if pdf.printer() is None:
        pytest.skip("no Chromium")
    long = ("What was agreed with the office in a long meeting, and then again. " * 20,) * 20
    threat = report.assessment.threat
    filled = replace(threat, **{
        table: replace(part, **dict.fromkeys(part.__struct_fields__, long))
        for table, part in ((t, getattr(threat, t)) for t in ("attacker", "release", "decision"))
    })  # fmt: skip
    page = regime_page(read_regime(name), report.replaced(threat=filled).assessment)
    path = pdf.printed(page, tmp_path / "regime.pdf")
    assert len(re.findall(rb"/Type\s*/Page\b", path.read_bytes())) <= 4


# ---------------------------------------------------------------- a file of somebody else


def test_a_stranger_adds_a_regime_with_one_file(tmp_path, report):
    path = tmp_path / "rules.toml"
    path.write_text(OWN)
    text = regime_markdown(read_regime(path), report.assessment)
    assert "Mapped by the statistics office" in text and "Its lines were written from the source." in text
    assert f"{NOT_ANSWERED}: the board keeps its own minutes." in text.replace("**", "")
    assert policy_from_toml(policy_text(read_regime(path))).verdicts == ("none found",)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (('results = ["copies"]', 'results = ["copy"]'), "line 1: no attack 'copy'. hint: `divulge attacks`"),
        (('fields = ["facts.verbatim"]', 'fields = ["facts"]'), "line 1: no field 'facts'. hint: use claim, edition, facts.rep"),
        (('missing = "the board keeps its own minutes"', ""), "line 2: nothing answers it. hint: name results or fields"),
        (('asks = "Has the board agreed?"', 'ask = "?"'), "line 2: unknown entry 'ask'. hint: use under, asks"),
        (('asks = "Has the board agreed?"', ""), "line 2: asks is missing. hint: use under, asks"),
        (('asks = "Has the board agreed?"', "asks = 3"), "line 2: asks: expected str. hint: docs/how-to/regimes.md"),
        (('read = "source"', 'read = "maybe"'), 'read: no such word. hint: use "source"'),
        (('name = "house-rules"', 'name = "../x"'), "name: expected str matching regex"),
        (('title = "House rules"', 'titel = "House rules"'), "unknown entry 'titel'. hint: use name, title"),
        (("verdicts = ", "verdict = "), "condition: unknown entry 'verdict'. hint: use name, verdicts"),
        (('"none found"', '"all well"'), "condition: verdicts: no such word: 'all well'"),
        (("Ours.", "A table is compliant where each is."), "a mapping judges nothing. hint: leave the word out"),
        (("[[line]]", "[line]"), "not TOML"),
        (('note = "Ours."', "note = "), "not TOML"),
    ],
)  # fmt: skip
def test_a_file_with_a_fault_is_told(change, told, tmp_path):
    path = tmp_path / "rules.toml"
    path.write_text(OWN.replace(*change, 1))
    with pytest.raises(SettingError, match=re.escape(told)) as caught:
        read_regime(path)
    assert str(caught.value).startswith("rules.toml: ")


def test_an_unknown_regime_and_a_file_that_is_not_there_are_told(tmp_path):
    with pytest.raises(
        SettingError, match=r"no regime .hipaa.\. hint: use ehds, gdpr-recipient, sp800-226, wp216, or name"
    ):
        read_regime("hipaa")
    with pytest.raises(SettingError, match=r"absent.toml: cannot be read"):
        read_regime(tmp_path / "absent.toml")
    (tmp_path / "odd.toml").write_bytes(b"name = '\xff'")
    with pytest.raises(SettingError, match="not UTF-8"):
        read_regime(tmp_path / "odd.toml")
    with pytest.raises(SettingError, match="line: "):
        regime_from_toml(OWN[: OWN.index("[[line]]")] + "line = []")


# ---------------------------------------------------------------- policy


@pytest.mark.parametrize("name", regimes())
def test_each_line_of_a_policy_is_explained(name):
    text = policy_text(read_regime(name))
    assert conditions(policy_from_toml(text))
    assert MAPPING in text and max(map(len, text.splitlines())) <= 120
    rows = text.splitlines()
    for i, row in enumerate(rows):
        if "=" in row and not row.startswith("#"):
            above = rows[i - 1] if not rows[i - 1].startswith("[") else rows[i - 2]
            assert above.startswith("# "), row
    assert tomllib.loads(text)["name"].endswith("(mapping by divulge)")


# ---------------------------------------------------------------- commands


def test_render_writes_the_documents_of_a_regime(report, tmp_path, divulge):
    source = report.write(tmp_path / "run") / "assessment.json"
    before = source.read_bytes()
    status, out, err = divulge("render", source, "--regime", "wp216")
    assert (status, err) == (0, "")
    assert [line.rpartition("/")[2] for line in out.split()] == ["regime-wp216.html", "regime-wp216.md"]
    status, out, _ = divulge("render", source, "--regime", "ehds", "--edition", "external", "--format", "md")
    assert status == 0 and out.strip().endswith("external/regime-ehds.md")
    assert "external edition" in (source.parent / "external" / "regime-ehds.md").read_text()
    assert source.read_bytes() == before
    own = tmp_path / "rules.toml"
    own.write_text(OWN)
    assert divulge("render", source, "--regime", own, "--out", tmp_path / "o")[0] == 0
    assert sorted(p.name for p in (tmp_path / "o").iterdir()) == ["regime-house-rules.html", "regime-house-rules.md"]


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (["--regime", "hipaa"], "no regime 'hipaa'"),
        (["--regime", "wp216", "--format", "junit"], "--format: a regime has no document junit"),
        (["--regime", "wp216", "--annex", "--pdf", "x.pdf"], "--annex: the document of a regime has none"),
    ],
)
def test_render_refuses_what_a_regime_has_not(more, told, report, tmp_path, divulge):
    source = report.write(tmp_path / "run") / "assessment.json"
    status, _, err = divulge("render", source, *more)
    assert status == 2 and told in err


def test_the_policy_of_a_regime_judges_a_report_by_its_exit_status(report, tmp_path, divulge):
    status, out, _ = divulge("policy", "--regime", "wp216")
    assert status == 0 and out == policy_text(read_regime("wp216"))
    path = tmp_path / "policy.toml"
    path.write_text(out)
    assert read_policy(path).required == ("singling_out", "linkability", "inference", "copies")
    source = report.write(tmp_path / "run") / "assessment.json"
    status, _, err = divulge("gate", source, "--policy", path, "-q")
    assert status == 1 and "not kept: overall verdict: none found" in err
    assert divulge("policy", "--regime", "wp216", "--check", path)[0] == 2
