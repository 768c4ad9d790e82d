"""The smallest detectable excess of a result belongs to the level that the verdict of its run uses."""

import numpy as np
import polars as pl
import pytest

import divulge
from divulge.attacks.multiplicity import correct
from divulge.case.case import build_case
from divulge.stats import smallest_detectable


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(0)
    real, synthetic, holdout = (
        pl.DataFrame({name: rng.integers(0, 4, n).astype(str) for name in "abcd"}) for n in (200, 150, 160)
    )
    return build_case(real, synthetic, holdout)


def test_a_single_call_uses_its_level_two_sided(case):
    result = divulge.copies.run(case)[0]
    n, m, rate = result.real.n, result.holdout.n, result.holdout.rate
    assert result.smallest_detectable == smallest_detectable(rate, n, m, level=0.95)


def test_a_run_pays_for_the_comparisons_of_an_attack_and_for_the_attacks(case):
    one, other = divulge.copies.run(case)[0], divulge.cap.run(case, keys=["a"], target="d")
    alone = correct(case, [one])[0]
    assert alone.smallest_detectable == one.smallest_detectable
    two_attacks = correct(case, [one, other])[0]
    n, m, rate = one.real.n, one.holdout.n, one.holdout.rate
    assert two_attacks.smallest_detectable == smallest_detectable(rate, n, m, level=0.975, limits=0.95)
    assert two_attacks.smallest_detectable > one.smallest_detectable
    several = [divulge.cap.run(case, keys=["a"], target=t) for t in "bcd"]
    assert all(
        f.smallest_detectable > s.smallest_detectable for f, s in zip(correct(case, several), several, strict=True)
    )
