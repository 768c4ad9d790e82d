"""A result from one outcome for each record."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from divulge.attacks.checks import judge, rate_of
from divulge.case.case import Case
from divulge.core.result import Individual, Result
from divulge.stats import Outcomes, compare

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]


def by_record(case: Case, plain: Result, members: Bools | Floats, strangers: Bools | Floats | None) -> Result:
    """Return the result with the outcomes of people, 0 to 1 or nan, and with members compared with strangers."""
    scores = members.astype(float)
    real = Outcomes(scores, cluster=case.units("real"))
    if strangers is None:
        return replace(plain, real=rate_of(real), individual=Individual(real=scores), verdict="no holdout")
    others = strangers.astype(float)
    holdout = Outcomes(others, cluster=case.units("holdout"))
    plain = replace(
        plain, real=rate_of(real), holdout=rate_of(holdout), individual=Individual(real=scores, holdout=others)
    )
    rng = case.rng(f"{plain.attack} {plain.variant}")
    comparison = compare(real, holdout, level=case.level, rng=rng, draws=case.draws)
    return judge(plain, comparison, case.level)
