"""What a synthetic table keeps: worked numbers, plain oracles, order and edges."""

import numpy as np
import polars as pl
import pytest

from divulge import Schema
from divulge.case.case import build_case
from divulge.core.errors import ColumnError
from divulge.core.schema import Column
from divulge.measures.single_table import MEASURES, Utility, utility
from divulge.report.model import Utility as Written


def people(rng, n):
    """Columns that go together: a decides b, x follows a, y follows x."""
    a = rng.integers(0, 3, n)
    b = np.where(rng.random(n) < 0.8, a, rng.integers(0, 3, n))
    x = a + rng.normal(size=n)
    return pl.DataFrame({"a": [f"a{v}" for v in a], "b": [f"b{v}" for v in b], "x": x, "y": x * 2 + rng.normal(size=n)})


def by_name(found):
    return {u.measure: u for u in found}


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(0)
    return people(rng, 400), people(rng, 400), people(rng, 300)


@pytest.fixture(scope="module")
def found(tables):
    real, other, holdout = tables
    return by_name(utility(build_case(real, other, holdout)))


def test_the_entries_have_the_fields_of_the_report():
    own, written = Utility.__struct_fields__, Written.__struct_fields__
    assert written[: len(own)] == own
    assert written[len(own) :] == ("judged_by", "ruler", "low", "high", "verdict")  # what fidelity adds


def test_worked_numbers():
    real = pl.DataFrame({"a": list("xxxy") * 10, "b": list("uuvv") * 10})
    synthetic = pl.DataFrame({"a": list("xxyy") * 10, "b": list("uvuv") * 10})
    holdout = pl.DataFrame({"a": list("xxxy") * 10, "b": list("uuuv") * 10})
    found = by_name(utility(build_case(real, synthetic, holdout)))
    # a: 3/4 against 1/2, b: the same; of the holdout a: the same, b: 1/2 against 3/4
    assert found["marginal total variation"].value == pytest.approx((0.25 + 0) / 2)
    assert found["marginal total variation"].reference == pytest.approx((0 + 0.25) / 2)
    # cells xu 20, xv 10, yv 10: phi^2 = (20 10 - 10 0)^2 / (30 10 20 20) = 1/3, corrected by Bergsma
    n, phi = 40, 1 / 3
    v = np.sqrt((phi - 1 / (n - 1)) / (2 - 1 / (n - 1) - 1))
    assert found["pairwise association error"].value == pytest.approx(v)  # of the synthetic table it is 0


def test_total_variation_is_that_of_plain_numpy(tables, found):
    real, other, _ = tables
    distances = []
    for name in real.columns:
        if name in "xy":
            pooled = np.concatenate([real[name].to_numpy(), tables[2][name].to_numpy()])
            edges = np.quantile(pooled, np.arange(1, 10) / 10, method="inverted_cdf")
            codes = [np.searchsorted(edges, t[name].to_numpy(), side="left") for t in (real, other)]
        else:
            codes = [t[name].to_numpy() for t in (real, other)]
        values = np.unique(np.concatenate(codes))
        distances.append(sum(abs((codes[0] == v).mean() - (codes[1] == v).mean()) for v in values) / 2)
    assert found["marginal total variation"].value == pytest.approx(np.mean(distances))


def test_another_sample_of_the_population_is_as_good_as_the_holdout(found):
    assert found["marginal total variation"].value < 0.1
    assert found["pairwise association error"].value < 0.1
    assert found["propensity AUC"].value < 0.58
    assert found["train on synthetic, test on real"].value == pytest.approx(
        found["train on synthetic, test on real"].reference, abs=0.05
    )


@pytest.fixture(scope="module")
def noisy(tables):
    """The real table with 0, 30 and 100% of its cells drawn anew from their columns."""
    real, _, holdout = tables
    rng = np.random.default_rng(2)
    out = []
    for share in (0.0, 0.3, 1.0):
        changed = {}
        for c in real.columns:
            away = rng.random(len(real)) < share
            drawn = real[c].to_numpy()[rng.permutation(len(real))]
            changed[c] = np.where(away, drawn, real[c].to_numpy())
        out.append(utility(build_case(real, pl.DataFrame(changed), holdout), targets=["b", "x"]))
    return out


@pytest.mark.slow
def test_a_copy_keeps_everything(noisy):
    found = by_name(noisy[0])
    assert found["marginal total variation"].value == 0
    assert found["pairwise association error"].value == 0
    assert found["propensity AUC"].value == 0.5
    assert not any("of the synthetic table" in n for n in found["propensity AUC"].notes)  # and not far below it
    lesson = found["train on synthetic, test on real"]
    assert lesson.value == lesson.reference


@pytest.mark.slow
def test_shuffled_columns_lose_the_associations_and_keep_the_shares(noisy):
    lost = by_name(noisy[-1])
    assert lost["marginal total variation"].value == 0
    assert lost["pairwise association error"].value > 0.3
    assert lost["propensity AUC"].value > 0.75
    lesson = lost["train on synthetic, test on real"]
    assert lesson.value < lesson.reference - 0.2


@pytest.mark.slow
def test_more_noise_keeps_less(noisy):
    _, association, auc, lesson = np.array([[u.value for u in found] for found in noisy]).T
    assert (np.diff(association) > 0.05).all()
    assert (np.diff(auc) > 0.02).all()
    assert (np.diff(lesson) < 0).all()


@pytest.mark.slow
def test_row_order_and_column_order_change_no_digit(tables, monkeypatch):
    monkeypatch.setattr("divulge.measures.single_table._PROPENSITY_ROWS", 150)
    monkeypatch.setattr("divulge.measures.single_table._TAUGHT_ROWS", 120)
    monkeypatch.setattr("divulge.measures.single_table._PAIRS", 3)
    first = utility(build_case(*tables, seed=5), targets=["x", "a"])
    turned = [t.select(reversed(t.columns)).sample(fraction=1.0, shuffle=True, seed=3) for t in tables]
    assert utility(build_case(*turned, seed=5), targets=["a", "x"]) == first
    notes = " ".join(n for u in first for n in u.notes)
    assert "3 of 6 pairs were drawn" in notes
    assert "150 of 400 synthetic rows were drawn" in notes
    assert "120 of 300 holdout rows were drawn" in notes
    assert utility(build_case(*tables, seed=6), targets=["a"])[1].value != first[1].value


@pytest.mark.slow
def test_targets_are_those_named_and_scored_by_kind(tables):
    found = by_name(utility(build_case(*tables), targets=["y", "b"]))["train on synthetic, test on real"]
    told = " ".join(found.notes)
    assert "as named: 'b': AUC" in told
    assert "'y': R squared" in told
    assert found.better == "higher"
    with pytest.raises(ColumnError, match="targets"):
        utility(build_case(*tables), targets=["z"])


def test_without_a_holdout_there_is_no_reference(tables):
    found = utility(build_case(tables[0], tables[1]), targets=["a"])
    assert all(u.reference is None for u in found)
    assert all(u.value is not None for u in found)
    assert all(any("no holdout" in n for n in u.notes) for u in found)


def one_column(n):
    return pl.DataFrame({"a": ["x", "y"] * (n // 2)})


def constant(n):
    return pl.DataFrame({"a": ["x"] * n, "b": [1] * n})


def all_missing(n):
    return pl.DataFrame({"a": ["x", "y"] * (n // 2), "b": [None] * n}, schema={"a": pl.String, "b": pl.Float64})


@pytest.mark.parametrize(
    ("table", "undefined"),
    [
        (one_column(60), {MEASURES[1], MEASURES[3]}),
        (constant(60), set(MEASURES)),
        (all_missing(60), {MEASURES[1], MEASURES[3]}),
        (people(np.random.default_rng(0), 12), {MEASURES[2], MEASURES[3]}),
    ],
    ids=["one column", "constant", "all missing", "few rows"],
)
def test_what_is_undefined_says_so(table, undefined):
    found = utility(build_case(table, table, table))
    assert {u.measure for u in found if u.value is None} == undefined
    assert all(u.notes for u in found if u.value is None)


@pytest.mark.slow
def test_a_column_that_the_synthetic_table_leaves_empty_counts(tables):
    real, other, holdout = tables
    emptied = other.with_columns(pl.lit(None).cast(pl.Float64).alias("x"), pl.lit(None).cast(pl.String).alias("b"))
    found = by_name(utility(build_case(real, emptied, holdout), targets=["a", "b", "x"]))
    assert found["marginal total variation"].value > 0.5
    assert found["propensity AUC"].value > 0.99
    assert "undefined for 'b', 'x'" in " ".join(found["train on synthetic, test on real"].notes)


@pytest.mark.slow
def test_a_target_of_many_values_and_a_column_of_many_categories():
    rng = np.random.default_rng(4)
    many = pl.DataFrame({"t": [f"v{v}" for v in rng.integers(0, 400, 600)], "k": rng.integers(0, 3, 600).astype(str)})
    schema = Schema((Column("t", "categorical"), Column("k", "categorical")))
    found = by_name(utility(build_case(many, many, many, schema=schema), targets=["t"]))
    assert found["train on synthetic, test on real"].value is not None


@pytest.mark.slow
@pytest.mark.parametrize("power", [1000, -1050])
def test_numbers_whose_squares_leave_the_range_of_floats_have_the_same_score(power):
    rng = np.random.default_rng(5)
    key = rng.integers(0, 6, 300)
    frame = pl.DataFrame({"k": key, "x": np.round(key + rng.normal(size=300), 2)})
    far = frame.with_columns(x=pl.Series(np.ldexp(np.round(frame["x"].to_numpy() * 64), power)))
    near = frame.with_columns(x=pl.Series(np.round(frame["x"].to_numpy() * 64)))
    one, other = (by_name(utility(build_case(t, t, t), targets=["x"]))[MEASURES[2]].value for t in (near, far))
    assert one == pytest.approx(other)
    assert 0 < one < 1
