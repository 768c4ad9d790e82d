"""The pictures of the first pages: tiles, bars for each question, forest of the primaries, map of columns, key sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from divulge.attacks.copying.histories import HISTORY_HITS
from divulge.core.result import FOUND, identity, percent
from divulge.report import formatting, order
from divulge.report.documents import html_bars, html_figures
from divulge.report.documents.html_charts import Scale
from divulge.report.model import Assessment, Bound, ResultRecord
from divulge.report.prose import column_map, wp216
from divulge.report.prose.compared import Bar, bars
from divulge.report.prose.decision import Decision
from divulge.report.prose.people import people_or_rows
from divulge.report.prose.tiles import Tile

__all__ = ["bound_words", "front", "mapped", "primaries", "questions_drawn", "risky_sets"]

_ROWS = 8  # rows of one chart of bars
_COLUMNS = 12  # columns of the map that are drawn
_SETS = 6
_LONG = 260  # width of the labels of key sets


def front(d: Decision) -> list[dict[str, Any]]:
    """Return the tiles, each with the drawing of its bars."""
    return [{"t": t, "bars": _tile_bars(t)} for t in d.tiles]


def _tile_bars(t: Tile) -> list[dict[str, Any]]:
    return [{"b": b, "svg": html_bars.single(f"t-{t.id}-{i}", b)} for i, b in enumerate(t.bars)]


# ---------------------------------------------------------------- one chart of bars for each question


def questions_drawn(data: Assessment, tiles: Sequence[Tile]) -> list[dict[str, Any]]:
    """Return each question about people with a chart of its comparisons, members beside strangers."""
    out = []
    definitions = {a.attack: a.definition for a in wp216.answers(data)} | _DEFINITIONS
    for t in tiles:
        if t.id == "use":
            continue
        rows = [(label, b) for label, r in _compared(t, data) if (b := bars(r)) and b[0].share is not None]
        wide = {"labels": _WIDE} if any(len(label) > _SHORT for label, _ in rows) else {}
        drawn = html_bars.paired(f"b-{t.id}", f"{t.name}: members beside strangers", rows, **wide) if rows else None
        out.append({"t": t, "definition": definitions.get(t.id, ""), "chart": drawn, "rows": rows})
    return out


_DEFINITIONS = {
    "copies": "A record of the real table that stands in the synthetic one, whole or in part.",
    "membership": "Finding out whether somebody is in the real table at all. Where the table is about an illness or a "
    "debt, that is a secret.",
}


def _compared(t: Tile, data: Assessment) -> list[tuple[str, ResultRecord]]:
    """Return the comparisons of one question that are drawn, with their labels."""
    own = [r for r in data.results if r.attack == t.id and r.verdict is not None and r.real is not None]
    if t.id == "copies":
        drawn = [r for r in own if r.holdout is not None or not order.has_holdout(data)]
        shown: dict[str, ResultRecord] = {}  # of the spellings of a column the plain one, or the first that was found
        for r in order.few_parts(drawn, 3):
            if (label := _label(r)) not in shown or (r.verdict in FOUND and shown[label].verdict not in FOUND):
                shown[label] = r
        return list(shown.items())[:_ROWS]
    if t.id == "inference":
        means = [r for r in own if r.target is None]
        nearest = [r for r in own if r.target is not None and r.variant == "nearest record"] or own
        worst = order.worst_first(nearest)[: _ROWS - len(means)]
        return [("all, on average", r) for r in means[:1]] + [
            (", ".join((str(r.target), *r.actors[:1])), r) for r in worst
        ]
    if t.id == "linkability":
        first = own[0].settings.get("split") if own else None
        same = [r for r in own if r.settings.get("split") == first]
        return [(f"{r.settings.get('k')} nearest", r) for r in same if r.settings.get("k") in _K] or _first(own)
    enough = [r for r in own if not formatting.of_guesses(r.attack) or (r.real and (r.real.n or 0) >= _GUESSES)]
    return _first(enough or own)


_GUESSES = 20  # fewer guesses draw no picture
_K = (1, 2, 5, 10)


def _first(own: Sequence[ResultRecord]) -> list[tuple[str, ResultRecord]]:
    return [(_label(r), r) for r in own[:_ROWS]]


def _label(r: ResultRecord) -> str:
    words = {
        "exact": "word for word", "near": "near copy", "all but one": "all but 1 column",
        "univariate": "one rare value",
    }.get(r.variant)  # fmt: skip
    if words:
        return words
    if r.attack == "copies" and r.keys:
        which = f"{r.variant}: " if r.variant in HISTORY_HITS else ""
        return which + _set(r.keys)
    return r.variant or r.attack.replace("_", " ")


def _set(keys: Sequence[str]) -> str:
    """Return a set of columns in a few letters: all names where they fit, else the first and how many more."""
    whole = " + ".join(map(formatting.name, keys))
    return whole if len(whole) <= _LETTERS else f"{formatting.name(keys[0])} + {len(keys) - 1} more"


_SHORT, _LETTERS, _WIDE = 17, 27, 196  # letters of a label of the usual width, of a wide one, and its width

# ---------------------------------------------------------------- forest of the primary comparisons


def primaries(data: Assessment, scale: Scale) -> list[dict[str, Any]]:
    """Return the comparisons that were fixed before the run, each with its interval drawn on one scale."""
    by_name = {identity(r): r for r in data.results}
    pairs = [(b, by_name.get(identity(b))) for b in data.verdict.bounds]
    return [
        {"b": b, "r": r, "words": bound_words(b), "svg": html_figures.interval(f"p{i}", r, scale, data)}
        for i, (b, r) in enumerate(pairs)
        if r is not None
    ]


def bound_words(b: Bound) -> str:
    """Return what a bound is about, without the name of the attack where its target and keys say it."""
    words = _BOUND_WORDS.get((b.attack, b.variant))
    if words is None and b.target is not None:
        known = f" from {' + '.join(map(formatting.name, b.keys))}" if b.keys else ""
        return f"{formatting.name(b.target)} {'guessed' if b.attack == 'inference' else 'read off'}{known}"
    return words or b.words


_BOUND_WORDS = {
    ("copies", "exact"): "copies, word for word",
    ("copies", "near"): "near copies",
    ("dcr", "attraction"): "synthetic rows that follow members",
    ("inference", "nearest record, mean over targets"): "secrets guessed, on average",
}


# ---------------------------------------------------------------- columns and key sets


def mapped(data: Assessment) -> dict[str, Any]:
    """Return the map of columns by what leaks through them, worst columns first."""
    found = column_map.column_map(data)
    return {
        "heads": found.heads, "rows": found.rows[:_COLUMNS], "left_out": max(0, len(found.rows) - _COLUMNS),
        "any": bool(found.heads and found.rows),
    }  # fmt: skip


def risky_sets(data: Assessment) -> dict[str, Any]:
    """Return the key sets that give most people away, as bars of people."""
    sets = sorted((m for m in data.minimal_key_sets if m.n_disclosed), key=lambda m: -(m.n_disclosed or 0))[:_SETS]
    if sets:
        who = people_or_rows(data)
        rows = [
            (
                f"{' + '.join(map(formatting.name, m.keys))} → {formatting.name(m.target)}",
                (Bar("members", "members", m.share, f"{m.n_disclosed:,} {who} ({percent(m.share)})"),),
            )
            for m in sets
        ]
        return {
            "kind": "disclosing",
            "chart": html_bars.paired("ks", "Key sets that give a value away", rows, labels=_LONG),
            "rows": rows,
        }
    alone = [r for r in data.results if (r.attack, r.variant) == ("replicated_uniques", "repU pooled") and r.real]
    alone.sort(key=lambda r: (r.verdict not in FOUND, -(formatting.rate_of(r.real) or 0.0)))
    drawn = [(" + ".join(map(formatting.name, r.keys)), b) for r in alone if (b := bars(r)) and b[0].share is not None]
    chart = html_bars.paired("ks", "People alone with their key set", drawn[:_SETS], labels=_LONG) if drawn else None
    return {"kind": "unique", "chart": chart, "rows": drawn[:_SETS]}
