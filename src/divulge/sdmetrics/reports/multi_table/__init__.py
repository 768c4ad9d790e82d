"""SDMetrics' deprecated reports of multiple tables."""

from divulge.sdmetrics.reports.multi_table.diagnostic_report import DiagnosticReport
from divulge.sdmetrics.reports.multi_table.quality_report import QualityReport

__all__ = ["DiagnosticReport", "QualityReport"]
