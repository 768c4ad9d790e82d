"""The classes above all metrics, which users derive metrics of their own from.

A metric is a class whose methods are called on the class itself: `compute` gives the score, `compute_breakdown` a
dictionary with "score", `normalize` the score on a scale from 0 to 1.
"""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from divulge.sdmetrics.goal import Goal
from divulge.sdmetrics.paths import PATHS

__all__ = [
    "BaseMetric",
    "ColumnPairsMetric",
    "MultiTableMetric",
    "SingleColumnMetric",
    "SingleTableMetric",
    "TimeSeriesMetric",
]


_OMITTED: Any = object()
"""In place of a table name: take the first table where the metadata have several."""


class BaseMetric:
    """A metric: a class whose methods are called on the class itself."""

    name: ClassVar[str | None] = None
    goal: ClassVar[Goal | None] = None
    min_value: ClassVar[float | None] = None
    max_value: ClassVar[float | None] = None
    _instead: ClassVar[str] = ". hint: define compute(real_data, synthetic_data, ...) as a class method."

    @classmethod
    def get_subclasses(cls, include_parents: bool = False) -> dict[str, type[BaseMetric]]:
        """Return the metrics derived from this class, by name; with `include_parents` also their parent classes."""
        for family in PATHS:
            import_module(f"divulge.sdmetrics.{family}")
        found: dict[str, type[BaseMetric]] = {}
        for child in cls.__subclasses__():
            below = child.get_subclasses(include_parents)
            found |= below
            if include_parents or not below:
                found[child.__name__] = child
        return found

    @classmethod
    def compute(cls, *args: Any, **kwargs: Any) -> Any:
        """Return the score; a class derived from this one says how."""
        raise NotImplementedError(f"{cls.__name__} computes nothing itself{cls._instead}")

    @classmethod
    def compute_breakdown(cls, *args: Any, **kwargs: Any) -> Any:
        """Return the score and its parts: a dictionary with "score", which is what `compute` returns."""
        return {"score": cls.compute(*args, **kwargs)}

    @classmethod
    def normalize(cls, raw_score: float) -> float:
        """Return a score as a number from 0 to 1, 1 for the best; nan stays nan.

        Linear between finite bounds; with one infinite bound exponential, with two logistic.

        Raises
        ------
        ValueError
            The score lies outside the bounds.
        """
        assert cls.min_value is not None and cls.max_value is not None
        low, high = float(cls.min_value), float(cls.max_value)
        if high < raw_score or low > raw_score:
            raise ValueError("`raw_score` must be between `min_value` and `max_value`.")
        if math.isfinite(low) and math.isfinite(high):
            score = (raw_score - low) / (high - low)
        elif math.isfinite(high):
            score = np.exp(raw_score - high)
        elif math.isfinite(low):
            score = 1.0 - np.exp(low - raw_score)
        else:
            score = 1 / (1 + np.exp(-raw_score))
        return 1.0 - score if cls.goal is Goal.MINIMIZE else score


class SingleColumnMetric(BaseMetric):
    """A metric of one column: `compute` takes its values in the real and in the synthetic table."""


class ColumnPairsMetric(BaseMetric):
    """A metric of two columns: `compute` takes frames of two columns."""


class SingleTableMetric(BaseMetric):
    """A metric of one table: `compute` takes two frames, and metadata where the metric needs it."""

    @classmethod
    def _validate_inputs(
        cls, real_data: Any, synthetic_data: Any, metadata: Any = None, table_name: Any = _OMITTED
    ) -> tuple[Any, Any, dict[str, Any]]:
        """Return copies of both tables as pandas frames with dates parsed, and metadata, or raise an error."""
        from divulge.sdmetrics.metadata import table_metadata
        from divulge.sdmetrics.validated import validated_tables

        chosen = metadata if table_name is _OMITTED else table_metadata(metadata, table_name)
        return validated_tables(real_data, synthetic_data, chosen)

    @classmethod
    def _select_fields(cls, metadata: dict[str, Any], types: Any) -> list[Any]:
        """Return the columns of one or several sdtypes that are no key and not personal, or raise an error."""
        from divulge.sdmetrics.validated import selected_fields

        return selected_fields(metadata, types)

    @classmethod
    def compute_both(cls, *args: Any, **kwargs: Any) -> Any:
        """Return both breakdowns, as released and sound."""
        raise NotImplementedError(f"{cls.__name__} computes nothing itself{cls._instead}")


class MultiTableMetric(BaseMetric):
    """A metric of several tables: `compute` takes dictionaries of frames, and metadata."""


class TimeSeriesMetric(BaseMetric):
    """A metric of sequences: `compute` takes two frames whose rows belong to sequences."""

    @classmethod
    def _validate_inputs(
        cls, real_data: Any, synthetic_data: Any, metadata: Any = None, sequence_key: Any = None
    ) -> tuple[dict[str, Any], list[Any]]:
        """Return metadata and the columns of the sequence key, or raise an error.

        The tables stay as they are; SDMetrics parses dates given as text in the caller's frames.
        """
        from divulge.sdmetrics.validated import validated_sequences

        return validated_sequences(real_data, synthetic_data, metadata, sequence_key)
