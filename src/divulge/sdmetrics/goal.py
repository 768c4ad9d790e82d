"""What is better, more or less; under the path that SDMetrics has for it."""

from enum import Enum

__all__ = ["Goal"]


class Goal(Enum):
    """Whether more or less is better."""

    IGNORE = "ignore"
    MAXIMIZE = "maximize"
    MINIMIZE = "minimize"
