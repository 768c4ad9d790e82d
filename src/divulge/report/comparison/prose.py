"""What was found in each candidate and how the candidates are ordered, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from divulge.core.result import FOUND, Result, counts_rows, label, number, number_of, percent

__all__ = ["Placed", "findings", "findings_in_words", "order_in_words", "some"]

_NAMED = 5  # candidates that a sentence names at most


def findings(results: Sequence[Result], verdict: str) -> tuple[Result, ...]:
    """Return the results that stand for what was found in a table: at most one excess and one deficit.

    Copies come first, exact before near ones, then the result with the limit furthest from 0. Exact copies are named
    even where the run makes no verdict of them, as they can be seen without a comparison.
    """
    if verdict not in FOUND:
        return tuple(r for r in results if _place(r) == 0 and r.verdict == "excess found")
    own = ([r for r in results if r.verdict == v and r.risk is not None] for v in FOUND)
    return tuple(min(found, key=lambda r: (_place(r), -_least(r), label(r))) for found in own if found)


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
    if members is None or strangers is None or result.counts != "people" or counts_rows(result):
        return f"{label(result)}: risk {number(result.risk.value if result.risk else None)}"
    theirs = f"{percent(strangers.rate)} of strangers"
    if _place(result) == 0 and members.rate == 1:
        return f"every member stands in it verbatim, and {theirs}"
    name = ("copies", "near copies", label(result))[_place(result)]
    return f"{name}: {percent(members.rate)} of members, {theirs}"


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


def order_in_words(placed: Sequence[Placed], n_attacks: int, level: float) -> str:
    """Return the order of two or more candidates, and what was found in those that stand first or last.

    Parameters
    ----------
    placed
        The candidates in their order.
    n_attacks
        Attacks that are ranked.
    level
        Level at which all ranks hold together.
    """
    n = len(placed)
    told = sum(p.first - 1 for p in placed)  # first rank less 1: how many others surely stand before a candidate
    how = (
        f"tables with a finding rank behind the others, otherwise the worst of "
        f"{number_of(n_attacks, 'attack')} decides; "
        f"{100 * level:g}% for all ranks together, given the verdicts"
    )
    first = [p for p in placed if p.first == 1] if told else []
    last = [p for p in reversed(placed) if p.last == n] if told else []
    others = [p for p in placed if p.why and p not in first[:_NAMED] + last[:_NAMED]]
    parts = [
        f"{_extreme(first, 'first')} {_extreme(last, 'last')} Told apart: {told} of {n * (n - 1) // 2} pairs ({how})."
        if told
        else f"The data do not tell the {n} candidates apart ({how}).",
        f"{'Further' if told else 'Found'}: {some(list(map(str, others)))}." if others else "",
        f"By estimate, from the first: {some([f'“{p.label}”' for p in placed])}.",
    ]
    return " ".join(p for p in parts if p)


def _extreme(placed: Sequence[Placed], where: str) -> str:
    if len(placed) == 1:
        return f"{placed[0]} ranks {where}."
    return f"{len(placed)} may rank {where}: {some(list(map(str, placed)))}."


def some(names: Sequence[str]) -> str:
    """Return the first few names, and how many more there are.

    Examples
    --------
    >>> some(["a", "b", "c", "d", "e", "f", "g"])
    'a, b, c, d, e and 2 more'
    """
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
