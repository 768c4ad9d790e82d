"""Preconditions, checked before any attack: only where they hold is an excess over the holdout a disclosure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.case.case import Case
from divulge.case.comparable.exchangeable import exchangeable
from divulge.case.comparable.overlap import no_overlap, overlap
from divulge.case.comparable.together import rows_together
from divulge.case.comparable.unseen import holdout_unseen
from divulge.core.records import Precondition
from divulge.core.schema import FEW_PEOPLE
from divulge.tables.column_notes import told_once
from divulge.tables.matched_names import differing_names
from divulge.tables.pooled_columns import pool

__all__ = ["check_all", "table_facts", "unlike_values", "verbatim_strangers"]

Ints = NDArray[np.int64]

_SAME = "are the same table"
_ALIKE = "have each value of each column equally often (they are one table, or cells were moved between rows)"
_FEW_VALUES, _NAMED = 2, 3  # values that columns share by their nature, such as 0 and 1; columns named at most
_LOOKED_AT = 10  # columns without a partner whose values are compared, a limit on the time
_ALIKE_VALUES = (
    0.9  # share of the values of one such column that another has, from which a note names both; start value
)
_SMALL = 100  # rows of a table below which most answers are unsure; start value, not calibrated


def check_all(case: Case) -> list[Precondition]:
    """Return every check that applies to the case, in a fixed order."""
    checks: list[Callable[[Case], Precondition | None]] = [
        _same_columns,
        _same_kinds,
        _useful_columns,
        _identifiers,
        _infinities,
        _unseen_values,
        _identical,
        _duplicates,
        _sizes,
        no_overlap,
        _shared_units,
        exchangeable,
        holdout_unseen,
        rows_together,
    ]
    found = [found for c in checks if (found := c(case)) is not None]
    return found if case.persons is None else [*found, *case.persons.checks]


def verbatim_strangers(case: Case) -> list[Precondition]:
    """Return the checks that fail because strangers stand word for word in another table more often than by chance.

    They look at equal rows alone, which costs little: a single attack tells them, and makes no other check.
    """
    checks = (overlap(case), holdout_unseen(case, near=False))
    return [check for check in checks if check is not None and not check.ok]


def _same_columns(case: Case) -> Precondition:
    shared = set(case.columns)
    extra = {t.role: [c for c in t.columns if c not in shared] for t in case.tables}
    uneven = {role: names for role, names in extra.items() if names}
    if not uneven:
        return Precondition(
            check="same columns", ok=True, detail=f"all tables have the same {len(case.columns)} columns"
        )
    told = ", ".join(f"{role} has {len(names)} more ({_names(names)})" for role, names in uneven.items())
    alike = differing_names(case.tables, case.columns)
    renamed = "; ".join(_renamed(case))
    detail = (
        f"{len(case.columns)} columns are shared; {told}, left out{alike and f'; {alike}'}{renamed and f'; {renamed}'}"
    )
    return Precondition(check="same columns", ok=False, detail=detail)


def _renamed(case: Case) -> Iterator[str]:
    """Yield which columns of the synthetic table have the values of a column of the real table that it lacks."""
    real, synthetic = case.tables[:2]
    if real.frame is None or synthetic.frame is None:
        return
    left = [c for c in real.columns if c not in synthetic.columns]
    named: set[str] = set()
    for name, column in product(case.without_members[:_LOOKED_AT], left[:_LOOKED_AT]):
        other = replace(synthetic, columns=(column,), names={column: synthetic.names[name]})
        theirs, released = (counts[1:] > 0 for counts in pool((real, other), column, case.missing).counts)
        many = int(released.sum()) > _FEW_VALUES and len(named) < _NAMED
        if name not in named and many and (theirs & released).sum() >= _ALIKE_VALUES * released.sum():
            named.add(name)
            yield f"{name!r} in synthetic has values of {column!r} in real: rename it if they are one column"


def _same_kinds(case: Case) -> Precondition | None:
    known = case.encoded.known
    noted = sorted((c for c in case.columns if known(c).note), key=lambda c: known(c).read_alike)
    if not noted:
        return None
    told = told_once({c: known(c).note for c in noted})
    more = f"; and {len(told) - 5} more" if len(told) > 5 else ""
    ok = all(known(c).read_alike for c in noted)
    return Precondition(check="same types", ok=ok, detail="; ".join(told[:5]) + more)


def _useful_columns(case: Case) -> Precondition | None:
    constant = list(case.schema.names("constant"))
    if not constant:
        return None
    return Precondition(
        check="constant columns", ok=True, detail=f"{_names(constant)}: tell nothing about anybody, not attacked"
    )


def _identifiers(case: Case) -> Precondition | None:
    named = [c for c in case.schema.columns if c.kind in ("identifier", "text")]
    if not named:
        return None
    return Precondition(
        check="identifiers and free text",
        ok=True,
        detail=f"{_names([c.name for c in named])}: not used as keys, targets or in whole-row comparison unless named",
    )


def _infinities(case: Case) -> Precondition | None:
    known = case.encoded.known
    bad = [c for c in case.columns if known(c).family == "number" and np.isinf(known(c).levels.to_numpy()).any()]
    if not bad:
        return None
    return Precondition(
        check="infinite values", ok=False, detail=f"{_names(bad)}: infinite values fall into the end bins"
    )


def unlike_values(case: Case) -> dict[str, float]:
    """Return the columns most of whose synthetic values are those of no real record.

    Of numbers and dates these are the values outside the range of real and holdout, as where a unit of measure differs,
    or all of them where they lie where hardly any person does, as logarithms among amounts; of labels all that no
    person has. A missing value is a value. Nine people are left out, those who change most: every reader knows the
    answer, which is not to hang on a single person (fewer than nine in tables of under 180 people). Of synthetic
    numbers as many are left out on either side, so that a single one does not join two ranges.

    Returns
    -------
    dict
        By column the share of real rows whose value the synthetic table lacks, or that lie outside its range; 1 where
        the tables have nothing in common. Of numbers at least the share of synthetic rows that lie elsewhere. The unit,
        whose numbers a synthesizer makes anew, and ignored columns are left out, and so are labels of which strangers
        have as many that no real record has.
    """
    out: dict[str, float] = {}
    apart = {*case.schema.with_role("unit"), *case.schema.with_role("ignore")}
    measured = case.schema.names("numeric", "datetime")
    for name in (*case.schema.names("categorical", "boolean", "integer-coded", "constant"), *measured):
        if name in apart or case.encoded.outlines.of(name) is not None:
            continue
        real, synthetic, *holdout = case.pooled(name).counts
        numbers = case.numbers(name) if name in measured else None
        if numbers is None and holdout and _share_new(synthetic, real) <= _share_new(holdout[0], real) + _AS_NEW:
            continue  # most people have a value of their own there, and so have strangers
        people = real + sum(holdout)
        few = min(FEW_PEOPLE - 1, int(people.sum()) // 20)
        outside = float(synthetic[~_among(synthetic, people, numbers, few)].sum() / max(1, synthetic.sum()))
        apart_by = 0.0 if numbers is None else _distance(synthetic, people, numbers)
        if outside > 0.5 or apart_by > _ELSEWHERE:
            shared = real[_among(real, synthetic, numbers, 0 if numbers is None else few)].sum()
            lacking = 1.0 if shared <= few else float(1 - shared / max(1, real.sum()))
            # numbers between which all of the other table's lie have nothing to do with them either
            out[name] = lacking if numbers is None or lacking == 1 else max(lacking, min(max(outside, apart_by), 0.99))
    return out


_ELSEWHERE, _ATOM = 0.9, 0.05


def _distance(synthetic: Ints, people: Ints, numbers: NDArray[np.float64]) -> float:
    """Return how far apart two columns of numbers are: the largest difference of their distribution functions.

    Numbers that a twentieth of the people or of the synthetic rows have, such as 0, are left out: a logarithm keeps
    them. It is 0 where fewer than `FEW_PEOPLE` are left on a side.
    """
    kept = ~np.isnan(numbers) & (people <= _ATOM * people.sum()) & (synthetic <= _ATOM * synthetic.sum())
    order = np.argsort(numbers[kept], kind="stable")
    sides = [counts[kept][order].cumsum() for counts in (synthetic, people)]
    if not len(order) or min(s[-1] for s in sides) < FEW_PEOPLE:
        return 0.0
    return float(np.abs(sides[0] / sides[0][-1] - sides[1] / sides[1][-1]).max())


def _share_new(counts: Ints, real: Ints) -> float:
    """Return which part of a table's values no real record has."""
    return float(counts[real == 0].sum() / max(1, counts.sum()))


_AS_NEW = 0.1  # above the share of strangers' values that no real record has: values that are written otherwise


def _among(counts: Ints, others: Ints, numbers: NDArray[np.float64] | None, few: int) -> NDArray[np.bool_]:
    """Return which values the others have, or of numbers, lie in their range, without a few of them.

    Of labels these are those whose values most rows have; of numbers, the smallest and the largest.
    """
    among = others > 0
    measured = np.zeros(len(counts), dtype=bool) if numbers is None else ~np.isnan(numbers)
    labels = np.flatnonzero(among & ~measured)
    heaviest = labels[np.argsort(-counts[labels] / others[labels], kind="stable")]
    among[heaviest[np.cumsum(others[heaviest]) <= few]] = False
    if numbers is not None and others[measured].sum() > 2 * few:
        order = np.flatnonzero(measured)[np.argsort(numbers[measured], kind="stable")]
        known, below = numbers[order], np.cumsum(others[order])
        low = known[np.searchsorted(below, few, side="right")]
        high = known[np.searchsorted(below, below[-1] - few, side="left")]
        among[order] = (known >= low) & (known <= high)
    return among


def _unseen_values(case: Case) -> Precondition | None:
    unseen = list(unlike_values(case))
    if not unseen:
        return None
    return Precondition(
        check="same values",
        ok=False,
        detail=f"{_names(unseen)}: most synthetic values occur in no real record; were the tables prepared alike?",
    )


def _identical(case: Case) -> Precondition | None:
    same = [
        (case.tables[i].role, case.tables[j].role)
        for i, j in combinations(range(len(case.tables)), 2)
        if _same_rows(case, i, j)
    ]
    if not same:
        return None
    told = "; ".join(f"{a} and {b} {_SAME if case.in_memory else _ALIKE}" for a, b in same)
    return Precondition(check="different tables", ok=False, detail=f"{told}: were the files mixed up?")


def _row_ids(case: Case) -> list[NDArray[np.int64]] | None:
    if not case.in_memory:
        return None
    return case.encoded.row_ids()


def _same_rows(case: Case, i: int, j: int) -> bool:
    if case.tables[i].n_rows != case.tables[j].n_rows:
        return False
    known = case.encoded.known
    if any((known(c).counts[i] != known(c).counts[j]).any() for c in case.columns):
        return False
    ids = _row_ids(case)
    return ids is None or bool((np.sort(ids[i]) == np.sort(ids[j])).all())


def _n_distinct(ids: NDArray[np.int64]) -> int:
    ordered = np.sort(ids)  # np.unique hashes whole numbers, which takes fifty times as long
    return min(1, len(ids)) + int((ordered[1:] != ordered[:-1]).sum())


def _duplicates(case: Case) -> Precondition | None:
    ids = _row_ids(case)
    if ids is None:
        return None
    n, n_distinct = len(ids[0]), _n_distinct(ids[0])
    if n_distinct == n:
        return None
    share = (n - n_distinct) / n
    return Precondition(
        check="repeated rows",
        ok=True,
        detail=f"{n - n_distinct:,} of {n:,} real rows repeat another one ({100 * share:.1f}%); "
        "if these are the same people, name their column with unit",
    )


def table_facts(case: Case) -> list[dict[str, Any]]:
    """Return for each table the share of missing cells, the number of repeated rows and the number of units.

    The number of repeated rows is None where rows are not in memory, that of units where no unit column is named.
    """
    ids = _row_ids(case)
    cells = [sum(int(case.encoded.known(c).counts[i][0]) for c in case.columns) for i in range(len(case.tables))]
    out: list[dict[str, Any]] = []
    for i, table in enumerate(case.tables):
        size = table.n_rows * len(case.columns)
        units = None
        if case.unit is not None:
            counts = case.pooled(case.unit).counts[i]
            units = int(np.count_nonzero(counts[1:])) + int(counts[0])  # a row without one is its own
        out.append(
            {
                "missing": cells[i] / size if size else None,
                "repeated": None if ids is None else table.n_rows - _n_distinct(ids[i]),
                "units": units,
            }
        )
    return out


def _sizes(case: Case) -> Precondition | None:
    if not case.has_holdout:
        return Precondition(
            check="holdout",
            ok=False,
            detail="no holdout: inference and disclosure are not separated; "
            "rates of members alone say nothing about disclosure",
        )
    rows = {t.role: t.n_rows for t in case.tables}
    told = ", ".join(f"{n:,} {role}" for role, n in rows.items()) + " rows"
    few = [role for role, n in rows.items() if n < _SMALL]
    if few:
        return Precondition(
            check="sizes", ok=False, detail=f"{told}: {' and '.join(few)} are few, most answers will be unsure"
        )
    return Precondition(check="sizes", ok=True, detail=told)


def _shared_units(case: Case) -> Precondition | None:
    if case.unit is None or not case.has_holdout:
        return None
    known = [case.pooled(case.unit).counts[i][1:] > 0 for i in (0, 2)]
    if not all(own.any() for own in known):
        return Precondition(
            check="units apart",
            ok=False,
            detail=f"{case.unit!r} has no value in real or in holdout: nothing says who is one person",
        )
    both = int(np.count_nonzero(known[0] & known[1]))
    if not both:
        return Precondition(check="units apart", ok=True, detail=f"no {case.unit!r} is in both real and holdout")
    return Precondition(
        check="units apart",
        ok=False,
        detail=f"{both:,} units of {case.unit!r} are in both real and holdout: split by unit",
    )


def _names(columns: list[str]) -> str:
    shown = ", ".join(map(repr, columns[:8]))
    return shown + (f" and {len(columns) - 8} more" if len(columns) > 8 else "")
