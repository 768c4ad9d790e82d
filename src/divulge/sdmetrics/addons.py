"""Metrics of other packages, which name them in the entry-point group of SDMetrics, `sdmetrics_modules`.

The name of an entry point is where its object is attached, such as `sdmetrics.single_table:TheirMetric` or
`sdmetrics.their_module`; `divulge.sdmetrics` before it says the same.
"""

from __future__ import annotations

import sys
import warnings
from importlib.metadata import EntryPoint, entry_points
from operator import attrgetter
from types import ModuleType
from typing import Any

__all__ = ["GROUP", "attach"]

GROUP = "sdmetrics_modules"
_HOME = "divulge.sdmetrics"


def attach() -> None:
    """Attach the object of each entry point; where that fails, warn and go on."""
    for entry in entry_points(group=GROUP):
        try:
            addon = entry.load()
        except Exception:
            warnings.warn(f'Failed to load "{entry.name}" from "{entry.value}".', stacklevel=2)
            continue
        try:
            _set(entry, addon)
        except AttributeError as error:
            warnings.warn(f"Failed to set '{entry.name}': {error}.", stacklevel=2)


def _set(entry: EntryPoint, addon: Any) -> None:
    target, name = _target(entry.name)
    if isinstance(addon, ModuleType):
        sys.modules.setdefault(f"{target.__name__}.{name}", addon)
    setattr(target, name, addon)


def _target(path: str) -> tuple[Any, str]:
    """Return the module or object that an add-on is attached to, and its name there."""
    module, _, inner = path.removeprefix("divulge.").partition(":")
    first, *parts = module.split(".")
    if first != "sdmetrics":
        raise AttributeError(f"expected base module to be 'sdmetrics', found '{first}'")
    steps = [*parts, *inner.split(".")] if inner else parts
    if not steps:
        raise AttributeError("the name says not where to attach it")
    home = sys.modules[_HOME]
    return (attrgetter(".".join(steps[:-1]))(home) if steps[1:] else home), steps[-1]
