"""A call that names its columns reads these alone, and finds what it finds among all columns."""

import inspect

import numpy as np
import polars as pl
import pytest
from msgspec.structs import asdict

import divulge
from divulge.attacks.catalogue import CATALOGUE
from divulge.case import encoded
from divulge.case.case import build_case
from divulge.core.schema import Column, Schema

NAMED = [
    pytest.param(name, marks=[pytest.mark.slow] if name == "baseline_cap" else [])  # it trains a model
    for name, entry in sorted(CATALOGUE.items())
    if "keys" in inspect.signature(entry.run).parameters and "columns" not in inspect.signature(entry.run).parameters
]


def tables(n=120):
    rng = np.random.default_rng(0)

    def table(size):
        codes = {c: rng.integers(0, 3, size) for c in "abct"}
        words = {c: pl.Series([f"{c}{v}" for v in codes[c]]) for c in codes}
        home = pl.Series([f"h{v}" for v in rng.integers(0, size // 3, size)])
        return pl.DataFrame(words | {"x": rng.normal(size=size).round(3), "home": home})

    return table(n), table(n), table(n)


@pytest.fixture
def read(monkeypatch):
    """The columns whose values are read."""
    seen, pool = set(), encoded.pool

    def watched(tables, column, *rest):
        seen.add(column)
        return pool(tables, column, *rest)

    monkeypatch.setattr(encoded, "pool", watched)
    return seen


@pytest.mark.parametrize("name", NAMED)
def test_a_call_with_keys_and_target_reads_no_other_column(name, read):
    wanted = inspect.signature(CATALOGUE[name].run).parameters
    settings = {"keys": ["a", "b"]} | ({"target": "t"} if "target" in wanted else {})
    settings |= {"ways": ["nearest record", "CAP"]} if "ways" in wanted else {}
    given = tables()
    found = getattr(divulge, name)(*given[:2], holdout=given[2], unit="home", **settings)
    assert read <= {"a", "b", "t", "home"}
    everything = CATALOGUE[name].run(build_case(*given, unit="home"), **settings)
    one, other = (r if isinstance(r, tuple) else (r,) for r in (found, everything))
    assert [_numbers(r) for r in one] == [_numbers(r) for r in other]


def _numbers(result):
    told = asdict(result)
    return {k: repr(told[k]) for k in ("real", "holdout", "baseline", "value", "context", "settings", "keys", "target")}


def test_a_target_left_open_reads_every_column(read):
    real, synthetic, _ = tables()
    divulge.inference(real, synthetic, keys=["a"], ways=["CAP"])
    assert read == set(real.columns)


def test_an_unknown_column_is_told_as_ever():
    real, synthetic, _ = tables()
    with pytest.raises(divulge.ColumnError, match=r"'hame'.*did you mean.*'home'"):
        divulge.cap(real, synthetic, keys=["hame"], target="t")


def test_the_schema_may_describe_columns_that_are_not_asked_for(read):
    real, synthetic, _ = tables()
    schema = Schema((Column("x", "numeric"), Column("home", "identifier", roles=("unit",)), Column("a", "categorical")))
    case = build_case(real, synthetic, schema=schema, asked=["a", "t"])
    assert read == {"a", "t", "home"}
    assert case.unit == "home"
    assert case.schema["a"].kind == "categorical"
    assert case.columns == tuple(real.columns)
