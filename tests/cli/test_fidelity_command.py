"""`divulge fidelity`."""

import inspect
import json

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from divulge.cli import cli
from divulge.core.errors import DivulgeError

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
    assert lines[0] == "age differs; 1 result follows from it"
    assert lines[1].startswith("  column shapes: age: distance ")
    assert lines[2].startswith("  column pairs: age + job: distance ")
    assert lines[3].startswith("column shapes: differs by at least 0.")
    assert "divulge: measuring (2 measures)" in done.stderr
    told = json.loads(paths[0].read_text())
    assert next(iter(told)) == "differing"
    assert [(one["columns"], one["results"]) for one in told["differing"]] == [(["age"], [1, 4])]
    results = told["fidelity"]
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


def folders(files):
    for name, step in (("before", 1), ("after", 7)):
        folder = files / name
        folder.mkdir(exist_ok=True)
        users = range(60)
        pl.DataFrame({"uid": users, "sex": ["secret1", "secret2"] * 30}).write_csv(folder / "users.csv")
        kinds = ["secret3" if u * step % 60 < 30 else "secret4" for u in users]
        rows = [(u, k) for u, k in zip(users, kinds, strict=True) for _ in range(1 + u % 2)]
        pl.DataFrame(rows, schema=["uid", "kind"], orient="row").write_csv(folder / "orders.csv")
    return [str(files / "before"), str(files / "after")]


def called(*arguments):
    return CliRunner(**SEPARATE).invoke(cli, ["fidelity", *arguments])


def test_folders_of_tables(files):
    sides, out = folders(files), [files / "t.json", files / "t.html"]
    done = called(*sides, "--measures", "related_pairs,column_shapes", "--json", str(out[0]), "--html", str(out[1]))
    assert done.exit_code == 0, done.output
    heads = [line.split(":")[0] for line in done.stdout.splitlines() if not line.startswith(" ")]
    assert heads[:3] == ["related pairs", "column shapes of orders", "column shapes of users"]
    results = json.loads(out[0].read_text())
    assert results["settings"]["relations"] == ["orders (uid) -> users (uid)"]
    assert {r["table"] for r in results["fidelity"]} == {"", "orders (uid) -> users", "orders", "users"}
    assert "secret" not in out[0].read_text() + out[1].read_text() + done.output
    chosen = called(*sides, "--tables", "users=users.csv", "--measures", "column_shapes")
    assert [line.split(":")[0] for line in chosen.stdout.splitlines()] == ["column shapes of users"]


def test_sequences_of_one_table(files):
    paths = []
    for name, rows in (("visits1", 4), ("visits2", 6)):
        frame = pl.DataFrame([(w, d) for w in range(40) for d in range(rows)], schema=["who", "day"], orient="row")
        paths.append(str(files / f"{name}.csv"))
        frame.write_csv(paths[-1])
    done = called(*paths, "--sequence-key", "who", "--sequence-index", "day", "--measures", "sequences")
    assert done.stdout.startswith("sequences: differs by at least ")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--sequence-index", "age"], "sequence_index: no sequence_key. hint: "),
        (["--sequence-key", "whom"], "sequence_key: no column 'whom'"),
        (["--tables", "users=users.csv"], "--tables: REAL is no folder. hint: "),
    ],
)
def test_bad_relations_are_told_on_one_line(files, options, told):
    assert told in refused(run(files, *options))


def test_sides_of_two_kinds_and_units_are_refused(files):
    mixed = called(folders(files)[0], str(files / "real.csv"))
    assert "SYNTHETIC: this is one file, and another side is several" in refused(mixed)
    assert "unit: this is a setting of one table" in refused(called(*folders(files), "--unit", "uid"))


def refused(done):
    assert isinstance(done.exception, DivulgeError)  # which `main` prints, without a traceback
    return str(done.exception)
