"""Which whole rows of people a synthetic row equals; counted part by part where the codes of all rows lie in files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from divulge.case.case import Case
from divulge.case.encoded import EncodedTables
from divulge.case.spill import room_for
from divulge.core.hashing import code_hashes, looked_up_hashes, value_hashes
from divulge.kernels.counts.contingency import ContingencyTable, count
from divulge.kernels.rows_in_groups import in_groups
from divulge.tables.counting import narrowest

__all__ = ["Matched", "bytes_to_match", "matched_people", "matched_rows"]

Codes = NDArray[Any]
Ints = NDArray[np.int64]

_PART = 1_000_000  # rows of all tables that are compared at once, about
_HASHED = 1_000_000  # rows that are hashed at once
_BYTES_OF_A_ROW, _BYTES_OF_A_CODE, _BYTES_OF_A_PERSON = 280, 4, 100  # measured (docs/decisions/engines.md)


class Matched(NamedTuple):
    """Whole rows of people, by whether a synthetic row equals them."""

    table: ContingencyTable
    """A key that a synthetic row has is a row that one equals. Each whole row is a key; where they were counted in
    parts, the rows that no synthetic row equals are the first key and all others the second, with all synthetic rows.
    """
    n_copied: int
    """Synthetic rows that equal a real row."""
    n_repeated: int
    """Real rows that equal another real row."""
    is_released: bool
    """Whether the synthetic table is the real table, row for row."""


def matched_rows(case: Case, columns: Sequence[str]) -> Matched:
    """Return which rows of people a synthetic row equals in some columns, every value apart.

    Where the codes of all rows lie in files, equal rows come into one part by their hash, and one part at a time is in
    memory. Within a part the codes themselves are compared.

    Examples
    --------
    >>> import polars as pl
    >>> from divulge.case.case import build_case
    >>> case = build_case(pl.DataFrame({"age": [30, 41, 41]}), pl.DataFrame({"age": [41, 52]}))
    >>> found = matched_rows(case, ["age"])
    >>> found.n_copied, found.n_repeated, found.is_released
    (1, 2, False)
    """
    coded = case.in_files
    if coded is None:
        table = case.contingency(columns, (), binned=False)
        return _matched(table, [_told(table)])
    return _in_parts(coded, sorted(columns), [case.order_of_people(i) for i in range(len(case.tables))])


def bytes_to_match(case: Case, columns: Sequence[str]) -> int:
    """Return about how many bytes `matched_rows` takes where the codes of rows lie in files."""
    n_rows = sum(t.n_rows for t in case.tables)
    people = n_rows - case.tables[1].n_rows
    at_once = min(n_rows, _PART) * (_BYTES_OF_A_ROW + _BYTES_OF_A_CODE * len(columns))
    always = n_rows * narrowest(_n_parts(n_rows)).itemsize
    return at_once + always + (0 if case.unit is None else _BYTES_OF_A_PERSON * people)


def matched_people(case: Case, columns: Sequence[str]) -> list[NDArray[np.bool_]]:
    """Return for each table of people which of its rows a synthetic row equals in some columns, every value apart.

    Made for a sample of people: their codes are in memory, and the synthetic rows are looked at block by block. Where
    two different whole rows have the same hash, with probability 2**-64 each, an equal one may be missed.

    Examples
    --------
    >>> import polars as pl
    >>> from divulge.case.case import build_case
    >>> case = build_case(pl.DataFrame({"age": [30, 41, 41]}), pl.DataFrame({"age": [41, 52]}))
    >>> [own.tolist() for own in matched_people(case, ["age"])]
    [[False, True, True]]
    """
    names, people = sorted(columns), case.encoded.people
    each = [[case.codes(c, binned=False)[i] for c in names] for i in range(len(case.tables))]
    of_codes = [value_hashes(np.arange(case.n_codes(c, binned=False), dtype=np.uint64), j) for j, c in enumerate(names)]
    hashes = [looked_up_hashes(of_codes, each[i]) for i in people]
    known = np.unique(np.concatenate(hashes))
    synthetic = np.full(len(known), -1)  # a row of each hash
    for first in range(0, len(each[1][0]), _HASHED):
        own = looked_up_hashes(of_codes, [c[first : first + _HASHED] for c in each[1]])
        place = np.minimum(np.searchsorted(known, own), len(known) - 1)
        rows = np.flatnonzero(known[place] == own)
        synthetic[place[rows]] = first + rows
    out = []
    for i, own in zip(people, hashes, strict=True):
        row = synthetic[np.searchsorted(known, own)]
        maybe = np.flatnonzero(row >= 0)
        same = np.ones(len(maybe), dtype=np.bool_)
        for of_people, of_synthetic in zip(each[i], each[1], strict=True):
            same &= of_people[maybe] == of_synthetic[row[maybe]]
        equal = np.zeros(len(own), dtype=np.bool_)
        equal[maybe[same]] = True
        out.append(equal)
    return out


class _Told(NamedTuple):
    """What is told of some whole rows beside the people that they match; sums of these are those of all rows."""

    n_copied: int
    n_repeated: int
    n_unlike: int
    """Whole rows that are not as often in the real table as in the synthetic one."""


def _told(table: ContingencyTable) -> _Told:
    unlike = int(np.count_nonzero(table.o != table.s))
    return _Told(int(table.s[table.o > 0].sum()), int(table.o[table.o > 1].sum()), unlike)


def _matched(table: ContingencyTable, told: Sequence[_Told]) -> Matched:
    n_copied, n_repeated, n_unlike = (sum(each) for each in zip(*told, strict=True))
    return Matched(table, n_copied, n_repeated, n_unlike == 0)


# ---------------------------------------------------------------- part by part


def _in_parts(case: Case, columns: Sequence[str], orders: Sequence[Ints | None]) -> Matched:
    """Return the same from the codes of rows in files; `orders` says in which order people have their units."""
    tables = range(len(case.tables))
    n_parts, with_rows = _n_parts(sum(t.n_rows for t in case.tables)), case.unit is not None
    by_part = [_by_part(case.encoded, i, columns, n_parts, with_rows=with_rows) for i in tables]
    flags = [np.zeros(t.n_rows, dtype=np.int8) for t in case.tables] if with_rows else []
    n_rows, told = np.zeros((2, 3), dtype=np.int64), []
    for part in range(n_parts):
        own = [t[part] for t in by_part]
        table = _counted(case, columns, [t[: len(columns)] for t in own], with_rows=with_rows)
        equalled = table.s > 0
        n_rows += [[int(n[some].sum()) for n in (table.o, table.s, table.c)] for some in (~equalled, equalled)]
        told.append(_told(table))
        for flag, t, cells in zip(flags, own, table.cells, strict=False):
            flag[t[-1]] = equalled[cells]
    flags = [flag if order is None else flag[order] for flag, order in zip(flags, orders, strict=False)]
    return _matched(_by_match(n_rows, flags, case.has_holdout), told)


def _n_parts(n_rows: int) -> int:
    return max(1, -(-n_rows // _PART))


def _by_part(
    encoded: EncodedTables, which: int, columns: Sequence[str], n_parts: int, *, with_rows: bool
) -> list[list[Codes]]:
    """Return the codes of a table, in files, by the part that the hash of a row gives, and the numbers of rows last.

    Equal rows are in one part. Where rows are not told apart, their numbers are left out.
    """
    codes = [encoded.codes(c, binned=False)[which] for c in columns]
    n = encoded.tables[which].n_rows
    part_of, n_rows = np.zeros(n, dtype=narrowest(n_parts)), np.zeros(n_parts, dtype=np.int64)
    for first in range(0, n, _HASHED):
        own = code_hashes([c[first : first + _HASHED] for c in codes]) % np.uint64(n_parts)
        part_of[first : first + _HASHED] = own
        n_rows += np.bincount(own.astype(np.int64), minlength=n_parts)
    dtypes = [*(c.dtype for c in codes), *([np.dtype(np.int64)] if with_rows else [])]
    room = [room_for(encoded.spill, (n,), dtype) for dtype in dtypes]

    def part(first: int, last: int) -> tuple[Codes, list[Codes]]:
        numbers = [np.arange(first, last)] if with_rows else []
        return part_of[first:last], [*(c[first:last] for c in codes), *numbers]

    return in_groups(part, n_rows, room, _HASHED)


def _counted(
    case: Case, columns: Sequence[str], codes: Sequence[Sequence[Codes]], *, with_rows: bool
) -> ContingencyTable:
    """Return the counts of some whole rows of each table."""
    keys = [[np.array(c) for c in own] for own in codes]
    keys += [[np.zeros(0, dtype=np.int32) for _ in columns]] * (3 - len(keys))
    sizes = [case.n_codes(c, binned=False) for c in columns]
    targets = [np.zeros(len(own[0]), dtype=np.int32) for own in keys]
    return count(keys, sizes, targets, 1, has_holdout=case.has_holdout, with_rows=with_rows)


def _by_match(n_rows: Ints, flags: Sequence[Codes], has_holdout: bool) -> ContingencyTable:
    """Return the table of two keys: rows that no synthetic row equals, and rows that one equals.

    Parameters
    ----------
    n_rows
        Rows of real, synthetic and holdout by key, shape (2, 3).
    flags
        For each table whether a synthetic row equals each row; empty where rows are not told apart.
    """
    o, s, c = (n_rows[:, i].copy() for i in range(3))
    if flags:
        cells: list[Any] = [*flags, *[np.zeros(0, dtype=np.int8)] * (3 - len(flags))]
        times: list[Any] = [None, None, None]
    else:
        cells = [np.flatnonzero(n) for n in (o, s, c)]
        times = [n[some] for n, some in zip((o, s, c), cells, strict=True)]
    both = np.arange(2)
    return ContingencyTable(
        n_targets=1, key=both, target=np.zeros(2, dtype=np.int64), o=o, c=c, s=s, start=both, o_key=o, c_key=c,
        s_key=s, make_key_codes=lambda: both[:, None].astype(np.int32), has_holdout=has_holdout,
        cells=(cells[0], cells[1], cells[2]), times=(times[0], times[1], times[2]),
    )  # fmt: skip
