"""About how much memory the attacks take that search the rows of a synthetic table which an engine holds.

The codes of its rows, the indices and what is made of single values lie in files. What is told here is held in memory,
measured with 15 columns (docs/decisions.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from divulge.attacks import CATALOGUE
from divulge.run.plan import Task

__all__ = ["bytes_to_search", "searches", "too_much"]


class _Bytes(NamedTuple):
    """Bytes of memory that an attack takes."""

    row: int
    """Of each synthetic row."""
    column: int
    """Of each value of a synthetic row."""
    target: int
    """Of each synthetic row and target."""
    person: int
    """Of each person asked."""
    always: int = 100_000_000


_OF_ATTACKS = {
    "linkability": _Bytes(110, 0, 0, 800),
    "membership": _Bytes(150, 0, 0, 3_000),
    "inference": _Bytes(60, 20, 20, 1_000),
}
_OTHER = _Bytes(150, 20, 20, 3_000)  # an attack that was not measured: the most of each


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
        That are compared.
    """
    out = {}
    for name in dict.fromkeys(t.attack for t in tasks if searches(t)):
        each = _OF_ATTACKS.get(name, _OTHER)
        targets = sum(t.attack == name and searches(t) for t in tasks)
        a_row = each.row + each.column * columns + each.target * targets
        out[name] = each.always + a_row * synthetic + each.person * people
    return out


def too_much(needed: dict[str, int], free: int) -> list[str]:
    """Return the attacks to leave out so that all others fit together; those that take most go first.

    Examples
    --------
    >>> too_much({"linkability": 3, "membership": 5, "inference": 4}, 7)
    ['membership']
    """
    out, left = [], dict(needed)
    while left and sum(left.values()) > free:
        most = max(left, key=left.__getitem__)
        out.append(most)
        del left[most]
    return out
