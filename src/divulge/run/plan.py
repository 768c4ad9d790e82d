"""Which attacks a run makes, with which settings."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from divulge.attacks.inference.inference import UNTAUGHT, WAYS
from divulge.attacks.key_sets import Disclosing, KeySet, ranked_key_sets
from divulge.case.case import Case
from divulge.core.errors import ColumnError, SettingError
from divulge.core.schema import check_columns

Search = Literal["default", "full", "off"]
_KEEP = 20
_TESTS = 3000  # comparisons of a search at most
_INFERRED = 40  # targets that are attacked knowing all other columns, when none are named
_TAUGHT = 3_000_000  # people times targets up to which models are trained without being asked for: about two minutes


@dataclass(frozen=True, slots=True)
class Task:
    """One call of an attack."""

    attack: str
    settings: dict[str, Any]
    in_family: bool = False
    """One of many: its resampling is shared by the family."""


@dataclass
class Plan:
    """What a run is to do."""

    tasks: list[Task]
    key_sets: list[KeySet] = field(default_factory=list)
    minimal: list[Disclosing] = field(default_factory=list)
    described: list[str] = field(default_factory=list)
    """Targets for which the minimal key sets are to be listed, after all tests."""
    notes: list[str] = field(default_factory=list)


def plan_of(
    case: Case,
    keys: Sequence[str] | None,
    targets: Sequence[str] | None,
    subgroups: Sequence[str],
    search: Search,
    models: bool | None,
    jobs: int,
) -> Plan:
    """Return the attacks to run. Keys that are given are tested as they are; else the best sets of a search."""
    usable = case.schema.usable()
    keys = list(keys) if keys else list(case.schema.with_role("key"))
    targets = list(targets) if targets else list(case.schema.with_role("target"))
    check_columns("keys", keys, case.columns)
    check_columns("targets", targets, case.columns)
    check_columns("subgroups", list(subgroups), case.columns)
    if set(keys) & set(targets):
        both = sorted(set(keys) & set(targets))[0]
        raise SettingError(f"targets: {both!r} is among the keys. hint: what is known cannot be the secret.")
    for what, names in (("keys", keys), ("targets", targets)):
        if len(set(names)) < len(names):
            raise SettingError(f"{what}: a column is named twice.")
        away = [c for c in names if {"ignore", "unit"} & set(case.schema[c].roles)]
        if away:
            raise SettingError(f"{what}: {away[0]!r} is also the unit or to be ignored. hint: decide for one.")
    wanted = targets or [c for c in usable if c not in keys]
    tasks = [Task("copies", {}), *_on_rows(case)]
    if not wanted:
        if keys:
            return Plan(
                [*tasks, *_on_keys(case, keys)], notes=["no column is left as a target: attribution was not tested"]
            )
        raise ColumnError(
            "no column can be attacked: all are constant, identifiers, free text, unit or ignored. "
            "hint: `divulge schema` shows why; set kinds there."
        )
    plan = Plan(tasks)
    inferred = wanted if targets or len(wanted) <= _INFERRED else sorted(wanted)[:_INFERRED]
    if len(usable) > 1:
        people = case.n_rows("real") + case.n_rows("holdout")
        taught = models if models is not None else people * len(inferred) <= _TAUGHT
        plan.tasks += [_inference(t, keys, subgroups, WAYS if taught else UNTAUGHT) for t in inferred]
        if models is None and not taught:
            plan.notes.append(
                "inference: no model was trained, as that takes long on tables of this size; models=True asks for it"
            )
    if len(inferred) < len(wanted):
        plan.notes.append(
            f"inference: {len(wanted)} targets are many, and the first {_INFERRED} by name were attacked; "
            "name others as targets"
        )
    if keys:
        plan.tasks += [t for target in wanted for t in _on_pair(case, keys, target)]
        plan.tasks += _on_keys(case, keys)
    elif search != "off" and len(usable) < 2:
        plan.notes.append("only one column can be attacked, and a key set needs another: no key set was tested")
    elif search != "off":
        keep = max(1, min(_KEEP, _TESTS // len(wanted)))
        plan.key_sets, plan.notes = ranked_key_sets(case, wanted, keep=keep, jobs=jobs)
        if keep < _KEEP:
            plan.notes.append(f"{len(wanted)} targets are many: the best {keep} key set(s) of each were tested")
        plan.tasks += [
            Task("cap", {"keys": k.keys, "target": k.target, "unseen": "zero"}, in_family=True) for k in plan.key_sets
        ]
        first = {k.target: k for k in reversed(plan.key_sets)}
        for target in wanted:
            plan.tasks += [Task(a, {"keys": first[target].keys, "target": target}) for a in ("modal_guess", "disco")]
        for keys_of in sorted({k.keys for k in first.values()}):
            plan.tasks += _on_keys(case, keys_of)
    if search == "full" and len(usable) > 1:
        plan.described = wanted
    return plan


def _on_rows(case: Case) -> list[Task]:
    """Return the attacks that compare whole rows by distance; none when no column can be compared."""
    names = (
        "dcr", "nndr", "identical_match_share", "hitting_rate", "authenticity", "epsilon_identifiability", "nnaa",
        "dcr_baseline", "exposure",
    )  # fmt: skip
    n_usable = len(case.schema.usable())
    if n_usable < 2:
        return [Task(name, {}) for name in (*names, "singling_out")] if n_usable else []
    return [Task(name, {}) for name in (*names, "singling_out", "linkability")]


def _inference(target: str, keys: Sequence[str], subgroups: Sequence[str], ways: Sequence[str]) -> Task:
    settings: dict[str, Any] = {"target": target, "subgroups": tuple(subgroups), "ways": tuple(ways)}
    return Task("inference", settings | ({"keys": tuple(keys)} if keys else {}), in_family=True)


def without_models(tasks: Sequence[Task]) -> list[Task]:
    """Return the tasks without those ways of inference that train a model."""
    return [
        dataclasses.replace(t, settings=t.settings | {"ways": UNTAUGHT}) if t.attack == "inference" else t
        for t in tasks
    ]


def _on_pair(case: Case, keys: Sequence[str], target: str) -> Iterator[Task]:
    pair = {"keys": tuple(keys), "target": target}
    for unseen in ("zero", "skip", "nearest"):
        yield Task("cap", pair | {"unseen": unseen})
    for attack in ("modal_guess", "disco", "tcap", "rapid", "abstention", "dcap", "weap", "baseline_cap"):
        yield Task(attack, pair)
    for kind in ("distinct", "entropy", "recursive"):
        yield Task("l_diversity", pair | {"kind": kind})
    yield Task("t_closeness", pair)
    if case.schema[target].kind in ("numeric", "datetime", "integer-coded"):
        yield Task("t_closeness", pair | {"kind": "ordered"})


def _on_keys(case: Case, keys: Sequence[str]) -> list[Task]:
    tasks = [Task("replicated_uniques", {"keys": tuple(keys)}), Task("k_anonymity", {"keys": tuple(keys)})]
    return [*tasks, Task("delta_presence", {"keys": tuple(keys)})] if case.has_holdout else tasks
