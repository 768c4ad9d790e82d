"""The calls of the reports beside their scores: what they print, refuse, write and read, and that no value gets out."""

import importlib
import io
import json
import pickle
import re
import sys
import warnings

import numpy as np
import polars as pl
import pytest

from divulge.sdmetrics import reports
from divulge.sdmetrics.reports import DiagnosticReport, QualityReport, pairs, saving
from divulge.sdmetrics.reports.prepared import bins_of

pd = pytest.importorskip("pandas")

RNG = np.random.default_rng(3)
META = {"columns": {"age": {"sdtype": "numerical"}, "job": {"sdtype": "categorical"}, "id": {"sdtype": "id"}}}


def people(n: int = 30) -> "pd.DataFrame":
    age = RNG.integers(20, 60, n)
    return pd.DataFrame({"age": age, "job": np.where(age < 40, "young", "old"), "id": np.arange(n)})


REAL, SYNTHETIC = people(), people()
USERS = pd.DataFrame({"uid": [1, 2, 3], "x": [1.0, 2.0, 5.0]})
ORDERS = pd.DataFrame({"user": [1, 1, 3, 2], "y": [1.0, 2.0, 4.0, 3.0]})
TABLES = {"users": USERS, "orders": ORDERS}
SHOP = {
    "tables": {
        "users": {"columns": {"uid": {"sdtype": "id"}, "x": {"sdtype": "numerical"}}, "primary_key": "uid"},
        "orders": {"columns": {"user": {"sdtype": "id"}, "y": {"sdtype": "numerical"}}},
    },
    "relationships": [
        {
            "parent_table_name": "users",
            "parent_primary_key": "uid",
            "child_table_name": "orders",
            "child_foreign_key": "user",
        }
    ],
}


def made(report=QualityReport, real=REAL, synthetic=SYNTHETIC, metadata=META, **options):
    found = report()
    found.generate(real, synthetic, metadata, verbose=False, **options)
    return found


def test_frames_and_a_dictionary_of_one_table_are_one_report():
    whole = {"tables": {"people": META}}
    frames = made()
    for real, synthetic, metadata in (
        ({"people": REAL}, {"people": SYNTHETIC}, whole),
        (REAL, SYNTHETIC, whole),
        (pl.DataFrame(REAL.to_dict("list")), pl.DataFrame(SYNTHETIC.to_dict("list")), META),
        (REAL.sample(frac=1, random_state=1), SYNTHETIC.iloc[:, ::-1], META),
    ):
        assert made(real=real, synthetic=synthetic, metadata=metadata).get_score() == pytest.approx(frames.get_score())


def test_metadata_may_be_an_object_with_to_dict():
    metadata = type("Metadata", (), {"to_dict": lambda self: SHOP})()
    assert made(real=TABLES, synthetic=TABLES, metadata=metadata).get_score() == 1.0


def test_the_callers_tables_stay_as_they_are():
    dated = REAL.assign(day="2020-01-02")
    before = dated.copy()
    entry = {"columns": {**META["columns"], "day": {"sdtype": "datetime", "datetime_format": "%Y-%m-%d"}}}
    made(real=dated, synthetic=dated, metadata=entry)
    pd.testing.assert_frame_equal(dated, before)


def test_what_is_printed(monkeypatch):
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    QualityReport().generate(REAL, REAL, META)
    printed = re.sub(r"\[[^]]*\]", "[]", out.getvalue())
    assert printed == (
        "Generating report ...\n\n"
        "(1/4) Evaluating Column Shapes: |██████████| 3/3 []|\nColumn Shapes Score: 100.0%\n\n"
        "(2/4) Evaluating Column Pair Trends: |██████████| 3/3 []|\nColumn Pair Trends Score: 100.0%\n\n"
        "(3/4) Evaluating Cardinality: N/A\nThis property does not apply to single-table data.\n\n"
        "(4/4) Evaluating Intertable Trends: N/A\nThis property does not apply to single-table data.\n\n"
        "Overall Score (Average): 100.0%\n\n"
    )


def test_details_of_one_table():
    report = made(real=TABLES, synthetic=TABLES, metadata=SHOP)
    assert report.get_details("Column Shapes", "users")["Column"].tolist() == ["x"]
    assert len(report.get_details("Cardinality", "orders")) == len(report.get_details("Cardinality", "users")) == 1
    with pytest.raises(ValueError, match=r"Unknown table \('zz'\). Must be one of"):
        report.get_details("Column Shapes", "zz")


def test_calls_out_of_turn():
    for call in (QualityReport().get_score, QualityReport().get_properties):
        with pytest.raises(ValueError, match=r"has not been generated. Please call `generate` first"):
            call()
    with pytest.raises(ValueError, match=r"Invalid property name 'X'. Valid property names are 'Column Shapes', "):
        made().get_details("X")
    with pytest.raises(ValueError, match=r"not available for single-table datasets"):
        made().get_details("Cardinality")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((REAL, SYNTHETIC, []), "Expected a dictionary but received a 'list'"),
        ((TABLES, TABLES, META), "must include a 'tables' key"),
        ((REAL, SYNTHETIC, SHOP), "pass in a dictionary mapping tables to dataframes for real_data"),
        ((TABLES, SYNTHETIC, SHOP), "pass in a dictionary mapping tables to dataframes for synthetic_data"),
        (({"user": USERS}, TABLES, SHOP), "no table 'users'.*did you mean 'user'"),
        ((REAL, SYNTHETIC, {"columns": {"age": {}}}), "no 'sdtype'"),
        ((REAL.drop(columns="id"), SYNTHETIC.drop(columns="id"), META), "does not match the data.*: id"),
        ((TABLES, TABLES, {**SHOP, "relationships": [{}]}), "has no 'parent_table_name'"),
        ((REAL, 3, META), "synthetic_data"),
    ],
)
def test_what_is_refused(arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        QualityReport().generate(*arguments, verbose=False)


def test_metadata_with_none_for_a_list():
    tables = {"people": {**META, "alternate_keys": None}}
    whole = {"tables": tables, "relationships": None}
    assert made(DiagnosticReport, {"people": REAL}, {"people": REAL}, whole).get_score() == 1.0


def test_a_column_of_dates_that_the_data_lack_has_an_error():
    metadata = {"columns": {**META["columns"], "day": {"sdtype": "datetime", "datetime_format": "%Y"}}}
    details = made(DiagnosticReport, metadata=metadata).get_details("Data Validity")
    assert details["Error"].tolist()[-2:] == ["KeyError: 'day'"] * 2


def test_a_relation_of_a_table_to_itself():
    staff = pd.DataFrame({"id": [1, 2, 3, 4], "boss": [1.0, 1.0, 2.0, None], "pay": [9, 7, 5, 3]})
    columns = {"id": {"sdtype": "id"}, "boss": {"sdtype": "id"}, "pay": {"sdtype": "numerical"}}
    relation = {**SHOP["relationships"][0], "parent_table_name": "staff", "child_table_name": "staff"}
    relation |= {"parent_primary_key": "id", "child_foreign_key": "boss"}
    metadata = {"tables": {"staff": {"columns": columns}}, "relationships": [relation]}
    report = made(reports.MultiTableQualityReport, {"staff": staff}, {"staff": staff}, metadata)
    assert report.get_score() == 1.0
    assert report.get_details("Intertable Trends")["Column 1"].tolist() == ["pay"]


def test_no_error_quotes_a_value():
    entry = {"columns": {"a": {"sdtype": "numerical"}, "b": {"sdtype": "categorical"}, "c": {"sdtype": "datetime"}}}
    entry["columns"]["c"]["datetime_format"] = "%Y"
    table = pd.DataFrame({"a": ["Alice-7", "Bob-8", "x"], "b": ["q", "r", "q"], "c": ["Alice-7", "2020", "2021"]})
    for report in (QualityReport, DiagnosticReport):
        found = made(report, table, table, entry)
        texts = [found.get_details(p).to_csv() for p in found.get_properties()["Property"]]
        assert any("Error" in text for text in texts)
        assert not any("Alice" in text for text in texts)


# --- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("report", [QualityReport, DiagnosticReport])
def test_a_saved_report_is_read_as_it_was(report, tmp_path):
    relation = {**SHOP["relationships"][0], "parent_primary_key": ["uid"], "child_foreign_key": ["user"]}
    ours = made(report, TABLES, {**TABLES, "users": USERS.assign(x=1.0)}, {**SHOP, "relationships": [relation]})
    ours.save(tmp_path / "r.json")
    read = report.load(tmp_path / "r.json")
    assert read.get_score() == ours.get_score()
    assert read.get_info() == ours.get_info()
    pd.testing.assert_frame_equal(read.get_properties(), ours.get_properties())
    for name in ours.get_properties()["Property"]:
        pd.testing.assert_frame_equal(read.get_details(name), ours.get_details(name))


def test_a_saved_report_has_no_value_of_the_data(tmp_path):
    made(real=REAL.assign(job="SECRET"), synthetic=SYNTHETIC.assign(job="SECRET")).save(tmp_path / "r.json")
    text = (tmp_path / "r.json").read_text(encoding="utf-8")
    assert "SECRET" not in text
    assert json.loads(text)["info"]["sdmetrics_version"] == "0.32.0"


def test_files_that_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "r"

    def refused(content: bytes, message: str) -> None:
        path.write_bytes(content)
        with pytest.raises(ValueError, match=message):
            QualityReport.load(path)

    refused(pickle.dumps({"a": 1}), "is a pickle.*hint: load it with SDMetrics, or generate the report here")
    refused(b"no json", "is no JSON")
    refused(b"[" * 100_000, "is no JSON")
    refused(b'{"format": 3}', "is no saved report")
    made(DiagnosticReport).save(path)
    refused(path.read_bytes(), "holds a 'DiagnosticReport'")
    made().save(path)
    content = path.read_bytes()
    refused(content.replace(b"Column Shapes", b"Row Shapes"), "was changed")
    refused(re.sub(rb'"Score": [0-9.]+', b'"Score": "much"', content), "was changed")
    monkeypatch.setattr(saving, "LIMIT", 100)
    refused(content, "more than 0 MB")


# --- deprecated paths -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", ["single_table", "multi_table"])
def test_the_deprecated_paths_warn_at_import(shape):
    module = f"divulge.sdmetrics.reports.{shape}"
    for name in [m for m in sys.modules if m.startswith(module)]:
        del sys.modules[name]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        importlib.import_module(module)
    assert sum(w.category is FutureWarning for w in caught) == 2


def test_the_deprecated_reports_of_one_table():
    report = made(reports.SingleTableQualityReport)
    assert report.get_score() == made().get_score()
    assert list(report.get_details("Column Shapes")) == ["Column", "Metric", "Score"]
    assert report.get_info()["num_rows_real_data"] == 30
    with pytest.raises(ValueError, match=r"use the multi-table QualityReport"):
        made(reports.SingleTableQualityReport, TABLES, TABLES, SHOP)
    with pytest.raises(ValueError, match=r"use the single-table QualityReport"):
        made(reports.MultiTableQualityReport)
    with pytest.raises(AttributeError, match=r"no attribute 'Nothing'"):
        _ = reports.Nothing


# --- counts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_bins_are_those_of_numpy(seed):
    rng = np.random.default_rng(seed)
    whole = rng.integers(-50, 50, 400)
    for values in (
        rng.normal(size=400),
        whole,
        whole / 10,
        whole + 2**53,
        whole * 1e-300,
        1e9 + whole * 1e-7,
        whole[:1],
    ):
        edges = np.histogram_bin_edges(values)
        assert bins_of(values, edges).tolist() == np.digitize(values, edges).tolist()


def test_large_tables_of_counts_give_the_same(monkeypatch):
    frame = people(50)
    whole = made(synthetic=frame).get_details("Column Pair Trends")
    monkeypatch.setattr(pairs, "DENSE", 0)
    monkeypatch.setattr(pairs, "_CELLS_AT_ONCE", 1)
    pd.testing.assert_frame_equal(made(synthetic=frame).get_details("Column Pair Trends"), whole)


def gaps_and_all(n: int, seed: int) -> "pd.DataFrame":
    rng = np.random.default_rng(seed)
    level = rng.normal(size=n)
    texts = np.array(["a", "b", "c", None], dtype=object)
    table = {
        "a": level + rng.normal(size=n),
        "b": np.where(rng.random(n) < 0.2, np.nan, level),
        "c": np.where(rng.random(n) < 0.1, np.nan, level**2),
        "d": texts[np.clip(level + 2, 0, 3).astype(int)],
        "e": texts[np.clip(2 * level + 1, 0, 3).astype(int)],
        "f": rng.integers(0, 3, n),
    }
    return pd.DataFrame(table)


MIXED = {"columns": {name: {"sdtype": "categorical" if name in "def" else "numerical"} for name in "abcdef"}}


@pytest.mark.parametrize("n", [60, 1500])
def test_neither_kind_of_frame_nor_order_of_rows_changes_a_digit(n):
    real, synthetic = gaps_and_all(n, 1), gaps_and_all(n - 20, 2)
    turned = [t.sample(frac=1, random_state=1)[list("fedcba")] for t in (real, synthetic)]
    kinds = [turned, [pl.from_pandas(t) for t in (real, synthetic)], [pl.from_pandas(t).to_arrow() for t in turned]]
    wanted = made(real=real, synthetic=synthetic, metadata=MIXED)
    for pair in kinds:
        found = made(real=pair[0], synthetic=pair[1], metadata=MIXED)
        for name in ("Column Shapes", "Column Pair Trends"):
            pd.testing.assert_frame_equal(found.get_details(name), wanted.get_details(name), check_exact=True)


def test_a_pair_that_passes_has_the_score_that_it_has_without_thresholds():
    real, synthetic = gaps_and_all(400, 1), gaps_and_all(380, 2)
    every = QualityReport()
    every.real_correlation_threshold = every.real_association_threshold = 0
    every.generate(real, synthetic, MIXED, verbose=False)
    found = made(real=real, synthetic=synthetic, metadata=MIXED).get_details("Column Pair Trends")
    passed = found["Meets Threshold?"].to_numpy(dtype=bool)
    whole = every.get_details("Column Pair Trends")
    assert not passed.all() and passed.sum() > 4 and found["Score"][~passed].isna().all()
    assert found["Score"][passed].tolist() == whole["Score"][passed].tolist()


def test_correlations_of_columns_with_gaps_are_those_of_pairs():
    from divulge.sdmetrics.column_pairs import CorrelationSimilarity
    from divulge.sdmetrics.reports.correlations import correlations
    from divulge.sdmetrics.reports.tables import columns_from

    real, synthetic = (gaps_and_all(300, seed)[list("abcf")] for seed in (1, 2))
    for frame in (real, synthetic):
        frame["g"] = np.where(np.arange(300) < 3, frame["a"], np.nan)  # hardly a row
        frame["h"] = frame["a"] * 1e-200  # too small to square
    columns = [columns_from(t, "real_data") for t in (real, synthetic)]
    found = correlations({name: (columns[0][name], columns[1][name]) for name in real})
    names = ["a", "b", "c", "f"]
    assert {pair for pair in found if pair[0] < pair[1] and "g" not in pair} == {
        (a, b) for a in names for b in names if a < b
    }
    for a, b in found:
        if a != b:
            one = CorrelationSimilarity.compute_breakdown(real[[a, b]], synthetic[[a, b]])
            assert found[a, b] == pytest.approx((one["real"], one["synthetic"]), rel=0, abs=1e-12)
