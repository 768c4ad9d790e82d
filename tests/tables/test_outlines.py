"""Columns of many numbers that an engine holds: order statistics and codes as in memory, without the values."""

import datetime as dt

import duckdb
import numpy as np
import polars as pl
import pytest

import divulge
from divulge.case.case import build_case
from divulge.core.errors import TableError
from divulge.core.schema import Bins, Column, Schema
from divulge.tables import _duckdb_counts, _polars_counts, frames, outlines
from divulge.tables.numeric_types import numeric_type
from divulge.tables.opening import opened
from divulge.tables.pooled_columns import pool

ENGINES = ("duckdb", "polars")
HUGE = np.finfo(float).max


def numbers(n, seed):
    """Return numbers with ties, gaps, zeros of both signs, what is no number, and both infinities."""
    rng = np.random.default_rng(seed)
    out = np.round(rng.normal(0, 100, n), 1)
    out[rng.random(n) < 0.2] = 7.5
    out[rng.random(n) < 0.1] = -0.0
    for value in (np.nan, np.inf, -np.inf):
        out[rng.random(n) < 0.05] = value
    return out


def wide(n, seed):
    rng = np.random.default_rng(seed)
    return np.concatenate(
        [rng.choice([-HUGE, HUGE, 5e-324, -5e-324, 1e-310, 0.0], n // 2), 10 ** rng.uniform(-300, 300, n - n // 2)]
    )


KINDS = {
    "ties": lambda n, seed: pl.Series(numbers(n, seed)),
    "wide": lambda n, seed: pl.Series(wide(n, seed)),
    "short": lambda n, seed: pl.Series(np.round(numbers(n, seed), 2), dtype=pl.Float32),
    "whole": lambda n, seed: pl.Series(np.random.default_rng(seed).integers(-500, 10**6, n)),
    "small": lambda n, seed: pl.Series(np.random.default_rng(seed).integers(0, 2**32, n), dtype=pl.UInt32),
    "one value": lambda n, seed: pl.Series([1.5] * (n - 30) + [*range(30)], strict=False),
    "decimal": lambda n, seed: pl.Series([f"{x:.2f}" for x in np.random.default_rng(seed).normal(0, 1e6, n)]).cast(pl.Decimal(18, 2)),
    "time": lambda n, seed: pl.Series(np.random.default_rng(seed).integers(-(10**14), 10**15, n)).cast(pl.Datetime("us")),
    "zoned": lambda n, seed: pl.Series(np.random.default_rng(seed).integers(0, 10**15, n)).cast(pl.Datetime("us", "UTC")),
}  # fmt: skip


@pytest.fixture
def few(monkeypatch):
    """Take 20 values for many."""
    monkeypatch.setattr(outlines, "MANY", 20)
    monkeypatch.setattr(outlines, "_FETCHED", 5)


def three(kind):
    """Return the column of three tables, some of it missing."""
    made = [KINDS[kind](n, seed) for seed, n in enumerate((400, 300, 150))]
    made = [s.extend_constant(None, 10) for s in made]
    return [pl.DataFrame({"x": s, "k": np.arange(len(s)) % 60}) for s in made]


@pytest.mark.first(3)
@pytest.mark.parametrize("engine", [*ENGINES, "auto"])
@pytest.mark.parametrize("kind", KINDS)
def test_order_statistics_are_those_of_the_sorted_values(kind, engine, few):
    given = three(kind)
    here = pool([opened(f, "real") for f in given], "x")
    tables = [opened(f.lazy(), "real", engine=engine if engine != "duckdb" else "polars") for f in given]
    if engine == "duckdb":
        tables = [opened(f, "real", engine=engine) for f in given]
    found = outlines.outline(tables, "x")
    assert found is not None
    levels = here.numbers()
    assert [found.n_distinct(i) for i in range(3)] == [int((c[1:] > 0).sum()) for c in here.counts]
    assert (found.column.family, found.column.integer) == (here.family, here.integer)
    for people in ([0, 2], [1], [0, 1, 2]):
        counts = np.sum([here.counts[i][1:] for i in people], axis=0)
        every = np.repeat(levels, counts)
        ranks = np.arange(1, len(every) + 1)
        assert found.at(ranks, people).tolist() == every.tolist()
    for mine, theirs in zip(found.column.counts, here.counts, strict=True):
        assert mine[0] == theirs[0]
        place = np.searchsorted(levels, found.column.numbers(), side="right")
        assert np.cumsum(mine[1:]).tolist() == np.cumsum(theirs[1:])[place - 1].tolist()


def told(result):
    return {**result.to_dict(), "seconds": 0}


SCHEMAS = [Bins("quantile", 10), Bins("quantile", 3), Bins("width", 7), Bins("none"), Bins("quantile", 10_000)]


@pytest.mark.first(1)
@pytest.mark.parametrize(
    ("kind", "bins"),
    [(kind, bins) for i in range(5) for j, kind in enumerate(KINDS) if (kind, (bins := SCHEMAS[(i + j) % 5]).how) != ("wide", "width")],
)  # fmt: skip
def test_bins_and_codes_are_those_of_memory(kind, bins, few):
    given = [f.with_columns(t=pl.Series(["a", "b", "b"] * len(f))[: len(f)]) for f in three(kind)]
    schema = Schema((Column("x", "datetime" if kind in ("time", "zoned") else "numeric", bins=bins),))
    asked = {"keys": ["x"], "target": "t", "unseen": "zero", "schema": schema}
    expected = told(divulge.cap(given[0], given[1], holdout=given[2], **asked))
    for engine in ENGINES:
        assert told(divulge.cap(given[0], given[1], holdout=given[2], engine=engine, **asked)) == expected
    lazy = [f.lazy() for f in given]
    assert told(divulge.cap(lazy[0], lazy[1], holdout=lazy[2], **asked)) == expected
    relations = [duckdb.sql("select * from f") for f in given]
    assert told(divulge.cap(relations[0], relations[1], holdout=relations[2], **asked)) == expected


@pytest.mark.parametrize("engine", ENGINES)
def test_numbers_that_stand_for_missing_are_missing(engine, few):
    given = [f.with_columns(pl.when(pl.col("k") % 7 == 0).then(-8.0).otherwise("x").alias("x")) for f in three("ties")]
    asked = {"keys": ["x"], "target": "k", "unseen": "zero", "missing": ["-8", "?"]}
    expected = told(divulge.cap(given[0], given[1], holdout=given[2], **asked))
    assert told(divulge.cap(given[0], given[1], holdout=given[2], engine=engine, **asked)) == expected
    there = build_case(*given, engine=engine, missing=["-8", "?"])
    assert there.facts("x") == build_case(*given, missing=["-8", "?"]).facts("x")


@pytest.mark.first(4)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", KINDS)
def test_facts_and_schema_are_those_of_memory(kind, engine, few):
    given = three(kind)
    here, there = build_case(*given), build_case(*given, engine=engine)
    assert there.encoded.outlines.of("x") is not None
    assert there.schema == here.schema and there.notes == here.notes
    assert [there.facts("x", i) for i in range(3)] == [here.facts("x", i) for i in range(3)]


@pytest.mark.parametrize("values", [
    pl.Series([str(i) for i in range(50)]),
    pl.Series([2**60 + i for i in range(50)]),
    pl.Series(range(50)).cast(pl.Datetime("ns")),
    pl.Series([dt.date(2020, 1, 1) + dt.timedelta(i) for i in range(50)]),
    pl.Series(range(50)).cast(pl.Duration("us")),
    pl.Series([f"{2**62 + i}.5" for i in range(50)]).cast(pl.Decimal(38, 1)),
    pl.Series([dt.datetime(9999, 12, 31)] * 9 + [dt.datetime(2020, 1, i) for i in range(1, 28)]),
    pl.Series([1.0, 2.0] * 25),
], ids=lambda s: str(s.dtype))  # fmt: skip
def test_what_float64_does_not_hold_and_few_values_are_looked_up(values, few):
    frame = pl.DataFrame({"x": values})
    for engine in ENGINES:
        if engine == "duckdb" and values.dtype == pl.Duration("us"):
            continue  # its intervals are handed over as whole numbers
        assert outlines.outline([opened(frame, "real", engine=engine)] * 2, "x") is None


def test_tables_of_two_kinds_of_numbers_are_looked_up(few):
    frame = pl.DataFrame({"x": np.arange(50.0)})
    both = [opened(f, "real", engine="polars") for f in (frame, frame.cast(pl.Float32))]
    assert outlines.outline(both, "x") is None
    assert outlines.outline([both[0], opened(frame.cast(pl.Int32), "real", engine="polars")], "x") is not None
    assert outlines.outline([both[0], opened(frame, "real")], "x") is None


@pytest.mark.slow
def test_a_table_that_changes_while_order_statistics_are_looked_for_is_an_error(few, monkeypatch):
    frame = pl.DataFrame({"x": np.arange(5000.0)})
    found = outlines.outline([opened(frame, "real", engine="polars")], "x")
    numbers = found._numbers[0]._numbers
    numbers._lazy = numbers._lazy.filter(pl.col("x") % 50 == 0)
    with pytest.raises(TableError, match="real: the table changed while it was read: it had 5,000 rows"):
        found.at(np.arange(1, 5001), [0])


@pytest.mark.first(1)
@pytest.mark.parametrize("engine", [*ENGINES, "auto"])
def test_a_column_of_many_numbers_never_comes_in_whole(engine, tmp_path, monkeypatch):
    sizes = {"real": 150_000, "synthetic": 120_000, "holdout": 110_000}
    for seed, (name, n) in enumerate(sizes.items()):
        rng = np.random.default_rng(seed)
        data = {"amount": rng.lognormal(8, 2, n), "job": rng.choice(["cook", "judge"], n), "ill": rng.random(n) < 0.1}
        pl.DataFrame(data).write_parquet(tmp_path / f"{name}.parquet")
    paths = [tmp_path / f"{name}.parquet" for name in sizes]
    asked = {"keys": ["amount", "job"], "target": "ill", "unseen": "zero"}
    expected = told(divulge.cap(paths[0], paths[1], holdout=paths[2], **asked))
    fetched = []

    def noting(run):
        def noted(*given):
            found = run(*given)
            fetched.append(found.height)
            return found

        return noted

    monkeypatch.setattr(_polars_counts, "_run", noting(_polars_counts._run))
    monkeypatch.setattr(frames, "_run", noting(frames._run))
    monkeypatch.setattr(_duckdb_counts.DuckdbCounts, "_frame", noting(_duckdb_counts.DuckdbCounts._frame))
    given = [pl.scan_parquet(p) for p in paths] if engine == "auto" else paths
    found = told(divulge.cap(given[0], given[1], holdout=given[2], engine=engine, **asked))
    assert found == expected
    assert len(fetched) > 10
    assert max(fetched) <= 3 * 4097 and sum(fetched) < 50_000  # of 380,000 distinct values


def test_types_are_known_by_the_names_of_each_engine():
    whole = ("BIGINT", "UINTEGER", "HUGEINT", "INTEGER", "UInt32", "Int64", "int", "bigint")
    assert {numeric_type(name) for name in whole} == {("number", 2.0**53, True)}
    assert {numeric_type(name) for name in ("UTINYINT", "SMALLINT", "UInt8", "Int16", "smallint")} == {None}
    for name in ("DECIMAL(18,2)", "decimal(18,2)", str(pl.Decimal(18, 2))):
        assert numeric_type(name) == ("number", 2.0**53 / 100, False)
    assert numeric_type("DECIMAL(38,30)") is None
    for name in ("TIMESTAMP", "TIMESTAMP_MS", str(pl.Datetime("ms"))):
        assert numeric_type(name).kind == "datetime"
    for name in ("TIMESTAMP WITH TIME ZONE", str(pl.Datetime("us", "Europe/Berlin"))):
        assert numeric_type(name).kind == "datetime, zoned"
    for name in ("TIMESTAMP_NS", str(pl.Datetime("ns")), "VARCHAR", "DATE", "BOOLEAN", "INTERVAL", "timestamp_ntz"):
        assert numeric_type(name) is None
