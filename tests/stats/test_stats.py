import itertools
import math
import subprocess
import sys

import numpy as np
import pytest
from amount import tries
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from divulge.core.errors import SettingError
from divulge.core.hashing import row_hashes
from divulge.stats import (
    Outcomes,
    benjamini_hochberg,
    clopper_pearson,
    compare,
    holm,
    max_t,
    mover_residual,
    newcombe,
    outcomes,
    resample,
    resampling,
    two_sample,
    wilson,
)
from divulge.stats import multiple_testing as families


def rng(seed=0):
    return np.random.default_rng(seed)


def limits(interval, digits):
    return round(interval.low, digits), round(interval.high, digits)


def inside(interval, truth):
    return interval.low <= truth <= interval.high


# --- worked --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hits", "n", "digits", "expected"),
    [
        (81, 263, 4, (0.2553, 0.3662)),  # Newcombe 1998, Two-sided intervals for the single proportion
        (0, 500, 5, (0.0, 0.00762)),
        (7, 100, 4, (0.0343, 0.1375)),
    ],
)
def test_wilson_gives_the_published_limits(hits, n, digits, expected):
    assert limits(wilson(hits, n), digits) == expected


@pytest.mark.parametrize(
    ("hits", "n", "digits", "expected"),
    [(7, 100, 4, (0.0286, 0.1389)), (0, 1000, 6, (0.0, 0.003682)), (10, 1000, 5, (0.00481, 0.01831))],
)
def test_clopper_pearson_gives_the_known_limits(hits, n, digits, expected):
    assert limits(clopper_pearson(hits, n), digits) == expected


@pytest.mark.parametrize(
    ("counts", "expected"),
    [((56, 70, 48, 80), (0.0524, 0.3339)), ((30, 100, 20, 100), (-0.0202, 0.2167))],
)
def test_newcombe_gives_the_published_limits(counts, expected):
    assert limits(newcombe(*counts), 4) == expected


@pytest.mark.parametrize(
    ("counts", "point", "expected"),
    [((150, 500, 100, 500), 0.125, (0.0599, 0.1867)), ((30, 100, 5, 100), 0.25 / 0.95, (0.1619, 0.3658))],
)
def test_mover_gives_the_limits_worked_by_hand(counts, point, expected):
    found = mover_residual(*counts)
    assert found.value == pytest.approx(point, abs=1e-12)
    assert limits(found, 4) == expected


@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
@pytest.mark.parametrize(("hits", "n"), [(0, 7), (1, 7), (7, 7), (40, 300), (299, 300)])
def test_one_proportion_agrees_with_statsmodels(hits, n, level):
    for ours, name in ((wilson, "wilson"), (clopper_pearson, "beta")):
        low, high = proportion_confint(hits, n, alpha=1 - level, method=name)
        assert ours(hits, n, level).low == pytest.approx(low, abs=1e-9)
        assert ours(hits, n, level).high == pytest.approx(high, abs=1e-9)


@pytest.mark.parametrize("counts", [(56, 70, 48, 80), (0, 10, 10, 10), (3, 500, 0, 80)])
def test_a_difference_agrees_with_statsmodels(counts):
    low, high = confint_proportions_2indep(*counts, compare="diff", method="newcomb")
    assert newcombe(*counts).low == pytest.approx(low, abs=1e-9)
    assert newcombe(*counts).high == pytest.approx(high, abs=1e-9)


def test_without_trials_a_proportion_is_anything():
    for method in (wilson, clopper_pearson):
        found = method(0, 0)
        assert (math.isnan(found.value), found.low, found.high) == (True, 0.0, 1.0)
    assert repr(newcombe(0, 0, 1, 2)) == "Interval(value=nan, low=nan, high=nan)"
    assert repr(mover_residual(1, 2, 0, 0)) == "Interval(value=nan, low=nan, high=nan)"


@pytest.mark.parametrize("call", [lambda: wilson(3, 2), lambda: wilson(-1, 2), lambda: wilson(1, 2, 1.0)])
def test_impossible_counts_and_levels_are_refused(call):
    with pytest.raises(SettingError):
        call()


def test_the_residual_is_undefined_when_strangers_always_succeed():
    assert repr(mover_residual(5, 10, 10, 10)) == "Interval(value=nan, low=nan, high=nan)"


def test_the_residual_is_negative_and_not_clipped_when_members_do_worse():
    found = mover_residual(10, 100, 50, 100)
    assert found.value == pytest.approx(-0.8)
    assert found.low < -1 < found.high < 0


def test_failures_too_few_to_tell_from_none_leave_the_residual_unbounded_below():
    found = mover_residual(5, 10, 10 - 1e-300, 10)
    assert math.isnan(found.value) or found.low == -math.inf


def test_members_who_always_succeed_have_residual_one_with_width():
    found = mover_residual(10, 10, 5, 10)
    assert (found.value, found.high) == (1.0, 1.0)
    assert 0 < found.low < 1


# --- coverage by enumeration ---------------------------------------------------------------------------


def likely(n, p):
    """The counts that matter, with their probabilities."""
    k = np.arange(n + 1)
    weight = stats.binom.pmf(k, n, p)
    return [(int(i), float(w)) for i, w in zip(k, weight, strict=True) if w > 1e-8]


@pytest.mark.parametrize("p", [0.02, 0.1, 0.3, 0.5, 0.9])
def test_wilson_covers_near_its_level(p):
    n = 200
    covered = sum(w for k, w in likely(n, p) if inside(wilson(k, n), p))
    assert 0.93 <= covered <= 0.98  # counts are discrete: coverage waves around 0.95


@pytest.mark.parametrize("p", [0.005, 0.1, 0.5, 0.97])
def test_clopper_pearson_never_covers_less_than_its_level(p):
    n = 100
    assert sum(w for k, w in likely(n, p) if inside(clopper_pearson(k, n), p)) >= 0.95


@pytest.mark.parametrize(
    ("n_t", "n_c", "p", "coverage", "alarms"),
    [
        (500, 500, 0.02, 0.960, 0.020),
        (500, 500, 0.70, 0.950, 0.025),
        (500, 500, 0.95, 0.951, 0.024),
        (100, 100, 0.95, 0.961, 0.024),
        (500, 100, 0.70, 0.950, 0.027),
        (500, 100, 0.95, 0.953, 0.039),
    ],
)
def test_mover_covers_zero_at_its_level(n_t, n_c, p, coverage, alarms):
    covered = alarmed = 0.0
    for k, w in likely(n_t, p):
        for j, v in likely(n_c, p):
            found = mover_residual(k, n_t, j, n_c)
            covered += w * v * inside(found, 0)
            # The figures count an undefined residual (all strangers hit) as a miss and as an alarm.
            alarmed += w * v * (found.low > 0 or math.isnan(found.value))
    assert covered == pytest.approx(coverage, abs=0.0006)
    assert alarmed == pytest.approx(alarms, abs=0.0006)


@given(st.integers(1, 60), st.integers(1, 60), st.data(), st.sampled_from([0.8, 0.95, 0.9999]))
def test_newcombe_and_mover_agree_about_zero(n_a, n_b, data, level):
    a, b = data.draw(st.integers(0, n_a)), data.draw(st.integers(0, n_b - 1))
    difference, residual = newcombe(a, n_a, b, n_b, level), mover_residual(a, n_a, b, n_b, level)
    assume(min(abs(difference.low), abs(residual.low), abs(difference.high)) > 1e-9)
    assert (difference.low > 0) == (residual.low > 0)
    assert (difference.high < 0) == (residual.high < 0)


@given(st.integers(1, 60), st.integers(1, 60), st.data())
def test_every_interval_has_width_and_contains_its_value(n_a, n_b, data):
    a, b = data.draw(st.integers(0, n_a)), data.draw(st.integers(0, n_b - 1))
    pair = (a, n_a, b, n_b)
    for found in (wilson(a, n_a), clopper_pearson(a, n_a), newcombe(*pair), mover_residual(*pair)):
        assert found.low < found.high
        assert found.low <= found.value <= found.high


# --- many p-values and sizes ---------------------------------------------------------------------------


@pytest.mark.slow
@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
@settings(max_examples=tries(40), deadline=None)
def test_adjusted_p_values_agree_with_statsmodels(p):
    exact = {"rtol": 1e-12, "atol": 1e-300}  # below that, floats have few digits
    np.testing.assert_allclose(holm(p), multipletests(p, method="holm")[1], **exact)
    np.testing.assert_allclose(benjamini_hochberg(p), multipletests(p, method="fdr_bh")[1], **exact)


def test_adjusted_p_values_by_hand():
    """Holm: 3 x 0.01, 2 x 0.03, and 0.04 not below the one before; Benjamini and Hochberg: 3/2 x 0.03 not above 0.04."""
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert benjamini_hochberg([0.04, 0.01, 0.03]) == pytest.approx([0.04, 0.03, 0.04])


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_tests_that_were_not_run_do_not_count(adjust):
    found = adjust([0.01, np.nan, 0.04, np.nan])
    np.testing.assert_array_equal(found[[0, 2]], adjust([0.01, 0.04]))
    assert np.isnan(found[[1, 3]]).all()
    assert adjust([]).shape == (0,)


# --- outcomes ------------------------------------------------------------------------------------------


def test_skipped_records_leave_numerator_and_denominator():
    found = Outcomes(np.array([1.0, 0.5, np.nan]), count=np.array([2, 3, 4]))
    assert (found.hits, found.n, found.rate) == (3.5, 5, 0.7)
    assert not found.is_binary
    assert Outcomes(np.array([1.0, np.nan])).is_binary
    assert math.isnan(Outcomes(np.array([np.nan])).rate)


@given(st.lists(st.tuples(st.floats(1e-9, 1), st.integers(0, 50)), max_size=30))
def test_merged_hits_equal_written_out_hits_to_the_last_digit(rows):
    value, count = np.array([r[0] for r in rows]), np.array([r[1] for r in rows], dtype=np.int64)
    assert Outcomes(value, count=count).hits == math.fsum(np.repeat(value, count).tolist())


@pytest.mark.parametrize("values", [(0.0, 1.0), (0.0, 1.0, math.nan), (0.0, 0.25, 0.5, 1.0, math.nan)])
@pytest.mark.parametrize("n", [0, 1, 4, 60])
def test_the_distinct_outcomes_and_how_many_have_each(values, n):
    value, count = rng(n).choice(values, n), rng(n + 1).integers(0, 3, n)
    count[value == 1.0] = 0  # nobody has it
    every = np.repeat(value, count)
    asked = every[~np.isnan(every)]
    wanted, times = np.unique(asked, return_counts=True)
    alone, merged = Outcomes(every), Outcomes(value, count=count)
    for one in (alone, merged, Outcomes(every, cluster=np.zeros(len(every), dtype=np.int64))):
        found = one.distinct
        assert found[0].tolist() == wanted.tolist() and found[1].tolist() == times.tolist()
        assert one.distinct is found  # made once
        assert (one.hits, one.n) == (math.fsum(asked.tolist()), len(asked))


@pytest.mark.parametrize(
    "arguments",
    [
        {"value": np.array([1.5])},
        {"value": np.zeros((2, 2))},
        {"value": np.zeros(2), "count": np.ones(2, int), "cluster": np.ones(2, int)},
        {"value": np.zeros(2), "count": np.ones(3, int)},
        {"value": np.zeros(2), "cluster": np.array([0.5, 1.5])},
        {"value": np.zeros(2), "count": np.array([1, -1])},
    ],
)
def test_outcomes_that_make_no_sense_are_refused(arguments):
    with pytest.raises(SettingError):
        Outcomes(**arguments)


# --- compare -------------------------------------------------------------------------------------------


def binary(hits, n):
    return Outcomes(np.array([1.0, 0.0]), count=np.array([hits, n - hits]))


def households(seed, n=80, size=5, skew=1.0):
    g = rng(seed)
    cluster = np.repeat(np.arange(n), g.integers(1, size + 1, n))
    value = np.clip(g.beta(skew, 3, n)[cluster] + g.normal(0, 0.1, cluster.size), 0, 1)
    value[g.random(cluster.size) < 0.1] = np.nan
    return Outcomes(value, cluster=cluster)


def digits(found):
    parts = (found.real, found.holdout, found.difference, found.risk, found.p_value, found.method)
    return repr((parts, found.at(0.9999), found.at(0.5)))


def test_hits_of_single_rows_get_newcombe_mover_and_fisher():
    found = compare(binary(150, 500), binary(100, 500), rng=rng())
    assert found.difference == newcombe(150, 500, 100, 500)
    assert found.risk == mover_residual(150, 500, 100, 500)
    assert found.at(0.99) == (newcombe(150, 500, 100, 500, 0.99), mover_residual(150, 500, 100, 500, 0.99))
    assert found.method == "Newcombe; MOVER"
    assert (found.real.hits, found.real.n, found.real.rate, found.real.n_clusters) == (150, 500, 0.3, 500)


@pytest.mark.parametrize("counts", [(3, 10, 7, 12), (150, 500, 100, 500), (0, 5, 0, 9), (9, 9, 0, 3), (1, 800, 9, 70)])
def test_the_exact_test_agrees_with_scipy(counts):
    a, n_a, b, n_b = counts
    expected = stats.fisher_exact([[a, n_a - a], [b, n_b - b]]).pvalue
    assert compare(binary(a, n_a), binary(b, n_b), rng=rng()).p_value == pytest.approx(expected, rel=1e-7)


def test_the_exact_test_never_says_zero():
    assert 0 < compare(binary(10**6, 10**6), binary(0, 10**6), rng=rng()).p_value < 1e-300


def effective_limits(means, level=0.95):
    """Wilson's limits of a mean at Korn and Graubard's effective size, as the roots of the score equation."""
    p, n, z = means.mean(), means.size, stats.norm.isf((1 - level) / 2)
    size = p * (1 - p) / (means.var(ddof=1) / n) * (z / stats.t.isf((1 - level) / 2, n - 1)) ** 2
    return np.sort(np.roots([1 + z * z / size, -(2 * p + z * z / size), p * p]).real)


def welch_and_wilson(a, b, level=0.95):
    """Welch's limits of the difference, and the differences of two Wilson intervals."""
    welch = stats.ttest_ind(a, b, equal_var=False).confidence_interval(level)
    p, q, (a_low, a_high), (b_low, b_high) = a.mean(), b.mean(), effective_limits(a, level), effective_limits(b, level)
    low, high = math.hypot(p - a_low, b_high - q), math.hypot(a_high - p, q - b_low)
    return (welch.low, welch.high), (p - q - low, p - q + high)


def mover_of_failures(a, b, level=0.95):
    """Donner and Zou's limits of 1 less the ratio of failure rates, as roots of its equation."""
    x, y, (x_low, x_high), (y_low, y_high) = (
        1 - a.mean(), 1 - b.mean(), effective_limits(1 - a, level), effective_limits(1 - b, level)
    )  # fmt: skip
    smallest = np.roots([y * y - (y_high - y) ** 2, -2 * x * y, x * x - (x - x_low) ** 2]).real.min()
    largest = np.roots([y * y - (y - y_low) ** 2, -2 * x * y, x * x - (x_high - x) ** 2]).real.max()
    return 1 - largest, 1 - smallest


def many_small():
    return rng(1).random(60), rng(2).random(35) ** 2


def few_hits():
    return 0.9 * (rng(1).random(100) < 0.06), 0.9 * (rng(2).random(400) < 0.01)


def few_failures():
    return 1 - 0.3 * rng(1).random(40) ** 6, 1 - 0.9 * rng(2).random(30) ** 6


@pytest.mark.parametrize("level", [0.9, 0.95])
@pytest.mark.parametrize(("draw", "welch_is_outer"), [(many_small, (False, True)), (few_hits, (True, False))])
def test_fractional_rows_get_the_outer_of_welch_and_wilson(draw, welch_is_outer, level):
    a, b = draw()
    found = compare(Outcomes(a), Outcomes(b), rng=rng(), level=level)
    welch, wilsons = welch_and_wilson(a, b, level)
    assert (welch[0] < wilsons[0], welch[1] > wilsons[1]) == welch_is_outer  # else one of them is not tested
    assert found.difference.low == pytest.approx(min(welch[0], wilsons[0]), abs=1e-12)
    assert found.difference.high == pytest.approx(max(welch[1], wilsons[1]), abs=1e-12)
    assert found.method == "Welch and Wilson at the effective size; cluster bootstrap (2000 draws)"


def test_equal_clusters_get_welch_and_wilson_on_their_means():
    a, b = rng(1).random((30, 4)), rng(2).random((25, 4))
    found = compare(
        Outcomes(a.ravel(), cluster=np.repeat(np.arange(30), 4)),
        Outcomes(b.ravel(), cluster=np.repeat(np.arange(25), 4)),
        rng=rng(),
    )
    welch, wilsons = welch_and_wilson(a.mean(axis=1), b.mean(axis=1))
    assert found.difference.low == pytest.approx(min(welch[0], wilsons[0]), abs=1e-12)
    assert found.difference.high == pytest.approx(max(welch[1], wilsons[1]), abs=1e-12)
    assert (found.real.n, found.real.n_clusters) == (120, 30)


@pytest.mark.parametrize(("draw", "mover_is_outer"), [(few_hits, (False, True)), (few_failures, (False, False))])
def test_the_risk_is_the_outer_of_the_bootstrap_and_mover(draw, mover_is_outer):
    a, b = draw()
    found = compare(Outcomes(a), Outcomes(b), rng=rng(), draws=20_000)
    mover = mover_of_failures(a, b)
    g = rng(8)
    failed = [(1 - x)[g.integers(0, x.size, (20_000, x.size - 1))].mean(axis=1) for x in (a, b)]
    drawn = 1 - failed[0] / failed[1]
    bootstrap = np.percentile(drawn, [2.5, 97.5])
    assert (mover[0] < bootstrap[0], mover[1] > bootstrap[1]) == mover_is_outer
    tolerance = 4 * 2.67 * np.std(drawn) * math.sqrt(2 / 20_000)
    for limit, i in ((found.risk.low, 0), (found.risk.high, 1)):
        if mover_is_outer[i]:
            assert limit == pytest.approx(mover[i], abs=1e-12)
        else:
            assert limit == pytest.approx(bootstrap[i], abs=tolerance)
    # without draws: the normal limit of the log failure ratio beside MOVER
    normal = compare(Outcomes(a), Outcomes(b), rng=rng(), draws=0)
    centre = math.log((1 - a.mean()) / (1 - b.mean()))
    sd = math.hypot(stats.sem(a) / (1 - a.mean()), stats.sem(b) / (1 - b.mean()))
    assert normal.risk.low == pytest.approx(min(mover[0], 1 - math.exp(centre + 1.959964 * sd)), abs=1e-6)
    assert normal.risk.high == pytest.approx(max(mover[1], 1 - math.exp(centre - 1.959964 * sd)), abs=1e-6)
    assert normal.method.endswith("; normal limit of the log failure ratio")
    assert normal.difference == found.difference
    pooled = np.concatenate([a, b])
    z = abs(a.mean() - b.mean()) / math.sqrt(pooled.var(ddof=1) * (1 / a.size + 1 / b.size))
    assert normal.p_value == pytest.approx(2 * stats.norm.sf(z), rel=1e-9)


def test_the_number_of_draws_is_not_negative():
    with pytest.raises(SettingError, match="draws"):
        compare(Outcomes(np.array([0.5])), Outcomes(np.array([0.2])), rng=rng(), draws=-1)


def by_cluster(outcomes):
    keep = ~np.isnan(outcomes.value)
    names = np.unique(outcomes.cluster[keep])
    rows = [outcomes.value[keep & (outcomes.cluster == name)] for name in names]
    return np.array([r.sum() for r in rows]), np.array([r.size for r in rows])


def test_the_bootstrap_agrees_with_a_plain_loop():
    a, b = households(1, skew=2.0), households(2, n=50)
    found = compare(a, b, rng=rng(), draws=20_000)
    g, drawn = rng(5), []
    (s_a, m_a), (s_b, m_b) = by_cluster(a), by_cluster(b)
    for _ in range(8000):
        i, j = g.integers(0, s_a.size, s_a.size - 1), g.integers(0, s_b.size, s_b.size - 1)
        p_a, p_b = s_a[i].sum() / m_a[i].sum(), s_b[j].sum() / m_b[j].sum()
        drawn.append((p_a - p_b) / (1 - p_b))
    low, high = np.percentile(drawn, [2.5, 97.5])
    # A 2.5% quantile of B draws has standard error sqrt(.025 * .975 / B) / density = 2.67 sd / sqrt(B).
    tolerance = 4 * 2.67 * np.std(drawn) * math.sqrt(1 / 8000 + 1 / 20_000)
    assert found.risk.low == pytest.approx(low, abs=tolerance)
    assert found.risk.high == pytest.approx(high, abs=tolerance)


def test_the_label_permutation_agrees_with_a_plain_loop():
    a, b = households(1, n=25, skew=1.4), households(2, n=18)
    (s_a, m_a), (s_b, m_b) = by_cluster(a), by_cluster(b)
    s, m, n_a = np.concatenate([s_a, s_b]), np.concatenate([m_a, m_b]), s_a.size
    seen, g, beyond = abs(s_a.sum() / m_a.sum() - s_b.sum() / m_b.sum()), rng(5), 0
    for _ in range(4000):
        i = g.permutation(s.size)
        p_a, p_b = s[i[:n_a]].sum() / m[i[:n_a]].sum(), s[i[n_a:]].sum() / m[i[n_a:]].sum()
        beyond += abs(p_a - p_b) >= seen - 1e-12
    p = beyond / 4000
    assert 0.02 < p < 0.9  # else the comparison says nothing
    assert compare(a, b, rng=rng()).p_value == pytest.approx(p, abs=4 * math.sqrt(p * (1 - p) / 1300))


def test_normal_limits_agree_with_resampling(monkeypatch):
    a = Outcomes(rng(1).beta(2, 3, 3000), cluster=rng(3).integers(0, 900, 3000))
    b = Outcomes(rng(2).beta(2, 3.1, 2000), cluster=rng(4).integers(0, 700, 2000))
    small = compare(a, b, rng=rng())
    monkeypatch.setattr(two_sample, "RESAMPLE_UP_TO", 100)
    large = compare(a, b, rng=rng())
    width = small.risk.high - small.risk.low
    assert "normal limit" in large.method
    assert large.difference == small.difference
    assert large.risk.low == pytest.approx(small.risk.low, abs=0.06 * width)
    assert large.risk.high == pytest.approx(small.risk.high, abs=0.06 * width)
    assert large.p_value == pytest.approx(small.p_value, abs=0.04)


def test_few_distinct_values_take_a_shortcut_to_the_same_distribution():
    a, b = np.repeat([0.0, 0.5, 1.0], [50, 30, 20]), np.repeat([0.0, 0.5, 1.0], [60, 30, 10])
    short = compare(Outcomes(a), Outcomes(b), rng=rng(), draws=20_000)
    jitter = 1e-9 * rng(1).random(100)  # all rows distinct: drawn one by one
    long = compare(Outcomes(np.abs(a - jitter)), Outcomes(np.abs(b - jitter)), rng=rng(), draws=20_000)
    width = short.risk.high - short.risk.low
    assert short.risk.low == pytest.approx(long.risk.low, abs=0.04 * width)
    assert short.p_value == pytest.approx(long.p_value, abs=0.03)


@pytest.mark.parametrize("jitter", [0.0, 1e-9], ids=["merged", "one by one"])
def test_resamples_vary_as_much_as_the_unbiased_variance_says(jitter):
    value = np.repeat([0.0, 0.5], [15, 15]) + jitter * np.arange(30)
    logs = resampling._bootstrap_log_failure(outcomes._reduce(Outcomes(value)), rng(), 40_000)
    # 30 of 30 would fall 3.3% short; the standard error here is 0.7%.
    assert np.exp(logs).var() == pytest.approx(value.var(ddof=1) / 30, rel=0.02)


def test_a_permutation_p_value_counts_the_labels_seen():
    apart = compare(Outcomes(0.9 + 0.1 * rng(1).random(50)), Outcomes(0.1 * rng(2).random(50)), rng=rng())
    assert apart.p_value == 1 / 2000


def test_duplicated_people_in_clusters_do_not_narrow_the_interval():
    value = rng(1).random(50)
    once = compare(Outcomes(value), Outcomes(value[:30] ** 2), rng=rng())
    twice = compare(
        Outcomes(np.tile(value, 2), cluster=np.tile(np.arange(50), 2)),
        Outcomes(np.tile(value[:30] ** 2, 2), cluster=np.tile(np.arange(30), 2)),
        rng=rng(),
    )
    assert twice.difference.low == pytest.approx(once.difference.low, abs=1e-12)
    assert twice.risk.low == pytest.approx(once.risk.low, abs=1e-12)
    assert twice.p_value == once.p_value


def test_clusters_of_one_are_no_clusters():
    value = (rng(1).random(50) < 0.4) * 1.0
    plain = compare(Outcomes(value), Outcomes(1 - value), rng=rng())
    named = compare(
        Outcomes(value, cluster=np.arange(50)), Outcomes(1 - value, cluster=rng(2).permutation(50)), rng=rng()
    )
    assert digits(named) == digits(plain)


@pytest.mark.parametrize("value", [0.0, 0.1, 1.0])
def test_groups_without_spread_get_intervals_with_width(value):
    cluster = np.repeat(np.arange(40), 1 + np.arange(40) % 6)  # sums of 0.1 with all their rounding
    flat = Outcomes(np.full(cluster.size, value), cluster=cluster)
    found = compare(flat, flat, rng=rng())
    assert found.difference.value == 0
    assert found.difference.high > 0.01
    assert found.difference.low == -found.difference.high
    assert found.p_value == 1
    assert found.difference.high == pytest.approx(newcombe(40 * value, 40, 40 * value, 40).high)
    if value == 1:
        assert math.isnan(found.risk.low)
    else:
        assert found.risk.low < 0 < found.risk.high


def test_one_group_without_spread_gets_width_from_wilson():
    cluster = np.repeat(np.arange(40), 5)
    flat, spread = Outcomes(np.zeros(200), cluster=cluster), households(3, n=40)
    found = compare(spread, flat, rng=rng())
    assert 0 < found.difference.low < found.difference.value < found.difference.high
    assert 0 < found.risk.low < found.risk.value < found.risk.high
    assert "Wilson" in found.method
    assert "MOVER" in found.method


def test_a_single_cluster_says_next_to_nothing():
    one = Outcomes(np.array([0.5, 0.7]), cluster=np.array([1, 1]))
    found = compare(one, one, rng=rng())
    assert found.difference.high - found.difference.low > 1
    assert found.p_value == 1


def test_strangers_who_always_succeed_leave_the_difference():
    found = compare(Outcomes(rng().random(30)), Outcomes(np.ones(30)), rng=rng())
    assert found.difference.high < 0
    assert math.isnan(found.risk.value)
    assert math.isnan(found.at(0.999)[1].low)
    assert "always succeed" in found.method


@pytest.mark.parametrize("empty", [np.array([]), np.array([np.nan, np.nan])])
def test_an_empty_group_leaves_everything_undefined(empty):
    for other in (np.array([0.0, 1.0]), np.array([0.3, 0.6]), empty):
        for found in (
            compare(Outcomes(empty), Outcomes(other), rng=rng()),
            compare(Outcomes(other), Outcomes(empty), rng=rng()),
        ):
            assert math.isnan(found.difference.low)
            assert math.isnan(found.risk.high)
            assert math.isnan(found.p_value)
            assert math.isnan(found.at(0.99)[0].low)


def test_resamples_in_which_strangers_always_succeed_do_not_break_the_bootstrap():
    strangers = Outcomes(np.array([1.0, 1.0, 1.0, 0.5]))
    found = compare(Outcomes(np.array([0.2, 0.4, 0.9, 0.9])), strangers, rng=rng())
    assert found.risk.low == -math.inf
    assert math.isfinite(found.risk.high)
    assert found.at(0.999)[1].low == -math.inf


rows = st.lists(
    st.tuples(st.sampled_from([0.0, 0.1, 0.25, 1 / 3, 0.7, 1.0, math.nan]), st.integers(0, 12)),
    min_size=1,
    max_size=25,
)


def clustered(drawn):
    return Outcomes(np.array([d[0] for d in drawn]), cluster=np.array([d[1] for d in drawn]))


def counted(drawn):
    return Outcomes(np.array([d[0] for d in drawn]), count=np.array([d[1] for d in drawn]))


def quick(members, strangers):
    return compare(members, strangers, rng=rng(7), draws=50)


@given(rows, rows, st.randoms(use_true_random=False))
@settings(max_examples=tries(40), deadline=None)
def test_row_order_and_cluster_names_change_no_digit(one, two, random):
    names = random.sample(range(1000), 13)
    moved = [(v, names[c]) for v, c in random.sample(one, len(one))]
    again = [(v, names[c]) for v, c in random.sample(two, len(two))]
    assert digits(quick(clustered(one), clustered(two))) == digits(quick(clustered(moved), clustered(again)))


@given(rows, rows, st.randoms(use_true_random=False))
@settings(max_examples=tries(40), deadline=None)
def test_merging_equal_rows_changes_no_digit(one, two, random):
    written = []
    for drawn in (one, two):
        long = [v for v, count in drawn for _ in range(count)]
        written.append(Outcomes(np.array(random.sample(long, len(long)))))
    assert digits(quick(counted(one), counted(two))) == digits(quick(*written))


@given(rows, rows)
@settings(max_examples=tries(40), deadline=None)
def test_swapping_members_and_strangers_negates_the_difference(one, two):
    for build in (clustered, counted):
        there, back = quick(build(one), build(two)), quick(build(two), build(one))
        for a, b in ((there.difference, back.difference), (there.at(0.999)[0], back.at(0.999)[0])):
            np.testing.assert_array_equal([a.value, a.low, a.high], [-b.value, -b.high, -b.low])
        np.testing.assert_array_equal(there.p_value, back.p_value)


@given(rows, rows)
@settings(max_examples=tries(40), deadline=None)
def test_intervals_have_width_and_higher_levels_contain_lower_ones(one, two):
    for build in (clustered, counted):
        found = quick(build(one), build(two))
        nested = [found.at(level) for level in (0.5, 0.9, 0.95, 0.99, 0.999999)]
        for narrow, wide in itertools.pairwise(nested):
            for a, b in zip(narrow, wide, strict=True):
                if not math.isnan(a.value):
                    assert b.low <= a.low <= a.high <= b.high
                    assert b.low < b.high


# --- max-T ---------------------------------------------------------------------------------------------


def secrets(seed, n=60, j=5, shift=0.0):
    g = rng(seed)
    latent = g.normal(size=(n, 1)) + g.normal(size=(n, j)) + shift
    return (latent > 1.0) * 1.0


def same(one, two):
    assert repr((one.critical, one.level_each)) == repr((two.critical, two.level_each))
    np.testing.assert_array_equal(one.p_adjusted, two.p_adjusted)
    np.testing.assert_array_equal(one.p_value, two.p_value)


def test_max_t_agrees_with_a_plain_loop():
    # scores of 0 or 0.9: hits of 0 or 1 have Fisher's p-value
    a, b = 0.9 * secrets(1, shift=np.array([0.0, 0.9, 0.3, 0.0, 0.5])), 0.9 * secrets(2, n=45)
    a[3, 1] = a[7, 2] = b[2, 2] = np.nan
    pool, g = np.concatenate([a, b]), rng(9)

    def differences(labels):
        return np.abs(np.nanmean(pool[labels], axis=0) - np.nanmean(pool[~labels], axis=0))

    seen = np.arange(105) < 60
    draws = np.array([differences(g.permutation(seen)) for _ in range(4000)])
    sd = np.sqrt((draws**2).mean(axis=0))
    z, z_seen = draws / sd, differences(seen) / sd
    found = max_t(a, b, rng=rng())
    error = 4 * np.sqrt(0.25 / 1300)
    np.testing.assert_allclose(found.p_value, (z >= z_seen - 1e-9).mean(axis=0), atol=error)
    np.testing.assert_allclose(found.p_adjusted, [(z.max(axis=1) >= x - 1e-9).mean() for x in z_seen], atol=error)
    assert found.critical == pytest.approx(np.quantile(z.max(axis=1), 0.95), abs=0.1)
    assert found.level_each == pytest.approx(1 - 2 * stats.norm.sf(found.critical), abs=1e-12)


def test_one_test_needs_no_correction():
    a, b = secrets(1, j=1), secrets(2, j=1)
    found = max_t(a, b, rng=rng(), level=0.9)
    assert found.level_each == 0.9
    assert found.critical == pytest.approx(1.6449, abs=1e-4)
    np.testing.assert_array_equal(found.p_value, found.p_adjusted)


def test_the_same_test_many_times_needs_no_correction_beyond_the_draws():
    a, b = 0.9 * np.tile(secrets(1, j=1), 30), 0.9 * np.tile(secrets(2, j=1), 30)
    np.testing.assert_array_equal(max_t(a, b, rng=rng()).p_adjusted, max_t(a, b, rng=rng()).p_value)


def test_hits_of_0_or_1_have_fishers_p_value_and_see_beyond_the_draws():
    a, b = secrets(1, n=150, shift=np.array([3.0, 0.9, 0.0])[:, None].T, j=3), secrets(2, n=120, j=3)
    found, again = max_t(a, b, rng=rng()), max_t(a, b, rng=rng(5))
    exact = [
        stats.fisher_exact([[x.sum(), 150 - x.sum()], [y.sum(), 120 - y.sum()]])[1]
        for x, y in zip(a.T, b.T, strict=True)
    ]
    np.testing.assert_allclose(found.p_value, exact, rtol=1e-6)
    assert found.p_adjusted[0] == pytest.approx(3 * exact[0], rel=1e-6) and found.p_adjusted[0] < 1e-9
    assert (found.p_adjusted >= found.p_value).all()
    assert found.p_adjusted[0] == again.p_adjusted[0]
    single = max_t(a[:, 2:], b[:, 2:], rng=rng())
    assert single.p_adjusted[0] == pytest.approx(exact[2], rel=1e-6)


def test_tests_without_spread_or_people_stay_out():
    a, b = secrets(1), secrets(2)
    alone = max_t(a, b, rng=rng())
    extra = np.column_stack([np.zeros(60), np.full(60, np.nan), np.full(60, 0.1)])
    padded = max_t(np.column_stack([a, extra]), np.column_stack([b, extra]), rng=rng())
    assert padded.p_value[[5, 7]].tolist() == [1, 1]
    assert padded.p_adjusted[[5, 7]].tolist() == [1, 1]
    assert np.isnan([padded.p_value[6], padded.p_adjusted[6]]).all()
    assert padded.critical == pytest.approx(alone.critical, abs=0.15)
    assert max_t(extra[:, :1], extra[:, :1], rng=rng()).level_each == 0.95
    assert np.isnan(max_t(a, b[:0], rng=rng()).p_value).all()
    assert max_t(a[:, :0], b[:, :0], rng=rng()).p_value.shape == (0,)


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=tries(20), deadline=None)
def test_max_t_forgets_row_order_and_cluster_names(seed, skip):
    g = rng(seed)
    a, b = g.choice([0.0, 0.1, 0.7, 1.0], (40, 4)), g.choice([0.0, 0.1, 0.7, 1.0], (30, 4))
    if skip:
        a[g.random(a.shape) < 0.2] = np.nan
    c, d = g.integers(0, 15, 40), g.integers(0, 12, 30)
    i, j, names = g.permutation(40), g.permutation(30), g.permutation(100)
    same(max_t(a, b, rng=rng(), draws=60), max_t(a[i], b[j], rng=rng(), draws=60))
    same(
        max_t(a, b, cluster_members=c, cluster_strangers=d, rng=rng(), draws=60),
        max_t(a[i], b[j], cluster_members=names[c[i]], cluster_strangers=names[d[j]], rng=rng(), draws=60),
    )


def test_max_t_forgets_which_group_is_which():
    a, b = secrets(1), secrets(2)
    same(max_t(a, b, rng=rng()), max_t(b, a, rng=rng()))


def test_duplicated_people_in_clusters_change_no_p_value():
    a, b = secrets(1), secrets(2, n=50, shift=0.4)
    once = max_t(a, b, rng=rng())
    twice = max_t(
        np.tile(a, (2, 1)),
        np.tile(b, (2, 1)),
        cluster_members=np.tile(np.arange(60), 2),
        cluster_strangers=np.tile(np.arange(50), 2),
        rng=rng(),
    )
    np.testing.assert_allclose(twice.p_value, once.p_value, atol=0.05)
    assert twice.critical == pytest.approx(once.critical, abs=0.1)
    assert once.p_value.min() < 0.6  # else agreement says nothing


def test_max_t_alone_agrees_with_compare():
    g = rng(4)
    a, b = households(1, skew=1.4), households(2)
    found = max_t(a.value[:, None], b.value[:, None], cluster_members=a.cluster, cluster_strangers=b.cluster, rng=g)
    expected = compare(a, b, rng=g).p_value
    assert found.p_value[0] == pytest.approx(expected, abs=4 * math.sqrt(expected * (1 - expected) / 1000))


def test_max_t_divides_the_difference_of_ratios_by_its_permutation_sd():
    a, b = households(1, n=20, size=30), households(2, n=12, size=4)
    (s_a, m_a), (s_b, m_b) = by_cluster(a), by_cluster(b)
    s, m = np.concatenate([s_a, s_b]), np.concatenate([m_a, m_b])
    residual = s - s.sum() / m.sum() * m
    sd = math.sqrt(residual.var(ddof=1) * (1 / s_a.size + 1 / s_b.size)) / m.mean()
    pool = families._pool(a.value[:, None], b.value[:, None], a.cluster, b.cluster)
    expected = abs(s_a.sum() / m_a.sum() - s_b.sum() / m_b.sum()) / sd
    assert families._standardise(*pool).z[0] == pytest.approx(expected, rel=1e-12)


def test_the_normal_limit_of_max_t_agrees_with_permutations(monkeypatch):
    a, b = secrets(1, n=600, j=12, shift=np.linspace(0, 0.3, 12)), secrets(2, n=400, j=12)
    a, b = 0.9 * a, 0.9 * b  # not 0 and 1: the limit alone
    a[5, 3] = np.nan
    small = max_t(a, b, rng=rng())
    monkeypatch.setattr(two_sample, "RESAMPLE_UP_TO", 100)
    large = max_t(a, b, rng=rng())
    np.testing.assert_allclose(large.p_adjusted, small.p_adjusted, atol=0.06)
    assert large.critical == pytest.approx(small.critical, abs=0.1)
    i = rng(3).permutation(600)
    same(large, max_t(a[i], b, rng=rng()))


def test_hits_of_many_people_are_tested_exactly_beside_the_normal_limit(monkeypatch):
    a, b = secrets(1, n=600, j=12, shift=np.linspace(0, 0.6, 12)), secrets(2, n=400, j=12)
    b[:, 0] *= rng(4).random(400) < 0.02  # few hits
    a[:, 0] *= rng(5).random(600) < 0.06
    a[5, 3] = np.nan
    monkeypatch.setattr(two_sample, "RESAMPLE_UP_TO", 100)
    found, normal = max_t(a, b, rng=rng()), max_t(0.9 * a, 0.9 * b, rng=rng())
    fisher = []
    for x, y in zip(a.T, b.T, strict=True):
        x, y = x[~np.isnan(x)], y[~np.isnan(y)]
        fisher.append(stats.fisher_exact([[x.sum(), x.size - x.sum()], [y.sum(), y.size - y.sum()]]).pvalue)
    fisher = np.array(fisher)
    assert (fisher > normal.p_value).any()
    np.testing.assert_allclose(found.p_value, np.maximum(normal.p_value, fisher), rtol=1e-6)
    assert (found.p_adjusted >= np.minimum(1, 12 * fisher) * (1 - 1e-6)).all()
    assert (found.p_adjusted >= normal.p_adjusted - 1e-9).all()
    small = found.p_value < 0.5 / 12
    assert small.any()
    assert (found.p_adjusted[small] <= 12 * found.p_value[small] * (1 + 1e-6)).all()
    # households are no independent hits: the limit stands alone, though values are 0 and 1
    clusters = {"cluster_members": np.arange(600), "cluster_strangers": np.arange(400)}
    np.testing.assert_allclose(max_t(a, b, rng=rng(), **clusters).p_value, normal.p_value, rtol=1e-5)


def test_one_hit_of_few_among_many_people_is_no_finding():
    """One of 2,000 against none of 20,000: the normal limit says p = .002, counting says 1 in 11."""
    members, strangers = np.zeros((2000, 2)), np.zeros((20_000, 2))
    members[0, 0] = 1
    members[:1000, 1], strangers[:10_000, 1] = 1, 1
    found = max_t(members, strangers, rng=rng())
    assert found.p_value[0] == pytest.approx(1 / 11, rel=1e-9)
    assert found.p_adjusted[0] == pytest.approx(2 / 11, rel=1e-9)
    # other outcomes than 0 and 1: labels are drawn for the few that differ (standard error .0065)
    assert max_t(0.9 * members, 0.9 * strangers, rng=rng()).p_value[0] == pytest.approx(1 / 11, abs=0.026)


@pytest.mark.parametrize("limit", [20_000, 10])
def test_adjusted_p_values_rise_with_p_and_are_never_below_it(limit, monkeypatch):
    monkeypatch.setattr(two_sample, "RESAMPLE_UP_TO", limit)
    found = max_t(secrets(1, j=8, shift=np.linspace(0, 1.5, 8)), secrets(2, j=8), rng=rng())
    assert (found.p_adjusted >= found.p_value).all()
    assert (np.diff(found.p_adjusted[np.argsort(found.p_value, kind="stable")]) >= -0.02).all()
    assert found.level_each >= 0.95


def test_extreme_levels_fall_back_to_bonferroni_rather_than_the_largest_draw():
    found = max_t(secrets(1), secrets(2), rng=rng(), draws=99, level=0.9999)
    assert found.critical == pytest.approx(stats.norm.isf(0.0001 / 2 / 5), rel=1e-6)


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(SettingError):
        max_t(np.zeros((3, 2)), np.zeros((3, 1)), rng=rng())
    with pytest.raises(SettingError):
        max_t(np.zeros((3, 2)), np.zeros((3, 2)), cluster_members=np.arange(3), rng=rng())


def test_rows_that_differ_have_different_hashes():
    values = np.unique(rng().integers(0, 2, (4000, 16)) * 1.0, axis=0)
    assert np.unique(row_hashes(values)).size == values.shape[0]
    near = np.nextafter(0.5, 1) * np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    assert np.unique(row_hashes(np.concatenate([near, np.round(near, 3)]))).size == 6


@pytest.mark.slow
def test_importing_leaves_scipy_stats_alone():
    code = "import sys, divulge.stats; sys.exit('scipy.stats' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_shared_resampling_agrees_with_one_at_a_time():
    g = rng(11)
    members, strangers = g.random((300, 3)) ** 2, g.random((250, 3)) ** 3
    members[:40, 2] = np.nan
    alone = [
        compare(Outcomes(a), Outcomes(b), rng=rng(1), draws=8000) for a, b in zip(members.T, strangers.T, strict=True)
    ]
    quick = [
        compare(Outcomes(a), Outcomes(b), rng=rng(1), draws=0) for a, b in zip(members.T, strangers.T, strict=True)
    ]
    shared = resample(members, strangers, quick, rng=rng(2), draws=8000)
    for one, other in zip(alone, shared, strict=True):
        sd = (one.risk.high - one.risk.low) / 4
        # two quantiles of 8000 draws each: se 2.67 sd / sqrt(8000) for one
        assert other.risk.low == pytest.approx(one.risk.low, abs=5 * 1.5 * 2.67 * sd / math.sqrt(8000))
        assert other.risk.high == pytest.approx(one.risk.high, abs=5 * 1.5 * 2.67 * sd / math.sqrt(8000))
        assert other.method == one.method == "Welch and Wilson at the effective size; cluster bootstrap (8000 draws)"
        assert other.difference == one.difference


def test_a_shared_resampling_forgets_row_order_and_cluster_names():
    g = rng(12)
    members, strangers = np.round(g.random((60, 2)), 2), np.round(g.random((50, 2)), 2)
    one, two = g.integers(0, 20, 60), g.integers(0, 20, 50)

    def risks(a, b, ca, cb):
        pairs = zip(a.T, b.T, strict=True)
        quick = [compare(Outcomes(x, cluster=ca), Outcomes(y, cluster=cb), rng=rng(1), draws=0) for x, y in pairs]
        found = resample(a, b, quick, cluster_members=ca, cluster_strangers=cb, rng=rng(3), draws=200)
        return [c.risk for c in found]

    p, q = g.permutation(60), g.permutation(50)
    names = g.permutation(100)
    assert risks(members, strangers, one, two) == risks(members[p], strangers[q], names[one[p]], names[two[q]])


def test_hits_of_0_and_1_keep_their_intervals_in_a_shared_resampling():
    hits = (rng(13).random((100, 1)) < 0.3).astype(float)
    quick = [compare(Outcomes(hits[:, 0]), Outcomes(hits[:50, 0]), rng=rng(1), draws=0)]
    assert resample(hits, hits[:50], quick, rng=rng(1)) == quick


def test_a_shared_resampling_keeps_the_limits_of_few_hits():
    """MOVER's upper limit is the outer one: the percentiles must not replace it."""
    a, b = few_hits()
    quick = [compare(Outcomes(a), Outcomes(b), rng=rng(1), draws=0)]
    (found,) = resample(a[:, None], b[:, None], quick, rng=rng(2))
    assert found.risk.high == pytest.approx(mover_of_failures(a, b)[1], abs=1e-12)
    assert found.risk.low != quick[0].risk.low


def test_what_cannot_be_resampled_is_returned_as_it_is(monkeypatch):
    value, always = rng(1).random((30, 1)), np.ones((20, 1))
    quick = [compare(Outcomes(value[:, 0]), Outcomes(always[:, 0]), rng=rng(1), draws=0)]
    (found,) = resample(value, always, quick, rng=rng(2))
    assert found is quick[0]
    monkeypatch.setattr(two_sample, "RESAMPLE_UP_TO", 10)
    large = [compare(Outcomes(value[:, 0]), Outcomes(value[:20, 0] ** 2), rng=rng(1), draws=0)]
    (found,) = resample(value, value[:20] ** 2, large, rng=rng(2))
    assert found is large[0]
