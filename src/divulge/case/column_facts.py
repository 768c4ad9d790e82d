"""The counts that describe one column of one table, which its kind is inferred from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from divulge.core.schema import FEW_PEOPLE, Facts
from divulge.tables.outlines import MANY
from divulge.tables.pooled_columns import PooledColumn

__all__ = ["OWN_NUMBERS", "facts_of", "share_alone"]

OWN_NUMBERS = 0.2
"""Part of the people, or of their rows, with a number or time of its own, from which it is compared by itself."""

_N_CHARS = pl.first().str.len_chars().alias("n_chars")
_SPACED = pl.first().str.contains(" ", literal=True).alias("spaced")


def share_alone(pooled: PooledColumn, tables: Sequence[int]) -> tuple[float, int]:
    """Return which part of the values in some tables stands there once, and how many values there are; 0 for none."""
    counts = np.sum([pooled.counts[i] for i in tables], axis=0)
    n = int(counts.sum())
    return int((counts[1:] == 1).sum()) / max(1, n), n


def facts_of(pooled: PooledColumn, which: int, numbers: NDArray[np.float64] | None = None) -> Facts:
    """Return the facts of one column in one table, from its levels and their counts; `numbers` are of all levels."""
    counts = pooled.counts[which]
    used = counts[1:] > 0
    numbers = pooled.numbers() if numbers is None else numbers
    integer = pooled.integer
    if pooled.family in ("number", "text") and len(numbers) <= MANY:  # of more values an outline does not count them
        integer = integer or _is_whole_but_for_few(pooled, numbers)
    numbers = numbers[used]
    finite = numbers[np.isfinite(numbers)]
    n_distinct = int(used.sum())
    length, spaces = 0.0, False
    if pooled.family == "text" and n_distinct:
        text = pooled.levels.filter(pl.Series(used))
        weight = counts[1:][used]
        n_chars, spaced = text.to_frame("text").select_seq(_N_CHARS, _SPACED).get_columns()
        length = float((n_chars.to_numpy() * weight).sum() / weight.sum())
        spaces = bool(spaced.any())
    is_number = ~np.isnan(numbers)
    n_read, n_unread = (int(counts[1:][used][w].sum()) for w in (is_number, ~is_number))
    return Facts(
        name=pooled.name,
        family=pooled.family,
        integer=integer,
        n_rows=int(counts.sum()),
        n_missing=int(counts[0]),
        n_distinct=n_distinct,
        number_share=float(is_number.mean()) if n_distinct else 0.0,
        n_not_numbers=int((~is_number).sum()),
        are_numbers=n_distinct > 0 and (not n_unread or n_unread < FEW_PEOPLE <= n_read),
        mean_length=length,
        has_spaces=spaces,
        span=float(finite.max()) - float(finite.min()) if len(finite) else float("nan"),
        form=pooled.settled.unusual_form(which),
        question=pooled.settled.question,
        n_commonest=int(counts.max(initial=0)),
    )


def _is_whole_but_for_few(pooled: PooledColumn, numbers: NDArray[np.float64]) -> bool:
    """Return whether all numbers are whole but those of fewer than ten people, beside ten with a whole one.

    So that the kind tells nobody whether a single person has a decimal.
    """
    whole = np.isfinite(numbers) & (numbers == np.round(numbers))
    odd = ~whole & ~np.isnan(numbers)
    n_whole, n_odd = (sum(int(c[1:][w].sum()) for c in (*pooled.counts[:1], *pooled.counts[2:])) for w in (whole, odd))
    synthetic = sum(int(c[1:][odd].sum()) for c in pooled.counts[1:2])
    return bool(whole.any()) and not synthetic and (not n_odd or n_odd < FEW_PEOPLE <= n_whole)
