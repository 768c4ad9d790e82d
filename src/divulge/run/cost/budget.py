"""The time limit of a run, and the tests that were left out because of it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from divulge.report.model import LeftOut

TIME_UP = "the time was up"


@dataclass(frozen=True, slots=True)
class Clock:
    """The time that a run has used, and its limit."""

    began: float
    """Reading of the clock at the start, in seconds."""
    budget: float | None
    """Seconds; None sets no limit."""

    @classmethod
    def start(cls, budget: float | None) -> Clock:
        """Return a clock that starts now."""
        return cls(_now(), budget)

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return _now() - self.began

    @property
    def used(self) -> float:
        """The share of the budget that is used; 0 without a budget."""
        return 0.0 if self.budget is None else self.seconds / self.budget if self.budget else inf

    def left(self) -> float:
        """Return the remaining seconds; infinity without a limit."""
        return inf if self.budget is None else self.budget - self.seconds

    @property
    def up(self) -> bool:
        """Whether no time is left."""
        return self.left() <= 0


def _now() -> float:
    return time.perf_counter()


def told_left_out(attack: str, n: int, of: int, why: str = TIME_UP) -> LeftOut:
    """Return the entry of the report's `left_out` for an attack of which n tests were not made."""
    return LeftOut(attack=attack, n=n, of=of, why=why)


def counted_left_out(names: Sequence[str], planned: Counter[str], why: str) -> list[LeftOut]:
    """Return for each attack, in the order of the plan, the number of its tests with this reason."""
    n = Counter(names)
    return [told_left_out(attack, n[attack], of, why) for attack, of in planned.items() if n[attack]]


def notes_on_time(left_out: Sequence[LeftOut], budget: float | None) -> list[str]:
    """Return the note on tests that were left out; [] where none was."""
    if not left_out:
        return []
    told = ", ".join(f"{o.attack} {o.n} of {o.of}" for o in left_out)
    return [
        f"the run was given {budget:g} seconds, and these tests were left out or cut short: {told}; "
        "what they would tell of single records is missing among the records"
    ]
