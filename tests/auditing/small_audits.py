"""People, generators and audits that run in this process, for the tests of the designs."""

import numpy as np
import polars as pl

from divulge.auditing.pool import Pool
from divulge.auditing.result import Run
from divulge.auditing.worlds import made_of
from divulge.tables.frames import table_of

JOBS = ["baker", "clerk", "driver", "farmer", "nurse"]


def people(n, seed=0):
    """Return people with two numbers that nobody shares, a place, a job that follows from it in part, and an income."""
    rng = np.random.default_rng(seed)
    place = rng.integers(0, 4, n)
    job = np.where(rng.random(n) < 0.5, place, rng.integers(0, 5, n))
    return pl.DataFrame({
        "height": rng.normal(170, 9, n), "weight": rng.normal(70, 12, n), "place": np.array(list("NESW"))[place],
        "job": np.array(JOBS)[job], "income": rng.lognormal(8, 0.5, n).round(2),
    })  # fmt: skip


def pool_of(frame, seed=0, **settings):
    """Return a pool in the order of the frame."""
    return Pool(table_of(frame, "real"), np.arange(frame.height), seed, **settings)


def copies(table, run):
    """Publish the training table."""
    return table


def bootstrap(table, run):
    """Publish a sample with replacement."""
    return table[np.random.default_rng(run).integers(0, len(table), len(table))]


def elsewhere(n=200):
    """Return a generator that copies other people than those it is trained on."""
    return lambda table, run: people(n, seed=1000 + run)


def partly(share):
    """Return a generator that copies a person with this probability, and puts a stranger in the place of the others."""

    def made(table, run):
        kept = np.random.default_rng(run).random(len(table)) < share
        return pl.concat([table.filter(kept), people(len(table), seed=2000 + run).filter(~kept).select(table.columns)])

    return made


def audited(design, pool, generator, n_runs):
    """Return the trial and its results after so many trainings."""
    trial = design.prepare(pool)
    evidence = {}
    for run in range(n_runs):
        made = generator(made_of(pool.table, trial.training(run)).named(), run)
        evidence[run] = trial.read(run, table_of(made, "synthetic"))
    runs = [Run(number=r, status="done", seed=r) for r in range(n_runs)]
    return trial, trial.conclude(evidence, runs)
