"""Bayesian networks against SDMetrics 0.32.0 with pomegranate 1.1.2: `bayes.json`, made by `remake_bayes.py`.

The network is that of pomegranate itself, which is an extra: without it the scores are not compared.
"""

import json
import sys
import types
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pandas")

import pandas as pd
from bayes_cases import CASES, METRICS, arguments

from divulge.sdmetrics import multi_table, single_table

GOLDEN = json.loads(Path(__file__).with_name("bayes.json").read_text(encoding="utf-8"))["cases"]
ANSWERED = {
    "missing": "IntCastingNaNError",
    "missing in the real table": "IntCastingNaNError",
    "a value of a child that the real table lacks": "IndexError",
}
"""Where SDMetrics fails and ours has a score: None is a value, and a row with a value that was not learnt has 0."""


def test_every_score_is_that_of_sdmetrics():
    pytest.importorskip("pomegranate")
    for metric in METRICS:
        for case in CASES:
            given, options = arguments(case)
            golden = GOLDEN[f"{metric} | {case.id}"]
            try:
                ours = getattr(single_table, metric).compute(*given, **options)
            except Exception as error:
                ours = type(error).__name__
            if case.id in ANSWERED:
                assert golden == ANSWERED[case.id] and isinstance(ours, float)
            elif isinstance(golden, str):
                assert ours == golden, case.id
            else:
                assert ours == pytest.approx(golden, rel=1e-9, abs=1e-12), case.id


def test_the_file_has_every_case():
    assert list(GOLDEN) == [f"{m} | {c.id}" for m in METRICS for c in CASES]
    assert sum(isinstance(v, float) for v in GOLDEN.values()) >= 50


def test_without_pomegranate_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pomegranate", None)
    monkeypatch.setitem(sys.modules, "pomegranate.bayesian_network", None)
    given, _ = arguments(CASES[0])
    for metric in METRICS:
        with pytest.raises(ImportError, match=rf"{metric} learns .* hint: pip install 'divulge\[pomegranate\]'"):
            getattr(single_table, metric).compute(*given)


class Shares:
    """In place of a network: independent columns."""

    def __init__(self, structure, algorithm):
        assert algorithm == "chow-liu"

    def fit(self, rows):
        assert all(set(c) == set(range(c.max() + 1)) for c in rows.T)  # each code was learnt
        self.shares = [np.bincount(c) / len(rows) for c in rows.T]
        return self

    def probability(self, rows):
        found = np.prod([s[c] for s, c in zip(self.shares, rows.T, strict=True)], axis=0)
        return types.SimpleNamespace(detach=lambda: types.SimpleNamespace(numpy=lambda: found))


@pytest.fixture
def shares(monkeypatch):
    network = types.ModuleType("pomegranate.bayesian_network")
    network.BayesianNetwork = Shares
    torch = types.ModuleType("torch")
    torch.tensor = np.asarray
    for name, module in {
        "pomegranate": types.ModuleType("pomegranate"),
        "pomegranate.bayesian_network": network,
        "torch": torch,
    }.items():
        monkeypatch.setitem(sys.modules, name, module)


def test_what_the_model_is_asked(shares):
    real = pd.DataFrame({"a": ["x", "x", None, "y"], "b": [True, False, True, True], "n": [1.0, 2, 3, 4]})
    synthetic = pd.DataFrame({"a": ["y", None, "x", "z"], "b": [True, True, False, True], "n": [1.0, 2, 3, 4]})
    expected = [1 / 4 * 3 / 4, 1 / 4 * 3 / 4, 1 / 2 * 1 / 4, 0]
    assert single_table.BNLikelihood.compute(real, synthetic) == pytest.approx(np.mean(expected))
    logs = np.log([*expected[:3], 1e-8])
    found = single_table.BNLogLikelihood.compute_breakdown(real, synthetic)
    assert found == {"score": pytest.approx(np.mean(logs))}
    assert 0 < single_table.BNLogLikelihood.normalize(found["score"]) < 1
    several = multi_table.BNLikelihood.compute({"t": real}, {"t": synthetic})
    assert several == pytest.approx(np.mean(expected))
    assert np.isnan(single_table.BNLikelihood.compute(real, synthetic.head(0)))
    whole = real.assign(a=["x", "x", "y", "y"])
    assert single_table.BNLikelihood.compute(whole, synthetic[["a", "b", "n"]].iloc[1:2]) == 0  # None was not learnt
