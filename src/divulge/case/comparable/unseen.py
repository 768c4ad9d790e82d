"""Whether the synthesizer seems to have seen the holdout."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from divulge.case.case import Case
from divulge.case.comparable.check import NOT_IN_MEMORY, data_hash, numbers, record_columns
from divulge.case.distances import distances_of
from divulge.case.invariant_order import canonical_of
from divulge.core.distinct_values import distinct_values
from divulge.core.records import Precondition
from divulge.kernels.neighbours.index import Index

__all__ = ["Matches", "holdout_unseen", "matches"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_LEVEL = 0.001
_MOST = 2 / 3
"""Share of synthetic matches among one-sided ones that a harmless generator may reach: it may put rows twice as often
near to strangers as real people are, since some seek the modes. Simulated: tests/calibration."""
_LEAST_EQUAL, _LEAST_NEAR = 0.005, 0.02
"""Share of the holdout by which the synthetic matches must exceed what `_MOST` explains. In large tables the p-value
alone fails generators that put rows where people are dense; of these, even ones that halve every spread stay below a
share of .012 within the radius and .004 of equal rows (simulated at 10,000 people). Start values."""
_SEEN = 0.1
"""Share of the holdout that must show for the check to count as tested: a tenth of it verbatim."""
_OTHERS, _APART = 5, 0.5
"""A row within the radius counts where it is at most half as far as the fifth nearest of its table. Of 40 numbers a
generator that narrows every spread to .8 puts rows within the radius of ten times as many strangers as real people are,
but no row nearer to one than its other rows."""
_QUANTILE = 0.01
"""The radius is this quantile of the holdout's distances to their nearest real record, as for near copies."""


@dataclass(frozen=True, slots=True)
class Matches:
    """Distinct holdout records that match a row of one table and none of the other."""

    synthetic: int
    """They match a synthetic row and no real one."""
    real: int
    """They match a real row and no synthetic one."""
    neither: int
    n: int
    radius: float | None = None
    """None for equal rows."""

    @property
    def p(self) -> float:
        """The probability of as many synthetic matches, if of three one-sided matches two are expected to be such."""
        return _tail(self.synthetic, self.synthetic + self.real)

    @property
    def fails(self) -> bool:
        """Whether a synthesizer that did not see the holdout hardly explains the matches."""
        least = _LEAST_EQUAL if self.radius is None else _LEAST_NEAR
        return self.p < _LEVEL and self.synthetic - self.real * _MOST / (1 - _MOST) >= least * self.n

    @property
    def would_show(self) -> bool:
        """Whether a tenth of the holdout, if it stood in the synthetic table, would fail the check."""
        lost, won = int(_SEEN * self.real), int(_SEEN * self.neither)
        return replace(self, synthetic=self.synthetic + won, real=self.real - lost).fails


def _tail(k: int, n: int) -> float:
    from scipy.special import bdtrc

    return float(bdtrc(k - 1, n, _MOST)) if k else 1.0


def holdout_unseen(case: Case, *, near: bool = True) -> Precondition | None:
    """Return whether more of the holdout stands in the synthetic table alone than a synthesizer without it explains.

    A stranger matches the synthetic table as he matches other people: by coincidence. So of the holdout records that
    match either a synthetic or a real row, about half match the synthetic one; the check allows two thirds. Without
    `near` equal rows alone are counted, for which no neighbours are searched.
    """
    if not case.has_holdout:
        return None
    name = "holdout unseen"
    if not case.in_memory:
        return Precondition(check=name, ok=True, tested=False, detail=NOT_IN_MEMORY)
    found = matches(case, near=near)
    worst = min(found, key=lambda m: m.p)
    equal, close = found[0], found[-1]
    told = (
        f"{equal.synthetic:,} of {equal.n:,} holdout rows equal a synthetic row and no real one, {equal.real:,} of "
        f"{equal.n:,} a real row and no synthetic one"
    )
    if close is not equal:
        told += (
            f"; {close.synthetic:,} of {close.n:,} nearly equal a synthetic row alone (within {close.radius:.4g}), and "
        )
        told += f"{close.real:,} of {close.n:,} a real one"
    made: dict[str, float] = {
        "equal a synthetic row alone": equal.synthetic,
        "equal a real row alone": equal.real,
        "of": equal.n,
    }
    if close.radius is not None:
        made |= {"near a synthetic row alone": close.synthetic, "near a real row alone": close.real}
        made |= {"of near": close.n, "within": close.radius}
    made["p"] = worst.p
    if any(m.fails for m in found):
        return Precondition(
            check=name,
            ok=False,
            detail=f"the synthesizer seems to have seen the holdout: {told} (p = {worst.p:.2g}); strangers then hide "
            "what members lose. Use people who were never given to the generator",
            numbers=numbers(made),
        )
    if not any(m.would_show for m in found):
        return Precondition(
            check=name,
            ok=True,
            tested=False,
            detail="not tested: the tables are too coarse or too small, a tenth of the holdout in the synthetic table "
            f"would not show; {told}",
            numbers=numbers(made),
        )
    return Precondition(check=name, ok=True, detail=told, numbers=numbers(made))


def matches(case: Case, *, near: bool = True) -> tuple[Matches, ...]:
    """Return the one-sided matches of the holdout: of equal rows, and within the radius where columns enter a distance.

    The longer of real and synthetic is thinned to the length of the other, without regard to the holdout. Each distinct
    holdout record counts once, and with units each unit: it has to match on one side more often than on the other.
    """
    chosen = _thinned(case)
    columns = record_columns(case)
    # as signed numbers: older numpy fails to look up few large unsigned ones
    real, synthetic, holdout = (case.encoded.row_hashes(columns, i).view(np.int64) for i in range(3))
    units = case.units("holdout")
    # with units every row is asked for: of equal rows, the first one's unit would depend on the order of rows
    asked = distinct_values(holdout) if units is None else holdout
    found = [_counted(np.isin(asked, synthetic[chosen[0]]), np.isin(asked, real[chosen[1]]), units)]
    if near and case.schema.usable():
        found.append(_near(case, chosen, units))
    return tuple(found)


def _near(case: Case, chosen: tuple[Ints, Ints], units: Ints | None) -> Matches:
    distances = distances_of(case)
    strangers = distances.distinct("holdout", always=True)
    asked = strangers.first() if units is None else np.arange(len(strangers))
    far: list[Floats] = []
    for role, rows in zip(("synthetic", "real"), chosen, strict=True):
        if len(rows) == case.n_rows(role):
            far.append(distances.nearest("holdout", role, _OTHERS).distances[asked])
        else:
            index = Index(distances.ruler, distances.rows(role).take(rows))
            far.append(index.nearest(strangers.whole.take(asked), _OTHERS).distances)
    to_real = np.sort(far[1][:, 0])
    radius = float(to_real[max(1, int(np.ceil(_QUANTILE * len(to_real) - 1e-9))) - 1])
    radius = radius if np.isfinite(radius) else 0.0
    # distances that differ only by rounding count as equal
    near = [f[:, 0] <= np.minimum(radius, _APART * f[:, -1]) * (1 + 1e-9) + 1e-12 for f in far]
    return _counted(near[0], near[1], units, radius)


def _counted(synthetic: Bools, real: Bools, units: Ints | None, radius: float | None = None) -> Matches:
    lead = synthetic.astype(np.int64) - real
    touched = synthetic | real
    if units is not None:
        _, unit = np.unique(units, return_inverse=True)
        lead = np.bincount(unit, weights=lead).astype(np.int64)
        touched = np.bincount(unit, weights=touched) > 0
    return Matches(int((lead > 0).sum()), int((lead < 0).sum()), int((~touched).sum()), len(lead), radius)


def _thinned(case: Case) -> tuple[Ints, Ints]:
    """Return the rows of the synthetic and of the real table to search, as many of one as of the other."""
    sizes = case.n_rows("synthetic"), case.n_rows("real")
    few = min(sizes)
    out = []
    for which, n in zip((1, 0), sizes, strict=True):
        rows = np.arange(n)
        if n > few:
            rng = case.rng(f"holdout unseen {data_hash(case)}")
            order = canonical_of(case, record_columns(case), (which,)).order(which)
            rows = np.sort(order[rng.choice(n, few, replace=False)])
        out.append(rows)
    return out[0], out[1]
