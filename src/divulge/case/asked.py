"""The people of a run that ask: a random sample of members and strangers, before whole tables."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from divulge.case.case import Case
from divulge.case.encoded import ROLES
from divulge.case.invariant_order import canonical_of

__all__ = ["Asked", "asked_of"]

Ints = NDArray[np.int64]

_PEOPLE = (0, 2)
"""The tables of people: real and holdout."""


class Asked(NamedTuple):
    """A case whose people are a sample, and the rows of the whole tables that they are."""

    case: Case
    real: Ints
    """Row numbers of the members asked, ascending, shape (n_real_asked,)."""
    holdout: Ints | None
    """Those of the strangers; None without a holdout."""


def asked_of(case: Case, people: int | None) -> Asked | None:
    """Return the case of at most `people` members and as many strangers, drawn without replacement.

    The synthetic table stays whole, and so do rulers and bins, which real and holdout fix together: each person asked
    has the score that the whole run would give, wherever a score depends on the own record and the synthetic table
    alone. Means over the people asked are then unbiased for the means over all, with the intervals that hold at their
    number. Persons or households are drawn with all their rows. The draw depends on the seed and on the set of rows,
    not on their order.

    Parameters
    ----------
    people
        Most people of each table, at least 1; of units where the schema has one. None asks all.

    Returns
    -------
    Asked or None
        None where no table has more people. The case keeps what was drawn.

    Examples
    --------
    >>> import polars as pl
    >>> from divulge.case.case import build_case
    >>> case = build_case(pl.DataFrame({"age": range(100)}), pl.DataFrame({"age": [5, 7]}), pl.DataFrame({"age": [1]}))
    >>> asked = asked_of(case, 10)
    >>> asked.case.n_rows("real"), asked.case.n_rows("synthetic"), asked.case.n_rows("holdout")
    (10, 2, 1)
    """
    if people is None or all(case.n_people(ROLES[i]) <= people for i in case.encoded.people):
        return None
    return case.cache.once(("people asked", people), lambda: _asked(case, people))


def _asked(case: Case, people: int) -> Asked:
    rows = {i: _drawn(case, i, people) for i in case.encoded.people}
    tables = tuple(t.rows_at(rows[i]) if i in rows else t for i, t in enumerate(case.tables))
    encoded = case.encoded.with_people(rows, tables)
    return Asked(case.derived(encoded, tables), rows[0], rows.get(2))


def _drawn(case: Case, which: int, people: int) -> Ints:
    """Return the rows of the people asked of one table, ascending."""
    role = ROLES[which]
    units = case.units(role)
    n = case.n_rows(role)
    if case.n_people(role) <= people:
        return np.arange(n)
    order = canonical_of(case, case.columns, [which]).order(which)
    rng = case.rng(f"people asked, {role}")
    if units is None:
        return np.sort(rng.choice(order, people, replace=False))
    _, first = np.unique(units[order], return_index=True)  # units in the order of their first rows
    named = units[order][np.sort(first)]
    return np.flatnonzero(np.isin(units, rng.choice(named, people, replace=False)))
