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
>>> real = pd.DataFrame({"age": ["20-29", "20-29", "30-39"], "vote": ["red", "blue", "red"]})
>>> synthetic = pd.DataFrame({"age": ["20-29", "20-29", "40-49"], "vote": ["red", "red", "blue"]})
>>> DisclosureProtection.compute_breakdown(real, synthetic, ["age"], ["vote"])
{'score': 1.0, 'cap_protection': 0.5, 'baseline_protection': 0.5}
"""

from __future__ import annotations

from divulge.sdmetrics import _public, addons, paths
from divulge.sdmetrics import column_pairs as column_pairs
from divulge.sdmetrics import demos as demos
from divulge.sdmetrics import goal as goal
from divulge.sdmetrics import multi_table as multi_table
from divulge.sdmetrics import reports as reports
from divulge.sdmetrics import single_column as single_column
from divulge.sdmetrics import single_table as single_table
from divulge.sdmetrics import timeseries as timeseries
from divulge.sdmetrics._public import *  # noqa: F403 # its names are listed there
from divulge.sdmetrics.base import SingleTableMetric
from divulge.sdmetrics.demos import load_demo as load_demo

__all__: list[str] = list(_public.__all__)


def __getattr__(name: str) -> type[SingleTableMetric]:
    """Say what is not here; type checkers take it that all metrics are."""
    raise AttributeError(
        f"module {__name__!r} has no attribute {name!r}: it has the privacy metrics; single_column, column_pairs, "
        "single_table, multi_table and timeseries have the others, and reports the reports. hint: import what is not "
        "here from sdmetrics."
    )


paths.attach()
addons.attach()
