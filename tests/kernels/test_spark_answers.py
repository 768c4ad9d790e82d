"""What runs in Spark's workers, and what is told of their failures, without Spark."""

from dataclasses import fields

import numpy as np
import pytest
from amount import tries
from test_neighbours import tables

from divulge.case.spark_answers import answers_by_folder, answers_of_pair, in_columns
from divulge.case.spark_search import Blocks, _blocks, _sent, _told
from divulge.core.errors import FrameError, SettingError, TableError
from divulge.kernels.neighbours.index import Index
from divulge.kernels.neighbours.mapped_index import IndexFolder, ruler_in_numbers
from divulge.kernels.neighbours.nearest import Nearest

pa = pytest.importorskip("pyarrow")


def asked(queries):
    return pa.table({"id": np.arange(len(queries)) + 100} | in_columns(queries))


def arrays(told, k):
    """Return a `Nearest` of the batches of an answer, whose ids must be those of the queries."""
    told = pa.Table.from_batches(told) if isinstance(told, list) else told
    assert told.column("id").to_pylist() == list(range(100, 100 + told.num_rows))
    lists = [np.array(told.column(name).to_pylist()).reshape(-1, k) for name in ("distances", "rows")]
    return Nearest(*lists, told.column("n_ties").to_numpy())


def same(one, other):
    return all(getattr(one, f.name).tobytes() == getattr(other, f.name).tobytes() for f in fields(Nearest))


@pytest.mark.parametrize("k", [1, 3])
def test_batches_are_answered_as_by_one_index(k, tmp_path):
    for seed in range(tries(60)):
        _, ruler, reference, queries, _ = tables(seed)
        folder = IndexFolder(tmp_path)
        folder.write(ruler, reference)
        batches = [asked(queries).slice(0, 0).to_batches() or [], asked(queries).to_batches(max_chunksize=40)]
        told = list(answers_by_folder([b for part in batches for b in part], str(folder.path), k))
        assert same(arrays(told, k), Index(ruler, reference).nearest(queries, k)), seed


def test_a_block_of_the_reference_answers_with_the_rows_of_the_whole():
    _, ruler, reference, queries, _ = tables(7)
    sent = pa.table(_sent(reference, Blocks(1, 2)))
    for block in (0, 1):
        part = sent.filter(pa.compute.equal(sent["block"], block))
        rows = part["row"].to_numpy()
        found = arrays(answers_of_pair(asked(queries), part, ruler_in_numbers(ruler), 2), 2)
        alone = Index(ruler, reference.take(rows)).nearest(queries, 2)
        expected = Nearest(alone.distances, np.where(alone.rows < 0, -1, rows[alone.rows]), alone.n_ties)
        assert same(found, expected)
    none = asked(queries).slice(0, 0)
    assert answers_of_pair(none, part, ruler_in_numbers(ruler), 2).num_rows == 0


def test_blocks_are_few_and_none_of_the_reference_is_empty():
    assert _blocks(40_000, 400_000) == Blocks(1, 4)
    assert _blocks(10, 2) == Blocks(1, 2)
    assert _blocks(5_000_000, 30_000_000) == Blocks(3, 30)
    for n in (1, 2, 3, 5, 9):
        _, _, reference, *_ = tables(7)
        rows = reference.take(np.zeros(n, dtype=np.int64))
        blocks = _blocks(1, n)
        assert set(_sent(rows, blocks)["block"].to_pylist()) == set(range(blocks.reference))


def test_an_empty_block_and_a_value_that_is_new_fail_loudly():
    _, ruler, reference, queries, _ = tables(7)
    given, numbers = pa.table(_sent(reference, Blocks(1, 1))), ruler_in_numbers(ruler)
    with pytest.raises(RuntimeError, match="empty") as error:
        answers_of_pair(asked(queries), given.slice(0, 0), numbers, 1)
    assert str(_told(error.value, "queries")).startswith("reference: a block came to its task without rows")
    some = asked(queries)
    name = some.column_names[-1]
    holed = some.set_column(some.column_names.index(name), name, pa.array([None] * len(queries), some[name].type))
    with pytest.raises(RuntimeError, match="changed") as error:
        answers_of_pair(holed, given, numbers, 1)
    assert isinstance(_told(error.value, "queries"), TableError)
    assert str(_told(error.value, "queries")).startswith("queries: the table changed while it was read")


@pytest.mark.parametrize(
    ("message", "kind", "why"),
    [
        ("[PYTHON_VERSION_MISMATCH] Python in worker has different version", SettingError, "set PYSPARK_PYTHON"),
        ("ModuleNotFoundError: No module named 'pyarrow.lib' 4711", FrameError, "no package 'pyarrow'"),
        ("the value 4711 of a person cannot be cast", TableError, "failed with a ValueError"),
    ],
)
def test_of_an_error_of_spark_no_value_is_told(message, kind, why):
    told = _told(ValueError(message), "queries")
    assert type(told) is kind and why in str(told) and "4711" not in str(told) and "hint:" in str(told)
