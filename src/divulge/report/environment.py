"""What a run was made with: packages whose version may change a digit, and the machine."""

from __future__ import annotations

import os
from importlib.metadata import version
from platform import machine, python_version, system

__all__ = ["machine_words", "package_versions"]

_NEEDED = ("numpy", "polars", "numba", "scikit-learn", "scipy")
"""Packages whose version may change a digit."""


def package_versions() -> dict[str, str]:
    """Return the version of Python and of each package whose version may change a digit."""
    return {"python": python_version(), **{name: version(name) for name in _NEEDED}}


def machine_words() -> str:
    """Return what the run ran on: it may change times, and no digit."""
    return f"{system()} {machine()}, {os.cpu_count()} processors"
