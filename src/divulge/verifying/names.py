"""Names, numbers of people and lists of a report that its other parts know too."""

from __future__ import annotations

from collections.abc import Iterator

from divulge.attacks.copying.another_column import ANOTHER_COLUMN as RENAMED
from divulge.attacks.entry import CATALOGUE
from divulge.core.result import identity, label
from divulge.measures.linked.catalogue import linked_measures
from divulge.measures.registry import REGISTRY
from divulge.measures.verdicts import judged
from divulge.report.external.masking import ANOTHER_COLUMN
from divulge.report.first_page import metrics
from divulge.report.model import Assessment
from divulge.verifying.numbers import close

__all__ = ["faults_of_names"]


def faults_of_names(data: Assessment) -> Iterator[str]:
    """Yield a sentence for each name that nothing else in the report knows, and each list that cannot be one."""
    columns = {c.name for c in data.schema}
    yield from _of_settings(data, columns)
    yield from _of_results(data, columns)
    yield from _of_lists(data)
    yield from _of_measures(data, columns)
    yield from _of_people(data)


def _of_settings(data: Assessment, columns: set[str]) -> Iterator[str]:
    known = columns | set(data.verdict.without_strangers) | {n.column for n in data.verdict.not_compared}
    s = data.settings
    if {*(s.keys or ()), *(s.targets or ()), *s.subgroups} - known:
        yield "settings: a column that the schema has not"
    if len(columns) < len(data.schema):
        yield "schema: a column stands twice"
    for role, table in data.tables.by_role().items():
        if table is None:
            continue
        if table.sha256 is not None and (len(table.sha256) != 64 or set(table.sha256) - set("0123456789abcdef")):
            yield f"tables.{role}.sha256: no sha256"
        if table.rows is not None and (table.repeated or 0) > table.rows:
            yield f"tables.{role}.repeated: more than rows"
        if not 0 <= (table.missing or 0.0) <= 1:
            yield f"tables.{role}.missing: no share"


def _of_results(data: Assessment, columns: set[str]) -> Iterator[str]:
    known = columns | set(data.verdict.without_strangers) | {n.column for n in data.verdict.not_compared}
    tables = {t.name for t in data.tables.real.linked or ()}
    known |= {ANOTHER_COLUMN} if tables else set()
    for i, r in enumerate(data.results):
        unknown = {k for k in r.keys if k not in known and k not in tables and k.partition(".")[0] not in tables}
        if r.variant.startswith(RENAMED):  # of a column that the synthetic table lacks, and so the schema
            unknown = set()
        if unknown or (r.target is not None and r.target not in known):
            yield f"results[{i}] ({r.attack}): a column that the schema has not"
    told = [identity(r) for r in data.results if ANOTHER_COLUMN not in r.keys]
    if len(set(told)) < len(told):
        yield "results: one comparison stands twice"
    for i, b in enumerate(data.verdict.bounds):
        primary = CATALOGUE[b.attack].primary if b.attack in CATALOGUE else None
        words = "" if primary is None else primary.words
        if b.words not in (words, f"{words} ({b.variant})", label(b)):
            yield f"verdict.bounds[{i}] ({b.attack}): words: not those of the comparison"


def _of_lists(data: Assessment) -> Iterator[str]:
    run = {r.attack for r in data.results}
    for name, given in (("not_run", [o.attack for o in data.not_run]),):
        if set(given) & run or set(given) - set(CATALOGUE):
            yield f"{name}: an attack that ran, or that this version has not"
    checks = [c.check for c in data.preconditions]
    if len(set(checks)) < len(checks):
        yield "preconditions: one stands twice"


def _of_measures(data: Assessment, columns: set[str]) -> Iterator[str]:
    of_relations = {m.name: m for m in linked_measures()} if data.tables.real.linked else {}
    measures = REGISTRY | of_relations
    for i, r in enumerate(data.fidelity):
        where = f"fidelity[{i}] ({r.measure if r.measure in measures else 'unknown'})"
        if r.measure not in measures:
            yield f"{where}: no measure of this version"
        if not r.table and r.measure not in of_relations and set(r.columns) - columns:
            yield f"{where}: a column that the schema has not"
        if r.value is not None and r.rows_needed != judged(r, data.settings.level).rows_needed and not r.notes:
            yield f"{where}: rows_needed: does not follow from its numbers"
        whole = not r.columns  # of which it is the smallest over the columns, and its own p-value that of their mean
        if not whole and r.p_value is not None and r.p_adjusted is not None and r.p_adjusted < r.p_value - 1e-9:
            yield f"{where}: p_adjusted: below p_value"
        if (
            not whole
            and r.measure not in of_relations  # theirs are corrected by how all measures fall together
            and r.p_low_tail is not None
            and r.p_low_tail_adjusted is not None
            and r.p_low_tail_adjusted < r.p_low_tail - 1e-9
        ):
            yield f"{where}: p_low_tail_adjusted: below p_low_tail"
        fresh = r.fresh_sample
        if fresh is not None and fresh.low > fresh.high:
            yield f"{where}: fresh_sample: its limits are not in order"
        if r.low is not None and r.high is not None and r.low > r.high:
            yield f"{where}: its limits are not in order"
        held = r.holdout
        fresh = None if held is None else held.fresh_sample
        if held is None or fresh is None or not fresh.mean or held.ruler is None or held.value is None:
            continue
        if not close(held.ruler, held.value / fresh.mean):
            yield f"{where}: holdout.ruler: not the value over that of a fresh sample"
    scope = data.fidelity_scope
    for i, n in enumerate(scope.not_measured if scope else ()):
        if n.measure not in measures or n.question != measures[n.measure].question:
            yield f"fidelity_scope.not_measured[{i}]: not a measure of this version, or not its question"


def _of_people(data: Assessment) -> Iterator[str]:
    """Yield which counts of people whose whole record is copied are not those of the attack that looks for them."""
    rows = data.tables.by_role()
    if data.tables.real.units is not None or data.sampling is not None:
        return
    told = metrics(data)
    facts = None if data.facts is None else data.facts.verbatim
    members, strangers = (None, None) if facts is None else (facts.members, facts.strangers)
    of_records = None if data.records is None else data.records.copied
    counts = {"members_copied": ("real", (members, of_records)), "strangers_copied": ("holdout", (strangers, None))}
    for name, (role, (verbatim, copied)) in counts.items():
        table, share = rows[role], told.get(name)
        if share is None or table is None or not table.rows:
            continue
        if verbatim is not None and not close(verbatim / table.rows, share):
            yield f"facts.verbatim: not the people of the {role} table whose whole record is copied"
        if copied is not None and not close(copied / table.rows, share):
            yield "records.copied: not the members whose whole record is copied"
