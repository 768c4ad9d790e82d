"""A notebook that assesses a table: each cell shows its result once, and text works as everywhere."""

import json

import nbclient
import nbformat
import pytest

pytestmark = pytest.mark.slow

CELLS = [
    """
import logging, sys
import polars as pl
import divulge
from divulge.demo import tables
real, synthetic, holdout = (t.head(150).select("age", "educ", "vote") for t in tables())
report = divulge.assess(real, synthetic, holdout=holdout, keys="age", targets=["vote"], models=False, membership=False)
one = divulge.cap(real, synthetic, holdout=holdout, keys="age", target="vote")
""",
    "report",
    "print(report)",
    "assert str(report).startswith('divulge: '), str(report); f'{report}'",
    "logging.basicConfig(stream=sys.stdout); logging.warning('%s', report)",
    "one",
    "divulge.compare(real, {'a': synthetic, 'b': synthetic}, holdout=holdout, keys='age', targets='vote')",
]


@pytest.fixture(scope="module")
def outputs():
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in CELLS])
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    return [cell.outputs for cell in notebook.cells]


def test_a_run_shows_one_line_that_is_written_anew(outputs):
    (line,) = outputs[0]
    assert line["data"] == {"text/plain": "divulge: done"}


@pytest.mark.parametrize("cell", [1, 5, 6])
def test_a_cell_shows_its_result_once_as_html(outputs, cell):
    *line, shown = outputs[cell]
    assert len(line) == (cell == 6)  # a comparison shows its progress too
    assert shown["output_type"] == "execute_result"
    assert shown["data"]["text/html"].strip() and shown["data"]["text/plain"].strip()


def test_print_and_logging_give_the_text(outputs):
    (printed,) = outputs[2]
    assert printed["text"].startswith("divulge: ")
    assert "Not tested:" in printed["text"]
    text = "".join(o["text"] for o in outputs[4])
    assert "WARNING:root:divulge: " in text


def test_an_f_string_is_the_text(outputs):
    (shown,) = outputs[3]
    assert json.dumps(shown["data"]["text/plain"]).count("divulge: ") >= 1
