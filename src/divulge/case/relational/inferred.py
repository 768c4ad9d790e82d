"""What several tables say of their own keys, relations and sequences: a proposal to edit, with a reason for each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from divulge.case.case import Case, build_case
from divulge.case.relational.linked import KeyFacts, Linked
from divulge.core.relations import Relation, RelationalSchema
from divulge.core.schema import Column, Schema
from divulge.kernels.counts.contingency import joint
from divulge.tables.frames import collect, table_of

__all__ = ["infer_relational", "possible_relations"]

_KEY_NAME = re.compile(r"(^|[^a-z])(id|uuid|guid|key|nr|no|number|code)($|[^a-z])|id$", re.I)
_ORDER_NAME = re.compile(
    r"(^|[^a-z])(year|month|week|date|day|time|timestamp|step|index|period|quarter|visit|wave|round|seq|order|position)"
    r"($|[^a-z])",
    re.I,
)
_NAMED_SHARE = 0.5
"""Share of the present child keys that a parent must have, where the columns bear the same name."""
_UNNAMED_SHARE = 0.9
"""The same where only the values speak: texts of different names."""
_FEWEST_TEXTS = 3
_WIDEST_KEY = 3


@dataclass(frozen=True)
class _Found:
    """One table: its case, and the columns of which each row has a value of its own."""

    name: str
    case: Case
    unique: tuple[str, ...]


def infer_relational(tables: Mapping[str, Any], *, missing: Sequence[str] = ()) -> RelationalSchema:
    """Return the schema of several tables, with the keys, relations and sequences that their values and names suggest.

    A relation is proposed where a column, or up to three together, names the rows of one table and stands in another
    one: under the same name, under the name of the table (`user_id` for `id` of `users`), or as texts of which nine of
    ten are found. A sequence is proposed where exactly one pair of a repeated key and an index
    (a date, if there is one) names the rows.

    Examples
    --------
    >>> import polars as pl
    >>> users = pl.DataFrame({"id": [1, 2, 3], "age": [30, 41, 41]})
    >>> orders = pl.DataFrame({"user_id": [3, 3, 1, None], "price": [1.5, 2.0, 1.5, 3.0]})
    >>> print(infer_relational({"users": users, "orders": orders}).relations[0])
    orders (user_id) -> users (id)
    """
    own = {name: collect(table_of(tables[name], f"table {name!r}")) for name in sorted(tables)}
    found = [_looked_at(name, build_case(t, t, missing=missing)) for name, t in own.items()]
    bare = RelationalSchema({f.name: f.case.schema for f in found})
    relations: list[Relation] = []
    for parent in found:
        for child in found:
            relations += _proposed(parent, child, relations, own, missing)
    by_name = {f.name: f for f in found}
    schemas = {name: _with_roles(by_name[name], relations) for name in tables}
    return RelationalSchema(schemas, tuple(relations)) if relations else replace(bare, tables=schemas)


def _looked_at(name: str, case: Case) -> _Found:
    columns = [c.name for c in case.schema.columns if not _is_measure(case, c)]
    return _Found(name, case, tuple(c for c in columns if _names_rows(case, (c,))))


def _is_measure(case: Case, column: Column) -> bool:
    """Whether a column can be no part of a key: numbers with decimals, truth values, long texts, constants."""
    if column.kind in ("boolean", "text", "constant"):
        return True
    return column.kind == "numeric" and not case.pooled(column.name).integer


def _names_rows(case: Case, columns: Sequence[str], *, present: str | None = None) -> bool:
    """Whether each row has a value, or combination of values, of its own, and none is missing.

    With `present`, only rows in which this column has a value are looked at.
    """
    codes = [case.codes(c, binned=False)[0] for c in columns]
    if present is not None:
        codes = [c[case.codes(present, binned=False)[0] > 0] for c in codes]
    if any((c == 0).any() for c in codes):
        return False
    return len(np.unique(joint([codes], [case.n_codes(c, binned=False) for c in columns])[0][0])) == len(codes[0]) > 1


# ---------------------------------------------------------------- relations


def _proposed(
    parent: _Found, child: _Found, before: Sequence[Relation], tables: Mapping[str, Any], missing: Sequence[str]
) -> Iterator[Relation]:
    taken = {(r.child, c) for r in before for c in r.child_key}
    single = False
    for key in parent.unique:
        for column, least in _columns_for(parent, key, child):
            relation = Relation(parent.name, (key,), child.name, (column,))
            if (child.name, column) in taken or _is_mirrored(relation, before):
                continue
            share = _share_found(relation, tables, missing)
            if share >= least:
                single = True
                taken.add((child.name, column))
                yield replace(relation, why=_why(share))
    if not single and not parent.unique and parent.name != child.name:
        yield from _composite(parent, child, before, tables, missing)


def _columns_for(parent: _Found, key: str, child: _Found) -> Iterator[tuple[str, float]]:
    """Yield the columns of a child that may hold a key of the parent, and the share of them that must be found."""
    table = parent.name.lower()
    stems = {table, table.removesuffix("s"), table.removesuffix("es"), re.sub("ies$", "y", table)}
    names = {f"{stem}{joint}{key}".lower() for stem in stems for joint in ("", "_", ".", "-", " ")}
    texts = _texts(parent.case, key)
    for column in child.case.schema.columns:
        name = column.name
        if (parent.name == child.name and name == key) or _is_measure(child.case, column):
            continue
        alike = name == key and (bool(_KEY_NAME.search(key)) or bool(texts))
        if (alike or name.lower() in names) and not (name in child.unique and _is_row_number(child.case, name)):
            yield name, _NAMED_SHARE
        elif texts and name not in child.unique and _mostly_in(_texts(child.case, name), texts):
            yield name, _UNNAMED_SHARE


def _mostly_in(own: frozenset[str], texts: frozenset[str]) -> bool:
    return len(own) >= _FEWEST_TEXTS and len(own & texts) >= len(own) / 2


def _is_row_number(case: Case, column: str) -> bool:
    """Whether a column merely counts the rows of its table: then an equal name elsewhere says little."""
    return column.lower() in ("id", "index", "row", "nr", "no") and case.pooled(column).family == "number"


def _texts(case: Case, column: str) -> frozenset[str]:
    pooled = case.pooled(column)
    made = lambda: frozenset(pooled.levels.to_list()) if pooled.family == "text" else frozenset[str]()  # noqa: E731
    return case.encoded.once(("texts", column), made)


def _is_mirrored(relation: Relation, before: Sequence[Relation]) -> bool:
    """Whether the same columns are related already, the other way round."""
    return Relation(relation.child, relation.child_key, relation.parent, relation.parent_key) in before


def _share_found(relation: Relation, tables: Mapping[str, Any], missing: Sequence[str]) -> float:
    """Return the share of the present child keys that a parent has."""
    return _found_of(_key_facts(relation, tables, missing))


def _found_of(facts: KeyFacts) -> float:
    present = facts.n_children - facts.missing
    return 1 - facts.orphans / present if present else 0.0


def _key_facts(relation: Relation, tables: Mapping[str, Any], missing: Sequence[str]) -> KeyFacts:
    ends = {relation.parent, relation.child}
    names = {t: Schema(tuple(Column(c, "categorical") for c in tables[t].columns)) for t in sorted(ends)}
    linked = Linked({t: (tables[t],) for t in ends}, RelationalSchema(names, (relation,)), missing)
    return linked.key_facts(relation, "real")


def _why(share: float) -> str:
    return (
        "each key is found" if share == 1 else f"{min(share, 0.999):.1%} of the keys are found, the others lead nowhere"
    )


def _composite(
    parent: _Found, child: _Found, before: Sequence[Relation], tables: Mapping[str, Any], missing: Sequence[str]
) -> Iterator[Relation]:
    """Yield the narrowest key of several columns that both tables have under the same names."""
    shared = [
        c.name for c in parent.case.schema.columns
        if c.name in child.case.columns and not _is_measure(parent.case, c)
    ]  # fmt: skip
    for width in range(2, _WIDEST_KEY + 1):
        for key in combinations(shared, width):
            relation = Relation(parent.name, key, child.name, key)
            if _is_mirrored(relation, before) or not _names_rows(parent.case, key):
                continue
            share = _share_found(relation, tables, missing)
            if share >= _NAMED_SHARE:
                yield replace(relation, why=_why(share))
                return


# ---------------------------------------------------------------- relations that nothing but overlap suggests


def possible_relations(
    tables: Mapping[str, Any], relations: Sequence[Relation] = (), *, missing: Sequence[str] = ()
) -> tuple[Relation, ...]:
    """Return a relation for each table that has none, which its values make possible: to look at, not to rely on.

    At least half of the values of a column are keys of another table. Of several columns one that bears the name of a
    key comes first, then the one whose values are most of the other table's keys.

    Examples
    --------
    >>> import polars as pl
    >>> patients = pl.DataFrame({"patient_id": [7, 8, 9], "age": [30, 41, 41]})
    >>> visits = pl.DataFrame({"pid": [9, 9, 7, 8], "days": [7, 7, 8, 1]})
    >>> print(possible_relations({"patients": patients, "visits": visits})[0])
    visits (pid) -> patients (patient_id)
    """
    related = {name for r in relations for name in (r.parent, r.child)}
    own = {name: collect(table_of(tables[name], f"table {name!r}")) for name in sorted(tables)}
    found = [_looked_at(name, build_case(t, t, missing=missing)) for name, t in own.items()]
    ranked: list[tuple[tuple[bool, float], Relation]] = []
    for parent in found:
        for child in found:
            if parent is child or {parent.name, child.name} <= related:
                continue
            ranked += [(_overlap(relation, own, missing), relation) for relation in _thinkable(parent, child)]
    chosen = []
    for (_, overlap), relation in sorted(ranked, key=lambda r: r[0], reverse=True):
        if overlap and not {relation.parent, relation.child} <= related:
            chosen.append(relation)
            related |= {relation.parent, relation.child}
    return tuple(chosen)


def _thinkable(parent: _Found, child: _Found) -> Iterator[Relation]:
    for key in parent.unique:
        family = parent.case.pooled(key).family
        for column in child.case.schema.columns:
            name = column.name
            same = name not in child.unique and not _is_measure(child.case, column)
            if same and child.case.pooled(name).family == family:
                yield Relation(parent.name, (key,), child.name, (name,))


def _overlap(relation: Relation, tables: Mapping[str, Any], missing: Sequence[str]) -> tuple[bool, float]:
    """Return whether a child key bears the name of a key, and the part of both sides' keys that the other has."""
    facts = _key_facts(relation, tables, missing)
    share = _found_of(facts)
    reached = 1 - facts.childless / facts.n_parents
    return bool(_KEY_NAME.search(relation.child_key[0])), share * reached if share >= _NAMED_SHARE else 0.0


# ---------------------------------------------------------------- roles


def _with_roles(found: _Found, relations: Sequence[Relation]) -> Schema:
    primary = list(dict.fromkeys(c for r in relations if r.parent == found.name for c in r.parent_key))
    foreign = list(dict.fromkeys(c for r in relations if r.child == found.name for c in r.child_key))
    if not primary:
        named = [c for c in found.unique if _KEY_NAME.search(c) or found.case.schema[c].kind == "identifier"]
        primary = named[:1]
    sequence, order = _sequence(found, primary, foreign)
    static = _static(found, sequence, order)
    schema = found.case.schema.give_roles(
        primary=primary, foreign=foreign, sequence=sequence, order=order, static=static
    )
    if len(primary) != 1:
        return schema
    columns = (replace(c, kind="identifier", why=_key_why(c)) if c.name == primary[0] else c for c in schema.columns)
    return Schema(tuple(columns))


def _key_why(column: Column) -> str:
    return column.why if column.kind == "identifier" else "each row has a value of its own, and it names the row"


def _sequence(found: _Found, primary: Sequence[str], foreign: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the one column that names sequences and the one that orders them; none where there is a choice."""
    case = found.case
    columns = [c for c in case.schema.columns if c.name not in found.unique and not _is_measure(case, c)]
    orders = [
        c.name for c in (*columns, *(case.schema[u] for u in found.unique))
        if case.pooled(c.name).family in ("number", "datetime")
        and (c.kind == "datetime" or _ORDER_NAME.search(c.name))
        and c.name not in foreign
    ]  # fmt: skip
    keys = [
        c.name for c in columns
        if c.name not in orders
        and (c.name in foreign or c.kind in ("categorical", "identifier") or _KEY_NAME.search(c.name))
    ]  # fmt: skip
    pairs = [(k, o) for k in keys for o in orders if _names_rows(case, (k, o), present=k)]
    pairs = [p for p in pairs if case.schema[p[1]].kind == "datetime"] or pairs
    return ((pairs[0][0],), (pairs[0][1],)) if len(pairs) == 1 else ((), ())


def _static(found: _Found, sequence: Sequence[str], order: Sequence[str]) -> tuple[str, ...]:
    """Return the columns with one value per sequence."""
    if not sequence:
        return ()
    case = found.case
    key = case.codes(sequence[0], binned=False)[0]
    n_keys = len(np.unique(key))

    def constant(column: str) -> bool:
        codes = [key, case.codes(column, binned=False)[0]]
        sizes = [case.n_codes(c, binned=False) for c in (sequence[0], column)]
        return len(np.unique(joint([codes], sizes)[0][0])) == n_keys

    rest = [c.name for c in case.schema.columns if c.name not in (*sequence, *order) and c.kind != "constant"]
    return tuple(c for c in rest if constant(c))
