"""DCR of the synthetic table relative to that of random tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from divulge.attacks.checks import Floats
from divulge.attacks.distance.attracted import middle, prepared_distances
from divulge.attacks.entry import Coarse, Withheld, Words, per_table
from divulge.attacks.registry import MIXED, attack
from divulge.case.case import Case
from divulge.case.invariant_order import Canonical, canonical_of
from divulge.core.result import Result, Value

__all__ = ["dcr_baseline"]

Ints = NDArray[np.int64]

_RANDOM_ROWS = 10_000
"""Most rows of a random table: noise lies far from all rows, so that its search is dear; its median needs no more."""

_DCR_BASELINE_WORDS = Words(
    says="I ask whether the synthetic rows lie nearer to people than rows of pure noise do.",
    knows="The records of the real table, and the whole synthetic table.",
    data=(
        "Columns of numbers, dates or categories, every row in memory; a holdout shows what a table of perfect "
        "quality would give. " + MIXED
    ),
    formula=(
        "value = median distance of synthetic rows to their nearest real row\n"
        "        / the same median of as many random rows, 10,000 at most\n"
        "uniform: numbers uniform over the range of real, categories uniform over its levels\n"
        "permuted columns: each column of real by itself, in random order\n"
        "The value of holdout is the same ratio for holdout rows."
    ),
    reading=(
        "0 means that at least half of the synthetic rows equal a record, 1 that they are as far from people as "
        "noise is, above 1 that they are farther; it is never negative, and undefined where the noise lies at "
        "distance 0. Its baseline is the ratio of the holdout, which is what leak-free data of perfect quality "
        "would give. There is no risk and no verdict."
    ),
    silent=(
        "A small ratio is no leak: a good synthesizer is nearer to people than noise by design.",
        "The median hides any leak of less than half of the rows.",
        "It depends on how unlike people the noise is, which is a matter of the columns.",
    ),
)


@attack(
    family="distance",
    question="Are synthetic rows nearer to people than noise is?",
    needs="numbers or categories",
    reference="SDMetrics 0.32, DCRBaselineProtection.",
    words=_DCR_BASELINE_WORDS,
    compared=False,
    plan=per_table(),
    coarse=Coarse(),
    context={
        "leak-free ratio (that of the holdout)": Withheld(),
        "median of holdout": Withheld(),
        "median of synthetic": Withheld(),
        "median of the random table": Withheld(),
    },
    notes=("a good synthesizer is nearer to people than noise by design: no verdict",),
)
def dcr_baseline(case: Case, *, columns: Sequence[str] | None = None) -> tuple[Result, ...]:
    """Return the median distance to the closest real record, divided by that of a random table.

    The random table has as many rows as the synthetic one, 10,000 at most.

    "uniform": in the random table numbers are uniform over the range of real, categories uniform over its levels, and
    values are missing as often as in real. "permuted columns": each column is that of real in random order. The value
    of holdout is the same ratio for the holdout rows, as for leak-free data of perfect quality. There is no verdict: a
    good synthesizer is nearer to people than noise by design, so a small ratio is no leak, and the median hides a leak
    of less than half the rows.

    Parameters
    ----------
    columns
        Compare only these columns; None takes all that can be compared.

    Examples
    --------
    >>> import polars as pl
    >>> real = pl.DataFrame({"x": [0.5, 1.0, 2.0, 50.0, 100.0]})
    >>> [r.value.synthetic for r in dcr_baseline(real, real)]
    [0.0, None]
    """
    d, notes, settings = prepared_distances(case, columns)
    canonical, n_random = canonical_of(case, d.columns), min(d.n_rows("synthetic"), _RANDOM_ROWS)
    to_real = {
        role: middle(d.nearest(role, "real").distances[:, 0])
        for role in ("synthetic", "holdout")[: 1 + case.has_holdout]
    }
    out = []
    for variant in ("uniform", "permuted columns"):
        rng = case.rng(f"dcr_baseline {variant}")
        noise = [_noise(canonical, j, variant, n_random, rng) for j in range(len(d.columns))]
        random = middle(d.nearest_to(d.rows_of_values(noise), "real").distances[:, 0])
        ratio = {r: m / random if m is not None and random else None for r, m in to_real.items()}
        context: dict[str, float | None] = {"median of the random table": random}
        context |= {f"median of {role}": m for role, m in to_real.items()}
        if case.has_holdout:
            context["leak-free ratio (that of the holdout)"] = ratio["holdout"]
        why = [] if random else ["the random table is at distance 0 by the median: the ratio is undefined"]
        out.append(
            Result(
                attack="dcr_baseline",
                variant=variant,
                settings=settings,
                value=Value(**ratio),
                context=context,
                notes=(*notes, *why, "a good synthesizer is nearer to people than noise by design: no verdict"),
            )
        )
    return tuple(out)


def _noise(
    canonical: Canonical, j: int, variant: str, m: int, rng: np.random.Generator
) -> tuple[Floats | None, NDArray[np.int32]]:
    """Return m random values of a column: their numbers (None for a category) and their codes."""
    codes, given = canonical.sorted_codes(j, canonical.codes(j, 0)), canonical.numbers(j, 0)
    if variant == "permuted columns":
        if given is None:
            return None, codes[_positions(len(codes), m, rng)]
        # numbers in ascending order, then the marks
        known = np.sort(given[~np.isnan(given)])
        marks = codes[codes > 0]
        pick = _positions(len(codes), m, rng)
        numbers = np.concatenate([known, np.full(len(marks), np.nan)])
        return numbers[pick], np.concatenate([np.zeros(len(known), dtype=np.int32), marks])[pick]
    # code 0 is a number, or a missing category; marks and missing values are drawn as often as they occur
    as_it_is = codes[codes > 0] if given is not None else codes[codes == 0]
    n_other = len(codes) - len(as_it_is)
    pick = rng.integers(0, len(codes), m)
    spot = rng.random(m)
    out = np.zeros(m, dtype=np.int32)
    taken = pick >= n_other
    out[taken] = as_it_is[pick[taken] - n_other]
    if given is None:
        levels = codes[codes > 0]
        levels = levels[np.r_[True, levels[1:] != levels[:-1]]] if len(levels) else levels
        out[~taken] = levels[(spot[~taken] * len(levels)).astype(np.int64)]
        return None, out
    known = np.sort(given[~np.isnan(given)])
    finite_ = known[np.isfinite(known)]
    numbers = np.full(m, np.nan)
    if len(finite_):
        low, high = finite_[0], finite_[-1]
        numbers[~taken] = low * (1 - spot[~taken]) + high * spot[~taken]
    elif len(known):
        numbers[~taken] = known[(spot[~taken] * len(known)).astype(np.int64)]
    return numbers, out


def _positions(n: int, m: int, rng: np.random.Generator) -> Ints:
    """Return m of n positions in random order; each position occurs m // n times or once more."""
    return rng.permutation(np.concatenate([np.tile(np.arange(n), m // n), rng.permutation(n)[: m % n]]))
