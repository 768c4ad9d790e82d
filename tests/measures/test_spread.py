"""Outliers and widths: worked numbers, plain python, and what leaves them unchanged."""

import math

import numpy as np
import pytest
from amount import tries
from hypothesis import given, settings
from hypothesis import strategies as st

from divulge.measures.spread import half_width, outlier_coverage, smoothness_similarity
from divulge.sdmetrics import single_column, single_table

WHOLE = st.lists(st.integers(-60, 60), min_size=1, max_size=25)
REAL = [1, 2, 3, 4, 5, 6, 7, 20, 40]


def plain_coverage(real, synthetic):
    first, third = np.quantile(real, [0.25, 0.75])
    low, high = first - 1.5 * (third - first), third + 1.5 * (third - first)
    found = []
    for x in real:
        if low <= x <= high:
            continue
        further = (lambda v, x=x: v >= x) if x > high else (lambda v, x=x: v <= x)
        ours, theirs = (sum(map(further, side)) / len(side) for side in (real, synthetic))
        found.append(min(1, theirs / ours))
    return sum(found) / len(found) if found else math.nan


@settings(max_examples=tries(150), deadline=None)
@given(WHOLE, WHOLE)
def test_outlier_coverage_is_that_of_plain_python(real, synthetic):
    found = outlier_coverage(np.array(real, float), np.array(synthetic, float))[0]
    assert found == pytest.approx(plain_coverage(real, synthetic), nan_ok=True)


def test_fences_may_lie_beyond_the_floats():
    real, synthetic = np.array([*[-12.0] * 9, *[12.0] * 9, 10.0]), np.array([1.0, 15, 15])
    for numbers in ((real, synthetic), (np.array([*range(20), 60.0]) / 4, np.array([15.0, 15.5, 1]))):
        assert outlier_coverage(*(2.0**1020 * n for n in numbers)) == pytest.approx(
            outlier_coverage(*numbers), nan_ok=True
        )


@settings(max_examples=tries(150), deadline=None)
@given(WHOLE)
def test_half_width_is_that_of_plain_python(values):
    ordered, k = sorted(values), math.ceil(len(values) / 2)
    assert half_width(np.array(values, float)) == min(
        ordered[i + k - 1] - ordered[i] for i in range(len(values) - k + 1)
    )


@settings(max_examples=tries(150), deadline=None)
@given(WHOLE, WHOLE)
def test_what_leaves_both_unchanged(real, synthetic):
    first, second = np.array(real, float), np.array(synthetic, float)
    for measure in (outlier_coverage, smoothness_similarity):
        score = measure(first, second)[0]
        turned = (first[::-1], second[::-1]), (np.repeat(first, 1), np.repeat(second, 3)), (-first, -second)
        moved = (4 * first + 8, 4 * second + 8)
        for pair in (*turned, moved):
            assert measure(*pair)[0] == pytest.approx(score, nan_ok=True)
        assert math.isnan(score) or 0 <= score <= 1
    assert smoothness_similarity(second, first)[0] == smoothness_similarity(first, second)[0]
    assert smoothness_similarity(first, first)[0] == 1.0
    assert outlier_coverage(first, first)[0] == 1.0 or math.isnan(outlier_coverage(first, first)[0])


def test_worked_numbers():
    # quartiles 3 and 7: the fences are -3 and 13, so 20 and 40 are outliers
    metric = single_column.OutlierCoverage
    assert metric.compute_breakdown(REAL, [1, 2, 3]) == {"score": 0.0, "real": 2 / 9, "synthetic": 0.0}
    assert metric.compute(REAL, [25] * 9) == 0.5  # as far out as 20, and not as 40
    assert metric.compute(REAL, [*range(1, 18), 50]) == pytest.approx((1 / 18 / (2 / 9) + 1 / 18 / (1 / 9)) / 2)
    assert math.isnan(metric.compute([1, 2, 3], [1, 2, 3]))
    metric = single_column.SmoothnessSimilarity
    assert metric.compute([0, 0, 0, 9], [0, 0, 0, 5]) == 1.0  # half of each is one number
    assert metric.compute([0, 0, 0, 9], [0, 3, 6, 9]) == 0.0
    assert metric.compute([0, 1, 2, 3], [0, 2, 4, 6]) == 0.5
    for each in (single_column.OutlierCoverage, single_column.SmoothnessSimilarity):
        assert math.isnan(each.compute([], [1.0])) and math.isnan(each.compute([1.0], []))
        assert "divulge's own" in each.__doc__ and each.normalize(0.25) == 0.25


def test_dates_gaps_infinities_and_tables():
    pd = pytest.importorskip("pandas")
    days = pd.Series(pd.to_datetime("2020-01-01") + pd.to_timedelta(REAL, unit="D"))
    for metric in ("OutlierCoverage", "SmoothnessSimilarity"):
        one, table = getattr(single_column, metric), getattr(single_table, metric)
        score = one.compute(REAL, [1, 2, 5, 25])
        assert one.compute(
            days, pd.Series(pd.to_datetime("2020-01-01") + pd.to_timedelta([1, 2, 5, 25], unit="D"))
        ) == pytest.approx(score)
        assert one.compute([*REAL, None, math.inf], [1, 2, 5, 25, None]) == score
        with pytest.raises(TypeError, match="hint: convert"):
            one.compute(["a", "b"], ["a", "secret"])
        frames = [pd.DataFrame({"x": side, "c": "u"}) for side in (REAL, [1, 2, 5, 25])]
        assert table.compute(*frames) == score
