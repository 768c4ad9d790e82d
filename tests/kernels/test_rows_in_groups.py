"""Rows written group by group: those of a stable sort, whatever the parts, and each asked for once."""

import numpy as np
import pytest

from divulge.kernels.rows_in_groups import in_groups


@pytest.mark.parametrize("at_once", [1, 7, 1000])
@pytest.mark.parametrize(("n", "n_groups"), [(0, 3), (1, 1), (60, 1), (60, 5), (200, 300)])
def test_rows_lie_as_a_stable_sort_has_them(n, n_groups, at_once):
    rng = np.random.default_rng([n, n_groups])
    groups = rng.integers(0, n_groups, n)
    given = [rng.integers(0, 9, n).astype(np.uint8), rng.normal(size=n), np.arange(n)]
    found, asked = [np.full_like(c, 77) for c in given], []

    def part(first, last):
        asked.extend(range(first, last))
        return groups[first:last].astype(np.uint16), [c[first:last] for c in given]

    in_groups(part, np.bincount(groups, minlength=n_groups), found, at_once)
    order = np.argsort(groups, kind="stable")
    assert all(np.array_equal(own, column[order]) for own, column in zip(found, given, strict=True))
    assert asked == list(range(n))
