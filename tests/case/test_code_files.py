"""Codes of all rows in files: what is written, where, and what is an error."""

import os
import stat

import numpy as np
import polars as pl
import pytest

from divulge import inference
from divulge.case import cells, code_files
from divulge.case.asked import ask_where_they_are, asked_of
from divulge.case.case import build_case
from divulge.case.cells import n_cells_in_parts, n_cells_of
from divulge.case.code_files import CodeFolder, bytes_of_codes, codes_in_files
from divulge.core.errors import SettingError, SizeError, TableError
from divulge.tables import _duckdb_counts, _polars_counts

ENGINES = ("duckdb", "polars")


def table(n, seed):
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "id": rng.permutation(100_000)[:n],
            "amount": pl.Series(rng.integers(0, 700, n) / 4).set(pl.Series(rng.random(n) < 0.1), None),
            "job": rng.choice(["cook", "judge", None], n).tolist(),
        }
    )


@pytest.fixture(scope="module")
def tables():
    return table(900, 1), table(800, 2), table(500, 3)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("part", [500_000, 97])
def test_the_codes_of_rows_are_those_of_memory_in_another_order(engine, part, tables, tmp_path, monkeypatch):
    monkeypatch.setattr(_duckdb_counts, "PART", part)
    monkeypatch.setattr(_polars_counts, "PART", part)
    here, there = build_case(*tables), build_case(*tables, engine=engine)
    told = []
    codes = codes_in_files(there.encoded, there.columns, CodeFolder(tmp_path), lambda *n: told.append(n))
    assert told[-1] == (2200, 2200)
    assert [codes[c][0].dtype.itemsize for c in there.columns] == [2, 2, 1]
    for which in range(3):
        mine, known = (
            np.column_stack([c[which] for c in side])
            for side in (codes.values(), [here.codes(c, binned=False) for c in here.columns])
        )
        assert np.array_equal(np.sort(mine, axis=0), np.sort(known, axis=0))
        assert np.array_equal(np.unique(mine, axis=0), np.unique(known, axis=0))  # the ids differ: rows stay together


def test_old_polars_writes_the_rows_to_a_file_first(tables, tmp_path, monkeypatch):
    monkeypatch.setattr(_polars_counts, "PART", 97)
    case = build_case(*tables, engine="polars")
    new = codes_in_files(case.encoded, case.columns, CodeFolder(tmp_path))
    monkeypatch.delattr(pl.LazyFrame, "collect_batches", raising=False)  # the lowest polars has none
    old = codes_in_files(case.encoded, case.columns, CodeFolder(tmp_path))
    for which in range(3):
        one, other = (np.column_stack([c[which] for c in codes.values()]) for codes in (new, old))
        assert np.array_equal(np.unique(one, axis=0), np.unique(other, axis=0))


def test_the_folder_is_private_and_has_the_bytes_that_are_told(tables, tmp_path):
    case = build_case(*tables, engine="polars")
    folder = CodeFolder(tmp_path)
    assert stat.S_IMODE(os.stat(folder.path).st_mode) == 0o700
    codes_in_files(case.encoded, case.columns, folder)
    assert (
        sum(f.stat().st_size for f in folder.path.iterdir()) == bytes_of_codes(case.encoded, case.columns) == 5 * 2200
    )
    folder.remove()
    assert list(tmp_path.iterdir()) == []
    parent = CodeFolder(tmp_path).parent  # a folder that nobody holds any more goes by itself
    assert parent == tmp_path and list(tmp_path.iterdir()) == []


def test_no_room_and_no_folder_are_told(tables, tmp_path, monkeypatch):
    for nowhere in (tmp_path / "nowhere", "", " "):
        with pytest.raises(SettingError, match="spill: no such folder"):
            CodeFolder(nowhere)
    case = build_case(*tables, engine="polars")
    monkeypatch.setattr(code_files.CodeFolder, "free", property(lambda self: 10_000))
    with pytest.raises(SizeError, match=r"spill: the codes of all rows need 1.1e-05 GB of disk"):
        codes_in_files(case.encoded, case.columns, CodeFolder(tmp_path))


@pytest.mark.parametrize("engine", ENGINES)
def test_rows_that_do_not_add_up_are_an_error(engine, tables, tmp_path):
    case = build_case(*tables, engine=engine)
    counting = case.tables[1].counting._counting
    usual = counting.coded_rows

    def fewer(columns, codes):
        for part in usual(columns, codes):
            yield [c[1:] for c in part]

    counting.coded_rows = fewer
    with pytest.raises(TableError, match="synthetic: the table changed while it was read: it had 800 rows at first"):
        codes_in_files(case.encoded, case.columns, CodeFolder(tmp_path))

    def others(columns, codes):
        for part in usual(columns, codes):
            yield [np.roll(part[0], 1) * 0, *part[1:]]

    counting.coded_rows = others
    with pytest.raises(TableError, match="synthetic: the table changed while it was read"):
        codes_in_files(case.encoded, case.columns, CodeFolder(tmp_path))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_file_that_gets_a_new_value_is_an_error(engine, tables, tmp_path):
    paths = []
    for name, frame in zip("rsh", tables, strict=True):
        frame.write_parquet(tmp_path / f"{name}.parquet")
        paths.append(str(tmp_path / f"{name}.parquet"))
    case = build_case(*paths, engine=engine)
    for column in case.columns:
        case.pooled(column)
    tables[1].with_columns(job=pl.lit("pilot")).write_parquet(paths[1])
    with pytest.raises(TableError, match="synthetic"):
        codes_in_files(case.encoded, case.columns, CodeFolder(tmp_path))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("people", [60, 5000])
def test_the_same_people_are_drawn_as_in_memory(engine, people, tables, tmp_path):
    folder = CodeFolder(tmp_path)
    there, here = build_case(*tables, engine=engine), build_case(*tables)
    found = ask_where_they_are(there, people, folder)
    assert asked_of(there, people) is found
    known = asked_of(here, people)
    expected = here if known is None else known.case
    for which in (0, 2):
        mine, others = (
            np.column_stack([c.codes(n, binned=False)[which] for n in c.columns]) for c in (found.case, expected)
        )
        assert mine.shape == others.shape
        assert np.array_equal(np.unique(mine, axis=0), np.unique(others, axis=0))
    assert found.case.n_rows("synthetic") == 800 and found.case.in_memory and not there.in_memory


@pytest.mark.parametrize("part", [4_000_000, 37])
def test_cells_of_a_table_in_files_are_those_of_memory(part, tables, tmp_path, monkeypatch):
    monkeypatch.setattr(cells, "_PART", part)
    there, here = build_case(*tables, engine="polars"), build_case(*tables)
    folder = CodeFolder(tmp_path)
    some = ask_where_they_are(there, 5000, folder).case
    for binned in (True, False):
        for keys, target in ((["job", "amount"], "id"), (["job"], "amount"), (["amount"], ())):
            one, other = (c.contingency(keys, target, binned=binned) for c in (some, here))
            for name in ("o", "c", "s", "key", "target", "start", "s_key"):
                assert np.array_equal(getattr(one, name), getattr(other, name)), name


@pytest.mark.parametrize("part", [4_000_000, 37])
def test_cells_are_counted_from_files(part, tables, tmp_path, monkeypatch):
    monkeypatch.setattr(cells, "_PART", part)
    case, folder = build_case(*tables, engine="polars"), CodeFolder(tmp_path)
    ask_where_they_are(case, 5000, folder)
    whole = case.in_files
    for columns in (["job"], ["job", "amount"], ["id", "job"]):
        for which in range(3):
            for binned in (True, False):
                expected = n_cells_of(case.encoded, which, columns, binned=binned)
                assert n_cells_in_parts(whole.encoded, which, columns, binned=binned) == expected


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_a_repeated_synthetic_table_counts_once_in_files_too(engine, tables, tmp_path):
    real, synthetic, holdout = (t.drop("id") for t in tables)
    folder, asked = CodeFolder(tmp_path), {"keys": ["amount"], "target": "job", "ways": ("k-vote", "CAP")}

    def answers(case):
        return [(r.real, r.holdout, r.baseline) for r in inference.run(case, **asked)]

    once = answers(build_case(real, synthetic, holdout))
    twice = pl.concat([synthetic, synthetic])
    there = ask_where_they_are(build_case(real, twice, holdout, engine=engine), 5000, folder).case
    assert answers(there) == answers(build_case(real, twice, holdout)) == once


def test_counting_makes_no_array_of_all_synthetic_rows(tables, tmp_path):
    folder = CodeFolder(tmp_path)
    some = ask_where_they_are(build_case(*tables, engine="polars"), 100, folder).case
    some.contingency(["amount"], "job")
    inference.run(some, keys=["job"], target="amount", ways=("CAP", "k-vote"), subgroups=["amount", "id"])
    coded, kept = (memo.values().values() for memo in (some.encoded._codes, some.encoded._of_all))
    held = [c for c in (*kept, *(of_table[1] for of_table in coded)) if isinstance(c, np.ndarray)]
    assert held and all(isinstance(c, np.memmap) for c in held if len(c) == 800)


def test_codes_for_fidelity_are_those_in_files(tables, tmp_path, monkeypatch):
    case, folder = build_case(*tables, engine="polars"), CodeFolder(tmp_path)
    before = case.with_codes(["job", "amount"])
    ask_where_they_are(case, 100, folder)
    monkeypatch.setattr(type(case.tables[0].counting), "cells", None)
    there = case.with_codes(["job", "amount"])
    assert not there.in_memory
    for which in range(3):
        mine, others = (np.column_stack([c.codes(n, binned=False)[which] for n in ("job", "amount")])
                        for c in (there, before))  # fmt: skip
        assert np.array_equal(np.sort(mine, axis=0), np.sort(others, axis=0))
        assert isinstance(there.codes("job", binned=False)[which], np.memmap)
