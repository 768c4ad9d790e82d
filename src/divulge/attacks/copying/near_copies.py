"""Near copies: people who have a synthetic row within a radius that few strangers have to a real record."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from divulge.attacks.checks import Floats, by_record
from divulge.case.case import Case
from divulge.case.distances import Distances, distances_of
from divulge.core.result import Result

__all__ = ["near_copies", "near_result", "on_subsets"]

QUANTILE = 0.01
"""The radius is this quantile of the strangers' distances to their nearest real record: by chance so many of them are
that near. False findings of the choice are calibrated in `tests/calibration/test_copying_calibration.py`."""
_EVERYBODY = 0.75  # sets on which a larger share of people is matched hardly tell people apart; start value


@dataclass(frozen=True, slots=True, eq=False)
class _Near:
    """The people who have a synthetic row within the radius on some columns."""

    columns: tuple[str, ...]
    radius: float
    by_chance: str
    """How the radius was chosen."""
    real: Floats
    """Shape (n_real,), 0 or 1."""
    holdout: Floats | None
    """Shape (n_holdout,)."""

    @property
    def share(self) -> float:
        """The share of members and strangers together who are matched."""
        both = self.real if self.holdout is None else np.concatenate([self.real, self.holdout])
        return float(both.mean()) if len(both) else 0.0


def on_subsets(
    case: Case, subsets: Sequence[tuple[str, ...]], radius: float | None, notes: Sequence[str]
) -> tuple[list[Result], list[str]]:
    """Return a result for each column set that tells people apart, sorted by name."""
    near = [near_copies(case, s, radius) for s in subsets]
    telling = sorted((n for n in near if n.share <= _EVERYBODY), key=lambda n: (len(n.columns), n.columns))
    out = [near_result(case, n, f"near on {len(n.columns)} columns", n.columns, notes, 0) for n in telling]
    left = len(near) - len(telling)
    few = [f"{left} of these sets match more than {_EVERYBODY:.0%} of all people and were left out"] if left else []
    return out, few


def near_copies(case: Case, columns: Sequence[str], radius: float | None, keep: bool = False) -> _Near:
    """Return the people with a near copy; `keep` shares the searches with other attacks on these columns."""
    used = tuple(sorted(columns))
    if case.has_holdout:
        chance = "the 1% quantile of the holdout's distances to their nearest real record"
    else:
        chance = "the 1% quantile of the real records' distances to their nearest other one, for want of a holdout"
    if radius is not None:
        chance = "as given"
    if radius == 0 or (radius is None and _equal_enough(case, used)):
        return _equal(case, used, chance)
    distances = distances_of(case, used) if keep else Distances(case, used)
    if radius is None:
        chances = np.sort(distances.nearest("holdout" if case.has_holdout else "real", "real").distances[:, 0])
        found = chances[_rank(len(chances)) - 1] if len(chances) else np.inf
        radius = float(f"{found:.9g}") if np.isfinite(found) else 0.0  # infinite where there is a single real record
    roles = ("real", "holdout") if case.has_holdout else ("real",)
    # distances that differ only by rounding count as equal: otherwise the unit of a column would matter
    limit = radius * (1 + 1e-9) + 1e-12
    real, *rest = ((distances.nearest(r, "synthetic").distances[:, 0] <= limit).astype(float) for r in roles)
    return _Near(used, radius, chance, real, rest[0] if rest else None)


def _rank(n: int) -> int:
    """Return the index of the quantile among n sorted distances; it is an observed distance, without interpolation."""
    return max(1, math.ceil(QUANTILE * n - 1e-9))


def _equal_enough(case: Case, columns: Sequence[str]) -> bool:
    """Return whether the radius is 0 because so many strangers equal a real record."""
    table = case.contingency(columns, (), binned=False)
    if case.has_holdout:
        return table.n_c == 0 or int(table.c[table.o > 0].sum()) >= _rank(table.n_c)
    return int(table.o[table.o > 1].sum()) >= _rank(table.n_o)


def _equal(case: Case, columns: tuple[str, ...], chance: str) -> _Near:
    table = case.contingency(columns, (), binned=False)
    matched = (table.s > 0).astype(float)
    real, _, holdout = table.cells
    assert real is not None
    return _Near(
        columns, 0.0, chance, matched[real], matched[holdout] if case.has_holdout and holdout is not None else None
    )


def near_result(
    case: Case, near: _Near, variant: str, keys: tuple[str, ...], notes: Sequence[str], draws: int
) -> Result:
    """Return the result of near copies, with a note on the radius."""
    told = f"near: a synthetic row at a distance of at most {near.radius:.4g} (mean over columns, at most 1), "
    told += near.by_chance
    if near.radius == 0:
        told += "; at 0 a near copy is an exact one on the columns compared"
    plain = Result(
        attack="copies",
        variant=variant,
        keys=keys,
        settings={"columns": len(near.columns), "radius": near.radius},
        context={"radius": near.radius},
        notes=(told, *notes),
    )
    step = f"copies near {'+'.join(near.columns)}"
    return by_record(case, plain, near.real, near.holdout, step=step, curves=True, draws=draws)
