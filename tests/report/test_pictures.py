"""The pictures of the first pages: bars of people, the map of columns, key sets, the forest of the main comparisons."""

import re

import pytest
from test_first_page import CALM, EXACT, NEAR, bound, found, report

from divulge.report.documents import html_bars, html_figures, html_front
from divulge.report.documents.html import page
from divulge.report.prose.column_map import column_map
from divulge.report.prose.compared import Bar, bars
from divulge.report.prose.tiles import tiles


def widths(svg):
    return [float(w) for w in re.findall(r'<rect class="bar f-\w+" x="[\d.]+" y="[\d.]+" width="([\d.]+)"', str(svg))]


@pytest.mark.parametrize(
    ("share", "end"), [(0.0, 0.05), (0.05, 0.05), (0.051, 0.1), (0.3, 0.5), (0.9, 1.0), (None, 0.05)]
)
def test_the_axis_of_shares_ends_at_a_round_number(share, end):
    assert html_bars.top([share, 0.0]) == end


def test_bars_are_as_long_as_their_shares_on_one_axis():
    rows = [("a", (Bar("members", "members", 0.5, "5 of 10"), Bar("strangers", "strangers", 0.25, "x"))),
            ("b", (Bar("members", "members", 0.1, "1 of 10"),))]  # fmt: skip
    one, two, three = widths(html_bars.paired("u", "t", rows))
    assert one == pytest.approx(2 * two)
    assert one == pytest.approx(5 * three, abs=0.3)


def test_the_longest_share_of_a_narrow_axis_fills_it():
    rows = [("a", (Bar("members", "members", 0.05, ""),)), ("b", (Bar("members", "members", 0.025, ""),))]
    one, two = widths(html_bars.paired("u", "t", rows))
    assert (one, two) == (162.0, 81.0)


def test_the_common_scale_shows_every_interval():
    far = found("copies", 1600, 100, "cannot tell", variant="near on 2 columns", keys=("zip", "job"))
    scale = html_figures.common_scale(report(EXACT, *CALM, far))
    assert scale.high >= 0.77
    assert scale.low <= -0.0155


def test_strangers_are_told_apart_without_colour():
    drawn = [str(html_bars.single("u", Bar(who, who, 0.5, ""))) for who in ("members", "strangers")]
    assert ["notch" in d for d in drawn] == [False, True]


def test_a_drawing_says_its_numbers_to_a_screen_reader():
    rows = [("word for word", bars(report(EXACT).results[0]))]
    text = str(html_bars.paired("u", "Copies", rows))
    assert '<title id="ut">Copies</title>' in text
    assert "word for word: members 100 of 2,000 (5%), strangers 0 of 2,000 (0%)." in text


def test_the_map_has_a_row_for_each_column_and_marks_what_was_found():
    part = found("copies", 90, 1, "excess found", variant="near on 2 columns", keys=("zip", "job"))
    secret = found("inference", 900, 890, "none found", variant="nearest record", target="income")
    keyed = found("cap", 700, 500, "excess found", variant="zero", keys=("age",), target="income")
    data = report(EXACT, part, secret, keyed)
    got = column_map(data)
    assert got.heads == ("carries copies", "guessed from all others", "read off the keys")
    cells = {c: [cell and cell.verdict for cell in row] for c, row in got.rows}
    assert cells == {
        "income": [None, "none found", "excess found"], "zip": ["excess found", None, None],
        "job": ["excess found", None, None],
    }  # fmt: skip
    assert next(iter(cells)) == "income"
    assert '<span class="hidden">excess found</span>' in page(data, [])


def test_a_finding_is_shown_before_a_larger_risk():
    wide = found("inference", 900, 500, "cannot tell", variant="model", target="income")
    sure = found("inference", 800, 720, "excess found", variant="nearest record", target="income")
    ((_, (cell,)),) = column_map(report(wide, sure)).rows
    assert (cell.verdict, cell.shade) == ("excess found", 2)


def test_a_risk_that_is_no_finding_has_no_shade():
    wide = found("inference", 900, 500, "cannot tell", variant="model", target="income")
    ((_, (cell,)),) = column_map(report(wide)).rows
    assert (cell.risk, cell.shade) == (pytest.approx(0.2), 0)
    gap = found("inference", 500, 900, "deficit found", variant="model", target="income")
    assert column_map(report(gap)).rows[0][1][0].shade == 4


def test_each_question_has_a_picture_that_says_what_a_clean_table_looks_like():
    data = report(EXACT, NEAR, *CALM[1:])
    drawn = html_front.questions_drawn(data, tiles(data))
    assert [d["t"].id for d in drawn if d["chart"] is not None] == [
        "copies",
        "singling_out",
        "linkability",
        "inference",
    ]
    text = page(data, [])
    assert all(d["t"].clean in text for d in drawn if d["chart"] is not None)


def test_key_sets_are_shown_by_the_number_of_people():
    sets = [
        {"keys": ["age"], "target": "job", "n_disclosed": n, "share": n / 2000, "synthetic_share": 0.1}
        for n in (3, 90, 40)
    ]
    told = html_front.risky_sets(report(EXACT, minimal_key_sets=sets))
    assert [b[0].told for _, b in told["rows"]] == ["90 people (4.5%)", "40 people (2.0%)", "3 people (0.1%)"]
    withheld = [s | {"n_disclosed": None} for s in sets]
    assert html_front.risky_sets(report(EXACT, minimal_key_sets=withheld))["rows"] == []


def test_the_main_comparisons_are_those_that_the_verdict_rests_on():
    data = report(EXACT, *CALM, bounds=[bound(EXACT), bound(CALM[2], limit=0.2)])
    text = page(data, [])
    table = re.search(r'<table class="forest one-axis">.*?</table>', text, re.DOTALL)[0]
    assert re.findall(r'<th scope="row">(?:<bdi>)?(.*?)<', table) == ["copies, word for word", "linkability"]
    assert "0.200 (too wide)" in table


def test_without_a_comparison_no_picture_is_drawn():
    data = report(verdict="cannot tell")
    text = page(data, [])
    assert "one-axis" not in text[text.index("<body>") :]
    assert column_map(data).rows == ()
