"""Whether a run fits into memory: a run that does not is refused before it begins, or asks a sample of people."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from os import PathLike
from typing import Any

from divulge.core.errors import DivulgeError, SizeError
from divulge.run.expected_cost import Work, expected_bytes, work_of
from divulge.run.forecast import Sizes, announced, outlook_of, sizes_of
from divulge.run.memory import Room, in_bytes, room
from divulge.run.options import Attacker, Reading, RunOptions
from divulge.run.outlook import Outlook
from divulge.tables.frames import Table
from divulge.tables.readers import opened

__all__ = [
    "TOO_LARGE",
    "check_comparison",
    "check_fidelity",
    "fitting",
    "here",
    "memory_told",
    "refuse_beyond",
    "work_of_fidelity",
]

TOO_LARGE = "all people do not fit into memory, so that a sample is asked (--people all asks everybody)"
_TESTS, _TESTS_A_COLUMN = 4000, 20  # more than any run has: a bound, for tables that fit whatever they hold


def here(table: Any, role: str) -> Any:
    """Return a frame as a `Table`, so that it is converted once; paths stay as they are."""
    if isinstance(table, str | PathLike | Table) or table is None:
        return table
    if role == "synthetic" and isinstance(table, list | tuple):
        return [here(one, f"synthetic table {i}") for i, one in enumerate(table, start=1)]
    return opened(table, role)


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
    return replace(options, people=told.people), options.people is None and told.people is not None


def _fits_surely(sizes: Sizes, there: Room) -> bool:
    """Return whether tables of this size fit whatever their columns hold and however many tests there are."""
    tables = sizes.tables.values()
    rows, columns = sum(s.rows for s in tables), max(len(s.sample.columns) for s in tables)
    people = rows - sizes.synthetic.rows
    most = Work(
        rows=rows, synthetic=sizes.synthetic.rows, people=people, asked=people, columns=columns, levels=rows * columns,
        table_bytes=sum(s.table_bytes for s in tables), text_bytes=sum(s.file_bytes for s in tables),
        scores=people * (_TESTS + _TESTS_A_COLUMN * columns), membership=True, fidelity=True, fidelity_models=True,
        utility=True,
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
    needed, limit = expected_bytes(work_of_fidelity(sizes, reading, models=models)), sizes.limit(there)
    if needed > limit:
        raise _too_large(needed, limit, there.why, [s.rows for s in sizes.tables.values()])


def check_comparison(
    real: Any, candidates: Sequence[Any], holdout: Any, attacker: Attacker, reading: Reading, options: RunOptions
) -> None:
    """Raise an error where candidates cannot be compared in the memory that there is.

    The tables of all candidates are held while they are attacked one after the other.

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
    less = there._replace(free=there.free - others)
    if not _fits_surely(largest, less):
        told = outlook_of(largest, attacker, reading, replace(options, people="all"), less)
        refuse_beyond(told, others)


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
    rows = [t.rows for t in told.tables]
    raise _too_large(told.needed + more, told.there + more, told.limit, rows, advice)


def _too_large(needed: int, there: int, why: str, rows: Sequence[int], advice: str = "") -> SizeError:
    """Return the error of a run that is refused: what it needs, what there is, and what to do."""
    return SizeError(
        f"memory: about {in_bytes(needed)} are needed for {' + '.join(f'{n:,}' for n in rows)} rows, and this process "
        f"may use {in_bytes(there)} ({why}). hint: {advice}leave columns out (--ignore), take fewer rows, or begin "
        "nevertheless (--beyond-memory)."
    )


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
