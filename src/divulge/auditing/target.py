"""The repeated game on one person: many trainings with the person and without; can the synthetic tables be told apart?

Trainings come in pairs, and a fair coin says which of the two has the person. Every second pair teaches how much each
score weighs and where the threshold lies, the others are guessed about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from divulge.auditing.canaries import GeneratorClaim, against_claim, verdict_on_bound
from divulge.auditing.design import Evidence
from divulge.auditing.hits import counted
from divulge.auditing.isolated import SCORES, isolation, scores_of
from divulge.auditing.pool import Pool, Training
from divulge.auditing.result import AuditResult, Epsilon, PerTraining, Run
from divulge.auditing.worlds import Encoded, encoded
from divulge.core.errors import SettingError
from divulge.report.formatting import several
from divulge.stats.epsilon import game_ceiling, game_epsilon, game_mu, game_power, mu_of_epsilon, mu_to_epsilon
from divulge.tables.frames import Table

__all__ = ["Target", "TargetTrial"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_PENALTY = 5.0
_TAUGHT_FROM = 5  # pairs of trainings; with fewer all scores weigh the same


@dataclass(frozen=True, slots=True)
class Target:
    """The design with its settings.

    Parameters
    ----------
    row
        Row of the table, from 0; None is the most isolated person.
    claim
        What is claimed; None asks only for the bound.
    level
        Level of bounds and tests.
    """

    row: int | None = None
    claim: GeneratorClaim | None = None
    level: float = 0.95
    name: str = "target"
    n_least: int = 8

    @property
    def settings(self) -> Mapping[str, str | int | float | bool | Sequence[str] | None]:
        """All that the trial depends on besides the pool; the claim enters the results alone."""
        return {"row": self.row, "level": self.level}

    def prepare(self, pool: Pool) -> TargetTrial:
        """Return the design for a pool; a `SettingError` if there is no such row."""
        people = encoded(pool)
        if self.row is None:
            unit = int(np.argmax(isolation(people)))
        else:
            at = np.flatnonzero(pool.rows == self.row)
            if not len(at):
                raise SettingError(f"target: there is no row {self.row}. hint: rows are counted from 0.")
            unit = int(people.units[at[0]])
        return TargetTrial(pool, people, unit, self.claim, self.level)


@dataclass(frozen=True, slots=True, eq=False)
class TargetTrial:
    """The design for one pool."""

    pool: Pool
    people: Encoded
    unit: int
    claim: GeneratorClaim | None
    level: float

    def inside(self, run: int) -> bool:
        """Return whether the person is trained on."""
        first = bool(self.pool.rng("target coin", run // 2).integers(0, 2))
        return first if run % 2 == 0 else not first

    def training(self, run: int) -> Training:
        """Return all rows, with those of the person or without."""
        rows = np.arange(len(self.people.units))
        return Training(rows if self.inside(run) else rows[self.people.units != self.unit])

    def read(self, run: int, synthetic: Table) -> Evidence:
        """Return the scores of the person, those of the highest record; no coin enters."""
        mine = self.people.units == self.unit
        found = scores_of(self.pool, self.people, np.flatnonzero(~mine), Training(np.flatnonzero(mine)), synthetic)
        return {"scores": np.array([found[name].max() for name in SCORES])}

    def conclude(self, evidence: Mapping[int, Evidence], runs: Sequence[Run]) -> tuple[AuditResult, ...]:
        """Return the guesses about the trainings that taught nothing, the bounds and what they say of a claim."""
        pairs = sorted(r // 2 for r in evidence if r % 2 == 0 and r + 1 in evidence)
        taught, asked = pairs[::2], pairs[1::2]
        if not asked:
            return (AuditResult(test="target", counts="trainings", n=0, verdict="cannot tell"),)
        weight, threshold = self._learnt(evidence, taught)
        trainings, claimed = [], {True: [0, 0], False: [0, 0]}
        for pair in asked:
            runs_of = (2 * pair, 2 * pair + 1)
            score = [float((weight @ self._features(evidence, r)).round(9)) for r in runs_of]
            for run, value in zip(runs_of, score, strict=True):
                claimed[self.inside(run)][0] += value > threshold
                claimed[self.inside(run)][1] += 1
            tie = bool(self.pool.rng("target ties", pair).integers(0, 2))
            guess = tie if score[0] == score[1] else score[0] > score[1]
            trainings.append(PerTraining(run=2 * pair, n=1, hits=float(guess == self.inside(2 * pair))))
        return (self._result(trainings, claimed[True], claimed[False]),)

    def outlook(self, n_runs: int) -> tuple[str, ...]:
        """Return sentences on what so many trainings can find, and cannot."""
        asked = len(range(n_runs // 2)[1::2])
        if not asked:
            return ("one pair of trainings teaches and one is guessed about: at least 4 trainings are needed",)
        ceiling = game_ceiling(asked, asked, delta=self._delta, level=self.level)
        out = [
            f"{n_runs} trainings, of which {2 * asked} are guessed about: no epsilon above {ceiling:.2f} can be shown"
        ]
        if self.claim is not None and ceiling <= self.claim.epsilon:
            out.append(f"a claim of {self.claim.epsilon:g} cannot be contradicted by so many trainings")
        return (*out, *self._claimed[1])

    @property
    def _claimed(self) -> tuple[float, tuple[str, ...]]:
        """Return the delta of the bound, and a note where nobody named that of a claim."""
        return (0.0, ()) if self.claim is None else self.claim.among(self.people.n_units)

    @property
    def _delta(self) -> float:
        return self._claimed[0]

    def _features(self, evidence: Mapping[int, Evidence], run: int) -> Floats:
        return np.asarray(evidence[run]["scores"], dtype=np.float64)

    def _learnt(self, evidence: Mapping[int, Evidence], taught: Sequence[int]) -> tuple[Floats, float]:
        """Return the weights of the scores and the threshold, from some pairs of trainings."""
        runs = [r for pair in taught for r in (2 * pair, 2 * pair + 1)]
        x = np.array([self._features(evidence, r) for r in runs])
        label = np.array([1.0 if self.inside(r) else -1.0 for r in runs])
        scale = x.std(axis=0)
        z = np.divide(x - x.mean(axis=0), scale, out=np.zeros_like(x), where=scale > 0)
        weight = np.ones(x.shape[1])
        if len(taught) >= _TAUGHT_FROM:
            weight = np.linalg.solve(z.T @ z + _PENALTY * np.eye(x.shape[1]), z.T @ label)
        weight = np.divide(weight, scale, out=np.zeros_like(weight), where=scale > 0)
        return weight, float(np.median(x @ weight))

    def _result(self, trainings: Sequence[PerTraining], with_it: Sequence[int], without: Sequence[int]) -> AuditResult:
        fields = counted(trainings, self.level)
        tp, n_in, fp, n_out = (*with_it, *without)
        epsilon = Epsilon(
            low=game_epsilon(tp, n_in, fp, n_out, delta=self._delta, level=self.level),
            ceiling=game_ceiling(n_in, n_out, delta=self._delta, level=self.level),
            delta=self._delta, level=self.level, neighbour="one person more",
            method="Clopper-Pearson on both rates of a repeated game",
        )  # fmt: skip
        mu = game_mu(tp, n_in, fp, n_out, level=self.level)
        context: dict[str, float | None] = {
            "true positive rate": tp / n_in,
            "false positive rate": fp / n_out,
            "mu if the noise is Gaussian, lower limit": mu,
        }
        if self.claim is not None:
            epsilon = against_claim(epsilon, self.claim)
            for times in (2, 4):
                context[f"power against {times} times the claim"] = game_power(
                    self.claim.epsilon, times * self.claim.epsilon, n_in, n_out, delta=self._delta, level=self.level
                )
            if self._delta > 0:
                context["epsilon if the noise is Gaussian, lower limit"] = mu_to_epsilon(mu, self._delta)
                context["mu of the claim"] = mu_of_epsilon(self.claim.epsilon, self._delta)
        verdict, notes = verdict_on_bound(fields.get("p_value"), epsilon, self.level)
        return AuditResult(
            test="target",
            counts="trainings",
            p_adjusted=fields.get("p_value"),
            epsilon=epsilon,
            verdict=verdict,
            sentence=(
                f"of {several(fields['n'], 'pair')} of trainings with one person and without, {int(fields['hits']):,} "
                "were told apart rightly; half would be nothing"
            ),
            context=context,
            notes=(*self._claimed[1], *notes),
            **fields,
        )
