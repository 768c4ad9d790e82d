"""OutlierCoverage and SmoothnessSimilarity: names of SDMetrics' side bar, definitions of divulge.

SDMetrics documents the two as parts of its enterprise edition; their code is not public. Scores differ from theirs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.measures.spread import outlier_coverage, smoothness_similarity
from divulge.sdmetrics.base import SingleColumnMetric
from divulge.sdmetrics.computed import computed_by
from divulge.sdmetrics.inputs import number_pair, pair_of

__all__ = ["OutlierCoverage", "SmoothnessSimilarity"]


def outliers(real_data: Any, synthetic_data: Any) -> dict[str, Any]:
    """Return the breakdown of OutlierCoverage."""
    score, real, synthetic = outlier_coverage(*_numbers(real_data, synthetic_data))
    return {"score": score, "real": real, "synthetic": synthetic}


def smoothness(real_data: Any, synthetic_data: Any) -> dict[str, Any]:
    """Return the breakdown of SmoothnessSimilarity."""
    score, real, synthetic = smoothness_similarity(*_numbers(real_data, synthetic_data))
    return {"score": score, "real": real, "synthetic": synthetic}


def _numbers(real_data: Any, synthetic_data: Any) -> list[NDArray[np.float64]]:
    """Return the numbers or dates of both columns that are there and finite, as floats."""
    found = [values.astype(np.float64) for values in number_pair(*pair_of(real_data, synthetic_data))]
    return [values[np.isfinite(values)] for values in found]


@computed_by(outliers, sound="sound_scores.outliers_sound")
class OutlierCoverage(SingleColumnMetric):
    """How well synthetic outliers stand for the real ones. **The definition is divulge's own.**

    A real outlier lies beyond 1.5 interquartile ranges of the quartiles. It counts the share of synthetic numbers that
    lie at least as far out on its side, over that share of the real numbers, at most 1; the score is the mean over the
    real outliers, nan without any. SDMetrics has a metric of this name in its enterprise edition only.

    Parameters
    ----------
    real_data, synthetic_data
        Numbers or dates. Missing values and infinities are left out. "real" and "synthetic" in the breakdown are the
        shares of outliers.
    """

    name = "OutlierCoverage"


@computed_by(smoothness, sound="sound_scores.smoothness_sound")
class SmoothnessSimilarity(SingleColumnMetric):
    """How alike the widths of the two distributions are where they are densest. **The definition is divulge's own.**

    The width is the length of the shortest interval that holds half of the numbers; the score is the smaller width over
    the larger one. SDMetrics has a metric of this name in its enterprise edition only.

    Parameters
    ----------
    real_data, synthetic_data
        Numbers or dates. Missing values and infinities are left out. "real" and "synthetic" in the breakdown are the
        widths over the real range.
    """

    name = "SmoothnessSimilarity"
