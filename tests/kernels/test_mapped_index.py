"""An index in a folder, mapped by other processes, against the index that was written: the same bytes."""

import errno
import pickle
import subprocess
import sys
from dataclasses import fields

import numpy as np
import pytest
from amount import tries
from test_neighbours import tables

from divulge.core.errors import SizeError
from divulge.kernels.neighbours import mapped_index
from divulge.kernels.neighbours.index import Index
from divulge.kernels.neighbours.mapped_index import IndexFolder, opened_index, ruler_from, ruler_in_numbers


def same(one, other):
    return all(
        np.asarray(getattr(one, f.name)).tobytes() == np.asarray(getattr(other, f.name)).tobytes() for f in fields(one)
    )


@pytest.mark.parametrize("loops", [True, False])
def test_a_mapped_index_gives_the_bytes_of_the_index(loops, tmp_path, monkeypatch):
    if not loops:
        monkeypatch.setattr(mapped_index, "has_loops", lambda n_pairs: False)
    for seed in range(tries(100)):
        _, ruler, reference, queries, _ = tables(seed)
        folder = IndexFolder(tmp_path)
        folder.write(ruler, reference)
        for k in (1, 3, len(reference) + 1):
            expected = Index(ruler, reference).nearest(queries, k)
            assert same(opened_index(folder.path).nearest(queries, k), expected), f"seed {seed}, k {k}"


def test_another_process_opens_it(tmp_path):
    _, ruler, reference, queries, _ = tables(7)
    folder = IndexFolder(tmp_path)
    folder.write(ruler, reference)
    (tmp_path / "queries").write_bytes(pickle.dumps(queries))
    code = """
import pickle, sys
from pathlib import Path
from divulge.kernels.neighbours.mapped_index import opened_index

folder, queries, found = map(Path, sys.argv[1:])
found.write_bytes(pickle.dumps(opened_index(folder).nearest(pickle.loads(queries.read_bytes()), 2)))
"""
    paths = [str(p) for p in (folder.path, tmp_path / "queries", tmp_path / "found")]
    subprocess.run([sys.executable, "-c", code, *paths], check=True)
    assert same(pickle.loads((tmp_path / "found").read_bytes()), Index(ruler, reference).nearest(queries, 2))


def test_a_ruler_comes_back_from_numbers_to_the_last_bit():
    for seed in range(tries(100)):
        ruler = tables(seed)[1]
        assert same(ruler_from(ruler_in_numbers(ruler)), ruler), seed


def test_only_the_owner_reads_the_folder_and_it_is_removed(tmp_path):
    _, ruler, reference, *_ = tables(1)
    folder = IndexFolder(tmp_path)
    folder.write(ruler, reference)
    assert folder.path.stat().st_mode & 0o777 == 0o700
    folder.remove()
    assert not list(tmp_path.iterdir())
    other = IndexFolder(tmp_path)
    del other
    assert not list(tmp_path.iterdir())


def test_a_full_disk_is_told(tmp_path, monkeypatch):
    def full(array, file):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("divulge.kernels.neighbours._block_files._put", full)
    _, ruler, reference, *_ = tables(1)
    with pytest.raises(SizeError, match=r"the disk is full\. hint: name a folder with more room"):
        IndexFolder(tmp_path).write(ruler, reference)
