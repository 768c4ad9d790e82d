"""What a table keeps on the page: the tile, the plane, the map of pairs, small pictures of columns, and in words."""

import re
from itertools import pairwise

import pytest
from kept_helpers import SCOPE, kept, marginal
from report_helpers import AVOIDED, HOSTILE, Page, assessment, change, external, judge_policy, plain, section, words
from test_first_page import CALM, EXACT, bound
from test_first_page import report as made

from divulge.report.documents.html import page
from divulge.report.documents.markdown import markdown
from divulge.report.documents.terminal import summary
from divulge.report.prose import use
from divulge.report.prose.advice import advice
from divulge.report.prose.contradictions import contradictions
from divulge.report.prose.decision import decision, headline
from divulge.report.prose.tiles import representative_risk, tiles

NAMES = ("age", "zip", "income", "job")


PAIRS = [kept(0.5 + i, "differs" if i else "like a fresh sample", columns=p)
         for i, p in enumerate([("age", "zip"), ("age", "job"), ("income", "zip")])]  # fmt: skip


def report(ruler=1.6, of_pairs="differs", *results, scope=SCOPE, more=(), **parts):
    head = kept(ruler, of_pairs, context={"compared": 3})
    found = [head, *PAIRS, kept(0.2, "like a fresh sample", measure="validity"), *more]
    given = {"verdict": "none found", "fidelity": found, "fidelity_scope": scope} | parts
    return made(*(results or CALM), bounds=[bound(r) for r in (results or CALM)], **given)


def use_tile(data):
    return tiles(data)[-1]


# ---------------------------------------------------------------- in words


@pytest.mark.parametrize(
    ("ruler", "verdict", "said"),
    [
        (
            1.6,
            "differs",
            "1.60 times as far from the real table as a new sample of people would be: more than chance gives. 2 of 3",
        ),
        (
            1.0,
            "like a fresh sample",
            "1.00 times as far from the real table as a new sample of people would be: no difference",
        ),
        (
            0.8,
            "differs",
            "On average pairs of columns are 0.80 times as far from the real table as a new sample of people "
            "would be, yet 2 of 3 pairs of columns differ beyond chance.",
        ),
        (1.1, "cannot tell", "too few rows to say whether that matters."),
        (
            0.8,
            "closer than a fresh sample",
            "0.80 times as far from the real table as a new sample of people would be: closer",
        ),
    ],
)
def test_the_tile_has_a_state_a_number_and_a_sentence(ruler, verdict, said):
    tile = use_tile(report(ruler, verdict))
    assert (tile.id, tile.state) == ("use", verdict)
    assert said in tile.sentence
    assert tile.bars[0].told == f"{ruler:.2f}" and tile.bars[1].told == "1 (0.90 to 1.10)"
    assert max(b.share for b in tile.bars) <= 1
    assert tile.bars[0].share / tile.bars[1].share == pytest.approx(ruler)


def test_counts_that_are_too_close_are_told_in_both_halves():
    close = report(0.5, "closer than a fresh sample", scope=SCOPE | {"too_close": True}, verdict="cannot tell")
    assert "Rows drawn from the real table itself would be farther away." in use_tile(close).sentence
    assert headline(close).endswith(
        "No leak was found, yet one is possible: pairs of columns are closer to the real table than chance allows."
    )
    assert any("cannot say “none found”" in c for c in contradictions(close))
    assert any("how the counts or correlations of pairs of columns came so near" in a.do for a in advice(close))


def test_closer_than_another_sample_is_no_contradiction_by_itself():
    closer = report(0.8, "closer than a fresh sample")
    assert any("without copying anybody" in c for c in contradictions(closer))
    found = report(0.8, "closer than a fresh sample", EXACT, verdict="excess found")
    for data in (report(), found):
        assert not any("counts" in c or "Pairs" in c for c in contradictions(data))


def test_rows_that_a_model_sees_in_both_tables_are_told_beside_no_finding():
    seen = kept(None, "closer than a fresh sample", measure="detection", quantity="AUC")
    assert any("synthetic rows repeat real ones" in c for c in contradictions(report(more=[seen])))


def test_numbers_that_never_leave_the_real_range_are_told_where_extremes_were_copied():
    ends = {"extremes of one person": 2, "of these in the synthetic table": 1}
    columns = [kept(0, "like a fresh sample", columns=(c,), measure="validity", variant="out of range", value=0.0, context=ends)
               for c in ("age", "zip", "income", "job")]  # fmt: skip
    people = {"synthetic rows with an extreme of one person": 1200, "strangers with an extreme of one person": 1}

    def told(p, columns=columns):
        head = kept(0.2, "closer than a fresh sample", measure="validity", context=people | {"p of copied extremes": p})
        return [c for c in contradictions(report(fidelity=[head, *columns])) if "real range" in c]

    assert told(0.01) == [
        "No synthetic number of age, zip, income and 1 more column is outside the real range, and that is no merit: 4 "
        "of 8 smallest or largest values that one person alone has there occur in the synthetic table. Over all "
        "columns, 1,200 synthetic rows and 1 stranger have such a value: extremes were copied."
    ]
    assert told(0.2) == told(0.01, []) == []


def test_a_group_of_a_result_stands_beside_its_columns():
    seen = kept(7.0, "differs", measure="subgroups", columns=("age", "zip"), group="'sex' group 2: f")
    data = report(more=[kept(3.0, "differs", measure="subgroups"), seen])
    assert "    - subgroups: age + zip, 'sex' group 2: f: distance 0.700, ruler 7.0" in plain(markdown(data))
    assert "age + zip, 'sex' group 2: f" in words(page(data, []))


def test_few_lines_on_a_terminal_and_a_table_in_markdown():
    text = summary(report(), width=110)
    assert (
        "Fidelity: column pairs: differs, 1.60 times a fresh sample's distance (0.90 to 1.10 by chance); 2 of 3" in text
    )
    assert "Fidelity: like a fresh sample: validity." in text
    leads = ("age and job do not belong together as in the real table; 1 result shows it",)
    leads += ("income and zip do not belong together as in the real table; 1 result shows it",)
    assert text.count("Fidelity") == 3 + len(leads)
    assert [text.index(f"Fidelity: {lead}.") < text.index("Fidelity: column pairs") for lead in leads] == [True, True]
    told = markdown(report())
    assert "| column pairs | ▲ differs | 0.160 | 0.090 to 0.110 | 1.600 | - |" in told
    assert f"- **{leads[1]}**\n    - column pairs: income + zip: distance 0.250, ruler 2.5\n" in told
    seen = words(page(report(), []))
    assert seen.index(leads[0]) < seen.index("Validity")


@pytest.mark.parametrize("data", [report(), report(0.8, "closer than a fresh sample"), report(1, "cannot tell")])
def test_the_words_are_plain(data):
    d = decision(data)
    for text in (use_tile(data).sentence, use_tile(data).question, *d.contradictions, use.silent_line(data)):
        assert not AVOIDED.search(text) and "(s)" not in text and "_" not in text


# ---------------------------------------------------------------- pictures


def test_the_page_draws_plane_map_and_columns():
    html = page(report(), [])
    Page(html)
    part = section(html.replace('class="kept" ', ""), "kept")
    assert 'aria-labelledby="planet' in part and 'aria-labelledby="pair-mapt' in part
    assert part.count('class="small-chart"') == 2
    assert part.count('class="cell r') == 3  # one for each pair
    assert "1.5▴" in part and "2.5▴" in part
    said = words(part)
    assert "Fidelity not compared: detection (it fits models); column memo (free text)." in said
    assert "rows drawn from the real table itself (0.71)" in said
    assert "The values themselves are left out." in said


def test_the_plane_shows_the_finding_or_the_widest_main_test():
    assert representative_risk(report(1, "cannot tell", EXACT, *CALM, verdict="excess found")).attack == "copies"
    wide = representative_risk(report())
    limits = {r["attack"]: r["risk"]["high_simultaneous"] for r in CALM}
    assert wide.attack == max(limits, key=limits.get)


def test_verdicts_of_risk_keep_their_colours():
    html = page(report(1, "cannot tell", *CALM, verdict="cannot tell"), [])
    assert "banner b-unsure" in html and '<span class="v unsure">cannot tell</span>' in html


def test_columns_by_which_a_model_tells_are_drawn():
    told = {"column_1": "age", "drop_1": 0.21, "column_2": "job", "drop_2": 0.02}
    data = report(more=[kept(None, "differs", measure="detection", quantity="AUC", value=0.8, context=told)])
    html = page(data, [])
    assert "AUC falls by 0.210" in html and "What tells synthetic rows from real ones" in html


def test_a_value_that_is_no_distance_says_what_it_is():
    told = [kept(None, "differs", measure="detection", quantity="AUC", value=0.71, variant="gradient boosting")]
    use_of, without = (re.search("<caption>Use</caption>.*?</table>", page(d, []), re.DOTALL)[0]
                       for d in (report(more=told), report()))  # fmt: skip
    assert "detection <small>AUC</small>" in use_of and '<th scope="col" class="n">value</th>' in use_of
    assert '<th scope="col" class="n">distance</th>' in without


def test_values_are_shown_only_where_they_were_asked_for():
    scope = SCOPE | {"marginals": [marginal("job", ["nurse", "<b>clerk</b>"])]}
    html = page(report(scope=scope, revealed=("values",)), [])
    assert "nurse" in html and "&lt;b&gt;clerk" in html and "left out" not in words(section(html, "columns-kept"))
    assert "and the pictures of columns have their values and shares. Do not pass it on." in words(html)


def test_every_column_is_drawn_and_those_beyond_the_first_are_folded():
    scope = SCOPE | {"marginals": [marginal(f"c{i:02}") for i in range(30)]}
    drawn = section(page(report(scope=scope), []), "columns-kept")
    assert drawn.count("<svg") == 30 and "<summary>6 more columns</summary>" in drawn
    assert "more column" not in section(page(report(), []), "columns-kept")


def test_names_cannot_break_the_page():
    pairs = [kept(2.0, "differs", columns=(a, b)) for a, b in pairwise(HOSTILE)]
    scope = SCOPE | {"marginals": [marginal(h) for h in HOSTILE]}
    shapes = [kept(2.0, "differs", measure="column_shapes", columns=(h,)) for h in HOSTILE]
    html = page(report(more=[*pairs, *shapes], scope=scope), [])
    parsed = Page(html)
    assert len(parsed.of("script")) == 1 and not parsed.of("img")
    assert not any(name.startswith("on") for _, attrs, _ in parsed.tags for name in attrs)


def test_an_external_page_has_verdicts_and_no_picture_of_a_column():
    data = assessment(external(plain(report())))
    html = page(data, [])
    part = section(html.replace('class="kept" ', ""), "kept")
    assert "differs" in part and "small-chart" not in part and "<svg" not in part
    assert not re.search(r"1\.6|0\.16|0\.71", words(part))
    assert use_tile(data).sentence == "Pairs of columns: more than chance gives. This edition withholds the number."
    assert "memo" not in html


def test_a_report_without_fidelity_has_no_such_section():
    html = page(report(fidelity=[], fidelity_scope=None), [])
    assert 'id="kept"' not in html and 'href="#kept"' not in html


# ---------------------------------------------------------------- rules, and the change since a baseline

SHAPES = kept(0.6, "closer than a fresh sample", measure="column_shapes")


def test_an_external_edition_keeps_the_condition_and_withholds_the_number():
    data = report()
    rules = ["column_pairs.ruler > 3", "column_pairs[age + zip].ruler > 0.1", "any differs"]
    policy = judge_policy(plain(data), None, rules)
    outside = external(plain(data) | {"policy": policy})["policy"]["conditions"][-3:]
    assert [c["condition"] for c in outside] == [
        "column_pairs: ruler at most 3", "column_pairs (…): ruler at most 0.1", "all measures: no result differs from a fresh sample",
    ]  # fmt: skip
    assert [c["found"] for c in outside] == ["…"] * 3
    assert [c["kept"] for c in outside] == [True, False, False]


# ---------------------------------------------------------------- since a baseline


def limits(r, excess, low, high):
    return r | {"excess": excess, "low": low, "high": high}


def test_the_change_of_fidelity_has_limits_for_all_measures_together():
    before = [limits(kept(1.0, "like a fresh sample"), 0.0, 0.0, 0.01), limits(SHAPES, 0.0, 0.0, 0.01)]
    now = [limits(kept(3.0, "differs"), 0.2, 0.18, 0.22), limits(SHAPES, 0.001, 0.0, 0.01)]
    data, previous = report(fidelity=now), report(fidelity=before)
    found = change(plain(data), plain(previous))["fidelity"]
    assert [(c["measure"], c["verdict"]) for c in found] == [
        ("column_pairs", "farther"),
        ("column_shapes", "no change found"),
    ]
    pairs = found[0]
    assert (pairs["before"], pairs["now"], pairs["difference"]) == (1.0, 3.0, 0.2)
    # Bonferroni over two measures: 2.2414 in place of 1.96 standard errors
    half = 2.2414 / 1.96 * (0.02**2 + 0.01**2) ** 0.5
    assert pairs["low"] == pytest.approx(0.2 - half, abs=1e-4)
    turned = change(plain(previous), plain(data))["fidelity"]
    assert turned[0]["verdict"] == "closer"


def test_the_change_is_told_in_each_document_and_without_numbers_outside():
    before = [limits(kept(1.0, "like a fresh sample"), 0.0, 0.0, 0.01)]
    now = [limits(kept(3.0, "differs"), 0.2, 0.18, 0.22)]
    data = plain(report(fidelity=now))
    data |= {"change": change(data, plain(report(fidelity=before)))}
    told = "Fidelity since the previous run: column pairs is farther (ruler 1.00 before, 3.00 now)."
    for text in (summary(assessment(data), width=400), markdown(assessment(data)).replace("\\", "")):
        assert told in text
    assert "Change of fidelity, all columns together" in page(assessment(data), [])
    outside = external(data)["change"]["fidelity"]
    assert outside == [{"measure": "column_pairs", "before": None, "now": None, "difference": None, "low": None,
                        "high": None, "verdict": "farther"}]  # fmt: skip
    assert "column pairs is farther." in markdown(assessment(external(data)))
