"""Policies: what the file may say, what each condition asks, and that what was not tested is not kept."""

import hashlib
import json
import re
import sys
from datetime import date, datetime

import jsonschema
import pytest
from msgspec.structs import replace
from report_helpers import assessment, broken, judge_policy

from divulge import cli
from divulge.core.errors import SettingError
from divulge.core.records import CRITICAL, OF_LINKED
from divulge.release import conditions as judging
from divulge.release.accepted import AFTER, BEFORE, FUTURE, LATER, UNKNOWN
from divulge.release.conditions import conditions
from divulge.release.policy import TEMPLATE, Policy, policy_from_toml, read_policy
from divulge.report.schema import assessment_schema

ALL = 'verdicts = ["none found", "cannot tell", "excess found", "no holdout"]\n'
BARE = f"{ALL}preconditions = false\n"
"""A policy that every run keeps."""

ALWAYS = [check for check in CRITICAL if check not in OF_LINKED]


def result(attack, variant="", **more):
    return {
        "attack": attack, "variant": variant, "keys": [], "target": None, "verdict": "none found", "score": 97.0,
        "real": {"hits": 1, "n": 100, "rate": 0.01}, "holdout": {"hits": 1, "n": 100, "rate": 0.01},
        "risk": {"value": 0.0, "low_simultaneous": -0.02, "high_simultaneous": 0.03}, "smallest_detectable": 0.04,
        "seconds": 0.5, "notes": [],
    } | more  # fmt: skip


def planted(kind, *, verdict="excess found", without=False, share=0.01):
    return {
        "kind": kind, "verdict": verdict, "found": [{"attack": "copies", "without": without}],
        "attacks": [{"attack": "copies", "smallest_share": share}],
    }  # fmt: skip


def run(**more):
    return {
        "verdict": {"verdict": "none found", "sentence": "..."}, "settings": {"unit": None},
        "preconditions": [
            {"check": c, "ok": True, "detail": f"{c} was seen"}
            for c in ("same columns", "sizes", "no overlap", "exchangeable", "holdout unseen", "rows belong together")
        ],
        "results": [
            result("copies", "exact"), result("copies", "near on 2 columns", smallest_detectable=0.5),
            result("linkability", "balanced halves, k = 1"), result("linkability", "random halves, k = 1"),
            result("linkability", "random halves, k = 10", smallest_detectable=0.5),
            result("inference", "nearest record", target="income"), result("inference", "CAP", target="income"),
            result("k_anonymity", verdict=None, risk=None, score=None, smallest_detectable=None),
        ],
        "positive_control": [], "failed": [], "left_out": [], "change": None,
    } | more  # fmt: skip


def judged(toml, data, fail_on=()):
    """The conditions of a policy that asks for this alone, without the one on the verdict."""
    text = (ALL if "preconditions" in toml else BARE) + toml
    return judge_policy(data, policy_from_toml(text), fail_on)["conditions"][1:]


def why(toml, data):
    (only,) = judged(toml, data)
    assert only["kept"] == (only["why"] == "")
    return only["why"]


# ---------------------------------------------------------------- judging


@pytest.mark.slow
def test_the_result_is_the_struct_of_the_schema():
    found = judge_policy(run(), policy_from_toml(TEMPLATE), ["any.high > 0.5"])
    schema = assessment_schema()
    jsonschema.validate(found, {"$ref": "#/$defs/Policy", "$defs": schema["$defs"]})
    assert found["name"] == "my release"
    assert not found["kept"]
    assert [c["condition"] for c in found["conditions"] if not c["kept"]] == [
        "singling_out: was run and compared with strangers",
        "membership: was run and compared with strangers",
        "singling_out: smallest detectable excess of the headline comparison at most 0.25",
        "membership: smallest detectable excess of the headline comparison at most 0.15",
    ]


@pytest.mark.parametrize("check", ["no overlap", "exchangeable", "holdout unseen", "rows belong together"])
def test_where_the_comparison_does_not_hold_no_rule_and_no_policy_is_kept(check):
    bad = run(preconditions=[*run()["preconditions"], {"check": check, "ok": False, "detail": "p = 1e-9"}])
    for policy, rules in ((None, ["any.high > 0.9"]), (None, ["excess"]), (Policy(preconditions=False), [])):
        assert judge_policy(run(), policy, rules)["kept"]
        found = judge_policy(bad, policy, rules)
        assert not found["kept"]
        assert found["conditions"][0]["condition"] == "the comparison of members with strangers holds"
        assert found["conditions"][0]["found"] == f"{check}: p = 1e-9"


def test_people_who_are_named_and_columns_without_strangers_break_every_policy():
    facts = {
        "verbatim": {"members": 3, "strangers": 0, "telling": 1, "named": 1, "why_not_named": None},
        "repeated": {"times": 1, "of": None, "elsewhere": 1, "stands_out": False, "p_value": None, "found": False,
                     "named": 0},
    }  # fmt: skip
    found = judge_policy(run(facts=facts), Policy(preconditions=False))
    assert not found["kept"] and found["conditions"][0]["found"] == "1 named"
    lacking = run(verdict={"verdict": "cannot tell", "sentence": "...", "without_strangers": ["name"]})
    found = judge_policy(lacking, Policy(preconditions=False))
    assert not found["kept"] and found["conditions"][0]["found"] == "it lacks 'name'"
    assert judge_policy(lacking, None, ["any.high > 0.9"])["kept"]


def test_a_run_without_any_comparison_keeps_nothing():
    late = [{"attack": "copies", "n": 1, "of": 1, "why": "the time was up"}]
    for results, left_out in (([], late), ([result("copies", verdict="no holdout", holdout=None)], [])):
        empty = run(results=results, left_out=left_out)
        for policy, rules in ((None, ["excess"]), (Policy(preconditions=False, verdicts=("none found",)), [])):
            found = judge_policy(empty, policy, rules)
            assert not found["kept"]
            assert found["conditions"][0]["condition"] == "at least one attack compares members with strangers"


def test_the_rule_excess_is_broken_where_tests_were_left_out_or_failed():
    late = run(left_out=[{"attack": "cap", "n": 3, "of": 9, "why": "the time was up"}])
    (only,) = judge_policy(late, None, ["excess"])["conditions"]
    assert (only["kept"], only["why"]) == (False, "3 of 9 tests of cap were left out")
    assert not judge_policy(run(failed=[{"attack": "cap", "why": "ValueError"}]), None, ["excess"])["kept"]
    missing = run(verdict={"verdict": "deficit found", "sentence": "..."})
    assert not judge_policy(missing, None, ["excess"])["kept"]


@pytest.mark.parametrize(
    ("verdict", "kept"), [("none found", True), ("cannot tell", True), ("excess found", False), ("no holdout", False)]
)
def test_by_default_an_excess_and_a_missing_holdout_break_the_policy(verdict, kept):
    data = run(verdict={"verdict": verdict})
    assert judge_policy(data, Policy())["kept"] is kept
    strict = judge_policy(data, Policy(verdicts=("none found",)))
    assert strict["kept"] is (verdict == "none found")
    assert strict["conditions"][0]["condition"] == "overall verdict: none found"
    assert strict["conditions"][0]["found"] == f"«{verdict}»"


def test_a_limit_says_in_words_what_is_asked_and_what_was_found():
    data = run()
    data["results"][3]["risk"]["high_simultaneous"] = 0.0812
    (found,) = judged("[attacks.linkability]\nhigh = 0.05", data)
    assert found == {
        "condition": "linkability: simultaneous upper limit of risk at most 0.05",
        "found": "0.0812 (linkability (random halves, k = 1))",
        "kept": False,
        "why": "above 0.05",
        "rule": {"kind": "risk", "of": "linkability", "part": "", "field": "high", "operator": ">", "limit": 0.05,
                 "verdicts": []},
    }  # fmt: skip
    assert why("[attacks.linkability]\nhigh = 0.0812", data) == ""


@pytest.mark.parametrize(
    ("limit", "kept"),
    [
        ("high = 0.03", True), ("high = 0.029", False), ("low = -0.02", True), ("low = -0.03", False),
        ("value = 0", True), ("value = -0.01", False), ("score = 97", True), ("score = 98", False),
    ],
)  # fmt: skip
def test_each_limit_is_compared_with_its_own_number(limit, kept):
    assert judged(f"[attacks.copies]\n{limit}", run())[0]["kept"] is kept


def test_a_number_that_rounds_to_the_limit_is_shown_in_full():
    data = run()
    data["results"][0]["risk"]["high_simultaneous"] = 0.0500001
    assert judged("[attacks.copies]\nhigh = 0.05", data)[0]["found"] == "0.0500001 (copies (exact))"


def test_a_variant_is_judged_alone():
    data = run()
    data["results"][6]["risk"]["high_simultaneous"] = 0.9
    assert why('[attacks."inference[nearest record]"]\nhigh = 0.05', data) == ""
    assert why('[attacks."inference[CAP]"]\nhigh = 0.05', data) == "above 0.05"
    assert why('[attacks."inference[no such way]"]\nhigh = 0.9', data) == "was not tested"
    assert why("[attacks.any]\nhigh = 0.5", data) == "above 0.5"


@pytest.mark.parametrize("toml", ["[attacks.singling_out]\nhigh = 1", "[power]\nsinging_out = 1"])
def test_an_attack_that_did_not_run_keeps_no_limit(toml):
    toml = toml.replace("singing", "singling")
    assert why(toml, run()) in ("was not tested", "no headline comparison was made")
    assert judged(toml, run())[0]["found"] == "not tested"


@pytest.mark.parametrize("toml", ['required = ["copies"]', "[attacks.copies]\nhigh = 1", "[power]\ncopies = 1",
                                  "[attacks.any]\nhigh = 1", "[power]\nany = 1"])  # fmt: skip
def test_tests_that_failed_or_were_left_out_break_a_condition_on_their_attack(toml):
    assert why(toml, run()) == ""
    assert why(toml, run(failed=[{"attack": "copies", "why": "..."}])) == "copies failed"
    late = [{"attack": "copies", "n": 3, "of": 40, "why": "the time was up"}]
    assert why(toml, run(left_out=late)) == "3 of 40 tests of copies were left out"
    others = why(toml, run(failed=[{"attack": "cap", "why": "..."}]))
    assert others == ("cap failed" if "any" in toml else "")


def test_a_required_attack_must_have_run_and_been_compared():
    assert judged('required = ["linkability"]', run())[0]["found"] == "3 comparisons with strangers"
    assert why('required = ["singling_out"]', run()) == "it did not run"
    assert why('required = ["k_anonymity"]', run()) == "it ran, and nothing was compared with strangers"
    lonely = run(results=[result("copies", verdict="no holdout", holdout=None), result("cap")])
    assert why('required = ["copies"]', lonely) == "it ran, and nothing was compared with strangers"
    nobody = run(
        results=[result("copies", verdict="cannot tell", real={"hits": 0, "n": 0, "rate": None}), result("cap")]
    )
    assert why('required = ["copies"]', nobody) == "it ran, and nothing was compared with strangers"


def test_power_is_that_of_the_headline_comparison():
    assert judged("[power]\nlinkability = 0.05", run())[0]["found"] == "0.04 (linkability (balanced halves, k = 1))"
    assert why("[power]\ncopies = 0.05\n", run()) == ""
    assert why("[power]\nany = 0.05\n", run()) == ""
    data = run()
    data["results"][3]["smallest_detectable"] = 0.07
    assert why("[power]\nlinkability = 0.05", data) == why("[power]\nany = 0.05", data) == "above 0.05"
    data["results"][3]["smallest_detectable"] = None
    assert why("[power]\nlinkability = 1", data) == (
        "1 of 2 comparisons has none, as linkability (random halves, k = 1)"
    )
    del data["results"][2:4]
    assert why("[power]\nlinkability = 1", data) == "no headline comparison of linkability reached anybody"


def test_every_critical_precondition_must_hold():
    kept = {c["condition"]: c for c in judged("preconditions = true", run()) if c["kept"]}
    assert list(kept) == [f"precondition: {c}" for c in ALWAYS]
    assert kept["precondition: exchangeable"]["found"] == "exchangeable was seen"
    for check in ("different tables", "exchangeable", "units apart"):
        made = [*run()["preconditions"], {"check": check, "ok": False, "detail": "bad\x1b"}]
        bad = [c for c in judged("preconditions = true", run(preconditions=made)) if not c["kept"]]
        assert [c["condition"] for c in bad] == [f"precondition: {check}"]
        assert "\x1b" not in bad[0]["found"]


def test_a_precondition_that_was_not_looked_at_is_not_kept():
    bare = run(preconditions=[{"check": "same columns", "ok": True, "detail": ""}], settings={"unit": "household"})
    bad = [c for c in judged("preconditions = true", bare) if not c["kept"]]
    assert [(c["condition"], c["why"]) for c in bad] == [(f"precondition: {c}", "was not tested") for c in ALWAYS[1:]]
    made = [*run()["preconditions"][:-2], {"check": "holdout unseen", "ok": True, "tested": False, "detail": "few"}]
    assert ("precondition: holdout unseen", "not tested", "was not tested: few") in [
        (c["condition"], c["found"], c["why"]) for c in judged("preconditions = true", run(preconditions=made))
    ]


def test_further_preconditions_come_beside_the_critical_ones():
    few = [c | {"ok": c["check"] != "sizes"} for c in run()["preconditions"]]
    assert judge_policy(run(preconditions=few), Policy())["kept"]
    bad = [c for c in judged('preconditions = ["sizes", "holdout"]', run(preconditions=few)) if not c["kept"]]
    assert [c["condition"] for c in bad] == ["precondition: sizes"]
    assert len(judged('preconditions = ["sizes", "holdout"]', run())) == 8


SEEN = "[positive_control]\nseen = true"
SMALL = "[positive_control]\nsmallest_share = 0.02"


def test_each_planted_kind_must_be_seen():
    kinds = [planted("random people"), planted("near copies")]
    assert why(SEEN, run(positive_control=kinds)) == ""
    assert why(SEEN, run()) == "no positive control was run"
    unseen = [*kinds, planted("unusual people", verdict="none found")]
    assert why(SEEN, run(positive_control=unseen)) == "not seen: unusual people"
    unplanted = [*kinds, planted("unusual people", verdict=None)]
    assert why(SEEN, run(positive_control=unplanted)) == "unusual people: could not be planted"
    # what shows without the plant too does not show that the plant is seen
    again = run(positive_control=[planted("near copies", without=True)], verdict={"verdict": "excess found"})
    assert why(SEEN, again) == "not seen: near copies"
    assert why(SEEN, run(positive_control=kinds, verdict={"verdict": "excess found"})) == ""


def test_the_share_that_would_be_seen_has_a_limit():
    kinds = [planted("random people", share=0.02), planted("near copies", share=0.01)]
    (found,) = judged(SMALL, run(positive_control=kinds))
    assert found["kept"]
    assert found["found"] == "random people: 0.02; near copies: 0.01"
    for share in (0.021, 1.5, 0.0):
        kinds[1] = planted("near copies", share=share)
        assert why(SMALL, run(positive_control=kinds)) == "not so small: near copies"
    assert why(SMALL, run()) == "no positive control was run"


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [("rose", "a risk rose"), ("cannot compare", "nothing could be compared"), ("fell", ""), ("no change found", "")],
)
def test_no_risk_may_have_risen(verdict, expected):
    asked = '[change]\nverdict = "no change found"'
    data = run()
    rows = [{k: r[k] for k in ("attack", "variant", "keys", "target")} | {"verdict": verdict} for r in data["results"]]
    assert why(asked, run(change={"verdict": verdict, "sentence": "...", "comparisons": rows})) == expected
    assert why(asked, run()) == "no previous run was given"
    if verdict == "cannot compare":
        rows[0]["verdict"] = "no change found"
        expected = f"{len(rows) - 1} comparisons could not be compared"
        assert why(asked, run(change={"verdict": verdict, "sentence": "...", "comparisons": rows})) == expected


def test_a_change_that_was_hardly_looked_for_is_not_kept():
    asked = '[change]\nverdict = "no change found"'
    data = run()
    rows = [
        {k: r[k] for k in ("attack", "variant", "keys", "target")} | {"verdict": "no change found"}
        for r in data["results"]
    ]
    told = {"verdict": "no change found", "sentence": "...", "comparisons": rows}
    assert why(asked, run(change=told)) == ""
    few = told | {"comparisons": [c for c in rows if c["attack"] != "copies"]}
    assert why(asked, run(change=few)) == "nothing of copies could be compared"
    late = run(change=told, left_out=[{"attack": "cap", "n": 1, "of": 2, "why": "late"}])
    assert why(asked, late) == "1 of 2 tests of cap was left out"
    new = [*data["results"], result("cap", "zero", verdict="excess found")]
    assert "made no comparison" in why(asked, run(change=told, results=new))


def test_rules_alone_make_a_policy_of_their_own():
    found = judge_policy(run(), None, ["copies.high > 0.01", "any.low > 0"])
    assert (found["name"], found["sha256"], found["kept"]) == ("--fail-on", None, False)
    assert [c["condition"] for c in found["conditions"]] == [
        "copies: simultaneous upper limit of risk at most 0.01",
        "all attacks: simultaneous lower limit of risk at most 0",
    ]
    assert broken(found) == [
        "copies: simultaneous upper limit of risk at most 0.01: found 0.0300 (copies (exact)), above 0.01"
    ]
    assert broken(judge_policy(run(), None, ["cap.high > 1"])) == [
        "cap: simultaneous upper limit of risk at most 1: was not tested"
    ]


def test_rules_of_the_file_and_of_the_command_line_are_all_asked():
    policy = policy_from_toml(BARE + 'fail_on = ["copies.high > 0.01"]')
    assert not judge_policy(run(), policy)["kept"]
    assert len(judge_policy(run(), policy, ["any.low > 0"])["conditions"]) == 3


# ---------------------------------------------------------------- the file


def test_the_template_is_a_policy_commented_lines_included():
    assert len(conditions(policy_from_toml(TEMPLATE))) == 18
    everything = re.sub(r"^# (?=\[|\w+ = )", "", TEMPLATE, flags=re.M).replace("preconditions = true\n", "")
    policy = policy_from_toml(everything)
    assert policy.positive_control.seen and policy.change
    assert policy.fail_on == ("any.low > 0.01", "column_pairs[all].ruler > 3", "column_shapes differs")
    assert all(f in everything for f in Policy.__struct_fields__ if f not in ("sha256", "file_changed"))
    assert policy.primary == ("copies", "dcr", "linkability", "inference", "membership")
    assert policy.limits == {"dcr": 0.1} and policy.accepted["dcr"].on == date(2026, 11, 29)


ACCEPTED = '[accepted.dcr]\nlimit = 0.1\nwhy = "few"\nby = "Ada"\non = 2026-11-29\n'
BOUND = {
    "attack": "dcr", "variant": "nearness", "keys": [], "target": None, "words": "nearness", "primary": True, "limit": 0.07,
    "shown": 1.0, "bounded": False, "people": None, "acceptable": None,
}  # fmt: skip


def bounded(*bounds, **more):
    data = run(verdict={"verdict": "cannot tell", "bounds": list(bounds)}, **more)
    return data | {"settings": {**data["settings"], "acceptable": 0.05}}


@pytest.mark.parametrize(
    ("text", "bound", "found", "why"),
    [
        (ACCEPTED, BOUND, "bounded", ""),
        ('primary = ["dcr"]', BOUND, "not bounded", "above 0.05"),
        ('primary = ["dcr"]', BOUND | {"limit": 0.04, "bounded": True}, "bounded", ""),
        (ACCEPTED, BOUND | {"limit": 0.11}, "not bounded", "above 0.1"),
        (ACCEPTED, BOUND | {"limit": None}, "not bounded", "above 0.1"),
        ('primary = ["dcr", "copies", "inference"]\n' + ACCEPTED, BOUND, "bounded", ""),
    ],
)
def test_bounds_are_judged_by_the_accepted_limit_or_the_acceptable_one(text, bound, found, why):
    judged = judge_policy(bounded(bound), policy_from_toml("preconditions = false\n" + text))
    own = [c for c in judged["conditions"] if c["condition"].startswith("dcr: its bound is at most")]
    assert [(c["found"], c["why"], c["kept"]) for c in own] == [(found, why, not why)]
    (none,) = (
        c for c in judge_policy(bounded(), policy_from_toml(text))["conditions"] if c["condition"][:7] == "dcr: it"
    )
    assert (none["found"], none["why"]) == ("not tested", "it has no bound")


def test_what_is_known_of_when_a_limit_was_accepted():
    """Dates are compared with this run and with an earlier one of the same tables; other runs nobody knows."""
    table = {"rows": 10, "columns": 2, "sha256": "0" * 64, "hashed": "file"}
    same = {"real": table, "synthetic": table, "holdout": table}
    policy = policy_from_toml(ACCEPTED)

    def known(acceptable, started, earlier=None, tables=same):
        now = bounded(BOUND | {"acceptable": acceptable}, tables=same, started=started)
        before = None if earlier is None else assessment(bounded(tables=tables, started=earlier))
        (told,) = judging.judge_policy(assessment(now), policy, (), before).accepted
        assert (told.attack, told.limit, told.why, told.by, told.on) == ("dcr", 0.1, "few", "Ada", "2026-11-29")
        return told.known

    day = "2026-11-{}T08:00:00+00:00"
    assert known(0.1, day.format(30)) == UNKNOWN
    assert known(None, day.format(30)) == LATER
    assert known(0.1, day.format(28)) == FUTURE
    assert known(0.1, day.format(30), day.format(29)) == AFTER.format("2026-11-29")
    assert known(0.1, day.format(30), day.format(28)) == AFTER.format("2026-11-28")
    assert known(0.1, "2026-12-02T08:00:00+00:00", day.format(30)) == BEFORE.format("2026-11-30")
    other = same | {"synthetic": table | {"sha256": "1" * 64}}
    assert known(0.1, day.format(30), day.format(28), other) == UNKNOWN


def test_the_first_run_by_a_file_is_told_as_far_as_it_is_known(tmp_path):
    (tmp_path / "p.toml").write_text(ACCEPTED)
    policy = read_policy(tmp_path / "p.toml")
    first = assessment(bounded(started="2026-11-28T08:00:00+00:00"))
    first = replace(first, policy=judging.judge_policy(first, policy))
    now = assessment(bounded(started="2026-11-30T08:00:00+00:00"))
    assert judging.judge_policy(now, policy).known_since == now.started
    assert judging.judge_policy(now, policy, (), first).known_since == first.started
    assert datetime.fromisoformat(judging.judge_policy(now, policy).file_changed).tzinfo is not None
    (tmp_path / "p.toml").write_text(ACCEPTED.replace("few", "fewer"))
    assert judging.judge_policy(now, read_policy(tmp_path / "p.toml"), (), first).known_since == now.started
    assert judging.judge_policy(now, policy_from_toml(ACCEPTED)).known_since is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('primary = ["nearness"]', "primary: no attack 'nearness'"),
        ('primary = ["nndr"]', "primary: no run bounds 'nndr'. hint: use copies, dcr"),
        ('primary = "copies"', "primary: expected array, got str"),
        (ACCEPTED.replace("dcr", "dcrs"), r"\[accepted\]: no attack 'dcrs'. hint: did you mean 'dcr'"),
        (ACCEPTED.replace("0.1", "10"), r"\[accepted.dcr\]: limit: not between 0 and 1. hint: 0.1 is 10%"),
        (ACCEPTED.replace("0.1", "-0.1"), r"\[accepted.dcr\]: limit: not between 0 and 1"),
        (ACCEPTED.replace("0.1", "nan"), r"\[accepted.dcr\]: limit: not between 0 and 1"),
        (ACCEPTED.replace("0.1", '"5%"'), r"\[accepted.dcr\]: limit: expected float, got str"),
        (ACCEPTED.replace("0.1", "true"), r"\[accepted.dcr\]: limit: expected float, got bool"),
        (ACCEPTED.replace('why = "few"\n', ""), r"\[accepted.dcr\]: why is missing"),
        (ACCEPTED.replace('"few"', '"  "'), r"\[accepted.dcr\]: why is missing"),
        (ACCEPTED.replace('by = "Ada"\n', ""), r"\[accepted.dcr\]: by is missing"),
        (ACCEPTED.replace('"Ada"', "7"), r"\[accepted.dcr\]: by: expected str, got int"),
        (ACCEPTED.replace("limit = 0.1\n", ""), r"\[accepted.dcr\]: limit is missing"),
        (ACCEPTED.replace("on = 2026-11-29\n", ""), r"\[accepted.dcr\]: on is missing"),
        (
            ACCEPTED.replace("2026-11-29", '"2026-11-29"'),
            r"\[accepted.dcr\]: on: no date. hint: write it without quotes",
        ),
        (ACCEPTED.replace("2026-11-29", "2026-11-29T08:00:00"), r"\[accepted.dcr\]: on: no date"),
        (ACCEPTED + "who = 1", r"\[accepted.dcr\]: unknown entry 'who'. hint: use limit, why, by, on"),
        ("accepted = 3", r"\[accepted\] is no table"),
        ("[accepted]\ndcr = 0.1", r"\[accepted.dcr\] is no table"),
    ],
)
def test_a_mistake_about_bounds_names_its_field(text, said):
    with pytest.raises(SettingError, match="^policy: " + said) as refused:
        policy_from_toml(text)
    assert "hint: " in str(refused.value)


def test_the_hash_is_that_of_the_file(tmp_path):
    content = b'\xef\xbb\xbfname = "r\xc3\xa9sum\xc3\xa9"\r\n'
    (tmp_path / "p.toml").write_bytes(content)
    policy = read_policy(tmp_path / "p.toml")
    assert policy.name == "résumé"
    assert policy.sha256 == judge_policy(run(), policy)["sha256"] == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ("high = 0.05", "policy: unknown entry 'high'. hint: use name, verdicts, "),
        ('sha256 = "0"', "unknown entry 'sha256'"),
        ("[limits]\nhigh = 1", "unknown entry 'limits'"),
        ("[attacks.copies]\nhihg = 0.05", r"policy: \[attacks.copies\]: unknown entry 'hihg'. hint: use high, low,"),
        ("[attacks.copies]", r"\[attacks.copies\] asks for nothing"),
        ("[positive_control]\nseen = false", "asks for nothing"),
        ("attacks = 1", r"\[attacks\] is no table"),
        ("[attacks]\ncopies = 0.05", r"\[attacks.copies\] is no table"),
        ("[attacks.copy]\nhigh = 0.05", "no attack 'copy'"),
        ("[attacks.cpies]\nlow = 0", r"\[attacks\]: no attack 'cpies'. hint: did you mean 'copies'"),
        ('[attacks."copies[exact"]\nhigh = 0.05', "not a rule"),
        ("[attacks.copies]\nhigh = '0.05'", r"\[attacks.copies\]: high: expected float, got str"),
        ("[attacks.copies]\nhigh = true", "expected float, got bool"),
        ("[attacks.copies]\nhigh = nan", "high: expected float >= -1.0"),
        ("[attacks.copies]\nhigh = 5", "high: expected float <= 1.0"),
        ("[attacks.copies]\nscore = 101", "score: expected float <= 100.0"),
        ("[power]\ncopies = 0", r"\[power\]: copies: expected float > 0"),
        ("[power]\ncopies = 5", r"\[power\]: copies: expected float <= 1"),
        ("[power]\ncopy = 0.5", r"\[power\]: no attack 'copy'"),
        ('required = "copies"', "required: expected array, got str"),
        ('required = ["copy"]', "required: no attack 'copy'"),
        ('verdicts = ["nothing found"]', "verdicts: no such word"),
        ("verdicts = []", "verdicts: expected array of length >= 1"),
        ('name = ""', "name: expected str of length >= 1"),
        ('fail_on = ["copies > 1"]', "policy: fail_on 'copies > 1': not a rule"),
        ('fail_on = ["copies.high > 1e999"]', "not a rule"),
        ('preconditions = ["size"]', "no check 'size'. hint: use different tables"),
        ("preconditions = 1", "preconditions: expected bool"),
        ('[change]\nverdict = "rose"', r"\[change\]: verdict: no such word"),
        ("[change]", r"\[change\] asks for nothing"),
        ("[positive_control]\nsmallest_share = 2", "smallest_share: expected float <= 1"),
        ("secret = 1\nsecret = 2\n", r"not TOML \(at line 2, column 11\)"),
        pytest.param("secret = " + "[" * 5000, r"not TOML\. hint", id="5000 brackets"),
        pytest.param("secret = " + "1" * 5000, r"not TOML\. hint", id="5000 digits"),
    ],
)
def test_a_file_with_a_mistake_is_refused(toml, said):
    with pytest.raises(SettingError, match=said) as refused:
        policy_from_toml(toml)
    assert re.match("policy: .* hint: .*", str(refused.value))
    assert "secret" not in str(refused.value)


def test_a_file_that_cannot_be_read_is_an_error_of_ours(tmp_path):
    (tmp_path / "latin.toml").write_bytes(b'name = "\xe9"')
    with pytest.raises(SettingError, match=r"^latin\.toml: not UTF-8"):
        read_policy(tmp_path / "latin.toml")
    with pytest.raises(SettingError, match=r"^none\.toml: cannot be read"):
        read_policy(tmp_path / "none.toml")


def test_an_external_edition_is_not_judged_by_its_rounded_numbers():
    with pytest.raises(SettingError, match="external edition"):
        judge_policy(run(edition="external"), Policy())


# ---------------------------------------------------------------- the commands


@pytest.fixture
def divulge(monkeypatch, capsys, tmp_path, unsearched):
    """Run the command line in a folder with an assessment, and return exit status, output and errors."""
    unsearched.to_json(tmp_path / "assessment.json")
    monkeypatch.chdir(tmp_path)

    def command(*arguments):
        monkeypatch.setattr(sys, "argv", ["divulge", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        out = capsys.readouterr()
        return stopped.value.code or 0, out.out, out.err

    return command


def test_the_template_is_printed_and_checked(divulge, tmp_path):
    code, out, _ = divulge("policy")
    assert (code, out) == (0, TEMPLATE)
    (tmp_path / "p.toml").write_text(out)
    code, out, _ = divulge("policy", "--check", "p.toml")
    assert code == 0
    assert out.startswith("my release: 18 conditions\n- overall verdict: none found or cannot tell\n")
    (tmp_path / "p.toml").write_text("nmae = 1")
    code, out, err = divulge("policy", "--check", "p.toml")
    assert (code, out) == (2, "")
    assert "p.toml: unknown entry 'nmae'" in err


def test_the_gate_judges_without_the_data(divulge, tmp_path):
    (tmp_path / "p.toml").write_text(BARE + "[attacks.linkability]\nhigh = 1")
    code, out, err = divulge("gate", "assessment.json", "--policy", "p.toml", "--fail-on", "inference.high > 1")
    assert (code, err) == (0, "")
    assert "policy: kept" in out
    code, out, err = divulge("gate", "assessment.json", "--policy", "p.toml", "--fail-on", "inference.high > -1")
    assert code == 1
    assert "policy: NOT KEPT" in out
    assert "divulge: not kept: inference: simultaneous upper limit of risk at most -1: found " in err
    assert "31mx" in err
    assert "\x1b" not in out + err
    assert divulge("gate", "assessment.json", "--fail-on", "cap.high > 1", "-q")[:2] == (1, "")


def test_the_gate_writes_junit(divulge, tmp_path):
    code, *_ = divulge("gate", "assessment.json", "--fail-on", "linkability.low > 1", "--junit", "new/j.xml", "-q")
    assert code == 0
    assert '<testsuite name="policy"' in (tmp_path / "new/j.xml").read_text()
    code, _, err = divulge("gate", "assessment.json", "--fail-on", "linkability.low > 1", "--junit", tmp_path, "-q")
    assert code == 2
    assert "--junit: this is not a file name" in err
    code, _, err = divulge("gate", "assessment.json", "--fail-on", "excess", "--junit", "assessment.json")
    assert (code, "--junit: this file is an input" in err) == (2, True)
    assert (tmp_path / "assessment.json").read_bytes().startswith(b"{")


def test_a_file_that_adds_nothing_is_said_to(divulge, tmp_path):
    (tmp_path / "p.toml").write_text("")
    said = divulge("policy", "--check", "p.toml")[1].splitlines()
    assert said[:2] == ["policy: 7 conditions", "The file sets no condition beyond the defaults, which are:"]
    (tmp_path / "p.toml").write_text('required = ["copies"]')
    assert "defaults" not in divulge("policy", "--check", "p.toml")[1]


def test_a_broken_condition_is_one_sentence():
    data = run(verdict={"verdict": "excess found"}, left_out=[{"attack": "copies", "n": 1, "of": 1, "why": "late"}])
    judged = judge_policy(data, Policy(preconditions=False), ["excess", "copies.high > 0.5"])
    assert broken(judged) == [
        "overall verdict: none found or cannot tell: found «excess found», not allowed",
        "overall verdict: none of «excess found», «deficit found» and «no holdout»: found «excess found», not allowed",
        "copies: simultaneous upper limit of risk at most 0.5: the one test of copies was left out",
    ]


SURROGATE = r'"\ud800"'


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        (("tables", "real", "rows"), "9" * 400, "$.tables.real.rows: a number out of range"),
        (("tables", "real", "rows"), str(2**53 + 1), "$.tables.real.rows: not of its kind"),
        (("tables", "real", "columns"), "-1", "$.tables.real.columns: not of its kind"),
        (("seconds",), "1e999", "$.seconds: a number out of range"),
        (("seconds",), SURROGATE, "$.seconds: text that is no Unicode"),
        (("notes",), f"[{SURROGATE}]", "$.notes[...]: text that is no Unicode"),
        (("versions",), f'{{{SURROGATE}: "1"}}', "$.versions[...]: text that is no Unicode"),
        (("edition",), SURROGATE, "$.edition: text that is no Unicode"),
        (("later",), "[" * 300 + "]" * 300, ": nested too deeply"),
    ],
    ids=range(9),
)
def test_an_assessment_that_no_document_can_show_is_refused(divulge, tmp_path, field, value, said):
    data = json.loads((tmp_path / "assessment.json").read_text())
    inner = data
    for name in field[:-1]:
        inner = inner[name]
    inner[field[-1]] = "HERE"
    (tmp_path / "assessment.json").write_text(json.dumps(data).replace('"HERE"', value))
    code, out, err = divulge("gate", "assessment.json", "--fail-on", "excess")
    assert (code, out) == (2, "")
    assert f"damaged at {said}" in err or said in err
    assert "999" not in err


def test_the_gate_needs_something_to_judge_by_and_to_judge(divulge, tmp_path):
    assert divulge("gate", "assessment.json")[0] == 2
    (tmp_path / "other.json").write_text("{}")
    assert divulge("gate", "other.json", "--fail-on", "excess")[0] == 2
    assert divulge("gate", "none.json", "--fail-on", "excess")[0] == 2
    assert divulge("gate", "assessment.json", "--fail-on", "copies > 1")[0] == 2
    assert divulge("gate", "assessment.json", "--policy", "none.toml")[0] == 2
