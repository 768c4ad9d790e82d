"""Run the attacks on three tables and correct for their number. An attack that fails does not stop the run."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

from divulge.attacks.checks import ACCEPTABLE, in_doubt
from divulge.attacks.key_sets import minimal_disclosing
from divulge.case.asked import asked_of
from divulge.case.case import Case, build_case
from divulge.case.code_files import check_parent
from divulge.case.preconditions import check_all
from divulge.case.relational.persons import Persons
from divulge.core import __version__
from divulge.core.memory import read_as_told
from divulge.core.records import CRITICAL
from divulge.core.relations import RelationalSchema
from divulge.core.result import Result, Verdict
from divulge.core.schema import Schema
from divulge.kernels.runtime import ABSENT, note_on_loops
from divulge.measures.people_facts import people_facts
from divulge.measures.result import TOLERANCE
from divulge.report.assembly import assembled
from divulge.report.control_model import PositiveControl
from divulge.report.environment import fixed_moment, stated_moment, stated_seconds
from divulge.report.model import Assessment, Facts, LeftOut, Overall
from divulge.report.prose.people import repeated_in_words
from divulge.report.report import Report
from divulge.run.cost.budget import Clock, notes_on_time, told_left_out
from divulge.run.cost.expected_cost import work_of
from divulge.run.engines.drawn_rows import fidelity_case
from divulge.run.engines.engine_plan import check_counted, load_distinct_rows, restrict_to_counts, uses_engine
from divulge.run.engines.people_sample import Rows, check_opened, people_of_engine
from divulge.run.fidelity_in_run import FidelityFound, fidelity_in_run
from divulge.run.forecasting.memory_check import TOO_LARGE, fitting, memory_told
from divulge.run.forecasting.run_time import size_in_words, time_left_of
from divulge.run.judging.records import exposed_people, per_record, told_facts
from divulge.run.judging.scope import not_compared, without_strangers
from divulge.run.judging.verdict import Scope, adjust_across_families, downgraded, n_families, overall
from divulge.run.making.checkpoints import Interrupted
from divulge.run.making.positive_control import KINDS, check_share
from divulge.run.making.positive_control import positive_control as controlled
from divulge.run.making.progress import Progress, Watch, shown
from divulge.run.making.resumed import store_of
from divulge.run.making.runner import Finished, Runner, RunOutcome, heed_interrupts, run_all
from divulge.run.planning.actors import plan_of_actors, with_actors
from divulge.run.planning.detectable_risk import reach_in_words
from divulge.run.planning.linked_people import attacker_of_people, linked_people, with_persons
from divulge.run.planning.options import Attacker, Reading, RunOptions, Search, attacker_of, listed, n_jobs, stated
from divulge.run.planning.people import people_of_run
from divulge.run.planning.plan import Plan, without_models
from divulge.run.run_result import RunResult, tables_in_report
from divulge.tables.counting import Engine
from divulge.tables.kinds import kind_of
from divulge.tables.opening import load, opened

__all__ = ["assess", "assess_with"]

_CONTROL = "positive control"


@read_as_told
def assess(
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
    tolerance: float = TOLERANCE,
    acceptable: float = ACCEPTABLE,
    positive_control: float | None = None,
    seed: int = 0,
    level: float = 0.95,
    jobs: int | None = None,
    progress: Progress | bool | None = None,
    reveal: Sequence[str] = (),
    budget: float | None = None,
    people: int | str | None = None,
    keep: str | Path | None = None,
    resume: bool = False,
    beyond_memory: bool = False,
    engine: Engine = "auto",
    spill: str | Path | None = None,
    finished: Callable[[Finished], None] = lambda done: None,
    before: Callable[[str], None] = lambda told: None,
) -> Report:
    """Return a report of every attack that the tables allow.

    Parameters
    ----------
    real
        The table that the synthesizer was trained on (any kind of frame, or a table of `divulge.read`).
        Linked tables are a dictionary, {name: table}, on each side; a person is a row of the one above all others.
    synthetic
        The table to be released.
    holdout
        People of the same population that the synthesizer never saw. Without it inference and disclosure are not
        separated.
    keys
        Columns that the attacker knows. With None, key sets are searched by the synthetic table alone and the best
        20 for each target are tested.
    targets
        Columns that the attacker wants to learn. None takes in turn every usable column that is not a key.
    subgroups
        Columns whose values define groups of people. Inference is reported for each group; small groups are pooled.
    schema, unit, ignore, missing
        Kinds of columns, or their file; column (of linked tables: table) of the person; columns to leave out; codes.
    search
        "full" also lists the minimal key sets of up to 5 columns that disclose a target, as description without a
        verdict; "off" tests no key set when no keys are given.
    models
        Whether inference also trains, for each target, one model on the synthetic table and another on strangers. None
        trains them where people times targets are at most 3 million.
    membership
        Whether it is tested who is taken for a member. False saves the time of 120 trees and of the margins; the report
        then says that membership was not tested.
    fidelity
        Whether the report says which columns and pairs of columns differ from the real ones, beside what a fresh sample
        would show. Where pairs are closer than rows drawn from the real table would be, the overall verdict is never
        "none found".
    fidelity_models
        Whether fidelity is also measured by models (`divulge.fidelity` has all measures); takes some ten seconds more.
    tolerance
        The largest difference of fidelity that does not matter to you, as a distance from 0 to 1.
    acceptable
        A risk whose simultaneous upper limit is at most this number counts as "none found".
    positive_control
        Share of the synthetic rows, in (0, 0.5], that are replaced by copies of real people in three further runs. The
        report says whether the attacks find the copies. Needs a holdout. None leaves the control out.
    seed, level, jobs
        Seed of the random steps; level of the intervals; tests that are made side by side, at most: one a processor
        where it is None. No result depends on it.
    reveal
        "values" names subgroups by their values, which are data; the top of the report says so. Otherwise subgroups are
        numbered.
    progress
        True shows the current step in one line, None in a notebook alone, False nothing; or what is called with the
        current step, the number of steps done and the number of all steps.
    budget
        Seconds after which no further test begins. Tests of the greatest weight come first, and `left_out` of the
        report lists the tests that were not made. The overall verdict is then never "none found" unless each of
        copies, dcr, linkability, membership and inference was tested. With `models` None, targets that begin in the
        second half of the time train no model. The positive control is left out where too little time is left for it.
        None sets no limit.
    people
        Most members, and as many strangers, whom the attacks ask whose numbers are means over people and need nobody
        else (cap, inference, linkability, membership and the like): a random sample, drawn by seed; of units where
        there are any. All other attacks ask everybody, and every attack searches the whole synthetic table. The report
        and its intervals say how many were asked. At least 100; "all" asks everybody. None asks everybody where that
        fits into memory, else a sample, of a million at most, and the report says so. Where "duckdb" or "polars"
        count, None asks a million members and as many strangers, or fewer if memory does not suffice; "none" asks
        nobody there and counts alone.
    keep
        A folder for the results of finished tests and for nothing else. Only its owner can read it, because the results
        hold scores of each person. The caller removes it (`divulge.run.making.checkpoints.discard`).
    resume
        Whether results in that folder are used. The report equals that of a run without interruption, except for the
        times. Results of other tables or other settings are not used; where an engine counts, whose runs are long, a
        table that has changed is an error.
    beyond_memory
        Whether to begin although the run is not expected to fit into the memory that this process may use.
    engine
        "duckdb" or "polars" count Parquet files (and "duckdb" tables of a DuckDB file) where they are, and "spark"
        Spark frames, for tables that do not fit into memory: attribution, uniqueness, exact copies, and fidelity by
        codes of the rows. A sample of `people` is asked as in memory ("duckdb", "polars"), by the codes of all rows in
        files. Attacks that need every row are then listed as not made. "auto" and "memory" read all tables.
    spill
        A folder in which a private folder is made, for what does not fit into memory; removed at the end. Tables in
        memory have their indices there, searched block by block, about 170 bytes a row of 15 columns each. Where an
        engine counts and people are asked, the codes of all rows are there too, one to four bytes a value; None
        then takes the folder for temporary files. How many bytes they take is told before. No result depends on it.
    finished
        Called once for each attack, when its last test is done.
    before
        Called before the attacks begin: with how many tests they are and about how long they take, and with what a run
        of this size can find, in words.

    Raises
    ------
    DivulgeError
        The input cannot be used. An attack that fails does not raise; it is listed in `report.failed`.
    SizeError
        The run would not fit into memory (told before anything is read), or it did not.
    Interrupted
        A `KeyboardInterrupt` arrived during the attacks; the error says how many tests are kept.
    """
    options = RunOptions(
        search, models, membership, fidelity, fidelity_models, acceptable, positive_control, seed, level,
        n_jobs(jobs), listed("reveal", reveal), budget, people, keep, resume, beyond_memory, engine, spill,
        tolerance,
    )  # fmt: skip
    reading = Reading.of(schema, unit, ignore, missing)
    given = (real, synthetic, holdout, attacker_of(keys, targets, subgroups), reading, options)
    with shown(progress) as tell:
        return assess_with(*given, progress=tell, finished=finished, before=before)


def assess_with(
    real: Any,
    synthetic: Any,
    holdout: Any,
    attacker: Attacker,
    reading: Reading,
    options: RunOptions,
    *,
    progress: Progress = lambda what, done, total: None,
    finished: Callable[[Finished], None] = lambda done: None,
    before: Callable[[str], None] = lambda told: None,
    left: Callable[[float], None] = lambda seconds: None,
    made: Callable[[Case, RunOptions], None] = lambda case, options: None,
) -> Report:
    """Return the report of `assess`, with the options given as structs.

    `left` is called before each step, with about how many seconds the run still takes; `made` after all attacks, with
    the options that they had and their case, whose rows go when the run ends.
    """
    return _Assessing(attacker, reading, options, progress, finished, before, left, made).report(
        real, synthetic, holdout
    )


@dataclass
class _Assessing:
    """One run of `assess`."""

    attacker: Attacker
    reading: Reading
    options: RunOptions
    progress: Progress
    finished: Callable[[Finished], None]
    before: Callable[[str], None]
    left: Callable[[float], None]
    made: Callable[[Case, RunOptions], None]
    too_large: bool = False
    """Whether a sample of people is asked because all do not fit into memory."""
    on_people: list[str] = dataclasses.field(default_factory=list)
    """What is told of the number of people that an engine asks."""
    n_rows: int = 0
    """Of all tables, once they are read."""
    rows: Rows = dataclasses.field(default_factory=Rows)
    persons: Persons | None = None

    def report(self, real: Any, synthetic: Any, holdout: Any) -> Report:
        """Return the report on three tables."""
        started, clock = datetime.now(UTC), Clock.start(self.options.budget)
        self.options.check()
        check_counted(self.options)
        check_parent(self.options.spill)
        fixed_moment()  # a mistake there is told before the run
        with memory_told(lambda: self.n_rows, lambda: self.options.keep is not None):
            tables, self.reading, self.persons = linked_people((real, synthetic, holdout), self.reading, self.options)
            if not uses_engine(self.options):
                tables = load(tables[0], "real"), load(tables[1], "synthetic"), load(tables[2], "holdout")
                self.options, self.too_large = fitting(tables, self.attacker, self.reading, self.options)
            try:
                found, results = self._assessed(*tables, clock, started)
            finally:
                self.rows.remove()
        return Report(found, tuple(results.results), results.records, kind_of(real))

    def _assessed(
        self, real: Any, synthetic: Any, holdout: Any, clock: Clock, started: datetime
    ) -> tuple[Assessment, RunResult]:
        """Return the assessment, and what the attacks found."""
        watch = Watch(self.progress, self.left)
        case = self._case(*self._opened(real, synthetic, holdout), watch)
        named = self.options.people
        options, self.on_people = people_of_engine(case, self.options)
        self.attacker = with_actors(case, attacker_of_people(case, self.attacker))
        self.progress("checking preconditions", 0, 1)
        checks = check_all(case)
        failing = [c.check for c in checks if c.check in CRITICAL and not c.ok]
        self.progress("looking for key sets", 0, 1)
        plan = plan_of_actors(case, self.attacker, options)
        if uses_engine(options):
            restrict_to_counts(plan, options)
            self.progress("counting the tables where they are", 0, 1)
            options = self.rows.ask(case, plan, options, self.progress, self.before)
            load_distinct_rows(case, plan, options)
        self.options = options
        told = self._told(case, plan)
        sampling = people_of_run(case, options.sample).sampling(plan.n_compared)
        everybody = sampling is None and named in (None, "all")
        settings = stated(self.attacker, self.reading, options, case.unit, everybody=everybody)  # fails before the run
        store = store_of(case, self.attacker, self.reading, options)
        watch.time = time_left_of(case, plan, options, clock)
        runner = Runner(watch, clock, store, self.finished, options.models, options.sample, options.jobs, self.before)
        found = self._kept(case, plan, runner, failing)
        self.made(case, options)
        late = notes_on_time(found.left_out, options.budget)
        assessment = assembled(
            version=__version__,
            settings=settings,
            started=stated_moment(started),
            seconds=stated_seconds(clock.seconds),
            tables=tables_in_report(case),
            schema=case.schema,
            actors=self.attacker.actors,
            bins=case.bins_in_words([c for c in case.columns if c in case.encoded.binned]),
            checks=checks,
            results=found.results,
            failed=found.failed,
            key_sets=plan.key_sets,
            minimal=plan.minimal,
            notes=[*case.notes, *plan.notes, *told, *late, *([] if store is None else store.notes)],
            verdict=self._overall(case, plan, failing, found),
            records=found.records,
            facts=found.facts,
            exposed=found.exposed,
            positive_control=found.control,
            left_out=found.left_out,
            not_run=plan.not_run,
            fidelity=found.fidelity.results,
            fidelity_scope=found.fidelity.scope,
            sampling=sampling,
            revealed=list(options.reveal),
        )
        return assessment, found

    def _opened(self, real: Any, synthetic: Any, holdout: Any) -> tuple[Any, Any, Any]:
        missing, share, engine = self.reading.missing, self.options.positive_control, self.options.engine
        with self.rows.spilling_engines(self.options):
            real, synthetic = opened(real, "real", missing, engine), opened(synthetic, "synthetic", missing, engine)
            holdout = None if holdout is None else opened(holdout, "holdout", missing, engine)
        self.n_rows = sum(t.n_rows for t in (real, synthetic, holdout) if t is not None)
        check_opened(self.options, (real, synthetic, holdout))
        if share is not None:
            check_share(share, holdout is not None, synthetic.n_rows)
        return real, synthetic, holdout

    def _told(self, case: Case, plan: Plan) -> list[str]:
        """Tell what the run does and can find, before it begins; return what the report repeats of it."""
        people = people_of_run(case, self.options.sample)
        reach = reach_in_words(people.fewest, plan.n_compared, self.options.acceptable)
        slow = note_on_loops(min(case.n_rows("real"), case.n_rows("synthetic")))
        samples = people.notes(plan.attacks)
        samples += [TOO_LARGE] * (self.too_large and bool(samples)) + self.on_people
        for told in filter(None, (size_in_words(case, plan, self.options), *samples, reach, slow)):
            self.before(told)
        return [n for n in (*samples, reach, ABSENT if slow else "") if n]

    def _kept(self, case: Case, plan: Plan, runner: Runner, failing: Sequence[str]) -> RunResult:
        """Return what the attacks found; an interrupt becomes an error that says what is kept."""
        heed_interrupts()
        try:
            return self._attacked(case, plan, runner, failing)
        except KeyboardInterrupt:
            runner.watch.stopped = True
            runs = 1 if self.options.positive_control is None else 1 + len(KINDS)
            n_kept, folder = (0, None) if runner.store is None else (len(runner.store.names), runner.store.folder)
            raise Interrupted(n_kept, runs * len(plan.tasks), folder) from None

    def _overall(self, case: Case, plan: Plan, failing: Sequence[str], found: RunResult) -> Overall:
        options = self.options
        close = found.fidelity.too_close
        scope = self._scope(case, plan, failing, found.left_out, found.facts, found.results, too_close=close)
        return overall(found.results, case.has_holdout, options.level, options.acceptable, scope)

    def _case(self, real: Any, synthetic: Any, holdout: Any, watch: Watch) -> Case:
        self.progress("reading columns", 0, 1)
        options, reading = self.options, self.reading
        case = build_case(
            real, synthetic, holdout, schema=reading.schema, unit=reading.unit, ignore=reading.ignore,
            missing=reading.missing, seed=options.seed, level=options.level,
        )  # fmt: skip
        if not case.in_memory and not uses_engine(options):
            case = case.collected("joint tests need the scores of each person together")
        self.rows.search_by_blocks(case, options)
        case = with_persons(case, self.persons)
        return dataclasses.replace(case, progress=watch.searching, reveal_values="values" in options.reveal)

    def _attacked(self, case: Case, plan: Plan, runner: Runner, failing: Sequence[str]) -> RunResult:
        """Return the results of all attacks, and the parts of the report that are computed from them."""
        n = len(plan.tasks)
        run = run_all(case, plan.tasks, runner)
        self._describe(case, plan, runner.clock, run)
        runner.watch.step("correcting for the number of tests", n, n)
        results = [
            msgspec.structs.replace(r, seconds=stated_seconds(r.seconds))
            for r in self._judged(case, run.results, failing)
        ]
        control = self._controlled(case, plan, runner, failing, run, results)
        runner.watch.step("gathering records", n, n)
        facts = people_facts(case)
        records = per_record(case, results, facts, asked_of(case, self.options.sample))
        fidelity = self._fidelity(case, plan, runner, run)
        return RunResult(
            results=results,
            facts=told_facts(case, results, facts),
            fidelity=fidelity,
            failed=run.failed,
            left_out=run.left_out,
            control=control,
            records=records,
            exposed=exposed_people(case, results, records),
        )

    def _fidelity(self, case: Case, plan: Plan, runner: Runner, run: RunOutcome) -> FidelityFound:
        """Return what the synthetic table keeps; measures that fail or are left out are listed with the attacks."""
        elsewhere, groups = uses_engine(self.options), self.attacker.subgroups
        measured = fidelity_case(case, plan, groups, self.options) if elsewhere else case
        if not self.options.fidelity or measured is None:
            return FidelityFound()
        with runner.watch.part("fidelity"):
            found = fidelity_in_run(
                measured, models=self.options.fidelity_models, groups=groups, targets=self.attacker.targets,
                work=work_of(measured, plan.tasks, self.options), tolerance=self.options.tolerance, clock=runner.clock,
                progress=runner.watch.step,
            )  # fmt: skip
        run.failed += found.failed
        run.left_out += found.left_out
        return found

    def _scope(
        self, case: Case, plan: Plan, failing: Sequence[str], left_out: Sequence[LeftOut], facts: Facts | None,
        results: Sequence[Result], *, too_close: bool = False,
    ) -> Scope:  # fmt: skip
        return Scope(
            failing=failing,
            left_out=left_out,
            planned=[*plan.attacks, *plan.uncounted],
            attacker=self.attacker,
            n_members=case.n_rows("real"),
            primary=self.options.primary,
            accepted=self.options.accepted,
            not_compared=not_compared(case, self.attacker, results),
            whole_record=case.whole_record,
            without_strangers=without_strangers(case, results),
            person=repeated_in_words(facts) if facts is not None and facts.repeated.found else "",
            too_close=too_close,
        )

    def _describe(self, case: Case, plan: Plan, clock: Clock, run: RunOutcome) -> None:
        """Add the minimal key sets to the plan, where they are requested and time is left."""
        if plan.described and not clock.up:
            plan.minimal, notes = minimal_disclosing(case, plan.described, jobs=self.options.jobs)
            plan.notes += notes
        elif plan.described:
            run.left_out.append(told_left_out("minimal key sets", len(plan.described), len(plan.described)))

    def _judged(self, case: Case, results: list[Result], failing: Sequence[str]) -> list[Result]:
        options, people = self.options, people_of_run(case, self.options.sample)
        whole, beside = people.summarised(results), [] if options.part is None else options.part.beside
        made = people.corrected(whole, options.acceptable, n_families([*whole, *beside]))
        held = downgraded(adjust_across_families([*made, *beside], options.level))
        return in_doubt(held[: len(made)], failing)

    def _controlled(
        self, case: Case, plan: Plan, runner: Runner, failing: Sequence[str], run: RunOutcome, results: list[Result]
    ) -> list[PositiveControl]:
        """Return the results of the positive control; [] where none is requested or too little time is left."""
        share = self.options.positive_control
        if share is None:
            return []
        if not _enough(runner.clock, run):
            run.left_out.append(told_left_out(_CONTROL, len(KINDS), len(KINDS), "three more runs would take too long"))
            self.finished(Finished(_CONTROL, 0, 0.0, 0, 0, len(KINDS)))
            return []

        runs = count(1)

        def again(planted: Case) -> tuple[list[Result], Verdict]:
            # without models: they take most of the time and find hardly any copies
            found = self._judged(
                planted, run_all(planted, without_models(plan.tasks), runner.untimed(next(runs))).results, failing
            )
            scope = self._scope(planted, plan, failing, (), None, found)
            return found, overall(found, case.has_holdout, self.options.level, self.options.acceptable, scope).verdict

        before = runner.clock.seconds
        control = controlled(case, share, again, results)
        self.finished(Finished(_CONTROL, len(KINDS), runner.clock.seconds - before, 0, 0, 0))
        return control


def _enough(clock: Clock, run: RunOutcome) -> bool:
    """Return whether the remaining time is enough for the further runs of the positive control."""
    return clock.left() > len(KINDS) * sum(r.seconds for r in run.results)
