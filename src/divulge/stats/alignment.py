"""Alignment of a synthetic table with people without labels: columns, levels of codes, signs and scales of numbers.

Codes are numbered by how often they occur, in each table by itself, and then renumbered in the synthetic table so that
its tables of two columns agree with those of the people (an assignment for each column in turn). Numbers become
standard scores by median and mean absolute deviation, in each table by itself; their signs are chosen by skewness and
correlations. Columns are matched by what no name enters: how often the values of one column and of two occur, whatever
they are. Nothing looks at who is a member, so that whatever is computed from an alignment is exchangeable among
people: a wrong alignment costs power, and never makes an alarm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from divulge.core.hashing import value_hashes

__all__ = ["Aligned", "ColumnOrder", "align", "matched_columns"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_LEVELS = 60  # commonest levels of a column that are aligned; the others keep their places by frequency
_ROUNDS = 8
_MARGIN = 1e-3  # keeps cells of rare levels from counting without bound
_BINS = 5  # of a number: four quarters, and missing
_CLEAR = 4.0  # standard errors from which skewness and correlations say that a sign was turned
_CELLS = 64  # commonest cells of two columns by which columns are matched
_DIGITS = 10  # to which costs are rounded, so that the order of a sum decides nothing


@dataclass(frozen=True, slots=True, eq=False)
class Aligned:
    """Codes and numbers of people and of synthetic rows, numbered and scaled alike."""

    people_codes: Ints
    synthetic_codes: Ints
    """Shape (n, n_codes): 0 is the level that is commonest among people."""
    people_numbers: Floats
    synthetic_numbers: Floats
    """Shape (n, n_numbers): standard scores, nan for missing."""
    signs: Floats
    """Shape (n_numbers,): 1 or -1, by which the synthetic numbers agree with those of people."""


def align(people: tuple[Ints, Floats], synthetic: tuple[Ints, Floats]) -> Aligned:
    """Return codes and numbers of both tables, aligned without their names.

    Parameters
    ----------
    people, synthetic
        Codes from 0 on, shape (n, n_codes), and numbers, shape (n, n_numbers), nan for missing. The codes of one table
        have nothing to do with those of the other.

    Examples
    --------
    >>> people = np.array([[0, 0], [0, 0], [0, 1], [1, 1]])
    >>> found = align((people, np.empty((4, 0))), (1 - people, np.empty((4, 0))))
    >>> bool((found.people_codes == found.synthetic_codes).all())
    True
    """
    numbers, others = _scores(people[1]), _scores(synthetic[1])
    signs = _signs(numbers, others)
    bins = [np.hstack([_quarters(x), _quarters(np.abs(x))]) for x in (numbers, others * signs)]
    codes, renamed = (_by_frequency(x, b) for x, b in zip((people[0], synthetic[0]), bins, strict=True))
    return Aligned(codes, _renumbered(codes, renamed, bins), numbers, others, signs)


class ColumnOrder(NamedTuple):
    """For each column of people the number of the synthetic column that resembles it."""

    codes: Ints
    numbers: Ints

    @property
    def changes(self) -> bool:
        """Whether any column resembles one at another place."""
        return any((own != np.arange(len(own))).any() for own in self)


def matched_columns(people: tuple[Ints, Floats], synthetic: tuple[Ints, Floats]) -> ColumnOrder:
    """Return which synthetic columns resemble those of people, whatever their names and those of their values.

    Two columns resemble one another in the shares of their values, in order of size, or of numbers in their absolute
    standard scores; two pairs of columns in the shares of their cells, in order of size, of square roots (numbers in
    quarters of their absolute standard scores). The sum of squares over all columns and pairs is made small by
    exchanging two columns at a time, from three starts: as they are, by each column alone, and with its pairs.

    Parameters
    ----------
    people, synthetic
        As `align` takes them.

    Notes
    -----
    A quadratic assignment problem. Of k columns the time grows by k**4.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> people, none = rng.binomial([3, 9, 1], [0.3, 0.5, 0.2], size=(200, 3)), np.empty((200, 0))
    >>> matched_columns((people, none), (people[:, [2, 0, 1]], none)).codes
    array([1, 2, 0])
    """
    k = people[0].shape[1]
    tables = []
    for codes, numbers in ((people[0], _scores(people[1])), (synthetic[0], _scores(synthetic[1]))):
        quarters = _quarters(np.abs(numbers))
        coarse = np.minimum(np.hstack([_by_frequency(codes, quarters), quarters]), _LEVELS - 1)
        tables.append((_cells_in_order(coarse), _shape(numbers)))
    (ours, shape), (theirs, other) = tables
    n = len(ours)
    at = np.arange(n)
    pairs = np.array([[((cells - theirs) ** 2).sum(axis=2) for cells in row] for row in ours]).reshape((n,) * 4)
    alone = pairs[at, at][:, at, at]
    alone[k:, k:] = ((shape[:, None] - other[None]) ** 2).mean(axis=2)
    alone[:k, k:] = alone[k:, :k] = np.inf
    profiles, others = (
        np.sort(cells, axis=1) for cells in (ours, theirs)
    )  # of a column with all, whatever their order
    beside = np.array([((own - others) ** 2).sum(axis=(1, 2)) for own in profiles]).reshape(n, n)
    order = _least(alone, pairs, [at, *(_assigned(cost, k) for cost in (alone, alone + beside))])
    return ColumnOrder(order[:k], order[k:] - k)


def _cells_in_order(codes: Ints) -> Floats:
    """Return for each pair of columns the square roots of the shares of its commonest cells, largest first."""
    n, k = codes.shape
    out = np.zeros((k, k, _CELLS))
    for i in range(k):
        for j in range(i, k):
            times = np.sort(np.bincount(codes[:, i] * _LEVELS + codes[:, j]))[::-1][:_CELLS]
            out[i, j, : len(times)] = out[j, i, : len(times)] = np.sqrt(times / max(1, n))
    return out


def _shape(numbers: Floats) -> Floats:
    """Return quantiles of the absolute standard scores of each column, and three times its share of distinct values."""
    out = np.zeros((numbers.shape[1], 20))
    for j, column in enumerate(numbers.T):
        known = column[~np.isnan(column)]
        if len(known):
            out[j, :-1] = np.quantile(np.abs(known), np.linspace(0.05, 0.95, 19))
            out[j, -1] = 3 * len(np.unique(known)) / len(column)
    return out


def _assigned(cost: Floats, k: int) -> Ints:
    """Return for each column of people the synthetic column of the same kind, so that the sum of costs is least."""
    from scipy.optimize import linear_sum_assignment

    first, second = (linear_sum_assignment(own.round(_DIGITS))[1] for own in (cost[:k, :k], cost[k:, k:]))
    return np.concatenate([first, k + second])


def _least(alone: Floats, pairs: Floats, starts: list[Ints]) -> Ints:
    """Return an order of columns whose sum of costs, of one column and of pairs, no exchange of two makes smaller."""
    at = np.arange(len(alone))
    best, least = at, np.inf
    for start in starts:
        order = start.copy()
        while len(at) and (gain := _gains(alone, pairs, order)).min() < -(10.0**-_DIGITS):
            i, j = np.unravel_index(int(np.argmin(gain.round(_DIGITS))), gain.shape)
            order[[i, j]] = order[[j, i]]
        both = pairs[at[:, None], at, order[:, None], order]
        total = float(alone[at, order].sum() + (both.sum() - np.diagonal(both).sum()) / 2)
        if total < least - 10.0**-_DIGITS:
            best, least = order, total
    return best


def _gains(alone: Floats, pairs: Floats, order: Ints) -> Floats:
    """Return by how much the sum of costs grows where the places of two columns are exchanged."""
    at = np.arange(len(order))
    a, b = at[:, None], at[None]
    # cost of column a at the place of column b, beside all others as they are
    beside = pairs[at[:, None, None], at[None, None], order[None, :, None], order[None, None]]
    beside[at, :, at] = 0.0
    cost = alone[:, order] + beside.sum(axis=2)
    own = np.diagonal(cost)
    apart = cost - pairs[a, b, order[b], order[b]]  # column a at the place of b, without b
    gain = apart + apart.T + pairs[a, b, order[b], order[a]]
    gain -= own[:, None] + own[None] - pairs[a, b, order[a], order[b]]
    np.fill_diagonal(gain, 0.0)
    return np.asarray(np.where(np.isfinite(gain), gain, np.inf))


# ---------------------------------------------------------------- numbers


def _scores(x: Floats) -> Floats:
    """Return standard scores by median and mean absolute deviation: free of shift and scale."""
    if not x.size:
        return x
    out = np.where(np.isfinite(x), x, np.nan)
    for column in out.T:
        known = column[~np.isnan(column)]
        if not len(known):
            continue
        largest = float(np.abs(known).max())
        column /= largest or 1.0  # far from the ends of float64
        column -= np.median(column[~np.isnan(column)])
        apart = np.sort(np.abs(column[~np.isnan(column)]))  # sorted, so that the order of rows changes no digit
        column /= max(float(apart.mean()), 1e-12)
    return out


def _signs(people: Floats, synthetic: Floats) -> Floats:
    """Return the signs of the synthetic columns by which skewness and correlations agree best with those of people.

    One sign at a time is turned, from two starts: as they are, and as skewness says; where that gains more than chance.
    """
    k = people.shape[1]
    if not k:
        return np.ones(0)
    known = [np.nan_to_num(x) for x in (people, synthetic)]
    skew = [np.clip(_skewness(x), -3, 3) for x in known]
    both = np.prod(skew, axis=0) / 6
    product = np.prod([_correlations(x) for x in known], axis=0).round(_DIGITS)
    np.fill_diagonal(product, 0.0)
    chance = _CLEAR * np.sqrt(k / max(1, len(people) * len(synthetic)))
    best, gained = np.ones(k), -np.inf
    for start in (np.ones(k), np.where(both < -chance, -1.0, 1.0)):
        sign = start.copy()
        while (gain := -2 * sign * (both + product @ sign)).max() > 2 * chance:
            sign[int(np.argmax(gain.round(_DIGITS)))] *= -1
        total = float((sign * both).sum() + sign @ product @ sign / 2)
        if total > gained + 1e-9:
            best, gained = sign, total
    return best


def _skewness(x: Floats) -> Floats:
    squares = (x**2).mean(axis=0)
    return np.asarray((x**3).mean(axis=0) / np.maximum(squares, 1e-12) ** 1.5)


def _correlations(x: Floats) -> Floats:
    centred = x - x.mean(axis=0)
    length = np.sqrt((centred**2).sum(axis=0))
    return np.asarray((centred.T @ centred) / np.maximum(np.outer(length, length), 1e-12))


def _quarters(x: Floats) -> Ints:
    """Return the quarter of the column in which each number lies, 0 to 3; 4 for missing."""
    if not x.size:
        return np.zeros(x.shape, dtype=np.int64)
    cuts = np.stack([np.nanquantile(c, (0.25, 0.5, 0.75)) if (~np.isnan(c)).any() else np.zeros(3) for c in x.T])
    out = (x[:, :, None] > cuts[None]).sum(axis=2)
    out[np.isnan(x)] = _BINS - 1
    return np.asarray(out, dtype=np.int64)


# ---------------------------------------------------------------- codes


def _by_frequency(codes: Ints, bins: Ints) -> Ints:
    """Return codes numbered from the commonest level on; ties by the other values of the rows that have the level."""
    out = np.zeros(codes.shape, dtype=np.int64)
    every = [np.unique(c, return_inverse=True)[1] for c in codes.T]
    times = [np.bincount(c) for c in every]
    fixed = np.zeros(len(codes), dtype=np.uint64)
    for j, column in enumerate(bins.T):
        fixed += value_hashes(column.astype(np.uint64), 5_000 + j)
    colours = [value_hashes(t.astype(np.uint64), j) for j, t in enumerate(times)]
    for _ in range(2):
        rows = fixed.copy()
        for j, (colour, own) in enumerate(zip(colours, every, strict=True)):
            rows += value_hashes(colour, j)[own]
        rows = value_hashes(rows, 0)
        summed = [np.zeros(len(t), dtype=np.uint64) for t in times]
        for total, own in zip(summed, every, strict=True):
            np.add.at(total, own, rows)
        colours = summed
    for j, (own, n, colour) in enumerate(zip(every, times, colours, strict=True)):
        place = np.empty(len(n), dtype=np.int64)
        place[np.lexsort((colour, -n))] = np.arange(len(n))
        out[:, j] = place[own]
    return out


def _renumbered(people: Ints, synthetic: Ints, bins: list[Ints]) -> Ints:
    """Return the synthetic codes, renumbered so that the tables of two columns agree with those of people."""
    from scipy.optimize import linear_sum_assignment

    k = people.shape[1]
    if not k:
        return synthetic
    sizes = [min(_LEVELS, int(max(a.max(), b.max())) + 1) for a, b in zip(people.T, synthetic.T, strict=True)]
    start = np.concatenate([[0], np.cumsum([*sizes, *[_BINS] * bins[0].shape[1]])])
    ours, theirs = (_pairs(x, b, start) for x, b in zip((people, synthetic), bins, strict=True))
    scale = np.sqrt(np.diag(ours) + _MARGIN)
    name = [np.arange(s) for s in sizes]
    for _ in range(_ROUNDS):
        moved = False
        for j in range(k):
            own = slice(start[j], start[j + 1])
            to = _assignment(ours[own], theirs[own], own, scale, linear_sum_assignment)
            if (to == np.arange(len(to))).all():
                continue
            moved = True
            place = np.arange(len(theirs))
            place[own][to] = start[j] + np.arange(len(to))
            theirs, name[j] = theirs[np.ix_(place, place)], to[name[j]]
        if not moved:
            break
    out = synthetic.copy()
    for j, names in enumerate(name):
        small = out[:, j] < len(names)
        out[small, j] = names[out[small, j]]
    return out


def _pairs(codes: Ints, bins: Ints, start: Ints) -> Floats:
    """Return the shares of rows in the cells of all pairs of columns, shape (n_levels, n_levels); margins inside."""
    from scipy.sparse import csr_array

    sizes = np.diff(start)
    places = np.minimum(np.hstack([codes, bins]), sizes - 1) + start[:-1]
    n, c = places.shape
    rows = csr_array((np.ones(n * c), places.ravel(), np.arange(0, n * c + 1, c)), shape=(n, int(start[-1])))
    return np.asarray((rows.T @ rows).toarray() / max(n, 1), dtype=np.float64)


def _assignment(ours: Floats, theirs: Floats, own: slice, scale: Floats, assign: Any) -> Ints:
    """Return the level of the people for each synthetic level of one column, by the rows of both tables of pairs."""
    sides = []
    for table in (ours, theirs):
        margin = np.diag(table[:, own])[:, None]
        cells = np.hstack([table[:, : own.start], table[:, own.stop :], margin])
        sides.append((cells, cells.sum(axis=1)))
    width = np.concatenate([scale[: own.start], scale[own.stop :], [np.sqrt(0.5 + _MARGIN)]])
    (a, total), (b, other) = ((cells / width, own_total) for cells, own_total in sides)
    squares = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1)[None] - 2 * a @ b.T
    cost = np.maximum(squares, 0.0) / (total[:, None] + other[None] + _MARGIN)
    if len(cost) == _LEVELS:  # the last one stands for all rarer levels
        cost[-1], cost[:, -1] = cost.max() + 1, cost.max() + 1
        cost[-1, -1] = 0.0
    ours_at, theirs_at = assign(cost.round(_DIGITS))
    to = np.empty(len(cost), dtype=np.int64)
    to[theirs_at] = ours_at
    return to
