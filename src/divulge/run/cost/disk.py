"""About how much disk a run takes: codes of all rows, where an engine holds these, and indices; for plan and run."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from divulge.attacks.entry import CATALOGUE, indexed
from divulge.case.case import Case
from divulge.case.code_files import free_on_disk
from divulge.case.spill import Spill
from divulge.core.errors import SizeError
from divulge.run.cost.memory import in_bytes
from divulge.run.planning.options import RunOptions
from divulge.tables.counting import COUNTING

__all__ = ["OnDisk", "check_disk", "on_disk", "on_disk_at_most"]


class OnDisk(NamedTuple):
    """What a run writes to a private folder."""

    needed: int
    """Bytes, about."""
    blocks: int
    """Blocks of the largest index; 0 where none is written."""


def on_disk(case: Case, attacks: Collection[str], options: RunOptions, codes: int) -> OnDisk:
    """Return what a run writes.

    Parameters
    ----------
    case
        Its tables, of which only the numbers of rows and columns are asked.
    attacks
        That it makes.
    options
        Of the run, with the people that it asks.
    codes
        Bytes of the codes of all rows.
    """
    n, m = case.n_rows("synthetic"), case.n_rows("real") + case.n_rows("holdout")
    spill, columns = Spill(Path()), len(case.schema.usable())
    if options.engine not in COUNTING:
        needed = indexed(columns) * (n + 2 * m)
        return OnDisk(0, 0) if options.spill is None else OnDisk(needed, spill.blocks(max(n, m)))
    if options.sample is None or not any(CATALOGUE[a].sampled for a in attacks):
        return OnDisk(0, 0)
    costs = [CATALOGUE[name].cost for name in set(attacks)]
    searched = [cost.disk(columns, spill.blocks(n) > 1) for cost in costs if cost.disk is not None]
    most = max([codes * any(cost.copied for cost in costs), *(n * each for each in searched)])
    return OnDisk(codes + n * sum(cost.kept for cost in costs) + most, spill.blocks(n if searched else 0))


def on_disk_at_most(case: Case, options: RunOptions, codes: int) -> int:
    """Return the bytes that a run by an engine writes at most, as long as nobody knows which attacks it makes."""
    searching = [name for name, entry in CATALOGUE.items() if options.makes(name) and entry.cost.disk is not None]
    return on_disk(case, searching, options, codes).needed


def check_disk(told: OnDisk, options: RunOptions) -> int:
    """Return the bytes that are free where a run writes, which are enough, or it begins nevertheless.

    Raises
    ------
    SettingError
        There is no such folder.
    SizeError
        They are too few.
    """
    free = free_on_disk(options.spill)
    if told.needed > free and not options.beyond_memory:
        elsewhere = options.engine in COUNTING
        what = "the codes of all rows and what is searched" if elsewhere else "the indices of all rows"
        alone = "count alone (--people none), " if elsewhere else ""
        place = "the folder for temporary files" if options.spill is None else repr(Path(options.spill).name)
        raise SizeError(
            f"spill: {what} need about {in_bytes(told.needed)} of disk, and {in_bytes(free)} are free in {place}. "
            f"hint: name a folder with more room (--spill), {alone}leave columns out (--ignore), or begin nevertheless "
            "(--beyond-memory)."
        )
    return free
