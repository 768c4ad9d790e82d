"""Whole histories of people: plain oracles, the leak that nothing else sees, laws and messy input."""

import math
from collections import Counter

import numpy as np
import polars as pl
import pytest
from amount import tries

import divulge
from divulge.attacks.copying import histories as module
from divulge.attacks.copying.histories import HISTORIES, NEAR_HISTORY, WHOLE_HISTORY
from divulge.kernels import row_sets as kernel
from divulge.kernels.row_sets import nearest_rows, pairs_of, row_sets

N = 200


def people(rng, n, first=0, rows=8):
    """Users of as many rows each, of 120 kinds that everybody has."""
    user = np.repeat(np.arange(first, first + n), rows)
    return pl.DataFrame(
        {"user": user, "item": rng.integers(0, 40, len(user)).astype(str), "times": rng.integers(1, 4, len(user))}
    )


def tables(seed, share=0.1, n=N, kept=1.0, rows=8):
    """Three tables; a share of the members have their rows, or some of them, under one synthetic user."""
    rng = np.random.default_rng([seed, 17])
    real, synthetic, holdout = (people(rng, n, first, rows) for first in (0, 10_000, 20_000))
    k = round(share * n) * rows
    copied = real[:k].with_columns(user=synthetic["user"][:k])
    new = rng.random(k) >= kept
    copied = pl.concat([copied.filter(~new), synthetic[:k].filter(new)])
    return real, pl.concat([copied, synthetic[k:]]).sample(fraction=1, shuffle=True, seed=seed), holdout


def compared(real, synthetic, holdout=None, **more):
    found = divulge.copies(real, synthetic, holdout=holdout, unit="user", variants=["exact", HISTORIES], **more)
    return {r.variant: r for r in found if r.variant != "exact"}


# ---------------------------------------------------------------- the leak


def test_whole_histories_are_found_and_nothing_else_sees_them():
    real, synthetic, holdout = tables(0)
    results = [
        *divulge.copies(real, synthetic, holdout=holdout, unit="user"),
        *divulge.membership(real, synthetic, holdout=holdout, unit="user"),
        *divulge.dcr(real, synthetic, holdout=holdout, unit="user"),
    ]
    found = {(r.attack, r.variant, r.keys) for r in results if r.verdict == "excess found"}
    both = (WHOLE_HISTORY, NEAR_HISTORY)
    by_item = {("copies", f"{v}, one column", ("user", "item")) for v in both}  # it says nearly as much of these
    assert found == {("copies", v, ("user",)) for v in both} | by_item
    (whole,) = (r for r in results if r.variant == WHOLE_HISTORY)
    assert (whole.real.hits, whole.real.n, whole.holdout.hits, whole.holdout.n) == (20, N, 0, N)
    assert "all rows, under one synthetic unit, of 10.0% of members (20 of 200)" in str(whole)


def test_histories_in_time_need_no_strangers():
    real, synthetic, holdout = with_days(3, 0.1)
    alone, beside = (compared(real, synthetic, h) for h in (None, holdout))
    assert set(alone) == set(beside) and len(alone) > 2
    assert alone[WHOLE_HISTORY].real == beside[WHOLE_HISTORY].real


def dated(rng, table):
    """Return the table with a day for each row, in the order of the file within a user."""
    days = np.sort(rng.integers(0, 700, (table["user"].n_unique(), table.height // table["user"].n_unique())), axis=1)
    return table.with_columns(when=pl.Series(days.ravel()).cast(pl.Int32).cast(pl.Date))


def with_days(seed, share, stretch=8, n=N, rows=8):
    """Three tables with days of their own; a share of the members have a stretch of rows under one synthetic user."""
    rng = np.random.default_rng([seed, 23])
    real, synthetic, holdout = (dated(rng, people(rng, n, first, rows)) for first in (0, 10_000, 20_000))
    place = np.arange(n * rows).reshape(n, rows)[: round(share * n), :stretch].ravel()
    for c in ("item", "times"):
        values = synthetic[c].to_numpy().copy()
        values[place] = real[c].to_numpy()[place]
        synthetic = synthetic.with_columns(pl.Series(c, values))
    return real, synthetic, holdout


def test_histories_whose_days_were_drawn_anew_and_stretches_of_them_are_found_in_one_table():
    real, synthetic, holdout = with_days(0, 0.1)
    found = compared(real, synthetic, holdout)
    timeless = found[f"{WHOLE_HISTORY}, without times"]
    assert (timeless.real.hits, timeless.real.n, timeless.holdout.hits) == (20, N, 0)
    assert found[WHOLE_HISTORY].real.hits == 0
    assert timeless.verdict == found["run"].verdict == "excess found"
    mixed = [t.sample(fraction=1, shuffle=True, seed=3) for t in (real, synthetic, holdout)]
    assert {v: (r.real, r.holdout, r.p_value) for v, r in compared(*mixed).items()} == {
        v: (r.real, r.holdout, r.p_value) for v, r in found.items()
    }
    some = compared(*with_days(1, 0.2, stretch=4))
    told = {v for v, r in some.items() if r.verdict == "excess found"}
    assert "shorter run" in told and not any(v.startswith(WHOLE_HISTORY) for v in told)
    assert {r.verdict for r in compared(*with_days(2, 0.0)).values()} <= {"none found", "cannot tell"}


@pytest.mark.parametrize("clock", [True, False])
@pytest.mark.parametrize("others", [True, False])
@pytest.mark.parametrize("share", [0.0, 0.1])
def test_days_of_members_are_found_whatever_else_was_drawn_anew(clock, others, share):
    if not clock and not others:
        return  # of days alone the whole history is that of days
    real, synthetic, holdout = with_days(4, 0.0)
    days = synthetic["when"].to_numpy().copy()
    k = 8 * round(share * N)
    days[:k] = real["when"].to_numpy()[:k]
    rng = np.random.default_rng(4)

    def released(table, when):
        when = pl.Series("when", when).cast(pl.Datetime("us"))
        when += pl.Series(rng.integers(0, 86_400, len(when)) * clock * 1_000_000).cast(pl.Duration("us"))
        return table.with_columns(when).select("user", "when", *["item", "times"] * others)

    tables = (released(real, real["when"]), released(synthetic, days), released(holdout, holdout["when"]))
    found = {v: r for v, r in compared(*tables).items() if r.verdict == "excess found"}
    runs = {v for v in found if "run of intervals" in v} if not clock else set()  # of days they are equal, too
    assert set(found) - runs == ({f"{v}, days alone" for v in (WHOLE_HISTORY, NEAR_HISTORY)} if share else set())
    if share:
        one = found[f"{WHOLE_HISTORY}, days alone"]
        assert (one.real.hits, one.real.n, one.holdout.hits) == (20, N, 0)
        assert "the days of all rows, under one synthetic unit, of 10.0% of members" in str(one)
        assert not any("in bins" in note for r in found.values() for note in r.notes if "days alone" in r.variant)


def households(rng, n, first):
    """Homes of one to five people, and what each spends on some day; what a row holds says nothing of the others."""
    home = np.repeat(np.arange(first, first + n), rng.integers(1, 6, n))
    return pl.DataFrame(
        {
            "user": home,
            "age": rng.integers(0, 90, len(home)),
            "cost": rng.gamma(2, 30, len(home)).round(4),  # hardly any ends in .5
            "on": np.datetime64("2019-01-01") + rng.integers(0, 1500, len(home)),
            "sex": rng.choice(["f", "m"], len(home)),
        }
    )


KEPT = {
    "age": lambda c: c,
    "cost": lambda c: c.round(0),  # to whole euros, of everybody
    "on": lambda c: c.dt.truncate("1mo"),
}


def one_column_kept(seed, column, n=300, share=0.15):
    """Three tables; one column of some homes stands, in another order, under one synthetic home, and nothing else."""
    rng = np.random.default_rng([seed, 29])
    real, holdout = (households(rng, n, first) for first in (0, 20_000))
    real = real.with_columns(pl.col("user").rank("dense").cast(pl.Int64))
    k = round(share * n)
    own = real.filter(pl.col("user") <= k).sample(fraction=1, shuffle=True, seed=seed).sort("user", maintain_order=True)
    fresh = households(rng, n, 10_000)
    changed = households(rng, 3 * n, 0)[: own.height].with_columns(own["user"] + 20_000, own[column])
    synthetic = pl.concat([changed, fresh.filter(pl.col("user") >= 10_000 + k)])
    return real, synthetic.with_columns(KEPT[column](synthetic[column])), holdout


@pytest.mark.parametrize("column", KEPT)
def test_one_column_of_all_rows_is_found_though_all_else_was_drawn_anew(column):
    real, synthetic, holdout = one_column_kept(0, column)
    results = divulge.copies(real, synthetic, holdout=holdout, unit="user")
    found = {(r.variant, r.keys): r for r in results if r.verdict == "excess found"}
    assert set(found) == {(f"{v}, one column", ("user", column)) for v in (WHOLE_HISTORY, NEAR_HISTORY)}
    whole = found[f"{WHOLE_HISTORY}, one column", ("user", column)]
    assert "the values of one column in all rows, under one synthetic unit, of" in str(whole)

    def bags(table):
        """Return of each person the values and how often each is there, by what all are times."""
        rows = table.group_by("user").agg(KEPT[column](pl.col(column)))[column].to_list()
        counts = [Counter(row) for row in rows]
        return [{v: n // math.gcd(*c.values()) for v, n in c.items()} for c in counts]

    theirs = bags(synthetic)
    for rate, table in ((whole.real, real), (whole.holdout, holdout)):
        own = [b for b in bags(table) if sum(b.values()) > 1]
        assert (rate.hits, rate.n) == (sum(b in theirs for b in own), len(own))


def test_a_synthetic_table_written_twice_says_no_more_by_one_column():
    real, synthetic, holdout = one_column_kept(4, "age")
    once, twice = (
        {(r.variant, r.keys): (r.real, r.holdout)
         for r in divulge.copies(real, s, holdout=holdout, unit="user", variants=[HISTORIES]) if "one column" in r.variant}
        for s in (synthetic, pl.concat([synthetic, synthetic]))
    )  # fmt: skip
    assert once and once == twice


def test_a_missing_value_of_a_column_is_a_value_as_others_are():
    tables = one_column_kept(3, "age")
    rng = np.random.default_rng(3)
    gaps = [t.with_columns(age=pl.when(pl.Series(rng.random(t.height) > 0.2)).then("age")) for t in tables]
    filled = [t.with_columns(pl.col("age").fill_null(200)) for t in gaps]
    for column in ("age", "cost"):
        mine, other = (
            {r.variant: (r.real, r.holdout) for r in divulge.copies(*t[:2], holdout=t[2], unit="user",
             variants=[HISTORIES]) if r.keys == ("user", column)}
            for t in (gaps, filled)
        )  # fmt: skip
        assert mine and mine == other


@pytest.mark.parametrize("column", ["age", "on"])
def test_one_column_of_linked_rows_is_found_too(column):
    tables = one_column_kept(1, column)
    rng = np.random.default_rng(1)
    linked = []
    for t in tables:
        homes = t.select(home_id=pl.col("user").unique().sort())
        homes = homes.with_columns(region=rng.choice(list("abcd"), homes.height))
        linked.append({"homes": homes, "members": t.rename({"user": "home_id"})})
    report = divulge.assess(
        linked[0], linked[1], holdout=linked[2], unit="homes", models=False, membership=False, fidelity=False
    )
    found = {r.variant: r for r in report.results if r.keys == (f"members.{column}",)}
    here = {r.variant: r for r in divulge.copies(*tables[:2], holdout=tables[2], unit="user", variants=[HISTORIES])
            if r.keys == ("user", column)}  # fmt: skip
    assert {v: (r.real.hits, r.holdout.hits) for v, r in found.items() if "one column" in v} == {
        v: (r.real.hits, r.holdout.hits) for v, r in here.items()
    }
    assert here


def test_which_columns_are_compared_alone_depends_on_no_label_and_on_no_order():
    real, synthetic, holdout = one_column_kept(2, "age")
    results = divulge.copies(real, synthetic, holdout=holdout, unit="user", variants=[HISTORIES])
    one = {(r.variant, r.keys): (r.real, r.holdout) for r in results if "one column" in r.variant}
    assert ("whole history, one column", ("user", "sex")) not in one
    turned = divulge.copies(holdout, synthetic, holdout=real, unit="user", variants=[HISTORIES])
    assert {(r.variant, r.keys): (r.holdout, r.real) for r in turned if "one column" in r.variant} == one
    mixed = [t.select(t.columns[::-1]).sample(fraction=1, shuffle=True, seed=4) for t in (real, synthetic, holdout)]
    again = divulge.copies(*mixed[:2], holdout=mixed[2], unit="user", variants=[HISTORIES])
    assert {(r.variant, r.keys): (r.real, r.holdout) for r in again if "one column" in r.variant} == one


def test_days_of_linked_rows_are_found_too():
    real, synthetic, holdout = with_days(5, 0.0)
    days = synthetic["when"].to_numpy().copy()
    days[: 8 * 20] = real["when"].to_numpy()[: 8 * 20]
    rng = np.random.default_rng(5)
    linked = [
        {
            "users": t.select("user_id")
            .unique(maintain_order=True)
            .with_columns(age=pl.Series(rng.integers(18, 90, N))),
            "visits": t,
        }
        for t in (x.rename({"user": "user_id"}) for x in (real, synthetic.with_columns(when=pl.Series(days)), holdout))
    ]
    report = divulge.assess(
        linked[0], linked[1], holdout=linked[2], unit="users", models=False, membership=False, fidelity=False
    )
    (one,) = (r for r in report.results if r.variant == f"{WHOLE_HISTORY}, days alone")
    assert one.keys == ("visits",) and (one.real.hits, one.holdout.hits) == (20, 0)
    assert one.verdict == "excess found"


def test_part_of_a_history_is_found_by_the_nearest_alone():
    found = compared(*tables(1, share=0.2, kept=0.7, rows=12))
    assert found[WHOLE_HISTORY].real.hits <= 2
    assert found[NEAR_HISTORY].verdict == "excess found"


@pytest.mark.parametrize("seed", range(tries(10, 3)))
def test_a_clean_table_has_no_finding(seed):
    assert not {
        v for v, r in compared(*tables(seed, share=0.0)).items() if r.verdict not in ("none found", "cannot tell")
    }


@pytest.mark.slow
def test_a_run_finds_it_and_its_external_edition_rounds_it():
    real, synthetic, holdout = tables(0)
    report = divulge.assess(
        real, synthetic, holdout=holdout, unit="user", models=False, search="off", membership=False, fidelity=False,
    )  # fmt: skip
    assert report.verdict == "excess found"
    assert "under one synthetic unit, of 1" in report.data["verdict"]["sentence"]
    (own,) = (r for r in report.external().to_dict()["results"] if r["variant"] == WHOLE_HISTORY)
    assert own["real"]["hits"] is None or own["real"]["hits"] % 5 == 0


# ---------------------------------------------------------------- oracles


def plain(mine, others):
    """Whether one of the others has all rows, and the smallest part of rows that differ."""
    apart = [len(mine ^ other) / (len(mine) + len(other)) for other in others]
    return any(mine <= other and len(other) <= 2 * len(mine) for other in others), min(apart, default=1.0)


@pytest.mark.parametrize("seed", range(tries(12, 4)))
def test_nearest_rows_are_those_of_plain_python(seed, monkeypatch):
    rng = np.random.default_rng([seed, 3])
    kinds = int(rng.integers(2, 30))
    sides = [(rng.integers(0, kinds, n), rng.integers(-5, 12, n)) for n in rng.integers(1, 120, 2)]
    theirs = [[set(content[person == p].tolist()) for p in np.unique(person)] for content, person in sides]
    ours, others = (row_sets(*side) for side in sides)
    asked = rng.permutation(len(theirs[0]))[: max(1, len(theirs[0]) // 2)]
    monkeypatch.setattr(kernel, "_AT_ONCE", int(rng.integers(1, 60)))
    for found, expected in (
        (nearest_rows(asked, ours, others), [plain(theirs[0][i], theirs[1]) for i in asked]),
        (nearest_rows(asked, ours), [plain(theirs[0][i], theirs[0][:i] + theirs[0][i + 1 :]) for i in asked]),
    ):
        assert found.complete.tolist() == [e for e, _ in expected]
        np.testing.assert_allclose(found.difference, [d for _, d in expected], atol=1e-12)
    assert pairs_of(ours, others)[asked].tolist() == [sum(len(theirs[0][i] & o) for o in theirs[1]) for i in asked]


def test_the_score_is_the_formula():
    """Of ann one synthetic user has two of three rows, and bob one of three: s = 1/3, o = 2/3, 1 - s/o = 1/2."""
    real = pl.DataFrame({"user": ["ann"] * 3 + ["bob"] * 3, "item": list("abc") + list("axy")})
    synthetic = pl.DataFrame({"user": ["u"] * 3 + ["v"] * 3, "item": list("abz") + list("xya")})
    found = compared(real, synthetic)
    assert (found[WHOLE_HISTORY].real.hits, found[WHOLE_HISTORY].real.n) == (1, 2)
    assert found[NEAR_HISTORY].real.hits == pytest.approx(0.5 + 1)


# ---------------------------------------------------------------- who counts


def test_a_person_counts_once_in_the_p_value_too():
    """5% of people have 300 rows each, and 10% of all are copied: their rows are no people."""
    rng = np.random.default_rng(11)
    sizes = np.where(np.arange(N) % 20 == 0, 300, 4)

    def heavy(first):
        user = np.repeat(np.arange(first, first + N), sizes)
        return pl.DataFrame(
            {"user": user, "item": rng.integers(0, 400, len(user)), "times": rng.integers(1, 4, len(user))}
        )

    real, synthetic, holdout = heavy(0), heavy(5_000), heavy(9_000)
    copied = real.filter(pl.col("user") % 10 == 7).with_columns(pl.col("user") + 20_000)
    found = compared(real, pl.concat([synthetic, copied]), holdout)
    assert (found[WHOLE_HISTORY].real.hits, found[WHOLE_HISTORY].verdict) == (20, "excess found")
    assert found[NEAR_HISTORY].verdict == "excess found"


def test_the_same_number_in_two_tables_is_another_person():
    real, synthetic, holdout = tables(6)
    apart = compared(real, synthetic, holdout)
    alike = compared(real, synthetic, holdout.with_columns(pl.col("user") - 20_000))
    assert {v: r.real for v, r in apart.items()} == {v: r.real for v, r in alike.items()}
    fresh = [people(np.random.default_rng([i, 4]), N, 10_000) for i in range(3)]
    several = compared(real, [synthetic, *fresh], holdout)
    assert (several[WHOLE_HISTORY].real.hits, several[WHOLE_HISTORY].holdout.hits) == (20, 0)


def test_who_has_the_rows_of_others_is_not_asked_how_near_they_are():
    """Twins: nobody's rows are his own, so that nothing could show and nothing is said."""
    rng = np.random.default_rng(12)
    real = people(rng, N // 2)
    holdout = real.with_columns(pl.col("user") + 20_000)
    assert set(compared(real, people(rng, N, 50_000), holdout)) == {WHOLE_HISTORY}


# ---------------------------------------------------------------- laws and messy input


def test_order_names_of_units_and_kind_of_frame_change_no_digit():
    real, synthetic, holdout = tables(2, share=0.05)
    before = compared(real, synthetic, holdout)
    rng = np.random.default_rng(0)
    moved = [t[rng.permutation(len(t))].select(reversed(t.columns)) for t in (real, synthetic, holdout)]
    named = [t.with_columns(user="p" + pl.col("user").cast(pl.String).str.reverse()) for t in moved]
    for three in (moved, named, [t.to_pandas() for t in moved]):
        after = compared(*three)
        assert {v: {**r.to_dict(), "seconds": 0} for v, r in before.items()} == {
            v: {**r.to_dict(), "seconds": 0} for v, r in after.items()
        }


def test_every_row_twice_changes_no_limit():
    real, synthetic, holdout = tables(3, share=0.05)
    before = compared(real, synthetic, holdout)
    after = compared(*(pl.concat([t, t]) for t in (real, synthetic, holdout)))
    for variant, own in before.items():
        risk = after[variant].risk
        assert (risk.value, risk.low, risk.high) == (own.risk.value, own.risk.low, own.risk.high)
        assert after[variant].real == own.real


def test_of_many_people_a_sample_is_asked_and_said_so(monkeypatch):
    monkeypatch.setattr(module, "_WORK", 1e4)
    monkeypatch.setattr(module, "_FEWEST", 60)
    real, synthetic, holdout = tables(4, share=0.5)
    results = divulge.copies(real, synthetic, holdout=holdout, unit="user", variants=["exact", HISTORIES])
    (whole,) = (r for r in results if r.variant == WHOLE_HISTORY)
    assert (whole.real.n, whole.holdout.n, whole.verdict) == (60, 60, "excess found")
    assert "histories: a random sample of 60 members and 60 strangers was asked" in results[0].notes


@pytest.mark.parametrize("kind", ["one row each", "no unit", "synthetic lacks the unit", "missing", "one user", "long"])
def test_messy_units_have_an_answer(kind):
    rng = np.random.default_rng(5)
    real, synthetic, holdout = tables(5, share=0.1, n=60)
    if kind == "one row each":
        real, synthetic, holdout = (people(rng, 60, first, rows=1) for first in (0, 100, 200))
    if kind == "missing":
        real, synthetic, holdout = (
            t.with_columns(pl.lit(None, pl.Int64).alias("user")) for t in (real, synthetic, holdout)
        )
    if kind == "one user":
        synthetic = synthetic.with_columns(user=pl.lit(1))
    if kind == "long":
        many = pl.DataFrame({"user": [900] * 1_001, "item": [f"i{k}" for k in range(1_001)], "times": [1] * 1_001})
        real = pl.concat([real, many])
    if kind == "synthetic lacks the unit":
        synthetic = synthetic.drop("user")
    unit = {} if kind == "no unit" else {"unit": "user"}
    if kind == "synthetic lacks the unit":
        with pytest.raises(divulge.DivulgeError):
            divulge.copies(real, synthetic, holdout=holdout, variants=["exact", HISTORIES], **unit)
        return
    found = divulge.copies(real, synthetic, holdout=holdout, variants=["exact", HISTORIES], **unit)
    variants = {r.variant: r for r in found}
    assert (WHOLE_HISTORY in variants) == (kind in ("one user", "long"))
    if kind == "one user":  # who has everything tells nothing
        assert variants[WHOLE_HISTORY].verdict != "excess found"
    if kind == "long":
        assert variants[WHOLE_HISTORY].real.n == 60
        assert any("people with more than 1,000 different rows" in n for n in variants[WHOLE_HISTORY].notes)


def test_a_report_names_the_column_and_not_the_unit_as_what_carries_copies():
    real, synthetic, holdout = one_column_kept(0, "age")
    report = divulge.assess(
        real, synthetic, holdout, unit="user", models=False, membership=False, fidelity=False, jobs=1
    )
    page = report.to_html()
    assert "nearly all their rows under one synthetic person" in page and "have the “age” of" in page
    assert "columns that carry the copies (“age”)" in page
