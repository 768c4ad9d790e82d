"""The fields of a report that a line of a regime may name, each with the sentence that other documents have too."""

from __future__ import annotations

from collections.abc import Callable

from divulge.report import formatting
from divulge.report.claims.prose import claim_in_words
from divulge.report.model import Assessment
from divulge.report.prose import statement
from divulge.report.prose.bounds import holding
from divulge.report.prose.compared import quoted
from divulge.report.prose.decision import Decision
from divulge.report.prose.people import facts_in_words
from divulge.report.prose.reach import NOT_COMPARED

__all__ = ["FIELDS", "not_compared"]

_NAMED = 8
Field = Callable[[Assessment, Decision], str]


def _evidence(head: str) -> Field:
    return lambda data, told: dict(statement.evidence(data)).get(head, "")


def _knowledge(head: str) -> Field:
    return lambda data, told: statement.knowledge(data)[head]


def _policy(data: Assessment, told: Decision) -> str:
    policy = data.policy
    if policy is None:
        return ""
    broken = sum(not c.kept for c in policy.conditions)
    of = formatting.several(len(policy.conditions), "condition")
    kept = f"{broken} not kept" if broken else "all kept"
    return f"{formatting.prose(policy.name, 120)}: {of}, {kept}."


def _bounds(data: Assessment, told: Decision) -> str:
    """Return how far a leak could still reach by the tests that found nothing, test by test."""
    if not told.reach:
        return told.unbounded
    limits = "; ".join(f"{r.test.replace(': ', ', ')} {r.limit}" for r in told.reach)
    level = f"{100 * data.settings.level:g}% confidence each"
    return f"Tests without a finding leave open ({level}), of members unless named, at most: {limits}."


def _tables(data: Assessment, told: Decision) -> str:
    return "; ".join(
        f"{role} {formatting.compact(t.rows)} rows, {t.columns} columns"
        + (f", sha256 begins with {t.sha256[:12]}" if t.sha256 else "")
        for role, t in data.tables.by_role().items()
        if t
    )


def not_compared(data: Assessment) -> str:
    """Return the columns and tables that nothing compares, and why; "" where nothing is cleared or blocked by them."""
    held = holding(data.verdict.not_compared).items()
    return "; ".join(f"{quoted(names, _NAMED)}, as {NOT_COMPARED[why]}" for why, names in held)


def _untested(data: Assessment, told: Decision) -> str:
    if data.not_tested or data.failed or data.left_out or not_compared(data):
        return told.not_tested
    names = [f"{o.attack.replace('_', ' ')} ({formatting.prose(o.why, 80)})" for o in data.not_run]
    more = f", and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    of = f" Attacks that it did not make: {', '.join(names[:_NAMED])}{more}." if names else ""
    return f"Every question of the report was asked.{of}"


def _unit(data: Assessment, told: Decision) -> str:
    return f"Column of the unit: {formatting.name(data.settings.unit)}." if data.settings.unit else ""


def _edition(data: Assessment, told: Decision) -> str:
    if data.edition == "external":
        return "This is the external edition: counts are multiples of 5, small ones are withheld, no record is in it."
    return "This is the custodian's edition: it has exact counts and names of columns. Others read the external one."


def _facts(place: int) -> Field:
    def told(data: Assessment, _: Decision) -> str:
        facts = facts_in_words(data)
        return (
            facts[place]
            if len(facts) > place
            else ""
            if place == 0 or not facts
            else "No person's record is repeated so often that it stands out."
        )

    return told


def _preconditions(data: Assessment, told: Decision) -> str:
    names = ", ".join(formatting.prose(c.check, 40) for c in data.preconditions)
    return f"{told.preconditions} Looked at: {names}." if names else told.preconditions


def _use(data: Assessment, told: Decision) -> str:
    return next((t.sentence for t in told.tiles if t.id == "use"), "")


FIELDS: dict[str, Field] = {
    "claim": lambda data, told: " ".join(claim_in_words(data)),
    "edition": _edition,
    "facts.repeated": _facts(1),
    "facts.verbatim": _facts(0),
    "fidelity": _use,
    "not_tested": _untested,
    "policy": _policy,
    "positive_control": lambda data, told: _evidence("positive control")(data, told) if data.positive_control else "",
    "preconditions": _preconditions,
    "records": _evidence("average and worst"),
    "settings.acceptable": _evidence("thresholds"),
    "settings.keys": _knowledge("knows"),
    "settings.targets": _knowledge("wants"),
    "settings.unit": _unit,
    "tables": _tables,
    "tables.holdout": _evidence("control set"),
    "verdict": lambda data, told: told.headline,
    "verdict.bounds": _bounds,
    "versions": _evidence("seed and versions"),
}
"""The fields of a report that a line may name, beside what is stated in the schema file, and their sentence."""
