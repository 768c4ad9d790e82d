"""Numbers of a row, all times one factor or plus one number of its own: oracle, the leak that they alone see, laws."""

import numpy as np
import polars as pl
import pytest

import divulge
from divulge.attacks.copying import moved_rows
from divulge.attacks.copying.moved_rows import MOVED_ROW_HITS, MOVED_ROWS, NEARER, SCALED, SHIFTED
from divulge.case.case import build_case

HOURS = [f"h{i:02d}" for i in range(8)]


def profiles(rng, n, zeros=0.0):
    """Eight amounts of a row that go up and down together, some of them 0, and two columns that say nothing of them."""
    level = rng.normal(0, 0.4, (n, 1))
    x = np.exp(level + np.sin(np.arange(8) + rng.uniform(0, 6, (n, 1))) / 2 + rng.normal(0, 0.2, (n, 8)))
    x = np.where(rng.random((n, 8)) < zeros, 0, x).round(3)
    return pl.DataFrame(
        dict(zip(HOURS, x.T, strict=True)) | {"age": rng.integers(18, 90, n), "sex": rng.choice(["f", "m"], n)}
    )


def released(seed, n=400, share=0.1, how=SCALED, zeros=0.0):
    """Return tables in which the numbers of some members stand moved, and all else is another person's."""
    rng = np.random.default_rng(seed)
    real, synthetic, holdout = (profiles(rng, n, zeros) for _ in range(3))
    k = round(share * n)
    own = real[rng.permutation(n)[:k].tolist()].with_columns(synthetic[n - k :].select("age", "sex"))
    step = pl.Series(rng.uniform(0.5, 2, k))
    moved = [
        (pl.col(c) * step if how == SCALED else pl.when(pl.col(c) != 0).then(pl.col(c) + step)).round(3) for c in HOURS
    ]
    return (
        real,
        pl.concat([synthetic[: n - k], own.with_columns(moved).with_columns(pl.col(HOURS).fill_null(0.0))]),
        holdout,
    )


def compared(tables, **settings):
    found = divulge.copies(*tables[:2], holdout=tables[2], variants=[MOVED_ROWS], **settings)
    return {r.variant: r for r in found}


def plain(real, synthetic, holdout, columns, variant):
    """Return the score of each member and stranger, by loops over pairs of rows; nan for who has too few numbers."""
    sides = [t.select(columns).to_numpy() for t in (real, holdout, synthetic)]
    known = [np.where(np.isfinite(x) & (x != 0), x, np.nan) for x in sides]
    known = [np.log(x) for x in known] if variant == SCALED else known
    people = np.concatenate(known[:2])
    asked = (~np.isnan(people)).sum(axis=1) >= 3
    middle = np.nanmedian(people[asked], axis=0) if variant == SCALED else 0

    def without_level(x):
        x = x[(~np.isnan(x)).sum(axis=1) >= 3] - middle
        return x - np.nanmedian(x, axis=1, keepdims=True)

    own, theirs = without_level(people), without_level(known[2])
    scale = 3 * np.ptp(np.nanquantile(own, [0.1, 0.9], axis=0), axis=0)

    def distances(row, rows):
        terms = np.minimum(1, np.abs(rows - row) / scale)
        lacking = np.isnan(rows), np.isnan(row)
        return np.where(lacking[0] & lacking[1], 0, np.where(lacking[0] | lacking[1], 1, terms)).mean(axis=1)

    score = np.full(len(people), np.nan)
    for i, place in enumerate(np.flatnonzero(asked)):
        other = distances(own[i], np.delete(own, i, axis=0)).min()
        score[place] = max(0, 1 - NEARER * distances(own[i], theirs).min() / other) if other > 0 else 0
    return score[: len(sides[0])], score[len(sides[0]) :]


@pytest.mark.parametrize("how", [SCALED, SHIFTED])
@pytest.mark.parametrize("zeros", [0.0, 0.5])
def test_moved_rows_are_scored_as_by_hand(how, zeros):
    tables = released(1, n=120, how=how, zeros=zeros)
    for variant, found in compared(tables).items():
        for rate, score in zip((found.real, found.holdout), plain(*tables, HOURS, variant), strict=True):
            assert rate.n == (~np.isnan(score)).sum()
            assert rate.hits == pytest.approx(np.nansum(score), abs=1e-6)


@pytest.mark.parametrize("how", [SCALED, SHIFTED])
def test_rows_whose_numbers_were_moved_are_found_by_their_distance_to_each_other_alone(how):
    tables = released(2, n=600, how=how)
    results = divulge.copies(*tables[:2], holdout=tables[2])
    seen = {r.variant: r for r in results if r.verdict == "excess found"}
    assert how in seen
    assert set(seen) <= {SCALED, SHIFTED}
    assert seen[how].real.hits >= 50
    assert seen[how].holdout.hits <= 5
    assert MOVED_ROW_HITS[how] in str(seen[how])


def test_rows_copied_as_they_are_stand_there_moved_by_nothing():
    real, _, holdout = released(3)
    found = compared((real, real, holdout))
    assert all(r.real.rate == 1 for r in found.values())


def test_factors_of_rows_and_columns_and_the_order_of_both_change_no_digit():
    tables = released(4, zeros=0.3)
    first = {v: (r.real, r.holdout, r.p_value) for v, r in compared(tables).items()}
    rng = np.random.default_rng(9)
    in_order = [t.select(sorted(t.columns, reverse=True)).sample(fraction=1, shuffle=True, seed=1) for t in tables]
    assert {v: (r.real, r.holdout, r.p_value) for v, r in compared(in_order).items()} == first
    factor = {c: 2.0 ** rng.integers(-3, 4) for c in HOURS}
    scaled = [t.with_columns(pl.col(c) * f for c, f in factor.items()) for t in tables]  # units of measure
    own = pl.Series(2.0 ** rng.integers(-5, 6, tables[1].height).astype(float))  # of each synthetic row
    by_row = tables[0], tables[1].with_columns(pl.col(HOURS) * own), tables[2]
    for other in (scaled, by_row):
        found = compared(other)[SCALED]
        assert (found.real, found.holdout, found.p_value) == first[SCALED]


def test_what_is_compared_depends_on_no_label():
    real, synthetic, holdout = released(5)
    one = divulge.copies.run(build_case(real, synthetic, holdout), variants=[MOVED_ROWS])
    two = divulge.copies.run(build_case(holdout, synthetic, real), variants=[MOVED_ROWS])
    assert [(r.variant, r.real, r.holdout) for r in one] == [(r.variant, r.holdout, r.real) for r in two]


def test_other_rows_of_a_unit_are_no_other_person():
    base = released(6)
    many = [
        pl.concat([t.with_columns(u=pl.int_range(pl.len()).cast(pl.String) + pl.lit(side))] * 3)
        for t, side in zip(base, "rsh", strict=True)
    ]
    found, want = compared(many, unit="u"), compared(base)
    assert {v: (r.real.rate, r.holdout.rate) for v, r in found.items()} == {
        v: (pytest.approx(r.real.rate), pytest.approx(r.holdout.rate)) for v, r in want.items()
    }


def test_a_sample_of_many_people_is_compared_and_told(monkeypatch):
    monkeypatch.setattr(moved_rows, "_MOST_PEOPLE", 200)
    found = compared(released(7, share=0.5))[SCALED]
    assert (found.real.n, found.holdout.n) == (200, 200)
    assert 70 <= found.real.hits <= 130
    assert any("as many strangers" in note for note in found.notes)


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.drop(HOURS[2:]),
        lambda t: t.with_columns(pl.lit(None, dtype=pl.Float64).alias(c) for c in HOURS),
        lambda t: t.with_columns(pl.lit(0.0).alias(c) for c in HOURS[1:]),
        lambda t: t.with_columns(pl.col(c).round(0) for c in HOURS),
        lambda t: t.head(8),
    ],
)
def test_without_three_columns_of_numbers_that_tell_people_apart_nothing_is_compared(change):
    tables = [change(t) for t in released(8)]
    assert not {r.variant for r in divulge.copies(*tables[:2], holdout=tables[2])} & {SCALED, SHIFTED}


@pytest.mark.parametrize("odd", [np.inf, -1e308, 1e308, 1e-320])
def test_numbers_at_the_ends_of_what_is_possible_are_compared_without_a_warning(odd):
    tables = [t.with_columns(pl.when(pl.int_range(pl.len()) == 3).then(odd).otherwise(pl.col("h00")).alias("h00"))
              for t in released(9)]  # fmt: skip
    assert compared(tables)[SHIFTED].verdict in ("excess found", "none found", "cannot tell")
