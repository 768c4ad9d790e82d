"""Words that one person alone has: false findings where none leaks, and how often named people are found.

"case" has a made-up name in a sentence of few words, as in a form; "full" a popular first and last name in a text of 40
words that are drawn by a law of Zipf, so that strangers are hit by chance in every form. Theory: which people are hit
is made without a label, so that the permutation of labels is exact, and conformal p-values control the false
discovery rate. The synthetic texts of the share are fresh but for the name.
"""

import math

import numpy as np
import polars as pl
import pytest

import divulge
from divulge.run.judging.named_people import named_people

SENTENCE = "patient reports mild pain since last week after work sleeps badly no fever walks slowly asked for leave"
FEW = SENTENCE.split()
SYLLABLES = [c + v for c in "bdgklmnprstvz" for v in "aeiou"]
COMMON = 50_000


def runs(quick, full):
    return pytest.mark.parametrize(
        ("runs", "errors"),
        [pytest.param(quick, 3.0, id="quick"), pytest.param(full, 2.0, id="full", marks=pytest.mark.full)],
    )


def popular(n, offset):
    """Made-up names, and a law of Zipf by which they are popular."""
    rng, weight = np.random.default_rng(offset), 1 / (np.arange(n) + offset)
    return np.array(["".join(rng.choice(SYLLABLES, 4)).title() for _ in range(n)]), weight / weight.sum()


FIRST, LAST = popular(700, 10), popular(1000, 20)
WORDS = np.array([f"w{i:05d}".translate(str.maketrans("0123456789", "abcdefghij")) for i in range(COMMON)])
ZIPF = 1 / (np.arange(COMMON) + 2.7)
ZIPF /= ZIPF.sum()


def names(rng, world, n):
    if world == "case":
        return ["".join(rng.choice(SYLLABLES, 4)).title() for _ in range(n)]
    first, last = (rng.choice(known, n, p=weight) for known, weight in (FIRST, LAST))
    return [f"{a} {b}" for a, b in zip(first, last, strict=True)]


def notes(rng, world, who):
    if world == "case":
        return [" ".join([*rng.choice(FEW, 9), name, *rng.choice(FEW, 7)]) for name in who]
    out = []
    for words, place, name in zip(
        WORDS[rng.choice(COMMON, (len(who), 40), p=ZIPF)], rng.integers(0, 40, len(who)), who, strict=True
    ):
        text = [w.title() if i % 10 == 0 else w for i, w in enumerate(words)]
        out.append(" ".join([*text[:place], name, *text[place:]]))
    return out


def tables(rng, world, n, share):
    mine, others, fresh = (names(rng, world, n) for _ in range(3))
    named = round(share * n)
    return [
        pl.DataFrame({"age": rng.integers(18, 90, n), "note": notes(rng, world, who)})
        for who in (mine, mine[:named] + fresh[named:], others)
    ]


@runs(12, 200)
@pytest.mark.parametrize("world", ["case", "full"])
def test_texts_that_name_no_member_are_no_finding(world, runs, errors):
    alarms = flagged = 0
    for i in range(runs):
        real, synthetic, holdout = tables(np.random.default_rng([i, 46]), world, 400, 0)
        results = divulge.named_in_texts(real, synthetic, holdout=holdout, seed=i)
        alarms += any(r.p_adjusted is not None and r.p_adjusted <= 0.05 for r in results)
        flagged += named_people(results).flagged.any()
    assert alarms / runs <= 0.05 + errors * math.sqrt(0.05 * 0.95 / runs)
    assert flagged / runs <= 0.10 + errors * math.sqrt(0.10 * 0.90 / runs)


@pytest.mark.parametrize(
    ("world", "n", "share", "least"),
    [
        ("case", 400, 0.05, 0.95),
        ("full", 400, 0.05, 0.95),
        pytest.param("full", 3000, 0.02, 0.80, marks=pytest.mark.slow),
    ],
)
@runs(6, 100)
def test_members_who_are_named_are_found(world, n, share, least, runs, errors):
    found, wrong = 0, []
    for i in range(runs):
        real, synthetic, holdout = tables(np.random.default_rng([i, 47]), world, n, share)
        results = divulge.named_in_texts(real, synthetic, holdout=holdout, seed=i)
        found += any(r.verdict == "excess found" for r in results)
        flagged = np.flatnonzero(named_people(results).flagged)
        wrong.append(np.mean(flagged >= round(share * n)) if len(flagged) else 0.0)
    assert found / runs >= least - errors * math.sqrt(least * (1 - least) / runs)
    assert np.mean(wrong) <= 0.10 + errors * np.std(wrong) / math.sqrt(runs)
