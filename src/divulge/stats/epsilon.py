"""Lower bounds of epsilon from experiments: a game about one record, many canaries in one training, Gaussian noise.

A mechanism is (epsilon, delta) differentially private if for every event and all neighbouring tables
P(event | table) <= e^epsilon P(event | neighbour) + delta. An attack whose true and false positive rates break this
shows that epsilon is larger. A bound near 0 says that nothing was found, never that the generator is private. No
experiment shows more than its ceiling, the bound of an attack that is always right.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np
from scipy.special import bdtrc, gammaln, log_ndtr, ndtr, ndtri, xlog1py, xlogy

from divulge.core.errors import SettingError
from divulge.stats.fair_coins import one_sided_lower, one_sided_upper

__all__ = [
    "advantage_allowed",
    "game_ceiling",
    "game_epsilon",
    "game_mu",
    "game_power",
    "mu_of_epsilon",
    "mu_to_epsilon",
    "one_run_epsilon",
    "one_run_p",
    "one_run_power",
    "pairs_epsilon",
    "replaced_claim",
    "split_epsilon",
    "tpr_allowed",
]

_MOST = 60.0
_STEPS = 80


# ---------------------------------------------------------------- a game about one record


def game_epsilon(
    true_positives: int, n_in: int, false_positives: int, n_out: int, *, delta: float = 0.0, level: float = 0.95
) -> float:
    """Return the lower bound of epsilon of a game in which one record is in the training table or not.

    Both rates have Clopper and Pearson's limits, and both directions are tried: a quarter of the error for each limit.

    Parameters
    ----------
    true_positives, n_in
        Trainings with the record that were taken for such, of how many.
    false_positives, n_out
        Trainings without the record that were taken for trainings with it, of how many.
    delta
        The delta of the claim.
    level
        Probability that the bound is not above the true epsilon. The threshold must not depend on these trainings.

    References
    ----------
    Nasr et al. (2021), Adversary instantiation; Jagielski, Ullman and Oprea (2020), Auditing differentially private
    machine learning.

    Examples
    --------
    >>> [round(game_epsilon(r, r, 0, r), 3) for r in (10, 25, 50, 100, 250, 500, 1000)]
    [0.598, 1.652, 2.39, 3.106, 4.035, 4.733, 5.428]
    """
    _check(true_positives, n_in, false_positives, n_out, delta, level)
    tail = (1 - level) / 4
    directions = (
        (true_positives, n_in, false_positives, n_out),
        (n_out - false_positives, n_out, n_in - true_positives, n_in),
    )
    best = 0.0
    for hits, n, alarms, m in directions:
        least, most = one_sided_lower(hits, n, tail) - delta, one_sided_upper(alarms, m, tail)
        if least > 0 and most > 0:
            best = max(best, math.log(least / most))
    return best


def game_ceiling(n_in: int, n_out: int, *, delta: float = 0.0, level: float = 0.95) -> float:
    """Return the bound of a game in which every guess is right, the largest that so many trainings can show."""
    return game_epsilon(n_in, n_in, 0, n_out, delta=delta, level=level)


def game_power(
    claim: float, true: float, n_in: int, n_out: int, *, delta: float = 0.0, level: float = 0.95, draws: int = 2000
) -> float:
    """Return how often a game contradicts a claim where the best attack on a generator of epsilon `true` is used.

    That attack is right with probability e^true / (1 + e^true) in both worlds.
    """
    rate = 1 / (1 + math.exp(-true))
    rng = np.random.default_rng(0)
    right, wrong = rng.binomial(n_in, rate, draws), rng.binomial(n_out, 1 - rate, draws)
    pairs, times = np.unique(np.column_stack([right, wrong]), axis=0, return_counts=True)
    shown = [game_epsilon(int(a), n_in, int(b), n_out, delta=delta, level=level) > claim for a, b in pairs]
    return float(times[np.array(shown)].sum()) / draws


# ---------------------------------------------------------------- Gaussian differential privacy


def game_mu(true_positives: int, n_in: int, false_positives: int, n_out: int, *, level: float = 0.95) -> float:
    """Return the lower bound of mu of a mechanism whose noise is Gaussian, from one threshold fixed beforehand.

    Under mu-GDP, ndtri(1 - FPR) - ndtri(FNR) <= mu at every threshold. Half of the error for each of the two limits.

    References
    ----------
    Dong, Roth and Su (2022), Gaussian differential privacy; Nasr et al. (2023), Tight auditing of differentially
    private machine learning.

    Examples
    --------
    >>> round(game_mu(90, 100, 10, 100), 3), game_mu(50, 100, 50, 100)
    (1.86, 0.0)
    """
    _check(true_positives, n_in, false_positives, n_out, 0.0, level)
    tail = (1 - level) / 2
    alarms = one_sided_upper(false_positives, n_out, tail)
    missed = one_sided_upper(n_in - true_positives, n_in, tail)
    if alarms >= 1 or missed >= 1:
        return 0.0
    return max(0.0, float(-ndtri(alarms) - ndtri(missed)))


def mu_to_epsilon(mu: float, delta: float) -> float:
    """Return the epsilon at which a mechanism that is exactly mu-GDP has this delta.

    Examples
    --------
    >>> [round(mu_to_epsilon(mu, 1e-5), 3) for mu in (0.25, 0.5, 1.0, 2.0)]
    [0.926, 1.993, 4.377, 9.997]
    """
    if not 0 < delta < 1:
        raise SettingError(f"delta: {delta} is outside (0, 1). hint: Gaussian noise has a delta; 1e-5 is usual.")
    if mu <= 0 or _gaussian_delta(0.0, mu) <= delta:
        return 0.0
    high = 1.0
    while _gaussian_delta(high, mu) > delta:
        high *= 2
    return _root(lambda epsilon: _gaussian_delta(epsilon, mu) > delta, high)


def mu_of_epsilon(epsilon: float, delta: float) -> float:
    """Return the mu at which a mechanism that is exactly mu-GDP is (epsilon, delta) private.

    Examples
    --------
    >>> round(mu_of_epsilon(mu_to_epsilon(0.7, 1e-5), 1e-5), 6)
    0.7
    """
    return _root(lambda mu: mu == 0 or mu_to_epsilon(mu, delta) <= epsilon, 2 * math.sqrt(2 * epsilon) + 20)


def _gaussian_delta(epsilon: float, mu: float) -> float:
    return float(ndtr(mu / 2 - epsilon / mu) - np.exp(epsilon + log_ndtr(-epsilon / mu - mu / 2)))


# ---------------------------------------------------------------- many canaries in one training


def one_run_p(m: int, guesses: int, right: int, epsilon: float, delta: float = 0.0) -> float:
    """Return the chance of so many right guesses about canaries if the generator is (epsilon, delta) private.

    Parameters
    ----------
    m
        Canaries, each in the training table by a fair coin of its own; of all trainings together.
    guesses, right
        Canaries that were guessed about (which ones must not depend on a coin), and right guesses.

    References
    ----------
    Steinke, Nasr and Jagielski (2023), Privacy auditing with one (1) training run, theorem 5.2.
    """
    if right <= 0:
        return 1.0
    rate = 1 / (1 + math.exp(-epsilon))
    p = float(bdtrc(right - 1, guesses, rate))
    if delta > 0:
        i = np.arange(1, right + 1)
        p += 2 * m * delta * float((np.cumsum(_mass(right - i, guesses, rate)) / i).max())
    return min(1.0, p)


def one_run_epsilon(m: int, guesses: int, right: int, *, delta: float = 0.0, level: float = 0.95) -> float:
    """Return the lower bound of epsilon from guesses about m canaries of one training (or of several, added up).

    Examples
    --------
    >>> [round(one_run_epsilon(1000, r, v, delta=d), 4) for r, v, d in ((1000, 600, 0), (100, 95, 0), (100, 95, 1e-5))]
    [0.2975, 2.1724, 2.1652]
    """
    if not (0 <= right <= guesses <= m and 0 <= delta < 1 and 0 < level < 1):
        raise SettingError("canaries: needs 0 <= right <= guesses <= canaries, and 0 <= delta < 1.")
    if one_run_p(m, guesses, right, 0.0, delta) > 1 - level:
        return 0.0
    return _root(lambda epsilon: one_run_p(m, guesses, right, epsilon, delta) <= 1 - level, _MOST)


def one_run_power(claim: float, true: float, m: int, guesses: int, *, delta: float = 0.0, level: float = 0.95) -> float:
    """Return how often guesses contradict a claim if each is right with probability e^true / (1 + e^true)."""
    fewest = _fewest(claim, m, guesses, delta, level)
    return float(bdtrc(fewest - 1, guesses, 1 / (1 + math.exp(-true)))) if fewest <= guesses else 0.0


@functools.lru_cache(maxsize=256)
def _fewest(claim: float, m: int, guesses: int, delta: float, level: float) -> int:
    """Return the right guesses from which a claim is contradicted; one more than there are guesses if none are."""
    low, high = 0, guesses + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if one_run_p(m, guesses, middle, claim, delta) < 1 - level else (middle, high)
    return high


def pairs_epsilon(pairs: int, right: int, *, delta: float = 0.0, level: float = 0.95) -> float:
    """Return the lower bound of epsilon, one record being replaced, from pairs of people who exchange a secret or not.

    An exchange changes two records: a generator that is (epsilon, delta) private when one is replaced is
    (2 epsilon, (1 + e^epsilon) delta) private when two are.

    Examples
    --------
    >>> round(pairs_epsilon(1000, 700), 3), round(one_run_epsilon(1000, 1000, 700) / 2, 3)
    (0.366, 0.366)
    """

    def too_small(epsilon: float) -> bool:
        both = min(1.0, (1 + math.exp(epsilon)) * delta)
        return one_run_p(pairs, pairs, right, 2 * epsilon, both) <= 1 - level

    return _root(too_small, _MOST / 2) if too_small(0.0) else 0.0


# ---------------------------------------------------------------- what a claim allows, and one table beside strangers


def replaced_claim(epsilon: float, delta: float, neighbouring: str) -> tuple[float, float]:
    """Return what a claim says of two tables in which one person is replaced by another.

    A member compared with a stranger is such an exchange. Where neighbours add or remove a person, it takes two steps:
    (2 epsilon, (1 + e^epsilon) delta).

    References
    ----------
    Dwork and Roth (2014), The algorithmic foundations of differential privacy, theorem 2.2 (groups).

    Examples
    --------
    >>> replaced_claim(1.0, 0.0, "replace"), replaced_claim(1.0, 0.0, "add or remove")
    ((1.0, 0.0), (2.0, 0.0))
    """
    if neighbouring == "replace":
        return epsilon, delta
    return 2 * epsilon, min(1.0, (1 + math.exp(min(epsilon, _MOST))) * delta)


def tpr_allowed(fpr: float, epsilon: float, delta: float = 0.0) -> float:
    """Return the largest true positive rate of any attack at a false positive rate, one person being replaced.

    References
    ----------
    Kairouz, Oh and Viswanath (2015), The composition theorem for differential privacy, theorem 2.1: an attack obeys
    TPR <= e^epsilon FPR + delta and 1 - FPR <= e^epsilon (1 - TPR) + delta.

    Examples
    --------
    >>> [round(tpr_allowed(a, 1.0), 4) for a in (0.01, 0.1, 0.5)]
    [0.0272, 0.2718, 0.8161]
    """
    grown = math.exp(min(epsilon, _MOST))
    return max(fpr, min(1.0, grown * fpr + delta, 1 - (1 - delta - fpr) / grown))


def advantage_allowed(epsilon: float, delta: float = 0.0) -> float:
    """Return the largest TPR - FPR of any attack, one person being replaced.

    It is (e^epsilon - 1 + 2 delta) / (e^epsilon + 1), and bounds the excess of inference, too: a right guess is an
    event as any other.

    References
    ----------
    Humphries et al. (2023), Investigating membership inference attacks under data dependencies, theorem 3.1; it is the
    corner of the region of Kairouz, Oh and Viswanath (2015), and below the e^epsilon - 1 of Yeom et al. (2018).

    Examples
    --------
    >>> round(advantage_allowed(1.0), 4), round(advantage_allowed(1.0, 0.01), 4), advantage_allowed(100.0)
    (0.4621, 0.4675, 1.0)
    """
    shrunk = math.exp(-epsilon)
    return min(1.0, (1 - shrunk + 2 * delta * shrunk) / (1 + shrunk))


def split_epsilon(hits: int, n: int, others: int, m: int, *, delta: float = 0.0, level: float = 0.95) -> float:
    """Return the lower bound of epsilon, one person being replaced, from hits of members and strangers in one table.

    Of n + m people n were drawn for training. Given a synthetic table, two such draws that differ by one exchange are
    at most e^epsilon times as likely as each other. Summed over all exchanges, the members among the people who are
    hit are at most as many as in Fisher's noncentral hypergeometric distribution with odds e^epsilon, whatever the
    mechanism; the bound is the exact lower limit of the odds ratio. Who is hit must not depend on who was drawn.

    Parameters
    ----------
    hits, n
        Members who are hit, of how many.
    others, m
        Strangers who are hit, of how many. Where the threshold of an attack is the score of the k-th stranger, these
        are k - 1 (the people above it are then as in inverse sampling).
    delta
        The delta of the claim: so many members are taken from the hits as a chance of delta for each gives away, but
        for a tenth of the error.
    level
        Probability that the bound is not above the true epsilon.

    References
    ----------
    Steinke, Nasr and Jagielski (2023), Privacy auditing with one (1) training run, for the argument within one table;
    Cornfield (1956), A statistical problem arising from retrospective studies, for the limit.

    Examples
    --------
    >>> [round(split_epsilon(h, 1000, 10, 1000), 3) for h in (10, 30, 100)]
    [0.0, 0.474, 1.828]
    >>> round(split_epsilon(100, 1000, 10, 1000, delta=1e-5), 3)
    1.802
    """
    _check(hits, n, others, m, delta, level)
    tail = 1 - level
    if delta > 0:
        given = np.arange(n + 1, dtype=np.float64)
        hits = max(0, hits - int(np.searchsorted(-bdtrc(given, n, delta), -tail / 10)))
        tail *= 0.9
    drawn = hits + others
    x = np.arange(max(0, drawn - m), min(n, drawn) + 1, dtype=np.float64)
    if hits <= x[0] or len(x) == 1:
        return 0.0
    logs = -(gammaln(x + 1) + gammaln(n - x + 1) + gammaln(drawn - x + 1) + gammaln(m - drawn + x + 1))

    def chance(epsilon: float) -> float:
        weights = logs + epsilon * x
        weights = np.exp(weights - weights.max())
        return float(weights[x >= hits].sum() / weights.sum())

    return _root(lambda epsilon: chance(epsilon) <= tail, _MOST) if chance(0.0) <= tail else 0.0


def _mass(k: np.ndarray, n: int, rate: float) -> np.ndarray:
    """Return the binomial probabilities of k hits of n."""
    logs = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1) + xlogy(k, rate) + xlog1py(n - k, -rate)
    return np.asarray(np.exp(logs))


def _root(below: Callable[[float], bool], high: float) -> float:
    """Return the largest number at which a condition holds that holds from 0 on."""
    low = 0.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) else (low, middle)
    return low


def _check(hits: int, n: int, alarms: int, m: int, delta: float, level: float) -> None:
    if not (0 <= hits <= n and 0 <= alarms <= m and min(n, m) > 0):
        raise SettingError("game: needs trainings with the record and without it, and 0 <= hits <= trainings.")
    if not (0 <= delta < 1 and 0 < level < 1):
        raise SettingError("game: needs 0 <= delta < 1 and a level between 0 and 1.")
