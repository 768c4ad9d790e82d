"""Which columns matter to models: said alike in the terminal, the frame, the JSON, the page and the report of a run."""

import numpy as np
import polars as pl
import pytest
from test_what_is_kept import report

import divulge
from divulge.measures import ml_efficacy
from divulge.measures.result import FidelityResult
from divulge.report.documents.html import page
from divulge.report.fidelity import Fidelity

LINE = "columns that matter for pay: rank correlation 0.91 gradient boosting, 0.80 linear (two real parts: 0.95, 0.85)"
FEW = "columns that matter for sex: not compared for gradient boosting: fewer than three columns predict the target"
WHY = "importances of columns are not compared: fewer than three columns predict the target"


def learned():
    def one(variant, own, real):
        context = {"importance_agreement": own, "importance_agreement_real": real, "kept": 0.9}
        return FidelityResult(
            measure="ml_efficacy", variant=variant, target="pay", quantity="skill", value=0.5, verdict="differs",
            context=context,
        )  # fmt: skip

    few = FidelityResult(
        measure="ml_efficacy", variant="gradient boosting", target="sex", quantity="skill", value=0.1,
        verdict="cannot tell", notes=(WHY,),
    )  # fmt: skip
    return one("gradient boosting", 0.91, 0.95), one("linear", 0.8, 0.85), few


def test_every_document_says_which_columns_matter():
    settings = {"n_real": 9, "n_synthetic": 9, "n_holdout": 9, "tolerance": 0.05, "level": 0.95, "seed": 0}
    found = Fidelity(learned(), settings)
    assert [line.strip() for line in str(found).splitlines() if "matter" in line] == [LINE, FEW]
    shown = found.to_html()
    assert LINE.capitalize() in shown
    assert FEW.capitalize() in shown
    assert "target pay (linear)" in shown
    assert found.to_dict()["fidelity"][1]["context"]["importance_agreement"] == 0.8
    frame = found.to_frame().select("importance_agreement", "importance_agreement_real", "kept")
    assert frame.rows() == [(0.91, 0.95, 0.9), (0.8, 0.85, 0.9), (None, None, None)]


def test_the_page_says_what_was_done_to_the_tables():
    settings = {"n_real": 9, "n_synthetic": 9, "n_holdout": 0, "tolerance": 0.05, "level": 0.95, "seed": 0}
    note = "real: columns that not all tables have are left out, 1 in all: '<b>'"
    assert "1 in all: &#39;&lt;b&gt;&#39;" in Fidelity(learned(), settings, (note,)).to_html()


def test_columns_that_no_measure_compares_are_named():
    tables = [pl.DataFrame({"id": [f"p{k}-{i}" for i in range(60)], "sex": ["f", "m"] * 30}) for k in range(2)]
    found = divulge.fidelity(*tables, measures=["column_shapes"])
    assert found.notes == ("columns that no measure compares, 1 in all: 'id' (an identifier)",)


@pytest.mark.slow
def test_of_more_subgroups_than_are_listed_the_least_is_told():
    rng = np.random.default_rng(0)
    real, other = (
        pl.DataFrame({"sex": rng.choice(["f", "m"], 400)} | {f"x{i}": rng.normal(size=400) + d for i in range(9)})
        for d in (0, 3)
    )
    told = str(divulge.fidelity(real, other, measures=["subgroups"], groups=["sex"]))
    assert "; at least 50 of 90 differ" in told


def test_the_report_of_a_run_says_it_too():
    shown = page(report(more=learned()), [])
    assert LINE.capitalize() in shown
    assert "target pay (linear)" in shown


@pytest.mark.slow
def test_each_model_says_which_columns_matter_or_why_not(monkeypatch):
    for draws in ("_DRAWS", "_NOISE"):
        monkeypatch.setattr(ml_efficacy, draws, 19)  # for the time
    rng = np.random.default_rng(0)

    def people(n):
        a, b, c = rng.normal(size=(3, n))
        return pl.DataFrame({"a": a, "b": b, "c": c, "y": 2 * a + b + rng.normal(size=n) / 4})

    found = divulge.ml_efficacy(people(800), people(400), holdout=people(300), targets=["y"])
    assert [f.context["importance_agreement"] for f in found] == [1.0, 1.0, 1.0]  # a before b before c
    alone = divulge.ml_efficacy(
        people(800).select("a", "y"), people(400).select("a", "y"), holdout=people(300).select("a", "y"), targets=["y"]
    )
    assert all(f.notes[-1] == WHY and "importance_agreement" not in f.context for f in alone)
