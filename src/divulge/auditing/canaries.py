"""Canaries: records that take part in a training or not, each by a fair coin; one training shows a bound of epsilon.

Isolated people are the real records that are farthest from all others; crossed records are planted, half of the
columns of one person and half of another. Copies of ordinary people, twice, five and ten times, show how recognition
grows with repetition; they do not enter the bound.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from divulge.auditing.design import Evidence
from divulge.auditing.hits import between_trainings, counted
from divulge.auditing.isolated import SCORES, isolation, ranks_of, scores_of
from divulge.auditing.pool import Pool, Training
from divulge.auditing.result import AuditResult, Epsilon, PerTraining, Run
from divulge.auditing.sentences import about_canaries
from divulge.auditing.worlds import Encoded, encoded
from divulge.core.errors import SettingError
from divulge.core.result import Verdict
from divulge.stats.epsilon import one_run_epsilon, one_run_power
from divulge.stats.roc import auc
from divulge.tables.frames import Table

__all__ = ["CANARIES", "COPIES", "FEWEST", "Canaries", "CanaryTrial", "GeneratorClaim", "against_claim"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FEWEST = 20
CANARIES = "canaries in all trainings"
"""Name of a further number of the result."""
COPIES = (2, 5, 10)
_SHARE = 0.05  # canaries of a kind among the people
_MOST = 500  # of a kind
_GUESSED = 0.1
_FEWEST_GUESSES = 10
_NEIGHBOUR = "one person more"


@dataclass(frozen=True, slots=True)
class GeneratorClaim:
    """What is claimed of the generator: (epsilon, delta) differential privacy."""

    epsilon: float
    delta: float | None = None
    """None is about 1 / (10 times the number of people): right for claims of delta 0, too, and for Gaussian noise."""

    def __post_init__(self) -> None:
        """Check that the numbers can be claimed."""
        if not self.epsilon >= 0 or math.isinf(self.epsilon):
            raise SettingError(f"claim: an epsilon of {self.epsilon} is no claim. hint: a number from 0 on.")
        if self.delta is not None and not 0 <= self.delta < 1:
            raise SettingError(f"delta: {self.delta} is outside [0, 1). hint: 1 / (10 times the number of people).")

    def among(self, n_people: int) -> tuple[float, tuple[str, ...]]:
        """Return the delta that is tested for so many people, and a note where nobody named it."""
        if self.delta is not None:
            return self.delta, ()
        delta = float(f"{1 / (10 * n_people):.1g}")  # more digits would tell the number of people
        return delta, (
            f"no delta was named with the claim: {delta:g} is taken, about 1 / (10 times the number of people). A "
            "claim of delta 0 is tested rightly by it, too; --delta names another",
        )


@dataclass(frozen=True, slots=True)
class Canaries:
    """The design with its settings.

    Parameters
    ----------
    n
        Canaries of each of the two kinds that enter the bound; None is 5% of the people, 500 at most.
    claim
        What is claimed; None asks only for the bound.
    level
        Level of bounds and tests.
    """

    n: int | None = None
    claim: GeneratorClaim | None = None
    level: float = 0.95
    name: str = "canaries"
    n_least: int = 1

    @property
    def settings(self) -> Mapping[str, str | int | float | bool | Sequence[str] | None]:
        """All that the trial depends on besides the pool; the claim enters the results alone."""
        return {"n": self.n, "level": self.level}

    def prepare(self, pool: Pool) -> CanaryTrial:
        """Return the design for a pool; a `SettingError` if there are too few people for 20 canaries."""
        people = encoded(pool)
        n = min(_MOST, int(_SHARE * people.n_units)) if self.n is None else self.n
        both = n if pool.unit is None else 0  # a planted record would be of somebody's unit
        if n + both < FEWEST or 4 * n > people.n_units:
            raise SettingError(
                f"canaries: {n} of each kind for {people.n_units} people; {FEWEST} in all are needed, and at most a "
                "quarter of the people. hint: set their number, or give more people."
            )
        order = np.argsort(-isolation(people), kind="stable")
        rng = pool.rng("canaries who")
        ordinary = rng.permutation(np.sort(order[n:]))
        copied = max(1, n // 8)
        repeated = {k: ordinary[i * copied : (i + 1) * copied] for i, k in enumerate(COPIES)}
        return CanaryTrial(
            pool, people, order[:n], _crossed(people, ordinary, both, rng), repeated, self.claim, self.level
        )


@dataclass(frozen=True, slots=True, eq=False)
class Crossed:
    """Planted records: which columns are of which row of the pool."""

    one: Ints
    """Shape (n,): rows that give the columns that no other gives."""
    columns: Mapping[str, Ints]
    """Shape (n,) each: the row that gives the column."""


def _crossed(people: Encoded, ordinary: Ints, n: int, rng: np.random.Generator) -> Crossed:
    """Return records that have a random half of the columns of another person."""
    one, other = (rng.choice(len(people.units), n, replace=len(people.units) < n) for _ in range(2))
    columns = sorted(people.case.columns)
    swapped = rng.random((len(columns), n)).argsort(axis=0) < len(columns) // 2
    return Crossed(one, {c: np.where(s, other, one) for c, s in zip(columns, swapped, strict=True)})


@dataclass(frozen=True, slots=True, eq=False)
class CanaryTrial:
    """The design for one pool."""

    pool: Pool
    people: Encoded
    isolated: Ints
    """Units."""
    crossed: Crossed
    repeated: Mapping[int, Ints]
    """Units by the number of copies that are trained on."""
    claim: GeneratorClaim | None
    level: float

    @property
    def n_canaries(self) -> int:
        """Canaries that enter the bound, in one training."""
        return len(self.isolated) + len(self.crossed.one)

    @property
    def n_guesses(self) -> int:
        """Canaries that are guessed to be in, those with the highest scores; fixed beforehand."""
        return min(self.n_canaries, max(_FEWEST_GUESSES, math.ceil(_GUESSED * self.n_canaries)))

    def coins(self, run: int) -> dict[str, Bools]:
        """Return which canaries take part, by kind."""
        rng = self.pool.rng("canary coins", run)
        sizes = {"isolated": len(self.isolated), "crossed": len(self.crossed.one)}
        sizes |= {f"copied {k}": len(u) for k, u in self.repeated.items()}
        return {kind: rng.integers(0, 2, n).astype(np.bool_) for kind, n in sizes.items()}

    @property
    def _never(self) -> Ints:
        """Return the rows of the pool that are no canary of any kind."""
        return np.flatnonzero(~np.isin(self.people.units, self._units()))

    def _units(self) -> Ints:
        return np.concatenate([self.isolated, *self.repeated.values()])

    def training(self, run: int) -> Training:
        """Return all others and the canaries whose coin says so, with their copies."""
        coins = self.coins(run)
        parts = [self._never, np.flatnonzero(np.isin(self.people.units, self.isolated[coins["isolated"]]))]
        for k, units in self.repeated.items():
            rows = np.flatnonzero(np.isin(self.people.units, units[coins[f"copied {k}"]]))
            parts.append(np.tile(rows, k))
        planted = coins["crossed"]
        before = np.concatenate(parts)
        columns = {c: np.concatenate([before, rows[planted]]) for c, rows in self.crossed.columns.items()}
        return Training(np.concatenate([before, self.crossed.one[planted]]), columns)

    def read(self, run: int, synthetic: Table) -> Evidence:
        """Return the mean rank of each canary among those of its kind; no coin enters."""
        kinds = {"isolated": self.isolated} | {f"copied {k}": u for k, u in self.repeated.items()}
        rows = [np.flatnonzero(np.isin(self.people.units, u)) for u in kinds.values()]
        before = np.concatenate(rows)
        asked = Training(
            np.concatenate([before, self.crossed.one]),
            {c: np.concatenate([before, r]) for c, r in self.crossed.columns.items()},
        )
        found = scores_of(self.pool, self.people, self._never, asked, synthetic)
        out: dict[str, Floats] = {}
        start = 0
        for (kind, units), own in zip(kinds.items(), rows, strict=True):
            place = np.full(self.people.n_units, -1)
            place[units] = np.arange(len(units))
            scores = []
            for name in SCORES:
                highest = np.full(len(units), -np.inf)
                np.maximum.at(highest, place[self.people.units[own]], found[name][start : start + len(own)])
                scores.append(highest)
            out[kind] = ranks_of(scores)
            start += len(own)
        if len(self.crossed.one):
            out["crossed"] = ranks_of([found[name][start:] for name in SCORES])
        return out

    def conclude(self, evidence: Mapping[int, Evidence], runs: Sequence[Run]) -> tuple[AuditResult, ...]:
        """Return the guesses about canaries, the bound of epsilon and what it says of a claim."""
        trainings, by_kind = [], dict[str, list[float]]()
        for run in sorted(evidence):
            coins = self.coins(run)
            score = {k: np.asarray(v, dtype=np.float64) for k, v in evidence[run].items()}
            bound = [k for k in ("isolated", "crossed") if k in score]
            together = np.concatenate([score[k] for k in bound])
            tie = self.pool.rng("canary ties", run).random(len(together))
            guessed = np.lexsort((tie, -together))[: self.n_guesses]
            right = np.concatenate([coins[k] for k in bound])[guessed]
            trainings.append(PerTraining(run=run, n=len(right), hits=float(right.sum())))
            for kind, values in score.items():
                inside = coins[kind]
                if 0 < inside.sum() < len(inside):
                    by_kind.setdefault(kind, []).append(auc(values[inside], values[~inside]).value)
        context: dict[str, float | None] = {f"AUC of {kind}": math.fsum(v) / len(v) for kind, v in by_kind.items()}
        return (self._result(trainings, context),)

    def outlook(self, n_runs: int) -> tuple[str, ...]:
        """Return sentences on what so many trainings can find, and cannot."""
        ceiling = self._bound(n_runs, n_runs * self.n_guesses)
        out = [
            f"{self.n_canaries:,} canaries and {self.n_guesses:,} guesses in each of {n_runs} trainings: no epsilon "
            f"above {ceiling:.2f} can be shown"
        ]
        if self.claim is not None and ceiling <= self.claim.epsilon:
            out.append(f"a claim of {self.claim.epsilon:g} cannot be contradicted by so many trainings")
        return (*out, *self._claimed[1])

    @property
    def _claimed(self) -> tuple[float, tuple[str, ...]]:
        """Return the delta of the bound, and a note where nobody named that of a claim."""
        return (0.0, ()) if self.claim is None else self.claim.among(self.people.n_units)

    def _bound(self, n_runs: int, right: int) -> float:
        m, guesses = n_runs * self.n_canaries, n_runs * self.n_guesses
        delta = self._claimed[0]
        return one_run_epsilon(m, guesses, right, delta=delta, level=self.level)

    def _result(self, trainings: Sequence[PerTraining], context: dict[str, float | None]) -> AuditResult:
        fields = counted(trainings, self.level)
        n_runs, right = len(trainings), int(fields["hits"])
        epsilon = None
        if n_runs:
            m, guesses = n_runs * self.n_canaries, n_runs * self.n_guesses
            delta = self._claimed[0]
            low, ceiling = self._bound(n_runs, right), self._bound(n_runs, guesses)
            epsilon = Epsilon(
                low=low, ceiling=ceiling, delta=delta, level=self.level, neighbour=_NEIGHBOUR,
                method="guesses about many canaries (Steinke, Nasr and Jagielski 2023)",
            )  # fmt: skip
            if self.claim is not None:
                epsilon = against_claim(epsilon, self.claim)
                for times in (2, 4):
                    true = times * self.claim.epsilon
                    context[f"power against {times} times the claim"] = one_run_power(
                        self.claim.epsilon, true, m, guesses, delta=delta, level=self.level
                    )
        verdict, notes = verdict_on_bound(fields.get("p_value"), epsilon, self.level)
        sentence = "no training gave a table"
        if epsilon is not None:
            sentence = about_canaries(fields["n"], right)
            context |= {CANARIES: float(m)}
        return AuditResult(
            test="canaries",
            counts="canaries",
            p_adjusted=fields.get("p_value"),
            epsilon=epsilon,
            verdict=verdict,
            sentence=sentence,
            context=context | between_trainings(trainings, self.level),
            notes=(*self._claimed[1], *notes),
            **fields,
        )


def against_claim(found: Epsilon, claim: GeneratorClaim) -> Epsilon:
    """Return the bound with what it says of a claim."""
    return Epsilon(
        low=found.low, ceiling=found.ceiling, delta=found.delta, level=found.level, neighbour=found.neighbour,
        method=found.method, claim=claim.epsilon, rejected=(found.low or 0.0) > claim.epsilon,
        power=float((found.ceiling or 0.0) > claim.epsilon),
    )  # fmt: skip


def verdict_on_bound(p_value: float | None, epsilon: Epsilon | None, level: float) -> tuple[Verdict, list[str]]:
    """Return the verdict on a lower bound of epsilon: a claim contradicted, or a finding; never that there is none."""
    if epsilon is None:
        return "cannot tell", []
    if epsilon.claim is not None:
        if epsilon.rejected:
            return "excess found", [f"the claim is contradicted at {100 * level:g}%"]
        return "cannot tell", ["the claim is not contradicted, which does not confirm it"]
    if p_value is not None and p_value <= 1 - level:
        return "excess found", []
    return "cannot tell", ["a lower bound of epsilon near 0 says that nothing was found, not that nothing is there"]
