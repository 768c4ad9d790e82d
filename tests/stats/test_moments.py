"""The normal limit of permuted labels from sums of whole numbers: against plain numpy, in any order, in any blocks."""

import numpy as np
import pytest

from divulge.core import coded_scores
from divulge.core.coded_scores import CodedScores, coded
from divulge.core.errors import SettingError
from divulge.stats import Outcomes, compare, max_t, moments, multiple_testing, resample, resampling, two_sample
from divulge.stats.moments import limit_of


def scores(seed, n, *, skipped=True):
    """Five tests of correlated outcomes: hits, fractions, credits above 1, hits with people who are skipped, all alike."""
    rng = np.random.default_rng(seed)
    common = rng.random(n)
    table = np.column_stack(
        [
            (common + rng.random(n) > 1.2).astype(float),
            np.round((common + rng.random(n)) / 2, 2),
            rng.poisson(3 * common) / 2,
            (common > 0.6).astype(float),
            np.full(n, 0.25),
        ]
    )
    if skipped:
        table[rng.random(n) < 0.3, 3] = np.nan
    return table


def plain(members, strangers, unit_m, unit_s):
    """|z| and correlation as the definition has them: residuals of the sums of each unit."""
    side = np.concatenate([np.ones(len(members)), np.zeros(len(strangers))])
    unit = np.concatenate([unit_m, unit_s + unit_m.max() + 1])
    table = np.concatenate([members, strangers])
    n, which = unit.max() + 1, np.unique(unit, return_index=True)[1]
    first = side[which]
    e, z = np.empty((n, table.shape[1])), np.empty(table.shape[1])
    for j, column in enumerate(table.T):
        asked = ~np.isnan(column)
        total = np.bincount(unit, np.where(asked, column, 0.0), minlength=n)
        size = np.bincount(unit, asked.astype(float), minlength=n)
        e[:, j] = total - total.sum() / size.sum() * size
        gap = abs(total[first == 1].sum() / size[first == 1].sum() - total[first == 0].sum() / size[first == 0].sum())
        n_1, n_0 = first.sum(), n - first.sum()
        variance = e[:, j].var() * n / (n - 1) * n_1 * n_0 / n  # of the sum of e over n_1 units
        rows = size.sum() / n
        z[j] = gap / (np.sqrt(variance) / (rows * n_1 * n_0 / n)) if variance > 1e-18 else 0.0
    live = e.std(axis=0) > 1e-12
    return z, np.corrcoef(e[:, live].T)


@pytest.mark.parametrize("skipped", [False, True])
@pytest.mark.parametrize("households", [False, True])
def test_equal_to_the_definition(skipped, households):
    a, b = scores(1, 900, skipped=skipped), scores(2, 400, skipped=skipped)
    rng = np.random.default_rng(3)
    units = [
        np.unique(rng.integers(0, n // 2, n), return_inverse=True)[1] if households else np.arange(n)
        for n in (900, 400)
    ]
    found = limit_of(list(a.T), list(b.T), *(units if households else ()))
    z, correlation = plain(a, b, *units)
    assert found.live.tolist() == [True] * 4 + [households and False]
    np.testing.assert_allclose(found.z, z, rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(found.correlation, correlation, atol=1e-5)


def test_the_bits_are_those_of_any_order_and_any_blocks(monkeypatch):
    a, b = scores(4, 700), scores(5, 500)
    rng = np.random.default_rng(6)
    units = rng.integers(0, 300, 700), rng.integers(0, 200, 500)
    one = limit_of(list(a.T), list(b.T), *units)
    i, j = rng.permutation(700), rng.permutation(500)
    monkeypatch.setattr(resampling, "_CHUNK", 97)
    other = limit_of(list(a[i].T), list(b[j].T), units[0][i] * 7, units[1][j] + 11)
    assert one.z.tobytes() == other.z.tobytes()
    assert one.correlation.tobytes() == other.correlation.tobytes()


def test_a_test_without_people_on_a_side_has_no_z():
    a, b = scores(7, 60), scores(8, 50)
    b[:, 1] = np.nan
    found = limit_of(list(a.T), list(b.T))
    assert np.isnan(found.z[1]) and not found.live[1] and not found.live[4]
    assert np.isfinite(found.z[[0, 2, 3]]).all() and found.correlation.shape == (3, 3)


def test_a_single_hit_among_very_many_keeps_its_spread():
    a, b = np.zeros(200_000), np.zeros(100_000)
    a[0] = 1.0
    found = limit_of([a], [b])
    assert found.z[0] == pytest.approx(
        np.sqrt(0.5), rel=1e-4
    )  # e = 1 for one of n: z = (n_s / n) / sqrt(n_m n_s / n^2)


def test_clusters_of_another_length_are_refused():
    with pytest.raises(SettingError, match="one number per row"):
        limit_of([np.arange(4.0)], [np.arange(3.0)], np.arange(3), np.arange(3))


@pytest.mark.parametrize("limit", [10, 20_000])
def test_columns_are_the_table_that_they_make(limit, monkeypatch):
    monkeypatch.setattr(two_sample, "RESAMPLE_UP_TO", limit)
    a, b = scores(9, 300), scores(10, 200)
    of_table = max_t(a, b, rng=np.random.default_rng(1))
    of_columns = max_t(list(a.T), list(b.T), rng=np.random.default_rng(1))
    assert of_table.critical == of_columns.critical
    np.testing.assert_array_equal(of_table.p_adjusted, of_columns.p_adjusted)


@pytest.mark.parametrize("n_tests", [5, 15])  # of few tests also those have exact p-values that are not 0 and 1
@pytest.mark.parametrize("households", [False, True])
@pytest.mark.parametrize("limit", [10, 20_000])
def test_coded_columns_change_no_bit(limit, households, n_tests, monkeypatch):
    monkeypatch.setattr(two_sample, "RESAMPLE_UP_TO", limit)
    monkeypatch.setattr(coded_scores, "CODED_FROM", 1)
    a, b = (list(np.tile(scores(seed, n), (1, n_tests // 5)).T) for seed, n in ((11, 300), (12, 200)))
    units = {}
    if households:
        rng = np.random.default_rng(13)
        units = {"cluster_members": rng.integers(0, 150, 300), "cluster_strangers": rng.integers(0, 90, 200)}
    small = [[coded(c) for c in side] for side in (a, b)]
    assert all(isinstance(c, CodedScores) for side in small for c in side)
    plain, found = (max_t(*sides, rng=np.random.default_rng(1), draws=99, **units) for sides in ((a, b), small))
    assert (found.critical, found.level_each) == (plain.critical, plain.level_each)
    assert found.p_adjusted.tobytes() == plain.p_adjusted.tobytes()
    assert found.p_value.tobytes() == plain.p_value.tobytes()


@pytest.mark.parametrize("place", [0, 1500])
def test_one_fraction_wherever_it_stands_is_no_test_of_hits(place):
    """Tests with fractions have no exact p-value; the first outcomes alone do not tell."""
    rng = np.random.default_rng(16)
    a, b = ((rng.random(n) < 0.3).astype(float) for n in (2000, 1500))
    assert multiple_testing._exact_p(a, b, (None, None), None) > 0
    a[place] = 0.5
    assert np.isnan(multiple_testing._exact_p(a, b, (None, None), None))
    assert np.isnan(multiple_testing._exact_p(b, a, (None, None), None))


def test_coded_columns_are_resampled_to_the_bit(monkeypatch):
    monkeypatch.setattr(coded_scores, "CODED_FROM", 1)
    a, b = scores(14, 90)[:, 1:2].T / 2, scores(15, 70)[:, 1:2].T / 2
    quick = [compare(Outcomes(a[0]), Outcomes(b[0]), rng=np.random.default_rng(0), draws=0)]
    assert quick[0].may_resample
    plain, found = (
        resample(*sides, quick, rng=np.random.default_rng(1), draws=99)[0]
        for sides in ((list(a), list(b)), ([coded(a[0])], [coded(b[0])]))
    )
    assert (found.risk, found.difference) == (plain.risk, plain.difference)


@pytest.mark.parametrize(("n", "most"), [(1_000, 1), (20_000_000, 1), (1_000_000, 40), (1_000_000, 1000)])
def test_steps_leave_sums_of_products_exact(n, most):
    """The largest sums that the steps allow are whole numbers below 2**53."""
    all_alike = np.broadcast_to(0.7, n)
    steps = moments._steps([all_alike], [np.array([0.2])], n + 1, most)
    assert n * most * (0.7 / steps.coarse[0]) ** 2 < 2**53
    assert n * 0.7 / steps.fine[0] < 2**53
    assert steps.coarse[0] < 1e-3
