"""How far each main test that found nothing excludes a leak: up to what share of people one could still reach."""

from __future__ import annotations

from dataclasses import dataclass

from divulge.core.result import FOUND, Verdict
from divulge.report import formatting, order
from divulge.report.model import Assessment, Bound
from divulge.report.prose.bounds import SEES_A_COPY
from divulge.report.prose.compared import plain_share

__all__ = ["NOT_BOUNDED", "Reach", "main_tests", "reaches", "test_name"]

NOT_BOUNDED = "not bounded"
_WIDE = 0.5  # limit from which a reason is given, and part of a full copy below which that is the reason


@dataclass(frozen=True, slots=True)
class Reach:
    """One main test that found nothing, and the share of people that a leak could still reach."""

    attack: str
    test: str
    state: Verdict
    limit: str
    """The share in percent, of people or of what else the test counts."""
    share: float
    """The same as a number; infinite where nothing bounds it."""
    required: bool
    """Whether "none found" asks this test for a bound."""
    why: str = ""
    """Why so little is excluded, where that is less than half; "" elsewhere."""


_NAMES = {
    "copies": "Copies: equal or nearly equal", "dcr": "Copies: nearness",
    "singling_out": "Singling out", "linkability": "Linkability", "inference": "Inference: from the most similar row",
    "cap": "Inference: from rows with equal keys", "membership": "Membership",
}  # fmt: skip


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
    """Return which tests must exclude a leak before a table is cleared; "" where none can clear it."""
    if data.verdict.verdict not in ("none found", "cannot tell"):
        return ""
    required = [x.attack for x in reaches(data) if x.required]
    names = dict.fromkeys(_IN_SHORT.get(a, test_name(a).partition(":")[0].lower()) for a in required)
    limit = f"{100 * data.settings.acceptable:g}%"
    policy = ", or what the policy accepts" if any(b.acceptable is not None for b in data.verdict.bounds) else ""
    return f"{', '.join(names)}; each must exclude a leak above {limit}{policy}." if names else ""


_IN_SHORT = {"dcr": "nearness"}


def _height(bound: Bound) -> float:
    return float("inf") if not bound.bounded and bound.limit is None else bound.limit or 0.0


def _reach(bound: Bound, data: Assessment) -> Reach:
    name = test_name(bound.attack) + ("" if bound.primary else " (no main test)")
    state: Verdict = "none found" if bound.bounded else "cannot tell"
    return Reach(bound.attack, name, state, _limit(bound, data), _height(bound), bound.primary, _why(bound))


def _why(bound: Bound) -> str:
    if bound.limit is None or bound.limit < _WIDE:
        return ""
    if bound.shown is not None and bound.shown < _WIDE:
        return f"a copy of the whole real table would reach {plain_share(bound.shown, 10_000)} here"
    return "there are too few people"


def _limit(bound: Bound, data: Assessment) -> str:
    if bound.limit is None:
        return plain_share(data.settings.acceptable, 10_000) if bound.bounded else NOT_BOUNDED
    of = " of descriptions" if formatting.of_guesses(bound.attack) else ""
    return f"{plain_share(max(0.0, bound.limit), 10_000)}{of}"
