"""Lengths, starts and gaps of sequences in two tables, over relabelled blocks of sequences."""

from __future__ import annotations

from functools import partial

import numpy as np

from divulge.case.encoded import ROLES
from divulge.case.relational.linked import Linked
from divulge.measures._counted import Unit
from divulge.measures.entry import MeasureWords
from divulge.measures.linked.families import Families, Floats
from divulge.measures.linked.ordered import NOTHING, Sequences, lagged, sequences_of
from divulge.measures.linked.parts import Found, binned_numbers, compared, linked_results
from divulge.measures.linked.registry import linked_measure
from divulge.measures.result import TOLERANCE, FidelityResult

__all__ = ["sequences"]

_BINS = 64


@linked_measure(
    family="sequences",
    question="Are sequences as long, do they start as early, and are their rows as far apart as in the real table?",
    needs="a column that names the sequence of a row, and one that orders its rows",
    reference="Kolmogorov 1933; Smirnov 1939.",
    words=MeasureWords(
        what="The rows of each sequence, and, where the index is a number or a date, its first value and the steps "
        "from row to row.",
        formula="d = max over x of |F_R(x) - F_S(x)|, F the distribution function in up to 64 bins",
        reading="0 is the same distribution. A fresh sample is never at 0: the ruler divides by what it shows.",
        silent=("What happens along a sequence: transitions and autocorrelation look at that.",),
    ),
)
def sequences(linked: Linked, *, tolerance: float = TOLERANCE) -> tuple[FidelityResult, ...]:
    """Return how far lengths, starts and gaps of sequences are from the real ones, and a fresh sample's would be.

    The first result is the mean over all units; it differs where any does. p-values are corrected over all of them.

    Parameters
    ----------
    tolerance
        The largest difference that does not matter.

    Examples
    --------
    >>> import polars as pl
    >>> def visits(n):
    ...     return pl.DataFrame({"who": [i // n for i in range(60 * n)], "day": [i % n for i in range(60 * n)]})
    >>> found = sequences(visits(4), visits(6), sequence_key="who", sequence_index="day")
    >>> found[1].variant, found[1].value, found[1].verdict
    ('length', 1.0, 'differs')
    """
    return linked_results(linked, "sequences", tolerance, partial(_shapes, linked), nothing=NOTHING)


def _shapes(linked: Linked, families: Families, found: Found) -> None:
    for own in sequences_of(linked, families):
        _lengths(own, families, found)
        for column in (c for c in own.index if c in compared(linked, own.table)):
            numbers = linked.case(own.table).numbers(column)
            codes = linked.case(own.table).codes(column, binned=False)
            if np.isfinite(numbers).any():
                values = [numbers[codes[ROLES.index(role)]] for role in families.roles]
                _in_time(own, column, (values[0], values[1]), families, found)


def _lengths(own: Sequences, families: Families, found: Found) -> None:
    """Add lengths, one for each sequence, dealt with its first row."""
    first = (own.order[0].rows[own.order[0].starts[:-1]], own.order[1].rows[own.order[1].starts[:-1]])
    rows = families.dealt(own.table, "lengths", first)
    if rows is None:
        return
    lengths = [order.lengths.astype(np.float64) for order in own.order]
    means = {f"mean {role}": round(float(n.mean()), 12) for role, n in zip(families.roles, lengths, strict=True)}
    unit = Unit(variant="length", context=dict(means), table=own.table)
    found.add_counts(rows, [unit], [(binned_numbers((lengths[0], lengths[1]), _BINS),)])


def _in_time(
    own: Sequences, column: str, values: tuple[Floats, Floats], families: Families, found: Found
) -> None:  # fmt: skip
    first = (own.order[0].rows[own.order[0].starts[:-1]], own.order[1].rows[own.order[1].starts[:-1]])
    name = (f"{own.table}.{column}",)
    rows = families.dealt(own.table, f"starts {column}", first)
    if rows is not None:
        starts = binned_numbers((values[0][first[0]], values[1][first[1]]), _BINS)
        found.add_counts(rows, [Unit(name, "start", own.note, table=own.table)], [(starts,)])
    earlier, later = lagged(own, 1)
    rows = families.dealt(own.table, f"gaps {column}", later)
    if rows is not None:
        gaps = [v[b] - v[a] for v, a, b in zip(values, earlier, later, strict=True)]
        cells = binned_numbers((gaps[0], gaps[1]), _BINS)
        found.add_counts(rows, [Unit(name, "gap", own.note, table=own.table)], [(cells,)])
