"""What holds for every entry of the catalogue, so that a new attack needs no line elsewhere."""

import re
import subprocess
import sys

import numpy as np
import pytest
from test_laws import draw, results_of

import divulge
from divulge.attacks.catalogue import CATALOGUE
from divulge.attacks.entry import Coarse
from divulge.core.result import TOWARDS, Result
from divulge.report.external.known_sentences import is_ours

REWRITTEN = (
    "near: ",
    "cannot tell: the interval is too wide",
    "cannot tell: limits and p-value disagree",
    "cannot tell: too few",
)
"""Notes that an external edition words anew, without their exact numbers."""

QUOTING = " and was used because it was named"
"""A note that quotes why a column is of its kind: a schema file may say so in anybody's words."""


@pytest.fixture(scope="module")
def found():
    """Results of every attack on small tables, with and without copies, units and holdout."""
    out = []
    for seed, (copied, units, holdout) in enumerate([(0.3, False, True), (1.0, True, True), (0.0, False, False)]):
        tables, options = draw(seed, (50, 45, 40), copied, units, holdout)
        out += [r for r in results_of(tables, **options).values() if isinstance(r, Result)]
    tables, _ = draw(3, (3, 4, 2), 0.5)
    return out + [r for r in results_of(tables).values() if isinstance(r, Result)]


@pytest.fixture(
    scope="module", params=[pytest.param("searched", marks=pytest.mark.slow), "keyed", "no holdout", "one column"]
)
def report(request):
    (real, synthetic, holdout), _ = draw(5, (60, 60, 60), 0.3)
    asked = {"keyed": {"keys": ["job", "rooms"], "targets": ["illness"]}, "searched": {"targets": ["illness"]}}
    if request.param == "one column":
        real, synthetic, holdout = (t.select("illness") for t in (real, synthetic, holdout))
    strangers = None if request.param == "no holdout" else holdout
    return divulge.assess(real, synthetic, holdout=strangers, jobs=1, models=False, **asked.get(request.param, {}))


def test_every_attack_stands_in_a_report_or_says_why_not(report):
    made = {r["attack"] for r in report.data["results"]} | {f["attack"] for f in report.data["failed"]}
    said = {n["attack"]: n["why"] for n in report.data["not_run"]}
    assert made | said.keys() == CATALOGUE.keys()
    assert not made & said.keys()
    assert all(said.values())


def test_what_is_not_run_is_in_every_document(report):
    for text in (report.to_html(), report.to_markdown()):
        for one in report.data["not_run"]:
            assert one["attack"].replace("_", " ") in text
            assert one["why"] in text
    assert report.external().data["not_run"] == report.data["not_run"]


def test_every_further_number_is_declared(found):
    undeclared = {(r.attack, n) for r in found for n in r.context if CATALOGUE[r.attack].rounding(n) is None}
    assert undeclared == set()


def test_every_note_is_declared(found):
    notes = {(r.attack, n) for r in found for n in r.notes if not n.startswith(REWRITTEN) and QUOTING not in n}
    assert {(a, n) for a, n in notes if not is_ours(n)} == set()


def test_every_value_has_a_rounding(found):
    assert {r.attack for r in found if r.value is not None and CATALOGUE[r.attack].coarse is None} == set()


def test_which_attacks_compare_members_with_strangers_is_declared(found):
    judged = {r.attack for r in found if r.comparison is not None}
    assert judged == {n for n, a in CATALOGUE.items() if a.compared}


def test_rates_of_rows_are_declared(found):
    assert {r.attack for r in found if TOWARDS in r.context} == {n for n, a in CATALOGUE.items() if a.counts == "rows"}
    assert {r.counts for r in found} == {"people", "rows", "guesses"}


def test_recorded_scores_are_there(found):
    for name, entry in CATALOGUE.items():
        if entry.record is not None:
            assert any(r.attack == name and r.individual is not None and entry.record.of(r.variant) for r in found), (
                name
            )


def test_primaries_are_made(found):
    for name, entry in CATALOGUE.items():
        if entry.primary is not None:
            made = [r.variant for r in found if r.attack == name]
            p = entry.primary
            assert any(p.always(v) or p.named(v) or v in p.first for v in made), name


def test_columns_of_the_records_are_told_apart():
    columns = [a.record.column for a in CATALOGUE.values() if a.record is not None]
    assert len(columns) == len(set(columns))


def test_weights_are_told_apart():
    weights = [a.weight for a in CATALOGUE.values() if a.weight]
    assert len(weights) == len(set(weights))
    assert np.array(weights).min() > 0


def test_values_of_synthetic_rows_are_known_by_their_variant():
    assert Coarse("median", rows="synthetic rows").of_rows("synthetic rows")
    assert not Coarse("median", rows="synthetic rows").of_rows("people")
    assert Coarse("share", rows="").of_rows("whatever")
    assert not Coarse("share").of_rows("")


@pytest.mark.slow  # a process of its own
def test_the_order_is_that_of_the_list_whatever_was_loaded_first():
    told = "import divulge; divulge.cap, divulge.pmse; from divulge.attacks.entry import CATALOGUE; print(list(CATALOGUE)); "
    told += "from divulge.measures.catalogue import all_measures; print([m.name for m in all_measures()])"
    alone = subprocess.run([sys.executable, "-c", told], check=True, capture_output=True, text=True).stdout.splitlines()
    attacks, measures = (re.findall(r"'(\w+)'", line) for line in alone)
    assert attacks[:3] == ["copies", "named_in_texts", "dcr"] and attacks[-1] == "cap_minimum"
    assert measures[:2] == ["column_shapes", "column_pairs"] and measures.index("detection") < measures.index("pmse")
