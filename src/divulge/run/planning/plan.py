"""The plan of a run: which attacks it makes with which settings, and why it does not make the others."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice
from typing import Any

from divulge.attacks.checks import highest_level
from divulge.attacks.entry import CATALOGUE, UNTAUGHT, WAYS, Attack
from divulge.attacks.entry import Plan as EntryPlan
from divulge.attacks.key_sets import ranked_key_sets
from divulge.case.case import Case
from divulge.core.errors import ColumnError, SettingError
from divulge.core.records import KeySet, MinimalKeySet
from divulge.core.schema import check_columns
from divulge.report.external.rounding import at_least, step_of
from divulge.report.model import NotRun
from divulge.run.planning.options import Attacker, RunOptions
from divulge.stats import LEAST_P
from divulge.tables.counting import COUNTING

__all__ = ["Plan", "Search", "Task", "best_key_sets", "check_level", "first_key_sets", "plan_of", "without_models"]

Search = Callable[[Case, Sequence[str], int, int], tuple[list[KeySet], list[str]]]
"""Takes case, targets, how many key sets to keep of each and threads; returns the key sets and notes."""

_KEEP = 20  # key sets tested for each target; start value, not calibrated
# Comparisons of key sets of a search at most: a limit on the time, and no more than there are people to tell so many
# tests apart by; start values, not calibrated.
_TESTS = 3000
_SCORES = 5 * 10**8  # of all tests of a search where an engine counts, 8 bytes each; a limit on the memory
_INFERRED = 40  # targets attacked with all other columns known, if none are named; a limit on the time, not calibrated
# People times targets up to which models are trained by default: about two minutes. A million people of Adult take an
# hour (docs/decisions/attacks.md).
_TAUGHT = 3_000_000

_ONE_COLUMN = "fewer columns can be attacked than it needs"
_NO_KEYS = "no keys were given: it is made for keys and targets that are named"
_NO_KEY_SET = "no keys were given, and no key set was searched for"
_TOO_MANY = "no key set was searched for: too many people for the scores of so many targets; name keys or targets"
_NO_TARGET = "no column is left as a target"
_AS_ASKED = "whoever ran the assessment left it out"
_NO_STRANGERS = "it needs a holdout"


@dataclass(frozen=True, slots=True)
class Task:
    """One call of an attack."""

    attack: str
    settings: dict[str, Any]
    in_family: bool = False
    """Whether it is one of a family of tests that are resampled together."""
    actors: tuple[str, ...] = ()
    """Names of the actors who ask it, sorted; its families are those of the first. () where there is one attacker, or
    where it is made once for all."""


@dataclass
class Plan:
    """The tasks of a run, and the attacks it does not make."""

    tasks: list[Task] = field(default_factory=list)
    key_sets: list[KeySet] = field(default_factory=list)
    minimal: list[MinimalKeySet] = field(default_factory=list)
    described: list[str] = field(default_factory=list)
    """Targets for which the run lists the minimal key sets after all tests."""
    notes: list[str] = field(default_factory=list)
    not_run: list[NotRun] = field(default_factory=list)
    """Attacks of the catalogue without a planned test, and why there is none."""
    uncounted: list[str] = field(default_factory=list)
    """Attacks that were planned, and are not made where an engine counts the tables."""

    @property
    def attacks(self) -> list[str]:
        """Names of the planned attacks, one for each call."""
        return [t.attack for t in self.tasks]

    @property
    def n_compared(self) -> int:
        """Number of planned attacks that compare members with strangers; those of each actor count by themselves."""
        return sum(CATALOGUE[name].compared for name, _ in {(t.attack, t.actors[:1]) for t in self.tasks})

    def leave_out(self, why: Mapping[str, str]) -> None:
        """Take all tasks of some planned attacks out, and list each with the reason among those not made."""
        out = {name: reason for name, reason in why.items() if name in self.attacks}
        self.tasks = [t for t in self.tasks if t.attack not in out]
        self.uncounted += out
        self.not_run += [NotRun(attack=name, why=reason) for name, reason in out.items()]
        order = list(CATALOGUE)
        self.not_run.sort(key=lambda one: order.index(one.attack))


@dataclass(frozen=True, slots=True)
class _Columns:
    """The columns by their role in the attacks."""

    usable: Sequence[str]
    keys: Sequence[str]
    """Keys that were given or marked in the schema; empty where key sets are to be searched."""
    wanted: Sequence[str]
    """Targets."""
    inferred: Sequence[str]
    """Targets that are attacked with all other columns known."""


def best_key_sets(case: Case, targets: Sequence[str], keep: int, jobs: int) -> tuple[list[KeySet], list[str]]:
    """Return the best key sets of a search by the synthetic table, and notes."""
    return ranked_key_sets(case, targets, keep=keep, jobs=jobs)


def first_key_sets(case: Case, targets: Sequence[str], keep: int, jobs: int) -> tuple[list[KeySet], list[str]]:
    """Return as many key sets as a search keeps, without looking at a table; the first of each target are all other."""
    names = sorted(case.schema.usable())
    out = []
    for target in targets:
        place = names.index(target) if target in names else 0
        others = [n for n in names[place:] + names[:place] if n != target]
        sets = (keys for size in range(1, 4) for keys in combinations(others, size))
        out += [KeySet(keys=keys, target=target, share=0.0) for keys in islice(sets, keep)]
    return out, []


def plan_of(case: Case, attacker: Attacker, options: RunOptions, search: Search = best_key_sets) -> Plan:
    """Return the plan of a run. Given keys are tested as they are; without keys the best key sets of a search are.

    Parameters
    ----------
    case, attacker, options
        Of the run.
    search
        What finds key sets where none are given.

    Raises
    ------
    SettingError, ColumnError
        The level is too high for the number of attacks. The tables lack a column, a column is named for two purposes,
        or no column can be attacked.
    """
    columns = _columns(case, attacker)
    plan = Plan()
    if columns.wanted or columns.keys:
        _notes_on_targets(case, columns, options, plan)
    else:
        raise ColumnError(
            "no column can be attacked: all are constant, identifiers, free text, unit or ignored. "
            "hint: `divulge schema` shows why; set kinds there."
        )
    if not columns.keys and columns.wanted:
        _search(case, columns, options, plan, search)
    tasks = _tasks(case, columns, attacker, options, plan.key_sets)
    plan.tasks = [t for t in tasks if options.makes(t.attack)]
    if options.search == "full" and len(columns.usable) > 1 and columns.wanted:
        plan.described = list(columns.wanted)
    made = {t.attack for t in plan.tasks}
    if case.has_holdout:
        check_level(options.level, sum(CATALOGUE[name].compared + len(CATALOGUE[name].alone) for name in made))
    plan.not_run = [
        NotRun(attack=name, why=_why_not(case, entry, columns) if options.makes(name) else _AS_ASKED)
        for name, entry in CATALOGUE.items()
        if name not in made
    ]
    return plan


def check_level(level: float, n_attacks: int) -> None:
    """Raise a `SettingError` if no finding could survive the correction for the number of attacks at this level."""
    highest = highest_level(n_attacks)
    if level > highest + 1e-12:
        raise SettingError(
            f"level: {level:g} is too high for {n_attacks} attacks: a p-value by permutation is at least {LEAST_P:g}, "
            f"so that nothing could be found after correction for their number. hint: {highest:g} is the highest here."
        )


def without_models(tasks: Sequence[Task]) -> list[Task]:
    """Return the tasks without the ways of inference that train a model."""
    return [
        dataclasses.replace(t, settings=t.settings | {"ways": UNTAUGHT}) if "ways" in t.settings else t for t in tasks
    ]


# ---------------------------------------------------------------- columns


def _columns(case: Case, attacker: Attacker) -> _Columns:
    usable = case.schema.usable()
    keys = list(attacker.keys) if attacker.keys else list(case.schema.with_role("key"))
    targets = list(attacker.targets) if attacker.targets else list(case.schema.with_role("target"))
    check_columns("keys", keys, case.by_table, case.levels)
    check_columns("targets", targets, case.by_table, case.levels)
    check_columns("subgroups", attacker.subgroups, case.by_table, case.levels)
    if set(keys) & set(targets):
        both = sorted(set(keys) & set(targets))[0]
        raise SettingError(f"targets: {both!r} is among the keys. hint: what is known cannot be the secret.")
    for what, names in (("keys", keys), ("targets", targets)):
        if len(set(names)) < len(names):
            raise SettingError(f"{what}: a column is named twice. hint: name it once.")
        away = [c for c in names if {"ignore", "unit"} & set(case.schema[c].roles)]
        if away:
            raise SettingError(f"{what}: {away[0]!r} is also the unit or to be ignored. hint: decide for one.")
    wanted = targets or [c for c in usable if c not in keys]
    inferred = wanted if targets or len(wanted) <= _INFERRED else sorted(wanted)[:_INFERRED]
    return _Columns(usable, keys, wanted, inferred)


def _notes_on_targets(case: Case, columns: _Columns, options: RunOptions, plan: Plan) -> None:
    n = len(columns.wanted)
    if not n:
        plan.notes.append("no column is left as a target: attribution was not tested")
    elif len(columns.usable) > 1 and options.models is None and not _taught(case, columns, options):
        plan.notes.append(
            "inference: no model was trained, as that takes long on tables of this size; models=True asks for it"
        )
    if len(columns.inferred) < n:
        plan.notes.append(
            f"inference: {n} targets are many, and the first {_INFERRED} by name were attacked; name others as targets"
        )


def _taught(case: Case, columns: _Columns, options: RunOptions) -> bool:
    if options.models is not None:
        return options.models
    people = case.n_rows("real") + case.n_rows("holdout")
    return people * len(columns.inferred) <= _TAUGHT


def _search(case: Case, columns: _Columns, options: RunOptions, plan: Plan, search: Search) -> None:
    """Search key sets, unless the search is switched off or there are too few columns."""
    if options.search == "off":
        return
    if len(columns.usable) < 2:
        plan.notes.append("only one column can be attacked, and a key set needs another: no key set was tested")
        return
    n, people = len(columns.wanted), _fewest_people(case)
    scored = sum(min(case.n_rows(r), options.sample or case.n_rows(r)) for r in ("real", "holdout"))
    held = _SCORES // scored if options.engine in COUNTING else _TESTS
    if held < n:
        plan.notes.append(_TOO_MANY)
        return
    keep = max(1, min(_KEEP, min(_TESTS, people, held) // n))
    plan.key_sets, notes = search(case, list(columns.wanted), keep, options.jobs)
    plan.notes += notes
    if keep < _KEEP:
        of = " for so few people" if people < min(_TESTS, held) else " for so many people" if held < _TESTS else ""
        many = f"{n} targets are many{of}"
        sets = "key set of each was" if keep == 1 else f"{keep} key sets of each were"
        plan.notes.append(f"{many}: the best {sets} tested")


def _fewest_people(case: Case) -> int:
    """Return the number of members or of strangers, whichever is smaller, as an external edition would show it.

    That edition tells how many key sets were tested, and must not tell the exact number of people thereby.
    """
    roles = ("real", "holdout") if case.has_holdout else ("real",)
    tables = [(case.n_rows(role), None if case.unit is None else case.n_people(role)) for role in roles]
    step = step_of(tables)
    return min(at_least(rows if units is None else units, step) for rows, units in tables)


# ---------------------------------------------------------------- tasks


def _tasks(
    case: Case, columns: _Columns, attacker: Attacker, options: RunOptions, key_sets: Sequence[KeySet]
) -> Iterator[Task]:
    """Yield the tasks: on whole rows, on targets with all else known, on pairs of keys and target, on keys alone."""
    for entry in _planned(case, columns, "table"):
        yield from (Task(entry.name, dict(call)) for call in entry.plan.calls(case, ""))
    for entry in _planned(case, columns, "target"):
        offered = {
            "subgroups": tuple(attacker.subgroups),
            "ways": WAYS if _taught(case, columns, options) else UNTAUGHT,
            **({"keys": tuple(columns.keys)} if columns.keys else {}),
        }
        taken = {k: v for k, v in offered.items() if k in inspect.signature(entry.run).parameters}
        chosen = entry.plan.chosen(case, columns.inferred)
        yield from (Task(entry.name, {"target": t} | taken, in_family=True) for t in chosen)
    pairs, sets = list(_planned(case, columns, "pair")), list(_planned(case, columns, "key set"))
    if columns.keys:
        keys = tuple(columns.keys)
        for target in columns.wanted:
            yield from (t for a in pairs for t in _on_pair(a.name, keys, target, a.plan.calls(case, target)))
        yield from (Task(a.name, {"keys": keys}) for a in sets)
        return
    first = {k.target: k.keys for k in reversed(key_sets)}
    for entry in pairs:
        if entry.plan.searched == "all":
            for k in key_sets:
                call = next(iter(entry.plan.calls(case, k.target)))
                yield Task(entry.name, {"keys": k.keys, "target": k.target, **call}, in_family=True)
    for target in columns.wanted:
        for entry in pairs:
            if entry.plan.searched == "first" and target in first:
                yield from _on_pair(entry.name, first[target], target, entry.plan.calls(case, target))
    for keys in sorted(set(first.values())):
        yield from (Task(a.name, {"keys": keys}) for a in sets)


def _on_pair(attack: str, keys: tuple[str, ...], target: str, calls: Iterable[Mapping[str, Any]]) -> Iterator[Task]:
    for call in calls:
        yield Task(attack, {"keys": keys, "target": target, **call})


def _planned(case: Case, columns: _Columns, per: str) -> Iterator[Attack]:
    """Yield the attacks of one kind of plan that these tables allow, in the order of the catalogue."""
    for entry in CATALOGUE.values():
        if entry.plan.per == per and entry.plan.for_actors is None and _fits(case, entry, columns):
            yield entry


def _fits(case: Case, entry: Attack, columns: _Columns) -> bool:
    """Return whether an attack has enough columns, strangers and targets; pairs and key sets also need keys."""
    plan = entry.plan
    enough = plan.per == "pair" or len(columns.usable) >= plan.columns
    wanted = bool(columns.wanted) or plan.per not in ("target", "pair")
    fits = enough and wanted and (case.has_holdout or not plan.strangers)
    fits = fits and not (plan.per == "table" and _reason(case, plan, columns))
    return fits and (plan.per != "target" or bool(plan.chosen(case, columns.inferred)))


def _why_not(case: Case, entry: Attack, columns: _Columns) -> str:
    """Return why no test of an attack is planned."""
    plan = entry.plan
    if plan.per == "demand" or plan.for_actors is not None:
        return plan.why
    if plan.strangers and not case.has_holdout:
        return _NO_STRANGERS
    if plan.per in ("target", "pair") and not columns.wanted:
        return _NO_TARGET
    if len(columns.usable) < plan.columns:
        return _ONE_COLUMN
    if plan.per in ("target", "table"):
        return _reason(case, plan, columns)
    return _NO_KEYS if plan.searched == "no" else _NO_KEY_SET


def _reason(case: Case, plan: EntryPlan, columns: _Columns) -> str:
    """Return the first reason of an entry's plan that holds; "" where none does."""
    return next((reason for reason, holds in plan.reasons.items() if holds(case, columns.inferred)), "")
