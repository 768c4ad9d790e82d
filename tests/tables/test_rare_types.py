"""Types that polars does not hold, and dates outside the calendar, are read alike by each door, or refused by name."""

import datetime as dt
from dataclasses import replace
from decimal import Decimal as D

import numpy as np
import pandas as pd
import polars as pl
import pytest

import divulge
from divulge.core.errors import ColumnError, TableError
from divulge.tables.frames import collect, table_of
from divulge.tables.opening import opened
from divulge.tables.pooled_columns import pool
from divulge.tables.readers import columns_in, read
from divulge.tables.sizes import size_of

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
duckdb = pytest.importorskip("duckdb")

NOTES = (
    "'until': 3 dates after the year 9999 or infinite, taken as 9999-12-31",
    "'until': 1 date before the year 1 or infinite, taken as 0001-01-01",
)
LAST, FIRST = dt.datetime(9999, 12, 31), dt.datetime(1, 1, 1)


def moments(kind):
    """SQL of twelve rows, three of which are after the calendar and one before it."""
    return (
        f"select i as id, case when i < 2 then 'infinity'::{kind} when i = 2 then '-infinity'::{kind} "
        f"when i = 3 then '20000-01-01'::{kind} else ('2020-01-' || (i + 1)::varchar)::{kind} end as until, "
        "(i % 3)::integer as sex from range(12) t(i) order by i"
    )


KINDS = ["DATE", "TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMP_S", "TIMESTAMP_MS"]
DOORS = ["relation", "file", "counted file", "parquet", "duckdb on parquet", "polars on parquet", "lazy", "arrow"]


@pytest.fixture
def door(tmp_path):
    """Return the table of a query by one of the doors."""

    def through(query, name):
        base = duckdb.connect(str(tmp_path / "b.duckdb"))
        base.execute("set timezone = 'UTC'")
        base.execute(f"create or replace table t as {query}")
        if name == "relation":
            return replace(table_of(base.table("t"), "real"), holds=base)  # old relations do not hold it
        parquet = tmp_path / "t.parquet"
        if name == "arrow":
            found = base.table("t")
            return table_of(found.to_arrow_table() if hasattr(found, "to_arrow_table") else found.arrow(), "real")
        if "file" not in name:
            base.execute(f"copy t to '{parquet}' (format parquet)")
        base.close()
        if name == "lazy":
            return table_of(pl.scan_parquet(parquet), "real")
        if "file" in name:
            return read(f"{tmp_path / 'b.duckdb'}::t", engine="duckdb" if name == "counted file" else "auto")
        return read(parquet, engine=name.split(" ")[0] if " " in name else "auto")

    return through


def levels(table, column):
    return pool([table], column).levels.to_list()


@pytest.mark.first(10)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", DOORS)
def test_dates_outside_the_calendar_are_its_ends_by_each_door(door, name, kind):
    table = door(moments(kind), name)
    column = pool([table], "until")
    assert column.family == "datetime"
    assert (column.levels[0], column.levels[-1]) == (FIRST, LAST)
    assert (column.counts[0][1], column.counts[0][-1], len(column.levels)) == (1, 3, 10)
    if not (kind == "TIMESTAMP_S" and name == "arrow"):  # DuckDB itself gives Arrow's seconds
        assert [note.partition(": ")[2].removeprefix("t.parquet: ") for note in table.notes] == list(NOTES)


@pytest.mark.parametrize("name", DOORS)
def test_dates_within_the_calendar_are_kept_without_a_note(door, name):
    table = door("select i as id, timestamp '9999-12-31 23:59:59.999999' as until from range(3) t(i)", name)
    assert levels(table, "until") == [dt.datetime(9999, 12, 31, 23, 59, 59, 999999)]
    assert table.notes == ()


def test_the_note_names_the_file(door):
    assert door(moments("DATE"), "parquet").notes[0] == f"real: t.parquet: {NOTES[0]}"
    assert door(moments("DATE"), "relation").notes[0] == f"real: {NOTES[0]}"


@pytest.mark.parametrize("name", ["relation", "parquet", "duckdb on parquet", "polars on parquet"])
def test_rows_of_a_table_have_the_ends_too(door, name):
    table = door(moments("DATE"), name)
    found = pl.concat(list(table.counting.raw("c1"))) if table.counting is not None else collect(table).series("until")
    assert found.to_list()[:4] == [LAST.date(), LAST.date(), FIRST.date(), LAST.date()]


@pytest.mark.parametrize("unit", ["D", "s", "ms"])
def test_moments_of_numpy_and_pandas_are_bounded(unit):
    values = np.array(["2020-01-01", "586000-01-01", "-582000-03-15", "NaT"], dtype=f"M8[{unit}]")
    frame = pd.DataFrame({"until": values.astype("M8[s]"), "n": range(4)})
    table = table_of(frame, "real")
    assert levels(table, "until") == [FIRST, dt.datetime(2020, 1, 1), LAST]
    assert len(table.notes) == 2
    objects = pd.DataFrame({"until": pd.Series(list(values), dtype=object), "n": range(4)})
    assert levels(table_of(objects, "real"), "until") == [FIRST, dt.datetime(2020, 1, 1), LAST]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([0, 2**31 - 1, -(2**31)], pa.date32()),
        pa.array([0, 2**62, -(2**62)], pa.timestamp("s")),
        pa.array([0, 2**62, -(2**62)], pa.timestamp("ms")),
        pa.array([0, 2**62, -(2**62)], pa.timestamp("us", "UTC")),
        pa.array([0, 2**63 - 1, -(2**63) + 1], pa.timestamp("ns")),
        pa.array([0, 86_400_000 * 2**40 // 1000, -86_400_000 * 2**40 // 1000], pa.date64()),
    ],
    ids=lambda c: str(c.type),
)
@pytest.mark.parametrize("form", ["table", "parquet", "arrow"])
def test_all_widths_of_moments_are_bounded(tmp_path, column, form):
    if form == "parquet" and column.type == pa.timestamp("s"):
        pytest.skip("Parquet has milliseconds, which hold no such years")
    table = pa.table({"until": column, "n": [1, 2, 3]})
    found = levels(table_of(table, "real") if form == "table" else read(written(table, tmp_path, form)), "until")
    assert found == [FIRST, dt.datetime(1970, 1, 1), LAST]


@pytest.mark.parametrize("name", ["^a$", "*", "a\nb", 'q"x'])
def test_names_of_dates_may_be_patterns(name, tmp_path):
    column = pl.Series([2**31 - 1, 0], dtype=pl.Int32).cast(pl.Date)
    frame = pl.DataFrame({name: column, "n": [1, 2]})
    frame.write_parquet(tmp_path / "t.parquet")
    for engine in ("memory", "duckdb", "polars"):
        table = read(tmp_path / "t.parquet", engine=engine)
        assert levels(table, name) == [dt.datetime(1970, 1, 1), LAST]
        assert len(table.notes) == 1
    for native in (frame, frame.lazy(), duckdb.from_arrow(frame.to_arrow()), frame.to_arrow()):
        assert levels(table_of(native, "real"), name) == [dt.datetime(1970, 1, 1), LAST]


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_the_longest_durations_are_read(unit):
    column = pl.Series([2**62, -(2**62), 1]).cast(pl.Duration(unit))
    assert len(levels(table_of(pl.DataFrame({"x": column}), "real"), "x")) == 3


def written(table, folder, form):
    """Write an Arrow table to a file."""
    path = folder / f"t.{form}"
    if form == "parquet":
        try:
            pq.write_table(table, path)
        except pa.ArrowNotImplementedError:
            pytest.skip("this pyarrow cannot write the type")
    elif form == "arrow":
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
    return path


@pytest.mark.slow
def test_no_door_lets_a_panic_out(tmp_path, capfd):
    """Reports, splits and the command line run on a table whose dates end beyond the calendar."""
    base = duckdb.connect()
    paths = []
    for seed, name in enumerate(("real", "synthetic", "holdout")):
        rows = base.sql(
            f"select (i * 7 + {seed}) % 61 as age, case when i % 9 = {seed} then 'infinity'::date when i % 9 = 5 then "
            f"'0044-03-15 (BC)'::date else date '2020-01-01' + (i % (31 + {seed}))::integer end as until, "
            f"(i * {seed + 3}) % 5 as job from range(240) t(i)"
        )
        paths.append(tmp_path / f"{name}.parquet")
        rows.write_parquet(str(paths[-1]))
    real, synthetic, holdout = map(str, paths)
    for engine in ("auto", "duckdb", "polars"):
        assert divulge.infer_schema(opened(real, "real", engine=engine)) is not None
    found, notes = set(), set()
    for engine in ("memory", "duckdb", "polars"):
        tables = [
            opened(p, r, engine=engine) for p, r in ((real, "real"), (synthetic, "synthetic"), (holdout, "holdout"))
        ]
        given = {"holdout": tables[2], "keys": ["age"], "target": "until"}
        found.add(str(divulge.cap(*tables[:2], **given)) + str(divulge.k_anonymity(*tables[:2], keys=["until"])))
        told = divulge.assess(
            real,
            synthetic,
            holdout=holdout,
            keys=["age"],
            targets=["until"],
            engine=engine,
            models=False,
            membership=False,
        ).assessment.notes
        notes.add(tuple(n.replace(f"real: {paths[0].name}: ", "real: ") for n in told if n.startswith("real: ")))
    assert len(found) == 1
    assert len(notes) == 1 and len(*notes) == 2
    assert divulge.copies(real, synthetic, holdout=holdout)
    divulge.fidelity(real, synthetic)
    divulge.split(pl.read_parquet(real), stratify=["until"])
    assert "panicked" not in capfd.readouterr().err


def test_the_command_line_reads_them_and_tells(door, divulge, tmp_path):
    door(moments("TIMESTAMP"), "parquet")
    status, out, err = divulge("schema", tmp_path / "t.parquet")
    assert (status, "until" in out, "panicked" in err) == (0, True, False)


# ---------------------------------------------------------------- types of Arrow


def column_of(kind, values):
    return pa.array(values * 3, kind)


def dictionary(values):
    return pa.DictionaryArray.from_arrays(pa.array([0, 1] * 3, pa.int8()), values)


MONTHS = [pa.MonthDayNano([1, 2, 3000]), pa.MonthDayNano([0, 0, 5000])]
RARE = {
    "decimal256": (column_of(pa.decimal256(50, 2), [D("1.50"), D("2.25")]), [1.5, 2.25]),
    "decimal256 whole": (column_of(pa.decimal256(76, 0), [D(1), D(2)]), [1, 2]),
    "decimal of negative scale": (column_of(pa.decimal128(5, -2), [D(100), D(2200)]), [100, 2200]),
    "interval": (column_of(pa.month_day_nano_interval(), MONTHS), [5, 32 * 86_400_000_000 + 3]),
    "union": (
        pa.UnionArray.from_dense(
            pa.array([0, 1] * 3, pa.int8()), pa.array([0, 0, 1, 1, 2, 2], pa.int32()),
            [pa.array([1, 1, 1]), pa.array(["a", "a", "a"])],
        ),
        ["1", "a"],
    ),
    "run-end encoded": (pa.RunEndEncodedArray.from_arrays(pa.array([3, 6], pa.int32()), pa.array([1, 2])), [1, 2]),
    "half floats": (pa.array(np.array([1.5, 2.5] * 3, np.float16)), [1.5, 2.5]),
    "offset": (column_of(pa.timestamp("us", "+05:30"), [0, 1_000_000]), [dt.datetime(1970, 1, 1), dt.datetime(1970, 1, 1, 0, 0, 1)]),
    "seconds with an offset": (column_of(pa.timestamp("s", "-03:30"), [0, 1]), [dt.datetime(1970, 1, 1), dt.datetime(1970, 1, 1, 0, 0, 1)]),
    "zone": (column_of(pa.timestamp("us", "Europe/Berlin"), [0, 1_000_000]), [dt.datetime(1970, 1, 1), dt.datetime(1970, 1, 1, 0, 0, 1)]),
    "unknown zone": (column_of(pa.timestamp("us", "Mars/Phobos"), [0, 1_000_000]), [dt.datetime(1970, 1, 1), dt.datetime(1970, 1, 1, 0, 0, 1)]),
    "dictionary of offsets": (dictionary(pa.array([0, 1_000_000], pa.timestamp("us", "+05:30"))), [dt.datetime(1970, 1, 1), dt.datetime(1970, 1, 1, 0, 0, 1)]),
    "dictionary of numbers": (dictionary(pa.array([1.5, 2.5])), [1.5, 2.5]),
    "dictionary of lists": (dictionary(pa.array([[1], [2]])), ["[1]", "[2]"]),
    "list views": (column_of(pa.list_view(pa.int32()), [[1], [2]]), ["[1]", "[2]"]),
    "large list views": (column_of(pa.large_list_view(pa.int32()), [[1], [2]]), ["[1]", "[2]"]),
    "map": (column_of(pa.map_(pa.string(), pa.int64()), [[("a", 1)], [("b", 2)]]), None),
    "struct of decimal256": (
        column_of(pa.struct([("a", pa.decimal256(50, 2))]), [{"a": D("1.50")}, {"a": D("2.50")}]),
        ["{'a': Decimal('1.50')}", "{'a': Decimal('2.50')}"],
    ),
    "list of offsets": (column_of(pa.list_(pa.timestamp("us", "+05:30")), [[1], [2]]), None),
    "views": (column_of(pa.string_view(), ["a", "b"]), ["a", "b"]),
    "date64": (column_of(pa.date64(), [dt.date(2020, 1, 1), dt.date(2021, 1, 1)]), [dt.datetime(2020, 1, 1), dt.datetime(2021, 1, 1)]),
    "time32": (column_of(pa.time32("s"), [dt.time(0, 0, 1), dt.time(0, 0, 2)]), [1_000_000, 2_000_000]),
}  # fmt: skip
if hasattr(pa, "json_"):  # pyarrow 19
    RARE |= {
        "uuid": (
            pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"\0" * 16, b"\1" * 16] * 3, pa.binary(16))),
            ["00000000-0000-0000-0000-000000000000", "01010101-0101-0101-0101-010101010101"],
        ),
        "json": (pa.ExtensionArray.from_storage(pa.json_(), pa.array(["1", "[2]"] * 3)), ["1", "[2]"]),
        "bool8": (pa.ExtensionArray.from_storage(pa.bool8(), pa.array([0, 1] * 3, pa.int8())), [False, True]),
    }


@pytest.mark.first(26)
@pytest.mark.parametrize("name", RARE)
@pytest.mark.parametrize("form", ["table", "parquet", "arrow", "stream"])
def test_rare_types_of_arrow_are_read_from_each_form(tmp_path, capfd, name, form):
    column, wanted = RARE[name]
    table = pa.table({"id": range(6), "x": column})
    if form == "table":
        found = table_of(table, "real")
    elif form == "stream":
        path = tmp_path / "t.arrow"
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
            writer.write_table(table)
        found = read(path)
    else:
        try:
            path = written(table, tmp_path, form)
        except (pa.ArrowException, OSError):
            pytest.skip("Parquet has no such type")
        found = read(path)
    seen = pool([found], "x")
    assert seen.counts[0].tolist() == [0, 3, 3]
    assert wanted is None or seen.levels.to_list() == wanted
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    "name", [n for n in ("decimal256", "offset", "dictionary of offsets", "list views", "bool8") if n in RARE]
)
def test_the_engines_count_parquet_of_rare_types_or_name_the_column(tmp_path, capfd, name):
    path = written(pa.table({"id": range(6), "x": RARE[name][0]}), tmp_path, "parquet")
    assert pool([read(path, engine="duckdb")], "x").counts[0].tolist() == [0, 3, 3]
    with pytest.raises(TableError, match=r"real: t.parquet: column 'x' has the type '.*', which polars does not hold"):
        read(path, engine="polars")
    assert capfd.readouterr().err == ""


@pytest.mark.first(8)
@pytest.mark.parametrize("name", RARE)
@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_sizes_and_names_of_rare_files_are_told(tmp_path, capfd, name, form):
    try:
        path = written(pa.table({"id": range(6), "x": RARE[name][0]}), tmp_path, form)
    except (pa.ArrowException, OSError):
        pytest.skip("Parquet has no such type")
    assert size_of(path, "real").rows == 6
    assert columns_in(path) in (("id", "x"), None if form == "arrow" else ("id", "x"))
    assert capfd.readouterr().err == ""


def test_without_pyarrow_a_rare_type_is_not_called_damage_alone(tmp_path, monkeypatch):
    path = written(pa.table({"x": RARE["decimal256"][0]}), tmp_path, "arrow")
    monkeypatch.setattr("divulge.tables.readers.find_spec", lambda name: None)
    monkeypatch.setattr("divulge.tables.arrow_columns.find_spec", lambda name: None)
    with pytest.raises(TableError, match=r"columns of a rare type.*pip install pyarrow"):
        read(path)


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@pytest.mark.parametrize("content", [b"PAR1 secret PAR1", b"ARROW1 secret", b"secret" * 99])
def test_damaged_files_are_called_so_without_a_value(tmp_path, suffix, content):
    path = tmp_path / f"t.{suffix}"
    path.write_bytes(content)
    with pytest.raises(TableError, match="or a damaged one") as caught:
        read(path)
    assert "secret" not in str(caught.value)


# ---------------------------------------------------------------- types of DuckDB

DAY = 86_400_000_000
OF_DUCKDB = {
    "INTERVAL": ("to_days(i)", [0, DAY, 2 * DAY]),
    "INTERVAL of months": ("to_months(i) + interval 1 second", [10**6, 30 * DAY + 10**6, 60 * DAY + 10**6]),
    "UNION": ("(case when i = 0 then 7 else i end)::integer::union(num integer, word varchar)", [1, 2, 7]),
    "BIT": ("i::integer::bit::varchar[-2:]::bit", ["00", "01", "10"]),
    "TIMETZ": ("('0' || i || ':00:00+01')::timetz", [0, 3_600_000_000, 82_800_000_000]),
    "MAP": ("map([i], ['a'])", None),
    "LIST": ("[i]", ["[0]", "[1]", "[2]"]),
    "LIST of INTERVAL": ("[to_days(i)]", None),
    "STRUCT of INTERVAL": ("{'a': to_days(i)}", None),
    "LIST of infinity": ("[case when i = 0 then 'infinity'::date else date '2020-01-01' + i::integer end]", None),
    "STRUCT of infinity": ("{'a': {'b': case when i = 0 then 'infinity'::timestamp else to_timestamp(i)::timestamp end}}", None),
    "ARRAY": ("[i, 1]::bigint[2]", None),
    "STRUCT": ("{'interval': i}", None),
    "ENUM": ("(case when i = 0 then 'BIT' when i = 1 then 'UNION' else 'x' end)::enum('BIT', 'UNION', 'x')", ["BIT", "UNION", "x"]),
    "UUID": ("('00000000-0000-0000-0000-00000000000' || i)::uuid", None),
    "HUGEINT": ("i::hugeint", [0, 1, 2]),
    "UHUGEINT": ("i::uhugeint", [0, 1, 2]),
    "UBIGINT": ("i::ubigint", [0, 1, 2]),
    "UTINYINT": ("i::utinyint", [0, 1, 2]),
    "DECIMAL": ("i::decimal(38, 5)", [0, 1, 2]),
    "FLOAT": ("i::float", [0, 1, 2]),
    "BLOB": ("i::varchar::blob", [0, 1, 2]),
    "TIME": ("make_time(i, 0, 0)", [0, 3_600_000_000, 7_200_000_000]),
    "TIMESTAMP_NS": ("(case when i = 0 then 'infinity' else '2020-01-0' || i end)::timestamp_ns", [dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 2), LAST]),
    "JSON": ("('[' || i || ']')::json", ["[0]", "[1]", "[2]"]),
    "BIGNUM": ("i::bignum", [0, 1, 2]),
    "VARIANT": ("i::variant", [0, 1, 2]),
}  # fmt: skip


@pytest.mark.first(26)
@pytest.mark.parametrize("name", OF_DUCKDB)
@pytest.mark.parametrize("way", ["relation", "file", "counted file"])
def test_types_of_duckdb_are_handed_over(door, capfd, name, way):
    value, wanted = OF_DUCKDB[name]
    query = f"select i, {value} as x from (select i // 2 as i from range(6) t(i))"
    try:
        duckdb.sql(query).limit(0).fetchall()
    except duckdb.Error:
        pytest.skip("this DuckDB has no such type")
    if way == "relation" and name in ("UHUGEINT", "JSON") and pl.__version__ < "1.3":
        pytest.skip("this polars does not take them from a relation")
    found = door(query, way)
    column = pool([found], "x")
    assert column.counts[0].tolist() == [0, 2, 2, 2]
    assert wanted is None or column.levels.to_list() == wanted
    assert capfd.readouterr().err == ""
    months = [note for note in found.notes if "months" in note]
    assert months == (["real: 'x': months of intervals count 30 days each"] if "months" in name else [])


@pytest.mark.parametrize("name", ["parquet", "duckdb on parquet"])
def test_intervals_in_parquet_are_durations(door, capfd, name):
    found = door("select i, to_months(i::integer) + to_days(1) as x from range(3) t(i)", name)
    assert levels(found, "x") == [DAY, 31 * DAY, 61 * DAY]
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "arrows"])
def test_two_columns_of_one_name_in_a_file_are_told(tmp_path, capfd, suffix):
    table = pa.table([pa.array(["x", "y"] * 60), pa.array(range(120))], names=["a", "a"])
    path = tmp_path / f"twice.{suffix.removesuffix('s')}"
    if suffix == "parquet":
        pq.write_table(table, path)
    else:
        with (pa.ipc.new_file if suffix == "arrow" else pa.ipc.new_stream)(str(path), table.schema) as writer:
            writer.write_table(table)
    with pytest.raises(ColumnError, match=r"twice.*: column names that occur twice: 'a'. hint: rename them"):
        read(path)
    for engine in ("polars", "duckdb") if suffix == "parquet" else ():
        with pytest.raises(ColumnError, match=r"twice.*: column names that occur twice: 'a'. hint: rename them"):
            divulge.assess(path, path, path, engine=engine)
    assert capfd.readouterr().err == ""
