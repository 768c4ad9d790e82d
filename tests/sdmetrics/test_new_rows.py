"""NewRowSynthesis gives SDMetrics' numbers: golden runs, pandas' own query, laws, warnings and errors."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from divulge.kernels.predicates.predicates import Conjunctions
from divulge.sdmetrics import new_rows as module
from divulge.sdmetrics.new_rows import new_rows

NUMBER, TEXT, TRUTH, DATE = ({"sdtype": s} for s in ("numerical", "categorical", "boolean", "datetime"))

# ---------------------------------------------------------------- tables


def column(rng, kind, n):
    """Return one column; the kind says what is in it."""
    days = (pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(-9000, 9000, n), unit="D")).to_numpy()
    if kind == "float":
        return np.round(rng.normal(size=n), 1)
    if kind == "float32":
        return np.round(rng.normal(size=n), 1).astype(np.float32)
    if kind == "gaps":
        return np.where(rng.random(n) < 0.2, np.nan, np.round(rng.normal(size=n), 1))
    if kind == "endless":
        return np.where(
            rng.random(n) < 0.1, -np.inf, np.where(rng.random(n) < 0.1, np.inf, np.round(rng.normal(size=n)))
        )
    if kind == "whole":
        return rng.integers(-3, 200, n)
    if kind == "long":  # more digits than a float has
        return 2**60 + rng.integers(0, 200, n)
    if kind == "int8":
        return rng.integers(-128, 128, n).astype(np.int8)
    if kind == "uint8":
        return rng.integers(0, 256, n).astype(np.uint8)
    if kind == "text":
        return rng.choice(["it's", 'a "b"', "c", "1"], n).astype(object)
    if kind == "mixed":
        out = np.empty(n, dtype=object)
        out[:] = [[1, "1", True, None, 2.5, "x"][i] for i in rng.integers(0, 6, n)]
        return out
    if kind == "bool":
        return rng.random(n) < 0.4
    if kind == "day":
        return days.astype("datetime64[ns]")
    assert kind == "day_gaps"
    return np.where(rng.random(n) < 0.2, np.datetime64("NaT", "ns"), days.astype("datetime64[ns]"))


TYPES = {"text": TEXT, "mixed": TEXT, "bool": TRUTH, "day": DATE, "day_gaps": DATE}
CASES = {  # kinds, rows of the real and the synthetic table, tolerance, rows drawn, with metadata
    "categories": (["text", "bool"], (9, 90), 0.01, None, True),
    "mixed objects": (["mixed", "text"], (12, 90), 0.01, None, True),
    "numbers": (["float", "whole"], (200, 150), 0.05, None, True),
    "without metadata": (["float", "whole", "text"], (300, 150), 0.3, None, False),
    "equal numbers": (["float", "bool"], (60, 150), 0, None, True),
    "missing": (["gaps", "day_gaps", "bool"], (90, 150), 0.3, None, True),
    "dates": (["day"], (30, 150), 0.01, None, True),
    "dates beside floats": (["day", "float"], (200, 150), 0.1, None, True),
    "infinities": (["endless", "bool"], (30, 150), 0.01, None, True),
    "long numbers": (["long", "bool"], (90, 150), 0, None, True),
    "long numbers beside floats": (["long", "float"], (90, 150), 0, None, True),
    "long categories": (["long"], (90, 150), 0, None, "categorical"),
    "narrow": (["float32", "bool"], (30, 150), 0.1, None, True),
    "narrow alone": (["float32", "float32"], (90, 150), 0.1, None, True),
    "wraps": (["int8", "text"], (150, 150), 0.3, None, True),
    "wraps without a sign": (["uint8", "text"], (150, 150), 0.1, None, True),
    "wraps twice": (["int8", "uint8"], (150, 150), 1, None, True),
    "sampled": (["float", "bool"], (30, 150), 0.05, 60, True),
    "one row": (["float"], (1, 1), 1.5, None, True),
}


def tables(case):
    """Return a real and a synthetic table; a tenth of the synthetic rows are real ones."""
    kinds, sizes, tolerance, size, known = CASES[case]
    rng = np.random.default_rng(len(case))
    real, synthetic = ({f"{kind}_{j}": column(rng, kind, n) for j, kind in enumerate(kinds)} for n in sizes)
    rows = rng.integers(0, sizes[0], sizes[1] // 10)
    for name in real:
        synthetic[name][: len(rows)] = real[name][rows]
    entries = {n: TEXT if known == "categorical" else TYPES.get(n.rsplit("_", 1)[0], NUMBER) for n in real}
    return pd.DataFrame(real), pd.DataFrame(synthetic), {"columns": entries} if known else None, tolerance, size


# ---------------------------------------------------------------- golden numbers

# SDMetrics 0.32.0 with pandas 2.3.3 and numpy 2.4.6 on these tables: np.random.seed(3), then
# NewRowSynthesis.compute_breakdown(real, synthetic, metadata, None, tolerance, size)["num_new_rows"].
NEW_ROWS = {
    "categories": 12,
    "mixed objects": 53,
    "numbers": 101,
    "without metadata": 30,
    "equal numbers": 49,
    "missing": 28,
    "dates": 76,
    "dates beside floats": 41,
    "infinities": 2,
    "long numbers": 113,
    "long numbers beside floats": 42,
    "long categories": 97,
    "narrow": 76,
    "narrow alone": 116,
    "wraps": 9,
    "wraps without a sign": 35,
    "wraps twice": 3,
    "sampled": 38,
    "one row": 1,
}


@pytest.mark.parametrize("case", CASES)
def test_scores_are_those_of_sdmetrics(case):
    real, synthetic, metadata, tolerance, size = tables(case)
    found = new_rows(real, synthetic, metadata, None, tolerance, size, seed=3)
    n, n_new = size or len(synthetic), NEW_ROWS[case]
    assert found == {"score": n_new / n, "num_new_rows": n_new, "num_matched_rows": n - n_new}
    assert [type(x) for x in found.values()] == [float, int, int]


# ---------------------------------------------------------------- pandas' own query


def by_query(real, synthetic, tolerance, numbers):
    """Return how many synthetic rows no query finds, one query for each row."""
    n_new = 0
    for _, row in synthetic.iterrows():
        parts = []
        for name in real.columns:
            if pd.isna(row[name]):
                parts.append(f"`{name}`.isnull()")
            elif name in numbers:
                parts.append(f"abs(`{name}` - {row[name]}) <= {abs(tolerance * row[name])}")
            else:
                parts.append(
                    f"`{name}` == {row[name]!r}" if real[name].dtype.kind == "O" else f"`{name}` == {row[name]}"
                )
        n_new += real.query(" and ".join(parts), engine="python").empty
    return n_new


@pytest.mark.first(12)
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("tolerance", [0.01, 0.1, 1 / 3, 1, -0.05, 0])
def test_ends_of_intervals_round_as_a_query_does(seed, tolerance):
    # real numbers at the ends of the intervals and one last bit beside them
    rng = np.random.default_rng(seed)
    synthetic = np.round(rng.normal(size=40), rng.integers(0, 4))
    ends = np.concatenate([synthetic * (1 + tolerance), synthetic * (1 - tolerance), synthetic - tolerance * synthetic])
    ends = np.concatenate([ends, np.nextafter(ends, np.inf), np.nextafter(ends, -np.inf)])
    real = pd.DataFrame({"x": rng.choice(ends, 25)})
    frame = pd.DataFrame({"x": synthetic})
    found = new_rows(real, frame, {"columns": {"x": NUMBER}}, None, tolerance)
    assert found["num_new_rows"] == by_query(real, frame, tolerance, ["x"])


@pytest.mark.first(2)
@pytest.mark.parametrize("seed", range(6))
def test_many_columns_as_a_query_does(seed):
    rng = np.random.default_rng(seed)

    def table(n):
        return pd.DataFrame(
            {
                "a b": np.where(rng.random(n) < 0.2, np.nan, rng.integers(0, 60, n)),
                "c": rng.choice(["x", "y", None], n).astype(object),
                "d": rng.integers(0, 90, n),
            }
        )

    real, synthetic = table(90), table(60)
    metadata = {"columns": {"a b": NUMBER, "c": TEXT, "d": NUMBER}}
    expected = by_query(real, synthetic, 0.1, ["a b", "d"])
    assert new_rows(real, synthetic, metadata, numerical_match_tolerance=0.1)["num_new_rows"] == expected
    assert 0 < expected < 60


# ---------------------------------------------------------------- laws


def test_order_of_rows_and_columns_and_threads_change_no_digit(monkeypatch):
    for case in ("missing", "without metadata", "wraps"):
        real, synthetic, metadata, tolerance, _ = tables(case)
        found = new_rows(real, synthetic, metadata, None, tolerance)
        shuffled = [f.sample(frac=1, random_state=1) for f in (real, synthetic)]
        assert new_rows(*shuffled, metadata, None, tolerance) == found
        assert new_rows(real[real.columns[::-1]], synthetic, metadata, None, tolerance) == found
        monkeypatch.setattr(module, "_IN_WINDOWS", -1)
        for threads, engine in ((1, "compiled"), (3, "compiled"), (2, "numpy")):
            monkeypatch.setattr(
                module, "Conjunctions", lambda codes, t=threads, e=engine, **_: Conjunctions(codes, threads=t, engine=e)
            )
            assert new_rows(real, synthetic, metadata, None, tolerance) == found
        monkeypatch.undo()


def as_polars(frame):
    columns = {}
    for name in frame:
        values = frame[name].to_numpy()
        if values.dtype == object:
            values = [None if pd.isna(v) else v for v in values]
        columns[name] = pl.Series(values, nan_to_null=True)
    return pl.DataFrame(columns)


@pytest.mark.parametrize("case", ["categories", "numbers", "without metadata", "equal numbers", "missing", "dates"])
def test_the_kind_of_frame_changes_no_digit(case):
    real, synthetic, metadata, tolerance, _ = tables(case)
    found = new_rows(real, synthetic, metadata, None, tolerance)
    assert new_rows(as_polars(real), as_polars(synthetic), metadata, None, tolerance) == found
    assert new_rows(real.convert_dtypes(), synthetic.convert_dtypes(), metadata, None, tolerance) == found
    known = metadata or {"columns": {n: TYPES.get(n.rsplit("_", 1)[0], NUMBER) for n in real}}
    texts = {n: "category" for n, entry in known["columns"].items() if entry in (TEXT, TRUTH)}
    assert new_rows(real.astype(texts), synthetic.astype(texts), known, None, tolerance) == found


def test_a_copy_is_not_new_and_other_rows_are():
    real, *_ = tables("missing")
    assert new_rows(real, real)["score"] == 0.0
    assert new_rows(real[:0], real)["score"] == 1.0
    assert new_rows(real[["bool_2"]][:1], ~real[["bool_2"]][:1])["num_new_rows"] == 1


# ---------------------------------------------------------------- which columns, and what they hold


def test_personal_fields_and_keys_are_left_out():
    real = pd.DataFrame({"a": [1, 2], "b": ["x", "y"], "c": [5.0, 6.0], "d": ["u", "v"]})
    synthetic = pd.DataFrame({"a": [7], "b": ["z"], "c": [9.0], "d": ["u"]})
    entries = {"a": NUMBER, "b": TEXT | {"pii": False}, "c": NUMBER, "d": TEXT}
    assert new_rows(real, synthetic, {"columns": entries, "primary_key": "a", "alternate_keys": ["c"]})["score"] == 0.0
    assert (
        new_rows(real, synthetic, {"columns": entries, "primary_key": "a", "alternate_keys": [["c"]]})["score"] == 0.0
    )
    assert new_rows(real, synthetic, {"columns": entries, "primary_key": "a"})["score"] == 1.0
    # a primary key of several columns is not left out
    assert new_rows(real, synthetic, {"columns": entries, "primary_key": ["a", "c"]})["score"] == 1.0
    entries["d"] = {"sdtype": "ordinal"}
    assert new_rows(real, synthetic, {"columns": entries, "primary_key": "a", "alternate_keys": ["c"]})["score"] == 0.0
    entries["d"] = {"sdtype": "id"}
    with pytest.raises(ValueError, match="No column is left to compare"):
        new_rows(real, synthetic, {"columns": entries, "primary_key": "a", "alternate_keys": ["c"]})


def test_half_a_year_is_one_per_cent_of_the_time_since_1970():
    real = pd.DataFrame({"d": pd.to_datetime(["2020-01-01", None])})
    synthetic = pd.DataFrame({"d": pd.to_datetime(["2020-06-15", "2020-07-20", "2019-07-10", None])})
    assert new_rows(real, synthetic)["num_new_rows"] == 1
    assert new_rows(real[:1], synthetic)["num_new_rows"] == 2
    written = [f.apply(lambda c: c.dt.strftime("%d.%m.%Y")) for f in (real, synthetic)]
    form = {"columns": {"d": DATE | {"datetime_format": "%d.%m.%Y"}}}
    assert new_rows(*written, form)["num_new_rows"] == 1


def test_an_infinite_number_matches_every_other_number():
    # |r - inf| <= |0.01 * inf| holds for any r but infinity itself
    metadata = {"columns": {"x": NUMBER}}
    for sign in (1, -1):
        synthetic = pd.DataFrame({"x": [sign * np.inf]})
        for real, n_new in ((np.inf, 1), (-np.inf, 0), (3.0, 0)):
            assert new_rows(pd.DataFrame({"x": [sign * real]}), synthetic, metadata)["num_new_rows"] == n_new
            assert by_query(pd.DataFrame({"x": [sign * real]}), synthetic, 0.01, ["x"]) == n_new
        # a query cannot say infinity times 0: equal numbers match
        assert new_rows(synthetic, synthetic, metadata, numerical_match_tolerance=0)["num_new_rows"] == 0


def test_two_shapes_of_metadata_and_dictionaries_of_tables():
    real, synthetic, metadata, tolerance, _ = tables("numbers")
    found = new_rows(real, synthetic, metadata, None, tolerance)
    unified = {"tables": {"t": metadata}, "relationships": []}
    assert new_rows({"t": real}, {"t": synthetic}, unified, "t", tolerance) == found
    assert new_rows(real, synthetic, unified, numerical_match_tolerance=tolerance) == found


def test_what_sdmetrics_fails_on_but_is_clear():
    # numbers without a sign and no metadata; names that are no text or hold back-ticks; objects that are numbers
    whole = pd.DataFrame({"a": np.array([3, 250], np.uint8)})
    assert new_rows(whole, whole)["score"] == 0.0
    for name in (0, "a`"):
        frame = pd.DataFrame({name: ["x", "y"]})
        assert new_rows(frame, frame.replace("y", "z"))["score"] == 0.5
    numbers = pd.DataFrame({"a": [1, None, 3]}, dtype=object)
    others = pd.DataFrame({"a": [1, None, 4]}, dtype=object)
    assert new_rows(numbers, others, {"columns": {"a": NUMBER}})["num_new_rows"] == 1
    truths = pd.DataFrame({"a": [True, False]})
    assert new_rows(truths[:1], truths, {"columns": {"a": NUMBER}})["num_new_rows"] == 1
    days = pd.DataFrame({"a": pd.to_datetime(["2020-01-01", "2020-01-02"])})
    assert new_rows(days[:1], days, {"columns": {"a": TEXT}})["num_new_rows"] == 1


def test_text_beside_a_column_of_numbers_is_read_as_a_number():
    # it is written without quotes into the query
    real, synthetic = pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"a": ["1", "2.0", "3", "no"]})
    assert new_rows(real, synthetic, {"columns": {"a": TEXT}})["num_new_rows"] == 2
    assert new_rows(real.astype(str), synthetic, {"columns": {"a": TEXT}})["num_new_rows"] == 3


# ---------------------------------------------------------------- warnings and errors


def test_the_warning_of_a_sample_that_is_too_large():
    real, synthetic, metadata, tolerance, _ = tables("numbers")
    with pytest.warns(UserWarning, match=r"`synthetic_sample_size` of 151 is larger than .* \(150\)"):
        found = new_rows(real, synthetic, metadata, None, tolerance, 151)
    assert found == new_rows(real, synthetic, metadata, None, tolerance)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sum(list(new_rows(real, synthetic, metadata, None, tolerance, 150).values())[1:]) == 150


def test_errors():
    frame = pd.DataFrame({"a": [1.0, 2.0]})
    with pytest.raises(ValueError, match="must have the same columns"):
        new_rows(frame, frame.rename(columns={"a": "b"}))
    with pytest.raises(ValueError, match="not found in metadata"):
        new_rows(frame, frame, {"columns": {}})
    with pytest.raises(ValueError, match="not found in data"):
        new_rows(frame, frame, {"columns": {"a": NUMBER, "b": TEXT}})
    with pytest.raises(TypeError, match="Expected a dictionary"):
        new_rows(frame, frame, [])
    for tolerance in (None, "0.1", True):
        with pytest.raises(TypeError, match="numerical_match_tolerance"):
            new_rows(frame, frame, None, None, tolerance)
    with pytest.raises(ValueError, match="not nan"):
        new_rows(frame, frame, None, None, float("nan"))
    for size in (-1, 1.5):
        with pytest.raises(ValueError, match="synthetic_sample_size"):
            new_rows(frame, frame, None, None, 0.01, size)
    with pytest.raises(ZeroDivisionError, match="no synthetic rows"):
        new_rows(frame, frame[:0])
    with pytest.raises(ZeroDivisionError, match="no synthetic rows"):
        new_rows(frame, frame, None, None, 0.01, 0)
    with pytest.raises(AttributeError, match="no sdtype"):
        new_rows(*[pd.DataFrame({"a": pd.to_timedelta([1], unit="s")})] * 2)
    with pytest.raises(TypeError, match="holds instants"):
        new_rows(*[pd.DataFrame({"a": pd.to_datetime(["2020-01-01"])})] * 2, {"columns": {"a": NUMBER}})
    with pytest.raises(ValueError, match="datetime_format"):
        new_rows(*[pd.DataFrame({"a": ["2020"]})] * 2, {"columns": {"a": DATE}})
    with pytest.raises(TypeError, match="no numbers") as error:
        new_rows(*[pd.DataFrame({"a": ["secret"]})] * 2, {"columns": {"a": NUMBER}})
    assert "secret" not in str(error.value)
