"""The membership score of edit distances: by hand, what it sees alone, samples, units, bad input."""

import numpy as np
import polars as pl
import pytest

import divulge
from divulge.attacks.membership import edit_score as module
from divulge.attacks.membership.scores import TESTED
from divulge.case.case import build_case

ONE = ["edit distance"]


def people(rng, n):
    """Numbers whose digits one person alone has."""
    return pl.DataFrame({c: rng.uniform(1000, 9999, n).round(2) for c in "abc"})


def with_other_first_digits(table):
    return table.select(pl.all().map_elements(lambda v: float(str(int(str(v)[0]) % 9 + 1) + str(v)[1:]), pl.Float64))


def tables(seed, n, share):
    """Rows that keep every digit of a share of the members but the first."""
    rng = np.random.default_rng(seed)
    real, holdout, synthetic = people(rng, n), people(rng, n), people(rng, n)
    taken = round(share * n)
    return real, pl.concat([with_other_first_digits(real[:taken]), synthetic[taken:]]), holdout


def found_in(real, synthetic, holdout, **more):
    (found,) = divulge.membership(real, synthetic, holdout=holdout, scores=ONE, **more)
    return found


def scores_of(result):
    return np.r_[result.individual.real, result.individual.holdout]


def test_scores_by_hand():
    real = pl.DataFrame({"a": [12.5, 40.0], "b": ["ab", None]})
    holdout, synthetic = pl.DataFrame({"a": [92.5, 7.0], "b": ["ab", "x"]}), pl.DataFrame({"a": [12.5], "b": ["abc"]})
    # 12.5,ab and 92.5,ab are 1 apart; 40, and 7,x are 3; to 12.5,abc they have 1, 4 + 3, 2, 4 + 3
    score = scores_of(found_in(real, synthetic, holdout))
    np.testing.assert_allclose(score, np.log([1.5, 3.5, 1.5, 3.5]) - np.log([1.5, 7.5, 2.5, 7.5]), atol=1e-12)


def test_digits_that_are_kept_are_seen_by_this_score_alone():
    real, synthetic, holdout = tables(1, 600, 0.05)
    found = {r.variant: r for r in divulge.membership(real, synthetic, holdout=holdout)}
    assert tuple(found) == TESTED
    assert [v for v, r in found.items() if r.verdict == "excess found"] == ONE
    mine = found["edit distance"]
    assert mine.context["members among the nearest 2% of people"] > 0.9  # 24 of 1,200 people, 30 of whom are copied
    assert mine.context["members among the nearest 50% of people"] == pytest.approx(0.5, abs=0.05)
    assert any("few members are recognised, and surely" in n for n in mine.notes)
    assert not mine.individual.real[30:].max() > mine.individual.real[:30].min()


def test_the_mean_rank_and_the_other_scores_keep_their_digits():
    real, synthetic, holdout = tables(1, 150, 0.1)
    with_it, without = (
        {r.variant: r for r in divulge.membership(real, synthetic, holdout=holdout, scores=names)}
        for names in (TESTED, TESTED[:-1])
    )
    for name, r in without.items():
        assert (r.real, r.holdout, r.context["AUC"]) == (
            with_it[name].real,
            with_it[name].holdout,
            with_it[name].context["AUC"],
        )


def test_a_sample_of_people_is_asked_where_all_would_take_too_long(monkeypatch):
    real, synthetic, holdout = tables(2, 600, 0.2)
    whole = found_in(real, synthetic, holdout)
    monkeypatch.setattr(module, "_WORK", 1e5)
    monkeypatch.setattr(module, "_FEWEST", 400)
    some = found_in(real, synthetic, holdout)
    assert any("a random sample of 400 of 1,200 records was asked" in n for n in some.notes)
    asked = ~np.isnan(scores_of(some))
    assert asked.sum() == 400 == some.real.n + some.holdout.n
    assert scores_of(some)[asked].tolist() == scores_of(whole)[asked].tolist()
    assert some.verdict == whole.verdict == "excess found"
    order = np.random.default_rng(3).permutation(600)
    moved = found_in(real[order], synthetic, holdout)
    np.testing.assert_array_equal(moved.individual.real, some.individual.real[order])
    assert moved.p_adjusted == some.p_adjusted
    back = found_in(holdout, synthetic, real)
    np.testing.assert_array_equal(back.individual.real, some.individual.holdout)


def test_units_are_asked_with_all_their_rows(monkeypatch):
    rng = np.random.default_rng(4)
    homes = [pl.Series("home", [f"{t}{i // 3}" for i in range(300)]) for t in "rsh"]
    real, synthetic, holdout = (people(rng, 300).with_columns(home) for home in homes)
    monkeypatch.setattr(module, "_WORK", 1e4)
    monkeypatch.setattr(module, "_FEWEST", 100)
    some = found_in(real, synthetic, holdout, unit="home")
    asked = ~np.isnan(scores_of(some)).reshape(-1, 3)
    assert (asked.all(axis=1) == asked.any(axis=1)).all() and asked.sum() == 99
    assert some.real.n + some.holdout.n == 33


def test_a_unit_is_nobody_elses_neighbour():
    real = pl.DataFrame({"a": [1111.5, 1111.5, 2222.25], "u": ["x", "x", "y"]})
    holdout, synthetic = pl.DataFrame({"a": [3333.75], "u": ["z"]}), pl.DataFrame({"a": [9.0], "u": ["w"]})
    alone, with_units = (
        scores_of(found_in(real, synthetic, holdout, **more, columns=["a"])) for more in ({}, {"unit": "u"})
    )
    assert alone[0] == pytest.approx(np.log(0.5 / 6.5)) and with_units[0] == pytest.approx(np.log(5.5 / 6.5))


def test_columns_of_longer_values_are_left_out_and_named():
    rng = np.random.default_rng(5)
    real, synthetic, holdout = (people(rng, 60).with_columns(t=pl.lit("x" * 65)) for _ in range(3))
    columns = ["a", "b", "c", "t"]
    found = found_in(real, synthetic, holdout, columns=columns)
    assert any("leaves out columns with values of more than 64 letters: 't'" in n for n in found.notes)
    assert scores_of(found).tolist() == scores_of(found_in(real, synthetic, holdout, columns=columns[:3])).tolist()


@pytest.mark.parametrize(
    "values",
    [
        [None] * 40,
        [float("inf"), float("-inf"), 1e300, 1e-300] * 10,
        ["007", "7", " 7 ", "é"] * 10,
        [True, False] * 20,
        list(range(2**62, 2**62 + 40)),
    ],
    ids=["missing", "infinite", "numbers as text", "booleans", "large"],
)
def test_any_column_has_a_score(values):
    table = pl.DataFrame({"x": values, "y": range(40)})
    found = found_in(table, table, table.reverse(), columns=["x", "y"])
    assert np.isfinite(scores_of(found)).all()


def test_one_person_and_one_column_have_scores():
    rng = np.random.default_rng(6)
    table = people(rng, 30).select("a")
    assert np.isfinite(module.edit_score(build_case(table[:1], table, table[1:2]), ("a",))).all()
    assert np.isfinite(module.edit_score(build_case(table[:1], table), ("a",))).all()


def test_columns_of_long_texts_alone_leave_the_other_scores():
    rng = np.random.default_rng(7)
    long = np.array(["x" * 70 + str(i) for i in range(5)])
    real, synthetic, holdout = (pl.DataFrame({c: long[rng.integers(0, 5, 120)] for c in "ab"}) for _ in range(3))
    found = divulge.membership(real, synthetic, holdout=holdout)
    assert [r.variant for r in found] == [name for name in TESTED if name != "edit distance"]
    assert any("leaves out columns with values of more than 64 letters" in n for n in found[0].notes)
    with pytest.raises(divulge.SettingError, match="name other scores"):
        divulge.membership(real, synthetic, holdout=holdout, scores=["edit distance"])
