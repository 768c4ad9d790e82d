"""Numbers and moments of people that stand in the synthetic table with one number added to all, or times one number.

A time zone, another currency, another unit of measure: no value is equal or near, and every one is known to whoever
knows the step. It is looked for with all people together, whatever their labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from divulge.kernels.neighbours.lattice import digits_of

__all__ = ["MOVED", "MOVED_CONTEXT", "MOVED_NOTE", "Move", "move_between"]

Floats = NDArray[np.float64]

MOVED = "one column, shifted or scaled"
MOVED_CONTEXT = ("added to synthetic values", "synthetic values times")
MOVED_NOTE = (
    "one number was added to all synthetic values, or all were multiplied by one: that with which most of them are "
    "values of people of real and holdout, whoever these are; then compared as nearly equal"
)

_COARSEST = 2**10
_FEWEST = 20  # of fewer values any two steps are equally frequent
_TAILS = 0.005  # share of values on each side that is left out, so that the largest one sets no scale
_PAIRS = 0.25  # of values that agree by chance in a step of the grid, where it may be so fine
_FINEST, _FINEST_OF_MANY = 2**20, 2**21  # steps of the grid: of one column, and of all together; limits on the time
_AROUND = 500  # steps of the grid on either side that say how many pairs agree by chance
_LEAST = 0.05  # pairs by chance
_WIDTHS = (2, 8, 32, 128, 512)  # steps of the grid that a move may take: rounding spreads it
_AT_ONCE = 4
"""Values in a step, beyond which one value of the other table makes too many pairs at once to count them as chance
does: of small numbers beside large ones, as thousands beside euros."""
_APART = (5, 25)  # units of the last digit: as many odd ones as even, multiples of 4, of 5 ...
_LITTLE = 0.02  # of the range of the values, up to which they may be moved by these
_NEAREST = 3  # steps around none, which are no move
_SURE = 7.0  # of a log likelihood ratio, beside the logarithm of the number of steps
_MOST_PAIRS = 4_000_000  # that are looked at one by one; a limit on memory
_EXACT = 1e-9  # of the largest value, or of the factor: equal but for the last digits of a computation


class Move(NamedTuple):
    """What takes synthetic values to those of people: times a factor, then a number added."""

    factor: float
    added: float


def move_between(people: Floats, synthetic: Floats, n_columns: int = 1) -> Move | None:
    """Return the step or the factor by which most synthetic values become values of people; None where none stands out.

    It stands out if more pairs of a person's and a synthetic value are as far apart than are a little nearer or
    farther, and than are so among the people: amounts in cents are often one the double of another.

    Parameters
    ----------
    people, synthetic
        Distinct finite values, ascending.
    n_columns
        Among how many columns the time is shared.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> people, fresh = np.sort(rng.random((2, 400)), axis=1)
    >>> round(move_between(people, people[::2] * 1.25).factor, 9), move_between(people, fresh)
    (0.8, None)
    """
    finest = min(_FINEST, _FINEST_OF_MANY // max(1, n_columns))
    largest = float(np.abs(people[[0, -1]]).max()) if len(people) else 0.0
    found = [(excess, Move(1.0, step)) for excess, step in _steps(people, synthetic, finest, _EXACT * largest)]
    side = 1 if 2 * (people > 0).sum() >= len(people) else -1  # a factor takes either sign to one
    mine = _logs(people, side)
    alike = _on_the_same_digits(synthetic)
    for sign in () if alike is None else (1, -1):
        others = [_logs(v, sign * side) for v in alike or ()]
        steps = _steps(mine, _logs(synthetic, sign * side), finest, _EXACT, others, turned=sign < 0)
        found += [(excess, Move(sign * float(np.exp(step)), 0.0)) for excess, step in steps]
    return max(found, default=(0.0, None), key=lambda pair: pair[0])[1]


def _logs(values: Floats, sign: int) -> Floats:
    return np.sort(np.log(np.abs(values[sign * values > 0])))


def _on_the_same_digits(synthetic: Floats) -> list[Floats] | None:
    """Return the values moved by some units of their last digit: as round as they are, and nobody's but by chance.

    By a half or another simple factor rounded values meet rounded values often, whoever has them. None where so few
    different values are possible that none of them says whose it is.
    """
    digits = digits_of(synthetic)
    if digits is None or not len(synthetic):
        return []
    with np.errstate(over="ignore"):
        if not _APART[1] <= _LITTLE * np.ptp(synthetic) * 10.0**digits < np.inf:
            return None
    return [synthetic + k * 10.0**-digits for far in range(*_APART) for k in (far, -far)]


def _steps(
    people: Floats, synthetic: Floats, finest: int, exact: float, alike: Sequence[Floats] = (), *, turned: bool = False
) -> Iterator[tuple[float, float]]:
    """Yield the step that stands out most, after the number of pairs beyond chance; no step is one if values turned.

    `alike` are values that say how often such numbers agree by chance.
    """
    people, synthetic = _without_tails(people), _without_tails(synthetic)
    n, m = len(people), len(synthetic)
    if min(n, m) < _FEWEST:
        return
    with np.errstate(over="ignore"):
        span = max(float(np.ptp(people)), float(np.ptp(synthetic)))
    size = int(min(finest, max(_COARSEST, 2 ** np.ceil(np.log2(n * m / _PAIRS)))))
    grid = max(2 * span / (size - 2), exact)
    if not 0 < span < np.inf or not np.isfinite(people[0] - synthetic[0]):
        return

    def transformed(values: Floats, within: Floats) -> NDArray[np.complex128]:
        inside = values[(values >= within[0]) & (values <= within[-1])]
        return np.fft.rfft(np.bincount(((inside - within[0]) / grid).astype(np.int64), minlength=size))

    first, second = transformed(people, people), transformed(synthetic, synthetic)
    pairs = np.rint(np.fft.irfft(first * second.conj(), size))
    counted, by_chance = _running(pairs), _running(_by_chance(pairs))
    # two more counts of chance, each a third of the time: made where a step would stand out without them
    among: Floats | None = None
    rounded = _running(np.zeros(0))
    bar, best = np.log(size) + _SURE, (0.0, 0.0, 0.0, 0)  # how sure, the pairs beyond chance, the step and its width
    fewest = 1 + int(np.argmax(_sureness(np.arange(1.0, 100.0), np.full(99, _LEAST)) > bar))
    closest = min(_spacing(people), _spacing(synthetic))
    for width in _WIDTHS if len(alike) else _WIDTHS[:1]:
        if width * grid > _AT_ONCE * closest:
            break
        each = max(1, width // 4)
        lag = each * np.flatnonzero(counted[width : size + width : each] - counted[:size:each] >= fewest)
        found, chance = (x[lag + width] - x[lag] for x in (counted, by_chance))
        chance = np.maximum(chance, _LEAST)
        if width > _WIDTHS[0]:  # else those of a grid of rounded numbers count, and not the empty steps between
            far = min(4 * width, size // 4)
            around = counted[(lag - far) % size + 2 * far + width] - counted[(lag - far) % size]
            chance = np.maximum(chance, around * width / (2 * far + width))
        step = np.where(lag < size // 2, lag, lag - size) + (people[0] - synthetic[0]) / grid
        kept = (_sureness(found, chance) > bar) & (turned | (np.abs(step + width / 2 - 1) > _NEAREST - 1 + width / 2))
        if not kept.any():
            continue
        if among is None:
            among = _running(np.rint(np.fft.irfft(first * first.conj(), size)) * (m / n))
            if len(alike):
                others = transformed(np.concatenate(alike), synthetic)
                rounded = _running(np.fft.irfft(first * others.conj(), size) / len(alike))
        if len(alike):
            chance = np.maximum(chance, rounded[lag + width] - rounded[lag])
        kept &= found > chance + np.sqrt(chance)
        found, chance, step, own = found[kept], chance[kept], step[kept], np.rint(step[kept]).astype(np.int64)
        if not len(found):
            continue
        like = np.max([among[(own + k) % size + width] - among[(own + k) % size] for k in (-1, 0, 1)], axis=0)
        like[np.abs(own) >= size // 2] = 0
        chance = np.maximum(chance, like - 2 * np.sqrt(np.maximum(like, 0)))
        sure = _sureness(found, chance)
        i = int(np.argmax(sure))
        best = max(best, (float(sure[i]), float(found[i] - chance[i]), float(step[i]), width))
    most, beyond, at, width = best
    if most > bar:
        yield beyond, _exactly(people, synthetic, (at - 1) * grid, (at + width) * grid, exact)


def _sureness(found: Floats, chance: Floats) -> Floats:
    """Return the log likelihood ratio of the pairs beside those by chance; 0 where they are not more."""
    ratio = np.maximum(found / chance, 1.0)
    return np.asarray(np.where(found > chance, found * np.log(ratio) - (found - chance), 0.0))


def _spacing(values: Floats) -> float:
    """Return how far values of the middle half are from the next, on average."""
    k = len(values) // 4
    return float(values[-1 - k] - values[k]) / (len(values) - 1 - 2 * k)


def _running(values: Floats) -> Floats:
    """Return the sum of the values before each place, and once more round the circle for windows beyond its end."""
    return np.cumsum(np.concatenate([[0.0], values, values]))


def _without_tails(values: Floats) -> Floats:
    k = int(_TAILS * len(values))
    return values[k : len(values) - k]


def _by_chance(pairs: Floats) -> Floats:
    """Return how many pairs a step has by chance, where it can have any: steps of rounded numbers are on a grid.

    The mean of those that have one is lambda / (1 - exp(-lambda)), of which this is the inverse, or a little more.
    """
    mean = _around(pairs) / np.maximum(1, _around(pairs > 0))
    return np.asarray(np.minimum(mean, 2 * (mean - 1)))


def _around(values: NDArray[Any]) -> Floats:
    """Return the sum of the values up to 500 places before and behind each, in a circle."""
    k = min(_AROUND, (len(values) - 1) // 2)
    total = np.cumsum(np.concatenate([values[-k:], values, values[:k]], dtype=np.float64))
    return np.asarray(total[2 * k :] - np.concatenate([[0.0], total[: len(values) - 1]]))


def _exactly(people: Floats, synthetic: Floats, low: float, high: float, exact: float) -> float:
    """Return the step in a range in which most pairs lie closest together."""
    first, last = np.searchsorted(synthetic, people - high), np.searchsorted(synthetic, people - low, side="right")
    thin = 1 + int((last - first).sum()) // _MOST_PAIRS
    people, first, last = people[::thin], first[::thin], last[::thin]
    count = last - first
    which = np.repeat(last - np.cumsum(count), count) + np.arange(int(count.sum()))
    apart = np.sort(np.repeat(people, count) - synthetic[which])
    found = []
    for width in (exact, (high - low) / 24, (high - low) / 3):
        times = np.searchsorted(apart, apart + width, side="right") - np.arange(len(apart))
        first_one = int(np.argmax(times))
        k = int(times[first_one])
        found.append((k - len(apart) * width / (high - low), float(np.median(apart[first_one : first_one + k]))))
    return max(found, key=lambda pair: pair[0])[1]
