"""Random halves: who was in the training table? A random half of the people is trained on, again and again.

Every person is scored against all others by scores that see no label. Which half was in is divulge's own coin, so that
members and strangers differ by nothing but the training, and permuting the labels of a training is an exact test. Over
several trainings each person is compared with the person's own scores in the others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.attacks.checks import ACCEPTABLE
from divulge.attacks.membership.scores import person_scores
from divulge.auditing.design import Evidence
from divulge.auditing.hits import FDR
from divulge.auditing.pool import Pool, Training
from divulge.auditing.result import AuditResult, Findable, Interval, People, PerTraining, Run
from divulge.auditing.worlds import Encoded, case_of, encoded
from divulge.case.distances import distance_columns
from divulge.core.errors import SettingError
from divulge.core.result import Risk, Verdict
from divulge.stats.intervals import benjamini_hochberg, holm, normal_quantile
from divulge.stats.repeated_halves import Halves, calibrated, mean_auc, person_p, smallest_person_p, stacked
from divulge.stats.roc import claims_at, mid_ranks
from divulge.tables.frames import Table

__all__ = ["FEWEST_PEOPLE", "SCORES", "HalvesTrial", "RandomHalves"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SCORES = ("ratio", "hit", "classifier", "2-way margins", "3-way margins", "4-way margins", "rare 4-way margins")
"""Scores of a person, fixed beforehand; the rank of each counts the same in "mean rank"."""
FEWEST_PEOPLE = 40
_STACK_FROM = 4  # trainings
_RATES = (0.1, 0.01)
_NAMES = {0.1: "10%", 0.01: "1%"}


@dataclass(frozen=True, slots=True)
class RandomHalves:
    """The design with its settings.

    Parameters
    ----------
    level, acceptable
        Level of intervals and tests; largest upper limit of the risk that counts as none found.
    """

    level: float = 0.95
    acceptable: float = ACCEPTABLE
    name: str = "halves"
    n_least: int = 1

    @property
    def settings(self) -> Mapping[str, str | int | float | bool | Sequence[str] | None]:
        """All that the trial depends on besides the pool."""
        return {"level": self.level}

    def prepare(self, pool: Pool) -> HalvesTrial:
        """Return the design for a pool; a `SettingError` if there are fewer than 40 people."""
        people = encoded(pool)
        if people.n_units < FEWEST_PEOPLE:
            raise SettingError(
                f"halves: {people.n_units} people are too few, {FEWEST_PEOPLE} are needed. hint: give all you have."
            )
        return HalvesTrial(pool, people, self.level, self.acceptable)


@dataclass(frozen=True, slots=True, eq=False)
class HalvesTrial:
    """The design for one pool."""

    pool: Pool
    people: Encoded
    level: float
    acceptable: float = ACCEPTABLE

    def inside(self, run: int) -> Bools:
        """Return which units are trained on: half of them, drawn at random."""
        out = np.zeros(self.people.n_units, dtype=np.bool_)
        out[self.pool.rng("halves", run).permutation(len(out))[: len(out) // 2]] = True
        return out

    def training(self, run: int) -> Training:
        """Return the rows of the half that is trained on."""
        return Training(np.flatnonzero(self.inside(run)[self.people.units]))

    def read(self, run: int, synthetic: Table) -> Evidence:
        """Return each score of each unit, that of its highest record; no label enters."""
        units = self.people.units
        n = len(units)
        # two arbitrary parts: the scores take both together
        parts = [Training(np.arange(n // 2)), Training(np.arange(n // 2, n))]
        case = case_of(self.pool, self.people.schema, parts[0], synthetic, parts[1])
        found = person_scores(case, distance_columns(case)[0], SCORES)
        out = {}
        for name, score in found.items():
            highest = np.full(self.people.n_units, -np.inf)
            np.maximum.at(highest, units, score)
            out[name] = highest
        return out

    def conclude(self, evidence: Mapping[int, Evidence], runs: Sequence[Run]) -> tuple[AuditResult, ...]:
        """Return the result of the mean rank and, from four trainings on, that of the calibrated combination."""
        done = sorted(evidence)
        if not done:
            return (AuditResult(test="random_halves", counts="people", n=0, verdict="cannot tell"),)
        scores = np.array([[np.asarray(evidence[r][name], dtype=np.float64) for r in done] for name in SCORES])
        inside = np.array([self.inside(r) for r in done])
        ranks = np.array([[(mid_ranks(x) - 0.5) / len(x) for x in each] for each in scores])
        found = [("mean rank", mean_auc(ranks.mean(axis=0), inside, self.pool.rng("halves labels"), self.level))]
        people: People | None = None
        persons: dict[str, NDArray[Any]] = {}
        if len(done) >= _STACK_FROM:
            z = calibrated(scores)
            features = np.concatenate([ranks - 0.5, z])
            found.append(("calibrated", stacked(features, inside, self.pool.rng("halves stack"), self.level)))
            people, persons = self._named(z.mean(axis=0), inside)
        adjusted = holm([f.p_value for _, f in found])
        return tuple(
            self._result(variant, f, float(p), inside, done, people if i else None, persons if i else {})
            for i, ((variant, f), p) in enumerate(zip(found, adjusted, strict=True))
        )

    def outlook(self, n_runs: int) -> tuple[str, ...]:
        """Return sentences on what so many trainings can find, and cannot."""
        n = self.people.n_units
        rate = _findable(n, n_runs, self.level, self.acceptable).rate
        out = [
            f"{n:,} people in {n_runs} trainings: an AUC of {rate:.3f} is found with probability 0.8 (0.5 is nothing)"
        ]
        if n_runs < _STACK_FROM:
            out.append("people are compared with themselves from 4 trainings on; 16 to 40 are better")
        least = smallest_person_p(n_runs)
        if least > FDR / n:
            flagged = math.ceil(least * n / FDR)
            out.append(
                f"the smallest p-value of a person is {least:.2g}: people are named only where at least {flagged:,} of "
                f"{n:,} can be"
            )
        return tuple(out)

    # ------------------------------------------------------------ results

    def _named(self, score: Floats, inside: Bools) -> tuple[People, dict[str, NDArray[Any]]]:
        """Return how many people are named, and of each row the p-value and in how many trainings it was."""
        p = person_p(score, inside, self.pool.rng("halves ties"))
        adjusted = benjamini_hochberg(p)
        named = People(tested=len(p), flagged=int(np.count_nonzero(adjusted <= FDR)), rate=FDR)
        units = self.people.units
        return named, {"p_value": p[units], "runs_in": inside.sum(axis=0)[units], "flagged": (adjusted <= FDR)[units]}

    def _result(
        self,
        variant: str,
        found: Halves,
        adjusted: float,
        inside: Bools,
        done: Sequence[int],
        people: People | None,
        persons: dict[str, NDArray[Any]],
    ) -> AuditResult:
        n = inside.shape[1]
        context, residual = self._claims(found.score, inside)
        method = found.method
        risk = Risk(
            value=2 * found.auc - 1, low=2 * found.low - 1, high=2 * found.high - 1, low_simultaneous=None,
            high_simultaneous=None, level=self.level, method=method,
        )  # fmt: skip
        verdict, notes = self._verdict(found, adjusted, residual)
        return AuditResult(
            test="random_halves",
            variant=variant,
            counts="people",
            n=n,
            rate=found.auc,
            interval=Interval(low=found.low, high=found.high, level=self.level, method=method),
            risk=risk,
            p_value=found.p_value,
            p_adjusted=adjusted,
            findable=_findable(n, len(done), self.level, self.acceptable),
            people=people,
            verdict=verdict,
            sentence=(
                f"of a person who was trained on and one who was not, the synthetic table names the right one in "
                f"{100 * found.auc:.0f}% of cases ({n:,} people, {len(done):,} trainings); 50% would be nothing"
            ),
            trainings=tuple(PerTraining(run=r, n=n, hits=float(a * n)) for r, a in zip(done, found.each, strict=True)),
            context=context,
            notes=tuple(notes),
            persons=persons,
        )

    def _claims(self, score: Floats, inside: Bools) -> tuple[dict[str, float | None], float]:
        """Return true positive rates, means over the trainings, and the upper limit of the residual at 10%."""
        context: dict[str, float | None] = {}
        high = math.inf
        for rate in _RATES:
            each = [claims_at(s[i], s[~i], rate, self.level) for s, i in zip(score, inside, strict=True)]
            if not each[0].k:
                continue
            mean = math.fsum(c.tpr.value for c in each) / len(each)
            half = math.sqrt(math.fsum((c.tpr.high - c.tpr.value) ** 2 for c in each)) / len(each)
            context[f"TPR at FPR {_NAMES[rate]}"] = mean
            if rate == _RATES[0]:
                high = (mean + half - rate) / (1 - rate)
        return context, high

    def _verdict(self, found: Halves, adjusted: float, residual: float) -> tuple[Verdict, list[str]]:
        if adjusted <= 1 - self.level:
            return "excess found", []
        if max(2 * found.high - 1, residual) <= self.acceptable:
            return "none found", []
        needed = _findable(len(found.score[0]), 1, self.level, self.acceptable).needed
        return "cannot tell", [
            f"cannot tell: about {needed:,} people times trainings would bring the upper limit to {self.acceptable:g}"
        ]


def _findable(n: int, n_runs: int, level: float, acceptable: float) -> Findable:
    """Return the smallest mean AUC that is found, and people times trainings for `none found`; by the normal limit."""
    spread = math.sqrt((n + 1) / (12 * (n // 2) * (n - n // 2)) / n_runs)
    one_sided, power = normal_quantile(2 * level - 1), normal_quantile(0.6)
    needed = (2 * normal_quantile(level) / acceptable) ** 2 / 3
    return Findable(rate=min(1.0, 0.5 + (one_sided + power) * spread), needed=math.ceil(needed))
