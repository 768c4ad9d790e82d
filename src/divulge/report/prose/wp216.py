"""The answers to the three questions of WP216 (singling out, linkability, inference), shared by all documents."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from divulge.attacks.checks import SHOWN
from divulge.attacks.entry import WAYS
from divulge.core.result import FOUND, number, percent
from divulge.report import formatting, order
from divulge.report.model import Assessment, Group, Rate, ResultRecord
from divulge.report.prose.answer import Answer, Chart, Further, Headline, Part
from divulge.report.prose.compared import how_right
from divulge.report.prose.questions import ASKED, Question

__all__ = [
    "BLURRED",
    "CAVEATS",
    "HEADLINE",
    "HEADS",
    "PART_LIMITS",
    "READING",
    "SCORE",
    "answers",
    "few",
    "first_cell",
    "listed",
    "nearest_rows",
    "needed",
    "shown",
]

_ROWS = 200
_PARTS = 12  # column sets or subgroups
_NAMES = 12
_NOTES = 6
_NUMBERS = 12

READING = (
    "Risk is the excess over strangers: of what the attack would have got wrong had the members been strangers, the "
    "share that it gets right. It is not the chance that a guess is right: that is the rate of members, and strangers "
    "may have much of it too."
)
"""What risk is and is not."""

SCORE = (
    "Two intervals stand beside each risk: that of the comparison alone, and the simultaneous one, which is wider, as "
    "it holds for all comparisons of the question together. The verdict follows the simultaneous one. The score takes "
    "that of the comparison alone, so that it does not depend on what else was asked: it is 100 (1 - upper limit), "
    "between 0 and 100. 100 means an upper limit of 0 or less, 90 one of 0.1, 0 one of 1. In some comparisons not even "
    "a full copy of the real table would reach a risk of 1, as when people share records or a guess fits somebody else "
    "by chance. There the upper limit is first divided by the part of a full copy that would show, so that 0 still "
    "means that the interval does not exclude a full copy; where nothing of it would show, there is no score. A score "
    "is a conservative reading of the excess and no grade."
)
"""What the score is."""

BLURRED = (
    "Inference and disclosure are not separated: without a holdout the rates below mix what holds for anybody of the "
    "population with what the rows of single people give away. Neither risk nor score is given."
)
"""What the answers do not separate without a holdout."""

CAVEATS = (
    "Failing one question does not by itself mean that the synthetic table is personal data: it means that a fuller "
    "analysis of the risk of identification is due. Three good answers make that analysis easier, not needless.",
    "Which risk or score is acceptable depends on the law that applies, on the people, on what is secret and on how "
    "the table is released; no regulator is known to publish a number.",
)
"""What the answers do not decide."""

PART_LIMITS = (
    "The limits allow for the number of groups of one target and way of guessing; they are not corrected for the "
    "number of targets."
)
"""What the limits of subgroups are corrected for."""

HEADLINE = {"singling_out": "3 columns", "linkability": "k = 1", "inference": "nearest record"}
"""The results that answer each question."""

HEADS = {
    "singling_out": ("columns in the description",),
    "linkability": ("split", "nearest rows, k"),
    "inference": ("target", "way of guessing"),
}
"""What distinguishes the results of each question."""


def answers(data: Assessment) -> list[Answer]:
    """Return what the report says about each of the three questions."""
    return [_answer(q, data) for q in ASKED]


def _answer(q: Question, data: Assessment) -> Answer:
    rows = _in_order(q.attack, [r for r in data.results if r.attack == q.attack])
    parts, shown_rows = _parts(rows), listed(q.attack, rows, _ROWS)
    return Answer(
        attack=q.attack, id=q.attack.replace("_", "-"), name=q.name, definition=q.definition,
        says=q.says, example=q.example, how=q.how, caption=q.table, heads=HEADS[q.attack],
        headline=_headline(q.attack, rows, data), missing=_missing(q, data, rows),
        rows=shown_rows, n=len(rows), charts=_charts(q.attack, rows),
        parts=parts[:_PARTS], n_parts=len(parts), of_guesses=q.attack == "singling_out",
        splits=_splits(rows) if q.attack == "linkability" else [],
        untested=[*_limits_of(q.attack, rows, data), *q.untested], notes=_notes(rows),
        further=_further(shown_rows), any_shown=any(shown(r) < 1 for r in shown_rows),
    )  # fmt: skip


def _missing(q: Question, data: Assessment, rows: Sequence[ResultRecord]) -> str:
    if rows:
        return ""
    failed = any(f.attack == q.attack for f in data.failed)
    why = "It failed; why stands at the top." if failed else "This run did not ask it."
    return f"Not tested. {why} Nothing on this page answers this question in this form."


# ---------------------------------------------------------------- order


def _columns_of(r: ResultRecord) -> int:
    found = re.match(r"(\d+) column", str(r.variant))
    return int(found[1]) if found else 0


def nearest_rows(r: ResultRecord) -> int:
    """Return k, the number of nearest synthetic rows by which linkability links; 0 for other attacks."""
    k = r.settings.get("k")
    if isinstance(k, int):
        return k
    found = re.search(r"k = (\d+)", str(r.variant))
    return int(found[1]) if found else 0


def _split_of(r: ResultRecord) -> str:
    return str(r.settings.get("split") or str(r.variant).rpartition(", k = ")[0] or r.variant)


def _way_of(r: ResultRecord) -> int:
    return WAYS.index(r.variant) if r.variant in WAYS else len(WAYS)


def _in_order(attack: str, results: Sequence[ResultRecord]) -> list[ResultRecord]:
    """Return results sorted by number of columns, by k within each split, or by way of guessing within each target."""
    if attack == "singling_out":
        return sorted(results, key=_columns_of)

    def group(r: ResultRecord) -> Any:
        return _split_of(r) if attack == "linkability" else (r.target, tuple(r.keys))

    places = {g: i for i, g in enumerate(dict.fromkeys(map(group, results)))}
    within = nearest_rows if attack == "linkability" else _way_of
    return sorted(results, key=lambda r: (places[group(r)], within(r)))


def listed(attack: str, rows: Sequence[ResultRecord], most: int) -> list[ResultRecord]:
    """Return at most `most` rows in their order: those that answer the question, then the worst of the others."""
    if len(rows) <= most:
        return list(rows)
    ranked = sorted(order.worst_first(rows), key=lambda r: not _HEADLINE[attack](r))
    kept = set(map(id, ranked[:most]))
    return [r for r in rows if id(r) in kept]


# ---------------------------------------------------------------- the headline

_HEADLINE: dict[str, Callable[[ResultRecord], bool]] = {
    "singling_out": lambda r: _columns_of(r) == 3,
    "linkability": lambda r: nearest_rows(r) == 1,
    "inference": lambda r: r.variant == "nearest record",
}
"""Fixed beforehand, so that the variant is not chosen by its outcome; of several splits or targets the worst counts.
A finding of another variant speaks for the question where these have none: it is corrected for all of them."""


def _headline(attack: str, rows: Sequence[ResultRecord], data: Assessment) -> Headline | None:
    if not rows:
        return None
    chosen = [r for r in rows if _HEADLINE[attack](r)] or list(rows[:1])
    strangers = order.has_holdout(data)
    found = [r for r in chosen if r.verdict in FOUND] or [r for r in rows if r.verdict in FOUND]
    counted = found or _bounding(attack, rows, data) or chosen
    r = order.worst_first(counted)[0]
    n = len({_split_of(c) if attack == "linkability" else c.target for c in chosen})
    of = {"linkability": "splits", "inference": "targets"}.get(attack, "")
    if len(chosen) > n > 1:  # several results of one target, as with several key sets
        n, of = len(chosen), "comparisons"
    place = _place(r, chosen, f"{n} {of}", strangers) if n > 1 and of and (not found or r in chosen) else ""
    return Headline(r, r.verdict, f"{_found(r)} {_compared(r, counted) if strangers else ''}".strip() + place)


def _bounding(attack: str, rows: Sequence[ResultRecord], data: Assessment) -> list[ResultRecord]:
    """Return the results whose bound the verdict of the whole states."""
    stated = {(b.variant, b.keys, b.target) for b in data.verdict.bounds if b.attack == attack}
    return [r for r in rows if (r.variant, r.keys, r.target) in stated]


def _place(r: ResultRecord, chosen: Sequence[ResultRecord], of: str, strangers: bool) -> str:
    """Return how the reported result ranks among those chosen, and how many of them have each verdict."""
    if not strangers:
        return f" This is the highest of {of}."
    counts = ", ".join(f"{n} {verdict}" for verdict, n in order.verdict_counts(chosen))
    same = sum(c.verdict == r.verdict for c in chosen)
    if r.verdict in FOUND:
        end = "lower" if r.verdict == "excess found" else "upper"
        return f" This is the clearest of {of}, by its {end} limit ({counts})."
    if formatting.risk_value(r, "high_simultaneous") is None or same == 1 or all(c is not r for c in chosen):
        return f" Of {of}: {counts}."
    if same == len(chosen):
        return f" This has the largest upper limit of {of} ({counts})."
    return f" Of {of} ({counts}) this has the largest upper limit with this verdict."


def _found(r: ResultRecord) -> str:
    real, holdout = r.real, r.holdout
    if formatting.withheld(r.real) or formatting.withheld(r.holdout):
        return f"{_first(r)}: rates are withheld here."
    if real is None or real.rate is None:
        none = "no guess could be made" if r.attack == "singling_out" else "no rate, as nobody could be attacked"
        return f"{_first(r)}: {none}."
    if r.attack == "singling_out":
        text = f"{_first(r)}: {_of(real)} guesses ({formatting.rated(real)}) single out exactly one member"
        beside = "" if holdout is None else f", {_of(holdout)} ({formatting.rated(holdout)}) exactly one stranger"
    elif r.attack == "linkability":
        text = f"{_first(r)}: {_of(real)} members ({formatting.rated(real)}) are linked"
        beside = "" if holdout is None else f", of strangers {_of(holdout)} ({formatting.rated(holdout)})"
    else:
        near = how_right(r).removeprefix("right").strip()
        near = f" ({near})" if near else ""
        text = f"{_first(r)}: right{near} for {_of(real)} members ({formatting.rated(real)})"
        beside = "" if holdout is None else f", for {_of(holdout)} strangers ({formatting.rated(holdout)})"
    text += beside if formatting.rate_of(holdout) is not None else ""
    baseline = r.baseline
    if baseline is not None and baseline.rate is not None:
        without = _WITHOUT.get(r.attack) or f"without the synthetic table ({formatting.prose(baseline.what, 200)})"
        text += f"; {percent(baseline.rate)} {without}"
    return f"{text}.{_people(r)}"


_WITHOUT = {"singling_out": "by chance alone", "linkability": "with rows drawn at random"}
"""Plain words for baselines whose formula is among the notes."""


def _people(r: ResultRecord) -> str:
    """Return how many people the guesses of a result single out; "" where that was not counted."""
    members, strangers = (r.context.get(f"distinct people singled out{side}") for side in ("", ", strangers"))
    if members is None:
        return ""
    beside = "" if strangers is None else f" and {_about(strangers)} strangers"
    return f" That is {_about(members)} distinct members{beside}."


def _about(people: float) -> str:
    """Return a number of people; a fractional one, expected in a part as large as the smaller table, is rounded."""
    return formatting.compact(people) if float(people).is_integer() else f"about {people:,.0f}"


def _of(rate: Rate) -> str:
    return formatting.counted(rate) or "an unknown number of"


def _first(r: ResultRecord) -> str:
    if r.attack == "singling_out":
        variant = formatting.prose(r.variant, 60) or "some"
        return f"With {variant}" if _columns_of(r) else f"By {variant} guesses"
    if r.attack == "linkability":
        return f"By {formatting.prose(_split_of(r), 90)}, with k = {nearest_rows(r)}"
    way = formatting.capitalized(formatting.prose(r.variant, 60)) or "Some way"
    return f"{way}, {formatting.name(r.target)}" if r.target else way


def _compared(r: ResultRecord, counted: Sequence[ResultRecord]) -> str:
    if formatting.risk_value(r) is None and formatting.risk_value(r, "high_simultaneous") is None:
        return f"No risk could be given{': ' * bool(few(r))}{few(r)}."
    if formatting.risk_value(r) is None and formatting.risk_value(r, "low_simultaneous") is None:
        return f"Risk at most {formatting.limit(formatting.risk_value(r, 'high_simultaneous'))}.{_score(r, counted)}"
    alone, together = (formatting.interval_in_words(r.risk, kind) for kind in ("", "_simultaneous"))
    intervals = f"interval of this comparison alone {alone}, simultaneous {together}"
    value = formatting.risk_value(r)
    return f"Risk {'withheld' if value is None else number(value)} ({intervals}).{_score(r, counted)}"


def _score(r: ResultRecord, counted: Sequence[ResultRecord]) -> str:
    """Return the score of a question: the lowest among the results that count for its answer."""
    lowest = min((c for c in counted if c.score is not None), key=lambda c: c.score or 0.0, default=r)
    if lowest is not r and lowest.score is not None and (r.score is None or lowest.score < r.score):
        where = formatting.prose(formatting.label(lowest, "->"), 120)
        return f" Score {lowest.score:.1f}, from the largest upper limit of these comparisons ({where})."
    high, part = formatting.risk_value(r, "high"), shown(r)
    if r.score is None:
        return " No score: a full copy of the real table would not show here." if part <= 0 else ""
    if high is None:
        return f" Score {r.score:.1f}."
    over = "" if part >= 1 else f", over {formatting.limit(part)}, the part of a full copy that would show here"
    return f" Score {r.score:.1f}, from the upper limit of this comparison alone, {formatting.limit(high)}{over}."


def shown(r: ResultRecord) -> float:
    """Return the part of a full copy of the real table that a comparison would show, 1 where it is not stated."""
    part = r.context.get(SHOWN)
    return 1.0 if part is None else float(part)


def few(r: ResultRecord) -> str:
    """Return "fewer than 20 guesses" where a note says that there were too few for a risk, else ""."""
    return _FEW if any(n.removeprefix("cannot tell: ").startswith(_FEW) for n in r.notes) else ""


_FEW = "fewer than 20 guesses"


def first_cell(r: ResultRecord) -> tuple[str, ...]:
    """Return what distinguishes a result within its question, one text for each of its `HEADS`."""
    if r.attack == "singling_out":
        return (formatting.prose(r.variant, 80) or "-",)
    if r.attack == "linkability":
        return formatting.prose(_split_of(r), 80) or "-", str(nearest_rows(r))
    knowing = " + ".join(map(formatting.name, r.keys[:_NAMES]))
    more = f" and {len(r.keys) - _NAMES} more" if len(r.keys) > _NAMES else ""
    way = (formatting.prose(r.variant, 80) or "-") + (f", knowing {knowing}{more}" if knowing else "")
    return (formatting.name(r.target) if r.target else "-"), way


# ---------------------------------------------------------------- charts, parts, notes

_DRAWN = 20


def _charts(attack: str, rows: Sequence[ResultRecord]) -> list[Chart]:
    """Return the charts: all numbers of columns in one, all k of a split in one, all targets of a way in one."""
    if not rows:
        return []
    if attack == "singling_out":
        return [Chart("By number of columns", [(r.variant, r) for r in rows[:_DRAWN]], 0)]
    groups: dict[str, list[ResultRecord]] = {}
    for r in rows if attack == "linkability" else sorted(rows, key=_way_of):
        groups.setdefault(_split_of(r) if attack == "linkability" else str(r.variant), []).append(r)
    out = []
    for title, own in groups.items():
        if attack == "linkability":
            drawn, by = [(f"k = {nearest_rows(r)}", r) for r in own[:_DRAWN]], "By k"
        else:
            worst = order.worst_first(own)[:_DRAWN] if len(own) > _DRAWN else own
            drawn, by = [(str(r.target or "-"), r) for r in worst], "By target"
        out.append(Chart(f"{by}: {formatting.prose(title, 80)}", drawn, len(own) - len(drawn)))
    return out[:_NAMES]


def _parts(rows: Sequence[ResultRecord]) -> list[Part]:
    """Return column sets, most hits first, or subgroups, largest lower limit of risk first."""
    found = [
        Part(
            first_cell(r)[0],
            first_cell(r)[1] if r.attack == "inference" else "",
            formatting.prose(_part(r, g), 160),
            g.real,
            g.holdout,
            g.risk,
        )
        for r in rows
        if r.attack != "inference" or r.variant in ("nearest record", rows[0].variant)
        for g in r.groups
    ]
    guesses = bool(rows) and rows[0].attack == "singling_out"
    return sorted(found, key=_by_hits if guesses else _by_limit)


def _part(r: ResultRecord, group: Group) -> str:
    if group.of == "column set":
        return str(group.name)
    of = "the target" if group.of == r.target else formatting.name(group.of)
    return f"{of}: {group.name}"


def _by_hits(part: Part) -> float:
    return -float(part.real.hits or 0.0)


def _by_limit(part: Part) -> tuple[float, float]:
    low, rate = None if part.risk is None else part.risk.low_simultaneous, part.real.rate
    return -float("-inf" if low is None else low), -float(-1 if rate is None else rate)


def _further(rows: Sequence[ResultRecord]) -> Further | None:
    """Return the further numbers of results as a table, None when there are none."""
    found = dict.fromkeys(n for r in rows for n, v in r.context.items() if v is not None and n != SHOWN)
    heads = list(found)[:_NUMBERS]
    if not heads:
        return None
    return Further(heads, [(first_cell(r), [r.context.get(h) for h in heads]) for r in rows])


def needed(r: ResultRecord) -> str:
    """Return the sample size at which a result would no longer say "cannot tell"; "" when no note states one."""
    return next((n.rpartition("; ")[2] for n in r.notes if n.startswith("cannot tell")), "")


def _splits(rows: Sequence[ResultRecord]) -> list[tuple[str, list[str], list[str]]]:
    """Return the two lists of columns of each split."""
    out: dict[str, tuple[str, list[str], list[str]]] = {}
    for r in rows:
        first, second = (list(r.settings.get(side) or ()) for side in ("first", "second"))
        out.setdefault(_split_of(r), (_split_of(r), first, second))
    return list(out.values())


def _limits_of(attack: str, rows: Sequence[ResultRecord], data: Assessment) -> list[str]:
    """Return what the settings of these results leave untested."""
    if not rows:
        return []
    if attack == "singling_out":
        most = max(map(_columns_of, rows))
        return [f"descriptions of more than {most} columns"] if most else ["descriptions of several columns"]
    if attack == "linkability":
        splits = len({_split_of(r) for r in rows})
        return [
            f"other ways to share the columns between two lists than the {splits} listed here"
            if splits > 1
            else "other ways to share the columns between two lists than the one here",
            f"more than {max(map(nearest_rows, rows))} nearest rows",
        ]
    tested = {r.target for r in rows}
    others = [formatting.name(c.name) for c in data.schema if c.name not in tested]
    more = f" and {len(others) - _NAMES} more" if len(others) > _NAMES else ""
    return [f"other targets: {', '.join(others[:_NAMES])}{more}"] if others else []


def _notes(rows: Sequence[ResultRecord]) -> list[str]:
    """Return the notes of the results, each once, commonest first; the size needed is shown beside the verdicts."""
    found: Counter[str] = Counter()
    only: dict[str, str] = {}
    for r in rows:
        for note in formatting.telling_notes(r):
            if note != needed(r):
                found[note] += 1
                only[note] = ", ".join(first_cell(r))
    what = {r.baseline.what for r in rows if r.baseline and r.baseline.what}
    formula = [f"without the table: {formatting.prose(what.pop(), 400)}"] if len(what) == 1 else []
    return formula + [
        formatting.prose(f"{only[n]}: {n}" if times == 1 < len(rows) else n, 400)
        for n, times in found.most_common(_NOTES)
    ]
