"""A plot as it is returned: an SVG that a notebook shows, a file takes, and plotly draws again from the same counts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import escape

from divulge.core.atomic_write import written
from divulge.core.errors import SettingError
from divulge.report.documents.figure import Figure
from divulge.sdmetrics.plot_drawing import draw
from divulge.sdmetrics.plot_elements import short
from divulge.sdmetrics.plot_shapes import Picture

__all__ = ["BACKENDS", "Plot", "plotted"]

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>divulge plot</title>
<style>h1{{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}}</style></head>
<body><main><h1>{title}</h1>{svg}</main></body></html>
"""
BACKENDS = ("svg", "plotly")


@dataclass(frozen=True, slots=True)
class Plot(Figure):
    """A plot of two tables, as SVG; it holds counts of cells and no row."""

    picture: Picture

    def _repr_svg_(self) -> str:
        return self.svg

    def to_html(self) -> str:
        """Return a page with the plot, which loads nothing and runs nothing."""
        return _PAGE.format(svg=self.svg, title=escape(short(self.picture.title, 90)))

    def write_html(self, path: str | Path) -> Path:
        """Write the page of `to_html` to a file, and return where it is."""
        written(self.to_html(), path)
        return Path(path)

    def write_image(self, path: str | Path) -> Path:
        """Write the plot as an SVG file, and return where it is.

        Raises
        ------
        ValueError
            The name does not end in .svg.
        """
        if Path(path).suffix.lower() != ".svg":
            raise SettingError("A plot is written as SVG only. hint: give the file a name that ends in .svg.")
        return self.save(path)

    def to_plotly(self) -> Any:
        """Return the same counts as a plotly figure; plotly is the extra `plots`."""
        from divulge.sdmetrics.plot_plotly import plotly_figure

        return plotly_figure(self.picture)

    def show(self) -> None:
        """Show the plot in a notebook.

        Raises
        ------
        RuntimeError
            There is no notebook.
        """
        try:
            from IPython import get_ipython
            from IPython.display import display
        except ModuleNotFoundError:
            get_ipython = None
        if get_ipython is None or get_ipython() is None:
            raise RuntimeError("There is no notebook to show the plot in. hint: .save('plot.svg') writes it.")
        display(self)


def plotted(picture: Picture, backend: str) -> Any:
    """Return a plot, or plotly's figure of it.

    Raises
    ------
    ValueError
        No backend has this name.
    """
    if backend not in BACKENDS:
        raise ValueError(f"Invalid backend {short(backend)!r}. Please use one of {list(BACKENDS)}.")
    plot = Plot(draw(picture), picture)
    return plot.to_plotly() if backend == "plotly" else plot
