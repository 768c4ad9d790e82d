"""A run makes several tests side by side; how many at a time changes no byte."""

import json
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from msgspec.structs import replace
from threadpoolctl import threadpool_info, threadpool_limits

import divulge
from divulge.attacks import registry
from divulge.attacks.catalogue import CATALOGUE
from divulge.case.case import build_case
from divulge.case.distances import distances_of
from divulge.case.features import features_of
from divulge.core import coded_scores
from divulge.core.coded_scores import CodedScores
from divulge.core.process_wide import one_thread
from divulge.kernels import runtime
from divulge.run.making import runner, schedule
from divulge.run.making.checkpoints import Interrupted
from divulge.stats import two_sample

N = 120


def people(seed):
    rng = np.random.default_rng(seed)
    age, job = rng.integers(18, 80, N), rng.integers(0, 4, N)
    return pl.DataFrame({
        "age": age, "job": job.astype(str), "pay": np.round(rng.gamma(2, 900 + 300 * job)), "sex": rng.integers(0, 2, N),
        "ill": (age + rng.normal(0, 20, N) > 60).astype(str), "home": rng.integers(0, 50, N) + 100 * seed,
    })  # fmt: skip


REAL, HOLDOUT = people(1), people(2)
SYNTHETIC = pl.concat([REAL[:20], people(3)[20:]])


@pytest.fixture(autouse=True)
def threads(monkeypatch):
    """Threads however few the rows are, and results that took no time."""
    monkeypatch.setattr(runtime, "THREADS_FROM", 0)
    monkeypatch.setattr(registry, "time", SimpleNamespace(perf_counter=lambda: 0.0))


def run(folder, jobs, **settings):
    """All that a run leaves: report, records, kept tests, and what was told of each attack."""
    told = []
    usual = {"holdout": HOLDOUT, "unit": "home", "models": False, "membership": False, "search": "off"}
    asked = usual | {"fidelity": False} | settings
    report = divulge.assess(REAL, SYNTHETIC, jobs=jobs, keep=folder, finished=told.append, **asked)
    data = json.dumps(report.data | {"started": "", "seconds": 0, "settings": {}})
    kept = {p.name: p.read_bytes() for p in folder.iterdir()}
    # in the order in which the attacks end; the seconds of a control are those that passed
    told = sorted(t._replace(seconds=0.0) if t.attack == "positive control" else t for t in told)
    return data, report.records(), kept, told


CASES = [
    pytest.param({"keys": ["age", "sex"], "targets": ["job", "pay", "ill"]}, id="keys"),
    pytest.param(
        {"holdout": None, "unit": None, "keys": ["pay"], "targets": ["job"]},
        id="without strangers",
        marks=pytest.mark.slow,
    ),
    pytest.param({"models": True, "membership": True, "search": "default"}, id="all", marks=pytest.mark.slow),
    pytest.param({"positive_control": 0.1, "unit": None}, id="control", marks=pytest.mark.slow),
    pytest.param({"people": 100, "unit": None, "membership": True}, id="sample", marks=pytest.mark.slow),
]


def test_answers_hold_coded_scores(monkeypatch):
    plain = divulge.cap(REAL, SYNTHETIC, holdout=HOLDOUT, keys=["age"], target="job")
    monkeypatch.setattr(coded_scores, "CODED_FROM", 1)
    direct = divulge.cap(REAL, SYNTHETIC, holdout=HOLDOUT, keys=["age"], target="job")
    kept = runner._in_little_memory(runner.Answer((plain, replace(plain, individual=None)), kept=True))
    for found in (direct, kept.found[0]):
        assert all(isinstance(s, CodedScores) for s in found.individual.kept)
        assert found.individual.real.tobytes() == plain.individual.real.tobytes()
        assert found.individual.holdout.tobytes() == plain.individual.holdout.tobytes()
    assert kept.found[1].individual is None and kept.kept
    assert runner._in_little_memory(runner.Answer("failed")).found == "failed"


@pytest.mark.slow
def test_scores_in_little_memory_change_no_byte(tmp_path, monkeypatch):
    monkeypatch.setattr(two_sample, "RESAMPLE_UP_TO", 50)  # families of many people are corrected by blocks of scores
    returned, settings = [], {"keys": ["age", "sex"], "targets": ["job", "ill"], "unit": None}
    monkeypatch.setattr(runner, "return_memory", lambda: returned.append(None))
    one = run(tmp_path / "one", 1, **settings)
    assert not returned
    monkeypatch.setattr(coded_scores, "CODED_FROM", 1)
    monkeypatch.setattr(runner, "_ROOM", 0)
    other = run(tmp_path / "other", 1, **settings)
    assert other[0] == one[0]
    assert other[1].equals(one[1])
    assert other[2].keys() == one[2].keys()  # what is kept has scores as they are in memory
    assert other[3] == one[3]
    assert len(returned) == len(one[2]) + 1  # after each test, and after all


@pytest.mark.parametrize("settings", CASES)
@pytest.mark.parametrize("jobs", [8, pytest.param(2, marks=pytest.mark.slow)])
def test_threads_change_no_byte(tmp_path, settings, jobs):
    one, other = (run(tmp_path / str(n), n, **settings) for n in (1, jobs))
    assert len(one[2]) > 10
    assert other[0] == one[0]
    assert other[1].equals(one[1])
    assert other[2].keys() == one[2].keys()
    assert [name for name in one[2] if other[2][name] != one[2][name]] == []
    assert other[3] == one[3]


def test_what_several_tests_need_is_made_once(monkeypatch):
    from divulge.case import encoded
    from divulge.kernels.neighbours import index

    made, guard = [], threading.Lock()

    def counted(module, name):
        usual = getattr(module, name)

        def count(*args, **kwargs):
            with guard:
                made.append(name)
            time.sleep(0.002)
            return usual(*args, **kwargs)

        monkeypatch.setattr(module, name, count)

    counted(encoded, "pool")
    counted(encoded, "Index")
    counted(index.Index, "nearest_distinct")
    case = build_case(REAL, SYNTHETIC, HOLDOUT)
    n_pooled = made.count("pool")

    def work(i):
        d = distances_of(case)
        near = d.nearest("real", "synthetic", 2), d.attraction(), d.alike(), d.index("people")
        tables = [case.contingency(["age", "sex"], target) for target in ("job", "ill")]
        return near, tables, [case.codes(c) for c in case.columns], case.encoded.row_ids()

    found = in_eight(work)
    assert made.count("pool") == n_pooled == len(case.columns)
    assert made.count("Index") == 2
    assert made.count("nearest_distinct") == 2
    first = found[0]
    for near, tables, codes, ids in found:
        assert near[0] is first[0][0] and near[2] is first[0][2] and near[3] is first[0][3]
        assert near[1].tobytes() == first[0][1].tobytes()
        assert [a is b for a, b in zip(tables, first[1], strict=True)] == [True, True]
        assert all(a is b for a, b in zip(codes, first[2], strict=True))
        assert ids is first[3]


def in_eight(work):
    begin = threading.Barrier(8)

    def one(i):
        begin.wait(10)
        return work(i)

    with ThreadPoolExecutor(8) as pool:
        return [f.result(60) for f in [pool.submit(one, i) for i in range(8)]]


@pytest.mark.first(1)
@pytest.mark.parametrize("room", [2**28, 1])
def test_of_large_tables_tests_on_whole_rows_are_made_alone(monkeypatch, room):
    now, seen, guard = [], [], threading.Lock()

    def attacked(case, task):
        per = CATALOGUE[task.attack].plan.per
        with guard:
            now.append(per)
            seen.append(tuple(now))
        time.sleep(0.01)
        with guard:
            now.remove(per)
        return ()

    monkeypatch.setattr(runner, "_attacked", attacked)
    monkeypatch.setattr(runner, "_ROOM", room)
    divulge.assess(REAL, SYNTHETIC, holdout=HOLDOUT, jobs=4, models=False, fidelity=False)
    most = {kind: max(len(some) for some in seen if kind in some) for kind in ("table", "target")}
    assert most == ({"table": 1, "target": 2} if room == 1 else {"table": 4, "target": 4})


def test_numbers_of_rows_go_with_the_attack_that_made_them_and_what_was_searched_stays(monkeypatch):
    """They are 420 bytes a real row of 15 columns, and no other attack looks at them."""
    seen = {}

    def attacked(case, task):
        kinds = [key[0] for memo in (case.encoded._of_all, case.encoded._of_people) for key in memo.values()]
        seen.setdefault(task.attack, (kinds.count("features"), "measured set" in kinds))
        if task.attack == "membership":
            features_of(case, case.columns), features_of(case, case.columns, people_alone=True)
            distances_of(case).nearest("real", "synthetic")
        return ()

    monkeypatch.setattr(runner, "_attacked", attacked)
    divulge.assess(REAL, SYNTHETIC, holdout=HOLDOUT, jobs=1, models=False, fidelity=False)
    attacks = list(seen)
    assert seen["membership"] == (0, True) and attacks.index("linkability") > attacks.index("membership")
    assert all(seen[a] == (0, True) for a in attacks[attacks.index("membership") :])


class Noted(list):
    """Tasks that wait; which are taken is noted, under the lock of the line."""

    taken = ()

    def remove(self, task):
        self.taken = (*self.taken, task)
        super().remove(task)


def test_with_a_limit_on_the_time_tests_begin_in_the_order_of_their_weight(monkeypatch):
    weighed, lines = [], []

    class Line(schedule._Line):
        def __init__(self, *given):
            super().__init__(*given)
            self._waiting = Noted(self._waiting)
            lines.append(self._waiting)

    usual = runner._by_weight
    monkeypatch.setattr(runner, "_by_weight", lambda tasks: weighed.append((tasks, usual(tasks))) or weighed[-1][1])
    monkeypatch.setattr(schedule, "_Line", Line)
    monkeypatch.setattr(runner, "_attacked", lambda case, task: ())
    settings = {"holdout": HOLDOUT, "models": False, "fidelity": False}
    divulge.assess(REAL, SYNTHETIC, jobs=4, budget=1e6, **settings)
    ((tasks, order),) = weighed
    assert list(lines[0].taken) == order
    weights = [CATALOGUE[tasks[i].attack].weight for i in order]
    assert weights == sorted(weights, reverse=True)
    assert weights[0] > weights[-1]


@pytest.mark.slow
def test_linear_algebra_has_one_thread_in_all_tests_and_its_own_number_after_them(monkeypatch):
    seen = []

    def attacked(case, task):
        with one_thread():
            time.sleep(0.002)
        seen.append(blas())  # another thread may have left the context in between, or be in it
        return ()

    def blas():
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    monkeypatch.setattr(runner, "_attacked", attacked)
    with threadpool_limits(3, user_api="blas"):
        divulge.assess(REAL, SYNTHETIC, holdout=HOLDOUT, jobs=4, models=False, fidelity=False)
        assert blas() == {3}
    assert len(seen) > 20
    assert set.union(*seen) == {1}


@pytest.mark.slow
def test_progress_is_told_in_the_thread_of_the_caller():
    heard = []

    def progress(what, done, total):
        heard.append((threading.get_ident(), done, total))

    divulge.assess(REAL, SYNTHETIC, holdout=HOLDOUT, jobs=4, progress=progress, models=False, membership=False)
    assert {thread for thread, _, _ in heard} == {threading.get_ident()}
    dones = [done for _, done, total in heard if total == max(t for _, _, t in heard)]
    assert dones == sorted(dones)


@pytest.mark.slow
def test_a_run_goes_on_where_threads_were_interrupted(tmp_path):
    settings = {"keys": ["age", "sex"], "targets": ["job", "pay", "ill"]}

    def stop(what, done, total):
        if total > 1 and done >= 9:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as stopped:
        run(tmp_path / "kept", 4, progress=stop, **settings)
    assert 9 <= stopped.value.kept < stopped.value.planned
    began = time.perf_counter()
    while threading.active_count() > 1 and time.perf_counter() - began < 30:
        time.sleep(0.01)
    resumed = run(tmp_path / "kept", 4, resume=True, **settings)
    whole = run(tmp_path / "whole", 1, **settings)
    assert resumed[0] == whole[0]
    assert resumed[2] == whole[2]


BUSY = """
import os, time
import polars as pl
import divulge
from divulge.run.making import runner, schedule
from divulge.kernels import runtime
from divulge.run.making.checkpoints import Interrupted
from divulge.stats import two_sample

def attacked(case, task):
    if task.attack == "dcr":
        print("waiting", flush=True)
    if task.attack not in ("copies", "cap"):
        time.sleep(60)
    return ()

runner._attacked, runtime.THREADS_FROM = attacked, 0
frame = pl.DataFrame({"a": [1, 2, 1, 3, 2, 2], "b": [1, 1, 2, 2, 3, 1], "c": [1, 2, 2, 1, 1, 1]})
try:
    divulge.assess(frame, frame, holdout=frame, keys=["a"], models=False, jobs=3, keep="kept")
except Interrupted as stopped:
    print(stopped.kept, flush=True)
    os._exit(0)
"""


@pytest.mark.slow
def test_an_interrupt_ends_at_once_what_all_threads_do(tmp_path):
    with subprocess.Popen([sys.executable, "-c", BUSY], stdout=subprocess.PIPE, text=True, cwd=tmp_path) as child:
        assert child.stdout.readline() == "waiting\n"
        time.sleep(0.5)
        began = time.perf_counter()
        child.send_signal(signal.SIGINT)
        kept = child.stdout.read()
        seconds = time.perf_counter() - began
    print(f"ended after {seconds:.2f} s")
    assert seconds < 5  # well below a second where nothing else runs
    assert kept == "1\n"
    assert len(list((tmp_path / "kept").iterdir())) == 1
