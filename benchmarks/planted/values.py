"""Worlds in which one column gives members away: a text, an identifier, a number; the other columns are of others.

Each ground adds the column to all three tables, with values that nobody shares but by chance.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import polars as pl

from .bases import Tables
from .world import EITHER, Hit, choose, ground, present, world

ONSETS = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
WORDS = [a + b for a in ("ka", "lo", "mi", "nu", "pe", "ri", "so", "tu") for b in ("ban", "del", "fir", "gom", "hut")]
CASE = (
    *("patient", "reports", "mild", "pain", "since", "last", "week", "after", "work", "sleeps", "badly", "no", "fever"),
    *("walks", "slowly", "asked", "for", "leave"),
)


def added(t: Tables, name: str, values: Callable[[int], object]) -> Tables:
    """Return the tables with a column `values(n)` of each."""
    return t.with_column(name, tuple(values(x.height) for x in (t.real, t.synthetic, t.holdout)))


def written(
    t: Tables, column: str, n: int, rng: np.random.Generator, change: Callable = lambda mine, row: mine
) -> Tables:
    """Return the tables with `n` members' values, changed, in rows of other people."""
    members, places = choose(t.real.height, n, rng), rng.permutation(t.synthetic.height)[:n]
    values = t.synthetic[column].to_list()
    for place, member in zip(places, members, strict=True):
        values[place] = change(t.real[column][int(member)], values[place])
    new = pl.Series(column, values, dtype=t.synthetic.schema[column])
    return replace(t, synthetic=t.synthetic.with_columns(new), planted=tuple(members.tolist()))


def value_of(column: str, change: Callable[[str], object] = str, read: Callable[[str], object] = str) -> Hit:
    """Return an oracle: the synthetic column, as `read`, holds the person's value as changed."""

    def hit(t: Tables, people: pl.DataFrame) -> np.ndarray:
        there = {read(v) for v in t.synthetic[column].to_list()}
        return np.array([change(v) in there for v in people[column].to_list()])

    return hit


def beside(t: Tables, new: dict[str, object], members: np.ndarray) -> Tables:
    """Return the tables with other values in columns of the synthetic one, and these members as planted."""
    synthetic = t.synthetic.with_columns(pl.Series(c, v, dtype=t.synthetic.schema[c]) for c, v in new.items())
    return replace(t, synthetic=synthetic, planted=tuple(members.tolist()))


# ---------------------------------------------------------------- texts


@ground("notes")
def notes(t: Tables, rng: np.random.Generator) -> Tables:
    return added(t, "note", lambda n: [" ".join(rng.choice(WORDS, 14)) for _ in range(n)])


@world("texts", "texts of members, in other rows", ground="notes", source="docs/planted.md A1",
       hit=value_of("note"), bases=EITHER)  # fmt: skip
def texts(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    return written(t, "note", n, rng)


def ten_words(t: Tables, people: pl.DataFrame) -> np.ndarray:
    """Return whether ten words in a row of the person's text stand in a synthetic text."""
    runs = {tuple(w[i : i + 10]) for w in map(str.split, t.synthetic["note"]) for i in range(len(w) - 9)}
    split = map(str.split, people["note"])
    return np.array([any(tuple(w[i : i + 10]) in runs for i in range(len(w) - 9)) for w in split])


@world("ten words of a text", "ten words of members' texts, in other texts", ground="notes",
       source="docs/planted.md A1", hit=ten_words, bases=EITHER)  # fmt: skip
def part_of_text(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    return written(
        t, "note", n, rng, lambda mine, row: " ".join(row.split()[:3] + mine.split()[2:12] + row.split()[3:5])
    )


def in_order(text: str) -> tuple[str, ...]:
    return tuple(sorted(text.split()))


@world("words in another order", "texts of members, their words in another order", ground="notes",
       source="unseen spellings (U5)", hit=value_of("note", in_order, in_order), bases=EITHER)  # fmt: skip
def another_order(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    return written(t, "note", n, rng, lambda mine, row: " ".join(rng.permutation(mine.split())))


def names(n: int, rng: np.random.Generator, parts: int = 4) -> list[str]:
    return ["".join(rng.choice(ONSETS, parts)).title() for _ in range(n)]


@ground("cases")
def cases(t: Tables, rng: np.random.Generator) -> Tables:
    """Case notes in which each person is named once."""

    def note(who: str) -> str:
        return " ".join([*rng.choice(CASE, 9), who, *rng.choice(CASE, 7)])

    return added(t, "note", lambda n: [note(who) for who in names(n, rng)])


@world("names in notes", "names of members in fresh case notes", ground="cases",
       source="names in texts; SDV get_pii_overlap (SDV #2920)",
       hit=value_of("note", lambda v: v.split()[9], lambda v: v.split()[9]), bases=EITHER)  # fmt: skip
def names_in_notes(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    return written(
        t, "note", n, rng, lambda mine, row: " ".join([*row.split()[:9], mine.split()[9], *row.split()[10:]])
    )


# ---------------------------------------------------------------- identifiers


@ground("e-mails")
def emails(t: Tables, rng: np.random.Generator) -> Tables:
    pool = iter(rng.permutation(100_000).tolist())
    return added(t, "email", lambda n: [f"person.{next(pool)}@example.org" for _ in range(n)])


@world("identifiers", "identifiers of members, in other rows", ground="e-mails", source="docs/planted.md",
       hit=value_of("email"), bases=EITHER)  # fmt: skip
def identifiers(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    return written(t, "email", n, rng)


@world("identifiers in capitals", "the same in capitals", ground="e-mails", source="docs/planted.md A3",
       hit=value_of("email", str.upper), bases=EITHER)  # fmt: skip
def capitals(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    return written(t, "email", n, rng, lambda mine, row: mine.upper())


def md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


@world("identifiers as MD5", "the MD5 of members' identifiers", ground="e-mails",
       source="unseen spellings (U4)", hit=value_of("email", md5), bases=EITHER)  # fmt: skip
def digests(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    return written(t, "email", n, rng, lambda mine, row: md5(mine))


@ground("e-mails, ignored")
def emails_ignored(t: Tables, rng: np.random.Generator) -> Tables:
    return replace(emails(t, rng), ignore=("email",))


@world("identifiers, column ignored", "identifiers of members in a column that the user ignores",
       ground="e-mails, ignored", source="docs/planted.md A2", hit=value_of("email"), bases=EITHER)  # fmt: skip
def ignored(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    return written(t, "email", n, rng)


@ground("e-mails, as unit")
def emails_as_unit(t: Tables, rng: np.random.Generator) -> Tables:
    return replace(emails(t, rng), unit="email")


@world("identifiers, column as unit", "identifiers of members in the column that the user names as the unit",
       ground="e-mails, as unit", source="docs/planted.md A2", hit=value_of("email"), bases=EITHER)  # fmt: skip
def as_unit(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    t = written(t, "email", n, rng)
    return replace(t, planted=tuple(t.real["email"].gather(list(t.planted)).to_list()))


@ground("e-mails, other heading")
def other_heading(t: Tables, rng: np.random.Generator) -> Tables:
    t = emails(t, rng)
    return replace(t, synthetic=t.synthetic.rename({"email": "Contact"}))


@world("identifiers under another heading", "identifiers of members in a column that the real table lacks",
       ground="e-mails, other heading", source="unseen columns (U1)",
       hit=lambda t, people: people["email"].is_in(t.synthetic["Contact"].to_list()).to_numpy(),
       bases=EITHER)  # fmt: skip
def under_another_heading(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    back = replace(t, synthetic=t.synthetic.rename({"Contact": "email"}))
    back = written(back, "email", n, rng)
    return replace(back, synthetic=back.synthetic.rename({"email": "Contact"}))


@ground("e-mails, not in the holdout")
def not_in_holdout(t: Tables, rng: np.random.Generator) -> Tables:
    t = emails(t, rng)
    return replace(t, holdout=t.holdout.drop("email"))


@world("identifiers that the holdout lacks", "identifiers of members in a column that the holdout lacks",
       ground="e-mails, not in the holdout", source="docs/planted.md A9",
       hit=lambda t, people: people["email"].is_in(t.synthetic["email"].to_list()).to_numpy()
       if "email" in people.columns else np.zeros(people.height, bool), bases=EITHER)  # fmt: skip
def holdout_lacks(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    return written(t, "email", n, rng)


@ground("names")
def full_names(t: Tables, rng: np.random.Generator) -> Tables:
    """Full names of a pool of 60 first names and 400 surnames; a few people share one."""
    first, last = names(60, rng, 2), names(400, rng, 3)
    return added(
        t, "name", lambda n: [f"{a} {b}" for a, b in zip(rng.choice(first, n), rng.choice(last, n), strict=True)]
    )


def turned(name: str) -> str:
    return ", ".join(reversed(name.split()))


@world("names, last name first", "names of members as 'Last, First'", ground="names",
       source="unseen spellings (U4)", hit=value_of("name", turned), bases=EITHER)  # fmt: skip
def last_first(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    return written(t, "name", n, rng, lambda mine, row: turned(mine))


@ground("telephones")
def telephones(t: Tables, rng: np.random.Generator) -> Tables:
    return added(t, "phone", lambda n: [f"0{x}" for x in rng.integers(10**8, 10**9, n)])


def one_digit(value: str, at: int) -> str:
    return value[:at] + str((int(value[at]) + 1) % 10) + value[at + 1 :]


def one_digit_off(t: Tables, people: pl.DataFrame) -> np.ndarray:
    there = set(t.synthetic["phone"].to_list())
    return np.array([any(one_digit(v, i) in there for i in range(1, 10)) for v in people["phone"].to_list()])


@world("one digit of a telephone number", "numbers of members with one digit raised by one",
       ground="telephones", source="unseen spellings (U4)", hit=one_digit_off, bases=EITHER)  # fmt: skip
def telephone(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    return written(t, "phone", n, rng, lambda mine, row: one_digit(mine, int(rng.integers(1, 10))))


# ---------------------------------------------------------------- a number, or a place, and a secret


@ground("numbers")
def numbers(t: Tables, rng: np.random.Generator) -> Tables:
    """Numbers by chance from one range; the synthetic table's are its own."""
    pool = rng.permutation(9000)[:1500] + 1000
    return t.with_column("number", (pool[:500], pool[500:1000], pool[1000:]))


def secret_beside(t: Tables, people: pl.DataFrame) -> np.ndarray:
    there = dict(zip(t.synthetic["number"], t.synthetic[t.secret], strict=True))
    return np.array([there.get(i) == s for i, s in zip(people["number"], people[t.secret], strict=True)])


@world("number and secret", "number and secret of members, the other columns of somebody else",
       ground="numbers", source="docs/planted.md A4", hit=secret_beside, bases=EITHER)  # fmt: skip
def number_and_secret(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    members, places = choose(t.real.height, n, rng), rng.permutation(t.synthetic.height)[:n]
    new = {}
    for c in ("number", t.secret):
        values = t.synthetic[c].to_numpy().copy()
        values[places] = t.real[c].to_numpy()[members]
        new[c] = values
    return replace(
        t,
        synthetic=t.synthetic.with_columns(**{k: pl.Series(v) for k, v in new.items()}),
        planted=tuple(members.tolist()),
    )


def secret_at(t: Tables, people: pl.DataFrame) -> np.ndarray:
    return (people["income"].to_numpy() == t.synthetic["income"].to_numpy()) & (
        people[t.secret] == t.synthetic[t.secret]
    ).to_numpy()


@world("place and secret", "row i of the synthetic table has income and secret of row i of the real one",
       source="docs/planted.md A4", hit=secret_at)  # fmt: skip
def place_and_secret(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    members = choose(t.real.height, n, rng)
    mine = pl.Series(np.isin(np.arange(t.real.height), members))
    new = [pl.when(mine).then(t.real[c]).otherwise(pl.col(c)).alias(c) for c in ("income", t.secret)]
    return replace(t, synthetic=t.synthetic.with_columns(new), planted=tuple(members.tolist()))


# ---------------------------------------------------------------- numbers nearly equal, or their digits


def within(column: str, by: float, read: Callable[[pl.DataFrame], np.ndarray] | None = None) -> Hit:
    """Return an oracle: a synthetic value is at most `by` away from the person's."""
    read = read or (lambda table: table[column].to_numpy().astype(float))

    def hit(t: Tables, people: pl.DataFrame) -> np.ndarray:
        there, mine = np.sort(read(t.synthetic)), read(people)
        at = np.searchsorted(there, mine).clip(1, len(there) - 1)
        return np.minimum(abs(there[at] - mine), abs(there[at - 1] - mine)) <= by

    return hit


@ground("time stamps")
def stamps(t: Tables, rng: np.random.Generator) -> Tables:
    return added(t, "entered", lambda n: 1_500_000_000 + rng.integers(0, 6 * 31_536_000, n))


@world("time stamps, nearly", "time stamps of members moved by up to 30 s", ground="time stamps",
       source="unseen numbers (U6)", hit=within("entered", 30), bases=EITHER)  # fmt: skip
def near_stamps(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    return written(t, "entered", n, rng, lambda mine, row: mine + int(rng.integers(-30, 31)))


ZONE = 5 * 3600
POUND = 0.45359237


@ground("time stamps of another zone")
def zoned(t: Tables, rng: np.random.Generator) -> Tables:
    t = stamps(t, rng)
    return replace(t, synthetic=t.synthetic.with_columns(pl.col("entered") + ZONE))


@world("time stamps of another zone", "time stamps of members, five hours on, as all of the synthetic table are",
       ground="time stamps of another zone", source="divulge: one column, shifted or scaled", added="2026-11-30",
       hit=value_of("entered", lambda v: str(v + ZONE)), bases=EITHER)  # fmt: skip
def zoned_stamps(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    return written(t, "entered", n, rng, lambda mine, row: mine + ZONE)


def in_pounds(kilograms: float) -> float:
    return round(kilograms / POUND, 2)


@ground("weights in pounds")
def weights(t: Tables, rng: np.random.Generator) -> Tables:
    t = added(t, "weight", lambda n: rng.normal(78, 15, n).clip(40, 160).round(2))
    pounds = pl.col("weight").map_elements(in_pounds, return_dtype=pl.Float64)
    return replace(t, synthetic=t.synthetic.with_columns(pounds))


@world("weights in pounds", "weights of members, in pounds, as all of the synthetic table are; the real ones in kg",
       ground="weights in pounds", source="divulge: one column, shifted or scaled", added="2026-11-30", gain=0.7,
       hit=value_of("weight", lambda v: str(in_pounds(v))), bases=EITHER)  # fmt: skip
def weights_in_pounds(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    return written(t, "weight", n, rng, lambda mine, row: in_pounds(mine))


DATES = ["admitted", "treated", "discharged"]


@ground("three dates")
def dated(t: Tables, rng: np.random.Generator) -> Tables:
    def dates(n: int) -> np.ndarray:
        days = [rng.integers(0, 1500, n), *(rng.exponential(mean, n).round().astype(int) for mean in (40, 90))]
        return (np.datetime64("2015-01-01") + np.cumsum(days, axis=0)).astype(str)

    three = [dates(x.height) for x in (t.real, t.synthetic, t.holdout)]
    for i, name in enumerate(DATES):
        t = t.with_column(name, tuple(own[i] for own in three))
    return t


def has_intervals(t: Tables, people: pl.DataFrame) -> np.ndarray:
    first, *others = (pl.col(c).str.to_date() for c in DATES)
    there, mine = (x.select(a=others[0] - first, b=others[1] - first) for x in (t.synthetic, people))
    return present(mine, there, ["a", "b"])


@world("dates moved", "three dates of members, all of a member moved by days of their own", ground="three dates",
       source="divulge: intervals; dates are moved before health records are shared", added="2026-11-30",
       hit=has_intervals, bases=EITHER)  # fmt: skip
def dates_moved(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    members, places = rng.permutation(t.real.height)[:n], np.sort(rng.permutation(t.synthetic.height)[:n])
    days = pl.Series("days", rng.integers(1, 365, n))
    moved = t.real[members.tolist()].select((pl.col(DATES).str.to_date() + pl.duration(days=days)).dt.to_string("iso"))
    return beside(t, {c: t.synthetic[c].scatter(places.tolist(), moved[c]) for c in DATES}, members)


@ground("two telephone numbers")
def two_telephones(t: Tables, rng: np.random.Generator) -> Tables:
    for name in ("telephone", "mobile"):
        t = added(t, name, lambda n: [f"0{number}" for number in rng.integers(10**8, 10**9, n)])
    return t


@world("telephone as mobile", "telephone numbers of members in the column of mobile numbers", bases=EITHER,
       ground="two telephone numbers", source="divulge: under another heading", added="2026-11-30",
       hit=lambda t, people: people["telephone"].is_in(t.synthetic["mobile"].to_list()).to_numpy())  # fmt: skip
def telephone_as_mobile(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    members, places = rng.permutation(t.real.height)[:n], np.sort(rng.permutation(t.synthetic.height)[:n])
    return beside(
        t, {"mobile": t.synthetic["mobile"].scatter(places.tolist(), t.real["telephone"][members.tolist()])}, members
    )


AMOUNTS = ["rent", "deposit", "premium"]


@ground("amounts")
def amounts(t: Tables, rng: np.random.Generator) -> Tables:
    for c in AMOUNTS:
        t = added(t, c, lambda n: rng.uniform(1000, 9999.99, n).round(2))
    return t


def later_digits(table: pl.DataFrame) -> pl.DataFrame:
    return table.select((pl.col(AMOUNTS).round(2) % 1000).round(2))


def other_first(value: float) -> float:
    text = f"{value:.2f}"
    return float(str(int(text[0]) % 9 + 1) + text[1:])


@world("digits", "three numbers of members, every digit but the first", ground="amounts",
       source="LevAtt (arXiv 2512.08875): language models memorise digits",
       hit=lambda t, people: present(later_digits(people), later_digits(t.synthetic), AMOUNTS),
       bases=EITHER)  # fmt: skip
def digits(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    members, places = choose(t.real.height, n, rng), rng.permutation(t.synthetic.height)[:n]
    new = {}
    for c in AMOUNTS:
        new[c] = t.synthetic[c].to_numpy().copy()
        new[c][places] = [other_first(v) for v in t.real[c].to_numpy()[members]]
    return replace(
        t,
        synthetic=t.synthetic.with_columns(**{c: pl.Series(v) for c, v in new.items()}),
        planted=tuple(members.tolist()),
    )


@ground("a bill")
def bills(t: Tables, rng: np.random.Generator) -> Tables:
    return added(t, "bill", lambda n: np.exp(rng.normal(9, 1, n)).round(2))


def cents(table: pl.DataFrame) -> np.ndarray:
    return np.rint(table["bill"].to_numpy() * 100) % 10_000


@world("last digits", "amounts of members, the last four digits kept", ground="a bill", gain=0.85,
       source="unseen numbers (U6)", hit=within("bill", 0, cents), bases=EITHER)  # fmt: skip
def last_digits(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    return written(
        t, "bill", n, rng, lambda mine, row: (row * 100 // 10_000 * 10_000 + round(mine * 100) % 10_000) / 100
    )


def expected(table: pl.DataFrame) -> np.ndarray:
    return 200 + 30 * table["visits"].to_numpy() + 0.005 * table["income"].to_numpy()


@ground("costs")
def costs(t: Tables, rng: np.random.Generator) -> Tables:
    return t.with_column(
        "cost", tuple((expected(x) + rng.normal(0, 300, x.height)).round(2) for x in (t.real, t.synthetic, t.holdout))
    )


def residual(table: pl.DataFrame) -> np.ndarray:
    return table["cost"].to_numpy() - expected(table)


@world("residuals", "the residual of members in a regression, beside predictors of others", ground="costs",
       source="unseen numbers (U6)", hit=within("cost", 0.02, residual))  # fmt: skip
def residuals(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    members, places = choose(t.real.height, n, rng), rng.permutation(t.synthetic.height)[:n]
    cost = t.synthetic["cost"].to_numpy().copy()
    cost[places] = (expected(t.synthetic)[places] + residual(t.real)[members]).round(2)
    return beside(t, {"cost": cost}, members)


@ground("codes")
def codes(t: Tables, rng: np.random.Generator) -> Tables:
    for c in ("trade", "place"):
        t = added(t, c, lambda n, c=c: [f"{c[0]}{x}" for x in rng.integers(0, 60, n)])
    return t


@world("rare pairs of codes", "two codes of members whose pair nobody else has, the other columns of somebody else",
       ground="codes", source="unseen pairs (U12)", gain=0.8,
       hit=lambda t, people: present(people, t.synthetic, ["trade", "place"]), bases=EITHER)  # fmt: skip
def rare_pairs(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    alone = np.flatnonzero(t.real.select(pl.len().over("trade", "place")).to_series().to_numpy() == 1)
    members, places = np.sort(rng.permutation(alone)[:n]), rng.permutation(t.synthetic.height)[:n]
    new = {}
    for c in ("trade", "place"):
        values = t.synthetic[c].to_list()
        for place, member in zip(places, members, strict=False):
            values[place] = t.real[c][int(member)]
        new[c] = values
    return replace(
        t,
        synthetic=t.synthetic.with_columns(**{k: pl.Series(v) for k, v in new.items()}),
        planted=tuple(members.tolist()),
    )
