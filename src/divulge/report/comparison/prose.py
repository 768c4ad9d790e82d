"""What was found in each candidate and how the candidates are ordered, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from divulge.attacks.checks import LEVEL
from divulge.core.result import FOUND, Result, counts_rows, found_by, identity, label, number, percent
from divulge.report import formatting
from divulge.report.comparison.model import Candidate, Comparison
from divulge.report.comparison.reached import reached_in_words
from divulge.report.comparison.rows import by_order, compared_parts, group_of
from divulge.report.formatting import several
from divulge.report.model import Finding, Sampling
from divulge.report.prose.sampled import sample_in_words
from divulge.report.prose.use import SCALE_IN_WORDS
from divulge.report.verdicts import word_of

__all__ = [
    "GROUPS",
    "RISK",
    "SINGLE",
    "STANDING",
    "TWO",
    "UNFAIR_GROUP",
    "Placed",
    "apart_in_words",
    "asked_in_words",
    "choice_in_words",
    "findings",
    "findings_in_words",
    "front_in_words",
    "order_in_words",
    "order_told",
    "some",
    "steps_in_words",
    "use_told",
]

STANDING = (
    "No model was trained for inference: it takes most of the time, and the other ways see the same leaks.",
    "Of a candidate with one table, the statement is about this table. Another table of the same generator may "
    "have another risk; give several (LABEL=PATH more than once) to speak about the generator.",
    "Of a candidate with several tables, the statement is about the mean of fresh ones. Its limits assume that "
    "risk varies normally between tables; where a table leaks either much or nothing, limits from two to four "
    "tables miss that mean more often than they say.",
    "The verdict on a candidate with several tables is the worst of theirs. Each is made at the level on its "
    "own, so that with more tables a false finding is more likely.",
    "Two to four tables of a generator tell little about how its tables vary, so that its limits are wide; "
    "five or more narrow them.",
)
"""Notes that follow from how many tables a candidate has, not from what this comparison left out."""

_NAMED = 5  # candidates that a sentence names at most
_KEYS, _LONG = 3, 80  # keys that a finding names at most, and letters of its name


def findings(results: Sequence[Result], verdict: str, most: Finding | None = None) -> tuple[Result, ...]:
    """Return the results that stand for what was found in a table: at most one excess and one deficit.

    An excess is the one that the report leads with (`most`), as it reaches most people, but a copy of the whole real
    table is told as that. Without one, and of deficits, copies come first, exact before near ones, then the result with
    the limit furthest from 0. Exact copies are named even where the run makes no verdict of them, as they can be seen
    without a comparison.
    """
    if verdict not in FOUND:
        return tuple(r for r in results if _place(r) == 0 and r.verdict == "excess found")
    own = ([r for r in results if r.verdict == v and r.risk is not None] for v in FOUND)
    led = None if most is None else identity(most)
    return tuple(
        min(found, key=lambda r: (not _everybody(r), identity(r) != led, _place(r), -_least(r), label(r)))
        for found in own
        if found
    )


def _everybody(result: Result) -> bool:
    """Return whether every member stands in the table verbatim."""
    return _place(result) == 0 and result.real is not None and result.real.rate == 1


def _place(result: Result) -> int:
    return 2 if result.attack != "copies" else {"exact": 0, "near": 1}.get(result.variant, 2)


def _least(result: Result) -> float:
    """Return how far the risk is from 0, at least."""
    risk = result.risk
    assert risk is not None
    least = risk.low_simultaneous if result.verdict == "excess found" else risk.high_simultaneous
    return 0.0 if least is None else abs(least)


def findings_in_words(found: Sequence[Result]) -> str:
    """Return findings as the words that stand behind a verdict.

    Examples
    --------
    >>> from divulge.core.result import Rate
    >>> members, strangers = Rate(hits=12, n=100, rate=0.12), Rate(hits=1, n=100, rate=0.01)
    >>> findings_in_words([Result(attack="copies", variant="exact", real=members, holdout=strangers)])
    'copies: 12.0% of members, 1.0% of strangers'
    """
    first, *others = map(_in_words, found)
    return "; ".join([first, *(f"a deficit, too: {words}" for words in others)])


def _in_words(result: Result) -> str:
    members, strangers = result.real, result.holdout
    if result.attack == "dcr" and (near := word_of(result.verdict).of_near_rows):
        return f"nearness: {near}"
    if members is None or strangers is None or result.counts != "people" or counts_rows(result):
        return f"{_named(result)}: risk {number(result.risk.value if result.risk else None)}"
    theirs = f"{percent(strangers.rate)} of {formatting.rows_or('strangers', strangers)}"
    if _everybody(result):
        return f"every member stands in it verbatim, and {theirs}"
    name = ("copies", "near copies", _named(result))[_place(result)]
    how = f", found by {by}" if (by := found_by(result)) else ""
    return f"{name}: {percent(members.rate)} of {formatting.rows_or('members', members)}, {theirs}{how}"


def _named(result: Result) -> str:
    """Return the name of a comparison, without its keys where they are many or long: numbers stand behind it."""
    whole = label(result)
    return whole if len(result.keys) <= _KEYS and len(whole) <= _LONG else label(replace(result, keys=()))


@dataclass(frozen=True, slots=True)
class Placed:
    """A candidate with the ranks that it may have."""

    label: str
    verdict: str
    why: str
    first: int
    last: int

    def __str__(self) -> str:
        return f"“{self.label}” ({self.verdict}{f'; {self.why}' if self.why else ''})"


def order_in_words(placed: Sequence[Placed], level: float, by_risk: int) -> str:
    """Return the order of two or more candidates, and what was found in each.

    Parameters
    ----------
    placed
        The candidates in their order.
    level
        Level at which all ranks hold together.
    by_risk
        Pairs that differ in risk; others are told apart by their group alone.
    """
    n = len(placed)
    told = sum(p.first - 1 for p in placed)  # first rank less 1: how many others surely stand before a candidate
    if not told:
        found = [p for p in placed if p.why and n <= _NAMED]
        return (
            f"The data do not tell the {n} candidates apart by risk. Fewest members reached first: "
            f"{some([f'“{p.label}”' for p in placed])}." + (f" Found: {some(list(map(str, found)))}." if found else "")
        )
    ways = ", ".join([f"{by_risk} by risk"] * (by_risk > 0) + [f"{told - by_risk} by group alone"] * (told > by_risk))
    apart = (
        f"{told} of {several(n * (n - 1) // 2, 'pair')} {'is' if told == 1 else 'are'} told apart ({ways}), "
        f"with {100 * level:g}% confidence in all ranks together."
    )
    if n > _NAMED:  # their order stands in the table below
        return apart
    first, last = [p for p in placed if p.first == 1], [p for p in reversed(placed) if p.last == n]
    others = [p for p in placed if p not in first + last]
    parts = [
        f"Least risk: {_extreme(first)}.",
        f"Most risk: {_extreme(last)}.",
        f"Between them: {some(list(map(str, others)))}." if others else "",
        apart,
    ]
    return " ".join(p for p in parts if p)


def _extreme(placed: Sequence[Placed]) -> str:
    told = some(list(map(str, placed)))
    return told if len(placed) == 1 else f"{told}; these are not told apart"


def apart_in_words(behind: Sequence[str], before: Sequence[str], level_with: Sequence[str]) -> str:
    """Return, in one sentence, from which others a candidate is told apart.

    Parameters
    ----------
    behind, before
        Labels of the candidates that have surely less risk, and surely more; a finding is more than none.
    level_with
        Labels of the others.

    Where there are more than five others, they are counted and not named.

    Examples
    --------
    >>> apart_in_words(["a"], ["d", "e"], ["c"])
    'Behind “a”; before “d”, “e”; not told apart from “c”.'
    >>> apart_in_words(["a"], list("defghi"), ["c"])
    'Behind 1 of the others; before 6; not told apart from 1.'
    """
    words = (("behind", behind), ("before", before), ("not told apart from", level_with))
    many = len(behind) + len(before) + len(level_with) > _NAMED
    shown = [(w, str(len(o)) if many else some([f"“{name}”" for name in o])) for w, o in words if o]
    shown = [(w, f"{o} of the others" if many and not i else o) for i, (w, o) in enumerate(shown)]
    told = "; ".join(f"{w} {o}" for w, o in shown)
    return told[:1].upper() + told[1:] + "." if told else ""


def some(names: Sequence[str]) -> str:
    """Return the first few names, and how many more there are.

    Examples
    --------
    >>> some(["a", "b", "c", "d", "e", "f", "g"])
    'a, b, c, d, e and 2 more'
    """
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def asked_in_words(sampling: Sampling | None) -> str:
    """Return who was asked through each candidate, of how many, and what they show; "" where everybody was asked.

    Examples
    --------
    >>> asked_in_words(Sampling(members=500, of_members=9000, strangers=400, of_strangers=400, excess=0.05))[:79]
    'The same random sample was asked through each candidate: 500 of 9,000 members a'
    """
    if sampling is None:
        return ""
    found = sample_in_words(sampling)
    return (
        f"The same random sample was asked through each candidate: {found}. Ranks are about these people; the report "
        "on a candidate has what was counted among all."
    )


# ---------------------------------------------------------------- what the numbers mean, and which to take

GROUPS = ("Cleared", "Not cleared: too little excluded", "Not cleared: something found")
"""What the candidates of a group have in common."""
UNFAIR_GROUP = "Not cleared: something found, or people not comparable"
"""The last group where members and strangers of a candidate cannot be compared."""


def order_told(data: Comparison) -> str:
    """Return in what order the candidates stand, and what is said of each."""
    level, who = 100 * data.settings.level, "divulge's default" if data.settings.level == LEVEL else "set for this run"
    n = data.tables.real.rows
    return (
        "Cleared candidates come first, then others without a finding, then those with one; in each group those that "
        "reach fewest members first. "
        f"Members reached, of {n:,} people in the real table: where something was found, how many are hit beyond "
        "chance at least, in the test that reaches most; elsewhere, how many a leak could still reach at most, by the "
        "main test that excludes least. Each holds for all tests of its kind of attack on this candidate together, "
        f"with {level:g}% confidence ({who}). Rank: the places that a candidate may have, by risks compared on the "
        "same people; all ranks hold together, given the groups."
    )


def use_told(data: Comparison) -> str:
    """Return what the number of use is; "" without fidelity."""
    of = compared_parts(data)
    told = f"Use: distance of {of}, 1 a new sample; {SCALE_IN_WORDS}."
    return told if of else ""


RISK = (
    "The risk of an attack is (members - strangers) / (1 - strangers) of its mean score per person, over the same "
    "primary comparisons for every candidate; they are fixed before any outcome is seen. An estimate below 0 says that "
    "members are hit no more than strangers. Cleared candidates rank first; a candidate with a finding, or whose "
    "members and strangers cannot be compared, ranks behind the others whatever its risk: a finding may lie in any "
    "comparison, not only in those ranked. Within a group the worst risk decides, and rank 1 is the least. "
    "Limits and ranks hold together, over all attacks and candidates, given the "
    "verdicts; each verdict is made at the level on its own. A candidate may have any rank of its range."
)
"""What the numbers in the tables mean."""

SINGLE = (
    "The largest lower and upper limit of risk over all single comparisons of a table. The limits of all comparisons "
    "of all tables hold together; many comparisons make the upper one wide. Of measures that count synthetic rows (dcr "
    "and its kin) the risk is the fraction of rows that are copied."
)
"""What the limits of single comparisons mean."""


TWO = (
    "Differences are those of the first candidate less the second. Riskier: the worst attack on it is worse than the "
    "worst on the other, beyond chance. Difference of risk: under the attack where the two differ most clearly, which "
    "may be another one; the same people are asked through both. Distance: beyond a fresh sample; the same real"
    " rows are behind both, in the same cells, with as many rows of each. Limits hold for all candidates "
    "together; farther is only who is beyond a fresh sample beyond chance."
)
"""What the differences of two candidates mean."""


def front_in_words(data: Comparison) -> str:
    """Return which candidates no other one betters, in one line."""
    names = [] if data.front is None else [f"“{formatting.name(label)}”" for label in data.front.labels]
    return f"No other is better in risk or use without being worse in the other: {some(names)}." if names else ""


def choice_in_words(data: Comparison) -> str:
    """Return which candidates are cleared for release, and which to take of those in which nothing was found."""
    cleared = [c for c in by_order(data) if c.verdict == "none found"]
    clean = [c for c in by_order(data) if c.verdict not in FOUND]
    n = len(data.candidates)
    if cleared:
        told = f"{len(cleared)} of {n} cleared for release: {some([f'“{formatting.name(c.label)}”' for c in cleared])}."
    else:
        told = f"None of the {n} is cleared for release."
    if not clean:
        return f"{told} In each of them something was found."
    chosen, among = cleared or clean, "these" if cleared else f"the {len(clean)} without a finding"
    if len(chosen) == 1:
        reach = f" A leak could reach {_reach(chosen[0])}." if chosen[0].reached else ""
        name = formatting.name(chosen[0].label)
        return told + reach if cleared else f"{told} “{name}” is the only one without a finding.{reach}"
    if not data.verdict.order:
        return told
    far = {c.label: max(0.0, c.fidelity.excess) for c in chosen if c.fidelity}
    best = [(formatting.name(chosen[0].label), f"leaves least open ({_reach(chosen[0])})")] if chosen[0].reached else []
    if far:
        nearest = formatting.name(min(far, key=lambda label: far[label]))
        best.append((nearest, f"is the most useful (nearest in {compared_parts(data)})"))
    if not best:
        return told
    if len({name for name, _ in best}) == 1:
        return f"{told} Of {among}, “{best[0][0]}” {' and '.join(has for _, has in best)}."
    return f"{told} Of {among}, {' and '.join(f'“{name}” {has}' for name, has in best)}."


def _reach(c: Candidate) -> str:
    return reached_in_words(c, " members")


def steps_in_words(data: Comparison) -> list[str]:
    """Return what to do now: with cleared candidates, with others without a finding, with those that have one."""
    if not data.verdict.order:
        return []
    groups: list[list[Candidate]] = [[c for c in by_order(data) if group_of(c) == g] for g in range(len(GROUPS))]
    cleared, open_, found = groups
    steps = []
    if cleared:
        steps.append(f"Take {_names(cleared, 'or')}: read its report, decide, and sign there.")
    if open_:
        steps.append(f"Do not release {_names(open_, 'or')} on this evidence. {_next(open_)}".strip())
    if found:
        steps.append(f"Withhold {_names(found, 'and')}. {_next(found)}".strip())
    return steps


def _names(of: Sequence[Candidate], last: str) -> str:
    if len(of) > _LISTED and of[0].verdict != "none found":
        return f"the {len(of)} {'with' if group_of(of[0]) == len(GROUPS) - 1 else 'without'} a finding"
    names = [f"“{formatting.name(c.label)}”" for c in of[:_NAMED]]
    if len(of) > _NAMED:
        return f"{', '.join(names)} or {len(of) - _NAMED} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"


_LISTED = 3  # candidates of a group without clearance that a step names at most


def _next(of: Sequence[Candidate]) -> str:
    """Return the first step about each of a group, said once of those that share it."""
    whose: dict[str, list[Candidate]] = {}
    for c in of:
        if c.next_step:
            whose.setdefault(c.next_step, []).append(c)
    if len(whose) == 1 and len(whose[next(iter(whose))]) == len(of):
        return next(iter(whose))
    told = [f"For {_whose(own)}: {step[:1].lower()}{step[1:]}" for step, own in list(whose.items())[:_STEPS]]
    return " ".join(told) + (" Of the others their own report says it." if len(whose) > _STEPS else "")


def _whose(of: Sequence[Candidate]) -> str:
    names = [f"“{formatting.name(c.label)}”" for c in of]
    return formatting.enumerated(names) if len(of) <= _LISTED else f"{names[0]} and {len(of) - 1} more"


_STEPS = 3  # different steps that are told of a group
