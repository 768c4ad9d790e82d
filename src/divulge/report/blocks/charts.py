"""The numbers of the charts, as tables below them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from divulge.core.result import number, percent
from divulge.measures.result import FidelityResult
from divulge.report import formatting
from divulge.report.blocks import cells
from divulge.report.blocks.table import Cell, Col, Num, Table
from divulge.report.model import ResultRecord
from divulge.report.prose.compared import Bar

__all__ = ["bars", "curves", "pairs", "plane", "quantiles", "rungs", "telling"]

_Table = partial(Table, css="small", scroll="")


def curves(caption: str, first: str, heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> Table:
    """Return points of curves of shares; a row begins with the place on the axis."""
    places = Col(first, lambda row: "-" if row[0] is None else f"{row[0]:g}")
    return _Table(caption, [places, *(Col(head, cells.nth(i, percent)) for i, head in enumerate(heads, 1))], rows)


def quantiles(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Return some quantiles of curves."""
    cols = [Col("share at or below", cells.nth(0)), *(Num(head, cells.nth(i)) for i, head in enumerate(heads, 1))]
    return _Table(f"{title}: quantiles. All 101 are in assessment.json.", cols, rows)


def bars(name: str, rows: Sequence[tuple[str, Iterable[Bar]]], strangers: bool) -> Table:
    """Return bars, each with what it says."""
    cols = [
        Col("comparison", lambda row: cells.named(row[0])),
        Col("bars", lambda row: "; ".join(f"{b.name} {b.told}" for b in row[1])),
    ]
    return _Table(f"{name}: members beside {'strangers' if strangers else 'guessing'}", cols, rows)


def telling(rows: Sequence[tuple[str, Sequence[Bar]]]) -> Table:
    """Return the columns by which a model tells synthetic rows, each with how far its AUC falls without it."""
    cols = [Col("column", lambda row: cells.named(row[0])), Col("the AUC falls", lambda row: row[1][0].told)]
    return _Table("Columns by which a model tells", cols, rows)


def rungs(rows: Sequence[tuple[str, ResultRecord]], strangers: bool) -> Table:
    """Return the risks, or rates, of a chart of one question."""

    def risk(which: str, shown: Callable[[float | None], str]) -> Callable[[Any], str]:
        return lambda row: shown(formatting.risk_value(row[1], which))

    cols = [
        Col("line", lambda row: cells.named(row[0])),
        Num("risk", risk("value", number), strangers),
        Num("lower", risk("low_simultaneous", formatting.limit), strangers),
        Num("upper", risk("high_simultaneous", formatting.limit), strangers),
        Num("members", lambda row: formatting.rated(row[1].real), not strangers),
        Num("without the table", lambda row: percent(formatting.rate_of(row[1].baseline)), not strangers),
    ]
    return _Table("Risk and simultaneous interval" if strangers else "Rates", cols, rows)


def plane(head: FidelityResult, inside: tuple[float, float], r: ResultRecord) -> Table:
    """Return the two numbers of the plane of risk and fidelity, with what chance gives."""
    by_chance = f"by chance {cells.two(inside[0])} to {cells.two(inside[1])}"
    rows: list[tuple[Cell, ...]] = [
        ("distance of pairs, as a multiple of another sample's", cells.two(head.ruler), by_chance),
        ("risk", number(formatting.risk_value(r)), formatting.interval(r.risk)),
    ]
    return _Table(
        "Risk and fidelity",
        [Col("what", cells.nth(0)), Num("value", cells.nth(1)), Col("interval", cells.nth(2))],
        rows,
    )


def pairs(rows: Sequence[FidelityResult]) -> Table:
    """Return pairs of columns with their rulers."""
    cols = [
        Col("pair", lambda r: cells.names(r.columns)),
        Num("ruler", lambda r: cells.two(r.ruler)),
        Col("verdict", lambda r: r.verdict),
    ]
    return _Table("Pairs, the largest ruler first", cols, rows)
