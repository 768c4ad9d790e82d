"""Files that people and their programs lay out: blanks, titles, comments, footers, sheets, compression, JSON."""

import bz2
import gzip
import io
import json
import lzma
import zipfile
from datetime import date

import polars as pl
import pytest

from divulge import read as public_read
from divulge.core.errors import ColumnError, FrameError, TableError
from divulge.report.external.masking import Names
from divulge.run.splitting.holdout_files import split_file
from divulge.tables import packed_files
from divulge.tables.folders import table_files
from divulge.tables.readers import columns_in, read
from divulge.tables.sizes import size_of


@pytest.fixture
def write(tmp_path):
    """Write text or bytes to a file and return its path."""

    def writer(content, name="t.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return writer


def rows(table):
    return [list(row) for row in table.frame.rows()]


def notes(table):
    return [note.removeprefix("real: t.csv: ") for note in table.notes]


# ---------------------------------------------------------------- blanks around separators

PLAIN = "age{0}job{0}born{0}ok\n39{0}cook{0}2020-01-01{0}true\n50{0}{0}2020-01-02{0}false\n"
PADDED = "blanks around the separator were left out"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("padded", [", ", " ,", " , ", "; ", "\t ", " \t", "| ", ",\t", ",  "])
def test_blanks_around_the_separator_change_nothing(write, padded, end):
    text = PLAIN.replace("\n", end)
    plain = read(write(text.format(padded.strip(" ") if "," not in padded else ","), "plain.csv"))
    path = write(text.format(padded))
    found = read(path)
    assert found.frame.equals(plain.frame)
    assert found.columns == plain.columns == columns_in(path)
    assert notes(found) == [PADDED]


def test_a_header_without_blanks_may_stand_above_rows_with_them(write):
    assert rows(read(write("age,job\n39, State-gov\n50, Private\n"))) == [[39, "State-gov"], [50, "Private"]]


def test_blanks_inside_quotation_marks_stay(write):
    found = read(write('"age", "job, now"\n39, "a, b "\n50, " ""c"""\n'))
    assert (found.columns, rows(found)) == (("age", "job, now"), [[39, "a, b "], [50, ' "c"']])


def test_a_blank_at_the_end_of_a_line_may_be_missing(write):
    assert rows(read(write("age, job\n39,\n50, y\n"))) == [[39, None], [50, "y"]]


@pytest.mark.parametrize("text", ["a,b\n1,x y\n2, z\n", "T Stage , b\n1,2\n", "a,b\n1,\n2,\n", "a\n x\n y\n"])
def test_blanks_beside_some_separators_only_are_kept(write, text):
    assert notes(read(write(text))) == []


def test_parts_of_a_file_with_blanks_are_written_without_them(write, tmp_path):
    path = write("age, job\n" + "".join(f"{i}, x{i}\n" for i in range(20)))
    _, real, _ = split_file(path, tmp_path / "out")
    assert real.read_text().splitlines()[0] == "age,job"
    assert read(real).columns == ("age", "job")


# ---------------------------------------------------------------- what stands above the header


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", "^"])
@pytest.mark.parametrize("line", ["sep={}", "SEP={}", '"sep={}"', "sep={}\r"])
def test_the_separator_that_excel_is_told_is_obeyed(write, separator, line):
    path = write(f"{line.format(separator)}\na{separator}b\n1{separator}x\n")
    assert (read(path).columns, rows(read(path))) == (("a", "b"), [[1, "x"]])
    assert columns_in(path) == ("a", "b")


def test_one_column_may_hold_other_separators_under_the_one_that_is_told(write):
    assert rows(read(write("sep=;\nplace\nHere, there\nA, B\n"))) == [["Here, there"], ["A, B"]]


@pytest.mark.parametrize(
    ("above", "n"), [("# by Ann\n", 1), ("# by, Ann\n#\n", 2), ("#one\n#two, 3\n\n", 2), ('# an "open mark\n', 1)]
)
def test_comments_above_the_header_are_passed_over_and_told(write, above, n):
    path = write(above + "age,job\n30,cook\n41,smith\n")
    assert rows(read(path)) == [[30, "cook"], [41, "smith"]]
    lines = "1 line that begins with # was" if n == 1 else f"{n} lines that begin with # were"
    assert notes(read(path)) == [f"{lines} passed over above the header"]
    assert columns_in(path) == ("age", "job")


@pytest.mark.parametrize("header", ["#id,b", "# id,b", "#id,2b"])
def test_a_header_may_begin_with_the_sign_of_comments(write, header):
    assert read(write(f"{header}\n1,x\n2,y\n")).columns == tuple(header.split(","))
    assert read(write(f"##meta, a, b, c\n{header}\n1,x\n2,y\n")).columns == tuple(header.split(","))


@pytest.mark.parametrize(
    ("above", "line"),
    [
        ("Survey of 2020\n", 2),
        ("Survey of 2020\n\nby Ann\n\n", 5),
        ("Survey of 2020,,,\n", 2),
        ("Survey, wave 2\n", 2),
        ('"Survey, wave 2"\n', 2),
        (",,,\nSurvey,,,\n", 3),
        ("Made by,Ann,,\n", 2),
        ("Survey of 2020\nSet: , people\nMade:,2020\n\n", 5),
        ('"Source","Ann",,\n\n"Made on","2024-01-01",,\n\n', 5),
    ],
)
def test_the_header_is_found_below_titles_and_its_line_is_told(write, above, line):
    path = write(above + "age,job,pay,born\n30,cook,9,2020-01-01\n41,smith,8,2020-01-02\n")
    assert read(path).columns == ("age", "job", "pay", "born") == columns_in(path)
    assert read(path).n_rows == 2
    assert notes(read(path))[0].startswith(f"the header was taken from line {line}: ")


@pytest.mark.parametrize(
    "text",
    [
        '"x"\n"r1","abc"\n"r2","def"\n',  # R writes no name above the names of rows
        "a,b\nr1,1,2\nr2,3,4\n",
        "comment\nhello, world\nfoo, bar\n",
        "x\n1,2\n3,4\n",
    ],
)
def test_a_line_of_data_is_not_taken_for_a_header(write, text):
    with pytest.raises(TableError, match="lines with another number of fields") as caught:
        read(write(text))
    assert "abc" not in str(caught.value)
    assert "hello" not in str(caught.value)


def test_a_header_that_lacks_a_name_is_no_title(write):
    assert read(write(",a,b\nr1,1,x\nr2,2,y\n")).columns == ("Unnamed: 0", "a", "b")


# ---------------------------------------------------------------- separators at the ends of lines


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("a,b,\n1,x,\n2,y,\n", "all lines end in a separator, which was left out"),
        ("a;b;\r\n1;x;\r\n2;y;\r\n", "all lines end in a separator, which was left out"),
        ('"a","b",\n"1","x",\n"2","y",\n', "all lines end in a separator, which was left out"),
        ("a,b\n1,x,\n2,y,\n", "all lines but the header end in a separator, which was left out"),
        ("a,b,\n1,x\n2,y\n", "the header ends in a separator, which was left out"),
        ("a,b,,,\n1,x,,,\n2,y,,,\n", "all lines end in 3 separators, which were left out"),
    ],
)
def test_a_separator_at_the_ends_of_lines_makes_no_column(write, text, note):
    path = write(text)
    found = read(path)
    assert (found.columns, rows(found), notes(found)) == (("a", "b"), [[1, "x"], [2, "y"]], [note])


def test_a_last_column_without_a_name_that_has_a_value_stays(write):
    assert rows(read(write("a,b,\n1,2,x\n3,4,\n"))) == [[1, 2, "x"], [3, 4, None]]
    assert rows(read(write("a,b,\n1,2,\n3,4,x\n"))) == [[1, 2, None], [3, 4, "x"]]


def test_several_columns_without_names_that_have_a_value_are_an_error(write):
    with pytest.raises(ColumnError, match="names that occur twice in the header: ''"):  # or a title is above
        read(write("a,b,,\n1,x,,\n2,y,,z\n"))


def test_lines_that_end_in_a_separator_now_and_then_are_an_error(write):
    with pytest.raises(TableError, match=r"line 3 has 2.*some lines end in a separator and others do not"):
        read(write("a,b\n1,2,\n3,4\n"))


def test_parts_of_a_file_with_a_last_separator_can_be_read(write, tmp_path):
    path = write("a,b,\n" + "".join(f"{i},x{i},\n" for i in range(20)))
    _, real, _ = split_file(path, tmp_path / "out")
    assert read(real).columns == ("a", "b")


# ---------------------------------------------------------------- footers

FOOTER = "the last row (line 4) has one filled cell of 3 at most: if it is a footer, take it out, since it counts as a "


def test_a_footer_is_told_with_its_line_and_stays(write):
    found = read(write("a,b,c\n1,2,3\n4,5,6\nSource: somewhere,,\n"))
    assert (found.n_rows, notes(found)) == (3, [FOOTER + "record"])


def test_blank_rows_above_a_footer_belong_to_it(write):
    (note,) = notes(read(write("a,b,c\n1,2,3\n4,5,6\n,,\nSource,,\nNote,,\n")))
    assert note.startswith("the last 3 rows (up to line 6) have one filled cell of 3 at most: ")


@pytest.mark.parametrize("word", ["Total", "TOTAL:", "Summe", "gesamt", "Grand total", '"Sum"', " Overall "])
def test_a_row_of_sums_is_told(write, word):
    (note,) = notes(read(write(f"a,b\nx,2\ny,5\n{word},7\n")))
    assert note.startswith("the last row (line 4) begins with a word for a sum")


@pytest.mark.parametrize(
    "text",
    ["a,b,c\n1,,\n2,5,\n4,,\n", "a,b\nx,1\ny,\n", "a,b,c\n1,2,3\n4,5,\n", "a,b\nx,1\nsummer,2\n", "a,b,c\n1,,\n"],
)
def test_a_row_with_missing_values_is_no_footer(write, text):
    assert notes(read(write(text))) == []


@pytest.mark.parametrize(
    ("end", "hint"),
    [("Source: me", "if the last lines are a footer"), ("# end", "take out the lines that begin with #")],
)
def test_a_footer_without_separators_is_an_error_that_says_so(write, end, hint):
    with pytest.raises(TableError, match=f"line 4 has 1. hint: {hint}"):
        read(write(f"a,b,c\n1,2,3\n4,5,6\n{end}\n"))


def test_what_holds_of_all_files_of_a_folder_is_told_once(tmp_path):
    for i in range(12):
        (tmp_path / f"{i:02}.csv").write_text(f"a, b\n{i}, x\n")
    assert read(tmp_path).notes == (
        f"real: 00.csv: {PADDED} (and so of 11 more files)",
        "real: 12 files were read as one table",
    )


# ---------------------------------------------------------------- Excel

SHEET = [["age", "sex", "when"], *([30 + i, "f", date(2020, 1, 1 + i)] for i in range(4))]
NOTHING = [None] * 3


@pytest.fixture
def book(tmp_path):
    """Write sheets of rows, and return the path of the file."""
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("fastexcel")

    def writer(merged=None, **sheets):
        out = openpyxl.Workbook()
        out.remove(out.active)
        for name, cells in sheets.items():
            sheet = out.create_sheet(name.replace("_", " "))
            for i, row in enumerate(cells, 1):
                for j, value in enumerate(row, 1):
                    sheet.cell(i, j, value)
            if merged:
                sheet.merge_cells(merged)
        path = tmp_path / "t.xlsx"
        out.save(path)
        return path

    return writer


def told(table):
    return [note.removeprefix("real: t.xlsx: ") for note in table.notes]


@pytest.mark.parametrize(
    ("above", "row"),
    [
        ([["Report"]], 2),
        ([["Report"], NOTHING], 3),
        ([["Report"], NOTHING, ["Made by", "Ann"]], 4),
        ([["Report", None, 2020]], 2),
        ([NOTHING, [None, "Report"]], 3),
    ],
)
@pytest.mark.parametrize("left", [0, 1])
def test_the_header_of_a_sheet_is_found_below_titles(book, above, row, left):
    cells = [[None] * left + r for r in above + SHEET]
    found = read(book(Data=cells))
    assert (found.columns, found.n_rows) == (("age", "sex", "when"), 4)
    assert [str(d) for d in found.frame.dtypes] == ["Int64", "String", "Date"]
    assert told(found)[0].startswith(f"the header was taken from row {row}: ")


def test_a_title_in_merged_cells_is_passed_over(book):
    found = read(book(merged="A1:C1", Data=[["Report"], *SHEET]))
    assert (found.columns, found.n_rows) == (("age", "sex", "when"), 4)


def test_names_of_groups_above_the_names_of_columns_are_passed_over(book):
    cells = [["Person", None, "Visit", None], ["age", "sex", "when", "why"], [1, "f", 2, "x"], [2, "m", 3, "y"]]
    assert read(book(Data=cells)).columns == ("age", "sex", "when", "why")


def test_years_may_be_names_below_a_title(book):
    cells = [["Sales"], ["name", 2019, 2020], ["x", 10, 11], ["y", 13, 14]]
    assert read(book(Data=cells)).columns == ("name", "2019", "2020")


@pytest.mark.parametrize(
    "cells",
    [SHEET, [NOTHING, NOTHING, *SHEET], [SHEET[0], NOTHING, *SHEET[1:]], [["x"], [1], [2]], [[2019, 2020], [1, 2]]],
)
def test_a_sheet_without_a_title_is_read_without_a_note(book, cells):
    assert told(read(book(Data=cells))) == []


def test_two_names_that_are_empty_are_an_error_about_names(book):
    with pytest.raises(ColumnError, match=r"''. hint: name all columns, and take out what stands above the header"):
        read(book(Data=[["Report", None, None], [1, 2, 3], [4, 5, 6]]))


@pytest.mark.parametrize("cover", [[["Hello"], NOTHING, ["World"]], [], [NOTHING, [None, "x"]]])
def test_a_cover_sheet_is_passed_over_and_the_sheet_is_named(book, cover):
    found = read(book(Cover=cover, Data=SHEET, More=SHEET))
    assert (found.columns, told(found)) == (("age", "sex", "when"), ["sheet 2 of 3 was read, 'Data'"])


@pytest.mark.parametrize("name", ["Wave 2", "wave 2", "2"])
def test_a_sheet_can_be_named(book, name):
    path = book(Data=SHEET, Wave_2=SHEET[:3])
    found = read(f"{path}::{name}")
    assert (found.n_rows, found.notes) == (2, ())
    assert columns_in(f"{path}::{name}") is None
    assert size_of(f"{path}::{name}", "real").rows == 2
    assert table_files([f"{path}::{name}"]).keys() == {name}


def test_a_number_may_be_the_name_of_a_sheet(book):
    path = book(**{"2": SHEET[:3], "1": SHEET})
    assert read(f"{path}::2").n_rows == 2


def test_an_unknown_sheet_is_an_error_that_names_the_others(book):
    with pytest.raises(TableError, match=r"real: t.xlsx: there is no sheet 'X\?'. hint: it has 'Cover', 'Data'."):
        read(f"{book(Cover=[['x']], Data=SHEET)}::X?")
    with pytest.raises(TableError, match="the sheet 'Cover' is empty"):
        read(f"{book(Cover=[], Data=SHEET)}::Cover")


@pytest.mark.slow
def test_the_command_line_and_attacks_take_sheets(book, tmp_path, divulge):
    path = book(Real=SHEET, Made=SHEET)
    status, out, _ = divulge("schema", f"{path}::Made")
    assert (status, "age" in out) == (0, True)
    status, out, err = divulge("assess", f"{path}::Real", f"{path}::Made", "--out", tmp_path / "report")
    assert "report" in out + err
    assert status in (0, 1), err
    _, real, _ = split_file(f"{path}::Real", tmp_path / "out", kind="csv")
    assert read(real).columns == ("age", "sex", "when")


def test_the_footer_of_a_sheet_is_told_with_its_row(book):
    found = read(book(Data=[["Report"], *SHEET, NOTHING, ["Source: somewhere"]]))
    assert found.n_rows == 6
    assert told(found)[1].startswith("the last 2 rows (up to row 8) have one filled cell of 3 at most")
    assert "somewhere" not in str(told(found))
    (note,) = told(read(book(Data=[*SHEET, ["Total", 4, None]])))
    assert note.startswith("the last row (row 6) begins with a word for a sum")


# ---------------------------------------------------------------- compressed files

CSV = b"age,job\n30,cook\n41,smith\n"


def zipped(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            # of one time: bytes in the name of a test are to be the same in all of its processes
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def zstandard(content):
    pa = pytest.importorskip("pyarrow")
    out = pa.BufferOutputStream()
    with pa.CompressedOutputStream(out, "zstd") as stream:
        stream.write(content)
    return out.getvalue().to_pybytes()


PACK = {
    "t.csv.gz": gzip.compress, "t.csv.bz2": bz2.compress, "t.csv.xz": lzma.compress, "t.csv.zst": zstandard,
    "t.csv.zip": lambda c: zipped({"t.csv": c}), "t.zip": lambda c: zipped({"a/": b"", "a/T.CSV": c, "__MACOSX/x": b""}),
}  # fmt: skip


@pytest.mark.parametrize("name", PACK)
def test_compressed_files_are_read(write, name):
    path = write(PACK[name](CSV), name)
    assert rows(read(path)) == [[30, "cook"], [41, "smith"]]
    assert size_of(path, "real").rows == 2


@pytest.mark.slow
@pytest.mark.parametrize("name", PACK)
def test_large_compressed_files_are_sized_by_their_heads(write, name):
    text = b"age,job\n" + b"".join(b"%d,%d\n" % (i, i * 7919 % 100_003) for i in range(200_000))
    found = size_of(write(PACK[name](text), name), "real")
    assert not found.exact
    assert 100_000 < found.rows < 400_000


@pytest.mark.parametrize("name", PACK)
def test_damaged_compressed_files_are_an_error(write, name):
    content = PACK[name](CSV * 1000)
    with pytest.raises(TableError, match=r"cut off or damaged|compress it again"):
        read(write(content[: len(content) // 2], name))
    with pytest.raises(TableError, match="real: "):
        read(write(CSV, name))


@pytest.mark.parametrize(("files", "what"), [({}, "no file"), ({"a.csv": CSV, "b.csv": CSV}, "2 files")])
def test_a_zip_file_has_one_file_inside(write, files, what):
    with pytest.raises(TableError, match=f"real: t.zip: the zip file has {what} inside, not one"):
        read(write(zipped(files), "t.zip"))


def test_the_file_inside_zip_must_be_of_a_known_kind(write):
    with pytest.raises(TableError, match=r"the suffix of the file inside \('.sav'\) is not known. hint: write a"):
        read(write(zipped({"a.sav": CSV}), "t.zip"))


@pytest.mark.parametrize("name", PACK)
def test_what_unpacks_to_far_more_than_it_should_is_refused(write, name, monkeypatch):
    monkeypatch.setattr(packed_files, "_LEAST", 1 << 16)
    monkeypatch.setattr(packed_files, "_RATIO", 4)
    monkeypatch.setattr(packed_files, "_STEP", 1 << 12)
    with pytest.raises(TableError, match="it unpacks to more than"):
        read(write(PACK[name](b"a,b\n" + b"0,0\n" * 100_000), name))


@pytest.mark.slow
def test_a_bomb_is_not_unpacked(write):
    bomb = bz2.compress(bytes(1 << 20)) * 2000  # 2 GB in 90 kB
    with pytest.raises(TableError, match="it unpacks to more than"):
        read(write(bomb, "t.csv.bz2"))


def test_zstandard_without_a_package_says_what_to_install(write, monkeypatch):
    path = write(zstandard(CSV), "t.csv.zst")
    for name in ("pyarrow", "zstandard", "compression.zstd", "compression"):
        monkeypatch.setitem(__import__("sys").modules, name, None)
    with pytest.raises(FrameError, match="pip install zstandard"):
        read(path)


# ---------------------------------------------------------------- JSON

RECORDS = [{"age": 30, "job": "cook"}, {"age": 41.5, "job": None, "more": True}]
LINES = "\n".join(map(json.dumps, RECORDS))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (LINES, "t.jsonl"), (LINES + "\n\n", "t.ndjson"), (json.dumps(RECORDS), "t.json"), (LINES, "t.json"),
        (json.dumps(RECORDS, indent=2), "t.json"), ("\ufeff" + json.dumps(RECORDS), "t.json"),
        (gzip.compress(LINES.encode(), mtime=0), "t.jsonl.gz"), (zipped({"x.json": json.dumps(RECORDS)}), "t.zip"),
    ],
)  # fmt: skip
def test_json_records_are_read(write, text, name):
    found = read(write(text, name))
    assert found.columns == ("age", "job", "more")
    assert rows(found) == [[30.0, "cook", None], [41.5, None, True]]


@pytest.mark.parametrize(
    "text",
    [
        '{"age": {"0": 30}, "job": {"0": "secret"}}', '{"age": [30, 41], "job": ["secret", "b"]}', "[1, 2]", '"secret"',
        '[{"age": "secret"', "[[1, 2], [3, 4]]", "{", "[]", "[{}]", "  ", '[{"a": NaN}]', "\x00",
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["t.json", "t.jsonl"])
def test_json_that_is_no_records_is_an_error_without_a_value(write, text, name):
    with pytest.raises(TableError, match=r"real: t\.json") as caught:
        read(write(text, name))
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("suffix", [".jsonl", ".json"])
def test_parts_of_json_are_json(write, tmp_path, suffix):
    path = write("\n".join(json.dumps({"age": i, "job": f"x{i}"}) for i in range(20)), f"t{suffix}")
    _, real, holdout = split_file(path, tmp_path / "out")
    assert real.suffix == suffix
    assert sorted(read(real).named()["age"].to_list() + read(holdout).named()["age"].to_list()) == list(range(20))


def test_json_lines_in_a_folder_are_a_table_and_metadata_are_none(tmp_path):
    (tmp_path / "a.jsonl").write_text(LINES)
    (tmp_path / "metadata.json").write_text("{}")
    assert read(tmp_path).n_rows == 2


# ---------------------------------------------------------------- all files


def test_a_table_tells_how_many_rows_it_has(write):
    assert len(read(write("a\n1\n2\n3\n"))) == len(public_read(write("a\n1\n2\n3\n"))) == 3
    assert len(read(write(LINES, "t.jsonl"))) == 2


def test_a_regular_file_is_not_looked_at_twice(write, monkeypatch):
    """The layout is read from the first lines; the rest is parsed as it is."""
    text = b"a,b\n" + b"1,x\n" * 100_000
    seen = []
    usual = pl.read_csv
    monkeypatch.setattr(
        "divulge.tables.csv_files.pl.read_csv", lambda body, **k: (seen.append(body), usual(body, **k))[1]
    )
    assert read(write(text)).n_rows == 100_000
    assert seen == [text[4:-1]]


def test_an_external_edition_names_no_sheet():
    note = "real: book.xlsx: sheet 2 of 3 was read, 'HIV clinic'"
    for reveal in (True, False):
        assert "HIV" not in Names.of(["age"], reveal=reveal).note(note)


# ---------------------------------------------------------------- no header

HEADERLESS = {
    "numbers that stand twice": "20,1,0,27,1\n52,0,0,19,0\n17,1,1,40,1\n",
    "numbers and texts": "P17;49;24;163,0;Elm 32\nP18;51;70;166,8;Elm 7\nP19;47;23;169,7;Oak 9\nP20;60;90;120,7;Oak 1\n",
    "dates": "ann,2001-02-03\nbob,2004-05-06\n",
    "texts that occur below": "yes,Post,cook\nno,Pre,cook\nyes,Post,bus\n",
    "texts of which two are the same": "yes,Post,yes\nno,Pre,yes\nyes,Post,no\n",
    "one column": "7\n3\n9\n7\n",
}


@pytest.mark.parametrize("text", HEADERLESS.values(), ids=HEADERLESS)
@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_a_first_line_of_data_is_no_header_and_is_not_shown(write, book, suffix, text):
    separator = ";" if ";" in text else ","
    cells = [line.split(separator) for line in text.splitlines()]
    path = write(text) if suffix == "csv" else book(Data=[[_number(c) for c in row] for row in cells])
    line = "the first line " if suffix == "csv" else "row 1 "
    with pytest.raises(TableError, match=f"{line}looks like data: is the header missing") as caught:
        read(path)
    assert not any(cell in str(caught.value) for cell in cells[-1] + cells[0] if len(cell) > 2)
    assert columns_in(path) is None  # a run then reads the file, and says so, before it names columns


def _number(cell):
    return float(cell) if cell.replace(".", "").isdigit() and not cell.startswith("0.") else cell


NUMBERED = {
    "years": "country,2019,2020,2021\nA,2,2020,7\nB,4,1,2500\nC,1,9,9\n",
    "years with gaps": "2001,2011,2021\n5,2,7000\n4,9,1\n3000,5,5\n",
    "names of pandas": "0,1,2\n4,1,0\n0,3,2\n9,-1,5\n",
    "items with answers from 1 to 5": "1,2,3,4,5\n5,2,1,4,5\n1,3,3,2,4\n",
    "years from the last on": "2021,2020,2019\n5,2,7\n4,2020,1\n",
    "wave lengths": "400.5,402,404.25\n0.1,0.2,900\n700,0.3,0.2\n",
    "numbers of genes": "sample,7157,672,1956\ns1,0.5,1.5,9\ns2,12.5,0.1,4\n",
    "one word that occurs below": "female,age,job\nfemale,30,cook\nmale,41,bus\n",
    "groups of ages": "town,0-17,18-64\nA,5,7\nB,3,9\n",
    "days": "town,2020-01-01,2020-01-02\nA,5,7\nB,3,9\n",
}


@pytest.mark.parametrize("text", NUMBERED.values(), ids=NUMBERED)
@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_names_that_are_numbers_or_dates_stay_names(write, book, suffix, text):
    cells = [line.split(",") for line in text.splitlines()]
    path = write(text) if suffix == "csv" else book(Data=cells)
    assert read(path).columns == tuple(cells[0])


@pytest.mark.parametrize(
    "text",
    [
        "apples,pears,plums\napples,,plums\n,pears,\napples,pears,\n",
        "name,job,town\nann,cook,rome\nname,job,town\nbob,smith,oslo\n",
    ],
    ids=["ticked answers", "a header that is repeated"],
)
def test_headers_that_occur_in_their_columns_may_be_headers(text, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(text)
    assert list(read(path).columns) == list(text.splitlines()[0].split(","))


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("t.sav", "pyreadstat.read_sav(file)"),
        ("t.DTA", "haven::read_dta(file)"),
        ("t.sas7bdat", "haven::read_sas(file)"),
        ("t.rds", "write.csv(readRDS(file)"),
        ("t.RData", "after load(file)"),
        ("t.sqlite", "sqlite3 -header -csv file"),
        ("t.pkl", "pandas.read_pickle(file)"),
    ],
)
def test_files_of_statistics_programs_are_told_how_to_become_tables(tmp_path, name, how):
    (tmp_path / name).write_bytes(b"x" * 99)
    with pytest.raises(TableError) as error:
        read(tmp_path / name)
    assert "is not known. hint: write a .parquet or .csv by" in str(error.value) and how in str(error.value)
    assert "…" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "asked", "told"),
    [
        (
            "t.sqlite",
            "t.sqlite::people",
            "t.sqlite: the suffix '.sqlite' is not known. hint: write a .parquet or .csv by sqlite3",
        ),
        ("t.duckdb", "t.duckdb", "t.duckdb: a DuckDB file holds several tables. hint: name one: t.duckdb::TABLE."),
    ],
)
def test_databases_are_told_how_their_tables_are_named(tmp_path, name, asked, told):
    (tmp_path / name).write_bytes(b"x" * 99)
    with pytest.raises(TableError) as error:
        read(tmp_path / asked)
    assert told in str(error.value)


def test_a_name_that_no_file_can_have_is_told_with_a_table_too(tmp_path):
    with pytest.raises(TableError, match="cannot be read"):
        read(tmp_path / ("x" * 300 + "::people"))
