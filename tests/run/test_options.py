"""The options of a run: the same defaults at every door, and settings that a report cannot state fail at once."""

import dataclasses
import inspect
import os

import msgspec
import pytest

import divulge
from divulge.demo import tables
from divulge.run import assess as assessing
from divulge.run.planning.options import RunOptions

OPTIONS = {f.name: f for f in dataclasses.fields(RunOptions)}


@pytest.mark.parametrize("door", ["assess", "plan", "compare"])
def test_defaults_are_those_of_the_options(door):
    own = {n: p.default for n, p in inspect.signature(getattr(divulge, door)).parameters.items() if n in OPTIONS}
    assert own.pop("jobs") is None
    assert {n: OPTIONS[n].default for n in own} == own
    assert len(own) >= 8


def test_tests_are_made_side_by_side_on_every_processor():
    assert RunOptions().jobs == os.cpu_count()


def test_a_setting_that_the_report_cannot_state_fails_before_the_run(monkeypatch):
    def attacked(*given):
        raise AssertionError("attacks were made")

    monkeypatch.setattr(RunOptions, "check", lambda self: None)
    monkeypatch.setattr(assessing, "run_all", attacked)
    with pytest.raises(msgspec.ValidationError, match="wide"):
        divulge.assess(*tables(), keys=["age"], targets=["vote"], search="wide")
