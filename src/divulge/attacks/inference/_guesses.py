"""What an attacker says about each person: how likely it is right, and how sure he is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Guesses"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Guesses:
    """One attacker's answers about all people, real rows first, then holdout rows."""

    right: Floats
    """Shape (n_people,), in [0, 1]: chance that the answer is right; where several are equally good, their mean."""
    sure: Floats
    """Shape (n_people,), in [0, 1]: the attacker's confidence, from what he knows and the table he has; 0 is none."""
    what: str
    """The attacker in words."""
