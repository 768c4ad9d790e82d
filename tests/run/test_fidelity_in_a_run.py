"""Fidelity as a part of an assessment: what is measured, what is listed as not compared, and what leaves the house."""

import dataclasses
import json

import numpy as np
import polars as pl
import pytest
from msgspec.structs import replace

import divulge
from divulge.case.case import build_case
from divulge.measures.catalogue import all_measures
from divulge.measures.marginals import marginals
from divulge.measures.registry import REGISTRY
from divulge.measures.result import FidelityResult
from divulge.measures.too_close import drawn_ruler, too_close
from divulge.report.fidelity_model import LONG
from divulge.run.cost.budget import Clock
from divulge.run.cost.expected_cost import Work, expected_long, work_of
from divulge.run.fidelity_in_run import fidelity_in_run
from divulge.run.planning.options import RunOptions

COUNTED = ["column_shapes", "column_pairs", "correlations", "missing_patterns", "tails", "coverage", "validity",
           "column_rules"]  # fmt: skip
FEW = {"models": False, "membership": False, "search": "off", "jobs": 1}


def people(seed, n=200, shift=0.0):
    rng = np.random.default_rng(seed)
    job = rng.integers(0, 4, n)
    home = np.where(rng.random(n) < 0.8, job % 2, rng.integers(0, 2, n))
    return pl.DataFrame(
        {
            "age": (rng.gamma(9, 4, n) + shift).round(1),
            "job": [f"hushed{v}" for v in job],
            "home": [f"private{v}" for v in home],
            "id": [f"p{seed}-{i}" for i in range(n)],
        }
    )


@pytest.fixture(scope="module")
def report():
    return divulge.assess(people(1), people(2, shift=9), holdout=people(3), **FEW)


def test_a_run_has_the_counted_measures_and_lists_the_others(report):
    data = report.assessment
    assert list(dict.fromkeys(r.measure for r in data.fidelity)) == COUNTED
    head = data.fidelity[0]
    assert (head.measure, head.verdict, head.columns) == ("column_shapes", "differs", ())
    assert head.holdout is not None and head.fresh_sample.high < head.value
    scope = data.fidelity_scope
    assert (scope.too_close, scope.tolerance, scope.warnings) == (False, 0.05, ())
    silent = {n.measure: n.why for n in scope.not_measured}
    assert silent["missing_patterns"] == "no value is missing in a compared column"
    assert silent["subgroups"] == "no subgroups were named"
    assert {n for n, m in REGISTRY.items() if m.models} < set(silent)
    assert [(c.column, c.why) for c in scope.not_compared] == [("id", "an identifier")]


def test_the_numbers_are_those_of_the_function(report):
    alone = divulge.column_pairs(people(1), people(2, shift=9), holdout=people(3))
    in_run = [r for r in report.assessment.fidelity if r.measure == "column_pairs"]
    assert [(r.columns, r.value, r.fresh_sample, r.p_value) for r in in_run] == [
        (r.columns, r.value, r.fresh_sample, r.p_value) for r in alone
    ]
    # six measures have p-values here
    assert all(a.p_adjusted <= b.p_adjusted <= 6 * a.p_adjusted for a, b in zip(alone, in_run, strict=True))


def test_the_tolerance_is_the_users():
    case = build_case(people(1, 60), people(2, 60))
    found = fidelity_in_run(
        case, models=False, groups=(), targets=None, work=work_of(case, (), RunOptions()), tolerance=0.3,
        clock=Clock.start(None), progress=lambda *of: None,
    )  # fmt: skip
    assert found.scope.tolerance == 0.3 and found.results[0].tolerance == 0.3
    with pytest.raises(divulge.SettingError, match="tolerance: this is no number"):
        divulge.assess(people(1, 60), people(2, 60), tolerance=1)


@pytest.mark.parametrize(
    ("rows", "columns", "attacks", "long"),
    [
        (39_000, 15, False, False),  # measured beside the other counted measures: .04 of .4 CPU seconds
        (100_000, 50, False, False),  # .6 of 7
        (2_000_000, 15, False, False),  # .3 of 5
        (2_000_000, 100, False, True),
        (2_000_000, 100, True, False),
    ],
)
def test_rules_between_columns_are_looked_for_where_that_is_little_of_the_run(rows, columns, attacks, long):
    work = Work(
        rows=rows, synthetic=rows // 2, people=rows // 2, asked=rows // 2, columns=columns, bits=40.0, levels=0,
        table_bytes=0, text_bytes=0, attacks=attacks, fidelity=True,
    )  # fmt: skip
    known = {m.name: expected_long(m, work) for m in all_measures()}
    assert known == dict.fromkeys(known, False) | {"column_rules": long}


def test_a_measure_that_takes_long_is_listed_and_made_where_it_is_named(monkeypatch):
    entry = dataclasses.replace(REGISTRY["column_rules"], seconds=lambda rows, columns: 1e9)
    monkeypatch.setitem(REGISTRY, "column_rules", entry)
    made = divulge.assess(people(1, 60), people(2, 60), **FEW).assessment
    assert "column_rules" not in {r.measure for r in made.fidelity}
    assert {n.measure: n.why for n in made.fidelity_scope.not_measured}["column_rules"] == LONG
    alone = divulge.fidelity(people(1, 60), people(2, 60), models=False)
    assert not alone.of("column_rules") and f"column_rules was left out: {LONG}" in alone.notes
    tables = ({"people": people(i, 60)} for i in (1, 2))
    several = divulge.fidelity(*tables, models=False)
    assert not several.of("column_rules") and f"people: column_rules was left out: {LONG}" in several.notes
    named = divulge.fidelity(people(1, 60), people(2, 60), measures=["column_rules"])
    assert named.of("column_rules")


@pytest.mark.slow
def test_it_can_be_left_out(report):
    without = divulge.assess(people(1), people(2, shift=9), holdout=people(3), fidelity=False, **FEW)
    assert (without.assessment.fidelity, without.assessment.fidelity_scope) == ((), None)
    assert [(r.attack, r.variant, r.keys, r.target, r.risk) for r in without.results] == [
        (r.attack, r.variant, r.keys, r.target, r.risk) for r in report.results
    ]
    assert "Fidelity:" not in str(without) and "Fidelity: column pairs" in str(report)
    assert "## Fidelity" in report.to_markdown() and "## Fidelity" not in without.to_markdown()


def test_a_measure_that_fails_stops_nothing(monkeypatch):
    def broken(case, settings):
        raise ValueError("hushed3")

    entry = REGISTRY["tails"]
    monkeypatch.setattr("divulge.run.fidelity_in_run.run_measure",
                        lambda m, case, s: broken(case, s) if m is entry else m.run(case))  # fmt: skip
    found = divulge.assess(people(1, 60), people(2, 60), **FEW)
    assert found.failed == [{"attack": "tails", "why": "ValueError inside the measure; please report it"}]
    assert {n.measure: n.why for n in found.assessment.fidelity_scope.not_measured}["tails"] == "it failed"
    assert "column_pairs" in {r.measure for r in found.assessment.fidelity}


def test_no_value_is_in_the_report_unless_it_is_asked_for(report):
    for text in (report.to_json(), report.to_markdown(), str(report), report.to_html()):
        assert "hushed" not in text and "private" not in text
    assert all(m.labels == () for m in report.assessment.fidelity_scope.marginals)
    shown = divulge.assess(people(1, 60), people(2, 60), reveal=["values"], **FEW).assessment.fidelity_scope.marginals
    assert set({m.column: m.labels for m in shown}["home"]) == {"private0", "private1"}
    assert all(" to " in words for words in {m.column: m.labels for m in shown}["age"])


def test_subgroups_are_called_by_their_values_where_these_are_revealed():
    real, other = people(1, 900), people(2, 900).with_columns(job=pl.lit("hushed0"))
    case = build_case(real, other)
    run = REGISTRY["subgroups"].run
    hidden, shown = (
        {r.group for r in run(dataclasses.replace(case, reveal_values=reveal), groups=["home", "age"])[1:]}
        for reveal in (False, True)
    )
    numbered = {f"'home' group {g}" for g in (1, 2)}
    assert numbered <= hidden and not any("private" in g for g in hidden)
    values = {g.partition(": ")[2] for g in shown if "'home'" in g}
    assert values == {"private0", "private1"}
    assert {g.partition(": ")[0] for g in shown} == hidden
    ages = [g.partition(": ")[2].split(" to ") for g in shown if "'age'" in g]
    assert ages and all(float(low) < float(high) for low, high in ages)


def test_an_external_edition_has_verdicts_and_no_numbers(report):
    outside = report.external().assessment
    assert [r.measure for r in outside.fidelity] == COUNTED
    assert [r.verdict for r in outside.fidelity[:2]] == ["differs", "differs"]
    for r in outside.fidelity:
        assert r == FidelityResult(measure=r.measure, verdict=r.verdict, tolerance=r.tolerance, m=200)
    scope = outside.fidelity_scope
    assert scope.marginals == ()
    assert [c.column for c in scope.not_compared] == ["column 4"]
    silent = {n.measure: n.why for n in scope.not_measured}
    assert (silent["subgroups"], silent["missing_patterns"]) == (
        "no subgroups were named",
        "these tables do not allow it",
    )
    again = report.external().external().assessment
    assert (again.fidelity, again.fidelity_scope) == (outside.fidelity, scope)


def test_a_file_of_an_earlier_version_has_no_fidelity(report):
    data = {k: v for k, v in json.loads(report.to_json()).items() if not k.startswith("fidelity")}
    read = type(report).from_dict(data)
    assert (read.assessment.fidelity, read.assessment.fidelity_scope) == ((), None)
    read.to_html()


# ---------------------------------------------------------------- too close


def pairs(ruler, verdict, n=1000, m=1000):
    return FidelityResult(measure="column_pairs", ruler=ruler, verdict=verdict, n=n, m=m)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (pairs(0.70, "closer than a fresh sample"), True),
        (pairs(0.72, "closer than a fresh sample"), False),  # trees learn so much without copying anybody
        (pairs(0.70, "like a fresh sample"), False),
        (pairs(0.50, "closer than a fresh sample", m=4000), False),
        (pairs(0.40, "closer than a fresh sample", m=4000), True),
        (pairs(None, "not measured"), False),
        (replace(pairs(0.70, "closer than a fresh sample"), measure="correlations"), True),
        (replace(pairs(0.72, "closer than a fresh sample"), measure="correlations"), False),
        (replace(pairs(0.10, "closer than a fresh sample"), measure="column_shapes"), False),  # margins may be drawn
    ],
)
def test_rows_drawn_from_the_table_are_the_limit(found, expected):
    assert too_close([FidelityResult(measure="tails"), found]) is expected


def test_the_ruler_of_drawn_rows_is_that_of_a_simulation():
    rng = np.random.default_rng(0)
    real, m, shares = rng.multinomial(400, [0.25] * 4, 4000), 800, np.full(4, 0.25)
    drawn = np.stack([rng.multinomial(m, r / 400) for r in real])
    other = rng.multinomial(m, shares, 4000)
    distances = [np.abs(s / m - real / 400).sum(axis=1).mean() for s in (drawn, other)]
    assert drawn_ruler(400, m) == pytest.approx(distances[0] / distances[1], abs=0.015)


# ---------------------------------------------------------------- pictures of columns


def test_marginals_are_shares_of_rows():
    real, synthetic = people(1, 400), people(2, 200)
    found = {m.column: m for m in marginals(build_case(real, synthetic))}
    assert sorted(found) == ["age", "home", "job"]
    for m in found.values():
        assert sum(m.real) == pytest.approx(1) and sum(m.synthetic) == pytest.approx(1)
        assert all(low <= r <= high for low, r, high in zip(m.low, m.real, m.high, strict=True))
    counts = real["job"].value_counts(sort=True)["count"].to_numpy() / 400
    assert found["job"].real == pytest.approx(counts)
    assert not found["job"].ordered and found["age"].ordered
    half = 1.959964 * np.sqrt(0.25 * 0.75 * (1 / 400 + 1 / 200))
    assert found["job"].high[0] - found["job"].real[0] == pytest.approx(half, abs=0.005)


def test_the_band_holds_a_fresh_sample_in_most_cells():
    inside = []
    for seed in range(40):
        for m in marginals(build_case(people(seed, 300), people(1000 + seed, 300))):
            s, low, high = np.array(m.synthetic), np.array(m.low), np.array(m.high)
            inside += ((s >= low) & (s <= high)).tolist()
    # cells of a table depend on each other: their error is that of about 40 tables
    assert 0.92 <= np.mean(inside) <= 0.99


def test_rare_values_are_one_cell_and_missing_is_the_last():
    real = pl.DataFrame({"city": [f"c{min(i, 30)}" for i in range(60)] + [None] * 4})
    (found,) = marginals(build_case(real, real))
    assert len(found.real) == 13
    assert found.real[0] == 30 / 64 and found.real[-1] == 4 / 64
    assert found.synthetic == found.real
