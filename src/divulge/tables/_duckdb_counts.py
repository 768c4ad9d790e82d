"""Counts of a table in DuckDB."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from divulge.tables._duckdb_base import literal
from divulge.tables._duckdb_types import handed_over
from divulge.tables._sql_numbers import SqlNumbers, coded
from divulge.tables.counting import PART, Codes, Edges, Ints, KeyPart, Numbers, narrowed
from divulge.tables.interruptible import interruptible
from divulge.tables.numeric_types import numeric_type

__all__ = ["DuckdbCounts", "coded_in", "numbers_in"]

_ROWS = "divulge_rows"
_ASKED = "divulge_asked"  # a relation that was passed, in queries about it
_FLOATS = ("DOUBLE", "FLOAT")


class DuckdbCounts:
    """A table of a DuckDB connection that nobody else uses; its columns are called c0, c1, ... here.

    Parameters
    ----------
    base
        The connection. The values of columns and their codes are written into temporary tables of it.
    source
        What stands behind "from" in SQL, with every name and text in quotation marks.
    names
        Of its columns. They are taken by their place: DuckDB takes "a" and "A" for the same name.
    """

    engine = "duckdb"

    def __init__(self, base: Any, source: str, names: Sequence[str]) -> None:
        self._base = base
        inner = [f"c{i}" for i in range(len(names))]
        rows = f"{source} as t({', '.join(inner)})"
        types = {name: kind for name, kind, *_ in base.execute(f"describe select * from {rows}").fetchall()}
        self._handed = handed_over(
            types, names, lambda counts: base.execute(f"select {counts} from {rows}").fetchall()[0]
        )
        named = ", ".join(map("{} as {}".format, self._handed.columns, inner))
        base.execute(f"create or replace temp view divulge_rows as select {named} from {rows}")
        self._types = {name: kind for name, kind, *_ in base.execute("describe divulge_rows").fetchall()}

    @property
    def told(self) -> tuple[str, ...]:
        """Sentences on columns whose values are not as they were."""
        return self._handed.told

    def n_rows(self) -> int:
        """Return the number of rows."""
        return self._number("select count(*) from divulge_rows")

    def types(self) -> list[pl.DataType]:
        """Return the type of each column as polars has it."""
        return list(self._frame("select * from divulge_rows limit 0").dtypes)

    def n_keys(self, key: Sequence[KeyPart]) -> int:
        """Return how many combinations of values differ, without the one in which all are missing."""
        parts = ", ".join(f"{_part(self._types, p)} as k{i}" for i, p in enumerate(key))
        there = " or ".join(f"k{i} is not null" for i in range(len(key)))
        different = f"select * from (select {parts} from divulge_rows) where {there} group by all"
        return self._number(f"select count(*) from ({different})")

    def combinations(self, columns: Sequence[str]) -> tuple[list[pl.Series], Ints]:
        """Return the distinct combinations of raw values and how many rows have each."""
        named = ", ".join(columns)
        found = self._frame(f"select {named}, count(*) as n from divulge_rows group by {named}")
        return [found[c] for c in columns], found["n"].to_numpy()

    def raw(self, column: str) -> Iterator[pl.Series]:
        """Yield the raw value of each row in a column, some rows at a time."""
        for batch in _batches(self._base.sql(f"select {column} from divulge_rows")):
            yield pl.Series(column, pl.from_arrow(batch.column(0)))

    def values(self, column: str) -> tuple[pl.Series, Ints]:
        """Return the distinct raw values of a column and how many rows have each."""
        self._run(
            f"create or replace temp table divulge_values_{column} as select {column} as value, count(*) as n, "
            f"(row_number() over ())::integer as id from divulge_rows group by {column}"
        )
        found = self._frame(f"select value, n from divulge_values_{column} order by id")
        return found["value"], found["n"].to_numpy()

    def numbers(self, column: str, missing: Sequence[float]) -> Numbers | None:
        """Return the numbers of a column; None for types that are no numbers."""
        return _numbers(self._frame, _ROWS, self._types, column, missing)

    def cells(self, columns: Sequence[str], codes: Sequence[Codes | Edges]) -> tuple[list[Codes], Ints]:
        """Return the distinct combinations of codes and how many rows have each."""
        found = self._frame(self._cells(columns, codes))
        if any(found[f"k{i}"].null_count() for i in range(len(columns))):  # a value that the column did not have before
            found = found.clear()
        return [narrowed(found[f"k{i}"].to_numpy(), own) for i, own in enumerate(codes)], found["n"].to_numpy()

    def n_cells(self, columns: Sequence[str], codes: Sequence[Codes | Edges]) -> int:
        """Return how many cells there are."""
        return self._number(f"select count(*) from ({self._cells(columns, codes)})")

    def coded_rows(self, columns: Sequence[str], codes: Sequence[Codes]) -> Iterator[list[Codes]]:
        """Yield the codes of each row, some rows at a time."""
        tables, keys = self._keys(columns, codes)
        for batch in _batches(self._base.sql(f"select {_named(keys)} from {tables}")):
            if any(column.null_count for column in batch.columns):  # a value that the column did not have before
                return
            yield [column.to_numpy(zero_copy_only=False) for column in batch.columns]

    def _cells(self, columns: Sequence[str], codes: Sequence[Codes | Edges]) -> str:
        """Return the query of the cells, once the codes are in the base."""
        tables, keys = self._keys(columns, codes)
        return f"select {_named(keys)}, count(*) as n from {tables} group by {', '.join(keys)}"

    def _keys(self, columns: Sequence[str], codes: Sequence[Codes | Edges]) -> tuple[str, list[str]]:
        """Return the rows with their codes beside as SQL, and the names of the codes, once these are in the base."""
        edges = {
            f"e{i}": (c, own) for i, (c, own) in enumerate(zip(columns, codes, strict=True)) if isinstance(own, Edges)
        }
        tables, keys = _coded(_ROWS, self._types, edges), []
        for i, (column, own) in enumerate(zip(columns, codes, strict=True)):
            if isinstance(own, Edges):
                keys.append(f"e{i}")
                continue
            given = pl.DataFrame({"id": pl.int_range(1, len(own) + 1, dtype=pl.Int32, eager=True), "code": own})
            self._base.register("divulge_given", given.to_arrow())
            self._run(
                f"create or replace temp table divulge_codes_{i} as select value, code "
                f"from divulge_values_{column} join divulge_given using (id)"
            )
            self._base.unregister("divulge_given")
            tables += f" left join divulge_codes_{i} as k{i} on {column} is not distinct from k{i}.value"
            keys.append(f"k{i}.code")
        return tables, keys

    def _frame(self, query: str) -> pl.DataFrame:
        frame: pl.DataFrame = self._heard(lambda: self._base.sql(query).pl())
        return frame

    def _number(self, query: str) -> int:
        return int(self._heard(lambda: self._base.execute(query).fetchall())[0][0])

    def _run(self, query: str) -> None:
        self._heard(lambda: self._base.execute(query))

    def _heard(self, ask: Callable[[], Any]) -> Any:
        return interruptible(ask, self._base.interrupt)


def _batches(found: Any) -> Iterator[Any]:
    """Yield an answer in batches of rows."""
    reader = found.to_arrow_reader if hasattr(found, "to_arrow_reader") else found.fetch_arrow_reader  # before 1.4
    yield from reader(PART)


def _part(types: Mapping[str, str], part: KeyPart) -> str:
    """Return a column of a key in SQL, null where its value is missing."""
    value = _double(types, part.column) if part.as_float else _there(types, part.column)
    lost = ", ".join(literal(code) if isinstance(code, str) else f"{code!r}::double" for code in part.lost)
    coded = part.column if all(isinstance(code, str) for code in part.lost) else f"{part.column}::double"
    known = f"case when {coded} not in ({lost}) then {value} end" if lost else value
    return f"case when {known} = 0 then 0 else {known} end" if types[part.column] in _FLOATS else known


def _named(keys: Sequence[str]) -> str:
    return ", ".join(f"{code} as k{i}" for i, code in enumerate(keys))


def numbers_in(relation: Any, column: str, missing: Sequence[float]) -> SqlNumbers | None:
    """Return the numbers of a column of a relation; None for types that are no numbers."""

    def asked(query: str) -> pl.DataFrame:
        found: pl.DataFrame = relation.query(_ASKED, query).pl()
        return found

    return _numbers(asked, _ASKED, _types(relation), column, missing)


def coded_in(relation: Any, columns: Mapping[str, tuple[str, Edges]]) -> Any:
    """Return a relation with further columns of codes: name -> column and the edges that code it."""
    return relation.query(_ASKED, f"select * from {_coded(_ASKED, _types(relation), columns)}")


def _numbers(
    ask: Callable[[str], pl.DataFrame], rows: str, types: Mapping[str, str], column: str, missing: Sequence[float]
) -> SqlNumbers | None:
    own = numeric_type(types[column])
    return None if own is None else SqlNumbers(ask, rows, _double(types, column), own, missing)


def _coded(rows: str, types: Mapping[str, str], columns: Mapping[str, tuple[str, Edges]]) -> str:
    return coded(rows, {name: (_double(types, column), edges) for name, (column, edges) in columns.items()})


def _types(relation: Any) -> dict[str, str]:
    return {name: str(kind) for name, kind in zip(relation.columns, relation.types, strict=True)}


def _double(types: Mapping[str, str], column: str) -> str:
    """Return a column of numbers or times as a double, in SQL; null in place of NaN."""
    is_time = types[column].startswith("TIMESTAMP")
    return f"epoch_us({column})::double" if is_time else f"{_there(types, column)}::double"


def _there(types: Mapping[str, str], column: str) -> str:
    """Return a column in SQL, of floats without NaN.

    DuckDB takes `isnan` for false without a look at the rows where a Parquet file states the smallest and the largest
    number of a column, which leave NaN out. Of `isfinite` it does not believe to know.
    """
    return f"case when isfinite({column}) or isinf({column}) then {column} end" if types[column] in _FLOATS else column
