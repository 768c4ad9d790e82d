"""A comparison of candidates as Markdown and for a terminal; all labels and names are escaped."""

from __future__ import annotations

from typing import Any

from divulge.report import formatting
from divulge.report.comparison import tables
from divulge.report.comparison.model import Comparison
from divulge.report.comparison.prose import (
    RISK,
    SINGLE,
    STANDING,
    TWO,
    asked_in_words,
    choice_in_words,
    front_in_words,
    order_told,
    steps_in_words,
    use_told,
)
from divulge.report.comparison.rows import matrix, reasons
from divulge.report.documents.console import as_terminal_text, clean
from divulge.report.documents.markdown import section_of
from divulge.report.documents.tables import escaped, markdown_table, terminal_table

__all__ = ["markdown", "summary"]

# ---------------------------------------------------------------- Markdown


def markdown(data: Comparison) -> str:
    """Return the comparison as Markdown: order, ranks, risks, fidelity, what was not compared."""
    ranked = bool(data.verdict.order)
    distances = markdown_table(tables.fidelity(data))
    crossed = markdown_table(tables.matrix_of(data)) if matrix(data) else ""
    parts = [
        f"# Candidate tables compared\n\n**{escaped(choice_in_words(data))}**",
        escaped(data.verdict.sentence),
        escaped(asked_in_words(data.sampling)),
        section_of("Read this first", "\n".join(_warned(data))) if _warned(data) else "",
        section_of(
            "Order" if ranked else "Verdicts",
            _read(data, ranked), markdown_table(tables.candidates(data)), RISK if ranked else ""
        ),
        section_of("What to do now", "\n".join(f"{i}. {escaped(s)}" for i, s in enumerate(steps_in_words(data), 1)))
        if steps_in_words(data) else "",
        section_of("Two by two", crossed, markdown_table(tables.two_by_two(data)), TWO) if data.two_by_two else "",
        section_of("Risk by attack", *_by_attack(data)),
        section_of("Single comparisons", markdown_table(tables.singles(data)), SINGLE) if ranked else "",
        section_of("Fidelity", escaped(front_in_words(data)), distances) if distances else "",
        section_of("What was not compared", "\n".join(_not_compared(data))),
        section_of("Notes", "\n".join(f"- {escaped(n)}" for n in data.notes)),
        f"{escaped(str(data.started).replace('T', ' '))}, divulge {escaped(data.divulge)}.",
    ]  # fmt: skip
    return "\n\n".join(p for p in parts if p) + "\n"


def _read(data: Comparison, ranked: bool) -> str:
    return escaped(" ".join(t for t in (order_told(data) * ranked, use_told(data)) if t))


def _not_compared(data: Comparison) -> list[str]:
    return [f"- {', '.join(map(escaped, names))}: {escaped(why)}" for why, names in reasons(data)]


def _warned(data: Comparison) -> list[str]:
    lines = [f"- **Precondition not met: {escaped(w.check)}.** {escaped(w.detail)}" for w in data.warnings]
    return lines + [
        f"- **{escaped(formatting.name(f.label))} could not be attacked.** {escaped(f.why)}" for f in data.failed
    ]


def _by_attack(data: Comparison) -> list[str]:
    if not data.attacks:
        return ["No attack could be compared."]
    chosen = [f"- {escaped(a.attack)}: {escaped(a.chosen)} ({a.comparisons} compared)" for a in data.attacks]
    return [markdown_table(tables.by_attack(data)), "\n".join(chosen)]


# ---------------------------------------------------------------- terminal


def summary(data: Comparison, *, width: int = 110, colour: bool = False) -> str:
    """Return the summary of a comparison as text."""
    return as_terminal_text(_parts(data, width), width=width, colour=colour)


_MEMBERS = "Of {:,} members: at least, beyond chance, where something was found; at most by the main tests elsewhere."


def _parts(data: Comparison, width: int) -> list[Any]:
    from rich.text import Text

    parts: list[Any] = [
        Text(f"divulge: {len(data.candidates)} candidates compared", style="bold"),
        Text(clean(choice_in_words(data)), style="bold"),
        Text(clean(data.verdict.sentence)),
        *([Text(asked_in_words(data.sampling))] if data.sampling else []),
    ]
    parts += [Text(f"! {w.check}: {clean(w.detail)}", style="yellow") for w in data.warnings]
    parts += [Text(f"! {clean(f.label)} could not be attacked: {clean(f.why)}", style="red") for f in data.failed]
    parts += [Text(), terminal_table(tables.candidates(data), width, edge=False)]
    if data.verdict.order:
        parts.append(Text(_MEMBERS.format(data.tables.real.rows)))
        parts += [Text(f"{i}. {clean(step)}") for i, step in enumerate(steps_in_words(data), 1)]
    if matrix(data):
        parts.append(terminal_table(tables.matrix_of(data), edge=False))
        parts.append(
            Text("More: the row's worst attack is worse beyond chance (guesses: mean); in brackets: by group alone.")
        )
    elif data.two_by_two:
        parts += [terminal_table(tables.two_by_two(data), edge=False), Text()]
    if data.front and not matrix(data):
        parts.append(Text(clean(front_in_words(data))))
    if use := use_told(data):
        parts.append(Text(use))
    if data.not_compared and not matrix(data):
        parts.append(Text("Not ranked: " + ", ".join(n.what for n in data.not_compared) + "."))
    parts += [Text(f"Note: {clean(note)}") for note in data.notes if note not in STANDING]
    return parts
