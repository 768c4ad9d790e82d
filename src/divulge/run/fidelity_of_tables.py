"""`divulge.fidelity` of several tables with relations, and of tables of sequences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from divulge.case.relational.linked import Linked
from divulge.core.errors import SettingError
from divulge.measures.catalogue import all_measures
from divulge.measures.entry import Measure
from divulge.measures.linked.catalogue import linked_measures
from divulge.measures.linked.tables import linked_tables, table_case
from divulge.measures.registry import run_measure
from divulge.measures.result import FidelityResult
from divulge.measures.verdicts import corrected
from divulge.report.fidelity import Fidelity
from divulge.run.cost.expected_cost import made_by_fidelity
from divulge.run.making.progress import Progress

__all__ = ["applies", "fidelity_of_tables"]


def fidelity_of_tables(
    real: Any,
    synthetic: Any,
    holdout: Any = None,
    *,
    measures: Sequence[str] | None,
    models: bool,
    tolerance: float,
    of_one_table: Mapping[str, Any],
    settings: Mapping[str, Any],
    progress: Progress,
) -> Fidelity:
    """Return the measures of relations and sequences, and those of each table, in which families are units.

    p-values are corrected over all measures of relations and sequences together, and within each table over its
    measures: a table without difference has a false "differs" in at most 1 - level of samples.

    Parameters
    ----------
    real, synthetic, holdout
        Dictionaries of tables, or tables of sequences.
    measures, models, tolerance, progress
        As for `divulge.fidelity`.
    of_one_table
        Settings that several tables cannot have: `unit`, `ignore`, `groups`, `targets`.
    settings
        For `linked_tables`.

    Raises
    ------
    SettingError
        A setting of one table is given; no measure has such a name.
    """
    given = [name for name, value in of_one_table.items() if value not in (None, (), [])]
    if given:
        raise SettingError(
            f"{given[0]}: this is a setting of one table without sequences; families are the units here. hint: give "
            "columns the role 'ignore' in the schema, and measure a table with this setting by itself."
        )
    own, others = _chosen(measures, models)
    linked = linked_tables(real, synthetic, holdout, **settings)
    own = own if measures is not None else [m for m in own if applies(m, linked)]
    several = isinstance(real, Mapping)
    total, done = len(own) + len(others) * len(linked.names), 0
    families: list[Sequence[FidelityResult]] = []
    for entry in own:
        progress(entry.name.replace("_", " "), done, total)
        families.append(entry.run(linked, tolerance=tolerance))
        done += 1
    case = linked.case(linked.names[0])
    results = [r for family in corrected(families, case.level) for r in family]
    notes: list[str] = []
    for table in linked.names if others else ():
        alone = table_case(linked, table)
        notes += [f"{table}: {note}" for note in alone.notes]
        found, made = [], tuple(others)
        if measures is None:
            made, late = made_by_fidelity(others, alone, models=models)
            notes += [f"{table}: {note}" for note in late]
        for entry in made:
            progress(f"{entry.name.replace('_', ' ')} of {table}" if several else entry.name, done, total)
            found.append(run_measure(entry, alone, {"tolerance": tolerance}))
            done += 1
        named = [r for family in corrected(found, case.level, [m.share for m in made]) for r in family]
        results += [replace(r, table=table) if several else r for r in named]
    return Fidelity(tuple(results), _told(linked, tolerance), tuple(notes), ())


def applies(entry: Measure, linked: Linked) -> bool:
    """Return whether there is a relation, or a sequence, for a measure of them."""
    if entry.family == "relations":
        return bool(linked.relations)
    schemas = [linked.case(table).schema for table in linked.names]
    return any(s.with_role("sequence") and s.with_role("order") for s in schemas)


def _told(linked: Linked, tolerance: float) -> dict[str, Any]:
    case = linked.case(linked.names[0])

    def rows(role: str) -> int:
        return sum(linked.n_rows(table, role) for table in linked.names) if role in linked.roles else 0

    return {
        "n_real": rows("real"), "n_synthetic": rows("synthetic"), "n_holdout": rows("holdout"),
        "tolerance": tolerance, "level": case.level, "seed": case.seed, "unit": None,
        "tables": list(linked.names), "relations": [str(r) for r in linked.relations],
    }  # fmt: skip


def _chosen(measures: Sequence[str] | None, models: bool) -> tuple[list[Measure], list[Measure]]:
    """Return the measures of relations and sequences, and those of one table, that are wanted."""
    known = (linked_measures(), all_measures())
    if measures is None:
        own, others = ([m for m in group if models or not m.models] for group in known)
        return own, others
    given = [measures] if isinstance(measures, str) else list(measures)
    names = [m.name for group in known for m in group]
    unknown = [name for name in given if name not in names]
    if unknown or not given:
        raise SettingError(
            f"measures: no measure {unknown[0]!r}. hint: there are {', '.join(names)}."
            if unknown
            else "measures: the list is empty. hint: leave it out to take all."
        )
    own, others = ([m for m in group if m.name in given] for group in known)
    return own, others
