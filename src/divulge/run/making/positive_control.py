"""Positive control: plant copies of real people in the synthetic table and check whether the run finds them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, get_args

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from divulge.attacks.membership.exposure import people_of
from divulge.case.case import Case
from divulge.core.errors import SettingError
from divulge.core.hashing import row_hashes
from divulge.core.result import Result, Verdict, label, plain
from divulge.report.control_model import Found, Kind, Planted, PositiveControl, Smallest

__all__ = ["KINDS", "check_share", "planted", "positive_control"]

Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Run = Callable[[Case], tuple[Sequence[Result], Verdict]]
"""Makes the attacks of the run on a case; returns the corrected results and the overall verdict."""

KINDS: tuple[Kind, ...] = get_args(Kind)
"""Random members copied; the members of highest V_k copied; random members copied with small changes."""

METHOD = (
    "smallest share: share * smallest_detectable / (difference with the plant - difference without), since an excess "
    "is linear in the share; with 80% power, corrected for the number of comparisons and of attacks; singling "
    "out is left out, whose excess grows faster than the share"
)
_NOT_LINEAR = ("singling_out",)
_CLOSE = 0.01  # share of the range by which a number of a near copy moves at most; start value, not calibrated
_TRIES = 20  # draws of a category for a row that equals its original; rows that still do are left


def check_share(share: float, has_holdout: bool, n_synthetic: int = 0) -> None:
    """Raise a `SettingError` if no control can be run with this share."""
    if not 0 < share <= 0.5:
        raise SettingError(
            f"positive_control: {share:g} is outside (0, 0.5]. hint: 0.01 plants copies of people into 1% of the "
            "synthetic rows."
        )
    if n_synthetic and share * n_synthetic < 0.5:
        raise SettingError(
            f"positive_control: {share:g} is less than one of {n_synthetic:,} synthetic rows. hint: "
            f"{1 / n_synthetic:.2g} plants one."
        )
    if not has_holdout:
        raise SettingError(
            "positive_control: without a holdout no excess can be found. hint: give people whom the synthesizer never "
            "saw, with --holdout."
        )


def positive_control(case: Case, share: float, run: Run, without: Sequence[Result]) -> list[PositiveControl]:
    """Return the results of the run with copies of real people in the synthetic table, one entry for each kind of copy.

    Parameters
    ----------
    case
        A case with a holdout and all rows in memory. It is not changed.
    share
        Share of the synthetic rows that are replaced, in (0, 0.5].
    run
        Makes the attacks of the run; called once for each kind, on the case with the planted copies.
    without
        Results of the run without planted copies.

    Returns
    -------
    list
        Entries of `positive_control` of assessment.json. A kind that cannot be planted has no verdict; its note
        says why.

    Raises
    ------
    SettingError
        The share is outside (0, 0.5], or there is no holdout.
    """
    check_share(share, case.has_holdout)
    return [_one(case, kind, share, run, without) for kind in KINDS]


def _one(case: Case, kind: Kind, share: float, run: Run, without: Sequence[Result]) -> PositiveControl:
    entry = PositiveControl(
        kind=kind, share=share, n_planted=0, verdict=None, n_judged=0, found=(), people=None, attacks=(),
        smallest_share=None, method=METHOD, note="",
    )  # fmt: skip
    try:
        altered, people = planted(case, kind, share)
    except SettingError as error:
        return replace(entry, note=str(error))
    results, verdict = run(altered)
    attacks = _smallest_shares(results, without, len(people) / case.n_rows("synthetic"))
    judged = [r for r in results if r.risk is not None and r.verdict is not None]
    return replace(
        entry,
        n_planted=len(people),
        verdict=verdict,
        n_judged=len(judged),
        found=_found(judged, without),
        people=_flags(case, altered, results, people),
        attacks=attacks,
        smallest_share=min((s for a in attacks if (s := a.smallest_share) <= 1), default=None),
    )


def _found(judged: Sequence[Result], without: Sequence[Result]) -> tuple[Found, ...]:
    """Return the comparisons that show an excess, clearest first, and whether each did without the planted copies too.

    That is None where the run without copies did not make the comparison: a search chooses columns by the synthetic
    table, and so may choose others.
    """
    before = {_name(r): r.verdict == "excess found" for r in without}
    out = [
        Found(
            attack=label(r),
            risk=plain(r.risk.value),
            low=plain(r.risk.low_simultaneous),
            high=plain(r.risk.high_simultaneous),
            without=before.get(_name(r)),
        )
        for r in judged
        if r.verdict == "excess found" and r.risk is not None
    ]
    return tuple(sorted(out, key=lambda f: (-(f.low or 0.0), f.attack)))


def _flags(case: Case, altered: Case, results: Sequence[Result], people: Ints) -> Planted | None:
    """Return how many planted people were flagged, how many others, and how many in the run without planted copies.

    None where `exposure` did not run.
    """
    hit = next((r for r in results if (r.attack, r.variant) == ("exposure", "hit")), None)
    if hit is None:
        return None
    settings: dict[str, Any] = {n: hit.settings[n] for n in ("k", "fdr", "neighbour")}
    before, after = (people_of(c, columns=hit.keys or None, **settings).flagged for c in (case, altered))
    if before is None or after is None:
        return None
    n = int(after[people].sum())
    return Planted(
        planted=len(people), flagged=n, others_flagged=int(after.sum()) - n, flagged_without=int(before.sum())
    )


def _smallest_shares(results: Sequence[Result], without: Sequence[Result], share: float) -> tuple[Smallest, ...]:
    """Return for each attack the comparison that would find the smallest share of planted copies, and that share."""
    before = {_name(r): r for r in without}
    best: dict[str, Smallest] = {}
    for r in results:
        alone = before.get(_name(r))
        if alone is None or alone.difference is None or r.difference is None or alone.verdict is None:
            continue
        if r.attack in _NOT_LINEAR:
            continue
        one, other, least = alone.difference.value, r.difference.value, alone.smallest_detectable
        if one is None or other is None or not least or not other > one:
            continue
        found = Smallest(
            attack=label(r),
            difference_without=float(one),
            difference_with=float(other),
            smallest_detectable=float(least),
            smallest_share=float(share * least / (other - one)),
        )
        if r.attack not in best or _by_share(found) < _by_share(best[r.attack]):
            best[r.attack] = found
    return tuple(sorted(best.values(), key=_by_share))


def _by_share(found: Smallest) -> tuple[float, str]:
    return found.smallest_share, found.attack


def _name(result: Result) -> tuple[str, str]:
    return label(result), str(sorted(result.settings.items(), key=str))


# ---------------------------------------------------------------- planting


def planted(case: Case, kind: str, share: float) -> tuple[Case, Ints]:
    """Return the case with copies of real people in its synthetic table, and the row numbers of these people.

    Identifiers, the unit and ignored columns of the replaced rows are kept: a copied identifier alone would be found
    at once. Who is planted, and in which rows, depends on the seed and the values, not on the order of rows.

    Parameters
    ----------
    kind
        One of `KINDS`.
    share
        round(share * synthetic rows) rows are replaced, at least one and at most as many as there are real rows.

    Raises
    ------
    SettingError
        The kind is unknown, or there is no column to compare, so that nobody is unusual.
    """
    if kind not in KINDS:
        raise SettingError(f"positive control: not a known kind. hint: one of {', '.join(KINDS)}.")
    rng = case.rng(f"positive control {kind}")
    columns = sorted(case.whole_record)
    pooled = {c: case.pooled(c).codes for c in columns}
    real, synthetic = (np.stack([_rows(pooled[c][i]) for c in columns], axis=1) for i in (0, 1))
    n = max(1, min(round(share * len(synthetic)), len(real), len(synthetic)))
    order = {"real": np.argsort(row_hashes(real.astype(np.float64)), kind="stable"),
             "synthetic": np.argsort(row_hashes(synthetic.astype(np.float64)), kind="stable")}  # fmt: skip
    away = order["synthetic"][rng.permutation(len(synthetic))[:n]]
    if kind == "unusual people":
        people = _unusual(case, order["real"])[:n]
    else:
        people = order["real"][rng.permutation(len(real))[:n]]
    rows = real[people]
    if kind == "near copies":
        rows = _changed(case, columns, rows, synthetic[order["synthetic"]], rng)
    altered = {c: _replaced(case, c, away, rows[:, j]) for j, c in enumerate(columns)}
    return case.with_synthetic(altered), people


def _rows(codes: Codes | None) -> Codes:
    if codes is None:
        raise SettingError("positive control: a table lives elsewhere. hint: collect it first (.collect(), .pl()).")
    return codes


def _unusual(case: Case, order: Ints) -> Ints:
    """Return the real rows in descending order of V_k."""
    outlierness = np.nan_to_num(people_of(case).real.outlierness, nan=-1.0)
    return order[np.argsort(-outlierness[order], kind="stable")]


def _changed(case: Case, columns: Sequence[str], rows: Codes, donors: Codes, rng: np.random.Generator) -> Codes:
    """Return the rows with each number moved a little; where no number can move, one category is taken from a donor."""
    out = rows.copy()
    numeric = [case.schema[c].kind in ("numeric", "datetime") for c in columns]
    for j in np.flatnonzero(numeric).tolist():
        out[:, j] = _moved(case, columns[j], rows[:, j], rng)
    categories = np.flatnonzero(~np.array(numeric))
    if not len(categories):
        return out
    for _ in range(_TRIES):
        same = np.flatnonzero((out == rows).all(axis=1))
        if not len(same):
            break
        column = categories[rng.integers(0, len(categories), len(same))]
        out[same, column] = donors[rng.integers(0, len(donors), len(same)), column]
    return out


def _moved(case: Case, column: str, codes: Codes, rng: np.random.Generator) -> Codes:
    """Return for each number the code of another level within 1% of the people's range, or its own if there is none."""
    pooled = case.pooled(column)
    levels = pooled.numbers()
    people = (pooled.counts[0] + pooled.counts[2])[1:] > 0
    known = np.isfinite(levels)
    seen = levels[known & people]
    code = np.flatnonzero(known)[np.argsort(levels[known], kind="stable")] + 1
    values = levels[code - 1]
    number = np.where(codes > 0, levels[np.maximum(codes, 1) - 1], np.nan)
    reach = 0.0
    if len(seen):  # the range overflows to infinity for numbers near the limits of float64
        reach = _CLOSE * min(float(seen.max()) - float(seen.min()), float(np.finfo(np.float64).max))
    with np.errstate(over="ignore"):
        first = np.searchsorted(values, number - reach, "left")
        last = np.searchsorted(values, number + reach, "right")
    drawn = rng.random(len(codes))  # always one draw a row, also where no level is within reach
    place = np.searchsorted(values, number)
    n_others = last - first - 1
    chosen = first + np.floor(drawn * np.maximum(n_others, 1)).astype(np.int64)
    chosen += chosen >= place  # its own level is left out
    may = np.isfinite(number) & (n_others > 0)
    return np.where(may, code[np.where(may, chosen, 0)] if len(code) else codes, codes).astype(np.int32)


def _replaced(case: Case, column: str, away: Ints, new: Codes) -> Codes:
    codes = _rows(case.pooled(column).codes[1]).copy()
    codes[away] = new
    return codes
