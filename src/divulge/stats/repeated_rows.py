"""Rows that repeat: is the record of one person more frequent in a synthetic table than among people?"""

from __future__ import annotations

import math

from scipy.special import betainc, betaincinv

from divulge.core.errors import SettingError

__all__ = ["too_often"]

_STEPS = 100  # halvings of the logarithm of a chance: exact to the last digit
_LEAST = math.log(1e-300)


def too_often(times: int, n_rows: int, n_people: int, n_tests: int = 1) -> float:
    """Return a p-value for a record that one of n people has and that a synthetic table repeats.

    Two things can go wrong without a leak: the record is rarer among these people than in the population, or it is
    drawn more often than it should be. ``a`` is the smallest error for which the record would still be repeated too
    often if its share were the Clopper-Pearson upper limit for 1 of n at error a: ``P(Bin(m, p_up(a)) >= k) <= a``.
    The p-value is 2 a (one for either), times the number of records that repeat (Bonferroni), at most 1.

    Parameters
    ----------
    times
        k, how often the record stands in the synthetic table.
    n_rows
        m, rows of the synthetic table.
    n_people
        n, members and strangers; one of them has the record.
    n_tests
        Distinct synthetic rows that repeat.

    References
    ----------
    Clopper and Pearson (1934), The use of confidence or fiducial limits illustrated in the case of the binomial.

    Examples
    --------
    >>> too_often(20, 1000, 2000) < 1e-4 < 0.1 < too_often(5, 1000, 2000)
    True
    """
    if not 0 <= times <= n_rows or n_people < 1 or n_tests < 1:
        raise SettingError("repeats: needs 0 <= times <= rows, and at least one person and one test.")
    if not times or n_people == 1:
        return 1.0
    below, above = _LEAST, 0.0
    for _ in range(_STEPS):
        middle = (below + above) / 2
        upper = 1.0 - float(betaincinv(n_people - 1, 2, math.exp(middle)))
        if betainc(times, n_rows - times + 1, upper) <= math.exp(middle):
            above = middle
        else:
            below = middle
    return min(1.0, 2 * math.exp(above) * n_tests)
