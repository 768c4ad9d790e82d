"""The diagnostic report: whether the synthetic tables have the form, the limits and the keys of the real ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from divulge.sdmetrics.reports.base import Report
from divulge.sdmetrics.reports.counted_inputs import Progress
from divulge.sdmetrics.reports.diagnosed_inputs import diagnosed_inputs
from divulge.sdmetrics.reports.properties import DIAGNOSTIC, Inputs
from divulge.tables.frames import Table

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

    def _counted(
        self, real: Table, synthetic: Table, metadata: Any, missing: Sequence[str], progress: Progress
    ) -> Inputs:
        return diagnosed_inputs(real, synthetic, metadata, self._thresholds, missing, progress)
