"""The public functions of attacks and measures: what they document, and the settings that all of them share."""

import inspect
import re

import polars as pl
import pytest
from amount import some

import divulge
from divulge.attacks.catalogue import CATALOGUE
from divulge.core.errors import SettingError
from divulge.demo import tables
from divulge.measures.catalogue import all_measures
from divulge.measures.linked.catalogue import linked_measures

FUNCTIONS = [
    name for name in (*CATALOGUE, *(m.name for m in (*all_measures(), *linked_measures()))) if hasattr(divulge, name)
]
COUNTED = [m.name for m in all_measures() if not m.models]


@pytest.fixture(scope="module")
def frames():
    return tuple(pl.DataFrame(t).head(150) for t in tables())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_argument_is_described_and_typed(name):
    function = getattr(divulge, name)
    parameters = inspect.signature(function).parameters
    described = re.search(r"Parameters\n-+\n(.*?)\n\n\w+\n---", function.__doc__, re.S)[1]
    entries = {one for line in re.findall(r"^(\S.*)$", described, re.M) for one in line.split(", ")}
    assert entries == set(parameters)
    assert not any(isinstance(p.annotation, str) or p.annotation is p.empty for p in parameters.values())
    assert not any(" object at 0x" in repr(p.default) for p in parameters.values())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_sections_stand_in_the_order_of_numpydoc(name):
    wanted = ("Parameters", "Returns", "Raises", "Notes", "References", "Examples")
    found = re.findall(r"^(\w+)\n-+$", getattr(divulge, name).__doc__, re.M)
    assert found == sorted(found, key=wanted.index)
    assert {"Parameters", "References", "Examples"} <= set(found)


def test_an_attack_leaves_out_ignored_columns(frames):
    less = [t.drop("educ") for t in frames]
    assert [str(r) for r in divulge.dcr(*frames, ignore=["educ"])] == [str(r) for r in divulge.dcr(*less)]


@pytest.mark.parametrize("name", some(COUNTED, 4))
@pytest.mark.parametrize("engine", some(["duckdb", "polars"], 1))
def test_an_engine_changes_no_digit_of_a_measure(name, engine, frames):
    measure = getattr(divulge, name)
    plain, counted = ([r.to_dict() | {"seconds": 0} for r in measure(*frames, engine=e)] for e in ("memory", engine))
    assert counted == plain


@pytest.mark.parametrize("name", ["pmse", "copies"])
def test_one_name_is_a_list_of_one_column(name, frames):
    call = getattr(divulge, name)
    assert [str(r) for r in call(*frames, columns="age")] == [str(r) for r in call(*frames, columns=["age"])]


def test_a_measure_by_models_refuses_an_engine(frames):
    with pytest.raises(SettingError, match="pmse needs every row, and duckdb counts rows where they are"):
        divulge.pmse(*frames, engine="duckdb")
