"""Actors of a schema file: whole runs of three alarm no more often than one, and who can find a leak is named.

Shares of R runs with true share s move by sqrt(s (1 - s) / R): two of these are let pass above 5%.
"""

import numpy as np
import polars as pl
import pytest

import divulge
from divulge.core.schema import schema_from_toml
from divulge.report.first_page import summary

KNOWN = ["job", "birth", "height"]
FOUND = ("excess found", "deficit found")
ACTORS = """
[[actor]]
preset = "motivated-intruder"
keys = ["sex", "region"]
targets = ["ill"]
[[actor]]
preset = "recipient"
keys = ["sex", "region", "job", "birth"]
targets = ["ill", "income"]
population = 5000
[[actor]]
preset = "insider"
targets = ["ill"]
"""


def people(rng, n):
    """People with seven columns, of which illness and income depend on others."""
    birth, job = rng.integers(0, 40, n), rng.integers(0, 6, n)
    return pl.DataFrame(
        {
            "sex": rng.integers(0, 2, n),
            "region": rng.integers(0, 5, n),
            "job": job,
            "birth": 1950 + birth,
            "height": rng.normal(170, 10, n).round(0),
            "income": (20 + 3 * job + rng.normal(0, 5, n)).round(0),
            "ill": (rng.random(n) < 0.1 + 0.01 * birth).astype(int),
        }
    )


def assessed(real, synthetic, holdout, seed, actors=ACTORS):
    left_out = {"models": False, "fidelity": False, "membership": False}  # what no actor's knowledge changes
    return divulge.assess(real, synthetic, holdout, schema=schema_from_toml(actors), jobs=1, seed=seed, **left_out)


@pytest.mark.parametrize("runs", [pytest.param(6, id="quick"), pytest.param(200, marks=pytest.mark.full, id="full")])
@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_leak_free_runs_of_three_actors_alarm_in_few(runs):
    false = 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        report = assessed(*(people(rng, 100) for _ in range(3)), seed)
        false += report.verdict in FOUND
    assert false <= 0.05 * runs + 2 * np.sqrt(0.05 * 0.95 * runs)


@pytest.mark.parametrize("runs", [pytest.param(1, id="quick"), pytest.param(20, marks=pytest.mark.full, id="full")])
def test_a_leak_that_only_the_insider_can_see_is_found_and_named(runs):
    found = others = 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        real, holdout, synthetic = people(rng, 400), people(rng, 400), people(rng, 400)
        synthetic = synthetic.with_columns(real.select(*KNOWN, "ill"))  # all else is of other people
        report = assessed(real, synthetic, holdout, seed, f"{ACTORS}keys = {KNOWN}")
        named = {a.actor: a.verdict for a in summary(report.assessment).actors}
        found += named["insider"] == "excess found"
        others += named["motivated-intruder"] in FOUND
    assert found >= 0.9 * runs
    assert others <= 0.05 * runs + 2 * np.sqrt(0.05 * 0.95 * runs)


@pytest.mark.parametrize("runs", [pytest.param(60, id="quick"), pytest.param(500, marks=pytest.mark.full, id="full")])
@pytest.mark.slow
@pytest.mark.parametrize("of_population", [False, True])
def test_lone_matches_with_a_fresh_sample_are_right_about_strangers_as_often(runs, of_population):
    false = claims = 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        real, synthetic, holdout = (people(rng, 400) for _ in range(3))
        asked = {"keys": ["sex", "region", "job", "birth"], "target": "ill"}
        everybody = pl.concat([real, holdout, people(rng, 800)]) if of_population else None
        one = divulge.lone_match(real, synthetic, holdout, **asked, population=everybody)
        false += one.verdict in FOUND
        claims += one.context["claims about members"]
    assert false <= (0.05 + 2 * np.sqrt(0.05 * 0.95 / runs)) * runs
    assert claims > 3 * runs
