"""The counted measures: values by hand, laws, and the defects that each is there to see."""

import datetime as dt

import numpy as np
import polars as pl
import pytest

import divulge
from divulge.case.case import build_case, infer_schema
from divulge.core.limits import Limits
from divulge.core.schema import Column, Schema
from divulge.measures.catalogue import all_measures
from divulge.measures.column_pairs import pearson, spearman
from divulge.measures.coverage import expected_coverage
from divulge.measures.validity import keys_p

COUNTED = ("column_shapes", "column_pairs", "correlations", "missing_patterns", "tails", "coverage", "validity")


def people(seed, n=1500):
    rng = np.random.default_rng(seed)
    job = np.minimum(rng.geometric(0.35, n), 12)
    age = rng.gamma(9, 4.5, n)
    pay = age * 90 * rng.lognormal(0, 0.5, n) * (1 + job / 10)
    gap = rng.random(n)
    return pl.DataFrame(
        {
            "age": age.round(2),
            "pay": [None if g < 0.1 else float(v) for g, v in zip(gap, pay.round(1), strict=True)],
            "job": [f"j{v}" for v in job],
            "rich": [None if g < 0.08 else ("yes" if v > 4000 else "no") for g, v in zip(gap, pay, strict=True)],
        }
    )


@pytest.fixture(scope="module")
def real():
    return people(1)


def shuffled(table, *columns):
    rng = np.random.default_rng(2)
    return table.with_columns(pl.Series(c, table[c].gather(rng.permutation(table.height))) for c in columns)


DEFECTS = {
    "column_shapes": lambda t: t.with_columns(pl.col("age") + 3),
    "column_pairs": lambda t: shuffled(t, "job", "age"),
    "correlations": lambda t: shuffled(t, "age"),
    "missing_patterns": lambda t: shuffled(t, "rich"),
    "tails": lambda t: t.with_columns(pl.col("age").clip(pl.col("age").quantile(0.02), pl.col("age").quantile(0.98))),
    "coverage": lambda t: t.with_columns(
        pl.when(pl.len().over("job") < 0.03 * t.height).then(pl.lit("j1")).otherwise("job").alias("job")
    ),
    "validity": lambda t: t.with_columns(pl.when(pl.col("age") > 45).then(-1.0).otherwise("age").alias("age")),
}


@pytest.mark.parametrize("name", COUNTED)
def test_each_measure_sees_its_defect_and_not_a_fresh_sample(name, real):
    measure = getattr(divulge, name)
    fresh = people(11)
    assert measure(real, DEFECTS[name](fresh))[0].verdict == "differs"
    assert measure(real, fresh)[0].verdict not in ("differs", "closer than a fresh sample", "not measured")


@pytest.mark.parametrize("name", COUNTED)
def test_a_copy_is_at_zero(name, real):
    first, *others = getattr(divulge, name)(real, real)
    assert first.value == 0
    assert first.p_value == 1
    assert first.ruler in (0, None)
    assert all(r.value == 0 for r in others)
    if name in ("column_shapes", "column_pairs", "correlations", "tails"):
        assert first.verdict == "closer than a fresh sample"


def test_every_entry_explains_itself():
    for entry in all_measures():
        words = entry.words
        for text in (words.what, words.formula, words.reading, *words.silent, entry.question, entry.needs, entry.null):
            assert text.strip()
        assert entry.question.endswith("?")
        assert all(text.endswith(".") for text in (words.what, words.reading, *words.silent))
        assert getattr(divulge, entry.name).run is entry.run


def test_column_shapes_by_hand():
    real = pl.DataFrame({"sex": ["f"] * 60 + ["m"] * 40, "x": [i + 0.5 for i in range(40)] * 2 + [None] * 20})
    other = pl.DataFrame(
        {"sex": ["f"] * 30 + ["m"] * 50 + ["d"] * 20, "x": [i + 10.5 for i in range(40)] * 2 + [None] * 20}
    )
    mean, sex, x = divulge.column_shapes(real, other)
    assert (sex.columns, sex.value) == (("sex",), 0.3)
    assert (x.columns, x.value) == (("x",), pytest.approx(0.2))  # 20 of 100 rows lie below the smallest of the other
    assert mean.value == pytest.approx(0.25)
    assert mean.context == {"compared": 2, "differ": 1, "closer": 0}


@pytest.mark.slow
def test_merging_two_categories_never_raises_the_distance(real):
    other = DEFECTS["coverage"](people(3))
    merged = [t.with_columns(pl.col("job").replace({"j3": "j2"})) for t in (real, other)]
    for measure in (divulge.column_shapes, divulge.column_pairs):
        pairs = zip(measure(real, other)[1:], measure(*merged)[1:], strict=True)
        assert all(b.value <= a.value + 1e-9 for a, b in pairs if "job" in a.columns)


@pytest.mark.slow
def test_swapping_the_tables_changes_no_distance(real):
    other = people(4, 1200)
    for name in ("column_shapes", "column_pairs", "correlations", "missing_patterns", "tails"):
        there, back = getattr(divulge, name)(real, other), getattr(divulge, name)(other, real)
        assert [r.value for r in there] == pytest.approx([r.value for r in back], abs=1e-9)


def test_column_pairs_say_where_rare_values_are_one():
    rng = np.random.default_rng(5)
    tables = [pl.DataFrame({"a": [f"a{v}" for v in rng.integers(0, 40, 300)], "b": [f"b{v}" for v in rng.integers(0, 30, 300)]})
              for _ in range(2)]  # fmt: skip
    found = divulge.column_pairs(*tables)[1]
    assert found.notes[0].startswith("values rarer than ")
    assert found.verdict != "differs"


def test_correlations_are_pearsons_and_spearmans(real):
    other = people(6)
    found = divulge.correlations(real, other)
    assert [r.variant for r in found] == ["", "Pearson", "Spearman"]
    for result, function in zip(found[1:], (pearson, spearman), strict=True):
        rows = [t.select("age", "pay").drop_nulls() for t in (real, other)]
        r, s = (function(t["age"].to_numpy(), t["pay"].to_numpy()) for t in rows)
        near = 1e-6 if function is pearson else 5e-3  # ranks are those of both tables together
        assert result.context["real"] == pytest.approx(r, abs=near)
        assert result.context["synthetic"] == pytest.approx(s, abs=near)
        assert result.value == pytest.approx(np.tanh(abs(np.arctanh(r) - np.arctanh(s))), abs=2 * near)


@pytest.mark.slow
def test_the_spread_of_a_correlation_is_fishers():
    """Of normal numbers the z of a correlation has the standard error 1 / sqrt(n - 3)."""
    rng = np.random.default_rng(7)
    means = []
    for i in range(12):
        tables = [
            pl.DataFrame(rng.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], 400), schema=["x", "y"])
            for _ in range(2)
        ]
        means.append(divulge.correlations(*tables, seed=i)[1].fresh_sample.mean)
    assert np.mean(means) == pytest.approx(np.sqrt(2 / np.pi) * np.sqrt(2 / 397), rel=0.1)


def test_missing_patterns_by_hand():
    real = pl.DataFrame({"a": [None] * 20 + [1.5, 2.5] * 40, "b": [None] * 10 + ["x", "y"] * 45})
    other = pl.DataFrame({"a": [None] * 20 + [1.5, 2.5] * 40, "b": ["x", "y"] * 45 + [None] * 10})
    patterns, a, b = divulge.missing_patterns(real, other)
    assert (patterns.value, a.value, b.value) == (0.2, 0, 0)  # both lack 10, or a lacks 10 more and b other 10
    assert patterns.context["differ"] == 0  # of the columns


def test_a_column_that_is_constant_in_the_real_table_only_is_compared():
    real = pl.DataFrame({"a": ["x"] * 100, "b": ["u", "v"] * 50})
    other = real.with_columns(a=pl.Series(["x", "y"] * 50))
    assert divulge.column_shapes(real, other)[1].columns == ("a",)
    assert divulge.validity(real, other)[1].value == 0.5


def test_rare_values_are_a_tail():
    real = pl.DataFrame({"a": ["x"] * 960 + [f"r{i}" for i in range(4)] * 10})
    other = pl.DataFrame({"a": ["x"] * 990 + [f"r{i}" for i in range(2)] * 5})
    (rare,) = divulge.tails(real, other)[1:]
    assert (rare.variant, rare.columns) == ("rare values", ("a",))
    assert rare.value == pytest.approx((40 - 10) / (40 + 10))
    assert rare.verdict == "differs"


def test_coverage_expects_what_rows_should_show():
    assert expected_coverage([0.5, 0.5], 3).tolist() == [0.875, 0.875]
    real = pl.DataFrame({"a": ["x", "y"] * 20})
    found = divulge.coverage(real, pl.DataFrame({"a": ["x", "x", "x"]}))[1]
    assert found.value == 0.5
    assert found.context == {"real values": 2, "expected to be lost": 0.125}


def test_coverage_by_hand_under_all_relabellings():
    """Rows a a b against a c c: the share of lost values is compared with each of the 20 relabellings."""
    from itertools import combinations

    rows = np.array(list("aabacc"))
    lost = [
        len(set(rows[list(i)]) - set(np.delete(rows, i))) / len(set(rows[list(i)])) for i in combinations(range(6), 3)
    ]
    found = divulge.coverage(pl.DataFrame({"k": rows[:3]}), pl.DataFrame({"k": rows[3:]}))[1]
    assert found.value == 0.5
    assert found.fresh_sample.mean == pytest.approx(np.mean(lost), abs=4 * np.std(lost) / np.sqrt(999))


def test_numbers_out_of_range_are_counted_by_relabelling():
    real = pl.DataFrame({"x": [1.5, 2.5, 3.5, 4.5, 5.5] * 20})
    other = pl.DataFrame({"x": [0.5] * 3 + [2.5, 3.5, 4.5] * 30 + [9.5] * 7})
    found = divulge.validity(real, other)[1]
    assert (found.variant, found.value) == ("out of range", 0.1)
    assert found.verdict == "differs"
    rng = np.random.default_rng(8)
    tables = [pl.DataFrame({"x": rng.normal(size=400)}) for _ in range(2)]
    assert divulge.validity(*tables)[1].fresh_sample.mean == pytest.approx(2 / 401, rel=0.15)


def test_stated_limits():
    day = [dt.date(2020, 1, 1) + dt.timedelta(days=i % 90) for i in range(200)]
    real = pl.DataFrame({"x": [i % 60 + 0.5 for i in range(200)], "k": ["a", "b"] * 100, "d": day})
    other = real.with_columns(pl.Series("x", [-1.0] * 20 + real["x"].to_list()[20:]), k=pl.lit("c"))
    stated = {"x": Limits(low=0, high=100), "k": Limits(values=("a", "b")), "d": Limits(high="2020-12-31")}
    columns = [Column(c.name, c.kind, c.why, c.roles, c.bins, stated[c.name]) for c in infer_schema(real).columns]
    found = {
        r.columns: r
        for r in divulge.validity(real, other, schema=Schema(tuple(columns)))
        if r.variant == "stated limit"
    }
    assert {c: r.value for c, r in found.items()} == {("x",): 0.1, ("k",): 1.0, ("d",): 0.0}


def test_keys_that_repeat():
    real = pl.DataFrame({"id": range(100), "x": ["a", "b"] * 50})
    other = real.with_columns(id=pl.Series([*range(90), *range(10)]))
    key = divulge.validity(real, other)[-1]
    assert (key.variant, key.columns, key.value, key.verdict) == ("key", ("id",), 0.1, "differs")
    assert key.context == {"repeated": 10, "missing": 0}
    assert divulge.validity(real, real)[-1].value == 0


@pytest.mark.parametrize(
    ("real", "synthetic", "p"),
    [
        ([0, 1, 1, 0], [0, 0, 0, 2], 0.5),  # as likely a pair of the real table
        ([0, 1, 1, 0, 0], [0, 0, 0, 2, 2], 0.64),
        ([0, 1, 1, 0], [0, 2, 0, 0], 1 / 2),  # of three rows the real table has one or none
        ([0, *[1] * 8], [1, 1] + [0] * 7, 0.2),  # a fifth of all rows is synthetic
        ([0, 1, 1], [0, 1, 1], 1.0),
    ],
)
def test_p_value_of_keys_by_hand(real, synthetic, p):
    assert keys_p(np.array(real), np.array(synthetic)) == pytest.approx(p)


def test_keys_that_a_population_lacks_are_no_finding():
    """A key is missing in 3 of 2,000 rows. The share of tables with p below a level is that level, at 1,000 + 250 rows."""
    rng, level, runs, false = np.random.default_rng(0), 0.00625, 4000, 0
    for absent in rng.binomial((1000, 250), 0.0015, (runs, 2)):
        if absent[0] == 0:  # a key that is missing in the real table is not tested
            counts = [np.append(absent[i], np.ones(n - absent[i], dtype=np.int64)) for i, n in enumerate((1000, 250))]
            synthetic = np.concatenate([counts[1][:1], np.zeros(1000, dtype=np.int64), counts[1][1:]])
            real = np.append(counts[0], np.zeros(len(synthetic) - len(counts[0]), dtype=np.int64))
            false += keys_p(real, synthetic) < level
    assert false <= runs * level + 2 * np.sqrt(runs * level)


def test_two_keys_are_corrected_for_each_other():
    """Six repeated keys are rare for one identifier and a quarter of the chance, and not among four identifiers."""
    rng = np.random.default_rng(4)
    real = pl.DataFrame({"x": rng.normal(size=100), **{f"id{i}": range(1000 * i, 1000 * i + 100) for i in range(4)}})
    other = real.with_columns(id0=pl.Series([*range(5000, 5094), *range(5000, 5006)]))
    alone = divulge.validity(real.select("x", "id0"), other.select("x", "id0"))
    assert [r.p_adjusted for r in alone if r.variant == "key"] == [pytest.approx(4 * 0.5**6)]
    among = divulge.validity(real, other)
    assert [r.p_adjusted for r in among if r.variant == "key"] == [pytest.approx(16 * 0.5**6), 1.0, 1.0, 1.0]
    plain = divulge.validity(real.select("x"), other.select("x"))
    assert alone[1].p_adjusted == pytest.approx(min(1, plain[1].p_adjusted / 0.75))


def test_the_holdout_stands_beside(real):
    holdout = people(9, 800)
    found = divulge.column_pairs(real, people(3), holdout=holdout)[0].holdout
    assert found.n == 800
    assert found.value == pytest.approx(divulge.column_pairs(real, holdout)[0].value, rel=0.05)  # bins of all tables
    assert found.fresh_sample.low < found.value < found.fresh_sample.high
    assert found.p_adjusted > 0.05


@pytest.mark.slow
def test_results_hold_no_value_of_the_tables(real):
    for name in COUNTED:
        text = str([r.to_dict() for r in getattr(divulge, name)(real, DEFECTS[name](people(3)))])
        assert not any(f"'j{i}'" in text or f"j{i} " in text for i in range(1, 13))


@pytest.mark.slow
def test_one_case_serves_all_measures(real):
    case = build_case(real, people(3))
    wanted = {m.name: m for m in all_measures()}
    assert [r.value for r in wanted["column_pairs"].run(case)] == [
        r.value for r in divulge.column_pairs(real, people(3))
    ]
