"""About how much memory the attacks take that search the rows of a synthetic table which an engine holds.

The codes of its rows, the indices and what is made of single rows lie in files, and one block of rows is prepared or
searched at a time. What is told here is held in memory, measured with 15 columns (docs/decisions/engines.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from divulge.attacks.entry import CATALOGUE, SearchBytes
from divulge.case.spill import Spill
from divulge.run.planning.plan import Task

__all__ = ["BYTES_OF_A_VALUE", "bytes_at_once", "bytes_of_nearest", "bytes_to_search", "searches", "too_much"]


BYTES_OF_A_VALUE = 105  # of a person asked, on the ruler: that of a value in distances (measured_cost)
_MEASURED = 15  # columns
_OTHER = SearchBytes(150, 450, 3_000)  # an attack that was not measured


def searches(task: Task) -> bool:
    """Return whether a task asks people and holds something of each synthetic row in memory."""
    entry, settings = CATALOGUE[task.attack], task.settings
    taught = "model" in settings.get("ways", ())
    parts = entry.plan.by_parts == "yes" or (entry.plan.by_parts == "by keys" and "keys" in settings and not taught)
    return entry.sampled and entry.plan.in_memory and not parts


def bytes_to_search(tasks: Sequence[Task], synthetic: int, people: int, columns: int) -> dict[str, int]:
    """Return about how many bytes each attack takes that searches.

    Parameters
    ----------
    tasks
        Of a plan.
    synthetic, people
        Rows of the synthetic table, and of the people asked.
    columns
        That are compared; the numbers of bytes were measured with 15.
    """
    names = dict.fromkeys(t.attack for t in tasks if searches(t))
    return {n: _bytes(CATALOGUE[n].cost.memory or _OTHER, synthetic, people, columns) for n in names}


def bytes_of_nearest(synthetic: int, people: int, columns: int) -> int:
    """Return about how many bytes the searches of whole rows take, one after the other.

    Examples
    --------
    >>> round(bytes_of_nearest(100_000_000, 1_000_000, 15) / 10**9, 1)
    3.5
    """
    whole = [entry.cost.memory for entry in CATALOGUE.values() if entry.plan.per == "table" and entry.cost.memory]
    return max(_bytes(each, synthetic, people, columns) for each in whole)


def _bytes(each: SearchBytes, synthetic: int, people: int, columns: int) -> int:
    wide = max(1.0, columns / _MEASURED)
    in_block = min(synthetic, Spill(Path()).rows_of_block(synthetic))
    of_rows = each.row * synthetic + round(each.block * wide) * in_block
    return each.always + of_rows + round(each.person * wide) * people


def too_much(needed: dict[str, int], free: int) -> list[str]:
    """Return the attacks that do not fit; where an engine holds the tables, one test is made at a time.

    Examples
    --------
    >>> too_much({"linkability": 3, "membership": 5, "inference": 4}, 4)
    ['membership']
    """
    return [name for name, size in needed.items() if size > free]


def bytes_at_once(needed: dict[str, int], people: int, columns: int) -> int:
    """Return how many bytes the attacks take that are made, one after the other; the people's values at least."""
    return max([*needed.values(), BYTES_OF_A_VALUE * people * columns])
