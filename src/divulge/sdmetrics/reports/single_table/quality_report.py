"""SDMetrics' deprecated quality report of one table."""

from __future__ import annotations

from divulge.sdmetrics.reports.deprecated import SingleTable, warn
from divulge.sdmetrics.reports.properties import QUALITY

__all__ = ["QualityReport"]

warn("single table", "quality", "QualityReport")


class QualityReport(SingleTable):
    """The quality report of two frames; `divulge.sdmetrics.reports.QualityReport` takes both."""

    _properties = QUALITY[:2]
    real_correlation_threshold = 0.5
    real_association_threshold = 0.3
