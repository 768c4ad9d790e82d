"""Guesses of fair coins that an auditor tossed: exact tests, what they can find, and a test for those who look early.

Where nothing depends on the coins, the number of right guesses is Binomial(n, 1/2), whatever the guesses are made of.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from scipy.special import bdtr, bdtrc, betaincinv, betaln

from divulge.core.errors import SettingError
from divulge.stats.intervals import clopper_pearson
from divulge.stats.outcomes import Floats, Ints
from divulge.stats.power import smallest_share

__all__ = [
    "fewest_right",
    "luck",
    "luck_of_each",
    "mixture_e_value",
    "needed_for_none",
    "one_sided_lower",
    "one_sided_upper",
    "power_at",
    "smallest_rate",
]


def luck(hits: int, n: int) -> float:
    """Return the chance of at least so many right guesses of n fair coins, P(Bin(n, 1/2) >= hits).

    Examples
    --------
    >>> round(luck(14, 20), 4), luck(0, 20)
    (0.0577, 1.0)
    """
    _check(hits, n)
    return 1.0 if hits == 0 else max(float(bdtrc(hits - 1, n, 0.5)), math.ulp(0.0))


def luck_of_each(hits: Ints, n: Ints) -> Floats:
    """Return `luck` of each entry, shapes (n_people,); nan where n is 0."""
    hits, n = np.asarray(hits), np.asarray(n)
    chance = np.where(hits > 0, bdtrc(np.maximum(hits - 1, 0), np.maximum(n, 1), 0.5), 1.0)
    return np.asarray(np.where(n > 0, np.maximum(chance, np.finfo(np.float64).tiny), np.nan))


@functools.lru_cache(maxsize=1024)
def fewest_right(n: int, level: float = 0.95) -> int:
    """Return how many right guesses of n are too many for chance; n + 1 where no number is.

    Examples
    --------
    >>> [fewest_right(n) for n in (20, 50, 100, 200, 500, 1000, 5000)]
    [15, 32, 59, 113, 269, 527, 2559]
    """
    low, high = n // 2, n + 1  # half are never too many
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if luck(middle, n) <= 1 - level + 1e-15 else (middle, high)
    return high


def power_at(rate: float, n: int, level: float = 0.95) -> float:
    """Return the probability that n guesses, each right with probability `rate`, are found to be more than chance.

    Examples
    --------
    >>> round(power_at(0.55, 643), 3), round(power_at(0.5, 100), 4)
    (0.812, 0.0443)
    """
    fewest = fewest_right(n, level)
    return float(bdtrc(fewest - 1, n, rate)) if fewest <= n else 0.0


def smallest_rate(n: int, power: float = 0.8, level: float = 0.95) -> float | None:
    """Return the share of right guesses that is found with a given probability; None where no number is found.

    Examples
    --------
    >>> round(smallest_rate(1000), 3), smallest_rate(4)
    (0.54, None)
    """
    fewest = fewest_right(n, level)
    return smallest_share(fewest, n, power) if fewest <= n else None


@functools.lru_cache(maxsize=64)
def needed_for_none(acceptable: float, level: float = 0.95) -> int:
    """Return the number of guesses from which an accuracy of one half shows that the risk 2p - 1 is acceptable.

    Parameters
    ----------
    acceptable
        Greatest upper limit of the risk, in (0, 1).

    Examples
    --------
    >>> needed_for_none(0.05)
    1574
    """
    if not 0 < acceptable < 1:
        raise SettingError(f"acceptable: {acceptable} is outside (0, 1). hint: 0.05.")

    def shows(n: int) -> bool:
        return 2 * clopper_pearson(n // 2, n, level).high - 1 <= acceptable

    low, high = 0, 2
    while not shows(high):
        low, high = high, 2 * high
    while high - low > 2:  # of even numbers, for which a half is possible
        middle = (low + high) // 4 * 2
        low, high = (low, middle) if shows(middle) else (middle, high)
    return high


def mixture_e_value(hits: int, n: int) -> float:
    """Return the evidence against fair coins, which may be looked at after every guess.

    The likelihood ratio of right guesses with probability p to fair coins, averaged over p uniform on (1/2, 1]. Where
    nothing depends on the coins, it ever reaches 1/a with probability at most a, at whatever moment one stops.

    References
    ----------
    Ville (1939), Etude critique de la notion de collectif; Robbins (1970), Statistical methods related to the law of
    the iterated logarithm.

    Examples
    --------
    >>> [round(mixture_e_value(v, n), 3) for n, v in ((100, 50), (100, 60), (100, 65), (1000, 550), (1000, 560))]
    [0.124, 1.784, 22.892, 11.786, 107.165]
    """
    _check(hits, n)
    above = float(bdtr(hits, n + 1, 0.5))  # P(Beta(hits + 1, n - hits + 1) > 1/2)
    if above == 0.0:
        return 0.0
    log = (n + 1) * math.log(2.0) + float(betaln(hits + 1, n - hits + 1)) + math.log(above)
    return math.exp(min(log, 700.0))


def one_sided_upper(hits: int, n: int, tail: float) -> float:
    """Return Clopper and Pearson's upper limit of a rate, missed with probability at most `tail`."""
    return 1.0 if hits >= n else float(betaincinv(hits + 1, n - hits, 1 - tail))


def one_sided_lower(hits: int, n: int, tail: float) -> float:
    """Return Clopper and Pearson's lower limit of a rate, missed with probability at most `tail`."""
    return 0.0 if hits <= 0 else float(betaincinv(hits, n - hits + 1, tail))


def _check(hits: int, n: int) -> None:
    if not 0 <= hits <= n:
        raise SettingError("hits: must lie between 0 and n. hint: pass right guesses first, then all guesses.")
