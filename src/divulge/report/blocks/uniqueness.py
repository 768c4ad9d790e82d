"""The tables about copies, people alone with their key, classes of equal keys, and measures without a verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from divulge.core.result import number, percent
from divulge.report import formatting
from divulge.report.blocks import cells
from divulge.report.blocks.table import HTML, MARKDOWN, Cell, Col, Num, Small, Table
from divulge.report.model import ResultRecord

__all__ = [
    "baselines",
    "classes",
    "closeness",
    "copies",
    "diversity",
    "measures",
    "presence",
    "unique_people",
    "uniques",
]

Shown = Callable[[float | None], str]


def _value(role: str, shown: Shown = formatting.measured) -> Callable[[ResultRecord], str]:
    return lambda r: shown(formatting.value_of(r, role))


def _context(name: str, shown: Shown = percent) -> Callable[[ResultRecord], str]:
    return lambda r: shown(r.context.get(name))


def copies(rows: Sequence[ResultRecord], strangers: bool) -> Table:
    """Return the comparisons of records, or of values, that the synthetic table has or comes near."""
    return Table(
        "Records, or values of single columns, that the synthetic table has or comes near",
        label="Copies",
        rows=rows,
        cols=[
            Col("what", _copied),
            Num("members", lambda r: cells.rate(r.real)),
            Num("strangers", lambda r: cells.rate(r.holdout), strangers),
            Num("risk (simultaneous interval)", lambda r: cells.risk(r.risk), strangers),
            Num("synthetic rows that equal a real row", _context("share of synthetic rows that equal a real row")),
            Num("real rows that equal another real row", _context("share of real rows that equal another real row")),
        ],
    )


def _copied(r: ResultRecord) -> Cell:
    of = (": ", *cells.names(r.keys)) if r.keys else ()
    radius = r.context.get("radius")
    near = () if radius is None else (Small(f"within a distance of {formatting.distance(radius)}", "note"),)
    return (cells.what(r), *of, *near, *(Small(n, "note") for n in formatting.telling_notes(r)))


def uniques(rows: Sequence[Mapping[str, Any]], strangers: bool) -> Table:
    """Return the counts of people alone with their key, one row a key set."""

    def real(variant: str) -> Callable[[Mapping[str, Any]], Cell]:
        return lambda u: cells.rate(u["of"][variant].real if variant in u["of"] else None)

    def synthetic(u: Mapping[str, Any]) -> str:
        r = u["of"].get("UiS")
        return percent(None if r is None else formatting.value_of(r, "synthetic"))

    def pooled(shown: Callable[[ResultRecord], Cell]) -> Callable[[Mapping[str, Any]], Cell]:
        return lambda u: shown(u["of"]["repU pooled"]) if "repU pooled" in u["of"] else "-"

    return Table(
        "Replicated uniques for each key set",
        label="Replicated uniques",
        rows=rows,
        cols=[
            Col("key set", lambda u: cells.names(u["keys"])),
            Num("UiO", real("UiO")),
            Num("UiS", synthetic),
            Num("UiOiS", real("UiOiS")),
            Num("repU", real("repU")),
            Num("pooled repU, members", real("repU pooled"), strangers),
            Num("strangers", pooled(lambda r: cells.rate(r.holdout)), strangers),
            Num("risk (simultaneous interval)", pooled(lambda r: cells.risk(r.risk)), strangers),
            Col("verdict", pooled(lambda r: cells.verdict(r.verdict)), strangers),
        ],
    )


def unique_people(rows: Sequence[ResultRecord]) -> Table:
    """Return the same counts, one row a count."""
    return Table(
        "Replicated uniques",
        rows=rows,
        cols=[
            Col("measure", lambda r: r.variant),
            Col("known", cells.known),
            Num("members", lambda r: cells.rate(r.real)),
            Num("strangers", lambda r: cells.rate(r.holdout)),
        ],
    )


def classes(rows: Sequence[ResultRecord]) -> Table:
    """Return the sizes of classes of equal keys."""
    return Table(
        "k and class sizes for each key set",
        label="k-anonymity",
        css="small",
        rows=rows,
        cols=[
            Col("key set", cells.known, where=HTML),
            Col("known", cells.known, where=MARKDOWN),
            Num("k, real", _value("real")),
            Num("k, synthetic", _value("synthetic")),
            Num("real records alone", _context("real records alone on their key")),
            Num("in classes below 5", _context("real records in classes below 5")),
            Num("classes, real", _context("classes in real", formatting.measured), where=HTML),
            Num("classes, synthetic", _context("classes in synthetic", formatting.measured), where=HTML),
        ],
    )


def diversity(rows: Sequence[Mapping[str, Any]], strangers: bool) -> Table:
    """Return how diverse the target is in the least diverse class."""
    return Table(
        "Diversity of the target in the least diverse class, and share of records in classes with a diversity of 1",
        label="l-diversity",
        css="small",
        rows=rows,
        cols=[
            Col("target", lambda d: cells.target(d["r"])),
            Col("kind", lambda d: d["r"].variant),
            Num("l, real", lambda d: _value("real")(d["r"])),
            Num("l, synthetic", lambda d: _value("synthetic")(d["r"])),
            Num("at 1, real", lambda d: percent(d["real"])),
            Num("at 1, synthetic", lambda d: percent(d["synthetic"])),
            Num("at 1, holdout", lambda d: percent(d["holdout"]), strangers),
        ],
    )


def closeness(rows: Sequence[ResultRecord], strangers: bool) -> Table:
    """Return how far the target's distribution in a class is from that of the whole table."""
    return Table(
        "Largest distance between the target's distribution in a class and in the whole table",
        label="t-closeness",
        css="small",
        rows=rows,
        cols=[
            Col("target", cells.target),
            Col("kind", lambda r: r.variant),
            Num("t, real", _value("real", number)),
            Num("t, synthetic", _value("synthetic", number)),
            Num("t, holdout", _value("holdout", number), strangers),
        ],
    )


def presence(rows: Sequence[ResultRecord]) -> Table:
    """Return how sure a key makes somebody that a person is in the real table."""
    return Table(
        "How sure a key makes somebody that a person of the population is in the real table",
        label="delta-presence",
        css="small",
        rows=rows,
        cols=[
            Col("key set", cells.known),
            Num("real records whose class is wholly in the real table", lambda r: cells.rate(r.real)),
            Num("largest presence", _value("real", number)),
            Num("smallest", _context("smallest presence", number)),
            Num("mean", _context("mean presence", number)),
            Num("largest guess from the synthetic table", _value("synthetic", number)),
        ],
    )


def baselines(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return what guessing without the synthetic table gives."""
    kinds = {
        "uniform": "every value alike",
        "marginal": "in proportion to how often values occur",
        "modal": "the commonest value",
        "model": "a model trained on the holdout",
    }

    def guessed(kind: str) -> Callable[[Mapping[str, Any]], Cell]:
        return lambda b: cells.rate(b["of"][kind].real if kind in b["of"] else None)

    return Table(
        "Baselines for each target",
        label="Baselines",
        css="small",
        rows=rows,
        cols=[
            Col("target", lambda b: cells.named(b["target"])),
            *(Num(head, guessed(kind)) for kind, head in kinds.items()),
        ],
    )


def measures(rows: Sequence[ResultRecord], strangers: bool) -> Table:
    """Return rates and values that no stranger is compared with."""
    return Table(
        "Measures without a verdict",
        hidden=True,
        css="small sortable",
        scroll="scroll tall",
        rows=rows,
        cols=[
            Col("attack", cells.what, key="attack"),
            Col("known", cells.known, key="known"),
            Col("target", cells.target, key="target"),
            Num("members", lambda r: cells.rate(r.real), key="members"),
            Num("strangers", lambda r: cells.rate(r.holdout), strangers, key="strangers"),
            Num("value, real", _value("real"), key="real"),
            Num("value, holdout", _value("holdout"), strangers, key="holdout"),
            Num("value, synthetic", _value("synthetic"), key="synthetic"),
            Col("further numbers", formatting.further, css="words", key="further"),
        ],
    )
