"""Tables that an engine counts where they are: which it can, and what it says where it cannot."""

import os
import signal
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import duckdb
import numpy as np
import polars as pl
import pytest

import divulge
from divulge import cli as command_line
from divulge.core.errors import DivulgeError, FrameError, SettingError, TableError
from divulge.core.memory import Room
from divulge.core.private_folders import PrivateFolder, remove_private_folders
from divulge.tables import _duckdb_base, frames
from divulge.tables._duckdb_counts import DuckdbCounts
from divulge.tables.engines import spilling_into
from divulge.tables.frames import collect
from divulge.tables.interruptible import interruptible
from divulge.tables.opening import opened
from divulge.tables.pooled_columns import pool
from divulge.tables.readers import read
from divulge.tables.sizes import size_of

ENGINES = ("duckdb", "polars")
FRAME = pl.DataFrame({"a": [1, 2, 2, None], "A": ["x", "it's", "x", ""], "day": ["1", "2", "3", "4"]})


@pytest.fixture
def file(tmp_path):
    FRAME.write_parquet(tmp_path / "people.parquet")
    return tmp_path / "people.parquet"


def counts(table, columns=None):
    """Return how often each combination of values occurs, by the codes that the engine looks up."""
    columns = list(table.columns) if columns is None else columns
    pooled = [pool([table], c) for c in columns]
    codes = [p.of_values[0] for p in pooled]
    cells, n = table.counting.cells([table.names[c] for c in columns], codes)
    levels = [[None, *p.levels.to_list()] for p in pooled]
    rows = zip(*([known[i] for i in own] for known, own in zip(levels, cells, strict=True)), strict=True)
    return dict(zip(rows, n.tolist(), strict=True))


def in_memory(frame):
    """Return the same from a frame."""
    return {row[:-1]: row[-1] for row in frame.group_by(frame.columns).len().rows()}


@pytest.mark.parametrize("engine", ENGINES)
def test_cells_are_those_of_the_frame_and_no_value_is_lost(file, engine):
    clean = FRAME.with_columns(pl.when(pl.col("A") != "").then("A").alias("A"), pl.col("day").cast(pl.Float64))
    table = read(file, engine=engine)
    assert (table.frame, table.lazy, table.n_rows) == (None, None, 4)
    assert counts(table) == in_memory(clean)
    assert counts(table, ["A"]) == in_memory(clean.select("A"))
    codes = [pool([table], c).of_values[0] for c in ("a", "A")]
    assert table.counting.n_cells(["c0", "c1"], codes) == len(in_memory(clean.select("a", "A")))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "values",
    [
        pl.Series([0.0, -0.0, float("nan"), None, float("inf"), 0.1]),
        pl.Series([0.1, 0.1, 0.30000001], dtype=pl.Float32),
        pl.Series(["", " ", None, "01", "1"]),
        pl.Series([2**60 + 1, 2**60, None]),
        pl.Series([True, None, False]),
        pl.Series(["b", "a", None], dtype=pl.Categorical),
        pl.Series([None, None, None]),
        pl.Series(["1.50", None, "1.5"]).cast(pl.Decimal(10, 2)),
    ],
    ids=lambda s: str(s.dtype),
)
def test_values_of_every_kind_are_counted_as_in_memory(engine, values, tmp_path):
    frame = pl.DataFrame({"x": values, "y": [1] * len(values)})
    frame.write_parquet(tmp_path / "t.parquet")
    pooled = pool([opened(frame, "real"), read(tmp_path / "t.parquet", engine=engine)], "x")
    here, there = pooled.counts
    assert here.tolist() == there.tolist()
    table = read(tmp_path / "t.parquet", engine=engine)
    cells, n = table.counting.cells(["c0"], [pool([table], "x").of_values[0]])
    assert np.bincount(cells[0], weights=n, minlength=len(here)).tolist() == here.tolist()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_folder_is_one_table_and_folders_name_a_column(engine, tmp_path):
    for year, rows in (("year=2020", FRAME), ("year=it's", FRAME.head(1)), ("year=__HIVE_DEFAULT_PARTITION__", FRAME)):
        (tmp_path / year).mkdir()
        rows.select(reversed(rows.columns) if "it" in year else rows.columns).write_parquet(
            tmp_path / year / "a.parquet"
        )
    table, whole = read(tmp_path, engine=engine), read(tmp_path)
    assert table.columns == whole.columns
    assert pool([table, whole], "year").counts[0].tolist() == pool([table, whole], "year").counts[1].tolist()
    assert counts(table) == counts(opened(whole.named(), "real", engine=engine))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_pattern_takes_its_files_and_signs_in_a_name_are_no_pattern(engine, tmp_path):
    for name in ("part-1.parquet", "part-2.parquet", "part1.parquet", "part[12].parquet"):
        FRAME.write_parquet(tmp_path / name)
    assert read(tmp_path / "part-*.parquet", engine=engine).n_rows == 8
    assert read(tmp_path / "part[12].parquet", engine=engine).n_rows == 4


def test_a_table_of_a_duckdb_file_is_counted_there_and_not_written(tmp_path):
    with duckdb.connect(tmp_path / "w.duckdb") as base:
        base.execute("create table people as select range % 3 as a, 'x' as b from range(9)")
    before = (tmp_path / "w.duckdb").read_bytes()
    table = read(f"{tmp_path}/w.duckdb::people", engine="duckdb")
    assert counts(table) == {(0, "x"): 3, (1, "x"): 3, (2, "x"): 3}
    assert [p.name for p in tmp_path.iterdir()] == ["w.duckdb"]
    assert (tmp_path / "w.duckdb").read_bytes() == before
    with pytest.raises(SettingError, match="DuckDB file, which polars does not read"):
        read(f"{tmp_path}/w.duckdb::people", engine="polars")


@pytest.mark.parametrize("were_removed", [False, True])
def test_what_does_not_fit_into_memory_goes_to_a_private_folder(file, were_removed):
    if were_removed:
        read(file, engine="duckdb")
        remove_private_folders()
    held = read(file, engine="duckdb").counting._counting._base
    folder = Path(held.execute("select current_setting('temp_directory')").fetchone()[0]).parent
    assert folder.name.startswith("divulge-")
    assert folder.stat().st_mode & 0o77 == 0


def setting(base, name):
    return base.execute(f"select current_setting('{name}')").fetchone()[0]


def test_duckdb_takes_half_of_the_memory_that_is_free(file, monkeypatch):
    for free, limit, threads in ((2**32, "2.0 GiB", 16), (2**29, "256.0 MiB", 2), (0, "256.0 MiB", 2)):
        monkeypatch.setattr(_duckdb_base, "room_left", lambda free=free: Room(free, 0, "a test says so"))
        base = read(file, engine="duckdb").counting._counting._base
        assert setting(base, "memory_limit") == limit and setting(base, "threads") <= threads
    monkeypatch.setattr(_duckdb_base, "room_left", lambda: None)
    usual = setting(duckdb.connect(), "memory_limit")
    assert setting(read(file, engine="duckdb").counting._counting._base, "memory_limit") == usual


@pytest.mark.parametrize("engine", ["duckdb", "auto"])
def test_settings_of_a_base_that_the_user_has_open_stay(engine, tmp_path, monkeypatch):
    monkeypatch.setattr(_duckdb_base, "room_left", lambda: Room(2**32, 0, "a test says so"))
    path, names = tmp_path / "w.duckdb", ("memory_limit", "temp_directory", "preserve_insertion_order", "threads")
    with duckdb.connect(path) as base:
        base.execute("create table people as select range % 3 as a from range(9)")
    with duckdb.connect(path, read_only=True) as user:
        user.execute("set memory_limit='1GB'")
        before = [setting(user, name) for name in names]
        table = read(f"{path}::people", engine=engine)
        assert table.n_rows == 9 and [setting(user, name) for name in names] == before
        del table
    first, second = (read(f"{path}::people", engine="duckdb") for _ in range(2))
    for table in (first, second):
        assert setting(table.counting._counting._base, "memory_limit") == "2.0 GiB"
        assert counts(table) == {(0,): 3, (1,): 3, (2,): 3}


def test_the_folder_for_what_does_not_fit_can_be_named(file, tmp_path):
    with spilling_into(tmp_path):
        tables = [read(file, engine="duckdb"), read(file, engine="polars"), read(file, engine="duckdb")]
    folders = [Path(setting(t.counting._counting._base, "temp_directory")) for t in (tables[0], tables[2])]
    assert {f.parent for f in folders} == {tmp_path} and folders[0] != folders[1]
    after = read(file, engine="duckdb")
    assert Path(setting(after.counting._counting._base, "temp_directory")).parent != tmp_path


@pytest.mark.slow
def test_a_group_by_beyond_the_memory_spills_and_does_not_die(tmp_path, monkeypatch):
    monkeypatch.setattr(_duckdb_base, "_LEAST", 48 * 2**20)
    monkeypatch.setattr(_duckdb_base, "room_left", lambda: Room(0, 0, "a test says so"))
    n = 1_500_000
    pl.DataFrame({"a": np.arange(n), "b": np.arange(n)[::-1] % 1000}).write_parquet(tmp_path / "t.parquet")
    (tmp_path / "spill").mkdir()
    with spilling_into(tmp_path / "spill"):
        table = read(tmp_path / "t.parquet", engine="duckdb")
    most = []

    def watch():
        while not ended.wait(0.002):
            files = [p for p in (tmp_path / "spill").rglob("*") if p.is_file()]
            most.append(sum(p.stat().st_size for p in files if p.exists()))

    ended = threading.Event()
    thread = threading.Thread(target=watch)
    thread.start()
    values, count = table.counting.values("c0")
    ended.set()
    thread.join()
    assert len(values) == n and count.sum() == n and max(most) > 0


@pytest.fixture
def base_with_views(tmp_path):
    """A DuckDB file with a table and views that read files and addresses, and what one of them reads."""
    (tmp_path / "elsewhere").mkdir()
    secret = tmp_path / "elsewhere" / "private.csv"
    secret.write_text("a,b\n1,canary\n2,canary\n3,x\n")
    FRAME.write_parquet(tmp_path / "elsewhere" / "p.parquet")
    with duckdb.connect(tmp_path / "w.duckdb") as base:
        base.execute("create table people as select range % 3 as a, 'x' as b from range(9)")
        base.execute("create view of_people as select a, count(*) as n from people group by a")
        base.execute(f"create view of_csv as select a, b from read_csv('{secret}')")
        base.execute(f"create view of_parquet as select a from '{tmp_path}/elsewhere/*.parquet'")
        base.execute(f"create view of_text as select content from read_text('{secret}')")
        base.execute(f"create view of_names as select file from glob('{tmp_path}/*/*')")
        base.execute("create view nested as select * from of_csv union all select a, b from of_csv")
    return tmp_path / "w.duckdb"


READING_VIEWS = ("of_csv", "of_parquet", "of_text", "of_names", "nested")


@pytest.mark.parametrize("engine", ["duckdb", "auto", "memory"])
@pytest.mark.parametrize("name", [*READING_VIEWS, "FILE", "https://127.0.0.1:9/x.csv", "s3://b/x.parquet"])
def test_a_view_of_a_file_reads_no_other_file_and_no_address(name, engine, base_with_views, monkeypatch):
    def refused(*_, **__):
        raise AssertionError("the network is asked")

    monkeypatch.setattr("socket.socket", refused)
    table = name.replace("FILE", str(base_with_views.parent / "elsewhere/private.csv"))
    with pytest.raises(TableError, match=r"allow-files-under|files of this machine alone") as refusal:
        opened(f"{base_with_views}::{table}", "real", engine=engine)
    assert "canary" not in str(refusal.value)
    assert opened(f"{base_with_views}::of_people", "real", engine=engine).n_rows == 3


def test_a_folder_can_be_opened_to_views(base_with_views, monkeypatch, capsys):
    words = ["divulge", "schema", f"{base_with_views}::nested"]
    monkeypatch.setattr(sys, "argv", [*words, "--allow-files-under", str(base_with_views.parent / "elsewhere")])
    with pytest.raises(SystemExit) as ended:
        command_line.main()
    assert not ended.value.code and "[columns.a]" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as ended:
        command_line.main()
    assert ended.value.code == 2 and "--allow-files-under FOLDER" in capsys.readouterr().err


@pytest.mark.parametrize("engine", ["duckdb", "auto"])
def test_a_base_that_the_user_opened_reads_what_it_read(engine, base_with_views):
    with duckdb.connect(base_with_views, read_only=True) as user:
        assert opened(user.sql("from nested"), "real", engine=engine).n_rows == 6
        assert opened(f"{base_with_views}::nested", "real", engine=engine).n_rows == 6
        assert setting(user, "enable_external_access") and setting(user, "autoload_known_extensions")


@pytest.mark.parametrize("kind", ["file", "files", "frame", "base", "copied"])
def test_every_connection_that_divulge_opens_is_closed_to_the_rest(kind, file, base_with_views):
    user = duckdb.connect()
    given = {
        "file": file, "files": f"{file.parent}/p*.parquet", "frame": FRAME, "base": f"{base_with_views}::people",
        "copied": collect(opened(user.sql(f"from '{file}'"), "real")),
    }[kind]  # fmt: skip
    base = opened(given, "real", engine="duckdb").counting._counting._base
    assert not any(setting(base, f"auto{what}_known_extensions") for what in ("load", "install"))
    other = base_with_views.parent / "elsewhere"
    for query in (
        f"from '{other}/p.parquet'",
        f"from read_text('{other}/private.csv')",
        "from glob('/*')",
        "from 's3://b/x.csv'",
    ):
        with pytest.raises(duckdb.PermissionException):
            base.execute(query)
    with pytest.raises(duckdb.Error):
        base.execute("load httpfs")
    with pytest.raises(duckdb.Error):
        base.execute("set enable_external_access=true")


@pytest.mark.parametrize("engine", ["auto", "memory", "duckdb", "polars"])
@pytest.mark.parametrize("way", [read, opened, size_of])
@pytest.mark.parametrize("scheme", ["https", "HTTP", "s3", "hf", "gs", "file", "abfss"])
def test_an_address_is_no_table(scheme, way, engine):
    settings = {} if way is size_of else {"engine": engine}
    for path in (
        f"{scheme}://h/people.parquet",
        Path(f"{scheme}://h/people.parquet"),
        f"{scheme}://h/w.duckdb::people",
    ):
        with pytest.raises(TableError, match="an address, and divulge reads files of this machine alone"):
            way(path, role="real", **settings)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("make", [lambda f: f, lambda f: f.to_arrow()])
def test_frames_in_memory_are_counted_too(engine, make):
    assert counts(opened(make(FRAME), "real", engine=engine)) == counts(opened(FRAME.lazy(), "real", engine="polars"))


def test_what_is_known_of_a_frame_is_kept(tmp_path):
    FRAME.write_csv(tmp_path / "t.csv")
    read_in = read(tmp_path / "t.csv", missing=["x"])
    table = opened(read_in, "real", engine="polars")
    assert (table.sha256, table.missing, table.notes) == (read_in.sha256, ("x",), read_in.notes)
    assert table.sha256


# ---------------------------------------------------------------- what an engine does not do


def told(call):
    with pytest.raises(DivulgeError) as error:
        call()
    assert "it's" not in str(error.value)  # no value of the table
    return str(error.value)


def test_another_engine_is_an_error(file):
    for engine in ("dask", "DuckDB", None, 3):
        assert told(lambda e=engine: read(file, engine=e)).startswith("engine: no such engine")
        assert told(lambda e=engine: opened(FRAME, "real", engine=e)).startswith("engine: no such engine")


def test_duckdb_without_its_package_says_which_extra(file, monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(FrameError, match=r"pip install 'divulge\[duckdb\]'"):
        read(file, engine="duckdb")


@pytest.mark.parametrize("engine", ENGINES)
def test_files_that_are_not_parquet_are_an_error(engine, tmp_path):
    FRAME.write_csv(tmp_path / "t.csv")
    assert "no Parquet file" in told(lambda: read(tmp_path / "t.csv", engine=engine))
    assert "no Parquet file" in told(lambda: read("-", engine=engine))
    (tmp_path / "t.parquet").write_text("it's not")
    assert "damaged" in told(lambda: read(tmp_path / "t.parquet", engine=engine))
    for name in ("missing.parquet", "missing.csv", "missing"):
        assert "no such file" in told(lambda n=name: read(tmp_path / n, engine=engine)).lower()


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read everything")
@pytest.mark.parametrize("engine", ENGINES)
def test_a_file_without_permission_is_an_error(engine, file):
    file.chmod(0)
    assert "Permission denied" in told(lambda: read(file, engine=engine))


@pytest.mark.parametrize(
    ("error", "refused"),
    [
        ("PermissionException: it's", True),
        ("IOException: Cannot open file 'it's': Permission denied", True),
        ("PermissionError: it's", True),
        ("AnalysisException: [INSUFFICIENT_PERMISSIONS] it's", True),
        ("SparkConnectGrpcException: PERMISSION_DENIED: it's", True),
        ("ConversionException: Could not convert string 'permission denied' to INT32: it's", False),
        ("IOException: it's a damaged file", False),
    ],
)
def test_a_warehouse_without_permission_is_an_error_that_says_so(file, error, refused, monkeypatch):
    kind, _, message = error.partition(": ")

    def failing(*_):
        raise type(kind, (Exception,), {})(message)

    table = read(file, engine="duckdb")
    monkeypatch.setattr(table.counting._counting, "values", failing)
    found = told(lambda: pool([table], "a"))
    assert found.startswith("real: the engine that holds the table may not read it" if refused else "real: the engine")
    assert ("SELECT" in found) == refused


def test_a_database_that_another_program_writes_is_an_error(tmp_path):
    with duckdb.connect(tmp_path / "w.duckdb") as base:
        base.execute("create table people as select 1 as a")
        assert "no other program holds open" in told(lambda: read(f"{tmp_path}/w.duckdb::people", engine="duckdb"))


def test_spark_that_lost_its_executors_says_so(file, monkeypatch):
    def failing(*_):
        message = "Job aborted due to stage failure: it's ExecutorLostFailure (executor 0 exited caused by one of the"
        raise type("Py4JJavaError", (Exception,), {})(message)

    table = read(file, engine="duckdb")
    monkeypatch.setattr(table.counting._counting, "values", failing)
    assert told(lambda: pool([table], "a")).startswith("real: Spark lost its executors as often as it tries a task")


def test_spark_without_what_hands_over_its_answers_says_which_extra(file, monkeypatch):
    def failing(*_):
        raise ImportError("[PACKAGE_NOT_INSTALLED] PyArrow >= 18.0.0 must be installed; however, it was not found.")

    table = opened(FRAME, "real", engine="polars")
    monkeypatch.setattr(table.counting._counting, "values", failing)
    with pytest.raises(FrameError, match=r"pip install 'divulge\[spark\]'"):
        pool([table], "a")
    for given, why in ((file, "is a path"), (FRAME, "is no Spark frame"), (FRAME.lazy(), "a table of polars")):
        assert why in told(lambda g=given: opened(g, "real", engine="spark"))
    assert r"divulge[spark]" in told(lambda: opened(file, "real", engine="spark"))


@pytest.mark.parametrize("engine", ENGINES)
def test_files_of_other_columns_or_types_are_an_error(engine, tmp_path):
    FRAME.write_parquet(tmp_path / "a.parquet")
    FRAME.rename({"day": "night"}).write_parquet(tmp_path / "b.parquet")
    assert "'day' is in a.parquet and not in b.parquet" in told(lambda: read(tmp_path, engine=engine))
    FRAME.cast({"a": pl.Float64}).write_parquet(tmp_path / "b.parquet")
    assert "column 'a' has another type in b.parquet" in told(lambda: read(tmp_path, engine=engine))


@pytest.mark.parametrize("engine", ["auto", "polars"])
def test_lazy_frames_whose_files_do_not_fit_together_are_an_error_that_says_so(engine, tmp_path):
    FRAME.write_parquet(tmp_path / "1.parquet")
    given = [pl.concat([FRAME.lazy(), FRAME.drop("day").lazy()])]
    for other in (FRAME.drop("day"), FRAME.cast({"day": pl.Int32})):
        (tmp_path / str(len(given))).mkdir()
        for i, frame in enumerate((FRAME, other)):
            frame.write_parquet(tmp_path / str(len(given)) / f"{i}.parquet")
        given.append(pl.scan_parquet(tmp_path / str(len(given)) / "*.parquet"))
    for lazy in given:
        found = told(lambda lazy=lazy: divulge.cap(lazy, FRAME, keys=["a"], target="day", engine=engine))
        assert found.startswith("real: the files or frames of the table do not fit together")
        assert "Int64" not in found


def test_a_relation_that_changes_while_it_is_read_is_an_error():
    base = duckdb.connect()
    base.execute("create table people as select range % 3 as a, 'x' as b from range(9)")
    table = opened(base.sql("from people"), "real")
    assert frames.profiles(table, ["a", "b"])[1].sum() == 9
    base.execute("delete from people where a = 1")
    with pytest.raises(TableError, match="real: the table changed while it was read: it had 9 rows"):
        frames.profiles(table, ["a", "b"])


def test_an_engine_that_breaks_off_is_an_error_that_says_so(file, monkeypatch):
    def failing(*_):
        raise pl.exceptions.PanicException("assertion failed: it's")

    table = read(file, engine="polars")
    monkeypatch.setattr(table.counting._counting, "values", failing)
    assert "broke off while it read" in told(lambda: pool([table], "a"))


def test_an_engine_without_memory_says_so(file, monkeypatch):
    def failing(*_, **__):
        raise duckdb.OutOfMemoryException("Out of Memory Error: could not allocate it's 32 MB")

    table = read(file, engine="duckdb")
    monkeypatch.setattr(table.counting._counting, "values", failing)
    monkeypatch.setattr(duckdb, "connect", failing)
    for call in (lambda: pool([table], "a"), lambda: read(file, engine="duckdb")):
        assert told(call).startswith("real: DuckDB had not enough memory. hint: name fewer keys")


def test_a_table_of_another_engine_is_an_error():
    lazy, relation = FRAME.lazy(), duckdb.sql("select 1 as a")
    assert "a table of polars, which duckdb does not count" in told(lambda: opened(lazy, "real", engine="duckdb"))
    assert "a table of duckdb, which polars does not count" in told(lambda: opened(relation, "real", engine="polars"))
    both = {"real": lazy, "synthetic": relation, "keys": ["a"], "target": "A"}
    assert "synthetic is a table of duckdb, which polars does not count" in told(
        lambda: divulge.cap(**both, engine="polars")
    )
    counted = opened(lazy, "real", engine="polars")
    assert "counted by polars, not duckdb" in told(lambda: opened(counted, "real", engine="duckdb"))
    assert opened(relation, "real", engine="duckdb").n_rows == 1


@pytest.mark.parametrize("engine", ENGINES)
def test_a_table_that_changes_while_it_is_read_is_an_error(engine, file):
    for changed in (FRAME.head(3), pl.concat([FRAME] * 2), FRAME.with_columns(a=pl.lit(9, pl.Int64))):
        FRAME.write_parquet(file)
        table = read(file, engine=engine)
        codes = pool([table], "a").of_values[0]
        changed.write_parquet(file)
        os.utime(file, ns=(1, 1))
        with pytest.raises(TableError, match="changed while it was read"):
            table.counting.cells(["c0"], [codes])


def test_a_value_that_was_not_told_is_no_missing_one():
    other = FRAME.with_columns(a=pl.lit(9, pl.Int64))  # as many rows
    for engine in ENGINES:
        table = opened(FRAME, "real", engine=engine)
        codes, counting = pool([table], "a").of_values[0], table.counting._counting
        if engine == "polars":
            counting._lazy = other.rename({name: f"c{i}" for i, name in enumerate(other.columns)}).lazy()
        else:
            counting._base.execute("create or replace temp view divulge_rows as select 9::bigint as c0 from range(4)")
        with pytest.raises(TableError, match="changed while it was read"):
            table.counting.cells(["c0"], [codes])


@pytest.mark.parametrize("engine", ENGINES)
def test_a_file_that_is_damaged_behind_its_header_is_told_as_such(engine, file):
    pl.DataFrame({"a": range(4000)}).write_parquet(file, compression="uncompressed")
    content = bytearray(file.read_bytes())
    content[4:9000] = bytes(8996)
    file.write_bytes(content)
    message = told(lambda: read(file, engine=engine).counting.values("c0"))
    assert "a file may be damaged" in message or "no rows" in message  # polars 1.25 finds no rows in it


def test_an_error_of_the_engine_shows_no_value():
    table = opened(FRAME, "real", engine="duckdb")
    assert isinstance(table.counting._counting, DuckdbCounts)
    table.counting._counting._base.execute("create or replace temp view divulge_rows as select 'it''s'::integer as c0")
    assert "the engine that holds the table failed with a ConversionException" in told(
        lambda: table.counting.values("c0")
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_what_needs_rows_says_so_and_reads_nothing(engine, file):
    assert "every row of real is needed" in told(lambda: collect(read(file, engine=engine)))
    asked = {"engine": engine, "holdout": file}
    assert "engine='memory' reads them" in told(lambda: divulge.dcr(file, file, **asked))
    found = divulge.copies(file, file, **asked, variants=["exact", "near"])
    assert any("near copies were not searched" in note for note in found[0].notes)


def test_several_synthetic_tables_stay_in_memory(file):
    assert "puts one" not in told(lambda: opened([file, file], "synthetic", engine="duckdb"))
    assert opened([file], "synthetic", engine="duckdb").n_rows == 4


# ---------------------------------------------------------------- interrupts


@pytest.mark.parametrize("error", [RuntimeError("Query interrupted"), duckdb.InterruptException("INTERRUPT Error")])
def test_an_interrupted_question_is_an_interrupt_and_no_error_of_the_engine(error, file, monkeypatch):
    def interrupted(*_):
        raise error

    table, relation = read(file, engine="duckdb"), opened(duckdb.sql("select 1 as a"), "real")
    monkeypatch.setattr(table.counting._counting, "values", interrupted)
    with pytest.raises(KeyboardInterrupt):
        pool([table], "a")
    monkeypatch.setattr(frames.nw.LazyFrame, "collect", interrupted)
    with pytest.raises(KeyboardInterrupt):
        pool([relation], "a")


@pytest.fixture
def heard():
    """Interrupts are heard, also where the tests run in the background of a shell, which ignores them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_is_heard_while_duckdb_counts(file, heard):
    base = read(file, engine="duckdb").counting._counting
    told = []
    base._base = SimpleNamespace(execute=lambda query: time.sleep(3), interrupt=lambda: told.append("stop"))
    threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        base.n_rows()
    assert time.monotonic() - began < 1 and told == ["stop"]


def test_what_an_engine_raises_in_another_thread_is_raised_here():
    with pytest.raises(ZeroDivisionError):
        interruptible(lambda: 1 / 0, lambda: None)
    answers = []
    with pytest.MonkeyPatch.context() as patch:  # as where a limit leaves no room for a thread
        patch.setattr(
            threading.Thread, "start", lambda _: (_ for _ in ()).throw(RuntimeError("can't start new thread"))
        )
        assert interruptible(lambda: 3, lambda: None) == 3
    elsewhere = threading.Thread(target=lambda: answers.append(interruptible(threading.current_thread, lambda: None)))
    elsewhere.start()
    elsewhere.join()
    assert answers == [elsewhere]


def test_an_interrupt_removes_private_folders(tmp_path, monkeypatch, capsys):
    folder = PrivateFolder("divulge-", tmp_path)
    (folder.path / "duckdb").write_text("what did not fit into memory")
    left = []
    monkeypatch.setattr(os, "_exit", lambda status: left.append((status, list(tmp_path.iterdir()))))
    command_line._leave(None)
    assert left == [(130, [])]
    assert "interrupted; nothing was written." in capsys.readouterr().err
