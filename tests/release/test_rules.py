import pytest
from report_helpers import breaches, judge_rule, unfinished

from divulge.core.errors import SettingError
from divulge.release.rules import Judged, judge_score, parse_rule, parse_score_rule
from divulge.report.policy_model import PolicyRule, condition_in_words

KNOWN = ["cap", "copies"]


def data(*bounds, verdict="none found"):
    results = [
        {
            "attack": a, "variant": "", "keys": [], "target": None, "score": None, "holdout": None,
            "risk": None if high is None else {"high_simultaneous": high, "low_simultaneous": -0.1, "value": 0.01},
        }
        for a, high in bounds
    ]  # fmt: skip
    return {"verdict": {"verdict": verdict}, "results": results}


def test_the_largest_bound_of_an_attack_counts():
    run = data(("cap", 0.02), ("cap", 0.09), ("copies", 0.5))
    assert breaches(run, ["cap.high > 0.05"], KNOWN) == ["cap.high > 0.05: found 0.0900 (cap)"]
    assert breaches(run, ["cap.high > 0.1"], KNOWN) == []


def test_any_covers_every_attack():
    assert breaches(data(("cap", 0.02), ("copies", 0.5)), ["any.high >= 0.5"], KNOWN)


def test_an_attack_that_was_not_tested_breaks_its_rule():
    assert breaches(data(("cap", 0.02)), ["copies.high > 0.9"], KNOWN) == ["copies.high > 0.9: was not tested"]
    assert breaches(data(("cap", None)), ["cap.high > 0.9"], KNOWN) == ["cap.high > 0.9: was not tested"]


def test_a_bound_that_is_undefined_breaks_its_rule():
    run = data(("cap", 0.02), ("cap", None))
    run["results"][1]["risk"] = {"high_simultaneous": None, "low_simultaneous": None, "value": None}
    broken = ["cap.high > 0.9: 1 of 2 comparisons has no such bound, as cap (zero) -> income"]
    run["results"][1] |= {"variant": "zero", "target": "income", "holdout": {"rate": 0.99}}
    assert breaches(run, ["cap.high > 0.9"], KNOWN) == broken


def test_strangers_who_are_always_hit_break_no_rule():
    run = data(("cap", 0.02), ("cap", None))
    run["results"][1] |= {
        "risk": {"high_simultaneous": None, "low_simultaneous": None, "value": None}, "holdout": {"rate": 1.0}
    }  # fmt: skip
    assert breaches(run, ["cap.high > 0.9", "any.low > 0"], KNOWN) == []
    assert breaches(run, ["cap.high > 0.01"], KNOWN) == ["cap.high > 0.01: found 0.0200 (cap)"]
    del run["results"][0]
    assert breaches(run, ["cap.high > 0.9"], KNOWN) == ["cap.high > 0.9: was not tested"]


def test_a_broken_rule_names_the_result_without_control_characters():
    run = data(("cap", 0.02), ("cap", 0.09))
    run["results"][1] |= {"variant": "zero", "keys": ["age", "se\x1bx"], "target": "income"}
    assert breaches(run, ["cap.high > 0.05"], KNOWN) == [
        "cap.high > 0.05: found 0.0900 (cap (zero): age + se\ufffdx -> income)"
    ]


@pytest.mark.parametrize(
    ("n", "of", "said"),
    [
        (1, 1, "the one test of {x} was left out"),
        (1, 4, "1 of 4 tests of {x} was left out"),
        (4, 4, "4 of 4 tests of {x} were left out"),
    ],
)
def test_left_out_tests_are_counted_in_words(n, of, said):
    assert unfinished({"left_out": [{"attack": "{x}", "n": n, "of": of}]}, "any") == said


def test_the_smallest_score_counts():
    run = data(("cap", 0.02), ("cap", 0.09), ("copies", 0.1), ("copies", 0.2))
    for r, score in zip(run["results"], (99.0, 91.0, None, 97.0), strict=True):
        r |= {"score": score, "variant": f"score {score}"}
    assert breaches(run, ["cap.score < 95"], KNOWN) == ["cap.score < 95: found 91.0 (cap (score 91.0))"]
    assert breaches(run, ["copies.score < 95", "cap.score < 91", "cap.score <= 90.9"], KNOWN) == []
    assert breaches(data(("cap", 0.02)), ["cap.score < 95"], KNOWN) == ["cap.score < 95: was not tested"]


@pytest.mark.parametrize("variant", ["3 columns", "balanced halves, k = 1", "nearest record"])
def test_a_variant_is_looked_at_alone(variant):
    run = data(("cap", 0.02), ("cap", 0.09))
    run["results"][0] |= {"variant": variant}
    run["results"][1] |= {"variant": "other"}
    assert breaches(run, [f"cap[{variant}].high > 0.05", f"any[{variant}].high > 0.05"], KNOWN) == []
    assert breaches(run, [f"cap[ {variant} ].high > 0.01"], KNOWN)[0].endswith(f"found 0.0200 (cap ({variant}))")
    unknown = "cap[nothing].high > 0.05"
    assert breaches(run, [unknown], KNOWN) == [f"{unknown}: was not tested"]


def test_a_run_without_a_holdout_breaks_the_excess_rule():
    assert breaches(data(("cap", None), verdict="no holdout"), ["excess"], KNOWN)


def test_excess_is_a_rule_on_the_verdict():
    assert breaches(data(("cap", 0.2), verdict="excess found"), ["excess"], KNOWN)
    assert not breaches(data(("cap", 0.2)), ["excess"], KNOWN)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("cap.high>0.05", ("cap", "", "high", ">", 0.05)),
        (" any.low >= -1e-3 ", ("any", "", "low", ">=", -0.001)),
        ("copies.value < .5", ("copies", "", "value", "<", 0.5)),
        ("cap[a, k = 1].score<95", ("cap", "a, k = 1", "score", "<", 95.0)),
    ],
)
def test_rules_are_read(rule, expected):
    fields = dict(zip(("of", "part", "field", "operator", "limit"), expected, strict=True))
    assert parse_rule(rule, KNOWN) == PolicyRule(kind="risk", **fields)
    assert parse_rule("excess", KNOWN) == PolicyRule(kind="excess")


@pytest.mark.parametrize(
    "rule",
    [
        "cap > 0.05",
        "cap.high = 0.05",
        "cap.high > ",
        "",
        "cap.high > 0.05; import os",
        "cap[].high > 0",
        "cap[a.high > 0",
        "cap.high > 1e999",
    ],
)
def test_other_text_is_refused(rule):
    with pytest.raises(SettingError, match="not a rule"):
        parse_rule(rule, KNOWN)


def test_an_unknown_attack_is_refused_with_the_known_ones():
    with pytest.raises(SettingError, match=r"no attack 'linkability'.*cap, copies"):
        parse_rule("linkability.high > 0.05", KNOWN)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("cap.high > 0.05", "cap: simultaneous upper limit of risk at most 0.05"),
        ("any.low >= 0", "all attacks: simultaneous lower limit of risk below 0"),
        ("copies[exact].value < 0.1", "copies (exact): the largest risk at least 0.1"),
        ("cap.score < 95", "cap: score at least 95"),
        ("cap.score >= 95", "cap: the smallest score below 95"),
        ("excess", "overall verdict: none of «excess found», «deficit found» and «no holdout»"),
    ],
)
def test_what_keeps_a_rule_is_said_in_words(rule, words):
    assert condition_in_words(parse_rule(rule, KNOWN)) == words


def test_a_rule_is_judged_with_the_number_and_the_reason():
    run = data(("cap", 0.02), ("cap", 0.09))
    assert judge_rule(run, "cap.high > 0.05", KNOWN) == Judged("0.0900 (cap)", False, "above 0.05")
    assert judge_rule(run, "cap.high >= 0.09", KNOWN).why == "not below 0.09"
    assert judge_rule(run, "cap.high > 0.1", KNOWN) == Judged("0.0900 (cap)", True)
    assert judge_rule(run, "copies.high > 0.1", KNOWN) == Judged("", False, "was not tested")
    assert judge_rule(data(verdict="no holdout"), "excess", KNOWN).found == "«no holdout»"


def test_tests_that_failed_or_were_left_out_break_a_rule_on_their_attack():
    run = data(("cap", 0.02), ("copies", 0.02)) | {"failed": [{"attack": "cap", "why": "..."}]}
    assert breaches(run, ["cap.high > 0.9"], KNOWN) == ["cap.high > 0.9: cap failed"]
    assert breaches(run, ["copies.high > 0.9"], KNOWN) == []
    run = data(("cap", 0.02), ("copies", 0.02)) | {"left_out": [{"attack": "cap", "n": 2, "of": 1000, "why": "..."}]}
    assert breaches(run, ["any.high > 0.9"], KNOWN) == ["any.high > 0.9: 2 of 1,000 tests of cap were left out"]
    assert breaches(run, ["cap.high > 0.01"], KNOWN) == ["cap.high > 0.01: found 0.0200 (cap)"]
    assert breaches(run, ["copies.high > 0.9"], KNOWN) == []


@pytest.mark.parametrize(
    ("rule", "found"),
    [
        ("quality.score < 0.9", Judged("0.8500", False, "below 0.9")),
        ("quality.score <= 0.8", Judged("0.8500", True)),
        ("quality[Column Shapes].score < 1", Judged("0.99996", False, "below 1")),
        ("quality[ Pairs ].score > 0.1", Judged("", False, "has no score")),
    ],
)
def test_a_rule_on_scores_is_about_the_whole_or_one_part(rule, found):
    scores = {"": 0.85, "Column Shapes": 0.99996, "Pairs": float("nan")}
    assert judge_score(parse_score_rule(rule, "quality", list(scores)), scores) == found
