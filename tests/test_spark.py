"""Spark frames are counted where they live, by group-by; the rows never come to the driver."""

import os
import sys

import polars as pl
import pytest

import divulge

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
