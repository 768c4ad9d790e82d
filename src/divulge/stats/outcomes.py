"""Outcomes of people: values with counts or clusters, and their exact sums."""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from divulge.core.errors import SettingError

__all__ = ["Outcomes"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_LOOKED_AT = 256


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """The scores of one attack on one group of people.

    Examples
    --------
    >>> o = Outcomes(np.array([1.0, 0.5, np.nan]))
    >>> o.hits, o.n, o.rate
    (1.5, 2, 0.75)
    """

    value: Floats
    """Shape (n_rows,), in [0, 1]; nan if the attack skips the record, which then counts nowhere."""
    count: Ints | None = None
    """Shape (n_rows,): number of equal records that a row represents; None means 1 each."""
    cluster: Ints | None = None
    """Shape (n_rows,): the person or household of each row; None means that each row is its own."""
    _merged: list[tuple[Floats, Ints]] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        """Check shapes and ranges, and clip rounding errors beyond 0 and 1."""
        value = np.asarray(self.value, dtype=np.float64)
        if value.ndim != 1:
            raise SettingError(f"value: must have one dimension, found {value.ndim}.")
        low, high = np.fmin.reduce(value, initial=0.0), np.fmax.reduce(value, initial=0.0)
        if low < -1e-9 or high > 1 + 1e-9:
            raise SettingError("value: outcomes must lie between 0 and 1, or be nan where skipped.")
        if self.count is not None and self.cluster is not None:
            raise SettingError("count, cluster: pass one of them; merged rows have lost their cluster.")
        value = np.clip(value, 0.0, 1.0) if low < 0 or high > 1 else value
        object.__setattr__(self, "value", value + 0.0)  # + 0.0 makes -0.0 a 0.0
        for name in ("count", "cluster"):
            given = getattr(self, name)
            if given is None:
                continue
            array = np.asarray(given)
            if array.shape != value.shape or not (array.size == 0 or array.dtype.kind in "iu"):
                raise SettingError(f"{name}: must hold one whole number per row ({value.size} rows).")
            object.__setattr__(self, name, array.astype(np.int64))
        if self.count is not None and np.any(self.count < 0):
            raise SettingError("count: a row cannot stand for fewer than 0 records.")

    @property
    def distinct(self) -> tuple[Floats, Ints]:
        """The distinct defined values, ascending, and how many records have each; made once."""
        if not self._merged:
            self._merged.append(_merged(self.value, self.count))
        return self._merged[0]

    @property
    def hits(self) -> float:
        """Sum of the defined values, correctly rounded: row order and merging change no digit."""
        if self.count is None or self._merged:
            return _exact_sum(*self.distinct)
        defined = ~np.isnan(self.value)  # merged rows are few, and sorting them takes longer than a sum
        return _exact_sum(self.value[defined], self.count[defined])

    @property
    def n(self) -> int:
        """Records the attack did not skip."""
        defined = ~np.isnan(self.value)
        return int(np.count_nonzero(defined) if self.count is None else self.count[defined].sum())

    @property
    def rate(self) -> float:
        """Mean of the defined values; nan without any."""
        n = self.n
        return self.hits / n if n else math.nan

    @property
    def is_binary(self) -> bool:
        """Whether every defined value is 0 or 1 and every row is its own cluster."""
        return self.cluster is None and _zero_or_one(self.value[~np.isnan(self.value)])


def _merged(value: Floats, count: Ints | None) -> tuple[Floats, Ints]:
    """Return the distinct defined values, ascending, and how many records have each, which is never none."""
    keep = ~np.isnan(value) if count is None else ~np.isnan(value) & (count > 0)
    if not keep.all():
        value, count = value[keep], None if count is None else count[keep]
    if _zero_or_one(value):  # no need to sort a million hits
        n, hits = (value.size, np.count_nonzero(value)) if count is None else (count.sum(), count[value == 1].sum())
        counts = np.array([int(n) - int(hits), int(hits)], dtype=np.int64)
        seen = np.flatnonzero(counts)
        return seen.astype(np.float64), counts[seen]
    if count is None:
        value = np.sort(value)
    else:
        order = np.argsort(value)
        value, count = value[order], count[order]
    new = np.ones(value.size, dtype=np.bool_)
    np.not_equal(value[1:], value[:-1], out=new[1:])
    first = np.flatnonzero(new)
    times = np.diff(first, append=value.size) if count is None else np.add.reduceat(count, first)
    return value.take(first), times


def _zero_or_one(value: Floats) -> bool:
    if value.size > 2 * _LOOKED_AT and not _zero_or_one(value[:_LOOKED_AT]):  # most fractions are told by a few
        return False
    return bool(((value == 0) | (value == 1)).all())


def _exact_sum(value: Floats, count: Ints | None) -> float:
    """Sum of value * count, correctly rounded, as if the rows were written out."""
    if _zero_or_one(value):
        return float(np.count_nonzero(value) if count is None else count[value == 1].sum())
    n = value.size if count is None else int(count.sum())
    if n < 2**33 and value.min(initial=0) >= 0 and value.max(initial=0) <= 1:
        # Three digits to the base 2**30 hold every score from 2**-37 on exactly, and sums of whole numbers are
        # exact: a few passes of numpy instead of a Python float for each value.
        total, rest = 0, value
        for _ in range(3):
            rest = rest * 2.0**30
            whole = rest.astype(np.int64)  # cuts the fraction off
            rest -= whole
            total = (total << 30) + int(whole.sum() if count is None else np.dot(whole, count))
        if not rest.any():
            return total / 2**90
    if count is None:
        return math.fsum(value.tolist())
    # 26 bits by 26 bits is exact in float64: split both factors and let fsum add the products.
    scaled = value * 134217729.0
    upper = scaled - (scaled - value)
    small = count & (2**26 - 1)
    parts = [small] if np.array_equal(small, count) else [small, count - small]
    products = [half * part for half in (upper, value - upper) for part in parts]
    return math.fsum(np.concatenate(products).tolist())


@dataclass(frozen=True, slots=True)
class _Clusters:
    """The distinct (sum, size) pairs of the clusters of a group, sorted, and how many clusters have each."""

    total: Floats
    size: Floats
    times: Ints

    @property
    def n(self) -> int:
        return int(self.times.sum())

    @property
    def is_binary(self) -> bool:
        return bool(np.all(self.size == 1)) and _zero_or_one(self.total)


def _reduce(outcomes: Outcomes) -> _Clusters:
    if outcomes.cluster is None:
        value, times = outcomes.distinct
        return _Clusters(value, np.ones(value.size), times)
    keep = ~np.isnan(outcomes.value)
    value = outcomes.value[keep]
    codes = np.unique(outcomes.cluster[keep], return_inverse=True)[1]
    order = np.lexsort((value, codes))  # by value within a cluster: its sum forgets row order
    total = np.bincount(codes[order], weights=value[order]).astype(np.float64)
    size = np.bincount(codes).astype(np.float64)
    return _merge(total, size, np.ones(total.size, dtype=np.int64))


def _merge(total: Floats, size: Floats, times: Ints) -> _Clusters:
    if np.all(size == 1) and _zero_or_one(total):  # no need to sort a million hits
        hits = int(times[total == 1].sum())
        counts = np.array([int(times.sum()) - hits, hits], dtype=np.int64)
        seen = np.flatnonzero(counts)
        return _Clusters(seen.astype(np.float64), np.ones(seen.size), counts[seen])
    order = np.argsort(total) if np.all(size == 1) else np.lexsort((total, size))
    total, size, times = total[order], size[order], times[order]
    new = np.ones(total.size, dtype=np.bool_)
    new[1:] = (total[1:] != total[:-1]) | (size[1:] != size[:-1])
    first = np.flatnonzero(new)
    return _Clusters(total[first], size[first], np.add.reduceat(times, first))
