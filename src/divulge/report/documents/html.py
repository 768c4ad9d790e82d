"""The report as one offline HTML page: it fetches nothing, and all names are escaped."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any

from divulge.core.result import FOUND, identity
from divulge.report import formatting, order, words
from divulge.report.claims.prose import CLAIM_MEANING, CLAIM_TITLE, claim_in_words
from divulge.report.content import assessment_text, settings_of
from divulge.report.documents import html_charts, html_figures, html_front, html_kept, html_matrix
from divulge.report.documents.page_of import fact, page_of
from divulge.report.model import Assessment, ResultRecord
from divulge.report.prose import distances, people, statement, wp216
from divulge.report.prose.actors import by_actor
from divulge.report.prose.advice import why_mended
from divulge.report.prose.decision import copied_without_strangers, decision
from divulge.report.prose.membership import DEFINITION, membership_in_words
from divulge.report.prose.reconstruction import MEANING, reconstruction_in_words
from divulge.report.prose.several_tables import limits_in_words
from divulge.report.prose.statement import FOR_THE_RECORD, for_the_record
from divulge.report.verdicts import RISK

__all__ = ["card", "page"]

_TABLE_ROWS = 200  # comparisons up to which a page shows each
_TELLING_ROWS = 80  # those that it shows of more
_MEASURE_ROWS = 50
_KEY_SET_ROWS = 200
_NOTE_ROWS = 60
_FOLDED = 100
_OF_STRANGERS = re.compile(r"\bleak|excess|members and")


def page(data: Assessment, worst_records: list[dict[str, Any]], *, annex: bool = False) -> str:
    """Return the report as one HTML page.

    Parameters
    ----------
    data
        The assessment; its strings are untrusted text.
    worst_records
        The most exposed real records, by row number, as in `Report.records`; empty for a page that others than
        the custodian may read.
    annex
        Whether the annex is unfolded, and printed with the page.
    """
    fingerprint = sha256(assessment_text(data).encode()).hexdigest()
    scale = html_figures.common_scale(data)
    context = (
        _whole(data)
        | _first_pages(data, scale)
        | _annex(data, scale)
        | {
            "annex": annex,
            "card": False,
            "fingerprint": fingerprint,
            "worst": worst_records,
        }
    )
    context["folds"] = [(name, title(context)) for name, title, when in _ANNEX if when(context)]
    return page_of("page.html.j2", context, style=_margins(data, fingerprint))


def card(data: Assessment) -> str:
    """Return the first page alone as one HTML page, for a notebook."""
    context = _whole(data) | _first_pages(data, html_figures.common_scale(data))
    return page_of("card.html.j2", context | {"card": True}, still=True)


def _whole(data: Assessment) -> dict[str, Any]:
    """Return what every part of the page uses."""
    return {
        "data": data,
        "version": data.divulge,
        "external": data.edition == "external",
        "holdout": order.has_holdout(data),
        "not_tested": data.not_tested,
        "settings": settings_of(data),
        "tables": [*data.tables.by_role().items()],
        "level": _level(data),
        "acceptable": f"{data.settings.acceptable:g}",
        "acceptable_share": f"{100 * data.settings.acceptable:g}%",
    }


def _first_pages(data: Assessment, scale: html_charts.Scale) -> dict[str, Any]:
    """Return what the pages that are always printed show."""
    told = decision(data)
    return {
        "d": told,
        "banner": _banner(data),
        "tiles": html_front.front(told),
        "drawn": html_front.questions_drawn(data, told.tiles),
        "primaries": html_front.primaries(data, scale),
        "scale_axis": html_figures.axis("px", scale, data),
        "map": html_front.mapped(data),
        "sets": html_front.risky_sets(data),
        "near": html_figures.few_distances(data),
        "data_card": _data_card(data),
        "provenance": statement.provenance(data),
        "kinds": Counter(c.kind for c in data.schema).most_common(),
        "actors": by_actor(data),
        "attacker": statement.knowledge(data),
        "flags": people.flags(data.records),
        "sight": _sight(data),
        "control": distances.control_tables(data),
        "control_sentence": distances.control_sentence(data),
        "decided": statement.decided(data),
        "certificate": statement.CERTIFICATE,
        "for_the_record": for_the_record(data, told),
        "for_the_record_title": FOR_THE_RECORD,
        "about": statement.about(data),
        "not_stated": statement.not_stated(data),
        "fidelity": html_kept.kept(data),
        "ruler": words.RULER,
        "definitions": [(v, w.definition.format(acceptable=data.settings.acceptable)) for v, w in RISK.items()],
        "limits": limits_in_words(data),
    }


def _annex(data: Assessment, scale: html_charts.Scale) -> dict[str, Any]:
    """Return what the annex shows."""
    groups = _questions(data, scale)
    return {
        "membership": _membership(data),
        "subgroups": [a for a, _ in groups["answers"] if a.parts and not a.of_guesses],
        "histories": order.by_length(data),
        "changes": html_figures.changes(data),
        "glossary": [g for g in words.GLOSSARY if order.has_holdout(data) or not _OF_STRANGERS.search(" ".join(g))],
        "attack_rows": order.by_attack(data),
        "forest": html_figures.forest(data, scale),
        "judged": html_figures.cut(*_telling(data)),
        "questions": groups,
        "threat_model": statement.threat_model(data),
        "processing": statement.PROCESSING,
        "evidence": statement.evidence(data),
        "matrix": html_matrix.matrix(data),
        "claimed": claim_in_words(data),
        "claim_title": CLAIM_TITLE,
        "claim_meaning": CLAIM_MEANING,
        "solved": reconstruction_in_words(data),
        "solving": MEANING,
        "cap_curves": html_figures.cap_curves(data),
        "uniqueness": _uniqueness(data),
        "baselines": _baselines(data),
        "distances": html_figures.distance_figures(data),
        "control_method": formatting.CONTROL,
        "measures": html_figures.cut(_measures(data), _MEASURE_ROWS),
        "minimal": html_figures.cut(sorted(data.minimal_key_sets, key=lambda m: -(m.n_disclosed or 0)), _KEY_SET_ROWS),
        "notes": html_figures.cut(_notes(data), _NOTE_ROWS),
        "rows_risk": words.ROWS_RISK,
        "methods": formatting.methods(data),
    }


def _always(_: dict[str, Any]) -> bool:
    return True


_ANNEX: tuple[tuple[str, Callable[[dict[str, Any]], str], Callable[[dict[str, Any]], bool]], ...] = (
    ("risks", lambda c: "All risks and comparisons" if c["holdout"] else "All rates", lambda c: c["forest"]["n"] > 0),
    ("questions", lambda c: "The three questions in full, and membership", _always),
    ("attribution", lambda c: "Attribution: who knows this can tell that", lambda c: bool(c["matrix"] or c["solved"])),
    ("cap", lambda c: "CAP, person by person", lambda c: bool(c["cap_curves"])),
    ("distances", lambda c: "Distances in full", lambda c: c["distances"]["any"]),
    ("uniqueness", lambda c: "Copies and uniqueness in full", _always),
    ("minimal", lambda c: "Minimal key sets", lambda c: c["minimal"]["n"] > 0),
    ("subgroups", lambda c: "Subgroups", lambda c: bool(c["subgroups"] or c["histories"])),
    ("exposed", lambda c: "The list of exposed people", lambda c: bool(c["data"].records)),
    ("calibration", lambda c: "What this run could have seen", _always),
    ("fidelity_full", lambda c: "Fidelity in full", lambda c: any(m["rows"] for m in c["fidelity"]["full"])),
    ("change", lambda c: "Change since the previous run", lambda c: bool(c["data"].change)),
    ("policy", lambda c: "Policy", lambda c: bool(c["data"].policy)),
    ("threat", lambda c: "Threat model and release", _always),
    ("claim", lambda c: CLAIM_TITLE, lambda c: bool(c["claimed"])),
    ("decision", lambda c: "Evidence for the decision, in full", _always),
    ("preconditions", lambda c: "Preconditions in full", _always),
    ("reproduce", lambda c: "Reproduce", _always),
    ("method", lambda c: "Method in full, and how each column was read", _always),
    ("not_run", lambda c: "Attacks that this run did not make", lambda c: bool(c["data"].not_run)),
    ("glossary", lambda c: "Glossary", _always),
    ("references", lambda c: "References", lambda c: bool(c["data"].attacks)),
)
"""The sections of the annex in the order of the page: template, title, condition for showing it."""


def _margins(data: Assessment, fingerprint: str) -> str:
    """Return the rules for the margins of printed pages: title, edition, hash, number of the page.

    They are part of the style sheet, so that the policy of the page covers them; nothing in them is untrusted text.
    """
    edition = "external edition" if data.edition == "external" else "custodian's edition"
    left = f"divulge report of {data.started[:10]}, {edition}" if _DATE.fullmatch(data.started[:10]) else edition
    return (
        "\n@media print { @page {"
        f' @bottom-left {{ content: "{left}"; }}'
        f' @bottom-center {{ content: "assessment {fingerprint[:16]}"; }}'
        ' @bottom-right { content: "page " counter(page) " of " counter(pages); } } }\n'
    )


_DATE = re.compile(r"[0-9-]{10}", re.ASCII)


def _level(data: Assessment) -> str:
    return f"{100 * data.settings.level:g}%"


def _banner(data: Assessment) -> dict[str, Any]:
    verdict = data.verdict.verdict
    return {
        "css": "unsure" if copied_without_strangers(data) else RISK[verdict].css,
        "icon": html_charts.icon(verdict),
        "sentence": formatting.sentence(data),
        "meaning": formatting.meaning(data),
        "counts": [c for c in order.verdict_counts(data.results) if c[0] != "no holdout"],
        "facts": people.facts_in_words(data),
        "failures": order.failures(data),
        # the title says already that there is no holdout
        "warnings": [
            (c.check, why_mended(c.check) or c.detail)
            for c in data.preconditions
            if not c.ok and (c.check != "holdout" or order.has_holdout(data))
        ],
    }


# ---------------------------------------------------------------- tables, membership, leak-free bands


def _data_card(data: Assessment) -> list[tuple[str, list[str]]]:
    """Return one line for each fact about the tables, with a cell for real, synthetic and holdout."""
    tables = data.tables.by_role().values()
    linked = data.tables.synthetic.linked
    lines: list[tuple[str, str, Callable[[Any], str]]] = [
        ("people" if linked else "rows", "rows", formatting.compact),
        ("columns of a person" if linked else "columns", "columns", formatting.compact),
        ("cells without a value", "missing", formatting.share),
        ("rows that repeat another", "repeated", formatting.compact),
        ("people or households", "units", formatting.compact),
        ("sha256 begins with", "sha256", lambda s: s[:12]),
    ]
    told = [
        (word, ["-" if fact is None else shown(fact) for fact in facts])
        for word, facts, shown in ((w, [fact(t, field) for t in tables], s) for w, field, s in lines)
        if any(fact is not None for fact in facts)
    ]
    for i, t in enumerate(linked):
        rows = [formatting.compact(side.linked[i].rows) if side else "-" for side in tables]
        told.insert(1 + i, (f"rows in {formatting.name(t.name)}", rows))
        if t.longest_shared is not None:
            most = [formatting.compact(side.linked[i].longest_shared) if side else "-" for side in tables]
            told.append((f"most rows in {formatting.name(t.name)} that ten people have as many of", most))
    return told


def _membership(data: Assessment) -> dict[str, Any]:
    """Return what was found about membership and, if it was not tested, the findings that are nearest to it."""
    told = membership_in_words(data)
    near = [s for s in distances.sentences(data) if s["attack"] in ("dcr", "exposure")]
    answer = (
        "Not tested: no attack of this run asks for one person whether they are in the table. A verdict on "
        "membership cannot be read from the other attacks."
    )
    answer, more = (told[0], told[1:]) if told else (answer, [])
    return {"definition": DEFINITION, "answer": answer, "told": more, "near": [] if told else near}


def _sight(data: Assessment) -> list[dict[str, Any]]:
    """Return for each attack the comparison with the widest leak-free band, and whether its risk lies in the band."""
    widest: dict[str, tuple[float, ResultRecord]] = {}
    for r in order.judged(data.results):
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


# ---------------------------------------------------------------- the three questions


def _questions(data: Assessment, scale: html_charts.Scale) -> dict[str, Any]:
    """Return the three questions with their tables and drawings."""
    acceptable = data.settings.acceptable if order.has_holdout(data) else None
    answers = [
        (a, [html_figures.ladder(f"q{i}{j}", c, scale, acceptable) for j, c in enumerate(a.charts)])
        for i, a in enumerate(wp216.answers(data))
    ]
    return {
        "answers": answers,
        "caveats": wp216.CAVEATS,
        "reading": wp216.READING,
        "score": wp216.SCORE,
        "part_limits": wp216.PART_LIMITS,
        "blurred": wp216.BLURRED,
    }


# ---------------------------------------------------------------- distances


def _telling(data: Assessment) -> tuple[list[ResultRecord], int]:
    """Return the comparisons and how many a page shows, worst first; of many, main tests and findings before others.

    A quarter of the places is for comparisons without a finding.
    """
    rows = order.judged(data.results)
    main = {identity(b) for b in data.verdict.bounds if b.primary}
    if len(rows) <= _TABLE_ROWS:
        return rows, len(rows)
    rows.sort(key=lambda r: (identity(r) not in main, r.verdict not in FOUND))
    others = [r for r in rows if r.verdict not in FOUND and identity(r) not in main][: _TELLING_ROWS // 4]
    first = [r for r in rows if r not in others][: _TELLING_ROWS - len(others)]
    shown = order.worst_first([*first, *others])
    return shown + [r for r in rows if r not in shown], _TELLING_ROWS


def _measures(data: Assessment) -> list[ResultRecord]:
    """Return the results without a verdict that no other section shows."""
    shown = {r.attack for r in distances.family(data, "distance", "exposure")}
    return [r for r in data.results if r.verdict is None and r.attack not in shown and not order.in_question(r)]


# ---------------------------------------------------------------- uniqueness


def _uniqueness(data: Assessment) -> dict[str, Any]:
    results = data.results
    copying = {name for name, about in data.attacks.items() if about.family == "copying"}
    classes = [r for r in results if r.attack == "k_anonymity"]
    drawn = [r for r in classes if r.curves.get("class size") and r.curves.get("real")]
    drawn.sort(key=lambda r: -(r.context.get("real records alone on their key") or 0.0))
    parts = order.worst_first(r for r in results if order.on_part(r))
    return {
        "uniques": _unique_rows(results),
        "classes": classes,
        "curves": [html_figures.class_curve(f"k{i}", r) for i, r in enumerate(drawn[:3])],
        "diversity": [_with_shares(r, 1.0) for r in results if r.attack == "l_diversity"],
        "closeness": [r for r in results if r.attack == "t_closeness"],
        "presence": [r for r in results if r.attack == "delta_presence"],
        "copies": [r for r in results if r.attack in copying and not order.on_part(r)],
        "searched": next((n for r in results for n in r.notes if n.startswith("copies of part of a row")), ""),
        "parts": parts[: html_figures.PARTS],
        "more_parts": html_figures.cut(parts[html_figures.PARTS :], _FOLDED),
    }


def _unique_rows(results: Sequence[ResultRecord]) -> list[dict[str, Any]]:
    """Return one row for each key set with its four counts."""
    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    for r in results:
        if r.attack == "replicated_uniques":
            rows.setdefault(tuple(r.keys), {})[r.variant] = r
    return [{"keys": keys, "of": of} for keys, of in rows.items()]


def _with_shares(r: ResultRecord, at_most: float) -> dict[str, Any]:
    """Return the result with the share of records in classes whose diversity is at most `at_most`."""
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
    """Return the notes of the results, each once, with the number of results that have it."""
    away = ("cannot tell", "column ", "tables that pass distance tests", "the rate is of synthetic rows")
    told = [r for r in data.results if not order.on_part(r) and not order.in_question(r)]
    return Counter(n for r in told for n in r.notes if not n.startswith(away)).most_common()
