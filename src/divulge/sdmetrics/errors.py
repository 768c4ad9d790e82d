"""The errors of SDMetrics that its users catch."""

__all__ = ["ConstantInputError", "IncomputableMetricError", "InvalidDataError", "VisualizationUnavailableError"]


class VisualizationUnavailableError(Exception):
    """A plot cannot be drawn."""


class IncomputableMetricError(Exception):
    """A metric does not apply to the table."""


class ConstantInputError(Exception):
    """A column has one value only, and the metric is not defined for it."""


class InvalidDataError(Exception):
    """The data do not follow the metadata."""
