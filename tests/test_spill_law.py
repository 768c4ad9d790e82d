"""Indices in files, searched block by block, change no bit of a result: attacks that search whole rows."""

import gc

import numpy as np
import polars as pl
import pytest
from test_engine_law import table, told
from test_laws import settings_of

from divulge.attacks.catalogue import CATALOGUE
from divulge.attacks.inference import _from_rows
from divulge.case.case import build_case
from divulge.case.preconditions import check_all
from divulge.case.spill import Spill
from divulge.kernels._native.library import levels
from divulge.kernels.linkage import record_linkage
from divulge.kernels.neighbours import leave_one_out
from divulge.kernels.neighbours.block_index import BlockIndex

FAMILY = sorted(name for name, entry in CATALOGUE.items() if entry.family == "distance")
OTHERS = ["exposure", "inference", "linkability", "membership"]


@pytest.fixture(scope="module")
def tables():
    real = table(130, 1)
    return real, pl.concat([table(90, 2, 500), real[:30], real[:10]]), table(90, 3, 1000)


def answers(case, name):
    """Return what an attack says, with each of the settings that the laws try."""
    return [told(CATALOGUE[name].run(case, **one)) for one in settings_of(name)]


def spilled(case, folder):
    """Return the case with indices in blocks of some rows."""
    case.encoded.spill = Spill(folder, 17, 1000)
    return case


@pytest.mark.first(1)
@pytest.mark.parametrize("unit", [None, "household"])
@pytest.mark.parametrize("name", FAMILY + OTHERS)
def test_blocks_change_no_bit_of_a_result(name, unit, tables, tmp_path):
    expected = answers(build_case(*tables, unit=unit), name)
    assert answers(spilled(build_case(*tables, unit=unit), tmp_path), name) == expected


@pytest.mark.slow
def test_repeated_tables_count_once_in_blocks_too(tables, tmp_path):
    given = (tables[0], pl.concat([tables[1], tables[1]]), tables[2])
    for name in ("dcr", "nndr", "linkability"):
        expected = answers(build_case(*given), name)
        assert answers(spilled(build_case(*given), tmp_path), name) == expected
        # two equal rows have a second at distance 0; linkability counts them once
        assert (answers(build_case(*tables), name) == expected) == (name == "linkability")


@pytest.mark.slow
@pytest.mark.parametrize("attack", ["dcr", "nndr", "identical_match_share", "authenticity", "exposure", "linkability"])
def test_no_index_is_made_in_memory(attack, tables, tmp_path, monkeypatch):
    from divulge.case.encoded import MeasuredColumns

    def refused(self, *_):
        raise AssertionError("an index in memory")

    monkeypatch.setattr(MeasuredColumns, "index", refused)
    made = []
    usual = BlockIndex.__init__
    monkeypatch.setattr(BlockIndex, "__init__", lambda self, *a, **k: made.append(1) or usual(self, *a, **k))
    CATALOGUE[attack].run(spilled(build_case(*tables), tmp_path))
    assert made


@pytest.mark.slow
def test_the_checks_are_the_same(tables, tmp_path):
    assert check_all(spilled(build_case(*tables), tmp_path)) == check_all(build_case(*tables))


@pytest.mark.slow
def test_the_files_go_with_the_case(tables, tmp_path):
    case = spilled(build_case(*tables), tmp_path)
    CATALOGUE["dcr"].run(case)
    assert {p.name[:15] for p in tmp_path.iterdir()} == {"divulge-blocks-"}
    del case
    gc.collect()  # encoded tables know themselves
    assert list(tmp_path.iterdir()) == []


def test_hits_are_those_of_all_rows_at_once(tables, monkeypatch):
    from divulge.attacks.distance import hitting_rate as module

    expected = answers(build_case(*tables), "hitting_rate")
    monkeypatch.setattr(module, "_PART", 13)
    assert answers(build_case(*tables), "hitting_rate") == expected
    assert 0 < CATALOGUE["hitting_rate"].run(build_case(*tables)).real.hits < len(tables[0])
    assert np.isfinite(expected[0][0]["risk"]["value"])


@pytest.mark.skipif(not levels(), reason="no compiled loops")
@pytest.mark.parametrize("ways", [["nearest record", "k-vote"], ["CAP"]])
def test_inference_walks_through_blocks(ways, tables, tmp_path, monkeypatch):
    walked, usual = [], _from_rows.answers_in_blocks
    monkeypatch.setattr(leave_one_out, "_FEW", 0)
    monkeypatch.setattr(_from_rows, "answers_in_blocks", lambda *given: walked.append(1) or usual(*given))
    asked = {"target": ["income", "job"], "ways": ways, "k": 3}
    twice = tables[0], pl.concat([tables[1], tables[1]]), tables[2]
    for given in (tables, twice):
        expected = told(CATALOGUE["inference"].run(build_case(*given), **asked))
        assert told(CATALOGUE["inference"].run(spilled(build_case(*given), tmp_path), **asked)) == expected
    assert walked


@pytest.mark.slow
def test_cells_of_a_half_are_counted_some_rows_at_a_time(tables, tmp_path, monkeypatch):
    monkeypatch.setattr(record_linkage, "_AT_ONCE", 20)
    expected = answers(build_case(*tables), "linkability")
    assert answers(spilled(build_case(*tables), tmp_path), "linkability") == expected
