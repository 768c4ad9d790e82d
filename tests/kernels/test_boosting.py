"""Boosted trees: a tree by hand, loops and numpy on many tables, orders of rows, and scikit-learn's learner beside it."""

import numpy as np
import pytest
from amount import tries

from divulge.core.errors import SettingError
from divulge.kernels import boosting
from divulge.kernels._native.library import at_level, levels
from divulge.kernels.boosting import boosted


def drawn(seed, n=None):
    """Codes of numbers and categories with holes, and classes that depend on them."""
    rng = np.random.default_rng(seed)
    n = n or int(rng.integers(2, 700))
    n_bins = [int(rng.choice([1, 2, 5, 60, 254])) for _ in range(int(rng.integers(1, 6)))]
    holes = [rng.choice([0, 0.2]) for _ in n_bins]
    codes = np.stack(
        [np.where(rng.random(n) < h, b, rng.integers(0, b, n)) for b, h in zip(n_bins, holes, strict=True)], axis=1
    ).astype(np.uint8)
    k = int(rng.integers(2, 6))
    told = (codes[:, 0].astype(int) // max(1, n_bins[0] // 3) + (codes[:, -1] % 3 == 1)) % k
    of_row = np.where(rng.random(n) < 0.8, told, rng.integers(0, k, n))
    of_row = np.unique(of_row, return_inverse=True)[1].ravel()
    asked = rng.integers(0, 256, (50, len(n_bins)))
    asked = np.minimum(asked, np.array(n_bins)).astype(np.uint8)
    return codes, n_bins, [bool(rng.random() < 0.5) for _ in n_bins], of_row, asked


def made(codes, n_bins, is_category, of_row, asked, iterations=4):
    model = boosted(codes, n_bins, is_category, of_row, iterations, rate=0.3, shrinkage=5.0)
    trees = model.trees
    return [trees.feature, trees.child, trees.bits, trees.value, model.chances(asked)]


def test_the_first_tree_by_hand():
    """40 rows of each value; half of the first are of class 1, and three quarters of the second."""
    codes = np.repeat([0, 1], 40).astype(np.uint8)[:, None]
    of_row = np.concatenate([np.arange(40) < 20, np.arange(40) < 30]).astype(np.int64)
    model = boosted(codes, [2], [False], of_row, 1, rate=0.5, shrinkage=5.0)
    p = 50 / 80
    curvature = 40 * p * (1 - p)
    steps = [0.5 * (20 - 40 * p) / (curvature + 5), 0.5 * (30 - 40 * p) / (curvature + 5)]
    score = np.log(p / (1 - p)) + np.array(steps)
    np.testing.assert_allclose(model.chances(np.array([[0], [1]], np.uint8))[:, 1], 1 / (1 + np.exp(-score)), atol=1e-6)


def test_a_leaf_has_at_least_twenty_rows():
    codes = np.repeat([0, 1], [19, 40]).astype(np.uint8)[:, None]
    model = boosted(codes, [2], [False], codes[:, 0].astype(np.int64), 3, rate=0.5, shrinkage=5.0)
    assert (model.trees.child[:, 0, 0] == 0).all()
    assert len(np.unique(model.chances(codes), axis=0)) == 1


def test_missing_values_go_where_they_belong():
    """The missing are like the high values, in a column whose other values tell nothing else."""
    codes = np.repeat([0, 1, 2], 60).astype(np.uint8)[:, None]
    of_row = np.repeat([0, 1, 0], 60)
    found = boosted(codes, [2], [False], of_row, 30, rate=0.3, shrinkage=1.0).chances(
        np.array([[0], [1], [2]], np.uint8)
    )
    assert found[:, 1].round(1).tolist() == [0, 1, 0]


def test_unknown_values_of_a_column_without_holes_go_to_the_larger_part():
    codes = np.repeat([0, 1], [100, 40]).astype(np.uint8)[:, None]
    model = boosted(codes, [2], [False], codes[:, 0].astype(np.int64), 5, rate=0.5, shrinkage=1.0)
    found = model.chances(np.array([[0], [1], [2]], np.uint8))
    assert found[2].tolist() == found[0].tolist() != found[1].tolist()


@pytest.mark.parametrize("seed", range(tries(300, 25)))
def test_loops_and_numpy_grow_the_same_trees(seed):
    task = drawn(seed)
    with at_level("none"):
        plain = made(*task)
    for level in levels():
        with at_level(level):
            for one, other in zip(made(*task), plain, strict=True):
                np.testing.assert_array_equal(one, other)


def test_the_order_of_rows_changes_no_digit():
    codes, n_bins, is_category, of_row, asked = drawn(5, 3000)
    order = np.random.default_rng(1).permutation(len(codes))
    one = made(codes, n_bins, is_category, of_row, asked)
    other = made(codes[order], n_bins, is_category, of_row[order], asked)
    assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_tables_beyond_the_sums_are_refused(monkeypatch):
    monkeypatch.setattr(boosting, "MOST_TRAINED", 10)
    with pytest.raises(SettingError, match="11 rows are too many"):
        boosted(np.zeros((11, 1), np.uint8), [2], [False], np.arange(11) % 2, 1, rate=0.1, shrinkage=1.0)


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 5])
def test_chances_are_as_good_as_those_of_scikit_learn(n_classes):
    """The rules of growth are the same; rounded gradients may choose another of two splits that gain the same."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    rng = np.random.default_rng(n_classes)
    codes = np.stack([rng.integers(0, 40, 8000), rng.integers(0, 8, 8000), rng.integers(0, 3, 8000)], axis=1)
    score = codes[:, 0] / 10 + (codes[:, 1] % 3) - codes[:, 2] + rng.normal(size=8000)
    of_row = np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)
    learner = HistGradientBoostingClassifier(
        max_iter=30, learning_rate=0.2, max_leaf_nodes=15, l2_regularization=5.0,
        categorical_features=[False, True, False], early_stopping=False,
    )  # fmt: skip
    theirs = learner.fit(codes[:6000].astype(float), of_row[:6000]).predict_proba(codes[6000:].astype(float))
    own = codes.astype(np.uint8)
    model = boosted(own[:6000], [40, 8, 3], [False, True, False], of_row[:6000], 30, rate=0.2, shrinkage=5.0)
    ours = model.chances(own[6000:])
    assert np.abs(ours - theirs).mean() < 0.02
    one, other = (-np.log(p[np.arange(2000), of_row[6000:]]).mean() for p in (ours, theirs))
    assert one < 1.02 * other
