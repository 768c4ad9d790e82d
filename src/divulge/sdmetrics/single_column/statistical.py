"""SDMetrics' metrics of one column.

The formulas are those of `divulge.measures`. `real_data` and `synthetic_data` are the values of one column: a
pandas.Series, a series of another library, an array or a list.
"""

from __future__ import annotations

from divulge.sdmetrics.base import SingleColumnMetric
from divulge.sdmetrics.computed import computed_by
from divulge.sdmetrics.single_column import comparisons, formats

__all__ = [
    "BoundaryAdherence",
    "CSTest",
    "CategoryAdherence",
    "CategoryCoverage",
    "DatetimeFormatAdherence",
    "KSComplement",
    "KeyUniqueness",
    "MissingValueSimilarity",
    "RangeCoverage",
    "RegexFormatAdherence",
    "StatisticSimilarity",
    "TVComplement",
]


@computed_by(comparisons.boundary_adherence, sound="sound_columns.boundary_adherence_sound")
class BoundaryAdherence(SingleColumnMetric):
    """Share of synthetic numbers or dates that lie between the smallest and the largest real one.

    Parameters
    ----------
    real_data, synthetic_data
        Numbers, dates, or text, which is compared by the alphabet.
    range_min, range_max
        Limits to take instead of those of the real column.
    range_is_nullable
        Whether missing values are left out; None leaves them out if the real column has some, else each is a miss.
    """

    name = "BoundaryAdherence"


@computed_by(comparisons.category_adherence, sound="sound_columns.category_adherence_sound")
class CategoryAdherence(SingleColumnMetric):
    """Share of synthetic values that the real column has.

    Parameters
    ----------
    real_data, synthetic_data
        Categories of any dtype.
    range_values
        List of values to take instead of those of the real column.
    range_is_nullable
        Whether a missing value is allowed; None allows it if the real column or the list has one.
    """

    name = "CategoryAdherence"


@computed_by(comparisons.category_coverage, sound="sound_columns.category_coverage_sound")
class CategoryCoverage(SingleColumnMetric):
    """Share of the real column's values that the synthetic column has; missing values do not count.

    Of pandas' category dtype all categories count, used or not.
    """

    name = "CategoryCoverage"


@computed_by(comparisons.chi_squared, sound="sound_columns.tv_sound")
class CSTest(SingleColumnMetric):
    """p-value of a chi-squared test of shares; as released, the number of rows does not enter, so it is no test."""

    name = "Chi-Squared"


@computed_by(formats.datetime_format_adherence, sound="sound_scores.datetime_format_sound")
class DatetimeFormatAdherence(SingleColumnMetric):
    """Share of synthetic values that are missing or follow a format of dates.

    Parameters
    ----------
    real_data, synthetic_data
        Dates as text. A synthetic column of dates gives nan.
    datetime_format
        Format of `strftime`.
    """

    name = "DatetimeFormatAdherence"


@computed_by(comparisons.key_uniqueness, sound="sound_scores.key_uniqueness_sound")
class KeyUniqueness(SingleColumnMetric):
    """Share of synthetic keys that are there and that no earlier row has.

    Parameters
    ----------
    real_data, synthetic_data
        A column, or a frame for a key of several columns; such a key is missing if all its parts are.
    """

    name = "KeyUniqueness"


@computed_by(comparisons.ks_complement, sound="sound_columns.ks_sound")
class KSComplement(SingleColumnMetric):
    """1 less the largest distance between the two empirical distribution functions of numbers or dates.

    Values are rounded to 14 decimals first, missing values are left out, and an empty side gives nan.
    """

    name = "Inverted Kolmogorov-Smirnov D statistic"


@computed_by(comparisons.missing_value_similarity, sound="sound_columns.missing_sound")
class MissingValueSimilarity(SingleColumnMetric):
    """1 less the difference between the two shares of missing values."""

    name = "MissingValueSimilarity"


@computed_by(comparisons.range_coverage, sound="sound_scores.range_coverage_sound")
class RangeCoverage(SingleColumnMetric):
    """Share of the real range of numbers or dates that the synthetic range covers; nan if a real column is constant."""

    name = "RangeCoverage"


@computed_by(formats.regex_format_adherence, sound="sound_scores.regex_format_sound")
class RegexFormatAdherence(SingleColumnMetric):
    """Share of synthetic values that are missing or match a regular expression as a whole.

    Parameters
    ----------
    real_data, synthetic_data
        Text.
    regex_format
        Regular expression. The text of each named group must also occur in that group in the real column.
    """

    name = "RegexFormatAdherence"


@computed_by(comparisons.statistic_similarity, sound="sound_scores.statistic_similarity_sound")
class StatisticSimilarity(SingleColumnMetric):
    """1 less the difference of a statistic as a share of the real range, at least 0.

    Parameters
    ----------
    real_data, synthetic_data
        Numbers or dates; missing values are left out. A constant real column gives nan and a warning.
    statistic
        "mean", "median" or "std".
    """

    name = "StatisticSimilarity"


@computed_by(comparisons.tv_complement, sound="sound_columns.tv_sound")
class TVComplement(SingleColumnMetric):
    """1 less the total variation distance between the shares of the values; missing values are left out.

    A value that only the synthetic column has counts 1e-6 in the real column, so columns without a common value score
    about 1e-6.
    """

    name = "TVComplement"
