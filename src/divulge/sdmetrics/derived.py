"""SDV metadata made from divulge's own schema, for tables that come without metadata."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from divulge.core.errors import SettingError
from divulge.core.limits import Limits, Rule
from divulge.core.relations import Relation, RelationalSchema
from divulge.core.schema import Column, Kind, Schema, no_such
from divulge.sdmetrics.constraints.adherence import CONSTRAINTS
from divulge.tables.column_families import as_family, settle, with_plain_digits
from divulge.tables.column_notes import check_form, check_kind, lost
from divulge.tables.frames import collect, plain, table_of

__all__ = ["TEXTS", "Columns", "Derived", "derived", "derived_columns", "of_schema"]

Columns = Mapping[str, pl.Series]
"""Columns of a table by name."""
Frames = dict[str, pl.DataFrame]
Derived = tuple[dict[str, Any], Frames, Frames]
"""Metadata, real and synthetic tables."""

_ALONE = "table"
_SDTYPES: dict[Kind, str] = {
    "numeric": "numerical",
    "datetime": "datetime",
    "categorical": "categorical",
    "integer-coded": "categorical",
    "boolean": "boolean",
    "identifier": "id",
    "text": "text",
    "constant": "categorical",  # the correlation with a constant is undefined
}
_FAMILIES = {"datetime": "datetime", "numerical": "number"}
_OF_TIME = (pl.Duration, pl.Time)
"""Types that are numbers, as in all of divulge: microseconds, or nanoseconds since midnight."""
TEXTS = (pl.String, pl.Categorical, pl.Enum)


def derived(schema: RelationalSchema, real: Mapping[str, pl.DataFrame], synthetic: Mapping[str, pl.DataFrame]
            ) -> Derived:  # fmt: skip
    """Return the metadata that a schema stands for, and the tables with dates and numbers in dtypes of their own.

    Parameters
    ----------
    schema
        Kinds and roles of the columns of each table, and relations.
    real, synthetic
        Tables by name; columns that only one of the schema and a table has stay as they are.

    Examples
    --------
    >>> table = pl.DataFrame({"age": [30, 41], "day": ["2020-01-02", "2020-01-03"]})
    >>> kinds = Schema((Column("age", "numeric"), Column("day", "datetime")))
    >>> metadata, real, _ = derived(RelationalSchema({"people": kinds}), {"people": table}, {"people": table})
    >>> metadata["tables"]["people"]["columns"]
    {'age': {'sdtype': 'numerical'}, 'day': {'sdtype': 'datetime'}}
    >>> str(real["people"]["day"].dtype)[:8]
    'Datetime'
    """
    sides = ({n: {s.name: s for s in t.get_columns()} for n, t in side.items()} for side in (real, synthetic))
    metadata, *columns = derived_columns(schema, *sides)
    ours = [
        {**side, **{n: pl.DataFrame(list(own[n].values())) for n in schema.tables}}
        for side, own in zip((real, synthetic), columns, strict=True)
    ]
    return metadata, ours[0], ours[1]


def derived_columns(
    schema: RelationalSchema, real: Mapping[str, Columns], synthetic: Mapping[str, Columns]
) -> tuple[dict[str, Any], Mapping[str, Columns], Mapping[str, Columns]]:
    """Return what `derived` does, of tables as columns by name; distinct values of a column will do.

    Parameters
    ----------
    schema, real, synthetic
        As in `derived`.

    Raises
    ------
    ColumnError
        Values cannot be read as the schema says.
    """
    tables: dict[str, Any] = {}
    ours, theirs = ({n: dict(side[n]) for n in schema.tables} for side in (real, synthetic))
    for name, own in schema.tables.items():
        entries = {}
        ids = _ids(name, own, schema.relations)
        for column in own.columns:
            sides = {"real": ours[name], "synthetic": theirs[name]}
            having = {role: side[column.name] for role, side in sides.items() if column.name in side}
            sdtype, read = ("id", []) if column.name in ids else _read(column, having)
            entries[column.name] = {"sdtype": sdtype, **_limits(column.limits, sdtype)}
            for role, values in zip(having, read, strict=False):
                sides[role][column.name] = values.alias(column.name)
        tables[name] = {"columns": entries, **_keys(own)}
    relations = [_relation(r) for r in schema.relations]
    found: dict[str, Any] = {"tables": tables, "relationships": relations}
    if schema.rules:
        found["constraints"] = [_constraint(rule, list(tables)) for rule in schema.rules]
    return found, ours, theirs


def _limits(limits: Limits, sdtype: str) -> dict[str, Any]:
    """Return what SDV calls the limits that a column of this type can have."""
    named = {
        "numerical": {"range_min": limits.low, "range_max": limits.high, "range_is_nullable": limits.missing},
        "categorical": {"range_values": limits.values, "range_is_nullable": limits.missing},
        "id": {"regex_format": limits.pattern},
    }
    named["boolean"], named["datetime"] = named["categorical"], {**named["numerical"], "datetime_format": limits.format}
    stated = {name: value for name, value in named.get(sdtype, {}).items() if value is not None}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in stated.items()}


def _constraint(rule: Rule, tables: Sequence[str]) -> dict[str, Any]:
    """Return a rule as SDV writes a constraint; where there is one table, it need not be named."""
    if rule.constraint not in CONSTRAINTS:
        raise SettingError(no_such("schema: a rule", "constraint", rule.constraint, sorted(CONSTRAINTS)))
    known = inspect.signature(CONSTRAINTS[rule.constraint].__init__).parameters
    alone = {"table_name": tables[0]} if len(tables) == 1 and "table_name" in known else {}
    return {"class_name": rule.constraint, "parameters": {**alone, **rule.parameters}}


def _ids(table: str, schema: Schema, relations: Sequence[Relation]) -> set[str]:
    """Return the columns that name rows or persons, or are to be left out; parts of a longer key keep their kind."""
    found = {name for role in ("sequence", "unit", "ignore") for name in schema.with_role(role)}
    keys = [schema.with_role("primary"), *(r.child_key for r in relations if r.child == table)]
    keys += [r.parent_key for r in relations if r.parent == table]
    return found | {key[0] for key in keys if len(key) == 1}


def _read(column: Column, given: Mapping[str, pl.Series]) -> tuple[str, list[pl.Series]]:
    """Return the sdtype of a column, and its values in the tables where they have to be read anew."""
    raw = [values.alias("") for values in given.values()]  # polars takes a name such as "^a$" for a pattern
    sdtype = _SDTYPES[column.kind]
    if sdtype == "datetime" and column.limits.format and not all(s.dtype.is_temporal() for s in raw):
        return sdtype, []  # the report reads the texts by their format
    is_date = sdtype == "datetime" and not all(s.dtype.is_temporal() for s in raw)
    if is_date or (sdtype == "numerical" and any(s.dtype in TEXTS for s in raw)):
        values = [with_plain_digits(plain(s)) for s in raw]
        settled = settle(values, said=column)
        clean = [settled.without_listed(s) for s in values]
        check_kind(f"column {column.name!r}", column, settled.family, clean)
        if settled.family != _FAMILIES[sdtype]:
            return "categorical", []
        read = [as_family(s, settled.family, False, settled.declared, settled.form(i)) for i, s in enumerate(clean)]
        unread = [c.filter(lost(c, s)) for c, s in zip(clean, read, strict=True)]
        for role, own, there in zip(given, unread, clean, strict=True):
            n = there.len() - there.null_count()
            check_form(f"{role}: column {column.name!r}", column, settled.family, own, own.len(), n)
        whole = all(s.null_count() == c.null_count() for s, c in zip(read, clean, strict=True))
        return (sdtype, read) if whole or is_date else ("categorical", [])
    raw, unread = [s if s.dtype not in _OF_TIME else plain(s) for s in raw], raw
    if sdtype == "numerical" and not all(s.dtype.is_numeric() for s in raw):
        return "categorical", []
    return sdtype, raw if sdtype == "numerical" and any(s.dtype in _OF_TIME for s in unread) else []


def _keys(schema: Schema) -> dict[str, Any]:
    primary, sequence, order = (list(schema.with_role(role)) for role in ("primary", "sequence", "order"))
    found: dict[str, Any] = {}
    if primary:
        found["primary_key"] = primary[0] if len(primary) == 1 else primary
    if sequence and order:
        found |= {"sequence_key": sequence[0], "sequence_index": order[0]}
    return found


def _relation(relation: Relation) -> dict[str, Any]:
    keys = (relation.parent_key, relation.child_key)
    above, below = (key[0] if len(key) == 1 else list(key) for key in keys)
    return {
        "parent_table_name": relation.parent,
        "parent_primary_key": above,
        "child_table_name": relation.child,
        "child_foreign_key": below,
    }


def of_schema(schema: Schema | RelationalSchema, real: Any, synthetic: Any) -> tuple[Frames, Frames, dict[str, Any]]:
    """Return tables of any kind as frames by name, and the metadata of a schema of one table or of several.

    Raises
    ------
    SettingError
        The schema is of one table and there are several, or the other way round, or a table is missing.
    """
    several = isinstance(real, Mapping), isinstance(synthetic, Mapping)
    if isinstance(schema, RelationalSchema) and list(schema.tables) == [_ALONE]:
        schema = replace(schema.tables[_ALONE], rules=schema.rules)
    if isinstance(schema, Schema):
        names = list(real) if several[0] else [_ALONE]
        if len(names) != 1:
            raise SettingError(
                f"The schema describes one table, and there are {len(names)}. hint: [table.NAME.column.COLUMN]."
            )
        schema = RelationalSchema({names[0]: schema}, (), schema.rules)
    if len(schema.tables) > 1 and not all(several):
        raise SettingError(f"The schema has {len(schema.tables)} tables. hint: give dictionaries of frames by name.")
    sides = []
    for side, role, given in zip((real, synthetic), ("real_data", "synthetic_data"), several, strict=True):
        tables = side if given else {next(iter(schema.tables)): side}
        for name in schema.tables:
            if name not in tables:
                raise SettingError(no_such(role, "table", name, list(map(str, tables))))
        sides.append({name: _frame(tables[name], f"{role}[{name!r}]") for name in schema.tables})
    metadata, *frames = derived(schema, sides[0], sides[1])
    return frames[0], frames[1], metadata


def _frame(frame: Any, role: str) -> pl.DataFrame:
    return collect(table_of(frame, role)).named()
