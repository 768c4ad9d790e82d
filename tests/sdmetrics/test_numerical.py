"""Attackers on numbers, losses and the choice of a distribution, beside plain row by row oracles.

By hand also compared with sdmetrics 0.32.0 and copulas 0.14.1 with scipy 1.17.1: 22 random tables for each of
NumericalLR, MLP, SVR and RadiusNearestNeighbor (np.random.seed(s) there, seed=s here), largest difference 5e-16; 300
columns for the distribution, largest difference of the distribution function 1e-15, the same family each time.
"""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats

from divulge.sdmetrics import numerical, univariate
from divulge.sdmetrics.numerical import (
    METRICS,
    InverseCDFCutoff,
    InverseCDFDistance,
    LossFunction,
    LRAttacker,
    MLPAttacker,
    NumericalRadiusNearestNeighborAttacker,
    SVRAttacker,
    numerical_adapter,
)
from divulge.sdmetrics.univariate import FAMILIES, choose_distribution

METRIC = {name: adapter for name, _, adapter, _ in METRICS}


def table(seed, n):
    z = np.random.default_rng(seed).normal(size=(n, 4))
    z[:, 2] += z[:, 0]
    z[:, 3] += z[:, 1] / 2
    whole = np.round(3 * z[:, 1] + 20).astype(int)
    return pd.DataFrame({"a": z[:, 0], "b": whole, "c": z[:, 2] * 2, "d": np.exp(z[:, 3])})


def rows(frame, names):
    return [tuple(frame[names].iloc[i]) for i in range(len(frame))]


def oracle(predict, real, keys, sensitive, p=2):
    """The mean over real rows of the powers of differences of the two shares."""
    chosen = [choose_distribution(real[s].to_numpy()) for s in sensitive]
    total = 0.0
    for key, truth in zip(rows(real, keys), rows(real, sensitive), strict=True):
        for f, guess, true in zip(chosen, predict(key), truth, strict=True):
            one, other = f.cdf(np.array([guess, true]))
            total += abs(one - other) ** p
    return total / len(real)


def regression(make, synthetic, keys, sensitive, each=False):
    with warnings.catch_warnings(action="ignore"):
        x, y = np.array(synthetic[keys]), np.array(synthetic[sensitive])
        models = [make().fit(x, column) for column in y.T] if each else [make().fit(x, y)]
    return lambda key: np.concatenate([np.ravel(m.predict([key])) for m in models])


@pytest.mark.slow
@pytest.mark.first(1)
@pytest.mark.parametrize(("keys", "sensitive"), [(["a", "b"], ["c"]), (["b"], ["c", "d"])])
def test_regressions_are_those_of_sklearn_row_by_row(keys, sensitive):
    from sklearn.linear_model import LinearRegression
    from sklearn.neural_network import MLPRegressor
    from sklearn.svm import SVR

    real, synthetic = table(1, 40), table(2, 60)
    for name, make, each in [
        ("NumericalLR", LinearRegression, False),
        ("NumericalMLP", lambda: MLPRegressor(random_state=np.random.RandomState(4)), False),
        ("NumericalSVR", SVR, True),
    ]:
        score = METRIC[name](real, synthetic, key_fields=keys, sensitive_fields=sensitive, seed=4)["score"]
        predict = regression(make, synthetic, keys, sensitive, each)
        assert score == pytest.approx(oracle(predict, real, keys, sensitive), abs=1e-9), name


@pytest.mark.slow
def test_the_seed_moves_the_network_alone():
    real, synthetic = table(1, 30), table(2, 40)
    scores = [METRIC["NumericalMLP"](real, synthetic, None, None, ["a"], ["c"], seed=s)["score"] for s in (0, 0, 1)]
    assert scores[0] == scores[1] != scores[2]


@pytest.mark.slow
@pytest.mark.first(1)
@pytest.mark.parametrize(("keys", "sensitive"), [(["a"], ["b"]), (["b"], ["c"]), (["a", "b"], ["c", "d"])])
def test_radius_divides_the_sum_of_all_by_the_number_of_near_rows(keys, sensitive):
    real, synthetic = table(3, 12), table(4, 40)
    chosen = [choose_distribution(synthetic[k].to_numpy()) for k in keys]

    def predict(key):
        near = 0
        for held in rows(synthetic, keys):
            shares = [f.cdf(np.array([k, h])) for f, k, h in zip(chosen, key, held, strict=True)]
            near += sum(abs(s[0] - s[1]) ** 2 for s in shares) < 0.3**2 * len(keys)
        return [synthetic[s].sum() / near if near else 0 for s in sensitive]

    score = METRIC["NumericalRadiusNearestNeighbor"](real, synthetic, key_fields=keys, sensitive_fields=sensitive)
    assert score["score"] == pytest.approx(oracle(predict, real, keys, sensitive), abs=1e-9)


def test_radius_by_hand():
    # a uniform column: shares are (x - 0) / 10, so that a radius of 0.25 holds what is less than 2.5 away
    attacker = NumericalRadiusNearestNeighborAttacker(InverseCDFCutoff, {"p": 2, "cutoff": 0.25})
    attacker.fit(pd.DataFrame({"x": np.arange(11), "y": np.arange(4, 15)}), ["x"], ["y"])
    attacker.weight_func.cdfs = [univariate.Distribution("uniform", lambda x: np.clip(x / 10, 0, 1))]
    assert attacker.predict((5,)) == (99 / 5,)  # 3, 4, 5, 6, 7; the mean of their values is 9
    assert attacker.predict((0,)) == (99 / 3,)
    attacker.weight_func.cutoff = 0.0
    assert attacker.predict((5,)) == (0.0,)
    assert attacker.predict_many(np.array([[0], [5]])).tolist() == [[0.0], [0.0]]


def test_the_cutoff_itself_is_outside():
    weight = InverseCDFCutoff(p=1, cutoff=0.5)
    weight.cdfs = [univariate.Distribution("uniform", lambda x: np.clip(x, 0, 1))]
    assert (weight.measure((0.0,), (0.5,)), weight.measure((0.0,), (0.25,))) == (0, 1)
    assert weight.measure_many(np.array([[0.0], [0.0]]), np.array([[0.5], [0.25]])).tolist() == [0.0, 1.0]


@pytest.mark.slow
def test_blocks_change_nothing(monkeypatch):
    real, synthetic = table(5, 15), table(6, 30)
    radius = METRIC["NumericalRadiusNearestNeighbor"]
    whole = radius(real, synthetic, key_fields=["a", "b"], sensitive_fields=["c"])
    monkeypatch.setattr(numerical, "BLOCK", 1)
    monkeypatch.setattr(univariate, "BLOCK", 1)
    blocks = radius(real, synthetic, key_fields=["a", "b"], sensitive_fields=["c"])
    assert blocks["score"] == pytest.approx(whole["score"], abs=1e-12)


# ---------------------------------------------------------------- losses


def test_loss_by_hand():
    loss = InverseCDFDistance(p=1)
    loss.cdfs = [univariate.Distribution("uniform", lambda x: x / 10), univariate.Distribution("uniform", lambda x: x)]
    assert loss.measure((1, 0.25), (3, 0.5)) == pytest.approx(0.45)
    loss.p = 2
    assert loss.measure((1, 0.25), (3, 0.5)) == pytest.approx(0.04 + 0.0625)
    with pytest.raises(AssertionError, match="1 values, the truth 2"):
        loss.measure((1,), (1, 2))


@pytest.mark.slow
def test_powers_of_the_loss():
    real, synthetic = table(1, 30), table(2, 40)
    for p in (1, 3):
        score = METRIC["NumericalLR"](real, synthetic, None, None, ["a"], ["c"], None, InverseCDFDistance, {"p": p})[
            "score"
        ]
        from sklearn.linear_model import LinearRegression

        predict = regression(LinearRegression, synthetic, ["a"], ["c"])
        assert score == pytest.approx(oracle(predict, real, ["a"], ["c"], p), abs=1e-9)


class Absolute(LossFunction):
    def __init__(self, p=None):
        self.p = p

    def fit(self, data, cols):
        assert isinstance(data, pd.DataFrame) and list(cols) == ["y"]

    def measure(self, pred, real):
        return self.p * abs(pred[0] - real[0])


def test_a_loss_of_ones_own():
    real = pd.DataFrame({"x": [0, 1, 2, 2], "y": [1, 1, 5, 5]})
    synthetic = pd.DataFrame({"x": [0, 1, 2], "y": [0, 1, 2]})
    lr = METRIC["NumericalLR"]
    # losses 1, 0, 3, 3, times the p that SDMetrics gives to any loss
    assert lr(real, synthetic, None, None, ["x"], ["y"], None, Absolute)["score"] == pytest.approx(3.5)
    assert lr(real, synthetic, None, None, ["x"], ["y"], None, Absolute, {"p": 1})["score"] == pytest.approx(1.75)
    with pytest.raises(TypeError):
        lr(real, synthetic, None, None, ["x"], ["y"], None, Absolute, {"q": 1})


def test_a_loss_derived_from_ours_is_asked_by_its_own_method():
    class Nothing(InverseCDFDistance):
        def measure(self, pred, real):
            return 0.5

    real = table(1, 20)
    assert METRIC["NumericalLR"](real, real, None, None, ["a"], ["c"], None, Nothing)["score"] == 0.5


def test_a_weight_of_ones_own():
    class Near:
        def fit(self, data, cols):
            pass

        def measure(self, pred, real):
            return 1 if abs(pred[0] - real[0]) <= 1 else 0

    attacker = NumericalRadiusNearestNeighborAttacker(Near)
    frame = pd.DataFrame({"x": [0, 0, 1, 5], "y": [1, 2, 3, 4]})
    attacker.fit(frame, ["x"], ["y"])
    assert attacker.predict((0,)) == (10 / 3,)
    assert attacker.predict_many(np.array([[0], [3], [6]])).tolist() == [[10 / 3], [0.0], [10.0]]
    kwargs = {"weight_func": Near}
    score = METRIC["NumericalRadiusNearestNeighbor"](frame, frame, None, None, ["x"], ["y"], kwargs)
    assert score["score"] >= 0


def test_base_class_has_to_be_filled():
    loss = LossFunction()
    assert loss.fit(None, []) is None
    with pytest.raises(NotImplementedError):
        loss.measure((1,), (1,))


# ---------------------------------------------------------------- the choice of a distribution


def test_families_and_their_order():
    assert list(FAMILIES) == ["beta", "gamma", "norm", "gaussian_kde", "loglaplace", "t", "truncnorm", "uniform"]


@pytest.mark.first(1)
@pytest.mark.parametrize(
    ("draw", "families"),
    [
        (lambda r: r.normal(5, 2, 200), None),
        (lambda r: r.exponential(3, 200), None),
        (lambda r: r.integers(0, 5, 80), None),
        (lambda r: r.standard_cauchy(200), {"t", "gaussian_kde", "loglaplace"}),
        (lambda r: np.array([1.0, 2.0]), None),
    ],
)
def test_the_least_distance_wins(draw, families):
    values = draw(np.random.default_rng(0))
    found = choose_distribution(values)
    reached = {}
    with warnings.catch_warnings(action="ignore"):
        for family, fit in FAMILIES.items():
            try:
                law = univariate.Distribution(family, fit(values))
                reached[family] = stats.kstest(values, law.cdf).statistic
            except Exception:
                continue
    least = min(v for v in reached.values() if not np.isnan(v))
    assert found.family == next(f for f, v in reached.items() if v == least)
    assert families is None or found.family in families


def test_fits_of_scipy():
    values = np.random.default_rng(1).gamma(2, 3, 150)
    x = np.linspace(-1, 30, 50)
    a, loc, scale = stats.gamma.fit(values)
    assert FAMILIES["gamma"](values)(x) == pytest.approx(stats.gamma.cdf(x, a, loc, scale), abs=0)
    low, high = values.min(), values.max()
    with warnings.catch_warnings(action="ignore"):
        a, b, loc, scale = stats.beta.fit(values, loc=low, scale=high - low)
        found = FAMILIES["beta"](values)
    assert found(x) == pytest.approx(stats.beta.cdf(x, a, b, loc, scale), abs=0)
    assert FAMILIES["norm"](values)(x) == pytest.approx(stats.norm.cdf(x, values.mean(), values.std()), abs=1e-15)
    assert FAMILIES["uniform"](values)(x) == pytest.approx(stats.uniform.cdf(x, low, high - low), abs=1e-15)
    kernels = stats.gaussian_kde(values)
    expected = [kernels.integrate_box_1d(low - 5 * values.std(), v) for v in x]
    assert FAMILIES["gaussian_kde"](values)(x) == pytest.approx(expected, abs=1e-9)


@pytest.mark.first(3)
# cdf at the points, by copulas 0.14.1 with scipy 1.17.1:
# u = Univariate(); u.fit(values); u.cdf(np.array(points, dtype=float))
@pytest.mark.parametrize(
    ("values", "points", "family", "shares"),
    [
        ([1, 2, 2, 3, 3, 3, 4, 9], [0, 3.05, 9], "t", [0.06094608313433024, 0.6245788244498097, 0.9803797850741126]),
        (
            [0.1, 0.2, 0.2, 0.3, 0.5, 0.9, 1.7, 4.0, 9.5],
            [-0.9, 0.55, 9.5],
            "loglaplace",
            [0.0, 0.5620839440679876, 0.932889591393178],
        ),
        ([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], [-1, 4.55, 9], "truncnorm", [0.0, 0.5055584222993998, 0.9999999867681472]),
        ([2.5, 7.0], [1.5, 4.8, 7.0], "gaussian_kde", [0.191284512188493, 0.5051652550110245, 0.7239207651169658]),
        (
            [0, 0, 0, 0, 0, 0, 1, 5],
            [-1, 0.05, 5],
            "gaussian_kde",
            [0.15039749772611488, 0.4136415846357463, 0.9374604331119726],
        ),
        (
            [-0.17, 1.66, 0.66, -1.64, -0.01, -0.62, 0.15, -1.61, 0.24, 0.24, 1.58],
            [-2.64, 0.2, 1.66],
            "gamma",
            [0.0034777375770348755, 0.5660843628402593, 0.9398661944623086],
        ),
        (
            [0.63, 1.04, 1.03, 1.82, -0.39, 0.54, -0.37, -1.42, -0.7, 0.14],
            [-2.42, 0.39, 1.82],
            "uniform",
            [0.0, 0.5586419753086419, 1.0],
        ),
        (
            [0.55, 0.61, 0.55, 0.39, 0.88, 0.4, 0.87, 0.33, 0.63, 0.85, 0.12, 0.17, 0.73],
            [-0.88, 0.6, 0.88],
            "norm",
            [2.3572500785989193e-09, 0.590060236991448, 0.9160294321909632],
        ),
        (
            [1.2, 1.4, 0.32, 0.41, -0.49, -0.91, -0.9, -1.0, 0.93, -0.06, 0.13, -0.64, -1.09],
            [-2.09, -0.01, 1.4],
            "beta",
            [0.0, 0.5747976473982208, 0.9982577540705965],
        ),
    ],
)
def test_golden_shares(values, points, family, shares):
    found = choose_distribution(np.array(values))
    assert found.family == family
    assert found.cdf(np.array(points, dtype=float)) == pytest.approx(
        shares, abs=1e-7
    )  # other versions of scipy search elsewhere


def test_constant_and_empty_columns():
    step = choose_distribution(np.full(5, 3.5))
    assert step.family == "constant"
    assert step.cdf(np.array([3.4, 3.5, 9.0])).tolist() == [0.0, 1.0, 1.0]
    for bad in ([], [1.0, np.nan, 2.0], [np.nan, np.nan], [1.0, np.inf]):
        with pytest.raises(ValueError, match="no distribution fits"):
            choose_distribution(np.array(bad))


# ---------------------------------------------------------------- edges and errors


@pytest.mark.parametrize("name", list(METRIC))
def test_one_real_row(name):
    # the one real value is a step: the loss is 0 from it upwards and 1 below
    assert METRIC[name](table(1, 1), table(2, 30), key_fields=["a"], sensitive_fields=["b"])["score"] in (0.0, 1.0)


@pytest.mark.parametrize("attacker", [LRAttacker, SVRAttacker, MLPAttacker])
def test_one_key_is_answered_as_among_many(attacker):
    model = attacker()
    model.fit(table(1, 30), ["a", "b"], ["c", "d"])
    keys = np.array(table(2, 5)[["a", "b"]])
    assert model.predict_many(keys).shape == (5, 2)
    assert [model.predict(tuple(k)) for k in keys] == [pytest.approx(tuple(g)) for g in model.predict_many(keys)]


@pytest.mark.slow
def test_frames_of_other_kinds():
    real, synthetic = table(1, 20), table(2, 30)
    expected = METRIC["NumericalLR"](real, synthetic, key_fields=["a", "b"], sensitive_fields=["c"])
    others = [pl.DataFrame(f.to_dict("list")) for f in (real, synthetic)]
    assert METRIC["NumericalLR"](*others, key_fields=["a", "b"], sensitive_fields=["c"]) == expected
    assert METRIC["NumericalLR"]({"t": real}, {"t": synthetic}, None, None, ["a", "b"], ["c"]) == expected


@pytest.mark.slow
def test_errors():
    real, synthetic = table(1, 20), table(2, 30)

    def score(name="NumericalLR", real=real, synthetic=synthetic, **more):
        return METRIC[name](real, synthetic, key_fields=["a"], sensitive_fields=["c"], **more)

    gap = pd.Series([None, *range(19)], dtype=float)
    with pytest.raises(ZeroDivisionError, match="no rows"):
        score(real=real.iloc[:0])
    for name in ("NumericalLR", "NumericalRadiusNearestNeighbor"):
        with pytest.raises(ValueError, match="nothing to learn"):
            score(name, synthetic=synthetic.iloc[:0])
    with pytest.raises(ValueError, match="Column a of the synthetic table is missing or infinite"):
        score(synthetic=synthetic.assign(a=gap))
    with pytest.raises(ValueError, match="Column a: no distribution fits"):
        score("NumericalRadiusNearestNeighbor", synthetic=synthetic.assign(a=gap))
    with pytest.raises(ValueError, match="A key of the real table is missing or infinite"):
        score(real=real.assign(a=gap))
    with pytest.raises(ValueError, match="Column c: no distribution fits"):
        score(real=real.assign(c=gap))
    columns = {"columns": {c: {"sdtype": "numerical"} for c in real}}
    with pytest.raises(ValueError, match="Column c is declared numerical and has a value that is no number"):
        score(metadata=columns, synthetic=synthetic.assign(c="x"))
    with pytest.raises(TypeError, match="Column a has invalid data type"):
        score(real=real.assign(a="x"))
    with pytest.raises(TypeError, match="`weight_func` must be a class"):
        score("NumericalRadiusNearestNeighbor", model_kwargs={})
    # a real key without a value has no neighbours
    assert score("NumericalRadiusNearestNeighbor", real=real.assign(a=gap))["score"] > 0
    assert numerical_adapter(LRAttacker)(real, synthetic, key_fields=["a"], sensitive_fields=["c"]) == score()
