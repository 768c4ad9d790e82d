"""Two releases before and after people left: worked scores, leavers found, what is said about bad input."""

import math

import numpy as np
import polars as pl
import pytest

import divulge
from divulge.core.errors import ColumnError, SettingError, TableError


def people(rng, n, first=0):
    numbers = {f"x{j}": rng.normal(size=n).round(3) for j in range(3)}
    return pl.DataFrame(numbers | {"k": rng.choice(list("uvw"), n)}).with_row_index("id", offset=first)


def released(rng, table, spread=0.05):
    """Every row of a table, moved a little, without its id and in another order."""
    moved = [(pl.col(f"x{j}") + pl.Series(rng.normal(size=len(table)) * spread)).round(3) for j in range(3)]
    return table.drop("id").with_columns(moved).sample(fraction=1, shuffle=True, seed=int(rng.integers(2**31)))


@pytest.fixture(scope="module")
def releases():
    """30 of 200 left, and 20 others joined."""
    rng = np.random.default_rng(0)
    before = people(rng, 200)
    after = pl.concat([before[30:], people(rng, 20, first=1000)])
    return before, released(rng, before), after, released(rng, after)


def test_scores_of_four_people_by_hand():
    """On one column of range 10: leaver 0, stayers 4, 6 and 10; first table 1 and 10, second 3 and 10."""
    before = pl.DataFrame({"id": [1, 2, 3, 4], "x": [0.5, 4.5, 6.5, 10.5]})
    first, second = (pl.DataFrame({"x": v}) for v in ([1.5, 10.5], [3.5, 10.5]))
    found = divulge.changes(before, first, before[1:], second, unit="id", scores=["nearest", "nearest 5"])
    assert (found.n_left, found.n_stayed, found.n_joined, found.joined) == (1, 3, 0, ())
    nearest, five = (np.r_[r.individual.real, r.individual.holdout] for r in found.left)
    # distances to the first table .1 .3 .4 0, to the second .3 .1 .3 0; the smallest is .1, so that 0 counts as .05
    np.testing.assert_allclose(nearest, np.log([0.3 / 0.1, 0.1 / 0.3, 0.3 / 0.4, 1]), atol=1e-12)
    # second neighbours 1 .6 .5 .9 and 1 .6 .4 .7; there is no third, which counts as 1 in both
    np.testing.assert_allclose(five, (nearest + np.log([1, 1, 0.4 / 0.5, 0.7 / 0.9])) / 5, atol=1e-12)


def test_leavers_and_joiners_are_told_from_stayers(releases):
    found = divulge.changes(*releases, unit="id")
    assert (found.n_left, found.n_stayed, found.n_joined) == (30, 170, 20)
    for results, n in ((found.left, 30), (found.joined, 20)):
        headline = results[0]
        assert headline.variant == "mean rank"
        assert (headline.verdict, headline.real.n, headline.holdout.n) == ("excess found", n, 170)
        assert headline.context["AUC"] > 0.8
        assert headline.risk.low > 0
    assert "30 people left, 170 stayed, 20 joined" in str(found)
    assert "leavers (nearest): claimed as people who left at a price of 10% of stayers: " in str(found)
    assert "member" not in str(found)
    assert "stranger" not in str(found)
    assert not any("member" in note or "stranger" in note for r in (*found.left, *found.joined) for note in r.notes)


@pytest.mark.slow
def test_the_releases_the_other_way_round_change_leavers_and_joiners(releases):
    here, there = divulge.changes(*releases, unit="id"), divulge.changes(*releases[2:], *releases[:2], unit="id")
    for a, b in zip(here.left, there.joined, strict=True):
        assert a.context == b.context
        assert a.p_adjusted == b.p_adjusted
        assert a.individual.real.tolist() == b.individual.real.tolist()


def test_order_of_rows_and_names_of_people_change_nothing(releases):
    rng = np.random.default_rng(1)
    other = [t.sample(fraction=1, shuffle=True, seed=int(rng.integers(2**31))) for t in releases]
    other = [t.with_columns(id=pl.lit("p") + pl.col("id").cast(pl.String)) if "id" in t.columns else t for t in other]
    here, there = (divulge.changes(*tables, unit="id") for tables in (releases, other))
    plain = [{**found.to_dict(), "seconds": 0} for found in (here, there)]
    for side in ("left", "joined"):
        for a, b in zip(*(p["results"][side] for p in plain), strict=True):
            assert a | {"seconds": 0} == b | {"seconds": 0}


def test_two_tests_are_corrected_for(releases):
    before, first, _, second = releases
    joined = divulge.changes(*releases, unit="id", scores="nearest").left[0]
    alone = divulge.changes(before, first, before[30:], second, unit="id", scores="nearest").left[0]
    assert joined.p_value == alone.p_value
    assert joined.p_adjusted == pytest.approx(min(1, 2 * alone.p_adjusted))
    assert joined.difference.high_simultaneous >= alone.difference.high_simultaneous


@pytest.mark.slow
def test_rows_of_one_id_are_one_person():
    rng = np.random.default_rng(2)
    homes = people(rng, 80)
    before = pl.concat([homes, released(rng, homes, 0.02).select(homes.columns[1:]).with_columns(id=homes["id"]).select(
        homes.columns)])  # fmt: skip
    after = before.filter(pl.col("id") >= 20)
    found = divulge.changes(before, released(rng, before), after, released(rng, after), unit="id", scores="nearest")
    assert (found.n_left, found.n_stayed) == (20, 60)
    (nearest,) = found.left
    assert (nearest.real.n, nearest.holdout.n) == (20, 60)
    assert any("rows of one unit are one person" in note for note in nearest.notes)
    members, strangers = nearest.individual.real, nearest.individual.holdout
    highest = members.reshape(2, 20).max(axis=0), strangers.reshape(2, 60).max(axis=0)
    assert nearest.context["AUC"] == pytest.approx(np.mean(highest[0][:, None] > highest[1]), abs=1e-9)


@pytest.mark.slow
def test_several_tables_of_a_release_are_taken_together(releases):
    before, first, after, second = releases
    parts = divulge.changes(before, [first[:90], first[90:]], after, second, unit="id", scores="nearest")
    whole = divulge.changes(before, first, after, second, unit="id", scores="nearest")
    assert parts.left[0].individual.real.tolist() == whole.left[0].individual.real.tolist()


def test_who_left_differs_from_who_stayed_without_a_table():
    rng = np.random.default_rng(3)
    before = people(rng, 400)
    after = before.filter(pl.col("x0") < 0.5)
    found = divulge.changes(
        before, released(rng, before, 1), after, released(rng, after, 1), unit="id", scores="nearest"
    )
    (nearest,) = found.left
    assert nearest.verdict == "cannot tell"
    assert any("never sees the synthetic table tells leavers from stayers" in note for note in nearest.notes)


# ---------------------------------------------------------------- bad input


def refused(error, told, *tables, unit="id", **more):
    with pytest.raises(error, match=told):
        divulge.changes(*tables, unit=unit, **more)


def test_what_cannot_be_compared_is_told(releases):
    before, first, after, second = releases
    refused(SettingError, "same ids, so that nobody left and nobody joined. hint", before, first, before, second)
    refused(ColumnError, "the first real table: no column 'ID'.* did you mean 'id'", *releases, unit="ID")
    refused(ColumnError, "the second real table has no column 'id', and its synthetic table has. hint: name the real",
            before, first, second, after)  # fmt: skip
    strangers = after.with_columns(pl.col("id") + 5000)
    refused(
        TableError, "no id stands in both real tables, so that nobody stayed. hint", before, first, strangers, second
    )
    nameless = before.with_columns(id=pl.when(pl.col("id") > 3).then("id"))
    refused(TableError, "4 rows of the first real table have no id", nameless, first, after, second)
    refused(SettingError, "scores: 'dcr' is no score. hint: use some of: mean rank", *releases, scores="dcr")
    refused(SettingError, "scores: none named", *releases, scores=[])
    refused(SettingError, "unit: name one column", *releases, unit=["id", "k"])


def test_nobody_left_is_told_and_who_joined_is_compared(releases):
    before, first, _, second = releases
    found = divulge.changes(before[30:], second, before, first, unit="id", scores="nearest")
    assert (found.left, found.n_left, found.n_joined) == ((), 0, 30)
    assert found.notes == ("nobody left between the releases; if people did, the releases are swapped",)
    assert found.joined[0].verdict == "excess found"
    assert found.notes[0] in str(found)


def test_equal_synthetic_tables_tell_nothing(releases):
    before, first, _, _ = releases
    for result in divulge.changes(before, first, before[30:], first, unit="id").left:
        assert result.p_value == 1
        assert result.verdict == "cannot tell" or result.verdict == "none found"
        assert "the score is the same for everybody" in result.notes


def test_one_leaver_has_scores_and_no_verdict(releases):
    before, first, _, second = releases
    (found,) = divulge.changes(before, first, before[1:], second, unit="id", scores="nearest").left
    assert found.real.n == 1
    assert found.verdict == "cannot tell"
    assert math.isfinite(found.context["AUC"])
