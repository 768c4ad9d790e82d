"""Whose rows all stand under one synthetic person: worked numbers, who is named, and who is not by chance."""

import numpy as np
import polars as pl
import pytest

import divulge
from divulge.attacks.copying.histories import histories
from divulge.case.case import build_case
from divulge.run.judging.whole_histories import whole_histories
from divulge.run.planning.linked_people import linked_people, with_persons
from divulge.run.planning.options import Reading, RunOptions

FAST = {"models": False, "search": "off", "membership": False, "fidelity": False, "jobs": 1}


def people(first, rows):
    """Users, each with the orders whose numbers are listed."""
    n, flat = len(rows), np.concatenate(rows)
    own = np.repeat(np.arange(first, first + n), [len(x) for x in rows])
    age = np.random.default_rng(first).integers(18, 80, n)
    return {
        "users": pl.DataFrame({"uid": np.arange(first, first + n), "age": age}),
        "orders": pl.DataFrame({"uid": own, "item": [f"i{v // 3}" for v in flat], "n": flat % 3}),
    }


def sides(real, synthetic, holdout):
    return people(0, real), people(1_000, synthetic), people(2_000, holdout)


def found(real, synthetic, holdout=None):
    given = (people(0, real), people(1_000, synthetic), None if holdout is None else people(2_000, holdout))
    tables, reading, persons = linked_people(given, Reading(), RunOptions())
    case = with_persons(build_case(*tables, schema=reading.schema, unit=reading.unit), persons)
    return whole_histories(case, histories(case)[0])


def independent(rng, n, k=8):
    return [rng.integers(0, 120, k) for _ in range(n)]


def profiles(rng, n):
    """People of 15 kinds, most of whose rows are those of their kind."""
    base = np.random.default_rng(99).integers(0, 300, (15, 9))
    out = []
    for _ in range(n):
        own = base[rng.integers(15)][np.r_[True, True, rng.random(7) < 0.6]]
        out.append(np.where(rng.random(len(own)) < 0.9, own, rng.integers(0, 300, len(own))))
    return out


def chain(rng, n):
    """Rows that follow one another."""
    steps, out = np.random.default_rng(7).integers(0, 150, (150, 3)), []
    for _ in range(n):
        rows = [rng.integers(150)]
        for _ in range(rng.integers(3, 12)):
            rows.append(steps[rows[-1], rng.choice(3, p=[0.7, 0.2, 0.1])])
        out.append(np.array(rows))
    return out


def test_one_person_pasted_whole_is_named_with_the_reason():
    rng = np.random.default_rng(0)
    real, synthetic, holdout = (independent(rng, 200) for _ in range(3))
    synthetic[150] = real[7][::-1]
    report = divulge.assess(*sides(real, synthetic, holdout), **FAST)
    facts = report.assessment.facts.histories
    assert (facts.members, facts.strangers, facts.named, facts.why_not_named) == (1, 0, 1, None)
    first = report.records().row(0, named=True)
    assert first["row"] == 7
    assert first["named"]
    assert first["whole_history"]
    assert first["reasons"].startswith("all 8 rows of 'orders' stand under one synthetic person, and chance can hardly")
    assert report.records()["named"].sum() == 1
    for told in (str(report), report.to_markdown(), report.to_html()):
        told = " ".join(told.split())
        assert "All rows of one person stand together" in told
    assert "of 1 of 200 members and of 0 of 200 strangers stand under one synthetic person" in " ".join(
        str(report).split()
    )
    assert report.external().assessment.facts is None


def test_common_rows_are_counted_and_name_nobody():
    rng = np.random.default_rng(1)
    real, synthetic, holdout = ([np.array([0, 1, *rng.integers(2, 6, 2)]) for _ in range(100)] for _ in range(3))
    facts = found(real, synthetic, holdout)
    assert facts.members.sum() > 50
    assert facts.strangers.sum() > 50
    assert not facts.named.any()
    assert "common enough for chance" in facts.why_not_named


def test_who_shares_the_rows_with_another_person_is_not_named():
    rng = np.random.default_rng(2)
    real, synthetic, holdout = (independent(rng, 150) for _ in range(3))
    synthetic[3] = real[5] = real[4]
    facts = found(real, synthetic, holdout)
    assert np.flatnonzero(facts.members).tolist() == [4, 5]
    assert not facts.named.any()


def test_strangers_speak_up_and_must_be_there():
    rng = np.random.default_rng(3)
    real, synthetic, holdout = (independent(rng, 150) for _ in range(3))
    synthetic[3], synthetic[4] = real[5], holdout[6]
    facts = found(real, synthetic, holdout)
    assert (int(facts.members.sum()), int(facts.strangers.sum())) == (1, 1)
    assert not facts.named.any()
    assert "of strangers" in facts.why_not_named
    alone = found(real, synthetic)
    assert alone.strangers is None
    assert "no strangers" in alone.why_not_named
    few = found(real, synthetic[:4], holdout[50:])
    assert "fewer people" in few.why_not_named


def test_keys_order_and_repeated_rows_change_nothing():
    rng = np.random.default_rng(4)
    real, synthetic, holdout = (independent(rng, 120) for _ in range(3))
    synthetic[:10] = real[:10]
    one = found(real, synthetic, holdout)
    again = found([x[::-1] for x in real], [np.tile(x, 2) for x in synthetic[::-1]], [np.tile(x, 2) for x in holdout])
    assert one.named.sum() > 5
    assert (one.named == again.named).all()
    assert (one.members == again.members).all()


@pytest.mark.parametrize(("make", "seen"), [(independent, 0.9), (profiles, 0.0), (chain, 0.0)])
def test_nobody_is_named_by_chance_and_one_copied_person_is(make, seen):
    worlds = 20
    named, one = [], []
    for seed in range(worlds):
        rng = np.random.default_rng([seed, 5])
        real, holdout, synthetic = (make(rng, 200) for _ in range(3))
        named.append(found(real, synthetic, holdout).named.any())
        synthetic[0] = real[0]
        one.append(found(real, synthetic, holdout).named[0])
    assert np.mean(named) <= 0.01 + 2 * np.sqrt(0.01 * 0.99 / worlds)
    assert np.mean(one) >= seen
