"""Search for column sets that a synthesizer may have copied together, without using who is a member.

A synthesizer can copy part of a row and generate the rest; a distance over all columns does not see this. There are too
many column sets to test all, so they are searched first. For each of some hundred synthetic rows the search finds the
person, member or stranger, whose agreement with the row has most information in bits, and records the columns in which
they agree: a pattern. A column set that was copied together recurs in these patterns. Columns that depend on each other
recur too. So the search also finds the patterns of people, each against all other people, and ranks a set by how much
more often it recurs among synthetic rows than among people.

The result depends on the synthetic table and on real and holdout pooled, and does not change when members and strangers
change places. So testing the found sets on members against strangers afterwards is no selection on the outcome.

The constants below decide which sets are found and how long the search takes, not how often a test finds what is not
there: in `tests/calibration/test_copying_calibration.py` at most 5% of runs have a false finding, up to the error of
the simulation, even where a set need not recur at all (`_RECURS` = -9, twenty sets).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from divulge.case.case import Case
from divulge.core.hashing import code_hashes, value_hashes

__all__ = ["candidate_subsets"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Places = NDArray[np.int16]

AT_MOST = 20
"""Column sets that are tested after a search. Start value; its false findings are calibrated, see above."""
# Limits on the time: start values, not calibrated. They change what is searched, never whether a test holds its level.
_ALL_UP_TO = 7  # columns up to which all sets of 3 or more are tested: 98 sets (5 * AT_MOST) for 7 columns, 218 for 8
_ALL_PAIRS = 50_000_000  # number of sets times people squared, up to which all sets are tested: 700 people, 7 columns
_ROWS = (1_000_000, 300_000, 100_000)  # rows of all tables above which no set, 5 sets, 10 sets are tested
_WORK = 150_000_000  # comparisons of two cells for the patterns of the synthetic rows, and as many for those of people
_MOST_QUERIES = 1_000  # distinct rows with a pattern: the standard error of a share is then about 1.6% at most
_BLOCK = 400_000  # pairs of rows compared at a time: the few 16-bit arrays of this length stay in the cache
# Places in int16: numbers take 0 to 16,383, other values -512 to -15,360, so every difference fits 16 bits.
_PLACES = 1 << 14  # places for the ranks of numbers
_APART = 512  # distance between values that are no number: more than twice the widest tolerance, so they never agree
_OTHERS = 30  # such values that are told apart; the widest difference of places is 16,383 + 30 * 512 = 31,743
_BEAM = 400  # sets of each size that are widened or grown, best first; start value, not calibrated
_RECURS = 3.0  # standard errors by which a set must recur more often; the usual rule, not calibrated for power
_HOLDS = 0.95  # share of its excess that a set must keep for a column to join it; start value, not calibrated
_ALIKE = 0.7  # share of common columns (Jaccard index) above which only the better set is kept; start value


def candidate_subsets(case: Case, columns: Sequence[str]) -> tuple[list[tuple[str, ...]], str]:
    """Return the column sets on which to test near copies, and a sentence that says what was searched.

    Parameters
    ----------
    columns
        The columns that a distance compares; their order does not matter.

    Returns
    -------
    subsets, note
        Sets of 2 to len(columns) - 1 columns, best first; in small tables of few columns all sets of 3 or more.
        There is no set where there are fewer than 3 columns.
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
    """Values as places, whole numbers such that two values agree if their places differ by at most a tolerance."""

    people: Places
    """Shape (n_columns, n_people)."""
    synthetic: Places
    """Shape (n_columns, n_synthetic)."""
    numeric: Bools
    """Shape (n_columns,)."""
    rarity: NDArray[np.uint64]
    """Shape (n_synthetic + n_people,): a hash of how often each value of a row occurs among people. Names of categories
    and the number of synthetic rows do not enter."""

    def tolerances(self, share: float) -> Places:
        """Return the tolerance of each column such that a number agrees with this share of people."""
        reach = min(max(0, round(share * _PLACES / 2)), _APART // 2 - 1)
        return np.where(self.numeric, reach, 0).astype(np.int16)

    def bits(self, tolerances: Places) -> Ints:
        """Return the information of an agreement in each column, in sixteenths of a bit, at least 1."""
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
    """Return the place of each code of a column of numbers: its middle rank among people. Non-numbers agree with none.

    Missing and other values that are no number have negative places, `_APART` from each other.
    """
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
    """The columns in which some rows agree with the person most like them."""

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
        """Return for each column the share of rows that agree in it and in the chosen columns, shape (n_columns,)."""
        inside = self.agrees[:, list(chosen)].all(axis=1)
        return np.asarray((self.times * inside) @ self.agrees / self.times.sum())


def _chosen(places: Places, rarity: NDArray[np.uint64], n: int) -> tuple[Ints, Floats]:
    """Return up to n distinct rows and how often each occurs; the order of rows does not change which."""
    # by hashes, in a tenth of the time of sorting whole rows
    _, first, times = np.unique(code_hashes(list(places)), return_index=True, return_counts=True)
    rare = rarity[first]
    if len(first) > n:
        near = np.flatnonzero(rare <= np.partition(rare, n - 1)[n - 1])
        first, times, rare = first[near], times[near], rare[near]
    # sorted by a hash of frequencies: renaming a category does not change this order; of equal ones by the places
    order = np.lexsort((*places[::-1, first], rare))[:n]
    return first[order], times[order].astype(np.float64)


def _patterns(
    queries: Places, times: Floats, people: Places, tolerances: Places, bits: Ints, away: tuple[Ints, Ints] | None
) -> _Patterns:
    """Return the columns in which each query (a column of `queries`) agrees with the person most like it.

    Most like is who shares most bits with the query. Of people who share equally many bits the one who agrees in the
    first column by name is taken, then in the second, and so on, so that the order of rows does not enter. `away` gives
    the group of each query and of each person; a query is not compared with its own group.
    """
    d, n = people.shape
    agrees = np.zeros((queries.shape[1], d), dtype=bool)
    # bits are scaled so that their sum fits 16 bits: such sums are twice as fast
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
    """Return the pattern, of n in shape (n_columns, n), that agrees in the first column, of these in the second, ..."""
    for j in range(len(agree)):
        if agree.shape[1] == 1:
            break
        if agree[j].any():
            agree = agree[:, agree[j]]
    return agree[:, 0]


# ---------------------------------------------------------------- sets that recur


def _search(case: Case, names: Sequence[str]) -> list[tuple[tuple[str, ...], float]]:
    """Return the sets that recur more often than usual, each with its excess in standard errors, best first."""
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
    # Two windows. 1/32 of people: wide enough for jitter; start value, not calibrated. 1/sqrt(8 n): narrow, so that two
    # columns that do not depend on each other agree with n * share**2 = 1/8 of a person by chance.
    for share in sorted({2.0**-5, min(2.0**-5, 1 / math.sqrt(8 * n))}, reverse=True):
        reach = scale.tolerances(share)
        bits = scale.bits(reach)
        copied = _patterns(scale.synthetic[:, asked], times, scale.people, reach, bits, None)
        usual = _patterns(scale.people[:, others], alike, scale.people, reach, bits, (own[others], own))
        # log2(n) - 2 bits: 4 of n people agree in a set of so many bits by chance; start value, not calibrated
        for chosen, z in _recurring(copied, usual, bits, 16 * (math.log2(n) - 2)):
            found[chosen] = max(z, found.get(chosen, 0.0))
    kept: list[tuple[tuple[int, ...], float]] = []
    for chosen, z in sorted(found.items(), key=lambda f: (-f[1], f[0])):
        if all(len({*chosen} & {*k}) <= _ALIKE * len({*chosen} | {*k}) for k, _ in kept):
            kept.append((chosen, z))
    return [(tuple(names[j] for j in chosen), z) for chosen, z in kept]


def _groups(case: Case) -> Ints:
    """Return the person or household of each row of real, then holdout; without units each row is its own."""
    if case.unit is None:
        return np.arange(case.n_rows("real") + case.n_rows("holdout"))
    parts = [u for u in (case.units("real"), case.units("holdout")) if u is not None]
    if len(parts) == 2:  # rows without a unit have negative numbers, which start at -1 in each table
        parts[1] = np.where(parts[1] < 0, parts[1] - len(parts[0]), parts[1])
    return np.concatenate(parts)


def _recurring(
    copied: _Patterns, usual: _Patterns, bits: Ints, enough: float
) -> Iterator[tuple[tuple[int, ...], float]]:
    """Yield the sets of 2 to d - 1 columns that recur more often than usual, grown while their excess holds.

    `enough` is the information that a set must have, in sixteenths of a bit: a set with less fits many people anyway.
    """
    d = len(bits)
    n = min(len(copied.agrees), len(usual.agrees))

    def excess(sets: Ints) -> tuple[Floats, Floats]:
        s, p = copied.shares(sets), usual.shares(sets)
        # 1 / n: no division by 0 for a set that recurs in neither
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
    """Return the set with further columns, added one by one while the set keeps the share `_HOLDS` of its excess."""
    while len(chosen) < copied.agrees.shape[1]:
        more = copied.with_each(chosen) - usual.with_each(chosen)
        more[chosen] = -np.inf
        j = int(np.argmax(more))
        if more[j] < _HOLDS * gain:
            break
        chosen = [*chosen, j]
    return tuple(sorted(chosen))
