"""Fidelity of linked tables in a run: that of each table and of their relations, as `divulge.fidelity` has it."""

import numpy as np
import polars as pl
import pytest

import divulge
from divulge.release.fidelity_rules import judge_rule, parse_rule

FAST = {"models": False, "search": "off", "membership": False, "jobs": 1}
N = 150


def shop(rng, first, *, fewer=False):
    users = pl.DataFrame(
        {"uid": np.arange(first, first + N), "age": rng.integers(18, 80, N), "sex": rng.choice(["f", "m"], N)}
    )
    n = rng.integers(1, 3, N) if fewer else rng.integers(2, 9, N)
    owner = np.repeat(users["uid"].to_numpy(), n)
    items = [f"i{k}" for k in rng.integers(0, 9, len(owner))]
    return {"users": users, "orders": pl.DataFrame({"uid": owner, "item": items, "n": rng.integers(1, 4, len(owner))})}


@pytest.fixture(scope="module")
def sides():
    rng = np.random.default_rng(48)
    return shop(rng, 0), shop(rng, 1_000, fewer=True), shop(rng, 2_000)


@pytest.fixture(scope="module")
def report(sides):
    return divulge.assess(*sides, **FAST)


def heads(results):
    return {(r.measure, r.table): r for r in results if not r.columns and not r.target}


def test_numbers_are_those_of_fidelity(sides, report):
    alone = heads(divulge.fidelity(*sides, models=False).results)
    found = heads(report.assessment.fidelity)
    assert {("cardinality", ""), ("column_pairs", "users"), ("column_pairs", "orders")} <= {*found}
    assert {*found} <= {*alone}
    for key, r in found.items():
        assert (r.value, r.ruler, r.fresh_sample) == (alone[key].value, alone[key].ruler, alone[key].fresh_sample), key
    columns = {r.table: set() for r in report.assessment.fidelity}
    for r in report.assessment.fidelity:
        columns[r.table] |= {*r.columns}
    assert {"age", "sex"} <= columns["users"]
    assert {"item", "n"} <= columns["orders"]


def test_a_difference_of_relations_is_told_everywhere(report):
    assert heads(report.assessment.fidelity)["cardinality", ""].verdict == "differs"
    for told in (str(report), report.to_markdown()):
        assert "cardinality" in told
        assert "of orders" in told
    html = report.to_html()
    assert "cardinality" in html
    assert "column pairs of users" in html
    assert {m.column for m in report.assessment.fidelity_scope.marginals} == {
        "users.age", "users.sex", "orders.item", "orders.n",
    }  # fmt: skip
    assert "people of several tables have no subgroups there" in {
        n.why for n in report.assessment.fidelity_scope.not_measured
    }
    assert not judge_rule(report.assessment, parse_rule("cardinality differs", [])).kept


def test_the_edition_for_others_numbers_tables_and_relations(report):
    outside = report.external()
    found = heads(outside.assessment.fidelity)
    assert ("column_pairs", "table 1") in found
    assert all(r.value is None and r.ruler is None for r in found.values())
    for told in (outside.to_html(), outside.to_markdown(), outside.to_json()):
        assert "orders" not in told
        assert "uid" not in told
    shown = report.external("columns").assessment.fidelity
    assert ("column_pairs", "users") in heads(shown)


@pytest.mark.usefixtures("copies_alone")
def test_change_is_told_table_by_table(sides, report, tmp_path):
    from divulge.release.baseline import change

    again = divulge.assess(sides[0], shop(np.random.default_rng(5), 3_000), sides[2], **FAST)
    found = {c.measure: c for c in change(report.assessment, again.assessment).fidelity}
    assert found["cardinality"].verdict == "farther"
    assert {"column_pairs of users", "column_pairs of orders"} <= {*found}
    changed = report.replaced(change=change(report.assessment, again.assessment))
    assert "orders" not in changed.external().to_json()


@pytest.mark.usefixtures("copies_alone")
def test_a_copy_holds_none_found_back(sides):
    real, _, holdout = sides
    copy = {n: t.with_columns(pl.col("uid") + 5_000) for n, t in real.items()}
    report = divulge.assess(real, copy, holdout, **FAST)
    assert report.assessment.fidelity_scope.too_close


def test_a_table_of_keys_alone_is_left_out():
    rng = np.random.default_rng(7)
    tables = []
    for first in (0, 1_000, 2_000):
        one = shop(rng, first)
        one["visits"] = pl.DataFrame({"uid": rng.choice(one["users"]["uid"].to_numpy(), 200)})
        tables.append(one)
    report = divulge.assess(*tables, **FAST)
    assert not report.failed
    assert "visits" not in {r.table for r in report.assessment.fidelity}


def test_time_that_is_up_is_told(sides):
    report = divulge.assess(*sides, budget=0, **FAST)
    assert any(o.attack == "fidelity" for o in report.assessment.left_out)
