"""Search for key sets: sets ranked by the synthetic table alone, and minimal sets that disclose a target.

The ranking uses the synthetic table only. So testing the best sets on real people afterwards is no selection on the
outcome, and one max-T over all kept pairs of key set and target is valid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations, islice
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.case.case import Case
from divulge.case.cells import drawn_codes
from divulge.core.records import KeySet, MinimalKeySet
from divulge.kernels.counts.contingency import Ints, combine
from divulge.kernels.counts.disclosure import disclosed
from divulge.kernels.places import places

Floats = NDArray[np.float64]

__all__ = ["minimal_disclosing", "ranked_key_sets"]

_SECONDS = 8.0  # time of one core for the key sets of one size; start value, not calibrated
_DRAWN = "key sets were searched on {:,} of {:,} synthetic rows, drawn at random, and tested on all rows"
_FEWEST, _MOST = 100_000, 1_000_000  # synthetic rows of a search, where there are more; start values, not calibrated
_SET_COST, _ROW_COST, _TARGET_COST = 150e-6, 20e-9, 2e-9  # estimated seconds a set, a row, a row and target


_Codes = Mapping[str, NDArray[Any]]
"""The code of each row in each column."""


class _Grouper:
    """Groups real and synthetic rows by key sets, and evaluates all targets at once."""

    def __init__(self, case: Case, names: Sequence[str], synthetic: _Codes, real: _Codes) -> None:
        self.sizes = {n: case.n_codes(n) for n in names}
        # synthetic rows first, then real ones
        self.codes = {n: np.concatenate([synthetic[n], real[n]]) for n in names}
        self.n_synthetic = len(next(iter(synthetic.values())))
        self._synthetic, self._real = synthetic, real

    def ask(self, keys: tuple[str, ...], targets: Sequence[str]) -> tuple[Ints, Ints]:
        """Return for each target the synthetic rows in classes with one value, and the real rows these disclose."""
        distinct, group = places(*combine([self.codes[k] for k in keys], [self.sizes[k] for k in keys]))
        m = self.n_synthetic
        synthetic = np.stack([self._synthetic[t] for t in targets])
        real = np.stack([self._real[t] for t in targets])
        return disclosed(group[:m], group[m:], len(distinct), synthetic, real)


def _pool_map(
    jobs: int, function: Callable[[tuple[str, ...]], tuple[Ints, Ints]], items: Iterable[tuple[str, ...]]
) -> Iterator[tuple[Ints, Ints]]:
    if jobs == 1:
        yield from map(function, items)
        return
    waiting = iter(items)
    with ThreadPoolExecutor(jobs) as pool:
        # in batches: a separate task for each of thousands of small sets would cost more than the sets
        while some := list(islice(waiting, 64 * jobs)):
            shares = [some[i::jobs] for i in range(jobs)]
            done = [iter(part) for part in pool.map(lambda part: list(map(function, part)), shares)]
            yield from (next(done[i % jobs]) for i in range(len(some)))


def ranked_key_sets(
    case: Case, targets: Sequence[str], *, keep: int = 20, max_columns: int = 3, jobs: int = 1
) -> tuple[list[KeySet], list[str]]:
    """Return the best key sets for each target, and notes on sets that the search left out.

    Parameters
    ----------
    targets
        Columns that the attacker wants, one after the other; every other usable column may be a key.
    keep
        Number of key sets to keep for each target.
    max_columns
        Greatest number of columns in a key set.

    Returns
    -------
    list of KeySet
        By target, best first: by largest share of synthetic rows in classes with one target value, then fewest
        columns, then column names. Of a large synthetic table some rows are looked at, at most a million, so that as
        many sets are; a note says so.
    """
    names = sorted(case.schema.usable())
    every, most = sorted({*names, *targets}), _rows_searched(len(names), len(targets), max_columns)
    drawn = drawn_codes(case.encoded, 1, every, most, case.rng("rows of the key set search"))
    synthetic = dict(zip(every, drawn, strict=True))
    grouper = _Grouper(case, names, synthetic, {n: codes[:0] for n, codes in synthetic.items()})
    cost = _SET_COST + grouper.n_synthetic * (_ROW_COST + _TARGET_COST * len(targets))
    looked_at: list[tuple[str, ...]] = []
    shares = np.empty((0, len(targets)))
    notes = [_DRAWN.format(most, n)] if (n := case.n_rows("synthetic")) > most else []
    for size in range(1, max_columns + 1):
        sets, cut = _candidates(names, size, looked_at, shares, int(_SECONDS / cost))
        if cut:
            notes.append(
                f"key sets of {size} columns: the {len(sets):,} that extend the best smaller ones were looked at"
            )
        asked = {s: own for s in sets if (own := [t for t in targets if t not in s])}

        def ask(keys: tuple[str, ...], asked: dict[tuple[str, ...], list[str]] = asked) -> tuple[Ints, Ints]:
            return grouper.ask(keys, asked[keys])

        place = {t: j for j, t in enumerate(targets)}
        found = np.full((len(asked), len(targets)), -1.0)
        for row, ((_, own), (pure, _)) in enumerate(zip(asked.items(), _pool_map(jobs, ask, asked), strict=True)):
            found[row, [place[t] for t in own]] = pure / grouper.n_synthetic
        looked_at += asked
        shares = np.concatenate([shares, found])
    return [k for j, t in enumerate(targets) for k in _best(looked_at, shares[:, j], t, keep)], notes


def _rows_searched(n_columns: int, n_targets: int, max_columns: int) -> int:
    """Return how many synthetic rows a search looks at most: as many as leave time for all sets of each size.

    Of more columns than that leaves time for at least 100,000 rows are looked at, and fewer sets.

    Examples
    --------
    >>> _rows_searched(6, 1, 3), _rows_searched(15, 15, 3), _rows_searched(60, 60, 3)
    (1000000, 348648, 100000)
    """
    n_sets = max(1, *(comb(n_columns, size) for size in range(1, max_columns + 1)))
    rows = (_SECONDS / n_sets - _SET_COST) / (_ROW_COST + _TARGET_COST * n_targets)
    return int(min(max(rows, _FEWEST), _MOST))


def _best(sets: Sequence[tuple[str, ...]], shares: Floats, target: str, keep: int) -> list[KeySet]:
    """Return the sets with the largest shares; ties keep the given order, which is by size and name."""
    order = np.argsort(-shares, kind="stable")[:keep]
    return [KeySet(keys=sets[i], target=target, share=float(shares[i])) for i in order if shares[i] >= 0]


def _candidates(
    names: Sequence[str], size: int, looked_at: Sequence[tuple[str, ...]], shares: Floats, limit: int
) -> tuple[list[tuple[str, ...]], bool]:
    """Return the key sets of one size to evaluate, and whether the limit on their number left some out."""
    if comb(len(names), size) <= max(limit, len(names)):
        return list(combinations(names, size)), False
    smaller = [i for i, s in enumerate(looked_at) if len(s) == size - 1]
    # by rank within each target: otherwise targets that many sets disclose would displace the others
    rank = np.argsort(np.argsort(-shares[smaller], axis=0, kind="stable"), axis=0).min(axis=1)
    out: dict[tuple[str, ...], None] = {}
    for i in np.argsort(rank, kind="stable"):
        parent = looked_at[smaller[i]]
        out.update(dict.fromkeys(tuple(sorted({*parent, n})) for n in names if n not in parent))
        if len(out) >= limit:
            break
    return sorted(out)[:limit] if len(out) <= limit else sorted(list(out)[:limit]), True


def minimal_disclosing(
    case: Case,
    targets: Sequence[str],
    *,
    max_columns: int = 5,
    at_least: float = 0.01,
    jobs: int = 1,
) -> tuple[list[MinimalKeySet], list[str]]:
    """Return the minimal key sets that disclose a target for at least a share of the real records.

    A set discloses a record if all synthetic rows with its key have one target value, and it is the record's own
    (DiSCO). Sets are visited by size; a set is evaluated only if none of its subsets discloses. The result describes
    the table. It is not a test: nothing is compared with strangers.

    Returns
    -------
    list of MinimalKeySet
        By target, then number of columns, then share, largest first.
    """
    names = sorted(case.schema.usable())
    synthetic, real = ({c: case.codes(c)[which] for c in sorted({*names, *targets})} for which in (1, 0))
    grouper = _Grouper(case, names, synthetic, real)
    n_real = case.n_rows("real")
    cost = _SET_COST + (case.n_rows("synthetic") + n_real) * (_ROW_COST + _TARGET_COST * len(targets))
    found: dict[str, list[MinimalKeySet]] = {t: [] for t in targets}
    notes: list[str] = []
    spent = 0.0
    for size in range(1, max_columns + 1):
        spent += comb(len(names), size) * cost
        if spent > 4 * _SECONDS:
            n_sets = comb(len(names), size)
            notes.append(f"the search for minimal sets stopped before {size} columns: {n_sets:,} sets are too many")
            break
        open_ = {
            s: own
            for s in combinations(names, size)
            if (own := [t for t in targets if t not in s and not _covered(s, found[t])])
        }

        def ask(keys: tuple[str, ...], open_: dict[tuple[str, ...], list[str]] = open_) -> tuple[Ints, Ints]:
            return grouper.ask(keys, open_[keys])

        for (keys, own), (pure, right) in zip(open_.items(), _pool_map(jobs, ask, open_), strict=True):
            for target, n_pure, n_right in zip(own, pure, right, strict=True):
                if n_right >= max(at_least * n_real, 1):
                    share = float(n_right) / n_real
                    found[target].append(
                        MinimalKeySet(
                            keys=keys,
                            target=target,
                            n_disclosed=int(n_right),
                            share=share,
                            synthetic_share=float(n_pure) / grouper.n_synthetic,
                        )
                    )
    ordered = [d for t in targets for d in sorted(found[t], key=lambda d: (len(d.keys), -(d.n_disclosed or 0), d.keys))]
    return ordered, notes


def _covered(keys: tuple[str, ...], found: Sequence[MinimalKeySet]) -> bool:
    own = set(keys)
    return any(own.issuperset(d.keys) for d in found)
