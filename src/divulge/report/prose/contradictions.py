"""Sentences for pairs of statements that seem to contradict each other, and do not."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from divulge.core.result import FOUND
from divulge.measures.shared_extremes import copied_extremes
from divulge.measures.too_close import MEASURES
from divulge.report import formatting, order
from divulge.report.model import Assessment
from divulge.report.prose import use
from divulge.report.prose.people import people_or_rows
from divulge.report.prose.tiles import repeated_person, tiles

__all__ = ["contradictions"]

_NAMED = 3


def contradictions(data: Assessment) -> list[str]:
    """Return one sentence for each pair on the page that seems to contradict itself; [] where none does."""
    if not order.has_holdout(data):
        return []  # nothing is found, and nothing is said to be a leak
    return [told for rule in _RULES if (told := rule(data))]


def _excess_and_nobody_flagged(data: Assessment) -> str:
    s = data.records
    if data.verdict.verdict != "excess found" or s is None or s.flagged != 0 or s.recognised or repeated_person(data):
        return ""
    least = "" if not s.smallest_flaggable or s.smallest_flaggable < 2 else (
        f" With this many strangers, fewer than {s.smallest_flaggable:,} {people_or_rows(data)} cannot be told one by "
        "one."
    )  # fmt: skip
    return f"A leak is found, and nobody is flagged: the leak shows in the sum over people, not in one alone.{least}"


def _flagged_and_no_excess(data: Assessment) -> str:
    s = data.records
    if data.verdict.verdict in FOUND or s is None or not (s.flagged or s.recognised):
        return ""
    n = max(s.flagged or 0, s.recognised or 0)
    return (
        f"{n:,} {people_or_rows(data)} are flagged, and no leak is found: a list of flags has some by luck, and so few "
        "people move no average. Look at them one by one."
    )


def _copied_and_none_found(data: Assessment) -> str:
    if data.facts is None or not order.has_holdout(data):
        return ""
    members, strangers = data.facts.verbatim.members, data.facts.verbatim.strangers or 0
    exact = [r for r in data.results if (r.attack, r.variant) == ("copies", "exact")]
    if not members or any(r.verdict in FOUND for r in exact) or not exact:
        return ""
    telling = data.facts.verbatim.telling
    if telling:
        records = formatting.several(telling, "copied record")
        return (
            f"{records} can hardly come from chance, and the whole records of all people together "
            "are no finding: one person moves no average. Look at each of them."
        )
    if strangers:
        return (
            f"{members:,} people stand in the table word for word, and that alone is no finding: so do {strangers:,} "
            "strangers, whom nobody could have copied. Common records recur by chance."
        )
    return (
        f"{members:,} {'people stand' if members > 1 else 'person stands'} in the table word for word and no stranger "
        "does, and that alone is no finding: so few can be luck."
    )


def _few_questions_find(data: Assessment) -> str:
    """A verdict that comes from an attack of no question."""
    found = {r.attack for r in data.results if r.verdict in FOUND}
    if data.verdict.verdict not in FOUND or not found or any(t.state in FOUND for t in tiles(data)):
        return ""
    names = ", ".join(sorted(a.replace("_", " ") for a in found))
    return f"A leak is found, and no box above shows one: it comes from a further test ({names})."


def _one_person(data: Assessment) -> str:
    if not repeated_person(data) or any(r.verdict in FOUND for r in data.results):
        return ""
    return "A leak is found, and the bars show none: it is about one person, and one person moves no bar."


def _found_and_does_not_hold(data: Assessment) -> str:
    n = sum(r.verdict in FOUND for r in data.results)
    if not n or data.verdict.verdict in FOUND:
        return ""
    if order.in_doubt(data):
        return (
            f"{n:,} comparisons differ between members and strangers, and no leak is said to be found: the two groups "
            "differ by themselves."
        )
    return formatting.unchanged_verdicts(data)


def _right_and_no_leak(data: Assessment) -> str:
    """A target that is guessed right most of the time, of strangers too."""
    if data.verdict.verdict != "none found":
        return ""
    of = [r for r in data.results if r.attack == "inference" and r.target is not None]
    often = [r for r in of if (formatting.rate_of(r.real) or 0) > 0.5 and (formatting.rate_of(r.holdout) or 0) > 0.5]
    if not often:
        return ""
    return (
        "Some secrets are guessed right about most people, and no leak is found: they are guessed as often about "
        "strangers, from patterns of the population. That is no disclosure by this table, and it can still do harm."
    )


def _signs_and_no_excess(data: Assessment) -> str:
    s = data.records
    if s is None or data.verdict.verdict in FOUND or not s.exposed or s.exposed_share_strangers is None:
        return ""
    return (
        f"{formatting.compact(s.exposed)} records stand out by a sign, and that is no finding: of strangers "
        f"{100 * s.exposed_share_strangers:.0f}% do, against {100 * s.exposed_share:.0f}% of members."
    )


def _close_and_nothing_found(data: Assessment) -> str:
    """Pairs or correlations that are closer than another sample's, beside attacks that find nothing."""
    closer = any(r.measure in MEASURES and r.verdict == "closer than a fresh sample" for r in use.headlines(data))
    if data.verdict.verdict in FOUND or not closer or order.in_doubt(data):
        return ""
    if use.is_too_close(data):
        return (
            "No attack sees a copy, and the counts or correlations of pairs of columns are closer to the real ones "
            "than rows drawn from the real table would be. One of the two misses something, so that this run cannot "
            "say “none found”."
        )
    return (
        "Pairs of columns are closer to the real table than other people would be, and no leak is found: synthesizers "
        "learn some of the chance in the real counts without copying anybody."
    )


def _rows_of_both(data: Assessment) -> str:
    """Equal rows in both tables, as a model sees them, beside attacks that find nothing."""
    told = [r for r in data.fidelity if r.measure == "detection" and r.verdict == "closer than a fresh sample"]
    if data.verdict.verdict in FOUND or not told or order.in_doubt(data):
        return ""
    return (
        "A model finds that synthetic rows repeat real ones, and no leak is found: common rows recur by chance, or too "
        "few people are copied to be told."
    )


def _ends_of_the_range(data: Assessment) -> str:
    """Numbers that never leave the real range, as its ends were copied."""
    found = copied_extremes(data.fidelity)
    if found is None or order.in_doubt(data):
        return ""
    more = len(found.columns) - _NAMED
    columns = [formatting.name(c) for c in found.columns[:_NAMED]]
    columns += [formatting.several(more, "more column")] if more > 0 else []
    return (
        f"No synthetic number of {formatting.enumerated(columns)} is outside the real range, and that is no merit: "
        f"{found.shared:,} of {found.of_one:,} smallest or largest values that one person alone has there occur in the "
        f"synthetic table. Over all columns, {formatting.several(found.synthetic, 'synthetic row')} and "
        f"{formatting.several(found.strangers, 'stranger')} have such a value: extremes were copied."
    )


def _kept_and_found(data: Assessment) -> str:
    if data.policy is None:
        return ""
    if data.policy.kept and data.verdict.verdict in FOUND:
        return "The policy is kept, and a leak is found: no condition of the policy asks about it."
    if not data.policy.kept and data.verdict.verdict == "none found":
        return "No leak is found, and the policy is broken: its conditions ask for more than the verdict."
    return ""


def _unseen_plant(data: Assessment) -> str:
    done = [c for c in data.positive_control if c.verdict is not None]
    unseen = [c.kind for c in done if c.verdict != "excess found"]
    if data.verdict.verdict != "none found" or not unseen:
        return ""
    return (
        f"No leak is found, and planted copies ({', '.join(unseen)}) were not seen either: a leak of that kind and "
        "size would not show here."
    )


_RULES: Sequence[Callable[[Assessment], str]] = (
    _excess_and_nobody_flagged, _flagged_and_no_excess, _copied_and_none_found, _few_questions_find, _one_person,
    _found_and_does_not_hold, _right_and_no_leak, _signs_and_no_excess, _kept_and_found, _unseen_plant,
    _close_and_nothing_found, _rows_of_both, _ends_of_the_range,
)  # fmt: skip
