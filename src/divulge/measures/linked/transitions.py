"""Which value follows which along sequences in two tables, over relabelled blocks of sequences."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from divulge.case.relational.linked import Linked
from divulge.measures._counted import Unit
from divulge.measures.entry import MeasureWords
from divulge.measures.linked.families import Families
from divulge.measures.linked.ordered import LAGS, NOTHING, checked_lags, lagged, sequences_of
from divulge.measures.linked.parts import Found, cells_of, linked_results, taken
from divulge.measures.linked.registry import linked_measure
from divulge.measures.result import TOLERANCE, FidelityResult

__all__ = ["transitions"]


@linked_measure(
    family="sequences",
    question="Do the same values follow each other as in the real sequences?",
    needs="sequences of two rows, and a column that changes along them",
    reference="Anderson and Goodman 1957 (transition counts of Markov chains).",
    words=MeasureWords(
        what="The shares of each pair of values that stand one, two and five rows apart in one sequence; numbers are "
        "in ten bins.",
        formula="d = 1/2 sum over cells of |r - s|\nr, s: shares of the pairs of rows; missing is a value.",
        reading="0 is the same transitions. A fresh sample is never at 0: the ruler divides by what it shows.",
        silent=("What depends on three rows or more; within a bin nothing is compared.",),
    ),
)
def transitions(
    linked: Linked, *, tolerance: float = TOLERANCE, lags: Sequence[int] = LAGS
) -> tuple[FidelityResult, ...]:
    """Return how far the transitions along sequences are from the real ones, and a fresh sample's would be.

    The first result is the mean over all columns and lags; it differs where any does.

    Parameters
    ----------
    tolerance
        The largest difference that does not matter.
    lags
        Rows between the members of a pair.

    Examples
    --------
    >>> import polars as pl
    >>> def days(states):
    ...     rows = range(len(states))
    ...     return pl.DataFrame({"who": [i // 4 for i in rows], "day": [i % 4 for i in rows], "state": states})
    >>> real, other = days(["a", "b"] * 200), days(["a", "a", "b", "b"] * 100)
    >>> found = transitions(real, other, sequence_key="who", sequence_index="day", lags=[1])
    >>> found[1].columns, found[1].variant, found[1].verdict
    (('table.state',), 'lag 1', 'differs')
    """
    steps = checked_lags(lags)
    return linked_results(linked, "transitions", tolerance, partial(_transitions, linked, steps), nothing=NOTHING)


def _transitions(linked: Linked, lags: Sequence[int], families: Families, found: Found) -> None:
    for own in sequences_of(linked, families):
        columns = {name: cells_of(families, own.table, name) for name in own.dynamic}
        for lag in lags:
            earlier, later = lagged(own, lag)
            rows = families.dealt(own.table, f"transitions {lag}", later)
            if rows is None or not columns:
                continue
            units = [Unit((f"{own.table}.{name}",), f"lag {lag}", own.note, table=own.table) for name in columns]
            pairs = [(taken(c, earlier), taken(c, later)) for c in columns.values()]
            found.add_counts(rows, units, pairs)
