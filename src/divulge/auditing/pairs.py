"""Pairs of people whose secrets are exchanged: alike in what predicts the secret, different in the secret."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from divulge.case.case import Case
from divulge.case.distances import Distances

__all__ = ["Secret", "exchanged", "neighbours", "pair_up", "secret_of", "widened"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

APART = 0.05
"""Numbers of a pair differ by more than this share of the spread between the 5% and the 95% quantile."""
_TRIES = 20
_NEAR = 60  # of whom about 20 take part
_MOST_NEAR = 20_000  # people above which pairs are drawn within strata alone: a limit on the time
_SAME = 0.999
"""Share of the people with a value of one column who have the same value in another that counts as determined."""


@dataclass(frozen=True, slots=True, eq=False)
class Secret:
    """The secret of each unit: what is exchanged, and when two secrets differ."""

    columns: tuple[str, ...]
    """The column, then those that go with it."""
    of_unit: Floats
    """Shape (n_units,): number of the secret, or its value for a column of numbers; nan where a number is missing."""
    apart: float
    """Least difference of two secrets; 0 if any difference counts."""
    size: Ints
    """Shape (n_units,): rows of a unit where they have secrets of their own, else 0; only equal sizes exchange."""

    def differ(self, a: Ints, b: Ints) -> Bools:
        """Return whether the secrets of two units differ enough; missing against missing does not."""
        one, other = self.of_unit[a], self.of_unit[b]
        gone = np.isnan(one) | np.isnan(other)
        with np.errstate(invalid="ignore"):
            far = np.abs(one - other) > self.apart
        return np.asarray(np.where(gone, np.isnan(one) != np.isnan(other), far))


def widened(case: Case, secret: str) -> tuple[str, ...]:
    """Return the columns that the secret determines or that determine it: they are exchanged with it.

    A column is determined by another if of the people who share a value there, 999 in 1,000 have the commonest value
    here. Values that one person alone has say nothing; at least half of the people must share theirs.
    """
    own = case.codes(secret, binned=False)[0].astype(np.int64)
    out = []
    for name in case.schema.usable():
        if name == secret:
            continue
        other = case.codes(name, binned=False)[0].astype(np.int64)
        if _determines(own, other) or _determines(other, own):
            out.append(name)
    return tuple(sorted(out))


def _determines(one: Ints, other: Ints) -> bool:
    """Return whether the first column says the value of the second, which has more than one."""
    n = len(one)
    both, times = np.unique(one * (int(other.max()) + 1) + other, return_counts=True)
    group = np.unique(both // (int(other.max()) + 1), return_inverse=True)[1].ravel()
    size = np.bincount(group, weights=times).astype(np.int64)
    largest = np.zeros(len(size), dtype=np.int64)
    np.maximum.at(largest, group, times)
    often = size > 1
    told, of = int(largest[often].sum()), int(size[often].sum())
    blind = int(np.bincount(other).max())  # naming the commonest value for everybody
    return 2 * of >= n and told >= _SAME * of and blind < _SAME * n


def secret_of(case: Case, columns: Sequence[str], units: Ints) -> Secret:
    """Return the secret of each unit of the real table, by the first of the columns for numbers.

    Where the rows of a unit have secrets of their own, the list of them is the secret.
    """
    codes = [case.codes(c, binned=False)[0].astype(np.int64) for c in columns]
    n = int(units.max()) + 1
    first = np.unique(units, return_index=True)[1]
    constant = all((c == c[first][units]).all() for c in codes)
    if constant and len(columns) == 1 and case.schema[columns[0]].kind in ("numeric", "datetime"):
        numbers = case.numbers(columns[0])[codes[0]]
        finite = np.sort(numbers[np.isfinite(numbers)])
        spread = (
            float(finite[int(0.95 * (len(finite) - 1))] - finite[int(0.05 * (len(finite) - 1))]) if len(finite) else 0
        )
        return Secret(tuple(columns), numbers[first], APART * spread, np.zeros(n, dtype=np.int64))
    whole = np.unique(np.column_stack(codes), axis=0, return_inverse=True)[1].ravel().astype(np.int64)
    if constant:
        return Secret(tuple(columns), whole[first].astype(np.float64), 0.0, np.zeros(n, dtype=np.int64))
    sizes = np.bincount(units)
    order = np.argsort(units, kind="stable")
    start = np.r_[0, np.cumsum(sizes)[:-1]]
    lists: dict[tuple[int, ...], int] = {}
    number = np.empty(n)
    for u in range(n):
        number[u] = lists.setdefault(tuple(whole[order[start[u] : start[u] + sizes[u]]].tolist()), len(lists))
    return Secret(tuple(columns), number, 0.0, sizes)


def neighbours(case: Case, known: Sequence[str]) -> Ints | None:
    """Return the 60 nearest others of each person by what is known, nearest first, shape (n_people, 60); -1 for none.

    People who agree in all that is known are no neighbours: if these exchange their secrets, the training table has the
    same records as before. None with households, and above 20,000 people, for the time.
    """
    n = case.n_rows("real")
    if case.unit is not None or not 1 < n <= _MOST_NEAR:
        return None
    found = Distances(case, tuple(known)).nearest("real", "real", min(_NEAR, n - 1))
    return np.where(found.distances.round(12) > 0, found.rows, -1)


def pair_up(
    secret: Secret, strata: Ints, taking_part: Ints, rng: np.random.Generator, near: Ints | None = None
) -> Ints:
    """Return pairs of units whose secrets differ: nearest neighbours, then random ones of one stratum; shape (n, 2).

    Nothing but the people and random numbers enters, no coin and no synthetic table. Units without a partner after 20
    rounds keep their secret.

    Parameters
    ----------
    secret
        What is exchanged.
    strata
        Shape (n_units,).
    taking_part
        Units that may exchange their secret.
    rng
        Source of the pairing.
    near
        Nearest others of each unit, as from `neighbours`; None pairs by strata alone.
    """
    nearest = _nearest_pairs(secret, taking_part, rng, near)
    taking_part = np.setdiff1d(taking_part, nearest)
    place = np.unique(np.column_stack([strata, secret.size]), axis=0, return_inverse=True)[1].ravel()
    found = [nearest]
    for group in np.unique(place[taking_part]):
        free = taking_part[place[taking_part] == group]
        for _ in range(_TRIES):
            free = rng.permutation(free)
            half = len(free) // 2
            if not half:
                break
            a, b = free[:half], free[half : 2 * half]
            ok = secret.differ(a, b)
            found.append(np.column_stack([a[ok], b[ok]]))
            free = np.concatenate([a[~ok], b[~ok], free[2 * half :]])
    pairs = np.concatenate(found)
    return np.asarray(pairs[rng.permutation(len(pairs))])


def _nearest_pairs(secret: Secret, taking_part: Ints, rng: np.random.Generator, near: Ints | None) -> Ints:
    """Return pairs of near people, in turn the nearest free one whose secret differs, in random order of the people."""
    out: list[tuple[int, int]] = []
    if near is not None:
        free = np.zeros(len(near) + 1, dtype=np.bool_)  # the last is nobody, number -1
        free[taking_part] = True
        for i in rng.permutation(taking_part).tolist():
            if not free[i]:
                continue
            there = near[i][free[near[i]]]
            there = there[secret.differ(np.full(len(there), i), there)]
            if len(there):
                out.append((i, int(there[0])))
                free[[i, there[0]]] = False
    return np.array(out, dtype=np.int64).reshape(-1, 2)


def exchanged(units: Ints, secret: Secret, pairs: Ints) -> Ints:
    """Return for each row whose cell stands in the secret's columns if all these pairs exchange their secrets."""
    rows = np.arange(len(units))
    if not len(pairs):
        return rows
    partner = np.arange(int(units.max()) + 1)
    partner[pairs[:, 0]], partner[pairs[:, 1]] = pairs[:, 1], pairs[:, 0]
    first = np.unique(units, return_index=True)[1]
    moved = partner[units] != units
    if not secret.size.any():
        return np.asarray(np.where(moved, first[partner[units]], rows))
    order = np.argsort(units, kind="stable")
    start = np.searchsorted(units[order], np.arange(len(partner)))
    within = np.empty(len(units), dtype=np.int64)
    within[order] = np.arange(len(units)) - start[units[order]]
    target = np.minimum(start[partner[units]] + within, len(units) - 1)
    return np.asarray(np.where(moved, order[target], rows))
