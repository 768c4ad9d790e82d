"""Pairs of a column that is constant along a sequence and one that changes, over relabelled blocks of sequences."""

from __future__ import annotations

from functools import partial

import numpy as np

from divulge.case.relational.linked import Linked
from divulge.measures._counted import Unit
from divulge.measures.entry import MeasureWords
from divulge.measures.linked.families import Families
from divulge.measures.linked.ordered import NOTHING, Sequences, sequences_of
from divulge.measures.linked.parts import Found, cells_of, linked_results, taken
from divulge.measures.linked.registry import linked_measure
from divulge.measures.linked.related_pairs import drawn
from divulge.measures.result import TOLERANCE, FidelityResult

__all__ = ["static_by_dynamic"]


@linked_measure(
    family="sequences",
    question="Do sequences belong to the kind of people that they belong to in the real table?",
    needs="sequences with a column that is constant along each and one that changes",
    reference="Westfall and Young 1993 (max-T).",
    words=MeasureWords(
        what="The shares of each pair of a static and a dynamic value; numbers are in ten bins.",
        formula=(
            "d = 1/2 sum over cells of |r - s|\n"
            "by row: r, s are shares of the rows\n"
            "by sequence: of the sequences, each with one of its rows, drawn"
        ),
        reading="0 is the same counts. By row, long sequences count most; by sequence, each counts once.",
        silent=("Within a bin nothing is compared.",),
    ),
)
def static_by_dynamic(linked: Linked, *, tolerance: float = TOLERANCE) -> tuple[FidelityResult, ...]:
    """Return how far pairs of static and dynamic columns are from the real ones, and a fresh sample's would be.

    The first result is the mean over all pairs; it differs where any does. p-values are corrected over all of them.

    Parameters
    ----------
    tolerance
        The largest difference that does not matter.

    Examples
    --------
    >>> import polars as pl
    >>> def days(states):
    ...     rows = range(len(states))
    ...     who = pl.DataFrame({"who": [i // 4 for i in rows], "day": [i % 4 for i in rows]})
    ...     return who.with_columns(sex=pl.Series((["f"] * 4 + ["m"] * 4) * 50), state=pl.Series(states))
    >>> real, other = days(["a", "a", "a", "b", "b", "b", "b", "a"] * 50), days(["a", "b"] * 200)
    >>> found = static_by_dynamic(real, other, sequence_key="who", sequence_index="day")
    >>> found[1].columns, found[1].variant, found[1].value, found[1].verdict
    (('table.sex', 'table.state'), 'by row', 0.25, 'differs')
    """
    return linked_results(
        linked, "static_by_dynamic", tolerance, partial(_every, linked),
        nothing=f"no column is constant along sequences while another changes, or {NOTHING}",
    )  # fmt: skip


def _every(linked: Linked, families: Families, found: Found) -> None:
    for own in sequences_of(linked, families):
        if own.static and own.dynamic:
            _pairs(own, families, found)


def _pairs(own: Sequences, families: Families, found: Found) -> None:
    sequences = own.of_rows()
    every = [np.flatnonzero(s >= 0) for s in sequences]
    once = [drawn(s, d) for s, d in zip(sequences, families.draws(own.table, "one row"), strict=True)]
    for variant, rows in (("by row", every), ("by sequence", once)):
        numbers = (rows[0], rows[1])
        dealt = families.dealt(own.table, f"static {variant}", numbers)
        if dealt is None:
            continue
        cells = {n: taken(cells_of(families, own.table, n), numbers) for n in (*own.static, *own.dynamic)}
        pairs = [(a, b) for a in own.static for b in own.dynamic]
        units = [Unit((f"{own.table}.{a}", f"{own.table}.{b}"), variant, table=own.table) for a, b in pairs]
        found.add_counts(dealt, units, [(cells[a], cells[b]) for a, b in pairs])
