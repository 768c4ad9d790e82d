"""The mixed (Gower) distance between rows of numbers and categories, and its plain numpy form.

The distance of two rows is the weighted mean over columns of: |a - b| / range, at most 1, for numbers; 0 or 1 for
categories; missing against missing 0, missing against a value 1. A `Ruler` fixes ranges and weights once, for all
tables. The sum runs over the numbers in column order, in float64, then over the categories by weight. Every search
computes distances with this one formula.

Distances whose exact values are equal are equal in float64 too, because ties decide who is nearest. A column on a
lattice (whole numbers, decimals, dates) is held in whole steps. Where all columns are, and the weights are whole, terms
are brought to the common multiple of the ranges, and the sum is one of whole numbers: exact. Else the sum is rounded to
41 bits, beyond which its own rounding lies.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.core.errors import SettingError
from divulge.kernels.neighbours.lattice import steps_of, whole_steps
from divulge.kernels.runtime import IN_CACHE, in_threads, side_by_side

__all__ = [
    "Field",
    "Measured",
    "Rows",
    "Ruler",
    "encode_rows",
    "fit_ruler",
    "measure",
    "pairwise",
    "places_of",
    "rows_of",
    "ruler_of",
]

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]

_HUGE = 1e300  # beyond it a difference may overflow
_TINY = 1e-290  # below it the inverse of a range may
_EXACT = 2**50  # sums of whole numbers up to it differ by more than the rounding of their quotient by the total


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """One column of one or more tables, in the form that the distance needs."""

    name: str
    numbers: tuple[Floats, ...] | None
    """Per table, shape (n_rows,): the numbers, nan where there is none; None for a category."""
    codes: tuple[Codes, ...]
    """Per table, shape (n_rows,): the category. For a column of numbers the mark: 0 for a number, 1 for missing, 2 and
    above for values that are no number."""
    weight: float = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The rows of one table: an array of numbers and an array of categories.

    A missing number is nan and contributes nothing; a code column has its mark, and a mismatch of marks contributes the
    weight of the column.
    """

    numbers: Floats
    """Shape (n_rows, n_numbers), C order."""
    codes: Codes
    """Shape (n_rows, n_codes), C order."""

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, rows: NDArray[np.int64]) -> Rows:
        """Return some of the rows."""
        return Rows(self.numbers[rows], self.codes[rows])

    def part(self, first: int, last: int) -> Rows:
        """Return the rows from one number to before another, without a copy."""
        return Rows(self.numbers[first:last], self.codes[first:last])

    @staticmethod
    def stack(parts: Sequence[Rows]) -> Rows:
        """Return the rows of several tables, one after the other."""
        return Rows(np.concatenate([p.numbers for p in parts]), np.concatenate([p.codes for p in parts]))


@dataclass(frozen=True, slots=True, eq=False)
class Ruler:
    """Ranges and weights of the columns; distances between different tables are comparable on one ruler."""

    low: Floats
    """Shape (n_numbers,): smallest value in the tables that fix the range."""
    span: Floats
    """Shape (n_numbers,): the range, above 0 and finite."""
    number_weight: Floats
    """Shape (n_numbers,)."""
    code_weight: Floats
    """Shape (n_codes,), ascending, so that equal weights are adjacent."""
    total: float
    """Sum of the weights of the columns; a distance is divided by it."""
    multiple: float = 0.0
    """A common multiple of the ranges, if all terms are whole numbers of 1 / multiple; else 0."""

    @property
    def rate(self) -> Floats:
        """Shape (n_numbers,): what a difference of 1 adds to the sum, before the weight."""
        return np.asarray((self.multiple or 1.0) / self.span)

    @property
    def cap(self) -> float:
        """The largest term of a column, before the weight: that of a range, or of two categories that differ."""
        return self.multiple or 1.0

    @property
    def split(self) -> float:
        """Factor that rounds a sum s to 41 bits: c - (c - s) with c = split * s (Veltkamp); 0 keeps s."""
        return 0.0 if self.multiple else 4097.0

    def groups(self) -> tuple[NDArray[np.int64], Floats]:
        """Return the bounds of the runs of code columns with equal weight, and the weight of each run."""
        starts = np.flatnonzero(np.r_[True, np.diff(self.code_weight) != 0]) if len(self.code_weight) else np.empty(0)
        bounds = np.append(starts, len(self.code_weight)).astype(np.int64)
        return bounds, self.code_weight[bounds[:-1]]


def fit_ruler(fields: Sequence[Field], ranges_of: Sequence[int]) -> tuple[Ruler, tuple[Rows, ...]]:
    """Return the ruler of some columns, and the rows of every table on it.

    Parameters
    ----------
    fields
        The columns. Their order does not matter: they are sorted by name.
    ranges_of
        The tables that fix the ranges. A column without a range there (constant, or without a number) is compared as
        a category: equal or not.

    Raises
    ------
    SettingError
        No column, or none with a positive weight; a weight that is negative or not finite.

    Examples
    --------
    >>> age = Field("age", (np.array([20.0, 60.0]), np.array([30.0])), (np.zeros(2, np.int32), np.zeros(1, np.int32)))
    >>> ruler, (a, b) = fit_ruler([age], ranges_of=[0])
    >>> pairwise(ruler, a, b).tolist()
    [[0.25], [0.75]]
    """
    sizes = [len(c) for c in fields[0].codes]
    ordered = sorted(fields, key=lambda f: f.name)
    measured = in_threads(lambda f: measure(f, ranges_of), ordered, max(sizes))
    ruler = ruler_of(measured)
    return ruler, tuple(rows_of(measured, i, n) for i, n in enumerate(sizes))


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """One column with its range: numbers and their marks, or categories."""

    name: str
    weight: float
    low: float
    """Smallest number in the tables that fix the range."""
    span: float
    """Their range, above 0 and finite; 0 for a category."""
    numbers: tuple[Floats, ...] | None
    """Per table, shape (n_rows,); None for a category."""
    codes: tuple[Codes, ...] | None
    """Per table, shape (n_rows,): categories or marks; None where every value is a number."""
    scale: float = 1.0
    """Factor by which the numbers were multiplied, a power of two."""
    origin: float = 0.0
    step: float = 0.0
    """Where the numbers are a lattice: they are held as the number of steps from the origin. 0 where they are not."""

    def placed(self, values: Floats) -> Floats:
        """Return numbers of this column in the form in which it holds its own."""
        scaled = values * self.scale + 0.0
        return whole_steps(scaled, self.origin, self.step) if self.step else scaled


def measure(field: Field, ranges_of: Sequence[int]) -> Measured:
    """Return a column with its range; a column without a range (constant, or without a number) becomes a category.

    Parameters
    ----------
    ranges_of
        The tables that fix the range.
    """
    if field.numbers is None:
        return Measured(field.name, field.weight, 0.0, 0.0, None, field.codes)
    scale = _scale(field.numbers)
    values = tuple(v * scale + 0.0 for v in field.numbers)
    known = _finite(np.concatenate([values[i] for i in ranges_of]))
    least, most = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
    if not most - least > 0:
        return Measured(field.name, field.weight, 0.0, 0.0, None, _as_categories(values, field.codes))
    marks = field.codes if any(c.any() for c in field.codes) else None
    lattice = steps_of(_finite(np.concatenate(values)))
    if lattice is None:
        return Measured(field.name, field.weight, least, most - least, values, marks, scale)
    origin, step = lattice
    least, most = whole_steps(np.array([least, most]), origin, step).tolist()
    steps = tuple(whole_steps(v, origin, step) for v in values)
    return Measured(field.name, field.weight, least, most - least, steps, marks, scale, origin, step)


def ruler_of(columns: Sequence[Measured]) -> Ruler:
    """Return the ruler of some columns; they are sorted by name.

    Raises
    ------
    SettingError
        No column, or none with a positive weight; a weight that is negative or not finite.
    """
    for column in columns:
        if not (np.isfinite(column.weight) and column.weight >= 0):
            raise SettingError(
                f"weights: column {column.name!r} has a weight that is negative or no number. hint: 1 is the default."
            )
    if sum(float(c.weight) for c in columns) > _HUGE:
        raise SettingError("weights: they are too large to be added up. hint: only their ratios matter.")
    used = [c for c in columns if c.weight > 0]
    if not used:
        raise SettingError("distance: no column to compare: there is none, or every weight is 0. hint: name columns.")
    numbers, codes = _sorted(columns)
    low, span, number, code = (
        np.array(x, dtype=np.float64)
        for x in ([c.low for c in numbers], [c.span for c in numbers], [c.weight for c in numbers],
                  [c.weight for c in codes])
    )  # fmt: skip
    total = float(np.sum([c.weight for c in used]))
    return Ruler(low, span, number, code, total, _multiple(numbers, used))


def _multiple(numbers: Sequence[Measured], used: Sequence[Measured]) -> float:
    """Return the common multiple of the ranges if all sums of terms are whole numbers that float64 holds; else 0."""
    if not all(c.step for c in numbers) or not all(float(c.weight).is_integer() for c in used):
        return 0.0
    multiple = math.lcm(*(int(c.span) for c in numbers))
    return float(multiple) if multiple * sum(int(c.weight) for c in used) < _EXACT else 0.0


def rows_of(columns: Sequence[Measured], which: int, n_rows: int, at: Sequence[Codes] | None = None) -> Rows:
    """Return the rows of one table on the ruler of the columns.

    Parameters
    ----------
    columns
        The columns that were given to `ruler_of`.
    which
        Number of the table.
    n_rows
        Number of rows; the length of `at` where it is given.
    at
        For each column, shape (n_rows,): the entry of the table that each row has, so that a table of levels gives a
        table of rows. None takes the entries as they are.
    """
    place = None if at is None else {c.name: codes for c, codes in zip(columns, at, strict=True)}

    def filled(parts: Sequence[tuple[str, NDArray[Any]]], dtype: type) -> NDArray[Any]:
        out: NDArray[Any] = np.empty((n_rows, len(parts)), dtype=dtype)

        def fill(a: int, b: int) -> None:
            for j, (name, part) in enumerate(parts):
                out[a:b, j] = part[a:b] if place is None else part[place[name][a:b]]

        side_by_side(fill, n_rows, os.cpu_count() or 1, IN_CACHE)
        return out

    numbers, codes = _sorted(columns)
    return Rows(
        filled([(c.name, c.numbers[which]) for c in numbers if c.numbers is not None], np.float64),
        filled([(c.name, c.codes[which]) for c in codes if c.codes is not None], np.int32),
    )


def places_of(columns: Sequence[Measured], name: str) -> tuple[int, int]:
    """Return the place of a column among the numbers of the rows of `rows_of`, and among the codes; -1 for none."""
    return tuple(next((j for j, c in enumerate(part) if c.name == name), -1) for part in _sorted(columns))  # type: ignore[return-value] # two parts


def _sorted(columns: Sequence[Measured]) -> tuple[list[Measured], list[Measured]]:
    """Return the columns that are compared as numbers, and the columns that have codes, sorted by weight."""
    used = [c for c in columns if c.weight > 0]
    with_codes = [c for c in used if c.codes is not None]
    return [c for c in used if c.numbers is not None], sorted(with_codes, key=lambda c: c.weight)


def encode_rows(parts: Sequence[Floats]) -> tuple[Codes, ...]:
    """Return codes for numbers compared as categories, one code for each distinct value over all parts; nan is 0."""
    distinct, inverse = np.unique(np.concatenate(parts), return_inverse=True)
    inverse = inverse + 1
    inverse[np.isnan(distinct)[inverse - 1]] = 0
    return tuple(np.split(inverse.astype(np.int32), np.cumsum([len(p) for p in parts])[:-1]))


def _as_categories(values: tuple[Floats, ...], marks: tuple[Codes, ...]) -> tuple[Codes, ...]:
    """Return one code for each distinct number, and further codes for the marks."""
    codes = encode_rows(values)
    n_marks = 1 + max((int(m.max(initial=0)) for m in marks), default=0)
    return tuple((c * n_marks + m).astype(np.int32) for c, m in zip(codes, marks, strict=True))


def _finite(values: Floats) -> Floats:
    finite = np.isfinite(values)
    return values if finite.all() else values[finite]


def _scale(values: tuple[Floats, ...]) -> float:
    """Return the factor that keeps differences of numbers and inverses of ranges from overflowing: a power of two."""
    largest = max((float(np.abs(_finite(v)).max(initial=0.0)) for v in values), default=0.0)
    return 2.0**-8 if largest > _HUGE else 2.0**256 if largest < _TINY else 1.0


def pairwise(ruler: Ruler, queries: Rows, reference: Rows) -> Floats:
    """Return the distance of each query to each reference row, shape (n_queries, n_reference).

    This is the definition in plain numpy. Every other search must agree with it to the last bit.
    """
    out = np.zeros((len(queries), len(reference)))
    # infinity less infinity: equal, as are nan and nan; the marks tell them apart. What overflows is above the cap
    with np.errstate(invalid="ignore", over="ignore"):
        for j, (rate, weight) in enumerate(zip(ruler.rate, ruler.number_weight, strict=True)):
            term = np.abs(queries.numbers[:, j, None] - reference.numbers[:, j]) * rate
            out += np.where(term > 0, np.minimum(term, ruler.cap), 0.0) * weight
    bounds, weights = ruler.groups()
    for first, last, weight in zip(bounds[:-1], bounds[1:], weights, strict=True):
        mismatches = np.zeros(out.shape, dtype=np.int32)
        for j in range(first, last):
            mismatches += queries.codes[:, j, None] != reference.codes[:, j]
        out += mismatches * weight * ruler.cap
    carried = out * ruler.split
    return (carried - (carried - out)) / (ruler.total * ruler.cap)


def blocks(n_queries: int, n_reference: int, cells: int = 1_000_000) -> Iterator[slice]:
    """Return slices of the queries whose matrices of distances stay small."""
    step = max(1, cells // max(1, n_reference))
    for first in range(0, n_queries, step):
        yield slice(first, min(first + step, n_queries))
