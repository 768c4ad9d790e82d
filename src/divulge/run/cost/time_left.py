"""How much time a run still takes: what is expected of its parts, corrected by how fast it has been so far."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from divulge.run.cost.budget import Clock

__all__ = ["TimeLeft"]

_TRUST = (2.0, 0.03)
"""Seconds, and share of the expected time, after which what was seen counts as much as what was expected: small tests
are expected wrongly by fractions of a second, which says nothing of the speed."""


class TimeLeft:
    """The time that is left of a run, in seconds. Its parts may run side by side.

    Parameters
    ----------
    expected
        The seconds that each part adds to the run, about.
    clock
        Of the run.

    Examples
    --------
    >>> left = TimeLeft({"a": 10.0, "b": 30.0}, Clock.start(None))
    >>> left.begin("a")
    >>> left.end("a", made=False)
    >>> round(left.seconds())
    30
    """

    def __init__(self, expected: Mapping[Hashable, float], clock: Clock) -> None:
        self._waiting, self._running = dict(expected), dict[Hashable, tuple[float, float]]()
        self._later = sum(expected.values())
        """Of the parts that wait: it is asked for more often than parts begin."""
        self._trust = _TRUST[0] + _TRUST[1] * sum(expected.values())
        self._clock, self._began = clock, clock.seconds
        self._expected = 0.0
        """Of the parts that were made."""

    def begin(self, part: Hashable) -> None:
        """Say that a part begins."""
        if part in self._waiting:
            self._running[part] = self._taken(part), self._clock.seconds

    def end(self, part: Hashable, *, made: bool = True) -> None:
        """Say that a part is done; one that was not `made` tells nothing of the speed."""
        expected, _ = self._running.pop(part, (self._taken(part), 0.0))
        self._expected += expected if made else 0.0

    def seconds(self) -> float:
        """Return about how many seconds are left."""
        now = self._clock.seconds
        seen, expected, running = now - self._began, self._expected, []
        for of_part, began in self._running.values():
            spent = (now - began) / len(self._running)  # parts that run side by side share the time
            running.append((of_part, spent))
            if spent > of_part:  # it tells already that the run is slower than expected
                expected += of_part
            else:
                seen -= spent
        slower = (self._trust + max(seen, 0.0)) / (self._trust + expected)
        left = slower * self._later + sum(max(slower * e - spent, 0.0) for e, spent in running)
        return max(0.0, min(left, self._clock.left()))

    def _taken(self, part: Hashable) -> float:
        """Return what is expected of a part that waits no longer; 0 for one that did not."""
        expected = self._waiting.pop(part, 0.0)
        self._later = self._later - expected if self._waiting else 0.0
        return expected
