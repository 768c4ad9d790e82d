"""Isolation: do guesses made from a synthetic table fit exactly one member more often than exactly one stranger?

A guess is a description of a person. The code counts whom it fits among members and strangers together. A guess singles
out somebody in a table if it fits exactly one person there. This is easy by chance: a description that fits one in n
people fits exactly one in 37% of tables of n people. A smaller table has fewer people to fit, so members and strangers
are compared at equal size: for the larger table the code computes the probability that a random part, as large as the
smaller table, contains exactly one person who fits. This probability is hypergeometric and exact; nothing is fitted or
drawn.

Guesses overlap in the people they fit, and the same guesses are tried on both tables, so they are not independent. The
test permutes the labels "member" and "stranger". The variance over the permutations gives the number of independent
guesses for the intervals.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.core.errors import SettingError
from divulge.core.hashing import value_hashes
from divulge.stats.intervals import (
    _UNDEFINED,
    Interval,
    _check_level,
    _mover_difference,
    _mover_ratio,
    _residual,
    normal_quantile,
    wilson,
)
from divulge.stats.outcomes import Floats, Ints
from divulge.stats.power import smallest_detectable
from divulge.stats.resampling import LEAST_P
from divulge.stats.two_sample import Tally, _band, _failure

__all__ = [
    "Fits",
    "Isolation",
    "by_chance",
    "chance",
    "fit_alone",
    "isolations",
    "right",
    "shown_of_a_copy",
    "singled_out",
    "thinned",
    "total",
]

_DRAWS = 1999
_CHUNK = 500_000  # entries of a block of counts: 4 MB, and five such arrays at once
_EQUAL = 1e-12
_FEW_HITS = 5.0


@dataclass(frozen=True, slots=True, eq=False)
class Fits:
    """The people whom each guess fits, among members and strangers."""

    count: Ints
    """Shape (n_guesses,): number of people whom it fits; more than `most` if they were not listed."""
    start: Ints
    """Shape (n_guesses + 1,): guess g fits people[start[g] : start[g + 1]]."""
    people: Ints
    """Person numbers: 0 to n_members - 1 are members."""
    most: int
    """A guess that fits more people than this singles out nobody."""
    record: Ints
    """Shape (n_guesses,): the synthetic record that each guess was made from."""
    groups: tuple[Ints, ...]
    """The guesses of each test."""


@dataclass(frozen=True, slots=True)
class Isolation:
    """One group of guesses: the numbers that single out a member and a stranger, at equal size.

    Has what `attacks.common.judge` and a family of tests ask of a comparison.
    """

    real: Tally
    """Guesses that single out a member; for the larger table, the expected number in a part of equal size."""
    holdout: Tally
    """Guesses that single out a stranger."""
    difference: Interval
    risk: Interval
    """(p_T - p_C) / (1 - p_C); negative when strangers are singled out more often; never clipped."""
    p_value: float
    """Two-sided, by permutation of the labels."""
    expected: float
    """Rate among members under permuted labels: the rate by chance."""
    method: str
    level: float
    permuted: Floats = field(repr=False)
    """Shape (draws,): the difference under permuted labels over `spread`; the draws are those of the other groups."""
    spread: float
    """Standard deviation of the difference under permuted labels."""
    effective: float
    """Number of independent guesses with the same variance."""
    may_resample = False
    least_p = LEAST_P
    possible = (-1.0, 1.0)

    def at(self, level: float) -> tuple[Interval, Interval]:
        """Return difference and risk at another level, for simultaneous intervals."""
        if _check_level(level) == self.level:
            return self.difference, self.risk
        return _intervals(self.real.hits, self.holdout.hits, self.real.n, self.effective, level)

    def leak_free(self, level: float) -> Interval:
        """Return the range of the risk at this level under permuted labels, if members are like strangers."""
        return _band(normal_quantile(_check_level(level)) * self.spread, self.expected, 0.5)

    @property
    def z(self) -> float:
        """Size of the difference in permuted standard deviations; 0 where permutations show no spread."""
        return abs(self.difference.value) / self.spread if self.spread > 0 else 0.0

    def detectable(self, level: float, limits: float | None = None, power: float = 0.8) -> float:
        """Return the smallest excess in rate that is found with a given power; nan where no excess is.

        `level` is 1 minus the two-sided level of the permutations, `limits` that of the interval (None is `level`).
        """
        if not self.real.n:
            return math.nan
        one = self.expected * (1 - self.expected)
        permuted = self.effective if not self.spread else min(self.effective, max(1.0, 2 * one / self.spread**2))
        # what is copied is records, and all guesses made from one succeed together
        together = self.real.n / max(1, self.real.n_clusters)
        found = []
        for n, at in ((permuted, level), (self.effective, limits or level)):
            k = math.ceil(n)
            found.append(
                smallest_detectable(self.expected, k, k, level=at, power=power, variances=(one, one), together=together)
            )
        return max(found)


def thinned(n: int, part: int, most: int) -> Floats:
    """Return the chance that a random part of a table holds exactly one of the people whom a guess fits.

    Parameters
    ----------
    n, part
        People in the table and in its part; with part = n the chance is 1 for exactly one person and else 0.
    most
        Largest number of people.

    Returns
    -------
    ndarray
        Shape (most + 1,): for k people k C(n - k, part - 1) / C(n, part).

    Examples
    --------
    >>> thinned(1000, 500, 4).round(5).tolist()
    [0.0, 0.5, 0.5005, 0.37538, 0.25]
    """
    out = np.zeros(most + 1)
    alone = part / n if n else 0.0  # one of them is in the part, and so far nobody else
    for k in range(1, min(most, n) + 1):
        out[k] = k * alone
        alone *= max(0.0, (n - part - (k - 1)) / (n - k)) if n > k else 0.0
    return out


def shown_of_a_copy(fits: Fits, which: Ints, is_member: NDArray[np.bool_]) -> float:
    """Return what the risk would be if all guesses were made from members: 1 where nothing else could fit.

    The guess made from a member fits that member, who is in a part of equal size with some chance; it then singles out
    where no stranger fits by chance, and where the member is not in the part, somebody else may. How often none and
    exactly one fits by chance is read off the strangers.
    """
    n, m = int(is_member.sum()), int((~is_member).sum())
    size = min(n, m)
    listed = np.repeat(np.arange(len(fits.count)), np.diff(fits.start))
    k = np.bincount(listed[~is_member[fits.people]], minlength=len(fits.count))[which]
    few = fits.count[which] <= fits.most
    none = np.cumprod([1.0, *((m - size - i) / (m - i) if m > i else 0.0 for i in range(fits.most))]).clip(0.0)
    q0 = float(np.where(few, none[k], 0.0).mean())
    q1 = float(np.where(few, thinned(m, size, fits.most)[k], 0.0).mean())
    return size / n * max(0.0, (q0 - q1) / (1 - q1)) if q1 < 1 else 0.0


def by_chance(count: Ints, n_people: int, size: int, most: int) -> float:
    """Return how often guesses single out somebody in a random part of all people, whoever these are.

    `chance` for a finite number of people: exact, and what labels that are permuted give.
    """
    tables = thinned(n_people, size, most)
    return total(tables[count[count <= most]]) / len(count) if len(count) else 0.0


def chance(count: Ints, n_people: int, size: int, most: int) -> float:
    """Return how often guesses of such weights single out somebody in a table that they know nothing about.

    The mean of n w (1 - w)^(n - 1) with the weight w estimated by the people whom the guess fits, over all people.

    References
    ----------
    Cohen and Nissim (2020), Towards formalizing the GDPR's notion of singling out.
    """
    if not (len(count) and n_people):
        return 0.0
    number = np.bincount(np.minimum(count, most + 1), minlength=most + 2)[: most + 1]
    w = np.minimum(np.arange(most + 1) / n_people, 1.0)
    alone = size * w * (1 - w) ** (size - 1)
    return float((number * alone).sum()) / len(count)


def right(fits: Fits, is_member: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Return the chance that each guess singles out a member, and a stranger, in parts of equal size.

    Shapes (n_guesses,); without strangers members are taken as they are.
    """
    guess = np.repeat(np.arange(len(fits.count)), np.diff(fits.start))
    members = np.bincount(guess[is_member[fits.people]], minlength=len(fits.count))
    for_members, for_strangers = _tables(is_member, fits.most)
    return for_members[members], for_strangers[np.diff(fits.start) - members]


def singled_out(fits: Fits, which: Ints, is_member: NDArray[np.bool_], *, members: bool) -> Floats:
    """Return for each member, or stranger, the chance to be singled out by some guess in a part of equal size.

    Where the tables are of one size it is 0 or 1. Of several guesses that fit a person the best counts.
    """
    number = np.diff(fits.start)[which]
    guess = np.repeat(which, number)
    pairs = fits.people[_ranges(fits.start[which], number)]
    own = is_member[pairs] == members
    guess, pairs = guess[own], pairs[own]
    k = np.bincount(guess, minlength=len(fits.count))
    each = _tables(is_member, fits.most)[0 if members else 1] / np.maximum(np.arange(fits.most + 1), 1)
    out = np.zeros(len(is_member))
    np.maximum.at(out, pairs, each[k[guess]])
    return np.asarray(out[is_member == members])


def fit_alone(fits: Fits, which: Ints, is_member: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return for each person whether some guess fits nobody else in the person's own table, shape (n_people,)."""
    number = np.diff(fits.start)[which]
    guess = np.repeat(which, number)
    pairs = fits.people[_ranges(fits.start[which], number)]
    out = np.zeros(len(is_member), dtype=np.bool_)
    for own in (is_member[pairs], ~is_member[pairs]):
        others = np.bincount(guess[own], minlength=len(fits.count))
        out[pairs[own][others[guess[own]] == 1]] = True
    return out


def total(chances: Floats) -> float:
    """Return the sum of chances, the same digits in any order."""
    return math.fsum(chances.tolist())


def _tables(is_member: NDArray[np.bool_], most: int) -> tuple[Floats, Floats]:
    """Return for members and strangers the chance that so many who fit are exactly one in a part of equal size."""
    n, m = int(is_member.sum()), int((~is_member).sum())
    size = min(n, m) if n and m else max(n, m)
    return thinned(n, min(n, size), most), thinned(m, min(m, size), most)


def isolations(
    fits: Fits,
    is_member: NDArray[np.bool_],
    *,
    level: float = 0.95,
    rng: np.random.Generator,
    draws: int = _DRAWS,
) -> list[Isolation]:
    """Return the comparison of each group of guesses; the permutations are shared by all groups.

    Parameters
    ----------
    fits
        Whom the guesses fit.
    is_member
        Shape (n_people,).
    level
        Of the intervals.
    rng
        Source of the permutations. People are put into an order that only the guesses decide, so that neither row
        order nor who is a member enters.
    draws
        Permutations.

    Raises
    ------
    SettingError
        Nobody on one side.

    Examples
    --------
    >>> fits = Fits(np.array([1, 1, 2]), np.array([0, 1, 2, 4]), np.array([0, 1, 0, 2]), 64, np.arange(3),
    ...             (np.arange(3),))
    >>> found, = isolations(fits, np.array([True, True, False, False]), rng=np.random.default_rng(0))
    >>> found.real.hits, found.holdout.hits, found.real.n
    (3.0, 1.0, 3)
    """
    n, m = int(is_member.sum()), int((~is_member).sum())
    if not (n and m):
        raise SettingError("singling out: needs members and strangers to compare.")
    matrix = _matrix(fits, len(is_member))
    each = right(fits, is_member)
    listed, tables = _listed(fits, matrix), _tables(is_member, fits.most)
    # the smaller table is drawn: swapping the groups turns the sign of every draw
    permuted = [
        _differences(listed, drawn if n <= m else 1 - drawn, tables)
        for drawn in _permuted_labels(min(n, m), max(n, m), matrix.shape, rng, draws)
    ]
    sums = [np.concatenate(parts, axis=1) for parts in zip(*permuted, strict=True)]
    return [
        _isolation(
            fits.record[group],
            (each[0][group], each[1][group]),
            (sums[0][j], sums[1][j]),
            level,
        )
        for j, group in enumerate(fits.groups)
    ]


def _isolation(record: Ints, each: tuple[Floats, Floats], drawn: tuple[Floats, Floats], level: float) -> Isolation:
    """Return one comparison from the chance of each guess to be right, and the sums of these under permuted labels."""
    n = len(record)
    if not n:
        nobody, none = Tally(0.0, 0, math.nan, 0), np.zeros(len(drawn[0]))
        undefined = math.nan, math.nan, "undefined, no guess", level
        return Isolation(nobody, nobody, _UNDEFINED, _UNDEFINED, *undefined, none, 0.0, 0.0)
    hits, strangers = (total(x) for x in each)
    difference = (drawn[0] - drawn[1]) / n
    spread = float(np.sqrt((difference**2).mean()))
    expected = float((drawn[0] + drawn[1]).mean()) / (2 * n)
    records, n_records = _by_record(record, each[0] - each[1])
    effective = min(
        _independent(n, 2 * expected * (1 - expected), spread**2),
        _independent(n, hits / n * (1 - hits / n) + strangers / n * (1 - strangers / n), records),
    )
    if expected * n < _FEW_HITS:  # so few hits show no spread, and guesses from one record stand and fall together
        effective = min(effective, float(n_records))
    beyond = int(np.count_nonzero(np.abs(difference) >= abs(hits - strangers) / n - _EQUAL))
    interval, risk = _intervals(hits, strangers, n, effective, level)
    return Isolation(
        real=Tally(hits, n, hits / n, n_records),
        holdout=Tally(strangers, n, strangers / n, n_records),
        difference=interval,
        risk=risk,
        p_value=(1 + beyond) / (len(difference) + 1),
        expected=expected,
        method="Newcombe and MOVER at the effective number of guesses; permutation of labels",
        level=level,
        permuted=difference / spread if spread > 0 else np.zeros(len(difference)),
        spread=spread,
        effective=effective,
    )


def _by_record(record: Ints, excess: Floats) -> tuple[float, int]:
    """Return the variance of the mean excess when synthetic records, with all their guesses, are the units."""
    of_record = np.unique(record, return_inverse=True)[1]
    left = np.bincount(of_record, weights=excess - excess.mean())
    return float((left**2).sum()) / len(record) ** 2, len(left)


def _independent(n: int, one: float, variance: float) -> float:
    """Return how many independent guesses of variance `one` have a mean of this variance; at most n."""
    return n / max(1.0, n * variance / one) if one > 0 else float(n)


def _intervals(hits: float, strangers: float, n: int, effective: float, level: float) -> tuple[Interval, Interval]:
    if not n:
        return _UNDEFINED, _UNDEFINED
    a, b = (wilson(x / n * effective, effective, level) for x in (hits, strangers))
    value = _residual(hits, n, strangers, n)
    risk = _UNDEFINED if math.isnan(value) else _mover_ratio(_failure(a), _failure(b), value)
    # the whole numbers first: swapping the groups negates the difference to the last digit
    found = _mover_difference(a, b)
    return Interval((hits - strangers) / n, found.low, found.high), risk


def _matrix(fits: Fits, n_people: int) -> Any:
    """Return guesses x people as a sparse matrix of ones.

    Only people whom a guess fits, in the order of a hash of the guesses that fit them: people with the same guesses
    stand side by side, and which of them comes first changes nothing.
    """
    from scipy.sparse import csr_matrix

    guess = np.repeat(np.arange(len(fits.count), dtype=np.uint64), np.diff(fits.start))
    signature = np.zeros(n_people, dtype=np.uint64)
    np.add.at(signature, fits.people, value_hashes(guess, 0))
    known = np.flatnonzero(np.bincount(fits.people, minlength=n_people))
    known = known[np.argsort(signature[known], kind="stable")]
    place = np.zeros(n_people, dtype=np.int64)
    place[known] = np.arange(len(known))
    ones = np.ones(len(fits.people), dtype=np.float32)
    return csr_matrix((ones, place[fits.people], fits.start), shape=(len(fits.count), len(known)))


@dataclass(frozen=True, slots=True, eq=False)
class _Listed:
    """The guesses with people on their list: under no labels do others single out anybody."""

    matrix: Any
    """Guesses x people."""
    number: Ints
    """Shape (n_guesses,): how many people are on the list."""
    groups: tuple[slice | Ints, ...]


def _listed(fits: Fits, matrix: Any) -> _Listed:
    number = np.diff(fits.start)
    kept = np.flatnonzero(number) if number.any() else np.arange(len(number))
    groups: list[slice | Ints] = []
    for group in fits.groups:
        inside = np.zeros(len(number), dtype=np.bool_)
        inside[group] = True
        rows = np.flatnonzero(inside[kept])
        side_by_side = len(rows) and rows[-1] - rows[0] + 1 == len(rows)
        groups.append(slice(int(rows[0]), int(rows[-1]) + 1) if side_by_side else rows)
    return _Listed(matrix[kept], number[kept], tuple(groups))


def _differences(listed: _Listed, labels: NDArray[np.float32], tables: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """Return the guesses that single out a member and a stranger, for each group and each column of labels."""
    members = (listed.matrix @ labels).astype(np.int64)
    strangers = listed.number[:, None] - members
    hits = tables[0][members], tables[1][strangers]
    # guess after guess is added: leaving out those that add 0 changes no bit
    sums = [np.stack([h[g].sum(axis=0) for g in listed.groups]) for h in hits]
    return sums[0], sums[1]


def _permuted_labels(
    n: int, m: int, shape: tuple[int, int], rng: np.random.Generator, draws: int
) -> Iterator[NDArray[np.float32]]:
    """Give out blocks of labels of the people whom a guess fits, when a random n of all people are the members."""
    n_guesses, n_known = shape
    members = rng.hypergeometric(n_known, n + m - n_known, n, size=draws)
    step = max(2, _CHUNK // max(1, n_guesses, n_known))  # numpy adds up a single column in another order
    for first in range(0, draws, step):
        part = members[first : first + step]
        labels = np.zeros((n_known, len(part)), dtype=np.float32)
        for j, k in enumerate(part):
            labels[rng.choice(n_known, k, replace=False, shuffle=False), j] = 1
        yield labels


def _ranges(start: Ints, length: Ints) -> Ints:
    """Return start[i], start[i] + 1, ... length[i] of them, one after the other."""
    if not length.sum():
        return np.zeros(0, dtype=np.int64)
    return np.repeat(start - np.cumsum(length) + length, length) + np.arange(length.sum())
