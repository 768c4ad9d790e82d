"""Does membership see as much of generators that leak by a known way as it was measured to see?

The generators are those of `benchmarks/membership_generators.py`: columns drawn independently, a Bayes tree, a Gaussian
copula, sequential trees, SMOTE. People are drawn from the survey that comes with divulge, and from Adult where
`--published DIR` names the folder of published tables: there the numbers of the lab are asked, on samples of its own.
"""

import importlib
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from divulge.demo import TABLE

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
NAMES = ("columns drawn independently", "Bayes tree", "Gaussian copula", "sequential trees", "SMOTE")
SURVEY = {
    "columns drawn independently": (0.4996, 0.5021, 0.5070, 0.5167, 0.5310, 0.5148, 0.5521),
    "Bayes tree": (0.5042, 0.5103, 0.5082, 0.5145, 0.5264, 0.5162, 0.5252),
    "Gaussian copula": (0.5082, 0.5147, 0.5203, 0.5397, 0.5431, 0.5343, 0.5569),
    "sequential trees": (0.5910, 0.6105, 0.5995, 0.6975, 0.6651, 0.6843, 0.7065),
    "SMOTE": (0.8436, 0.8533, 0.6135, 0.7195, 0.6396, 0.8250, 0.8521),
}
"""AUC of ratio, hit, dpi, classifier, 3-way margins, mean rank, known members: mean of 20 samples, seeds 100 to 119."""
SURVEY_RUNS, SURVEY_SPREAD = 20, 0.02
"""Standard deviation of an AUC between samples of 472 and 472 people: .012 to .024."""


@pytest.fixture
def known(monkeypatch):
    """The benchmark's generators and what the lab measured of them."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("membership_generators")


def halves(rng):
    """Return two random halves of the survey."""
    everybody = pd.read_csv(TABLE)
    order, half = rng.permutation(len(everybody)), len(everybody) // 2
    one, other = (everybody.iloc[rows].reset_index(drop=True) for rows in (order[:half], order[half:]))
    return one, other


@pytest.mark.parametrize(
    ("name", "runs"),
    [
        *(pytest.param(name, 2, id=f"{name}-quick") for name in ("sequential trees", "SMOTE")),
        *(pytest.param(name, 20, marks=pytest.mark.full, id=f"{name}-full") for name in NAMES),
    ],
)
def test_a_known_generator_is_seen_as_well_as_it_was(known, name, runs):
    """Seven scores of up to five generators are compared, so that three errors are let pass."""
    found = np.mean([known.areas(halves, name, run) for run in range(runs)], axis=0)
    least = np.array(SURVEY[name]) - 3 * SURVEY_SPREAD * math.sqrt(1 / runs + 1 / SURVEY_RUNS)
    print(f"\n{name}, {runs} runs: {dict(zip(known.SCORES, found.round(3).tolist(), strict=True))}")
    assert (found >= least).all(), dict(zip(known.SCORES, (found - least).round(4).tolist(), strict=True))


@pytest.mark.full
@pytest.mark.timeout(3600)
def test_each_score_sees_what_the_lab_saw_on_adult(known, pytestconfig):
    """1,000 + 1,000 people, 1,000 rows; of each score but the mean rank, which averages other scores in the lab.

    Thirty numbers are compared, so that three errors are let pass. The classifier is asked on the whole: the lab's
    forest has larger leaves and another order of categories, and is better on some generators and worse on SMOTE.
    """
    data = pytestconfig.getoption("published")
    if data is None:
        pytest.skip("--published names no folder of published tables")
    scores, low, forest = [s for s in known.SCORES if s != "mean rank"], [], []
    for name in NAMES:
        found = np.array([known.areas(known.adult(data), name, run, scores) for run in range(8)])
        mean, error = found.mean(axis=0), found.std(axis=0, ddof=1) / math.sqrt(len(found))
        three, two = (known.too_low(found, known.LAB[name], known.LAB_ERROR, errors) for errors in (3, 2))
        shown = zip(scores, mean, error, known.LAB[name], two, strict=True)
        print(f"\n{name}:", *(f"{s} {m:.3f} +- {e:.3f} ({lab:.3f}){' LOW' * t}" for s, m, e, lab, t in shown))
        low += [(name, s) for s, t in zip(scores, three, strict=True) if t and s != "classifier"]
        forest.append((mean - known.LAB[name])[scores.index("classifier")])
    assert not low
    assert np.mean(forest) >= -2 * known.LAB_ERROR / math.sqrt(len(NAMES)), forest
