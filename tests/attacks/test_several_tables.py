"""Several synthetic tables of one training set: rows taken together, the gain by number, tables that fit badly."""

import numpy as np
import polars as pl
import pytest

import divulge
from divulge.core.errors import ColumnError, FrameError
from divulge.tables.frames import table_of
from divulge.tables.stacking import stacked

CURVES = ("AUC", "AUC, lower limit", "AUC, upper limit", "synthetic rows", "p-value, adjusted")


def people(rng, n):
    return pl.DataFrame({f"x{j}": rng.normal(size=n).round(3) for j in range(3)})


@pytest.fixture(scope="module")
def tables():
    """Each of four tables has copies of 15 other members."""
    rng = np.random.default_rng(0)
    real, holdout = people(rng, 150), people(rng, 150)
    return real, [pl.concat([real[15 * i : 15 * i + 15], people(rng, 45)]) for i in range(4)], holdout


def attacked(tables, **more):
    real, synthetic, holdout = tables
    return divulge.membership(real, synthetic, holdout=holdout, scores=["ratio", "hit"], **more)


def test_tables_are_attacked_as_one_table_of_all_rows(tables):
    real, synthetic, holdout = tables
    for several, one in zip(attacked(tables), attacked((real, pl.concat(synthetic), holdout)), strict=True):
        assert several.individual.real.tolist() == one.individual.real.tolist()
        assert several.individual.holdout.tolist() == one.individual.holdout.tolist()
        assert (several.p_value, several.p_adjusted, several.verdict) == (one.p_value, one.p_adjusted, one.verdict)
        assert set(several.notes) - set(one.notes) <= {
            "synthetic: 4 tables of one training set, taken together: 240 rows",
            "each number of tables was tested on its own: p-values by number are not corrected for several numbers",
        }


def test_the_curve_has_the_first_tables_and_all(tables):
    real, synthetic, holdout = tables
    (found, _) = attacked(tables)
    assert found.curves["synthetic tables"] == [1, 2, 3, 4]
    assert found.curves["by tables: synthetic rows"] == [60, 120, 180, 240]
    assert all(len(found.curves[f"by tables: {name}"]) == 4 for name in CURVES)
    for i, k in enumerate([1, 2, 3, 4]):
        (of_first, _) = attacked((real, pl.concat(synthetic[:k]), holdout))
        assert found.curves["by tables: AUC"][i] == pytest.approx(of_first.context["AUC"], abs=1e-12)
    assert found.curves["by tables: AUC"][-1] == found.context["AUC"]
    # 15 more members of 150 are copied with each table: their AUC is 1, that of the others about 1/2
    assert found.context["AUC"] == pytest.approx(0.5 + 0.4 / 2, abs=0.05)
    assert found.curves["by tables: AUC"][0] == pytest.approx(0.5 + 0.1 / 2, abs=0.06)


@pytest.mark.slow
def test_the_gain_is_over_the_best_single_table(tables):
    real, synthetic, holdout = tables
    (found, _) = attacked(tables)
    alone = [attacked((real, one, holdout))[0].context["AUC"] for one in synthetic]
    assert found.context["AUC of the best single table"] == pytest.approx(max(alone), abs=1e-12)
    gain = "gain of all tables over the best single one"
    assert found.context[gain] == pytest.approx(found.context["AUC"] - max(alone))
    assert 0 < found.context[f"{gain}, lower limit"] < found.context[gain] < found.context[f"{gain}, upper limit"]


@pytest.mark.slow
def test_the_order_of_tables_changes_only_the_curve(tables):
    real, synthetic, holdout = tables
    for here, there in zip(attacked(tables), attacked((real, synthetic[::-1], holdout)), strict=True):
        assert here.context == there.context
        assert here.p_adjusted == there.p_adjusted
        assert here.curves["by tables: AUC"][-1] == there.curves["by tables: AUC"][-1]


def test_one_table_in_a_list_is_that_table(tables):
    real, synthetic, holdout = tables
    for here, there in zip(
        attacked((real, synthetic[:1], holdout)), attacked((real, synthetic[0], holdout)), strict=True
    ):
        assert here.to_dict() | {"seconds": 0} == there.to_dict() | {"seconds": 0}


@pytest.mark.slow
def test_known_members_learn_from_all_tables():
    rng = np.random.default_rng(1)
    real, holdout = people(rng, 110), people(rng, 110)
    found = divulge.membership(
        real, [real[:40], people(rng, 40)], holdout=holdout, scores="ratio", known_members=True
    )  # fmt: skip
    assert [r.variant for r in found] == ["ratio", "known members"]
    assert found[1].verdict == "excess found"


@pytest.mark.slow
def test_every_attack_takes_several_tables(tables):
    real, synthetic, holdout = tables
    several = divulge.copies(real, tuple(synthetic), holdout=holdout)
    assert several[0].real == divulge.copies(real, pl.concat(synthetic), holdout=holdout)[0].real
    assert "synthetic: 4 tables of one training set, taken together: 240 rows" in several[0].notes


# ---------------------------------------------------------------- tables that fit badly


def test_tables_may_differ_in_kind_type_and_columns():
    first = pl.DataFrame({"age": [30, 41], "job": pl.Series(["a", "b"], dtype=pl.Categorical), "left": [1, 2]})
    second = pl.DataFrame({"job": ["b"], "age": [30.5]}).to_pandas()
    third = pl.DataFrame({"age": ["31", None], "job": [None, "c"]}).lazy()
    both = stacked([table_of(t, "synthetic") for t in (first, second)])
    assert both.named().to_dict(as_series=False) == {"age": [30.0, 41.0, 30.5], "job": ["a", "b", "b"]}
    assert both.notes[-1] == "synthetic: columns that not all of these tables have are left out, 1 in all"
    every = stacked([table_of(t, "synthetic") for t in (first, second, third)])
    assert every.parts == (2, 1, 2)
    assert [None if v is None else float(v) for v in every.named()["age"]] == [30, 41, 30.5, 31, None]


@pytest.mark.parametrize(
    ("given", "error", "told"),
    [
        ([], FrameError, r"synthetic: the list has no table\. hint: pass at least one"),
        ([{"a": [1]}], FrameError, r"synthetic table 1: a dict is not a table"),
        ([pl.DataFrame({"a": [1]}), None], FrameError, r"synthetic table 2: a NoneType is not a table"),
        ([pl.DataFrame({"a": [1]}), pl.DataFrame({"b": [1]})], ColumnError, r"synthetic: the tables have no column"),
    ],
    ids=["none", "a dictionary", "nothing", "other columns"],
)
def test_bad_tables_are_told(given, error, told):
    real = pl.DataFrame({"a": [1, 2], "b": [1, 2]})
    with pytest.raises(error, match=told):
        divulge.membership(real, given, holdout=real)


def test_several_real_tables_are_refused(tables):
    real, synthetic, holdout = tables
    with pytest.raises(FrameError, match="real: a list is not a table"):
        divulge.membership([real], synthetic, holdout=holdout)
