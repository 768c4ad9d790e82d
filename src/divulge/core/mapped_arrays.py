"""Arrays whose values lie in files: of what does not fit into memory the system keeps there what is looked at."""

from __future__ import annotations

import errno
import mmap
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.core.errors import SizeError

__all__ = ["disk_full", "mapped_array", "read_at_random"]


def mapped_array(folder: Path, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Return an array of zeros in a new file of a folder, which only its owner can read and which goes with the array.

    The room is taken at once: a disk that is full later would end the process without a word.

    Raises
    ------
    SizeError
        The disk is full.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = mapped_array(Path(folder), (2, 3), np.int32)
    >>> found.shape, int(found.sum())
    ((2, 3), 0)
    """
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    if not size:
        return np.zeros(shape, dtype)
    with tempfile.TemporaryFile(dir=folder) as file:
        try:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)
            else:
                file.truncate(size)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            raise disk_full() from None
        return np.asarray(np.memmap(file, dtype, "r+", shape=shape))


def read_at_random(*arrays: NDArray[Any]) -> None:
    """Tell the system that some arrays are read at random from now on, if they are those of files.

    Without this it reads 32 pages where one is asked for, and gives up as many of those that it holds.
    """
    for array in arrays:
        base: Any = array
        while base is not None and not isinstance(base, mmap.mmap):
            base = getattr(base, "base", None)
        if base is not None and hasattr(mmap, "MADV_RANDOM"):
            base.madvise(mmap.MADV_RANDOM)


def disk_full() -> SizeError:
    """Return the error of a disk that has no more room for what does not fit into memory."""
    return SizeError("spill: the disk is full. hint: name a folder with more room.")
