"""A regime beside a report: HTML and Markdown of at most four printed pages."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from markupsafe import Markup

from divulge.core.threat_model import Actor, Attacker, Release
from divulge.release.regimes.answers import (
    NOT_ANSWERED,
    LineAnswer,
    Said,
    answers,
    in_words,
    open_points,
    state_of_said,
)
from divulge.release.regimes.regime import MAPPING, Regime
from divulge.report import formatting
from divulge.report.blocks.table import HTML, MARKDOWN, Cell, Col, Small, Strong, Table, Word
from divulge.report.content import assessment_text
from divulge.report.documents.markdown import section_of
from divulge.report.documents.page_of import page_of
from divulge.report.documents.tables import escaped, markdown_table
from divulge.report.model import Assessment
from divulge.report.prose import statement
from divulge.report.prose.actors import by_actor
from divulge.report.prose.decision import decision
from divulge.report.verdicts import word_of

__all__ = ["DOCUMENTS", "regime_markdown", "regime_page"]

_READ = {
    "source": "Its lines were written from the source.",
    "second hand": "Its lines were written from accounts of the source and not from its text: look up the paragraph "
    "before you cite one.",
    "not confirmed": "Its lines are not confirmed in the source: look up the paragraph before you cite one.",
}
_NO_JUDGEMENT = (
    "Beside each line stands what the report says, in its own words and numbers. This document judges nothing: it "
    "adds no verdict to those of the report."
)
_LETTERS = 180  # of what was stated
_OF_RESULTS, _OF_TABLE = 320, 520  # letters of a result by actor, and of the table
_PLACES = "name and office ________, {} ________, date ________, signature ________"
_ACTORS = ("who", "knows", "source", "wants", "sees", "effort", "harm")
_TAKEN, _ASSUMED = ("knows", "wants"), ("who", "sees")
"""What the run knows of any actor, and what it assumes of an attacker who is not described."""
_RELEASE = ("recipient", "purpose", "setting", "controls", "onward")


def regime_page(regime: Regime, data: Assessment) -> str:
    """Return a regime beside a report as one offline HTML page."""
    return page_of("regime.html.j2", _context(regime, data), package="divulge.release.regimes", style=_STYLE)


_STYLE = (
    "\n.regime td, .regime th { width: 56%; overflow-wrap: anywhere; }"
    " .regime th[scope=row], .regime thead th:first-child { width: 30%; }"
    " .regime td:last-child, .regime thead th:last-child { width: 14%; color: var(--dim); }"
    " .regime ul { margin: 0; padding-left: 1.1rem; }"
    " @media print { .regime { font-size: 7.9pt !important; } main > section { margin-bottom: .5rem; }"
    " .regime tr { break-inside: avoid; } }\n"
)


def regime_markdown(regime: Regime, data: Assessment) -> str:
    """Return a regime beside a report as Markdown."""
    c = _context(regime, data)
    told = [f"- {escaped(line)}" for line in c["missing"]]
    actors = [f"- {name}: {escaped(text)}" for name, text in c["actors"]]
    signed = [f"- {word}: {escaped('; '.join(texts))}" for word, texts in c["decided"].given]
    signed += [f"- Not stated: {', '.join(c['decided'].left_out)}."] * bool(c["decided"].left_out)
    signs = [f"- {who}: {_PLACES.format(what)}" for who, what in statement.SIGNS]
    parts = [
        f"# {escaped(regime.title)}",
        f"**{MAPPING}** {escaped(c['mapped'])}",
        escaped(regime.note),
        escaped(c["about"]),
        _NO_JUDGEMENT,
        section_of("In short", "\n".join(f"- {name}: {escaped(text)}" for name, text in c["short"])),
        *(section_of(escaped(head), markdown_table(table)) for head, table in c["parts"]),
        section_of("What is missing", "\n".join(told) or "Nothing that the lines name."),
        section_of("Actors", "\n".join(actors), *c["silent"]),
        section_of("Sign-off", "\n".join([*signed, *signs]), statement.CERTIFICATE),
    ]
    return "\n\n".join(p for p in parts if p) + "\n"


DOCUMENTS = {"html": regime_page, "md": regime_markdown}
"""The documents about a regime, by format."""


def _whose(part: Attacker | Release) -> str:
    """Return whose answers these are: of an actor the name."""
    return formatting.name(part.name) if isinstance(part, Actor) else ""


def _in_short(made: tuple[LineAnswer, ...], data: Assessment) -> list[tuple[str, str]]:
    """Return the table, the verdict of the report with its limit, and which lines are answered."""
    told = decision(data)
    record = dict(statement.for_the_record(data, told))
    whole = sum(not open_points(a) for a in made)
    none, part = (
        [str(a.number) for a in made if open_points(a) and a.answered == answered] for answered in (False, True)
    )
    unsure = sum(not open_points(a) and any(s.state == "cannot tell" for s in a.said) for a in made)
    lines = [f"{whole} of {len(made)} are answered" + f" ({unsure} of them: cannot tell)" * bool(unsure)]
    lines += [f"not answered: {', '.join(none)}"] * bool(none) + [f"in part: {', '.join(part)}"] * bool(part)
    return [
        ("table", formatting.brief(record["Table"], _OF_TABLE)),
        ("verdict of the report", f"{told.title}. {record['Residual risk']}"),
        ("limit", record["Limit"]),
        ("lines", f"{'; '.join(lines)}."),
    ]


def _silent(data: Assessment, parts: list[tuple[Attacker | Release, tuple[str, ...]]]) -> list[str]:
    """Return what nobody stated, by actor, first what the run took in its place."""
    taken: list[str] = []
    absent: list[str] = []
    for part, keys in parts:
        of_run = () if part is data.threat.release else _TAKEN if isinstance(part, Actor) else (*_TAKEN, *_ASSUMED)
        unstated = [k for k in keys if not getattr(part, k)]
        whose = f"{_whose(part)}: " if _whose(part) else ""
        for names, out in (
            ([k for k in unstated if k in of_run], taken),
            ([k for k in unstated if k not in of_run], absent),
        ):
            out += [whose + ", ".join(statement.key_words(k) for k in names)] * bool(names)
    return [
        f"{head}: {'; '.join(out)}."
        for head, out in (("Taken from the run, as it is not stated", taken), ("Not stated", absent))
        if out
    ]


def _context(regime: Regime, data: Assessment) -> dict[str, Any]:
    made = answers(regime, data)
    heads = list(dict.fromkeys(a.line.under for a in made))
    release = data.threat.release
    attackers = data.threat.actors or (data.threat.attacker,)
    decided = statement.decided(data)
    actors = [(name, formatting.brief(text, _LETTERS)) for name, text in statement.knowledge(data).items()]
    actors += [
        (formatting.name(a.name), formatting.brief(f"{a.state}. {a.sentence}", _OF_RESULTS)) for a in by_actor(data)
    ]
    of: list[tuple[Attacker | Release, tuple[str, ...]]] = [
        *((part, _ACTORS) for part in attackers),
        (release, _RELEASE),
    ]
    stated = [
        (
            f"{_whose(part)}, {statement.key_words(k)}".removeprefix(", "),
            formatting.brief("; ".join(getattr(part, k)), _LETTERS),
        )
        for part, keys in of
        for k in keys
        if getattr(part, k) and not (part is not release and k == "who")
    ]
    synthetic = data.tables.synthetic
    digest = f"; sha256 of the synthetic table begins with {synthetic.sha256[:12]}" if synthetic.sha256 else ""
    edition = "external edition" if data.edition == "external" else "custodian's edition"
    return {
        "regime": regime,
        "mapping": MAPPING,
        "mapped": f"Mapped by {formatting.prose(regime.by, 80)}. Source: {regime.source}; edition: {regime.edition}; "
        f"date: {regime.date}. {_READ[regime.read]}",
        "about": f"The report: divulge {data.divulge}, {data.started[:10]}, {edition}{digest}.",
        "judges": _NO_JUDGEMENT,
        "parts": [(head, _table(head, [a for a in made if a.line.under == head])) for head in heads],
        "short": _in_short(made, data),
        "missing": [f"Line {a.number}: {open_}." for a in made if (open_ := open_points(a))],
        "actors": [*actors, *stated],
        "silent": _silent(data, of),
        "decided": statement.Stated(
            [(w, [formatting.brief("; ".join(texts), _LETTERS)]) for w, texts in decided.given], decided.left_out
        ),
        "certificate": statement.CERTIFICATE,
        "data": data,
        "version": data.divulge,
        "fingerprint": sha256(assessment_text(data).encode()).hexdigest(),
    }


def _table(head: str, rows: list[LineAnswer]) -> Table:
    def asked(a: LineAnswer) -> Cell:
        words = (f"{a.number}. ", Strong(a.line.asks))
        return (*words, Small(a.read, "note")) if a.read else words

    def said(a: LineAnswer) -> Cell:
        given = [s for s in a.said if s.text]
        pieces: list[Any] = [p for s in given for p in _pieces(s, alone=len(a.said) == 1)]
        if lacking := open_points(a):
            pieces += [Strong("Not answered in full" if a.answered else NOT_ANSWERED), f": {lacking}."]
        return tuple(pieces)

    def of(a: LineAnswer) -> Cell:
        stated = [f.rpartition(".")[2].replace("_", " ") for f in a.line.fields if f.startswith("threat.")]
        names = [n.replace("_", " ") for n in (*a.line.results, *a.line.fields) if not n.startswith("threat.")]
        return "; ".join([*names, *([f"schema file: {', '.join(stated)}"] if stated else [])]) or None

    pages = (HTML, MARKDOWN)
    cols = [
        Col("what is asked", asked, where=pages),
        Col("what this report says", said, where=pages),
        Col("from", of, where=pages),
    ]
    return Table(head, cols, rows, css="regime", hidden=True, scroll="")


def _pieces(s: Said, *, alone: bool) -> list[Any]:
    """Return what one result or field says: its name where there are several, its state, its sentence."""
    state: list[Any] = [Word(state_of_said(s), word_of(s.state)), ". "] if s.state else []
    name: list[Any] = [] if alone else [f"{formatting.capitalized(in_words(s.name))}: "]
    return [*name, *state, s.text if s.text.endswith((".", "…", "?")) else f"{s.text}.", " ", Markup("<br>")]
