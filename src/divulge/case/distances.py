"""Nearest neighbours between the tables of a case: which columns are compared, on which ruler; searches are cached.

The ranges are those of real and holdout pooled, the same for every search. So a distance to a member and a distance to
a stranger are measured on one ruler. "people" are the real rows followed by the holdout rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from divulge.case.case import Case, build_case
from divulge.case.searches import Searches
from divulge.case.spill import Spill
from divulge.case.table_rows import SomeRows, TableRows
from divulge.core.errors import SettingError
from divulge.core.schema import Schema, check_columns, column_names
from divulge.kernels.neighbours.block_index import BlockIndex
from divulge.kernels.neighbours.distinct import Distinct, hashes_of
from divulge.kernels.neighbours.gower import Floats, Rows
from divulge.kernels.neighbours.index import Index
from divulge.kernels.neighbours.nearest import Nearest
from divulge.kernels.neighbours.two_tables import NearBoth, TwoTables
from divulge.tables.frames import collect, table_of

__all__ = ["Distances", "Neighbours", "distance_columns", "distances_of", "nearest"]

Codes = NDArray[np.int32]
Ints = NDArray[np.int64]
_PART = 500_000  # rows that are hashed at once
_OF_NEAREST = tuple(f.name for f in fields(Nearest))
_PADDED = 1000  # neighbours that any reference may be asked for


def distance_columns(case: Case, columns: Sequence[str] | None = None) -> tuple[tuple[str, ...], list[str]]:
    """Return the columns that a distance compares, and notes about the columns it leaves out.

    None takes all columns but constants, identifiers, free text, the unit and ignored columns. A column whose values
    all differ would add the same 1 to every distance and hide the other columns.

    Raises
    ------
    SettingError
        No column is left, or a column is named twice.
    ColumnError
        The tables do not have one of the columns.
    """
    if columns is not None:
        columns = column_names("columns", columns)
        check_columns("columns", columns, case.by_table, case.levels)
        if len(set(columns)) < len(columns):
            raise SettingError("columns: a column is named twice. hint: name each once.")
        if not columns:
            raise SettingError("columns: none given. hint: leave it out to compare all that can be compared.")
        return columns, []
    used = tuple(case.schema.usable())
    if not used:
        raise SettingError(
            "distance: no column to compare: all are constant, identifiers, free text, unit or ignored. "
            "hint: `divulge schema` shows why; set kinds there."
        )
    away = {"unit", "ignore"}
    out = [c for c in case.columns if c not in used and not away & set(case.schema[c].roles)]
    told = ", ".join(f"{c!r} ({case.schema[c].kind})" for c in sorted(out))  # the order of columns changes no note
    return used, [f"left out of the distance: {told}"] if out else []


class Distances:
    """Nearest neighbours between the tables of a case; each search is done once.

    With `keep` the case caches rows, indices and searches for every attack that compares the same columns.
    """

    def __init__(
        self,
        case: Case,
        columns: Sequence[str],
        weights: Mapping[str, float] | None = None,
        ranges_of: Sequence[int] | None = None,
        *,
        keep: bool = False,
    ) -> None:
        if not case.in_memory:
            raise SettingError(
                "distance: this measure needs every row in memory, and a table lives elsewhere. "
                "hint: collect it first (.collect(), .pl())."
            )
        self._measured = case.encoded.measured_columns(columns, weights, ranges_of, keep=keep)
        self.ruler = self._measured.ruler
        self.columns = tuple(sorted(columns))
        self._progress, self._spill = case.progress, case.encoded.spill

    @property
    def by_parts(self) -> bool:
        """Whether indices lie in files, block by block, and rows are made part by part."""
        return self._spill is not None

    def rows(self, role: str) -> Rows:
        """Return the rows of "real", "synthetic", "holdout" or "people" under the ruler."""
        return self._measured.rows(role)

    def source(self, role: str) -> TableRows:
        """Return the rows of a table, made part by part when they are asked for."""
        return self._measured.source(role)

    def distinct(self, role: str, *, always: bool = False) -> Distinct:
        """Return the distinct rows of a table; where few rows repeat, the repeats stay in unless `always`."""
        return self._measured.distinct(role, always=always)

    def rows_of_values(self, values: Sequence[tuple[Floats | None, Codes]]) -> Rows:
        """Return rows of given values, which no table need have, on the ruler of these columns.

        Parameters
        ----------
        values
            For each of `columns` two arrays of shape (n_rows,): for a column of numbers the numbers and their marks
            (0 for a number), for a column of categories None and the categories.
        """
        return self._measured.rows_of_values(values)

    def n_rows(self, role: str) -> int:
        """Return the number of rows of a table, 0 when there is no such table."""
        return self._measured.n_rows(role)

    def nearest(self, queries: str, reference: str, k: int = 1) -> Nearest:
        """Return the k nearest rows of one table for each row of another; a row is never its own neighbour."""
        return self._found(queries, reference).first(k, lambda n: self._searched(queries, reference, n))

    def expect(self, queries: str, reference: str, k: int) -> None:
        """Announce a search for k rows: a search for fewer that comes before it finds all of them."""
        self._found(queries, reference).expect(k)

    def keep(self, queries: str, reference: str, k: int) -> None:
        """Forget all but the k nearest rows of a search: longer lists are most of what a person takes in memory."""
        self._found(queries, reference).keep(k)

    def _found(self, queries: str, reference: str) -> Searches:
        """Return the searches done and announced."""
        return self._measured.once(("nearest", queries, reference), [queries, reference], Searches)

    def _searched(self, queries: str, reference: str, k: int) -> Nearest:
        sides = [r for r in ("real", "holdout") if self.n_rows(r)]
        by_sides = len(sides) > 1 and (not self.by_parts or reference == "synthetic")  # other attacks ask each side
        if by_sides and queries == "people" and reference in ("people", "synthetic"):
            found = [self.nearest(side, reference, k) for side in sides]
            return Nearest(*(np.concatenate([getattr(f, name) for f in found]) for name in _OF_NEAREST))
        if by_sides and queries == "synthetic" and reference == "people":
            both = self.nearest(queries, "real", k).beside(self.nearest(queries, "holdout", k), self.n_rows("real"))
            if k == 1:  # attraction asks for them
                self.index("people").knows(self.distinct(queries), both)
            return both
        own = self._own(queries, reference)
        return self.searched(reference).nearest(self._asking(queries, merged=own is None), k, own=own)

    def to_nearest_of(
        self, queries: str, asked: Ints | None, reference: str, among: Ints | None, index: Callable[[], Index]
    ) -> Floats:
        """Return the distance of some rows to the nearest of some rows of another table, or of their own.

        Where one of these is among the neighbours that a search of the whole tables found, it is the nearest.

        Parameters
        ----------
        asked, among
            Row numbers, ascending; None takes all. In one table both are the same.
        index
            Gives the index of the rows `among`, if some query has to be searched.
        """
        whole = self.rows(queries)
        asked = np.arange(len(whole)) if asked is None else asked
        there = np.ones(self.n_rows(reference) + 1, dtype=np.bool_)
        if among is not None:
            there[:] = False
            there[among] = True
        there[-1] = False  # of what is no row
        known = self._found(queries, reference).most()
        out, left = np.empty(len(asked)), np.arange(len(asked))
        if known is not None:
            inside = there[known.rows[asked]]
            left = np.flatnonzero(~inside.any(axis=1))
            out = known.distances[asked, inside.argmax(axis=1)]
        if len(left):
            own = left if queries == reference else None
            out[left] = index().nearest(whole.take(asked[left]), own=own).distances[:, 0]
        return out

    def near_both(self, k: int) -> Iterator[NearBoth]:
        """Yield the k nearest distinct rows of synthetic table (first) and people (second) of each distinct person.

        The distinct persons are those of `distinct("people")`. A person's own record is among the people, at distance
        0. The search is not cached: the index of both tables takes as much memory as the two others.
        """
        both = TwoTables(self.ruler, self.rows("synthetic"), self.rows("people"), progress=self._progress)
        return both.near(self.distinct("people"), k)

    def by_blocks(self, queries: str, reference: str, k: int, folder: str | Path) -> Nearest:
        """Return what `nearest` returns for two different tables, by an index in blocks whose files are in a folder.

        Raises
        ------
        SettingError
            There is no such folder.
        """
        place = Path(folder)
        if not place.is_dir():
            raise SettingError("spill: no such folder. hint: name one that exists, with room for the index.")
        return self._in_blocks(reference, Spill(place)).nearest(self._measured.source(queries), k)

    def searched(self, role: str) -> Index | BlockIndex:
        """Return the index of a table for all searches: in memory, or block by block in files."""
        spill = self._spill
        if spill is None:
            return self.index(role)
        return self._measured.once(("blocks", role, spill), [role], lambda: self._in_blocks(role, spill))

    def searched_rows(self, role: str, rows: Ints) -> Index | BlockIndex:
        """Return an index of some rows of a table, which is not cached."""
        if self._spill is None:
            return Index(self.ruler, self.rows(role).take(rows), progress=self._progress)
        return self._in_blocks(role, self._spill, rows)

    def _in_blocks(self, role: str, spill: Spill, rows: Ints | None = None) -> BlockIndex:
        source = self._measured.source(role)
        some = source if rows is None else SomeRows(source, rows)
        size = spill.rows_of_block(len(some))
        return BlockIndex(self.ruler, some, spill.folder, block_rows=size, progress=self._progress)

    def _asking(self, role: str, *, merged: bool = True) -> Any:
        """Return the rows of a table as `searched` is asked for them; in memory equal ones are merged if wanted."""
        if self.by_parts:
            return self._measured.source(role)
        return self.distinct(role) if merged else self.rows(role)

    def index(self, role: str) -> Index:
        """Return the search index over a table's rows, in memory, for what searches in no other; see `searched`."""
        return self._measured.index(role, self._progress)

    def nearest_to(self, rows: Rows, reference: str) -> Nearest:
        """Return the nearest row of a table for each of some rows, which no table need have."""
        return self.searched(reference).nearest(rows)

    def count_within(self, queries: str, reference: str, radius: float) -> Ints:
        """Return how many rows of one table lie at most `radius` from each row of another."""
        return self.searched(reference).count_within(self._asking(queries, merged=False), radius)

    def attraction(
        self, chosen: NDArray[np.bool_] | None = None, closer_than: Floats | None = None, *, among: str = "people"
    ) -> Floats:
        """Return each person's attraction: the number of synthetic rows whose nearest person they are, ties shared.

        Parameters
        ----------
        chosen
            Shape (n_synthetic,): which synthetic rows to count; None counts all.
        closer_than
            Shape (n_real + n_holdout,): a person attracts only rows closer than this; None sets no limit.
        among
            The table of these persons: "people", "real" or "holdout".

        Returns
        -------
        ndarray
            Shape (n_real + n_holdout,); without a limit it adds up to the number of synthetic rows counted.
        """
        return self.searched(among).attraction(self._asking("synthetic"), chosen, closer_than)

    def alike(self) -> tuple[Ints, Ints]:
        """Return for each distinct record of the people how many members and how many strangers have it."""

        def make() -> tuple[Ints, Ints]:
            of_row = self._same("people")[0]
            n, size = self.n_rows("real"), int(of_row.max()) + 1
            return np.bincount(of_row[:n], minlength=size), np.bincount(of_row[n:], minlength=size)

        return self._measured.once(("alike",), ["people"], make)

    def repeats(self) -> int:
        """Return the greatest common divisor of how often each distinct synthetic row occurs."""
        return int(np.gcd.reduce(self._same("synthetic")[1]))

    def _same(self, role: str) -> tuple[Ints, Ints]:
        """Return the distinct record of each row, and how many rows each distinct record stands for."""
        if not self.by_parts:
            distinct = self.distinct(role, always=True)
            return distinct.of_each, distinct.times
        _, of_each, times = np.unique(self.hashes(role), return_inverse=True, return_counts=True)
        return of_each, times

    def hashes(self, role: str) -> NDArray[np.uint64]:
        """Return a hash of each row of a table, which is made part by part; equal rows have the same."""
        return np.concatenate(list(self.hashed_parts(role)))

    def hashed_parts(self, role: str) -> Iterator[NDArray[np.uint64]]:
        """Yield the hashes of the rows of a table, some rows at a time."""
        source, n = self._measured.source(role), self.n_rows(role)
        return (hashes_of(source.part(a, min(a + _PART, n))) for a in range(0, n, _PART))

    def _own(self, queries: str, reference: str) -> Ints | None:
        n = self.n_rows(queries)
        if queries == reference:
            return np.arange(n)
        if reference == "people" and queries in ("real", "holdout"):
            return np.arange(n) + (self.n_rows("real") if queries == "holdout" else 0)
        if queries == "people" and reference in ("real", "holdout"):
            own = np.arange(n) - (self.n_rows("real") if reference == "holdout" else 0)
            return np.where((own >= 0) & (own < self.n_rows(reference)), own, -1)
        return None


def distances_of(
    case: Case, columns: Sequence[str] | None = None, weights: Mapping[str, float] | None = None
) -> Distances:
    """Return the distances of a case over some columns; the case caches them.

    Raises
    ------
    SettingError
        The rows are not in memory, or there is no column to compare.
    """
    return Distances(case, distance_columns(case, columns)[0], weights, keep=True)


class Neighbours(NamedTuple):
    """The nearest rows of one table for each row of another."""

    distances: Floats
    """Shape (n_queries, k), ascending, in [0, 1]; infinite where the reference has fewer than k rows."""
    indices: Ints
    """Shape (n_queries, k): row numbers in the reference, the lowest first among ties; -1 where there are fewer."""
    n_ties: Ints
    """Shape (n_queries,): how many reference rows lie exactly at the last of the k distances."""


@overload
def nearest(
    queries: Any,
    reference: Any,
    k: int = 1,
    *,
    ranges_from: Any = None,
    columns: Sequence[str] | None = None,
    weights: Mapping[str, float] | None = None,
    schema: Schema | None = None,
    missing: Sequence[str] = (),
    spill: str | Path | None = None,
    id: None = None,
) -> Neighbours: ...


@overload
def nearest(
    queries: Any,
    reference: Any,
    k: int = 1,
    *,
    ranges_from: Any = None,
    columns: Sequence[str] | None = None,
    weights: Mapping[str, float] | None = None,
    schema: Schema | None = None,
    missing: Sequence[str] = (),
    spill: str | Path | None = None,
    id: str,
) -> Any: ...


def nearest(
    queries: Any,
    reference: Any,
    k: int = 1,
    *,
    ranges_from: Any = None,
    columns: Sequence[str] | None = None,
    weights: Mapping[str, float] | None = None,
    schema: Schema | None = None,
    missing: Sequence[str] = (),
    spill: str | Path | None = None,
    id: str | None = None,
) -> Any:
    """Return the k nearest rows of one table for each row of another, exactly.

    The distance is Gower's: the mean over the shared columns of |a - b| / range, at most 1, for numbers and
    datetimes, and of 0 or 1 for categories; missing against missing is 0, missing against a value 1.

    Parameters
    ----------
    queries, reference
        Frames of any kind that divulge reads; columns are matched by name.
    k
        Neighbours of each query: at most as many as the reference has rows, or 1,000.
    ranges_from
        A frame whose smallest and largest values fix the ranges; None pools both tables. Distances of several searches
        are comparable only with the same `ranges_from`.
    columns
        The columns to compare. None takes all shared columns but constants, identifiers and free text.
    weights
        Weights by column name. A column without an entry has weight 1; weight 0 leaves a column out.
    schema, missing
        Kinds of columns, used instead of the inferred ones; texts that stand for missing.
    spill
        A folder for the index, which is then searched block by block, so that one block at a time is in memory: for
        tables whose index does not fit. It takes about 160 bytes a row of 15 columns there, and is removed at the
        end. The result is the same. With `id` it is a folder that all workers of Spark see.
    id
        A column of `queries` that tells its rows apart; `queries` is a Spark frame then, classic or of Spark Connect,
        and the search is made by Spark's workers (docs/how-to/warehouse.md): by the index in the folder `spill`, or
        without one by blocks of the reference that Spark brings to them. The reference is in memory. The answer is a
        Spark frame, made once and held by the executors. It is in no order, and has k rows for each query: the id;
        rank (1 for the nearest); distance; index, the row number in the reference; n_ties, of the last of the k. The
        numbers are those of one process, to the last bit.

    Raises
    ------
    DivulgeError
        A table cannot be read, k is below 1 or far above the rows of the reference, no column is common, or
        a column is unknown.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [20.5, 40.5, 60.5], "sex": ["f", "m", "m"]})
    >>> found = nearest(pl.DataFrame({"age": [44.5], "sex": ["m"]}), people)
    >>> found.distances.tolist(), found.indices.tolist(), found.n_ties.tolist()
    ([[0.05]], [[1]], [1])

    References
    ----------
    Gower (1971), A general coefficient of similarity and some of its properties.
    """
    from divulge.case.spark_search import nearest_in_spark  # Spark has many files, and other calls need none
    from divulge.tables.spark_rows import is_spark, spark_rows

    check_count("k", k)
    there = None if id is None else spark_rows(queries, "queries", id)
    tables = [table_of(reference, "reference"), table_of(queries, "queries") if there is None else there.table]
    if there is not None and is_spark(tables[0]):
        raise SettingError(
            "id: the reference is a Spark frame, whose rows have no numbers. hint: collect it first (.toArrow()), or "
            "leave id out."
        )
    given = [i for i, frame in enumerate((reference, queries)) if frame is ranges_from]
    if ranges_from is not None and not given:
        tables.append(table_of(ranges_from, "ranges_from"))
        given = [2]
    asked = None if columns is None else column_names("columns", columns)
    if there is None:
        tables = [collect(table) for table in tables]
    else:
        tables[0] = collect(tables[0])
    case = build_case(*tables, schema=schema, missing=missing, asked=asked)
    check_neighbours(k, tables[0].n_rows)
    used, _ = distance_columns(case, columns)
    if weights:
        _check_weights(weights, used)
    if there is not None:
        return nearest_in_spark(case.encoded, used, weights, given or [0, 1], there, k, spill)
    found = Distances(case, used, weights, ranges_of=given or [0, 1])
    near = found.nearest("synthetic", "real", k) if spill is None else found.by_blocks("synthetic", "real", k, spill)
    return Neighbours(near.distances, near.rows, near.n_ties)


def check_neighbours(k: int, n_rows: int) -> None:
    """Raise a `SettingError` where many more neighbours are asked for than there are rows: all would be padding."""
    if k > max(n_rows, _PADDED):
        raise SettingError(f"k: {k:,} is above the {n_rows:,} rows of the reference. hint: at most as many.")


def check_count(name: str, value: object) -> None:
    """Raise a `SettingError` unless the value is a whole number of at least 1."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise SettingError(f"{name}: a {type(value).__name__} is no whole number. hint: 1, 2, 3 and so on.")
    if value < 1:
        raise SettingError(f"{name}: {value} is below 1. hint: 1, 2, 3 and so on.")


def _check_weights(weights: Mapping[str, float], columns: Sequence[str]) -> None:
    if not isinstance(weights, Mapping):
        hint = f"weights={{{columns[0]!r}: 2}}"
        raise SettingError(f"weights: a {type(weights).__name__} names no columns. hint: pass a dict, {hint}.")
    check_columns("weights", list(weights), columns)
    for column, weight in weights.items():
        if not isinstance(weight, (int, float, np.integer, np.floating)):
            raise SettingError(f"weights: column {column!r} has a weight that is no number. hint: 1 is the default.")
