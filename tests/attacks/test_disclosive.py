"""Disclosive classes, confidence gains and abstention, against plain Python and the sources' check values."""

from collections import Counter
from fractions import Fraction as F

import numpy as np
import polars as pl
import pytest
from amount import tries
from hypothesis import given, settings
from hypothesis import strategies as st

import divulge
from divulge.core.errors import SettingError

cell = st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from("xyz"), st.sampled_from(["u", "v", "w", None]))
table = st.lists(cell, min_size=1, max_size=14)
NAMES = ["A", "B", "T"]
AB = {"keys": ["A", "B"], "target": "T"}
many = settings(max_examples=tries(60), deadline=None, derandomize=True, database=None)


def frame(cells):
    return pl.DataFrame(cells, schema=dict.fromkeys(NAMES, pl.String), orient="row")


def near(found, expected):
    assert (found is None) == (expected is None)
    if expected is not None:
        assert found == pytest.approx(float(expected), abs=1e-12)


def classes(rows):
    """Share of each target within each key, and the keys' sizes."""
    size = Counter(x[:2] for x in rows)
    return {x: F(k, size[x[:2]]) for x, k in Counter(rows).items()}, size


@pytest.mark.first(1)
@pytest.mark.parametrize("tau", ["1.0", "0.5", "0.75"])
@many
@given(real=table, synthetic=table, holdout=table)
def test_the_funnel_counts_as_plain_python_does(tau, real, synthetic, holdout):
    limit = F(tau)
    share, size = classes(synthetic)
    own, _ = classes(real)
    disclosive = {x[:2] for x, s in share.items() if s >= limit}
    single = {x[:2] for x, s in own.items() if s >= limit}
    right = {x for x, s in share.items() if s >= limit}
    expected = {
        "DiSCO": lambda x: x in right,
        "DiSDiO": lambda x: x in right and x[:2] in single,
        "DiS": lambda x: x[:2] in disclosive,
        "iS": lambda x: x[:2] in size,
        "Dorig": lambda x: x[:2] in single,
    }
    results = divulge.disco(frame(real), frame(synthetic), holdout=frame(holdout), tau=float(tau), **AB)
    found = {r.variant: r for r in results}
    for variant, has in expected.items():
        near(found[variant].real.rate, F(sum(map(has, real)), len(real)))
        if variant in ("DiSCO", "DiS", "iS"):
            near(found[variant].holdout.rate, F(sum(map(has, holdout)), len(holdout)))
        else:
            assert found[variant].holdout is None  # about the real table alone
    near(found["Dsyn"].value.synthetic, F(sum(x[:2] in disclosive for x in synthetic), len(synthetic)))
    excess = F(sum(x in right for x in real), len(real)) - F(sum(x in right for x in holdout), len(holdout))
    near(found["DiSCO"].difference.value, excess)
    funnel = [found[v].real.hits for v in ("DiSDiO", "DiSCO", "DiS", "iS")]
    assert funnel == sorted(funnel)


def test_targets_that_anybody_would_know_are_told():
    """Of 70 disclosed people 60 have one target, of the first 64 it is 60; key "a" has it for 60 of 62."""
    real = pl.DataFrame(
        {"k": ["a"] * 62 + ["b"] * 8, "j": list("x" * 60 + "yz" + "x" * 8), "t": ["m"] * 60 + ["n"] * 10}
    )
    (found, *_) = divulge.disco(real, real, keys=["k", "j"], target="t")
    told = [n for n in found.notes if "target value holds" in n]
    assert found.real.hits == 70
    assert told == []  # 60 of 70 is 86%
    (found, *_) = divulge.disco(real[:64], real[:64], keys=["k", "j"], target="t")
    assert any(n.startswith("one target value holds 94% of the 64 disclosed records") for n in found.notes)
    assert any(n.startswith("60 disclosed records have a value of 'k' that alone implies") for n in found.notes)


# ---------------------------------------------------------------- RAPID


@pytest.mark.first(1)
@pytest.mark.parametrize("tau", ["0.3", "0.0", "0.5"])
@many
@given(real=table, synthetic=table, holdout=table)
def test_gains_count_as_plain_python_does(tau, real, synthetic, holdout):
    everybody = real + holdout
    prevalence = {t: F(k, len(everybody)) for t, k in Counter(x[2] for x in everybody).items()}
    share, _ = classes(synthetic)

    def gain(x):
        b = prevalence[x[2]]
        return (share.get(x, F(0)) - b) / (1 - b) if b < 1 else None

    found = divulge.rapid(frame(real), frame(synthetic), holdout=frame(holdout), tau=float(tau), **AB)
    for role, people in (("real", real), ("holdout", holdout)):
        gains = [g for x in people if (g := gain(x)) is not None]
        rate = getattr(found, role)
        assert rate.n == len(gains)
        near(rate.rate, F(sum(g > F(tau) for g in gains), len(gains)) if gains else None)
        if role == "real":
            near(found.context["mean gain"], sum(gains, F(0)) / len(gains) if gains else None)


def test_a_gain_of_exactly_tau_is_no_gain():
    """0.65 against a prevalence of 0.5 gains 0.3, which floats put at 0.30000000000000004."""
    real = pl.DataFrame({"k": ["a"] * 20, "t": ["x", "y"] * 10})
    synthetic = pl.DataFrame({"k": ["a"] * 20, "t": ["x"] * 13 + ["y"] * 7})
    assert divulge.rapid(real, synthetic, keys=["k"], target="t", tau=0.3).real.rate == 0
    assert divulge.rapid(real, synthetic, keys=["k"], target="t", tau=0.29).real.rate == 0.5


def test_a_model_learns_what_the_synthetic_table_knows():
    rng = np.random.default_rng(1)
    key = rng.integers(0, 4, (3, 400))
    real, synthetic, holdout = (pl.DataFrame({"k": k, "t": k % 2}) for k in key)
    found = divulge.rapid(real, synthetic, holdout=holdout, keys=["k"], target="t", model="boosting")
    assert (found.real.rate, found.holdout.rate) == (1, 1)
    noise = pl.DataFrame({"k": key[1], "t": rng.integers(0, 2, 400)})
    assert divulge.rapid(real, noise, keys=["k"], target="t", model="boosting").real.rate < 0.05


@pytest.mark.parametrize("tau", [-0.1, 1])
def test_the_gain_asked_for_is_below_one(tau):
    real = pl.DataFrame({"k": ["a"], "t": ["x"]})
    with pytest.raises(SettingError, match="tau"):
        divulge.rapid(real, real, keys=["k"], target="t", tau=tau)


# ---------------------------------------------------------------- abstention


@pytest.mark.parametrize(
    ("precision", "recall", "expected"),
    [(1, 1, 1), (0.9, 0.1, 0.8859), (0.9, 0.01, 0.7875), (1, 0.001, 0.5781), (1, 1e-4, 1e-4), (0.5, 1, 0.5), (1, 0, 0)],
)
def test_precision_recall_coefficient(precision, recall, expected):
    assert divulge.prc(precision, recall) == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize(
    ("base", "attack", "expected"),
    [((0.5, 1), (0.75, 1), 0.5), ((0.6, 1), (1.0, 0.01), 0.6875), ((0.7, 1), (0.6, 1), -1 / 3)],
)
def test_anonymity_loss_coefficient(base, attack, expected):
    loss = (divulge.prc(*attack) - divulge.prc(*base)) / (1 - divulge.prc(*base))
    assert loss == pytest.approx(expected, abs=5e-5)


def test_the_surest_half_is_attacked():
    """Key a tells the target, key b is a coin: guessing for a alone is right always, for half of the people."""
    real = pl.DataFrame({"k": ["a"] * 1000 + ["b"] * 1000, "t": ["x"] * 1000 + ["x", "y"] * 500})
    coin = pl.DataFrame({"k": ["a"] * 1000 + ["b"] * 1000, "t": (["x"] * 3 + ["y"] * 7) * 200})
    found = divulge.abstention(real, real, holdout=coin, keys=["k"], target="t")
    assert (found.context["confidence cut-off"], found.context["precision"]) == (1, 1)
    assert found.context["recall"] == pytest.approx(0.5, abs=0.04)
    assert found.value.real == pytest.approx(divulge.prc(1, found.context["recall"]))
    assert found.value.holdout == pytest.approx(
        divulge.prc(found.context["precision, strangers"], found.context["recall, strangers"])
    )
    loss = (found.value.real - found.value.holdout) / (1 - found.value.holdout)
    assert found.context["ALC"] == pytest.approx(loss)
    assert loss > 0.99
    assert found.curves["recall"] == [0.5, 1.0]
    assert found.curves["precision"] == [1.0, 0.75]


def test_too_few_people_for_any_cut_off_is_no_attack():
    """A Wilson interval narrower than 0.1 needs more than ten people."""
    real = pl.DataFrame({"k": ["a"] * 5 + ["b"] * 5, "t": ["x"] * 5 + ["y"] * 5})
    found = divulge.abstention(real, real, holdout=real, keys=["k"], target="t")
    assert (found.value.real, found.value.holdout) == (None, None)
    assert set(found.context) == {
        "precision", "recall", "confidence cut-off", "precision, strangers", "recall, strangers", "ALC"
    }  # fmt: skip
    assert set(found.context.values()) == {None}
    assert any(n.startswith("no cut-off has a precision known to within 0.1") for n in found.notes)


def test_members_and_strangers_share_one_cut_off():
    """Key a is sure and right about members only; among everybody it is a coin, and b is right about 0.9 of all."""
    synthetic = pl.DataFrame({"k": ["a"] * 100 + ["b"] * 100, "t": ["x"] * 100 + ["x"] * 90 + ["y"] * 10})
    real = pl.DataFrame({"k": ["a"] * 500 + ["b"] * 500, "t": ["x"] * 500 + ["x"] * 450 + ["y"] * 50})
    strangers = pl.DataFrame({"k": ["a"] * 500 + ["b"] * 500, "t": ["y"] * 500 + ["x"] * 450 + ["y"] * 50})
    pair = {"keys": ["k"], "target": "t"}
    assert divulge.abstention(real, synthetic, **pair).context["confidence cut-off"] in (1, 0.9)
    found = divulge.abstention(real, synthetic, holdout=strangers, **pair)
    # down to 1: PRC .5 (1 - tiny) at recall .5; down to .9: PRC .7 at recall 1
    assert found.context["confidence cut-off"] == 0.9
    assert (found.context["recall"], found.context["recall, strangers"]) == (1, 1)
    assert found.context["precision"] == pytest.approx(0.95, abs=0.02)
    assert found.context["precision, strangers"] == pytest.approx(0.45, abs=0.04)
