"""The categories of SDMetrics' DisclosureProtection: bins of equal width, and a text for missing values."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.sdmetrics.columns import Column, Frame
from divulge.sdmetrics.readings import as_numbers

__all__ = ["binned", "filled"]

_WIDER = 0.001
_NULL = "__NULL_VALUE__"


def binned(name: Hashable, real: Column, synthetic: Column, n_bins: int) -> tuple[Column, Column]:
    """Return a column of both tables cut into bins of equal width over the real range, as texts "0", "1" and so on.

    Intervals are open on the left; the lowest reaches a thousandth of the range below the smallest real value. For
    the synthetic table the outer bins have no end, so that only a negative infinity falls out, into missing.

    Raises
    ------
    ValueError
        The real column has no value, an infinity, or a range too small for so many bins; a text is no number.
    """
    values = _numbers(name, real)
    known = values[~np.isnan(values)] if values.dtype.kind == "f" else values
    if not len(known):
        raise ValueError(f"Continuous column '{name}' has no value in the real data. hint: leave it out.")
    low, high = known.min(), known.max()
    if not np.isfinite(low) or not np.isfinite(high):
        raise ValueError(f"Continuous column '{name}' has an infinity in the real data. hint: make it missing.")
    edges = _edges(low, high, n_bins)
    if len(np.unique(edges)) < len(edges):
        raise ValueError(
            f"Continuous column '{name}' has a range too small for {n_bins} bins in the real data. hint: fewer bins."
        )
    open_ended = np.concatenate([[-np.inf], edges[1:-1], [np.inf]])
    labels = np.array([str(i) for i in range(n_bins)] + [None], dtype=object)
    return _cut(values, edges, labels), _cut(_numbers(name, synthetic), open_ended, labels)


def _edges(low: Any, high: Any, n_bins: int) -> NDArray[np.float64]:
    if low == high:  # a bin around a constant
        low = low - _WIDER * abs(low) if low != 0 else low - _WIDER
        high = high + _WIDER * abs(high) if high != 0 else high + _WIDER
        return np.linspace(low, high, n_bins + 1)
    edges = np.linspace(low, high, n_bins + 1)
    with np.errstate(over="ignore"):  # as released: beside a missing datetime the range wraps round
        edges[0] -= (high - low) * _WIDER
    return edges


def _cut(values: NDArray[Any], edges: NDArray[np.float64], labels: NDArray[Any]) -> Column:
    place = edges.searchsorted(values, side="left")
    lost = (place == 0) | (place == len(edges))
    if values.dtype.kind == "f":
        lost |= np.isnan(values)
    return Column("O", labels[np.where(lost, -1, place - 1)], lost)


def _numbers(name: Hashable, column: Column) -> NDArray[Any]:
    """Return the values as numbers: a missing datetime becomes the least whole number, as in SDMetrics."""
    (column,) = as_numbers([column], shifted=False)
    values = column.values
    if column.kind == "M":
        return values.view(np.int64)
    if column.kind == "m":
        return np.where(column.missing, np.nan, values.view(np.int64))
    if values.dtype == np.bool_:
        return values.astype(np.int64)
    if values.dtype != object:
        return values
    out = np.full(len(values), np.nan)
    try:
        out[~column.missing] = [float(v) for v in values[~column.missing]]
    except (TypeError, ValueError):
        raise ValueError(f"Continuous column '{name}' has values that are no numbers.") from None
    return out


def filled(real: Frame, synthetic: Frame, names: Iterable[Hashable]) -> tuple[Frame, Frame]:
    """Return both tables with a text for each missing value of some columns; the text occurs nowhere else.

    Raises
    ------
    TypeError
        A column of numbers or truth values of a nullable dtype has a missing value: it holds no text.
    """
    for name in names:
        parts = real[name], synthetic[name]
        if any(p.missing.any() for p in parts):
            text = _NULL
            known = (v for p in parts if p.values.dtype == object for v in p.values[~p.missing].tolist())
            present = {v for v in known if isinstance(v, str)}
            while text in present:
                text += "_"
            real, synthetic = (f.with_column(name, _fill(name, f[name], text)) for f in (real, synthetic))
    return real, synthetic


def _fill(name: Hashable, column: Column, text: str) -> Column:
    if not column.missing.any():
        return column
    if column.kind in "biuf" and column.values.dtype == object:
        raise TypeError(
            f"Column '{name}' is of a nullable dtype and has missing values, which cannot be given a category of text. "
            "hint: .astype(object)."
        )
    values = column.as_objects()
    values[column.missing] = text
    return Column("O", values, np.zeros(len(values), dtype=bool))
