"""A report saved as Parquet, beside JSON."""

import io
import json

import polars as pl
import pytest

from divulge.sdmetrics.reports import DiagnosticReport, QualityReport, saving, saving_parquet

PEOPLE = pl.DataFrame({"a": ["x", "x", "y", "SECRET"], "b": [1.0, 2.0, 4.0, None], "k": [1, 2, 3, 4]})
OTHERS = pl.DataFrame({"a": ["x", "z", "y", "SECRET"], "b": [1.0, 2.5, 4.0, 3.0], "k": [1, 2, 3, 3]})
COLUMNS = {"a": {"sdtype": "categorical"}, "b": {"sdtype": "numerical"}, "k": {"sdtype": "categorical"}}
KEY = ["a", "k"]
METADATA = {
    "tables": {
        "p": {"columns": COLUMNS, "primary_key": KEY},
        "c": {"columns": {**COLUMNS, "a": {"sdtype": "datetime"}}},
    },
    "relationships": [
        {
            "parent_table_name": "p",
            "parent_primary_key": KEY,
            "child_table_name": "c",
            "child_foreign_key": KEY,
        }
    ],
}
"""A composite key, and a column of texts that are called dates, so that some scores are errors."""


@pytest.fixture(params=[QualityReport, DiagnosticReport])
def report(request):
    found = request.param()
    found.generate({"p": PEOPLE, "c": PEOPLE}, {"p": OTHERS, "c": OTHERS}, METADATA, verbose=False)
    return found


def everything(report):
    """All that a report says, with missing numbers as text."""
    return repr((report.get_info(), report.get_score(), report.scores(), report.content().properties))


@pytest.mark.parametrize("name", ["r.json", "r.parquet", "r.PQ", "report.pkl"])
def test_what_is_read_is_what_was_written(report, name, tmp_path):
    report.save(tmp_path / name)
    content = (tmp_path / name).read_bytes()
    assert content.startswith(b"PAR1") == name.lower().endswith((".parquet", ".pq"))
    assert b"SECRET" not in content
    again = type(report).load(tmp_path / name)
    assert everything(again) == everything(report)
    assert again.content().errors() or isinstance(report, DiagnosticReport)
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_any_reader_finds_the_scores(report, tmp_path):
    report.save(tmp_path / "r.parquet")
    frame = pl.read_parquet(tmp_path / "r.parquet").filter(pl.col("Property").is_not_null())
    found = {name: len(p) for (name,), p in frame.group_by("Property")}
    assert found == {p.name: len(p.rows) for p in report.content().properties if p.rows}
    assert frame.schema["Score"] == pl.Float64


def test_json_has_the_scores_of_the_properties(report, tmp_path):
    report.save(tmp_path / "r.json")
    found = json.loads((tmp_path / "r.json").read_text())["properties"]
    assert {k: v for k, v in found.items() if v is not None} == {k: v for k, v in report.scores().items() if v == v}


def test_names_that_are_numbers_come_back_as_numbers(tmp_path):
    pd = pytest.importorskip("pandas")
    report = QualityReport()
    frame = pd.DataFrame({0: [1.0, 2.0, 3.0], 1: [1.0, 2.0, 3.5]})
    report.generate(frame, frame, {"columns": {0: {"sdtype": "numerical"}, 1: {"sdtype": "numerical"}}}, verbose=False)
    for name in ("r.json", "r.parquet"):
        report.save(tmp_path / name)
        details = QualityReport.load(tmp_path / name).get_details("Column Shapes")
        assert details["Column"].tolist() == [0, 1]


def written(frame):
    file = io.BytesIO()
    frame.write_parquet(file)
    return file.getvalue()


def test_files_that_are_no_report_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "r.parquet"
    head = {"Report": ['{"details of": []}'], "Property": [None], "Coded": [[]]}
    cases = [
        b"PAR1" + b"\0" * 50,
        written(PEOPLE),
        written(pl.DataFrame(head).clear()),
        written(pl.DataFrame({**head, "Report": ["no json"]})),
        written(pl.DataFrame({**head, "Report": ["[]"]})),
        written(pl.DataFrame({"Report": ['{"details of": ["X"]}', None], "Property": [None, "Y"], "Coded": [[], []]})),
    ]
    for content in cases:
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"the file is no Parquet of a report. hint: "):
            QualityReport.load(path)
    path.write_bytes(written(pl.DataFrame(head)))
    with pytest.raises(ValueError, match="no saved report"):
        QualityReport.load(path)
    for name in ("MOST_ROWS", "_MOST_TEXT"):
        with monkeypatch.context() as patch:
            patch.setattr(saving_parquet, name, 0)
            with pytest.raises(ValueError, match="no Parquet of a report"):
                QualityReport.load(path)
    monkeypatch.setattr(saving, "LIMIT", 10)
    with pytest.raises(ValueError, match="more than 0 MB"):
        QualityReport.load(path)


def test_a_quality_report_is_no_diagnostic_report(report, tmp_path):
    other = DiagnosticReport if isinstance(report, QualityReport) else QualityReport
    report.save(tmp_path / "r.parquet")
    with pytest.raises(ValueError, match="is read by the class of that name"):
        other.load(tmp_path / "r.parquet")
