"""People of several linked tables: the row of each, and the sets of their rows in the tables below, as whole numbers.

Nothing here depends on the order of rows, of columns, or on keys: people and rows stand in the order of hashes of their
contents. A person's equal rows are one row with a share of the person's rows, so that a table in which every row is
written twice is the same table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from divulge.case.case import Case
from divulge.case.encoded import ROLES
from divulge.case.relational.linked import Linked
from divulge.core.errors import SettingError
from divulge.core.hashing import Hashes, code_hashes, value_hashes
from divulge.kernels.set_distances import SetsOfRows, unit_of

__all__ = ["NOTES", "ORDER", "LinkedPeople", "PersonRows", "check_people", "has_rows", "people_of"]

Ints = NDArray[np.int64]
Codes = NDArray[np.uint16]

MOST_ROWS, FEWEST_ROWS = 40, 5
"""Different rows that are kept of a person: at most, and where there are too many rows in all."""
_PAIRS_OF_PEOPLE = 6e7
_WORK = 6e10  # pairs of rows times columns
STEEP = 5
"""A fifth of the ranks is as far apart as two categories."""
_ABSENT = 65_535  # a category that nobody of real and holdout has

_LEFT_OUT = "left out: {}"
_CAPPED = (
    "{:,} of {:,} people have more than {} different rows in {!r}: of each {} are compared, drawn at random, so that a "
    "person of many rows weighs as much as others. What is copied of the other rows of such a person is not seen"
)
_SAMPLE = "a random sample of people was asked, {:,} of {:,}, as all pairs of people would take too long"
_LOST = "{:,} rows of {!r} in the {} table belong to nobody: their key is missing or names no row of {!r}"
ORDER = "the order of the rows of a person is not looked at"
_NOBODY = "table {!r}, as its rows belong to nobody"
_WAYS = "table {!r}, as its rows lead to {!r} in {} ways"
_BARE = "table {!r}, as none of its columns can be compared"
NOTES = (
    *(_LEFT_OUT.format(why.replace("{!r}", "'…'").replace("{}", "#")) for why in (_NOBODY, _WAYS, _BARE)),
    *(n.replace("{:,}", "#").replace("{!r}", "'…'").replace("{}", "#") for n in (_CAPPED.replace("40", "#"), _SAMPLE)),
    ORDER,
)
"""Notes for the entry; "#" stands for a number and "'…'" for a name."""


@dataclass(frozen=True, slots=True, eq=False)
class PersonRows:
    """The rows of people in one table: of real and holdout together ("pot"), and of the synthetic people."""

    table: str
    columns: tuple[str, ...]
    """Categories first."""
    pot: SetsOfRows
    synthetic: SetsOfRows
    size: tuple[NDArray[np.float64], NDArray[np.float64]]
    """Rows of each person of the pot, and of each synthetic one, as multiples of the smallest number but 0."""

    @property
    def scale(self) -> int:
        """The distance of two rows that differ in every column."""
        return max(1, unit_of(len(self.columns)) * len(self.columns))


@dataclass(frozen=True, slots=True, eq=False)
class LinkedPeople:
    """People of real and holdout in an order that knows no labels, and synthetic people."""

    table: str
    asked: Ints
    """Shape (n,): the row of each person of the pot among the rows of real, followed by those of the holdout."""
    n_members: int
    """Rows of the real table of people."""
    n_strangers: int
    parent: PersonRows | None
    """The row of each person, which is one set of one row; None where no column can be compared."""
    below: tuple[PersonRows, ...]
    whole: Hashes
    """Shape (n_members + n_strangers,): a hash of all that is known of each person, in the order of the rows."""
    notes: tuple[str, ...]
    n_synthetic: int

    def __len__(self) -> int:
        return len(self.asked)

    @property
    def is_member(self) -> NDArray[np.bool_]:
        """Shape (n,): who is a member."""
        return np.asarray(self.asked < self.n_members)


@dataclass(frozen=True, slots=True, eq=False)
class _RowsBelow:
    """The rows of one table in each role, with codes, the person of each and a hash of the contents."""

    table: str
    case: Case
    columns: tuple[str, ...]
    n_categories: int
    owner: tuple[Ints, ...]
    content: tuple[Hashes, ...]


def check_people(linked: Linked, unit: str | None = None) -> str:
    """Return the name of the table of the people.

    Raises
    ------
    SettingError
        It is not clear which table that is, or no other table has rows of theirs.
    """
    table = linked.schema.people(unit)
    if not any(len(linked.schema.paths(name, table)) == 1 for name in linked.names):
        raise SettingError(
            f"unit: no table has rows of the people of {table!r}. hint: [[relation]] in the schema says which table "
            "belongs to it; one table alone is `divulge.membership(real, synthetic)`."
        )
    return table


def has_rows(linked: Linked, people: str) -> bool:
    """Return whether a table has rows of these people, one person each, with columns that can be compared."""
    below = (name for name in linked.names if name != people and len(linked.schema.paths(name, people)) == 1)
    return any(_compared(linked, name) for name in below)


def people_of(linked: Linked, unit: str | None = None) -> LinkedPeople:
    """Return the people of linked tables that have real, synthetic and holdout rows.

    Raises
    ------
    SettingError
        It is not clear which table has the people, no other table has rows of theirs, or nothing can be compared.
    """
    table = check_people(linked, unit)
    told: list[str] = []
    sizes = [linked.n_rows(table, role) for role in ROLES]
    above = _rows_of(linked, table, [np.arange(n) for n in sizes])
    below = [rows for name in linked.names if name != table for rows in _below(linked, name, table, told)]
    if not below:
        raise SettingError(f"unit: {'; '.join(told)}. hint: give columns of one of these tables a kind in the schema.")
    seed = linked.case(table).seed
    kept = [[_distinct(rows, which, sizes[which], seed) for which in range(3)] for rows in below]
    whole = [_whole(above, kept, which, n) for which, n in enumerate(sizes)]
    pot = np.concatenate([whole[0], whole[2]])
    order = np.argsort(value_hashes(pot, 101 + seed % 2**31), kind="stable")
    n_pot = _most_people(len(pot), sizes[1])
    most = [
        _most_rows(k, order[:n_pot], (4 + len(rows.columns)) * len(below)) for rows, k in zip(below, kept, strict=True)
    ]
    n_pot = min([n_pot, *(n for _, n in most)])
    if n_pot < len(pot):
        told.append(_SAMPLE.format(n_pot, len(pot)))
    asked, copies = order[:n_pot], np.argsort(whole[1], kind="stable")
    sets = []
    for rows, of_roles, (limit, _) in zip(below, kept, most, strict=True):
        made = _sets(rows, of_roles, limit, asked, copies)
        heavy = int((np.concatenate([of_roles[0].n_different, of_roles[2].n_different])[asked] > limit).sum())
        if heavy:
            told.append(_CAPPED.format(heavy, n_pot, limit, rows.table, limit))
        sets.append(made)
    own = [_distinct(above, which, n, seed) for which, n in enumerate(sizes)]
    parent = _sets(above, own, 1, asked, copies) if above.columns else None
    return LinkedPeople(
        table,
        asked,
        sizes[0],
        sizes[2],
        parent,
        tuple(sets),
        np.concatenate([whole[0], whole[2]]),
        tuple(told),
        sizes[1],
    )


# ---------------------------------------------------------------- tables below


def _below(linked: Linked, name: str, people: str, told: list[str]) -> list[_RowsBelow]:
    """Return the rows of a table that belong to one person each; a note where there are none."""
    ways = linked.schema.paths(name, people)
    if len(ways) != 1:
        why = _WAYS.format(name, people, len(ways)) if ways else _NOBODY.format(name)
        told.append(_LEFT_OUT.format(why))
        return []
    owner = [linked.ancestor_rows(ways[0], role, deepest=len(ways[0])).astype(np.int64) for role in ROLES]
    for role, own in zip(ROLES, owner, strict=True):
        if lost := int((own < 0).sum()):
            told.append(_LOST.format(lost, name, role, people))
    found = _rows_of(linked, name, owner)
    if not found.columns:
        told.append(_LEFT_OUT.format(_BARE.format(name)))
        return []
    return [found]


def _rows_of(linked: Linked, table: str, owner: Sequence[Ints]) -> _RowsBelow:
    case, columns = linked.case(table), _compared(linked, table)
    codes = [case.codes(c, binned=False) for c in columns]
    hashes = tuple(
        code_hashes([c[which] for c in codes]) if codes else np.zeros(len(owner[which]), dtype=np.uint64)
        for which in range(3)
    )
    n_categories = sum(not case.encoded.is_number(c) for c in columns)
    return _RowsBelow(table, case, tuple(columns), n_categories, tuple(owner), hashes)


def _compared(linked: Linked, table: str) -> list[str]:
    """Return the columns of a table that are compared: all but its keys; categories first."""
    case, schema = linked.case(table), linked.schema
    keys = {c for r in schema.children(table) for c in r.parent_key}
    keys |= {c for r in schema.parents(table) for c in r.child_key}
    usable = [c for c in case.schema.usable() if c not in keys and c in case.columns]
    return sorted(usable, key=lambda c: (case.encoded.is_number(c), c))


# ---------------------------------------------------------------- the different rows of each person


@dataclass(frozen=True, slots=True, eq=False)
class _Distinct:
    """The different rows of the people of one role, those of a person together, in the order of their hashes."""

    row: Ints
    """A row of the table with these contents."""
    content: Hashes
    owner: Ints
    times: Ints
    """How often the person has it, over the greatest common divisor of the person's numbers."""
    size: Ints
    """Shape (n_people,): rows of each person."""
    n_different: Ints
    """Shape (n_people,)."""

    @property
    def place(self) -> Ints:
        """Shape (n_rows,): the how-manieth of its person each row is, from 0 on."""
        begin = np.cumsum(self.n_different) - self.n_different
        return np.asarray(np.arange(len(self.owner)) - begin[self.owner])


def _distinct(rows: _RowsBelow, which: int, n: int, seed: int) -> _Distinct:
    has = np.flatnonzero(rows.owner[which] >= 0)
    owner, content = rows.owner[which][has], value_hashes(rows.content[which][has], 7 + seed % 2**31)
    order = np.lexsort((content, owner))
    owner, content = owner[order], content[order]
    new = np.flatnonzero(np.r_[True, (owner[1:] != owner[:-1]) | (content[1:] != content[:-1])][: len(owner)])
    times, first = np.diff(np.r_[new, len(owner)]), owner[new]
    n_different = np.bincount(first, minlength=n)
    divisor = np.ones(n, dtype=np.int64)
    if len(new):
        begin = np.cumsum(n_different) - n_different
        divisor[n_different > 0] = np.gcd.reduceat(times, begin[n_different > 0])
    size = np.bincount(owner, minlength=n)
    return _Distinct(has[order][new], content[new], first, times // divisor[first], size, n_different)


def _whole(above: _RowsBelow, kept: Sequence[Sequence[_Distinct]], which: int, n: int) -> Hashes:
    """Return a hash of the row of each person and of the set of rows below."""
    out = value_hashes(above.content[which], 1)
    for table, of_roles in enumerate(kept, start=2):
        rows, found = of_roles[which], np.zeros(n, dtype=np.uint64)
        if len(rows.owner):
            each = value_hashes(rows.content ^ value_hashes(rows.times.astype(np.uint64), 3), table)
            begin = np.cumsum(rows.n_different) - rows.n_different
            found[rows.n_different > 0] = np.add.reduceat(each, begin[rows.n_different > 0])
        out += value_hashes(found, 1000 + table)
    return out


# ---------------------------------------------------------------- limits on the time


def _most_people(n: int, n_synthetic: int) -> int:
    """Return how many people can be compared with each other and with the synthetic ones."""
    return min(n, max(2, int((np.sqrt(float(n_synthetic) ** 2 + 4 * _PAIRS_OF_PEOPLE) - n_synthetic) / 2)))


def _most_rows(of_roles: Sequence[_Distinct], asked: Ints, weight: int) -> tuple[int, int]:
    """Return how many different rows are kept of each person, and how many of the asked people can be compared."""
    own = np.concatenate([of_roles[0].n_different, of_roles[2].n_different])[asked]
    for limit in range(MOST_ROWS, FEWEST_ROWS - 1, -1):
        n, m = (float(np.minimum(each, limit).sum()) for each in (own, of_roles[1].n_different))
        if n * (n + m) * weight <= _WORK:
            return limit, len(asked)
    fewer = (np.sqrt(m**2 + 4 * _WORK / weight) - m) / 2
    return FEWEST_ROWS, max(2, int(len(asked) * fewer / n))


# ---------------------------------------------------------------- whole numbers


def _sets(rows: _RowsBelow, of_roles: Sequence[_Distinct], limit: int, asked: Ints, copies: Ints) -> PersonRows:
    """Return the rows of the asked people and of the synthetic ones, the latter in the given order."""
    members, synthetic, strangers = of_roles
    n_members = len(members.size)
    both = np.concatenate([members.owner, strangers.owner + n_members])
    pot, of_pot = _chosen(
        both, np.concatenate([members.place, strangers.place]), asked, limit, n_members + len(strangers.size)
    )
    syn, of_syn = _chosen(synthetic.owner, synthetic.place, copies, limit, len(synthetic.size))
    times = np.concatenate([members.times, strangers.times])[pot], synthetic.times[syn]
    unit, columns = unit_of(len(rows.columns)), []
    for i, column in enumerate(rows.columns):
        codes = rows.case.codes(column, binned=False)
        own = np.concatenate([codes[0][members.row], codes[2][strangers.row]])[pot]
        theirs = codes[1][synthetic.row][syn]
        if i < rows.n_categories:
            columns.append(_categories(own, theirs))
        else:
            columns.append(_positions(own, theirs, rows.case.n_codes(column, binned=False), unit))
    persons = [
        _persons([c[side] for c in columns], of_side, t, n, rows.n_categories)
        for side, (of_side, t, n) in enumerate(((of_pot, times[0], len(asked)), (of_syn, times[1], len(copies))))
    ]
    size = np.concatenate([members.size, strangers.size])[asked], synthetic.size[copies]
    least = int(size[0][size[0] > 0].min(initial=np.iinfo(np.int64).max)) if (size[0] > 0).any() else 1
    scaled = tuple(np.where(s > 0, s / least, 0.5) for s in size)
    return PersonRows(rows.table, rows.columns, persons[0], persons[1], (scaled[0], scaled[1]))


def _chosen(owner: Ints, place: Ints, people: Ints, limit: int, n: int) -> tuple[Ints, Ints]:
    """Return the rows that are kept, those of a person together, and the number of each one's person."""
    number = np.full(n, -1)
    number[people] = np.arange(len(people))
    kept = np.flatnonzero((place < limit) & (number[owner] >= 0))
    kept = kept[np.argsort(number[owner[kept]], kind="stable")]
    return kept, number[owner[kept]]


def _persons(columns: Sequence[Codes], of_person: Ints, times: Ints, n: int, n_categories: int) -> SetsOfRows:
    count = np.bincount(of_person, minlength=n)
    total = np.bincount(of_person, weights=times, minlength=n)
    codes = np.ascontiguousarray(np.stack(columns, axis=1), dtype=np.uint16)
    return SetsOfRows(np.r_[0, np.cumsum(count)].astype(np.int64), codes, times / total[of_person], n_categories)


def _categories(own: NDArray[np.int32], theirs: NDArray[np.int32]) -> tuple[Codes, Codes]:
    levels, code = np.unique(own, return_inverse=True)
    at = np.minimum(np.searchsorted(levels, theirs), max(0, len(levels) - 1))
    found = levels[at] == theirs if len(levels) else np.zeros(len(theirs), dtype=np.bool_)
    return code.astype(np.uint16), np.where(found, at, _ABSENT).astype(np.uint16)


def _positions(own: NDArray[np.int32], theirs: NDArray[np.int32], n: int, unit: int) -> tuple[Codes, Codes]:
    """Return mid-ranks among the pot, in units over `STEEP`; missing is a unit from the last of them."""
    count = np.bincount(own, minlength=n)
    count[0] = 0
    up_to = np.cumsum(count)
    position = STEEP * unit * (2 * up_to - count) // max(1, 2 * int(up_to[-1]))
    position[0] = (STEEP + 1) * unit
    return position[own].astype(np.uint16), position[theirs].astype(np.uint16)
