import numpy as np
import pytest
from amount import tries
from hypothesis import given, settings
from hypothesis import strategies as st

from divulge.core.schema import Bins, Column
from divulge.kernels.counts.binning import fit_binning, quantile_edges, width_edges


def test_quantile_edges_are_values_at_the_inverse_of_the_distribution_function():
    numbers, counts = np.arange(1.0, 101), np.ones(100, dtype=int)
    assert quantile_edges(numbers, counts, 10).tolist() == [10, 20, 30, 40, 50, 60, 70, 80, 90]


def test_repeated_edges_are_merged():
    numbers, counts = np.array([0.0, 1, 2]), np.array([97, 2, 1])
    assert quantile_edges(numbers, counts, 10).tolist() == [0.0]


@settings(max_examples=tries(100), deadline=None)
@given(st.lists(st.integers(-50, 50), min_size=3, max_size=60), st.integers(2, 12))
def test_bins_are_right_closed_and_hold_about_equal_shares(values, n_bins):
    numbers, counts = np.unique(np.array(values, dtype=float), return_counts=True)
    edges = quantile_edges(numbers, counts, n_bins)
    n = len(values)
    for k in range(1, n_bins):
        # the k-th quantile is the smallest value with at least k n / bins values at or below it
        quantile = min(x for x in numbers if sum(v <= x for v in values) * n_bins >= k * n)
        assert quantile in edges or quantile == numbers[-1]


@given(st.floats(0.1, 100), st.floats(-50, 50))
@settings(max_examples=tries(30), deadline=None)
def test_rescaling_a_number_changes_no_bin(scale, shift):
    numbers = np.array([0.0, 1, 2, 5, 9, 11, 12, 20, 30, 31, 40, 55])
    counts = np.arange(1, 13)
    column = Column("x", "numeric", bins=Bins("quantile", 4))
    before = fit_binning(column, numbers, counts).map
    after = fit_binning(column, np.round(numbers * scale + shift, 9), counts).map
    assert (before == after).all()


def test_width_edges_leave_infinities_out():
    assert width_edges(np.array([-np.inf, 0.0, 10.0, np.inf]), 2).tolist() == [5.0]


def test_values_only_the_synthetic_table_has_fall_into_the_bin_where_they_lie():
    numbers = np.arange(30.0)
    counts = np.where(numbers < 25, 1, 0)
    coding = fit_binning(Column("x", "numeric", bins=Bins("quantile", 5)), numbers, counts)
    assert coding.map[-1] == coding.map[25]
    assert coding.n_codes == 6


def test_values_that_are_no_number_stay_categories():
    numbers = np.r_[np.arange(30.0), np.nan, np.nan]
    coding = fit_binning(Column("x", "numeric"), numbers, np.ones(32, dtype=int))
    assert coding.map[-2] != coding.map[-1]
    assert "values that are no number: 2" in coding.bins


def test_missing_keeps_code_zero():
    coding = fit_binning(Column("x", "numeric"), np.arange(30.0), np.ones(30, dtype=int))
    assert coding.map[0] == 0
    assert 0 not in coding.map[1:]


@pytest.mark.parametrize("kind", ["categorical", "boolean", "integer-coded", "identifier"])
def test_other_kinds_are_never_binned(kind):
    coding = fit_binning(Column("x", kind), np.arange(100.0), np.ones(100, dtype=int))
    assert coding.map.tolist() == list(range(101))
    assert coding.bins == ""


def test_few_distinct_numbers_are_not_binned():
    coding = fit_binning(Column("x", "numeric"), np.arange(7.0), np.ones(7, dtype=int))
    assert coding.bins == ""
