"""Candidates in order of their verdicts: findings in words, what ranks and what does not, filtered and copied tables."""

import dataclasses
import json
import re
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from msgspec.structs import replace

import divulge
from divulge.core.result import Individual, Rate, Result, Risk
from divulge.report.comparison.prose import Placed, findings, findings_in_words, order_in_words
from divulge.run.comparing import candidates
from divulge.run.comparing.candidates import Assessed, rank_candidates, ranks, worst_of
from divulge.run.comparing.compare import _order
from divulge.run.planning.options import Attacker


def rate(share, n=100):
    return Rate(hits=share * n, n=n, rate=share)


def result(verdict, members, strangers, attack="copies", variant="exact", low=0.0, high=0.0, **more):
    risk = Risk(
        value=(members - strangers) / (1 - strangers), low=low, high=high, low_simultaneous=low,
        high_simultaneous=high, level=0.95, method="",
    )  # fmt: skip
    sides = {"real": rate(members), "holdout": rate(strangers)}
    return Result(attack=attack, variant=variant, verdict=verdict, risk=risk, **sides, **more)


# ---------------------------------------------------------------- what was found, in words

COPIES = result("excess found", 0.12, 0.01, low=0.05)
NEAR = result("excess found", 0.3, 0.1, variant="near", low=0.1)
MISSING = result("deficit found", 0.0, 0.2, variant="near", low=-0.4, high=-0.1)
GUESSED = result("excess found", 0.6, 0.1, "cap", "zero", low=0.4, keys=("age",), target="job")
GUESSES = result("excess found", 0.6, 0.1, "singling_out", "3 columns", low=0.3, counts="guesses")
HOLE = result("deficit found", 0.0, 0.3, "dcr", "hole", low=-0.4, high=-0.2)
NOTHING = result("none found", 0.1, 0.1)


@pytest.mark.parametrize(
    ("results", "verdict", "says"),
    [
        ([GUESSED, NEAR, COPIES], "excess found", "copies: 12.0% of members, 1.0% of strangers"),
        ([GUESSED, NEAR], "excess found", "near copies: 30.0% of members, 10.0% of strangers"),
        ([GUESSES, GUESSED, NOTHING], "excess found", "cap (zero): age -> job: 60.0% of members, 10.0% of strangers"),
        ([GUESSES, NOTHING], "excess found", "singling_out (3 columns): risk 0.556"),
        ([MISSING, NOTHING], "deficit found", "near copies: 0.0% of members, 20.0% of strangers"),
        (
            [MISSING, GUESSES], "excess found",
            "singling_out (3 columns): risk 0.556; a deficit, too: near copies: 0.0% of members, 20.0% of strangers",
        ),
        ([HOLE, NOTHING], "deficit found", "nearness: rows near to members are missing, which tells who is a member"),
        (
            [result("excess found", 1.0, 0.5)], "excess found",
            "every member stands in it verbatim, and 50.0% of strangers",
        ),
    ],
)  # fmt: skip
def test_copies_are_named_first_then_the_clearest_finding(results, verdict, says):
    assert findings_in_words(findings(results, verdict)) == says
    assert findings(results[::-1], verdict) == findings(results, verdict)


def test_verbatim_copies_are_named_where_the_run_has_no_verdict_and_nothing_else_is():
    assert findings([COPIES, GUESSED, MISSING], "cannot tell") == (COPIES,)
    assert findings([GUESSED, MISSING], "cannot tell") == ()
    assert findings([NOTHING], "none found") == ()


def placed(*told):
    return [Placed(label, verdict, why, *ranks) for label, verdict, why, ranks in told]


def test_the_sentence_names_what_was_found_in_the_first_the_last_and_all_others():
    four = placed(
        ("a", "none found", "", (1, 2)), ("b", "cannot tell", "", (1, 2)), ("c", "deficit found", "near", (3, 3)),
        ("d", "excess found", "copies", (4, 4)),
    )  # fmt: skip
    assert order_in_words(four, 0.95, 3) == (
        "Least risk: “a” (none found), “b” (cannot tell); these are not told apart. Most risk: “d” (excess found; copies). "
        "Between them: “c” (deficit found; near). 5 of 6 pairs are told apart (3 by "
        "risk, 2 by group alone), with 95% confidence in all ranks together."
    )
    equal = placed(("a", "excess found", "copies", (1, 2)), ("b", "excess found", "more copies", (1, 2)))
    assert order_in_words(equal, 0.9, 0) == (
        "The data do not tell the 2 candidates apart by risk. Fewest members reached first: “a”, “b”. Found: “a” (excess "
        "found; copies), “b” (excess found; more copies)."
    )


def test_of_many_candidates_the_sentence_leaves_the_findings_to_the_table():
    six = placed(*((c, "excess found", f"found in {c}", (i, i)) for i, c in enumerate("abcdef", 1)))
    told = "15 of 15 pairs are told apart (15 by risk), with 95% confidence in all ranks together."
    assert order_in_words(six, 0.95, 15) == told


# ---------------------------------------------------------------- what ranks


def made(attack, variant, keys=(), target=None):
    return Result(attack=attack, variant=variant, keys=keys, target=target)


def test_primary_comparisons_of_people_rank_and_no_others():
    alone, named = Attacker(), Attacker(("age", "zip"), ("job",))
    for one in (made("copies", "exact"), made("copies", "near"), made("linkability", "balanced halves, k = 1"),
                made("inference", "nearest record", target="pay"), made("inference", "nearest record", target="job")):  # fmt: skip
        assert ranks(one, alone), one
        assert ranks(one, named), one
    # the mean over targets has them all; the others are screened, or count rows or guesses
    for one in (made("inference", "nearest record, mean over targets"), made("inference", "CAP", target="job"),
                made("linkability", "random halves, k = 1"), made("linkability", "balanced halves, k = 5"),
                made("copies", "columns", ("age",)), made("singling_out", "3 columns"),
                made("singling_out", "univariate"), made("dcr", "attraction"), made("nndr", "attraction")):  # fmt: skip
        assert not ranks(one, named), one
    cap = made("cap", "zero", ("age", "zip"), "job")
    assert ranks(cap, named)
    assert not ranks(cap, alone)
    assert not ranks(cap, Attacker(("age", "zip"), None))
    assert not ranks(replace(cap, target="pay"), named)
    assert not ranks(replace(cap, variant="skip"), named)


def table(label, verdict="cannot tell", leak=0.0, failing=(), found=(), seed=0):
    """A table as it is kept after its attacks; `leak` is its share of copied members."""
    rng = np.random.default_rng(seed)
    checks = [SimpleNamespace(check=c, ok=c not in failing) for c in ("exchangeable", "holdout unseen", "sizes")]
    report = SimpleNamespace(verdict=verdict, assessment=SimpleNamespace(preconditions=checks))
    scores = {("copies", "exact", (), ""): ((rng.random(400) < leak) * 1.0, np.zeros(400))}
    return Assessed(label, report, scores, tuple(found), [], [])


def order_of(*tables, shares=()):
    labels = sorted({t.label for t in tables})
    options = SimpleNamespace(level=0.95, seed=0)
    ranked = rank_candidates(SimpleNamespace(options=options, attacker=Attacker(), people=None), tables, labels)
    r = ranked.ranking
    return _order(labels, ranked, shares or [0.0] * len(labels)), dict(
        zip(labels, zip(r.worst_first, r.worst_last, strict=True), strict=True)
    )


def test_findings_and_tables_without_a_comparison_stand_behind():
    filtered = table("filtered", "deficit found", 0.0, seed=1)
    seen = table("saw the holdout", "cannot tell", 0.0, ("holdout unseen",), seed=2)
    small = table("few people", "cannot tell", 0.1, ("sizes",), seed=3)
    copied, clean = table("copied", "excess found", 0.5, seed=4), table("clean", "none found", 0.02, seed=5)
    order, places = order_of(filtered, seen, small, copied, clean)
    assert order == ["clean", "few people", "filtered", "saw the holdout", "copied"]
    assert places == {
        "clean": (1, 1), "few people": (2, 2), "filtered": (3, 4), "saw the holdout": (3, 4), "copied": (5, 5)
    }  # fmt: skip
    # who reaches fewest comes first, but not before somebody with less risk beyond chance
    order, _ = order_of(filtered, seen, small, copied, clean, shares=(0, 0.3, 0.9, 0.2, 0.1))
    assert order == ["clean", "few people", "saw the holdout", "filtered", "copied"]
    # where no comparison holds, all are alike again
    none = [table(x, "cannot tell", leak, ("exchangeable",)) for x, leak in (("a", 0.3), ("b", 0.0))]
    assert order_of(*none) == (["b", "a"], {"a": (2, 2), "b": (1, 1)})


def test_a_candidate_has_the_worst_verdict_of_its_tables():
    copied = [table("g", "excess found", found=(r,)) for r in (COPIES, result("excess found", 0.4, 0.0))]
    tables = [table("g", "none found"), table("g", "deficit found", found=(MISSING,)), *copied]
    for own in (tables, tables[::-1]):
        assert worst_of(own) == (
            "excess found", "in 2 of 4 tables, the worst by copies: 40.0% of members, 0.0% of strangers",
        )  # fmt: skip
    assert worst_of(tables[:2]) == (
        "deficit found", "in 1 of 2 tables, the worst by near copies: 0.0% of members, 20.0% of strangers",
    )  # fmt: skip
    assert worst_of([table("a", "none found")]) == ("none found", "")
    unfair = table("a", "cannot tell", failing=("exchangeable",), found=(COPIES,))
    assert worst_of([unfair]) == (
        "cannot tell", "the comparison does not hold; copies: 12.0% of members, 1.0% of strangers"
    )  # fmt: skip


# ---------------------------------------------------------------- from table to report


def people(seed, n):
    """Few values, so that strangers match synthetic rows."""
    rng = np.random.default_rng(seed)
    columns = {c: rng.integers(0, k, n).astype(str) for c, k in (("zip", 4), ("job", 6), ("sex", 2))}
    return pl.DataFrame({"age": rng.integers(18, 30, n), **columns})


REAL, HOLDOUT = people(0, 300), people(1, 300)


def run(tables, **settings):
    return divulge.compare(REAL, tables, holdout=HOLDOUT, membership=False, **settings)


@pytest.fixture(scope="module")
def found():
    filtered = people(3, 3000).join(REAL, on=REAL.columns, how="anti").head(300)
    some = pl.concat([REAL.head(150), people(4, 150)])
    return run({"clean": people(2, 300), "filtered": filtered, "some": some, "all": REAL})


@pytest.mark.slow
def test_a_filtered_table_ranks_behind_a_clean_one_and_copies_are_named(found):
    assert found.order == ["clean", "filtered", "some", "all"]
    of = {c["label"]: c for c in found.data["candidates"]}
    assert of["clean"]["verdict"] in ("none found", "cannot tell")
    # its risk is far below that of the clean table: by risk alone it would be the first
    assert of["filtered"]["worst"]["value"] < of["clean"]["worst"]["value"]
    assert of["filtered"]["worst"]["first"] > of["clean"]["worst"]["last"] == 1
    assert "copies: 0.0% of members" in of["filtered"]["why"]
    assert of["some"]["why"].startswith("hitting_rate: 69.7% of members")  # the test that reaches most
    assert of["all"]["why"].startswith("every member stands in it verbatim")
    sentence = found.data["verdict"]["sentence"]
    for label in ("filtered", "some", "all"):
        assert f"“{label}” ({of[label]['verdict']}; {of[label]['why']})" in sentence


@pytest.mark.slow
def test_every_document_has_the_verdict_of_each_table_and_one_alone(found):
    page, text, terminal = found.to_html(), found.to_markdown(), str(found)
    ordered = page[page.index("verdict, and why") :].split("</table>")[0]
    for c in found.data["candidates"]:
        assert c["verdict"] == found.reports[c["label"]][0].verdict == c["tables"][0]["verdict"]
        marked = next(x for x in text.splitlines() if x.startswith(f"| {c['label']} |"))
        assert f" | {c['verdict']}" in marked and f" | {c['worst']['first']} | " in marked
        line = next(x for x in terminal.splitlines() if re.match(rf" *\d  +{c['label']} ", x))
        assert c["verdict"] in line
        (row,) = (x for x in ordered.split("<tr>") if f">{c['label']}<" in x)
        assert re.findall(r'class="v [a-z]+">([^<]*)<', row) == [c["verdict"]]
    assert "verdict of its own" not in page + text + terminal


@pytest.mark.slow
def test_screened_comparisons_move_no_rank_and_the_order_of_candidates_no_byte(monkeypatch):
    tables = {"c": people(5, 300), "a": pl.concat([REAL.head(60), people(6, 240)]), "b": people(7, 300)}
    tables |= {"y": pl.DataFrame({"else": [1]}), "x": 3}  # neither can be attacked
    settings = {"keys": ["age", "zip"], "targets": ["job"]}
    plain = run(tables, **settings)
    assessed, noise = candidates.assess_with, np.random.default_rng(3)
    primary = {("copies", "exact"), ("copies", "near"), ("linkability", "balanced halves, k = 1"),
               ("inference", "nearest record"), ("cap", "zero")}  # fmt: skip

    def noisy(*given, **told):
        report = assessed(*given, **told)
        screened = (
            r if (r.attack, r.variant) in primary or r.individual is None else
            replace(r, individual=Individual(real=noise.random(len(r.individual.real)), holdout=r.individual.holdout))
            for r in report.results
        )  # fmt: skip
        return dataclasses.replace(report, results=tuple(screened))

    monkeypatch.setattr(candidates, "assess_with", noisy)
    again = run({k: tables[k] for k in "abcxy"}, **settings)
    texts = []
    for report in (plain, again):
        data = json.loads(report.to_json())
        texts.append(json.dumps(data | {"started": "", "seconds": 0}))
    assert texts[0] == texts[1]
    assert [f["label"] for f in plain.failed] == ["x", "y"]
    assert [a["attack"] for a in plain.data["attacks"]] == ["copies", "linkability", "inference", "cap"]
