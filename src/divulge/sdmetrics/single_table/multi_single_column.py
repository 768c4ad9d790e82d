"""SDMetrics' metrics of one column, each applied to the columns of a table that suit it."""

from __future__ import annotations

from divulge.sdmetrics import single_column
from divulge.sdmetrics.single_table.wrappers import MultiSingleColumnMetric

__all__ = [
    "BoundaryAdherence",
    "CSTest",
    "CategoryCoverage",
    "KSComplement",
    "MissingValueSimilarity",
    "MultiSingleColumnMetric",
    "OutlierCoverage",
    "RangeCoverage",
    "SmoothnessSimilarity",
    "StatisticSimilarity",
    "TVComplement",
]

_NUMBERS = ("numerical", "datetime")
_CATEGORIES = ("categorical", "boolean")


class BoundaryAdherence(MultiSingleColumnMetric):
    """`single_column.BoundaryAdherence` of each numerical and datetime column."""

    field_types = _NUMBERS
    single_column_metric = single_column.BoundaryAdherence


class CategoryCoverage(MultiSingleColumnMetric):
    """`single_column.CategoryCoverage` of each categorical and boolean column."""

    field_types = _CATEGORIES
    single_column_metric = single_column.CategoryCoverage


class CSTest(MultiSingleColumnMetric):
    """`single_column.CSTest` of each categorical and boolean column."""

    field_types = ("boolean", "categorical")
    single_column_metric = single_column.CSTest


class KSComplement(MultiSingleColumnMetric):
    """`single_column.KSComplement` of each numerical and datetime column."""

    field_types = _NUMBERS
    single_column_metric = single_column.KSComplement


class MissingValueSimilarity(MultiSingleColumnMetric):
    """`single_column.MissingValueSimilarity` of each numerical and datetime column."""

    field_types = _NUMBERS
    single_column_metric = single_column.MissingValueSimilarity


class OutlierCoverage(MultiSingleColumnMetric):
    """`single_column.OutlierCoverage`, a definition of divulge, of each numerical and datetime column."""

    field_types = _NUMBERS
    single_column_metric = single_column.OutlierCoverage


class RangeCoverage(MultiSingleColumnMetric):
    """`single_column.RangeCoverage` of each numerical and datetime column."""

    field_types = _NUMBERS
    single_column_metric = single_column.RangeCoverage


class SmoothnessSimilarity(MultiSingleColumnMetric):
    """`single_column.SmoothnessSimilarity`, a definition of divulge, of each numerical and datetime column."""

    field_types = _NUMBERS
    single_column_metric = single_column.SmoothnessSimilarity


class StatisticSimilarity(MultiSingleColumnMetric):
    """`single_column.StatisticSimilarity` of each numerical and datetime column."""

    field_types = _NUMBERS
    single_column_metric = single_column.StatisticSimilarity


class TVComplement(MultiSingleColumnMetric):
    """`single_column.TVComplement` of each categorical and boolean column."""

    field_types = _CATEGORIES
    single_column_metric = single_column.TVComplement
