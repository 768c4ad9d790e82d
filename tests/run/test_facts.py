"""Facts about single people in a run: on the first screen, in the JSON and in the records."""

import re

import numpy as np
import polars as pl
import pytest

import divulge
from divulge.case.case import build_case
from divulge.measures.people_facts import people_facts
from divulge.report.external.edition import external
from divulge.run.planning.detectable_risk import people_needed, reach_in_words, smallest_risk


def people(n, seed):
    rng = np.random.default_rng(seed)
    return pl.DataFrame({f"x{i}": rng.normal(size=n).round(6) for i in range(5)} | {"c": rng.integers(0, 3, n)})


def assessed(planted, n=200, **options):
    real, holdout, synthetic = people(n, 1), people(n, 2), people(n, 3)
    synthetic = pl.concat([planted(real), synthetic])[:n]
    return divulge.assess(real, synthetic, holdout=holdout, models=False, membership=False, search="off", **options)


@pytest.fixture(scope="module")
def three():
    return assessed(lambda real: real[:3])


def test_three_verbatim_members_are_facts_and_are_named(three):
    assert three.data["facts"]["verbatim"] == {
        "members": 3, "strangers": 0, "telling": 3, "named": 3, "why_not_named": None,
    }  # fmt: skip
    told = (
        "The whole record of 3 of 200 members and of 0 of 200 strangers stands in the synthetic table. 3 of these members "
        "are named in the records: chance under these columns can hardly make such a record."
    )
    assert told in three.to_markdown() and told in three.to_html() and told in " ".join(str(three).split())
    records = three.records()
    assert records["row"].head(3).sort().to_list() == [0, 1, 2]
    assert records["named"].to_list() == [True] * 3 + [False] * 197
    assert records["reasons"][0].startswith("stands verbatim, and chance under these columns can hardly do this")


def test_an_external_edition_has_no_facts_about_people(three):
    away = external(three.assessment)
    assert away.facts is None
    assert "named in the records" not in str(away)


@pytest.mark.slow
def test_one_person_s_repeated_record_is_a_finding_of_the_run():
    found = assessed(lambda real: real[[7] * 20], n=1000)
    facts = found.data["facts"]["repeated"]
    assert (facts["times"], facts["of"], facts["elsewhere"], facts["found"]) == (20, "member", 1, True)
    assert found.verdict == "excess found"
    assert found.records().filter("repeated")["row"].to_list() == [7]
    assert "stands 20 times in the synthetic table, and any row that is no member's at most once" in str(
        found.data["verdict"]["sentence"]
    )


# ---------------------------------------------------------------- how small a risk can be found


def test_more_people_find_smaller_risks_and_more_attacks_larger_ones():
    risks = [smallest_risk(n, n, 15, 0.95) for n in (50, 250, 1000, 10_000)]
    assert risks == sorted(risks, reverse=True)
    assert smallest_risk(250, 250, 30, 0.95) > smallest_risk(250, 250, 15, 0.95)
    n = people_needed(0.05, 15, 0.95)
    assert smallest_risk(n, n, 15, 0.95) <= 0.05 < smallest_risk(0.95 * n, 0.95 * n, 15, 0.95)


@pytest.mark.slow
def test_a_run_says_before_it_begins_what_it_can_find():
    told, steps = [], []
    real, synthetic, holdout = people(60, 1), people(60, 2), people(60, 3)
    report = divulge.assess(
        real, synthetic, holdout=holdout, models=False, search="off", before=lambda t: told.append((t, len(steps))),
        progress=lambda what, done, total: steps.append(what),
    )  # fmt: skip
    (size, _), (sentence, so_far) = told
    assert re.fullmatch(r"\d+ tests of \d+ attacks, about \d+ seconds", size)
    assert (
        sentence.startswith("with 60 and 60 members and strangers a risk below about 0.") and "0.05 needs" in sentence
    )
    assert not any("copies" in s for s in steps[:so_far])
    assert sentence in report.data["notes"]


def test_the_reach_counts_units_and_needs_strangers():
    real = people(60, 1).with_columns(who=pl.Series(np.arange(60) // 20))
    holdout = people(60, 2).with_columns(who=pl.Series(100 + np.arange(60) // 20))
    few = reach_in_words(build_case(real, real, holdout, unit="who"), 15, 0.05)
    assert few.startswith("with 3 and 3 units of members and of strangers no risk can be found")
    assert reach_in_words(build_case(real, real), 15, 0.05) == ""


def visits(rng, units, mark, levels=2):
    """Return five rows of fourteen columns for each person."""
    columns = {f"c{j}": [f"v{x}" for x in rng.integers(0, levels, 5 * units)] for j in range(14)}
    return pl.DataFrame(columns | {"who": [f"{mark}{i // 5}" for i in range(5 * units)]})


def test_with_a_unit_facts_and_sentences_count_people():
    rng = np.random.default_rng(0)
    real, synthetic, holdout = (visits(rng, 80, mark, levels=8) for mark in "rsh")
    report = divulge.assess(
        real, pl.concat([real[:20], synthetic[20:]]), holdout=holdout, unit="who", models=False,
        fidelity=False, membership=False, search="off",
    )  # fmt: skip
    facts = report.to_dict()["facts"]["verbatim"]
    assert (facts["members"], facts["strangers"], facts["named"]) == (4, 0, 4)
    assert "At least one whole row of 4 of 80 members and of 0 of 80 strangers stands in the synthetic table" in str(
        report
    )
    exact = next(r for r in report.results if (r.attack, r.variant) == ("copies", "exact"))
    assert (exact.real.hits, exact.real.n, exact.real.units) == (20, 400, 80)
    assert "20 of 400 rows of 80" in str(exact)
    assert "Of 400 people" not in str(report) and "400 members" not in str(report)


def test_the_bits_of_a_persons_rows_add_up():
    """Fourteen bits a row name nobody in eighty people; five such rows of one person do."""
    rng = np.random.default_rng(1)
    real, synthetic, holdout = (visits(rng, 80, mark) for mark in "rsh")
    clean = people_facts(build_case(real, synthetic, holdout, unit="who"))
    assert clean.verbatim.members.any() and not clean.verbatim.named.any()
    pasted = pl.concat([real[:5].with_columns(who=pl.lit("s0")), synthetic[5:]])
    found = people_facts(build_case(real, pasted, holdout, unit="who"))
    assert np.flatnonzero(found.verbatim.named).tolist() == [0, 1, 2, 3, 4]
    assert found.to_facts().verbatim.named == 1
    without = people_facts(build_case(real.drop("who"), pasted.drop("who"), holdout.drop("who")))
    assert not without.verbatim.named.any()


def test_equal_rows_of_one_person_count_once():
    rng = np.random.default_rng(4)
    real, synthetic, holdout = (visits(rng, 80, mark) for mark in "rsh")
    real = pl.concat([real[[0] * 5].with_columns(who=pl.lit("r0")), real[5:]])
    once = pl.concat([real[:1].with_columns(who=pl.lit("s0")), synthetic[1:]])
    found = people_facts(build_case(real, once, holdout, unit="who"))
    assert found.verbatim.members[:5].all() and not found.verbatim.named[:5].any()


@pytest.mark.parametrize("kind", ["alike", "scheme"])
def test_histories_that_people_share_name_nobody(kind):
    """Rows of one person that repeat each other, and histories that follow one of thirty schemes."""
    named = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        schemes = np.random.default_rng(99).integers(0, 2, (30, 5, 14))
        tables = []
        for mark in "rsh":
            if kind == "alike":
                codes = np.repeat(rng.integers(0, 2, (80, 14)), 5, axis=0)
            else:
                codes = schemes[rng.integers(0, 30, 80)].reshape(400, 14)
            codes = np.where(rng.random(codes.shape) < (0.2 if kind == "alike" else 0.03), 1 - codes, codes)
            columns = {f"c{j}": codes[:, j].astype(str) for j in range(14)}
            tables.append(pl.DataFrame(columns | {"who": [f"{mark}{i // 5}" for i in range(400)]}))
        named += people_facts(build_case(*tables, unit="who")).verbatim.named.any()
    assert not named


def test_a_repeated_record_is_named_and_no_page_says_that_nobody_is():
    rng = np.random.default_rng(3)
    real, synthetic, holdout = (
        pl.DataFrame({"x": rng.integers(0, 4000, 300), "a": rng.choice(list("abc"), 300), "b": rng.integers(0, 9, 300)})
        for _ in range(3)
    )
    leaky = pl.concat([synthetic[:280], *[real[7]] * 20])
    report = divulge.assess(real, leaky, holdout=holdout, models=False, fidelity=False, membership=False, search="off")
    facts = report.to_dict()["facts"]
    assert facts["repeated"]["found"] and not facts["verbatim"]["named"] and facts["verbatim"]["why_not_named"]
    for page in (str(report), report.to_markdown(), report.to_html()):
        assert "Nobody is named" not in page
    assert "The records name the person whose record is repeated, and no other" in report.to_markdown()
