"""Scores over several trainings: loops as oracles, exact p-values of persons, and what permutations keep."""

import itertools

import numpy as np
import pytest

from divulge.stats.repeated_halves import calibrated, mean_auc, person_p, smallest_person_p, stacked
from divulge.stats.roc import auc


def halves(n_runs, n, rng):
    return np.array([rng.permutation(np.arange(n) < n // 2) for _ in range(n_runs)])


def test_calibration_leaves_the_training_itself_out():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(2, 5, 7))
    found = calibrated(scores)
    for j, r, i in itertools.product(range(2), range(5), range(7)):
        others = np.delete(scores[j, :, i], r)
        pooled = np.mean([scores[j, s].std() for s in range(5)])
        expected = (scores[j, r, i] - others.mean()) / (others.std(ddof=1) + 0.3 * pooled)
        assert found[j, r, i] == pytest.approx(expected, abs=1e-8)


def test_the_mean_auc_is_that_of_the_trainings():
    rng = np.random.default_rng(1)
    inside = halves(6, 40, rng)
    score = rng.normal(size=(6, 40)) + inside
    found = mean_auc(score, inside, rng)
    each = [auc(s[i], s[~i]).value for s, i in zip(score, inside, strict=True)]
    assert found.each.tolist() == pytest.approx(each)
    assert found.auc == pytest.approx(np.mean(each))
    assert found.p_value == 0.001
    assert found.low < found.auc < found.high


def test_persons_are_compared_with_all_sets_of_as_many_trainings():
    rng = np.random.default_rng(2)
    score, inside = rng.normal(size=(6, 30)), rng.random((6, 30)) < 0.5
    inside[:, 0], inside[:, 1] = True, False
    found = person_p(score, inside, rng)
    for i in range(30):
        k = int(inside[:, i].sum())
        ranks = score[:, i].argsort().argsort() + 1
        sums = [sum(s) for s in itertools.combinations(ranks.tolist(), k)]
        own = int(ranks[inside[:, i]].sum())
        assert found[i] == pytest.approx(np.mean([s >= own for s in sums]))
    assert [round(1 / smallest_person_p(n)) for n in (8, 12, 16, 20)] == [70, 924, 12870, 184756]


def test_many_trainings_use_the_normal_limit():
    rng = np.random.default_rng(3)
    score, inside = rng.normal(size=(80, 200)), rng.random((80, 200)) < 0.5
    found = person_p(score, inside, rng)
    assert abs(found.mean() - 0.5) < 0.08
    score[inside] += 3
    assert person_p(score, inside, rng).max() < 1e-6


def test_a_stack_learns_from_the_other_trainings_alone():
    rng = np.random.default_rng(4)
    inside = halves(5, 60, rng)
    features = rng.normal(size=(3, 5, 60))
    features[1] += 1.0 * inside
    found = stacked(features, inside, rng)
    assert found.p_value == 0.001
    # the first training's own labels do not enter its scores
    other = inside.copy()
    other[0] = rng.permutation(inside[0])
    assert (stacked(features, other, rng).score[0] == found.score[0]).all()
    x = features / features.std(axis=(1, 2), keepdims=True)
    x = x - x.mean(axis=2, keepdims=True)
    y = inside - 0.5
    taught = x[:, 1:].reshape(3, -1)
    weight = np.linalg.solve(taught @ taught.T + 80 * np.eye(3), taught @ y[1:].ravel())
    assert found.score[0] == pytest.approx(weight @ x[:, 0], abs=1e-8)


@pytest.mark.slow
def test_the_stack_keeps_its_level_without_a_leak():
    p = []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        inside = halves(4, 40, rng)
        p.append(stacked(rng.normal(size=(4, 4, 40)), inside, rng).p_value)
    assert np.mean(np.array(p) <= 0.05) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 150)
    assert abs(np.mean(p) - 0.5) < 0.08
