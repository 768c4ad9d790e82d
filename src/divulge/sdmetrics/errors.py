"""The error of SDMetrics that its users catch."""

__all__ = ["IncomputableMetricError"]


class IncomputableMetricError(Exception):
    """A metric does not apply to the table."""
