"""The columns of a frame as SDMetrics sees them: equal where Python says so."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from divulge.sdmetrics import inputs
from divulge.sdmetrics.columns import CodedColumn, Column, equal_codes, frame_of, same_dtype
from divulge.sdmetrics.inputs import column_of, known_codes

NAN = float("nan")


def column(values, dtype=object):
    return frame_of(pd.DataFrame({"x": pd.Series(values, dtype=dtype)}), "real_data")["x"]


def same(*parts, **kwargs):
    """Return which values of all parts are equal, as numbers of the first equal one."""
    codes, n = equal_codes(parts, **kwargs)
    flat = np.concatenate(codes).tolist()
    assert all(0 <= c < n for c in flat)
    return [flat.index(c) for c in flat]


def by_python(*parts):
    """Return the same by dictionaries of tuples, as SDMetrics looks keys up."""
    seen = {}
    values = [v for p in parts for v in p]
    return [seen.setdefault((v,), i) for i, v in enumerate(values)]


def test_objects_are_equal_as_in_a_dictionary():
    a, b = [1, "1", True, None, NAN, "x", 2.5], [1.0, NAN, None, "x", 0, False, 2.5]
    assert same(column(a), column(b)) == by_python(a, b)


def test_one_shared_nan_is_equal_to_itself_and_another_is_not():
    assert same(column([NAN, NAN, float("nan")])) == [0, 0, 2]
    assert same(column([NAN, NAN, None, None]), missing_equal=False) == [0, 1, 2, 2]


def test_nan_of_floats_is_equal_to_nothing():
    for equal in (True, False):
        assert same(column([NAN, 1.0, NAN], "float64"), missing_equal=equal) == [0, 1, 2]


def test_numbers_of_all_dtypes_compare_by_value():
    parts = [column([0, 1, 2], "int64"), column([1, 0, 5], "uint8"), column([True, False, True], bool)]
    assert same(*parts, column([1.0, 0.5], "float64")) == [0, 1, 2, 1, 0, 5, 1, 0, 1, 1, 10]


def test_small_integers_do_not_overflow():
    assert same(column([-100, 100, 27, -100], "int8")) == [0, 1, 2, 0]


def test_whole_numbers_beyond_floats_are_compared_exactly_across_tables():
    big = 2**53
    assert same(column([big, big + 1], "int64"), column([float(big)], "float64")) == [0, 1, 0]


def test_beside_floats_whole_numbers_lose_digits_as_a_row_of_pandas_does():
    whole, other = same_dtype([column([2**53, 2**53 + 1], "int64"), column([0.5, 0.5], "float64")])
    assert same(whole) == [0, 0]
    assert same(other) == [0, 0]
    kept, text = same_dtype([column([2**53, 2**53 + 1], "int64"), column(["a", "b"])])
    assert same(kept) == [0, 1]
    assert text.kind == "O"


def test_datetimes_are_instants_in_any_unit_and_zone():
    day = pd.Timestamp("2020-01-02")
    a = column([day, pd.NaT, pd.Timestamp("2021-05-06")], "datetime64[ns]")
    b = column([day, pd.NaT], "datetime64[s]")
    c = frame_of(pd.DataFrame({"x": pd.Series([day, None]).dt.tz_localize("UTC")}), "x")["x"]
    assert [a.kind, b.kind, c.kind] == ["M"] * 3
    assert same(a, b, c) == [0, 1, 2, 0, 1, 0, 1]
    assert same(a, b, missing_equal=False) == [0, 1, 2, 0, 4]
    assert same(a, column([day, "x"])) == [0, 1, 2, 0, 4]


def test_na_cannot_be_compared_one_by_one():
    na = column([1, pd.NA], "Int64")
    assert same(na, na) == [0, 1, 0, 1]
    with pytest.raises(TypeError):
        equal_codes([na], missing_equal=False)


@pytest.mark.parametrize(
    ("values", "dtype", "kind", "missing"),
    [
        (["a", None], object, "O", [False, True]),
        (["a", None], "category", "O", [False, True]),
        (["a", None], "string", "O", [False, True]),
        ([1, 2], "Int64", "i", [False, False]),
        ([1, None], "Int64", "i", [False, True]),
        ([True, None], "boolean", "b", [False, True]),
        ([1.5, NAN], "float32", "f", [False, True]),
        ([pd.Timedelta(1), None], "timedelta64[ns]", "m", [False, True]),
    ],
)
def test_dtypes_of_pandas(values, dtype, kind, missing):
    found = column(values, dtype)
    assert (found.kind, found.missing.tolist(), len(found)) == (kind, missing, 2)


def test_other_frames_are_taken_as_pandas_would_take_them():
    frame = pl.DataFrame(
        {"i": [1, None], "j": [1, 2], "f": [1.5, None], "t": ["a", None], "b": [True, None], "c": [True, False]}
    )
    found = frame_of(frame, "real_data")
    assert "".join(c.kind for c in found.columns.values()) == "fifOOb"
    assert [c.missing.tolist()[1] for c in found.columns.values()] == [True, False, True, True, True, False]
    dates = frame_of(pl.DataFrame({"d": ["2020-01-02", None]}).with_columns(pl.col("d").str.to_date()), "x")["d"]
    assert dates.kind == "M" and same(dates, column([pd.Timestamp("2020-01-02")], "datetime64[ns]")) == [0, 1, 0]


def test_the_first_table_of_a_dictionary_is_taken():
    assert len(frame_of({"t": pd.DataFrame({"x": [1, 2]}), "u": pd.DataFrame()}, "real_data")) == 2


@pytest.mark.parametrize("bad", [None, "a,b", 3, [1, 2], (1,), np.zeros((2, 2)), {}])
def test_what_is_no_frame_is_refused(bad):
    with pytest.raises(TypeError, match="real_data"):
        frame_of(bad, "real_data")


def test_two_columns_of_one_name_are_refused():
    with pytest.raises(ValueError, match="two columns of one name"):
        frame_of(pd.DataFrame([[1, 2]], columns=["a", "a"]), "real_data")


def test_rows_are_taken_with_what_is_known_to_be_missing():
    taken = Column("f", np.array([1.0, NAN, 3.0])).take(np.array([1, 2]))
    assert taken.missing.tolist() == [True, False]


TEXTS = ["b", None, "a", "", "b", "level 7"] * 300


@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical, pl.Enum(["unused", "level 7", "b", "", "a"])])
def test_texts_of_polars_are_known_by_their_levels(dtype):
    found = column_of(pl.Series(TEXTS, dtype=dtype), "x").named("x")
    assert isinstance(found, CodedColumn) and found.dtype == object and len(found) == len(TEXTS)
    rows = np.arange(1, 1800, 7)
    for part, texts in ((found, TEXTS), (found.take(rows), [TEXTS[i] for i in rows]), (found.named("y"), TEXTS)):
        assert part.values.tolist() == texts
        assert part.missing.tolist() == [t is None for t in texts]
    assert (found.named("y").name, found.take(rows).name) == ("y", "x")


@pytest.mark.parametrize("other", [TEXTS[::-1], ["c", "a", None] * 400, ["a", "b"]])
@pytest.mark.parametrize(
    "make", [pl.Series, lambda v: pd.Series(v, dtype="category"), lambda v: pd.Series(v, dtype=object)]
)
def test_codes_are_the_same_by_levels_and_by_objects(make, other):
    codes, n = known_codes([column_of(make(v), "x") for v in (TEXTS, other)])
    flat = np.concatenate(codes).tolist()
    assert [flat.index(c) for c in flat] == by_python(TEXTS, other)
    assert all((c == 0) == (v is None) for c, v in zip(flat, TEXTS + other, strict=True))
    assert n == len({*TEXTS, *other} - {None})


@pytest.mark.parametrize("shared", [True, False])
def test_objects_that_rows_share_are_looked_at_once(shared, monkeypatch):
    values = [NAN, None, "b", 1, 1.0, True, "a", 2, float("nan")]
    rows = [values[i] for i in np.random.default_rng(1).integers(0, 9, 800)]
    rows[7], rows[790] = "first part only", "last part only"
    rows = rows if shared else [bytes(v, "utf8").decode() if isinstance(v, str) else v for v in rows]
    parts = [Column("O", np.array([*r, None], dtype=object)[:-1]) for r in (rows[:300], [], rows[300:])]
    wanted = known_codes(parts)
    monkeypatch.setattr(inputs, "_SHARED_FROM", 0)
    found = known_codes(parts)
    assert found[1] == wanted[1] == 6
    assert [c.tolist() for c in found[0]] == [c.tolist() for c in wanted[0]]
    assert inputs._different_objects([p.values for p in parts])[1] is not None
