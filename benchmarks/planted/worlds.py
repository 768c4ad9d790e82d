"""All worlds: importing this module enters them."""

from . import rows, values, whole  # noqa: F401
from .world import WORLDS, World, gain, make

__all__ = ["WORLDS", "World", "gain", "make"]
