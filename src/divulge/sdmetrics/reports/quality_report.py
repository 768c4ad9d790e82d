"""The quality report: how alike distributions and dependences are in the synthetic and in the real tables."""

from __future__ import annotations

from divulge.sdmetrics.reports.base import Report
from divulge.sdmetrics.reports.properties import QUALITY

__all__ = ["QualityReport"]


class QualityReport(Report):
    """SDMetrics' quality report of one table or of several, over all rows.

    Attributes
    ----------
    real_correlation_threshold, real_association_threshold
        A pair of columns has a score only if its real correlation, or Cramér's V, exceeds this; 0 gives each pair one.

    Examples
    --------
    >>> import pandas as pd
    >>> real = pd.DataFrame({"age": [20, 30, 40], "job": ["a", "a", "b"]})
    >>> synthetic = pd.DataFrame({"age": [20, 30, 50], "job": ["a", "b", "b"]})
    >>> report = QualityReport()
    >>> metadata = {"columns": {"age": {"sdtype": "numerical"}, "job": {"sdtype": "categorical"}}}
    >>> report.generate(real, synthetic, metadata, verbose=False)
    >>> round(report.get_score(), 6)
    0.666667
    """

    _properties = QUALITY
    real_correlation_threshold = 0.5
    real_association_threshold = 0.3
