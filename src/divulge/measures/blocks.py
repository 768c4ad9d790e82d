"""What the counted measures take from a case: the columns, codes that treat all tables alike, and blocks of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.case.case import Case
from divulge.case.invariant_order import canonical_of
from divulge.kernels.counts.binning import quantile_edges
from divulge.measures.noise_floor import Labels, block_numbers, draw_labels

__all__ = ["FEWEST", "Coded", "Dealt", "coded", "compared_columns", "dealt"]

Ints = NDArray[np.int64]

FEWEST = 3
"""Fewest rows (or units) of each table that are compared."""


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """The codes of one column in each table; code 0 is missing."""

    codes: tuple[NDArray[np.int32], ...]
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
    """The rows of each table that are compared; None is all."""
    block: NDArray[np.int32]
    """Block of each row that is compared, of the first table and then of the second."""
    labels: Labels
    n: int
    m: int
    notes: tuple[str, ...]

    def both(self, codes: tuple[NDArray[Any], ...]) -> NDArray[Any]:
        """Return the codes of the rows that are compared, of the first table and then of the second."""
        parts = [codes[t] if r is None else codes[t][r] for t, r in zip(self.which, self.rows, strict=True)]
        return np.concatenate(parts)


def compared_columns(case: Case) -> tuple[str, ...]:
    """Return the columns that measures of fidelity compare, sorted by name.

    These are all but identifiers, free text, the unit, ignored ones, and those with one value in all tables.
    """
    usable = set(case.schema.usable())
    roles = {*case.schema.with_role("unit"), *case.schema.with_role("ignore")}
    constant = [c for c in case.schema.names("constant") if c not in roles and int(case.encoded.occurs(c).sum()) > 1]
    return tuple(sorted({*(c for c in case.columns if c in usable), *constant}))


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
        return Coded(codes, n_codes, ordered=False, binned=False)
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
    found = tuple(place[c] for c in codes)
    return Coded(found, len(edges) + 2 + len(others), ordered=not len(others), binned=not few)


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
    key = ("dealt", other)
    if key not in case.cache:
        case.cache[key] = _dealt(case, other)
    return case.cache[key]  # type: ignore[no-any-return] # the key says what it is


def _dealt(case: Case, other: int) -> Dealt | None:
    which = (0, other)
    rng = case.rng(f"noise floor {other}")
    found = [_units(case, table) for table in which]
    n, m = (int(unit.max(initial=-1)) + 1 for unit in found)
    if min(n, m) < FEWEST:
        return None
    blocks, dealt_units = block_numbers(n, m)
    numbers: list[NDArray[np.int32]] = []
    rows: list[Ints | None] = []
    notes = []
    for i, (unit, n_units) in enumerate(zip(found, (n, m), strict=True)):
        place = rng.permutation(n_units)[unit]
        kept = None
        if dealt_units[i] < n_units:
            kept = np.flatnonzero(place < dealt_units[i])
            role = case.tables[which[i]].role
            notes.append(f"{len(kept):,} of {len(unit):,} {role} rows were drawn: the other table is far smaller")
            place = place[kept]
        rows.append(kept)
        numbers.append((place * blocks[i] // dealt_units[i] + (blocks[0] if i else 0)).astype(np.int32))
    block = np.concatenate(numbers)
    sizes = np.bincount(block, minlength=sum(blocks))
    labels = draw_labels(sizes, blocks[0], rng)
    return Dealt(which, (rows[0], rows[1]), block, labels, len(numbers[0]), len(numbers[1]), tuple(notes))


def _units(case: Case, table: int) -> Ints:
    """Return the unit of each row, numbered by what the unit's rows say; without units each row is its own."""
    role = case.tables[table].role
    columns = compared_columns(case) or case.columns
    order = canonical_of(case, columns)
    units = case.units(role)
    n_rows = case.tables[table].n_rows
    if units is None:
        place = np.empty(n_rows, dtype=np.int64)
        place[order.order(table)] = np.arange(n_rows)
        return place
    _, number = np.unique(units, return_inverse=True)
    n_units = int(number.max(initial=-1)) + 1
    said = np.zeros(n_units, dtype=np.uint64)
    np.add.at(said, number, order.rows[table])
    place = np.empty(n_units, dtype=np.int64)
    place[np.lexsort((np.bincount(number, minlength=n_units), said))] = np.arange(n_units)
    return np.asarray(place[number])
