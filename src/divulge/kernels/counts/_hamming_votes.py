"""The loops of `hamming` (`_native/hamming.c`): keys that agree in all but a few columns, and their votes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.kernels._native.library import Kernel, Struct

__all__ = ["Found", "Level", "Side", "commonest", "pairs", "walk"]

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Side:
    """The keys of one side by bucket, and their cells."""

    words: Words
    """Shape (n_sorted, n_words)."""
    order: Ints
    """Shape (n_sorted,): number of each key."""
    bound: Ints
    """Shape (n_buckets + 1,)."""
    start: Ints
    """Shape (n_keys + 1,)."""
    target: Ints
    count: Any
    """Shape (n_cells,)."""


@dataclass(frozen=True, eq=False)
class Level:
    """The pairs to find: they differ in so many columns, none of these in this block, one in each earlier block."""

    n_differing: int
    block: Words
    """Shape (n_words,): bits of the columns of the block."""
    earlier: Words
    """Shape (n_earlier, n_words)."""
    choices: Words
    """Shape (n_choices, n_words): bits of the columns kept."""
    low: Words
    """Shape (n_words,): all bits of each column but the top one."""
    high: Words
    """Shape (n_words,): the top bit of each column."""
    by_pairs: NDArray[np.bool_]
    """Shape (n_buckets,)."""


@dataclass(frozen=True, eq=False)
class Found:
    """Arrays for the answers."""

    tally: Ints
    """Shape (n_queries, 5): votes, groups, listed votes, and of a single group: largest vote, how many."""
    of_cell: Ints
    """Shape (n_query_cells,)."""
    fill: Ints
    """Shape (n_queries,): where the next listed vote goes; empty if none are listed."""
    target: Ints
    count: Any
    """Shape (n_listed,)."""


_SIDE = {"words": "u8*", "order": "i8*", "bound": "i8*", "start": "i8*", "target": "i8*", "count": "i8*"}
_WALK = Struct(
    **{f"query_{name}": kind for name, kind in _SIDE.items()},
    **{f"reference_{name}": kind for name, kind in _SIDE.items()},
    n_words="i8", n_differing="i8", n_earlier="i8", n_choices="i8", n_targets="i8", listing="i8",
    block="u8*", earlier="u8*", choices="u8*", low="u8*", high="u8*", by_pairs="b1*",
    tally="i8!", of_cell="i8!", fill="i8!", target="i8!", count="i8!",
)  # fmt: skip
_walk = Kernel("hamming_walk", _WALK, "i8", "i8")


def walk(queries: Side, references: Side, level: Level, found: Found, first: int, last: int, n_targets: int) -> None:
    """Find the pairs of the level in the buckets first to last - 1, and give the votes of references to queries."""
    task = _WALK(
        **{f"query_{name}": value for name, value in vars(queries).items()},
        **{f"reference_{name}": value for name, value in vars(references).items()},
        **vars(level),
        **vars(found),
        n_words=len(level.block),
        n_earlier=len(level.earlier),
        n_choices=len(level.choices),
        n_targets=n_targets,
        listing=len(found.fill) > 0,
    )
    _walk(task, first, last)


_commonest = Kernel("hamming_commonest", "i8*", "i8", "i8*", "i8*", "i8", "i8!", "i8!")


def commonest(start: Ints, target: Ints, count: Ints, n_targets: int, largest: Ints, n_largest: Ints) -> None:
    """Find the largest vote of each query, and how many targets have it, from its listed votes."""
    _commonest(start, len(largest), target, count, n_targets, largest, n_largest)


_PAIRS = {
    width: Struct(
        codes=f"{code}*", n="i8", query_start="i8*", query_target="i8*",
        columns=f"{code}*", m="i8", n_columns="i8", code_bytes="i8", n_targets="i8",
        start="i8*", target="i8*", count="i8*",
        distance="i8!", total="i8!", largest="i8!", n_largest="i8!", of_cell="i8!",
    )
    for width, code in ((1, "u1"), (2, "u2"), (4, "i4"))
}  # fmt: skip
_pairs = {width: Kernel("hamming_pairs", task) for width, task in _PAIRS.items()}


def pairs(codes: NDArray[Any], columns: NDArray[Any], **arrays: Any) -> None:
    """Compare each query with all references, and add up the votes of the nearest ones.

    Codes of queries, shape (n, n_columns), and columns of references, shape (n_columns, m), are uint8, uint16 or int32,
    wide enough for the codes and for the number of columns.
    """
    width = codes.dtype.itemsize
    of = {"n": len(codes), "m": columns.shape[1], "n_columns": len(columns), "code_bytes": width}
    _pairs[width](_PAIRS[width](codes=codes, columns=columns, **of, **arrays))
