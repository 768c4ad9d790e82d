"""SDMetrics' deprecated diagnostic report of several tables."""

from __future__ import annotations

from divulge.sdmetrics.reports.deprecated import MultiTable, warn
from divulge.sdmetrics.reports.properties import DIAGNOSTIC

__all__ = ["DiagnosticReport"]

warn("multi table", "diagnostic", "DiagnosticReport")


class DiagnosticReport(MultiTable):
    """The diagnostic report of dictionaries of frames; `divulge.sdmetrics.reports.DiagnosticReport` takes both."""

    _properties = DIAGNOSTIC[:3]
    _checks_columns = False
