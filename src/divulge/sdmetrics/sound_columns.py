"""`mode="sound"` of metrics of columns and pairs: the score beside that of a fresh sample of the same size.

Each score is 1 less a distance of `divulge.measures`. With `real_validation_data`, people whom the synthesizer never
saw, their score stands beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from divulge.case.case import Case, build_case
from divulge.core import schema
from divulge.measures.column_pairs import column_pairs
from divulge.measures.column_shapes import column_shapes
from divulge.measures.correlations import correlations
from divulge.measures.coverage import coverage
from divulge.measures.missing_patterns import missing_patterns
from divulge.measures.result import FidelityResult, FreshSample
from divulge.measures.validity import validity
from divulge.sdmetrics.columns import Column
from divulge.sdmetrics.inputs import codes_of, column_of, ordered_numbers, two_columns
from divulge.sdmetrics.readings import as_numbers

__all__ = [
    "boundary_adherence_sound",
    "breakdown_of",
    "category_adherence_sound",
    "category_coverage_sound",
    "contingency_sound",
    "correlation_sound",
    "ks_sound",
    "missing_sound",
    "pooled_codes",
    "pooled_numbers",
    "tv_sound",
]

Breakdown = dict[str, Any]
_KINDS = {"number": "numeric", "category": "categorical"}


def _one(measure: Any, kind: str) -> Callable[..., Breakdown]:
    """Return the sound counterpart of a metric of one column."""

    def sound(real_data: Any, synthetic_data: Any, *, real_validation_data: Any = None) -> Breakdown:
        given = {"real_data": real_data, "synthetic_data": synthetic_data, "real_validation_data": real_validation_data}
        tables = [[column_of(data, role)] for role, data in given.items() if data is not None]
        return breakdown_of(measure.run(_case(tables, [kind])))

    return sound


ks_sound = _one(column_shapes, "number")
tv_sound = _one(column_shapes, "category")
missing_sound = _one(missing_patterns, "category")
category_coverage_sound = _one(coverage, "category")
boundary_adherence_sound = _one(validity, "number")
category_adherence_sound = _one(validity, "category")


def contingency_sound(
    real_data: Any,
    synthetic_data: Any,
    continuous_column_names: Sequence[Any] | None = None,
    *,
    real_validation_data: Any = None,
) -> Breakdown:
    """Return the sound counterpart of ContingencySimilarity; columns of numbers are put into ten bins."""
    names, tables = _pairs(real_data, synthetic_data, real_validation_data)
    numbers = set(continuous_column_names or ())
    return breakdown_of(column_pairs.run(_case(tables, ["number" if n in numbers else "category" for n in names])))


def correlation_sound(
    real_data: Any, synthetic_data: Any, coefficient: str = "Pearson", *, real_validation_data: Any = None
) -> Breakdown:
    """Return the sound counterpart of CorrelationSimilarity: 1 less the difference on Fisher's z scale, mapped back."""
    if coefficient not in ("Pearson", "Spearman"):
        raise ValueError("coefficient: this is neither Pearson nor Spearman. hint: Pearson is the default.")
    _, tables = _pairs(real_data, synthetic_data, real_validation_data)
    found = correlations.run(_case(tables, ["number", "number"]))
    return breakdown_of(found[:1] if len(found) == 1 else [r for r in found if r.variant == coefficient])


def _pairs(*data: Any) -> tuple[list[Any], list[list[Column]]]:
    roles = ("real_data", "synthetic_data", "real_validation_data")
    found = [two_columns(d, role) for d, role in zip(data, roles, strict=True) if d is not None]
    return found[0][0][:2], [columns[:2] for _, columns in found]


def _case(tables: Sequence[Sequence[Column]], kinds: Sequence[str]) -> Case:
    """Return the case of some columns in two or three tables; names and values become numbers of their own."""
    frames: list[dict[str, pl.Series]] = [{} for _ in tables]
    for j, kind in enumerate(kinds):
        own = [table[j] for table in tables]
        values = pooled_numbers(own) if kind == "number" else pooled_codes(own)
        for frame, series in zip(frames, values, strict=True):
            frame[f"c{j}"] = series
    described = schema.Schema(tuple(schema.Column(f"c{j}", _KINDS[kind]) for j, kind in enumerate(kinds)))  # type: ignore[arg-type] # two of the kinds
    return build_case(*(pl.DataFrame(frame) for frame in frames), schema=described)


def pooled_numbers(columns: Sequence[Column]) -> list[pl.Series]:
    """Return the numbers of a column in each table, null where one is missing."""
    out = []
    for column in as_numbers([_with_digits(column) for column in columns]):
        values = np.full(len(column.missing), np.nan)
        values[~column.missing] = ordered_numbers(column)
        out.append(pl.Series(values).fill_nan(None))
    return out


def _with_digits(column: Column) -> Column:
    """Return whole numbers that float64 does not hold as objects, which are read less the smallest."""
    values = column.values
    if values.dtype.kind not in "iu" or not len(values) or max(-int(values.min()), int(values.max())) <= 2**53:
        return column
    return Column("O", column.values.astype(object), column.missing, column.name)


def pooled_codes(columns: Sequence[Column]) -> list[pl.Series]:
    """Return the values of a column in each table as texts of their own, equal where values are; null is missing."""
    codes, _ = codes_of(list(columns))
    texts = [pl.Series(own.astype(np.int64)).cast(pl.String) for own in codes]
    return [pl.select(pl.when(pl.Series(~c.missing)).then(t)).to_series() for t, c in zip(texts, columns, strict=True)]


def breakdown_of(results: Sequence[FidelityResult]) -> Breakdown:
    """Return the result about the columns as scores, which are 1 less a distance."""
    result = results[-1]
    holdout = result.holdout
    out: Breakdown = {
        "score": _score(result.value),
        "fresh_sample": _scores(result.fresh_sample),
        "excess": result.excess,
        "low": _score(result.high),
        "high": _score(result.low),
        "ruler": result.ruler,
        "p_value": result.p_value,
        "p_low_tail": result.p_low_tail,
        "verdict": result.verdict,
        "smallest_detectable": result.smallest_detectable,
        "notes": list(result.notes),
    }
    if holdout is not None:
        out["holdout"] = {"score": _score(holdout.value), "fresh_sample": _scores(holdout.fresh_sample), "n": holdout.n}
    more: Mapping[str, Any] = result.context
    return out | {name: more[name] for name in ("real", "synthetic") if name in more}


def _score(distance: float | None) -> float:
    return float("nan") if distance is None else 1 - distance


def _scores(fresh: FreshSample | None) -> dict[str, float] | None:
    return None if fresh is None else {"mean": 1 - fresh.mean, "low": 1 - fresh.high, "high": 1 - fresh.low}
