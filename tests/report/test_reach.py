"""People and percent of one limit say the same."""

from __future__ import annotations

from types import SimpleNamespace as Of

import numpy as np
import pytest

from divulge.core.result import Rate, Result, Risk, identity
from divulge.report.model import Bound
from divulge.report.prose.bounds import bounds_in_words
from divulge.report.prose.compared import plain_share
from divulge.report.prose.reach import people_at_most, reaches
from divulge.run.judging.verdict import Scope, overall
from divulge.stats import Interval


def interval(limit):
    return Interval(0.0, -limit, limit)


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


@pytest.mark.parametrize(("n", "limit"), [(923, 0.0394), (11, 0.637), (31, 0.16), (923, 0.0499)])
def test_the_sentence_in_full_has_the_number_of_page_one(n, limit):
    bound = Bound(
        attack="copies", variant="exact", keys=(), target=None, words="copies", primary=True, limit=limit, shown=1.0,
        bounded=limit <= 0.05, people=None,
    )  # fmt: skip
    (reach,) = reaches(data(n, limit, 0.05))
    assert bounds_in_words([bound], 0.05, {identity(bound): n}) == f"Copies at most {reach.limit}."
    compared = Result(
        attack="copies", variant="exact", real=Rate(hits=1, n=n, rate=1 / n), holdout=Rate(hits=1, n=n, rate=1 / n),
        risk=Risk(value=0.0, low=-limit, high=limit, low_simultaneous=-limit, high_simultaneous=limit, level=0.95,
                  method=""), verdict="cannot tell", comparison=Of(at=lambda level: (interval(limit),) * 2),
    )  # fmt: skip
    told = overall([compared], True, 0.95, 0.05, Scope(n_members=n))
    assert f"Copies at most {reach.limit}" in told.sentence


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
