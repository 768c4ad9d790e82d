"""The quality report of a table whose rows an engine keeps: the scores of memory, to the last digit."""

import math

import duckdb
import numpy as np
import polars as pl
import pytest

from divulge.core.errors import DivulgeError, SettingError, SizeError
from divulge.core.memory import Room
from divulge.sdmetrics.columns import Column
from divulge.sdmetrics.reports import QualityReport, counted_pairs, counted_table, fresh_sample, memory_check
from divulge.sdmetrics.reports.correlations import Sums, grid_of, steps
from divulge.sdmetrics.single_column.formulas import ks_complement, ks_complement_of_counts
from divulge.tables.opening import opened
from divulge.tables.sizes import size_of

N = 300
ENGINES = ("duckdb", "polars")
PROPERTIES = ("Column Shapes", "Column Pair Trends")
KINDS = {
    "gap": "numerical", "age": "numerical", "pay": "numerical", "day": "datetime", "written": "datetime",
    "job": "categorical", "zip": "categorical", "known": "boolean", "whole": "categorical", "one": "numerical",
    "endless": "numerical", "rare": "numerical", "empty": "categorical", "id": "id", "note": "text", "yes": "numerical",
    "^a.*$": "categorical", "*": "categorical",
}  # fmt: skip
METADATA = {"columns": {name: {"sdtype": kind} for name, kind in KINDS.items()}}
METADATA["columns"]["written"]["datetime_format"] = "%d/%m/%Y"


def messy(seed, n=N):
    """Return columns of each kind, with missing values, -0.0 beside 0.0, and pairs that share hardly a row."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n)
    gap = np.round(rng.normal(size=n), 1) * (-1.0) ** rng.integers(0, 2, n)
    return pl.DataFrame(
        {
            "gap": pl.Series(gap + 0.0 * gap, nan_to_null=False).set(pl.Series(rng.random(n) < 0.2), None),
            "age": age,
            "pay": age * 100.0 + rng.gamma(1, 900, n),
            "day": np.datetime64("2020-01-01") + rng.integers(0, 900, n),
            "written": [f"{1 + d % 28:02}/03/2{d % 10:03}" for d in rng.integers(0, 9999, n)],
            "job": [None if j == 0 else f"job {j}" for j in rng.integers(0, 6, n)],
            "zip": [str(z) for z in rng.integers(1000, 1000 + n, n)],
            "known": rng.random(n) < 0.3,
            "whole": [None if v == 4 else int(v) for v in rng.integers(0, 5, n)],
            "one": np.ones(n),
            "endless": np.where(rng.random(n) < 0.02, np.inf, rng.normal(size=n)),
            "rare": [float(i) if i < 2 else None for i in range(n)],
            "empty": pl.Series([None] * n, dtype=pl.String),
            "id": np.arange(n),
            "note": [f"note {i}" for i in range(n)],
            "yes": age + rng.normal(0, 20, n) > 50,
            "^a.*$": rng.choice(["x", "y"], n),  # a pattern to polars
            "*": rng.choice(["x", "y"], n),
        }
    )


REAL, SYNTHETIC = messy(1), messy(2, N - 20)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("tables")
    for name, table in (("real", REAL), ("synthetic", SYNTHETIC)):
        table.write_parquet(home / f"{name}.parquet")
        parts = home / f"{name} parts"
        parts.mkdir()
        for i, part in enumerate((table[100:], table[:70], table[70:100])):
            part.write_parquet(parts / f"{i}.parquet")
    return home


def report(*thresholds):
    made = QualityReport()
    made.real_correlation_threshold, made.real_association_threshold = thresholds or (0.5, 0.3)
    return made


def in_memory(*thresholds):
    made = report(*thresholds)
    made.generate(REAL, SYNTHETIC, METADATA, verbose=False)
    return rows(made)


def rows(made):
    return [repr(row) for shown in made.content().properties for row in shown.rows]


@pytest.mark.parametrize(
    ("engine", "thresholds"),
    [("polars", (0.5, 0.1)), *(pytest.param(e, t, marks=pytest.mark.slow) for e, t in
                               (("polars", (0, 0)), ("duckdb", (0.5, 0.1)), ("duckdb", (0, 0))))],
)  # fmt: skip
def test_an_engine_gives_the_bytes_of_memory(folder, engine, thresholds):
    made = report(*thresholds)
    made.generate_in(engine, folder / "real.parquet", folder / "synthetic.parquet", METADATA)
    wanted = in_memory(*thresholds)
    assert rows(made) == wanted and len(wanted) > 70
    assert made.get_info()["num_rows_real_data"] == {"table": N}
    parts = report(*thresholds)  # in another order of rows
    parts.generate_in(engine, folder / "real parts", folder / "synthetic parts", METADATA)
    assert rows(parts) == wanted


def test_durations_are_told_apart():
    real, synthetic = (pl.LazyFrame({"span": pl.Series(n, dtype=pl.Duration)}) for n in ([1, 1, 2], [1, 2, 2]))
    metadata = {"columns": {"span": {"sdtype": "categorical"}}}
    made, other = QualityReport(), QualityReport()
    made.generate_in("polars", real, synthetic, metadata)
    other.generate(real.collect(), synthetic.collect(), metadata, verbose=False)
    assert rows(made) == rows(other) and made.get_score() == pytest.approx(2 / 3)


@pytest.mark.slow
def test_a_table_of_a_database_a_relation_and_lazy_frames_give_the_same(folder, tmp_path):
    with duckdb.connect(tmp_path / "w.duckdb") as base:
        for name in ("real", "synthetic"):
            base.execute(f"create table {name} as from '{folder}/{name}.parquet'")
    wanted = in_memory()
    lazy = [pl.scan_parquet(folder / f"{n}.parquet") for n in ("real", "synthetic")]
    for engine, sides in (("duckdb", [f"{tmp_path}/w.duckdb::{n}" for n in ("real", "synthetic")]), ("polars", lazy)):
        made = report()
        made.generate_in(engine, *sides, METADATA)
        assert rows(made) == wanted


@pytest.mark.slow
@pytest.mark.parametrize("filled", [True, False])
def test_pairs_of_many_cells_are_asked_for_one_by_one(folder, monkeypatch, filled):
    monkeypatch.setattr(counted_pairs, "_CELLS_OF_ONE", 200)
    if not filled:
        monkeypatch.setattr(counted_pairs, "_FILLED", 0)
    made = report(0, 0.1)
    made.generate_in("duckdb", folder / "real.parquet", folder / "synthetic.parquet", METADATA)
    wanted = in_memory(0, 0.1)
    if filled:
        assert rows(made) == wanted
        return
    found = made.content().properties[1].rows
    memory = report(0, 0.1)
    memory.generate(REAL, SYNTHETIC, METADATA, verbose=False)
    for ours, theirs in zip(found, memory.content().properties[1].rows, strict=True):
        assert repr(ours["Score"]) == repr(theirs["Score"])
        assert ours["Real Association"] == pytest.approx(theirs["Real Association"], abs=1e-14, nan_ok=True)


@pytest.mark.slow
def test_an_engine_that_tells_counts_alone_gives_the_same(folder, monkeypatch):
    monkeypatch.setattr(counted_table, "BY_ROWS", ())
    monkeypatch.setattr(counted_table, "PART", 7)
    made = report(0, 0.1)
    made.generate_in("duckdb", folder / "real.parquet", folder / "synthetic.parquet", METADATA)
    assert rows(made) == in_memory(0, 0.1)
    assert made.get_fresh_sample() == {}


@pytest.mark.slow
def test_metadata_are_inferred_from_the_real_table(folder):
    made, memory = report(0, 0), report(0, 0)
    made.generate_in("duckdb", folder / "real.parquet", folder / "synthetic.parquet")
    from divulge.case.case import infer_schema

    memory.generate(REAL, SYNTHETIC, infer_schema(REAL), verbose=False)
    assert rows(made) == rows(memory)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_rows_of_a_fresh_sample_are_drawn_by_what_they_say(folder, engine, monkeypatch):
    monkeypatch.setattr(fresh_sample, "SPLITS", 6)
    found = []
    for sides in (("real.parquet", "synthetic.parquet"), ("real parts", "synthetic parts")):
        made = report(0, 0)
        made.generate_in(engine, *(folder / s for s in sides), METADATA)
        found.append(made.get_fresh_sample())
    assert found[0] == found[1] and set(found[0]) == {"", *PROPERTIES}
    memory = report(0, 0)
    memory.generate(REAL, SYNTHETIC, METADATA, verbose=False)
    for name, fresh in memory.get_fresh_sample().items():
        assert abs(fresh.mean - found[0][name].mean) < 0.03


def test_rows_that_are_drawn_are_rows_of_the_table_as_often_as_it_has_them():
    real = pl.DataFrame({"a": [1] * 50 + [2] * 30 + list(range(3, 23)), "b": ["x"] * 50 + ["y"] * 30 + ["z"] * 20})
    made = report(0, 0)
    kinds = {"columns": {"a": {"sdtype": "numerical"}, "b": {"sdtype": "categorical"}}}
    made.generate_in("polars", real.lazy(), real.lazy(), kinds)
    table = next(iter(made._inputs.tables.values()))
    whole = table.some_real_rows(1000, 0)
    drawn = sorted(zip(whole.sides[0]["a"].values.tolist(), whole.sides[0]["b"].values.tolist(), strict=True))
    assert drawn == sorted(real.rows())
    of_one = [(table.some_real_rows(20, seed).sides[0]["a"].values == 1).sum() for seed in range(200)]
    # hypergeometric: mean 10, standard deviation 2.01 of one draw
    assert abs(np.mean(of_one) - 10) < 4 * 2.01 / math.sqrt(200) and np.std(of_one) == pytest.approx(2.01, rel=0.25)


def test_values_that_an_engine_tells_apart_are_one_value():
    side = counted_table.CountedSide(
        opened(pl.LazyFrame({"x": [0.0] * 9}), "real", (), "polars"),
        {"x": Column("f", np.array([0.0, -0.0, 1.0]))}, {"x": np.array([2, 3, 4])}, {},
    )  # fmt: skip
    table = counted_table.CountedTable({"columns": {"x": {"sdtype": "categorical"}}}, side, side)
    assert [n.tolist() for n in table.counts("x")] == [[5, 4], [5, 4]]


def test_values_that_stand_for_missing_are_missing_in_pairs_that_are_asked_for(folder, monkeypatch):
    monkeypatch.setattr(counted_pairs, "_CELLS_OF_ONE", 0)
    made, memory = report(0, 0.1), report(0, 0.1)
    kinds = {"columns": {name: METADATA["columns"][name] for name in ("job", "age", "known")}}
    cut = [t.select(list(kinds["columns"])) for t in (REAL, SYNTHETIC)]
    made.generate_in("polars", *(t.lazy() for t in cut), kinds, missing=["job 3"])
    memory.generate(*(t.with_columns(pl.col("job").replace("job 3", None)) for t in cut), kinds, verbose=False)
    assert rows(made) == rows(memory)


def test_sums_of_correlations_are_carried_beyond_64_bits(monkeypatch):
    from divulge.sdmetrics.reports import correlations

    values = np.random.default_rng(0).normal(size=(2, 5000))
    found = []
    for rows_in_int64 in (2**26, correlations.ROWS_AT_ONCE + 1000):
        monkeypatch.setattr(correlations, "_ROWS_IN_INT64", rows_in_int64)
        sums = Sums(2, [])
        for low in range(0, 5000, 500):
            block = [steps(v[low : low + 500], grid_of(v)) for v in values]
            sums.add(np.stack(block, axis=1), np.empty((0, 500)))
        found.append(sums.correlations())
    assert (found[0] == found[1]).all()
    assert found[0][0, 1] == pytest.approx(np.corrcoef(values)[0, 1], abs=1e-14)


def test_ks_of_counts_is_that_of_rows():
    rng = np.random.default_rng(5)
    for n, m in ((40, 60), (1, 9)):
        real, synthetic = rng.integers(0, 12, n) / 4, rng.integers(0, 14, m) / 4
        counted = [part for v in (real, synthetic) for part in np.unique(v, return_counts=True)]
        assert ks_complement_of_counts(*counted) == ks_complement(real, synthetic)
    assert math.isnan(ks_complement_of_counts(real, np.zeros(len(real), dtype=np.int64), real, np.ones(len(real))))


def test_what_an_engine_cannot_count_is_refused(folder):
    real, synthetic = folder / "real.parquet", folder / "synthetic.parquet"
    with pytest.raises(SettingError, match="duckdb, polars, spark"):
        QualityReport().generate_in("memory", real, synthetic, METADATA)
    with pytest.raises(SettingError, match="describe 2 tables"):
        QualityReport().generate_in("duckdb", real, synthetic, {"tables": {"a": METADATA, "b": METADATA}})
    with pytest.raises(DivulgeError, match="no such file"):
        QualityReport().generate_in("duckdb", folder / "real.csv", synthetic, METADATA)
    with pytest.raises(ValueError, match="does not match"):
        QualityReport().generate_in("duckdb", real, synthetic, {"columns": {"age": {"sdtype": "numerical"}}})


def test_tables_of_too_many_distinct_values_are_refused_before_they_are_counted(folder, divulge, monkeypatch):
    monkeypatch.setattr(memory_check, "room", lambda: Room(100_000, 0, "a test"))
    asked = ["quality", folder / "real.parquet", folder / "synthetic.parquet", "--engine", "duckdb"]
    status, _, err = divulge(*asked)
    assert status == 2 and "distinct values need" in err and "--beyond-memory" in err
    with pytest.raises(SizeError):
        memory_check.check_values([size_of(REAL, "real"), None])
    monkeypatch.setattr(memory_check, "room", lambda: Room(200 * 9 * N, 0, "a test"))  # 15 columns, some of few values
    memory_check.check_values([size_of(REAL, "real")])


@pytest.mark.slow
def test_the_command_gives_the_scores_of_memory(folder, divulge, tmp_path):
    import json

    found = []
    for engine, sides in (
        ("auto", ("real.parquet", "synthetic.parquet")),
        ("duckdb", ("real parts", "synthetic parts")),
    ):
        out = tmp_path / f"{engine}.json"
        status, shown, err = divulge(
            "quality", *(folder / s for s in sides), "--engine", engine, "--json", out, "--missing", "job 3",
            "--fail-on", "quality.score < 0.1",
        )  # fmt: skip
        assert status == 0, err
        found.append(json.loads(out.read_text()))
        assert "A fresh sample of the real people" in shown and "note 1" not in shown + err
    assert found[0]["details"] == found[1]["details"] and found[0]["score"] == found[1]["score"]
    status, _, err = divulge("quality", folder / "real parts", folder / "synthetic parts", "--engine", "duckdb",
                             "--tables", "0.parquet")  # fmt: skip
    assert status == 2 and "--tables: an engine counts one table" in err


def test_a_column_that_a_table_lacks_or_that_holds_lists_is_told(divulge, tmp_path):
    real = REAL.select("age", "job")
    real.write_parquet(tmp_path / "real.parquet")
    real.select("age").write_parquet(tmp_path / "lacking.parquet")
    status, _, err = divulge("quality", tmp_path / "real.parquet", tmp_path / "lacking.parquet", "--engine", "polars")
    assert status == 2 and "synthetic table: no column 'job'" in err
    real.with_columns(job=pl.concat_list("age")).write_parquet(tmp_path / "lists.parquet")
    out = tmp_path / "found.json"
    status, _, err = divulge("quality", tmp_path / "real.parquet", tmp_path / "lists.parquet", "--engine", "polars",
                             "--json", out)  # fmt: skip
    assert status == 0 and "a value of type list" in out.read_text()
