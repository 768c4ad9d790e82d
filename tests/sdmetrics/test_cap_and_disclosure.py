"""CAP and DisclosureProtection as SDMetrics has them, against a plain version that goes row by row."""

import itertools
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest

from divulge.sdmetrics import (
    CategoricalCAP,
    CategoricalGeneralizedCAP,
    CategoricalZeroCAP,
    DisclosureProtection,
    DisclosureProtectionEstimate,
)

CAPS = {"cap": CategoricalCAP, "zero_cap": CategoricalZeroCAP, "generalized_cap": CategoricalGeneralizedCAP}
NAN = float("nan")


pytestmark = pytest.mark.usefixtures("deprecated_as_released")


def rows(frame, names):
    return [tuple(r) for r in frame[names].itertuples(index=False)]


def plain(method, real, synthetic, keys, sensitive):
    """1 - mean CAP by the words of the documentation."""
    held = list(zip(rows(synthetic, keys), rows(synthetic, sensitive), strict=True))
    found = []
    for key, secret in zip(rows(real, keys), rows(real, sensitive), strict=True):
        apart = [sum(a != b for a, b in zip(key, k, strict=True)) for k, _ in held]
        least = min(apart) if method == "generalized_cap" else 0
        votes = [s for (_, s), d in zip(held, apart, strict=True) if d == least]
        if votes:
            found.append(sum(v == secret for v in votes) / len(votes))
        elif method == "zero_cap":
            found.append(0.0)
    return 1 - sum(found) / len(found) if found else NAN


def drawn(rng, n, kinds):
    pools = {
        "text": np.array(["a", "b", "c"], object),
        "number": np.arange(4),
        "float": np.array([0.5, 1.0, 2.0]),
        "none": np.array(["a", None], object),
        "mixed": np.array([1, "1", True, 0], object),
    }
    return pd.DataFrame(
        {f"c{j}": pd.Series(rng.choice(pools[k], n), dtype=pools[k].dtype) for j, k in enumerate(kinds)}
    )


@pytest.mark.first(1)
@pytest.mark.parametrize("method", CAPS)
def test_equal_to_the_plain_version(method):
    rng = np.random.default_rng(5)
    for _ in range(60):
        kinds = rng.choice(["text", "number", "float", "none", "mixed"], 4)
        real, synthetic = drawn(rng, rng.integers(1, 30), kinds), drawn(rng, rng.integers(1, 30), kinds)
        keys, sensitive = ["c0", "c1", "c2"][: rng.integers(1, 4)], ["c3"]
        found = CAPS[method].compute(real, synthetic, key_fields=keys, sensitive_fields=sensitive)
        want = plain(method, real, synthetic, keys, sensitive)
        # a number beside a text in one column counts by Python's equality in both
        assert found == pytest.approx(want, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("method", CAPS)
def test_row_order_and_kind_of_frame_change_no_digit(method):
    rng = np.random.default_rng(6)
    real, synthetic = (
        drawn(rng, 80, ["text", "number", "none", "text"]),
        drawn(rng, 60, ["text", "number", "none", "text"]),
    )
    args = {"key_fields": ["c0", "c1", "c2"], "sensitive_fields": ["c3"]}
    want = CAPS[method].compute(real, synthetic, **args)
    shuffled = [t.sample(frac=1, random_state=1).iloc[:, ::-1] for t in (real, synthetic)]
    assert CAPS[method].compute(*shuffled, **args) == want
    assert CAPS[method].compute(*(pl.DataFrame(t.to_dict("list")) for t in (real, synthetic)), **args) == want
    as_category = [t.astype({"c0": "category"}) for t in (real, synthetic)]
    assert CAPS[method].compute(*as_category, **args) == want


def test_worked_numbers_of_the_documentation():
    """An equivalence class of four rows, one of them right; another key is not there."""
    synthetic = pd.DataFrame({"age": ["20-29"] * 4, "sex": ["F"] * 4, "vote": ["red", "blue", "blue", "green"]})
    real = pd.DataFrame({"age": ["20-29", "30-39"], "sex": ["F", "F"], "vote": ["red", "red"]})
    args = {"key_fields": ["age", "sex"], "sensitive_fields": ["vote"]}
    assert CategoricalCAP.compute(real, synthetic, **args) == 0.75
    assert CategoricalZeroCAP.compute(real, synthetic, **args) == 0.875
    assert CategoricalGeneralizedCAP.compute(real, synthetic, **args) == 0.75


def test_nothing_to_attack():
    real, none = pd.DataFrame({"k": ["a"], "t": ["x"]}), pd.DataFrame({"k": [], "t": []}, dtype=object)
    args = {"key_fields": ["k"], "sensitive_fields": ["t"]}
    assert math.isnan(CategoricalCAP.compute(real, none, **args))
    assert CategoricalZeroCAP.compute(real, none, **args) == 1.0
    with pytest.raises(ZeroDivisionError, match="no rows"):
        CategoricalGeneralizedCAP.compute(real, none, **args)
    assert all(math.isnan(c.compute(none, real, **args)) for c in CAPS.values())


def table(n, seed):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "pay": rng.exponential(1000, n).round(2),
            "sex": rng.choice(np.array(["f", "m", None], object), n),
            "vote": rng.choice(np.array(["red", "blue", "green"], object), n),
        }
    )


@pytest.mark.parametrize("method", CAPS)
def test_protection_is_cap_on_bins_over_the_uniform_guess(method):
    real, synthetic = table(150, 1), table(100, 2)
    found = DisclosureProtection.compute_breakdown(
        real, synthetic, ["age", "sex"], ["vote", "pay"], method, ["age", "pay"], 4
    )
    cut = [real.copy(), synthetic.copy()]
    for name in ("age", "pay"):
        low, high = real[name].min(), real[name].max()
        edges = [low + (high - low) * i / 4 for i in range(1, 4)]
        for t in cut:
            t[name] = [str(sum(v > e for e in edges)) for v in t[name]]
    for t in cut:
        t["sex"] = ["-" if v is None or v != v else v for v in t["sex"]]
    want = plain(method, *cut, ["age", "sex"], ["vote", "pay"])
    baseline = 1 - 1 / (3 * cut[0]["pay"].nunique())
    assert found["cap_protection"] == pytest.approx(want, abs=1e-12)
    assert found["baseline_protection"] == pytest.approx(baseline, abs=1e-12)
    assert found["score"] == pytest.approx(min(1, want / baseline), abs=1e-12)


def test_ends_of_bins():
    real = pd.DataFrame({"x": [0.0, 5.0, 10.0], "t": ["a", "b", "c"]})
    synthetic = pd.DataFrame({"x": [-99.0, 5.0, 99.0, -np.inf], "t": ["a", "b", "c", "a"]})
    found = DisclosureProtection.compute_breakdown(real, synthetic, ["x"], ["t"], "zero_cap", ["x"], 2)
    # the edge belongs to the bin below it; beyond the range is in the end bins; minus infinity is missing
    assert found["cap_protection"] == pytest.approx(1 - (0.5 + 0.5 + 1) / 3)


def test_a_sample_of_all_rows_is_exact_and_a_seed_is_a_seed():
    real, synthetic = table(60, 3), table(50, 4)
    args = (real, synthetic, ["sex"], ["vote"], "cap")
    exact = DisclosureProtection.compute_breakdown(*args)
    all_rows = DisclosureProtectionEstimate.compute_breakdown(*args, num_rows_subsample=60, num_iterations=1)
    assert all_rows == pytest.approx(exact)
    few = [DisclosureProtectionEstimate.compute_breakdown(*args, None, 10, 5, 2, False, seed=s) for s in (1, 1, 2)]
    assert few[0] == few[1] != few[2]


def test_the_estimate_draws_as_pandas_does_under_a_global_seed():
    real, synthetic = table(60, 3), table(50, 4)
    np.random.seed(7)  # noqa: NPY002 # what SDMetrics' users do
    scores = []
    for _ in range(3):
        parts = [t.sample(20) for t in (real, synthetic)]
        scores.append(DisclosureProtection.compute_breakdown(*parts, ["sex"], ["vote"])["cap_protection"])
    found = DisclosureProtectionEstimate.compute_breakdown(
        real, synthetic, ["sex"], ["vote"], num_rows_subsample=20, num_iterations=3, seed=7
    )
    assert found["cap_protection"] == pytest.approx(np.mean(scores), abs=1e-12)


def test_compute_of_the_estimate_never_reads_its_counts():
    real, synthetic = table(60, 3), table(50, 4)
    args = (real, synthetic, ["sex"], ["vote"])
    found = DisclosureProtectionEstimate.compute(*args, num_rows_subsample=7, num_iterations=2, seed=3)
    assert found == DisclosureProtectionEstimate.compute_breakdown(*args, seed=3)["score"]
    assert found != DisclosureProtectionEstimate.compute_breakdown(
        *args, num_rows_subsample=7, num_iterations=2, seed=3
    )


REAL, SYNTHETIC = table(12, 5), table(12, 6)
WRONG = [
    ({"known_column_names": []}, ValueError, "Must provide at least 1 known column name."),
    ({"known_column_names": ["no"]}, ValueError, "Known column(s) 'no' are missing from the real data."),
    ({"known_column_names": "sex"}, TypeError, "is a text"),
    ({"sensitive_column_names": []}, ValueError, "Must provide at least 1 sensitive column name."),
    ({"sensitive_column_names": ["no"]}, ValueError, "Sensitive column(s) 'no' are missing from the real data."),
    ({"computation_method": "none"}, ValueError, "Unknown computation method 'none'"),
    ({"continuous_column_names": ["no"]}, ValueError, "Continous column(s) 'no' are missing from the real data."),
    ({"continuous_column_names": ["vote"]}, ValueError, "values that are no numbers"),
    ({"num_discrete_bins": 0}, ValueError, "`num_discrete_bins` must be an integer greater than zero."),
    ({"num_discrete_bins": 2.5}, ValueError, "`num_discrete_bins` must be an integer greater than zero."),
    ({"synthetic_data": SYNTHETIC[["sex", "vote"]]}, ValueError, "must have the same columns"),
    ({"real_data": "table"}, ValueError, "Real and synthetic data must be pandas DataFrames."),
    ({"real_data": REAL.assign(age=np.inf), "continuous_column_names": ["age"]}, ValueError, "infinity"),
    ({"real_data": REAL.assign(age=np.nan), "continuous_column_names": ["age"]}, ValueError, "has no value"),
]


@pytest.mark.parametrize(("change", "error", "text"), WRONG, ids=[t for *_, t in WRONG])
@pytest.mark.parametrize("metric", [DisclosureProtection, DisclosureProtectionEstimate])
def test_wrong_arguments(metric, change, error, text):
    args = {
        "real_data": REAL, "synthetic_data": SYNTHETIC, "known_column_names": ["sex"], "sensitive_column_names": ["vote"],
    }  # fmt: skip
    with pytest.raises(error) as raised:
        metric.compute(**args | change)
    assert text in str(raised.value)
    values = {str(v) for t in (REAL, SYNTHETIC) for c in ("sex", "vote") for v in t[c]}
    assert not any(f" {v} " in str(raised.value) for v in values)


def test_large_tables_are_warned_about_as_released():
    real = pd.DataFrame({"k": ["a"] * 10_001, "t": ["x", *["y"] * 10_000]})
    with pytest.warns(UserWarning, match="Data exceeds 10000 rows"):
        DisclosureProtection.compute(real, real, ["k"], ["t"])


def test_cap_is_deprecated_as_released():
    real = pd.DataFrame({"k": ["a"], "t": ["x"]})
    for metric in CAPS.values():
        with pytest.warns(DeprecationWarning, match="Computing CAP metrics directly is deprecated") as caught:
            metric.compute(real, real, key_fields=["k"], sensitive_fields=["t"])
        assert caught[0].filename == __file__


@pytest.mark.parametrize("unit", ["ns", "s"])
def test_datetimes(unit):
    days = pd.Series(pd.date_range("2020-01-01", periods=20)).astype(f"datetime64[{unit}]")
    real = pd.DataFrame({"d": days, "t": ["x", "y"] * 10})
    with pytest.raises(TypeError, match="Column d has invalid data type"):
        DisclosureProtection.compute(real, real, ["d"], ["t"])
    binned = DisclosureProtection.compute_breakdown(real, real, ["d"], ["t"], continuous_column_names=["d"])
    assert binned["cap_protection"] == pytest.approx(0.5)
    lost = real.assign(d=days.where(days > days[0]))
    # as released: NaT is the least whole number, so that all days fall into one bin, and its own range wraps round, so
    # that the real NaT is in no bin and the synthetic one in the first
    one_bin = DisclosureProtection.compute_breakdown(lost, lost, ["d"], ["t"], continuous_column_names=["d"])
    assert one_bin["cap_protection"] == pytest.approx(1 - (9 * 9 + 10 * 10) / 19**2)


def test_every_pair_of_dtypes_is_answered():
    """Keys of one dtype here and another there: no error, and nan where nothing matches."""
    kinds = {"i": [1, 2], "f": [1.0, NAN], "b": [True, False], "o": ["1", None], "m": pd.to_datetime(["2020", "2021"])}
    for a, b in itertools.product(kinds, repeat=2):
        real, synthetic = (pd.DataFrame({"k": kinds[x], "t": ["x", "y"]}) for x in (a, b))
        if a == "m":
            continue
        found = CategoricalCAP.compute(real, synthetic, key_fields=["k"], sensitive_fields=["t"])
        assert math.isnan(found) or 0 <= found <= 1
