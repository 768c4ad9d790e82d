"""The two DCR metrics give SDMetrics' numbers: golden runs, an oracle in plain numpy, laws, warnings and errors."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from divulge.kernels.neighbours.index import Index
from divulge.sdmetrics import gaps
from divulge.sdmetrics.closest import baseline, overfitting
from divulge.sdmetrics.columns import frame_of

# ---------------------------------------------------------------- tables


def column(rng, kind, n):
    """Return one column; the kind says what is in it."""
    day = pd.Timestamp("2020-01-01")
    if kind == "float":
        return rng.normal(size=n)
    if kind == "float32":
        return rng.normal(size=n).astype(np.float32)
    if kind == "gaps":
        return np.where(rng.random(n) < 0.15, np.nan, np.round(rng.normal(size=n), 1))
    if kind == "whole":
        return rng.integers(0, 8, n)
    if kind == "int8":  # differences leave the dtype
        return rng.integers(-100, 100, n).astype(np.int8)
    if kind == "uint8":  # differences below zero wrap around
        return rng.integers(0, 40, n).astype(np.uint8)
    if kind == "long":
        return 2**60 + rng.integers(0, 50, n)
    if kind == "text":
        return rng.choice(["a", "b", "c", "d"], n).astype(object)
    if kind == "text_gaps":
        return np.where(rng.random(n) < 0.15, None, rng.choice(["a", "b", "c"], n).astype(object))
    if kind == "bool":
        return rng.random(n) < 0.4
    if kind == "constant":
        return np.full(n, 3.5)
    if kind == "nearly_constant":
        return np.where(rng.random(n) < 0.05, 4, 3)
    if kind == "nothing":
        return np.full(n, np.nan)
    if kind == "endless":
        return np.where(rng.random(n) < 0.05, np.inf, np.round(rng.normal(size=n), 1))
    if kind == "day":
        return (day + pd.to_timedelta(rng.integers(0, 40, n), unit="D")).to_numpy().astype("datetime64[ns]")
    if kind == "day_gaps":
        days = (day + pd.to_timedelta(rng.integers(0, 40, n), unit="D")).to_numpy().astype("datetime64[ns]")
        return np.where(rng.random(n) < 0.15, np.datetime64("NaT", "ns"), days)
    if kind == "instant":
        return (day + pd.to_timedelta(rng.integers(0, 10**17, n), unit="ns")).to_numpy().astype("datetime64[ns]")
    if kind == "tick":  # range of less than 2 microseconds
        return (day + pd.to_timedelta(rng.integers(0, 1500, n), unit="ns")).to_numpy().astype("datetime64[ns]")
    assert kind == "written"
    return (day + pd.to_timedelta(rng.integers(0, 40, n), unit="D")).strftime("%Y/%m/%d").to_numpy(dtype=object)


def sdtype(kind):
    if kind in ("text", "text_gaps"):
        return {"sdtype": "categorical"}
    if kind == "bool":
        return {"sdtype": "boolean"}
    if kind in ("day", "day_gaps", "instant", "tick"):
        return {"sdtype": "datetime"}
    return {"sdtype": "datetime", "datetime_format": "%Y/%m/%d"} if kind == "written" else {"sdtype": "numerical"}


CASES = {  # kinds, rows of the synthetic, training and validation table, rows drawn
    "categories": (["text", "text_gaps", "bool", "text"], (90, 80, 70), None),
    "numbers": (["float", "whole", "long"], (90, 80, 70), None),
    "ties": (["whole", "whole", "text", "whole", "nearly_constant"], (120, 110, 100), None),
    "dates": (["day", "day_gaps", "instant", "text"], (80, 70, 60), None),
    "written": (["written", "whole", "text_gaps"], (80, 70, 60), None),
    "ticks": (["tick", "whole"], (60, 50, 40), None),
    "missing": (["gaps", "text_gaps", "day_gaps", "whole"], (80, 70, 60), None),
    "constants": (["constant", "nearly_constant", "text"], (60, 50, 40), None),
    "narrow": (["float32", "whole", "text"], (90, 80, 70), None),
    "wraps": (["int8", "uint8", "text"], (90, 80, 70), None),
    "one row": (["float", "text", "day"], (1, 1, 1), None),
    "chunks": (["whole", "text", "whole"], (1001, 40, 1002), None),
    "sampled": (["float", "whole", "text", "gaps"], (90, 80, 70), 30),
    "wide": (["whole", "gaps", "text", "float"] * 4, (60, 50, 40), None),
}
ENDLESS = {  # DCRBaselineProtection has no range to draw from
    "infinities": (["endless", "whole", "text"], (90, 80, 70), None),
    "all missing": (["nothing", "whole", "text"], (90, 80, 70), None),
}


def tables(case):
    """Return the synthetic, training and validation table; a third of the synthetic rows are training rows."""
    kinds, sizes, size = (CASES | ENDLESS)[case]
    rng = np.random.default_rng(len(case) + 100 * len(kinds))
    frames = [{f"{kind}_{j}": column(rng, kind, n) for j, kind in enumerate(kinds)} for n in sizes]
    copied = min(sizes[:2]) // 3
    for name in frames[0]:
        frames[0][name][:copied] = frames[1][name][:copied]
    entries = {f"{kind}_{j}": sdtype(kind) for j, kind in enumerate(kinds)}
    names = [list(entries)[j] for j in rng.permutation(len(entries))]  # another order than the frame's
    draws = {} if size is None else {"num_rows_subsample": size, "num_iterations": 3}
    return [pd.DataFrame(f) for f in frames], {"columns": {n: entries[n] for n in names}}, draws


# ---------------------------------------------------------------- golden numbers

# SDMetrics 0.32.0 with pandas 2.3.3 and numpy 2.4.6 on these tables: np.random.seed(5),
# DCRBaselineProtection._seed = 5, then compute_breakdown(training, synthetic, [validation,] metadata, None, **draws). Numbers of the breakdown in its order.
nan = float("nan")
OVERFITTING = {
    "categories": [1.0, 0.4666666666666667, 0.5333333333333333],
    "numbers": [0.7777777777777777, 0.6111111111111112, 0.38888888888888884],
    "ties": [0.8833333333333333, 0.5583333333333333, 0.44166666666666665],
    "dates": [0.675, 0.6625, 0.3375],
    "written": [0.5249999999999999, 0.7375, 0.26249999999999996],
    "ticks": [0.6333333333333333, 0.6833333333333333, 0.31666666666666665],
    "missing": [0.5249999999999999, 0.7375, 0.26249999999999996],
    "constants": [1.0, 0.0, 1.0],
    "narrow": [0.6444444444444444, 0.6777777777777778, 0.3222222222222222],
    "wraps": [0.7555555555555555, 0.6222222222222222, 0.37777777777777777],
    "one row": [1.0, 0.0, 1.0],
    "chunks": [1.0, 0.01098901098901099, 0.989010989010989],
    "sampled": [0.7333333333333334, 0.6333333333333333, 0.3666666666666667],
    "wide": [0.46666666666666656, 0.7666666666666667, 0.23333333333333328],
    "infinities": [1.0, 0.16666666666666666, 0.8333333333333334],
    "all missing": [1.0, 0.03333333333333333, 0.9666666666666667],
}
BASELINE = {
    "categories": [nan, 0.0, 0.0],
    "numbers": [0.685556350985994, 0.04563577712550272, 0.06656750690131827],
    "ties": [0.5, 0.05714285714285714, 0.11428571428571428],
    "dates": [0.6944062350796246, 0.06623068742122105, 0.09537743769484827],
    "written": [0.5444444444444444, 0.03070175438596491, 0.05639097744360902],
    "ticks": [0.2545454545454545, 0.014, 0.05500000000000001],
    "missing": [0.6515845115072859, 0.06320970695970696, 0.0970092226616718],
    "constants": [nan, 0.0, 0.0],
    "narrow": [0.3296778879690273, 0.018638751159111656, 0.0565362489851389],
    "wraps": [0.8199412301144999, -0.55776123518059, -0.680245381858285],
    "one row": [nan, 1.0, 0.0],
    "chunks": [1.0, 0.047619047619047616, 0.047619047619047616],
    "sampled": [0.7912237059827042, 0.12941332269378694, 0.16349720519634686],
    "wide": [0.8924808288886358, 0.2613081096161852, 0.2927884848143796],
}


def flat(breakdown):
    """Return the numbers of a breakdown."""
    return [x for v in breakdown.values() for x in (flat(v) if isinstance(v, dict) else [v])]


@pytest.mark.parametrize("case", [*CASES, *ENDLESS])
def test_scores_are_those_of_sdmetrics(case):
    (synthetic, training, validation), metadata, draws = tables(case)
    found = overfitting(training, synthetic, validation, metadata, seed=5, **draws)
    assert list(found) == ["score", "synthetic_data_percentages"]
    assert list(found["synthetic_data_percentages"]) == ["closer_to_training", "closer_to_holdout"]
    assert all(type(x) is float for x in flat(found))
    assert flat(found) == pytest.approx(OVERFITTING[case], abs=1e-12, rel=0)
    if case in CASES:
        found = baseline(training, synthetic, metadata, seed=5, **draws)
        assert list(found) == ["score", "median_DCR_to_real_data"]
        assert list(found["median_DCR_to_real_data"]) == ["synthetic_data", "random_data_baseline"]
        assert all(type(x) is float for x in flat(found))
        assert flat(found) == pytest.approx(BASELINE[case], abs=1e-12, rel=0, nan_ok=True)


# ---------------------------------------------------------------- an oracle that adds up as pandas does


def oracle(data, reference, metadata):
    """Return the distance of each row, in plain numpy: chunks of 1,000 by 1,000, columns added up as pandas does."""
    out = np.full(len(data), np.inf)
    for first in range(0, len(data), 1000):
        for begin in range(0, len(reference), 1000):
            a, b = data.iloc[first : first + 1000], reference.iloc[begin : begin + 1000]
            parts = []
            for name, entry in metadata["columns"].items():
                x, y = a[name].to_numpy()[:, None], b[name].to_numpy()[None, :]
                lost_x, lost_y = pd.isna(x), pd.isna(y)
                if entry["sdtype"] in ("categorical", "boolean"):
                    parts.append(((x != y) & ~(lost_x & lost_y)).astype(float).ravel())
                    continue
                known = reference[name].dropna().to_numpy()
                with np.errstate(all="ignore"):
                    gap = np.abs(y - x)
                    span = known.max() - known.min() if len(known) else np.nan
                    if gap.dtype.kind == "m":
                        gap = gap.astype("timedelta64[ns]").astype(np.int64) / 1e9
                        span = int(span.astype("timedelta64[ns]").astype(np.int64))
                        span = (span - span % 1000) / 1e9
                    term = np.where(span == 0, (gap > 0).astype(int), np.minimum(gap / span, 1.0))
                term[lost_x != lost_y] = 1
                term[lost_x & lost_y] = 0
                parts.append(term.ravel().astype(float))
            # a frame's values lie column by column; filling gaps makes a copy that lies row by row
            values = np.array(parts).T
            if np.isnan(values).any():
                values = values.copy()
                values[np.isnan(values)] = 0.0
            total = values.sum(axis=1).reshape(len(a), len(b)) / len(parts)
            out[first : first + 1000] = np.minimum(out[first : first + 1000], total.min(axis=1))
    return out


def to_the_last_bit(data, reference, metadata):
    """Return our distances in SDMetrics' order and rounding."""
    frames = [frame_of(f, "table") for f in (data, reference)]
    columns = gaps.measured_columns(metadata["columns"], frames)
    found = gaps.searched(columns, (0, 1), [None, None])
    return found, found.exactly(np.arange(len(data)))


@pytest.mark.parametrize("case", [c for c in (CASES | ENDLESS) if c != "written"])
def test_distances_are_equal_to_the_last_bit(case):
    (synthetic, training, validation), metadata, _ = tables(case)
    for reference in (training, validation):
        found, exact = to_the_last_bit(synthetic, reference, metadata)
        expected = oracle(synthetic, reference, metadata)
        np.testing.assert_array_equal(exact, expected)
        np.testing.assert_allclose(found.distances, expected, rtol=0, atol=found.slack)


@pytest.mark.parametrize("seed", [1, 4, 6, 7])
def test_ties_fall_as_in_sdmetrics(seed):
    # whole numbers of one range beside categories: the last bit of the sum depends on the order of the columns
    rng = np.random.default_rng(seed)
    n = 80

    def table():
        columns = {f"n{j}": rng.integers(0, 11, n) for j in range(6)}
        return pd.DataFrame(columns | {f"c{j}": rng.choice(["x", "y", "z"], n).astype(object) for j in range(6)})

    synthetic, training, validation = table(), table(), table()
    names = [list(synthetic)[j] for j in rng.permutation(12)]
    metadata = {"columns": {m: {"sdtype": "numerical" if m[0] == "n" else "categorical"} for m in names}}
    a, b = oracle(synthetic, training, metadata), oracle(synthetic, validation, metadata)
    plain = [to_the_last_bit(synthetic, table, metadata)[0].distances for table in (training, validation)]
    assert (plain[0] < plain[1]).sum() != (a < b).sum()  # there are ties that our order of summation breaks otherwise
    shares = overfitting(training, synthetic, validation, metadata)["synthetic_data_percentages"]
    assert shares["closer_to_training"] == (a < b).sum() / n


@pytest.mark.first(1)
@pytest.mark.parametrize("sizes", [(1, 1), (1001, 1001), (1001, 30), (900, 1500)])
def test_rows_that_pandas_adds_up_by_halves(sizes):
    # twelve columns: where a chunk holds a nan, or is one pair of rows, numpy adds up in another order
    rng = np.random.default_rng(3)
    frames = [
        pd.DataFrame({f"n{j}": np.round(rng.normal(size=n), 2) for j in range(12)} | {"c": rng.integers(0, 3, n)})
        for n in sizes
    ]
    for frame in frames:
        frame.loc[rng.random(len(frame)) < 0.002, "n3"] = np.inf
        frame.loc[rng.random(len(frame)) < 0.5, "n5"] = np.nan
    metadata = {"columns": {n: {"sdtype": "categorical" if n == "c" else "numerical"} for n in frames[0]}}
    _, exact = to_the_last_bit(*frames, metadata)
    np.testing.assert_array_equal(exact, oracle(*frames, metadata))


def test_instants_that_one_float_cannot_tell_apart():
    # nanoseconds over years: 64 bits, where a float has 53
    start = 10**18
    synthetic, training, validation = (
        pd.DataFrame({"d": np.array(a, dtype="datetime64[ns]")})
        for a in ([start + 1], [start + 1, start - 10**17], [start, start - 10**17])
    )
    metadata = {"columns": {"d": {"sdtype": "datetime"}}}
    assert overfitting(training, synthetic, validation, metadata)["synthetic_data_percentages"] == {
        "closer_to_training": 1.0,
        "closer_to_holdout": 0.0,
    }


# ---------------------------------------------------------------- laws


def test_order_of_rows_and_columns_changes_no_digit():
    for case in ("ties", "missing", "narrow", "wraps"):
        (synthetic, training, validation), metadata, _ = tables(case)
        rng = np.random.default_rng(0)
        shuffled = [f.sample(frac=1, random_state=1) for f in (training, synthetic, validation)]
        turned = [f[[f.columns[j] for j in rng.permutation(f.shape[1])]] for f in (training, synthetic, validation)]
        found = overfitting(training, synthetic, validation, metadata)
        assert overfitting(*shuffled, metadata) == found
        assert overfitting(*turned, metadata) == found


def test_threads_change_no_digit(monkeypatch):
    (synthetic, training, validation), metadata, _ = tables("ties")
    found = overfitting(training, synthetic, validation, metadata), baseline(training, synthetic, metadata)
    for threads, engine in ((1, "boxes"), (3, "boxes"), (2, "tiles"), (1, "numpy")):
        monkeypatch.setattr(
            gaps, "Index", lambda ruler, rows, t=threads, e=engine, **_: Index(ruler, rows, threads=t, engine=e)
        )
        assert (
            overfitting(training, synthetic, validation, metadata),
            baseline(training, synthetic, metadata),
        ) == found


def test_small_portions_change_no_digit(monkeypatch):
    (synthetic, training, validation), metadata, _ = tables("ties")
    found = overfitting(training, synthetic, validation, metadata)
    monkeypatch.setattr(gaps, "_CELLS", 7)
    assert overfitting(training, synthetic, validation, metadata) == found


def as_nullable(frame):
    return frame.convert_dtypes()


def as_categories(frame):
    return frame.astype({c: "category" for c in frame if c.startswith(("text", "bool"))})


def as_objects(frame):
    return frame.astype(object)


def as_polars(frame):
    columns = {}
    for name in frame:
        values = frame[name].to_numpy()
        if values.dtype == object:
            values = [None if pd.isna(v) else v for v in values]
        columns[name] = pl.Series(values, nan_to_null=True)
    return pl.DataFrame(columns)


@pytest.mark.parametrize("kind", [as_nullable, as_categories, as_objects, as_polars])
@pytest.mark.parametrize("case", ["categories", "numbers", "ties", "missing", "constants"])
def test_the_kind_of_frame_changes_no_digit(kind, case):
    (synthetic, training, validation), metadata, _ = tables(case)
    if kind is as_objects and case in ("missing", "numbers"):
        pytest.skip("instants or whole numbers of 61 bits as objects are something else")
    frames = [kind(f) for f in (training, synthetic, validation)]
    assert overfitting(*frames, metadata) == overfitting(training, synthetic, validation, metadata)
    if kind is not as_objects:  # whole numbers as objects are drawn as categories
        expected = baseline(training, synthetic, metadata)
        assert flat(baseline(*frames[:2], metadata)) == pytest.approx(flat(expected), abs=0, rel=0, nan_ok=True)


def test_a_copy_of_the_training_table_and_an_equal_one():
    (_, training, validation), metadata, _ = tables("numbers")
    assert overfitting(training, training, validation, metadata)["score"] == 0.0
    assert overfitting(training, validation, validation, metadata)["score"] == 1.0
    assert overfitting(training, training, training, metadata)["score"] == 1.0  # ties count as nearer to the holdout
    assert baseline(training, training, metadata)["score"] == 0.0


def test_two_shapes_of_metadata_and_dictionaries_of_tables():
    (synthetic, training, validation), metadata, _ = tables("ties")
    found = overfitting(training, synthetic, validation, metadata)
    unified = {"tables": {"t": metadata}, "relationships": []}
    assert overfitting(training, synthetic, validation, unified, None) == found
    assert overfitting({"t": training}, {"t": synthetic}, validation, unified, "t") == found
    assert baseline({"t": training}, {"t": synthetic}, unified, table_name="t") == baseline(
        training, synthetic, metadata
    )
    with pytest.raises(ValueError, match="Unknown table"):
        overfitting(training, synthetic, validation, unified, "u")
    two = {"tables": {"t": metadata, "u": metadata}}
    with pytest.raises(ValueError, match="more than one table"):
        baseline(training, synthetic, two)


def test_columns_that_are_not_measured():
    frame = pd.DataFrame({"x": [1.0, 2.0, 4.0], "rank": ["a", "b", "c"], "key": [1, 2, 3]})
    other = pd.DataFrame({"x": [1.0, 3.0, 4.0], "rank": ["d", "d", "d"], "key": [7, 8, 9]})
    entries = {"key": {"sdtype": "id"}, "x": {"sdtype": "numerical"}, "rank": {"sdtype": "ordinal"}}
    found = overfitting(frame, other, frame, {"columns": entries})
    only = [f[["x"]] for f in (frame, other, frame)]
    assert found == overfitting(*only, {"columns": {"x": entries["x"]}})
    with pytest.raises(ValueError, match="no overlapping statistical columns"):
        overfitting(frame[["rank"]], other[["rank"]], frame[["rank"]], {"columns": {"rank": entries["rank"]}})


def test_a_column_named_index_and_one_without_a_name_in_letters():
    # SDMetrics fails on both: it keeps a column of that name, and adds letters to names
    frames = [pd.DataFrame({"x": a}) for a in ([1.0, 2.0, 5.0], [1.1, 4.0, 2.0], [2.0, 3.0, 9.0])]
    found = overfitting(*frames, {"columns": {"x": {"sdtype": "numerical"}}})
    for name in ("index", 3):
        renamed = [f.rename(columns={"x": name}) for f in frames]
        assert overfitting(*renamed, {"columns": {name: {"sdtype": "numerical"}}}) == found


def test_truth_values_that_are_declared_numerical():
    frames = [pd.DataFrame({"x": a}) for a in ([True, False], [True, True], [False, False])]
    assert overfitting(*frames, {"columns": {"x": {"sdtype": "numerical"}}}) == overfitting(
        *frames, {"columns": {"x": {"sdtype": "boolean"}}}
    )


def test_a_real_column_without_values_is_random_without_values():
    frame = pd.DataFrame({"x": [np.nan, np.nan], "t": [None, None], "y": [1.0, 2.0]}, dtype=object)
    frame["y"] = frame["y"].astype(float)
    entries = {"x": {"sdtype": "numerical"}, "t": {"sdtype": "categorical"}, "y": {"sdtype": "numerical"}}
    found = baseline(frame, frame, {"columns": entries}, seed=1)
    only_y = baseline(frame[["y"]], frame[["y"]], {"columns": {"y": entries["y"]}}, seed=1)
    assert found["median_DCR_to_real_data"]["synthetic_data"] == 0.0
    assert found["median_DCR_to_real_data"]["random_data_baseline"] == pytest.approx(
        only_y["median_DCR_to_real_data"]["random_data_baseline"] / 3
    )


def test_a_random_table_at_no_distance_has_no_score():
    frame = pd.DataFrame({"c": ["a", "b"] * 5})
    found = baseline(frame, frame, {"columns": {"c": {"sdtype": "categorical"}}})
    assert np.isnan(found["score"])
    assert found["median_DCR_to_real_data"] == {"synthetic_data": 0.0, "random_data_baseline": 0.0}


# ---------------------------------------------------------------- warnings and errors

X = {"columns": {"x": {"sdtype": "numerical"}}}


def ones(n):
    return pd.DataFrame({"x": np.arange(n) * 1.0})


def test_warnings():
    with pytest.warns(UserWarning, match=r"num_rows_subsample \(9\) is greater than the length of the synthetic data"):
        found = overfitting(ones(5), ones(4), ones(5), X, None, 9, 7)
    assert found == overfitting(ones(5), ones(4), ones(5), X)
    with pytest.warns(UserWarning, match=r"num_rows_subsample \(9\) is greater than the length of the synthetic data"):
        baseline(ones(5), ones(4), X, None, 9, 7)
    with pytest.warns(UserWarning, match="real_validation_data contains 4 rows while your real_training_data contains"):
        overfitting(ones(9), ones(4), ones(4), X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        overfitting(ones(8), ones(4), ones(4), X)
    with pytest.warns(UserWarning, match=r"The columns \('b', 'y'\) are not present in the metadata"):
        baseline(ones(3).assign(y=1, b=2), ones(3), X)
    wide = {"columns": {**X["columns"], "d": {"sdtype": "datetime"}, "c": {"sdtype": "categorical"}}}
    with pytest.warns(UserWarning, match=r"The columns \('c', 'd'\) are in the metadata but they are not present"):
        overfitting(ones(3), ones(3), ones(3), wide)


@pytest.mark.parametrize(
    ("size", "times", "message"),
    [
        (0, 1, "num_rows_subsample (0) must be an integer greater than 1."),
        (2.5, 1, "num_rows_subsample (2.5) must be an integer greater than 1."),
        (None, 2, "num_iterations should not be greater than 1 if there is no subsampling."),
        (2, 0, "num_iterations (0) must be an integer greater than 1."),
        (None, 0.5, "num_iterations (0.5) must be an integer greater than 1."),
    ],
)
def test_numbers_of_draws(size, times, message):
    for call in (
        lambda: overfitting(ones(3), ones(3), ones(3), X, None, size, times),
        lambda: baseline(ones(3), ones(3), X, None, size, times),
    ):
        with pytest.raises(ValueError) as error:
            call()
        assert str(error.value) == message


def test_errors():
    with pytest.raises(TypeError, match=r"All of real_training_data \(.*\), synthetic_data .* must be of type pandas"):
        overfitting(ones(3), [1, 2], ones(3), X)
    with pytest.raises(TypeError, match=r"Both real_data \(.*\) and synthetic_data .* must be of type pandas"):
        baseline(None, ones(3), X)
    with pytest.raises(TypeError, match="Expected a dictionary but received a 'NoneType' instead"):
        overfitting(ones(3), ones(3), ones(3), None)
    with pytest.raises(TypeError, match="Expected a dictionary but received a 'list' instead"):
        baseline(ones(3), ones(3), [])
    with pytest.raises(TypeError, match="must be a string"):
        baseline(ones(3), ones(3), X, 3)
    with pytest.raises(KeyError, match="no 'sdtype'"):
        baseline(ones(3), ones(3), {"columns": {"x": {}}})
    for frames in ((ones(0), ones(3), ones(3)), (ones(3), ones(0), ones(3))):
        with pytest.raises(ValueError, match="has no rows"):
            overfitting(*frames, X)
    with pytest.warns(UserWarning, match="real_validation_data"), pytest.raises(ValueError, match="has no rows"):
        overfitting(ones(3), ones(3), ones(0), X)
    with pytest.raises(ValueError, match=r"greater than the length of `real_training_data` \(3\)"):
        overfitting(ones(3), ones(9), ones(9), X, None, 5)
    with pytest.raises(OverflowError, match="no finite range"):
        baseline(ones(3).assign(x=[1.0, np.inf, 2.0]), ones(3), X)
    date = {"columns": {"x": {"sdtype": "datetime"}}}
    with pytest.raises(ValueError, match="does not have a specified 'datetime_format'"):
        overfitting(*[pd.DataFrame({"x": ["2020"]})] * 3, date)
    far = pd.DataFrame({"x": np.array([-(2**63) + 9, 2**63 - 9]).view("datetime64[ns]")})
    with pytest.raises(OverflowError, match="292 years"):
        overfitting(far, far, far, date)
    with pytest.raises(TypeError, match="instants in one table"):
        overfitting(ones(2), far, ones(2), X)


def test_no_value_in_a_message():
    secret = pd.DataFrame({"x": ["secret", "other"]})
    with pytest.raises(TypeError, match="holds values that are no numbers") as error:
        overfitting(secret, secret, secret, X)
    assert "secret" not in str(error.value)
    with pytest.raises(ValueError, match="timestamp") as other:
        overfitting(*[secret] * 3, {"columns": {"x": {"sdtype": "datetime", "datetime_format": "%Y"}}})
    assert "secret" not in str(other.value)
