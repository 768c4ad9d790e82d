import pytest

from divulge.errors import SettingError
from divulge.gate import breaches, parse_rule

KNOWN = ["cap", "copies"]


def data(*bounds, verdict="none found"):
    results = [
        {
            "attack": a,
            "risk": None if high is None else {"high_simultaneous": high, "low_simultaneous": -0.1, "value": 0.01},
        }
        for a, high in bounds
    ]
    return {"verdict": {"verdict": verdict}, "results": results}


def test_the_largest_bound_of_an_attack_counts():
    run = data(("cap", 0.02), ("cap", 0.09), ("copies", 0.5))
    assert breaches(run, ["cap.high > 0.05"], KNOWN) == ["cap.high > 0.05: found 0.0900"]
    assert breaches(run, ["cap.high > 0.1"], KNOWN) == []


def test_any_covers_every_attack():
    assert breaches(data(("cap", 0.02), ("copies", 0.5)), ["any.high >= 0.5"], KNOWN)


def test_an_attack_that_was_not_tested_breaks_its_rule():
    assert breaches(data(("cap", 0.02)), ["copies.high > 0.9"], KNOWN) == ["copies.high > 0.9: was not tested"]
    assert breaches(data(("cap", None)), ["cap.high > 0.9"], KNOWN) == ["cap.high > 0.9: was not tested"]


def test_a_bound_that_is_undefined_breaks_its_rule():
    run = data(("cap", 0.02), ("cap", None))
    run["results"][1]["risk"] = {"high_simultaneous": None, "low_simultaneous": None, "value": None}
    assert breaches(run, ["cap.high > 0.9"], KNOWN) == ["cap.high > 0.9: 1 of 2 comparisons have no such bound"]


def test_a_run_without_a_holdout_breaks_the_excess_rule():
    assert breaches(data(("cap", None), verdict="no holdout"), ["excess"], KNOWN)


def test_excess_is_a_rule_on_the_verdict():
    assert breaches(data(("cap", 0.2), verdict="excess found"), ["excess"], KNOWN)
    assert not breaches(data(("cap", 0.2)), ["excess"], KNOWN)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("cap.high>0.05", ("cap", "high", ">", 0.05)),
        (" any.low >= -1e-3 ", ("any", "low", ">=", -0.001)),
        ("copies.value < .5", ("copies", "value", "<", 0.5)),
        ("excess", "excess"),
    ],
)
def test_rules_are_read(rule, expected):
    assert parse_rule(rule, KNOWN) == expected


@pytest.mark.parametrize("rule", ["cap > 0.05", "cap.high = 0.05", "cap.high > ", "", "cap.high > 0.05; import os"])
def test_other_text_is_refused(rule):
    with pytest.raises(SettingError, match="not a rule"):
        parse_rule(rule, KNOWN)


def test_an_unknown_attack_is_refused_with_the_known_ones():
    with pytest.raises(SettingError, match=r"no attack 'linkability'.*cap, copies"):
        parse_rule("linkability.high > 0.05", KNOWN)
