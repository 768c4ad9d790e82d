"""The paths under which SDMetrics has its metrics of one table."""

from __future__ import annotations

from divulge.sdmetrics import _public
from divulge.sdmetrics.base import SingleTableMetric

__all__: list[str] = [name for name in _public.__all__ if name != "compute_metrics"]
globals().update({name: getattr(_public, name) for name in __all__})


def __getattr__(name: str) -> type[SingleTableMetric]:
    """Say what is not here; type checkers take it that all metrics are."""
    raise AttributeError(
        f"module {__name__!r} has no attribute {name!r}: it has SDMetrics' privacy metrics. hint: import what is not "
        "here from sdmetrics."
    )
