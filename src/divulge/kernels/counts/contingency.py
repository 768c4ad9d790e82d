"""The contingency table of keys x targets; every measure like CAP is a sum over its cells.

Letters are those of Baillargeon and Charest, with one entry for each occupied cell: o counts real records, c holdout
records, s synthetic records; `o_key` is o summed over the targets of a key (the paper's o_.j).

The three tables are stacked and grouped, never joined: a join drops keys that are missing, and missing is a value.
In memory a group-by is a bincount on mixed-radix codes; where the code space is too large, codes are first
replaced by their rank among those that occur.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.kernels.places import places
from divulge.kernels.runtime import in_threads

__all__ = ["ContingencyTable", "combine", "count", "joint"]

Ints = NDArray[np.int64]
_NO_ARRAYS = ("n_targets", "has_holdout", "cells", "times", "make_key_codes")
_CODES_MAX = 2**62


@dataclass(frozen=True, slots=True)
class ContingencyTable:
    """Counts of real (o), holdout (c) and synthetic (s) records over keys x targets; occupied cells only."""

    n_targets: int
    key: Ints
    """Shape (n_cells,): key of each cell, ascending, 0 to n_keys - 1."""
    target: Ints
    """Shape (n_cells,): target of each cell."""
    o: Ints
    c: Ints
    s: Ints
    """Shape (n_cells,): records of each table in each cell."""
    start: Ints
    """Shape (n_keys,): first cell of each key."""
    o_key: Ints
    c_key: Ints
    s_key: Ints
    """Shape (n_keys,): records of each table with each key."""
    make_key_codes: Callable[[], NDArray[np.int32]]
    """Returns `key_codes`, which few measures need."""
    has_holdout: bool
    cells: tuple[Ints | None, Ints | None, Ints | None]
    """Cell of each row of real, synthetic and holdout, shape (n_rows,); None when rows were counted elsewhere."""
    times: tuple[Ints | None, Ints | None, Ints | None] = (None, None, None)
    """How many records each of these rows stands for, where equal rows were merged; None is one."""

    @property
    def nbytes(self) -> int:
        """Memory that the arrays take."""
        arrays = [getattr(self, name) for name in self.__slots__ if name not in _NO_ARRAYS]
        return sum(a.nbytes for a in (*arrays, *self.cells) if a is not None)

    @property
    def key_codes(self) -> NDArray[np.int32]:
        """Return the keys themselves as codes, shape (n_keys, n_key_columns)."""
        return self.make_key_codes()

    @property
    def n_keys(self) -> int:
        """Number of distinct keys in any of the tables."""
        return len(self.start)

    @property
    def n_o(self) -> int:
        """Real records."""
        return int(self.o.sum())

    @property
    def n_c(self) -> int:
        """Holdout records."""
        return int(self.c.sum())

    @property
    def n_s(self) -> int:
        """Synthetic records."""
        return int(self.s.sum())

    def largest(self, counts: Ints) -> Ints:
        """Return the largest cell of each key, shape (n_keys,)."""
        return np.maximum.reduceat(counts, self.start) if self.n_keys else counts[:0]

    def n_distinct_targets(self, counts: Ints) -> Ints:
        """Return how many targets each key has in a table, shape (n_keys,)."""
        return np.add.reduceat((counts > 0).astype(np.int64), self.start) if self.n_keys else counts[:0]

    def shares(self, counts: Ints, margin: Ints) -> NDArray[np.float64]:
        """Return counts / margin for each cell, nan where the key is empty, shape (n_cells,)."""
        total = margin.astype(np.float64)
        total[margin == 0] = np.nan
        return np.asarray(counts / total.take(self.key))

    def target_margin(self, counts: Ints) -> Ints:
        """Return the records per target, shape (n_targets,)."""
        return np.bincount(self.target, weights=counts, minlength=self.n_targets).astype(np.int64)

    def profiles(self) -> tuple[dict[str, Ints], Ints]:
        """Return the distinct rows of (o, c, s, o_key, c_key, s_key, s_max, o_max) and how many cells have each.

        Every measure that depends on cells alone is a sum over these profiles. There are far fewer profiles than
        cells, and a data warehouse need send only these.
        """
        columns = {
            "o": self.o,
            "c": self.c,
            "s": self.s,
            "o_key": self.o_key[self.key],
            "c_key": self.c_key[self.key],
            "s_key": self.s_key[self.key],
            "s_max": self.largest(self.s)[self.key],
            "o_max": self.largest(self.o)[self.key],
        }
        stacked = np.stack(list(columns.values()), axis=1)
        distinct, multiplicity = np.unique(stacked, axis=0, return_counts=True)
        return dict(zip(columns, distinct.T, strict=True)), multiplicity

    @classmethod
    def from_rows(
        cls,
        real_keys: Sequence[object],
        real_target: Sequence[object],
        synthetic_keys: Sequence[object],
        synthetic_target: Sequence[object],
        holdout_keys: Sequence[object] = (),
        holdout_target: Sequence[object] = (),
    ) -> ContingencyTable:
        """Return the table of a few rows given as sequences, one hashable key and target a row.

        Examples
        --------
        >>> table = ContingencyTable.from_rows(["S", "S"], ["ill", "well"], ["S"], ["ill"])
        >>> table.o.tolist(), table.s.tolist(), table.s_key.tolist()
        ([1, 1], [1, 0], [1])
        """
        keys, targets = (
            _code([real_keys, synthetic_keys, holdout_keys]),
            _code([real_target, synthetic_target, holdout_target]),
        )
        n_keys = max((int(k.max()) + 1 for k in keys if len(k)), default=1)
        n_targets = max((int(t.max()) + 1 for t in targets if len(t)), default=1)
        return count([[k] for k in keys], [n_keys], targets, n_targets, has_holdout=len(holdout_keys) > 0)


def _code(tables: Sequence[Sequence[object]]) -> list[NDArray[np.int32]]:
    order = {v: i for i, v in enumerate(dict.fromkeys(v for t in tables for v in t))}
    return [np.array([order[v] for v in t], dtype=np.int32) for t in tables]


def combine(codes: Sequence[NDArray[np.int32]], sizes: Sequence[int]) -> tuple[NDArray[Any], int]:
    """Return one number a row, different for rows with different codes, and the limit of these numbers.

    Parameters
    ----------
    codes
        Per column, shape (n_rows,), values 0 to size - 1.
    sizes
        Number of codes of each column.

    Returns
    -------
    ids, capacity
        Shape (n_rows,), 0 to capacity - 1; int32 where that is enough, else int64. Codes can be read off the ids
        (`_codes_in`) unless the product of the sizes reaches 2**62.

    Examples
    --------
    >>> ids, capacity = combine([np.array([0, 1], np.int32), np.array([2, 0], np.int32)], [2, 3])
    >>> ids.tolist(), capacity
    ([2, 3], 6)
    """
    ids, capacity = codes[0].astype(_dtype_of(prod(sizes))), sizes[0]
    for column, size in zip(codes[1:], sizes[1:], strict=True):
        if capacity * size >= _CODES_MAX:
            ids, capacity = _compress(ids)
        ids *= size
        ids += column
        capacity *= size
    return ids, capacity


def joint(rows: Sequence[Sequence[NDArray[np.int32]]], sizes: Sequence[int]) -> tuple[list[NDArray[np.int32]], int]:
    """Return one code a row for several columns together, over all tables, and the number of codes.

    Parameters
    ----------
    rows
        Per table, per column: codes, shape (n_rows,), values 0 to size - 1.
    sizes
        Number of codes of each column, at least one column.

    Examples
    --------
    >>> codes, n = joint([[np.array([0, 1], np.int32), np.array([1, 1], np.int32)]], [2, 2])
    >>> codes[0].tolist(), n
    ([0, 1], 2)
    """
    if len(sizes) == 1:
        return [r[0] for r in rows], sizes[0]
    lengths = [len(r[0]) for r in rows]
    distinct, codes = places(*combine([np.concatenate([r[j] for r in rows]) for j in range(len(sizes))], sizes))
    return list(np.split(codes.astype(np.int32), np.cumsum(lengths)[:-1])), len(distinct)


def _dtype_of(capacity: int) -> type[np.signedinteger[Any]]:
    return np.int32 if capacity < 2**31 else np.int64


def _compress(ids: NDArray[Any]) -> tuple[Ints, int]:
    distinct, place = places(ids)
    return place, len(distinct)


def _codes_in(ids: NDArray[Any], sizes: Sequence[int]) -> NDArray[np.int32]:
    """Return the codes that `combine` put into ids that it never compressed, shape (n_ids, n_columns)."""
    codes = np.empty((len(ids), len(sizes)), dtype=np.int32)
    for j in reversed(range(len(sizes))):
        rest = ids // sizes[j]
        codes[:, j] = ids - rest * sizes[j]
        ids = rest
    return codes


def count(
    key_codes: Sequence[Sequence[NDArray[np.int32]]],
    key_sizes: Sequence[int],
    targets: Sequence[NDArray[np.int32]],
    n_targets: int,
    *,
    weights: Sequence[Ints | None] = (None, None, None),
    has_holdout: bool = True,
    with_rows: bool = True,
) -> ContingencyTable:
    """Return the contingency table of three coded tables.

    Parameters
    ----------
    key_codes
        For real, synthetic and holdout: the codes of each key column, shape (n_rows,). An absent holdout has
        columns of length 0.
    key_sizes
        Number of codes of each key column; no key column means one key that everybody has.
    targets
        For real, synthetic and holdout: codes of the target, shape (n_rows,).
    weights
        Multiplicity of each row, where equal rows were merged before; None is 1.
    with_rows
        Whether the table has the cell of each row; without, rows of two tables of counts may not be the same.
    """
    columns = [[*k, t] for k, t in zip(key_codes, targets, strict=True)]
    sizes = [*key_sizes, n_targets]
    n_rows = sum(map(len, targets))
    if fits := prod(sizes) < _CODES_MAX:
        # ids have the same meaning in each table, so only one column is stacked instead of all
        ids, capacity = np.concatenate(in_threads(lambda c: combine(c, sizes)[0], columns, n_rows)), prod(sizes)
    else:
        stacked = [np.concatenate(c) for c in zip(*columns, strict=True)]
        ids, capacity = combine(stacked, sizes)
    cell_ids, place = places(ids, capacity)
    key_ids = cell_ids // n_targets
    first = np.ones(len(cell_ids), dtype=bool)
    np.not_equal(key_ids[1:], key_ids[:-1], out=first[1:])
    start = np.flatnonzero(first)
    ends = np.cumsum([0, *map(len, targets)])
    rows = [place[a:b] for a, b in pairwise(ends)]
    o, s, c = (_tally(r, w, len(cell_ids)) for r, w in zip(rows, weights, strict=True))
    present = [n for n, r in zip((o, s, c), rows, strict=True) if len(r)]
    sums = iter(in_threads(lambda x: _per_key(x, start), present, n_rows))
    o_key, s_key, c_key = (next(sums) if len(r) else np.zeros(len(start), dtype=np.int64) for r in rows)
    # in place: at a million cells each array that is not allocated saves milliseconds
    key = np.cumsum(first)
    key -= 1
    keys = key_ids[start]
    target = key_ids * n_targets
    np.subtract(cell_ids, target, out=target)

    def make_key_codes() -> NDArray[np.int32]:
        return _codes_in(keys, key_sizes) if fits else _codes_of_keys(key_codes, place, start, len(cell_ids))

    return ContingencyTable(
        n_targets=n_targets,
        key=key,
        target=target.astype(np.int64, copy=False),
        o=o,
        c=c,
        s=s,
        start=start,
        o_key=o_key,
        c_key=c_key,
        s_key=s_key,
        make_key_codes=make_key_codes,
        has_holdout=has_holdout,
        cells=(rows[0], rows[1], rows[2]) if with_rows else (None, None, None),
        times=(weights[0], weights[1], weights[2]) if with_rows else (None, None, None),
    )


def _per_key(counts: Ints, start: Ints) -> Ints:
    if not counts.any():
        return np.zeros(len(start), dtype=np.int64)
    # differences of whole numbers are exact, and twice as fast as np.add.reduceat
    total = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=total[1:])
    return np.diff(total[start], append=total[-1])


def _tally(cells: Ints, weight: Ints | None, n_cells: int) -> Ints:
    if not len(cells):
        return np.zeros(n_cells, dtype=np.int64)
    # float64 sums of whole numbers are exact up to 2**53 rows
    return np.bincount(cells, weights=weight, minlength=n_cells).astype(np.int64, copy=False)


def _codes_of_keys(
    tables: Sequence[Sequence[NDArray[np.int32]]], place: Ints, start: Ints, n_cells: int
) -> NDArray[np.int32]:
    """Return the codes of each key from any row that has it, shape (n_keys, n_columns)."""
    example = np.zeros(n_cells, dtype=np.int64)
    example[place] = np.arange(len(place))
    rows = example[start]
    return np.stack([np.concatenate(column)[rows] for column in zip(*tables, strict=True)], axis=1)
