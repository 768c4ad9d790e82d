"""Tell what a run will take and can find before it begins: `divulge.plan`, and what `assess` asks itself first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from math import isnan
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from divulge.attacks.checks import ACCEPTABLE
from divulge.attacks.entry import CATALOGUE
from divulge.case.case import Case, build_case
from divulge.case.code_files import free_on_disk
from divulge.core.errors import SettingError
from divulge.core.relations import RelationalSchema
from divulge.core.schema import Schema
from divulge.run.cost.disk import on_disk, on_disk_at_most
from divulge.run.cost.engine_cost import engine_work, seconds_at_end, seconds_before, seconds_of_each
from divulge.run.cost.expected_cost import Work, expected_bytes, expected_seconds, levels_of, limit_of, work_of
from divulge.run.cost.memory import Room, room
from divulge.run.cost.searched_bytes import bytes_at_once, bytes_to_search
from divulge.run.engines.drawn_rows import rows_measured
from divulge.run.engines.engine_plan import bytes_of_fidelity, check_counted, restrict_to_counts
from divulge.run.engines.people_sample import (
    NO_DISK,
    check_rows_told,
    leave_out_searches,
    nobody_in_words,
    with_default_people,
)
from divulge.run.engines.people_sample import SAMPLES as _SAMPLES
from divulge.run.forecasting.outlook import Given, Outlook, PlannedTests
from divulge.run.making.positive_control import KINDS
from divulge.run.planning.actors import actors_in_words, plan_of_actors, with_actors
from divulge.run.planning.detectable_risk import RATES, reach_in_words, smallest_excess
from divulge.run.planning.linked_people import attacker_of_people, linked_people, with_persons
from divulge.run.planning.options import NOBODY, Attacker, Reading, RunOptions, Search, attacker_of, n_jobs
from divulge.run.planning.people import FEWER
from divulge.run.planning.plan import Plan, first_key_sets
from divulge.tables.column_notes import codes_for_missing
from divulge.tables.counting import BY_ROWS, COUNTING, Engine, narrowest
from divulge.tables.matched_names import some_of
from divulge.tables.opening import opened
from divulge.tables.sizes import TableSize, size_of

_PIECES = 16  # of the sample, which is taken from as many places
_RECURRING = 10  # persons of some pieces who are found in others, from which their number is told by that

__all__ = ["Sizes", "announced", "outlook_of", "plan", "prepared", "sizes_of"]


class Sizes(NamedTuple):
    """The sizes of the tables of a run."""

    real: TableSize
    synthetic: TableSize
    holdout: TableSize | None

    @property
    def tables(self) -> dict[str, TableSize]:
        """The tables that there are, by role."""
        return {role: size for role, size in self._asdict().items() if size is not None}

    @property
    def by_rows(self) -> bool:
        """Whether an engine tells the rows of all tables."""
        return all(size.by_rows for size in self.tables.values())

    def limit(self, there: Room) -> int:
        """Return the bytes that a run on these tables may take."""
        return limit_of(self.tables.values(), there)


@dataclass(frozen=True)
class _Announced(Case):
    """A case whose tables hold some of their rows, and state the number of all."""

    people_of: Mapping[str, int] = field(default_factory=dict)

    def n_people(self, role: str) -> int:
        """Return the number of persons or households of a table, scaled up from its sample."""
        return self.people_of.get(role, 0)


def plan(
    real: Any,
    synthetic: Any,
    holdout: Any = None,
    *,
    keys: Sequence[str] | None = None,
    targets: Sequence[str] | None = None,
    subgroups: Sequence[str] = (),
    schema: Schema | RelationalSchema | str | Path | None = None,
    unit: str | None = None,
    ignore: Sequence[str] = (),
    missing: Sequence[str] = (),
    search: Search = "default",
    models: bool | None = None,
    membership: bool = True,
    fidelity: bool = True,
    fidelity_models: bool = False,
    acceptable: float = ACCEPTABLE,
    positive_control: float | None = None,
    seed: int = 0,
    level: float = 0.95,
    jobs: int | None = None,
    people: int | str | None = None,
    engine: Engine = "auto",
    spill: str | Path | None = None,
) -> Outlook:
    """Return what `divulge.assess` will take and can find with the same arguments, before any attack.

    Rows and columns are read from headers (Parquet, Arrow) or counted (CSV); kinds of columns are those of a sample of
    some thousand rows. Bytes and seconds were fitted to measured runs; on another machine seconds differ.

    Parameters
    ----------
    real, synthetic, holdout
        Tables: the path of a file or folder, or a frame of any kind; linked tables, {name: table}, are read for it.
    keys, targets, subgroups, schema, unit, ignore, missing, search, models, membership
        As in `divulge.assess`.
    fidelity, fidelity_models, acceptable, positive_control, seed, level, jobs, people, engine, spill
        As in `divulge.assess`; of the folder it is only asked how much room it has. With an engine the memory told is
        that of the searches: the distinct rows of what is counted come on top, and `assess` counts them before it
        begins.

    Returns
    -------
    Outlook
        `print` shows it; `fits` says whether `assess` would begin.

    Raises
    ------
    DivulgeError
        As in `divulge.assess`, before it attacks.

    Examples
    --------
    >>> from divulge.demo import tables
    >>> real, synthetic, holdout = tables()
    >>> told = plan(real, synthetic, holdout=holdout, keys=["age", "educ"], targets=["vote"])
    >>> [(t.role, t.rows, t.columns) for t in told.tables]
    [('real', 472, 10), ('synthetic', 472, 10), ('holdout', 472, 10)]
    >>> told.fits, {a.attack: a.tests for a in told.attacks}["cap"]
    (True, 3)
    """
    options = RunOptions(
        search, models, membership, fidelity, fidelity_models, acceptable, positive_control, seed, level,
        n_jobs(jobs), people=people, engine=engine, spill=spill,
    )  # fmt: skip
    options.check()
    check_counted(options)
    (real, synthetic, holdout), reading, persons = linked_people(
        (real, synthetic, holdout), Reading.of(schema, unit, ignore, missing), options
    )
    attacker = attacker_of(keys, targets, subgroups)
    if persons is not None:
        people_case = build_case(real, synthetic, holdout, schema=reading.schema, unit=reading.unit, seed=seed)
        attacker = attacker_of_people(with_persons(people_case, persons), attacker)
    if options.engine in COUNTING:
        for role, table in (("real", real), ("synthetic", synthetic), ("holdout", holdout)):
            if table is not None:
                opened(table, role, reading.missing, options.engine)  # what `assess` refuses is refused here
    sizes = sizes_of((real, synthetic, holdout), reading.missing)
    if sizes is None:
        raise SettingError("-: standard input can be read once only. hint: name a file.")
    return outlook_of(sizes, attacker, reading, options, room())


def sizes_of(tables: Sequence[Any], missing: Sequence[str]) -> Sizes | None:
    """Return the sizes of real, synthetic, and holdout or None; None where one comes from standard input.

    Raises
    ------
    DivulgeError
        A table cannot be read.
    """
    real, synthetic, holdout = tables
    one, other = size_of(real, "real", missing), size_of(synthetic, "synthetic", missing)
    held = None if holdout is None else size_of(holdout, "holdout", missing)
    if one is None or other is None or (held is None and holdout is not None):
        return None
    return Sizes(one, other, held)


def outlook_of(sizes: Sizes, attacker: Attacker, reading: Reading, options: RunOptions, there: Room | None) -> Outlook:
    """Return what a run on tables of these sizes will take and can find.

    Parameters
    ----------
    sizes
        Of the tables.
    attacker, reading, options
        Of the run.
    there
        The memory that there is; None where that is not known.

    Raises
    ------
    DivulgeError
        The tables or the options cannot be used.
    """
    rows, columns = ([s.rows for s in (sizes.real, sizes.holdout) if s is not None], len(sizes.real.sample.columns))
    check_rows_told(options, by_rows=sizes.by_rows)
    named, free = options, None if there is None else there.free
    options = with_default_people(options, rows, sizes.synthetic.rows, columns, free, by_rows=sizes.by_rows)
    told = _nobody(named, options, sizes)
    case, planned, whole = prepared(sizes, attacker, reading, options)
    disk_free = _free_on_disk(options)
    if _has_no_disk(case, options, named.people is None, disk_free):
        options, told = replace(options, people=NOBODY), [NO_DISK]
        case, planned, whole = prepared(sizes, attacker, reading, options)
    limit = None if there is None else sizes.limit(there)
    of = case.n_people("real"), case.n_people("holdout")
    if options.engine in COUNTING:
        that_fit, asked = None, _asked(options, of, None)
        work = _where_they_are(case, planned, options, sum(asked) / sum(of), limit)
    else:
        that_fit = _that_fit(whole, of, limit)
        asked = _asked(options, of, that_fit)
        work = whole.of_people(sum(asked) / sum(of))
    disk, blocks = on_disk(case, planned.attacks, options, _of_codes(case))
    seconds = _seconds_of(case, planned, work, options, limit)
    n_attacks = planned.n_compared
    fewer = replace(case, people_of={"real": asked[0], "holdout": asked[1]})
    return Outlook(
        tables=tuple(Given(r, s.rows, len(s.sample.columns), s.exact) for r, s in sizes.tables.items()),
        cells=sum(s.rows * len(s.sample.columns) for s in sizes.tables.values()),
        needed=_bytes_of(work, options),
        there=limit,
        limit="" if there is None else there.why,
        seconds=seconds,
        jobs=options.jobs,
        attacks=tuple(PlannedTests(a, n, CATALOGUE[a].sampled) for a, n in Counter(planned.attacks).items()),
        not_run=tuple((n.attack, n.why) for n in planned.not_run),
        unit=case.unit,
        people=None if asked == of else max(asked),
        asked=asked,
        of=of,
        people_that_fit=that_fit,
        excesses=_excesses(asked, n_attacks, options.level) if case.has_holdout else (),
        reach=reach_in_words(fewer, n_attacks, options.acceptable),
        seed=options.seed,
        notes=(
            *_lacking(case),
            *codes_for_missing({c: case.encoded.known(c).note for c in case.columns if c not in case.ignored}),
            *planned.notes,
            *actors_in_words(planned),
            *told,
            *_limited(planned.attacks, max(of)),
        ),
        engine=options.engine if options.engine in COUNTING else "auto",
        disk=disk,
        disk_free=disk_free if disk else None,
        blocks=blocks,
        needed_in_files=_needed_in_files(work, options),
        tests_at_most=bool(planned.key_sets),
    )


def _lacking(case: Case) -> Iterator[str]:
    """Yield which columns a table lacks that another has, but for ignored ones: nothing compares them."""
    names = dict.fromkeys(c for t in case.tables for c in t.columns if c not in case.ignored)
    for table in case.tables:
        if left := [c for c in names if c not in table.columns]:
            yield f"{table.role} lacks {some_of(left)}, which other tables have: not compared"


def _where_they_are(case: Case, planned: Plan, options: RunOptions, share: float, limit: int | None) -> Work:
    """Return the work beside the engine, and leave in the plan what a run makes there."""
    restrict_to_counts(planned, options)
    work = work_of(case, planned.tasks, replace(options, fidelity=False))
    if options.sample is None:
        return replace(work, rows=0, table_bytes=0, scores=0, pairs=0)
    asked, columns = round(work.people * share), len(case.schema.usable())
    members = min(options.sample, case.n_people("real"))
    work = replace(
        work.of_people(share), rows=asked, people=asked, members=members, table_bytes=0, scores=work.sampled * asked,
        elsewhere=True,
    )  # fmt: skip

    def needed() -> dict[str, int]:
        return bytes_to_search(planned.tasks, work.synthetic, asked, columns)

    if limit is not None and not options.beyond_memory:
        leave_out_searches(planned, needed(), limit - _bytes_of(work, options))
    return replace(work, searched_bytes=bytes_at_once(needed(), asked, columns))


def _seconds_of(case: Case, planned: Plan, work: Work, options: RunOptions, limit: int | None) -> float:
    """Return about how many seconds a run takes; what an engine holds is counted and searched in other ways."""
    if options.engine not in COUNTING:
        return (1 if options.positive_control is None else 1 + len(KINDS)) * expected_seconds(work, options.jobs)
    in_files, jobs = options.sample is not None, options.jobs
    there = engine_work(case, work.asked if in_files else 0)
    before = seconds_before(there, searched=bool(planned.key_sets), jobs=jobs)
    wide = None if in_files else _of_codes(case) // there.rows
    rows = [t.n_rows for t in case.tables]
    measured = rows_measured(rows, bytes_of_fidelity(there.rows, wide), limit, options)
    after = seconds_at_end(there, measured, jobs)
    return before + sum(seconds_of_each(there, planned.tasks, jobs)) + after


def _bytes_of(work: Work, options: RunOptions) -> int:
    """Return about how much memory a run takes; by an engine membership is one of the attacks that search."""
    return expected_bytes(replace(work, apart=() if options.engine in COUNTING else work.apart))


def _of_codes(case: Case) -> int:
    """Return how many bytes the codes of all rows take, about."""
    each = sum(narrowest(round(levels_of(case, c)) + 1).itemsize for c in case.columns)
    return each * sum(t.n_rows for t in case.tables)


def _free_on_disk(options: RunOptions) -> int | None:
    """Return the bytes that are free on the disk where a run writes; None where there is no such folder."""
    try:
        return free_on_disk(options.spill)
    except SettingError:
        return None


def _has_no_disk(case: Case, options: RunOptions, by_default: bool, free: int | None) -> bool:
    """Return whether an engine that nobody told to ask people finds no room on the disk for that."""
    asked = by_default and options.engine in BY_ROWS and options.sample is not None
    return asked and free is not None and on_disk_at_most(case, options, _of_codes(case)) > free


def _needed_in_files(work: Work, options: RunOptions) -> int | None:
    """Return the bytes that a run would take with its indices in files; None where nothing would be gained."""
    if options.engine in COUNTING or work.in_files:
        return None
    needed = expected_bytes(replace(work, in_files=True))
    return needed if needed < expected_bytes(work) else None


def _nobody(named: RunOptions, options: RunOptions, sizes: Sizes) -> list[str]:
    """Return why a run by an engine will ask nobody."""
    return nobody_in_words(named, options, by_rows=sizes.by_rows and options.engine in BY_ROWS)


def _limited(attacks: Iterable[str], people: int) -> list[str]:
    """Return which attacks ask a sample for the time that they take, whatever is asked of the others."""
    limits = {name: CATALOGUE[name].most for name in attacks}
    return [f"{FEWER.format(name)}: at most {most:,} members and strangers" for name, most in limits.items()
            if most is not None and most < people]  # fmt: skip


def prepared(sizes: Sizes, attacker: Attacker, reading: Reading, options: RunOptions) -> tuple[_Announced, Plan, Work]:
    """Return the case of the samples, the plan of a run on the whole tables, and its work where everybody is asked."""
    case = announced(sizes, reading, options)
    planned = plan_of_actors(case, with_actors(case, attacker), options, first_key_sets)
    text = sum(s.file_bytes for s in sizes.tables.values())
    return case, planned, work_of(case, planned.tasks, options, text_bytes=text)


def announced(sizes: Sizes, reading: Reading, options: RunOptions) -> _Announced:
    """Return the case of the samples, which states the rows and people of the whole tables."""
    here = [s.sample for s in sizes.tables.values()]
    case = build_case(
        *here, schema=reading.schema, unit=reading.unit, ignore=reading.ignore, missing=reading.missing,
        seed=options.seed, level=options.level,
    )  # fmt: skip
    rows = {role: s.rows for role, s in sizes.tables.items()}
    people = {r: _people_of(case, r, rows[r]) for r in rows}
    whole = tuple(replace(t, n_rows=n) for t, n in zip(case.tables, rows.values(), strict=True))
    known = {f.name: getattr(case, f.name) for f in fields(Case)}
    return _Announced(**known | {"tables": whole, "people_of": people})


def _people_of(case: Case, role: str, rows: int) -> int:
    """Return about how many persons or households a table of so many rows has, from a sample in slices.

    Where the rows of a person stand together, slices have few of the same persons, and persons grow with the rows.
    Where they stand apart, the persons of some slices recur in others, the more the fewer there are.
    """
    there, found = case.n_rows(role), case.n_people(role)
    units = case.units(role)
    if units is None or there >= rows:
        return found if there >= rows else round(rows * found / there)
    pieces = np.array_split(units, _PIECES)
    one, other = (np.unique(np.concatenate(pieces[i::4])) for i in (0, 2))  # no piece beside one of the others
    again = len(np.intersect1d(one, other))
    grown = rows * found / there
    recurring = len(one) * len(other) / again if again >= _RECURRING else grown
    return round(max(found, min(grown, recurring)))


def _asked(options: RunOptions, of: tuple[int, int], that_fit: int | None) -> tuple[int, int]:
    """Return how many members and strangers are asked: as many as the user says, else all, or as many as fit."""
    most = that_fit if options.people is None else options.sample
    return of if most is None else (min(most, of[0]), min(most, of[1]))


def _that_fit(work: Work, of: tuple[int, int], limit: int | None) -> int | None:
    """Return the most people asked, of some round numbers, with whom a run fits; None where all do, or none would."""
    if limit is None or expected_bytes(work) <= limit:
        return None
    shares = ((n, sum(min(n, all_of) for all_of in of) / sum(of)) for n in _SAMPLES)
    return next((n for n, share in shares if expected_bytes(work.of_people(share)) <= limit), None)


def _excesses(asked: tuple[int, int], n_attacks: int, level: float) -> tuple[tuple[float, float | None], ...]:
    found = ((rate, smallest_excess(*asked, n_attacks, level, rate)) for rate in RATES)
    return tuple((rate, None if isnan(excess) else excess) for rate, excess in found)
