"""Cells: combinations of codes of some columns of a table, and how many rows have each, wherever the rows are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from divulge.case.rows_without_order import in_order
from divulge.case.spill import room_for
from divulge.core.hashing import code_hashes
from divulge.kernels.counts.contingency import combine
from divulge.tables.counting import Edges, narrow, narrowest
from divulge.tables.frames import profiles

if TYPE_CHECKING:
    from divulge.case.encoded import EncodedTables

__all__ = [
    "Cells",
    "Gathered",
    "cells_in_parts",
    "cells_of",
    "codes_of_rows",
    "drawn_codes",
    "gathered_of",
    "n_cells_in_parts",
    "n_cells_of",
    "of_values",
    "stacked_codes",
]

Codes = NDArray[Any]
Ints = NDArray[np.int64]

_PART = 4_000_000  # rows that are counted at once
_WIDEST = 2**62  # combinations of codes that a number tells apart


class Cells(NamedTuple):
    """Combinations of codes; one may come more than once."""

    codes: list[Codes]
    """For each column, shape (n_cells,)."""
    times: Ints | None
    """How many rows have each, shape (n_cells,); None is one."""


class Gathered(NamedTuple):
    """The distinct rows of some columns of each table; for two kinds of codes, binned (True) and of every value."""

    codes: dict[bool, list[dict[str, Codes]]]
    """Per table and column, shape (n_distinct,)."""
    times: dict[bool, list[Ints | None]]
    """Per table, shape (n_distinct,); None where each row is kept."""
    units: list[Codes | None]
    """Per table of people the unit of each row; None where each row is its own."""
    orders: list[Ints | None]
    """Per table the rows of files in the order of these; None where the rows are in no file, or in its order."""

    def has(self, columns: Iterable[str], *, binned: bool) -> bool:
        """Return whether these columns were gathered."""
        return set(columns) <= self.codes[binned][0].keys()

    def cells(self, which: int, columns: Sequence[str], *, binned: bool) -> Cells:
        """Return the cells of a table, one for each gathered row."""
        return Cells([self.codes[binned][which][c] for c in columns], self.times[binned][which])


def gathered_of(
    encoded: EncodedTables, counted: Sequence[str], compared: Sequence[str], unit: str | None, *, ordered: bool = False
) -> Gathered:
    """Return the distinct rows of some columns of each table.

    Parameters
    ----------
    counted
        Columns whose binned codes are wanted.
    compared
        Columns of which every value is wanted.
    unit
        The column of the person or household. Rows of real and holdout are then kept one by one, the same for both
        kinds of codes, and in the order of their codes where these are known.
    ordered
        Whether they come in an order that follows from what they say; an engine tells them in another each time.
    """
    tables, wanted = range(len(encoded.tables)), {True: list(counted), False: list(compared)}
    if unit is None:
        found = {
            b: [_cells_in_order(encoded, i, columns, [b] * len(columns), ordered=ordered) for i in tables]
            for b, columns in wanted.items()
        }
        named = {b: [dict(zip(wanted[b], cells.codes, strict=True)) for cells in own] for b, own in found.items()}
        return Gathered(named, {b: [cells.times for cells in own] for b, own in found.items()},
                        [None for _ in tables], [None for _ in tables])  # fmt: skip
    every = list(dict.fromkeys([*counted, *compared]))
    # the engine codes a column of many numbers by its edges, unless every value is compared
    binned = [c not in compared and encoded.edges(c, 0) is not None for c in every]
    names = [*every, unit]
    in_files = [encoded.by_codes and i in encoded.people for i in tables]
    orders = [in_order(_of_rows(encoded, i, encoded.columns)) if ordered and in_files[i] else None for i in tables]
    rows = [
        Cells(_of_rows(encoded, i, names, orders[i]), None)
        if in_files[i]
        else _cells_in_order(encoded, i, names, [*binned, False], ordered=ordered)
        for i in tables
    ]
    for i in encoded.people:
        rows[i] = _one_by_one(rows[i])
    plain = [dict(zip(every, cells.codes, strict=False)) for cells in rows]
    maps = {c: None if b else encoded.binning_of_values(c).map for c, b in zip(every, binned, strict=True)}
    coded = [{c: own[c] if (m := maps[c]) is None else m[own[c]] for c in wanted[True]} for own in plain]
    uncoded = [{c: own[c] for c in wanted[False]} for own in plain]
    times = [cells.times for cells in rows]
    units: list[Codes | None] = [cells.codes[-1] for cells in rows]
    return Gathered({True: coded, False: uncoded}, {True: times, False: times}, units, orders)


def _cells_in_order(
    encoded: EncodedTables, which: int, columns: Sequence[str], binned: Sequence[bool], *, ordered: bool
) -> Cells:
    """Return the cells of a table, in an order that follows from them where that is wanted."""
    cells = cells_of(encoded, which, columns, binned)
    if not ordered or not cells.codes:
        return cells
    order = in_order(cells.codes, cells.times)
    return Cells([c[order] for c in cells.codes], None if cells.times is None else cells.times[order])


def _of_rows(encoded: EncodedTables, which: int, columns: Sequence[str], order: Ints | None = None) -> list[Codes]:
    """Return the codes of each row of a table, every value apart."""
    codes = [encoded.codes_in(c, which, binned=False) for c in columns]
    return codes if order is None else [c[order] for c in codes]


def cells_of(encoded: EncodedTables, which: int, columns: Sequence[str], binned: Sequence[bool]) -> Cells:
    """Return the cells of a table; `binned` says for each column whether its codes are those of bins."""
    table = encoded.tables[which]
    if not columns:
        return Cells([], np.array([table.n_rows]))
    if table.counting is not None:
        coded = [_coding(encoded, c, which, b) for c, b in zip(columns, binned, strict=True)]
        return Cells(*table.counting.cells([table.names[c] for c in columns], coded))
    edges: dict[str, Edges] = {}
    if table.frame is not None:
        codes: list[Codes] = [c for name in columns if (c := encoded.pooled(name).codes[which]) is not None]
        count = np.ones(table.n_rows, dtype=np.int64)
    else:
        found = {c: encoded.edges(c, which) for c, b in zip(columns, binned, strict=True) if b}
        edges = {c: own for c, own in found.items() if own is not None}
        raw, count = profiles(table, columns, edges)
        codes = [
            narrow(s.to_numpy(), len(edges[c].at) + 2) if c in edges else encoded.pooled(c).encode(s, which)
            for c, s in zip(columns, raw, strict=True)
        ]
    maps = [encoded.binning(c).map if b and c not in edges else None for c, b in zip(columns, binned, strict=True)]
    return Cells([c if m is None else m[c] for c, m in zip(codes, maps, strict=True)], count)


def cells_in_parts(encoded: EncodedTables, which: int, columns: Sequence[str], *, binned: bool) -> Cells:
    """Return the cells of a table whose codes of rows are known, counted some rows at a time.

    Raises
    ------
    SettingError
        The codes are not known.
    """
    plain = [encoded.codes(c, binned=False)[which] for c in columns]
    maps = [encoded.binning(c).map if binned and encoded.binning(c).bins else None for c in columns]
    sizes = [encoded.n_codes(c, binned=binned) for c in columns]
    n_rows = encoded.tables[which].n_rows
    if not columns or prod(sizes) >= _WIDEST:
        return Cells([c if m is None else m[c] for c, m in zip(plain, maps, strict=True)], None)
    found = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    waiting = [found]
    for first in range(0, n_rows, _PART):
        some = [c[first : first + _PART] for c in plain]
        ids, _ = combine([c if m is None else m[c] for c, m in zip(some, maps, strict=True)], sizes)
        waiting.append(np.unique(ids.astype(np.int64, copy=False), return_counts=True))
        if sum(len(ids) for ids, _ in waiting[1:]) > max(_PART, len(waiting[0][0])):
            waiting = [_added(waiting)]
    ids, times = _added(waiting)
    codes: list[Codes] = []
    for size in reversed(sizes):
        ids, own = np.divmod(ids, size)
        codes.insert(0, own.astype(np.int32))
    return Cells(codes, times)


def n_cells_in_parts(encoded: EncodedTables, which: int, columns: Sequence[str], *, binned: bool) -> int:
    """Return how many cells `cells_in_parts` gives; eight bytes a row are held for this."""
    plain = [encoded.codes(c, binned=False)[which] for c in columns]
    maps = [encoded.binning(c).map if binned and encoded.binning(c).bins else None for c in columns]
    hashes = np.empty(encoded.tables[which].n_rows, dtype=np.uint64)
    for first in range(0, len(hashes), _PART):
        some = [c[first : first + _PART] for c in plain]
        hashes[first : first + _PART] = code_hashes([c if m is None else m[c] for c, m in zip(some, maps, strict=True)])
    hashes.sort()
    return int(np.count_nonzero(hashes[1:] != hashes[:-1])) + min(1, len(hashes))


def stacked_codes(encoded: EncodedTables, which: int, columns: Sequence[str]) -> NDArray[Any]:
    """Return the binned codes of each row of a table in some columns, shape (n_columns, n_rows).

    They are of uint8, uint16 or int32, and in a file where a folder is named for what does not fit into memory: the
    narrower they are, the more of it stays there.
    """
    n_rows = encoded.tables[which].n_rows
    dtype = narrowest(max((encoded.n_codes(c) for c in columns), default=1))
    out = room_for(encoded.spill, (len(columns), n_rows), dtype)
    for row, column in zip(out, columns, strict=True):
        plain, binning = encoded.codes_in(column, which, binned=False), encoded.binning(column)
        for first in range(0, n_rows, _PART):
            some = plain[first : first + _PART]
            row[first : first + _PART] = binning.map[some] if binning.bins else some
    return out


def _added(parts: Sequence[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    """Return the distinct numbers of several lists, ascending, and the sum of the counts of each."""
    every, counts = (np.concatenate(part) for part in zip(*parts, strict=True))
    order = np.argsort(every, kind="stable")
    every, counts = every[order], counts[order]
    first = np.flatnonzero(np.r_[True, every[1:] != every[:-1]]) if len(every) else np.zeros(0, dtype=np.int64)
    return every[first], np.add.reduceat(counts, first) if len(first) else counts


def codes_of_rows(encoded: EncodedTables, columns: Sequence[str]) -> dict[str, tuple[Codes, ...]]:
    """Return the code of each row of each table, every value apart, as narrow as they can be.

    The rows of a table are in one order for all columns, which is that of the engine and says nothing.
    """
    plain = [False] * len(columns)
    each = [_one_by_one(cells_of(encoded, i, columns, plain)).codes for i in range(len(encoded.tables))]
    return {name: tuple(codes[j] for codes in each) for j, name in enumerate(columns)}


def drawn_codes(
    encoded: EncodedTables, which: int, columns: Sequence[str], most: int, rng: np.random.Generator
) -> list[Codes]:
    """Return the binned codes of some columns in at most so many rows of a table, drawn without replacement.

    What is drawn depends on what the rows say in these columns: neither on their order nor on the engine that has them.

    Parameters
    ----------
    which
        0 real, 1 synthetic, 2 holdout.
    columns
        In the same order on each call.
    most
        Rows.
    rng
        Draws; it is not asked where the table has no more rows.

    Returns
    -------
    list of ndarray
        For each column, shape (n_drawn,).
    """
    n_rows = encoded.tables[which].n_rows
    if encoded.tables[which].frame is None:
        cells = cells_of(encoded, which, columns, [True] * len(columns))
    else:
        cells = Cells([encoded.codes(c)[which] for c in columns], None)
    if n_rows <= most:
        return _one_by_one(cells).codes
    order, place = np.argsort(code_hashes(cells.codes)), rng.choice(n_rows, most, replace=False)
    if cells.times is not None:
        place = np.searchsorted(np.cumsum(cells.times[order]), place, side="right")
    rows = order[place]
    return [c[rows] for c in cells.codes]


def n_cells_of(encoded: EncodedTables, which: int, columns: Sequence[str], *, binned: bool) -> int:
    """Return how many cells `cells_of` gives of a table; an engine sends none of them for this."""
    table = encoded.tables[which]
    if table.counting is None or not columns:
        return table.n_rows
    coded = [_coding(encoded, c, which, binned) for c in columns]
    return table.counting.n_cells([table.names[c] for c in columns], coded)


def _one_by_one(cells: Cells) -> Cells:
    """Return a cell for each row."""
    times = cells.times
    return Cells([c if times is None else np.repeat(c, times) for c in cells.codes], None)


def _coding(encoded: EncodedTables, column: str, which: int, binned: bool) -> Codes | Edges:
    """Return how an engine codes a column: by edges, or by the code of each distinct value, in the engine's order."""
    edges = encoded.edges(column, which) if binned else None
    return of_values(encoded, column, which, binned=binned) if edges is None else edges


def of_values(encoded: EncodedTables, column: str, which: int, *, binned: bool) -> Codes:
    """Return the code of each distinct value of a column, in the order in which the engine tells them, narrow."""
    codes = encoded.pooled(column).of_values[which]
    assert codes is not None
    return narrow(encoded.binning(column).map[codes] if binned else codes, encoded.n_codes(column, binned=binned))
