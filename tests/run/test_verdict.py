"""The overall verdict: findings, bounds of the primary comparisons, and what holds "none found" back. Made by hand."""

import re

import numpy as np
import polars as pl
import pytest
from msgspec.structs import replace

import divulge
from divulge.attacks.checks import SHOWN
from divulge.attacks.inference.mean_over_targets import MEAN, mean_over_targets
from divulge.case.case import build_case
from divulge.core.result import Baseline, Difference, Individual, Rate, Result, Risk
from divulge.report.model import LeftOut, NotCompared
from divulge.report.prose.bounds import holding
from divulge.run.assess import assess_with
from divulge.run.judging.scope import not_compared, without_strangers
from divulge.run.judging.verdict import Scope, overall
from divulge.run.planning.options import Attacker, Reading, RunOptions
from divulge.run.planning.primaries import bounds_of
from divulge.stats import Interval
from divulge.stats.intervals import normal_quantile


class Measured:
    """A comparison whose risk is 0 with a normal interval of a given standard error."""

    def __init__(self, error):
        self.error = error

    def at(self, level):
        half = normal_quantile(level) * self.error
        return Interval(0.0, -half, half), Interval(0.0, -half, half)


def compared(attack, variant, limit=0.02, verdict="none found", n=1000, **fields):
    """One result; its own simultaneous upper limit is `limit`, its single 95% limit 1 / 1.2 of that."""
    sign = -1 if verdict == "deficit found" else 1
    low = {"excess found": 0.01, "deficit found": -limit}.get(verdict, -limit)
    high = -0.01 if sign < 0 else limit
    risk = Risk(
        value=sign * 0.02, low=low, high=high, low_simultaneous=low, high_simultaneous=high, level=0.95, method="",
    )  # fmt: skip
    return Result(
        attack=attack, variant=variant, real=Rate(hits=40, n=n, rate=40 / n), holdout=Rate(hits=20, n=n, rate=20 / n),
        difference=Difference(value=sign * 0.02, low=low, high=high), risk=risk, verdict=verdict,
        comparison=Measured(limit / 1.2 / 1.96), **fields,
    )  # fmt: skip


PRIMARY = [
    compared("copies", "exact", 0.004),
    replace(compared("copies", "near", 0.006), real=Rate(hits=50, n=1000, rate=0.05)),
    compared("dcr", "nearness", 0.03),
    compared("linkability", "balanced halves, k = 1", 0.011),
    compared("inference", MEAN, 0.026),
]
SCREENED = [
    compared("singling_out", "univariate", 0.09, "cannot tell"),
    compared("inference", "nearest record", 0.12, "cannot tell", target="income"),
    compared("cap", "zero", 0.3, "cannot tell", keys=("age",), target="income"),
]


def told(results, **scope):
    return overall(results, True, 0.95, 0.05, Scope(**scope))


def test_screened_comparisons_do_not_hold_none_found_back():
    found = told(PRIMARY + SCREENED)
    assert found.verdict == "none found"
    assert found.screened == 3
    assert found.sentence.startswith("None of 8 comparisons shows an excess over strangers. Copies at most ")
    assert "inference on average over targets at most " in found.sentence
    assert "singling out (univariate) at most" in found.sentence and "people would bound it by 5.0%" in found.sentence
    assert "3 further comparisons were screened, not bounded; their largest limit is 30.0%" in found.sentence


@pytest.mark.parametrize("i", range(1, len(PRIMARY)))
def test_each_primary_comparison_holds_none_found_back(i):
    wide = [
        replace(compared(r.attack, r.variant, 0.2, "cannot tell"), real=r.real) if i == j else r
        for j, r in enumerate(PRIMARY)
    ]
    found = told(wide + SCREENED)
    assert found.verdict == "cannot tell"
    assert "1 of 5 primary comparisons is too uncertain to exclude one" in found.sentence
    assert "people would bound it by 5.0%" in found.sentence


def test_equal_rows_are_bounded_by_nearness_too_and_near_copies_where_they_are_equal_rows():
    """Both are limits of the share of copied members; all bounds hold together."""
    wide = [replace(compared(r.attack, r.variant, 0.2, "cannot tell"), real=r.real) for r in PRIMARY[:2]] + PRIMARY[2:]
    near = bounds_of(PRIMARY, 0.95)[2]
    exact, other, *_ = bounds_of(wide, 0.95)
    assert (exact.limit, exact.bounded, exact.people) == (near.limit, True, None) and not other.bounded
    coarse = [wide[0], replace(wide[1], real=wide[0].real, holdout=wide[0].holdout), *PRIMARY[2:]]
    assert [b.limit for b in bounds_of(coarse, 0.95)[:2]] == [near.limit] * 2
    assert told(coarse).verdict == "none found"
    blurred = [*coarse[:2], compared("dcr", "nearness", 0.1, "cannot tell"), *PRIMARY[3:]]
    exact, other, *_ = bounds_of(blurred, 0.95)
    assert exact.limit == other.limit == pytest.approx(0.1 / 1.2 / 1.96 * 2.32635, rel=1e-4) and exact.people
    assert bounds_of(PRIMARY, 0.95)[0].limit < near.limit  # its own is smaller


@pytest.mark.parametrize(("value", "p", "verdict"), [(0.03, 0.09, "cannot tell"), (0.03, 0.11, "none found"),
                                                     (-0.03, 0.01, "none found")])  # fmt: skip
def test_rows_that_lean_towards_members_hold_none_found_back(value, p, verdict):
    rows = compared("dcr", "attraction", 0.07, "cannot tell", p_value=p)
    rows = replace(rows, risk=replace(rows.risk, value=value))
    found = told([*PRIMARY, rows])
    assert (found.verdict, found.nearer) == (verdict, verdict == "cannot tell")
    assert ("synthetic rows lie nearest to members (dcr) more often" in found.sentence) == found.nearer


def test_a_policy_may_fix_which_bounds_are_needed():
    wide = [*PRIMARY[:3], compared("linkability", "balanced halves, k = 1", 0.3), PRIMARY[4]]
    assert told(wide).verdict == "cannot tell"
    found = told(wide, primary=["copies", "inference"])
    assert (found.verdict, found.required) == ("none found", ("copies", "inference"))
    assert [b.attack for b in found.bounds if b.primary] == ["copies", "copies", "inference"]
    assert found.sentence.endswith(" A policy asks for bounds of copies, inference on average over targets.")
    assert told(PRIMARY, primary=["copies", "inference", "membership"]).verdict == "cannot tell"
    assert "not tested: membership" in told(PRIMARY, primary=["copies", "inference", "membership"]).sentence
    alone = told(PRIMARY + SCREENED, primary=["copies", "inference", "singling_out"])
    assert alone.verdict == "cannot tell" and "1 of 4 primary comparisons is too uncertain" in alone.sentence


@pytest.mark.parametrize(("required", "lacks"), [
    (["copies"], "inference"), (["inference", "dcr"], "copies"), (["dcr", "linkability"], "copies and inference"),
])  # fmt: skip
def test_a_list_without_copies_or_inference_clears_nothing(required, lacks):
    found = told(PRIMARY, primary=required)
    assert found.verdict == "cannot tell"
    assert f"a policy asks for no bound of {lacks}, without which nothing is cleared" in found.sentence
    assert "too coarse" not in found.sentence
    assert (
        told([compared("copies", "exact", 0.3, "excess found"), *PRIMARY[1:]], primary=required).verdict
        == "excess found"
    )


def test_a_policy_may_accept_another_limit_and_the_sentence_says_so():
    wide = [*PRIMARY[:2], compared("dcr", "nearness", 0.07, "cannot tell"), *PRIMARY[3:]]
    assert told(wide).verdict == "cannot tell"
    found = told(wide, accepted={"dcr": 0.1})
    (bound,) = (b for b in found.bounds if b.attack == "dcr")
    assert (found.verdict, bound.bounded, bound.acceptable, bound.people) == ("none found", True, 0.1, None)
    assert found.sentence.endswith(" A policy accepts nearness up to 10.0%.")
    assert told(PRIMARY, accepted={"dcr": 0.02}).verdict == "cannot tell"  # a smaller one may be asked for, too
    # equal rows have the bound of nearness, and the limit of copies
    copied = [compared("copies", "exact", 0.3, "cannot tell"), *wide[1:]]
    assert not told(copied, accepted={"dcr": 0.1}).bounds[0].bounded


@pytest.mark.slow
def test_a_policy_of_a_run_reaches_its_verdict():
    real, synthetic, holdout = (people(150, seed) for seed in (1, 2, 3))
    plain = {"search": "off", "models": False, "membership": False, "fidelity": False}
    options = RunOptions(**plain, primary=["copies", "inference"], accepted={"copies": 0.2, "inference": 0.9})
    run = assess_with(real, synthetic, holdout, Attacker(), Reading(), options).data["verdict"]
    assert run["required"] == ["copies", "inference"] and "A policy accepts copies up to 20.0%" in run["sentence"]
    assert {b["attack"] for b in run["bounds"] if b["primary"]} == {"copies", "inference"}
    assert {b["acceptable"] for b in run["bounds"]} == {0.2, 0.9, None}
    usual = divulge.assess(real, synthetic, holdout=holdout, **plain).data["verdict"]
    assert [b["limit"] for b in usual["bounds"]] == [b["limit"] for b in run["bounds"]]
    assert usual["required"] == [] and "policy" not in usual["sentence"]


def test_bounds_hold_together():
    """Six upper limits at 95% together are six at 1 - .05 / 6 on one side each: 2.394 standard errors."""
    bounds = bounds_of(PRIMARY + SCREENED, 0.95)
    assert [b.primary for b in bounds] == [True, True, True, False, True, True]
    assert bounds[0].limit == pytest.approx(0.004 / 1.2 / 1.96 * 2.393980, rel=1e-5)


def test_a_limit_is_divided_by_what_a_full_copy_would_show():
    half = [replace(r, context={SHOWN: 0.5}) for r in PRIMARY]
    assert bounds_of(half, 0.95)[0].limit == pytest.approx(2 * bounds_of(PRIMARY, 0.95)[0].limit)
    assert told(half).verdict == "cannot tell"  # dcr at .03 / .5 and the mean over targets at .026 / .5


def test_a_limit_that_excludes_nothing_is_no_bound():
    """A limit of .09 / 1.2 * 2.39 / 1.96, of which .09 would show, is 1.02: everybody may be singled out."""
    blurred = [*PRIMARY, replace(SCREENED[0], context={SHOWN: 0.09})]
    (bound,) = (b for b in bounds_of(blurred, 0.95) if b.attack == "singling_out")
    assert (bound.limit, bound.bounded) == (None, False)
    assert "singling out (univariate) not bounded" in told(blurred).sentence


def test_a_comparison_that_would_hardly_see_a_full_copy_is_no_primary():
    blind = [replace(r, context={SHOWN: 0.1}) if r.attack != "copies" else r for r in PRIMARY]
    found = told(blind)
    assert found.verdict == "none found" and sum(b.primary for b in found.bounds) == 2
    alone = told([*blind[1:], replace(blind[0], context={SHOWN: 0.1})])
    assert alone.verdict == "cannot tell" and "the table is too coarse for these comparisons" in alone.sentence


def test_the_user_s_own_targets_and_keys_are_primary():
    two = Attacker(targets=["income", "job"])
    named = told(PRIMARY + SCREENED, attacker=two)
    assert named.verdict == "cannot tell"
    assert {(b.attack, b.variant) for b in named.bounds if b.target == "income"} == {("inference", "nearest record")}
    both = told(PRIMARY + SCREENED, attacker=Attacker(keys=["age"], targets=two.targets))
    assert {b.attack for b in both.bounds if b.target == "income"} == {"inference", "cap"}
    assert told(PRIMARY + SCREENED, attacker=Attacker(targets=["sex", "job"])).verdict == "none found"
    # with one target the mean over targets is that target
    assert told(PRIMARY + SCREENED, attacker=Attacker(targets=["income"])).verdict == "none found"


def test_a_finding_among_the_screened_is_a_finding():
    found = told([*PRIMARY, compared("cap", "zero", 0.3, "excess found", keys=("age",), target="income")])
    assert found.verdict == "excess found" and found.sentence.startswith("Excess found: knowing age, the attack cap")


def test_counts_that_are_too_close_hold_none_found_back_and_change_no_finding():
    found = told(PRIMARY + SCREENED, too_close=True)
    assert (told(PRIMARY + SCREENED).verdict, found.verdict) == ("none found", "cannot tell")
    assert found.sentence.startswith(
        "No excess over strangers was found, but the counts or correlations of pairs of columns are closer"
    )
    copied = compared("copies", "exact", 0.3, "excess found")
    assert told([copied, *PRIMARY[1:]], too_close=True) == told([copied, *PRIMARY[1:]])
    wide = told([*PRIMARY[:4], compared("inference", MEAN, 0.3)], too_close=True)
    assert "closer to the real table" in wide.sentence and "too uncertain" in wide.sentence


def test_a_primary_finding_is_told_before_a_clearer_one_among_the_screened():
    clear = compared("singling_out", "univariate", 0.5, "excess found")
    clear = replace(clear, risk=replace(clear.risk, low_simultaneous=0.4))
    copied = compared("copies", "exact", 0.3, "excess found")
    assert "singling_out (univariate)" in told([*PRIMARY, clear]).sentence
    assert "copies (exact)" in told([copied, *PRIMARY[1:], clear]).sentence


def test_a_deficit_is_a_finding_of_its_own():
    missing = compared("copies", "exact", 0.3, "deficit found")
    found = told([missing, *PRIMARY[1:]])
    assert found.verdict == "deficit found"
    assert found.sentence.startswith(
        "Deficit found: rows near to members are missing; absence tells who is a member (copies (exact), 4.0% of "
        "members and 2.0% of strangers; risk -0.020, at most -0.010, 95% simultaneous over the 2 comparisons"
    )
    less = compared("inference", "CAP", 0.3, "deficit found", target="income")
    assert "members are hit less often than strangers" in told([*PRIMARY, less]).sentence
    assert told([missing, *PRIMARY[1:], compared("dcr", "x", 0.3, "excess found")]).verdict == "excess found"


def test_traces_and_deficits_of_rows_are_told_of_rows():
    less = compared("inference", "CAP", 0.3, "deficit found", target="income")
    traces = replace(less, attack="membership", target=None, verdict="excess found")
    for one, said in ((less, "are hit less often than rows of strangers"), (traces, "score higher than rows of str")):
        of_rows = replace(one, real=replace(one.real, units=40), holdout=replace(one.holdout, units=41))
        sentence = told([*PRIMARY, of_rows]).sentence
        assert f"rows of members {said}" in sentence
        assert len(re.findall(r"(?<!rows of )\b(members|strangers)\b", sentence)) == 0
        assert "rows of" not in told([*PRIMARY, one]).sentence


def test_one_person_s_repeated_record_is_a_finding():
    said = "The record of one person, a member, stands 20 times."
    assert told(PRIMARY, person=said).verdict == "excess found"
    assert told(PRIMARY, person=said).sentence == "Excess found: the record of one person, a member, stands 20 times."
    assert told(PRIMARY, person=said, failing=["exchangeable"]).verdict == "cannot tell"


@pytest.mark.parametrize("check", ["no overlap", "exchangeable", "holdout unseen", "rows belong together"])
def test_where_the_comparison_does_not_hold_nothing_follows(check):
    for results in (PRIMARY, [compared("copies", "exact", 0.3, "excess found"), *PRIMARY[1:]]):
        found = told(results, failing=["units apart", check])
        assert found.verdict == "cannot tell"
        assert found.sentence.startswith(f"The comparison does not hold ({check}), so that nothing follows either way")


def test_another_failing_precondition_holds_none_found_back_and_leaves_a_finding():
    assert told(PRIMARY, failing=["units apart"]).verdict == "cannot tell"
    found = told([compared("copies", "exact", 0.3, "excess found"), *PRIMARY[1:]], failing=["units apart"])
    assert found.verdict == "excess found"
    assert found.sentence.endswith("But a precondition fails (units apart): see there before relying on this.")


@pytest.mark.parametrize("attack", ["copies", "dcr", "linkability", "inference"])
def test_none_found_is_never_said_without_each_attack_that_has_primaries(attack):
    rest = [r for r in PRIMARY if r.attack != attack]
    gap = [LeftOut(attack=attack, n=4, of=4, why="the time was up")]
    late = told(rest, left_out=gap, planned=[attack])
    assert late.verdict == "cannot tell" and f"not tested: as the time was up, {attack}." in late.sentence
    part = told(PRIMARY, left_out=[replace(gap[0], n=3)], planned=[attack])
    assert part.verdict == "none found" and part.sentence.endswith(f"Tests were left out: 3 of 4 of {attack}.")
    silent = told(rest, planned=[attack])  # it failed, or nobody could be attacked
    assert silent.verdict == "cannot tell" and f"not tested: {attack}." in silent.sentence
    assert told(PRIMARY, left_out=[LeftOut(attack="nnaa", n=1, of=1, why="")], planned=["nnaa"]).verdict == (
        "none found"
    )


def test_columns_without_strangers_hold_none_found_back():
    found = told(PRIMARY, without_strangers=["name"])
    assert found.verdict == "cannot tell" and "the holdout lacks 'name'" in found.sentence


def test_what_recurs_of_a_column_without_strangers_is_on_the_first_screen():
    alone = Result(
        attack="copies",
        variant="one column",
        keys=("name",),
        real=Rate(hits=900, n=1000, rate=0.9),
        verdict="no holdout",
    )
    found = told([*PRIMARY, alone], without_strangers=["name"])
    assert found.sentence.endswith(" The synthetic table holds the value of 'name' of 900 of 1,000 people.")
    assert "holds the value" not in told(PRIMARY, without_strangers=["name"]).sentence


def test_a_finding_by_row_order_says_what_agrees_with_what():
    rows = replace(
        compared("copies", "row order", verdict="excess found"), holdout=None,
        real=Rate(hits=600, n=1000, rate=0.6), baseline=Baseline(rate=0.5, what="rows a few places apart"),
    )  # fmt: skip
    said = told([*PRIMARY, rows]).sentence
    assert "members' values agree in 60.0% with the synthetic row, 50.0% with rows a few places apart; risk" in said


def test_no_number_of_people_is_given_for_a_limit_that_was_cut_at_one():
    class Cut:
        def at(self, level):
            return Interval(1.0, 0.0, 1.0), Interval(1.0, 0.0, 1.0)

    (cut,) = bounds_of([replace(PRIMARY[0], comparison=Cut())], 0.95)
    assert cut.limit is None and cut.people is None


def test_columns_that_are_not_compared_are_named():
    found = told(PRIMARY, not_compared=[NotCompared(column="note\x07", why="ignored")])
    assert found.verdict == "none found"
    assert found.sentence.endswith("Not compared with strangers: 'note�' (ignored).")


def test_nothing_compared_is_never_none_found():
    assert told([]).verdict == "cannot tell"
    assert overall(PRIMARY, False, 0.95).verdict == "no holdout"


# ---------------------------------------------------------------- the mean over targets


def people(n, seed):
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 4, n)
    return pl.DataFrame(
        {"a": a, "b": (a + rng.integers(0, 2, n)) % 4, "c": rng.integers(0, 3, n), "x": rng.normal(size=n)}
    )


def test_the_mean_over_targets_is_the_mean_of_the_scores():
    case = build_case(people(120, 1), people(120, 2), people(120, 3))
    each = [divulge.inference.run(case, target=t, ways=["nearest record"])[0] for t in "abc"]
    (found,) = mean_over_targets(case, each)
    by_hand = np.mean([r.individual.real for r in each], axis=0)
    assert np.abs(found.individual.real - by_hand).max() < 1e-9
    assert found.real.rate == pytest.approx(by_hand.mean()) and found.verdict is not None
    again, *_ = mean_over_targets(case, each[::-1])
    assert again.risk == found.risk and (again.individual.real == found.individual.real).all()


def test_the_mean_over_targets_needs_strangers_and_targets():
    alone = build_case(people(50, 1), people(50, 2))
    assert mean_over_targets(alone, divulge.inference.run(alone, target="a", ways=["nearest record"])) == ()
    case = build_case(people(50, 1), people(50, 2), people(50, 3))
    assert mean_over_targets(case, []) == ()
    assert mean_over_targets(case, divulge.inference.run(case, target="a", ways=["CAP"])) == ()


def test_what_a_full_copy_shows_in_the_mean_is_weighted_by_who_is_left_to_be_wrong():
    """Residuals .8 and .2 at strangers' rates .5 and .75: (.8 * .5 + .2 * .25) / (.5 + .25) = .6."""
    case = build_case(people(4, 1), people(4, 2), people(4, 3))
    key = "risk that a full copy of the real table would have"
    scores = Individual(real=np.array([1.0, 0, 1, 0]), holdout=np.array([1.0, 0, 1, 0]))
    found = mean_over_targets(
        case,
        [
            Result(attack="inference", variant="nearest record", target=t, individual=scores, context={key: shown},
                   holdout=Rate(hits=4 * rate, n=4, rate=rate))
            for t, shown, rate in (("a", 0.8, 0.5), ("b", 0.2, 0.75))
        ],
    )  # fmt: skip
    assert found[0].context[SHOWN] == pytest.approx(0.6)


@pytest.mark.parametrize("share", [0.4, 1.0])
def test_a_clean_table_whose_holdout_holds_training_rows_is_no_finding(share):
    rng = np.random.default_rng(4)
    real, synthetic, fresh = (
        pl.DataFrame({f"x{j}": rng.normal(size=n) for j in range(4)} | {"c": rng.choice(list("abc"), n)})
        for n in (300, 300, 100)
    )
    both = round(100 * share)
    holdout = pl.concat([real[:both], fresh[both:]])
    report = divulge.assess(
        real, synthetic, holdout=holdout, models=False, fidelity=False, search="off", membership=False
    )
    assert share < 1 or any(r.verdict == "excess found" for r in report.results)
    assert report.verdict == "cannot tell"
    assert "The comparison does not hold (no overlap)" in report.to_dict()["verdict"]["sentence"]


@pytest.mark.parametrize(
    ("column", "held"),
    [("number", False), ("name", True), ("name, none of them copied", False)],
)
def test_an_ignored_column_that_the_holdout_lacks_holds_the_verdict_where_people_recur(column, held):
    people = pl.DataFrame({"a": [i % 7 for i in range(40)]})
    told = {"number": range(40), "name": [f"person {i}" for i in range(40)]}.get(column, [f"x{i}" for i in range(40)])
    real = people.with_columns(extra=pl.Series(told))
    other = real.with_columns(extra=pl.Series([f"y{i}" for i in range(40)])) if "none" in column else real
    for ignore in ([], ["extra"]):
        case = build_case(real, other, people, ignore=ignore)
        results = divulge.copies.run(case)
        assert without_strangers(case, results) == (["extra"] if held or not ignore else [])
        told = {c.column: c.why for c in not_compared(case, Attacker(), results)}
        assert told.get("extra") == ("ignored" if ignore else None)


@pytest.mark.parametrize("ignore", [(), ("extra",)])
def test_an_ignored_column_of_the_synthetic_table_alone_holds_nothing_back(ignore):
    people = pl.DataFrame({"a": [i % 7 for i in range(40)]})
    case = build_case(
        people, people.with_columns(extra=pl.lit("x") + pl.col("a").cast(pl.String)), people, ignore=ignore
    )
    told = not_compared(case, Attacker(), [])
    assert {c.column: c.why for c in told}["extra"] == ("ignored" if ignore else "the real table has no such column")
    assert bool(holding(told)) == (not ignore)
