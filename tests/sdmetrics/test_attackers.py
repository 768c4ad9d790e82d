"""Attackers on categories beside a row by row oracle, as SDMetrics 0.32.0 goes about it.

By hand also compared with sdmetrics 0.32.0 itself, scikit-learn 1.9.1: 24 random tables of 30 to 3,000 rows for each of
CategoricalKNN, NB, RF, SVM and two ensembles, np.random.seed(s) there and seed=s here: difference 0.
"""

import warnings
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest

from divulge.sdmetrics import attackers, classifiers, guessing
from divulge.sdmetrics.attackers import CAPAttacker, GeneralizedCAPAttacker, PrivacyAttackerModel, ZeroCAPAttacker
from divulge.sdmetrics.attackers import tuples_of as tuples
from divulge.sdmetrics.classifiers import (
    CategoricalKNNAttacker,
    CategoricalNBAttacker,
    CategoricalRFAttacker,
    CategoricalSVMAttacker,
)
from divulge.sdmetrics.columns import frame_of, same_dtype
from divulge.sdmetrics.guessing import CategoricalEnsembleAttacker, categorical_adapter, categorical_ensemble

SKLEARN = [CategoricalKNNAttacker, CategoricalNBAttacker, CategoricalRFAttacker, CategoricalSVMAttacker]


def table(seed, n, kind="text"):
    rng = np.random.default_rng(seed)
    columns = {}
    for j in range(4):
        codes = rng.integers(0, 3 + j % 2, n)
        values = np.array(list("pqrst"), dtype=object)[codes]
        if kind == "gaps":
            values[rng.random(n) < 0.2] = None if j % 2 else np.nan
        if kind == "mixed" and j != 2:
            values = [codes / 2, codes, None, codes > 0][j]
        columns[f"c{j}"] = pd.Series(values, dtype=object if kind == "gaps" else None)
    return pd.DataFrame(columns)


def rows(frame, names):
    part = frame_of(frame, "frame")
    return tuples(same_dtype([part[n] for n in names]))


class Model:
    """One row at a time: sklearn's own encoders, and a model for one or for all sensitive columns."""

    def __init__(self, make, ordinal=False, each=False):
        from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

        self.make, self.each = make, each
        self.keys = OrdinalEncoder() if ordinal else OneHotEncoder()
        self.sensitive = OrdinalEncoder()

    def fit(self, frame, keys, sensitive):
        x = self.keys.fit_transform(self.text(frame[keys]))
        y = self.sensitive.fit_transform(self.text(frame[sensitive]))
        self.models = [self.make().fit(x, c) for c in y.T] if self.each else [self.make().fit(x, y)]

    @staticmethod
    def text(part):
        return part.map(lambda v: "place_holder_for_nan" if v is None or v != v else v)

    def predict(self, key):
        try:
            x = self.keys.transform([["place_holder_for_nan" if v is None or v != v else v for v in key]])
        except ValueError:
            return None
        y = np.concatenate([np.atleast_1d(np.squeeze(m.predict(x))) for m in self.models])
        return tuple(self.sensitive.inverse_transform([y])[0])


def oracle_of(attacker, seed):
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.naive_bayes import CategoricalNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.svm import SVC

    return {
        CategoricalKNNAttacker: lambda: Model(KNeighborsClassifier),
        CategoricalNBAttacker: lambda: Model(CategoricalNB, ordinal=True, each=True),
        CategoricalRFAttacker: lambda: Model(lambda: RandomForestClassifier(random_state=np.random.RandomState(seed))),
        CategoricalSVMAttacker: lambda: Model(SVC, each=True),
    }[attacker]()


def oracle_score(model, real, synthetic, keys, sensitive):
    with warnings.catch_warnings(action="ignore"):
        model.fit(synthetic, keys, sensitive)
        truth = [tuple("?" if v is None or v != v else v for v in t) for t in rows(real, sensitive)]
        hits = [model.predict(k) == t for k, t in zip(rows(real, keys), truth, strict=True)]
    return 1 - sum(hits) / len(hits)


@pytest.mark.slow
@pytest.mark.first(4)
@pytest.mark.parametrize("attacker", SKLEARN)
@pytest.mark.parametrize("kind", ["text", "mixed", "gaps"])
@pytest.mark.parametrize("sensitive", [["c3"], ["c2", "c3"]])
def test_models_are_those_of_sklearn_row_by_row(attacker, kind, sensitive):
    real, synthetic = table(1, 40, kind), table(2, 70, kind)
    real.loc[[0, 1], "c1"] = 9 if kind == "mixed" else "unseen"
    keys = ["c0", "c1"]
    score = categorical_adapter(attacker)(real, synthetic, key_fields=keys, sensitive_fields=sensitive, seed=3)["score"]
    assert score == oracle_score(oracle_of(attacker, 3), real, synthetic, keys, sensitive)


def test_neighbours_at_one_distance_are_the_same_in_a_batch_and_alone():
    real, synthetic = table(3, 60), table(4, 1500)
    keys, sensitive = ["c0", "c1", "c2"], ["c3"]
    score = categorical_adapter(CategoricalKNNAttacker)(real, synthetic, key_fields=keys, sensitive_fields=sensitive)
    assert score["score"] == oracle_score(oracle_of(CategoricalKNNAttacker, 0), real, synthetic, keys, sensitive)


@pytest.mark.slow
def test_blocks_change_nothing(monkeypatch):
    real, synthetic = table(5, 30), table(6, 60)
    metrics = [categorical_adapter(a) for a in SKLEARN]
    whole = [m(real, synthetic, key_fields=["c0", "c1"], sensitive_fields=["c3"]) for m in metrics]
    monkeypatch.setattr(classifiers, "BLOCK", 1)
    assert [m(real, synthetic, key_fields=["c0", "c1"], sensitive_fields=["c3"]) for m in metrics] == whole


def test_seed_is_that_of_numpy_and_models_share_it():
    # numpy's own generator and ours draw alike; a machine before the forest takes one draw
    from sklearn.ensemble import RandomForestClassifier

    synthetic = table(7, 50)
    pair = CategoricalEnsembleAttacker([CategoricalSVMAttacker, CategoricalRFAttacker])
    guessing._draw_from(pair, np.random.RandomState(11))
    pair.fit(synthetic, ["c0"], ["c1"])
    random = np.random.RandomState(11)
    random.randint(np.iinfo("i").max)
    x = pair.attackers[1]._matrix(np.stack([c.codes for c in pair.attackers[1]._keys], axis=1))
    y = pair.attackers[1]._sensitive[0].codes.astype(float)
    expected = RandomForestClassifier(random_state=random).fit(x, y)
    assert [t.random_state for t in expected] == [t.random_state for t in pair.attackers[1]._model]


# ---------------------------------------------------------------- by hand


def hand():
    return pd.DataFrame(
        {"age": [30, 30, 30, 40, 40, 50], "ill": ["no", "yes", "yes", "no", "yes", "no"], "sex": list("ffmmmf")}
    )


def test_missing_sensitive_values_are_never_guessed():
    # two of four rows are missing: the model learns a text for them, the real rows keep None
    frame = pd.DataFrame({"k": list("aabb"), "t": pd.Series(["x", "x", None, None], dtype=object)})
    score = categorical_adapter(CategoricalNBAttacker)(frame, frame, key_fields=["k"], sensitive_fields=["t"])
    assert score == {"score": 0.5}


def test_unseen_keys_count_as_protected():
    real = pd.DataFrame({"k": ["a", "z"], "t": ["x", "x"]})
    synthetic = pd.DataFrame({"k": ["a", "b"], "t": ["x", "x"]})
    score = categorical_adapter(CategoricalNBAttacker)(real, synthetic, key_fields=["k"], sensitive_fields=["t"])
    assert score == {"score": 0.5}


def test_fields_are_compared_together():
    real = pd.DataFrame({"k": ["a"], "t": ["x"], "u": ["q"]})
    synthetic = pd.DataFrame({"k": ["a", "a", "a"], "t": ["x", "x", "y"], "u": ["p", "p", "q"]})
    nb = categorical_adapter(CategoricalNBAttacker)
    assert nb(real, synthetic, key_fields=["k"], sensitive_fields=["t"]) == {"score": 0.0}
    assert nb(real, synthetic, key_fields=["k"], sensitive_fields=["t", "u"]) == {"score": 1.0}


def test_equal_counts_go_to_the_value_that_gets_there_first():
    attacker = CAPAttacker()
    attacker.fit(pd.DataFrame({"k": ["a"] * 4, "t": list("xyyx")}), ["k"], ["t"])
    assert attacker.predict(("a",)) == ("y",)  # two of each; y has its second one first
    assert attacker.predict(("b",)) is None


def test_cap_by_hand():
    attacker = CAPAttacker()
    attacker.fit(hand(), ["age"], ["ill"])
    assert attacker.score((30,), ("yes",)) == 2 / 3
    assert attacker.score((60,), ("yes",)) is None
    zero = ZeroCAPAttacker()
    zero.fit(hand(), ["age"], ["ill"])
    assert zero.score((60,), ("yes",)) == 0 and zero.score((30,), ("never",)) == 0


def test_nearest_keys_are_pooled_in_order_of_first_appearance():
    frame = pd.DataFrame({"a": [1, 2, 2, 1], "b": [1, 2, 2, 1], "t": list("xyyx")})
    attacker = GeneralizedCAPAttacker()
    attacker.fit(frame, ["a", "b"], ["t"])
    # both keys differ in one field: x, x of the first, then y, y of the second; in the order of rows y has two first
    assert attacker.predict((1, 2)) == ("x",)
    asked = attackers.distinct_rows(frame_of(pd.DataFrame({"a": [1], "b": [2]}), "asked"), ["a", "b"])[0]
    assert attacker.predict_many(asked) == (np.array([0]), [("x",), ("y",)])
    assert attacker.score((1, 2), ("x",)) == 0.5
    assert attacker.score((1, 1), ("x",)) == 1.0
    empty = GeneralizedCAPAttacker()
    empty.fit(frame.iloc[:0], ["a"], ["t"])
    assert empty.predict((1,)) is None
    with pytest.raises(ZeroDivisionError, match="no rows"):
        empty.score((1,), ("x",))


@pytest.mark.parametrize("attacker", [CAPAttacker, ZeroCAPAttacker, GeneralizedCAPAttacker])
@pytest.mark.parametrize("kind", ["text", "mixed", "gaps"])
def test_many_keys_are_answered_as_one(attacker, kind):
    real, synthetic = table(8, 60, kind), table(9, 40, kind)
    for keys in (["c0"], ["c0", "c1"], ["c0", "c1", "c2"]):
        model = attacker()
        model.fit(synthetic, keys, ["c2", "c3"])
        columns = attackers.distinct_rows(frame_of(real, "real"), keys)[0]
        found = model.predict_many(columns)
        many = [found.outcomes[i] if i >= 0 else None for i in found.which]
        assert many == [model.predict(k) for k in tuples(columns)]
        assert kind != "text" or any(many)


@pytest.mark.parametrize("attacker", SKLEARN)
def test_one_key_is_answered_as_among_many(attacker):
    model = attacker()
    model.fit(table(9, 50, "gaps"), ["c0", "c1"], ["c3"])
    columns = attackers.distinct_rows(frame_of(table(8, 30, "gaps"), "real"), ["c0", "c1"])[0]
    found = model.predict_many(columns)
    assert [found.outcomes[i] if i >= 0 else None for i in found.which] == [model.predict(k) for k in tuples(columns)]
    assert model.predict(("unseen", "p")) is None


# ---------------------------------------------------------------- ensembles and attackers of one's own


class Always(PrivacyAttackerModel):
    guess: tuple | None = ("x",)

    def __init__(self):
        self.asked = []

    def fit(self, synthetic_data, key_fields, sensitive_fields):
        assert isinstance(synthetic_data, pd.DataFrame) and list(key_fields) == ["k"]

    def predict(self, key_data):
        self.asked.append(key_data)
        return self.guess


class AlwaysY(Always):
    guess = ("y",)


class Never(Always):
    guess = None


def vote(*classes):
    real = pd.DataFrame({"k": [1, 1, 2, 2], "t": list("xxxy")})
    return categorical_ensemble(
        real, real, key_fields=["k"], sensitive_fields=["t"], model_kwargs={"attackers": list(classes)}
    )["score"]


def test_votes_of_attackers():
    assert vote(Always) == 0.25
    assert vote(AlwaysY) == 0.75
    assert vote(Never) == 1.0
    assert vote(AlwaysY, Always) == 0.75  # one each: the first attacker's
    assert vote(AlwaysY, Always, Always) == 0.25
    assert vote(Never, Never, AlwaysY) == 0.75  # no guess is no vote
    assert vote(CAPAttacker) == 0.25
    assert vote(CAPAttacker, AlwaysY, lambda: AlwaysY()) == 0.75


def test_an_attacker_of_ones_own_is_asked_once_for_each_key():
    model = Always()
    real = pd.DataFrame({"k": [1, 1, 2, 2], "t": list("xxxy")})
    assert categorical_adapter(lambda: model)(real, real, key_fields=["k"], sensitive_fields=["t"])["score"] == 0.25
    assert model.asked == [(1,), (2,)]


def test_a_class_derived_from_ours_is_asked_by_its_own_method():
    class Worse(CAPAttacker):
        def predict(self, key_data):
            return ("y",)

    assert vote(Worse) == 0.75


def test_a_guess_that_is_no_tuple_is_told():
    class Lists(Always):
        guess = ["x"]  # noqa: RUF012

    with pytest.raises(TypeError, match=r"Lists\.predict must return a tuple"):
        vote(Lists)


def test_majority_beside_a_plain_count():
    votes = np.random.default_rng(0).integers(-1, 4, (7, 500))

    def plain(column):
        counts, best, most = Counter(), -1, 0
        for v in column:
            if v >= 0:
                counts[v] += 1
                if counts[v] > most:
                    best, most = v, counts[v]
        return best

    assert guessing._majorities(votes).tolist() == [plain(c) for c in votes.T]


def test_ensemble_without_attackers_returns_an_error():
    real = hand()
    for kwargs, words in [
        (None, "No attackers specified."),
        ({}, "No attackers specified."),
        ({"attackers": []}, "Zero attackers specified"),
        ({"attackers": (CAPAttacker,)}, "Zero attackers specified"),
    ]:
        found = categorical_ensemble(real, real, model_kwargs=kwargs)["score"]
        assert isinstance(found, ValueError) and str(found) == words


def test_base_class_has_to_be_filled():
    base = PrivacyAttackerModel()
    for call in (lambda: base.fit(None, [], []), lambda: base.predict(()), lambda: base.score((), ())):
        with pytest.raises(NotImplementedError):
            call()


# ---------------------------------------------------------------- edges and errors


@pytest.mark.parametrize("attacker", [CategoricalNBAttacker, CategoricalRFAttacker, CategoricalSVMAttacker])
def test_one_real_row(attacker):
    metric = categorical_adapter(attacker)
    assert metric(hand().iloc[:1], hand(), key_fields=["sex"], sensitive_fields=["ill"])["score"] in (0.0, 1.0)


def test_dates_declared_categorical_are_categories():
    real = pd.DataFrame({"d": pd.to_datetime(["2020-01-01", "2020-01-02"] * 4), "t": ["x", "y"] * 4})
    metadata = {"columns": {c: {"sdtype": "categorical"} for c in real}}
    nb = categorical_adapter(CategoricalNBAttacker)
    assert nb(real, real, metadata, key_fields=["d"], sensitive_fields=["t"])["score"] == 0.0
    assert nb(real, real, metadata, key_fields=["t"], sensitive_fields=["d"])["score"] == 0.0
    with pytest.raises(ValueError, match="missing dates"):
        nb(real, real.assign(d=real.d.where(real.index > 0)), metadata, key_fields=["d"], sensitive_fields=["t"])
    numbers = real.assign(n=1)
    more = {"columns": {c: {"sdtype": "categorical"} for c in numbers}}
    with pytest.raises(TypeError, match="dates beside numbers"):
        nb(numbers, numbers, more, key_fields=["t"], sensitive_fields=["d", "n"])


def test_frames_of_other_kinds_and_other_indices():
    nb = categorical_adapter(CategoricalNBAttacker)
    expected = nb(hand(), hand(), key_fields=["age", "sex"], sensitive_fields=["ill"])
    other = pl.DataFrame(hand().to_dict("list"))
    assert nb(other, other, key_fields=["age", "sex"], sensitive_fields=["ill"]) == expected
    shifted = hand().set_index(pd.Index(range(10, 16)))
    assert nb({"t": shifted}, {"t": shifted}, key_fields=["age", "sex"], sensitive_fields=["ill"]) == expected


def test_errors():
    def score(attacker, real, synthetic, keys, sensitive, **more):
        return categorical_adapter(attacker)(real, synthetic, key_fields=keys, sensitive_fields=sensitive, **more)

    frame = hand()
    with pytest.raises(ValueError, match="greater than one"):
        score(CategoricalSVMAttacker, frame, frame.assign(ill="no"), ["age"], ["ill"])
    with pytest.raises(ValueError, match="has 3 rows; the attacker asks 5 neighbours"):
        score(CategoricalKNNAttacker, frame, frame.iloc[:3], ["age"], ["ill"])
    assert score(CategoricalKNNAttacker, frame.assign(age=9), frame.iloc[:3], ["age"], ["ill"]) == {"score": 1.0}
    with pytest.raises(ValueError, match="nothing to learn"):
        score(CategoricalNBAttacker, frame, frame.iloc[:0], ["age"], ["ill"])
    with pytest.raises(ZeroDivisionError, match="no rows"):
        score(CategoricalNBAttacker, frame.iloc[:0], frame, ["age"], ["ill"])
    with pytest.raises(TypeError, match="Column age of the synthetic table mixes types"):
        score(CategoricalNBAttacker, frame, frame.assign(age=[1.5, np.nan, 2, 3, 4, 5]), ["age"], ["ill"])
    with pytest.raises(ValueError, match="Column age of the synthetic table holds an infinite number"):
        score(CategoricalNBAttacker, frame, frame.assign(age=[1.5, np.inf, 2, 3, 4, 5]), ["age"], ["ill"])
    nullable = frame.assign(age=pd.array([1, None, 2, 3, 4, 5], dtype="Int64"))
    with pytest.raises(ValueError, match="Column age has missing values of a nullable dtype"):
        score(CategoricalNBAttacker, frame, nullable, ["age"], ["ill"])
    # one-hot keys take them as a category of their own, as SDMetrics does
    assert 0 <= score(CategoricalRFAttacker, nullable, nullable, ["age"], ["ill"])["score"] <= 1
    with pytest.raises(TypeError):
        score(CategoricalNBAttacker, frame, frame, ["age"], ["ill"], model_kwargs={"unknown": 1})
