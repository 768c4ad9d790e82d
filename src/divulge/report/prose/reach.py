"""How far each main test that found nothing excludes a leak, and whether that clears the table, in a clause."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from divulge.core.result import FOUND, Verdict, identity
from divulge.report import formatting, order
from divulge.report.external.rounding import BASE
from divulge.report.model import Assessment, Bound
from divulge.report.prose.bounds import (
    ALONE,
    BY_RUNS,
    NO_RELATION,
    NO_VALUE,
    OTHER_FORM,
    SEES_A_COPY,
    UNLIKE,
    UNREAD,
    holding,
    lacking_in,
    undecided,
    whole_people,
)
from divulge.report.prose.compared import plain_share, quoted
from divulge.report.prose.people import people_in

__all__ = [
    "NOT_BOUNDED",
    "NOT_COMPARED",
    "Reach",
    "clearance",
    "excluded",
    "main_tests",
    "members_of",
    "people_at_most",
    "reaches",
    "ruled_out_beside_findings",
    "test_name",
    "why_open",
]

NOT_BOUNDED = "not bounded"
_WIDE = 0.5  # limit from which a reason is given, and part of a full copy below which that is the reason


@dataclass(frozen=True, slots=True)
class Reach:
    """One main test that found nothing, and the share of people that a leak could still reach."""

    attack: str
    test: str
    state: Verdict
    limit: str
    """The share in percent: of people that of whole people, else of what the test counts."""
    share: float
    """The same as a number; infinite where nothing bounds it."""
    required: bool
    """Whether "none found" asks this test for a bound."""
    why: str = ""
    """Why so little is excluded, where that is less than half; "" elsewhere."""
    target: str | None = None
    """The column whose guesses reach that far; None where it is not one."""
    people: int | None = None
    """The share as a number of members, on average over targets; None where nothing bounds it, or of guesses."""

    of_rows: bool = False
    """Whether the share is one of rows of members, of whom some have several."""

    @property
    def told(self) -> str:
        """The share, and how many members that is at most."""
        if self.of_rows:
            return f"{self.limit} of rows"
        return self.limit if self.people is None else f"{self.limit} ({self.people:,} people)"


_NAMES = {
    "copies": "Copies: equal or nearly equal",
    "dcr": "Copies: nearness",
    "singling_out": "Singling out",
    "linkability": "Linkability",
    "inference": "Inference: by similar rows",
    "cap": "Inference: by equal keys",
    "membership": "Membership",
}


def test_name(attack: str) -> str:
    """Return what a main test is called on the first page: its question, and its way where there are several."""
    return _NAMES.get(attack, attack.replace("_", " ").capitalize())


def reaches(data: Assessment) -> tuple[Reach, ...]:
    """Return the main tests that found nothing, in the order of the questions, each with its largest limit.

    A finding says more than a bound. () where members and strangers cannot be compared.
    """
    if not order.has_holdout(data) or order.in_doubt(data):
        return ()
    found = {r.attack for r in data.results if r.verdict in FOUND}
    worst: dict[str, Bound] = {}
    for b in data.verdict.bounds:
        can_see = b.primary or b.shown is None or b.shown >= SEES_A_COPY
        if b.attack not in found and can_see and (b.attack not in worst or _height(b) > _height(worst[b.attack])):
            worst[b.attack] = b
    known = list(_NAMES)
    ordered = sorted(worst, key=lambda a: known.index(a) if a in known else len(known))
    return tuple(_reach(worst[a], data) for a in ordered)


def main_tests(data: Assessment) -> str:
    """Return what the main tests, which `excluded` names, must do before a table is cleared; "" where none can."""
    if data.verdict.verdict not in ("none found", "cannot tell"):
        return ""
    n = sum(x.required for x in reaches(data))
    policy = ", or what the policy accepts" if any(b.acceptable is not None for b in data.verdict.bounds) else ""
    which = f"All {n} main tests" if n > 1 else "The main test"
    return f"{which} must rule out a leak above {_limit_set(data)}{policy}." if n else ""


def excluded(data: Assessment) -> str:
    """Return which share of members a leak could reach by each main test, where that is little enough and where not."""
    required = [x for x in reaches(data) if x.required]
    out, open_ = ([x for x in required if (x.state == "none found") == bounded] for bounded in (True, False))
    told = [f"{_name(x.test)} {x.limit}{_in_people(x, data, first=not i)}" for i, x in enumerate(out)]
    left = [
        f"{_of(x)} not bounded"
        if x.limit == NOT_BOUNDED
        else f"{_of(x)} up to {x.limit}{_in_people(x, data, first=not i and not out)}"
        for i, x in enumerate(open_)
    ]
    accepted = any(b.acceptable is not None for b in data.verdict.bounds)
    limit = "" if accepted or all(x.limit == NOT_BOUNDED for x in open_) else f" (limit {_limit_set(data)})"
    sure = f"A leak could reach at most ({100 * data.settings.level:g}% confidence each): {_some(told)}."
    return " ".join([sure] * bool(told) + [f"Not ruled out{limit}: {_some(left)}."] * bool(left))


def ruled_out_beside_findings(data: Assessment) -> str:
    """Return what single main tests rule out where every attack found a leak by another test."""
    found = {identity(r) for r in data.results if r.verdict in FOUND}
    primary = [b for b in data.verdict.bounds if b.primary]
    out = [b for b in primary if b.bounded and identity(b) not in found]
    others = [b for b in primary if b not in out]
    all_found = all(identity(b) in found for b in others)
    if not out:
        return "Nothing: every main test found a leak." if all_found else "Nothing: every attack found a leak."
    limits = [_reach(b, data) for b in out]
    told = [
        f"{b.words} above {x.limit}{_in_people(x, data, first=not i)}"
        for i, (b, x) in enumerate(zip(out, limits, strict=True))
    ]
    why = (
        "every other main test found a leak"
        if all_found
        else "the other main tests found a leak or rule out too little"
    )
    return f"{formatting.capitalized(_some(told))}. Nothing else: {why}."


def _of(x: Reach) -> str:
    """Return a main test, with the column whose guesses reach as far as is told."""
    return f"{_name(x.test)} (“{formatting.name(x.target)}”)" if x.target is not None else _name(x.test)


def _in_people(x: Reach, data: Assessment, *, first: bool) -> str:
    """Return how many members a share is at most; the first time with how many there are."""
    n = members_of(data)
    if x.of_rows:
        return " of rows of members"
    if x.people is None or n is None:
        return " of members" * first
    return f" of members ({x.people:,} of {n:,} people)" if first else f" ({x.people:,})"


def _some(parts: Sequence[str]) -> str:
    more = len(parts) - _FEW
    return ", ".join(parts[:_FEW]) + (f" and {more} more" if more > 0 else "")


_FEW = 8  # main tests that a sentence names at most


def _limit_set(data: Assessment) -> str:
    return f"{100 * data.settings.acceptable:g}%"


def members_of(data: Assessment) -> int | None:
    """Return how many people are in the real table; where rows are people, its rows."""
    return people_in(data.tables.real)


def people_at_most(share: float, data: Assessment, most: float = 1.0) -> int | None:
    """Return how many members a share is at most, in an external edition as a multiple of five; None of unknown many.

    A part of a person is one more, but not above the share `most` that is known to hold.

    Examples
    --------
    >>> from types import SimpleNamespace as Of
    >>> real = Of(rows=1500, units=None)
    >>> [people_at_most(0.0109, Of(edition=e, tables=Of(real=real))) for e in ("custodian", "external")]
    [17, 20]
    """
    n, step = members_of(data), BASE if data.edition == "external" else 1
    if n is None:
        return None
    return whole_people(share, n, most, step)


def _height(bound: Bound) -> float:
    return float("inf") if not bound.bounded and bound.limit is None else bound.limit or 0.0


def _reach(bound: Bound, data: Assessment) -> Reach:
    name = test_name(bound.attack) + ("" if bound.primary else " (no main test)")
    state: Verdict = "none found" if bound.bounded else "cannot tell"
    most, people, n = _most(bound, data), None, members_of(data)
    share = bound.limit if bound.limit is not None else most if bound.bounded else None
    of_rows = _of_rows(bound, data)
    if share is not None and n and not of_rows and not formatting.of_guesses(bound.attack):
        people = people_at_most(share, data, most if bound.bounded else 1.0)
    return Reach(
        bound.attack,
        name,
        state,
        _limit(bound, data) if people is None or not n else plain_share(people / n, 10_000),
        _height(bound),
        bound.primary,
        _why(bound),
        bound.target,
        people,
        of_rows,
    )


def _of_rows(bound: Bound, data: Assessment) -> bool:
    """Return whether a bound is one of rows of members, of whom some have several."""
    return any(formatting.of_rows(r.real) for r in data.results if identity(r) == identity(bound))


def _why(bound: Bound) -> str:
    if bound.limit is None or bound.limit < _WIDE:
        return ""
    if bound.shown is not None and bound.shown < _WIDE:
        return f"a copy of the whole real table would reach {plain_share(bound.shown, 10_000)} here"
    return "there are too few people"


def _most(bound: Bound, data: Assessment) -> float:
    """Return the limit that a bound must keep: what a policy accepts, else that of the run."""
    return data.settings.acceptable if bound.acceptable is None else bound.acceptable


def _limit(bound: Bound, data: Assessment) -> str:
    if bound.limit is None:
        return plain_share(_most(bound, data), 10_000) if bound.bounded else NOT_BOUNDED
    of = " of descriptions" if formatting.of_guesses(bound.attack) else ""
    return f"{plain_share(max(0.0, bound.limit), 10_000)}{of}"


# ---------------------------------------------------------------- why a table is cleared, or is not

NOT_COMPARED = {
    UNREAD: "the values could not be read as the numbers or dates that they look like",
    ALONE: "the real table has no such column",
    NO_VALUE: "no value stands in both the synthetic and the real table",
    BY_RUNS: "the words of its texts were compared by runs of eight alone",
    OTHER_FORM: "its synthetic values are written in a form that no comparison reads",
    NO_RELATION: "no relation leads from there to the people",
    UNLIKE: "most synthetic values stand in no real record",
}


def clearance(data: Assessment) -> str:
    """Return in a clause why a table is cleared, or is not; "" where something was found."""
    verdict = data.verdict.verdict
    if verdict in FOUND:
        return ""
    if verdict == "no holdout":
        return "nobody to compare with"
    if order.in_doubt(data):
        return "members and strangers cannot be compared"
    limit = f" (limit {_limit_set(data)})"
    required = [x for x in reaches(data) if x.required]
    if verdict == "none found":
        widest = max((x for x in required if x.limit != NOT_BOUNDED), key=lambda x: x.share, default=None)
        accepted = any(b.acceptable is not None for b in data.verdict.bounds)
        return f"a leak could reach {widest.limit} at most{'' if accepted else limit}" if widest else ""
    what, why = _by_others(data)
    if what:
        return f"{what}: {why}"
    left = sorted((x for x in required if x.state == "cannot tell"), key=lambda x: -x.share)
    if not left:
        return why_open(data)
    if left[0].limit == NOT_BOUNDED:
        return f"{_name(left[0].test)}: too little excluded{limit}"
    more = f" and {len(left) - 1} more" if len(left) > 1 else ""
    return f"{_name(left[0].test)} up to {left[0].limit}{more} not excluded{limit}"


def _name(test: str) -> str:
    question, _, way = test.lower().partition(": ")
    return way if way == "nearness" else f"{question} {way}" if way.startswith("by ") else question


def why_open(data: Assessment) -> str:
    """Return in a few words why a run without a finding cannot say that there is none; "" where it does not know."""
    if why := _by_others(data)[1]:
        return why
    wide = undecided(data.verdict.bounds)
    unfair = {test_name(b.attack): b.why for b in wide if b.why}
    tests = [t for t in reaches(data) if t.required]
    few = [t.test for t in tests if t.state == "cannot tell" and t.test not in unfair]
    need = "needs" if len(few) == 1 else "need"
    told = [f"{len(few)} of {len(tests)} main tests {need} more people"] * bool(few)
    told += [f"{reason} ({name.lower()})" for name, reason in sorted(unfair.items())]
    return ", and ".join(told)


def _by_others(data: Assessment) -> tuple[str, str]:
    """Return what holds the clearance back whatever the main tests exclude, as a noun and in words; "" for nothing."""
    if data.verdict.without_strangers:
        return "columns without strangers", f"the holdout lacks {quoted(data.verdict.without_strangers, 2)}"
    for reason, columns in holding(data.verdict.not_compared).items():
        was = "was" if len(columns) == 1 else "were"
        return "columns not compared", f"{quoted(columns, 2)} {was} not compared, as {NOT_COMPARED[reason]}"
    if data.fidelity_scope is not None and data.fidelity_scope.too_close:
        return "pairs of columns", "pairs of columns are closer to the real table than chance allows"
    if data.verdict.nearer:
        return "nearness", "synthetic rows lie nearest to members somewhat more often than chance gives"
    if lacking := lacking_in(data.verdict.required):
        return "policy", f"the policy asks for no bound of {' and '.join(lacking)}"
    if sum(b.primary for b in data.verdict.bounds) < 2:
        return "coarse values", "the values are so coarse that even a full copy would hardly show"
    return "", ""
