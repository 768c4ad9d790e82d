"""Whether the verdict of a comparison, told beside its counts, would leave fewer counts possible than are promised."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from math import ceil, floor

from divulge.attacks.checks import verdict_of
from divulge.report.external.rounding import BASE, FEW
from divulge.stats.exact import fisher
from divulge.stats.intervals import mover_residual, newcombe

__all__ = ["narrows"]

Range = tuple[float, float]
_END = 1e-9


@lru_cache(maxsize=20_000)
def narrows(
    verdict: str, real: Range, n: int, holdout: Range, m: int, alpha: float, tests: int, acceptable: float
) -> bool:
    """Return whether too few counts of a side go with this verdict, whatever the other side's count.

    Of a shown count all five must, of a withheld one ten.

    Parameters
    ----------
    verdict
        The verdict that is told.
    real, holdout
        The ranges of counts that would be shown, or withheld, in the same way.
    n, m
        The sizes as shown.
    alpha, tests
        One minus the level, and the comparisons that it is corrected for at most. What a correction makes of a p-value
        lies between the p-value itself and its product with `tests`: a count goes with a verdict if both ends do.
    acceptable
        The largest acceptable risk.

    Examples
    --------
    >>> narrows("cannot tell", (17.5, 22.5), 60, (17.5, 22.5), 60, 0.05, 1, 0.05)
    False
    >>> narrows("cannot tell", (27.5, 32.5), 60, (12.5, 17.5), 60, 0.05, 1, 0.05)  # of 28 and 17 alone
    True
    """

    def fits(a: int, b: int) -> bool:
        return all(_verdict(a, n, b, m, x, acceptable) == verdict for x in {alpha, alpha / tests})

    ones, others = (range(ceil(low), floor(high) + 1) for low, high in (real, holdout))
    return _lacks(ones, others, n, m, fits) or _lacks(others, ones, m, n, lambda b, a: fits(a, b))


def _lacks(ones: range, others: range, n: int, m: int, fits: Callable[[int, int], bool]) -> bool:
    """Return whether too few of the first counts fit some of the second; equal rates are tried first."""
    found = sum(any(fits(a, b) for b in sorted(others, key=partial(_apart, a, n, m))) for a in ones)
    return found < (FEW if len(ones) > BASE else BASE)


def _apart(a: int, n: int, m: int, b: int) -> int:
    return abs(b * n - a * m)


@lru_cache(maxsize=100_000)
def _verdict(a: int, n: int, b: int, m: int, alpha: float, acceptable: float) -> str:
    """Return the verdict of one comparison of people, as `attacks.checks.conclude` gives it."""
    difference, risk = newcombe(a, n, b, m, 1 - alpha), mover_residual(a, n, b, m, 1 - alpha)
    inside = difference.low > -1 + _END and difference.high < 1 - _END and not risk.low <= 0 < 1 <= risk.high
    if difference.low <= 0 <= difference.high and not inside:
        return "cannot tell"
    return verdict_of(difference, risk, fisher(a, n, b, m), alpha, acceptable)
