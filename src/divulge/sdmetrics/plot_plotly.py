"""Draw the plots again with plotly, from the same counts; names are escaped, as plotly reads them as markup."""

from __future__ import annotations

from functools import singledispatch
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.core.result import tidy
from divulge.sdmetrics.plot_elements import short
from divulge.sdmetrics.plot_scores import METRIC_STYLES
from divulge.sdmetrics.plot_shapes import Axis, Bars, Boxes, Grid, Lines, Matrix, Picture, Scores, Steps, Triangle

__all__ = ["plotly_figure"]

Floats = NDArray[np.float64]
_COLOUR = {"Real": "#24598f", "Synthetic": "#b04a00"}
_FILLS = {
    "r": ("#24598f", ""), "s": ("#b04a00", "/"), "ra": ("#6d9bcb", "x"), "sa": ("#d89a6b", "."), "rt": ("#5a6474", "-"),
}  # fmt: skip
_LIGHT = {"Real": "rgba(36,89,143,0.25)", "Synthetic": "rgba(176,74,0,0.2)"}


def plotly_figure(picture: Picture) -> Any:
    """Return a plotly figure of a plot.

    Raises
    ------
    ImportError
        plotly is not installed.
    """
    try:
        import plotly.graph_objects as go
    except ModuleNotFoundError:
        raise ImportError("backend='plotly' draws with plotly. hint: pip install 'divulge[plots]'") from None
    figure = _figure(picture, go)
    notes = "<br>".join(_safe(n, 300) for n in picture.notes)
    if notes:
        figure.add_annotation(
            text=notes, xref="paper", yref="paper", x=0, y=1.0, yanchor="bottom", yshift=22, showarrow=False,
            font={"size": 10}, align="left",
        )  # fmt: skip
    figure.update_layout(title=_safe(picture.title, 84), plot_bgcolor="#f5f5f8", margin={"t": 110})
    return figure


def _safe(text: object, most: int = 60) -> str:
    """Return an untrusted text that plotly shows as it is: neither as HTML nor as TeX."""
    return escape(short(tidy(text), most), quote=False).replace("$", "&#36;")


def _at(values: Floats, dates: bool) -> Any:
    """Return positions on an axis, dates as text."""
    if not dates:
        return np.asarray(values, dtype=float).tolist()
    return np.asarray(values).astype("datetime64[s]").astype(str).tolist()


def _ticks(axis: Axis) -> dict[str, Any]:
    """Return the layout of an axis; names stand at 0, 1, ..., so that equal short names stay apart."""
    layout: dict[str, Any] = {"title": {"text": _safe(axis.title)}}
    if axis.edges is None:
        layout |= {"tickvals": list(range(len(axis.names))), "ticktext": [_safe(n, 26) for n in axis.names]}
    return layout


@singledispatch
def _figure(picture: Picture, go: Any) -> Any:
    """Return an empty figure that says so."""
    figure = go.Figure()
    figure.add_annotation(text="No data to visualize", xref="paper", yref="paper", x=0.5, y=0.5, showarrow=False)
    return figure


@_figure.register
def _bars(p: Bars, go: Any) -> Any:
    places = list(range(len(p.axis.names)))
    figure = go.Figure([
        go.Bar(x=places, y=_known(shares), name=side, marker={"color": _COLOUR[side]})
        for side, shares in zip(p.sides, p.shares, strict=True)
    ])  # fmt: skip
    figure.update_layout(barmode="group", xaxis=_ticks(p.axis), yaxis={"title": {"text": "Frequency"}})
    return figure


def _known(values: Floats) -> list[float | None]:
    return [v if np.isfinite(v) else None for v in values.tolist()]


@_figure.register
def _steps(p: Steps, go: Any) -> Any:
    figure = go.Figure()
    edges = p.axis.cells
    for side, heights in zip(p.sides, p.heights, strict=True):
        if p.areas:
            figure.add_trace(go.Scatter(
                x=_at(edges, p.axis.dates), y=_known(np.append(heights, heights[-1])), name=side, mode="lines",
                line={"color": _COLOUR[side], "shape": "hv"}, fill="tozeroy", fillcolor=_LIGHT[side],
            ))  # fmt: skip
        else:
            middle = (edges[1:] + edges[:-1]) / 2
            figure.add_trace(
                go.Bar(x=_at(middle, p.axis.dates), y=_known(heights), name=side, marker={"color": _COLOUR[side]})
            )
    figure.update_layout(xaxis=_ticks(p.axis), yaxis={"title": {"text": _safe(p.measure)}})
    return figure


@_figure.register
def _grid(p: Grid, go: Any) -> Any:
    from plotly.subplots import make_subplots

    figure = make_subplots(1, len(p.sides), subplot_titles=[f"{s} Data" for s in p.sides], shared_yaxes=True)
    for i, (side, cells) in enumerate(zip(p.sides, p.cells, strict=True), 1):
        shown = np.where(cells > 0, cells, np.nan)
        trace = go.Heatmap(
            x=_edges(p.x), y=_edges(p.y), z=[_known(row) for row in shown], name=side, coloraxis="coloraxis"
        )
        figure.add_trace(trace, 1, i)
        figure.update_xaxes(_ticks(p.x), row=1, col=i)
        figure.update_yaxes(_ticks(p.y) if i == 1 else {}, row=1, col=i)
        if p.y.names:
            figure.update_yaxes(autorange="reversed", row=1, col=i)
    figure.update_layout(coloraxis={"colorscale": "Blues", "colorbar": {"title": {"text": "share of rows"}}})
    return figure


def _edges(axis: Axis) -> Any:
    return _at(axis.cells - 0.5, False) if axis.edges is None else _at(axis.edges, axis.dates)


@_figure.register
def _boxes(p: Boxes, go: Any) -> Any:
    figure = go.Figure()
    for i, (side, found) in enumerate(zip(p.sides, p.found, strict=True)):
        drawn = [j for j, row in enumerate(found) if not np.isnan(row).any()]
        if p.violin:
            _halves(figure, go, p, side, {j: found[j] for j in drawn}, -1 if i == 0 else 1)
            continue
        columns = [_at(found[drawn, k], p.axis.dates) for k in range(5)]
        names = ("lowerfence", "q1", "median", "q3", "upperfence")
        figure.add_trace(go.Box(x=drawn, **dict(zip(names, columns, strict=True)), name=side,
                                marker={"color": _COLOUR[side]}))  # fmt: skip
    figure.update_layout(boxmode="group", xaxis=_ticks(p.names), yaxis=_ticks(p.axis))
    if p.axis.dates:
        figure.update_yaxes(type="date")
    return figure


def _halves(figure: Any, go: Any, p: Boxes, side: str, found: dict[int, Floats], way: int) -> None:
    """Add half of a violin for each name, one trace each."""
    edges = _at(np.repeat(p.axis.cells, 2), p.axis.dates)
    for n, (j, heights) in enumerate(found.items()):
        wide = np.concatenate([[0.0], np.repeat(heights, 2), [0.0]]) * 0.45 / (heights.max() or 1.0)
        figure.add_trace(go.Scatter(
            x=(j + way * wide).tolist(), y=edges, mode="lines", fill="toself", fillcolor=_LIGHT[side], name=side,
            legendgroup=side, showlegend=n == 0, line={"color": _COLOUR[side]},
        ))  # fmt: skip


@_figure.register
def _lines(p: Lines, go: Any) -> Any:
    figure = go.Figure()
    for side, (at, mean, low, high) in zip(p.sides, p.lines, strict=True):
        x = _at(at, p.x.dates)
        for name, values, fill in ((f"{side}-25%", low, None), (f"{side}-75%", high, "tonexty")):
            figure.add_trace(go.Scatter(
                x=x, y=_on(values, p.y_dates), name=name, mode="lines", line={"color": _LIGHT[side]}, fill=fill,
                fillcolor=_LIGHT[side], showlegend=False, hoverinfo="skip",
            ))  # fmt: skip
        line = {"color": _COLOUR[side]}
        figure.add_trace(go.Scatter(x=x, y=_on(mean, p.y_dates), name=side, mode="lines", line=line))
    figure.update_layout(xaxis=_ticks(p.x), yaxis={"title": {"text": _safe(p.y_title)}})
    return figure


def _on(values: Floats, dates: bool) -> Any:
    if not dates:
        return _known(values)
    return [str(np.datetime64(int(v), "s")) if np.isfinite(v) else None for v in values.tolist()]


# ---------------------------------------------------------------- what a report found


@_figure.register
def _scores(p: Scores, go: Any) -> Any:
    figure = go.Figure()
    for metric in sorted(set(p.metrics)):
        colour, pattern = _FILLS[METRIC_STYLES.get(metric, "r")]
        own = [i for i, m in enumerate(p.metrics) if m == metric]
        figure.add_trace(go.Bar(
            x=own, y=_known(p.values[own]), name=metric, customdata=[_safe(p.names[i]) for i in own],
            hovertemplate="%{customdata}: %{y}", marker={"color": colour, "pattern": {"shape": pattern}},
        ))  # fmt: skip
    figure.update_layout(
        xaxis=_ticks(Axis("", names=p.names)), yaxis={"title": {"text": "Score"}, "range": [0, 1]}, showlegend=True,
    )  # fmt: skip
    return figure


@_figure.register
def _matrix(p: Matrix, go: Any) -> Any:
    from plotly.subplots import make_subplots

    titles = [_safe(t.title) for t in (p.similarity, *p.correlations)]
    if not p.correlations:
        figure = make_subplots(1, 1, subplot_titles=titles)
    else:
        figure = make_subplots(2, 2, subplot_titles=titles, specs=[[{"colspan": 2}, None], [{}, {}]])
    places = ((1, 1), (2, 1), (2, 2))
    for triangle, (row, column), axis in zip(
        (p.similarity, *p.correlations), places, ("coloraxis", "coloraxis2", "coloraxis2"), strict=False
    ):
        _heatmap(figure, go, triangle, row, column, axis)
    figure.update_layout(
        coloraxis={"cmin": 0, "cmax": 1, "colorscale": "Blues_r"},
        coloraxis2={"cmin": -1, "cmax": 1, "colorscale": "RdBu", "colorbar": {"y": 0.2, "len": 0.5}},
    )
    if p.correlations:
        figure.update_layout(height=900, coloraxis={"colorbar": {"y": 0.8, "len": 0.5}})
    return figure


def _heatmap(figure: Any, go: Any, triangle: Triangle, row: int, column: int, axis: str) -> None:
    layout = _ticks(Axis("", names=triangle.names))
    whole = np.where(np.isfinite(triangle.values), triangle.values, triangle.values.T)
    np.fill_diagonal(whole, 1.0)
    trace = go.Heatmap(z=[_known(values) for values in whole], name=_safe(triangle.title), coloraxis=axis)
    figure.add_trace(trace, row, column)
    figure.update_xaxes(layout, row=row, col=column)
    figure.update_yaxes({**layout, "autorange": "reversed"}, row=row, col=column)
