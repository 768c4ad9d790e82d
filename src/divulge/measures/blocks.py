"""What the counted measures take from a case: the columns, codes that treat all tables alike, and blocks of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from divulge.core.hashing import value_hashes
from divulge.kernels.counts.binning import quantile_edges
from divulge.kernels.counts.histograms import Histograms, column_histograms
from divulge.measures.noise_floor import Labels, block_numbers, draw_labels

if TYPE_CHECKING:
    from divulge.case.case import Case

__all__ = [
    "FEWEST",
    "Coded",
    "Dealt",
    "Together",
    "coded",
    "coded_columns",
    "column_counts",
    "columns_left_out",
    "compared_columns",
    "dealt",
    "dealt_together",
    "in_blocks",
    "said_by_rows",
    "smallest",
]

Hashes = NDArray[np.uint64]
Ints = NDArray[np.int64]

FEWEST = 3
"""Fewest rows (or units) of each table that are compared."""
_ALL = slice(None)
_KINDS = {"identifier": "an identifier", "text": "free text"}


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """The codes of one column in each table; code 0 is missing."""

    codes: tuple[NDArray[Any], ...]
    n_codes: int
    ordered: bool
    """Whether larger codes are larger numbers, all but 0."""
    binned: bool


@dataclass(frozen=True, slots=True, eq=False)
class Dealt:
    """The rows of two tables in blocks."""

    which: tuple[int, int]
    """The tables: 0 real, 1 synthetic, 2 holdout."""
    rows: tuple[Ints | None, Ints | None]
    """The rows of each table that are compared, in the order in which they are; None is all."""
    block: NDArray[np.int32]
    """Block of each row that is compared, of the first table and then of the second."""
    labels: Labels
    n: int
    m: int
    notes: tuple[str, ...]

    def both(self, codes: tuple[NDArray[Any], ...]) -> NDArray[Any]:
        """Return the codes of the rows that are compared, of the first table and then of the second."""
        parts = [codes[t] if r is None else codes[t].take(r) for t, r in zip(self.which, self.rows, strict=True)]
        return np.concatenate(parts)

    def histograms(self, columns: Sequence[NDArray[Any]], sizes: Sequence[int]) -> Histograms:
        """Return the counts of each column's codes in each block."""
        return column_histograms(columns, sizes, blocks=self.block, n_blocks=len(self.labels.sizes))


def compared_columns(case: Case) -> tuple[str, ...]:
    """Return the columns that measures of fidelity compare, sorted by name.

    These are all but identifiers, free text, the unit, ignored ones, and those with one value in all tables.
    """
    usable = set(case.schema.usable())
    roles = {*case.schema.with_role("unit"), *case.schema.with_role("ignore")}
    constant = [c for c in case.schema.names("constant") if c not in roles and int(case.encoded.occurs(c).sum()) > 1]
    return tuple(sorted({*(c for c in case.columns if c in usable), *constant}))


def coded_columns(case: Case, groups: Sequence[str]) -> list[str]:
    """Return the columns of whose rows counted measures need the codes, those of `groups` among them."""
    return sorted({*(compared_columns(case) or case.columns), *groups})


def columns_left_out(case: Case) -> tuple[tuple[str, str], ...]:
    """Return the columns that no measure of fidelity compares, and why."""
    compared = set(compared_columns(case))
    return tuple((c, _why_not_compared(case, c)) for c in case.columns if c not in compared)


def _why_not_compared(case: Case, name: str) -> str:
    column = case.schema[name]
    if "unit" in column.roles:
        return "the unit"
    if "ignore" in column.roles:
        return "ignored"
    return _KINDS.get(column.kind, "one value in all tables")


def coded(case: Case, column: str, n_bins: int) -> Coded:
    """Return codes of a column that treat all tables alike.

    Numbers are put into bins of equal counts over all tables together. Bins of the real table alone would hold equal
    counts of that table, so that its rows could not be exchanged with those of another.

    Parameters
    ----------
    case, column
        All rows in memory.
    n_bins
        Most bins of a column of numbers.
    """
    key = ("fidelity codes", column, n_bins)
    return case.encoded.once(key, lambda: _coded(case, column, n_bins))


def _coded(case: Case, column: str, n_bins: int) -> Coded:
    codes, n_codes = case.codes(column, binned=False), case.n_codes(column, binned=False)
    if not case.encoded.is_number(column):
        return Coded(tuple(smallest(c, n_codes) for c in codes), n_codes, ordered=False, binned=False)
    numbers = case.numbers(column)
    counts = np.sum(case.pooled(column).counts, axis=0)
    number = ~np.isnan(numbers)
    place = np.zeros(n_codes, dtype=np.int32)
    order = np.argsort(numbers[number], kind="stable")
    edges = quantile_edges(numbers[number][order], counts[number][order], n_bins) if number.any() else np.empty(0)
    few = int(number.sum()) <= n_bins
    edges = np.sort(numbers[number])[:-1] if few else edges
    place[number] = np.searchsorted(edges, numbers[number], side="left") + 1
    others = np.flatnonzero(~number[1:]) + 1
    place[others] = len(edges) + 2 + np.arange(len(others))
    size = len(edges) + 2 + len(others)
    found = tuple(smallest(place, size)[c] for c in codes)
    return Coded(found, size, ordered=not len(others), binned=not few)


def smallest(codes: NDArray[Any], n_codes: int) -> NDArray[Any]:
    """Return codes in one byte each where there are at most 256 of them."""
    return codes.astype(np.uint8) if n_codes <= 2**8 else codes


def dealt(case: Case, other: int = 1) -> Dealt | None:
    """Return the rows of the real and of another table in blocks, units whole; None where a table has too few.

    Which rows share a block depends on the seed and on what the rows say, not on their order or their names.

    Parameters
    ----------
    case
        All rows in memory.
    other
        1 the synthetic table, 2 the holdout.
    """
    return case.cache.once(("dealt", other), lambda: _dealt(case, other))


def _dealt(case: Case, other: int) -> Dealt | None:
    which = (0, other)
    rng = case.rng(f"noise floor {other}")
    found = [_units(case, table) for table in which]
    n, m = (int(unit.max(initial=-1)) + 1 for unit in found)
    if min(n, m) < FEWEST:
        return None
    blocks, dealt_units = block_numbers(n, m)
    rows: list[Ints] = []
    sizes, notes = [], []
    for i, (unit, n_units) in enumerate(zip(found, (n, m), strict=True)):
        block = in_blocks(unit, n_units, blocks[i], dealt_units[i], rng)
        own = np.bincount(block + 1, minlength=blocks[i] + 1)  # of rows that are not dealt first
        # in order of blocks, whose counts then stay in the processor's cache; there are at most 512
        rows.append(np.argsort((block + 1).astype(np.uint16), kind="stable")[own[0] :])
        sizes.append(own[1:])
        if dealt_units[i] < n_units:
            role = case.tables[which[i]].role
            notes.append(f"{len(rows[i]):,} of {len(unit):,} {role} rows were drawn: the other table is far smaller")
    of_blocks = np.concatenate(sizes)
    labels = draw_labels(of_blocks, blocks[0], rng)
    every = np.repeat(np.arange(len(of_blocks), dtype=np.int32), of_blocks)
    return Dealt(which, (rows[0], rows[1]), every, labels, len(rows[0]), len(rows[1]), tuple(notes))


@dataclass(frozen=True, slots=True, eq=False)
class Together:
    """The rows of the real table and of several synthetic ones, as many of each, in blocks."""

    rows: tuple[Ints, ...]
    """Rows that are compared: of the real table, then of each synthetic one, numbered in their stack."""
    block: NDArray[np.int32]
    """Block of each of these rows; the blocks of the real table come first, then those of one table after another."""
    n_blocks: tuple[int, int]
    """Blocks of the real table, and of each synthetic one."""
    labels: tuple[Labels, ...]
    """Relabellings of the blocks of the real and of each synthetic table."""
    sizes: tuple[int, int]
    """Rows (or units) of the real and of each synthetic table that are compared."""

    @property
    def every_block(self) -> int:
        """How many blocks there are."""
        return self.n_blocks[0] + self.n_blocks[1] * len(self.labels)

    def codes(self, codes: tuple[NDArray[Any], ...]) -> NDArray[Any]:
        """Return the codes of the rows that are compared."""
        return np.concatenate([codes[0].take(self.rows[0]), *(codes[1].take(own) for own in self.rows[1:])])

    def of(self, counts: NDArray[Any], table: int) -> NDArray[Any]:
        """Return the counts of the blocks of the real and of one synthetic table."""
        first = self.n_blocks[0] + table * self.n_blocks[1]
        return np.concatenate([counts[: self.n_blocks[0]], counts[first : first + self.n_blocks[1]]])


def dealt_together(case: Case, parts: Sequence[int]) -> Together | None:
    """Return the rows of the real and of several stacked synthetic tables in blocks; None where one has too few.

    The blocks of the real table are the same whichever synthetic one is compared with it. Of larger synthetic tables as
    many rows (or units) are drawn as the smallest has: a distance beyond a fresh sample depends on the size. Equal
    tables are dealt alike.

    Parameters
    ----------
    case
        All rows in memory; its synthetic table is the stack.
    parts
        Rows of each synthetic table in the stack.
    """
    ends = np.cumsum([0, *parts])
    tables = [(0, slice(None)), *((1, slice(int(a), int(b))) for a, b in pairwise(ends))]
    found = [_units(case, table, rows) for table, rows in tables]
    units = [int(unit.max(initial=-1)) + 1 for unit in found]
    n, m = units[0], min(units[1:])
    if min(n, m) < FEWEST:
        return None
    n_blocks, n_dealt = block_numbers(n, m)
    rows, blocks, sizes = list[Ints](), list[NDArray[np.int32]](), list[Ints]()
    for i, unit in enumerate(found):
        side = min(i, 1)
        block = in_blocks(unit, units[i], n_blocks[side], n_dealt[side], case.rng(f"several tables {side}")) + 1
        own = np.bincount(block, minlength=n_blocks[side] + 1)  # of rows that are not dealt first
        first = 0 if not side else n_blocks[0] + (i - 1) * n_blocks[1]
        rows.append(np.argsort(block.astype(np.uint16), kind="stable")[own[0] :] + (int(ends[i - 1]) if side else 0))
        blocks.append(np.repeat(np.arange(first, first + n_blocks[side], dtype=np.int32), own[1:]))
        sizes.append(own[1:])
    labels = tuple(
        draw_labels(np.concatenate([sizes[0], own]), n_blocks[0], case.rng("labels of several tables"))
        for own in sizes[1:]
    )
    return Together(tuple(rows), np.concatenate(blocks), n_blocks, labels, n_dealt)


def column_counts(case: Case, rows: Dealt, n_bins: int) -> Histograms:
    """Return the counts of each compared column in each block, its numbers in bins, as `coded` says.

    Parameters
    ----------
    case, rows
        Of `dealt`.
    n_bins
        Most bins of a column of numbers.
    """

    def make() -> Histograms:
        columns = [coded(case, name, n_bins) for name in compared_columns(case)]
        return rows.histograms([rows.both(c.codes) for c in columns], [c.n_codes for c in columns])

    return case.cache.once(("column counts", rows.which, n_bins), make)


def in_blocks(unit: Ints, n_units: int, n_blocks: int, n_dealt: int, rng: np.random.Generator) -> Ints:
    """Return the block of each row, its unit dealt whole; -1 for the rows of units that are not dealt.

    Parameters
    ----------
    unit
        Unit of each row, from 0, numbered by what the unit's rows say.
    n_units, n_blocks, n_dealt
        Units; blocks; units that are dealt.
    rng
        Deals.

    Examples
    --------
    >>> in_blocks(np.array([0, 0, 1, 2]), 3, 3, 3, np.random.default_rng(0)).tolist()
    [2, 2, 0, 1]
    """
    place = rng.permutation(n_units)[unit]
    return np.where(place < n_dealt, place * n_blocks // max(1, n_dealt), -1)


def _units(case: Case, table: int, part: slice = _ALL) -> Ints:
    """Return the unit of each row of a part, numbered by what the unit's rows say; without units each row is its own.

    Units of two parts are different ones.
    """
    said, ties = (of[table][part] for of in said_by_rows(case))
    units = case.units(case.tables[table].role)
    if units is None:
        order = _by_hashes(said, ties)
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        return place
    _, number = np.unique(units[part], return_inverse=True)
    n_units = int(number.max(initial=-1)) + 1
    of_unit = [np.zeros(n_units, dtype=np.uint64) for _ in range(2)]
    for found, rows in zip(of_unit, (said, ties), strict=True):
        np.add.at(found, number, rows)
    place = np.empty(n_units, dtype=np.int64)
    place[np.lexsort((of_unit[1], np.bincount(number, minlength=n_units), of_unit[0]))] = np.arange(n_units)
    return np.asarray(place[number])


def _by_hashes(said: Hashes, ties: Hashes) -> NDArray[np.intp]:
    """Return np.lexsort((ties, said)), in which only rows that say the same are sorted by both."""
    order = np.argsort(said)
    ordered = said[order]
    same = ordered[1:] == ordered[:-1]
    if same.any():
        place = np.flatnonzero(np.append(same, False) | np.insert(same, 0, False))
        rows = np.sort(order[place])
        order[place] = rows[np.lexsort((ties[rows], said[rows]))]
    return order


def said_by_rows(case: Case) -> tuple[list[Hashes], list[Hashes]]:
    """Return two hashes of each row of each table: of what it says but for names of values, and to break ties."""
    return case.encoded.once(("said by rows",), lambda: _said(case))


def _said(case: Case) -> tuple[list[Hashes], list[Hashes]]:
    """Return for each table one hash a row of what the row says without names of values, and one with them.

    A number enters by its rank, and another value by how often it occurs in each table, and then by the rows that have
    it. The second hash breaks ties, which rows have that are alike but for names.
    """
    names = compared_columns(case) or case.columns
    n_rows = sum(t.n_rows for t in case.tables)
    shift = np.uint64(max(32, 12 + n_rows.bit_length()))
    said, ties = ([np.zeros(t.n_rows, dtype=np.uint64) for t in case.tables] for _ in range(2))
    for colours in (_colours, _recoloured):
        before = [rows.copy() for rows in said]
        for j, name in enumerate(names):
            codes = case.codes(name, binned=False)
            level = value_hashes(colours(case, name, before, shift), 1_000 + j)
            for rows, own in zip(said, codes, strict=True):
                rows += level[own]
    for j, name in enumerate(names):
        level = value_hashes(np.arange(case.n_codes(name, binned=False), dtype=np.uint64), j)
        for rows, own in zip(ties, case.codes(name, binned=False), strict=True):
            rows += level[own]
    return said, ties


def _colours(case: Case, name: str, rows: Sequence[Hashes], shift: np.uint64) -> Hashes:
    """Return a number for each code: the rank of a number, and how often any other value occurs in each table."""
    out = np.zeros(case.n_codes(name, binned=False), dtype=np.uint64)
    for i, counts in enumerate(case.pooled(name).counts):
        out += value_hashes(counts.astype(np.uint64), i)
    if case.encoded.is_number(name):
        numbers = case.numbers(name)
        number = ~np.isnan(numbers)
        out[number] = np.unique(numbers[number], return_inverse=True)[1].astype(np.uint64)
    return out


def _recoloured(case: Case, name: str, rows: Sequence[Hashes], shift: np.uint64) -> Hashes:
    """Return a number for each code: its rows, where it is not a number; sums are exact."""
    if case.encoded.is_number(name):
        return _colours(case, name, rows, shift)
    n_codes = case.n_codes(name, binned=False)
    out = np.zeros(n_codes, dtype=np.uint64)
    for own, said in zip(case.codes(name, binned=False), rows, strict=True):
        sums = np.bincount(own, weights=(said >> shift).astype(np.float64), minlength=n_codes)
        out += value_hashes(sums.astype(np.uint64), 7)
    return out
