"""Runs: stretches of a person's rows, in their order, that one synthetic person has in a row.

So are runs of the intervals between rows: whoever moves all times of a person by some days leaves these as they are.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from divulge.case.column_facts import OWN_NUMBERS
from divulge.case.relational.persons import Steps
from divulge.core.result import Result
from divulge.kernels.runs import has_run, shared_runs

__all__ = ["RUN", "RUN_HITS", "RUN_NOTES", "RUN_OF_INTERVALS", "runs_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_CHANCE = 0.02  # share of people who have such a run with another person, at most
_LONGEST = 50
RUN, RUN_OF_INTERVALS = "run", "run of intervals"
_NOTES = {
    RUN: "a run is {} rows in their order, with numbers in bins and without the time; who has fewer was not asked",
    RUN_OF_INTERVALS: "a run is {} intervals between one row and the next, in their order; who has fewer was not asked",
}
_SIZES = ("shorter ", "", "longer ")
RUN_HITS = {f"{size}{RUN}": f"a {size}run of rows of" for size in _SIZES} | {
    f"{size}{RUN_OF_INTERVALS}": f"a {size}run of intervals between the rows of" for size in _SIZES
}
"""What stands in the synthetic table, in words that precede "members"."""
RUN_NOTES = tuple(note.format("#") for note in _NOTES.values())
"""Notes for the entry."""


def runs_of(
    steps: tuple[Steps, ...],
    n_people: tuple[int, ...],
    keys: tuple[str, ...],
    groups: Ints | None = None,
    what: str = RUN,
) -> Iterator[tuple[Result, list[Floats]]]:
    """Yield whether people have a run of rows that a synthetic person has too: a result without numbers, and scores.

    How long a run is says no label: at most 2% of all people have one with another person. Runs of two rows less, and
    twice as long, are compared too: a short stretch that was pasted into another history shows in the first, and what
    common stretches hide in the last.

    Parameters
    ----------
    steps
        Real, synthetic, and holdout where there is one.
    n_people
        Of real and of holdout.
    keys
        The table.
    groups
        Of each person, members first, a number that those share who are linked together.
    what
        `RUN` of rows, or `RUN_OF_INTERVALS`.
    """
    real, synthetic, *strangers = steps
    sides = [real, *strangers]
    starts = np.cumsum([0, *n_people])
    pot = (
        np.concatenate([s.values for s in sides]),
        np.concatenate([s.persons + start for s, start in zip(sides, starts, strict=False)]),
    )
    n = int(starts[-1])
    lengths = np.bincount(pot[1], minlength=n)
    some = max(1, int((lengths > 0).sum()))
    k = next((k for k in range(2, _LONGEST) if shared_runs(pot, k, n, groups).sum() <= _CHANCE * some), 0)
    for size, length in zip(_SIZES, (k - 2, k, 2 * k), strict=True):
        asked = lengths >= length
        if length < 2 or asked.sum() < OWN_NUMBERS * some:
            continue
        hit = np.where(asked, has_run(pot, (synthetic.values, synthetic.persons), length, n), np.nan)
        plain = Result(attack="copies", variant=f"{size}{what}", keys=keys, notes=(_NOTES[what].format(length),))
        yield plain, np.split(hit, starts[1:-1])
