"""The pages of `divulge quality` and `divulge diagnose`, and the plots, in Chromium: axe, policy, colours, phones."""

import re

import numpy as np
import polars as pl
import pytest
from report_helpers import HOSTILE
from test_report_axe import axe, violations  # noqa: F401
from test_report_browser import CHROMIUM, _levels, chromium

from divulge.report.policy_model import Condition
from divulge.sdmetrics.reports import DiagnosticReport, QualityReport
from divulge.sdmetrics.visualization import (
    get_cardinality_plot,
    get_column_line_plot,
    get_column_pair_plot,
    get_column_plot,
)

pytestmark = [pytest.mark.browser, pytest.mark.skipif(CHROMIUM is None, reason="no Chromium")]

NAMES = [*HOSTILE[:4], "k" * 300]
RULES = [
    Condition(condition="quality: score at least 0.9", found="0.8", kept=False, why="below 0.9"),
    Condition(condition=f"quality ({HOSTILE[0]}): score at least 0.1", found="0.8", kept=True, why=""),
]
SCHEMES = [("--window-size=1280,900",), ("--window-size=500,900", "--blink-settings=preferredColorScheme=0")]


def shop(seed):
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 70, 200)
    users = {"id": np.arange(200), "age": age, "pay": age * 100.0 + rng.normal(0, 99, 200)}
    users |= {name: [f"v{v}" for v in (age + rng.integers(0, 9, 200)) // (i + 9)] for i, name in enumerate(NAMES)}
    user = rng.integers(0, 200, 500)
    dates = np.datetime64("2024-01-01") + rng.integers(0, 365, 500).astype("timedelta64[D]")
    orders = {"user": user, "price": age[user] * 2.0 + rng.normal(0, 3, 500), "day": dates}
    return {"users": pl.DataFrame(users), HOSTILE[0]: pl.DataFrame(orders)}


REAL, SYNTHETIC = shop(1), shop(2)
METADATA = {
    "tables": {
        "users": {
            "columns": {
                "id": {"sdtype": "id"},
                "age": {"sdtype": "numerical"},
                "pay": {"sdtype": "numerical"},
                **{name: {"sdtype": "categorical" if i else "numerical"} for i, name in enumerate(NAMES)},
            },
            "primary_key": "id",
        },
        HOSTILE[0]: {
            "columns": {"user": {"sdtype": "id"}, "price": {"sdtype": "numerical"}, "day": {"sdtype": "datetime"}}
        },
    },
    "relationships": [
        {
            "parent_table_name": "users",
            "parent_primary_key": "id",
            "child_table_name": HOSTILE[0],
            "child_foreign_key": "user",
        }
    ],
}
"""One column of texts is called numbers, so that some scores are errors."""


@pytest.fixture(scope="module")
def pages():
    out = {}
    for name, kind in (("quality", QualityReport), ("diagnosis", DiagnosticReport)):
        report = kind()
        report.generate(REAL, SYNTHETIC, METADATA, verbose=False)
        out[name] = report.to_html(rules=RULES)
        for shown in report.content().properties:
            if shown.rows:
                table = None if shown.name == "Data Structure" else "users"
                out[shown.name] = report.get_visualization(shown.name, table).to_html()
    orders = [side[HOSTILE[0]] for side in (REAL, SYNTHETIC)]
    users = [side["users"] for side in (REAL, SYNTHETIC)]
    dated = {"columns": {"day": {"sdtype": "datetime"}, "price": {"sdtype": "numerical"}}, "sequence_index": "day"}
    plots = {
        "column": get_column_plot(*users, NAMES[0]),
        "pair": get_column_pair_plot(*users, ["age", NAMES[1]]),
        "cardinality": get_cardinality_plot(REAL, SYNTHETIC, HOSTILE[0], "users", "user", "id"),
        "line": get_column_line_plot(*orders, "price", dated),
    }
    return out | {name: plot.to_html() for name, plot in plots.items()}


WHICH = [
    "quality", "diagnosis", "column", "pair", "cardinality", "line", "Column Shapes", "Column Pair Trends",
    "Intertable Trends", "Data Validity", "Data Structure", "Relationship Validity",
]  # fmt: skip


@pytest.mark.parametrize("flags", SCHEMES, ids=["wide", "phone"])
@pytest.mark.parametrize("which", WHICH)
def test_axe_finds_no_violation(tmp_path, axe, pages, which, flags):  # noqa: F811
    found, n_rules = violations(tmp_path, axe, pages[which], *flags)
    assert found == []
    assert n_rules > 5


@pytest.mark.parametrize("which", ["quality", "diagnosis"])
def test_the_page_opens_without_a_complaint_and_fits_a_phone(tmp_path, pages, which):
    path = tmp_path / "page.html"
    path.write_text(pages[which])
    _, complaints = chromium(tmp_path, "--enable-logging=stderr", "--dump-dom", f"file://{path}")
    assert "CONSOLE" not in complaints
    probe = (
        "<script>document.title = [...document.querySelectorAll('main > section')]"
        ".filter((e) => e.getBoundingClientRect().right > innerWidth + 1).length</script></body>"
    )
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", pages[which])
    path.write_text(text.replace("</body>", probe))
    out, _ = chromium(tmp_path, "--window-size=500,900", "--dump-dom", f"file://{path}")
    assert "<title>0</title>" in out


@pytest.mark.parametrize("which", ["quality", "Column Pair Trends", "column"])
def test_both_schemes_draw_something(tmp_path, pages, which):
    path, found = tmp_path / "page.html", []
    path.write_text(pages[which])
    for scheme in (0, 1):
        picture = tmp_path / f"{scheme}.png"
        flags = ("--window-size=900,900", f"--blink-settings=preferredColorScheme={scheme}")
        chromium(tmp_path, *flags, f"--screenshot={picture}", f"file://{path}")
        found.append(_levels(picture))
    (_, dark_levels, dark), (_, light_levels, light) = found
    assert min(dark_levels, light_levels) > 10
    assert dark < 128 < light
