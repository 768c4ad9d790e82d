"""Why a table in which nothing was found is cleared for release, or is not, in a clause."""

from __future__ import annotations

from divulge.core.result import FOUND
from divulge.report import order
from divulge.report.model import Assessment
from divulge.report.prose import use
from divulge.report.prose.bounds import (
    ALONE,
    BY_RUNS,
    NO_RELATION,
    NO_VALUE,
    OTHER_FORM,
    UNLIKE,
    UNREAD,
    holding,
    lacking_in,
    undecided,
)
from divulge.report.prose.compared import quoted
from divulge.report.prose.reach import NOT_BOUNDED, reaches, test_name

__all__ = ["NOT_COMPARED", "clearance", "why_open"]

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
    limit = f" (limit {100 * data.settings.acceptable:g}%)"
    required = [x for x in reaches(data) if x.required]
    if verdict == "none found":
        widest = max((x for x in required if x.limit != NOT_BOUNDED), key=lambda x: x.share, default=None)
        accepted = any(b.acceptable is not None for b in data.verdict.bounds)
        return f"main tests exclude above {widest.limit}{'' if accepted else limit}" if widest else ""
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
    way = test.partition(": ")[2]
    return way if way.startswith("nearness") else test.partition(":")[0].lower()


def why_open(data: Assessment) -> str:
    """Return in a few words why a run without a finding cannot say that there is none; "" where it does not know."""
    if why := _by_others(data)[1]:
        return why
    wide = undecided(data.verdict.bounds)
    unfair = {test_name(b.attack): b.why for b in wide if b.why}
    tests = [t for t in reaches(data) if t.required]
    few = [t.test for t in tests if t.state == "cannot tell" and t.test not in unfair]
    have = "has" if len(few) == 1 else "have"
    told = [f"{len(few)} of {len(tests)} main tests {have} too few people"] * bool(few)
    told += [f"{reason} ({name.lower()})" for name, reason in sorted(unfair.items())]
    return ", and ".join(told)


def _by_others(data: Assessment) -> tuple[str, str]:
    """Return what holds the clearance back whatever the main tests exclude, as a noun and in words; "" for nothing."""
    if data.verdict.without_strangers:
        return "columns without strangers", f"the holdout lacks {quoted(data.verdict.without_strangers, 2)}"
    for reason, columns in holding(data.verdict.not_compared).items():
        was = "was" if len(columns) == 1 else "were"
        return "columns not compared", f"{quoted(columns, 2)} {was} not compared, as {NOT_COMPARED[reason]}"
    if use.is_too_close(data):
        return "pairs of columns", "pairs of columns are closer to the real table than chance allows"
    if data.verdict.nearer:
        return "nearness", "synthetic rows lie nearest to members somewhat more often than chance gives"
    if lacking := lacking_in(data.verdict.required):
        return "policy", f"the policy asks for no bound of {' and '.join(lacking)}"
    if sum(b.primary for b in data.verdict.bounds) < 2:
        return "coarse values", "the values are so coarse that even a full copy would hardly show"
    return "", ""
