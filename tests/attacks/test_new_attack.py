"""An attack that no other file knows: entered as CONTRIBUTING says, it is run, reported, recorded, rounded and ranked.

The leak is planted: the synthetic table has the codes of members in a mirrored alphabet, in otherwise fresh rows. Nothing
else compares them.
"""

import json
import re

import numpy as np
import polars as pl
import pytest
from msgspec.structs import replace

import divulge
from divulge.attacks.catalogue import CATALOGUE
from divulge.attacks.checks import judge, rate_of
from divulge.attacks.entry import Primary, Record, Share, Withheld, Words, per_table
from divulge.attacks.registry import attack
from divulge.case.case import Case
from divulge.core.result import Individual, Result
from divulge.report.explain import explain, page
from divulge.stats import Outcomes, compare

ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def mirror(codes):
    signs = [*ALPHABET, *"0123456789"]
    return codes.str.replace_many(signs, [*ALPHABET[::-1], *"9876543210"])


NOTE = "a code of the synthetic table is read in a mirrored alphabet"
SHARE = "share of members whose code stands mirrored"


def people(rng, n):
    """Strangers to each other: columns of few values, and a code that nobody else has."""
    columns = {
        c: [f"{c}{v}" for v in rng.integers(0, k, n)] for c, k in (("job", 5), ("town", 4), ("sex", 2), ("ill", 3))
    }
    return pl.DataFrame(columns | {"code": [f"{a}x{b}" for a, b in rng.integers(10**6, 10**9, (n, 2))]})


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(1)
    real, holdout, fresh = (people(rng, 200) for _ in range(3))
    # some strangers too, so that no count is too small for an external edition
    mirrored_codes = mirror(pl.concat([real["code"][:80], holdout["code"][:20]]))
    synthetic = fresh.with_columns(code=pl.concat([mirrored_codes, fresh["code"][100:]]))
    return real, synthetic, holdout


@pytest.fixture(scope="module")
def entered():
    """Enter the attack, and take it out of the catalogue again."""
    before = dict(CATALOGUE)

    @attack(
        family="mirrored",
        question="Does somebody's code stand mirrored in the synthetic table?",
        needs="a column of codes",
        reference="This test.",
        words=Words(
            says="I read codes in a mirrored alphabet.", knows="He knows a code.", data="It takes texts.", formula="hit = 0 or 1.",
            reading="0 is nobody, 1 is everybody; negative is fewer members than strangers.", silent=("All else.",),
            settings={"column": "The column of codes."},
        ),
        plan=per_table(),
        primary=Primary("whole codes", lambda variant: variant == "whole"),
        record=Record("mirrored", "any"),
        hit={"": "mirrored:"},
        context={SHARE: Share("real"), "longest run of # letters": Withheld()},
        notes=(NOTE,),
    )  # fmt: skip
    def mirrored(case: Case, *, column: str = "code") -> Result:
        """Return who has a code that stands mirrored in the synthetic table.

        Parameters
        ----------
        column
            The column of codes; nobody is hit where the tables do not have it.

        Examples
        --------
        >>> import polars as pl
        >>> people = pl.DataFrame({"code": ["ab", "cd"]})
        >>> mirrored(people, pl.DataFrame({"code": ["zy", "xy"]})).real.hits
        1.0
        """
        scores = [np.zeros(case.n_rows(role)) for role in ("real", "holdout")]
        if column in case.columns:
            levels = case.pooled(column).levels.cast(pl.String)
            codes = case.codes(column, binned=False)
            present = set(mirror(levels.gather(np.unique(codes[1][codes[1] > 0]) - 1)))
            hit = np.array([False, *(level in present for level in levels)])
            scores = [hit[c].astype(float) for c in (codes[0], *codes[2:])]
        members = Outcomes(scores[0])
        share = float(scores[0].mean())
        plain = Result(
            attack="mirrored", variant="whole", real=rate_of(members), notes=(NOTE,),
            context={SHARE: share, "longest run of 3 letters": 3.0},
            individual=Individual(real=scores[0], holdout=scores[1] if case.has_holdout else None),
        )  # fmt: skip
        if not case.has_holdout:
            return replace(plain, verdict="no holdout")
        strangers = Outcomes(scores[1])
        plain = replace(plain, holdout=rate_of(strangers))
        return judge(plain, compare(members, strangers, level=case.level, rng=case.rng("mirrored")), case.level)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(divulge, "mirrored", mirrored, raising=False)
        yield mirrored
    CATALOGUE.clear()
    CATALOGUE.update(before)


@pytest.fixture(scope="module")
def report(entered, tables):
    real, synthetic, holdout = tables
    return divulge.assess(real, synthetic, holdout=holdout, jobs=1, models=False)


def test_it_alone_finds_the_leak(report):
    found = {r.attack for r in report.results if r.verdict == "excess found"}
    assert found == {"mirrored"}
    assert report.data["verdict"]["verdict"] == "excess found"


@pytest.mark.slow
def test_without_it_the_run_finds_nothing(entered, tables, monkeypatch):
    monkeypatch.delitem(CATALOGUE, "mirrored")
    real, synthetic, holdout = tables
    found = divulge.assess(real, synthetic, holdout=holdout, jobs=1, models=False, search="off")
    assert all(r.verdict != "excess found" for r in found.results)


@pytest.mark.slow
def test_every_document_has_it(report):
    for text in (report.to_html(), report.to_markdown()):
        assert "mirrored" in text
    assert "Does somebody" in report.to_html()
    (result,) = (r for r in report.to_dict()["results"] if r["attack"] == "mirrored")
    assert result["real"]["hits"] == 80
    assert "mirrored: 40.0% of members" in str(next(r for r in report.results if r.attack == "mirrored"))
    assert "mirrored" in str(report)


def test_it_explains_itself(entered):
    assert "I read codes in a mirrored alphabet." in explain("mirrored")
    assert "I read codes in a mirrored alphabet." in page("mirrored")


def test_its_scores_are_recorded(report):
    records = report.records()
    hit = dict(zip(records["row"], records["mirrored"], strict=True))
    assert [row for row, is_hit in sorted(hit.items()) if is_hit] == list(range(80))


def test_the_external_edition_rounds_its_numbers(report):
    (result,) = (r for r in report.external().data["results"] if r["attack"] == "mirrored")
    assert result["real"]["hits"] == 80
    assert result["context"] == {SHARE: 0.4}
    assert NOTE in result["notes"]


@pytest.mark.slow
def test_candidates_are_ranked_by_it(entered, tables):
    real, synthetic, holdout, clean = (
        t.select("job", "sex", "code") for t in (*tables, people(np.random.default_rng(9), 200))
    )
    found = divulge.compare(real, {"leaks": synthetic, "fresh": clean}, holdout=holdout, jobs=1)
    (row,) = (a for a in found.data["attacks"] if a["attack"] == "mirrored")
    assert row["chosen"] == "whole"
    risks = {c["label"]: c["risk"] for c in row["candidates"]}
    assert risks["leaks"] > 0.3 > abs(risks["fresh"])


def test_what_is_not_declared_is_withheld(entered, report):
    rule = CATALOGUE["mirrored"]
    assert rule.rounding("longest run of 12 letters") == Withheld()
    assert rule.rounding("something else") is None
    assert not re.search("longest run", json.dumps(report.external().to_dict()))
