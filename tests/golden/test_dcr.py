"""Distances against SDMetrics 0.32.0: `dcr.json` holds its values, `remake_dcr.py` writes them anew."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from dcr_cases import CASES

import divulge
from divulge.case.case import build_case
from divulge.case.distances import distances_of
from divulge.core.schema import Column, Schema

GOLDEN = json.loads(Path(__file__).with_name("dcr.json").read_text())["cases"]
KIND = {"numerical": "numeric", "categorical": "categorical", "boolean": "boolean", "datetime": "datetime"}


def laid(name):
    case = CASES[name]
    schema = Schema(tuple(Column(c, KIND[k]) for c, k in case.kinds.items()))
    return build_case(
        *(pl.DataFrame(t, strict=False) for t in (case.real, case.synthetic, case.holdout)), schema=schema
    )


def test_every_case_was_run():
    assert GOLDEN.keys() == CASES.keys()


@pytest.mark.parametrize("name", CASES)
def test_distances_are_those_of_sdmetrics(name):
    d = distances_of(laid(name))
    for role in ("real", "holdout"):
        found = d.nearest("synthetic", role).distances[:, 0]
        np.testing.assert_allclose(found, GOLDEN[name][f"to {role}"], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", CASES)
def test_the_median_is_that_of_the_baseline_metric(name):
    found = {r.variant: r for r in divulge.dcr.run(laid(name))}["synthetic rows"]
    assert found.value.real == pytest.approx(GOLDEN[name]["median to real"], rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("name", CASES)
def test_the_strict_share_is_that_of_the_overfitting_metric(name):
    """Its ties go to the holdout: counted so, our distances give its share and its score."""
    d = distances_of(laid(name))
    to_real, to_holdout = (d.nearest("synthetic", role).distances[:, 0] for role in ("real", "holdout"))
    # sums of several columns may differ in the last bit between the two, and so may ties
    strict = float((to_real < to_holdout - 1e-12).mean())
    assert strict == pytest.approx(GOLDEN[name]["closer to training"])
    assert min(2 * (1 - strict), 1) == pytest.approx(GOLDEN[name]["overfitting protection"])
