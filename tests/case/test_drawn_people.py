"""People are drawn block by block by their places in the canonical order, as if it were made whole."""

import numpy as np
import polars as pl
import pytest

from divulge.case import drawn_people as module
from divulge.case.case import build_case
from divulge.case.drawn_people import drawn_people
from divulge.case.invariant_order import Canonical

TABLES = {"real": 0, "holdout": 2}


def table(rng, n, n_values):
    """Return a table with many equal rows where there are few values."""
    amounts = rng.integers(0, n_values, n) / 4
    return pl.DataFrame(
        {
            "who": rng.integers(0, max(2, n // 3), n),
            "job": rng.choice(["cook", "judge", None], n).tolist(),
            "amount": pl.Series([f"{a}" for a in amounts]).set(pl.Series(rng.random(n) < 0.1), "unknown"),
            "rooms": rng.integers(0, n_values, n),
        }
    )


def whole(case, which, people):
    """Return what a draw from the whole order gives."""
    role = ("real", "synthetic", "holdout")[which]
    order, units = Canonical(case, case.columns, [which]).order(which), case.units(role)
    rng = case.rng(f"people asked, {role}")
    if units is None:
        return np.sort(rng.choice(order, people, replace=False))
    _, first = np.unique(units[order], return_index=True)
    named = units[order][np.sort(first)]
    return np.flatnonzero(np.isin(units, rng.choice(named, people, replace=False)))


@pytest.mark.first(3)
@pytest.mark.parametrize("unit", [None, "who"])
@pytest.mark.parametrize("block", [1_000_000, 7])
@pytest.mark.parametrize("n_values", [2, 1000])
def test_the_draw_is_that_of_the_whole_order(unit, block, n_values, monkeypatch):
    monkeypatch.setattr(module, "_BLOCK", block)
    for seed in range(6):
        rng = np.random.default_rng(seed)
        real, holdout = table(rng, 90, n_values), table(rng, 60, n_values)
        if seed == 1:
            real = real.with_columns(who=pl.when(pl.col("who") > 9).then("who"))  # rows that are their own units
        case = build_case(real, real, holdout, unit=unit, seed=seed)
        for which in TABLES.values():
            for people in (1, 5, 10):
                np.testing.assert_array_equal(drawn_people(case, which, people), whole(case, which, people))


def test_no_more_people_than_there_are(monkeypatch):
    real = pl.DataFrame({"age": [5, 5, 7]})
    case = build_case(real, real)
    assert drawn_people(case, 0, 3).tolist() == drawn_people(case, 0, 9).tolist() == [0, 1, 2]
    assert len(drawn_people(case, 0, 2)) == 2
