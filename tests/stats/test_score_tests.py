"""Tests of scores: against a plain permutation, and what must not change them."""

import numpy as np
import pytest

from divulge.stats import two_sample
from divulge.stats.cross_fitting import cross_fitted
from divulge.stats.score_tests import FRONT, score_tests


def drawn(seed, n=60, m=50, shift=0.0):
    rng = np.random.default_rng(seed)
    return np.round(rng.normal(size=(n, 3)) + [shift, 0, 0], 1), np.round(rng.normal(size=(m, 3)), 1)


def test_z_scores_are_those_of_a_plain_permutation():
    members, strangers = drawn(0, shift=0.4)
    found = score_tests(members, strangers, rng=np.random.default_rng(1))
    people = np.concatenate([members, strangers])[:, 0]
    order = people.argsort()
    ranks = np.array(
        [(np.searchsorted(people[order], x) + np.searchsorted(people[order], x, side="right") + 1) / 2 for x in people]
    )
    rng = np.random.default_rng(2)
    draws = [rng.permutation(ranks)[:60].mean() for _ in range(4000)]
    assert found.z[0, 0] == pytest.approx((ranks[:60].mean() - ranks.mean()) / np.std(draws), abs=0.1)
    threshold = np.sort(people)[::-1][10]
    top = min(people > threshold, people >= threshold, key=lambda t: abs(t.sum() - 11))
    assert np.sign(found.z[0, 1]) == np.sign(top[:60].mean() - top[60:].mean())


def test_swapping_the_groups_turns_every_sign():
    members, strangers = drawn(3, 50, 50)
    here, there = (
        score_tests(a, b, rng=np.random.default_rng(0)) for a, b in ((members, strangers), (strangers, members))
    )
    np.testing.assert_allclose(here.z, -there.z, atol=1e-12)
    assert here.p_adjusted.tolist() == there.p_adjusted.tolist()


def test_the_order_of_rows_and_a_change_of_scale_change_nothing():
    members, strangers = drawn(4, shift=0.5)
    rng = np.random.default_rng(5)
    one = score_tests(members, strangers, rng=np.random.default_rng(0))
    other = score_tests(
        np.exp(members[rng.permutation(60)]), np.exp(strangers[rng.permutation(50)]), rng=np.random.default_rng(0)
    )
    assert one.p_adjusted.tolist() == other.p_adjusted.tolist()
    assert one.level_each == other.level_each


def test_a_few_surely_recognised_people_are_found_by_the_highest_alone():
    rng = np.random.default_rng(6)
    members, strangers = rng.normal(size=(1000, 1)), rng.normal(size=(1000, 1))
    members[:40] = 9 + rng.random((40, 1))
    found = score_tests(members, strangers, rng=np.random.default_rng(0))
    assert found.decides[0] == 2
    assert found.p_adjusted[0] <= 0.001
    assert abs(found.z[0, 0]) < 3


def test_ties_at_the_threshold_count_all_or_not_at_all():
    members = np.r_[np.full(25, 9.0), np.arange(75.0) / 99][:, None]
    found = score_tests(members, np.arange(100.0)[:, None] / 100, rng=np.random.default_rng(0))
    assert found.z[0, 1] > 2  # 25 who tie are nearer to a tenth of 200 than nobody
    assert found.z[0, 2] == 0  # and nobody is nearer to a hundredth


def test_a_score_without_spread_and_nobody_have_p_1():
    none = score_tests(np.zeros((5, 2)), np.zeros((4, 2)), rng=np.random.default_rng(0))
    assert none.p_adjusted.tolist() == [1.0, 1.0]
    assert none.towards.tolist() == [0, 0]
    assert score_tests(np.zeros((0, 2)), np.zeros((4, 2)), rng=np.random.default_rng(0)).p_value.tolist() == [1.0, 1.0]


def test_many_people_have_the_normal_limit(monkeypatch):
    members, strangers = drawn(7, 300, 300, shift=0.2)
    exact = score_tests(members, strangers, rng=np.random.default_rng(0))
    monkeypatch.setattr(two_sample, "RESAMPLE_UP_TO", 100)
    limit = score_tests(members, strangers, rng=np.random.default_rng(0))
    np.testing.assert_allclose(exact.z, limit.z)
    np.testing.assert_allclose(exact.p_adjusted, limit.p_adjusted, atol=0.03)


# ---------------------------------------------------------------- cross-fitted models


def test_a_refitted_permutation_is_that_of_a_plain_loop():
    """The product of matrices gives what fitting the ridge regression again to each labelling gives."""
    from divulge.stats.cross_fitting import _rank_sums, _slopes

    rng = np.random.default_rng(8)
    x, labels = rng.normal(size=(40, 3)) + 1e3, (rng.random((40, 4)) < 0.5) * 1.0
    parts = np.split(rng.permutation(40), [10, 22])
    for asked, slopes in zip(parts, _slopes(x, labels, parts, penalty=2.0), strict=True):
        found = x[asked] @ slopes
        taught = np.setdiff1d(np.arange(40), asked)
        for j in range(4):
            known, y = x[taught] - x[taught].mean(axis=0), labels[taught, j] - labels[taught, j].mean()
            slope = np.linalg.solve(known.T @ known + 2 * np.eye(3), known.T @ y)
            np.testing.assert_allclose(slopes[:, j], slope, rtol=1e-6)
            ranks = found[:, j].argsort().argsort() + 0.5
            assert _rank_sums(found, labels[asked])[j] == pytest.approx((ranks * labels[asked, j]).sum())


def test_nobody_is_scored_by_a_model_that_saw_the_label():
    """A feature that is the label's noise alone: in-sample the AUC is 1, cross-fitted it is chance."""
    rng = np.random.default_rng(9)
    is_member = np.arange(60) < 30
    found = cross_fitted(rng.normal(size=(60, 80)), is_member, penalty=1e-6, rng=np.random.default_rng(0), draws=99)
    assert abs(found.score[is_member].mean() - found.score[~is_member].mean()) < 0.25
    assert found.p_value > 0.02


def test_cross_fitting_forgets_the_order_of_rows():
    rng = np.random.default_rng(10)
    x, is_member = rng.normal(size=(50, 2)), np.arange(50) < 20
    order = np.r_[rng.permutation(20), 20 + rng.permutation(30)]
    one = cross_fitted(x, is_member, penalty=1.0, rng=np.random.default_rng(0), draws=99)
    other = cross_fitted(x[order], is_member[order], penalty=1.0, rng=np.random.default_rng(0), draws=99)
    assert one.p_value == other.p_value
    assert one.score[order].tolist() == other.score.tolist()


def test_more_features_than_people_change_nothing_but_the_work(monkeypatch):
    """40 people with 130 features: the same scores where the features are put into 40 columns and where they are not."""
    rng = np.random.default_rng(11)
    is_member = np.arange(40) < 20
    x = (rng.random((40, 130)) < 0.3) + 0.2 * is_member[:, None]
    few = cross_fitted(x, is_member, penalty=3.0, rng=np.random.default_rng(0), draws=99)
    monkeypatch.setattr("divulge.stats.cross_fitting._of_few_columns", lambda x: x)
    all_of_them = cross_fitted(x, is_member, penalty=3.0, rng=np.random.default_rng(0), draws=99)
    assert few.score.tolist() == all_of_them.score.tolist()
    assert (few.p_value, few.spread) == (all_of_them.p_value, pytest.approx(all_of_them.spread))


def test_few_members_find_what_a_rare_count_would_hide():
    """Of 20 among 200 two in the first hundredth are rare, and 4.2 standard errors: the threshold of all, if it counted."""
    rng, found = np.random.default_rng(5), []
    for _ in range(20):
        scores = 0.7 * rng.normal(size=(200, 1)) + 0.7 * rng.normal(size=(200, 6))
        scores[:20, 0] += 1.0
        for members, strangers in ((scores[:20], scores[20:]), (-scores[20:], -scores[:20])):
            tested = score_tests(members, strangers, rng=rng)
            assert tested.critical < 3.4
            found.append(tested.p_adjusted[0] <= 0.05)
    assert np.mean(found) >= 0.7


def test_as_many_members_as_strangers_are_counted_in_the_highest_hundredth():
    rng = np.random.default_rng(6)
    members, strangers = rng.normal(size=(60, 1)), rng.normal(size=(60, 1))
    members[0] = 9.0
    assert score_tests(members, strangers, rng=rng).z[0, 2] == pytest.approx(1.0)


def test_few_people_at_the_normal_limit_are_not_counted():
    """3 strangers among the highest 5 of 500 asked have probability .018, and a normal p-value of .0018."""
    n, m = 17_500, 2_620
    members, strangers = np.full((n, 1), np.nan), np.full((m, 1), np.nan)
    rng = np.random.default_rng(0)
    members[:435, 0], strangers[:65, 0] = rng.random(435), rng.random(65)
    members[:2, 0], strangers[:3, 0] = 2.0, 3.0
    found = score_tests(members, strangers, shares=[FRONT], rng=rng)
    assert found.z[0, 1] == 0 and found.p_value[0] > 0.01
