"""Nearest neighbours of the rows of a Spark frame, searched in Spark's workers.

Ruler, ranges and codes are fixed before, here, from both tables: Spark tells the distinct values of each column, and
gets back what stands for them on the ruler. Each row is then numbers and codes, as the search takes them, and any
worker finds the same distances, lowest rows and ties, to the last bit. The workers search

- the index in a folder that all of them see (`mapInArrow`), or, where no folder is shared,
- blocks of the reference that Spark brings to blocks of queries (`cogroup().applyInArrow`).

Nothing but names and numbers is sent with a function, and no context of Spark is asked, so that Spark Connect does too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from divulge.case.encoded import EncodedTables, MeasuredColumns
from divulge.case.spark_answers import CODE, NUMBER, RAISED, VERSION, in_columns
from divulge.core.errors import DivulgeError, FrameError, SettingError, TableError
from divulge.kernels.neighbours.gower import Rows
from divulge.kernels.neighbours.mapped_index import IndexFolder, ruler_in_numbers
from divulge.tables.engine_errors import engine_error
from divulge.tables.spark_rows import SparkRows
from divulge.tables.spark_session import asked

__all__ = ["ANSWER", "nearest_in_spark"]

ANSWER = ("rank", "distance", "index", "n_ties")
"""Columns of the answer beside the identifier."""
_REFERENCE_ROWS, _QUERY_ROWS = 1_000_000, 2_000_000  # of a block, which one task holds: 100 bytes a row of 15 columns
_FEWEST_BLOCKS = 4  # of the reference, so that several tasks work on few rows
_LOOKS = 4  # tasks that look what the workers have
_KEEPS_NOTHING = "NOT_SUPPORTED_WITH_SERVERLESS"
_CHANGED = "queries: the table changed while it was read. hint: run again on a table that nothing writes to."

_T = TypeVar("_T")


class Blocks(NamedTuple):
    """How many blocks there are of queries and of the reference."""

    queries: int
    reference: int


def nearest_in_spark(
    tables: EncodedTables,
    columns: Sequence[str],
    weights: Mapping[str, float] | None,
    ranges_of: Sequence[int],
    queries: SparkRows,
    k: int,
    spill: str | Path | None,
) -> Any:
    """Return the k nearest rows of the reference for each row of a Spark frame, as a Spark frame.

    Parameters
    ----------
    tables
        The reference, which is in memory, the queries, which Spark counts, and perhaps a table of ranges.
    columns, weights, ranges_of
        What is compared, and the tables that fix the ranges.
    queries
        The queries again.
    spill
        A folder that all workers see; None sends the reference to them in blocks.

    Raises
    ------
    SettingError
        There is no such folder, or the workers do not see it.
    FrameError
        The workers lack divulge, or have another version.
    TableError
        The queries changed meanwhile, or Spark fails.
    """
    if queries.id.lower() in ANSWER:
        raise SettingError(f"id: the answer has a column {queries.id.lower()!r} itself. hint: rename that of queries.")
    if spill is not None and not Path(spill).is_dir():
        raise SettingError("spill: no such folder. hint: name one that all workers of Spark see.")
    measured, entries = _on_ruler(tables, columns, weights, ranges_of)
    schema = _schema(queries)
    if spill is None:
        _check_workers(queries, None)
        found = _by_pairs(queries, entries, measured, k, schema)
        return _answer(queries, found, k, None)
    folder = _folder_in(Path(spill))
    try:
        path = str(folder.path)
        _check_workers(queries, path)
        folder.write(measured.ruler, measured.rows("real"))
        found = _ask(queries, lambda: queries.looked_up(entries).mapInArrow(_by_folder(path, k), schema))
        return _answer(queries, found, k, path)
    finally:
        folder.remove()


def _on_ruler(
    tables: EncodedTables, columns: Sequence[str], weights: Mapping[str, float] | None, ranges_of: Sequence[int]
) -> tuple[MeasuredColumns, dict[str, pl.DataFrame]]:
    """Return the columns on one ruler, and for each column of the queries what stands for each of its values."""
    values = {c: _of_values(tables, c) for c in columns}
    most = max(len(own) for own in values.values())
    none = np.empty(0, dtype=np.int32)  # of a table of ranges no row is asked for
    codes = {}
    for column, own in values.items():
        reference = tables.pooled(column).codes[0]
        assert reference is not None
        padded = np.pad(own, (0, most - len(own)))
        codes[column] = (reference, padded, *(none for _ in tables.tables[2:]))
    measured = tables.with_codes(codes).measured_columns(columns, weights, ranges_of)
    placed = in_columns(measured.rows("synthetic"))
    entries = {}
    for column, own in values.items():
        names = [f"{name}{j}" for name, j in zip((NUMBER, CODE), measured.places(column), strict=True) if j >= 0]
        if names:
            entries[column] = pl.DataFrame({name: placed[name][: len(own)] for name in names})
    return measured, entries


def _of_values(tables: EncodedTables, column: str) -> NDArray[np.int32]:
    codes = tables.pooled(column).of_values[1]
    assert codes is not None
    return codes


def _folder_in(parent: Path) -> IndexFolder:
    try:
        return IndexFolder(parent)
    except OSError as error:
        raise SettingError(
            f"spill: the folder cannot be written to: {error.strerror}. hint: name one that you may write to."
        ) from None


def _ask(queries: SparkRows, question: Callable[[], _T]) -> _T:
    """Return an answer of Spark. An error of Spark may show a value, so that only its type is told.

    In the messages only such words are looked for as divulge, Spark and Python write themselves.
    """
    try:
        return asked(queries.session, question)
    except DivulgeError:
        raise
    except Exception as error:
        raise _told(error, queries.table.role) from None


def _told(error: Exception, role: str) -> DivulgeError | KeyboardInterrupt:
    message = str(error)
    if f"{RAISED} changed" in message:
        return TableError(_CHANGED)
    if f"{RAISED} empty" in message:
        return TableError(
            "reference: a block came to its task without rows, so that no answer would be right. hint: please report "
            "it, with the versions of Spark and divulge."
        )
    if "PYTHON_VERSION_MISMATCH" in message:
        return SettingError(
            "spark: the workers run another Python than this process. hint: set PYSPARK_PYTHON to the path of one "
            "Python before the session starts."
        )
    if found := re.search(r"ModuleNotFoundError: No module named '([A-Za-z_]\w*)", message):
        return _lacking(found[1])
    return engine_error(error, role)


def _lacking(package: str) -> FrameError:
    return FrameError(
        f"spark: the workers have no package {package!r}, or an older one. hint: install divulge and pyarrow where "
        "they run: with pip on every node of a cluster; in local mode set PYSPARK_PYTHON to this Python before the "
        "session starts."
    )


# ---------------------------------------------------------------- the two ways


def _by_folder(folder: str, k: int) -> Callable[[Any], Any]:
    """Return a function for `mapInArrow`."""

    def answered(batches: Any) -> Any:
        from divulge.case.spark_answers import answers_by_folder

        return answers_by_folder(batches, folder, k)

    return answered


def _by_pair(ruler: dict[str, Any], k: int) -> Callable[[Any, Any], Any]:
    """Return a function for `cogroup().applyInArrow`."""

    def answered(queries: Any, reference: Any) -> Any:
        from divulge.case.spark_answers import answers_of_pair

        return answers_of_pair(queries, reference, ruler, k)

    return answered


def _by_pairs(
    queries: SparkRows, entries: Mapping[str, pl.DataFrame], measured: MeasuredColumns, k: int, schema: Any
) -> Any:
    """Return the answers of all pairs of blocks, merged."""
    reference = measured.rows("real")
    blocks = _blocks(queries.table.n_rows, len(reference))
    sent = _sent(reference, blocks)

    def made() -> Any:
        pairs = _pairs(queries.looked_up(entries), queries.session.createDataFrame(sent), blocks)
        return _merged(pairs.applyInArrow(_by_pair(ruler_in_numbers(measured.ruler), k), schema), k)

    return _ask(queries, made)


def _blocks(n_queries: int, n_reference: int) -> Blocks:
    """Return how many blocks there are: of queries as few as a task can hold, since each builds the trees anew."""
    wanted = max(_FEWEST_BLOCKS, -(-n_reference // _REFERENCE_ROWS))
    return Blocks(-(-n_queries // _QUERY_ROWS), min(wanted, n_reference))


def _sent(reference: Rows, blocks: Blocks) -> Any:
    """Return the rows of the reference for Spark, each with its number and its block."""
    row = np.arange(len(reference))
    block = row * blocks.reference // len(reference)
    return pl.DataFrame({"row": row, "block": block} | in_columns(reference)).to_arrow()


def _pairs(queries: Any, reference: Any, blocks: Blocks) -> Any:
    """Return each block of queries beside each block of the reference.

    The number of a pair is a long on both sides: groups by an int and by a long do not meet, and nothing tells it.
    """
    from pyspark.sql import functions as f

    def numbers(n: int) -> Any:
        return f.explode(f.sequence(f.lit(0).cast("long"), f.lit(n - 1).cast("long")))

    part = f.pmod(f.xxhash64("id"), f.lit(blocks.queries).cast("long"))
    asked = queries.withColumn("part", part).withColumn("block", numbers(blocks.reference))
    there = reference.withColumn("part", numbers(blocks.queries))
    pair = f.col("part").cast("long") * f.lit(blocks.reference).cast("long") + f.col("block").cast("long")
    sides = [side.withColumn("pair", pair).drop("part", "block") for side in (asked, there)]
    return sides[0].groupBy("pair").cogroup(sides[1].groupBy("pair"))


def _merged(answers: Any, k: int) -> Any:
    """Return the answer to each query from those by block: the k least of (distance, row), and all ties of the last."""
    from pyspark.sql import functions as f

    zipped = answers.select(
        "id", f.arrays_zip("distances", "rows").alias("near"), f.struct("distances", "n_ties").alias("block")
    )
    of_id = zipped.groupBy("id").agg(
        f.slice(f.array_sort(f.flatten(f.collect_list("near"))), 1, k).alias("near"),
        f.collect_list("block").alias("blocks"),
    )
    last = f.element_at("near", k)["distances"]

    def ties(block: Any) -> Any:
        # a block whose last distance is beyond that of all names all its rows at the latter
        listed = f.size(f.filter(block["distances"], lambda d: d == last)).cast("long")
        return f.when(f.element_at(block["distances"], k) == last, block["n_ties"]).otherwise(listed)

    counted = f.aggregate("blocks", f.lit(0).cast("long"), lambda total, block: total + ties(block))
    none = last == f.lit(float("inf"))
    return of_id.select(
        "id", f.col("near.distances").alias("distances"), f.col("near.rows").alias("rows"),
        f.when(none, f.lit(0).cast("long")).otherwise(counted).alias("n_ties"),
    )  # fmt: skip


# ---------------------------------------------------------------- the answer


def _schema(queries: SparkRows) -> Any:
    from pyspark.sql import types as t

    fields = [("distances", t.ArrayType(t.DoubleType())), ("rows", t.ArrayType(t.LongType())), ("n_ties", t.LongType())]
    return t.StructType([t.StructField("id", queries.type_of_id()), *(t.StructField(n, kind) for n, kind in fields)])


def _answer(queries: SparkRows, found: Any, k: int, folder: str | None) -> Any:
    """Return the answers, one row for each query and neighbour, made once and held by Spark."""
    from pyspark.sql import functions as f

    def made() -> Any:
        near = found.select("id", f.posexplode(f.arrays_zip("distances", "rows")).alias("rank", "near"), "n_ties")
        names = [queries.id, *ANSWER]
        columns = [f.col("id"), f.col("rank") + 1, f.col("near.distances"), f.col("near.rows"), f.col("n_ties")]
        return near.select(*(c.alias(n) for n, c in zip(names, columns, strict=True)))

    told = _ask(queries, made)
    kept = _ask(queries, lambda: _held(told, folder))
    if kept is not told and _ask(queries, kept.count) != queries.table.n_rows * k:
        raise TableError(_CHANGED)
    return kept


def _held(frame: Any, folder: str | None) -> Any:
    """Return the frame, made and held by the executors, so that nothing is needed to make it again."""
    try:
        return frame.localCheckpoint(eager=True)
    except Exception as error:
        if _KEEPS_NOTHING not in str(error):
            raise
        if folder is not None:
            raise SettingError(
                "spill: this Spark holds no answers (serverless), and the index is removed at the end. hint: leave "
                "spill out."
            ) from None
        return frame  # made whenever it is asked for


def _check_workers(queries: SparkRows, folder: str | None) -> None:
    """Raise an error unless the workers have this version of divulge and see the folder."""
    looks = queries.session.range(0, _LOOKS, 1, _LOOKS)
    told = _ask(queries, lambda: looks.mapInArrow(_seen(folder), "version string, folder boolean").collect())
    for worker in told:
        if worker["version"].startswith("lacks "):
            raise _lacking(worker["version"].split()[1])
        if worker["version"] != VERSION:
            raise SettingError(
                "spark: the workers have another version of divulge than this process. hint: install the same one."
            )
        if not worker["folder"]:
            raise SettingError(
                "spill: the workers of Spark do not see this folder, or may not read it. hint: name one that every "
                "node has at this path, for the same user; or leave spill out."
            )


def _seen(folder: str | None) -> Callable[[Any], Any]:
    """Return a function for `mapInArrow` that tells what a worker has: the version of divulge, and the folder."""

    def seen(batches: Any) -> Any:
        import os

        import pyarrow

        try:
            from divulge.case.spark_answers import VERSION as version
        except ImportError as error:
            version = f"lacks {str(error.name).split('.')[0]}"
        has = folder is None or os.access(folder, os.R_OK | os.X_OK)
        for batch in batches:
            told = {"version": [version] * batch.num_rows, "folder": [has] * batch.num_rows}
            yield pyarrow.RecordBatch.from_pydict(told)

    return seen
