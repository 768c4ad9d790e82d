"""One table in several files, and tables of a DuckDB file."""

import numpy as np
import polars as pl
import pytest

import divulge
from divulge.core.errors import TableError
from divulge.tables.many_files import PARTS
from divulge.tables.opening import opened
from divulge.tables.readers import columns_in, read


@pytest.fixture
def people():
    rng = np.random.default_rng(0)
    return pl.DataFrame(
        {"age": rng.integers(18, 80, 90), "job": rng.integers(0, 4, 90).astype(str), "pay": rng.normal(size=90)}
    )


@pytest.fixture
def folder(people, tmp_path):
    for i in range(3):
        people[30 * i : 30 * i + 30].write_parquet(tmp_path / f"part-{i}.parquet")
    (tmp_path / "_SUCCESS").write_bytes(b"")
    (tmp_path / "_metadata.parquet").write_bytes(b"no table")
    (tmp_path / ".part-0.parquet.crc").write_bytes(b"x")
    (tmp_path / "notes.md").write_text("no table")
    return tmp_path


@pytest.mark.parametrize("name", ["", "part-*.parquet", "part-[0-2].parquet"])
def test_a_folder_or_pattern_is_one_table(folder, people, name):
    table = read(folder / name)
    assert table.named().equals(people)
    assert table.notes == (f"real: 3 {PARTS}",)
    assert table.sha256 == ""  # of no single file: the report hashes the columns
    assert columns_in(folder / name) == ("age", "job", "pay")


def test_it_is_attacked_like_the_whole(folder, people):
    one, other = (
        divulge.cap(table, people[::-1], keys=["age"], target="job", holdout=people[:40])
        for table in (str(folder), people)
    )
    assert (one.real, one.holdout, one.risk) == (other.real, other.holdout, other.risk)


@pytest.mark.parametrize("pattern", ["", "*/part.csv", "**/*.csv"])
def test_folders_named_by_a_value_are_a_column(people, tmp_path, pattern):
    tmp_path = tmp_path / "city=Bern"  # above the folder that is given: no column
    tmp_path.mkdir()
    for job, part in people.group_by("job"):
        value = "__HIVE_DEFAULT_PARTITION__" if job[0] == "3" else f"%C3%A9 {job[0]}"
        place = tmp_path / f"job={value}"
        place.mkdir()
        part.drop("job").write_csv(place / "part.csv")
    table = read(tmp_path / pattern)
    assert set(table.columns) == {"age", "pay", "job"}
    jobs = table.named()["job"]
    assert jobs.null_count() == (people["job"] == "3").sum() > 0
    assert (jobs == "é 1").sum() == (people["job"] == "1").sum()
    assert set(columns_in(tmp_path / pattern)) == {"age", "pay", "job"}


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(people, tmp_path):
    people.write_parquet(tmp_path / "a[1].parquet")
    assert read(tmp_path / "a[1].parquet").n_rows == 90


def test_numbers_of_one_file_and_codes_of_another_are_text(tmp_path):
    (tmp_path / "a.csv").write_text("x\n1\n2\n")
    (tmp_path / "b.csv").write_text("x\n3\nunknown\n")
    assert read(tmp_path).named()["x"].to_list() == ["1", "2", "3", "unknown"]
    assert read(tmp_path, missing=["unknown"]).named()["x"].to_list() == [1, 2, 3, None]


@pytest.mark.parametrize(
    ("lacking", "words"),
    [("b", "'b' is in 1.csv and not in 2.csv"), ("a", "'c' is in 2.csv and not in 1.csv")],
)
def test_files_of_different_columns_are_refused(tmp_path, lacking, words):
    (tmp_path / "1.csv").write_text("a,b\n1,2\n")
    (tmp_path / "2.csv").write_text("a\n1\n" if lacking == "b" else "a,b,c\n1,2,3\n")
    with pytest.raises(TableError, match=words):
        read(tmp_path)


@pytest.mark.parametrize(
    ("name", "words"), [("", "the folder has no table"), ("*.csv", "no table has a name of this pattern")]
)
def test_nothing_to_read_is_said(tmp_path, name, words):
    (tmp_path / "_only.csv").write_text("a\n1\n")
    (tmp_path / ".git").mkdir()
    with pytest.raises(TableError, match=words):
        read(tmp_path / name if name else tmp_path)


def test_a_broken_file_is_named(folder):
    (folder / "part-1.parquet").write_bytes(b"no table")
    with pytest.raises(TableError, match=r"part-1\.parquet"):
        read(folder)


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_a_file_without_rows_among_others_with_rows_changes_nothing(people, tmp_path, suffix):
    def write(frame, name):
        getattr(frame, f"write_{suffix}")(tmp_path / f"{name}.{suffix}")

    write(people[:0], "part-0")
    for call in (read, lambda path: divulge.plan(path, people)):
        with pytest.raises(TableError, match="no rows"):
            call(tmp_path)
    write(people[:50], "part-1")
    write(people[50:], "part-2")
    found = read(tmp_path)
    assert found.named().cast({"job": pl.String}).equals(people) and found.notes == (f"real: 2 {PARTS}",)
    assert divulge.plan(tmp_path, people).tables[0].rows == 90
    write(people[:0].drop("job"), "part-3")
    with pytest.raises(TableError, match=r"'job' is in part-1\..* and not in part-3"):
        read(tmp_path)


@pytest.fixture
def base(people, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    path = tmp_path / "house.duckdb"
    with duckdb.connect(str(path)) as con:
        con.register("given", people.to_arrow())
        con.execute("create table people as select * from given")
        con.execute('create schema other; create view other."two words" as select * from people where age > 40')
    return path


def test_a_table_of_a_database(base, people):
    table = opened(f"{base}::people", "real")
    assert table.frame is None  # its rows stay where they are
    assert table.n_rows == 90
    assert columns_in(f"{base}::people") == ("age", "job", "pay")
    assert opened(f'{base}::other."two words"', "real").n_rows == (people["age"] > 40).sum()
    one, other = (
        divulge.cap(t, people, keys=["age"], target="job", holdout=people[:40]) for t in (f"{base}::people", people)
    )
    assert one.risk == other.risk


@pytest.mark.parametrize(
    ("name", "words"),
    [("house.duckdb::nobody", "there is no table 'nobody'.* it has people, two words"), ("none.duckdb::people", "no such file"),
     ("text.duckdb::people", "DuckDB cannot open it"), ("house.duckdb::people; drop table people", "no table"),
     ('house.duckdb::people" limit 1; --', "no table"), ("house.duckdb::read_csv('x.csv')", "no table")],
)  # fmt: skip
def test_what_is_no_table_of_a_database_is_said(base, name, words):
    (base.parent / "text.duckdb").write_text("no database at all, but some text " * 400)
    with pytest.raises(TableError, match=words):
        opened(str(base.parent / name), "real")
    assert opened(f"{base}::people", "real").n_rows == 90
