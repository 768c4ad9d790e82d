"""The conditions of a policy, and whether a report keeps each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from divulge.attacks.entry import CATALOGUE
from divulge.core.errors import SettingError
from divulge.core.records import CRITICAL, INVALIDATING, OF_LINKED
from divulge.core.result import FOUND, is_compared
from divulge.release import fidelity_rules, rules
from divulge.release.accepted import since
from divulge.release.policy import Policy
from divulge.release.rules import Judged, named, of_all, unfinished
from divulge.report import formatting, policy_model
from divulge.report.model import Assessment, ResultRecord
from divulge.report.policy_model import UNTESTED, Change, Condition, PolicyRule, condition_in_words
from divulge.report.prose.bounds import ALONE, holding
from divulge.report.prose.wp216 import HEADLINE

__all__ = ["broken", "conditions", "judge_policy", "judge_rule", "standing"]

_REPORTED_IF_BROKEN = ("different tables", "same types", "infinite values", "same values", "holdout")
"""Preconditions that a report lists only where they fail."""
_UNTESTED = "not tested"


def conditions(policy: Policy | None, fail_on: Sequence[str] = ()) -> list[str]:
    """Return the conditions of a policy and of further rules, in words.

    Examples
    --------
    >>> conditions(None, ["cap.high > 0.05"])
    ['cap: simultaneous upper limit of risk at most 0.05']
    """
    return [condition_in_words(rule) for rule in _rules(policy, fail_on)]


def judge_policy(
    data: Assessment, policy: Policy | None, fail_on: Sequence[str] = (), previous: Assessment | None = None
) -> policy_model.Policy:
    """Return whether an assessment keeps a policy and further rules, condition by condition.

    Parameters
    ----------
    data
        The assessment, custodian's edition.
    policy
        None where there are only rules; they form a policy named "--fail-on".
    fail_on
        Rules that must not hold, as in --fail-on.
    previous
        An earlier assessment, which may show that a limit was accepted after it.

    Returns
    -------
    Policy
        As in `policy` of assessment.json: name, sha256, kept, conditions. What was not tested is not kept.

    Raises
    ------
    SettingError
        A rule cannot be read or names no attack, or the assessment is an external edition: its numbers are rounded.
    """
    if data.edition == "external":
        raise SettingError(
            "policy: an external edition is not judged, as its numbers are rounded. hint: judge the custodian's "
            "assessment.json."
        )
    asked = _rules(policy, fail_on)
    if policy and policy.preconditions is not False:
        asked += [PolicyRule(kind="precondition", of=c.check) for c in data.preconditions if c.check in OF_LINKED]
    judged = [*standing(data, policy is not None), *(judge_rule(data, rule) for rule in asked)]
    return policy_model.Policy(
        name=policy.name if policy else "--fail-on",
        sha256=policy.sha256 if policy else None,
        kept=all(c.kept for c in judged),
        conditions=tuple(judged),
        **(since(data, policy, previous) if policy else {}),
    )


def broken(judged: policy_model.Policy) -> list[str]:
    """Return a sentence for each condition that is not kept, from the result of `judge_policy`."""
    return [
        f"{c.condition}: " + ("" if c.found == _UNTESTED else f"found {c.found}, ") + c.why
        for c in judged.conditions
        if not c.kept
    ]


def judge_rule(data: Assessment, rule: PolicyRule) -> Condition:
    """Return what a report says of one condition, given by its rule.

    Examples
    --------
    >>> from divulge.report.report import Report
    >>> import divulge, polars as pl
    >>> table = pl.DataFrame({"a": [1, 2, 3]})
    >>> data = divulge.assess(table, table, models=False).assessment
    >>> judge_rule(data, PolicyRule(kind="excess")).found
    '«no holdout»'
    """
    return _condition(rule, _JUDGES[rule.kind](data, rule))


def _condition(rule: PolicyRule, judged: Judged) -> Condition:
    found = judged.found or _UNTESTED
    return Condition(condition=condition_in_words(rule), found=found, kept=judged.kept, why=judged.why, rule=rule)


def _rules(policy: Policy | None, fail_on: Sequence[str]) -> list[PolicyRule]:
    return [*(_of_policy(policy) if policy else ()), *map(_parsed, fail_on)]


def _parsed(rule: str) -> PolicyRule:
    return fidelity_rules.parse_rule(rule, sorted(CATALOGUE))


def _of_policy(policy: Policy) -> list[PolicyRule]:
    out = [PolicyRule(kind="verdict", verdicts=policy.verdicts)]
    if policy.preconditions is not False:
        further = policy.preconditions if isinstance(policy.preconditions, tuple) else ()
        always = [check for check in CRITICAL if check not in OF_LINKED]
        out += [PolicyRule(kind="precondition", of=check) for check in dict.fromkeys((*always, *further))]
    out += [PolicyRule(kind="required", of=attack) for attack in policy.required]
    for attack, limits in policy.attacks.items():
        given = ((f, getattr(limits, f)) for f in limits.__struct_fields__)
        out += [_parsed(f"{attack}.{f} {'<' if f == 'score' else '>'} {v!r}") for f, v in given if v is not None]
    limits_of = policy.limits
    bounded = dict.fromkeys((*policy.primary, *limits_of))
    out += [PolicyRule(kind="bounded", of=attack, limit=limits_of.get(attack)) for attack in bounded]
    out += [PolicyRule(kind="power", of=attack, limit=most) for attack, most in policy.power.items()]
    if policy.positive_control and policy.positive_control.seen:
        out.append(PolicyRule(kind="control", field="seen"))
    if policy.positive_control and policy.positive_control.smallest_share is not None:
        out.append(PolicyRule(kind="control", field="smallest_share", limit=policy.positive_control.smallest_share))
    if policy.change:
        out.append(PolicyRule(kind="change"))
    return out + list(map(_parsed, policy.fail_on))


def standing(data: Assessment, of_policy: bool) -> list[Condition]:
    """Return what breaks every policy and rule, and what breaks every policy, where it does."""
    out = [*_broken_always(data), *(_about_people(data) if of_policy else ())]
    return [_condition(PolicyRule(kind="always", of=of), judged) for of, judged in out]


def _broken_always(data: Assessment) -> list[tuple[str, Judged]]:
    """Return what breaks every policy and rule: a comparison that does not hold, and a run without any comparison."""
    out = []
    invalid = [c for c in data.preconditions if c.check in INVALIDATING and not c.ok]
    if invalid:
        found = formatting.tidy("; ".join(f"{c.check}: {c.detail}" for c in invalid))
        out.append(("comparison", Judged(found, False, "it does not")))
    if not any(is_compared(r) for r in data.results):
        out.append(("compared", Judged("", False, unfinished(data, "any") or "none did")))
    return out


def _about_people(data: Assessment) -> list[tuple[str, Judged]]:
    """Return what breaks every policy: people who are named, and columns in which nobody can be compared."""
    out = []
    f = data.facts
    named_ = 0 if f is None else f.verbatim.named + f.repeated.named + (f.histories.named if f.histories else 0)
    if named_:
        out.append(("nobody named", Judged(f"{named_:,} named", False, "chance can hardly make such a record")))
    if data.verdict.without_strangers:
        lacking = ", ".join(formatting.tidy(repr(c)) for c in data.verdict.without_strangers)
        out.append(("holdout columns", Judged(f"it lacks {lacking}", False, "nothing can be compared there")))
    if alone := holding(data.verdict.not_compared).get(ALONE):
        lacking = ", ".join(formatting.tidy(repr(c)) for c in alone)
        out.append(("real columns", Judged(f"it lacks {lacking}", False, "nothing can be compared there")))
    return out


def _judged(found: str, why: str) -> Judged:
    return Judged(found, not why, why)


def _verdict(data: Assessment, rule: PolicyRule) -> Judged:
    verdict = data.verdict.verdict
    return _judged(f"«{verdict}»", "" if verdict in rule.verdicts else "not allowed")


def _precondition(data: Assessment, rule: PolicyRule) -> Judged:
    made = [c for c in data.preconditions if c.check == rule.of]
    if made:
        detail = formatting.tidy("; ".join(c.detail for c in made))
        if not all(c.tested for c in made):
            reason = "; ".join(c.detail.partition(";")[0].removeprefix("not tested: ") for c in made if not c.tested)
            return _judged("", f"{UNTESTED}: {formatting.tidy(reason)}" if reason else UNTESTED)
        return _judged(detail, "" if all(c.ok for c in made) else "it fails")
    if rule.of in _REPORTED_IF_BROKEN:
        return _judged("nothing against it", "")
    if rule.of == "units apart" and data.settings.unit is None:
        return _judged("no column of units was named", "")
    return _judged("", UNTESTED)


def _bounded(data: Assessment, rule: PolicyRule) -> Judged:
    own = [b for b in data.verdict.bounds if b.attack == rule.of]
    if not own:
        return _judged("", unfinished(data, rule.of) or "it has no bound")
    limit = data.settings.acceptable if rule.limit is None else rule.limit
    wide = [b for b in own if (not b.bounded if b.limit is None else b.limit > limit)]
    return _judged("not bounded" if wide else "bounded", f"above {limit:.12g}" if wide else "")


def _required(data: Assessment, rule: PolicyRule) -> Judged:
    reached = _with_strangers(data, rule.of)
    n = len(reached)
    missing = unfinished(data, rule.of)
    asked = {r.target for r in data.results if r.attack == rule.of and rule.of in HEADLINE}
    silent = len(asked - {r.target for r in reached})
    if n and silent and not missing:
        missing = of_all(silent, len(asked), "target{s} {were} compared with nobody")
    if n:
        return _judged(f"{n} {'comparison' if n == 1 else 'comparisons'} with strangers", missing)
    if missing or not any(r.attack == rule.of for r in data.results):
        return _judged("", missing or "it did not run")
    return _judged("", "it ran, and nothing was compared with strangers")


def _with_strangers(data: Assessment, attack: str) -> list[ResultRecord]:
    """Return the results of an attack, or of "any", that attacked members and strangers."""
    return [
        r
        for r in data.results
        if attack in ("any", r.attack)
        and r.verdict is not None
        and all(side and side.n for side in (r.real, r.holdout))
    ]


def _power(data: Assessment, rule: PolicyRule) -> Judged:
    compared = _with_strangers(data, rule.of)
    own = [r for name in dict.fromkeys(r.attack for r in compared) for r in _headline(name, compared)]
    names = dict.fromkeys(r.attack for r in data.results if r.verdict is not None)
    silent = [a for a in names if rule.of in ("any", a) and all(r.attack != a for r in own)]
    if not own or silent:
        nobody = f"no headline comparison of {silent[0]} reached anybody" if silent else ""
        return _judged("", unfinished(data, rule.of) or nobody or "no headline comparison was made")
    found = [(r.smallest_detectable, r) for r in own if r.smallest_detectable is not None]
    lacking = [r for r in own if r.smallest_detectable is None]
    if lacking:
        some = of_all(len(lacking), len(own), "comparison{s} {have} none")
        return _judged("", f"{some}, as {named(lacking[0])}")
    least, worst = max(found, key=lambda f: f[0])
    assert rule.limit is not None
    why = f"above {rule.limit:.12g}" if least > rule.limit else unfinished(data, rule.of)
    return _judged(f"{least:.4g} ({named(worst)})", why)


def _headline(attack: str, results: Sequence[ResultRecord]) -> list[ResultRecord]:
    """Return the comparisons that stand for an attack: of its headline variant, else of the first in the report."""
    own = [r for r in results if r.attack == attack]
    variant = HEADLINE.get(attack, own[0].variant)
    return [r for r in own if r.variant == variant or r.variant.endswith(f", {variant}")]


def _control(data: Assessment, rule: PolicyRule) -> Judged:
    if not data.positive_control:
        return _judged("", "no positive control was run")
    if lacking := [c.kind for c in data.positive_control if c.verdict is None]:
        return _judged("", "; ".join(f"{kind}: could not be planted" for kind in lacking))
    return _all_seen(data) if rule.limit is None else _smallest_share(data, rule.limit)


def _all_seen(data: Assessment) -> Judged:
    without = data.verdict.verdict
    unseen = [
        c.kind
        for c in data.positive_control
        # an excess that is also found without the plant does not show that the plant is seen
        if c.verdict != "excess found" or (without == "excess found" and not any(f.without is False for f in c.found))
    ]
    kinds = [c.kind for c in data.positive_control if c.kind not in unseen]
    return _judged(f"seen: {', '.join(kinds) or 'none'}", f"not seen: {', '.join(unseen)}" if unseen else "")


def _smallest_share(data: Assessment, most: float) -> Judged:
    found, unseen = [], []
    for control in data.positive_control:
        least = min((s for a in control.attacks if (s := formatting.share_seen(a)) is not None), default=None)
        found.append(f"{control.kind}: {'none' if least is None else f'{least:.4g}'}")
        if least is None or least > most:
            unseen.append(control.kind)
    return _judged("; ".join(found), f"not so small: {', '.join(unseen)}" if unseen else "")


def _changed(data: Assessment, rule: PolicyRule) -> Judged:
    change = data.change
    if change is None:
        return _judged("", "no previous run was given")
    verdict = change.verdict
    silent = sum(c.verdict == "cannot compare" for c in change.comparisons)
    nothing = silent == len(change.comparisons)
    gaps = "nothing could be compared" if nothing else f"{silent} comparisons could not be compared"
    why = "a risk rose" if verdict == "rose" else gaps if verdict == "cannot compare" else ""
    return _judged(
        f"«{verdict}»: {formatting.tidy(change.sentence)}",
        why or unfinished(data, "any") or _not_compared(data, change),
    )


def _not_compared(data: Assessment, change: Change) -> str:
    """Return why a verdict on the change is incomplete: a main attack not compared, or a new excess; "" if complete."""
    rows = {(c.attack, c.variant, tuple(c.keys), c.target): c for c in change.comparisons}
    judged = [r for r in data.results if r.verdict is not None]
    for attack in (*HEADLINE, "copies", "membership"):
        made = any(r.attack == attack for r in judged)
        if made and all(c.attack != attack or c.verdict == "cannot compare" for c in rows.values()):
            return f"nothing of {attack} could be compared"
    found = (r for r in judged if r.verdict in FOUND)
    new = [r for r in found if (r.attack, r.variant, tuple(r.keys), r.target) not in rows]
    return f"an excess was found where the previous run made no comparison ({named(new[0])})" if new else ""


_JUDGES: dict[str, Callable[[Assessment, PolicyRule], Judged]] = {
    "verdict": _verdict,
    "excess": rules.judge_rule,
    "precondition": _precondition,
    "required": _required,
    "risk": rules.judge_rule,
    "fidelity": fidelity_rules.judge_rule,
    "bounded": _bounded,
    "power": _power,
    "control": _control,
    "change": _changed,
}
"""How each kind of condition is judged; "always" is judged by `standing`."""
