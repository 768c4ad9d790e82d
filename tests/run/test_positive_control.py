"""The positive control: what is planted, what stays as it was, and what is said about it."""

import json

import jsonschema
import numpy as np
import polars as pl
import pytest
from amount import models
from report_helpers import controls, markdown, summary

import divulge
from divulge.attacks.membership.exposure import people_of
from divulge.case.case import build_case
from divulge.core.errors import SettingError
from divulge.core.result import Difference, Result
from divulge.report import formatting
from divulge.report.schema import assessment_schema
from divulge.run.making.positive_control import KINDS, _moved, _smallest_shares, check_share, planted, positive_control

COLUMNS = ["c0", "c1", "c2", "job", "town"]


def people(rng, n, name="p"):
    return pl.DataFrame(
        {
            "person_id": rng.permutation(10**6)[:n],
            "c0": rng.normal(size=n).round(2),
            "c1": rng.normal(size=n).round(2),
            "c2": rng.integers(0, 1000, n),
            "job": rng.choice(list("abcdef"), n),
            "town": rng.choice(["Ayr", "Bath", None], n),
        }
    )


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(2)
    return people(rng, 300), people(rng, 200), people(rng, 250)


@pytest.fixture(scope="module")
def case(tables):
    return build_case(*tables)


def rows(case, which, columns=COLUMNS):
    return np.stack([case.codes(c, binned=False)[which] for c in columns], axis=1)


def changed(case, other):
    return np.flatnonzero((rows(case, 1) != rows(other, 1)).any(axis=1))


def as_multiset(array):
    return sorted(map(tuple, array.tolist()))


# ---------------------------------------------------------------- what is planted


@pytest.mark.parametrize("kind", KINDS)
def test_a_share_of_the_synthetic_rows_is_replaced_and_no_more(case, kind):
    other, who = planted(case, kind, 0.1)
    assert len(who) == len(set(who.tolist())) == 20
    assert len(changed(case, other)) == 20
    for which in (0, 2):
        assert (rows(case, which) == rows(other, which)).all()
    for c in COLUMNS:
        pooled = other.pooled(c)
        assert (pooled.counts[1] == np.bincount(pooled.codes[1], minlength=len(pooled.counts[1]))).all()
        assert len(pooled.counts[1]) == len(case.pooled(c).counts[1])


@pytest.mark.parametrize("kind", ["random people", "unusual people"])
def test_replaced_rows_are_the_people_that_are_named(case, kind):
    other, who = planted(case, kind, 0.1)
    assert as_multiset(rows(other, 1)[changed(case, other)]) == as_multiset(rows(case, 0)[who])


def test_unusual_people_are_those_of_highest_outlierness(case):
    _, who = planted(case, "unusual people", 0.1)
    v = people_of(case).real.outlierness
    assert sorted(v[who]) == sorted(v)[-20:]


def test_near_copies_are_close_and_never_equal(case):
    other, who = planted(case, "near copies", 0.2)
    new, old = rows(other, 1)[changed(case, other)], rows(case, 0)[who]
    assert len(new) == 40
    assert not set(as_multiset(new)) & set(as_multiset(old))
    spans = {}
    for j, c in enumerate(COLUMNS[:3]):
        levels = np.append(np.nan, case.pooled(c).numbers())
        people = np.concatenate([levels[rows(case, i)[:, j]] for i in (0, 2)])
        spans[c] = np.ptp(people)
        # each planted row lies within 1% of its person, in every number; categories stay
        distance = np.abs(levels[new[:, j]][:, None] - levels[old[:, j]]) / spans[c]
        same = (new[:, None, 3:] == old[:, 3:]).all(axis=2)
        spans[c] = (distance <= 0.01) & same
    close = spans["c0"] & spans["c1"] & spans["c2"]
    assert close.any(axis=1).all()
    assert close.any(axis=0).all()


def test_without_numbers_one_category_comes_from_another_row():
    rng = np.random.default_rng(1)
    tables = [pl.DataFrame({c: rng.choice(list("abcdefgh"), 400) for c in "uvwxyz"}) for _ in range(3)]
    case = build_case(*tables)
    other, who = planted(case, "near copies", 0.1)
    columns = list("uvwxyz")
    new = rows(other, 1, columns)
    old = rows(case, 0, columns)[who]
    was = rows(case, 1, columns)
    at = np.flatnonzero((new != was).any(axis=1))
    away = (new[at][:, None] != old).sum(axis=2).min(axis=1)
    assert (away <= 1).all()
    assert (away == 1).mean() > 0.9


def test_a_number_moves_to_every_other_level_in_reach_and_never_stays():
    x = pl.DataFrame({"x": [float(i) for i in range(400)]})
    case = build_case(x, x, x)
    own = np.full(600, 201, dtype=np.int32)  # the number 200; 1% of the range is 3.99
    moved = _moved(case, "x", own, np.random.default_rng(0))
    assert sorted(set(moved.tolist())) == [198, 199, 200, 202, 203, 204]


def test_a_number_at_the_end_of_float64_moves_without_a_warning():
    x = pl.DataFrame({"x": [-1.7e308, 1.7e308, *(float(i) for i in range(400))]})
    case = build_case(x[2:], x[2:], x)
    moved = _moved(case, "x", np.full(6, 201, dtype=np.int32), np.random.default_rng(0))
    assert (moved != 201).all()


def test_donors_do_not_depend_on_the_order_of_rows():
    rng = np.random.default_rng(1)
    tables = [pl.DataFrame({c: rng.choice(list("abcdefgh"), 200) for c in "uvwxyz"}) for _ in range(3)]
    orders = [rng.permutation(200) for _ in tables]
    one, other = (
        planted(build_case(*t), "near copies", 0.2)[0]
        for t in (tables, [t[o] for t, o in zip(tables, orders, strict=True)])
    )
    assert as_multiset(rows(one, 1, list("uvwxyz"))) == as_multiset(rows(other, 1, list("uvwxyz")))


def test_a_number_with_no_other_level_in_reach_stays():
    x = pl.DataFrame({"x": [float(10 * (i % 30)) for i in range(60)], "y": list("ab") * 30})
    case = build_case(x, x, x, schema=divulge.infer_schema(x).override(divulge.Schema((divulge.core.schema.Column("x", "numeric"),))))  # fmt: skip
    other, who = planted(case, "near copies", 0.2)
    new = [tuple(r) for r in rows(other, 1, ["x", "y"])]
    assert {r[0] for r in new} <= set(rows(case, 0, ["x"])[:, 0].tolist())
    assert len(who) == 12


def test_identifiers_units_and_ignored_columns_stay(tables):
    case = build_case(*tables, ignore=["town"], unit="job")
    assert case.schema["person_id"].kind == "identifier"
    other, _ = planted(case, "random people", 0.3)
    for c in ("person_id", "town", "job"):
        assert (other.pooled(c).codes[1] == case.pooled(c).codes[1]).all()
    assert (rows(other, 1, ["c0", "c1"]) != rows(case, 1, ["c0", "c1"])).any()


@pytest.mark.first(1)
@pytest.mark.parametrize("kind", KINDS)
def test_the_case_stays_as_it_was(tables, kind):
    case, fresh = build_case(*tables), build_case(*tables)
    before = [r.to_dict() | {"seconds": 0} for r in divulge.exposure.run(case)]
    other, _ = planted(case, kind, 0.3)
    divulge.exposure.run(other)
    other.contingency(COLUMNS, (), binned=False)
    for c in case.columns:
        assert (case.pooled(c).codes[1] == fresh.pooled(c).codes[1]).all()
        assert (case.pooled(c).counts[1] == fresh.pooled(c).counts[1]).all()
    assert [r.to_dict() | {"seconds": 0} for r in divulge.exposure.run(case)] == before
    assert divulge.copies.run(case)[0].real.hits == 0
    assert divulge.copies.run(other)[0].real.hits > 0 or kind == "near copies"


@pytest.mark.parametrize("kind", KINDS)
def test_neither_row_order_nor_column_order_changes_who_is_planted(tables, kind):
    rng = np.random.default_rng(3)
    order = [rng.permutation(len(t)) for t in tables]
    turned = [t[o].select(reversed(t.columns)) for t, o in zip(tables, order, strict=True)]
    (one, who), (other, again) = planted(build_case(*tables), kind, 0.1), planted(build_case(*turned), kind, 0.1)
    assert sorted(who) == sorted(order[0][again])
    assert as_multiset(rows(one, 1)) == as_multiset(rows(other, 1))
    assert (rows(one, 1)[order[1]] == rows(other, 1)).all()


def test_the_seed_decides_who_is_planted(tables):
    first, same, other = (
        set(planted(build_case(*tables, seed=s), "random people", 0.1)[1].tolist()) for s in (0, 0, 1)
    )
    assert first == same
    assert first != other


def test_one_row_at_least_and_no_more_than_there_are_people(tables):
    real, synthetic, holdout = tables
    assert len(planted(build_case(real, synthetic, holdout), "random people", 0.0001)[1]) == 1
    assert len(planted(build_case(real[:30], synthetic, holdout), "random people", 0.5)[1]) == 30


# ---------------------------------------------------------------- what is said about it


def test_the_smallest_share_grows_with_what_is_detectable():
    """An excess of .01 with 5% planted beyond .002 without: .008 a 5%; .004 is seen from 2.5% on."""

    def result(name, value, least=0.004):
        return Result(attack=name, difference=Difference(value=value, low=0, high=0), smallest_detectable=least,
                      verdict="cannot tell")  # fmt: skip

    without = [result("a", 0.002), result("b", 0.01), result("c", 0.0, None)]
    found = _smallest_shares([result("a", 0.01), result("b", 0.0), result("c", 0.5), result("d", 0.5)], without, 0.05)
    assert [f.attack for f in found] == ["a"]
    assert found[0].smallest_share == pytest.approx(0.025)


@pytest.mark.parametrize("share", [0, -0.1, 0.51, float("nan")])
def test_a_share_that_makes_no_sense_is_told(share):
    with pytest.raises(SettingError, match=r"outside \(0, 0.5\]"):
        check_share(share, True)


def test_a_holdout_is_needed(tables):
    with pytest.raises(SettingError, match="without a holdout"):
        divulge.assess(*tables[:2], positive_control=0.1)


@pytest.fixture(scope="module")
def report(tables):
    asked = {"holdout": tables[2], "keys": ["c0", "job"], "targets": ["town"], "models": models()}
    asked["membership"] = False
    return divulge.assess(*tables[:2], positive_control=0.2, **asked)


@pytest.mark.slow
def test_all_kinds_are_run_and_copies_are_seen(report):
    control = report.data["positive_control"]
    assert [c["kind"] for c in control] == list(KINDS)
    for c in control[:2]:
        assert (c["n_planted"], c["verdict"], c["share"]) == (40, "excess found", 0.2)
        own = next(f for f in c["found"] if f["attack"] == "copies (exact)")
        assert own["risk"] == pytest.approx(40 / 300)
        assert own["without"] is False
        assert c["found"] == sorted(c["found"], key=lambda f: -f["low"])
        # every record differs from all others, so that a whole copy and its single values show alike
        copies = next(a for a in c["attacks"] if a["attack"].startswith("copies ("))
        assert copies["difference_with"] - copies["difference_without"] == pytest.approx(40 / 300)
        expected = 0.2 * copies["smallest_detectable"] / (40 / 300)
        assert copies["smallest_share"] == pytest.approx(expected)
        assert c["smallest_share"] <= expected
        assert "linear in the share" in c["method"]


@pytest.mark.slow
def test_the_run_itself_is_as_without_a_control(report, tables):
    plain = divulge.assess(*tables[:2], holdout=tables[2], keys=["c0", "job"], targets=["town"], membership=False)
    one, other = (
        {
            **r.data,
            "started": 0,
            "seconds": 0,
            "positive_control": 0,
            "results": [x | {"seconds": 0} for x in r.data["results"]],
            "fidelity": [x | {"seconds": 0} for x in r.data["fidelity"]],
        }
        for r in (report, plain)
    )
    assert one == other
    assert plain.data["positive_control"] == []
    assert controls(plain.data) == []
    assert "Positive control" not in summary(plain.data) + markdown(plain.data)


def test_planted_people_are_among_the_flagged(case):
    def run(c):
        return list(divulge.exposure.run(c)), "cannot tell"

    for entry in positive_control(case, 0.1, run, run(case)[0]):
        seen = entry.people
        assert seen.planted == 20
        assert seen.flagged >= 18
        assert seen.others_flagged <= 15  # a tenth of those flagged is the mean; single runs scatter
        assert seen.flagged_without == people_of(case).n_flagged
        assert (entry.n_judged, entry.smallest_share) == (0, None)


def test_a_kind_that_cannot_be_planted_says_so():
    ids = pl.DataFrame({"name": [f"long name number {i} of all" for i in range(50)], "b": ["x"] * 50})
    case = build_case(ids, ids, ids)
    entries = positive_control(case, 0.1, lambda c: ([], "cannot tell"), [])
    unusual = entries[1]
    assert (unusual.verdict, unusual.n_planted) == (None, 0)
    assert "no column to compare" in unusual.note


@pytest.mark.slow
def test_the_report_tells_it_in_words(report):
    control = report.data["positive_control"][0]
    for text in (summary(report.data, width=2000), markdown(report.data).replace("\\", "")):
        assert "Positive control" in text
        assert "random people: 40 of 200 synthetic rows replaced: excess found in " in text
        assert f"smallest share that would be seen: about {100 * control['smallest_share']:.1f}%" in text
        assert formatting.CONTROL in text


@pytest.mark.slow
def test_the_json_is_as_the_schema_says(report):
    jsonschema.validate(json.loads(report.to_json()), assessment_schema())


@pytest.mark.slow
def test_no_value_is_told(report):
    told = json.dumps(report.data["positive_control"])
    assert "Ayr" not in told
    assert "Bath" not in told


def test_less_than_one_row_cannot_be_planted():
    check_share(0.01, True, 50)
    with pytest.raises(SettingError, match="less than one of 40 synthetic rows"):
        check_share(0.01, True, 40)
