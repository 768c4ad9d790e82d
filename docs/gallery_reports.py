"""The reports of the gallery: simulated people, and tables about them.

`python docs/gallery_reports.py copies` writes copies.html into the folder where you are.
"""

import functools
import sys

import numpy as np
import polars as pl

import divulge

__all__ = ["REPORTS", "made"]

REPORTS = ("clean", "copies", "filtered", "overfit", "no-holdout")
PEOPLE = 1500


def people(seed, n=PEOPLE):
    """Return people of the survey: what they earn depends on age and schooling, how they feel on both and on chance."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n)
    school = rng.choice(["none", "middle", "high", "college"], n, p=[0.1, 0.3, 0.4, 0.2])
    years = np.select([school == "none", school == "middle", school == "high"], [0, 4, 8], 12)
    income = np.round(np.exp(6.6 + 0.06 * years + 0.01 * np.minimum(age, 60) + 0.4 * rng.standard_normal(n)), -1)
    region = rng.choice(list("ABCDEFGH"), n)
    health = np.clip(np.round(8 - age / 25 + years / 8 + rng.standard_normal(n)), 1, 9).astype(int)
    return pl.DataFrame({"age": age, "school": school, "income": income, "region": region, "health": health})


def filtered(fresh, real):
    """Return the rows of a table without those near to a person: a filter that hides copies and tells members."""
    near = divulge.nearest(fresh, real)
    return fresh.filter(pl.Series(near.distances[:, 0] > np.quantile(near.distances[:, 0], 0.5)))


def overfit(real, seed):
    """Return the rows of a table with three cells in ten drawn anew."""
    rng = np.random.default_rng(seed)
    n = real.height
    cells = {c: pl.Series(c, rng.random(n) < 0.3) for c in real.columns}
    drawn = {c: real[c].gather(rng.integers(0, n, n)) for c in real.columns}
    return real.with_columns(pl.when(cells[c]).then(drawn[c]).otherwise(pl.col(c)).alias(c) for c in real.columns)


def tables(name):
    """Return real table, synthetic table and holdout; without the last, a pair and None."""
    real, holdout, fresh = people(11), people(17), people(13)
    copied = pl.concat([real.head(PEOPLE // 10), fresh.tail(PEOPLE - PEOPLE // 10)])
    return {
        "clean": (real, fresh, holdout),
        "copies": (real, copied, holdout),
        "filtered": (real, filtered(pl.concat([fresh, people(14)]), real), holdout),
        "overfit": (real, overfit(real, 15), holdout),
        "no-holdout": (real, copied, None),
    }[name]


@functools.cache
def made(name):
    """Return a report, made once for all builds of a running server."""
    real, synthetic, holdout = tables(name)
    return divulge.assess(
        real, synthetic, holdout=holdout, keys=["age", "school", "region"], targets=["income", "health"], models=False,
        utility=True,
    )  # fmt: skip


if __name__ == "__main__":
    for asked in sys.argv[1:]:
        made(asked).to_html(f"{asked}.html")
