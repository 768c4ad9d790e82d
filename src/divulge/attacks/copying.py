"""Copies: people whose whole record stands in the synthetic table, compared with strangers whose record does."""

from __future__ import annotations

from collections.abc import Sequence

from divulge.attacks.catalogue import attack
from divulge.attacks.common import record_result
from divulge.case import Case
from divulge.errors import SettingError
from divulge.result import Result
from divulge.schema import check_columns

__all__ = ["copies"]


@attack(
    family="copying",
    question="Somebody's whole record stands in the synthetic table.",
    needs="nothing; a holdout says how many matches chance gives",
    reference="Donner and Zou 2012 (MOVER) for the interval of the residual.",
)
def copies(case: Case, *, columns: Sequence[str] | None = None) -> tuple[Result, ...]:
    """Return the share of records that equal a synthetic row in every column, members against strangers.

    Values are compared as they are, not binned; missing equals missing. Identifiers, the unit and ignored columns
    are left out of the comparison, and each identifier gets a result of its own: a real identifier in the synthetic
    table is a leak by itself, unless it is a row number.

    Parameters
    ----------
    columns
        Compare these columns alone; None takes all that are left.

    Examples
    --------
    >>> import polars as pl
    >>> real = pl.DataFrame({"a": [1, 2, 3, 4], "b": ["x", "y", "x", "y"]})
    >>> copies(real, real[:1])[0].real.hits
    1.0
    """
    identifiers: tuple[str, ...] = ()
    if columns is None:
        identifiers = case.schema.names("identifier")
        left_out = {*identifiers, *case.schema.with_role("unit"), *case.schema.with_role("ignore")}
        compared = [c for c in case.columns if c not in left_out]
    else:
        if isinstance(columns, str):
            raise SettingError(f"columns: got the text {columns!r}. hint: pass a list, columns=[{columns!r}].")
        check_columns("columns", columns, case.columns)
        compared = list(columns)
    found = []
    if compared:
        notes = []
        if identifiers:
            notes.append(f"identifiers were left out of the comparison: {', '.join(map(repr, identifiers))}")
        found.append(_exact(case, compared, "exact" if columns is None else "columns", notes))
    found += [_identifier(case, name) for name in identifiers]
    if not found:
        raise SettingError("copies: no column to compare: all are identifiers, units or ignored.")
    return tuple(found)


def _identifier(case: Case, name: str) -> Result:
    """Return how many real identifiers the synthetic table has; row numbers recur by themselves and are not judged."""
    notes, judged = ["a real identifier that the synthetic table has"], True
    facts = case.facts(name)
    if facts.integer and facts.span < 1.05 * facts.n_distinct:
        judged = False
        notes.append("whole numbers with hardly a gap: row numbers recur in every table, so no verdict is given")
    return _exact(case, [name], f"identifier {name}", notes, judged)


def _exact(case: Case, columns: Sequence[str], variant: str, notes: Sequence[str], judged: bool = True) -> Result:
    table = case.contingency(columns, (), binned=False)
    scores = (table.s_key > 0)[table.key].astype(float)
    n_copied = int(table.s[(table.o > 0)].sum())
    every = n_copied == table.n_s and table.n_s == table.n_o and (table.o == table.s).all()
    return record_result(
        case,
        table,
        scores,
        attack="copies",
        variant=variant,
        keys=tuple(columns) if variant == "columns" else (),
        target=None,
        judged=judged,
        settings={"columns": len(columns)},
        context={
            "share of synthetic rows that equal a real row": n_copied / max(table.n_s, 1),
            "share of real rows that equal another real row": float(table.o[table.o > 1].sum() / table.n_o),
        },
        notes=[*notes, *(["the synthetic table is the real table, row for row"] if every else [])],
    )
