"""About how much disk a run takes: codes of all rows, where an engine holds these, and indices; for plan and run."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from divulge.attacks.catalogue import CATALOGUE
from divulge.case.case import Case
from divulge.case.code_files import free_on_disk
from divulge.case.spill import Spill
from divulge.core.errors import SizeError
from divulge.run.cost.memory import in_bytes
from divulge.run.planning.options import RunOptions
from divulge.tables.counting import COUNTING

__all__ = ["OnDisk", "check_disk", "on_disk", "on_disk_at_most"]

_BYTES_OF_INDEX, _BYTES_OF_INDEXED_CELL = 63, 6  # of a row of an index in files, 153 with 15 columns
_BYTES_OF_WALKED, _BYTES_OF_WALKED_CELL = 90, 10  # of a row of blocks that all targets are searched in
_BYTES_OF_HASH = 8  # of a row, by which rows are ordered
_SEARCHING = ("membership", "linkability", "inference")


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
    each = _BYTES_OF_INDEX + _BYTES_OF_INDEXED_CELL * columns
    if options.engine not in COUNTING:
        return OnDisk(0, 0) if options.spill is None else OnDisk(each * (n + 2 * m), spill.blocks(max(n, m)))
    if options.sample is None or not any(CATALOGUE[a].sampled for a in attacks):
        return OnDisk(0, 0)
    walked = _BYTES_OF_WALKED + _BYTES_OF_WALKED_CELL * columns if spill.blocks(n) > 1 else 0
    # beside indices: values as numbers and codes, and their order; the cells of two halves. All go when the attack ends
    of_attacks = {
        "membership": each + 6 * columns + 12,
        "linkability": each + _BYTES_OF_INDEX + 80,
        "inference": walked,
    }
    searched = [name for name in of_attacks if name in attacks]
    stays = _BYTES_OF_HASH if "membership" in searched else 0
    # copies write the codes once more, ordered by the hash of their rows
    most = max([codes * ("copies" in attacks), *(n * of_attacks[name] for name in searched)])
    return OnDisk(codes + n * stays + most, spill.blocks(n if searched else 0))


def on_disk_at_most(case: Case, options: RunOptions, codes: int) -> int:
    """Return the bytes that a run by an engine writes at most, as long as nobody knows which attacks it makes."""
    return on_disk(case, [a for a in _SEARCHING if options.membership or a != "membership"], options, codes).needed


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
