"""What a report gives to people who come from SDMetrics: score, properties, details, figures, info."""

import math
import xml.etree.ElementTree as ET
from typing import get_args

import polars as pl
import pytest

import divulge
from divulge.attacks.checks import SHOWN
from divulge.core.errors import SettingError
from divulge.core.result import Verdict
from divulge.report.report import Report


@pytest.fixture(scope="module")
def reports(keyed, alone):
    return {"compared": keyed, "alone": alone, "external": keyed.external()}


def test_the_score_follows_the_largest_upper_limit(reports):
    report = reports["compared"]
    rows = [(r["risk"]["high_simultaneous"], r["context"].get(SHOWN, 1.0)) for r in report.data["results"]
            if r["risk"] and r["verdict"]]  # fmt: skip
    largest = max(u / min(1, shown) for u, shown in rows if u is not None and shown > 0)
    assert largest > 0
    assert report.get_score() == pytest.approx(1 - min(1, largest))
    assert 0 <= reports["external"].get_score() <= report.get_score()


@pytest.mark.parametrize(("high", "score"), [(0.25, 0.75), (-0.2, 1.0), (1.4, 0.0), (None, math.nan)])
def test_the_score_lies_between_0_and_1(reports, high, score):
    data = dict(reports["compared"].data)
    one = next(r for r in data["results"] if r["risk"] and r["verdict"])
    data["results"] = [one | {"risk": one["risk"] | {"high_simultaneous": high}}]
    assert Report.from_dict(data).get_score() == pytest.approx(score, nan_ok=True)


def test_no_score_where_strangers_do_not_compare_and_more_where_little_of_a_copy_would_show(reports):
    data = dict(reports["compared"].data)
    one = next(r for r in data["results"] if r["risk"] and r["verdict"])
    low = one | {"risk": one["risk"] | {"high_simultaneous": 0.1}}
    for shown, score in ((0.5, 0.8), (0.05, 0.0), (2.0, 0.9), (None, 0.9)):
        data["results"] = [low | {"context": {SHOWN: shown}}]
        assert Report.from_dict(data).get_score() == pytest.approx(score)
    data["preconditions"] = [{"check": "exchangeable", "ok": False, "detail": ""}]
    assert math.isnan(Report.from_dict(data).get_score())


def test_without_a_holdout_there_is_no_score(reports):
    assert math.isnan(reports["alone"].get_score())
    assert reports["alone"].get_properties().is_empty()
    assert reports["alone"].get_properties().columns == ["Property", "Score", "Verdict"]


def test_properties_are_the_attacks_worst_first(reports):
    report = reports["compared"]
    properties = report.get_properties()
    assert properties["Score"].to_list() == sorted(properties["Score"].to_list())
    assert properties["Score"].min() == report.get_score()
    copies = properties.filter(pl.col("Property") == "copies")
    assert copies["Verdict"].to_list() == ["excess found"]
    judged = {r["attack"] for r in report.data["results"] if r["verdict"] and r["risk"]}
    assert set(properties["Property"]) == judged


def test_details_are_the_rows_of_one_attack(reports):
    for report in reports.values():
        details = report.get_details("copies")
        assert set(details["attack"]) == {"copies"}
        assert len(details) == sum(r["attack"] == "copies" for r in report.data["results"])
        assert report.get_details().equals(report.to_frame())


def test_an_unknown_property_is_told_with_the_known_ones(reports):
    for ask in (reports["compared"].get_details, reports["compared"].get_visualization):
        with pytest.raises(SettingError, match=r"hint: one of .*copies"):
            ask("Data Validity")


@pytest.mark.parametrize("which", ["compared", "alone", "external"])
def test_a_figure_is_an_svg_that_stands_alone(reports, which, tmp_path):
    figure = reports[which].get_visualization("inference")
    root = ET.fromstring(figure.to_svg())
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert float(root.get("height")) > 0
    assert root.find("{http://www.w3.org/2000/svg}style").text
    words = [t.text for t in root.iter("{http://www.w3.org/2000/svg}text")]
    results = [
        r for r in reports[which].data["results"] if r["attack"] == "inference" and r["real"]["rate"] is not None
    ]
    assert sum(w.split("  ")[0].isdigit() for w in words if w and "inference (" in w) == len(results) > 0
    marks = [e for e in root.iter() if "mark" in (e.get("class") or "")]
    assert len(marks) == len(results)
    path = figure.save(tmp_path / "figure.svg")
    assert path.read_text() == figure.to_svg() == figure._repr_html_()
    assert "url(" not in figure.to_svg()
    assert "var(" not in figure.to_svg()


def test_info_tells_what_the_report_is(reports):
    info = reports["external"].get_info()
    assert info["report_type"] == "divulge assessment"
    assert info["edition"] == "external"
    assert info["version"] == divulge.__version__
    assert info["num_rows"] == {"real": 160, "synthetic": 160, "holdout": 160}
    assert info["generated_date"] == reports["compared"].data["started"]
    assert reports["alone"].get_info()["num_rows"] == {"real": 160, "synthetic": 160}


def test_the_verdict_is_documented_with_each_of_its_words():
    assert [verdict for verdict in get_args(Verdict) if verdict not in Report.verdict.__doc__] == []
