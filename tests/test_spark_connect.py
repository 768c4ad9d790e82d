"""Spark Connect counts and searches as classic Spark does; its server is a second one, so that it has a file of its own."""

import os
import subprocess
import sys

import pytest
from test_spark import REFERENCE, people

pytestmark = pytest.mark.spark

CONNECT = """
import sys, warnings
warnings.simplefilter("ignore")
import polars as pl
from pyspark.sql import SparkSession
import divulge

queries, reference, folder = sys.argv[1:]
session = SparkSession.builder.remote("local[2]").config("spark.ui.enabled", "false").config("spark.driver.memory", "2g").getOrCreate()
assert "connect" in type(session).__module__
frame, reference = session.read.parquet(queries), pl.read_parquet(reference)
asked = pl.read_parquet(queries).sort("person")
few = {"columns": ["job", "rooms"]}
for spill in (folder, None):
    found = pl.from_arrow(divulge.nearest(frame, reference, 2, id="person", spill=spill, **few).toArrow())
    found = found.sort("person", "rank")
    expected = divulge.nearest(asked, reference, 2, **few)
    assert found["distance"].to_numpy().tobytes() == expected.distances.tobytes()
    assert found["index"].to_numpy().tobytes() == expected.indices.tobytes()
    assert found["n_ties"].to_numpy()[::2].tobytes() == expected.n_ties.tobytes()
results = [
    {**divulge.cap(given, given, keys=["job"], target="rooms", engine=engine).to_dict(), "seconds": 0}
    for given, engine in ((asked, "memory"), (frame, "spark"))
]
assert results[0] == results[1]
session.stop()
print("the same by Connect")
"""


def test_spark_connect_finds_the_same(tmp_path):
    pytest.importorskip("grpc")
    people(150, 5, 1000).write_parquet(tmp_path / "queries.parquet")
    REFERENCE.write_parquet(tmp_path / "reference.parquet")
    given = [str(tmp_path / "queries.parquet"), str(tmp_path / "reference.parquet"), str(tmp_path)]
    workers = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    ran = subprocess.run(
        [sys.executable, "-c", CONNECT, *given], env=workers, capture_output=True, text=True, timeout=540
    )
    assert "the same by Connect" in ran.stdout, ran.stderr[-2000:]
