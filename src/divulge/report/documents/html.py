"""The report as one offline HTML page: nothing is fetched, and names are text wherever they stand."""

from __future__ import annotations

import re
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from divulge.core.result import number, percent
from divulge.report import formatting
from divulge.report.content import settings_of
from divulge.report.documents import html_charts
from divulge.report.model import Assessment, ResultRecord
from divulge.report.prose import distances, statement, wp216

__all__ = ["page"]

_FOREST_ROWS = 32
_ASKED = 3  # comparisons of each of the three questions that stand beside the others
_TABLE_ROWS = 1000
_MEASURE_ROWS = 600
_KEY_SET_ROWS = 200
_NOTE_ROWS = 60
_RANKS = 4
_CURVES = 6
_PARTS = 5  # sets of columns with near copies that are shown, the others folded
_FOLDED = 100
_CHANGES = 24
_OF_STRANGERS = re.compile(r"\bleak|excess|members and")
_SMALL_N = 100
_SHADES = (0.0, 0.02, 0.05, 0.1, 0.25)
_CLASS = {"excess found": "excess", "none found": "none", "cannot tell": "unsure", "no holdout": "nohold"}


def page(data: Assessment, worst_records: list[dict[str, Any]]) -> str:
    """Return the report as one HTML page.

    Parameters
    ----------
    data
        The assessment; its strings are untrusted text.
    worst_records
        The most exposed real records, by row number, as in `Report.records`; empty for a page that may leave the
        custodian's hands.
    """
    script, style = asset("report.js"), asset("report.css")
    groups = _questions(data)
    context = {
        "external": data.edition == "external",
        "not_tested": data.not_tested,
        "data_card": _data_card(data),
        "provenance": statement.provenance(data),
        "membership": _membership(data),
        "subgroups": [a for a in groups["answers"] if a["parts"] and not a["of_guesses"]],
        "sight": _sight(data),
        "changes": _changes(data),
        "glossary": [
            g for g in formatting.GLOSSARY if formatting.has_holdout(data) or not _OF_STRANGERS.search(" ".join(g))
        ],
        "data": data,
        "settings": settings_of(data),
        "script": Markup(script),  # our own files
        "style": Markup(style),
        "policy": Markup(content_policy(script, style)),
        "holdout": formatting.has_holdout(data),
        "banner": _banner(data),
        "tables": [*data.tables.by_role().items()],
        "kinds": Counter(c.kind for c in data.schema).most_common(),
        "attacker": formatting.knowledge(data),
        "attack_rows": formatting.by_attack(data),
        "forest": _forest(data),
        "judged": _cut(formatting.judged(data.results), _TABLE_ROWS),
        "questions": groups,
        "threat_model": statement.threat_model(data),
        "processing": statement.PROCESSING,
        "decided": statement.decided(data),
        "evidence": statement.evidence(data),
        "certificate": statement.CERTIFICATE,
        "matrix": _matrix(data),
        "cap_curves": _cap_curves(data),
        "uniqueness": _uniqueness(data),
        "baselines": _baselines(data),
        "distances": _distances(data),
        "control": distances.control_tables(data),
        "control_sentence": distances.control_sentence(data),
        "control_method": formatting.CONTROL,
        "measures": _cut(_measures(data), _MEASURE_ROWS),
        "minimal": _cut(sorted(data.minimal_key_sets, key=lambda m: -(m.n_disclosed or 0)), _KEY_SET_ROWS),
        "worst": worst_records,
        "flags": formatting.flags(data.records),
        "notes": _cut(_notes(data), _NOTE_ROWS),
        "definitions": [(v, text.format(acceptable=_acceptable(data))) for v, text in formatting.DEFINITIONS],
        "limits": formatting.LIMITS,
        "rows_risk": formatting.ROWS_RISK,
        "methods": formatting.methods(data),
        "level": _level(data),
        "acceptable": f"{_acceptable(data):g}",
    }
    shown = [(name, title) for name, title, when in _SECTIONS if when(context)]
    context["sections"] = ["banner", *(name for name, _ in shown)]
    context["contents"] = [("verdict", "Verdict"), *((name, title(context)) for name, title in shown)]
    return str(template().render(context))


def _always(_: dict[str, Any]) -> bool:
    return True


_SECTIONS: tuple[tuple[str, Callable[[dict[str, Any]], str], Callable[[dict[str, Any]], bool]], ...] = (
    ("overview", lambda c: "Attacker and data", _always),
    ("risks", lambda c: "Risks" if c["holdout"] else "Rates", lambda c: c["forest"]["n"] > 0),
    ("questions", lambda c: "The three questions", _always),
    ("attribution", lambda c: "Attribution", lambda c: bool(c["matrix"])),
    ("cap", lambda c: "CAP", lambda c: bool(c["cap_curves"])),
    ("distances", lambda c: "Distances", lambda c: c["distances"]["any"]),
    ("uniqueness", lambda c: "Copies, uniqueness", _always),
    ("minimal", lambda c: "Minimal key sets", lambda c: c["minimal"]["n"] > 0),
    ("subgroups", lambda c: "Subgroups", lambda c: bool(c["subgroups"])),
    ("exposed", lambda c: "Exposed people", lambda c: bool(c["data"].records)),
    ("calibration", lambda c: "What could be seen", _always),
    ("utility", lambda c: "Utility", lambda c: bool(c["data"].utility)),
    ("change", lambda c: "Change", lambda c: bool(c["data"].change)),
    ("policy", lambda c: "Policy", lambda c: bool(c["data"].policy)),
    ("threat", lambda c: "Threat model", _always),
    ("decision", lambda c: "Decision", _always),
    ("preconditions", lambda c: "Preconditions", _always),
    ("reproduce", lambda c: "Reproduce", _always),
    ("method", lambda c: "Method", _always),
    ("limits", lambda c: "Limits", _always),
    ("glossary", lambda c: "Glossary", _always),
    ("references", lambda c: "References", lambda c: bool(c["data"].attacks)),
)
"""The sections in the order of the page: their template, their name in the contents, and when they are there."""


def asset(name: str) -> str:
    return files("divulge.report.documents").joinpath(name).read_text(encoding="utf-8")


def content_policy(script: str, style: str) -> str:
    """Return a policy that lets this script and this style through and forbids every request."""

    def allowed(text: str) -> str:
        return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"

    return (
        f"default-src 'none'; script-src {allowed(script)}; style-src {allowed(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


@cache
def template() -> Any:
    # every printed value goes through `_shown` before it is escaped
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
        loader=PackageLoader("divulge.report.documents", "templates"),
    )
    helpers: dict[str, Callable[..., Any]] = {
        "brief": formatting.brief,
        "capitalized": formatting.capitalized,
        "compact": formatting.compact,
        "counted": formatting.counted,
        "css": lambda verdict: _CLASS.get(verdict, "unsure"),
        "distance": formatting.distance,
        "further": formatting.further,
        "in_question": formatting.in_question,
        "interval": formatting.interval,
        "limit": formatting.limit,
        "measured": formatting.measured,
        "name": formatting.name,
        "of": _fact,
        "number": number,
        "of_rows": formatting.of_rows,
        "p_text": formatting.p_text,
        "percent": percent,
        "prose": formatting.prose,
        "rated": formatting.rated,
        "share": formatting.share,
        "side": formatting.side,
        "standing_out": formatting.standing_out,
        "telling_notes": formatting.telling_notes,
    }
    environment.filters.update(helpers)
    return environment.get_template("page.html.j2")


def _shown(value: Any) -> Any:
    if isinstance(value, str) and not isinstance(value, Markup):
        return formatting.tidy(value)
    return value


def _acceptable(data: Assessment) -> float:
    return data.settings.acceptable


def _level(data: Assessment) -> str:
    return f"{100 * data.settings.level:g}%"


def _cut(rows: Sequence[Any], most: int) -> dict[str, Any]:
    """Return the first rows and how many are left out."""
    return {"rows": rows[:most], "n": len(rows), "left_out": max(0, len(rows) - most)}


def _banner(data: Assessment) -> dict[str, Any]:
    verdict = data.verdict.verdict
    return {
        "icon": html_charts.icon(verdict),
        "sentence": formatting.sentence(data),
        "meaning": formatting.meaning(data),
        "counts": [c for c in formatting.verdict_counts(data.results) if c[0] != "no holdout"],
        "single": formatting.unchanged_verdicts(data),
        "warnings": [c for c in data.preconditions if not c.ok],
    }


# ---------------------------------------------------------------- forest plot


def _forest(data: Assessment) -> dict[str, Any]:
    """Return the worst comparisons, grouped by attack, each with its drawing."""
    everything = formatting.judged(data.results)
    strangers = formatting.has_holdout(data)
    others = [r for r in everything if not formatting.in_question(r)]
    asked = [r for q in formatting.QUESTIONS for r in [r for r in everything if r.attack == q][:_ASKED]]
    shown = formatting.worst_first([*asked, *_worst_of_each(formatting.few_parts(others, _PARTS), _FOREST_ROWS)])
    acceptable = _acceptable(data)
    limits = [
        (formatting.risk_value(r, "low_simultaneous"), formatting.risk_value(r, "high_simultaneous")) for r in shown
    ]
    scale = html_charts.risk_scale(limits, acceptable) if strangers else html_charts.Scale(0.0, 1.0)
    groups: dict[str, list[dict[str, Any]]] = {}
    for i, r in enumerate(shown):
        svg = _interval(f"f{i}", r, scale, acceptable) if strangers else _rate(f"f{i}", r)
        groups.setdefault(r.attack, []).append({"r": r, "svg": svg})
    return {
        "n": len(everything),
        "drawable": len(everything),
        "shown": len(shown),
        "shared": formatting.shared_keys(r for r in everything if not formatting.in_question(r)),
        "groups": [
            {
                "attack": attack,
                "question": formatting.question_of(data, attack),
                "axis": html_charts.axis(f"x{j}", scale, acceptable if strangers else None, percent=not strangers),
                "rows": rows,
            }
            for j, (attack, rows) in enumerate(groups.items())
        ],
    }


def _worst_of_each(results: Sequence[ResultRecord], most: int) -> list[ResultRecord]:
    """Return the worst of every attack, then of every attack and target, then the worst of the rest.

    Many key sets for one target look alike; taking the worst alone would draw one of them over and over.
    """
    groupings: list[Callable[[ResultRecord], Any]] = [lambda r: r.attack, lambda r: (r.attack, r.target), id]
    chosen: dict[int, ResultRecord] = {}
    for group in groupings:
        first: dict[Any, ResultRecord] = {}
        for r in results:
            first.setdefault(group(r), r)
        for r in first.values():
            chosen.setdefault(id(r), r)
    return formatting.worst_first(list(chosen.values())[:most])


def _interval(uid: str, r: ResultRecord, scale: html_charts.Scale, acceptable: float) -> Markup:
    risk = r.risk
    title = f"Risk {number(formatting.risk_value(r))}, simultaneous interval {formatting.interval(risk)}"
    inner = (formatting.risk_value(r, "low"), formatting.risk_value(r, "high"))
    outer = (formatting.risk_value(r, "low_simultaneous"), formatting.risk_value(r, "high_simultaneous"))
    return html_charts.interval_row(
        uid, title, scale, acceptable, formatting.risk_value(r), inner, outer, str(r.verdict), formatting.leak_free(r)
    )


def _rate(uid: str, r: ResultRecord) -> Markup:
    rate, baseline = formatting.rate_of(r.real), formatting.rate_of(r.baseline)
    title = f"Rate {percent(rate)}, without the synthetic table {percent(baseline)}"
    return html_charts.rate_row(uid, title, rate, baseline)


# ---------------------------------------------------------------- what stands beside the risks


def _data_card(data: Assessment) -> list[tuple[str, list[str]]]:
    """Return one line for each fact about the tables, with a cell for real, synthetic and holdout."""
    tables = data.tables.by_role().values()
    lines: list[tuple[str, str, Callable[[Any], str]]] = [
        ("rows", "rows", formatting.compact),
        ("columns", "columns", formatting.compact),
        ("cells without a value", "missing", formatting.share),
        ("rows that repeat another", "repeated", formatting.compact),
        ("people or households", "units", formatting.compact),
        ("sha256 begins with", "sha256", lambda s: s[:12]),
    ]
    return [
        (word, ["-" if fact is None else shown(fact) for fact in facts])
        for word, facts, shown in ((w, [_fact(t, field) for t in tables], s) for w, field, s in lines)
        if any(fact is not None for fact in facts)
    ]


def _fact(part: msgspec.Struct | None, field: str) -> Any:
    """Return one field of a part of the report, None where there is no such part."""
    return None if part is None else getattr(part, field)


def _membership(data: Assessment) -> dict[str, Any]:
    """Return what is said about membership: whether it was tested, and what comes nearest to it."""
    tested = any(r.attack == "membership" for r in data.results)
    near = [s for s in distances.sentences(data) if s["attack"] in ("dcr", "exposure")]
    answer = (
        "See the results of the attack membership."
        if tested
        else "Not tested: no attack of this run asks for one person whether they are in the table. A verdict on "
        "membership cannot be read from the other attacks."
    )
    return {"answer": answer, "near": [] if tested else near}


def _sight(data: Assessment) -> list[dict[str, Any]]:
    """Return for each attack the comparison with the widest leak-free band, and whether its risk lies in the band."""
    widest: dict[str, tuple[float, ResultRecord]] = {}
    for r in formatting.judged(data.results):
        low, high = formatting.leak_free(r)
        if low is not None and high is not None and high - low > widest.get(r.attack, (-1.0, r))[0]:
            widest[r.attack] = (high - low, r)
    out = []
    for _, r in widest.values():
        low, high = formatting.leak_free(r)
        value = formatting.risk_value(r)
        inside = value is None or low is None or high is None or low <= value <= high
        where = "in the band" if inside else ("above it" if value is not None and value > (high or 0.0) else "below it")
        text = formatting.label(r).removeprefix(r.attack).strip(" :") or "whole records"
        out.append({"r": r, "label": text, "low": low, "high": high, "where": where})
    return out


def _changes(data: Assessment) -> dict[str, Any]:
    """Return the comparisons whose risk moved most for certain first, each with its drawing."""
    if not data.change:
        return {"rows": [], "n": 0, "left_out": 0, "axis": Markup("")}
    order = {"rose": 0, "fell": 1, "no change found": 2, "cannot compare": 3}
    found = sorted(
        data.change.comparisons, key=lambda c: (order[c.verdict], -abs(c.difference or 0.0))
    )  # fmt: skip
    part = _cut([c for c in found if c.difference is not None], _CHANGES)
    limits = [(c.low_simultaneous, c.high_simultaneous) for c in part["rows"]]
    reach = max([0.02, *(abs(v) for pair in limits for v in pair if v is not None)])
    scale = html_charts.Scale(-min(reach, 1.0), min(reach, 1.0))
    style = {"rose": "excess found", "fell": "none found"}
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
                style.get(c.verdict, "cannot tell"),
            ),
        }
        for i, c in enumerate(part["rows"])
    ]
    return part | {"rows": rows, "axis": html_charts.axis("nx", scale, None)}


# ---------------------------------------------------------------- the three questions


def _questions(data: Assessment) -> dict[str, Any]:
    """Return the three questions with their tables and drawings."""
    acceptable = _acceptable(data) if formatting.has_holdout(data) else None
    answers = wp216.answers(data)
    for i, a in enumerate(answers):
        a["rows"] = [{"r": r, "first": wp216.first_cell(r), "needed": wp216.few(r) or wp216.needed(r),
                      "shown": wp216.shown(r) if r.risk else None} for r in a["rows"]]  # fmt: skip
        a["part_risks"] = any(p.risk for p in a["parts"])
        a["charts"] = [_ladder(f"q{i}{j}", c, acceptable) for j, c in enumerate(a["charts"])]
    return {
        "answers": answers,
        "caveats": wp216.CAVEATS,
        "reading": wp216.READING,
        "score": wp216.SCORE,
        "part_limits": wp216.PART_LIMITS,
        "blurred": wp216.BLURRED,
    }


def _ladder(uid: str, chart: dict[str, Any], acceptable: float | None) -> dict[str, Any]:
    rungs = [html_charts.rung(label, r, acceptable is not None) for label, r in chart["rows"]]
    what = "rate beside that without the synthetic table" if acceptable is None else "risk with its intervals"
    told = f"Each line is one {what}. The numbers stand in the table below the chart."
    title = f"{'Rate' if acceptable is None else 'Risk'}. {chart['title']}"
    return {
        "svg": html_charts.ladder(uid, title, told, rungs, acceptable), "title": chart["title"], "rows": chart["rows"],
        "left_out": chart["left_out"],
    }  # fmt: skip


# ---------------------------------------------------------------- matrix


def _matrix(data: Assessment) -> dict[str, Any] | None:
    """Return targets by key sets, or targets by attacks where there is one key set for each target."""
    attributed = [r for r in data.results if r.target and r.verdict is not None and not formatting.in_question(r)]
    if not attributed:
        return None
    if data.key_sets:
        return _ranked_matrix(data, [r for r in attributed if r.attack == "cap"])
    columns = list(dict.fromkeys((r.attack, r.variant) for r in attributed))
    rows = [
        {"target": target, "cells": [_cell(_find(attributed, keys, target, c), with_keys=False) for c in columns]}
        for keys, target in dict.fromkeys((tuple(r.keys), r.target) for r in attributed)
    ]
    heads = [f"{a} ({v})" if v else a for a, v in columns]
    keys = list(dict.fromkeys(tuple(r.keys) for r in attributed))
    return {"kind": "attacks", "heads": heads, "rows": rows, "keys": keys}


def _find(
    results: Sequence[ResultRecord], keys: Sequence[str], target: str | None, column: tuple[str, str]
) -> ResultRecord | None:
    for r in results:
        if (r.attack, r.variant) == column and r.target == target and tuple(r.keys) == tuple(keys):
            return r
    return None


def _ranked_matrix(data: Assessment, caps: Sequence[ResultRecord]) -> dict[str, Any]:
    by_pair = {(tuple(r.keys), r.target): r for r in caps}
    rows = []
    for target in dict.fromkeys(k.target for k in data.key_sets):
        pairs = [k for k in data.key_sets if k.target == target]
        own = [r for k in pairs if (r := by_pair.get((tuple(k.keys), target))) is not None]
        best = max(own, key=_shade_value, default=None)
        cells = [_cell(r, with_keys=True) for r in own[:_RANKS]]
        cells += [None] * (_RANKS - len(cells))
        rows.append({"target": target, "n": len(own), "cells": [*cells, _cell(best, with_keys=True)]})
    ordinals = ["1st", "2nd", "3rd", *(f"{i}th" for i in range(4, _RANKS + 1))]
    return {"kind": "ranks", "heads": [*(f"{o} key set" for o in ordinals), "worst tested"], "rows": rows, "keys": []}


def _shade_value(r: ResultRecord) -> float:
    value = formatting.risk_value(r)
    if value is None:
        value = formatting.rate_of(r.real)
    return -1.0 if value is None else float(value)


def _cell(r: ResultRecord | None, *, with_keys: bool) -> dict[str, Any] | None:
    if r is None:
        return None
    risk = formatting.risk_value(r)
    sizes = [part.n for part in (r.real, r.holdout) if part and part.n is not None]
    few = bool(sizes) and min(sizes) < _SMALL_N
    shade = 0 if risk is None else sum(risk > s for s in _SHADES)
    return {
        "r": r, "shade": 0 if few else shade, "few": few, "least": min(sizes, default=None),
        "keys": r.keys if with_keys else [],
    }  # fmt: skip


# ---------------------------------------------------------------- CAP


def _cap_curves(data: Assessment) -> list[dict[str, Any]]:
    """Return the CAP of each person as curves, for the worst result of each target first."""
    caps = [r for r in formatting.judged(data.results) if r.attack == "cap" and r.curves.get("at_least")]
    first = list({r.target: r for r in reversed(caps)}.values())
    chosen = {id(r) for r in first}
    ranked = [*formatting.worst_first(first), *(r for r in caps if id(r) not in chosen)]
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


def _distances(data: Assessment) -> dict[str, Any]:
    results = distances.family(data, "distance", "exposure")
    figures = [_figure(f"d{i}", r) for i, r in enumerate(_first_of_each(results))]
    return {
        "any": bool(results),
        "sentences": distances.sentences(data),
        "values": distances.values(data),
        "figures": [f for f in figures if f is not None],
    }


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
    """Return one result drawn as cumulative curves, None when there are none."""
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


def _measures(data: Assessment) -> list[ResultRecord]:
    """Return the results without a verdict that no section of their own shows."""
    shown = {r.attack for r in distances.family(data, "distance", "exposure")}
    return [r for r in data.results if r.verdict is None and r.attack not in shown and not formatting.in_question(r)]


# ---------------------------------------------------------------- uniqueness


def _uniqueness(data: Assessment) -> dict[str, Any]:
    results = data.results
    classes = [r for r in results if r.attack == "k_anonymity"]
    drawn = [r for r in classes if r.curves.get("class size") and r.curves.get("real")]
    drawn.sort(key=lambda r: -(r.context.get("real records alone on their key") or 0.0))
    parts = formatting.worst_first(r for r in results if formatting.on_part(r))
    return {
        "uniques": _unique_rows(results),
        "classes": classes,
        "curves": [_class_curve(f"k{i}", r) for i, r in enumerate(drawn[:3])],
        "diversity": [_with_shares(r, 1.0) for r in results if r.attack == "l_diversity"],
        "closeness": [r for r in results if r.attack == "t_closeness"],
        "presence": [r for r in results if r.attack == "delta_presence"],
        "copies": [r for r in results if r.attack == "copies" and not formatting.on_part(r)],
        "searched": next((n for r in results for n in r.notes if n.startswith("copies of part of a row")), ""),
        "parts": parts[:_PARTS],
        "more_parts": _cut(parts[_PARTS:], _FOLDED),
    }


def _unique_rows(results: Sequence[ResultRecord]) -> list[dict[str, Any]]:
    """Return one row for each key set with its four counts."""
    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    for r in results:
        if r.attack == "replicated_uniques":
            rows.setdefault(tuple(r.keys), {})[r.variant] = r
    return [{"keys": keys, "of": of} for keys, of in rows.items()]


def _class_curve(uid: str, r: ResultRecord) -> dict[str, Any]:
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


def _with_shares(r: ResultRecord, at_most: float) -> dict[str, Any]:
    """Return the result with the share of records in classes whose diversity is at most this."""
    levels = r.curves.get("diversity at most") or []
    place = levels.index(at_most) if at_most in levels else None
    sides = ("real", "synthetic", "holdout")
    curves = {s: r.curves.get(s) or [] for s in sides}
    return {"r": r} | {s: curves[s][place] if place is not None and len(curves[s]) > place else None for s in sides}


def _baselines(data: Assessment) -> list[dict[str, Any]]:
    """Return what guessing without the synthetic table gives, one row for each key set and target."""
    rows: dict[tuple[tuple[str, ...], str | None], dict[str, Any]] = {}
    for r in data.results:
        if r.attack == "baseline_cap":
            rows.setdefault((tuple(r.keys), r.target), {})[r.variant] = r
    return [{"keys": keys, "target": target, "of": of} for (keys, target), of in rows.items()]


def _notes(data: Assessment) -> list[tuple[str, int]]:
    """Return what the results note, each once, with how many results carry it."""
    away = ("cannot tell", "column ", "tables that pass distance tests", "the rate is of synthetic rows")
    told = [r for r in data.results if not formatting.on_part(r) and not formatting.in_question(r)]
    return Counter(n for r in told for n in r.notes if not n.startswith(away)).most_common()
