"""Spark frames are counted where they live, by group-by, and searched by Spark's workers; rows never come to the driver."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from test_engine_law import ASKED, answers, assessed, counted_plan, kept, paths, table, tables, told  # noqa: F401

import divulge
from divulge.attacks import key_sets
from divulge.case import spark_search
from divulge.case.case import build_case
from divulge.case.distances import Neighbours
from divulge.core.errors import ColumnError, DivulgeError, FrameError, SettingError, SizeError, TableError
from divulge.run import assess as assess_module
from divulge.run.making import runner
from divulge.run.making.checkpoints import Interrupted
from divulge.tables import outlines, spark_session
from divulge.tables._spark_counts import SparkCounts
from divulge.tables.opening import opened
from divulge.tables.pooled_columns import pool

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def spark():
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2,4]")  # a task that failed is tried again, as in a cluster
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", "2g")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    yield session
    session.stop()


REAL = pl.DataFrame(
    {"a b": [1, 1, None, 2, 2, None] * 30, "sex": ["f", "m", "f", None, "m", "f"] * 30, "t": [0.5, 1.5, 0.5] * 60}
)
SYNTHETIC = REAL[:120]


@pytest.mark.filterwarnings("ignore")
def test_the_quality_report_of_spark_frames_has_the_scores_of_memory(spark):
    from divulge.sdmetrics.reports import QualityReport

    kinds = {
        "columns": {"a b": {"sdtype": "numerical"}, "sex": {"sdtype": "categorical"}, "t": {"sdtype": "numerical"}}
    }
    there = [spark.createDataFrame([tuple(r) for r in frame.rows()], schema="`a b` int, sex string, t double")
             for frame in (REAL, SYNTHETIC)]  # fmt: skip
    ours, theirs = QualityReport(), QualityReport()
    for report in (ours, theirs):
        report.real_correlation_threshold = report.real_association_threshold = 0
    ours.generate_in("spark", *there, kinds)
    theirs.generate(REAL, SYNTHETIC, kinds, verbose=False)
    for one, other in zip(ours.content().properties, theirs.content().properties, strict=True):
        assert repr(one) == repr(other)


@pytest.mark.filterwarnings("ignore")
def test_the_diagnostic_report_of_spark_frames_has_the_rows_of_memory(spark, tmp_path):
    from divulge.sdmetrics.reports import DiagnosticReport

    real = REAL.with_columns(
        id=pl.Series([f"P-{i % 50}" if i % 7 else None for i in range(180)]),
        x=pl.Series([float(i % 9) for i in range(180)]),
        number=pl.Series([2**53 + i % 40 if i % 6 else None for i in range(180)]),
        day=pl.Series(np.datetime64("2020-01-01") + np.arange(180)).cast(pl.Datetime("us")),
        only=pl.lit(1),
    )  # fmt: skip
    x = pl.Series([float("nan"), -0.0, 0.0, float("inf"), 3.0, None] * 20)
    synthetic = real[:120].drop("only").with_columns(x=x, t=pl.Series(["0.5"] * 120))
    kinds = {name: {"sdtype": "numerical"} for name in ("a b", "t", "x", "only")}
    kinds |= {"sex": {"sdtype": "categorical"}, "day": {"sdtype": "datetime", "range_max": "2020-02-01"}}
    kinds |= {"id": {"sdtype": "id", "regex_format": "P-[1-9].*"}, "number": {"sdtype": "id"}}
    rule = {"table_name": "table", "column_names": ["a b", "sex"]}
    metadata = {
        "tables": {"table": {"columns": kinds, "primary_key": ["sex", "x"], "alternate_keys": ["id", "number"]}},
        "constraints": [{"class_name": "FixedCombinations", "parameters": rule}],
    }
    frames = []
    for name, rows in (("real", real), ("synthetic", synthetic)):
        rows.write_parquet(tmp_path / f"{name}.parquet")
        frames.append(spark.read.parquet(str(tmp_path / f"{name}.parquet")))
    ours, theirs = DiagnosticReport(), DiagnosticReport()
    ours.generate_in("spark", *frames, metadata)
    theirs.generate(real, synthetic, metadata, verbose=False)
    for one, other in zip(ours.content().properties, theirs.content().properties, strict=True):
        assert repr(one) == repr(other)


@pytest.mark.filterwarnings("ignore")
def test_spark_gives_the_digits_of_polars(spark):
    def there(frame):
        return spark.createDataFrame([tuple(r) for r in frame.rows()], schema="`a b` int, sex string, t double")

    settings = {"keys": ["a b", "sex"], "target": "t"}
    expected = divulge.cap(REAL, SYNTHETIC, holdout=REAL[30:], **settings).to_dict()
    found = divulge.cap(there(REAL), there(SYNTHETIC), holdout=there(REAL[30:]), **settings).to_dict()
    for result in (expected, found):
        del result["seconds"]
    assert found == expected


@pytest.fixture(scope="module")
def there(spark, paths):  # noqa: F811
    return [spark.read.parquet(path) for path in paths]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("unit", [None, "household"])
def test_spark_as_an_engine_changes_no_bit_of_a_result(unit, tables, there):  # noqa: F811
    assert answers(there, "spark", unit) == answers(tables, "memory", unit)


@pytest.mark.filterwarnings("ignore")
def test_fidelity_and_the_search_for_key_sets_are_the_same_in_spark(tables, there, monkeypatch):  # noqa: F811
    assert kept(there, "spark", "household") == kept(tables, "memory", "household", models=False)
    monkeypatch.setattr(key_sets, "_FEWEST", 0)
    monkeypatch.setattr(key_sets, "_MOST", 90)
    found, expected = (
        key_sets.ranked_key_sets(build_case(*given, engine=engine), ["illness", "income"])
        for given, engine in ((there, "spark"), (tables, "memory"))
    )
    assert found == expected and found[0]


@pytest.mark.filterwarnings("ignore")
def test_an_assessment_has_the_same_results_in_spark(tables, there, monkeypatch):  # noqa: F811
    monkeypatch.setattr(assess_module, "check_all", lambda case: [])
    found = assessed(there, "spark", None, **ASKED)
    monkeypatch.setattr(assess_module, "plan_of_actors", counted_plan)
    assert found == assessed(tables, "memory", None, **ASKED)


@pytest.mark.filterwarnings("ignore")
def test_an_interrupted_assessment_goes_on_in_spark(tables, there, tmp_path, monkeypatch):  # noqa: F811
    from pyspark.sql import functions as f

    asked = {"keys": ["job", "rooms"], "targets": ["illness"], "fidelity": False}
    few = [frame.select("job", "rooms", "illness") for frame in there]
    expected = assessed([t.select("job", "rooms", "illness").lazy() for t in tables], "polars", None, **asked)
    usual, made = runner._attacked, []

    def attacked(case, task):
        made.append(task)
        if len(made) == 4:
            raise KeyboardInterrupt
        return usual(case, task)

    monkeypatch.setattr(runner, "_attacked", attacked)
    with pytest.raises(Interrupted):
        assessed(few, "spark", None, keep=tmp_path / "kept", **asked)
    shuffled = [frame.repartition(3) for frame in few]
    found = assessed(shuffled, "spark", None, keep=tmp_path / "kept", resume=True, **asked)
    assert found == expected and len({str(task) for task in made}) == len(made) - 1 > 5
    changed = [few[0].withColumn("rooms", f.col("rooms") % 5 + 1), *few[1:]]
    with pytest.raises(TableError, match="resume: the real table is not as it was"):
        assessed(changed, "spark", None, keep=tmp_path / "kept", resume=True, **asked)


@pytest.mark.filterwarnings("ignore")
def test_what_spark_does_not_count_is_an_error(tables, there, paths, spark):  # noqa: F811
    for given, why in (
        (paths[0], "is a path"),
        (tables[0], "is no Spark frame"),
        (tables[0].lazy(), "table of polars"),
    ):
        with pytest.raises(DivulgeError, match=why) as error:
            opened(given, "real", engine="spark")
        assert "spark" in str(error.value)
    with pytest.raises(DivulgeError, match="a table of pyspark, which duckdb does not count"):
        opened(there[0], "real", engine="duckdb")


@pytest.mark.filterwarnings("ignore")
def test_a_spark_table_that_changes_while_it_is_read_is_an_error(spark, tmp_path):
    table(60, 1).write_parquet(tmp_path / "t.parquet")
    spark.read.parquet(str(tmp_path / "t.parquet")).createOrReplaceTempView("people")
    given = opened(spark.table("people"), "real", engine="spark")
    codes = pool([given], "rooms").of_values[0]
    assert given.counting.n_cells(["c2"], [codes]) == len(set(codes.tolist()))
    table(61, 2).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(TableError, match=r"changed while it was read|the engine that holds the table failed"):
        given.counting.cells(["c2"], [codes])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("engine", ["spark", "auto"])
def test_numbers_are_coded_by_their_edges_in_spark(engine, tables, there, monkeypatch):  # noqa: F811
    monkeypatch.setattr(outlines, "MANY", 12)
    monkeypatch.setattr(outlines, "_FETCHED", 3)
    asked = {"keys": ["income", "since", "job"], "target": "illness", "unseen": "zero"}
    case = build_case(*there, engine=engine)
    assert [c for c in case.columns if case.encoded.outlines.of(c) is not None][:1] == ["income"]
    expected = divulge.cap(*tables[:2], holdout=tables[2], **asked)
    assert told(divulge.cap(*there[:2], holdout=there[2], engine=engine, **asked)) == told(expected)


# ---------------------------------------------------------------- cells and values in parts, and interrupts


@pytest.mark.filterwarnings("ignore")
def test_many_cells_come_in_parts(tables, there, monkeypatch):  # noqa: F811
    asked = {"keys": ["job", "rooms"], "target": "income"}
    expected = told(divulge.cap(*tables[:2], holdout=tables[2], **asked))
    monkeypatch.setattr(spark_session, "_ROWS", 60)
    fetches, here = [], spark_session._here
    monkeypatch.setattr(spark_session, "_here", lambda *given: fetches.append(here(*given)) or fetches[-1])
    assert told(divulge.cap(*there[:2], holdout=there[2], engine="spark", **asked)) == expected
    assert len(fetches) > 12 and max(part.height for part in fetches) < 110


@pytest.mark.filterwarnings("ignore")
def test_an_answer_that_spark_does_not_hand_over_is_told_in_a_sentence(spark, there, monkeypatch):
    given = opened(there[0], "real", engine="spark")
    limits = spark.sparkContext._jsc.sc().conf()
    before = limits.get("spark.driver.maxResultSize", "1g")
    limits.set("spark.driver.maxResultSize", "64")
    try:
        with pytest.raises(SizeError, match=r"lets the driver fetch\. hint: raise spark\.driver\.maxResultSize"):
            given.counting.values("c1")
    finally:
        limits.set("spark.driver.maxResultSize", before)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("planned", [False, True], ids=["running", "still planned"])
def test_an_interrupted_question_cancels_its_jobs(spark, planned):
    def slow(batches):
        for batch in batches:
            time.sleep(60)
            yield batch

    counts, tracker = SparkCounts(spark.range(4).mapInArrow(slow, "id long")), spark.sparkContext.statusTracker()

    def interrupt():
        time.sleep(0.1)
        while not planned and not tracker.getActiveJobsIds():
            time.sleep(0.05)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # Spark's own cancels the jobs of all
    try:
        threading.Thread(target=interrupt).start()
        with pytest.raises(KeyboardInterrupt):
            counts.n_rows()
    finally:
        signal.signal(signal.SIGINT, before)
    time.sleep(5 * planned)  # a job that is planned begins
    until = time.monotonic() + 20
    while tracker.getActiveJobsIds() and time.monotonic() < until:
        time.sleep(0.05)
    assert not tracker.getActiveJobsIds()


# ---------------------------------------------------------------- nearest rows


def people(n, seed, offset=0):
    """Return people with an id each; few of the columns, and values that other tables lack."""
    found = table(n, seed).select("income", "job", "rooms", "since")
    if offset:
        found[0, "job"], found[1, "income"], found[2, "rooms"] = "pilot", 77.5, 9
    return found.with_columns(pl.Series("person", np.random.default_rng(seed).permutation(n) + offset))


@pytest.fixture(scope="module")
def queries(spark, tmp_path_factory):
    place = tmp_path_factory.mktemp("queries")
    asked = people(150, 5, 1000)
    asked.write_parquet(place / "queries.parquet")
    return asked, spark.read.parquet(str(place / "queries.parquet"))


REFERENCE = pl.concat([people(200, 6), people(200, 6)[:40]]).drop("person")  # some rows repeat


def answer(frame, n, k):
    """Return the answer of Spark as one process gives it: in the order of the ids, which must all be there."""
    found = pl.from_arrow(frame.toArrow()).sort("person", "rank")
    assert found.columns == ["person", *spark_search.ANSWER]
    assert found["person"].to_list() == np.repeat(np.arange(n) + 1000, k).tolist()
    assert found["rank"].to_list() == list(range(1, k + 1)) * n
    columns = [found[name].to_numpy().reshape(n, k) for name in ("distance", "index", "n_ties")]
    assert (columns[2] == columns[2][:, :1]).all()
    return Neighbours(columns[0], columns[1], columns[2][:, 0].copy())


def alone(asked, reference, *given, **settings):
    """Return what one process finds, in the order of the ids."""
    asked = asked.sort("person")
    settings = {"columns": [c for c in asked.columns if c != "person"]} | settings
    return divulge.nearest(asked, reference, *given, **settings)


def same(found, expected):
    return [
        one.dtype == other.dtype and one.tobytes() == other.tobytes()
        for one, other in zip(found, expected, strict=True)
    ]


FEW = {"columns": ["job", "rooms"]}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("folder", "k", "settings"),
    [(True, 1, {"ranges_from": REFERENCE}), (True, 3, {"weights": {"income": 0.3}}), (False, 3, {}), (False, 1, FEW)],
)
def test_spark_finds_the_nearest_rows_of_one_process_to_the_last_bit(
    queries, folder, k, settings, tmp_path, monkeypatch
):
    asked, frame = queries
    monkeypatch.setattr(spark_search, "_QUERY_ROWS", 60)
    monkeypatch.setattr(spark_search, "_REFERENCE_ROWS", 40)
    found = divulge.nearest(
        frame.repartition(3), REFERENCE, k, id="person", spill=tmp_path if folder else None, **settings
    )
    assert not list(tmp_path.iterdir())
    expected = alone(asked, REFERENCE, k, **settings)
    assert all(same(answer(found, 150, k), expected))
    assert expected.n_ties.max() > 1


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("folder", [True, False])
def test_fewer_rows_than_neighbours_and_ranges_of_the_queries(queries, folder, tmp_path):
    asked, frame = queries
    few = REFERENCE[:2]
    found = divulge.nearest(frame, few, 3, id="person", ranges_from=frame, spill=tmp_path if folder else None, **FEW)
    ordered = asked.sort("person")
    assert all(same(answer(found, 150, 3), divulge.nearest(ordered, few, 3, ranges_from=ordered, **FEW)))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("folder", [True, False])
def test_a_lost_worker_changes_no_answer(queries, folder, tmp_path, monkeypatch):
    died = str(tmp_path / "died")

    def dying(make):
        def made(*given):
            inner = make(*given)

            def by_batches(batches):
                try:
                    os.close(os.open(died, os.O_CREAT | os.O_EXCL))
                except FileExistsError:
                    return inner(batches)
                os._exit(1)

            def by_tables(left, right):
                try:
                    os.close(os.open(died, os.O_CREAT | os.O_EXCL))
                except FileExistsError:
                    return inner(left, right)
                os._exit(1)

            return by_batches if folder else by_tables

        return made

    monkeypatch.setattr(spark_search, "_by_folder", dying(spark_search._by_folder))
    monkeypatch.setattr(spark_search, "_by_pair", dying(spark_search._by_pair))
    asked, frame = queries
    (tmp_path / "shared").mkdir()
    found = divulge.nearest(frame, REFERENCE, id="person", spill=tmp_path / "shared" if folder else None, **FEW)
    assert Path(died).exists()
    assert all(same(answer(found, 150, 1), alone(asked, REFERENCE, **FEW)))


@pytest.mark.filterwarnings("ignore")
def test_a_skewed_table_and_the_mode_of_ansi_change_no_answer(spark, queries):
    asked = queries[0].with_columns(job=pl.when(pl.col("person") % 10 > 0).then(pl.lit("cook")).otherwise("job"))
    frame = spark.createDataFrame(asked.select("person", "job", "rooms").to_arrow())
    common = REFERENCE.filter(pl.col("job") == "cook")[:1]
    reference = pl.concat([common] * 300 + [REFERENCE])  # most rows are one and the same
    before = spark.conf.get("spark.sql.ansi.enabled")
    assert before == "true"  # in all other tests
    spark.conf.set("spark.sql.ansi.enabled", "false")
    try:
        found = answer(divulge.nearest(frame, reference, 2, id="person", **FEW), 150, 2)
    finally:
        spark.conf.set("spark.sql.ansi.enabled", before)
    assert all(same(found, alone(asked, reference, 2, **FEW)))
    assert found.n_ties.max() > 300


@pytest.mark.filterwarnings("ignore")
def test_groups_whose_keys_do_not_meet_are_a_loud_error(spark, queries, monkeypatch):
    pairs = spark_search._pairs

    def unlike(asked, there, blocks):
        return pairs(asked, there.where("block <> 1"), blocks)

    monkeypatch.setattr(spark_search, "_pairs", unlike)
    with pytest.raises(TableError, match="reference: a block came to its task without rows"):
        divulge.nearest(queries[1], REFERENCE, id="person", **FEW)


@pytest.mark.filterwarnings("ignore")
def test_numbers_of_blocks_meet_whatever_their_type(spark, queries, monkeypatch):
    pairs = spark_search._pairs
    monkeypatch.setattr(
        spark_search,
        "_pairs",
        lambda asked, there, blocks: pairs(
            asked, there.selectExpr("cast(block as int) block", "* except (block)"), blocks
        ),
    )
    asked, frame = queries
    assert all(
        same(answer(divulge.nearest(frame, REFERENCE, id="person", **FEW), 150, 1), alone(asked, REFERENCE, **FEW))
    )


@pytest.mark.filterwarnings("ignore")
def test_workers_without_divulge_or_without_the_folder_are_told(spark, queries, tmp_path, monkeypatch):
    seen = spark_search._seen
    with monkeypatch.context() as patch:
        patch.setattr(spark_search, "_seen", lambda folder: seen("/no/such/folder"))
        with pytest.raises(SettingError, match=r"spill: the workers of Spark do not see this folder.*hint: name one"):
            divulge.nearest(queries[1], REFERENCE, id="person", spill=tmp_path, **FEW)
    with monkeypatch.context() as patch:
        patch.setattr(spark_search, "VERSION", "0.0.1")
        with pytest.raises(SettingError, match="another version of divulge"):
            divulge.nearest(queries[1], REFERENCE, id="person", **FEW)
    # as a cluster whose workers have another Python: this one, in which divulge is not to be found
    (tmp_path / "divulge.py").write_text("raise ModuleNotFoundError('no divulge', name='divulge')")
    other = tmp_path / "python"
    other.write_text(f'#!/bin/sh\nPYTHONPATH="{tmp_path}:$PYTHONPATH" exec "{sys.executable}" "$@"\n')
    other.chmod(0o755)
    monkeypatch.setattr(spark.sparkContext, "pythonExec", str(other))
    with pytest.raises(FrameError, match=r"the workers have no package 'divulge'.*hint: install divulge and pyarrow"):
        divulge.nearest(queries[1], REFERENCE, id="person", **FEW)


@pytest.mark.filterwarnings("ignore")
def test_an_error_of_the_engine_is_told_by_its_type_alone(spark, queries):
    def failing(batches):
        for batch in batches:
            if batch.num_rows:
                raise ValueError("the value 4711 of a person")
            yield batch

    frame = queries[1].select("person", "job").mapInArrow(failing, "person long, job string")
    with pytest.raises(TableError, match="the engine that holds the table failed with a") as error:
        divulge.nearest(frame, REFERENCE, id="person", columns=["job"])
    assert "4711" not in str(error.value) and error.value.__cause__ is None


@pytest.mark.filterwarnings("ignore")
def test_an_id_that_tells_no_rows_apart_is_refused(spark, queries, tmp_path):
    asked, frame = queries
    for given, settings, kind, why in (
        (asked, {"id": "person"}, SettingError, "queries is no Spark frame"),
        (frame, {"id": "nobody"}, ColumnError, "nobody"),
        (frame, {"id": "income"}, SettingError, "is of type double"),
        (frame, {"id": "rooms"}, TableError, "does not tell rows apart"),
        (frame.withColumnRenamed("person", "Rank"), {"id": "Rank"}, SettingError, "has a column 'rank' itself"),
        (frame.select("person"), {"id": "person"}, ColumnError, "no column but the id"),
        (frame, {"id": "person", "spill": tmp_path / "away"}, SettingError, "spill: no such folder"),
    ):
        with pytest.raises(kind, match=why):
            divulge.nearest(given, REFERENCE, **settings)
    with pytest.raises(SettingError, match="the reference is a Spark frame"):
        divulge.nearest(frame, frame, id="person")


@pytest.mark.parametrize("way", ["folder", "blocks", "counts"])
def test_a_lost_executor_changes_no_answer(way, tmp_path):
    """A Spark of two executors in processes of their own, of which one is killed."""
    program = Path(__file__).parent / "spark_lost_executor.py"
    environment = os.environ | {"PYTHONPATH": str(Path(divulge.__file__).parents[1])}
    ran = subprocess.run(
        [sys.executable, str(program), str(tmp_path), way], env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    lines = ran.stdout.strip().splitlines()
    found, expected = lines if way == "counts" else lines[-1].split()
    assert found == expected
