"""The target of inference: the true value of each person, and the rule by which a guess is right."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from divulge.case.case import Case

__all__ = ["TOLERANCE", "TargetValues", "target_values"]

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]
Window = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]

TOLERANCE = 0.05
"""Share of the spread between the 5% and the 95% quantile by which a guessed number may differ; start value."""
_ROUNDING = 1e-9
_HUGE = 1e300  # beyond it a difference may overflow, so numbers are scaled by a power of two, which is exact


@dataclass(frozen=True, slots=True, eq=False)
class TargetValues:
    """The values of the target column."""

    name: str
    numbers: Floats
    """Shape (n_levels + 1,): the numeric value of each code; nan for missing and for non-numbers. All nan for a
    categorical target."""
    tolerance: float
    """Greatest difference at which a guessed number is right; 0 for a categorical target."""
    share: float
    """The tolerance as a share of the spread."""
    synthetic: Codes
    """Shape (n_synthetic,): code of each synthetic row; 0 is missing."""
    people: Codes
    """Shape (n_real + n_holdout,): true code of each person, real rows first."""
    people_counts: NDArray[np.int64]
    """Shape (n_levels + 1,): number of people with each code."""
    _window: list[Window] = field(default_factory=list, init=False, repr=False)

    @property
    def is_numeric(self) -> bool:
        """Whether the target is numeric, so that a guess may differ by the tolerance."""
        return not bool(np.isnan(self.numbers).all())

    @property
    def n_codes(self) -> int:
        """Number of codes; they run from 0 (missing) to n_codes - 1."""
        return len(self.numbers)

    def right(self, truth: Codes, guess: Codes) -> NDArray[np.bool_]:
        """Return whether guessed codes are right: equal codes, or numbers that differ by at most the tolerance."""
        with np.errstate(invalid="ignore"):  # infinity minus infinity
            error = np.abs(self.numbers[truth] - self.numbers[guess])
        return np.asarray((truth == guess) | (error <= self._reach()))

    def window(self) -> Window:
        """Return an order of the codes in which the right guesses for each code are contiguous; it is made once.

        Returns
        -------
        order
            Shape (n_codes,): the codes of numbers, ascending by number, then the other codes.
        first, last
            Shape (n_codes,): a guess is right for the true code c if its place in `order` is in [first[c], last[c]).
        """
        if not self._window:
            self._window.append(self._made_window())
        return self._window[0]

    def _made_window(self) -> Window:
        order = np.argsort(self.numbers, kind="stable")  # nan last
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        first, last = place.copy(), place + 1
        ascending = self.numbers[order[: int((~np.isnan(self.numbers)).sum())]]
        reach = self._reach()
        known = order[: len(ascending)][np.isfinite(ascending)]  # a search for ascending numbers takes less time
        first[known] = np.minimum(first[known], np.searchsorted(ascending, self.numbers[known] - reach, side="left"))
        last[known] = np.maximum(last[known], np.searchsorted(ascending, self.numbers[known] + reach, side="right"))
        return order, first, last

    def constant(self) -> float:
        """Return the share of people for whom the best constant guess is right; the guess may be any number."""
        order, _, _ = self.window()
        below = np.append(0, np.cumsum(self.people_counts[order]))
        most = int(self.people_counts.max())
        numbers = self.numbers[order]
        first = np.flatnonzero(np.isfinite(numbers))
        if len(first):
            # the best guess is the middle of a run of numbers, which need not be a value of the column
            last = np.searchsorted(numbers[first], numbers[first] + 2 * self._reach(), side="right")
            most = max(most, int((below[first[0] + last] - below[first]).max()))
        return most / max(1, int(self.people_counts.sum()))

    def without_commonest(self) -> NDArray[np.bool_] | None:
        """Return the people without the value that more than half of all have, shape (n_people,); None without one."""
        commonest = int(self.people_counts.argmax())
        if 2 * int(self.people_counts[commonest]) <= len(self.people):
            return None
        return np.asarray(self.people != commonest)

    def by_prior(self) -> float:
        """Return the share of right guesses when they are drawn in proportion to the frequency of values."""
        order, first, last = self.window()
        below = np.append(0, np.cumsum(self.people_counts[order]))
        n = max(1, int(self.people_counts.sum()))
        return float((self.people_counts * (below[last] - below[first])).sum()) / n**2

    def in_words(self) -> str:
        """Return the rule by which a guess counts as right."""
        if not self.is_numeric:
            return "a guess is right when it is the value itself; missing is a value"
        if self.tolerance == 0:
            return (
                "a guess is right when it is the value itself: the tolerance is 0, or the middle nine tenths of "
                "people have one value; missing is a value"
            )
        return (
            f"a guess is right when it is off by at most {self.share:g} of the spread between the 5% and the 95% "
            "quantile of real and holdout together; missing is a value"
        )

    def _reach(self) -> float:
        return self.tolerance * (1 + _ROUNDING)


def target_values(case: Case, target: str, tolerance: float = TOLERANCE) -> TargetValues:
    """Return the target of a case; a guess of a number or datetime may differ by a share of the spread.

    Examples
    --------
    >>> import polars as pl
    >>> from divulge.case.case import build_case
    >>> people = pl.DataFrame({"age": [20.5 + i for i in range(60)]})
    >>> found = target_values(build_case(people, people), "age")
    >>> round(found.tolerance, 2), found.right(np.array([1]), np.array([3])).tolist()
    (2.7, [True])
    """
    pooled = case.pooled(target)
    codes = case.codes(target, binned=False)
    people = np.concatenate([codes[i] for i in range(len(codes)) if i != 1])
    counts = np.bincount(people, minlength=pooled.levels.len() + 1)
    numbers = np.full(len(counts), np.nan)
    reach = 0.0
    if case.schema[target].kind in ("numeric", "datetime"):
        numbers = case.numbers(target)
        if np.abs(numbers[np.isfinite(numbers)]).max(initial=0.0) > _HUGE:
            numbers = numbers * 2.0**-8
        reach = tolerance * _spread(numbers, counts)
    return TargetValues(target, numbers, reach, tolerance, codes[1], people, counts)


def _spread(numbers: Floats, counts: NDArray[np.int64]) -> float:
    """Return the distance between the 5% and the 95% quantile of the finite numbers of people."""
    known = np.flatnonzero(np.isfinite(numbers) & (counts > 0))
    if len(known) < 2:
        return 0.0
    order = known[np.argsort(numbers[known], kind="stable")]
    cumulated = np.cumsum(counts[order])
    n = int(cumulated[-1])
    low, high = (numbers[order[np.searchsorted(cumulated, (q * n + 99) // 100)]] for q in (5, 95))
    return float(high - low)
