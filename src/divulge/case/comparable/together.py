"""Whether rows belong together: whether the nearest other row is of the own table more often than a split gives."""

from __future__ import annotations

from divulge.case.case import Case
from divulge.case.comparable.check import NOT_IN_MEMORY, numbers
from divulge.case.comparable.labels import labels_of
from divulge.case.comparable.split_columns import split_columns
from divulge.core.records import Precondition

__all__ = ["rows_together"]

_LEVEL = 0.001
"""Start value, as of the other checks; calibration of the p-value: tests/calibration/test_comparable_calibration.py."""


def rows_together(case: Case) -> Precondition | None:
    """Return whether rows of one table lie next to each other more often than a random split of people gives.

    Where the tables look split by a column, that column is named.

    The synthetic table does not enter. Rows of one person that no column names as a unit are alike and stand in the
    same table; then neither rows nor their matches are independent, and every test that counts rows is wrong. A
    population that differs between the tables raises the share too, of far neighbours as much as of near ones.
    """
    if not case.has_holdout:
        return None
    name = "rows belong together"
    if not case.in_memory:
        return Precondition(check=name, ok=True, tested=False, detail=NOT_IN_MEMORY)
    if split := split_columns(case):
        (column, (alone, n)), *others = split.items()
        more = f" ({', '.join(map(repr, [name for name, _ in others][:8]))} too)" if others else ""
        remedy = "name it by --unit" if case.unit is None else "name it as the larger unit by --unit"
        remedy += ", or split the people at random"
        return Precondition(
            check=name,
            ok=False,
            detail=f"the tables look split by {column!r}{more}: {100 * alone / n:.1f}% of those who share its value "
            f"with others share it within their own table alone; {remedy}",
        )
    found = labels_of(case)
    if found is None:
        return Precondition(
            check=name, ok=True, tested=False, detail="not tested: too few people, or no column to compare them by"
        )
    told = (
        f"{100 * found.own:.1f}% of nearest other rows are of the own table, {100 * found.farther_own:.1f}% of the "
        f"20th nearest, where a random split gives {100 * found.by_chance:.1f}% (p = {found.p_together:.2g})"
    )
    made = numbers({
        "nearest of the own table": found.own, "20th nearest of the own table": found.farther_own,
        "by chance": found.by_chance, "p": found.p_together,
    })  # fmt: skip
    if found.p_together > _LEVEL:
        return Precondition(check=name, ok=True, detail=told, numbers=made)
    remedy = "several rows seem to belong to one person; name the column by --unit, or make one row a person"
    if case.unit is not None:
        remedy = f"several units of {case.unit!r} seem to belong together; name the column of the larger unit by --unit"
    return Precondition(
        check=name,
        ok=False,
        detail=f"{told}: {remedy}. Where the 20th nearest are as often of the own table, the tables come from "
        "different populations instead",
        numbers=made,
    )
