"""Density, coverage, precision and recall of synthetic rows among the nearest neighbours of real rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from divulge.case.case import Case
from divulge.case.distances import distances_of
from divulge.kernels.neighbours.gower import Rows, Ruler, blocks, pairwise
from divulge.measures._permutation import Tail, fresh_sample, permuted_p
from divulge.measures._rows import Labelled, TableRows, labelled, relabelled, sampled, table_rows, unfit
from divulge.measures.entry import MeasureWords
from divulge.measures.registry import measure
from divulge.measures.result import FidelityResult, FreshSample
from divulge.measures.verdicts import judged

__all__ = ["NEAREST", "Neighbourhoods", "coverage_null", "density_coverage", "neighbourhoods"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

NEAREST = 5
"""The ball of a row reaches to its fifth neighbour in its own table, as published."""
_ROWS = 1_000  # rows of each table; a limit on the time
_LISTED = 40  # neighbours looked at: a ball with more synthetic rows than 36 counts as one with 36
_DRAWS = 999
_HALVES = 99  # relabellings of two samples of real rows
_FOUR = ("density", "coverage", "precision", "recall")

_WORDS = MeasureWords(
    what="The ball of a real row reaches to its fifth nearest real row; the measures count which rows lie in balls of "
    "the other table.",
    formula="density = synthetic rows in balls of real rows / (5 rows of the synthetic table)\n"
    "coverage = share of real rows with a synthetic row in the ball\n"
    "precision = share of synthetic rows in a ball of a real row\n"
    "recall = share of real rows in a ball of a synthetic row\n"
    "distance: mixed (Gower), as in the risk measures; real and synthetic rows are equally many",
    reading="A fresh sample has density 1, coverage 1 - (n-1)...(n-5) / ((2n-1)...(2n-5)), about 0.97, and precision "
    "and recall of about 0.92, from two samples of the real rows. Less coverage or recall: people are missing. Less "
    "density or precision: rows that no person is like. More coverage than a fresh sample has: rows repeat real ones.",
    silent=("Differences in a single column: all columns count alike in the distance.",),
)


class _Values(NamedTuple):
    density: float
    coverage: float
    precision: float
    recall: float


@dataclass(frozen=True, slots=True)
class Neighbourhoods:
    """The four measures and what relabelled rows give."""

    values: _Values
    tails: tuple[Tail, ...]
    """For each measure: "far" is less than a fresh sample has, "low" is more."""
    null: Floats
    """Shape (4, n_permutations)."""


@measure(
    family="joint",
    question="Are there synthetic rows like each real one, and real rows like each synthetic one?",
    needs="A usable column, and 20 rows of each table.",
    reference="Naeem, Oh, Uh, Choi and Yoo (2020), Reliable fidelity and diversity metrics for generative models; "
    "Kynkaanniemi et al. (2019), Improved precision and recall metric for assessing generative models.",
    better="near the reference",
    null="two samples of real rows; of coverage the formula of Naeem et al.",
    words=_WORDS,
    models=True,
)
def density_coverage(case: Case, *, columns: Sequence[str] | None = None) -> tuple[FidelityResult, ...]:
    """Return density, coverage, precision and recall with the values that a fresh sample has.

    Rows that are equally far come in an order that does not depend on the table.

    Parameters
    ----------
    columns
        Columns of the distance. None takes all usable ones.

    Returns
    -------
    tuple of FidelityResult
        Four, of quantity "share" (density: "ratio"). Not measured where no column is usable or a table has fewer than
        20 rows.

    Examples
    --------
    >>> import polars as pl
    >>> rng = np.random.default_rng(0)
    >>> real = pl.DataFrame({"a": rng.normal(size=100), "b": rng.normal(size=100)})
    >>> found = density_coverage(real, real)
    >>> [(f.variant, f.value) for f in found][1:]
    [('coverage', 1.0), ('precision', 1.0), ('recall', 1.0)]
    """
    names = tuple(sorted(case.schema.usable() if columns is None else columns))
    why = unfit(case, names)
    if why:
        return tuple(FidelityResult(measure="density_coverage", variant=v, notes=(why,)) for v in _FOUR)
    most = min(_ROWS, case.n_rows("real"), case.n_rows("synthetic"))
    tables = [_cut(table_rows(case, names, role, most, f"density {role}"), most) for role in ("real", "synthetic")]
    rows, lists = _listed(case, names, tables[0], tables[1], ("real", "synthetic"))
    found = neighbourhoods(lists, relabelled(rows, _DRAWS, case.rng("density labels")) > 0)
    fresh, halves = _fresh(case, names, most)
    return tuple(_result(case, i, found, fresh, tables, halves) for i in range(len(_FOUR)))


def _cut(rows: TableRows, most: int) -> TableRows:
    """Return at most so many rows: both tables must have equally many."""
    return rows if len(rows) <= most else rows.take(np.arange(most))


def _result(
    case: Case,
    i: int,
    found: Neighbourhoods,
    fresh: Floats,
    tables: Sequence[TableRows],
    halves: tuple[str, ...],
) -> FidelityResult:
    value, tail = float(found.values[i]), found.tails[i]
    shown = fresh_sample(fresh[i], case.level)
    if shown is not None and _FOUR[i] == "coverage" and case.unit is None:  # the formula is one of single rows
        shown = FreshSample(mean=coverage_null(len(tables[0]), len(tables[1])), low=shown.low, high=shown.high)
    # synthetic rows that all keep to where people are many have more density, precision or recall and are no copies
    near = tail if _FOUR[i] == "coverage" else None
    missing = float(found.null[i].mean()) - value
    spread = float(found.null[i].std(ddof=1))
    result = FidelityResult(
        measure="density_coverage", variant=_FOUR[i], quantity="ratio" if i == 0 else "share", value=value,
        fresh_sample=shown, excess=None if shown is None else value - shown.mean,
        low=max(0.0, missing - 1.96 * spread), high=max(0.0, missing + 1.96 * spread), p_value=tail.p,
        p_low_tail=near.p_low if near else None, p_adjusted=tail.p_adjusted,
        p_low_tail_adjusted=near.p_low_adjusted if near else None,
        n=len(tables[0]), m=len(tables[1]), notes=(*sampled("the neighbours", *tables), *halves),
    )  # fmt: skip
    return judged(result, case.level)


def _fresh(case: Case, names: Sequence[str], most: int) -> tuple[Floats, tuple[str, ...]]:
    """Return the four measures of two samples of real rows, relabelled, and a note where these are smaller."""
    rows = table_rows(case, names, "real", 2 * most, "density halves")
    one, other = rows.halves(case.rng("density split"))
    size = min(len(one), len(other), most)
    both, lists = _listed(case, names, _cut(one, size), _cut(other, size), ("real", "real"))
    found = neighbourhoods(lists, relabelled(both, _HALVES, case.rng("density half labels")) > 0)
    notes = () if size > 0.9 * most else (f"the fresh sample's range is that of two halves of {size:,} real rows",)
    return np.asarray(found.null), notes


def coverage_null(n: int, m: int, k: int = NEAREST) -> float:
    """Return the mean coverage of n real rows by a fresh sample of m rows.

    Examples
    --------
    >>> round(coverage_null(1000, 1000), 9)
    0.96898414
    """
    return 1 - math.prod((n - i) / (n + m - i) for i in range(1, k + 1))


def _listed(
    case: Case, names: Sequence[str], real: TableRows, other: TableRows, roles: tuple[str, str]
) -> tuple[Labelled, Ints]:
    """Return the rows of both together, and the nearest other rows of each."""
    distances = distances_of(case, names)
    rows = labelled(real, other, case.rng(f"density order {roles}"))
    taken = [distances.rows(role).take(t.row) for role, t in zip(roles, (real, other), strict=True)]
    return rows, nearest_of_all(distances.ruler, Rows.stack(taken).take(rows.source))


def nearest_of_all(ruler: Ruler, rows: Rows, listed: int = _LISTED) -> Ints:
    """Return the nearest other rows of each row, shape (n, listed) or fewer; of equally far rows the first."""
    n = len(rows)
    listed = min(listed, n - 1)
    out = np.empty((n, listed), dtype=np.int64)
    for block in blocks(n, n):
        far = pairwise(ruler, rows.take(np.arange(n)[block]), rows)
        far[np.arange(len(far)), np.arange(n)[block]] = np.inf
        out[block] = np.argsort(far, axis=1, kind="stable")[:, :listed]
    return out


def neighbourhoods(lists: Ints, labels: Bools, k: int = NEAREST) -> Neighbourhoods:
    """Return the four measures under the truth and under permuted labels.

    Parameters
    ----------
    lists
        The nearest other rows of each row, shape (n, listed).
    labels
        Shape (n, 1 + n_permutations), true for a real row; the first column is the truth.
    k
        The ball of a row reaches to its k-th neighbour in its own table.
    """
    every = np.array(list(_measured(lists, labels, k))).T
    tails = permuted_p([-v for v in every[:, 0]], -every[:, 1:])
    return Neighbourhoods(_Values(*map(float, every[:, 0])), tuple(tails), every[:, 1:])


def _measured(lists: Ints, labels: Bools, k: int) -> Iterator[_Values]:
    lists = lists.astype(np.int32)
    for is_real in labels.T:
        same = is_real[lists] == is_real[:, None]
        inside = ~same & (np.cumsum(same, axis=1, dtype=np.int8) < k)  # of the other table, nearer than the k-th own
        covers = inside.any(axis=1)
        hit = np.zeros((2, len(is_real)), dtype=bool)
        for found, side in zip(hit, (is_real, ~is_real), strict=True):
            found[lists[side][inside[side]]] = True
        n_real, n_other = int(is_real.sum()), int((~is_real).sum())
        yield _Values(
            int(inside[is_real].sum()) / (k * max(1, n_other)), int(covers[is_real].sum()) / max(1, n_real),
            int(hit[0].sum()) / max(1, n_other), int(hit[1].sum()) / max(1, n_real),
        )  # fmt: skip
