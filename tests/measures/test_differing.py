"""Which columns explain what differs: a shifted column leads, and every result that differs stands under one column."""

import json

import numpy as np
import polars as pl
import pytest

import divulge
from divulge.measures.differing import differing
from divulge.measures.result import FidelityResult


def result(*columns, measure="column_pairs", verdict="differs", **more):
    return FidelityResult(measure=measure, columns=columns, verdict=verdict, value=0.2, **more)


@pytest.mark.parametrize(
    ("results", "told"),
    [
        ([result("age", measure="column_shapes")], ["age differs"]),
        (
            [result("age", "pay"), result("age", "job"), result("age", measure="tails", variant="high 1%")],
            ["age differs; 2 results follow from it"],
        ),
        (
            [result("a", "pay"), result("b", "pay"), result("c", "pay")],
            ["pay does not belong to other columns as in the real table; 3 results show it"],
        ),
        (
            [result("a", "b"), result("a", "b", measure="correlations", variant="Pearson")],
            ["a and b do not belong together as in the real table; 2 results show it"],
        ),
        (
            [result("a", "b"), result("a", measure="column_shapes"), result("b", "c", "d", measure="other")],
            ["a differs; 1 result follows from it", "b and c and d do not belong together as in the real table; 1 result shows it"],
        ),
        ([result(measure="ml_efficacy", target="pay")], ["what predicts pay differs; 1 result shows it"]),
        ([result("pay", measure="column_shapes"), result(measure="ml_efficacy", target="pay")],
         ["pay differs; 1 result follows from it"]),
        # within a group a column alone is no proof that it differs among all people
        ([result("a", measure="subgroups", group="'sex' group 1")],
         ["a does not belong to other columns as in the real table; 1 result shows it"]),
        ([result("a", measure="column_shapes", table="users"), result("a", measure="column_shapes", table="orders")],
         ["a of orders differs", "a of users differs"]),
        ([result(), result(verdict="cannot tell"), result("a", verdict="closer than a fresh sample")], []),
    ],
)  # fmt: skip
def test_the_column_that_explains_most_leads(results, told):
    assert [found.sentence for found in differing(results)] == told


def people(seed, n=700):
    rng = np.random.default_rng(seed)
    columns = {f"x{i}": rng.normal(size=n) for i in range(6)}
    return pl.DataFrame(columns | {"job": rng.choice(["a", "b", "c"], n)})


@pytest.fixture(scope="module")
def shifted():
    other = people(2).with_columns(pl.col("x3") + 1)
    return divulge.fidelity(people(1), other, models=False)


def test_one_shifted_column_leads_alone_and_nothing_is_lost(shifted, tmp_path):
    (found,) = json.loads(shifted.to_json())["differing"]
    named = [i for i, r in enumerate(shifted.results) if r.verdict == "differs" and r.columns]
    assert found["columns"] == ["x3"]
    assert found["results"] == named
    assert len(named) > 10
    assert str(shifted).startswith(
        f"x3 differs; {len(named) - 1} results follow from it\n  column shapes: x3: distance "
    )
    assert len(str(shifted).splitlines()) < len(shifted.headlines()) + 8
    page = shifted.to_html()
    assert page.index("x3 differs; ") < page.index('id="verdicts"')


def test_each_result_that_differs_stands_under_one_column():
    broken = people(2).with_columns(pl.col("x0") * 2, pl.col("x1").clip(-0.5, 0.5), x2=pl.col("x4"))
    found = divulge.fidelity(people(1), broken, models=False)
    named = [i for i, r in enumerate(found.results) if r.verdict == "differs" and r.columns]
    assert sorted(i for one in found.differing() for i in one.results) == named
    assert {one.columns for one in found.differing()} >= {("x0",), ("x1",), ("x2", "x4")}


def test_a_fresh_sample_has_no_column_that_differs():
    assert divulge.fidelity(people(1), people(3), models=False).differing() == ()
