"""Whether people are in both real and holdout."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from divulge.case.case import Case
from divulge.case.comparable.check import NOT_IN_MEMORY, data_hash, numbers, record_columns
from divulge.case.comparable.labels import labels_of
from divulge.core.records import Precondition

__all__ = ["IN_BOTH", "no_overlap", "overlap", "shared_rows"]

_LEVEL = 0.001
"""One random split in a thousand fails each of the two tests, a start value; the p-values are calibrated in
tests/case/test_preconditions.py and tests/calibration/test_comparable_calibration.py."""
_ENOUGH = 100
IN_BOTH = "more than a random split of these people gives; remove people who are in both"


def no_overlap(case: Case) -> Precondition | None:
    """Return whether people are in both tables: as equal records, or as records that hardly differ."""
    if case.has_holdout and not case.in_memory:
        return Precondition(check="no overlap", ok=True, tested=False, detail=NOT_IN_MEMORY)
    found = overlap(case)
    near = labels_of(case) if found is not None else None
    if found is None or near is None or not found.ok or near.p_apart > _LEVEL:
        return found
    return Precondition(
        check="no overlap",
        ok=False,
        detail=f"of the tenth of people with the nearest neighbours, {100 * (1 - near.near_own):.1f}% have theirs in "
        f"the other table: {IN_BOTH}",
        numbers=found.numbers | numbers({"near neighbours in the own table": near.near_own, "p of near": near.p_apart}),
    )


def overlap(case: Case) -> Precondition | None:
    """Compare the number of strangers who equal a real row with that number under a random split of the people.

    Identifiers, the unit and ignored columns do not enter: people in two files often have a number of each file.
    """
    if not case.has_holdout or not case.in_memory:
        return None
    columns = record_columns(case)
    real, holdout = (case.encoded.row_hashes(columns, i).view(np.int64) for i in (0, 2))
    shared, p = shared_rows(real, holdout, case.rng(f"overlap {data_hash(case)}"))
    detail = f"{shared:,} of {len(holdout):,} holdout rows equal a real row"
    made = numbers({"equal rows": shared, "holdout rows": len(holdout), "p": p})
    if p <= _LEVEL:
        return Precondition(check="no overlap", ok=False, detail=f"{detail}: {IN_BOTH}", numbers=made)
    told = detail + ", as a random split of these people may give"
    return Precondition(check="no overlap", ok=True, detail=told, numbers=made)


def shared_rows(
    real: NDArray[np.int64], holdout: NDArray[np.int64], rng: np.random.Generator, draws: int = 999
) -> tuple[int, float]:
    """Return how many holdout rows equal a real row, and the p-value of this number under permuted labels.

    Only rows that repeat can be shared, so labels are drawn for these alone. The draws stop where 100 of them are as
    extreme as the data (Besag and Clifford 1991): the p-value is above .1 then. If all draws need more than 50 million
    labels, 99 permutations and their normal approximation are used.
    """
    pooled = np.concatenate([real, holdout])
    order = np.argsort(pooled, kind="stable")
    first = np.flatnonzero(np.r_[True, pooled[order][1:] != pooled[order][:-1]])
    size = np.diff(np.r_[first, len(pooled)])
    of_holdout = np.add.reduceat((order >= len(real)).astype(np.int64), first)
    shared = int(of_holdout[of_holdout < size].sum())
    size = np.sort(size[size > 1])
    n = int(size.sum())
    if not shared:
        return 0, 1.0
    start = np.cumsum(size) - size
    n_draws = draws if n * draws <= 50_000_000 else 99  # a limit on the time
    found, as_many = np.empty(n_draws), 0
    for b, k in enumerate(rng.hypergeometric(len(holdout), len(real), n, n_draws)):
        label = np.zeros(n, dtype=np.int64)
        label[rng.choice(n, k, replace=False, shuffle=False)] = 1
        mine = np.add.reduceat(label, start)
        found[b] = mine[mine < size].sum()
        as_many += bool(found[b] >= shared)
        if as_many == _ENOUGH and n_draws == draws:
            return shared, as_many / (b + 1)
    if n_draws == draws:
        return shared, (1 + as_many) / (draws + 1)
    from scipy.special import ndtr

    return shared, float(ndtr((found.mean() - shared) / max(found.std(ddof=1), 1e-9)))
