"""The environment of a run: versions of the packages that can change a number, and the machine."""

from __future__ import annotations

import os
from importlib.metadata import version
from platform import machine, python_version, system

__all__ = ["machine_words", "package_versions"]

_NEEDED = ("numpy", "polars", "numba", "scikit-learn", "scipy")
"""Packages whose version can change a number."""


def package_versions() -> dict[str, str]:
    """Return the version of Python and of each package whose version can change a number."""
    return {"python": python_version(), **{name: version(name) for name in _NEEDED}}


def machine_words() -> str:
    """Return the system and the number of processors: they change times and no other number."""
    return f"{system()} {machine()}, {os.cpu_count()} processors"
