"""divulge against anonymeter 1.1.0: nearest-record guesses and links, person by person.

`anonymeter_inference.json` holds its hits, `remake_anonymeter_inference.py` writes them anew. What makes the
comparison fair:

* Its distance is the sum over columns and ours the mean: the order is the same. Its ranges are those of the synthetic
  table and the people attacked, ours those of real and holdout. Here the synthetic table is given as the holdout, too,
  and everybody is attacked, so that both have the ranges of both tables.
* It takes two missing numbers for different, and a missing number for infinitely far. The tables here are complete.
* A guess of a number is right there when it is equal, unless `regression` is set. That is our tolerance of 0. With
  `regression` its error is divided by the guess, so that every negative guess is right: there is nothing to compare.
* Of rows that tie it takes one by accident, where we have the share of them that is right, or the chance of all draws
  to meet. Where that is 0 or 1 it must agree, and without ties it is 0 or 1 everywhere.
"""

import json
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from anonymeter_cases import cases

import divulge
from divulge.core.schema import Column, Schema

GOLDEN = json.loads(Path(__file__).with_name("anonymeter_inference.json").read_text())["cases"]
CASES = cases()


def hits(bits):
    return np.array([int(b) for b in bits])


def tables(name):
    case = CASES[name]
    real, synthetic = pl.DataFrame(case.real), pl.DataFrame(case.synthetic)
    kinds = {c: "categorical" if real[c].dtype == pl.String else "numeric" for c in real.columns}
    return case, real, synthetic, Schema(tuple(Column(c, k) for c, k in kinds.items()))


@cache
def guessed(name):
    case, real, synthetic, schema = tables(name)
    (found,) = divulge.inference(
        real, synthetic, holdout=synthetic, schema=schema, target=case.secret, keys=case.aux, tolerance=0,
        ways=["nearest record"],
    )  # fmt: skip
    return found.individual.real


@cache
def linked(name):
    case, real, synthetic, schema = tables(name)
    found = divulge.linkability(real, synthetic, holdout=synthetic, schema=schema, columns=case.halves, k=[1, 2, 3])
    return {str(r.settings["k"]): r.individual.real for r in found}


def agrees(ours, theirs):
    """Where no tie decides both say the same."""
    sure = (ours == 0) | (ours == 1)
    return np.array_equal(ours[sure], theirs[sure])


def test_every_case_has_its_golden_values():
    assert list(GOLDEN) == list(CASES)
    assert sum(not c.ties for c in CASES.values()) >= 3
    # enough hits and misses for a difference to show
    for found in GOLDEN.values():
        for theirs in (found["guessed"], found["linked"]["3"]):
            assert 3 <= hits(theirs).sum() <= len(theirs) - 3


@pytest.mark.parametrize("name", [n for n, c in CASES.items() if not c.ties])
def test_without_ties_the_nearest_record_guesses_alike(name):
    assert np.array_equal(guessed(name), hits(GOLDEN[name]["guessed"]))


@pytest.mark.parametrize("name", [n for n, c in CASES.items() if c.ties])
def test_with_ties_its_guess_is_one_that_ours_allows(name):
    ours, theirs = guessed(name), hits(GOLDEN[name]["guessed"])
    assert agrees(ours, theirs)
    is_drawn = (ours > 0) & (ours < 1)
    assert is_drawn.sum() > 10
    # the accident is not ours to know; it is no worse than five standard errors of a fair draw
    spread = np.sqrt((ours * (1 - ours)).sum())
    assert abs(theirs.sum() - ours.sum()) <= 5 * spread


@pytest.mark.parametrize("k", ["1", "2", "3"])
@pytest.mark.parametrize("name", [n for n, c in CASES.items() if not c.ties])
def test_without_ties_the_same_people_are_linked(name, k):
    ours, theirs = linked(name)[k], hits(GOLDEN[name]["linked"][k])
    assert np.array_equal(ours, theirs)


@pytest.mark.parametrize("k", ["1", "2", "3"])
@pytest.mark.parametrize("name", [n for n, c in CASES.items() if c.ties])
def test_with_ties_its_links_are_such_that_ours_allow(name, k):
    ours, theirs = linked(name)[k], hits(GOLDEN[name]["linked"][k])
    assert agrees(ours, theirs)
    assert ((ours > 0) & (ours < 1)).sum() > 10
