"""An audit as Markdown, and as text for a terminal."""

from __future__ import annotations

from typing import Any

from divulge.auditing.documents import tables, words
from divulge.auditing.model import Audit
from divulge.auditing.result import AuditRecord
from divulge.report.blocks.evidence import rules
from divulge.report.documents.console import as_terminal_text, clean
from divulge.report.documents.markdown import section_of
from divulge.report.documents.tables import escaped, markdown_table
from divulge.report.verdicts import RISK

__all__ = ["markdown", "summary"]


def markdown(audit: Audit) -> str:
    """Return an audit as Markdown: verdict, results, what could have been found, trainings, notes."""
    said = [f"- {escaped(line)}" for r in audit.results for line in _lines(audit, r)]
    trained = [f"- {n} × {escaped(why)}" for why, n in words.reasons(audit)]
    notes = [f"- {escaped(n)}" for n in (*audit.notes, *words.notes_of(audit.results))]
    parts = [
        f"# divulge audit: {RISK[audit.verdict].sign} {audit.verdict}",
        escaped(audit.sentence),
        "\n".join(said),
        _rules(audit),
        section_of("Results", markdown_table(tables.results(audit))),
        section_of("What this audit can find", "\n".join(f"- {escaped(words.said(o))}" for o in audit.outlook))
        if audit.outlook else "",
        section_of("Trainings", escaped(f"{words.trainings_in_words(audit)}."), "\n".join(trained)),
        section_of("Notes", "\n".join(notes)) if notes else "",
        section_of("How", *(escaped(words.KNOWS[t]) for t in dict.fromkeys(r.test for r in audit.results)
                            if t in words.KNOWS), _how(audit)),
    ]  # fmt: skip
    return "\n\n".join(p for p in parts if p) + "\n"


def _rules(audit: Audit) -> str:
    if audit.policy is None:
        return ""
    return section_of("Rules", markdown_table(rules(audit.policy.conditions)))


def _how(audit: Audit) -> str:
    t = audit.table
    parts = [f"divulge {escaped(audit.version)}", f"design {escaped(audit.design)}"]
    parts += [] if audit.seed is None else [f"seed {audit.seed}"]
    parts += [] if t.rows is None else [f"{t.rows:,} rows"]
    parts.append(f"{len(t.columns)} columns")
    parts.append("external edition" if audit.edition == "external" else f"generator: {escaped(audit.generator)}")
    return f"{', '.join(parts)}."


def _lines(audit: Audit, result: AuditRecord) -> list[str]:
    """Return the sentences about a result."""
    more = (words.epsilon_in_words(result), words.found_in_words(result))
    return [words.sentence_of(audit, result), *(words.said(line) for line in more if line)]


def summary(audit: Audit, *, width: int = 110, colour: bool = False) -> str:
    """Return the summary of an audit for a terminal and for `print`."""
    from rich.text import Text

    parts: list[Any] = [Text(f"divulge audit: {audit.verdict}", style="bold"), Text(clean(audit.sentence)), Text("")]
    for result in audit.results:
        head, *more = _lines(audit, result)
        parts.append(Text(clean(head)))
        parts += [Text(f"  {clean(line)}", style="dim") for line in more]
    parts += [Text(""), Text(clean(f"{words.trainings_in_words(audit)}."))]
    parts += [Text(clean(f"! {n} × {why}"), style="yellow") for why, n in words.reasons(audit)[:8]]
    parts += [Text(clean(f"! {note}"), style="yellow") for note in audit.notes]
    return as_terminal_text(parts, width=width, colour=colour)
