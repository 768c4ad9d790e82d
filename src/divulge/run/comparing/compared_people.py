"""The people of a comparison: how many are asked, what is kept of them, and that each table asks the same ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from divulge.attacks.entry import CATALOGUE
from divulge.case.asked import asked_of, people_told
from divulge.case.case import Case
from divulge.case.matched_rows import matched_people
from divulge.core.errors import SettingError, SizeError, TableError
from divulge.core.result import Individual, Result
from divulge.run.cost.expected_cost import bytes_of_scores
from divulge.run.cost.memory import in_bytes, room
from divulge.run.engines.engine_plan import check_counted, uses_engine
from divulge.run.engines.people_sample import DEFAULT, NO_MEMORY, SAMPLES, with_default_people
from divulge.run.planning.options import NOBODY, Attacker, RunOptions
from divulge.tables.counting import BY_ROWS
from divulge.tables.frames import Table

__all__ = [
    "OTHERS_ASKED",
    "PeopleSeen",
    "check_ranking",
    "check_same_people",
    "people_of_comparison",
    "people_seen",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

OTHERS_ASKED = (
    "people: those asked are not the ones of the first table, so that this one cannot be compared person by person: a "
    "table of people was written meanwhile, or this one has values of another type in a column. hint: compare again on "
    "tables that nothing writes to, with columns of the types of the real table."
)
_PEOPLE = "candidates are ranked person by person"
_COPIES = ("copies", "exact")


def check_ranking(options: RunOptions) -> None:
    """Raise a `SettingError` for options by which nobody would be asked, so that nothing could be ranked."""
    options.check()
    if uses_engine(options) and options.engine not in BY_ROWS:
        raise SettingError(
            f"engine: {_PEOPLE}, and {options.engine} tells counts and no rows. hint: write the tables as Parquet, and "
            "take 'duckdb' or 'polars'; or 'memory', which reads them."
        )
    if options.people == NOBODY:
        raise SettingError(f"people: 'none' asks nobody, and {_PEOPLE}. hint: give a number, or 'all'.")
    check_counted(options)


def people_of_comparison(
    options: RunOptions, people: Sequence[Table], columns: int, attacker: Attacker, n_tables: int
) -> tuple[RunOptions, list[str]]:
    """Return the options with the number of people that each table is asked by, and notes on it.

    In memory everybody is asked unless a number is named. By an engine it is the number of an assessment, or a smaller
    one with whom the scores of all tables take less than half of the memory.

    Parameters
    ----------
    people
        The tables of people, opened.
    columns
        Of the tables.
    n_tables
        How many are compared.

    Raises
    ------
    SettingError
        A table of people tells no rows.
    SizeError
        The scores of the people do not fit into memory.
    """
    if not uses_engine(options):
        return replace(options, people="all" if options.people is None else options.people), []
    if any(t.counting is None for t in people):
        raise SettingError(
            f"engine: {_PEOPLE}, and a relation of {options.engine} tells counts and no rows. hint: write it as "
            "Parquet, or name FILE.duckdb::TABLE."
        )
    there, rows = room(), [t.n_rows for t in people]

    def held(n: int) -> int:
        sides = [min(n, m) for m in rows]
        return n_tables * sum(bytes_of_scores(sides, columns, attacker, membership=options.membership))

    named = options.people
    if there is None or options.beyond_memory:
        asking = with_default_people(options, rows, rows[0], columns, None)
    else:
        asking = with_default_people(options, rows, rows[0], columns, there.free)  # a synthetic table is as large
        if named is None and asking.sample is not None:
            fits = (n for n in SAMPLES if n <= asking.sample and held(n) <= there.free / 2)
            asking = replace(asking, people=next(fits, NOBODY))
        elif asking.sample is not None and held(asking.sample) > there.free:
            raise SizeError(
                f"memory: the scores of {asking.sample:,} people under {n_tables} tables need about "
                f"{in_bytes(held(asking.sample))}, and this process may use {in_bytes(there.free)} ({there.why}). "
                "hint: ask fewer (--people), compare fewer tables, or begin nevertheless (--beyond-memory)."
            )
    if asking.people == NOBODY:
        raise SizeError(f"memory: {NO_MEMORY}. hint: compare fewer tables, or leave columns out (--ignore).")
    if asking.sample is not None and asking.sample >= max(rows):
        return replace(asking, people="all"), []
    return asking, [DEFAULT] if named is None else []


@dataclass(frozen=True, slots=True, eq=False)
class PeopleSeen:
    """What is kept of the people of one run, in the order of their scores."""

    units: tuple[Ints | None, Ints | None]
    """Person or household of each row of members and of strangers asked."""
    told: str = ""
    """A hash of what they say in their order; "" where all rows are in memory, in their order, or nobody is asked."""
    everybody: bool = False
    """Whether every comparison has the scores of all people, in the order of the tables."""
    copied: tuple[Floats, Floats | None] | None = None
    """By an engine, whether a synthetic row equals the whole row of each; None where no column makes a whole row."""
    rows: tuple[Ints, Ints | None] | None = None
    """Rows of the tables that they are, where a sample is asked in memory."""

    def scores(self, result: Result) -> Individual | None:
        """Return the scores of the people asked under a comparison; None where it has none of single people."""
        if self.everybody or (self.told and CATALOGUE[result.attack].sampled):
            return result.individual
        if self.rows is not None and (every := result.individual) is not None:
            real, holdout = self.rows
            strangers = None if every.holdout is None or holdout is None else every.holdout[holdout]
            return Individual(real=every.real[real], holdout=strangers)
        if (result.attack, result.variant) != _COPIES or self.copied is None:
            return None
        return Individual(real=self.copied[0], holdout=self.copied[1])


def people_seen(case: Case, options: RunOptions) -> PeopleSeen:
    """Return what is kept of the people of a run, as long as its rows are there."""
    asked = asked_of(case, options.sample)
    if asked is None:
        here = case.in_memory
        return PeopleSeen((case.units("real"), case.units("holdout")) if here else (None, None), everybody=here)
    own = asked.case
    units, told = (own.units("real"), own.units("holdout")), people_told(own)
    if case.in_memory:
        return PeopleSeen(units, told, rows=(asked.real, asked.holdout))
    if not case.whole_record:
        return PeopleSeen(units, told)
    members, *strangers = (equal.astype(float) for equal in matched_people(own, case.whole_record))
    return PeopleSeen(units, told, copied=(members, strangers[0] if strangers else None))


def check_same_people(first: PeopleSeen, other: PeopleSeen) -> None:
    """Raise a `TableError` where two tables were asked by other people, or by the same in another order."""
    if first.told != other.told:
        raise TableError(OTHERS_ASKED)
