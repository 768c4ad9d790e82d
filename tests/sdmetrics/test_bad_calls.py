"""Calls that a person gets wrong: the error names the column or the argument, and says what to do.

Scores are those of SDMetrics 0.32.0 with pandas 2.3.3, from the same call after `np.random.seed(0)`.
"""

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("sklearn")
pytest.importorskip("scipy")

from divulge import sdmetrics
from divulge.sdmetrics.attackers import CAPAttacker, GeneralizedCAPAttacker

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

NAN = float("nan")
TABLE = pd.DataFrame(
    {
        "k": list("aabbccaabb"),
        "s": list("xyxyxyxyxx"),
        "n": range(10),
        "m": [1.5 * i for i in range(10)],
    }
)
TYPES = {"k": "categorical", "s": "categorical", "n": "numerical", "m": "numerical"}
METADATA = {"columns": {name: {"sdtype": sdtype} for name, sdtype in TYPES.items()}}
CAPS = ("CategoricalCAP", "CategoricalZeroCAP", "CategoricalGeneralizedCAP")
LEARNERS = ("CategoricalKNN", "CategoricalNB", "CategoricalRF", "CategoricalSVM")
DISCLOSURE = ("DisclosureProtection", "DisclosureProtectionEstimate")
CLOSEST = ("DCROverfittingProtection", "DCRBaselineProtection")


def guessed(metric, table=TABLE, keys=("k",), sensitive=("s",), metadata=None, **more):
    fields = {"key_fields": list(keys), "sensitive_fields": list(sensitive)}
    return getattr(sdmetrics, metric).compute(table, table, metadata, **fields | more)


def disclosed(metric, table=TABLE, known=("k",), sensitive=("s",), **more):
    return getattr(sdmetrics, metric).compute_breakdown(table, table, known, sensitive, **more)


def closest(metric, table=TABLE, metadata=METADATA, **more):
    tables = (table,) * (3 if metric.startswith("DCRO") else 2)
    return getattr(sdmetrics, metric).compute_breakdown(*tables, metadata, **more)


def new_rows(table=TABLE, metadata=METADATA, **more):
    return sdmetrics.NewRowSynthesis.compute(table, table, metadata, **more)


def learnt(**more):
    return guessed("NumericalLR", TABLE, ["n"], ["m"], METADATA, **more)


# ---------------------------------------------------------------- tables


def test_a_range_that_overflows_beside_missing_values():
    real = pd.DataFrame({"x": np.array([-100, 0, 100], "int8"), "y": [1, 2, 3]})
    synthetic = real.assign(y=[1.0, NAN, 3.0])
    metadata = {"columns": {"x": {"sdtype": "numerical"}, "y": {"sdtype": "numerical"}}}
    shares = {"closer_to_training": 0.0, "closer_to_holdout": 1.0}
    for a, b in ((real, synthetic), (synthetic, real)):
        found = sdmetrics.DCROverfittingProtection.compute_breakdown(a, b, real, metadata)
        assert found == {"score": 1.0, "synthetic_data_percentages": shares}
    found = sdmetrics.DCRBaselineProtection.compute_breakdown(real, synthetic, metadata)
    median = found["median_DCR_to_real_data"]["synthetic_data"]
    assert median == pytest.approx(-0.6428571428571429, rel=0, abs=1e-9)  # the range wraps to -56


@pytest.mark.parametrize("dtype", ["Int64", "boolean", "string"])
def test_na_in_a_key_of_generalized_cap_names_the_column(dtype):
    key = pd.array([1, 0, None] * 3 + [1] if dtype != "string" else ["p", "q", None] * 3 + ["p"], dtype=dtype)
    table = TABLE.assign(k=key)
    with pytest.raises(TypeError, match=r"^Column 'k' has missing values of a nullable dtype.*hint"):
        guessed("CategoricalGeneralizedCAP", table)
    attacker = GeneralizedCAPAttacker()
    attacker.fit(table, ["k"], ["s"])
    with pytest.raises(TypeError, match=r"^Column 'k' has missing values of a nullable dtype"):
        attacker.predict((1,))
    text = table.assign(k=table["k"].astype("string").fillna("none").astype(object))
    assert 0 <= guessed("CategoricalGeneralizedCAP", text) <= 1


NESTED = {"list": [[1, 2], [3]] * 5, "dict": [{"secret": 1}] * 10, "set": [{1}, {2}] * 5}


@pytest.mark.parametrize("kind", NESTED)
@pytest.mark.parametrize(
    "call",
    [
        *(lambda t, m=m: guessed(m, t) for m in CAPS + LEARNERS),
        *(lambda t, m=m: guessed(m, t, ["s"], ["k"]) for m in CAPS + LEARNERS),
        *(lambda t, m=m: disclosed(m, t) for m in DISCLOSURE),
        *(lambda t, m=m: disclosed(m, t, ["s"], ["k"]) for m in DISCLOSURE),
        *(lambda t, m=m: disclosed(m, t.assign(k=[None, *t["k"][1:]])) for m in DISCLOSURE),
        lambda t: new_rows(t),
        lambda t: guessed("CategoricalEnsemble", t, model_kwargs={"attackers": [CAPAttacker]}),
    ],
)
def test_a_list_as_value_names_the_column_and_asks_for_text(call, kind):
    with pytest.raises(TypeError, match=rf"^Column 'k' has a value of type {kind}.*turn the column into text") as error:
        call(TABLE.assign(k=NESTED[kind]))
    assert "secret" not in str(error.value)


@pytest.mark.parametrize("kind", NESTED)
@pytest.mark.parametrize("metric", CLOSEST)
def test_the_closest_record_of_a_list_is_that_of_its_text(metric, kind):
    table = TABLE.assign(k=NESTED[kind])
    assert closest(metric, table) == closest(metric, table.assign(k=table["k"].map(repr)))


def test_an_attacker_asked_for_one_key_names_the_column():
    for keys, sensitive in ((["k"], ["s"]), (["s"], ["k"])):
        attacker = CAPAttacker()
        attacker.fit(TABLE.assign(k=NESTED["list"]), keys, sensitive)
        with pytest.raises(TypeError, match=r"^Column 'k' has a value of type list"):
            attacker.predict(("a",))


def test_a_column_that_mixes_types_is_still_called_that():
    with pytest.raises(TypeError, match="Column k of the synthetic table mixes types"):
        guessed("CategoricalKNN", TABLE.assign(k=[1, "1"] * 5))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (np.arange(10, dtype="uint8"), "unsigned whole numbers"),
        (pd.to_timedelta(np.arange(10), unit="s"), "timedeltas"),
        (np.arange(10) * 1j, "complex numbers"),
    ],
)
def test_a_dtype_without_sdtype_keeps_the_published_text_and_has_a_note(values, words):
    table = TABLE.assign(k=values)
    calls = [lambda: guessed("CategoricalCAP", table), lambda: guessed("NumericalLR", table, sensitive=["n"])]
    for call in [*calls, *(lambda m=m: disclosed(m, table) for m in DISCLOSURE)]:
        with pytest.raises(TypeError) as error:
            call()
        assert str(error.value) == "Column k has invalid data type None"
        assert words in error.value.__notes__[0]
        assert "pass metadata" in error.value.__notes__[0]
    if words != "unsigned whole numbers":
        with pytest.raises(AttributeError, match=f"'k' holds {words}.*pass metadata"):
            new_rows(table, None)


def test_another_invalid_type_has_no_note():
    with pytest.raises(TypeError, match=r"^Column d has invalid data type {'sdtype': 'datetime'}$") as error:
        guessed("CategoricalCAP", TABLE.assign(d=pd.Timestamp("2024-01-01")), keys=["d"])
    assert not hasattr(error.value, "__notes__")


def test_a_lone_surrogate_in_a_name_and_in_values_is_no_trouble():
    name = "\ud800"
    table = pd.DataFrame({"k": list("aabbccaabb"), "s": pd.Series(["\ud801", "b"] * 5, dtype=object)}, dtype=object)
    table.columns = pd.Index([name, "s"], dtype=object)
    metadata = {"columns": {name: {"sdtype": "categorical"}, "s": {"sdtype": "categorical"}}}
    for metric in CAPS + LEARNERS:
        assert 0 <= guessed(metric, table, [name]) <= 1
    for metric in DISCLOSURE:
        assert disclosed(metric, table, [name])["score"] == 1.0
    assert closest("DCROverfittingProtection", table, metadata)["score"] == 1.0
    assert np.isnan(closest("DCRBaselineProtection", table, metadata)["score"])
    assert new_rows(table, metadata) == 0.0
    with pytest.raises(TypeError, match="has a value of type list"):
        guessed("CategoricalCAP", table.assign(**{name: [[1]] * 10}), [name])


# ---------------------------------------------------------------- numbers among the arguments


def test_true_is_a_number_only_where_sdmetrics_gives_a_score_for_it():
    with pytest.raises(ValueError, match=r"^`num_rows_subsample` must be an integer greater than zero.$"):
        disclosed("DisclosureProtectionEstimate", num_rows_subsample=True)
    for metric in CLOSEST:
        for more in ({}, {"num_iterations": True}):
            with pytest.raises(ValueError, match=r"^num_rows_subsample \(True\) must be an integer greater than 1.$"):
                closest(metric, num_rows_subsample=True, **more)
        assert closest(metric, num_rows_subsample=2, num_iterations=True)
        assert closest(metric, num_iterations=True) == closest(metric, num_iterations=1)
    one = disclosed("DisclosureProtectionEstimate", num_iterations=1)
    assert disclosed("DisclosureProtectionEstimate", num_iterations=True) == one
    cut = {"known": ["n"], "continuous_column_names": ["n"]}
    for metric in DISCLOSURE:
        found = disclosed(metric, num_discrete_bins=True, **cut)
        assert found == disclosed(metric, num_discrete_bins=1, **cut)
        assert found["score"] == pytest.approx(0.96, rel=0, abs=1e-9)


@pytest.mark.parametrize("bins", [10**6 + 1, 10**9, 2**70])
def test_more_than_a_million_bins_are_refused_at_once(bins):
    for metric in DISCLOSURE:
        with pytest.raises(ValueError, match=r"^`num_discrete_bins` is more than 1000000. hint"):
            disclosed(metric, known=["n"], continuous_column_names=["n"], num_discrete_bins=bins)
        # they are not looked at without a column to cut
        assert disclosed(metric, num_discrete_bins=bins)["baseline_protection"] == 0.5


@pytest.mark.parametrize("wrong", ["5", None, [2]])
def test_a_number_of_draws_of_another_type(wrong):
    for metric in CLOSEST:
        with pytest.raises(TypeError, match=f"^`num_iterations` is of type {type(wrong).__name__}"):
            closest(metric, num_iterations=wrong)
        with pytest.raises(ValueError, match=r"^num_iterations \(.*\) must be an integer greater than 1.$"):
            closest(metric, num_iterations=wrong, num_rows_subsample=2)
    for argument in ("num_iterations", "num_rows_subsample"):
        with pytest.raises(ValueError, match=f"^`{argument}` must be an integer greater than zero.$"):
            disclosed("DisclosureProtectionEstimate", **{argument: wrong})


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ("5", TypeError),
        (True, TypeError),
        ([5], TypeError),
        (-1, ValueError),
        (2.5, ValueError),
        (-(2**70), ValueError),
    ],
)
def test_a_sample_that_is_no_number_of_rows(wrong, error):
    with pytest.raises(error, match=r"^`synthetic_sample_size` must be a whole number"):
        new_rows(synthetic_sample_size=wrong)


@pytest.mark.parametrize(("wrong", "error"), [("x", TypeError), (None, TypeError), (NAN, ValueError)])
def test_a_tolerance_that_is_no_number(wrong, error):
    with pytest.raises(error, match=r"^`numerical_match_tolerance` must be a number, not"):
        new_rows(numerical_match_tolerance=wrong)


def test_a_huge_tolerance():
    moved = TABLE.assign(n=TABLE["n"] + 5, m=TABLE["m"] - 3)
    for tolerance in (2**63, 2**70, -(2**70)):
        found = sdmetrics.NewRowSynthesis.compute(TABLE, moved, METADATA, numerical_match_tolerance=tolerance)
        assert found == sdmetrics.NewRowSynthesis.compute(TABLE, moved, METADATA, numerical_match_tolerance=2.0**70)
        assert found == 0.1  # of the 0 among the floats
    with pytest.raises(OverflowError, match=r"^`numerical_match_tolerance` is too large"):
        new_rows(numerical_match_tolerance=10**400)


# ---------------------------------------------------------------- names, classes and settings


@pytest.mark.parametrize("wrong", [None, 5])
def test_a_method_that_is_no_text(wrong):
    for metric in DISCLOSURE:
        with pytest.raises(TypeError, match=f"^`computation_method` is of type {type(wrong).__name__}.*'zero_cap'"):
            disclosed(metric, computation_method=wrong)


@pytest.mark.parametrize(
    ("argument", "wrong", "words"),
    [
        ("known", None, "`known_column_names` is of type NoneType"),
        ("known", 3, "`known_column_names` is of type int"),
        ("known", [["k"]], "`known_column_names` holds a value of type list"),
        ("sensitive", None, "`sensitive_column_names` is of type NoneType"),
        ("sensitive", 3, "`sensitive_column_names` is of type int"),
        ("sensitive", ["s", {"k"}], "`sensitive_column_names` holds a value of type set"),
        ("continuous_column_names", 5, "`continuous_column_names` is of type int"),
        ("continuous_column_names", [["n"]], "`continuous_column_names` holds a value of type list"),
    ],
)
def test_names_of_columns_that_are_none(argument, wrong, words):
    for metric in DISCLOSURE:
        with pytest.raises(TypeError, match=f"^{words}; it must be a list of names of columns"):
            disclosed(metric, **{argument: wrong})


def test_continuous_columns_may_be_any_list_of_names():
    expected = disclosed("DisclosureProtection", known=["n", "m"], continuous_column_names=["n", "m"])
    for names in (("n", "m"), np.array(["n", "m"]), pd.Index(["n", "m"])):
        assert disclosed("DisclosureProtection", known=["n", "m"], continuous_column_names=names) == expected


def test_a_field_that_is_a_list():
    for metric in ("CategoricalCAP", "CategoricalKNN"):
        with pytest.raises(TypeError, match=r"^`key_fields` holds a value of type list; it must be a list of names"):
            guessed(metric, keys=[["k"]])
        with pytest.raises(
            TypeError, match=r"^`sensitive_fields` holds a value of type dict; it must be a list of names"
        ):
            guessed(metric, sensitive=[{"k": 1}])


@pytest.mark.parametrize("wrong", [3, 0, "x", [1]])
def test_settings_that_are_no_dictionary(wrong):
    words = f"is of type {type(wrong).__name__}; it must be a dictionary"
    for call in (lambda **k: guessed("CategoricalCAP", **k), lambda **k: guessed("CategoricalKNN", **k), learnt):
        with pytest.raises(TypeError, match=f"^`model_kwargs` {words}"):
            call(model_kwargs=wrong)
    with pytest.raises(TypeError, match=f"^`loss_function_kwargs` {words}"):
        learnt(loss_function_kwargs=wrong)
    with pytest.raises(TypeError, match=f"^`loss_function` is of type {type(wrong).__name__}; it must be a class"):
        learnt(loss_function=wrong)


def test_settings_of_the_ensemble():
    with pytest.raises(TypeError, match=r"^`model_kwargs` is of type int; it must be a dictionary"):
        guessed("CategoricalEnsemble", model_kwargs=3)
    assert str(guessed("CategoricalEnsemble", model_kwargs=["x"])) == "No attackers specified."  # as SDMetrics
    with pytest.raises(TypeError, match=r"^`attackers` holds a value of type str; it must be a list of classes"):
        guessed("CategoricalEnsemble", model_kwargs={"attackers": ["x"]})


# ---------------------------------------------------------------- metadata

SHAPE = r"metadata looks like \{'columns': \{'age': \{'sdtype': 'numerical'\}"


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (["k", "s", "n", "m"], "'columns' of the metadata is of type list"),
        (None, "'columns' of the metadata is of type NoneType"),
        ("ks", "'columns' of the metadata is of type str"),
        (METADATA["columns"] | {"k": None}, "The metadata of column 'k' is of type NoneType"),
        (METADATA["columns"] | {"k": "categorical"}, "The metadata of column 'k' is of type str"),
    ],
)
def test_metadata_of_another_shape(columns, words):
    for metadata in ({"columns": columns}, {"tables": {"t": {"columns": columns}}}):
        calls = [lambda m=metadata: guessed("CategoricalCAP", metadata=m), lambda m=metadata: new_rows(metadata=m)]
        for call in [*calls, *(lambda c=c, m=metadata: closest(c, metadata=m) for c in CLOSEST)]:
            with pytest.raises(TypeError, match=f"^{words}.*{SHAPE}"):
                call()


@pytest.mark.parametrize("wrong", [None, 3])
def test_alternate_keys_that_are_no_list(wrong):
    metadata = METADATA | {"alternate_keys": wrong}
    with pytest.raises(TypeError, match=f"'alternate_keys' of the metadata is of type {type(wrong).__name__}"):
        new_rows(metadata=metadata)
    assert closest("DCROverfittingProtection", metadata=metadata)["score"] == 1.0  # nothing reads them here
