"""The catalogue of attacks: the entry of each attack, and the public function made from it."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from divulge.attacks.checks import in_doubt
from divulge.attacks.entry import (
    CATALOGUE,
    Attack,
    Claimed,
    Coarse,
    Cost,
    Expect,
    Plan,
    Primary,
    Record,
    Results,
    Rounding,
    Run,
    Summary,
    Words,
    hit_words,
    unclaimed,
)
from divulge.attacks.multiplicity import correct
from divulge.case.case import COLLECTED, LEFT_OUT, READ, Case, build_case
from divulge.case.door import of_one_table, public_function
from divulge.case.preconditions import unlike_values, verbatim_strangers
from divulge.core.errors import SettingError
from divulge.core.result import Counts, Result
from divulge.tables.counting import COUNTING, Engine
from divulge.tables.stacking import LACKING, TOGETHER

__all__ = ["CODED", "MIXED", "answer", "attack", "is_about_tables", "made_alone", "worded"]

CODED = (
    "Numbers and dates are put into bins, by default ten of equal counts among real and holdout; missing is a value "
    "of its own."
)
"""`Words.data` of attacks that count coded values."""
MIXED = (
    "A distance is the mean over columns: numbers count by their difference over the range of real and holdout, at "
    "most 1, all else 0 or 1, and missing equals missing. Constants, identifiers, free text, the unit and ignored "
    "columns are left out unless named."
)
"""`Words.data` of attacks that measure distances."""
_NOTHING: Mapping[str, Any] = {}


def attack(
    *,
    family: str,
    question: str,
    needs: str,
    reference: str,
    words: Words,
    plan: Plan,
    cost: Cost | None = None,
    weight: int = 0,
    primary: Primary | None = None,
    summary: Summary | None = None,
    expect: Expect | None = None,
    record: Record | None = None,
    counts: Counts = "people",
    hit: Mapping[str, str] = _NOTHING,
    values: Mapping[str, str] = _NOTHING,
    coarse: Coarse | None = None,
    context: Mapping[str, Rounding] = _NOTHING,
    claimed: Callable[[str], Claimed | None] = unclaimed,
    compared: bool = True,
    notes: Sequence[str] = (),
    sampled: bool = False,
    most: int | None = None,
    held: Callable[[Sequence[Result]], list[Result]] | None = None,
    alone: Sequence[str] = (),
) -> Callable[[Run], Any]:
    """Enter a function into the catalogue and return the public function that builds the case for it.

    The decorated function takes a `Case` and its own keyword settings. The public function takes the tables instead,
    and also what `answer` takes; `public.run` is the decorated function, timed.
    The arguments become the fields of `Attack`, which documents them. Runs, reports and editions know an attack only
    by this entry.
    """

    def enter(function: Run) -> Any:
        entry = Attack(
            function.__name__, family, question, needs, reference, words, function, plan, cost or Cost(), weight,
            primary, summary, expect, record, counts, hit, values, coarse, context, claimed, compared, tuple(notes),
            sampled, most, held, tuple(alone),
        )  # fmt: skip
        entry = dataclasses.replace(entry, run=_timed(entry))
        CATALOGUE.enter(entry)
        return public_function(entry, answer, of_one_table)

    return enter


def _timed(entry: Attack) -> Run:
    """Return the attack on a case; its results have the seconds it took and the words of its entry."""

    @functools.wraps(entry.run)
    def run(case: Case, **settings: Any) -> Result | Results:
        began = time.perf_counter()
        found = entry.run(case, **settings)
        results = (found,) if isinstance(found, Result) else found
        seconds = (time.perf_counter() - began) / max(1, len(results))
        told = tuple(replace(worded(r, entry), seconds=seconds) for r in results)
        return told[0] if isinstance(found, Result) else told

    return run


def worded(result: Result, entry: Attack) -> Result:
    """Return the result with the words of its entry, by which it prints itself."""
    hit, measured = hit_words(entry.hit, result.variant), entry.values.get(result.variant, "")
    return replace(result, counts=entry.counts, hit=hit, measured=measured)


def answer(entry: Attack, settings: dict[str, Any], *, engine: Engine = "auto", **tables: Any) -> Result | Results:
    """Return the results of an attack on tables, which `of_one_table` describes.

    Parameters
    ----------
    engine
        Where tables are counted: "memory", or where they are, by "duckdb", "polars" or "spark", for attacks that need
        counts alone. "auto" leaves tables of DuckDB and Spark where they are.
    """
    asked = _asked(inspect.signature(entry.run), settings)
    case = build_case(**tables, engine=engine, asked=asked)
    if counting := engine if engine in COUNTING else case.engine:
        _gather(case, entry, settings, counting)
    elif entry.plan.in_memory:
        case = case.collected("this attack needs every row")
    return made_alone(entry, case, settings, asked)


def made_alone(
    entry: Attack, case: Case, settings: Mapping[str, Any], asked: Sequence[str] | None = None
) -> Result | Results:
    """Return the results of an attack that is made by itself on a case: corrected, with notes on the tables.

    Parameters
    ----------
    entry, case, settings
        The attack, the tables, and its own settings.
    asked
        Columns that the call names, where it needs no other.
    """
    notes = [n for n in case.notes if is_about_tables(n) or n.startswith(READ)]
    failing = verbatim_strangers(case) if entry.compared and asked is None else []
    notes += [f"precondition not met: {c.check}: {c.detail}" for c in failing]
    found = entry.run(case, **settings)
    looked_at = case.whole_record if asked is None else [c for c in case.columns if c in asked]
    apart = [name for name, share in unlike_values(case).items() if share == 1 and name in looked_at]
    if apart and entry.compared:
        notes.append(
            f"precondition not met: same values: {', '.join(map(repr, apart))}: no value stands in both the "
            "synthetic table and a real record, so that no copy could show"
        )
    doubted = [c.check for c in failing] + ["same values"] * bool(apart)
    if isinstance(found, Result):
        return in_doubt([replace(found, notes=(*found.notes, *notes))], doubted)[0]
    # the comparisons of one call are one family; `assess` corrects over all calls of an attack
    noted = [replace(r, notes=(*r.notes, *(() if i else notes))) for i, r in enumerate(found)]
    judged = in_doubt(correct(case, noted), doubted)
    return tuple(judged if entry.held is None else entry.held(judged))


def _gather(case: Case, entry: Attack, settings: Mapping[str, Any], engine: str) -> None:
    """Get the distinct rows of the columns that an attack looks at from the engine; the attack checks their names."""
    if entry.plan.in_memory:
        raise SettingError(
            f"engine: {entry.name} needs every row, and {engine} counts rows where they are. hint: engine='memory' "
            "reads them."
        )
    named = [*(settings.get("keys") or ()), *filter(None, [settings.get("target")])]
    compared = settings.get("columns") or (case.whole_record if entry.plan.per == "table" else ())
    case.gather(*([c for c in dict.fromkeys(names) if c in case.columns] for names in (named, compared)))


_TOLD = (LEFT_OUT, TOGETHER, LACKING)
"""Parts of the notes on tables that the first result of a call repeats."""
_NAMES = ("keys", "target", "subgroups")
"""Settings that name columns."""


def is_about_tables(note: str) -> bool:
    """Return whether a note is one on tables that the first result of a call repeats."""
    return note.startswith(COLLECTED) or any(part in note for part in _TOLD)


def _asked(own: inspect.Signature, settings: Mapping[str, Any]) -> list[str] | None:
    """Return the columns that a call names, where it names its keys and its target; None: it may need any column."""
    named = [settings.get(name) for name in _NAMES if name in own.parameters]
    needed = [settings.get(name) for name in _NAMES[:2] if name in own.parameters]
    if "keys" not in own.parameters or "columns" in own.parameters or any(given is None for given in needed):
        return None
    return [c for given in named if given is not None for c in ([given] if isinstance(given, str) else given)]
