"""The rows of a comparison's documents: candidates in their order, pairs, single comparisons."""

from __future__ import annotations

from dataclasses import dataclass

from divulge.core.result import FOUND, number
from divulge.report.comparison.model import Attack, Band, Candidate, CandidateTable, Cell, Comparison, TwoByTwo, Worst

__all__ = [
    "PARTS",
    "Single",
    "by_order",
    "cells_of",
    "compared_parts",
    "group_of",
    "limits",
    "matrix",
    "ranks",
    "reasons",
]
__all__ += ["single_rows", "two_rows"]

PARTS = {"column_pairs": "pairs of columns", "column_shapes": "columns"}
"""What a measure of distance takes the mean over; the first that a table allows is shown."""

MOST = 40
"""Pairs of candidates that a document shows; comparison.json has all."""


def matrix(data: Comparison) -> list[list[str]]:
    """Return who is riskier of any two candidates: a row each, in their order; "more" where the row's is the riskier.

    "(more)" and "(less)" where their groups alone tell them apart, "" where nothing does, "·" on the diagonal; []
    without ranks, or of fewer than four candidates.
    """
    ordered = by_order(data)
    if len(ordered) < _MATRIX or not any(p.riskier for p in data.two_by_two):
        return []
    over = {(p.riskier, p.second if p.riskier == p.first else p.first) for p in data.two_by_two if p.riskier}

    def of(a: Candidate, b: Candidate) -> str:
        if a is b:
            return "·"
        if (a.label, b.label) in over or (b.label, a.label) in over:
            return "more" if (a.label, b.label) in over else "less"
        return "" if group_of(a) == group_of(b) else "(more)" if group_of(a) > group_of(b) else "(less)"

    return [[of(a, b) for b in ordered] for a in ordered]


_MATRIX = 4  # candidates from which pairs are shown as a matrix


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
    ranked = bool(place)
    return sorted(data.candidates, key=lambda c: (ranked and group_of(c), place.get(c.label, 0), c.label))


def group_of(c: Candidate) -> int:
    """Return 0 for a candidate that is cleared, 1 for another without a finding, 2 for all others."""
    return 2 if c.verdict in FOUND or c.why else 0 if c.verdict == "none found" else 1


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


def compared_parts(data: Comparison) -> str:
    """Return what the distances of the candidates are of: "pairs of columns", or "columns"; "" without fidelity."""
    return next((PARTS[c.fidelity.measure] for c in data.candidates if c.fidelity), "")


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


def cells_of(data: Comparison, attack: Attack) -> list[Cell]:
    """Return the cells of an attack in the order of the candidates."""
    of = {c.label: c for c in attack.candidates}
    return [of[c.label] for c in by_order(data)]
