"""How columns are named, how tables are passed, and in which kind frames come back."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import divulge
from divulge.core.errors import ColumnError, SettingError
from divulge.core.schema import column_names
from divulge.tables.frames import table_of
from divulge.tables.kinds import as_kind, kind_of
from divulge.tables.matched_names import matched_names
from divulge.tables.readers import columns_in

PEOPLE = pl.DataFrame({"age": [30, 41, 30, 52] * 5, "job": list("abab") * 5, "ill": list("yynn") * 5})


def test_a_name_or_names_of_columns():
    assert column_names("keys", "age") == ("age",)
    assert column_names("keys", ["age", 3, np.int64(4)]) == ("age", "3", "4")
    assert column_names("keys", 0) == ("0",)
    with pytest.raises(SettingError, match=r"^keys: a name is None\. hint: "):
        column_names("keys", [None])


def test_one_key_as_a_text_is_that_key():
    one, several = (divulge.cap(PEOPLE, PEOPLE, keys=keys, target="ill") for keys in ("age", ["age"]))
    assert one.to_dict() | {"seconds": 0} == several.to_dict() | {"seconds": 0}
    one, several = (divulge.copies(PEOPLE, PEOPLE, columns=columns) for columns in ("age", ["age"]))
    assert [r.real for r in one] == [r.real for r in several]


def test_columns_of_whole_numbers_are_named_by_them():
    numbered = pd.DataFrame({i: PEOPLE[c].to_list() for i, c in enumerate(PEOPLE.columns)})
    named = divulge.cap(PEOPLE, PEOPLE, keys=["age"], target="ill")
    found = divulge.cap(numbered, numbered, keys=[0], target=2)
    assert (found.keys, found.target, found.real) == (("0",), "2", named.real)


def test_a_level_of_the_index_is_no_column():
    indexed = PEOPLE.to_pandas().set_index("job")
    with pytest.raises(ColumnError, match=r"^keys: 'job' is a level of the table's index.*hint: reset_index\(\)"):
        divulge.cap(indexed, indexed, keys=["job"], target="ill")
    with pytest.raises(ColumnError, match=r"^unit: 'job' is a level"):
        divulge.copies(indexed, indexed, unit="job")
    report = divulge.assess(indexed, indexed, keys=["age"], targets=["ill"], models=False)
    assert any("the index 'job' is no column, so that nothing compares it" in n for n in report.assessment.notes)


def test_a_name_like_two_others_is_matched_with_neither():
    named = {"one": ["Age", "job"], "two": ["Age", "AGE", "job"]}
    for which, columns in named.items():
        tables = [pl.DataFrame({c: [1] for c in names}) for names in (columns, ["age", "job"])]
        _, synthetic = matched_names([table_of(t, role) for t, role in zip(tables, ("real", "synthetic"), strict=True)])
        assert synthetic.columns == (("Age" if which == "one" else "age"), "job")


def test_paths_are_tables(tmp_path):
    PEOPLE.write_csv(tmp_path / "people.csv")
    PEOPLE.write_parquet(tmp_path / "people.parquet")
    of_frame = divulge.cap(PEOPLE, PEOPLE, keys=["age"], target="ill")
    for real in (tmp_path / "people.csv", str(tmp_path / "people.parquet")):
        found = divulge.cap(real, tmp_path / "people.csv", keys=["age"], target="ill")
        assert found.real == of_frame.real
    report = divulge.assess(tmp_path / "people.csv", PEOPLE, keys=["age"], targets=["ill"], models=False)
    assert report.assessment.tables.real.hashed == "file"
    real, holdout = divulge.split(tmp_path / "people.csv")
    assert len(real) + len(holdout) == len(PEOPLE)


@pytest.mark.parametrize(
    ("kind", "made", "cls"),
    [
        ("pandas", PEOPLE.to_pandas(), pd.DataFrame),
        ("pyarrow", PEOPLE.to_arrow(), pa.Table),
        ("polars", PEOPLE, pl.DataFrame),
    ],
    ids=["pandas", "pyarrow", "polars"],
)
def test_frames_come_out_in_the_kind_that_came_in(kind, made, cls):
    assert kind_of(made) == kind
    report = divulge.assess(made, made, keys=["age"], targets=["ill"], models=False)
    out = (report.to_frame(), report.records(), report.get_details(), report.get_properties())
    assert [type(frame) for frame in out] == [cls] * 4
    assert type(report.external().to_frame()) is cls
    frame = pl.DataFrame(report.to_frame())
    assert frame.height == len(report.assessment.results)


def test_missing_values_in_pandas():
    frame = pl.DataFrame({"text": ["a", None], "flag": [True, None], "n": [1.5, None]})
    out = as_kind(frame, "pandas")
    assert out["text"].isna().tolist() == out["flag"].isna().tolist() == [False, True]
    assert (out["text"][0], out["flag"][0]) == ("a", True)
    assert np.isnan(out["n"][1])
    assert list(as_kind(frame.clear(), "pandas").columns) == ["text", "flag", "n"]


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.csv", b"age;job\n1;2\n", ("age", "job")),
        ("a.csv", b'"a,b",c\n1,2\n', ("a,b", "c")),
        ("a.csv", b"\xef\xbb\xbfage,job\r\n1,2\r\n", ("age", "job")),
        ("a.csv", b"", None),
        ("a.csv", b"age,age\n1,2\n", None),
        ("a.csv.gz", b"age\n1\n", None),
        ("a.parquet", b"no parquet", None),
        ("a.xlsx", b"", None),
    ],
)
def test_columns_of_a_file_from_its_header(tmp_path, name, content, expected):
    (tmp_path / name).write_bytes(content)
    assert columns_in(tmp_path / name) == expected


def test_columns_of_other_files_from_their_schema(tmp_path):
    PEOPLE.write_parquet(tmp_path / "a.parquet")
    PEOPLE.write_ipc(tmp_path / "a.arrow")
    assert columns_in(tmp_path / "a.parquet") == columns_in(tmp_path / "a.arrow") == ("age", "job", "ill")
    assert columns_in(tmp_path / "none.csv") is None
