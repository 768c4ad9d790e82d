"""People of linked tables: one row for each, with what stands on the whole in the rows of theirs, and all these rows.

A row belongs to the person to whom the relations lead. Rows of a table without such a way describe the rows that name
them, as products do orders. Features look at no label and at no order of rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from divulge.case.case import Case
from divulge.case.encoded import ROLES
from divulge.case.relational.linked import Linked
from divulge.case.relational.people_checks import people_checks
from divulge.case.relational.persons import History, Persons
from divulge.core.distinct_values import distinct_values
from divulge.core.errors import SettingError
from divulge.core.relations import Relation
from divulge.core.schema import Schema
from divulge.kernels.counts.contingency import joint
from divulge.kernels.relations import totals_of

__all__ = ["PEOPLE_TOGETHER", "PeopleTables", "people_of"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST_FEATURES = 60
"""Columns of a person from other tables at most."""
DEEPEST = 8
"""Relations on a way up to a person at most."""
PEOPLE_TOGETHER = "people linked together"
_LARGEST_SHARE = 0.05  # of all people who may be linked together; more leave no independent units
_COMMONEST = 6  # values of a category that are counted
_RARE = (0.01, 0.2)  # shares of people who have a value once or more, for it to be a column of its own
_MOST_RARE = 3
_DAY = 86_400e6  # microseconds
_BETWEEN = " | "
_TOO_MANY = "of {} columns that describe the rows of a person {} are made columns of a person, some of each"


class PeopleTables(NamedTuple):
    """Three tables of people."""

    frames: tuple[pl.DataFrame, ...]
    """real, synthetic, and holdout where there is one: a row for each row of the table of the people."""
    schema: Schema
    unit: str | None
    """A column that says who is linked together; None where each person is his own."""
    persons: Persons


@dataclass(frozen=True, slots=True, eq=False)
class _Owned:
    """Rows of one table that belong to people, in one role."""

    person: Ints
    row: Ints
    n_people: int


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
    schema = linked.schema
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
    joined = {name: _described(linked, name, owned, root) for name in (root, *owned)}
    used = {r.parent for relations in joined.values() for r in relations}
    apart = tuple(name for name, way in ways.items() if not way and name not in used)
    columns = [_root_columns(linked, root, joined[root], role) for role in linked.roles]
    features = [
        [f for name in owned for f in _features(linked, name, owned[name], joined[name], i)]
        for i in range(len(linked.roles))
    ]
    notes = [f"people: a row of {root!r} each" + (f", with their rows of {_named(owned)}" if owned else "")]
    if len(features[0]) > MOST_FEATURES:
        notes.append(_TOO_MANY.format(len(features[0]), MOST_FEATURES))
    told = _first_of_each([f.name for f in features[0]])
    frames = [pl.DataFrame([*own, *(more[i] for i in told)]) for own, more in zip(columns, features, strict=True)]
    together, linking = _together(linked, root, {n: o for n, o in owned.items() if len(ways[n]) > 1})
    if linking:
        frames = [f.with_columns(pl.Series(PEOPLE_TOGETHER, t)) for f, t in zip(frames, together, strict=True)]
        notes.append(f"people whom rows of {_named(linking)} link count together")
    kinds = linked.case(root).schema
    known = [replace(kinds[c], name=f"{root}.{c}", roles=()) for c in _own_columns(linked, root)]
    histories = tuple(_histories(linked, root, owned, joined))
    checks = people_checks(linked, root, {n: [(o.person, o.row) for o in own] for n, own in owned.items()}, ways)
    unit_column = PEOPLE_TOGETHER if linking else None
    wanted = [c for c in frames[0].columns if _is_target(c) or c in [f.name for f in columns[0]]]
    persons = Persons(root, histories, tuple(checks), apart, tuple(wanted), tuple(notes))
    return PeopleTables(tuple(frames), Schema(tuple(known)), unit_column, persons)


def _first_of_each(names: Sequence[str]) -> list[int]:
    """Return the places of the columns that are kept: of each described column the first, then the second."""
    described = [name.rpartition(": ")[0] for name in names]
    turn = [described[:i].count(own) for i, own in enumerate(described)]
    return sorted(np.argsort(turn, kind="stable")[:MOST_FEATURES].tolist())


def _is_target(column: str) -> bool:
    """Return whether a column that describes the rows of people says what somebody wants to know."""
    return column.endswith((": rows", ": sum")) or ": ever value " in column


def _named(names: Sequence[str] | Mapping[str, Any]) -> str:
    return ", ".join(map(repr, names))


def _owned(linked: Linked, ways: Sequence[tuple[Relation, ...]], role: str, root: str) -> _Owned:
    """Return which rows belong to whom; a row that reaches several people belongs to each."""
    n = linked.n_rows(root, role)
    found = [linked.ancestor_rows(way, role, deepest=DEEPEST).astype(np.int64) for way in ways]
    rows = np.arange(len(found[0]))
    pairs = distinct_values(np.concatenate([rows[f >= 0] * max(1, n) + f[f >= 0] for f in found]))
    row, person = np.divmod(pairs, max(1, n))
    return _Owned(person, row, n)


def _described(linked: Linked, table: str, owned: Mapping[str, Any], root: str) -> tuple[Relation, ...]:
    """Return the relations from a table to those that describe its rows, and belong to nobody."""
    return tuple(r for r in linked.relations if r.child == table and r.parent not in owned and r.parent != root)


def _own_columns(linked: Linked, table: str) -> list[str]:
    """Return the columns of a table that are compared: all but keys and ignored ones."""
    return [c.name for c in linked.case(table).schema.columns if "ignore" not in c.roles and c.kind != "constant"]


def _root_columns(linked: Linked, root: str, joined: Sequence[Relation], role: str) -> list[pl.Series]:
    frame = linked.frame(root, role)
    out = [frame[c].alias(f"{root}.{c}") for c in _own_columns(linked, root)]
    for relation in joined:
        rows = linked.rows(relation, role)
        place = pl.Series(np.where(rows >= 0, rows, -1)).replace(-1, None)
        above = linked.frame(relation.parent, role)
        out += [above[c].gather(place).alias(f"{relation.parent}.{c}") for c in _own_columns(linked, relation.parent)]
    return out or [pl.Series("rows", np.ones(frame.height, dtype=np.int64))]


# ---------------------------------------------------------------- features


class _DescribingColumn(NamedTuple):
    """A column of the rows of a table, or of what describes them."""

    name: str
    case: Case
    column: str
    codes: Ints
    """Of each row of the table; 0 for missing."""


def _columns(linked: Linked, table: str, joined: Sequence[Relation], role: str) -> Iterator[_DescribingColumn]:
    case, which = linked.case(table), ROLES.index(role)
    for c in _own_columns(linked, table):
        yield _DescribingColumn(f"{table}.{c}", case, c, case.codes(c, binned=False)[which].astype(np.int64))
    for relation in joined:
        above = linked.case(relation.parent)
        for c in _own_columns(linked, relation.parent):
            if above.schema[c].kind not in ("identifier", "text"):
                codes = linked.gathered([relation], c, role, binned=False)
                yield _DescribingColumn(
                    f"{table}.{relation.parent}.{c}", above, c, np.maximum(codes, 0).astype(np.int64)
                )


def _features(
    linked: Linked, table: str, every: Sequence[_Owned], joined: Sequence[Relation], which: int
) -> Iterator[pl.Series]:
    """Yield what the rows of each person are on the whole, shape (n_people,) each."""
    owned = every[which]
    person, n = owned.person, owned.n_people
    yield pl.Series(f"{table}: rows", np.bincount(person, minlength=n))
    order = _places_in_order(linked, table, owned, which)
    for name, case, column, codes in _columns(linked, table, joined, ROLES[which]):
        own, pooled = codes[owned.row], case.pooled(column)
        kind = case.schema[column].kind
        if kind in ("text", "identifier"):
            yield _texts(name, pooled.levels.cast(pl.String), own, person, n)
        elif case.encoded.is_number(column):
            yield from _numbers(name, case.numbers(column)[own], pooled.family == "datetime", person, n, order)
        else:
            shares = _shares(linked, table, every, joined, name, len(pooled.levels))
            yield from _categories(name, pooled.levels.cast(pl.String), shares, own, person, n, order)


def _shares(
    linked: Linked, table: str, every: Sequence[_Owned], joined: Sequence[Relation], name: str, n_levels: int
) -> Floats:
    """Return the share of all people who have each value, shape (n_levels,)."""
    people = np.zeros(n_levels + 1)
    for role, own in zip(linked.roles, every, strict=True):
        codes = next(c.codes for c in _columns(linked, table, joined, role) if c.name == name)[own.row]
        pairs = distinct_values(own.person * (n_levels + 1) + codes)
        people += np.bincount(pairs % (n_levels + 1), minlength=n_levels + 1)
    return people[1:] / max(1, sum(own.n_people for own in every))


def _places_in_order(linked: Linked, table: str, owned: _Owned, which: int) -> Ints | None:
    """Return the rows of people in the order of time; None where no column, or more than one, says it."""
    schema, case = linked.case(table).schema, linked.case(table)
    named = schema.with_role("order") or [c.name for c in schema.columns if c.kind == "datetime"]
    if len(named) != 1:
        return None
    when = case.codes(named[0], binned=False)[which][owned.row]
    rest: list[Any] = [
        case.codes(c, binned=False)[which][owned.row] for c in _own_columns(linked, table) if c != named[0]
    ]
    # ties by what else stands there, so that the order of the file says nothing
    return np.lexsort([*rest, when, owned.person])


def _numbers(
    name: str, numbers: Floats, is_time: bool, person: Ints, n: int, order: Ints | None
) -> Iterator[pl.Series]:
    known = np.isfinite(numbers)
    found = dict(totals_of(person[known], numbers[known], n))
    if is_time:
        first, last = found["minimum"], found["maximum"]
        for what, values in (("first", first), ("last", last)):
            yield pl.Series(f"{name}: {what}", values, nan_to_null=True).cast(pl.Int64).cast(pl.Datetime("us"))
        yield pl.Series(f"{name}: days from first to last", (last - first) / _DAY, nan_to_null=True)
        return
    for what, values in found.items():
        yield pl.Series(f"{name}: {what}", values, nan_to_null=True)
    if order is not None:
        yield pl.Series(f"{name}: last", _last(numbers, person, n, order), nan_to_null=True)


def _last(values: Floats, person: Ints, n: int, order: Ints) -> Floats:
    """Return the last value of each person; nan where a person has none."""
    out = np.full(n, np.nan)
    ends = order[np.flatnonzero(np.diff(person[order], append=-1) != 0)]
    out[person[ends]] = values[ends]
    return out


def _categories(
    name: str, levels: pl.Series, shares: Floats, codes: Ints, person: Ints, n: int, order: Ints | None
) -> Iterator[pl.Series]:
    size = len(levels) + 1
    pairs, count = np.unique(person * size + codes, return_counts=True)
    of, code = np.divmod(pairs, size)
    known = code > 0
    of, code, count = of[known], code[known], count[known]
    yield pl.Series(f"{name}: distinct values", np.bincount(of, minlength=n))
    # the commonest value of a person; of equally common ones that of most people, then the first
    by = np.lexsort((-code, shares[code - 1], count, of))
    ends = by[np.flatnonzero(np.diff(of[by], append=-1) != 0)]
    commonest = np.zeros(n, dtype=np.int64)
    commonest[of[ends]] = code[ends]
    yield _values(f"{name}: commonest value", levels, commonest)
    if order is not None:
        for what, places in (("first", order[::-1]), ("last", order)):
            found = _last(codes.astype(np.float64), person, n, places)
            yield _values(f"{name}: {what} value", levels, np.nan_to_num(found).astype(np.int64))
    ranked = 1 + np.lexsort((np.arange(len(shares)), -shares))
    for k, level in enumerate(ranked[:_COMMONEST].tolist(), 1):
        has = code == level
        yield pl.Series(f"{name}: rows with value {k}", np.bincount(of[has], count[has], minlength=n).astype(int))
    least, most = _RARE
    rare = [k for k, level in enumerate(ranked) if k >= _COMMONEST and least <= shares[level - 1] <= most]
    for k in rare[:_MOST_RARE]:
        yield pl.Series(f"{name}: ever value {k + 1}", np.bincount(of[code == ranked[k]], minlength=n) > 0)


def _values(name: str, levels: pl.Series, codes: Ints) -> pl.Series:
    return pl.concat([pl.Series([None], dtype=pl.String), levels]).gather(codes).alias(name)


def _texts(name: str, levels: pl.Series, codes: Ints, person: Ints, n: int) -> pl.Series:
    """Return all texts of each person as one, in alphabetical order."""
    known = codes > 0
    frame = pl.DataFrame({"person": person[known], "code": codes[known]}).sort("person", "code")
    frame = frame.with_columns(text=levels.gather(frame["code"].cast(pl.Int64) - 1))
    all_texts = frame.group_by("person", maintain_order=True).agg(pl.col("text").str.join(_BETWEEN))
    joined = pl.DataFrame({"person": np.arange(n)}).join(all_texts, on="person", how="left", maintain_order="left")
    return joined["text"].alias(f"{name}: all values")


# ---------------------------------------------------------------- people linked together


def _together(linked: Linked, root: str, linking: Mapping[str, Sequence[_Owned]]) -> tuple[list[Ints], tuple[str, ...]]:
    """Return for each person a number that all who are linked share, and the tables that link people.

    Linked are people to whom one row belongs, and those of whom one's row names the other's.

    Raises
    ------
    SettingError
        More than a twentieth of the people of a real table are linked together.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    out, first = [], 0
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
    return out, tables


def _several(owned: _Owned) -> bool:
    """Return whether a row belongs to more than one person."""
    return len(owned.row) > len(np.unique(owned.row))


# ---------------------------------------------------------------- all rows


def _histories(
    linked: Linked, root: str, owned: Mapping[str, Sequence[_Owned]], joined: Mapping[str, Sequence[Relation]]
) -> Iterator[History]:
    """Yield the rows of people in each table, and in all with the person's own, by their contents."""
    parts = {}
    for name, own in owned.items():
        content, alike = (_contents(linked, name, joined[name], binned=binned) for binned in (False, True))
        if content is None or alike is None:
            continue
        exact, coarse = (tuple(c[o.row] for c, o in zip(n, own, strict=True)) for n in (content, alike))
        same = all((a == b).all() for a, b in zip(exact, coarse, strict=True))
        parts[name] = History((name,), exact, exact if same else coarse, tuple(o.person for o in own))
    yield from parts.values()
    if not parts:
        return
    content, alike = (_contents(linked, root, joined[root], binned=binned) for binned in (False, True))
    people = [] if content is None or alike is None else [
        History((root,), content, alike, tuple(np.arange(len(c)) for c in content))
    ]  # fmt: skip
    every = [*people, *parts.values()]
    if len(every) > 1:
        which = range(len(linked.roles))
        content, alike = (
            tuple(_numbered([getattr(h, what) for h in every], i) for i in which) for what in ("content", "alike")
        )
        persons = tuple(np.concatenate([h.person[i] for h in every]) for i in which)
        yield History(tuple(k for h in every for k in h.keys), content, alike, persons)


def _numbered(contents: Sequence[tuple[Ints, ...]], which: int) -> Ints:
    """Return the contents of one role of several tables, those of each with numbers of their own."""
    sizes = [1 + max((int(c.max(initial=-1)) for c in content), default=-1) for content in contents]
    starts = np.cumsum([0, *sizes])
    return np.concatenate([c[which] + start for c, start in zip(contents, starts, strict=False)])


def _contents(linked: Linked, table: str, joined: Sequence[Relation], *, binned: bool) -> tuple[Ints, ...] | None:
    """Return a number for what stands in each row of each role; None where no column is compared."""
    case = linked.case(table)
    names = [c for c in _own_columns(linked, table) if case.schema[c].kind not in ("identifier", "text")]
    codes = [[case.codes(c, binned=binned)[i] for c in names] for i in range(len(linked.roles))]
    sizes = [case.n_codes(c, binned=binned) for c in names]
    for relation in joined:
        above = linked.case(relation.parent)
        for c in _own_columns(linked, relation.parent):
            if above.schema[c].kind in ("identifier", "text"):
                continue
            for own, role in zip(codes, linked.roles, strict=True):
                own.append(linked.gathered([relation], c, role, binned=binned) + np.int32(1))
            sizes.append(above.n_codes(c, binned=binned) + 1)
    if not sizes:
        return None
    return tuple(found.astype(np.int64) for found in joint(codes, sizes)[0])
