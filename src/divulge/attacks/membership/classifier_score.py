"""The classifier's membership score: how surely does a forest take a person for a synthetic row?

The forest tells synthetic rows from people, real and holdout as one class. A person is scored by the trees whose sample
lacks the person's unit, so that out-of-bag is leave-one-out without a second fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from divulge.attacks.other_people import pooled_units, units_by_content
from divulge.case.case import Case
from divulge.case.features import features_of
from divulge.case.narrow_rows import NarrowRows

__all__ = ["NAME", "classifier_score"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_Rows = Callable[[Ints], NDArray[np.float32]]
"""Gives the rows of some places."""

NAME = "classifier"
TREES = 120
_SAMPLE = 10_000  # units, and synthetic rows, in the sample of a tree at most: a limit on the time
_MOST_ROWS = 100_000  # people above which trees are fewer: a limit on the time
_FEWER_TREES = 60
_THREADS_FROM = 5_000


def classifier_score(case: Case, columns: tuple[str, ...]) -> Floats:
    """Return the out-of-bag share of "synthetic" of each person (real rows, then holdout rows).

    120 trees as in a random forest, grown fully, each fitted on a bootstrap sample of units and one of synthetic rows,
    both classes with the same weight. Equal records have the mean of their scores. A sample has at most 10,000 units
    and as many rows. Above 100,000 people there are 60 trees.
    """
    features = features_of(case, columns)
    units = pooled_units(case, ("real", "holdout"))
    order = features.order("people")
    same = features.same()
    unit = units_by_content(same, None if units is None else units["people"])[order]
    people = features.people[order].astype(np.float32)
    synthetic, of_synthetic = features.synthetic, features.order("synthetic")
    n = len(order)
    total, times = np.zeros(n), np.zeros(n)

    seeds = _seeds(n, case.rng("membership classifier"))
    if features.spill is None:
        rows = _read_each(synthetic, of_synthetic)
    else:
        n_units, m = int(unit.max()) + 1, len(of_synthetic)
        rows = _read_once(synthetic, of_synthetic, (_drawn(seed, n_units, m)[1] for seed in seeds))
    for outside, share in _trees(people, unit, rows, len(of_synthetic), seeds):
        total[outside] += share
        times[outside] += 1
    score = np.divide(total, times, out=np.full(n, 0.5), where=times > 0)
    out = np.empty(n)
    out[order] = _mean_of_equals(score, same[order])
    return out


def _trees(
    people: NDArray[np.float32],
    unit: Ints,
    synthetic: _Rows,
    n_synthetic: int,
    seeds: Sequence[int],
) -> Iterator[tuple[Ints, Floats]]:
    """Yield for each tree the people outside its sample and the share of "synthetic" in their leaves.

    A tree sees the rows of its sample alone, each once, with a weight; `synthetic` gives those of some places.
    """
    n, n_units = len(unit), int(unit.max()) + 1

    def grown(seed: int) -> tuple[Ints, Floats]:
        from sklearn.tree import DecisionTreeClassifier

        drawn, places, rows = _drawn(seed, n_units, n_synthetic)
        units = np.bincount(drawn, minlength=n_units)[unit]
        inside = np.flatnonzero(units)
        weight = np.concatenate([units[inside] / units.sum(), rows / rows.sum()]) * units.sum()
        y = np.repeat([0.0, 1.0], [len(inside), len(places)])
        tree = DecisionTreeClassifier(max_features="sqrt", random_state=seed)
        tree.fit(np.vstack([people[inside], synthetic(places)]), y, sample_weight=weight, check_input=False)
        outside = np.flatnonzero(units == 0)
        value = tree.tree_.value[tree.tree_.apply(people[outside]), 0]
        return outside, value[:, 1] / value.sum(axis=1)

    if n + n_synthetic < _THREADS_FROM:
        yield from map(grown, seeds)
        return
    with ThreadPoolExecutor() as pool:
        yield from pool.map(grown, seeds)


def _seeds(n_people: int, rng: np.random.Generator) -> list[int]:
    """Return the seed of each tree."""
    return [int(s) for s in rng.integers(2**31, size=TREES if n_people <= _MOST_ROWS else _FEWER_TREES)]


def _drawn(seed: int, n_units: int, n_synthetic: int) -> tuple[Ints, Ints, Ints]:
    """Return the units of a tree's sample, the places of its synthetic rows, ascending, and how often each is drawn."""
    draw = np.random.default_rng(seed)
    units = draw.integers(0, n_units, min(n_units, _SAMPLE))
    places, times = np.unique(draw.integers(0, n_synthetic, min(n_synthetic, _SAMPLE)), return_counts=True)
    return units, places, times


def _read_each(synthetic: Floats | NarrowRows, order: Ints) -> _Rows:
    """Return what gives the rows of some places of an order."""
    return lambda some: synthetic[order[some]].astype(np.float32)


def _read_once(synthetic: Floats | NarrowRows, order: Ints, places: Iterable[Ints]) -> _Rows:
    """Return what gives the rows of some places of an order; the rows of all trees are read from the file at once.

    They are read column by column and in ascending order: tree by tree, in any order, each page of the file would be
    read again for each tree where the file does not fit into memory.
    """
    every = np.unique(np.concatenate(list(places)))
    numbers = order[every]
    ascending = np.argsort(numbers)
    rows = np.empty((len(every), synthetic.shape[1]), dtype=np.float32)
    for j in range(rows.shape[1]):
        rows[ascending, j] = synthetic[numbers[ascending], j]
    return lambda some: rows[np.searchsorted(every, some)]


def _mean_of_equals(score: Floats, same: Ints) -> Floats:
    """Return the mean score of equal records, so that their order says nothing; `same` ascends."""
    rounded = score.round(12)
    first = np.flatnonzero(np.r_[True, np.diff(same) > 0])
    by_size = rounded[np.lexsort((rounded, same))]
    mean = np.add.reduceat(by_size, first) / np.diff(np.r_[first, len(same)])
    return np.asarray(np.repeat(mean, np.diff(np.r_[first, len(same)])).round(12))
