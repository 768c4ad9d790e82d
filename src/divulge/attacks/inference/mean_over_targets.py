"""The mean over targets: how often the nearest record is right about a person, over all targets of a run.

Single targets are too noisy to bound the risk (a rare value leaves few people to be wrong about). Their mean per person
is bounded with a few thousand people. A leak about one of T targets shows in it as a T-th part.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from divulge.attacks.checks import SHOWN, Floats, judge, rate_of
from divulge.case.case import Case
from divulge.core.result import Baseline, Individual, Result, label
from divulge.stats import Outcomes, compare

__all__ = ["MEAN", "OF_A_COPY", "mean_over_targets"]

MEAN = "nearest record, mean over targets"
OF_A_COPY = "risk that a full copy of the real table would have"
"""Key of the context of a single target. It does not enter the verdict about that target: what is guessed about
strangers as often is inference without disclosure."""
_STEP = 2.0**36  # scores are added as whole multiples of 1 / _STEP: exact in any order of targets


def mean_over_targets(case: Case, results: Sequence[Result]) -> tuple[Result, ...]:
    """Return the comparison of each person's mean score over all targets, from the results of "nearest record".

    Parameters
    ----------
    results
        Results of `inference`, of all targets of a run.

    Returns
    -------
    tuple
        One result; none without a holdout, and none where no target was attacked.
    """
    of = sorted((r for r in results if r.variant == "nearest record" and r.holdout is not None), key=label)
    scores = [r.individual for r in of if r.individual is not None and r.individual.holdout is not None]
    if not of or len(scores) < len(of):
        return ()
    real = _mean([s.real for s in scores])
    holdout = _mean([s.holdout for s in scores if s.holdout is not None])
    members, strangers = Outcomes(real, cluster=case.units("real")), Outcomes(holdout, cluster=case.units("holdout"))
    baselines = [r.baseline.rate for r in of if r.baseline and r.baseline.rate is not None]
    n = len(of)
    plain = Result(
        attack="inference",
        variant=MEAN,
        settings={"targets": n},
        real=rate_of(members),
        holdout=rate_of(strangers),
        baseline=Baseline(
            rate=math.fsum(baselines) / n if len(baselines) == n else None,
            what="naming one value for everybody, the best one of each target",
        ),
        context={SHOWN: _shown(of)},
        individual=Individual(real=real, holdout=holdout),
        notes=(f"the score of a person is the mean over {n} targets; what is learnt about one of them alone shows as a "
               "part of itself",) if n > 1 else (),
    )  # fmt: skip
    comparison = compare(members, strangers, level=case.level, rng=case.rng("inference mean"), draws=case.draws)
    return (judge(plain, comparison, case.level),)


def _mean(scores: Sequence[Floats]) -> Floats:
    """Return the mean score of each person; the order of the targets changes no digit."""
    total = sum((np.round(s * _STEP).astype(np.int64) for s in scores), np.zeros(len(scores[0]), dtype=np.int64))
    return total / (len(scores) * _STEP)


def _shown(results: Sequence[Result]) -> float | None:
    """Return the residual that a full copy of the real table would have in the mean; None where one is unknown."""
    failing, shown = [], []
    for r in results:
        part = r.context.get(OF_A_COPY)
        if part is None or r.holdout is None or r.holdout.rate is None:
            return None
        failing.append(1 - r.holdout.rate)
        shown.append(part * (1 - r.holdout.rate))
    total = math.fsum(failing)
    return math.fsum(shown) / total if total > 0 else 0.0
