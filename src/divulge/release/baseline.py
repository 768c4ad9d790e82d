"""The change since a previous run: an interval for the change of risk of each comparison that both runs made."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace
from scipy.special import ndtr

from divulge.core.errors import SettingError
from divulge.release.fidelity_change import fidelity_change
from divulge.report import formatting
from divulge.report.model import Assessment, ResultRecord
from divulge.report.policy_model import Change, Changed, Moved
from divulge.report.prose.change import change_sentence
from divulge.stats.intervals import holm, normal_quantile
from divulge.stats.mover import Limits, difference

__all__ = ["change"]

_MOVED = ("rose", "fell")


def change(data: Assessment, previous: Assessment) -> Change:
    """Return what changed since a previous run, as `change` of assessment.json.

    Two comparisons are the same when attack, variant, keys and target are equal; comparisons of whole records also need
    equal columns. The comparisons of one attack are a family, with limits by Bonferroni and p-values by Holm; verdicts
    are also corrected over the attacks (Holm). The verdict of the whole is "no change found" only if
    each comparison has a risk with limits in both runs.

    Parameters
    ----------
    data, previous
        The assessment of this run and of the earlier one.

    Raises
    ------
    SettingError
        The earlier one is an external edition without column names, has another level, or has no column of this one.
    """
    _check(data, previous)
    level = float(data.settings.level)
    alike = {c.name for c in data.schema} == {c.name for c in previous.schema}
    now, before = _by_name(data, alike), _by_name(previous, alike)
    both = [k for k in now if k in before]
    rows: list[Changed] = []
    smallest: list[float] = []
    for attack in dict.fromkeys(k[0] for k in both):
        family = _family([(now[k], before[k]) for k in both if k[0] == attack], level)
        rows += family
        smallest.append(min((r.p_adjusted for r in family if r.p_adjusted is not None), default=1.0))
    of_attack = dict(zip(dict.fromkeys(k[0] for k in both), holm(np.array(smallest)), strict=True)) if both else {}
    rows = [
        replace(r, verdict="no change found") if r.verdict in _MOVED and not of_attack[r.attack] <= 1 - level else r
        for r in rows
    ]
    verdict = _overall(rows)
    known = previous.edition == "custodian"
    same = {t: _same_table(data, previous, t) for t in ("real", "holdout", "synthetic")}
    return Change(
        previous_started=previous.started,
        previous_divulge=previous.divulge,
        previous_edition=previous.edition,
        previous_verdict=previous.verdict.verdict,
        same_people=same["real"] and same["holdout"],
        same_synthetic=same["synthetic"],
        level=level,
        new=sum(map(_carries_risk, data.results)) - len(both),
        gone=sum(map(_carries_risk, previous.results)) - len(both),
        comparisons=tuple(rows),
        fidelity=fidelity_change(data, previous),
        verdict=verdict,
        sentence=change_sentence(rows, verdict, previous.started, not known or (same["real"] and same["holdout"])),
    )


def _check(data: Assessment, previous: Assessment) -> None:
    if previous.edition == "external" and "columns" not in previous.revealed:
        raise SettingError(
            "baseline: an external edition, which numbers its columns. hint: give the custodian's assessment.json."
        )
    if data.edition == "external" and "columns" not in data.revealed and previous.edition != "external":
        raise SettingError(
            "assessment: an external edition, which numbers its columns. hint: give the custodian's assessment.json."
        )
    one, other = (d.settings.level for d in (data, previous))
    if one != other:
        raise SettingError(
            f"baseline: its level is {other:g}, that of this run {one:g}. hint: run with --level {other:g}."
        )
    if not {c.name for c in data.schema} & {c.name for c in previous.schema}:
        raise SettingError(
            "baseline: it has no column of these tables. hint: give the assessment.json of an earlier release of the "
            "same data."
        )


def _carries_risk(r: ResultRecord) -> bool:
    return r.risk is not None and r.verdict is not None


def _by_name(data: Assessment, alike: bool) -> dict[tuple[Any, ...], ResultRecord]:
    """Return the results with a risk by attack, variant, keys and target; of several equal ones the first.

    Unless the columns of both runs are `alike`, comparisons of whole records are left out: the records differ.
    """
    out: dict[tuple[Any, ...], ResultRecord] = {}
    for r in data.results:
        if _carries_risk(r) and (alike or r.keys):
            out.setdefault((r.attack, r.variant, tuple(r.keys), r.target), r)
    return out


def _family(pairs: Sequence[tuple[ResultRecord, ResultRecord]], level: float) -> list[Changed]:
    """Return the changes of the comparisons of one attack, corrected for their number."""
    limits = [(_limits(a), _limits(b)) for a, b in pairs]
    p = np.array([math.nan if a is None or b is None else _p_value(a, b, level) for a, b in limits])
    adjusted = holm(p)
    tested = max(1, int(np.isfinite(p).sum()))
    stretch = normal_quantile(1 - (1 - level) / tested) / normal_quantile(level)
    return [
        _row(one, pair, found, float(adjusted[i]), stretch, level)
        for i, (one, pair, found) in enumerate(zip((a for a, _ in pairs), pairs, limits, strict=True))
    ]


def _limits(r: ResultRecord) -> Limits | None:
    value, low, high = (formatting.risk_value(r, which) for which in ("value", "low", "high"))
    return None if value is None or low is None or high is None else (value, low, high)


def _p_value(now: Limits, before: Limits, level: float) -> float:
    """Return the two-sided p-value: 1 minus the level at which a limit of the difference is exactly 0."""
    value, low, high = difference(now, before)
    half = value - low if value > 0 else high - value
    if half <= 0:
        return 1.0 if value == 0 else 0.0
    return float(2 * ndtr(-normal_quantile(level) * abs(value) / half))


def _row(
    r: ResultRecord, pair: tuple[ResultRecord, ResultRecord], limits: tuple[Limits | None, Limits | None],
    adjusted: float, stretch: float, level: float,
) -> Changed:  # fmt: skip
    row = Changed(
        attack=r.attack, variant=r.variant, keys=r.keys, target=r.target, now=formatting.risk_value(pair[0]),
        before=formatting.risk_value(pair[1]), difference=None, low=None, high=None, low_simultaneous=None,
        high_simultaneous=None, p_adjusted=None, verdict="cannot compare",
    )  # fmt: skip
    if limits[0] is None or limits[1] is None:
        return row
    value, low, high = difference(limits[0], limits[1])
    _, under, over = difference(limits[0], limits[1], stretch)
    verdict = "no change found"
    if adjusted <= 1 - level:
        verdict = "rose" if value > 0 else "fell"
    return replace(
        row, difference=value, low=low, high=high, low_simultaneous=under, high_simultaneous=over,
        p_adjusted=adjusted, verdict=verdict,
    )  # fmt: skip


def _overall(rows: Sequence[Changed]) -> Moved:
    """Return the verdict on all comparisons: what changed, else what cannot be compared, and only then no change."""
    verdicts = {r.verdict for r in rows}
    if verdicts == {"no change found"}:
        return "no change found"
    return next((v for v in ("rose", "fell") if v in verdicts), "cannot compare")


def _same_table(data: Assessment, previous: Assessment, role: str) -> bool:
    one, other = (d.tables.by_role()[role] for d in (data, previous))
    if one is None or other is None:
        return one is other
    return bool(one.sha256) and (one.sha256, one.hashed) == (other.sha256, other.hashed)
