"""Measures of sequences and of several tables beyond the golden cases: kinds of frames, order of rows, bad input."""

import random
import warnings
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from divulge.kernels import sequences
from divulge.kernels._native.library import at_level
from divulge.kernels.sequences import STATISTICS, per_sequence
from divulge.sdmetrics import column_pairs, multi_table, single_column, timeseries
from divulge.sdmetrics.errors import IncomputableMetricError

pd = pytest.importorskip("pandas")


def series(seed, n):
    rng = random.Random(seed)
    return pl.DataFrame({"key": [f"k{rng.randrange(5)}" for _ in range(n)], "x": [rng.gauss(0, 1) for _ in range(n)]})


REAL, SYNTHETIC = series(1, 60), series(2, 50)
KINDS = {
    "pandas": lambda frame: frame.to_pandas(),
    "polars": lambda frame: frame,
    "pyarrow": lambda frame: frame.to_arrow(),
}


def parts(frame, kind):
    made = KINDS[kind](frame)
    return made["key"], made["x"]


@pytest.mark.parametrize("kind", ["polars", "pyarrow"])
def test_every_kind_of_column_gives_the_same_scores(kind):
    pytest.importorskip("pyarrow.compute")  # once it is there, an array of pyarrow has a method `index`
    for metric in (column_pairs.StatisticMSAS, column_pairs.InterRowMSAS):
        scores = {k: metric.compute(parts(REAL, k), parts(SYNTHETIC, k)) for k in ("pandas", kind)}
        assert scores[kind] == pytest.approx(scores["pandas"], abs=1e-12)
        assert 0 < scores[kind] < 1
    keys = [
        single_column.SequenceLengthSimilarity.compute(parts(REAL, k)[0], parts(SYNTHETIC, k)[0])
        for k in ("pandas", kind)
    ]
    assert keys[0] == keys[1]


def test_a_key_of_two_columns_counts_each_sequence_that_has_both_parts():
    real = pl.DataFrame({"a": [1, 1, 2, 2, 2, None], "b": [5, 6, 5, 5, None, 5]})  # lengths 1, 1, 2
    synthetic = pl.DataFrame({"a": [7, 7, 7, 8], "b": [1, 1, 2, 1]})  # lengths 2, 1, 1
    assert single_column.SequenceLengthSimilarity.compute(real, synthetic) == 1
    assert single_column.SequenceLengthSimilarity.compute(real[:2], synthetic[:2]) == 0  # 1, 1 against 2


def shop(seed, n, each=4):
    rng = random.Random(seed)
    users = pl.DataFrame({"uid": range(n), "age": [rng.randrange(18, 80) for _ in range(n)]})
    orders = pl.DataFrame(
        {
            "uid": [min(int(rng.expovariate(0.3)), n - 1) for _ in range(each * n)],
            "price": [rng.gauss(9, 2) for _ in range(each * n)],
        }
    )
    return {"users": users, "orders": orders}


METADATA = {
    "tables": {
        "users": {"columns": {"uid": {"sdtype": "id"}, "age": {"sdtype": "numerical"}}, "primary_key": "uid"},
        "orders": {"columns": {"uid": {"sdtype": "id"}, "price": {"sdtype": "numerical"}}},
    },
    "relationships": [
        {
            "parent_table_name": "users",
            "parent_primary_key": "uid",
            "child_table_name": "orders",
            "child_foreign_key": "uid",
        }
    ],
}
A, B = shop(3, 12), shop(4, 9, 3)
CARDINALITY = (multi_table.CardinalityShapeSimilarity, multi_table.CardinalityStatisticSimilarity)


@pytest.mark.parametrize("metric", CARDINALITY)
def test_kinds_and_orders_of_tables_change_nothing(metric):
    expected = metric.compute(A, B, METADATA)
    assert 0 < expected < 1
    for kind in KINDS.values():
        assert (
            metric.compute({n: kind(t) for n, t in A.items()}, {n: kind(t) for n, t in B.items()}, METADATA) == expected
        )
    turned = {n: t[::-1].select(reversed(t.columns)) for n, t in reversed(A.items())}
    assert metric.compute(turned, B, METADATA) == expected


def test_rows_of_pandas_belong_together_by_their_index():
    keys, values = (REAL.to_pandas()[c] for c in ("key", "x"))
    turned = values[::-1]
    scores = [column_pairs.StatisticMSAS.compute((keys, v), parts(SYNTHETIC, "pandas")) for v in (values, turned)]
    assert scores[0] == scores[1]


@pytest.mark.parametrize("statistic", STATISTICS)
def test_statistics_of_long_and_short_sequences_agree_with_numpy(statistic):
    rng = np.random.default_rng(5)
    lengths = np.array([1, 7, 6000, 2, 40])
    starts = np.append(0, np.cumsum(lengths))
    values = rng.normal(3, 2, starts[-1])
    own = [values[a:b] for a, b in pairwise(starts.tolist())]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = [np.std(v, ddof=1) if statistic == "std" else getattr(np, statistic)(v) for v in own]
    assert per_sequence(values, starts, statistic) == pytest.approx(expected, rel=1e-12, nan_ok=True)


@pytest.mark.parametrize("statistic", ["mean", "std"])
def test_rows_are_added_alike_side_by_side_and_in_turn(statistic, monkeypatch):
    rng = np.random.default_rng(6)
    starts = np.append(0, np.cumsum(rng.integers(1, 30, 90)))
    values = rng.normal(1e6, 1, starts[-1])
    values[3] = np.inf
    found = []
    for few in (40, 1, 1000):
        monkeypatch.setattr(sequences, "_FEW", few)
        with np.errstate(all="ignore"), at_level("none"):
            found.append(per_sequence(values, starts, statistic).tolist())
    found.append(per_sequence(values, starts, statistic).tolist())
    assert all(repr(one) == repr(found[0]) for one in found)


def test_no_message_holds_a_value():
    secret = pl.DataFrame({"key": ["Eve Smith", "Eve Smith"], "x": ["cancer", "flu"]})
    for metric in (column_pairs.StatisticMSAS, column_pairs.InterRowMSAS):
        with pytest.raises(TypeError) as error:
            metric.compute(parts(secret, "pandas"), parts(secret, "pandas"))
        assert "Eve" not in str(error.value)
        assert "cancer" not in str(error.value)
    tables = {"users": pl.DataFrame({"uid": ["Eve Smith"], "age": [3]}), "orders": A["orders"]}
    with pytest.raises(ValueError, match="of different types") as error:
        multi_table.CardinalityShapeSimilarity.compute(tables, B, METADATA)
    assert "Eve" not in str(error.value)


def test_an_unknown_name_is_told_with_the_nearest():
    link = {**METADATA["relationships"][0], "child_table_name": "order"}
    with pytest.raises(
        ValueError, match=r"no table 'order'; there are 'users', 'orders'. hint: did you mean 'orders'\?"
    ):
        multi_table.CardinalityShapeSimilarity.compute(A, B, {**METADATA, "relationships": [link]})


def test_a_metric_of_ones_own_runs_over_several_tables():
    from divulge.sdmetrics.base import SingleTableMetric
    from divulge.sdmetrics.goal import Goal

    class Rows(SingleTableMetric):
        """Ratio of rows."""

        name, goal, min_value, max_value = "Rows", Goal.MAXIMIZE, 0.0, 1.0

        @classmethod
        def compute(cls, real_data, synthetic_data, metadata=None):
            if len(real_data) == 12 and metadata is None:
                raise RuntimeError("no metadata")
            return min(len(real_data), len(synthetic_data)) / max(len(real_data), len(synthetic_data))

    class OverTables(multi_table.MultiSingleTableMetric):
        """Over several tables."""

        single_table_metric = Rows

    assert (OverTables.name, OverTables.goal, OverTables.min_value) == ("Rows", Goal.MAXIMIZE, 0.0)
    assert OverTables.compute(A, B, METADATA) == (0.75 + 0.5625) / 2
    assert OverTables.compute_breakdown(A, B) == {"orders": {"score": 0.5625}}  # a table for which it fails is left out
    assert multi_table.MultiSingleTableMetric(Rows).compute(A, B, METADATA) == {
        "users": {"score": 0.75},
        "orders": {"score": 0.5625},
    }
    with pytest.raises(IncomputableMetricError, match="Encountered the following errors"):
        OverTables.compute({"users": A["users"]}, {"users": B["users"]})
    with pytest.raises(ValueError, match="must have the same tables"):
        OverTables.compute(A, {"users": B["users"]})


@pytest.mark.slow
def test_detection_sees_children_that_do_not_fit_their_parents():
    def tables(seed, fits):
        rng = np.random.default_rng(seed)
        users = pd.DataFrame({"uid": range(200), "level": rng.normal(size=200)})
        uid = rng.integers(0, 210, 800)  # some lead nowhere
        own = np.append(users["level"].to_numpy(), np.zeros(10))[uid]
        return {
            "users": users,
            "orders": pd.DataFrame({"uid": uid, "price": np.abs(own if fits else rng.permutation(own))}),
        }

    real, same, other = tables(1, True), tables(2, True), tables(3, False)
    keys = [("users", "uid", "orders", "uid")]
    metric = multi_table.SVCParentChildDetection
    assert metric.compute(real, same, METADATA) == metric.compute(real, same, foreign_keys=keys)
    assert metric.compute(real, other, METADATA) < 0.6 < 0.8 < metric.compute(real, same, METADATA)
    assert multi_table.LogisticParentChildDetection.compute(real, same, METADATA) > 0.8
    with pytest.raises(ValueError, match="No foreign keys given"):
        metric.compute(real, same)


def walks(seed, n, rho):
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        x = 0.0
        for t in range(int(rng.integers(5, 12))):
            x = rho * x + rng.normal()
            rows.append((i, t, x, "ab"[i % 2]))
    return pl.DataFrame(rows, schema=["key", "t", "x", "kind"], orient="row")


def test_without_torch_an_error_names_the_extra():
    try:
        import torch  # noqa: F401
    except ImportError:
        for metric in (timeseries.LSTMDetection, timeseries.LSTMClassifierEfficacy):
            with pytest.raises(ImportError, match=r"pip install 'divulge\[torch\]'"):
                metric.compute(walks(1, 4, 0.5), walks(2, 4, 0.5), sequence_key="key")


@pytest.mark.full
def test_the_recurrent_network_sees_another_process():
    pytest.importorskip("torch")
    real, same, other = walks(1, 40, 0.9), walks(2, 40, 0.9), walks(3, 40, -0.9)
    alike = timeseries.LSTMDetection.compute(real, same, sequence_key=["key"])
    unlike = timeseries.LSTMDetection.compute(real, other, sequence_key=["key"])
    assert unlike < 0.3 < alike
    assert alike == timeseries.LSTMDetection.compute(real, same, sequence_key=["key"])
    found = timeseries.LSTMClassifierEfficacy.compute_breakdown(real, same, sequence_key="key", target="kind")
    assert found["score"] == pytest.approx(found["synthetic"] / found["real"])
