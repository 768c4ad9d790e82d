"""The diagnostic report of a table whose rows an engine keeps: the scores and errors of memory, to the last digit."""

import json
import warnings
from datetime import datetime, timedelta
from decimal import Decimal

import duckdb
import numpy as np
import polars as pl
import pytest

from divulge.core.errors import SettingError, SizeError
from divulge.core.memory import Room
from divulge.core.relations import RelationalSchema
from divulge.core.schema import schema_from_toml
from divulge.sdmetrics.reports import DiagnosticReport, QualityReport, memory_check
from divulge.tables import _polars_counts
from divulge.tables.counting import Edges, KeyPart
from divulge.tables.opening import opened

N = 120
ENGINES = ("duckdb", "polars")
BOTH = pytest.mark.parametrize("engine", ["polars", pytest.param("duckdb", marks=pytest.mark.slow)])
_LARGE = 2**53


def messy(seed, n=N):
    """Return columns of each kind, with what is wrong in them in the synthetic table (seed 2) alone."""
    rng = np.random.default_rng(seed)
    real = seed == 1
    some = rng.random(n) < 0.2
    days = rng.integers(0, 900, n)
    written = [f"{1 + d % 28:02}/03/{2000 + d % 17}" for d in days]
    number = rng.integers(0, 70, n)
    columns = {
        "person": [None if s else f"P-{k % 3}-{k}" for s, k in zip(some, number, strict=True)],
        "number": pl.Series(
            [None if s else _LARGE + int(k) for s, k in zip(some, number, strict=True)], dtype=pl.Int64
        ),
        "whole": pl.Series(_LARGE + number, dtype=pl.Int64),
        "small": pl.Series(number, dtype=pl.Int8),
        "float": pl.Series(np.where(some, np.nan, np.where(number == 1, -0.0, number // 2))),
        "empty": pl.Series([None] * n, dtype=pl.String),
        "one": np.ones(n),
        "nothing": pl.Series([None] * n, dtype=pl.Float64),
        "age": number + (0 if real else 3),
        "gap": pl.Series([None if s else int(k) for s, k in zip(some, number, strict=True)]),
        "endless": np.where(some, -np.inf if real else np.inf, rng.normal(size=n)),
        "float32": pl.Series(rng.normal(size=n), dtype=pl.Float32),
        "money": pl.Series([Decimal(int(k)) / 100 for k in rng.integers(0, 999, n)], dtype=pl.Decimal(12, 2)),
        "day": pl.Series(np.datetime64("2020-01-01") + days),
        "instant": pl.Series(
            [None if s else datetime(2020, 1, 1) + timedelta(int(d)) for s, d in zip(some, days, strict=True)]
        ),
        "zoned": pl.Series(np.datetime64("2020-01-01") + days).cast(pl.Datetime("us")).dt.replace_time_zone("UTC"),
        "fine": pl.Series(np.datetime64("2020-01-01") + days).cast(pl.Datetime("ns")),
        "early": pl.Series([datetime(1500 + int(d), 1, 1) for d in days]),
        "written": [None if s else w for s, w in zip(some, written, strict=True)],
        "broken": written if real else [w.replace("/", "-") if s else w for s, w in zip(some, written, strict=True)],
        "year": 1900 + days % 100,
        "job": [f"job {j}" for j in rng.integers(0, 6 if real else 8, n)],
        "known": rng.random(n) < 0.3,
        "rank": pl.Series([f"{r}" for r in rng.integers(0, 3, n)], dtype=pl.Categorical),
        "list": pl.Series([[int(k)] for k in number]),
        "bits": pl.Series([bytes([int(k)]) for k in number]),
        "kind": number if real else [str(k) for k in number],
        "size": number if real else number * 1.0,
    }
    columns |= {"there": number} if real else {"*": number}
    return pl.DataFrame(columns)


REAL, SYNTHETIC = messy(1), messy(2, N - 20)
_KINDS = {
    "person": {"sdtype": "id", "regex_format": r"P-(?P<part>[0-9])-[0-9]+"},
    "number": {"sdtype": "id", "regex_format": r"[0-9]+\.0"},
    "whole": {"sdtype": "id", "regex_format": "9.*"}, "small": {"sdtype": "id", "regex_format": "[1-6].*"},
    "float": {"sdtype": "id", "regex_format": ".*[02]"}, "empty": {"sdtype": "id", "regex_format": "None"},
    "nothing": {"sdtype": "numerical"}, "one": {"sdtype": "numerical", "range_min": 2},
    "age": {"sdtype": "numerical"}, "gap": {"sdtype": "numerical", "range_max": 40.5},
    "endless": {"sdtype": "numerical"}, "float32": {"sdtype": "numerical", "range_min": "low"},
    "money": {"sdtype": "numerical"}, "day": {"sdtype": "datetime"}, "instant": {"sdtype": "datetime"},
    "zoned": {"sdtype": "datetime", "range_max": "2021-03-01"}, "fine": {"sdtype": "datetime"},
    "early": {"sdtype": "datetime"}, "written": {"sdtype": "datetime", "datetime_format": "%d/%m/%Y"},
    "broken": {"sdtype": "datetime", "datetime_format": "%d/%m/%Y"},
    "year": {"sdtype": "datetime", "datetime_format": "%Y"}, "job": {"sdtype": "categorical"},
    "known": {"sdtype": "boolean"}, "rank": {"sdtype": "categorical", "range_values": ["0", "1"]},
    "list": {"sdtype": "categorical"}, "bits": {"sdtype": "id"}, "kind": {"sdtype": "numerical"},
    "size": {"sdtype": "numerical"}, "there": {"sdtype": "numerical"}, "*": {"sdtype": "categorical"},
}  # fmt: skip
METADATA = {"tables": {"people": {
    "columns": _KINDS, "primary_key": ["written", "job"],
    "alternate_keys": ["person", "number", "whole", "small", "float", "empty", "bits", "there", ["list"]],
}}}  # fmt: skip
RULES = [
    {"class_name": name, "parameters": {"table_name": "people", **parameters}}
    for name, parameters in (
        ("FixedCombinations", {"column_names": ["job", "known"]}),
        ("FixedCombinations", {"column_names": ["written", "known"]}),
        ("FixedNullCombinations", {"column_names": ["gap", "instant", "known"]}),
        ("FixedIncrements", {"column_name": "age", "increment_value": 2}),
        ("OneHotEncoding", {"column_names": ["one", "known"]}),
        ("OneHotEncoding", {"column_names": []}),
        ("MixedScales", {"mixed_scale_column_name": "age", "segment_column_names": ["job"]}),
        ("Inequality", {"low_column_name": "gap", "high_column_name": "age", "strict_boundaries": True}),
        ("Inequality", {"low_column_name": "written", "high_column_name": "instant"}),
        ("Range", {"low_column_name": "one", "middle_column_name": "gap", "high_column_name": "age",
                   "strict_boundaries": False}),
        ("ChainedInequality", {"column_names": ["gap", "age", "float32"]}),
        ("ChainedInequality", {"column_names": ["written", "instant"]}),
        ("DenormalizedTable", {"denormalized_primary_key": "job", "denormalized_column_names": ["rank"]}),
        ("FixedCombinations", {"column_names": ["job", "there"]}), ("FixedCombinations", {"column_names": ["job"]}),
        ("Nonsense", {}),
    )
]  # fmt: skip
RULES += [{"class_name": "ReferenceTable", "parameters": {"reference_table_names": ["people"]}},
          {"class_name": "FixedCombinations", "parameters": {"table_name": "x", "column_names": ["job", "rank"]}}]  # fmt: skip
WITH_RULES = METADATA | {"constraints": RULES}


def rows(made):
    return [repr(row) for shown in made.content().properties for row in shown.rows]


def in_memory(real=REAL, synthetic=SYNTHETIC, metadata=METADATA):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = DiagnosticReport()
        made.generate(real, synthetic, metadata, verbose=False)
    return rows(made)


def by(engine, real=REAL, synthetic=SYNTHETIC, metadata=METADATA, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = DiagnosticReport()
        made.generate_in(engine, real, synthetic, metadata, **settings)
    return rows(made)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    home = tmp_path_factory.mktemp("tables")
    for name, table in (("real", REAL), ("synthetic", SYNTHETIC)):
        table.write_parquet(home / f"{name}.parquet")
        (home / f"{name} parts").mkdir()
        for i, part in enumerate((table[70:], table[:30], table[30:70])):
            part.write_parquet(home / f"{name} parts" / f"{i}.parquet")
    return home


@BOTH
def test_an_engine_gives_the_rows_of_memory(files, engine):
    wanted = in_memory()
    assert by(engine, *(files / f"{side}.parquet" for side in ("real", "synthetic"))) == wanted
    assert len(wanted) == 41 and sum("'Error': None" not in row for row in wanted) == 6
    assert by(engine, *(files / f"{side} parts" for side in ("real", "synthetic"))) == wanted  # in another order


@BOTH
def test_rules_hold_for_as_many_rows_as_in_memory(engine):
    columns = [c for c in REAL.columns if c != "list"]  # a list is equal to nothing
    sides = [table.select([c for c in table.columns if c in columns]) for table in (REAL, SYNTHETIC)]
    wanted = in_memory(*sides, WITH_RULES)
    assert by(engine, *(s.lazy() if engine == "polars" else s for s in sides), WITH_RULES) == wanted
    assert sum("ConstraintAdherence" in row and "'Score': nan" not in row for row in wanted) == 13


def test_a_table_that_is_its_own_reference(tmp_path):
    cut = [table.select("job", "known", "written") for table in (REAL, SYNTHETIC)]
    metadata = {"tables": {"people": {"columns": {c: _KINDS[c] for c in cut[0].columns}}}, "constraints": RULES[-2:]}
    wanted = in_memory(*cut, metadata)
    assert "'Score': 0." in wanted[-2] and "ReferenceTable" in wanted[-2]
    assert by("polars", *(t.lazy() for t in cut), metadata) == wanted


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("CarryOverColumns", {"common_column_info": []}),
        ("SelfReferentialHierarchy", {"table_name": "people", "base_column_name": "a", "parent_column_name": "b"}),
        ("ChainedInequality", {"table_name": "people", "column_names": ["broken", "instant"]}),
        ("Range", {"table_name": "people", "low_column_name": "broken", "middle_column_name": "instant",
                   "high_column_name": "job", "strict_boundaries": True}),
    ],
)  # fmt: skip
def test_a_rule_that_needs_rows_is_refused_in_a_sentence(name, parameters):
    asked = METADATA | {"constraints": [{"class_name": name, "parameters": parameters}]}
    with pytest.raises(SettingError, match=f"constraints: {name} needs the rows in their order, and polars"):
        by("polars", REAL.lazy(), SYNTHETIC.lazy(), asked)


def test_constraints_of_another_form_are_refused_as_in_memory():
    with pytest.raises(ValueError, match="list of dictionaries"):
        by("polars", REAL.lazy(), SYNTHETIC.lazy(), METADATA | {"constraints": "all"})
    with pytest.raises(SettingError, match="describe 2 tables"):
        by("polars", REAL.lazy(), SYNTHETIC.lazy(), {"tables": METADATA["tables"] | {"b": {"columns": {}}}})


@BOTH
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow)])
def test_limits_keep_as_many_rows_as_in_memory(engine, seed):
    rng = np.random.default_rng(seed)
    ends = [-np.inf, -3, -1.5, 0, 2, np.inf]
    tables, columns = [{}, {}], {}
    for i in range(20):
        kind = [pl.Float64, pl.Int32, pl.Float32, pl.Datetime("us")][i % 4]
        limits = {k: rng.choice(ends) for k in ("range_min", "range_max") if rng.random() < 0.3}
        if i % 4 == 3:
            limits = {k: f"1970-01-01T00:00:00.{int(v + 5):06d}500" for k, v in limits.items() if np.isfinite(v)}
        columns[f"x{i}"] = {"sdtype": "datetime" if i % 4 == 3 else "numerical", **limits}
        for table, n in zip(tables, (9, 40), strict=True):
            values = rng.integers(-4, 5, n) + (0 if i % 4 % 2 else rng.choice([0, 0.5, np.inf, -np.inf, np.nan], n))
            gaps = pl.Series(rng.random(n) < rng.choice([0, 0.2, 1], p=[0.5, 0.4, 0.1]))
            whole = pl.Series(values).cast(pl.Int64 if i % 4 % 2 else kind).cast(kind)
            table[f"x{i}"] = pl.select(pl.when(~gaps).then(whole)).to_series()
    real, synthetic = (pl.DataFrame(table) for table in tables)
    sides = [t.lazy() for t in (real, synthetic)] if engine == "polars" else [real, synthetic]
    assert by(engine, *sides, {"columns": columns}) == in_memory(real, synthetic, {"columns": columns})


def test_columns_of_many_numbers_are_not_listed(monkeypatch):
    from divulge.sdmetrics.reports import diagnosed_inputs

    listed = []
    usual = diagnosed_inputs._listed
    monkeypatch.setattr(diagnosed_inputs, "_listed", lambda c, side: listed.append(c) or usual(c, side))
    by("polars", REAL.lazy(), SYNTHETIC.lazy())
    few = {"day", "fine", "early", "written", "broken", "year", "job", "known", "rank", "list"}
    assert set(listed) == few | {"kind"}  # text in the synthetic table; `early` is beyond what float64 holds


@pytest.mark.parametrize("engine", ENGINES)
def test_nan_is_missing_though_a_file_states_limits_without_it(tmp_path, engine):
    pl.DataFrame({"x": [0.0, -0.0, 7.0, float("nan"), float("nan")]}).write_parquet(tmp_path / "t.parquet")
    counting = opened(tmp_path / "t.parquet", "real", (), engine).counting
    numbers = counting.numbers("c0", ())
    assert numbers.spread()[:5] == (3, 0.0, 7.0, 0, 0) and numbers.n_distinct() == 2
    assert counting.n_keys([KeyPart("c0")]) == 2 and counting.n_keys([KeyPart("c0", (7.0,))]) == 1
    assert sorted(counting.cells(["c0"], [Edges(np.array([1.0]))])[1].tolist()) == [1, 2, 2]


def test_distinct_keys_are_told_apart_in_passes(files, monkeypatch):
    wanted = in_memory()
    monkeypatch.setattr(_polars_counts, "room_left", lambda: Room(20_000, 0, "a test"))
    assert _polars_counts._passes(100) == 3
    assert by("polars", files / "real.parquet", files / "synthetic.parquet") == wanted


def test_an_engine_that_tells_no_rows_lists_the_values_of_patterns(monkeypatch):
    from divulge.sdmetrics.reports import diagnosed_table

    monkeypatch.setattr(diagnosed_table, "BY_ROWS", ())
    assert by("polars", REAL.lazy(), SYNTHETIC.lazy()) == in_memory()
    monkeypatch.setattr(memory_check, "room", lambda: Room(1000, 0, "a test"))
    metadata = {"columns": {"person": _KINDS["person"]}}
    cut = [t.select("person").lazy() for t in (REAL, SYNTHETIC)]
    with pytest.raises(SizeError, match="distinct values of 'person' in the real table"):
        by("polars", *cut, metadata)


def test_a_rule_of_too_many_combinations_is_refused_before_they_are_told(monkeypatch):
    monkeypatch.setattr(memory_check, "room", lambda: Room(1000, 0, "a test"))
    with pytest.raises(SizeError, match="'job' \\+ 'known' in the real table need"):
        by("polars", REAL.lazy(), SYNTHETIC.lazy(), METADATA | {"constraints": RULES[:1]})


@pytest.mark.parametrize("made", [DiagnosticReport, QualityReport])
def test_a_relation_of_duckdb_gives_the_rows_of_memory(made):
    cut = [t.select("age", "job", "float", "instant") for t in (REAL, SYNTHETIC)]
    metadata = {"columns": {c: _KINDS[c] for c in ("age", "job", "float", "instant")}}
    base, found, wanted = duckdb.connect(), made(), made()
    for name, table in zip(("real", "synthetic"), cut, strict=True):
        base.register(f"{name}_rows", table.to_arrow())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found.generate_in("duckdb", base.table("real_rows"), base.table("synthetic_rows"), metadata)
        wanted.generate(*cut, metadata, verbose=False)
    assert rows(found) == rows(wanted) and base.sql("show tables").fetchall() == [("real_rows",), ("synthetic_rows",)]


_SCHEMA = """
[columns.person]
kind = "identifier"
pattern = "P-[0-9]-[0-9]+"

[columns.written]
kind = "datetime"
format = "%d/%m/%Y"

[columns.kind]
kind = "numeric"

[columns.job]
kind = "categorical"
roles = ["primary"]

[columns.age]
kind = "numeric"
low = 5
high = 60
"""


def test_a_schema_reads_text_as_numbers():
    real = pl.DataFrame({"n": ["1", "2", "3.5", None] * 5, "k": ["1", "1.0", "2", "3"] * 5, "day": ["2020-01-02"] * 20})
    synthetic = pl.DataFrame({"n": ["1", "7"] * 9, "k": ["1", "1.0", "2.0"] * 6, "day": ["2020-01-03"] * 18})
    toml = "".join(
        f'[columns.{c}]\nkind = "{kind}"\nroles = {roles}\n'
        for c, kind, roles in (("n", "numeric", []), ("k", "numeric", ["primary"]), ("day", "datetime", ["primary"]))
    ).replace("'", '"')
    schema = RelationalSchema({"table": schema_from_toml(toml, "schema.toml")})
    wanted = in_memory(real, synthetic, schema)
    assert "'Column': ['k', 'day'], 'Metric': 'KeyUniqueness', 'Score': 0.1111" in wanted[0]
    for engine in ENGINES:
        assert by(engine, *(t.lazy() if engine == "polars" else t for t in (real, synthetic)), schema) == wanted


@pytest.mark.slow
@pytest.mark.parametrize("codes", ["job 3", "P-0-1,-8,7", "7"])
@pytest.mark.parametrize("schema", ["infer", "toml", "json"])
def test_the_command_gives_the_report_of_memory(divulge, tmp_path, codes, schema):
    columns = [c for c in SYNTHETIC.columns if c in REAL.columns and c not in ("list", "bits")]
    digits = pl.Series("digits", [str(k) if k % 5 else "?" for k in range(N)])
    for side, table in (("real", REAL), ("synthetic", SYNTHETIC)):
        own = table.select(columns).with_columns(digits[: table.height])
        own.write_parquet(tmp_path / f"{side}.parquet")
        with duckdb.connect(tmp_path / "base.duckdb") as base:
            base.execute(f"create table {side} as from '{tmp_path}/{side}.parquet'")
    (tmp_path / "schema.toml").write_text(_SCHEMA)
    kinds = {c: _KINDS[c] for c in columns} | {"digits": {"sdtype": "id", "regex_format": "[0-9]+(.0)?"}}
    keys = {"primary_key": "digits", "alternate_keys": ["person", "number", ["age", "job"]]}
    (tmp_path / "schema.json").write_text(json.dumps({"tables": {"people": {"columns": kinds, **keys}}}))
    asked = [] if schema == "infer" else ["--schema", tmp_path / f"schema.{schema}"]
    found = []
    for engine in ("memory", *ENGINES):
        out = tmp_path / f"{engine}.json"
        status, shown, err = divulge(
            "diagnose", tmp_path / "real.parquet", tmp_path / "synthetic.parquet", "--engine", engine, *asked,
            "--missing", f"{codes},?", "--json", out,
        )  # fmt: skip
        assert status == 0, err
        report = json.loads(out.read_text())
        del report["info"]["generation_time"]
        found.append((shown, report))
    assert found[0] == found[1] == found[2]
    assert "KeyUniqueness" in str(found[0][1]) or schema == "infer"
    tables = [f"{tmp_path}/base.duckdb::{side}" for side in ("real", "synthetic")]
    if schema == "json":
        assert by("duckdb", *tables, tmp_path / "schema.json") == in_memory(
            *(pl.read_parquet(tmp_path / f"{side}.parquet") for side in ("real", "synthetic")), tmp_path / "schema.json"
        )


def test_the_command_refuses_what_an_engine_cannot_tell(divulge, files, monkeypatch, tmp_path):
    sides = [files / "real.parquet", files / "synthetic.parquet"]
    (tmp_path / "m.json").write_text(json.dumps(METADATA))
    asked = ["diagnose", *sides, "--engine", "duckdb", "--schema", tmp_path / "m.json"]
    status, _, err = divulge(*asked)
    assert status == 2 and "real table: no column '*'" in err
    monkeypatch.setattr(memory_check, "room", lambda: Room(20_000, 0, "a test"))
    for kind, told in (("id", ""), ("categorical", "distinct values need")):
        (tmp_path / "m.json").write_text(
            json.dumps({"columns": {"age": {"sdtype": "numerical"}, "person": {"sdtype": kind}}})
        )
        status, _, err = divulge(*asked)
        assert (status, told in err) == (2 if told else 0, True), err


def test_keys_parts_and_types_are_those_of_the_whole_column(monkeypatch):
    real = pl.DataFrame({"day": ["01/02/2020", "1/2/2020"], "k": [1, 1], "n": [None, 5], "c": ["a", "b"]})
    synthetic = real.with_columns(c=pl.col("c").cast(pl.Categorical))
    kinds = {"day": {"sdtype": "datetime", "datetime_format": "%d/%m/%Y"}, "k": {"sdtype": "numerical"}}
    metadata = {"columns": kinds | {"n": {"sdtype": "id", "regex_format": "5"}}, "primary_key": ["day", "k"]}
    wanted = in_memory(real, synthetic, metadata)
    assert "'KeyUniqueness', 'Score': 0.5" in wanted[0] and "'TableStructure', 'Score': 0.6" in wanted[-1]
    assert "'RegexFormatAdherence', 'Score': 0.0" in wanted[-2]
    usual = _polars_counts.PolarsCounts.raw
    monkeypatch.setattr(
        _polars_counts.PolarsCounts,
        "raw",
        lambda self, c: (s[i : i + 1] for s in usual(self, c) for i in range(len(s))),
    )
    assert by("polars", real.lazy(), synthetic.lazy(), metadata) == wanted
    assert by("duckdb", real, synthetic, metadata) == wanted
