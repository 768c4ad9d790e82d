"""Columns of several tables, matched by name.

Names are one column where blanks around, the Unicode form, case or punctuation alone tell them apart.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from divulge.core.errors import ColumnError
from divulge.tables.frames import Table

__all__ = ["LEFT_OUT", "differing_names", "matched_names", "plain_name", "shared_columns", "some_of"]

LEFT_OUT = "columns that not all tables have are left out"


def matched_names(tables: Sequence[Table]) -> tuple[Table, ...]:
    """Return the tables, in which columns have the names that the first table gives them; notes say which were renamed.

    A name is matched if it has the same letters after Unicode normalisation (NFC) and without blanks around; else if it
    has the same letters and digits whatever their case, and no other column of either table has these.

    Examples
    --------
    >>> import polars as pl
    >>> from divulge.tables.frames import table_of
    >>> tables = [table_of(pl.DataFrame({name: [1]}), role) for name, role in (("age", "real"), ("age ", "synthetic"))]
    >>> matched_names(tables)[1].columns, matched_names(tables)[1].notes
    (('age',), ("synthetic: column 'age ' is taken for 'age' of real: blanks around or the Unicode form alone differ",))
    """
    first, *others = tables
    for form, apart in ((plain_name, "blanks around or the Unicode form"), (_letters, "case or punctuation")):
        others = [_renamed(table, first, form, apart) for table in others]
    return (first, *others)


def _renamed(table: Table, first: Table, form: Callable[[str], str], apart: str) -> Table:
    """Return a table in which columns without a partner have the name of the one column of the first table like it."""
    left = {form(name): name for name in first.columns if name not in table.columns}
    new = {name: left[form(name)] for name in table.columns if name not in first.columns and form(name) in left}
    times = Counter(form(name) for t in (first, table) for name in set(t.columns))
    new = {name: real for name, real in new.items() if form(name) and times[form(name)] == 2}
    if not new:
        return table
    told = tuple(
        f"{table.role}: column {name!r} is taken for {real!r} of {first.role}: {apart} alone differ"
        for name, real in new.items()
    )
    return replace(
        table,
        columns=tuple(new.get(name, name) for name in table.columns),
        names={new.get(name, name): inner for name, inner in table.names.items()},
        notes=(*table.notes, *told),
    )


def shared_columns(tables: Sequence[Table]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the columns that all tables have, in the order of the first, and notes on those that they do not.

    Raises
    ------
    ColumnError
        They have none in common.
    """
    columns = tuple(c for c in tables[0].columns if all(c in t.columns for t in tables))
    if not columns:
        raise ColumnError(
            f"the tables have no column in common: real has {some_of(tables[0].columns)}, "
            f"synthetic has {some_of(tables[1].columns)}. hint: columns are matched by name; rename them."
        )
    left = {t.role: [c for c in t.columns if c not in columns] for t in tables}
    notes = (f"{role}: {LEFT_OUT}, {len(own)} in all: {some_of(own)}" for role, own in left.items() if own)
    return columns, tuple(notes)


def some_of(names: Sequence[str], n: int = 10) -> str:
    """Return the first names of columns, quoted, and how many more there are."""
    return ", ".join(map(repr, names[:n])) + (f" and {len(names) - n} more" if len(names) > n else "")


def differing_names(tables: Sequence[Table], shared: Sequence[str]) -> str:
    """Return which columns that not all tables have differ by case or punctuation alone; "" where none do."""
    seen: dict[str, dict[str, str]] = {}
    for table in tables:
        for name in table.columns:
            if name not in shared:
                seen.setdefault(_letters(name), {})[table.role] = name
    pairs = [found for found in seen.values() if len(set(found.values())) > 1]
    told = [" and ".join(f"{name!r} in {role}" for role, name in found.items()) for found in pairs]
    return f"{'; '.join(told)} differ by case or punctuation alone: rename them if they are one column" if told else ""


def plain_name(name: str) -> str:
    """Return a name in Unicode's composed form, without blanks around."""
    return unicodedata.normalize("NFC", name).strip()


_SIGNS = "<>=+%"
"""Signs that tell two names apart, as in bmi<25 and bmi>25."""


def _letters(name: str) -> str:
    """Return the letters and digits of a name, whatever their case."""
    return "".join(c for c in unicodedata.normalize("NFC", name).casefold() if c.isalnum() or c in _SIGNS)
