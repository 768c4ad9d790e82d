"""Membership scores from margins: do a person's values on 2, 3 or 4 columns occur more often than among other people?

This is what generators keep that reproduce margins or conditionals of few columns, and what distances over all columns
do not see (Meeus et al.; the MAMA-MIA attack of Golob et al. 2024 uses the marginals that an algorithm has chosen;
here they are drawn, as the algorithm is unknown).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from divulge.attacks.drawn_sets import drawn_sets
from divulge.attacks.other_people import pooled_units
from divulge.case.case import Case
from divulge.case.cells import stacked_codes
from divulge.kernels.counts.margins import margin_sums

__all__ = ["NAMES", "margin_scores"]

Floats = NDArray[np.float64]

_ORDERS = {"2-way margins": 2, "3-way margins": 3, "4-way margins": 4, "rare 4-way margins": 4}
NAMES = tuple(_ORDERS)
_SETS = 300
"""Sets of columns of each size at most; a limit on the time, from the lab."""


def margin_scores(case: Case, columns: tuple[str, ...], wanted: set[str]) -> dict[str, Floats]:
    """Return the wanted scores of all people (real rows, then holdout rows), by name; higher is more like a member.

    "k-way margins" is the mean over at most 300 sets of k columns of log((s + 1/2) / (m + 1/2)) -
    log((w + 1/2) / (n + 1/2)); s of m synthetic rows and w of n rows of other people have the person's values there,
    numbers in bins. "rare 4-way margins" is the sum over those sets of 4 on which at most two others have them. Of
    fewer columns sets are of all columns.
    """
    names = sorted(columns)
    people = [np.concatenate([case.encoded.codes_in(name, i) for i in case.encoded.people]) for name in names]
    synthetic = stacked_codes(case.encoded, 1, names)
    units = pooled_units(case, ("real", "holdout"))
    unit = None if units is None else np.unique(units["people"], return_inverse=True)[1].ravel()
    sizes = [case.n_codes(name) for name in names]
    out = {}
    for order in sorted({_ORDERS[name] for name in wanted}):
        sets = drawn_sets(len(names), min(order, len(names)), _SETS, case.rng(f"membership {order}-way margins"))
        sums = margin_sums(people, synthetic, sizes, sets, unit)
        out[f"{order}-way margins"] = sums.total / len(sets)
        if order == 4:
            out["rare 4-way margins"] = sums.rare
    return {name: score.round(12) for name, score in out.items() if name in wanted}
