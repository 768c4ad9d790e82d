"""The tables of a comparison: its candidates by label, and the columns that all tables have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from divulge.core.errors import DivulgeError, SettingError, TableError
from divulge.report import formatting
from divulge.tables.frames import Table
from divulge.tables.opening import opened

__all__ = ["Candidate", "Candidates", "linked_candidates", "listed_candidates", "same_columns"]

_LIST = "linked tables are a dictionary of tables on each side (folders, or lists, on the command line)"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One synthetic table of a comparison, or the linked tables of one synthesis."""

    label: str
    given: Any
    """The table, opened; or as it was given where an engine counts it, which is then opened for each use."""
    ignored: tuple[str, ...] = ()
    """Columns that it leaves out so that all tables have the same ones."""
    without: frozenset[str] = frozenset()
    """Columns that it is read without, for the same end: of a sample of people the draw depends on all columns."""

    def table(self, missing: Sequence[str], engine: str) -> Any:
        """Return the table with the columns that it is compared by; linked tables as they are."""
        if isinstance(self.given, Mapping):
            return self.given
        found = opened(self.given, "synthetic", missing, engine)
        kept = tuple(c for c in found.columns if c not in self.without)
        return replace(found, columns=kept, names={c: found.names[c] for c in kept}) if self.without else found


@dataclass(frozen=True, slots=True)
class Candidates:
    """The candidates that can be read, those that cannot, and what is told of columns."""

    tables: tuple[Candidate, ...]
    failed: list[dict[str, str]]
    notes: list[str]
    away: frozenset[str]
    """Columns of people that not all tables have."""


def listed_candidates(candidates: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return label and table of each candidate, one pair for each table, in the order of the labels.

    Raises
    ------
    SettingError
        There are fewer than two, or a label is no text.
    """
    if not isinstance(candidates, Mapping):
        raise SettingError(
            f"candidates: a {type(candidates).__name__} names no table. hint: pass a dictionary, label -> table."
        )
    if any(not isinstance(name, str) or not name.strip() for name in candidates):
        raise SettingError("candidates: a label is empty or no text. hint: name each table.")
    several = ((n, list(t) if isinstance(t, list | tuple) else [t]) for n, t in candidates.items())
    found = [(name, table) for name, tables in several for table in tables]
    if len(found) < 2:
        n = formatting.several(len(found), "table")
        raise SettingError(f"candidates: {n}. hint: two are needed; `divulge assess` takes one.")
    return sorted(found, key=lambda pair: pair[0])  # nothing depends on the order that they came in


def same_columns(
    people: Sequence[Table], given: Sequence[tuple[str, Any]], missing: Sequence[str], ignore: Sequence[str], *,
    engine: str = "auto", asked_again: bool = False, sampled: bool = False,
) -> Candidates:  # fmt: skip
    """Return the candidates with what each must leave out so that all tables have the same columns.

    Parameters
    ----------
    people
        The tables of people, opened.
    given
        Label and table of each candidate.
    missing, ignore
        As in `divulge.assess`.
    engine
        Where the rows are counted.
    asked_again
        Whether each candidate is opened anew when it is used, as its engine holds memory as long as it is open.
    sampled
        Whether a sample of people is asked.

    Raises
    ------
    TableError
        No candidate can be read, or no column is in all tables.
    """
    of_people = set.intersection(*(set(t.columns) for t in people))
    found: list[tuple[str, Any, frozenset[str]]] = []
    failed = []
    for name, table in given:
        try:
            read = opened(table, "synthetic", missing, engine)
        except DivulgeError as error:
            failed.append({"label": name, "why": str(error)})
            continue
        if own := of_people.intersection(read.columns):
            found.append((name, table if asked_again else read, frozenset(own)))
        else:
            failed.append({"label": name, "why": "the table has no column in common with the people's tables."})
    if not found:
        raise TableError(f"candidates: none can be read. The first: {failed[0]['why']}")
    shared = of_people.intersection(*(own for *_, own in found))
    if not shared:
        raise TableError("candidates: no column is in all tables. hint: columns are matched by name; rename them.")
    away = sorted(of_people - shared)
    lacking = formatting.several(len(away), "column")
    notes = [f"{lacking} that not all tables have were left out for all: {', '.join(away[:10])}"]
    return Candidates(
        tuple(Candidate(name, table, without=own - shared) if sampled else
              Candidate(name, table, tuple(sorted(own - shared - set(ignore))))
              for name, table, own in found), failed, notes if away else [], frozenset(away),
    )  # fmt: skip


def linked_candidates(
    people: Mapping[str, Any], given: Sequence[tuple[str, Any]], missing: Sequence[str]
) -> tuple[dict[str, Any], Candidates]:
    """Return the tables of people and the candidates, opened; None where each side is one table.

    A candidate that lacks a table, or a column, fails when its turn comes.

    Parameters
    ----------
    people
        Linked tables by role: real, and holdout where there is one.
    given
        Label and tables of each candidate.
    missing
        As in `divulge.assess`.

    Raises
    ------
    SettingError
        One side is several tables, and another is one.
    TableError
        No candidate can be read.
    """
    sides = [*people.items(), *((f"candidates: {name!r}", tables) for name, tables in given)]
    alone = [who for who, tables in sides if not isinstance(tables, Mapping)]
    if alone:
        several = next(who for who, tables in sides if isinstance(tables, Mapping))
        raise SettingError(
            f"{alone[0]}: this is one table, and {several.removeprefix('candidates: ')} is several. hint: {_LIST}."
        )
    here = {role: _all_opened(tables, role, missing) for role, tables in people.items()}
    found, failed = [], []
    for name, tables in given:
        try:
            found.append(Candidate(name, _all_opened(tables, "synthetic", missing)))
        except DivulgeError as error:
            failed.append({"label": name, "why": str(error)})
    if not found:
        raise TableError(f"candidates: none can be read. The first: {failed[0]['why']}")
    return here, Candidates(tuple(found), failed, [], frozenset())


def _all_opened(tables: Mapping[str, Any], role: str, missing: Sequence[str]) -> dict[str, Table]:
    return {str(name): opened(table, f"{role} table {str(name)!r}", missing) for name, table in tables.items()}
