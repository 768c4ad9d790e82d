"""How far several synthetic tables are from one real table, with the error that they share.

The same rows of the real table are behind each distance, so that two of them err together and their difference errs
less. All tables are counted in the same cells, and the real rows are in the same blocks whichever table they are
compared with: leaving a block out moves all distances at once, which tells how far they move together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.case.case import Case
from divulge.measures.blocks import Together, coded, compared_columns, dealt_together
from divulge.measures.column_pairs import PairCodings, chosen_pairs, counted_pairs
from divulge.measures.column_shapes import BINS
from divulge.measures.noise_floor import Family, Statistic, ks_distance, tv_distance

__all__ = ["DistancesTogether", "distances_together"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class DistancesTogether:
    """The distance of each of several synthetic tables from the real one, mean over columns or over their pairs."""

    measure: str
    """"column_shapes" or "column_pairs"."""
    value: Floats
    """Shape (n_tables,)."""
    fresh: Floats
    """Shape (n_tables,): what a fresh sample as large as the table shows."""
    without_real: Floats
    """Shape (n_tables, n_blocks): the distances where one block of the real table is left out."""
    without_own: Floats
    """Shape (n_tables, n_blocks): the distances where one block of the synthetic table is left out."""
    sizes: tuple[int, int]
    """Rows (or units) of the real and of each synthetic table that were compared."""

    @property
    def excess(self) -> Floats:
        """The distances beyond a fresh sample, shape (n_tables,)."""
        return np.asarray(self.value - self.fresh)


def distances_together(case: Case) -> tuple[DistancesTogether, ...]:
    """Return the distances of columns and of pairs of columns of several synthetic tables from the real one.

    Parameters
    ----------
    case
        All rows in memory. Its synthetic table is the stack of several, and says how many rows each has (`parts`).

    Returns
    -------
    tuple of DistancesTogether
        Columns, and pairs of columns where there are two. None at all where a table has too few rows.

    Examples
    --------
    >>> import polars as pl
    >>> from divulge.case.case import build_case
    >>> real, even = (pl.DataFrame({"sex": values * 100}) for values in (["f", "f", "f", "m"], ["f", "m", "f", "m"]))
    >>> (found,) = distances_together(build_case(real, [real, even]))
    >>> found.measure, found.value.tolist()
    ('column_shapes', [0.0, 0.25])
    """
    rows = dealt_together(case, case.synthetic_parts or (case.n_rows("synthetic"),))
    names = compared_columns(case)
    if rows is None or not names:
        return ()
    found = [_together("column_shapes", case, rows, _of_columns(case, rows, names))]
    if len(names) > 1:
        of_pairs = _of_pairs(case, rows, names)
        found.append(_together("column_pairs", case, rows, ((c, s, tv_distance) for c, s in of_pairs)))
    return tuple(found)


_Counted = tuple[NDArray[Any], Ints, Statistic]


def _of_columns(case: Case, rows: Together, names: tuple[str, ...]) -> Iterator[_Counted]:
    for name in names:
        column = coded(case, name, BINS)
        cell = rows.block.astype(np.int64) * column.n_codes + rows.codes(column.codes)
        counts = np.bincount(cell, minlength=rows.every_block * column.n_codes).reshape(rows.every_block, -1)
        counts = counts[:, counts.any(axis=0)]
        yield counts, np.array([0, counts.shape[1]]), ks_distance if column.ordered else tv_distance


def _of_pairs(case: Case, rows: Together, names: tuple[str, ...]) -> Iterator[tuple[NDArray[Any], Ints]]:
    codings = PairCodings(case, names, sum(rows.sizes))
    chosen, _ = chosen_pairs(case, codings, len(names))
    return counted_pairs(chosen, codings, rows.codes, rows.block, rows.every_block)


def _together(measure: str, case: Case, rows: Together, counted: Iterator[_Counted]) -> DistancesTogether:
    families = [Family(labels, case.level) for labels in rows.labels]
    for counts, start, statistic in counted:
        for table, family in enumerate(families):
            family.add(rows.of(counts, table), start, statistic)
    floors = [family.floors() for family in families]
    without = np.stack([family.left_out for family in families])
    value, fresh = (np.array([getattr(f, name)[-1] for f in floors]) for name in ("value", "mean"))
    n = rows.n_blocks[0]
    return DistancesTogether(measure, value, fresh, without[:, :n], without[:, n:], rows.sizes)
