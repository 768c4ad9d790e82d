"""Linked tables as three tables of people, for a run that attacks people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from divulge.case.case import Case
from divulge.case.relational.people import people_of
from divulge.case.relational.persons import Persons
from divulge.core.errors import SettingError
from divulge.measures.linked.tables import linked_tables
from divulge.run.planning.options import Attacker, Reading, RunOptions
from divulge.tables.counting import COUNTING

__all__ = ["attacker_of_people", "linked_people", "with_persons"]


def linked_people(
    tables: tuple[Any, Any, Any], reading: Reading, options: RunOptions
) -> tuple[tuple[Any, Any, Any], Reading, Persons | None]:
    """Return real, synthetic and holdout with a row for each person, how to read them, and all rows of each person.

    Tables that are no dictionaries come back as they are.

    Raises
    ------
    SettingError
        Some sides are dictionaries and others are not; an engine or a list of ignored columns is named; it is not clear
        which table is that of the people.
    """
    if not any(isinstance(table, Mapping) for table in tables):
        if reading.linked is not None:
            raise SettingError("schema: it describes several tables. hint: pass dictionaries of tables, {name: table}.")
        return tables, reading, None
    if options.engine in COUNTING:
        raise SettingError(
            f"engine: {options.engine} counts one table, and there are several. hint: leave the engine out; "
            "linked tables are read into memory."
        )
    if reading.ignore:
        raise SettingError("ignore: there are several tables. hint: give columns the role 'ignore' in the schema.")
    if reading.schema is not None:
        raise SettingError("schema: it describes one table, and there are several. hint: name their relations.")
    real, synthetic, holdout = tables
    linked = linked_tables(
        real, synthetic, holdout, schema=reading.linked, missing=reading.missing, seed=options.seed, level=options.level
    )
    found = people_of(linked, reading.unit)
    frames = (*found.frames, *[None] * (3 - len(found.frames)))
    return frames, replace(reading, schema=found.schema, unit=found.unit, linked=None), found.persons


def with_persons(case: Case, persons: Persons | None) -> Case:
    """Return the case of people with all their rows."""
    return case if persons is None else replace(case, persons=persons, notes=(*persons.notes, *case.notes))


def attacker_of_people(case: Case, attacker: Attacker) -> Attacker:
    """Return the attacker of linked tables, who wants to learn what people have, not each column made of rows.

    Where no target is named these are the columns of the people, the number of their rows, sums, and whether they ever
    had a rare value.
    """
    if case.persons is None or attacker.targets is not None:
        return attacker
    wanted = tuple(c for c in case.schema.usable() if c in case.persons.targets and c not in (attacker.keys or ()))
    return replace(attacker, targets=wanted) if wanted else attacker
