"""Re-identification risk of the real table, and lone matches: numbers by hand, and the integral behind an estimate."""

import numpy as np
import polars as pl
import pytest

import divulge
from divulge.attacks.identity._classes import mean_inverse
from divulge.core.errors import SettingError


def keyed(*classes):
    """A table with so many rows of each key: 0, 1, 2."""
    return pl.DataFrame({"k": np.repeat(list("abc")[: len(classes)], classes)})


REAL, EVERYBODY = keyed(1, 2, 1), keyed(4, 2, 10)  # (f, F) = (1, 4), (2, 2), (1, 10)


def risks(**given):
    calls = [{}, given] if given else [{}]
    return {r.variant: r for call in calls for r in divulge.reidentification(REAL, REAL, keys=["k"], **call)}


def test_prosecutor_journalist_and_marketer_of_three_classes():
    # by the formulas of ARX: 1 and 3/4; 1/2 and max(3/16, (1/4 + 1 + 1/10) / 4); at 0.2 three records of four
    found = risks(population=EVERYBODY)
    assert (found["prosecutor"].value.real, found["prosecutor"].real.rate) == (1.0, 0.75)
    assert found["journalist"].value.real == 0.5
    assert found["journalist"].real.rate == pytest.approx(0.3375, abs=1e-12)
    assert found["marketer"].real.rate == pytest.approx(0.3375, abs=1e-12) and found["marketer"].value is None
    at_risk = dict(zip(*(found["journalist"].curves[c] for c in ("risk above", "real")), strict=True))
    assert at_risk == {0.05: 1.0, 0.09: 1.0, 0.2: 0.75, 0.33: 0.5, 0.5: 0.0}  # 1/2 is not above 0.5


def test_the_journalist_has_classes_over_people_where_that_is_more():
    found = divulge.reidentification(keyed(1, 100), REAL, keys=["k"], population=keyed(50, 100))
    assert found[0].real.rate == pytest.approx(2 / 150)  # the mean of f/F is (1/50 + 1) / 101, which is less
    assert found[1].real.rate == pytest.approx((1 / 50 + 1) / 101)


def test_without_a_population_the_prosecutor_alone_is_answered():
    assert list(risks()) == ["prosecutor"]
    assert all(r.settings == {"reads": "real table"} and r.verdict is None for r in risks(population=400).values())


def test_a_population_that_lacks_members_answers_no_journalist():
    found = risks(population=keyed(4, 1, 10))
    assert found["journalist"].real is None and "marketer" not in found
    assert "the population lacks 1 members" in found["journalist"].notes[-1]


def test_a_population_smaller_than_the_table_is_refused():
    with pytest.raises(SettingError, match=r"smaller than the real table\. hint: "):
        risks(population=3)


def test_the_number_of_people_alone_is_an_estimate_and_says_so():
    found = risks(population=80)
    p = 4 / 80
    once, twice = p / (1 - p) * np.log(1 / p), p / (1 - p) ** 2 * (p * np.log(p) + 1 - p)
    assert found["marketer"].real.rate == pytest.approx((2 * once + 2 * twice) / 4)
    assert any("estimated from their number alone" in n for n in found["journalist"].notes)


@pytest.mark.parametrize("p", [0.01, 0.05, 0.5, 0.99, 1.0])
def test_the_mean_of_one_over_people_is_the_integral(p):
    from scipy.integrate import quad

    sizes = np.array([1, 2, 3, 19, 20, 21, 300])
    told = [quad(lambda t, f=f: t ** (f - 1) * (p / (1 - (1 - p) * t)) ** f, 0, 1, points=[1 - p], limit=900)[0]
            for f in sizes.tolist()]  # fmt: skip
    assert mean_inverse(sizes, p) == pytest.approx(told, rel=1e-6)
    assert mean_inverse(np.array([3]), 0.05)[0] == pytest.approx(0.0239825, abs=5e-8)  # Benedetti and Franconi


def test_lone_matches_are_claims_about_who_is_alone_that_the_row_has_right():
    real = pl.DataFrame({"k": [1, 2, 3, 3, 4], "t": list("ababa")})
    holdout = pl.DataFrame({"k": [5, 6, 4], "t": list("abb")})
    synthetic = pl.DataFrame({"k": [1, 2, 3, 4, 5, 6, 6], "t": list("aaaaabb")})
    one = divulge.lone_match(real, synthetic, holdout, keys=["k"], target="t")
    # 1 right, 2 wrong; 3 is not alone, 4 is not alone among members and strangers; 5 right; 6 has two rows
    assert (one.real.hits, one.real.n, one.holdout.hits, one.holdout.n) == (1, 5, 1, 3)
    assert one.context == {"claims about members": 2.0, "claims about strangers": 1.0}
    assert one.settings == {"reads": "apparent"}


def test_the_journalist_claims_who_is_alone_in_the_population():
    real = pl.DataFrame({"k": [1, 2, 3, 3, 4], "t": list("ababa")})
    holdout = pl.DataFrame({"k": [5, 6, 4], "t": list("abb")})
    synthetic = pl.DataFrame({"k": [1, 2, 3, 4, 5, 6, 6, 9], "t": list("aaaaabba")})
    everybody = pl.DataFrame({"k": [1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8]})
    one = divulge.lone_match(real, synthetic, holdout, keys=["k"], target="t", population=everybody)
    # 1 right; 2 is not alone in the population; 5 right; 6 has two rows
    assert (one.variant, one.real.hits, one.real.n, one.holdout.hits, one.holdout.n) == ("journalist", 1, 5, 1, 3)
    assert one.context == {"claims about members": 1.0, "claims about strangers": 1.0}


def test_a_population_that_lacks_members_or_strangers_leaves_the_journalist_unanswered():
    real = pl.DataFrame({"k": [1, 2], "t": list("ab")})
    for everybody in ([1, 2], [1, 2, 3, 9], [3, 4, 2]):
        one = divulge.lone_match(
            real, real, pl.DataFrame({"k": [3, 4], "t": list("ab")}), keys=["k"], target="t",
            population=pl.DataFrame({"k": everybody}),
        )  # fmt: skip
        lacking = len({1, 2, 3, 4} - set(everybody))
        assert one.verdict is None and one.real is None
        assert (
            one.notes[-1]
            == f"the population lacks {lacking} people of the real and holdout table on some keys, so that nothing is said"
        )


@pytest.mark.parametrize(
    "kind", [lambda t: t, lambda t: t.to_pandas(), lambda t: t.sample(fraction=1, shuffle=True, seed=1)]
)
def test_claims_of_the_journalist_are_those_of_plain_numpy_with_binned_keys(kind):
    rng = np.random.default_rng(2)

    def people(n):
        return pl.DataFrame(
            {
                "age": rng.normal(50, 9, n).round(2),
                "sex": rng.choice(["f", "m"], n),
                "town": rng.choice([f"T{i}" for i in range(40)], n),
                "t": rng.choice(list("abc"), n),
            }
        )

    everybody = people(900)
    real, holdout = everybody[:300], everybody[300:600]
    synthetic = pl.concat([real[:60], people(240)])
    register = kind(everybody.drop("t"))
    one = divulge.lone_match(real, synthetic, holdout, keys=["age", "sex", "town"], target="t", population=register)
    edges = np.quantile(np.concatenate([real["age"], holdout["age"]]), np.arange(1, 10) / 10)

    def keyed_as(table):
        bins = np.searchsorted(edges, table["age"].to_numpy(), side="left").tolist()
        return list(zip(bins, table["sex"], table["town"], strict=True))

    there, rows = keyed_as(everybody), keyed_as(synthetic)
    for side, table in ((one.real, real), (one.holdout, holdout)):
        claimed = [
            (k, t) for k, t in zip(keyed_as(table), table["t"], strict=True) if there.count(k) == rows.count(k) == 1
        ]
        assert side.hits == sum(synthetic["t"][rows.index(k)] == t for k, t in claimed)
        assert len(claimed) == one.context[f"claims about {'members' if table is real else 'strangers'}"]
    assert one.verdict == "excess found"


def test_lone_matches_need_strangers():
    with pytest.raises(SettingError, match="hint: pass holdout="):
        divulge.lone_match(REAL.with_columns(t=1), REAL.with_columns(t=1), keys=["k"], target="t")
