"""Tables and the relations between them: `[[relation]]` in divulge's TOML, and what SDV's metadata say of them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from divulge.core.errors import SettingError, escaped
from divulge.core.limits import Rule, rules_from
from divulge.core.schema import Column, Schema, column_from, no_such, schema_from_sdv

__all__ = ["Relation", "RelationalSchema", "relational_from_sdv", "relational_from_toml"]

_ENTRIES = ("parent", "parent_key", "child", "child_key")
_KNOWN = ("table", "relation", "rule")
_FORM = (
    'a relation looks like [[relation]] parent = "users", parent_key = ["uid"], child = "orders", child_key = ["uid"]'
)


@dataclass(frozen=True, slots=True)
class Relation:
    """The key columns of a child table name a row of a parent table."""

    parent: str
    parent_key: tuple[str, ...]
    child: str
    child_key: tuple[str, ...]
    why: str = field(default="", compare=False)

    def __str__(self) -> str:
        return f"{self.child} ({', '.join(self.child_key)}) -> {self.parent} ({', '.join(self.parent_key)})"

    def to_toml(self) -> str:
        """Return the relation as TOML.

        Examples
        --------
        >>> print(Relation("users", ("uid",), "orders", ("uid",)).to_toml())
        [[relation]]
        parent = "users"
        parent_key = ["uid"]
        child = "orders"
        child_key = ["uid"]
        <BLANKLINE>
        """
        import json

        parts = {e: getattr(self, e) for e in _ENTRIES} | ({"why": self.why} if self.why else {})
        # a JSON string is a TOML string, but for the character DEL
        told = {e: json.dumps(list(v) if isinstance(v, tuple) else v, ensure_ascii=False) for e, v in parts.items()}
        lines = [f"{e} = {text}".replace("\x7f", "\\u007f") for e, text in told.items()]
        return "\n".join(["[[relation]]", *lines, ""])


@dataclass(frozen=True, slots=True)
class RelationalSchema:
    """The schema of each table by name, and the relations between the tables."""

    tables: dict[str, Schema]
    relations: tuple[Relation, ...] = ()
    rules: tuple[Rule, ...] = ()

    def __post_init__(self) -> None:
        seen: set[Relation] = set()
        for relation in self.relations:
            _check_relation(relation, self.tables)
            if relation in seen:
                raise SettingError(f"relations: {_told(relation)} stands there twice. hint: keep one.")
            seen.add(relation)

    def __getitem__(self, table: str) -> Schema:
        if table not in self.tables:
            raise SettingError(no_such("schema", "table", table, list(self.tables)))
        return self.tables[table]

    def parents(self, table: str) -> tuple[Relation, ...]:
        """Return the relations that lead from a table to its parents."""
        return tuple(r for r in self.relations if r.child == table)

    def children(self, table: str) -> tuple[Relation, ...]:
        """Return the relations that lead to a table from its children."""
        return tuple(r for r in self.relations if r.parent == table)

    def people(self, unit: str | None = None) -> str:
        """Return the name of the table that has one row for each person: `unit`, or the only one above all others.

        Raises
        ------
        SettingError
            No table has this name, or several tables, or none, stand above the others.

        Examples
        --------
        >>> tables = {name: Schema((Column("id", "identifier"),)) for name in ("orders", "users")}
        >>> RelationalSchema(tables, (Relation("users", ("id",), "orders", ("id",)),)).people()
        'users'
        """
        if unit is not None:
            if unit not in self.tables:
                raise SettingError(no_such("unit", "table", unit, list(self.tables)))
            return unit
        above = [
            name
            for name in self.tables
            if any(r.child != name for r in self.children(name)) and all(r.parent == name for r in self.parents(name))
        ]
        if len(above) == 1:
            return above[0]
        found = f"{', '.join(map(repr, above))} have no parent" if above else "no table is a parent and has none"
        raise SettingError(
            f"unit: which table has one row for each person? {found}. hint: name that table as the unit (--unit)."
        )

    def paths(self, table: str, people: str) -> tuple[tuple[Relation, ...], ...]:
        """Return the ways from a table up to that of the people, each from the child upwards; none repeats a table.

        One way: each row belongs to one person. Several: a row may belong to several. None: the rows are nobody's own.

        Examples
        --------
        >>> tables = {name: Schema((Column("id", "identifier"),)) for name in ("items", "orders", "users")}
        >>> pairs = (("users", "orders"), ("orders", "items"))
        >>> schema = RelationalSchema(tables, tuple(Relation(p, ("id",), c, ("id",)) for p, c in pairs))
        >>> [[r.parent for r in path] for path in schema.paths("items", "users")]
        [['orders', 'users']]
        """

        def ways(at: str, passed: tuple[str, ...]) -> list[tuple[Relation, ...]]:
            found: list[tuple[Relation, ...]] = []
            for relation in self.parents(at):
                if relation.parent == people:
                    found.append((relation,))
                elif relation.parent not in passed:
                    found += [(relation, *rest) for rest in ways(relation.parent, (*passed, relation.parent))]
            return found

        return tuple(ways(table, (table,))) if table != people else ()

    def override(self, other: RelationalSchema) -> RelationalSchema:
        """Return this schema with what `other` says: its columns, and its relations in place of the proposed ones.

        Raises
        ------
        SettingError, ColumnError
            `other` names a table or a column that is not here.
        """
        for name in other.tables:
            if name not in self.tables:
                raise SettingError(no_such("schema", "table", name, list(self.tables)))
        tables = {n: s.override(other.tables[n]) if n in other.tables else s for n, s in self.tables.items()}
        return RelationalSchema(tables, other.relations, other.rules or self.rules)

    def to_toml(self) -> str:
        """Return the tables and relations as TOML to edit and pass back."""
        import tomli_w

        bodies = {name: {"column": schema.columns_as_entries()} for name, schema in self.tables.items()}
        rules = {"rule": [rule.entries() for rule in self.rules]} if self.rules else {}
        relations = [r.to_toml() for r in self.relations]
        return escaped("\n".join([*relations, tomli_w.dumps({"table": bodies, **rules})]))


def _told(relation: Relation) -> str:
    return f"{relation.child!r} ({_keys(relation.child_key)}) -> {relation.parent!r} ({_keys(relation.parent_key)})"


def _keys(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))


def _check_relation(relation: Relation, tables: Mapping[str, Schema]) -> None:
    sides = (("parent", relation.parent, relation.parent_key), ("child", relation.child, relation.child_key))
    for side, table, key in sides:
        if table not in tables:
            raise SettingError(no_such(f"relations: {side}", "table", table, list(tables)))
        known = [c.name for c in tables[table].columns]
        for name in key:
            if name not in known:
                raise SettingError(no_such(f"relations: {side}_key of {table!r}", "column", name, known))
        if not key or len(set(key)) < len(key):
            raise SettingError(
                f"relations: {_told(relation)}: a key names one or more different columns. hint: {_FORM}."
            )
    if len(relation.parent_key) != len(relation.child_key):
        raise SettingError(
            f"relations: {_told(relation)}: key columns: {len(relation.parent_key)} in the parent and "
            f"{len(relation.child_key)} in the child. hint: name the columns in pairs, in one order."
        )
    if relation.parent == relation.child and relation.parent_key == relation.child_key:
        raise SettingError(
            f"relations: {_told(relation)}: a key that names itself. hint: the child_key holds the parent's number."
        )


# ---------------------------------------------------------------- TOML


def relational_from_toml(text: str, source: str = "schema") -> RelationalSchema:
    r"""Return the tables and relations that a TOML text describes: [table.NAME.column.COLUMN], [[relation]], [[rule]].

    Raises
    ------
    SettingError
        The text is not TOML, has an unknown entry, or a relation names what is not there.

    Examples
    --------
    >>> text = '[table.a.column.x]\nkind = "numeric"\n[table.b.column.y]\nkind = "numeric"\n[[relation]]\n'
    >>> text += 'parent = "a"\nparent_key = "x"\nchild = "b"\nchild_key = "y"'
    >>> print(relational_from_toml(text).relations[0])
    b (y) -> a (x)
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingError(
            f"{source}: not TOML: {error}. hint: `divulge schema --tables FOLDER` writes one to start from."
        ) from None
    tables = data.get("table")
    if not isinstance(tables, dict) or not tables:
        found = " It describes one table." if "columns" in data else ""
        raise SettingError(
            f"{source}: no [table.NAME.column.COLUMN] entries.{found} hint: `divulge schema --tables FOLDER` shows the "
            "form."
        )
    for name in data:
        if name not in _KNOWN:
            raise SettingError(f"{source}: unknown entry {name!r}. hint: {_near(name, _KNOWN)}.")
    relations = data.get("relation", [])
    if not isinstance(relations, list):
        raise SettingError(f"{source}: relation is no list. hint: write it with two brackets: {_FORM}.")
    return RelationalSchema(
        {name: _table_from(name, entry, source) for name, entry in tables.items()},
        tuple(_relation_from(entry, source) for entry in relations),
        rules_from(data, source),
    )


def _near(name: str, known: Sequence[str]) -> str:
    import difflib

    near = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"


def _table_from(name: str, entry: Any, source: str) -> Schema:
    columns = entry.get("column") if isinstance(entry, dict) else None
    if not isinstance(columns, dict) or set(entry) != {"column"}:
        raise SettingError(
            f"{source}: table {name!r}: expected columns. hint: [table.NAME.column.COLUMN] and nothing else."
        )
    return Schema(tuple(column_from(c, e, f"{source}: table {name!r}") for c, e in columns.items()))


def _relation_from(entry: Any, source: str) -> Relation:
    if not isinstance(entry, dict):
        raise SettingError(f"{source}: relation: expected {', '.join(_ENTRIES)}. hint: {_FORM}.")
    for name in entry:
        if name not in (*_ENTRIES, "why"):
            raise SettingError(f"{source}: relation: unknown entry {name!r}. hint: {_near(name, _ENTRIES)}.")
    for name in _ENTRIES:
        if name not in entry:
            raise SettingError(f"{source}: relation: no {name}. hint: {_FORM}.")
    parent, child = (_text(entry[e], e, source) for e in ("parent", "child"))
    parent_key, child_key = (_key_from(entry[e], e, source) for e in ("parent_key", "child_key"))
    return Relation(parent, parent_key, child, child_key, str(entry.get("why", "")))


def _text(value: Any, entry: str, source: str) -> str:
    if not isinstance(value, str):
        raise SettingError(f"{source}: relation: {entry} is no text. hint: {_FORM}.")
    return value


def _key_from(value: Any, entry: str, source: str) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, list | tuple) or not all(isinstance(v, str) for v in value):
        raise SettingError(f"{source}: relation: {entry} is no list of column names. hint: {_FORM}.")
    return tuple(value)


# ---------------------------------------------------------------- SDV


_SDV_RELATION = {
    "parent": "parent_table_name",
    "parent_key": "parent_primary_key",
    "child": "child_table_name",
    "child_key": "child_foreign_key",
}


def relational_from_sdv(metadata: Any, source: str = "metadata") -> RelationalSchema:
    """Return the tables and relations of SDV metadata: V1 of one or several tables, V2, `Metadata.to_dict()`.

    Metadata of one table give one table, called "table". Keys of relations, sequence keys and sequence indices become
    roles of their columns. Value lists and ranges, which V2 may contain, are not read: they are real data.

    Raises
    ------
    SettingError
        The dictionary has none of these forms, or a key or a relation names what is not there.

    Examples
    --------
    >>> metadata = {"tables": {"users": {"columns": {"uid": {"sdtype": "id"}}, "primary_key": "uid"}}}
    >>> relational_from_sdv(metadata)["users"]["uid"].roles
    ('primary',)
    """
    if not isinstance(metadata, Mapping) and callable(getattr(metadata, "to_dict", None)):
        metadata = metadata.to_dict()
    if not isinstance(metadata, Mapping):
        raise SettingError(f"{source}: SDV metadata must be a JSON object. hint: pass the metadata of SDV, V1 or V2.")
    tables = metadata.get("tables", {"table": metadata})
    if not isinstance(tables, Mapping) or not tables:
        raise SettingError(f'{source}: "tables" has no table. hint: pass the metadata of SDV, V1 or V2.')
    listed = metadata.get("relationships") or []
    if not isinstance(listed, list | tuple):
        raise SettingError(f'{source}: "relationships" is no list. hint: pass the metadata of SDV, V1 or V2.')
    relations = tuple(_sdv_relation(entry, source) for entry in listed)
    schemas = {str(name): _sdv_table(str(name), entry, source) for name, entry in tables.items()}
    found = RelationalSchema(schemas, relations)
    foreign: dict[str, list[str]] = {}
    for r in relations:
        foreign.setdefault(r.child, []).extend(r.child_key)
    named = {name: schema.give_roles(foreign=foreign.get(name, ())) for name, schema in found.tables.items()}
    return RelationalSchema(named, relations)


def _sdv_relation(entry: Any, source: str) -> Relation:
    if not isinstance(entry, Mapping) or not set(_SDV_RELATION.values()) <= set(entry):
        raise SettingError(f"{source}: a relationship lacks a part. hint: it has {', '.join(_SDV_RELATION.values())}.")
    of = {ours: entry[theirs] for ours, theirs in _SDV_RELATION.items()}
    parent, child = (_text(of[e], _SDV_RELATION[e], source) for e in ("parent", "child"))
    parent_key, child_key = (_key_from(of[e], _SDV_RELATION[e], source) for e in ("parent_key", "child_key"))
    return Relation(parent, parent_key, child, child_key, "relationship of the SDV metadata")


def _sdv_table(name: str, entry: Any, source: str) -> Schema:
    where = f"{source}: table {name!r}"
    if isinstance(entry, Mapping) and "columns" not in entry and "fields" in entry:
        raise SettingError(
            f'{where}: "fields" and "ref" are the metadata of SDV before 1.0. hint: load it with `sdv.metadata` and '
            "write it anew."
        )
    keys = {**entry, "primary_key": None} if isinstance(entry, Mapping) else entry
    schema = schema_from_sdv(keys, where)
    columns = [c.name for c in schema.columns]
    roles = {
        "primary": _names_in(entry, "primary_key", where),
        "sequence": _names_in(entry, "sequence_key", where),
        "order": _names_in(entry, "sequence_index", where),
    }
    for role, names in roles.items():
        for column in names:
            if column not in columns:
                raise SettingError(no_such(f"{where}: {role} key", "column", column, columns))
    return Schema(tuple(_as_key(c, roles) for c in schema.give_roles(**roles).columns))


def _as_key(column: Column, roles: Mapping[str, Sequence[str]]) -> Column:
    """A primary key of one column names rows: it is an identifier, whatever type the metadata give it."""
    from dataclasses import replace

    if roles["primary"] == (column.name,):
        return replace(column, kind="identifier", why="primary key of the SDV metadata")
    return column


def _names_in(entry: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    found = entry.get(key)
    if found is None:
        return ()
    if isinstance(found, str):
        return (found,)
    if not isinstance(found, list | tuple) or not all(isinstance(name, str) for name in found):
        raise SettingError(f'{where}: "{key}" is neither a column name nor a list of them. hint: write the name.')
    return tuple(found)
