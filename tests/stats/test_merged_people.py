"""People whose outcomes are equal in every test may be one row with their number: no bit of a family changes."""

import numpy as np
import pytest

from divulge.core.errors import SettingError
from divulge.stats.moments import limit_of
from divulge.stats.multiple_testing import max_t, resample
from divulge.stats.outcomes import Outcomes
from divulge.stats.two_sample import compare

LEVELS = {"hits": [0.0, 1.0], "shares": [0.0, 1 / 3, 0.7, 1.0], "credits": [0.0, 1 / 3, 2.5]}


def people(n_rows, most, outcomes, skipped, seed):
    """Return the outcomes of distinct people in three tests, and how many people have each."""
    rng = np.random.default_rng(seed)
    values = rng.choice(LEVELS[outcomes], (n_rows, 3))
    if skipped:
        values[rng.random((n_rows, 3)) < 0.2] = np.nan
    return values, rng.integers(1, most, n_rows)


def families(sides, counts):
    """Return the family of people who were merged, and of those written out."""
    written = [np.repeat(v, n, axis=0) for v, n in zip(sides, counts, strict=True)]
    merged = max_t(*sides, count_members=counts[0], count_strangers=counts[1], rng=np.random.default_rng(1), draws=99)
    return merged, max_t(*written, rng=np.random.default_rng(1), draws=99)


@pytest.mark.parametrize("skipped", [False, True])
@pytest.mark.parametrize("outcomes", LEVELS)
@pytest.mark.parametrize("most", [5, 2000])  # few people, whose labels are permuted, and many
def test_merging_equal_people_changes_no_bit_of_a_family(most, outcomes, skipped):
    sides, counts = zip(*(people(40, most, outcomes, skipped, seed) for seed in (1, 2)), strict=True)
    merged, written = families(sides, counts)
    assert (merged.critical, merged.level_each) == (written.critical, written.level_each)
    assert merged.p_value.tobytes() == written.p_value.tobytes()
    assert merged.p_adjusted.tobytes() == written.p_adjusted.tobytes()


def test_merging_equal_people_changes_no_bit_of_the_limit():
    sides, counts = zip(*(people(50, 900, "shares", True, seed) for seed in (3, 4)), strict=True)
    columns = [list(v.T) for v in sides]
    merged = limit_of(*columns, count_members=counts[0], count_strangers=counts[1])
    written = limit_of(*([np.repeat(c, n) for c in side] for side, n in zip(columns, counts, strict=True)))
    assert merged.z.tobytes() == written.z.tobytes()
    assert merged.correlation.tobytes() == written.correlation.tobytes()


def test_merging_equal_people_changes_no_bit_of_a_bootstrap():
    sides, counts = zip(*(people(30, 9, "shares", False, seed) for seed in (5, 6)), strict=True)
    written = [np.repeat(v, n, axis=0) for v, n in zip(sides, counts, strict=True)]
    found = [
        compare(Outcomes(a), Outcomes(b), rng=np.random.default_rng(0), draws=0)
        for a, b in zip(written[0].T, written[1].T, strict=True)
    ]
    one = resample(*written, found, rng=np.random.default_rng(2), draws=50)
    other = resample(
        *sides, found, count_members=counts[0], count_strangers=counts[1], rng=np.random.default_rng(2), draws=50
    )
    assert [c.risk for c in one] == [c.risk for c in other]


@pytest.mark.parametrize("count", [[1, 2, 3], [[1, 2], [3, 4]]])
def test_a_count_for_another_number_of_people_is_an_error(count):
    columns = [np.array([0.0, 1.0])]
    with pytest.raises(SettingError, match="count"):
        limit_of(columns, columns, count_members=np.array(count), count_strangers=np.array([1, 1]))


def test_people_with_a_count_have_no_cluster():
    columns, ones = [np.array([0.0, 1.0])], np.array([1, 1])
    with pytest.raises(SettingError, match="cluster"):
        limit_of(columns, columns, ones, ones, count_members=ones, count_strangers=ones)
