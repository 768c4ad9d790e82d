"""How likely the people of the holdout are under a density of the synthetic rows, beside one of real rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from divulge.case.case import Case
from divulge.measures._learners import block_labels, dealt_blocks
from divulge.measures._permutation import permuted_p
from divulge.measures._rows import TableRows, coarse_codes, sampled, table_rows, unfit
from divulge.measures.entry import MeasureWords
from divulge.measures.registry import measure
from divulge.measures.result import TOLERANCE, FidelityResult, FreshSample
from divulge.measures.verdicts import judged
from divulge.stats.intervals import Interval, normal_quantile

__all__ = ["Tree", "chow_liu", "holdout_likelihood", "log_likelihood", "log_tables"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_ROWS = 20_000  # rows of each table
_DRAWS, _NOISE = 999, 199
_PRIOR = 1.0  # rows that each conditional distribution begins with, shared by its cells

_WORDS = MeasureWords(
    what="A density is fitted to the synthetic rows and to two parts of the real rows that are as large, and each "
    "person of the holdout gets the log of the density under each.",
    formula="p(x) = p(x_1) product over the other columns j of p(x_j | x_parent(j)), a tree on values and bins\n"
    "gap = mean over people of (log p_R(x) - log p_S(x)), in nats",
    reading="0 is what a fresh sample has; 0.1 makes each person 10% less likely. Below 0, synthetic rows describe "
    "strangers better than as many real rows, as a smoothed table can.",
    silent=("How more than two columns go together, and differences within a bin.",),
)


@dataclass(frozen=True, slots=True)
class Tree:
    """A tree over columns: each column but the first of `order` depends on its parent."""

    order: tuple[int, ...]
    parent: tuple[int, ...]
    """Parent of each column; -1 for the root."""


@measure(
    family="learning",
    question="Would people of the holdout be as likely, if the synthetic table were the real one?",
    needs="A holdout of 20 people, a usable column, and 40 real and 20 synthetic rows.",
    reference="Chow and Liu (1968), Approximating discrete probability distributions with dependence trees; Theis, van "
    "den Oord and Bethge (2016), A note on the evaluation of generative models.",
    better="lower",
    null="densities of two parts of the real rows, each as large as the synthetic rows taken",
    words=_WORDS,
    holdout=True,
    models=True,
)
def holdout_likelihood(
    case: Case, *, columns: Sequence[str] | None = None, tolerance: float = TOLERANCE
) -> tuple[FidelityResult, ...]:
    """Return how much less likely holdout people are under a density of synthetic rows than under one of real rows.

    Parameters
    ----------
    columns
        Columns of the density. None takes all usable ones.
    tolerance
        The largest gap, in nats per person, that does not matter.

    Returns
    -------
    tuple of FidelityResult
        One, of quantity "difference". Not measured without a holdout or where there are too few rows.

    Examples
    --------
    >>> import polars as pl
    >>> rng = np.random.default_rng(0)
    >>> a = rng.choice(["x", "y"], 3000)
    >>> people = pl.DataFrame({"a": a, "b": a})
    >>> real, holdout = people[:2000], people[2000:]
    >>> [found] = holdout_likelihood(real, real.with_columns(b=real["b"].shuffle(seed=1)), holdout=holdout)
    >>> found.verdict, round(found.value, 1)  # the log of 2: b is guessed instead of known
    ('differs', 0.7)
    """
    names = tuple(sorted(case.schema.usable() if columns is None else columns))
    why = unfit(case, names, ("real", "synthetic", "holdout")) or unfit(case, names, ("real",), 40)
    if why:
        return (FidelityResult(measure="holdout_likelihood", quantity="difference", notes=(why,)),)
    most = min(_ROWS, case.n_rows("real") // 2, case.n_rows("synthetic"))
    real = table_rows(case, names, "real", 2 * most, "likelihood real")
    parts = (
        *real.halves(case.rng("likelihood halves")),
        table_rows(case, names, "synthetic", most, "likelihood synthetic"),
    )
    test = table_rows(case, names, "holdout", _ROWS, "likelihood holdout")
    codes, sizes = coarse_codes([*parts, test])
    tree = chow_liu(np.concatenate(codes[:3]), sizes)
    each = [log_likelihood(tree, log_tables(tree, c, sizes), codes[3]) for c in codes[:3]]
    null, noise = _refits(case, tree, parts, codes, sizes)
    [tail] = permuted_p([float(null[0])], null[None, 1:])
    gap = _paired((each[0] + each[1]) / 2 - each[2], test.unit, noise, case.level)
    fresh = normal_quantile(case.level) * noise
    result = FidelityResult(
        measure="holdout_likelihood", quantity="difference", value=gap.value,
        fresh_sample=FreshSample(mean=0.0, low=-fresh, high=fresh), excess=gap.value, low=max(0.0, gap.low),
        high=max(0.0, gap.high), p_value=tail.p, p_adjusted=tail.p_adjusted, tolerance=tolerance, n=len(parts[0]),
        m=len(parts[2]), notes=sampled("the densities", real, parts[2]),
        context={
            "gap_low": gap.low, "gap_high": gap.high, "n_test": len(test),
            **{f"log_likelihood_{of}": math.fsum(e) / len(e) for of, e in zip(_PARTS, each, strict=True)},
        },
    )  # fmt: skip
    return (judged(result, case.level),)


_PARTS = ("real", "other_real", "synthetic")


def _paired(difference: Floats, unit: Ints, noise: float, level: float) -> Interval:
    """Return the mean difference over rows with its interval over units, widened by the noise of training rows."""
    n_rows = len(difference)
    mean = math.fsum(difference) / n_rows
    of_unit = np.bincount(np.unique(unit, return_inverse=True)[1].ravel(), weights=(difference - mean) / n_rows)
    n = len(of_unit)
    half = normal_quantile(level) * math.sqrt(math.fsum(of_unit**2) * n / max(1, n - 1) + noise**2)
    return Interval(mean, mean - half, mean + half)


def chow_liu(codes: Ints, sizes: Sequence[int]) -> Tree:
    """Return the tree of largest mutual information over the columns.

    Parameters
    ----------
    codes
        Shape (n, n_columns).
    sizes
        Number of codes of each column.

    Examples
    --------
    >>> a = np.array([0, 0, 1, 1]); b = np.array([0, 1, 0, 1])
    >>> chow_liu(np.column_stack([a, b, a]), [2, 2, 2]).parent  # the third column repeats the first
    (-1, 0, 0)
    """
    k = codes.shape[1]
    information = np.zeros((k, k))
    for a, b in combinations(range(k), 2):
        information[a, b] = information[b, a] = _information(codes[:, a], codes[:, b], sizes[a], sizes[b])
    order, parent = [0], [-1] * k
    best, of = information[0].copy(), np.zeros(k, dtype=np.int64)
    while len(order) < k:  # Prim; of equal information the first column
        best[order] = -1.0
        column = int(np.argmax(best))
        parent[column] = int(of[column])
        order.append(column)
        closer = information[column] > best
        best[closer], of[closer] = information[column][closer], column
    return Tree(tuple(order), tuple(parent))


def _information(a: Ints, b: Ints, n_a: int, n_b: int) -> float:
    table = np.bincount(a * n_b + b, minlength=n_a * n_b).reshape(n_a, n_b) / len(a)
    outer = table.sum(axis=1)[:, None] * table.sum(axis=0)
    there = table > 0
    return round(math.fsum(table[there] * np.log(table[there] / outer[there])), 12)


def _cells(tree: Tree, codes: Ints, sizes: Sequence[int]) -> list[tuple[Ints, int, int]]:
    """Return for each column of the tree the cell of each row, the number of parent codes and of own codes."""
    out = []
    for column in tree.order:
        parent = tree.parent[column]
        above = np.zeros(len(codes), dtype=np.int64) if parent < 0 else codes[:, parent]
        out.append((above * sizes[column] + codes[:, column], 1 if parent < 0 else sizes[parent], sizes[column]))
    return out


def log_tables(tree: Tree, codes: Ints, sizes: Sequence[int]) -> list[Floats]:
    """Return for each column of the tree the log of the share of each cell among the rows with its parent's code."""
    counts = [np.bincount(cell, minlength=a * b)[None] for cell, a, b in _cells(tree, codes, sizes)]
    shapes = [(a, b) for _, a, b in _cells(tree, codes, sizes)]
    return [_logs(c, *shape)[0] for c, shape in zip(counts, shapes, strict=True)]


def _logs(counts: Floats | Ints, n_above: int, n_own: int) -> Floats:
    """Return log shares of counts of shape (n, cells); one row of prior is shared by the cells of a parent code."""
    table = counts.reshape(len(counts), n_above, n_own) + _PRIOR / n_own
    return np.asarray(np.log(table / table.sum(axis=2, keepdims=True)).reshape(len(counts), -1))


def log_likelihood(tree: Tree, tables: Sequence[Floats], codes: Ints) -> Floats:
    """Return the log density of each row, shape (n,).

    Examples
    --------
    >>> tree, rows = Tree((0,), (-1,)), np.array([[0], [0], [1]])
    >>> np.exp(log_likelihood(tree, log_tables(tree, rows, [2]), rows)).round(3).tolist()  # (2 + 1/2) / (3 + 1)
    [0.625, 0.625, 0.375]
    """
    out = np.zeros(len(codes))
    widths = _widths(tree, tables)
    for column, table in zip(tree.order, tables, strict=True):
        parent = tree.parent[column]
        above = 0 if parent < 0 else codes[:, parent]
        out += table[above * widths[column] + codes[:, column]]
    return out


def _widths(tree: Tree, tables: Sequence[Floats]) -> dict[int, int]:
    """Return how many codes each column has."""
    out: dict[int, int] = {}
    for column, table in zip(tree.order, tables, strict=True):
        parent = tree.parent[column]
        out[column] = len(table) if parent < 0 else len(table) // out[parent]
    return out


def _refits(
    case: Case, tree: Tree, parts: Sequence[TableRows], codes: Sequence[Ints], sizes: Sequence[int]
) -> tuple[Floats, float]:
    """Return the gap of one real part to the synthetic table under the truth and relabelled blocks, and its noise.

    The noise is that of the gap to the mean of both real parts, from blocks of real rows.
    """
    blocks = [dealt_blocks(p, case.rng(f"likelihood blocks {i}")) for i, p in enumerate(parts)]
    found = []
    for other, draws in ((2, _DRAWS), (1, _NOISE)):
        labels = block_labels(blocks[0], blocks[other], draws, case.rng(f"likelihood labels {other}"))
        n_first = int(blocks[0].max()) + 1
        block = np.concatenate([blocks[0], blocks[other] + n_first])
        both = np.concatenate([codes[0], codes[other]])
        found.append(_gaps(tree, both, block, labels, codes[3], sizes))
    return found[0], float(found[1][1:].std(ddof=1)) * math.sqrt(0.75)


def _gaps(tree: Tree, codes: Ints, block: Ints, labels: Floats, test: Ints, sizes: Sequence[int]) -> Floats:
    gap = np.zeros(len(labels))
    n_blocks = labels.shape[1]
    with threadpool_limits(1):
        for (cell, a, b), (asked, _, _) in zip(_cells(tree, codes, sizes), _cells(tree, test, sizes), strict=True):
            counts = np.bincount(block * a * b + cell, minlength=n_blocks * a * b).reshape(n_blocks, a * b)
            weight = np.bincount(asked, minlength=a * b) / len(test)
            gap += (_logs(labels @ counts, a, b) - _logs((1 - labels) @ counts, a, b)) @ weight
    return gap
