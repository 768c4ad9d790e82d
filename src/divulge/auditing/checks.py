"""Whether a synthetic table can be used as evidence: what fails a training, and what is noted about it."""

from __future__ import annotations

import hashlib

import polars as pl

from divulge.auditing.pool import Pool
from divulge.core.errors import DivulgeError, shortened
from divulge.tables.frames import Table

__all__ = ["Unusable", "content_hash", "notes_on"]

_SHOWN = 5  # names of columns
_FEW = 0.5  # of the rows that were asked for


class Unusable(DivulgeError):
    """A synthetic table that is no evidence; the message says why, without a data value."""


def notes_on(pool: Pool, synthetic: Table, expected: int) -> tuple[str, ...]:
    """Return what is odd about a synthetic table that can be used.

    Parameters
    ----------
    pool
        The people.
    synthetic
        What came back from a training.
    expected
        Rows that were asked for.

    Raises
    ------
    Unusable
        A column is missing, or a column of numbers holds none.
    """
    needed = [c for c in pool.table.columns if c != pool.unit and c not in pool.ignore]
    missing = [c for c in needed if c not in synthetic.columns]
    if missing:
        raise Unusable(f"the table lacks {_named(missing)} (hint: --ignore leaves a column out)")
    notes = []
    extra = [c for c in synthetic.columns if c not in pool.table.columns]
    if extra:
        notes.append(f"the table has {len(extra)} columns that the training table lacks" if len(extra) > 1 else
                     "the table has a column that the training table lacks")  # fmt: skip
    told = (_on_column(pool.table.series(c), synthetic.series(c), c) for c in needed)
    notes += [note for note in told if note]
    if synthetic.n_rows < _FEW * expected:
        notes.append(f"the table has {synthetic.n_rows:,} rows, of {expected:,}")
    assert synthetic.frame is not None
    if synthetic.n_rows > 1 and synthetic.frame.select(_inner(synthetic, needed)).n_unique() == 1:
        notes.append("the generator gave a constant table")
    return tuple(notes)


def _inner(table: Table, columns: list[str]) -> list[str]:
    """Return the names inside the frame of a table."""
    return [table.names[c] for c in columns]


def _on_column(real: pl.Series, made: pl.Series, column: str) -> str:
    """Return what is odd about a column."""
    if made.null_count() == len(made):
        return "" if real.null_count() == len(real) else f"column {shortened(repr(column), 60)} is empty"
    if not real.dtype.is_numeric() or made.dtype.is_numeric() or made.dtype == pl.Boolean:
        return ""
    n_given = len(made) - made.null_count()
    n_read = len(_numbers_in(made))
    if n_read == 0:
        raise Unusable(f"column {shortened(repr(column), 60)} holds no number, and that of the training table does")
    return "" if n_read == n_given else f"column {shortened(repr(column), 60)}: some cells are no numbers"


def _numbers_in(column: pl.Series) -> pl.Series:
    """Return the cells that can be read as numbers."""
    return column.cast(pl.String, strict=False).str.strip_chars().cast(pl.Float64, strict=False).drop_nulls()


def _named(columns: list[str]) -> str:
    names = ", ".join(shortened(repr(c), 60) for c in columns[:_SHOWN])
    more = f" and {len(columns) - _SHOWN} more" if len(columns) > _SHOWN else ""
    return f"the column{'s' if len(columns) > 1 else ''} {names}{more}"


def content_hash(table: Table) -> str:
    """Return a hash of the cells of a table, in their order.

    Examples
    --------
    >>> from divulge.tables.frames import table_of
    >>> a, b = (table_of(pl.DataFrame({"age": ages}), "synthetic") for ages in ([1, 2], [2, 1]))
    >>> content_hash(a) == content_hash(a), content_hash(a) == content_hash(b)
    (True, False)
    """
    digest = hashlib.sha256()
    for name in sorted(table.columns):
        texts = table.series(name).cast(pl.String, strict=False).fill_null("\0").to_list()
        digest.update(f"{len(name)} {name}".encode("utf-8", "surrogatepass"))
        digest.update("\x1f".join(texts).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
