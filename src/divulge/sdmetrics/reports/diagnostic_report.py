"""The diagnostic report: whether the synthetic tables have the form, the limits and the keys of the real ones."""

from __future__ import annotations

from divulge.sdmetrics.reports.base import Report
from divulge.sdmetrics.reports.properties import DIAGNOSTIC

__all__ = ["DiagnosticReport"]


class DiagnosticReport(Report):
    """SDMetrics' diagnostic report of one table or of several.

    Examples
    --------
    >>> import pandas as pd
    >>> real, synthetic = pd.DataFrame({"age": [20, 30, 40]}), pd.DataFrame({"age": [20, 30, 50]})
    >>> report = DiagnosticReport()
    >>> report.generate(real, synthetic, {"columns": {"age": {"sdtype": "numerical"}}}, verbose=False)
    >>> report.get_properties().round(6).values.tolist()
    [['Data Validity', 0.666667], ['Data Structure', 1.0], ['Constraint Validity', nan]]
    """

    _properties = DIAGNOSTIC
    _checks_columns = False
