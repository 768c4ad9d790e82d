"""Runs: stretches of a person's rows, in their order, that one synthetic person has in a row."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from divulge.case.column_facts import OWN_NUMBERS
from divulge.case.relational.persons import Steps
from divulge.core.result import Result
from divulge.kernels.runs import has_run, shared_runs

__all__ = ["RUN_HITS", "RUN_NOTES", "runs_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_CHANCE = 0.02  # share of people who have such a run with another person, at most
_LONGEST = 50
_NOTE = "a run is {} rows in their order, with numbers in bins and without the time; who has fewer was not asked"
RUN_HITS = {
    "run": "a run of rows of",
    "shorter run": "a shorter run of rows of",
    "longer run": "a longer run of rows of",
}
"""What stands in the synthetic table, in words that precede "members"."""
RUN_NOTES = (_NOTE.format("#"),)
"""Notes for the entry."""


def runs_of(
    steps: tuple[Steps, ...], n_people: tuple[int, ...], keys: tuple[str, ...], groups: Ints | None = None
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
    for variant, length in (("shorter run", k - 2), ("run", k), ("longer run", 2 * k)):
        asked = lengths >= length
        if length < 2 or asked.sum() < OWN_NUMBERS * some:
            continue
        hit = np.where(asked, has_run(pot, (synthetic.values, synthetic.persons), length, n), np.nan)
        plain = Result(attack="copies", variant=variant, keys=keys, notes=(_NOTE.format(length),))
        yield plain, np.split(hit, starts[1:-1])
