"""Which people an attack of a run asks: all, or a random sample where its entry allows one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from divulge.attacks.entry import CATALOGUE
from divulge.attacks.multiplicity import correct
from divulge.attacks.registry import worded
from divulge.case.asked import Asked, asked_of
from divulge.case.case import Case
from divulge.core.result import Individual, Result
from divulge.report.model import Sampling
from divulge.report.prose.sampled import RATE
from divulge.run.planning.detectable_risk import smallest_excess

__all__ = ["ASKED", "FEWER", "People", "people_of_run"]

ASKED = "cap, inference, linkability, membership and other means over people ask a random sample"
FEWER = "{} asks a random sample, for the time that it takes"

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class People:
    """The case of a run, and that of the people whom the attacks of `sampled` entries ask."""

    case: Case
    asked: Asked | None
    """None where everybody is asked."""

    def of(self, attack: str) -> Case:
        """Return the case that an attack is made on."""
        asked = self._asked(attack)
        return self.case if asked is None else asked.case

    def _asked(self, attack: str) -> Asked | None:
        """Return the people whom an attack asks; None where it asks everybody."""
        entry = CATALOGUE[attack]
        if entry.most is None:
            return self.asked if entry.sampled else None
        if self.asked is not None and max(map(self.asked.case.n_people, ("real", "holdout"))) <= entry.most:
            return self.asked
        return asked_of(self.case, entry.most)

    def summarised(self, results: Sequence[Result]) -> list[Result]:
        """Return the results, and after those of each attack those over all its calls, such as a mean over targets."""
        out = list(results)
        for name, entry in CATALOGUE.items():
            own = [r for r in results if r.attack == name]
            if entry.summary is None or not own:
                continue
            place = 1 + max(i for i, r in enumerate(out) if r.attack == name)
            known = dict.fromkeys(r.keys if r.actors else () for r in own)
            for keys in reversed(known):  # actors who know the same have one mean over what any of them wants
                some = [r for r in own if not r.actors or r.keys == keys]
                who = {"keys": keys, "actors": _all_actors(some)} if keys else {}
                found = [replace(r, **who) for r in entry.summary(self.of(name), some)]
                out[place:place] = [worded(r, entry) for r in found]
        return out

    def corrected(self, results: Sequence[Result], acceptable: float, n_families: int) -> list[Result]:
        """Return the results, corrected for the comparisons of their attack, which all ask the same people.

        Each attack is a family of its own, so that it is corrected on the case that it was made on.
        """
        out = list(results)
        cases = {r.attack: self.of(r.attack) for r in results}
        for case in {id(case): case for case in cases.values()}.values():
            own = [i for i, r in enumerate(results) if cases[r.attack] is case]
            for i, result in zip(own, correct(case, [results[i] for i in own], acceptable, n_families), strict=True):
                out[i] = result
        return out

    def of_everybody(self, result: Result) -> Result:
        """Return a result with a score for each record of the whole tables; nan for who was not asked."""
        asked = self._asked(result.attack)
        if asked is None or result.individual is None:
            return result
        real, holdout = result.individual.real, result.individual.holdout
        return replace(
            result,
            individual=Individual(
                real=_at(real, asked.real, self.case.n_rows("real")),
                holdout=None
                if holdout is None or asked.holdout is None
                else _at(holdout, asked.holdout, self.case.n_rows("holdout")),
            ),
        )

    @property
    def sample(self) -> Asked | None:
        """The people asked, where not everybody is."""
        whole = self.asked is None or all(self.asked.case.n_rows(r) == self.case.n_rows(r) for r in ("real", "holdout"))
        return None if whole else self.asked

    @property
    def fewest(self) -> Case:
        """The case of the fewest people that an attack asks."""
        return self.case if self.asked is None else self.asked.case

    def sampling(self, n_attacks: int) -> Sampling | None:
        """Return who is asked, of how many, and the smallest excess that they show; None where everybody is asked."""
        if self.sample is None:
            return None
        asked, of = (
            [c.n_people(role) if role == "real" or c.has_holdout else 0 for role in ("real", "holdout")]
            for c in (self.sample.case, self.case)
        )
        excess = smallest_excess(asked[0], asked[1], n_attacks, self.case.level, RATE) if asked[1] else math.nan
        return Sampling(
            members=asked[0], of_members=of[0], strangers=asked[1], of_strangers=of[1],
            excess=None if math.isnan(excess) else excess,
        )  # fmt: skip

    def notes(self, attacks: Iterable[str]) -> list[str]:
        """Return what the report says of samples, given the attacks of the run; [] where everybody is asked."""
        told = []
        if self.sample is not None:
            told.append(f"{ASKED}: {self._sizes(self.sample.case)}; all other attacks ask everybody")
        limited = sorted({a for a in attacks if CATALOGUE[a].most is not None})
        fewer = [(name, asked) for name in limited if (asked := self._asked(name)) is not None]
        return [*told, *(f"{FEWER.format(name)}: {self._sizes(asked.case)}" for name, asked in fewer)]

    def _sizes(self, asked: Case) -> str:
        told = f"{asked.n_people('real'):,} of {self.case.n_people('real'):,} members"
        if self.case.has_holdout:
            told += f" and {asked.n_people('holdout'):,} of {self.case.n_people('holdout'):,} strangers"
        return told


def people_of_run(case: Case, people: int | None) -> People:
    """Return the people of a run that asks at most `people` members and as many strangers; None asks all."""
    return People(case, asked_of(case, people))


def _all_actors(results: Sequence[Result]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for r in results for name in r.actors))


def _at(scores: Floats, rows: Ints, n: int) -> Floats:
    out = np.full(n, np.nan)
    out[rows] = scores
    return out
