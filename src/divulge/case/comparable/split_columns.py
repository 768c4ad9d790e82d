"""Columns by which real and holdout look split: nobody in one table shares a value with somebody in the other."""

from __future__ import annotations

import numpy as np

from divulge.case.case import Case
from divulge.core.distinct_values import distinct_values

__all__ = ["split_columns"]

_ONE_SIDED = 0.95  # share of people who share a value with others and have it within their table alone; start value
_Z = 6.0  # standard deviations above what a random split gives; start value
_VALUES = 6  # values that several people have, at least; a column of fewer is a difference of the tables, no unit


def split_columns(case: Case) -> dict[str, tuple[int, int]]:
    """Return the columns by which the tables of people look split, such as an address or a hospital.

    Under a random split people who share a value are of either table. Units count as people. Texts and whole numbers
    are looked at; the unit and ignored columns are left out. The synthetic table does not enter.

    Returns
    -------
    dict
        By column how many people share a value within their table alone, and how many share one at all.
    """
    return case.encoded.once(("split columns", case.unit), lambda: _split_columns(case), case.encoded.people)


def _split_columns(case: Case) -> dict[str, tuple[int, int]]:
    out = {}
    apart = {*case.schema.with_role("unit"), *case.schema.with_role("ignore")}
    for column in case.columns:
        pooled = case.pooled(column)
        measured = pooled.family in ("boolean", "datetime") or (pooled.family == "number" and not pooled.integer)
        if column in apart or measured:
            continue
        real, holdout = _people_of_values(case, column)
        share = real.sum() / max(1, real.sum() + holdout.sum())
        times = real + holdout
        several = times > 1
        times, alone = times[several], ((real == 0) | (holdout == 0))[several]
        if len(times) < _VALUES:
            continue
        chance = share**times + (1 - share) ** times
        n, one_sided = int(times.sum()), int(times[alone].sum())
        spread = np.sqrt((times**2 * chance * (1 - chance)).sum())
        if one_sided >= _ONE_SIDED * n and one_sided - (times * chance).sum() > _Z * spread:
            out[column] = (one_sided, n)
    return out


def _people_of_values(case: Case, column: str) -> tuple[np.ndarray, np.ndarray]:
    """Return how many people of real and of holdout have each value."""
    if case.unit is None:
        counts = case.pooled(column).counts
        return counts[0][1:].astype(np.float64), counts[2][1:].astype(np.float64)
    out = []
    for which, role in ((0, "real"), (2, "holdout")):
        units = case.units(role)
        assert units is not None
        codes = case.codes(column, binned=False)[which].astype(np.int64)
        person = np.unique(units, return_inverse=True)[1].reshape(-1)
        n = int(person.max(initial=-1)) + 1
        pairs = distinct_values((codes * n + person)[codes > 0])
        held = np.bincount(pairs // max(1, n), minlength=case.pooled(column).levels.len() + 1)
        out.append(held[1:].astype(np.float64))
    return out[0], out[1]
