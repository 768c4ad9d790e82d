"""Rows that break what the real table or the schema allows, against relabelled blocks of rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.case.case import Case
from divulge.core.limits import NO_LIMITS, Limits
from divulge.measures._counted import Found, Unit
from divulge.measures.blocks import Dealt, compared_columns
from divulge.measures.noise_floor import Family, leave_one_out, on_grid
from divulge.measures.shared_extremes import OUT_OF_RANGE

__all__ = ["broken"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_SURE = 40  # the extreme of a table is beyond its first rows with a chance of exp(-40)
_REAL_ROWS = 64  # of the real table that are told apart at each end, so that a block can be left out


def broken(case: Case, rows: Dealt) -> Found | None:
    """Return how often the rows of the other table break the limits of the real one, column by column."""
    names = compared_columns(case)
    if not names:
        return None
    family, units = Family(rows.labels, case.level), []
    for name in names:
        if case.encoded.is_number(name):
            family.add_distances(*_beyond(case, rows, name))
            outside = round(2 / (rows.n + 1), 12)
            units.append(Unit((name,), OUT_OF_RANGE, context={"expected of continuous numbers": outside}))
        else:
            family.add_distances(*_new_values(case, rows, name))
            units.append(Unit((name,), "new values"))
    for name in names:
        beyond = _beyond_stated(case, name)
        if beyond is None:
            continue
        own = rows.both(tuple(beyond[c] for c in case.codes(name, binned=False))).astype(np.int32)
        counts = rows.histograms([own], [2])
        family.add(counts.counts, counts.start)
        units.append(Unit((name,), "stated limit"))
    return Found(units, family.floors())


# ---------------------------------------------------------------- values that no real row has


def _new_values(case: Case, rows: Dealt, name: str) -> tuple[Floats, Floats, Floats]:
    codes = rows.both(case.codes(name, binned=False))
    cells = _cells(codes, case.n_codes(name, binned=False), rows)
    labels = rows.labels
    ours = labels.first @ cells
    null = _share_new(ours, cells.sum(axis=0) - ours)
    return null, null[1:], _share_new(*leave_one_out(cells, labels.n_first))


def _share_new(real: Floats, other: Floats) -> Floats:
    new = np.where(real == 0, other, 0.0).sum(axis=1)
    return on_grid(new / np.maximum(other.sum(axis=1), 1))[:, None]


def _cells(codes: NDArray[Any], n_codes: int, rows: Dealt) -> Floats:
    counts = rows.histograms([codes], [n_codes]).counts
    return np.asarray(counts[:, counts.any(axis=0)], dtype=np.float64)


# ---------------------------------------------------------------- numbers outside the real range


def _beyond(case: Case, rows: Dealt, name: str) -> tuple[Floats, Floats, Floats]:
    labels = rows.labels
    numbers = case.numbers(name)
    codes = rows.both(case.codes(name, binned=False))
    real = np.bincount(codes[: rows.n], minlength=len(numbers))
    every = np.bincount(codes, minlength=len(numbers))
    levels = np.flatnonzero(~np.isnan(numbers) & (every > 0))
    levels = levels[np.argsort(numbers[levels], kind="stable")]
    null, without = np.zeros((len(labels.first), 1)), np.zeros((len(labels.sizes), 1))
    totals = labels.first @ labels.sizes
    left = leave_one_out(labels.sizes[:, None], labels.n_first)[1][:, 0]
    for ordered in (levels, levels[::-1]):
        place, n_cells = _ends(ordered, real, every, rows)
        counts = rows.histograms([place[codes]], [n_cells + 1]).counts
        cells = np.asarray(counts[:, :n_cells], dtype=np.float64)
        ours = labels.first @ cells
        null[:, 0] += _outside(ours, cells.sum(axis=0) - ours) / (labels.sizes.sum() - totals)
        without[:, 0] += _outside(*leave_one_out(cells, labels.n_first)) / np.maximum(left, 1)
    return on_grid(null), on_grid(null[1:]), on_grid(without)


def _outside(real: Floats, other: Floats) -> Floats:
    """Return the rows of the other table before the first row of the real one."""
    return np.asarray(np.where(np.cumsum(real, axis=1) == 0, other, 0.0).sum(axis=1))


def _ends(ordered: Ints, real: Ints, every: Ints, rows: Dealt) -> tuple[NDArray[np.int32], int]:
    """Return the cell of each code, counted from one end, and the number of cells.

    Near the end each value is a cell. Farther in, values that only the other table has are one cell up to the next
    real value; once enough real rows are told apart, all else is beyond the last cell.
    """
    first_rows = math.ceil(_SURE * (rows.n + rows.m) / rows.n)
    before = np.cumsum(every[ordered]) - every[ordered]
    real_before = np.cumsum(real[ordered]) - real[ordered]
    kept = (before < first_rows) | (real_before < _REAL_ROWS)
    near = before < first_rows
    starts = near | (real[ordered] > 0)
    starts |= np.concatenate([[True], real[ordered][:-1] > 0]) if len(ordered) else starts
    cell = np.cumsum(starts) - 1
    n_cells = int(cell[kept].max(initial=-1)) + 1
    place = np.full(len(every), n_cells, dtype=np.int32)
    place[ordered[kept]] = cell[kept]
    return place, n_cells


# ---------------------------------------------------------------- limits that the schema states


def _beyond_stated(case: Case, name: str) -> NDArray[np.bool_] | None:
    """Return for each code whether it is beyond the limits that the schema states; None where it states none."""
    limits = case.schema[name].limits
    if limits == NO_LIMITS:
        return None
    numbers = case.numbers(name)
    out = np.zeros(len(numbers), dtype=bool)
    out[0] = limits.missing is False
    with np.errstate(invalid="ignore"):
        for limit, beyond in ((limits.low, np.less), (limits.high, np.greater)):
            end = _as_number(limit, name, case)
            if end is not None:
                out |= beyond(numbers, end)
    if limits.values is not None:
        allowed = {str(v) for v in limits.values}
        out[1:] |= np.array([str(v) not in allowed for v in case.pooled(name).levels], dtype=bool)
    return out if out.any() or _tests(limits) else None


def _tests(limits: Limits) -> bool:
    stated = (limits.low, limits.high, limits.values)
    return any(limit is not None for limit in stated) or limits.missing is False


def _as_number(limit: Any, name: str, case: Case) -> float | None:
    """Return a limit as the numbers of its column are; dates are microseconds."""
    if limit is None:
        return None
    if case.schema[name].kind == "datetime":
        try:
            return float(np.datetime64(str(limit)).astype("datetime64[us]").astype(np.int64))
        except ValueError:
            return None
    try:
        return float(limit)
    except (TypeError, ValueError):
        return None
