"""Nearest rows found by Spark's workers, beside the same search in one process.

    python benchmarks/spark.py --reference 400000 --queries 40000

Tables are those of `scale.py`: fifteen columns, one of twenty thousand values. Java is needed, and pip install
'divulge[spark]'. Each way is asked twice in one session of two cores: in the first call workers start. Told are wall
seconds of

- `search`: the search alone, of rows that Spark holds as numbers and codes. The goal is about the second one: at most
  2 s more than one process by a mapped index, at most 8 s more by blocks;
- `call`: `divulge.nearest` as a whole, with the values of each column, the ruler and the look-up of values.

The load of the machine is told with them: on a busy machine they are of no worth.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scale import people

import divulge
from divulge.case import spark_search
from divulge.case.case import build_case
from divulge.kernels.neighbours.index import Index
from divulge.kernels.neighbours.mapped_index import IndexFolder, opened_index, ruler_in_numbers
from divulge.tables.frames import table_of
from divulge.tables.spark_rows import spark_rows


def taken(ask: Callable[[], Any]) -> tuple[float, Any]:
    """Return the wall seconds of a call, and what it returns."""
    began = time.perf_counter()
    found = ask()
    return round(time.perf_counter() - began, 2), found


def session() -> Any:
    """Return a Spark session of two cores."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "2g",
        "spark.sql.shuffle.partitions": "4",
    }
    return SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()


def equal(found: pl.DataFrame, near: Any) -> bool:
    """Return whether Spark's answer has the bits of one process."""
    found = found.sort("id" if "id" in found.columns else "person")
    columns = [found[name].to_numpy() for name in ("distance", "index", "n_ties")]
    parts = (near[0].ravel(), near[1].ravel(), near[2])
    return all(one.tobytes() == other.tobytes() for one, other in zip(columns, parts, strict=True))


def searches(spark: Any, asked: pl.DataFrame, frame: Any, reference: pl.DataFrame, shared: Path) -> dict[str, Any]:
    """Return the seconds of the search alone, in one process and in Spark."""
    rows = spark_rows(frame, "queries", "person")
    case = build_case(table_of(reference, "reference"), rows.table)
    used = case.schema.usable()
    entries = spark_search._on_ruler(case, used, None, [0, 1])[1]
    here = build_case(reference, asked.drop("person")).encoded.measured_columns(used, ranges_of=[0, 1])
    ruler, there, queries = here.ruler, here.rows("real"), here.rows("synthetic")
    out: dict[str, Any] = {}
    out["one process, build and search"] = taken(lambda: Index(ruler, there, threads=1).nearest(queries))[0]
    folder = IndexFolder(shared)
    out["index written"] = taken(lambda: folder.write(ruler, there))[0]
    out["one process, mapped index"], near = taken(lambda: opened_index(folder.path).nearest(queries))
    held = rows.looked_up(entries).repartition(2).cache()
    out["values looked up, held by Spark"] = taken(held.count)[0]
    schema = spark_search._schema(rows)
    by_folder = held.mapInArrow(spark_search._by_folder(str(folder.path), 1), schema)
    sent = spark.createDataFrame(spark_search._sent(there, spark_search.Blocks(1, 4))).cache()
    out["reference sent to Spark"] = taken(sent.count)[0]
    pairs = spark_search._pairs(held, sent, spark_search.Blocks(1, 4))
    by_pairs = spark_search._merged(pairs.applyInArrow(spark_search._by_pair(ruler_in_numbers(ruler), 1), schema), 1)
    first = "element_at(distances, 1) distance", "element_at(rows, 1) index"
    for name, found in (("folder", by_folder), ("blocks 1 x 4", by_pairs)):
        for turn in ("first", "second"):
            seconds, told = taken(lambda found=found: found.selectExpr("id", *first, "n_ties").toArrow())
            out[f"search, {name}, {turn}"] = seconds
        out[f"equal, {name}"] = equal(pl.from_arrow(told), (near.distances, near.rows, near.n_ties))
    return out


def calls(asked: pl.DataFrame, frame: Any, reference: pl.DataFrame, shared: Path) -> dict[str, Any]:
    """Return the seconds of `divulge.nearest`, in one process and in Spark."""
    out: dict[str, Any] = {}
    out["call, one process"], near = taken(lambda: divulge.nearest(asked.drop("person"), reference))
    for name, spill in (("folder", shared), ("blocks 1 x 4", None)):
        for turn in ("first", "second"):
            seconds, found = taken(lambda spill=spill: divulge.nearest(frame, reference, id="person", spill=spill))
            out[f"call, {name}, {turn}"] = seconds
        out[f"equal call, {name}"] = equal(pl.from_arrow(found.toArrow()), near)
    return out


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--reference", type=int, default=400_000)
    parser.add_argument("--queries", type=int, default=40_000)
    given = parser.parse_args()
    rng = np.random.default_rng(0)
    reference = people(given.reference, rng)
    asked = people(given.queries, rng).with_columns(person=pl.int_range(given.queries))
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as kept:
        place = Path(kept)
        asked.write_parquet(place / "queries.parquet")
        seconds, spark = taken(session)
        frame = spark.read.parquet(str(place / "queries.parquet"))
        told = {"session": seconds, **searches(spark, asked, frame, reference, place)}
        told |= calls(asked, frame, reference, place)
        spark.stop()
    print(json.dumps(told | {"load": [round(load, 1), round(os.getloadavg()[0], 1)]}, indent=1))


if __name__ == "__main__":
    main()
