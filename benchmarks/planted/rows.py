"""Worlds in which rows of members, or parts of rows, stand in the synthetic table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from .bases import Tables
from .world import EITHER, Hit, agreements, choose, ground, into, present, put, same_row, world

MOST_VALUES = ["income", "visits", "age", "school"]
COARSE = ["health", "region", "gender", "married", "chronic"]
SHIFT = {"income": 31_007, "visits": 13, "age": 21, "school": 5, "chronic": 4, "hospital": 3}


@world("verbatim", "rows of members, word for word", source="Anonymeter's leak experiment (Giomi and others 2023)",
       hit=same_row, bases=EITHER, home=("anonymeter", "dataxid-syntheval", "metis-val"))  # fmt: skip
def verbatim(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    members = choose(t.real.height, n, rng)
    return put(t, members, t.real[members.tolist()], rng)


@world("outliers", "rows of the most unusual members, word for word", hit=same_row, bases=EITHER,
       source="TAPAS (Houssiau and others 2022) and Stadler and others 2022 attack outliers")  # fmt: skip
def outliers(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    surprise = np.zeros(t.real.height)
    for c in t.real.columns:
        surprise -= np.log(t.real[c].rank("dense").to_frame("r").select(pl.len().over("r")).to_series().to_numpy())
    members = np.sort(np.argsort(-surprise, kind="stable")[:n])
    return put(t, members, t.real[members.tolist()], rng)


def all_but_one(t: Tables, people: pl.DataFrame) -> np.ndarray:
    return agreements(people, t.synthetic, people.columns).max(1) >= people.width - 1


@world("one column changed", "rows of members with one value of somebody else", source="docs/planted.md A8",
       hit=all_but_one, bases=EITHER)  # fmt: skip
def one_column_changed(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    members = choose(t.real.height, n, rng)
    rows = t.real[members.tolist()]
    changed = rng.integers(0, t.real.width, n)
    for i, c in enumerate(t.real.columns):
        other = t.real[c].gather(rng.integers(0, t.real.height, n))
        rows = rows.with_columns(pl.when(pl.Series(changed == i)).then(other).otherwise(pl.col(c)).alias(c))
    return put(t, members, rows, rng)


def secret_by(t: Tables, people: pl.DataFrame, on: list[str]) -> np.ndarray:
    """Return whether somebody who knows `on` reads the secret off the rows that agree, where these are of one mind."""
    rows = t.synthetic.group_by(on).agg(pl.col(t.secret).unique().alias("_said"))
    rows = rows.filter(pl.col("_said").list.len() == 1).with_columns(pl.col("_said").list.first())
    joined = people.select(*on, pl.col(t.secret).alias("_true")).join(rows, on=on, how="left", maintain_order="left")
    return (joined["_said"] == joined["_true"]).fill_null(False).to_numpy()


@world("four columns and a secret", "four columns and the secret of members, the other columns of somebody else",
       source="docs/planted.md", home=("anonymity-loss-coefficient",),
       hit=lambda t, people: secret_by(t, people, MOST_VALUES))  # fmt: skip
def four_columns_and_a_secret(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    members = choose(t.real.height, n, rng)
    places = choose(t.synthetic.height, n, rng)
    rows = t.synthetic[places.tolist()].with_columns(t.real[members.tolist()].select(*MOST_VALUES, t.secret))
    return replace(t, synthetic=into(t.synthetic, places, rows), planted=tuple(members.tolist()))


@world("certain cells", "every synthetic row with the keys of a planted member has the member's secret", gain=0.6,
       source="CAP (Elliot 2014; Taub and others 2018)", bases=EITHER,
       home=("sdmetrics", "anonymity-loss-coefficient"),
       hit=lambda t, people: secret_by(t, people, list(t.keys)))  # fmt: skip
def certain_cells(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    members = choose(t.real.height, n, rng)
    keys = list(t.keys)
    places = choose(t.synthetic.height, n, rng)
    rows = t.synthetic[places.tolist()].with_columns(t.real[members.tolist()].select(*keys, t.secret))
    synthetic = into(t.synthetic, places, rows)
    said = t.real[members.tolist()].unique(keys, keep="first", maintain_order=True)
    said = said.select(*keys, pl.col(t.secret).alias("_said"))
    synthetic = synthetic.join(said, on=keys, how="left", maintain_order="left")
    synthetic = synthetic.with_columns(pl.coalesce("_said", t.secret).alias(t.secret)).drop("_said")
    return replace(t, synthetic=synthetic, planted=tuple(members.tolist()))


THIRDS = (["health", "chronic", "adl", "region", "age"], ["income", "gender", "married", "school", "medicaid"],
          ["afam", "employed", "insurance", "visits", "hospital"])  # fmt: skip
PAIRS = (THIRDS[0] + THIRDS[1], THIRDS[1] + THIRDS[2], THIRDS[0] + THIRDS[2])


@world("shares", "three rows hold two thirds of a member each, and no row holds the whole",
       source="TAPAS: counts of random conjunctions of a target's values",
       hit=lambda t, people: np.all([present(people, t.synthetic, on) for on in PAIRS], axis=0))  # fmt: skip
def shares(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    """A third of the dose: three rows a person."""
    members = choose(t.real.height, min(-(-n // 3), t.synthetic.height // 3), rng)
    places = rng.permutation(t.synthetic.height)[: 3 * len(members)]
    synthetic = t.synthetic
    for at, on in zip(np.split(places, 3), PAIRS, strict=True):
        synthetic = into(synthetic, at, synthetic[at.tolist()].with_columns(t.real[members.tolist()].select(on)))
    return replace(t, synthetic=synthetic, planted=tuple(members.tolist()))


@ground("five columns")
def coarse(t: Tables, rng: np.random.Generator) -> Tables:
    return replace(t.each(lambda x: x.select(COARSE)), keys=("region", "gender", "married"))


@world("hole", "rows that equal a member were removed", ground="five columns", source="docs/planted.md A6",
       hit=lambda t, people: ~same_row(t, people), gain=0.4, highest=0.2)  # fmt: skip
def hole(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    """Planted are members whom few synthetic rows equal, so that strangers lose little."""
    sizes = t.synthetic.group_by(COARSE).len("_n")
    met = t.real.join(sizes, on=COARSE, how="left", maintain_order="left")["_n"].fill_null(0).to_numpy()
    few = rng.permutation(np.flatnonzero(met > 0))
    members = np.sort(few[np.argsort(met[few], kind="stable")][:n])
    synthetic = t.synthetic.join(t.real[members.tolist()], on=COARSE, how="anti", maintain_order="left")
    return replace(t, synthetic=synthetic, planted=tuple(members.tolist()))


@world(
    "one person repeated",
    "one member stands in that share of the rows",
    source="docs/planted.md A7",
    hit=same_row,
    bases=EITHER,
)
def one_person_repeated(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    members = choose(t.real.height, min(n, 1), rng)
    return put(t, members, t.real[np.repeat(members, n if n else 0).tolist()], rng)


@world("holdout seen", "rows of members and as many of strangers: the generator saw the holdout", gain=0.6,
       source="docs/planted.md", hit=same_row, bases=EITHER, highest=0.5)  # fmt: skip
def holdout_seen(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    members = choose(t.real.height, n, rng)
    strangers = t.holdout[choose(t.holdout.height, n, rng).tolist()]
    return put(t, members, pl.concat([t.real[members.tolist()], strangers]), rng)


def blurred_rows(rows: pl.DataFrame, numbers: list[str], share: float, rng: np.random.Generator) -> pl.DataFrame:
    """Return rows whose numbers are moved by a normal error of `share` of themselves, at least of one."""
    moved = {c: rows[c].to_numpy() for c in numbers}
    return rows.with_columns(
        pl.Series(c, np.rint(v + share * np.maximum(abs(v), 1) * rng.normal(size=len(v)))).cast(rows.schema[c])
        for c, v in moved.items()
    )


CODES = ["health", "chronic", "adl", "region", "gender", "afam", "married", "employed", "insurance", "medicaid"]


def near_row(t: Tables, people: pl.DataFrame) -> np.ndarray:
    """Return whether a row has the same codes, and an income within 15%."""
    same = agreements(people, t.synthetic, CODES) == len(CODES)
    mine, theirs = people["income"].to_numpy(), t.synthetic["income"].to_numpy()
    return (same & (abs(theirs - mine[:, None]) <= 0.15 * np.maximum(abs(mine[:, None]), 1))).any(1)


@world("blurred rows", "rows of members, their numbers moved by 5%", gain=0.7, hit=near_row,
       source="arXiv 2512.16284: deliberate insertion of risks, here of near copies",
       home=("sdmetrics", "syntheval", "mostlyai-qa", "anonymeter", "dataxid-syntheval", "metis-val"))  # fmt: skip
def blurred(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    members = choose(t.real.height, n, rng)
    rows = blurred_rows(t.real[members.tolist()], ["income", "age", "school", "visits"], 0.05, rng)
    return put(t, members, rows, rng)


def many_agree(least: int, close: float) -> Hit:
    """Return an oracle: a row agrees in at least so many of the ten codes, and its income is within `close`."""

    def hit(t: Tables, people: pl.DataFrame) -> np.ndarray:
        alike = agreements(people, t.synthetic, [*CODES, "school"]) >= least
        mine, theirs = (np.log(np.maximum(x["income"].to_numpy(), 1000)) for x in (people, t.synthetic))
        return (alike & (abs(theirs - mine[:, None]) <= close)).any(1)

    return hit


@world("kernel", "rows drawn round members: income by 10%, other numbers by 5%, each code kept with chance .9",
       gain=0.35, source="DOMIAS (van Breugel and others 2023): density round members",
       hit=many_agree(10, 0.2))  # fmt: skip
def kernel(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    members = choose(t.real.height, n, rng)
    rows = blurred_rows(t.real[members.tolist()], ["age", "visits"], 0.05, rng)
    rows = blurred_rows(rows, ["income"], 0.10, rng)
    for c in CODES:
        other = t.real[c].gather(rng.integers(0, t.real.height, n))
        rows = rows.with_columns(pl.when(pl.Series(rng.random(n) < 0.9)).then(pl.col(c)).otherwise(other).alias(c))
    return put(t, members, rows, rng)


@world("between two members", "rows between a member and one of the five nearest members (SMOTE)", gain=0.25,
       source="SynthEval's guides: the SMOTE baseline of the hepatitis example", home=("syntheval",),
       hit=many_agree(10, 0.2))  # fmt: skip
def between(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    """The step is at most a half, so that the planted member is the nearer end."""
    members = choose(t.real.height, n, rng)
    one = t.real[members.tolist()]
    alike = agreements(one, t.real, CODES).astype(float) + rng.random((n, t.real.height)) / 2
    alike[np.arange(n), members] = -1
    five = np.argsort(-alike, axis=1)[:, :5]
    two = t.real[five[np.arange(n), rng.integers(0, 5, n)].tolist()]
    step = 0.5 * rng.random(n)
    for c in ("income", "age", "visits", "school"):
        a, b = one[c].to_numpy(), two[c].to_numpy()
        one = one.with_columns(pl.Series(c, np.rint(a + step * (b - a)).astype(int)))
    for c in CODES:
        mine = pl.Series(rng.random(n) >= step)
        one = one.with_columns(pl.when(mine).then(pl.col(c)).otherwise(two[c]).alias(c))
    return put(t, members, one, rng)


CHAIN = ["income", "visits", "age", "school", "chronic", "hospital", "health", "adl", "region", "gender", "afam",
         "married", "employed", "insurance", "medicaid"]  # fmt: skip


@world("network", "rows of a network with two parents that was fitted to the planted members", gain=0.45,
       source="Synth-MIA's example: a Bayesian network of 250 people",
       hit=lambda t, people: present(people, t.synthetic, CHAIN[:3]))  # fmt: skip
def network(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    members = choose(t.real.height, n, rng)
    codes = np.stack([t.real[c].gather(members).rank("dense").to_numpy() for c in CHAIN], 1)
    rows = np.empty((n, len(CHAIN)), int)
    for i in range(n):
        donor = rng.integers(n)
        for j in range(len(CHAIN)):
            if j >= 2:
                agree = np.flatnonzero((codes[:, j - 2 : j] == codes[rows[i, j - 2 : j], [j - 2, j - 1]]).all(1))
                donor = rng.choice(agree) if len(agree) else donor
            rows[i, j] = donor
    new = {c: t.real[c].gather(members).gather(rows[:, j]) for j, c in enumerate(CHAIN)}
    return put(t, members, pl.DataFrame(new), rng)


def moved(table: pl.DataFrame, sign: int) -> pl.DataFrame:
    return table.with_columns((pl.col(c) + sign * by).cast(table.schema[c]) for c, by in SHIFT.items())


@world("moved together", "rows of members, every number moved by one secret step, so that no row is near",
       source="DCR delusion (arXiv 2505.01524): leaks that no distance shows",
       hit=lambda t, people: same_row(t, moved(people, 1)))  # fmt: skip
def moved_together(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    members = choose(t.real.height, n, rng)
    return put(t, members, moved(t.real[members.tolist()], 1), rng)


SYNONYMS = {"poor": "bad", "average": "ordinary", "excellent": "very good", "limited": "restricted",
            "normal": "unrestricted", "other": "elsewhere", "midwest": "middle west", "northeast": "north-east",
            "west": "the west", "male": "man", "female": "woman", "yes": "true", "no": "false"}  # fmt: skip


def synonyms(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_columns(pl.selectors.string().replace(SYNONYMS))


@world("synonyms", "rows of members, every label in other words", home=("mostlyai-qa",),
       source="mostlyai-qa: rows are compared as text, by meaning",
       hit=lambda t, people: same_row(t, synonyms(people)))  # fmt: skip
def in_other_words(t: Tables, n: int, rng: np.random.Generator) -> Tables:
    members = choose(t.real.height, n, rng)
    return put(t, members, synonyms(t.real[members.tolist()]), rng)
