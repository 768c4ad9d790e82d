"""Files that are small and make their reader take far more memory, devices and pipes: one sentence before they are read."""

import bz2
import contextlib
import gzip
import io
import os
import struct
import threading
import zipfile
from pathlib import Path

import polars as pl
import pytest
from amount import tries

import divulge
from divulge import cli as command_line
from divulge.core import memory
from divulge.core.errors import SettingError, SizeError, TableError
from divulge.core.memory import Room, beyond_memory
from divulge.tables import excel_sizes
from divulge.tables.excel_sizes import check_excel
from divulge.tables.opening import opened
from divulge.tables.readers import columns_in, read, read_schema
from divulge.tables.sizes import size_of
from divulge.tables.verbatim import open_verbatim

DOORS = {
    "read": read, "opened": lambda path: opened(path, "real"), "size": lambda path: size_of(path, "real"),
    "verbatim": lambda path: open_verbatim(path, ()), "schema": lambda path: divulge.infer_schema(str(path)),
}  # fmt: skip


@pytest.fixture
def little_memory(monkeypatch):
    """As if a file could take a megabyte."""
    monkeypatch.setattr(memory, "room_left", lambda: Room(2 << 20, 0, "a test says so"))
    monkeypatch.setattr(memory, "_LEAST", 1 << 16)


# ---------------------------------------------------------------- Excel


def book(sheet, *more):
    """The bytes of an Excel file with a sheet, as XML."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    package = "http://schemas.openxmlformats.org/package/2006"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types"><Default Extension="xml" ContentType="application/xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" Type="{office}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData>{sheet}</sheetData></worksheet>',
        **dict(more),
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, part in parts.items():
            file.writestr(name, part)
    return out.getvalue()


ONE = '<row r="1"><c r="A1"><v>7</v></c><c r="B1"><v>8</v></c></row>'
WIDE = {
    "a row and a column far away": f'{ONE}<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>',
    "a row far away": f'{ONE}<row r="1048576"><c r="A1048576"><v>1</v></c></row>',
    "other quotation marks": f"{ONE}<row r='1048576'><c r = 'XFD1048576'><v>1</v></c></row>",
    "small letters": f'{ONE}<row r="1"><c r="xfd1048576"><v>1</v></c></row>',
    "the row says something else": f'{ONE}<row r="2"><c r="XFD1048576"><v>1</v></c></row>',
    "a sign within an attribute": f'{ONE}<row r="2"><c s="1>" r="XFD1048576"><v>1</v></c></row>',
    "the column has no name": '<row r="1"><c><v>1</v></c></row><row r="1048576"><c><v>1</v></c></row>',
    "nothing has a name": "<row/>" * 40_000 + "<row><c><v>1</v></c></row>",
    "many cells without a name": "<row/>" * 400 + "<row>" + "<c><v>1</v></c>" * 400 + "</row>",
    "with a prefix": f'{ONE}<x:row r="9"><x:c r="XFD1048576"><x:v>1</x:v></x:c></x:row>',
}


@pytest.mark.parametrize("sheet", WIDE.values(), ids=WIDE)
def test_an_excel_file_that_spans_too_many_cells_is_refused(sheet, tmp_path, little_memory):
    (tmp_path / "t.xlsx").write_bytes(book(sheet))
    for door in DOORS.values():
        with pytest.raises(SizeError, match=r"t.xlsx: to read it takes .* half of the free memory is .*hint: "):
            door(tmp_path / "t.xlsx")


SMALL = {
    "cells that were only formatted": f'{ONE}<row r="2"><c r="A2"><v>1</v></c><c r="XFD2" s="3"/></row><row r="1048576" ht="15"><c r="A1048576" s="1" /></row>',
    "a dimension that says more": f'<dimension ref="A1:XFD1048576"/>{ONE}<row r="2"><c r="A2"><v>1</v></c></row>',
    "no names": "<row><c><v>7</v></c><c><v>8</v></c></row><row><c><v>1</v></c></row>",
}


@pytest.mark.parametrize("sheet", SMALL.values(), ids=SMALL)
def test_cells_without_a_value_count_nothing(sheet, tmp_path, little_memory):
    (tmp_path / "t.xlsx").write_bytes(book(sheet))
    assert read(tmp_path / "t.xlsx").n_rows == 1


def test_a_part_that_unpacks_to_too_much_is_refused_before_it_is_unpacked(little_memory, monkeypatch):
    monkeypatch.setattr(zipfile.ZipFile, "read", lambda *_: pytest.fail("it was unpacked"))
    with pytest.raises(SizeError):
        check_excel(book(ONE, ("xl/sharedStrings.xml", " " * (3 << 20))), "t")


def test_other_forms_of_books_are_no_excel_files(tmp_path):
    for name in ("content.xml", "xl/workbook.bin"):
        with pytest.raises(TableError, match=r"not an Excel file, or a damaged one"):
            check_excel(book(ONE, (name, "")), "t")


def compound(records):
    """The bytes of a .xls file: a header, a table of sectors, a directory and the workbook."""
    stream = b"".join(struct.pack("<HH", kind, len(body)) + body for kind, body in records).ljust(4096, b"\0")
    n = len(stream) // 512
    header = bytearray(512)
    header[:8] = excel_sizes._OLE
    struct.pack_into("<H", header, 30, 9)
    struct.pack_into("<IIIIII", header, 44, 1, 1, 0, 4096, 0xFFFFFFFE, 0)
    struct.pack_into("<II", header, 68, 0xFFFFFFFE, 0)
    struct.pack_into("<109I", header, 76, 0, *[0xFFFFFFFF] * 108)
    table = [0xFFFFFFFD, 0xFFFFFFFE, *range(3, n + 2), 0xFFFFFFFE]
    table += [0xFFFFFFFF] * (128 - len(table))
    entry = bytearray(128)
    name = "Workbook\0".encode("utf-16-le")
    entry[: len(name)], entry[64] = name, len(name)
    struct.pack_into("<II", entry, 116, 2, len(stream))
    return bytes(header) + struct.pack("<128I", *table) + bytes(128) + bytes(entry) + bytes(256) + stream


@pytest.mark.parametrize(
    "record", [(0x203, struct.pack("<HHHd", 65535, 9000, 0, 1.0)), (0xBD, struct.pack("<HHHIH", 65535, 0, 0, 1, 9000))]
)
def test_an_old_excel_file_that_spans_too_many_cells_is_refused(record, tmp_path, little_memory):
    first = (0x203, struct.pack("<HHHd", 0, 0, 0, 1.0))
    check_excel(compound([(0x809, bytes(16)), first]), "t")
    (tmp_path / "t.xls").write_bytes(compound([(0x809, bytes(16)), first, record]))
    with pytest.raises(SizeError):
        read(tmp_path / "t.xls")


def test_the_sizes_of_old_excel_files_are_those_that_the_reader_finds():
    import fastexcel
    import statsmodels

    files = [p for p in Path(statsmodels.__file__).parent.rglob("macrodata*.xls") if p.is_file()]
    if not files:
        pytest.skip("statsmodels came without its sources")
    data = files[0].read_bytes()
    there = fastexcel.read_excel(data)
    sheets = [there.load_sheet(name, header_row=None).to_polars().shape for name in there.sheet_names]
    assert {r * c for r, c in sheets} <= set(excel_sizes._of_old(excel_sizes._stream(data)))


@pytest.mark.parametrize("seed", range(20))
def test_a_damaged_old_excel_file_is_told(seed, tmp_path):
    import random

    r, whole = (
        random.Random(seed),
        bytearray(compound([(0x809, bytes(16)), (0x203, struct.pack("<HHHd", 0, 0, 0, 1.0))])),
    )
    for _ in range(4):
        whole[r.randrange(8, 1500)] = r.randrange(256)
    (tmp_path / "t.xls").write_bytes(whole[: r.choice([600, 1500, len(whole)])])
    with pytest.raises((TableError, SizeError), match=r"t\.xls"):
        read(tmp_path / "t.xls")


# ---------------------------------------------------------------- sizes, devices and pipes


def large(suffix, tmp_path):
    """A small file whose table takes more than a megabyte."""
    path = tmp_path / f"t{suffix}"
    frame = pl.DataFrame({"a": [1] * 300_000, "b": [2.5] * 300_000})
    if suffix == ".parquet":
        frame.write_parquet(path)
    elif suffix == ".arrow":
        frame.write_ipc(path, compression="zstd")
    else:
        text = b"a,b\n" + b"1,2\n" * 400_000
        path.write_bytes({".csv": bytes, ".csv.gz": gzip.compress, ".csv.bz2": bz2.compress}[suffix](text))
    return path


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".csv.bz2", ".parquet", ".arrow"])
def test_a_table_above_half_of_the_free_memory_is_refused_unless_it_is_allowed(suffix, tmp_path, little_memory):
    path = large(suffix, tmp_path)
    with pytest.raises((SizeError, TableError), match=r"half of the free memory|for which there is no memory"):
        read(path)
    with beyond_memory():
        assert read(path).n_rows >= 300_000
    with pytest.raises((SizeError, TableError)):
        read(path)


def test_the_option_lets_every_command_read_such_a_table(tmp_path, little_memory, monkeypatch, capsys):
    path = large(".parquet", tmp_path)
    for words, status in (([], 2), (["--beyond-memory"], 0), ([], 2)):
        monkeypatch.setattr("sys.argv", ["divulge", "schema", str(path), *words])
        with pytest.raises(SystemExit) as ended:
            command_line.main()
        assert (ended.value.code or 0) == status
        assert ("--beyond-memory" in capsys.readouterr().err) == bool(status)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs a file without an end")
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".json", ".parquet", ".arrow", ".xlsx"])
@pytest.mark.parametrize("door", DOORS)
def test_a_device_is_no_table(door, suffix, tmp_path):
    (tmp_path / f"t{suffix}").symlink_to("/dev/zero")
    with pytest.raises(TableError, match=r"a device is no table. hint: "):
        DOORS[door](tmp_path / f"t{suffix}")
    assert columns_in(tmp_path / f"t{suffix}") is None


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs a file without an end")
@pytest.mark.parametrize("engine", ["duckdb", "polars"])
def test_a_device_is_no_table_of_an_engine(engine, tmp_path):
    (tmp_path / "t.parquet").symlink_to("/dev/zero")
    with pytest.raises(TableError, match=r"t.parquet: no file, and .* counts files"):
        read(tmp_path / "t.parquet", engine=engine)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs a file without an end")
@pytest.mark.parametrize("suffix", [".toml", ".json"])
def test_a_schema_has_a_largest_size(suffix, tmp_path, monkeypatch):
    from divulge.tables import readers

    monkeypatch.setattr(readers, "_LARGEST_SCHEMA", 1)
    (tmp_path / f"s{suffix}").symlink_to("/dev/zero")
    with pytest.raises(SettingError, match="larger than 1 MB"):
        read_schema(tmp_path / f"s{suffix}")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize(("n", "fits"), [(3, True), (400_000, False)])
def test_a_pipe_is_read_up_to_the_largest_size(n, fits, tmp_path, little_memory):
    os.mkfifo(tmp_path / "t.csv")

    def write():
        with contextlib.suppress(BrokenPipeError):
            (tmp_path / "t.csv").write_bytes(b"a,b\n" + b"1,2\n" * n)

    assert size_of(tmp_path / "t.csv", "real") is None and columns_in(tmp_path / "t.csv") is None
    writer = threading.Thread(target=write)
    writer.start()
    if fits:
        assert read(tmp_path / "t.csv").n_rows == n
    else:
        with pytest.raises(SizeError):
            read(tmp_path / "t.csv")
    writer.join()


# ---------------------------------------------------------------- damaged files


def whole(suffix, tmp_path):
    """The bytes of a file of some pages and batches."""
    frame = pl.DataFrame(
        {
            "a": [i % 17 for i in range(9000)],
            "b": [i * i % 101 for i in range(9000)],
            "c": [f"v{i % 7}" for i in range(9000)],
        }
    )
    path = tmp_path / f"good{suffix}"
    if suffix == ".parquet":
        frame.write_parquet(path, row_group_size=3000)
    else:
        (frame.write_ipc if suffix == ".arrow" else frame.write_ipc_stream)(path)
    return path.read_bytes()


ENGINE_DOORS = {
    engine: lambda path, engine=engine: opened(path, "real", engine=engine).counting.values("c0")
    for engine in ("duckdb", "polars")
}


@pytest.mark.first(1)
@pytest.mark.parametrize("first", range(0, 200, 20))
@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".feather"])
def test_a_damaged_file_is_read_or_told_at_every_door(suffix, first, tmp_path):
    import random

    good, path = whole(suffix, tmp_path), tmp_path / f"t{suffix}"
    for seed in range(first, first + tries(20, 4)):
        r, damaged = random.Random(seed), bytearray(good)
        start, end = r.choice([(4, len(good)), (4, 2000), (len(good) - 400, len(good))])
        for _ in range(r.choice([1, 1, 4])):
            damaged[r.randrange(start, end)] ^= 1 << r.randrange(8)
        path.write_bytes(damaged)
        for door in (DOORS | (ENGINE_DOORS if suffix == ".parquet" else {})).values():
            with contextlib.suppress(divulge.DivulgeError):
                door(path)


@pytest.mark.parametrize("suffix", [".arrow", ".feather"])
def test_a_place_of_a_text_that_is_not_in_the_file_is_told(suffix, tmp_path):
    # polars looks there, wherever that is
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"a": pa.array(["one", "two", "three", "four"] * 9)})
    offsets = table["a"].chunk(0).buffers()[1].to_pybytes()
    out = io.BytesIO()
    with (pa.ipc.new_file if suffix == ".arrow" else pa.ipc.new_stream)(out, table.schema) as file:
        file.write_table(table)
    data = out.getvalue()
    assert data.count(offsets) == 1
    (tmp_path / f"t{suffix}").write_bytes(data.replace(offsets, offsets[:8] + struct.pack("<i", 2**30) + offsets[12:]))
    for door in DOORS.values():
        with pytest.raises(TableError, match=r"not a Arrow|not an? Arrow \(Feather\) file, or a damaged one"):
            door(tmp_path / f"t{suffix}")
