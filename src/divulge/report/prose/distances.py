"""What the report says about distances and about the positive control: sentences and tables for every document."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from msgspec import structs

from divulge.core.result import TOWARDS, counts_rows, number, percent
from divulge.report import formatting, order
from divulge.report.control_model import Found, PositiveControl
from divulge.report.model import Assessment, ResultRecord

__all__ = ["control_sentence", "control_tables", "family", "sentences", "values"]

_SMALL = 40  # attacks named for one kind of plant


def family(data: Assessment, *names: str) -> list[ResultRecord]:
    """Return the results of attacks of these families."""
    known = {attack for attack, about in data.attacks.items() if about.family in names}
    return [r for r in data.results if r.attack in known]


def _first(data: Assessment) -> dict[tuple[str, str], ResultRecord]:
    """Return the first distance result of each attack and variant."""
    out: dict[tuple[str, str], ResultRecord] = {}
    for r in family(data, "distance"):
        out.setdefault((r.attack, r.variant), r)
    return out


# ---------------------------------------------------------------- one sentence for each measure

_ROWS = {
    ("dcr", "attraction"): ("", "has a nearest person"),
    ("nndr", "pointed"): (
        " that point at one person, at most half as far away as the next",
        "points at one person, at most half as far away as the next",
    ),
    ("identical_match_share", ""): (" that equal a person", "equals a person"),
    ("authenticity", ""): (
        " that lie nearer to a person than that person's nearest fellow does",
        "lies nearer to a person than that person's nearest fellow does",
    ),
}
"""Which synthetic rows are counted, in words for some rows and for none."""

_PEOPLE = {
    ("hitting_rate", ""): "have a synthetic row that agrees in every category and nearly in every number",
    ("dcr", "nearness"): "are among the people nearest to synthetic rows",
    ("dcr", "hole"): "are among the people nearest to synthetic rows",
    ("dcr", "aligned"): "are among the people nearest to synthetic rows under other labels",
    ("epsilon_identifiability", "pooled"): "have a synthetic row nearer to them than any other person",
}


def sentences(data: Assessment) -> list[dict[str, Any]]:
    """Return one sentence for each distance measure that compares members with strangers, with its verdict."""
    out = []
    for (attack, variant), r in _first(data).items():
        if r.verdict is None or not r.real or r.real.rate is None:
            continue
        text = _of_rows(r) if counts_rows(r) else _of_people(r)
        what = f"{attack} ({variant})" if variant else attack
        out.append({"attack": attack, "what": what, "text": text, "verdict": r.verdict})
    return out


def _of_rows(r: ResultRecord) -> str:
    several, none = _ROWS.get((r.attack, r.variant), (" counted", "is counted"))
    members, strangers = ((side.hits if side else None) or 0.0 for side in (r.real, r.holdout))
    n = members + strangers
    if not n:
        return f"No synthetic row {none}, so there is nothing to share out. {_copied(r)}"
    whole = f" (of {r.real.n:,})" if several and r.real else ""
    leak_free = r.context.get(TOWARDS)
    return (
        f"Of the {formatting.compact(n)}{whole} synthetic rows{several}, {formatting.compact(members)} "
        f"({percent(members / n)}) have a member as their nearest person; leak-free data would give "
        f"{percent(leak_free)}. {_copied(r)}"
    )


def _copied(r: ResultRecord) -> str:
    return f"Copied fraction of all rows: {number(formatting.risk_value(r))} ({formatting.interval_in_words(r.risk)})."


def _of_people(r: ResultRecord) -> str:
    do = _PEOPLE.get((r.attack, r.variant), "are hit")
    text = f"{formatting.counted(r.real)} members ({formatting.rated(r.real)}) {do}"
    if formatting.withheld(r.real) or formatting.withheld(r.holdout):
        return f"Rates are withheld here. Risk: {formatting.interval_in_words(r.risk)}."
    if not r.holdout or r.holdout.rate is None:
        return f"{text}. Without strangers this does not say how many would be by chance."
    return (
        f"{text}, and {formatting.counted(r.holdout)} strangers ({formatting.rated(r.holdout)}). "
        f"Risk: {number(formatting.risk_value(r))} ({formatting.interval_in_words(r.risk)})."
    )


# ---------------------------------------------------------------- values

_SAME, _SAME_SIZE = "as the holdout", "as a holdout of its size"
_VALUES: tuple[tuple[str, str, str, str, str, str], ...] = (
    ("dcr", "synthetic rows", "median distance of a synthetic row to the nearest person", "distance", _SAME_SIZE,
     "Sees copying of large parts of the table. Copies of a minority hardly move a median."),
    ("dcr", "people", "median distance of a person to the nearest synthetic row", "distance", _SAME,
     "Sees whether members on the whole lie nearer than strangers. A few copied people do not show."),
    ("nndr", "ratio", "nearest over second nearest distance, 5% quantile", "distance", _SAME_SIZE,
     "Sees rows that lie at one person and nobody else. Copies of people who have doubles do not show."),
    ("identical_match_share", "", "synthetic rows that equal a person", "percent", _SAME_SIZE,
     "Sees exact copies alone; any small change hides them. On coarse data rows equal people by chance."),
    ("authenticity", "", "authenticity: synthetic rows farther from the nearest person than that one's fellow",
     "percent", _SAME_SIZE, "Sees close copies of isolated people; where people lie dense, copies hide. It is far from "
     "100% by chance alone."),
    ("epsilon_identifiability", "published", "people to whom a synthetic row is nearer than any other person",
     "percent", "", "About one half by chance where the tables are of one size, so that a few copies drown."),
    ("nnaa", "", "adversarial accuracy of a nearest neighbour", "distance", "",
     "0.5: rows and people cannot be told apart; 0: copied row for row; 1: far off. A few copies do not show."),
    ("dcr_baseline", "uniform", "median distance over that of uniform noise", "distance", "",
     "A good synthesizer is nearer than noise by design. Copies of less than half the rows do not show."),
    ("dcr_baseline", "permuted columns", "median distance over that of columns shuffled one by one", "distance", "",
     "The same, against noise that keeps each column's distribution."),
)  # fmt: skip


def values(data: Assessment) -> list[dict[str, str]]:
    """Return the distance measures that are no rates: on real, on holdout, without a leak, and what they show."""
    first, out = _first(data), []
    for attack, variant, what, shape, expected, about in _VALUES:
        r = first.get((attack, variant))
        if r is None or not r.value:
            continue
        shown = percent if shape == "percent" else formatting.distance
        real, holdout = r.value.real, r.value.holdout
        if attack == "dcr_baseline":  # of the synthetic table; the holdout's is the leak-free ratio
            real, holdout = r.value.synthetic, None
        row = {"what": what, "attack": attack, "variant": variant, "real": shown(real), "holdout": shown(holdout)}
        row |= {"leak_free": _leak_free(r, shown) or (expected if holdout is not None else "-"), "about": about}
        out += [row, *_beside(r)]
    return out


_LEAK_FREE = {
    "dcr_baseline": "leak-free ratio (that of the holdout)",
    "epsilon_identifiability": "leak-free share of real, without ties",
    "nnaa": "accuracy of data that cannot be told apart",
}


def _leak_free(r: ResultRecord, shown: Any) -> str:
    found = r.context.get(_LEAK_FREE.get(r.attack, ""))
    other = r.context.get("leak-free share of holdout, without ties")
    beside = f" ({shown(other)} of holdout)" if other not in (None, found) else ""
    return "" if found is None else f"{shown(found)}{beside}"


def _beside(r: ResultRecord) -> list[dict[str, str]]:
    """Return the further number that compares members with strangers, in a row; [] if none."""
    row = {"attack": r.attack, "variant": r.variant, "holdout": "-"}
    for name, expected, shown, about in (
        ("privacy loss", "leak-free privacy loss", formatting.distance,
         "Accuracy on the holdout less that on real. It sees copying on the whole, not of a few."),
        ("chance that a member is closer than a stranger", "leak-free chance that a member is closer", percent,
         "The whole curve in one number. A few copied people do not show."),
    ):  # fmt: skip
        if r.context.get(name) is not None:
            leak_free = r.context.get(expected)
            return [row | {"what": name, "real": shown(r.context[name]), "leak_free": shown(leak_free)}
                    | {"about": about}]  # fmt: skip
    return []


# ---------------------------------------------------------------- the positive control


def control_sentence(data: Assessment) -> str:
    """Return what the positive control showed, or how to run it, in words."""
    kinds = data.positive_control
    if not kinds:
        how = (
            "Not run: --positive-control 0.01 plants copies of real people into 1% of the synthetic rows and says "
            "whether the attacks see them"
        )
        return f"{how}." if order.has_holdout(data) else f"{how}; it needs a holdout."
    done = [c for c in kinds if c.verdict is not None]
    seen = [c.kind for c in done if c.verdict == "excess found"]
    unseen = [c.kind for c in done if c.verdict != "excess found"]
    text = []
    if seen:
        n = f"{percent(done[0].share)} of the synthetic rows"
        text.append(f"With copies in {n} the run shows an excess for {formatting.enumerated(seen)}.")
        if data.verdict.verdict == "excess found":
            text.append(
                "It shows one without the plant too, so what counts is the number of comparisons that show none "
                "without it."
            )
    if unseen:
        text.append(
            f"It shows none for {formatting.enumerated(unseen)}: a table that gives people away in this way, to this "
            "degree, would not be noticed here."
        )
    missing = [c.kind for c in kinds if c.verdict is None]
    if missing:
        text.append(f"Nothing could be planted for {formatting.enumerated(missing)}.")
    return " ".join(text)


def control_tables(data: Assessment) -> list[dict[str, Any]]:
    """Return what was seen of each kind of planted people, attack by attack."""
    return [structs.asdict(c) | {"new": _new(c.found), "rows": _by_attack(c)} for c in data.positive_control]


def _new(found: Sequence[Found]) -> int:
    return sum(f.without is False for f in found)


def _by_attack(control: PositiveControl) -> list[dict[str, Any]]:
    """Return one row for each attack: its clearest comparison with the plant, how many see it, smallest share seen."""
    rows: dict[str, dict[str, Any]] = {}
    for f in control.found:
        row = rows.setdefault(_attack(f.attack), {"found": [], "smallest": None})
        row["found"].append(f)
    for a in control.attacks:
        rows.setdefault(_attack(a.attack), {"found": [], "smallest": None})["smallest"] = formatting.share_seen(a)
    out = [
        {"attack": attack, "n": len(row["found"]), "new": _new(row["found"]), "smallest": row["smallest"]}
        | {"clearest": _clearest(row["found"])}
        for attack, row in rows.items()
    ]
    order = sorted(out, key=lambda r: (-(r["new"] > 0), -(r["n"] > 0), _rank(r["smallest"]), r["attack"]))
    return order[:_SMALL]


def _rank(share: float | None) -> float:
    return float("inf") if share is None else share


def _clearest(found: Sequence[Found]) -> Found | None:
    """Return the clearest comparison that shows none without the plant, else the clearest of all."""
    return next((f for f in found if f.without is False), found[0] if found else None)


def _attack(label: str) -> str:
    found = re.match(r"\w+", label)
    return found[0] if found else label
