"""Linear reconstruction: worked equations, a plain twin, a leak that it alone sees, what it says about bad input."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from scipy.optimize import lsq_linear

import divulge
from divulge.attacks.reconstruction.counts_of_people import Known, equations
from divulge.core.errors import ColumnError, SettingError

GAIN = "right more often than the nearest record, members"


def people(rng, n, width=6, levels=4):
    return pl.DataFrame({f"k{j}": [f"v{v}" for v in rng.integers(0, levels, n)] for j in range(width)}).with_columns(
        ill=pl.Series(rng.random(n) < 0.5)
    )


def attacked(real, synthetic, holdout=None, target="ill", **more):
    return divulge.linear_reconstruction(real, synthetic, holdout=holdout, target=target, **more)


# ---------------------------------------------------------------- the equations


def test_equations_by_hand():
    """Keys a: 1 1 1 2 2 and b: 1 1 2 2 3 of five people; rows (1,1) ill, (1,1), (1,2) ill, (3,3) ill."""
    a, b = (np.array(v, dtype=np.int32) for v in ([1, 1, 1, 2, 2], [1, 1, 2, 2, 3]))
    rows = [np.array(v, dtype=np.int32) for v in ([1, 1, 1, 3], [1, 1, 2, 3])]
    known = Known([a, b], rows, [4, 4], np.array([True, False, True, True]))
    sets = [np.array(s) for s in ([0], [1], [0, 1])]
    ((matrix, right),) = equations(known, [np.arange(5)], sets)
    # a = 1: three people, 2 of 3 rows ill; a = 2: no row; b = 1: two people, 1 of 2; b = 2: two people, 1 of 1;
    # b = 3: one person; a = 1 and b = 1: two people, 1 of 2
    wanted = np.array([[1, 1, 1, 0, 0], [1, 1, 0, 0, 0], [0, 0, 1, 1, 0], [1, 1, 0, 0, 0]])
    weights = 1 / np.sqrt([3, 2, 2, 2])
    np.testing.assert_allclose(matrix.toarray(), wanted * weights[:, None])
    np.testing.assert_allclose(right, np.array([2, 1, 2, 1]) * weights)


def test_each_group_is_asked_about_alone():
    codes = np.array([1, 1, 1, 2, 2], dtype=np.int32)
    known = Known([codes], [np.array([1, 2], dtype=np.int32)], [3], np.array([True, False]))
    groups = [np.array([4, 0, 2]), np.array([3, 4, 0]), np.array([1])]
    (first, right), (second, left), (third, none) = equations(known, groups, [np.array([0])])
    np.testing.assert_allclose(first.toarray(), [[0, 1 / np.sqrt(2), 1 / np.sqrt(2)]])
    np.testing.assert_allclose(right, [np.sqrt(2)])
    np.testing.assert_allclose(second.toarray(), [[1 / np.sqrt(2), 1 / np.sqrt(2), 0]])
    np.testing.assert_allclose(left, [0])
    assert (third.shape, len(none)) == ((0, 1), 0)


def plain(side, synthetic, keys):
    """Each person's share of the secret, by loops over dictionaries and scipy's solver."""
    rows, right = [], []
    mine, theirs = (t.select(keys).rows() for t in (side, synthetic))
    ill = synthetic["ill"].to_list()
    for order in (1, 2, 3):
        for columns in combinations(range(len(keys)), order):
            cells = {}
            for i, values in enumerate(mine):
                cells.setdefault(tuple(values[j] for j in columns), []).append(i)
            for cell, members in cells.items():
                found = [s for values, s in zip(theirs, ill, strict=True) if tuple(values[j] for j in columns) == cell]
                if 2 <= len(members) <= 199 and found:
                    rows.append(np.isin(np.arange(len(mine)), members) / np.sqrt(len(members)))
                    right.append(np.mean(found) * np.sqrt(len(members)))
    n, mean = len(mine), np.mean(ill)
    a, b = np.vstack([rows, np.sqrt(0.5) * np.eye(n)]), np.r_[right, np.full(n, np.sqrt(0.5) * mean)]
    return lsq_linear(a, b, bounds=(0, 1), method="bvls", tol=1e-14).x


def test_the_guesses_are_those_of_a_plain_twin():
    rng = np.random.default_rng(0)
    real, synthetic, holdout = (people(rng, n, width=4, levels=3) for n in (40, 60, 40))
    found = attacked(real, pl.concat([synthetic, real[:20]]), holdout)
    for side, scores in ((real, found.individual.real), (holdout, found.individual.holdout)):
        x = plain(side, pl.concat([synthetic, real[:20]]), ["k0", "k1", "k2", "k3"])
        sure = np.abs(x - 0.5) > 1e-4
        assert scores[sure].tolist() == ((x > 0.5) == side["ill"].to_numpy())[sure].tolist()
        assert sure.sum() > 30


# ---------------------------------------------------------------- leaks


def counted(real):
    """Counts of two columns that are exact, in rows near to nobody; and each record twice, with both secrets."""
    keys = [c for c in real.columns if c != "ill"]
    parts = [real.select(*[pl.col(c) if c in pair else pl.lit("?").alias(c) for c in keys], "ill")
             for pair in combinations(keys, 2)]  # fmt: skip
    both = [real.with_columns(ill=pl.lit(value)) for value in (True, False)]
    return pl.concat([*parts, *both])


def test_exact_counts_give_secrets_away_that_no_row_tells():
    rng = np.random.default_rng(1)
    real, holdout = people(rng, 120), people(rng, 120)
    synthetic = counted(real)
    found = attacked(real, synthetic, holdout)
    assert found.verdict == "excess found"
    assert found.real.rate > 0.9
    assert found.holdout.rate == pytest.approx(0.5, abs=0.15)
    assert found.context[f"{GAIN}, lower limit"] > 0.3
    assert found.context["AUC of the solution, members"] > 0.95
    seen = divulge.inference(real, synthetic, holdout=holdout, target="ill", ways=["nearest record", "CAP", "k-vote"])
    assert {r.variant: r.verdict for r in seen} == dict.fromkeys(["nearest record", "CAP", "k-vote"], "cannot tell")
    for r in seen:
        assert r.real.rate < 0.7


def test_further_tables_add_to_it():
    rng = np.random.default_rng(2)
    real, holdout = people(rng, 120), people(rng, 120)
    parts = counted(real).sample(fraction=1, shuffle=True, seed=3)
    tables = [parts[i::4] for i in range(4)]
    one, every = (attacked(real, given, holdout) for given in (tables[0], tables))
    assert every.real.rate > one.real.rate + 0.1
    assert every.real.rate == attacked(real, parts, holdout).real.rate


def test_no_leak_is_no_finding():
    rng = np.random.default_rng(4)
    found = attacked(people(rng, 150), people(rng, 150), people(rng, 150))
    assert found.verdict in ("none found", "cannot tell")
    assert found.risk.low < 0 < found.risk.high


def test_the_gain_is_a_difference_on_the_same_people():
    rng = np.random.default_rng(5)
    real, synthetic, holdout = (people(rng, 100) for _ in range(3))
    found = attacked(real, synthetic, holdout)
    (nearest,) = divulge.inference(real, synthetic, holdout=holdout, target="ill", ways=["nearest record"])
    for role, name in (("real", GAIN), ("holdout", GAIN.replace("members", "strangers"))):
        gain = getattr(found.individual, role) - getattr(nearest.individual, role)
        assert found.context[name] == pytest.approx(gain.mean())
        half = 1.959964 * np.sqrt(((gain - gain.mean()) ** 2).sum()) / len(gain)
        assert found.context[f"{name}, upper limit"] == pytest.approx(gain.mean() + half)


# ---------------------------------------------------------------- sizes, secrets, bad input


def test_sides_of_other_sizes_are_solved_in_groups_of_one_size():
    rng = np.random.default_rng(6)
    real, synthetic, holdout = people(rng, 150), people(rng, 90), people(rng, 50)
    found = attacked(real, synthetic, holdout)
    assert any("solved in 3 and 1 groups of about 50 people" in note for note in found.notes)
    assert 0 <= found.context["right about members solved together"] <= 1
    alone = attacked(real, synthetic)
    assert (alone.verdict, alone.real.rate) == ("no holdout", found.context["right about members solved together"])


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (["yes", "no"] * 30, "which of two values"),
        ([None, "x"] * 30, "which of two values"),
        (["a", "b", "c"] * 20, "whether a person has the commonest value"),
        ([float(v) + 0.5 for v in range(60)], "above the median of real and holdout"),
        ([0, 1] * 30, "which of two values"),
    ],
    ids=["two texts", "missing", "three texts", "numbers", "0 and 1"],
)
def test_any_target_has_a_secret_of_two_values(values, said):
    rng = np.random.default_rng(7)
    real = people(rng, 60).drop("ill").with_columns(secret=pl.Series(values))
    holdout = people(rng, 60).drop("ill").with_columns(secret=pl.Series(values))
    found = attacked(real, real, holdout, target="secret")
    assert any(said in note for note in found.notes)
    assert found.verdict == "excess found"


def test_bad_input_is_told():
    rng = np.random.default_rng(8)
    real = people(rng, 40)
    with pytest.raises(SettingError, match=r"target: all people have one value of .one.. hint: name a column of two"):
        attacked(*[real.with_columns(one=pl.lit("x"))] * 3, target="one")
    with pytest.raises(ColumnError, match="target: no column 'I'"):
        attacked(real, real, real, target="I")
    with pytest.raises(SettingError, match="no column is left that the attacker could know"):
        attacked(*[real.select("ill")] * 3)
    with pytest.raises(SettingError, match="'ill' is among the keys"):
        attacked(real, real, real, keys=["ill"])
    with pytest.raises(TypeError, match="target"):
        divulge.linear_reconstruction(real, real)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_few_people_do(n):
    rng = np.random.default_rng(n)
    holdout = people(rng, 30)
    found = attacked(holdout[: n + 1].with_columns(ill=pl.Series([True, *[False] * n])), people(rng, n), holdout)
    assert found.verdict == "cannot tell"
