"""Counts of synthetic and real rows in groups with only one target value."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.kernels.runtime import compiled

__all__ = ["disclosed", "disclosed_numpy"]


def disclosed_numpy(
    group_synthetic: NDArray[np.int64],
    group_real: NDArray[np.int64],
    n_groups: int,
    synthetic: NDArray[np.int32],
    real: NDArray[np.int32],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many synthetic rows are in groups with one target value, and how many real rows these disclose.

    Parameters
    ----------
    group_synthetic, group_real
        Group of each row, shapes (m,) and (n,), values 0 to n_groups - 1.
    synthetic, real
        Targets as codes, shapes (n_targets, m) and (n_targets, n): each row is one target column.

    Returns
    -------
    n_pure, n_right
        Shape (n_targets,) each.
    """
    n_targets = len(synthetic)
    pure, right = np.zeros(n_targets, dtype=np.int64), np.zeros(n_targets, dtype=np.int64)
    size = np.bincount(group_synthetic, minlength=n_groups)
    for j in range(n_targets):
        first = np.full(n_groups, -1, dtype=np.int64)
        first[group_synthetic] = synthetic[j]
        first[group_synthetic[first[group_synthetic] != synthetic[j]]] = -2
        pure[j] = size[first >= 0].sum()
        right[j] = (first[group_real] == real[j]).sum()
    return pure, right


def _disclosed_loop(
    group_synthetic: Any, group_real: Any, n_groups: int, synthetic: Any, real: Any, pure: Any, right: Any
) -> None:  # pragma: no cover # runs compiled
    first = np.empty(n_groups, dtype=np.int32)
    size = np.zeros(n_groups, dtype=np.int32)
    for i in range(len(group_synthetic)):
        size[group_synthetic[i]] += 1
    for j in range(len(synthetic)):
        first[:] = -1
        for i in range(len(group_synthetic)):
            g = group_synthetic[i]
            t = synthetic[j, i]
            if first[g] == -1:
                first[g] = t
            elif first[g] != t:
                first[g] = -2
        n_pure = 0
        for g in range(n_groups):
            if first[g] >= 0:
                n_pure += size[g]
        n_right = 0
        for i in range(len(group_real)):
            if first[group_real[i]] == real[j, i]:
                n_right += 1
        pure[j] = n_pure
        right[j] = n_right


def disclosed(
    group_synthetic: NDArray[np.int64],
    group_real: NDArray[np.int64],
    n_groups: int,
    synthetic: NDArray[np.int32],
    real: NDArray[np.int32],
    *,
    compile_it: bool,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the result of `disclosed_numpy`; compiled if the caller has enough such tasks."""
    if not compile_it:
        return disclosed_numpy(group_synthetic, group_real, n_groups, synthetic, real)
    pure, right = np.zeros(len(synthetic), dtype=np.int64), np.zeros(len(synthetic), dtype=np.int64)
    compiled(_disclosed_loop)(group_synthetic, group_real, n_groups, synthetic, real, pure, right)
    return pure, right
