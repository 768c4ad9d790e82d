"""`divulge.utility`: four numbers with their fields of before, and the verdicts of fidelity beside them."""

import numpy as np
import polars as pl
import pytest

import divulge
from divulge.measures.single_table import MEASURES


def people(seed, n=300, shift=0):
    rng = np.random.default_rng(seed)
    return pl.DataFrame({"age": rng.integers(0, 9, n) + shift, "job": rng.choice(["a", "b"], n)})


@pytest.mark.slow
def test_the_four_numbers_have_a_reference_and_a_verdict():
    found = divulge.utility(people(1), people(2, shift=3), holdout=people(3), models=False)
    assert tuple(u.measure for u in found) == MEASURES
    columns, pairs, auc, taught = found
    assert (columns.judged_by, columns.verdict) == ("column_shapes", "differs")
    assert columns.ruler > 2 and 0 < columns.low < columns.value and columns.reference < 0.1
    assert pairs.judged_by == "column_pairs"
    assert (auc.judged_by, auc.verdict, taught.judged_by) == ("", "", "")
    with pytest.raises(divulge.ColumnError, match="targets: no column 'pay'"):
        divulge.utility(people(1), people(2), targets=["pay"])


@pytest.mark.slow
def test_models_are_judged_too():
    found = divulge.utility(people(1), people(2, shift=3), holdout=people(3), targets="job")
    assert [u.judged_by for u in found] == ["column_shapes", "column_pairs", "detection", "ml_efficacy"]
    assert found[2].verdict == "differs"
