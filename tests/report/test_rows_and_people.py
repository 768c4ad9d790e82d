"""With a unit a page tells rows of members from people: in its sentences, the other edition, the terminal, documents."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest
from msgspec.structs import replace

import divulge
from divulge.report.first_page import metrics
from divulge.report.prose.compared import short
from divulge.report.prose.decision import decision
from divulge.report.prose.people import people_or_rows, size_of, standing_out
from divulge.report.prose.reach import reaches


def _people(n, seed):
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(n) + 10_000 * seed, rng.integers(1, 5, n))
    columns = {f"c{i}": rng.integers(0, k, len(who)).astype(str) for i, k in enumerate((9, 7, 12, 8, 4))}
    return pl.DataFrame({"person": who.astype(str)} | columns)


@pytest.fixture(scope="module")
def run():
    """Claims of 200 people, of whom every other has all rows copied."""
    real, holdout, other = (_people(200, seed) for seed in (1, 2, 3))
    kept = real.filter(pl.col("person").cast(pl.Int64) % 2 == 0)
    keys = ["c0", "c1", "c2"]
    report = divulge.assess(
        real, pl.concat([kept, other[: len(real) - len(kept)]]), holdout=holdout, unit="person", keys=keys,
        targets=["c4"], models=False, fidelity=False, membership=False, search="off", seed=1,
    )  # fmt: skip
    return report, real, holdout


def test_exposed_people_are_counted_as_people(run):
    report, real, _ = run
    s, records = report.assessment.records, report.record_frame
    rows = records.filter(pl.col("copied") | pl.col("replicated_unique") | (pl.col("n_disclosed") > 0))["row"]
    people = real["person"].gather(rows).n_unique()
    assert s.exposed == len(rows) > people == s.exposed_people
    assert 0 < s.exposed_share_strangers < s.exposed_people_share_strangers < 1  # whoever has more rows is on it sooner
    n = real["person"].n_unique()
    told = decision(report.assessment).at_risk
    assert f"{people:,} members ({100 * people / n:.0f}%) are on the list of exposed people; by chance" in told
    assert f"of {people} members, stand out" in standing_out(s)


def test_numbers_of_rows_are_called_rows_of_members(run):
    report, real, holdout = run
    data = report.assessment
    told = decision(data)
    n, m = len(real), len(holdout)
    assert f"Of {n:,} rows of 200 members (people in the real table)" in told.headline
    assert re.search(r"That is about [\d,]+ rows of members \(\d+%\) beyond chance", told.at_risk)
    assert size_of(data, "holdout", "strangers") == f"{m:,} rows of 200 strangers"
    assert people_or_rows(data) == "rows of people"
    for document in (report.to_markdown(), str(report), report.to_html()):
        text = " ".join(re.sub("<[^>]+>", "", document).split())
        assert not re.search(rf"\b({n:,}|{m:,}) (members|strangers|people)\b", text)
    assert f"a check {m:,} rows of 200 strangers" in report.to_markdown()


def test_the_other_edition_tells_them_apart_too(run):
    other = run[0].external()
    real = other.assessment.tables.real
    assert real.units == 200
    told = decision(other.assessment)
    assert f"Of {real.rows:,} rows of 200 members" in told.headline
    assert "beyond chance" not in told.at_risk or "rows of members" in told.at_risk
    text = " ".join(re.sub("<[^>]+>", "", other.to_html()).split())
    assert not re.search(rf"\b{real.rows:,} (members|people)\b", text)


def test_a_limit_on_rows_is_no_number_of_people(run):
    data = run[0].assessment
    exact = next(r for r in data.results if (r.attack, r.variant) == ("copies", "exact"))
    silent = tuple(replace(r, verdict="none found" if r.verdict == "excess found" else r.verdict) for r in data.results)
    bound = [b for b in data.verdict.bounds if (b.attack, b.variant) == ("copies", "exact")]
    quiet = replace(data, results=silent, verdict=replace(data.verdict, verdict="cannot tell", bounds=tuple(bound)))
    (copies,) = reaches(quiet)
    assert exact.real.units == 200 and copies.of_rows and copies.people is None
    assert copies.told.endswith("% of rows")
    assert "of rows of members" in decision(quiet).excluded


def test_a_mean_over_guesses_is_of_rows_of_members(run):
    exact = next(r for r in run[0].assessment.results if (r.attack, r.variant) == ("copies", "exact"))
    mean = replace(exact, attack="inference", variant="nearest record, mean over targets")
    assert " of the values of rows of members right, and " in short(mean)
    assert short(mean).endswith("of those of rows of strangers.")
    whole = replace(mean, real=replace(mean.real, units=None), holdout=replace(mean.holdout, units=None))
    assert " of the values of members right, and " in short(whole)


def test_rows_of_people_are_no_people_for_a_program(run):
    report, real, _ = run
    frame, n = report.people(), real["person"].n_unique()
    rows, persons = (frame.filter(pl.col("counts") == what) for what in ("rows of people", "people"))
    assert (rows["of_members"] > n).all() and (persons["of_members"] <= n).all()
    assert rows.height + persons.height == frame.height and persons.height
    data, clear = report.assessment, pl.col("verdict") == "excess found"
    assert report.metrics()["people_at_risk_at_least"] == max(persons.filter(clear)["at_least"])
    assert max(rows.filter(clear)["at_least"]) > report.metrics()["people_at_risk_at_least"]
    of_rows = replace(data, results=tuple(r for r in data.results if r.real is not None and r.real.units is not None))
    assert "people_at_risk_at_least" not in metrics(of_rows)
    quiet = replace(data, results=tuple(replace(r, verdict="none found") for r in data.results))
    assert metrics(quiet)["people_at_risk_at_least"] == 0


def test_whoever_is_avoided_or_withheld_are_rows_of_members(run):
    exact = next(r for r in run[0].assessment.results if (r.attack, r.variant) == ("copies", "exact"))
    avoided = replace(exact, attack="membership", verdict="deficit found")
    assert short(avoided).startswith("Rows of members are avoided: ")
    for verdict, said in (
        ("excess found", "are hit more"),
        ("deficit found", "are hit less"),
        ("none found", "and row"),
    ):
        hidden = replace(exact, verdict=verdict, real=replace(exact.real, hits=None, rate=None))
        assert short(hidden).startswith(f"Rows of members {said}") and "strangers" in short(hidden)
        of_people = replace(hidden, real=replace(hidden.real, units=None), holdout=replace(exact.holdout, units=None))
        assert "ows of" not in short(of_people) and short(of_people).startswith("Members ")


def test_without_a_unit_rows_are_people():
    real, holdout = (_people(120, seed).drop("person") for seed in (1, 2))
    report = divulge.assess(
        real, real, holdout=holdout, keys=["c0", "c1"], targets=["c4"], models=False, fidelity=False, membership=False, search="off", seed=1,
    )  # fmt: skip
    assert people_or_rows(report.assessment) == "people"
    assert report.assessment.records.exposed_people is None
    assert "rows of members" not in report.to_markdown() + str(report)
