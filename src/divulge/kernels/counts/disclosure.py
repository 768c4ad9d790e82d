"""Counts of synthetic and real rows in groups with only one target value."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from divulge.kernels._native.library import Kernel, available

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


_loop = Kernel("disclosed", "i8*", "i8", "i8*", "i8", "i8", "i4*", "i4*", "i8", "i8!", "i8!")


def disclosed(
    group_synthetic: NDArray[np.int64],
    group_real: NDArray[np.int64],
    n_groups: int,
    synthetic: NDArray[np.int32],
    real: NDArray[np.int32],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the result of `disclosed_numpy`; by a compiled loop if there is one."""
    if not available():
        return disclosed_numpy(group_synthetic, group_real, n_groups, synthetic, real)
    groups = [np.ascontiguousarray(group, dtype=np.int64) for group in (group_synthetic, group_real)]
    targets = [np.ascontiguousarray(codes, dtype=np.int32) for codes in (synthetic, real)]
    pure, right = np.zeros(len(synthetic), dtype=np.int64), np.zeros(len(synthetic), dtype=np.int64)
    sizes = [len(group) for group in groups]
    _loop(groups[0], sizes[0], groups[1], sizes[1], n_groups, *targets, len(synthetic), pure, right)
    return pure, right
