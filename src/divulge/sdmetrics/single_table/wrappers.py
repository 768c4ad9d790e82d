"""The classes above metrics of one table that apply a metric of one or of two columns to all columns that suit it."""

from __future__ import annotations

from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from divulge.measures.result import TOLERANCE
from divulge.measures.verdicts import verdict_of
from divulge.sdmetrics.base import BaseMetric, ColumnPairsMetric, SingleColumnMetric, SingleTableMetric
from divulge.sdmetrics.columns import Column, Frame
from divulge.sdmetrics.single_table.selection import chosen_columns, selected_tables
from divulge.stats.intervals import holm

__all__ = ["MultiColumnPairsMetric", "MultiSingleColumnMetric", "corrected_parts"]

Breakdown = dict[Any, Any]


class _Wrapper(SingleTableMetric):
    """A metric of one table that has name, goal and bounds of another metric."""

    field_types: ClassVar[tuple[str, ...] | None] = None

    @classmethod
    def compute_both(
        cls, real_data: Any, synthetic_data: Any, metadata: Any = None, *, real_validation_data: Any = None, **own: Any
    ) -> Breakdown:
        """Return both breakdowns, as released and sound; p-values of the sound one are corrected over its parts."""
        more = {"mode": "sound", "real_validation_data": real_validation_data}
        return {
            "compatible": cls.compute_breakdown(real_data, synthetic_data, metadata, **own),
            "sound": cls.compute_breakdown(real_data, synthetic_data, metadata, **own, **more),
        }

    @classmethod
    def _take_attributes(cls, metric: type[BaseMetric] | None) -> None:
        if metric is not None:
            cls.name, cls.goal, cls.min_value, cls.max_value = (
                metric.name,
                metric.goal,
                metric.min_value,
                metric.max_value,
            )


class MultiSingleColumnMetric(_Wrapper):
    """A metric of one column, applied to each column of a table that has one of the `field_types`.

    A class derived from this one names the metric in `single_column_metric`, and settings of each
    call in `single_column_metric_kwargs`; its `compute` gives the mean over the
    columns, nan apart, and its `compute_breakdown` the breakdown of each column.
    """

    single_column_metric: ClassVar[type[SingleColumnMetric] | None] = None
    single_column_metric_kwargs: ClassVar[dict[str, Any] | None] = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._take_attributes(cls.single_column_metric)

    @classmethod
    def compute(cls, real_data: Any, synthetic_data: Any, metadata: Any = None, **kwargs: Any) -> float:
        """Return the mean score of the columns.

        Parameters
        ----------
        real_data, synthetic_data
            Frames with the same columns.
        metadata
            As SDMetrics takes it; None goes by the dtypes of the real table.
        **kwargs
            Settings of the metric of one column. With `mode="sound"`, `real_validation_data` is a frame too, and
            p-values are corrected over the columns.
        """
        found = cls._of_columns(real_data, synthetic_data, metadata, False, kwargs)
        return _mean([breakdown["score"] for breakdown in found.values()])

    @classmethod
    def compute_breakdown(cls, real_data: Any, synthetic_data: Any, metadata: Any = None, **kwargs: Any) -> Breakdown:
        """Return the breakdown of each column, its "error" if it fails, and nan for columns of other types.

        See `compute` for the parameters.
        """
        return cls._of_columns(real_data, synthetic_data, metadata, True, kwargs)

    @classmethod
    def _of_columns(
        cls, real_data: Any, synthetic_data: Any, metadata: Any, keep_errors: bool, kwargs: dict[str, Any]
    ) -> Breakdown:
        metric = cls.single_column_metric
        if metric is None or cls.field_types is None:
            raise NotImplementedError(f"{cls.__name__} computes nothing itself{cls._instead}")
        holdout = kwargs.pop("real_validation_data", None)
        real, synthetic, table = selected_tables(real_data, synthetic_data, metadata)
        strangers = None if holdout is None else selected_tables(real_data, holdout, metadata)[1]
        fields = chosen_columns(table, cls.field_types)
        found: Breakdown = {name: {"score": float("nan")} for name in table["columns"] if name not in fields}
        settings = {**(cls.single_column_metric_kwargs or {}), **kwargs}
        for name in (n for n in real.names if n in fields):
            own = {} if strangers is None else {"real_validation_data": _plain(strangers[name])}
            try:
                found[name] = metric.compute_breakdown(_plain(real[name]), _plain(synthetic[name]), **settings, **own)
            except Exception as error:
                if not keep_errors:
                    raise
                found[name] = {"error": error}
        return corrected_parts(found)


class MultiColumnPairsMetric(_Wrapper):
    """A metric of two columns, applied to each pair of columns of a table that have one of the `field_types`.

    A class derived from this one names the metric in `column_pairs_metric`. As released, `compute` passes no settings
    on, and `compute_breakdown` does.
    """

    column_pairs_metric: ClassVar[type[ColumnPairsMetric] | None] = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._take_attributes(cls.column_pairs_metric)

    @classmethod
    def compute(cls, real_data: Any, synthetic_data: Any, metadata: Any = None, **kwargs: Any) -> float:
        """Return the mean score of the pairs, nan apart.

        Parameters
        ----------
        real_data, synthetic_data
            Frames with the same columns.
        metadata
            As SDMetrics takes it; None goes by the dtypes of the real table.
        **kwargs
            As released, they are not used, but `mode` and `real_validation_data`; `compute_breakdown` uses them.
        """
        sound: dict[str, Any] = {n: v for n, v in kwargs.items() if n in ("mode", "real_validation_data")}
        found = cls._of_pairs(real_data, synthetic_data, metadata, False, sound)
        return _mean([breakdown["score"] for breakdown in found.values()])

    @classmethod
    def compute_breakdown(cls, real_data: Any, synthetic_data: Any, metadata: Any = None, **kwargs: Any) -> Breakdown:
        """Return the breakdown of each pair of columns, whose names are sorted.

        Parameters
        ----------
        real_data, synthetic_data, metadata
            As for `compute`.
        **kwargs
            Settings of the metric of two columns.
        """
        return cls._of_pairs(real_data, synthetic_data, metadata, True, kwargs)

    @classmethod
    def _of_pairs(
        cls, real_data: Any, synthetic_data: Any, metadata: Any, names_sorted: bool, kwargs: dict[str, Any]
    ) -> Breakdown:
        metric = cls.column_pairs_metric
        if metric is None or cls.field_types is None:
            raise NotImplementedError(f"{cls.__name__} computes nothing itself{cls._instead}")
        holdout = kwargs.pop("real_validation_data", None)
        real, synthetic, table = selected_tables(real_data, synthetic_data, metadata)
        tables = [real, synthetic, *([] if holdout is None else [selected_tables(real_data, holdout, metadata)[1]])]
        found = {}
        for pair in combinations(chosen_columns(table, cls.field_types), 2):
            names = tuple(sorted(pair, key=_order)) if names_sorted else pair
            sides = [Frame({n: t[n] for n in names}, t.n_rows) for t in tables]
            own = {} if holdout is None else {"real_validation_data": sides[2]}
            found[names] = metric.compute_breakdown(sides[0], sides[1], **kwargs, **own)
        return corrected_parts(found)


def corrected_parts(found: Breakdown) -> Breakdown:
    """Return sound breakdowns of several columns or pairs with p-values corrected over them (Holm), and verdicts."""
    parts = [p for p in found.values() if isinstance(p, dict) and p.get("p_value") is not None and "verdict" in p]
    for side in ("p_value", "p_low_tail"):
        told = [p for p in parts if p.get(side) is not None]
        for part, p in zip(told, holm([t[side] for t in told]).tolist(), strict=True):
            part[side.replace("value", "adjusted") if side == "p_value" else "p_low_tail_adjusted"] = p
    for part in parts:
        high = 1 - part["low"] if part.get("low") is not None else None
        part["verdict"] = verdict_of(part["p_adjusted"], part.get("p_low_tail_adjusted"), high, TOLERANCE)
    return found


def _order(name: Any) -> tuple[str, Any]:
    return ("" if isinstance(name, (int, float)) else type(name).__name__), name


def _plain(column: Column) -> Column:
    """Return the column with the dtype of its array in pandas: numbers of a nullable dtype with gaps are floats."""
    if column.kind in "iuf" and any(v.__class__.__name__ == "NAType" for v in column.values[column.missing][:1]):
        return Column("f", np.where(column.missing, np.nan, column.values).astype(np.float64), name=column.name)
    return Column("O", column.values, column.missing, column.name) if column.values.dtype == object else column


def _mean(scores: list[float]) -> float:
    known = [s for s in scores if s == s]
    return float(np.mean(known)) if known else float("nan")
