"""Sizes of classes of equal keys, and the curve of shares by size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from divulge.attacks.checks import Floats
from divulge.kernels.counts.contingency import Ints

_SIZES = (1, 2, 3, 4, 5, 10, 20, 50, 100)


def _class_sizes(margin: Ints) -> dict[str, list[float]]:
    """Return for each size the share of records in classes of at most that size."""
    used = margin[margin > 0]
    total = max(int(used.sum()), 1)
    return {"at_most": [float(used[used <= k].sum() / total) for k in _SIZES]}


def _least(values: Any) -> float | None:
    return float(values.min()) if len(values) else None


def _share_at_most(values: Floats, margin: Ints, levels: Sequence[float]) -> list[float]:
    used = margin > 0
    total = max(int(margin[used].sum()), 1)
    return [float(margin[used][values[used] <= x + 1e-9].sum() / total) for x in levels]


def _most(values: Any) -> float | None:
    return float(values.max()) if len(values) else None
