"""Several tables, or one of sequences, as `Linked`: schema inferred, keys ignored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from divulge.case.case import Case, build_case
from divulge.case.encoded import ROLES
from divulge.case.relational.inferred import infer_relational
from divulge.case.relational.linked import Linked, build_linked
from divulge.core.errors import SettingError
from divulge.core.relations import RelationalSchema
from divulge.core.schema import Schema, check_columns, column_names
from divulge.tables.opening import opened

__all__ = ["ALONE", "case_of_families", "linked_tables", "table_case"]

ALONE = "table"
"""Name of a table that has none."""
_FAMILY = "family of the row"
_KEYS = ("primary", "foreign", "sequence")
_OF_SEQUENCES = ("sequence", "order", "static")


def linked_tables(
    real: Any,
    synthetic: Any,
    holdout: Any = None,
    *,
    schema: RelationalSchema | Schema | None = None,
    sequence_key: Any = None,
    sequence_index: Any = None,
    missing: Sequence[str] = (),
    seed: int = 0,
    level: float = 0.95,
) -> Linked:
    """Return the tables of each side with the relations and sequences that the schema says, or the real tables suggest.

    Parameters
    ----------
    real, synthetic, holdout
        Dictionaries of tables, or one table each.
    schema
        What it does not describe is inferred; its relations stand in place of inferred ones.
    sequence_key, sequence_index
        Where each side is one table: the columns that name the sequence of a row, and those that order its rows.
    missing
        Texts that stand for missing.
    seed, level
        Of draws and of intervals.

    Raises
    ------
    SettingError
        One side is several tables and another is one; a table is not on all sides; a key is named for several tables.
    FrameError, TableError, ColumnError
        A table cannot be read, or a column is unknown.
    """
    sides = {"real": real, "synthetic": synthetic} | ({} if holdout is None else {"holdout": holdout})
    several = [isinstance(side, Mapping) for side in sides.values()]
    if any(several) and not all(several):
        one = next(role for role, is_several in zip(sides, several, strict=True) if not is_several)
        raise SettingError(
            f"{one}: this is one table, and another side is a dictionary of them. hint: pass {{name: table}} for each."
        )
    if all(several) and (sequence_key is not None or sequence_index is not None):
        raise SettingError(
            "sequence_key: there are several tables. hint: give columns the roles 'sequence' and 'order' in the schema."
        )
    tables = {
        role: {str(name): opened(table, f"{role} table {str(name)!r}" if all(several) else role, tuple(missing))
               for name, table in (side if all(several) else {ALONE: side}).items()}
        for role, side in sides.items()
    }  # fmt: skip
    if not tables["real"]:
        raise SettingError("real: the dictionary has no table. hint: pass {name: table}.")
    found = infer_relational(tables["real"], missing=missing)
    if schema is not None:
        found = found.override(RelationalSchema({ALONE: schema}) if isinstance(schema, Schema) else schema)
    if sequence_key is not None or sequence_index is not None:
        found = _with_sequences(found, sequence_key, sequence_index)
    return build_linked(
        tables["real"], tables["synthetic"], tables.get("holdout"), schema=_keys_ignored(found), missing=missing,
        seed=seed, level=level,
    )  # fmt: skip


def _with_sequences(schema: RelationalSchema, key: Any, index: Any) -> RelationalSchema:
    """Return the schema of one table with the columns of its sequences."""
    if key is None:
        raise SettingError(
            "sequence_index: no sequence_key is named. hint: name the column that tells sequences apart."
        )
    own = schema[ALONE]
    roles = {"sequence": list(column_names("sequence_key", key))}
    roles |= {} if index is None else {"order": list(column_names("sequence_index", index))}
    known = [c.name for c in own.columns]
    for option, names in roles.items():
        check_columns(f"sequence_{'key' if option == 'sequence' else 'index'}", names, known)
    taken = _OF_SEQUENCES if index is not None else ("sequence", "static")
    bare = Schema(tuple(replace(c, roles=tuple(r for r in c.roles if r not in taken)) for c in own.columns))
    return RelationalSchema({ALONE: bare.give_roles(**roles)}, schema.relations, schema.rules)


def _keys_ignored(schema: RelationalSchema) -> RelationalSchema:
    """Return the schema in which keys are not compared: those of synthetic tables are new."""
    keys: dict[str, set[str]] = {name: set() for name in schema.tables}
    for relation in schema.relations:
        keys[relation.parent] |= set(relation.parent_key)
        keys[relation.child] |= set(relation.child_key)
    tables = {}
    for name, own in schema.tables.items():
        ignored = {*keys[name], *(c.name for c in own.columns if {*_KEYS} & {*c.roles})}
        tables[name] = own.give_roles(ignore=sorted(ignored))
    return RelationalSchema(tables, schema.relations, schema.rules)


def table_case(linked: Linked, table: str) -> Case:
    """Return one table as a case whose units are families, so that measures of one table deal them whole."""
    schema = linked.case(table).schema
    return case_of_families(linked, table, [linked.frame(table, role) for role in linked.roles], schema)


def case_of_families(linked: Linked, table: str, frames: Sequence[pl.DataFrame], schema: Schema) -> Case:
    """Return a case of frames whose rows are those of a table in each role; its units are the families of the rows."""
    case, unit = linked.case(table), None
    own = [_family_of_rows(linked, table, role) for role in linked.roles]
    if any(family is not None for family in own):
        unit = _FAMILY
        while unit in frames[0].columns:
            unit += "_"
        frames = [f.with_columns(pl.Series(unit, family)) for f, family in zip(frames, own, strict=True)]
    return build_case(
        *frames, schema=schema, unit=unit, missing=case.missing, seed=case.seed, level=case.level
    )  # fmt: skip


def _family_of_rows(linked: Linked, table: str, role: str) -> NDArray[np.int64] | None:
    """Return a number for the family of each row; None where each row is its own."""
    root, rows = linked.root_rows(table, role)
    keys = linked.case(root).schema.with_role("sequence")
    if root == table and not keys:
        return None
    family = np.arange(linked.n_rows(root, role))
    if keys:
        codes = np.stack([linked.case(root).codes(k, binned=False)[ROLES.index(role)] for k in keys])
        family = np.unique(codes, axis=1, return_inverse=True)[1].ravel()
        lost = (codes == 0).any(axis=0)
        family[lost] = len(family) + np.arange(int(lost.sum()))
    return np.where(rows >= 0, np.append(family, 0)[rows], -1 - np.arange(len(rows)))
