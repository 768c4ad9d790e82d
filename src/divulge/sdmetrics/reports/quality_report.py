"""The quality report: how alike distributions and dependences are in the synthetic and in the real tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from divulge.measures.result import FreshSample
from divulge.sdmetrics.reports.base import Report
from divulge.sdmetrics.reports.counted_inputs import Progress, counted_inputs
from divulge.sdmetrics.reports.fresh_sample import fresh_scores
from divulge.sdmetrics.reports.properties import QUALITY, Inputs
from divulge.tables.frames import Table

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

    def _counted(
        self, real: Table, synthetic: Table, metadata: Any, missing: Sequence[str], progress: Progress
    ) -> Inputs:
        return counted_inputs(real, synthetic, metadata, self._thresholds, missing, progress)

    def get_fresh_sample(self, seed: int = 0) -> dict[str, FreshSample]:
        """Return what another sample of the real people would score, for the report ("") and for each property.

        A perfect generator scores below 1, and the fewer rows, the less. Parts of the real table are compared with each
        other, and the score is carried over to the sizes of both tables. Once asked for, it stands in the report's
        documents, too.

        Parameters
        ----------
        seed
            Of the random parts.

        Returns
        -------
        dict of FreshSample
            95% of fresh samples score from `low` to `high`. Empty for several tables, for fewer than 80 real rows, for
            a report that was loaded, and where an engine tells counts alone. Where an engine counts the rows, parts are
            those of 200,000 of them, drawn at random.

        Examples
        --------
        >>> import pandas as pd
        >>> real = pd.DataFrame({"job": ["a", "b", "b", "c"] * 50})
        >>> report = QualityReport()
        >>> report.generate(real, real[:100], {"columns": {"job": {"sdtype": "categorical"}}}, verbose=False)
        >>> fresh = report.get_fresh_sample()[""]
        >>> report.get_score(), round(fresh.mean, 2), fresh.low < 0.95 < fresh.high
        (1.0, 0.95, True)
        """
        self._check_generated()
        if self._inputs is None:
            return {}
        computed = {p.name: p.rows for p in self._properties if p.name in self._rows}
        found = fresh_scores(self._inputs, computed, self._rows, seed)
        self.report_info["fresh_sample"] = {name: [f.mean, f.low, f.high] for name, f in found.items()}
        return found
