"""One comparison of members with strangers in a plain sentence: how many people are hit, beside how many strangers."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from math import floor, log10, sqrt
from typing import Literal

from divulge.attacks.copying.other_spellings import FORM_WORDS
from divulge.case.relational.persons import DAYS, ONE_COLUMN, TIMELESS
from divulge.core.result import FOUND, TOWARDS, counts_rows, found_by
from divulge.report import formatting
from divulge.report.model import Assessment, Rate, ResultRecord
from divulge.report.verdicts import word_of

__all__ = [
    "COMMONEST",
    "MEMBERS",
    "STRANGERS",
    "Bar",
    "bars",
    "beside_commonest",
    "but_for_identifiers",
    "exact_copies",
    "hit_words",
    "how_found",
    "how_many",
    "how_right",
    "is_mean",
    "lead",
    "more_people",
    "plain_share",
    "quoted",
    "seen",
    "short",
]

_NAMED = 4  # columns that a sentence names at most
_SOMEBODY = 0.5  # a sum of chances below it is nobody whole
_ALIKE = 1.1  # groups of people up to this ratio of sizes are compared by their counts alone


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of a picture: whose it is, how long, and what is written beside it."""

    who: str
    """members, strangers or chance."""
    name: str
    share: float | None
    told: str


# ---------------------------------------------------------------- numbers and names


def plain_share(rate: float | None, n: float | None = None) -> str:
    """Return a share in percent with the digits that n people carry; "-" for None.

    Examples
    --------
    >>> plain_share(0.0523, 300), plain_share(0.0523, 20_000), plain_share(0.0013, 2000), plain_share(0.0, 80)
    ('5%', '5.2%', '0.1%', '0%')
    """
    if rate is None:
        return "-"
    if rate <= 0 or rate >= 1 or n is None or n < 1:
        return f"{100 * rate:.0f}%"
    error = 100 * sqrt(rate * (1 - rate) / n)  # the last digit shown is not finer than a third of it
    digits = min(2, max(0, floor(-log10(error / 3))))
    shown = f"{100 * rate:.{digits}f}"
    return f"less than {10.0**-digits:.{digits}f}%" if float(shown) == 0 else f"{shown}%"


def how_many(hits: float | None, n: float | None = None) -> str:
    """Return a number of people out of n, rounded where it is a sum of chances.

    Examples
    --------
    >>> how_many(0), how_many(3.0), how_many(1041.7), how_many(0.3), how_many(80, 80)
    ('none', '3', 'about 1,042', 'hardly anybody', 'all 80')
    """
    if hits is None:
        return "a withheld number"
    if hits == 0:
        return "none"
    if hits == n and n > 1:
        return f"all {n:,.0f}"
    if hits < _SOMEBODY:
        return "hardly anybody"
    return f"{hits:,.0f}" if float(hits).is_integer() else f"about {hits:,.0f}"


def _share(side: Rate, n: float | None) -> str:
    """Return a rate in percent, of a sum of chances that of the people who are shown beside it."""
    hits, whole = side.hits, side.n
    sums = hits is not None and whole and hits >= _SOMEBODY and not float(hits).is_integer()
    return plain_share(round(hits) / whole if sums and hits and whole else side.rate, n)


def quoted(columns: tuple[str, ...] | list[str], most: int = _NAMED) -> str:
    """Return column names in quotation marks, the first few by name.

    Examples
    --------
    >>> quoted(["age", "zip"]), quoted(["a", "b", "c"], most=1)
    ('“age” and “zip”', '“a” and 2 more')
    """
    shown = [f"“{formatting.name(c)}”" for c in columns[:most]]
    if len(columns) > most:
        return f"{', '.join(shown)} and {len(columns) - most} more"
    return formatting.enumerated(shown)


# ---------------------------------------------------------------- what was seen


def _columns(r: ResultRecord) -> str:
    return "in all columns" if not r.keys else f"in {quoted(r.keys)}"


def _value(r: ResultRecord) -> str:
    form = FORM_WORDS.get(r.variant.partition(", ")[2])
    return f"have their {quoted(r.keys)} in the synthetic table{f', {form}' if form else ''}"


def _own_words(form: str, r: ResultRecord) -> str:
    """Return who is hit by a form of words: "have a name that only they have in a synthetic text of “note”"."""
    if form == "other columns":
        return f"have their other columns in the row that has a word of their {quoted(r.keys)}"
    what = "all words of their text" if form == "all words" else f"a {form} that only they have"
    return f"have {what} in a synthetic text of {quoted(r.keys)}"


def exact_copies(data: Assessment) -> ResultRecord | None:
    """Return the comparison of whole records, if it was made."""
    return next((r for r in data.results if (r.attack, r.variant) == ("copies", "exact")), None)


def but_for_identifiers(r: ResultRecord) -> str:
    """Return that identifiers were left out of a comparison of whole records, where they were."""
    return ", but for identifiers" if any(n.startswith("identifiers were left out") for n in r.notes) else ""


def _run(r: ResultRecord) -> str:
    what = "intervals between their rows" if r.variant.endswith(" of intervals") else "rows"
    return f"have a {r.variant.removesuffix(' of intervals')} of {what} under one synthetic person ({quoted(r.keys)})"


def _history(r: ResultRecord) -> str:
    rows = "nearly all their rows" if r.variant.startswith("history, nearly") else "all their rows"
    if r.variant.endswith(f", {ONE_COLUMN}"):
        return f"have the {quoted(r.keys[-1:])} of {rows} under one synthetic person"
    if r.variant.endswith(f", {DAYS}"):
        rows = f"the days of {rows}"
    but = ", but for their times," if r.variant.endswith(f", {TIMELESS}") else ""
    return f"have {rows}{but} under one synthetic person ({quoted(r.keys)})"


_COPIES: tuple[tuple[str, Callable[[ResultRecord], str]], ...] = (
    ("exact", lambda r: f"stand in the synthetic table word for word{but_for_identifiers(r)}"),
    ("columns", lambda r: f"stand in the synthetic table word for word, {_columns(r)}"),
    ("near on", lambda r: f"have a near copy in the synthetic table, {_columns(r)}"),
    ("near", lambda r: "have a near copy in the synthetic table"),
    ("all but one", lambda r: "stand in the table word for word, or with one column changed"),
    ("one column, own ", lambda r: _own_words(r.variant.removeprefix("one column, own "), r)),
    ("one column, shared words", lambda r: f"have eight words in a row of their {quoted(r.keys)} in a synthetic text"),
    ("one column, nearly equal", lambda r: f"have their {quoted(r.keys)}, or nearly, in the synthetic table"),
    ("one column, shifted", lambda r: f"have their {quoted(r.keys)}, shifted or scaled, in the synthetic table"),
    ("one column", _value),
    ("last ", lambda r: f"have in the table the last digits of their {quoted(r.keys)}, which nobody else has"),
    ("time of day", lambda r: f"have in the table the time of day of their {quoted(r.keys)}, which nobody else has"),
    ("rare pair", lambda r: f"have their {quoted(r.keys)} together in it, which hardly anybody else has"),
    ("intervals", lambda r: f"have intervals between their {quoted(r.keys)} in it that hardly anybody else has"),
    ("another column", lambda r: f"{_value(r)}, in another column"),
    ("under another heading", lambda r: f"{_value(r)}, in another column"),
    ("row, scaled", lambda r: "have their numbers in the synthetic table, all times one factor of their own"),
    ("row, shifted", lambda r: "have their numbers in the synthetic table, all plus one number of their own"),
    ("whole history", _history), ("history, nearly", _history),
    ("own row", lambda r: f"have rows in the synthetic table that nobody else has ({quoted(r.keys)})"),
    ("own value", lambda r: f"have values in the synthetic table that nobody else has ({quoted(r.keys)})"),
    ("run", _run), ("shorter run", _run), ("longer run", _run),
)  # fmt: skip


def seen(r: ResultRecord) -> str:
    """Return what happens to the people who are hit, as the end of "of 300 people, 12 ..."."""
    if r.attack == "copies":
        return next((say(r) for start, say in _COPIES if r.variant.startswith(start)), "are copied")
    if r.attack == "named_in_texts":
        return _own_words(r.variant, r)
    if r.attack == "linkability":
        k = r.settings.get("k")
        among = f", among {k} candidates" if isinstance(k, int) and k > 1 else ""
        return f"can be found in two lists by way of the synthetic table{among}"
    if r.attack == "membership":
        return "are taken for members"
    if r.target is not None:
        known = f" by somebody who knows {quoted(r.keys)}" if r.keys else " from their other columns"
        return f"have their {quoted([r.target])} guessed {how_right(r)}{known}"
    return _OTHERS.get((r.attack, r.variant), "are hit")


COMMONEST = ("naming the commonest value", "naming one value for everybody, the best one")
"""Baselines that say one value of everybody."""


def beside_commonest(r: ResultRecord, data: Assessment) -> str:
    """Return how often naming one value for everybody is right, where that is more than the attack is; "" elsewhere."""
    reached = formatting.rate_of(r.real)
    if r.target is None or reached is None:
        return ""
    own = [x.baseline for x in data.results if (x.target, how_right(x)) == (r.target, how_right(r)) and x.baseline]
    best = max(
        (b for b in own if b.what in COMMONEST and b.rate is not None), key=lambda b: b.rate or 0.0, default=None
    )
    if best is None or (best.rate or 0.0) <= reached:
        return ""
    what = "the commonest value" if best.what == COMMONEST[0] else "one value"
    return f" Naming {what} for everybody would be right for {plain_share(best.rate, r.real.n if r.real else None)}."


def how_right(r: ResultRecord) -> str:
    """Return how near a guess of a target must come to count, "right" where it must be the value itself.

    Examples
    --------
    >>> from types import SimpleNamespace as Of
    >>> binned = Of(target="age", settings={}, notes=("column 'age': 10 quantile bins of real and holdout",))
    >>> how_right(binned), how_right(Of(target="sex", settings={}, notes=binned.notes))
    ('to the right tenth of all values', 'right')
    """
    if any(note.startswith("a guess is right when it is off by") for note in r.notes):
        share = r.settings.get("tolerance")
        most = f"{100 * share:g}%" if isinstance(share, float) and share > 0 else "a part"
        return f"right to within {most} of the spread of its values"
    start = f"column {r.target!r}: "
    how = next((note.removeprefix(start) for note in r.notes if note.startswith(start) and " bins" in note), "")
    if not how:
        return "right"
    n = found[1] if (found := re.match(r"(\d+) ", how)) else ""
    part = _PARTS.get(n, "") if " quantile bins" in how else ""
    if part:
        return f"to the right {part} of all values"
    return f"to the right one of {n} ranges of values" if n else "to the right range of values"


_PARTS = {"2": "half", "3": "third", "4": "quarter", "5": "fifth", "10": "tenth", "20": "twentieth"}


AMONG_NEAREST = {
    ("dcr", "nearness"): "are among the people nearest to synthetic rows",
    ("dcr", "hole"): "are among the people nearest to synthetic rows",
    ("dcr", "aligned"): "are among the people nearest to synthetic rows under other labels",
}
"""What happens to people who are hit by tests of the nearest people."""
_OTHERS = {
    **AMONG_NEAREST,
    ("hitting_rate", ""): "have a synthetic row that agrees with them in nearly every column",
    ("epsilon_identifiability", "pooled"): "have a synthetic row nearer to them than any other person",
    ("exposure", "hit"): "have a synthetic row that lies much too near",
    ("replicated_uniques", "repU pooled"): "are alone with their key and have one synthetic twin",
}


def _one(words: str) -> str:
    """Return the end of a sentence about several people for one person."""
    for many, one in (("stand ", "stands "), ("have ", "has "), ("are ", "is "), ("can ", "can ")):
        if words.startswith(many):
            return one + words.removeprefix(many)
    return words


def _verb(hits: float | None, words: str) -> str:
    return _one(words) if hits == 1 else words


def hit_words(r: ResultRecord) -> str:
    """Return what the bars of a comparison count, in a few words."""
    if counts_rows(r):
        return "Synthetic rows, by whether the nearest person is a member."
    if formatting.of_guesses(r.attack):
        return f"Of the descriptions{_of_columns(r)} guessed from the table, so many fit exactly one person."
    if r.attack == "membership" and r.holdout is not None and r.holdout.rate is not None:
        fpr = r.settings.get("fpr")
        design = f", as {fpr:.0%} of strangers are by design" if isinstance(fpr, float) else ""
        return f"Are taken for members{design}.{how_found(r)}"
    told = "have their values guessed right, column by column" if is_mean(r) else seen(r)
    return f"{formatting.capitalized(told)}."


# ---------------------------------------------------------------- sentences

MEMBERS = "members (people in the real table)"
"""Members where a page names them first."""
STRANGERS = "strangers (people the synthesizer never saw)"
"""Strangers where a page names them first."""


def lead(r: ResultRecord) -> str:
    """Return a comparison in one sentence that begins with members, and says who members and strangers are."""
    real, holdout = r.real, r.holdout
    if r.attack == "membership" and r.verdict == "excess found" and real and holdout and real.rate and holdout.rate:
        told, set_ = (f"{how_many(x.hits, x.n)} ({_share(x, x.n)})" for x in (real, holdout))
        return (
            f"An attacker takes {told} of {formatting.of_units(real)} {MEMBERS} for members, and "
            f"{set_} of {formatting.of_units(holdout)} {STRANGERS}.{how_found(r)}"
        )
    return _sentence(r, MEMBERS, STRANGERS)


def short(r: ResultRecord) -> str:
    """Return a comparison in one sentence about members and strangers, words that stand explained beside it."""
    return _sentence(r, "members", "strangers") or "Nobody could be attacked in this way."


def _sentence(r: ResultRecord, members: str, strangers: str) -> str:
    """Return a comparison in one sentence with these words for people; "" where nobody could be attacked."""
    real, holdout = r.real, r.holdout
    if formatting.withheld(real) or formatting.withheld(holdout):
        return _withheld(r, members)
    if real is None or real.rate is None or real.n is None:
        return ""
    if counts_rows(r):
        return _of_rows(r, real, holdout)
    if formatting.of_guesses(r.attack):
        return _of_guesses(r, real, holdout)
    if is_mean(r):
        return _of_values(r, members, strangers)
    if r.attack == "membership":
        return _of_members(r, real, holdout, members, strangers)
    return _of_people(r, real, holdout, members, strangers)


def _of_members(r: ResultRecord, real: Rate, holdout: Rate | None, members: str, strangers: str) -> str:
    """Return how many of a hundred people are taken for members, at the number of false alarms that was set."""
    if holdout is None or holdout.rate is None or real.rate is None:
        return ""  # the attack needs strangers
    members, strangers = formatting.rows_or(members, real), formatting.rows_or(strangers, holdout)
    same = round(100 * real.rate) == round(100 * holdout.rate)
    of = 1000 if same and r.verdict in FOUND else 100
    right, wrong = round(of * real.rate), round(of * holdout.rate)
    if r.verdict == "deficit found":
        return (
            f"{formatting.capitalized(members)} are avoided: an attacker takes {right:,} of {of:,} {members} for "
            f"members, and {wrong:,} of {of:,} {strangers}. Whoever is not taken for one is more likely a member."
            f"{how_found(r)}"
        )
    return (
        f"With false alarms set to {wrong:,} in {of:,} {strangers}, an attacker recognises {right:,} of {of:,} "
        f"{members}; chance gives {wrong:,}.{how_found(r)}"
    )


def how_found(r: ResultRecord) -> str:
    """Return by what a difference was found that its shares do not show, as a sentence that follows them; else ""."""
    how = found_by(r)
    return f" Found by {how}, not by these shares." if how else ""


def _of_people(r: ResultRecord, real: Rate, holdout: Rate | None, members: str, strangers: str) -> str:
    hit = f"{_verb(real.hits, seen(r))}"
    if holdout is None or holdout.rate is None or not holdout.n or not real.n:
        return f"Of {formatting.of_units(real)} {members}, {how_many(real.hits, real.n)} {hit}."
    shares = ["", ""]
    if max(real.n, holdout.n) > _ALIKE * min(real.n, holdout.n):  # counts of groups of other sizes do not compare
        n = max(real.n, holdout.n)
        shares = [f" ({_share(side, n)})" if side.hits else "" for side in (real, holdout)]
    return (
        f"Of {formatting.of_units(real)} {members}, {how_many(real.hits, real.n)}{shares[0]} {hit}; of "
        f"{formatting.of_units(holdout)} {strangers}, "
        f"{how_many(holdout.hits, holdout.n)}{shares[1]}."
    )


def is_mean(r: ResultRecord) -> bool:
    """Return whether a result is a mean over the targets of an attack, so that its rates are of guesses."""
    return r.attack == "inference" and r.target is None


def _of_values(r: ResultRecord, members: str, strangers: str) -> str:
    real, holdout = r.real, r.holdout
    members, strangers = formatting.rows_or(members, real), formatting.rows_or(strangers, holdout)
    told = f"An attacker guesses {plain_share(formatting.rate_of(real), real.n if real else None)} of the values of "
    if holdout is None or holdout.rate is None:
        return f"{told}{members} right, column by column."
    return f"{told}{members} right, and {plain_share(holdout.rate, holdout.n)} of those of {strangers}."


def _withheld(r: ResultRecord, members: str) -> str:
    real = r.real
    if real is not None and real.rate is not None and real.n and formatting.of_people(r) and not is_mean(r):
        told = f"{how_many(real.hits, real.n)} ({_share(real, real.n)}) {seen(r)}"
        return f"Of {formatting.of_units(real)} {members}, {told}; this edition withholds how many others."
    members, strangers = formatting.rows_or("members", real), formatting.rows_or("strangers", r.holdout)
    compared = f"{members} were looked for" if r.holdout is None else f"{members} and {strangers} were compared"
    told = word_of(r.verdict).of_hits.format(members=members, strangers=strangers) or compared
    return f"{formatting.capitalized(told)}; this edition withholds the counts."


def _of_guesses(r: ResultRecord, real: Rate, holdout: Rate | None) -> str:
    told = (
        f"Of {real.n:,} descriptions{_of_columns(r)} that the synthetic table suggests, {how_many(real.hits)} "
        f"{'fits' if real.hits == 1 else 'fit'} one member and nobody else"
    )
    if holdout is None or holdout.rate is None:
        return f"{told}."
    return (
        f"{told}; {how_many(holdout.hits)} {'fits' if holdout.hits == 1 else 'fit'} one stranger. Several can fit the "
        "same person."
    )


def _of_columns(r: ResultRecord) -> str:
    found = re.match(r"(\d+) columns?", r.variant)
    return f" of {found[1]} column{'s' * (found[1] != '1')}" if found else ""


def _of_rows(r: ResultRecord, real: Rate, holdout: Rate | None) -> str:
    members, strangers = real.hits or 0.0, (holdout.hits if holdout else 0.0) or 0.0
    n = members + strangers
    if not n:
        return "No synthetic row lies near to anybody in this way."
    free = r.context.get(TOWARDS) if holdout is not None else None
    expected = "" if free is None else f"; without a leak it would be about {n * free:,.0f}"
    what = {"identical_match_share": " that equal a person"}.get(r.attack, "")
    which = "equal" if what else "lie nearest to"
    return f"Of {n:,.0f} synthetic rows{what}, {how_many(members)} {which} a member{expected}."


# ---------------------------------------------------------------- bars


def bars(r: ResultRecord) -> tuple[Bar, ...]:
    """Return the bars of a comparison: members, strangers and, where nobody else is there, guessing without the table.

    Where synthetic rows are counted, the second bar is what tables without a leak give.
    """
    real, holdout = r.real, r.holdout
    if counts_rows(r) and real is not None:
        members, strangers = real.hits or 0.0, (holdout.hits if holdout else 0.0) or 0.0
        n, free = members + strangers, r.context.get(TOWARDS)
        if not n or real.hits is None:
            return ()
        first = Bar(
            "members", "members", members / n, f"{members:,.0f} of {n:,.0f} rows ({plain_share(members / n, n)})"
        )
        return (first,) if holdout is None else (first, Bar("chance", "no leak", free, plain_share(free, n)))
    sides: list[tuple[Rate, Literal["members", "strangers"]]] = [(real, "members")] if real is not None else []
    sides += [(holdout, "strangers")] if holdout is not None else []
    most = max((side.n or 0 for side, _ in sides), default=0)
    out = [_bar(side, name, r, most) for side, name in sides]
    if holdout is None and r.baseline is not None and r.baseline.rate is not None:
        out.append(
            Bar("chance", "blind guess", r.baseline.rate, plain_share(r.baseline.rate, real.n if real else None))
        )
    return tuple(out)


_FITTING = {"members": "one member", "strangers": "one stranger"}


def _bar(side: Rate, name: Literal["members", "strangers"], r: ResultRecord, n: int) -> Bar:
    """Return the bar of one side; its share has the digits that n people carry."""
    if formatting.of_guesses(r.attack) and side.rate is not None and side.hits is not None:
        return Bar(name, _FITTING[name], side.rate, f"{_people(side.hits)} of {side.n:,}")
    if side.rate is None or side.hits is None:
        return Bar(name, name, None, "withheld" if side.rate is None and side.n else "-")
    if is_mean(r):
        return Bar(name, name, side.rate, plain_share(side.rate, n))
    told = f"{_people(side.hits)} of {formatting.of_units(side)}"
    if 0 < side.hits < _SOMEBODY:
        return Bar(name, name, side.rate, told)
    return Bar(name, name, side.rate, f"{told} ({_share(side, n)})")


def _people(hits: float) -> str:
    """Return a number of people beside a bar."""
    return "fewer than 1" if 0 < hits < _SOMEBODY else how_many(hits).removeprefix("about ") if hits else "0"


# ---------------------------------------------------------------- a risk as people


def more_people(r: ResultRecord, which: str = "value") -> float | None:
    """Return how many more members are hit than as many strangers, or a limit of that, from the risk of a comparison.

    The risk is that of members whom chance would not hit anyway. None where the rates count no people.
    """
    risk, by_chance = formatting.risk_value(r, which), formatting.rate_of(r.holdout)
    n = None if r.real is None else r.real.n
    if risk is None or by_chance is None or n is None or is_mean(r) or not formatting.of_people(r):
        return None
    return risk * (1 - by_chance) * n
