"""Membership scores for a terminal."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from divulge.attacks.membership.changes import Changes
from divulge.attacks.membership.results import LEAST_ADVANTAGE, LEAST_AUC
from divulge.attacks.registry import is_about_tables
from divulge.core.records import Precondition
from divulge.core.result import Result
from divulge.report.blocks.cells import verdict
from divulge.report.blocks.table import Col, Num, Table
from divulge.report.documents.console import as_terminal_text, clean
from divulge.report.documents.tables import terminal_table
from divulge.report.order import ORDER

__all__ = ["changes_text", "membership_text"]

_COUNT = re.compile(r"\d[\d,.]*(?![\d,.]*%)")
"""A number that is no percentage: rates at different false positive rates are different notes."""
_TOLD_BY_NUMBER = "synthetic tables"


def membership_text(
    found: tuple[Sequence[Result], Sequence[Precondition]], *, width: int = 110, colour: bool = False
) -> str:
    """Return the summary of `divulge membership`: the scores, and preconditions that are not met."""
    return _text(_membership(*found), width, colour)


def changes_text(found: Changes, *, width: int = 110, colour: bool = False) -> str:
    """Return the summary of `divulge changes`."""
    return _text(_changes(found), width, colour)


def _text(parts: Iterator[Any], width: int, colour: bool) -> str:
    lines = as_terminal_text(parts, width=width, colour=colour).splitlines()
    return "\n".join(line.rstrip() for line in lines)


def _membership(results: Sequence[Result], checks: Sequence[Precondition]) -> Iterator[Any]:
    from rich.text import Text

    yield Text(f"divulge: membership: {_verdict(results)}", style="bold")
    yield from _sizes(results, "members", "strangers")
    yield _scores(results)
    yield Text(_MEANING, style="dim")
    yield from _further(results)
    yield from _by_number(results)
    for result in results:
        if result.context.get("gain over the best single score") is not None:
            gain = _limits(result, "gain over the best single score", "{:+.3f}")
            yield Text(f"Known members: {gain} in AUC over the best single score.")
    yield from _notes(results)
    noted = {note for result in results for note in result.notes}
    for check in checks:
        if not check.ok and not any(check.detail in note for note in noted):
            yield Text(f"! {clean(check.check)}: {clean(check.detail)}", style="yellow")


def _changes(found: Changes) -> Iterator[Any]:
    from rich.text import Text

    yield Text(f"divulge: {found.n_left:,} people left, {found.n_stayed:,} stayed, {found.n_joined:,} joined", "bold")
    for note in found.notes:
        yield Text(f"! {clean(note)}", style="yellow")
    for who, results in (("leavers", found.left), ("joiners", found.joined)):
        if results:
            yield Text(f"{who} against stayers: {_verdict(results)}", style="bold")
            yield from _sizes(results, who, "stayers")
            yield _scores(results)
            yield from _further(results)
            yield from _notes(results)


def _verdict(results: Sequence[Result]) -> str:
    return min((r.verdict for r in results if r.verdict in ORDER), key=ORDER.__getitem__)


def _sizes(results: Sequence[Result], who: str, others: str) -> Iterator[Any]:
    from rich.text import Text

    n, m = (next((x.n for r in results if (x := getattr(r, side))), None) for side in ("real", "holdout"))
    if n is not None:
        yield Text(f"{n:,} {who}, {m:,} {others}")


_MEANING = (
    "AUC: how often a member scores above a stranger; 0.5 is chance. Claimed: members taken for members where 10% of "
    "strangers are (FPR); TPR: the share where 1% are. p: that a score says nothing, all scores together. Advantage: "
    "share of members less that of strangers in the upper half of the scores."
)


def _scores(results: Sequence[Result]) -> Any:
    cols = [
        Col("score", lambda r: r.variant),
        Num("AUC", lambda r: _limits(r, "AUC"), whole=True),
        Num("claimed at FPR 10%", lambda r: f"{r.real.hits:,.0f} of {r.real.n:,}" if r.real else "-", whole=True),
        Num("TPR at FPR 1%", lambda r: _limits(r, "TPR at FPR 1%"), whole=True),
        Num("p", lambda r: "-" if r.p_adjusted is None else f"{r.p_adjusted:.4f}", whole=True),
        Col("verdict", lambda r: verdict(r.verdict), whole=True),
    ]
    return terminal_table(Table("Scores", cols, results))


def _further(results: Sequence[Result]) -> Iterator[Any]:
    """Yield the further numbers of the first score, and what would have been found."""
    from rich.text import Text

    first = results[0]
    known = [
        f"{name} {_limits(first, key)}"
        for name, key in (("advantage", "membership advantage"), ("TPR at FPR 0.1%", "TPR at FPR 0.1%"))
        if first.context.get(key) is not None
    ]
    area, gap = (first.context.get(name) for name in (LEAST_AUC, LEAST_ADVANTAGE))
    if known:
        yield Text(f"{clean(first.variant)}: {'; '.join(known)}.")
    if area is not None and gap is not None:
        yield Text(f"Found with 80% power: an AUC of {area:.3f} or more, an advantage of {gap:.3f} or more.")


def _by_number(results: Sequence[Result]) -> Iterator[Any]:
    """Yield what the number of tables adds, for the score that gains most from all of them."""
    from rich.text import Text

    several = [r for r in results if r.curves.get(_TOLD_BY_NUMBER)]
    if not several:
        return
    best = max(several, key=lambda r: r.context["AUC"] or 0.0)
    curves = {name.removeprefix("by tables: "): values for name, values in best.curves.items()}
    yield Text(f"By number of synthetic tables, {clean(best.variant)}:", style="bold")

    def of(name: str) -> Callable[[int], str]:
        return lambda i: "-" if name not in curves else _range([curves[f"{name}{end}"][i] for end in ("", *_ENDS)])

    cols = [
        Col("tables", lambda i: f"{curves[_TOLD_BY_NUMBER][i]:,.0f}"),
        Num("rows", lambda i: f"{curves['synthetic rows'][i]:,.0f}", whole=True),
        *(Num(name, of(name), whole=True) for name in ("AUC", "TPR at FPR 1%")),
        Num("p", lambda i: f"{curves['p-value, adjusted'][i]:.4f}", whole=True),
    ]
    yield terminal_table(Table("By number of tables", cols, range(len(curves[_TOLD_BY_NUMBER]))))
    alone = best.context["AUC of the best single table"]
    gain = _limits(best, "gain of all tables over the best single one", "{:+.3f}")
    yield Text(f"Best table alone: AUC {alone:.3f}; all together {gain}.")


_ENDS = (", lower limit", ", upper limit")


def _limits(result: Result, name: str, form: str = "{:.3f}") -> str:
    """Return a number of the context with its limits; "-" where there is none."""
    values = [result.context.get(f"{name}{end}") for end in ("", *_ENDS)]
    known = [v for v in values if v is not None]
    return _range(known, form) if len(known) == len(values) else "-"


def _range(three: Sequence[float | None], form: str = "{:.3f}") -> str:
    return f"{form} ({form} to {form})".format(*three) if three[0] == three[0] else "-"


def _notes(results: Sequence[Result]) -> Iterator[Any]:
    """Yield each note once, whatever its counts; one that not all scores have, with the number of those that do.

    Notes about the tables stand with the first score and are of all.
    """
    from rich.text import Text

    first: dict[str, str] = {}
    having: Counter[str] = Counter()
    for result in results:
        plain = [_COUNT.sub("#", note) for note in result.notes]
        having.update(set(plain))
        for p, note in zip(plain, result.notes, strict=True):
            first.setdefault(p, note)
    for p, note in first.items():
        all_scores = having[p] == len(results) or is_about_tables(note)
        which = "" if all_scores else f" ({having[p]} of {len(results)} scores)"
        yield Text(f"! {clean(note)}{which}", style="dim")
