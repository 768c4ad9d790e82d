"""Predicates against anonymeter 1.1.0: `anonymeter_predicates.json` holds them and the rows it says they fit.

`remake_anonymeter_predicates.py` writes the file anew. Anonymeter counts equal rows once, so do we here.
"""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from predicate_cases import CASES

from divulge.attacks.identity import _guesses as attack
from divulge.case.case import build_case
from divulge.core.schema import Column, Schema
from divulge.kernels.predicates.conditions import Predicates
from divulge.kernels.predicates.predicates import Conjunctions

GOLDEN = json.loads(Path(__file__).with_name("anonymeter_predicates.json").read_text())["cases"]
EVERY = [(name, k) for name in CASES for k in GOLDEN[name]]


def coded(name):
    """The tables as ranks, and a function from column and value to rank."""
    case = CASES[name]
    schema = Schema(tuple(Column(c, k) for c, k in case.kinds.items()))
    laid = build_case(
        *(pl.DataFrame(t, strict=False) for t in (case.real, case.synthetic, case.holdout)), schema=schema
    )
    ranks = attack._coded(laid, list(case.kinds))
    n = len(case.real[next(iter(case.kinds))])
    in_order = {}  # of the synthetic table as given, by the same ranks
    for column in ranks.columns:
        of_level, _ = attack._ranks(laid, column)
        codes = laid.codes(column, binned=False)[1]
        in_order[column] = dict(zip(case.synthetic[column], of_level[codes].tolist(), strict=True))
    return ranks, (ranks.records, ranks.people[:n], ranks.people[n:]), in_order


def interval(ranks, j, operator, rank):
    top = int(ranks.top[j])
    return {"==": (rank, rank), "<=": (1, rank), ">=": (rank, top), "missing": (0, 0)}[operator]


def predicates(ranks, rank_of, made):
    """Anonymeter's conditions as intervals of ranks."""
    where = [
        [
            (ranks.columns.index(c), *interval(ranks, ranks.columns.index(c), op, None if v is None else rank_of[c][v]))
            for c, op, v in p["where"]
        ]
        for p in made
    ]
    column, low, high = np.moveaxis(np.array(where, dtype=np.int32), 2, 0)
    return Predicates(column.astype(np.int64), low, high, np.full(len(made), column.shape[1]))


def counts(tables, asked, most):
    return np.stack([Conjunctions(np.unique(t, axis=0)).count(asked, most=most) for t in tables], axis=1)


def test_every_case_was_run():
    assert GOLDEN.keys() == CASES.keys()
    assert {k: [len(GOLDEN[name][k]) for name in CASES] for k in "012"} == {"0": [32, 502], "1": [1, 24], "2": [60, 60]}
    fits = np.array([p["fits"] for name, k in EVERY for p in GOLDEN[name][k]])
    assert (fits[:, 0] == 1).all()
    assert all(((fits[:, t] == n).sum() >= 50) for t in (1, 2) for n in (0, 1, 2))


@pytest.mark.parametrize(("name", "k"), EVERY)
def test_each_predicate_fits_as_many_rows(name, k):
    ranks, tables, rank_of = coded(name)
    made = GOLDEN[name][k]
    asked = predicates(ranks, rank_of, made)
    expected = np.array([p["fits"] for p in made])
    np.testing.assert_array_equal(counts(tables, asked, 10_000), expected)
    # what decides is whether it is exactly one, and there the search may stop at two
    np.testing.assert_array_equal(counts(tables, asked, 1) == 1, expected == 1)


@pytest.mark.parametrize(("name", "k"), [e for e in EVERY if e[1] != "0"])
def test_our_guess_of_the_same_record_and_columns_is_the_same(name, k):
    """Categories named, numbers bounded from the median away: every predicate of theirs is one of ours."""
    ranks, _, rank_of = coded(name)
    made = GOLDEN[name][k]
    asked = predicates(ranks, rank_of, made)
    record = Conjunctions(ranks.records).matches(asked).rows
    ours = attack._conditions(ranks.bounds, record, asked.column)
    np.testing.assert_array_equal(ours.low, asked.low)
    np.testing.assert_array_equal(ours.high, asked.high)


@pytest.mark.parametrize("name", CASES)
def test_univariate_guesses_are_theirs_with_equivalent_ones_merged(name):
    """They keep "at most the smallest" and "equal to the smallest" of one record as two."""
    ranks, _, rank_of = coded(name)
    made = GOLDEN[name]["0"]
    asked = predicates(ranks, rank_of, made)
    theirs = set(
        zip(asked.column[:, 0].tolist(), Conjunctions(ranks.records).matches(asked).rows.tolist(), strict=True)
    )
    ours, record, _ = attack._Univariate(ranks, np.random.default_rng(0)).batch(1)
    assert (Conjunctions(ranks.records).count(ours) == 1).all()
    assert set(zip(ours.column[:, 0].tolist(), record.tolist(), strict=True)) == theirs
    assert len(theirs) < len(made)
