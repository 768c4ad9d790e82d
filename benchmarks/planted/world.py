"""What a world is: a disclosure that is planted into a harmless table, and an oracle that knows it.

A world is one function `(tables, n, rng) -> tables` under `@world(...)`. It plants `n` members and names them in
`tables.planted`; with `n = 0` it plants nobody, and the tables are a null world. Worlds of one `ground` give the same
tables where nobody is planted, so that one set of null worlds serves them all.

The oracle is the attack of somebody who knows the trick: `hit(tables, people)` says for each of these people whether
the attack is right about them. It looks at the synthetic table and at what `people` holds, never at who was planted.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from . import bases
from .bases import PEOPLE, Tables

Plant = Callable[[Tables, int, np.random.Generator], Tables]
Hit = Callable[[Tables, pl.DataFrame], np.ndarray]
Ground = Callable[[Tables, np.random.Generator], Tables]

FIRST_DOSE = 0.10
NEXT_DOSES = (0.02, 0.20)
"""Asked second: the lower one where the first dose is found, the higher one where it is not."""
HIGHEST_DOSE = 1.0
STEPS = 3
"""Halvings of the distance between a dose that is found and one that is not, on the scale of the logarithm."""
SEEDS = 20
"""At the two doses around the threshold; `FEW_SEEDS` on the way there, and for a tool whose cell takes a minute."""
FEW_SEEDS = 5
NULLS = 20
"""Null worlds of each base and ground. The bar of a score at 5% alarms is the highest of these 20: 1 in 21."""
POWER = 0.80
"""A dose is found where the tool raises an alarm in this share of the seeds."""


@dataclass(frozen=True)
class World:
    """A kind of disclosure."""

    name: str
    words: str
    source: str
    """Who described or made it."""
    bases: tuple[str, ...]
    """The tables that it can be planted into, the usual one first."""
    ground: str
    """What is added to the base; null worlds are shared by base and ground."""
    plant: Plant
    hit: Hit
    gain: float
    """The oracle promises at least this: its share of right attacks on planted members less that on strangers."""
    home: tuple[str, ...] = ()
    """Tools that should win here by their own documentation."""
    highest: float = 1.0
    """The largest dose that means something."""
    added: str = ""
    """The day on which it was committed, where that was after the first worlds were run."""


WORLDS: dict[str, World] = {}
GROUNDS: dict[str, Ground] = {"": lambda t, rng: t}
VISITS, ASSAYS, CLAIMS, EITHER = ("visits",), ("assays",), ("claims",), ("visits", "assays")


def ground(name: str) -> Callable[[Ground], Ground]:
    """Enter a function that adds what a world needs to the dealt tables: a column of notes, for instance."""

    def enter(function: Ground) -> Ground:
        GROUNDS[name] = function
        return function

    return enter


def world(
    name: str,
    words: str,
    *,
    source: str,
    hit: Hit,
    gain: float = 0.9,
    bases: tuple[str, ...] = VISITS,
    ground: str = "",
    home: tuple[str, ...] = (),
    highest: float = HIGHEST_DOSE,
    added: str = "",
) -> Callable[[Plant], Plant]:
    """Enter a world."""

    def enter(plant: Plant) -> Plant:
        assert name not in WORLDS, name
        WORLDS[name] = World(name, words, source, bases, ground, plant, hit, gain, home, highest, added)
        return plant

    return enter


def make(world: World, folder: Path, dose: float, seed: int, base: str = "") -> Tables:
    """Return the tables of a world: `dose` is the share of the members who are planted."""
    base = base or world.bases[0]
    tables = bases.deal(bases.read(folder, base), base, seed)
    tables = GROUNDS[world.ground](tables, np.random.default_rng([seed, zlib.crc32(world.ground.encode())]))
    rng = np.random.default_rng([seed, zlib.crc32(world.name.encode())])
    return world.plant(tables, round(dose * PEOPLE), rng)


def gain(world: World, tables: Tables) -> tuple[float, float]:
    """Return how often the oracle is right: of the planted members (of all where nobody is), and of the strangers."""
    members, strangers = world.hit(tables, tables.real), world.hit(tables, tables.holdout)
    if tables.planted:
        names = people_of(tables, tables.real)
        members = members[np.isin(names, tables.planted)]
    return float(members.mean()), float(strangers.mean())


def people_of(tables: Tables, table: pl.DataFrame) -> np.ndarray:
    """Return the name of each person: the number of the row, or the unit."""
    if tables.unit is None or tables.unit not in table.columns:
        return np.arange(table.height)
    return table[tables.unit].unique(maintain_order=True).to_numpy()


# ---------------------------------------------------------------- pieces of worlds


def choose(n_people: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return `n` of the numbers below `n_people`, in order."""
    return np.sort(rng.permutation(n_people)[:n])


def into(table: pl.DataFrame, places: np.ndarray, rows: pl.DataFrame) -> pl.DataFrame:
    """Return a table with other rows in some places."""
    index = np.arange(table.height)
    index[places] = table.height + np.arange(len(places))
    return pl.concat([table, rows.select(table.columns).cast(dict(table.schema))])[index.tolist()]


def put(t: Tables, members: np.ndarray, rows: pl.DataFrame, rng: np.random.Generator) -> Tables:
    """Return the tables with `rows` in places by chance of the synthetic one, and these members as planted."""
    places = rng.permutation(t.synthetic.height)[: rows.height]
    return replace(t, synthetic=into(t.synthetic, places, rows), planted=tuple(members.tolist()))


def present(people: pl.DataFrame, table: pl.DataFrame, on: list[str]) -> np.ndarray:
    """Return for each of `people` whether a row of `table` has the same values in these columns."""
    keys = table.select(on).unique().with_columns(pl.lit(True).alias("_hit"))
    hits = people.select(on).join(keys, on=on, how="left", nulls_equal=True, maintain_order="left")["_hit"]
    return hits.fill_null(False).to_numpy()


def same_row(t: Tables, people: pl.DataFrame) -> np.ndarray:
    """Return whether the whole record stands in the synthetic table."""
    return present(people, t.synthetic, people.columns)


def agreements(people: pl.DataFrame, table: pl.DataFrame, columns: list[str]) -> np.ndarray:
    """Return for each person and each row of `table` in how many columns they agree."""
    count = np.zeros((people.height, table.height), np.int16)
    for c in columns:
        both = pl.concat([people[c], table[c].cast(people[c].dtype)]).rank("dense").to_numpy()
        count += both[: people.height, None] == both[people.height :]
    return count
