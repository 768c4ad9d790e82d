"""A claim of differential privacy in the schema file: what it allows, beside what a run found."""

import json

import numpy as np
import polars as pl
import pytest
from msgspec.structs import replace

import divulge
from divulge.core.schema import schema_from_toml
from divulge.core.threat_model import Claim, template, threat_from
from divulge.report.claims.judged import claim_read
from divulge.report.content import text_of
from divulge.stats.epsilon import split_epsilon
from divulge.verifying.verify import verify

STATED = {"epsilon": 1.0, "delta": 0.0, "unit": "person", "neighbouring": "replace"}


@pytest.fixture(scope="module")
def report():
    """A report of 1,200 people a side; a fifth of the synthetic table are members."""
    rng = np.random.default_rng(0)

    def people(n=1200):
        frame = {"age": rng.integers(18, 80, n), "town": rng.integers(0, 40, n), "ill": rng.integers(0, 3, n)}
        return pl.DataFrame(frame | {"pay": rng.integers(0, 500, n)})

    real, holdout = people(), people()
    synthetic = pl.concat([real.head(240), people(960)])
    schema = schema_from_toml(
        '[release]\nepsilon = 1.0\ndelta = 0.0\nunit = "person"\nneighbouring = "replace"\ngenerator = "mine"'
    )
    asked = {"keys": ["age", "town"], "targets": ["ill"], "models": False, "fidelity": False}
    return divulge.assess(real, synthetic, holdout, schema=schema, membership=["ratio"], **asked)


def under(report, **stated):
    threat = replace(report.assessment.threat, claim=Claim(**(STATED | stated)))
    data = replace(report.assessment, threat=threat)
    return report.replaced(threat=threat, claim=claim_read(data))


def test_a_claim_is_read_beside_what_was_found(report):
    read = report.assessment.claim
    assert report.assessment.threat.claim == Claim(**STATED)
    assert (round(read.tpr_at_1, 4), round(read.tpr_at_10, 4), round(read.advantage, 4)) == (0.0272, 0.2718, 0.4621)
    lines = {line.what: line for line in read.lines}
    assert list(lines) == ["membership advantage", "inference excess", "TPR at FPR 1%", "TPR at FPR 10%"]
    r = next(r for r in report.assessment.results if (r.attack, r.variant) == ("copies", "exact"))
    each = 1 - 0.05 / read.comparisons
    low = split_epsilon(int(r.real.hits), r.real.n, int(r.holdout.hits), r.holdout.n, level=each)
    first = lines["membership advantage"]
    assert first.epsilon_low >= low > 1 and first.verdict == read.verdict == "contradicted"
    assert lines["TPR at FPR 1%"].verdict == "contradicted" and lines["TPR at FPR 1%"].found > 0.1
    m = next(r for r in report.assessment.results if (r.attack, r.variant) == ("membership", "ratio"))
    assert lines["TPR at FPR 1%"].found == m.context["TPR at FPR 1%"]
    hits = round(m.context["TPR at FPR 1%"] * 1200)
    assert lines["TPR at FPR 1%"].epsilon_low == split_epsilon(hits, 1200, 11, 1200, level=each)  # k = 12


def test_a_larger_claim_is_not_contradicted_and_add_or_remove_allows_more(report):
    assert under(report, epsilon=20.0).assessment.claim.verdict == "not contradicted"
    one, two = (under(report, neighbouring=how).assessment.claim for how in ("replace", "add or remove"))
    assert (one.epsilon, two.epsilon) == (1.0, 2.0) and two.tpr_at_10 == pytest.approx(np.e**2 / 10)
    for a, b in zip(one.lines, two.lines, strict=True):
        assert b.epsilon_low == pytest.approx(a.epsilon_low / 2)


@pytest.mark.parametrize(
    ("stated", "why"),
    [
        ({"unit": None}, "not stated: unit"),
        ({"neighbouring": None, "delta": None}, "not stated: delta, neighbouring"),
        ({"delta": 0.01}, "delta times the number of people is more than 0.1: all may be given away at once"),
    ],
)
def test_a_claim_that_is_not_stated_in_full_is_not_judged(report, stated, why):
    read = under(report, **stated).assessment.claim
    assert (read.verdict, read.why) == ("not judged", why) and {line.verdict for line in read.lines} == {"not judged"}
    assert f"The claim is not judged: {why}." in under(report, **stated).to_markdown()


def test_people_with_several_rows_are_given_away_once_each(report):
    data = under(report, delta=0.0001).assessment  # 1,200 rows would be more than a tenth of a person
    real = replace(data.tables.real, units=300)
    assert claim_read(data).why.startswith("delta times the number of people")
    assert claim_read(replace(data, tables=replace(data.tables, real=real))).why == ""


def test_a_claim_is_not_judged_where_the_comparison_does_not_hold(report):
    data = report.assessment
    broken = tuple(replace(c, ok=False) if c.check == "no overlap" else c for c in data.preconditions)
    assert claim_read(replace(data, preconditions=broken)).why == "members and strangers are no fair comparison"
    unmade = tuple(replace(c, tested=False) if c.check == "no overlap" else c for c in data.preconditions)
    assert claim_read(replace(data, preconditions=unmade)).why == (
        "it could not be tested whether members and strangers are a fair comparison (no overlap)"
    )
    assert claim_read(replace(data, tables=replace(data.tables, holdout=None))).why == "there is no holdout"
    of_rows = replace(data, threat=replace(data.threat, claim=Claim(**(STATED | {"unit": "row"}))))
    assert claim_read(of_rows).verdict == "contradicted"
    of_units = replace(of_rows, settings=replace(data.settings, unit="age"))
    assert claim_read(of_units).why.startswith("the claim is about a row")
    assert claim_read(replace(data, threat=threat_from({}))) is None


def test_a_comparison_that_is_held_back_and_near_copies_do_not_count(report):
    data = report.assessment
    of = [r for r in data.results if r.attack == "membership" and r.risk is not None]
    unfair = tuple(
        replace(r, risk=replace(r.risk, low=None, high=None)) if r.attack == "membership" and r.risk else r
        for r in data.results
    )
    read = claim_read(replace(data, results=unfair))
    assert of and 0 < read.comparisons < data.claim.comparisons
    assert [line.verdict for line in read.lines[2:]] == ["not judged"] * 2
    assert "near" not in {line.variant for line in data.claim.lines}
    near = tuple(r for r in data.results if not (r.attack == "copies" and r.variant == "near"))
    assert len(near) < len(data.results)
    assert claim_read(replace(data, results=near)) == data.claim


def test_rows_of_one_person_and_few_strangers_do_not_count(report):
    data = report.assessment
    results = tuple(
        replace(r, real=replace(r.real, units=400)) if r.real is not None and r.real.n else r for r in data.results
    )
    read = claim_read(replace(data, results=results))
    assert read.comparisons == 0 and read.why == "no attack compared members with strangers"
    few = tuple(
        replace(r, holdout=replace(r.holdout, n=900, rate=0.1)) if r.attack == "membership" and r.holdout else r
        for r in data.results
    )
    line = claim_read(replace(data, results=few)).lines[2]
    assert (line.verdict, line.why) == ("not judged", "it needs 1,000 strangers")


def test_the_documents_say_it_and_an_external_edition_withholds_what_was_found(report):
    told = "The claim is contradicted: epsilon is at least"
    for text in (report.to_markdown(), " ".join(str(report).split()), report.to_html()):
        assert told in text
    outside = report.external()
    assert outside.assessment.threat.claim == Claim(**STATED)
    own, shown = report.assessment.claim, outside.assessment.claim
    assert shown.verdict == own.verdict and shown.tpr_at_1 == own.tpr_at_1
    assert [line.verdict for line in shown.lines] == [line.verdict for line in own.lines]
    assert all(x is None for line in shown.lines for x in (line.strangers, line.allowed, line.found, line.epsilon_low))
    assert "The claim is contradicted (membership advantage" in outside.to_markdown()


def test_verify_tells_a_claim_that_does_not_follow(report, tmp_path):
    path = tmp_path / "assessment.json"
    outside = json.loads(report.external().to_json())
    path.write_text(text_of(outside))
    assert verify(path).faults == ()
    path.write_text(text_of(outside | {"claim": outside["claim"] | {"tpr_at_1": 0.5}}))
    assert any(f.startswith("claim: does not follow") for f in verify(path).faults)
    for edit in (
        lambda claim: claim | {"verdict": "not contradicted"},
        lambda claim: claim | {"tpr_at_1": 0.5},
        lambda claim: claim | {"lines": [claim["lines"][0] | {"epsilon_low": 0.1}, *claim["lines"][1:]]},
        lambda claim: None,
    ):
        data = json.loads(report.to_json())
        path.write_text(text_of(data))
        assert verify(path).faults == ()
        path.write_text(text_of(data | {"claim": edit(data["claim"])}))
        assert any(f.startswith("claim: does not follow") for f in verify(path).faults)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"epsilon": 0}, "epsilon is not above 0. hint: it is a number, no percentage; an epsilon of 0"),
        ({"epsilon": -1.0}, "epsilon is not above 0"),
        ({"epsilon": "1.0"}, "epsilon is no number. hint: epsilon = 1.0, without quotes or a percent sign"),
        ({"epsilon": "100%"}, "epsilon is no number"),
        ({"epsilon": True}, "epsilon is no number"),
        ({"epsilon": float("inf")}, "epsilon is no number"),
        (
            {"epsilon": 1, "delta": 1},
            "delta is not from 0 on, below 1. hint: it is a number, no percentage: 0.01 is 1%",
        ),
        ({"epsilon": 1, "delta": 5}, "delta is not from 0 on"),
        ({"epsilon": 1, "delta": -1e-9}, "delta is not from 0 on"),
        ({"epsilon": 1, "delta": "1%"}, "delta is no number"),
        ({"delta": 0.1}, "delta without epsilon. hint: "),
        ({"epsilon": 1, "unit": "household"}, 'unit is not known. hint: write "person" or "row"'),
        (
            {"epsilon": 1, "neighbouring": ["replace"]},
            'neighbouring is not known. hint: write "replace" or "add or remove"',
        ),
    ],
)
def test_a_claim_that_cannot_be_read_is_refused_in_a_sentence(given, says):
    with pytest.raises(divulge.SettingError) as told:
        threat_from({"release": given}, "s.toml")
    assert str(told.value).startswith("s.toml: [release]: ") and says in str(told.value)


def test_the_schema_file_asks_for_a_claim_and_keeps_it():
    asked = template(threat_from({}))
    assert '# epsilon = 1.0\n# delta = 0.0\n# unit = "person"\n# neighbouring = "replace"' in asked
    threat = threat_from({"release": {"epsilon": 2, "delta": 0, "unit": "row", "recipient": "a lab"}})
    assert threat.claim == Claim(epsilon=2.0, delta=0.0, unit="row")
    assert schema_from_toml(template(threat)).threat == threat
