"""How alike rows of one sequence are that stand some rows apart, over relabelled blocks of sequences."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from divulge.case.relational.linked import Linked
from divulge.measures.entry import MeasureWords
from divulge.measures.linked.families import Families
from divulge.measures.linked.ordered import LAGS, NOTHING, checked_lags, lagged, sequences_of
from divulge.measures.linked.parts import Found, linked_results
from divulge.measures.linked.registry import linked_measure
from divulge.measures.linked.siblings import add_likeness
from divulge.measures.result import TOLERANCE, FidelityResult

__all__ = ["autocorrelation"]


@linked_measure(
    family="sequences",
    question="Do numbers along a sequence depend on earlier ones as in the real table?",
    needs="sequences of two rows, and a column of numbers that changes along them",
    reference="Fisher 1921 (the z of a correlation).",
    words=MeasureWords(
        what="The correlation of numbers that stand one, two and five rows apart in one sequence.",
        formula="d = tanh(|z_R - z_S|), z = artanh(r), r the correlation over all pairs of rows",
        reading="0 is the same correlation. Levels of sequences that differ from each other count too.",
        silent=("A dependence that neither rises nor falls: transitions count values.",),
    ),
)
def autocorrelation(
    linked: Linked, *, tolerance: float = TOLERANCE, lags: Sequence[int] = LAGS
) -> tuple[FidelityResult, ...]:
    """Return how far autocorrelations are from the real ones, and a fresh sample's would be.

    The first result is the mean over all columns and lags; it differs where any does. `context` has the correlations.

    Parameters
    ----------
    tolerance
        The largest difference that does not matter.
    lags
        Rows between the members of a pair.

    Examples
    --------
    >>> import polars as pl
    >>> def days(numbers):
    ...     rows = range(len(numbers))
    ...     return pl.DataFrame({"who": [i // 4 for i in rows], "day": [i % 4 for i in rows], "x": numbers})
    >>> real, other = days([0.5, 1.5, 0.5, 1.5] * 100), days([0.5, 0.5, 1.5, 1.5] * 100)
    >>> real, other = (t.with_columns(x=t["x"] + t["who"] / 100) for t in (real, other))
    >>> found = autocorrelation(real, other, sequence_key="who", sequence_index="day", lags=[1])
    >>> found[1].columns, found[1].variant, found[1].verdict
    (('table.x',), 'lag 1', 'differs')
    """
    steps = checked_lags(lags)
    return linked_results(
        linked, "autocorrelation", tolerance, partial(_correlations, linked, steps),
        nothing=f"no column of numbers changes along sequences, or {NOTHING}",
    )  # fmt: skip


def _correlations(linked: Linked, lags: Sequence[int], families: Families, found: Found) -> None:
    for own in sequences_of(linked, families):
        numbers = [name for name in own.dynamic if linked.case(own.table).encoded.is_number(name)]
        for lag in lags:
            pairs = lagged(own, lag)
            rows = families.dealt(own.table, f"autocorrelation {lag}", pairs[1])
            if rows is None:
                continue
            for name in numbers:
                add_likeness(
                    families, found, rows, (own.table, name), pairs, own.table, f"lag {lag}", notes=own.note,
                    in_order=True,
                )  # fmt: skip
