"""mode="sound": what it gives beside the released score."""

import math

import numpy as np
import pandas as pd
import pytest

import divulge
from divulge.core.schema import Column, Schema
from divulge.sdmetrics import (
    CategoricalCAP,
    CategoricalGeneralizedCAP,
    CategoricalZeroCAP,
    DCROverfittingProtection,
    DisclosureProtection,
    DisclosureProtectionEstimate,
    NewRowSynthesis,
)

CAPS = {"skip": CategoricalCAP, "zero": CategoricalZeroCAP, "nearest": CategoricalGeneralizedCAP}


pytestmark = pytest.mark.usefixtures("deprecated_as_released")


def people(n, seed, levels=4, columns=5):
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, levels, n)
    own = rng.integers(0, levels, (n, columns))
    values = np.where(rng.random((n, columns)) < 0.5, kind[:, None], own)
    return pd.DataFrame(values, columns=[f"c{j}" for j in range(columns)]).astype(str)


REAL, SYNTHETIC, STRANGERS = people(200, 1), people(150, 2), people(120, 3)
FIELDS = {"key_fields": ["c0", "c1"], "sensitive_fields": ["c4"]}
METADATA = {"columns": {c: {"sdtype": "categorical"} for c in REAL}}


@pytest.mark.first(1)
@pytest.mark.parametrize("unseen", CAPS)
def test_with_strangers_it_is_one_less_the_risk_of_cap(unseen):
    found = CAPS[unseen].compute_breakdown(REAL, SYNTHETIC, **FIELDS, mode="sound", real_validation_data=STRANGERS)
    schema = Schema(tuple(Column(c, "categorical") for c in REAL))
    native = divulge.cap(
        REAL, SYNTHETIC, holdout=STRANGERS, keys=["c0", "c1"], target="c4", unseen=unseen, schema=schema
    )
    assert found["risk"] == native.risk.value and found["risk_high"] == native.risk.high
    assert found["score"] == min(1, 1 - native.risk.value)
    assert found["n"] == native.real.n and found["cap_protection"] == 1 - native.real.rate
    assert found["low"] <= found["score"] <= found["high"]
    assert found["verdict"] == native.verdict
    score = CAPS[unseen].compute(REAL, SYNTHETIC, **FIELDS, mode="sound", real_validation_data=STRANGERS)
    assert score == found["score"]


def test_without_strangers_the_baseline_is_the_better_of_two_guesses_without_keys():
    found = CategoricalZeroCAP.compute_breakdown(REAL, SYNTHETIC, **FIELDS, mode="sound")
    count, published = REAL["c4"].value_counts(), SYNTHETIC["c4"].value_counts(normalize=True)
    own = float((count * (count - 1)).sum() / (200 * 199))
    other = float((count / 200 * published).sum())
    b = max(own, other)
    assert found["baseline"].endswith("in the synthetic data" if other > own else "in the real data")
    c = 1 - CategoricalZeroCAP.compute(REAL, SYNTHETIC, **FIELDS)
    assert found["baseline_protection"] == pytest.approx(1 - b)
    assert found["risk"] == pytest.approx((c - b) / (1 - b))
    assert found["risk_low"] < found["risk"] < found["risk_high"]


def test_a_table_that_knows_only_the_commonest_value_tells_nothing_by_its_keys():
    rng = np.random.default_rng(13)
    real = pd.DataFrame({"k": rng.choice(list("ab"), 500), "t": np.where(rng.random(500) < 0.7, "x", "y")})
    collapsed = pd.DataFrame({"k": ["a", "b"] * 50, "t": ["x"] * 100})
    found = CategoricalCAP.compute_breakdown(real, collapsed, key_fields=["k"], sensitive_fields=["t"], mode="sound")
    assert found["risk"] == pytest.approx(0, abs=1e-12)
    assert found["risk_low"] < 0 < found["risk_high"]


def test_a_guesser_without_keys_does_not_know_the_persons_own_value():
    real = pd.DataFrame({"k": ["a"] * 5, "t": [*"xxxyy"]})
    synthetic = pd.DataFrame({"k": ["a"] * 4, "t": [*"xzzz"]})
    found = CategoricalCAP.compute_breakdown(real, synthetic, key_fields=["k"], sensitive_fields=["t"], mode="sound")
    assert found["baseline_protection"] == pytest.approx(1 - (3 * 2 + 2 * 1) / (5 * 4))
    assert found["baseline"].endswith("in the real data")


def test_people_without_a_match_do_not_enter_the_baseline():
    """Half of the people have a match and are guessed right; the others are all of one value."""
    real = pd.DataFrame({"k": [*"ab" * 50, *"c" * 100], "t": [*"xy" * 50, *"z" * 100]})
    synthetic = pd.DataFrame({"k": ["a", "b"], "t": ["x", "y"]})
    found = CategoricalCAP.compute_breakdown(real, synthetic, key_fields=["k"], sensitive_fields=["t"], mode="sound")
    assert found["n"] == 100 and found["baseline_protection"] == pytest.approx(1 - 0.5)
    assert found["score"] == 0.0


def test_a_copy_with_unique_keys_is_no_nan_where_no_stranger_matches():
    real, strangers = (pd.DataFrame({"k": [f"{who}{i}" for i in range(60)], "t": ["x", "y", "z"] * 20}) for who in "ab")
    args = {"key_fields": ["k"], "sensitive_fields": ["t"], "mode": "sound", "real_validation_data": strangers}
    found = CategoricalCAP.compute_breakdown(real, real, **args)
    assert found["score"] == 0.0 and found["n_validation"] == 0
    assert "nobody in real_validation_data can be attacked" in found["baseline"]
    assert CategoricalZeroCAP.compute(real, real, **args) == 0.0


@pytest.mark.slow
def test_a_limit_that_does_not_exist_is_the_end_of_the_scale():
    real, strangers = people(60, 14, levels=30), people(60, 15, levels=30)
    args = {"key_fields": ["c0", "c1"], "sensitive_fields": ["c4"], "mode": "sound"}
    for seed in range(20):
        found = CategoricalCAP.compute_breakdown(
            real, people(60, 20 + seed, levels=30), **args, real_validation_data=strangers
        )
        if not math.isnan(found["score"]):
            assert 0 <= found["low"] <= found["score"] <= found["high"] <= 1


def test_a_skewed_target_is_no_alarm_by_itself():
    """Independent data, 95% of one value: the uniform guess of DisclosureProtection alarms."""
    rng = np.random.default_rng(4)
    real, synthetic, strangers = (
        pd.DataFrame({"k": rng.choice(list("abcd"), 2000), "t": np.where(rng.random(2000) < 0.95, "x", "y")})
        for _ in range(3)
    )
    both = DisclosureProtection.compute_both(real, synthetic, ["k"], ["t"], real_validation_data=strangers)
    alone = DisclosureProtection.compute_breakdown(real, synthetic, ["k"], ["t"], mode="sound")
    assert both["compatible"]["score"] < 0.25
    assert both["sound"]["low"] <= 1 <= both["sound"]["high"] + 1e-12 and both["sound"]["score"] > 0.85
    assert alone["risk_low"] < 0 < alone["risk_high"]


def test_the_estimate_counts_every_row():
    copy = people(1000, 5, levels=10)
    args = (copy, copy, ["c0", "c1", "c2", "c3"], ["c4"])
    released = DisclosureProtectionEstimate.compute_breakdown(*args, "zero_cap", None, 10, 100, 3, False)
    exact = DisclosureProtection.compute_breakdown(*args, "zero_cap")
    sound = DisclosureProtectionEstimate.compute_breakdown(*args, "zero_cap", None, 10, 100, 3, False, mode="sound")
    assert released["score"] > 0.9 > 0.3 > exact["score"]
    assert sound["cap_protection"] == pytest.approx(exact["cap_protection"])


def test_missing_is_one_value_whatever_the_dtype():
    real = pd.DataFrame({"k": [1.0, np.nan, np.nan, 2.0] * 20, "t": ["x", "y", "y", "x"] * 20})
    released = CategoricalZeroCAP.compute(real, real, key_fields=["k"], sensitive_fields=["t"])
    sound = CategoricalZeroCAP.compute_breakdown(real, real, key_fields=["k"], sensitive_fields=["t"], mode="sound")
    assert released == 0.5
    assert sound["cap_protection"] == 0.0


def test_two_sensitive_fields_are_guessed_together():
    found = CategoricalZeroCAP.compute_breakdown(
        REAL, SYNTHETIC, key_fields=["c0"], sensitive_fields=["c3", "c4"], mode="sound"
    )
    released = CategoricalZeroCAP.compute(REAL, SYNTHETIC, key_fields=["c0"], sensitive_fields=["c3", "c4"])
    assert found["cap_protection"] == pytest.approx(released)


def test_continuous_columns_are_cut_at_quantiles():
    rng = np.random.default_rng(6)
    pay = rng.lognormal(0, 3, 400)
    real = pd.DataFrame({"pay": pay, "t": np.where(pay > np.median(pay), "x", "y")})
    args = (real, real, ["pay"], ["t"], "cap", ["pay"])
    both = DisclosureProtection.compute_both(*args)
    assert both["compatible"]["cap_protection"] > 0.4
    assert both["sound"]["cap_protection"] == 0.0


def test_one_sensitive_value_is_undefined():
    real = pd.DataFrame({"k": ["a", "b"], "t": ["x", "x"]})
    found = DisclosureProtection.compute_both(real, real, ["k"], ["t"])
    assert all(math.isnan(found[m]["score"]) for m in found)


def test_overfitting_is_one_less_the_copied_fraction():
    found = DCROverfittingProtection.compute_breakdown(REAL, SYNTHETIC, STRANGERS, METADATA, mode="sound")
    native = divulge.dcr(
        REAL, SYNTHETIC, holdout=STRANGERS, schema=Schema(tuple(Column(c, "categorical") for c in REAL))
    )[0]
    shown = found["part_of_a_copy_that_would_show"]
    assert 0.5 < shown < 1
    assert found["risk"] == pytest.approx(native.risk.value / shown) and found["n"] == len(SYNTHETIC)
    assert found["closer_to_training_without_leak"] == 200 / 320
    assert set(found["synthetic_data_percentages"]) == {"closer_to_training", "closer_to_holdout"}
    assert found["low"] <= found["score"] <= found["high"]


@pytest.mark.first(1)
@pytest.mark.parametrize("columns", [2, 3, 6])
def test_a_full_copy_of_coarse_data_is_never_safe(columns):
    """Ties go to the holdout as released; divided by what would show, the fraction copied is 1."""
    real, strangers = people(400, 7, columns=columns), people(400, 8, columns=columns)
    metadata = {"columns": {c: {"sdtype": "categorical"} for c in real}}
    found = DCROverfittingProtection.compute_both(real, real, strangers, metadata)
    if columns < 6:
        assert found["compatible"]["score"] == 1.0
    sound = found["sound"]
    assert sound["risk"] == pytest.approx(1.0) and sound["low"] == 0.0
    assert sound["part_of_a_copy_that_would_show"] < (0.9 if columns == 6 else 0.2)
    copied = NewRowSynthesis.compute_breakdown(real, real, metadata, mode="sound", real_validation_data=strangers)
    assert copied["risk"] == pytest.approx(1.0) and copied["low"] == 0.0


def test_where_no_copy_would_show_there_is_no_score():
    metadata = {"columns": {c: {"sdtype": "categorical"} for c in REAL}}
    with pytest.warns(UserWarning, match="real_validation_data: 200 of 200 holdout rows equal a real row"):
        found = DCROverfittingProtection.compute_breakdown(REAL, REAL, REAL, metadata, mode="sound")
    assert math.isnan(found["score"]) and found["part_of_a_copy_that_would_show"] == 0


def test_validation_data_that_are_the_real_data_are_noticed():
    with pytest.warns(UserWarning, match="equal a real row: more than a random split") as caught:
        CategoricalCAP.compute(REAL, REAL, **FIELDS, mode="sound", real_validation_data=REAL)
    assert caught[0].filename == __file__


def test_one_outlier_does_not_decide():
    rng = np.random.default_rng(10)
    real, synthetic, strangers = (pd.DataFrame(rng.normal(size=(300, 4)), columns=list("abcd")) for _ in range(3))
    real.iloc[0] = 100.0
    metadata = {"columns": {c: {"sdtype": "numerical"} for c in real}}
    found = DCROverfittingProtection.compute_both(real, synthetic, strangers, metadata)
    assert found["compatible"]["score"] == 0.0
    assert found["sound"]["high"] == 1.0 and found["sound"]["score"] > 0.8


def test_a_smaller_holdout_is_no_leak():
    rng = np.random.default_rng(11)
    real, synthetic, strangers = (pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd")) for n in (800, 400, 200))
    metadata = {"columns": {c: {"sdtype": "numerical"} for c in real}}
    with pytest.warns(UserWarning, match="at least half the size"):
        found = DCROverfittingProtection.compute_both(real, synthetic, strangers, metadata)
    assert found["compatible"]["score"] < 0.5
    assert found["sound"]["high"] == 1.0


def test_dates_of_text_are_read_by_their_format():
    rng = np.random.default_rng(12)
    tables = [
        pd.DataFrame({"d": pd.Series(pd.to_datetime("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, 60), "D"))})
        for _ in range(3)
    ]
    as_text = [t.assign(d=t["d"].dt.strftime("%d/%m/%Y")) for t in tables]
    entry = {"sdtype": "datetime", "datetime_format": "%d/%m/%Y"}
    want = DCROverfittingProtection.compute_breakdown(*tables, {"columns": {"d": entry}}, mode="sound")
    found = DCROverfittingProtection.compute_breakdown(*as_text, {"columns": {"d": entry}}, mode="sound")
    assert found == want


def test_ordinals_are_compared():
    tables = [t.assign(rank=np.arange(len(t)) % 7) for t in (REAL, SYNTHETIC, STRANGERS)]
    metadata = {"columns": {"rank": {"sdtype": "ordinal"}}}
    found = DCROverfittingProtection.compute_breakdown(*tables, metadata, mode="sound")
    assert not math.isnan(found["score"])


def test_new_rows_need_strangers():
    with pytest.raises(TypeError, match="needs `real_validation_data`"):
        NewRowSynthesis.compute(REAL, SYNTHETIC, mode="sound")
    copied = pd.concat([REAL[:75], SYNTHETIC[:75]])
    clean = NewRowSynthesis.compute_breakdown(REAL, SYNTHETIC, METADATA, mode="sound", real_validation_data=STRANGERS)
    leak = NewRowSynthesis.compute_breakdown(REAL, copied, METADATA, mode="sound", real_validation_data=STRANGERS)
    assert clean["risk_low"] < 0.02 and leak["risk_low"] > 0.05
    assert leak["score"] < clean["score"] and leak["n"] == 150


def test_keys_and_personal_columns_do_not_hide_a_copy():
    real, strangers = REAL.assign(id=range(200), who=[f"p{i}" for i in range(200)]), STRANGERS.assign(id=-1, who="s")
    copy = real.assign(id=range(900, 1100), who="x")
    entries = METADATA["columns"] | {"id": {"sdtype": "numerical"}, "who": {"sdtype": "categorical", "pii": True}}
    metadata = {"columns": entries, "primary_key": "id"}
    found = NewRowSynthesis.compute_breakdown(real, copy, metadata, mode="sound", real_validation_data=strangers)
    assert found["risk"] == pytest.approx(1.0)
    assert DCROverfittingProtection.compute(real, copy, strangers, metadata, mode="sound") < 0.05


def test_all_tables_have_the_columns_that_are_compared():
    for bad in ({"synthetic_data": SYNTHETIC[["c0"]]}, {"real_validation_data": STRANGERS[["c0"]]}):
        args = {"real_data": REAL, "synthetic_data": SYNTHETIC, "real_validation_data": STRANGERS} | bad
        for metadata in (METADATA, None):
            with pytest.raises(ValueError, match=f"`{next(iter(bad))}` lacks columns that another table has: c1"):
                NewRowSynthesis.compute(**args, metadata=metadata, mode="sound")
    with pytest.raises(ValueError, match="No column is left to compare"):
        NewRowSynthesis.compute(
            REAL, SYNTHETIC, {"columns": {"c0": {"sdtype": "id"}}}, mode="sound", real_validation_data=STRANGERS
        )


def test_arguments_that_are_not_used_are_checked_all_the_same():
    rows = {"metadata": METADATA, "mode": "sound", "real_validation_data": STRANGERS}
    with pytest.raises(ValueError, match="must be an integer"):
        DCROverfittingProtection.compute(REAL, SYNTHETIC, num_rows_subsample=0, **rows)
    with pytest.raises(ValueError, match="not nan"):
        NewRowSynthesis.compute(REAL, SYNTHETIC, numerical_match_tolerance=math.nan, **rows)
    with pytest.raises(ValueError, match="synthetic_sample_size"):
        NewRowSynthesis.compute(REAL, SYNTHETIC, synthetic_sample_size=-1, **rows)
    with pytest.raises(ValueError, match="num_iterations"):
        DisclosureProtectionEstimate.compute(REAL, SYNTHETIC, ["c0"], ["c4"], num_iterations=0, mode="sound")
    text = REAL.assign(c0="a"), SYNTHETIC.assign(c0="b")
    with pytest.raises(ValueError, match="values that are no numbers"):
        DisclosureProtection.compute(*text, ["c0"], ["c4"], continuous_column_names=["c0"], mode="sound")


def test_a_dictionary_of_one_table_is_taken():
    found = CategoricalCAP.compute({"t": REAL}, {"t": SYNTHETIC}, **FIELDS, mode="sound")
    assert found == CategoricalCAP.compute(REAL, SYNTHETIC, **FIELDS, mode="sound")
