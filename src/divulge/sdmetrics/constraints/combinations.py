"""Constraints on values that occur together: those of the real table, or one value for each key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from divulge.measures.rules import carried_over, one_value_per_group
from divulge.sdmetrics.columns import Column
from divulge.sdmetrics.constraints.base import (
    Constraint,
    ConstraintNotApplicableError,
    Ints,
    Mask,
    Tables,
    are_texts,
    check_table,
    code_columns,
    codes,
)

__all__ = ["CarryOverColumns", "DenormalizedTable", "FixedCombinations", "FixedNullCombinations", "ReferenceTable"]

_CARRIED = ("table_name", "carryover_column_name", "key_column_name")


def known_in(real: Sequence[Column], synthetic: Sequence[Column]) -> Mask:
    """Return where a row of the synthetic columns is a row of the real ones."""
    ours, theirs = codes(real, synthetic)
    return np.isin(theirs, ours)


class FixedCombinations(Constraint):
    """The values of several columns occur together in the real table."""

    def __init__(self, column_names: list[str], table_name: str | None = None) -> None:
        check_table(table_name)
        if not are_texts(column_names):
            raise ValueError("The 'column_names' parameter must be a list of strings.")
        if len(column_names) < 2:
            raise ValueError("FixedCombinations constraint requires at least two columns.")
        self.table, self.names = str(table_name), column_names

    def check(self, data: Tables) -> None:
        """See `Constraint.check`."""
        data.check(self.table, self.names)

    def valid(self, data: Tables, real: Tables | None) -> dict[str, Mask]:
        """See `Constraint.valid`; a missing value is a value like any other."""
        fitted = _fitted(real, "FixedCombinations")
        sides = (side.columns(self.table, self.names) for side in (fitted, data))
        return {self.table: known_in(*sides)}


def _fitted(real: Tables | None, name: str) -> Tables:
    if real is None:
        raise ConstraintNotApplicableError(f"{name} constraint must be called with ``fit`` first.")
    return real


class FixedNullCombinations(Constraint):
    """The columns that are missing in a row are missing together in the real table, beside the same categories."""

    def __init__(
        self, column_names: list[str], table_name: str | None = None, fix_category_values: bool = True
    ) -> None:
        check_table(table_name)
        if not are_texts(column_names):
            raise ValueError("The 'column_names' parameter must be a list of strings.")
        if len(column_names) < 2:
            raise ValueError("FixedNullCombinations constraint requires at least two columns.")
        if not isinstance(fix_category_values, bool):
            raise ValueError("`fix_category_values` must be a boolean.")
        self.table, self.names, self.categories = str(table_name), column_names, fix_category_values

    def check(self, data: Tables) -> None:
        """See `Constraint.check`."""
        data.check(self.table, self.names)

    def valid(self, data: Tables, real: Tables | None) -> dict[str, Mask]:
        """See `Constraint.valid`.

        As released, each row is valid without the real table, and each row without a gap where the real table has no
        row and no categories are fixed.
        """
        if real is None:
            return {self.table: data.valid(self.table)}
        fixed = ("categorical", "boolean") if self.categories else ()
        kept = [name for name in self.names if real.entry(self.table, name).get("sdtype") in fixed]
        if not real.n_rows(self.table) and not kept:
            return {self.table: ~np.any([c.missing for c in data.columns(self.table, self.names)], axis=0)}
        sides = []
        for side in (real, data):
            gaps = [Column("b", c.missing) for c in side.columns(self.table, self.names)]
            sides.append([*gaps, *side.columns(self.table, kept)])
        return {self.table: known_in(*sides)}


class ReferenceTable(Constraint):
    """Each row of a table is a row of the real table."""

    def __init__(self, reference_table_names: list[str]) -> None:
        if not are_texts(reference_table_names):
            raise ValueError("'reference_table_names' must be a list of strings.")
        self.tables = reference_table_names

    def check(self, data: Tables) -> None:
        """See `Constraint.check`."""
        for table in self.tables:
            data.check(table, [])

    def valid(self, data: Tables, real: Tables | None) -> dict[str, Mask]:
        """See `Constraint.valid`."""
        fitted = _fitted(real, "ReferenceTable")
        for table in self.tables:
            if set(data.all[table]) != set(fitted.all[table]):
                raise ConstraintNotApplicableError(
                    f"The columns of the table '{table}' do not match the ones of the real data."
                )
        self._check_metadata(data.metadata)
        found = {}
        for table in dict.fromkeys(self.tables):
            names = list(fitted.all[table])
            sides = ([side.all[table][name] for name in names] for side in (fitted, data))
            found[table] = known_in(*sides) if names else data.valid(table)
        return found

    def _check_metadata(self, metadata: Mapping[str, Any]) -> None:
        missing = set(self.tables) - set(metadata.get("tables", {}))
        if missing:
            raise ConstraintNotApplicableError(f"Reference table(s) '{sorted(missing)}' missing from metadata.")
        pairs = {(r.get("child_table_name"), r.get("parent_table_name")) for r in metadata.get("relationships") or []}
        invalid = sorted((c, p) for c, p in pairs if c in self.tables and p not in self.tables)
        if invalid:
            raise ConstraintNotApplicableError(
                "Reference tables cannot be children of non-reference tables. The following child-parent pairs are "
                f"invalid: '{invalid}'"
            )


class DenormalizedTable(Constraint):
    """Rows with the same key have the same values in all columns that come from the parent table."""

    def __init__(
        self, table_name: str, denormalized_primary_key: str, denormalized_column_names: list[str] | None = None
    ) -> None:
        check_table(table_name)
        if not isinstance(denormalized_primary_key, str):
            raise ValueError("The 'denormalized_primary_key' parameter must be a string.")
        names = [] if denormalized_column_names is None else denormalized_column_names
        if not are_texts(names):
            raise ValueError("The 'denormalized_column_names' parameter must be a list of strings.")
        if denormalized_primary_key in names:
            raise ValueError(
                f"The column '{denormalized_primary_key}' cannot be both the 'denormalized_primary_key' and one of the "
                "'denormalized_column_names'."
            )
        self.table, self.key, self.names = table_name, denormalized_primary_key, names

    def check(self, data: Tables) -> None:
        """See `Constraint.check`."""
        data.check(self.table, [self.key, *self.names])

    def valid(self, data: Tables, real: Tables | None) -> dict[str, Mask]:
        """See `Constraint.valid`."""
        found = data.valid(self.table)
        (key,) = code_columns(*data.columns(self.table, [self.key]))
        for column in data.columns(self.table, self.names):
            found &= one_value_per_group(key, code_columns(column)[0])
        return {self.table: found}


class CarryOverColumns(Constraint):
    """Each key has one value, within a table and over all tables that carry it."""

    def __init__(self, common_column_info: list[dict[str, str]]) -> None:
        if not isinstance(common_column_info, list):
            raise TypeError("`common_column_info` must be a list.")
        for info in common_column_info:
            if not isinstance(info, dict):
                raise TypeError("Each element of `common_column_info` must be a dictionary.")
            if set(info) != set(_CARRIED):
                raise ValueError(
                    "Each element of `common_column_info` must have the keys 'table_name', 'carryover_column_name', "
                    "and 'key_column_name'."
                )
            if not all(isinstance(value, str) for value in info.values()):
                raise TypeError(
                    "The values of 'table_name', 'carryover_column_name', and 'key_column_name' in each element of "
                    "`common_column_info` must be strings."
                )
        self.parts = [(i["table_name"], i["key_column_name"], i["carryover_column_name"]) for i in common_column_info]

    def check(self, data: Tables) -> None:
        """See `Constraint.check`."""
        for table, key, value in self.parts:
            data.check(table, [key, value])

    def valid(self, data: Tables, real: Tables | None) -> dict[str, Mask]:
        """See `Constraint.valid`."""
        found = {table: data.valid(table) for table, _, _ in self.parts}
        keys, values = ([data.all[part[0]][part[i]] for part in self.parts] for i in (1, 2))
        own_keys, own_values = code_columns(*keys), code_columns(*values)
        across = carried_over(own_keys, own_values)
        for i, (table, _, _) in enumerate(self.parts):
            found[table] &= across[i] & _within(keys[i], own_keys[i], own_values[i])
        return found


def _within(column: Column, keys: Ints, values: Ints) -> Mask:
    """Return the rows whose key has one value in the table.

    As released, whole numbers from 0 to the number of rows less 1 as keys are taken for row numbers: the rows of these
    numbers are invalid in place of those with the key.
    """
    one = one_value_per_group(keys, values)
    own = column.values[~one]
    if own.dtype == object and all(type(key) is int for key in own.tolist()):
        own = own.astype(np.int64)
    if own.dtype.kind in "iuf" and len(own) and bool(((own >= 0) & (own < len(keys)) & (own == np.floor(own))).all()):
        found = np.ones(len(keys), dtype=bool)
        found[own.astype(np.int64)] = False
        return found
    return one
