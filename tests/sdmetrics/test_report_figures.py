"""`get_visualization` of both reports: the scores of the details, drawn; no value of the data."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import polars as pl
import pytest

from divulge.sdmetrics.errors import VisualizationUnavailableError
from divulge.sdmetrics.plot_drawing import draw
from divulge.sdmetrics.plot_shapes import Empty, Matrix
from divulge.sdmetrics.reports import DiagnosticReport, QualityReport
from divulge.sdmetrics.reports.figures import MOST_BARS, MOST_NAMES, picture_of

RNG = np.random.default_rng(8)
HOSTILE = "<script>alert(1)</script>\x00"


def users(n, salt=""):
    age = RNG.integers(20, 60, n)
    return pl.DataFrame(
        {
            "uid": np.arange(n),
            "age": age,
            "pay": age * 1000.0 + RNG.normal(0, 2500, n),
            "job": [f"secret{salt}{v}" for v in age // 15],
            HOSTILE: [f"secret{v}" for v in age // 20],
        }
    )


def orders(n, people):
    user = RNG.integers(0, people.height, n)
    return pl.DataFrame({"user": user, "price": people["age"].to_numpy()[user] * 3.0 + RNG.normal(0, 9, n)})


REAL, SYNTHETIC = {"users": users(60)}, {"users": users(50, "x")}
REAL["orders"], SYNTHETIC["orders"] = orders(200, REAL["users"]), orders(150, SYNTHETIC["users"])
COLUMNS = {"uid": "id", "age": "numerical", "pay": "numerical", "job": "categorical", HOSTILE: "categorical"}
METADATA = {
    "tables": {
        "users": {"columns": {c: {"sdtype": s} for c, s in COLUMNS.items()}, "primary_key": "uid"},
        "orders": {"columns": {"user": {"sdtype": "id"}, "price": {"sdtype": "numerical"}}},
    },
    "relationships": [
        {
            "parent_table_name": "users",
            "parent_primary_key": "uid",
            "child_table_name": "orders",
            "child_foreign_key": "user",
        }
    ],
}


@pytest.fixture(scope="module")
def made():
    reports = QualityReport(), DiagnosticReport()
    for report in reports:
        report.generate(REAL, SYNTHETIC, METADATA, verbose=False)
    return reports


FIGURES = [
    (0, "Column Shapes", "users", "Data Quality: Column Shapes"),
    (0, "Column Pair Trends", "users", "Data Quality: Column Pair Trends"),
    (0, "Cardinality", "orders", "Table Relationships"),
    (0, "Intertable Trends", "orders", "Data Quality: Intertable Trends"),
    (1, "Data Validity", "users", "Data Diagnostic: Data Validity"),
    (1, "Data Structure", None, "Data Diagnostic: Structure"),
    (1, "Relationship Validity", "users", "Data Diagnostic: Relationship Validity"),
]
"""Which report, property, table, and the title that SDMetrics gives."""


def texts(svg):
    return ["".join(e.itertext()) for e in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize(("which", "name", "table", "title"), FIGURES)
def test_each_property_is_drawn_from_its_details(made, which, name, table, title):
    details = made[which].get_details(name, table)
    plot = made[which].get_visualization(name, table)
    counted = details[details["Meets Threshold?"].eq(True)] if "Meets Threshold?" in details else details
    assert plot.picture.title == f"{title} (Average Score={round(float(counted['Score'].mean()), 2)})"
    if isinstance(plot.picture, Matrix):
        drawn = plot.picture.similarity.values
        assert sorted(drawn[np.isfinite(drawn)]) == sorted(details["Score"].dropna())
        assert [t.names for t in plot.picture.correlations] == [("age", "pay")] * 2
    else:
        scores = details["Score"].dropna() if name == "Intertable Trends" else details["Score"]
        assert plot.picture.values.tolist() == sorted(scores)
    for text in (plot.svg, plot._repr_html_(), plot.to_html()):
        assert "secret" not in text
        assert "<script" not in text
    assert any(title in text for text in texts(plot.svg))


def test_a_report_that_was_read_draws_the_same(made, tmp_path):
    made[0].save(tmp_path / "r.json")
    again = QualityReport.load(tmp_path / "r.json")
    for name in ("Column Shapes", "Column Pair Trends"):
        assert again.get_visualization(name, "users").svg == made[0].get_visualization(name, "users").svg


def test_calls_that_are_refused(made):
    quality, diagnostic = made
    with pytest.raises(ValueError, match="has not been generated"):
        QualityReport().get_visualization("Column Shapes")
    with pytest.raises(ValueError, match="Invalid property name 'X'"):
        quality.get_visualization("X", "users")
    with pytest.raises(ValueError, match="provide a table name"):
        quality.get_visualization("Column Shapes")
    with pytest.raises(ValueError, match=r"Unknown table \('zz'\)"):
        quality.get_visualization("Column Shapes", "zz")
    with pytest.raises(ValueError, match="Invalid backend 'bokeh'"):
        quality.get_visualization("Column Shapes", "users", backend="bokeh")
    with pytest.raises(VisualizationUnavailableError, match="for a single table"):
        diagnostic.get_visualization("Data Structure", "users")
    with pytest.raises(VisualizationUnavailableError, match="Constraint Validity"):
        diagnostic.get_visualization("Constraint Validity")


def test_two_frames_need_no_table_name():
    report = QualityReport()
    report.generate(REAL["users"], SYNTHETIC["users"], METADATA["tables"]["users"], verbose=False)
    assert len(report.get_visualization("Column Shapes").picture.names) == 4
    with pytest.raises(ValueError, match="not available for single-table"):
        report.get_visualization("Cardinality")


def shape(i, score):
    return {"Column": f"c{i}", "Metric": "KSComplement", "Score": score, "Error": None}


def test_scores_that_are_missing_stand_last_and_are_counted():
    picture = picture_of("Column Shapes", [shape(0, float("nan")), shape(1, 0.9), shape(2, 0.1)])
    assert picture.names == ("c2", "c1", "c0")
    assert picture.notes == ("1 of 3 have no score: `get_details` says why.",)
    assert "no score KSComplement" in texts(draw(picture))


def test_many_columns_make_no_larger_figure():
    bars = picture_of("Column Shapes", [shape(i, i / 1000) for i in range(500)])
    assert bars.names == tuple(f"c{i}" for i in range(MOST_BARS))
    pair = {"Metric": "CorrelationSimilarity", "Real Correlation": 0.9, "Synthetic Correlation": -0.4}
    rows = [
        {"Column 1": f"c{i}", "Column 2": f"c{j}", "Score": 1 - 0.001 * (i + j), **pair}
        for i in range(60)
        for j in range(i + 1, 60)
    ]
    matrix = picture_of("Column Pair Trends", rows)
    assert matrix.similarity.names == tuple(f"c{i}" for i in range(60 - MOST_NAMES, 60))
    assert "30 of 60 columns" in matrix.notes[-1]
    assert max(len(draw(p)) for p in (bars, matrix)) < 250_000


def test_a_metric_is_filled_alike_in_all_figures():
    scores = {"KSComplement": 0.9, "TVComplement": 0.2}
    rows = [{"Column": m, "Metric": m, "Score": s, "Error": None} for m, s in scores.items()]
    for drawn in ([rows[0]], [rows[1]], rows, rows[::-1]):
        svg = draw(picture_of("Column Shapes", drawn))
        for metric, css in (("KSComplement", "r"), ("TVComplement", "s")):
            fills = re.findall(rf'class="(\w+)"[^>]*><title>{metric}, ', svg)
            assert fills == ([css] if metric in {r["Metric"] for r in drawn} else [])


def test_no_scores_at_all():
    assert isinstance(picture_of("Column Shapes", []), Empty)
    assert isinstance(picture_of("Column Pair Trends", []), Empty)
    assert "No data" in draw(picture_of("Intertable Trends", []))


def test_within_a_page_a_plot_has_no_style_of_its_own(made):
    picture = made[0].get_visualization("Column Shapes", "users").picture
    assert not re.search("<style|style=|<pattern", draw(picture, alone=False))
    assert all(part in draw(picture) for part in ("<style", "style=", "<pattern"))


@pytest.mark.slow
@pytest.mark.parametrize(("which", "name", "table", "title"), FIGURES)
def test_plotly_draws_the_same_scores(made, which, name, table, title):
    pytest.importorskip("plotly")
    picture = made[which].get_visualization(name, table).picture
    figure = made[which].get_visualization(name, table, backend="plotly")
    assert figure.layout.title.text.startswith(title)
    if isinstance(picture, Matrix):
        assert [t.type for t in figure.data] == ["heatmap"] * 3
        drawn = np.array(figure.data[0].z, dtype=float)
        assert np.array_equal(drawn, drawn.T, equal_nan=True)
        assert (np.diag(drawn) == 1).all()
    else:
        assert {t.name for t in figure.data} == set(picture.metrics)
        assert sorted(v for t in figure.data for v in t.y) == sorted(picture.values)
    assert "secret" not in figure.to_json()
    assert "<script" not in figure.to_json()
