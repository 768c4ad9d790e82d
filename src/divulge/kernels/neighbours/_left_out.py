"""What the walks take that leave out one column of several in turn: the searches, and rows in lanes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from divulge.kernels._native.library import Filled, Struct
from divulge.kernels.neighbours.distinct import Distinct
from divulge.kernels.neighbours.gower import Rows, Ruler
from divulge.kernels.neighbours.knn_vote import Values

__all__ = ["ANSWERS", "ASKING", "FOUND", "LEFT_OUT", "LeftOut", "filled", "in_lanes", "in_order", "lanes"]

Ints = NDArray[np.int64]

_LANES = 16  # searches and codes are padded to a multiple: the lanes of the widest register

ASKING = Struct(
    numbers="f8*", codes="i4*", reference_numbers="f8*", reference_codes="i4*", times="i8*", queries="i8*", start="i8*",
    stop="i4*", n_numbers="i8", n_lanes="i8", k="i8",
)  # fmt: skip
LEFT_OUT = Struct(
    rate="f8*", total="f8*", cap="f8*", split="f8*", number="i8*", code="i8*", place="i4*", begin="i8*",
    first="i8*", last="i8*", n_targets="i8", width="i8",
)  # fmt: skip
ANSWERS = Struct(truth="i4*", nearest="f8!", distance="f8!", vote="f8!", share="f8!", first="i8")
FOUND = ("nearest", "distance", "vote", "share")


@dataclass(frozen=True, slots=True, eq=False)
class LeftOut:
    """A search that leaves out one column, and predicts it."""

    ruler: Ruler
    """The ruler of the other columns; all weights are 1."""
    number: int
    """The place of the column among the numbers of the rows; -1 if it has none."""
    code: int
    """Its place among the codes; -1 if it has none."""
    values: Values
    """The column: the value of each reference row, and that of each query."""

    def rows(self, rows: Rows) -> Rows:
        """Return rows without the column."""
        numbers = rows.numbers if self.number < 0 else np.delete(rows.numbers, self.number, axis=1)
        return Rows(numbers, rows.codes if self.code < 0 else np.delete(rows.codes, self.code, axis=1))


def in_order(queries: Distinct, order: Ints) -> tuple[Ints, Ints]:
    """Return the people for whom the queries stand, in an order of the queries, and where those of each begin."""
    times = queries.times[order]
    start = np.append(0, np.cumsum(times))
    if queries.of_row is None:
        return order, start
    place = np.arange(start[-1]) - np.repeat(start[:-1], times)
    return queries.members[np.repeat(queries.start[order], times) + place], start


def lanes(left_out: Sequence[int], n_codes: int) -> list[int]:
    """Return the code in each lane, -1 for none: first those that the searches leave out, then all others."""
    others = [j for j in range(n_codes) if j not in left_out]
    return [*left_out, *[-1] * (-len(left_out) % _LANES), *others, *[-1] * (-len(others) % _LANES)]


def in_lanes(codes: NDArray[np.int32], lanes: Sequence[int]) -> NDArray[np.int32]:
    out = np.zeros((len(codes), len(lanes)), dtype=np.int32)
    for lane, code in enumerate(lanes):
        if code >= 0:
            out[:, lane] = codes[:, code]
    return out


def _padded(values: Sequence[float]) -> NDArray[np.float64]:
    """Return one value for each search, and 1 in the lanes beyond them."""
    return np.array([*values, *[1.0] * (-len(values) % _LANES)])


def filled(left_out: Sequence[LeftOut], n_numbers: int, place: NDArray[np.int32]) -> Filled:
    """Return the searches as the loops take them.

    Parameters
    ----------
    place
        Shape (n_rows, n_searches): the place of the value of each reference row, in the order of the tree.
    """
    sizes, rulers = [len(one.values.first) for one in left_out], [one.ruler for one in left_out]
    total = _padded([r.total for r in rulers])
    rate = np.zeros((n_numbers, len(total)))
    for lane, one in enumerate(left_out):
        rate[np.arange(n_numbers) != one.number, lane] = one.ruler.rate
    return LEFT_OUT(
        rate=rate,
        total=total,
        cap=_padded([r.cap for r in rulers]),
        split=_padded([r.split for r in rulers]),
        number=np.array([one.number for one in left_out]),
        code=np.array([one.code for one in left_out]),
        place=place,
        begin=np.append(0, np.cumsum(sizes)),
        first=np.concatenate([one.values.first for one in left_out]),
        last=np.concatenate([one.values.last for one in left_out]),
        n_targets=len(left_out),
        width=len(total),
    )
