"""The figures of `benchmarks/house.py` that a change may not make worse; a figure that got better is written down."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

import house  # noqa: E402 # it stands in benchmarks

CROWDED = {
    "tables": 51, "measures": 42, "sdmetrics": 42, "auditing": 33, "sdmetrics/reports": 31, "stats": 27, "case": 22,
    "cli": 22, "report/prose": 21,
}  # fmt: skip
"""Folders with more files than `house.MOST_FILES`, and how many they may have."""

pytestmark = pytest.mark.slow  # every file is parsed twice


def test_imports_are_no_longer_chain():
    assert len(house.longest_chain()) <= 24


def test_folders_have_few_files():
    assert all(n <= CROWDED.get(folder, 0) for folder, n in house.crowded().items())


def test_class_names_are_not_given_twice():
    assert len(house.repeated_classes()) <= 55


def test_attacks_and_measures_are_named_in_their_families():
    assert house.names_elsewhere().total() <= 266


def test_signatures_are_made_in_one_file():
    assert [str(file) for file in house.files() if house.sets_signature(file)] == ["core/calls"]


def test_the_formatter_is_seldom_overruled():
    assert sum(file.text.count("# fmt: skip") for file in house.files()) <= 369


@pytest.mark.parametrize(("call", "most"), [("divulge.cap", 112), ("KSComplement", 41)])
def test_a_call_loads_what_it_needs(call, most):
    assert house.loaded(house.CALLS[call], ROOT / "src", runs=1)[0] <= most
