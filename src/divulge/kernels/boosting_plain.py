"""A tree of gradient boosting with numpy alone: the twin of the compiled loops, with the same digits."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["LEAVES", "Grown", "asked_plainly", "grow_plainly"]

Bytes = NDArray[np.uint8]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LEAVES = 15
_NODES = 2 * LEAVES - 1
_WORDS = 4
_SCALE = 2.0**20
_LEAST_ROWS = 20  # of a leaf
_LEAST_OF_CATEGORY = 10
_LEAST_GAIN = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Grown:
    """Trees: node 0 is the root, and a leaf is its own child."""

    feature: NDArray[np.int32]
    """Shape (n_trees, n_nodes): the column that a node looks at."""
    child: NDArray[np.int32]
    """Shape (n_trees, n_nodes, 2): where rows go that go left, and the others."""
    bits: NDArray[np.uint64]
    """Shape (n_trees, n_nodes, 4): bit c says whether code c goes left."""
    value: Floats
    """Shape (n_trees, n_nodes): what a leaf adds to the score."""

    @staticmethod
    def room(n: int) -> Grown:
        """Return room for some trees."""
        child = np.repeat(np.arange(_NODES, dtype=np.int32)[None, :, None], 2, axis=2)
        return Grown(
            np.zeros((n, _NODES), dtype=np.int32),
            np.ascontiguousarray(np.repeat(child, n, axis=0)),
            np.zeros((n, _NODES, _WORDS), dtype=np.uint64),
            np.zeros((n, _NODES)),
        )

    def tree(self, number: int) -> Grown:
        """Return one tree, its arrays without the first axis; what is written there is written here."""
        return Grown(self.feature[number], self.child[number], self.bits[number], self.value[number])

    def depth(self) -> Ints:
        """Return the number of steps from the root to the farthest leaf of each tree, shape (n_trees,)."""
        steps, node = np.zeros(len(self.value), dtype=np.int64), np.arange(_NODES)
        far = np.zeros(self.value.shape, dtype=np.int64)
        for parent in node:  # children stand behind their parents
            inner = self.child[:, parent, 0] != parent
            for side in (0, 1):
                at = self.child[inner, parent, side]
                far[np.flatnonzero(inner), at] = far[inner, parent] + 1
            steps = np.maximum(steps, far[:, parent])
        return steps


@dataclass(slots=True, eq=False)
class _Leaf:
    rows: Ints
    sums: NDArray[np.int64]
    """Shape (n_bins, 3): gradient, curvature and number of rows of each bin."""
    all: Ints
    node: int
    gain: float = 0.0
    feature: int = 0
    left: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(64 * _WORDS, dtype=np.bool_))


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    codes: Bytes
    start: Ints
    is_category: Bytes
    pairs: Ints
    """Shape (n, 3): gradient, curvature and 1."""
    shrinkage: float

    def sums_of(self, rows: Ints) -> Ints:
        """Return gradient, curvature and number of rows of each bin, shape (n_bins, 3)."""
        out = np.zeros((int(self.start[-1]), 3), dtype=np.int64)
        for f, first in enumerate(self.start[:-1]):
            at = self.codes[rows, f].astype(np.int64) + first
            for j in range(3):
                sums = np.bincount(at, weights=self.pairs[rows, j], minlength=len(out))  # whole numbers below 2**53
                out[:, j] += sums.astype(np.int64)
        return out

    def part(self, sums: Ints) -> Floats:
        """Return what leaves with such sums, shape (..., 3), lower the loss by, times two."""
        gradient, curvature = sums[..., 0] / _SCALE, sums[..., 1] / _SCALE
        return np.asarray(gradient * gradient / (curvature + self.shrinkage))

    def gains(self, leaf: _Leaf, left: Ints) -> Floats:
        """Return the gain of splits whose left sums are given, shape (n, 3); 0 where a side has too few rows."""
        right = leaf.all - left
        gain = self.part(left) + self.part(right) - self.part(leaf.all)
        enough = (left[:, 2] >= _LEAST_ROWS) & (right[:, 2] >= _LEAST_ROWS) & (gain > _LEAST_GAIN)
        return np.where(enough, gain, 0.0)


def grow_plainly(
    codes: Bytes,
    start: Ints,
    is_category: Bytes,
    of_class: NDArray[np.bool_],
    chance: Floats,
    tree: Grown,
    raw: Floats,
    rate: float,
    shrinkage: float,
) -> None:
    """Grow the tree of a class, and add what it says of each row to `raw`."""
    pairs = np.stack(
        [np.rint((chance - of_class) * _SCALE), np.rint(chance * (1 - chance) * _SCALE), np.ones(len(chance))], axis=1
    ).astype(np.int64)
    task = _Task(codes, start, is_category, pairs, shrinkage)
    rows = np.arange(len(codes))
    leaves = [_Leaf(rows, task.sums_of(rows), pairs.sum(axis=0), 0)]
    _find_split(task, leaves[0])
    n_nodes = 1
    while len(leaves) < LEAVES:
        best = max(leaves, key=lambda leaf: leaf.gain)  # the first of equal ones
        if best.gain <= 0:
            break
        tree.feature[best.node] = best.feature
        tree.bits[best.node] = _packed(best.left)
        tree.child[best.node] = n_nodes, n_nodes + 1
        goes_left = best.left[codes[best.rows, best.feature]]
        own = best.rows[goes_left]
        sums = task.sums_of(own)
        few = sums[: start[1]].sum(axis=0)
        right = _Leaf(best.rows[~goes_left], best.sums - sums, best.all - few, n_nodes + 1)
        best.rows, best.sums, best.all, best.node, best.gain = own, sums, few, n_nodes, 0.0
        leaves.append(right)
        n_nodes += 2
        if len(leaves) < LEAVES:
            _find_split(task, best)
            _find_split(task, right)
    for leaf in leaves:
        tree.value[leaf.node] = -rate * (leaf.all[0] / _SCALE) / (leaf.all[1] / _SCALE + shrinkage)
        raw[leaf.rows] += tree.value[leaf.node]


def asked_plainly(trees: Grown, codes: Bytes, raw: Floats) -> None:
    """Add what trees say of rows, shape (n, n_features), to their scores, shape (n_scores, n)."""
    row = np.arange(len(codes))
    for t in range(len(trees.value)):
        tree, node = trees.tree(t), np.zeros(len(codes), dtype=np.int64)
        for _ in range(LEAVES):
            code = codes[row, tree.feature[node]].astype(np.uint64)
            left = (tree.bits[node, (code >> np.uint64(6)).astype(np.int64)] >> (code & np.uint64(63))) & np.uint64(1)
            node = tree.child[node, 1 - left.astype(np.int64)].astype(np.int64)
        raw[t % len(raw)] += tree.value[node]


def _packed(left: NDArray[np.bool_]) -> NDArray[np.uint64]:
    return np.packbits(left, bitorder="little").view("<u8").astype(np.uint64)


def _find_split(task: _Task, leaf: _Leaf) -> None:
    leaf.gain = 0.0
    if leaf.all[2] < 2 * _LEAST_ROWS:
        return
    for feature, (first, end) in enumerate(zip(task.start[:-1], task.start[1:], strict=True)):
        split = _split_categories if task.is_category[feature] else _split_numbers
        found = split(task, leaf, leaf.sums[first:end])
        if found is not None:
            leaf.feature = feature
            leaf.left[:] = False
            leaf.left[found] = True


def _best(task: _Task, leaf: _Leaf, left: Ints) -> int | None:
    """Return the first of the splits with the greatest gain, if it is greater than that of the leaf so far."""
    gain = task.gains(leaf, left)
    if not len(gain) or gain.max() <= leaf.gain:
        return None
    leaf.gain = float(gain.max())
    return int(gain.argmax())


def _split_numbers(task: _Task, leaf: _Leaf, bins: Ints) -> Ints | None:
    n, missing = len(bins) - 1, bins[-1]
    left = np.cumsum(bins[:n], axis=0)
    best = _best(task, leaf, left)
    with_missing = _best(task, leaf, left[: n - 1] + missing) if missing[2] else None
    last = best if with_missing is None else with_missing
    if last is None:
        return None
    # unknown values go to the larger part
    also = with_missing is not None or (not missing[2] and 2 * left[last, 2] > leaf.all[2])
    return np.append(np.arange(last + 1), [n] if also else []).astype(np.int64)


def _split_categories(task: _Task, leaf: _Leaf, bins: Ints) -> Ints | None:
    there = np.flatnonzero(bins[:, 2] >= _LEAST_OF_CATEGORY)
    key = (bins[there, 0] / _SCALE) / (bins[there, 1] / _SCALE + _LEAST_OF_CATEGORY)
    order = there[np.argsort(key, kind="stable")]
    found = None
    for some in (order, order[::-1]):
        half = some[: (len(some) + 1) // 2]
        best = _best(task, leaf, np.cumsum(bins[half], axis=0))
        found = found if best is None else half[: best + 1]
    return found
