"""Membership scores from kernel densities: DOMIAS and Gen-LRA, with the person's own kernel left out.

Densities are estimated on at most 8 whitened principal components. On raw indicators of categories the covariance is
singular, and published implementations stop.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from divulge.attacks.other_people import pooled_units
from divulge.case.case import Case
from divulge.case.features import features_of
from divulge.kernels.densities import log_density_ratio, whitened

__all__ = ["NAMES", "density_scores"]

Floats = NDArray[np.float64]

NAMES = ("domias", "gen-lra")


def density_scores(case: Case, columns: tuple[str, ...]) -> dict[str, Floats]:
    """Return both scores of all people (real rows, then holdout rows), by name; higher is more like a member.

    - "domias": log density of the synthetic table at the person less that of other people, Gaussian kernels with
      Scott's bandwidth
    - "gen-lra": by how much the person, added to the other people, raises their log density at the 200 nearest
      synthetic rows; adding a person adds one kernel, so that nothing is fitted again
    """
    features = features_of(case, columns)
    people, synthetic = (features.indicators(rows) for rows in (features.people, features.synthetic))
    units = pooled_units(case, ("real", "holdout"))
    order = np.lexsort((features.same(),) if units is None else (features.same(), units["people"]))
    z = whitened(people[features.order("people")], synthetic[features.order("synthetic")])
    place = np.empty(len(order), dtype=np.int64)
    place[features.order("people")] = np.arange(len(order))
    at_people = z[0][place]
    unit = np.arange(len(order)) if units is None else units["people"]
    found = log_density_ratio(at_people[order], z[1], unit[order])
    out = {}
    for name, score in zip(NAMES, found, strict=True):
        back = np.empty(len(order))
        back[order] = score.round(9)
        out[name] = back
    return out
