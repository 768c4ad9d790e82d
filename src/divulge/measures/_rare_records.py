"""How rare the records of people are: their bits, what each column adds to the others, and who is like whom.

Bits under independent columns are too many where columns depend on each other, as a town does on its postcode. So two
checks that do not look at the synthetic table stand beside them: a column counts only for what it adds to any single
other one, and two people who agree in columns of many bits show that such agreement needs no copy.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from divulge.case.case import Case
from divulge.case.invariant_order import canonical_of
from divulge.core.distinct_values import distinct_values
from divulge.core.hashing import value_hashes
from divulge.kernels.counts.contingency import ContingencyTable

__all__ = ["People", "alone", "any_alike", "any_alike_histories", "own_parts", "parts_beside_others", "people_of"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Hashes = NDArray[np.uint64]
Ints = NDArray[np.int64]

_SAMPLE = 20_000  # people whose pairs tell how columns depend on each other; a limit on the time
_FEW_HOLDERS = 50  # persons who have a record, up to which it tells that two of them are alike; a limit on the memory
_MOST_PAIRS = 5e6  # pairs of persons with a record in common that are looked at, a limit on the memory
_PRIOR_PAIRS = 50.0  # pairs of people that count as independent, where few agree in a column; start value


@dataclass(frozen=True, slots=True, eq=False)
class People:
    """Members, then strangers: the record, the person and the values of each row."""

    columns: tuple[str, ...]
    """Columns of a record, sorted by name."""
    record: Ints
    """Shape (n_rows,): cell of the record in the contingency table, the same for equal rows."""
    person: Ints
    """Shape (n_rows,): number of the person or household."""
    codes: Mapping[str, NDArray[np.int32]]
    """For each column, shape (n_rows,)."""
    n_members: int
    """Rows of the real table, which come first."""

    def n_persons(self, rows: slice = slice(None)) -> int:
        """Return the number of persons or households of some rows."""
        return len(distinct_values(self.person[rows]))

    def holders(self, groups: Ints, n_groups: int) -> Ints:
        """Return how many persons each group has, shape (n_groups,); rows of group -1 count nowhere."""
        known, size = np.flatnonzero(groups >= 0), int(self.person.max(initial=0)) + 1
        return np.bincount(distinct_values(groups[known] * size + self.person[known]) // size, minlength=n_groups)

    def bits_in(self, column: str) -> Floats:
        """Return the bits of each row's value, by its frequency among all rows."""
        codes = self.codes[column]
        with np.errstate(divide="ignore"):
            return np.asarray(-np.log2(np.bincount(codes) / len(codes))[codes])

    def bits(self, parts: Mapping[str, float] | None = None) -> Floats:
        """Return the bits of each row's record, shape (n_rows,); of each column the part in `parts`, None is all."""
        out = np.zeros(len(self.record))
        for column in self.columns:
            out += self.bits_in(column) * (1.0 if parts is None else parts[column])
        return np.round(out, 6)  # the columns are added in the order of their names, which must not decide

    def hashes(self, column: str) -> Hashes:
        """Return a hash of the value of each row in a column; the sum over columns is one of the record."""
        codes = self.codes[column]
        every = np.arange(int(codes.max(initial=0)) + 1, dtype=np.uint64)
        return value_hashes(every, self.columns.index(column))[codes]

    def whole(self) -> Hashes:
        """Return a hash of each row's record."""
        return np.asarray(np.sum([self.hashes(c) for c in self.columns], axis=0, dtype=np.uint64))


def people_of(case: Case, columns: list[str], table: ContingencyTable) -> People:
    """Return the people of a case; `table` counts their records."""
    rows = [cells for cells in (table.cells[0], table.cells[2]) if cells is not None][: 1 + case.has_holdout]
    codes = {c: np.concatenate([case.codes(c, binned=False)[i] for i in case.encoded.people]) for c in sorted(columns)}
    return People(tuple(sorted(columns)), np.concatenate(rows), _persons(case), codes, len(rows[0]))


def _persons(case: Case) -> Ints:
    """Return the number of the person or household of each row of real and holdout; a row alone is a person."""
    given = [side for role in ("real", "holdout") if (side := case.units(role)) is not None]
    if not given:
        return np.arange(case.n_rows("real") + case.n_rows("holdout"))
    # a row without a unit is negative, and numbered within its table
    apart = [side - i * case.n_rows("real") * (side < 0) for i, side in enumerate(given)]
    return np.unique(np.concatenate(apart), return_inverse=True)[1].reshape(-1)


# ---------------------------------------------------------------- columns that depend on each other


def own_parts(case: Case, people: People) -> dict[str, float]:
    """Return which part of its bits each column adds to the columns before it, which people agree in less often.

    A town tells nothing new where the postcode is known. How often do two people who agree in one column agree in
    another, compared with any two people? The part is the ratio of the logarithms of the two chances, at its smallest
    over all columns before.
    """
    rows = _some_people(case, people)
    codes = {
        c: np.unique(v[rows], return_inverse=True)[1].reshape(-1).astype(np.int64) for c, v in people.codes.items()
    }
    agree = {c: _pairs(codes[c]) for c in people.columns}
    every = max(1.0, len(rows) * (len(rows) - 1) / 2)
    order = sorted(people.columns, key=lambda c: (agree[c], c))
    out = dict.fromkeys(people.columns, 1.0)
    for i, column in enumerate(order):
        free = agree[column] / every
        for before in order[:i] if 0 < free < 1 else ():
            both = _pairs(codes[before] * (int(codes[column].max()) + 1) + codes[column])
            given = (both + _PRIOR_PAIRS * free) / (agree[before] + _PRIOR_PAIRS)
            out[column] = min(out[column], max(0.0, math.log(min(1.0, given)) / math.log(free)))
    return out


def parts_beside_others(people: People) -> dict[str, float]:
    """Return which part of its bits each column of a row adds to another row of the same person.

    A birth date tells nothing new in a second row. The part is log q / log p, if two rows of one person agree in the
    column with frequency q and any two rows with p; 1 where nobody has two rows.
    """
    n = len(people.record)
    every, within = max(1.0, n * (n - 1) / 2), _pairs(people.person.astype(np.int64))
    out = {}
    for column in people.columns:
        codes = people.codes[column].astype(np.int64)
        free = _pairs(codes) / every
        both = _pairs(people.person * (int(codes.max(initial=0)) + 1) + codes)
        given = (both + _PRIOR_PAIRS * free) / (within + _PRIOR_PAIRS)
        part = math.log(min(1.0, given)) / math.log(free) if 0 < free < 1 and given > 0 else float(free == 0)
        out[column] = min(1.0, part)
    return out


def _pairs(codes: Ints) -> float:
    """Return how many pairs of people have the same code."""
    counts = np.unique(codes, return_counts=True)[1].astype(np.float64)
    return float((counts * (counts - 1)).sum() / 2)


def _some_people(case: Case, people: People) -> Ints:
    """Return row numbers of people, members first: all of them, or a sample that row order and names do not change."""
    n = len(people.record)
    if n <= _SAMPLE:
        return np.arange(n)
    canonical = canonical_of(case, people.columns, case.encoded.people)
    order = np.concatenate([canonical.order(t) + (people.n_members if t else 0) for t in case.encoded.people])
    return np.sort(order[case.rng("people facts").choice(n, _SAMPLE, replace=False)])


# ---------------------------------------------------------------- people who are alike


def alone(people: People, candidates: Ints) -> Bools:
    """Return for each candidate row whether no other person agrees with it in all columns, or in all but one."""
    out = np.ones(len(candidates), dtype=bool)
    whole = people.whole()
    for column in people.columns if len(candidates) else ():
        rest = whole - people.hashes(column)  # who agrees in all columns agrees in the rest, too
        wanted, of_candidate = np.unique(rest[candidates], return_inverse=True)
        place = np.minimum(np.searchsorted(wanted, rest), len(wanted) - 1)
        held = people.holders(np.where(wanted[place] == rest, place, -1), len(wanted))
        out &= held[of_candidate.reshape(-1)] == 1
    return out


def any_alike(people: People, parts: Mapping[str, float], least: float) -> bool:
    """Return whether two persons agree in columns of at least so many bits: in all of them, or in all but one."""
    whole, bits = people.whole(), people.bits(parts)
    return _shared(people, whole, bits >= least) or any(
        _shared(people, whole - people.hashes(c), bits - people.bits_in(c) * parts[c] >= least) for c in people.columns
    )


def any_alike_histories(people: People, bits: Floats, spare: float) -> bool:
    """Return whether two persons share two or more different rows that have more bits than chance explains.

    Rows that many persons have are left out: they have few bits.
    """
    from scipy.sparse import csr_array

    size = int(people.record.max(initial=-1)) + 1
    holders = people.holders(people.record, size)
    pairs = distinct_values(people.person * size + people.record)
    person, record = np.divmod(pairs, max(1, size))
    kept = (holders[record] > 1) & (holders[record] <= _FEW_HOLDERS)
    if not kept.any():
        return False
    of_record = np.zeros(size)
    of_record[people.record] = bits
    if float((holders[record[kept]] - 1.0).sum()) > _MOST_PAIRS:
        return True  # many people share rows: such rows name nobody
    rows = np.bincount(people.person)
    shape = (len(rows), size)
    has = csr_array((np.ones(int(kept.sum())), (person[kept], record[kept])), shape=shape)
    one, other = (has @ has.T).nonzero()
    one, other = one[one < other], other[one < other]
    if not len(one):
        return False
    together = has[one].multiply(has[other]).tocsr()
    k = np.asarray(together.sum(axis=1)).ravel()
    evidence = np.asarray(together @ of_record).ravel() - k * np.log2(rows[one] * rows[other])
    return bool(((k > 1) & (evidence >= 2 * math.log2(len(rows)) + spare)).any())


def _shared(people: People, hashes: Hashes, which: Bools) -> bool:
    """Return whether two persons among some rows have the same hash."""
    values, of_row = np.unique(hashes[which], return_inverse=True)
    groups = np.full(len(hashes), -1)
    groups[which] = of_row.reshape(-1)
    return bool((people.holders(groups, len(values)) > 1).any())
