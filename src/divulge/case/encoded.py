"""Tables encoded once: levels and codes of each column; rulers, rows, indices, orders and hashes of column sets."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from divulge.case.outlined import Outlines
from divulge.case.spill import Spill
from divulge.case.table_rows import TableRows
from divulge.core.errors import SettingError
from divulge.core.hashing import value_hashes
from divulge.core.memo import Memo
from divulge.core.schema import Column, Schema, check_columns
from divulge.kernels.counts.binning import Binning, fit_binning
from divulge.kernels.counts.contingency import combine
from divulge.kernels.neighbours.distinct import Distinct, Progress
from divulge.kernels.neighbours.gower import Field, Measured, Rows, Ruler, measure, places_of, rows_of, ruler_of
from divulge.kernels.neighbours.index import Index
from divulge.tables.counting import Edges
from divulge.tables.fingerprints import fingerprint
from divulge.tables.frames import Table
from divulge.tables.pooled_columns import PooledColumn, pool

__all__ = ["NUMBERS", "ROLES", "EncodedTables", "MeasuredColumns"]

Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
Hashes = NDArray[np.uint64]
Ints = NDArray[np.int64]

NUMBERS = ("numeric", "datetime")
"""Kinds of columns whose values are numbers; all others are categories."""
ROLES = ("real", "synthetic", "holdout")
_SYNTHETIC = 1
_PASSING_BYTES = 2**26
_BYTES_OF_A_ROW, _BYTES_OF_AN_ENTRY = 200, 40

_T = TypeVar("_T")
_Key = tuple[Hashable, ...]  # what was made, and of what


class EncodedTables:
    """Tables of the same columns with shared codes; each encoding is computed once.

    Properties of a value (float, mark, rank, hash) are computed once for each level and looked up by code.

    Cached as long as the tables exist: for each column the properties of its levels, and its codes, plain and binned
    (4 bytes a row each); 8 bytes a row for the records of each table and for each order of rows; and the column sets
    requested with `keep`, which are the few that many attacks compare. Of other column sets at most 64 MB are cached,
    by estimate, and the oldest are dropped first: those of small tables are requested again, those of large ones take
    too much memory. What depends on real and holdout alone is shared with tables that differ only in the synthetic
    rows (`with_synthetic`). Several threads may ask at a time.

    Parameters
    ----------
    tables
        real, synthetic, and holdout where there is one.
    columns
        Columns that all tables have.
    schema
        Says which columns are numbers and how these are binned.
    missing
        Texts that stand for missing.
    pooled
        Columns that are pooled already, by name.
    """

    def __init__(
        self,
        tables: Sequence[Table],
        columns: Sequence[str],
        schema: Schema,
        missing: Sequence[str] = (),
        pooled: Mapping[str, PooledColumn] | None = None,
    ) -> None:
        self._known = frozenset(columns)
        self.tables, self.columns, self.schema, self.missing = tuple(tables), tuple(columns), schema, tuple(missing)
        self._pooled = Memo(pooled)
        self.outlines = Outlines(self.tables, self.missing)
        self._binned, self._codes, self._of_all, self._of_people = Memo(), Memo(), Memo(), Memo()
        self._passing = Memo(most_bytes=_PASSING_BYTES)
        self.said: Mapping[str, Column] = {}  # what the user's schema says, which fixes how columns are read
        self.by_codes = False
        """Whether the codes of every row are known although no table holds its rows."""
        self.spill: Spill | None = None
        """Where indices are written; None holds them in memory."""
        # what fixes bins and ranges where these are some people of other tables; not itself, or a cycle would keep it
        self._whole: EncodedTables | None = None

    def with_schema(self, schema: Schema) -> EncodedTables:
        """Return the tables with another schema: levels and numbers are kept, codings are made again."""
        out = EncodedTables(self.tables, self.columns, schema, self.missing, self._pooled.values())
        out.outlines, out.said = self.outlines, self.said
        out._of_people = Memo({key: kept for key, kept in self._of_people.values().items() if key[0] == "numbers"})
        out.spill = self.spill
        return out

    def with_codes(self, codes: Mapping[str, tuple[Codes, ...]]) -> EncodedTables:
        """Return the tables with the codes of each row in some columns, where engines hold the rows."""
        out = self.with_schema(self.schema)
        for column, own in codes.items():
            out._pooled[column] = replace(self.pooled(column), codes=own)
        out.outlines = self.outlines.without(codes)
        return out

    def with_rows(self, codes: Mapping[str, tuple[Codes, ...]]) -> EncodedTables:
        """Return the tables with the codes of each row in every column, so that attacks may ask for rows."""
        out = self.with_codes(codes)
        out.by_codes = True
        return out

    def with_synthetic(self, codes: Mapping[str, Codes], table: Table | None = None) -> EncodedTables:
        """Return the tables with other codes in some columns of the synthetic table; levels and schema are kept.

        Parameters
        ----------
        codes
            For each of these columns, shape (n_synthetic,).
        table
            The synthetic table of these codes, if its rows are others; `codes` then has every column.
        """
        out = self.with_schema(self.schema)
        if table is not None:
            out.tables = (self.tables[0], table, *self.tables[2:])
        out._of_people, out._whole = self._of_people, self._whole
        for column, own in codes.items():
            out._pooled[column] = _with_codes(self.pooled(column), {_SYNTHETIC: own})
        return out

    def with_people(self, rows: Mapping[int, Ints], tables: Sequence[Table]) -> EncodedTables:
        """Return the tables with some rows of real and holdout; bins and ranges stay those of all rows.

        Parameters
        ----------
        rows
            The rows kept of these tables (0 real, 2 holdout).
        tables
            The tables with these rows.
        """
        out = self.with_schema(self.schema)
        out.tables, out._whole, out._of_people = tuple(tables), self._whole or self, Memo(out._of_people.values())
        out.by_codes = self.by_codes
        for column in self.columns:
            whole = self.codes(column, binned=False)
            own = {which: whole[which][kept].astype(np.int32, copy=False) for which, kept in rows.items()}
            out._pooled[column] = _with_codes(self.pooled(column), own)
        return out

    def once(self, key: _Key, make: Callable[[], _T], tables: Iterable[int] | None = None) -> _T:
        """Return the cached value of a key; if there is none, compute it and cache it as long as the tables exist.

        Parameters
        ----------
        tables
            The tables that the value depends on (0 real, 1 synthetic, 2 holdout); None means all.
        """
        return (self._of_all if tables is None or _SYNTHETIC in tables else self._of_people).once(key, make)

    def forget_rows(self, *, indices: bool) -> None:
        """Forget numbers of all rows (`Features`), and with `indices` what was searched; who asks has it made again."""
        for memo in (self._of_all, self._of_people):
            memo.forget(lambda key: key[0] == "features" or (indices and key[0] in ("measured set", "measured people")))

    # ------------------------------------------------------------ columns

    @property
    def people(self) -> tuple[int, ...]:
        """The tables of people: real, and holdout where there is one."""
        return tuple(i for i in range(len(self.tables)) if i != _SYNTHETIC)

    @property
    def binned(self) -> tuple[str, ...]:
        """Columns whose coding was requested so far, in the order of the requests."""
        return tuple((self._whole or self)._binned.values())

    def pooled(self, column: str) -> PooledColumn:
        """Return the levels of a column over all tables, and the codes of each row.

        Raises
        ------
        ColumnError
            A table does not have the column, or its values cannot be read as the schema says.
        """
        return self._pooled.once(column, lambda: self._pool(column))

    def _pool(self, column: str) -> PooledColumn:
        check_columns("columns", [] if column in self._known else [column], self.columns)
        return pool(self.tables, column, self.missing, self.said.get(column))

    def known(self, column: str) -> PooledColumn:
        """Return what is known of a column without asking for its values where an engine holds many numbers."""
        found = self.outlines.of(column) if column in self._known else None
        return self.pooled(column) if found is None else found.column

    def edges(self, column: str, which: int) -> Edges | None:
        """Return the edges by which an engine codes the bins of a column; None where a look-up of its values does."""
        return self.outlines.edges(column, self.binning(column), which)

    def binning(self, column: str) -> Binning:
        """Return how a column is coded for counting; bins are fitted on real and holdout pooled.

        Where the engine codes it by edges, `binning_of_values` has the codes of levels.
        """
        if self._whole is not None:
            return self._whole.binning(column)
        return self._binned.once(
            column, lambda: self.once(("binning", column), lambda: self._fitted(column), self.people)
        )

    def _fitted(self, column: str) -> Binning:
        return self.outlines.binning(self.schema[column], self.people) or self.binning_of_values(column)

    def binning_of_values(self, column: str) -> Binning:
        """Return how the levels of a column are coded for counting."""
        pooled = self.pooled(column)
        people = np.sum([pooled.counts[i] for i in self.people], axis=0)
        return fit_binning(self.schema[column], self.numbers(column)[1:], people[1:])

    def codes(self, column: str, *, binned: bool = True) -> tuple[Codes, ...]:
        """Return the code of each row of each table; `binned=False` keeps every value apart.

        Raises
        ------
        SettingError
            The rows are not in memory.
        """
        every = range(len(self.tables))
        return self._codes.once((column, binned), lambda: tuple(self.codes_in(column, i, binned=binned) for i in every))

    def codes_in(self, column: str, which: int, *, binned: bool = True) -> Codes:
        """Return the code of each row of one table; see `codes`."""
        codes = self.pooled(column).codes[which]
        if codes is None:
            raise SettingError(
                f"{self.tables[which].role}: this measure needs every row in memory, and the table is counted where it "
                "lives. hint: collect it first (.collect(), .pl())."
            )
        if not binned or not self.binning(column).bins:  # without bins each level is its own code
            return codes
        return self.once(("binned codes", column, which), lambda: self.binning(column).map[codes], [which])

    def n_codes(self, column: str, *, binned: bool = True) -> int:
        """Return how many codes a column has, code 0 (missing) included."""
        return self.binning(column).n_codes if binned else self.pooled(column).levels.len() + 1

    def numbers(self, column: str) -> Floats:
        """Return the numeric value of each code, shape (n_levels + 1,); nan for missing and for non-numbers.

        The array is shared: callers must not write to it.
        """
        return self.once(
            ("numbers", column), lambda: np.concatenate([[np.nan], self.pooled(column).numbers()]), tables=()
        )

    def is_number(self, column: str) -> bool:
        """Whether the schema says that the values of a column are numbers."""
        return self.schema[column].kind in NUMBERS

    def marks(self, column: str) -> Codes:
        """Return the category of each code, shape (n_levels + 1,).

        In a column of numbers: 0 for a number, 1 for missing, 2 and above for values that are not numbers. In other
        columns: the code itself.
        """
        if not self.is_number(column):
            return np.arange(self.n_codes(column, binned=False), dtype=np.int32)
        is_number = ~np.isnan(self.numbers(column))
        return np.where(is_number, 0, np.cumsum(~is_number)).astype(np.int32)

    def occurs(self, column: str, tables: Iterable[int] | None = None) -> NDArray[np.bool_]:
        """Return for each code whether a row of these tables (None: of any table) has it, shape (n_levels + 1,)."""
        counts = self.pooled(column).counts
        return np.asarray(np.sum([counts[i] for i in (range(len(counts)) if tables is None else tables)], axis=0) > 0)

    # ------------------------------------------------------------ sets of columns

    def measured_columns(
        self,
        columns: Sequence[str],
        weights: Mapping[str, float] | None = None,
        ranges_of: Sequence[int] | None = None,
        *,
        binned: bool = False,
        keep: bool = False,
    ) -> MeasuredColumns:
        """Return some columns of the tables on one ruler.

        Parameters
        ----------
        columns
            Their order changes nothing.
        weights
            Weights by column name. A column without an entry has weight 1; weight 0 leaves a column out.
        ranges_of
            The tables that fix the ranges; None takes real and holdout.
        binned
            Whether to compare the binned codes, as categories.
        keep
            Whether to cache the result as long as the tables exist, for all callers with the same arguments.

        Raises
        ------
        SettingError
            There is no column, or none with a positive weight; a weight is negative or not finite; the rows are not
            in memory.
        """
        names = tuple(sorted(columns))
        ranges = self.people if ranges_of is None else tuple(ranges_of)
        each = tuple(float((weights or {}).get(c, 1.0)) for c in names)
        binned = binned and any(self.is_number(c) for c in names)  # of categories the codes are the same
        key = (names, each, ranges, binned)

        def make() -> MeasuredColumns:
            measured = [replace(self._measured(c, ranges, binned), weight=w) for c, w in zip(names, each, strict=True)]
            layout = tuple((m.numbers is None, m.codes is None, m.origin, m.step) for m in measured)
            shared = self.once(("measured people", key, layout), Memo, self.people) if keep else Memo()
            codes = [self.codes(c, binned=False) for c in names]
            numbers = [self.numbers(c) if self.is_number(c) and not binned else None for c in names]
            return MeasuredColumns(measured, codes, numbers, shared)

        if keep or ("measured set", key) in self._of_all:
            return self.once(("measured set", key), make)
        return self._passing.once(key, make)

    def _measured(self, column: str, ranges: tuple[int, ...], binned: bool) -> Measured:
        """Return a column with its range; its only table holds the levels."""
        if self._whole is not None:
            return self._whole._measured(column, ranges, binned)
        binned = binned and self.is_number(column)
        return self.once(("measured", column, ranges, binned), lambda: self._measure(column, ranges, binned))

    def _measure(self, column: str, ranges: tuple[int, ...], binned: bool) -> Measured:
        if binned or not self.is_number(column):
            every = np.arange(self.n_codes(column, binned=False), dtype=np.int32)
            bins = self.binning(column) if binned else None
            return measure(Field(column, None, (bins.map if bins is not None and bins.bins else every,)), [0])
        numbers, marks, known = self.numbers(column), self.marks(column), self.occurs(column, ranges)
        found = measure(Field(column, (numbers, numbers[known]), (marks, marks[known])), [1])
        if found.numbers is None or found.codes is None:
            return found
        return found if marks[self.occurs(column)].any() else replace(found, codes=None)

    def row_hashes(self, columns: Sequence[str], which: int, *, binned: bool = False) -> Hashes:
        """Return a 64-bit hash of the codes of each row of a table, shape (n_rows,); the order of `columns` matters."""
        out = np.zeros(self.tables[which].n_rows, dtype=np.uint64)
        for column in columns:
            out += self._level_hashes(column, binned)[self.codes_in(column, which, binned=binned)]
        return out

    def _level_hashes(self, column: str, binned: bool) -> Hashes:
        every = np.arange(self.n_codes(column, binned=binned), dtype=np.uint64)
        salt = self.columns.index(column)
        return self.once(("level hashes", column, binned), lambda: value_hashes(every, salt), tables=())

    def row_ids(self) -> list[Ints]:
        """Return for each table one number a row; two rows have the same number if they agree in every column.

        Raises
        ------
        SettingError
            The rows are not in memory.
        """
        return self.once(("row ids",), self._row_ids)

    def _row_ids(self) -> list[Ints]:
        stacked = [np.concatenate(self.codes(c, binned=False)) for c in self.columns]
        ids, _ = combine(stacked, [self.n_codes(c, binned=False) for c in self.columns])
        return np.split(ids, np.cumsum([t.n_rows for t in self.tables])[:-1])

    def fingerprint(self, which: int) -> str:
        """Return the SHA-256 of the canonical columns of a table."""
        return self.once(
            ("fingerprint", which), lambda: fingerprint([self.known(c) for c in self.columns], which), [which]
        )


def _with_codes(pooled: PooledColumn, own: Mapping[int, Codes]) -> PooledColumn:
    """Return a column with other codes in some tables (0 real, 1 synthetic, 2 holdout), and their counts."""
    codes, counts = list(pooled.codes), list(pooled.counts)
    for which, given in own.items():
        codes[which] = given
        counts[which] = np.bincount(given, minlength=len(counts[which])).astype(np.int64)
    return replace(pooled, codes=tuple(codes), counts=tuple(counts))


class MeasuredColumns:
    """Some columns of the tables on one ruler: rows, distinct rows and indices, each computed on first use.

    "people" are the real rows followed by the holdout rows. Whatever holds no synthetic row is shared with tables that
    differ only in the synthetic rows.
    """

    def __init__(
        self,
        columns: Sequence[Measured],
        codes: Sequence[tuple[Codes, ...]],
        numbers: Sequence[Floats | None],
        shared: Memo,
    ) -> None:
        self.ruler = ruler_of(columns)
        self._columns, self._codes, self._numbers = columns, codes, numbers
        self._of_people, self._of_all = shared, Memo()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns, sorted by name."""
        return tuple(c.name for c in self._columns)

    def without(self, column: str) -> tuple[Ruler, int, int]:
        """Return the ruler of the other columns, and the place of a column among the numbers and codes of the rows.

        A place is -1 where the column has no number or no code; both are -1 for a column that is not among these.
        """
        others = [c for c in self._columns if c.name != column]
        return ruler_of(others), *self.places(column)

    def places(self, column: str) -> tuple[int, int]:
        """Return the place of a column among the numbers and among the codes of the rows; -1 for none."""
        return places_of(self._columns, column)

    def n_rows(self, role: str) -> int:
        """Return the number of rows of a table, 0 when there is no such table."""
        return sum(len(self._codes[0][i]) for i in self._tables(role))

    @property
    def nbytes(self) -> int:
        """About how many bytes rows, rows without repeats, indices and what was found take once all are made."""
        n_rows, n_columns = sum(map(len, self._codes[0])), len(self.ruler.low) + len(self.ruler.code_weight)
        return n_rows * (_BYTES_OF_A_ROW + _BYTES_OF_AN_ENTRY * n_columns)

    def rows(self, role: str) -> Rows:
        """Return the rows of "real", "synthetic", "holdout" or "people" under the ruler."""
        return self.once(("rows", role), [role], lambda: self.source(role).part(0, self.n_rows(role)))

    def source(self, role: str) -> TableRows:
        """Return the rows of a table, made part by part when they are asked for."""
        return self.once(("source", role), [role], lambda: TableRows(self._columns, self._codes, self._tables(role)))

    def rows_of_values(self, values: Sequence[tuple[Floats | None, Codes]]) -> Rows:
        """Return rows of given values, which no table need have, on the ruler.

        Parameters
        ----------
        values
            For each column, sorted by name, two arrays of shape (n_rows,): numbers and their marks, or None and
            categories. Categories and marks are those of the tables.
        """
        columns = [
            _with_values(m, levels, *given)
            for m, levels, given in zip(self._columns, self._numbers, values, strict=True)
        ]
        return rows_of(columns, 0, len(values[0][1]))

    def rows_of_codes(self, codes: Sequence[Codes]) -> Rows:
        """Return the rows of given codes on the ruler; for each column, sorted by name, shape (n_rows,)."""
        return TableRows(self._columns, [(own,) for own in codes], [0]).part(0, len(codes[0]))

    def distinct(self, role: str, *, always: bool = False) -> Distinct:
        """Return the distinct rows; where few rows repeat, the repeats stay in unless `always`."""
        if always:
            return self.once(("distinct", role, True), [role], lambda: Distinct.of(self.distinct(role), always=True))
        return self.once(("distinct", role), [role], lambda: Distinct.of(self.rows(role)))

    def index(self, role: str, progress: Progress = lambda done, total: None) -> Index:
        """Return the search index over a table's rows; `progress` has an effect only where this call builds it."""
        return self.once(("index", role), [role], lambda: Index(self.ruler, self.distinct(role), progress=progress))

    def once(self, key: _Key, roles: Iterable[str], make: Callable[[], _T]) -> _T:
        """Return the cached value of a key; if there is none, compute it from the rows of these roles and cache it."""
        return (self._of_all if "synthetic" in roles else self._of_people).once(key, make)

    def _tables(self, role: str) -> tuple[int, ...]:
        there = range(len(self._codes[0]))
        return tuple(i for i in there if (i != _SYNTHETIC if role == "people" else ROLES[i] == role))


def _with_values(column: Measured, levels: Floats | None, numbers: Floats | None, codes: Codes) -> Measured:
    """Return a column whose table holds other values instead of the levels."""
    if numbers is None or levels is None:
        return replace(column, codes=(codes,))
    if column.numbers is None:
        return replace(column, codes=(_as_category(column, levels, numbers, codes),))
    marks = None if column.codes is None else (codes,)
    return replace(column, numbers=(column.placed(numbers),), codes=marks)


def _as_category(column: Measured, levels: Floats, numbers: Floats, marks: Codes) -> Codes:
    """Return the category of each number of a column without a range; -1 where no level is that number."""
    assert column.codes is not None
    order = np.argsort(levels, kind="stable")  # nan last
    place = order[np.minimum(np.searchsorted(levels[order], numbers), len(levels) - 1)]
    place = np.where(marks > 0, np.flatnonzero(np.isnan(levels))[np.maximum(marks, 1) - 1], place)
    known = (marks > 0) | (levels[place] == numbers)
    return np.where(known, column.codes[0][place], -1).astype(np.int32)
