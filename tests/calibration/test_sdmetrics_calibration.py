"""mode="sound" on simulated tables: what the released score does not see is seen, and the intervals cover."""

import math

import numpy as np
import pandas as pd
import pytest

from divulge.sdmetrics import CategoricalZeroCAP, DCROverfittingProtection
from divulge.stats import Outcomes, residual_over

SIZES = [pytest.param(40, id="quick"), pytest.param(200, id="full", marks=pytest.mark.full)]


def people(rng, n, levels=4, columns=6):
    kind = rng.integers(0, levels, n)
    own = rng.integers(0, levels, (n, columns))
    values = np.where(rng.random((n, columns)) < 0.5, kind[:, None], own)
    return pd.DataFrame(values, columns=[f"c{j}" for j in range(columns)]).astype(str)


@pytest.mark.filterwarnings("ignore:real_validation_data")  # one split in a thousand looks as if it overlapped
@pytest.mark.parametrize("runs", SIZES)
def test_ten_percent_copies_lower_the_sound_score_and_not_the_released_one(runs):
    rng = np.random.default_rng(1)
    released, sound = np.empty((2, runs)), np.empty((2, runs))
    for i in range(runs):
        real, strangers, clean = (people(rng, 300) for _ in range(3))
        leak = pd.concat([real[:30], clean[30:]])
        metadata = {"columns": {c: {"sdtype": "categorical"} for c in real}}
        for j, synthetic in enumerate((clean, leak)):
            found = DCROverfittingProtection.compute_both(real, synthetic, strangers, metadata)
            released[j, i], sound[j, i] = (found[m]["score"] for m in ("compatible", "sound"))
    error = math.sqrt(sound.var(axis=1, ddof=1).sum() / runs)
    print(sound.mean(axis=1), error)
    assert (released == 1.0).all()
    assert sound[0].mean() - sound[1].mean() > 3 * error


def drawn(share, rng):
    """Independent people, and a table of the same population."""
    return rng.multinomial(200, share.ravel()).reshape(share.shape), rng.multinomial(150, share.ravel()).reshape(
        share.shape
    )


POPULATIONS = {
    "drawn anew": lambda rng: rng.dirichlet(np.full(12, 0.7)).reshape(4, 3),
    "uniform": lambda rng: np.full((4, 3), 1 / 12),
}
SIZES_OF_COVERAGE = [pytest.param(300, id="quick"), pytest.param(2000, id="full", marks=pytest.mark.full)]


@pytest.mark.parametrize("runs", SIZES_OF_COVERAGE)
@pytest.mark.parametrize("population", POPULATIONS)
def test_the_interval_without_strangers_covers(population, runs):
    """The synthetic table is given; people are drawn from a population that is known."""
    rng = np.random.default_rng(2)
    covered = np.empty((runs, 2), dtype=bool)
    for i in range(runs):
        share = POPULATIONS[population](rng)
        real, synthetic = drawn(share, rng)
        found = CategoricalZeroCAP.compute_breakdown(
            *map(rows, (real, synthetic)), key_fields=["k"], sensitive_fields=["t"], mode="sound"
        )
        score = synthetic / np.maximum(1, synthetic.sum(axis=1, keepdims=True))
        margin, published = share.sum(axis=0), synthetic.sum(axis=0) / synthetic.sum()
        baseline = max((margin**2).sum(), (margin * published).sum())
        truth = ((share * score).sum() - baseline) / (1 - baseline)
        covered[i] = found["risk_low"] <= truth, truth <= found["risk_high"]
    print(population, covered.mean(axis=0), covered.all(axis=1).mean())
    check(covered, runs)


# shares of the sensitive values, score of the people who have each: rare values are better known
TOGETHER = {
    "three values": ([0.6, 0.2, 0.2], [0.5, 1, 1]),
    "eleven values": ([0.5] + [0.05] * 10, [0.2] + [0.9] * 10),
    "only the rare one": ([0.7, 0.3], [0, 1]),
    "independent": ([0.95, 0.05], [0.95, 0.05]),
    "all right": ([0.5, 0.5], [1, 1]),
}


@pytest.mark.quick
@pytest.mark.parametrize("runs", SIZES_OF_COVERAGE)
@pytest.mark.parametrize("design", TOGETHER)
def test_scores_that_move_with_the_baseline_are_covered(design, runs):
    """MOVER's limits alone take the two as independent, and covered .80 to .86 in the first three."""
    share, score = map(np.array, TOGETHER[design])
    base = float((share**2).sum())
    truth = float((share @ score - base) / (1 - base))
    rng = np.random.default_rng(3)
    covered = np.empty((runs, 2), dtype=bool)
    for i in range(runs):
        count = rng.multinomial(200, share)
        seen = count > 0
        blind = (count[seen] - 1) / 199
        found = residual_over(Outcomes(score[seen].astype(float), count[seen]), blind, moved_by=2)
        covered[i] = found.low <= truth, truth <= found.high
    print(design, truth, covered.mean(axis=0), covered.all(axis=1).mean())
    check(covered, runs)


def check(covered, runs):
    # at least its level of .95, .975 on either side: by three errors of the simulation, and .01 for a limit of normal
    # theory at 200 people
    assert covered.all(axis=1).mean() >= 0.94 - 3 * math.sqrt(0.0564 / runs)
    assert (covered.mean(axis=0) >= 0.965 - 3 * math.sqrt(0.034 / runs)).all()


def rows(counts):
    key, target = np.divmod(np.repeat(np.arange(counts.size), counts.ravel()), counts.shape[1])
    return pd.DataFrame({"k": key, "t": target}).astype(str)
