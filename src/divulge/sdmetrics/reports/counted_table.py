"""A table, real and synthetic, whose rows an engine keeps: the distinct values of each column, and rows with each."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.core.hashing import looked_up_hashes
from divulge.core.memory import room_left
from divulge.sdmetrics.columns import EMPTY, Column
from divulge.sdmetrics.inputs import known
from divulge.sdmetrics.reports.tables import Pair, TableData
from divulge.sdmetrics.single_column import comparisons
from divulge.tables.counting import BY_ROWS, PART, narrow
from divulge.tables.frames import Table

__all__ = ["CountedSide", "CountedTable"]

Codes = NDArray[Any]
Hashes = NDArray[np.uint64]
Ints = NDArray[np.int64]

_BYTES_OF_A_HASH = 8
_SHARE = 4  # of the memory that is left, the part that hashes of rows may take


@dataclass(slots=True, eq=False)
class CountedSide:
    """The real or the synthetic table: its columns by their distinct values, in the order in which the engine has them.

    A value that stands there twice, such as 0.0 and -0.0, is one value of rows that the engine tells apart.
    """

    table: Table
    levels: Mapping[Hashable, Column]
    """The distinct values of each column that is compared."""
    counts: Mapping[Hashable, Ints]
    """Rows with each of them."""
    hashes: Mapping[Hashable, Hashes]
    """A hash of each, which depends on the column and on its place in the order of the values, and on no engine."""
    progress: Callable[[str, int, int], None] = lambda what, done, total: None
    """Called with what is done, the rows that came by, and all rows."""
    _row_hashes: Hashes | None = None
    """Hashes of all rows, in no order, once these came by."""
    _passed: bool = False
    """Whether they were looked for."""

    @property
    def by_rows(self) -> bool:
        """Whether the engine tells the values of each row."""
        return self.table.counting is not None and self.table.counting.engine in BY_ROWS

    def rows(self, names: Sequence[Hashable]) -> Iterator[list[Codes]]:
        """Yield the numbers of the distinct values of rows in some columns, some rows at a time, in no order."""
        assert self.table.counting is not None
        hashes = self._hashes_wanted(names)
        first = 0
        for part in self.table.counting.coded_rows(self._inside(names), [self._numbered(n) for n in names]):
            if hashes is not None and first + len(part[0]) <= len(hashes):  # else the table was written meanwhile
                hashes[first : first + len(part[0])] = self._hashed(names, part)
            first += len(part[0])
            yield part
        self._row_hashes = hashes if hashes is not None else self._row_hashes

    def cells(self, names: Sequence[Hashable], codes: Sequence[Codes]) -> tuple[list[Codes], Ints]:
        """Return the combinations of the codes of some columns that occur, each once, and rows with each.

        Parameters
        ----------
        codes
            For each column a code for each of its values.
        """
        assert self.table.counting is not None
        return self.table.counting.cells(self._inside(names), codes)

    def rows_of_pair(self, names: Sequence[Hashable]) -> Iterator[list[Codes]]:
        """Yield what `rows` does of two columns, from the cells that occur, in an order of these."""
        found, n = self.cells(names, [self._numbered(name) for name in names])
        order = np.lexsort(found)
        ends = np.cumsum(n[order])
        for first in range(0, int(ends[-1]), PART):
            own = order[np.searchsorted(ends, np.arange(first, min(first + PART, int(ends[-1]))), side="right")]
            yield [codes[own] for codes in found]

    def some_rows(self, most: int, rng: np.random.Generator) -> dict[Hashable, Column] | None:
        """Return columns of at most so many rows, drawn without replacement, and in an order of their values.

        The rows drawn depend on the set of rows alone. None where the engine tells no rows, or where the hash of each
        row does not fit into memory.
        """
        names, n = list(self.levels), self.table.n_rows
        if not self.by_rows or not names or not _fits(n):
            return None
        if self._row_hashes is None:
            self._passed = False
            for _ in self.rows(names):
                pass
        assert self._row_hashes is not None
        hashes, self._row_hashes = np.sort(self._row_hashes), None
        place = np.sort(rng.choice(n, min(n, most), replace=False))
        wanted, times = np.unique(hashes[place], return_counts=True)
        del hashes
        found: list[list[Codes]] = []
        done = 0
        for part in self.rows(names):
            own = self._hashed(names, part)
            at = np.minimum(np.searchsorted(wanted, own), len(wanted) - 1)
            some = np.flatnonzero(wanted[at] == own)
            found.append([codes[some] for codes in part] + [own[some]])
            done += len(own)
            self.progress("drawing rows of a fresh sample", done, n)
        *codes, own = (np.concatenate(parts) for parts in zip(*found, strict=True))
        order = np.argsort(own, kind="stable")  # rows of one hash are alike
        own = own[order]
        nth = np.arange(len(own)) - np.searchsorted(own, own)
        chosen = order[nth < times[np.searchsorted(wanted, own)]]
        return {name: self.levels[name].take(c[chosen]) for name, c in zip(names, codes, strict=True)}

    def _inside(self, names: Sequence[Hashable]) -> list[str]:
        return [self.table.names[str(name)] for name in names]

    def _numbered(self, name: Hashable) -> Codes:
        n = len(self.counts[name])
        return narrow(np.arange(n), max(n, 1))

    def _hashes_wanted(self, names: Sequence[Hashable]) -> Hashes | None:
        """Return an array for the hashes of rows, where the rows come with all columns for the first time."""
        if self._passed or list(names) != list(self.levels) or not _fits(self.table.n_rows):
            return None
        self._passed = True
        return np.empty(self.table.n_rows, dtype=np.uint64)

    def _hashed(self, names: Sequence[Hashable], part: Sequence[Codes]) -> Hashes:
        return looked_up_hashes([self.hashes[name] for name in names], part)


def _fits(n_rows: int) -> bool:
    there = room_left()
    return there is None or n_rows * _BYTES_OF_A_HASH <= there.free / _SHARE


class CountedTable(TableData):
    """The columns of one table in both data by their distinct values; `sides` and `codes` have an entry for each value.

    Parameters
    ----------
    metadata
        Metadata of the table, with "columns".
    real, synthetic
        Both tables, of one engine. All columns that the table has are in `levels`, those that are not compared
        without a value.
    """

    def __init__(self, metadata: Mapping[str, Any], real: CountedSide, synthetic: CountedSide) -> None:
        self.counted = (real, synthetic)
        ours, theirs = (dict.fromkeys(side.table.columns, EMPTY) | dict(side.levels) for side in self.counted)
        super().__init__(metadata, ours, theirs)

    @property
    def by_rows(self) -> bool:
        """Whether the engine tells the values of each row of both tables."""
        return all(side.by_rows for side in self.counted)

    def n_rows(self, side: int) -> int:
        """Return the rows of the real (0) or of the synthetic table (1)."""
        return self.counted[side].table.n_rows

    def counts(self, name: Hashable) -> tuple[Ints, Ints]:
        """Return how often each value of a column occurs in both tables, missing values apart."""
        codes, size = self.codes(name)
        out = np.zeros((2, size), dtype=np.int64)
        for own, c, side in zip(out, codes, self.counted, strict=True):
            np.add.at(own, c, side.counts[name])
        return out[0, 1:], out[1, 1:]

    def ks(self, name: Hashable) -> float:
        """Return the score of KSComplement of a column."""
        real, synthetic = self.pair(name)
        return comparisons.ks_of_counts(
            real, self.counted[0].counts[name], synthetic, self.counted[1].counts[name]
        )  # fmt: skip

    def rows_of(self, names: Pair, sides: Sequence[tuple[Column, Column]]) -> Sequence[tuple[Column, Column]]:
        """Return two columns row by row, for each table; of a column with one value or none, enough to see that."""
        if any(_is_alike(column) for pair in sides for column in pair):
            return [_repeated(pair) for pair in sides]
        out = []
        for side, (first, second) in zip(self.counted, sides, strict=True):
            one, other = (np.concatenate(codes) for codes in zip(*side.rows_of_pair(names), strict=True))
            out.append((first.take(one), second.take(other)))
        return out

    def some_real_rows(self, most: int, seed: int) -> TableData | None:
        """Return a table with so many rows of the real table, or with all; None where none can be had."""
        rng = np.random.default_rng(seed)
        found = self.counted[0].some_rows(most, rng)
        return None if found is None else TableData(self.metadata, found, found)


def _is_alike(column: Column) -> bool:
    """Return whether a column of distinct values has one value at most."""
    values = known(column)
    return len(values) < 2 or bool((values == values[0]).all())


def _repeated(pair: tuple[Column, Column]) -> tuple[Column, Column]:
    """Return both columns at the length of the longer; a correlation of them is not asked for."""
    n = max(map(len, pair))
    first, second = (c.take(np.arange(n) % len(c)) for c in pair)
    return first, second
