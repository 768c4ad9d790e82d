"""`divulge.fidelity`: all measures, corrected over all, with documents, plug-ins, and what the holdout says."""

import json
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import polars as pl
import pytest

import divulge
from divulge.measures import catalogue
from divulge.measures.catalogue import all_measures
from divulge.measures.entry import MeasureWords
from divulge.measures.registry import GROUP, REGISTRY, measure
from divulge.measures.result import FidelityResult
from divulge.report.fidelity import Fidelity

FAST = ["column_shapes", "column_pairs", "missing_patterns", "validity"]


def people(seed, n=600, shift=0.0):
    rng = np.random.default_rng(seed)
    job = rng.integers(0, 4, n)
    return pl.DataFrame(
        {
            "age": (rng.gamma(9, 4, n) + shift).round(3),
            "job": [f"secret{v}" for v in job],
            "home": rng.choice(["own", "let"], n),
        }
    )


@pytest.fixture(scope="module")
def found():
    return divulge.fidelity(people(1), people(2, shift=4), holdout=people(3), measures=FAST)


def test_every_measure_has_its_first_result(found):
    assert [r.measure for r in found.headlines()] == FAST
    assert [r.columns for r in found.headlines()] == [()] * 4
    assert found.of("column_shapes")[0].verdict == "differs"
    assert found.of("missing_patterns")[0].verdict == "not measured"
    assert found.warnings == ()
    assert repr(found) == "<Fidelity 2 differs, 1 like a fresh sample, 1 not measured>"


def test_p_values_are_corrected_over_the_measures(found):
    (age,) = (r for r in found.of("column_shapes") if r.columns == ("age",))
    (alone,) = (
        r for r in divulge.column_shapes(people(1), people(2, shift=4), holdout=people(3)) if r.columns == ("age",)
    )
    assert alone.p_adjusted == 0.001
    assert age.p_adjusted == pytest.approx(0.0025)  # three measures have p-values, validity counts half


def test_documents_hold_no_value(found):
    for text in (found.to_json(), found.to_html(), str(found), str(found.to_frame().to_dicts())):
        assert "secret" not in text
        assert "age" in text
    data = json.loads(found.to_json())
    assert set(data) == {"differing", "settings", "warnings", "notes", "fidelity"}
    assert data["settings"]["n_holdout"] == 600
    assert len(data["fidelity"]) == len(found.results) == len(found.to_frame())
    lines = str(found).splitlines()
    assert lines[0] == "age differs; 2 results follow from it"
    assert [line for line in lines if line.startswith("column shapes: differs by at least 0.")]
    assert "  column shapes: age: distance 0." in str(found)
    assert "); 1 of 3 differ\n" in str(found)
    assert "undefined" not in str(found)


def test_a_copy_points_to_the_risk_and_a_model_names_its_columns():
    found = divulge.fidelity(people(1), people(1), measures=["column_shapes"])
    assert str(found).splitlines()[0].endswith("; 2 of 3 are closer; see `divulge assess` for copies")
    told = FidelityResult(
        measure="detection", quantity="AUC", value=0.7, verdict="differs",
        context={"column_1": "age", "drop_1": 0.2, "column_2": "job", "drop_2": 0.1},
    )  # fmt: skip
    other = FidelityResult(measure="detection", variant="logistic", quantity="AUC", value=0.6, verdict="differs")
    made = Fidelity((told, other), {"n_real": 1, "n_synthetic": 1, "n_holdout": 0, "tolerance": 0.05, "seed": 0})
    assert str(made).splitlines()[1:] == ["  detection (logistic): AUC 0.600", "  tells: age, job"]
    page = made.to_html()
    assert "<bdi>age</bdi> (0.200), <bdi>job</bdi> (0.100)." in page and "AUC 0.700" in page


def test_red_is_for_leaks(found):
    assert '<span class="v unsure">differs</span>' in found.to_html()


def test_names_are_untrusted_text():
    bad = "<script>alert(1)</script>"
    tables = [t.rename({"age": bad}) for t in (people(1, 60), people(2, 60))]
    page = divulge.fidelity(*tables, measures=["column_shapes"]).to_html()
    assert bad not in page

    class Tags(HTMLParser):
        n_scripts = 0

        def handle_starttag(self, tag, attrs):
            self.n_scripts += tag == "script"

    parser = Tags()
    parser.feed(page)
    assert parser.n_scripts == 1


def test_frames_are_of_the_kind_of_the_real_table():
    found = divulge.fidelity(people(1, 60).to_pandas(), people(2, 60), measures=["column_shapes"])
    assert isinstance(found.to_frame(), pd.DataFrame)


def test_a_holdout_of_other_people_is_named():
    found = divulge.fidelity(people(1), people(2), holdout=people(3, shift=8), measures=FAST)
    assert found.warnings[0].startswith("the holdout is no fresh sample of the real table (column shapes, column pairs")
    assert str(found).startswith("warning: the holdout")
    assert "Before you read the verdicts" in found.to_html()


def test_settings_reach_the_measures_that_take_them():
    found = divulge.fidelity(people(1), people(2, shift=2), measures=["column_shapes", "tails"], tolerance=0.3)
    assert found.of("column_shapes")[0].tolerance == 0.3
    assert found.of("tails")[0].tolerance == 0.2


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"tolerance": 1.5}, "tolerance: this is no number from 0 to below 1. hint: "),
        ({"measures": ["shapes"]}, "measures: no measure 'shapes'. hint: there are column_shapes, "),
        ({"measures": []}, "measures: the list is empty. hint: "),
        ({"targets": ["pay"]}, "targets: no column 'pay'"),
    ],
)
def test_mistakes_are_told_before_tables_are_compared(settings, said):
    with pytest.raises(divulge.DivulgeError) as error:
        divulge.fidelity(people(1, 30), people(2, 30), **settings)
    assert str(error.value).startswith(said)


def test_a_measure_without_its_holdout_is_not_measured(monkeypatch):
    monkeypatch.setattr(f"{catalogue.__name__}._load_others", lambda: ())
    words = MeasureWords("What.", "f", "0.", ("Nothing.",))

    def planted(case, *, tolerance=0.05):
        return (FidelityResult(measure="planted", value=0.0, p_adjusted=0.001),)

    measure(family="joint", question="?", needs="", reference="", better="lower", null="", words=words, holdout=True)(
        planted
    )
    try:
        without = divulge.fidelity(people(1, 30), people(2, 30), measures=["planted"])
        assert without.results[0].notes == ("there is no holdout, and it needs one",)
        with_it = divulge.fidelity(people(1, 30), people(2, 30), holdout=people(3, 30), measures=["planted"])
        assert with_it.results[0].verdict == "differs"
        assert "planted" in with_it.to_html()
    finally:
        del REGISTRY["planted"]


def test_a_broken_measure_of_another_package_is_told_and_stops_no_run(monkeypatch):
    class Point:
        name = "theirs"

        def load(self):
            raise ImportError("secret text of their package")

    catalogue._load_others.cache_clear()
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [Point()] if group == GROUP else [])
    found = divulge.fidelity(people(1, 30), people(2, 30), measures=["column_shapes", "theirs"])
    (theirs,) = found.of("theirs")
    assert theirs.verdict == "not measured" and found.of("column_shapes")[0].value is not None
    assert theirs.notes == (
        "another package has this measure in divulge.measures, and it cannot be imported: ImportError",
    )
    assert "secret" not in str(found) and "theirs" in found.to_html()
    catalogue._load_others.cache_clear()
    monkeypatch.undo()
    assert {"column_shapes", "validity"} <= {m.name for m in all_measures()}
