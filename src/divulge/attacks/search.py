"""Which columns would an attacker want to know? Key sets ranked by the synthetic table alone; minimal disclosing sets.

Ranking looks at the synthetic table only, so that testing the best sets on real people afterwards is not a
selection on the outcome: one max-T over all kept pairs is then valid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from divulge.case import Case
from divulge.counts import Ints, _ranks, combine
from divulge.kernels import disclosed

__all__ = ["Disclosing", "KeySet", "minimal_disclosing", "ranked_key_sets"]

_WORK = 6_000_000_000  # rows x key sets x targets: about 10 s on two cores
_COMPILE_FROM = 30_000_000


@dataclass(frozen=True, slots=True)
class KeySet:
    """A key set for one target, and the share of synthetic rows in classes of one target value."""

    keys: tuple[str, ...]
    target: str
    share: float


@dataclass(frozen=True, slots=True)
class Disclosing:
    """A key set that discloses a target for some people, none of whose subsets does."""

    keys: tuple[str, ...]
    target: str
    n_disclosed: int
    """Real records whose synthetic class has one target, and it is their own."""
    share: float
    """The same, of all real records."""
    synthetic_share: float
    """Share of synthetic rows in classes of one target."""


class _Grouper:
    """Groups rows of real and synthetic by key sets, and asks about all targets at once."""

    def __init__(self, case: Case, names: Sequence[str], targets: Sequence[str], with_real: bool) -> None:
        self.n_real = case.n_rows("real") if with_real else 0
        self.sizes = {n: case.n_codes(n) for n in names}
        # synthetic rows first, then real ones
        self.codes = {n: np.concatenate([case.codes(n)[1], case.codes(n)[0][: self.n_real]]) for n in names}
        self.n_synthetic = case.n_rows("synthetic")
        self.targets = {t: case.codes(t) for t in targets}

    def ask(self, keys: tuple[str, ...], targets: Sequence[str], compile_it: bool) -> tuple[Ints, Ints]:
        """Return per target the synthetic rows in pure classes and the real rows they name rightly."""
        ids, capacity = combine([self.codes[k] for k in keys], [self.sizes[k] for k in keys])
        distinct, group = _ranks(ids, capacity)
        m = self.n_synthetic
        synthetic = np.stack([self.targets[t][1] for t in targets])
        real = np.stack([self.targets[t][0][: self.n_real] for t in targets])
        return disclosed(group[:m], group[m:], len(distinct), synthetic, real, compile_it=compile_it)


def _pool_map(
    jobs: int, function: Callable[[tuple[str, ...]], tuple[Ints, Ints]], items: Iterable[tuple[str, ...]]
) -> Iterator[tuple[Ints, Ints]]:
    if jobs == 1:
        yield from map(function, items)
        return
    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(function, items)


def ranked_key_sets(
    case: Case, targets: Sequence[str], *, keep: int = 20, max_columns: int = 3, jobs: int = 1
) -> tuple[list[KeySet], list[str]]:
    """Return the best key sets for each target, and notes on what the search left out.

    Parameters
    ----------
    targets
        Columns that are wanted in turn; every other usable column may be known.
    keep
        Key sets kept for each target.
    max_columns
        Columns in a key set at most.

    Returns
    -------
    list of KeySet
        By target, best first: largest share of synthetic rows in classes of one target value, then fewer
        columns, then column names.
    """
    names = sorted(case.schema.usable())
    grouper = _Grouper(case, names, targets, with_real=False)
    work_each = case.n_rows("synthetic") * len(targets)
    n_all = sum(_n_choose(len(names), k) for k in range(1, max_columns + 1))
    compile_it = n_all * work_each > _COMPILE_FROM
    best: dict[str, list[KeySet]] = {t: [] for t in targets}
    notes: list[str] = []
    previous: list[tuple[str, ...]] = []
    for size in range(1, max_columns + 1):
        sets: list[tuple[str, ...]] = list(combinations(names, size))
        if len(sets) * work_each > _WORK and previous:
            sets = sorted({tuple(sorted({*p, n})) for p in previous for n in names if n not in p})
            notes.append(f"key sets of {size} columns: only those that extend the best smaller ones were looked at")
        wanted = [[t for t in targets if t not in s] for s in sets]
        asked = [(s, w) for s, w in zip(sets, wanted, strict=True) if w]
        lookup = dict(asked)

        def ask(keys: tuple[str, ...], lookup: dict[tuple[str, ...], list[str]] = lookup) -> tuple[Ints, Ints]:
            return grouper.ask(keys, lookup[keys], compile_it)

        for (keys, own), (pure, _) in zip(asked, _pool_map(jobs, ask, lookup), strict=True):
            for target, n_pure in zip(own, pure, strict=True):
                best[target].append(KeySet(keys, target, float(n_pure) / grouper.n_synthetic))
        for target, found in best.items():
            best[target] = sorted(found, key=_rank)[:keep]
        previous = sorted({k.keys for found in best.values() for k in found if len(k.keys) == size})
    return [k for t in targets for k in best[t]], notes


def _rank(found: KeySet) -> tuple[float, int, tuple[str, ...]]:
    return (-found.share, len(found.keys), found.keys)


def _n_choose(n: int, k: int) -> int:
    from math import comb

    return comb(n, k)


def minimal_disclosing(
    case: Case,
    targets: Sequence[str],
    *,
    max_columns: int = 5,
    at_least: float = 0.01,
    jobs: int = 1,
) -> tuple[list[Disclosing], list[str]]:
    """Return the minimal key sets that disclose a target for at least a share of the real records.

    A set discloses a record when all synthetic rows with its key have one target and it is the record's own
    (DiSCO). Sets are visited by size; a set is looked at only when none of its subsets discloses. This describes
    the table; it is no test, and nothing is compared with strangers.

    Returns
    -------
    list of Disclosing
        By target, then number of columns, then share, largest first.
    """
    names = sorted(case.schema.usable())
    grouper = _Grouper(case, names, targets, with_real=True)
    n_real = case.n_rows("real")
    work_each = (case.n_rows("synthetic") + n_real) * len(targets)
    compile_it = work_each * _n_choose(len(names), 2) > _COMPILE_FROM
    found: dict[str, list[Disclosing]] = {t: [] for t in targets}
    notes: list[str] = []
    spent = 0
    for size in range(1, max_columns + 1):
        sets = list(combinations(names, size))
        open_ = {s: [t for t in targets if t not in s and not _covered(s, found[t])] for s in sets}
        open_ = {s: w for s, w in open_.items() if w}
        spent += sum(len(w) for w in open_.values()) * (work_each // max(len(targets), 1))
        if spent > 3 * _WORK:
            notes.append(f"the search stopped before key sets of {size} columns: {len(open_):,} sets are too many")
            break

        def ask(keys: tuple[str, ...], open_: dict[tuple[str, ...], list[str]] = open_) -> tuple[Ints, Ints]:
            return grouper.ask(keys, open_[keys], compile_it)

        for (keys, own), (pure, right) in zip(open_.items(), _pool_map(jobs, ask, open_), strict=True):
            for target, n_pure, n_right in zip(own, pure, right, strict=True):
                if n_right >= max(at_least * n_real, 1):
                    share = float(n_right) / n_real
                    found[target].append(
                        Disclosing(keys, target, int(n_right), share, float(n_pure) / grouper.n_synthetic)
                    )
    ordered = [d for t in targets for d in sorted(found[t], key=lambda d: (len(d.keys), -d.n_disclosed, d.keys))]
    return ordered, notes


def _covered(keys: tuple[str, ...], found: Sequence[Disclosing]) -> bool:
    own = set(keys)
    return any(own.issuperset(d.keys) for d in found)
