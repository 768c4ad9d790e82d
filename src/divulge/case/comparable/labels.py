"""Whether the labels "real" and "holdout" fall on neighbouring people as a random split lets them fall."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from divulge.case.case import Case
from divulge.case.comparable.check import data_hash
from divulge.case.distances import Distances, distances_of
from divulge.case.invariant_order import canonical_of

__all__ = ["Labels", "labels_of"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_DRAWS = 9_999
_FEWER = 999
_LABELS = 100_000_000  # labels drawn at most with all draws, a limit on the time: 3 s where the check fails
_ENOUGH = 25
"""The draws stop where so many on either side are as extreme as the data: the p-value is far above .001 then."""
_QUERIES = 50_000  # people whose neighbours are looked up, a limit on the time
_LISTED = 20_000_000  # neighbours kept: 160 MB; where people tie with more, fewer people are looked at
_CELLS = 2_000_000  # labels drawn at once
_NEAREST = 0.1
"""The share of people, those with the nearest neighbours, in which people who are in both tables are looked for."""
_FARTHER = 20
_SHOWN = 200  # people whose 20th neighbour is looked up: the share has a standard error of .035


@dataclass(frozen=True, slots=True)
class Labels:
    """How often the nearest other row is of the own table, and how a random split of the people compares."""

    own: float
    """Mean over rows of real and holdout of the share of own-table rows among all that tie for the nearest other."""
    by_chance: float
    """Its expectation under permuted labels."""
    p_together: float
    """Share of permutations with as many own-table neighbours."""
    near_own: float
    """As `own`, over the tenth of the rows whose nearest other row is nearest."""
    p_apart: float
    """Share of permutations with as few own-table neighbours among these."""
    farther_own: float
    """The share of own-table rows among those that tie for the 20th nearest."""


@dataclass(frozen=True, slots=True, eq=False)
class _Neighbours:
    """The rows that tie for the k-th nearest other row of each distinct record, as distinct records."""

    records: Ints
    """The distinct records that are asked for."""
    start: Ints
    """Shape (n + 1,): record i has rows[start[i] : start[i + 1]]."""
    rows: Ints
    alone: Bools
    """Whether the record itself is not among its rows."""
    distance: Floats

    def own_share(self, n_distinct: int, times: Floats, among: Bools) -> Callable[[Floats], Floats]:
        """Return a function of labels: the mean over rows of the share of own-table neighbours.

        Parameters
        ----------
        n_distinct, times
            The number of distinct records, and of shape (n_distinct,) how many rows each has.
        among
            Shape (n_means, n_records): the records that enter each mean.

        Returns
        -------
        callable
            Takes the number of rows of each distinct record that carry the label 1, shape (n_distinct, n_draws), and
            returns shape (n_means, n_draws).

        Notes
        -----
        Of a record with t rows and s rows that tie, m and a of them with the label 1, the m rows of label 1 have
        a (less themselves) neighbours of their label and the t - m others s - a (the sum is of products m a, and
        otherwise linear).
        """
        from scipy.sparse import csr_array

        links = csr_array((np.ones(len(self.rows)), self.rows, self.start), shape=(len(self.records), n_distinct))
        itself = np.where(self.alone, 0.0, 1.0)
        size, mine = links @ times - itself, times[self.records]
        weight = among / size / (among @ mine)[:, None]
        constant = (weight * mine * size).sum(axis=1)[:, None]
        linear = (links.T @ (weight * mine).T).T
        for row, more in zip(linear, weight * (itself + size), strict=True):
            np.add.at(row, self.records, more)

        # sparse, though they are full: matrix products of few rows wait for threads when the machine is busy
        of_pairs, of_one = csr_array(2 * weight), csr_array(linear)

        def share(labels: Floats) -> Floats:
            pairs = links @ labels
            pairs *= labels[self.records]
            found: Floats = constant - of_one @ labels + of_pairs @ pairs
            return found

        return share


def labels_of(case: Case) -> Labels | None:
    """Return how the labels of real and holdout fall on neighbours; None where a side has fewer than 20 people.

    The labels are permuted: of rows, or of units where given. So the test needs no model, and is exact for a random
    split. Its size and power stand in tests/calibration/test_comparable_calibration.py.
    """
    units = [case.units("real"), case.units("holdout")]
    sizes = [
        case.n_rows(r) if u is None else len(np.unique(u)) for r, u in zip(("real", "holdout"), units, strict=True)
    ]
    if not case.schema.usable() or min(sizes) < 20:
        return None
    return case.encoded.once(("labels of neighbours", case.seed), lambda: _labels_of(case), case.encoded.people)


def _labels_of(case: Case) -> Labels:
    from scipy.sparse import csr_array

    distances = distances_of(case)
    of_row = distances.distinct("people").of_each
    times = np.bincount(of_row).astype(np.float64)
    unit_of_row, order = _units(case)
    side = np.zeros(int(unit_of_row.max()) + 1, dtype=np.int8)
    side[unit_of_row[: case.n_rows("real")]] = 1
    rng = case.rng(f"labels of neighbours {data_hash(case)}")
    records = _records(of_row, order, rng, _QUERIES)
    nearest = _neighbours(distances, records, 1)
    near = nearest.distance <= _quantile(nearest.distance, times[nearest.records])
    counted = csr_array((np.ones(len(of_row)), (of_row, unit_of_row)), shape=(len(times), len(side)))

    share = nearest.own_share(len(times), times, np.stack([np.ones(len(near), dtype=np.bool_), near]))

    def statistics(sides: NDArray[np.int8]) -> Floats:
        """Return both statistics for each draw of the sides of the units, shape (2, n_draws)."""
        return share(counted @ np.ascontiguousarray(sides.T, dtype=np.float64))

    own, near_own = statistics(side[None])[:, 0]
    p_together, p_apart, mean = _p_values(own, near_own, side, len(of_row), statistics, rng)
    far = _neighbours(distances, _records(of_row, order, rng, _SHOWN), _FARTHER)
    farther = far.own_share(len(times), times, np.ones((1, len(far.records)), dtype=np.bool_))
    farther_own = float(farther(counted @ side[:, None].astype(np.float64))[0, 0])
    return Labels(float(own), mean, p_together, float(near_own), p_apart, farther_own)


def _p_values(
    own: float,
    near_own: float,
    side: NDArray[np.int8],
    n_rows: int,
    statistics: Callable[[NDArray[np.int8]], Floats],
    rng: np.random.Generator,
) -> tuple[float, float, float]:
    """Return the p-value of many own-table neighbours, that of few among the nearest, and the mean of the first.

    References
    ----------
    Besag and Clifford (1991), Sequential Monte Carlo p-values: draws stop early where the p-value is large.
    """
    draws = _DRAWS if n_rows * _DRAWS <= _LABELS else _FEWER
    most = max(1, _CELLS // n_rows)
    done, together, apart, total = 0, 0, 0, 0.0
    while done < draws and min(together, apart) < _ENOUGH:
        part = min(most, draws - done, max(2 * _ENOUGH, done))
        sides = np.tile(side, (part, 1))  # each draw in one piece of memory, and permuted there
        found = statistics(rng.permuted(sides, axis=1, out=sides))
        # sums are not associative: a draw that differs in the last bits alone is a tie
        together += int((found[0] >= own - 1e-9).sum())
        apart += int((found[1] <= near_own + 1e-9).sum())
        total += float(found[0].sum())
        done += part
    return (1 + together) / (1 + done), (1 + apart) / (1 + done), total / done


def _units(case: Case) -> tuple[Ints, Ints]:
    """Return the unit of each row of real and holdout, numbered in an order that names and row order do not change.

    Returns
    -------
    unit, order
        Shape (n_rows,) each; `order` lists the rows in canonical order. Without a column of units each row is one.
    """
    canonical = canonical_of(case, case.schema.usable(), (0, 2))
    n = case.n_rows("real")
    order = np.concatenate([canonical.order(0), canonical.order(2) + n])
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    real, holdout = case.units("real"), case.units("holdout")
    if real is None or holdout is None:
        return place, order
    # a unit in both tables counts as two: "units apart" says so
    both = np.concatenate([np.stack([np.zeros(len(real)), real]), np.stack([np.ones(len(holdout)), holdout])], axis=1)
    _, unit = np.unique(both, axis=1, return_inverse=True)
    unit = unit.ravel()
    first = np.full(int(unit.max()) + 1, len(order))
    np.minimum.at(first, unit, place)  # units follow their first row
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[unit], order


def _records(of_row: Ints, order: Ints, rng: np.random.Generator, most: int) -> Ints:
    """Return the distinct records of at most so many rows, drawn without regard to labels, in canonical order."""
    if len(order) > most:
        order = order[np.sort(rng.choice(len(order), most, replace=False))]
    found, first = np.unique(of_row[order], return_index=True)
    return found[np.argsort(first)]


def _neighbours(distances: Distances, records: Ints, k: int) -> _Neighbours:
    """Return the rows that tie for the k-th nearest other row of distinct records."""
    index, people = distances.index("people"), distances.distinct("people")
    reach = index.reach(people.rows.take(records), k + 1)
    listed = np.cumsum(reach.n_rows[reach.queries.of_each])
    if listed[-1] > _LISTED:  # ties are many: fewer records
        records = records[:: int(np.ceil(listed[-1] / _LISTED))]
        reach = index.reach(people.rows.take(records), k + 1)
    ends = reach.distances[:, -1]
    parts: list[tuple[Ints, Ints]] = []
    for part in index.up_to(reach):
        query = np.repeat(part.queries, np.diff(part.start))
        last = part.distances == np.where(np.isfinite(ends[query]), ends[query], part.distances)
        parts.append((query[last], part.rows[last]))
    query, rows = (np.concatenate(found) for found in zip(*parts, strict=True))
    asked = reach.queries.of_each
    start = np.searchsorted(query, np.arange(len(ends) + 1))
    lengths = np.diff(start)[asked]
    offsets = np.append(0, np.cumsum(lengths))
    rows = rows[np.repeat(start[:-1][asked] - offsets[:-1], lengths) + np.arange(offsets[-1])]
    alone = np.logical_or.reduceat(rows == np.repeat(records, lengths), offsets[:-1])
    return _Neighbours(records, offsets, rows, ~alone, ends[asked])


def _quantile(distance: Floats, times: Floats) -> float:
    """Return the distance within which the nearest tenth of all rows have their nearest other row."""
    order = np.argsort(distance, kind="stable")
    reached = np.cumsum(times[order]) >= _NEAREST * times.sum()
    return float(distance[order][np.argmax(reached)])
