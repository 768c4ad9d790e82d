"""SDMetrics' deprecated diagnostic report of one table."""

from __future__ import annotations

from divulge.sdmetrics.reports.deprecated import SingleTable, warn
from divulge.sdmetrics.reports.properties import DIAGNOSTIC

__all__ = ["DiagnosticReport"]

warn("single table", "diagnostic", "DiagnosticReport")


class DiagnosticReport(SingleTable):
    """The diagnostic report of two frames; `divulge.sdmetrics.reports.DiagnosticReport` takes both."""

    _properties = DIAGNOSTIC[:2]
    _checks_columns = False
