"""Functions that the attacks share: checks of keys and target, results from scores per cell, verdicts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from divulge.core.coded_scores import coded_by_cell
from divulge.core.errors import ColumnError, SettingError
from divulge.core.result import Baseline, Difference, Individual, Rate, Result, Risk, Verdict, counts_rows
from divulge.core.schema import check_columns, column_names
from divulge.kernels.counts.contingency import ContingencyTable
from divulge.stats import LEAST_P, Comparison, Interval, Outcomes, compare, wilson
from divulge.stats.attraction import Attraction
from divulge.stats.isolation import Isolation
from divulge.stats.pairing import Paired

if TYPE_CHECKING:
    from divulge.case.case import Case

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ACCEPTABLE = 0.05
"""Largest risk that counts as none found, where nobody asked for another."""
LEVEL = 0.95
"""Confidence of limits, where nobody asked for another."""
_END = 1e-9  # a limit this near to the end of what is possible has reached it
SHOWN = "part of a full copy of the real table that would show here"
"""Key of a result's context: the residual that a full copy would have. Below 1 an upper limit says less."""
GRID = np.linspace(0.05, 1.0, 20)


def checked_keys(case: Case, keys: Sequence[str], target: str | None = None) -> tuple[tuple[str, ...], list[str]]:
    """Return the keys as a tuple, and notes about keys of unsuitable kinds.

    Raises
    ------
    SettingError
        There are no keys, a key is named twice, or the target is among the keys.
    ColumnError
        The tables do not have one of the columns.
    """
    keys = column_names("keys", keys)
    if not keys:
        raise SettingError("keys: none given. hint: name the columns that the attacker knows.")
    if len(set(keys)) < len(keys):
        raise SettingError("keys: a column is named twice. hint: name each once.")
    check_columns("keys", keys, case.by_table, case.levels)
    if target is not None:
        if not isinstance(target, str):
            raise SettingError("target: expected the name of one column. hint: pass one text.")
        check_columns("target", [target], case.by_table, case.levels)
        if target in keys:
            raise SettingError(f"target: {target!r} is among the keys. hint: what is known cannot be the secret.")
    notes = []
    for name in (*keys, *([target] if target else [])):
        kind = case.schema[name].kind
        if kind in ("identifier", "text", "constant"):
            notes.append(
                f"column {name!r} is of kind {kind} ({case.schema[name].why}) and was used because it was named"
            )
        if case.is_unread(name):
            notes.append(
                f"column {name!r} looks like numbers or dates that could not be read, so that nothing is bounded"
            )
    return keys, notes


def binned_note(case: Case, columns: Sequence[str]) -> list[str]:
    """Return one sentence for each binned column that says how it was binned."""
    return [f"column {c!r}: {how}" for c, how in case.bins_in_words(columns).items()]


def one_of(name: str, value: Any, allowed: Sequence[Any]) -> None:
    """Raise a `SettingError` unless a setting is one of the allowed values."""
    if value not in allowed:
        raise SettingError(f"{name}: not a known setting. hint: one of {', '.join(map(str, allowed))}.")


def outcomes(case: Case, table: ContingencyTable, scores: Floats, role: str) -> Outcomes:
    """Return the scores of the people of a table from the scores of their cells.

    Without units equal records are merged into one entry with a count; with units each row has its own entry.
    """
    which = {"real": 0, "holdout": 2}[role]
    units = case.units(role)
    if units is None:
        counts = (table.o, table.s, table.c)[which]
        occupied = counts > 0
        return Outcomes(scores[occupied], counts[occupied])
    rows = table.cells[which]
    assert rows is not None  # units of tables elsewhere are refused, unless their rows were gathered
    return Outcomes(scores[rows], cluster=units)


def record_result(
    case: Case,
    table: ContingencyTable,
    scores: Floats,
    *,
    attack: str,
    variant: str,
    keys: tuple[str, ...],
    target: str | None,
    baseline: Baseline | None = None,
    settings: dict[str, Any] | None = None,
    context: dict[str, float | None] | None = None,
    notes: Sequence[str] = (),
    judged: bool = True,
) -> Result:
    """Return the result of an attack that gives each record a score in [0, 1], or nan for a record that it skips.

    With `judged=False` the result has rates only and no comparison with strangers.
    """
    step = f"{attack} {variant} {'+'.join(sorted(keys))} {target}"
    members = outcomes(case, table, scores, "real")
    strangers = outcomes(case, table, scores, "holdout") if case.has_holdout else None
    if any(map(case.is_unread, [*keys, *([] if target is None else [target])])):
        context = {**(context or {}), SHOWN: 0.0}  # as text it shows no copy, so that nothing is bounded
    plain = Result(
        attack=attack,
        variant=variant,
        keys=keys,
        target=target,
        settings=settings or {},
        baseline=baseline,
        context=context or {},
        notes=tuple(notes),
        individual=individual(table, scores) if judged or case.in_memory else None,  # else nothing looks at them
    )
    return compared(case, plain, members, strangers, step, judged=judged)


def compared(
    case: Case,
    plain: Result,
    members: Outcomes,
    strangers: Outcomes | None,
    step: str,
    *,
    judged: bool = True,
    curves: bool = True,
    draws: int | None = None,
) -> Result:
    """Return a result with the rates of both sides, and with members compared with strangers where it is judged."""
    plain = replace(plain, real=rate_of(members), curves=_curves(members, strangers) if curves else {})
    if strangers is None:
        return replace(plain, verdict="no holdout" if judged else None)
    plain = replace(plain, holdout=rate_of(strangers))
    if not judged:
        return plain
    draws = case.draws if draws is None else draws
    return judge(plain, compare(members, strangers, level=case.level, rng=case.rng(step), draws=draws), case.level)


def by_record(
    case: Case,
    plain: Result,
    members: Bools | Floats,
    strangers: Bools | Floats | None,
    *,
    once: bool = False,
    step: str = "",
    curves: bool = False,
    draws: int | None = None,
) -> Result:
    """Return the result with the outcomes of people, 0 to 1 or nan, and with members compared with strangers.

    With `once` all records of a unit have the same outcome, and it counts once.
    """

    def outcomes_of(role: str, values: Floats) -> Outcomes:
        units = case.units(role)
        if once and units is not None:
            return Outcomes(values[first_records(units)])
        return Outcomes(values, cluster=units)

    scores, others = members.astype(float), None if strangers is None else strangers.astype(float)
    plain = replace(plain, individual=Individual(real=scores, holdout=others, once=once))
    sides = outcomes_of("real", scores), None if others is None else outcomes_of("holdout", others)
    return compared(case, plain, *sides, step or f"{plain.attack} {plain.variant}", curves=curves, draws=draws)


def first_records(units: NDArray[np.int64]) -> Bools:
    """Return which records are the first of their unit, by which a unit counts once however many records it has."""
    out = np.zeros(len(units), dtype=np.bool_)
    out[np.unique(units, return_index=True)[1]] = True
    return out


def individual(table: ContingencyTable, scores: Floats) -> Individual | None:
    """Return the score of each record; None where neither the rows nor the distinct ones are in memory."""
    real, _, holdout = table.cells
    if real is None:
        return None
    strangers = coded_by_cell(scores, holdout) if table.has_holdout and holdout is not None else None
    return Individual(
        real=coded_by_cell(scores, real), holdout=strangers, real_times=table.times[0], holdout_times=table.times[2]
    )


def rate_of(outcome: Outcomes) -> Rate:
    """Return hits, number of records and rate in the result format."""
    n, hits = outcome.n, outcome.hits
    units = None if outcome.cluster is None else len(np.unique(outcome.cluster[~np.isnan(outcome.value)]))
    return Rate(hits=hits, n=n, rate=hits / n if n else None, units=units)


def _curves(members: Outcomes, strangers: Outcomes | None) -> dict[str, list[float]]:
    curves = {"at_least": GRID.round(2).tolist(), "members": survival(members)}
    return curves if strangers is None else curves | {"strangers": survival(strangers)}


def survival(outcome: Outcomes) -> list[float]:
    """Return the share of people who score at least each value of the grid."""
    value, count = outcome.distinct
    total = float(count.sum())
    if not total:
        return []
    n_reached = np.searchsorted(GRID - 1e-12, value, side="right")  # number of grid levels that each value reaches
    exactly = np.bincount(n_reached, weights=count, minlength=len(GRID) + 1)
    return [float(x) for x in exactly[::-1].cumsum()[::-1][1:] / total]


def judge(result: Result, comparison: Comparison, level: float, acceptable: float = ACCEPTABLE) -> Result:
    """Return the result with difference, risk, p-value, smallest detectable excess and verdict.

    Raises
    ------
    SettingError
        The level is so high that no p-value of this test can reach it.
    """
    highest = highest_level(1, comparison.least_p)
    if level > highest + 1e-12:
        raise SettingError(
            f"level: {level:g} is too high for a p-value by permutation, so that nothing could be found. "
            f"hint: {highest:g} is the highest level here."
        )
    difference, risk = comparison.difference, comparison.risk
    result = replace(
        result,
        difference=shown_difference(difference, difference),
        risk=shown_risk(comparison, risk, level),
        comparison=comparison,
        p_value=finite(comparison.p_value),
        p_adjusted=finite(comparison.p_value),
        smallest_detectable=finite(comparison.detectable(level)),
    )
    return conclude(result, difference, risk, acceptable)


def shown_difference(difference: Interval, together: Interval) -> Difference:
    """Return a difference in the result format, with the limits that hold together."""
    return Difference(
        value=finite(difference.value),
        low=finite(difference.low),
        high=finite(difference.high),
        low_simultaneous=finite(together.low),
        high_simultaneous=finite(together.high),
    )


def shown_risk(comparison: Comparison, together: Interval, level: float) -> Risk:
    """Return the risk of a comparison in the result format, with the limits that hold together and its band."""
    band, risk = comparison.leak_free(level), comparison.risk
    return Risk(
        value=finite(risk.value),
        low=finite(risk.low),
        high=finite(risk.high),
        low_simultaneous=finite(together.low),
        high_simultaneous=finite(together.high),
        level=level,
        method=comparison.method,
        leak_free_low=finite(band.low),
        leak_free_high=finite(band.high),
    )


def highest_level(n_attacks: int, least_p: float = LEAST_P) -> float:
    """Return the highest level at which one finding among so many attacks can survive the correction for them.

    Examples
    --------
    >>> highest_level(1), highest_level(16), highest_level(1, 0.0)
    (0.9995, 0.992, 1.0)
    """
    return 1 - n_attacks * least_p


def conclude(result: Result, difference: Interval, risk: Interval, acceptable: float) -> Result:
    """Return the result with simultaneous bounds, score and verdict; the verdict follows the simultaneous bounds."""
    assert result.risk is not None and result.difference is not None
    alpha = 1 - result.risk.level
    shown = result.context.get(SHOWN, 1.0)
    largest = acceptable * max(0.0, 1.0 if shown is None else shown)
    bare = _excludes_nothing(difference, risk, result.comparison)
    verdict = "cannot tell" if bare else verdict_of(difference, risk, result.p_adjusted, alpha, largest)
    notes = [n for n in result.notes if not n.startswith(_VERDICT_NOTES)]
    if verdict == "cannot tell":
        disagreement = _disagreement(difference, risk, result.p_adjusted, alpha)
        notes.append(f"{CANNOT_TELL}: {bare or disagreement or _too_wide(result, risk, acceptable, shown)}")
    if verdict == "none found" and _beats_prior(result):
        notes.append(INFERENCE_ONLY)
    if verdict == "deficit found":
        notes.append(ABSENT)
    alone, whole = result.risk, result.difference
    if _excludes_nothing(result.comparison.difference, result.comparison.risk, result.comparison):
        alone, whole = replace(alone, low=None, high=None), replace(whole, low=None, high=None)
    if bare:
        difference, risk = (Interval(i.value, math.nan, math.nan) for i in (difference, risk))
    score, outside = score_of(alone, 1.0 if shown is None else min(1.0, shown), verdict)
    if outside:
        notes.append(BOUNDED)
    return replace(
        result,
        verdict=verdict,
        score=score,
        notes=tuple(notes),
        difference=replace(whole, low_simultaneous=finite(difference.low), high_simultaneous=finite(difference.high)),
        risk=replace(alone, low_simultaneous=finite(risk.low), high_simultaneous=finite(risk.high)),
    )


def _excludes_nothing(difference: Interval, risk: Interval, comparison: Comparison) -> str:
    """Return that there are too few people, rows or guesses for limits; "" where there are enough.

    Limits that include 0 and reach the end of what is possible are no limits: they have left the sizes at which their
    formulas hold.
    """
    least, most = comparison.possible
    if not difference.low <= 0 <= difference.high:
        return ""
    if least + _END < difference.low and difference.high < most - _END and not risk.low <= 0 < 1 <= risk.high:
        return ""
    few = {Attraction: "people or synthetic rows", Isolation: "guesses", Paired: "pairs of rows"}.get(
        type(comparison), "people"
    )
    return f"{TOO_FEW} {few} for limits, which would reach the end of what is possible"


def score_of(risk: Risk, visible: float, verdict: Verdict) -> tuple[float | None, bool]:
    """Return the score, and whether its limit lies outside [0, 1]; `visible` is the part of a full copy that shows."""
    if verdict == "deficit found":
        return (None, False) if risk.low is None else (100 * (1 - min(1.0, abs(risk.low))), risk.low < -1)
    if risk.high is None:
        return None, False
    score = None if visible <= 0 else 100 * (1 - min(1.0, max(0.0, risk.high / visible)))
    return score, not 0 <= risk.high <= 1


def hold_back(result: Result, why: str) -> Result:
    """Return the result with the verdict "cannot tell" and a note with the reason."""
    notes = [n for n in result.notes if not n.startswith((CANNOT_TELL, INFERENCE_ONLY, ABSENT))]
    return replace(result, verdict="cannot tell", notes=(*notes, f"{CANNOT_TELL}: {why}"))


def in_doubt(results: Sequence[Result], failing: Sequence[str]) -> list[Result]:
    """Return the results; where members and strangers are not comparable, "none found" becomes "cannot tell".

    These results have no score.
    """
    if not failing:
        return list(results)
    why = f"a precondition fails ({', '.join(failing)}), so that nothing is bounded"
    scoreless = [replace(r, score=None) for r in results]
    return [hold_back(r, why) if r.verdict == "none found" else r for r in scoreless]


CANNOT_TELL = "cannot tell"
TOO_FEW = "too few"
INFERENCE_ONLY = (
    "inference without disclosure: the attack is right about strangers too, more often than the prior; "
    "what it learns is about the population, not about the people in the table"
)
BOUNDED = "the score was bounded: the upper limit of the risk lies outside [0, 1]"
ABSENT = (
    "members are met less often than strangers. Where rows near to members are missing, as a filter leaves them or a "
    "generator that rejects copies of its training rows, absence tells who is a member"
)
_VERDICT_NOTES = (CANNOT_TELL, INFERENCE_ONLY, BOUNDED, ABSENT)


def verdict_of(
    difference: Interval, risk: Interval, p_adjusted: float | None, alpha: float, acceptable: float
) -> Verdict:
    """Return the verdict that follows from the simultaneous bounds.

    "excess found" needs three things: the lower bounds of difference and of risk are above 0, and the adjusted p-value
    is at most alpha. Newcombe's bound alone is above 0 too often where sizes are very unequal and hits are few. For
    fractional scores the lower bound of the difference can be above 0 and that of the risk below, or the reverse.
    "deficit found" needs the same on the other side: both upper bounds below 0.
    """
    unlikely = p_adjusted is not None and p_adjusted <= alpha
    if difference.low > 0 and risk.low > 0 and unlikely:
        return "excess found"
    if difference.high < 0 and risk.high < 0 and unlikely:
        return "deficit found"
    suspect = difference.value > 0 and unlikely
    if np.isfinite(risk.high) and risk.high <= acceptable and not difference.low > 0 and not suspect:
        return "none found"
    return "cannot tell"


def _beats_prior(result: Result) -> bool:
    prior, strangers = result.baseline, result.holdout
    if result.target is None:
        return False  # without a target the baseline is chance, not prior knowledge
    if prior is None or prior.rate is None or strangers is None or not strangers.n:
        return False
    return wilson(*strangers.counted).low > prior.rate


def _disagreement(difference: Interval, risk: Interval, p_adjusted: float | None, alpha: float) -> str:
    """Return in which way limits and p-value disagree about an excess; "" where they agree that there may be none."""
    unlikely = p_adjusted is not None and p_adjusted <= alpha
    say = "limits and p-value disagree; "
    if difference.low > 0 and unlikely:  # of fractional scores the two intervals have different formulas
        return say + "p-value and difference show an excess, but the interval of the risk reaches 0"
    if difference.value > 0 and unlikely:
        return say + "the p-value shows an excess, but the interval of the difference reaches 0"
    if difference.low > 0:
        return say + "the interval of the difference lies above 0, but the p-value shows no excess"
    return ""


def _too_wide(result: Result, risk: Interval, acceptable: float, shown: float | None) -> str:
    """Return why the upper limit is no bound, and how many people would make it one."""
    people = (result.comparison.real.n, result.comparison.holdout.n)
    if not all(people):
        return "nobody is left that the attack reaches"
    if not np.isfinite(risk.high):
        return "strangers are always hit, so that the risk is undefined"
    if risk.high <= acceptable:  # but not that part of it which would show
        return (
            f"of a full copy of the real table only {max(0.0, shown or 0.0):.3f} would show here, so "
            f"that a copied fraction of {acceptable:g} could not be told from none"
        )
    # the half-width shrinks with the square root of the size; at least 1.1, because the present width was too large
    more = max(1.1, ((risk.high - risk.value) / acceptable) ** 2)
    n, m = (int(np.ceil(more * x)) for x in people)
    if isinstance(result.comparison, Isolation):
        return (
            f"the interval is too wide; about {n:,} guesses as independent as these would bring the "
            f"upper limit to {acceptable:g} where there is no excess; more people give more guesses"
        )
    if isinstance(result.comparison, Paired):
        return (
            f"the interval is too wide; about {n:,} pairs of rows would bring the upper limit to {acceptable:g} where "
            "there is no excess"
        )
    also = ", and as many more synthetic rows," if counts_rows(result) else ""
    return (
        f"the interval is too wide; about {n:,} real and {m:,} holdout records that the attack reaches"
        f"{also} would bring the upper limit to {acceptable:g} where there is no excess"
    )


def shown_by(members: Floats, strangers: Floats) -> float | None:
    """Return the residual of the scores that a full copy would give; None where it would always hit strangers."""
    p, q = (Outcomes(x).hits / max(1, len(x)) for x in (members, strangers))
    return max(0.0, (p - q) / (1 - q)) if q < 1 else None


def finite(value: float) -> float | None:
    """Return a number for the result format; None if it is nan or infinite."""
    return float(value) if np.isfinite(value) else None


def marginal_baseline(table: ContingencyTable, margin: Ints | None = None) -> Baseline:
    """Return the success rate of guesses drawn from the target's distribution in the real table, its `margin`."""
    margin = table.target_margin(table.o) if margin is None else margin
    n = table.n_o
    return Baseline(
        rate=float((margin.astype(float) ** 2).sum() / n**2),
        what="guessing in proportion to how often each value occurs",
    )


def modal_baseline(table: ContingencyTable, margin: Ints | None = None) -> Baseline:
    """Return the success rate of guessing the commonest value of the real table, by its `margin`, for everybody."""
    margin = table.target_margin(table.o) if margin is None else margin
    return Baseline(rate=float(margin.max() / table.n_o), what="naming the commonest value")


def require(case: Case, what: str, columns: Sequence[str], kinds: Sequence[str]) -> None:
    """Raise a `ColumnError` unless each column is of one of the kinds."""
    for name in columns:
        if case.schema[name].kind not in kinds:
            raise ColumnError(
                f"{what}: column {name!r} is of kind {case.schema[name].kind}. hint: needs one of {', '.join(kinds)}; "
                "set the kind in the schema if it was inferred wrongly."
            )
