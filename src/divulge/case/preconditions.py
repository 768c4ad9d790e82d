"""Preconditions, checked before any attack: only where they hold is an excess over the holdout a disclosure."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from itertools import combinations
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from divulge.case.case import Case
from divulge.core.hashing import row_hashes

__all__ = ["CRITICAL", "INVALIDATING", "Check", "check_all", "overlap", "table_facts"]

CRITICAL = ("different tables", "no overlap", "units apart", "exchangeable")
"""Checks that must hold for members and strangers to be comparable."""

INVALIDATING = ("exchangeable", "holdout unseen", "rows belong together")
"""Checks without which the comparison of members with strangers does not hold: where one fails, no verdict follows."""

_SMALL = 100  # rows of a table below which most answers are unsure; start value, not calibrated


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One precondition: its name, whether it holds, and what was observed."""

    check: str
    ok: bool
    detail: str


def check_all(case: Case) -> list[Check]:
    """Return every check that applies to the case, in a fixed order."""
    checks: list[Callable[[Case], Check | None]] = [
        _same_columns,
        _same_kinds,
        _useful_columns,
        _identifiers,
        _infinities,
        _unseen_values,
        _identical,
        _duplicates,
        _sizes,
        overlap,
        _shared_units,
        _exchangeable,
    ]
    return [found for c in checks if (found := c(case)) is not None]


def _same_columns(case: Case) -> Check:
    extra = {t.role: len(t.columns) - len(case.columns) for t in case.tables}
    uneven = {role: n for role, n in extra.items() if n}
    if not uneven:
        return Check(check="same columns", ok=True, detail=f"all tables have the same {len(case.columns)} columns")
    told = ", ".join(f"{role} has {n} more" for role, n in uneven.items())
    return Check(check="same columns", ok=False, detail=f"{len(case.columns)} columns are shared; {told}, left out")


def _same_kinds(case: Case) -> Check | None:
    odd = [f"{c!r} {case.pooled(c).note}" for c in case.columns if case.pooled(c).note]
    if not odd:
        return None
    more = f"; and {len(odd) - 5} more" if len(odd) > 5 else ""
    return Check(check="same types", ok=False, detail="; ".join(odd[:5]) + more)


def _useful_columns(case: Case) -> Check | None:
    constant = list(case.schema.names("constant"))
    if not constant:
        return None
    return Check(
        check="constant columns", ok=True, detail=f"{_names(constant)}: tell nothing about anybody, not attacked"
    )


def _identifiers(case: Case) -> Check | None:
    named = [c for c in case.schema.columns if c.kind in ("identifier", "text")]
    if not named:
        return None
    return Check(
        check="identifiers and free text",
        ok=True,
        detail=f"{_names([c.name for c in named])}: not used as keys, targets or in whole-row comparison unless named",
    )


def _infinities(case: Case) -> Check | None:
    bad = [c for c in case.columns if case.pooled(c).family == "number" and np.isinf(case.numbers(c)).any()]
    if not bad:
        return None
    return Check(check="infinite values", ok=False, detail=f"{_names(bad)}: infinite values fall into the end bins")


def _unseen_values(case: Case) -> Check | None:
    unseen = []
    for name in case.schema.names("categorical", "boolean", "integer-coded"):
        pooled = case.pooled(name)
        people = pooled.counts[0] + (pooled.counts[2] if case.has_holdout else 0)
        n = int(pooled.counts[1][people == 0].sum())
        if n > 0.5 * case.n_rows("synthetic"):
            unseen.append(name)
    if not unseen:
        return None
    return Check(
        check="same values",
        ok=False,
        detail=f"{_names(unseen)}: most synthetic values occur in no real record; were the tables prepared alike?",
    )


def _identical(case: Case) -> Check | None:
    same = [
        (case.tables[i].role, case.tables[j].role)
        for i, j in combinations(range(len(case.tables)), 2)
        if _same_rows(case, i, j)
    ]
    if not same:
        return None
    told = "; ".join(f"{a} and {b} are the same table" for a, b in same)
    return Check(check="different tables", ok=False, detail=f"{told}: were the files mixed up?")


def _row_ids(case: Case) -> list[NDArray[np.int64]] | None:
    if not case.in_memory:
        return None
    return case.encoded.row_ids()


def _same_rows(case: Case, i: int, j: int) -> bool:
    if case.tables[i].n_rows != case.tables[j].n_rows:
        return False
    if any((case.pooled(c).counts[i] != case.pooled(c).counts[j]).any() for c in case.columns):
        return False
    ids = _row_ids(case)
    return ids is None or bool((np.sort(ids[i]) == np.sort(ids[j])).all())


def _duplicates(case: Case) -> Check | None:
    ids = _row_ids(case)
    if ids is None:
        return None
    ordered = np.sort(ids[0])
    n_distinct = 1 + int((ordered[1:] != ordered[:-1]).sum())
    n = len(ids[0])
    if n_distinct == n:
        return None
    share = (n - n_distinct) / n
    return Check(
        check="repeated rows",
        ok=True,
        detail=f"{n - n_distinct:,} of {n:,} real rows repeat another one ({100 * share:.1f}%); "
        "if these are the same people, name their column with unit",
    )


def table_facts(case: Case) -> list[dict[str, Any]]:
    """Return for each table the share of missing cells, the number of repeated rows and the number of units.

    Both numbers are None where rows are not in memory; the number of units also where no unit column is named.
    """
    ids = _row_ids(case)
    cells = [sum(int(case.pooled(c).counts[i][0]) for c in case.columns) for i in range(len(case.tables))]
    out: list[dict[str, Any]] = []
    for i, table in enumerate(case.tables):
        size = table.n_rows * len(case.columns)
        units = None
        if case.unit is not None and case.in_memory:
            codes = case.codes(case.unit, binned=False)[i]
            units = len(np.unique(codes[codes > 0])) + int((codes == 0).sum())
        out.append(
            {
                "missing": cells[i] / size if size else None,
                "repeated": None if ids is None else table.n_rows - len(np.unique(ids[i])),
                "units": units,
            }
        )
    return out


def _sizes(case: Case) -> Check | None:
    if not case.has_holdout:
        return Check(
            check="holdout",
            ok=False,
            detail="no holdout: inference and disclosure are not separated; "
            "rates of members alone say nothing about disclosure",
        )
    rows = {t.role: t.n_rows for t in case.tables}
    told = ", ".join(f"{n:,} {role}" for role, n in rows.items()) + " rows"
    few = [role for role, n in rows.items() if n < _SMALL]
    if few:
        return Check(
            check="sizes", ok=False, detail=f"{told}: {' and '.join(few)} are few, most answers will be unsure"
        )
    return Check(check="sizes", ok=True, detail=told)


def overlap(case: Case) -> Check | None:
    """Compare the number of strangers who equal a real row with that number under a random split of the people."""
    ids = _row_ids(case) if case.has_holdout else None
    if ids is None:
        return None
    real, holdout = ids[0], ids[2]
    shared, p = shared_rows(real, holdout, case.rng(f"overlap {_data_hash(case)}"))
    detail = f"{shared:,} of {len(holdout):,} holdout rows equal a real row"
    # The p-value is calibrated in tests/case/test_preconditions.py; 0.001 itself is a start value: one random split in
    # a thousand fails the check.
    if p <= 0.001:
        return Check(
            check="no overlap",
            ok=False,
            detail=detail + ": more than a random split of these people gives; remove people who are in both",
        )
    return Check(check="no overlap", ok=True, detail=detail + ", as a random split of these people may give")


def shared_rows(
    real: NDArray[np.int64], holdout: NDArray[np.int64], rng: np.random.Generator, draws: int = 999
) -> tuple[int, float]:
    """Return how many holdout rows equal a real row, and the p-value of this number under permuted labels.

    Only rows that repeat can be shared, so labels are drawn for these alone. If all draws need more than 50 million
    labels, 99 permutations and their normal approximation are used.
    """
    pooled = np.concatenate([real, holdout])
    order = np.argsort(pooled, kind="stable")
    first = np.flatnonzero(np.r_[True, pooled[order][1:] != pooled[order][:-1]])
    size = np.diff(np.r_[first, len(pooled)])
    of_holdout = np.add.reduceat((order >= len(real)).astype(np.int64), first)
    shared = int(of_holdout[of_holdout < size].sum())
    size = np.sort(size[size > 1])
    n = int(size.sum())
    if not shared:
        return 0, 1.0
    start = np.cumsum(size) - size
    n_draws = draws if n * draws <= 50_000_000 else 99  # a limit on the time
    found = np.empty(n_draws)
    for b, k in enumerate(rng.hypergeometric(len(holdout), len(real), n, n_draws)):
        label = np.zeros(n, dtype=np.int64)
        label[rng.choice(n, k, replace=False, shuffle=False)] = 1
        mine = np.add.reduceat(label, start)
        found[b] = mine[mine < size].sum()
    if n_draws == draws:
        return shared, (1 + int((found >= shared).sum())) / (draws + 1)
    from scipy.special import ndtr

    return shared, float(ndtr((found.mean() - shared) / max(found.std(ddof=1), 1e-9)))


def _data_hash(case: Case) -> int:
    """Return a hash of the counts in real and holdout; row order, column order and names of values do not change it.

    It goes into the seed: with the same seed for all data sets, an unlucky split of ranks would recur in all of them.
    """
    return case.encoded.once(("data hash",), lambda: _hashed(case), case.encoded.people)


def _hashed(case: Case) -> int:
    digest = 0
    for name in case.columns:
        counts = case.pooled(name).counts
        # counts among people: values of the synthetic table alone, and columns of one value, do not enter
        held = [np.sort(c[c > 0]).astype(np.int64) for c in (counts[0], *counts[2:])]
        if max(map(len, held)) > 1:
            digest += zlib.crc32(np.concatenate([np.append(h, 0) for h in held]).tobytes())
    return digest


def _shared_units(case: Case) -> Check | None:
    if case.unit is None or not case.has_holdout or not case.in_memory:
        return None
    codes = case.codes(case.unit, binned=False)
    if not (codes[0] > 0).any() or not (codes[2] > 0).any():
        return Check(
            check="units apart",
            ok=False,
            detail=f"{case.unit!r} has no value in real or in holdout: nothing says who is one person",
        )
    both = np.intersect1d(codes[0][codes[0] > 0], codes[2][codes[2] > 0])
    if not len(both):
        return Check(check="units apart", ok=True, detail=f"no {case.unit!r} is in both real and holdout")
    return Check(
        check="units apart",
        ok=False,
        detail=f"{len(both):,} units of {case.unit!r} are in both real and holdout: split by unit",
    )


def _exchangeable(case: Case) -> Check | None:
    if not case.has_holdout or not case.in_memory:
        return None
    z, auc = exchangeability(case)
    if np.isnan(z):
        return None
    from scipy.special import ndtr

    p = min(1.0, 2 * float(ndtr(-z)))  # times 2: z is the larger of two folds; one-sided, as only a high AUC counts
    detail = f"a classifier tells real from holdout with AUC {auc:.3f} (0.5 is chance, p = {p:.2g})"
    # The p-value is calibrated in tests/case/test_preconditions.py; 0.01 itself is a start value: one random split in a
    # hundred fails the check.
    if p < 0.01 and z > 0:
        return Check(
            check="exchangeable",
            ok=False,
            detail=detail + ": they are no random split; every excess below is suspect",
        )
    return Check(check="exchangeable", ok=True, detail=detail)


def exchangeability(case: Case) -> tuple[float, float]:
    """Return z-score and AUC of a classifier that tries to tell real from holdout people; the larger of two folds.

    A naive Bayes classifier over single columns and pairs of columns (binned codes) is trained on one half of the
    people and ranks the other half; then the halves change roles. If the split was random, the labels of the ranked
    half are exchangeable given the training half, so the rank-sum statistic has its permutation distribution.
    People of one unit are in the same half and their scores are averaged. nan when a side has fewer than 20 people.
    """
    # sorted: the result must not depend on the order of the columns
    names = sorted(n for n in case.schema.usable() if case.n_codes(n) > 1)
    units = [case.units("real"), case.units("holdout")]
    rows = [np.stack([case.codes(n)[i] for n in names], axis=1) if names else None for i in (0, 2)]
    if rows[0] is None or rows[1] is None or min(len(rows[0]), len(rows[1])) < 40:
        return float("nan"), float("nan")
    rng = case.rng(f"exchangeable {_data_hash(case)}")
    sizes = [case.n_codes(n) for n in names]
    halves = [_halves(r, u, rng) for r, u in zip(rows, units, strict=True) if r is not None]
    best_z, best_auc = -np.inf, 0.5
    for fold in (0, 1):
        score = _naive_bayes([r[h == fold] for r, h in zip(rows, halves, strict=True) if r is not None], sizes)
        judged = []
        for r, h, u in zip(rows, halves, units, strict=True):
            assert r is not None
            other = h != fold
            judged.append(_mean_by_unit(score(r[other]), None if u is None else u[other]))
        z, auc = _rank_sum(*judged)
        if z > best_z:
            best_z, best_auc = z, auc
    return float(best_z), float(best_auc)


def _halves(rows: NDArray[np.int32], units: NDArray[np.int64] | None, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return 0 or 1 for each row, drawn in the order of the rows' codes, so that row order does not enter."""
    out = np.empty(len(rows), dtype=np.int64)
    order = np.lexsort(rows.T[::-1])
    if units is None:
        out[order] = rng.permutation(np.arange(len(rows)) % 2)
        return out
    # units are ordered by a hash of their rows: neither the order of rows nor the unit's name enters
    ordered = rows[order]
    rank = np.empty((len(rows), 1))
    rank[order, 0] = np.cumsum(np.r_[True, (ordered[1:] != ordered[:-1]).any(axis=1)])
    _, unit = np.unique(units, return_inverse=True)
    by_unit = np.argsort(unit, kind="stable")
    start = np.flatnonzero(np.r_[True, np.diff(unit[by_unit]) > 0])
    place = np.argsort(np.add.reduceat(row_hashes(rank)[by_unit], start))
    side = np.empty(len(start), dtype=np.int64)
    side[place] = rng.permutation(np.arange(len(start)) % 2)
    return side[unit]


def _naive_bayes(
    groups: list[NDArray[np.int32]], sizes: list[int]
) -> Callable[[NDArray[np.int32]], NDArray[np.float64]]:
    """Return a score that is high for rows that look like the first group."""
    # limits on the time: at most 300 pairs of columns, each with at most 10,000 cells
    features = [(j,) for j in range(len(sizes))] + [
        (i, j) for i, j in combinations(range(len(sizes)), 2) if sizes[i] * sizes[j] <= 10_000
    ][:300]
    tables = []
    for feature in features:
        capacity = int(np.prod([sizes[j] for j in feature]))
        a, b = (np.bincount(_cell(g, feature, sizes), minlength=capacity) + 0.5 for g in groups)
        tables.append(np.log(a / a.sum()) - np.log(b / b.sum()))

    def score(rows: NDArray[np.int32]) -> NDArray[np.float64]:
        total = np.zeros(len(rows))
        for feature, table in zip(features, tables, strict=True):
            total += table[_cell(rows, feature, sizes)]
        return np.round(total, 9)

    return score


def _cell(rows: NDArray[np.int32], feature: tuple[int, ...], sizes: list[int]) -> NDArray[np.int64]:
    ids = rows[:, feature[0]].astype(np.int64)
    for j in feature[1:]:
        ids = ids * sizes[j] + rows[:, j]
    return ids


def _mean_by_unit(score: NDArray[np.float64], units: NDArray[np.int64] | None) -> NDArray[np.float64]:
    if units is None:
        return score
    _, inverse = np.unique(units, return_inverse=True)
    order = np.lexsort((score, inverse))  # added by size: the sum does not depend on the order of rows
    return np.bincount(inverse[order], weights=score[order]) / np.bincount(inverse)


def _rank_sum(a: NDArray[np.float64], b: NDArray[np.float64]) -> tuple[float, float]:
    """Return the z-score of the rank-sum statistic (ties corrected) and the AUC of a above b."""
    pooled = np.concatenate([a, b])
    _, inverse, times = np.unique(pooled, return_inverse=True, return_counts=True)
    mid = np.cumsum(times) - (times - 1) / 2
    n_a, n_b = len(a), len(b)
    n = n_a + n_b
    if n_a < 20 or n_b < 20:
        return float("nan"), float("nan")
    rank_sum = mid[inverse][:n_a].sum()
    u = rank_sum - n_a * (n_a + 1) / 2
    ties = float((times.astype(float) ** 3 - times).sum())
    variance = n_a * n_b / 12 * (n + 1 - ties / (n * (n - 1)))
    if variance <= 0:
        return float("nan"), 0.5
    return float((u - n_a * n_b / 2) / np.sqrt(variance)), float(u / (n_a * n_b))


def _names(columns: list[str]) -> str:
    shown = ", ".join(map(repr, columns[:8]))
    return shown + (f" and {len(columns) - 8} more" if len(columns) > 8 else "")
