"""How large a table is, known before it is read."""

import gzip

import duckdb
import numpy as np
import polars as pl
import pytest

from divulge.core.errors import TableError
from divulge.tables import readers, sizes
from divulge.tables.sizes import size_of

N = 60_000


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    return pl.DataFrame({"age": rng.integers(18, 90, N), "pay": rng.normal(size=N).round(3),
                         "town": pl.Series(["Ulm", "Bad Homburg, near", "Jena"])[rng.integers(0, 3, N)]})  # fmt: skip


@pytest.fixture(scope="module")
def folder(table, tmp_path_factory):
    place = tmp_path_factory.mktemp("sizes")
    table.write_parquet(place / "a.parquet", row_group_size=9000)
    table.write_csv(place / "a.csv")
    table.write_ipc(place / "a.arrow")
    with gzip.open(place / "a.csv.gz", "wb", compresslevel=1) as file:
        table.write_csv(file)
    (place / "parts").mkdir()
    for i in range(3):
        table[i::3].write_parquet(place / "parts" / f"{i}.parquet")
    return place


@pytest.mark.parametrize("name", ["a.parquet", "a.csv", "a.arrow", "parts"])
def test_rows_and_columns_are_those_of_the_file_and_the_file_is_not_read(folder, name, monkeypatch):
    monkeypatch.setattr(readers, "content_of", None)
    found = size_of(folder / name, "real")
    assert (found.rows, found.sample.columns) == (N, ("age", "pay", "town"))
    assert 0 < found.sample.n_rows <= 4000
    assert found.held_bytes == 0
    assert (found.file_bytes > 0) == (name == "a.csv")


def test_rows_of_a_compressed_file_are_estimated(folder):
    found = size_of(folder / "a.csv.gz", "real")
    assert not found.exact
    assert found.rows == pytest.approx(N, rel=0.05)
    assert found.file_bytes == pytest.approx((folder / "a.csv").stat().st_size, rel=0.05)


@pytest.mark.parametrize("how", ["folder", "file", "csv"])
def test_sorted_files_are_sampled_over_all_of_them(how, tmp_path):
    n_states, each = 40, 500
    rows = pl.DataFrame({"state": np.repeat(np.arange(n_states), each), "day": np.arange(n_states * each)})
    if how == "file":
        rows.write_parquet(tmp_path / "a.parquet", row_group_size=each)
    for i in range(n_states if how != "file" else 0):
        part = rows[i * each : (i + 1) * each]
        part.write_csv(tmp_path / f"{i:02}.csv") if how == "csv" else part.write_parquet(tmp_path / f"{i:02}.parquet")
    found = size_of(tmp_path if how != "file" else tmp_path / "a.parquet", "real")
    assert (found.rows, found.exact) == (n_states * each, True)
    assert 3900 <= found.sample.n_rows <= 4000
    state, day = found.sample.series("state"), found.sample.series("day")
    assert state.n_unique() >= 16 and (state.min(), state.max()) == (0, n_states - 1)
    assert how == "csv" or (day.diff().drop_nulls() == 1).mean() > 0.99  # rows of one household stay together


@pytest.mark.parametrize("kind", ["lazy", "scanned", "relation", "base"])
def test_sorted_tables_of_an_engine_are_sampled_over_all_of_them(kind, tmp_path):
    n_states, each = 40, 500
    rows = pl.DataFrame({"state": np.repeat(np.arange(n_states), each), "day": np.arange(n_states * each)})
    given = tmp_path / "a.parquet"
    if kind == "scanned":
        rows.write_parquet(given, row_group_size=each)
    if kind == "base":
        given = f"{tmp_path}/a.duckdb::people"
        with duckdb.connect(given.partition("::")[0]) as base:
            base.register("rows", rows.to_arrow())
            base.execute("create table people as from rows")
    table = {"lazy": rows.lazy, "scanned": lambda: pl.scan_parquet(given), "base": lambda: given,
             "relation": lambda: duckdb.from_arrow(rows.to_arrow())}[kind]()  # fmt: skip
    found, again = size_of(table, "real"), size_of(table, "real")
    assert (found.rows, found.exact, found.sample.n_rows, found.sample.columns) == (
        20_000,
        True,
        4000,
        ("state", "day"),
    )
    state, day = found.sample.series("state"), found.sample.series("day")
    assert state.n_unique() >= 16 and (state.min(), state.max()) == (0, n_states - 1)
    assert (day.diff().drop_nulls() == 1).mean() > 0.99  # rows of one household stay together
    assert day.equals(again.sample.series("day"))


def test_a_small_table_of_an_engine_is_sampled_whole():
    for table in (pl.LazyFrame({"a": [1, 2]}), duckdb.from_arrow(pl.DataFrame({"a": [1, 2]}).to_arrow())):
        assert size_of(table, "real").sample.series("a").to_list() == [1, 2]


def test_few_of_many_files_are_read(tmp_path, monkeypatch):
    for i in range(60):
        pl.DataFrame({"state": [i] * 100}).write_parquet(tmp_path / f"{i:02}.parquet")
    read, usual = [], sizes._rows_of
    monkeypatch.setattr(sizes, "_rows_of", lambda lazy, rows, where: read.append(len(rows)) or usual(lazy, rows, where))
    found = size_of(tmp_path, "real")
    assert found.rows == 6000 and sum(read) == found.sample.n_rows == 4000
    monkeypatch.setattr(sizes, "_ROWS", 160)
    read.clear()
    assert 16 <= size_of(tmp_path, "real").sample.series("state").n_unique() == len(read) <= 32  # of 60


def test_files_of_other_types_are_sampled_as_they_are_read(tmp_path):
    pl.DataFrame({"a": [1, 2]}).write_parquet(tmp_path / "0.parquet")
    pl.DataFrame({"a": ["x"]}).write_parquet(tmp_path / "1.parquet")
    assert size_of(tmp_path, "real").sample.series("a").to_list() == readers.read(tmp_path).series("a").to_list()


def test_a_frame_is_sampled_at_several_places(table):
    found = size_of(table.with_columns(row=pl.int_range(N)), "real")
    rows = found.sample.series("row")
    assert (found.rows, found.exact, rows.min(), rows.max()) == (N, True, 0, N - 1)
    assert found.held_bytes == table.with_columns(row=pl.int_range(N)).estimated_size()
    assert found.table_bytes == pytest.approx(found.held_bytes, rel=0.1)


def test_lazy_rows_are_counted_and_few_are_collected(table):
    found = size_of(table.lazy(), "real")
    assert (found.rows, found.sample.n_rows, found.held_bytes) == (N, 4000, 0)


def test_line_breaks_inside_quotation_marks_are_no_rows(tmp_path, monkeypatch):
    text = "\n".join(['one ""line""'] * 40)
    (tmp_path / "a.csv").write_text("nr,text\n" + "".join(f'{i},"{text}"\n' for i in range(5000)))
    monkeypatch.setattr(sizes, "read", None)  # a head that is cut inside quotation marks would need the whole
    found = size_of(tmp_path / "a.csv", "real")
    assert found.rows == pytest.approx(5000, rel=0.01)
    assert not found.exact


def test_several_synthetic_tables_are_added_up(table, folder):
    assert size_of([folder / "a.parquet", table], "synthetic").rows == 2 * N


def test_standard_input_has_no_size_before_it_is_read():
    assert size_of("-", "real") is None


def test_a_file_that_cannot_be_read_is_told_as_by_the_reader(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n1,2,3\n")
    with pytest.raises(TableError, match=r"real: a\.csv: lines with another number of fields"):
        size_of(tmp_path / "a.csv", "real")
    (tmp_path / "a.parquet").write_bytes(b"PAR1 no PAR1")
    with pytest.raises(TableError, match="not a Parquet file"):
        size_of(tmp_path / "a.parquet", "real")
