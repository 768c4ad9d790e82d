"""People asked where an engine holds the tables: codes of all rows in files, and a sample of people before them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from divulge.attacks import CATALOGUE
from divulge.case.asked import ask_where_they_are
from divulge.case.case import Case
from divulge.case.code_files import CodeFolder, bytes_of_codes
from divulge.case.spill import Spill
from divulge.core.errors import SettingError
from divulge.run.expected_cost import expected_bytes, process_bytes, work_of
from divulge.run.memory import in_bytes, room
from divulge.run.options import RunOptions
from divulge.run.plan import Plan, Task
from divulge.tables.counting import BY_ROWS, COUNTING

__all__ = ["NO_ROOM_TO_SEARCH", "Rows", "asks_elsewhere", "check_asked", "leave_out_searches", "searches"]

NO_ROOM_TO_SEARCH = "the synthetic table does not fit into memory in the form in which it is searched"


def asks_elsewhere(options: RunOptions) -> bool:
    """Return whether people are asked although an engine holds the tables."""
    return options.engine in COUNTING and options.sample is not None


def check_asked(options: RunOptions) -> None:
    """Raise a `SettingError` where people or a folder are named that the engine has no use for."""
    if asks_elsewhere(options) and options.engine not in BY_ROWS:
        raise SettingError(f"people: not with engine={options.engine!r}, which counts alone. hint: leave one out.")
    if options.spill is not None and options.engine in COUNTING and not asks_elsewhere(options):
        raise SettingError("spill: counts alone need no folder. hint: ask people too (--people), or leave it out.")


@dataclass
class Rows:
    """What of the rows of a run lies in files, until it ends."""

    folder: CodeFolder | None = None

    def search_by_blocks(self, case: Case, options: RunOptions) -> None:
        """Have the indices of a case written to a private folder and searched block by block, if one is named.

        Raises
        ------
        SettingError
            There is no such folder, or nothing can be written there.
        """
        if options.spill is not None and case.in_memory:
            self.folder = CodeFolder(options.spill)
            case.encoded.spill = Spill(self.folder.path)

    def ask(
        self,
        case: Case,
        plan: Plan,
        options: RunOptions,
        progress: Callable[[str, int, int], None],
        before: Callable[[str], None],
    ) -> None:
        """Write the codes of all rows, and draw the people who are asked, so that `asked_of` has them.

        Attacks that search rows are taken out of the plan, with the reason, where their search would not fit.

        Raises
        ------
        SettingError, SizeError, TableError
            As `codes_in_files`.
        """
        if not asks_elsewhere(options) or not any(CATALOGUE[t.attack].sampled for t in plan.tasks):
            return
        if options.sample is None:
            return
        self.folder = CodeFolder(options.spill)
        needed = bytes_of_codes(case.encoded, case.columns)
        before(f"the codes of all rows are written to a private folder, {in_bytes(needed)}, and removed at the end")
        what = "writing the codes of all rows"
        case.encoded.spill = Spill(self.folder.path)
        asked = ask_where_they_are(case, options.sample, self.folder, lambda done, total: progress(what, done, total))
        if not options.beyond_memory:
            _leave_out_beyond(asked.case, plan, options)

    def remove(self) -> None:
        """Remove the files."""
        if self.folder is not None:
            self.folder.remove()


def _leave_out_beyond(asked: Case, plan: Plan, options: RunOptions) -> None:
    """Take out of the plan what searches the rows of a synthetic table that does not fit into memory for that."""
    there, searching = room(), [t for t in plan.tasks if searches(t)]
    if there is not None and searching and _bytes_to_search(asked, searching, options) > there.free:
        leave_out_searches(plan)


def leave_out_searches(plan: Plan) -> None:
    """Take the attacks that search the rows of the synthetic table out of a plan, and list them."""
    plan.leave_out({t.attack: NO_ROOM_TO_SEARCH for t in plan.tasks if searches(t)})


def searches(task: Task) -> bool:
    """Return whether a task asks people and needs all rows of the synthetic table in memory."""
    entry, settings = CATALOGUE[task.attack], task.settings
    taught = "model" in settings.get("ways", ())
    parts = entry.plan.by_parts == "yes" or (entry.plan.by_parts == "by keys" and "keys" in settings and not taught)
    return entry.sampled and entry.plan.in_memory and not parts


def _bytes_to_search(asked: Case, tasks: Sequence[Task], options: RunOptions) -> int:
    """Return about how many bytes a process needs, beyond those of the libraries, to make tasks that search rows."""
    work = work_of(asked, tasks, replace(options, fidelity=False, utility=False))
    return expected_bytes(work) - process_bytes()
