"""Constraints on the keys of several tables."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from divulge.measures.rules import parent_rows_of, root_rows
from divulge.sdmetrics.constraints.base import (
    Constraint,
    ConstraintNotApplicableError,
    Mask,
    Tables,
    are_texts,
    code_columns,
    codes,
    isin,
)

__all__ = [
    "ForeignToForeignKey",
    "ForeignToPrimaryKeySubset",
    "PolymorphicRelationship",
    "PrimaryToPrimaryKeySubset",
    "SelfReferentialHierarchy",
]


class ForeignToForeignKey(Constraint):
    """Foreign keys of several tables take their values from one set: with "reuse", from the real keys."""

    def __init__(self, columns: list[dict[str, Any]], foreign_key_generation: str = "new") -> None:
        if not isinstance(columns, list):
            raise ValueError("columns must be a list of dictionaries")
        self.parts = [_foreign_key(entry) for entry in columns]
        for table, names in self.parts:
            if len(names) != len(self.parts[0][1]):
                raise ValueError(
                    "All foreign key entries must have the same number of columns. "
                    f"Entry for table '{table}' has {len(names)} columns, expected {len(self.parts[0][1])}."
                )
        if self.parts and not isinstance(foreign_key_generation, str):
            raise ValueError("`foreign_key_generation` must be a string.")
        if self.parts and foreign_key_generation not in ("new", "reuse"):
            raise ValueError(
                f"Unrecognized `foreign_key_generation` value '{foreign_key_generation}'. Must be one of ['new', "
                "'reuse']."
            )
        self.reuse = foreign_key_generation == "reuse"

    def check(self, data: Tables) -> None:
        """See `Constraint.check`."""
        for table, names in self.parts:
            data.check(table, names)

    def valid(self, data: Tables, real: Tables | None) -> dict[str, Mask]:
        """See `Constraint.valid`; a key of which all parts are missing is valid."""
        found = {table: data.valid(table) for table, _ in self.parts}
        if not self.reuse:
            return found
        if real is None:
            raise ConstraintNotApplicableError("ForeignToForeignKey constraint must be called with ``fit`` first.")
        sides = [[side.columns(table, names) for table, names in self.parts] for side in (real, data)]
        numbers = codes(*sides[0], *sides[1])
        known = np.concatenate(numbers[: len(self.parts)]) if self.parts else np.empty(0, dtype=np.int64)
        for (table, _), own, columns in zip(self.parts, numbers[len(self.parts) :], sides[1], strict=True):
            found[table] &= np.isin(own, known) | np.all([c.missing for c in columns], axis=0)
        return found


def _foreign_key(entry: Any) -> tuple[str, list[str]]:
    if not isinstance(entry, dict):
        raise ValueError("Each entry in columns must be a dictionary")
    if not isinstance(entry.get("table_name"), str):
        raise ValueError("Each dictionary must have a 'table_name' key with a string value")
    if "foreign_key" not in entry:
        raise ValueError("Each dictionary must have a 'foreign_key' key")
    key = entry["foreign_key"]
    if isinstance(key, str):
        return entry["table_name"], [key]
    if isinstance(key, tuple) and all(isinstance(name, str) for name in key):
        return entry["table_name"], list(key)
    raise ValueError("'foreign_key' must be a string or a tuple of strings")


class ForeignToPrimaryKeySubset(Constraint):
    """A foreign key names a parent whose column has one of some values."""

    def __init__(
        self,
        parent_table_name: str,
        child_table_name: str,
        child_foreign_key: str | list[str],
        conditional_column_name: str,
        conditional_values: list[Any],
    ) -> None:
        if not isinstance(parent_table_name, str):
            raise TypeError("`parent_table_name` must be a string.")
        if not isinstance(child_table_name, str):
            raise TypeError("`child_table_name` must be a string.")
        self.key = _one_key(child_foreign_key, "child_foreign_key")
        if not isinstance(conditional_column_name, str):
            raise TypeError("`conditional_column_name` must be a string.")
        if not isinstance(conditional_values, list):
            raise TypeError("`conditional_values` must be a list.")
        self.parent, self.child = parent_table_name, child_table_name
        self.column, self.values = conditional_column_name, conditional_values

    def check(self, data: Tables) -> None:
        """See `Constraint.check`."""
        data.check(self.parent, [self.column])
        data.check(self.child, [self.key])
        data.check(self.parent, [data.primary_key(self.parent)])

    def valid(self, data: Tables, real: Tables | None) -> dict[str, Mask]:
        """See `Constraint.valid`.

        As released, keys without a parent are valid where each parent that has a child has one of the values, and else
        invalid.
        """
        above, below = code_columns(
            *data.columns(self.parent, [data.primary_key(self.parent)]), *data.columns(self.child, [self.key])
        )
        named = np.isin(above, below)
        allowed = isin(data.all[self.parent][self.column], self.values)
        if allowed[named].all():
            return {self.child: data.valid(self.child)}
        return {self.child: np.isin(below, above[named & allowed])}


def _one_key(key: Any, name: str) -> str:
    """Return the name of the one column of a key; SDMetrics fails on keys of several columns."""
    if isinstance(key, str):
        return key
    if not are_texts(key):
        raise TypeError(f"`{name}` must be a string or a list of strings.")
    if len(key) != 1:
        raise TypeError(f"`{name}` has {len(key)} columns. hint: a key of this constraint is one column.")
    return str(key[0])


class PrimaryToPrimaryKeySubset(Constraint):
    """The primary keys of tables are those of rows of a main table with some values."""

    def __init__(self, main_table_name: str, conditional_column_name: str, relationships: dict[str, list[Any]]) -> None:
        if not are_texts([main_table_name, conditional_column_name]):
            raise ValueError("`main_table_name` and `conditional_column_name` must be strings")
        if not isinstance(relationships, dict) or not all(
            isinstance(name, str) and isinstance(values, list) for name, values in relationships.items()
        ):
            raise ValueError(
                "`relationships` must be a a dict that maps the name of the connected table to a list of values that "
                "are acceptable for a connection to be made."
            )
        self.main, self.column, self.tables = main_table_name, conditional_column_name, relationships

    def check(self, data: Tables) -> None:
        """See `Constraint.check`."""
        data.check(self.main, [])
        data.check(self.main, [data.primary_key(self.main), self.column])
        for table in self.tables:
            data.check(table, [])
            data.check(table, [data.primary_key(table)])

    def valid(self, data: Tables, real: Tables | None) -> dict[str, Mask]:
        """See `Constraint.valid`.

        As released, a key that occurs twice among the valid ones of the main table moves the rows behind it: a row is
        valid where the row before it in this order is.
        """
        (main,) = data.columns(self.main, [data.primary_key(self.main)])
        found = {}
        for table, values in self.tables.items():
            allowed = isin(data.all[self.main][self.column], values)
            keys, own = code_columns(main, *data.columns(table, [data.primary_key(table)]))
            n_times = np.bincount(keys[allowed], minlength=int(max(keys.max(initial=0), own.max(initial=0))) + 1)[own]
            found[table] = np.repeat(n_times > 0, np.maximum(n_times, 1))[: len(own)]
        return found


class PolymorphicRelationship(Constraint):
    """A foreign key names a row of one of several parent tables: the one that a type says, or any."""

    def __init__(
        self,
        table_name: str,
        foreign_key: str | list[str],
        parent_table_names: list[str],
        type_column_name: str | None = None,
        type_value_to_table: dict[Any, str] | None = None,
    ) -> None:
        if not isinstance(table_name, str):
            raise TypeError("`table_name` must be a string.")
        self.key = _one_key(foreign_key, "foreign_key")
        if not are_texts(parent_table_names):
            raise TypeError("`parent_table_names` must be a list of strings.")
        if table_name in parent_table_names:
            raise ConstraintNotApplicableError(f"Table name '{table_name}' cannot also be in `parent_table_names`.")
        if type_column_name is not None and not isinstance(type_column_name, str):
            raise TypeError("`type_column_name` must be a string or None.")
        if type_column_name == self.key:
            raise ValueError("`foreign_key` and `type_column_name` must be different columns.")
        _check_types(type_value_to_table, parent_table_names)
        self.table, self.parents, self.type = table_name, parent_table_names, type_column_name
        named = type_value_to_table if type_value_to_table is not None else {p: p for p in parent_table_names}
        self.types = {p: [value for value, parent in named.items() if parent == p] for p in parent_table_names}

    def check(self, data: Tables) -> None:
        """See `Constraint.check`."""
        data.check(self.table, [self.key, *([self.type] if self.type is not None else [])])
        for parent in self.parents:
            data.check(parent, [])
            data.check(parent, [data.primary_key(parent)])

    def valid(self, data: Tables, real: Tables | None) -> dict[str, Mask]:
        """See `Constraint.valid`; a missing key is valid."""
        (column,) = data.columns(self.table, [self.key])
        parents = [data.columns(p, [data.primary_key(p)])[0] for p in self.parents]
        keys, *above = code_columns(column, *parents)
        if self.type is None:
            return self._by_key(data, keys, dict(zip(self.parents, above, strict=True)))
        (of,) = data.columns(self.table, [self.type])
        found = np.zeros(len(keys), dtype=bool)
        for parent, own in zip(self.parents, above, strict=True):
            named = isin(of, self.types[parent])
            found |= named & np.isin(keys, own)
            found |= named & column.missing
        return {self.table: found | (column.missing & of.missing)}

    def _by_key(self, data: Tables, keys: Any, above: dict[str, Any]) -> dict[str, Mask]:
        """Return the rows whose key some parent has, and those of parents whose key no earlier parent has."""
        missing = data.columns(self.table, [self.key])[0].missing
        found = {parent: data.valid(parent) for parent in above}
        for one, other in combinations(above, 2):
            found[other] &= ~np.isin(above[other], above[one])
        own = missing | np.isin(keys, np.concatenate([*above.values(), np.empty(0, dtype=np.int64)]))
        return {self.table: own, **found}


def _check_types(given: Any, parents: list[str]) -> None:
    if given is None:
        return
    if not isinstance(given, dict):
        raise TypeError("`type_value_to_table` must be a dict or `None`.")
    extra, missing = (
        sorted(map(str, s)) for s in (set(given.values()) - set(parents), set(parents) - set(given.values()))
    )
    if extra:
        quoted = "', '".join(extra)
        raise ValueError(f"Table(s) '{quoted}' in `type_values_to_table` not found in `parent_table_names` list.")
    if missing:
        quoted = "', '".join(missing)
        raise ValueError(
            f"Table(s) '{quoted}' in `parent_table_names` do not have any type value associated with them in "
            "`type_values_to_table`."
        )


class SelfReferentialHierarchy(Constraint):
    """Each row of a table is named once and leads to a root; its grandparent and root are as stated."""

    def __init__(
        self,
        table_name: str,
        base_column_name: str,
        parent_column_name: str,
        grandparent_column_name: str | None = None,
        root_column_name: str | None = None,
        scaling_method: str = "branch",
    ) -> None:
        if not are_texts([table_name, base_column_name, parent_column_name]):
            raise TypeError("The `table_name`, `base_column_name` and `parent_column_name` must be all be strings.")
        if not all(name is None or isinstance(name, str) for name in (grandparent_column_name, root_column_name)):
            raise TypeError("The `grandparent_column_name` and `root_column_name` must be all be strings or `None`.")
        if base_column_name == parent_column_name:
            raise ValueError("The `base_column_name` and `parent_column_name` must be different columns.")
        if scaling_method not in ("branch", "depth", "multiply"):
            raise ValueError(
                f"Unrecognized scaling_method '{scaling_method}'. The scaling method must be one of 'branch', 'depth' "
                "or 'multiply'."
            )
        self.table, self.base, self.parent = table_name, base_column_name, parent_column_name
        self.grandparent, self.root = grandparent_column_name or None, root_column_name or None

    def check(self, data: Tables) -> None:
        """See `Constraint.check`."""
        data.check(self.table, [n for n in (self.base, self.parent, self.grandparent, self.root) if n])

    def valid(self, data: Tables, real: Tables | None) -> dict[str, Mask]:
        """See `Constraint.valid`; the column of the root of a row that is a root itself is not looked at."""
        names = [self.base, self.parent, self.grandparent or self.base, self.root or self.base]
        base, parent, grandparent, root = code_columns(*data.columns(self.table, names))
        above = parent_rows_of(base, parent)
        ends = root_rows(above)
        first = np.zeros(len(base), dtype=bool)
        first[np.unique(base, return_index=True)[1]] = True
        found = first & (base > 0) & (ends >= 0)
        rows = np.arange(len(base))
        if self.grandparent:
            below_root = (above < 0) | (above == rows) | (above[above] == above)
            found &= np.where(below_root, 0, parent[above]) == grandparent
        if self.root:
            of_end = np.where(above[ends] < 0, parent[ends], base[ends])
            is_root = above == rows
            found &= is_root | ((of_end == root) & (root > 0) & (ends >= 0))
        return {self.table: found}
