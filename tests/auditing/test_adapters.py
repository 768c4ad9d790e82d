"""Python generators of every shape that packages have."""

import random
import threading
import types

import numpy as np
import polars as pl
import pytest
from coin_design import Coins
from functions_that_train import failing, hanging, leaky
from helpers_of_audits import people

import divulge
from divulge.auditing import adapters, trainers
from divulge.auditing.adapters import check_generator, synthesize

pandas = pytest.importorskip("pandas")
TABLE = pl.DataFrame({"age": [1, 2, 3, 4], "ill": ["a", "b", "a", "b"]})


class LikeSdv:
    """SDV's synthesizers: `fit(data)`, `sample(num_rows)`, pandas in and out, no seed."""

    def fit(self, data):
        assert isinstance(data, pandas.DataFrame) and not hasattr(self, "data"), "each training needs a fresh one"
        self.data = data

    def sample(self, num_rows, batch_size=None):
        return self.data.sample(num_rows, replace=True)


class LikeSynthcity:
    """synthcity's plugins: `fit(table)`, `generate(count)`, and `dataframe()` of what comes."""

    def fit(self, table):
        self.data = table
        return self

    def generate(self, count=None, cond=None):
        made = self.data.sample(count, replace=True)
        return types.SimpleNamespace(dataframe=lambda: made)


class LikeScikit:
    """scikit-learn's density models: `sample(n)` gives an array, of mixtures with the components; `random_state`."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def get_params(self, deep=True):
        return {"random_state": self.random_state}

    def set_params(self, random_state):
        self.random_state = random_state

    def fit(self, table):
        self.data = np.asarray(table)

    def sample(self, n):
        rng = np.random.default_rng(self.random_state)
        return self.data[rng.integers(0, len(self.data), n)], np.zeros(n)


class LikeSdv2(LikeSdv):
    """SDV's synthesizers from 2.0 on: tables by name."""

    metadata = types.SimpleNamespace(tables={"people": None})

    def fit(self, data):
        assert list(data) == ["people"]
        super().fit(data["people"])

    def sample(self, num_rows):
        return {"people": super().sample(num_rows)}


LikeSdv2.__module__ = "sdv.single_table.base"


@pytest.fixture(autouse=True)
def sdv(monkeypatch):
    """Have a version of SDV."""
    monkeypatch.setattr(adapters, "version", lambda name: "2.0.0")


@pytest.mark.parametrize(
    "generator", [LikeSdv(), LikeSdv2(), LikeSynthcity(), LikeScikit()], ids=lambda g: type(g).__name__
)
def test_objects_are_trained_afresh_and_with_a_seed(generator):
    table = TABLE.drop("ill") if isinstance(generator, LikeScikit) else TABLE
    made = [synthesize(generator, table, seed, 6) for seed in (5, 5, 6, 7, 8)]
    assert {m.n_rows for m in made} == {6} and made[0].columns == tuple(table.columns)
    assert made[0].named().equals(made[1].named())
    assert any(not made[0].named().equals(m.named()) for m in made[2:])


def with_a_seed(table, *, seed):
    return table.sample(3, seed=seed)


def with_two(table, number):
    return table.sample(3, seed=number)


def alone(table):
    return table.head(random.randint(1, 4))


@pytest.mark.parametrize("generator", [with_a_seed, with_two, alone])
def test_functions_get_the_seed_they_take(generator):
    made = [synthesize(generator, TABLE, seed, 4).named() for seed in (1, 1)]
    assert made[0].equals(made[1])


@pytest.mark.parametrize(("generator", "why"), [(LikeSdv, "class"), (7, "a int is none"), ({}, "a dict is none")])
def test_what_is_no_generator_is_refused(generator, why):
    with pytest.raises(divulge.SettingError, match=why):
        check_generator(generator)


def test_what_is_no_table_is_told():
    with pytest.raises(divulge.FrameError, match="a list is not a table"):
        synthesize(lambda table: [1, 2], TABLE, 0, 4)


@pytest.mark.slow
def test_a_function_runs_in_a_process_of_its_own():
    report = divulge.audit(people(), leaky, design=Coins("ill"), runs=1)
    assert report.audit.notes == () and report.audit.generator == "Python: leaky"
    assert report.verdict == "excess found"


@pytest.mark.slow
def test_an_error_of_a_function_is_told_by_its_kind_or_its_log(tmp_path):
    with pytest.raises(divulge.DivulgeError, match="raised ValueError") as caught:
        divulge.audit(people(), failing, design=Coins("ill"), runs=1, keep=tmp_path / "kept")
    assert "no training on" not in str(caught.value)
    assert "no training on" in (tmp_path / "kept" / "0000" / "log.txt").read_text()


def test_a_function_that_no_process_can_get_runs_here():
    lock = threading.Lock()

    def locked(table):
        with lock:
            return table if table.height == 60 else failing(table)

    report = divulge.audit(people(), locked, design=Coins("ill"), runs=2, jobs=4)
    assert "one at a time, without a limit of time" in report.audit.notes[0]
    assert report.verdict == "excess found"
    with pytest.raises(divulge.DivulgeError, match="raised ValueError") as caught:
        divulge.audit(people(40), locked, design=Coins("ill"), runs=2)
    assert "no training on" not in str(caught.value)


@pytest.mark.slow
def test_a_function_without_a_name_has_a_process_and_a_time_limit():
    share = 60
    report = divulge.audit(people(), lambda table: leaky(table, share), design=Coins("ill"), runs=1)
    assert report.audit.notes == () and report.verdict == "excess found"
    with pytest.raises(divulge.DivulgeError, match="was stopped at the time limit of 1 second"):
        divulge.audit(people(), lambda table: hanging(table, share), design=Coins("ill"), runs=1, timeout=1)


@pytest.mark.parametrize("generator", ["cat {train} {synthetic}", leaky])
def test_a_system_without_process_groups_is_told(generator, monkeypatch):
    monkeypatch.setattr(trainers, "GROUPS", False)
    if isinstance(generator, str):
        with pytest.raises(divulge.SettingError, match=r"no process groups.*Linux, macOS or WSL"):
            divulge.audit(people(), generator, design=Coins("ill"))
        return
    report = divulge.audit(people(), generator, design=Coins("ill"), runs=2)
    assert "no process groups" in report.audit.notes[0] and report.verdict == "excess found"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_itself():
    neighbors, mixture = pytest.importorskip("sklearn.neighbors"), pytest.importorskip("sklearn.mixture")
    numbers = pl.DataFrame({"a": np.arange(40.0), "b": np.arange(40.0) ** 2})
    for generator in (neighbors.KernelDensity(bandwidth=0.1), mixture.GaussianMixture(2)):
        made = synthesize(generator, numbers, 3, 10)
        assert made.columns == ("a", "b") and made.n_rows == 10
    again = synthesize(mixture.GaussianMixture(2), numbers, 3, 10)
    assert again.named().equals(made.named())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_smote_of_imbalanced_learn_in_a_function():
    over_sampling = pytest.importorskip("imblearn.over_sampling")

    def smote(table, seed):
        frame = table.to_pandas()
        keys, ill = frame[["age"]], frame["ill"]
        many = {value: 2 * n for value, n in ill.value_counts().items()}
        made, label = over_sampling.SMOTE(sampling_strategy=many, random_state=seed, k_neighbors=2).fit_resample(
            keys, ill
        )
        return made.assign(ill=label, zip=frame["zip"].sample(len(made), replace=True).to_numpy())[len(frame) :]

    report = divulge.audit(people(), smote, design=Coins("ill"), runs=2)
    assert report.audit.trainings.done == 2
