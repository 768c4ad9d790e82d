"""How many members a candidate reaches, by the report on its table: the number that candidates are shown with."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor
from typing import Literal

from divulge.core.result import FOUND, Result, counts_rows
from divulge.report import formatting, order
from divulge.report.comparison.model import Candidate, Reached
from divulge.report.model import Assessment
from divulge.report.prose.compared import more_people, plain_share
from divulge.report.prose.reach import NOT_BOUNDED, members_of, reaches

__all__ = ["reached", "reached_in_words", "share_reached"]


_Kind = Literal["at least", "fewer by", "at most"]
_Of = Literal["members", "rows", "guesses", "values"]


def reached(data: Assessment, found: Sequence[Result]) -> Reached | None:
    """Return how many members a table reaches: at least where something was found, else at most by its main tests.

    Parameters
    ----------
    data
        The report on the table.
    found
        The results that stand for what was found, as by `findings`.

    None where members and strangers cannot be compared.
    """
    if not order.has_holdout(data) or order.in_doubt(data):
        return None
    if data.verdict.verdict in FOUND:
        return _found(found[0]) if found else None
    required = [x for x in reaches(data) if x.required]
    if not required or any(x.limit == NOT_BOUNDED for x in required):
        return Reached(kind="at most", share=None, people=None, of="members")
    widest = max(required, key=lambda x: x.share)
    if widest.people is None or not (n := members_of(data)):
        return Reached(kind="at most", share=widest.share, people=None, of="rows" if widest.of_rows else "values")
    return Reached(kind="at most", share=widest.people / n, people=widest.people, of="members")


def _found(r: Result) -> Reached:
    fewer = r.verdict == "deficit found"
    end = "high_simultaneous" if fewer else "low_simultaneous"
    sign = -1 if fewer else 1
    people, n = more_people(r, end), r.real.n if r.real else None
    kind: _Kind = "fewer by" if fewer else "at least"
    if people is not None and n:
        sure = max(0, floor(sign * people))
        if formatting.of_rows(r.real) and sure:
            return Reached(kind=kind, share=sure / n, people=None, of="rows")
        return Reached(kind=kind, share=sure / n, people=sure, of="members")
    risk = formatting.risk_value(r, end)
    what: _Of = "rows" if counts_rows(r) else "guesses" if formatting.of_guesses(r.attack) else "values"
    return Reached(kind=kind, share=None if risk is None else max(0.0, sign * risk), people=None, of=what)


def reached_in_words(c: Candidate, members: str = "") -> str:
    """Return how many members a candidate reaches; `members` is what stands behind their number.

    Examples
    --------
    >>> from types import SimpleNamespace as Of
    >>> most = Reached(kind="at most", share=0.094, people=87, of="members")
    >>> reached_in_words(Of(reached=most)), reached_in_words(Of(reached=None))
    ('at most 87 (9.4%)', '-')
    >>> reached_in_words(Of(reached=Reached(kind="fewer by", share=0.05, people=46, of="members")))
    'at least 46 too few (5%)'
    """
    r = c.reached
    if r is None:
        return "-"
    if r.share is None:
        return "not bounded" if r.kind == "at most" else "found, not in people"
    if r.kind == "at least" and not r.people and r.people is not None:
        return "found, number uncertain"
    share, least = (
        plain_share(r.share, 10_000 if r.kind == "at most" else 500),
        "at least" if r.kind != "at most" else r.kind,
    )
    if r.people is None:
        return f"{least} {share} of {r.of}"
    too_few = " too few" if r.kind == "fewer by" else ""
    return f"{least} {r.people:,}{members}{too_few} ({share})"


def share_reached(c: Candidate) -> float | None:
    """Return the share of members that a candidate reaches; None where nothing bounds it, or it is not known."""
    return None if c.reached is None else c.reached.share
