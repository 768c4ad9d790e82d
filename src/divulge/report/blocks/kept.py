"""The tables about what a table keeps: measures of fidelity, beside a fresh sample and the holdout."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from divulge.core.result import number, percent
from divulge.measures.result import FidelityResult, digits
from divulge.report import formatting
from divulge.report.blocks import cells
from divulge.report.blocks.table import Cell, Col, Name, Num, Piece, Small, Table
from divulge.report.policy_model import ChangedFidelity

__all__ = ["changed", "differing", "headlines", "lines", "listed", "measures", "of_measure", "values"]

Labelled = tuple[str, FidelityResult]
Shown = Callable[[float | None], str]


def _fresh(r: FidelityResult, shown: Shown = number) -> str:
    return f"{shown(r.fresh_sample.low)} to {shown(r.fresh_sample.high)}" if r.fresh_sample else "-"


def _holdout(r: FidelityResult, shown: Shown = number) -> str:
    return shown(r.holdout.value if r.holdout else None)


def _digits(value: float | None) -> str:
    return "-" if value is None else digits(value)


# ---------------------------------------------------------------- the assessment


def headlines(rows: Sequence[FidelityResult]) -> Table:
    """Return each measure over all columns."""
    return Table(
        "Measures, each over all columns",
        [
            Col(
                "measure",
                lambda r: r.measure.replace("_", " ") + (f" of {formatting.name(r.table)}" if r.table else ""),
            ),
            Col("verdict", lambda r: cells.fidelity(r.verdict)),
            Num("value", lambda r: number(r.value)),
            Col("a fresh sample", _fresh),
            Num("ruler", lambda r: number(r.ruler)),
            Num("holdout", _holdout),
        ],
        rows,
    )


def lines(title: str, rows: Sequence[Any], numbers: bool) -> Table:
    """Return the measures of one heading; an external edition shows no numbers."""

    def name(line: Any) -> Cell:
        return (line.name, Small(line.unit)) if line.unit and numbers else line.name

    return Table(
        title,
        [
            Col("measure", name),
            Col("verdict", lambda line: cells.fidelity(line.r.verdict)),
            Num("ruler", lambda line: cells.two(line.r.ruler), numbers),
            Num("value" if any(x.unit for x in rows) else "distance", lambda line: number(line.r.value), numbers),
            Col("another sample", lambda line: _fresh(line.r), numbers),
        ],
        [line for line in rows if line.r.verdict != "not measured"],
        css="small",
        label=f"{title}: measures over all columns",
    )


def differing(rows: Sequence[Labelled], place: int) -> Table:
    """Return the results that a column explains."""
    return Table(
        "Results that differ, the largest ruler first",
        [
            Col("measure", lambda row: Name(formatting.brief(row[0], 200))),
            Num("ruler", lambda row: cells.two(row[1].ruler)),
            Num("value", lambda row: number(row[1].value)),
            Col("another sample", lambda row: _fresh(row[1])),
        ],
        rows,
        css="small",
        scroll="scroll tall",
        label=f"Column {place} that differs: its results",
    )


def of_measure(name: str, sentence: str, rows: Sequence[FidelityResult]) -> Table:
    """Return all results of one measure."""
    return Table(
        f"{formatting.capitalized(name)}: {sentence}",
        [
            Col("of", _what),
            Col("verdict", lambda r: cells.fidelity(r.verdict)),
            Num("ruler", lambda r: cells.two(r.ruler)),
            Num(rows[0].quantity, lambda r: number(r.value)),
            Col("another sample", _fresh),
            Num("holdout", _holdout),
            Num("adjusted p", lambda r: formatting.p_text(r.p_adjusted)),
        ],
        rows,
        css="small sortable",
        scroll="scroll tall",
        label=f"{name}: all results",
    )


def _what(r: FidelityResult) -> Cell:
    """Return the columns, the target and the group of a result."""
    target = () if r.target is None else ("target ", Name(formatting.name(r.target)))
    group = (Name(formatting.name(r.group)),) if r.group else ()
    parts: list[Piece] = [*(cells.names(r.columns) if r.columns else ()), *target]
    parts += [", "] * bool(parts and group) + [*group]
    return (*parts, f" ({r.variant})" if r.variant else "")


def values(rows: Sequence[tuple[str, float, float]]) -> Table:
    """Return the shares of the values of one column."""
    return Table(
        "Shares of each value",
        [
            Col("value", lambda row: Name(formatting.brief(row[0], 60))),
            Num("real", lambda row: percent(row[1])),
            Num("synthetic", lambda row: percent(row[2])),
        ],
        rows,
        css="small",
        scroll="",
        hidden=True,
    )


def changed(rows: Sequence[ChangedFidelity]) -> Table:
    """Return the measures beside those of an earlier run."""
    return Table(
        "Change of fidelity, all columns together",
        [
            Col("measure", lambda c: c.measure.replace("_", " ")),
            Num("ruler before", lambda c: cells.two(c.before)),
            Num("ruler now", lambda c: cells.two(c.now)),
            Num("change of distance", lambda c: number(c.difference)),
            Col("interval, all measures together", lambda c: f"{number(c.low)} to {number(c.high)}"),
            Col("verdict", lambda c: c.verdict),
        ],
        rows,
        css="small",
        label="Change of fidelity",
    )


# ---------------------------------------------------------------- the page of `divulge fidelity`


def _numbers(result: Callable[[Any], FidelityResult], value: Callable[[Any], str]) -> list[Col]:
    return [
        Col("verdict", lambda row: cells.fidelity(result(row).verdict)),
        Num("value", value),
        Col("a fresh sample", lambda row: _fresh(result(row), _digits)),
        Num("ruler", lambda row: cells.two(result(row).ruler)),
        Num("holdout", lambda row: _holdout(result(row), _digits)),
    ]


def listed(caption: str, rows: Sequence[Labelled], label: str) -> Table:
    """Return results with their labels."""

    def p_value(row: Labelled) -> str:
        return "-" if row[1].p_adjusted is None else f"{row[1].p_adjusted:.3f}"

    return Table(
        caption,
        [
            Col("of", lambda row: Name(formatting.brief(row[0], 120))),
            *_numbers(lambda row: row[1], lambda row: _digits(row[1].value)),
            Num("adjusted p", p_value),
        ],
        rows,
        css="small sortable",
        scroll="scroll tall",
        label=label,
    )


def measures(rows: Sequence[dict[str, Any]]) -> Table:
    """Return the first result of each measure, as sections of the page."""

    def name(s: dict[str, Any]) -> Cell:
        return (s["name"], Small(Name(formatting.brief(s["of"], 80)))) if s["of"] else s["name"]

    def value(s: dict[str, Any]) -> str:
        return f"{s['unit']} {_digits(s['head'].value)}".strip()

    def question(s: dict[str, Any]) -> Cell:
        notes = (Small(Name(formatting.brief(note, 200)), "note") for note in s["head"].notes)
        return (s["entry"].question if s["entry"] else "", *notes)

    cols = [Col("measure", name), *_numbers(lambda s: s["head"], value), Col("question", question, css="words")]
    return Table("Measures, each over all columns", cols, rows, label="Verdicts of all measures")
