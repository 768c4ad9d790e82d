"""The warnings of SDMetrics."""

__all__ = ["ConstantInputWarning", "SDMetricsWarning"]


class SDMetricsWarning(RuntimeWarning):
    """A warning about the data that a metric compares."""


class ConstantInputWarning(SDMetricsWarning):
    """A column has one value only, and the metric is not defined for it."""
