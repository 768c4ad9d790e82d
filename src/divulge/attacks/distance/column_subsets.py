"""Column sets that a synthesizer may have copied together: found without a look at who is a member.

A synthesizer can copy part of a row and make up the rest; a distance over all columns does not see it. Trying every
set of columns is out of reach, so sets are searched first. For each of some hundred synthetic rows we take the person,
member or stranger alike, who agrees with it in the most telling columns, and note in which. A set of columns copied
together recurs among these patterns. So do columns that depend on each other, which is why the same is done with
people in place of the synthetic rows, each against all others: what counts is how much more often a set recurs among
the synthetic rows.

Everything here is a function of the synthetic table and of real and holdout pooled, and does not change when members
and strangers change places. Testing the sets that were found on members against strangers is therefore no selection on
the outcome.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from divulge.case.case import Case
from divulge.core.hashing import value_hashes

__all__ = ["candidate_subsets"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Places = NDArray[np.int16]

AT_MOST = 20
"""Sets of columns that are tested after a search."""
_ALL_UP_TO = 7  # columns of which every set is tested
_ALL_PAIRS = 50_000_000  # pairs of people, over all sets, up to which every set is tested
_ROWS = (1_000_000, 300_000, 100_000)  # above so many rows: no set, 5, 10
_WORK = 150_000_000  # agreements looked at for one set of patterns
_MOST_QUERIES = 1_000
_BLOCK = 400_000  # agreements at a time: a few arrays of them stay in cache
_PLACES = 1 << 14  # places of numbers on the scale of ranks
_APART = 512  # between values that are no number; above twice the widest tolerance
_OTHERS = 30  # of which so many are told apart: all differences of places fit 16 bits
_BEAM = 400  # sets that are kept of each size
_RECURS = 3.0  # standard errors by which a set must recur more often than among people
_HOLDS = 0.95  # a column joins a set that keeps this share of its excess
_ALIKE = 0.7  # sets that share more of their columns than this are one


def candidate_subsets(case: Case, columns: Sequence[str]) -> tuple[list[tuple[str, ...]], str]:
    """Return sets of columns on which near copies are worth a test, and a sentence on what was searched.

    Parameters
    ----------
    columns
        The columns that a distance compares; their order changes nothing.

    Returns
    -------
    subsets, note
        Of 2 to len(columns) - 1 columns each, best first; in small tables of few columns all sets of 3 or more.
        No set where there are fewer than 3 columns.
    """
    names = sorted(columns)
    d = len(names)
    n_people, n_synthetic = case.n_rows("real") + case.n_rows("holdout"), case.n_rows("synthetic")
    if d < 3:
        return [], "copies of part of a row were not searched: fewer than 3 columns"
    room = _room(n_people + n_synthetic)
    if not room:
        return [], (
            f"copies of part of a row were not searched: more than {_ROWS[0]:,} rows. "
            "hint: name the columns that may have been copied, columns=[...]"
        )
    every = [s for k in range(3, d) for s in combinations(names, k)] if d <= _ALL_UP_TO else []
    if every and room == AT_MOST and len(every) * n_people**2 <= _ALL_PAIRS:
        sizes = f"all {len(every)} sets of 3 to {d - 1} columns"
        return every, f"copies of part of a row: near copies were tested on {sizes}"
    found = _search(case, names)
    tested = (
        f"{len(found)} do, the best {room} were tested" if len(found) > room else f"{len(found)} do and were tested"
    )
    return [s for s, _ in found[:room]], (
        "copies of part of a row: sets of 2 or more columns were searched for those in which synthetic rows agree with "
        f"a person clearly more often than people agree with each other; {tested if found else 'none does'}. "
        "A set that few rows copy can be missed"
    )


def _room(n_rows: int) -> int:
    none, five, ten = _ROWS
    return 0 if n_rows > none else 5 if n_rows > five else 10 if n_rows > ten else AT_MOST


# ---------------------------------------------------------------- columns on one scale


@dataclass(frozen=True, slots=True, eq=False)
class _Scale:
    """Values as places, so that two values agree when their places are at most a tolerance apart."""

    people: Places
    """Shape (n_columns, n_people)."""
    synthetic: Places
    """Shape (n_columns, n_synthetic)."""
    numeric: Bools
    """Shape (n_columns,)."""
    rarity: NDArray[np.uint64]
    """Shape (n_synthetic + n_people,): a hash of how common the values of a row are among people; no
    names of categories in it, and no number of synthetic rows."""

    def tolerances(self, share: float) -> Places:
        """Return how far apart places may be when a number agrees with this share of people."""
        reach = min(max(0, round(share * _PLACES / 2)), _APART // 2 - 1)
        return np.where(self.numeric, reach, 0).astype(np.int16)

    def bits(self, tolerances: Places) -> Ints:
        """Return how much an agreement in each column tells, in sixteenths of a bit, at least 1."""
        out = []
        for places, reach in zip(self.people, tolerances, strict=True):
            ordered = np.sort(places.astype(np.int64))
            pairs = np.searchsorted(ordered, ordered + reach, "right")
            pairs -= np.searchsorted(ordered, ordered - reach, "left")
            out.append(max(1, round(-16 * math.log2(int(pairs.sum()) / len(ordered) ** 2))))
        return np.array(out, dtype=np.int64)


def _scale(case: Case, names: Sequence[str]) -> _Scale:
    columns, numeric = [], []
    rarity = np.zeros(sum(t.n_rows for t in case.tables), dtype=np.uint64)
    for i, name in enumerate(names):
        pooled, codes = case.pooled(name), case.codes(name, binned=False)
        counts = pooled.counts[0] + (pooled.counts[2] if case.has_holdout else 0)
        is_number = case.schema[name].kind in ("numeric", "datetime")
        place = _places(case.numbers(name)[1:], counts) if is_number else np.arange(len(counts)) % (2**15 - 1)
        stacked = np.concatenate([codes[1], codes[0], *codes[2:]])
        columns.append(place.astype(np.int16)[stacked])
        numeric.append(is_number)
        told = counts * 2**20 + (place if is_number else 0)
        rarity += value_hashes(told.astype(np.uint64), i)[stacked]
    m = case.n_rows("synthetic")
    values = np.stack(columns)
    return _Scale(np.ascontiguousarray(values[:, m:]), np.ascontiguousarray(values[:, :m]), np.array(numeric), rarity)


def _places(numbers: Floats, counts: Ints) -> Ints:
    """Return the place of each code of a column of numbers: its middle rank among people; other values lie apart."""
    known = np.flatnonzero(~np.isnan(numbers))
    known = known[np.argsort(numbers[known], kind="stable")]
    out = np.zeros(len(counts), dtype=np.int64)
    here = counts[known + 1]
    below = np.cumsum(here) - here
    out[known + 1] = (2 * below + here) * (_PLACES - 1) // max(1, 2 * int(here.sum()))
    others = np.flatnonzero(np.append(True, np.isnan(numbers)))  # missing and values that are no number
    out[others] = -_APART * (1 + np.arange(len(others)) % _OTHERS)
    return out


# ---------------------------------------------------------------- patterns of agreement


@dataclass(frozen=True, slots=True, eq=False)
class _Patterns:
    """In which columns some rows agree with the person who is most like them."""

    agrees: Bools
    """Shape (n_distinct, n_columns)."""
    times: Floats
    """Shape (n_distinct,): rows that each pattern stands for."""

    def shares(self, sets: Ints) -> Floats:
        """Return the share of rows that agree in all columns of each set, given as (n_sets, k) column numbers."""
        inside = np.ones((len(self.agrees), len(sets)), dtype=bool)
        for column in sets.T:
            inside &= self.agrees[:, column]
        return np.asarray(self.times @ inside / self.times.sum())

    def with_each(self, chosen: Sequence[int]) -> Floats:
        """Return the share of rows that agree in some columns and in one more, for each column, shape (n_columns,)."""
        inside = self.agrees[:, list(chosen)].all(axis=1)
        return np.asarray((self.times * inside) @ self.agrees / self.times.sum())


def _chosen(places: Places, rarity: NDArray[np.uint64], n: int) -> tuple[Ints, Floats]:
    """Return up to n distinct rows and how often each occurs, the same ones in any order of rows."""
    _, first, times = np.unique(np.ascontiguousarray(places.T), axis=0, return_index=True, return_counts=True)
    # the rarest hashes first: an order that renaming a category does not change
    order = np.argsort(rarity[first], kind="stable")[:n]
    return first[order], times[order].astype(np.float64)


def _patterns(
    queries: Places, times: Floats, people: Places, tolerances: Places, bits: Ints, away: tuple[Ints, Ints] | None
) -> _Patterns:
    """Return in which columns each query (a column of `queries`) agrees with the person who shares most bits with it.

    `away` names a group for each query and each person: nobody is compared with the own group. Of people who share
    equally many bits the one who agrees in the first column by name counts, and so on: no order of rows enters.
    """
    d, n = people.shape
    agrees = np.zeros((queries.shape[1], d), dtype=bool)
    # 16-bit sums are twice as fast, and the scale of the bits is ours to choose
    weights = np.maximum(1, bits * 32_000 // max(32_000, int(bits.sum()))).astype(np.int16)
    step = max(1, _BLOCK // n)
    for a in range(0, queries.shape[1], step):
        part = np.ascontiguousarray(queries[:, a : a + step])
        score, apart = np.zeros((part.shape[1], n), dtype=np.int16), np.empty((part.shape[1], n), dtype=np.int16)
        same = np.empty(score.shape, dtype=bool)
        for j in range(d):
            if tolerances[j]:
                np.subtract(part[j][:, None], people[j], out=apart)
                np.less_equal(np.abs(apart, out=apart), tolerances[j], out=same)
            else:
                np.equal(part[j][:, None], people[j], out=same)
            score += np.multiply(same.view(np.int8), weights[j], out=apart)
        if away is not None:
            score[away[0][a : a + step, None] == away[1]] = -1
        best = score.max(axis=1)
        np.equal(score, best[:, None], out=same)
        for i in np.flatnonzero(best >= 0):
            alike = people[:, np.flatnonzero(same[i])]
            agree = np.abs(part[:, i, None] - alike) <= tolerances[:, None]
            agrees[a + i] = _first_by_name(agree)
    return _Patterns(agrees, times)


def _first_by_name(agree: Bools) -> Bools:
    """Return which of the patterns, shape (n_columns, n), agrees in the first column, of those in the second, ..."""
    for j in range(len(agree)):
        if agree.shape[1] == 1:
            break
        if agree[j].any():
            agree = agree[:, agree[j]]
    return agree[:, 0]


# ---------------------------------------------------------------- sets that recur


def _search(case: Case, names: Sequence[str]) -> list[tuple[tuple[str, ...], float]]:
    """Return the sets that recur, with the standard errors by which they do, best first."""
    scale = _scale(case, names)
    d, n = scale.people.shape
    if not n or not scale.synthetic.shape[1]:
        return []
    n_queries = min(_MOST_QUERIES, max(100, _WORK // (n * d)))
    m = scale.synthetic.shape[1]
    asked, times = _chosen(scale.synthetic, scale.rarity[:m], n_queries)
    others, alike = _chosen(scale.people, scale.rarity[m:], n_queries)
    own = _groups(case)
    found: dict[tuple[int, ...], float] = {}
    # a window that survives jitter, and one so narrow that two columns point at one person
    for share in sorted({2.0**-5, min(2.0**-5, 1 / math.sqrt(8 * n))}, reverse=True):
        reach = scale.tolerances(share)
        bits = scale.bits(reach)
        copied = _patterns(scale.synthetic[:, asked], times, scale.people, reach, bits, None)
        usual = _patterns(scale.people[:, others], alike, scale.people, reach, bits, (own[others], own))
        for chosen, z in _recurring(copied, usual, bits, 16 * (math.log2(n) - 2)):
            found[chosen] = max(z, found.get(chosen, 0.0))
    kept: list[tuple[tuple[int, ...], float]] = []
    for chosen, z in sorted(found.items(), key=lambda f: (-f[1], f[0])):
        if all(len({*chosen} & {*k}) <= _ALIKE * len({*chosen} | {*k}) for k, _ in kept):
            kept.append((chosen, z))
    return [(tuple(names[j] for j in chosen), z) for chosen, z in kept]


def _groups(case: Case) -> Ints:
    """Return the person or household of each of the people, real then holdout; each row its own without units."""
    if case.unit is None:
        return np.arange(case.n_rows("real") + case.n_rows("holdout"))
    parts = [u for u in (case.units("real"), case.units("holdout")) if u is not None]
    if len(parts) == 2:  # rows without a unit are told apart by negative numbers, in each table anew
        parts[1] = np.where(parts[1] < 0, parts[1] - len(parts[0]), parts[1])
    return np.concatenate(parts)


def _recurring(
    copied: _Patterns, usual: _Patterns, bits: Ints, enough: float
) -> Iterator[tuple[tuple[int, ...], float]]:
    """Yield the sets of 2 to d - 1 columns that recur more often than usual, each grown as far as it holds.

    `enough` is how many bits a set must tell: with fewer it fits many people anyway.
    """
    d = len(bits)
    n = min(len(copied.agrees), len(usual.agrees))

    def excess(sets: Ints) -> tuple[Floats, Floats]:
        s, p = copied.shares(sets), usual.shares(sets)
        # the 1 keeps a set that neither ever has from dividing by 0
        return s - p, (s - p) / np.sqrt((s * (1 - s) + p * (1 - p) + 1 / n) / n)

    seeds = np.array(list(combinations(range(d), 2)))
    seen: set[tuple[int, ...]] = set()
    for _ in range(2):
        more, z = excess(seeds)
        best = np.lexsort((*seeds.T[::-1], -z))[:_BEAM]
        seeds, more, z = seeds[best], more[best], z[best]
        for seed, gain in zip(seeds[z >= _RECURS], more[z >= _RECURS], strict=True):
            grown = _grown([int(j) for j in seed], float(gain), copied, usual)
            if grown not in seen and len(grown) < d and bits[list(grown)].sum() >= enough:
                seen.add(grown)
                at = float(excess(np.array([grown]))[1][0])
                if at >= _RECURS:
                    yield grown, at
        wider = {tuple(sorted({*map(int, s), j})) for s in seeds for j in range(d)}
        seeds = np.array(sorted(w for w in wider if len(w) == 3))


def _grown(chosen: list[int], gain: float, copied: _Patterns, usual: _Patterns) -> tuple[int, ...]:
    """Return the set with every column added, one by one, that leaves its excess nearly as it was."""
    while len(chosen) < copied.agrees.shape[1]:
        more = copied.with_each(chosen) - usual.with_each(chosen)
        more[chosen] = -np.inf
        j = int(np.argmax(more))
        if more[j] < _HOLDS * gain:
            break
        chosen = [*chosen, j]
    return tuple(sorted(chosen))
