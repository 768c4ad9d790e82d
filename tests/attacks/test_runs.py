"""Runs of rows: plain oracles, the leak that they alone see, and what is asked of whom."""

import numpy as np
import polars as pl
import pytest

import divulge
from divulge.attacks.copying.runs import runs_of
from divulge.case.relational.persons import Steps
from divulge.kernels.runs import grams, has_run, shared_runs


def steps(histories):
    return Steps(
        np.concatenate([np.array(h, dtype=np.int64) for h in histories]),
        np.repeat(np.arange(len(histories)), [len(h) for h in histories]),
    )


def plain_grams(history, k):
    return {tuple(history[i : i + k]) for i in range(len(history) - k + 1)}


def test_the_longest_common_run_of_two_words():
    one, other = ([ord(c) for c in word] for word in ("abcab", "cabca"))
    people, others = (np.array(one), np.zeros(5, int)), (np.array(other), np.zeros(5, int))
    assert [bool(has_run(people, others, k, 1)[0]) for k in (2, 3, 4, 5)] == [True, True, True, False]


@pytest.mark.parametrize("seed", range(30))
def test_runs_are_those_of_plain_python(seed):
    rng = np.random.default_rng(seed)
    people, others = (
        [rng.integers(0, 3, rng.integers(1, 9)).tolist() for _ in range(rng.integers(1, 30))] for _ in range(2)
    )
    pot, theirs = steps(people), steps(others)
    for k in (1, 2, 3, 5):
        released = set().union(*(plain_grams(h, k) for h in others))
        found = has_run((pot.values, pot.persons), (theirs.values, theirs.persons), k, len(people))
        assert found.tolist() == [bool(plain_grams(h, k) & released) for h in people]
        shared = shared_runs((pot.values, pot.persons), k, len(people))
        assert shared.tolist() == [
            any(plain_grams(h, k) & plain_grams(o, k) for j, o in enumerate(people) if j != i)
            for i, h in enumerate(people)
        ]
        assert len(grams(pot.values, pot.persons, k)[0]) == sum(max(0, len(h) - k + 1) for h in people)


def test_the_length_of_a_run_looks_at_no_label():
    rng = np.random.default_rng(0)
    sides = [[rng.integers(0, 4, 30).tolist() for _ in range(60)] for _ in range(3)]
    first = [(r.variant, r.notes) for r, _ in runs_of(tuple(map(steps, sides)), (60, 60), ("t",))]
    turned = [sides[2], sides[1], sides[0]]
    assert first == [(r.variant, r.notes) for r, _ in runs_of(tuple(map(steps, turned)), (60, 60), ("t",))]
    assert [v for v, _ in first] == ["shorter run", "run", "longer run"]


def test_people_of_few_rows_are_not_asked():
    rng = np.random.default_rng(1)
    short = [[1, 2]] * 10
    sides = [[*short, *(rng.integers(0, 4, 12).tolist() for _ in range(50))] for _ in range(3)]
    for _, scores in runs_of(tuple(map(steps, sides)), (60, 60), ("t",)):
        assert all(np.isnan(s[:10]).all() and not np.isnan(s[10:]).any() for s in scores)


def test_one_row_each_has_no_runs():
    sides = [[[i] for i in range(30)]] * 3
    assert list(runs_of(tuple(map(steps, sides)), (30, 30), ("t",))) == []


def shop(rng, n, first):
    """Visits in the order of their days; each kind follows few others."""
    days = [np.sort(rng.choice(900, 12, replace=False)) for _ in range(n)]
    kinds = []
    for _ in range(n):
        own = [rng.integers(0, 40)]
        for _ in range(11):
            own.append((own[-1] * 3 + rng.integers(0, 6)) % 40)
        kinds.append(own)
    uid = np.arange(first, first + n)
    visits = {
        "uid": np.repeat(uid, 12),
        "day": np.datetime64("2024-01-01") + np.concatenate(days),
        "kind": [f"k{k}" for own in kinds for k in own],
    }
    return {"users": pl.DataFrame({"uid": uid, "age": rng.integers(20, 80, n)}), "visits": pl.DataFrame(visits)}


def test_a_stretch_that_was_pasted_into_another_history_shows_in_runs_alone():
    rng = np.random.default_rng(2)
    real, synthetic, holdout = (shop(rng, 200, first) for first in (0, 10_000, 20_000))
    kind, own = synthetic["visits"]["kind"].to_list(), real["visits"]["kind"].to_list()
    for i in range(40):
        kind[12 * i + 3 : 12 * i + 10] = own[12 * i + 2 : 12 * i + 9]
    synthetic["visits"] = (
        synthetic["visits"].with_columns(kind=pl.Series(kind)).sample(fraction=1, shuffle=True, seed=0)
    )
    report = divulge.assess(
        real, synthetic, holdout, models=False, search="off", membership=False, fidelity=False, jobs=1
    )
    found = {r.variant for r in report.results if r.verdict == "excess found"}
    assert found
    assert found <= {"run", "shorter run", "longer run"}
    assert "run of rows" in str(next(r for r in report.results if r.verdict == "excess found"))
