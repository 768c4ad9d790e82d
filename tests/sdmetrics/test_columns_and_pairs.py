"""Metrics of one and of two columns: worked numbers, kinds of input, and what they never do."""

import math
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from divulge.measures import column_pairs as pair_measures
from divulge.sdmetrics import column_pairs, single_column, single_table
from divulge.sdmetrics.errors import IncomputableMetricError
from divulge.sdmetrics.single_column import formulas

NAN = math.nan
TWO = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0, NAN], "y": [2.0, 1.0, 4.0, 3.0, 5.0]})


def objects(*values):
    return pd.Series(list(values), dtype=object)


def test_worked_numbers():
    tv, ks = single_column.TVComplement.compute, single_column.KSComplement.compute
    assert tv(pd.Series([5, 5, 5, 5]), pd.Series([1, 2, 3, NAN])) == pytest.approx(7.499994375548269e-07, abs=1e-15)
    assert tv(pd.Series([1, 2]), objects("1", "2")) == pytest.approx(9.99999000050877e-07, abs=1e-15)
    assert tv(objects("a", "b", "a"), objects("a", "z", "z")) == pytest.approx(0.3333336666665556, abs=1e-12)
    chi = single_column.CSTest.compute(pd.Series([True, False, True, True]), pd.Series([False, True, False, False]))
    assert chi == pytest.approx(0.24821307898992026, abs=1e-12)
    assert ks([1, 2, 3], [1, 2, 4]) == pytest.approx(2 / 3)
    assert ks([1, math.inf, 2], [1, 2, 3]) == pytest.approx(2 / 3)
    correlation = column_pairs.CorrelationSimilarity.compute_breakdown(TWO, TWO)
    assert correlation == {"score": 1.0, "real": pytest.approx(0.6), "synthetic": pytest.approx(0.6)}
    parents, children = pd.Series([1, 2, 3]), pd.Series([1, 9, 3, 3])
    assert column_pairs.ReferentialIntegrity.compute((parents, parents), (parents, children)) == 0.75


KINDS = {
    "pandas": pd.Series,
    "polars": pl.Series,
    "arrow": pa.array,
    "numpy": lambda v: np.array([NAN if x is None and not any(isinstance(y, str) for y in v) else x for x in v]),
    "list": list,
}


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_columns(kind):
    make = KINDS[kind]
    numbers, others, texts, more = [1.0, None, 2.5, 3.0], [2, 3, 3], ["a", "b", None, "a"], ["b", "c"]
    assert single_column.KSComplement.compute(make(numbers), make(others)) == pytest.approx(2 / 3)
    assert single_column.BoundaryAdherence.compute(make(numbers), make(others)) == 1.0
    assert single_column.StatisticSimilarity.compute(make(others), make(numbers), statistic="median") == 0.5
    assert single_column.CategoryCoverage.compute_breakdown(make(texts), make(more)) == {
        "score": 0.5, "real": 2, "synthetic": 1,
    }  # fmt: skip
    assert single_column.MissingValueSimilarity.compute(make(texts), make(more)) == 0.75
    assert single_column.KeyUniqueness.compute(make(texts), make(texts)) == 0.5
    assert single_column.RegexFormatAdherence.compute(make(more), make(["b", None, "bb"]), "[a-c]") == pytest.approx(
        2 / 3
    )


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table, pd.DataFrame])
def test_kinds_of_frames(make):
    columns = {"x": [1.0, 2.0, 3.0, 4.0, None], "y": [2.0, 1.0, 4.0, 3.0, 5.0], "c": ["a", "b", "a", None, "b"]}
    table = make(columns)
    metadata = {"columns": {"x": {"sdtype": "numerical"}, "y": {"sdtype": "numerical"}, "c": {"sdtype": "categorical"}}}
    assert single_table.KSComplement.compute(table, table, metadata) == 1.0
    found = single_table.CorrelationSimilarity.compute_breakdown(table, table, metadata)
    assert found == {("x", "y"): {"score": 1.0, "real": pytest.approx(0.6), "synthetic": pytest.approx(0.6)}}
    assert single_table.TableStructure.compute(table, table) == 1.0


@pytest.mark.parametrize("seed", range(3))
def test_whole_numbers_are_counted_or_sorted(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    real, synthetic = rng.integers(-40, 60, 300), rng.integers(-30, 90, 200)
    by_sorting = formulas.ks_complement(real, synthetic)
    monkeypatch.setattr(formulas, "_COUNT_FROM", 0)
    assert formulas._counted(real, synthetic) is not None
    assert formulas.ks_complement(real, synthetic) == by_sorting


HARD = {
    "normal": lambda rng, n: rng.normal(size=n),
    "ties": lambda rng, n: rng.integers(0, 9, n) / 3,
    "one far": lambda rng, n: np.append(rng.normal(size=n - 1), 1e12),
    "lognormal": lambda rng, n: rng.lognormal(0, 5, n),
    "tiny": lambda rng, n: rng.normal(size=n) * 1e-300,
    "endless": lambda rng, n: np.append(rng.normal(size=n - 1), np.inf),
    "constant": lambda rng, n: np.full(n, 0.1),
}


@pytest.mark.parametrize("kind", HARD)
@pytest.mark.parametrize("shift", [0.0, 0.3])
def test_numbers_are_compared_without_sorting_most(kind, shift, monkeypatch):
    rng = np.random.default_rng(4)
    real, synthetic = HARD[kind](rng, 500), HARD[kind](rng, 400) + shift
    by_sorting = formulas.ks_complement(real, synthetic)
    monkeypatch.setattr(formulas, "_COUNT_FROM", 0)
    for n_buckets in (2, 16, 64, 256, 2**13):
        monkeypatch.setattr(formulas, "_BUCKETS", n_buckets)
        assert formulas.ks_complement(real, synthetic) == by_sorting
    assert (formulas._gap_by_buckets(real, synthetic) is None) == (
        kind == "endless" or (kind, shift) == ("constant", 0)
    )


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_categories_changes_no_digit(seed):
    rng = np.random.default_rng(seed)
    real, synthetic = rng.integers(0, 50, (2, 7, 5))
    rows, columns = rng.permutation(7), rng.permutation(5)
    turned = [c[rows][:, columns] for c in (real, synthetic)]
    assert pair_measures.contingency_similarity(*turned) == pair_measures.contingency_similarity(real, synthetic)
    assert pair_measures.cramers_v(turned[0]) == pair_measures.cramers_v(real) == pair_measures.cramers_v(real.T)
    counts = real[:, 0], np.where(synthetic[:, 0] < 30, 0, synthetic[:, 0])
    for measure in (formulas.tv_complement, formulas.chi_squared_p):
        assert measure(*counts) == measure(*(c[rows] for c in counts))


def test_many_levels_are_counted_without_a_table_of_all_cells(monkeypatch):
    from divulge.sdmetrics.column_pairs import comparisons

    rng = np.random.default_rng(1)
    real, synthetic = (pd.DataFrame({"a": rng.integers(0, 30, 90), "b": rng.integers(0, 20, 90)}) for _ in range(2))
    settings = [{}, {"real_association_threshold": 0.1}]
    wanted = [column_pairs.ContingencySimilarity.compute_breakdown(real, synthetic, **s) for s in settings]
    monkeypatch.setattr(comparisons, "_CELLS", 10)
    found = [column_pairs.ContingencySimilarity.compute_breakdown(real, synthetic, **s) for s in settings]
    for ours, theirs in zip(found, wanted, strict=True):
        assert ours == pytest.approx(theirs, nan_ok=True)


def test_v_against_scipy():
    from scipy.stats.contingency import association

    counts = np.random.default_rng(2).integers(0, 6, (4, 5))
    assert pair_measures.cramers_v(counts) == pytest.approx(association(counts, method="cramer"), abs=1e-12)
    assert math.isnan(pair_measures.cramers_v(np.array([[3, 0], [2, 0]])))


def test_a_subsample_is_drawn_by_seed():
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"a": rng.integers(0, 5, 400), "b": rng.integers(0, 5, 400)})
    scores = [
        column_pairs.ContingencySimilarity.compute(table, table, num_rows_subsample=50, seed=s) for s in (1, 1, 2, 3)
    ]
    assert scores[0] == scores[1] and len(set(scores)) > 1 and all(0.3 < s < 1 for s in scores)


def test_the_tables_of_the_caller_stay_as_they_are():
    table = TWO.copy()
    column_pairs.ContinuousKLDivergence.compute(table, table)
    column_pairs.ContingencySimilarity.compute(table, table, continuous_column_names=["x"])
    single_table.ContinuousKLDivergence.compute(table, table)
    pd.testing.assert_frame_equal(table, TWO)


def test_a_warning_counts_and_quotes_no_value():
    secret = ["ID_1", "SECRET_A", "SECRET_B", "SECRET_C"]
    calls = [
        (single_column.RegexFormatAdherence, r"ID_\d", "regex"),
        (single_column.DatetimeFormatAdherence, "%Y", "datetime"),
    ]
    for metric, form, what in calls:
        with pytest.warns(UserWarning, match=f"do not match the specified {what} format: [34] in number") as caught:
            metric.compute(objects(*secret), objects(*secret), form)
        assert "SECRET" not in str(caught[0].message) and caught[0].filename == __file__


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: single_column.KSComplement.compute({"a": 1}, [1]), TypeError, "`real_data` is of type dict"),
        (lambda: single_column.KSComplement.compute([1]), TypeError, r"KSComplement.compute\(\): missing a required"),
        (lambda: single_column.KSComplement.compute(np.ones((2, 2)), [1]), TypeError, "has 2 dimensions"),
        (lambda: single_column.KSComplement.compute(objects("SECRET"), [1]), TypeError, "Expected numeric dtype"),
        (lambda: single_column.BoundaryAdherence.compute(objects("SECRET"), [1]), TypeError, "not all numbers or dates"),
        (lambda: single_column.CategoryCoverage.compute([], [1]), IncomputableMetricError, "real column has no value"),
        (lambda: single_column.CSTest.compute(["a"], []), IncomputableMetricError, "synthetic column is empty"),
        (lambda: single_column.RegexFormatAdherence.compute([1], [1], "a"), TypeError, "must be text"),
        (lambda: column_pairs.CorrelationSimilarity.compute(TWO[["x"]], TWO), ValueError, "has 1 columns"),
        (lambda: column_pairs.ReferentialIntegrity.compute(TWO, TWO), ValueError, "must be a tuple of two"),
        (lambda: single_table.MultiSingleColumnMetric.compute(TWO, TWO), NotImplementedError, "computes nothing itself"),
        (lambda: single_table.TableStructure.compute(pd.DataFrame(), pd.DataFrame()), ValueError, "no columns"),
    ],
)  # fmt: skip
def test_bad_calls(call, error, text):
    with pytest.raises(error, match=text) as raised:
        call()
    assert "SECRET" not in str(raised.value)


def test_a_metric_of_ones_own_over_a_table():
    class Length(single_column.SingleColumnMetric):
        name, min_value, max_value = "Length", 0.0, 9.0

        @staticmethod
        def compute(real_data, synthetic_data, factor=1):
            return factor * len(synthetic_data)

    class OfTables(single_table.MultiSingleColumnMetric):
        single_column_metric = Length
        field_types = ("numerical",)

    assert OfTables.compute(TWO, TWO.head(3)) == 3
    assert OfTables.compute_breakdown(TWO, TWO, factor=2) == {"x": {"score": 10}, "y": {"score": 10}}
    assert (OfTables.name, OfTables.max_value) == ("Length", 9.0)


def test_attributes_of_the_wrappers():
    assert single_table.KSComplement.name == "Inverted Kolmogorov-Smirnov D statistic"
    assert single_table.KSComplement.normalize(0.5) == 0.5
    assert issubclass(single_table.CSTest, single_table.MultiSingleColumnMetric)
    assert set(single_table.MultiColumnPairsMetric.get_subclasses()) == {
        "ContingencySimilarity", "ContinuousKLDivergence", "CorrelationSimilarity", "DiscreteKLDivergence",
    }  # fmt: skip
    assert column_pairs.CardinalityBoundaryAdherence.normalize(0.5) == 0.5


def test_order_of_rows_and_columns_changes_nothing():
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"a": rng.normal(size=60), "b": rng.integers(0, 4, 60), "c": list("xyzxyz" * 10)})
    other = table.sample(frac=1, random_state=1)[["c", "a", "b"]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in ("KSComplement", "TVComplement", "StatisticSimilarity", "CorrelationSimilarity", "CSTest"):
            metric = getattr(single_table, name)
            assert metric.compute(table, table.head(40)) == pytest.approx(
                metric.compute(other, table.head(40).sample(frac=1, random_state=2)), abs=1e-12
            )


# ---------------------------------------------------------------- regular expressions


TEXTS = ["ID_1", "id_1", "ID_12", "", " ", "ID_1\n", "x\nID_1", "\u0663", "a.b", "aab", "\U0001f600", "a&b", "&"]
EXPRESSIONS = [
    "", "a?", r"ID_\d", r"ID_\d+\Z", r"\AID_\d+$", r"(?i)id_\d", r"(?s).*", ".*", r"\d", r"\w+", r"[^]a]+", r"[\w.-]+", "a|ID_1",
    r"(?x) ID_ \d  # a comment", r"(?P<one>ID)_(?P<two>\d)+", r"\\Z|a\.b", r"\u0663", "(a+)+b", "(?m)^x\n.*$", r"\S{4}", "a{2}b",
]  # fmt: skip


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_regular_expression_matches_what_python_matches(expression):
    import re

    from divulge.sdmetrics.single_column.formats import rows_of_pattern

    wanted = [re.fullmatch(expression, text) is not None for text in TEXTS]
    assert rows_of_pattern(pd.Series([*TEXTS, None], dtype=object), "real", expression).tolist() == [*wanted, True]


@pytest.mark.parametrize("expression", ["(a+)+$", "(a|aa)+$", "(?P<all>(a*)*)b", "(.*)*x"])
def test_a_regular_expression_ends(expression):
    texts = pd.Series(["a" * 5000 + "!"] * 3 + ["b"])
    with pytest.warns(UserWarning, match="do not match the specified regex format"):
        assert 0 <= single_column.RegexFormatAdherence.compute(texts, texts, expression) < 1


@pytest.mark.parametrize("expression", ["(?=a)a", r"(a)\1", "(?<!b)a", "[[a]", "[a&&b]", "(a{1000}){1000}"])
def test_a_regular_expression_without_a_bound_of_time_is_told(expression):
    with pytest.raises(ValueError, match=r"no matching in a bounded time\. hint: "):
        single_column.RegexFormatAdherence.compute(["a"], ["a"], expression)


@pytest.mark.parametrize("expression", ["(", "(" * 20_000, "a{3,1}", "[z-a]"])
def test_what_is_no_regular_expression_is_told(expression):
    with pytest.raises(ValueError, match="Invalid regex format string"):
        single_column.RegexFormatAdherence.compute(["a"], ["a"], expression)


def test_half_a_character_matches_nothing():
    texts = pd.Series(["a", "a\ud800"], dtype=object)
    with pytest.warns(UserWarning, match="1 in number"):
        assert single_column.RegexFormatAdherence.compute(texts, texts, "a.?") == 0.5
