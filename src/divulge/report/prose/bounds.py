"""The sentences of the overall verdict that state how far each comparison bounds the risk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, floor

from divulge.attacks.entry import CATALOGUE
from divulge.core.result import Identity, identity, percent, tidy
from divulge.report.model import Bound, NotCompared
from divulge.report.prose.compared import plain_share

__all__ = [
    "ALONE",
    "BY_RUNS",
    "NEARER",
    "NO_RELATION",
    "NO_VALUE",
    "OTHER_FORM",
    "SAME_PEOPLE",
    "SEES_A_COPY",
    "TOO_CLOSE",
    "UNFAIR",
    "UNLIKE",
    "UNREAD",
    "bounds_in_words",
    "cannot_tell",
    "does_not_hold",
    "fixed_in_words",
    "holding",
    "lacking_in",
    "none_found",
    "undecided",
    "whole_people",
]

COARSE = (
    "the table is too coarse for these comparisons: even a full copy of the real table would hardly show, as strangers "
    "match it too"
)
"""What is said where fewer than two primary comparisons could see a full copy."""
SEES_A_COPY = 0.2
"""A comparison in which less of a full copy of the real table would show is no primary: its limit would say little."""
TOO_CLOSE = (
    "the counts or correlations of pairs of columns are closer to the real table than rows drawn from it would be, "
    "which can give people away, and no attack looked for that"
)
"""Why a run without a finding cannot say "none found" where fidelity is higher than chance allows."""
NEARER = (
    "synthetic rows lie nearest to members (dcr) more often than in 95 of 100 tables without a leak, which is no "
    "finding and clears nothing"
)
"""Why a run without a finding cannot say "none found" where synthetic rows lean towards members."""
NEARNESS = (
    " Nearness is how many more members than strangers have a synthetic row nearer than all but 1 to 10% of people "
    "have one; rows that were blurred much more are not bounded."
)
"""What a bound of nearness says."""
UNFAIR = "members and strangers can be told apart without the synthetic table"
"""Why a comparison bounds nothing, however many people there are."""
SAME_PEOPLE = "more people stand in both real and holdout than chance gives"
"""Another reason why."""
_NAMED = 5  # columns or comparisons that a sentence names at most


def undecided(bounds: Sequence[Bound]) -> list[Bound]:
    """Return the primary comparisons whose limit is not at most the acceptable risk."""
    return [b for b in bounds if b.primary and not b.bounded]


def whole_people(share: float, n: int, most: float = 1.0, step: int = 1) -> int:
    """Return how many of n people a share is at most, as a multiple of `step`.

    A part of a person is one more, but not above the share `most` that is known to hold.

    Examples
    --------
    >>> whole_people(0.0109, 1500), whole_people(0.0109, 1500, step=5), whole_people(0.0499, 923, most=0.05)
    (17, 20, 46)
    """
    whole = step * ceil(round(max(0.0, share) * n / step, 6))
    return min(n, whole) if whole <= most * n else step * floor(round(most * n / step, 6))


def bounds_in_words(bounds: Sequence[Bound], acceptable: float, n: Mapping[Identity, int] | None = None) -> str:
    """Return the bound that each comparison reaches, and how many people would do where that is too much.

    `n` is of how many people each comparison is: its limit is then that of whole people, as on page one.

    Examples
    --------
    >>> one = Bound(attack="copies", variant="exact", keys=(), target=None, words="copies", primary=True, limit=0.004,
    ...             shown=1.0, bounded=True, people=None)
    >>> bounds_in_words([one], 0.05)
    'Copies at most 0.4%.'
    """
    told = _largest(bounds)
    of = n or {}
    primary, stated = (
        [
            f"{tidy(name)} {_reached(b, acceptable, of.get(identity(b)))}"
            for name, b in told.items()
            if b.primary == main
        ]
        for main in (True, False)
    )
    parts = [", ".join(primary[:_NAMED]) + _more(len(primary)), ", ".join(stated)]
    text = "; ".join(p for p in parts if p)
    means = NEARNESS if any(b.primary and b.bounded and b.words == "nearness" for b in told.values()) else ""
    return f"{text[0].upper()}{text[1:]}.{means}" if text else ""


def _what(b: Bound) -> str:
    """Return what a bound is about; exact and near copies are one thing."""
    return b.words.partition(" (exact)")[0].partition(" (near)")[0] if b.attack == "copies" else b.words


def _largest(bounds: Sequence[Bound]) -> dict[str, Bound]:
    """Return by what is compared the bound with the largest limit; of those that would show a copy."""
    told: dict[str, Bound] = {}
    for b in bounds:
        if not b.primary and b.shown is not None and b.shown < SEES_A_COPY and not _only_stated(b):
            continue
        name = _what(b)
        if name not in told or _height(b) > _height(told[name]):
            told[name] = b
    return told


def _only_stated(bound: Bound) -> bool:
    return bound.attack == "singling_out"


def _height(bound: Bound) -> float:
    return float("inf") if bound.limit is None else bound.limit


def lacking_in(required: Sequence[str]) -> list[str]:
    """Return what a policy's list of attacks lacks without which nothing is cleared; [] of the usual list."""
    clearing = [name for name, entry in CATALOGUE.items() if entry.primary is not None and entry.primary.clears]
    return [name for name in clearing if required and name not in required]


def fixed_in_words(required: Sequence[str], bounds: Sequence[Bound]) -> str:
    """Return what a policy fixed about bounds; "" where it fixed nothing."""
    words = {b.attack: b.words.partition(" (")[0] for b in bounds if b.target is None}
    asked = f" A policy asks for bounds of {', '.join(words.get(a, a) for a in required)}." if required else ""
    most = {words.get(b.attack, b.attack): b.acceptable for b in bounds if b.acceptable is not None}
    limits = ", ".join(f"{name} up to {percent(limit)}" for name, limit in most.items())
    return asked + (f" A policy accepts {limits}." if limits else "")


def _reached(bound: Bound, acceptable: float, n: int | None) -> str:
    acceptable = acceptable if bound.acceptable is None else bound.acceptable
    if bound.limit is None:
        return f"at most {percent(acceptable)}" if bound.bounded else "not bounded"
    most = acceptable if bound.bounded else 1.0
    share = whole_people(bound.limit, n, most) / n if n else max(0.0, bound.limit)
    reached = f"at most {plain_share(share, 10_000)}"
    if bound.bounded:
        return reached
    wanted = percent(acceptable)
    enough = (
        "" if bound.people is None else f": about {bound.people:,} people would bound it by {wanted} if nothing leaks"
    )
    return f"{reached} only{enough}" if not bound.primary else f"{reached}{f' ({enough[2:]})' if enough else ''}"


def _more(n: int, named: int = _NAMED) -> str:
    return f" and {n - named} more" if n > named else ""


_REMEDIES = {
    "no overlap": "people stand in both real and holdout: take them out of the holdout",
    "exchangeable": "real and holdout are no random split of the same people: split them at random (`divulge split`), "
    "and train again",
    "holdout unseen": "the synthesizer seems to have seen the holdout: use people who were never given to it",
    "rows belong together": "several rows seem to belong to one person: name the column by --unit, or make one row a "
    "person",
    "people apart": "put each person with all rows into one of the two folders (divulge split)",
}


UNREAD = "it looks like numbers or dates, which could not all be read"
"""Why a column is not compared whose values could not be read."""
ALONE = "the real table has no such column"
"""Why a column of the synthetic table is not compared."""
NO_RELATION = "no relation leads from this table to the people, or from their rows to it"
"""Why nothing compares a table."""
NO_VALUE = "none of its values stands in both the synthetic table and a real record"
"""Why a column in which no copy could show is not compared."""
UNLIKE = "most of its synthetic values stand in no real record"
"""Why a column in which a copy would hardly show is not compared."""
OTHER_FORM = "its synthetic values are written in a form that hardly any person's value has"
"""Why an identifier or a text is not compared that was put into a form which no comparison reads."""
BY_RUNS = "the words of its texts were not compared, only whole texts and runs of words"
"""Why a column of texts is not cleared."""
_HOLDING = {
    UNREAD: "{names} could not be read in all tables as the numbers or dates that {looks} like: give the form in the "
    "schema",
    ALONE: "the real table lacks {names}, which the synthetic table has, so that nothing is bounded there",
    NO_RELATION: "no relation leads from the tables {names} to the people: name it in the schema, or leave them out",
    NO_VALUE: "no value of {names} stands in both the synthetic table and a real record, so that no copy could show "
    "there: prepare the tables alike",
    OTHER_FORM: "the synthetic values of {names} are written in a form that hardly any person's value has, and no "
    "comparison reads it: prepare the tables alike, or leave {names} out",
    BY_RUNS: "the words of texts were not compared in {names}, so that nothing is said of who is named there",
    UNLIKE: "most synthetic values of {names} stand in no real record, so that a copy would hardly show there: prepare "
    "the tables alike",
}


def holding(not_compared: Sequence[NotCompared]) -> dict[str, list[str]]:
    """Return the columns by the reason for which nothing was compared there, where that holds "none found" back."""
    found = {why: [c.column for c in not_compared if c.why == why] for why in _HOLDING}
    return {why: names for why, names in found.items() if names}


def does_not_hold(invalid: Sequence[str]) -> str:
    """Return the sentence of a run whose comparison does not hold, with the remedy for each check that fails."""
    remedies = "; ".join(_REMEDIES[c] for c in invalid)
    return (
        f"The comparison does not hold ({', '.join(invalid)}), so that nothing follows either way, whatever was found: "
        f"{remedies}."
    )


def none_found(
    n: int,
    reached: str,
    screened: int,
    largest: tuple[float, str] | None,
    any_keys: bool,
    not_compared: Sequence[NotCompared],
    left_out: Sequence[str],
) -> str:
    """Return the sentence of "none found", from what was compared, bounded, screened, and left out."""
    keys = "" if any_keys else " No key set was tested."
    head = f"None of {n:,} comparisons shows an excess over strangers. {reached}"
    return head + _screened(screened, largest) + keys + _not_compared(not_compared) + _left_out(left_out)


def cannot_tell(
    bounds: Sequence[Bound],
    reached: str,
    screened: int,
    largest: tuple[float, str] | None,
    failing: Sequence[str],
    untested: Sequence[str],
    without_strangers: Sequence[str],
    not_compared: Sequence[NotCompared],
    left_out: Sequence[str],
    too_close: bool = False,
    nearer: bool = False,
    required: Sequence[str] = (),
) -> str:
    """Return the sentence of a run without a finding that cannot say "none found", with each reason."""
    open_, n = undecided(bounds), sum(b.primary for b in bounds)
    wide, unfair = [b for b in open_ if not b.why], [b for b in open_ if b.why]
    why = []
    if failing:
        why.append(
            f"a precondition fails ({', '.join(failing)}), so that strangers are no fair comparison with the people of "
            "the real table"
        )
    if untested:
        why.append(f"not tested: {', '.join(untested)}")
    if without_strangers:
        names = ", ".join(repr(tidy(c)) for c in without_strangers[:_NAMED])
        why.append(f"the holdout lacks {names}{_more(len(without_strangers))}, so that nothing can be compared there")
    for reason, columns in holding(not_compared).items():
        names = ", ".join(repr(tidy(c)) for c in columns[:_NAMED]) + _more(len(columns))
        why.append(_HOLDING[reason].format(names=names, looks="they look" if len(columns) > 1 else "it looks"))
    why += [f"{tidy(b.words)} is not judged: {b.why}" for b in unfair]
    if too_close:
        why.append(TOO_CLOSE)
    if nearer:
        why.append(NEARER)
    if lacking := lacking_in(required):
        why.append(f"a policy asks for no bound of {' and '.join(lacking)}, without which nothing is cleared")
    if n < 2 and not lacking:
        why.append(COARSE)
    elif wide:
        why.append(f"{len(wide)} of {n} primary comparisons {'are' if len(wide) > 1 else 'is'} too uncertain to "
                   "exclude one")  # fmt: skip
    reasons = "; ".join(why) or "not all that was planned was tested"
    head = f"No excess over strangers was found, but {reasons}."
    return (
        f"{head} {reached}".rstrip()
        + _screened(screened, largest)
        + _not_compared(not_compared)
        + _left_out(left_out)
        + fixed_in_words(required, bounds)
    )


def _screened(n: int, largest: tuple[float, str] | None) -> str:
    """Return how many comparisons were screened, and the largest limit among them."""
    if n < 1:
        return ""
    limit = "" if largest is None else f"; their largest limit is {percent(largest[0])} ({largest[1]})"
    return f" {n:,} further comparison{'s were' if n > 1 else ' was'} screened, not bounded{limit}."


def _left_out(left_out: Sequence[str]) -> str:
    return f" Tests were left out: {', '.join(left_out)}." if left_out else ""


def _not_compared(columns: Sequence[NotCompared]) -> str:
    """Return which columns no comparison looks at; "" for none."""
    if not columns:
        return ""
    shown = ", ".join(f"{tidy(c.column)!r} ({c.why})" for c in columns[:_NAMED])
    return f" Not compared with strangers: {shown}{_more(len(columns))}."
