"""SDMetrics' metrics of two columns.

The formulas are those of `divulge.measures`. `real_data` and `synthetic_data` are frames of two columns, or for keys
pairs of columns.
"""

from __future__ import annotations

from divulge.sdmetrics.base import ColumnPairsMetric
from divulge.sdmetrics.column_pairs import comparisons, keys
from divulge.sdmetrics.computed import computed_by

__all__ = [
    "CardinalityBoundaryAdherence",
    "ContingencySimilarity",
    "ContinuousKLDivergence",
    "CorrelationSimilarity",
    "DiscreteKLDivergence",
    "ReferentialIntegrity",
]


@computed_by(
    keys.cardinality_boundary,
    sound="sound_scores.cardinality_boundary_sound",
)
class CardinalityBoundaryAdherence(ColumnPairsMetric):
    """Share of synthetic parents with as many children as real parents have, between the fewest and the most.

    Parameters
    ----------
    real_data, synthetic_data
        Pairs of keys: that of the parents and that of the children. A frame is a key of several columns.
    """

    name = "CardinalityBoundaryAdherence"


@computed_by(comparisons.contingency_similarity, sound="sound_columns.contingency_sound")
class ContingencySimilarity(ColumnPairsMetric):
    """1 less the total variation distance between the shares of all pairs of values; missing is a value.

    Parameters
    ----------
    real_data, synthetic_data
        Frames of two columns.
    continuous_column_names, num_discrete_bins
        Columns to cut into so many bins of equal width over the real range.
    num_rows_subsample
        Draw so many rows of each table.
    real_association_threshold
        The score is nan unless Cramér's V of the real columns, without correction, exceeds it.
    seed
        Decides which rows are drawn; SDMetrics draws others at each call.
    """

    name = "ContingencySimilarity"


@computed_by(comparisons.continuous_divergence, sound="sound_scores.continuous_divergence_sound")
class ContinuousKLDivergence(ColumnPairsMetric):
    """1 / (1 + the Kullback-Leibler divergence) of counts in 10 x 10 bins over the real range; missing counts as 0."""

    name = "Continuous Kullback–Leibler Divergence"


@computed_by(comparisons.correlation_similarity, sound="sound_columns.correlation_sound")
class CorrelationSimilarity(ColumnPairsMetric):
    """1 less half the difference between the two correlations; rows in which a value is missing are left out.

    Parameters
    ----------
    real_data, synthetic_data
        Frames of two columns of numbers or dates.
    coefficient
        "Pearson" or "Spearman".
    real_correlation_threshold
        The score is nan unless the real correlation, whatever its sign, exceeds it.
    """

    name = "CorrelationSimilarity"


@computed_by(comparisons.discrete_divergence, sound="sound_scores.discrete_divergence_sound")
class DiscreteKLDivergence(ColumnPairsMetric):
    """1 / (1 + the Kullback-Leibler divergence) of the shares of all pairs of values."""

    name = "Discrete Kullback–Leibler Divergence"


@computed_by(keys.referential_integrity, sound="sound_scores.referential_integrity_sound")
class ReferentialIntegrity(ColumnPairsMetric):
    """Share of synthetic children whose key a synthetic parent has.

    Parameters
    ----------
    real_data, synthetic_data
        Pairs of keys: that of the parents and that of the children. A frame is a key of several columns. Where the
        real children's single key has missing values, synthetic rows without a key are left out; else they are misses.
    """

    name = "ReferentialIntegrity"
