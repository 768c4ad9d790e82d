"""Rows that break a rule between two columns which every real row keeps, against relabelled blocks of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, groupby

import numpy as np
from numpy.typing import NDArray

from divulge.case.case import Case
from divulge.kernels.counts.histograms import pair_histograms
from divulge.measures._counted import Found, Unit, counted_results
from divulge.measures.blocks import Dealt, compared_columns, smallest
from divulge.measures.entry import MeasureWords
from divulge.measures.noise_floor import Family, leave_one_out, on_grid
from divulge.measures.registry import measure
from divulge.measures.result import TOLERANCE, FidelityResult

__all__ = ["column_rules"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_LEVELS = 50  # values of a column of numbers up to which they are combined as categories are
_CELLS = 400_000  # of all pairs together; start value
_BATCH = 2**11  # cells that are relabelled at once
_PAIR, _ROW_OF_A_PAIR = 1.6e-4, 6e-10
"""CPU seconds for a pair of columns, each counted twice, and for a row of it: measured (docs/decisions/measures.md)."""
_TOGETHER = 64  # pairs whose cells are counted at once
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
    share=0.5,  # the other half is that of validity: both ask which rows there cannot be
    seconds=lambda rows, columns: columns**2 * (_PAIR + _ROW_OF_A_PAIR * rows),
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
    for (kind, a, b), counts in _counted(case, rows, chosen):
        family.add_distances(*_broken(counts[:, counts.any(axis=0)], rows))
        units.append(Unit((a, b), kind))
    return Found(units, family.floors(), notes=notes)


_Rule = tuple[str, str, str]
"""A kind, and its two columns."""


def _counted(case: Case, rows: Dealt, chosen: Sequence[_Rule]) -> Iterator[tuple[_Rule, Ints]]:
    """Yield each pair with the rows of each block in its cells, but for rows in which a value is missing."""
    pairs = [rule for rule in chosen if rule[0] == _COMBINATION]
    sizes = {n: case.n_codes(n, binned=False) for _, a, b in pairs for n in (a, b)}
    codes = {n: rows.both(tuple(smallest(c, sizes[n]) for c in case.codes(n, binned=False))) for n in sizes}
    for first in range(0, len(pairs), _TOGETHER):
        batch = pairs[first : first + _TOGETHER]
        used = sorted({n for _, a, b in batch for n in (a, b)})
        counts = pair_histograms(
            [codes[n] for n in used], [sizes[n] for n in used],
            [(used.index(a), used.index(b)) for _, a, b in batch], blocks=rows.block, n_blocks=len(rows.labels.sizes),
        )  # fmt: skip
        for place, rule in enumerate(batch):
            yield rule, counts.blocks(place)[:, 1:, 1:].reshape(len(rows.labels.sizes), -1)
    orders = [rule for rule in chosen if rule[0] == _ORDER]
    for a, of_first in groupby(orders, key=lambda rule: rule[1]):
        one = _numbers(case, rows, a)
        for rule in of_first:
            yield rule, rows.histograms([_order(one, _numbers(case, rows, rule[2]))], [4]).counts[:, 1:]


def _numbers(case: Case, rows: Dealt, name: str) -> Floats:
    """Return the number of each row, nan where there is none."""
    return np.asarray(case.numbers(name)[rows.both(case.codes(name, binned=False))])


def _order(one: Floats, other: Floats) -> NDArray[np.uint8]:
    """Return 1, 2 or 3 for a larger, an equal and a smaller first number, 0 where one is missing."""
    with np.errstate(invalid="ignore"):
        place = (one < other).astype(np.uint8)
        place += one <= other
        place += (one <= other) | (one > other)
    return place


def _chosen(case: Case, names: tuple[str, ...]) -> tuple[list[_Rule], tuple[str, ...]]:
    """Return the pairs that have rules, whichever table the real one is compared with, and what was left out."""
    n_rows = sum(case.n_rows(role) for role in ("real", "synthetic"))
    numbers = {n: case.numbers(n)[case.encoded.occurs(n)] for n in names if case.encoded.is_number(n)}
    ends = {n: (np.nanmin(v), np.nanmax(v)) for n, v in numbers.items() if not np.isnan(v).all()}
    found, cells, many = list[_Rule](), list[int](), 0
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


def _broken(counts: NDArray[np.int64], rows: Dealt) -> tuple[Floats, Floats, Floats]:
    """Return the share of the other table's rows in cells without a real row: relabelled, fresh, and without blocks."""
    labels, sizes = rows.labels, rows.labels.sizes
    # a cell that nearly all blocks have is never without a real row
    counts = counts[:, np.count_nonzero(counts, axis=0) <= len(sizes) - labels.n_first + 1]
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
