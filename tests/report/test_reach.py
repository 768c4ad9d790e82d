"""People and percent of one limit say the same."""

from __future__ import annotations

from types import SimpleNamespace as Of

import numpy as np
import pytest

from divulge.report.prose.compared import plain_share
from divulge.report.prose.reach import people_at_most, reaches


def data(n, limit, acceptable, edition="custodian", bounded=None):
    bound = Of(
        attack="copies", primary=True, limit=limit, bounded=limit <= acceptable if bounded is None else bounded,
        acceptable=None, shown=None, target=None, why="",
    )  # fmt: skip
    return Of(
        edition=edition, tables=Of(real=Of(rows=n, units=None), holdout=Of(rows=n)), results=(), preconditions=(),
        settings=Of(acceptable=acceptable), verdict=Of(bounds=(bound,)),
    )  # fmt: skip


@pytest.mark.parametrize(("n", "limit"), [(923, 0.0394), (923, 0.0977), (1500, 0.0273), (31, 0.16)])
@pytest.mark.parametrize("edition", ["custodian", "external"])
def test_percent_and_people_of_a_limit_are_one_number(n, limit, edition):
    (reach,) = reaches(data(n, limit, 0.05, edition))
    assert reach.limit == plain_share(reach.people / n, 10_000)
    assert reach.people >= limit * n


def test_a_limit_that_is_kept_is_never_shown_above_what_it_must_keep():
    rng = np.random.default_rng(1)
    for n, limit, edition in zip(
        rng.integers(20, 3000, 500), rng.uniform(0, 0.05, 500), ["custodian", "external"] * 250, strict=True
    ):
        (reach,) = reaches(data(int(n), limit, 0.05, edition))
        assert reach.people / n <= 0.05
        assert reach.people >= limit * n or reach.people + (1 if edition == "custodian" else 5) > 0.05 * n
    (open_,) = reaches(data(923, 0.0499, 0.05, bounded=False))
    assert open_.people == 47 and people_at_most(0.0499, data(923, 0.0499, 0.05)) == 47
    (kept,) = reaches(data(923, 0.0499, 0.05))
    assert kept.people == 46
