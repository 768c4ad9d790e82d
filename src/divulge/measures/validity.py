"""Whether synthetic values are such as the real table or its rules allow: ranges, lists, keys, relations."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from divulge.case.case import Case
from divulge.measures._counted import counted_results
from divulge.measures._extremes import broken
from divulge.measures.entry import MeasureWords
from divulge.measures.registry import measure
from divulge.measures.result import TOLERANCE, FidelityResult
from divulge.measures.shared_extremes import with_extremes
from divulge.measures.verdicts import judged

__all__ = ["keys_p", "validity"]

_OF_KEYS = 0.25
"""Share of the chance of a false finding that keys have: each repeated one halves a p-value, so that they need less."""


@measure(
    family="validity",
    question="Does the synthetic table have values that the real one does not allow, more than a fresh sample would?",
    needs="any columns; a holdout shows how often real people break the limits of the real table",
    reference="Good 1953 (new values of a sample); Rosenbaum 1954 (values beyond the extremes of a sample).",
    better="lower",
    null="The rows of both tables are dealt into blocks and the blocks relabelled 999 times.",
    words=MeasureWords(
        what=(
            "Synthetic rows with a value that no real row has, outside the range of the real numbers, or beyond limits "
            "that the schema states; keys that repeat where no real key does."
        ),
        formula=(
            "new value, out of range: d = share of synthetic rows\n"
            "stated limit: d = |share of real rows beyond it - share of synthetic rows|\n"
            "key: d = share of synthetic rows whose key is missing or has occurred before"
        ),
        reading=(
            "A fresh sample is not at 0: about 2 / (n + 1) of its rows are outside the range of n real numbers. A "
            "table that never is may have copied extremes, which belong to single people: with a holdout, those that "
            "one real person alone has are looked for among synthetic rows and among strangers."
        ),
        silent=("Rules between columns: column_rules looks for them.",),
    ),
    share=0.5,  # the other half is that of column_rules
)
def validity(case: Case, *, tolerance: float = TOLERANCE) -> tuple[FidelityResult, ...]:
    """Return how often synthetic values break the limits of the real table, and a fresh sample's would.

    The first result is the mean over columns and limits; it differs where any does. p-values are corrected over all of
    them (max-T). Keys stand for themselves: identifiers that no real row repeats. A quarter of the chance of a false
    finding is theirs where there are any.

    Parameters
    ----------
    tolerance
        The largest difference that does not matter.

    Examples
    --------
    >>> import polars as pl
    >>> real = pl.DataFrame({"x": [i / 7 for i in range(500)]})
    >>> found = validity(real, pl.DataFrame({"x": [i / 6 for i in range(500)]}))
    >>> found[1].variant, found[1].value, found[1].verdict
    ('out of range', 0.144, 'differs')
    """
    found = with_extremes(case, counted_results(case, "validity", tolerance, broken, "no column can be compared"))
    keys = _keys(case, tolerance)
    if not keys:
        return found
    return tuple(
        judged(r if r.p_adjusted is None else replace(r, p_adjusted=min(1.0, r.p_adjusted / share)), case.level)
        for results, share in ((found, 1 - _OF_KEYS), (keys, _OF_KEYS / len(keys)))
        for r in results
    )


def _keys(case: Case, tolerance: float) -> list[FidelityResult]:
    """Return a result for each identifier that no real row repeats or lacks."""
    out = []
    for name in sorted(case.schema.names("identifier")):
        real, synthetic = (case.pooled(name).counts[i] for i in (0, 1))
        n, m = int(real.sum()), int(synthetic.sum())
        if real[0] or (real > 1).any() or min(n, m) < 2:
            continue
        repeated, absent = int((synthetic[1:] - 1)[synthetic[1:] > 1].sum()), int(synthetic[0])
        p = keys_p(real, synthetic)
        value = (repeated + absent) / m
        result = FidelityResult(
            measure="validity", variant="key", columns=(name,), value=value, low=value, high=value, p_value=p,
            p_adjusted=p, tolerance=tolerance, n=n, m=m, notes=("no real key is missing or repeated",),
            context={"repeated": repeated, "missing": absent},
        )  # fmt: skip
        out.append(result)
    return out


def keys_p(real: NDArray[np.int64], synthetic: NDArray[np.int64]) -> float:
    """Return how likely it is that the real table has no key that repeats or is missing, if both tables are alike.

    The rows that have a key are dealt to both tables by chance: of each key that repeats in the synthetic table, the
    real one then has at most one row, and no row without a key. Two rows with one key repeat it if one table has both.

    Parameters
    ----------
    real, synthetic
        Rows with each key, shape (n_keys + 1,), first those without one. No real key is missing or repeats.

    Examples
    --------
    >>> keys_p(np.array([0, 1, 1, 0]), np.array([0, 0, 0, 2])), keys_p(np.array([0, 1, 1]), np.array([1, 1, 0]))
    (0.5, 0.5)
    """
    n, m = int(real.sum()), int(synthetic.sum())
    ours, theirs = n / (n + m), m / (n + m)
    rows = (real[1:] + synthetic[1:])[synthetic[1:] > 1].astype(np.float64)
    chances = theirs**rows + rows * ours * theirs ** (rows - 1)
    chances = np.where(rows == 2, theirs**2 / (ours**2 + theirs**2), chances)
    return float(np.prod(chances) * theirs ** int(synthetic[0]))
