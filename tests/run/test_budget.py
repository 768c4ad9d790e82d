"""A run whose time may be up: what comes first, what is left out, and that the report says so."""

import json

import msgspec
import numpy as np
import polars as pl
import pytest

import divulge
from divulge.attacks.entry import UNTAUGHT, WAYS
from divulge.core.errors import SettingError
from divulge.core.result import Result
from divulge.report.model import LeftOut
from divulge.run import assess as assessment
from divulge.run.cost import budget
from divulge.run.making import runner
from divulge.run.making.runner import Finished

WEIGHTY = ["copies", "singling_out", "linkability", "dcr", "inference", "cap"]


def tables(n=80):
    rng = np.random.default_rng(7)

    def one():
        a, b = rng.integers(0, 5, n), rng.integers(0, 3, n)
        return pl.DataFrame({"a": a, "b": b, "c": (a + rng.integers(0, 2, n)) % 4, "d": rng.integers(0, 2, n)})

    return one(), one(), one()


REAL, SYNTHETIC, HOLDOUT = tables()


def assess(**settings):
    return divulge.assess(REAL, SYNTHETIC, **({"holdout": HOLDOUT, "models": False, "membership": False} | settings))


def timeless(report):
    data = report.data | {"started": "", "seconds": 0}
    return json.dumps(data | {part: [r | {"seconds": 0} for r in data[part]] for part in ("results", "fidelity")})


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands at `time[0]`."""
    time = [0.0]
    monkeypatch.setattr(budget, "_now", lambda: time[0])
    return time


@pytest.fixture
def made(monkeypatch):
    """The tasks in the order in which they are made; instead of an attack an empty result comes."""
    tasks = []

    def attacked(case, task):
        tasks.append(task)
        return (Result(attack=task.attack, target=task.settings.get("target")),)

    monkeypatch.setattr(runner, "_attacked", attacked)
    return tasks


@pytest.fixture(scope="module")
def told():
    return []


@pytest.fixture(scope="module")
def whole(told):
    return assess(finished=told.append)


@pytest.fixture
def planned(whole, told):
    """How many tests of each attack a whole run makes."""
    return {t.attack: t.n for t in told}


@pytest.mark.slow
def test_a_huge_budget_changes_no_digit_and_no_order(whole):
    assert timeless(assess(budget=1e9)) == timeless(whole)
    assert whole.data["left_out"] == []


def test_the_control_needs_three_times_the_time_of_the_tests(clock, made, monkeypatch):
    monkeypatch.setattr(assessment, "controlled", lambda *_: [])

    def seconds(case, task):
        return (Result(attack=task.attack, seconds=2.0 if task.attack == "copies" else 0.0),)

    monkeypatch.setattr(runner, "_attacked", seconds)
    assert assess(budget=6.1, positive_control=0.05).data["left_out"] == []
    left_out = [{"attack": "positive control", "n": 3, "of": 3, "why": "three more runs would take too long"}]
    assert assess(budget=5.9, positive_control=0.05).data["left_out"] == left_out


def test_no_time_at_all_makes_no_test_and_says_so(whole, planned):
    report = assess(budget=0, positive_control=0.05, search="full")
    assert report.results == ()
    assert report.data["preconditions"] == whole.data["preconditions"]
    assert report.data["positive_control"] == report.data["minimal_key_sets"] == []
    left_out = {o["attack"]: (o["n"], o["of"]) for o in report.data["left_out"]}
    wanted = {name: (n, n) for name, n in planned.items()}
    further = {"positive control": (3, 3), "minimal key sets": (4, 4), "fidelity": (8, 8)}
    assert left_out == wanted | further
    assert report.verdict == "cannot tell"
    assert "Not tested: as the time was up, copies, dcr, linkability, inference." in str(report.data["verdict"])
    assert any("given 0 seconds" in note for note in report.data["notes"])
    msgspec.convert(report.data["left_out"], list[LeftOut])
    for document in (report.to_html(), report.to_markdown(), str(report)):
        assert document


def test_the_weightiest_come_first_and_the_results_stand_in_the_order_of_the_plan(clock, made, whole, planned):

    def progress(what, done, total):
        clock[0] += what.split()[0] in planned

    report = assess(budget=8.5, progress=progress)
    assert list(dict.fromkeys(t.attack for t in made)) == WEIGHTY[:5]
    made = list(dict.fromkeys(r.attack for r in report.results))
    assert sorted(made) == sorted(WEIGHTY[:5])  # the fifth to eighth second go to the targets of inference
    assert made == [a for a in dict.fromkeys(r.attack for r in whole.results) if a in made]
    left_out = {o["attack"]: (o["n"], o["of"]) for o in report.data["left_out"]}
    assert left_out["cap"] == (planned["cap"],) * 2
    assert not {"copies", "singling_out", "linkability", "dcr", "inference"} & set(left_out)


def test_part_of_an_attack_may_be_left_out(clock, made):
    def progress(what, done, total):
        clock[0] += what.startswith("inference ")

    report = assess(budget=2.5, progress=progress)
    assert {"attack": "inference", "n": 2, "of": 4, "why": "the time was up"} in report.data["left_out"]
    assert len({r.target for r in report.results if r.attack == "inference"}) == 2


def test_the_first_key_set_of_each_target_comes_before_the_second(clock, made, whole):
    def progress(what, done, total):
        clock[0] += what.startswith("cap ")

    report = assess(budget=4.5, progress=progress)
    first = {}
    for found in whole.data["key_sets"]:
        first.setdefault(found["target"], found["keys"])
    keys = {t.settings["target"]: list(t.settings["keys"]) for t in made if t.attack == "cap"}
    assert keys == first
    assert len(report.results) == len(made)


def test_models_are_dropped_first_when_time_is_short(clock, made):
    def progress(what, done, total):
        clock[0] = 6.0 if what == "inference b" else clock[0]

    settings = {"keys": ["c", "d"], "targets": ["a", "b"], "budget": 10.0, "progress": progress}
    report = assess(models=None, **settings)
    found = {t.settings["target"]: t.settings["ways"] for t in made if t.attack == "inference"}
    assert found == {"a": WAYS, "b": UNTAUGHT}
    why = "no model was trained, as half of the time was used"
    assert report.data["left_out"] == [{"attack": "inference", "n": 1, "of": 2, "why": why}]
    made.clear()
    clock[0] = 0.0
    assert assess(models=True, **settings).data["left_out"] == []
    assert {t.settings["ways"] for t in made if t.attack == "inference"} == {WAYS}


def test_a_finished_attack_is_told_once(clock, made):
    told = []
    report = assess(finished=told.append, budget=1.5, progress=lambda what, *_: clock.__setitem__(0, clock[0] + 0.1))
    assert len(told) == len({t.attack for t in told})
    assert all(isinstance(t, Finished) for t in told)
    left_out = {o["attack"]: o["n"] for o in report.data["left_out"] if o["attack"] != "fidelity"}
    assert {t.attack: t.left_out for t in told if t.left_out} == left_out
    assert {t.attack for t in told if t.n} == {r.attack for r in report.results}


def test_seconds_of_an_attack_are_told(told, whole):
    assert [t.attack for t in told] == list(dict.fromkeys(r.attack for r in whole.results))
    seconds = {t.attack: t.seconds for t in told}
    assert seconds["inference"] == pytest.approx(sum(r.seconds for r in whole.results if r.attack == "inference"))
    assert all(s > 0 for s in seconds.values())


@pytest.mark.parametrize("budget", [-1, float("nan"), float("inf")])
def test_budgets_that_cannot_be(budget):
    with pytest.raises(SettingError, match="budget"):
        assess(budget=budget)
