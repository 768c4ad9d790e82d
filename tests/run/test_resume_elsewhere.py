"""Runs by an engine that are interrupted: rows come in another order each time, and a table may have changed."""

from dataclasses import replace

import duckdb
import numpy as np
import polars as pl
import pytest
from test_resume import FINE, as_file, made, quick, timeless  # noqa: F401

import divulge
from divulge.case.case import build_case
from divulge.case.contents import contents
from divulge.core.coded_scores import CodedScores
from divulge.core.errors import TableError
from divulge.core.result import Individual, Result
from divulge.run.making import checkpoint_format as layout
from divulge.run.making import runner
from divulge.run.making.checkpoint_format import Checkpoint, fits
from divulge.run.making.checkpoints import About, CheckpointStore, Interrupted, about_of, discard
from divulge.run.making.resumed import as_before
from divulge.run.planning.options import RunOptions


def people(n, seed):
    rng = np.random.default_rng(seed)
    age, job = rng.integers(0, 9, n), rng.integers(0, 4, n)
    return pl.DataFrame({"age": age, "job": job.astype(str), "pay": (age + rng.integers(0, 3, n)) % 5,
                         "home": np.arange(n) // 2 + 10_000 * seed})  # fmt: skip


REAL, HOLDOUT = people(300, 1), people(200, 2)
SYNTHETIC = pl.concat([people(260, 3), REAL[:40]])
USUAL = {"keys": ["age", "job"], "targets": ["pay"], "models": False, "membership": False, "fidelity": False}


def assess(tables=(REAL, SYNTHETIC, HOLDOUT), **settings):
    """A run by polars; `shuffled` tells the rows in another order, as an engine does."""
    order = settings.pop("shuffled", None)
    given = [t if order is None else t.sample(fraction=1.0, shuffle=True, seed=order) for t in tables]
    lazy = [t.lazy() for t in given]
    return divulge.assess(*lazy[:2], holdout=lazy[2], **({"engine": "polars"} | USUAL | settings))


def stop_at(n):
    """A progress callback that interrupts the run when n tests are done."""

    def progress(name, done, total):
        if total > 1 and done >= n and not name.startswith("writing"):
            raise KeyboardInterrupt

    return progress


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "report.unfinished"


def n_tests(folder):
    return len([p for p in folder.iterdir() if not p.name.startswith("about")])


ASKED = [
    {"people": "none"}, {"people": 120}, {"people": 120, "unit": "home"}, {"people": "none", "unit": "home"},
    {"people": "all", "unit": "home", "keys": None, "targets": ["pay", "age"]},
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_a_run_goes_on_with_rows_in_another_order_and_gives_the_same(asked, folder, made):  # noqa: F811
    whole = assess(**asked)
    planned = len(made)
    for stop, order in ((3, 5), (6, 6)):
        made.clear()
        with pytest.raises(Interrupted) as stopped:
            assess(keep=folder, resume=True, shuffled=order, progress=stop_at(stop), **asked)
        assert (stopped.value.kept, stopped.value.planned) == (n_tests(folder), planned) == (stop, planned)
    made.clear()
    told = []
    resumed = assess(keep=folder, resume=True, shuffled=7, finished=told.append, **asked)
    assert len(made) == planned - 6 and sum(t.kept for t in told) == 6
    assert timeless(resumed) == timeless(whole)
    made.clear()
    assert timeless(assess(keep=folder, resume=True, shuffled=8, **asked)) == timeless(whole) and not made
    discard(folder)
    assert not folder.exists()


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["duckdb", "polars"])
def test_an_interrupted_command_goes_on_and_refuses_a_table_that_changed(divulge, engine, tmp_path, monkeypatch):
    def run(holdout, *more):
        for name, table in zip("rsh", (REAL, SYNTHETIC, holdout), strict=True):
            table.write_parquet(tmp_path / f"{name}.parquet")
        files = [tmp_path / f"{name}.parquet" for name in "rsh"]
        return divulge("assess", *files[:2], "--holdout", files[2], "--keys", "age,job", "--targets", "pay", "--engine",
                       engine, "--no-membership", "--no-fidelity", "--out", tmp_path / "out", *more)  # fmt: skip

    usual, calls = runner._attacked, []

    def interrupted(case, task):
        calls.append(task.attack)
        if len(calls) == 5:
            raise KeyboardInterrupt
        return usual(case, task)

    with monkeypatch.context() as patch:
        patch.setattr(runner, "_attacked", interrupted)
        patch.setattr("os._exit", lambda status: (_ for _ in ()).throw(SystemExit(status)))
        status, _, err = run(HOLDOUT)
        assert status == 130 and "interrupted; 4 of" in err and "--resume" in err
    # the same values in each column, and other rows
    status, _, err = run(HOLDOUT.with_columns(pl.col("pay").reverse()), "--resume")
    assert status == 2 and err.splitlines()[-1] == (
        "divulge: resume: the holdout table is not as it was when the results in out.unfinished were kept. "
        "hint: without --resume the run begins anew."
    )
    assert n_tests(tmp_path / "out.unfinished") == 4
    status, _, err = run(HOLDOUT.reverse(), "--resume", "--verbose")
    assert status == 0 and err.count(" kept, ") == 4, err
    assert not (tmp_path / "out.unfinished").exists()


@pytest.mark.slow
@pytest.mark.parametrize(("engine", "people"), [("polars", "none"), ("polars", 120), ("duckdb", "none")])
def test_lazy_frames_and_relations_that_changed_are_refused(engine, people, folder, quick):  # noqa: F811
    def run(synthetic, **more):
        given = [
            t.lazy() if engine == "polars" else duckdb.from_arrow(t.to_arrow()) for t in (REAL, synthetic, HOLDOUT)
        ]
        asked = USUAL | {"engine": engine, "people": people, "search": "off"} | more
        return divulge.assess(*given[:2], holdout=given[2], keep=folder, **asked)

    run(SYNTHETIC)
    planned = len(quick)
    quick.clear()
    other = SYNTHETIC.with_columns(pl.col("pay").reverse())  # the same values in each column
    with pytest.raises(TableError, match="resume: the synthetic table is not as it was"):
        run(other, resume=True)
    run(SYNTHETIC.reverse(), resume=True)
    assert not quick
    run(other)
    assert len(quick) == planned


def test_as_many_people_are_asked_as_before(folder, monkeypatch):
    engine = RunOptions(engine="polars", keep=folder)
    CheckpointStore(folder, resume=False).check_tables(About("s", {}, 500))
    assert as_before(replace(engine, resume=True)).people == 500
    assert as_before(engine) is engine
    named = replace(engine, resume=True, people="none")
    assert as_before(named) is named
    CheckpointStore(folder, resume=False).check_tables(About("s", {}, None))
    assert as_before(replace(engine, resume=True)).people is None


def test_tables_that_changed_are_refused_where_their_tests_would_be_used(folder):
    def begun(resume, settings, **tables):
        CheckpointStore(folder, resume=resume).check_tables(About(settings, tables))

    begun(False, "s", real="1", synthetic="2")
    for _ in range(2):
        with pytest.raises(TableError, match="the synthetic table is not as it was"):
            begun(True, "s", real="1", synthetic="3")
    begun(True, "s", real="1", synthetic="2")
    begun(True, "other settings", real="1", synthetic="3")
    assert about_of(folder) == About("other settings", {"real": "1", "synthetic": "3"})
    begun(False, "other settings", real="4", synthetic="3")  # nothing is used: it begins anew
    next(folder.iterdir()).write_text("no JSON")
    assert about_of(folder) is None
    begun(True, "other settings", real="1", synthetic="3")


@pytest.mark.parametrize("unit", [None, "home"])
def test_contents_see_which_values_occur_together_and_no_order(unit):
    def told(frame):
        case = build_case(frame.lazy(), SYNTHETIC.lazy(), unit=unit, engine="polars")
        case.gather(["age", "pay"], ["job"], ordered=True)
        return contents(case), case

    (one, case), (other, shuffled) = told(REAL), told(REAL.sample(fraction=1.0, shuffle=True, seed=1))
    assert one == other
    mine, others = (each.contingency(["age"], "pay").cells[0] for each in (case, shuffled))
    assert np.array_equal(mine, others)
    changed, _ = told(REAL.with_columns(pl.col("pay").reverse()))
    assert changed[0] != one[0] and changed[1] == one[1]


def test_scores_that_are_coded_or_of_equal_records_come_back(folder):
    scores = CodedScores(np.array([0.5, np.nan]), np.array([0, 1, 1], dtype=np.uint8))
    times = np.array([1, 70_000, 2**33])
    result = Result(attack="cap", individual=Individual(real=scores, holdout=np.array([-0.0]), real_times=times))
    found = layout.from_bytes(layout.to_bytes(Checkpoint((result,), ()), "k"), "k").results
    own = found[0].individual
    assert isinstance(own.kept[0], CodedScores) and own.kept[0].codes.dtype == np.uint8
    assert own.real.tobytes() == result.individual.real.tobytes() and np.signbit(own.holdout).all()
    assert own.real_times.dtype == np.int64 and own.real_times.tolist() == times.tolist() and own.holdout_times is None
    assert fits(found, "cap", int(times.sum()), 1) and not fits(found, "cap", 3, 1)
    store = CheckpointStore(folder, resume=True)
    for key in "ab":
        store.put(key, Checkpoint((result,), ()))
    one, other = (store.get(key).results[0].individual.real_times for key in "ab")
    assert one is other


@pytest.mark.parametrize("codes", [("|u1", (2,), b"\0\2"), ("<i8", (1,), b"\0" * 8), ("|u1", (1, 1), b"\0")])
def test_codes_of_no_score_are_refused(codes):
    scores = {"values": ("<f8", (2,), b"\0" * 16), "codes": codes}
    with pytest.raises(ValueError):
        layout.from_bytes(as_file("k", [(FINE | {"individual": {"real": scores}}, None)]), "k")
