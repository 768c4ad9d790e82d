"""SDMetrics' metrics, same names, same calls, same scores; change one import.

Metrics of one column are in ``divulge.sdmetrics.single_column``, of two in ``column_pairs``, of a table in
``single_table``, as in SDMetrics; the names of the privacy metrics are here too.

``from sdmetrics.single_table import CategoricalCAP`` becomes
``from divulge.sdmetrics.single_table import CategoricalCAP`` (or ``from divulge.sdmetrics import ...``). Scores are
those of SDMetrics 0.32.0, its faults included; ``mode="sound"`` mends them, and ``compute_both`` shows the two beside
each other.

Examples
--------
>>> import pandas as pd
>>> from divulge.sdmetrics import DisclosureProtection
>>> real = pd.DataFrame({"age": ["20-29", "20-29", "30-39"], "vote": ["red", "blue", "red"]})
>>> synthetic = pd.DataFrame({"age": ["20-29", "20-29", "40-49"], "vote": ["red", "red", "blue"]})
>>> DisclosureProtection.compute_breakdown(real, synthetic, ["age"], ["vote"])
{'score': 1.0, 'cap_protection': 0.5, 'baseline_protection': 0.5}
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from divulge.sdmetrics import addons

if TYPE_CHECKING:
    from divulge.sdmetrics import column_pairs as column_pairs
    from divulge.sdmetrics import demos as demos
    from divulge.sdmetrics import goal as goal
    from divulge.sdmetrics import multi_table as multi_table
    from divulge.sdmetrics import reports as reports
    from divulge.sdmetrics import sdv as sdv
    from divulge.sdmetrics import single_column as single_column
    from divulge.sdmetrics import single_table as single_table
    from divulge.sdmetrics import timeseries as timeseries
    from divulge.sdmetrics._public import *  # noqa: F403 # its names are listed there
    from divulge.sdmetrics.demos import load_demo as load_demo

_MODULES = (
    "column_pairs",
    "demos",
    "goal",
    "multi_table",
    "reports",
    "sdv",
    "single_column",
    "single_table",
    "timeseries",
)


def __getattr__(name: str) -> Any:
    """Import a part when it is used first, or say what is not here."""
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name == "load_demo":
        return import_module(f"{__name__}.demos").load_demo
    if name[:1].isupper() or name in ("__all__", "compute_metrics"):
        public = import_module(f"{__name__}._public")
        if name in ("__all__", *public.__all__):
            return getattr(public, name)
    raise AttributeError(
        f"module {__name__!r} has no attribute {name!r}: it has the privacy metrics; single_column, column_pairs, "
        "single_table, multi_table and timeseries have the others, and reports the reports. hint: import what is not "
        "here from sdmetrics."
    )


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES, "load_demo", *__getattr__("__all__")})


addons.attach()
