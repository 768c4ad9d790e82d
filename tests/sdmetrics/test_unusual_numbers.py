"""Columns of numbers in unusual types have the same scores in memory, by a schema and by engine."""

import datetime
import json
import warnings
from decimal import Decimal

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from divulge.cli.root import cli
from divulge.sdmetrics import single_column, single_table
from divulge.sdmetrics.reports import DiagnosticReport, QualityReport

N = 120
GAPS = ("some decimals", "some durations", "some times", "some large numbers")


def gaps(values):
    return [None if i % 11 == 5 else v for i, v in enumerate(values)]


def rows(seed):
    """Return one column of numbers in many types, and another that depends on it."""
    rng = np.random.default_rng(seed)
    v = rng.integers(0, 4000, N).tolist()
    times = [datetime.time(n // 3600, n // 60 % 60, n % 60) for n in v]
    return pa.table(
        {
            "plain": pa.array(v),
            "decimals": pa.array([Decimal(n).scaleb(-2) for n in v], pa.decimal128(12, 2)),
            "long decimals": pa.array([Decimal(f"{10**30}.{n:04}") for n in v], pa.decimal128(38, 4)),
            "whole decimals": pa.array([Decimal(10**21 + n) for n in v], pa.decimal128(38, 0)),
            "durations": pa.array(v, pa.duration("s")),
            "times": pa.array(times, pa.time64("us")),
            "halves": pa.array(np.array(v, dtype=np.float16)),
            "dictionary": pa.array(v).dictionary_encode(),
            "some decimals": pa.array(gaps([Decimal(n).scaleb(-2) for n in v]), pa.decimal128(12, 2)),
            "some durations": pa.array(gaps([n * 10**6 for n in v]), pa.duration("us")),
            "some times": pa.array(gaps(times), pa.time64("us")),  # polars 1.25 loses those of time32 beside gaps
            "some large numbers": pa.array(gaps([n + 2**62 for n in v]), pa.int64()),
            "group": pa.array([n // 1000 for n in v]),
            "other": pa.array(rng.normal(size=N) + np.array(v) / 1000),
        }
    )


NAMES = rows(1).column_names
METADATA = {"columns": {name: {"sdtype": "categorical" if name == "group" else "numerical"} for name in NAMES}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("readings")
    for seed, name in ((1, "real"), (2, "synthetic")):
        pq.write_table(rows(seed), path / f"{name}.parquet")
    return path


def told(report):
    """Return score and error of each column, and of each column beside the other one."""
    found = {}
    for shown in report.content().properties:
        for row in shown.rows:
            names = tuple(row[key] for key in ("Column", "Column 1", "Column 2") if key in row)
            numbers = [row.get(k) for k in ("Score", "Real Correlation", "Synthetic Correlation")]
            found[names] = (
                row["Metric"],
                *(None if x is None or x != x else round(x, 9) for x in numbers),
                row["Error"],
            )
    return found


@pytest.fixture(scope="module", params=[QualityReport, DiagnosticReport])
def kind(request):
    class Made(request.param):
        real_correlation_threshold = real_association_threshold = 0

    return Made


def in_memory(kind):
    report = kind()
    report.generate(rows(1), rows(2), METADATA, verbose=False)
    return told(report)


def test_each_type_of_number_has_the_scores_of_plain_numbers(kind):
    found = in_memory(kind)
    for name in set(NAMES) - {"other", "group", "halves", *GAPS}:  # halves of 11 bits are rounded
        for names in ((name,), (name, "other"), (name, "group")):
            if (plain := ("plain", *names[1:])) in found:
                assert found[names] == found[plain], names
    for names, row in found.items():
        assert "people" in names or (row[1] is not None and row[-1] is None), names


@pytest.mark.parametrize("engine", ["duckdb", "polars"])
def test_an_engine_has_the_scores_of_memory(folder, kind, engine):
    known = duckdb.read_parquet(str(folder / "real.parquet"))
    if engine == "duckdb" and dict(zip(known.columns, map(str, known.types), strict=True))["halves"] == "BLOB":
        pytest.skip("this DuckDB reads halves as bytes")
    report = kind()
    report.generate_in(engine, folder / "real.parquet", folder / "synthetic.parquet", METADATA)
    expected = in_memory(kind) | {k: v for k, v in told(report).items() if "Data Structure" in k}
    assert told(report) == expected


def called(folder, *arguments):
    found = CliRunner().invoke(cli, [str(a) for a in arguments])
    assert found.exit_code == 0, found.output
    return found.output


@pytest.mark.slow
@pytest.mark.parametrize("command", ["quality", "diagnose"])
def test_durations_and_times_are_numbers_without_a_schema_by_one_and_by_engine(folder, command):
    tables = [folder / "real.parquet", folder / "synthetic.parquet"]
    (folder / "schema.toml").write_text(called(folder, "schema", tables[0]))
    scores = []
    for more in ([], ["--schema", folder / "schema.toml"], ["--engine", "duckdb"], ["--engine", "polars"]):
        called(folder, command, *tables, "--json", folder / "found.json", "-q", *more)
        saved = json.loads((folder / "found.json").read_text())
        name = "Column Shapes" if command == "quality" else "Data Validity"
        scores.append({row["Column"]: (row["Metric"], row["Score"]) for row in saved["details"][name]})
    assert all(found == scores[0] for found in scores)
    metric = "KSComplement" if command == "quality" else "BoundaryAdherence"
    for name in ("durations", "times", "some durations", "some times", "decimals", "some decimals"):
        assert scores[0][name][0] == metric and scores[0][name][1] is not None


def test_whole_numbers_of_128_bits_stay_apart():
    large, small = (
        [
            pl.DataFrame(
                {"v": pl.Series([n + add for n in values], dtype=pl.Int128), "g": ["a", "b"] * (len(values) // 2)}
            )
            for values in ([3, 8, 20, 31], [4, 9, 19, 30])
        ]
        for add in (10**21, 0)
    )
    metadata = {"columns": {"v": {"sdtype": "numerical"}, "g": {"sdtype": "categorical"}}}
    for metric in (single_table.KSComplement, single_table.RangeCoverage):
        assert metric.compute(*large, metadata) == metric.compute(*small, metadata) < 1
    closest = single_table.DCRBaselineProtection.compute_breakdown
    distances = [closest(*t, metadata)["median_DCR_to_real_data"]["synthetic_data"] for t in (large, small)]
    assert distances[0] == distances[1] > 0


@pytest.mark.parametrize("dtype", ["i8", "u8", "O"])
@pytest.mark.parametrize("metric", ["KSComplement", "RangeCoverage", "StatisticSimilarity"])
def test_the_sound_mode_tells_large_numbers_apart(metric, dtype):
    rng = np.random.default_rng(0)
    small = rng.integers(0, 300, 100), rng.integers(0, 280, 80)
    large = [np.array([int(v) + 2**62 for v in side], dtype=dtype) for side in small]
    call = getattr(single_column, metric).compute
    assert call(*large, mode="sound") == call(*small, mode="sound") < 1


@pytest.mark.slow
@pytest.mark.parametrize("values", [[Decimal(n) / 7 for n in range(40)], [datetime.time(0, n) for n in range(40)]])
def test_a_model_learns_decimals_and_times_of_which_another_table_has_others(values):
    import pandas as pd

    tables = [pd.DataFrame({"v": pd.Series(values[i::2], dtype=object), "y": np.arange(20.0) * 3 + i}) for i in (0, 1)]
    metadata = {"columns": {name: {"sdtype": "numerical"} for name in ("v", "y")}}
    assert single_table.LinearRegression.compute(*tables, metadata, target="y") == pytest.approx(1, abs=0.02)


def test_the_error_of_different_columns_names_a_missing_one_and_a_new_one():
    real = pl.DataFrame({"age": [1, 2], "job": ["a", "b"]})
    synthetic = real.rename({"age": "years"})
    metadata = {"columns": {"age": {"sdtype": "numerical"}, "job": {"sdtype": "categorical"}}}
    with pytest.raises(ValueError, match=r"in the metadata: age, years$"):
        QualityReport().generate(real, synthetic, metadata, verbose=False)


@pytest.mark.first(3)
@pytest.mark.parametrize("engine", ["memory", "duckdb", "polars"])
@pytest.mark.parametrize("command", ["quality", "diagnose"])
def test_a_column_without_a_score_is_told_with_the_reason(tmp_path, command, engine):
    words = ["lorem ipsum dolor sit amet consectetur adipiscing elit sed do", "eiusmod tempor incididunt ut labore"]
    for seed, name in ((1, "real"), (2, "synthetic")):
        rng = np.random.default_rng(seed)
        columns = {
            "person": [f"p{seed}{i:04}" for i in range(N)],
            "note": [f"{words[i % 2]} {seed} {i}" for i in range(N)],
            "age": rng.integers(18, 90, N).tolist(),
        }
        pl.DataFrame(columns).write_parquet(tmp_path / f"{name}.parquet")
    tables = [tmp_path / "real.parquet", tmp_path / "synthetic.parquet"]
    output = called(tmp_path, command, *tables, "--engine", engine, "--json", tmp_path / "found.json",
                    "--html", tmp_path / "found.html")  # fmt: skip
    assert "Without a score, identifier: person." in output and "Without a score, free text: note." in output
    saved = json.loads((tmp_path / "found.json").read_text())
    reasons = {row["Column"]: row["Reason"] for row in saved["info"]["columns_without_score"]}
    assert reasons == {"person": "identifier", "note": "free text"}
    assert "Without a score, identifier: <bdi>person</bdi>." in (tmp_path / "found.html").read_text()


def test_columns_that_the_metadata_leave_out_and_keys_are_told_once():
    table = pl.DataFrame({"a": [1, 2], "b": [3, 4], "c": [5, 6], "when": [7, 8]})
    entries = {"a": {"sdtype": "id"}, "b": {"sdtype": "id"}, "when": {"sdtype": "numerical"}}
    metadata = {"columns": entries, "primary_key": ["a", "b"], "sequence_index": "when"}
    report = DiagnosticReport()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report.generate(table, table, metadata, verbose=False)
    assert report.content().without_score() == [("orders a sequence", ["when"]), ("not in the metadata", ["c"])]
