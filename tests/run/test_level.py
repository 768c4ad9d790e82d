"""A level at which nothing could be found is refused, with the highest that can be used."""

import numpy as np
import polars as pl
import pytest

import divulge
from divulge.core.errors import SettingError


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(0)
    return [pl.DataFrame({c: rng.integers(0, 3, 40).astype(str) for c in "abc"}) for _ in range(3)]


def test_a_run_refuses_a_level_that_no_p_value_reaches_after_correction(tables):
    real, synthetic, holdout = tables
    with pytest.raises(
        SettingError, match=r"0.999 is too high for \d+ attacks: .* at least 0.0005.* hint: 0.99\d* is the highest"
    ):
        divulge.assess(real, synthetic, holdout=holdout, level=0.999)
    with pytest.raises(SettingError, match=r"too high for \d+ attacks"):
        divulge.compare(real, {"a": synthetic, "b": real}, holdout=holdout, level=0.999)


@pytest.mark.slow
def test_a_copied_table_is_found_at_the_highest_level():
    rng = np.random.default_rng(1)
    real, holdout = (pl.DataFrame({"x": rng.normal(size=80)}) for _ in range(2))
    with pytest.raises(SettingError, match="highest") as told:
        divulge.assess(real, real, holdout=holdout, level=0.9994, search="off", membership=False)
    highest = float(str(told.value).split("hint: ")[1].split()[0])
    found = divulge.assess(real, real, holdout=holdout, level=highest, search="off", membership=False)
    assert found.verdict == "excess found"


@pytest.mark.slow
def test_a_single_call_refuses_what_its_permutations_cannot_reach(tables):
    real, synthetic, holdout = tables
    # hits of 0 and 1 have an exact p-value
    assert divulge.copies(real, real, holdout=holdout, level=0.9999, variants=["exact"])[0].risk.level == 0.9999
    with pytest.raises(SettingError, match=r"0.9999 is too high for a p-value by permutation.* 0.9995 is the highest"):
        divulge.dcr(real, synthetic, holdout=holdout, level=0.9999)
    assert divulge.dcr(real, synthetic, holdout=holdout, level=0.9995)[0].risk.level == 0.9995
    assert divulge.assess(real, synthetic, level=0.9999, search="off", membership=False).verdict == "no holdout"
