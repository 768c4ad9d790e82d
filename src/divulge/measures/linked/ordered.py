"""Tables whose rows form sequences, and which of their columns are static."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from divulge.case.encoded import ROLES
from divulge.case.relational.linked import Linked
from divulge.core.errors import SettingError
from divulge.kernels.relations import SequenceOrder
from divulge.measures.linked.families import Families, Ints, Pair
from divulge.measures.linked.parts import compared

__all__ = ["LAGS", "NOTHING", "Sequences", "checked_lags", "lagged", "sequences_of"]

LAGS = (1, 2, 5)
"""Rows between the members of the pairs that are compared."""
NOTHING = (
    "no table has a column with the role 'sequence' and one with the role 'order', and three sequences on each side"
)


@dataclass(frozen=True, slots=True, eq=False)
class Sequences:
    """The sequences of one table, on both sides."""

    table: str
    order: tuple[SequenceOrder, SequenceOrder]
    static: tuple[str, ...]
    """Compared columns with one value in each sequence of the real table."""
    dynamic: tuple[str, ...]
    index: tuple[str, ...]
    """The columns that order the rows; the others are in `static` or `dynamic`."""
    note: tuple[str, ...]

    def of_rows(self) -> Pair:
        """Return the sequence of each row of both sides, -1 for a row without one."""
        out = []
        for order in self.order:
            number = np.full(len(order.rows) + order.n_left_out, -1, dtype=np.int64)
            number[order.rows] = np.repeat(np.arange(len(order.lengths)), order.lengths)
            out.append(number)
        return out[0], out[1]


def sequences_of(linked: Linked, families: Families) -> Iterator[Sequences]:
    """Yield the tables that have sequences."""
    for table in linked.names:
        schema = linked.case(table).schema
        index = schema.with_role("order")
        if not schema.with_role("sequence") or not index:
            continue
        orders = [linked.order(table, role) for role in families.roles]
        columns = [c for c in compared(linked, table) if c not in index]
        static = tuple(c for c in columns if _is_static(linked, table, c))
        ties = ", ".join(f"{o.n_ties:,} {r} rows" for o, r in zip(orders, families.roles, strict=True) if o.n_ties)
        note = (f"{ties} have the index of the row before them, and stand in the order of the table",) if ties else ()
        dynamic = tuple(c for c in columns if c not in static)
        yield Sequences(table, (orders[0], orders[1]), static, dynamic, index, note)


def _is_static(linked: Linked, table: str, column: str) -> bool:
    case = linked.case(table)
    if "static" in case.schema[column].roles:
        return True
    order = linked.order(table, ROLES[0])
    first, later = order.lagged(1)
    codes = case.codes(column, binned=False)[0]
    return len(first) > 0 and bool((codes[first] == codes[later]).all())


def checked_lags(lags: Sequence[int]) -> tuple[int, ...]:
    """Return lags as a tuple in rising order.

    Raises
    ------
    SettingError
        They are no whole numbers from 1 on.
    """
    given = [lags] if isinstance(lags, int) else list(lags)
    if not given or any(isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1 for k in given):
        raise SettingError("lags: these are no whole numbers from 1 on. hint: lags=(1, 2, 5) is the default.")
    return tuple(sorted({int(k) for k in given}))


def lagged(own: Sequences, k: int) -> tuple[Pair, Pair]:
    """Return the rows of all pairs that stand `k` rows apart: the earlier of both sides, and the later."""
    pairs = [order.lagged(k) for order in own.order]
    firsts: tuple[Ints, Ints] = (pairs[0][0], pairs[1][0])
    return firsts, (pairs[0][1], pairs[1][1])
