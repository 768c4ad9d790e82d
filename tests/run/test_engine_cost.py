"""The seconds that are told of a run by an engine, beside those that runs took."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import divulge
from divulge.attacks.entry import EngineWork
from divulge.case.case import build_case
from divulge.run.cost.budget import Clock
from divulge.run.cost.engine_cost import engine_work, seconds_at_end, seconds_before, seconds_of_each
from divulge.run.cost.measured_cost import BYTES
from divulge.run.cost.memory import Room
from divulge.run.forecasting import forecast, run_time
from divulge.run.forecasting.run_time import size_in_words, time_left_of
from divulge.run.planning.options import Attacker, Reading, RunOptions
from divulge.run.planning.plan import Task, plan_of

KEYED = {"keys": ("a", "b"), "target": "c"}
NAMED = [Task("copies", {}), Task("hitting_rate", {}), Task("membership", {}), Task("linkability", {}),
         *[Task("inference", KEYED)] * 3, *[Task("cap", KEYED)] * 24, *[Task("k_anonymity", {"keys": ("a",)})] * 22]  # fmt: skip
"""The tests of `benchmarks/scale.py --what people`."""
SEARCHED = [*NAMED[:4], *[Task("inference", {"target": "c"})] * 15, *[Task("cap", KEYED)] * 348]


def work(millions, asked, columns=15):
    return EngineWork(round(2.25e6 * millions), 10**6 * millions, asked, columns)


def cpu_seconds(of, tasks, *, searched=False, measured=0):
    before = seconds_before(of, searched=searched, jobs=1)
    return before + sum(seconds_of_each(of, tasks, 1)) + seconds_at_end(of, measured, 1)


@pytest.mark.parametrize(
    ("millions", "asked", "cpu"), [(1, 2 * 10**5, 58), (1, 4 * 10**5, 92), (10, 2 * 10**5, 217), (100, 2 * 10**6, 2702)]
)
def test_what_is_told_of_named_keys_is_about_what_runs_took(millions, asked, cpu):
    assert cpu_seconds(work(millions, asked), NAMED) == pytest.approx(cpu, rel=0.2)


def test_what_is_told_of_a_search_for_key_sets_is_about_what_a_run_took():
    of = work(1, 10**5)
    assert cpu_seconds(of, SEARCHED, searched=True, measured=of.rows) == pytest.approx(107, rel=0.2)


@pytest.mark.parametrize(("attack", "at_1", "at_10"), [("membership", 28, 74), ("linkability", 18, 95)])
def test_rows_and_people_of_an_attack_are_told_apart(attack, at_1, at_10):
    each = [sum(seconds_of_each(work(n, 2 * 10**5), [Task(attack, {})], 1)) for n in (1, 10)]
    assert each == pytest.approx([at_1, at_10], rel=0.2)


def test_one_walk_for_all_targets_is_told_once():
    one, many = ([Task("inference", {"target": str(i)}) for i in range(n)] for n in (1, 15))
    nobody = work(10, 0)
    assert sum(seconds_of_each(nobody, many, 1)) == pytest.approx(sum(seconds_of_each(nobody, one, 1)))
    taught = [Task("inference", {"target": "c", "ways": ("model",)})]
    assert seconds_of_each(nobody, taught, 1) > seconds_of_each(nobody, one, 1)


def test_threads_people_and_columns_change_it():
    assert sum(seconds_of_each(work(1, 10**5), NAMED, 2)) < sum(seconds_of_each(work(1, 10**5), NAMED, 1))
    assert seconds_before(work(1, 0), searched=False, jobs=1) < seconds_before(work(1, 100), searched=False, jobs=1)
    assert sum(seconds_of_each(work(1, 10**5, 40), NAMED, 1)) > sum(seconds_of_each(work(1, 10**5), NAMED, 1))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("tables"), np.random.default_rng(5)
    for name, n in (("r", 900), ("s", 900), ("h", 300)):
        frame = pl.DataFrame({c: rng.integers(0, 9, n).astype(str) for c in "abcd"})
        frame.write_parquet(folder / f"{name}.parquet")
    return [folder / f"{name}.parquet" for name in "rsh"]


ASKED = {"engine": "polars", "people": 120, "jobs": 1}


@pytest.mark.parametrize("fidelity", [True, False])
def test_the_plan_tells_the_sum_of_all_parts(files, fidelity, monkeypatch):
    asked = ASKED | {"keys": ["a", "b"], "targets": ["c"], "fidelity": fidelity}
    told = divulge.plan(files[0], files[1], holdout=files[2], **asked)
    of = EngineWork(2100, 900, 240, 4)
    kept = [t for t in plan_of(build_case(*files, engine="polars"), Attacker(("a", "b"), ("c",)), RunOptions(**ASKED)).tasks
            if t.attack in {a.attack for a in told.attacks}]  # fmt: skip
    assert told.seconds == pytest.approx(cpu_seconds(of, kept, measured=2100 * fidelity))
    # where it does not fit into memory it is made of as many rows of each table as people are asked
    monkeypatch.setattr(forecast, "bytes_of_fidelity", lambda n_rows, wide: 10**15)
    monkeypatch.setattr(forecast, "room", lambda: Room(10**12, 0, "a test says so"))
    small = divulge.plan(files[0], files[1], holdout=files[2], **asked)
    assert small.seconds == pytest.approx(cpu_seconds(of, kept, measured=360 * fidelity))
    # and where nobody is asked it is not made
    alone = divulge.plan(files[0], files[1], holdout=files[2], **asked | {"people": "none"})
    counted = [t for t in kept if t.attack in {a.attack for a in alone.attacks}]
    assert alone.seconds == pytest.approx(cpu_seconds(of._replace(asked=0), counted))


def test_rows_that_are_drawn_are_told_with_what_it_takes_to_read_them():
    of = work(100, 2 * 10**6)
    drawn, same = seconds_at_end(of, 3 * 10**6, 1), seconds_at_end(of._replace(rows=3 * 10**6), 3 * 10**6, 1)
    assert same < drawn < seconds_at_end(of, of.rows, 1)


def test_a_run_tells_its_tests_and_how_much_is_left(monkeypatch):
    tables = [pl.DataFrame({c: ["x", "y", "z"] * n for c in "abc"}) for n in (40, 40, 40)]
    options = RunOptions(**ASKED | {"engine": "duckdb"})
    case = build_case(*tables)
    plan = plan_of(case, Attacker(("a",), ("b",)), options)
    of = engine_work(case, 240)
    assert of == (360, 120, 240, 3)
    tests = sum(seconds_of_each(of, plan.tasks, 1))
    whole = tests + seconds_at_end(of, 360, 1)
    assert time_left_of(case, plan, options, Clock.start(None)).seconds() == pytest.approx(whole, rel=0.01)
    assert "about 10 seconds" in size_in_words(case, plan, options)
    # where the codes of all rows do not fit, fidelity is made of fewer
    monkeypatch.setattr(run_time, "seconds_at_end", lambda work, measured, jobs: measured)
    fewer, left = replace(options, people=10), []
    for free in (10**9, 1):
        monkeypatch.setattr(run_time, "room", lambda free=free: Room(free, 0, "a test says so"))
        left.append(time_left_of(case, plan, fewer, Clock.start(None)).seconds())
    assert left[0] - left[1] == pytest.approx(360 - 30, rel=0.01)


def test_distances_of_people_are_told_once_and_their_scores_are(files, monkeypatch):
    sizes = forecast.Sizes(*(replace(s, rows=10**7) for s in forecast.sizes_of([str(f) for f in files], ())))
    options = RunOptions(models=False, engine="polars", people=10**6)
    told = forecast.outlook_of(sizes, Attacker(), Reading(), options, None)
    # linkability takes 2,900 bytes of each of two million people
    assert 2e6 * 2900 < told.needed < 2e6 * 2900 + 2.4e9
    assert "pages of files come on top" in " ".join(str(told).split())
    monkeypatch.setitem(BYTES, "byte of scores", 0.0)
    sampled = sum(a.tests for a in told.attacks if a.sampled)
    without = forecast.outlook_of(sizes, Attacker(), Reading(), options, None)
    assert told.needed - without.needed >= 2e6 * 2 * sampled
