"""How far the sets of rows of persons are from each other, and which persons are nearest to each row.

Distances are whole numbers, and each sum runs over the rows of one person: blocks and threads change no digit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from divulge.kernels._native.library import Kernel, Struct
from divulge.kernels.runtime import has_loops

__all__ = ["FARTHEST", "SetDistances", "SetsOfRows", "set_distances", "unit_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.uint16]

FARTHEST = 65_535
"""The distance of nobody."""
_UNIT = 1000

_STRUCT = Struct(
    n_categories="i8",
    n_columns="i8",
    unit="i8",
    first="i8",
    last="i8",
    own_start="i8*",
    own="u2*",
    own_share="f8*",
    n_others="i8",
    n_rows="i8",
    start="i8*",
    codes="u2*",
    share="f8*",
    themselves="i8",
    n_near="i8",
    forth="f8!",
    back="f8!",
    near="u2!",
    who="i4!",
)
_set_distances = Kernel("set_distances", _STRUCT, "i4*")


@dataclass(frozen=True, slots=True, eq=False)
class SetsOfRows:
    """The rows of persons, those of one person together."""

    start: Ints
    """Shape (n + 1,): where the rows of each person begin."""
    codes: Codes
    """Shape (n_rows, n_columns): codes of categories first, then positions of numbers."""
    share: Floats
    """Shape (n_rows,): the row as a share of the rows of the person."""
    n_categories: int

    def __len__(self) -> int:
        return len(self.start) - 1

    @property
    def owner(self) -> Ints:
        """Shape (n_rows,): the person of each row."""
        return np.repeat(np.arange(len(self)), np.diff(self.start))


class SetDistances(NamedTuple):
    """Distances of the asked persons; the distance of two rows that differ wholly is `unit` times the columns."""

    forth: Floats
    """Shape (n_asked, n_others): mean over the person's rows of the distance to the nearest row of the other. Where one
    of them has no rows it is the largest distance, where neither has it is 0."""
    back: Floats
    """The same from the other's rows to the person's."""
    near: Codes
    """Shape (rows of the asked, n_near): distances of the nearest other persons of each row, ascending; `FARTHEST`
    where there are fewer."""
    who: NDArray[np.int32]
    """Their numbers; -1 where there are fewer. Which of several at one distance are among the last is open."""


def unit_of(n_columns: int) -> int:
    """Return how much a column counts: the sum over all columns fits 16 bits."""
    return min(_UNIT, (FARTHEST - 1) // max(1, n_columns))


def set_distances(
    people: SetsOfRows, first: int, last: int, others: SetsOfRows | None = None, *, near: int
) -> SetDistances:
    """Return how far persons are from others, or from all people.

    Parameters
    ----------
    people
        Of whom the persons `first` to `last - 1` are asked.
    others
        With whom they are compared; None takes all people, and nobody is then near to himself.
    near
        How many nearest others of each row are returned.

    Examples
    --------
    >>> rows = np.array([[1], [4], [1], [2], [9]], dtype=np.uint16) * np.uint16(100)
    >>> people = SetsOfRows(np.array([0, 2, 5]), rows, np.array([1 / 2, 1 / 2, 1 / 3, 1 / 3, 1 / 3]), 0)
    >>> found = set_distances(people, 0, 1, near=1)
    >>> found.forth.round(9).tolist(), found.back.round(9).tolist(), found.near.ravel().tolist()
    ([[0.0, 100.0]], [[0.0, 200.0]], [0, 200])
    """
    them = people if others is None else others
    n, rows = last - first, int(people.start[last] - people.start[first])
    out = SetDistances(
        np.empty((n, len(them))),
        np.empty((n, len(them))),
        np.empty((rows, near), dtype=np.uint16),
        np.empty((rows, near), dtype=np.int32),
    )
    unit = unit_of(people.codes.shape[1])
    if not has_loops(rows * len(them.codes)):
        return _plain(people, first, last, them, others is None, unit, out)
    task = _STRUCT(
        n_categories=people.n_categories,
        n_columns=people.codes.shape[1],
        unit=unit,
        first=first,
        last=last,
        own_start=people.start,
        own=people.codes,
        own_share=people.share,
        n_others=len(them),
        n_rows=len(them.codes),
        start=them.start,
        codes=np.ascontiguousarray(them.codes.T),
        share=them.share,
        themselves=others is None,
        n_near=near,
        forth=out.forth,
        back=out.back,
        near=out.near,
        who=out.who,
    )
    _set_distances(task, None)
    return out


def _plain(
    people: SetsOfRows, first: int, last: int, others: SetsOfRows, themselves: bool, unit: int, out: SetDistances
) -> SetDistances:
    """Fill the result as the compiled loop does, with numpy."""
    base, n_near = int(people.start[first]), out.near.shape[1]
    out.near[:], out.who[:] = FARTHEST, -1
    has = np.flatnonzero(np.diff(others.start))
    begin = others.start[has]
    for p in range(first, last):
        a, b = int(people.start[p]), int(people.start[p + 1])
        full = float(unit * people.codes.shape[1])
        out.forth[p - first], out.back[p - first] = (full if b > a else 0.0), (full if b > a else 0.0)
        if b == a:
            out.forth[p - first, has] = out.back[p - first, has] = full
            continue
        distance = _distances(people, a, b, others, unit)
        sums = np.zeros((2, len(others)))
        if len(has):
            least = np.minimum.reduceat(distance, begin, axis=1)
            for i in range(b - a):
                sums[0, has] += people.share[a + i] * least[i]
            nearest = distance.min(axis=0)
            size = np.diff(others.start)
            for k in range(int(size.max())):  # the k-th row of each: the sum runs in the order of rows
                own = np.flatnonzero(size > k)
                sums[1, own] += others.share[others.start[own] + k] * nearest[others.start[own] + k]
            out.forth[p - first, has], out.back[p - first, has] = sums[0, has], sums[1, has]
            least = np.where((has == p) & themselves, FARTHEST, least)
            order = np.argsort(least, axis=1, kind="stable")[:, :n_near]
            found = np.take_along_axis(least, order, axis=1)
            rows = slice(a - base, b - base)
            out.near[rows, : found.shape[1]] = found
            out.who[rows, : found.shape[1]] = np.where(found < FARTHEST, has[order], -1)
    return out


def _distances(people: SetsOfRows, a: int, b: int, others: SetsOfRows, unit: int) -> NDArray[np.int64]:
    own, them = people.codes[a:b].astype(np.int64), others.codes.astype(np.int64)
    out = np.zeros((b - a, len(them)), dtype=np.int64)
    for c in range(own.shape[1]):
        gap = np.abs(own[:, c, None] - them[None, :, c])
        out += np.where(gap > 0, unit, 0) if c < people.n_categories else np.minimum(gap, unit)
    return out
