"""Room A: files of every kind give the table that was written, or say what is wrong without showing a value."""

import builtins
import gzip
import hashlib
import io
import json
import os
import random
import types
from datetime import datetime

import pandas as pd
import polars as pl
import pytest
from amount import tries
from hypothesis import given, settings
from hypothesis import strategies as st

import divulge
from divulge.case.case import infer_schema
from divulge.core.errors import ColumnError, FrameError, SettingError, TableError
from divulge.tables import csv_files
from divulge.tables.opening import opened
from divulge.tables.pooled_columns import pool
from divulge.tables.readers import columns_in, read, read_schema


@pytest.fixture
def write(tmp_path):
    """Write text or bytes to a file and return its path."""

    def writer(content, name="t.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
        return path

    return writer


def rows(table):
    return [list(row) for row in table.frame.rows()]


def column(table, name, missing=()):
    return pool([table], name, missing)


# ---------------------------------------------------------------- CSV: what is read


def test_a_table_carries_its_hash_role_and_names(write):
    path = write("age,sex\n30,f\n41,m\n")
    table = read(path, role="holdout")
    assert table.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert (table.role, table.columns, table.n_rows, table.notes) == ("holdout", ("age", "sex"), 2, ())


def test_a_path_may_be_text(write):
    assert read(str(write("a\n1\n"))).n_rows == 1


@pytest.mark.parametrize("name", ["t.csv", "t.CSV", "t.tsv", "t.txt"])
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_found_in_the_header(write, separator, name):
    table = read(write(f"a{separator}b c\n1{separator}x y\n", name))
    assert (table.columns, rows(table)) == (("a", "b c"), [[1, "x y"]])


def test_separators_inside_quoted_names_do_not_count(write):
    assert read(write('"a,b,c";d\n1;2\n')).columns == ("a,b,c", "d")


def test_a_file_of_one_column_needs_no_separator(write):
    assert rows(read(write("a\n1\n2\n"))) == [[1], [2]]


def test_blanks_in_names_are_kept(write):
    assert read(write("T Stage , b\n1,2\n")).columns == ("T Stage ", " b")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", [True, False])
def test_line_ends_of_every_system_are_read(write, end, last):
    text = end.join(["a,b", "1,x", '2,"y"']) + (end if last else "")
    assert rows(read(write(text))) == [[1, "x"], [2, "y"]]


def test_blank_lines_are_ignored(write):
    assert rows(read(write("\n\na,b\n\n1,x\n\r\n\n2,y\n\n\n"))) == [[1, "x"], [2, "y"]]


def test_blank_lines_among_quoted_fields_are_ignored(write):
    assert rows(read(write('a,b\n1,"x\n\ny"\n\n2,"z"\n'))) == [[1, "x\n\ny"], [2, "z"]]


def test_blank_lines_in_a_file_of_one_column_are_ignored(write):
    assert rows(read(write('a\nx\n\n""\ny\n'))) == [["x"], [None], ["y"]]


def test_empty_cells_and_empty_quotes_are_missing(write):
    assert rows(read(write('a,b\n1,\n,""\n'))) == [[1, None], [None, None]]


def test_a_column_of_empty_cells_is_missing_throughout(write):
    assert column(read(write("a,b\n1,\n2,\n")), "b").counts[0].tolist() == [2]


def test_fields_may_hold_separators_quotes_and_line_breaks(write):
    assert rows(read(write('a,b\n"x,y","say ""hi"""\n"l1\nl2",z\n'))) == [["x,y", 'say "hi"'], ["l1\nl2", "z"]]


def test_names_may_hold_line_breaks(write):
    assert read(write('"a\nb",c\n1,2\n')).columns == ("a\nb", "c")


def test_a_file_quoted_throughout_is_typed_like_any_other(write):
    quoted, bare = read(write('"a","b"\n"1","x"\n"2","y"\n')), read(write("a,b\n1,x\n2,y\n", "u.csv"))
    assert quoted.frame.equals(bare.frame)


def test_a_quotation_mark_inside_a_field_is_a_character(write):
    assert rows(read(write('a,b\n5" pipe,x\n7" by 3",y\n'))) == [['5" pipe', "x"], ['7" by 3"', "y"]]


def test_quotes_across_blocks_of_the_check_are_followed(write, monkeypatch):
    monkeypatch.setattr(csv_files, "_BLOCK", 3)
    assert rows(read(write('a,b\n"x,\n,y","""q"""\n1,"2"\n'))) == [["x,\n,y", '"q"'], ["1", "2"]]


FIELD = st.lists(st.sampled_from(["a", "1", ",", '"', "\n", " ", ";"]), max_size=4).map("".join)


@settings(max_examples=tries(150), deadline=None)
@given(st.integers(1, 3).flatmap(lambda n: st.lists(st.lists(FIELD, min_size=n, max_size=n), min_size=1, max_size=6)))
def test_whatever_is_written_is_read_back(tmp_path_factory, table):
    names = [f"n{i}" for i in range(len(table[0]))]
    frame = pl.DataFrame(table, schema=names, orient="row").with_columns(pl.all().cast(pl.String))
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    frame.write_csv(path, quote_style="always")
    for name in names:
        wanted, found = frame[name].to_list(), read(path).series(name)
        if found.dtype == pl.String:
            assert found.to_list() == [v or None for v in wanted]
        else:
            assert found.to_list() == [float(v) if v else None for v in wanted]


@settings(max_examples=tries(100), deadline=None)
@given(st.lists(FIELD, min_size=2, max_size=2), st.integers(1, 40))
def test_the_fast_and_the_slow_way_agree(pair, block):
    text = pl.DataFrame([pair, ["x", "y"], pair[::-1]], schema=["a", "b"], orient="row").write_csv(include_header=False)
    body = text.rstrip("\n").encode()
    before, csv_files._BLOCK = csv_files._BLOCK, block
    try:
        fast = csv_files._parsed_fast(body, ",", 2)
    finally:
        csv_files._BLOCK = before
    slow = csv_files._parsed_slowly(body, ",", 2, 1, "t")
    assert fast is not None
    assert [[v or None for v in r] for r in fast.rows()] == [[v or None for v in r] for r in slow.rows()]


def test_regular_files_take_the_fast_way(write, monkeypatch):
    monkeypatch.setattr(csv_files, "_parsed_slowly", None)
    lines = [f'{i},"v{i % 7}",,' for i in range(5000)]
    assert read(write("a,b,c,d\n" + "\n".join(lines) + "\n")).n_rows == 5000


# ---------------------------------------------------------------- CSV: types


def types_of(table):
    return {name: column(table, name).family for name in table.columns}


def test_columns_are_typed_by_all_their_cells(write):
    text = "n,f,t,b,d\n" + "1,1.5,x,true,2020-01-01\n" * 3000 + "2,-2e3,1,False,2021-12-31T10:00:00\n"
    assert types_of(read(write(text))) == {"n": "number", "f": "number", "t": "text", "b": "boolean", "d": "datetime"}


def test_a_word_in_the_last_row_makes_a_column_text(write):
    assert types_of(read(write("a\n" + "1\n" * 5000 + "N\n"))) == {"a": "text"}


def test_leading_zeros_keep_a_column_text(write):
    table = read(write("zip,x\n01234,1\n1234,2\n90210,3\n"))
    assert column(table, "zip").levels.to_list() == ["01234", "1234", "90210"]


def test_a_leading_zero_far_down_keeps_a_column_text(write):
    table = read(write("zip\n" + "1234\n" * 5000 + "01234\n"))
    assert column(table, "zip").counts[0].tolist() == [0, 1, 5000]


def test_zero_and_fractions_below_one_are_numbers(write):
    assert column(read(write("a\n0\n0.5\n-0.5\n-0\n")), "a").levels.to_list() == [-0.5, 0.0, 0.5]


def test_blanks_around_numbers_are_let_go(write):
    assert rows(read(write("a, b\n 1, 2.5\n2 ,3\n"))) == [[1, 2.5], [2, 3.0]]


def test_not_a_number_is_missing_in_a_column_of_numbers(write):
    assert column(read(write("a\n1\nNaN\nnan\n")), "a").counts[0].tolist() == [2, 1]


def test_integers_too_large_for_64_bits_stay_apart(write):
    assert len(column(read(write("a\n18446744073709551615\n18446744073709551616\n1\n")), "a").levels) == 3


def test_integers_beyond_two_to_the_53_are_exact(write):
    assert rows(read(write("a\n9007199254740993\n9007199254740992\n"))) == [[9007199254740993], [9007199254740992]]


def test_numbers_are_read_to_the_last_digit(write):
    rng = random.Random(1)
    values = [rng.gauss(0, 1) * 10 ** rng.randint(-12, 12) for _ in range(500)]
    assert read(write("a\n" + "\n".join(map(repr, values)))).frame["c0"].to_list() == values


def test_a_decimal_comma_is_read_beside_semicolons(write):
    assert rows(read(write("a;b;c\n1,5;x;-0,25\n2;1,5;3\n"))) == [[1.5, "x", -0.25], [2.0, "1,5", 3.0]]


def test_a_decimal_point_is_read_beside_semicolons(write):
    assert rows(read(write("a;b\n1.5;1\n2;2\n"))) == [[1.5, 1], [2.0, 2]]


def test_points_and_commas_in_one_column_are_numbers(write):
    assert types_of(read(write("a\n1.500,25\n1,5\n".replace("a", "a;b").replace("\n1", "\n;1")))) == {
        "a": "text",
        "b": "number",
    }


def test_a_decimal_comma_is_read_in_quoted_fields_of_comma_files(write):
    assert types_of(read(write('a,b\n"1,5",1\n'))) == {"a": "number", "b": "number"}


def test_codes_for_missing_do_not_make_a_column_text(write):
    table = read(write("a,b,c\n1,N,x\nN,-8,N\n2,3,y\n"), missing=["N", "-8"])
    assert rows(table) == [[1, None, "x"], [None, None, None], [2, 3, "y"]]


def test_codes_for_missing_work_when_given_later(write):
    assert column(read(write("a\n1\nN\n")), "a", ["N"]).levels.to_list() == [1.0]


def test_codes_for_missing_work_in_parquet(tmp_path):
    pl.DataFrame({"a": ["1", "N"], "b": pl.Series([-8, 3], dtype=pl.Int8)}).write_parquet(tmp_path / "t.parquet")
    assert rows(read(tmp_path / "t.parquet", missing=["N", "-8"])) == [[1, None], [None, 3]]


# ---------------------------------------------------------------- CSV: encodings


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_unicode_is_read_with_and_without_a_mark(write, encoding):
    mark = "\ufeff" if encoding in ("utf-16-le", "utf-16-be") else ""
    table = read(write(mark + "größe,b\n日本,é\n", encoding=encoding))
    assert (table.columns, rows(table), table.notes) == (("größe", "b"), [["日本", "é"]], ())


def test_western_text_is_read_with_a_note(write):
    table = read(write("größe,b\n€,é\n", encoding="cp1252"))
    assert (table.columns, rows(table)) == (("größe", "b"), [["€", "é"]])
    assert len(table.notes) == 1
    assert "cp1252" in table.notes[0]
    assert "€" not in table.notes[0]


def test_bytes_that_western_text_lacks_are_read_as_latin_1(write):
    table = read(write(b"a,b\n\x81,\xe9\n"))
    assert rows(table) == [["\x81", "é"]]
    assert "latin-1" in table.notes[0]


def test_a_mark_before_a_quoted_name_is_no_part_of_it(write):
    assert read(write('"a","b"\n1,2\n', encoding="utf-8-sig")).columns == ("a", "b")


# ---------------------------------------------------------------- gzip, standard input


@pytest.mark.parametrize("name", ["t.csv.gz", "t.CSV.GZ", "t.tsv.gz", "t.csv"])
def test_gzip_is_read(write, name):
    assert rows(read(write(gzip.compress(b"a\tb\n1\tx\n"), name))) == [[1, "x"]]


def test_a_name_of_gzip_on_a_file_that_is_none_is_refused(write):
    with pytest.raises(TableError, match="not gzip"):
        read(write("a,b\n1,2\n", "t.csv.gz"))


def test_gzip_that_is_cut_off_is_refused(write):
    with pytest.raises(TableError, match="cut off or damaged"):
        read(write(gzip.compress(b"a,b\n" + os.urandom(500).hex().encode())[:-40], "t.csv.gz"))


def test_a_dash_is_standard_input(monkeypatch):
    data = b"a,b\n1,x\n"
    monkeypatch.setattr("sys.stdin", types.SimpleNamespace(buffer=io.BytesIO(data)))
    table = read("-", role="synthetic")
    assert (table.role, rows(table), table.sha256) == ("synthetic", [[1, "x"]], hashlib.sha256(data).hexdigest())


def test_empty_standard_input_is_refused(monkeypatch):
    monkeypatch.setattr("sys.stdin", types.SimpleNamespace(buffer=io.BytesIO(b"")))
    with pytest.raises(TableError, match="real: standard input"):
        read("-")


# ---------------------------------------------------------------- what is refused


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(TableError, match=r"holdout: nowhere\.csv: no such file"):
        read(tmp_path / "nowhere.csv", role="holdout")


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(TableError, match="folder"):
        read(tmp_path)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read_is_refused(write):
    path = write("a\n1\n")
    path.chmod(0)
    with pytest.raises(TableError, match="Permission denied"):
        read(path)


def test_a_file_that_fails_while_it_is_read_is_refused(write, monkeypatch):
    def fails(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("divulge.tables.readers.bytes_of", fails)
    with pytest.raises(TableError, match="Permission denied"):
        read(write("a\n1\n"))


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.feather", "t.xlsx", "t.csv.gz"])
def test_an_empty_file_is_refused(write, name):
    with pytest.raises(TableError, match="empty"):
        read(write(b"", name))


@pytest.mark.parametrize("text", ["\n\n", "\r\n", "\ufeff\n"])
def test_a_file_of_blank_lines_is_refused(write, text):
    with pytest.raises(TableError, match="only blank lines"):
        read(write(text))


@pytest.mark.parametrize("text", ["a,b,c", "a,b,c\n", "a,b,c\n\n\n"])
def test_a_header_without_rows_is_refused(write, text):
    with pytest.raises(TableError, match=r"a header and no rows below it"):
        read(write(text))


@pytest.mark.parametrize("name", ["t.xyz", "t.jsn", "t", "t.gz", "t.parquet.gz", "t.zst"])
def test_an_unknown_suffix_is_refused_with_a_list_of_the_known(write, name):
    with pytest.raises(TableError, match=r"divulge reads CSV .*Parquet .*Arrow .*Excel"):
        read(write("a\n1\n", name))


@pytest.mark.parametrize("name", ["people", "people 2024"])
def test_a_file_without_a_suffix_is_to_be_renamed_or_piped(write, name):
    says = rf"{name}: the name has no suffix.* hint: rename it \(people\.csv\); CSV can also come .*\(- < {name}\)\."
    with pytest.raises(TableError, match=says):
        read(write("a\n1\n", name))


@pytest.mark.parametrize("header", ["a,b,a", '"a",b,a', ",b,"])
def test_two_columns_of_one_name_are_refused(write, header):
    with pytest.raises(ColumnError, match="occur twice"):
        read(write(header + "\n1,2,3\n"))


@pytest.mark.parametrize(("line", "count"), [("SECRET", 1), ("SECRET,2,3", 3), ('"SECRET,2"', 1)])
def test_lines_with_too_many_or_too_few_fields_are_named_by_number(write, line, count):
    with pytest.raises(TableError, match=rf"fields than the header \(2\): line 4 has {count}\.") as error:
        read(write(f"a,b\n1,2\n3,4\n{line}\n5,6\n"))
    assert "SECRET" not in str(error.value)


def test_only_the_first_ragged_lines_are_named(write):
    with pytest.raises(TableError, match=r"line 2 has 1.* and 4 more"):
        read(write("a,b\n" + "1\n" * 9 + "1,2\n"))


def test_line_numbers_count_blank_lines_and_line_breaks(write):
    with pytest.raises(TableError, match="line 8 has 1"):
        read(write('\n"a\nx",b\n\n1,"u\nv"\n\nw\n'))
    with pytest.raises(TableError, match="line 5 has 1"):
        read(write("a,b\n\n1,2\n\nw\n", "u.csv"))


def test_row_names_without_a_header_get_a_hint(write):
    with pytest.raises(TableError, match=r"row\.names = FALSE"):
        read(write("a b,c\n1,x,y\n2,z,w\n"))


def test_a_quotation_mark_that_never_closes_gets_a_hint(write):
    with pytest.raises(TableError, match="a quotation mark opens after line 2 and never closes") as error:
        read(write('a,b\n1,2\n3,"SECRET\n5,6\n'))
    assert "SECRET" not in str(error.value)


def test_a_quotation_mark_that_swallows_a_long_file_gets_a_hint(write):
    with pytest.raises(
        TableError, match=r"a field after line 2 has more than 131,072 characters.*quotation mark left open"
    ):
        read(write('a,b\n1,2\n3,"x\n' + "5,6\n" * 50_000))


@pytest.mark.parametrize("content", [b"PK\x03\x04junk", b"a,b\n\0\0,1\n", b"PAR1xx", b"\xff\xfea\0,\0\x00\xd8"])
def test_files_that_are_no_text_are_refused(write, content):
    with pytest.raises(TableError, match=r"not a text file|damaged UTF-16"):
        read(write(content))


@pytest.mark.parametrize("name", ["t.parquet", "t.pq", "t.arrow", "t.feather", "t.ipc", "t.xlsx", "t.xls"])
@pytest.mark.parametrize(
    "content", [b"a,b\n1,SECRET\n" * 20, b"PAR1" + b"\0" * 40 + b"PAR1", b"ARROW1\0\0" + b"\0" * 40]
)
def test_files_under_a_false_suffix_are_refused(write, name, content):
    with pytest.raises(TableError, match="or a damaged one") as error:
        read(write(content, name))
    assert "SECRET" not in str(error.value)


# ---------------------------------------------------------------- Parquet, Arrow, Excel


FRAME = pl.DataFrame({"a": [1, None], "b": ["x", ""], "c": [datetime(2020, 1, 1, 3), None], "d": [0.5, float("nan")]})


@pytest.mark.parametrize("name", ["t.parquet", "t.pq", "t.PARQUET"])
def test_parquet_is_read(tmp_path, name):
    FRAME.write_parquet(tmp_path / name)
    table = read(tmp_path / name)
    assert table.frame.rename(dict(zip(table.frame.columns, FRAME.columns, strict=True))).equals(FRAME)
    assert table.sha256 == hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()


@pytest.mark.parametrize("name", ["t.arrow", "t.feather", "t.ipc"])
@pytest.mark.parametrize("form", ["write_ipc", "write_ipc_stream"])
def test_arrow_files_and_streams_are_read(tmp_path, name, form):
    getattr(FRAME, form)(tmp_path / name)
    assert read(tmp_path / name).frame.rows()[0] == FRAME.rows()[0]


@pytest.mark.parametrize("name", ["t.parquet", "t.feather"])
def test_columnar_files_without_rows_are_refused(tmp_path, name):
    (FRAME.clear().write_parquet if "parquet" in name else FRAME.clear().write_ipc)(tmp_path / name)
    with pytest.raises(TableError, match="4 columns and no rows"):
        read(tmp_path / name)


@pytest.fixture
def sheet(tmp_path):
    """Write rows to the first sheet of a workbook and return its path."""
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("fastexcel")

    def writer(*lines):
        book = openpyxl.Workbook()
        for line in lines:
            book.active.append(line)
        book.create_sheet("other").append(["never"])
        book.save(tmp_path / "t.xlsx")
        return tmp_path / "t.xlsx"

    return writer


def test_the_first_sheet_of_a_workbook_is_read(sheet):
    table = read(sheet(["a", "b c", "z"], [1, "x", "01"], [None, None, "1"], [2.5, "", "1"]))
    assert table.columns == ("a", "b c", "z")
    assert rows(table) == [[1.0, "x", "01"], [None, None, "1"], [2.5, None, "1"]]


def test_a_name_in_a_sheet_is_no_pattern(sheet):
    table = read(sheet(["^a$", "c0", "*", "^.*$"], [1, "x", 2, "y"], [3, "z", 4, "w"]))
    assert table.columns == ("^a$", "c0", "*", "^.*$") and rows(table) == [[1, "x", 2, "y"], [3, "z", 4, "w"]]


def test_a_blank_row_inside_a_sheet_is_a_record_and_at_its_end_is_none(sheet):
    table = read(sheet(["a", "b"], [1, "x"], [None, None], [2, "y"], [None, ""], [None, None]))
    assert [r[0] for r in rows(table)] == [1, None, 2]


def test_numbers_beside_words_in_a_sheet_are_text_as_in_csv(sheet):
    table = read(sheet(["a"], *([i] for i in range(2000)), ["N"]))
    assert column(table, "a", ["N"]).levels.to_list() == [float(i) for i in range(2000)]


def test_an_empty_column_in_a_sheet_is_missing_and_raises_no_log(sheet, caplog):
    table = read(sheet(["a", "b"], [1, None], [2, None]))
    assert column(table, "b").counts[0].tolist() == [2]
    assert not caplog.records


def test_two_columns_of_one_name_in_a_sheet_are_refused(sheet):
    with pytest.raises(ColumnError, match="occur twice"):
        read(sheet(["a", "a"], [1, 2]))


@pytest.mark.parametrize("lines", [[], [["a", "b"]]])
def test_a_sheet_without_rows_is_refused(sheet, lines):
    with pytest.raises(TableError, match=r"empty|no rows"):
        read(sheet(*lines))


def test_excel_without_its_package_says_what_to_install(sheet, monkeypatch):
    path, real_import = sheet(["a"], [1]), builtins.__import__

    def without(name, *args, **kwargs):
        if name == "fastexcel":
            raise ModuleNotFoundError(name)
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(FrameError, match=r"pip install 'divulge\[excel\]'"):
        read(path)


# ---------------------------------------------------------------- whole way, schemas


def test_files_measure_as_the_frames_they_hold(write):
    frame = pl.DataFrame({"k": ["x", "y"] * 20, "t": ["01", "1", "2", None] * 10})
    path = write(frame.write_csv())
    from_file = divulge.cap(divulge.read(path), divulge.read(path, role="synthetic"), keys=["k"], target="t")
    from_frame = divulge.cap(frame, frame, keys=["k"], target="t")
    assert from_file.value == from_frame.value


def test_a_schema_in_toml_is_read(write):
    schema = read_schema(write('[columns.age]\nkind = "numeric"\nroles = ["key"]\n', "s.toml"))
    assert (schema["age"].kind, schema["age"].roles) == ("numeric", ("key",))


def test_a_schema_of_sdv_is_read(write):
    text = json.dumps({"columns": {"age": {"sdtype": "numerical"}}})
    assert read_schema(str(write(text, "m.JSON", "utf-8-sig")))["age"].kind == "numeric"


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        ("x = ", "s.toml", r"s\.toml: not TOML"),
        ('{"columns": ', "m.json", r"m\.json: not JSON: .* line 1"),
        ("[1]", "m.json", "must be a JSON object"),
        (b"\xff\xfe", "m.json", "not UTF-8"),
        ("a", "s.yaml", r"a schema is a \.toml file"),
        ('[columns.a]\nkind = "odd"', "s.toml", "unknown kind"),
    ],
)
def test_a_schema_that_is_none_is_refused(write, content, name, message):
    with pytest.raises(SettingError, match=message):
        read_schema(write(content, name))


def test_a_schema_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(SettingError, match="No such file"):
        read_schema(tmp_path / "s.toml")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("s.toml", "a = " + "[" * 5000, "nested too deeply"),
        ("s.json", "[" * 100_000, "nested too deeply"),
        ("s.toml", "a = " + "1" * 5000, "too many digits"),
        ("s.json", "1" * 5000, "too many digits"),
    ],
    ids=["brackets in TOML", "brackets in JSON", "digits in TOML", "digits in JSON"],
)
def test_a_schema_beyond_the_parser_is_an_error_of_ours(write, name, content, said):
    with pytest.raises(SettingError, match=said):
        read_schema(write(content, name))


@pytest.mark.parametrize("name", ["^a$", "^.*$", "*", ""])
def test_a_column_named_as_a_pattern_is_read_without_codes(tmp_path, name):
    pl.DataFrame({name: ["x", "?", "y"], "b": [1, -8, 3]}).write_parquet(tmp_path / "t.parquet")
    table = read(tmp_path / "t.parquet", missing=["?", "-8"])
    assert (table.series(name or "Unnamed: 0").to_list(), table.series("b").to_list()) == (
        ["x", None, "y"],
        [1, None, 3],
    )


NAMELESS = [
    ["", "column_0"],
    ["", "Unnamed: 0", "a"],
    ["", "", "a", "b", "c"],
    ["a", "b", "c", ""],
    ["", "a", "Unnamed: 0.1", "Unnamed: 0"],
]


@pytest.mark.parametrize("names", NAMELESS, ids=map(str, NAMELESS))
@pytest.mark.parametrize("door", ["csv", "xlsx", "parquet", "frame"])
def test_a_column_without_a_name_has_that_of_pandas(tmp_path, names, door):
    """A table that went through pandas and one that did not have the same columns."""
    header, cells = ",".join(names), [list(range(i, i + len(names))) for i in (1, 2, 3)]
    text = header + "\n" + "".join(f"{','.join(map(str, row))}\n" for row in cells)
    expected = tuple(pd.read_csv(io.StringIO(text)).columns)
    path = tmp_path / f"t.{door}"
    if door == "csv":
        path.write_text(text)
    elif door == "xlsx":
        pd.DataFrame([names, *cells]).to_excel(path, header=False, index=False)
        assert tuple(pd.read_excel(path).columns) == expected
    elif len(set(names)) < len(names):
        return
    else:
        pl.DataFrame(dict(zip(names, zip(*cells, strict=True), strict=True))).write_parquet(path)
    if door != "frame":
        assert read(path).columns == expected
        assert columns_in(path) in (expected, None)
        assert (columns_in(path) is None) == (door == "xlsx")
    else:
        by_name = dict(zip(names, zip(*cells, strict=True), strict=True))
        for frame in (pl.DataFrame(by_name), pl.LazyFrame(by_name), pd.DataFrame(cells, columns=names)):
            assert opened(frame, "real", ()).columns == expected
            assert [c.name for c in infer_schema(frame).columns] == list(expected)


@pytest.mark.parametrize(
    "content", ['"\na\nsecret\n"b",1\n', 'a,"b\n1,secret\n' + "2,secret\n" * 9 + '3,"\n4,5\n', '"a\nsecret"x,b\n1,2\n']
)
def test_a_mark_that_swallows_rows_into_the_header_shows_none(write, content):
    with pytest.raises(
        TableError, match=r"a quotation mark opens in the header and does not close there. hint: "
    ) as raised:
        read(write(content))
    assert "secret" not in str(raised.value)


def test_a_name_may_have_line_breaks(write):
    assert read(write('"age\nin\nyears",b\n1,2\n')).columns == ("age\nin\nyears", "b")


def test_a_wide_file_takes_few_calls_of_polars(tmp_path, monkeypatch):
    from divulge.case.case import schema_of

    rows = [["3", "2.5", "red", "true", "2020-01-02", "7"], ["4", "1.5", "blue", "false", "2021-03-04", ""]]
    path = tmp_path / "wide.csv"
    names = [f"c{i}" for i in range(120)]
    path.write_text("\n".join(",".join(line) for line in [names, *(row * 20 for row in rows)]))
    evaluate, calls = pl.DataFrame.select_seq, []
    monkeypatch.setattr(pl.DataFrame, "select_seq", lambda self, *given: calls.append(1) or evaluate(self, *given))
    found = schema_of(read(path))
    wanted = ["integer-coded", "numeric", "categorical", "boolean", "datetime", "integer-coded"]
    assert [c.kind for c in found.columns] == wanted * 20
    assert len(calls) < 3 * 120  # each takes a tenth of a millisecond
