"""Where a run asks a random sample of people: does the interval hold the value that asking everybody would give?

One table of everybody, many draws of people from it. A draw of a share f of them lies nearer to the whole than a draw
from a population, by sqrt(1 - f), and no interval is made narrower for that: of a twentieth .956 of such intervals hold
the value where .95 of them hold that of the population, of a tenth (persons of two rows) .961. Quick forms take a band
of 3 standard errors, full forms (``-m full``) make 400 draws and take 2. Both take .975 as the most, since divulge
takes the wider end of two intervals.
"""

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from worlds import WORLDS

from divulge.attacks.catalogue import CATALOGUE
from divulge.case import asked
from divulge.case.asked import asked_of
from divulge.case.case import build_case

N = 8000
ASKED = 400
CALLS = {
    "cap": {"keys": ["c1", "c2", "c3"], "target": "c4"},
    "cap of all": {"keys": ["c1", "c2", "c3", "c4"], "target": "c0", "unseen": "zero"},
    "inference": {"target": "c4", "ways": ("nearest record", "k-vote")},
    "linkability": {"columns": (["c0", "c2", "c4", "x0", "x2"], ["c1", "c3", "x1", "x3"]), "k": (1, 10)},
}


def runs(quick, full):
    return pytest.mark.parametrize(
        ("runs", "errors"),
        [
            pytest.param(quick, 3.0, id="quick"),
            pytest.param(full, 2.0, id="full", marks=[pytest.mark.full, pytest.mark.timeout(7200)]),
        ],
    )


def everybody(unit):
    """Return the case of the whole table: of members with a low code in c0, four of ten stand in the synthetic table.

    With units a person has two rows, which are alike: the second one differs in one number.
    """
    rng = np.random.default_rng(11)
    real, synthetic, holdout = (WORLDS["mixed"](rng, N // 2 if unit else N) for _ in range(3))
    synthetic = synthetic[: N // 4]
    if unit:
        twice = [pl.concat([t, t.with_columns(pl.col("x2") + 0.1)]) for t in (real, holdout)]
        real, holdout = (t.with_columns(who=pl.Series(np.tile(np.arange(N // 2), 2))) for t in twice)
        synthetic = synthetic.with_columns(who=pl.Series(np.arange(len(synthetic))))
    copied = real.filter((real["c0"] != "v1.0") & pl.Series(rng.random(len(real)) < 0.4))
    table = pl.concat([copied.select(synthetic.columns), synthetic[len(copied) :]])
    return build_case(real, table, holdout, unit="who" if unit else None)


@pytest.fixture(scope="module")
def cases():
    return {unit: everybody(unit) for unit in (False, True)}


def results(call, case):
    found = CATALOGUE[call.split()[0]].run(case, **CALLS[call])
    return found if isinstance(found, tuple) else (found,)


def drawn(case, seed):
    """Return the case of a random sample, by another seed."""
    return asked_of(replace(case.derived(case.encoded), seed=seed), ASKED).case


def held(call, case, runs, draw=drawn):
    """Return, by variant, the share of draws whose intervals of the difference and of the risk hold the whole's value."""
    whole = {r.variant: r for r in results(call, case)}
    inside = {name: np.zeros(2) for name in whole}
    for seed in range(runs):
        for r in results(call, draw(case, seed)):
            known = whole[r.variant]
            pairs = (r.difference, known.difference.value), (r.risk, known.risk.value)
            inside[r.variant] += [interval.low <= value <= interval.high for interval, value in pairs]
    shares = {name: (k / runs).round(4).tolist() for name, k in inside.items()}
    told = {name: (round(r.difference.value, 4), round(r.risk.value, 4)) for name, r in whole.items()}
    print(f"\n{call}, {runs} draws of {ASKED}: difference and risk {told}, held in {shares}")
    return shares


@pytest.mark.slow
@runs(40, 400)
@pytest.mark.parametrize("unit", [False, True], ids=["rows", "units"])
@pytest.mark.parametrize("call", CALLS)
def test_the_interval_of_a_sample_holds_the_value_of_everybody(call, unit, cases, runs, errors):
    for name, shares in held(call, cases[unit], runs).items():
        for share in shares:
            assert share >= 0.95 - errors * math.sqrt(0.95 * 0.05 / runs), name
            assert share <= min(1.0, 0.975 + errors * math.sqrt(0.975 * 0.025 / runs)), name


def of_the_first(case, which, people):
    """Draw people from the first half of a table in the order of one column, as of a file that was sorted."""
    order = case.tables[which].series("x0").arg_sort().to_numpy()
    return np.sort(np.random.default_rng([case.seed, which]).choice(order[: len(order) // 2], people, replace=False))


@pytest.mark.slow
def test_a_draw_that_is_not_random_is_seen(cases, monkeypatch):
    """People with low values have the code whose bearers were copied more often than the others have."""
    monkeypatch.setattr(asked, "drawn_people", of_the_first)
    assert max(held("linkability", cases[False], 20)["given columns, k = 1"]) < 0.5


def with_fewer_synthetic_rows(case, seed):
    """Return the case of a random sample of people, and of a tenth of the synthetic rows."""
    some = drawn(case, seed)
    rows = np.random.default_rng(seed).choice(case.n_rows("synthetic"), case.n_rows("synthetic") // 10, replace=False)
    real, synthetic, holdout = (t.named() for t in some.tables)
    return build_case(real, synthetic[np.sort(rows).tolist()], holdout, seed=seed)


@pytest.mark.slow
def test_a_sample_of_synthetic_rows_loses_the_leak(cases):
    """What no option offers: the row that was copied must be there."""
    assert max(held("linkability", cases[False], 20, with_fewer_synthetic_rows)["given columns, k = 1"]) < 0.5
