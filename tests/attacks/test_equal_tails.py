"""Last digits that one person alone has: by hand, two columns, what is left out, units, bad input."""

from datetime import datetime, timedelta

import numpy as np
import polars as pl
import pytest

import divulge
from divulge.attacks.copying.equal_tails import TAILS, TIME_OF_DAY, TWO_TAILS

ONLY = ["last digits"]


def of(results, variant):
    return [r for r in results if r.variant == variant]


def tails(real, synthetic, holdout, **more):
    return divulge.copies(real, synthetic, holdout=holdout, variants=[*ONLY, "exact"], **more)[1:]


def cents(rng, n, columns="a"):
    return pl.DataFrame({c: rng.uniform(1000, 9999, n).round(2) for c in columns})


def tables(seed, n=400, share=0.2, columns="a", digits=4):
    """Synthetic rows keep the last digits of a share of the members."""
    rng = np.random.default_rng(seed)
    real, holdout, synthetic = (cents(rng, n, columns) for _ in range(3))
    taken, unit = round(share * n), 10.0 ** (digits - 2)
    kept = real[:taken].select((pl.all() % unit + unit * (pl.all() // unit % 60 + 23)).round(2))
    return real, pl.concat([kept, synthetic[taken:]]), holdout


def test_tails_by_hand():
    """Digits without a point, padded; 2 tails of 5 digits are shared by people, and one value stands there whole."""
    people = [1234.5, 4321.25, 7777.75, 8888.5, *(1000.25 + 11 * np.arange(36))]
    real, holdout = pl.DataFrame({"a": people[:20]}), pl.DataFrame({"a": people[20:]})
    synthetic = pl.DataFrame({"a": [9234.5, 4321.25, 5777.75, 3.5]})
    found = {r.variant: r for r in tails(real, synthetic, holdout)}
    hits = {k: np.flatnonzero(found[TAILS[k]].individual.real == 1).tolist() for k in (4, 5) if TAILS[k] in found}
    assert hits == {4: [0, 2], 5: [0, 2]}


@pytest.mark.parametrize("digits", [4, 5])
def test_kept_digits_are_found_in_the_column_that_has_them(digits):
    real, synthetic, holdout = tables(0, digits=digits)
    other = [cents(np.random.default_rng(k), 400, "b") for k in range(3)]
    real, synthetic, holdout = (
        pl.concat([t, o], how="horizontal") for t, o in zip((real, synthetic, holdout), other, strict=True)
    )
    found = [(r.variant, r.keys) for r in tails(real, synthetic, holdout) if r.verdict == "excess found"]
    assert (TAILS[digits], ("a",)) in found
    assert all(keys == ("a",) for _, keys in found)


def times(rng, n):
    return pl.Series([datetime(2020, 1, 1) + timedelta(seconds=int(s)) for s in rng.integers(0, 9 * 10**7, n)])


@pytest.mark.parametrize("written", [None, "%d/%m/%Y %H:%M:%S"])
def test_a_time_of_day_that_stays_where_the_date_is_drawn_anew_is_found_by_it_alone(written):
    rng = np.random.default_rng(7)
    real, synthetic, holdout = (times(rng, 300) for _ in range(3))
    other = times(rng, 300).dt.truncate("1d")
    kept = pl.concat([other[:60] + (real[:60] - real[:60].dt.truncate("1d")), synthetic[60:]])
    tables = [pl.DataFrame({"seen": t, "ward": rng.choice(list("abc"), 300)}) for t in (real, kept, holdout)]
    if written:
        tables = [t.with_columns(pl.col("seen").dt.strftime(written)) for t in tables]
    results = divulge.copies(*tables[:2], holdout=tables[2])
    assert {(r.variant, r.keys) for r in results if r.verdict == "excess found"} == {(TIME_OF_DAY, ("seen",))}
    (own,) = of(results, TIME_OF_DAY)
    theirs = {t.time() for t in kept}
    alone = [t.time() for t in [*real, *holdout]]
    hit = [alone.count(t.time()) == 1 and t.time() in theirs for t in [*real, *holdout]]
    np.testing.assert_array_equal(np.concatenate([own.individual.real, own.individual.holdout]), hit)
    assert own.real.hits >= 55 and "the time of day of" in str(own)
    days = [
        t.with_columns(seen=pl.Series(s).dt.truncate("1d")) for t, s in zip(tables, (real, kept, holdout), strict=True)
    ]
    assert not of(divulge.copies(*days[:2], holdout=days[2]), TIME_OF_DAY)


@pytest.mark.parametrize("spelled", [str, lambda t: f"({t[:4]}) {t[4:7]}-{t[7:]}"])
def test_a_telephone_number_without_its_area_code_is_found_by_its_last_digits(spelled):
    rng = np.random.default_rng(8)
    real, synthetic, holdout = ([f"0{k}" for k in rng.integers(10**9, 10**10, 300)] for _ in range(3))
    kept = [f"{t[-7:-4]} {t[-4:]}" for t in real[:60]] + synthetic[60:]
    tables = [pl.DataFrame({"phone": [*map(spelled, t)]}) for t in (real, synthetic, holdout)]
    tables[1] = pl.DataFrame({"phone": kept[:60] + [*map(spelled, kept[60:])]})
    results = divulge.copies(*tables[:2], holdout=tables[2])
    excess = {(r.variant, r.keys) for r in results if r.verdict == "excess found"}
    excess.discard(("one column, a word more or less", ("phone",)))  # where blanks part the area code
    assert excess == {(TAILS[6], ("phone",))}
    (own,) = [r for r in results if r.variant in TAILS.values()]
    assert own.real.hits >= 59 and own.holdout.hits <= 2


def test_two_columns_tell_where_people_are_too_many_for_one():
    real, synthetic, holdout = tables(1, 4000, 0.02, "ab", digits=3)
    found = tails(real, synthetic, holdout)
    assert not of(found, TAILS[3])  # nobody of 8,000 has three digits alone
    (both,) = of(found, TWO_TAILS)
    assert both.keys == ("a", "b") and both.verdict == "excess found"
    assert both.real.hits >= 70 and both.holdout.hits <= 30  # 16 by chance
    assert not [r for r in found if r.variant != TWO_TAILS and r.verdict == "excess found"]


def test_without_a_leak_nothing_is_found_and_labels_do_not_matter():
    real, synthetic, holdout = tables(2, share=0)
    here, there = tails(real, synthetic, holdout), tails(holdout, synthetic, real)
    assert {r.verdict for r in here} <= {"none found", "cannot tell"}
    for one, other in zip(here, there, strict=True):
        assert (one.variant, one.real, one.holdout) == (other.variant, other.holdout, other.real)


def test_values_that_stand_there_whole_are_no_tails():
    real, _, holdout = tables(3, share=0)
    assert {r.real.hits for r in tails(real, real, holdout)} == {0.0}


def test_numbers_that_members_and_strangers_write_otherwise_have_no_verdict():
    rng = np.random.default_rng(4)
    real, holdout, synthetic = (
        pl.DataFrame({"a": (first * 100_000 + rng.permutation(40_000)[:300]).tolist()}) for first in (1, 2, 3)
    )
    found = tails(real, synthetic, holdout)
    assert found and {r.verdict for r in found} == {None}
    assert all(any("written otherwise" in n for n in r.notes) for r in found)


def test_a_units_rows_are_one_person():
    real, synthetic, holdout = tables(5)
    homes = [
        pl.concat([t, t]).with_columns(u=pl.Series([f"{k}{i % 400}" for i in range(800)]))
        for k, t in zip("rsh", (real, synthetic, holdout), strict=True)
    ]
    plain, doubled = tails(real, synthetic, holdout), tails(*homes, unit="u")
    for one, other in zip(plain, [r for r in doubled if r.keys == ("a",)], strict=True):
        assert one.variant == other.variant and one.real.rate == other.real.rate


def test_columns_are_at_most_ten_and_the_rest_is_told():
    rng = np.random.default_rng(6)
    real, synthetic, holdout = (cents(rng, 60, [f"c{i:02d}" for i in range(13)]) for _ in range(3))
    results = divulge.copies(real, synthetic, holdout=holdout, variants=[*ONLY, "exact"])
    assert any("last digits: 10 of 13 columns" in n for n in results[0].notes)
    assert len({r.keys for r in results if r.variant in TAILS.values()}) == 10
    assert len(of(results, TWO_TAILS)) == 9


@pytest.mark.parametrize(
    "values",
    [
        [None] * 40, [float("inf"), float("-inf"), 1e300, 5e-324] * 10, [7] * 40, ["1234.56", "?"] * 20,
        np.random.default_rng(0).normal(size=40).tolist(), [-(2**63), 2**63 - 1, *range(2**62, 2**62 + 38)],
        list(range(1000, 1040)), [f"2021-03-{1 + i % 28:02d}" for i in range(40)],
        [f"2021-03-01T12:{i:02d}" for i in range(40)], [f"{i}/{i}" for i in range(40)], ["9" * 30, "+"] * 20,
    ],
    ids=["missing", "infinite", "constant", "numbers as text", "many decimals", "large", "row numbers", "dates", "times", "signs", "long"],
)  # fmt: skip
def test_any_column_does(values):
    table = pl.DataFrame({"x": values, "y": ["u", "v"] * 20})
    assert all(r.verdict != "excess found" for r in tails(table, table.reverse(), table))


def test_a_real_table_alone_has_rates():
    real, synthetic, _ = tables(7)
    assert {r.verdict for r in tails(real, synthetic, None)} == {"no holdout"}


def test_copied_numbers_are_no_deficit_of_last_digits():
    """Whoever's number stands there whole is not asked for its last digits: strangers would be hit more often."""
    rng = np.random.default_rng(0)
    real, synthetic, holdout = (rng.integers(10**5, 10**7, 2000) for _ in range(3))
    synthetic[:1000] = real[:1000]
    results = divulge.copies(*(pl.DataFrame({"x": t}) for t in (real, synthetic)), holdout=pl.DataFrame({"x": holdout}))
    assert {r.verdict for r in results if r.variant.startswith("last")} <= {"none found", "cannot tell", None}
    assert any(r.variant == "one column" and r.verdict == "excess found" for r in results)


def test_numbers_that_two_in_five_people_have_to_themselves_are_seen():
    """Too few have their own for equality of a column; copied amounts are nearly equal, as equal ones are."""
    rng = np.random.default_rng(1)
    amounts = [np.where(rng.random(2000) < 0.6, rng.integers(1, 40, 2000) * 1000, rng.integers(10**5, 10**7, 2000))
               for _ in range(3)]  # fmt: skip
    amounts[1][:1400] = rng.permutation(amounts[0])[:1400]
    results = divulge.copies(*(pl.DataFrame({"x": t}) for t in amounts[:2]), holdout=pl.DataFrame({"x": amounts[2]}))
    assert "excess found" in {r.verdict for r in results if r.variant == "one column, nearly equal"}
    assert "deficit found" not in {r.verdict for r in results}
