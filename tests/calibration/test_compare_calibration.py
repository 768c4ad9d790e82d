"""Ranks and their limits hold together as often as they say, on simulated person scores with planted leaks."""

import numpy as np
import pytest

from divulge.stats.rank_intervals import Scores, rank

ATTACKS = 3


def planted(rng, leaks, n, m, of_tables=None, blunt=0.3):
    """Scores of attacks that are right about anybody with probability `blunt`, more about copied members.

    Which members a candidate copied is drawn for each table anew; what the attack gets right about a person without
    the table depends on the person, so that candidates' scores go together. Attack a sees 1 / (1 + a / 4) of the leak.
    """
    leaks = np.asarray(leaks, dtype=float)
    easy = rng.random((2, ATTACKS, max(n, m)))
    out = []
    for a in range(ATTACKS):
        sides = []
        for side, size in enumerate((n, m)):
            own = rng.random((len(leaks), size))
            right = np.where(rng.random((len(leaks), size)) < 0.5, easy[side, a, :size], own) < blunt
            if side == 0:
                right |= rng.random((len(leaks), size)) < leaks[:, None] / (1 + a / 4)
            sides.append(right.astype(float))
        out.append(Scores(*sides))
    return out


def covered(leaks, repeats, n, m, seed, draws=799):
    """How often some claim is false, some rank interval misses, some limit misses; and the mean width of ranks.

    Every second candidate stands behind the others, whatever its risk.
    """
    rng = np.random.default_rng(seed)
    leaks = np.asarray(leaks, dtype=float)
    truth = leaks[None] / (1 + np.arange(ATTACKS)[:, None] / 4)
    lowest = 1 + (truth[:, None, :] < truth[:, :, None] - 1e-12).sum(axis=2)
    highest = len(leaks) - (truth[:, None, :] > truth[:, :, None] + 1e-12).sum(axis=2)
    behind = np.arange(len(leaks)) % 2 == 1
    order = leaks + 2 * behind
    before = (
        (order[None, :] < order[:, None] - 1e-12).sum(axis=1),
        (order[None, :] > order[:, None] + 1e-12).sum(axis=1),
    )
    false, ranks, limits, width = 0, 0, 0, 0.0
    for _ in range(repeats):
        found = rank(
            planted(rng, leaks, n, m),
            tables=[[i] for i in range(len(leaks))],
            behind=behind.tolist(),
            rng=np.random.default_rng(1),
            draws=draws,
        )
        claimed = found.difference_low > 0
        wrong = claimed & ~(truth[:, :, None] > truth[:, None, :] + 1e-12)
        over = found.riskier & ~(leaks[:, None] > leaks[None, :] + 1e-12)
        false += bool(wrong.any() or over.any())
        missed = (found.worst_first > 1 + before[0]) | (found.worst_last < len(leaks) - before[1])
        ranks += bool(((found.first > lowest) | (found.last < highest)).any() or missed.any())
        worst = (found.worst_low > leaks) | (found.worst_high < leaks)
        limits += bool(((found.low > truth) | (found.high < truth)).any() or worst.any())
        width += float((found.last - found.first).mean())
    return false / repeats, ranks / repeats, limits / repeats, width / repeats


def at_most(share, repeats):
    """The share plus three standard errors of a simulation of so many repeats."""
    return share + 3 * np.sqrt(share * (1 - share) / repeats)


QUICK = [([0.05, 0.05, 0.05, 0.05], 600, 300), ([0.0, 0.0, 0.0, 0.0], 400, 400)]
FULL = [
    *QUICK, ([0.0, 0.0, 0.1, 0.1], 300, 150), ([0.2] * 6, 1000, 200), ([0.02] * 8, 2000, 1000), ([0.0] * 4, 100, 50),
    ([0.05, 0.05], 200, 2000),
]  # fmt: skip


@pytest.mark.parametrize(("leaks", "n", "m"), QUICK)
def test_equal_candidates_are_told_apart_by_chance_alone(leaks, n, m):
    repeats = 150
    false, ranks, limits, _ = covered(leaks, repeats, n, m, seed=len(leaks) + n)
    assert false <= at_most(0.05, repeats)
    assert ranks <= at_most(0.05, repeats)
    assert limits <= at_most(0.05, repeats)


@pytest.mark.full
@pytest.mark.timeout(7200)
@pytest.mark.parametrize(("leaks", "n", "m"), FULL)
def test_equal_candidates_are_told_apart_by_chance_alone_in_full(leaks, n, m):
    repeats = 1000
    false, ranks, limits, _ = covered(leaks, repeats, n, m, seed=7, draws=999)
    assert max(false, ranks, limits) <= at_most(0.05, repeats), (false, ranks, limits)


def rare_against_none(n, m, rate, repeats, draws=499):
    """How often one of two candidates without a leak is called riskier.

    The first hits members and strangers alike at a low rate, so that often no stranger of the sample is hit; the
    second hits nobody. Both risks are 0.
    """
    rng = np.random.default_rng(n + m)
    false = 0
    for _ in range(repeats):
        members, strangers = (np.stack([rng.random(size) < rate, np.zeros(size)]) for size in (n, m))
        found = rank([Scores(members, strangers)], tables=[[0], [1]], rng=np.random.default_rng(1), draws=draws)
        false += bool((found.difference_low > 0).any() or found.riskier.any())
    return false / repeats


RARE = [(2000, 50, 0.02), (300, 100, 0.02)]
RARE_FULL = [*RARE, (2000, 100, 0.01), (1000, 200, 0.01), (10000, 500, 0.004)]


@pytest.mark.parametrize(("n", "m", "rate"), RARE)
def test_hits_too_rare_to_be_seen_among_strangers_are_no_leak(n, m, rate):
    repeats = 300
    assert rare_against_none(n, m, rate, repeats) <= at_most(0.05, repeats)


@pytest.mark.full
@pytest.mark.timeout(7200)
@pytest.mark.parametrize(("n", "m", "rate"), RARE_FULL)
def test_hits_too_rare_to_be_seen_among_strangers_are_no_leak_in_full(n, m, rate):
    repeats = 1000
    assert rare_against_none(n, m, rate, repeats, draws=999) <= at_most(0.05, repeats)


def test_a_small_leak_against_none_is_found_among_few_strangers():
    rng = np.random.default_rng(10)
    found, repeats = 0, 60
    for _ in range(repeats):
        scores = Scores(np.stack([rng.random(2000) < 0.05, np.zeros(2000)]), np.zeros((2, 100)))
        ranked = rank([scores], tables=[[0], [1]], rng=np.random.default_rng(1), draws=499)
        found += bool(ranked.riskier[0, 1])
    assert found / repeats >= 0.9


def test_different_leaks_are_put_in_order():
    repeats = 40
    _, ranks, limits, width = covered([0.0, 0.15, 0.3, 0.5], repeats, 2000, 1000, seed=3)
    assert ranks <= at_most(0.05, repeats)
    assert limits <= at_most(0.05, repeats)
    assert width < 0.5  # hardly a rank is in doubt
    rng = np.random.default_rng(4)
    found = rank(planted(rng, [0.0, 0.15, 0.3, 0.5], 2000, 1000), tables=[[0], [1], [2], [3]], rng=rng)
    assert found.worst_first.tolist() == found.worst_last.tolist() == [1, 2, 3, 4]


def generators(repeats, m_tables, spread, seed, n=400, m=300):
    """How often the limits of a generator miss the mean risk of fresh syntheses, or two equal ones are told apart.

    The leak of a synthesis is uniform between 0.15 - spread and 0.15 + spread.
    """
    rng = np.random.default_rng(seed)
    missed = told = 0
    for _ in range(repeats):
        leaks = 0.15 + spread * (2 * rng.random(2 * m_tables) - 1)
        own = [list(range(m_tables)), list(range(m_tables, 2 * m_tables))]
        found = rank(planted(rng, leaks, n, m)[:1], tables=own, rng=np.random.default_rng(1), draws=799)
        missed += bool(((found.low > 0.15) | (found.high < 0.15)).any())
        told += bool((found.difference_low > 0).any())
    return missed / repeats, told / repeats


def test_the_limits_of_a_generator_cover_the_mean_of_fresh_syntheses():
    repeats = 150
    missed, told = generators(repeats, 4, 0.14, seed=5)
    assert max(missed, told) <= at_most(0.05, repeats)


@pytest.mark.full
@pytest.mark.timeout(7200)
@pytest.mark.parametrize(("m_tables", "spread"), [(2, 0.15), (3, 0.1), (5, 0.15), (10, 0.15), (5, 0.0)])
def test_the_limits_of_a_generator_cover_the_mean_of_fresh_syntheses_in_full(m_tables, spread):
    repeats = 1000
    missed, told = generators(repeats, m_tables, spread, seed=6)
    assert max(missed, told) <= at_most(0.05, repeats)


def test_one_table_alone_does_not_cover_its_generator():
    # the between part is needed: limits of people alone miss the mean of fresh syntheses too often
    rng = np.random.default_rng(8)
    missed = 0
    for _ in range(100):
        leaks = 0.15 + 0.14 * (2 * rng.random(2) - 1)
        found = rank(planted(rng, leaks, 400, 300)[:1], tables=[[0], [1]], rng=np.random.default_rng(1), draws=399)
        missed += bool(((found.low > 0.15) | (found.high < 0.15)).any())
    assert missed > 30


@pytest.mark.parametrize("size", [2])
def test_members_of_one_household_count_once(size):
    rng = np.random.default_rng(9)
    false, repeats = 0, 100
    for _ in range(repeats):
        # whole households are copied or not: without clusters the spread would be half of what it is
        copied = np.repeat(rng.random((3, 150)) < 0.2, size, axis=1).astype(float)
        strangers = np.repeat(rng.random((3, 150)) < 0.05, size, axis=1).astype(float)
        cluster = np.repeat(np.arange(150), size)
        found = rank(
            [Scores(copied, strangers)], tables=[[0], [1], [2]], cluster_members=cluster, cluster_strangers=cluster,
            rng=np.random.default_rng(1), draws=799,
        )  # fmt: skip
        false += bool((found.difference_low > 0).any())
    assert false / repeats <= at_most(0.05, repeats)
