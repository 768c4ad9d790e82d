"""Scores of many people, of which few differ: each score once, and a small number for each person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.core.distinct_values import distinct_values

__all__ = ["CODED_FROM", "CodedScores", "Scores", "coded", "coded_by_cell", "decoded"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CODED_FROM = 2**16
"""People from whom on scores are coded; for fewer the time is worth more than the memory."""
_MOST = 2**16  # different scores: their numbers take two bytes each
_SAMPLED = 2**17  # people among whom too many different scores show that coding is in vain


@dataclass(frozen=True, slots=True, eq=False)
class CodedScores:
    """Scores of people, a byte or two each in place of eight; every bit of a score is kept.

    Examples
    --------
    >>> scores = CodedScores(np.array([0.0, 0.5]), np.array([1, 0, 1], np.uint8))
    >>> scores[1:].tolist(), len(scores), scores.times().tolist()
    ([0.0, 0.5], 3, [1, 2])
    """

    values: Floats
    """Shape (n_values,): the different scores, each of somebody; nan for who is skipped."""
    codes: NDArray[np.unsignedinteger[Any]]
    """Shape (n_people,): the place of each person's score among `values`."""

    def __len__(self) -> int:
        """Return the number of people."""
        return len(self.codes)

    def __getitem__(self, people: slice | Ints) -> Floats:
        """Return the scores of some people."""
        return self.values.take(self.codes[people])

    @property
    def size(self) -> int:
        """The number of people."""
        return len(self.codes)

    def times(self) -> Ints:
        """Return how many people have each of `values`."""
        return np.bincount(self.codes, minlength=len(self.values))


Scores = Floats | CodedScores
"""Scores of people, shape (n_people,), one by one or coded."""


def coded(scores: Scores) -> Scores:
    """Return scores coded, or as they are where people are few or most scores differ.

    Examples
    --------
    >>> hits = np.arange(CODED_FROM) % 3 == 0
    >>> coded(hits.astype(float)).codes.dtype, coded(np.random.default_rng(0).random(CODED_FROM + 1)).dtype
    (dtype('uint8'), dtype('float64'))
    """
    if isinstance(scores, CodedScores) or len(scores) < CODED_FROM:
        return scores
    scores = np.ascontiguousarray(scores)  # a column would keep its whole table
    bits = scores.view(np.int64)  # of bits -0.0 is not 0.0, and nan is nan
    if len(distinct_values(bits[:_SAMPLED])) > _MOST or len(values := distinct_values(bits)) > _MOST:
        return scores
    return CodedScores(values.view(np.float64), np.searchsorted(values, bits).astype(_codes_of(values)))


def coded_by_cell(scores: Floats, cells: Ints) -> Scores:
    """Return the scores of people from those of cells, `scores[cells]`, coded where that saves memory.

    Parameters
    ----------
    scores
        Shape (n_cells,).
    cells
        Shape (n_people,): the cell of each person.
    """
    if len(cells) < CODED_FROM:
        return scores[cells]
    has = np.zeros(len(scores), dtype=np.bool_)
    has[cells] = True
    bits = np.ascontiguousarray(scores).view(np.int64)
    values = distinct_values(bits[has])
    if len(values) > _MOST:
        return scores[cells]
    # a cell without people may have a score beyond the last, whose place nobody looks up
    places = np.searchsorted(values, bits).astype(_codes_of(values))
    return CodedScores(values.view(np.float64), places[cells])


def decoded(scores: Scores) -> Floats:
    """Return the score of each person."""
    return scores[:] if isinstance(scores, CodedScores) else scores


def _codes_of(values: Ints) -> type[np.unsignedinteger[Any]]:
    return np.uint8 if len(values) <= 2**8 else np.uint16
