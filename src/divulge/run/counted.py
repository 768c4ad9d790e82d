"""What of a run an engine can count where the tables are, and what it leaves out."""

from __future__ import annotations

import dataclasses

from divulge.attacks import CATALOGUE
from divulge.case.case import Case
from divulge.core.errors import SettingError
from divulge.run.options import RunOptions
from divulge.run.plan import Plan
from divulge.tables.counting import COUNTING

__all__ = ["check_counted", "counts_elsewhere", "gather", "keep_counted"]

NEEDS_ROWS = "it needs every row, and the tables are counted where they are"
COUNTED = "the tables were counted where they are: attacks that need every row were not made"
_PART = "copies: exact copies alone were counted; near copies and copies of parts of a row need every row"
_NOT_MEASURED = "{} was not measured: it needs every row"


def counts_elsewhere(options: RunOptions) -> bool:
    """Return whether an engine counts the tables of the run where they are."""
    return options.engine in COUNTING


def check_counted(options: RunOptions) -> None:
    """Raise a `SettingError` for an option that needs rows where an engine counts the tables."""
    if not counts_elsewhere(options):
        return
    asked = {
        "positive_control": options.positive_control is not None, "people": options.people not in (None, "all"),
        "resume": options.resume,
    }  # fmt: skip
    if refused := next((name for name, given in asked.items() if given), None):
        raise SettingError(
            f"{refused}: not with engine={options.engine!r}, which keeps rows where they are. hint: leave one out."
        )


def keep_counted(plan: Plan, options: RunOptions) -> None:
    """Leave in the plan what follows from counts alone, and list the attacks that do not."""
    tasks = []
    for task in plan.tasks:
        settings = CATALOGUE[task.attack].plan.counted
        if settings is not None:
            tasks.append(dataclasses.replace(task, settings={**task.settings, **settings}))
    kept = {t.attack for t in tasks}
    plan.uncounted = [name for name in dict.fromkeys(plan.attacks) if name not in kept]
    plan.tasks, plan.described = tasks, []
    plan.notes += [COUNTED, *([_PART] if "copies" in kept else [])]
    plan.notes += [_NOT_MEASURED.format(part) for part in ("fidelity", "utility") if getattr(options, part)]
    plan.not_run += [{"attack": name, "why": NEEDS_ROWS} for name in plan.uncounted]
    order = list(CATALOGUE)
    plan.not_run.sort(key=lambda one: order.index(one["attack"]))


def gather(case: Case, plan: Plan) -> None:
    """Get the distinct rows of all columns that the tasks of a plan look at, in one query a table."""
    named = [[*t.settings.get("keys", ()), *filter(None, [t.settings.get("target")])] for t in plan.tasks]
    counted = sorted({column for names in named for column in names})
    case.gather(counted, case.whole_record if "copies" in plan.attacks else ())
