"""Searches by blocks against full matrices and one index over all rows: the same bytes, whatever the blocks."""

import errno
from dataclasses import fields
from itertools import chain

import amount
import numpy as np
import pytest
from amount import tries
from test_neighbours import ENGINES, tables

import divulge
from divulge.case.case import build_case
from divulge.case.spill import Spill
from divulge.core.errors import SettingError, SizeError
from divulge.kernels._native.library import at_level, levels
from divulge.kernels.neighbours import block_index
from divulge.kernels.neighbours._block_files import BlockFolder
from divulge.kernels.neighbours._routing import fit_routing
from divulge.kernels.neighbours.block_index import BlockIndex
from divulge.kernels.neighbours.distinct import Distinct
from divulge.kernels.neighbours.gower import Field, Rows, fit_ruler, pairwise
from divulge.kernels.neighbours.index import Index
from divulge.kernels.neighbours.nearest import Nearest
from divulge.tables.frames import table_of

BLOCKS = (1, 2, 7, 32)
"""Numbers of blocks of the reference."""


def by_matrix(ruler, queries, reference, k, own):
    """The k nearest rows, lowest numbers first among ties, and how many tie with the last of them."""
    matrix = pairwise(ruler, queries, reference)
    if own is not None:
        matrix[own, own] = np.inf
    matrix = np.pad(matrix, ((0, 0), (0, k)), constant_values=np.inf)
    order = np.argsort(matrix, axis=1, kind="stable")[:, :k]
    far = np.take_along_axis(matrix, order, axis=1)
    ties = np.where(np.isfinite(far[:, -1]), (matrix == far[:, -1:]).sum(axis=1), 0)
    return Nearest(far, np.where(np.isfinite(far), order, -1), ties)


def reached_by(index, reference, queries, k):
    """The reach of each query, and the rows that are listed for it, with their distances."""
    reach, listed = index.reach(queries, k), {}
    of_each = reach.reference.of_each
    assert np.array_equal(np.bincount(of_each, minlength=len(reach.reference.times)), reach.reference.times)
    for name in ("numbers", "codes"):
        assert np.array_equal(
            getattr(reach.reference.rows, name)[of_each], getattr(reference, name), equal_nan=name == "numbers"
        )
    for some in (None, np.arange(0, len(reach.n_rows), 2)):
        for part in index.up_to(reach, some):
            for query, first, last in zip(part.queries.tolist(), part.start[:-1], part.start[1:], strict=True):
                every = [np.flatnonzero(of_each == row).tolist() for row in part.rows[first:last].tolist()]
                far = np.repeat(part.distances[first:last], [len(e) for e in every])
                assert np.array_equal(far, np.sort(far)) and len(far) == reach.n_rows[query]
                told = sorted(zip(far.tolist(), chain.from_iterable(every), strict=True))
                assert listed.setdefault(query, told) == told
    each = reach.queries.of_each
    return reach.distances[each].tobytes(), reach.n_rows[each].tolist(), [listed[q] for q in each.tolist()]


def backwards(ruler, rows, threads):
    """Another order of queries, as of many; few stay as they are."""
    return np.arange(len(rows))[::-1]


def check_blocks(seed, engine, folder, blocks=BLOCKS):
    """Nearest rows against the matrix; attraction and counts against one index."""
    rng, ruler, reference, queries, own = tables(seed)
    k = int(rng.choice([1, 2, 5]))
    expected = by_matrix(ruler, queries, reference, k, own)
    whole = Index(ruler, reference, engine=engine, threads=1)
    chosen = None if rng.random() < 0.5 else rng.random(len(queries)) < 0.5
    # equal rows have equal values
    closer = None if rng.random() < 0.5 else rng.random(len(reference))[Distinct.of(reference, always=True).of_each]
    radius = float(rng.random())
    attraction = whole.attraction(queries, chosen, closer)
    within = whole.count_within(queries, radius)
    reached = reached_by(whole, reference, queries, k)
    for n_blocks in blocks:
        size, asked = max(1, -(-len(reference) // n_blocks)), max(1, -(-len(queries) // int(rng.choice([1, 1, 2, 3]))))
        index = BlockIndex(ruler, reference, folder, block_rows=size, query_rows=asked, engine=engine,
                           threads=int(rng.choice([1, 2])))  # fmt: skip
        said = f"seed {seed}, {engine}, {n_blocks} blocks"
        found = index.nearest(queries, k, own=own)
        for field in fields(Nearest):
            mine, oracle = getattr(found, field.name), getattr(expected, field.name)
            assert mine.tobytes() == oracle.astype(mine.dtype).tobytes(), f"{said}, {field.name}"
        assert index.attraction(queries, chosen, closer).tobytes() == attraction.tobytes(), said
        assert index.count_within(queries, radius).tobytes() == within.tobytes(), said
        assert reached_by(index, reference, queries, k) == reached, said


@pytest.mark.first(1)
@pytest.mark.parametrize("engine", [*ENGINES, None])
def test_any_number_of_blocks_gives_the_bytes_of_the_matrix(engine, tmp_path, monkeypatch):
    monkeypatch.setattr(block_index, "near_each_other", backwards)
    for seed in range(tries(24, least=4)):
        with at_level(levels()[seed % len(levels())]):
            check_blocks(seed, engine, tmp_path, BLOCKS if amount.everything else [BLOCKS[seed % 4]])


@pytest.mark.full
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("level", levels())
def test_two_thousand_tables_at_each_level(level, engine, tmp_path):
    with at_level(level):
        for seed in range(20_000, 22_000):
            check_blocks(seed, engine, tmp_path)


def people(n, m, values):
    """Reference rows and queries of one number and one category, with many ties where values are few."""
    rng = np.random.default_rng([n, m])
    x = rng.integers(0, values, n + m).astype(float)
    c = rng.integers(0, 3, n + m).astype(np.int32)
    marks = np.zeros(n, np.int32), np.zeros(m, np.int32)
    return fit_ruler([Field("x", (x[:n], x[n:]), marks), Field("c", None, (c[:n], c[n:]))], ranges_of=[0])


@pytest.mark.parametrize("values", [3, 100_000])
def test_larger_blocks_put_their_queries_into_an_order_once(values, tmp_path, monkeypatch):
    monkeypatch.setattr("divulge.kernels.neighbours._compiled._ORDERED", 500)
    ruler, (reference, queries) = people(3000, 1500, values)
    one = Index(ruler, reference).nearest(queries, 2)
    found = BlockIndex(ruler, reference, tmp_path, block_rows=700).nearest(queries, 2)
    for field in fields(Nearest):
        assert getattr(found, field.name).tobytes() == getattr(one, field.name).tobytes()


def test_limits_leave_out_only_what_is_beyond_them():
    ruler, (reference, queries) = people(2000, 300, 50)
    whole = by_matrix(ruler, queries, reference, 3, None)
    limits = np.where(np.arange(300) % 2, whole.distances[:, 1], np.inf)
    limits[::7] = -1.0  # not asked
    for engine in ENGINES[1:]:
        some, found = Index(ruler, reference, engine=engine).nearest_up_to(queries, 3, limits)
        near = whole.distances <= limits[:, None]
        assert some.tolist() == np.flatnonzero(near[:, 0]).tolist()
        near, whole_there = near[some], whole.take(some)
        assert np.array_equal(found.distances[near], whole_there.distances[near])
        assert np.array_equal(found.rows[near], whole_there.rows[near])
        assert (found.distances[~near] > np.broadcast_to(limits[some, None], near.shape)[~near]).all()


@pytest.mark.first(2)
@pytest.mark.parametrize("engine", ENGINES)
def test_the_reach_has_all_ties_of_all_blocks(engine, tmp_path, monkeypatch):
    """A point of a grid has several distinct rows at the last distance, in one block or in several."""
    monkeypatch.setattr(block_index, "near_each_other", backwards)
    rng = np.random.default_rng(5)
    x, y = (rng.integers(0, 9, 110).astype(float) for _ in range(2))
    marks = np.zeros(90, np.int32), np.zeros(20, np.int32)
    fields = [Field(name, (v[:90], v[90:]), marks) for name, v in (("x", x), ("y", y))]
    ruler, (reference, queries) = fit_ruler(fields, ranges_of=[0])
    whole = Index(ruler, reference, engine=engine)
    for k, size in ((1, 8), (2, 20), (4, 20)):
        index = BlockIndex(ruler, reference, tmp_path, block_rows=size, query_rows=15, engine=engine)
        assert reached_by(index, reference, queries, k) == reached_by(whole, reference, queries, k)


def test_each_row_is_made_once_and_no_file_is_left_behind(tmp_path):
    ruler, (reference, queries) = people(100, 20, 9)
    asked = []

    class Source:
        def __len__(self):
            return len(reference)

        def part(self, first, last):
            return reference.part(first, last)

        def take(self, rows):
            asked.append(rows.tolist())
            return reference.take(rows)

    index = BlockIndex(ruler, Source(), tmp_path, block_rows=40)
    index.nearest(queries)
    index.nearest(queries, 2)
    sample, *blocks = asked
    assert sample == list(range(100))
    assert sorted(row for rows in blocks for row in rows) == list(range(100))
    assert len(blocks) > 1
    assert max(map(len, blocks)) < 100
    (folder,) = tmp_path.iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert sorted(p.name for p in folder.glob("*.block")) == [f"{i}.block" for i in range(2 * len(blocks))]
    del index
    assert not list(tmp_path.iterdir())


def test_a_full_disk_is_told_in_a_sentence(tmp_path, monkeypatch):
    def full(array, file):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("divulge.kernels.neighbours._block_files._put", full)
    ruler, (reference, queries) = people(100, 20, 9)
    with pytest.raises(SizeError, match=r"the disk is full\. hint: name a folder with more room"):
        BlockIndex(ruler, reference, tmp_path, block_rows=40).nearest(queries)


def test_a_reference_without_rows_and_k_of_0_are_refused(tmp_path):
    ruler, (reference, queries) = people(10, 2, 9)
    with pytest.raises(SettingError, match="no rows"):
        BlockIndex(ruler, Rows(np.empty((0, 1)), np.empty((0, 1), np.int32)), tmp_path, block_rows=4)
    with pytest.raises(SettingError, match="below 1"):
        BlockIndex(ruler, reference, tmp_path, block_rows=4).nearest(queries, 0)


def test_a_block_is_read_as_it_was_written(tmp_path):
    ruler, (reference, _) = people(200, 1, 5)
    distinct = Distinct.of(reference)
    assert distinct.of_row is not None
    folder = BlockFolder(tmp_path)
    read, tree = folder.written(distinct, None).opened()
    assert tree is None
    assert len(read) == 200
    for name in ("of_row", "times", "start", "members"):
        assert np.array_equal(getattr(read, name), getattr(distinct, name))
    assert np.array_equal(read.rows.codes, distinct.rows.codes)
    assert ruler.total == 2


def frames():
    """Two tables of numbers, some of them missing, and texts."""
    pl = pytest.importorskip("polars")
    rng = np.random.default_rng(3)

    def frame(n):
        gaps = rng.random(n) < 0.1
        ages = [None if gap else age for age, gap in zip(rng.integers(18, 60, n).tolist(), gaps, strict=True)]
        return pl.DataFrame({"age": ages, "pay": rng.normal(size=n).round(2), "job": rng.choice(list("abcd"), n)})

    return frame(60), frame(150)


@pytest.mark.parametrize("k", [1, 2, 5])
def test_nearest_by_blocks_is_nearest(k, tmp_path, monkeypatch):
    monkeypatch.setattr("divulge.case.distances.Spill", lambda folder: Spill(folder, 20))
    queries, reference = frames()
    whole, found = divulge.nearest(queries, reference, k), divulge.nearest(queries, reference, k, spill=tmp_path)
    for one, other in zip(whole, found, strict=True):
        assert one.tobytes() == other.tobytes()
    assert not list(tmp_path.iterdir())


def test_a_spill_folder_that_is_not_there_is_told(tmp_path):
    queries, reference = frames()
    with pytest.raises(SettingError, match="spill: no such folder"):
        divulge.nearest(queries, reference, spill=tmp_path / "away")


def test_rows_of_two_tables_are_made_part_by_part():
    queries, reference = frames()
    case = build_case(table_of(reference, "real"), table_of(queries, "synthetic"), table_of(queries, "holdout"))
    measured = case.encoded.measured_columns(["age", "pay", "job"])
    whole, source = measured.rows("people"), measured.source("people")
    assert len(source) == len(whole) == 210
    for first, last in ((0, 210), (0, 100), (140, 160), (150, 210), (210, 210)):
        part = source.part(first, last)
        assert np.array_equal(part.numbers, whole.numbers[first:last], equal_nan=True)
        assert np.array_equal(part.codes, whole.codes[first:last])
    some = np.array([209, 3, 150, 149])
    assert np.array_equal(source.take(some).numbers, whole.numbers[some], equal_nan=True)
    assert np.array_equal(source.take(some).codes, whole.codes[some])


def test_a_row_without_the_number_is_found_across_a_split():
    """It lies on the left and differs by its mark: the bound of the split must not be added to that of the mark."""
    n = 400
    x = np.where(np.arange(n) % 4 == 0, np.nan, np.arange(n, dtype=float))
    marks = np.isnan(x).astype(np.int32)
    ruler, (reference, queries) = fit_ruler([Field("x", (x, x[-40:]), (marks, marks[-40:]))], ranges_of=[0])
    routing = fit_routing(ruler, reference, n, 25)
    limits = np.linspace(0.0, 1.0, 40)
    block_of, matrix = routing.route(reference), pairwise(ruler, queries, reference)
    told = dict(routing.within(ruler, queries, limits))
    for block in range(routing.n_blocks):
        near = (matrix[:, block_of == block] <= limits[:, None]).any(axis=1)
        assert set(np.flatnonzero(near)) <= set(told.get(block, np.empty(0, np.int64)).tolist())


def test_no_block_with_a_row_within_the_limit_is_passed_over():
    for seed in range(tries(300, least=12)):
        rng, ruler, reference, queries, _ = tables(seed)
        routing = fit_routing(ruler, reference, len(reference), int(rng.integers(1, 40)))
        block_of, matrix = routing.route(reference), pairwise(ruler, queries, reference)
        limits = matrix[np.arange(len(queries)), rng.integers(0, len(reference), len(queries))]
        told = dict(routing.within(ruler, queries, limits))
        for block in range(routing.n_blocks):
            near = (matrix[:, block_of == block] <= limits[:, None]).any(axis=1)
            assert set(np.flatnonzero(near)) <= set(told.get(block, np.empty(0, np.int64)).tolist()), seed
