"""Nearest rows found by Spark's workers, beside the same search in one process.

    python benchmarks/spark.py --reference 400000 --queries 40000
    python benchmarks/scale.py --goals --run S14              the same, judged with the other goals

Tables are those of `scale.py`: fifteen columns, one of twenty thousand values. Java is needed, and pip install
'divulge[spark]'. In one session of two cores each search is made twice: for the first one workers start. Told are wall
seconds and CPU seconds (of Python, Java and the workers) of

- `search`: the search alone, of rows that Spark holds as numbers and codes. The goal is about the second one: at most
  2 s more than one process by a mapped index, at most 8 s more by blocks;
- `call`: `divulge.nearest` as a whole, with the values of each column, the ruler and the look-up of values.

At the end it says whether the goal is met; runs of other sizes than the first line's judge nothing. The load of the
machine is told with them: on a busy machine they are of no worth.
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

SIZE = 400_000, 40_000
"""Rows of the reference and of the queries of the goal."""
GOALS = {"folder": 2.0, "blocks 1 x 4": 8.0}
"""Seconds of a second search beyond those of one process by a mapped index, at most."""
SECONDS: dict[str, float] = {}
"""Wall seconds of what was told."""


def told(name: str, ask: Callable[[], Any]) -> Any:
    """Print the wall seconds of a call and the CPU seconds of all processes of this one; return what it returns."""
    began, used = time.perf_counter(), cpu()
    found = ask()
    SECONDS[name] = time.perf_counter() - began
    print(f"{name}: {SECONDS[name]:.2f} s, {cpu() - used:.2f} CPU s", flush=True)
    return found


def judged(unequal: int) -> dict[str, float]:
    """Return the numbers of the goal."""
    alone = SECONDS["search, one process, mapped index"]
    beyond = {f"seconds_beyond_by_{way.split()[0]}": SECONDS[f"search, {way}, second"] - alone for way in GOALS}
    return beyond | {"unequal": unequal}


def in_words(found: dict[str, float], size: tuple[int, int]) -> str:
    """Return the numbers of the goal beside what it allows, and whether it is met."""
    most = [*GOALS.values(), 0]
    parts = [f"{k.replace('_', ' ')} {v:.2f} (at most {m:g})" for (k, v), m in zip(found.items(), most, strict=True)]
    met = all(v <= m for v, m in zip(found.values(), most, strict=True))
    verdict = ("met" if met else "missed") if size == SIZE else "not judged: the goal is of other sizes"
    return f"S14: {'; '.join(parts)}: {verdict}"


def cpu() -> float:
    """Return the CPU seconds of this process and of all that it began, Java and the workers."""
    parents, used = {}, {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            told = entry.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended meanwhile
            continue
        parents[int(entry.parent.name)], used[int(entry.parent.name)] = int(told[1]), sum(map(int, told[11:15]))
    own, total = {os.getpid()}, 0
    while own:
        total += sum(used.get(pid, 0) for pid in own)
        own = {pid for pid, parent in parents.items() if parent in own}
    return total / os.sysconf("SC_CLK_TCK")


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


def searches(spark: Any, asked: pl.DataFrame, frame: Any, reference: pl.DataFrame, shared: Path) -> int:
    """Measure the search alone, in one process and in Spark; return in how many ways the bits are others."""
    unequal = 0
    rows = spark_rows(frame, "queries", "person")
    case = build_case(table_of(reference, "reference"), rows.table)
    used = case.schema.usable()
    entries = spark_search._on_ruler(case, used, None, [0, 1])[1]
    here = build_case(reference, asked.drop("person")).encoded.measured_columns(used, ranges_of=[0, 1])
    ruler, there, queries = here.ruler, here.rows("real"), here.rows("synthetic")
    told("search, one process, with the build", lambda: Index(ruler, there, threads=1).nearest(queries))
    folder, blocks = IndexFolder(shared), spark_search.Blocks(1, 4)
    told("index written", lambda: folder.write(ruler, there))
    near = told("search, one process, mapped index", lambda: opened_index(folder.path).nearest(queries))
    held = rows.looked_up(entries).repartition(2).cache()
    told("values looked up, held by Spark", held.count)
    sent = spark.createDataFrame(spark_search._sent(there, blocks)).cache()
    told("reference held by Spark", sent.count)
    schema, numbers = spark_search._schema(rows), ruler_in_numbers(ruler)
    pairs = spark_search._pairs(held, sent, blocks).applyInArrow(spark_search._by_pair(numbers, 1), schema)
    ways = {
        "folder": held.mapInArrow(spark_search._by_folder(str(folder.path), 1), schema),
        "blocks 1 x 4": spark_search._merged(pairs, 1),
    }
    first = "element_at(distances, 1) distance", "element_at(rows, 1) index"
    for name, way in ways.items():
        for turn in ("first", "second"):
            answer = way.selectExpr("id", *first, "n_ties")
            found = told(f"search, {name}, {turn}", answer.toArrow)
        same = equal(pl.from_arrow(found), (near.distances, near.rows, near.n_ties))
        unequal += not same
        print(f"equal: {same}", flush=True)
    return unequal


def calls(asked: pl.DataFrame, frame: Any, reference: pl.DataFrame, shared: Path) -> int:
    """Measure `divulge.nearest`, in one process and in Spark; return in how many ways the bits are others."""
    unequal = 0
    near = told("call, one process", lambda: divulge.nearest(asked.drop("person"), reference))
    for name, spill in (("folder", shared), ("blocks 1 x 4", None)):
        found = told(f"call, {name}", lambda s=spill: divulge.nearest(frame, reference, id="person", spill=s))
        same = equal(pl.from_arrow(found.toArrow()), near)
        unequal += not same
        print(f"equal: {same}", flush=True)
    return unequal


def main() -> None:
    """Measure, and say whether the goal is met; the last line is its numbers as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reference", type=int, default=SIZE[0])
    parser.add_argument("--queries", type=int, default=SIZE[1])
    given = parser.parse_args()
    rng = np.random.default_rng(0)
    reference = people(given.reference, rng)
    asked = people(given.queries, rng).with_columns(person=pl.int_range(given.queries))
    print(f"load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as kept:
        place = Path(kept)
        asked.write_parquet(place / "queries.parquet")
        spark = told("session", session)
        frame = spark.read.parquet(str(place / "queries.parquet"))
        unequal = searches(spark, asked, frame, reference, place) + calls(asked, frame, reference, place)
        spark.stop()
    print(f"load {os.getloadavg()[0]:.1f}")
    found = judged(unequal)
    print(in_words(found, (given.reference, given.queries)))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
