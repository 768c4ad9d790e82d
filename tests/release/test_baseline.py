"""The change since a previous run: worked limits, what is the same comparison, and how often it cries wolf."""

import copy

import jsonschema
import numpy as np
import pytest
from report_helpers import change, tables

import divulge
from divulge.release.baseline import difference
from divulge.report.schema import assessment_schema
from divulge.stats.outcomes import Outcomes
from divulge.stats.two_sample import compare


@pytest.fixture(scope="module")
def runs():
    real, leaky, holdout = tables()
    other = tables(seed=5)[1]
    given = {"holdout": holdout, "keys": ["age", "job"], "targets": ["income", "code"], "models": False, "jobs": 1}
    return {"leaky": divulge.assess(real, leaky, **given).data, "clean": divulge.assess(real, other, **given).data}


def test_the_limits_are_those_of_zou_and_donner():
    value, low, high = difference((0.3, 0.1, 0.6), (0.1, 0.0, 0.4))
    assert value == pytest.approx(0.2)
    assert low == pytest.approx(0.2 - np.hypot(0.2, 0.3))
    assert high == pytest.approx(0.2 + np.hypot(0.3, 0.1))
    assert difference((0.3, 0.1, 0.6), (0.1, 0.0, 0.4), 2.0)[1] == pytest.approx(0.2 - 2 * np.hypot(0.2, 0.3))


def test_the_same_run_shows_no_change(runs):
    found = change(runs["leaky"], runs["leaky"])
    assert found["verdict"] == "no change found"
    assert found["same_people"]
    assert found["same_synthetic"]
    assert found["new"] == found["gone"] == 0
    assert all(c["difference"] == 0 for c in found["comparisons"] if c["difference"] is not None)


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


def test_it_fits_the_published_schema(runs):
    data = runs["leaky"] | {"change": change(runs["leaky"], runs["clean"])}
    jsonschema.validate(data, assessment_schema())


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


def test_other_people_are_said_so(runs):
    previous = copy.deepcopy(runs["clean"])
    previous["tables"]["real"]["sha256"] = "0" * 64
    assert "(of other people)" in change(runs["leaky"], previous)["sentence"]
    assert "(of other people)" not in change(runs["leaky"], runs["clean"])["sentence"]


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
