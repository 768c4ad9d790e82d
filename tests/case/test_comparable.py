"""What the synthesizer saw, people in both tables, rows of one person: each check seen to hold and seen to fail."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom

import divulge
from divulge.case.case import build_case
from divulge.case.comparable.labels import labels_of
from divulge.case.comparable.overlap import no_overlap
from divulge.case.comparable.together import rows_together
from divulge.case.comparable.unseen import Matches, holdout_unseen, matches
from divulge.case.preconditions import check_all
from divulge.core.records import CRITICAL, INVALIDATING, OF_LINKED
from divulge.report.external.known_sentences import is_ours


def checks(*tables, **options):
    return {c.check: c for c in check_all(build_case(*tables, **options))}


def people(rng, n):
    latent = rng.normal(0, 1, n)
    return pl.DataFrame(
        {
            "x": np.round(latent + rng.normal(0, 1, n), 2),
            "y": np.round(latent - rng.normal(0, 1, n), 2),
            "job": np.array(list("abc"))[(latent > 0) + rng.integers(0, 2, n)],
        }
    )


def three(seed=0, n=300):
    rng = np.random.default_rng(seed)
    return [people(rng, n) for _ in range(3)]


def test_a_random_split_that_nobody_saw_passes():
    found = checks(*three())
    assert all(found[c].ok and found[c].tested for c in INVALIDATING if c not in OF_LINKED)
    assert set(INVALIDATING) < set(CRITICAL)


# ---------------------------------------------------------------- holdout unseen


def test_a_synthesizer_that_saw_the_holdout_is_told():
    real, synthetic, holdout = three()
    found = holdout_unseen(build_case(real, pl.concat([synthetic[:270], holdout[:30]]), holdout))
    assert (found.ok, found.tested) == (False, True)
    assert found.detail.startswith("the synthesizer seems to have seen the holdout: 3")
    assert "strangers then hide what members lose. Use people who were never given to the generator" in found.detail
    # and beside what it copied of the real people
    both = pl.concat([synthetic[:240], holdout[:30], real[:30]])
    assert not holdout_unseen(build_case(real, both, holdout)).ok
    assert holdout_unseen(build_case(real, pl.concat([synthetic[:240], real[:60]]), holdout)).ok


def test_what_it_saw_is_found_with_noise_on_it():
    real, synthetic, holdout = three(1, 400)
    rng = np.random.default_rng(1)
    noisy = holdout[:80].with_columns(pl.col(c) + pl.Series(rng.normal(0, 0.01, 80)) for c in "xy")
    found = holdout_unseen(build_case(real, pl.concat([synthetic[:320], noisy]), holdout))
    assert not found.ok
    equal, near = matches(build_case(real, pl.concat([synthetic[:320], noisy]), holdout))
    assert equal.synthetic < 5
    assert near.synthetic > 60


def test_on_coarse_tables_and_with_few_strangers_it_is_not_tested():
    rng = np.random.default_rng(2)
    coarse = [pl.DataFrame({c: rng.integers(0, 4, 300) for c in "abc"}) for _ in range(3)]
    for tables in (coarse, three(3, 100)):
        found = holdout_unseen(build_case(*tables))
        assert (found.ok, found.tested) == (True, False)
        assert found.detail.startswith("not tested: the tables are too coarse or too small")
    assert holdout_unseen(build_case(*three(3, 300))).tested


def test_without_a_holdout_nothing_is_checked():
    real, synthetic, _ = three()
    assert not set(INVALIDATING) & set(checks(real, synthetic))


def table(*values, **more):
    return pl.DataFrame({"a": [float(v) for v in values]} | more)


def test_matches_are_one_sided_and_of_distinct_records():
    # of 1.5 2.5 2.5 3.5 4.5 5.5: both sides have 1.5; the synthetic one 2.5 (twice in the holdout) and 3.5, real 4.5
    real, synthetic = table(1.5, 4.5, 9.5, 10.5), table(1.5, 2.5, 3.5, 20.5)
    equal, near = matches(build_case(real, synthetic, table(1.5, 2.5, 2.5, 3.5, 4.5, 5.5)))
    assert equal == Matches(synthetic=2, real=1, neither=1, n=5)
    assert (near.synthetic, near.real, near.radius) == (2, 1, 0)
    assert equal.p == pytest.approx(binom.sf(1, 3, 2 / 3))
    # 1 % of five distances is the smallest, 0: without equal rows it is the smallest distance, over the range of 17
    _, near = matches(build_case(table(1, 8, 18), table(2, 9, 12), table(4, 8.5, 14)))
    assert (near.synthetic, near.real, near.radius) == (0, 0, pytest.approx(0.5 / 17))
    _, near = matches(build_case(table(1, 8, 18), table(2, 10, 12), table(4, 8.5, 14)))
    assert (near.synthetic, near.real) == (0, 1)


def test_each_unit_counts_once():
    holdout = table(1.5, 2.5, 3.5, 4.5, home=[1, 1, 1, 2])
    real = table(3.5, 9.5, 8.5, 7.5, home=[11, 12, 13, 14])
    synthetic = table(1.5, 2.5, 4.5, 6.5, home=[1, 2, 3, 4])
    assert matches(build_case(real, synthetic, holdout, unit="home"))[0] == Matches(2, 0, 0, 2)
    assert matches(build_case(real, synthetic.with_columns(a=pl.lit(3.5)), holdout, unit="home"))[0].synthetic == 0


def test_the_longer_of_real_and_synthetic_is_thinned():
    real, synthetic, holdout = three(4, 400)
    seen = pl.concat([synthetic, holdout])
    alone = matches(build_case(real, seen[400:], holdout))[0]
    assert alone.synthetic == alone.n
    assert 0.4 * alone.n < matches(build_case(real, seen, holdout))[0].synthetic < 0.6 * alone.n
    few = matches(build_case(pl.concat([real, holdout]), synthetic, holdout))[0]
    assert 0.4 * few.n < few.real < 0.6 * few.n


def test_order_and_names_change_no_check():
    real, synthetic, holdout = three(5)
    synthetic = pl.concat([synthetic, holdout[:20]])
    expected = checks(real, synthetic, holdout)
    rng = np.random.default_rng(5)
    names = {"a": "p", "b": "q", "c": "r"}
    turned = [
        t[rng.permutation(t.height)].select("job", "y", "x").with_columns(pl.col("job").replace(names))
        for t in (real, synthetic, holdout)
    ]
    for check in (c for c in INVALIDATING if c not in OF_LINKED):
        assert checks(*turned)[check] == expected[check]


# ---------------------------------------------------------------- people in both tables


@pytest.mark.first(1)
@pytest.mark.parametrize("noise", [0, 0.01])
def test_a_tenth_of_the_holdout_in_the_training_data_is_found(noise):
    real, synthetic, holdout = three(6)
    rng = np.random.default_rng(6)
    both = holdout[:30].with_columns(pl.col(c) + pl.Series(rng.normal(0, noise, 30)) for c in "xy")
    found = no_overlap(build_case(pl.concat([real[:270], both]), synthetic, holdout))
    assert not found.ok
    assert found.detail.endswith("more than a random split of these people gives; remove people who are in both")
    assert noise == 0 or found.detail.startswith("of the tenth of people with the nearest neighbours, ")


@pytest.mark.slow
def test_a_number_of_the_file_does_not_hide_people_in_both():
    real, synthetic, holdout = three(7)
    tables = [pl.concat([real[:270], holdout[:30]]), synthetic, holdout]
    numbered = [t.with_columns(row_id=pl.int_range(300) + 1000 * i) for i, t in enumerate(tables)]
    assert not no_overlap(build_case(*numbered)).ok


# ---------------------------------------------------------------- rows of one person


def persons(rng, n, first):
    """Four rows a person, alike but for a little noise."""
    rows = people(rng, n // 4)[np.repeat(np.arange(n // 4), 4)]
    return rows.with_columns(
        x=pl.col("x") + pl.Series(rng.normal(0, 0.2, n)), person=pl.Series(first + np.arange(n) // 4)
    )


def test_several_rows_a_person_are_told_unless_the_person_is_named():
    rng = np.random.default_rng(8)
    real, synthetic, holdout = (persons(rng, 200, 1000 * i) for i in range(3))
    found = rows_together(build_case(*(t.drop("person") for t in (real, synthetic, holdout))))
    assert not found.ok
    assert "name the column by --unit, or make one row a person" in found.detail
    assert found.detail.startswith("92.5% of nearest other rows are of the own table, 49.0% of the 20th nearest, where")
    assert rows_together(build_case(real, synthetic, holdout, unit="person")).ok


def plain_share(rows, is_real, k=1):
    """Mean share of own-table rows among all that tie for the k-th nearest other row; all columns are numbers."""
    span = rows.max(axis=0) - rows.min(axis=0)
    distance = (np.abs(rows[:, None] - rows[None]) / span).mean(axis=2).round(12)
    shares = []
    for i, to in enumerate(distance):
        others = np.delete(np.arange(len(rows)), i)
        tied = others[to[others] == np.sort(to[others])[k - 1]]
        shares.append((is_real[tied] == is_real[i]).mean())
    return np.array(shares)


def test_the_share_of_own_table_neighbours_by_hand():
    # 1 and 2 next to each other in real, 4 alone (nearest 5), 5 ties between 4 and 6, both of the other table but 6
    lines = (
        [1.0, 2.0, 4.0] + [100.0 + 7 * i * i for i in range(20)],
        [5.0, 6.0] + [5000.0 + 7 * i * i for i in range(20)],
    )
    real, holdout = (pl.DataFrame({"a": v}) for v in lines)
    found = labels_of(build_case(real, real, holdout))
    # all of the two long runs lie among themselves
    assert found.own == pytest.approx((1 + 1 + 0 + 20 + 0.5 + 1 + 20) / 45)
    assert found.p_together == 0.0001


@pytest.mark.first(2)
@pytest.mark.parametrize("levels", [3, 9, 1000])
def test_neighbours_agree_with_a_plain_search(levels):
    rng = np.random.default_rng(levels)
    real, holdout = rng.integers(0, levels, (70, 2)) * 0.5, rng.integers(0, levels, (40, 2)) * 0.5
    frames = [pl.DataFrame({"a": t[:, 0], "b": t[:, 1]}) for t in (real, holdout)]
    case = build_case(frames[0], frames[0], frames[1], schema=None)
    rows, is_real = np.concatenate([real, holdout]), np.arange(110) < 70
    found = labels_of(case)
    assert found.own == pytest.approx(plain_share(rows, is_real).mean())
    assert found.farther_own == pytest.approx(plain_share(rows, is_real, 20).mean())
    permuted = [plain_share(rows, rng.permutation(is_real)).mean() for _ in range(60)]
    assert found.by_chance == pytest.approx(np.mean(permuted), abs=0.03)
    p = np.mean(np.array(permuted) >= found.own - 1e-9)
    assert found.p_together == pytest.approx(p, abs=0.3)


def test_few_people_are_not_compared():
    rng = np.random.default_rng(9)
    found = rows_together(build_case(people(rng, 19), people(rng, 50), people(rng, 50)))
    assert (found.ok, found.tested) == (True, False)
    assert is_ours(found.detail)


@pytest.mark.slow
def test_an_external_edition_may_repeat_what_the_checks_say():
    rng = np.random.default_rng(10)
    real, synthetic, holdout = (persons(rng, 200, 1000 * i) for i in range(3))
    alike = [people(rng, 50)[np.repeat(np.arange(50), 4)].with_columns(home=pl.int_range(200)) for _ in range(3)]
    runs = [
        checks(*(t.drop("person") for t in (real, synthetic, holdout))),
        checks(*three()),
        checks(three()[0], three()[2][:250], three()[2]),
        checks(*three(1, 100)),
        checks(*alike, unit="home"),
        checks(real[:20], synthetic, holdout.select("x", job=pl.lit("a"), y=pl.lit(1))),
    ]
    noisy = [three()[i].with_columns(pl.col("x", "y") + 0.001 * (i == 2)) for i in (0, 1, 0)]
    runs.append(checks(*noisy))
    seen = {(c, f[c].ok, f[c].tested, f[c].detail) for f in runs for c in INVALIDATING if c in f}
    assert len({s[:3] for s in seen}) >= 8
    for *_, detail in seen:
        assert is_ours(detail)


@pytest.mark.parametrize("attack", [divulge.epsilon_identifiability, divulge.authenticity, divulge.copies])
def test_a_single_call_says_that_strangers_stand_in_the_real_table(attack):
    real, synthetic, _ = three(8)
    found = attack(real, synthetic, holdout=real[:100])
    first = found if isinstance(found, divulge.Result) else found[0]
    assert any(
        n.startswith("precondition not met: no overlap: 100 of 100 holdout rows equal a real row") for n in first.notes
    )
    every = (first,) if first is found else found
    assert all(r.verdict != "none found" and r.score is None for r in every)


def test_a_single_call_says_that_the_synthesizer_saw_the_holdout():
    real, synthetic, holdout = three(9)
    found = divulge.copies(real, pl.concat([real[:280], holdout[:285]]), holdout=holdout)
    assert any(n.startswith("precondition not met: holdout unseen: the synthesizer seems") for n in found[0].notes)
    assert found[0].verdict == "cannot tell"
    clean = divulge.copies(real, synthetic, holdout=holdout)
    assert not any(n.startswith("precondition not met") for r in clean for n in r.notes)


def test_strangers_of_a_coarse_table_are_kept_though_they_equal_members():
    rng = np.random.default_rng(10)
    real, synthetic, holdout = (
        pl.DataFrame({f"k{j}": rng.integers(0, 4, 600).astype(str) for j in range(6)}) for _ in range(3)
    )
    for attack in (divulge.epsilon_identifiability, divulge.authenticity, divulge.copies):
        found = attack(real, synthetic, holdout=holdout)
        for r in (found,) if isinstance(found, divulge.Result) else found:
            assert r.verdict not in ("excess found", "deficit found")
            assert r.counts != "people" or r.holdout is None or r.holdout.n == 600
