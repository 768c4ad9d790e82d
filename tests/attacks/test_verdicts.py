"""What a verdict needs: bounds and p-values that say so, and what holds one back."""

import math

import numpy as np
import polars as pl
import pytest
from msgspec.structs import replace

import divulge
from divulge.attacks.checks import INFERENCE_ONLY, conclude, hold_back, in_doubt, judge, verdict_of
from divulge.attacks.multiplicity import correct
from divulge.case.case import build_case
from divulge.core.result import Difference, Result, Risk
from divulge.run.judging.verdict import adjust_across_families
from divulge.stats import Interval, Outcomes, compare
from divulge.stats.pairing import lagged


def interval(low, high):
    return Interval((low + high) / 2, low, high)


ABOVE, ACROSS = interval(0.01, 0.2), interval(-0.01, 0.04)


@pytest.mark.parametrize(
    ("difference", "risk", "p_adjusted", "expected"),
    [
        (ABOVE, interval(0.01, 0.2), 0.05, "excess found"),
        (ABOVE, interval(0.01, 0.2), 0.0501, "cannot tell"),  # the bound alone is not enough
        (ABOVE, interval(0.01, 0.2), None, "cannot tell"),
        (ACROSS, interval(-0.01, 0.2), 0.001, "cannot tell"),  # nor is the p-value
        (interval(0.0, 0.2), interval(0.0, 0.2), 0.001, "cannot tell"),
        (ACROSS, interval(-0.01, 0.05), 0.3, "none found"),
        (ACROSS, interval(-0.01, 0.0501), 0.3, "cannot tell"),
        (ABOVE, interval(0.01, 0.04), 0.2, "cannot tell"),  # small, but above 0
        (ACROSS, Interval(math.nan, math.nan, math.nan), 0.3, "cannot tell"),
        (ACROSS, interval(-1, math.inf), 0.3, "cannot tell"),
        (interval(-0.2, -0.01), interval(-0.3, -0.01), 0.05, "deficit found"),
        (interval(-0.2, -0.01), interval(-0.3, -0.01), 0.0501, "none found"),
        (interval(-0.2, -0.01), interval(-0.3, 0.01), 0.001, "none found"),
        (interval(-0.2, 0.01), interval(-0.3, -0.01), 0.001, "none found"),
        (interval(-0.2, 0.01), interval(-0.3, 0.1), 0.001, "cannot tell"),
    ],
)
def test_a_finding_needs_its_bound_and_its_p_value(difference, risk, p_adjusted, expected):
    assert verdict_of(difference, risk, p_adjusted, 0.05, 0.05) == expected


def test_the_p_value_is_held_against_the_level():
    assert verdict_of(ABOVE, ABOVE, 0.08, 0.1, 0.05) == "excess found"
    assert verdict_of(ABOVE, ABOVE, 0.02, 0.01, 0.05) == "cannot tell"


def result(attack, verdict, p_adjusted, **more):
    risk = Risk(value=0.1, low=0.05, high=0.2, low_simultaneous=0.05, high_simultaneous=0.2, level=0.95, method="")
    difference = Difference(value=0.1, low=0.05, high=0.2)
    return Result(
        attack=attack, risk=risk, difference=difference, verdict=verdict, p_adjusted=p_adjusted,
        comparison=object(), **more,
    )  # fmt: skip


def test_a_verdict_held_back_says_why_and_forgets_the_old_reasons():
    old = result("cap", "none found", 0.5, notes=("binned", INFERENCE_ONLY, "cannot tell: y"))
    found = hold_back(old, "because")
    assert (found.verdict, found.notes) == ("cannot tell", ("binned", "cannot tell: because"))
    assert replace(found, verdict=old.verdict, notes=old.notes) == old


def test_findings_are_corrected_for_the_number_of_attacks():
    """Of four attacks Holm asks p <= .0125 of the best, then .0167."""
    results = [
        result("cap", "excess found", 0.010),
        result("cap", "excess found", 0.030),  # goes with its attack, whose family was corrected before
        result("disco", "excess found", 0.020),
        result("copies", "none found", 0.001),  # no finding: a small p of a deficit counts for nothing
        result("tcap", "cannot tell", 0.3),
        Result(attack="weap"),
    ]
    found = adjust_across_families(results, 0.95)
    assert [r.verdict for r in found] == [
        "excess found",
        "excess found",
        "cannot tell",
        "none found",
        "cannot tell",
        None,
    ]
    assert any("not after correction for the number of attacks" in n for n in found[2].notes)
    assert found[0] == results[0]
    assert adjust_across_families(results, 0.9) == results  # .1 / 3 is more than .02
    assert [r.verdict for r in adjust_across_families(results[2:3], 0.95)] == ["excess found"]


def test_a_deficit_is_corrected_like_an_excess():
    results = [
        result("cap", "deficit found", 0.010),
        result("dcr", "deficit found", 0.04),
        result("x", "none found", 1),
    ]
    found = adjust_across_families(results, 0.95)
    assert [r.verdict for r in found] == ["deficit found", "cannot tell", "none found"]
    assert found[1].notes[-1].startswith("cannot tell: a deficit was found within this attack, but not after")


def test_rows_removed_near_members_are_a_deficit_and_lower_the_score():
    """0 of 300 members and 60 of 300 strangers stand in the table: a filter removed what equals a member."""
    numbers = np.arange(900) / 7
    real, strangers = (pl.DataFrame({"x": numbers[k : k + 300]}) for k in (0, 300))
    synthetic = pl.DataFrame({"x": np.concatenate([numbers[300:360], numbers[600:840]])})
    found = divulge.copies.run(build_case(real, synthetic, strangers), variants=["exact"])[0]
    assert found.verdict == "deficit found" and found.risk.value == pytest.approx(-0.25)
    assert found.score == pytest.approx(100 * (1 + found.risk.low)) and found.score < 75
    assert any(n.startswith("members are met less often than strangers") for n in found.notes)


def test_a_failing_precondition_takes_the_all_clear_away():
    results = [result("cap", "none found", 0.5), result("disco", "excess found", 0.01), result("x", "cannot tell", 0.5)]
    found = in_doubt(results, ["no overlap", "exchangeable"])
    assert [r.verdict for r in found] == ["cannot tell", "excess found", "cannot tell"]
    assert found[0].notes == (
        "cannot tell: a precondition fails (no overlap, exchangeable), so that nothing is bounded",
    )
    assert found[1:] == results[1:]
    assert in_doubt(results, []) == results


def judged(hits, n, strangers, m):
    sides = (Outcomes(np.array([1.0, 0.0]), count=np.array([k, of - k])) for k, of in ((hits, n), (strangers, m)))
    return judge(Result(attack="copies"), compare(*sides, rng=np.random.default_rng(0)), 0.95)


@pytest.mark.parametrize(
    ("tables", "why"),
    [
        # Newcombe's lower limit is .0001, Fisher's p .062
        ((5, 2000, 0, 2000), "the interval of the difference lies above 0, but the p-value shows no excess"),
        # -.00004 and .044
        ((24, 2000, 1, 500), "the p-value shows an excess, but the interval of the difference reaches 0"),
    ],
)
def test_limits_and_p_value_that_disagree_are_the_reason(tables, why):
    """The upper limit of the risk is .006 or .016: a wide interval is not the reason."""
    found = judged(*tables)
    assert found.verdict == "cannot tell" and found.risk.high < 0.02
    assert found.notes == (f"cannot tell: limits and p-value disagree; {why}",)
    assert ((found.difference.low > 0), (found.p_adjusted <= 0.05)) in ((True, False), (False, True))


def test_a_risk_that_reaches_0_is_the_reason():
    found = conclude(
        replace(judged(30, 200, 10, 200), p_adjusted=0.01), interval(0.01, 0.1), interval(-0.01, 0.04), 0.05
    )
    assert found.notes == (
        "cannot tell: limits and p-value disagree; p-value and difference show an excess, but the interval of the risk "
        "reaches 0",
    )


def test_an_interval_too_wide_is_the_reason_where_nothing_disagrees():
    (note,) = judged(10, 100, 9, 100).notes
    assert note.startswith("cannot tell: the interval is too wide; about ")


def few(n, seed=0):
    rng = np.random.default_rng(seed)
    return pl.DataFrame({"x": rng.normal(size=n), "c": rng.integers(0, 3, n).astype(str)})


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_limits_that_would_leave_what_is_possible_are_told_as_too_few_rows(rows):
    """Three synthetic rows had the limits -0.132 and 2.132 for the share of them that is copied."""
    found = divulge.dcr(few(50, 1), few(rows, 2), holdout=few(50, 3))[0]
    assert found.verdict == "cannot tell" and found.risk.value is not None
    assert {found.risk.low, found.risk.high, found.difference.low, found.risk.high_simultaneous, found.score} == {None}
    assert found.notes[-1].startswith("cannot tell: too few people or synthetic rows for limits")


def test_limits_of_a_copied_table_stay():
    real = few(40, 1)
    found = divulge.dcr(real, real, holdout=few(40, 3))[0]
    assert found.verdict == "excess found" and 0 < found.risk.low <= found.risk.high <= 1


def test_no_limit_lies_beyond_what_is_possible():
    from divulge.stats.attraction import attraction

    rng = np.random.default_rng(0)
    for n, m, rows in ((3, 2, 4), (10, 40, 3), (40, 10, 12), (60, 60, 30)):
        c = rng.multinomial(rows, np.full(n + m, 1 / (n + m))).astype(float)
        found = attraction(c[:n], c[n:], rows, rng=rng)
        scores = [Outcomes(rng.random(k) ** 3, cluster=rng.integers(0, 3, k)) for k in (n, m)]
        for one in (found, compare(*scores, rng=rng)):
            least, most = one.possible
            for level in (0.9, 0.95, 0.9999):
                difference, risk = one.at(level)
                assert least - 1e-12 <= difference.low <= difference.value <= difference.high <= most + 1e-12
                assert risk.high <= 1 and one.leak_free(level).high <= 1
        assert found.risk.low >= -n / m - 1e-12


def test_a_run_on_three_rows_prints():
    report = divulge.assess(few(40, 1), few(3, 2), holdout=few(40, 3), search="off", models=False)
    assert report.verdict == "cannot tell"
    assert "too few people or synthetic rows" in report.to_html()
    assert report.to_markdown() and report.external().to_html()


def test_results_of_a_family_keep_their_numbers_in_any_order():
    rng = np.random.default_rng(0)
    real, synthetic, holdout = (
        pl.DataFrame({c: rng.integers(0, k, 60).astype(str) for c, k in zip("kabc", (9, 2, 3, 5), strict=True)})
        for _ in range(3)
    )
    synthetic = synthetic.with_columns(k=real["k"], a=real["a"])
    case = build_case(real, synthetic, holdout)
    alone = {
        t: divulge.modal_guess(real, synthetic, holdout=holdout, keys=["k"], target=t, unseen="zero") for t in "abc"
    }
    found = [{r.target: r.p_adjusted for r in correct(case, [alone[t] for t in order])} for order in ("abc", "bca")]
    assert found[0] == found[1]
    assert len(set(found[0].values())) == 3


def test_limits_of_paired_rows_hold_together():
    rng = np.random.default_rng(1)
    pairs = [[rng.integers(0, 5, 200) for _ in range(2)] for _ in range(2)]
    alone = [lagged([a], [b], [1]) for a, b in pairs]
    results = [
        judge(Result(attack="copies", variant="linked", keys=(k,)), p, 0.95) for k, p in zip("ab", alone, strict=True)
    ]
    together = correct(build_case(pl.DataFrame({"a": [1, 2]}), pl.DataFrame({"a": [1, 2]})), results)
    for paired, result in zip(alone, together, strict=True):
        assert result.risk.high_simultaneous == pytest.approx(paired.at(0.975)[1].high)
        assert result.risk.high_simultaneous > result.risk.high
