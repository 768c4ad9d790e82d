"""Results of measures of related tables: units of rows of several kinds, corrected over all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.case.relational.linked import Linked
from divulge.kernels.counts.binning import quantile_edges
from divulge.kernels.counts.histograms import column_histograms, pair_histograms
from divulge.measures._counted import Unit, holdout_value, not_measured, unit_result
from divulge.measures.blocks import FEWEST, Dealt, coded, compared_columns
from divulge.measures.linked.families import Families, Pair
from divulge.measures.noise_floor import Family, Floors, Labels, Statistic, ks_distance, tv_distance
from divulge.measures.result import FidelityResult
from divulge.measures.verdicts import judged

__all__ = ["Cells", "Found", "binned_numbers", "cells_of", "compared", "linked_results", "taken"]

Floats = NDArray[np.float64]

BINS = 10
_RARER = (0.005, 0.01, 0.02, 0.05, 0.1)
_PLAIN = 40  # codes of a column up to which rare values need not be counted together
NOTHING = f"no kind of rows has {FEWEST} families in each table, or there is nothing to compare"


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Codes of rows of both sides; 0 is missing."""

    codes: Pair
    n_codes: int
    ordered: bool = False
    note: str = ""


class Found:
    """The units that a measure found, added in parts, each of rows of one kind."""

    def __init__(self, level: float) -> None:
        self.units: list[Unit] = []
        self.n_rows: list[tuple[int, int]] = []
        self._level = level
        self._family: Family | None = None

    def floors(self) -> Floors:
        """Return the floors of all units; there is one at least."""
        assert self._family is not None
        return self._family.floors()

    def add_counts(
        self,
        rows: Dealt,
        units: Sequence[Unit],
        columns: Sequence[tuple[Cells, ...]],
        statistic: Statistic | None = None,
    ) -> None:
        """Add units of rows of one kind, each by the cells of one column or of two.

        Parameters
        ----------
        rows
            In blocks.
        units
            What each is about.
        columns
            Of each unit: one or two columns, whose codes have one entry for each row.
        statistic
            The distance; None takes that of distribution functions for one ordered column, else total variation.
        """
        family = self._under(rows)
        for unit, cells in zip(units, columns, strict=True):
            codes, sizes = [rows.both(c.codes) for c in cells], [c.n_codes for c in cells]
            counted = column_histograms if len(cells) == 1 else pair_histograms
            counts = counted(codes, sizes, blocks=rows.block, n_blocks=len(rows.labels.sizes)).counts
            counts = counts[:, counts.any(axis=0)]
            usual = ks_distance if len(cells) == 1 and cells[0].ordered else tv_distance
            family.add(counts, np.array([0, counts.shape[1]]), statistic or usual)
            self._note(rows, unit, tuple(c.note for c in cells if c.note))

    def add_distances(
        self, rows: Dealt, unit: Unit, distances: Callable[[Labels], tuple[Floats, Floats, Floats]]
    ) -> None:
        """Add a unit of rows of one kind by its distances, as `smooth_distances` returns them."""
        self._under(rows).add_distances(*distances(rows.labels))
        self._note(rows, unit, ())

    def _under(self, rows: Dealt) -> Family:
        if self._family is None:
            self._family = Family(rows.labels, self._level)
        else:
            self._family.under(rows.labels)
        return self._family

    def _note(self, rows: Dealt, unit: Unit, notes: tuple[str, ...]) -> None:
        self.units.append(
            Unit(
                unit.columns, unit.variant, (*unit.notes, *dict.fromkeys(notes), *rows.notes), unit.context, unit.table
            )
        )
        self.n_rows.append((rows.n, rows.m))


def linked_results(
    linked: Linked,
    measure: str,
    tolerance: float,
    find: Callable[[Families, Found], None],
    *,
    nothing: str = NOTHING,
) -> tuple[FidelityResult, ...]:
    """Return the results of a measure of related tables: of all units together, then of each.

    Parameters
    ----------
    linked
        The tables, keys ignored.
    measure, tolerance
        Of the measure.
    find
        Adds the units of the real tables and of others.
    nothing
        Why there is none, in words.
    """
    level = linked.case(linked.names[0]).level
    found = _found(linked, "synthetic", find)
    if found is None:
        return not_measured(measure, nothing, tolerance)
    beside = _found(linked, "holdout", find) if "holdout" in linked.roles else None
    floors, strangers = found.floors(), None if beside is None else beside.floors()
    places = {} if beside is None else {_key(unit): i for i, unit in enumerate(beside.units)}
    out = []
    for number, unit in enumerate(found.units):
        place = places.get(_key(unit))
        holdout = None
        if strangers is not None and beside is not None and place is not None:
            holdout = holdout_value(strangers, place, beside.n_rows[place][1], whole=False)
        made = unit_result(measure, tolerance, found.n_rows[number], floors, number, unit, False, holdout)
        out.append(judged(made, level))
    verdicts = [r.verdict for r in out]
    context: dict[str, int | float | str | None] = {
        "compared": len(out), "differ": verdicts.count("differs"),
        "closer": verdicts.count("closer than a fresh sample"),
    }  # fmt: skip
    holdout = None
    if strangers is not None and beside is not None:
        holdout = holdout_value(strangers, -1, max(m for _, m in beside.n_rows), whole=True)
    sizes = (max(n for n, _ in found.n_rows), max(m for _, m in found.n_rows))
    first = unit_result(measure, tolerance, sizes, floors, -1, Unit(context=context), True, holdout)
    return (judged(first, level), *out)


def _key(unit: Unit) -> tuple[Any, ...]:
    return unit.table, unit.variant, unit.columns


def _found(linked: Linked, other: str, find: Callable[[Families, Found], None]) -> Found | None:
    case = linked.case(linked.names[0])
    found = Found(case.level)
    find(Families(linked, other, case.seed), found)
    return found if found.units else None


# ---------------------------------------------------------------- codes


def compared(linked: Linked, table: str) -> tuple[str, ...]:
    """Return the columns of a table that are compared, sorted by name."""
    return compared_columns(linked.case(table))


def cells_of(families: Families, table: str, column: str) -> Cells:
    """Return the codes of a column; numbers are in ten bins, and rare values of a long list are counted together."""
    found = coded(families.linked.case(table), column, BINS)
    codes, n_codes, note = found.codes, found.n_codes, ""
    if not found.ordered and n_codes > _PLAIN:
        place, share = _without_rare(codes, n_codes)
        codes, n_codes = tuple(place[c] for c in codes), int(place.max()) + 1
        note = f"values of {column!r} rarer than {share:.1%} were counted together"
    return Cells(families.codes(table, codes), n_codes, found.ordered, note)


def _without_rare(codes: Sequence[NDArray[Any]], n_codes: int) -> tuple[NDArray[np.int32], float]:
    """Return a new code for each code, one for all rare ones, and the share below which a value is rare."""
    counts = np.sum([np.bincount(c, minlength=n_codes) for c in codes], axis=0)
    shares = counts / counts.sum()
    share = next((r for r in _RARER if int((shares >= r).sum()) <= _PLAIN), _RARER[-1])
    rare = shares < share
    place = np.where(rare, 1, 1 + np.cumsum(~rare)).astype(np.int32)
    place[0] = 0
    return place, share


def taken(cells: Cells, rows: Pair) -> Cells:
    """Return the codes of some rows of both sides."""
    return Cells((cells.codes[0][rows[0]], cells.codes[1][rows[1]]), cells.n_codes, note=cells.note)


def binned_numbers(numbers: tuple[Floats, Floats], n_bins: int) -> Cells:
    """Return numbers of both sides in bins of about equal counts over both together; nan has code 0.

    Examples
    --------
    >>> found = binned_numbers((np.array([0.0, 1.0, np.nan]), np.array([0.0, 5.0])), 10)
    >>> [c.tolist() for c in found.codes], found.n_codes
    ([[1, 2, 0], [1, 3]], 4)
    """
    both = np.concatenate(numbers)
    levels, counts = np.unique(both[np.isfinite(both)], return_counts=True)
    edges = levels[:-1] if len(levels) <= n_bins else quantile_edges(levels, counts, n_bins)
    codes = [np.where(np.isfinite(x), np.searchsorted(edges, x, side="left") + 1, 0) for x in numbers]
    return Cells((codes[0], codes[1]), len(edges) + 2, ordered=True)
