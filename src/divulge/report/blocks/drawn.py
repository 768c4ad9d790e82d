"""The tables whose rows are drawn: forests of risks, the map of columns, attribution as a matrix."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from divulge.core.result import FOUND, number, percent
from divulge.report import formatting, order
from divulge.report.blocks import cells
from divulge.report.blocks.table import HTML, MARKDOWN, Cell, Col, Dim, Name, Num, Piece, Small, Strong, Styled, Table
from divulge.report.model import ResultRecord
from divulge.report.policy_model import Changed

__all__ = ["changes", "column_map", "forest", "matrix", "primaries"]

Row = Mapping[str, Any]


def _plot(head: str, axis: Markup) -> Col:
    return Col((f"{head} ", axis), lambda row: row["svg"], where=HTML, css="plot")


def _risk(row: Row) -> Cell:
    risk = row["r"].risk
    return Strong(number(risk.value if risk else None)), Small(formatting.interval(risk))


# ---------------------------------------------------------------- forests


def primaries(rows: Sequence[Row], axis: Markup, acceptable: str) -> Table:
    """Return the comparisons that were fixed before the run, each drawn."""

    def limit(row: Row) -> str:
        b = row["b"]
        if row["r"].verdict == "excess found":
            return "-"
        if b.limit is None and not b.bounded:
            return f"above {acceptable}"
        return formatting.limit(b.limit) + ("" if b.bounded else " (too wide)")

    return Table(
        "Risk of each main comparison, with its interval",
        [
            Col("comparison", lambda row: Name(row["words"])),
            _plot("risk", axis),
            Col("risk and interval", _risk, label="risk"),
            Col("members", lambda row: formatting.rated(row["r"].real), label="members"),
            Col("strangers", lambda row: formatting.rated(row["r"].holdout), label="strangers"),
            Col("limit", limit, label="limit"),
        ],
        rows,
        css="forest one-axis",
        hidden=True,
        scroll="",
    )


def forest(found: Mapping[str, Any], strangers: bool) -> Table:
    """Return the worst comparisons of each attack, each drawn."""
    groups = {id(row): group for group in found["groups"] for row in group["rows"]}

    def head(row: Row) -> Cell:
        group = groups[id(row)]
        return group["attack"], " ", Dim(group["question"])

    def blind(row: Row) -> Cell:
        baseline = row["r"].baseline
        told = percent(formatting.rate_of(baseline))
        return (told, Small(baseline.what)) if baseline else told

    def side(role: str) -> Callable[[Row], Cell]:
        return lambda row: cells.side(role)(row["r"])

    first = "worst" if strangers else "highest"
    return Table(
        f"{'Risk with intervals, members and strangers' if strangers else 'Rates of members'}, {first} first within "
        "each attack",
        [
            Col("comparison", lambda row: _compared(row["r"], found["shared"])),
            _plot("risk" if strangers else "share of members", found["axis"]),
            Col("risk (simultaneous interval)", _risk, strangers, label="risk"),
            Col("members", side("real"), strangers, label="members"),
            Col("strangers", side("holdout"), strangers, label="strangers"),
            Col("verdict", lambda row: cells.verdict(row["r"].verdict), strangers),
            Col("members", lambda row: cells.rate(row["r"].real), not strangers, label="members"),
            Col("without the table", blind, not strangers, label="without the table"),
        ],
        [row for group in found["groups"] for row in group["rows"]],
        css="forest",
        hidden=True,
        scroll="",
        group=head,
    )


def _compared(r: ResultRecord, shared: Sequence[str]) -> Cell:
    """Return what a result of one attack compares, without the keys that all share, and its notes."""
    asked = order.in_question(r)
    notes = () if asked else (n for n in formatting.telling_notes(r) if not n.startswith("about "))
    variant: tuple[Piece, ...] = (Strong(r.variant), " ") if r.variant else ()
    of: tuple[Piece, ...] = ("→ ", Name(formatting.name(r.target))) if r.target else ()
    if not asked and not (of and shared):
        whole = (Dim("whole records"),)
        if shared:
            of = (Dim("the key set"),) if list(r.keys) == list(shared) else cells.names(r.keys) if r.keys else whole
        else:
            of = cells.pair(r) if r.keys or r.target else whole
    return (*variant, *of, *(Small(n, "note") for n in notes))


def changes(rows: Sequence[Row], axis: Markup | None = None) -> Table:
    """Return comparisons beside those of an earlier run; HTML draws them."""

    def of(shown: Callable[[Changed], Cell]) -> Callable[[Row], Cell]:
        return lambda row: shown(row["c"])

    def what(c: Changed) -> Cell:
        return (Strong(cells.what(c)), " ", *(cells.pair(c) if c.keys or c.target else ()))

    return Table(
        "Change of risk, with intervals",
        [
            Col("comparison", of(what), where=HTML),
            Col("attack", of(cells.what), where=MARKDOWN),
            Col("known", of(cells.known), where=MARKDOWN),
            Col("target", of(cells.target), where=MARKDOWN),
            _plot("change of risk", axis or Markup()),
            Col(
                "change (simultaneous interval)",
                of(lambda c: (Strong(number(c.difference)), Small(formatting.interval(c)))),
                where=HTML,
                label="change",
            ),
            Col("before", of(lambda c: number(c.before)), label="before"),
            Col("now", of(lambda c: number(c.now)), label="now"),
            Num("change", of(lambda c: number(c.difference)), where=MARKDOWN),
            Num("simultaneous interval", of(formatting.interval), where=MARKDOWN),
            Col("verdict", of(lambda c: cells.verdict(c.verdict))),
        ],
        rows,
        css="forest",
        hidden=True,
        scroll="",
    )


# ---------------------------------------------------------------- maps


def _nth(i: int, shown: Callable[[Any], Cell]) -> Callable[[tuple[Cell, Sequence[Any]]], Cell]:
    return lambda row: Styled(("-",), "dim") if row[1][i] is None else shown(row[1][i])


def _mapped(first: str, heads: Sequence[str], shown: Callable[[Any], Cell]) -> list[Col]:
    return [Col(first, lambda row: row[0]), *(Col(head, _nth(i, shown)) for i, head in enumerate(heads))]


def column_map(found: Mapping[str, Any]) -> Table:
    """Return the columns by what leaks through them, the darker the more."""

    def leak(c: Any) -> Cell:
        sign: tuple[Any, ...] = (cells.sign(c.verdict), " ") if c.verdict in FOUND else ()
        return Styled((*sign, cells.two(c.risk)), f"s{c.shade}")

    return Table(
        "Columns by what leaks through them: risk of the clearest comparison. A clean table has no triangle, and "
        "numbers near 0.",
        _mapped("column", found["heads"], leak),
        [(cells.named(column), risks) for column, risks in found["rows"]],
        css="map small",
        label="Map of columns",
    )


def matrix(found: Mapping[str, Any], strangers: bool) -> Table:
    """Return attribution: targets by key sets, or by attacks."""

    def attributed(c: Row) -> Cell:
        r: ResultRecord = c["r"]
        keys = (Styled(cells.names(c["keys"]), "keys"),) if c["keys"] else ()
        large, small = formatting.rated(r.real), percent(formatting.rate_of(r.baseline))
        if strangers:
            large, small = number(formatting.risk_value(r)), f"{large} / {formatting.rated(r.holdout)}"
        few = (Small(f"n = {c['least']}"),) if c["few"] else ()
        css = f"s{c['shade']}{' few' if c['few'] else ''}"
        return Styled((*keys, Strong(large), Small(small), *few), css)

    def target(row: Row) -> Cell:
        name = Name(formatting.name(row["target"]))
        return (name, Small(f"{row['n']} key sets")) if "n" in row else name

    return Table(
        f"Targets by {'key sets' if found['kind'] == 'ranks' else 'attacks'}",
        _mapped("target", found["heads"], attributed),
        [(target(row), row["cells"]) for row in found["rows"]],
        css=f"matrix {found['kind']}",
        hidden=True,
        label="Attribution matrix",
    )
