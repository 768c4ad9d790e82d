"""The goal of a metric, under the path it has in SDMetrics."""

from enum import Enum

__all__ = ["Goal"]


class Goal(Enum):
    """Whether a higher or a lower score is better."""

    IGNORE = "ignore"
    MAXIMIZE = "maximize"
    MINIMIZE = "minimize"
