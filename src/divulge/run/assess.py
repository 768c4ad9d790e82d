"""Run the attacks on three tables, correct for their number, survive one that fails. Never prints."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from math import inf
from pathlib import Path
from typing import Any

from divulge import __version__
from divulge.attacks.checks import ACCEPTABLE
from divulge.attacks.key_sets import minimal_disclosing
from divulge.attacks.multiplicity import correct
from divulge.case.case import Case, build_case
from divulge.case.preconditions import CRITICAL, check_all, table_facts
from divulge.core.errors import SettingError
from divulge.core.result import Result
from divulge.core.schema import Schema
from divulge.kernels.neighbours.index import warm_up
from divulge.measures.single_table import utility as utility_of
from divulge.report.report import Report
from divulge.run.budget import Clock, notes_on_time, told_left_out
from divulge.run.checkpoints import CheckpointStore, Interrupted
from divulge.run.plan import Search, plan_of, without_models
from divulge.run.positive_control import KINDS, check_share
from divulge.run.positive_control import positive_control as controlled
from divulge.run.records import exposed_strangers, per_record
from divulge.run.runner import Finished, Progress, Runner, RunOutcome, Watch, heed_interrupts, run_all
from divulge.run.verdict import in_doubt, over_families, overall

__all__ = ["assess"]


_CONTROL = "positive control"


def assess(
    real: Any,
    synthetic: Any,
    *,
    holdout: Any = None,
    keys: Sequence[str] | None = None,
    targets: Sequence[str] | None = None,
    subgroups: Sequence[str] = (),
    schema: Schema | None = None,
    unit: str | None = None,
    ignore: Sequence[str] = (),
    missing: Sequence[str] = (),
    search: Search = "default",
    models: bool | None = None,
    utility: bool = False,
    acceptable: float = ACCEPTABLE,
    positive_control: float | None = None,
    seed: int = 0,
    level: float = 0.95,
    jobs: int = 2,
    progress: Progress = lambda what, done, total: None,
    reveal: Sequence[str] = (),
    budget: float | None = None,
    keep: str | Path | None = None,
    resume: bool = False,
    finished: Callable[[Finished], None] = lambda done: None,
) -> Report:
    """Return a report of every attack that fits the tables.

    Parameters
    ----------
    real
        The table that the synthesizer was trained on (any kind of frame, or a table of `divulge.read`).
    synthetic
        The table to be released.
    holdout
        People of the same population that the synthesizer never saw. Without it inference and disclosure are not
        separated.
    keys
        Columns that the attacker knows. None searches key sets by the synthetic table alone and tests the best
        20 for each target.
    targets
        Columns that he wants. None takes every usable column that is no key, in turn.
    subgroups
        Columns whose values tell groups of people apart; inference is reported for each, small groups together.
    schema, unit, ignore, missing
        What the columns are; the column of the person or household; columns to leave out; texts for missing.
    search
        "full" adds the minimal key sets, up to 5 columns, that disclose a target, as description without a
        verdict; "off" tests no key set when none is given.
    models
        Whether inference also trains a model on the synthetic table, and another on strangers, for each target. None
        does so where people times targets are at most 3 million.
    utility
        Whether the report also says how much of the real table the synthetic one keeps : some
        seconds more.
    acceptable
        A risk whose simultaneous upper limit is at most this counts as none found.
    positive_control
        Share of the synthetic rows, in (0, 0.5], that become copies of real people in three further runs, which say
        whether the attacks see them. Needs a holdout. None leaves it out.
    seed, level, jobs
        Of the random steps; of the intervals; threads of the key set search (they change no digit).
    reveal
        "values": call subgroups by their values, which are data; the report says so at its top. Else they are numbered.
    progress
        Called with what is being done, steps done, steps in all.
    budget
        Seconds after which no further test begins. The weightiest come first, and `left_out` of the report says what
        was not made; then the overall verdict is never "none found" unless each of copies, singling out, linkability
        and inference was tested. With `models` None, targets that begin in the second half of the time train no model.
        The positive control is left out where the time that is left is too short for it. None sets no limit.
    keep
        A folder of its own for the results of finished tests, made for its owner alone: they hold scores of each
        person. The caller removes it (`divulge.run.checkpoints.discard`).
    resume
        Whether tests that are in the folder are taken from there. The report is the same as of a run that was not
        interrupted, times aside; of other tables or settings nothing is taken.
    finished
        Called once for each attack, when its last test is done.

    Raises
    ------
    DivulgeError
        The input cannot be used. An attack that fails is reported in `report.failed` instead.
    Interrupted
        A `KeyboardInterrupt` while attacking, with how many tests are kept.
    """
    clock, started = Clock.start(budget), datetime.now(UTC)
    if search not in ("default", "full", "off"):
        raise SettingError("search: hint: one of default, full, off.")
    if not set(reveal) <= {"values"}:
        raise SettingError('reveal: not a known part. hint: "values" calls subgroups by their values.')
    if not 0 < acceptable < 1:
        raise SettingError(f"acceptable: {acceptable} is outside (0, 1). hint: 0.05 is the default.")
    if jobs < 1:
        raise SettingError(f"jobs: {jobs} is below 1.")
    if positive_control is not None:
        check_share(positive_control, holdout is not None, _n_rows(synthetic))
    if budget is not None and not 0 <= budget < inf:
        raise SettingError("budget: not a number of seconds from 0 on. hint: 600 is ten minutes.")
    if resume and keep is None:
        raise SettingError("resume: nothing to go on from. hint: name the folder of finished tests with keep.")
    warm_up(min(_n_rows(real), _n_rows(synthetic)))
    progress("reading columns", 0, 1)
    case = build_case(
        real, synthetic, holdout, schema=schema, unit=unit, ignore=ignore, missing=missing, seed=seed, level=level
    )
    if not case.in_memory:
        case = case.collected("joint tests need the scores of each person together")
    watch = Watch(progress)
    case = dataclasses.replace(case, progress=watch.searching, reveal_values="values" in reveal)
    progress("checking preconditions", 0, 1)
    checks = check_all(case)
    progress("looking for key sets", 0, 1)
    plan = plan_of(case, keys, targets, subgroups, search, models, jobs)
    keeper = (
        None if keep is None else CheckpointStore(keep, resume=resume)
    )  # a mistake in the settings leaves no folder
    runner = Runner(watch, clock, keeper, finished, models)
    names = [t.attack for t in plan.tasks]
    failing = [c.check for c in checks if c.check in CRITICAL and not c.ok]

    def judged(case: Case, results: list[Result]) -> list[Result]:
        return in_doubt(over_families(correct(case, results, acceptable), level), failing)

    def again(planted: Case) -> tuple[list[Result], str]:
        # models take most of the time, and see hardly any copies
        found = judged(planted, run_all(planted, without_models(plan.tasks), runner.untimed()).results)
        return found, overall(found, case.has_holdout, level, failing, planned=names)["verdict"]

    heed_interrupts()
    try:
        run = run_all(case, plan.tasks, runner)
        if plan.described and not clock.up:
            plan.minimal, notes = minimal_disclosing(case, plan.described, jobs=jobs)
            plan.notes += notes
        elif plan.described:
            run.left_out.append(told_left_out("minimal key sets", len(plan.described), len(plan.described)))
        progress("correcting for the number of tests", len(plan.tasks), len(plan.tasks))
        results = judged(case, run.results)
        control = []
        if positive_control is not None and _enough(clock, run):
            before = clock.seconds
            control = controlled(case, positive_control, again, results)
            finished(Finished(_CONTROL, len(KINDS), clock.seconds - before, 0, 0, 0))
        elif positive_control is not None:
            run.left_out.append(told_left_out(_CONTROL, len(KINDS), len(KINDS), "three more runs would take too long"))
            finished(Finished(_CONTROL, 0, 0.0, 0, 0, len(KINDS)))
        progress("gathering records", len(plan.tasks), len(plan.tasks))
        records, exposed = per_record(case, results), exposed_strangers(case, results)
        kept = _utility(case, targets, watch, clock, run) if utility else []
    except KeyboardInterrupt:
        watch.stopped = True
        runs = 1 if positive_control is None else 1 + len(KINDS)
        n_kept, folder = (0, None) if keeper is None else (len(keeper.names), keeper.folder)
        raise Interrupted(n_kept, runs * len(plan.tasks), folder) from None
    settings = {
        "seed": seed, "level": level, "jobs": jobs, "acceptable": acceptable, "search": search, "models": models,
        "keys": list(keys) if keys else None, "targets": list(targets) if targets else None,
        "subgroups": list(subgroups),
        "unit": case.unit, "ignore": list(ignore), "missing": len(tuple(missing)),
    }  # fmt: skip
    return Report.build(
        version=__version__,
        settings=settings,
        started=started.isoformat(timespec="seconds"),
        seconds=clock.seconds,
        tables=_tables(case),
        schema=case.schema,
        bins=case.bins_in_words([c for c in case.columns if c in case.encoded.binned]),
        checks=checks,
        results=results,
        failed=run.failed,
        key_sets=plan.key_sets,
        minimal=plan.minimal,
        notes=[
            *case.notes,
            *plan.notes,
            *notes_on_time(run.left_out, budget),
            *([] if keeper is None else keeper.notes),
        ],
        verdict=overall(results, case.has_holdout, level, failing, run.left_out, names),
        records=records,
        exposed_strangers=exposed,
        positive_control=control,
        left_out=run.left_out,
        utility=kept,
        revealed=list(reveal),
    )


def _utility(
    case: Case, targets: Sequence[str] | None, watch: Watch, clock: Clock, run: RunOutcome
) -> list[dict[str, Any]]:
    """Return what the synthetic table keeps, [] once the time is up."""
    if clock.up:
        run.left_out.append(told_left_out("utility", 1, 1))
        return []
    watch.progress("measuring utility", 0, 1)
    return [u.to_dict() for u in utility_of(case, targets=targets)]


def _n_rows(native: Any) -> int:
    """Return the rows of a table if it knows them without counting, else 0."""
    known = getattr(native, "n_rows", getattr(native, "num_rows", None))
    try:
        return int(known) if isinstance(known, int) else len(native)
    except TypeError:
        return 0


def _enough(clock: Clock, run: RunOutcome) -> bool:
    """Return whether the time that is left is enough for the further runs of the positive control."""
    return clock.left() > len(KINDS) * sum(r.seconds for r in run.results)


# ---------------------------------------------------------------- the verdict


def _tables(case: Case) -> dict[str, Any]:
    out: dict[str, Any] = {"real": None, "synthetic": None, "holdout": None}
    facts = table_facts(case)
    for i, table in enumerate(case.tables):
        out[table.role] = {
            "rows": table.n_rows,
            "columns": len(table.columns),
            "sha256": table.sha256 or case.encoded.fingerprint(i),
            "hashed": "file" if table.sha256 else "canonical columns",
            **facts[i],
        }
    return out
