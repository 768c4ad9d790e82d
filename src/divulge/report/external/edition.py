"""The external edition: the part of the custodian's assessment that a recipient of the synthetic table may read.

It is built field by field: a field that is not named here, such as one of a later version, is left out.

Numbers. Each is made of counts as shown, of settings, or of the synthetic table alone, or it is withheld: the
field of the model says which (`published`). Left out are records, hashes of real and holdout, the command, the
machine, curves, groups, p-values, the numbers of fidelity, positive control and change, and notes and settings that
this version does not know.

Counts. Sizes and counts are the nearest multiples of 5, so that five values are behind each; where people have
several rows, the multiple is 5 times these. A count below 13 is withheld, and so is one that leaves fewer than 13 of
its n: at least ten values are behind it. Where one side of a comparison is withheld, so is what follows from it. The
limits of risk hold for every count that would be shown, or withheld, in the same way, with Bonferroni over the
comparisons of the attack. Where rows, guesses or several rows of a person are counted, the only limits are those that
the verdict states. Parts that add up to a number that is shown are withheld, and of rows by their nearest person the
second count is the rest of the first.

Decisions. Verdicts and other decisions are the custodian's. Where a verdict beside the counts would leave fewer
values possible (`narrowing`), the verdict stays and the counts go.

Names. Columns are "column 1", "column 2" in the order of the schema, unless `reveal` names "columns". Lists in
alphabetical order are put into the order of the schema. Sentences are written again from the numbers shown here, or
are those of `known_sentences` without their numbers and with the quoted parts replaced: a column may have any other
of their words as its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from divulge.core.errors import SettingError
from divulge.core.threat_model import TABLES, Actor, Threat, questions
from divulge.measures.registry import REGISTRY
from divulge.report.control_model import PositiveControl
from divulge.report.external import fidelity
from divulge.report.external.known_sentences import is_ours
from divulge.report.external.masking import Names, masked
from divulge.report.external.policy import policy
from divulge.report.external.published import published
from divulge.report.external.results import result
from divulge.report.external.rounding import digits, size, step_of_rows
from divulge.report.external.sentences import NUMBER, numberless, read_why
from divulge.report.external.source import CHECKS, Compared, Source, numbers
from divulge.report.external.verdict import overall
from divulge.report.model import (
    NOT_TESTED,
    UNTESTED,
    Assessment,
    Column,
    Failure,
    KeySet,
    LinkedTable,
    MinimalKeySet,
    NotTested,
    ResultRecord,
    Settings,
    Table,
    Tables,
)
from divulge.report.policy_model import Change, Changed
from divulge.report.prose.change import change_sentence

__all__ = ["REVEALS", "checked_reveal", "external", "in_schema_order", "masked"]

REVEALS = ("columns",)
"""What an external edition can be asked to show."""

_BINS = re.compile(rf"(?:\d+|{NUMBER}) [a-z -]*bins?[a-z ,-]*|")
_REACH = "with "
"""Begin of the note on how small a risk a run of this size can find: without its numbers it says nothing."""


def external(data: Assessment, *, reveal: Sequence[str] = ()) -> Assessment:
    """Return the external edition of an assessment.

    Parameters
    ----------
    data
        The custodian's assessment, or an external edition: its column names can be removed, and its numbers stay or
        become coarser.
    reveal
        Any of `REVEALS`: "columns" keeps the names of columns.

    Raises
    ------
    SettingError
        `reveal` names something else, or the assessment is an external edition that lacks it.

    Examples
    --------
    >>> import divulge, polars as pl
    >>> people = pl.DataFrame({"age": [30, 40, 50] * 20, "ill": ["yes", "no"] * 30})
    >>> report = divulge.assess(people, people, holdout=people, keys=["age"], targets=["ill"], models=False)
    >>> data = external(report.assessment)
    >>> data.settings.keys, data.records, data.tables.real.sha256
    (('column 1',), None, None)
    """
    shown = checked_reveal(reveal)
    gone = [s for s in shown if s not in data.revealed]
    if data.edition == "external" and gone:
        raise SettingError(
            f"reveal: this is an external edition that does not hold {', '.join(gone)}. hint: start from the "
            "custodian's assessment.json."
        )
    tables = [t.name for t in data.tables.synthetic.linked]
    names = Names.of([c.name for c in data.schema], reveal="columns" in shown, tables=tables)
    return published(_made(Source(in_schema_order(data), names), shown))


def in_schema_order(data: Assessment) -> Assessment:
    """Return the assessment with lists that may be in the order of names or scores put into the order of the schema.

    The lists are results, their column sets, key sets and comparisons with a previous run. Attacks and variants keep
    their order.

    Examples
    --------
    >>> import divulge, polars as pl
    >>> people = pl.DataFrame({"b": [30, 40, 50] * 20, "a": ["yes", "no"] * 30})
    >>> data = divulge.assess(people, people, holdout=people, models=False).assessment
    >>> list(dict.fromkeys(r.target for r in in_schema_order(data).results if r.target))
    ['b', 'a']
    """
    order = _Order({c.name: i for i, c in enumerate(data.schema)})
    change = data.change
    return replace(
        data,
        results=tuple(order.sets(r) for r in order.ordered(data.results)),
        key_sets=tuple(sorted(data.key_sets, key=order.of_key_set)),
        minimal_key_sets=tuple(sorted(data.minimal_key_sets, key=order.of_minimal)),
        change=change and replace(change, comparisons=tuple(order.ordered(change.comparisons))),
    )


Row = TypeVar("Row", bound=Compared)


@dataclass(frozen=True)
class _Order:
    """The order of the schema."""

    place: dict[str, int]

    def where(self, keys: Iterable[str], target: str | None) -> tuple[int, list[int]]:
        n = len(self.place)
        return -1 if target is None else self.place.get(target, n), sorted(self.place.get(k, n) for k in keys)

    def of_key_set(self, k: KeySet) -> tuple[Any, ...]:
        target, keys = self.where(k.keys, k.target)
        return target, len(keys), keys

    def of_minimal(self, m: MinimalKeySet) -> tuple[Any, ...]:
        target, keys = self.where(m.keys, m.target)
        return target, len(m.keys), keys

    def ordered(self, rows: Sequence[Row]) -> list[Row]:
        attacks = {a: i for i, a in enumerate(dict.fromkeys(r.attack for r in rows))}
        # of the same columns they stay as they were made, so that an edition of the edition has the same order
        return sorted(rows, key=lambda r: (attacks[r.attack], self.where(r.keys, r.target)))

    def sets(self, r: ResultRecord) -> ResultRecord:
        """Return a result, with the column sets of singling out in order."""
        if r.attack != "singling_out":
            return r
        names = Names.of(self.place, reveal=False)
        return replace(r, groups=tuple(sorted(r.groups, key=lambda g: numbers(names.joined(g.name) or ""))))


def checked_reveal(reveal: Sequence[str]) -> list[str]:
    """Return the parts to show, each once and in a fixed order; raise a `SettingError` for anything else."""
    given = [reveal] if isinstance(reveal, str) else list(reveal)
    if "values" in given:
        raise SettingError(
            "reveal: values of subgroups are data, and no external edition shows them. hint: 'columns' shows the names "
            "of columns; values are in the custodian's edition of a run with --reveal values."
        )
    if not set(given) <= set(REVEALS):
        raise SettingError(f"reveal: not a known part. hint: any of {', '.join(REVEALS)}.")
    return [r for r in REVEALS if r in given]


# ---------------------------------------------------------------- the whole


def _made(s: Source, shown: Sequence[str]) -> Assessment:
    d = s.data
    results = tuple(result(s, r) for r in d.results)
    controls = tuple(_control(s, c) for c in d.positive_control)
    change = _change(s)
    return Assessment(
        format=d.format,
        divulge=d.divulge,
        command="",
        edition="external",
        revealed=tuple(shown),
        settings=_settings(s),
        started=d.started,
        seconds=float(round(d.seconds)),
        verdict=overall(s, results),
        tables=_tables(s),
        schema=tuple(_column(s, c) for c in d.schema),
        preconditions=tuple(
            replace(published(c), detail=s.sentence(c.detail)) for c in d.preconditions if c.check in CHECKS
        ),
        results=results,
        key_sets=tuple(
            KeySet(keys=s.of(k.keys), target=s.names.name(k.target), share=_alone(s, (*k.keys, k.target), k.share))
            for k in d.key_sets
        ),
        minimal_key_sets=tuple(_minimal(s, m) for m in d.minimal_key_sets),
        records=None,
        facts=None,
        positive_control=controls,
        failed=tuple(Failure(attack=f.attack, why=_failure(s, f.why)) for f in d.failed),
        left_out=tuple(replace(o, why=s.sentence(o.why)) for o in d.left_out),
        not_run=tuple(replace(o, why=s.sentence(o.why)) for o in d.not_run),
        fidelity=fidelity.results(s),
        fidelity_scope=fidelity.scope(s),
        policy=policy(s, results, controls, change),
        change=change,
        claim=None if d.claim is None else published(d.claim),
        not_tested=tuple(_untested(s, n) for n in d.not_tested),
        threat=_threat(s),
        versions=dict(d.versions),
        machine="",
        attacks=dict(d.attacks),
        notes=tuple(numberless(s.names.note(n)) for n in d.notes if is_ours(n) and not n.startswith(_REACH)),
    )


def _failure(s: Source, why: str) -> str:
    """Return why an attack failed, without the columns on which it failed."""
    known = re.fullmatch(r"(\w+) inside the attack \(.*\); please report it", why, re.DOTALL)
    return f"{known[1]} inside the attack; please report it" if known else s.sentence(why)


# ---------------------------------------------------------------- tables, columns, settings


def _tables(s: Source) -> Tables:
    t = s.data.tables
    return Tables(
        real=_table(s, t.real, "real"),
        synthetic=_table(s, t.synthetic, "synthetic"),
        holdout=None if t.holdout is None else _table(s, t.holdout, "holdout"),
    )


def _table(s: Source, t: Table, role: str) -> Table:
    if s.made or role == "synthetic":
        linked = tuple(replace(own, name=s.names.name(own.name), file="") for own in t.linked)
        return replace(t, file="", linked=linked)
    rows = s.size(t.rows)
    return Table(
        rows=rows,
        columns=t.columns,
        sha256=None,
        hashed=t.hashed,
        missing=None,  # cells, of which one person has several
        repeated=s.count(t.repeated, rows),
        units=size(t.units),
        linked=tuple(_linked(s, own) for own in t.linked),
    )


def _linked(s: Source, t: LinkedTable) -> LinkedTable:
    """Return a linked table; its rows are rounded by as many as one person may have there."""
    rows = size(t.rows, step_of_rows(t.longest or 1))
    return published(replace(t, name=s.names.name(t.name), file="", rows=rows, people=s.size(t.people)))


def _column(s: Source, c: Column) -> Column:
    bins, _, _ = c.bins.partition(", and")  # neither how many values are no number, nor whether any is
    return Column(
        name=s.names.name(c.name),
        kind=c.kind,
        roles=c.roles,
        why=read_why(c.why, c.kind),
        bins=re.sub(r"\d+", NUMBER, bins) if _BINS.fullmatch(bins) else "",
    )


def _settings(s: Source) -> Settings:
    given = s.data.settings
    return replace(
        given,
        keys=None if given.keys is None else s.of(given.keys),
        targets=None if given.targets is None else s.of(given.targets),
        subgroups=s.of(given.subgroups),
        ignore=s.of(given.ignore),
        unit=s.target(given.unit),
    )


# ---------------------------------------------------------------- further parts


def _untested(s: Source, n: NotTested) -> NotTested:
    if (n.what, n.question) in {known[1:] for known in NOT_TESTED} or UNTESTED.get(n.what) == n.question:
        return n
    return NotTested(what=s.names.prose(n.what), question=s.names.prose(n.question))


def _alone(s: Source, columns: Sequence[str], value: float | None) -> float | None:
    """Return a number of the synthetic table, unless the bins of a column make it one of real and holdout too."""
    return digits(value) if s.made or s.alone(columns) else None


def _minimal(s: Source, m: MinimalKeySet) -> MinimalKeySet:
    n = s.rows("real")
    found = m.n_disclosed if s.made else s.count(m.n_disclosed, n)
    return MinimalKeySet(
        keys=s.of(m.keys),
        target=s.names.name(m.target),
        n_disclosed=found,
        share=None if found is None or not n else round(found / n, 4),
        synthetic_share=_alone(s, (*m.keys, m.target), m.synthetic_share),
    )


def _control(s: Source, c: PositiveControl) -> PositiveControl:
    """Return a positive control: its verdict and the comparisons that found the plant, without their numbers.

    The numbers are differences of two runs with nearly the same people.
    """
    found = [replace(f, attack=s.worded(f.attack)) for f in c.found]
    return published(
        replace(
            c,
            found=tuple(sorted(found, key=lambda f: _by_label(f.attack))),
            people=None,
            attacks=(),
            method=s.sentence(c.method),
            note=s.sentence(c.note),
        )
    )


def _by_label(label: str) -> tuple[str, list[int]]:
    return label.partition(":")[0], numbers(label)


def _change(s: Source) -> Change | None:
    """Return what changed, in words: the numbers of the previous edition are not known here."""
    c = s.data.change
    if c is None:
        return None
    rows = tuple(_changed(s, r) for r in c.comparisons)
    same_people = c.same_people or c.previous_edition == "external"
    sentence = change_sentence(rows, c.verdict, c.previous_started, same_people, outside=True)
    kept = tuple(
        replace(f, measure=_of_table(s, f.measure) if f.measure not in REGISTRY else f.measure)
        for f in published(c).fidelity
    )
    return replace(c, comparisons=rows, sentence=sentence, fidelity=kept)


def _of_table(s: Source, measure: str) -> str:
    """Return a measure of one of several tables, with the name of the table here."""
    name, of, table = measure.partition(" of ")
    return f"{s.names.text(name)}{of}{s.table(table)}"


def _changed(s: Source, r: Changed) -> Changed:
    return replace(published(r), variant=s.variant(r), keys=s.of(r.keys), target=s.target(r.target))


def _threat(s: Source) -> Threat:
    parts = {
        table: {
            key: [numberless(s.names.prose(text)) for text in texts]
            for key, texts in msgspec.structs.asdict(getattr(s.data.threat, table)).items()
        }
        for table in TABLES
    }
    actors = tuple(_actor(s, a) for a in s.data.threat.actors)
    return replace(msgspec.convert(parts, Threat), actors=actors, claim=s.data.threat.claim)


def _actor(s: Source, a: Actor) -> Actor:
    """Return an actor with the names of columns here; a population is told by its number alone."""
    texts = {key: tuple(numberless(s.names.prose(t)) for t in getattr(a, key)) for key in questions("attacker")}
    keys, targets = (None if names is None else s.of(names) for names in (a.keys, a.targets))
    population = a.population if isinstance(a.population, int) else None
    return replace(
        a, **texts | {"name": s.names.prose(a.name), "keys": keys, "targets": targets, "population": population}
    )
