"""SDMetrics' deprecated quality report of several tables."""

from __future__ import annotations

from divulge.sdmetrics.reports.deprecated import MultiTable, warn
from divulge.sdmetrics.reports.properties import QUALITY

__all__ = ["QualityReport"]

warn("multi table", "quality", "QualityReport")


class QualityReport(MultiTable):
    """The quality report of dictionaries of frames; `divulge.sdmetrics.reports.QualityReport` takes both."""

    _properties = QUALITY
    real_correlation_threshold = 0.5
    real_association_threshold = 0.3
