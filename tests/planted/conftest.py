"""Stand-ins for the base tables of the benchmark of planted disclosures: made up, with the same columns and labels."""

import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

BENCHMARKS = str(Path(__file__).parents[2] / "benchmarks")
if BENCHMARKS not in sys.path:
    sys.path.append(BENCHMARKS)


def visits(rng, n=2000):
    def codes(*labels):
        return rng.choice(labels, n)

    numbers = {
        c: rng.integers(low, high, n) for c, low, high in (("chronic", 0, 8), ("age", 66, 100), ("school", 0, 19))
    }
    return pl.DataFrame(
        {
            "health": codes("poor", "average", "excellent"),
            "chronic": numbers["chronic"],
            "adl": codes("normal", "limited"),
            "region": codes("other", "midwest", "northeast", "west"),
            "age": numbers["age"],
            "afam": codes("yes", "no"),
            "gender": codes("male", "female"),
            "married": codes("yes", "no"),
            "school": numbers["school"],
            "income": np.exp(rng.normal(10, 0.8, n)).astype(int),
            **{c: codes("yes", "no") for c in ("employed", "insurance", "medicaid")},
            "visits": np.minimum(rng.geometric(0.12, n), 60),
            "hospital": np.minimum(rng.geometric(0.7, n) - 1, 8),
        }
    )


def assays(rng, n=1800):
    return pl.DataFrame(
        {
            "age": rng.integers(50, 95, n),
            "sex": rng.choice(["F", "M"], n),
            "sample_yr": rng.integers(1995, 2004, n),
            "kappa": np.exp(rng.normal(0, 0.5, n)).round(2),
            "lambda": np.exp(rng.normal(0.3, 0.5, n)).round(2),
            "flc_grp": rng.integers(1, 11, n),
            "mgus": rng.integers(0, 2, n),
            "futime": rng.integers(0, 5000, n),
            "death": rng.integers(0, 2, n),
        }
    )


def claims(rng, people=1600):
    years = rng.integers(3, 6, people)
    n = int(years.sum())
    person = np.repeat(np.arange(people), years)
    year = np.concatenate([np.arange(1, y + 1) for y in years])
    return pl.DataFrame(
        {
            "person": person,
            "year": year,
            "age": rng.integers(1, 60, people)[person] + year,
            "female": rng.integers(0, 2, people)[person],
            "educ": rng.integers(4, 20, people)[person].astype(float),
            "income": rng.normal(10_000, 3000, people).round(2)[person],
            "health": rng.integers(0, 4, people)[person],
            "mdvis": rng.poisson(2, n),
            "totadm": rng.poisson(0.1, n),
            "outpdol": np.maximum(rng.normal(40, 60, n), 0).round(2),
            "drugdol": np.maximum(rng.normal(5, 20, n), 0).round(2),
        }
    )


@pytest.fixture(scope="session")
def base_tables(tmp_path_factory):
    """Return a folder with a stand-in for each base table."""
    folder = tmp_path_factory.mktemp("base_tables")
    rng = np.random.default_rng(43)
    for make in (visits, assays, claims):
        make(rng).write_parquet(folder / f"{make.__name__}.parquet")
    return folder
