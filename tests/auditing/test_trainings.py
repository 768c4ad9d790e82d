"""The runner of trainings: what goes wrong is told and counted, and an audit that was stopped goes on as it would have."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import polars as pl
import pytest
from coin_design import Coins
from helpers_of_audits import audited, command, people, same
from test_processes import assert_ends

import divulge
from divulge.auditing import trainers, worker
from divulge.auditing.pool import Training
from divulge.auditing.processes import Ended, Processes
from divulge.auditing.runner import AuditStopped
from divulge.auditing.source import Source, open_source
from divulge.core.errors import SettingError

SECRET = "cannot train on"


@pytest.fixture(scope="module")
def leaking(tmp_path_factory):
    folder = tmp_path_factory.mktemp("leaking")
    people().write_csv(folder / "data.csv")
    told = []
    report = audited("--leak 0.9", data=folder / "data.csv", keep=folder / "kept", say=told.append)
    return folder, report, told


def test_a_leak_is_found(leaking):
    _, report, _ = leaking
    assert report.verdict == "excess found"
    assert [r.status for r in report.audit.runs] == ["done"] * 3
    assert report.audit.results[0].rate > 0.65  # in half of the pairs both have the same secret


def test_the_first_two_trainings_say_what_all_take_and_find(leaking):
    told = leaking[2]
    assert told[0].startswith("one training takes") and "the other 1 training:" in told[0]
    assert told[1] == "90 pairs in all"


def test_what_is_kept_is_private(leaking):
    kept = leaking[0] / "kept"
    assert kept.stat().st_mode & 0o777 == 0o700
    assert {p.name for p in (kept / "0000").iterdir()} == {"evidence.kept", "log.txt", "run.json", "synthetic.parquet"}
    assert all(p.stat().st_mode & 0o77 == 0 for p in kept.rglob("*"))


def test_a_finished_audit_is_resumed_without_training(leaking):
    folder, report, _ = leaking
    again = audited("--leak 0.9", data=folder / "data.csv", keep=folder / "kept", resume=True)
    assert [r.seconds for r in again.audit.runs] == [r.seconds for r in report.audit.runs]
    assert same(again, report)


@pytest.mark.slow
def test_more_trainings_after_a_report_are_told(tmp_path):
    first = audited(keep=tmp_path / "kept", runs=2)
    again = audited(keep=tmp_path / "kept", runs=2, resume=True)
    more = audited(keep=tmp_path / "kept", runs=3, resume=True)
    assert first.audit.notes == again.audit.notes == ()
    assert "a report after 2 trainings" in more.audit.notes[0]
    assert more.audit.runs[:2] == first.audit.runs


@pytest.mark.parametrize(
    ("more", "options", "why"),
    [
        ("--leak 0.9", {}, "holds an audit"),
        ("--leak 0.8", {"resume": True}, "differs in the command"),
        ("--leak 0.9", {"resume": True, "seed": 1}, "differs in the seed"),
        ("--leak 0.9", {"resume": True, "design": Coins("zip")}, "differs in the settings"),
        ("--leak 0.9", {"resume": True, "data": people(50)}, "differs in the table"),
    ],
)
def test_another_audit_is_not_resumed(leaking, more, options, why):
    folder = leaking[0]
    with pytest.raises(divulge.SettingError, match=why):
        audited(more, **{"data": folder / "data.csv", "keep": folder / "kept", **options})


def test_a_folder_with_other_files_is_refused(tmp_path):
    (tmp_path / "mine.txt").write_text("a")
    with pytest.raises(divulge.SettingError, match="other files"):
        audited(keep=tmp_path)


@pytest.mark.slow
def test_the_order_of_rows_and_the_kind_of_frame_change_nothing(leaking):
    report = leaking[1]
    shuffled = people()[np.random.default_rng(3).permutation(60)]
    assert same(audited("--leak 0.9", data=shuffled), report)
    pandas = pytest.importorskip("pandas")
    assert same(audited("--leak 0.9", data=pandas.DataFrame(people().to_dict(as_series=False)), jobs=2), report)


WRONG = {
    "crash": "ended with exit status 1",
    "killed": "was ended by the signal SIGABRT",
    "nothing": "wrote no file",
    "columns": "lacks the column 'ill'",
    "empty": "wrote a file that is no table",
    "words": "column 'age' holds no number",
    "half": "wrote a file that is no table",
    "late": "ended with exit status 4",
}


@pytest.mark.parametrize("how", [pytest.param(h, marks=[] if h == "crash" else pytest.mark.slow) for h in WRONG])
def test_an_audit_without_a_table_says_why_and_quotes_nobody(how, tmp_path):
    with pytest.raises(divulge.DivulgeError, match=WRONG[how]) as caught:
        audited(f"--how {how}", keep=tmp_path / "kept")
    assert SECRET not in str(caught.value) and "Traceback" not in str(caught.value)
    if how == "crash":
        assert SECRET in (tmp_path / "kept" / "0000" / "log.txt").read_text()


LEFT = {
    "a pipe": 'mkfifo "$1"',
    "a device": 'ln -s /dev/zero "$1"',
    "a link to a pipe": 'mkfifo "$1.p"; ln -s "$1.p" "$1"',
    "a folder": 'mkdir "$1"',
    "a link to nothing": 'ln -s /nowhere "$1"',
    "a large file": 'truncate -s 2G "$1"',
}


@pytest.mark.skipif(os.name == "nt", reason="needs a shell")
@pytest.mark.parametrize("left", LEFT)
def test_what_a_command_leaves_is_read_only_where_it_is_a_file_of_some_size(left):
    words = f"sh -c {shlex.quote(LEFT[left])} sh {{synthetic}} {{train}}"
    what = {
        "a folder": "left a folder",
        "a link to nothing": "left no file",
        "a large file": "left a file of more than 270 MB",
    }
    with pytest.raises(
        divulge.DivulgeError, match=what.get(left, "left a device or a pipe, not a file, at {synthetic}")
    ):
        divulge.audit(people(), words, design=Coins("ill"), runs=3, timeout=20.0)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("name", [worker.TOLD, worker.ARROW])
def test_what_a_process_leaves_is_read_only_where_it_is_a_file(name, monkeypatch):
    def run(self, words, log, environment, limit):
        os.mkfifo(os.path.join(words[-1], name))
        return Ended(0.1, "ended with exit status 1" if name == worker.TOLD else "")

    monkeypatch.setattr(Processes, "run", run)
    with pytest.raises(divulge.DivulgeError, match=r"ended with exit status 1|left a device or a pipe"):
        divulge.audit(people(), _copied, design=Coins("ill"), runs=3)


def _copied(table):
    return table


def test_the_time_limit_holds_for_the_reading_of_a_table(monkeypatch):
    monkeypatch.setattr(trainers, "read", lambda *_, **__: time.sleep(60))
    began = time.monotonic()
    with pytest.raises(divulge.DivulgeError, match="wrote a file that was not read within 0 seconds"):
        divulge.audit(people(), "sh -c 'cp $1 $2' sh {train} {synthetic}", design=Coins("ill"), runs=3, timeout=0.1)
    assert time.monotonic() - began < 20


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")
def test_an_interrupt_ends_a_training_with_its_children(tmp_path):
    # a wait that goes on after a signal, as importing polars makes it, would last as long as the training
    pids = tmp_path / "pids"

    def interrupt():
        while not pids.exists() or len(pids.read_text().split()) < 2:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    script = 'trap "" INT TERM; sleep 3000 & echo $! $$ > "$3"; wait'
    words = f"sh -c {shlex.quote(script)} sh {{synthetic}} {{train}} {shlex.quote(str(pids))}"
    with pytest.raises(AuditStopped):
        divulge.audit(people(), words, design=Coins("ill"), runs=3, keep=tmp_path / "kept")
    assert not list((tmp_path / "kept").glob("*/work*"))
    for pid in pids.read_text().split():
        assert_ends(int(pid))


@pytest.mark.slow
@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")
@pytest.mark.parametrize(
    "signals", [[signal.SIGINT], [signal.SIGTERM], [signal.SIGINT, signal.SIGTERM], [signal.SIGINT] * 3]
)
def test_the_command_ends_within_two_seconds_of_a_signal_and_says_so(signals, tmp_path):
    people(400).write_csv(tmp_path / "data.csv")
    pids = tmp_path / "pids"
    script = 'trap "" INT TERM; sleep 3000 & echo $! $$ > "$3"; wait'
    words = f"sh -c {shlex.quote(script)} sh {{synthetic}} {{train}} {pids}"
    audit = subprocess.Popen(
        [sys.executable, "-m", "divulge", "audit", tmp_path / "data.csv", "--secrets", "ill", "--runs", "3", "--train", words, "--out", tmp_path / "out"],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while not pids.exists() or len(pids.read_text().split()) < 2:
        assert audit.poll() is None
        time.sleep(0.02)
    began = time.monotonic()
    for which in signals:
        audit.send_signal(which)
        time.sleep(0.03)
    _, err = audit.communicate(timeout=30)
    assert time.monotonic() - began < 2 * (3 if os.environ.get("PYTEST_XDIST_WORKER") else 1)
    assert audit.returncode in ((130, 143) if len(signals) > 1 else (143,) if signal.SIGTERM in signals else (130,))
    assert "Traceback" not in err and err.rstrip().endswith("nothing was written.")
    for pid in pids.read_text().split():
        assert_ends(int(pid))
    assert not list((tmp_path / "out").rglob("work*"))


@pytest.mark.slow
def test_a_training_that_hangs_is_stopped_and_the_audit_goes_on():
    report = audited("--how hang --odd-seeds-only", runs=4, timeout=2.0, jobs=4)
    failed = [r for r in report.audit.runs if r.status == "failed"]
    assert 0 < len(failed) < 4
    assert all(r.attempts == 2 and r.reason == "was stopped at the time limit of 2 seconds" for r in failed)


@pytest.mark.slow
def test_failed_trainings_are_counted_and_nothing_is_concluded():
    report = audited("--how crash --odd-seeds-only --leak 0.9", runs=12, jobs=2)
    status = [r.status for r in report.audit.runs]
    assert status.count("failed") >= 2 and status.count("done") >= 2
    t = report.audit.trainings
    assert (t.planned, t.done, t.failed) == (12, status.count("done"), status.count("failed"))
    assert len(report.audit.results[0].trainings) == t.done
    assert report.audit.results[0].p_value < 1e-6
    assert report.verdict == "cannot tell" and f"{t.failed} of 12 trainings failed, and" in report.audit.sentence
    assert "12 trainings failed" in report.audit.results[0].notes[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "note"),
    [
        ("constant", "the generator gave a constant table"),
        ("fewer", "the table has 20 rows, of 60"),
        ("extra", "the table has a column that the training table lacks"),
    ],
)
def test_odd_tables_are_used_with_a_note(how, note):
    runs = audited(f"--how {how}").audit.runs
    assert {(r.status, r.notes) for r in runs} == {("done", (note,))}


@pytest.mark.slow
def test_a_table_that_does_not_depend_on_the_training_is_an_error():
    with pytest.raises(divulge.TableError, match="same synthetic table"):
        audited("--how same")


@pytest.mark.slow
def test_the_budget_leaves_trainings_out_and_says_so():
    report = audited("--seconds 0.4", runs=40, budget=3.0)
    status = [r.status for r in report.audit.runs]
    assert status.count("done") >= 2 and status.count("left out") > 20
    assert {r.reason for r in report.audit.runs if r.status == "left out"} == {"the budget was used up"}


AUDIT = """
import sys
sys.path.insert(0, {here!r})
from helpers_of_audits import audited
audited("--leak 0.5 --seconds 0.3", runs=8, keep={keep!r}, data={data!r}, jobs=2)
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_an_audit_that_was_killed_is_resumed_byte_for_byte(how, tmp_path):
    people().write_csv(tmp_path / "data.csv")
    options = {"runs": 8, "data": tmp_path / "data.csv"}
    keep = tmp_path / "kept"
    code = AUDIT.format(here=os.path.dirname(__file__), keep=str(keep), data=str(tmp_path / "data.csv"))
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while len(list(keep.glob("*/run.json"))) < 3 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(how)
    _, err = process.communicate()
    assert process.returncode != 0
    assert how != signal.SIGINT or b"AuditStopped" in err
    done = len(list(keep.glob("*/run.json")))
    assert 3 <= done < 8
    resumed = audited("--leak 0.5 --seconds 0.3", keep=keep, resume=True, **options)
    whole = audited("--leak 0.5 --seconds 0.3", **options)
    assert same(resumed, whole)
    assert resumed.people.equals(whole.people)


@pytest.mark.parametrize("lasting", [True, False])
def test_a_full_disk_is_one_sentence_and_what_is_finished_is_kept(lasting, tmp_path, monkeypatch):
    usual, written = Source.write, []

    def write(*given):
        written.append(given)
        if len(written) == 2:
            raise OSError("No space left on device (os error 28)")  # as polars says it
        usual(*given)

    monkeypatch.setattr(Source, "write", write)
    keep = tmp_path / "kept" if lasting else None
    hint = "and go on with --resume" if lasting else "or name another one"
    with pytest.raises(
        SettingError, match=rf"cannot be written \(No space left on device\). hint: make room there, {hint}"
    ):
        audited(runs=2, keep=keep)
    if lasting:
        assert [p.parent.name for p in keep.rglob("run.json")] == ["0000"]
        assert audited(runs=2, keep=keep, resume=True).audit.trainings.done == 2
        assert len(written) == 3


@pytest.mark.parametrize("failing", ["", "--how crash"], ids=["trains", "fails"])
def test_a_training_that_fills_the_disk_is_told_so(failing, monkeypatch):
    usage = shutil.disk_usage("/")
    monkeypatch.setattr(shutil, "disk_usage", lambda place: usage._replace(free=4096))
    if not failing:
        assert audited(runs=2).audit.trainings.done == 2
        return
    with pytest.raises(SettingError, match=r"cannot be written \(No space left on device\). hint: make room there"):
        audited(failing, runs=2)


def test_cells_reach_the_command_as_they_stand_in_the_file(tmp_path):
    text = '"a ge";zip;ill\n018;007;"x; y"\n19,50;1e3;\n20;  9 ;no\n21;9;maybe\n'
    (tmp_path / "data.csv").write_text(text)
    source = open_source(tmp_path / "data.csv", seed=0)
    order = np.argsort(source.pool.rows)
    source.write(Training(np.arange(4)), order, tmp_path / "train.csv")
    assert (tmp_path / "train.csv").read_text() == text
    exchanged = np.arange(4)[order][[1, 0, 2, 3]]
    other = np.empty(4, dtype=np.int64)
    other[order] = exchanged
    source.write(Training(np.arange(4), {"ill": other}), order, tmp_path / "train.csv")
    lines = text.splitlines()
    assert (tmp_path / "train.csv").read_text().splitlines()[1:3] == ["018;007;", '19,50;1e3;"x; y"']
    assert (tmp_path / "train.csv").read_text().splitlines()[3:] == lines[3:]


def test_a_training_table_has_the_kind_of_frame_that_was_given():
    pandas = pytest.importorskip("pandas")
    given = pandas.DataFrame({"age": pandas.array([1, 2, None, 4], dtype="Int64"), "ill": list("abcd")})
    given["ill"] = given["ill"].astype("category")
    source = open_source(given, seed=0)
    order = np.argsort(source.pool.rows)
    other = source.pool.rows.argsort()[[1, 0, 2, 3]][source.pool.rows]
    made = source.frame(Training(np.arange(4), {"ill": other}), order)
    assert made.dtypes.tolist() == given.dtypes.tolist()
    assert made["age"].tolist() == given["age"].tolist() and made["ill"].tolist() == list("bacd")
    polars = open_source(pl.DataFrame({"a": [1, 2, 3, 4]}), seed=0)
    assert polars.frame(Training(np.array([0, 0])), np.arange(2)).height == 2


def test_an_interrupted_audit_says_how_to_go_on(monkeypatch, capsys):
    from divulge.auditing.runner import AuditStopped
    from divulge.cli import _leave

    monkeypatch.setattr(os, "_exit", lambda code: None)
    _leave(AuditStopped(3, 8))
    assert "3 of 8 trainings are kept; repeat the command with --resume" in capsys.readouterr().err


def test_seeds_and_tables_depend_on_nothing_but_the_plan(leaking):
    folder, report, _ = leaking
    kept = json.loads((folder / "kept" / "0001" / "run.json").read_text())
    assert kept["run"]["seed"] == report.audit.runs[1].seed < 2**31
    assert len({r.seed for r in report.audit.runs}) == 3
    assert report.audit.generator == command("--leak 0.9")
