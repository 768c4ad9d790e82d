"""The overall verdict of a run, and its sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite

import numpy as np
from msgspec.structs import replace

from divulge.attacks.checks import ACCEPTABLE, hold_back
from divulge.attacks.entry import CATALOGUE
from divulge.attacks.multiplicity import family_of
from divulge.core.records import INVALIDATING
from divulge.core.result import (
    FOUND,
    TOWARDS,
    Result,
    Verdict,
    counts_guesses,
    counts_rows,
    identity,
    is_compared,
    label,
    number,
    percent,
    tidy,
)
from divulge.report.formatting import of_people, of_rows, rows_or, several
from divulge.report.model import Bound, LeftOut, NotCompared, Overall
from divulge.report.prose.bounds import (
    NO_VALUE,
    bounds_in_words,
    cannot_tell,
    does_not_hold,
    fixed_in_words,
    holding,
    lacking_in,
    none_found,
    undecided,
)
from divulge.run.cost.budget import TIME_UP
from divulge.run.planning.options import Attacker
from divulge.run.planning.primaries import bounds_of, untested
from divulge.stats import holm

__all__ = ["Scope", "adjust_across_families", "downgrade_if_hole", "downgraded", "n_families", "overall"]


@dataclass(frozen=True, slots=True)
class Scope:
    """What a run planned and did not make, and what it cannot compare: all that "none found" depends on."""

    failing: Sequence[str] = ()
    """Critical preconditions that fail."""
    left_out: Sequence[LeftOut] = ()
    """Tests that were not made, as the time was up."""
    planned: Sequence[str] = ()
    """Names of the attacks planned."""
    attacker: Attacker = field(default_factory=Attacker)
    n_members: int = 0
    """Rows of the real table."""
    not_compared: Sequence[NotCompared] = ()
    """Columns that no comparison with strangers looks at."""
    whole_record: Sequence[str] = ()
    """The columns that whole records are compared by."""
    without_strangers: Sequence[str] = ()
    """Columns of real and synthetic that the holdout lacks."""
    person: str = ""
    """A finding about one person, in words."""
    too_close: bool = False
    """Whether pairs of columns, or correlations, are closer to the real table than rows drawn from it would be."""
    primary: Sequence[str] | None = None
    """Attacks whose bounds a policy asks for; None takes those of the catalogue."""
    accepted: Mapping[str, float] = field(default_factory=dict)
    """Largest limits that a policy accepts, by attack."""


def overall(
    results: Sequence[Result],
    has_holdout: bool,
    level: float,
    acceptable: float = ACCEPTABLE,
    scope: Scope | None = None,
) -> Overall:
    """Return the overall verdict of a run: a finding, the bounds that it reached, or why it cannot tell.

    Parameters
    ----------
    results
        Results of the run, corrected within their attacks and over the attacks.
    has_holdout
        Whether there are strangers to compare with.
    level
        Level of the intervals; the bounds of the primary comparisons hold together at it.
    acceptable
        The largest limit of risk that counts as bounded.
    scope
        What the run planned, left out and cannot compare.

    Returns
    -------
    Overall
        "excess found" or "deficit found" where a result says so; "none found" where none does, every primary comparison
        is bounded, nothing that was planned or given is without a comparison, and the counts of pairs of columns are
        not closer than rows drawn from the real table; otherwise "cannot tell". Where a
        precondition fails without which the comparison does not hold, it is "cannot tell" whatever was found.
    """
    scope = scope or Scope()
    if not has_holdout:
        return Overall(verdict="no holdout", sentence=_NO_HOLDOUT, not_compared=tuple(scope.not_compared))
    bounds = tuple(
        replace(b, bounded=False, limit=None, why=why) if (why := _would_not_show(b, scope)) else b
        for b in bounds_of(results, level, acceptable, scope.attacker, scope.n_members, scope.primary, scope.accepted)
    )
    n_judged = sum(r.verdict not in (None, "no holdout") for r in results)  # as the documents count comparisons
    screened = max(0, n_judged - sum(b.primary for b in bounds))
    verdict, sentence = told_verdict(results, level, acceptable, scope, bounds, n_judged, screened)
    return Overall(
        verdict=verdict,
        sentence=sentence,
        bounds=bounds,
        screened=screened,
        not_compared=tuple(scope.not_compared),
        without_strangers=tuple(scope.without_strangers),
        nearer=lean_towards_members(results),
        required=tuple(scope.primary or ()),
    )


def lean_towards_members(results: Sequence[Result]) -> bool:
    """Return whether synthetic rows lie nearest to members more often than chance gives, one-sided at 5%.

    Too little for a finding, this holds "none found" back: the people nearest to synthetic rows say little about rows
    that were blurred much.
    """
    leaning = {(name, e.primary.leans) for name, e in CATALOGUE.items() if e.primary is not None and e.primary.leans}
    return any(
        (r.attack, r.variant) in leaning
        and r.risk is not None
        and (r.risk.value or 0.0) > 0
        and r.p_value is not None
        and r.p_value < _LEANS
        for r in results
    )


def _would_not_show(bound: Bound, scope: Scope) -> str:
    """Return why a copy would not show in a comparison, by the columns that it looks at; "" where it would.

    A whole record is no copy where one of its columns has no value in common; the nearest one is no nearer where all
    have none.
    """
    held = holding(scope.not_compared)
    if named := {*bound.keys, bound.target}.difference([None]):
        return next((why for why, columns in held.items() if named & set(columns)), "")
    apart = set(held.get(NO_VALUE, ()))
    if apart and (bound.attack == "copies" or apart.issuperset(scope.whole_record)):
        return NO_VALUE
    return ""


_LEANS = 0.1  # two-sided, of one side: z > 1.64
_NO_HOLDOUT = (
    "No holdout was given: inference and disclosure are not separated, so no statement about disclosure is made. Give "
    "people whom the synthesizer never saw with --holdout."
)


def told_verdict(
    results: Sequence[Result],
    level: float,
    acceptable: float,
    scope: Scope,
    bounds: Sequence[Bound],
    n_judged: int,
    screened: int,
) -> tuple[Verdict, str]:
    """Return the verdict and its sentence."""
    invalid = [c for c in scope.failing if c in INVALIDATING]
    if invalid:
        return "cannot tell", does_not_hold(invalid)
    compared = [r for r in results if is_compared(r)]
    failing = ", ".join(scope.failing)
    doubt = f" But a precondition fails ({failing}): see there before relying on this." if failing else ""
    by_sign = {v: [r for r in results if r.verdict == v and r.risk is not None] for v in FOUND}
    if excess := _primary_first(by_sign["excess found"], bounds):
        return "excess found", _found_sentence(excess, compared, level) + doubt
    if scope.person:
        return "excess found", f"Excess found: {scope.person[0].lower()}{scope.person[1:]}{doubt}"
    if deficit := _primary_first(by_sign["deficit found"], bounds):
        return "deficit found", _deficit_sentence(deficit, compared, level) + doubt
    if not compared:
        return "cannot tell", "No attack could be compared with strangers." + _gap(results, scope) + doubt
    n = next((r.real.units for r in results if r.real is not None and r.real.units is not None), scope.n_members)
    counted = [identity(r) for r in results if of_people(r) and not of_rows(r.real)]
    reached = bounds_in_words(bounds, acceptable, dict.fromkeys(counted, n))
    largest = _largest_screened(compared, bounds)
    gap = untested(results, scope.planned, scope.primary)
    required = tuple(scope.primary or ())
    open_ = undecided(bounds) or sum(b.primary for b in bounds) < 2
    held = holding(scope.not_compared)
    nearer = lean_towards_members(results)
    lacking = lacking_in(required)
    if scope.failing or gap or scope.without_strangers or held or open_ or scope.too_close or nearer or lacking:
        return "cannot tell", cannot_tell(
            bounds, reached, screened, largest, scope.failing, _in_time(gap, scope), scope.without_strangers,
            scope.not_compared, _cut_short(scope.left_out), scope.too_close, nearer, required,
        ) + _recurring(results, scope)  # fmt: skip
    keys = any(r.keys for r in compared)
    told = none_found(n_judged, reached, screened, largest, keys, scope.not_compared, _cut_short(scope.left_out))
    return "none found", told + fixed_in_words(required, bounds)


def _recurring(results: Sequence[Result], scope: Scope) -> str:
    """Return how many people's values of a column that the holdout lacks stand in the synthetic table."""
    alone = [r for r in results if r.verdict == "no holdout" and set(r.keys) & set(scope.without_strangers)]
    rates = [(tidy(r.keys[0]), r.real) for r in alone if r.real and r.real.hits]
    told = [f"{name!r} of {rate.hits:,.0f} of {rate.n:,} people" for name, rate in rates]
    return f" The synthetic table holds the value of {', '.join(told)}." if told else ""


def _in_time(gap: Sequence[str], scope: Scope) -> list[str]:
    """Return the attacks that compared nobody; the first says where time was the reason."""
    late = {o.attack for o in scope.left_out if o.n == o.of and o.why == TIME_UP}
    return [f"as {TIME_UP}, {gap[0]}", *gap[1:]] if gap and late.issuperset(gap) else list(gap)


def _gap(results: Sequence[Result], scope: Scope) -> str:
    gap = untested(results, scope.planned, scope.primary)
    return f" Not tested: {', '.join(_in_time(gap, scope))}." if gap else ""


def _largest_screened(compared: Sequence[Result], bounds: Sequence[Bound]) -> tuple[float, str] | None:
    """Return the largest upper limit among the screened comparisons, and which has it; None where none has one."""
    primary = {identity(b) for b in bounds if b.primary}
    limits = [(_bound(r, "high_simultaneous"), label(r)) for r in compared if identity(r) not in primary]
    known = [pair for pair in limits if isfinite(pair[0])]
    return max(known, default=None)


def _cut_short(left_out: Sequence[LeftOut]) -> list[str]:
    """Return the tests that a verdict lacks."""
    return [f"{o.n:,} of {o.of:,} of {o.attack}" for o in left_out]


def adjust_across_families(results: Sequence[Result], level: float) -> list[Result]:
    """Return the results; a finding that does not survive Holm's correction over the attacks becomes "cannot tell"."""
    smallest = {_family(r): 1.0 for r in results if r.comparison is not None or _is_alone(r)}
    for r in results:
        if r.verdict in FOUND and r.p_adjusted is not None:
            smallest[_family(r)] = min(smallest[_family(r)], r.p_adjusted)
    adjusted = dict(zip(smallest, holm(np.array(list(smallest.values()))), strict=True))

    def held(r: Result) -> Result:
        if r.verdict not in FOUND or adjusted[_family(r)] <= 1 - level:
            return r
        what = "an excess" if r.verdict == "excess found" else "a deficit"
        return hold_back(r, f"{what} was found within this attack, but not after correction for the number of attacks")

    return [held(r) for r in results]


def n_families(results: Sequence[Result]) -> int:
    """Return the number of families that a finding of a run is corrected for."""
    return len({_family(r) for r in results if r.comparison is not None or _is_alone(r)})


def _is_alone(result: Result) -> bool:
    """Return whether a result is a family of its own."""
    entry = CATALOGUE.get(result.attack)
    return entry is not None and result.variant in entry.alone


def _family(result: Result) -> str:
    return f"{result.attack} ({result.variant})" if _is_alone(result) else family_of(result)


def downgrade_if_hole(results: Sequence[Result]) -> list[Result]:
    """Return the results; where rows near to members are missing, copies and distances cannot say "none found"."""
    if not any(r.attack == "dcr" and r.variant == "hole" and r.verdict == "deficit found" for r in results):
        return list(results)
    why = "rows near to members are missing (dcr, hole), so that what a copy would show was removed with them"
    near = [CATALOGUE[r.attack].family in ("copying", "distance") and r.verdict == "none found" for r in results]
    return [hold_back(r, why) if held else r for r, held in zip(results, near, strict=True)]


def downgraded(results: Sequence[Result]) -> list[Result]:
    """Return the results; those that would say too much beside the others of a run cannot say "none found"."""
    out = downgrade_if_hole(results)
    for hold in (entry.held for entry in CATALOGUE.values() if entry.held is not None):
        out = hold(out)
    return out


def _bound(result: Result, which: str) -> float:
    bound = getattr(result.risk, which)
    return float("-inf") if bound is None else float(bound)


def _primary_first(found: Sequence[Result], bounds: Sequence[Bound]) -> list[Result]:
    """Return the findings among the primary comparisons, or all findings where none of these is primary.

    Findings whose limits lie beyond 0 come before those that a test of scores alone sees.
    """
    primary = {identity(b) for b in bounds if b.primary}
    clear = [r for r in found if r.verdict == "deficit found" or _bound(r, "low_simultaneous") > 0] or list(found)
    return [r for r in clear if identity(r) in primary] or clear


def _found_sentence(found: Sequence[Result], compared: Sequence[Result], level: float) -> str:
    worst = max(found, key=lambda r: _bound(r, "low_simultaneous"))
    if not _bound(worst, "low_simultaneous") > 0:
        return _traces_sentence(worst)
    how = f"{100 * level:.0f}% simultaneous over the {several(_same(worst, compared), 'comparison')} of this attack"
    assert worst.real is not None and worst.risk is not None
    least = number(worst.risk.low_simultaneous)
    if worst.holdout is None:
        beside = "" if worst.baseline is None else f", {percent(worst.baseline.rate)} with {worst.baseline.what}"
        whose = f"the values of {who}" if (who := rows_or("members", worst.real)) != "members" else "members' values"
        text = f"by {label(worst)}, {whose} agree in {percent(worst.real.rate)} with the synthetic row{beside}"
        return f"Excess found: {text}; risk {number(worst.risk.value)}, at least {least}."
    if counts_rows(worst):
        members, strangers = worst.real.counted[0], worst.holdout.counted[0]
        share = members / max(members + strangers, 1e-300)
        return (
            f"Excess found: of the synthetic rows that {worst.attack}{f' ({worst.variant})' if worst.variant else ''} "
            f"counts, {percent(share)} lie nearest to a person of the real table, where leak-free data would give "
            f"{percent(worst.context.get(TOWARDS))}; {percent(worst.risk.value)} of the "
            f"synthetic table is copied by this measure, at least {percent(worst.risk.low_simultaneous)} ({how})."
        )
    knowing = f"knowing {' + '.join(worst.keys)}, " if worst.keys else ""
    about = f" about {worst.target}" if worst.target else ""
    name = f"{worst.attack}{f' ({worst.variant})' if worst.variant else ''}"
    sides = (("the people in the table", worst.real), ("strangers", worst.holdout))
    people = " and ".join(f"{percent(side.rate)} of {rows_or(who, side)}" for who, side in sides)
    hits = worst.hit
    said = f"{knowing}the attack {name} is right{about} for {people}"
    if hits != "right for":
        said = f"by {label(worst)}, {hits} {people}"
    if counts_guesses(worst):
        shares = f"{percent(worst.real.rate)} of the guesses", f"{percent(worst.holdout.rate)} exactly one stranger"
        said = f"by {label(worst)}, {shares[0]} single out exactly one person of the table and {shares[1]}"
    return f"Excess found: {said}; risk {number(worst.risk.value)}, at least {least} ({how})."


def _traces_sentence(result: Result) -> str:
    """Return the sentence of an excess that a test of all scores sees, and the limits of the risk do not."""
    assert result.real is not None and result.holdout is not None and result.risk is not None
    members, strangers = rows_or("members", result.real), rows_or("strangers", result.holdout)
    area = result.context.get("AUC")
    scores = (
        "" if area is None else f" (AUC {number(area)}, chance is 0.5; p = {number(result.p_adjusted)} over all scores)"
    )
    return (
        f"Excess found: by {label(result)}, {members} score higher than {strangers}{scores}. These are many small "
        f"traces: {result.hit} {percent(result.real.rate)} of {members} and {percent(result.holdout.rate)} of "
        f"{strangers}, which chance alone may give (risk {number(result.risk.value)}, simultaneous interval "
        f"{number(result.risk.low_simultaneous)} to {number(result.risk.high_simultaneous)})."
    )


def _deficit_sentence(found: Sequence[Result], compared: Sequence[Result], level: float) -> str:
    clearest = min(found, key=lambda r: _highest(r))
    assert clearest.risk is not None
    same = several(_same(clearest, compared), "comparison")
    how = f"{100 * level:.0f}% simultaneous over the {same} of this attack"
    members, strangers = rows_or("members", clearest.real), rows_or("strangers", clearest.holdout)
    rates = ""
    if clearest.real is not None and clearest.holdout is not None and not counts_rows(clearest):
        rates = f", {percent(clearest.real.rate)} of {members} and {percent(clearest.holdout.rate)} of {strangers}"
    missing = f"{members} are hit less often than {strangers}"
    if CATALOGUE[clearest.attack].family in ("copying", "distance"):
        missing = "rows near to members are missing; absence tells who is a member"
    return (
        f"Deficit found: {missing} ({label(clearest)}{rates}; risk {number(clearest.risk.value)}, at most "
        f"{number(clearest.risk.high_simultaneous)}, {how})."
    )


def _same(result: Result, compared: Sequence[Result]) -> int:
    return max(1, sum(_family(r) == _family(result) for r in compared))


def _highest(result: Result) -> float:
    high = result.risk.high_simultaneous if result.risk else None
    return float("inf") if high is None else high
