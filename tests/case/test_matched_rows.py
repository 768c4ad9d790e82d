"""Whole rows compared part by part, from codes in files: what exact copies say is what they say in memory."""

import numpy as np
import polars as pl
import pytest
from test_engine_law import table, told

from divulge import copies
from divulge.attacks.multiplicity import correct
from divulge.case import matched_rows as module
from divulge.case.asked import ask_where_they_are
from divulge.case.case import build_case
from divulge.case.code_files import CodeFolder
from divulge.case.encoded import ROLES
from divulge.case.matched_rows import bytes_to_match, matched_people, matched_rows


@pytest.fixture(scope="module")
def tables():
    once = table(80, 1)
    real = pl.concat([once, once[:9]])  # some people are alike
    return real, pl.concat([table(90, 2, 500), real[:30], real[:10]]), pl.concat([table(60, 3, 900), real[:5]])


def in_files(given, folder, **named):
    """Return a case that an engine counts, with the codes of all rows in files."""
    case = build_case(*given, engine="polars", **named)
    ask_where_they_are(case, 50, folder)
    return case


def said(case, **named):
    """Return what exact copies say after the correction."""
    return told(tuple(correct(case, copies.run(case, variants=["exact"], **named))))


@pytest.mark.first(1)
@pytest.mark.parametrize("unit", ["household", None])
@pytest.mark.parametrize("part", [7, 1_000_000])
def test_copies_by_parts_say_what_they_say_in_memory(part, unit, tables, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_PART", part)
    monkeypatch.setattr(module, "_HASHED", 11)
    for given in (tables, tables[:2], (tables[0], tables[0].reverse(), tables[2])):
        folder = CodeFolder(tmp_path)
        there, here = in_files(given, folder, unit=unit), build_case(*given, unit=unit)
        assert said(there) == said(here)
        assert said(there, columns=["job", "rooms"]) == said(here, columns=["job", "rooms"])
        found = matched_rows(there, there.whole_record)
        assert found.is_released == (given[1].height == given[0].height) and found.n_copied > 0 < found.n_repeated
        assert len(found.table.s) == 2
        folder.remove()


def test_gathered_columns_keep_the_order_of_the_rows_in_files(tables, tmp_path):
    case = in_files(tables, CodeFolder(tmp_path), unit="household")
    before = [case.units(role) for role in ("real", "holdout")]
    case.gather(["job", "income"])
    assert all(np.array_equal(case.units(role), units) for role, units in zip(("real", "holdout"), before, strict=True))
    assert said(case) == said(build_case(*tables, unit="household"))


def test_people_in_an_order_of_their_own_keep_their_units_and_scores(tables, tmp_path):
    shuffled = [t.sample(fraction=1.0, shuffle=True, seed=3) for t in tables]
    one, other = (in_files(given, CodeFolder(tmp_path), unit="household") for given in (tables, shuffled))
    scores = []
    for case in (one, other):
        case.gather(["job", "income"], ordered=True)
        table = matched_rows(case, case.whole_record).table
        scores.append((table.cells[0], case.contingency(["job"], "income").cells[0]))
        assert said(case) == said(build_case(*tables, unit="household"))
    assert all(np.array_equal(mine, others) for mine, others in zip(*scores, strict=True))


def test_no_row_is_asked_of_the_engine_and_none_is_held(tables, tmp_path, monkeypatch):
    case = in_files(tables, CodeFolder(tmp_path))
    monkeypatch.setattr(type(case.tables[0].counting), "cells", None)
    found = copies.run(case, variants=["exact"])[0]
    assert found.real.hits == 39 and found.individual.real_times.sum() == case.n_rows("real")
    assert bytes_to_match(case.in_files, case.whole_record) < 400 * sum(case.n_rows(r) for r in ROLES)


@pytest.mark.parametrize("block", [7, 1_000_000])
def test_people_asked_are_equalled_by_the_rows_that_equal_them_among_all(block, tables, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_HASHED", block)
    asked = ask_where_they_are(build_case(*tables, engine="polars"), 50, CodeFolder(tmp_path))
    columns = ["job", "rooms", "owner", "illness"]
    for names in (columns, asked.case.whole_record):
        counted = asked.case.contingency(names, (), binned=False)
        found = matched_people(asked.case, names)
        for which, own in zip((0, 2), found, strict=True):
            assert own.tolist() == (counted.s > 0)[counted.cells[which]].tolist() and own.any()


def test_people_of_equal_hash_are_told_apart(tables, monkeypatch):
    monkeypatch.setattr(module, "value_hashes", lambda codes, salt: np.zeros(len(codes), dtype=np.uint64))
    case = build_case(*tables)
    found, names = matched_people(case, ["job"]), case.codes("job", binned=False)
    assert found[0].tolist() == (names[0] == names[1][-1]).tolist()
