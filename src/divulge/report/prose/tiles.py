"""One tile a question: its state, members beside strangers, one sentence, and the small print behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from divulge.core.errors import tidy
from divulge.core.result import FOUND, Verdict, identity, is_compared
from divulge.measures.result import FidelityVerdict
from divulge.report import formatting, order
from divulge.report.model import Assessment, ResultRecord
from divulge.report.prose import use, wp216
from divulge.report.prose.bounds import SEES_A_COPY
from divulge.report.prose.compared import Bar, bars, beside_commonest, hit_words, is_mean, short
from divulge.report.prose.reach import NOT_BOUNDED, reaches
from divulge.report.verdicts import word_of
from divulge.stats.roc import least_strangers

__all__ = [
    "Asked",
    "State",
    "Tile",
    "asked",
    "clearest",
    "leading",
    "plainest",
    "repeated_person",
    "representative_risk",
    "state_of",
    "state_words",
    "tiles",
]

State = Verdict | FidelityVerdict | Literal["not tested"]
_FEWER = "Fewer is no protection."
_NO_PROTECTION = "Fewer is no protection: whoever is not hit is more likely a member."


def state_words(state: str) -> str:
    """Return how a tile says its state: beside copies that strangers have too, "none found" reads as no copies."""
    return word_of(state).state or state


@dataclass(frozen=True, slots=True)
class Tile:
    """What the first screen says about one question."""

    id: str
    name: str
    question: str
    state: State
    bars: tuple[Bar, ...]
    sentence: str
    brief: str
    """The same beside its bars, which have the numbers."""
    clean: str
    """What a table without a leak would look like."""
    small: str
    """The comparison behind the tile, with its risk and interval; "" where there is none."""
    r: ResultRecord | None
    word: str = ""
    """What is shown in place of the state; "" where that is shown itself."""

    by: str = ""
    """What answers the question in place of what its name says; "" elsewhere."""

    @property
    def head(self) -> str:
        """What stands above it."""
        return self.by or self.name

    @property
    def shown(self) -> str:
        """The state as it is shown."""
        return self.word or self.state


@dataclass(frozen=True, slots=True)
class Asked:
    """One question of the first screen: the attacks that answer it, and its words."""

    id: str
    name: str
    question: str
    attacks: Callable[[Assessment], tuple[str, ...]]
    clean: str
    untested: str


def _copying(data: Assessment) -> tuple[str, ...]:
    near = [a for a, about in data.attacks.items() if about.family in ("copying", "distance")]
    return tuple(dict.fromkeys(("copies", *near)))


def _guessing(data: Assessment) -> tuple[str, ...]:
    """Return the attack on inference, and those that read a secret off rows with equal keys."""
    return ("inference", *(a for a, about in data.attacks.items() if about.family == "attribution"))


def _only(attack: str) -> Callable[[Assessment], tuple[str, ...]]:
    return lambda data: (attack,)


def asked() -> tuple[Asked, ...]:
    """Return the questions about people, in the order of the tiles."""
    return _ASKED


_ASKED = (
    Asked(
        "copies", "Copies", "Do records of people stand in the table?", _copying,
        "In a clean table members are copied no more often than strangers, whom nobody could have copied.",
        "No attack of this run looked for copies.",
    ),
    Asked(
        "singling_out", "Singling out", "Does a description fit one person alone?", _only("singling_out"),
        "In a clean table as many descriptions fit one stranger as fit one member: both are luck.",
        "No attack of this run tried to single somebody out.",
    ),
    Asked(
        "linkability", "Linkability", "Can two lists about the same people be joined?", _only("linkability"),
        "In a clean table the two bars are of one length, give or take luck.",
        "No attack of this run tried to join two lists.",
    ),
    Asked(
        "inference", "Inference", "Can a secret be guessed from what is known?", _guessing,
        "In a clean table guesses are right as often about strangers: what is guessed is a pattern of the population.",
        "No attack of this run guessed a secret.",
    ),
    Asked(
        "membership", "Membership", "Can it be told who is in the real table?", _only("membership"),
        "In a clean table members cannot be told from strangers.",
        "No attack of this run asks who is in the real table.",
    ),
)  # fmt: skip


def tiles(data: Assessment) -> tuple[Tile, ...]:
    """Return one tile for each question and, where it was measured, one for the use of the table."""
    told = [_tile(q, data) for q in _ASKED]
    return (*told, kept) if (kept := _kept(data)) else tuple(told)


def _tile(q: Asked, data: Assessment) -> Tile:
    r, missing = _representative(q, data), _why_missing(q, data)
    repeated = repeated_person(data) if q.id == "copies" else ""
    if r is None or (missing and r.verdict not in FOUND and not repeated):
        if vain := _in_vain(q, data):
            return Tile(q.id, q.name, q.question, "cannot tell", (), vain, vain, q.clean, "", None)
        reason = next((o.why for o in data.not_run if o.attack == q.id and o.why), "")
        why = f"Not tested{missing or (f': {reason}.' if reason else f'. {q.untested}')}"
        if q.id == "membership" and data.verdict.verdict in FOUND:
            why += " What was found here may already tell it."
        return Tile(q.id, q.name, q.question, "not tested", (), why, why, q.clean, "", None)
    state, told, brief, question, by = state_of(r, data), short(r), hit_words(r), q.question, ""
    if unfair := next((b.why for b in data.verdict.bounds if b.why and identity(b) == identity(r)), ""):
        told = brief = f"{unfair[0].upper()}{unfair[1:]}, so that the bars say nothing about it."
    told, brief = (f"{text}{beside_commonest(r, data)}" for text in (told, brief))
    gaps = state == "deficit found"
    more = f" {_NO_PROTECTION}" if gaps and q.id != "membership" else ""  # its sentence says so already
    less = f" {_FEWER}" if gaps else ""
    if state in ("none found", "cannot tell") and not unfair:
        state, more, less = _open(q, data, state)
    if q.id == "copies" and data.attacks[r.attack].family != "copying":
        by, question = "Copies and nearness", "Do rows lie nearer to people, or further away, than chance allows?"
    person = ""
    if repeated and state not in FOUND:
        state, person = "excess found", f"{repeated} "
    whole = _none_whole(data) if by else ""
    lacks = f" Its main test did not run{missing}" if missing else ""
    told, brief = f"{person}{whole}{told}{more}{lacks}", f"{person}{whole}{brief}{less}{lacks}"
    return Tile(q.id, q.name, question, state, bars(r), told, brief, q.clean, _small(r), r, by=by)


def _none_whole(data: Assessment) -> str:
    """Return how many people stand in the table word for word, beside what nearness found."""
    exact = next((r for r in data.results if (r.attack, r.variant) == ("copies", "exact")), None)
    hits = None if exact is None or exact.real is None else exact.real.hits
    strangers = None if exact is None or exact.holdout is None else exact.holdout.hits
    if exact is None or hits is None or strangers is None:
        return ""
    who, others = formatting.rows_or("members", exact.real), formatting.rows_or("strangers", exact.holdout)
    return f"Copied word for word: {hits:,.0f} {who}, {strangers:,.0f} {others}. "


def _why_missing(q: Asked, data: Assessment) -> str:
    """Return why the attack that a question is named after has no result, as the end of "Not tested"; "" if it has."""
    if any(r.attack == q.id for r in data.results):
        return ""
    failed = next((f.why for f in data.failed if f.attack == q.id), "")
    late = next((o.why for o in data.left_out if o.attack == q.id and o.n == o.of), "")
    if failed:
        return f", as the attack failed: {tidy(failed.partition(' hint: ')[0]).rstrip('.')}."
    return late and f": {late}."


def _in_vain(q: Asked, data: Assessment) -> str:
    """Return why membership was tested and nothing can be told; "" where it was not tested."""
    if q.id != "membership" or all(r.attack != q.id or r.verdict != "cannot tell" for r in data.results):
        return ""
    return f"Too few strangers: this test needs {least_strangers(0.1, data.settings.level)} or more to tell anything."


def _open(q: Asked, data: Assessment, state: State) -> tuple[State, str, str]:
    """Return the state of a question without a finding, and what it leaves open, in a sentence and in short.

    A main test that excludes too little blocks the clearance; another test blocks nothing, whatever it says.
    """
    own = [x for x in reaches(data) if x.attack in q.attacks(data)]
    left = [x for x in own if x.state == "cannot tell"]
    if main := [x for x in left if x.required]:
        worst = max(main, key=lambda x: x.share)
        whose = f" by {worst.test.partition(': ')[2]}" if state == "none found" else ""
        if worst.limit == NOT_BOUNDED:
            told = f" This main test{whose} excludes too little, and blocks the clearance."
            return "cannot tell", told, f" Blocks the clearance{whose}: too little is excluded."
        why = f" ({worst.why})" if worst.why else ""
        told = f" Not excluded: an excess of up to {worst.limit}{whose}{why}. This main test blocks the clearance."
        return "cannot tell", told, f" Blocks the clearance{whose}: up to {worst.limit} not excluded."
    if not order.has_holdout(data) or order.in_doubt(data) or any(x.required for x in own):
        return state, "", ""
    if state == "none found":
        hidden = [b for b in data.verdict.bounds if b.attack in q.attacks(data) and (b.shown or 1) < SEES_A_COPY]
        told = f" {_HARDLY_SHOWN if hidden else _NO_MAIN}"
        return state, told, told
    widest = max((x for x in left if x.limit != NOT_BOUNDED), key=lambda x: x.share, default=None)
    open_ = "" if widest is None else f" Not excluded: an excess of up to {widest.limit}"
    why = f" ({widest.why})" if widest is not None and widest.why else ""
    return state, f"{open_}{why}{'.' if open_ else ''} {_NO_MAIN}", f" {_NO_MAIN}"


_HARDLY_SHOWN = "Not a main test here, as even a copy of the whole table would hardly show."
_NO_MAIN = "Not a main test: it does not decide the clearance."


def repeated_person(data: Assessment) -> str:
    """Return the finding about one person whose record is repeated; "" where there is none."""
    if data.facts is None or not data.facts.repeated.found:
        return ""
    r = data.facts.repeated
    return (
        f"The record of one person in the real table stands {r.times:,} times in the synthetic table; a row that is "
        f"nobody's stands there {_times(r.elsewhere)} at most."
    )


def _times(n: int) -> str:
    return {1: "once", 2: "twice"}.get(n, f"{n:,} times")


def _representative(q: Asked, data: Assessment) -> ResultRecord | None:
    """Return the comparison that speaks for a question: the clearest finding, else the one fixed before the run."""
    names = q.attacks(data)
    own = [r for r in data.results if r.attack in names and r.verdict is not None and r.real is not None]
    if not own:
        return None
    found = [r for r in own if r.verdict in FOUND]
    if found:
        led = leading(data)
        return led if led is not None and led.attack in names else clearest(found, data)
    headline = next((a.headline for a in wp216.answers(data) if a.attack == q.id), None)
    if headline is not None:
        return headline.r
    first = [r for r in own if r.attack == q.id]
    return next((r for r in first if r.variant == "exact"), (first or own)[0])


def leading(data: Assessment) -> ResultRecord | None:
    """Return the finding that every edition leads with; None where nothing was found that counts people."""
    most = data.verdict.most
    if most is None or data.verdict.verdict != "excess found":
        return None
    named = (most.attack, most.variant, most.keys, most.target)
    return next((r for r in data.results if identity(r) == named), None)


def plainest(r: ResultRecord) -> tuple[int, int]:
    """Return how plainly a comparison says what happens to people: whole records first, then fewest candidates."""
    return _WHOLE.get((r.attack, r.variant), 2), wp216.nearest_rows(r)


def clearest(found: Sequence[ResultRecord], data: Assessment) -> ResultRecord:
    """Return the finding that says most plainly what happens to people.

    One whose counts are shown comes before one whose counts are withheld. Whole records come first, then comparisons of
    people, then those of guesses and rows; within these primary ones, links by the fewest nearest rows (of gaps by as
    many as show most), and the one whose limit lies furthest from 0.
    """
    primary = {identity(b) for b in data.verdict.bounds if b.primary}

    def rank(r: ResultRecord) -> tuple[bool, bool, bool, int, bool, bool, bool, int, float]:
        excess = r.verdict == "excess found"
        silent = formatting.withheld(r.real) or formatting.withheld(r.holdout)
        limit = formatting.risk_value(r, "low_simultaneous" if excess else "high_simultaneous") or 0.0
        whole = _WHOLE.get((r.attack, r.variant), 2 if r.holdout else 3)
        of_people = formatting.of_people(r) and not is_mean(r)
        named = identity(r) in primary
        near = excess or (r.attack in data.attacks and data.attacks[r.attack].family == "distance")  # gaps, not guesses
        traces = (limit <= 0) if excess else (limit >= 0)  # a test of scores sees it, and the limits of the risk do not
        rows = wp216.nearest_rows(r) if excess else 0
        return not excess, not near, silent, whole, not of_people, traces, not named, rows, -abs(limit)

    return min(found, key=rank)


def representative_risk(data: Assessment) -> ResultRecord | None:
    """Return the comparison that stands for the risk of the whole: the clearest finding, else the widest main one."""
    compared = [r for r in data.results if is_compared(r) and formatting.risk_value(r) is not None]
    found = [r for r in compared if r.verdict == data.verdict.verdict and r.verdict in FOUND]
    if found:
        return leading(data) or clearest(found, data)
    main = {identity(b) for b in data.verdict.bounds if b.primary}
    primary = [r for r in compared if identity(r) in main]
    return max(primary, key=lambda r: formatting.risk_value(r, "high_simultaneous") or 0.0, default=None)


_WHOLE = {("copies", "exact"): 0, ("copies", "near"): 1}


def state_of(r: ResultRecord, data: Assessment) -> State:
    """Return the state of a comparison: its verdict, or "none found" where the run's own bound holds for it."""
    verdict: Verdict = r.verdict or "cannot tell"
    if verdict != "cannot tell" or not is_compared(r) or order.in_doubt(data):
        return verdict
    bounded = any(b.bounded and identity(b) == identity(r) for b in data.verdict.bounds)
    return "none found" if bounded else verdict


def _small(r: ResultRecord) -> str:
    """Return the comparison by its name, its risk and both intervals."""
    told = formatting.label(r, "->")
    value = formatting.risk_value(r)
    if value is None and formatting.risk_value(r, "high_simultaneous") is None:
        return told
    shown = "withheld" if value is None else formatting.limit(value)
    return f"{told}: risk {shown}, {formatting.interval_in_words(r.risk)} together with all comparisons of this attack"


# ---------------------------------------------------------------- use


def _kept(data: Assessment) -> Tile | None:
    """Return the tile of what the table keeps, beside another sample of the same people; None without fidelity."""
    head = use.of_pairs(data)
    if head is None:
        return None
    return Tile(
        "use", "Use", "How far are its counts from the real ones?", head.verdict, use.bars(head), use.told(data, head),
        use.brief(data, head),
        "A useful table is as far from the real one as another sample of the same people.", "", None,
        use.use_word(head),
    )  # fmt: skip
