"""Metrics that train models, against SDMetrics 0.32.0 after `numpy.random.seed(seed)`: `remake_models.py`."""

import json
from pathlib import Path

import pytest
import sklearn
from column_cases import frame
from model_cases import CASES, both

from divulge.sdmetrics import single_table
from divulge.sdmetrics.errors import IncomputableMetricError

FILE = json.loads(Path(__file__).with_name("models.json").read_text(encoding="utf-8"))
GOLDEN = FILE["cases"]
SAME_MODELS = sklearn.__version__.split(".")[:2] == FILE["about"]["versions"]["scikit-learn"].split(".")[:2]
QUICK = {"LogisticDetection | all kinds", "LinearRegression | floats", "GMLogLikelihood | no numbers"}


def outcome(case, **kwargs):
    tables = frame(case.first), frame(case.second)
    metric = getattr(single_table, case.metric)
    try:
        return metric.compute(*tables, case.metadata, **{"seed": case.seed, **case.kwargs, **kwargs})
    except (TypeError, ValueError, IncomputableMetricError) as error:
        return type(error).__name__


def is_golden(case):
    ours, theirs = outcome(case), GOLDEN[case.id]
    if isinstance(theirs, str) or isinstance(ours, str):
        return ours == theirs
    return (
        ours == pytest.approx(theirs, rel=1e-9, abs=1e-9)
        if SAME_MODELS
        else ours <= single_table.__dict__[case.metric].max_value
    )


@pytest.mark.parametrize("case", [c for c in CASES if c.id in QUICK], ids=lambda c: c.id)
def test_a_few(case):
    assert is_golden(case)


@pytest.mark.slow
def test_all():
    assert [c.id for c in CASES if not is_golden(c)] == []
    assert list(GOLDEN) == [c.id for c in CASES]


@pytest.mark.slow
def test_seeds_and_families():
    case = next(c for c in CASES if c.id == "LogisticDetection | all kinds")
    scores = [outcome(case, seed=s) for s in range(20)]
    assert len(set(scores)) > 10 and all(0 <= s <= 1 for s in scores)
    tables = frame(case.second), frame(case.first)
    for target, models in (("b", 4), ("n", 2), ("c", 2)):
        found = single_table.MLEfficacy.compute_breakdown(*tables, case.metadata, target=target)
        assert len(found) == models + 1
        assert found["score"] == pytest.approx(sum(v for k, v in found.items() if k != "score") / models)
    with pytest.raises(ValueError, match="Unsupported target type: datetime"):
        single_table.MLEfficacy.compute(*tables, case.metadata, target="d")


def test_an_error_names_the_column_and_no_category():
    case = next(c for c in CASES if c.id == "LogisticDetection | a category that the real table lacks")
    with pytest.raises(ValueError, match="Column 'e' has a category in one table") as raised:
        single_table.LogisticDetection.compute(frame(case.first), frame(case.second), case.metadata)
    assert "'z'" not in str(raised.value)


def test_an_auc_below_one_half_counts_as_one_half():
    # models of two folds of a copy learn that the rows of the third are on the other side
    table = frame(both("n", "m")[0])
    assert single_table.LogisticDetection.compute(table, table) == 1.0
