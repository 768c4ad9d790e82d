"""Metrics of one table over several: one class per name, made from a list of names."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from divulge.core.schema import no_such
from divulge.sdmetrics import single_table
from divulge.sdmetrics.base import BaseMetric, MultiTableMetric
from divulge.sdmetrics.errors import IncomputableMetricError
from divulge.sdmetrics.metadata import dictionary
from divulge.sdmetrics.warnings import SDMetricsWarning

__all__ = ["METRICS", "MultiSingleTableMetric"]

_NAMES = (
    "CSTest", "KSComplement", "StatisticSimilarity", "BoundaryAdherence", "MissingValueSimilarity", "CategoryCoverage",
    "TVComplement", "RangeCoverage", "CorrelationSimilarity", "ContingencySimilarity", "LogisticDetection",
    "SVCDetection", "BNLikelihood", "NewRowSynthesis", "BNLogLikelihood",
)  # fmt: skip
_PREFIXES = ("The real data in", "The synthetic data in")


class MultiSingleTableMetric(MultiTableMetric):
    """A metric of one table, computed for each of several tables.

    Derive a class with the attribute `single_table_metric`, or make an instance with that metric.

    Parameters
    ----------
    single_table_metric
        A metric of one table.
    """

    single_table_metric: ClassVar[type[BaseMetric] | None] = None

    def __init_subclass__(cls) -> None:
        """Take name, goal and bounds of the metric of one table, where the class has none of its own."""
        for attribute in ("name", "goal", "min_value", "max_value"):
            if cls.single_table_metric is not None and attribute not in vars(cls):
                setattr(cls, attribute, getattr(cls.single_table_metric, attribute))

    def __init__(self, single_table_metric: type[BaseMetric]) -> None:
        self.single_table_metric = single_table_metric  # type: ignore[misc] # as in SDMetrics, an instance may have its own
        self.compute = lambda *args, **kwargs: _per_table(single_table_metric, *args, **kwargs)  # type: ignore[assignment,method-assign] # as above

    @classmethod
    def compute(cls, real_data: Any, synthetic_data: Any, metadata: Any = None, **kwargs: Any) -> float:
        """Return the mean of the scores of all columns (or pairs) of all tables, without those that are nan.

        Parameters
        ----------
        real_data, synthetic_data
            Dictionaries of frames, with the same tables.
        metadata
            SDV metadata with "tables"; None takes the types from the dtypes.
        **kwargs
            Settings of the metric of one table. With `mode="sound"`, `real_validation_data` is a dictionary too.

        Raises
        ------
        ValueError
            The tables differ, or the metadata lack one.
        IncomputableMetricError
            The metric fails for each table.
        """
        found = list(cls.compute_breakdown(real_data, synthetic_data, metadata, **kwargs).values())
        scores: list[Any] = []
        for part in found:
            if not isinstance(part, Mapping):
                scores.append(part)
            elif "score" in part:
                scores.append(part["score"])
            else:
                scores += [inner["score"] for inner in part.values() if "score" in inner]
        return _mean(scores)

    @classmethod
    def compute_breakdown(
        cls, real_data: Any, synthetic_data: Any, metadata: Any = None, **kwargs: Any
    ) -> dict[str, Any]:
        """Return {table: breakdown of the metric of one table}; without tables for which it fails; see `compute`."""
        if cls.single_table_metric is None:
            raise NotImplementedError(
                f"{cls.__name__} has no `single_table_metric`. hint: derive a class that has one."
            )
        return _per_table(cls.single_table_metric, real_data, synthetic_data, metadata, **kwargs)

    @classmethod
    def compute_both(
        cls, real_data: Any, synthetic_data: Any, metadata: Any = None, *, real_validation_data: Any = None, **own: Any
    ) -> dict[str, Any]:
        """Return both breakdowns, as released and sound."""
        more = {"mode": "sound", "real_validation_data": real_validation_data}
        return {
            "compatible": cls.compute_breakdown(real_data, synthetic_data, metadata, **own),
            "sound": cls.compute_breakdown(real_data, synthetic_data, metadata, **own, **more),
        }


def _mean(scores: list[Any]) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # all are nan
        return float(np.nanmean(np.array(scores, dtype=np.float64)))


def _per_table(
    metric: type[BaseMetric], real_data: Any, synthetic_data: Any, metadata: Any = None, **kwargs: Any
) -> dict[str, Any]:
    if set(real_data) != set(synthetic_data):
        raise ValueError("`real_data` and `synthetic_data` must have the same tables")
    of_table = _metadata_of(metadata)
    holdout = kwargs.pop("real_validation_data", None)
    if holdout is not None and not set(real_data) <= set(holdout):
        raise ValueError("`real_validation_data` must have the tables of `real_data`")
    scores: dict[str, Any] = {}
    errors: dict[str, Exception] = {}
    for name, real in real_data.items():
        entry = of_table(name)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                own = {} if holdout is None else {"real_validation_data": holdout[name]}
                scores[name] = metric.compute_breakdown(real, synthetic_data[name], entry, **kwargs, **own)
            except Exception as error:
                errors[name] = error
        _warn_again([w for w in caught if issubclass(w.category, SDMetricsWarning)], name)
    if not scores:
        raise IncomputableMetricError(f"Encountered the following errors: {errors}")
    return scores


def _warn_again(caught: list[warnings.WarningMessage], table: str) -> None:
    """Pass on what SDMetrics warns of, with the name of the table; a text that several columns share once."""
    for message, category in dict.fromkeys((str(w.message), w.category) for w in caught):
        for prefix in _PREFIXES:
            message = message.replace(prefix, f"{prefix[:-3]} in table '{table}',")
        warnings.warn(category(message), stacklevel=4)


def _metadata_of(metadata: Any) -> Callable[[str], Any]:
    if metadata is None:
        return lambda table: None
    given = dictionary(metadata)
    for name, entry in given.get("tables", {"": given}).items():
        if not isinstance(entry, Mapping) or "columns" not in entry:
            where = f"Error in table '{name}': " if "tables" in given else ""
            raise ValueError(
                f"{where}Each table in the metadata must include a 'columns' key that maps column names to their "
                "corresponding information."
            )
    if "tables" not in given:
        raise ValueError("Metadata must include a 'tables' key that maps table names to their respective metadata.")

    def of_table(table: str) -> Any:
        if table not in given["tables"]:
            raise ValueError(no_such("metadata", "table", table, list(map(str, given["tables"]))))
        return given["tables"][table]

    return of_table


def _made(name: str) -> type[MultiSingleTableMetric]:
    doc = f"`divulge.sdmetrics.single_table.{name}` over several tables: the mean over all their columns or pairs."
    members = {
        "__doc__": doc,
        "__module__": "divulge.sdmetrics.multi_table",
        "single_table_metric": getattr(single_table, name),
    }
    return type(name, (MultiSingleTableMetric,), members)


METRICS: dict[str, type[MultiSingleTableMetric]] = {n: _made(n) for n in _NAMES if hasattr(single_table, n)}
"""The metrics by name."""
