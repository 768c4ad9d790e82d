"""A comparison of candidates as Markdown and for a terminal; all labels and names are escaped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from divulge.core.result import FOUND, number, percent
from divulge.report import formatting
from divulge.report.comparison.model import Attack, Band, Candidate, CandidateTable, Cell, Comparison, TwoByTwo, Worst
from divulge.report.comparison.prose import STANDING, asked_in_words, some
from divulge.report.documents.console import as_terminal_text, clean
from divulge.report.documents.markdown import section_of
from divulge.report.documents.tables import escaped, table_of
from divulge.report.model import Utility

__all__ = [
    "TWO",
    "by_order",
    "cells",
    "choice_in_words",
    "limits",
    "markdown",
    "matrix",
    "ranks",
    "reasons",
    "single_rows",
    "summary",
    "utility_rows",
]

RISK = (
    "The risk of an attack is (members - strangers) / (1 - strangers) of its mean score per person, over the same "
    "primary comparisons for every candidate; they are fixed before any outcome is seen. A candidate with a finding, "
    "or whose members and strangers cannot be compared, ranks behind the others whatever its risk: a finding may lie "
    "in any comparison, not only in those ranked, and a deficit makes the risk negative. Otherwise the worst risk "
    "decides, and rank 1 is the least. Limits and ranks hold together, over all attacks and candidates, given the "
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
    "worst on the other, for certain. Difference of risk: under the attack where the two differ most clearly, which "
    "may be another one; the same people are asked through both. Distance: of pairs of columns, beyond a fresh sample; "
    "the same real rows are behind both, in the same cells, with as many rows of each. Limits hold for all candidates "
    "together; farther is only who is beyond a fresh sample for certain."
)
"""What the differences of two candidates mean."""
MOST = 40
"""Pairs of candidates that a document shows; comparison.json has all."""


def matrix(data: Comparison) -> list[list[str]]:
    """Return who is riskier of any two candidates: a row each, in their order; "more" where the row's is the riskier.

    "" where one cannot tell, "·" on the diagonal; [] without ranks, or of fewer than four candidates.
    """
    labels = [c.label for c in by_order(data)]
    if len(labels) < _MATRIX or not any(p.riskier for p in data.two_by_two):
        return []
    over = {(p.riskier, p.second if p.riskier == p.first else p.first) for p in data.two_by_two if p.riskier}
    return [
        ["·" if a == b else "more" if (a, b) in over else "less" if (b, a) in over else "" for b in labels]
        for a in labels
    ]


_MATRIX = 4  # candidates from which pairs are shown as a matrix


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
        return told if cleared else f"{told} “{formatting.name(chosen[0].label)}” is the only one without a finding."
    risks = {c.label: c.worst.value for c in chosen if c.worst and c.worst.value is not None}
    far = {c.label: max(0.0, c.fidelity.excess) for c in chosen if c.fidelity}
    best = [
        (formatting.name(min(of, key=lambda label: of[label])), has)
        for of, has in ((risks, "has the least risk"), (far, "is the most useful (nearest in pairs of columns)"))
        if of
    ]
    if not best or not data.verdict.order:
        return told
    if len({name for name, _ in best}) == 1:
        return f"{told} Of {among}, by estimate, “{best[0][0]}” {' and '.join(has for _, has in best)}."
    return f"{told} Of {among}, by estimate, {' and '.join(f'“{name}” {has}' for name, has in best)}."


def two_rows(data: Comparison) -> list[tuple[TwoByTwo, str, str]]:
    """Return any two candidates with their differences of risk and of distance in words, those told apart first."""
    pairs = sorted(data.two_by_two, key=lambda p: (p.riskier is None) + (p.farther is None))
    return [
        (p, f"{_gap(p.risk, p.risk_low, p.risk_high)}{f' ({p.attack})' if p.attack else ''}",
         _gap(p.distance, p.distance_low, p.distance_high))
        for p in pairs[:MOST]
    ]  # fmt: skip


def _gap(value: float | None, low: float | None, high: float | None) -> str:
    return "-" if value is None else f"{number(value)} ({number(low)} to {number(high)})"


def by_order(data: Comparison) -> list[Candidate]:
    """Return the candidates in their order; by label where nothing is ranked."""
    place = {label: i for i, label in enumerate(data.verdict.order)}
    return sorted(data.candidates, key=lambda c: (place.get(c.label, 0), c.label))


def ranks(cell: Worst | Cell | None) -> str:
    """Return the ranks that a candidate may have: "2", or "1 to 3"."""
    if not cell or cell.first is None:
        return "-"
    return str(cell.first) if cell.first == cell.last else f"{cell.first} to {cell.last}"


def limits(cell: Worst | Cell | None) -> str:
    """Return the limits of a risk."""
    if not cell or cell.low is None or cell.high is None:
        return "-"
    return f"{number(cell.low)} to {number(cell.high)}"


def utility_rows(data: Comparison) -> list[tuple[Utility, list[float | None]]]:
    """Return each utility measure with its value for each candidate, in the order of the candidates."""
    candidates = by_order(data)
    measures = candidates[0].utility if candidates else []
    return [(m, [c.utility[i].value for c in candidates]) for i, m in enumerate(measures)]


def reasons(data: Comparison) -> list[tuple[str, list[str]]]:
    """Return each reason why attacks are not ranked, with the attacks."""
    out: dict[str, list[str]] = {}
    for n in data.not_compared:
        out.setdefault(n.why, []).append(n.what)
    return list(out.items())


def _largest(table: CandidateTable) -> tuple[Band | None, Band | None]:
    """Return the bands with the largest lower limit and with the largest upper limit of a table."""
    bands = [b for b in table.bands if b.low is not None and b.high is not None]
    low = max(bands, key=lambda b: b.low or 0.0, default=None)
    return low, max(bands, key=lambda b: b.high or 0.0, default=None)


@dataclass(frozen=True, slots=True)
class Single:
    """One table, with the bands that have the largest limits of its single comparisons."""

    name: str
    table: CandidateTable
    low: Band | None
    high: Band | None


def single_rows(data: Comparison) -> list[Single]:
    """Return one row for each table: its verdict and the largest limits of its single comparisons."""
    rows = []
    for c in by_order(data):
        for i, t in enumerate(c.tables):
            low, high = _largest(t)
            name = c.label if len(c.tables) == 1 else f"{c.label} ({i + 1})"
            rows.append(Single(name, t, low, high))
    return rows


# ---------------------------------------------------------------- Markdown


def markdown(data: Comparison) -> str:
    """Return the comparison as Markdown: order, ranks, risks, utility, what was not compared."""
    candidates = by_order(data)
    ranked = bool(data.verdict.order)
    labels = [escaped(formatting.name(c.label)) for c in candidates]
    parts = [
        f"# Candidate tables compared\n\n**{escaped(choice_in_words(data))}**",
        escaped(data.verdict.sentence),
        escaped(asked_in_words(data.sampling)),
        section_of("Read this first", "\n".join(_warned(data))) if _warned(data) else "",
        section_of("Order", _order(candidates), RISK) if ranked else section_of("Verdicts", _verdicts(candidates)),
        section_of("Two by two", _matrix(data, labels), _two_by_two(data), TWO) if data.two_by_two else "",
        section_of("Risk by attack", *_by_attack(data, labels, ranked)),
        section_of("Single comparisons", _singles(data), SINGLE) if ranked else "",
        section_of("Fidelity", escaped(data.front.sentence), _fidelity(data)) if data.front else "",
        section_of("Utility", *_utility(data, labels)) if utility_rows(data) else "",
        section_of("What was not compared", "\n".join(_not_compared(data))),
        section_of("Notes", "\n".join(f"- {escaped(n)}" for n in data.notes)),
        f"{escaped(str(data.started).replace('T', ' '))}, divulge {escaped(data.divulge)}.",
    ]  # fmt: skip
    return "\n\n".join(p for p in parts if p) + "\n"


def _not_compared(data: Comparison) -> list[str]:
    return [f"- {', '.join(map(escaped, names))}: {escaped(why)}" for why, names in reasons(data)]


def _warned(data: Comparison) -> list[str]:
    lines = [f"- **Precondition not met: {escaped(w.check)}.** {escaped(w.detail)}" for w in data.warnings]
    return lines + [
        f"- **{escaped(formatting.name(f.label))} could not be attacked.** {escaped(f.why)}" for f in data.failed
    ]


def _order(candidates: Sequence[Candidate]) -> str:
    heads = ["candidate", "rank", "verdict", "risk", "limits", "worst attack", "tables"]
    rows = [
        [
            escaped(formatting.name(c.label)), ranks(c.worst), escaped(_in_words(c)), number(c.worst.value),
            limits(c.worst), escaped(c.worst.attack), str(len(c.tables)),
        ]
        for c in candidates
        if c.worst
    ]  # fmt: skip
    return table_of(heads, rows, (3, 6))


def _verdicts(candidates: Sequence[Candidate]) -> str:
    rows = [[escaped(formatting.name(c.label)), escaped(_in_words(c)), str(len(c.tables))] for c in candidates]
    return table_of(["candidate", "verdict", "tables"], rows, (2,))


def _in_words(candidate: Candidate) -> str:
    """Return the verdict on a candidate, and what it rests on."""
    told = candidate.verdict + (f": {formatting.brief(candidate.why, 120)}" if candidate.why else "")
    return f"{told}. {formatting.brief(candidate.apart, 160)}" if candidate.apart else told


def cells(data: Comparison, attack: Attack) -> list[Cell]:
    """Return the cells of an attack in the order of the candidates."""
    of = {c.label: c for c in attack.candidates}
    return [of[c.label] for c in by_order(data)]


def _by_attack(data: Comparison, labels: Sequence[str], ranked: bool) -> list[str]:
    if not data.attacks:
        return ["No attack could be compared."]
    heads = ["candidate", *(escaped(a.attack) for a in data.attacks)]
    columns = [cells(data, a) for a in data.attacks]
    if ranked:
        shown = [[f"{number(c.risk)} ({limits(c)}), rank {ranks(c)}" for c in column] for column in columns]
    else:
        shown = [[percent(c.members) for c in column] for column in columns]
    rows = [[label, *(column[i] for column in shown)] for i, label in enumerate(labels)]
    chosen = [f"- {escaped(a.attack)}: {escaped(a.chosen)} ({a.comparisons} compared)" for a in data.attacks]
    return [table_of(heads, rows), "\n".join(chosen)]


def _matrix(data: Comparison, labels: Sequence[str]) -> str:
    rows = [[label, *row] for label, row in zip(labels, matrix(data), strict=False)]
    return table_of(["risk beside", *labels], rows) if rows else ""


def _two_by_two(data: Comparison) -> str:
    rows = [
        [escaped(formatting.name(p.first)), escaped(formatting.name(p.second)), escaped(p.sentence), risk, distance]
        for p, risk, distance in two_rows(data)
    ]
    return table_of(["first", "second", "verdict", "difference of risk", "difference of distance"], rows)


def _singles(data: Comparison) -> str:
    rows = []
    for row in single_rows(data):
        low, high = row.low, row.high
        at_least = "-" if low is None else f"{number(low.low)} ({escaped(formatting.brief(low.where, 90))})"
        up_to = "-" if high is None else f"{number(high.high)} ({escaped(high.attack)})"
        rows.append([escaped(formatting.name(row.name)), row.table.verdict, at_least, up_to])
    return table_of(["table", "verdict", "at least", "at most"], rows)


def _fidelity(data: Comparison) -> str:
    heads = ["candidate", "pairs of columns", "ruler", "beyond a fresh sample", "distance without noise"]
    rows = [
        [escaped(formatting.name(c.label)), _of_pairs(f.verdict), number(f.ruler), number(f.excess),
         f"{number(f.low)} to {number(f.high)}"]
        for c in by_order(data) if (f := c.fidelity)
    ]  # fmt: skip
    return table_of(heads, rows, (2, 3))


def _utility(data: Comparison, labels: Sequence[str]) -> list[str]:
    rows, told = [], []
    for measure, values in utility_rows(data):
        sign = f"{escaped(measure.measure)} ({measure.better} is better)"
        rows.append([sign, *map(number, values), number(measure.reference)])
        told.append(f"- {escaped(measure.measure)}: {escaped(measure.about)}")
    return [table_of(["measure", *labels, "holdout"], rows), "\n".join(told)]


# ---------------------------------------------------------------- terminal


def summary(data: Comparison, *, width: int = 110, colour: bool = False) -> str:
    """Return the summary of a comparison as text."""
    return as_terminal_text(_parts(data), width=width, colour=colour)


def _parts(data: Comparison) -> list[Any]:
    from rich.text import Text

    parts: list[Any] = [
        Text(f"divulge: {len(data.candidates)} candidates compared", style="bold"),
        Text(clean(choice_in_words(data)), style="bold"),
        Text(clean(data.verdict.sentence)),
        *([Text(asked_in_words(data.sampling))] if data.sampling else []),
    ]
    parts += [Text(f"! {w.check}: {clean(w.detail)}", style="yellow") for w in data.warnings]
    parts += [Text(f"! {clean(f.label)} could not be attacked: {clean(f.why)}", style="red") for f in data.failed]
    parts += [Text(), _grid(data), Text()]
    if crossed := matrix(data):
        labels = [clean(formatting.name(c.label)) for c in by_order(data)]
        parts.append(_ruled(["risk beside", *labels], [[a, *row] for a, row in zip(labels, crossed, strict=True)], ()))
        parts.append(
            Text("More: the worst attack on it is worse for certain. Differences with limits: comparison.html.")
        )
    elif data.two_by_two:
        rows = [
            [clean(formatting.name(p.first)), clean(formatting.name(p.second)), clean(p.sentence), risk, distance]
            for p, risk, distance in two_rows(data)
        ]
        parts += [_ruled(["first", "second", "two by two", "first less second: risk", "distance"], rows, ()), Text()]
    if data.front:
        parts.append(Text(clean(data.front.sentence)))
        parts.append(Text("Distance: of pairs of columns, beyond what another sample of the same people shows (0)."))
    if utility_rows(data) and not data.front:
        parts.append(_kept(data))
    if data.not_compared:
        parts.append(Text("Not ranked: " + ", ".join(n.what for n in data.not_compared) + "."))
    parts += [Text(f"Note: {clean(note)}") for note in data.notes if note not in STANDING]
    return parts


def _grid(data: Comparison) -> Any:
    ranked = bool(data.verdict.order)
    kept = any(c.fidelity for c in data.candidates)
    heads = ["candidate", *(["rank", "risk, limits", "worst attack"] if ranked else []), "verdict"]
    heads += ["distance"] if kept else []
    rows = []
    for c in by_order(data):
        row = [clean(formatting.name(c.label))]
        if c.worst:
            row += [ranks(c.worst), f"{number(c.worst.value)} ({limits(c.worst)})", c.worst.attack]
        told = [number(c.fidelity.excess) if c.fidelity else "-"] if kept else []
        rows.append([*row, c.verdict, *told])
    return _ruled(heads, rows, ())


def _of_pairs(verdict: str) -> str:
    """Return a verdict on all pairs; the mean may be that of a fresh sample where one of them differs."""
    return "differs in some pair" if verdict == "differs" else verdict


def _kept(data: Comparison) -> Any:
    """Return the table of utility."""
    found = utility_rows(data)
    rows = [
        [clean(formatting.name(c.label)), *(number(values[i]) for _, values in found)]
        for i, c in enumerate(by_order(data))
    ]
    rows.append(["holdout", *(number(m.reference) for m, _ in found)])
    heads = [f"{m.measure} ({m.better} is better)" for m, _ in found]
    return _ruled(["utility", *heads], rows, range(1, 1 + len(heads)))


def _ruled(heads: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int]) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for i, head in enumerate(heads):
        table.add_column(
            head, justify="right" if i in right else "left", overflow="fold", no_wrap=head == "risk, limits"
        )
    for row in rows:
        table.add_row(*map(Text, row))
    return table
