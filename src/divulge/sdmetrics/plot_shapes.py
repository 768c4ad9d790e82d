"""What the plots are drawn from: axes, and counts reduced to cells; no rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil, floor, isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.report.documents.svg import ticks

__all__ = [
    "Axis", "Bars", "Boxes", "Empty", "Grid", "Lines", "Matrix", "Picture", "Scores", "Steps", "Triangle", "date_ticks",
    "number_text",
]  # fmt: skip

Floats = NDArray[np.float64]
_CALENDAR = (("h", 1), ("h", 6), ("D", 1), ("D", 2), ("D", 7), ("M", 1), ("M", 3), ("M", 6), ("Y", 1), ("Y", 2),
             ("Y", 5), ("Y", 10), ("Y", 20), ("Y", 50), ("Y", 100), ("Y", 1000))  # fmt: skip
_SECONDS = {"h": 3600.0, "D": 86_400.0, "M": 30.44 * 86_400, "Y": 365.25 * 86_400}


@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """One axis: bins of numbers or dates (seconds since 1970), or named values."""

    title: str
    edges: Floats | None = None
    dates: bool = False
    names: tuple[str, ...] = ()

    @property
    def ends(self) -> tuple[float, float]:
        """Low and high end; named values stand at 0.5, 1.5, ..."""
        return (0.0, float(len(self.names))) if self.edges is None else (float(self.edges[0]), float(self.edges[-1]))

    @property
    def cells(self) -> Floats:
        """Edges of the cells along the axis."""
        return np.arange(len(self.names) + 1.0) if self.edges is None else self.edges

    def marks(self, about: int = 6) -> list[tuple[float, str]]:
        """Return round positions within the axis and their labels, or the names."""
        if self.edges is None:
            return [(i + 0.5, name) for i, name in enumerate(self.names)]
        return marks_between(*self.ends, dates=self.dates, about=about)


def marks_between(low: float, high: float, *, dates: bool = False, about: int = 6) -> list[tuple[float, str]]:
    """Return round positions from low to high and their labels."""
    if dates:
        return date_ticks(low, high, about)
    if max(abs(low), abs(high)) >= 1e9 or high - low < 1e-6:  # ticks() rounds to ten decimals
        steps = np.linspace(low, high, 4).tolist()
        return [(v, f"{v:.3g}") for v in steps]
    return [(v, number_text(v)) for v in ticks(low, high, about)]


def number_text(value: float) -> str:
    """Return a number of an axis as text.

    Examples
    --------
    >>> number_text(12000.0), number_text(0.25)
    ('12,000', '0.25')
    """
    if not isfinite(value):
        return str(value)
    return f"{value:,.0f}" if value == int(value) and abs(value) < 1e15 else f"{value:,.10g}"


def date_ticks(low: float, high: float, about: int = 6) -> list[tuple[float, str]]:
    """Return beginnings of years, months, days or hours from low to high, in seconds, and their labels.

    Examples
    --------
    >>> [label for _, label in date_ticks(0, 365.25 * 86400, 4)]
    ['1970-01', '1970-04', '1970-07', '1970-10', '1971-01']
    """
    if high - low < 2 * 3600 or not -6e10 < low < high < 2.5e11:
        return [(v, str(np.datetime64(int(v), "s")).replace("T", " ")) for v in np.linspace(low, high, 3).tolist()]
    rough = (high - low) / about
    unit, step = next(((u, s) for u, s in _CALENDAR if _SECONDS[u] * s >= rough * 0.8), _CALENDAR[-1])
    begin = np.array([floor(low), ceil(high)], dtype="datetime64[s]").astype(f"datetime64[{unit}]").astype(np.int64)
    count = np.arange(begin[0] - begin[0] % step, begin[1] + 1, step)
    moments = count.astype(f"datetime64[{unit}]")
    seconds = moments.astype("datetime64[s]").astype(np.int64)
    shown = (seconds >= low) & (seconds <= high)
    labels = [str(m).replace("T", " ") + (":00" if unit == "h" else "") for m in moments[shown]]
    return list(zip(seconds[shown].astype(float).tolist(), labels, strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """What all plots have."""

    title: str
    sides: tuple[str, ...]
    """"Real", "Synthetic" or both."""
    notes: tuple[str, ...] = field(kw_only=True, default=())


@dataclass(frozen=True, slots=True, eq=False)
class Empty(Picture):
    """No data to visualize."""


@dataclass(frozen=True, slots=True, eq=False)
class Scores(Picture):
    """Scores from 0 to 1 of columns, tables or relations, in the order in which they are drawn."""

    names: tuple[str, ...]
    metrics: tuple[str, ...]
    values: Floats
    """One score a name; nan where there is none."""


@dataclass(frozen=True, slots=True, eq=False)
class Triangle:
    """One number for each pair of names, in a square of shape (n_names, n_names); nan where there is none."""

    title: str
    names: tuple[str, ...]
    values: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Matrix(Picture):
    """The scores of pairs of columns, and the correlations of both tables."""

    similarity: Triangle
    correlations: tuple[Triangle, ...]
    """Of the real and of the synthetic table, with the same names; empty where no pair has one."""


@dataclass(frozen=True, slots=True, eq=False)
class Bars(Picture):
    """Shares of named values; nan where fewer than five rows have the value."""

    axis: Axis
    shares: Sequence[Floats]


@dataclass(frozen=True, slots=True, eq=False)
class Steps(Picture):
    """Shares of the rows per bin, as areas or as bars side by side."""

    axis: Axis
    heights: Sequence[Floats]
    measure: str
    areas: bool


@dataclass(frozen=True, slots=True, eq=False)
class Grid(Picture):
    """Shares of the rows per cell of two axes, one panel a table; each of shape (n_y, n_x)."""

    x: Axis
    y: Axis
    cells: Sequence[Floats]


@dataclass(frozen=True, slots=True, eq=False)
class Boxes(Picture):
    """Quantiles of a number for each named value, shape (n_names, 5), or its bins, shape (n_names, n_bins)."""

    names: Axis
    axis: Axis
    found: Sequence[Floats]
    violin: bool


@dataclass(frozen=True, slots=True, eq=False)
class Lines(Picture):
    """A mean over bins, and quartiles: arrays x, mean, low, high of each table."""

    x: Axis
    y_title: str
    y_dates: bool
    lines: Sequence[tuple[Floats, Floats, Floats, Floats]]

    def ends(self) -> tuple[float, float]:
        """Return the lowest and highest value that is drawn."""
        drawn: list[Any] = [v[np.isfinite(v)] for line in self.lines for v in line[1:]]
        every = np.concatenate(drawn)
        low, high = float(every.min()), float(every.max())
        pad = (high - low) * 0.04 or abs(low) * 0.05 or 1.0
        return low - pad, high + pad
