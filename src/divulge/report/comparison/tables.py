"""The tables of a comparison of candidates."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from markupsafe import Markup

from divulge.core.result import FOUND, number, percent
from divulge.report import formatting
from divulge.report.blocks import cells
from divulge.report.blocks.table import HTML, MARKDOWN, PAGES, TERMINAL, Cell, Col, Name, Num, Small, Strong, Table
from divulge.report.comparison.charts import Point
from divulge.report.comparison.model import Attack, Candidate, Comparison, GivenTable, Pair
from divulge.report.comparison.prose import GROUPS, UNFAIR_GROUP
from divulge.report.comparison.reached import reached_in_words
from divulge.report.comparison.rows import (
    Single,
    by_order,
    cells_of,
    compared_parts,
    group_of,
    limits,
    matrix,
    ranks,
    single_rows,
    two_rows,
)

__all__ = [
    "by_attack",
    "candidates",
    "differences",
    "fidelity",
    "hashes",
    "matrix_of",
    "pairs",
    "points",
    "rank_table",
    "singles",
    "two_by_two",
]


def _labelled(c: Candidate) -> Cell:
    return cells.named(c.label)


def candidates(data: Comparison) -> Table:
    """Return the candidates in their order, with verdict, rank, and how many members each reaches."""
    ranked, parts = bool(data.verdict.order), compared_parts(data)
    places = {c.label: i for i, c in enumerate(by_order(data), 1)}

    several = any(len(c.tables) > 1 for c in data.candidates)
    last = (
        UNFAIR_GROUP if any(group_of(c) == len(GROUPS) - 1 and c.verdict not in FOUND for c in data.candidates) else ""
    )
    heads = (*GROUPS[:-1], last or GROUPS[-1])
    named = len(data.candidates) <= _NAMED
    return Table(
        "Candidates" + ", in each group those that reach fewest members first" * ranked,
        [
            Num("no.", lambda c: str(places[c.label]), matrix(data), where=TERMINAL),
            Col("candidate", _labelled),
            Col("members reached", reached_in_words, ranked, css="whole"),
            Col("verdict, and why", _judged, where=HTML),
            Col("verdict", _in_words, where=MARKDOWN),
            Col("verdict", lambda c: cells.verdict(c.verdict), where=TERMINAL),
            Col("why", _in_short, where=TERMINAL),
            Col("rank", lambda c: (ranks(c.worst), Small(Name(c.apart if named else ""))), ranked, where=HTML),
            Col("rank", lambda c: ranks(c.worst), ranked, where=(MARKDOWN, TERMINAL)),
            Num("use", lambda c: cells.two(c.fidelity.ruler if c.fidelity else None), parts),
            Num(_rows(data), lambda c: ", ".join(f"{t.rows:,}" for t in c.tables), where=HTML),
            Num("tables", lambda c: str(len(c.tables)), several, where=MARKDOWN),
            Col("statement about", lambda c: c.about, several, where=HTML),
        ],
        by_order(data),
        css="sortable",
        label="Candidates",
        group=(lambda c: Strong(heads[group_of(c)])) if ranked else None,
    )


_NAMED = 6  # candidates up to which each is told apart by name
_WHY, _BRIEF = 240, 36


def _why(c: Candidate) -> str:
    """Return what a verdict rests on, or why the candidate is cleared or is not."""
    return formatting.brief(c.why or c.clearance, _WHY)


def _judged(c: Candidate) -> Cell:
    """Return the verdict on a candidate, and what it rests on."""
    verdict: Any = cells.verdict(c.verdict)
    return (verdict, Small(Name(_why(c)))) if _why(c) else verdict


def _in_words(c: Candidate) -> str:
    told = c.verdict + (f": {_why(c)}" if _why(c) else "")
    return f"{told}. {formatting.brief(c.apart, 160)}" if c.apart else told


def _in_short(c: Candidate) -> str:
    """Return in which test something was found, or what a main test leaves open, in a few words."""
    plain = re.sub(r"( and \d+ more)?( not excluded)?( \(limit [^)]*\))?$", "", c.why or c.clearance)
    return formatting.brief(re.split(r": | \(|;", plain, maxsplit=1)[0], _BRIEF)


def matrix_of(data: Comparison) -> Table:
    """Return who is riskier of any two candidates."""
    rows = matrix(data)
    return Table(
        "Risk of the candidate of the row beside that of the column, where the data tell them apart: by the worst "
        "attack, of guesses by their mean over targets; in brackets by their groups alone (cleared, not cleared, "
        "found)",
        [
            Num("no.", cells.nth(0)),
            Col("candidate", cells.nth(1), where=PAGES),
            *(Col(str(i + 1), cells.nth(i + 2)) for i in range(len(rows))),
        ],
        [(str(i + 1), _labelled(c), *row) for i, (c, row) in enumerate(zip(by_order(data), rows, strict=False))],
        css="small",
        label="Who is riskier",
    )


def two_by_two(data: Comparison) -> Table:
    """Return any two candidates with their differences."""
    return Table(
        "Any two candidates: the first less the second, on the same people and rows",
        [
            Col("first", lambda row: cells.named(row[0].first)),
            Col("second", lambda row: cells.named(row[0].second)),
            Col("verdict", lambda row: Name(row[0].sentence), where=PAGES, css="words"),
            Col("two by two", lambda row: row[0].sentence, where=TERMINAL),
            Col("difference of risk", cells.nth(1), where=PAGES),
            Col("first less second: risk", cells.nth(1), where=TERMINAL),
            Col("difference of distance", cells.nth(2), where=PAGES),
            Col("distance", cells.nth(2), where=TERMINAL),
        ],
        two_rows(data),
        css="small",
        label="Two by two",
    )


# ---------------------------------------------------------------- attack by attack


def _by_candidate(data: Comparison, shown: Callable[[Any], Cell], **look: Any) -> list[Col]:
    """Return the candidates, and a column for each attack."""

    def of(attack: Attack) -> Col:
        place = {c.label: cell for c, cell in zip(by_order(data), cells_of(data, attack), strict=True)}
        return Col(attack.attack, lambda c: shown(place[c.label]), **look)

    return [Col("candidate", _labelled), *map(of, data.attacks)]


def rank_table(data: Comparison) -> Table:
    """Return the ranks of the candidates under each attack."""
    cols = _by_candidate(data, ranks)
    worst = Col("worst of them", lambda c: Strong(ranks(c.worst)))
    caption = "Ranks by attack: rank 1 is the least risk"
    return Table(caption, [*cols, worst], by_order(data), css="small", label="Ranks by attack")


def by_attack(data: Comparison) -> Table:
    """Return the risks under each attack; where nothing is ranked, the scores of members."""
    if not data.verdict.order:
        cols = _by_candidate(data, lambda k: percent(k.members), right=True)
        return Table("Mean scores of members", cols, by_order(data), css="small", label="Rates by attack")

    def risk(k: Any) -> Cell:
        rates = "" if k.members is None else f"{percent(k.members)} | {percent(k.strangers)}"
        return number(k.risk), Small(limits(k)), Small(rates) if rates else ""

    def ranked(k: Any) -> Cell:
        return f"{number(k.risk)} ({limits(k)}), rank {ranks(k)}"

    cols = _by_candidate(data, risk, right=True, where=HTML) + _by_candidate(data, ranked, where=MARKDOWN)[1:]
    caption = "Risks by attack, with limits that hold together"
    return Table(caption, cols, by_order(data), css="small", label="Risks by attack")


def pairs(rows: Sequence[Pair]) -> Table:
    """Return the differences of risk of pairs of candidates."""
    return Table(
        "Difference of risk, with limits that hold together",
        [
            Col("attack", lambda p: p.attack),
            Col("first", lambda p: cells.named(p.first)),
            Col("second", lambda p: cells.named(p.second)),
            Num("first less second", lambda p: number(p.difference)),
            Num("lower", lambda p: number(p.low)),
            Num("upper", lambda p: number(p.high)),
            Col("more under this attack, beyond chance", lambda p: cells.named(p.riskier)),
        ],
        rows,
        css="small sortable",
        scroll="scroll tall",
        label="Pairs of candidates",
    )


def singles(data: Comparison) -> Table:
    """Return the largest limits of the single comparisons of each table."""

    def low(s: Single) -> Cell:
        return "-" if s.low is None else (number(s.low.low), Small(formatting.brief(s.low.where, 90)))

    def high(s: Single) -> Cell:
        return "-" if s.high is None else (number(s.high.high), Small(s.high.attack))

    def link(s: Single) -> Cell:
        return Markup('<a href="{0}/report.html">{0}</a>').format(s.table.folder) if s.table.folder else "-"

    return Table(
        "Largest limits of the risk of a single comparison",
        [
            Col("table", lambda s: cells.named(s.name)),
            Col("verdict", lambda s: cells.verdict(s.table.verdict), where=HTML),
            Col("verdict", lambda s: s.table.verdict, where=MARKDOWN),
            Num("at least", lambda s: number(s.low.low if s.low else None), where=HTML),
            Col("in", lambda s: Name(formatting.brief(s.low.where if s.low else "-", 120)), where=HTML, css="words"),
            Num("at most", lambda s: number(s.high.high if s.high else None), where=HTML),
            Col("in", lambda s: s.high.attack if s.high else "-", where=HTML),
            Col("full report", link, where=HTML),
            Col("at least", low, where=MARKDOWN),
            Col("at most", high, where=MARKDOWN),
        ],
        single_rows(data),
        css="small",
        label="Single comparisons",
    )


# ---------------------------------------------------------------- fidelity


def fidelity(data: Comparison) -> Table:
    """Return how far pairs of columns of each candidate are from the real ones."""
    front = data.front.labels if data.front else ()

    def of(shown: Callable[[Any], str]) -> Callable[[Candidate], str]:
        return lambda c: shown(c.fidelity)

    def told(f: Any) -> str:
        # the mean may be that of a fresh sample where one of them differs
        return "differs in some" if f.verdict == "differs" else str(f.verdict)

    between = of(lambda f: f"{number(f.low)} to {number(f.high)}")
    return Table(
        f"Distance of {compared_parts(data)} beyond another sample",
        [
            Col("candidate", _labelled),
            Col("verdict", of(lambda f: str(f.verdict)), where=HTML),
            Col(compared_parts(data), of(told), where=MARKDOWN),
            Num("ruler", of(lambda f: cells.two(f.ruler)), where=HTML),
            Num("ruler", of(lambda f: number(f.ruler)), where=MARKDOWN),
            Num("beyond a fresh sample", of(lambda f: number(f.excess))),
            Col("limits of the distance without noise", between, where=HTML),
            Col("distance without noise", between, where=MARKDOWN),
            Col("on the front", lambda c: "yes" if c.label in front else "no", data.front, where=HTML),
        ],
        [c for c in by_order(data) if c.fidelity],
        hidden=True,
        label="Fidelity",
    )


def differences(rows: Sequence[Any]) -> Table:
    """Return the differences of distance of pairs of candidates."""
    return Table(
        "Differences of distance; the limits of all pairs hold together",
        [
            Col("first", lambda p: cells.named(p.first)),
            Col("second", lambda p: cells.named(p.second)),
            Col("distance of", lambda p: p.measure.replace("_", " ")),
            Num("difference", lambda p: number(p.difference)),
            Col("limits", lambda p: f"{number(p.low)} to {number(p.high)}"),
            Num("in rulers", lambda p: number(p.ruler)),
            Col("farther beyond chance", lambda p: cells.named(p.farther)),
        ],
        rows,
        css="small",
        label="Differences of fidelity",
    )


# ---------------------------------------------------------------- the chart, and the tables compared


def points(parts: str, rows: Sequence[Point]) -> Table:
    """Return the numbers of the chart of risk against distance."""

    def of(field: str) -> Callable[[Any], str]:
        return lambda row: number(getattr(row[1], field))

    numbers = ("risk", "distance", "near", "far")
    return Table(
        f"Members reached (at least where something was found, else at most), and distance of {parts}",
        [
            Num("no.", lambda row: str(row[0])),
            Col("candidate", lambda row: Name(row[1].label)),
            Col("verdict", lambda row: cells.verdict(row[1].verdict), where=HTML),
            *(Num(_ENDS.get(field, field), of(field)) for field in numbers),
        ],
        [*enumerate(rows, 1)],
        css="small",
        scroll="",
    )


_ENDS = {"risk": "members reached", "near": "lower", "far": "upper"}


def _rows(data: Comparison) -> str:
    """Return what is counted: rows, or of linked tables people."""
    return "people" if data.tables.real.linked else "rows"


def _of_people(given: GivenTable | None) -> Name | str:
    """Return how many rows people have in each of several linked tables."""
    told = [f"{formatting.name(t.name)}: {formatting.compact(t.rows)}" for t in (given.linked if given else ())]
    return Name(", ".join(told)) if told else ""


def hashes(data: Comparison) -> Table:
    """Return the tables that were compared."""
    given = [(role, getattr(data.tables, role)) for role in ("real", "holdout")]
    tables: list[tuple[Cell, Any]] = [*given, *((cells.named(s.name), s.table) for s in single_rows(data))]
    return Table(
        "Tables",
        [
            Col("table", cells.nth(0)),
            Num(_rows(data), lambda row: f"{row[1].rows:,}" if row[1] else "none was given"),
            Col("rows of these people", lambda row: _of_people(row[1]), bool(data.tables.real.linked)),
            Num("columns", lambda row: str(row[1].columns) if row[1] else ""),
            Col("sha256", lambda row: cells.hashed(row[1].sha256) if row[1] else ""),
        ],
        tables,
        css="small",
    )
