"""Hashes of the tables of a case, by which a run that was interrupted knows them again."""

from __future__ import annotations

import hashlib

from divulge.case.case import _GATHERED, Case
from divulge.case.cells import Gathered
from divulge.case.rows_without_order import sum_of_rows

__all__ = ["contents", "gathered_columns"]


def contents(case: Case) -> tuple[str, ...]:
    """Return the SHA-256 of what is known of each table.

    Of rows that an engine holds the fingerprint knows how often each value occurs, and not which occur together. So the
    rows in files and the distinct rows that were gathered enter as well, by a sum over rows: in any order.

    Examples
    --------
    >>> import polars as pl
    >>> from divulge.case.case import build_case
    >>> one = pl.DataFrame({"age": [30, 41, 30], "job": ["a", "b", "b"]})
    >>> case, other = (build_case(t, one, engine="polars") for t in (one.lazy(), one.reverse().lazy()))
    >>> for each in (case, other):
    ...     each.gather(["age", "job"])
    >>> contents(case) == contents(other)
    True
    """
    return case.cache.once("contents", lambda: tuple(_of(case, i) for i in range(len(case.tables))))


def gathered_columns(case: Case) -> tuple[str, ...]:
    """Return the columns whose distinct rows were gathered, and enter the hashes of the tables."""
    gathered: Gathered | None = case.cache.get(_GATHERED)
    if gathered is None:
        return ()
    return tuple(f"{binned} {c}" for binned in (True, False) for c in sorted(gathered.codes[binned][0]))


def _of(case: Case, which: int) -> str:
    """Return the hash of one table."""
    found, coded = [case.encoded.fingerprint(which)], case.in_files
    if coded is not None:
        names = sorted(case.columns)
        found.append(f"rows {sum_of_rows([coded.codes(n, binned=False)[which] for n in names])}")
    gathered: Gathered | None = case.cache.get(_GATHERED)
    for binned in () if gathered is None else (True, False):
        assert gathered is not None
        columns = sorted(gathered.codes[binned][which])
        codes, unit = [gathered.codes[binned][which][c] for c in columns], gathered.units[which]
        own = sum_of_rows([*codes, *([] if unit is None else [unit])], gathered.times[binned][which])
        found.append(f"{len(columns)} columns {own}")
    return found[0] if len(found) == 1 else hashlib.sha256(" ".join(found).encode()).hexdigest()
