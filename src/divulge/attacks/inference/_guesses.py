"""The answers of an attacker about each person: the probability that they are right, and the confidence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Guesses"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Guesses:
    """The answers of one attacker about all people, real rows first, then holdout rows."""

    right: Floats
    """Shape (n_people,), in [0, 1]: probability that the answer is right; the mean over equally good answers."""
    sure: Floats
    """Shape (n_people,), in [0, 1]: the attacker's confidence, based on the known columns and his table; 0 is none."""
    what: str
    """A description of the attacker."""
