"""What the HTML page and the Markdown page have in common: order, words and the shape of a number."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from divulge.attacks import CATALOGUE
from divulge.case.preconditions import CRITICAL
from divulge.core.result import TOWARDS, Baseline, number, percent, tidy
from divulge.report.model import Assessment, Changed, Group, PositiveControl, Rate, Records, ResultRecord, Smallest

__all__ = [
    "BANNER",
    "CONTROL",
    "DEFINITIONS",
    "GLOSSARY",
    "LIMITS",
    "QUESTIONS",
    "ROWS_RISK",
    "SAID_ELSEWHERE",
    "brief",
    "by_attack",
    "capitalized",
    "compact",
    "controls",
    "counted",
    "distance",
    "few_parts",
    "flags",
    "further",
    "has_holdout",
    "in_question",
    "interval",
    "judged",
    "knowledge",
    "label",
    "leak_free",
    "limit",
    "meaning",
    "measured",
    "methods",
    "name",
    "of_rows",
    "on_part",
    "p_text",
    "prose",
    "rated",
    "risk_value",
    "sentence",
    "share",
    "share_seen",
    "shared_keys",
    "side",
    "spoken",
    "standing_out",
    "telling_notes",
    "tidy",
    "unchanged_verdicts",
    "verdict_counts",
    "withheld",
    "worst_first",
]

_ORDER = {"excess found": 0, "cannot tell": 1, "none found": 2, "no holdout": 3}
_LONGEST_NAME = 80

BANNER = {
    "excess found": "The synthetic table says more about people in the real table than about strangers. As far as "
    "the preconditions hold, that part does not come from patterns of the population.",
    "none found": "In every comparison the simultaneous upper limit of risk is at most the acceptable one. This "
    "speaks about the attacks, keys and targets on this page and about nothing else.",
    "cannot tell": "The comparisons show no excess for certain, and are too uncertain to exclude one. This is "
    "no finding either way; more people would be needed to decide.",
    "no holdout": "Inference and disclosure are not separated: the rates on this page mix what the patterns of the "
    "population give away with what the rows of single people give away.",
}
"""What each verdict means, in words."""

UNFAIR = (
    "A precondition fails without which strangers are no fair comparison with members, so that nothing follows either "
    "way: an excess may be there or not, and more people would not decide it. Mend the tables or the split, and run "
    "again."
)
"""What "cannot tell" means when members and strangers cannot be compared."""

DEFINITIONS = (
    (
        "excess found",
        "the simultaneous lower limit of the difference between members and strangers is above 0: the attack is right "
        "more often about people in the real table.",
    ),
    ("none found", "not so, and the simultaneous upper limit of risk is at most {acceptable}."),
    (
        "cannot tell",
        "neither: the interval reaches above {acceptable} and does not exclude 0. The note beside it says which size "
        "would do.",
    ),
    ("no holdout", "there were no strangers to compare with; only rates are shown."),
)
"""The verdicts, with `{acceptable}` to fill in."""

LIMITS = (
    "Only the attacks named here were run. Another attack, or one that knows more, may do better.",
    "A verdict is about the average over the people attacked. Single people can be exposed where the average shows "
    "nothing; the exposed records say who stands out, and they carry no interval.",
    "The comparison holds as far as the holdout people come from the same population as the real ones and were never "
    "seen by the synthesizer. The preconditions look for signs of the contrary; they cannot prove it.",
    "What the attack learns about strangers too is learnt about the population. It is no disclosure in the sense of "
    "this page, and it can still harm people.",
    "One synthetic table was attacked. Further tables from the same model add to what is known, and the model itself "
    "was not attacked.",
    "The acceptable risk was chosen by whoever ran the assessment. It is no legal limit.",
    "This page is evidence for a decision. It is no certificate.",
)
"""What the numbers do not prove."""


ROWS_RISK = (
    "Where synthetic rows are counted (dcr and its kin), the rates are shares of all synthetic rows, by whether the "
    "nearest person is a member or a stranger, and the risk is the fraction of synthetic rows that are copied: the "
    "members' share less what they would attract without a leak, over the share of people who are strangers."
)
"""What the rates and the risk of measures are that count synthetic rows."""

GLOSSARY = (
    ("acceptable risk", "the largest upper limit of risk that counts as none found; chosen before the run."),
    ("attribution", "learning the target of a person from keys; CAP is the chance that a synthetic record with the "
     "same keys has the person's target."),
    ("baseline", "the rate of an attacker without the synthetic table; elsewhere: naive rate."),
    ("disclosure", "what the table tells about its own people beyond what it tells about strangers."),
    ("excess", "rate of members minus rate of strangers; in membership inference: advantage."),
    ("holdout", "people of the same population whom the synthesizer never saw, the strangers; elsewhere: control, test "
     "or reference data."),
    ("inference", "what patterns of the population tell about anybody, members and strangers alike."),
    ("interval", "a range that contains the true number in the stated share of repetitions; those called simultaneous "
     "hold for all comparisons of an attack together."),
    ("key", "a column whose value the attacker knows; elsewhere: quasi-identifier, auxiliary data."),
    ("leak-free band", "where the risks of one attack lie, all together, if members are hit as often as strangers."),
    ("member", "a person in the real table; the word of membership inference, too."),
    ("positive control", "copies of real people planted on purpose, to see whether the run notices them."),
    ("real table", "the table that the synthesizer was trained on; elsewhere: training data, original data."),
    ("risk", "the excess as a share of what could still go wrong for strangers: 0 is no more than strangers have, 1 is "
     "everybody."),
    ("score", "100 (1 - upper limit of risk), between 0 and 100; 100 is least risk."),
    ("stranger", "a person of the holdout; elsewhere: non-member, control."),
    ("target", "a column that the attacker wants to learn; elsewhere: secret, sensitive attribute."),
    ("unit", "the column that says which rows belong to one person or household."),
)  # fmt: skip
"""The words of the report."""


def name(text: object) -> str:
    """Return a column name, its middle left out when it is longer than 80 characters."""
    text = str(text)
    return text if len(text) <= _LONGEST_NAME else f"{text[:56]} … {text[-20:]}"


def brief(text: object, most: int = 300) -> str:
    """Return text in which overlong words, as of a long column name, and an overlong end are left out.

    Examples
    --------
    >>> brief("alone on " + "k" * 100)[-30:]
    'kkkkkkkkk … kkkkkkkkkkkkkkkkkk'
    """
    words = re.sub(r"\S{81,}", lambda m: f"{m[0][:40]} … {m[0][-18:]}", str(text))
    return words if len(words) <= most else f"{words[: most - 2]} …"


def prose(text: object, most: int = 1500) -> str:
    r"""Return free text on one line, an overlong end left out.

    Examples
    --------
    >>> prose("a recipient,\n  under contract")
    'a recipient, under contract'
    """
    return brief(" ".join(str(text).split()), most)


def capitalized(text: str) -> str:
    """Return text with a capital first letter, the others as they are."""
    return text[:1].upper() + text[1:]


def label(result: ResultRecord | Changed, arrow: str = "→") -> str:
    """Return attack, variant, keys and target in one line."""
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
    """Return the counts behind a rate, "" when there are none."""
    if not rate or rate.n is None:
        return ""
    if rate.hits is None:
        return f"a withheld number of {rate.n:,}"
    return f"{compact(rate.hits)} of {rate.n:,}"


def withheld(rate: Rate | None) -> bool:
    """Return whether a rate was taken out of an external edition, as few people are behind it."""
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


def of_rows(result: ResultRecord) -> bool:
    """Return whether the rates of a result count synthetic rows, by their nearest person, and not people."""
    return bool(result.real) and TOWARDS in result.context


def of_guesses(attack: str) -> bool:
    """Return whether the rates of an attack are shares of guesses and not of people, as its entry says."""
    return attack in CATALOGUE and CATALOGUE[attack].counts == "guesses"


def side(result: ResultRecord, role: str) -> str:
    """Return the counts behind the rate of members ("real") or of strangers ("holdout"), in words."""
    text = counted(side_of(result, role))
    if result.attack == "singling_out":
        return f"{text} guesses" if text else ""
    if not text or not of_rows(result):
        return text
    if role == "holdout":
        return f"{text} synthetic rows nearest to a stranger"
    null, share = (result.context.get(n, 1.0) for n in (TOWARDS, "share of synthetic rows counted"))
    leak_free = None if null is None or share is None else null * share
    return f"{text} synthetic rows nearest to a member (leak-free: {percent(leak_free)})"


class Limited(Protocol):
    """What has two limits: a risk, or the change of one."""

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


def limits_of(risk: Limited, kind: str = "_simultaneous") -> tuple[float | None, float | None]:
    """Return the two limits of a risk, simultaneous or (with kind="") pointwise."""
    return (risk.low_simultaneous, risk.high_simultaneous) if kind else (risk.low, risk.high)


def limit(value: float | None) -> str:
    """Return one limit of an interval: three decimals, more where it would round to 0.

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
    """Return a measure that is no rate: whole numbers without decimals, others with three."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if float(value).is_integer() else number(value)


def p_text(p: float | None) -> str:
    """Return a p-value with three decimals."""
    if p is None:
        return "-"
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def risk_value(result: ResultRecord, which: str = "value") -> float | None:
    """Return one number of the risk of a result, None when there is none."""
    value = None if result.risk is None else getattr(result.risk, which)
    return None if value is None else float(value)


def leak_free(result: ResultRecord) -> tuple[float | None, float | None]:
    """Return the band in which the risks of an attack lie together if nothing leaked; None where it has no ends."""
    return risk_value(result, "leak_free_low"), risk_value(result, "leak_free_high")


# ---------------------------------------------------------------- order and counts


def has_holdout(data: Assessment) -> bool:
    """Return whether there were strangers to compare with."""
    return data.tables.holdout is not None


def judged(results: Iterable[ResultRecord]) -> list[ResultRecord]:
    """Return the results that carry a verdict, worst first; without a holdout those that have a rate."""
    return worst_first(r for r in results if _compared(r))


def _compared(result: ResultRecord) -> bool:
    return result.verdict is not None and (result.verdict != "no holdout" or bool(result.real))


def on_part(result: ResultRecord) -> bool:
    """Return whether a result is about near copies on part of the columns; there can be hundreds of these."""
    return result.attack == "copies" and bool(result.keys)


QUESTIONS = ("singling_out", "linkability", "inference")
"""The attacks that ask the three questions; there can be dozens of results of each, in a section of their own."""


def in_question(result: ResultRecord) -> bool:
    """Return whether a result answers one of the three questions."""
    return result.attack in QUESTIONS


def few_parts(results: Iterable[ResultRecord], most: int) -> list[ResultRecord]:
    """Return results without all but the first few copies on part of the columns."""
    out, seen = [], 0
    for r in results:
        seen += on_part(r)
        if not on_part(r) or seen <= most:
            out.append(r)
    return out


def shared_keys(results: Iterable[ResultRecord]) -> list[str]:
    """Return the key set that all results have which have any, [] when they differ; columns of copies are no keys."""
    sets = {tuple(r.keys) for r in results if r.keys and not on_part(r)}
    return list(sets.pop()) if len(sets) == 1 else []


def worst_first(results: Iterable[ResultRecord]) -> list[ResultRecord]:
    """Return results by verdict, then by the limit that decided it, then by the rate of members."""
    return sorted(results, key=_badness)


def _badness(result: ResultRecord) -> tuple[int, float, float]:
    found = result.verdict == "excess found"
    bound = risk_value(result, "low_simultaneous" if found else "high_simultaneous")
    rate = rate_of(result.real)
    return (
        _ORDER.get(result.verdict or "", 4),
        float("inf") if bound is None else -bound,
        float("inf") if rate is None else -float(rate),
    )


def verdict_counts(results: Iterable[ResultRecord]) -> list[tuple[str, int]]:
    """Return how many results have each verdict, in the order of concern."""
    counts = Counter[str](r.verdict for r in results if r.verdict is not None)
    return [(v, counts[v]) for v in _ORDER if counts[v]]


def by_attack(data: Assessment) -> list[dict[str, Any]]:
    """Return one row for each attack that was judged: its question, verdict counts and worst limits."""
    rows = []
    compared = [r for r in data.results if _compared(r)]
    for attack in dict.fromkeys(r.attack for r in compared):
        own = [r for r in compared if r.attack == attack]
        rows.append(
            {
                "attack": attack,
                "question": question_of(data, attack),
                "n": len(own),
                "counts": dict(verdict_counts(own)),
                "low": _largest(own, "low_simultaneous"),
                "high": _largest(own, "high_simultaneous"),
            }
        )
    return rows


def question_of(data: Assessment, attack: str) -> str:
    """Return the question of an attack, "" for one that the assessment does not know."""
    return data.attacks[attack].question if attack in data.attacks else ""


def _largest(results: Sequence[ResultRecord], which: str) -> float | None:
    return max((v for r in results if (v := risk_value(r, which)) is not None), default=None)


def sentence(data: Assessment) -> str:
    """Return the verdict in one sentence, without the word that stands above it."""
    verdict = data.verdict
    text = str(verdict.sentence)
    if text.lower().startswith(f"{verdict.verdict}: "):
        text = text[len(verdict.verdict) + 2 :]
    return capitalized(spoken(data, text))


def spoken(data: Assessment, text: str) -> str:
    """Return text in which the first name of an attack is written in words, as for "singling_out"."""
    attacks = "|".join(sorted({re.escape(r.attack) for r in data.results if "_" in r.attack}))
    return re.sub(rf"\b({attacks})\b", lambda m: m[0].replace("_", " "), text, count=1) if attacks else text


def meaning(data: Assessment) -> str:
    """Return what the verdict of the whole means, in words."""
    failing = [c.check for c in data.preconditions if c.check in CRITICAL and not c.ok]
    if data.verdict.verdict == "cannot tell" and failing:
        return f"{UNFAIR} What fails: {', '.join(failing)}."
    return BANNER.get(data.verdict.verdict, "")


def unchanged_verdicts(data: Assessment) -> str:
    """Return why single results can say "excess found" when the whole does not; "" when that is not so."""
    n = sum(r.verdict == "excess found" for r in data.results)
    if not n or data.verdict.verdict == "excess found":
        return ""
    return (
        f"{n} of the comparisons show an excess within the family of their own attack. Corrected for the number of "
        "attacks too (Holm), none remains; read them as a reason to look again with more people."
    )


SAID_ELSEWHERE = (
    "tables that pass distance tests", "the rate is of synthetic rows", "left out of the distance", "near: ",
    "copies of part of a row",
)  # fmt: skip
"""Beginnings of notes that stand once for a whole section, or in the words of the counts, and not on every line."""


def telling_notes(result: ResultRecord) -> list[str]:
    """Return the notes of a result that belong beside its verdict.

    How columns were binned stands in the schema; what a variant counts, and what each key alone implies, stand
    among the notes at the end.
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


# ---------------------------------------------------------------- people


_SIGNS = (
    ("copied", "copied whole"),
    ("replicated_unique", "alone on a tested key set and matched by exactly one synthetic row"),
    ("disclosed", "with a target that their synthetic class names rightly and with certainty"),
)


def standing_out(records: Records) -> str:
    """Return how many real records stand out, among strangers too, by which signs, and which were not looked for."""
    strangers = records.exposed_share_strangers
    beside = "" if strangers is None else f"; of strangers {percent(strangers)}"
    signs = [(getattr(records, k), words) for k, words in _SIGNS]
    found = [f"{compact(n)} {words}" for n, words in signs if n is not None]
    missing = [words for n, words in signs if n is None]
    text = (
        f"{compact(records.exposed)} of {compact(records.n)} real records ({percent(records.exposed_share)}"
        f"{beside}) stand out: {', '.join(found) or 'no sign was looked for'}."
    )
    return text + (f" Not looked for: records {'; records '.join(missing)}." if missing else "")


def flags(records: Records | None) -> str:
    """Return how many people were flagged, and how few could be; "" when nobody was asked."""
    if records is None or records.flagged is None:
        return ""
    text = (
        f"{records.flagged:,} of {records.n:,} real records are flagged as having a synthetic row closer than "
        f"strangers have (false discovery rate {records.fdr:g})."
    )
    least = records.smallest_flaggable
    if least is not None and least > records.n:
        return f"{text} This holdout is too small to flag anybody."
    return (
        text
        if least is None or least <= 1
        else f"{text} With this many strangers, fewer than {least:,} people could not be flagged."
    )


# ---------------------------------------------------------------- the positive control


def controls(data: Assessment) -> list[tuple[str, str]]:
    """Return what the run said once copies were planted: each kind, and what was seen, in words."""
    n = data.tables.synthetic.rows
    return [(str(c.kind), _seen(c, n)) for c in data.positive_control]


CONTROL = (
    "Copies of real people were planted into the synthetic table, and the attacks were run again, all but the models "
    "of inference, which take most of the time and see hardly any copies. The smallest share is worked out from how "
    "much the plant moved a comparison, for that comparison alone (80% power, one-sided 5%), before correction for the "
    "number of comparisons."
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
        parts.append(
            f"{'clearest of these' if more else 'clearest'}: {brief(_worded(clearest.attack), 160)}, "
            f"risk {number(clearest.risk)} ({limit(clearest.low)} to {limit(clearest.high)})"
        )
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
    else:
        parts.append("no comparison moved enough to say which share would be seen")
    return "; ".join(parts) + "."


def _worded(label: str) -> str:
    """Return the label of a result with the name of the attack in words."""
    return re.sub(r"^\w+", lambda m: m[0].replace("_", " "), label)


def share_seen(smallest: Smallest) -> float | None:
    """Return the smallest share of planted rows that a comparison would see.

    None above 1, where it would see none, and at 0, where nobody was hit without the plant, so that nothing tells how
    much chance moves it.
    """
    least = smallest.smallest_share
    return float(least) if least is not None and 0 < least <= 1 else None


def share(value: float | None) -> str:
    """Return a share in percent, with two digits where it is below a tenth of a percent; "-" for None."""
    return percent(value) if value is None or value >= 0.001 else f"{100 * value:.2g}%"


# ---------------------------------------------------------------- the attacker


def knowledge(data: Assessment) -> dict[str, str]:
    """Return what the attacker knows, wants and sees, one sentence each."""
    keys, targets = data.settings.keys, data.settings.targets
    pairs = data.key_sets
    tried = any(r.keys for r in data.results if not in_question(r))
    if keys:
        known = ", ".join(map(name, keys))
    elif pairs:
        longest = max(len(k.keys) for k in pairs)
        known = (
            f"No keys were given. Sets of up to {longest} columns were ranked by the synthetic table alone, and the "
            f"best ones were tested: {len(pairs):,} pairs of key set and target."
        )
    else:
        known = "The columns that the schema marks as keys." if tried else "Nothing: no key set was tested."
    if any(r.attack == "inference" and not r.keys for r in data.results):
        known = f"{known.removesuffix('.')}. For inference: all columns but the target."
    if targets:
        wanted = ", ".join(map(name, targets))
    else:
        tested = list(dict.fromkeys(r.target for r in data.results if r.target))
        names = ", ".join(map(name, tested))
        wanted = f"Each usable column that is no key, in turn: {names}." if tested else "No target was tested."
    who = data.threat.attacker.who
    rows = data.tables.real.rows
    n = rows_of(data, "holdout")
    strangers = "" if n is None else f", and as a check {n:,} strangers"
    return {
        "who": "; ".join(map(prose, who)) or "Anybody who holds the synthetic table.",
        "about": f"{rows:,} rows of the real table{strangers}.",
        "knows": known,
        "wants": wanted,
        "sees": "The whole synthetic table. Neither the model nor its code nor any other release.",
    }
