import copy
import json
import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import jsonschema
import numpy as np
import polars as pl
import pytest

import divulge
from divulge.report.html import page
from divulge.report.json_schema import assessment_schema, schema_text
from divulge.report.markdown import escaped, markdown
from divulge.report.view import by_attack, interval, judged, limit, telling_notes
from divulge.result import number, percent

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=1>',
    "{{7*7}}",
    "age\u202egnp.exe",
    "a|b`c`\n# d [x](http://evil.example/)",
    "' onmouseover='alert(2)",
]
VOID = {"meta", "link", "br", "input"}
AVOIDED = re.compile(r"\b(safe|anonymous|guaranteed|passes|simply|just|obviously)\b", re.IGNORECASE)


def tables(n=160, names=("age", "job", "region", "sex", "income", "code"), seed=0):
    """Real people, a synthetic table that copies many of them, and strangers."""
    rng = np.random.default_rng(seed)

    def people(m):
        columns = [rng.integers(0, k, m) for k in (9, 7, 5, 2, 3, 6)]
        return pl.DataFrame(dict(zip(names, [[f"v{v}" for v in c] for c in columns], strict=True)))

    real, holdout = people(n), people(n)
    return real, pl.concat([real[: n // 2], people(n // 2)]), holdout


@pytest.fixture(scope="module")
def searched():
    real, synthetic, holdout = tables()
    return divulge.assess(real, synthetic, holdout=holdout, search="full", jobs=1)


@pytest.fixture(scope="module")
def keyed():
    real, synthetic, holdout = tables()
    return divulge.assess(real, synthetic, holdout=holdout, keys=["age", "job"], targets=["income", "code"], jobs=1)


@pytest.fixture(scope="module")
def alone():
    real, synthetic, _ = tables()
    return divulge.assess(real, synthetic, keys=["age", "job"], targets=["income"], jobs=1)


@pytest.fixture(scope="module")
def hostile():
    real, synthetic, holdout = tables(names=HOSTILE)
    return divulge.assess(real, synthetic, holdout=holdout, keys=HOSTILE[:2], targets=HOSTILE[2:], jobs=1)


@pytest.fixture(scope="module")
def reports(searched, keyed, alone, hostile):
    return {"searched": searched, "keyed": keyed, "alone": alone, "hostile": hostile}


class Page(HTMLParser):
    """What a browser would make of the page: tags, attributes, text; complains of tags that do not match."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.words, self.levels = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs), tuple(self.open)))
        if re.fullmatch("h[1-6]", tag):
            self.levels.append(int(tag[1]))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"script", "style"} & set(self.open):
            self.words.append(data)

    def of(self, tag):
        return [(attrs, parents) for t, attrs, parents in self.tags if t == tag]

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


EACH = pytest.mark.parametrize("which", ["searched", "keyed", "alone", "hostile"])


@EACH
def test_every_tag_is_closed_in_order(reports, which):
    assert Page(reports[which].to_html()).of("main")


@EACH
def test_headings_go_down_one_level_at_a_time(reports, which):
    levels = Page(reports[which].to_html()).levels
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))


@EACH
def test_ids_are_unique_and_labels_point_to_them(reports, which):
    page = Page(reports[which].to_html())
    ids = [a["id"] for _, a, _ in page.tags if "id" in a]
    assert len(ids) == len(set(ids))
    named = {i for _, a, _ in page.tags for i in a.get("aria-labelledby", "").split()}
    named |= {a["href"][1:] for a, _ in page.of("a")}
    assert named <= set(ids)


@EACH
def test_nothing_points_outside_the_page(reports, which):
    page = Page(reports[which].to_html())
    targets = [a[k] for _, a, _ in page.tags for k in ("src", "href", "action", "data", "srcset") if k in a]
    assert all(t.startswith("#") or t == "data:," for t in targets)
    assert not {"img", "iframe", "object", "embed", "base"} & {t for t, _, _ in page.tags}


def test_the_policy_forbids_every_request(keyed):
    (policy,) = (
        a["content"]
        for a, _ in Page(keyed.to_html()).of("meta")
        if a.get("http-equiv", "") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    assert "http" not in policy


@EACH
def test_no_attribute_carries_a_script_or_a_style(reports, which):
    page = Page(reports[which].to_html())
    assert not [k for _, a, _ in page.tags for k in a if k.startswith("on") or k == "style"]


@EACH
def test_every_drawing_has_a_role_and_a_title(reports, which):
    page = Page(reports[which].to_html())
    drawings = page.of("svg")
    assert drawings
    assert all(a["role"] == "img" and a["aria-labelledby"] for a, _ in drawings)
    assert len([1 for _, parents in page.of("title") if "svg" in parents]) == len(drawings)


def test_every_figure_has_a_table_of_its_numbers(keyed):
    page = Page(keyed.to_html())
    figures = page.of("figure")
    assert len([1 for _, parents in page.of("table") if "figure" in parents]) == len(figures) > 0


@EACH
def test_every_table_has_a_caption_and_scoped_heads(reports, which):
    page = Page(reports[which].to_html())
    assert len(page.of("caption")) == len(page.of("table"))
    assert all(a.get("scope") in ("col", "row", "rowgroup") for a, _ in page.of("th"))


def test_rows_of_a_table_have_as_many_cells_as_its_head(reports):
    for report in reports.values():
        for table in re.findall("<table.*?</table>", report.to_html(), re.DOTALL):
            widths = {_width(row) for row in re.findall("<tr.*?</tr>", table, re.DOTALL)}
            assert len(widths) == 1, table[:300]


def _width(row):
    cells = re.findall(r"<t[hd]\b[^>]*>", row)
    return sum(int(m[1]) if (m := re.search(r'colspan="(\d+)"', c)) else 1 for c in cells)


# ---------------------------------------------------------------- untrusted names


def test_hostile_names_are_text_on_the_page(hostile):
    page = Page(hostile.to_html())
    assert len(page.of("script")) == 1
    assert "<script>alert(1)</script>" in page.text
    assert '"><img src=x onerror=1>' in page.text


def test_template_marks_in_names_are_not_evaluated(hostile):
    text = Page(hostile.to_html()).text
    assert "{{7*7}}" in text
    assert "→ 49" not in text


def test_direction_marks_are_replaced(hostile):
    assert "\u202e" not in hostile.to_html() + hostile.to_markdown()


def test_hostile_names_are_harmless_in_every_other_field():
    bad = "</style></script><script>alert(3)</script>"
    data = _empty()
    data["verdict"]["sentence"] = data["command"] = data["started"] = bad
    data["failed"] = [{"attack": bad, "why": bad}]
    data["notes"] = [bad]
    data["preconditions"] = [{"check": bad, "ok": False, "detail": bad}]
    data["schema"] = [{"name": bad, "kind": bad, "roles": [bad], "why": bad, "bins": bad}]
    data["settings"] |= {"unit": bad, "ignore": [bad], "keys": [bad]}
    worst = [{"row": 1, "copied": True, "disclosed": bad, "highest_cap_target": bad}]
    assert len(Page(page(data, worst)).of("script")) == 1
    assert "<script" not in markdown(data)


@pytest.mark.parametrize(
    ("name", "not_in"),
    [
        ("a|b", "a|b"),
        ("`c`", "c`"),
        ("<b>", "<"),
        ("[x](http://evil.example)", "http://"),
        ("WWW.evil.example", "www."),
        ("a@b.example", "@"),
        ("two\nlines", "\n"),
    ],
)
def test_markdown_marks_in_names_are_escaped(name, not_in):
    assert not re.search(rf"(?<!\\){re.escape(not_in)}", escaped(name), re.IGNORECASE)


def test_hostile_names_keep_markdown_tables_whole(hostile):
    rows = [line for line in hostile.to_markdown().splitlines() if line.startswith("| ")]
    blocks = [len(re.findall(r"(?<!\\)\|", r)) for r in rows]
    assert set(blocks) <= {4, 5, 6, 8}
    assert not re.search(r"(?<!\\)`c", hostile.to_markdown())


def test_long_names_are_shortened():
    real, synthetic, holdout = tables(names=["k" * 5000, *"bcdef"])
    report = divulge.assess(real, synthetic, holdout=holdout, keys=["k" * 5000], targets=["b"], jobs=1)
    assert "k" * 100 not in _tables_of(report.to_html())


def _tables_of(text):
    return "".join(re.findall("<table.*?</table>", text, re.DOTALL))


# ---------------------------------------------------------------- what is said


def test_the_page_shows_the_numbers_of_the_report(keyed):
    text = Page(keyed.to_html()).text
    for r in keyed.data["results"]:
        if r["verdict"] is None:
            continue
        assert f"{percent(r['real']['rate'])} " in text
        assert f"{limit(r['risk']['low_simultaneous'])} to {limit(r['risk']['high_simultaneous'])}" in text
        assert number(r["risk"]["value"]) in text


def test_the_page_shows_counts_beside_rates(keyed):
    r = next(r for r in keyed.data["results"] if r["attack"] == "copies")
    n = r["real"]["n"]
    assert f"{percent(r['real']['rate'])} {r['real']['hits']:,.0f} of {n}" in Page(keyed.to_html()).text


def test_the_table_has_every_comparison(searched):
    table = re.search(
        r'<table class="small sortable"><caption class="hidden">All comparisons.*?</table>',
        searched.to_html(),
        re.DOTALL,
    )
    assert table
    n = sum(r["verdict"] is not None for r in searched.data["results"])
    assert table[0].count("<tr>") == n + 1


def test_every_attack_is_drawn(searched):
    text = searched.to_html()
    forest = text[text.index('<table class="forest">') : text.index('<h3 id="all">')]
    attacks = {r["attack"] for r in searched.data["results"] if r["verdict"] is not None}
    assert set(re.findall(r'scope="rowgroup">(\w+)', forest)) == attacks


def test_an_excess_says_so_in_words_and_shape(searched):
    assert searched.verdict == "excess found"
    html = searched.to_html()
    assert '<h2 id="verdict">Excess found</h2>' in html
    assert "<title>divulge: excess found</title>" in html
    assert '<title id="verdict-icon-t">excess found</title>' in html


def test_minimal_key_sets_stand_there_without_a_verdict(searched):
    assert searched.data["minimal_key_sets"]
    text = Page(searched.to_html()).text
    section = text[text.index("For each set of keys here") : text.index(" stand out: ")]
    assert "without a verdict" in section
    assert "excess found" not in section


def test_what_was_not_tested_comes_before_the_numbers(keyed):
    text = Page(keyed.to_html()).text
    assert text.index("What was not tested") < text.index("is somebody in the real table at all?")
    assert text.index("is somebody in the real table at all?") < text.index("Overview The tables")


def test_failed_preconditions_come_first():
    data = _empty()
    data["preconditions"] = [
        {"check": "no overlap", "ok": False, "detail": "3 of 9"},
        {"check": "sizes", "ok": True, "detail": ""},
    ]
    text = Page(page(data, [])).text
    assert text.index("Precondition not met: no overlap.") < text.index("What was not tested")
    assert "not ok" in text
    assert "Precondition not met: no overlap" in markdown(data)


def test_failed_attacks_are_named():
    data = _empty()
    data["failed"] = [{"attack": "tcap", "why": "ValueError inside the attack"}]
    assert "The attack tcap failed and is missing here" in Page(page(data, [])).text
    assert "The attack tcap failed" in markdown(data)


def test_exposed_records_are_for_the_custodian_alone(keyed):
    html = keyed.to_html()
    assert Page(html).text.count("do not publish") == 2
    assert "do not publish" not in page(keyed.data, [])


@pytest.mark.parametrize("render", [lambda d: page(d, []), markdown], ids=["html", "markdown"])
def test_without_holdout_no_excess_is_spoken_of(alone, render):
    data = copy.deepcopy(alone.data)
    for check in data["preconditions"]:
        check["detail"] = ""
    text = render(data)
    assert "nference and disclosure are not separated" in text
    assert not re.search(r"\bleak", text, re.IGNORECASE)
    assert "simultaneous interval" not in text
    assert "strangers against" not in text


def test_without_holdout_the_rates_are_shown(alone):
    r = next(r for r in alone.data["results"] if r["attack"] == "modal_guess")
    for text in (alone.to_html(), alone.to_markdown()):
        assert percent(r["real"]["rate"]) in text


@EACH
def test_words_that_promise_too_much_are_absent(reports, which):
    for text in (Page(reports[which].to_html()).text, reports[which].to_markdown()):
        assert not AVOIDED.findall(text)


def test_no_data_value_is_on_the_page(keyed):
    for text in (keyed.to_html(), keyed.to_markdown()):
        assert not re.search(r"\bv[0-8]\b", text)


def test_a_limit_that_is_not_zero_does_not_read_as_zero():
    assert interval({"low_simultaneous": -0.0004, "high_simultaneous": 0.00001}) == "-0.0004 to <0.0001"


def test_the_worst_comes_first(searched):
    rank = {"excess found": 0, "cannot tell": 1, "none found": 2}
    order = [rank[r["verdict"]] for r in judged(searched.data["results"])]
    assert order == sorted(order)


def test_attacks_are_counted_by_verdict(searched):
    rows = by_attack(searched.data)
    assert all(sum(row["counts"].values()) == row["n"] for row in rows)
    assert sum(row["n"] for row in rows) == sum(r["verdict"] is not None for r in searched.data["results"])


def test_notes_beside_a_verdict_leave_the_bins_out():
    result = {
        "attack": "cap",
        "variant": "zero",
        "notes": ["column 'a': bins", "cannot tell: too wide; about 9 records", "else"],
    }
    assert telling_notes(result) == ["about 9 records", "else"]


def test_markdown_lists_the_worst_40_and_how_many_more(searched):
    n = sum(r["verdict"] is not None for r in searched.data["results"])
    text = searched.to_markdown()
    section = text[text.index("## Risks") : text.index("## Uniqueness")]
    assert section.count("\n| ") == 40 + 2
    assert f"{n - 40} more are in assessment.json" in section


# ---------------------------------------------------------------- odd input


def _empty():
    table = {"rows": 10, "columns": 2, "sha256": "0" * 64, "hashed": "file"}
    return {
        "format": "divulge-assessment/1",
        "divulge": "0.0.0",
        "command": "",
        "settings": {"seed": 0, "level": 0.95, "acceptable": 0.05, "keys": None, "targets": None, "unit": None}
        | {"ignore": [], "jobs": 1, "search": "off", "missing": 0},
        "started": "2026-01-01T00:00:00+00:00",
        "seconds": 0.1,
        "verdict": {"verdict": "cannot tell", "sentence": "No attack could be compared with strangers."},
        "tables": {"real": table, "synthetic": table, "holdout": table},
        "schema": [],
        "preconditions": [],
        "results": [],
        "key_sets": [],
        "minimal_key_sets": [],
        "records": None,
        "failed": [],
        "not_tested": [{"what": "membership", "question": "is somebody in the real table at all?"}],
        "attacks": {},
        "notes": [],
    }


def test_a_report_without_results_renders():
    assert "No attack could be compared with strangers." in Page(page(_empty(), [])).text
    assert "No attack could be compared with strangers." in markdown(_empty())


@EACH
def test_missing_numbers_render_as_dashes(reports, which):
    data = copy.deepcopy(reports[which].data)
    for r in data["results"]:
        for part in ("real", "holdout", "baseline", "difference", "value", "risk"):
            if r[part]:
                r[part] = {k: v if isinstance(v, str) else None for k, v in r[part].items()}
        r["context"] = dict.fromkeys(r["context"])
        r["curves"] = {
            k: [None for _ in v] if k in ("members", "strangers", "real") else v for k, v in r["curves"].items()
        }
        r["score"] = r["p_value"] = r["p_adjusted"] = r["smallest_detectable"] = None
    Page(page(data, []))
    assert "| - |" in markdown(data)


@EACH
def test_missing_parts_render(reports, which):
    data = copy.deepcopy(reports[which].data)
    for r in data["results"]:
        r |= dict.fromkeys(("real", "holdout", "baseline", "difference", "value", "risk", "score"))
        r |= {"context": {}, "curves": {}, "notes": []}
    data["records"] = None
    Page(page(data, [{"row": None, "highest_cap": None}]))
    markdown(data)


def test_hundreds_of_comparisons_stay_below_a_megabyte(searched):
    data = copy.deepcopy(searched.data)
    data["results"] = (data["results"] * 40)[:3000]
    for i, r in enumerate(data["results"]):
        data["results"][i] = r | {"keys": ["a_rather_long_column_name"] * 3}
    assert len(page(data, []).encode()) < 1_000_000
    assert "more of" in page(data, [])


def test_the_same_dict_gives_the_same_page(keyed):
    assert page(keyed.data, []) == page(json.loads(json.dumps(keyed.data)), [])


# ---------------------------------------------------------------- schema


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(assessment_schema())


@EACH
def test_reports_follow_the_schema(reports, which):
    jsonschema.Draft202012Validator(assessment_schema()).validate(json.loads(reports[which].to_json()))


@EACH
def test_the_schema_names_every_field(reports, which):
    definitions = assessment_schema()["$defs"]
    data = reports[which].data
    assert set(definitions["Assessment"]["properties"]) == set(data)
    assert all(set(definitions["Result"]["properties"]) == set(r) for r in data["results"])
    assert set(definitions["Settings"]["properties"]) == set(data["settings"])


def test_the_schema_refuses_a_result_without_its_attack(keyed):
    data = json.loads(keyed.to_json())
    del data["results"][0]["attack"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(assessment_schema()).validate(data)


def test_the_published_schema_is_the_generated_one():
    published = Path(__file__).parents[1] / "docs" / "assessment.schema.json"
    hint = "write divulge.report.json_schema.schema_text() there"
    assert published.read_text(encoding="utf-8") == schema_text(), hint
