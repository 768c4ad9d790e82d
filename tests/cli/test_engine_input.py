"""Tables that an engine cannot count, each given to a command: one sentence, with what to do, and no traceback."""

import dataclasses
import os
import subprocess
import sys
from contextlib import contextmanager

import duckdb
import numpy as np
import polars as pl
import pytest

from divulge.attacks.catalogue import CATALOGUE
from divulge.run.cost import disk
from divulge.tables import readers
from divulge.tables._duckdb_counts import DuckdbCounts
from divulge.tables._polars_counts import PolarsCounts

ENGINES = ("duckdb", "polars")
ASKED = ["--keys", "age", "--targets", "job", "--no-fidelity", "--quiet"]


def people(seed):
    rng = np.random.default_rng(seed)
    return pl.DataFrame({"age": rng.integers(18, 60, 200), "job": rng.integers(0, 5, 200).astype(str)})


@pytest.fixture
def folder(tmp_path):
    for seed, name in enumerate(("real", "synthetic")):
        people(seed).write_parquet(tmp_path / f"{name}.parquet")
    return tmp_path


@pytest.fixture
def told(divulge, folder):
    """What a command says of two tables that it cannot use, of which the second is usual."""

    def run(real, *more):
        status, _, err = divulge("assess", real, folder / "synthetic.parquet", *ASKED, *more, "--out", folder / "out")
        assert status == 2 and not (folder / "out").exists()
        lines = err.strip().splitlines()
        assert len(lines) == 1 and lines[0].startswith("divulge: real: ") and " hint: " in lines[0]
        return lines[0]

    return run


def test_an_engine_that_is_not_installed(told, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    assert "pip install 'divulge[duckdb]'" in told(folder / "real.parquet", "--engine", "duckdb")
    (folder / "w.duckdb").touch()
    assert "pip install 'divulge[duckdb]'" in told(f"{folder}/w.duckdb::people")


def test_tables_on_two_engines(divulge, folder):
    with duckdb.connect(folder / "w.duckdb") as base:
        base.execute("create table people as select 1 as age, 'x' as job from range(200)")
    status, _, err = divulge("assess", f"{folder}/w.duckdb::people", folder / "synthetic.parquet", *ASKED,
                             "--engine", "polars", "--out", folder / "out")  # fmt: skip
    assert status == 2
    assert err == "divulge: engine: real is in a DuckDB file, which polars does not read. hint: take 'duckdb'.\n"


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["duckdb", "auto"])
def test_a_base_that_another_program_writes(told, folder, engine):
    code = "import duckdb, sys; base = duckdb.connect(sys.argv[1]); print(1, flush=True); sys.stdin.read()"
    path = folder / "w.duckdb"
    with duckdb.connect(path) as base:
        base.execute("create table people as select 1 as age, 'x' as job")
    with subprocess.Popen([sys.executable, "-c", code, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"1\n"
        assert "no other program holds open for writing" in told(f"{path}::people", "--engine", engine)
        other.stdin.close()


@pytest.mark.parametrize("engine", [*ENGINES, "auto"])
def test_a_folder_of_files_of_other_columns(told, folder, engine):
    (folder / "parts").mkdir()
    people(1).write_parquet(folder / "parts" / "0.parquet")
    people(1).rename({"job": "work"}).write_parquet(folder / "parts" / "1.parquet")
    found = told(folder / "parts", "--engine", engine)
    assert "the files have different columns: 'job' is in 0.parquet and not in 1.parquet" in found


@pytest.mark.parametrize("engine", ENGINES)
def test_a_folder_of_files_of_other_types(told, folder, engine):
    (folder / "parts").mkdir()
    people(1).write_parquet(folder / "parts" / "0.parquet")
    people(1).cast({"age": pl.String}).write_parquet(folder / "parts" / "1.parquet")
    found = told(folder / "parts", "--engine", engine)
    assert "column 'age' has another type in 1.parquet than in 0.parquet" in found


@pytest.mark.parametrize("engine", ENGINES)
def test_a_table_that_changes_while_it_is_read(told, folder, engine, monkeypatch):
    kind = DuckdbCounts if engine == "duckdb" else PolarsCounts
    usual = kind.values

    def changing(self, column):
        found = usual(self, column)
        pl.concat([people(1), people(1)]).write_parquet(folder / "real.parquet")
        return found

    monkeypatch.setattr(kind, "values", changing)
    assert "the table changed while it was read: it had 200 rows at first" in told(
        folder / "real.parquet", "--engine", engine
    )


def test_a_file_that_changes_while_it_is_read_into_memory_is_read_once(folder, monkeypatch):
    calls, usual = [], readers.content_of
    monkeypatch.setattr(readers, "content_of", lambda path, role: calls.append(path) or usual(path, role))
    readers.read(folder / "real.parquet")
    assert len(calls) == 1


def test_a_disk_that_does_not_hold_the_run(divulge, folder, monkeypatch):
    monkeypatch.setattr(disk, "free_on_disk", lambda place: 2_000_000)
    entry = CATALOGUE["linkability"]
    large = dataclasses.replace(entry.cost, disk=lambda columns, in_blocks: 10**5)
    monkeypatch.setitem(CATALOGUE, "linkability", dataclasses.replace(entry, cost=large))
    asked = ["--keys", "age", "--targets", "job", "--engine", "polars", "--people", "100", "--spill", folder, "--quiet"]
    status, _, err = divulge("assess", folder / "real.parquet", folder / "synthetic.parquet", *asked, "--out",
                             folder / "out")  # fmt: skip
    assert status == 2 and sorted(p.name for p in folder.iterdir()) == ["real.parquet", "synthetic.parquet"]
    assert err.startswith("divulge: spill: the codes of all rows and what is searched need about ")
    assert err.count("\n") == 1 and ", and 2 MB are free in " in err and "hint: name a folder with more room" in err


NOBODY = 65534
LOADED = set()


@contextmanager
def another_user():
    """Have the system ask for the rights of nobody; root has every right."""
    os.setegid(NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="root alone can take the part of another user")
@pytest.mark.parametrize("engine", [*ENGINES, "auto"])
@pytest.mark.parametrize("what", ["file", "folder", "part", "file in a folder", "base", "base in a folder"])
def test_a_warehouse_without_permission(divulge, folder, engine, what):
    if engine == "polars" and "base" in what:
        pytest.skip("polars reads no base")
    for above in (folder, *folder.parents):
        if "pytest-of-" in str(above):
            above.chmod(0o755)
    (folder / "parts" / "year=2020").mkdir(parents=True)
    for name in ("0.parquet", "year=2020/1.parquet"):
        people(1).write_parquet(folder / "parts" / name)
    with duckdb.connect(folder / "parts" / "w.duckdb") as base:
        base.execute("create table people as select 1 as age, 'x' as job")
    given, closed = {
        "file": ("parts/0.parquet", "parts/0.parquet"), "folder": ("parts", "parts"),
        "part": ("parts", "parts/year=2020"), "file in a folder": ("parts/0.parquet", "parts"),
        "base": ("parts/w.duckdb::people", "parts/w.duckdb"), "base in a folder": ("parts/w.duckdb::people", "parts"),
    }[what]  # fmt: skip
    (folder / "out").mkdir()
    (folder / "out").chmod(0o777)
    asked = [folder / "synthetic.parquet", *ASKED, "--engine", engine, "--out", folder / "out" / "report"]
    if engine not in LOADED:  # what is imported in a command must be there, as nobody may not read this Python
        divulge("assess", f"{folder}/parts/w.duckdb::nobody" if "base" in what else folder / "nobody.parquet", *asked)
        LOADED.add(engine)
    (folder / closed).chmod(0)
    with another_user():
        status, _, err = divulge("assess", folder / given, *asked)
    (folder / closed).chmod(0o755)
    lines = err.strip().splitlines()
    assert status == 2 and len(lines) == 1, err
    assert lines[0].startswith("divulge: real: ") and " hint: " in lines[0]
    assert "that you may read" in lines[0] if what == "base" else "cannot be read: Permission denied" in lines[0], err
