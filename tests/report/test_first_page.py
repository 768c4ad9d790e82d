"""The first page in words: a sentence that leads with people, one tile a question, scope, advice, contradictions."""

import dataclasses
import re

import pytest
from msgspec.structs import replace
from report_helpers import AVOIDED, assessment, external, plain, summary

from divulge.attacks.copying.histories import NUMBERS_ROWS
from divulge.attacks.copying.one_column import ROW_NUMBERS
from divulge.report.documents.html import page
from divulge.report.documents.html_front import _compared as drawn
from divulge.report.documents.markdown import markdown
from divulge.report.external.edition import external as edition_of
from divulge.report.external.most import finding_of_most
from divulge.report.first_page import metrics, people
from divulge.report.model import Bound, Finding, LinkedTable, NotCompared
from divulge.report.prose import compared
from divulge.report.prose.advice import _MENDED, COARSER, advice, carriers, why_mended
from divulge.report.prose.bounds import _HOLDING as holding_reasons
from divulge.report.prose.bounds import NO_RELATION, SAME_PEOPLE, UNFAIR
from divulge.report.prose.compared import more_people
from divulge.report.prose.contradictions import contradictions
from divulge.report.prose.decision import decision, headline
from divulge.report.prose.membership import membership_in_words
from divulge.report.prose.people import facts_in_words
from divulge.report.prose.reach import NOT_COMPARED as why_not_compared
from divulge.report.prose.reach import _why as reach_why
from divulge.report.prose.reach import clearance
from divulge.report.prose.statement import FOR_THE_RECORD, for_the_record
from divulge.report.prose.tiles import leading, state_words, tiles


def risk(low, value, high):
    limits = {"low": low, "high": high, "low_simultaneous": low, "high_simultaneous": high}
    return {"value": value, **limits, "level": 0.95, "method": "MOVER", "leak_free_low": None, "leak_free_high": None}


def found(attack, members, strangers, verdict, *, n=2000, m=2000, variant="", keys=(), target=None, **more):
    """One comparison, as in assessment.json; its risk has the sign of the difference."""
    gap = members / n - strangers / m
    return {
        "attack": attack, "variant": variant, "keys": list(keys), "target": target,
        "real": {"hits": members, "n": n, "rate": members / n},
        "holdout": {"hits": strangers, "n": m, "rate": strangers / m},
        "risk": risk(gap - 0.01, gap, gap + 0.02), "verdict": verdict, "context": {}, "settings": {}, "curves": {},
        "notes": [], "groups": [], **more,
    }  # fmt: skip


EXACT = found("copies", 100, 0, "excess found", variant="exact")
NEAR = found("copies", 140, 5, "excess found", variant="near")
CALM = [
    found("copies", 3, 4, "none found", variant="exact"),
    found("singling_out", 40, 41, "none found", variant="3 columns"),
    found("linkability", 10, 11, "cannot tell", variant="balanced halves, k = 1"),
    found("inference", 900, 890, "none found", variant="nearest record", target="income"),
]
FAMILIES = {"copies": "copying", "dcr": "distance", "singling_out": "singling out", "linkability": "linkability",
            "inference": "inference", "cap": "attribution", "membership": "membership",
            "replicated_uniques": "uniqueness"}  # fmt: skip


def report(*results, verdict="excess found", holdout=True, bounds=(), checks=(), **parts):
    table = {"rows": 2000, "columns": 4, "sha256": "0" * 64, "hashed": "file"}
    about = {"question": "", "needs": "", "reference": ""}
    data = {
        "verdict": {"verdict": verdict, "sentence": "What was found.", "bounds": list(bounds), "screened": 7},
        "edition": "custodian", "settings": {"acceptable": 0.05, "level": 0.95},
        "tables": {"real": table, "synthetic": table, "holdout": table if holdout else None},
        "results": list(results), "preconditions": list(checks),
        "schema": [{"name": n, "kind": "category"} for n in ("age", "zip", "income", "job")],
        "attacks": {a: about | {"family": FAMILIES[a]} for a in {r["attack"] for r in results}},
        "not_tested": [{"what": "membership", "question": "is somebody in it?"}], "started": "2026-11-23T00:00:00",
    }  # fmt: skip
    return assessment(data | parts)


def bound(r, *, limit=0.03, people=None):
    name = {k: r[k] for k in ("attack", "variant", "keys", "target")}
    return name | {"words": r["attack"], "primary": True, "limit": limit, "shown": 1.0, "bounded": limit <= 0.05,
                   "people": people, "acceptable": None}  # fmt: skip


def texts(data):
    """Every text of the first page."""
    d = decision(data)
    said = [d.headline, d.release, d.at_risk, d.preconditions, d.unbounded, d.screened, d.not_tested, d.again]
    said += [t for x in d.tiles for t in (x.name, x.question, x.sentence, x.clean)]
    said += [t for a in d.advice for t in (a.do, a.changes, a.warning)]
    return [t for t in (*said, *d.contradictions) if t]


# ---------------------------------------------------------------- the headline


def test_copies_are_told_as_people():
    assert headline(report(NEAR, EXACT)) == (
        "Of 2,000 members (people in the real table), 100 stand in the synthetic table word for word; of 2,000 strangers (people "
        "the synthesizer never saw), none."
    )


def test_people_come_before_guesses_and_rows():
    guesses = found("singling_out", 400, 20, "excess found", variant="3 columns")
    people = found("inference", 900, 700, "excess found", variant="nearest record", target="income")
    assert headline(report(guesses, people)).startswith(
        "Of 2,000 members (people in the real table), 900 have their “income”"
    )
    assert headline(report(guesses)).startswith("Of 2,000 descriptions of 3 columns")


def test_a_deficit_says_what_the_gaps_tell():
    told = headline(report(found("copies", 0, 60, "deficit found", variant="exact"), verdict="deficit found"))
    assert told.startswith(
        "Of 2,000 members (people in the real table), none stand in the synthetic table word for word"
    )
    assert told.endswith("Rows near people are missing: the gaps tell who is in the real table.")


@pytest.mark.parametrize(
    ("verdict", "end"),
    [
        ("none found", "No test found that the table says more about its own people than about others."),
        (
            "cannot tell",
            "No leak was found, yet one is possible: 1 of 2 main tests needs more people.",
        ),
    ],
)
def test_without_a_finding_the_copies_come_first(verdict, end):
    wide = 0.2 if verdict == "cannot tell" else 0.01
    data = report(*CALM, verdict=verdict, bounds=[bound(CALM[0]), bound(CALM[2], limit=wide)])
    assert headline(data).startswith("Of 2,000 members (people in the real table), 3 stand")
    assert headline(data).endswith(end)


def test_a_repeated_person_is_the_headline_and_a_finding_of_the_tile():
    repeated = {
        "times": 12,
        "of": "member",
        "elsewhere": 1,
        "stands_out": True,
        "p_value": 0.0,
        "found": True,
        "named": 1,
    }
    verbatim = {"members": 1, "strangers": 0, "telling": 1, "named": 1, "why_not_named": None}
    data = report(*CALM, facts={"repeated": repeated, "verbatim": verbatim})
    assert headline(data).startswith("The record of one person in the real table stands 12 times")
    assert tiles(data)[0].state == "excess found"
    assert any("one person moves no bar" in c for c in contradictions(data))


@pytest.mark.parametrize(("hits", "shown"), [(1, "1 stands in"), (0, "none stand in"), (2000, "all 2,000 stand in")])
def test_numbers_of_people_are_words_of_english(hits, shown):
    assert shown in compared.lead(report(found("copies", hits, 0, "none found", variant="exact")).results[0])


# ---------------------------------------------------------------- tiles


def test_each_question_has_a_tile():
    data = report(*CALM, verdict="cannot tell")
    assert [t.id for t in tiles(data)] == ["copies", "singling_out", "linkability", "inference", "membership"]


def test_what_did_not_run_is_not_tested():
    by = {t.id: t for t in tiles(report(EXACT))}
    assert {i for i, t in by.items() if t.state == "not tested"} == {
        "singling_out",
        "linkability",
        "inference",
        "membership",
    }
    assert not by["membership"].bars


def test_membership_with_few_strangers_was_tested_and_cannot_tell():
    few = found("membership", 0, 0, "cannot tell", variant="mean rank", real=None, holdout=None, risk=None)
    data = report(*CALM, few, verdict="cannot tell")
    tile = {t.id: t for t in tiles(data)}["membership"]
    said = "Too few strangers: this test needs 36 or more to tell anything."
    assert (tile.state, tile.bars, tile.sentence) == ("cannot tell", (), said)
    assert membership_in_words(data) == [said]
    assert f"Membership: cannot tell. {said}" in " ".join(summary(data).split())


def test_a_question_for_which_no_time_was_left_says_so():
    late = {"attack": "membership", "n": 1, "of": 1, "why": "the time was up"}
    by = {t.id: t for t in tiles(report(*CALM, verdict="cannot tell", left_out=[late]))}
    assert by["membership"].sentence == "Not tested: the time was up."
    some = {t.id: t for t in tiles(report(*CALM, verdict="cannot tell", left_out=[late | {"of": 2}]))}
    assert some["membership"].sentence == "Not tested. No attack of this run asks who is in the real table."


KEY_ERROR = "KeyError inside the attack (age -> income); please report it"


@pytest.mark.parametrize(
    ("question", "main", "other"), [("copies", "copies", "dcr"), ("inference", "inference", "cap")]
)
def test_a_question_whose_attack_failed_is_not_answered_by_another_attack(question, main, other):
    beside = found(other, 30, 31, "none found", variant="nearness", target="income" if other == "cap" else None)
    calm = [r for r in CALM if r["attack"] != main]
    failed = {"attack": main, "why": KEY_ERROR + " hint: nothing."}
    for missing in ({"failed": [failed]}, {"left_out": [{"attack": main, "n": 2, "of": 2, "why": "the time was up"}]}):
        tile = {t.id: t for t in tiles(report(*calm, beside, verdict="cannot tell", **missing))}[question]
        assert (tile.state, tile.bars, tile.by, tile.r) == ("not tested", (), "", None)
        why = f", as the attack failed: {KEY_ERROR}." if "failed" in missing else ": the time was up."
        assert (tile.sentence, tile.brief) == (f"Not tested{why}",) * 2
    half = [{"attack": main, "n": 1, "of": 2, "why": "the time was up"}]  # some of its tests were made
    tile = {t.id: t for t in tiles(report(*CALM, beside, verdict="cannot tell", left_out=half, failed=[failed]))}
    assert tile[question].r.attack == main


def test_a_finding_of_another_attack_says_that_the_main_one_failed():
    near = found("dcr", 300, 100, "excess found", variant="nearness")
    data = report(near, *CALM[1:], failed=[{"attack": "copies", "why": KEY_ERROR}])
    tile = {t.id: t for t in tiles(data)}["copies"]
    assert tile.state == "excess found"
    for text in (tile.sentence, tile.brief):
        assert text.endswith(f" Its main test did not run, as the attack failed: {KEY_ERROR}.")
    assert f"failed: {KEY_ERROR}." in " ".join(summary(data).split())


@pytest.mark.parametrize("why", [UNFAIR, SAME_PEOPLE])
def test_a_comparison_that_is_not_fair_says_why(why):
    mean = found("membership", 900, 200, "cannot tell", variant="mean rank")
    unfair = bound(mean) | {"why": why, "limit": None, "bounded": False}
    data = report(*CALM, mean, verdict="cannot tell", bounds=[unfair])
    why = f"{why[0].upper()}{why[1:]}"
    assert {t.id: t for t in tiles(data)}["membership"].sentence == f"{why}, so that the bars say nothing about it."
    assert f"{why}, so that membership is not judged." in [a.changes for a in decision(data).advice]


def test_membership_has_a_tile_of_its_own_once_it_ran():
    ran = found("membership", 900, 200, "excess found", variant="mean rank")
    by = {t.id: t for t in tiles(report(*CALM, ran))}
    assert by["membership"].state == "excess found"
    assert by["membership"].sentence == (
        "With false alarms set to 10 in 100 strangers, an attacker recognises 45 of 100 members; chance gives 10."
    )


def test_members_stand_beside_strangers():
    copies = tiles(report(*CALM))[0]
    assert [(b.name, b.told) for b in copies.bars] == [
        ("members", "3 of 2,000 (0.1%)"),
        ("strangers", "4 of 2,000 (0.2%)"),
    ]


def test_a_finding_of_any_comparison_is_the_state_of_its_question():
    other = found("linkability", 90, 11, "excess found", variant="random halves, k = 4")
    by = {t.id: t for t in tiles(report(*CALM, other))}
    assert by["linkability"].state == "excess found"
    assert "90" in by["linkability"].sentence


def test_a_bound_of_the_run_makes_none_found_where_the_groups_can_be_compared():
    data = {"bounds": [bound(CALM[2])], "verdict": "cannot tell"}
    assert {t.id: t.state for t in tiles(report(*CALM, **data))}["linkability"] == "none found"
    checks = [{"check": "exchangeable", "ok": False, "detail": "no"}]
    assert {t.id: t.state for t in tiles(report(*CALM, **data, checks=checks))}["linkability"] == "cannot tell"


def test_every_result_is_told_for_counts_that_are_withheld():
    blank = {"hits": None, "n": 2000, "rate": None}
    for r in (EXACT, *CALM):
        told = compared.short(report(r | {"real": blank, "holdout": blank}).results[0])
        assert told.endswith("this edition withholds the counts.")


# ---------------------------------------------------------------- scope


def test_the_scope_says_what_holds_what_is_bounded_and_what_is_not():
    checks = [{"check": "exchangeable", "ok": True, "detail": ""}, {"check": "no overlap", "ok": False, "detail": ""},
              {"check": "holdout unseen", "ok": True, "detail": "", "tested": False}]  # fmt: skip
    d = decision(report(*CALM, verdict="cannot tell", checks=checks))
    assert d.preconditions == (
        "1 of 3 hold. Not met: that nobody is both member and stranger. Not testable here: that the synthesizer never saw "
        "the strangers."
    )
    bounds = [bound(CALM[0], limit=0.004), bound(CALM[2], limit=0.073)]
    d = decision(report(*CALM, verdict="cannot tell", bounds=bounds))
    assert [(x.test, x.state, x.limit) for x in d.reach] == [
        ("Copies: equal or nearly equal", "none found", "0.4%"),
        ("Linkability", "cannot tell", "7.3%"),
    ]
    assert d.screened == "7 more. None found a leak. That rules nothing out: only the main tests can."
    assert d.not_tested == "Membership."


def test_a_question_with_a_finding_is_not_called_bounded():
    other = found("linkability", 90, 11, "excess found", variant="random halves, k = 4")
    d = decision(report(*CALM, other, bounds=[bound(CALM[0]), bound(CALM[2])]))
    assert [(x.test, x.state, x.limit) for x in d.reach] == [("Copies: equal or nearly equal", "none found", "3.0%")]
    assert d.screened == (
        "7 more. Of these, 1 found an excess or a deficit, which is evidence against release. The others rule nothing out."
    )


def test_two_tests_of_one_question_have_names_of_their_own():
    near = found("dcr", 900, 890, "cannot tell", variant="attraction")
    equal = found("cap", 90, 89, "none found", variant="zero", keys=("age",), target="income")
    bounds = [bound(CALM[0]), bound(near, limit=0.1), bound(CALM[3]), bound(equal)]
    names = [x.test for x in decision(report(*CALM, near, equal, verdict="cannot tell", bounds=bounds)).reach]
    assert len(set(names)) == 4
    assert [n.partition(":")[0] for n in names] == ["Copies", "Copies", "Inference", "Inference"]


def test_a_test_that_none_found_does_not_need_is_told_as_such_and_not_counted():
    single = bound(CALM[1], limit=0.7) | {"primary": False}
    d = decision(report(*CALM, verdict="cannot tell", bounds=[bound(CALM[0]), single, bound(CALM[2], limit=0.2)]))
    assert [x.test for x in d.reach if not x.required] == ["Singling out (no main test)"]
    assert "1 of 2 main tests needs more people" in d.headline
    assert {x.limit for x in d.reach} == {"3.0%", "20%", "70% of descriptions"}


def test_where_the_groups_cannot_be_compared_nothing_is_ruled_out():
    alone = [r | {"holdout": None, "risk": None, "verdict": "no holdout"} for r in CALM]
    doubt = report(*CALM, bounds=[bound(CALM[0])], checks=[{"check": "exchangeable", "ok": False}])
    whole = report(EXACT, bounds=[bound(EXACT)])
    assert decision(whole).unbounded == "Nothing: every main test found a leak."
    for data in (report(*alone, holdout=False, verdict="no holdout"), doubt, whole):
        d = decision(data)
        assert d.reach == ()
        assert d.unbounded.startswith("Nothing: ")


# ---------------------------------------------------------------- what readers misread once


def test_no_excess_beside_copies_is_not_called_none_found():
    assert state_words("none found") == "no excess found"
    text = page(report(*CALM, verdict="none found"), [])
    assert "No excess found: cleared for release by the main tests" in text
    tiles_shown = text[text.index('class="tile-list"') : text.index('id="todo"')]
    assert "no excess found" in tiles_shown
    assert ">none found<" not in tiles_shown


def test_every_tile_with_a_deficit_says_that_it_protects_nobody():
    gap = found("inference", 100, 400, "deficit found", variant="nearest record", target="income")
    data = report(found("copies", 0, 60, "deficit found", variant="exact"), gap, verdict="deficit found")
    told = [t.sentence for t in tiles(data) if t.state == "deficit found"]
    assert len(told) == 2
    assert all("Fewer is no protection" in t for t in told)


def test_the_people_of_the_headline_are_not_all_people_at_risk():
    assert decision(report(EXACT)).at_risk.endswith("Tests overlap: do not add their people up.")


def leads_with(data, r):
    named = Finding(attack=r["attack"], variant=r["variant"], keys=tuple(r["keys"]), target=r["target"])
    return replace(data, verdict=replace(data.verdict, most=named))


def test_the_finding_that_reaches_most_people_for_certain_leads_and_stands_on_its_tile():
    many = found("linkability", 900, 100, "excess found", variant="random halves, k = 9")
    near = found("linkability", 300, 10, "excess found", variant="balanced halves, k = 1")
    data = leads_with(report(EXACT, near, many), many)
    d = decision(data)
    assert d.headline.startswith("Of 2,000 members (people in the real table), 900 can be found in two lists")
    assert d.at_risk.startswith("That is about 800 people (40%) beyond chance in this test: at least ")
    least = re.search(r": at least (\d+) \(95% confidence for all tests of linkability, divulge's default\)", d.at_risk)
    assert 600 < int(least[1]) < 800
    by = {t.id: t for t in d.tiles}
    assert by["linkability"].r.variant == "random halves, k = 9" and by["copies"].r.variant == "exact"
    assert decision(report(EXACT, near, many)).tiles[2].r.variant == "balanced halves, k = 1"  # nothing leads


def test_a_leading_finding_of_membership_begins_with_people():
    scores = found("membership", 700, 200, "excess found", variant="classifier")
    assert headline(leads_with(report(EXACT, scores), scores)) == (
        "An attacker takes 700 (35%) of 2,000 members (people in the real table) for members, and 200 (10%) of 2,000 "
        "strangers (people the synthesizer never saw)."
    )


@pytest.mark.parametrize(
    ("note", "how"),
    [
        ("members and strangers are told apart by many small traces, as exact", "the order of all scores"),
        ("few members are recognised, and surely: among the 1% of people", "the highest scores"),
    ],
)
def test_a_finding_beside_an_interval_that_holds_0_says_by_what_it_was_found(note, how):
    risk_of = {"risk": risk(-0.01, 0.002, 0.02), "context": {"AUC": 0.53}}
    scores = found("membership", 206, 200, "excess found", variant="ratio", notes=[note], **risk_of)
    data, said = leads_with(report(scores), scores), f"Found by {how}, not by these shares."
    tile = tiles(data)[4]
    assert (tile.sentence.endswith(said), tile.brief.endswith(said), headline(data).endswith(said)) == (True,) * 3
    shown = page(data, [])
    rows = shown[shown.index("All comparisons with counts") :]
    assert shown.count(said) >= 2 and f'<span class="note">by {how}</span>' in rows.replace("small", "span")
    assert f"excess found (by {how})" in markdown(data)
    assert f"Found by {how}" in " ".join(summary(data).split())
    clear = found("membership", 700, 200, "excess found", variant="ratio", context={"AUC": 0.53})
    assert all("ound by" not in text for t in tiles(report(clear)) for text in (t.sentence, t.brief))


def test_the_bars_on_page_one_have_the_numbers_and_the_words_below_them_what_they_count():
    linked = found("linkability", 40, 2, "excess found", variant="balanced halves, k = 1")
    tile = tiles(report(EXACT, linked))[2]
    assert tile.brief == "Can be found in two lists by way of the synthetic table."
    text = page(report(EXACT, linked), [])
    shown = text[text.index('<ul class="tile-list">') : text.index('id="scope"')]
    assert tile.brief in shown and tile.sentence not in shown and "40 of 2,000 (2%)" in shown


def test_the_bars_of_people_share_one_scale():
    linked = found("linkability", 40, 2, "excess found", variant="balanced halves, k = 1")
    text = page(report(EXACT, linked, found("inference", 900, 700, "excess found", target="income")), [])
    wide = {
        i: float(w)
        for i, w in re.findall(r'id="t-(\w+)-0t">.*?<rect class="bar f-members"[^>]* width="([\d.]+)"', text)
    }
    assert wide["inference"] == pytest.approx(0.45 * 160)
    assert wide["inference"] == pytest.approx(9 * wide["copies"], rel=0.01)
    assert wide["copies"] == pytest.approx(2.5 * wide["linkability"], rel=0.05)


def test_copies_without_strangers_are_not_dismissed():
    alone = [r | {"holdout": None, "risk": None, "verdict": "no holdout"} for r in (EXACT, CALM[3])]
    d = decision(report(*alone, holdout=False, verdict="no holdout"))
    assert d.release.startswith("Treat these people as exposed, and do not delete the rows")
    assert d.title == "No holdout, and real records stand in the table: not cleared for release"
    none = decision(report(alone[1], holdout=False, verdict="no holdout"))
    assert none.release == "This evidence clears nothing: it lacks people to compare with."


def test_the_price_of_an_attack_on_membership_is_set_and_not_measured():
    ran = found("membership", 900, 200, "excess found", variant="mean rank")
    told = {b.name: b.told for b in tiles(report(ran))[4].bars}
    assert told == {"members": "900 of 2,000 (45%)", "strangers": "200 of 2,000 (10%)"}


def test_no_advice_clears_this_table_and_leaving_out_is_no_guarantee():
    guessed = found("inference", 900, 700, "excess found", variant="nearest record", target="income")
    d = decision(report(EXACT, guessed))
    assert d.again == "Only a new table can be cleared."
    changes = " ".join(a.changes for a in d.advice)
    assert "nobody" not in changes
    assert "the others still can be" in changes


def test_states_that_are_no_verdict_have_marks_of_their_own():
    alone = [r | {"holdout": None, "risk": None, "verdict": "no holdout"} for r in CALM]
    text = page(report(*alone, holdout=False, verdict="no holdout"), [])
    for state, css in (("no holdout", "nohold"), ("not tested", "not-tested")):
        assert f'<span class="v {css}">{state}</span>' in text


@pytest.mark.parametrize(
    ("hits", "told"),
    [(1.7, "2 of 2,000 (0.1%)"), (0.3, "fewer than 1 of 2,000"), (0.0, "0 of 2,000 (0%)")],
)
def test_bars_of_a_sum_of_chances_tell_whole_people(hits, told):
    assert tiles(report(found("linkability", hits, 9, "none found")))[2].bars[0].told == told


# ---------------------------------------------------------------- what to do


def test_columns_that_carry_copies_are_named_most_often_first():
    parts = [found("copies", 90, 1, "excess found", variant=f"near on {len(k)} columns", keys=k)
             for k in (("zip", "job", "age"), ("zip", "age", "income"), ("zip", "job", "income"))]  # fmt: skip
    data = report(EXACT, *parts)
    assert carriers(data) == ["zip", "age", "income", "job"]
    assert any(
        "“zip” and “job”" in a.do
        for a in advice(
            report(EXACT, found("copies", 90, 1, "excess found", variant="near on 2 columns", keys=("zip", "job")))
        )
    )


def test_secrets_that_are_guessed_are_named():
    guessed = found("inference", 900, 700, "excess found", variant="nearest record", target="income")
    assert any("“income”" in a.do for a in advice(report(guessed)))


def test_coarser_columns_come_with_their_warning_and_rows_near_people_stay():
    guessed = found("inference", 900, 700, "excess found", variant="nearest record", target="income")
    part = found("copies", 90, 1, "excess found", variant="near on 2 columns", keys=("zip", "job"))
    told = advice(report(EXACT, guessed, part))
    assert [a.warning == COARSER for a in told if "coarsen" in a.do] == [True]
    assert not any(re.search(r"(delete|remove) .*rows", a.do, re.IGNORECASE) for a in told)
    assert any("Do not delete rows near people" in a.warning for a in told)


def test_too_few_people_are_told_how_many_would_do():
    data = report(*CALM, verdict="cannot tell", bounds=[bound(CALM[0]), bound(CALM[2], limit=0.2, people=6100)])
    assert advice(data)[0].do.startswith("Train and test with about 6,100 people, not 2,000")


def test_where_a_sample_was_asked_more_of_those_who_are_there_may_do():
    data = report(*CALM, verdict="cannot tell", bounds=[bound(CALM[0]), bound(CALM[2], limit=0.2, people=900)])
    sampled = replace(data, settings=replace(data.settings, people=300))
    assert advice(sampled)[0].do == "Ask more people of those who are there: --people 900, not 300."
    assert advice(replace(data, settings=replace(data.settings, people=950)))[0].do.startswith(
        "Train and test with about"
    )


@pytest.mark.parametrize(
    "check", ["exchangeable", "holdout unseen", "rows belong together", "no overlap", "units apart"]
)
def test_what_fails_is_mended_first(check):
    data = report(*CALM, verdict="cannot tell", checks=[{"check": check, "ok": False, "detail": ""}])
    assert "split" in advice(data)[0].do or "people" in advice(data)[0].do or "person" in advice(data)[0].do
    assert "nothing follows" in headline(data)


def test_every_advice_says_what_it_changes_and_the_table_is_measured_again():
    for data in (
        report(EXACT),
        report(*CALM, verdict="cannot tell"),
        report(*CALM, holdout=False, verdict="no holdout"),
    ):
        d = decision(data)
        assert d.advice
        assert all(a.do and a.changes for a in d.advice)
        assert "can be cleared" in d.again or "can clear it" in d.again
    assert not decision(report(*CALM, verdict="none found")).again


# ---------------------------------------------------------------- what seems to contradict itself

RECORDS = {"n": 2000, "flagged": 0, "fdr": 0.1, "smallest_flaggable": 10, "exposed": 90, "exposed_share": 0.045,
           "exposed_share_strangers": 0.044}  # fmt: skip
VERBATIM = {
    "verbatim": {"members": 3, "strangers": 4, "telling": 0, "named": 0, "why_not_named": None},
    "repeated": {
        "times": 1,
        "of": None,
        "elsewhere": 1,
        "stands_out": False,
        "p_value": None,
        "found": False,
        "named": 0,
    },
}
POLICY = {"name": "p", "sha256": None, "kept": True, "conditions": []}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (report(EXACT, records=RECORDS), "nobody is flagged"),
        (report(*CALM, verdict="cannot tell", records=RECORDS | {"flagged": 12}), "12 people are flagged, and no leak"),
        (report(*CALM, verdict="none found", facts=VERBATIM), "3 people stand in the table word for word"),
        (report(*CALM, verdict="cannot tell", records=RECORDS), "90 records stand out by a sign"),
        (report(found("replicated_uniques", 90, 30, "excess found", variant="repU pooled")), "no box above shows one"),
        (report(EXACT, verdict="cannot tell", checks=[{"check": "exchangeable", "ok": False}]), "differ by themselves"),
        (report(EXACT, policy=POLICY), "The policy is kept, and a leak is found"),
        (report(*CALM, verdict="none found", policy=POLICY | {"kept": False}), "the policy is broken"),
        (
            report(found("inference", 1500, 1490, "none found", target="income"), verdict="none found"),
            "guessed as often",
        ),
    ],
)
def test_pairs_that_seem_to_contradict_each_other_have_a_sentence(data, words):
    assert any(words in c for c in contradictions(data))


def test_a_plain_report_has_no_such_sentence():
    assert contradictions(report(*CALM[:3], verdict="none found")) == []
    assert contradictions(report(EXACT, records=RECORDS | {"flagged": 60})) == []
    assert contradictions(report(found("dcr", 900, 300, "excess found", variant="hole"))) == []  # its box shows it


def test_a_secret_that_is_read_off_equal_keys_is_a_finding_of_inference():
    read_off = found("cap", 900, 700, "excess found", variant="zero", keys=("age",), target="income")
    data = report(*CALM, read_off)
    assert headline(data).startswith(
        "Of 2,000 members (people in the real table), 900 have their “income” guessed right"
    )
    tile = next(t for t in tiles(data) if t.id == "inference")
    assert (tile.state, tile.r.attack) == ("excess found", "cap")
    said = " ".join(summary(data).split())
    assert "Inference: excess found. Of 2,000 members, 900 have their “income”" in said


@pytest.mark.parametrize(("strangers", "words"), [(4, "so do 4 strangers"), (0, "no stranger does")])
def test_copies_without_a_finding_are_told_beside_strangers(strangers, words):
    facts = VERBATIM | {"verbatim": VERBATIM["verbatim"] | {"strangers": strangers}}
    assert words in contradictions(report(*CALM[:3], verdict="none found", facts=facts))[0]


def test_a_copy_that_chance_can_hardly_make_is_named_and_to_be_looked_at():
    facts = VERBATIM | {"verbatim": VERBATIM["verbatim"] | {"telling": 1, "named": 1}}
    d = decision(report(*CALM, verdict="cannot tell", facts=facts, bounds=[bound(CALM[2], limit=0.2)]))
    assert d.at_risk.startswith("One copied record is so rare that chance can hardly make it")
    assert any("1 copied record can hardly come from chance" in c for c in d.contradictions)
    assert any("less capacity" in a.do for a in d.advice)


# ---------------------------------------------------------------- words

EVERY = [
    report(EXACT, NEAR, records=RECORDS), report(*CALM, verdict="none found", facts=VERBATIM),
    report(*CALM, verdict="cannot tell", bounds=[bound(CALM[2], limit=0.2, people=6100)]),
    report(found("copies", 0, 60, "deficit found", variant="near"), verdict="deficit found"),
]  # fmt: skip


@pytest.mark.parametrize("data", EVERY)
def test_the_words_are_plain(data):
    for text in texts(data):
        assert "(s)" not in text
        assert "  " not in text
        assert not AVOIDED.search(text)
        assert not re.search(r"dcr|cap\b|p-value|Holm|simultaneous|MOVER|_", text), text
        assert text[-1] in ".?" or len(text) < 40 or any(text == a.do for a in decision(data).advice if a.command)


def test_without_a_holdout_nothing_is_called_a_leak():
    alone = [r | {"holdout": None, "risk": None, "verdict": "no holdout"} for r in CALM]
    data = report(*alone, holdout=False, verdict="no holdout")
    said = [t for t in texts(data) if t not in {q.clean for q in tiles(data)}]
    assert not re.search(r"\bleak", " ".join(said), re.IGNORECASE)


def test_the_words_of_an_external_edition_follow_from_its_own_numbers():
    data = external(plain(report(*CALM, verdict="none found", facts=VERBATIM, records=RECORDS)))
    told = " ".join(texts(assessment(data)))
    assert "withholds the counts" in told
    assert not re.search(r"\b(41|890|11)\b|\b[34] (of|people|stand)", told)
    assert dataclasses.is_dataclass(decision(assessment(data)))


def test_a_finding_with_counts_speaks_before_one_whose_counts_are_withheld():
    blank = {"hits": None, "n": 2000, "rate": None}
    linked = found("linkability", 90, 11, "excess found", variant="halves, k = 1")
    data = report(EXACT | {"real": blank, "holdout": blank}, linked)
    assert headline(data).startswith("Of 2,000 members (people in the real table), 90 can be found in two lists")


# ---------------------------------------------------------------- what a second reader misread


def test_descriptions_are_not_taken_for_people():
    tile = tiles(report(*CALM))[1]
    assert [b.name for b in tile.bars] == ["one member", "one stranger"]
    assert all(" of 2,000" in b.told and "(" not in b.told for b in tile.bars)
    assert "Several can fit the same person." in tile.sentence


def test_a_question_is_as_open_as_its_least_certain_main_test():
    near = found("dcr", 190, 180, "cannot tell", variant="nearness")
    data = report(*CALM, near, verdict="cannot tell", bounds=[bound(CALM[0]), bound(near, limit=0.099)])
    tile = tiles(data)[0]
    assert tile.state == "cannot tell"
    assert tile.sentence.endswith(
        "Not excluded: an excess of up to 9.9% by nearness. This main test blocks the clearance."
    )
    calm = report(*CALM, near, verdict="none found", bounds=[bound(CALM[0]), bound(near, limit=0.03)])
    assert (tiles(calm)[0].state, "ot excluded" in tiles(calm)[0].sentence) == ("none found", False)


def test_a_question_without_a_main_test_says_so():
    """A reader took six tiles for the main tests, and missed one beside a clearance."""
    linked = found("linkability", 10, 11, "none found", variant="balanced halves, k = 1")
    others = [r for r in CALM if r["attack"] != "linkability"]
    hidden = bound(linked) | {"primary": False, "shown": 0.1}
    data = report(*others, linked, verdict="none found", bounds=[bound(CALM[0]), hidden])
    tile = next(t for t in tiles(data) if t.id == "linkability")
    assert tile.sentence.endswith("Not a main test here, as even a copy of the whole table would hardly show.")
    main = report(*others, linked, verdict="none found", bounds=[bound(CALM[0]), bound(linked)])
    assert "main test" not in next(t for t in tiles(main) if t.id == "linkability").sentence


def test_what_is_excluded_is_said_first():
    """Before the headline, in every document; not beside a finding, and not where nobody can be compared."""
    near = found("dcr", 190, 180, "cannot tell", variant="nearness")
    bounds = [
        bound(CALM[0], limit=0.018),
        bound(CALM[2], limit=0.009),
        bound(near, limit=0.052) | {"words": "nearness"},
    ]
    data = report(*CALM, near, verdict="cannot tell", bounds=bounds)
    said = (
        "A leak could reach at most (95% confidence each): copies 1.8% of members (36 of 2,000 people), linkability 0.9% (18). Not ruled out "
        "(limit 5%): nearness up to 5.2% (104)."
    )
    assert decision(data).excluded == said
    for text in (page(data, []), summary(data), markdown(data)):
        text = " ".join(text.split())
        assert 0 < plain(text).index(said) < plain(text).index(plain(headline(data))[:40])
    assert said not in page(report(EXACT, bounds=bounds), [])
    assert decision(report(*CALM, bounds=bounds, verdict="no holdout", holdout=False)).excluded == ""
    none = report(
        *CALM,
        verdict="cannot tell",
        bounds=[bound(CALM[0], limit=0.2), bound(CALM[2]) | {"limit": None, "bounded": False}],
    )
    assert (
        decision(none).excluded
        == "Not ruled out (limit 5%): copies up to 20% of members (400 of 2,000 people), linkability not bounded."
    )
    rounded = [b | {"limit": 0.05 if b["bounded"] else None, "shown": None} for b in bounds]  # as an external edition
    told = decision(report(*CALM, near, verdict="cannot tell", bounds=rounded)).excluded
    assert (
        told
        == "A leak could reach at most (95% confidence each): copies 5.0% of members (100 of 2,000 people), linkability 5.0% (100). Not ruled out: nearness not bounded."
    )


def test_a_limit_that_somebody_accepts_is_printed_as_such_and_goes_out_without_its_reason():
    told = {"attack": "dcr", "limit": 0.1, "why": "few <b>patients", "by": "Ada <i>", "on": "2026-11-29", "known": "no earlier run of "
            "these tables is known"}  # fmt: skip
    policy = {"name": "mine", "sha256": "0" * 64, "kept": True, "conditions": [], "primary": ["copies", "inference"],
              "accepted": [told], "file_changed": "2026-11-29T08:00:00+00:00", "known_since": "2026-11-29T09:00:00+00:00"}  # fmt: skip
    near = found("dcr", 190, 180, "cannot tell", variant="nearness")
    accepted = bound(near, limit=0.07) | {"words": "nearness", "bounded": True, "acceptable": 0.1}
    data = report(*CALM, near, verdict="none found", bounds=[bound(CALM[0]), accepted], policy=policy)
    html, text, lines = page(data, []), markdown(data), summary(data)
    for shown in (html, text):
        assert (
            "dcr up to 10%" in shown
            and "Ada" in shown
            and "few" in shown
            and "<i>" not in shown.partition("Ada")[2][:9]
        )
        assert "last changed 2026-11-29T08:00:00+00:00, as the file system says" in shown
        assert "known to have been judged by it began 2026-11-29T09:00:00+00:00" in shown
        assert "bounds of copies, inference" in shown
    assert "Accepted: dcr up to 10%, by Ada" in " ".join(lines.split())
    (out,) = external(data)["policy"]["accepted"]
    assert (out["limit"], out["why"], out["by"], out["on"]) == (0.1, "…", "…", "2026-11-29")
    assert external(data)["policy"]["file_changed"] is None
    assert [b["limit"] for b in external(data)["verdict"]["bounds"]] == [0.05, 0.1]


def test_rows_that_are_missing_near_people_concern_everybody():
    hole = found("dcr", 0, 540, "deficit found", variant="hole")
    assert (
        "The gaps concern every member, so that no list says who."
        in decision(report(hole, verdict="deficit found")).at_risk
    )
    assert "Every person" not in decision(report(EXACT)).at_risk


def test_copies_without_strangers_have_the_colour_of_a_warning():
    alone = [r | {"holdout": None, "risk": None, "verdict": "no holdout"} for r in (EXACT, CALM[3])]
    shown = page(report(*alone, holdout=False, verdict="no holdout"), [])
    assert 'class="banner b-unsure"' in shown
    assert 'class="banner b-nohold"' in page(report(alone[1], holdout=False, verdict="no holdout"), [])


def test_copies_in_nearly_all_columns_are_not_met_by_leaving_columns_out():
    every = tuple(c.name for c in report(EXACT).schema)
    part = found("copies", 90, 1, "excess found", variant=f"near on {len(every)} columns", keys=every)
    told = advice(report(EXACT, part))
    assert any("Keep the columns: leaving some out hardly helps." in a.do for a in told)
    assert not any("coarsen" in a.do for a in told)


@pytest.mark.parametrize(("variant", "why"), [("linked", ""), ("one column", "2000 whole numbers that differ")])
def test_a_number_that_copied_people_carry_goes_first(variant, why):
    own = found("copies", 90, 1, "excess found", variant=variant, keys=("zip",))
    part = found("copies", 90, 1, "excess found", variant="near on 3 columns", keys=("zip", "age", "income"))
    data = report(own, part)
    columns = tuple(replace(c, why=why if c.name == "zip" else "") for c in data.schema)
    first, *others = advice(replace(data, schema=columns))
    assert first.do == "Leave out “zip”, or draw new numbers: copied people carry their own."
    assert others[0].do.startswith("Train with less capacity")
    assert others[1].do.startswith("Keep the other columns") and not any("zip" in a.do for a in others)
    usual = advice(report(found("copies", 90, 1, "excess found", variant="one column", keys=("zip",))))
    assert not any("draw new numbers" in a.do for a in usual)


def test_a_date_or_a_column_made_of_rows_is_no_number_of_a_person():
    own = found("copies", 90, 1, "excess found", variant="linked", keys=("zip",))
    data = report(own)
    dated = tuple(replace(c, kind="datetime" if c.name == "zip" else c.kind) for c in data.schema)
    assert not any("draw new numbers" in a.do for a in advice(replace(data, schema=dated)))
    table = replace(data.tables.real, linked=(LinkedTable(name="users", rows=9, columns=2, people=9),))
    assert not any("draw new" in a.do for a in advice(replace(data, tables=replace(data.tables, real=table))))


def test_a_copied_number_of_rows_of_linked_tables_goes_first_too():
    whole, value = (
        found("copies", 90, 1, "excess found", variant="own value", keys=(f"visits.{c}",), notes=notes)
        for c, notes in (("visit_id", [NUMBERS_ROWS]), ("cost", []))
    )
    one = {"rows": 2000, "columns": 4, "sha256": None, "hashed": "file",
           "linked": [{"name": "patients", "rows": 2000, "columns": 4, "people": 2000}]}  # fmt: skip
    key = {"name": "patients.id", "kind": "identifier"}
    own = found("copies", 90, 1, "excess found", variant="linked", keys=("patients.id",))
    for results, which in (
        ([own, value, whole], "“patients.id” and “visits.visit_id”"),
        ([whole], "“visits.visit_id”"),
    ):
        first = advice(report(*results, schema=[key], tables={"real": one, "synthetic": one, "holdout": one}))[0]
        assert first.do == f"Leave out {which}, or draw new numbers: copied people carry their own."


def test_advice_on_linked_tables_names_their_columns():
    made = ("visits.ward: ever the 9th commonest value", "visits.ward: rows with the 1st commonest value",
            "visits: rows", "patients.age")  # fmt: skip
    schema = [{"name": n, "kind": "numeric"} for n in (*made, "patients.sex", "patients.zip")]
    one = {"rows": 2000, "columns": 4, "sha256": None, "hashed": "file",
           "linked": [{"name": "patients", "rows": 2000, "columns": 4, "people": 2000}]}  # fmt: skip
    data = report(
        *(found("copies", 90, 1, "excess found", variant="one column", keys=(c,)) for c in made),
        schema=schema, tables={"real": one, "synthetic": one, "holdout": one},
    )  # fmt: skip
    (do,) = (a.do for a in advice(data) if "coarsen" in a.do)
    assert do == "Leave out or coarsen columns that carry the copies (“visits.ward” and “patients.age”)."


def test_members_whom_an_attack_avoids_are_not_called_less_at_risk():
    ran = found("membership", 40, 200, "deficit found", variant="mean rank")
    told = tiles(report(ran, verdict="deficit found"))[4].sentence
    assert told.startswith(
        "Members are avoided: an attacker takes 2 of 100 members for members, and 10 of 100 strangers."
    )
    assert told.endswith("Whoever is not taken for one is more likely a member.")


def test_limits_beside_a_finding_are_not_headed_as_if_they_were_all():
    linked = found("linkability", 90, 11, "excess found", variant="random halves, k = 4")
    beside = page(report(*CALM, linked, bounds=[bound(CALM[0]), bound(CALM[2])]), [])
    calm = page(report(*CALM, verdict="none found", bounds=[bound(CALM[0])]), [])
    heads = "What else could be missed", "How far a leak could still reach"
    assert [[h in text for h in heads] for text in (beside, calm)] == [[True, False], [False, True]]


@pytest.mark.parametrize(
    ("limit", "shown", "why"),
    [
        (0.3, 1.0, ""),
        (0.97, 0.9, "there are too few people"),
        (0.97, 0.25, "a copy of the whole real table would reach 25% here"),
    ],
)
def test_a_wide_limit_is_not_named_without_its_reason(limit, shown, why):
    bound = Bound(
        attack="linkability", variant="k = 1", keys=(), target=None, words="links", primary=True, limit=limit,
        shown=shown, bounded=False, people=None,
    )  # fmt: skip
    assert reach_why(bound) == why


def test_each_reason_that_holds_none_found_back_has_words_on_the_page():
    assert set(why_not_compared) == set(holding_reasons)


def test_sentences_for_the_record_of_processing_stand_in_both_documents_and_editions():
    whole = report(*CALM, verdict="cannot tell")
    for edition in (whole, edition_of(whole)):
        told = decision(edition)
        record = dict(for_the_record(edition, told))
        assert list(record)[:5] == ["Table", "Test", "Singling out (WP216)", "Linkability (WP216)", "Inference (WP216)"]
        assert list(record)[-3:] == ["Residual risk", "Limit", "Not covered"]
        assert "which nobody set for this table" in record["Limit"]
        assert told.headline in record["Residual risk"]
        for text in (page(edition, []), markdown(edition)):
            assert FOR_THE_RECORD in text
            assert "No law names a number" in text


# ---------------------------------------------------------------- what newcomers could not tell


def test_a_question_that_cannot_tell_says_whether_it_blocks():
    """Singling out, which clears nothing, is as open in a cleared table as in one that is not."""
    single = bound(CALM[1], limit=0.67) | {"primary": False}
    guess = CALM[1] | {"verdict": "cannot tell"}
    open_ = CALM[3] | {"verdict": "cannot tell"}
    held = report(
        CALM[0], guess, open_, verdict="cannot tell", bounds=[bound(CALM[0]), single, bound(open_, limit=0.057)]
    )
    free = report(CALM[0], guess, CALM[3], verdict="none found", bounds=[bound(CALM[0]), single, bound(CALM[3])])
    for data, blocks in ((held, True), (free, False)):
        by = {t.id: t for t in tiles(data)}
        assert by["singling_out"].brief.endswith("Not a main test: it does not decide the clearance.")
        assert by["inference"].brief.endswith("Blocks the clearance: up to 5.7% not excluded.") is blocks
        assert decision(data).main == "All 2 main tests must rule out a leak above 5%."
        assert "All 2 main tests must rule out" in page(data, [])
    assert decision(report(EXACT)).main == ""


@pytest.mark.parametrize(
    ("verdict", "limits", "more", "told"),
    [
        ("none found", (0.012, 0.042), {}, "a leak could reach 4.2% at most (limit 5%)"),
        ("cannot tell", (0.012, 0.094), {}, "inference by similar rows up to 9.4% not excluded (limit 5%)"),
        ("cannot tell", (0.060, 0.094), {}, "inference by similar rows up to 9.4% and 1 more not excluded (limit 5%)"),
        ("cannot tell", (0.012, 0.042), {"nearer": True}, "nearness: synthetic rows lie nearest to members somewhat more "
         "often than chance gives"),
        ("excess found", (0.012, 0.042), {}, ""),
        ("no holdout", (0.012, 0.042), {}, "nobody to compare with"),
    ],
)  # fmt: skip
def test_a_clause_says_why_a_table_is_cleared_or_not(verdict, limits, more, told):
    data = report(*CALM, verdict=verdict, bounds=[bound(CALM[0], limit=limits[0]), bound(CALM[3], limit=limits[1])])
    assert clearance(replace(data, verdict=replace(data.verdict, **more))) == told


def test_where_rows_near_people_answer_the_first_question_it_is_not_headed_copies():
    hole = found("dcr", 0, 540, "deficit found", variant="hole")
    data = report(hole, verdict="deficit found")
    assert "<h3>Copies and nearness</h3>" in page(data, []) and "| Copies and nearness |" in markdown(data)
    assert tiles(data)[0].id == "copies" and tiles(report(EXACT))[0].head == "Copies"


@pytest.mark.parametrize("trains", [True, False])
def test_only_a_new_table_can_be_cleared_where_the_step_trains_again(trains):
    wide = CALM[2] | {"verdict": "cannot tell"}
    data = report(CALM[0], wide, verdict="cannot tell", bounds=[bound(CALM[0]), bound(wide, limit=0.2, people=9000)])
    if not trains:
        data = replace(data, settings=replace(data.settings, people=500))
        bounds = [replace(b, people=1500 if b.people else None) for b in data.verdict.bounds]
        data = replace(data, verdict=replace(data.verdict, bounds=tuple(bounds)))
    assert decision(data).again == ("Only a new table can be cleared." if trains else "Only a new run can clear it.")


# ---------------------------------------------------------------- numbers beside each other


def test_no_more_people_are_beyond_chance_than_are_hit_and_the_list_is_told_as_a_list():
    some = found("copies", 120, 30, "excess found", variant="exact")
    told = plain(page(report(some, records=RECORDS | {"exposed": 400, "exposed_share": 0.2}), []))
    assert "That is about 90 people (4%) beyond chance in this test: at least 68, at most 120 (" in told
    assert "400 members (20%) are on the list of exposed people; by chance 4% of strangers would be." in told


def test_the_percent_of_a_sum_of_chances_is_that_of_the_people_beside_it():
    sums = found("linkability", 1.6, 1.2, "none found")
    (members, strangers) = compared.bars(report(sums).results[0])
    assert members.told == "2 of 2,000 (0.1%)" and strangers.told.startswith("1 of 2,000 (")


@pytest.mark.parametrize(
    ("verdict", "box"),
    [
        ("excess found", "release in spite of this evidence"),
        ("cannot tell", "release although not cleared"),
        ("none found", "release"),
    ],
)
def test_the_box_to_tick_names_what_speaks_against_a_release(verdict, box):
    signs = page(report(*CALM, verdict=verdict), []).split("Places to sign</caption>")[1].split("</table>")[0]
    boxes = re.findall(r'<span class="box"></span> ([^<]+)</span>', signs)
    assert boxes[:3] == [box, "with conditions", "no release"]


def test_columns_that_a_table_lacks_have_an_advice():
    """Where they alone hold the clearance back, nobody is told to decide and that nothing asks for a change."""
    calm = found("copies", 3, 4, "none found", variant="exact")
    data = report(calm, verdict="cannot tell", bounds=[bound(calm)])
    lacking = replace(data, verdict=replace(data.verdict, without_strangers=("income",)))
    assert decision(lacking).advice[0].do.startswith("Give the holdout “income”")
    for why in holding_reasons:
        apart = tuple(NotCompared(column=c, why=why) for c in ("income", "job"))
        told = decision(replace(data, verdict=replace(data.verdict, not_compared=apart))).advice
        assert (
            told[0].do.startswith("Make “income” and “job” the same in all tables")
            and why_not_compared[why] in told[0].do
        ) or (why == NO_RELATION and told[0].do.startswith("Relate “income” and “job” to the people by a [[relation]]"))


def test_no_number_of_people_follows_where_the_groups_cannot_be_compared():
    check = {"check": "no overlap", "ok": False, "tested": True, "detail": "", "numbers": {}}
    calm, near = found("copies", 6, 2, "cannot tell", variant="exact"), found("dcr", 300, 40, "excess found")
    told = decision(report(calm, near, verdict="cannot tell", checks=[check]))
    assert told.headline.endswith("so nothing follows from it.") and "beyond chance" not in told.at_risk
    assert "beyond chance" in decision(report(calm, near)).at_risk


def test_chance_explains_a_difference_whose_own_interval_is_above_0_with_all_tests_counted_alone():
    one = found("copies", 207, 160, "cannot tell", variant="exact")
    assert one["risk"]["low"] > 0
    assert "With all tests counted, chance can explain the difference." in headline(report(one, verdict="cannot tell"))
    other = found("copies", 7, 5, "cannot tell", variant="exact")
    assert " Chance can explain the difference." in headline(report(other, verdict="cannot tell"))


def test_identifiers_that_were_left_out_are_told_beside_whole_records():
    note = "identifiers were left out of the comparison: 'zip'"
    one = found("copies", 7, 5, "cannot tell", variant="exact", notes=[note])
    assert "word for word, but for identifiers; of" in headline(report(one, verdict="cannot tell"))
    facts = {"verbatim": {"members": 7, "strangers": 5, "telling": 0, "named": 0, "why_not_named": ""},
             "repeated": {"times": 0, "of": None, "elsewhere": 0, "stands_out": False, "p_value": None, "found": False, "named": 0},
             "histories": None}  # fmt: skip
    assert facts_in_words(report(one, facts=facts))[0].startswith(
        "The whole record, but for identifiers, of 7 of 2,000"
    )


def test_an_edition_that_withholds_counts_names_no_strangers_where_there_were_none():
    one = found("copies", 7, 5, "cannot tell", variant="exact") | {"holdout": None}
    one["real"] = {"hits": None, "n": None, "rate": None}
    (record,) = report(one, holdout=False).results
    assert compared.lead(record).startswith("Members were looked for; this edition withholds")


def test_a_column_has_one_bar_of_copies_whatever_its_spellings():
    spelled = [
        found("copies", 0, 0, "none found", variant=f"one column{form}", keys=["job"])
        for form in ("", ", without marks", ", digest")
    ]
    spelled[1] = found("copies", 60, 0, "excess found", variant="one column, without marks", keys=["job"])
    data = report(found("copies", 0, 0, "none found", variant="exact"), *spelled)
    (tile,) = (t for t in tiles(data) if t.id == "copies")
    shown = drawn(tile, data)
    assert [label for label, _ in shown] == ["word for word", "job"] and shown[1][1].variant == spelled[1]["variant"]


def test_without_strangers_an_own_value_of_more_people_than_whole_records_is_told():
    exact, own = (
        found("copies", hits, 0, None, variant=variant, keys=keys) | {"holdout": None}
        for hits, variant, keys in ((6, "exact", []), (217, "one column", ["job"]))
    )
    data = report(exact, own, verdict="no holdout", holdout=False)
    schema = tuple(replace(c, kind="text") if c.name == "job" else c for c in data.schema)
    told = headline(replace(data, schema=schema))
    assert "6 stand in the synthetic table word for word. 217 have their “job” in the synthetic table." in told
    assert "217" not in headline(data)  # categories recur in any table
    rows = tuple(replace(r, notes=(ROW_NUMBERS,)) for r in data.results)
    assert "217" not in headline(replace(data, schema=schema, results=rows))


# ---------------------------------------------------------------- what a page must not claim


def test_what_a_main_test_rules_out_is_told_beside_a_finding_of_its_attack():
    history = found("copies", 1, 1, "none found", variant="whole history", keys=["age"])
    bounds = [bound(EXACT), bound(history, limit=0.007) | {"words": "copies (whole history)"}]
    told = decision(report(EXACT, history, bounds=bounds)).unbounded
    assert told == (
        "Copies (whole history) above 0.7% of members (14 of 2,000 people). Nothing else: every other main test found "
        "a leak."
    )
    near = found("copies", 9, 1, "cannot tell", variant="near")
    wide = decision(report(EXACT, history, near, bounds=[*bounds, bound(near, limit=0.2)])).unbounded
    assert wide.endswith("Nothing else: the other main tests found a leak or rule out too little.")
    assert decision(report(EXACT, near, bounds=[bound(EXACT), bound(near, limit=0.2)])).unbounded == (
        "Nothing: every attack found a leak."
    )


@pytest.mark.parametrize("check", [*_MENDED, "another"])
def test_why_a_precondition_matters_has_a_subject_of_its_own(check):
    why = why_mended(check)
    data = report(*CALM, verdict="cannot tell", checks=[{"check": "holdout unseen", "ok": False, "detail": ""}])
    for sentence in [why, *(a.changes for a in advice(data)[:1])] if why else []:
        assert sentence.split()[0] not in ("It", "They", "Now", "This", "That", "These", "Them")


def test_a_list_that_holds_strangers_as_often_is_no_evidence():
    listed = {"n": 2000, "flagged": None, "fdr": None, "smallest_flaggable": None, "exposed": 1260,
              "exposed_share": 0.63}  # fmt: skip
    alike = decision(report(EXACT, records=listed | {"exposed_share_strangers": 0.61})).at_risk
    assert alike.endswith(
        "The list of exposed people is no evidence here: 63% of members are on it, and 61% of strangers would be."
    )
    apart = decision(report(EXACT, records=listed | {"exposed_share_strangers": 0.60})).at_risk
    assert apart.endswith("1,260 members (63%) are on the list of exposed people; by chance 60% of strangers would be.")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"notes": ["column 'income': 10 quantile bins of real and holdout, right-closed"]}, "to the right tenth of all values"),
        ({"notes": ["column 'income': 7 width bins of real and holdout"]}, "to the right one of 7 ranges of values"),
        ({"notes": ["column 'income': … quantile bins of real and holdout"]}, "to the right range of values"),
        ({"notes": ["column 'age': 10 quantile bins of real and holdout, right-closed"]}, "right"),
        (
            {"notes": ["a guess is right when it is off by at most 0.05 of the spread"], "settings": {"tolerance": 0.05}},
            "right to within 5% of the spread of its values",
        ),
    ],
)  # fmt: skip
def test_a_guess_that_need_not_be_the_value_is_not_called_right_alone(more, said):
    r = found("cap", 324, 132, "excess found", variant="zero", keys=["age"], target="income", **more)
    data = report(r)
    assert f"have their “income” guessed {said} by somebody who knows “age”" in headline(data)
    assert f"have their “income” guessed {said} by" in markdown(data) + summary(data, width=400)


def test_naming_one_value_for_everybody_stands_beside_an_attack_that_is_right_less_often():
    naming = {"rate": 0.72, "what": "naming the commonest value"}
    cap = found("cap", 560, 257, "excess found", variant="zero", keys=["age"], target="income")
    other = found("inference", 300, 290, "none found", target="income", baseline=naming)
    told = "Naming the commonest value for everybody would be right for 72%."
    data = report(cap, other)
    assert headline(data).endswith(told)
    tile = next(t for t in tiles(data) if t.id == "inference")
    assert told in tile.sentence and told in tile.brief
    often = report(found("cap", 1560, 1257, "excess found", variant="zero", keys=["age"], target="income"), other)
    assert "Naming" not in headline(often)
    binned = ["column 'income': 10 quantile bins of real and holdout, right-closed"]
    assert "Naming" not in headline(report(cap | {"notes": binned}, other))  # of the value itself, not of its tenth


def test_the_number_for_a_trend_is_of_exact_counts_and_never_below_that_of_page_one():
    tests = [
        found("linkability", 280, 2, "excess found", variant="balanced halves, k = 1"),
        found("cap", 600, 304, "excess found", variant="zero", keys=["age"], target="income"),
    ]
    data = report(*tests)
    data = replace(data, verdict=replace(data.verdict, most=finding_of_most(data)))
    led = leading(data)
    at_least = people(data)["at_least"]
    told = metrics(data)["people_at_risk_at_least"]
    assert told == max(at_least) >= more_people(led, "low_simultaneous")
    assert f"{int(more_people(led, 'low_simultaneous')):,}" in decision(data).at_risk
    assert (led.attack, told == more_people(led, "low_simultaneous")) == ("cap", False)  # two strangers are withheld
