"""Columns of several tables, matched by name: names that blanks around or the Unicode form alone tell apart are one."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from divulge.tables.frames import Table

__all__ = ["differing_names", "matched_names", "plain_name"]


def matched_names(tables: Sequence[Table]) -> tuple[Table, ...]:
    """Return the tables, in which columns have the names that the first table gives them; notes say which were renamed.

    A name is matched if it has the same letters after Unicode normalisation (NFC) and without blanks around.

    Examples
    --------
    >>> import polars as pl
    >>> from divulge.tables.frames import table_of
    >>> tables = [table_of(pl.DataFrame({name: [1]}), role) for name, role in (("age", "real"), ("age ", "synthetic"))]
    >>> matched_names(tables)[1].columns, matched_names(tables)[1].notes
    (('age',), ("synthetic: column 'age ' is taken for 'age' of real: blanks around or the Unicode form alone differ",))
    """
    first, *others = tables
    known = {plain_name(name): name for name in first.columns}
    return (first, *(_renamed(t, known, first) for t in others))


def _renamed(table: Table, known: dict[str, str], first: Table) -> Table:
    own = set(table.columns)
    new = {
        name: known[plain]
        for name in table.columns
        if name not in first.columns and (plain := plain_name(name)) in known and known[plain] not in own
    }
    if not new or len(set(new.values())) < len(new):
        return table
    told = tuple(
        f"{table.role}: column {name!r} is taken for {real!r} of {first.role}: blanks around or the Unicode form alone "
        "differ"
        for name, real in new.items()
    )
    return replace(
        table,
        columns=tuple(new.get(name, name) for name in table.columns),
        names={new.get(name, name): inner for name, inner in table.names.items()},
        notes=(*table.notes, *told),
    )


def differing_names(tables: Sequence[Table], shared: Sequence[str]) -> str:
    """Return which columns that not all tables have differ by case, blanks or Unicode form alone; "" where none do."""
    seen: dict[str, dict[str, str]] = {}
    for table in tables:
        for name in table.columns:
            if name not in shared:
                seen.setdefault(plain_name(name).casefold(), {})[table.role] = name
    pairs = [found for found in seen.values() if len(set(found.values())) > 1]
    told = [" and ".join(f"{name!r} in {role}" for role, name in found.items()) for found in pairs]
    return f"{'; '.join(told)} differ by case alone: rename them if they are one column" if told else ""


def plain_name(name: str) -> str:
    """Return a name in Unicode's composed form, without blanks around."""
    return unicodedata.normalize("NFC", name).strip()
