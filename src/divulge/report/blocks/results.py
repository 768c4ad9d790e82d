"""The tables of results: all comparisons, those of one attack, of a question, of an earlier run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from divulge.core.result import Risk, counts_rows, number, percent
from divulge.report import formatting
from divulge.report.blocks import cells
from divulge.report.blocks.table import HTML, MARKDOWN, PAGES, TERMINAL, Cell, Col, Name, Num, Small, Table
from divulge.report.model import Group, ResultRecord
from divulge.report.prose import wp216
from divulge.report.prose.answer import Answer, Part

__all__ = ["answers", "by_attack", "further", "histories", "near_copies", "parts", "results"]


def results(
    rows: Sequence[ResultRecord],
    strangers: bool,
    shared: Sequence[str] = (),
    sizes: Mapping[str, int | None] | None = None,
) -> Table:
    """Return comparisons, one a row; without strangers, rates.

    Parameters
    ----------
    rows
        The comparisons.
    strangers
        Whether there were any.
    shared
        Keys that a terminal does not repeat in each row.
    sizes
        Number of rows of each table: a terminal says of how many a rate is where these are not all.
    """

    def label(r: ResultRecord) -> str:
        return formatting.label(replace(r, keys=()) if list(r.keys) == list(shared) else r, "->")

    return Table(
        "All comparisons with counts, limits and p-values",
        hidden=True,
        label="All comparisons",
        css="small sortable",
        scroll="scroll tall",
        rows=rows,
        cols=[
            Col("attack", cells.what, where=PAGES, key="attack"),
            Col("attack", label, where=TERMINAL),
            Col("known", cells.known, where=PAGES, key="known"),
            Col("target", cells.target, where=PAGES, key="target"),
            Num("members", cells.side("real"), where=PAGES, key="members"),
            Num("members", _of("real", sizes or {}), where=TERMINAL, keep=70 * strangers, whole=True),
            Num("strangers", cells.side("holdout"), strangers, where=PAGES, key="strangers"),
            Num("strangers", _of("holdout", sizes or {}), strangers, where=TERMINAL, keep=80, whole=True),
            Num("without the table", _blind, where=HTML if strangers else PAGES, key="without"),
            Num("without", _blind, where=TERMINAL, keep=105 * strangers, whole=True),
            Num("risk", _risk, strangers, where=HTML, key="risk"),
            Num("lower", _limit("low_simultaneous"), strangers, where=HTML, key="low"),
            Num("upper", _limit("high_simultaneous"), strangers, where=HTML, key="high"),
            Num("risk (simultaneous interval)", lambda r: cells.risk(r.risk), strangers, where=MARKDOWN),
            Num("risk, simultaneous", lambda r: _limited(r.risk), strangers, where=TERMINAL, whole=True),
            Num("p adjusted", lambda r: formatting.p_text(r.p_adjusted), strangers, where=HTML, key="p"),
            Num("score", _score, strangers, where=HTML, key="score"),
            Col("verdict", cells.judged, strangers, where=PAGES, key="verdict"),
            Col("verdict", lambda r: cells.verdict(r.verdict), strangers, where=TERMINAL, whole=True),
        ],
    )


def _of(role: str, sizes: Mapping[str, int | None]) -> Any:
    """Return a rate, with the number of people or rows where that is not the whole table."""

    def cell(r: ResultRecord) -> str:
        rate = formatting.side_of(r, role)
        if not rate or rate.rate is None:
            return "-"
        rows = counts_rows(r)
        if rate.n == sizes.get("synthetic" if rows else role):
            return percent(rate.rate) + (" of rows" if rows else "")
        return f"{percent(rate.rate)} of {rate.n or 0:,}{' rows' * (rows or formatting.of_rows(rate))}"

    return cell


def _limited(risk: Risk | None) -> str:
    if risk is None or risk.value is None:
        return "-"
    return f"{number(risk.value)} ({number(risk.low_simultaneous)} to {number(risk.high_simultaneous)})"


def _blind(r: ResultRecord) -> str:
    return percent(formatting.rate_of(r.baseline))


def _risk(r: ResultRecord) -> str:
    return number(formatting.risk_value(r))


def _limit(which: str) -> Any:
    return lambda r: formatting.limit(formatting.risk_value(r, which))


def _score(r: ResultRecord) -> str:
    return "-" if r.score is None else f"{r.score:.1f}"


def by_attack(rows: Sequence[dict[str, Any]], strangers: bool) -> Table:
    """Return how many comparisons of each attack have each verdict, as by `order.by_attack`."""
    counted = ("excess found", "deficit found", "cannot tell", "none found")
    return Table(
        "Comparisons by attack",
        rows=rows,
        cols=[
            Col("attack", lambda a: a["attack"]),
            Col("question", lambda a: a["question"], css="words"),
            Num("comparisons", lambda a: str(a["n"])),
            *(Num(v, _count(v), strangers) for v in counted),
            Num("largest lower limit", lambda a: formatting.limit(a["low"]), strangers),
            Num("largest upper limit", lambda a: formatting.limit(a["high"]), strangers),
        ],
    )


def _count(verdict: str) -> Callable[[dict[str, Any]], str]:
    return lambda a: str(a["counts"].get(verdict, 0))


# ---------------------------------------------------------------- the three questions


def answers(a: Answer, rows: Sequence[ResultRecord], strangers: bool) -> Table:
    """Return the comparisons that answer one question."""
    heads = [Col(head, _first(i), where=HTML) for i, head in enumerate(a.heads)]
    title = f"{a.name}: {a.caption.lower()}"
    return Table(
        title,
        css="small sortable",
        scroll="scroll tall" if len(a.rows) > 12 else "scroll",
        rows=rows,
        cols=[
            *heads,
            Col(", ".join(a.heads), lambda r: ", ".join(wp216.first_cell(r)), where=(MARKDOWN, TERMINAL)),
            Num("members", cells.side("real")),
            Num("strangers", cells.side("holdout"), strangers),
            Num("without the table", _blind),
            Num("risk", _risk, strangers, where=HTML),
            Num("risk", lambda r: wp216.few(r) or _risk(r), strangers, where=(MARKDOWN, TERMINAL)),
            Num("interval of this comparison alone", lambda r: formatting.interval(r.risk, ""), strangers),
            Num("simultaneous interval", lambda r: formatting.interval(r.risk), strangers),
            Num(
                "part of a full copy that would show",
                lambda r: number(wp216.shown(r) if r.risk else None),
                strangers and a.any_shown,
            ),
            Num("score", _score, strangers),
            Col("verdict", _verdict_and_size, strangers, where=HTML),
            Col("verdict", lambda r: cells.verdict(r.verdict), strangers, where=(MARKDOWN, TERMINAL)),
        ],
    )


def _first(i: int) -> Callable[[ResultRecord], Cell]:
    return lambda r: Name(wp216.first_cell(r)[i])


def _verdict_and_size(r: ResultRecord) -> Cell:
    """Return the verdict, and how many people would decide it."""
    needed = wp216.few(r) or wp216.needed(r)
    found: Any = cells.verdict(r.verdict)
    return (found, Small(needed, "note")) if r.verdict and needed else found


def further(a: Answer) -> Table:
    """Return further numbers of the comparisons of a question."""
    found = a.further
    values = [] if found is None else found.heads
    return Table(
        f"{a.name}: further numbers",
        hidden=True,
        css="small",
        rows=[] if found is None else found.rows,
        scroll="scroll tall" if len(a.rows) > 12 else "scroll",
        cols=[
            *(Col(head, _named(i)) for i, head in enumerate(a.heads)),
            *(Num(formatting.prose(head, 80), _measured(i)) for i, head in enumerate(values)),
        ],
    )


def _named(i: int) -> Callable[[Any], Cell]:
    return lambda row: Name(row[0][i])


def _measured(i: int) -> Callable[[Any], Cell]:
    return lambda row: formatting.measured(row[1][i])


def parts(a: Answer, strangers: bool) -> Table:
    """Return sets of columns, or subgroups, of a question."""
    if a.of_guesses:
        return Table(
            f"{a.name}: sets of columns",
            hidden=True,
            css="small",
            rows=a.parts,
            cols=[
                Col("set of columns", lambda p: Name(p.name)),
                Num("guesses that single out a member", lambda p: cells.rate(p.real)),
                Num("a stranger", lambda p: cells.rate(p.holdout), strangers),
            ],
        )
    risks = strangers and any(p.risk for p in a.parts)
    return Table(
        f"{a.name} by subgroup",
        label=f"{a.name}: subgroups",
        css="small sortable",
        scroll="scroll tall",
        rows=a.parts,
        cols=[
            Col("target", lambda p: Name(p.of)),
            Col("way of guessing", lambda p: Name(p.way)),
            Col("subgroup", lambda p: Name(p.name)),
            Num("members", lambda p: cells.rate(p.real)),
            Num("strangers", lambda p: cells.rate(p.holdout), strangers),
            Num("risk", _of_part, risks, where=HTML),
            Num("simultaneous interval", lambda p: formatting.interval(p.risk), risks, where=HTML),
            Num(
                "risk (limits not corrected for the number of targets)",
                lambda p: cells.risk(p.risk),
                strangers,
                where=(MARKDOWN, TERMINAL),
            ),
        ],
    )


def histories(rows: Sequence[tuple[ResultRecord, Group]], strangers: bool) -> Table:
    """Return whole histories by the number of rows of a person, a row a group."""
    return Table(
        "Whole histories by the number of rows of a person",
        label="Whole histories: thirds by number of rows",
        css="small",
        rows=rows,
        cols=[
            Col("rows of", lambda row: (f"{row[0].variant}: ", *cells.names(row[0].keys))),
            Col("people", lambda row: row[1].name),
            Num("members", lambda row: cells.rate(row[1].real)),
            Num("strangers", lambda row: cells.rate(row[1].holdout), strangers),
            Num("risk (limits for these groups together)", lambda row: cells.risk(row[1].risk), strangers),
        ],
    )


def _of_part(p: Part) -> str:
    return number(p.risk.value if p.risk else None)


def near_copies(caption: str, rows: Sequence[ResultRecord], strangers: bool) -> Table:
    """Return comparisons of near copies on sets of columns."""
    return Table(
        caption,
        css="small",
        rows=rows,
        cols=[
            Col("columns", lambda r: (f"{cells.what(r)}: ", *cells.names(r.keys))),
            Num("members", lambda r: cells.rate(r.real)),
            Num("strangers", lambda r: cells.rate(r.holdout), strangers),
            Num("risk (simultaneous interval)", lambda r: cells.risk(r.risk), strangers),
            Col("verdict", lambda r: cells.verdict(r.verdict), strangers),
        ],
    )
