"""Plots: what a figure says of the rows, arguments and errors of SDMetrics, hostile names, plotly."""

import random
import re
import sys
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest

from divulge.measures import plot_counts
from divulge.sdmetrics import plot_plotly
from divulge.sdmetrics.plot_shapes import Bars, Boxes, Empty, Grid, Lines, Steps
from divulge.sdmetrics.visualization import (
    get_cardinality_plot,
    get_column_line_plot,
    get_column_pair_plot,
    get_column_plot,
)

pd = pytest.importorskip("pandas")
HOSTILE = '<script>alert(1)</script>" onload="x\u202e'


def table(seed, n=300):
    rng = random.Random(seed)
    return pl.DataFrame({
        "x": [rng.gauss(50, 9) for _ in range(n)],
        "y": [float(rng.randrange(90)) if rng.random() > 0.1 else None for _ in range(n)],
        "job": [rng.choice(["nurse", "baker", "judge", HOSTILE, None]) for _ in range(n)],
        "town": [rng.choice(["Ulm", "Ems"]) for _ in range(n)],
        "day": pl.Series([18_000 + rng.randrange(900) for _ in range(n)]).cast(pl.Date).cast(pl.Datetime("us")),
    })  # fmt: skip


REAL, SYNTHETIC = table(1), table(2, 250)
KINDS = {"pandas": lambda f: f.to_pandas(), "arrow": lambda f: f.to_arrow()}
USERS = {"users": pl.DataFrame({"id": range(60)}), "orders": pl.DataFrame({"uid": [i % 60 for i in range(100)]})}
RELATION = ("orders", "users", "uid", "id")
CALLS = {
    "number": (Steps, lambda r, s, **k: get_column_plot(r, s, "x", **k)),
    "whole": (Steps, lambda r, s, **k: get_column_plot(r, s, "y", "bar", **k)),
    "category": (Bars, lambda r, s, **k: get_column_plot(r, s, "job", **k)),
    "date": (Steps, lambda r, s, **k: get_column_plot(r, s, "day", **k)),
    "scatter": (Grid, lambda r, s, **k: get_column_pair_plot(r, s, ["x", "day"], **k)),
    "heatmap": (Grid, lambda r, s, **k: get_column_pair_plot(r, s, ["job", "town"], **k)),
    "box": (Boxes, lambda r, s, **k: get_column_pair_plot(r, s, ["job", "y"], **k)),
    "violin": (Boxes, lambda r, s, **k: get_column_pair_plot(r, s, ["x", "job"], "violin", **k)),
    "line": (Lines, lambda r, s, **k: get_column_line_plot(r, s, "y", {"sequence_index": "day"}, **k)),
}


@pytest.mark.parametrize("name", CALLS)
def test_same_bytes_for_any_order_and_kind_of_frame(name):
    kind, call = CALLS[name]
    plot = call(REAL, SYNTHETIC)
    assert type(plot.picture) is kind
    ElementTree.fromstring(plot.svg)
    shuffled = REAL.sample(fraction=1.0, shuffle=True, seed=3), SYNTHETIC.reverse()
    assert call(*shuffled).svg == plot.svg
    for make in KINDS.values():
        assert call(make(REAL), make(SYNTHETIC)).svg == plot.svg
    assert all(side in plot.svg for side in ("Real", "Synthetic"))
    assert not re.search(r"<script|onload=\"|\u202e|href|url\((?!#)", plot.svg + plot.to_html())


def test_equally_frequent_values_stand_in_one_order():
    names = [f"v{i}" for i in range(30)]
    rows = names * 6
    first, second = (get_column_plot(pl.DataFrame({"v": v}), None, "v") for v in (rows, rows[::-1]))
    assert first.svg == second.svg
    assert first.picture.axis.names == (*sorted(names)[:20], "10 other values")


def test_hostile_names_are_texts():
    frame = pl.DataFrame({HOSTILE: [HOSTILE] * 9})
    for plot in (get_column_plot(frame, None, HOSTILE), get_column_pair_plot(REAL, SYNTHETIC, ["job", "town"])):
        assert "&lt;script&gt;" in plot.svg
        assert "<script" not in plot.to_html()


def drawn_numbers(svg):
    return set(re.findall(r"\d+(?:\.\d+)?", "".join(re.findall(r">([^<]*)<", svg.split("</style>")[1]))))


def test_no_value_of_a_row_is_printed():
    rng = np.random.default_rng(5)
    values = np.round(rng.lognormal(9, 2, 500), 3)
    frame = pl.DataFrame({"x": values, "y": values[::-1], "id": [f"p{i}" for i in range(500)]})
    plots = [get_column_plot(frame, frame, "x"), get_column_pair_plot(frame, frame, ["x", "y"]),
             get_column_plot(frame, frame, "id"), get_column_pair_plot(frame, None, ["id", "x"]),
             get_column_line_plot(frame, frame, "x", {"sequence_index": "y"})]  # fmt: skip
    for plot in plots:
        printed = drawn_numbers(plot.svg.replace(",", ""))
        assert not printed & {f"{v:.10g}" for v in values.tolist()}
        assert not re.search(r"p\d", plot.svg.split("</style>")[1].replace("path", ""))


def test_size_does_not_grow_with_the_rows():
    few, many = table(4, 400), table(5, 4000)
    for call in (CALLS["box"][1], CALLS["category"][1]):
        assert len(call(many, many).svg) < 1.2 * len(call(few, few).svg)


def test_one_person_moves_no_end_of_an_axis():
    ages = [*range(20, 60)] * 5
    usual, with_one = pl.DataFrame({"a": ages}), pl.DataFrame({"a": [*ages, 99_999]})
    edges = get_column_plot(usual, None, "a").picture.axis.edges
    assert get_column_plot(with_one, None, "a").picture.axis.edges.tolist() == edges.tolist()


def test_no_cell_stands_for_fewer_than_five_rows():
    rng = np.random.default_rng(1)
    for _ in range(200):
        counts = rng.poisson(rng.choice([0.1, 1, 4]), rng.integers(1, 12))
        heights = plot_counts.merged(counts)
        if counts.sum() < 5:
            assert np.isnan(heights).all()
            continue
        assert heights.sum() == pytest.approx(counts.sum())
        starts = np.flatnonzero(np.diff(heights, prepend=-1.0))
        sums = np.add.reduceat(heights, starts)
        assert all(s == 0 or s > 4.999 for s in sums)
    grid = get_column_pair_plot(REAL, SYNTHETIC, ["x", "y"]).picture
    known = [f.drop_nulls(["x", "y"]).height for f in (REAL, SYNTHETIC)]
    assert all((c[c > 0] * n > 4.999).all() for c, n in zip(grid.cells, known, strict=True))
    rare = pl.DataFrame({"v": ["common"] * 20 + ["shared"] * 2 + ["alone"]})
    bars = get_column_plot(rare, pl.DataFrame({"v": ["shared"] * 9}), "v").picture
    assert bars.axis.names == ("shared", "common", "1 other value")
    assert np.isnan(bars.shares[0][[0, 2]]).all()
    assert np.isnan(bars.shares[1][1:]).all()  # whether nobody or few have a value is not told


def test_counts_are_those_of_the_tables():
    bars = get_column_plot(pl.DataFrame({"v": [1] * 5 + [2] * 15}), None, "v", "bar").picture
    assert (bars.axis.names, bars.shares[0].tolist()) == (("1", "2"), [0.25, 0.75])
    plot = get_cardinality_plot(USERS, None, *RELATION)
    shares = dict(zip((plot.picture.axis.edges[:-1] + 0.5).tolist(), plot.picture.heights[0].tolist(), strict=True))
    assert shares == {1.0: pytest.approx(20 / 60), 2.0: pytest.approx(40 / 60)}
    x = pl.DataFrame({"t": [i // 10 for i in range(100)], "v": [float(i // 10) for i in range(100)]})
    line = get_column_line_plot(x, x, "v", {"tables": {"a": {"sequence_index": "t"}}}).picture.lines[0]
    assert line[1].mean() == pytest.approx(4.5, abs=0.2)
    assert f"Missing Values: Real Data ({REAL['y'].null_count() / 3:.1f}%)" in CALLS["whole"][1](REAL, SYNTHETIC).svg
    constant = get_column_plot(pl.DataFrame({"v": [7.5] * 9}), None, "v").picture
    assert (type(constant), constant.axis.names) == (Bars, ("7.5",))


@pytest.mark.parametrize("values", [[], [3.5], [None, None], [float("nan")] * 9, [float("inf")] * 3 + [1.0]])
def test_too_few_values_are_a_note(values):
    frame = pd.DataFrame({"x": pd.Series(values, dtype=float), "y": pd.Series(values, dtype=float)})
    plots = [get_column_plot(frame, frame, "x"), get_column_plot(frame, None, "x", "bar"),
             get_column_pair_plot(frame, frame, ["x", "y"]), get_column_pair_plot(frame, frame, ["x", "y"], "heatmap"),
             get_column_line_plot(frame, frame, "x", {})]  # fmt: skip
    for plot in plots:
        assert isinstance(plot.picture, Empty)
        assert "No data to visualize" in plot.svg


def test_extreme_numbers():
    for values in (
        [1e308, -1e308] * 20,
        [5e-324 * i for i in range(40)],
        [2.0**60 + i for i in range(40)],
        [1e300] * 9,
    ):
        frame = pl.DataFrame({"x": values, "g": ["a", "b"] * (len(values) // 2) + ["a"] * (len(values) % 2)})
        for plot in (get_column_plot(frame, frame, "x"), get_column_pair_plot(frame, frame, ["g", "x"]),
                     get_column_line_plot(frame, frame, "x", {})):  # fmt: skip
            assert not re.search(r"\b(nan|inf)\b", plot.svg)


BAD = {
    "No data provided to plot. Please provide either real or synthetic data.": lambda: get_column_plot(None, None, "x"),
    "Column 'z' not found in real table data.": lambda: get_column_plot(REAL, SYNTHETIC, "z"),
    "Column 'z' not found in synthetic table data.": lambda: get_column_plot(None, SYNTHETIC, "z"),
    "Invalid plot_type 'pie'. Please use one of ['bar', 'distplot', None].": lambda: get_column_plot(REAL, None, "x", "pie"),
    "Must provide exactly two column names.": lambda: get_column_pair_plot(REAL, SYNTHETIC, ["x"]),
    "Missing column(s) {'z'} in real data.": lambda: get_column_pair_plot(REAL, SYNTHETIC, ["x", "z"]),
    "['box', 'heatmap', 'scatter', 'violin', None]": lambda: get_column_pair_plot(REAL, REAL, ["x", "y"], "distplot"),
    "Invalid plot_type 'box'. Please use one of ['bar', 'distplot'].": lambda: get_cardinality_plot(USERS, USERS, *RELATION, "box"),
    "Column Name 'job' must contain numerical or datetime values only": lambda: get_column_line_plot(REAL, REAL, "job", {}),
    "has a constant value": lambda: get_column_plot(pl.DataFrame({"c": [1, 1]}), None, "c", "distplot"),
    "needs numbers or dates": lambda: get_column_plot(REAL, None, "job", "distplot"),
    "needs a column of numbers or dates": lambda: get_column_pair_plot(REAL, None, ["job", "town"], "box"),
    "Invalid backend 'matplotlib'": lambda: get_column_plot(REAL, None, "x", backend="matplotlib"),
    "no table 'order'": lambda: get_cardinality_plot(USERS, None, "order", "users", "uid", "id"),
    "Column 'key' not found in table 'users' of real_data": lambda: get_cardinality_plot(USERS, None, "orders", "users", "uid", "key"),
}  # fmt: skip


@pytest.mark.parametrize("message", BAD)
def test_bad_calls_say_what_sdmetrics_says(message):
    with pytest.raises(ValueError, match=re.escape(message)):
        BAD[message]()


def test_files(tmp_path):
    plot = CALLS["box"][1](REAL, None)
    assert plot.save(tmp_path / "a.svg").read_text(encoding="utf-8") == plot.svg == plot._repr_html_()
    assert plot.svg in plot.write_html(tmp_path / "a.html").read_text(encoding="utf-8")
    assert plot.write_image(tmp_path / "b.svg").exists()
    with pytest.raises(ValueError, match="SVG only"):
        plot.write_image(tmp_path / "b.png")
    assert len(list(tmp_path.iterdir())) == 3


def test_plotly_names_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly", None)
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    with pytest.raises(ImportError, match=re.escape("pip install 'divulge[plots]'")):
        get_column_plot(REAL, SYNTHETIC, "x", backend="plotly")


def test_plotly_reads_no_markup_in_names():
    assert plot_plotly._safe('<a href="x">$y$</a>') == '&lt;a href="x"&gt;&#36;y&#36;&lt;/a&gt;'


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_plotly_draws_the_same_counts(name):
    pytest.importorskip("plotly")
    call = CALLS[name][1]
    text = call(REAL, SYNTHETIC, backend="plotly").to_json()
    assert "<script" not in text
    assert not any(f"{v!r}" in text for v in REAL["x"].to_list())
