"""For rows of short texts the smallest sum, over columns, of edit (Levenshtein) distances to the rows of another table.

Only the smallest sum is wanted: columns of few different texts are looked up, several by one number, and those of many
are compared for a few rows at a time, as long as the sum of one of them is below the smallest one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from divulge.kernels._native.library import Kernel, Struct
from divulge.kernels.places import places
from divulge.kernels.runtime import has_loops, one_by_one

__all__ = ["FARTHEST", "LONGEST", "Texts", "edit_distances", "smallest_edits", "texts_of"]

Codes = NDArray[np.int32]
Ints = NDArray[np.int64]

LONGEST = 64
"""Letters of a text at most."""
FARTHEST = np.iinfo(np.int32).max // 2
"""The sum where there is no row."""
_COMBINED = 4_096
"""Combinations of texts of the columns that are looked up by one number at most: 16 KB, so that they stay near."""
_TABLE = 4_000_000  # entries of a table of numpy
_PART = 256  # queries of a task
_LANES = 32  # rows that are compared at a time
_LETTERS = 2**16 - 1  # of an alphabet; further ones count as equal

_EDITS = Struct(
    letters="i4*",
    start="i8*",
    alphabet="i8*",
    first="i8*",
    n_columns="i8",
    queries="i4*",
    n_queries="i8",
    of_group="i8*",
    grouped="i8*",
    size="i8*",
    joint="i4*",
    n_groups="i8",
    combination="i4*",
    wide="i8*",
    n_wide="i8",
    plane="i8*",
    planes="u2*",
    lengths="u1*",
    n_rows="i8",
    unit="i8*",
    of_query="i8*",
    smallest="i4!",
    stop="i4*",
)
_nearest = Kernel("nearest_edits", _EDITS)


class Texts(NamedTuple):
    """Texts of several columns, as numbers of letters."""

    letters: Codes
    """Of all texts, one after the other; each column has an alphabet of its own."""
    start: Ints
    """Shape (n_texts + 1,): where each text begins."""
    alphabet: Ints
    """Shape (n_columns + 1,): letters of the alphabets before each column's."""
    first: Ints
    """Shape (n_columns + 1,): the first text of each column."""

    def of(self, text: int) -> Codes:
        """Return the letters of a text."""
        return self.letters[self.start[text] : self.start[text + 1]]


def texts_of(columns: Sequence[Sequence[str]]) -> Texts:
    """Return the texts of each column as numbers of letters.

    Raises
    ------
    ValueError
        A text has more letters than `LONGEST`.

    Examples
    --------
    >>> texts = texts_of([["abba", ""], ["7"]])
    >>> texts.of(0).tolist(), texts.of(1).tolist(), texts.alphabet.tolist(), texts.first.tolist()
    ([0, 1, 1, 0], [], [0, 2, 3], [0, 2, 3])
    """
    letters, lengths, sizes = [], [], []
    for column in columns:
        points = np.frombuffer("".join(column).encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.int64)
        found, own = places(points)
        letters.append(np.minimum(own, _LETTERS - 1).astype(np.int32))
        sizes.append(min(len(found), _LETTERS))
        lengths.append(np.fromiter(map(len, column), dtype=np.int64, count=len(column)))
    of_texts = np.concatenate([*lengths, np.zeros(0, dtype=np.int64)])
    if of_texts.max(initial=0) > LONGEST:
        raise ValueError(f"a text has more than {LONGEST} letters")
    return Texts(
        np.concatenate([*letters, np.zeros(0, dtype=np.int32)]),
        np.concatenate([[0], of_texts.cumsum()]).astype(np.int64),
        np.cumsum([0, *sizes]),
        np.cumsum([0, *map(len, columns)]),
    )


def smallest_edits(
    texts: Texts, queries: Codes, rows: Codes, units: tuple[Ints, Ints] | None = None, engine: str | None = None
) -> Codes:
    """Return for each query the smallest sum of edit distances to a row; `FARTHEST` where there is none.

    Parameters
    ----------
    texts
        Texts of the columns.
    queries, rows
        Shapes (n_columns, n_queries) and (n_columns, n_rows): the text of each in each column, numbered from 0 within
        the column.
    units
        Unit of each query and of each row; rows of the query's own are passed over. None passes over no row.
    engine
        "compiled" or "numpy", which give the same; None takes what there is.

    Examples
    --------
    >>> texts = texts_of([["12.5", "92.5", "40"], ["ab", "b"]])
    >>> queries, rows = np.array([[0, 2], [0, 0]], dtype=np.int32), np.array([[1, 2], [1, 1]], dtype=np.int32)
    >>> smallest_edits(texts, queries, rows).tolist()
    [2, 1]
    """
    queries, rows = (each + texts.first[:-1, None].astype(np.int32) for each in (queries, rows))
    if engine is None:
        engine = "compiled" if has_loops(queries.shape[1] * rows.shape[1]) else "numpy"
    found = np.full(queries.shape[1], FARTHEST, dtype=np.int32)
    if not queries.shape[1] or not rows.shape[1]:
        return found
    return (_compiled if engine == "compiled" else _plain)(texts, queries, rows, units, found)


def edit_distances(texts: Texts, one: Ints, other: Ints) -> NDArray[np.uint8]:
    """Return the edit distance of each text to each other one, shape (n_one, n_other), by numpy."""
    lengths = [texts.start[each + 1] - texts.start[each] for each in (one, other)]
    a, b = (_padded(texts, each, length, -k) for each, length, k in ((one, lengths[0], 1), (other, lengths[1], 2)))
    shape, out = (len(one), len(other)), np.zeros((len(one), len(other)), dtype=np.uint8)
    last = [np.full(shape, j, dtype=np.uint8) for j in range(b.shape[1] + 1)]
    for i in range(a.shape[1] + 1):
        if i:
            row = [np.full(shape, i, dtype=np.uint8)]
            for j in range(1, b.shape[1] + 1):
                changed = last[j - 1] + (a[:, i - 1, None] != b[None, :, j - 1])
                row.append(np.minimum(np.minimum(last[j], row[-1]) + 1, changed).astype(np.uint8))
            last = row
        ends = np.flatnonzero(lengths[0] == i)
        for j, values in enumerate(last):
            at = np.flatnonzero(lengths[1] == j)
            if len(ends) and len(at):
                out[np.ix_(ends, at)] = values[np.ix_(ends, at)]
    return out


def _padded(texts: Texts, which: Ints, lengths: Ints, filler: int) -> Codes:
    out = np.full((len(which), int(lengths.max(initial=0))), filler, dtype=np.int32)
    for row, text in zip(out, which, strict=True):
        own = texts.of(int(text))
        row[: len(own)] = own
    return out


def _plain(texts: Texts, queries: Codes, rows: Codes, units: tuple[Ints, Ints] | None, found: Codes) -> Codes:
    """Return the smallest sums from a table of all of them, some queries at a time."""
    step = max(1, _TABLE // rows.shape[1])
    for a in range(0, len(found), step):
        part = slice(a, min(a + step, len(found)))
        sums = np.zeros((part.stop - a, rows.shape[1]), dtype=np.int64)
        for mine, theirs in zip(queries[:, part], rows, strict=True):
            (one, of_one), (other, of_other) = (np.unique(each, return_inverse=True) for each in (mine, theirs))
            width = max(1, _TABLE // len(one) // LONGEST)
            far = np.hstack([edit_distances(texts, one, other[b : b + width]) for b in range(0, len(other), width)])
            sums += far[of_one.ravel()][:, of_other.ravel()]
        if units is not None:
            sums[units[0][part, None] == units[1][None, :]] = FARTHEST
        found[part] = sums.min(axis=1)
    return found


def _compiled(texts: Texts, queries: Codes, rows: Codes, units: tuple[Ints, Ints] | None, found: Codes) -> Codes:
    rows = np.pad(rows, ((0, 0), (0, -rows.shape[1] % _LANES)), mode="edge")  # the last row may come several times
    if units is not None:
        units = units[0], np.pad(units[1], (0, rows.shape[1] - len(units[1])), mode="edge")
    groups, wide = _groups(texts, rows)
    planes = [_planes(texts, c, rows[c]) for c in wide]
    stop, asked = np.zeros(1, dtype=np.int32), np.ascontiguousarray(queries.T)
    whole = {
        "letters": texts.letters,
        "start": texts.start,
        "alphabet": texts.alphabet,
        "first": texts.first,
        "n_columns": len(rows),
        "grouped": np.array([c for g in groups for c in g.columns], dtype=np.int64),
        "of_group": np.cumsum([0, *(len(g.columns) for g in groups)]),
        "size": np.array([g.joint.shape[1] for g in groups], dtype=np.int64),
        "joint": np.concatenate([*(g.joint.ravel() for g in groups), np.zeros(0, dtype=np.int32)]),
        "n_groups": len(groups),
        "wide": np.array(wide, dtype=np.int64),
        "n_wide": len(wide),
        "combination": np.stack([g.of_row for g in groups]) if groups else rows[:0],
        "plane": np.cumsum([0, *(len(own) for own, _ in planes)]),
        "planes": np.concatenate([*(own for own, _ in planes), np.zeros((0, rows.shape[1]), dtype=np.uint16)]),
        "lengths": np.stack([own for _, own in planes]) if planes else np.zeros((0, 0), dtype=np.uint8),
        "n_rows": rows.shape[1],
        "stop": stop,
        "unit": None if units is None else np.ascontiguousarray(units[1], dtype=np.int64),
    }

    def part(a: int) -> None:
        b = min(a + _PART, len(found))
        mine = np.ascontiguousarray(found[a:b])
        of_query = None if units is None else np.ascontiguousarray(units[0][a:b], dtype=np.int64)
        _nearest(_EDITS(queries=asked[a:b], n_queries=b - a, of_query=of_query, smallest=mine, **whole))
        found[a:b] = mine

    try:
        for _ in one_by_one(part, range(0, len(found), _PART), len(found) * rows.shape[1]):
            pass
    except BaseException:
        stop[0] = 1  # what still runs ends
        raise
    return found


def _planes(texts: Texts, column: int, rows: Codes) -> tuple[NDArray[np.uint16], NDArray[np.uint8]]:
    """Return the first, second, ... letters of the rows' texts in a column, 0 beyond their ends, and their lengths."""
    first, last = texts.first[column], texts.first[column + 1]
    lengths = np.diff(texts.start[first : last + 1])
    place = np.arange(int(lengths.max(initial=0)))[:, None]
    at = np.minimum(texts.start[first:last] + place, max(0, len(texts.letters) - 1))
    of_text = np.where(place < lengths, texts.letters[at] + 1 if len(texts.letters) else 0, 0).astype(np.uint16)
    own = rows - first
    return np.ascontiguousarray(of_text[:, own]), lengths[own].astype(np.uint8)


class _Group(NamedTuple):
    """Columns whose texts are looked up by one number."""

    columns: list[int]
    joint: Codes
    """Shape (n_columns, n_combinations): the text of each column, numbered from 0 within the column."""
    of_row: Codes
    """Shape (n_rows,): the combination of each row."""


def _groups(texts: Texts, rows: Codes) -> tuple[list[_Group], list[int]]:
    """Return groups of columns, and the columns of so many texts that they are in none."""
    most = min(_COMBINED, max(64, rows.shape[1] // 8))
    sizes = np.diff(texts.first)
    out: list[_Group] = []
    for c in np.argsort(sizes, kind="stable").tolist():
        if sizes[c] > most:
            continue
        own = rows[c] - np.int32(texts.first[c])
        if out and (joined := _joined(out[-1], c, own, int(sizes[c]), most)) is not None:
            out[-1] = joined
            continue
        out.append(_Group([c], np.arange(sizes[c], dtype=np.int32)[None, :], own))
    return out, [c for c in range(len(rows)) if sizes[c] > most]


def _joined(group: _Group, column: int, own: Codes, size: int, most: int) -> _Group | None:
    """Return the group with one more column; None where the rows have too many combinations of texts."""
    n = group.joint.shape[1]
    if n * size > 256 * most:
        return None
    found, of_row = places(group.of_row.astype(np.int64) * size + own, n * size)
    if len(found) > most:
        return None
    joint = np.vstack([group.joint[:, found // size], (found % size)[None, :]])
    return _Group([*group.columns, column], joint.astype(np.int32), of_row.astype(np.int32))
