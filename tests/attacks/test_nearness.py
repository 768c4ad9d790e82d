"""Nearness: members among the nearest people, oracles, and what bounds nothing."""

import numpy as np
import polars as pl
import pytest
from msgspec.structs import replace
from scipy.stats import hypergeom

import divulge
from divulge.attacks.catalogue import CATALOGUE
from divulge.attacks.distance.nearest_people import NEARNESS, _scores
from divulge.case.case import build_case
from divulge.case.distances import distances_of
from divulge.core.errors import SettingError
from divulge.run.planning.primaries import bounds_of
from divulge.stats.intervals import mover_residual
from divulge.stats.precedence import BOUNDED, FRONT, PeopleScore, nearest_people


def mixed(rng, n):
    hidden = rng.standard_normal(n)
    codes = {
        f"c{k}": [f"v{v}" for v in np.clip(np.round(hidden + rng.standard_normal(n) + k / 2), 0, k)] for k in (3, 5)
    }
    return pl.DataFrame(codes | {f"x{j}": np.round(hidden + rng.standard_normal(n), 3) for j in range(3)})


def coarse(rng, n):
    hidden = rng.choice(4, n, p=[0.45, 0.3, 0.15, 0.1])
    each = (
        (hidden * (j + 1)) % k + (rng.random(n) > 0.65) * rng.integers(0, k, n) for j, k in enumerate((3, 4, 3, 5, 4))
    )
    return pl.DataFrame({f"c{j}": [f"v{v % 5}" for v in values] for j, values in enumerate(each)})


def tables(make, share, seed=0, n=400):
    rng = np.random.default_rng([seed, 44])
    real, synthetic, holdout = (make(rng, n) for _ in range(3))
    k = round(share * n)
    return real, pl.concat([real[:k], synthetic[k:]]), holdout


def near(real, synthetic, holdout, **more):
    (found,) = (r for r in divulge.dcr(real, synthetic, holdout=holdout, **more) if r.variant == NEARNESS)
    return found


# ---------------------------------------------------------------- oracles


def by_hand(members, strangers):
    """The smallest Fisher p of six groups, ties in, times six; and the groups of at most each size, ties out."""
    pot, n, m = np.sort(np.r_[members, strangers]), len(members), len(strangers)
    tests = []
    for q in FRONT:
        cut = pot[-(-q * (n + m) // 1000) - 1]
        a, b = (members <= cut).sum(), (strangers <= cut).sum()
        tests.append(hypergeom.sf(a - 1, n + m, n, a + b))
    groups = []
    for q in BOUNDED:
        cut = max((v for v in pot if (pot <= v).sum() * 1000 <= q * (n + m)), default=pot[0])
        groups.append((int((members <= cut).sum()), int((strangers <= cut).sum()), cut))
    return tests, groups


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("digits", [1, 2, 6])
def test_groups_and_p_values_are_those_of_scipy(seed, digits):
    rng = np.random.default_rng(seed)
    members, strangers = (
        rng.random(rng.integers(20, 200)).round(digits),
        rng.random(rng.integers(20, 200)).round(digits),
    )
    copied = (members * rng.random(len(members))).round(digits)
    found = nearest_people([PeopleScore(members, strangers, copied)])
    tests, groups = by_hand(members, strangers)
    np.testing.assert_allclose(found.p_values[0], tests, rtol=1e-8)
    assert found.p_value == pytest.approx(min(1.0, 6 * min(tests)))
    for j, (a, b, cut) in enumerate(groups):
        assert (found.members[0, j], found.strangers[0, j]) == (a, b)
        chance = b / len(strangers)
        assert found.shown[0, j] == pytest.approx(max(0.0, ((copied <= cut).mean() - chance) / (1 - chance)))


def test_the_bound_is_the_widest_group_of_the_score_that_bounds_more():
    rng = np.random.default_rng(3)
    scores = [PeopleScore(rng.random(500), rng.random(500), np.zeros(500)) for _ in range(2)]
    found = nearest_people(scores)
    limits = [
        [mover_residual(int(a), 500, int(b), 500, 0.975).high / s for a, b, s in zip(*row, strict=True)]
        for row in zip(found.members, found.strangers, found.shown, strict=True)
    ]
    bound = found.bound(0.95)
    assert bound.limit == pytest.approx(min(map(max, limits)))
    assert [g.limit for g in found.widest(0.95)] == pytest.approx([max(own) for own in limits])
    # a score by which a copy hardly shows bounds nothing, however small its limit
    blind = nearest_people([scores[0], scores[1]._replace(copied=np.where(np.arange(500) < 60, 0.0, 1.0))])
    assert blind.bound(0.95).score == 0


def test_a_missing_score_is_refused():
    with pytest.raises(SettingError, match="a score is missing"):
        nearest_people([PeopleScore(np.array([np.nan]), np.ones(1), np.zeros(1))])


@pytest.mark.parametrize("unit", [None, "home"])
def test_scores_are_those_of_all_distances(unit):
    real, synthetic, holdout = tables(mixed, 0.1, n=60)
    homes = [pl.Series([f"{table}{i // 2}" for i in range(60)]) for table in "rsh"]
    real, synthetic, holdout = (t.with_columns(home=h) for t, h in zip((real, synthetic, holdout), homes, strict=True))
    case = build_case(real, synthetic, holdout, unit=unit, ignore=[] if unit else ["home"])
    d = distances_of(case)
    distance, ratio = _scores(case, d)
    ranges = {c: pl.concat([real, holdout])[c] for c in ("x0", "x1", "x2")}

    def gower(a, b):
        return np.mean([abs(a[c] - b[c]) / (ranges[c].max() - ranges[c].min()) if c in ranges else float(a[c] != b[c])
                        for c in ("c3", "c5", "x0", "x1", "x2")])  # fmt: skip

    people = [*real.iter_rows(named=True), *holdout.iter_rows(named=True)]
    to_synthetic = np.array([min(gower(p, s) for s in synthetic.iter_rows(named=True)) for p in people])
    fifth = np.array([
        sorted(gower(p, q) for j, q in enumerate(people) if j != i and (unit is None or p["home"] != q["home"]))[4]
        for i, p in enumerate(people)
    ])  # fmt: skip
    floor = min(x[x > 1e-12].min() for x in (to_synthetic, fifth)) / 2
    far = np.maximum(fifth, floor)
    want = np.maximum(to_synthetic, floor) / far, floor / far
    if unit:
        to_synthetic, *want = (x.reshape(60, 2).min(axis=1) for x in (to_synthetic, *want))
    n = len(to_synthetic) // 2
    np.testing.assert_allclose(np.sort(np.r_[distance.members, distance.strangers]), np.sort(to_synthetic), atol=1e-9)
    np.testing.assert_allclose(np.sort(ratio.members), np.sort(want[0][:n]), atol=1e-8)
    np.testing.assert_allclose(np.sort(ratio.copied), np.sort(want[1][:n]), atol=1e-8)


# ---------------------------------------------------------------- what it sees, and what it bounds


@pytest.mark.parametrize("seed", range(2))
def test_a_tenth_of_copies_is_found_and_a_clean_table_is_not(seed):
    leaky, clean = near(*tables(mixed, 0.1, seed)), near(*tables(mixed, 0.0, seed))
    assert leaky.verdict == "excess found" and leaky.risk.low_simultaneous > 0 and leaky.p_value < 0.001
    assert clean.verdict in ("none found", "cannot tell") and clean.p_value > 0.05
    assert leaky.real.hits > leaky.holdout.hits
    assert leaky.context["share of people whom the group has"] in [q / 1000 for q in FRONT]


def test_what_a_copy_would_show_is_computed():
    """On codes that many share a copy is hardly nearer than others: without the division 5% of copies are bounded."""
    found = near(*tables(coarse, 0.05, n=1500))
    limits = [found.context[f"upper limit by {s}"] for s in ("distance", "ratio")]
    assert all(limit is None or limit > 0.05 for limit in limits) and found.verdict != "none found"
    fine = near(*tables(mixed, 0.0, n=1500))
    assert fine.verdict == "none found" and fine.context["upper limit by distance"] < 0.05


def test_a_bound_at_any_level_is_divided_alike():
    real, synthetic, holdout = tables(mixed, 0.0, n=800)
    (found,) = (r for r in CATALOGUE["dcr"].run(build_case(real, synthetic, holdout)) if r.variant == NEARNESS)
    for level in (0.8, 0.95, 0.999):
        (bound,) = bounds_of([replace(found)], level)
        assert bound.limit == pytest.approx(found.comparison.people.bound(level).limit)
        assert (bound.words, bound.primary) == ("nearness", True)


def test_one_record_that_everybody_has_bounds_nothing():
    same = pl.DataFrame({"a": ["x"] * 39 + ["y"], "b": ["u"] * 39 + ["v"]})
    found = near(same, same, same)
    assert (found.verdict, found.p_value) == ("cannot tell", 1.0)
    assert found.notes[-1].startswith("cannot tell: copies of up to 1.000 of the members")
    assert found.score is None or found.score == 0


def test_few_people_bound_nothing():
    real, synthetic, holdout = tables(mixed, 0.0, n=12)
    found = near(real, synthetic, holdout[:3])
    assert found.verdict == "cannot tell" and found.p_value <= 1


@pytest.mark.parametrize("share", [0.0, 0.06, 0.3])
def test_a_bound_is_divided_alike_where_an_excess_is_found(share):
    """The limits of a finding are those of its group; what would show in another group does not shrink them."""
    real, synthetic, holdout = tables(mixed, share, n=800)
    (found,) = (r for r in CATALOGUE["dcr"].run(build_case(real, synthetic, holdout)) if r.variant == NEARNESS)
    (bound,) = bounds_of([found], 0.95)
    want = found.comparison.people.bound(0.95).limit
    assert (bound.limit is None and not np.isfinite(want)) or bound.limit == pytest.approx(want)
    assert (found.verdict == "excess found") == (share > 0)
    assert any("the limits are of the widest" in note for note in found.notes) == (not share)


@pytest.mark.parametrize(("n", "m", "f"), [(400, 400, 0.9), (400, 20, 0.3), (40, 10, 0.6)])
def test_more_copied_members_than_the_groups_have_room_for_have_no_limit(n, m, f):
    """A group of a tenth of all people cannot show that nine in ten members are copied."""
    rng = np.random.default_rng(2)
    copied = np.arange(n) < round(f * n)
    scores = PeopleScore(np.where(copied, 0.001 * rng.random(n), 1 + rng.random(n)), 1 + rng.random(m), np.zeros(n))
    limit = nearest_people([scores, scores]).bound(0.95).limit
    assert limit >= f
