"""Which columns carry copies and which can be guessed: columns by attacks, for one glance."""

from __future__ import annotations

from dataclasses import dataclass

from divulge.core.result import FOUND
from divulge.report import formatting, order
from divulge.report.model import Assessment, ResultRecord

__all__ = ["SHADES", "Cell", "ColumnMap", "column_map"]

SHADES = (0.0, 0.02, 0.05, 0.1, 0.25)
"""Risks above which a cell is one shade darker."""


@dataclass(frozen=True, slots=True)
class Cell:
    """The clearest comparison of one kind about one column."""

    verdict: str
    risk: float | None
    shade: int
    """1 to 5 by risk where something was found, else 0."""


@dataclass(frozen=True, slots=True)
class ColumnMap:
    """Rows of columns, each with a cell or None for each head."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell | None, ...]], ...]


_KINDS = ("carries copies", "guessed from all others", "read off the keys", "alone with a twin")


def _kind(r: ResultRecord, data: Assessment) -> str | None:
    """Return the head of the map under which a comparison stands, None where it is about no single column."""
    family = data.attacks[r.attack].family if r.attack in data.attacks else ""
    if family == "copying":
        return _KINDS[0] if r.keys else None
    if r.target is not None:
        return _KINDS[2] if r.keys else _KINDS[1]
    return _KINDS[3] if family == "uniqueness" and r.keys else None


def column_map(data: Assessment) -> ColumnMap:
    """Return for each column the clearest comparison of each kind: as a part of copies, as a secret, as a key."""
    cells: dict[tuple[str, str], ResultRecord] = {}
    for r in order.worst_first(r for r in data.results if r.verdict is not None and r.risk is not None):
        kind = _kind(r, data)
        if kind is None:
            continue
        columns = (r.target,) if r.target is not None else r.keys
        for c in columns:
            cells.setdefault((c, kind), r)
    heads = tuple(k for k in _KINDS if any(kind == k for _, kind in cells))
    rows = [(c.name, tuple(_cell(cells.get((c.name, h))) for h in heads)) for c in data.schema]
    tried = [row for row in rows if any(row[1])]
    return ColumnMap(heads, tuple(sorted(tried, key=_clearness)))


def _clearness(row: tuple[str, tuple[Cell | None, ...]]) -> tuple[int, float]:
    found = [c for c in row[1] if c is not None and c.verdict in FOUND]
    return -len(found), -max((c.risk for c in row[1] if c is not None and c.risk is not None), default=0.0)


def _cell(r: ResultRecord | None) -> Cell | None:
    if r is None:
        return None
    risk = formatting.risk_value(r)
    shade = 0 if risk is None or r.verdict not in FOUND else sum(abs(risk) > s for s in SHADES)
    return Cell(str(r.verdict), risk, shade)
