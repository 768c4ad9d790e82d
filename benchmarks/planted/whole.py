"""Worlds of whole tables: labels under another name or in another column, and people with many rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from .bases import Tables
from .world import ASSAYS, CLAIMS, Hit, choose, ground, into, present, put, same_row, world

BINARY = {"yes": "ja", "no": "nein", "male": "Herr", "female": "Frau", "normal": "frei", "limited": "begrenzt",
          "poor": "schlecht", "average": "mittel", "excellent": "gut", "other": "sonst", "midwest": "Mitte",
          "northeast": "Nordost", "west": "Westen"}  # fmt: skip


@ground("codes only")
def codes_only(t: Tables, rng: np.random.Generator) -> Tables:
    """All columns but income as text, so that no number tells how the labels were spelled."""
    return t.each(lambda x: x.drop("income").with_columns(pl.all().cast(pl.String)))


def german(table: pl.DataFrame) -> pl.DataFrame:
    numbers = {str(i): f"Nr. {i}" for i in range(200)}
    return table.with_columns(pl.all().replace(BINARY | numbers))


def copies(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    members = choose(t.real.height, n, rng)
    return put(t, members, t.real[members.tolist()], rng)


@ground("labels spelled otherwise")
def spelled(t: Tables, rng: np.random.Generator) -> Tables:
    t = codes_only(t, rng)
    return replace(t, synthetic=german(t.synthetic))


@world("labels spelled otherwise", "rows of members; every label of the synthetic table is translated", gain=0.8,
       ground="labels spelled otherwise", source="unseen labels (U2)",
       hit=lambda t, people: same_row(t, german(people)))  # fmt: skip
def labels_spelled_otherwise(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    members = choose(t.real.height, n, rng)
    return put(t, members, german(t.real[members.tolist()]), rng)


def permuted(table: pl.DataFrame) -> pl.DataFrame:
    """Return the table with the labels of each column dealt anew, by one fixed permutation a column."""
    columns = []
    for j, c in enumerate(table.columns):
        numbers = c in ("chronic", "age", "school", "visits", "hospital")
        labels = [str(i) for i in range(120)] if numbers else LABELS[c]
        columns.append(pl.col(c).replace(labels, np.random.default_rng(j).permutation(labels).tolist()))
    return table.with_columns(columns)


LABELS = {
    "health": ["poor", "average", "excellent"],
    "adl": ["normal", "limited"],
    "region": ["other", "midwest", "northeast", "west"],
    "gender": ["male", "female"],
} | {c: ["yes", "no"] for c in ("afam", "married", "employed", "insurance", "medicaid")}


@ground("labels permuted")
def with_labels_permuted(t: Tables, rng: np.random.Generator) -> Tables:
    t = codes_only(t, rng)
    return replace(t, synthetic=permuted(t.synthetic))


@world("labels permuted", "rows of members; the labels of each column are permuted in the synthetic table", gain=0.8,
       ground="labels permuted", source="unseen labels (U3)",
       hit=lambda t, people: same_row(t, permuted(people)))  # fmt: skip
def labels_permuted(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    members = choose(t.real.height, n, rng)
    return put(t, members, permuted(t.real[members.tolist()]), rng)


NUMBERS = ["age", "kappa", "lambda", "futime"]


def signed(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_columns(-pl.col(NUMBERS))


@ground("assays, signs turned")
def with_signs_turned(t: Tables, rng: np.random.Generator) -> Tables:
    return replace(t, synthetic=signed(t.synthetic))


@world("signs turned", "rows of members; the numbers of the synthetic table have the other sign", bases=ASSAYS,
       ground="assays, signs turned", source="unseen labels (U3)",
       hit=lambda t, people: same_row(t, signed(people)))  # fmt: skip
def signs_turned(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    members = choose(t.real.height, n, rng)
    return put(t, members, signed(t.real[members.tolist()]), rng)


COUNTS = ["chronic", "school", "visits", "hospital", "age"]


def rotated(table: pl.DataFrame) -> pl.DataFrame:
    """Return the table with each number under the heading of the next."""
    return table.with_columns(pl.col(a).alias(b) for a, b in zip(COUNTS, COUNTS[1:] + COUNTS[:1], strict=True))


@ground("columns rotated")
def with_columns_rotated(t: Tables, rng: np.random.Generator) -> Tables:
    t = t.each(lambda x: x.drop("income"))
    return replace(t, synthetic=rotated(t.synthetic))


@world("columns rotated", "rows of members; five columns of the synthetic table stand under other headings", gain=0.8,
       ground="columns rotated", source="unseen labels (U3)",
       hit=lambda t, people: same_row(t, rotated(people)))  # fmt: skip
def columns_rotated(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    members = choose(t.real.height, n, rng)
    return put(t, members, rotated(t.real[members.tolist()]), rng)


# ---------------------------------------------------------------- people with many rows


def chosen_people(t: Tables, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return `n` members and as many synthetic people, by their names."""
    return tuple(
        np.sort(rng.permutation(x["person"].unique(maintain_order=True).to_numpy())[:n]) for x in (t.real, t.synthetic)
    )


def history(table: pl.DataFrame, columns: list[str], *, ordered: bool) -> dict[int, tuple]:
    """Return what each person's rows hold in these columns, in order of the years, or as a set."""
    rows: dict[int, list] = {}
    for person, *values in table.sort("person", "year").select("person", *columns).iter_rows():
        rows.setdefault(person, []).append(tuple(values))
    return {p: tuple(v if ordered else sorted(v)) for p, v in rows.items()}


def has_history(columns: list[str]) -> Hit:
    def hit(t: Tables, people: pl.DataFrame) -> np.ndarray:
        there = set(history(t.synthetic, columns, ordered=True).values())
        mine = history(people, columns, ordered=True)
        return np.array([mine[p] in there for p in people["person"].unique(maintain_order=True).to_list()])

    return hit


REST = ["year", "age", "female", "educ", "income", "health", "mdvis", "totadm", "outpdol", "drugdol"]


@world("whole histories", "all rows of a member, under one synthetic person", bases=CLAIMS,
       source="whole people; MT-MIA (arXiv 2602.07126)", hit=has_history(REST))  # fmt: skip
def whole_histories(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    members, places = chosen_people(t, n, rng)
    rows = t.real.filter(pl.col("person").is_in(members)).with_columns(
        pl.col("person").replace(members.tolist(), places.tolist())
    )
    kept = t.synthetic.filter(~pl.col("person").is_in(places))
    synthetic = pl.concat([kept, rows.cast(dict(kept.schema))]).sort("person", "year")
    return replace(t, synthetic=synthetic, planted=tuple(members.tolist()))


SERIES = ["mdvis", "outpdol", "drugdol"]


@world("series in order", "costs of a member, year for year, in a person who is somebody else", bases=CLAIMS,
       gain=0.6, source="whole people (U9)", hit=has_history(SERIES))  # fmt: skip
def series_in_order(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    """The synthetic person has as many years as the member."""
    members, _ = chosen_people(t, n, rng)
    years = {p: len(v) for p, v in history(t.synthetic, [], ordered=True).items()}
    mine = history(t.real, SERIES, ordered=True)
    free = rng.permutation(np.array(list(years))).tolist()
    new, planted = {}, []
    for member in members.tolist():
        place = next((p for p in free if years[p] == len(mine[member])), None)
        if place is not None:
            free.remove(place)
            new[place] = iter(mine[member])
            planted.append(member)
    rows = [next(new[p]) if p in new else tuple(old) for p, *old in t.synthetic.select("person", *SERIES).iter_rows()]
    columns = pl.DataFrame(rows, schema={c: t.synthetic.schema[c] for c in SERIES}, orient="row")
    return replace(t, synthetic=t.synthetic.with_columns(columns), planted=tuple(planted))


def all_rows(t: Tables, people: pl.DataFrame) -> np.ndarray:
    """Return whether every row of a person stands somewhere in the synthetic table."""
    there = pl.Series(present(people, t.synthetic, REST))
    each = people.with_columns(_there=there).group_by("person", maintain_order=True).agg(pl.col("_there").all())
    return each["_there"].to_numpy()


@world("histories dealt out", "all rows of a member, each under another synthetic person", bases=CLAIMS,
       source="whole people (R2.3)", hit=all_rows)  # fmt: skip
def histories_dealt_out(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    members, _ = chosen_people(t, n, rng)
    rows = t.real.filter(pl.col("person").is_in(members))
    places = rng.permutation(t.synthetic.height)[: rows.height]
    rows = rows[rng.permutation(rows.height)[: len(places)].tolist()]
    mine = rows.with_columns(t.synthetic["person"].gather(places))
    whole = t.real.group_by("person").len().join(rows.group_by("person").len(), on=["person", "len"], how="semi")
    done = np.intersect1d(members, whole["person"].to_numpy())
    return replace(t, synthetic=into(t.synthetic, places, mine), planted=tuple(done.tolist()))


def level(column: str, steps: list[float]) -> pl.Expr:
    return pl.sum_horizontal((pl.col(column) > s).cast(pl.Int8) for s in steps).cast(pl.String)


@ground("claims in levels")
def in_levels(t: Tables, rng: np.random.Generator) -> Tables:
    """Rows that many people share: who stays well costs nothing, year after year."""
    kept = ["person", "year", "female", "health"]
    levels = [level("mdvis", [0, 2, 6]), level("outpdol", [0, 40, 150]), level("drugdol", [0, 20, 80])]
    in_hospital = (pl.col("totadm") > 0).cast(pl.Int8)
    return replace(t.each(lambda x: x.select(*kept, in_hospital, *levels)), keys=("female", "year"))


LEVELS = ["female", "health", "totadm", "mdvis", "outpdol", "drugdol"]


@world("histories of common rows", "all rows of a member, each of which others have, under one synthetic person",
       bases=CLAIMS, ground="claims in levels", source="whole people (U9)", added="2026-11-30", gain=0.4,
       hit=has_history(["year", *LEVELS]))  # fmt: skip
def histories_of_common_rows(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    return whole_histories(t, n, rng)


def has_rows(t: Tables, people: pl.DataFrame) -> np.ndarray:
    """Return whether one synthetic person has the rows of a person, in whatever order of the years."""
    there = set(history(t.synthetic, LEVELS, ordered=False).values())
    mine = history(people, LEVELS, ordered=False)
    return np.array([mine[p] in there for p in people["person"].unique(maintain_order=True).to_list()])


@world("histories in another order", "rows of a member, under one synthetic person, the years dealt anew", bases=CLAIMS,
       ground="claims in levels", source="whole people (R2.3)", added="2026-11-30", gain=0.3, hit=has_rows)  # fmt: skip
def histories_in_another_order(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    dealt = t.real.with_columns(pl.Series("_chance", rng.random(t.real.height)))
    dealt = dealt.with_columns(pl.col("year").sort_by("_chance").over("person")).drop("_chance")
    return replace(whole_histories(replace(t, real=dealt), n, rng), real=t.real)


def has_run(t: Tables, people: pl.DataFrame) -> np.ndarray:
    """Return whether the first three years of a person stand one after the other in a synthetic person."""
    there, mine = (history(x, LEVELS, ordered=True) for x in (t.synthetic, people))
    runs = {h[i : i + 3] for h in there.values() for i in range(len(h) - 2)}
    return np.array([mine[p][:3] in runs for p in people["person"].unique(maintain_order=True).to_list()])


@world("three years of a history", "three years of a member, one after the other, in a person who keeps the others",
       bases=CLAIMS, ground="claims in levels", source="whole people (R2.3)", added="2026-11-30", gain=0.2,
       hit=has_run)  # fmt: skip
def three_years(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    members, places = chosen_people(t, n, rng)
    people = {"person": members, "_place": places}
    first = pl.int_range(pl.len()).over("person").alias("_number")
    mine = t.real.with_columns(first).join(pl.DataFrame(people), on="person").filter(pl.col("_number") < 3)
    mine = mine.select(pl.col("_place").alias("person"), "_number", pl.col(LEVELS).name.suffix("_mine"))
    rows = t.synthetic.with_columns(first).join(mine, on=["person", "_number"], how="left", maintain_order="left")
    new = rows.with_columns(pl.coalesce(f"{c}_mine", c).alias(c) for c in LEVELS)
    return replace(t, synthetic=new.select(t.synthetic.columns), planted=tuple(members.tolist()))
