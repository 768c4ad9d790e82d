"""The ends of columns of numbers, and rare values, in two tables, against relabelled blocks of rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from divulge.case.case import Case
from divulge.measures._counted import Found, Unit, counted_results
from divulge.measures.blocks import Dealt, compared_columns
from divulge.measures.entry import MeasureWords
from divulge.measures.noise_floor import Family
from divulge.measures.registry import checked_tolerance, measure
from divulge.measures.result import FidelityResult

__all__ = ["tails"]

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

_SHARES = (0.005, 0.01, 0.05)
"""Shares of the rows of all tables that an end of a column has."""
_RARE = 0.05
_FEWEST_ROWS = 8  # of an end: with fewer no relabelling would be rare enough


@measure(
    family="columns",
    question="Are the ends of numbers and the rare values there as often as in the real table?",
    needs="columns of numbers, dates or categories with rare values; a holdout shows what another sample scores",
    reference="Westfall and Young 1993 (max-T).",
    better="lower",
    null="The rows of both tables are dealt into blocks and the blocks relabelled 999 times.",
    words=MeasureWords(
        what=(
            "The rows at the ends of each column of numbers (0.5, 1 and 5% on each side) and the rows with the rarest "
            "values of each other column (together at most 5%)."
        ),
        formula=(
            "d = |r - s| / (r + s)\n"
            "r, s: shares of the rows at this end, in the real and in the synthetic table; where an end begins is "
            "decided by all tables together."
        ),
        reading="0 is as many rows, 1 is none in one of the tables; 1/3 is twice as many in one as in the other.",
        silent=("The very largest and smallest value belong to single people and are not compared.",),
    ),
)
def tails(case: Case, *, relative_tolerance: float = 0.2) -> tuple[FidelityResult, ...]:
    """Return how far the ends and rare values of the synthetic table are from the real ones.

    The first result is the mean over the ends; it differs where any does. p-values are corrected over all of them
    (max-T). Ends with fewer than 8 rows over all tables are left out.

    Parameters
    ----------
    relative_tolerance
        The largest difference of the shares, over their sum, that does not matter: 0.2 is half as many rows again in
        one table as in the other.

    Examples
    --------
    >>> import polars as pl
    >>> real = pl.DataFrame({"x": [i / 7 for i in range(1000)]})
    >>> found = tails(real, pl.DataFrame({"x": [min(max(x, 7.0), 135.0) for x in real["x"]]}))
    >>> found[1].variant, found[1].value, found[1].verdict
    ('low 0.5%', 1.0, 'differs')
    """
    return counted_results(
        case, "tails", checked_tolerance(relative_tolerance), _tails, "no column has an end or rare values of 8 rows"
    )


def _tails(case: Case, rows: Dealt) -> Found | None:
    units, parts = [], []
    for name in compared_columns(case):
        ends = list(_ends(case, name) if case.encoded.is_number(name) else _rare(case, name))
        if ends:
            units += [Unit((name,), variant) for variant, _ in ends]
            parts.append(_counts(case, rows, name, np.array([there for _, there in ends])))
    if not units:
        return None
    counts = np.concatenate(parts, axis=1)
    n, m = rows.n, rows.m
    inside = counts[:, 1::2]
    n_first = rows.labels.n_first
    sums = inside[:n_first].sum(axis=0) / n + inside[n_first:].sum(axis=0) / m
    family = Family(rows.labels, case.level)
    start = 2 * np.arange(len(units) + 1)
    family.add(counts, start, weights=1 / np.where(sums > 0, sums, 1.0))
    return Found(units, family.floors())


def _counts(case: Case, rows: Dealt, name: str, ends: Mask) -> Ints:
    """Return the rows of each block outside and inside each end, shape (n_blocks, 2 * n_ends); ends are masks of codes.

    Codes that belong to the same ends are counted together, so that each row is looked at once.
    """
    bit = 1 << np.arange(len(ends))
    together, region = np.unique(bit @ ends, return_inverse=True)
    place = region.astype(np.uint8)
    own = rows.both(tuple(place[c] for c in case.codes(name, binned=False)))
    counts = rows.histograms([own], [len(together)]).counts
    inside = counts @ (together[:, None] & bit > 0).astype(np.int64)
    outside = counts.sum(axis=1, keepdims=True) - inside
    return np.stack([outside, inside], axis=2).reshape(len(counts), -1)


def _ends(case: Case, name: str) -> Iterator[tuple[str, Mask]]:
    """Yield each end of a column of numbers, as a mask of its codes."""
    numbers, counts = case.numbers(name), np.sum(case.pooled(name).counts, axis=0)
    levels = np.flatnonzero(~np.isnan(numbers) & (counts > 0))
    levels = levels[np.argsort(numbers[levels], kind="stable")]
    total = int(counts[levels].sum())
    for side, ordered in (("low", levels), ("high", levels[::-1])):
        below = np.cumsum(counts[ordered])
        seen = 0
        for share in _SHARES:
            last = int(np.searchsorted(below, max(1, round(share * total)), side="left"))
            size = int(below[last]) if last < len(below) else 0
            # an end that a common value fills is no end; two shares that end at one value are one end
            if size < _FEWEST_ROWS or size > 2 * _SHARES[-1] * total or size == seen:
                continue
            seen = size
            there = np.zeros(len(numbers), dtype=bool)
            there[ordered[: last + 1]] = True
            yield f"{side} {100 * share:g}%", there


def _rare(case: Case, name: str) -> Iterator[tuple[str, Mask]]:
    """Yield the rarest values of a column, together at most 5% of all rows, as a mask of its codes."""
    counts = np.sum(case.pooled(name).counts, axis=0)
    # values that occur equally often are rare together or not at all, so that their names change nothing
    often, which = np.unique(counts, return_inverse=True)
    rows = np.bincount(which, weights=counts)
    most = int(np.searchsorted(np.cumsum(rows), _RARE * counts.sum(), side="right"))
    there = (which.ravel() < most) & (counts > 0)
    if counts[there].sum() >= _FEWEST_ROWS and often.size > most:
        yield "rare values", there
