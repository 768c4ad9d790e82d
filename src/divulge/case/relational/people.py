"""People of linked tables: one row for each, with what stands on the whole in the rows of theirs, and all these rows.

A row belongs to the person to whom the relations lead. Rows of a table without such a way describe the rows that name
them, as products do orders. Features look at no label and at no order of rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from divulge.case.relational.linked import Linked
from divulge.case.relational.people_checks import people_checks
from divulge.case.relational.people_columns import (
    Owned,
    columns_of_people,
    describes,
    is_target,
    own_columns,
    recurring_keys,
)
from divulge.case.relational.people_histories import histories_of
from divulge.case.relational.persons import Persons
from divulge.core.distinct_values import distinct_values
from divulge.core.errors import SettingError
from divulge.core.relations import Relation
from divulge.core.schema import Schema

__all__ = ["PEOPLE_TOGETHER", "PeopleTables", "RowsOfPeople", "linked_together", "people_of", "rows_of_people"]

Ints = NDArray[np.int64]

DEEPEST = 8
"""Relations on a way up to a person at most."""
PEOPLE_TOGETHER = "people linked together"
_LARGEST_SHARE = 0.05  # of all people who may be linked together; more leave no independent units


class PeopleTables(NamedTuple):
    """Three tables of people."""

    frames: tuple[pl.DataFrame, ...]
    """real, synthetic, and holdout where there is one: a row for each row of the table of the people."""
    schema: Schema
    unit: str | None
    """A column that says who is linked together; None where each person is his own."""
    persons: Persons


class RowsOfPeople(NamedTuple):
    """Which rows of linked tables belong to whom."""

    people: str
    """The table with a row for each person."""
    ways: dict[str, tuple[tuple[Relation, ...], ...]]
    """How the relations lead from each other table to the people."""
    owned: dict[str, list[Owned]]
    """Of each table that leads there, and each role."""
    joined: dict[str, tuple[Relation, ...]]
    """Of these and of the people: relations to tables that belong to nobody and describe the rows."""


def people_of(linked: Linked, unit: str | None = None) -> PeopleTables:
    """Return the people of linked tables.

    Parameters
    ----------
    unit
        The table that has one row for each person; None takes the only one above all others.

    Raises
    ------
    SettingError
        It is not clear which table this is; one of its keys is repeated; so many people are linked together that there
        are no independent ones.

    Examples
    --------
    >>> from divulge.measures.linked.tables import linked_tables
    >>> users = pl.DataFrame({"uid": [1, 2, 3], "age": [20.5, 31.5, 40.0]})
    >>> orders = pl.DataFrame({"uid": [1, 1, 2], "price": [2.5, 3.5, 7.25]})
    >>> found = people_of(linked_tables({"users": users, "orders": orders}, {"users": users, "orders": orders}))
    >>> found.frames[0].select("users.age", "orders: rows", "orders.price: mean").rows()
    [(20.5, 2, 3.0), (31.5, 1, 7.25), (40.0, 0, None)]
    """
    rows = rows_of_people(linked, unit)
    root, ways, owned, joined = rows
    used = {r.parent for relations in joined.values() for r in relations if describes(linked, r)}
    apart = tuple(name for name, way in ways.items() if not way and name not in used)
    frames, own, told = columns_of_people(linked, root, owned, joined)
    wanted = tuple(c for c in frames[0].columns if c in own or is_target(c))
    notes = [f"people: a row of {root!r} each" + (f", with their rows of {_named(owned)}" if owned else ""), *told]
    together, linking = linked_together(linked, rows)
    if linking:
        frames = [f.with_columns(pl.Series(PEOPLE_TOGETHER, t)) for f, t in zip(frames, together, strict=True)]
        notes.append(linking)
    kinds = linked.case(root).schema
    known = [replace(kinds[c], name=f"{root}.{c}", roles=()) for c in own_columns(linked, root)]
    known += [replace(kinds[c], name=f"{root}.{c}", kind="identifier", roles=()) for c in recurring_keys(linked, root)]
    notes += _shared_above(linked, root)
    histories = tuple(histories_of(linked, root, ways, owned, joined))
    checks = people_checks(linked, root, owned, ways, together)
    unit_column = PEOPLE_TOGETHER if linking else None
    lengths = {name: tuple(np.bincount(o.person, minlength=o.n_people) for o in roles) for name, roles in owned.items()}
    persons = Persons(linked, root, own, histories, tuple(checks), apart, wanted, tuple(notes), lengths)
    return PeopleTables(tuple(frames), Schema(tuple(known)), unit_column, persons)


def rows_of_people(linked: Linked, unit: str | None = None) -> RowsOfPeople:
    """Return which rows belong to whom; arguments and errors as for `people_of`.

    Examples
    --------
    >>> from divulge.measures.linked.tables import linked_tables
    >>> tables = {"users": pl.DataFrame({"uid": [1, 2, 3]}), "orders": pl.DataFrame({"uid": [3, 1, 3]})}
    >>> rows = rows_of_people(linked_tables(tables, tables))
    >>> rows.people, rows.owned["orders"][0].person.tolist()
    ('users', [2, 0, 2])
    """
    schema = linked.schema
    if unit is None and len(schema.tables) > 1 and not schema.relations:
        raise _no_relation(linked)
    root = schema.people(unit)
    for role in linked.roles:
        for relation in schema.children(root):
            if repeated := linked.key_facts(relation, role).repeated:
                raise SettingError(
                    f"{role} table {root!r}: {repeated:,} rows have the key of another row, and each person has one "
                    "row there. hint: name the key in the schema, or the table of the people as the unit."
                )
    ways = {name: schema.paths(name, root) for name in linked.names if name != root}
    owned = {name: [_owned(linked, way, role, root) for role in linked.roles] for name, way in ways.items() if way}
    return RowsOfPeople(root, ways, owned, {name: _described(linked, name, owned, root) for name in (root, *owned)})


def _no_relation(linked: Linked) -> SettingError:
    from divulge.case.relational.inferred import possible_relations

    tables = {name: linked.frame(name, "real") for name in linked.names}
    found = possible_relations(tables, missing=linked.missing)
    lines = found[0].to_toml().strip().replace("\n", ", ").replace("]],", "]]") if found else ""
    where = f"it holds this one as a comment, from which to take the #: {lines}" if lines else "its comment shows how"
    return SettingError(
        f"relations: none was found between the tables {_named(linked.names)}, so that nobody knows whose rows they "
        f"are. hint: `divulge schema --tables FOLDER > schema.toml`; {where}; then --schema schema.toml."
    )


def _named(names: Sequence[str] | Mapping[str, Any]) -> str:
    return ", ".join(map(repr, names))


def _shared_above(linked: Linked, people: str) -> Iterator[str]:
    """Yield a note for each table of which several people share a row, as those of a household do."""
    for relation in linked.schema.parents(people):
        shared = relation.parent != people and (linked.children(relation, "real") > 1).any()
        if shared:
            yield (
                f"several people share a row of {relation.parent!r}: if they belong together, as those of a household "
                f"do, name {relation.parent!r} as the unit"
            )


def _owned(linked: Linked, ways: Sequence[tuple[Relation, ...]], role: str, root: str) -> Owned:
    """Return which rows belong to whom; a row that reaches several people belongs to each."""
    n = linked.n_rows(root, role)
    found = [linked.ancestor_rows(way, role, deepest=DEEPEST).astype(np.int64) for way in ways]
    rows = np.arange(len(found[0]))
    pairs = distinct_values(np.concatenate([rows[f >= 0] * max(1, n) + f[f >= 0] for f in found]))
    row, person = np.divmod(pairs, max(1, n))
    return Owned(person, row, n)


def _described(linked: Linked, table: str, owned: Mapping[str, Any], root: str) -> tuple[Relation, ...]:
    """Return the relations from a table to those that describe its rows, and belong to nobody."""
    return tuple(r for r in linked.relations if r.child == table and r.parent not in owned and r.parent != root)


# ---------------------------------------------------------------- people linked together


def linked_together(linked: Linked, rows: RowsOfPeople) -> tuple[list[Ints], str]:
    """Return for each person a number that all who are linked share, and what links them; "" where nothing does.

    Linked are people to whom one row belongs, and those of whom one's row names the other's.

    Raises
    ------
    SettingError
        More than a twentieth of the people of a real table are linked together.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    out, first, root = [], 0, rows.people
    linking = {name: own for name, own in rows.owned.items() if len(rows.ways[name]) > 1}
    used = {name: own for name, own in linking.items() if any(_several(o) for o in own)}
    named = [r for r in linked.schema.parents(root) if r.parent == root]
    tables = (*used, *[root] * bool(named))
    for i, role in enumerate(linked.roles):
        n = size = linked.n_rows(root, role)
        above = [linked.rows(r, role).astype(np.int64) for r in named]
        edges = [(np.flatnonzero(rows >= 0), rows[rows >= 0]) for rows in above]
        for name, own in used.items():
            edges.append((own[i].person, own[i].row + size))
            size += linked.n_rows(name, role)
        ends = [np.concatenate([e[side].astype(np.int64) for e in edges] or [np.zeros(0, np.int64)]) for side in (0, 1)]
        graph = coo_array((np.ones(len(ends[0]), dtype=np.int8), tuple(ends)), shape=(size, size))
        label = connected_components(graph.tocsr(), directed=False)[1][:n]
        largest = int(np.bincount(label, minlength=1).max()) if n else 0
        if role != "synthetic" and largest > max(2, _LARGEST_SHARE * n):
            raise SettingError(
                f"{role}: rows of {_named(tables)} link {largest:,} of {n:,} people together, which leaves no "
                "independent people to compare. hint: leave one of their relations out of the schema."
            )
        out.append(label.astype(np.int64) + first)
        first += size
    return out, f"people whom rows of {_named(tables)} link count together" if tables else ""


def _several(owned: Owned) -> bool:
    """Return whether a row belongs to more than one person."""
    return len(owned.row) > len(np.unique(owned.row))
