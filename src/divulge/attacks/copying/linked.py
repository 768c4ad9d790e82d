"""Rows that belong together: does a synthetic row with a member's number, or in a member's place, tell about him?

Whoever knows the number of a member, or the member's place in the table, then reads the rest off the synthetic row. No
stranger has a place in the real table, so that rows a few places apart are the comparison: see `divulge.stats.pairing`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from divulge.attacks.checks import judge, rate_of
from divulge.attacks.copying.one_column import folded_codes, own_columns
from divulge.case.case import Case
from divulge.core.hashing import once
from divulge.core.result import BY_CHANCE, Baseline, Rate, Result
from divulge.stats import Comparison, Outcomes, compare
from divulge.stats.pairing import LEAST, Paired, ascents, clearest, follows_order, telling

__all__ = ["LINKED", "LINKED_NOTES", "ROW_ORDER", "linked", "row_order"]

Ints = NDArray[np.int64]

LINKED, ROW_ORDER = "linked", "row order"
_MATCHED = 20  # rows in both tables below which their order says little; start value
_ONE_WAY = 0.75  # part of neighbours that ascend, from which a column is sorted; a half by chance
_FEW_NEIGHBOURS = 10  # neighbours that differ, below which nothing is said
_ROWS_A_LEVEL = 20  # rows a category, from which its mean place says where it stands

_LINKED_NOTE = (
    "linked: rows with the same value in this column, once in each table, agree in the other columns this often; "
    "categories agree or not, numbers by their ranks"
)
_PLACE_NOTE = (
    "row order: the synthetic row in the same place agrees with the real row this often; categories agree or not, "
    "numbers by their ranks"
)
_ORDER_NOTE = (
    "row order: of rows that stand once in each table, how often the next one in the synthetic table stands later in "
    "the real table, too"
)
_BEST_NOTE = (
    "this is about one of # columns, which agrees more clearly than their mean; p-value and limits hold for all: "
)
_FIRST_NOTE = "row order: the tables differ in length; their first # rows are laid side by side"
_ORDERS_NOTE = (
    "row order: this is about one of # synthetic tables or orders, which agrees most clearly; p-value and limits hold "
    "for all"
)
_NEARBY, _EITHER = BY_CHANCE
_STRANGERS_NOTE = (
    "linked: the same values recur among strangers, whose rows are compared in the same way: values that people share "
    "may say what kind of person has them"
)
_TIMES = (
    3  # members' values must recur so many times as often as strangers' before chance is not the reason; start value
)
_STEPS = 2**20  # an agreement is a whole number of these parts, so that sums are exact in any order of columns
_NOBODY = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


_NO_ROWS = "it needs every row in memory"
_FOLLOW = "every column follows the order of the rows in both tables"
_NO_COLUMN = "linked: not tested, no column has a value of its own for nearly everybody"
_FEW_VALUES = f"linked: not tested, fewer than {LEAST} values recur once, or nothing else is compared"
_CHANCE = "linked: not tested, values recur among strangers nearly as often, and too few to compare with"
_FEW_ROWS = f"row order: not tested, fewer than {LEAST} rows"
LINKED_NOTES = (
    _LINKED_NOTE,
    _PLACE_NOTE,
    _ORDER_NOTE,
    _BEST_NOTE + "'…'",
    _FIRST_NOTE,
    _ORDERS_NOTE,
    *(f"{variant}: not tested, {_NO_ROWS}" for variant in (LINKED, ROW_ORDER)),
    f"{ROW_ORDER}: not tested, {_FOLLOW}",
    _NO_COLUMN,
    _FEW_VALUES + ": '…'",
    _CHANCE + ": '…'",
    _STRANGERS_NOTE,
    _FEW_ROWS,
)
"""Notes for the entry; "'…'" stands for quoted names."""


def linked(case: Case) -> tuple[list[Result], list[str]]:
    """Return for each column of own values whether rows with the same value agree in the other columns, and notes."""
    if not case.in_memory:
        return [], [f"{LINKED}: not tested, {_NO_ROWS}"]
    columns = sorted(own_columns(case))
    if not columns:
        return [], [_NO_COLUMN]
    found, few, chance = [], [], []
    ids = case.encoded.row_ids()[1]
    tables = [rows[once(ids[rows])] for rows in _tables(case)]  # a synthetic table written twice says no more
    for column in columns:
        values, codes = folded_codes(case, column), case.codes(column, binned=False)
        members = _pairs(values, codes[0], codes[1], tables)
        strangers = _pairs(values, codes[2], codes[1], tables) if case.has_holdout else _NOBODY
        others = [c for c in case.schema.usable() if c != column]
        if len(members[0]) < LEAST or not others:
            few.append(column)
        elif len(strangers[0]) >= LEAST:
            found.append(_beside_strangers(case, column, others, members, strangers))
        elif len(members[0]) < _TIMES * len(strangers[0]) * case.n_rows("real") / max(1, case.n_rows("holdout")):
            chance.append(column)
        elif (result := _compared(case, LINKED, (column,), others, *members)) is None:
            few.append(column)
        else:
            found.append(result)
    told = ((_FEW_VALUES, few), (_CHANCE, chance))
    return found, [f"{why}: {', '.join(map(repr, names))}" for why, names in told if names]


def _tables(case: Case) -> list[Ints]:
    """Return the rows of each synthetic table, of several that are taken together."""
    parts = case.synthetic_parts or (case.n_rows("synthetic"),)
    return np.split(np.arange(sum(parts)), np.cumsum(parts[:-1]))


def _pairs(
    values: Ints, people: NDArray[np.int32], rows: NDArray[np.int32], tables: Sequence[Ints]
) -> tuple[Ints, Ints]:
    """Return the people and the synthetic rows that share a value and are alone with it, in the order of values.

    Of several synthetic tables it is the row of the first one in which the value stands once.
    """
    real = values[people]
    n = int(values.max(initial=0)) + 1
    person, row = np.zeros(n, dtype=np.int64), np.full(n, -1)
    for kept in tables[::-1]:
        synthetic = values[rows[kept]]
        alone = np.bincount(synthetic, minlength=n)[synthetic] == 1
        row[synthetic[alone]] = kept[alone]
    person[real] = np.arange(len(real))
    shared = (np.bincount(real, minlength=n) == 1) & (row >= 0)
    shared[0] = False
    return person[shared], row[shared]


def _beside_strangers(
    case: Case, column: str, others: Sequence[str], members: tuple[Ints, Ints], strangers: tuple[Ints, Ints]
) -> Result:
    """Return whether members' pairs agree better than those of strangers, whose values recur by chance."""
    scores = [_agreements(case, others, which, *pairs) for which, pairs in ((0, members), (2, strangers))]
    units = [case.units(role) for role in ("real", "holdout")]
    sides = [
        Outcomes(s, cluster=None if u is None else u[pairs[0]])
        for s, u, pairs in zip(scores, units, (members, strangers), strict=True)
    ]
    plain = Result(
        attack="copies",
        variant=LINKED,
        keys=(column,),
        settings={"rows": len(members[0])},
        real=rate_of(sides[0]),
        holdout=rate_of(sides[1]),
        notes=(_LINKED_NOTE, _STRANGERS_NOTE),
    )
    found = compare(*sides, level=case.level, rng=case.rng(f"linked {column}"), draws=case.draws)
    return judge(plain, found, case.level)


def _agreements(case: Case, columns: Sequence[str], which: int, people: Ints, synthetic: Ints) -> NDArray[np.float64]:
    """Return the mean agreement of each pair over the columns, shape (n_pairs,); whole numbers are added."""
    total = np.zeros(len(people), dtype=np.int64)
    for c in sorted(columns):
        values, scale = _values(case, c)
        codes = case.codes(c, binned=False)
        apart = np.minimum(np.abs(values[codes[which][people]] - values[codes[1][synthetic]]), scale)
        total += _STEPS - (apart * _STEPS) // scale
    return total / (len(columns) * _STEPS)


def row_order(case: Case) -> tuple[Result | None, str]:
    """Return whether the order of the synthetic rows tells who is who; without a result, a note says why."""
    if not case.in_memory:
        return None, f"{ROW_ORDER}: not tested, {_NO_ROWS}"
    n, columns = case.n_rows("real"), case.schema.usable()
    tables = _tables(case)
    as_long = [rows for rows in tables if len(rows) == n]
    both = [(rows, min(n, len(rows))) for rows in as_long or tables]
    both = [(rows, shared) for rows, shared in both if shared >= LEAST]
    each = [(_pair_agreement(case, columns, np.arange(shared), rows[:shared]), shared) for rows, shared in both]
    found = [
        (pairs[0], _NEARBY, [_PLACE_NOTE, *([] if as_long else [_FIRST_NOTE.replace("#", str(shared))]), *pairs[1]])
        for pairs, shared in each
        if pairs is not None
    ]
    found += [] if as_long else _order_of_matched(case)
    if not found:
        return None, f"{ROW_ORDER}: not tested, {_FOLLOW}" if both else _FEW_ROWS
    best, which = clearest([paired for paired, *_ in found])
    told = [_ORDERS_NOTE.replace("#", str(len(found)))] if len(found) > 1 else []
    _, chance, notes = found[which]
    return _result(case, ROW_ORDER, (), best, chance, [*notes, *told]), ""


def _order_of_matched(case: Case) -> list[tuple[Paired, str, list[str]]]:
    """Return whether rows that stand once in each table follow in the same order, where there are enough of them."""
    columns = sorted(case.schema.usable())
    if not columns:
        return []
    rows = [case.encoded.row_hashes(columns, i) for i in (0, 1)]
    both = np.unique(np.concatenate(rows), return_inverse=True)[1]
    values = np.split(both, [len(rows[0])])
    n = int(both.max()) + 1
    alone = (np.bincount(values[0], minlength=n) == 1) & (np.bincount(values[1], minlength=n) == 1)
    place = np.zeros(n, dtype=np.int64)
    place[values[0]] = np.arange(len(values[0]))
    mine = values[1][alone[values[1]]]  # in the order of the synthetic rows
    if len(mine) < _MATCHED:
        return []
    # rows that differ in a column which both tables follow are in order without any leak
    real = place[mine]
    group = _groups(case, _sorted_by(case, columns), 0)[real]
    comparison = ascents(real, group, level=case.level)
    enough = comparison is not None and comparison.real.n >= _MATCHED
    return [(comparison, _EITHER, [_ORDER_NOTE])] if comparison is not None and enough else []


def _sorted_by(case: Case, columns: Sequence[str]) -> list[str]:
    """Return the columns by which both tables are sorted, each within the rows that are equal in those before it."""
    follow = [c for c in columns if _both_follow(case, c, None, None)]
    while True:
        groups = [_groups(case, follow, i) for i in (0, 1)]
        more = [c for c in columns if c not in follow and _same_way(case, c, groups)]
        if not more:
            return follow
        follow += more


def _groups(case: Case, columns: Sequence[str], which: int) -> Ints:
    """Return a number for each row of a table, equal where rows are equal in these columns."""
    return np.unique(case.encoded.row_hashes(columns, which), return_inverse=True)[1].astype(np.int64)


def _same_way(case: Case, column: str, groups: Sequence[Ints]) -> bool:
    """Return whether the values of a column ascend, or descend, from row to row within the groups of both tables.

    Categories of many rows are taken in the order in which they stand in the groups of the real table.
    """
    values: NDArray[Any] = _values(case, column)[0]
    codes = case.codes(column, binned=False)
    if not case.encoded.is_number(column) and len(values) * _ROWS_A_LEVEL <= len(codes[0]):
        place = np.argsort(np.argsort(groups[0], kind="stable"), kind="stable")
        first, size = np.full((2, int(groups[0].max(initial=0)) + 1), len(place))
        np.minimum.at(first, groups[0], place)
        size[:] = np.bincount(groups[0], minlength=len(size))
        within = (place - first[groups[0]]) / size[groups[0]]
        times = np.bincount(codes[0], minlength=len(values))
        values = np.bincount(codes[0], weights=within, minlength=len(values)) / np.maximum(1, times)
    ways = []
    for i in (0, 1):
        order = np.argsort(groups[i], kind="stable")
        group, value = groups[i][order], values[codes[i]][order]
        differ = (group[1:] == group[:-1]) & (value[1:] != value[:-1])
        n, up = int(differ.sum()), int((differ & (value[1:] > value[:-1])).sum())
        if n < _FEW_NEIGHBOURS:
            return False
        ways.append(1 if up >= _ONE_WAY * n else -1 if n - up >= _ONE_WAY * n else 0)
    return ways[0] != 0 and ways[0] == ways[1]


def _compared(
    case: Case, variant: str, keys: tuple[str, ...], columns: Sequence[str], real: Ints, synthetic: Ints
) -> Result | None:
    """Return the agreement of pairs of rows; None where no column is left to compare."""
    found = _pair_agreement(case, columns, real, synthetic)
    return None if found is None else _result(case, variant, keys, found[0], _NEARBY, [_LINKED_NOTE, *found[1]])


def _pair_agreement(case: Case, columns: Sequence[str], real: Ints, synthetic: Ints) -> tuple[Paired, list[str]] | None:
    """Return the agreement of pairs of rows over all columns, or in one where that tells more, and notes.

    Columns that follow the order of the rows are left out; None where no other is left.
    """
    used = [c for c in sorted(columns) if not _both_follow(case, c, real, synthetic)]
    if not used:
        return None
    values = [_values(case, c) for c in used]
    one = [v[case.codes(c, binned=False)[0][real]] for c, (v, _) in zip(used, values, strict=True)]
    other = [v[case.codes(c, binned=False)[1][synthetic]] for c, (v, _) in zip(used, values, strict=True)]
    found, which = telling(one, other, [scale for _, scale in values], level=case.level)
    return found, [] if which is None else [_BEST_NOTE.replace("#", str(len(used))) + repr(used[which])]


def _both_follow(case: Case, column: str, real: Ints | None, synthetic: Ints | None) -> bool:
    values, scale = _values(case, column)
    codes = case.codes(column, binned=False)
    rows = [codes[0] if real is None else codes[0][real], codes[1] if synthetic is None else codes[1][synthetic]]
    return all(follows_order(values[r], scale) for r in rows)


def _values(case: Case, column: str) -> tuple[Ints, int]:
    """Return a whole number for each code and the difference from which two do not agree at all.

    A number has its rank among the real rows, so that neither its unit nor outliers matter; whatever is no number lies
    further away from all others than the scale.
    """
    return case.encoded.once(("paired values", column), lambda: _ranked(case, column), [0])


def _ranked(case: Case, column: str) -> tuple[Ints, int]:
    marks = case.encoded.marks(column).astype(np.int64)
    if not case.encoded.is_number(column):
        return marks, 1
    numbers, counts = case.numbers(column), case.pooled(column).counts[0]
    known = np.flatnonzero(marks == 0)
    order = known[np.argsort(numbers[known], kind="stable")]
    level = np.cumsum(np.r_[0, numbers[order][1:] > numbers[order][:-1]]) if len(order) else order
    times = np.bincount(level, weights=counts[order]).astype(np.int64)
    ranks = (2 * np.cumsum(times) - times)[level] if len(order) else order
    scale = 2 * max(1, int(counts.sum()))
    out = 2 * scale * (1 + marks)
    out[order] = ranks
    return out, scale


def _result(
    case: Case,
    variant: str,
    keys: tuple[str, ...],
    comparison: Paired,
    chance: str,
    notes: Sequence[str],
) -> Result:
    seen = comparison.real
    people = None if case.unit is None or seen.n != case.n_rows("real") else case.n_people("real")
    plain = Result(
        attack="copies",
        variant=variant,
        keys=keys,
        settings={"rows": seen.n},
        real=Rate(hits=seen.hits, n=seen.n, rate=seen.rate, units=people),
        baseline=Baseline(rate=comparison.holdout.rate, what=chance),
        notes=tuple(notes),
        verdict="no holdout",
    )
    # as in every attack: without people whom the synthesizer never saw rates are shown and nothing is said of a leak
    if not case.has_holdout:
        return plain
    return judge(plain, cast(Comparison, comparison), case.level)
