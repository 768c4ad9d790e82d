"""The summary of a report for a terminal and for `print`."""

from __future__ import annotations

from typing import Any

from divulge.report import formatting, order
from divulge.report.blocks import results
from divulge.report.claims.prose import claim_in_words
from divulge.report.documents.console import as_terminal_text, clean
from divulge.report.documents.tables import terminal_table
from divulge.report.model import Assessment, ResultRecord
from divulge.report.prose import people, statement, use
from divulge.report.prose.actors import by_actor
from divulge.report.prose.change import accepted_line
from divulge.report.prose.decision import Decision, decision, untested
from divulge.report.prose.tiles import Tile

__all__ = ["summary"]

_SHOWN = 16
_PARTS = 3  # near copies on part of the columns


def summary(data: Assessment, *, width: int = 110, colour: bool = False) -> str:
    """Return the summary of a report as text."""
    return as_terminal_text(_parts(data, width), width=width, colour=colour)


def _parts(data: Assessment, width: int) -> list[Any]:
    from rich.text import Text

    parts = [*_head(data), *_compared(data, width)]
    if statement.threat_line(data):
        parts.append(Text(clean(statement.threat_line(data))))
    parts += [Text(clean(f"! {attacks} failed: {why}"), style="red") for attacks, why in order.failures(data)]
    if data.records:
        told = (people.standing_out(data.records), people.flags(data.records))
        parts += [Text(line) for line in told if line]
    parts += [Text(clean(line)) for line in _kept(data)]
    parts += _control(data)
    away = untested(data)
    return [*parts, Text(f"Not tested: {clean(', '.join(away))}.")] if away else parts


def _kept(data: Assessment) -> list[str]:
    """Return what the table keeps beside a fresh sample, in a few lines."""
    lines = [f"Fidelity: {line.words}." for line in use.kept_lines(data)]
    scope = data.fidelity_scope
    lines += [f"! fidelity: {w}" for w in scope.warnings] if scope else []
    return [*lines, silent] if lines and (silent := use.silent_line(data)) else lines


def _head(data: Assessment) -> list[Any]:
    """Return the verdict, the warnings, the policy, the change and the three questions."""
    from rich.text import Text

    parts: list[Any] = []
    if data.revealed and data.edition == "custodian":
        what = clean(", ".join(data.revealed))
        parts.append(Text(f"! this report holds data values: it was asked to reveal {what}"))
    told = decision(data)
    parts += [
        Text(f"divulge: {data.verdict.verdict}", style="bold"),
        *([Text(clean(told.excluded))] if told.excluded else []),
        Text(clean(told.headline)),
        Text(clean(f"{told.release} {told.at_risk}".strip())),
        *(Text(clean(fact)) for fact in (*_facts(data, told), told.together, told.asked, _sizes(data)) if fact),
        Text(""),
    ]
    bad = [f"! {c.check}: {c.detail}" for c in data.preconditions if not c.ok]
    late = [f"! left out: {o.n:,} of {o.of:,} tests of {o.attack.replace('_', ' ')}: {o.why}" for o in data.left_out]
    parts += [Text(clean(line), style="yellow") for line in (*bad, *late)]
    read = (c.detail for c in data.preconditions if c.ok and c.check == "same types")  # how columns are written
    parts += [Text(clean(f"Read: {detail}.")) for detail in read]
    if data.policy:
        broken = sum(not c.kept for c in data.policy.conditions)
        kept = f"broken, {broken} of {len(data.policy.conditions)} conditions" if broken else "kept"
        parts.append(Text(f"Policy «{clean(formatting.prose(data.policy.name, 120))}»: {kept}."))
        parts += [Text(clean(accepted_line(a))) for a in data.policy.accepted]
    parts += [Text(clean(line)) for line in claim_in_words(data)]
    if data.change:
        parts.append(Text(f"Change: {clean(data.change.sentence)} {clean(use.changed_line(data))}".rstrip()))
    parts += [Text(clean(_answer(t))) for t in told.tiles if t.id != "use" and t.state != "not tested"]
    parts += [Text(clean(f"{formatting.capitalized(a.name)}: {a.state}. {a.sentence}")) for a in by_actor(data)]
    parts += [Text(""), Text(clean(f"In full: {formatting.spoken(data, data.verdict.sentence)}"))]
    return parts


def _answer(tile: Tile) -> str:
    """Return the answer to one question: that of its tile, with the risk."""
    risk = "" if tile.r is None else tile.small.removeprefix(formatting.label(tile.r, "->")).removeprefix(": ")
    blind = next((f" Without the table: {b.told}." for b in tile.bars if b.name == "blind guess"), "")
    return f"{tile.head}: {tile.state}. {tile.sentence}{blind}" + (f" {formatting.capitalized(risk)}." if risk else "")


def _sizes(data: Assessment) -> str:
    """Return how many people there are on each side of linked tables, and how many rows they have."""
    told = [f"{formatting.capitalized(name)}: {size}." for name, size in people.sizes(data)]
    return " ".join(told[1:] + told[:1])


def _facts(data: Assessment, told: Decision) -> list[str]:
    """Return the facts about single people but what the headline says: whole records that name nobody."""
    facts = people.facts_in_words(data)
    is_told = "word for word" in told.headline and data.facts is not None and not data.facts.verbatim.named
    return facts[1:] if is_told else facts


def _compared(data: Assessment, width: int) -> list[Any]:
    """Return the table of comparisons, and how many more there are."""
    from rich.text import Text

    # what the lines about the questions and membership tell already
    judged = [r for r in order.judged(data.results) if not order.in_question(r) and r.attack != "membership"]
    parts: list[Any] = []
    better = [r for r in judged if not order.is_blind(r)]
    if better:
        parts.append(Text(""))
        shared = order.shared_keys(better)
        if shared:
            parts.append(Text(f"Known: {clean(' + '.join(shared))}"))
        sizes = {role: formatting.rows_of(data, role) for role in ("real", "synthetic", "holdout")}
        rows = order.few_parts(sorted(better, key=_sort_key), _PARTS)[:_SHOWN]
        parts.append(terminal_table(results.results(rows, any(r.holdout for r in better), shared, sizes), width))
    what = "comparison" if any(r.holdout for r in judged) else "result"
    shown = min(len(order.few_parts(better, _PARTS)), _SHOWN)
    if len(better) > shown:
        rest = formatting.several(len(better) - shown, f"more {what}")
        parts.append(Text(f"{rest} {'is' if len(better) - shown == 1 else 'are'} in the report."))
    if blind := [r for r in judged if order.is_blind(r)]:
        names = ", ".join(dict.fromkeys(r.attack.replace("_", " ") for r in blind))
        told = "does" if len(blind) == 1 else "do"
        parts.append(
            Text(f"{formatting.several(len(blind), what)} {told} no better than guessing without the table: {names}.")
        )
    return parts


def _control(data: Assessment) -> list[Any]:
    """Return what the positive control showed."""
    from rich.padding import Padding
    from rich.text import Text

    seen = formatting.controls(data)
    if not seen:
        return []
    lines = [Padding(Text(clean(f"{kind}: {text}")), (0, 0, 0, 2), expand=False) for kind, text in seen]
    method = Padding(Text(formatting.CONTROL, style="dim"), (0, 0, 1, 2), expand=False)
    return [Text("\nPositive control", style="bold"), *lines, method]


def _sort_key(r: ResultRecord) -> tuple[int, float]:
    bound = formatting.risk_value(r, "low_simultaneous")
    rate = formatting.rate_of(r.real)
    return order.ORDER[r.verdict or "no holdout"], -(bound if bound is not None else rate if rate is not None else 0.0)
