"""Actors of a schema file: what each knows and wants in the tables of a run, and the plan that asks for all of them.

A question that several actors ask, of the same keys and targets, is asked once; attacks that no knowledge changes are
made once for all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from msgspec.structs import replace as changed

from divulge.attacks.entry import CATALOGUE
from divulge.case.case import Case
from divulge.core.errors import SettingError
from divulge.core.schema import check_columns
from divulge.core.threat_model import PRESETS, Actor
from divulge.run.planning.options import Attacker, RunOptions
from divulge.run.planning.plan import Plan, Search, Task, best_key_sets, check_level, plan_of
from divulge.tables.databases import in_database
from divulge.tables.many_files import is_several
from divulge.tables.readers import checked_file, columns_in

__all__ = ["actors_in_words", "plan_of_actors", "with_actors"]


def with_actors(case: Case, attacker: Attacker) -> Attacker:
    """Return the attacker with the actors of the schema file, whose keys and targets are columns of the tables.

    Keys are in the order of the real table, so that two actors who know the same ask the same. Keys and targets of the
    attacker are those of all actors together.

    Raises
    ------
    SettingError
        Keys are given beside actors, or an actor knows nothing, wants nothing, or wants what it knows.
    ColumnError
        An actor names a column that the tables lack, or that its population lacks.
    TableError
        The file of an actor's population is not there, or none that is read.
    """
    stated = case.schema.threat.actors
    if not stated or attacker.actors:
        return attacker
    if attacker.keys:
        raise SettingError(
            "keys: the schema file has actors, each with keys of its own. hint: leave --keys out, or write the columns "
            "into an [[actor]]."
        )
    actors = tuple(_resolved(case, actor, attacker.targets) for actor in stated)
    of_keys: dict[tuple[str, ...], int | str] = {}
    for a in actors:
        if a.population is not None and of_keys.setdefault(a.keys or (), a.population) != a.population:
            raise SettingError(
                f"[[actor]] {a.name!r}: another population than of an actor with the same keys. hint: state one."
            )
    keys, targets = ({c for a in actors for c in getattr(a, name) or ()} for name in ("keys", "targets"))
    order = case.columns
    return replace(
        attacker,
        keys=tuple(c for c in order if c in keys),
        targets=tuple(c for c in order if c in targets),
        actors=actors,
    )


def _resolved(case: Case, actor: Actor, wanted: Sequence[str] | None) -> Actor:
    """Return an actor with the columns that it knows and wants, as far as named, else by its preset."""
    where = f"[[actor]] {actor.name!r}"
    for name in ("keys", "targets"):
        check_columns(f"{where}: {name}", getattr(actor, name) or (), case.by_table, case.levels)
    usable = case.schema.usable()
    targets = actor.targets or tuple(wanted or ()) or case.schema.with_role("target")
    keys = actor.keys
    if keys is None:
        keys = tuple(c for c in _known(case, actor, where) if c not in targets)
    targets = targets or tuple(c for c in usable if c not in keys)
    if not keys or not targets:
        what = "knows" if not keys else "wants"
        raise SettingError(
            f'{where}: no column is left that it {what}. hint: name them: keys = ["age"], targets = ["diagnosis"].'
        )
    if both := [c for c in targets if c in keys]:
        raise SettingError(f"{where}: {both[0]!r} is key and target. hint: what is known cannot be the secret.")
    if away := [c for c in (*keys, *targets) if {"ignore", "unit"} & set(case.schema[c].roles)]:
        raise SettingError(f"{where}: {away[0]!r} is also the unit or to be ignored. hint: decide for one.")
    if isinstance(actor.population, int) and actor.population < case.n_people("real"):
        raise SettingError(
            f"{where}: population is smaller than the real table. hint: the number of all people of whom the table is "
            "a part."
        )
    if isinstance(actor.population, str):
        role = f"{where}: population"
        if (there := columns_in(actor.population)) is not None:
            check_columns(role, keys, there)
        elif not is_several(actor.population) and not in_database(actor.population):
            checked_file(Path(actor.population), role)
    return changed(actor, keys=tuple(c for c in case.columns if c in keys), targets=targets)


def _known(case: Case, actor: Actor, where: str) -> tuple[str, ...]:
    """Return the columns that an actor knows by its preset; without a preset those that are marked as keys."""
    marked = case.schema.with_role("key")
    if not actor.preset:
        if marked:
            return marked
        raise SettingError(
            f'{where}: no keys, and no column is marked "key". hint: keys = ["age", "sex"], or preset = "insider".'
        )
    preset = PRESETS[actor.preset]
    if preset.marked and marked:
        return marked
    return tuple(c for c in case.schema.usable() if case.schema[c].kind in preset.kinds)


def plan_of_actors(case: Case, attacker: Attacker, options: RunOptions, search: Search = best_key_sets) -> Plan:
    """Return the plan of a run: that of its attacker, or of all actors, each task once with the names of who asks it.

    Raises
    ------
    SettingError, ColumnError
        As `plan_of`.
    """
    if not attacker.actors:
        return plan_of(case, attacker, options, search)
    plan, tasks = Plan(), dict[str, Task]()
    for actor in attacker.actors:
        alone = replace(attacker, keys=actor.keys, targets=actor.targets, actors=())
        own = plan_of(case, alone, options, search)
        for task in (*own.tasks, *_of_actor(case, actor)):
            key = f"{task.attack} {sorted(task.settings.items())!r}"
            asked = () if CATALOGUE[task.attack].plan.per == "table" else (actor.name,)
            before = tasks[key].actors if key in tasks else ()
            tasks[key] = replace(task, actors=tuple(sorted((*before, *asked))))
        plan.notes += [n for n in own.notes if n not in plan.notes]
        plan.described += [t for t in own.described if t not in plan.described]
        plan.not_run += [n for n in own.not_run if n.attack not in {m.attack for m in plan.not_run}]
    place = {name: i for i, name in enumerate(CATALOGUE)}
    plan.tasks = sorted(tasks.values(), key=lambda t: place[t.attack])
    made = {(t.attack, t.actors[:1]) for t in plan.tasks}
    plan.not_run = sorted((n for n in plan.not_run if n.attack not in plan.attacks), key=lambda n: place[n.attack])
    if case.has_holdout:
        check_level(options.level, sum(CATALOGUE[n].compared + len(CATALOGUE[n].alone) for n, _ in made))
    return plan


def actors_in_words(plan: Plan) -> list[str]:
    """Return how many tests each actor asks, in one sentence; [] where there is one attacker."""
    asked = Counter(name for task in plan.tasks for name in task.actors)
    told = ", ".join(f"{name} {n}" for name, n in asked.items())
    return [f"actors: {told} tests; what several ask is made once"] if asked else []


def _of_actor(case: Case, actor: Actor) -> Iterator[Task]:
    """Yield the attacks that an actor alone asks for: how easily a person is found, and what a lone match says."""
    for name, entry in CATALOGUE.items():
        if entry.plan.for_actors is not None and (case.has_holdout or not entry.compared):
            for settings in entry.plan.for_actors(actor):
                yield Task(name, {"keys": actor.keys, **settings})
