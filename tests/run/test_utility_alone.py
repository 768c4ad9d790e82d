"""`divulge.utility`: four measures of fidelity under the names that the field gives them."""

import numpy as np
import polars as pl
import pytest

import divulge
from divulge.run.utility import MEASURES


def people(seed, n=300, shift=0):
    rng = np.random.default_rng(seed)
    return pl.DataFrame({"age": rng.integers(0, 9, n) + shift, "job": rng.choice(["a", "b"], n)})


TABLES = people(1), people(2, shift=3), people(3)


def of_fidelity(**settings):
    found = divulge.fidelity(*TABLES, **settings)
    return {name: found.of(name) for name in MEASURES.values()}


def test_without_models_columns_and_their_pairs_are_those_of_fidelity():
    found = divulge.utility(*TABLES, models=False)
    whole = of_fidelity(measures=["column_shapes", "column_pairs"])
    assert [(u.measure, u.judged_by) for u in found] == list(MEASURES.items())
    for u in found[:2]:
        head = whole[u.judged_by][0]
        assert (u.value, u.ruler, u.low, u.high, u.verdict) == (
            head.value, head.ruler, head.low, head.high, head.verdict,
        )  # fmt: skip
        assert u.reference == head.fresh_sample.mean
    assert [(u.value, u.verdict, len(u.notes)) for u in found[2:]] == [(None, "not measured", 1)] * 2
    with pytest.raises(divulge.ColumnError, match="targets: no column 'pay'"):
        divulge.utility(*TABLES[:2], targets=["pay"])


@pytest.mark.slow
def test_with_models_all_four_are_those_of_fidelity():
    found = divulge.utility(*TABLES, targets=["job", "age"])
    whole = of_fidelity(measures=list(MEASURES.values()), targets=["job", "age"])
    auc, taught = found[2:]
    assert (auc.value, auc.verdict) == (whole["detection"][0].value, "differs")
    boosting = [r for r in whole["ml_efficacy"] if r.variant == "gradient boosting"]
    assert [r.target for r in boosting] == ["age", "job"]
    assert taught.value == pytest.approx(np.mean([r.value for r in boosting]))
    assert taught.high == pytest.approx(np.mean([r.high for r in boosting]))
    assert taught.verdict in {r.verdict for r in boosting}


@pytest.mark.parametrize("column", ["job", "age"])
def test_what_cannot_be_measured_says_why(column):
    found = divulge.utility(*(t.select(column) for t in TABLES[:2]))
    assert [u.measure for u in found if u.value is None] == [
        "pairwise association error", "train on synthetic, test on real",
    ]  # fmt: skip
    assert all(u.notes and u.verdict == "not measured" for u in found if u.value is None)
