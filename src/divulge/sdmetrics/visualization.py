"""SDMetrics' plots of two tables, under their own names; no row of a table is in a figure.

The tables are reduced to counts before anything is drawn: bins, cells and quantiles that stand for five rows or more.
`backend="plotly"` returns the same counts as a plotly figure.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.core.schema import no_such
from divulge.measures import plot_counts
from divulge.measures.plot_counts import FEW
from divulge.sdmetrics.columns import Column
from divulge.sdmetrics.metadata import table_metadata
from divulge.sdmetrics.multi_table.cardinality import n_children
from divulge.sdmetrics.plot import BACKENDS, plotted
from divulge.sdmetrics.plot_columns import (
    few_note,
    is_constant,
    is_date,
    is_number,
    missing_note,
    named,
    numbers_in,
    read,
)
from divulge.sdmetrics.plot_shapes import Axis, Bars, Boxes, Empty, Grid, Lines, Picture, Steps, number_text

__all__ = ["get_cardinality_plot", "get_column_line_plot", "get_column_pair_plot", "get_column_plot"]

Floats = NDArray[np.float64]
_NO_DATA = "No data provided to plot. Please provide either real or synthetic data."
_MOST = 20
_MOST_OF_A_GRID = 12
_DAY = 86_400.0
_FROM = 4 * FEW
"""Rows of a table from which quartiles of one value have five rows on either side."""
_BEYOND = "What lies beyond an end of the axis is counted in the last bin."


def get_column_plot(
    real_data: Any, synthetic_data: Any, column_name: Hashable, plot_type: str | None = None, *, backend: str = "svg"
) -> Any:
    """Plot the distribution of one column of two tables.

    Parameters
    ----------
    real_data, synthetic_data
        Frames; one of them may be None.
    column_name
        The column.
    plot_type
        "distplot" draws the shares of common bins of numbers or dates as areas, "bar" those of named values; None
        takes "distplot" for numbers and dates that are not constant.
    backend
        "svg" returns a `Plot`, "plotly" a figure of plotly.

    Raises
    ------
    ValueError
        There is no data or no such column, the type is unknown, or a column for "distplot" is constant or text.

    Examples
    --------
    >>> import polars as pl
    >>> ages = pl.DataFrame({"age": range(40)})
    >>> get_column_plot(ages, ages, "age").picture.title
    "Real vs. Synthetic Data for column 'age'"
    """
    _check(real_data, synthetic_data, plot_type, ("bar", "distplot", None), backend)
    sides, columns = [], []
    for side, data in _given(real_data, synthetic_data):
        lacking, found = read(data, [column_name])
        if lacking:
            raise ValueError(f"Column {_quoted(column_name)} not found in {side.lower()} table data.")
        sides.append(side)
        columns += found
    constant = any(is_constant(c) for c in columns)
    if plot_type == "distplot" and constant:
        raise ValueError(
            f"Plot type 'distplot' cannot be created because column {_quoted(column_name)} has a constant value inside "
            "the real or synthetic data. To render a visualization, please update the plot_type to 'bar'."
        )
    ordered = _ordered(columns)
    if plot_type == "distplot" and not ordered and _any_value(columns):
        raise ValueError(
            f"Plot type 'distplot' needs numbers or dates, and column {_quoted(column_name)} holds others. hint: "
            "update the plot_type to 'bar'."
        )
    plot_type = plot_type or ("distplot" if ordered and not constant else "bar")
    title = f"{' vs. '.join(sides)} Data for column {_quoted(column_name)}"
    return plotted(_of_column(title, sides, columns, plot_type, ordered), backend)


def get_cardinality_plot(
    real_data: Any,
    synthetic_data: Any,
    child_table_name: str,
    parent_table_name: str,
    child_foreign_key: Any,
    parent_primary_key: Any,
    plot_type: str = "bar",
    *,
    backend: str = "svg",
) -> Any:
    """Plot how many children the rows of a parent table have, in the real and in the synthetic tables.

    Parameters
    ----------
    real_data, synthetic_data
        Dictionaries of frames; one of them may be None.
    child_table_name, parent_table_name
        Names of the tables.
    child_foreign_key, parent_primary_key
        Columns of the key; lists for a key of several columns.
    plot_type
        "bar" or "distplot".
    backend
        "svg" returns a `Plot`, "plotly" a figure of plotly.

    Raises
    ------
    ValueError
        There is no data, no such table or column, or the type is unknown.
    """
    _check(real_data, synthetic_data, plot_type, ("bar", "distplot"), backend)
    sides, counts = [], []
    for side, tables in _given(real_data, synthetic_data):
        if not isinstance(tables, Mapping):
            raise TypeError(
                f"`{side.lower()}_data` is of type {type(tables).__name__}; it must be a dictionary of tables."
            )
        parent, child = (
            _key_of(tables, table, key, side)
            for table, key in ((parent_table_name, parent_primary_key), (child_table_name, child_foreign_key))
        )
        if len(parent) != len(child):
            raise ValueError(f"The keys have {len(parent)} and {len(child)} columns. hint: name them in pairs.")
        sides.append(side)
        counts.append(Column("f", n_children(parent, child)))
    title = f"Relationship (child foreign key={child_foreign_key!r} and parent primary key={parent_primary_key!r})"
    picture = _histogram(title, sides, counts, areas=plot_type == "distplot", label="# of Children (per Parent)")
    return plotted(picture, backend)


def get_column_pair_plot(
    real_data: Any,
    synthetic_data: Any,
    column_names: Sequence[Hashable],
    plot_type: str | None = None,
    *,
    backend: str = "svg",
) -> Any:
    """Plot two columns of two tables against each other.

    Parameters
    ----------
    real_data, synthetic_data
        Frames; one of them may be None.
    column_names
        Two columns.
    plot_type
        "scatter" and "heatmap" draw the share of rows in each cell of a grid, one grid a table; "box" draws the
        quantiles 1, 25, 50, 75 and 99 % of the number for each value of the other column, "violin" its bins. None
        takes "scatter" for two columns of numbers or dates, "heatmap" for none, "box" for one.
    backend
        "svg" returns a `Plot`, "plotly" a figure of plotly.

    Raises
    ------
    ValueError
        There is no data or no such column, or the type is unknown or does not fit the columns.
    """
    names = [column_names] if isinstance(column_names, str) else list(column_names)
    if len(names) != 2:
        raise ValueError("Must provide exactly two column names.")
    if real_data is None and synthetic_data is None:
        raise ValueError(_NO_DATA)
    sides, pairs = [], []
    for side, data in _given(real_data, synthetic_data):
        lacking, found = read(data, names)
        if lacking:
            told = ", ".join(sorted({_quoted(n) for n in lacking}))
            raise ValueError(f"Missing column(s) {{{told}}} in {side.lower()} data.")
        sides.append(side)
        pairs.append((found[0], found[1]))
    _check(real_data, synthetic_data, plot_type, ("box", "heatmap", "scatter", "violin", None), backend)
    ordered = [_ordered([p[i] for p in pairs]) for i in (0, 1)]
    plot_type = plot_type or ("scatter" if all(ordered) else "box" if any(ordered) else "heatmap")
    title = f"{' vs. '.join(sides)} Data for columns {_quoted(names[0])} and {_quoted(names[1])}"
    if not any(len(p[0]) and not (p[0].missing | p[1].missing).all() for p in pairs):
        return plotted(Empty(title, tuple(sides)), backend)
    if plot_type in ("box", "violin"):
        if not any(ordered):
            raise ValueError(f"Plot type {plot_type!r} needs a column of numbers or dates. hint: use 'heatmap'.")
        which = 1 if ordered[1] else 0
        return plotted(_boxes(title, sides, pairs, which, violin=plot_type == "violin"), backend)
    return plotted(_grid(title, sides, pairs, ordered), backend)


def get_column_line_plot(
    real_data: Any, synthetic_data: Any, column_name: Hashable, metadata: Any, *, backend: str = "svg"
) -> Any:
    """Plot a column of numbers over the order of its rows: means over bins with the quartiles of their rows.

    Parameters
    ----------
    real_data, synthetic_data
        Frames.
    column_name
        A column of numbers or dates.
    metadata
        Its "sequence_index" names the column that orders the rows; without it the number of the row does.
    backend
        "svg" returns a `Plot`, "plotly" a figure of plotly.

    Raises
    ------
    ValueError
        There is no such column, or one is neither a number nor a date.
    """
    _check(real_data, synthetic_data, None, (None,), backend)
    index = (table_metadata(metadata) or {}).get("sequence_index")
    names = [column_name] if index is None else [column_name, index]
    sides, columns = [], []
    for side, data in (("Real", real_data), ("Synthetic", synthetic_data)):
        if data is None:
            raise ValueError(_NO_DATA)
        lacking, found = read(data, names)
        if lacking:
            raise ValueError(f"Column {_quoted(lacking[0])} not found in {side.lower()} table data.")
        own = found[1] if index is not None else Column("i", np.arange(len(found[0])))
        sides.append(side)
        columns.append((own, found[0]))
    for i, told in ((0, f"Sequence Index {_quoted(index)}"), (1, f"Column Name {_quoted(column_name)}")):
        of_all = [c[i] for c in columns]
        if _any_value(of_all) and not _ordered(of_all):
            raise ValueError(f"{told} must contain numerical or datetime values only")
    title = f"Real vs Synthetic Data for column: {_quoted(column_name)}"
    label = "Sequence Position" if index is None else str(index)
    return plotted(_lines(title, sides, columns, label, str(column_name)), backend)


# ---------------------------------------------------------------- arguments


def _check(real: Any, synthetic: Any, plot_type: Any, known: tuple[str | None, ...], backend: str) -> None:
    if real is None and synthetic is None:
        raise ValueError(_NO_DATA)
    if plot_type not in known:
        raise ValueError(f"Invalid plot_type {_quoted(plot_type)}. Please use one of {list(known)}.")
    if backend not in BACKENDS:
        raise ValueError(f"Invalid backend {_quoted(backend)}. Please use one of {list(BACKENDS)}.")


def _given(real: Any, synthetic: Any) -> list[tuple[str, Any]]:
    return [(side, data) for side, data in (("Real", real), ("Synthetic", synthetic)) if data is not None]


def _quoted(name: object) -> str:
    text = repr(name) if isinstance(name, str) else repr(str(name))
    return text if len(text) <= 90 else f"{text[:60]} … {text[-20:]}"


def _key_of(tables: Mapping[str, Any], table: str, key: Any, side: str) -> list[Column]:
    role = f"{side.lower()}_data"
    if table not in tables:
        raise ValueError(no_such(role, "table", table, list(map(str, tables))))
    lacking, found = read(tables[table], list(key) if isinstance(key, list | tuple) else [key])
    if lacking:
        raise ValueError(f"Column {_quoted(lacking[0])} not found in table {_quoted(table)} of {role}.")
    return found


def _ordered(columns: Sequence[Column]) -> bool:
    """Return whether a column has an order in every table that has values: numbers in all, or dates in all."""
    there = [c for c in columns if not c.missing.all()]
    tests: tuple[Callable[[Column], bool], ...] = (is_number, is_date)
    return bool(there) and any(all(test(c) for c in there) for test in tests)


def _any_value(columns: Sequence[Column]) -> bool:
    return any(not c.missing.all() for c in columns)


def _dates(columns: Sequence[Column]) -> bool:
    return any(is_date(c) for c in columns if not c.missing.all())


def _numbers(column: Column) -> tuple[Floats, NDArray[np.bool_]]:
    if column.missing.all():
        return np.full(len(column), np.nan), np.zeros(len(column), dtype=bool)
    return numbers_in(column)


# ---------------------------------------------------------------- reduction


def _of_column(title: str, sides: list[str], columns: list[Column], plot_type: str, ordered: bool) -> Picture:
    if plot_type == "distplot":
        return _histogram(title, sides, columns, areas=True)
    found = named(columns, _MOST)
    if ordered and len(found.names) > _MOST:
        return _histogram(title, sides, columns, areas=False)
    notes = missing_note(sides, columns)
    counts = [np.bincount(c[c >= 0], minlength=len(found.names)) for c in found.codes]
    notes += few_note(sides, [int(c.sum()) for c in counts])
    if not any(c.sum() >= FEW for c in counts):
        return Empty(title, tuple(sides), notes=tuple(notes))
    shares = [np.where(c >= FEW, c, np.nan) / max(int(c.sum()), 1) for c in counts]  # none and few look the same
    return Bars(title, tuple(sides), Axis("Value", names=found.names), shares, notes=tuple(notes))


def _histogram(title: str, sides: list[str], columns: list[Column], *, areas: bool, label: str = "Value") -> Picture:
    notes = missing_note(sides, columns)
    dates = _dates(columns)
    read_in = [_numbers(c) for c in columns]
    parts = [values[finite] for values, finite in read_in]
    if any(bool(np.isinf(values).any()) for values, _ in read_in):
        notes.append("Infinite values are not drawn.")
    notes += few_note(sides, [len(p) for p in parts])
    if not plot_counts.enough(parts):
        return Empty(title, tuple(sides), notes=tuple(notes))
    edges = plot_counts.bins_of(parts, dates=dates)
    counts = [plot_counts.counts_in(p, edges) for p in parts]
    heights = [plot_counts.merged(c) / max(int(c.sum()), 1) for c in counts]
    per = _span(float(edges[1] - edges[0]), dates)
    measure = "Frequency (share of rows)" if per == "1" else f"Frequency (share of rows per {per})"
    notes.append(f"Bins of fewer than {FEW} rows are merged with their neighbours. {_BEYOND}")
    return Steps(title, tuple(sides), Axis(label, edges, dates), heights, measure, areas, notes=tuple(notes))


def _span(width: float, dates: bool) -> str:
    if not dates:
        return number_text(width) if 1e-6 < width < 1e12 else f"{width:.0e}"
    for unit, seconds in (("year", 365.25 * _DAY), ("day", _DAY), ("hour", 3600.0), ("minute", 60.0)):
        if width >= seconds:
            n = width / seconds
            return unit if n == 1 else f"{n:,.4g} {unit}s"
    return f"{width:g} seconds"


def _grid(title: str, sides: list[str], pairs: list[tuple[Column, Column]], ordered: list[bool]) -> Picture:
    rows = [_numbers_or_none(pair, ordered) for pair in pairs]
    axes, codes = [], []
    edges: Sequence[Floats | None] = [None, None]
    if all(ordered):
        edges = plot_counts.grid_bins(
            [(r[0], r[1]) for r in rows], (_dates([p[0] for p in pairs]), _dates([p[1] for p in pairs]))
        )
    for i in (0, 1):
        of_all = [p[i].take(_known(p, ordered)) for p in pairs]
        name = str(pairs[0][i].name)
        if not ordered[i]:
            found = named(of_all, _MOST_OF_A_GRID)
            axes.append(Axis(name, names=found.names))
            codes.append(list(found.codes))
            continue
        numbers = [numbers_in(c)[0] if len(c) else np.empty(0) for c in of_all]
        dates = _dates(of_all)
        given = edges[i]
        own = plot_counts.bins_of(numbers, dates=dates, about=20) if given is None else given
        axes.append(Axis(name, own, dates))
        codes.append([plot_counts.bin_codes(n, own) for n in numbers])
    x, y = axes
    counts = [plot_counts.grid_counts(a, b, len(x.cells) - 1, len(y.cells) - 1) for a, b in zip(*codes, strict=True)]
    shown = [plot_counts.shown_cells(c) for c in counts]
    sizes = [max(int(c.sum()), 1) for c in counts]
    left = [1 - float(s.sum()) / n for s, n in zip(shown, sizes, strict=True)]
    notes = _grid_notes(sides, left, any(ordered))
    cells = [s / n for s, n in zip(shown, sizes, strict=True)]
    if not any(c.any() for c in cells):
        return Empty(title, tuple(sides), notes=tuple(notes))
    return Grid(title, tuple(sides), x, y, cells, notes=tuple(notes))


def _grid_notes(sides: list[str], left: list[float], numbers: bool) -> list[str]:
    told = ", ".join(f"{share:.1%} of the {side.lower()} rows" for side, share in zip(sides, left, strict=True))
    notes = [f"Cells of fewer than {FEW} rows are empty ({told})."] if any(left) else []
    return [" ".join([*notes, *([_BEYOND] if numbers else [])])]


def _known(pair: tuple[Column, Column], ordered: list[bool]) -> NDArray[np.int64]:
    """Return the rows in which both columns have a value, a finite one where they are numbers."""
    there = np.ones(len(pair[0]), dtype=bool)
    for column, is_ordered in zip(pair, ordered, strict=True):
        there &= _numbers(column)[1] if is_ordered else ~column.missing
    return np.flatnonzero(there)


def _numbers_or_none(pair: tuple[Column, Column], ordered: list[bool]) -> list[Floats]:
    rows = _known(pair, ordered)
    return [_numbers(c)[0][rows] if o else np.empty(0) for c, o in zip(pair, ordered, strict=True)]


def _boxes(title: str, sides: list[str], pairs: list[tuple[Column, Column]], which: int, *, violin: bool) -> Picture:
    ordered = [i == which for i in (0, 1)]
    rows = [_known(p, ordered) for p in pairs]
    of_names = [p[1 - which].take(r) for p, r in zip(pairs, rows, strict=True)]
    numbers = [_numbers(p[which])[0][r] for p, r in zip(pairs, rows, strict=True)]
    found = named(of_names, _MOST, _FROM)
    dates = _dates([p[which] for p in pairs])
    edges = plot_counts.bins_of(numbers, dates=dates, about=30 if violin else 100)
    axis, n_names = Axis(str(pairs[0][which].name), edges, dates), len(found.names)
    parts = []
    for values, codes in zip(numbers, found.codes, strict=True):
        counts = plot_counts.grid_counts(plot_counts.bin_codes(values, edges), codes, len(edges) - 1, n_names)
        parts.append(np.stack([_of_group(c, edges, violin) for c in counts]) if n_names else np.empty((0, 5)))
    drawn = (
        "Shares of the rows of each value per bin; bins of fewer than 5 rows are merged with their neighbours."
        if violin
        else "Boxes: quartiles and median; lines: 1 to 99 %, but five rows of each value lie beyond either end."
    )
    notes = [f"{drawn} A value with fewer than {_FROM} rows of a table is not drawn for it."]
    if all(np.isnan(p).all() for p in parts):
        return Empty(title, tuple(sides), notes=tuple(notes))
    names = Axis(str(pairs[0][1 - which].name), names=found.names)
    return Boxes(title, tuple(sides), names, axis, parts, violin, notes=tuple(notes))


def _of_group(counts: NDArray[np.int64], edges: Floats, violin: bool) -> Floats:
    total = int(counts.sum())
    if violin:
        return plot_counts.merged(counts) / total if total >= _FROM else np.full(len(counts), np.nan)
    few = total < _FROM
    return np.full(5, np.nan) if few else plot_counts.quantiles(counts, edges, (0.01, 0.25, 0.5, 0.75, 0.99))


def _lines(title: str, sides: list[str], columns: list[tuple[Column, Column]], label: str, y_title: str) -> Picture:
    notes = missing_note(sides, [c[1] for c in columns])
    numbers = []
    for x, y in columns:
        (at, finite), (value, known) = _numbers(x), _numbers(y)
        numbers.append((at[finite & known], value[finite & known]))
    x_dates, y_dates = (_dates([c[i] for c in columns]) for i in (0, 1))
    sizes = [len(n[0]) for n in numbers]
    notes += few_note(sides, sizes)
    if not plot_counts.enough([n[0] for n in numbers]):
        return Empty(title, tuple(sides), notes=tuple(notes))
    about = int(min(max(max(sizes) / _FROM, 5), 60))
    x_edges = plot_counts.bins_of([n[0] for n in numbers], dates=x_dates, about=about)
    y_edges = plot_counts.bins_of([n[1] for n in numbers], dates=y_dates, about=100)
    lines = [plot_counts.line_through(x, y, x_edges, y_edges) for x, y in numbers]
    notes.append(
        f"Lines: means over bins of {_span(float(x_edges[1] - x_edges[0]), x_dates)}, {FEW} rows or more; bands: "
        f"the middle half of these rows, from {_FROM} rows on. Outliers count as the fifth largest or smallest value."
    )
    return Lines(title, tuple(sides), Axis(label, x_edges, x_dates), y_title, y_dates, lines, notes=tuple(notes))
