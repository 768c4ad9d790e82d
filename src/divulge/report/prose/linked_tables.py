"""People of linked tables: how many, and how many rows they have where."""

from __future__ import annotations

from divulge.report import formatting
from divulge.report.model import Assessment, Table

__all__ = ["size_in_words", "sizes"]


def size_in_words(table: Table) -> str:
    """Return how large a table is; "" where that is withheld.

    Of linked tables these are people and their rows, not the rows and columns that divulge makes of them.

    Examples
    --------
    >>> from divulge.report.model import LinkedTable
    >>> users = LinkedTable(name="users", rows=300, columns=2, people=300)
    >>> orders = LinkedTable(name="orders", rows=900, columns=2, people=280)
    >>> size_in_words(Table(rows=300, columns=9, sha256=None, hashed="file", linked=(users, orders)))
    '300 people with rows in 2 tables (users: 300, orders: 900)'
    """
    if not table.linked:
        return "" if table.rows is None else f"{table.rows:,} rows, {table.columns} columns"
    of_people = [t for t in table.linked if t.people is not None]
    others = [t for t in table.linked if t.people is None]
    rows = ", ".join(f"{formatting.name(t.name)}: {formatting.compact(t.rows)}" for t in of_people)
    who = "people" if table.rows is None else f"{table.rows:,} people"
    told = f"{who} with rows in {formatting.several(len(of_people), 'table')} ({rows})"
    if others:
        beside = ", ".join(f"{formatting.name(t.name)}: {formatting.compact(t.rows)}" for t in others)
        told += f", beside {formatting.several(len(others), 'table')} of nobody's rows ({beside})"
    return told


def sizes(data: Assessment) -> list[tuple[str, str]]:
    """Return who the people of each side of linked tables are, and how large it is; [] of single tables."""
    names = {"synthetic": "synthetic tables", "real": "members", "holdout": "strangers"}
    of = data.tables.by_role()
    return [(name, size_in_words(t)) for role, name in names.items() if (t := of[role]) is not None and t.linked]
