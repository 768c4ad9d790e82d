"""SDMetrics' reports of one table or of several, under the paths that they have there."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from divulge.sdmetrics.reports.diagnostic_report import DiagnosticReport
from divulge.sdmetrics.reports.quality_report import QualityReport

__all__ = ["DiagnosticReport", "QualityReport"]

_DEPRECATED = {
    f"{prefix}{name}": (f"divulge.sdmetrics.reports.{folder}", name)
    for prefix, folder in (("SingleTable", "single_table"), ("MultiTable", "multi_table"))
    for name in __all__
}


def __getattr__(name: str) -> Any:
    """Return a deprecated report, which warns where it is first imported."""
    if name not in _DEPRECATED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, own = _DEPRECATED[name]
    return getattr(import_module(module), own)
