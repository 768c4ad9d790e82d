"""Rows that break a rule between two columns which every real row keeps, against relabelled blocks of rows."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from divulge.case.case import Case
from divulge.measures._counted import Found, Unit, counted_results
from divulge.measures.blocks import Dealt, compared_columns
from divulge.measures.entry import MeasureWords
from divulge.measures.noise_floor import Family, leave_one_out, on_grid
from divulge.measures.registry import measure
from divulge.measures.result import TOLERANCE, FidelityResult

__all__ = ["column_rules"]

Floats = NDArray[np.float64]

_LEVELS = 50  # values of a column of numbers up to which they are combined as categories are
_CELLS = 400_000  # of all pairs together; start value
_BATCH = 2**11  # cells that are relabelled at once
_COMBINATION, _ORDER = "combination", "order"
_MEASURE = "column_rules"


@measure(
    family="validity",
    question="Do synthetic rows break rules of two columns that each real row keeps, more than a fresh sample would?",
    needs="two columns of categories, of numbers or of dates; a holdout shows how often real people break them",
    reference="Good 1953 (unseen kinds in a sample); Ilyas and Chu 2019 (constraints that data keep).",
    better="lower",
    null="The rows of both tables are dealt into blocks and the blocks relabelled 999 times.",
    words=MeasureWords(
        what=(
            "Synthetic rows with two values that no real row has together, or with two numbers or dates in an order "
            "(smaller, equal, larger) in which no real row has them."
        ),
        formula="combination, order: d = share of synthetic rows in cells of the pair that no real row is in",
        reading=(
            "A fresh sample is not at 0: rare values meet for the first time in each sample. An order that no real row "
            "has, such as a death before a birth, hardly occurs in a fresh sample."
        ),
        silent=(
            "A rule that some real row breaks: column_pairs compares the shares.",
            "Rules of three columns, and those on sums or differences: detection looks at whole rows.",
        ),
    ),
    on_demand=(
        "divulge fidelity makes it where --measures names it: column_pairs and detection see most broken rules, and "
        "each further measure makes all others a little less sure."
    ),
)
def column_rules(case: Case, *, tolerance: float = TOLERANCE) -> tuple[FidelityResult, ...]:
    """Return how often synthetic rows break rules of two columns that every real row keeps, and a fresh sample's would.

    The rules are found in the real table: values of two categories that never occur together, and orders of two numbers
    or two dates that never occur. The first result is the mean over all pairs; it differs where any does. p-values are
    corrected over all of them (max-T). Missing values break no rule. Pairs with more cells than half the rows are left
    out, and a note says so.

    Parameters
    ----------
    tolerance
        The largest difference that does not matter.

    Examples
    --------
    >>> import polars as pl
    >>> real = pl.DataFrame({"born": [i % 97 for i in range(400)], "died": [i % 97 + i % 90 for i in range(400)]})
    >>> found = column_rules(real, real.with_columns(died=pl.col("died").shuffle(seed=1)))
    >>> found[1].columns, found[1].variant, found[1].value > 0.1, found[1].verdict
    (('born', 'died'), 'order', True, 'differs')
    """
    return counted_results(case, _MEASURE, tolerance, _rules, "no two columns can be compared")


def _rules(case: Case, rows: Dealt) -> Found | None:
    names = compared_columns(case)
    chosen, notes = case.cache.once(("column rules",), lambda: _chosen(case, names))
    if not chosen:
        return None
    family, units = Family(rows.labels, case.level), []
    for kind, a, b in chosen:
        codes, size = (_combined if kind == _COMBINATION else _ordered)(case, rows, a, b)
        counts = rows.histograms([codes], [size]).counts[:, 1:]  # cell 0 has the rows without a value
        family.add_distances(*_broken(counts[:, counts.any(axis=0)], rows))
        units.append(Unit((a, b), kind))
    return Found(units, family.floors(), notes=notes)


def _chosen(case: Case, names: tuple[str, ...]) -> tuple[list[tuple[str, str, str]], tuple[str, ...]]:
    """Return the pairs that have rules, whichever table the real one is compared with, and what was left out."""
    n_rows = sum(case.n_rows(role) for role in ("real", "synthetic"))
    numbers = {n: case.numbers(n)[case.encoded.occurs(n)] for n in names if case.encoded.is_number(n)}
    ends = {n: (np.nanmin(v), np.nanmax(v)) for n, v in numbers.items() if not np.isnan(v).all()}
    found, cells, many = list[tuple[str, str, str]](), list[int](), 0
    for a, b in combinations(names, 2):
        sizes = [case.n_codes(n, binned=False) for n in (a, b)]
        coded = all(n not in numbers or s <= _LEVELS for n, s in zip((a, b), sizes, strict=True))
        if coded and sizes[0] * sizes[1] <= n_rows / 2:
            found.append((_COMBINATION, a, b))
            cells.append(sizes[0] * sizes[1])
        elif coded:
            many += 1
        dates = [case.schema[n].kind == "datetime" for n in (a, b)]
        if a in ends and b in ends and dates[0] == dates[1] and _meet(ends[a], ends[b]):
            found.append((_ORDER, a, b))
            cells.append(3)
    notes = [f"pairs left out, as they have more cells than half the rows: {many:,}"] if many else []
    if sum(cells) > _CELLS:
        order = case.rng("fidelity rules").permutation(len(found))
        kept = np.sort(order[: max(1, int(np.searchsorted(np.cumsum(np.array(cells)[order]), _CELLS, side="right")))])
        notes.append(f"{len(kept):,} of {len(found):,} pairs were drawn: there are too many cells")
        found = [found[i] for i in kept]
    return found, tuple(notes)


def _meet(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Return whether two ranges have a number in common; without one, all rows have the same order."""
    return bool(one[0] <= other[1] and other[0] <= one[1])


def _combined(case: Case, rows: Dealt, a: str, b: str) -> tuple[NDArray[np.int32], int]:
    """Return a code for the two values of each row, 0 where one is missing, and the number of codes."""
    one, other = (rows.both(case.codes(n, binned=False)).astype(np.int32) for n in (a, b))
    wide = case.n_codes(b, binned=False)
    return np.where((one > 0) & (other > 0), one * wide + other, 0), case.n_codes(a, binned=False) * wide


def _ordered(case: Case, rows: Dealt, a: str, b: str) -> tuple[NDArray[np.int32], int]:
    """Return 1, 2 or 3 for a smaller, an equal and a larger first number, 0 where one is missing, and 4."""
    one, other = (case.numbers(n)[rows.both(case.codes(n, binned=False))] for n in (a, b))
    with np.errstate(invalid="ignore"):
        order = np.where(one < other, 1, np.where(one > other, 3, 2))
    return np.where(np.isnan(one) | np.isnan(other), 0, order).astype(np.int32), 4


def _broken(counts: NDArray[np.int64], rows: Dealt) -> tuple[Floats, Floats, Floats]:
    """Return the share of the other table's rows in cells without a real row: relabelled, fresh, and without blocks."""
    labels, sizes = rows.labels, rows.labels.sizes
    null, without = np.zeros(len(labels.first)), np.zeros(len(sizes))
    for begin in range(0, counts.shape[1], _BATCH):
        cells = counts[:, begin : begin + _BATCH].astype(np.float64)
        ours = labels.first @ cells
        null += np.where(ours == 0, cells.sum(axis=0), 0.0).sum(axis=1)
        real, other = leave_one_out(cells, labels.n_first)
        without += np.where(real == 0, other, 0.0).sum(axis=1)
    left = leave_one_out(sizes[:, None], labels.n_first)[1][:, 0]
    null /= np.maximum(sizes.sum() - labels.first @ sizes, 1)
    null, without = on_grid(null)[:, None], on_grid(without / np.maximum(left, 1))[:, None]
    return null, null[1:], without
