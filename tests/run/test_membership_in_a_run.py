"""Membership inside a run: a leak that it alone sees, who is recognised, its bound, what is kept, the blind check."""

import dataclasses
from types import SimpleNamespace
from unittest.mock import patch

import msgspec
import numpy as np
import polars as pl
import pytest

import divulge
from divulge.attacks.membership import classifier_score
from divulge.attacks.membership.recognised import recognised
from divulge.attacks.membership.scores import PARTS, TESTED
from divulge.attacks.multiplicity import correct
from divulge.core.result import Individual, Rate, Result, Risk
from divulge.report import assembly
from divulge.report.prose import membership
from divulge.report.prose.bounds import SAME_PEOPLE, UNFAIR, cannot_tell
from divulge.report.prose.decision import decision
from divulge.run.judging.verdict import overall
from divulge.run.making.checkpoint_format import Checkpoint, from_bytes, to_bytes
from divulge.run.planning.primaries import bounds_of

COLUMNS = [f"c{j}" for j in range(30)]


@pytest.fixture(scope="module")
def margins():
    """A run on a table with the exact margins of the real one, and nothing else of it."""
    rng = np.random.default_rng(0)

    def people():
        return pl.DataFrame({c: [f"v{v}" for v in rng.integers(0, 4, 150)] for c in COLUMNS})

    real, holdout = people(), people()
    synthetic = pl.DataFrame({c: rng.permutation(real[c].to_numpy()) for c in COLUMNS})
    return divulge.assess(real, synthetic, holdout=holdout, keys=["c0"], targets=["c1"], models=False, jobs=1)


def alone(real, synthetic, holdout, **settings):
    with patch.object(classifier_score, "TREES", 10):
        return divulge.membership(real, synthetic, holdout=holdout, **settings)


def numbers(n, shift=0.0, copied=0.0, seed=0):
    """Real people, synthetic rows of which a share are copies, strangers; `shift` moves all but the strangers."""
    rng = np.random.default_rng(seed)
    real, synthetic, holdout = (
        pl.DataFrame({c: rng.normal(s, size=n) for c in "xyz"}) for s in (shift, shift, 0.0)
    )  # fmt: skip
    k = round(copied * n)
    return real, pl.concat([real[:k], synthetic[k:]]), holdout


# ---------------------------------------------------------------- a leak that it alone sees


@pytest.mark.slow
def test_exact_margins_are_seen_by_membership_alone(margins):
    assert margins.verdict == "excess found"
    assert {r.attack for r in margins.results if r.verdict in ("excess found", "deficit found")} == {"membership"}
    tile = next(t for t in decision(margins.assessment).tiles if t.id == "membership")
    assert (tile.state, [b.who for b in tile.bars]) == ("excess found", ["members", "strangers"])
    right, wrong = (round(100 * side.rate) for side in (tile.r.real, tile.r.holdout))
    said = f"With false alarms set to {wrong} in 100 strangers, an attacker recognises {right} of 100 members; chance gives {wrong}."
    assert tile.sentence == said
    assert "membership" not in [n["what"] for n in margins.data["not_tested"]]


@pytest.mark.slow
def test_people_are_recognised_whom_no_distance_gives_away(margins):
    records = margins.records()
    found = records.filter("recognised")
    assert len(found) == margins.data["records"]["recognised"] > 0
    assert not records["flagged"].any()
    assert set(found["recognised_by"]) <= set(PARTS)
    assert "3-way margins" in set(found["recognised_by"])
    assert records.filter(~pl.col("recognised"))["recognised_by"].null_count() == len(records) - len(found)
    told = found.filter(pl.col("recognised_by") == "3-way margins")["reasons"]
    assert told.str.contains("recognised as a member: its values on sets of three columns are commoner").all()
    assert records["recognised"][: len(found)].all()  # nobody is named: those recognised come first


@pytest.mark.slow
def test_an_external_edition_tells_rates_and_no_limits(margins):
    rows = [r for r in margins.external().data["results"] if r["attack"] == "membership"]
    assert {r["variant"] for r in rows} == set(TESTED)
    shown = [r for r in rows if r["real"]["hits"] is not None]
    assert shown and all(r["real"]["hits"] % 5 == 0 and r["holdout"]["hits"] == 15 for r in shown)
    for r in rows:
        assert set(r["context"].values()) <= {None}
        limits = {r["risk"][end] for end in ("low", "high", "low_simultaneous")}
        assert limits == {None} if r["verdict"] == "excess found" else True


# ---------------------------------------------------------------- bound, verdict, what is kept


def test_the_bound_is_the_interval_at_its_own_level():
    found = alone(*numbers(400), scores=["mean rank", "ratio"])
    (bound,) = bounds_of(found, 0.95)
    assert (bound.variant, bound.words, bound.primary, bound.why) == ("mean rank", "membership", True, "")
    assert bound.limit == pytest.approx(found[0].risk.high)  # the only primary comparison here


def test_the_acceptable_risk_of_the_run_decides():
    found = alone(*numbers(200), scores=["ratio"])
    case = SimpleNamespace(level=0.95)
    for acceptable, verdict in ((0.05, "cannot tell"), (0.5, "none found"), (0.05, "cannot tell")):
        found = correct(case, found, acceptable)
        assert found[0].verdict == verdict
        assert sum(n.startswith("cannot tell") for n in found[0].notes) == (verdict == "cannot tell")
    (one,), (many,) = (correct(case, found, 0.05, n) for n in (1, 15))
    assert one.smallest_detectable < many.smallest_detectable


def test_coarse_tables_would_hardly_show_a_copy():
    rng = np.random.default_rng(1)
    real, synthetic, holdout = (
        pl.DataFrame({"a": rng.integers(0, 2, 200), "b": rng.integers(0, 2, 200)}) for _ in "abc"
    )
    found = alone(real, synthetic, holdout, scores=["mean rank"])
    (bound,) = bounds_of(found, 0.95)
    assert bound.shown == 0  # every stranger has the record of a member
    assert (bound.primary, bound.bounded, found[0].score, found[0].verdict) == (False, False, None, "cannot tell")


def test_results_come_back_from_a_checkpoint():
    found = alone(*numbers(60, copied=0.3), scores=["ratio"])
    (back,), _ = from_bytes(to_bytes(Checkpoint(found, ()), "key"), "key")
    assert back.to_dict() == found[0].to_dict()
    for level in (0.9, 0.99):
        assert back.comparison.at(level) == found[0].comparison.at(level)
    assert back.comparison.corrected


def test_traces_are_told_as_traces():
    found = Result(
        attack="membership", variant="mean rank", real=Rate(hits=12.0, n=100, rate=0.12), counts="people",
        holdout=Rate(hits=10.0, n=100, rate=0.1), p_adjusted=0.002, verdict="excess found", context={"AUC": 0.58},
        hit="taken for members:", risk=Risk(value=0.02, low=-0.05, high=0.1, low_simultaneous=-0.08,
                                            high_simultaneous=0.13, level=0.95, method=""),
    )  # fmt: skip
    clear = msgspec.structs.replace(
        found, variant="ratio", risk=msgspec.structs.replace(found.risk, low_simultaneous=0.01)
    )
    told = overall([found], True, 0.95).sentence
    assert told.startswith("Excess found: by membership (mean rank), members score higher than strangers (AUC 0.58")
    assert "chance alone may give" in told and "at least" not in told
    assert "membership (ratio), taken for members: 12.0%" in overall([found, clear], True, 0.95).sentence


def measured(n=600, **context):
    """The result of a run on `n` strangers, with these numbers."""
    found = Result(
        attack="membership", variant="mean rank", real=Rate(hits=120.0, n=600, rate=0.2), counts="people",
        holdout=Rate(hits=n / 10, n=n, rate=0.1), p_adjusted=0.002, verdict="excess found", hit="taken for members:",
        context={f"{name}{end}": value for name, three in context.items()
                 for end, value in zip(("", ", lower limit", ", upper limit"), three, strict=True)},
    )  # fmt: skip
    return SimpleNamespace(**{f: getattr(found, f) for f in ("variant", "context", "real", "holdout", "risk")})


def test_a_report_says_what_could_have_been_seen():
    known = {"AUC": (0.6, 0.5, 0.7), "TPR at FPR 10%": (0.2, 0.1, 0.3), "TPR at FPR 1%": (0.03, 0.0, 0.05)}
    few = measured(200, **known, **{"TPR at FPR 0.1%": (None,) * 3, "smallest AUC found with 80% power": (0.55, 0, 0)})
    assert membership._numbers(few) == [
        "By mean rank, so many members are taken for members: 20.0% (10.0% to 30.0%) where 10% of strangers are; 3.0% "
        "(0.0% to 5.0%) where 1% of strangers are (a lower limit takes 368 strangers); not known where 0.1% of strangers "
        "are, which takes 3,688 strangers.",
        "A member scores higher than a stranger in 60.0% of pairs (50.0% to 70.0%); 50% is chance (AUC). With so many "
        "people, 55.0% or more is found with 80% power.",
    ]
    many = measured(4000, **known, **{"TPR at FPR 0.1%": (0.01, 0.001, 0.02), "membership advantage": (0.2, 0.1, 0.3)})
    told = membership._numbers(many)
    assert told[0].endswith("where 1% of strangers are; 1.0% (0.1% to 2.0%) where 0.1% of strangers are.")
    assert told[1].endswith("50% is chance (AUC).")  # an older file does not say what would be found
    assert told[2:] == [
        "In the upper half of all scores are 20.0 points more of the members than of the strangers (10.0 to 30.0; "
        "membership advantage)."
    ]


def test_a_report_says_who_is_given_away_by_no_distance():
    def said(recognised, others):
        return membership._people(SimpleNamespace(
            records=SimpleNamespace(n=100, recognised=recognised, recognised_not_near=others),
            tables=SimpleNamespace(real=SimpleNamespace(rows=100, units=None, linked=())),
        ))  # fmt: skip

    start = "40 people (40%) are recognised one by one; of those who are, at most 10% are expected by chance."
    assert said(40, 13) == f"{start} Of them 13 are given away by margins or the classifier and by no distance."
    assert said(40, 1).endswith("Of them 1 is given away by margins or the classifier and by no distance.")
    assert said(40, 0).endswith("Of them none are given away by margins or the classifier and by no distance.")
    assert said(40, None) == start
    assert said(0, 0).endswith("at most 10% are expected by chance.")


def test_flags_of_a_distance_are_counted_apart():
    records = pl.DataFrame({
        "recognised": [True, True, True, True, False], "flagged": [False, True, False, None, False],
        "recognised_by": ["hit", "classifier", "3-way margins", "classifier", None],
    })  # fmt: skip
    assert assembly._recognised(records) == {"recognised": 4, "recognised_not_near": 2}
    assert assembly._recognised(records.drop("flagged")) == {"recognised": 4, "recognised_not_near": 3}
    assert assembly._recognised(records.drop("recognised")) == {}


# ---------------------------------------------------------------- where the comparison is unfair


def test_members_who_differ_without_the_table_are_not_judged():
    found = alone(*numbers(300, shift=0.7))
    assert {r.verdict for r in found} == {"cannot tell"}
    (bound,) = bounds_of(found, 0.95)
    assert (bound.bounded, bound.limit, bound.people, bound.why) == (False, None, None, UNFAIR)
    assert recognised(found) is None
    other = dataclasses.replace(found[0].comparison, unfair="")
    told = cannot_tell([bound], "", 0, None, [], [], [], [], [])
    assert f"membership is not judged: {UNFAIR}" in told and "too uncertain" not in told
    assert np.isfinite(other.at(0.95)[1].high)


def test_people_in_both_tables_are_not_said_to_differ():
    real, synthetic, holdout = numbers(120)
    (bound,) = bounds_of(alone(real, synthetic, pl.concat([holdout[:60], real[:60]]), scores="mean rank"), 0.95)
    assert (bound.bounded, bound.limit, bound.why) == (False, None, SAME_PEOPLE)


# ---------------------------------------------------------------- who is recognised


def given(scores, members):
    """Results of `membership` with these scores, by name; the first `members` are members."""
    plain = SimpleNamespace(unfair="")
    return [
        Result(attack="membership", variant=name, individual=Individual(real=s[:members], holdout=s[members:]),
               comparison=plain)
        for name, s in scores.items()
    ]  # fmt: skip


def test_the_score_that_ranks_a_person_highest_is_named():
    rng = np.random.default_rng(2)
    scores = {name: rng.normal(size=200) for name in ("mean rank", *PARTS)}
    for i, name in enumerate(PARTS):
        scores[name][10 * i : 10 * i + 10] += 9
    scores["mean rank"][:40] += 9
    found = recognised(given(scores, 100))
    assert found.flagged[:40].all() and found.flagged.sum() <= 50
    assert [found.by[10 * i + 3] for i in range(4)] == list(PARTS)
    assert (found.p_value[:40] == 1 / 101).all()
    assert recognised(given({n: s for n, s in scores.items() if n != "hit"}, 100)) is None


def test_the_order_of_the_rows_does_not_matter():
    real, synthetic, holdout = numbers(120, copied=0.5)
    one = recognised(alone(real, synthetic, holdout))
    other = recognised(alone(real[::-1], synthetic[::-1], holdout[::-1]))
    assert one.flagged.any()
    assert one.flagged.tolist() == other.flagged[::-1].tolist()
    assert list(one.by) == list(other.by[::-1])


# ---------------------------------------------------------------- on request


def test_it_can_be_left_out(unsearched):
    assert not [r for r in unsearched.results if r.attack == "membership"]
    why = {n["attack"]: n["why"] for n in unsearched.data["not_run"]}
    assert why["membership"] == "whoever ran the assessment left it out"
    assert "membership" in [n["what"] for n in unsearched.data["not_tested"]]


@pytest.mark.slow
def test_it_ranks_candidates_by_the_places_of_people():
    real, synthetic, holdout = numbers(150, copied=0.5)
    found = divulge.compare(real, {"half": synthetic, "fresh": holdout[:0].vstack(numbers(150, seed=9)[1])},
                            holdout=holdout)  # fmt: skip
    attack = next(a for a in found.data["attacks"] if a["attack"] == "membership")
    assert attack["chosen"].startswith(
        "mean rank, as the share of strangers who score lower; the risk is then 2 AUC - 1"
    )
    cells = {c["label"]: c for c in attack["candidates"]}
    for name, report in ((n, found.reports[n][0]) for n in cells):
        first = next(r for r in report.data["results"] if r["variant"] == "mean rank")
        assert cells[name]["members"] == pytest.approx(first["context"]["AUC"])
        assert cells[name]["strangers"] == pytest.approx(0.5)
        assert cells[name]["risk"] == pytest.approx(2 * first["context"]["AUC"] - 1)
    assert cells["half"]["low"] > 0
