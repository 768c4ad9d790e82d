"""How much memory a run may use."""

from __future__ import annotations

from pathlib import Path

from divulge.core.memory import CGROUPS, PROC, Room, in_bytes, room_left
from divulge.run.cost.measured_cost import ADDRESS_SPACE

__all__ = ["Room", "in_bytes", "room"]


def room(proc: Path = PROC, cgroups: Path = CGROUPS) -> Room | None:
    """Return how much memory this process may still take; None where the system does not tell.

    Parameters
    ----------
    proc, cgroups
        Where the system tells of processes and of control groups.
    """
    return room_left(proc, cgroups, ADDRESS_SPACE)
