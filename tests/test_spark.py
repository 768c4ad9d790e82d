"""Spark frames are counted where they live, by group-by; the rows never come to the driver."""

import os
import sys

import polars as pl
import pytest
from test_engine_law import ASKED, answers, assessed, counted_plan, kept, paths, table, tables, told  # noqa: F401

import divulge
from divulge.attacks import key_sets
from divulge.case.case import build_case
from divulge.core.errors import DivulgeError, TableError
from divulge.run import assess as assess_module
from divulge.tables import outlines
from divulge.tables.frames import pool
from divulge.tables.readers import opened

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def spark():
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
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
    monkeypatch.setattr(assess_module, "plan_of", counted_plan)
    assert found == assessed(tables, "memory", None, **ASKED)


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
