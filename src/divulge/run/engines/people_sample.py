"""People asked where an engine holds the tables: codes of all rows in files, and a sample of people before them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace

from divulge.attacks.entry import CATALOGUE
from divulge.case.asked import ask_where_they_are
from divulge.case.case import Case
from divulge.case.code_files import CodeFolder, bytes_of_codes, free_on_disk
from divulge.case.spill import Spill
from divulge.core.errors import SettingError, SizeError
from divulge.core.process_wide import large_arrays_apart
from divulge.run.cost.disk import check_disk, on_disk, on_disk_at_most
from divulge.run.cost.memory import in_bytes, room
from divulge.run.cost.searched_bytes import BYTES_OF_A_VALUE, bytes_of_nearest, bytes_to_search, too_much
from divulge.run.making.resumed import as_before
from divulge.run.planning.options import NOBODY, RunOptions
from divulge.run.planning.plan import Plan
from divulge.tables.counting import BY_ROWS, COUNTING
from divulge.tables.engines import spilling_into
from divulge.tables.frames import Table

__all__ = [
    "DEFAULT",
    "NO_DISK",
    "NO_MEMORY",
    "NO_ROOM_TO_SEARCH",
    "NO_ROWS",
    "SAMPLES",
    "Rows",
    "asks_people_of_engine",
    "check_asked",
    "check_opened",
    "check_rows_told",
    "leave_out_searches",
    "nobody_in_words",
    "people_of_engine",
    "with_default_people",
]

NO_ROOM_TO_SEARCH = "the synthetic table does not fit into memory in the form in which it is searched"
NO_DISK = "nobody was asked: the codes of all rows need more disk than there is (--spill names a folder)"
NO_ROWS = (
    "nobody was asked: the tables are of an engine that tells counts and no rows; as Parquet files, or as tables of a "
    "DuckDB file, they would tell rows (--engine duckdb)"
)
NO_MEMORY = "nobody was asked: the values of the fewest people that are asked need more than half of the memory"
DEFAULT = "an engine asks a sample of people (--people sets the number, all asks everybody, none counts alone)"
SAMPLES = (1_000_000, 500_000, 200_000, 100_000, 50_000, 20_000, 10_000)
"""People asked where not all fit into memory: the first of these numbers that does."""


def asks_people_of_engine(options: RunOptions) -> bool:
    """Return whether people are asked although an engine holds the tables."""
    return options.engine in COUNTING and options.sample is not None


def check_asked(options: RunOptions) -> None:
    """Raise a `SettingError` where people or a folder are named that the engine has no use for."""
    if options.people == NOBODY and options.engine not in COUNTING:
        raise SettingError("people: 'none' counts where the tables are, with an engine. hint: give a number, or 'all'.")
    if options.engine not in COUNTING or options.engine in BY_ROWS:
        if options.spill is not None and options.people == NOBODY:
            raise SettingError("spill: counts alone need no folder. hint: ask people too (--people), or leave it out.")
        return
    if options.people not in (None, NOBODY):
        raise SettingError(f"people: not with engine={options.engine!r}, which counts alone. hint: leave one out.")
    if options.spill is not None:
        raise SettingError("spill: counts alone need no folder. hint: leave it out.")


def check_rows_told(options: RunOptions, *, by_rows: bool) -> None:
    """Raise a `SettingError` where people are named and a table tells no rows, as a relation of DuckDB."""
    if not by_rows and options.engine in COUNTING and options.people not in (None, NOBODY):
        raise SettingError(
            f"people: a table is a relation of {options.engine}, which tells counts and no rows. hint: write it as "
            "Parquet, or name FILE.duckdb::TABLE; people='none' counts alone."
        )


def check_opened(options: RunOptions, tables: Sequence[Table | None]) -> None:
    """Raise an error as `check_rows_told` for tables that are open, before anything is counted."""
    check_rows_told(options, by_rows=all(t is None or t.counting is not None for t in tables))


@dataclass
class Rows:
    """What of the rows of a run lies in files, until it ends."""

    folder: CodeFolder | None = None
    engine: CodeFolder | None = None
    """Where engines write what does not fit into memory."""

    def spilling_engines(self, options: RunOptions) -> AbstractContextManager[None]:
        """Have DuckDB write what does not fit into memory of tables that are opened meanwhile to the folder named."""
        if options.spill is None or options.engine != "duckdb":
            return nullcontext()
        self.engine = CodeFolder(options.spill)
        return spilling_into(self.engine.path)

    def search_by_blocks(self, case: Case, options: RunOptions) -> None:
        """Have the indices of a case written to a private folder and searched block by block, if one is named.

        Raises
        ------
        SettingError
            There is no such folder, or nothing can be written there.
        SizeError
            Its disk has no room for them.
        """
        if options.spill is not None and case.in_memory:
            check_disk(on_disk(case, (), options, 0), options)
            large_arrays_apart()
            self.folder = CodeFolder(options.spill)
            case.encoded.spill = Spill(self.folder.path)

    def ask(
        self,
        case: Case,
        plan: Plan,
        options: RunOptions,
        progress: Callable[[str, int, int], None],
        before: Callable[[str], None],
    ) -> RunOptions:
        """Write the codes of all rows, and draw the people who are asked, so that `asked_of` has them.

        Attacks that search rows are taken out of the plan, with the reason, where their search would not fit. What
        comes back are the options, in which nobody is asked where no attack of the plan would.

        Raises
        ------
        SettingError, SizeError, TableError
            As `check_disk` and `codes_in_files`.
        """
        if not asks_people_of_engine(options) or options.sample is None:
            return options
        if not any(CATALOGUE[t.attack].sampled for t in plan.tasks):
            return replace(options, people=NOBODY)
        if not options.beyond_memory:
            _check_people(case, options.sample)
        codes = bytes_of_codes(case.encoded, case.columns)
        told = on_disk(case, plan.attacks, options, codes)
        free = check_disk(told, options)
        before(
            f"the codes of all rows are written to a private folder, {in_bytes(codes)}, and removed at the end; with "
            f"what is searched about {in_bytes(told.needed)} are needed there, and {in_bytes(free)} are free"
        )
        large_arrays_apart()
        self.folder = CodeFolder(options.spill)
        what = "writing the codes of all rows"
        case.encoded.spill = Spill(self.folder.path)
        asked = ask_where_they_are(case, options.sample, self.folder, lambda done, total: progress(what, done, total))
        if not options.beyond_memory:
            _leave_out_beyond(asked.case, plan)
        return options

    def remove(self) -> None:
        """Remove the files."""
        for folder in filter(None, (self.folder, self.engine)):
            folder.remove()


def _check_people(case: Case, people: int) -> None:
    """Raise a `SizeError` where the values of the people asked do not fit into memory, whatever else is made."""
    there = room()
    asked = sum(min(people, case.n_rows(role)) for role in ("real", "holdout"))
    needed = BYTES_OF_A_VALUE * asked * len(case.schema.usable())
    if there is not None and needed > there.free:
        raise SizeError(
            f"memory: about {in_bytes(needed)} are needed for the values of {asked:,} people, and this process may use "
            f"{in_bytes(there.free)} ({there.why}). hint: ask fewer (--people), count alone (--people none), leave "
            "columns out (--ignore), or begin nevertheless (--beyond-memory)."
        )


def _leave_out_beyond(asked: Case, plan: Plan) -> None:
    """Take out of the plan what holds more of the synthetic rows in memory than fits."""
    there = room()
    if there is not None:
        people = asked.n_rows("real") + asked.n_rows("holdout")
        columns = len(asked.schema.usable())
        leave_out_searches(plan, bytes_to_search(plan.tasks, asked.n_rows("synthetic"), people, columns), there.free)


def leave_out_searches(plan: Plan, needed: dict[str, int], free: int) -> None:
    """Take attacks that search the rows of the synthetic table out of a plan where they do not fit, and list them."""
    plan.leave_out(dict.fromkeys(too_much(needed, free), NO_ROOM_TO_SEARCH))


# ---------------------------------------------------------------- how many are asked where nobody says it


def with_default_people(
    options: RunOptions, rows: Sequence[int], synthetic: int, columns: int, free: int | None, *, by_rows: bool = True
) -> RunOptions:
    """Return the options of a run by an engine with the number of people that it asks.

    Where the user names none, a million members and as many strangers are asked at most, or the first of some smaller
    numbers whose values fit into half of the memory and whose nearest rows can be searched in three quarters of it;
    where these rows never can be, their values alone decide. Nobody is asked where an engine tells counts alone.

    Parameters
    ----------
    rows
        Of the tables of people.
    synthetic
        Rows of the (largest) synthetic table.
    columns
        Of the tables.
    free
        Bytes that the process may take; None where that is not known.
    by_rows
        Whether all tables lie where their rows are told.

    Examples
    --------
    >>> options = RunOptions(engine="duckdb")
    >>> with_default_people(options, [5_000_000, 100_000], 5_000_000, 15, 10**10).people
    1000000
    >>> with_default_people(options, [5_000_000, 100_000], 5_000_000, 15, 10**9).people
    100000
    """
    if options.engine not in BY_ROWS or options.people not in (None, "all"):
        return options
    if options.people == "all":
        return replace(options, people=max(rows))
    if not by_rows:
        return replace(options, people=NOBODY)
    if free is None or options.beyond_memory:
        return replace(options, people=SAMPLES[0])
    asked = {n: sum(min(n, m) for m in rows) for n in SAMPLES}
    fits = [n for n in SAMPLES if asked[n] * columns * BYTES_OF_A_VALUE <= free / 2]
    searched = [n for n in fits if bytes_of_nearest(synthetic, asked[n], columns) <= 0.75 * free]
    return replace(options, people=next(iter(searched or fits), NOBODY))


def nobody_in_words(named: RunOptions, asking: RunOptions, *, by_rows: bool) -> list[str]:
    """Return why a run by an engine asks nobody; [] where it asks people, or where the user wants nobody asked.

    Parameters
    ----------
    named, asking
        The options of the user, and those of the run.
    by_rows
        Whether all tables lie where their rows are told.
    """
    if named.engine not in COUNTING or named.people is not None or asking.sample is not None:
        return []
    return [NO_MEMORY if by_rows else NO_ROWS]


def people_of_engine(case: Case, options: RunOptions) -> tuple[RunOptions, list[str]]:
    """Return the options with the number of people that a run by an engine asks, and notes on it."""
    if options.engine not in BY_ROWS or options.people == NOBODY:
        return options, nobody_in_words(options, options, by_rows=options.engine in BY_ROWS)
    there, rows = room(), [case.n_rows("real"), case.n_rows("holdout")]
    by_rows = all(t.counting is not None for t in case.tables)
    free = None if there is None else there.free
    before = as_before(options)
    asking = with_default_people(options, rows, case.n_rows("synthetic"), len(case.columns), free, by_rows=by_rows)
    asking = asking if before is options or not by_rows else before
    if options.people is not None or asking.people == NOBODY:
        return asking, nobody_in_words(options, asking, by_rows=by_rows)
    if on_disk_at_most(case, asking, bytes_of_codes(case.encoded, case.columns)) > free_on_disk(options.spill):
        return replace(options, people=NOBODY), [NO_DISK]
    return asking, [DEFAULT] if asking.sample is not None and max(rows) > asking.sample else []
