"""The domain test: who alone has which value, by hand; shown, hidden, and known beforehand."""

import numpy as np
import polars as pl
import pytest
from small_audits import audited, copies, elsewhere, people, pool_of

from divulge.auditing.domain import Domain, carried
from divulge.auditing.worlds import encoded
from divulge.core.errors import SettingError


def table():
    n = 60
    rng = np.random.default_rng(0)
    age = rng.integers(20, 60, n)
    age[[3, 4, 5]] = [18, 70, 70]  # one youngest, two eldest
    city = np.array(["A", "B", "C"])[rng.integers(0, 3, n)]
    city[7] = "D"
    size = (rng.integers(100, 200, n) / 10).tolist()
    size[9], size[11] = 12.345, None
    return pl.DataFrame({"age": age, "city": city, "size": size})


def test_values_of_one_person_are_found_by_column_and_kind():
    found = {(c.column, c.kind, c.row) for c in carried(encoded(pool_of(table())))}
    assert {
        ("age", "minimum", 3),
        ("city", "category", 7),
        ("size", "decimals", 9),
        ("size", "missing value", 11),
    } <= found
    assert not {f for f in found if f[:2] == ("age", "maximum")}


def test_a_household_that_shares_a_value_carries_it():
    frame = table().with_columns(pl.Series("home", np.arange(60) // 2))
    found = {(c.column, c.kind, c.unit) for c in carried(encoded(pool_of(frame, unit="home")))}
    assert ("age", "maximum", 2) in found or ("age", "minimum", 1) in found
    two = frame.with_columns(pl.when(pl.col("home") == 4).then(pl.lit("E")).otherwise("city").alias("city"))
    assert ("city", "category", 4) in {(c.column, c.kind, c.unit) for c in carried(encoded(pool_of(two, unit="home")))}


def test_each_carrier_is_in_one_training_of_a_pair():
    trial = Domain().prepare(pool_of(table()))
    first, second = (set(trial.training(r).rows.tolist()) for r in (0, 1))
    assert first | second == set(range(60))
    assert len(first & second) == 60 - len(trial.carriers)
    coins = np.array([trial.first(2 * pair) for pair in range(8)])
    assert (coins == [trial.first(2 * pair + 1) for pair in range(8)]).all()
    assert coins.mean(axis=0).min() > 0 and coins.mean(axis=0).max() < 1  # each pair of trainings has its own


def wide(n=80):
    """Return people of whom ten alone have a category."""
    frame = people(n)
    place = frame["place"].to_list()
    place[:8] = [f"only {i}" for i in range(8)]
    return frame.with_columns(pl.Series("place", place))


def test_copies_tell_all_and_other_people_nothing():
    trial, (found,) = audited(Domain(), pool_of(wide()), copies, 2)
    assert found.hits == found.n == len(trial.carriers)
    assert found.verdict == "excess found"
    assert any("category of 'place'" in note for note in found.notes)
    assert not any("only" in note for note in (*found.notes, found.sentence))
    _, (none,) = audited(Domain(), pool_of(wide()), elsewhere(200), 2)
    assert none.verdict == "cannot tell"
    assert none.n <= 3


def test_a_generator_that_knows_the_domain_beforehand_tells_nothing():
    everything = wide()
    _, (found,) = audited(Domain(), pool_of(everything), lambda table, run: everything, 2)
    assert (found.n, found.hits) == (0, 0.0)


def test_a_table_without_such_values_is_refused():
    frame = pl.DataFrame({"a": ["x", "y"] * 30, "b": [1, 1, 2, 2] * 15})
    with pytest.raises(SettingError, match="shared by two people or more"):
        Domain().prepare(pool_of(frame))
