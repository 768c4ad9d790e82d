"""`Linked` holds several tables and their relations as integer arrays; no frame is joined."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from divulge.case.case import Case, build_case
from divulge.case.encoded import ROLES
from divulge.core.errors import SettingError, TableError
from divulge.core.relations import Relation, RelationalSchema
from divulge.core.schema import Schema, check_columns, no_such
from divulge.kernels.counts.contingency import joint
from divulge.kernels.relations import (
    MISSING,
    SequenceOrder,
    children_of,
    composed,
    order_of,
    parent_rows,
    repeated_keys,
)
from divulge.tables.frames import Table, collect, plain, table_of, without_codes
from divulge.tables.pooled_columns import pool

__all__ = ["KeyFacts", "Linked", "build_linked"]

Codes = NDArray[np.int32]
Rows = NDArray[np.int32]
Ints = NDArray[np.int64]
_T = TypeVar("_T")

_KEY = "key"
DEEPEST = 3
"""Most relations that a path goes up unless more are allowed."""


@dataclass(frozen=True, slots=True)
class KeyFacts:
    """Where the keys of one relation lead in the tables of one role."""

    n_parents: int
    n_children: int
    missing: int
    """Child rows without a key."""
    orphans: int
    """Child rows whose key no parent has."""
    repeated: int
    """Parent rows with the key of an earlier row: their children count for the earlier one."""
    childless: int
    """Parent rows without a child."""


class Linked:
    """Tables of up to three roles (real, synthetic, holdout) and the relations between them.

    Each array is computed once, when it is first asked for. Keys of real and synthetic tables are never compared:
    the keys of a synthetic table are new. Values of other columns are pooled over the roles, in one `Case` per table.

    Parameters
    ----------
    tables
        By name, the table of each role; all in memory.
    schema
        Columns and relations.
    missing
        Texts that stand for missing.
    """

    def __init__(
        self,
        tables: Mapping[str, tuple[Table, ...]],
        schema: RelationalSchema,
        missing: Sequence[str] = (),
        **settings: Any,
    ) -> None:
        self._tables, self.schema, self.missing, self._settings = dict(tables), schema, tuple(missing), settings
        self._kept: dict[Hashable, Any] = {}
        self._lock = threading.RLock()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the tables, in alphabetical order."""
        return tuple(sorted(self._tables))

    @property
    def relations(self) -> tuple[Relation, ...]:
        """The relations, in an order that does not depend on how they were listed."""
        return tuple(sorted(self.schema.relations, key=lambda r: (r.child, r.child_key, r.parent, r.parent_key)))

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles that the tables have."""
        return ROLES[: min(len(t) for t in self._tables.values())]

    def case(self, table: str) -> Case:
        """Return the `Case` of one table, with its values pooled over the roles."""
        self._check(table)
        own = self.schema.tables.get(table)
        return self.once(
            ("case", table),
            lambda: build_case(*_three(self._tables[table]), schema=own, missing=self.missing, **self._settings),
        )

    def frame(self, table: str, role: str) -> pl.DataFrame:
        """Return the rows of one table under the names of its columns."""
        return self._table(table, role).named()

    def n_rows(self, table: str, role: str) -> int:
        """Return the number of rows of one table."""
        return self._table(table, role).n_rows

    # ------------------------------------------------------------ relations

    def rows(self, relation: Relation, role: str) -> Rows:
        """Return the parent row of each child row.

        Returns
        -------
        ndarray
            Shape (n_children,): the first parent row with the key; -1 where the key, or a part of it, is missing; -2
            where no parent has it.
        """
        return self._linked(relation, role)[0]

    def children(self, relation: Relation, role: str) -> Ints:
        """Return the number of children of each parent row, shape (n_parents,)."""
        made = lambda: children_of(self.rows(relation, role), self.n_rows(relation.parent, role))  # noqa: E731
        return self.once(("children", relation, role), made)

    def repeats(self, relation: Relation, role: str) -> NDArray[np.bool_]:
        """Return which parent rows have the key of an earlier row, shape (n_parents,)."""
        return self._linked(relation, role)[1]

    def key_facts(self, relation: Relation, role: str) -> KeyFacts:
        """Return how many keys are missing, lead nowhere or repeat."""
        rows, repeated = self._linked(relation, role)
        return KeyFacts(
            n_parents=self.n_rows(relation.parent, role),
            n_children=len(rows),
            missing=int((rows == MISSING).sum()),
            orphans=int((rows < MISSING).sum()),
            repeated=int(repeated.sum()),
            childless=int((self.children(relation, role) == 0).sum()),
        )

    def ancestor_rows(self, path: Sequence[Relation], role: str, *, deepest: int = DEEPEST) -> Rows:
        """Return the ancestor row of each row of the lowest table, along relations from the child upwards.

        Raises
        ------
        SettingError
            The path is empty, too long, or a relation does not start where the one before it ends.
        """
        if not 0 < len(path) <= deepest:
            raise SettingError(f"path: {len(path)} relations; 1 to {deepest} are followed. hint: take a shorter path.")
        for lower, upper in pairwise(path):
            if lower.parent != upper.child:
                raise SettingError(
                    f"path: {lower.parent!r} is reached, and the next relation starts at {upper.child!r}. hint: list "
                    "the relations from the child upwards."
                )
        return composed([self.rows(r, role) for r in path])

    def gathered(
        self, path: Sequence[Relation], column: str, role: str, *, binned: bool = True, deepest: int = DEEPEST
    ) -> Codes:
        """Return an ancestor's codes as its descendants see them.

        Returns
        -------
        ndarray
            Shape (n_rows of the lowest table,): the code of the ancestor's value (0: the value is missing); -1 for a
            row without this ancestor.
        """
        rows = self.ancestor_rows(path, role, deepest=deepest)
        codes = self.case(path[-1].parent).codes(column, binned=binned)[ROLES.index(role)]
        return np.append(codes, np.int32(-1))[np.where(rows >= 0, rows, -1)]

    def root_rows(self, table: str, role: str) -> tuple[str, Rows]:
        """Return the table that a table's rows belong to in the end, and the row there of each of them.

        The way up takes the first relation of each table (in the order of `relations`) and ends at a table without
        parents; in a cycle, or at a self relation, it ends where it would come back.

        Returns
        -------
        root, rows
            The name of the root table; shape (n_rows,), below 0 for a row whose way up breaks off.
        """
        self._check(table)
        path: list[Relation] = []
        at, passed = table, {table}
        while up := next((r for r in self.relations if r.child == at and r.parent not in passed), None):
            path.append(up)
            at = up.parent
            passed.add(at)
        if not path:
            return table, np.arange(self.n_rows(table, role), dtype=np.int32)
        return at, composed([self.rows(r, role) for r in path])

    # ------------------------------------------------------------ sequences

    def order(self, table: str, role: str) -> SequenceOrder:
        """Return the rows of a table in the order of its sequences.

        The columns with the role `sequence` say which rows form a sequence, those with the role `order` how they
        follow each other. Rows without a sequence key are left out; rows with an equal index are counted.

        Raises
        ------
        SettingError
            No column has one of these roles: the order of the rows in the table is not taken for the order in time.
        """
        return self.once(("order", table, role), lambda: self._ordered(table, role))

    def _ordered(self, table: str, role: str) -> SequenceOrder:
        case, which = self.case(table), ROLES.index(role)
        keys, index = (case.schema.with_role(r) for r in ("sequence", "order"))
        for names, missing in ((keys, "sequence"), (index, "order")):
            if not names:
                raise SettingError(
                    f"{table!r}: no column has the role {missing!r}. hint: give it in the schema: the column that "
                    "names the sequence has 'sequence', the one that orders its rows 'order'."
                )
        codes = [case.codes(k, binned=False)[which] for k in keys]
        own = joint([codes], [case.n_codes(k, binned=False) for k in keys])[0][0].astype(np.int64)
        own[np.any([c == 0 for c in codes], axis=0)] = MISSING
        return order_of(own, [case.codes(i, binned=False)[which] for i in index])

    def once(self, key: Hashable, make: Callable[[], _T]) -> _T:
        """Return what was made under a name, which is made when it is first asked for."""
        with self._lock:
            if key not in self._kept:
                self._kept[key] = make()
            return self._kept[key]  # type: ignore[no-any-return] # the key says what it is

    # ------------------------------------------------------------ inside

    def _check(self, table: str) -> None:
        if table not in self._tables:
            raise SettingError(no_such("tables", "table", table, self.names))

    def _table(self, table: str, role: str) -> Table:
        self._check(table)
        if role not in self.roles:
            raise SettingError(f"role: there is no {role!r} table. hint: one of {', '.join(self.roles)}.")
        return self._tables[table][ROLES.index(role)]

    def _linked(self, relation: Relation, role: str) -> tuple[Rows, NDArray[np.bool_]]:
        if relation not in self.schema.relations:
            raise SettingError("relations: this relation is not part of the schema. hint: take one of `relations`.")
        return self.once(("rows", relation, role), lambda: self._followed(relation, role))

    def _followed(self, relation: Relation, role: str) -> tuple[Rows, NDArray[np.bool_]]:
        """Return the parent row of each child row, and which parent keys repeat an earlier one."""
        parent, child = self._table(relation.parent, role), self._table(relation.child, role)
        codes: list[tuple[Codes, Codes]] = []
        lost: list[tuple[NDArray[np.bool_], NDArray[np.bool_]]] = []
        sizes = []
        for above, below in zip(relation.parent_key, relation.child_key, strict=True):
            sides = _keyed(parent, above), _keyed(child, below)
            pooled = pool(sides, _KEY, self.missing)
            found = [c for c in pooled.codes if c is not None]
            codes.append((found[0], found[1]))
            lost.append((_absent(sides[0], found[0], self.missing), _absent(sides[1], found[1], self.missing)))
            sizes.append(pooled.levels.len() + 1)
        keys, n = joint([[c[side] for c in codes] for side in (0, 1)], sizes)
        gone = [np.any([m[side] for m in lost], axis=0) for side in (0, 1)]
        # a key of the child that cannot be read as the parent's has code 0 and is not missing: no parent has it
        own = np.where(gone[0], MISSING, keys[0])
        rows = parent_rows(own, np.where(gone[1], MISSING, keys[1]), n)
        return rows, repeated_keys(own, n)


def _keyed(table: Table, column: str) -> Table:
    """Return the table with one column, under the name that keys of both sides share."""
    check_columns(table.role, [column], table.columns)
    return replace(table, columns=(_KEY,), names={_KEY: table.names[column]})


def _absent(table: Table, codes: Codes, missing: Sequence[str]) -> NDArray[np.bool_]:
    """Return which rows have no key: an empty cell, a code for missing, or NaN among numbers."""
    if not (codes == 0).any():
        return np.zeros(len(codes), dtype=np.bool_)
    clean = without_codes(plain(table.series(_KEY)), tuple(m for m in missing if m not in table.missing))
    lost = clean.is_null()
    if clean.dtype == pl.String:
        lost |= clean.str.strip_chars().str.to_lowercase().is_in(["nan", "+nan", "-nan"]).fill_null(False)
    return np.asarray(lost.to_numpy() & (codes == 0), dtype=np.bool_)


def _three(tables: Sequence[Table]) -> tuple[Table, Table, Table | None]:
    real, *others = tables
    return real, others[0] if others else real, others[1] if len(others) > 1 else None


# ---------------------------------------------------------------- from frames


def build_linked(
    real: Mapping[str, Any],
    synthetic: Mapping[str, Any] | None = None,
    holdout: Mapping[str, Any] | None = None,
    *,
    schema: RelationalSchema,
    missing: Sequence[str] = (),
    seed: int = 0,
    level: float = 0.95,
) -> Linked:
    """Return the `Linked` of dictionaries of frames of any kind.

    Tables that the schema does not name are left out. Tables that an engine holds are read into memory.

    Raises
    ------
    FrameError, TableError, ColumnError
        A frame cannot be read, or a column of the schema is not there.
    SettingError
        A table of the schema is not there.

    Examples
    --------
    >>> import polars as pl
    >>> tables = {"users": pl.DataFrame({"uid": [7, 8, 9]}), "orders": pl.DataFrame({"uid": [9, 7, 9, 1, None]})}
    >>> relation = Relation("users", ("uid",), "orders", ("uid",))
    >>> from divulge.case.case import infer_schema
    >>> schema = RelationalSchema({name: infer_schema(t) for name, t in tables.items()}, (relation,))
    >>> linked = build_linked(tables, schema=schema)
    >>> linked.rows(relation, "real").tolist(), linked.children(relation, "real").tolist()
    ([2, 0, 2, -2, -1], [1, 0, 2])
    """
    given = [("real", real), ("synthetic", synthetic), ("holdout", holdout)]
    for role, tables in given:
        if tables is not None:
            _check_tables(role, tables, schema)
    if synthetic is None and holdout is not None:
        raise SettingError("synthetic: there is a holdout and no synthetic tables. hint: pass both.")
    found = {
        name: tuple(
            _table_in_memory(tables[name], role, name, schema.tables[name])
            for role, tables in given
            if tables is not None
        )
        for name in schema.tables
    }
    return Linked(found, schema, missing, seed=seed, level=level)


def _check_tables(role: str, tables: Any, schema: RelationalSchema) -> None:
    if isinstance(tables, Mapping) and not tables:
        raise TableError(f"{role}: the dictionary has no table. hint: pass {{name: table}}.")
    if not isinstance(tables, Mapping):
        raise TableError(f"{role}: a {type(tables).__name__} is no dictionary of tables. hint: pass {{name: table}}.")
    for name in schema.tables:
        if name not in tables:
            raise SettingError(no_such(role, "table", name, list(map(str, tables))))


def _table_in_memory(native: Any, role: str, name: str, schema: Schema) -> Table:
    table = collect(table_of(native, f"{role}: table {name!r}"))
    check_columns(table.role, [c.name for c in schema.columns], table.columns)
    return table
