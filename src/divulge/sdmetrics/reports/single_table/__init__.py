"""SDMetrics' deprecated reports of one table."""

from divulge.sdmetrics.reports.single_table.diagnostic_report import DiagnosticReport
from divulge.sdmetrics.reports.single_table.quality_report import QualityReport

__all__ = ["DiagnosticReport", "QualityReport"]
