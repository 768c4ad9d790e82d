"""mode="sound" on simulated tables: what the released score does not see is seen, and the intervals cover."""

import math

import numpy as np
import pandas as pd
import pytest

from divulge.sdmetrics import CategoricalZeroCAP, DCROverfittingProtection

SIZES = [pytest.param(40, id="quick"), pytest.param(200, id="full", marks=pytest.mark.full)]


def people(rng, n, levels=4, columns=6):
    kind = rng.integers(0, levels, n)
    own = rng.integers(0, levels, (n, columns))
    values = np.where(rng.random((n, columns)) < 0.5, kind[:, None], own)
    return pd.DataFrame(values, columns=[f"c{j}" for j in range(columns)]).astype(str)


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


@pytest.mark.parametrize("runs", [pytest.param(300, id="quick"), pytest.param(2000, id="full", marks=pytest.mark.full)])
def test_the_interval_over_the_marginal_baseline_covers(runs):
    """The synthetic table is given; people are drawn from a population that is known."""
    rng = np.random.default_rng(2)
    n_keys, n_targets = 4, 3
    covered = np.empty((runs, 2), dtype=bool)
    for i in range(runs):
        share = rng.dirichlet(np.full(n_keys * n_targets, 0.7)).reshape(n_keys, n_targets)
        real, synthetic = (rng.multinomial(n, share.ravel()).reshape(share.shape) for n in (200, 150))
        found = CategoricalZeroCAP.compute_breakdown(
            *map(rows, (real, synthetic)), key_fields=["k"], sensitive_fields=["t"], mode="sound"
        )
        score = synthetic / np.maximum(1, synthetic.sum(axis=1, keepdims=True))
        baseline = (share.sum(axis=0) ** 2).sum()
        truth = ((share * score).sum() - baseline) / (1 - baseline)
        covered[i] = found["risk_low"] <= truth, truth <= found["risk_high"]
    print(covered.mean(axis=0), covered.all(axis=1).mean())
    # conservative by construction; three errors of the simulation below its level
    assert covered.all(axis=1).mean() >= 0.95 - 3 * math.sqrt(0.0475 / runs)
    assert (covered.mean(axis=0) >= 0.975 - 3 * math.sqrt(0.0244 / runs)).all()


def rows(counts):
    key, target = np.divmod(np.repeat(np.arange(counts.size), counts.ravel()), counts.shape[1])
    return pd.DataFrame({"k": key, "t": target}).astype(str)
