"""Plant disclosures into a harmless table, one at a time, and print which attack finds each.

    python benchmarks/planted.py people.parquet [more.parquet ...] [--people 2000] [--only text,filter]

The rows of the files are shuffled and dealt into three tables of people who have nothing to do with each other:
members, strangers and others. The others are the harmless synthetic table; each disclosure is planted into a copy of
it. The first run plants nothing: what it finds is a false alarm. The output is a Markdown table.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl

import divulge
from divulge.case.preconditions import INVALIDATING

SHARE = 0.05
WORDS = [
    a + b for a in ("ka", "lo", "mi", "nu", "pe", "ri", "so", "tu") for b in ("ban", "del", "fir", "gom", "hut", "jap")
]


@dataclass(frozen=True)
class Tables:
    """What is assessed: three tables and the options of the run."""

    real: pl.DataFrame
    synthetic: pl.DataFrame
    holdout: pl.DataFrame
    options: dict[str, Any] = field(default_factory=dict)

    def each(self, change: Callable[[pl.DataFrame, int], pl.DataFrame]) -> Tables:
        """Return the tables after `change(table, i)` of each, i from 0."""
        real, synthetic, holdout = (change(t, i) for i, t in enumerate((self.real, self.synthetic, self.holdout)))
        return replace(self, real=real, synthetic=synthetic, holdout=holdout)


Plant = Callable[[Tables, np.random.Generator], Tables]


def rows_of(table: pl.DataFrame, rows: np.ndarray) -> pl.DataFrame:
    return table[rows.tolist()]


def into(synthetic: pl.DataFrame, rows: np.ndarray, new: pl.DataFrame) -> pl.DataFrame:
    """Return the synthetic table with some of its rows replaced."""
    kept = np.setdiff1d(np.arange(synthetic.height), rows)
    return pl.concat([rows_of(synthetic, kept), new.select(synthetic.columns)], how="vertical")


def chosen(table: pl.DataFrame, rng: np.random.Generator, share: float = SHARE) -> np.ndarray:
    return np.sort(rng.choice(table.height, max(1, round(share * table.height)), replace=False))


def texts(n: int, rng: np.random.Generator) -> list[str]:
    return [" ".join(rng.choice(WORDS, 14)) for _ in range(n)]


def emails(n: int, i: int) -> list[str]:
    return [f"person{i}.{k * 7919 % 100_003}@example.org" for k in range(n)]


# ---------------------------------------------------------------- the plants


def nothing(t: Tables, rng: np.random.Generator) -> Tables:
    return t


def verbatim(t: Tables, rng: np.random.Generator) -> Tables:
    some = chosen(t.real, rng)
    return replace(t, synthetic=into(t.synthetic, chosen(t.synthetic, rng), rows_of(t.real, some)))


def three_verbatim(t: Tables, rng: np.random.Generator) -> Tables:
    some, places = (rng.choice(x.height, 3, replace=False) for x in (t.real, t.synthetic))
    return replace(t, synthetic=into(t.synthetic, places, rows_of(t.real, some)))


def text(t: Tables, rng: np.random.Generator) -> Tables:
    t = t.each(lambda x, i: x.with_columns(note=pl.Series(texts(x.height, rng))))
    some, places = chosen(t.real, rng), chosen(t.synthetic, rng)
    notes = t.synthetic["note"].to_list()
    for place, member in zip(places, some, strict=False):
        notes[place] = t.real["note"][int(member)]
    return replace(t, synthetic=t.synthetic.with_columns(note=pl.Series(notes)))


def part_of_text(t: Tables, rng: np.random.Generator) -> Tables:
    """Ten words in a row of a member's text, in a text of its own."""
    t = t.each(lambda x, i: x.with_columns(note=pl.Series(texts(x.height, rng))))
    notes = t.synthetic["note"].to_list()
    for place, member in zip(chosen(t.synthetic, rng), chosen(t.real, rng), strict=False):
        quoted = t.real["note"][int(member)].split()[2:12]
        notes[place] = " ".join([*notes[place].split()[:3], *quoted, *notes[place].split()[3:5]])
    return replace(t, synthetic=t.synthetic.with_columns(note=pl.Series(notes)))


def named_in_text(t: Tables, rng: np.random.Generator) -> Tables:
    """A member's number, in a text of its own."""
    numbers = [rng.integers(10**6, 10**9, x.height) for x in (t.real, t.synthetic, t.holdout)]
    some, places = chosen(t.real, rng), chosen(t.synthetic, rng)
    n = min(len(some), len(places))
    numbers[1][places[:n]] = numbers[0][some[:n]]
    told = [[f"{text} patient {k}" for text, k in zip(texts(len(own), rng), own, strict=True)] for own in numbers]
    return t.each(lambda x, i: x.with_columns(note=pl.Series(told[i])))


def last_digits(t: Tables, rng: np.random.Generator) -> Tables:
    """A member's eight-digit number, the last six digits kept."""
    t = t.each(lambda x, i: x.with_columns(number=pl.Series(rng.integers(10**7, 10**8, x.height))))
    new = t.synthetic["number"].to_numpy().copy()
    for place, member in zip(chosen(t.synthetic, rng), chosen(t.real, rng), strict=False):
        new[place] = t.real["number"][int(member)] % 10**6 + 10**6 * rng.integers(10, 100)
    return replace(t, synthetic=t.synthetic.with_columns(number=pl.Series(new)))


def _with_emails(t: Tables, rng: np.random.Generator, change: Callable[[str], str] = str) -> Tables:
    t = t.each(lambda x, i: x.with_columns(email=pl.Series(emails(x.height, i))))
    new = t.synthetic["email"].to_list()
    for place, member in zip(chosen(t.synthetic, rng), chosen(t.real, rng), strict=False):
        new[place] = change(t.real["email"][int(member)])
    return replace(t, synthetic=t.synthetic.with_columns(email=pl.Series(new)))


def identifier(t: Tables, rng: np.random.Generator) -> Tables:
    return _with_emails(t, rng)


def identifier_upper_case(t: Tables, rng: np.random.Generator) -> Tables:
    return _with_emails(t, rng, str.upper)


def identifier_ignored(t: Tables, rng: np.random.Generator) -> Tables:
    return replace(_with_emails(t, rng), options={"ignore": ["email"]})


def identifier_as_unit(t: Tables, rng: np.random.Generator) -> Tables:
    return replace(_with_emails(t, rng), options={"unit": "email"})


def _secret(t: Tables) -> str:
    """Return the column with the highest number of values up to 60: a secret that tells something."""
    sizes = {c: t.real[c].n_unique() for c in t.real.columns}
    return max((c for c in sizes if sizes[c] <= 60), key=lambda c: (sizes[c], c))


def row_number(t: Tables, rng: np.random.Generator) -> Tables:
    """Synthetic rows bear the number and the secret of a member; all else is somebody else's."""
    n = min(t.real.height, t.synthetic.height)
    t = replace(t, real=t.real[:n], synthetic=t.synthetic[:n])
    t = t.each(lambda x, i: x.with_columns(number=pl.Series(rng.permutation(x.height) + 100_000 * (i == 2))))
    by_number = t.real.sort("number")[_secret(t)]
    secret = by_number.gather(t.synthetic["number"])
    return replace(t, synthetic=t.synthetic.with_columns(secret.alias(_secret(t))))


def row_order(t: Tables, rng: np.random.Generator) -> Tables:
    """Row i of the synthetic table has the secret of row i of the real one."""
    n = min(t.real.height, t.synthetic.height)
    t = replace(t, real=t.real[:n], synthetic=t.synthetic[:n])
    return replace(t, synthetic=t.synthetic.with_columns(t.real[_secret(t)]))


def holdout_seen(t: Tables, rng: np.random.Generator) -> Tables:
    """A tenth of members and of strangers alike stand in the synthetic table."""
    m = t.synthetic.height // 10
    new = pl.concat([rows_of(x, rng.choice(x.height, m, replace=False)) for x in (t.real, t.holdout)])
    return replace(t, synthetic=into(t.synthetic, np.arange(new.height), new))


def filtered(t: Tables, rng: np.random.Generator) -> Tables:
    """What equals a member was removed, from tables so coarse that a fifth of all people are met by chance."""
    few = sorted(t.real.columns, key=lambda c: (t.real[c].n_unique(), c))
    for k in range(len(few), 1, -1):
        coarse = t.each(lambda x, i, k=k: x.select(c for c in t.real.columns if c in few[:k]))
        met = coarse.holdout.join(coarse.synthetic, on=coarse.real.columns, how="semi", nulls_equal=True).height
        if met >= 0.2 * coarse.holdout.height:
            break
    kept = coarse.synthetic.join(coarse.real, on=coarse.real.columns, how="anti", nulls_equal=True)
    return replace(coarse, synthetic=kept)


def repeated(t: Tables, rng: np.random.Generator) -> Tables:
    places = chosen(t.synthetic, rng, 0.02)
    one = rows_of(t.real, np.full(len(places), rng.integers(t.real.height)))
    return replace(t, synthetic=into(t.synthetic, places, one))


def one_column_changed(t: Tables, rng: np.random.Generator) -> Tables:
    new = rows_of(t.real, chosen(t.real, rng))
    for i in range(new.height):
        column = t.real.columns[int(rng.integers(len(t.real.columns)))]
        value = t.real[column][int(rng.integers(t.real.height))]
        new = new.with_columns(
            pl.when(pl.int_range(pl.len()) == i)
            .then(pl.lit(value, dtype=new.schema[column]))
            .otherwise(column)
            .alias(column)
        )
    return replace(t, synthetic=into(t.synthetic, chosen(t.synthetic, rng), new))


def no_strangers(t: Tables, rng: np.random.Generator) -> Tables:
    """A column of names that the holdout lacks, all of members."""
    t = t.each(lambda x, i: x.with_columns(name=pl.Series(emails(x.height, i)).str.replace("@.*", "")))
    names = t.real["name"].gather(rng.integers(0, t.real.height, t.synthetic.height))
    return replace(t, synthetic=t.synthetic.with_columns(names), holdout=t.holdout.drop("name"))


def keys_and_target(t: Tables, rng: np.random.Generator) -> Tables:
    """Three columns and the secret of a twentieth of the members; the rest of the row is somebody else's."""
    sizes = sorted(t.real.columns, key=lambda c: (-t.real[c].n_unique(), c))[:4]
    new = t.synthetic[: max(1, round(SHARE * t.synthetic.height))]
    real = rows_of(t.real, rng.choice(t.real.height, new.height, replace=False))
    return replace(
        t,
        synthetic=into(
            t.synthetic, np.arange(new.height), new.with_columns(real[c] for c in dict.fromkeys([*sizes, _secret(t)]))
        ),
    )


PLANTS: dict[str, tuple[str, Plant]] = {
    "nothing": ("nothing (false alarms)", nothing),
    "verbatim": ("a twentieth of the people, verbatim", verbatim),
    "keys and target": ("four columns and a secret of a twentieth", keys_and_target),
    "text": ("A1 free texts of a twentieth, in other rows", text),
    "part of text": ("A1 ten words of a text", part_of_text),
    "named": ("A11 a number of a twentieth, in fresh texts", named_in_text),
    "last digits": ("A12 the last six digits of a number of a twentieth", last_digits),
    "identifier": ("identifiers of a twentieth", identifier),
    "ignored": ("A2 the same, the column ignored", identifier_ignored),
    "unit": ("A2 the same, the column named as unit", identifier_as_unit),
    "upper case": ("A3 the same in upper case", identifier_upper_case),
    "row number": ("A4 a member's number and secret", row_number),
    "row order": ("A4 a member's secret in the same row", row_order),
    "holdout seen": ("A5 a tenth of members and of strangers", holdout_seen),
    "filter": ("A6 rows that equal a member were removed", filtered),
    "repeated": ("A7 one person in 2% of the rows", repeated),
    "one column changed": ("A8 a twentieth with one column changed", one_column_changed),
    "no strangers": ("A9 names that the holdout lacks", no_strangers),
    "three": ("A10 three people, verbatim", three_verbatim),
}


# ---------------------------------------------------------------- the runs

PARTS: dict[str, Callable[[str, str], bool]] = {
    "copies": lambda attack, variant: attack == "copies" and variant in ("exact", "near"),
    "part of a row": lambda attack, variant: variant.startswith("near on"),
    "all but one": lambda attack, variant: variant == "all but one",
    "one column": lambda attack, variant: variant.startswith(("one column", "last ")),
    "words of texts": lambda attack, variant: attack == "named_in_texts",
    "linked": lambda attack, variant: variant in ("linked", "row order"),
    "hole": lambda attack, variant: variant == "hole",
    "other distances": lambda attack, variant: attack in DISTANCES and variant != "hole",
    "singling out": lambda attack, variant: attack == "singling_out",
    "linkability": lambda attack, variant: attack == "linkability",
    "inference": lambda attack, variant: attack == "inference",
    "attribution": lambda attack, variant: attack in ("cap", "modal_guess", "disco", "rapid", "tcap"),
}
DISTANCES = ("dcr", "nndr", "authenticity", "hitting_rate", "identical_match_share", "epsilon_identifiability", "nnaa")


def assessed(t: Tables, seed: int) -> list[str]:
    """Return one row of the table: the verdict, how many comparisons of each part are findings, and facts."""
    began = time.perf_counter()
    report = divulge.assess(t.real, t.synthetic, holdout=t.holdout, models=False, seed=seed, **t.options)
    data = report.data
    found = [(r["attack"], r["variant"]) for r in data["results"] if r["verdict"] in ("excess found", "deficit found")]
    cells = [sum(part(*f) for f in found) for part in PARTS.values()]
    people, repeated = data["facts"]["verbatim"], data["facts"]["repeated"]
    told = [f"{people['members']} members and {people['strangers']} strangers verbatim, {people['named']} named"]
    told += ["one person repeated"] if repeated["found"] else []
    failing = [c["check"] for c in data["preconditions"] if not c["ok"] and c["check"] in INVALIDATING]
    told += [f"fails: {', '.join(failing)}"] if failing else []
    seconds = f"{time.perf_counter() - began:.0f}"
    return [data["verdict"]["verdict"], *(str(n) if n else "" for n in cells), "; ".join(told), seconds]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--people", type=int, default=2000, help="people in each of the three tables")
    parser.add_argument("--only", default="", help="plants, separated by commas")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    pool = pl.concat([pl.read_parquet(f) for f in options.files], how="vertical_relaxed")
    n = min(options.people, pool.height // 3)
    pool = pool[rng.permutation(pool.height)[: 3 * n].tolist()]
    clean = Tables(pool[:n], pool[2 * n :], pool[n : 2 * n])
    wanted = options.only.split(",") if options.only else list(PLANTS)
    heads = ["planted", "verdict of the run", *PARTS, "facts and checks", "s"]
    print(f"{n} members, {n} strangers, {n} synthetic rows, {pool.width} columns; divulge {divulge.__version__}\n")
    print(f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}")
    for name in wanted:
        words, plant = PLANTS[name]
        row = assessed(plant(clean, np.random.default_rng(options.seed + 1)), options.seed)
        print(f"| {words} | {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
