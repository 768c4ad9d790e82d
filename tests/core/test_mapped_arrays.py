"""Arrays in files: what is written is read again, nothing is left behind, and a full disk is told before it is written."""

import errno
import mmap
import os
from pathlib import Path

import numpy as np
import pytest

from divulge.case.spill import Spill, room_for
from divulge.core.errors import SizeError
from divulge.core.mapped_arrays import mapped_array, read_at_random


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


def advice(array):
    """Return what the system was told of the map that an array lies in: flags of /proc/self/smaps."""
    inside, at = False, array.ctypes.data
    for line in Path("/proc/self/smaps").read_text().splitlines():
        name, *rest = line.split()
        if "-" in name and not name.endswith(":"):
            first, last = (int(end, 16) for end in name.split("-"))
            inside = first <= at < last
        elif inside and name == "VmFlags:":
            return rest
    raise AssertionError("the array lies in no map")


@pytest.mark.skipif(not (Path("/proc/self/smaps").exists() and hasattr(mmap, "MADV_RANDOM")), reason="Linux")
def test_the_system_is_told_of_arrays_in_files_that_are_read_at_random(tmp_path):
    told, untold, in_memory = (
        mapped_array(tmp_path, (3000, 2), np.int32),
        mapped_array(tmp_path, (9,), float),
        np.ones(9),
    )
    read_at_random(told[5:], in_memory)
    assert "rr" in advice(told) and "rr" not in advice(untold)
    assert not told.any() and in_memory.all()
