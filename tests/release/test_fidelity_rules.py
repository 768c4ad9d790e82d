"""Rules on fidelity, in --fail-on and in a policy."""

import pytest
from kept_helpers import SCOPE, kept
from report_helpers import judge_policy
from test_policy import ALL, run

from divulge.core.errors import SettingError
from divulge.release.fidelity_rules import fidelity_rule, parse_rule
from divulge.release.policy import policy_from_toml
from divulge.report.policy_model import PolicyRule, condition_in_words

RESULTS = [
    kept(1.4, "differs"), kept(1.1, "like a fresh sample", columns=("age", "sex")),
    kept(3.2, "differs", columns=("age", "job")), kept(0.6, "closer than a fresh sample", measure="column_shapes"),
    kept(None, "not measured", measure="correlations"),
]  # fmt: skip


def judged(rule, **parts):
    found = judge_policy(run(**({"fidelity": RESULTS, "fidelity_scope": SCOPE} | parts)), None, [rule])
    return found["conditions"][-1]


@pytest.mark.parametrize(
    ("rule", "kept_", "found"),
    [
        ("column_pairs.ruler > 3", False, "3.2000 (column pairs: age + job)"),
        ("column_pairs.ruler > 3.5", True, "3.2000 (column pairs: age + job)"),
        ("column_pairs[all].ruler > 1.3", False, "1.4000 (column pairs)"),
        ("column_pairs[age + sex].ruler >= 1.2", True, "1.1000 (column pairs: age + sex)"),
        ("column_pairs.value > 0.3", False, "0.3200 (column pairs: age + job)"),
        ("any.ruler > 3", False, "3.2000 (column pairs: age + job)"),
        ("column_pairs differs", False, "2 of 3 results, as column pairs: age + job"),
        ("column_shapes differs", True, "none of 1 results"),
        ("column_shapes closer", False, "1 of 1 results, as column shapes"),
        ("any closer", False, "1 of 5 results, as column shapes"),
        ("differs", False, "2 of 5 results, as column pairs: age + job"),
    ],
)
def test_a_rule_is_judged_by_the_largest_number_or_any_verdict(rule, kept_, found):
    c = judged(rule)
    assert (c["kept"], c["found"]) == (kept_, found)


@pytest.mark.parametrize(
    ("rule", "parts", "why"),
    [
        ("correlations.ruler > 3", {}, "was not measured"),
        ("detection differs", {}, "it fits models"),
        ("column_pairs[age + zip] differs", {}, "was not measured"),
        ("column_pairs.ruler > 3", {"fidelity": [], "fidelity_scope": None}, "fidelity was left out"),
        ("column_pairs.low > 3", {}, "has no such number"),
        ("any closer", {"fidelity": RESULTS[:1], "left_out": [{"attack": "fidelity", "n": 3, "of": 7, "why": "late"}]},
         "3 of 7 tests of fidelity were left out"),
    ],
)  # fmt: skip
def test_what_was_not_measured_is_not_kept(rule, parts, why):
    c = judged(rule, **parts)
    assert (c["kept"], c["why"]) == (False, why)


def test_rules_are_read_in_one_grammar_with_those_on_attacks():
    assert fidelity_rule(" column_pairs [x].ruler>3") is None
    assert fidelity_rule("column_pairs[all].ruler >= 1e1") == PolicyRule(
        kind="fidelity", of="column_pairs", part="all", field="ruler", operator=">=", limit=10.0
    )
    assert fidelity_rule("cap.high > 0.05") is None
    words = {
        "cap.high > 0.05": "cap: simultaneous upper limit of risk at most 0.05",
        "column_pairs.ruler > 3": "column_pairs: ruler at most 3",
        "column_pairs.ruler < 0.5": "column_pairs: the largest ruler at least 0.5",
    }
    assert {r: condition_in_words(parse_rule(r, ["cap"])) for r in words} == words


@pytest.mark.parametrize("rule", ["cap.ruler > 3", "pairs differs", "column_pairs.score > 3", "column_pairs far"])
def test_other_text_is_refused(rule):
    with pytest.raises(SettingError, match=r"no measure|not a rule|no attack"):
        parse_rule(rule, ["cap"])


def test_a_policy_takes_such_rules():
    policy = policy_from_toml(f'{ALL}preconditions = false\nfail_on = ["column_pairs[all].ruler > 3", "any differs"]')
    found = judge_policy(run(fidelity=RESULTS, fidelity_scope=SCOPE), policy)["conditions"]
    assert [(c["condition"], c["kept"]) for c in found[1:]] == [
        ("column_pairs (all): ruler at most 3", True),
        ("all measures: no result differs from a fresh sample", False),
    ]
    with pytest.raises(SettingError, match="policy: fail_on"):
        policy_from_toml('fail_on = ["pears differs"]')
