"""The hash of a table, by what its columns say."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from divulge.tables.column_families import written
from divulge.tables.pooled_columns import PooledColumn

__all__ = ["fingerprint"]

_AT_ONCE = 50_000  # values that are texts of Python at a time: millions take many times as much as in an array


def _slices(values: pl.Series) -> Iterator[pl.Series]:
    """Yield the values, some at a time."""
    for first in range(0, len(values), _AT_ONCE):
        yield values.slice(first, _AT_ONCE)


def fingerprint(columns: Sequence[PooledColumn], which: int) -> str:
    """Return the SHA-256 of one table's canonical columns: names, families, values, missing.

    For rows in memory the hash depends on their order. Rows that an engine holds have no order, and the hash uses the
    counts of each column.
    """
    digest = hashlib.sha256()
    for column in columns:
        counts, codes = column.counts[which], column.codes[which]
        used = counts > 0
        used[0] = True
        levels = column.levels.filter(pl.Series(used[1:]))
        values = written(levels)
        # lengths first, so that no value can pass for the border between two
        head = [column.name, column.family]
        digest.update(f"{len(head) + len(values)} {' '.join(str(len(text)) for text in head)} ".encode())
        for part in _slices(values.str.len_chars()):  # millions of texts take much memory
            digest.update("".join(f"{length} " for length in part.to_list()).encode())
        digest.update("".join(head).encode())
        for part in _slices(values):
            digest.update("".join(part.to_list()).encode())
        own = np.cumsum(used, dtype="<i4") - 1
        digest.update((counts[used] if codes is None else own[codes]).tobytes())
    return digest.hexdigest()
