import copy
import json
import re
from itertools import pairwise
from pathlib import Path

import amount
import jsonschema
import pytest
from amount import models
from report_helpers import (
    AVOIDED,
    HOSTILE,
    Page,
    by_attack,
    distances,
    ended,
    flags,
    in_question,
    interval,
    judged,
    markdown,
    of_rows,
    on_part,
    page,
    section,
    share_seen,
    summary,
    tables,
    tables_of,
    telling_notes,
    width,
    words,
)  # fmt: skip

import divulge
from divulge.core.result import number, percent
from divulge.report.documents.html_charts import Series, cumulative
from divulge.report.documents.tables import escaped
from divulge.report.formatting import brief, compact, distance, limit, p_text
from divulge.report.schema import assessment_schema, schema_text


@pytest.fixture(scope="module")
def searched():
    real, synthetic, holdout = tables()
    return divulge.assess(
        real, synthetic, holdout=holdout, targets=["income", "code"], search="full", models=False, membership=False
    )


@pytest.fixture(scope="module")
def hostile():
    real, synthetic, holdout = tables(names=HOSTILE)
    return divulge.assess(
        real, synthetic, holdout=holdout, keys=HOSTILE[:2], targets=HOSTILE[2:], jobs=1, models=models(), membership=False,
        positive_control=0.1 if amount.everything else None,
    )  # fmt: skip


@pytest.fixture(scope="module")
def reports(searched, keyed, alone, hostile):
    return {"searched": searched, "keyed": keyed, "alone": alone, "hostile": hostile}


@pytest.fixture(scope="module")
def pages(reports):
    """Each page as a browser reads it."""
    return {which: Page(report.to_html()) for which, report in reports.items()}


EACH = pytest.mark.parametrize("which", ["searched", "keyed", "alone", "hostile"])


@EACH
def test_every_tag_is_closed_in_order(pages, which):
    assert pages[which].of("main")


@EACH
def test_headings_go_down_one_level_at_a_time(pages, which):
    levels = pages[which].levels
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))


@EACH
def test_ids_are_unique_and_labels_point_to_them(pages, which):
    page = pages[which]
    ids = [a["id"] for _, a, _ in page.tags if "id" in a]
    assert len(ids) == len(set(ids))
    named = {i for _, a, _ in page.tags for i in a.get("aria-labelledby", "").split()}
    named |= {a["href"][1:] for a, _ in page.of("a")}
    assert named <= set(ids)


@EACH
def test_nothing_points_outside_the_page(pages, which):
    page = pages[which]
    targets = [a[k] for _, a, _ in page.tags for k in ("src", "href", "action", "data", "srcset") if k in a]
    assert all(t.startswith("#") or t == "data:," for t in targets)
    assert not {"img", "iframe", "object", "embed", "base"} & {t for t, _, _ in page.tags}


def test_the_policy_forbids_every_request(pages):
    (policy,) = (
        a["content"] for a, _ in pages["keyed"].of("meta") if a.get("http-equiv", "") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    assert "http" not in policy


@EACH
def test_no_attribute_carries_a_script_or_a_style(pages, which):
    page = pages[which]
    assert not [k for _, a, _ in page.tags for k in a if k.startswith("on") or k == "style"]


@EACH
def test_every_drawing_has_a_role_and_a_title(pages, which):
    page = pages[which]
    drawings = page.of("svg")
    assert drawings
    assert all(a["role"] == "img" and a["aria-labelledby"] for a, _ in drawings)
    assert len([1 for _, parents in page.of("title") if "svg" in parents]) == len(drawings)


def test_every_figure_has_a_table_of_its_numbers(pages):
    page = pages["keyed"]
    figures = page.of("figure")
    assert len([1 for _, parents in page.of("table") if "figure" in parents]) == len(figures) > 0


@EACH
def test_every_table_has_a_caption_and_scoped_heads(pages, which):
    page = pages[which]
    assert len(page.of("caption")) == len(page.of("table"))
    assert all(a.get("scope") in ("col", "row", "rowgroup") for a, _ in page.of("th"))


def test_rows_of_a_table_have_as_many_cells_as_its_head(reports):
    for report in reports.values():
        for table in re.findall("<table.*?</table>", ended(report.to_html()), re.DOTALL):
            widths = {width(row) for row in re.findall("<tr.*?</tr>", table, re.DOTALL)}
            assert len(widths) == 1, table[:300]


def test_hostile_names_are_text_on_the_page(pages):
    page = pages["hostile"]
    assert len(page.of("script")) == 1
    assert "<script>alert(1)</script>" in page.text
    assert '"><img src=x onerror=1>' in page.text


def test_template_marks_in_names_are_not_evaluated(pages):
    text = pages["hostile"].text
    assert "{{7*7}}" in text
    assert "→ 49" not in text


def test_direction_marks_are_replaced(pages, hostile):
    assert "\u202e" not in pages["hostile"].html + hostile.to_markdown()


def test_hostile_names_are_harmless_in_every_other_field():
    bad = "</style></script><script>alert(3)</script>"
    data = _empty()
    data["verdict"]["sentence"] = data["command"] = data["started"] = bad
    data["failed"] = [{"attack": bad, "why": bad}]
    data["notes"] = [bad]
    data["preconditions"] = [{"check": bad, "ok": False, "detail": bad}]
    data["schema"] = [{"name": bad, "kind": bad, "roles": [bad], "why": bad, "bins": bad}]
    data["settings"] |= {"unit": bad, "ignore": [bad], "keys": [bad]}
    data["positive_control"] = [
        {"kind": bad, "share": 0.1, "n_planted": 1, "verdict": bad, "n_judged": 1, "people": None, "note": bad}
        | {"smallest_share": None, "attacks": [], "method": bad}
        | {"found": [{"attack": bad, "risk": None, "low": None, "high": None, "without": False}]},
        {"kind": bad, "verdict": None, "note": bad, "found": [], "attacks": []},
    ]
    for worst in (
        [{"row": 1, "copied": True, "disclosed": bad, "highest_cap_target": bad}],
        [{"row": 1, "hit_score": 1.0, "reasons": bad, "highest_cap_target": bad}],
    ):
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
    assert set(blocks) <= {4, 5, 6, 7, 8, 10, 11}
    assert not re.search(r"(?<!\\)`c", hostile.to_markdown())


@pytest.mark.slow
def test_long_names_are_shortened():
    real, synthetic, holdout = tables(names=["k" * 5000, *"bcdef"])
    report = divulge.assess(
        real, synthetic, holdout=holdout, keys=["k" * 5000], targets=["b"], models=False, membership=False
    )
    assert "k" * 100 not in tables_of(report.to_html())


def test_the_page_shows_the_numbers_of_the_report(pages, keyed):
    text = pages["keyed"].text
    for r in keyed.data["results"]:
        if r["verdict"] is None or r["risk"] is None:
            continue
        assert f"{percent(r['real']['rate'])} " in text
        low, high = (limit(r["risk"][k]) for k in ("low_simultaneous", "high_simultaneous"))
        assert f"{low} to {high}" in text or f"{low} {high}" in text
        assert number(r["risk"]["value"]) in text


def test_members_stand_before_strangers_in_every_table(pages, searched):
    cells = re.findall(r'data-l="members">(.*?)</td><td data-l="strangers">(.*?)</td>', pages["searched"].html)
    shown = {tuple(cell.partition(" <")[0] for cell in both) for both in cells}
    sides = [(r["real"], r["holdout"]) for r in searched.data["results"]]
    assert shown <= {tuple(percent(side["rate"]) if side else "-" for side in both) for both in sides}
    assert any(members != strangers for members, strangers in shown)


def test_the_page_shows_counts_beside_rates(pages, keyed):
    r = next(r for r in keyed.data["results"] if r["attack"] == "copies")
    n = r["real"]["n"]
    assert f"{percent(r['real']['rate'])} {r['real']['hits']:,.0f} of {n}" in pages["keyed"].text


def test_the_table_has_every_comparison(pages, searched):
    table = re.search(
        r'<table class="small sortable[ n\d]*"><caption class="hidden">All comparisons.*?</table>',
        pages["searched"].html,
        re.DOTALL,
    )
    assert table
    n = sum(r["verdict"] is not None for r in searched.data["results"])
    assert table[0].count("<tr>") == n + 1


def test_every_attack_is_drawn(pages, searched):
    text = pages["searched"].html
    forest = text[text.index('<table class="forest">') : text.index('<h3 id="all">')]
    attacks = {r["attack"] for r in searched.data["results"] if r["verdict"] is not None}
    assert set(re.findall(r'scope="rowgroup">(\w+)', forest)) == attacks
    bands = sum((r["risk"] or {}).get("leak_free_low") is not None for r in judged(searched.data["results"]))
    assert 0 < forest.count('class="band"') <= bands


def test_an_excess_says_so_in_words_and_shape(pages, searched):
    assert searched.verdict == "excess found"
    html = pages["searched"].html
    assert '<h2 id="verdict">Excess found: evidence against release</h2>' in html
    assert "<title>divulge: excess found</title>" in html
    assert '<title id="verdict-icon-t">excess found</title>' in html


def test_minimal_key_sets_stand_there_without_a_verdict(pages, searched):
    assert searched.data["minimal_key_sets"]
    text = pages["searched"].text
    start = text.index("For each set of keys here")
    section = text[start : text.index(" stand out: ", start)]
    assert "without a verdict" in section
    assert "excess found" not in section


def test_what_was_not_tested_comes_before_the_numbers(pages):
    text = pages["keyed"].text
    first = text.index("Excess found")
    assert first < text.index("Not tested: reconstruction") < text.index("Attacker and data The attacker")


def test_what_was_not_tested_has_its_reason_beside_the_verdict(pages):
    reason = "no target has two values only"
    assert f"Not tested Reconstruction of secrets ({reason})." in pages["keyed"].text
    none = "Not tested Membership (it needs a holdout), reconstruction of secrets (it needs a holdout)."
    assert none in pages["alone"].text


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
    full = "spill: the disk is full"
    whys = {"tcap": "ValueError inside the attack", "dcr": full, "nndr": full, "hitting_rate": full}
    data["failed"] = [{"attack": a, "why": why} for a, why in [*whys.items(), ("dcr", full)]]
    for text in (Page(page(data, [])).text, markdown(data).replace("**", "")):
        assert "Failed, and missing here: tcap. ValueError inside the attack" in text
        assert "Failed, and missing here: dcr, nndr and hitting rate. spill: the disk is full" in text
    assert re.findall(r"! .* failed: .*", summary(data)) == [
        "! tcap failed: ValueError inside the attack",
        f"! dcr, nndr and hitting rate failed: {full}",
    ]


def test_exposed_records_are_for_the_custodian_alone(pages, keyed):
    html = pages["keyed"].html
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


def test_without_holdout_the_rates_are_shown(pages, alone):
    r = next(r for r in alone.data["results"] if r["attack"] == "modal_guess")
    for text in (pages["alone"].html, alone.to_markdown()):
        assert percent(r["real"]["rate"]) in text


@EACH
def test_words_that_promise_too_much_are_absent(pages, reports, which):
    for text in (pages[which].text, reports[which].to_markdown()):
        assert not AVOIDED.findall(text)


def test_no_data_value_is_on_the_page(pages, keyed):
    for text in (pages["keyed"].html, keyed.to_markdown()):
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
    n = sum(r["verdict"] is not None and not in_question(r) for r in searched.data["results"])
    text = searched.to_markdown()
    section = text[text.index("## Risks") : text.index("## Uniqueness")]
    assert section.count("\n| ") == 40 + 2
    assert f"{n - 40} more are in assessment.json" in section


# ---------------------------------------------------------------- distances


def result(report, attack, variant=""):
    return next(r for r in report.data["results"] if (r["attack"], r["variant"]) == (attack, variant))


ATTRACTED = [("dcr", "attraction"), ("nndr", "pointed"), ("identical_match_share", ""), ("authenticity", "")]


@pytest.mark.parametrize(("attack", "variant"), ATTRACTED)
def test_counts_of_synthetic_rows_are_not_called_people(pages, keyed, attack, variant):
    r = result(keyed, attack, variant)
    counted = r["context"].get("share of synthetic rows counted", 1.0)
    leak_free = percent(counted * r["context"]["leak-free share towards members"])
    members, strangers = (f"{compact(r[s]['hits'])} of {r[s]['n']} synthetic rows nearest to a" for s in SIDES)
    text = words(section(pages["keyed"].html, "risks"))
    assert text.count(f"{members} member (leak-free: {leak_free})") >= 2
    assert text.count(f"{strangers} stranger") >= 2
    assert f"({members} member; leak-free: {leak_free})" in keyed.to_markdown()
    assert f"{percent(r['real']['rate'])} of rows" in summary(keyed.data)


SIDES = ("real", "holdout")


def test_counts_of_people_have_no_such_words(keyed):
    r = result(keyed, "hitting_rate")
    assert not of_rows(r)
    assert f"{percent(r['real']['rate'])}  " in summary(keyed.data)
    assert f"{percent(r['real']['rate'])} of rows" not in summary(keyed.data)


@pytest.mark.parametrize(("attack", "variant"), ATTRACTED)
def test_each_judged_distance_measure_has_a_sentence(pages, keyed, attack, variant):
    r = result(keyed, attack, variant)
    n = r["real"]["hits"] + r["holdout"]["hits"]
    (told,) = (
        s for s in distances.sentences(keyed.data) if s["what"] == (f"{attack} ({variant})" if variant else attack)
    )
    assert told["verdict"] == r["verdict"]
    assert f"{compact(r['real']['hits'])} ({percent(r['real']['hits'] / n)}) have a member" in told["text"]
    assert f"leak-free data would give {percent(r['context']['leak-free share towards members'])}" in told["text"]
    assert f"{number(r['risk']['value'])} ({interval(r['risk'])})" in told["text"]
    assert told["text"] in words(section(pages["keyed"].html, "distances"))
    assert escaped(told["text"]) in keyed.to_markdown()


def test_rows_that_nobody_attracts_are_said_to_be_none(keyed):
    data = copy.deepcopy(keyed.data)
    for r in data["results"]:
        if r["attack"] == "identical_match_share":
            r["real"] |= {"hits": 0.0, "rate": 0.0}
            r["holdout"] |= {"hits": 0.0, "rate": 0.0}
    assert "No synthetic row equals a person, so there is nothing to share out." in Page(page(data, [])).text


def test_people_who_are_hit_stand_beside_strangers(pages, keyed):
    r = result(keyed, "hitting_rate")
    text = words(section(pages["keyed"].html, "distances"))
    for role, who in zip(SIDES, ("members", "strangers"), strict=True):
        assert f"{compact(r[role]['hits'])} of {r[role]['n']} {who} ({percent(r[role]['rate'])})" in text


VALUED = [
    ("dcr", "synthetic rows", distance), ("dcr", "people", distance), ("nndr", "ratio", distance),
    ("identical_match_share", "", percent), ("authenticity", "", percent),
    ("epsilon_identifiability", "published", percent), ("nnaa", "", distance),
]  # fmt: skip


@pytest.mark.parametrize(("attack", "variant", "shown"), VALUED)
def test_values_of_distance_measures_are_shown(pages, keyed, attack, variant, shown):
    value = result(keyed, attack, variant)["value"]
    name = f"{attack} ({variant})" if variant else attack
    row = next(r for r in section(pages["keyed"].html, "distances").split("<tr>") if f"<small>{name}</small>" in r)
    assert re.findall(r"<td>(.*?)</td>", row)[:2] == [shown(value["real"]), shown(value["holdout"])]
    assert re.search(r'<td class="words">.+?</td>', row)


@pytest.mark.parametrize("variant", ["uniform", "permuted columns"])
def test_the_ratio_to_noise_stands_beside_that_of_the_holdout(keyed, variant):
    r = result(keyed, "dcr_baseline", variant)
    (row,) = (v for v in distances.values(keyed.data) if (v["attack"], v["variant"]) == ("dcr_baseline", variant))
    assert (row["real"], row["leak_free"]) == (distance(r["value"]["synthetic"]), distance(r["value"]["holdout"]))


def test_the_privacy_loss_stands_beside_zero(keyed):
    r = result(keyed, "nnaa")
    (row,) = (v for v in distances.values(keyed.data) if v["what"] == "privacy loss")
    assert (row["real"], row["leak_free"]) == (distance(r["context"]["privacy loss"]), "0")


DRAWN = [("dcr", "people"), ("dcr", "synthetic rows"), ("nndr", "ratio"), ("exposure", "hit"), ("exposure", "outliers")]


@pytest.mark.parametrize(("attack", "variant"), DRAWN)
def test_curves_stand_beside_a_table_of_their_quantiles(pages, keyed, attack, variant):
    curves = result(keyed, attack, variant)["curves"]
    names = [n for n in curves if n != "share"]
    figures = re.findall("<figure>.*?</figure>", section(pages["keyed"].html, "distances"), re.DOTALL)
    (figure,) = (f for f in figures if f"({attack} ({variant}))" in f)
    assert figure.count('class="curve ') == 2 * len(names)  # the line, and its sign in the legend
    cells = re.findall(r'<tr><th scope="row">([\d.]+)%</th><td>(.*?)</td><td>(.*?)</td>', figure)
    assert len(cells) == 15
    for share, *shown in cells:
        place = round(float(share))
        assert shown == [distance(curves[n][place]) for n in names]


def test_the_hit_scores_may_be_negative_and_are_drawn(keyed):
    assert min(result(keyed, "exposure", "hit")["curves"]["members"]) < 0


def test_distances_are_left_out_of_the_other_measures(pages):
    text = section(pages["keyed"].html, "uniqueness")
    table = text[text.index('aria-label="Measures without a verdict"') :]
    assert "t_closeness" in table
    assert not re.search("dcr|nnaa|exposure|authenticity", table)


def test_without_a_holdout_distances_have_one_side(pages, alone):
    text = section(pages["alone"].html, "distances")
    assert text.count("<figure>") == len(DRAWN)
    assert text.count('class="curve ') == 2 * len(DRAWN)
    assert "strangers</text>" not in text
    assert "without a leak" not in text
    assert distance(result(alone, "dcr", "people")["value"]["real"]) in words(text)


def test_measures_that_need_strangers_are_not_counted_without_them(pages, alone):
    assert result(alone, "dcr", "attraction")["verdict"] == "no holdout"
    assert "dcr" not in {row["attack"] for row in by_attack(alone.data)}
    assert "dcr" not in words(section(pages["alone"].html, "risks"))


@pytest.mark.first(1)
@pytest.mark.parametrize("missing", [["distance"], ["exposure"], ["distance", "exposure"]])
def test_families_that_were_not_run_are_left_out(pages, keyed, missing):
    data = copy.deepcopy(keyed.data)
    away = {a for a, about in data["attacks"].items() if about["family"] in missing}
    data["results"] = [r for r in data["results"] if r["attack"] not in away]
    data["attacks"] = {a: about for a, about in data["attacks"].items() if a not in away}
    data["failed"] = [{"attack": a, "why": "ValueError inside the attack"} for a in sorted(away)]
    text = page(data, [])
    Page(text)
    drawn = [*(a for a, _ in DRAWN), "dcr", "exposure"]  # the last two among the evidence too
    assert text.count("<figure>") == pages["keyed"].html.count("<figure>") - sum(a in away for a in drawn)
    assert ('id="distances"' in text) == (len(missing) == 1)
    assert ("## Distances" in markdown(data)) == ("distance" not in missing)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.0, "0"), (-1e-15, "0"), (0.088, "0.0880"), (1.0, "1.00"), (-0.12345, "-0.123"), (123.4, "123"), (1e-6, "<0.0001")]
    + [(-1e-6, ">-0.0001"), (12345.6, "12,346"), (None, "-")],
)  # fmt: skip
def test_distances_have_three_digits(value, shown):
    assert distance(value) == shown


@EACH
def test_no_number_is_minus_zero(pages, reports, which):
    for text in (pages[which].text, reports[which].to_markdown(), summary(reports[which].data)):
        assert not re.search(r"(?<![\d.])-0(\.0+)?%?(?![\d.,])", text)


def points(svg):
    """Return the ends of the lines of a drawing, the legend left out."""
    paths = re.findall(r'class="curve [^"]*" d="M([\d.]+) ([\d.]+)((?:l[-\d. ]+)+)"', svg)
    number = r"(-?(?:\d+\.?\d*|\.\d+))"
    out = []
    for x, y, rest in paths:
        ends = [(float(x), float(y))]
        for dx, dy in re.findall(rf"l{number} ?{number}", rest):  # each by so much from the one before
            ends.append((round(ends[-1][0] + float(dx), 2), round(ends[-1][1] + float(dy), 2)))
        out.append(ends)
    return out


def drawn(*values, shares=(0.0, 0.5, 1.0)):
    names = ("members", "strangers")
    return points(
        cumulative("u", "t", "d", shares, [Series(n, n, v) for n, v in zip(names, values, strict=False)], x_label="x")
    )


LEFT, RIGHT, BOTTOM, TOP = 46, 348, 196, 30


def test_a_cumulative_line_goes_through_its_quantiles():
    (line,) = drawn([0.0, 0.5, 1.0])
    assert line == [(LEFT, BOTTOM), ((LEFT + RIGHT) / 2, (TOP + BOTTOM) / 2), (RIGHT, TOP)]


def test_lines_share_one_axis_and_reach_both_edges():
    near, far = drawn([0.0, 0.1, 0.5], [0.5, 0.9, 1.0])
    assert [near[0], far[0]] == [(LEFT, BOTTOM)] * 2
    assert [near[-1], far[-1]] == [(RIGHT, TOP)] * 2
    assert ((LEFT + RIGHT) / 2, TOP) in near
    assert ((LEFT + RIGHT) / 2, BOTTOM) in far


def test_a_long_tail_is_cut_where_the_last_percent_begins():
    shares = [i / 100 for i in range(101)]
    (line,) = drawn([*shares[:100], 50.0], shares=shares)
    assert line[-1] == (RIGHT, pytest.approx(TOP + 0.01 * (BOTTOM - TOP), abs=0.1))


@pytest.mark.parametrize("value", [0.0, 0.3, -2.0])
def test_equal_values_are_one_step(value):
    (line,) = drawn([value] * 3)
    assert {y for _, y in line} == {TOP, BOTTOM}


def test_lines_without_values_are_left_out():
    assert drawn([None, None, None]) == []
    assert len(drawn([0.0, None, 1.0], [])) == 1


# ---------------------------------------------------------------- exposed people


def test_the_most_exposed_people_are_listed_with_their_scores(pages, keyed):
    text = section(pages["keyed"].html, "exposed")
    rows = re.findall(r'<tr><th scope="row".*?</tr>', text, re.DOTALL)
    worst = keyed.records().head(50).to_dicts()
    assert len(rows) == len(worst) == 50
    for row, w in zip(rows, worst, strict=True):
        cells = [words(c) for c in re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL)]
        assert cells[:8] == [
            compact(w["row"]), "yes" if w["flagged"] else "no", distance(w["hit_score"]), p_text(w["p_value"]),
            percent(w["exposure_rank"]), distance(w["distance_to_synthetic"]), distance(w["distance_to_person"]),
            compact(w["attraction"]),
        ]  # fmt: skip


def test_how_many_are_flagged_is_told_above_the_list(pages, keyed):
    told, text = flags(keyed.data["records"]), words(section(pages["keyed"].html, "exposed"))
    assert f"{keyed.data['records']['flagged']} of {keyed.data['records']['n']} real records are flagged" in told
    assert told in text
    assert text.index(told) < text.index("do not publish")
    assert f"of strangers {percent(keyed.data['records']['exposed_share_strangers'])}" in text


def test_without_a_holdout_nobody_is_flagged(pages):
    text = words(section(pages["alone"].html, "exposed"))
    assert "are flagged" not in text
    assert "hit score" in text


def test_records_without_exposure_keep_their_list(keyed):
    worst = [{"row": 7, "copied": True, "replicated_unique": False, "n_disclosed": 2, "disclosed": "income"}]
    text = words(section(page(keyed.data, worst), "exposed"))
    assert "targets disclosed" in text
    assert "hit score" not in text


def test_reasons_are_text_and_not_endless():
    reasons = "alone on <script>alert(1)</script> + " + "k" * 5000 + " age" * 500
    data = _empty()
    data["records"] = dict.fromkeys(
        ("n", "exposed", "copied", "replicated_unique", "disclosed", "file", "flagged", "exposed_share")
    ) | {"exposed_share_strangers": None}
    text = page(data, [{"row": 1, "hit_score": 1.5, "flagged": None, "reasons": reasons}])
    assert len(Page(text).of("script")) == 1
    assert "<script>alert(1)</script>" in Page(text).text
    assert "k" * 100 not in text
    assert len(brief(reasons, 220)) <= 220


# ---------------------------------------------------------------- near copies on part of the columns


def test_near_copies_on_many_sets_are_folded(pages, searched):
    parts = [r for r in judged(searched.data["results"]) if on_part(r)]
    assert len(parts) > 20
    html = pages["searched"].html
    text = section(html, "uniqueness")
    assert f"<summary>{len(parts) - 5} more sets of columns</summary>" in text
    before, after = text.split("more sets of columns</summary>")
    rows = [part.count('<th scope="row">copies (near on') for part in (before, after.split("</details>")[0])]
    assert rows == [5, len(parts) - 5]
    forest = html[html.index('<table class="forest">') : html.index('<h3 id="all">')]
    assert forest.count("<b>near on") == 5
    assert summary(searched.data).count("copies (near on") <= 3
    listed = searched.to_markdown()
    assert listed[listed.index("## Risks") : listed.index("## Uniqueness")].count("copies (near on") <= 5


def test_near_copies_name_their_columns(pages, searched):
    worst = next(r for r in judged(searched.data["results"]) if on_part(r))
    label = f"copies ({worst['variant']}): {' + '.join(worst['keys'])}"
    assert label in words(section(pages["searched"].html, "uniqueness"))


def test_columns_of_copies_are_not_taken_for_known_keys(pages, keyed):
    assert "Known in every comparison of key and target: age + job." in words(section(pages["keyed"].html, "risks"))
    assert "Known: age + job" in summary(keyed.data)


# ---------------------------------------------------------------- the positive control


def test_the_positive_control_says_how_to_run_it(pages):
    assert "Not run: --positive-control 0.01" in words(section(pages["keyed"].html, "calibration"))
    assert "it needs a holdout" in words(section(pages["alone"].html, "calibration"))


@pytest.mark.slow
def test_each_kind_of_plant_has_a_row_and_a_table(pages, hostile):
    text = section(pages["hostile"].html, "calibration")
    kinds = hostile.data["positive_control"]
    assert len(kinds) == 3
    for c in kinds:
        row = next(r for r in text.split("<tr>") if f'<th scope="row">{c["kind"]}</th>' in r)
        cells = re.findall("<td>([^<]*)</td>", row)
        new = sum(f["without"] is False for f in c["found"])
        people = c["people"]
        assert cells == [
            str(c["n_planted"]), f"{len(c['found'])} of {c['n_judged']}", str(new),
            f"{people['flagged']} of {people['planted']}", str(people["others_flagged"]),
            str(people["flagged_without"]),
        ]  # fmt: skip
        assert f'<span class="v excess">{c["verdict"]}</span>' in row
        assert f"{c['kind'].capitalize()}</h4>" in text
    assert f"With copies in {percent(kinds[0]['share'])} of the synthetic rows" in words(text)


@pytest.mark.slow
def test_each_attack_stands_with_what_it_saw(pages, hostile):
    c = hostile.data["positive_control"][0]
    rows = {row["attack"]: row for row in distances.control_tables(hostile.data)[0]["rows"]}
    for f in c["found"]:
        assert f["attack"].startswith(tuple(rows))
    assert sum(row["n"] for row in rows.values()) == len(c["found"])
    text = section(pages["hostile"].html, "calibration")
    for name, row in rows.items():
        assert f'<th scope="row">{name}</th>' in text
        if row["clearest"]:
            f = row["clearest"]
            assert f"{number(f['risk'])} <small>{limit(f['low'])} to {limit(f['high'])}</small>" in words_kept(text)


def test_only_what_shows_none_without_the_plant_counts_as_new():
    def found(attack, without):
        return {"attack": attack, "risk": 0.1, "low": 0.05, "high": 0.2, "without": without}

    control = {"found": [found("cap: a -> b", True), found("cap: b -> a", None), found("cap: c -> a", False)]}
    least = {"attack": "dcr (attraction)", "smallest_share": 0.02}
    (kind,) = distances.control_tables({"positive_control": [control | {"attacks": [least]}]})
    cap, dcr = kind["rows"]
    assert (kind["new"], cap["n"], cap["new"], cap["clearest"]["attack"]) == (1, 3, 1, "cap: c -> a")
    assert (dcr["attack"], dcr["n"], dcr["smallest"]) == ("dcr", 0, 0.02)


def words_kept(html):
    return html.replace("&lt;", "<").replace("&gt;", ">")


@pytest.mark.slow
def test_names_in_the_positive_control_are_text(pages):
    text = Page(section(pages["hostile"].html, "calibration"))
    assert not text.of("script")
    assert "{{7*7}}" in text.text


@pytest.mark.parametrize(("share", "shown"), [(0.0, None), (0.02, 0.02), (1.0, 1.0), (1.5, None), (None, None)])
def test_a_share_that_nothing_bounds_is_not_shown(share, shown):
    assert share_seen({"smallest_share": share}) == shown


@pytest.mark.slow
def test_a_plant_that_nobody_saw_is_said_so(hostile):
    data = copy.deepcopy(hostile.data)
    for c in data["positive_control"]:
        c |= {"verdict": "cannot tell", "found": [], "people": None, "attacks": []}
    data["positive_control"][2] |= {"verdict": None, "note": "no column to change"}
    text = words(section(page(data, []), "calibration"))
    assert "It shows none for random people and unusual people: a table that gives people away" in text
    assert "Nothing could be planted for near copies." in text
    assert "no column to change" in text
    assert "Nothing could be planted" in markdown(data)


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


@pytest.mark.slow
@pytest.mark.first(1)
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


@pytest.mark.first(1)
@EACH
def test_missing_parts_render(reports, which):
    data = copy.deepcopy(reports[which].data)
    for r in data["results"]:
        r |= dict.fromkeys(("real", "holdout", "baseline", "difference", "value", "risk", "score"))
        r |= {"context": {}, "curves": {}, "notes": []}
    data["records"] = None
    Page(page(data, [{"row": None, "highest_cap": None}]))
    markdown(data)


@pytest.mark.slow
def test_hundreds_of_comparisons_stay_below_a_megabyte_and_a_half(searched):
    data = copy.deepcopy(searched.data)
    data["results"] = (data["results"] * 40)[:3000]
    for i, r in enumerate(data["results"]):
        data["results"][i] = r | {"keys": ["a_rather_long_column_name"] * 3}
    assert len(page(data, []).encode()) < 1_500_000
    assert "more of" in page(data, [])


def test_the_same_dict_gives_the_same_page(keyed):
    assert page(keyed.data, []) == page(json.loads(json.dumps(keyed.data)), [])


# ---------------------------------------------------------------- schema


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(assessment_schema())


@pytest.mark.first(1)
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
    published = Path(__file__).parents[2] / "docs" / "assessment.schema.json"
    hint = "write divulge.report.schema.schema_text() there"
    assert published.read_text(encoding="utf-8") == schema_text(), hint


@pytest.mark.parametrize("field", ["verdict", "holdout", "notes"])
def test_a_result_that_lacks_a_field_is_a_changed_report(field, keyed):
    data = json.loads(keyed.to_json())
    del data["results"][-1][field]
    with pytest.raises(divulge.SettingError, match=r"damaged at \$\.results\[\.\.\.\]: a field is absent"):
        type(keyed).from_dict(data)


@pytest.mark.parametrize("how", ["shorter", "empty", "longer"])
def test_curves_of_different_lengths_are_a_changed_report(how, unsearched):
    data = json.loads(unsearched.to_json())
    drawn = [r for r in data["results"] if len(r["curves"]) > 1]
    assert drawn
    for result in drawn:
        name = next(iter(result["curves"]))
        before = result["curves"][name]
        result["curves"][name] = {"shorter": before[:-1], "empty": [], "longer": [*before, 0.5]}[how]
        with pytest.raises(
            divulge.SettingError, match=r"damaged at \$\.results\[\d+\]\.curves: of different lengths\. hint: "
        ):
            type(unsearched).from_dict(data)
        result["curves"][name] = before
        nobody = next((n for n in result["curves"] if n in ("members", "strangers", "real")), None)
        if nobody:
            result["curves"][nobody], before = [], result["curves"][nobody]
            type(unsearched).from_dict(data)
            result["curves"][nobody] = before
    assert type(unsearched).from_dict(data).to_dict() == unsearched.to_dict()
