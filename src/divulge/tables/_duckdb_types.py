"""How columns of DuckDB are handed over: types that polars does not hold in SQL as others that it does."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from divulge.tables.calendar_bounds import Outside, sentences

__all__ = ["Handed", "handed_over", "handed_over_relation"]

_QUOTED = re.compile(r"\"(?:[^\"]|\"\")*\"|'(?:[^']|'')*'")
_AS_TEXT = re.compile(r"\b(INTERVAL|UNION|BIT|BIGNUM|VARINT|VARIANT|GEOMETRY)\b")
"""Types without a counterpart, also inside lists and structs."""
_DATES = re.compile(r"DATE|TIMESTAMP(_S|_MS|_NS)?( WITH TIME ZONE)?")
_MONTHS = "months of intervals count 30 days each"
_DURATION = (
    "((datepart('year', {0}) * 12 + datepart('month', {0})) * 30 + datepart('day', {0})) * 86400000000 "
    "+ datepart('hour', {0}) * 3600000000 + datepart('minute', {0}) * 60000000 + datepart('microseconds', {0})"
)
"""An interval in microseconds; a month is 30 days, as DuckDB takes it where it compares intervals."""


class Handed(NamedTuple):
    """The columns of a table as they are handed over."""

    n_rows: int
    columns: list[str]
    """Expressions of SQL, in the order of the columns."""
    told: tuple[str, ...]
    """Sentences on columns whose values are not as they were."""


def handed_over(types: Mapping[str, str], names: Sequence[str], ask: Callable[[str], Sequence[Any]]) -> Handed:
    """Return how the columns of a table are handed over.

    Parameters
    ----------
    types
        DuckDB's names of the types, by the columns as SQL writes them.
    names
        What the columns are called in sentences.
    ask
        Returns the row of some aggregates over all rows.
    """
    plain = {column: _QUOTED.sub("", kind).strip() for column, kind in types.items()}
    dates = [c for c, kind in plain.items() if _DATES.fullmatch(kind)]
    spans = [c for c, kind in plain.items() if kind == "INTERVAL"]
    counts = ["count(*)"]
    for c in dates:
        above, below = _sides(c, plain[c])
        counts += [f"count(*) filter (where {above})", f"count(*) filter (where {below})"]
    counts += [f"count(*) filter (where datepart('year', {c}) <> 0 or datepart('month', {c}) <> 0)" for c in spans]
    n_rows, *found = ask(", ".join(counts))
    outside = {c: Outside(found[2 * i], found[2 * i + 1]) for i, c in enumerate(dates)}
    called = dict(zip(types, names, strict=True))
    told = list(sentences({called[c]: n for c, n in outside.items()}))
    told += [f"{called[c]!r}: {_MONTHS}" for c, n in zip(spans, found[2 * len(dates) :], strict=True) if n]
    return Handed(int(n_rows), [_written(c, kind, outside.get(c)) for c, kind in plain.items()], tuple(told))


def handed_over_relation(relation: Any, names: Sequence[str], inner: Sequence[str]) -> tuple[int, Any, tuple[str, ...]]:
    """Return the rows of a relation, the relation as it is handed over, and sentences as in `Handed`.

    Parameters
    ----------
    names
        Of the columns.
    inner
        Their new names.
    """
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    types = {column: str(kind) for column, kind in zip(quoted, relation.types, strict=True)}
    found = handed_over(types, names, lambda counts: relation.aggregate(counts).fetchall()[0])
    return found.n_rows, relation.project(", ".join(map("{} AS {}".format, found.columns, inner))), found.told


def _written(column: str, kind: str, outside: Outside | None) -> str:
    """Return a column as SQL hands it over."""
    if kind == "INTERVAL":
        return _DURATION.format(column)
    if kind == "TIME WITH TIME ZONE":
        return f"({column}::time - to_seconds(datepart('timezone', {column})))"  # at UTC; the offset would be lost
    if outside is not None and any(outside):
        above, below = _sides(column, kind)
        own = "TIMESTAMP" if kind == "TIMESTAMP_NS" else kind  # whose years end in 2262
        zone = " 00:00:00+00" if "ZONE" in kind else ""
        last, first = (f"'{day}{zone}'::{own}" for day in ("9999-12-31", "0001-01-01"))
        return f"case when {above} then {last} when {below} then {first} else {column}::{own} end"
    return f"{column}::varchar" if _AS_TEXT.search(kind) else column


def _sides(column: str, kind: str) -> tuple[str, str]:
    """Return the conditions that a date is after, and before, the calendar."""
    if kind == "TIMESTAMP_NS":
        middle = f"'2000-01-01'::{kind}"
        return f"isinf({column}) and {column} > {middle}", f"isinf({column}) and {column} < {middle}"
    zone = " 00:00:00+00" if "ZONE" in kind else ""
    return f"{column} >= '10000-01-01{zone}'::{kind}", f"{column} < '0001-01-01{zone}'::{kind}"
