"""What is told where an engine that holds a table fails."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

import polars as pl

from divulge.core.errors import ColumnError, DivulgeError, FrameError, SizeError, TableError

__all__ = ["answered", "changed", "engine_error"]

_T = TypeVar("_T")

_REFUSING = re.compile("Permission|Access|Analysis|Spark|Connect|IO|OSError|HTTP")
"""Kinds of errors that may be about a right to read; a message of another kind may hold a value that says so."""
_REFUSED = re.compile(r"permission|access ?(?:control|denied)|privilege|not authorized|forbidden", re.I)

_UNLIKE = re.compile("SchemaError|ColumnNotFoundError|SchemaFieldNotFoundError|ShapeError")
"""Kinds of errors of polars where files or frames that make one table have other columns or types."""
_UNLIKE_FRAMES = re.compile("inputs should all have the same schema|'union'|'concat'")

_LOST = re.compile("ExecutorLostFailure|failed the maximum allowable number of times")
"""What Spark writes where executors are lost more often than it tries a task again."""

_FILES = "a file may be damaged: write it again; engine='memory' says which; or cast columns of a rare type to text."


def engine_error(error: BaseException, role: str, *, in_files: bool = False) -> DivulgeError | KeyboardInterrupt:
    """Return what to raise for an error of an engine; its own message may show a value and is left out.

    Parameters
    ----------
    in_files
        Whether the engine reads Parquet files whose paths the user named.
    """
    kind = type(error).__name__
    if kind == "InterruptException" or (kind == "RuntimeError" and str(error) == "Query interrupted"):
        return KeyboardInterrupt()  # as DuckDB tells it
    if kind == "OutOfMemoryException":
        return SizeError(
            f"{role}: DuckDB had not enough memory. hint: name fewer keys and targets, leave out columns (--ignore), "
            "or give the process more memory; `divulge plan` tells how much there is."
        )
    if kind == "DuplicateError":
        return ColumnError(f"{role}: two columns have the same name. hint: rename one.")
    if isinstance(error, ModuleNotFoundError):
        return FrameError(f"{role}: this table needs another package. hint: pip install {error.name}")
    if isinstance(error, ImportError):  # as PySpark says it
        return FrameError(f"{role}: Spark needs an extra to hand over its answers. hint: pip install 'divulge[spark]'.")
    if kind == "PermissionException" and "disabled by configuration" in str(error):
        return TableError(
            f"{role}: this table reads files or addresses besides the DuckDB file, as a view can, and they stay "
            "closed. hint: --allow-files-under FOLDER opens the files of a folder to views; in Python pass a relation "
            "of your own connection."
        )
    if _REFUSING.search(kind) and _REFUSED.search(f"{kind} {error}"):
        return TableError(
            f"{role}: the engine that holds the table may not read it. hint: ask for the right to read it (SELECT), or "
            "see which account runs the query."
        )
    first = error.__cause__ or error.__context__ or error  # narwhals passes errors of polars on as its own
    if _UNLIKE.fullmatch(type(first).__name__) or _UNLIKE_FRAMES.search(str(error)):
        return TableError(
            f"{role}: the files or frames of the table do not fit together: one lacks a column, or has it in "
            "another type. hint: write them alike; divulge names the file where the folder is passed as a path."
        )
    if kind == "PanicException":
        return TableError(
            f"{role}: the engine that holds the table broke off while it read, as polars does where a file is damaged "
            "or changes meanwhile. hint: run again on a copy that nothing writes to, or write the file again."
        )
    if kind in ("Py4JJavaError", "SparkException", "SparkConnectGrpcException") and _LOST.search(str(error)):
        return TableError(
            f"{role}: Spark lost its executors as often as it tries a task. hint: give them more memory "
            "(spark.executor.memory, spark.executor.memoryOverhead), or look into their logs why they ended."
        )
    what = _FILES if in_files else "collect the table first, or cast columns of a rare type to text."
    return TableError(f"{role}: the engine that holds the table failed with a {kind}. hint: {what}")


def answered(role: str, ask: Callable[[], _T], *, in_files: bool = False) -> _T:
    """Return an answer of an engine; its own errors may show a value, so that only their type is told."""
    try:
        return ask()
    except DivulgeError:
        raise
    except (Exception, pl.exceptions.PanicException) as error:
        raise engine_error(error, role, in_files=in_files) from None


def changed(role: str, n_rows: int) -> TableError:
    """Return the error of a table whose answers contradict each other; it had so many rows at first."""
    return TableError(
        f"{role}: the table changed while it was read: it had {n_rows:,} rows at first. hint: run again on a table, or "
        "a copy of it, that nothing writes to."
    )
