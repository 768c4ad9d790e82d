"""The time that is left of a run, on a clock that stands where the test says."""

import numpy as np
import polars as pl
import pytest

from divulge.case.case import build_case
from divulge.run.cost import budget
from divulge.run.cost.budget import Clock
from divulge.run.cost.expected_cost import (
    expected_seconds,
    seconds_of_fidelity,
    seconds_of_tests,
    seconds_parts,
    work_of,
)
from divulge.run.cost.expected_time import time_left
from divulge.run.cost.time_left import TimeLeft
from divulge.run.planning.options import Attacker, Reading, RunOptions
from divulge.run.planning.plan import plan_of


@pytest.fixture
def now(monkeypatch):
    time = [1000.0]
    monkeypatch.setattr(budget, "_now", lambda: time[0])
    return time


def left_of(expected, budget=None):
    return TimeLeft(expected, Clock.start(budget))


def test_at_first_it_is_what_is_expected(now):
    assert left_of({"a": 10.0, "b": 30.0}).seconds() == 40
    assert left_of({}).seconds() == 0


def test_it_passes_while_a_part_runs(now):
    left = left_of({"a": 10.0, "b": 30.0})
    left.begin("a")
    now[0] += 4
    assert left.seconds() == pytest.approx(36)
    now[0] += 6
    left.end("a")
    assert left.seconds() == pytest.approx(30)


def test_nothing_is_left_once_all_has_begun_and_ended(now):
    left = left_of({i: 0.1 * (i + 1) for i in range(40)})
    for i in range(40):
        left.begin(i)
        now[0] += 0.1 * (i + 1)
        left.end(i)
        left.end(i)  # a part is waited for once
    assert left.seconds() == 0


@pytest.mark.parametrize("slower", [0.25, 1.0, 3.0])
def test_it_follows_the_speed_seen_so_far(now, slower):
    left = left_of(dict.fromkeys(range(100), 2.0))
    for i in range(50):
        left.begin(i)
        now[0] += 2 * slower
        left.end(i)
    assert left.seconds() == pytest.approx(100 * slower, rel=0.25)
    assert (left.seconds() - 100) * (slower - 1) >= 0


def test_parts_side_by_side_share_the_time(now):
    left = left_of(dict.fromkeys(range(4), 10.0))
    left.begin(0)
    left.begin(1)
    now[0] += 10
    assert left.seconds() == pytest.approx(30)
    now[0] += 10
    left.end(0)
    left.end(1)
    assert left.seconds() == pytest.approx(20)


def test_a_part_that_takes_longer_than_expected_tells_so_before_it_ends(now):
    left = left_of({"a": 10.0, "b": 10.0})
    left.begin("a")
    now[0] += 60
    assert left.seconds() > 40
    left.begin("b")
    assert left.seconds() >= 0


def test_parts_that_are_kept_tell_nothing_of_the_speed(now):
    left = left_of({"a": 90.0, "b": 10.0})
    left.begin("a")
    left.end("a", made=False)
    left.end("nobody")
    assert left.seconds() == pytest.approx(10)


def test_it_is_no_longer_than_the_budget(now):
    left = left_of({"a": 90.0}, budget=60.0)
    now[0] += 20
    assert left.seconds() == 40
    now[0] += 50
    assert left.seconds() == 0


def test_words_are_round_and_say_nothing_where_it_is_hardly_any():
    assert [time_left(s) for s in (-3, 0, 4.9, 5, 10.1, 59, 60.5, 121, 3599, 5400)] == [
        "", "", "", "about 10 s left", "about 20 s left", "about 60 s left", "about 70 s left", "about 3 min left",
        "about 60 min left", "about 2 h left",
    ]  # fmt: skip


def people(n, seed):
    rng = np.random.default_rng(seed)
    return pl.DataFrame({c: rng.integers(0, k, n).astype(str) for c, k in (("a", 6), ("b", 4), ("c", 3))})


TABLES = [people(300, seed) for seed in range(3)]


@pytest.mark.parametrize("settings", [{}, {"models": False, "membership": False, "fidelity": False}])
def test_the_parts_add_up_to_the_run_without_reading(settings):
    case, options = build_case(*TABLES), RunOptions(jobs=2, **settings)
    plan = plan_of(case, Attacker(), options)
    work = work_of(case, plan.tasks, options)
    tests, more = seconds_of_tests(work, plan.tasks, 2), seconds_of_fidelity(work, 2)
    cost = {p: n for p, n in seconds_parts(work).items() if n}
    assert len(tests) == len(plan.tasks)
    assert min(tests) > 0
    assert (more > 0) == options.fidelity
    whole = expected_seconds(work, 2)
    assert 0.9 * whole < sum(tests) + more <= whole + 1e-9, cost


@pytest.mark.slow
def test_a_run_tells_how_much_is_left_and_ends_with_nothing(now):
    from divulge.run.assess import assess_with

    told = []
    options = RunOptions(models=False, membership=False, positive_control=0.05, search="off")
    assess_with(*TABLES, Attacker(), Reading(), options, left=told.append)
    assert told[0] > 0
    assert all(s >= 0 for s in told)
    assert time_left(told[-1]) == ""


def test_what_is_small_and_expected_wrongly_makes_no_large_part_larger(now):
    left = left_of({"tests": 0.1, "fidelity": 0.9})
    left.begin("tests")
    now[0] += 7
    left.end("tests")
    assert time_left(left.seconds()) == ""


QUICK = ["--keys", "a", "--targets", "b", "--no-membership", "--no-models"]


@pytest.mark.slow
def test_tiny_tables_say_nothing(tmp_path, monkeypatch, now):
    from click.testing import CliRunner

    from divulge.cli import cli, show

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(show, "_EVERY", 0.0)
    for name, table in zip(("real", "syn", "hold"), TABLES, strict=True):
        table.head(60).write_csv(f"{name}.csv")
    found = CliRunner().invoke(cli, ["assess", "real.csv", "syn.csv", "--holdout", "hold.csv", *QUICK])
    assert found.exit_code == 0, found.output
    during = [line for line in found.output.splitlines() if "tests done" in line]
    assert len(during) > 10
    assert all("tests done; now" in line for line in during)
