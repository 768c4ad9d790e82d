"""One row a real record: the columns, their order, and the reasons in words."""

import msgspec
import numpy as np
import polars as pl
import pytest
from report_helpers import assessment, plain

import divulge
from divulge.attacks.membership.exposure import people_of
from divulge.case.case import build_case
from divulge.core.result import Individual, Rate, Result
from divulge.core.schema import Schema
from divulge.report.assembly import ExposedPeople, _records_summary, assembled
from divulge.report.model import Overall, Settings, Tables
from divulge.report.report import Report
from divulge.run.judging.records import _highest_cap, per_record

ALWAYS = [
    "row", "copied", "named", "repeated", "replicated_unique", "n_disclosed", "disclosed", "highest_cap", "highest_cap_target",
    "own_words", "singled_out", "linked", "n_inferred",
]  # fmt: skip
OF_EXPOSURE = [
    "exposure", "exposure_rank", "distance_to_synthetic", "distance_to_person", "hit_score", "p_value", "flagged",
    "nearest_synthetic", "attraction",
]  # fmt: skip


def people(rng, n):
    return pl.DataFrame({f"c{j}": rng.normal(size=n) for j in range(5)} | {"job": rng.choice(list("abcd"), n)})


def near(n, hits, keys=(), variant="near"):
    scores = np.zeros(n)
    scores[hits] = 1
    return Result(attack="copies", variant=variant, keys=tuple(keys), individual=Individual(real=scores))


def exact(case):
    return [r for r in divulge.copies.run(case) if r.variant == "exact"]


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(5)
    real, synthetic, holdout = (people(rng, 200) for _ in range(3))
    close = real[20:30].with_columns(pl.col("c0") + 0.001)
    return real, pl.concat([real[:20], close, synthetic[30:]]), holdout


@pytest.fixture(scope="module")
def case(tables):
    return build_case(*tables)


@pytest.fixture(scope="module")
def results(case):
    keys = ["c0", "job"]
    out = [*exact(case), *divulge.exposure.run(case)]
    out += divulge.replicated_uniques.run(case, keys=keys)
    return [*out, *divulge.disco.run(case, keys=keys, target="c1")]


@pytest.fixture(scope="module")
def frame(case, results):
    return per_record(case, results)


def test_every_column_is_there(frame):
    assert frame.columns == [*ALWAYS, *OF_EXPOSURE, "reasons"]
    assert sorted(frame["row"]) == list(range(200))


def test_columns_are_those_of_the_attack(case, frame):
    own = people_of(case).real
    by_row = frame.sort("row")
    assert by_row["exposure"].to_list() == own.outlierness.tolist()
    assert by_row["hit_score"].to_list() == own.score.tolist()
    assert by_row["p_value"].to_list() == people_of(case).p_value.tolist()
    assert by_row["nearest_synthetic"][:30].to_list() == list(range(30))
    assert (by_row["distance_to_synthetic"][:20] == 0).all()
    assert by_row["attraction"].sum() <= 200
    assert (by_row["attraction"][:30] >= 1).all()


def test_the_rank_is_the_share_at_least_as_exposed(frame):
    v = frame["exposure"].to_numpy()
    assert frame["exposure_rank"].to_list() == [(v >= x).mean() for x in v]


def test_flagged_records_come_first_by_score_then_the_others_by_their_signs(frame):
    flagged = frame["flagged"].to_list()
    n = sum(flagged)
    assert n >= 30
    assert flagged == [True] * n + [False] * (200 - n)
    assert frame["hit_score"][:n].is_sorted(descending=True)
    rest = frame[n:]
    assert rest["n_disclosed"].filter(~rest["copied"] & ~rest["replicated_unique"]).is_sorted(descending=True)


def test_reasons_say_in_words_why_a_record_stands_out(frame):
    told = dict(zip(frame["row"], frame["reasons"], strict=True))
    for row in range(20):
        assert told[row].startswith("whole record copied; nobody else has it (flagged at FDR 0.1)")
    for row in range(20, 30):
        (ratio,) = frame.filter(row=row).select(pl.col("distance_to_person") / pl.col("distance_to_synthetic")).row(0)
        assert told[row].startswith(f"nearest synthetic row is {ratio:.0f} times closer than the nearest other person")
        assert "(flagged at FDR 0.1)" in told[row]
    first = frame.filter(pl.col("exposure_rank") <= 0.01)["row"]
    assert len(first) == 2
    for row, text in told.items():
        assert ("among the 1% who stand furthest apart" in text) == (row in first)
    nothing = frame.filter(
        ~pl.col("copied"), ~pl.col("replicated_unique"), ~pl.col("flagged"), pl.col("n_disclosed") == 0,
        pl.col("distance_to_person") < 2 * pl.col("distance_to_synthetic"), pl.col("exposure_rank") > 0.01,
    )  # fmt: skip
    assert len(nothing) > 0
    assert set(nothing["reasons"]) == {""}


def test_sets_of_columns_are_named_the_smallest_first(case, results):
    sets = [near(200, [3, 50], ["c3", "c4"]), near(200, [50], ["c1", "c2", "job"]), near(200, [50], ["c0", "c1", "c2"])]
    found = per_record(case, [*results, *(r for r in sets)]).sort("row")["reasons"]
    assert "near-copied on c3 + c4, c0 + c1 + c2 and 1 more sets of columns" in found[50]
    assert "near-copied" not in found[3]  # its whole record is copied, which says it all
    whole = per_record(case, [*results, near(200, [50]), *sets]).sort("row")["reasons"][50]
    assert whole.startswith("whole record near-copied")
    assert "near-copied on" not in whole


def test_what_other_attacks_say_is_among_the_reasons(case):
    unique = Result(
        attack="replicated_uniques",
        variant="repU",
        keys=("c0", "job"),
        individual=Individual(real=np.eye(1, 200, 7)[0]),
    )
    told = [
        Result(
            attack="disco", variant="DiSCO", keys=("job",), target=t, individual=Individual(real=np.eye(1, 200, 7)[0])
        )
        for t in ("c2", "c1")
    ]
    assert per_record(case, [unique, *told])["reasons"][0] == "alone on c0 + job; c1, c2 disclosed"


def test_a_copy_that_others_share_is_told_apart():
    rng = np.random.default_rng(0)
    real = pl.concat([pl.DataFrame({"x": [9.0, 9.0], "y": [9.0, 9.0]}), pl.DataFrame(rng.random((40, 2)), ["x", "y"])])
    case = build_case(real, real[:1], pl.DataFrame(rng.random((40, 2)), ["x", "y"]))
    found = per_record(case, [*exact(case), *divulge.exposure.run(case)]).sort("row")
    assert found["reasons"][0].startswith("whole record copied; another person has it too")


@pytest.mark.slow
def test_no_value_is_in_the_reasons():
    real = pl.DataFrame({"x": [7341.5 + i * i for i in range(60)], "job": ["secretvalue", "other"] * 30})
    report = divulge.assess(real, real, holdout=real.with_columns(pl.col("x") + 0.25), keys=["job"], targets=["x"])
    case = build_case(real, real, real)
    frame = per_record(case, [*report.results, *divulge.exposure.run(case)])
    told = " ".join(frame["reasons"])
    assert "disclosed" in told or "copied" in told
    assert "secretvalue" not in told
    assert "7341" not in told


def test_without_a_holdout_there_are_no_flags(tables):
    case = build_case(*tables[:2])
    results = divulge.exposure.run(case)
    frame = per_record(case, results)
    assert frame.columns == [*ALWAYS, *OF_EXPOSURE, "reasons"]
    assert frame["flagged"].null_count() == frame["p_value"].null_count() == 200
    assert frame["hit_score"].is_sorted(descending=True)
    assert "flagged" not in " ".join(frame["reasons"])
    summary = plain(_records_summary(frame, ExposedPeople(strangers=None), results))
    assert (summary["flagged"], summary["fdr"], summary["smallest_flaggable"]) == (None, None, None)


def test_without_exposure_its_columns_are_absent(case):
    results = exact(case)
    frame = per_record(case, results)
    assert frame.columns == [*ALWAYS, "reasons"]
    assert frame.filter("copied")["reasons"].to_list() == ["whole record copied"] * 20
    assert plain(_records_summary(frame, ExposedPeople(strangers=0.0), results))["flagged"] is None


def test_the_summary_counts_flags_and_says_how_few_could_be_flagged(case, results, frame):
    summary = plain(_records_summary(frame, ExposedPeople(strangers=0.0), results))
    assert summary["flagged"] == frame["flagged"].sum() == people_of(case).n_flagged
    assert (summary["n"], summary["fdr"], summary["smallest_flaggable"]) == (200, 0.1, 10)


def test_the_columns_that_were_compared_are_those_of_the_result(case):
    results = divulge.exposure.run(case, columns=["c0", "c1"], k=2)
    frame = per_record(case, results).sort("row")
    assert frame["exposure"].to_list() == people_of(case, columns=["c0", "c1"], k=2).real.outlierness.tolist()


def test_a_record_without_others_sorts_last():
    one = pl.DataFrame({"x": [1.0], "y": ["a"]})
    case = build_case(one, one, one)
    frame = per_record(case, divulge.exposure.run(case, columns=["x", "y"]))
    assert frame["exposure"].to_list() == [None]


@pytest.mark.slow
def test_row_order_changes_only_row_numbers(tables):
    order = np.random.default_rng(1).permutation(200)
    one, other = (
        per_record(c, [*exact(c), *divulge.exposure.run(c)])
        for c in (build_case(*tables), build_case(tables[0][order], *tables[1:]))
    )
    back = other.with_columns(row=pl.Series(order)[other["row"].to_list()])
    assert one.sort("row").equals(back.sort("row"))


def test_a_report_carries_them(case, results, frame):
    empty = plain(assessment({}))
    report = Report(assembled(
        version="0", settings=msgspec.convert(empty["settings"], Settings), started="", seconds=0, tables=msgspec.convert(empty["tables"], Tables), schema=Schema(()), bins={}, checks=[],
        results=results, failed=[], key_sets=[], minimal=[], notes=[], verdict=Overall(verdict="cannot tell", sentence=""),
        records=frame, exposed=ExposedPeople(strangers=0.0),
    ), tuple(results), frame)  # fmt: skip
    assert report.records() is frame
    assert report.data["records"]["flagged"] == frame["flagged"].sum()
    assert report.data["positive_control"] == []
    assert isinstance(next(r for r in results if r.variant == "hit").real, Rate)


def test_of_equal_caps_the_first_target_by_name_is_told():
    caps = [
        Result(attack="cap", target=target, individual=Individual(real=np.array([0.5, high])))
        for target, high in (("job", 0.2), ("age", 0.1))
    ]
    for order in (caps, caps[::-1]):
        best, of = _highest_cap(2, order)
        assert (best.tolist(), of.to_list()) == ([0.5, 0.2], ["age", "job"])


def test_the_three_questions_of_each_record():
    real = pl.DataFrame({"x": [1.0, 2.0, 3.0], "k": ["a", "b", "c"]})
    case = build_case(real, real)
    parts = [
        ("singling_out", "univariate", [0, 1, 0]),
        ("singling_out", "2 columns", [1, 1, 0]),
        ("linkability", "balanced halves, k = 1", [0.25, 0, 1]),
        ("linkability", "random halves, k = 1", [0.5, 0, 0]),
        ("linkability", "random halves, k = 10", [1, 1, 1]),
        ("inference", "nearest record", [1, 0.5, 0]),
        ("inference", "nearest record", [1, 1, 0]),
        ("inference", "model", [1, 1, 1]),
    ]
    scores = [Result(attack=a, variant=v, individual=Individual(real=np.array(s, float))) for a, v, s in parts]
    found = per_record(case, scores).sort("row")
    assert found["singled_out"].to_list() == [True, True, False]
    assert found["linked"].to_list() == [0.5, 0, 1]
    assert found["n_inferred"].to_list() == [2, 1, 0]
    assert found["reasons"].to_list() == ["", "", ""]  # strangers are singled out too
