"""How alike the dependence between two columns is in two tables, from counts of cells or from the numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.case.case import Case
from divulge.kernels.counts.histograms import pair_histograms
from divulge.measures._counted import Found, Unit, counted_results
from divulge.measures.blocks import Dealt, coded, compared_columns, smallest
from divulge.measures.entry import MeasureWords
from divulge.measures.noise_floor import Family
from divulge.measures.registry import measure
from divulge.measures.result import TOLERANCE, FidelityResult

__all__ = [
    "PairCodings",
    "chosen_pairs",
    "column_pairs",
    "contingency_similarities",
    "contingency_similarity",
    "correlation_similarity",
    "counted_pairs",
    "cramers_v",
    "cramers_v_of_cells",
    "cramers_vs",
    "divergence_score",
    "pearson",
    "spearman",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def contingency_similarity(real_counts: NDArray[Any], synthetic_counts: NDArray[Any]) -> float:
    """Return 1 less the total variation distance between two tables of counts.

    Parameters
    ----------
    real_counts, synthetic_counts
        Rows in each cell, of one shape. A side without rows has a share of 0 in each cell, so that the score is 0.5.

    Examples
    --------
    >>> contingency_similarity(np.array([[1, 1], [0, 2]]), np.array([[2, 0], [0, 2]]))
    0.75
    """
    start = np.array([0, np.size(real_counts)])
    cells = [np.asarray(c, dtype=np.int64).ravel() for c in (real_counts, synthetic_counts)]
    return float(contingency_similarities(cells[0], cells[1], start)[0])


def contingency_similarities(real_cells: Ints, synthetic_cells: Ints, start: Ints) -> Floats:
    """Return `contingency_similarity` of several tables of counts, whose cells follow one another.

    Parameters
    ----------
    real_cells, synthetic_cells
        Shape (n_cells,). All tables of a side have the same rows.
    start
        Shape (n_tables + 1,): first cell of each table, and the number of all cells.

    Returns
    -------
    ndarray
        Shape (n_tables,). The distances are summed as whole numbers: the order of the cells changes no digit.

    Examples
    --------
    >>> contingency_similarities(np.array([1, 1, 0, 2]), np.array([2, 0, 0, 2]), np.array([0, 4])).tolist()
    [0.75]
    """
    n, m = (_rows_of_a_table(cells, start) for cells in (real_cells, synthetic_cells))
    distance = _summed(np.abs(real_cells * max(m, 1) - synthetic_cells * max(n, 1)), start)
    return np.asarray(1 - distance / (2.0 * max(n, 1) * max(m, 1)))


def _rows_of_a_table(cells: Ints, start: Ints) -> int:
    return int(cells[start[0] : start[1]].sum()) if len(start) > 1 else 0


def _summed(values: Ints, start: Ints) -> Ints:
    """Return the sum of the values of each table; a table may have no cell."""
    if not len(values):
        return np.zeros(len(start) - 1, dtype=values.dtype)
    found = np.add.reduceat(values, np.minimum(start[:-1], len(values) - 1))
    return np.asarray(np.where(np.diff(start) > 0, found, 0))


def cramers_v(counts: NDArray[Any]) -> float:
    """Return Cramér's V of a table of counts, without correction; nan if fewer than two rows or columns have counts.

    Parameters
    ----------
    counts
        Shape (n_rows, n_columns).

    Examples
    --------
    >>> cramers_v(np.array([[5, 0], [0, 5]]))
    1.0
    """
    cells = np.asarray(counts, dtype=np.int64)
    return float(cramers_vs(cells.ravel(), np.array([0, cells.size]), [cells.shape])[0])


def cramers_vs(cells: Ints, start: Ints, shapes: Sequence[tuple[int, ...]]) -> Floats:
    """Return `cramers_v` of several tables of counts, whose cells follow one another.

    Parameters
    ----------
    cells
        Shape (n_cells,). All tables have the same rows.
    start
        Shape (n_tables + 1,): first cell of each table, and the number of all cells.
    shapes
        Of each table: rows and columns.

    Returns
    -------
    ndarray
        Shape (n_tables,). The terms are summed as whole numbers: the order of the cells changes no digit.

    Examples
    --------
    >>> cramers_vs(np.array([5, 0, 0, 5]), np.array([0, 4]), [(2, 2)]).tolist()
    [1.0]
    """
    if not len(cells):
        return np.full(len(start) - 1, np.nan)
    n_rows, n_columns = (np.array([shape[i] for shape in shapes], dtype=np.int64) for i in (0, 1))
    row = np.repeat(np.arange(int(n_rows.sum())), np.repeat(n_columns, n_rows))
    table = np.repeat(np.arange(len(shapes)), np.diff(start))
    first_column = np.cumsum(n_columns) - n_columns
    column = (np.arange(len(cells)) - start[table]) % n_columns[table] + first_column[table]
    sums = [_margin(cells, row, int(n_rows.sum())), _margin(cells, column, int(n_columns.sum()))]
    used = [
        _summed((margin > 0).astype(np.int64), np.append(0, np.cumsum(sizes)))
        for margin, sizes in zip(sums, (n_rows, n_columns), strict=True)
    ]
    smaller = np.minimum(*used)
    margins, n = sums[0][row] * sums[1][column], max(_rows_of_a_table(cells, start), 1)
    # chi squared over n is at most smaller - 1, so that whole numbers of this scale cannot overflow
    scale = 2.0 ** (61 - np.ceil(np.log2(np.maximum(smaller, 2))))
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = ((cells * n - margins) / n) ** 2 / margins
        whole = np.where(margins > 0, np.rint(terms * scale[table]), 0).astype(np.int64)
        squared = _summed(whole, start) / scale / (smaller - 1)
        return np.asarray(np.where(smaller < 2, np.nan, np.sqrt(squared)))


def _margin(cells: Ints, place: Ints, size: int) -> Ints:
    return np.bincount(place, weights=cells, minlength=size).astype(np.int64)  # exact up to 2**53 rows


def cramers_v_of_cells(rows: NDArray[Any], columns: NDArray[Any], counts: NDArray[Any]) -> float:
    """Return `cramers_v` of a table of which only the cells that occur are given.

    Parameters
    ----------
    rows, columns
        Whole numbers of the row and of the column of each cell, shape (n_cells,); no cell stands there twice.
    counts
        Shape (n_cells,).

    Examples
    --------
    >>> round(cramers_v_of_cells(np.array([0, 1]), np.array([0, 1]), np.array([5, 5])), 9)
    1.0
    """
    there = counts > 0
    rows, columns = (np.unique(codes[there], return_inverse=True)[1] for codes in (rows, columns))
    counts = counts[there].astype(np.float64)
    margins = [np.bincount(codes, weights=counts) for codes in (rows, columns)]
    smaller = min(map(len, margins))
    if smaller < 2:
        return float("nan")
    squared = math.fsum((counts**2 / (margins[0][rows] * margins[1][columns])).tolist()) - 1
    return float(np.sqrt(max(squared, 0.0) / (smaller - 1)))


def pearson(x: NDArray[Any], y: NDArray[Any]) -> float:
    """Return Pearson's correlation; nan if a side is constant or not finite.

    Parameters
    ----------
    x, y
        Numbers, shape (n,), at least two.

    Examples
    --------
    >>> round(pearson(np.array([1, 2, 3]), np.array([2, 4, 7])), 6)
    0.993399
    """
    x, y = x.astype(np.float64), y.astype(np.float64)
    if (x == x[0]).all() or (y == y[0]).all():
        return float("nan")
    with np.errstate(all="ignore"):
        x, y = x - x.mean(), y - y.mean()
        if len(x) == 2:
            return float(np.sign(x[0]) * np.sign(y[0]))
        found = float(np.dot(x / np.linalg.norm(x), y / np.linalg.norm(y)))
    return max(min(found, 1.0), -1.0) if found == found else found


def spearman(x: NDArray[Any], y: NDArray[Any]) -> float:
    """Return Spearman's correlation of ranks; nan if a side is constant or empty.

    Parameters
    ----------
    x, y
        Numbers without nan, shape (n,).

    Examples
    --------
    >>> round(spearman(np.array([1, 2, 9]), np.array([1, 5, 3])), 9)
    0.5
    """
    from scipy.stats import rankdata

    return pearson(rankdata(x), rankdata(y)) if len(x) > 1 else float("nan")


def correlation_similarity(real: float, synthetic: float) -> float:
    """Return 1 less half the difference of two correlations.

    Examples
    --------
    >>> correlation_similarity(0.5, -0.5)
    0.5
    """
    return 1 - abs(real - synthetic) / 2


def divergence_score(observed: Floats, expected: Floats) -> float:
    """Return 1 / (1 + D), where D is the Kullback-Leibler divergence of the observed shares from the expected.

    Parameters
    ----------
    observed, expected
        Shares, shape (n,); no expected share is 0.

    Examples
    --------
    >>> divergence_score(np.array([0.5, 0.5]), np.array([0.5, 0.5]))
    1.0
    """
    from scipy.special import kl_div

    return float(1 / (1 + kl_div(observed, expected).sum()))


# ---------------------------------------------------------------- against a fresh sample

_BINS = 10
_RARER = (0.0, 0.005, 0.01, 0.02, 0.05)
"""Shares below which values are counted together, from the first with which a pair has few enough cells."""
_CELLS = 2**21  # cells of all pairs; start value
_BATCH = 2**17  # cells that are counted at once


@measure(
    family="pairs",
    question="Do two columns belong together as in the real table?",
    needs="two columns of numbers, dates or categories; a holdout shows what another sample of the people scores",
    reference="Westfall and Young 1993 (max-T).",
    better="lower",
    null="The rows of both tables are dealt into blocks and the blocks relabelled 999 times.",
    words=MeasureWords(
        what="The shares of each pair of values in both tables; numbers and dates are in ten bins.",
        formula="d = 1/2 sum over cells of |r - s|\nr, s: shares of the rows in a cell; missing is a value.",
        reading=(
            "0 is the same counts. A fresh sample is never at 0: the ruler divides by what it shows, so that 1 is a "
            "fresh sample. Below 0.71, what the samples have by chance was learnt, which points to copied people."
        ),
        silent=(
            "Pairs may fit while three columns do not: detection looks at whole rows.",
            "Within a bin nothing is compared.",
        ),
    ),
)
def column_pairs(case: Case, *, tolerance: float = TOLERANCE) -> tuple[FidelityResult, ...]:
    """Return how far the pairs of columns of the synthetic table are from the real ones, and a fresh sample's would be.

    The first result is the mean over the pairs; it differs where any pair does. p-values are corrected over all pairs
    (max-T). Values are counted together where a pair has more cells than half the rows of both tables; a note says so.

    Parameters
    ----------
    tolerance
        The largest difference that does not matter.

    Examples
    --------
    >>> import polars as pl
    >>> real = pl.DataFrame({"a": ["x", "y"] * 200, "b": ["x", "y"] * 200})
    >>> found = column_pairs(real, pl.DataFrame({"a": ["x", "y"] * 200, "b": ["x", "x", "y", "y"] * 100}))
    >>> found[1].columns, found[1].value, found[1].verdict
    (('a', 'b'), 0.5, 'differs')
    """
    return counted_results(case, "column_pairs", tolerance, _pairs, "fewer than two columns can be compared")


def _pairs(case: Case, rows: Dealt) -> Found | None:
    names = compared_columns(case)
    if len(names) < 2:
        return None
    codings = PairCodings(case, names, sum(case.n_rows(role) for role in ("real", "synthetic")))
    chosen, notes = chosen_pairs(case, codings, len(names))
    family = Family(rows.labels, case.level)
    for counts, start in counted_pairs(chosen, codings, rows.both, rows.block, len(rows.labels.sizes)):
        family.add(counts, start)
    units = []
    for pair, share in chosen:
        rarer = f"values rarer than {share:.1%} were counted together, as the pair has more cells than half the rows"
        units.append(Unit(tuple(names[c] for c, _ in pair), notes=(rarer,) if share else ()))
    return Found(units, family.floors(), notes=notes)


_One = tuple[int, int]
"""A column, and which of `_RARER` its codes are for."""
_Chosen = Sequence[tuple[tuple[_One, _One], float]]


class PairCodings:
    """Codes of columns in which values below a share of all rows are one.

    Parameters
    ----------
    case, names
        All rows in memory; the columns.
    n_rows
        Rows of the two tables that are compared: a pair has at most half as many cells.
    """

    def __init__(self, case: Case, names: Sequence[str], n_rows: int) -> None:
        self._case, self._names = case, names
        self._columns = [coded(case, name, _BINS) for name in names]
        self.n_rows = n_rows
        self._maps: dict[_One, tuple[NDArray[Any] | None, int]] = {}

    def size(self, column: int, step: int) -> int:
        """Return the number of codes of a column."""
        return self._map(column, step)[1]

    def codes(self, column: int, step: int) -> tuple[NDArray[Any], ...]:
        """Return the codes of a column in each table."""
        name, codes, place = self._names[column], self._columns[column].codes, self._map(column, step)[0]
        if place is None:
            return codes
        key = ("fidelity codes without rare values", name, step)
        return self._case.encoded.once(key, lambda: tuple(place[c] for c in codes))

    def _map(self, column: int, step: int) -> tuple[NDArray[Any] | None, int]:
        if (column, step) not in self._maps:
            self._maps[column, step] = self._made(column, step)
        return self._maps[column, step]

    def _made(self, column: int, step: int) -> tuple[NDArray[Any] | None, int]:
        coding = self._columns[column]
        if not step or coding.ordered:
            return None, coding.n_codes
        counts = sum(np.bincount(c, minlength=coding.n_codes) for c in coding.codes)
        rare = np.asarray(counts < _RARER[step] * np.sum(counts))
        place = np.where(rare, 0, np.cumsum(~rare)).astype(np.int32)
        size = int(place.max(initial=0)) + 1
        return smallest(place, size), size


def counted_pairs(
    chosen: _Chosen, codings: PairCodings, of_rows: Callable[[tuple[NDArray[Any], ...]], NDArray[Any]],
    block: NDArray[np.int32], n_blocks: int,
) -> Iterator[tuple[NDArray[Any], Ints]]:  # fmt: skip
    """Yield the counts of some pairs in each block and the first cell of each pair, without cells that nobody is in.

    Parameters
    ----------
    chosen, codings
        As in `chosen_pairs`.
    of_rows
        Gives the codes of the rows that are compared from those of each table.
    block, n_blocks
        Block of each of these rows, and how many there are.
    """
    for batch in _batches([pair for pair, _ in chosen], codings):
        used = sorted({one for pair in batch for one in pair})
        place = {one: i for i, one in enumerate(used)}
        counts = pair_histograms(
            [of_rows(codings.codes(*one)) for one in used], [codings.size(*one) for one in used],
            [(place[a], place[b]) for a, b in batch], blocks=block, n_blocks=n_blocks,
        )  # fmt: skip
        there = counts.counts.any(axis=0)
        start = np.concatenate([[0], np.cumsum(np.add.reduceat(there, counts.start[:-1], dtype=np.int64))])
        yield counts.counts.compress(there, axis=1), start


def chosen_pairs(case: Case, codings: PairCodings, n: int) -> tuple[_Chosen, tuple[str, ...]]:
    """Return the pairs with the codes that each takes and the share below which values are one, and notes."""
    found = []
    for a, b in combinations(range(n), 2):
        steps = range(len(_RARER))
        step = next((s for s in steps if codings.size(a, s) * codings.size(b, s) <= codings.n_rows / 2), steps[-1])
        merges = any(codings.size(c, step) < codings.size(c, 0) for c in (a, b))
        found.append((((a, step), (b, step)), _RARER[step] if merges else 0.0))
    cells = np.array([codings.size(*x) * codings.size(*y) for (x, y), _ in found])
    if cells.sum() <= _CELLS:
        return found, ()
    order = case.rng("fidelity pairs").permutation(len(found))
    kept = np.sort(order[: max(1, int(np.searchsorted(np.cumsum(cells[order]), _CELLS, side="right")))])
    return [found[i] for i in kept], (f"{len(kept):,} of {len(found):,} pairs were drawn: there are too many cells",)


def _batches(pairs: Sequence[tuple[_One, _One]], codings: PairCodings) -> Iterator[list[tuple[_One, _One]]]:
    batch, cells = list[tuple[_One, _One]](), 0
    for pair in pairs:
        more = codings.size(*pair[0]) * codings.size(*pair[1])
        if batch and cells + more > _BATCH:
            yield batch
            batch, cells = [], 0
        batch.append(pair)
        cells += more
    if batch:
        yield batch
