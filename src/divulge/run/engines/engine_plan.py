"""What of a run an engine can count where the tables are, and what it leaves out."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from math import prod

from divulge.attacks.entry import CATALOGUE
from divulge.case.case import Case
from divulge.case.cells import n_cells_in_parts, n_cells_of
from divulge.case.matched_rows import bytes_to_match
from divulge.core.errors import SettingError, SizeError
from divulge.measures.blocks import coded_columns
from divulge.measures.entry import Measure
from divulge.run.cost.memory import in_bytes, room
from divulge.run.engines.people_sample import check_asked
from divulge.run.planning.options import RunOptions
from divulge.run.planning.plan import Plan
from divulge.tables.counting import COUNTING, narrowest

__all__ = [
    "COUNTED",
    "EXACT_ALONE",
    "NEEDS_ROWS",
    "NO_ROOM",
    "NO_ROOM_TO_COUNT",
    "bytes_of_fidelity",
    "bytes_of_fidelity_on",
    "check_counted",
    "codes_for_fidelity",
    "counted_measures",
    "load_distinct_rows",
    "restrict_to_counts",
    "uses_engine",
]

NEEDS_ROWS = "it needs every row, and the tables are counted where they are"
COUNTED = "the tables were counted where they are: attacks that need every row were not made"
EXACT_ALONE = "copies: exact copies alone were counted; near copies and copies of parts of a row need every row"
NO_ROOM = "fidelity was not measured: codes of all rows do not fit into memory (--beyond-memory begins nevertheless)"
NO_ROOM_TO_COUNT = "it is about all people, and the distinct rows of what it looks at do not fit into memory"
_UNTAUGHT = "measures that fit models were not made: they need every row, and the tables are counted where they are"
_CELL, _SCORE = 170, 8  # bytes of a distinct row, and of its score under a test of a family (docs/decisions/engines.md)
_ROW = 260  # bytes of a row in memory beside its codes: hashes, orders, blocks (docs/decisions/engines.md)
_ROW_OF_FILES = 150  # of a row whose codes lie in files


def uses_engine(options: RunOptions) -> bool:
    """Return whether an engine counts the tables of the run where they are."""
    return options.engine in COUNTING


def check_counted(options: RunOptions) -> None:
    """Raise a `SettingError` for an option that needs rows where an engine counts the tables."""
    check_asked(options)
    if not uses_engine(options):
        return
    asked = {
        "positive_control": options.positive_control is not None, "fidelity_models": options.fidelity_models,
    }  # fmt: skip
    if refused := next((name for name, given in asked.items() if given), None):
        raise SettingError(
            f"{refused}: not with engine={options.engine!r}, which keeps rows where they are. hint: leave one out."
        )


def restrict_to_counts(plan: Plan, options: RunOptions) -> None:
    """Leave in the plan what counts alone give and what asks a sample of people, and list all other attacks."""
    tasks = []
    for task in plan.tasks:
        entry = CATALOGUE[task.attack]
        if options.sample is not None and entry.sampled:
            tasks.append(task)
        elif entry.plan.counted is not None:
            tasks.append(dataclasses.replace(task, settings={**task.settings, **entry.plan.counted}))
    kept = {t.attack for t in tasks}
    plan.leave_out({name: NEEDS_ROWS for name in dict.fromkeys(plan.attacks) if name not in kept})
    plan.tasks, plan.described = tasks, []
    plan.notes += [COUNTED, *([EXACT_ALONE] if "copies" in kept else [])]


def load_distinct_rows(case: Case, plan: Plan, options: RunOptions) -> None:
    """Get the distinct rows of all columns that the tasks of a plan look at, in one query a table.

    Whole records are not among them where the codes of all rows lie in files: these are compared part by part.

    Raises
    ------
    SizeError
        They are not expected to fit into memory, and no sample of people is asked. Where one is, the attacks on all
        people are taken out of the plan instead, and listed.
    """
    tasks = [t for t in plan.tasks if options.sample is None or not CATALOGUE[t.attack].sampled]
    in_files = case.in_files
    # whole records are the most rows: without them the others may fit
    for some in (tasks, [t for t in tasks if t.attack != "copies"]):
        named = [[*t.settings.get("keys", ()), *filter(None, [t.settings.get("target")])] for t in some]
        counted = sorted({column for names in named for column in names})
        whole = case.whole_record if any(t.attack == "copies" for t in some) else ()
        compared = whole if in_files is None else ()
        more = bytes_to_match(in_files, whole) if in_files is not None and whole else 0
        try:
            if not options.beyond_memory:
                _check_gathered(case, {True: counted, False: compared}, sum(t.in_family for t in some), more)
        except SizeError:
            if options.sample is None:
                raise
            continue
        plan.leave_out({t.attack: NO_ROOM_TO_COUNT for t in tasks if t not in some})
        case.gather(counted, compared, ordered=options.keep is not None)
        return
    plan.leave_out(dict.fromkeys((t.attack for t in tasks), NO_ROOM_TO_COUNT))


def _check_gathered(case: Case, wanted: Mapping[bool, Sequence[str]], n_tests: int, more: int) -> None:
    """Raise a `SizeError` where the distinct rows of some columns, binned or not, do not fit into memory.

    Only where there could be too many are they counted: by the engine, or from the codes of rows where these lie in
    files. `more` bytes are needed besides.
    """
    there, coded = room(), case.in_files
    if there is None:
        return

    def needed(n_of: Callable[[int, bool], int]) -> int:
        cells = {(i, b): n_of(i, b) for i in range(len(case.tables)) for b, columns in wanted.items() if columns}
        people = sum(n for (i, b), n in cells.items() if b and i != 1)
        return more + _CELL * sum(cells.values()) + _SCORE * n_tests * people

    def at_most(which: int, binned: bool) -> int:
        n_rows = case.tables[which].n_rows
        apart = case.unit is not None and which != 1  # the rows of people are kept one by one
        return n_rows if apart else min(n_rows, prod(case.n_codes(c, binned=binned) for c in wanted[binned]))

    def counted(which: int, binned: bool) -> int:
        apart = case.unit is not None and which != 1
        if apart:
            return case.tables[which].n_rows
        if coded is not None and wanted[binned]:
            return n_cells_in_parts(coded.encoded, which, wanted[binned], binned=binned)
        return n_cells_of(case.encoded, which, wanted[binned], binned=binned)

    if needed(at_most) > there.free and (bytes_needed := needed(counted)) > there.free:
        rows = " + ".join(f"{t.n_rows:,}" for t in case.tables)
        raise SizeError(
            f"memory: the distinct rows of {rows} rows need about {in_bytes(bytes_needed)}, and this process may use "
            f"{in_bytes(there.free)} ({there.why}). hint: name fewer keys and targets, leave columns out (--ignore), "
            "or begin nevertheless (--beyond-memory)."
        )


def codes_for_fidelity(case: Case, groups: Sequence[str] = (), *, beyond_memory: bool = False) -> Case:
    """Return the case with the codes of each row of the columns that the counted measures of fidelity compare.

    Parameters
    ----------
    groups
        Columns whose values define subgroups.
    beyond_memory
        Whether to begin although the codes are not expected to fit into memory.

    Raises
    ------
    SizeError
        They do not fit.
    """
    there, needed = room(), bytes_of_fidelity_on(case, groups)
    if there is not None and needed > there.free and not beyond_memory:
        n_rows = sum(t.n_rows for t in case.tables)
        raise SizeError(
            f"memory: the codes of {n_rows:,} rows need about {in_bytes(needed)}, and this process may use "
            f"{in_bytes(there.free)} ({there.why}). hint: leave columns out (--ignore), or begin nevertheless "
            "(--beyond-memory)."
        )
    return case.with_codes(coded_columns(case, groups))


def bytes_of_fidelity_on(case: Case, groups: Sequence[str] = ()) -> int:
    """Return about how many bytes the measures of fidelity take on a case, by the codes of all rows."""
    n_rows = sum(t.n_rows for t in case.tables)
    if case.in_files is not None:
        return bytes_of_fidelity(n_rows, None)
    named = (*coded_columns(case, groups), *([case.unit] if case.unit else []))
    return bytes_of_fidelity(n_rows, sum(narrowest(case.n_codes(c, binned=False)).itemsize for c in named))


def bytes_of_fidelity(n_rows: int, wide: int | None) -> int:
    """Return about how many bytes the measures of fidelity take by codes of so many bytes a row; None: in files."""
    return n_rows * (_ROW_OF_FILES if wide is None else wide + _ROW)


def counted_measures(measures: Sequence[Measure], engine: str, *, named: bool) -> tuple[tuple[Measure, ...], list[str]]:
    """Return the measures of fidelity that need counts alone, and notes on the others.

    Parameters
    ----------
    measures
        Entries of the registry.
    engine
        What counts the tables.
    named
        Whether the user named each.

    Raises
    ------
    SettingError
        A measure that was named fits models.
    """
    counted = tuple(m for m in measures if not m.models)
    if len(counted) == len(measures):
        return counted, []
    if named:
        first = next(m.name for m in measures if m.models)
        raise SettingError(
            f"measures: {first!r} needs every row, and {engine} counts rows where they are. hint: engine='memory' "
            "reads them."
        )
    return counted, [_UNTAUGHT]
