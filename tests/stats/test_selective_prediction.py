"""Attackers who abstain: the coefficients' published values, the choice of a cut-off, row order, fractions of a hit."""

import math

import numpy as np
import pytest

from divulge.core.errors import SettingError
from divulge.stats import wilson
from divulge.stats.selective_prediction import _Guesses, _merged, _wilson_limits, abstaining, anonymity_loss, prc


def members(n, n_strangers=0):
    return np.arange(n + n_strangers) < n


def fresh():
    return np.random.default_rng(7)


@pytest.mark.parametrize(
    ("precision", "recall", "expected"),
    [(1, 1, 1), (0.9, 0.1, 0.8859), (0.9, 0.01, 0.7875), (1, 0.001, 0.5781), (1, 1e-4, 1e-4), (0.5, 1, 0.5), (1, 0, 0)],
)
def test_precision_recall_coefficient(precision, recall, expected):
    assert prc(precision, recall) == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize(
    ("base", "attack", "expected"),
    [((0.5, 1), (0.75, 1), 0.5), ((0.6, 1), (1.0, 0.01), 0.6875), ((0.7, 1), (0.6, 1), -1 / 3)],
)
def test_anonymity_loss_coefficient(base, attack, expected):
    assert anonymity_loss(prc(*attack), prc(*base)) == pytest.approx(expected, abs=5e-5)


def test_no_loss_without_an_attack_or_against_a_perfect_base():
    assert anonymity_loss(None, 0.5) is None
    assert anonymity_loss(0.5, None) is None
    assert anonymity_loss(0.5, 1.0) is None


def test_limits_of_many_shares_are_those_of_each():
    n = np.array([1, 7, 400, 400, 12])
    hits = np.array([0.5, 7.0, 0.0, 33.25, 12.0])
    low, high = _wilson_limits(hits, n)
    for h, k, one, other in zip(hits, n, low, high, strict=True):
        limits = wilson(h, k)
        assert (one, other) == (pytest.approx(limits.low, abs=1e-14), pytest.approx(limits.high, abs=1e-14))


def test_the_surest_are_attacked_where_the_others_are_a_coin():
    """Half of the people are answered surely and rightly, half by a coin: guessing for the sure alone pays."""
    is_member = members(4000, 4000)
    certain = np.arange(8000) % 2 == 0
    right = np.where(certain, is_member, np.arange(8000) % 4 == 1).astype(float)
    right[~is_member & certain] = np.arange(2000) % 10 < 6
    found = abstaining(right, np.where(certain, 0.9, 0.4), is_member, fresh())
    assert found.context["confidence cut-off"] == 0.9
    assert found.context["precision"] == 1
    assert found.context["precision, strangers"] == pytest.approx(0.6, abs=0.03)
    assert found.context["recall"] == pytest.approx(0.5, abs=0.03)
    assert found.context["PRC"] == pytest.approx(prc(1, found.context["recall"]))
    assert found.context["ALC"] == pytest.approx(anonymity_loss(found.context["PRC"], found.context["PRC, strangers"]))
    assert found.curves["recall"] == [0.5, 1.0]
    assert found.curves["precision"] == [1.0, 0.75]
    assert found.curves["recall, strangers"] == [0.5, 1.0]
    assert found.curves["precision, strangers"] == [0.6, 0.55]


def test_the_choice_is_blind_to_membership():
    """Swapping the labels changes who is who and not the cut-off: it comes from all people of one half."""
    rng = np.random.default_rng(1)
    sure = rng.integers(1, 5, 4000) / 4
    right = (rng.random(4000) < sure).astype(float)
    is_member = members(2000, 2000)
    right[is_member] = 1
    cuts = {abstaining(right, sure, m, np.random.default_rng(3)).context["confidence cut-off"] for m in (is_member,)}
    everybody = abstaining(right, sure, np.ones(4000, dtype=bool), np.random.default_rng(3))
    assert cuts == {everybody.context["confidence cut-off"]}


def test_a_cut_off_chosen_by_luck_is_judged_on_others():
    """Confidence that says nothing: the best of 300 cut-offs promises more than a coin, the other half does not."""
    rng = np.random.default_rng(4)
    gains = []
    for _ in range(60):
        found = abstaining(
            (rng.random(1000) < 0.5).astype(float), rng.integers(1, 300, 1000) / 300, members(1000), rng, level=0.95
        )
        gains.append(found.context["precision"] - 0.5)
    assert abs(np.mean(gains)) < 3 * np.std(gains) / math.sqrt(60)


def test_the_order_of_people_changes_no_digit():
    rng = np.random.default_rng(2)
    sure, right = rng.integers(0, 40, 3000) / 40, rng.integers(0, 4, 3000) / 3
    other = rng.integers(0, 40, 3000) / 40, rng.integers(0, 2, 3000) * 1.0
    is_member = members(1600, 1400)
    order = rng.permutation(3000)
    one = abstaining(right, sure, is_member, fresh(), reference=other, level=0.95)
    two = abstaining(
        right[order], sure[order], is_member[order], fresh(), reference=(other[0][order], other[1][order]), level=0.95
    )
    assert one == two
    assert None not in one.context.values()


def test_counts_stand_for_rows():
    right, sure = np.array([1.0, 0.0, 0.5, 1.0]), np.array([0.9, 0.9, 0.2, 0.0])
    is_member, count = np.array([True, True, False, True]), np.array([300, 100, 500, 0])
    one = abstaining(right, sure, is_member, fresh(), count=count)
    two = abstaining(np.repeat(right, count), np.repeat(sure, count), np.repeat(is_member, count), fresh())
    assert one == two


def test_nobody_guesses_without_confidence():
    found = abstaining(np.ones(500), np.zeros(500), members(500), fresh())
    assert set(found.context.values()) == {None}
    assert found.curves == {"recall": [], "precision": []}


def test_too_few_people_and_no_people_are_no_attack():
    assert set(abstaining(np.ones(9), np.ones(9), members(9), fresh()).context.values()) == {None}
    empty = np.zeros(0)
    assert set(abstaining(empty, empty, members(0), fresh()).context.values()) == {None}


def test_without_strangers_and_reference_there_is_no_loss():
    found = abstaining(np.ones(500), np.ones(500), members(500), fresh(), level=0.95)
    assert found.context["PRC"] == 1
    assert {found.context[k] for k in ("PRC, strangers", "PRC, reference", "ALC", "ALC, low", "ALC, high")} == {None}
    assert set(found.curves) == {"recall", "precision"}


def test_fractions_of_a_hit_add_up():
    found = abstaining(np.full(2000, 0.25), np.ones(2000), members(1000, 1000), fresh())
    assert (found.context["precision"], found.context["precision, strangers"]) == (0.25, 0.25)
    assert found.context["ALC"] == 0


def test_the_base_is_the_better_of_strangers_and_reference():
    n = np.arange(8000)
    is_member = members(4000, 4000)
    right = np.where(is_member, n % 10 < 9, n % 10 < 4).astype(float)
    sure = np.full(8000, 0.5)
    better = abstaining(right, sure, is_member, fresh(), reference=((n % 10 < 7) * 1.0, sure))
    worse = abstaining(right, sure, is_member, fresh(), reference=((n % 10 < 2) * 1.0, sure))
    assert better.context["PRC, reference"] == pytest.approx(0.7, abs=0.03)
    assert better.context["ALC"] == anonymity_loss(better.context["PRC"], better.context["PRC, reference"])
    assert worse.context["PRC, reference"] == pytest.approx(0.2, abs=0.03)
    assert worse.context["ALC"] == anonymity_loss(worse.context["PRC"], worse.context["PRC, strangers"])


def test_the_reference_chooses_its_own_cut_off():
    """The attack is as sure of everybody; the reference is right about those of whom it is sure."""
    n = np.arange(8000)
    is_member = members(4000, 4000)
    sure = np.where(n % 4 == 0, 0.8, 0.3)
    found = abstaining((n % 10 < 5) * 1.0, np.full(8000, 0.9), is_member, fresh(), reference=((n % 4 == 0) * 1.0, sure))
    assert found.context["recall"] == 1
    assert found.context["PRC, reference"] == pytest.approx(prc(1, 0.25), abs=0.01)


def test_the_interval_holds_the_loss():
    n = np.arange(4000)
    found = abstaining(
        (n % 10 < np.where(n < 2000, 7, 5)) * 1.0, np.ones(4000), members(2000, 2000), fresh(), level=0.9
    )
    assert found.context["ALC, low"] < found.context["ALC"] < found.context["ALC, high"]
    wider = abstaining(
        (n % 10 < np.where(n < 2000, 7, 5)) * 1.0, np.ones(4000), members(2000, 2000), fresh(), level=0.99
    )
    assert wider.context["ALC, low"] < found.context["ALC, low"]
    assert wider.context["ALC"] == found.context["ALC"]


@pytest.mark.parametrize("n_arrays", [1, 2, 4])
@pytest.mark.parametrize("n", [0, 1, 300])
def test_merged_rows_are_the_distinct_ones_in_order(n_arrays, n):
    values = list(np.random.default_rng(n).integers(-2, 3, (n_arrays, n)) / 4)
    merged, place = _merged(values)
    wanted, inverse = np.unique(np.stack(values), axis=1, return_inverse=True) if n else (np.stack(values), place)
    np.testing.assert_array_equal(merged, wanted)
    np.testing.assert_array_equal(place, inverse.ravel())


@pytest.mark.parametrize("seed", range(20))
def test_the_cut_off_is_the_level_of_confidence_with_the_largest_coefficient(seed):
    """In the plain form, one level after the other; rows in order and not."""
    rng = np.random.default_rng(seed)
    sure, right, people = rng.integers(0, 40, 90) / 40, rng.integers(0, 3, 90) / 2, rng.integers(0, 90, 90)
    best, cut = -1.0, None
    for level in np.unique(sure[sure > 0])[::-1]:
        n, hits = people[sure >= level].sum(), (people * right)[sure >= level].sum()
        limits = wilson(hits, n) if n else None
        if limits is not None and limits.high - limits.low < 0.1:
            value = prc((limits.low + limits.high) / 2, n / people.sum())
            best, cut = (value, level) if value > best + 1e-12 else (best, cut)
    order = np.lexsort((right, -sure))
    assert _Guesses(sure, right).best_cut(people) == cut
    assert _Guesses(sure[order], right[order]).best_cut(people[order]) == cut


def test_arrays_of_different_lengths_are_refused():
    with pytest.raises(SettingError, match="one entry per person"):
        abstaining(np.ones(3), np.ones(2), members(3), fresh())
