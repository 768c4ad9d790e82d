"""Runs that are interrupted: what is kept, what is taken up again, and what is never trusted."""

import errno
import json
import os
import pickle
import signal
import stat
import subprocess
import sys
import threading
import time
import zlib
from dataclasses import asdict

import msgspec
import numpy as np
import polars as pl
import pytest

import divulge
from divulge.core.errors import ColumnError, SettingError
from divulge.core.result import Individual, Result
from divulge.demo import tables as demo_tables
from divulge.kernels import runtime as kernels
from divulge.run.making import checkpoint_format as layout
from divulge.run.making import checkpoints as keeping
from divulge.run.making import runner
from divulge.run.making.checkpoint_format import Checkpoint
from divulge.run.making.checkpoints import CheckpointStore, Interrupted, discard, file_name
from divulge.stats.outcomes import Outcomes
from divulge.stats.two_sample import compare


def tables(n=60):
    rng = np.random.default_rng(3)

    def one():
        a, b = rng.integers(0, 5, n), rng.integers(0, 3, n)
        return pl.DataFrame({"a": a, "b": b, "c": (a + rng.integers(0, 2, n)) % 4, "x": rng.normal(size=n)})

    return one(), one(), one()


REAL, SYNTHETIC, HOLDOUT = tables()
USUAL = {
    "holdout": HOLDOUT, "keys": ["a", "b"], "targets": ["c"], "models": False, "membership": False, "fidelity": False,
}  # fmt: skip


def assess(real=REAL, **settings):
    return divulge.assess(real, SYNTHETIC, **(USUAL | settings))


def timeless(report):
    data = report.data | {"started": "", "seconds": 0}
    return json.dumps(data | {part: [r | {"seconds": 0} for r in data[part]] for part in ("results", "fidelity")})


def stop_at(n, what=""):
    """A progress callback that interrupts the run at its n-th call while attacking."""
    calls = []

    def progress(name, done, total):
        calls.append(name)
        if total > 1 and done >= n and name.startswith(what):
            raise KeyboardInterrupt

    return progress


@pytest.fixture
def made(monkeypatch):
    """The tasks that are made, not taken from a folder."""
    tasks, real = [], runner._attacked

    def attacked(case, task):
        tasks.append((task.attack, str(task.settings)))
        return real(case, task)

    monkeypatch.setattr(runner, "_attacked", attacked)
    return tasks


@pytest.fixture
def quick(monkeypatch):
    """The tasks that are made; instead of an attack a short result comes."""
    tasks = []

    def attacked(case, task):
        tasks.append((task.attack, str(task.settings)))
        return (Result(attack=task.attack, target=task.settings.get("target")),)

    monkeypatch.setattr(runner, "_attacked", attacked)
    return tasks


@pytest.fixture
def keys(monkeypatch):
    """The key of each task, in the order in which they are attacked; no file holds one."""
    found, usual = [], runner._key

    def key(about, task):
        made = usual(about, task)
        found.extend([made] * (made not in found))
        return made

    monkeypatch.setattr(runner, "_key", key)
    return found


@pytest.fixture(scope="module")
def whole():
    return assess()


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "report" / ".kept"


def test_an_interrupted_run_goes_on_where_it_stopped(folder, made, whole):
    with pytest.raises(Interrupted) as stopped:
        assess(keep=folder, progress=stop_at(9))
    before = list(made)
    assert stopped.value.kept == len(before) == len(list(folder.iterdir())) == 9
    assert stopped.value.folder == folder
    report = assess(keep=folder, resume=True)
    assert len(made) == len(set(made)) == stopped.value.planned
    assert timeless(report) == timeless(whole)
    assert report.records().equals(whole.records())
    made.clear()
    again = assess(keep=folder, resume=True, budget=0)  # what is kept costs no time
    assert timeless(again) == timeless(whole)
    assert made == []
    assert timeless(assess(keep=folder, resume=True, fidelity=True)) == timeless(assess(fidelity=True))


@pytest.mark.slow
def test_the_runs_of_a_control_are_kept_apart(folder, made):
    n = {"calls": 0}

    def stop_in_the_second_run(what, done, total):
        n["calls"] += what == "copies"
        if n["calls"] == 2 and done == 5:
            raise KeyboardInterrupt

    settings = {"search": "off", "keys": None, "targets": ["c"], "positive_control": 0.05}
    with pytest.raises(Interrupted) as stopped:
        assess(keep=folder, progress=stop_in_the_second_run, **settings)
    before = len(made)
    assert stopped.value.kept == before == len(list(folder.iterdir()))
    assert stopped.value.planned == 4 * (before - 5)
    resumed = assess(keep=folder, resume=True, **settings)
    assert len(made) == stopped.value.planned
    assert timeless(resumed) == timeless(assess(**settings))


@pytest.mark.slow
@pytest.mark.first(1)
@pytest.mark.parametrize("settings", [{"holdout": None}, {"keys": None, "targets": None, "search": "full"}], ids=str)
def test_bins_and_searches_are_told_as_if_nothing_had_happened(folder, settings):
    with pytest.raises(Interrupted):
        assess(keep=folder, progress=stop_at(20), **settings)
    resumed = assess(keep=folder, resume=True, **settings)
    assert timeless(resumed) == timeless(assess(**settings))


def test_without_resume_nothing_is_taken(folder, quick):
    assess(keep=folder)
    n = len(quick)
    assess(keep=folder)
    assert len(quick) == 2 * n


@pytest.mark.first(3)
@pytest.mark.parametrize(
    "change",
    [
        {"seed": 1},
        {"level": 0.9},
        {"missing": ["3"]},
        {"real": REAL.with_columns(a=pl.col("a").shuffle(seed=1))},
        {"real": REAL.reverse()},
        {"ignore": ["x"]},
        {"reveal": ["values"]},
        {"holdout": HOLDOUT.with_columns(b=2 - pl.col("b"))},
        {"schema": divulge.schema_from_toml('[columns.x]\nkind = "categorical"\n', "s.toml")},
    ],
    ids=lambda change: next(iter(change)),
)
def test_other_data_or_settings_take_nothing(folder, quick, change):
    assess(keep=folder)
    quick.clear()
    told = []
    assess(keep=folder, resume=True, finished=told.append, **change)
    assert quick
    assert sum(t.kept for t in told) == 0


@pytest.mark.parametrize(("change", "taken"), [({}, True), ({"a": pl.col("a").reverse()}, False)])
def test_lazy_frames_are_known_again_by_what_they_hold(folder, quick, change, taken):
    """They are read into memory; one that has changed is told as a frame is: nothing kept of it is used."""
    assess(keep=folder)
    planned = len(quick)
    quick.clear()
    assess(keep=folder, resume=True, real=REAL.lazy().with_columns(**change))
    assert len(quick) == (0 if taken else planned)


def test_a_resumed_run_makes_only_what_another_setting_asks(folder, quick):
    assess(keep=folder)
    quick.clear()
    told = []
    assess(keep=folder, resume=True, acceptable=0.1, subgroups=["b"], finished=told.append)
    assert [name for name, _ in quick] == ["inference"]
    assert sum(t.kept for t in told) == sum(t.n for t in told) - 1


@pytest.mark.slow
def test_a_key_set_that_was_searched_is_attacked_anew_when_it_is_named(folder):
    # among the sets that were found it was tested with them, without a p-value of its own
    searched = {"keys": None, "targets": ["c"]}
    found = assess(keep=folder, **searched).data["key_sets"][0]["keys"]
    named = searched | {"keys": found}
    told = []
    resumed = assess(keep=folder, resume=True, finished=told.append, **named)
    assert timeless(resumed) == timeless(assess(**named))
    assert next(t.kept for t in told if t.attack == "cap") == 0
    assert sum(t.kept for t in told) > 0


@pytest.mark.slow
def test_every_attack_can_be_kept(folder):
    real, synthetic, holdout = demo_tables()
    part = [t.head(150) for t in (real, synthetic, holdout)]
    settings = {"holdout": part[2], "keys": ["age", "educ"], "targets": ["vote"], "subgroups": ["PID"]}
    told = []
    one = divulge.assess(part[0], part[1], keep=folder, finished=told.append, **settings)
    assert len(list(folder.iterdir())) == sum(t.n for t in told)
    told.clear()
    other = divulge.assess(part[0], part[1], keep=folder, resume=True, finished=told.append, **settings)
    assert [t for t in told if t.kept < t.n] == []
    assert timeless(other) == timeless(one)
    for a, b in zip(one.results, other.results, strict=True):
        if a.individual is not None:
            np.testing.assert_array_equal(a.individual.real, b.individual.real)
        assert repr(a.comparison) == repr(b.comparison)


# ---------------------------------------------------------------- threads


@pytest.mark.slow
def test_tests_in_threads_are_dropped_when_the_run_is_interrupted(folder, made, monkeypatch):
    monkeypatch.setattr(kernels, "THREADS_FROM", 0)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    usual, go_on, begun = runner._attacked, threading.Event(), threading.Barrier(3)

    def slow(case, task):
        if task.attack == "inference" and task.settings["target"] != "a" and not go_on.is_set():
            begun.wait(30)
            go_on.wait(30)
        return usual(case, task)

    stop = stop_at(0, "inference b")

    def progress(what, done, total):
        if what == "inference b":
            begun.wait(30)  # b and c are being attacked, and x has not begun
        stop(what, done, total)

    monkeypatch.setattr(runner, "_attacked", slow)
    settings = {"keys": None, "targets": None, "search": "off"}
    n_threads = threading.active_count()
    with pytest.raises(Interrupted):
        assess(keep=folder, progress=progress, **settings)
    go_on.set()
    began = time.perf_counter()
    while threading.active_count() > n_threads and time.perf_counter() - began < 30:
        time.sleep(0.01)
    assert len([task for task in made if task[0] == "inference"]) == 3
    report = assess(keep=folder, resume=True, **settings)
    assert len([task for task in made if task[0] == "inference"]) == 4
    monkeypatch.undo()
    assert timeless(report) == timeless(assess(**settings))


WAITING = """
import os, time
import polars as pl
import divulge
from divulge.run.making import runner
from divulge.kernels import runtime as kernels
from divulge.run.making.checkpoints import Interrupted

def attacked(case, task):
    if task.attack == "inference":
        if task.settings["target"] == "a":
            print("waiting", flush=True)
        time.sleep(60)
    return ()

runner._attacked, kernels.THREADS_FROM = attacked, 0
frame = pl.DataFrame({"a": [1, 2, 1, 3, 2, 2], "b": [1, 1, 2, 2, 3, 1], "c": [1, 2, 2, 1, 1, 1]})
try:
    divulge.assess(frame, frame, holdout=frame, search="off", models=False)
except Interrupted:
    print("left", flush=True)
    os._exit(0)
"""


@pytest.mark.slow
def test_an_interruption_is_heeded_while_threads_work():
    with subprocess.Popen([sys.executable, "-c", WAITING], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "waiting\n"
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        began = time.perf_counter()
        assert "left" in child.stdout.read()
        assert time.perf_counter() - began < 30


def test_long_searches_in_threads_stop():
    watch = runner.Watch(lambda what, done, total: None, stopped=True)
    with pytest.raises(KeyboardInterrupt):
        watch.searching(1, 10)


def test_an_interruption_before_the_tests_is_the_usual_one():
    def progress(what, done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stopped:
        assess(progress=progress)
    assert not isinstance(stopped.value, Interrupted)


def test_without_a_folder_nothing_is_kept(quick):
    with pytest.raises(Interrupted) as stopped:
        assess(progress=stop_at(2))
    assert (stopped.value.kept, stopped.value.folder) == (0, None)


# ---------------------------------------------------------------- files that are not ours


class _Hostile:
    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return os.system, (f"touch '{self.marker}'",)


def sealed(content, key):
    """A file with the right head and seal, as somebody who read the source and knows the key would make it."""
    content = zlib.compress(content)
    return layout._HEAD + layout._seal(key, content) + content


def by_name(module, name, argument):
    """A pickle that calls module.name(argument); the name may have dots."""
    texts = b"".join(b"\x8c" + bytes([len(t)]) + t.encode() for t in (module, name))
    return b"\x80\x04" + texts + b"\x93\x8c" + bytes([len(argument)]) + argument.encode() + b"\x85R."


@pytest.mark.slow
def test_a_hostile_file_is_refused_and_nothing_is_executed(folder, tmp_path, whole, keys):
    marker = tmp_path / "owned"
    command = f"touch {marker}"
    hostile = [
        pickle.dumps(_Hostile(marker)),
        pickle.dumps(((_Hostile(marker),), ())),
        by_name("os", "system", command),
        by_name("divulge.run.making.checkpoints", "os.system", command),
        by_name("divulge.report.report", "os.system", command),
        by_name("builtins", "eval", f"open('{marker}', 'w')"),
        by_name("builtins", "exec", f"open('{marker}', 'w')"),
        by_name("numpy", "load", str(marker)),
        pickle.dumps({"results": 1}),
        pickle.dumps(((1, 2), ("a",))),
        b"not a pickle",
    ]
    pickle.loads(hostile[3])  # it does harm where nothing is refused
    assert marker.exists()
    marker.unlink()
    assess(keep=folder)
    assert len(keys) > len(hostile)
    for key, content in zip(keys, hostile, strict=False):
        (folder / file_name(key)).write_bytes(sealed(content, key))
    report = assess(keep=folder, resume=True)
    assert not marker.exists()
    assert sum("damaged or not of divulge" in n for n in report.data["notes"]) == 1
    assert [r.to_dict() | {"seconds": 0} for r in report.results] == [
        r.to_dict() | {"seconds": 0} for r in whole.results
    ]


def test_who_lacks_the_tables_cannot_make_a_file_that_is_read(folder, quick, keys):
    assess(keep=folder)
    n = len(quick)
    for path in folder.iterdir():
        assert path.stem not in keys
        path.write_bytes(sealed(zlib.decompress(path.read_bytes()[layout._BODY :]), path.stem))
    assess(keep=folder, resume=True)
    assert len(quick) == 2 * n


def kept(**parts):
    return Checkpoint((Result(attack="copies", **parts),), ())


def as_file(key, entries, coded=()):
    return sealed(msgspec.msgpack.encode((entries, coded)), key)


FINE = {"attack": "copies"}
ARRAY = ("<f8", (2,), b"\0" * 16)
FOREIGN = [
    [(FINE | {"attack": 1}, None)],
    [(FINE | {"verdict": "all is well"}, None)],
    [(FINE | {"real": {"hits": "1", "n": 1, "rate": 1.0}}, None)],
    [(FINE | {"individual": {"real": ARRAY}}, None)],
    [(FINE | {"individual": {"real": {"values": [1.0, 2.0]}}}, None)],
    [(FINE | {"individual": {"real": {"values": ("<f8", (3,), b"\0" * 16)}}}, None)],
    [(FINE | {"individual": {"real": {"values": ("<f8", (-2,), b"\0" * 16)}}}, None)],
    [(FINE | {"individual": {"real": {"values": ("|O8", (2,), b"\0" * 16)}}}, None)],
    [(FINE | {"individual": {"real": {"values": ("<f8", (2**62, 4), b"")}}}, None)],
    [(FINE | {"table": ARRAY}, None)],
    [(FINE | {"comparison": 1}, None)],
    [(FINE, {"type": "Popen", "args": "ls"})],
    [(FINE, {"type": "Comparison"})],
    [(FINE, ARRAY)],
    [FINE],
    {"results": 1},
    None,
]


@pytest.mark.parametrize("entries", FOREIGN, ids=str)
def test_content_of_another_type_is_refused(entries):
    with pytest.raises(ValueError):
        layout.from_bytes(as_file("k", entries), "k")


def test_content_of_the_right_type_is_read():
    scores = FINE | {"individual": {"real": {"values": ARRAY}}}
    found = layout.from_bytes(as_file("k", [(scores, None)], ["a"]), "k")
    np.testing.assert_array_equal(found.results[0].individual.real, np.zeros(2))
    assert found.coded == ("a",)


def test_a_result_comes_back_to_the_last_bit():
    scores = np.array([0.1, np.nan, -0.0, np.inf, 5e-324, 1 / 3])
    result = Result(
        attack="dcr", keys=("a", "b"), settings={"tau": np.pi, "first": ["a"], "none": None}, p_value=np.nan,
        context={"x": -np.inf}, curves={"y": [0.1 + 0.2]}, individual=Individual(real=scores, holdout=scores[:0]),
        comparison=compare(Outcomes(scores[[0, 0, 5]]), Outcomes(scores[[0, 5, 5]]), rng=np.random.default_rng(0)),
    )  # fmt: skip
    found = layout.from_bytes(layout.to_bytes(Checkpoint((result,), ("a",)), "k"), "k").results[0]
    assert repr(found.to_dict()) == repr(result.to_dict())
    assert repr(asdict(found.comparison)) == repr(asdict(result.comparison))
    assert found.individual.real.tobytes() == scores.tobytes()
    assert found.individual.real.flags.writeable
    assert found.individual.holdout.shape == (0,)


@pytest.mark.parametrize(
    "parts",
    [{"settings": {"a": np.zeros(2)}}, {"table": 1}, {"comparison": object()}],
    ids=["array", "table", "object"],
)
def test_what_would_not_come_back_is_not_kept(tmp_path, parts):
    store = CheckpointStore(tmp_path / "kept", resume=True)
    store.put("k", kept(**parts))
    assert list(store.folder.iterdir()) == []
    assert "could not be kept" in store.notes[0]


@pytest.mark.slow
def test_scores_of_other_people_or_another_attack_are_not_taken(folder, quick, keys):
    assess(keep=folder)
    n, scores = len(quick), np.zeros(len(REAL))
    other = [
        kept(individual=Individual(real=scores[1:])), kept(individual=Individual(real=scores, holdout=scores[2:])),
        kept(individual=Individual(real=scores[:, None])), Checkpoint((Result(attack="nobody"),), ()),
        Checkpoint((), ("no column",)),
    ]  # fmt: skip
    made = [task[0] for task in quick]
    copies = keys[made.index("copies")]
    for content in other:
        (folder / file_name(copies)).write_bytes(layout.to_bytes(content, copies))
        quick.clear()
        report = assess(keep=folder, resume=True)
        assert [task[0] for task in quick] == ["copies"]
        assert any("damaged" in note for note in report.data["notes"])
    assert n > 1


def test_files_beyond_the_limit_are_neither_read_nor_written(tmp_path, monkeypatch):
    store = CheckpointStore(tmp_path / "kept", resume=True)
    monkeypatch.setattr(keeping, "LARGEST", 3000)
    monkeypatch.setattr(layout, "LARGEST", 3000)
    store.put("k", kept(notes=("x" * 4000,)))
    assert list(store.folder.iterdir()) == []
    store.put("k", kept(notes=("x" * 2000,)))
    assert store.get("k") is not None
    bomb = as_file("k", [(FINE | {"notes": ["x" * 4000]}, None)])
    assert len(bomb) < 1000
    for content in (bomb, os.urandom(4000)):
        (store.folder / file_name("k")).write_bytes(content)
        assert store.get("k") is None
    with open(store.folder / file_name("k"), "wb") as sparse:
        sparse.truncate(2**40)
    assert store.get("k") is None


def test_links_pipes_and_folders_are_not_read(tmp_path):
    store = CheckpointStore(tmp_path / "kept", resume=True)
    store.put("k", kept())
    path, elsewhere = store.folder / file_name("k"), tmp_path / "elsewhere"
    path.rename(elsewhere)
    for make in (lambda: path.symlink_to(elsewhere), lambda: os.mkfifo(path), path.mkdir):
        make()
        assert store.get("k") is None
        assert "damaged" in store.notes[0]
        path.rmdir() if path.is_dir() else path.unlink()
    elsewhere.rename(path)
    assert store.get("k") is not None


def test_damaged_files_are_made_again(folder, quick):
    one = assess(keep=folder)
    n = len(quick)
    files = sorted(folder.iterdir())
    content = files[0].read_bytes()
    files[0].write_bytes(content[:-1])
    files[1].write_bytes(b"")
    files[2].write_bytes(content)  # another test's
    files[3].write_bytes(content[:60] + bytes([content[60] ^ 1]) + content[61:])
    files[4].unlink()
    files[4].mkdir()
    (folder / "tmpx.kept-part").write_bytes(content[:50])
    other = assess(keep=folder, resume=True)
    assert len(quick) == n + 5
    name = files[4].name
    discard(folder)
    assert [p.name for p in folder.iterdir()] == [name]  # a folder is none of ours
    assert [r.to_dict() | {"seconds": 0} for r in one.results] == [r.to_dict() | {"seconds": 0} for r in other.results]


# ---------------------------------------------------------------- the folder


def test_the_folder_is_private_and_goes_when_it_is_discarded(folder, quick):
    folder.mkdir(parents=True)
    folder.chmod(0o755)
    assess(keep=folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(p.stat().st_mode) for p in folder.iterdir()} == {0o600}
    discard(folder)
    assert not folder.exists()
    assert folder.parent.exists()


def test_what_is_not_ours_stays(folder, tmp_path):
    CheckpointStore(folder, resume=False)
    (folder / "thesis.txt").write_text("mine")
    with pytest.raises(SettingError, match="other files"):
        assess(keep=folder)
    discard(folder)
    assert (folder / "thesis.txt").read_text() == "mine"
    (tmp_path / "link").symlink_to(tmp_path / "report")
    with pytest.raises(SettingError, match="link"):
        assess(keep=tmp_path / "link")
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingError, match="cannot be made"):
        assess(keep=tmp_path / "file")


def test_a_folder_can_be_tried(folder, tmp_path, quick):
    (tmp_path / "file").write_text("")
    assert keeping.can_keep(folder)
    assert not folder.exists()
    assert not keeping.can_keep(tmp_path / "file")
    with pytest.raises(ColumnError, match="nobody"):
        assess(keep=folder, keys=["nobody"])
    assert not folder.exists()


def test_a_full_disk_stops_nothing(folder, monkeypatch, quick):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(keeping, "replaced", full)
    report = assess(keep=folder)
    assert len(report.results) == len(quick)
    assert sum("No space left" in n for n in report.data["notes"]) == 1


def test_resume_needs_a_folder():
    with pytest.raises(SettingError, match="keep"):
        assess(resume=True)
