"""Arrays in files: what is written is read again, nothing is left behind, and a full disk is told before it is written."""

import errno
import os

import numpy as np
import pytest

from divulge.case.spill import Spill, room_for
from divulge.core.errors import SizeError
from divulge.core.mapped_arrays import mapped_array


def test_what_is_written_is_read_again_and_no_file_has_a_name(tmp_path):
    found = mapped_array(tmp_path, (300, 7), np.int32)
    found[:] = np.arange(2100).reshape(300, 7)
    assert found.sum() == 2100 * 2099 / 2 and found.flags.c_contiguous
    assert list(tmp_path.iterdir()) == []
    assert mapped_array(tmp_path, (0, 7), np.int32).shape == (0, 7)


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="room is not taken at once")
def test_a_full_disk_is_told_before_anything_is_written(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(SizeError, match=r"spill: the disk is full\. hint: name a folder"):
        mapped_array(tmp_path, (10,), np.float64)


def test_an_array_is_in_memory_where_no_folder_is_named(tmp_path):
    for spill, kind in ((None, type(None)), (Spill(tmp_path), np.memmap)):
        found = room_for(spill, (4, 2), np.int32)
        assert found.shape == (4, 2) and isinstance(found.base, kind)
