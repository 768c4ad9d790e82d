"""Formatting that the documents share: names, numbers, intervals and standard sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

from divulge.attacks.entry import CATALOGUE
from divulge.core.records import CRITICAL
from divulge.core.result import FOUND, TOWARDS, Baseline, counts_rows, number, percent, tidy
from divulge.report import words
from divulge.report.control_model import PositiveControl, Smallest
from divulge.report.model import Assessment, Group, Precondition, Rate, ResultRecord
from divulge.report.policy_model import Changed
from divulge.report.verdicts import RISK

__all__ = [
    "CONTROL",
    "SAID_ELSEWHERE",
    "brief",
    "capitalized",
    "compact",
    "controls",
    "counted",
    "distance",
    "further",
    "holds",
    "interval",
    "interval_in_words",
    "label",
    "leak_free",
    "limit",
    "meaning",
    "measured",
    "methods",
    "name",
    "of_people",
    "of_rows",
    "p_text",
    "prose",
    "rated",
    "risk_value",
    "rows_or",
    "sentence",
    "share",
    "share_seen",
    "side",
    "spoken",
    "telling_notes",
    "tidy",
    "unchanged_verdicts",
    "withheld",
]

_LONGEST_NAME = 80


def name(text: object) -> str:
    """Return a column name; of one longer than 80 characters the middle is left out."""
    text = str(text)
    return text if len(text) <= _LONGEST_NAME else f"{text[:56]} … {text[-20:]}"


def brief(text: object, most: int = 300) -> str:
    """Return text shortened to `most` characters, with the middle of words longer than 80 characters left out.

    Examples
    --------
    >>> brief("alone on " + "k" * 100)[-30:]
    'kkkkkkkkk … kkkkkkkkkkkkkkkkkk'
    """
    words = re.sub(r"\S{81,}", lambda m: f"{m[0][:40]} … {m[0][-18:]}", str(text))
    return words if len(words) <= most else f"{words[: most - 2]} …"


def prose(text: object, most: int = 1500) -> str:
    r"""Return free text on one line, shortened as by `brief`.

    Examples
    --------
    >>> prose("a recipient,\n  under contract")
    'a recipient, under contract'
    """
    return brief(" ".join(str(text).split()), most)


def several(n: int, noun: str) -> str:
    """Return a number of things in words.

    Examples
    --------
    >>> several(1, "test"), several(1200, "test")
    ('1 test', '1,200 tests')
    """
    return f"{n:,} {noun}" + ("" if n == 1 else "s")


def enumerated(words: Sequence[str]) -> str:
    """Return words as a list in a sentence.

    Examples
    --------
    >>> enumerated(["a"]), enumerated(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)


def capitalized(text: str) -> str:
    """Return text with its first letter capitalized and the others unchanged."""
    return text[:1].upper() + text[1:]


def label(result: ResultRecord | Changed, arrow: str = "→") -> str:
    """Return attack, variant, keys and target on one line."""
    text = str(result.attack) + (f" ({result.variant})" if result.variant else "")
    if result.keys:
        text += ": " + " + ".join(map(name, result.keys))
    return text + (f" {arrow} {name(result.target)}" if result.target else "")


# ---------------------------------------------------------------- numbers


def compact(value: float | None) -> str:
    """Return a count, with one decimal when it is fractional, "-" for None."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"


def rated(rate: Rate | None) -> str:
    """Return a rate in percent, "-" when there is none."""
    return percent(rate.rate) if rate else "-"


def counted(rate: Rate | None) -> str:
    """Return the counts of a rate, as in "12 of 300" or "12 of 300 rows of 80"; "" when there are none."""
    if not rate or rate.n is None:
        return ""
    if rate.hits is None:
        return f"a withheld number of {of_units(rate)}"
    return f"{compact(rate.hits)} of {of_units(rate)}"


def of_units(rate: Rate) -> str:
    """Return how many people a rate is over; where their rows were counted, how many rows of how many people."""
    return f"{rate.n or 0:,} rows of {rate.units:,}" if of_rows(rate) else f"{rate.n or 0:,}"


def of_rows(rate: Rate | None) -> bool:
    """Return whether a rate counts rows of people, of whom some have several."""
    return rate is not None and rate.units is not None and rate.units != rate.n


def rows_or(who: str, rate: Rate | None) -> str:
    """Return whom a rate counts, or that it counts their rows.

    Examples
    --------
    >>> rows_or("members", Rate(hits=3, n=9, rate=1 / 3, units=4)), rows_or("members", Rate(hits=3, n=9, rate=1 / 3))
    ('rows of members', 'members')
    """
    return f"rows of {who}" if of_rows(rate) else who


def withheld(rate: Rate | None) -> bool:
    """Return whether an external edition withholds a rate."""
    return rate is not None and rate.hits is None


def rate_of(part: Rate | Baseline | None) -> float | None:
    """Return a rate, None where there is none."""
    return None if part is None else part.rate


def side_of(result: ResultRecord | Group, role: str) -> Rate | None:
    """Return the rate of members ("real") or of strangers ("holdout")."""
    return result.holdout if role == "holdout" else result.real


def value_of(result: ResultRecord, role: str) -> float | None:
    """Return the measure of a result on one table, None where there is none."""
    value = None if result.value is None else getattr(result.value, role)
    return None if value is None else float(value)


def rows_of(data: Assessment, role: str) -> int | None:
    """Return the number of rows of a table, None where there is no such table."""
    table = data.tables.by_role()[role]
    return None if table is None else table.rows


def of_guesses(attack: str) -> bool:
    """Return whether the rates of an attack count guesses instead of people, as its catalogue entry says."""
    return attack in CATALOGUE and CATALOGUE[attack].counts == "guesses"


def of_people(result: ResultRecord) -> bool:
    """Return whether the rates of a result count people, not guesses or synthetic rows."""
    return not (counts_rows(result) or of_guesses(result.attack))


def side(result: ResultRecord, role: str) -> str:
    """Return the counts behind the rate of members ("real") or of strangers ("holdout"), in words."""
    text = counted(side_of(result, role))
    if of_guesses(result.attack):
        return f"{text} guesses" if text else ""
    if not text or not counts_rows(result):
        return text
    if role == "holdout":
        return f"{text} synthetic rows nearest to a stranger"
    null, share = result.context.get(TOWARDS, 1.0), result.context.get(_ROWS_COUNTED)
    if share is None:  # withheld in an external edition, whose rates add up to it
        share = _added(rate_of(side_of(result, "real")), rate_of(side_of(result, "holdout")))
    leak_free = None if null is None or share is None else null * share
    return f"{text} synthetic rows nearest to a member (leak-free: {percent(leak_free)})"


_ROWS_COUNTED = "share of synthetic rows counted"


def _added(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else a + b


class Limited(Protocol):
    """An object with pointwise and simultaneous limits: a risk or a change of risk."""

    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...
    @property
    def low_simultaneous(self) -> float | None: ...
    @property
    def high_simultaneous(self) -> float | None: ...


def interval(risk: Limited | None, kind: str = "_simultaneous") -> str:
    """Return the two limits of a risk, simultaneous or (with kind="") pointwise; "-" when there are none."""
    low, high = (None, None) if risk is None else limits_of(risk, kind)
    return "-" if low is None and high is None else f"{limit(low)} to {limit(high)}"


def interval_in_words(risk: Limited | None, kind: str = "_simultaneous") -> str:
    """Return the two limits of a risk for a sentence; the one that is given where the other is withheld.

    Examples
    --------
    >>> from types import SimpleNamespace as Risk
    >>> [interval_in_words(Risk(low=low, high=high), "") for low, high in ((0.1, 0.3), (0.1, None), (None, None))]
    ['0.100 to 0.300', 'at least 0.100', 'not given']
    """
    low, high = (None, None) if risk is None else limits_of(risk, kind)
    if low is None or high is None:
        return "not given" if low is high else f"at least {limit(low)}" if high is None else f"at most {limit(high)}"
    return f"{limit(low)} to {limit(high)}"


def limits_of(risk: Limited, kind: str = "_simultaneous") -> tuple[float | None, float | None]:
    """Return the two limits of a risk, simultaneous or (with kind="") pointwise."""
    return (risk.low_simultaneous, risk.high_simultaneous) if kind else (risk.low, risk.high)


def limit(value: float | None) -> str:
    """Return one limit of an interval with three decimals, or with four where three would round it to 0.

    Examples
    --------
    >>> limit(0.0523), limit(-0.00039), limit(1e-9), limit(0.0)
    ('0.052', '-0.0004', '<0.0001', '0.000')
    """
    if value is None or value == 0 or abs(value) >= 0.0005:
        return number(value)
    if abs(value) < 0.00005:
        return "<0.0001" if value > 0 else ">-0.0001"
    return f"{value:.4f}"


def distance(value: float | None) -> str:
    """Return a distance, a score or a ratio with three significant digits.

    Examples
    --------
    >>> distance(0.0123456), distance(1 / 3), distance(-1e-17), distance(2.5e-7)
    ('0.0123', '0.333', '0', '<0.0001')
    """
    if value is None:
        return "-"
    if abs(value) < 1e-12:
        return "0"
    if abs(value) < 1e-4:
        return "<0.0001" if value > 0 else ">-0.0001"
    return f"{value:#.3g}".rstrip(".") if abs(value) < 1000 else f"{value:,.0f}"


def measured(value: float | None) -> str:
    """Return a measure that is not a rate: whole numbers without decimals, others with three."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if float(value).is_integer() else number(value)


def p_text(p: float | None) -> str:
    """Return a p-value with three decimals."""
    if p is None:
        return "-"
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def risk_value(result: ResultRecord, which: str = "value") -> float | None:
    """Return one field of the risk of a result, None when there is none."""
    value = None if result.risk is None else getattr(result.risk, which)
    return None if value is None else float(value)


def leak_free(result: ResultRecord) -> tuple[float | None, float | None]:
    """Return the two limits of the leak-free band of a result, each None where the band has none."""
    return risk_value(result, "leak_free_low"), risk_value(result, "leak_free_high")


# ---------------------------------------------------------------- the verdict in words


def sentence(data: Assessment) -> str:
    """Return the verdict in one sentence, without the name of the verdict at its start."""
    verdict = data.verdict
    text = str(verdict.sentence)
    if text.lower().startswith(f"{verdict.verdict}: "):
        text = text[len(verdict.verdict) + 2 :]
    return capitalized(spoken(data, text))


def spoken(data: Assessment, text: str) -> str:
    """Return text in which the first attack name with an underscore has spaces instead, as in "singling out"."""
    attacks = "|".join(sorted({re.escape(r.attack) for r in data.results if "_" in r.attack}))
    return re.sub(rf"\b({attacks})\b", lambda m: m[0].replace("_", " "), text, count=1) if attacks else text


def holds(check: Precondition) -> str:
    """Return whether a precondition holds, in words."""
    return "not ok" if not check.ok else "ok" if check.tested else "not tested"


def meaning(data: Assessment) -> str:
    """Return what the overall verdict means, in words."""
    failing = [c.check for c in data.preconditions if c.check in CRITICAL and not c.ok]
    if data.verdict.verdict == "cannot tell" and failing:
        return f"{words.UNFAIR} What fails: {', '.join(failing)}."
    return RISK[data.verdict.verdict].meaning


def unchanged_verdicts(data: Assessment) -> str:
    """Return why results are findings though the overall verdict is none; "" where there is no such result."""
    n = sum(r.verdict in FOUND for r in data.results)
    if not n or data.verdict.verdict in FOUND:
        return ""
    return (
        f"{n} of the comparisons show an excess or a deficit within the family of their own attack. Corrected for the "
        "number of attacks too (Holm), none remains; read them as a reason to look again with more people."
    )


SAID_ELSEWHERE = (
    "tables that pass distance tests", "the rate is of synthetic rows", "left out of the distance", "near: ",
    "copies of part of a row",
)  # fmt: skip
"""Beginnings of notes that a line leaves out, as its section or the text of its counts states them."""


def telling_notes(result: ResultRecord) -> list[str]:
    """Return the notes of a result that are shown with its verdict.

    The others are left out: the schema says how columns were binned, and the notes at the end of the report say what a
    variant counts and what each key alone implies.
    """
    notes = []
    defined = (f"{result.variant}:", f"{result.attack} ({result.variant})")
    for note in result.notes:
        if note.lower().startswith(tuple(d.lower() for d in defined)) or "that alone implies" in note:
            continue
        if note.startswith(SAID_ELSEWHERE):
            continue
        if note.startswith("inference without disclosure"):
            notes.append("inference without disclosure")
        elif note.startswith("cannot tell"):
            notes.append(note.rpartition("; ")[2])
        elif not note.startswith("column "):
            notes.append(note)
    return notes


def further(result: ResultRecord) -> str:
    """Return the further numbers of a result, by name."""
    known = ((name_, value) for name_, value in result.context.items() if value is not None)
    return ", ".join(f"{name_} {measured(value)}" for name_, value in known)


def methods(data: Assessment) -> list[str]:
    """Return the names of the interval methods that were used."""
    return sorted({r.risk.method for r in data.results if r.risk and r.risk.method})


# ---------------------------------------------------------------- the positive control


def controls(data: Assessment) -> list[tuple[str, str]]:
    """Return each kind of planted people with what the attacks saw, in words."""
    n = data.tables.synthetic.rows or 0
    return [(str(c.kind), _seen(c, n)) for c in data.positive_control]


CONTROL = (
    "Copies of real people were planted into the synthetic table, and the attacks were run again, all but the models "
    "of inference, which take most of the time and see hardly any copies. The smallest share is worked out from how "
    "much the plant moved a comparison, and is what the verdict of this run finds with 80% power."
)
"""What the positive control is, in words."""


def _seen(control: PositiveControl, n_rows: int) -> str:
    if control.verdict is None:
        return f"could not be planted. {control.note}"
    found = control.found
    parts = [f"{control.n_planted:,} of {n_rows:,} synthetic rows replaced: {control.verdict}"]
    if found:
        more = sum(f.without is False for f in found)
        clearest = next((f for f in found if f.without is False), found[0])
        parts[0] += f" in {len(found):,} of {control.n_judged:,} comparisons"
        parts[0] += f", {more:,} of which show none without the plant" if more else ""
        first = f"{'clearest of these' if more else 'clearest'}: {brief(_worded(clearest.attack), 160)}"
        risk = f", risk {number(clearest.risk)} ({limit(clearest.low)} to {limit(clearest.high)})"
        if clearest.risk is not None:  # an external edition withholds it, and which is the clearest
            parts.append(first + risk)
    people = control.people
    if people:
        parts.append(
            f"{people.flagged:,} of the {people.planted:,} planted people flagged, and "
            f"{people.others_flagged:,} others ({people.flagged_without:,} are flagged without the plant)"
        )
    seen = [(least, a.attack) for a in control.attacks if (least := share_seen(a)) is not None]
    if seen:
        least, by = min(seen)
        parts.append(f"smallest share that would be seen: about {share(least)} ({brief(_worded(by), 160)})")
    elif control.attacks:
        parts.append("no comparison moved enough to say which share would be seen")
    return "; ".join(parts) + "."


def _worded(label: str) -> str:
    """Return the label of a result with spaces in the name of its attack."""
    return re.sub(r"^\w+", lambda m: m[0].replace("_", " "), label)


def share_seen(smallest: Smallest) -> float | None:
    """Return the smallest share of planted rows that a comparison would see.

    None above 1, where it would see no share, and at 0: nobody was hit without the plant, so that the effect of chance
    is unknown.
    """
    least = smallest.smallest_share
    return float(least) if least is not None and 0 < least <= 1 else None


def share(value: float | None) -> str:
    """Return a share in percent, with two significant digits below a tenth of a percent; "-" for None."""
    return percent(value) if value is None or value >= 0.001 else f"{100 * value:.2g}%"
