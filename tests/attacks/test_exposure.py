"""Who stands apart, and whom a synthetic row lies too close to: worked numbers, a plain oracle, planted people."""

import json
import math
from fractions import Fraction as F

import numpy as np
import polars as pl
import pytest
from amount import tries
from hypothesis import given, settings
from hypothesis import strategies as st

import divulge
from divulge.attacks.membership.exposure import flagged_at, hit_scores, p_values, people_of, smallest_flaggable
from divulge.case.case import build_case
from divulge.core.errors import ColumnError, SettingError
from divulge.core.schema import Column, Schema

few = settings(max_examples=tries(60), deadline=None, derandomize=True, database=None)
row = st.tuples(st.integers(0, 12), st.sampled_from(["a", "b", None]))
table = st.lists(row, min_size=1, max_size=12)
SCHEMA = Schema((Column("x", "numeric"), Column("b", "categorical")))


def frame(rows):
    return pl.DataFrame(rows, schema={"x": pl.Int64, "b": pl.String}, orient="row")


def numbers(rng, n, columns=6):
    return rng.normal(size=(n, columns))


def continuous(rows):
    return pl.DataFrame({f"c{j}": c for j, c in enumerate(rows.T)})


# ---------------------------------------------------------------- a plain oracle


def distance(one, other, span):
    number = F(abs(one[0] - other[0]), span) if span else F(one[0] != other[0])
    return (min(number, F(1)) + (one[1] != other[1])) / 2


def plain(real, synthetic, holdout, k, neighbour):
    """V_k and hit scores by fractions and loops."""
    people = real + holdout
    span = max(x for x, _ in people) - min(x for x, _ in people)

    def near(i, which):
        return sorted(distance(people[i], people[j], span) for j in which if j != i)

    v = [near(i, range(len(real)))[:k] for i in range(len(people))]
    other = [near(i, range(len(people))) for i in range(len(people))]
    chosen = [o[min(neighbour, len(o)) - 1] if o else None for o in other]
    close = [min(distance(p, s, span) for s in synthetic) for p in people]
    positive = [d for d in chosen + close if d]
    floor = min(positive, default=F(2)) / 2
    score = [
        math.nan if c is None else math.log(max(c, floor) / max(s, floor)) for c, s in zip(chosen, close, strict=True)
    ]
    return [float(sum(x) / len(x)) if x else math.nan for x in v], score


@few
@given(table, table, table, st.integers(1, 4), st.integers(1, 4))
def test_scores_are_those_of_plain_python(real, synthetic, holdout, k, neighbour):
    if len({x for x, _ in real + holdout}) == 1:
        synthetic = [(real[0][0], b) for _, b in synthetic]  # a column without a range is compared as a category
    tables = [frame(t) for t in (real, synthetic, holdout)]
    outliers, hit = divulge.exposure(
        *tables[:2], holdout=tables[2], schema=SCHEMA, columns=["x", "b"], k=k, neighbour=neighbour
    )
    v, score = plain(real, synthetic, holdout, k, neighbour)
    n = len(real)
    for result, expected in ((outliers, v), (hit, score)):
        assert result.individual.real == pytest.approx(expected[:n], nan_ok=True, abs=1e-9)
        assert result.individual.holdout == pytest.approx(expected[n:], nan_ok=True, abs=1e-9)


@few
@given(table, table, table, st.sampled_from([0.1, 0.3, 0.5]))
def test_flags_are_those_of_a_plain_benjamini_hochberg(real, synthetic, holdout, fdr):
    case = build_case(*map(frame, (real, synthetic, holdout)), schema=SCHEMA)
    people = people_of(case, columns=["x", "b"], fdr=fdr)
    score, strangers = people.real.score.tolist(), people.holdout.score.tolist()
    n, m = len(score), len(strangers)

    def at_least(a, b):
        return math.isnan(b) or (not math.isnan(a) and a >= b)

    p = [F(1 + sum(at_least(s, own) for s in strangers), m + 1) for own in score]
    assert people.p_value == pytest.approx([float(x) for x in p])
    passed = [x for x in p if x <= F(str(fdr)) * sum(y <= x for y in p) / n]
    assert people.flagged.tolist() == [x <= max(passed, default=-1) for x in p]
    assert people.n_flagged == sum(people.flagged)
    assert people.n_flagged == 0 or people.n_flagged >= people.smallest_flaggable


# ---------------------------------------------------------------- worked numbers


def test_worked_numbers_of_five_people():
    """Members at 0, 1, 10 and strangers at 2, 5; synthetic rows at 10 and 3; the range is 10."""
    real, synthetic, holdout = (pl.DataFrame({"x": x}) for x in ([0.0, 1.0, 10.0], [10.0, 3.0], [2.0, 5.0]))
    schema = Schema((Column("x", "numeric"),))
    outliers, hit = divulge.exposure(real, synthetic, holdout=holdout, schema=schema, k=2, neighbour=1)
    assert outliers.individual.real.tolist() == pytest.approx([0.55, 0.5, 0.95])
    assert outliers.individual.holdout.tolist() == pytest.approx([0.15, 0.45])
    assert outliers.value.real == pytest.approx(2 / 3)
    # nearest other person .1 .1 .5 | .1 .3; nearest synthetic row .3 .2 0 | .1 .2; half the smallest positive is .05
    assert np.exp(hit.individual.real) == pytest.approx([1 / 3, 1 / 2, 10])
    assert np.exp(hit.individual.holdout) == pytest.approx([1, 3 / 2])
    case = build_case(real, synthetic, holdout, schema=schema)
    people = people_of(case, k=2, neighbour=1)
    assert people.p_value.tolist() == pytest.approx([1, 1, 1 / 3])
    assert people.real.synthetic_row.tolist() == [1, 1, 0]
    assert (hit.real.hits, hit.context["fewest people that can be flagged"]) == (0, 10)
    assert "this holdout is too small to name anybody at a false discovery rate of 0.1" in hit.notes


def test_a_copy_ranks_by_how_lonely_the_person_is():
    lonely, crowded, shared, missed = 0.4, 0.01, 0.0, 0.0
    score = hit_scores(np.array([lonely, crowded, shared, missed]), np.array([0, 0, 0, 0.2]), 0.005)
    assert score.tolist() == sorted(score, reverse=True)
    assert score[2] == 0


@pytest.mark.parametrize(("n", "m", "fdr", "least"), [(600, 600, 0.1, 10), (100, 999, 0.1, 1), (100, 99, 0.1, 10), (3, 1, 0.5, 3)])  # fmt: skip
def test_the_fewest_people_a_holdout_can_name(n, m, fdr, least):
    assert smallest_flaggable(n, m, fdr) == least


def test_a_group_of_exactly_the_fewest_is_flagged_and_one_less_is_not():
    for n_hit, expected in ((10, 10), (9, 0)):
        p = p_values(np.r_[np.full(n_hit, 9.0), np.zeros(100 - n_hit)], np.ones(99))
        assert flagged_at(p, None, 0.1).sum() == expected


# ---------------------------------------------------------------- planted people


def planted(kind, seed=3, n=300):
    """Members, a synthetic table with 20 members in it, strangers; who is in it."""
    rng = np.random.default_rng(seed)
    real, synthetic, holdout = (numbers(rng, n) for _ in range(3))
    who = rng.permutation(n)[:20]
    synthetic[:20] = real[who] + (0.02 * rng.normal(size=(20, 6)) if kind == "near" else 0)
    return [continuous(x) for x in (real, synthetic, holdout)], who


@pytest.mark.parametrize("kind", ["whole", "near"])
def test_planted_people_are_flagged_and_point_to_their_rows(kind):
    tables, who = planted(kind)
    case = build_case(*tables)
    people = people_of(case)
    assert people.flagged[who].sum() >= 19
    assert people.n_flagged <= 26
    assert people.real.synthetic_row[who].tolist() == list(range(20))
    (outliers, hit) = divulge.exposure.run(case)
    assert (hit.real.hits, hit.real.n, hit.verdict) == (people.n_flagged, 300, None)
    assert outliers.value.real == pytest.approx(outliers.value.holdout, rel=0.1)


def test_released_strangers_flag_nobody():
    (real, _, holdout), _ = planted("whole")
    _, hit = divulge.exposure(real, holdout, holdout=holdout)
    assert hit.real.hits == 0


def test_a_released_real_table_flags_everybody():
    (real, _, holdout), _ = planted("whole")
    _, hit = divulge.exposure(real, real, holdout=holdout)
    assert hit.real.rate == 1


def known_answer(seed, n=2000):
    """Adult-like people of mixed columns: few are unusual, many are alike."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(4, n, p=[0.5, 0.3, 0.15, 0.05])
    return pl.DataFrame(
        {
            "age": np.clip(rng.normal(30 + 8 * kind, 9).round(), 17, 90),
            "weight": rng.lognormal(12, 0.5, n).round(),
            "gain": np.where(rng.random(n) < 0.08 + 0.05 * kind, rng.lognormal(8, 1, n).round(), 0),
            "hours": np.where(rng.random(n) < 0.5, 40, rng.integers(5, 80, n)).astype(float),
            "job": [f"j{v}" for v in (kind + rng.geometric(0.4, n)) % 12],
            "school": [f"s{v}" for v in (kind * 2 + rng.geometric(0.5, n)) % 10],
            "sex": rng.choice(["f", "m"], n),
            "land": np.where(rng.random(n) < 0.9, "here", rng.choice(list("uvwxyz"), n)),
        }
    )


@pytest.fixture(scope="module")
def four_tables():
    real, fresh, holdout = (known_answer(seed) for seed in (1, 2, 3))
    case = build_case(real, fresh, holdout)
    v = people_of(case).real.outlierness
    unusual = np.argsort(-v)[:20]
    some = np.random.default_rng(4).permutation(2000)[:200]
    return real, holdout, unusual, some, fresh, case


@pytest.mark.slow
def test_a_fresh_sample_flags_nobody(four_tables):
    *_, case = four_tables
    assert people_of(case).n_flagged == 0


@pytest.mark.slow
def test_twenty_unusual_people_of_two_thousand_are_flagged(four_tables):
    real, holdout, unusual, _, fresh, _ = four_tables
    people = people_of(build_case(real, pl.concat([fresh[20:], real[unusual]]), holdout))
    assert people.flagged[unusual].all()
    assert people.n_flagged <= 26


@pytest.mark.slow
def test_a_tenth_of_the_table_copied_is_flagged(four_tables):
    real, holdout, _, some, fresh, _ = four_tables
    people = people_of(build_case(real, pl.concat([fresh[200:], real[some]]), holdout))
    assert people.flagged[some].mean() >= 0.95
    assert people.n_flagged <= 240


@pytest.mark.slow
def test_the_whole_table_copied_is_flagged(four_tables):
    real, holdout, *_ = four_tables
    assert people_of(build_case(real, real, holdout)).flagged.mean() >= 0.99


# ---------------------------------------------------------------- without a holdout, with units


def test_without_a_holdout_there_are_scores_and_no_flags():
    (real, synthetic, _), _ = planted("whole")
    outliers, hit = divulge.exposure(real, synthetic)
    assert (hit.real, hit.verdict, outliers.verdict) == (None, None, None)
    assert "no holdout: nobody can be flagged, since chance alone gives high scores too" in hit.notes
    assert not np.isnan(hit.individual.real).any()
    assert hit.individual.holdout is None
    people = people_of(build_case(real, synthetic))
    assert (people.p_value, people.flagged, people.smallest_flaggable) == (None, None, None)


def test_the_rows_of_a_unit_are_one_person():
    """Twins of one home are no other person: both are lonely; with homes apart each is the other's neighbour."""
    x = pl.DataFrame({"home": ["a", "a", "b", None, None], "x": [0.0, 0.0, 4.0, 9.0, 9.0]})
    schema = Schema((Column("x", "numeric"), Column("home", "categorical", roles=("unit",))))
    case = build_case(x, x[:1], schema=schema)
    assert people_of(case, k=1).real.to_person.tolist() == pytest.approx([4 / 9, 4 / 9, 4 / 9, 0, 0])
    alone = build_case(x.drop("home"), x[:1].drop("home"), schema=Schema((Column("x", "numeric"),)))
    assert people_of(alone, k=1).real.to_person.tolist() == pytest.approx([0, 0, 4 / 9, 0, 0])


def homes(rng, n, name, spread=0.01):
    """n homes of three people who are much alike."""
    rows = np.repeat(numbers(rng, n), 3, axis=0) + spread * rng.normal(size=(3 * n, 6))
    return continuous(rows).with_columns(home=pl.Series(np.repeat([f"{name}{i}" for i in range(n)], 3)))


def test_units_are_compared_with_units():
    rng = np.random.default_rng(8)
    real, holdout, synthetic = homes(rng, 150, "r"), homes(rng, 150, "h"), homes(rng, 150, "s")
    leaked = pl.concat([real[:60:3], synthetic[60:]])  # one person of each of the first 20 homes
    case = build_case(real, leaked, holdout, unit="home")
    people = people_of(case)
    _, hit = divulge.exposure.run(case)
    assert (hit.real.n, hit.context["fewest units that can be flagged"]) == (150, 10)
    assert len(people.real.score) == 450
    # every copied home is found, by the copied person at least
    assert people.flagged[:60:3].all()
    flagged = np.unique(np.flatnonzero(people.flagged) // 3)
    assert people.n_flagged == len(flagged) == hit.real.hits <= 26
    # the p-value of a record counts strangers' homes by their highest score
    highest = people.holdout.score.reshape(150, 3).max(axis=1)
    assert people.p_value[7] == (1 + (highest >= people.real.score[7]).sum()) / 151


def test_homes_are_counted_and_not_their_rows():
    """10 of 100 homes at p = .01 are flagged at .1; as 10 of 300 rows they would not be."""
    p, home = np.ones(300), np.repeat(np.arange(100), 3)
    p[:30:3] = 0.01
    assert np.flatnonzero(flagged_at(p, home, 0.1)).tolist() == list(range(0, 30, 3))
    assert not flagged_at(p, None, 0.1).any()


def test_rows_without_a_unit_are_people_of_their_own_across_tables():
    x = pl.DataFrame({"home": [None, "a"], "x": [0.0, 4.0]})
    schema = Schema((Column("x", "numeric"), Column("home", "categorical", roles=("unit",))))
    case = build_case(x, x[:1], pl.DataFrame({"home": [None, "b"], "x": [0.0, 9.0]}), schema=schema)
    assert people_of(case).real.to_person.tolist() == pytest.approx([0, 4 / 9])


def test_no_leak_between_homes_flags_nobody():
    rng = np.random.default_rng(9)
    real, holdout, synthetic = homes(rng, 100, "r"), homes(rng, 100, "h"), homes(rng, 100, "s")
    assert people_of(build_case(real, synthetic, holdout, unit="home")).n_flagged == 0


# ---------------------------------------------------------------- laws


@pytest.mark.slow
def test_the_order_of_rows_changes_nothing_but_row_numbers():
    tables, _ = planted("near")
    rng = np.random.default_rng(0)
    orders = [rng.permutation(len(t)) for t in tables]
    one, other = (people_of(build_case(*t)) for t in (tables, [t[o] for t, o in zip(tables, orders, strict=True)]))
    for field in ("outlierness", "to_person", "to_synthetic", "score"):
        assert (getattr(one.real, field)[orders[0]] == getattr(other.real, field)).all()
    assert (one.flagged[orders[0]] == other.flagged).all()
    assert (one.real.synthetic_row[orders[0]] == orders[1][other.real.synthetic_row]).all()
    told = [[{**r.to_dict(), "seconds": 0} for r in divulge.exposure.run(build_case(*t))] for t in (tables, [t[o] for t, o in zip(tables, orders, strict=True)])]  # fmt: skip
    assert told[0] == told[1]


def test_units_of_measure_and_column_order_change_nothing():
    tables, _ = planted("near")
    scaled = [t.with_columns(pl.col("c0") * 3 + 7).select(reversed(t.columns)) for t in tables]
    one, other = (people_of(build_case(*t)) for t in (tables, scaled))
    assert (one.real.score == other.real.score).all()
    assert (one.p_value == other.p_value).all()


def test_the_case_remembers_and_stays_as_it_was():
    tables, _ = planted("near")
    case = build_case(*tables)
    assert people_of(case) is people_of(case)
    assert people_of(case) is not people_of(case, fdr=0.2)


def test_one_person_alone_has_no_score():
    one = pl.DataFrame({"x": [1.0], "y": ["a"]})
    outliers, hit = divulge.exposure(one, one, columns=["x", "y"])
    assert np.isnan(outliers.individual.real[0])
    assert np.isnan(hit.individual.real[0])
    assert (outliers.value.real, outliers.curves) == (None, {})


def test_no_value_is_told():
    real = pl.DataFrame({"x": [7341.0 + i for i in range(40)], "y": ["secretvalue", "other"] * 20})
    for r in divulge.exposure(real, real, holdout=real):
        told = json.dumps(r.to_dict())
        assert "secretvalue" not in told
        assert "7341" not in told


@pytest.mark.parametrize(
    ("wrong", "error"),
    [({"k": 0}, SettingError), ({"neighbour": 0}, SettingError), ({"fdr": 0}, SettingError), ({"fdr": 1}, SettingError),
     ({"columns": ["z"]}, ColumnError)],
)  # fmt: skip
def test_wrong_settings_are_told(wrong, error):
    real = pl.DataFrame({"x": [1, 2], "y": [2, 1]})
    with pytest.raises(error, match=r"hint:|no column"):
        divulge.exposure(real, real, **wrong)
