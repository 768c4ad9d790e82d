"""The people of a run that ask: a random sample of members and strangers, before whole tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from divulge.case.case import IN_FILES, Case
from divulge.case.code_files import CodeFolder, codes_in_files
from divulge.case.drawn_people import drawn_people
from divulge.case.encoded import ROLES
from divulge.case.rows_without_order import in_order
from divulge.core.hashing import code_hashes
from divulge.kernels.neighbours.distinct import Progress, unheard
from divulge.tables.counting import narrow
from divulge.tables.frames import Table

__all__ = ["Asked", "ask_where_they_are", "asked_of", "people_told"]

Ints = NDArray[np.int64]


class Asked(NamedTuple):
    """A case whose people are a sample, and the rows of the whole tables that they are."""

    case: Case
    real: Ints
    """Row numbers of the members asked, shape (n_real_asked,): ascending; or, as an engine tells rows in another order
    each time, in one that follows from what the people say, whatever the synthetic table says."""
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
    if people is None or (_key(people) not in case.cache and _all(case, people)):
        return None
    return case.cache.once(_key(people), lambda: _asked(case, people))


def ask_where_they_are(case: Case, people: int, folder: CodeFolder, progress: Progress = unheard) -> Asked:
    """Draw the people of a case whose rows an engine holds, by the codes of all rows in files; `asked_of` has them.

    The same people are drawn as in memory. All are taken where there are no more.

    Parameters
    ----------
    people
        As in `asked_of`.
    folder
        Where the codes are written.
    progress
        Called with the rows that were written and all rows.
    """
    codes = codes_in_files(case.encoded, case.columns, folder, progress)
    whole = case.derived(case.encoded.with_rows(codes))
    asked = case.cache[_key(people)] = _asked(whole, people, ordered=True)
    case.cache[IN_FILES] = whole
    return asked


def people_told(case: Case) -> str:
    """Return a hash of the rows of people in their order, the same in one process whatever the synthetic table says.

    A value enters by its place among those that its table has, and by itself.

    Examples
    --------
    >>> import polars as pl
    >>> from divulge.case.case import build_case
    >>> ages = pl.DataFrame({"age": [30, 41]})
    >>> one, other, turned = (people_told(build_case(*tables)) for tables in (
    ...     (ages, ages), (ages, pl.DataFrame({"age": [20, 35]})), (ages.reverse(), ages)
    ... ))
    >>> one == other, one == turned
    (True, False)
    """
    digest, names = sha256(), sorted(case.columns)
    for which in case.encoded.people:
        digest.update(code_hashes(_places(case, which, names)).tobytes())
        for name in names:
            digest.update(_values(case, which, name))
    digest.update(repr(names).encode())
    return digest.hexdigest()


def _values(case: Case, which: int, name: str) -> bytes:
    """Return the distinct values of a column in one table, texts as hashes."""
    column = case.pooled(name)
    occurs = column.counts[which] > 0
    if column.family == "text":  # whether texts are numbers follows from those of all tables
        return bytes(column.levels.filter(pl.Series(occurs[1:])).hash().to_numpy().tobytes())
    return case.numbers(name)[occurs].tobytes()


def _places(case: Case, which: int, names: Sequence[str], rows: Ints | None = None) -> list[NDArray[Any]]:
    """Return for each column the place of each row's value among the values of its table; `rows` None is all."""
    out: list[NDArray[Any]] = []
    for name in names:
        codes = case.codes(name, binned=False)[which]
        place = np.cumsum(case.pooled(name).counts[which] > 0)
        place = narrow(place, len(place) + 1)
        out.append(place[codes if rows is None else codes[rows]])
    return out


def _key(people: int) -> tuple[str, int]:
    """Return where a case keeps the people asked."""
    return "people asked", people


def _all(case: Case, people: int) -> bool:
    """Return whether no table has more people."""
    return all(case.n_people(ROLES[i]) <= people for i in case.encoded.people)


def _asked(case: Case, people: int, *, ordered: bool = False) -> Asked:
    rows = {i: drawn_people(case, i, people) for i in case.encoded.people}
    if ordered:
        # not by codes: these follow from the values of all tables, and a comparison asks through several synthetic ones
        rows = {i: own[in_order(_places(case, i, sorted(case.columns), own))] for i, own in rows.items()}
    tables = tuple(_rows_at(t, rows[i]) if i in rows else t for i, t in enumerate(case.tables))
    encoded = case.encoded.with_people(rows, tables)
    return Asked(case.derived(encoded, tables), rows[0], rows.get(2))


def _rows_at(table: Table, rows: Ints) -> Table:
    """Return some rows of a table; an engine has no table of these."""
    return table.rows_at(rows) if table.counting is None else replace(table, n_rows=len(rows), sha256="", counting=None)
