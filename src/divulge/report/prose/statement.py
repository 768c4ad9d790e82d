"""What the schema file states about attacker, release and decision, and the evidence that the run adds."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from divulge.attacks.checks import ACCEPTABLE
from divulge.core.threat_model import Actor, Attacker, Decision, Release, questions
from divulge.report import formatting, order
from divulge.report.model import Assessment
from divulge.report.prose import wp216
from divulge.report.prose.actors import knowledge_of, stated_of
from divulge.report.prose.compared import quoted
from divulge.report.prose.decision import Decision as FirstPage
from divulge.report.prose.people import people_in, size_in_words, size_of, sizes
from divulge.report.prose.several_tables import together_in_words
from divulge.report.prose.tiles import Tile, state_words

__all__ = [
    "CERTIFICATE",
    "FOR_THE_RECORD",
    "PROCESSING",
    "SIGNS",
    "Stated",
    "about",
    "decided",
    "evidence",
    "for_the_record",
    "key_words",
    "knowledge",
    "not_stated",
    "provenance",
    "stated",
    "threat_line",
    "threat_model",
]

PROCESSING = (
    "Making a synthetic table from personal data is itself processing of personal data and needs a legal basis of its "
    "own. Whether the result still relates to people is judged for each table that is released and for each holder, "
    "not for the tool that made it; a model that is released is a data set of its own."
)
"""What the law requires whatever the attacks find."""

CERTIFICATE = (
    "This is evidence for a decision, at the date above. It is no certificate that nobody can be identified. New "
    "auxiliary data, new attacks or a further release make it due again."
)
"""What the report is evidence for, and for how long."""

SIGNS = (("Whoever answers for the release", "decision"), ("Data protection officer", "advice"))
"""Who signs, and what: the officer advises and does not decide."""

_ENTRIES = 20
_FEW = 6  # columns of an actor that are named among others


@dataclass(frozen=True, slots=True)
class Stated:
    """The entries that one table of the schema file states, in order, and the names of those it leaves out."""

    given: list[tuple[str, list[str]]]
    left_out: list[str]


def stated(table: Attacker | Release | Decision) -> Stated:
    """Return the entries that one table of the schema file states, and the names of those it leaves out."""
    given = msgspec.structs.asdict(table)
    return Stated(
        given=[(key_words(k), [formatting.prose(t) for t in texts[:_ENTRIES]]) for k, texts in given.items() if texts],
        left_out=[key_words(k) for k, texts in given.items() if not texts],
    )


def key_words(key: str) -> str:
    """Return an entry of the schema file in words."""
    return _KEYS.get(key, key.replace("_", " "))


_KEYS = {
    "dpo_advice": "advice of the data protection officer",
    "dpia": "data protection impact assessment",
    "acceptable_why": "why this limit of risk",
    "acceptable_set": "when and by whom the limit was set",
    "row_is": "what a row is",
    "made_by": "assessed by",
    "dataset": "data set",
    "tables_released": "tables that are released",
    "onward": "passing on",
    "sees": "what else the attacker sees",
}


def about(data: Assessment) -> list[tuple[str, str]]:
    """Return what was assessed, for whom, and who did it: names and texts, those that were stated."""
    s, r = data.tables.synthetic, data.threat.release
    file = formatting.prose(s.file, 80)
    tables = sizes(data) or [("synthetic table", "; ".join(t for t in (file, size_in_words(s)) if t))]
    if data.tables.real.file:
        tables.append(("real table", formatting.prose(data.tables.real.file, 80)))
    return tables + [(name, "; ".join(formatting.prose(t, 120) for t in texts)) for name, texts in _about(r) if texts]


def not_stated(data: Assessment) -> list[str]:
    """Return what the schema file could state about what was assessed, and does not."""
    return [name for name, texts in _about(data.threat.release) if not texts]


def _about(r: Release) -> list[tuple[str, tuple[str, ...]]]:
    return [
        ("data set", r.dataset), ("period", r.period), ("generator", r.generator), ("recipient", r.recipient),
        ("purpose", r.purpose), ("assessed by", r.made_by),
    ]  # fmt: skip


def threat_model(data: Assessment) -> list[tuple[str, Stated]]:
    """Return what is stated about the attacker, or about each actor, and about the release."""
    actors = [(f"Actor {formatting.name(a.name)}", _of_actor(a)) for a in data.threat.actors]
    return [*(actors or [("Attacker", stated(data.threat.attacker))]), ("Release", stated(data.threat.release))]


def _of_actor(actor: Actor) -> Stated:
    """Return what is stated of an actor, with the columns that it knows and wants."""
    own = stated(Attacker(**{key: getattr(actor, key) for key in questions("attacker")}))
    return Stated([*stated_of(actor), *own.given], own.left_out)


def decided(data: Assessment) -> Stated:
    """Return what is stated about the decision."""
    return stated(data.threat.decision)


def threat_line(data: Assessment) -> str:
    """Return how much was stated, in one line; "" when nothing was."""
    parts = [(name.lower(), s) for name, s in threat_model(data)] + [("decision", decided(data))]
    if not any(s.given for _, s in parts):
        return ""
    told = ", ".join(f"{name} {len(s.given)} of {len(s.given) + len(s.left_out)}" for name, s in parts)
    return f"Stated in the schema file: {told}; the report has the texts."


def knowledge(data: Assessment) -> dict[str, str]:
    """Return who attacks, who is attacked, and what the attacker knows, wants and sees, in words."""
    keys, targets = data.settings.keys, data.settings.targets
    pairs = data.key_sets
    tried = any(r.keys for r in data.results if not order.in_question(r))
    actors = data.threat.actors
    if actors:
        known = " ".join(f"{formatting.name(a.name)}: {knowledge_of(a, _FEW)}." for a in actors)
    elif keys:
        known = ", ".join(map(formatting.name, keys))
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
    if actors:
        wanted = " ".join(f"{formatting.name(a.name)}: {quoted(a.targets or (), _FEW)}." for a in actors)
    elif targets:
        wanted = ", ".join(map(formatting.name, targets))
    else:
        tested = list(dict.fromkeys(r.target for r in data.results if r.target))
        names = ", ".join(map(formatting.name, tested))
        wanted = f"Each usable column that is no key, in turn: {names}." if tested else "No target was tested."
    who = [f"{formatting.name(a.name)}: {' '.join(a.who).removesuffix('.')}".removesuffix(": ") for a in actors]
    who = who or list(data.threat.attacker.who)
    real, n = data.tables.real, formatting.rows_of(data, "holdout")
    about = (
        f"{formatting.compact(real.rows)} {'people of the real tables' if real.linked else 'rows of the real table'}"
    )
    if people_in(real) != real.rows:
        about += f", of {formatting.compact(people_in(real))} people"
    strangers = "" if n is None else f", and as a check {size_of(data, 'holdout', 'strangers')}"
    return {
        "who": "; ".join(map(formatting.prose, who)) or "Anybody who holds the synthetic table.",
        "about": f"{about}{strangers}.",
        "knows": known,
        "wants": wanted,
        "sees": f"{_seen(data)} Neither the model nor its code nor any other release.",
    }


def _seen(data: Assessment) -> str:
    return "All rows of several synthetic tables." if together_in_words(data) else "The whole synthetic table."


def provenance(data: Assessment) -> str:
    """Return where the holdout comes from, as far as it was stated."""
    if not order.has_holdout(data):
        return "there is none."
    how = data.threat.release.holdout
    if how:
        return "; ".join(map(formatting.prose, how[:_ENTRIES]))
    return 'not stated; [release] holdout = "..." in the schema file says it.'


def evidence(data: Assessment) -> list[tuple[str, str]]:
    """Return the evidence that the run itself gives: a name and a text each."""
    entries = [
        ("tables", _tables(data)),
        ("control set", _control_set(data)),
        ("preconditions", _preconditions(data)),
        ("comparisons", _comparisons(data)),
        ("smallest detectable", _detectable(data)),
        ("thresholds", _thresholds(data)),
        ("average and worst", _worst(data)),
        ("positive control", _planted(data)),
        ("other attacks", _others(data)),
        ("seed and versions", _versions(data)),
    ]
    return [(name, text) for name, text in entries if text]


def _tables(data: Assessment) -> str:
    told = [
        f"{role} {size_in_words(t) or f'- rows, {t.columns} columns'}"
        + (f", sha256 {t.sha256} of the {t.hashed or 'file'}" if t.sha256 else "")
        for role, t in data.tables.by_role().items()
        if t
    ]
    return "; ".join(told) + "."


def _control_set(data: Assessment) -> str:
    if data.tables.holdout is None:
        return "Missing: members cannot be compared with strangers."
    n = size_of(data, "holdout", "strangers")
    how = data.threat.release.holdout
    split = f"How they were split off: {'; '.join(map(formatting.prose, how[:_ENTRIES]))}" if how else (
        "How they were split off was not stated"
    )  # fmt: skip
    return (
        f"{formatting.capitalized(n)}. {split}. What was looked for between the tables stands under the preconditions."
    )


def _preconditions(data: Assessment) -> str:
    checks = data.preconditions
    failing = [formatting.prose(c.check, 80) for c in checks if not c.ok]
    untested = [formatting.prose(c.check, 80) for c in checks if not c.tested]
    if not checks:
        return "Nothing was checked."
    here = " and told in this edition" if data.edition == "external" else ""
    told = f"{len(checks) - len(untested)} checked{here}, {len(checks) - len(failing) - len(untested)} hold"
    told += f"; not met: {', '.join(failing)}" if failing else ""
    return told + (f"; not tested: {', '.join(untested)}." if untested else ".")


def _comparisons(data: Assessment) -> str:
    judged = order.judged(data.results)
    attacks = len({r.attack for r in judged})
    if not order.has_holdout(data):
        return f"{len(judged):,} rates by {attacks} attacks; none is compared with strangers."
    failed = f" {formatting.several(len(data.failed), 'attack')} failed and left a gap." if data.failed else ""
    return (
        f"{len(judged):,} by {attacks} attacks. Limits and p-values are corrected for the number of comparisons of an "
        f"attack, the verdict of the whole for the number of attacks too.{failed}"
    )


def _detectable(data: Assessment) -> str:
    told = []
    for a in wp216.answers(data):
        least = a.headline and a.headline.r.smallest_detectable
        if least:
            told.append(f"{a.name.lower()} {formatting.share(least)}")
    if not told:
        return ""
    return (
        f"Excess in rate that the verdict finds in the headline comparison with 80% power, corrected for the number "
        f"of comparisons and of attacks: {', '.join(told)}. Less than that may be there unseen."
    )


def _thresholds(data: Assessment) -> str:
    return f"{_limit(data)} Limits hold with {100 * data.settings.level:g}% confidence, all of an attack together."


def _worst(data: Assessment) -> str:
    s = data.records
    text = "Rates and risks are averages over the people attacked."
    if s:
        text += f" {formatting.compact(s.exposed)} of {formatting.compact(s.n)} real records stand out one by one"
        text += f" and are listed in {s.file}, which stays with the custodian." if s.file else "."
    groups = sum(bool(r.groups) for r in data.results)
    return text + (f" {groups} results are told apart by subgroup or column set." if groups else "")


def _planted(data: Assessment) -> str:
    kinds = data.positive_control
    if not kinds:
        return "Not run."
    seen = sum(c.verdict == "excess found" for c in kinds)
    return f"Copies of real people were planted in {len(kinds)} ways; {seen} of them were seen."


_NAMED = {
    "copies": "exact and near copies", "membership": "membership", "linear_reconstruction": "reconstruction"
}  # fmt: skip


def _others(data: Assessment) -> str:
    run = {r.attack for r in data.results}
    tested = [words for attack, words in _NAMED.items() if attack in run]
    away = [words for attack, words in _NAMED.items() if attack not in run]
    parts = [f"tested: {', '.join(tested)}"] * bool(tested) + [f"not tested: {', '.join(away)}"] * bool(away)
    return formatting.capitalized("; ".join(parts)) + "."


def _versions(data: Assessment) -> str:
    versions = {"divulge": data.divulge, **data.versions}
    told = ", ".join(f"{name} {version}" for name, version in versions.items())
    return (
        f"Seed {data.settings.seed}; {told}. The same tables, settings and versions give the same numbers, whatever "
        "the number of threads."
    )


# ---------------------------------------------------------------- for the record of processing

FOR_THE_RECORD = "For the record of processing and the impact assessment"
_WP216 = tuple(wp216.HEADLINE)
_MANY = 8  # columns that are named


def for_the_record(data: Assessment, told: FirstPage) -> list[tuple[str, str]]:
    """Return what a record of processing or an impact assessment asks of the test of a release: heads and sentences.

    The heads name the three criteria of the Article 29 Working Party (WP216, 2014). The numbers are those of the
    edition.
    """
    by_name = {t.id: t for t in told.tiles}
    others = [t for t in told.tiles if t.id not in (*_WP216, "use")]
    return [
        ("Table", _table_in_short(data)),
        ("Test", _test(data, told)),
        *((f"{by_name[name].name} (WP216)", _answer(by_name[name])) for name in _WP216 if name in by_name),
        *((t.head, _answer(t)) for t in others),
        ("Residual risk", " ".join(s for s in (told.excluded, told.headline, told.release, told.at_risk) if s)),
        ("Limit", _limit(data)),
        ("Not covered", _not_covered(data, told)),
    ]


def _table_in_short(data: Assessment) -> str:
    given = "; ".join(f"{name}: {text}" for name, text in about(data))
    sha256, absent = data.tables.synthetic.sha256, not_stated(data)
    digest = f" Its sha256 begins with {sha256[:12]}." if sha256 else ""
    missing = f" Not stated: {formatting.enumerated(absent)}." if absent else ""
    return f"{formatting.capitalized(given)}.{digest}{missing}"


def _test(data: Assessment, told: FirstPage) -> str:
    members, strangers = (formatting.rows_of(data, role) for role in ("real", "holdout"))
    who, where = ("people", "tables") if data.tables.real.linked else ("rows of people", "table")
    of, beside = (who if n is None else f"{n:,} {who}" for n in (members, strangers))
    if people_in(data.tables.real) != members:
        of, beside = (size_of(data, role, "people") for role in ("real", "holdout"))
    of += f" in the real {where}"
    compared = (
        f"{of} beside {beside} who were not in the training data"
        if order.has_holdout(data)
        else f"{of}, without people who were not in the training data"
    )
    day = f" on {data.started[:10]}" if data.started else ""
    return f"By divulge {data.divulge}{day}, seed {data.settings.seed}: {compared}. Preconditions: {told.preconditions}"


def _answer(tile: Tile) -> str:
    return f"{formatting.capitalized(state_words(tile.state))}. {tile.sentence}".strip()


def _limit(data: Assessment) -> str:
    """Return what the limit stands for, and who set it."""
    usual = data.settings.acceptable == ACCEPTABLE
    who = "the usual one of divulge, which nobody set for this table" if usual else "set by whoever made the run"
    accepted = [
        f" {a.attack}: up to {100 * a.limit:g}% accepted by {formatting.prose(a.by, 80)} on {a.on} ({a.known})."
        for a in (data.policy.accepted if data.policy else ())
    ]
    return (
        f"{100 * data.settings.acceptable:g}% of members, {who}. A table is cleared where every main test excludes "
        f"that an attack reaches more of them than that beyond chance. No law names a number.{''.join(accepted)}"
    )


def _not_covered(data: Assessment, told: FirstPage) -> str:
    columns = [n.column for n in data.verdict.not_compared]
    silent = f" Not compared with anything: {quoted(columns, _MANY)}." if columns else ""
    return (
        f"{told.not_tested}{silent} Attacks that are not known today, other tables that are released, and the model "
        "that made the table."
    )
