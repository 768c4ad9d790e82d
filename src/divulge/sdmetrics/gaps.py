"""Distances between rows as SDMetrics measures them, to the last bit where the last bit decides.

The distance of two rows is the mean over columns of |a - b| / range, at most 1, or of 0 and 1 for categories; the
range is that of the reference table of each search. `Index` (in `kernels.neighbours`) finds the nearest rows. It adds
columns in another order than SDMetrics, so distances differ in the last digit. Where this digit decides (a synthetic
row is equally far from both tables), the nearest rows are measured again in SDMetrics' order and dtypes.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.kernels.counts.hamming_plain import nearest_distance
from divulge.kernels.neighbours.distinct import Distinct
from divulge.kernels.neighbours.gower import Floats, Rows, Ruler
from divulge.kernels.neighbours.index import Index
from divulge.kernels.runtime import has_loops
from divulge.sdmetrics.columns import Column, Frame, equal_codes
from divulge.sdmetrics.metadata import as_datetimes
from divulge.sdmetrics.readings import as_numbers, hashable

__all__ = ["in_seconds", "measured_columns", "numbers_of", "searched", "share_nearer"]

Ints = NDArray[np.int64]
Values = NDArray[Any]
_MEASURED = ("numerical", "categorical", "boolean", "datetime")
_CHUNK = 1000  # rows of either table that SDMetrics measures at once
_PAIRWISE_FROM = 8  # columns from which numpy may add up a row in another order than from left to right
_CELLS = 250_000  # pairs of rows measured at once
_ALONE = 50_000_000  # pairs of rows below which one thread is enough
_TREE_FROM = 40_000  # pairs of rows from which a tree is worth it
_FEW_COLUMNS = 10  # below so many columns a tree of boxes is fast, whatever the probe of the search says


def in_seconds(span: int) -> float:
    """Return nanoseconds as seconds, cut to whole microseconds like a range of instants."""
    return (span - span % 1000) / 1e9


# ---------------------------------------------------------------- columns of all tables


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """One column of one table."""

    values: Values
    """Shape (n_rows,): numbers of the dtype that they have, nanoseconds, or codes (0 for missing)."""
    lost: NDArray[np.bool_] | None
    """Shape (n_rows,): missing; None where nothing is, and for codes."""

    def take(self, rows: Ints | None) -> _Part:
        if rows is None:
            return self
        return _Part(self.values[rows], None if self.lost is None else self.lost[rows])


@dataclass(frozen=True, slots=True, eq=False)
class _Measured:
    """One column over all tables."""

    kind: str
    """number, time or category."""
    parts: tuple[_Part | None, ...]
    """Per table; None where it lacks the column."""


def measured_columns(entries: Mapping[Hashable, dict[str, Any]], frames: Sequence[Frame]) -> list[_Measured]:
    """Return the columns to measure, in the order of the metadata, which is the order of the sum."""
    out = []
    for name, entry in entries.items():
        if entry["sdtype"] not in _MEASURED:
            continue
        parts = [frame.columns.get(name) for frame in frames]
        have = [part for part in parts if part is not None]
        if entry["sdtype"] == "datetime":
            have = [as_datetimes(name, part, entry) for part in have]
        if not have:
            continue
        kind, measured = _values(name, entry["sdtype"], have)
        left = iter(measured)
        out.append(_Measured(kind, tuple(None if part is None else next(left) for part in parts)))
    return out


def _values(name: Hashable, sdtype: str, parts: Sequence[Column]) -> tuple[str, list[_Part]]:
    if sdtype in ("categorical", "boolean"):
        codes, _ = equal_codes([hashable(part) for part in parts])
        return "category", [_Part(_with_missing(c, p.missing), None) for c, p in zip(codes, parts, strict=True)]
    parts = as_numbers(parts)
    kinds = {part.kind for part in parts}
    if len(kinds) == 1 and kinds <= set("mM"):
        return "time", [_Part(_nanoseconds(p), _any(p.missing)) for p in parts]
    if kinds & set("mM"):
        what = "instants" if "M" in kinds else "durations"
        raise TypeError(f"Column {name!r} holds {what} in one table and numbers in another.")
    return "number", [_Part(numbers_of(name, part), _any(part.missing)) for part in parts]


def _nanoseconds(column: Column) -> Ints:
    """Return instants or durations as nanoseconds."""
    unit = f"{column.dtype.kind}8"
    values = column.values.astype(f"{unit}[ns]")
    if not (values.astype(column.dtype) == column.values)[~column.missing].all():
        raise OverflowError("A duration is longer than 64 bits of nanoseconds: 292 years.")
    return values.view(np.int64)


def _with_missing(codes: NDArray[np.int32], missing: NDArray[np.bool_]) -> NDArray[np.int32]:
    codes = codes + np.int32(1)
    codes[missing] = 0
    return codes


def _any(missing: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
    return missing if missing.any() else None


def numbers_of(name: Hashable, column: Column) -> Values:
    """Return numbers in their own dtype; truth values are 0 and 1, objects and durations become floats."""
    (column,) = as_numbers([column], shifted=False)
    if column.dtype.kind == "m":
        return np.where(column.missing, np.nan, column.values.view(np.int64))
    if column.values.dtype != object:
        return column.values.astype(np.int8) if column.kind == "b" else column.values
    out = np.full(len(column), np.nan)
    try:
        if any(isinstance(value, (str, bytes)) for value in column.values):
            raise TypeError
        out[~column.missing] = column.values[~column.missing].astype(np.float64)
    except (TypeError, ValueError):
        raise TypeError(
            f"Column {name!r} is numerical in the metadata, but holds values that are no numbers. hint: change its "
            "sdtype, or turn the values into numbers."
        ) from None
    return out


# ---------------------------------------------------------------- SDMetrics' formula


@dataclass(frozen=True, slots=True, eq=False)
class _Pair:
    """One column of a table and of its reference."""

    kind: str
    data: _Part
    reference: _Part
    span: Any
    """Range of the reference, in the dtype in which SDMetrics has it; nan where all is missing. 0 for a category."""

    def terms(self, q: Ints, r: Ints) -> Floats:
        """Return the term of the column in the distance of rows q and r; nan where SDMetrics has nan, which adds 0."""
        a, b = self.data.values[q], self.reference.values[r]
        term: Values
        if self.kind == "category":
            term = a != b
            return term.astype(np.float64)
        with np.errstate(all="ignore"):
            gap = np.abs(b - a)
            if self.kind == "time":
                gap = gap / 1e9
            term = gap > 0 if self.span == 0 else np.minimum(gap / self.span, 1.0)
        out: Floats = term.astype(np.float64)
        if self.data.lost is not None or self.reference.lost is not None:
            lost_a = np.False_ if self.data.lost is None else self.data.lost[q]
            lost_b = np.False_ if self.reference.lost is None else self.reference.lost[r]
            # by `where`, as q may be a column and r a row
            out = np.where(lost_a & lost_b, 0.0, np.where(lost_a != lost_b, 1.0, out))
        return out

    def is_plain(self) -> bool:
        """Return whether the numbers are told apart by a range above 0 and below infinity."""
        return self.kind != "category" and bool(np.isfinite(self.span)) and self.span != 0

    def wraps(self) -> bool:
        """Return whether differences wrap around in the columns' dtypes: too large, or negative without a sign."""
        if self.kind != "number":
            return False
        dtype = np.result_type(self.data.values, self.reference.values)
        if dtype.kind == "f":
            return dtype.itemsize < 4
        own = self.reference.values.dtype
        (low, high), (least, most) = _ends(self.data), _ends(self.reference)
        return most - least > np.iinfo(own).max or not (
            np.iinfo(dtype).min <= least - high and most - low <= np.iinfo(dtype).max
        )

    def loses_digits(self) -> bool:
        """Return whether different instants or whole numbers may become the same number in the search."""
        return self.kind != "category" and any(_is_cut(part) for part in (self.data, self.reference))

    def is_coarse(self) -> bool:
        """Return whether SDMetrics computes in 32 bits."""
        if self.kind != "number":
            return False
        dtypes = self.data.values.dtype, self.reference.values.dtype
        return np.result_type(*dtypes).itemsize < 8 and "f" in {d.kind for d in dtypes}


def _ends(part: _Part) -> tuple[int, int]:
    known = part.values if part.lost is None else part.values[~part.lost]
    return (int(known.min()), int(known.max())) if len(known) else (0, 0)


def _is_cut(part: _Part) -> bool:
    """Return whether whole numbers, less the least of them, have more digits than a float."""
    low, high = _ends(part) if part.values.dtype.kind in "iu" else (0, 0)
    if high - low <= 2**53:
        return False
    known = (part.values if part.lost is None else part.values[~part.lost]).astype(np.uint64) - np.uint64(low % 2**64)
    return bool((known.astype(np.float64).astype(np.uint64) != known).any())


def _pair(kind: str, data: _Part, reference: _Part) -> _Pair:
    if kind == "category":
        return _Pair(kind, data, reference, 0)
    known = reference.values if reference.lost is None else reference.values[~reference.lost]
    if not len(known):
        return _Pair(kind, data, reference, np.nan)
    if kind == "number":
        with np.errstate(all="ignore"):
            return _Pair(kind, data, reference, known.max() - known.min())
    ends = [_ends(data), _ends(reference)]
    if max(b for _, b in ends) - min(a for a, _ in ends) > np.iinfo(np.int64).max:
        raise OverflowError("Two instants lie further apart than 64 bits of nanoseconds: 292 years.")
    return _Pair(kind, data, reference, in_seconds(int(known.max()) - int(known.min())))


class _Exact:
    """Distances of pairs of rows in the order and the dtypes in which SDMetrics has them, to the last bit.

    pandas adds the columns of a row from left to right. Where a chunk of 1,000 by 1,000 pairs holds a nan, or is one
    pair, its memory has another order and numpy adds by halves: from 8 columns on the last bit may differ.
    """

    def __init__(self, pairs: Sequence[_Pair], n_data: int, n_reference: int) -> None:
        self.pairs, self.n_data, self.n_reference = pairs, n_data, n_reference
        self.by_halves = self._chunks_by_halves() if len(pairs) >= _PAIRWISE_FROM else None

    def distances(self, q: Ints, r: Ints) -> Floats:
        """Return the distances of rows q of the data and r of the reference, which are broadcast."""
        shape = np.broadcast_shapes(q.shape, r.shape)
        halved = None if self.by_halves is None else self.by_halves[q // _CHUNK, r // _CHUNK]
        total: Floats = np.zeros(shape)
        every = []
        for pair in self.pairs:
            term = pair.terms(q, r)
            term[np.isnan(term)] = 0.0
            total += term
            if halved is not None and halved.any():
                every.append(np.broadcast_to(term, shape)[halved])
        if every:
            total[halved] = np.ascontiguousarray(np.stack(every, axis=1)).sum(axis=1)
        return total / len(self.pairs)

    def all_nearest(self) -> Floats:
        """Return the smallest distance of each row, by measuring all pairs."""
        out = np.empty(self.n_data)
        step = max(1, _CELLS // self.n_reference)
        r = np.arange(self.n_reference)[None, :]
        for first in range(0, self.n_data, step):
            q = np.arange(first, min(first + step, self.n_data))
            out[q] = self.distances(q[:, None], r).min(axis=1)
        return out

    def _chunks_by_halves(self) -> NDArray[np.bool_] | None:
        """Return which chunks are added up by halves, shape (chunks of the data, of the reference); None for none."""
        out: NDArray[np.bool_] = np.zeros((-(-self.n_data // _CHUNK), -(-self.n_reference // _CHUNK)), dtype=bool)
        out[-1, -1] = self.n_data % _CHUNK == 1 and self.n_reference % _CHUNK == 1
        for pair in self.pairs:
            if pair.kind == "number" and not np.isfinite(pair.span):
                (here, endless), (here_r, endless_r) = (_in_chunks(part) for part in (pair.data, pair.reference))
                if np.isnan(pair.span):
                    endless = here
                out |= np.outer(endless, here_r) | np.outer(here, endless_r)
        return out if out.any() else None


def _in_chunks(part: _Part) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which chunks hold a number, and which an infinite one."""
    starts = np.arange(0, len(part.values), _CHUNK)
    present = np.ones(len(part.values), dtype=bool) if part.lost is None else ~part.lost
    endless = present & np.isinf(part.values)
    return np.logical_or.reduceat(present, starts), np.logical_or.reduceat(endless, starts)


# ---------------------------------------------------------------- the search


class _Searched:
    """The distance of each row of a table to the nearest row of its reference.

    `distances` agree with SDMetrics' to `slack`; where `is_exact`, to the last bit.
    """

    def __init__(self, pairs: Sequence[_Pair], n_data: int, n_reference: int) -> None:
        if not pairs:
            raise ValueError("There are no overlapping statistical columns to measure.")
        self._exact = _Exact(pairs, n_data, n_reference)
        self.slack = 1e-12 + 1e-15 * len(pairs)
        self.loses_digits = False
        if any(pair.wraps() for pair in pairs):
            self.distances, self.is_exact = self._exact.all_nearest(), True
            return
        if all(pair.kind == "category" for pair in pairs):
            sides = ([pair.data.values for pair in pairs], [pair.reference.values for pair in pairs])
            differing = nearest_distance(*(np.stack(side, axis=1) for side in sides))
            if differing is not None:
                self.distances, self.is_exact = differing / len(pairs), True
                return
        self.is_exact = not any(pair.is_plain() for pair in pairs)  # sums of zeros and ones
        ruler, data, reference = _encoded(pairs, n_data, n_reference)
        self.loses_digits = any(pair.loses_digits() for pair in pairs)
        alone = self._exact.by_halves is None and not self.loses_digits
        self._asked, self._found = (
            Distinct.of(rows, always=True) if alone else _as_is(rows) for rows in (data, reference)
        )
        n_pairs = n_data * n_reference
        small = n_pairs < _ALONE
        few = _TREE_FROM <= n_pairs < _ALONE and len(pairs) <= _FEW_COLUMNS and has_loops(n_pairs)
        self._index = Index(ruler, self._found.rows, threads=1 if small else None, engine="boxes" if few else None)
        self._near = self._index.nearest(self._asked.rows).distances[:, 0]
        self.distances = self._near[self._asked.of_each]
        if any(pair.is_coarse() for pair in pairs):
            self.slack = 1e-6
            self.distances, self.is_exact = self.exactly(np.arange(n_data)), True

    def exactly(self, rows: Ints) -> Floats:
        """Return the distances of some rows to the last bit: the nearest rows are measured again."""
        if self.is_exact:
            return self.distances[rows]
        asked, back = np.unique(self._asked.of_each[rows], return_inverse=True)
        queries, radius = self._asked.rows.take(asked), self._near[asked] + 2 * self.slack
        data_rows, reference_rows = self._asked.first(), self._found.first()
        out = np.empty(len(asked))
        for part in _portions(self._index.count_within(queries, radius)):
            listed = self._index.within(queries.take(part), radius[part])
            q, r = np.repeat(data_rows[asked[part]], listed.counts), reference_rows[listed.rows]
            out[part] = np.minimum.reduceat(self._exact.distances(q, r), listed.start[:-1])
        return out[back]


def _portions(counts: Ints) -> list[Ints]:
    """Split queries into portions with few listed rows each."""
    portion = np.cumsum(counts) // _CELLS
    return np.split(np.arange(len(counts)), np.flatnonzero(np.diff(portion)) + 1) if len(counts) else []


def _as_is(rows: Rows) -> Distinct:
    """Return the rows as if all were distinct: row numbers matter where chunks are summed in different ways."""
    numbers = np.arange(len(rows) + 1)
    return Distinct(rows, rows, None, np.ones(len(rows), dtype=np.int64), numbers, numbers[:-1])


def searched(columns: Sequence[_Measured], tables: tuple[int, int], rows: Sequence[Ints | None]) -> _Searched:
    """Return the distances of the rows of one table to those of another, each cut to the rows drawn."""
    i, j = tables
    pairs = []
    for column in columns:
        data, reference = column.parts[i], column.parts[j]
        if data is not None and reference is not None:
            pairs.append(_pair(column.kind, data.take(rows[i]), reference.take(rows[j])))
    n_data, n_reference = (len(pairs[0].data.values), len(pairs[0].reference.values)) if pairs else (0, 0)
    return _Searched(pairs, n_data, n_reference)


def share_nearer(training: _Searched, validation: _Searched) -> float:
    """Return the share of rows that are strictly nearer to the first reference."""
    a, b = training.distances, validation.distances
    near = np.abs(a - b) <= training.slack + validation.slack
    if not (training.loses_digits or validation.loses_digits):
        near &= (a > 0) | (b > 0)
    rows = np.flatnonzero(near)
    if len(rows) and not (training.is_exact and validation.is_exact):
        a, b = a.copy(), b.copy()
        a[rows], b[rows] = training.exactly(rows), validation.exactly(rows)
    return int((a < b).sum()) / len(a)


def _encoded(pairs: Sequence[_Pair], n_data: int, n_reference: int) -> tuple[Ruler, Rows, Rows]:
    """Return the ruler of one search and the rows of both tables on it."""
    numbers: list[tuple[Floats, Floats]] = []
    codes: list[tuple[Values, Values]] = []
    low, span = [], []
    for pair in pairs:
        if pair.kind == "category":
            codes.append((pair.data.values, pair.reference.values))
            continue
        lost = [_marks(part) for part in (pair.data, pair.reference)]
        if pair.is_plain():
            data, reference = _shifted(pair)
            numbers.append((np.where(lost[0], np.nan, data), np.where(lost[1], np.nan, reference)))
            low.append(float(np.nanmin(numbers[-1][1])))
            span.append(float(pair.span))
        if not np.isnan(pair.span) and pair.span == 0:  # equal or not
            codes.append(_equal_or_not(pair, lost))
        elif lost[0].any() or lost[1].any():
            codes.append((lost[0], lost[1]))
    if not numbers and not codes:
        codes.append((np.zeros(n_data), np.zeros(n_reference)))
    rows = [
        Rows(
            _matrix([n[side] for n in numbers], n, np.float64),
            _matrix([c[side] for c in codes], n, np.int32),
        )
        for side, n in enumerate((n_data, n_reference))
    ]
    ruler = Ruler(np.array(low), np.array(span), np.ones(len(low)), np.ones(len(codes)), float(len(pairs)))
    return ruler, rows[0], rows[1]


def _marks(part: _Part) -> NDArray[np.bool_]:
    return np.zeros(len(part.values), dtype=bool) if part.lost is None else part.lost


def _shifted(pair: _Pair) -> tuple[Floats, Floats]:
    """Return the numbers as floats; whole numbers less the reference's minimum, so that no digit is lost."""
    data, reference = pair.data.values, pair.reference.values
    if not (data.dtype.kind == reference.dtype.kind == "i"):
        return data.astype(np.float64), reference.astype(np.float64)
    low = _ends(pair.reference)[0]
    unit = 1e9 if pair.kind == "time" else 1.0
    with np.errstate(over="ignore"):  # of missing instants
        return (data.astype(np.int64) - low) / unit, (reference.astype(np.int64) - low) / unit


def _equal_or_not(pair: _Pair, lost: Sequence[NDArray[np.bool_]]) -> tuple[Values, Values]:
    stacked = np.concatenate([pair.data.values, pair.reference.values])
    codes = np.unique(stacked, return_inverse=True)[1] + 1
    codes[np.concatenate(lost)] = 0
    n = len(pair.data.values)
    return codes[:n], codes[n:]


def _matrix(parts: Sequence[Values], n_rows: int, dtype: type) -> NDArray[Any]:
    out: NDArray[Any] = np.empty((n_rows, len(parts)), dtype=dtype)
    for j, part in enumerate(parts):
        out[:, j] = part
    return out
