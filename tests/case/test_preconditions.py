"""What must hold before an excess is read as disclosure: each check seen to pass, and seen to fail."""

import math

import numpy as np
import polars as pl
import pytest
from scipy.special import ndtr

from divulge.case.case import build_case
from divulge.case.comparable.check import data_hash
from divulge.case.comparable.exchangeable import _codes_of_people, _halves, _other_shares, exchangeability, exchangeable
from divulge.case.comparable.overlap import shared_rows
from divulge.case.preconditions import check_all
from divulge.core.schema import Column, Schema

LETTERS = np.array(list("abcdef"))


def people(rng, n, shares=(0.4, 0.3, 0.3), **more):
    """Four columns that depend on a latent class, and a number."""
    latent = rng.choice(3, n, p=shares)
    columns = {f"c{j}": LETTERS[(latent * (j + 1) + rng.integers(0, 3, n)) % 6] for j in range(3)}
    return pl.DataFrame(columns | {"x": np.round(rng.normal(latent, 1), 2)} | more)


def checks(*tables, **options):
    return {c.check: c for c in check_all(build_case(*tables, **options))}


def three(seed=0, n=300):
    rng = np.random.default_rng(seed)
    return [people(rng, n) for _ in range(3)]


def test_a_random_split_passes_every_check():
    found = checks(*three())
    assert all(c.ok for c in found.values()), found
    assert {"same columns", "sizes", "no overlap", "exchangeable"} <= set(found)
    assert found["sizes"].detail == "300 real, 300 synthetic, 300 holdout rows"


# ---------------------------------------------------------------- members and strangers alike?


def households(rng, n, shares=(0.4, 0.3, 0.3)):
    """Households of 4 who share everything but for one in ten."""
    rows = people(rng, n // 4, shares)
    home = np.repeat(np.arange(n // 4), 4)
    table = rows[home].with_columns(home=pl.Series(home))
    alone = pl.Series(rng.random(n) < 0.1)
    fresh = people(rng, n, shares)
    return table.with_columns(pl.when(alone).then(fresh[c]).otherwise(table[c]).alias(c) for c in rows.columns)


def p_of(z):
    return min(1.0, 2 * float(ndtr(-z)))  # the larger of two folds


@pytest.mark.slow
@pytest.mark.parametrize(
    ("runs", "errors"),
    [pytest.param(150, 3.0, id="quick"), pytest.param(2000, 1.96, id="full", marks=pytest.mark.full)],
)
@pytest.mark.parametrize("units", [False, True])
def test_a_random_split_seldom_looks_uneven(units, runs, errors):
    rng = np.random.default_rng(1)
    p = []
    for i in range(runs):
        sizes = [(400, 400), (400, 160), (160, 400)][i % 3]
        draw = households if units else people
        real, holdout = (draw(rng, n) for n in sizes)
        p.append(p_of(exchangeability(build_case(real, real, holdout, unit="home" if units else None, seed=i))[0]))
    p = np.array(p)
    for level in (0.05, 0.01):
        assert (p <= level).mean() <= level + errors * math.sqrt(level * (1 - level) / runs)


@pytest.mark.slow
def test_households_taken_for_people_look_uneven():
    """Without the unit the halves share households, and the test is wrong: this is what `unit` is for."""
    rng = np.random.default_rng(2)
    uneven = 0
    for i in range(60):
        real, holdout = (households(rng, 400).drop("home") for _ in range(2))
        uneven += p_of(exchangeability(build_case(real, real, holdout, seed=i))[0]) < 0.01
    assert uneven > 30


@pytest.mark.first(1)
@pytest.mark.parametrize("shares", [(0.1, 0.3, 0.6), (0.7, 0.2, 0.1)])
@pytest.mark.parametrize("units", [False, True])
def test_a_shifted_holdout_is_found(shares, units):
    missed = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        draw = households if units else people
        n = 1200 if units else 400
        real, holdout = draw(rng, n), draw(rng, n, shares)
        found = exchangeable(build_case(real, real, holdout, unit="home" if units else None, seed=seed))
        missed += found.ok
        if not found.ok:
            assert "every excess below is suspect" in found.detail
    assert missed <= 1


@pytest.mark.parametrize("units", [False, True])
@pytest.mark.parametrize("value", [None, "new"])
def test_a_value_that_a_fifteenth_of_one_side_has_alone_is_found_and_named(units, value):
    """A classifier hardly sees it, and strangers are then never as near as members."""
    rng = np.random.default_rng(4)
    real, holdout = (households(rng, 1200) if units else people(rng, 400) for _ in range(2))
    changed = holdout.with_columns(pl.lit("a").alias("code"))
    real = real.with_columns(pl.lit("a").alias("code"))
    where = (pl.col("home").rank("dense") if units else pl.int_range(pl.len())) % 15 == 0
    changed = changed.with_columns(code=pl.when(where).then(pl.lit(value)).otherwise(pl.col("code")))
    unit = "home" if units else None
    for one, other in ((real, changed), (changed, real)):
        found = exchangeable(build_case(one, one, other, unit=unit, seed=0))
        assert not found.ok
        assert "Values, or missing ones, of 'code' are more frequent in one of them" in found.detail
    assert exchangeable(build_case(real, real, holdout.with_columns(pl.lit("a").alias("code")), unit=unit, seed=0)).ok


@pytest.mark.slow
def test_random_splits_seldom_differ_in_the_frequency_of_values():
    """Fisher's test is conservative: one split in a thousand at most, of tables with 40 codes, holes, and homes of a few."""
    found = 0
    for seed in range(300):
        rng = np.random.default_rng([seed, 8])
        n = 400
        table = pl.DataFrame({f"c{j}": (rng.random(n) ** 2 * 40 // 1).astype(int).astype(str) for j in range(8)})
        table = table.with_columns(pl.when(pl.Series(rng.random(n) > 0.1)).then(pl.col("c0")).alias("c0"))
        home = rng.integers(0, 150, n)
        table = table.with_columns(home=pl.Series(home).cast(pl.String), c1=pl.Series(home % 7).cast(pl.String))
        mine = pl.Series(rng.permutation(150)[home] < 75) if seed % 2 else pl.Series(rng.permutation(n) < n // 2)
        case = build_case(table.filter(mine), table, table.filter(~mine), unit="home" if seed % 2 else None, seed=seed)
        found += bool(_other_shares(case, _codes_of_people(case)))
    assert found <= 2  # of .3 expected; three have a chance of .004


@pytest.mark.slow
def test_a_shift_in_one_number_is_found():
    rng = np.random.default_rng(3)
    real, holdout = people(rng, 400), people(rng, 400).with_columns(pl.col("x") + 1)
    assert not checks(real, real, holdout)["exchangeable"].ok


def test_a_shift_in_how_two_columns_go_together_is_found():
    rng = np.random.default_rng(4)
    a, b = rng.integers(0, 4, 500), rng.integers(0, 4, 500)
    same, apart = ({"a": [f"v{x}" for x in a], "b": [f"v{x}" for x in y]} for y in (a, b))
    assert not checks(pl.DataFrame(same), pl.DataFrame(same), pl.DataFrame(apart))["exchangeable"].ok


def test_order_and_names_do_not_enter_the_comparison_of_the_two():
    rng = np.random.default_rng(5)
    for _ in range(5):
        real, holdout = (households(rng, 200).select("c0", "c1", "home") for _ in range(2))
        expected = exchangeability(build_case(real, real, holdout, unit="home"))
        turned = [t[rng.permutation(200)].select("home", "c1", "c0") for t in (real, holdout)]
        turned = [t.with_columns(home=(pl.col("home") * 7919 + 13) % 10_007) for t in turned]
        assert exchangeability(build_case(turned[0], real, turned[1], unit="home")) == expected


def test_the_seed_of_a_data_set_forgets_order_and_names_but_not_the_data():
    rng = np.random.default_rng(11)
    real, synthetic, holdout = (people(rng, 100, home=rng.integers(0, 30, 100)) for _ in range(3))
    expected = data_hash(build_case(real, synthetic, holdout, unit="home"))
    turned = [t[rng.permutation(100)].select("home", "x", "c2", "c0", "c1") for t in (real, holdout)]
    for column in ("c0", "c1", "c2"):
        other = dict(zip(LETTERS, [f"v{x}" for x in rng.permutation(6)], strict=True))
        turned = [t.with_columns(pl.col(column).replace(other)) for t in turned]
    turned = [t.with_columns(x=7 - pl.col("x"), home=pl.col("home") * 7919 % 10_007, one=pl.lit("a")) for t in turned]
    # the synthetic table keeps its names: it has no part in the comparison of the other two
    assert data_hash(build_case(turned[0], synthetic.with_columns(one=pl.lit("a")), turned[1], unit="home")) == expected
    assert data_hash(build_case(holdout, synthetic, real, unit="home")) != expected
    assert data_hash(build_case(people(rng, 100), synthetic, holdout)) != data_hash(
        build_case(real, synthetic, holdout)
    )


def test_few_people_are_not_compared():
    rng = np.random.default_rng(6)
    assert "exchangeable" not in checks(people(rng, 39), people(rng, 39), people(rng, 400))
    assert "exchangeable" in checks(people(rng, 40), people(rng, 39), people(rng, 400))


# ---------------------------------------------------------------- overlap, units, identical tables


def test_people_in_both_tables_are_found():
    real, synthetic, holdout = three()
    both = pl.concat([holdout[:280], real[:20]])
    found = checks(real, synthetic, both)["no overlap"]
    assert not found.ok
    assert found.detail.endswith(": more than a random split of these people gives; remove people who are in both")
    assert 20 <= int(found.detail.split(" of ")[0]) < 30  # a few by chance


def test_coarse_tables_overlap_by_chance():
    rng = np.random.default_rng(7)
    real, synthetic, holdout = (pl.DataFrame({"a": LETTERS[rng.integers(0, 6, 300)]}) for _ in range(3))
    found = checks(real, synthetic, holdout)
    assert found["no overlap"].ok
    assert found["no overlap"].detail == (
        "300 of 300 holdout rows equal a real row, as a random split of these people may give"
    )
    assert found["repeated rows"].ok
    assert "294 of 300 real rows repeat another one" in found["repeated rows"].detail


def plain_shared(labels, ids):
    mine = set(ids[~labels].tolist())
    return sum(i in mine for i in ids[labels].tolist())


@pytest.mark.parametrize(("n_real", "n_holdout", "n_values"), [(60, 40, 300), (200, 20, 150), (15, 90, 60)])
def test_shared_rows_agree_with_a_plain_permutation_of_labels(n_real, n_holdout, n_values):
    rng = np.random.default_rng(9)
    ids = rng.integers(0, n_values, n_real + n_holdout)
    real, holdout = ids[:n_real], ids[n_real:]
    labels = np.arange(len(ids)) >= n_real
    seen = plain_shared(labels, ids)
    p = np.mean([plain_shared(rng.permutation(labels), ids) >= seen for _ in range(2000)])
    assert 0.02 < p < 0.98  # else the comparison says nothing
    for draws in (999, 20_000_000):  # the second takes fewer permutations and their normal limit
        shared, found = shared_rows(real, holdout, np.random.default_rng(1), draws)
        assert shared == seen
        error = 4 * math.sqrt(p * (1 - p) * (1 / 2000 + 1 / (999 if draws == 999 else 99)))
        assert found == pytest.approx(p, abs=error + (0.12 if draws > 999 else 0))  # few whole numbers are not normal


@pytest.mark.slow
def test_shared_rows_of_a_random_split_are_seldom_many():
    rng = np.random.default_rng(10)
    p = [shared_rows(*np.split(rng.integers(0, 400, 300), [200]), rng)[1] for _ in range(400)]
    for level in (0.05, 0.01):
        assert np.mean(np.array(p) <= level) <= level + 3 * math.sqrt(level * (1 - level) / 400)
    assert shared_rows(np.arange(50), np.arange(50, 90), rng) == (0, 1.0)
    assert shared_rows(np.arange(50), np.arange(50), rng) == (50, 0.001)


def test_units_on_both_sides_are_found():
    rng = np.random.default_rng(8)
    real, synthetic, holdout = (people(rng, 200, home=np.arange(200) // 2 + 1000 * i) for i in range(3))
    assert checks(real, synthetic, holdout, unit="home")["units apart"].ok
    moved = holdout.with_columns(home=pl.when(pl.col("home") < 2005).then(pl.col("home") - 2000).otherwise("home"))
    found = checks(real, synthetic, moved, unit="home")["units apart"]
    assert not found.ok
    assert found.detail.startswith("5 units of 'home' are in both")
    assert "units apart" not in checks(real, synthetic, holdout)


@pytest.mark.parametrize("pair", [(0, 1), (0, 2), (1, 2)])
def test_a_table_given_twice_is_found(pair):
    tables = three()
    tables[pair[1]] = tables[pair[0]].reverse()
    roles = ["real", "synthetic", "holdout"]
    found = checks(*tables)["different tables"]
    assert not found.ok
    assert f"{roles[pair[0]]} and {roles[pair[1]]} are the same table" in found.detail
    assert "different tables" not in checks(*three())


def test_equal_columns_in_another_order_are_not_the_same_table():
    real, _, holdout = three()
    shuffled = real.with_columns(c0=real["c0"].shuffle(seed=1))
    assert "different tables" not in checks(real, shuffled, holdout)


# ---------------------------------------------------------------- sizes, kinds, values


def test_a_missing_holdout_is_told():
    real, synthetic, _ = three()
    found = checks(real, synthetic)
    assert not found["holdout"].ok
    assert not {"sizes", "no overlap", "exchangeable", "units apart"} & set(found)


def test_few_strangers_are_told():
    real, synthetic, holdout = three()
    assert not checks(real, synthetic, holdout[:99])["sizes"].ok
    assert checks(real, synthetic, holdout[:100])["sizes"].ok


def test_columns_that_not_all_tables_have_are_told():
    real, synthetic, holdout = three()
    found = checks(real.with_columns(more=pl.lit(1)), synthetic, holdout)["same columns"]
    assert (found.ok, found.detail) == (False, "4 columns are shared; real has 1 more ('more'), left out")


def test_types_that_disagree_are_told():
    real, synthetic, holdout = three()
    found = checks(real, synthetic.with_columns(x=pl.lit("unknown")), holdout)["same types"]
    assert not found.ok
    assert found.detail == (
        "'x' holds numbers in real; 300 of 300 values in synthetic (text) cannot be read so and are taken as missing"
    )
    assert "same types" not in checks(real, synthetic, holdout)


@pytest.mark.slow
def test_a_date_stays_a_date_when_the_synthetic_table_writes_it_otherwise():
    days = pl.date_range(pl.date(2021, 1, 1), pl.date(2021, 10, 27), eager=True)
    real, synthetic, holdout = (t.with_columns(day=days.dt.to_string("%Y-%m-%d")) for t in three())
    other = synthetic.with_columns(day=days.dt.to_string("%d/%m/%Y"))
    case = build_case(real, other, holdout)
    assert case.schema["day"].kind == "datetime"
    assert (case.codes("day", binned=False)[0] == case.codes("day", binned=False)[1]).all()
    found = checks(real, other, holdout)["same types"]
    assert found.ok
    assert found.detail == (
        "'day' is written YYYY-MM-DD in real and DD/MM/YYYY in synthetic and YYYY-MM-DD in holdout: read as the same "
        "dates"
    )
    unclear = synthetic.with_columns(day=pl.lit("04/03/2021"), x=pl.lit("secret"))
    assert build_case(real, unclear, holdout).schema["day"].kind == "datetime"
    found = checks(real, unclear, holdout)["same types"]
    assert not found.ok
    assert "(DD/MM/YYYY or MM/DD/YYYY, and no value tells which)" in found.detail
    assert not any(value in found.detail for value in ("04/03", "secret"))


def test_identifiers_and_constants_are_told():
    tables = [t.with_columns(person_id=pl.int_range(300), country=pl.lit("x")) for t in three()]
    found = checks(*tables)
    assert found["identifiers and free text"].detail.startswith("'person_id': not used")
    assert found["constant columns"].detail.startswith("'country':")
    assert not {"identifiers and free text", "constant columns"} & set(checks(*three()))


def test_infinities_are_told():
    real, synthetic, holdout = three()
    odd = synthetic.with_columns(x=pl.when(pl.int_range(300) == 7).then(math.inf).otherwise("x"))
    found = checks(real, odd, holdout)["infinite values"]
    assert not found.ok
    assert found.detail.startswith("'x':")
    assert "infinite values" not in checks(real, synthetic, holdout)


@pytest.mark.slow
def test_synthetic_values_that_nobody_has_are_told():
    real, synthetic, holdout = three()
    other = synthetic.with_columns(c1=pl.col("c1").str.to_uppercase())
    found = checks(real, other, holdout)["same values"]
    assert not found.ok
    assert found.detail.startswith("'c1': most synthetic values occur in no real record")
    half = synthetic.with_columns(c1=pl.when(pl.int_range(300) < 140).then(pl.lit("Z")).otherwise("c1"))
    assert "same values" not in checks(real, half, holdout)
    strangers_have_it = holdout.with_columns(c1=pl.col("c1").str.to_uppercase())
    assert "same values" not in checks(real, other, strangers_have_it)


def test_no_check_prints_a_value():
    real, synthetic, holdout = (t.with_columns(c2=pl.lit("secret-") + pl.col("c2")) for t in three())
    tables = real, synthetic.with_columns(c1=pl.lit("secret-z"), x=pl.lit(math.inf)), pl.concat([real[:50], holdout])
    assert not any("secret" in c.detail for c in checks(*tables).values())


def test_halves_are_drawn_in_the_order_of_the_rows():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 4, (200, 3)).astype(np.int32)
    drawn = np.random.default_rng(1).permutation(np.arange(200) % 2)
    np.testing.assert_array_equal(_halves(rows, None, np.random.default_rng(1))[np.lexsort(rows.T[::-1])], drawn)


def test_labels_that_many_people_have_to_themselves_are_as_new_among_strangers():
    """Three in five are nobody's else: a clean table has other ones too, as a holdout has."""
    rng = np.random.default_rng(12)
    code = lambda: pl.Series([f"k{v}" for v in rng.integers(0, 1200, 300)])  # noqa: E731
    real, synthetic, holdout = (people(rng, 300).with_columns(code=code()) for _ in range(3))
    kinds = Schema((Column("code", "categorical"),))
    assert 0.4 < (~holdout["code"].is_in(real["code"].to_list())).mean() < 0.85
    assert "same values" not in {
        c.check for c in check_all(build_case(real, synthetic, holdout, schema=kinds)) if not c.ok
    }
    other = synthetic.with_columns(pl.col("code").str.replace("k", "K-"))
    assert "same values" in {c.check for c in check_all(build_case(real, other, holdout, schema=kinds)) if not c.ok}
