"""Are the right people flagged, and few others? People and leaks are simulated, so that who is hit is known.

Quick forms run always, their band 3 standard errors wide; full forms (``-m full``) repeat more, 2 standard errors.
"""

import math

import numpy as np
import polars as pl
import pytest

from divulge.attacks.membership.exposure import people_of
from divulge.case.case import build_case
from divulge.core.schema import Column, Schema

SCHEMA = Schema(tuple(Column(f"c{j}", "numeric") for j in range(6)))
MIXED = Schema((*SCHEMA.columns[:3], *(Column(f"c{j}", "categorical") for j in range(3, 6))))
HOMES = Schema((*SCHEMA.columns, Column("home", "categorical", roles=("unit",))))
FDR = 0.1
N_CANARIES = 20


def runs(quick, full):
    return pytest.mark.parametrize(
        ("runs", "errors"),
        [pytest.param(quick, 3.0, id="quick"), pytest.param(full, 2.0, id="full", marks=pytest.mark.full)],
    )


def most(rate, runs, errors):
    return rate + errors * math.sqrt(rate * (1 - rate) / runs)


def normal(rng, n):
    return rng.normal(size=(n, 6))


def heavy(rng, n):
    """Three latent classes of different spread: some people are much lonelier than others."""
    spread = rng.choice([0.3, 1.0, 3.0], n, p=[0.5, 0.4, 0.1])[:, None]
    return rng.standard_t(4, size=(n, 6)) * spread


def mixed(rng, n):
    """Three numbers and three categories, so that many distances tie."""
    rows = rng.normal(size=(n, 6)).round(1)
    rows[:, 3:] = np.abs(rows[:, 3:]).astype(int)
    return rows


POPULATIONS = {"normal": (normal, SCHEMA), "heavy": (heavy, SCHEMA), "mixed": (mixed, MIXED)}
each_population = pytest.mark.parametrize("population", POPULATIONS)


def frame(rows, **more):
    return pl.DataFrame({f"c{j}": c for j, c in enumerate(rows.T)} | more)


def laid(population, *tables):
    return build_case(*map(frame, tables), schema=POPULATIONS[population][1])


def planted(rng, draw, n, times, jitter=0.0):
    """Members, a synthetic table that has canaries among them so many times, strangers; who the canaries are."""
    real, synthetic, holdout = (draw(rng, n) for _ in range(3))
    who = rng.permutation(n)[:N_CANARIES]
    copies = np.repeat(real[who], times, axis=0)
    synthetic[: len(copies)] = copies + jitter * real.std(axis=0) * rng.normal(size=copies.shape)
    return (real, synthetic, holdout), who


def judged(people, who):
    """Recall and false discovery proportion."""
    right = people.flagged[who].sum()
    return right / len(who), (people.flagged.sum() - right) / max(1, people.flagged.sum())


def within(values, limit, errors):
    """Whether a mean may be at most the limit, by the error of the simulation itself."""
    return np.mean(values) <= limit + errors * np.std(values, ddof=1) / math.sqrt(len(values))


@each_population
@runs(100, 1000)
def test_without_a_leak_hardly_a_run_flags_anybody(runs, errors, population):
    draw, _ = POPULATIONS[population]
    rng = np.random.default_rng(1)
    flagged, small = [], []
    for _ in range(runs):
        people = people_of(laid(population, draw(rng, 120), draw(rng, 120), draw(rng, 120)), fdr=FDR)
        flagged.append(people.n_flagged > 0)
        # one stranger picked at random stands for all: p-values of one run share their strangers
        small.append(people.p_value[0] <= 0.1)
    assert np.mean(flagged) <= most(FDR, runs, errors)
    assert np.mean(small) <= most(0.1, runs, errors)


@runs(60, 600)
def test_a_generous_rate_is_kept_too_and_with_unequal_sizes(runs, errors):
    """At a rate of 0.5 a null run may flag in every second run: a test with more to find wrong."""
    rng = np.random.default_rng(2)
    flagged = []
    for _ in range(runs):
        people = people_of(laid("heavy", heavy(rng, 150), heavy(rng, 100), heavy(rng, 50)), fdr=0.5)
        flagged.append(people.n_flagged > 0)
    assert np.mean(flagged) <= most(0.5, runs, errors)


@runs(12, 120)
def test_twenty_people_copied_three_times_are_found(runs, errors):
    rng = np.random.default_rng(3)
    recall, false = [], []
    for _ in range(runs):
        tables, who = planted(rng, normal, 600, 3)
        r, f = judged(people_of(laid("normal", *tables), fdr=FDR), who)
        recall.append(r)
        false.append(f)
    assert np.mean(recall) >= 0.95
    assert within(false, FDR, errors)
    assert np.mean(false) > 0  # a rate is spent: nobody wrongly flagged in any run would be a test without power


@pytest.mark.parametrize(
    ("population", "jitter", "least"),
    [
        ("normal", 0.05, 0.95),
        ("heavy", 0.0, 0.95),
        ("mixed", 0.0, 0.7),  # values repeat: strangers are matched by chance too, and outrank copies in a crowd
    ],
)
@runs(12, 200)
def test_single_copies_are_found_at_the_same_rate_of_errors(runs, errors, population, jitter, least):
    draw, _ = POPULATIONS[population]
    rng = np.random.default_rng(4)
    recall, false = [], []
    for _ in range(runs):
        tables, who = planted(rng, draw, 400, 1, jitter)
        r, f = judged(people_of(laid(population, *tables), fdr=FDR), who)
        recall.append(r)
        false.append(f)
    assert np.mean(recall) >= least
    assert within(false, FDR, errors)


@runs(40, 400)
def test_homes_flag_no_more_than_people_do(runs, errors):
    """Rows of one home are much alike: judged row by row they would be flagged together."""
    rng = np.random.default_rng(5)

    def homes(n, name):
        size = rng.integers(1, 5, n)
        rows = np.repeat(heavy(rng, n), size, axis=0)
        return frame(rows + 0.02 * rng.normal(size=rows.shape), home=np.repeat([f"{name}{i}" for i in range(n)], size))

    flagged = []
    for _ in range(runs):
        case = build_case(homes(60, "r"), homes(60, "s"), homes(60, "h"), schema=HOMES)
        flagged.append(people_of(case, fdr=0.3).n_flagged > 0)
    assert np.mean(flagged) <= most(0.3, runs, errors)
