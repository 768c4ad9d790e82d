"""The drawings of the HTML page: which results are drawn, how, and with which numbers beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from markupsafe import Markup

from divulge.core.result import number, percent
from divulge.report import formatting, order
from divulge.report.documents import html_charts
from divulge.report.model import Assessment, ResultRecord
from divulge.report.prose import distances
from divulge.report.prose.answer import Chart
from divulge.report.verdicts import MOVED

__all__ = [
    "PARTS",
    "axis",
    "cap_curves",
    "changes",
    "class_curve",
    "common_scale",
    "cut",
    "distance_figures",
    "few_distances",
    "forest",
    "interval",
    "ladder",
]

PARTS = 5
"""Number of column sets with near copies that are shown; the others are folded."""

_CHANGES = 24
_CURVES = 6
_ASKED = 3  # comparisons shown of each of the three questions
_FOREST_ROWS = 32


def cut(rows: Sequence[Any], most: int) -> dict[str, Any]:
    """Return the first rows and how many are left out."""
    return {"rows": rows[:most], "n": len(rows), "left_out": max(0, len(rows) - most)}


# ---------------------------------------------------------------- forest plot


def common_scale(data: Assessment) -> html_charts.Scale:
    """Return the one scale of all forests and charts of risk on a page, so that they can be compared by eye."""
    if not order.has_holdout(data):
        return html_charts.Scale(0.0, 1.0)
    limits = [
        (formatting.risk_value(r, "low_simultaneous"), formatting.risk_value(r, "high_simultaneous"))
        for r in _drawn(order.judged(data.results))
    ]
    return html_charts.risk_scale(limits, data.settings.acceptable)


def _drawn(everything: Sequence[ResultRecord]) -> list[ResultRecord]:
    """Return the results of the forest: the worst few of each question, and the worst of the others."""
    others = [r for r in everything if not order.in_question(r)]
    asked = [r for q in order.QUESTIONS for r in [r for r in everything if r.attack == q][:_ASKED]]
    return order.worst_first([*asked, *_worst_of_each(order.few_parts(others, PARTS), _FOREST_ROWS)])


def forest(data: Assessment, scale: html_charts.Scale) -> dict[str, Any]:
    """Return the worst comparisons, grouped by attack, each with its drawing."""
    everything = order.judged(data.results)
    strangers = order.has_holdout(data)
    shown = _drawn(everything)
    groups: dict[str, list[dict[str, Any]]] = {}
    for i, r in enumerate(shown):
        svg = interval(f"f{i}", r, scale, data) if strangers else _rate(f"f{i}", r)
        groups.setdefault(r.attack, []).append({"r": r, "svg": svg})
    return {
        "n": len(everything),
        "drawable": len(everything),
        "shown": len(shown),
        "shared": order.shared_keys(r for r in everything if not order.in_question(r)),
        "axis": axis("x", scale, data),
        "groups": [
            {"attack": attack, "question": order.question_of(data, attack), "rows": rows}
            for attack, rows in groups.items()
        ],
    }


def _worst_of_each(results: Sequence[ResultRecord], most: int) -> list[ResultRecord]:
    """Return the worst result of each attack, then of each attack and target, then the worst of the rest.

    The key sets of one target give similar results; the worst results alone could all be of one target.
    """
    groupings: list[Callable[[ResultRecord], Any]] = [lambda r: r.attack, lambda r: (r.attack, r.target), id]
    chosen: dict[int, ResultRecord] = {}
    for group in groupings:
        first: dict[Any, ResultRecord] = {}
        for r in results:
            first.setdefault(group(r), r)
        for r in first.values():
            chosen.setdefault(id(r), r)
    return order.worst_first(list(chosen.values())[:most])


def axis(uid: str, scale: html_charts.Scale, data: Assessment) -> Markup:
    """Return the axis of the forests."""
    strangers = order.has_holdout(data)
    return html_charts.axis(uid, scale, data.settings.acceptable if strangers else None, percent=not strangers)


def interval(uid: str, r: ResultRecord, scale: html_charts.Scale, data: Assessment) -> Markup:
    """Return one row of a forest: the risk of a result with its intervals."""
    risk = r.risk
    title = f"Risk {number(formatting.risk_value(r))}, simultaneous interval {formatting.interval(risk)}"
    inner = (formatting.risk_value(r, "low"), formatting.risk_value(r, "high"))
    outer = (formatting.risk_value(r, "low_simultaneous"), formatting.risk_value(r, "high_simultaneous"))
    return html_charts.interval_row(
        uid, title, scale, data.settings.acceptable, formatting.risk_value(r), inner, outer, str(r.verdict),
        formatting.leak_free(r),
    )  # fmt: skip


def _rate(uid: str, r: ResultRecord) -> Markup:
    rate, baseline = formatting.rate_of(r.real), formatting.rate_of(r.baseline)
    title = f"Rate {percent(rate)}, without the synthetic table {percent(baseline)}"
    return html_charts.rate_row(uid, title, rate, baseline)


def changes(data: Assessment) -> dict[str, Any]:
    """Return the comparisons with a previous run, each with its drawing: rises, falls, then others, by size."""
    if not data.change:
        return {"rows": [], "n": 0, "left_out": 0, "axis": Markup("")}
    found = sorted(
        data.change.comparisons, key=lambda c: (MOVED[c.verdict].rank, -abs(c.difference or 0.0))
    )  # fmt: skip
    part = cut([c for c in found if c.difference is not None], _CHANGES)
    limits = [(c.low_simultaneous, c.high_simultaneous) for c in part["rows"]]
    reach = max([0.02, *(abs(v) for pair in limits for v in pair if v is not None)])
    scale = html_charts.Scale(-min(reach, 1.0), min(reach, 1.0))
    rows = [
        {
            "c": c,
            "svg": html_charts.interval_row(
                f"n{i}",
                f"Change {number(c.difference)}, simultaneous interval {formatting.interval(c)}",
                scale,
                None,
                c.difference,
                (c.low, c.high),
                limits[i],
                c.verdict,
            ),
        }
        for i, c in enumerate(part["rows"])
    ]
    return part | {"rows": rows, "axis": html_charts.axis("nx", scale, None)}


def ladder(uid: str, chart: Chart, scale: html_charts.Scale, acceptable: float | None) -> dict[str, Any]:
    """Return one chart of a question, with its drawing."""
    rungs = [html_charts.rung(label, r, acceptable is not None) for label, r in chart.rows]
    what = "rate beside that without the synthetic table" if acceptable is None else "risk with its intervals"
    told = f"Each line is one {what}. The numbers stand in the table below the chart."
    title = f"{'Rate' if acceptable is None else 'Risk'}. {chart.title}"
    return {
        "svg": html_charts.ladder(uid, title, told, rungs, acceptable, scale), "title": chart.title, "rows": chart.rows,
        "left_out": chart.left_out,
    }  # fmt: skip


# ---------------------------------------------------------------- CAP


def cap_curves(data: Assessment) -> list[dict[str, Any]]:
    """Return curves of the CAP of people, with the worst result of each target first."""
    caps = [r for r in order.judged(data.results) if r.attack == "cap" and r.curves.get("at_least")]
    first = list({r.target: r for r in reversed(caps)}.values())
    chosen = {id(r) for r in first}
    ranked = [*order.worst_first(first), *(r for r in caps if id(r) not in chosen)]
    return [_cap_curve(f"c{i}", r) for i, r in enumerate(ranked[:_CURVES])]


def _places(values: Sequence[float | None]) -> list[float]:
    return [v for v in values if v is not None]


def _cap_curve(uid: str, r: ResultRecord) -> dict[str, Any]:
    sides = [s for s in ("members", "strangers") if r.curves.get(s)]
    series = [html_charts.Series(s, s, r.curves[s]) for s in sides]
    at_least = _places(r.curves["at_least"])
    svg = html_charts.curves(
        uid,
        f"CAP of {' and '.join(sides)}, {formatting.label(r)}",
        "Share of people whose CAP is at least the value below.",
        at_least,
        series,
        x_label="CAP of a person, at least",
        step=True,
        start=True,
    )
    rows = list(zip(at_least, *(r.curves[s] for s in sides), strict=False))
    return {"svg": svg, "r": r, "heads": sides, "rows": rows, "further": formatting.further(r)}


# ---------------------------------------------------------------- distances

_ROWS_SHOWN = (0, 1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 100)  # of 101 quantiles


def distance_figures(data: Assessment) -> dict[str, Any]:
    """Return the sentences, values and drawings about distances."""
    results = distances.family(data, "distance", "exposure")
    figures = [_figure(f"d{i}", r) for i, r in enumerate(_first_of_each(results))]
    return {
        "any": bool(results),
        "sentences": distances.sentences(data),
        "values": distances.values(data),
        "figures": [f for f in figures if f is not None],
    }


_FEW = (("dcr", "people"), ("exposure", "hit"))


def few_distances(data: Assessment) -> list[dict[str, Any]]:
    """Return the two drawings of distances that say most about people."""
    first = {(r.attack, r.variant): r for r in reversed(data.results)}
    figures = [_figure(f"e{i}", first[name]) for i, name in enumerate(_FEW) if name in first]
    return [f for f in figures if f is not None]


def _first_of_each(results: Sequence[ResultRecord]) -> list[ResultRecord]:
    """Return the first result of each drawn attack and variant, in the order of drawing."""
    first = {(r.attack, r.variant): r for r in reversed(results)}
    return [first[name] for name in _DRAWN if name in first]


_DRAWN: dict[tuple[str, str], tuple[str, str, dict[str, str], str]] = {
    ("dcr", "people"): (
        "Distance of people to the nearest synthetic row", "distance to the nearest synthetic row",
        {"members": "members", "strangers": "strangers"},
        "Where the members' curve runs above that of the strangers, synthetic rows lie nearer to members.",
    ),
    ("dcr", "synthetic rows"): (
        "Distance of synthetic rows to the nearest person", "distance to the nearest person",
        {"to real": "members", "to holdout": "strangers"},
        "Tables of one size give equal curves without a leak; where the curve to real runs above that to holdout, rows "
        "lie nearer to members.",
    ),
    ("nndr", "ratio"): (
        "Nearest over second nearest distance of synthetic rows", "nearest over second nearest distance",
        {"among real": "members", "among holdout": "strangers"},
        "Near 0, a row lies at one person and far from the next; where several people are equally near it is 1. Tables "
        "of one size give equal curves without a leak.",
    ),
    ("exposure", "hit"): (
        "Hit scores of people", "hit score",
        {"members": "members", "strangers": "strangers"},
        "High, where a synthetic row lies much nearer to somebody than other people do. Where the members' curve runs "
        "below that of the strangers, more of them have high scores.",
    ),
    ("exposure", "outliers"): (
        "How far people stand apart", "mean distance to the nearest other people",
        {"members": "members", "strangers": "strangers"},
        "It uses no synthetic row: it says how many would be easy to recognise, and how alike members and strangers "
        "are.",
    ),
}  # fmt: skip
"""Title, label of the axis, curves with their styles, and how to read them."""


def _figure(uid: str, r: ResultRecord) -> dict[str, Any] | None:
    """Return one result with a drawing of its cumulative curves, None when there are none."""
    title, x_label, styles, reading = _DRAWN[r.attack, r.variant]
    shares = r.curves.get("share") or []
    series = [
        html_charts.Series(n, css, r.curves[n])
        for n, css in styles.items()
        if any(v is not None for v in r.curves.get(n) or ())
    ]
    if not series or not shares:
        return None
    halves = [f"{s.name} {formatting.distance(s.values[len(s.values) // 2])}" for s in series]
    reading = f"{reading} " if len(series) > 1 else ""
    svg = html_charts.cumulative(
        uid, title, f"Share at or below the value, against the value. {reading}Medians: {', '.join(halves)}.", shares,
        series, x_label=x_label,
    )  # fmt: skip
    places = [i for i in _ROWS_SHOWN if i < len(shares)]
    rows = [[percent(shares[i]), *(formatting.distance(s.values[i]) for s in series)] for i in places]
    own = [n for n in r.notes if n.startswith(("real and holdout differ", "hit score", "mean distance", "unit "))]
    return {
        "svg": svg, "r": r, "title": title, "reading": reading, "halves": halves, "heads": [s.name for s in series],
        "rows": rows, "notes": own,
    }  # fmt: skip


# ---------------------------------------------------------------- class sizes


def class_curve(uid: str, r: ResultRecord) -> dict[str, Any]:
    """Return the class sizes of a key set, with their drawing."""
    styles = {"real": "members", "synthetic": "synthetic"}
    series = [html_charts.Series(s, css, r.curves[s]) for s, css in styles.items() if r.curves.get(s)]
    sizes = _places(r.curves["class size"])
    svg = html_charts.curves(
        uid,
        f"Class sizes, {formatting.label(r)}",
        "Share of records in classes of at most the size below.",
        sizes,
        series,
        x_label="records that share the key, at most",
        step=False,
        top=html_charts.nice_top([v for s in series for v in s.values]),
    )
    return {
        "svg": svg, "r": r, "heads": [s.name for s in series],
        "rows": list(zip(sizes, *(s.values for s in series), strict=False)),
    }  # fmt: skip
