"""Room A: the same table gives the same columns, and the same digits, from every kind of frame."""

import dataclasses
import math
import subprocess
import sys
import textwrap
from collections import Counter
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from uuid import UUID

import duckdb
import narwhals
import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from amount import tries
from hypothesis import given, settings
from hypothesis import strategies as st

import divulge
from divulge.core.errors import ColumnError, FrameError, TableError
from divulge.tables import column_families, fingerprints
from divulge.tables.fingerprints import fingerprint
from divulge.tables.frames import collect, profiles, table_of
from divulge.tables.pooled_columns import pool

NAN = float("nan")


def pooled(*columns, missing=()):
    """Pool columns, each a table of its own: lists, polars or pandas series, or whole frames with a column x."""
    return pool([table_of(as_table(c), "real") for c in columns], "x", missing)


def as_table(column):
    if isinstance(column, pd.Series | pd.Index | pd.Categorical | pd.api.extensions.ExtensionArray):
        return pd.DataFrame({"x": column})
    if isinstance(column, pa.Array | pa.ChunkedArray):
        return pa.table({"x": column})
    if isinstance(column, list):
        return pl.DataFrame({"x": pl.Series(column, strict=True)})
    return pl.DataFrame({"x": column}) if isinstance(column, pl.Series) else column


def levels(*columns, missing=()):
    return pooled(*columns, missing=missing).levels.to_list()


def codes(*columns, missing=()):
    return [c.tolist() for c in pooled(*columns, missing=missing).codes]


def objects(*values):
    return pd.Series(list(values), dtype=object)


# ---------------------------------------------------------------- the law: every kind, the same digits


def awkward(n, seed):
    """A table of every dtype that all kinds can hold, each with what makes it awkward."""
    rng = np.random.default_rng(seed)

    def pick(*values, dtype=None):
        return pl.Series([values[i] for i in rng.integers(0, len(values), n)], dtype=dtype)

    noon = datetime(2019, 7, 1, 12)
    return pl.DataFrame(
        {
            "sex": pick("f", "m", "", None, dtype=pl.String),
            "blank": pick("a", " a", "a ", "A", None, dtype=pl.String),
            "accents": pick("é", "e\u0301", "ß", "日本", "a,b;c", 'say "x"', dtype=pl.String),
            "zip": pick("01234", "1234", "00501", None, dtype=pl.String),
            "age": pick(*range(18, 90), None, dtype=pl.Int64),
            "rooms": pick(1, 2, 3, -4, dtype=pl.Int8),
            "income": pick(NAN, None, 0.0, -0.0, 0.1, 1e-7, 1234.5, -3.0, dtype=pl.Float64),
            "share": pick(0.1, 0.25, 1 / 3, None, dtype=pl.Float32),
            "paid": pick(Decimal("0.10"), Decimal("99999.99"), Decimal("3.00"), None, dtype=pl.Decimal(12, 2)),
            "member": pick(True, False, None, dtype=pl.Boolean),
            "adult": pick(True, False, dtype=pl.Boolean),
            "born": pick(date(1950, 2, 28), date(2000, 2, 29), None, dtype=pl.Date),
            "seen": pick(noon, noon + timedelta(seconds=1), datetime(2019, 7, 2), None, dtype=pl.Datetime("us")),
            "zoned": pick(noon, noon + timedelta(hours=1), None, dtype=pl.Datetime("us"))
            .dt.replace_time_zone("Europe/Warsaw"),
            "region": pick("north", "south", None, dtype=pl.Categorical()),
            "grade": pick("low", "high", "top", dtype=pl.Enum(["low", "high", "top"])),
            "empty": pl.Series([None] * n, dtype=pl.String),
            "a.b c": pick("x", "y", dtype=pl.String),
            'q"x': pick(1, 2, None, dtype=pl.Int64),
            "^.*$": pick("u", "v", None, dtype=pl.String),
        }
    )  # fmt: skip


REAL, SYNTHETIC, HOLDOUT = awkward(150, 1), awkward(170, 2), awkward(60, 3)


def same_pool(one, other, in_memory):
    assert one.family == other.family
    assert one.integer == other.integer
    assert one.note == other.note
    assert one.levels.dtype == other.levels.dtype
    assert one.levels.to_list() == other.levels.to_list()
    for a, b in zip(one.counts, other.counts, strict=True):
        assert a.tolist() == b.tolist()
    if in_memory:
        for a, b in zip(one.codes, other.codes, strict=True):
            assert a.tolist() == b.tolist()


def test_every_kind_of_table_gives_the_same_columns(make):
    plain = [table_of(f, "real") for f in (REAL, SYNTHETIC, HOLDOUT)]
    other = [table_of(make(f), "real") for f in (REAL, SYNTHETIC, HOLDOUT)]
    for table, original in zip(other, plain, strict=True):
        assert table.columns == original.columns
        assert table.n_rows == original.n_rows
    for column in REAL.columns:
        same_pool(pool(other, column), pool(plain, column), other[0].frame is not None)


def test_every_kind_of_table_can_stand_beside_plain_polars(make):
    plain = [table_of(REAL, "real"), table_of(SYNTHETIC, "synthetic")]
    mixed = [table_of(REAL, "real"), table_of(make(SYNTHETIC), "synthetic")]
    for column in REAL.columns:
        same_pool(pool(mixed, column), pool(plain, column), mixed[1].frame is not None)


def digits(real, synthetic, holdout):
    result = divulge.cap(real, synthetic, holdout=holdout, keys=["sex", "age", "zoned", "paid"], target="income")
    return {k: v for k, v in result.to_dict().items() if k != "seconds"}


def test_every_kind_of_table_gives_the_same_digits_of_cap(make):
    expected = digits(REAL, SYNTHETIC, HOLDOUT)
    assert digits(make(REAL), make(SYNTHETIC), make(HOLDOUT)) == expected
    assert digits(REAL, make(SYNTHETIC), HOLDOUT) == expected


def test_every_kind_of_table_in_memory_has_the_same_fingerprint(make, kind):
    def print_of(frame):
        table = collect(table_of(frame, "real"))
        return fingerprint([pool([table], c) for c in table.columns], 0)

    if kind not in ("polars lazy", "duckdb"):  # whose rows have no order
        assert print_of(make(REAL)) == print_of(REAL)


def test_missing_codes_act_alike_in_every_kind_of_table(make):
    frame = pl.DataFrame({"x": ["1", "N", "2", "-8", None, "1"], "y": [1, -8, 2, -8, None, 3]})
    table = table_of(make(frame), "real")
    for column, counts in {"x": [3, 2, 1], "y": [3, 1, 1, 1]}.items():
        column = pool([table], column, ["N", "-8"])
        assert column.family == "number"
        assert column.counts[0].tolist() == counts


def test_one_row_is_a_table_in_every_kind(make):
    table = table_of(make(pl.DataFrame({"x": ["a"], "y": [1]})), "real")
    assert table.n_rows == 1
    assert pool([table], "x").levels.to_list() == ["a"]


def test_no_rows_are_refused_in_every_kind(make):
    with pytest.raises(TableError, match="no rows"):
        table_of(make(pl.DataFrame({"x": ["a"], "y": [1]}).clear()), "real")


DAY = st.datetimes(min_value=datetime(1700, 1, 1), max_value=datetime(2500, 1, 1))
LETTERS = st.sampled_from("aBzéÅßøŁıΩжאمक字한 \u00a0\u2003.,;:-'\"!?()[]{}/\\\u2019\u3002\U0001d4d0")
"""Letters, spaces and punctuation of several scripts."""
COLUMNS = st.one_of(
    st.lists(st.one_of(st.none(), st.sampled_from([0.0, -0.0, NAN, 1.5, -2.0, 1e300, math.inf]), st.floats(width=64))),
    st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1), st.integers(-3, 3))),
    st.lists(st.one_of(st.none(), st.booleans())),
    st.lists(st.one_of(st.none(), st.lists(LETTERS, max_size=3).map("".join))),
    st.lists(st.one_of(st.none(), DAY)),
)


def canonical(value):
    if value is None or value == "" or value != value:
        return None
    if isinstance(value, str):
        return value.strip() or value  # blanks alone are a value
    return value + 0.0 if isinstance(value, float) else value


@settings(max_examples=tries(150), deadline=None)
@given(st.lists(COLUMNS, min_size=1, max_size=1).flatmap(lambda c: st.tuples(st.just(c[0]), st.permutations(c[0]))))
def test_pool_counts_as_a_dictionary_does(lists):
    lists = [values for values in lists if values]
    if not lists:
        return
    result = pooled(*(pl.Series("x", v, dtype=None if any(e is not None for e in v) else pl.String) for v in lists))
    expected = Counter(map(canonical, lists[0]))
    for counts, own in zip(result.counts, result.codes, strict=True):
        found = dict(zip([None, *result.levels.to_list()], counts.tolist(), strict=True))
        assert {k: v for k, v in found.items() if v} == dict(expected)
        assert np.bincount(own, minlength=len(counts)).tolist() == counts.tolist()
    for values, own in zip(lists, result.codes, strict=True):
        assert [[None, *result.levels.to_list()][c] for c in own] == [canonical(v) for v in values]


@settings(max_examples=tries(100), deadline=None)
@given(st.lists(st.one_of(st.none(), st.floats(width=64), st.integers(-5, 5).map(float)), min_size=1))
def test_pandas_polars_and_pyarrow_floats_pool_alike(values):
    expected = codes(pl.Series("x", values, dtype=pl.Float64))
    assert codes(pd.Series(values, dtype="float64")) == expected
    assert codes(pd.Series(values, dtype=object)) == expected
    assert codes(pa.array(values, pa.float64())) == expected


@settings(max_examples=tries(100), deadline=None)
@given(st.lists(st.one_of(st.integers(-50, 50), st.integers(-(2**62), 2**62)), min_size=1, max_size=30))
def test_whole_numbers_keep_their_order_and_identity(values):
    assert levels(values) == sorted(set(values))


# ---------------------------------------------------------------- what is a table


@pytest.mark.parametrize("thing", [None, {"x": [1]}, [[1]], "real.csv", b"x", np.zeros((2, 2)), (1,)])
def test_what_is_no_table_is_refused_with_a_hint(thing):
    with pytest.raises(FrameError, match=r"real: a .* is not a table\. hint: pass a pandas"):
        table_of(thing, "real")


@pytest.mark.parametrize("thing", [object(), 3, pl.Series([1]), pd.Series([1]), pa.array([1]), duckdb])
def test_objects_and_single_columns_are_refused(thing):
    with pytest.raises(FrameError, match="as a table"):
        table_of(thing, "real")


def test_a_table_is_returned_as_it_is():
    table = table_of(REAL, "real")
    assert table_of(table, "real") is table


def test_a_table_takes_the_role_it_is_passed_in():
    table = replace(table_of(REAL, "real"), sha256="abc", notes=("read",))
    assert (table_of(table, "holdout").role, table_of(table, "holdout").sha256) == ("holdout", "abc")


@pytest.mark.parametrize("wrap", [narwhals.from_native, nw.from_native])
@pytest.mark.parametrize("frame", [REAL, REAL.lazy(), REAL.to_arrow(), pd.DataFrame({"x": [1]})])
def test_frames_of_narwhals_are_tables(wrap, frame):
    assert table_of(wrap(frame), "real").n_rows == table_of(frame, "real").n_rows


@pytest.mark.parametrize("make_it", [lambda t: t.to_batches()[0], lambda t: t.to_reader()])
def test_record_batches_and_readers_of_arrow_are_tables(make_it):
    assert table_of(make_it(pa.table({"x": [1, 2]})), "real").n_rows == 2


class Stream:
    """An object with Arrow's stream alone."""

    def __init__(self, own):
        self._own = own

    def __arrow_c_stream__(self, requested_schema=None):
        return self._own.__arrow_c_stream__(requested_schema)


class Convertible:
    """An object with `to_pandas` alone."""

    def __init__(self, made):
        self.to_pandas = made


def broken():
    raise RuntimeError("the ward of Ann was not found")


@pytest.mark.parametrize("has_pyarrow", [True, False])
def test_objects_with_a_stream_of_rows_are_tables(monkeypatch, has_pyarrow):
    if not has_pyarrow:
        monkeypatch.setitem(sys.modules, "pyarrow", None)
    frame = pl.DataFrame({"x": [1, 2, None], "y": ["a", "b", "é"]})
    assert collect(table_of(Stream(frame), "real")).named().equals(frame)
    with pytest.raises(FrameError, match=r"cannot read a .*Stream as a table\. hint: "):
        table_of(Stream(pl.Series([1])), "real")


def test_objects_that_become_pandas_are_tables_and_those_that_become_a_series_are_none():
    assert table_of(Convertible(lambda: pd.DataFrame({"x": [1, 2]})), "real").n_rows == 2
    with pytest.raises(FrameError, match=r"cannot read a .*Convertible as a table\. hint: "):
        table_of(Convertible(lambda: pd.Series([1])), "real")
    with pytest.raises(TableError, match="failed with a RuntimeError") as error:
        table_of(Convertible(broken), "real")
    assert "Ann" not in str(error.value)


@pytest.mark.parametrize("call", ["assess", "fidelity", "quality"])
def test_a_stream_that_can_be_read_once_is_read_once(call):
    def stream(frame):
        return Stream(frame.to_arrow().to_reader())

    frame = pl.DataFrame({"a": list("abcd") * 30, "b": list("abcdef") * 20})
    given = {"assess": {"models": False, "fidelity": False, "membership": False, "targets": ["b"]},
             "fidelity": {"measures": ["column_shapes"]}, "quality": {}}[call]  # fmt: skip
    assert str(getattr(divulge, call)(stream(frame), stream(frame[::-1]), **given))


def test_an_arrow_column_in_several_chunks_is_one_column():
    assert codes(pa.chunked_array([["b", None], [], ["a"]])) == [[2, 0, 1]]


@pytest.mark.parametrize("frame", [pl.DataFrame(), pd.DataFrame(index=[1, 2]), pa.table({})])
def test_a_table_without_columns_is_refused(frame):
    with pytest.raises(ColumnError, match="no columns"):
        table_of(frame, "synthetic")


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
        pd.DataFrame([[1, 2]], columns=[1, "1"]),
        pa.table([[1], [2]], names=["a", "a"]),
        pa.record_batch([pa.array([1]), pa.array([2])], names=["a", "a"]),
    ],
)
def test_two_columns_of_one_name_are_refused(frame):
    with pytest.raises(ColumnError, match="hint: rename"):
        table_of(frame, "real")


def test_duckdb_columns_of_one_name_are_refused():
    with pytest.raises(ColumnError, match="hint: rename"):
        table_of(duckdb.sql("select 1 as a, 2 as a"), "real")


def test_names_become_text():
    frame = pd.DataFrame([[1, 2, 3]], columns=[0, ("a", "b"), None])
    assert table_of(frame, "real").columns == ("0", "('a', 'b')", "None")


def test_names_of_two_levels_become_text():
    frame = pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")]))
    assert table_of(frame, "real").columns == ("('a', 'x')", "('a', 'y')")


def test_names_that_differ_by_case_or_blanks_are_different_columns():
    assert table_of(pl.DataFrame({"K": [1], "k": [1], "k ": [1]}), "real").columns == ("K", "k", "k ")


@pytest.mark.parametrize("name", ["^x.*$", "*", "", "a.b c", 'q"x', "c1", "len", "n_rows", "index", "'"])
def test_lazy_tables_count_columns_of_any_name(name):
    frame = pl.DataFrame({"other": [1, 2, 3], name: ["a", "a", None]})
    for lazy in (frame.lazy(), duckdb.from_arrow(frame.to_arrow())):
        table = table_of(lazy, "real")
        assert pool([table], table.columns[1]).counts[0].tolist() == [1, 2]


@pytest.mark.slow
def test_pandas_works_where_pyarrow_is_not_installed():
    script = """
        import sys
        class NoArrow:
            def find_spec(self, name, path=None, target=None):
                if name.partition(".")[0] == "pyarrow":
                    raise ModuleNotFoundError(name)
        sys.meta_path.insert(0, NoArrow())
        import pandas as pd
        from divulge.tables.frames import table_of
        from divulge.tables.pooled_columns import pool
        frame = pd.DataFrame({
            "a": [1, 2, None], "b": ["x", None, ""], "c": pd.Categorical([1, 2, None]), "d": [True, False, None],
            "e": pd.to_datetime(["2020-01-01", None, "2021-01-01"]), "f": pd.array([1, None, 2], dtype="Int64"),
            "g": pd.array(["x", None, "y"], dtype="string"),
        })
        table = table_of(frame, "real")
        print([pool([table], c).counts[0].tolist() for c in table.columns])
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stderr == ""
    assert done.stdout.strip() == str([[1, 1, 1], [2, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1]])


# ---------------------------------------------------------------- missing


@pytest.mark.parametrize(
    "column",
    [
        [None, "a"],
        ["", "a"],
        pl.Series([NAN, 1.0]),
        pl.Series([None, 1.0]),
        pd.Series([np.nan, 1.0]),
        objects(np.nan, "a"),
        objects(pd.NA, "a"),
        objects(pd.NaT, date(2020, 1, 1)),
        objects(Decimal("NaN"), Decimal(1)),
        objects(np.datetime64("NaT", "D"), np.datetime64("2020-01-01")),
        objects(complex("nan"), 1j),
        pd.Series([pd.NA, 1], dtype="Int64"),
        pd.Series([pd.NA, True], dtype="boolean"),
        pd.Series([pd.NA, "a"], dtype="string"),
        pd.Series([pd.NaT, pd.Timestamp("2020-01-01")]),
        pd.Series([pd.NaT, pd.Timestamp("2020-01-01", tz="UTC")]),
        pd.Series([pd.NaT, pd.Timedelta(1)]),
        pd.Series([None, "a"], dtype="category"),
        pd.Series(["", "a"], dtype="category"),
        pd.Series([None, 1], dtype=pd.ArrowDtype(pa.int8())),
        pd.Series([None, 1.0], dtype=pd.SparseDtype("float64")),
        pl.Series([None, "a"], dtype=pl.Categorical()),
        pl.Series([None, b"a"]),
        pl.Series([b"", b"a"]),
        pl.Series([None, [1]]),
    ],
    ids=str,
)
def test_missing_is_code_zero_however_it_is_written(column):
    assert codes(column) == [[0, 1]]


def test_a_pandas_column_may_hold_nan_and_na():
    array = pd.arrays.FloatingArray(np.array([1.0, np.nan, 7.0]), np.array([False, False, True]))
    assert codes(pd.Series(array)) == [[1, 0, 0]]


def test_an_arrow_column_may_hold_nan_and_null():
    assert codes(pa.array([1.0, NAN, None])) == [[1, 0, 0]]


@pytest.mark.parametrize("dtype", [pl.Null, pl.String, pl.Int64, pl.Float64, pl.Boolean, pl.Date, pl.Categorical()])
def test_a_column_that_is_missing_throughout_has_no_levels(dtype):
    result = pooled(pl.Series([None, None], dtype=dtype))
    assert (result.levels.len(), result.codes[0].tolist(), result.counts[0].tolist()) == (0, [0, 0], [2])
    assert result.numbers().shape == (0,)


@pytest.mark.parametrize("other", [["a"], [1], [1.5], [True], [date(2020, 1, 1)]])
def test_a_column_that_one_table_lacks_altogether_takes_the_family_of_the_other(other):
    both = pooled(pl.Series([None, None], dtype=pl.String), other)
    assert both.family == pooled(other).family
    assert [c.tolist() for c in both.codes] == [[0, 0], [1]]
    assert both.note == ""


def test_the_text_nan_is_a_value_unless_it_stands_beside_numbers():
    assert levels(["nan", "a"]) == ["a", "nan"]
    assert codes(["nan", "1"], [1, 2]) == [[0, 1], [1, 2]]


def test_case_tells_texts_apart_and_blanks_around_and_the_unicode_form_do_not():
    assert levels(["a", " a", "a ", "A", "é", "e\u0301", " "]) == [" ", "A", "a", "é"]


# ---------------------------------------------------------------- codes for missing


def test_a_code_for_missing_turns_text_into_numbers():
    result = pooled(["1", "N", "10", "9"], missing=["N"])
    assert (result.family, result.levels.to_list()) == ("number", [1.0, 9.0, 10.0])


def test_a_code_in_one_table_only_leaves_numbers_in_all():
    result = pooled(["1", "N", "10"], ["10", "1", "1"], missing=["N"])
    assert (result.family, [c.tolist() for c in result.codes]) == ("number", [[1, 0, 2], [2, 1, 1]])


def test_codes_compare_with_numbers_as_numbers():
    assert codes(pl.Series([-8.0, 1.0]), [1, -8], missing=["-8"]) == [[0, 1], [1, 0]]


def test_a_code_written_with_decimals_finds_whole_numbers():
    assert codes([-8, 1], missing=["-8.0"]) == [[0, 1]]


def test_a_code_that_is_no_number_leaves_numbers_alone():
    assert codes([-8, 1], missing=["?", "nan"]) == [[1, 2]]


def test_codes_leave_dates_beside_them_dates():
    assert pooled(["2020-01-01", "?"], missing=["?"]).family == "datetime"


def test_codes_with_leading_zeros_stay_text_when_others_go():
    assert levels(["01", "N", "1"], missing=["N"]) == ["01", "1"]


def test_text_without_the_codes_is_read_as_with_them():
    assert pooled(["1", "2"], missing=["N"]).family == "number"


# ---------------------------------------------------------------- numbers


def test_negative_zero_is_zero():
    for column in (pl.Series([0.0, -0.0]), pd.Series([0.0, -0.0]), pa.array([0.0, -0.0]), objects(0.0, -0.0)):
        assert codes(column) == [[1, 1]]
    assert math.copysign(1, levels(pl.Series([-0.0]))[0]) == 1


def test_negative_zero_is_zero_where_the_table_lives():
    frame = pl.DataFrame({"x": [0.0, -0.0, NAN, None]})
    for lazy in (frame.lazy(), duckdb.from_arrow(frame.to_arrow())):
        assert pooled(lazy).counts[0].tolist() == [2, 2]


def test_infinities_are_values():
    assert levels(pl.Series([math.inf, -math.inf, 1.0])) == [-math.inf, 1.0, math.inf]
    assert not pooled(pl.Series([math.inf, 1.0])).integer


def test_numbers_of_every_width_are_the_same_numbers():
    wide = [[1, 2, 3]]
    for dtype in (pl.Int8, pl.Int16, pl.Int32, pl.UInt8, pl.UInt32, pl.UInt64, pl.Float32, pl.Float64, pl.Int128):
        result = pooled(*wide, pl.Series([3, 2, 1], dtype=dtype))
        assert (result.family, [c.tolist() for c in result.codes]) == ("number", [[1, 2, 3], [3, 2, 1]])


def test_a_short_float_is_the_number_it_prints_as():
    values = [0.1, 0.2, 1 / 3]
    for column in (
        pl.Series(values, dtype=pl.Float32),
        pd.Series(values, dtype="float32"),
        pa.array(values, pa.float32()),
    ):
        assert levels(column)[:2] == [0.1, 0.2]
    assert levels(pd.Series([0.1], dtype="float16")) == [0.1]
    assert levels(objects(np.float32(0.1), None)) == [0.1]


def test_decimals_are_rounded_as_python_rounds_them():
    values = [Decimal(i * 7919) / 100 + Decimal("123456789.01") for i in range(2000)]
    expected = sorted(map(float, values))
    assert levels(pl.Series(values, dtype=pl.Decimal(38, 2))) == expected
    assert levels(pa.array(values, pa.decimal128(38, 2))) == expected
    assert levels(pa.array(values, pa.decimal256(40, 2))) == expected
    assert levels(pd.Series(values, dtype=object)) == expected
    assert levels(list(map(str, values)), [1.0])[1:] == expected


def test_whole_numbers_beyond_two_to_the_53_stay_apart():
    big = [2**53, 2**53 + 1, 2**53 + 2]
    for column in (big, pd.Series(big), pd.Series([*big, None], dtype="Int64"), pa.array(big), objects(*big)):
        assert levels(column) == big
    assert levels(pl.Series(list(map(Decimal, big)), dtype=pl.Decimal(38, 0))) == big


def test_whole_numbers_beyond_two_to_the_53_stay_apart_beside_text_and_whole_floats():
    big = [2**53, 2**53 + 1]
    result = pooled(big, list(map(str, big)), pl.Series([1.0, None]))
    assert result.levels.to_list() == [1, *big]
    assert [c.tolist() for c in result.codes] == [[2, 3], [2, 3], [1, 0]]


def test_whole_numbers_beyond_two_to_the_53_become_floats_beside_fractions():
    assert levels([2**53, 2**53 + 1], pl.Series([0.5])) == [0.5, float(2**53)]


def test_the_whole_range_of_int64_is_coded():
    assert levels([-(2**63), 0, 2**63 - 1]) == [-(2**63), 0, 2**63 - 1]


@pytest.mark.parametrize("dtype", [pl.UInt64, pl.Int128, pl.Decimal(38, 0)])
def test_integers_beyond_int64_are_told_apart(dtype):
    assert len(levels(pl.Series([2**63, 2**63 + 1, 5], dtype=dtype))) == 3


def test_python_integers_beyond_int64_are_told_apart():
    assert len(levels(objects(2**63, 2**63 + 1, 5))) == 3
    assert len(levels(objects(10**400, 1.5))) == 2


def test_huge_integers_of_duckdb_are_told_apart():
    assert len(levels(duckdb.sql("select unnest([170141183460469231731687303715884105727, 5])::HUGEINT as x"))) == 2


def test_integers_beside_the_same_numbers_as_floats_are_equal():
    assert codes([1, 2], pd.Series([2.0, np.nan])) == [[1, 2], [2, 0]]


def test_whole_floats_are_integers():
    assert pooled(pl.Series([1.0, 2.0])).integer
    assert not pooled(pl.Series([1.0, 2.5])).integer


@pytest.mark.parametrize("text", ["1", "1.0", " 1", "1 ", "1e0", "+1", "1.", "01"])
def test_text_is_the_number_it_reads_as_beside_numbers(text):
    assert codes([text], [1]) == [[1], [1]]


def test_text_minus_zero_is_zero_beside_numbers():
    assert levels(["-0", "inf"], [0]) == [0.0, math.inf]


def test_text_numerals_alone_are_numbers():
    assert levels(["1", "1.0", "10", "9"]) == [1, 9, 10]


def test_text_numerals_give_their_numbers():
    assert pooled(["1.5", "2", "N"]).numbers().tolist()[:2] == [1.5, 2.0]
    assert math.isnan(pooled(["1.5", "2", "N"]).numbers()[2])


def test_codes_with_leading_zeros_give_no_numbers():
    assert np.isnan(pooled(["01234", "90210"]).numbers()).all()


def test_leading_zeros_that_tell_values_apart_keep_text_beside_numbers():
    result = pooled(["01", "1"], [1, 2])
    assert result.family == "text"
    assert [c.tolist() for c in result.codes] == [[1, 2], [2, 3]]
    assert result.note


def test_leading_zeros_that_tell_nothing_apart_match_numbers():
    result = pooled(["01234", "90210"], [1234, 90210])
    assert [c.tolist() for c in result.codes] == [[1, 2], [1, 2]]
    assert "leading zeros" in result.note


def test_text_in_the_real_table_makes_text_of_all_and_numbers_are_written_alike():
    result = pooled(["N"], pl.Series([1.0, 2.5, NAN]), ["1", "N", "2.5"], [1, 2, 3], ["1.0", "2.50", "1e0"])
    result = dataclasses.replace(result, codes=result.codes[1:])
    assert result.levels.to_list() == ["1", "2", "2.5", "3", "N"]
    assert [c.tolist() for c in result.codes] == [[1, 3, 0], [1, 5, 3], [1, 2, 4], [1, 3, 1]]
    assert result.note.startswith(
        "is number in one table and text in another: compared as text; holds text of which 4 of 5"
    )


def test_large_whole_floats_are_written_as_integers_are():
    assert (
        codes(pl.Series([1e17, 1.0]), [10**17, 2], ["N"])[0][0]
        == codes(pl.Series([1e17, 1.0]), [10**17, 2], ["N"])[1][0]
    )


@pytest.mark.parametrize("text", ["0x1", "1d", "1²", "1 2", "one", "1,2,3", "1.2.3", "--1", "$"])
def test_what_only_resembles_a_number_is_text(text):
    assert pooled([text], [1]).family == "text"


@pytest.mark.parametrize("kind", [pl.Series, lambda v: pd.Series(v, dtype=object), pa.array])
def test_bytes_are_the_text_that_they_are_and_else_their_digits(kind):
    def frame(values):
        column = kind(values)
        return (
            pl.DataFrame({"x": column})
            if kind is pl.Series
            else pd.DataFrame({"x": column})
            if isinstance(column, pd.Series)
            else pa.table({"x": column})
        )

    tables = [
        table_of(frame(v), r)
        for v, r in (
            ([b"K12", "Zo\xeb".encode(), b"\xff\x07", None], "real"),
            (["K12", "Zo\xeb", "ff07", "x"], "synthetic"),
        )
    ]
    read = pool(tables, "x")
    assert read.codes[0].tolist()[:3] == read.codes[1].tolist()[:3] and read.codes[0][3] == 0
    assert read.levels.to_list() == ["K12", "Zo\xeb", "ff07", "x"]


def test_durations_are_the_same_in_every_unit():
    span = timedelta(days=1, microseconds=5)
    expected = [span // timedelta(microseconds=1)]
    for unit in ("us", "ns"):
        assert levels(pl.Series([span], dtype=pl.Duration(unit))) == expected
        assert levels(pa.array([span], pa.duration(unit))) == expected
    assert levels(pd.Series([pd.Timedelta(span)])) == expected
    assert levels(objects(span)) == expected
    assert levels(objects(pd.Timedelta(span))) == expected
    assert levels(pl.Series([timedelta(days=1)], dtype=pl.Duration("ms")), objects(timedelta(days=1))) == [
        86_400_000_000
    ]


def test_times_of_day_are_the_same_in_every_frame():
    noon = time(12, 0, 1)
    expected = [43_201 * 10**6]
    for column in (
        pl.Series([noon]),
        objects(noon),
        pa.array([noon], pa.time32("s")),
        pa.array([noon], pa.time64("ns")),
    ):
        assert levels(column) == expected


# ---------------------------------------------------------------- booleans


@pytest.mark.parametrize("other", [[1, 0], [1.0, 0.0], ["True", "False"], ["true", "false"], ["TRUE", "FALSE"]])
def test_booleans_match_zero_and_one_and_their_names(other):
    result = pooled([True, False], other)
    assert (result.family, [c.tolist() for c in result.codes]) == ("boolean", [[2, 1], [2, 1]])


def test_booleans_match_text_numerals():
    assert codes([True, False], ["1", "0"]) == [[2, 1], [2, 1]]


def test_booleans_match_in_three_spellings_at_once():
    assert codes([True, False], ["True", "false"], [1, 0]) == [[2, 1], [2, 1], [2, 1]]


def test_booleans_beside_other_numbers_are_numbers():
    assert levels([True, False], [0, 1, 2]) == [0.0, 1.0, 2.0]


def test_booleans_beside_other_text_are_written_alike():
    assert codes(["True", "unknown"], [True, False]) == [[2, 3], [2, 1]]


def test_what_is_no_truth_value_is_missing_beside_real_booleans():
    assert codes([True, False], ["True", "unknown"], [0, 2]) == [[2, 1], [2, 0], [1, 0]]


def test_text_true_and_false_are_booleans():
    assert levels(["True", "FALSE", None]) == [False, True]


def test_true_alone_is_coded():
    assert codes([True, None]) == [[1, 0]]


@pytest.mark.parametrize(
    "column",
    [objects(True, False, None), objects(np.True_, np.False_, np.nan), pd.Series([True, False, None], dtype="boolean")],
    ids=str,
)
def test_booleans_with_missing_values_in_pandas_are_booleans(column):
    assert (pooled(column).family, codes(column)) == ("boolean", [[2, 1, 0]])


# ---------------------------------------------------------------- dates and times

MOMENT = datetime(2020, 2, 29, 13, 14, 15)


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_moments_are_the_same_in_every_unit(unit):
    assert levels(pl.Series([MOMENT], dtype=pl.Datetime(unit))) == [MOMENT]
    assert levels(pa.array([MOMENT], pa.timestamp(unit))) == [MOMENT]
    assert levels(pd.Series([MOMENT], dtype=f"datetime64[{unit}]")) == [MOMENT]


def test_moments_before_1970_round_alike_from_nanoseconds():
    nano = np.array([-1, -1500, 1500], dtype="datetime64[ns]")
    assert levels(pd.Series(nano)) == levels(pl.Series(nano)) == levels(pa.array(nano))


def test_dates_are_moments_at_midnight():
    day = date(2020, 2, 29)
    expected = [[1], [1], [1], [1]]
    assert codes([day], [datetime(2020, 2, 29)], objects(day), pa.array([day], pa.date64())) == expected


def test_objects_may_mix_dates_and_moments():
    assert codes(objects(date(2020, 2, 29), datetime(2020, 2, 29), pd.Timestamp("2020-02-29"), pd.NaT)) == [
        [1, 1, 1, 0]
    ]


@pytest.mark.parametrize("year", [1, 1582, 1820, 1899, 2263, 9999])
def test_dates_far_away_are_dates(year):
    day = datetime(year, 1, 1)
    columns = [[day.date()], objects(day.date()), [f"{year:04}-01-01"], pd.Series([day], dtype="datetime64[s]")]
    assert levels(*columns, pa.array([day.date()])) == [day]


@pytest.mark.parametrize(
    "text",
    [
        "2020-02-29 13:14:15",
        "2020-02-29T13:14:15",
        "2020-02-29T13:14:15.000000",
        "2020-02-29T13:14:15.000000000",
        "2020-02-29T13:14:15Z",
        "2020-02-29T15:14:15+02:00",
        "2020-02-29 15:14:15+0200",
        "2020-02-29 05:44:15-07:30",
    ],
)
def test_text_of_iso_8601_is_a_moment(text):
    assert levels([text]) == [MOMENT]
    assert codes([text], [MOMENT]) == [[1], [1]]


def test_text_without_seconds_is_a_moment():
    assert levels(["2020-02-29T13:14"], ["2020-02-29T15:14+02:00"]) == [datetime(2020, 2, 29, 13, 14)]


def test_text_dates_match_dates():
    assert codes(["2020-02-29", ""], [date(2020, 2, 29)]) == [[1, 0], [1]]


@pytest.mark.parametrize("text", ["2020-02-30", "2020-13-01", "2020-01-01 25:00", "2020-01-01 10:61", "20-1"])
def test_what_only_resembles_a_date_is_text_and_not_missing(text):
    assert pooled([text]).family == "text"
    assert codes([text], ["2020-01-01"]) in ([[1], [2]], [[2], [1]])


def test_dates_beside_other_text_are_written_alike():
    result = pooled(["2020-01-01", "soon"], [date(2020, 1, 1)], [datetime(2020, 1, 1)])
    assert [c.tolist() for c in result.codes] == [[1, 2], [1], [1]]
    assert "compared as text" in result.note


# ---------------------------------------------------------------- the real table decides


ROLES = ("real", "synthetic", "holdout")


def beside(real, *others):
    return pool([table_of(as_table(c), r) for c, r in zip((real, *others), ROLES, strict=False)], "x")


def test_what_is_no_real_date_is_missing_and_counted():
    result = beside([date(2020, 1, 1)], ["2020-01-01", "soon", "soon"], [1])
    assert result.family == "datetime"
    assert [c.tolist() for c in result.codes] == [[1], [1, 0, 0], [0]]
    assert result.note == (
        "holds dates in real; 2 of 3 values in synthetic (text) cannot be read so, 1 of 1 values in holdout "
        "(numbers) cannot be read so and are taken as missing"
    )
    assert not result.read_alike


def test_what_is_no_real_number_is_missing_and_counted():
    result = beside([1.5, 2.0], ["2", "N", "N", "NaN", None])
    assert result.levels.to_list() == [1.5, 2.0]
    assert result.codes[1].tolist() == [2, 0, 0, 0, 0]
    assert "; 2 of 5 values in synthetic (text) cannot be read so" in result.note


def test_a_table_elsewhere_counts_rows_and_codes_them_alike():
    lazy = pl.LazyFrame({"x": ["31/12/2020", "31/12/2020", "soon", "soon", "soon"]})
    result = beside(["2020-12-31"], lazy)
    assert [c.tolist() for c in result.counts] == [[0, 1], [3, 2]]
    assert "3 of 5 values in synthetic (text)" in result.note
    assert result.encode(lazy.collect()["x"], 1).tolist() == [1, 1, 0, 0, 0]


def test_several_forms_in_one_column_are_read_and_named():
    mixed = beside(["2021-03-04", "2021-12-31"], ["2021-03-04", "2021-12-31", "2021-01-02", "31/12/2021", "30/11/2021"])
    assert mixed.codes[1].tolist() == [2, 4, 1, 4, 3]
    assert "YYYY-MM-DD in real and YYYY-MM-DD and DD/MM/YYYY in synthetic" in mixed.note


def test_the_form_named_is_that_of_the_values_that_cannot_be_read():
    """Most are written as in the real table; the others must not be said to be so."""
    mixed = beside(["2021-03-04", "2021-12-31"], ["2021-03-04", "2021-12-31", "2021-01-02", "05/06/2021", "07/08/2021"])
    assert (
        "2 of 5 values in synthetic (DD/MM/YYYY or MM/DD/YYYY, and no value tells which) cannot be read so"
        in mixed.note
    )


DAYS = [date(2021, 3, 4), date(2021, 12, 31), date(2021, 1, 2)]


@pytest.mark.parametrize(
    ("form", "name"),
    [
        ("%d/%m/%Y", "DD/MM/YYYY"), ("%m/%d/%Y", "MM/DD/YYYY"), ("%d.%m.%Y", "DD.MM.YYYY"), ("%d-%m-%Y", "DD-MM-YYYY"),
        ("%Y/%m/%d", "YYYY/MM/DD"), ("%d/%m/%Y 00:00", "DD/MM/YYYY"),
    ],
)  # fmt: skip
def test_dates_in_another_form_are_the_same_dates(form, name):
    real, other = [d.isoformat() for d in DAYS], [d.strftime(form) for d in DAYS]
    for tables in ((real, other), (other, real), (DAYS, other)):
        result = beside(*tables)
        assert result.family == "datetime"
        assert result.codes[0].tolist() == result.codes[1].tolist() == [2, 3, 1]
        assert result.read_alike
    assert beside(real, other).note == f"is written YYYY-MM-DD in real and {name} in synthetic: read as the same dates"
    assert beside(other, other).note == ("" if form == "%Y-%m-%d" else f"is text written {name}: read as dates")


def test_a_day_of_one_digit_is_read():
    assert codes(["2021-03-04", "2021-12-31"], ["4/3/2021", "31/12/2021"]) == [[1, 2], [1, 2]]


@pytest.mark.slow
def test_days_that_may_be_months_are_missing_unless_another_table_decides():
    unclear = ["04/03/2021", "05/06/2021"]
    result = beside(["2021-03-04", "2021-06-05"], unclear)
    assert result.family == "datetime"
    assert result.codes[1].tolist() == [0, 0]
    assert result.note == (
        "holds dates written YYYY-MM-DD in real; 2 of 2 values in synthetic (DD/MM/YYYY or MM/DD/YYYY, and no value "
        "tells which) cannot be read so and are taken as missing"
    )
    assert beside(["31/12/2021", "05/06/2021"], unclear).codes[1].tolist() == [1, 2]
    assert beside(unclear, ["12/31/2021"]).levels.to_list()[0] == datetime(2021, 4, 3)
    # equal either way, and nobody who could tell
    assert levels(["05/05/2021"]) == [datetime(2021, 5, 5)]
    assert pooled(unclear, unclear).family == "text"


@pytest.mark.parametrize(
    "text", ["32/12/2021", "1/2/2", "31/12/2021 25:00", "31/12-2021", "a31/12/2021", "Smarch 1, 2021"]
)
def test_what_only_resembles_a_date_of_another_form_is_no_date(text):
    assert pooled([text]).family == "text"


@pytest.mark.parametrize(
    "text", ["1234,5 6", "1,234.5 6", "1.234,5 6", "1 234.5 6,000.5", "1.234.567,25", "-3,25", "1'234'567.5"]
)
def test_numbers_in_another_form_are_read_or_missing(text):
    expected = {
        "1234,5 6": [0], "1,234.5 6": [0], "1.234,5 6": [0], "1 234.5 6,000.5": [0], "1.234.567,25": [1_234_567.25],
        "-3,25": [-3.25], "1'234'567.5": [1_234_567.5],
    }[text]  # fmt: skip
    result = beside([0.5], [text])
    found = result.levels.to_list()
    assert [v for v in found if v != 0.5] == [v for v in expected if v]
    assert result.read_alike == bool(expected[0])


def test_a_comma_that_may_be_either_is_not_guessed():
    result = beside([0.5], ["1,234", "2,345"])
    assert result.codes[1].tolist() == [0, 0]
    assert "(1234,5 or 1,234.5, and no value tells which)" in result.note
    assert beside([0.5], ["1,234", "2,5"]).levels.to_list() == [0.5, 1.234, 2.5]
    assert beside([0.5], ["1,234", "1,234,567"]).levels.to_list() == [0.5, 1234, 1_234_567]


def test_time_zones_become_utc():
    here = datetime(2020, 7, 1, 14, tzinfo=timezone(timedelta(hours=2)))
    noon = datetime(2020, 7, 1, 12)
    zoned = pl.Series([noon]).dt.replace_time_zone("UTC").dt.convert_time_zone("America/New_York")
    columns = [
        zoned,
        objects(here),
        pd.Series([pd.Timestamp(noon, tz="UTC")]).dt.tz_convert("Asia/Kolkata"),
        pa.array([noon.replace(tzinfo=UTC)], pa.timestamp("ms", "+05:30")),
        pa.array([noon.replace(tzinfo=UTC)], pa.timestamp("ns", "Europe/Warsaw")),
        [noon],
    ]
    assert levels(*columns) == [noon]


def test_zoned_beside_naive_moments_are_noted():
    naive = pl.Series([MOMENT])
    assert "UTC" in pooled(naive, naive.dt.replace_time_zone("UTC")).note
    assert pooled(naive, naive).note == ""


def test_the_hour_that_occurs_twice_stays_two_moments():
    twice = pl.Series([datetime(2020, 10, 25, 0, 30), datetime(2020, 10, 25, 1, 30)]).dt.replace_time_zone("UTC")
    assert len(levels(twice.dt.convert_time_zone("Europe/Warsaw"))) == 2


def test_timestamps_of_duckdb_with_zones_become_utc():
    relation = duckdb.sql("select TIMESTAMPTZ '2020-07-01 14:00:00+02' as x")
    assert levels(relation) == [datetime(2020, 7, 1, 12)]


def test_periods_are_moments():
    assert levels(pd.Series(pd.period_range("2020-01", periods=2, freq="M"))) == [
        datetime(2020, 1, 1),
        datetime(2020, 2, 1),
    ]


def test_moments_give_microseconds():
    assert pooled([datetime(1970, 1, 1, 0, 0, 1)]).numbers().tolist() == [1e6]


# ---------------------------------------------------------------- categories, objects, nested and rare types


@pytest.mark.parametrize(
    ("values", "family"),
    [
        (["b", "a", None], "text"),
        ([2, 1, None], "number"),
        ([2.5, 1.0, None], "number"),
        ([True, False, None], "boolean"),
        ([datetime(2021, 1, 1), datetime(2020, 1, 1), None], "datetime"),
        ([date(2021, 1, 1), date(2020, 1, 1), None], "datetime"),
        ([Decimal("2.5"), Decimal(1), None], "number"),
    ],
    ids=str,
)
def test_categories_of_pandas_count_as_their_levels(values, family):
    column = pd.Series(values, dtype="category")
    assert (pooled(column).family, codes(column)) == (family, [[2, 1, 0]])
    assert codes(column, objects(*values)) == [[2, 1, 0], [2, 1, 0]]


def test_the_order_of_categories_changes_nothing():
    assert levels(pd.Series(pd.Categorical(["b", "a"], categories=["z", "b", "a"], ordered=True))) == ["a", "b"]


def test_categories_nobody_has_are_no_levels():
    assert levels(pl.Series(["a"], dtype=pl.Enum(["z", "a"]))) == ["a"]


def test_bins_of_pandas_are_text():
    column = pd.cut(pd.Series([1, 5, 9]), [0, 4, 10])
    assert codes(column) == [[1, 2, 2]]
    assert codes(pd.Series(column.array.astype(pd.IntervalDtype("int64")))) == [[1, 2, 2]]


@pytest.mark.parametrize(
    "values", [["b", "a", None], [2, 1, None], [2.5, 1.5, None], [MOMENT, datetime(2000, 1, 1), None]]
)
def test_dictionaries_of_arrow_count_as_their_values(values):
    array = pa.array(values).dictionary_encode()
    assert codes(array) == codes(pd.Series(array, dtype=pd.ArrowDtype(array.type))) == [[2, 1, 0]]


def test_dictionaries_of_arrow_may_hold_null_as_a_value():
    array = pa.DictionaryArray.from_arrays(pa.array([0, 1, None]), pa.array(["a", None]))
    assert codes(array) == [[1, 0, 0]]


def test_objects_of_mixed_types_are_text_as_their_columns_would_be():
    assert levels(objects(1, 1.0, "1", True, 2.5, b"\x01", Decimal("2.5"), None)) == ["01", "1", "2.5", "true"]


def test_integers_and_floats_in_one_object_column_are_numbers():
    assert codes(objects(1, 1.0, Decimal(1), np.int8(1), None)) == [[1, 1, 1, 1, 0]]


def test_moments_of_numpy_in_objects_are_moments():
    assert levels(objects(np.datetime64("2020-01-01T00:00:00.000000001"), None)) == [datetime(2020, 1, 1)]


def test_objects_of_polars_are_read_value_by_value():
    assert codes(pl.Series([1, None, 2], dtype=pl.Object)) == [[1, 0, 2]]


def test_lists_and_structs_are_told_apart_by_their_values():
    assert codes(pl.Series([[1, 2], [1], None, [1]])) == [[1, 2, 0, 2]]
    assert codes(objects([1, 2], np.array([1]), None, [1])) == [[1, 2, 0, 2]]
    assert codes(pl.Series([{"a": 1}, {"a": 2}, None])) == [[1, 2, 0]]
    assert codes(pl.Series([{"a": 1}, {"a": 2}]), pa.array([{"a": 1}, {"a": 2}])) == [[1, 2], [1, 2]]


def test_bytes_are_the_same_in_every_frame():
    values = [b"\x00\xff", b"a"]
    assert (
        codes(pl.Series(values), objects(*values), pa.array(values), pa.array(values, pa.binary_view())) == [[1, 2]] * 4
    )


def test_identifiers_of_128_bits_are_the_same_in_every_frame():
    one = UUID(int=1)
    relation = duckdb.sql(f"select '{one}'::UUID as x")
    assert levels(objects(one), relation) == [str(one)]
    if hasattr(pa, "uuid"):
        assert levels(pa.array([one.bytes], pa.uuid())) == [str(one)]


def test_sparse_columns_count_as_full_ones():
    assert codes(pd.Series([0, 0, 3], dtype=pd.SparseDtype("int64"))) == [[1, 1, 2]]


def test_run_end_encoded_columns_count_as_full_ones():
    assert codes(pa.RunEndEncodedArray.from_arrays([2, 3], ["b", "a"])) == [[2, 2, 1]]


def test_complex_numbers_are_text():
    assert pooled(pd.Series([1j, 2j])).family == "text"


def test_intervals_of_arrow_are_durations_with_months_of_30_days():
    column = pooled(pa.array([(1, 2, 3000), (0, 0, 0)], pa.month_day_nano_interval()))
    assert (column.family, column.levels.to_list()) == ("number", [0, 32 * 86_400_000_000 + 3])


def test_columns_of_big_endian_numbers_are_read():
    assert codes(pd.Series(np.array([2, 1], dtype=">i4"))) == [[2, 1]]


def test_enums_and_decimals_of_duckdb_count():
    relation = duckdb.sql("select unnest(['a', 'b'])::ENUM('b', 'a') as x")
    assert levels(relation) == ["a", "b"]
    assert levels(duckdb.sql("select 1.50::DECIMAL(10, 2) as x"), [1.5]) == [1.5]


def test_lists_of_duckdb_count():
    assert pooled(duckdb.sql("select [1, 2] as x union all select [1, 2]")).counts[0].tolist() == [0, 2]


def test_intervals_of_duckdb_are_durations():
    assert levels(duckdb.sql("select INTERVAL 77 DAY as x")) == [77 * 86_400_000_000]


def test_a_query_that_fails_says_so_without_a_value():
    relation = duckdb.sql("select 'secret'::INTEGER as x from range(3) where range > 0 and random() >= 0")
    with pytest.raises(TableError, match="engine") as error:
        pool([table_of(relation, "real")], "x")
    assert "secret" not in str(error.value)
    lazy = pl.LazyFrame({"x": ["secret"]}).select(pl.col("x").cast(pl.Int64))
    with pytest.raises(TableError, match="engine") as error:
        pool([table_of(lazy, "real")], "x")
    assert "secret" not in str(error.value)


# ---------------------------------------------------------------- pooling, profiles, fingerprints


def test_levels_ascend_and_codes_point_at_them():
    result = pooled(["b", "a", None], ["c", "a"])
    assert result.levels.to_list() == ["a", "b", "c"]
    assert [c.tolist() for c in result.codes] == [[2, 1, 0], [3, 1]]
    assert [c.tolist() for c in result.counts] == [[1, 1, 1, 0], [0, 1, 0, 1]]
    assert all(c.dtype == np.int32 for c in result.codes)
    assert all(c.dtype == np.int64 for c in result.counts)


def test_wide_and_narrow_numbers_are_coded_alike():
    narrow, wide = [3, 1, None, 2], [3 * 10**12, 10**12, None, 2 * 10**12]
    assert codes(narrow) == codes(wide) == [[3, 1, 0, 2]]


def test_tables_that_live_elsewhere_have_counts_and_no_codes():
    result = pooled(pl.LazyFrame({"x": ["a", "b", "a", None]}), ["c"])
    assert result.codes[0] is None
    assert [c.tolist() for c in result.counts] == [[1, 2, 1, 0], [0, 0, 0, 1]]


@pytest.mark.parametrize("column", REAL.columns)
def test_raw_values_encode_as_pooling_encoded_them(column):
    tables = [table_of(REAL, "real"), table_of(SYNTHETIC, "synthetic")]
    result = pool(tables, column)
    assert result.encode(tables[0].series(column)).tolist() == result.codes[0].tolist()


def test_raw_text_encodes_beside_numbers_and_codes():
    tables = [table_of(as_table(c), "real") for c in (["1", "N", "1.0"], [1, 2], ["?", "x"])]
    result = pool(tables, "x", ["N"])
    for table, expected in zip(tables, result.codes, strict=True):
        assert result.encode(table.series("x")).tolist() == expected.tolist()


def test_profiles_of_two_columns_sum_to_the_rows():
    for lazy in (REAL.lazy(), duckdb.from_arrow(REAL.to_arrow())):
        raw, weight = profiles(table_of(lazy, "real"), ["sex", "income"])
        assert weight.sum() == REAL.height
        assert len(raw) == 2


def test_collecting_keeps_names_role_and_counts():
    lazy = table_of(duckdb.from_arrow(REAL.to_arrow()), "holdout")
    table = collect(lazy)
    assert (table.role, table.columns, table.n_rows) == ("holdout", lazy.columns, lazy.n_rows)
    assert table.lazy is None
    for column in REAL.columns:
        assert pool([table], column).counts[0].tolist() == pool([lazy], column).counts[0].tolist()


def test_collecting_a_table_in_memory_changes_nothing():
    table = table_of(REAL, "real")
    assert collect(table) is table


def prints(*columns, which=0):
    return fingerprint([pooled(*columns)], which)


def test_fingerprints_depend_on_values_order_and_missing():
    seen = {
        prints(c) for c in (["a", "b"], ["b", "a"], ["a", None], ["a", "a"], ["ab"], ["a", "c"], [True, False], [1, 2])
    }
    assert len(seen) == 8


def test_fingerprints_do_not_depend_on_the_other_tables():
    assert prints(["a", "c", None]) == prints(["a", "c", None], ["b", "d"]) == prints(["b"], ["a", "c", None], which=1)


def test_fingerprints_of_tables_elsewhere_tell_values_apart():
    one, other = pl.LazyFrame({"x": ["a", "b"]}), pl.LazyFrame({"x": ["a", "c"]})
    assert prints(one) != prints(other)
    assert prints(one) == prints(one, ["z"])


def test_fingerprints_are_the_same_some_values_at_a_time(monkeypatch):
    columns = ["ab", "a", None, "c"], [1.5, -0.0, 1e300, None, 2.0], [True, None]
    expected = [prints(c) for c in columns]
    for module in (fingerprints, column_families):
        monkeypatch.setattr(module, "_AT_ONCE", 2)
    assert [prints(c) for c in columns] == expected


def test_notes_name_no_value():
    note = pooled(["secret", "1"], [1, 2], [True, False]).note
    assert note
    assert "secret" not in note
