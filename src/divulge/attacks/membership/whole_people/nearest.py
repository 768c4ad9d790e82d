"""How near people stand to other people, and to synthetic ones: the parts of the score of a whole person.

A comparison of people is a table of distances of which little is kept: for each person (or row) the nearest other
people, and the nearest synthetic one. Sums are of whole numbers, or run in a fixed order: no block changes a digit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from divulge.attacks.membership.whole_people.tables import STEEP, LinkedPeople, PersonRows
from divulge.kernels.set_distances import FARTHEST, set_distances, unit_of

__all__ = ["NEAR", "Densities", "Near", "densities_of", "nearest_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
OfRows = tuple[NDArray[np.uint16], NDArray[np.int32], NDArray[np.uint16]]
"""Distances of the nearest other persons of each row, who they are, and the distance of the nearest synthetic one."""

NEAR = 32
"""Others whose distances are kept."""
OF_LENGTH = 0.2
"""Weight of the difference of logarithms of numbers of rows."""
_BLOCK = 128
_FIXED = 2.0**36  # kernels are multiples of its inverse, so that sums are exact
_COSINE = 2.0**11  # entries of bags are whole numbers: sums of products stay below 2 ** 24
_PAIRS, _TOKENS, _EACH, _BINS = 20, 3000, 40, 10


@dataclass(frozen=True, slots=True, eq=False)
class Near:
    """Distances of people, or of their rows."""

    others: Floats
    """Shape (n, k): to the nearest other people, ascending; inf where there are fewer."""
    who: Ints
    """Their numbers in the pot; -1 where there are fewer."""
    synthetic: Floats
    """Shape (n,): to the nearest synthetic person; inf where there is none."""
    owner: Ints
    """Shape (n,): the person of each row."""


@dataclass(frozen=True, slots=True, eq=False)
class Densities:
    """Sums of kernels of the distance of parents."""

    people: Floats
    """Shape (n,): over other people."""
    halves: Floats
    """Shape (n, n_halvings): over those of them who are in the first half."""
    synthetic: Floats
    """Shape (n,): over synthetic people."""


def nearest_of(people: LinkedPeople) -> dict[str, list[Near]]:
    """Return the distances of each comparison, by the group that it belongs to."""
    found: dict[str, list[Near]] = {"parent": [], "rows": [], "whole": [], "sets": []}
    if people.parent is not None:
        found["parent"] = [_of_rows(people.parent)]
    for rows in people.below:
        of_row, whole, sets = _of_sets(people, rows)
        bags = _NearestKept(len(people))
        for first, last, own, theirs in _bags(rows):
            bags.take(first, last, own, theirs)
        found["rows"].append(of_row)
        found["sets"] += [sets, bags.near()]
        if whole is not None:
            found["whole"] += [whole, bags.near()]
    return {group: parts for group, parts in found.items() if parts}


# ---------------------------------------------------------------- what is kept


class _NearestKept:
    """Keeps the nearest of each person, block by block."""

    def __init__(self, n: int) -> None:
        k = min(NEAR, n - 1)
        self._others, self._who = np.full((n, k), np.inf), np.full((n, k), -1, dtype=np.int64)
        self._synthetic = np.full(n, np.inf)

    def take(self, first: int, last: int, own: Floats, theirs: Floats) -> None:
        """Keep of the distances of a block of persons, shapes (n, n_people) and (n, n_synthetic)."""
        k = self._others.shape[1]
        own[np.arange(last - first), np.arange(first, last)] = np.inf
        if k:
            part = np.argpartition(own, k - 1, axis=1)[:, :k] if k < own.shape[1] else np.argsort(own, axis=1)[:, :k]
            values = np.take_along_axis(own, part, axis=1)
            order = np.argsort(values, axis=1, kind="stable")
            self._others[first:last] = np.take_along_axis(values, order, axis=1)
            self._who[first:last] = np.take_along_axis(part, order, axis=1)
        self._synthetic[first:last] = theirs.min(axis=1, initial=np.inf)

    def near(self) -> Near:
        return Near(self._others, self._who, self._synthetic, np.arange(len(self._synthetic)))


def _blocks(n: int) -> Iterator[tuple[int, int]]:
    for first in range(0, n, _BLOCK):
        yield first, min(n, first + _BLOCK)


def _scaled(distances: NDArray[np.uint16], scale: int) -> Floats:
    return np.where(distances < FARTHEST, distances / scale, np.inf)


# ---------------------------------------------------------------- rows and sets of rows


def _of_rows(rows: PersonRows) -> Near:
    """Return how near each row is to those of other people, and of synthetic ones."""
    return _near_rows([found for _, _, found in _compared(rows)], rows)


def _near_rows(found: Sequence[OfRows], rows: PersonRows) -> Near:
    near, who, synthetic = (np.concatenate(parts) for parts in zip(*found, strict=True))
    k = min(NEAR, len(rows.pot) - 1)
    return Near(
        _scaled(near, rows.scale)[:, :k],
        who[:, :k].astype(np.int64),
        _scaled(synthetic[:, 0], rows.scale),
        rows.pot.owner,
    )


def _compared(rows: PersonRows) -> Iterator[tuple[Floats, Floats, OfRows]]:
    """Yield Chamfer distances of blocks of persons to people and to synthetic ones, and what is near to their rows."""
    for first, last in _blocks(len(rows.pot)):
        own = set_distances(rows.pot, first, last, near=NEAR)
        theirs = set_distances(rows.pot, first, last, rows.synthetic, near=1)
        sets = [(each.forth + each.back) / (2 * rows.scale) for each in (own, theirs)]
        yield sets[0], sets[1], (own.near, own.who, theirs.near)


def _of_sets(people: LinkedPeople, rows: PersonRows) -> tuple[Near, Near | None, Near]:
    """Return how near the rows, whole persons and sets of rows are."""
    n, found = len(people), []
    whole, sets = _NearestKept(n), _NearestKept(n)
    logs = [np.log(size) for size in rows.size]
    parents = None if people.parent is None else _compared(people.parent)
    for (first, last), (own, theirs, of_rows) in zip(_blocks(n), _compared(rows), strict=True):
        found.append(of_rows)
        for distances, of_others in ((own, logs[0]), (theirs, logs[1])):
            distances += OF_LENGTH * np.abs(logs[0][first:last, None] - of_others)
        if parents is not None:
            above = next(parents)
            whole.take(first, last, own + above[0], theirs + above[1])
        sets.take(first, last, own, theirs)
    return _near_rows(found, rows), whole.near() if parents is not None else None, sets.near()


# ---------------------------------------------------------------- bags


def _bags(rows: PersonRows) -> Iterator[tuple[int, int, Floats, Floats]]:
    """Yield 1 less the cosine of weighted bags of binned cells and pairs of cells, for blocks of persons."""
    from scipy.sparse import csr_array

    tokens = _tokens(rows)
    n = len(rows.pot)
    who = np.concatenate([rows.pot.owner, rows.synthetic.owner + n])
    share = np.concatenate([rows.pot.share, rows.synthetic.share])
    parts, width = [], 0
    for token in tokens:
        place, person, value, k = _weighted(token, who, share, n, len(tokens))
        parts.append((person, place + width, value))
        width += k
    shape = (n + len(rows.synthetic), width)
    person, place, value = (np.concatenate(each) for each in zip(*parts, strict=True))
    order = np.lexsort((place, person))  # the length of a bag is a sum in a fixed order
    person, place, value = person[order], place[order], value[order]
    length = np.sqrt(np.bincount(person, weights=value**2, minlength=shape[0]))
    whole = np.rint(_COSINE * value / np.where(length > 0, length, 1.0)[person])
    squared = np.bincount(person, weights=whole**2, minlength=shape[0])
    bags = csr_array((whole.astype(np.float32), (person, place)), shape=shape)
    for first, last in _blocks(n):
        columns = np.ascontiguousarray(bags[first:last].toarray().T)
        product = np.asarray(bags @ columns, dtype=np.float64)
        cosine = product / np.sqrt(np.maximum(squared[:, None] * squared[None, first:last], 1.0))
        away = np.maximum(1.0 - cosine, 0.0).T
        yield first, last, np.ascontiguousarray(away[:, :n]), away[:, n:]


def _tokens(rows: PersonRows) -> list[Ints]:
    """Return tokens of all rows, those of the pot first: cells of each column, and of up to 20 pairs of columns."""
    unit, cells = unit_of(len(rows.columns)), []
    for c in range(len(rows.columns)):
        both = np.concatenate([rows.pot.codes[:, c], rows.synthetic.codes[:, c]]).astype(np.int64)
        if c >= rows.pot.n_categories:
            both = both * _BINS // (STEEP * unit)
        cells.append(np.unique(both, return_inverse=True)[1].ravel())
    pairs = list(combinations(range(len(cells)), 2))
    if len(pairs) > _PAIRS:
        chosen = np.random.default_rng(0).choice(len(pairs), _PAIRS, replace=False)
        pairs = [pairs[i] for i in np.sort(chosen)]
    return cells + [cells[a] * (int(cells[b].max(initial=0)) + 1) + cells[b] for a, b in pairs]


def _weighted(token: Ints, who: Ints, share: Floats, n: int, n_tokens: int) -> tuple[Ints, Ints, Floats, int]:
    """Return the entries of one kind of tokens in the bags: columns, persons, values, and the number of columns."""
    kinds, number = np.unique(token, return_inverse=True)
    cell, inverse = np.unique(who * len(kinds) + number.ravel(), return_inverse=True)
    weight = np.bincount(inverse.ravel(), weights=share)
    person, kind = np.divmod(cell, max(1, len(kinds)))
    people = np.bincount(kind[person < n], minlength=len(kinds))
    common = np.argsort(-people, kind="stable")[: _TOKENS // n_tokens + _EACH]
    common = common[people[common] > 0]
    place = np.full(len(kinds), -1)
    place[common] = np.arange(len(common))
    kept = place[kind] >= 0
    value = np.sqrt(weight) * np.log((n + 1) / (people[kind] + 0.5))
    return place[kind[kept]], person[kept], value[kept], len(common)


# ---------------------------------------------------------------- densities of parents


def densities_of(parent: PersonRows, near: Near, halves: NDArray[np.bool_]) -> Densities:
    """Return sums of exp(-d / h), h half the median distance to the nearest other person.

    Parameters
    ----------
    parent, near
        The row of each person, and its nearest.
    halves
        Shape (n, n_halvings): who is in the first half.
    """
    n = len(parent.pot)
    nearest = near.others[:, 0] if near.others.shape[1] else np.full(n, np.inf)
    width = max(float(np.median(nearest)) / 2, 1e-4)
    table = np.rint(np.exp(-np.minimum(np.arange(parent.scale + 1) / parent.scale / width, 80.0)) * _FIXED) / _FIXED
    first_half = halves.astype(np.float64)
    people, synthetic, of_halves = np.empty(n), np.empty(n), np.empty(halves.shape)
    for first, last in _blocks(n):
        own, theirs = (
            set_distances(parent.pot, first, last, others, near=1).forth.astype(np.int64)
            for others in (None, parent.synthetic)
        )
        kernel = table[own]
        kernel[np.arange(last - first), np.arange(first, last)] = 0.0
        people[first:last], of_halves[first:last] = kernel.sum(axis=1), kernel @ first_half
        synthetic[first:last] = table[theirs].sum(axis=1)
    return Densities(people, of_halves, synthetic)
