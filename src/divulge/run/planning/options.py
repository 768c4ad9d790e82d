"""Options of a run: what the attacker knows and wants, how tables are read, and how the run is made."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np

from divulge.attacks.checks import ACCEPTABLE, LEVEL
from divulge.core.errors import SettingError
from divulge.core.relations import RelationalSchema
from divulge.core.result import Result, jsonable
from divulge.core.schema import Schema, column_names
from divulge.core.threat_model import Actor
from divulge.measures.registry import checked_tolerance
from divulge.measures.result import TOLERANCE
from divulge.report.model import Settings
from divulge.tables.counting import Engine, check_engine
from divulge.tables.folders import relations_in
from divulge.tables.readers import read_schema

__all__ = [
    "MEMBERSHIP",
    "NOBODY",
    "Attacker",
    "Reading",
    "Remade",
    "RunOptions",
    "Search",
    "attacker_of",
    "listed",
    "n_jobs",
]

Search = Literal["default", "full", "off"]

MEMBERSHIP = "membership"
"""The attack that an option leaves out, and that a call makes alone once its scores are known to fit into memory."""
NOBODY = "none"
"""The number of people of a run by an engine that counts alone."""

_FEWEST = 100  # people below whom a sample answers nothing: their intervals are 0.2 wide


@dataclass(frozen=True, slots=True)
class Attacker:
    """What the attacker knows and wants."""

    keys: Sequence[str] | None = None
    """Columns that the attacker knows; None searches for key sets."""
    targets: Sequence[str] | None = None
    """Columns that the attacker wants to learn; None takes all columns that are not keys."""
    subgroups: Sequence[str] = ()
    """Columns whose values define groups of people."""
    actors: tuple[Actor, ...] = ()
    """Actors of the schema file, with the columns that each knows and wants; keys and targets are those of all."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How the tables are read."""

    schema: Schema | None = None
    unit: str | None = None
    """Column of the person or household."""
    ignore: Sequence[str] = ()
    missing: Sequence[str] = ()
    """Texts that stand for missing."""
    linked: RelationalSchema | None = None
    """Of linked tables, in place of a schema."""

    @classmethod
    def of(
        cls, schema: Schema | RelationalSchema | str | PathLike[str] | None, unit: str | None, ignore: Any, missing: Any
    ) -> Reading:
        """Return how tables are read, from arguments as a user gives them; a schema may be the path of its file."""
        if isinstance(schema, str | PathLike):
            schema = relations_in(schema) or read_schema(schema)
        own, linked = (None, schema) if isinstance(schema, RelationalSchema) else (schema, None)
        return cls(own, unit, column_names("ignore", ignore), listed("missing", missing), linked)


@dataclass(frozen=True, slots=True)
class Remade:
    """Some attacks of a run that are made again, beside what the report of that run says of the others."""

    attacks: Sequence[str]
    beside: Sequence[Result]


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of a run; the docstring of `divulge.assess` explains each."""

    search: Search = "default"
    models: bool | None = None
    membership: bool = True
    fidelity: bool = True
    fidelity_models: bool = False
    acceptable: float = ACCEPTABLE
    positive_control: float | None = None
    seed: int = 0
    level: float = LEVEL
    jobs: int = field(default_factory=lambda: n_jobs(None))
    reveal: Sequence[str] = ()
    budget: float | None = None
    people: int | str | None = None
    """Most members, and as many strangers, whom the attacks of `sampled` entries ask; "all" asks everybody, "none"
    nobody where an engine counts, and None as many as fit into memory."""
    keep: str | Path | None = None
    resume: bool = False
    beyond_memory: bool = False
    """Whether to begin although the run is not expected to fit into memory."""
    engine: Engine = "auto"
    """Where the rows are counted, see `divulge.tables.engines`."""
    spill: str | Path | None = None
    """Folder for what does not fit into memory; None is that for temporary files."""
    tolerance: float = TOLERANCE
    """The largest difference of fidelity that does not matter."""
    primary: Sequence[str] | None = None
    """Attacks whose bounds "none found" needs, as a policy fixes them; None takes those of the catalogue."""
    accepted: Mapping[str, float] = field(default_factory=dict)
    """Largest limit that counts as bounded, by attack, where a policy accepts another than `acceptable`."""
    part: Remade | None = None
    """None makes all attacks."""

    @property
    def sample(self) -> int | None:
        """Most people of a sample; None asks everybody."""
        return None if self.people is None or isinstance(self.people, str) else int(self.people)

    def makes(self, attack: str) -> bool:
        """Return whether the user wants an attack made."""
        if self.part is not None:
            return attack in self.part.attacks
        return self.membership or attack != MEMBERSHIP

    def check(self) -> None:
        """Raise a `SettingError` for an option that is not valid."""
        for name in ("acceptable", "jobs", "budget", "people", "positive_control"):
            value = getattr(self, name)
            missing = value is None and name in ("budget", "people", "positive_control")
            if not (_is_number(value) or missing or (name == "people" and value in ("all", NOBODY))):
                raise SettingError(f"{name}: a {type(value).__name__} is no number. hint: see the help of assess.")
        check_engine(self.engine)
        checked_tolerance(self.tolerance)
        if self.search not in ("default", "full", "off"):
            raise SettingError("search: no such search. hint: one of default, full, off.")
        if not set(self.reveal) <= {"values"}:
            raise SettingError('reveal: not a known part. hint: "values" calls subgroups by their values.')
        if not 0 < self.acceptable < 1:
            raise SettingError(f"acceptable: {self.acceptable} is outside (0, 1). hint: 0.05 is the default.")
        if self.jobs < 1:
            raise SettingError(f"jobs: {self.jobs} is below 1. hint: 1 is one thread.")
        n = self.people
        if isinstance(n, int | float | np.number) and not (_FEWEST <= n < inf and n % 1 == 0):
            raise SettingError(f'people: {n:g} is no number of people to ask. hint: {_FEWEST} or more, or "all".')
        if self.budget is not None and not 0 <= self.budget < inf:
            raise SettingError("budget: not a number of seconds from 0 on. hint: 600 is ten minutes.")
        if self.resume and self.keep is None:
            raise SettingError("resume: nothing to go on from. hint: name the folder of finished tests with keep.")


def n_jobs(jobs: int | None) -> int:
    """Return how many tests are made side by side at most: one a processor where none is named."""
    return (os.cpu_count() or 1) if jobs is None else jobs


def attacker_of(keys: Any, targets: Any, subgroups: Any = ()) -> Attacker:
    """Return the attacker whose keys, targets and subgroups are lists of column names, or one name each."""
    known, wanted = (
        None if names is None else column_names(option, names)
        for option, names in (("keys", keys), ("targets", targets))
    )
    return Attacker(known, wanted, column_names("subgroups", subgroups))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def listed(option: str, names: Any) -> tuple[Any, ...]:
    """Return the entries of a list.

    Raises
    ------
    SettingError
        It is one text, or no list.
    """
    if isinstance(names, str | bytes) or not isinstance(names, Iterable):
        raise SettingError(f'{option}: no list of texts. hint: write the texts in brackets: {option}=["..."].')
    return tuple(names)


def stated(
    attacker: Attacker, reading: Reading, options: RunOptions, unit: str | None, *, everybody: bool = False
) -> Settings:
    """Return the settings that the report states; `everybody` says that no number of people was named or needed."""
    told = {
        "seed": options.seed,
        "level": options.level,
        "jobs": options.jobs,
        "acceptable": options.acceptable,
        "search": options.search,
        "models": options.models,
        "people": None if everybody else options.sample,
        "engine": options.engine,
        "keys": list(attacker.keys) if attacker.keys else None,
        "targets": list(attacker.targets) if attacker.targets else None,
        "subgroups": list(attacker.subgroups),
        "unit": unit,
        "ignore": list(reading.ignore),
        "missing": len(tuple(reading.missing)),
    }
    return msgspec.convert(jsonable(told), Settings)
