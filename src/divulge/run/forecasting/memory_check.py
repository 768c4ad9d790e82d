"""Whether a run fits into memory: a run that does not is refused before it begins, or asks a sample of people."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

from divulge.attacks.entry import CATALOGUE
from divulge.core.errors import DivulgeError, SizeError
from divulge.run.cost.expected_cost import (
    Work,
    bytes_of_scores,
    check_work,
    expected_bytes,
    limit_of,
    own_parts,
    process_bytes,
    too_large,
    work_of,
)
from divulge.run.cost.memory import Room, room
from divulge.run.forecasting.forecast import Sizes, announced, outlook_of, sizes_of
from divulge.run.forecasting.outlook import Outlook
from divulge.run.planning.options import MEMBERSHIP, Attacker, Reading, RunOptions

__all__ = [
    "TOO_LARGE",
    "check_comparison",
    "check_fidelity",
    "check_membership",
    "fitting",
    "memory_told",
    "refuse_beyond",
    "work_of_fidelity",
    "work_of_membership",
]

TOO_LARGE = "all people do not fit into memory, so that a sample is asked (--people all asks everybody)"
_FEWER_COLUMNS = "leave columns out (--ignore), "
_ONE_BY_ONE = "ask a sample of people (--people), have an engine hold the tables (--engine duckdb), "
_BYTES_OF_STACKED, _BYTES_OF_STACKED_CELL = 90, 18  # of a row of all candidates that are coded together
_TESTS, _TESTS_A_COLUMN = 4000, 20  # more than any run has: a bound, for tables that fit whatever they hold


def fitting(
    tables: Sequence[Any], attacker: Attacker, reading: Reading, options: RunOptions
) -> tuple[RunOptions, bool]:
    """Return the options with the people that a run asks, and whether it asks a sample because of memory.

    Parameters
    ----------
    tables
        Real, synthetic, and holdout or None: paths, frames or tables.
    attacker, reading, options
        Of the run.

    Raises
    ------
    SizeError
        The run does not fit into the memory that there is, and `options.beyond_memory` is not set.
    DivulgeError
        The tables or the options cannot be used.
    """
    there = room()
    sizes = None if there is None else sizes_of(tables, reading.missing)
    if there is None or sizes is None or options.beyond_memory or _fits_surely(sizes, there):
        return replace(options, people=options.sample), False
    told = outlook_of(sizes, attacker, reading, options, there)
    refuse_beyond(told)
    if options.people is not None:
        return replace(options, people=options.sample), False
    return replace(options, people=told.people), told.people is not None


def _fits_surely(sizes: Sizes, there: Room) -> bool:
    """Return whether tables of this size fit whatever their columns hold and however many tests there are."""
    tables = sizes.tables.values()
    rows, columns = sum(s.rows for s in tables), max(len(s.sample.columns) for s in tables)
    people = rows - sizes.synthetic.rows
    most = Work(
        rows=rows, synthetic=sizes.synthetic.rows, people=people, asked=people, columns=columns, bits=0.0,
        levels=rows * columns, table_bytes=sum(s.table_bytes for s in tables),
        text_bytes=sum(s.file_bytes for s in tables), scores=people * (_TESTS + _TESTS_A_COLUMN * columns),
        apart=own_parts(CATALOGUE), fidelity=True, fidelity_models=True,
    )  # fmt: skip
    return expected_bytes(most) <= there.free


def work_of_fidelity(sizes: Sizes, reading: Reading, *, models: bool) -> Work:
    """Return the work of measuring fidelity alone."""
    options = RunOptions(fidelity_models=models)
    text = sum(s.file_bytes for s in sizes.tables.values())
    return replace(work_of(announced(sizes, reading, options), (), options, text_bytes=text), attacks=False)


def check_fidelity(real: Any, synthetic: Any, holdout: Any, reading: Reading, *, models: bool) -> None:
    """Raise an error where fidelity cannot be measured in the memory that there is.

    Raises
    ------
    SizeError
        It does not fit.
    DivulgeError
        The tables or the reading cannot be used.
    """
    there = room()
    sizes = None if there is None else sizes_of((real, synthetic, holdout), reading.missing)
    if there is None or sizes is None or _fits_surely(sizes, there):
        return
    check_work(work_of_fidelity(sizes, reading, models=models), list(sizes.tables.values()), there, _FEWER_COLUMNS)


def check_membership(tables: Sequence[Any], reading: Reading, columns: Sequence[str] | None = None) -> None:
    """Raise an error where membership scores cannot be made in the memory that there is.

    Parameters
    ----------
    tables
        Real, the synthetic tables, and holdout. Of two releases: the first real table, the synthetic tables of both,
        and the second real table.
    reading
        Of the tables.
    columns
        The columns that are compared; None is all.

    Raises
    ------
    SizeError
        It does not fit. What cannot be read at all is left to the reading, which says why.
    """
    there = room()
    if there is None:
        return
    try:
        sizes = sizes_of(tables, reading.missing)
        if sizes is None or _fits_surely(sizes, there):
            return
        work = work_of_membership(sizes, reading, columns)
    except DivulgeError:
        return
    check_work(work, list(sizes.tables.values()), there, "compare fewer columns (--columns), ")


def work_of_membership(sizes: Sizes, reading: Reading, columns: Sequence[str] | None) -> Work:
    """Return the work of membership scores alone."""
    text = sum(s.file_bytes for s in sizes.tables.values())
    whole = work_of(announced(sizes, reading, RunOptions()), (), RunOptions(fidelity=False), text_bytes=text)
    compared = whole.columns if columns is None else min(whole.columns, len(columns))
    return replace(whole, columns=compared, attacks=False, apart=own_parts([MEMBERSHIP]))


def check_comparison(
    real: Any, candidates: Sequence[Any], holdout: Any, attacker: Attacker, reading: Reading, options: RunOptions
) -> None:
    """Raise an error where candidates cannot be compared in the memory that there is.

    The tables of all candidates and the scores that rank them are held while they are attacked one after the other.
    Then they are ranked together, and coded together to tell their distances from the real table apart.

    Raises
    ------
    SizeError
        They do not fit.
    DivulgeError
        The tables of people or the options cannot be used. A candidate that cannot be read is left to the comparison.
    """
    there = room()
    if there is None:
        return
    found: list[Sizes] = []
    for table in candidates:
        with suppress(DivulgeError):
            sizes = sizes_of((real, table, holdout), reading.missing)
            found += [] if sizes is None else [sizes]
    if not found:
        return
    largest = max(found, key=lambda sizes: sizes.synthetic.table_bytes)
    others = sum(sizes.synthetic.table_bytes for sizes in found) - largest.synthetic.table_bytes
    sides = [t.rows for t in (largest.real, largest.holdout) if t is not None]
    sides = sides if options.sample is None else [min(n, options.sample) for n in sides]
    columns = len(largest.real.sample.columns)
    each = bytes_of_scores(sides, columns, attacker, membership=options.membership)
    kept, ranked = (n * len(found) for n in each)
    less = there._replace(free=there.free - others - kept)
    if not _fits_surely(largest, less):
        told = outlook_of(largest, attacker, reading, replace(options, people=options.people or "all"), less)
        refuse_beyond(told, others + kept)
    if len(found) > 1:
        coded = _bytes_of_codes(found, reading) if options.fidelity else 0
        advice = "leave fidelity out (--no-fidelity), " if coded > ranked else ""
        _check_together(found, kept + max(ranked, coded), there, advice)


def _bytes_of_codes(found: Sequence[Sizes], reading: Reading) -> int:
    """Return about how many bytes the codes of all candidates and of the real table take together."""
    real, synthetic = found[0].real, [sizes.synthetic for sizes in found]
    columns = {c for s in synthetic for c in s.sample.columns} & set(real.sample.columns) - set(reading.ignore)
    rows = real.rows + sum(s.rows for s in synthetic)
    return rows * (_BYTES_OF_STACKED + _BYTES_OF_STACKED_CELL * len(columns))


def _check_together(found: Sequence[Sizes], more: int, there: Room, advice: str) -> None:
    """Raise an error where what is made of all candidates together does not fit into memory beside their tables."""
    synthetic = [sizes.synthetic for sizes in found]
    people = [s for s in (found[0].real, found[0].holdout) if s is not None]
    needed = process_bytes() + sum(s.table_bytes for s in (*people, *synthetic)) + more
    limit = limit_of((*people, *synthetic), there)
    if needed > limit:
        rows = [people[0].rows, sum(s.rows for s in synthetic), *(s.rows for s in people[1:])]
        raise too_large(needed, limit, there.why, rows, f"{_ONE_BY_ONE}compare fewer tables, {advice}{_FEWER_COLUMNS}")


def refuse_beyond(told: Outlook, more: int = 0) -> None:
    """Raise an error where a run does not fit into memory; `more` bytes are held besides.

    Raises
    ------
    SizeError
        It does not fit.
    """
    if told.there is None or told.fits:
        return
    n = None if more else told.people_that_fit
    advice = "" if n is None else f"ask a sample of people (with --people {n} it fits), "
    in_files = told.needed_in_files
    if not more and in_files is not None and in_files <= told.there:
        advice += "have indices in files (with --spill FOLDER it fits), "
    advice += _ONE_BY_ONE if more else "count named keys and targets without reading all (--engine duckdb), "
    rows = [t.rows for t in told.tables]
    raise too_large(told.needed + more, told.there + more, told.limit, rows, advice + _FEWER_COLUMNS)


@contextmanager
def memory_told(rows: Callable[[], int] = lambda: 0, kept: Callable[[], bool] = lambda: False) -> Iterator[None]:
    """Turn a `MemoryError` of a run into an error that says what to do.

    Parameters
    ----------
    rows
        Gives the rows of the run, as far as they are known by then.
    kept
        Gives whether finished tests are kept.

    Raises
    ------
    SizeError
        The memory was not enough.
    """
    try:
        yield
    except SizeError:
        raise
    except MemoryError:
        after = "finished tests are kept for --resume; " if kept() else ""
        n = rows()
        of = f" for {n:,} rows" if n else ""
        raise SizeError(
            f"memory: there was not enough{of}, and the run has ended. hint: {after}ask a sample of people (--people), "
            "leave columns out (--ignore), or take fewer rows; `divulge plan` tells what a run needs."
        ) from None
