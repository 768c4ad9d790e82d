"""The smallest dose that a tool finds, by bisection, and the intervals of shares."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .world import FEW_SEEDS, FIRST_DOSE, NEXT_DOSES, POWER, SEEDS, STEPS

Alarms = Callable[[float, int], Sequence[bool]]
"""Alarms of the first `n` seeds at a dose."""


@dataclass(frozen=True)
class Threshold:
    """The smallest dose that was found with the wanted power, and the largest below it that was not."""

    dose: float | None
    """None where no dose was found."""
    below: float | None
    """None where the smallest dose asked was found."""
    alarms: dict[float, tuple[int, int]] = field(default_factory=dict)
    """For each dose asked: how many seeds raised an alarm, and of how many."""

    def interval(self) -> tuple[float, float]:
        """Return doses between which the threshold lies: power below .8 for sure, and above for sure (95% each).

        0 where even the smallest dose may be found, infinity where no dose is found for sure.
        """
        surely_not = [d for d, (k, n) in self.alarms.items() if wilson(k, n)[1] < POWER]
        surely = [d for d, (k, n) in self.alarms.items() if wilson(k, n)[0] > POWER]
        return max(surely_not, default=0.0), min(surely, default=math.inf)


def wilson(k: int, n: int, z: float = 1.96) -> tuple[float, float]:
    """Return the 95% interval of Wilson for k of n.

    Examples
    --------
    >>> wilson(20, 20)[1], round(wilson(20, 20)[0], 2), wilson(0, 0)
    (1.0, 0.84, (0.0, 1.0))
    """
    if n == 0:
        return 0.0, 1.0
    p, w = k / n, z * z / n
    half = z * math.sqrt(p * (1 - p) / n + w / (4 * n))
    return max(0.0, (p + w / 2 - half) / (1 + w)), min(1.0, (p + w / 2 + half) / (1 + w))


def smallest_dose(
    alarms: Alarms, *, highest: float = 1.0, few: int = FEW_SEEDS, seeds: int = SEEDS, steps: int = STEPS
) -> Threshold:
    """Return the smallest dose with a power of .8.

    A tenth is asked first, then 2% where it is found, 20% where it is not, then doses between on a logarithmic scale,
    all with `few` seeds; then the doses on both sides of the threshold with all `seeds`, until these agree.
    """
    said: dict[float, tuple[int, int]] = {}

    def found(dose: float, n: int) -> bool:
        if dose not in said or said[dose][1] < n:
            raised = alarms(dose, n)
            said[dose] = (sum(raised), len(raised))
        k, total = said[dose]
        return total > 0 and k >= POWER * total

    low, high = NEXT_DOSES[0], min(NEXT_DOSES[1], highest)
    other = low if found(FIRST_DOSE, few) else high
    found(other, few)
    for _ in range(steps):
        below, above = around(said)
        if below is None or above is None:
            break
        found(round(math.sqrt(below * above), 4), few)
    while True:
        # with all seeds a dose may no longer be found, or be found: then the next one on that side is asked
        for dose, unasked in zip((low, high), (end is None for end in around(said)), strict=True):
            if unasked and dose not in said:
                found(dose, few)
        at = [d for d in around(said) if d is not None]
        if all(said[d][1] >= seeds for d in at):
            break
        before = {d: said[d] for d in at}
        for dose in at:
            found(dose, seeds)
        if {d: said[d] for d in at} == before:  # a tool that gets few seeds
            break
    below, above = around(said)
    return Threshold(above, below, dict(sorted(said.items())))


def around(said: dict[float, tuple[int, int]]) -> tuple[float | None, float | None]:
    """Return the largest dose below every found one that was asked, and the smallest found one."""
    doses = [d for d, (k, n) in said.items() if n and k >= POWER * n]
    above = min(doses, default=None)
    return max((d for d in said if above is None or d < above), default=None), above


def bar(null_scores: Sequence[float]) -> float:
    """Return the score that a table must exceed for an alarm at 5%: the highest but as many as 5% allow.

    With 20 null worlds it is the highest: one more null world exceeds it once in 21 times.

    Examples
    --------
    >>> bar(range(20)), bar(range(40))
    (19, 38)
    """
    ordered = sorted(null_scores, reverse=True)
    return ordered[max(0, math.floor(0.05 * (len(ordered) + 1)) - 1)]
