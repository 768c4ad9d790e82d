"""Gradient boosting of trees on codes of columns; by compiled loops where there are any.

Gradients and curvatures are whole multiples of 2**-20, so that a model has the same digits for any order of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from divulge.core.errors import SettingError
from divulge.kernels._native.library import Kernel, Struct, available
from divulge.kernels.boosting_plain import LEAVES, Grown, asked_plainly, grow_plainly

__all__ = ["MOST_BINS", "MOST_TRAINED", "Boosted", "boosted"]

Bytes = NDArray[np.uint8]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_Grow = Callable[[int, Floats, Grown, Floats], None]
"""Of the class, its chances, room for the tree, and the scores that it adds to."""

MOST_BINS = 255
"""Bins of a column, the missing apart."""
MOST_TRAINED = 1_000_000
"""Rows of a training table, for the sums to fit into 64 bits."""
_AT_ONCE = 16_384  # rows in one call of the loop, which an interrupt waits for

_TASK = Struct(
    codes="u1*", n="i8", n_features="i8", start="i8*", is_category="u1*", of_row="i8*", rate="f8", shrinkage="f8",
    pairs="i8!", rows="u4!", sums="i8!",
)  # fmt: skip
_GROW = Kernel("grow_tree", _TASK, "i8", "f8*", "i4!", "i4!", "u8!", "f8!", "f8!")
_ASKED = Struct(
    codes="u1*", n="i8", n_features="i8", n_trees="i8", n_classes="i8", feature="i4*", child="i4*", bits="u8*",
    value="f8*", depth="i8*", raw="f8!",
)  # fmt: skip
_ASK = Kernel("ask_trees", _ASKED, "i8", "i8")


@dataclass(frozen=True, slots=True, eq=False)
class Boosted:
    """A trained model."""

    start: Floats
    """Shape (n_scores,): what is added up before the first tree. Two classes have one score."""
    trees: Grown
    """Of tree t, score t % n_scores."""

    def chances(self, codes: Bytes) -> Floats:
        """Return the probability of each class, shape (n, n_classes), for codes of shape (n, n_features)."""
        codes, trees = np.ascontiguousarray(codes), self.trees
        raw = np.repeat(self.start[:, None], len(codes), axis=1)
        if available():
            task = _ASKED(
                codes=codes, n=len(codes), n_features=codes.shape[1], n_trees=len(trees.value), n_classes=len(raw),
                feature=trees.feature, child=trees.child, bits=trees.bits, value=trees.value, depth=trees.depth(),
                raw=raw,
            )  # fmt: skip
            for first in range(0, len(codes), _AT_ONCE):
                _ASK(task, first, min(first + _AT_ONCE, len(codes)))
        else:
            asked_plainly(trees, codes, raw)
        found = _chances(raw)
        return np.stack([1 - found[0], found[0]], axis=1) if len(found) == 1 else np.ascontiguousarray(found.T)


def boosted(
    codes: Bytes,
    n_bins: Sequence[int],
    is_category: Sequence[bool],
    of_row: Ints,
    iterations: int,
    *,
    rate: float,
    shrinkage: float,
) -> Boosted:
    """Return a model that gives the probability of each class.

    Trees have at most 15 leaves of at least 20 rows, as in scikit-learn's HistGradientBoostingClassifier: the leaf
    whose split gains most is split first, categories are ordered by their mean gradient, and those of fewer than 10
    rows go right with all that are unknown.

    Parameters
    ----------
    codes
        Shape (n_rows, n_features). The code of a number is its bin; a missing value has the code `n_bins`.
    n_bins
        Bins of each column, the missing apart.
    is_category
        Whether the codes of a column have no order.
    of_row
        Shape (n_rows,): class of each row, from 0 on; each class occurs, and there are two or more.
    iterations
        Trees of each class (of two classes: in all).
    rate
        Learning rate.
    shrinkage
        Added to the curvature of each leaf.

    Examples
    --------
    >>> codes = np.repeat(np.arange(2, dtype=np.uint8), 40)[:, None]
    >>> model = boosted(codes, [2], [False], codes[:, 0].astype(np.int64), 20, rate=0.5, shrinkage=1.0)
    >>> model.chances(np.array([[0], [1]], dtype=np.uint8)).round(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    if len(codes) > MOST_TRAINED:
        raise SettingError(f"boosting: {len(codes):,} rows are too many. hint: at most {MOST_TRAINED:,}.")
    shares = np.bincount(of_row) / len(of_row)
    start = np.log(shares) if len(shares) > 2 else np.log(shares[1:] / shares[:1])
    grow = _grower(np.ascontiguousarray(codes), n_bins, is_category, of_row, rate, shrinkage)
    raw = np.repeat(start[:, None], len(codes), axis=1)
    trees = Grown.room(iterations * len(raw))
    for i in range(iterations):
        for k, chance in enumerate(_chances(raw)):
            grow(len(shares) - 1 if len(raw) == 1 else k, chance, trees.tree(i * len(raw) + k), raw[k])
    return Boosted(start, trees)


def _chances(raw: Floats) -> Floats:
    """Return the probabilities of scores, both of shape (n_scores, n): of one score, that of the second class."""
    if len(raw) == 1:
        return np.asarray(1 / (1 + np.exp(-raw)))
    out = np.exp(raw - raw.max(axis=0))
    out /= out.sum(axis=0)
    return np.asarray(out)


def _grower(
    codes: Bytes, n_bins: Sequence[int], is_category: Sequence[bool], of_row: Ints, rate: float, shrinkage: float
) -> _Grow:
    """Return what grows the tree of a class."""
    start = np.append(0, np.cumsum(np.asarray(n_bins, dtype=np.int64) + 1))
    category = np.asarray(is_category, dtype=np.uint8)
    if not available():
        return lambda of, chance, tree, raw: grow_plainly(
            codes, start, category, of_row == of, chance, tree, raw, rate, shrinkage
        )
    n = len(codes)
    task = _TASK(
        codes=codes, n=n, n_features=codes.shape[1], start=start, is_category=category,
        of_row=np.ascontiguousarray(of_row, dtype=np.int64), rate=rate, shrinkage=shrinkage,
        pairs=np.empty((n, 2), dtype=np.int64), rows=np.empty((2, n), dtype=np.uint32),
        sums=np.empty((LEAVES, int(start[-1]), 2), dtype=np.int64),
    )  # fmt: skip
    return lambda of, chance, tree, raw: _GROW(task, of, chance, tree.feature, tree.child, tree.bits, tree.value, raw)
