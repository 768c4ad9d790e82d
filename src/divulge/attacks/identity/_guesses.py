"""The guesses of singling out: predicates that fit exactly one distinct synthetic row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.case.case import Case
from divulge.case.invariant_order import Canonical
from divulge.core.distinct_values import distinct_values
from divulge.core.errors import SettingError
from divulge.core.hashing import code_hashes
from divulge.kernels.predicates.conditions import Predicates
from divulge.kernels.predicates.predicates import Conjunctions

Ints = NDArray[np.int64]


_UNIVARIATE = "univariate"
_FAIR = 2.0  # a column takes part in at most twice its fair share of the guesses; start value, not calibrated
_FIRST_BATCH, _LARGEST_BATCH = 20_000, 500_000
_LISTED_SETS = 100_000


@dataclass(frozen=True, eq=False)
class _Coded:
    """The tables as ranks; columns are sorted by name."""

    columns: tuple[str, ...]
    ordered: NDArray[np.bool_]
    """Shape (n_columns,): whether the column is numeric or a datetime, for which guesses give a bound, not a value."""
    top: NDArray[np.int32]
    """Shape (n_columns,): the largest rank of a number; values that are no numbers have higher ranks."""
    records: NDArray[np.int32]
    """Shape (n_records, n_columns): the distinct synthetic rows, in canonical order."""
    people: NDArray[np.int32]
    """Shape (n_real + n_holdout, n_columns)."""

    @cached_property
    def bounds(self) -> _Bounds:
        """The conditions of all records: they are fewer than the tries, which read them off."""
        below, ranks = _lower_median(self), self.records
        bounded = (ranks > 0) & (ranks <= self.top)  # the top of a column without order is 0
        above = ranks > below
        low, high = np.where(bounded & ~above, 1, ranks), np.where(bounded & above, self.top, ranks)
        return _Bounds(low.astype(np.int32), high.astype(np.int32))


@dataclass(frozen=True, slots=True, eq=False)
class _Bounds:
    """The lowest and the highest rank of the condition on each column that a record gives."""

    low: NDArray[np.int32]
    """Shape (n_records, n_columns)."""
    high: NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class _Guesses:
    """Predicates, each of which fits exactly one distinct synthetic record."""

    predicates: Predicates
    record: Ints
    tries: int
    left_out: int
    """Number of guesses dropped because one of their columns had reached its share."""


def _name(n_columns: int) -> str:
    return _UNIVARIATE if n_columns == 0 else f"{n_columns} column{'s' if n_columns > 1 else ''}"


def _coded(case: Case, columns: Sequence[str]) -> _Coded:
    if not case.in_memory:
        raise SettingError(
            "singling_out: needs every row in memory, and a table lives elsewhere. "
            "hint: collect it first (.collect(), .pl())."
        )
    columns = tuple(sorted(columns))
    tables: list[list[NDArray[np.int32]]] = [[] for _ in case.tables]
    ordered, top = [], []
    for column in columns:
        ranks, highest = _ranks(case, column)
        ordered.append(highest > 0)
        top.append(highest)
        for table, codes in zip(tables, case.codes(column, binned=False), strict=True):
            table.append(ranks[codes])
    synthetic = np.stack(tables[1], axis=1)
    # distinct rows first: repeats must not change the order of draws
    distinct = np.unique(code_hashes(tables[1]), return_index=True)[1]
    order = Canonical(case, columns, tables=(1,), rows={1: distinct}).order(1)
    people = np.concatenate([np.stack(tables[t], axis=1) for t in range(len(tables)) if t != 1])
    return _Coded(columns, np.array(ordered), np.array(top, dtype=np.int32), synthetic[order], people)


def _ranks(case: Case, column: str) -> tuple[NDArray[np.int32], int]:
    """Return the rank of each level code (0 for missing), and the largest rank of a number (0 for categories)."""
    n = case.n_codes(column, binned=False)
    if case.schema[column].kind not in ("numeric", "datetime"):
        return np.arange(n, dtype=np.int32), 0
    numbers = case.numbers(column)[1:]
    is_number = ~np.isnan(numbers)
    ranks = np.zeros(n, dtype=np.int32)
    distinct, place = np.unique(numbers[is_number], return_inverse=True)
    ranks[1:][is_number] = place + 1
    ranks[1:][~is_number] = len(distinct) + 1 + np.arange(int((~is_number).sum()))
    return ranks, len(distinct)


def _made(case: Case, coded: _Coded, index: Conjunctions, n_columns: int, guesses: int, tries: int) -> _Guesses:
    """Return distinct guesses, each fitting one synthetic record, with a limit on the guesses that use one column."""
    rng = case.rng(f"singling_out {_name(n_columns)}")
    d = len(coded.columns)
    cap = math.ceil(guesses * min(1.0, _FAIR * max(1, n_columns) / d))
    source = _Univariate(coded, rng) if n_columns == 0 else _Tries(coded, n_columns, tries, rng)
    used, full = [0] * d, frozenset[int]()
    seen: set[tuple[int, ...]] = set()
    kept: list[tuple[Predicates, Ints]] = []
    tried, n_kept, left_out, size = 0, 0, 0, _FIRST_BATCH
    while n_kept < guesses and len((batch := source.batch(size))[1]):
        predicates, record, n_tried = batch
        take: list[int] = []
        single = np.flatnonzero(index.count(predicates, most=1) == 1)
        for i, of, own in zip(*(a.tolist() for a in (single, record[single], predicates.column[single])), strict=True):
            guess = (of, *own)
            if guess in seen:
                continue
            seen.add(guess)
            if not full.isdisjoint(own):
                left_out += 1
                continue
            for j in own:
                used[j] += 1
            full |= {j for j in own if used[j] >= cap}
            take.append(i)
            if n_kept + len(take) == guesses:
                n_tried = min(n_tried, i + 1)
                break
        tried += n_tried
        n_kept += len(take)
        kept.append((predicates.take(take), record[take]))
        size = int(min(_LARGEST_BATCH, max(_FIRST_BATCH, 1.2 * (guesses - n_kept) * tried / max(1, n_kept))))
    records = np.concatenate([np.zeros(0, dtype=np.int64), *(r for _, r in kept)])
    return _Guesses(Predicates.concatenate([p for p, _ in kept]), records, tried, left_out)


class _Tries:
    """Random synthetic records with random columns; if there are few such pairs, all of them in random order."""

    def __init__(self, coded: _Coded, k: int, tries: int, rng: np.random.Generator) -> None:
        self._coded, self._k, self._rng = coded, k, rng
        n, d = coded.records.shape
        self._n_sets = math.comb(d, k)
        few = self._n_sets <= _LISTED_SETS
        self._sets = np.array(list(combinations(range(d), k)), dtype=np.int32) if few else None
        self._every = rng.permutation(n * self._n_sets) if few and n * self._n_sets <= tries else None
        self._left = tries if self._every is None else len(self._every)

    def batch(self, size: int) -> tuple[Predicates, Ints, int]:
        """Return the next predicates, the record of each, and the number of tries; none when all were made."""
        size = min(size, self._left)
        n, d = self._coded.records.shape
        columns: NDArray[np.integer[Any]]
        if self._every is not None:
            first = len(self._every) - self._left
            every = self._every[first : first + size]
            record = every // self._n_sets
            chosen = every - record * self._n_sets  # half the time of np.divmod
        else:
            record = self._rng.integers(0, n, size)
            chosen = self._rng.integers(0, min(self._n_sets, _LISTED_SETS), size)
        self._left -= size
        columns = _drawn(d, self._k, size, self._rng) if self._sets is None else self._sets.take(chosen, axis=0)
        return _conditions(self._coded.bounds, record, columns), record, size


class _Univariate:
    """All conditions on one column with a value that only one record has, in random order.

    The smallest and the largest number are given as a bound and not as a value; both describe the same record.
    """

    def __init__(self, coded: _Coded, rng: np.random.Generator) -> None:
        self._coded, self._rng, self._done = coded, rng, False

    def batch(self, size: int) -> tuple[Predicates, Ints, int]:
        """Return all predicates at the first call, whatever the size, and none after that."""
        del size
        parts = [_alone(self._coded.records[:, j], int(top)) for j, top in enumerate(self._coded.top)]
        record, low, high = (np.concatenate(a) for a in zip(*parts, strict=True))
        column = np.repeat(np.arange(len(parts)), [len(p[0]) for p in parts])
        order = np.lexsort((column, record))[self._rng.permutation(len(record))]
        if self._done:
            order = order[:0]
        self._done = True
        low, high = (x[order, None].astype(np.int32) for x in (low, high))
        predicates = Predicates(column[order, None], low, high, np.ones(len(order), dtype=np.int64))
        n_values = sum(len(distinct_values(self._coded.records[:, j])) for j in range(len(parts)))
        return predicates, record[order], n_values + 2 * int(self._coded.ordered.sum())


def _alone(ranks: NDArray[np.int32], top: int) -> tuple[Ints, Ints, Ints]:
    """Return the records with a unique value in a column, and the lowest and highest rank of each one's condition."""
    record = np.flatnonzero(np.bincount(ranks)[ranks] == 1)
    low, high = (ranks[record].astype(np.int64) for _ in range(2))
    numbers = ranks[(ranks > 0) & (ranks <= top)]
    if len(numbers):
        smallest, largest = low == numbers.min(), high == numbers.max()
        low[smallest], high[largest] = 1, top
    return record, low, high


def _drawn(d: int, k: int, size: int, rng: np.random.Generator) -> Ints:
    """Return random sets of k columns, ascending, shape (size, k), for tables of many columns."""
    out = np.sort(rng.integers(0, d, (size, k)), axis=1)
    while len(again := np.flatnonzero((np.diff(out, axis=1) == 0).any(axis=1))):
        out[again] = np.sort(rng.integers(0, d, (len(again), k)), axis=1)
    return out


def _lower_median(coded: _Coded) -> NDArray[np.int32]:
    """Return for each column of numbers the rank of the lower median of the synthetic values."""
    out = np.zeros(len(coded.columns), dtype=np.int32)
    for j in np.flatnonzero(coded.ordered):
        ranks = coded.records[:, j]
        ranks = np.sort(ranks[(ranks > 0) & (ranks <= coded.top[j])])
        out[j] = ranks[(len(ranks) - 1) // 2] if len(ranks) else 0
    return out


def _conditions(bounds: _Bounds, record: Ints, columns: NDArray[np.integer[Any]]) -> Predicates:
    """Return one predicate for each record and its columns, shape (m, k)."""
    place = columns.astype(np.int64)
    place += (record * bounds.low.shape[1])[:, None]
    return Predicates(columns, bounds.low.take(place), bounds.high.take(place), np.full(len(columns), columns.shape[1]))
