"""The change since a previous run: worked limits, what is the same comparison, and how often it cries wolf."""

import copy
import json
import re
from statistics import NormalDist

import jsonschema
import msgspec
import numpy as np
import pytest
from report_helpers import change, tables

import divulge
from divulge.core.errors import SettingError
from divulge.report.policy_model import Change
from divulge.report.schema import assessment_schema
from divulge.stats.mover import difference
from divulge.stats.outcomes import Outcomes
from divulge.stats.two_sample import compare


@pytest.fixture(scope="module")
def runs(keyed):
    real, _, holdout = tables()
    other = tables(seed=5)[1]
    given = {"holdout": holdout, "keys": ["age", "job"], "targets": ["income", "code"], "models": False, "jobs": 1}
    return {"leaky": keyed.data, "clean": divulge.assess(real, other, **given).data}


def test_the_limits_are_those_of_zou_and_donner():
    value, low, high = difference((0.3, 0.1, 0.6), (0.1, 0.0, 0.4))
    assert value == pytest.approx(0.2)
    assert low == pytest.approx(0.2 - np.hypot(0.2, 0.3))
    assert high == pytest.approx(0.2 + np.hypot(0.3, 0.1))
    assert difference((0.3, 0.1, 0.6), (0.1, 0.0, 0.4), 2.0)[1] == pytest.approx(0.2 - 2 * np.hypot(0.2, 0.3))


def test_the_same_run_shows_no_change(runs):
    found = change(runs["leaky"], json.loads(json.dumps(runs["leaky"])))
    assert found["verdict"] == "no change found"
    assert found["same_people"]
    assert found["same_synthetic"]
    assert found["new"] == found["gone"] == 0
    risks = [r["risk"] for r in runs["leaky"]["results"] if r["risk"] and r["verdict"]]
    assert len(found["comparisons"]) == len(risks) > 20
    assert f"in {len(risks):,} comparisons" in found["sentence"]
    told = [c for c in found["comparisons"] if c["verdict"] != "cannot compare"]
    assert len(told) == sum(None not in (r["value"], r["low"], r["high"]) for r in risks) > 20
    for c in told:
        assert (c["difference"], c["p_adjusted"], c["verdict"]) == (0, 1, "no change found")
        assert c["low_simultaneous"] <= c["low"] <= 0 <= c["high"] <= c["high_simultaneous"]
    assert sum(c["low"] < 0 < c["high"] for c in told) > 20


def run_of(runs, risks):
    """A run of which each comparison is one of (attack, number, value), with limits .02 to either side."""
    one = next(r for r in runs["clean"]["results"] if r["risk"] and r["verdict"] and r["keys"])
    return runs["clean"] | {
        "results": [
            one
            | {"attack": a, "variant": str(i), "risk": one["risk"] | {"value": v, "low": v - 0.02, "high": v + 0.02}}
            for a, i, v in risks
        ]
    }


def p_of(gap):
    """Two-sided p-value of a change of two such risks."""
    z = NormalDist().inv_cdf(0.975)
    return 2 * NormalDist().cdf(-z * abs(gap) / np.hypot(0.02, 0.02))


def changes(runs, gaps):
    """The change of risks by so much, each gap one comparison of its attack; the size of gap comes first."""
    before = [(a, i, 0.3) for a, own in gaps.items() for i in range(len(own))]
    now = [(a, i, 0.3 + gap) for a, own in gaps.items() for i, gap in enumerate(own)]
    return change(run_of(runs, now), run_of(runs, before))


@pytest.mark.parametrize("tests", [1, 2, 9])
def test_simultaneous_limits_allow_for_every_comparison_of_the_attack(runs, tests):
    found = changes(runs, {"cap": [0.01] * tests, "copies": [0.01] * 4})
    half = np.hypot(0.02, 0.02)
    wider = half * NormalDist().inv_cdf(1 - 0.025 / tests) / NormalDist().inv_cdf(0.975)
    for c in found["comparisons"][:tests]:
        assert (c["low"], c["high"]) == pytest.approx((0.01 - half, 0.01 + half))
        assert (c["low_simultaneous"], c["high_simultaneous"]) == pytest.approx((0.01 - wider, 0.01 + wider))


def test_p_values_are_adjusted_within_an_attack_and_its_best_among_the_attacks(runs):
    gaps = [0.033, 0.005, 0.036, 0.0]
    p = [p_of(g) for g in gaps]
    found = changes(runs, {"cap": gaps})
    adjusted = [3 * p[0], 2 * p[1], 4 * p[2], 2 * p[1]]
    assert [c["p_adjusted"] for c in found["comparisons"]] == pytest.approx(np.minimum(1, adjusted))
    # alone it would have risen
    assert p[0] < 0.05 < 3 * p[0]
    assert changes(runs, {"cap": [0.033]})["verdict"] == "rose"
    assert changes(runs, {"cap": [0.033, 0.0, 0.0]})["verdict"] == "no change found"
    # nor is one attack of three enough
    assert changes(runs, {"cap": [0.033], "copies": [0.0], "tcap": [0.0]})["verdict"] == "no change found"
    assert changes(runs, {"cap": [0.06], "copies": [0.0], "tcap": [0.0]})["verdict"] == "rose"


def test_limits_that_leave_room_for_any_rise_are_told_without_a_number(runs):
    """Where nearly all strangers are hit, a risk may be far below -1, and a rise above 1."""
    same = run_of(runs, [("cap", 0, 0.3), ("hitting_rate", 1, -0.5)])
    assert re.search(
        r"the largest rise that the simultaneous limits leave room for is 0\.028 \(", change(same, same)["sentence"]
    )
    same["results"][1]["risk"] |= {"low": -5.0}
    found = change(same, same)
    assert found["comparisons"][1]["high_simultaneous"] > 4
    assert re.search(r"; in hitting.rate .*the simultaneous limits leave room for any rise\.$", found["sentence"])


def test_a_run_in_which_one_risk_rose_and_another_fell_has_risen(runs):
    found = changes(runs, {"cap": [-0.2, 0.1, -0.2]})
    assert [c["verdict"] for c in found["comparisons"]] == ["fell", "rose", "fell"]
    assert found["verdict"] == "rose"
    assert "rose in 1 of 3 comparisons and fell in 2, most in cap (1)" in found["sentence"]


def test_what_cannot_be_compared_outranks_what_did_not_change(runs):
    def found(*risks):
        now = run_of(runs, [("cap", i, 0.3 + gap) for i, gap in enumerate(risks)])
        for r, gap in zip(now["results"], risks, strict=True):
            if np.isnan(gap):
                r["risk"] = r["risk"] | {"value": None, "low": None, "high": None}
        return change(now, run_of(runs, [("cap", i, 0.3) for i in range(len(risks))]))

    nan = float("nan")
    one = found(0.0, nan, 0.0)
    assert [c["verdict"] for c in one["comparisons"]] == ["no change found", "cannot compare", "no change found"]
    assert one["verdict"] == "cannot compare"
    assert one["sentence"].startswith("1 of 3 comparisons have no risk in this run or in the run of ")
    assert "cap (1)" in one["sentence"]
    assert one["sentence"].endswith("cannot be told. No other risk changed for certain.")
    assert found(0.0, 0.0)["verdict"] == "no change found"
    assert found(nan, nan)["sentence"].endswith("nothing can be said about a change.")
    rose = found(0.2, nan)
    assert rose["verdict"] == "rose"
    assert "rose in 1 of 2 comparisons (1 cannot be compared), most in cap (0)" in rose["sentence"]


def test_a_table_that_starts_to_copy_rises_and_the_way_back_falls(runs):
    rose, fell = change(runs["leaky"], runs["clean"]), change(runs["clean"], runs["leaky"])
    assert (rose["verdict"], fell["verdict"]) == ("rose", "fell")
    assert "rose in" in rose["sentence"]
    assert not rose["same_synthetic"]
    up = {(c["attack"], c["variant"], *c["keys"], c["target"]): c["difference"] for c in rose["comparisons"]}
    down = {(c["attack"], c["variant"], *c["keys"], c["target"]): c["difference"] for c in fell["comparisons"]}
    assert all(up[k] == pytest.approx(-down[k]) for k in up if up[k] is not None)
    for c in rose["comparisons"]:
        if c["verdict"] == "rose":
            assert c["difference"] > 0
            assert c["p_adjusted"] <= 0.05


@pytest.mark.slow
def test_it_fits_the_published_schema(runs):
    data = runs["leaky"] | {"change": change(runs["leaky"], runs["clean"])}
    jsonschema.validate(data, assessment_schema())


@pytest.mark.slow
def test_comparisons_that_one_run_alone_made_are_counted(runs):
    fewer = copy.deepcopy(runs["clean"])
    judged = [r for r in fewer["results"] if r["risk"] and r["verdict"]]
    fewer["results"].remove(judged[0])
    assert change(runs["leaky"], fewer)["new"] == 1
    assert change(fewer, runs["leaky"])["gone"] == 1


def test_without_a_common_risk_nothing_is_said(runs):
    empty = copy.deepcopy(runs["clean"])
    for r in empty["results"]:
        r["risk"] = None
    assert change(runs["leaky"], empty)["verdict"] == "cannot compare"


@pytest.mark.parametrize(
    ("field", "value", "words"), [("level", 0.9, "level"), ("edition", "external", "external edition")]
)
def test_a_run_that_cannot_be_compared_is_refused(runs, field, value, words):
    previous = copy.deepcopy(runs["clean"])
    if field == "level":
        previous["settings"]["level"] = value
    else:
        previous[field] = value
    with pytest.raises(divulge.DivulgeError, match=words):
        change(runs["leaky"], previous)


def test_a_run_on_other_data_is_refused(runs):
    previous = copy.deepcopy(runs["clean"])
    for c in previous["schema"]:
        c["name"] = "other " + c["name"]
    with pytest.raises(divulge.DivulgeError, match="no column of these tables"):
        change(runs["leaky"], previous)


def test_whole_records_of_other_columns_are_not_compared(runs):
    previous = copy.deepcopy(runs["clean"])
    previous["schema"].append(previous["schema"][0] | {"name": "new"})
    found = change(runs["leaky"], previous)
    assert found["comparisons"]
    assert all(c["keys"] for c in found["comparisons"])
    n = sum(r["risk"] is not None and r["verdict"] is not None for r in runs["leaky"]["results"])
    assert found["new"] == n - len(found["comparisons"]) > 0


@pytest.mark.slow
def test_other_people_are_said_so(runs):
    previous = copy.deepcopy(runs["clean"])
    previous["tables"]["real"]["sha256"] = "0" * 64
    assert "(of other people)" in change(runs["leaky"], previous)["sentence"]
    assert "(of other people)" not in change(runs["leaky"], runs["clean"])["sentence"]


def test_an_external_edition_with_names_is_a_baseline(keyed, runs):
    """What it withholds cannot be compared; whether the people are the same nobody says."""
    with pytest.raises(SettingError, match="an external edition, which numbers its columns"):
        change(runs["leaky"], keyed.external().data)
    found, usual = (change(runs["leaky"], r.data) for r in (keyed.external(["columns"]), keyed))
    verdicts = {c["verdict"] for c in found["comparisons"]}
    assert verdicts == {"no change found", "cannot compare"} > {c["verdict"] for c in usual["comparisons"]}
    assert len(found["comparisons"]) == len(usual["comparisons"])
    assert (found["previous_edition"], found["same_people"], usual["previous_edition"]) == (
        "external",
        False,
        "custodian",
    )
    assert "(of other people)" not in found["sentence"]
    again = keyed.replaced(change=msgspec.convert(found, Change))
    assert "(of other people)" not in again.external().to_markdown() and "does not tell whether" in again.to_html()


@pytest.mark.slow
@pytest.mark.parametrize("runs_made", [300, pytest.param(4000, marks=pytest.mark.full)])
@pytest.mark.parametrize("same_people", [True, False])
def test_two_releases_that_leak_alike_differ_as_seldom_as_stated(runs_made, same_people):
    """Risk .1 in both; the limits miss 0 in 5% of runs with other people, in fewer with the same people."""
    rng = np.random.default_rng([7, same_people])
    missed = []
    for _ in range(runs_made):
        easy = [rng.beta(1, 3, 300), rng.beta(1, 3, 300)]
        limits = []
        for _ in range(2):
            if not same_people:
                easy = [rng.beta(1, 3, 300), rng.beta(1, 3, 300)]
            hit = [rng.random(300) < easy[0] + 0.1 * (1 - easy[0]), rng.random(300) < easy[1]]
            r = compare(Outcomes(hit[0].astype(float)), Outcomes(hit[1].astype(float)), rng=rng).risk
            limits.append((r.value, r.low, r.high))
        _, low, high = difference(*limits)
        missed.append(low > 0 or high < 0)
    width = 3 * np.sqrt(0.05 * 0.95 / runs_made)
    assert np.mean(missed) <= 0.05 + width
    assert same_people or np.mean(missed) >= 0.05 - width
