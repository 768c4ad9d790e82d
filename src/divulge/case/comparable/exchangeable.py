"""Whether real and holdout people are a random split: by a classifier, the frequency of values, and rows of units."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from divulge.case.case import Case
from divulge.case.comparable.check import NOT_IN_MEMORY, data_hash, numbers
from divulge.case.comparable.split_columns import split_columns
from divulge.core.hashing import row_hashes
from divulge.core.records import Precondition
from divulge.kernels.counts.contingency import combine

__all__ = ["exchangeability", "exchangeable"]

Ints = NDArray[np.int64]
Coded = dict[str, tuple[list[NDArray[np.int32]], int]]
"""Of columns the codes of real and of holdout, and how many codes there are."""

_LEVEL = 0.01
"""One random split in a hundred fails the check, a start value; the p-values are calibrated in
tests/case/test_preconditions.py."""
_VALUES_LEVEL, _LEAST = 0.001, 10
"""One random split in a thousand fails by the frequency of its values, and how many people must have one."""
_PAIRS, _CELLS = 300, 10_000  # pairs of columns, and cells of a pair, at most: limits on the time
_OTHER_DIGITS = 0.5  # total variation of the numbers of decimals from which they are named as a cause


def exchangeable(case: Case) -> Precondition | None:
    """Return whether a classifier tells real from holdout; None without a holdout, or with too few people.

    The frequency of each value is compared as well, since a classifier hardly sees that a twentieth of the strangers
    lack a value, and with units their numbers of rows. The synthetic table does not enter.
    """
    if not case.has_holdout:
        return None
    if not case.in_memory:
        return Precondition(check="exchangeable", ok=True, tested=False, detail=NOT_IN_MEMORY)
    coded = _codes_of_people(case)
    z, auc = exchangeability(case, coded)
    if np.isnan(z):
        return None
    from scipy.special import ndtr

    p = min(1.0, 2 * float(ndtr(-z)))  # times 2: z is the larger of two folds; one-sided, as only a high AUC counts
    made = {"AUC": auc, "p": p}
    detail = f"a classifier tells real from holdout with AUC {auc:.3f} (0.5 is chance, p = {p:.2g})"
    sizes = _rows_of_units(case)
    if sizes is not None:
        rows, p_rows = sizes
        p = min(1.0, 2 * min(p, p_rows))
        made |= {"rows of a real unit": rows[0], "rows of a holdout unit": rows[1], "p of rows": p_rows, "p": p}
        detail += f"; units have {rows[0]:.1f} rows in real and {rows[1]:.1f} in holdout (p = {p_rows:.2g})"
    other = _other_shares(case, coded)
    if p >= _LEVEL and not other:
        return Precondition(check="exchangeable", ok=True, detail=detail, numbers=numbers(made))
    detail += ": they are no random split; every excess below is suspect"
    if other:
        detail += f". Values, or missing ones, of {', '.join(map(repr, other))} are more frequent in one of them"
    if written := _other_digits(case):
        detail += f". Numbers of {', '.join(map(repr, written))} have other last digits in real than in holdout, as "
        detail += "rounding or float32 leaves them: write both tables in the same way"
    return Precondition(check="exchangeable", ok=False, detail=detail, numbers=numbers(made))


def _rows_of_units(case: Case) -> tuple[tuple[float, float], float] | None:
    """Return the mean number of rows of a unit in real and holdout, and the p-value of their ranks; None without units.

    None, too, where each unit has as many rows.
    """
    units = case.units("real"), case.units("holdout")
    if units[0] is None or units[1] is None:
        return None
    rows = [np.unique(u, return_counts=True)[1].astype(np.float64) for u in units if u is not None]
    z, _ = _rank_sum(*rows)
    if np.isnan(z):
        return None
    from scipy.special import ndtr

    return (float(rows[0].mean()), float(rows[1].mean())), 2 * float(ndtr(-abs(z)))


def _other_shares(case: Case, coded: Coded) -> list[str]:
    """Return the columns with a value, or bin, or missing values, more frequent in real or in holdout than by chance.

    Each by Fisher's exact test, corrected for all of them; a unit counts once for each value that it has.
    """
    from scipy.stats import hypergeom

    names, p = [], []
    given = case.units("real"), case.units("holdout")
    units = [None if u is None else np.unique(u, return_inverse=True)[1].astype(np.int64) for u in given]
    for name, (codes, size) in coded.items():
        counts, people = [], []
        for own, unit in zip(codes, units, strict=True):
            each = own if unit is None else np.unique(unit * size + own) % size
            counts.append(np.bincount(each, minlength=size))
            people.append(len(own) if unit is None else 1 + int(unit.max(initial=-1)))
        often = counts[0] + counts[1] >= _LEAST
        of_real, chance = counts[0][often], hypergeom(sum(people), (counts[0] + counts[1])[often], people[0])
        p += np.minimum(1.0, 2 * np.minimum(chance.cdf(of_real), chance.sf(of_real - 1))).tolist()
        names += [name] * int(often.sum())
    return sorted({name for name, one in zip(names, p, strict=True) if one * len(p) < _VALUES_LEVEL})


def _compared(case: Case) -> list[str]:
    """Return the columns that are looked at, sorted: the result must not depend on their order."""
    # a column of one value in real is looked at, as the holdout may have another; measured ones tell a shift by bins
    split = {c for c in split_columns(case) if case.schema[c].kind not in ("numeric", "integer-coded")}
    return sorted({*case.schema.usable(), *case.schema.names("constant")} - split)


def _decimals(case: Case, column: str) -> Ints | None:
    """Return for each code of the values of a column how many decimals its number has; None where all have as many.

    Numbers that were rounded, or that float32 held once, have others than those of the same people who were not.
    """
    pooled = case.pooled(column)
    if pooled.family != "number" or pooled.integer:
        return None
    text = pooled.levels.cast(pl.String).str.strip_suffix(".0")
    power = text.str.extract(r"e(.*)$").cast(pl.Int64).fill_null(0).to_numpy()
    digits = text.str.extract(r"\.(\d+)").str.len_bytes().fill_null(0).to_numpy().astype(np.int64)
    decimals = np.concatenate([[0], np.clip(digits - power, -20, 20) + 21])
    seen = np.unique(decimals[1:][pooled.counts[0][1:] + pooled.counts[2][1:] > 0])
    return decimals if len(seen) > 1 else None


def _other_digits(case: Case) -> list[str]:
    """Return the columns whose numbers mostly have other numbers of decimals in real than in holdout."""
    out = []
    for name in case.schema.usable():
        if (decimals := _decimals(case, name)) is not None:
            real, holdout = (np.bincount(decimals[1:], case.pooled(name).counts[i][1:], minlength=42) for i in (0, 2))
            if np.abs(real / max(1, real.sum()) - holdout / max(1, holdout.sum())).sum() / 2 > _OTHER_DIGITS:
                out.append(name)
    return sorted(out)


def exchangeability(case: Case, coded: Coded | None = None) -> tuple[float, float]:
    """Return z-score and AUC of a classifier that tries to tell real from holdout people; the larger of two folds.

    A naive Bayes classifier over single columns, pairs of columns (binned codes) and numbers of decimals is trained on
    one half of the people and ranks the other half; then the halves change roles. If the split was random, the labels
    of the ranked half are exchangeable given the training half, so the rank-sum statistic has its permutation
    distribution. People of one unit are in the same half and their scores are averaged. Columns that the tables look
    split by are left out: *rows belong together* tells these. nan when a side has fewer than 20 people.
    """
    features = list((_codes_of_people(case) if coded is None else coded).values())
    units = [case.units("real"), case.units("holdout")]
    if not features or min(case.n_rows("real"), case.n_rows("holdout")) < 40:
        return float("nan"), float("nan")
    n_pairs = len(features)
    of_values = {n: of for n in _compared(case) if (of := _decimals(case, n)) is not None}
    features += _codes_of_people(case, of_values).values()  # one by one
    rows = [np.stack([c[i] for c, _ in features], axis=1) for i in (0, 1)]
    sizes = [size for _, size in features]
    rng = case.rng(f"exchangeable {data_hash(case)}")
    halves = [_halves(r, u, rng) for r, u in zip(rows, units, strict=True)]
    best_z, best_auc = -np.inf, 0.5
    for fold in (0, 1):
        score = _naive_bayes([r[h == fold] for r, h in zip(rows, halves, strict=True)], sizes, n_pairs)
        judged = []
        for r, h, u in zip(rows, halves, units, strict=True):
            other = h != fold
            judged.append(_mean_by_unit(score(r[other]), None if u is None else u[other]))
        z, auc = _rank_sum(*judged)
        if z > best_z:
            best_z, best_auc = z, auc
    return (float(best_z), float(best_auc)) if np.isfinite(best_z) else (float("nan"), float("nan"))


def _codes_of_people(case: Case, of_values: dict[str, Ints] | None = None) -> Coded:
    """Return of columns in which not all agree the codes of real and holdout, numbered among these alone.

    `of_values` gives another code for each value, of the columns that it has. No synthetic value changes them.
    """
    out: Coded = {}
    for name in _compared(case) if of_values is None else of_values:
        codes = [case.codes(name, binned=of_values is None)[i] for i in (0, 2)]
        if of_values is not None:
            codes = [of_values[name][c].astype(np.int32) for c in codes]
        most = max(int(c.max(initial=0)) for c in codes)
        there = np.logical_or.reduce([np.bincount(c, minlength=most + 1) > 0 for c in codes])
        number = (np.cumsum(there) - 1).astype(np.int32)
        if (size := int(there.sum())) > 1:
            out[name] = [number[c] for c in codes], size
    return out


def _halves(rows: NDArray[np.int32], units: NDArray[np.int64] | None, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return 0 or 1 for each row, drawn in the order of the rows' codes, so that row order does not enter."""
    out = np.empty(len(rows), dtype=np.int64)
    columns = _columns(rows)  # numbered in the order of rows, so that one sort does for all columns
    order = np.argsort(combine(columns, [int(c.max(initial=0)) + 1 for c in columns])[0], kind="stable")
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
    groups: list[NDArray[np.int32]], sizes: list[int], n_pairs: int
) -> Callable[[NDArray[np.int32]], NDArray[np.float64]]:
    """Return a score that is high for rows that look like the first group; the first columns enter in pairs as well."""
    features = [(j,) for j in range(len(sizes))] + [
        (i, j) for i, j in combinations(range(n_pairs), 2) if sizes[i] * sizes[j] <= _CELLS
    ][:_PAIRS]
    trained = [_columns(g) for g in groups]
    tables = []
    for feature in features:
        capacity = int(np.prod([sizes[j] for j in feature]))
        a, b = (np.bincount(_cell(g, feature, sizes), minlength=capacity) + 0.5 for g in trained)
        tables.append(np.log(a / a.sum()) - np.log(b / b.sum()))

    def score(rows: NDArray[np.int32]) -> NDArray[np.float64]:
        total, columns = np.zeros(len(rows)), _columns(rows)
        for feature, table in zip(features, tables, strict=True):
            total += table[_cell(columns, feature, sizes)]
        return np.round(total, 9)

    return score


def _columns(rows: NDArray[np.int32]) -> list[NDArray[np.int32]]:
    """Return the columns, each in one piece of memory."""
    return list(np.ascontiguousarray(rows.T))


def _cell(columns: list[NDArray[np.int32]], feature: tuple[int, ...], sizes: list[int]) -> NDArray[np.int64]:
    ids = columns[feature[0]].astype(np.int64)
    for j in feature[1:]:
        ids *= sizes[j]
        ids += columns[j]
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
