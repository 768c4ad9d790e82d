"""`divulge fidelity`."""

import inspect
import json

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from divulge.cli import cli

SEPARATE = {"mix_stderr": False} if "mix_stderr" in inspect.signature(CliRunner).parameters else {}  # click before 8.2


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fidelity")
    rng = np.random.default_rng(1)
    for name, shift in (("real", 0), ("synthetic", 5), ("holdout", 0)):
        frame = pl.DataFrame(
            {"age": (rng.gamma(9, 4, 300) + shift).round(2), "job": rng.choice(["secret1", "secret2"], 300)}
        )
        frame.write_csv(folder / f"{name}.csv")
    return folder


def run(files, *options):
    tables = [str(files / "real.csv"), str(files / "synthetic.csv")]
    return CliRunner(**SEPARATE).invoke(
        cli, ["fidelity", *tables, "--measures", "column_shapes,column_pairs", *options]
    )


def test_verdicts_are_printed_and_written(files):
    paths = [files / "f.json", files / "f.html"]
    done = run(files, "--holdout", str(files / "holdout.csv"), "--json", str(paths[0]), "--html", str(paths[1]))
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0].startswith("column shapes: differs by at least 0.")
    assert lines[1].startswith("  age: distance ")
    assert "divulge: measuring (2 measures)" in done.stderr
    results = json.loads(paths[0].read_text())["fidelity"]
    assert [r["measure"] for r in results] == ["column_shapes"] * 3 + ["column_pairs"] * 2
    assert results[0]["holdout"]["n"] == 300
    assert not any("secret" in text for text in (done.stdout, paths[0].read_text(), paths[1].read_text()))


def test_quiet_prints_nothing(files):
    done = run(files, "-q")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--tolerance", "2"), "tolerance: this is no number"),
        (("--measures", "shapes"), "measures: no measure 'shapes'"),
        (("--json", "x.json", "--html", "x.json"), "--json and --html: this is one file"),
    ],
)
def test_mistakes_are_told(files, options, said):
    error = run(files, *options).exception
    assert str(error).startswith(said)
