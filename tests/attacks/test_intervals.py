"""Intervals between the dates of a row, and between the rows of a person: oracles, the leak that they alone see, laws."""

from collections import Counter
from datetime import timedelta

import numpy as np
import polars as pl
import pytest

import divulge
from divulge.attacks.copying.row_intervals import ROW_INTERVALS
from divulge.case.case import build_case
from divulge.case.relational.persons import intervals

DATES = ["admitted", "treated", "discharged"]


def patients(rng, n, exact=False):
    """Three dates a row, and two columns that say nothing of them."""
    moment = np.datetime64("2018-01-01T00:00:00") + rng.integers(0, 1500 * 86_400, n)
    table = {}
    for name in DATES:
        table[name] = (moment if exact else moment.astype("datetime64[D]")).astype("datetime64[us]")
        moment = moment + rng.integers(1, 300 * 86_400, n)
    return pl.DataFrame(table | {"sex": rng.choice(["f", "m"], n), "ward": rng.choice(list("abcd"), n)})


def moved(table, rng, columns=DATES):
    """Return the rows with all dates of each moved by days of its own, and all else dealt out anew."""
    days = pl.Series([timedelta(days=int(d)) for d in rng.integers(-364, 365, table.height)])
    out = table.with_columns([pl.col(c) + days for c in columns])
    return out.with_columns(pl.col(c).shuffle(int(rng.integers(1000))) for c in table.columns if c not in columns)


def released(seed, n=300, share=0.2, exact=False):
    rng = np.random.default_rng(seed)
    real, synthetic, holdout = (patients(rng, n, exact) for _ in range(3))
    k = round(share * n)
    return real, pl.concat([moved(real[rng.permutation(n)[:k].tolist()], rng), synthetic[k:]]), holdout


def of(results, columns=None):
    found = [r for r in results if r.variant == ROW_INTERVALS]
    return found if columns is None else next(r for r in found if set(r.keys) == set(columns))


def compared(tables, **settings):
    return divulge.copies(*tables[:2], holdout=tables[2], variants=["intervals"], **settings)


def plain(table, columns):
    """Return the intervals of each row, None for who has fewer than two dates."""
    out = []
    for row in table.select(sorted(columns)).rows():
        known = [d for d in row if d is not None]
        out.append(None if len(known) < 2 else tuple(None if d is None else d - min(known) for d in row))
    return out


def with_gaps(tables, seed):
    rng = np.random.default_rng([seed, 7])
    return [
        t.with_columns(pl.when(pl.Series(rng.random(t.height) > 0.15)).then(pl.col(c)).alias(c) for c in DATES)
        for t in tables
    ]


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("exact", [False, True])
def test_rare_intervals_are_counted_as_by_hand(gaps, exact):
    tables = released(1, exact=exact)
    real, synthetic, holdout = with_gaps(tables, 1) if gaps else tables
    results = of(compared((real, synthetic, holdout)))
    assert results
    for found in results:
        people = Counter(t for table in (real, holdout) for t in plain(table, found.keys) if t)
        theirs = set(plain(synthetic, found.keys)) - {None}
        for rate, table in ((found.real, real), (found.holdout, holdout)):
            own = plain(table, found.keys)
            assert rate.hits == sum(t is not None and people[t] <= 2 and t in theirs for t in own)
            assert rate.n == sum(t is not None for t in own)


def test_rows_whose_dates_were_moved_are_found_by_their_intervals_alone():
    results = divulge.copies(*(tables := released(2, n=400))[:2], holdout=tables[2])
    assert {r.variant for r in results if r.verdict == "excess found"} == {ROW_INTERVALS}
    found = of(results, DATES)
    assert found.real.hits >= 75
    assert "rare intervals between the dates of" in str(found)


def test_days_added_to_all_dates_of_a_row_and_the_order_of_rows_and_columns_change_no_digit():
    tables = released(3)
    first = [(r.keys, r.real, r.holdout, r.p_value) for r in of(compared(tables))]
    rng = np.random.default_rng(9)
    other = [moved(t, rng).select(sorted(t.columns, reverse=True)).sample(fraction=1, shuffle=True, seed=1)
             for t in tables]  # fmt: skip
    assert [(r.keys, r.real, r.holdout, r.p_value) for r in of(compared(other))] == first


def test_which_dates_are_compared_depends_on_no_label():
    real, synthetic, holdout = released(4)
    one = of(divulge.copies.run(build_case(real, synthetic, holdout)))
    two = of(divulge.copies.run(build_case(holdout, synthetic, real)))
    assert [(r.keys, r.real, r.holdout) for r in one] == [(r.keys, r.holdout, r.real) for r in two]


def test_the_rows_of_a_unit_are_one_person():
    base = released(5)
    many = [pl.concat([t.with_columns(u=pl.int_range(pl.len()).cast(pl.String) + pl.lit(side))] * 3)
            for t, side in zip(base, "rsh", strict=True)]  # fmt: skip
    found, want = of(compared(many, unit="u"), DATES), of(compared(base), DATES)
    assert (found.real.rate, found.holdout.rate) == (want.real.rate, want.holdout.rate)


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.drop(DATES[1:]),
        lambda t: t.with_columns(pl.lit(None, dtype=pl.Datetime("us")).alias(c) for c in DATES),
        lambda t: t.with_columns(pl.col(DATES[0]).alias(c) for c in DATES),
        lambda t: t.head(3),
    ],
)
def test_without_two_dates_that_tell_people_apart_nothing_is_compared(change):
    tables = [change(t).with_columns(x=pl.int_range(pl.len())) for t in released(6)]
    assert not of(divulge.copies(*tables[:2], holdout=tables[2]))


def visits(rng, n, first):
    """Rows of people on days of their own; what a row holds says nothing."""
    n_rows = rng.integers(6, 21, n)
    days = np.concatenate([np.sort(rng.choice(900, k, replace=False)) for k in n_rows])
    day = np.datetime64("2020-01-01") + days
    return pl.DataFrame(
        {"uid": np.repeat(first + np.arange(n), n_rows), "day": day, "kind": rng.choice(list("abc"), len(day))}
    )


def visits_moved(seed, n=400, share=0.15):
    rng = np.random.default_rng([seed, 3])
    real, synthetic, holdout = (visits(rng, n, first) for first in (0, 10_000, 20_000))
    k = round(share * n)
    members = rng.permutation(n)[:k].tolist()
    days, other = (
        dict(zip(members, values, strict=True)) for values in (rng.integers(-200, 200, k).tolist(), range(k))
    )
    own = real.filter(pl.col("uid").is_in(members))
    own = own.with_columns(
        uid=pl.col("uid").replace_strict(other) + 10_000,
        day=pl.col("day") + pl.duration(days=pl.col("uid").replace_strict(days)),
        kind=pl.Series(rng.choice(list("abc"), own.height)),
    )
    synthetic = pl.concat([own, synthetic.filter(pl.col("uid") >= 10_000 + k)])
    return [t.sample(fraction=1, shuffle=True, seed=i) for i, t in enumerate((real, synthetic, holdout))]


@pytest.mark.parametrize("linked", [False, True])
def test_histories_whose_dates_were_moved_are_found_by_their_intervals_alone(linked):
    tables = visits_moved(1)
    settings = {"models": False, "search": "off", "membership": False, "fidelity": False, "jobs": 1}
    if linked:
        rng = np.random.default_rng(0)
        users = [t.select(pl.col("uid").unique().sort()) for t in tables]
        users = [u.with_columns(age=pl.Series(rng.integers(20, 80, u.height))) for u in users]
        tables = [{"users": u, "visits": t} for u, t in zip(users, tables, strict=True)]
    else:
        settings["schema"] = divulge.infer_schema(tables[0]).give_roles(unit=["uid"])
    report = divulge.assess(*tables[:2], tables[2], **settings)
    found = {r.variant for r in report.results if r.verdict == "excess found"}
    assert found
    assert found <= {"run of intervals", "shorter run of intervals", "longer run of intervals"}


def test_intervals_of_moved_histories_are_the_same():
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(20), rng.integers(1, 9, 20))
    time = rng.integers(0, 60, len(person)).astype(float)
    time[rng.random(len(time)) < 0.1] = np.nan
    order = rng.permutation(len(person))
    one, other = intervals([(time, person), ((time + 0.1 + 100.0 * person)[order], person[order])])
    assert (one.values == other.values).all()
    assert (one.persons == other.persons).all()
    lengths = [np.diff(np.sort(own[np.isfinite(own)])) for own in (time[person == p] for p in range(20))]
    plainly = np.unique(np.concatenate(lengths), return_inverse=True)[1]
    assert one.values.tolist() == plainly.tolist()
