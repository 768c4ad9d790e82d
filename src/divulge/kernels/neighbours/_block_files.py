"""Blocks of a reference in files: the distinct rows of each with their tree, written once and mapped when searched."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from divulge.core.mapped_arrays import disk_full, mapped_array
from divulge.core.private_folders import PrivateFolder
from divulge.kernels._box_tree import Tree
from divulge.kernels.neighbours.distinct import Distinct
from divulge.kernels.neighbours.gower import Rows

__all__ = ["ArrayFile", "BlockFile", "BlockFolder"]

_ALIGNED = 64  # bytes: each array begins where a load of the widest registers may


class _Place(NamedTuple):
    """Where an array lies in a file."""

    offset: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


class ArrayFile(NamedTuple):
    """Arrays in a file."""

    path: Path
    places: list[_Place]

    def opened(self) -> list[NDArray[Any]]:
        """Return the arrays, which read the file where they are looked at."""
        size = max(p.offset + int(np.prod(p.shape)) * p.dtype.itemsize for p in self.places)
        mapped = np.asarray(np.memmap(self.path, np.uint8, "r", shape=(size,)))
        return [_view(mapped, place) for place in self.places]


class BlockFile(NamedTuple):
    """A block in a file."""

    path: Path
    places: list[_Place]
    n_rows: int
    is_distinct: bool
    """Whether its rows are held with their repeats left out."""
    depth: int
    """That of the tree; 0 where there is none."""

    def opened(self) -> tuple[Distinct, Tree | None]:
        """Return the distinct rows and their tree; both read the file where they are looked at."""
        arrays = ArrayFile(self.path, self.places).opened()
        numbers, codes, *repeats = arrays[:6]
        rows = Rows(numbers, codes)
        if not self.is_distinct:
            distinct = Distinct.all_of(rows)
        else:  # of the rows with their repeats only their number is asked for
            whole = Rows(np.empty((self.n_rows, 0)), np.empty((self.n_rows, 0), dtype=np.int32))
            distinct = Distinct(whole, rows, *repeats)
        return distinct, Tree._make([*arrays[6:], self.depth]) if self.depth else None


class BlockFolder:
    """A folder of its own for the blocks of one reference; only its owner can read it, and it is removed at the end.

    Parameters
    ----------
    parent
        The folder in which it is made.
    """

    def __init__(self, parent: Path) -> None:
        self._folder = PrivateFolder("divulge-blocks-", parent)
        self.path, self.remove = self._folder.path, self._folder.remove
        self._n_files = 0

    def array(self, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        """Return an array of zeros in a file of the folder; see `mapped_array`."""
        return mapped_array(self.path, shape, dtype)

    def put(self, arrays: Sequence[NDArray[Any]]) -> ArrayFile:
        """Return a new file with some arrays.

        Raises
        ------
        SizeError
            The disk is full.
        """
        path = self.path / f"{self._n_files}.block"
        self._n_files += 1
        return ArrayFile(path, _write(path, arrays))

    def written(self, distinct: Distinct, tree: Tree | None) -> BlockFile:
        """Return a new file with the distinct rows and their tree.

        Raises
        ------
        SizeError
            The disk is full.
        """
        rows, none = distinct.rows, np.empty(0, dtype=np.int64)
        repeats = [none] * 4  # where no row is left out, they are known
        if distinct.of_row is not None:
            repeats = [distinct.of_row, distinct.times, distinct.start, distinct.members]
        arrays: list[NDArray[Any]] = [rows.numbers, rows.codes, *repeats]
        if tree is not None:
            arrays += [getattr(tree, name) for name in tree._fields if name != "depth"]
        path, places = self.put(arrays)
        depth = 0 if tree is None else tree.depth
        return BlockFile(path, places, len(distinct), distinct.of_row is not None, depth)


def _write(path: Path, arrays: Sequence[NDArray[Any]]) -> list[_Place]:
    places, offset = [], 0
    try:
        with path.open("wb") as file:
            for array in arrays:
                file.write(bytes(-offset % _ALIGNED))
                offset += -offset % _ALIGNED
                places.append(_Place(offset, array.shape, array.dtype))
                _put(array, file)
                offset += array.nbytes
            file.write(bytes(1))  # no file is empty
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise disk_full() from None
    return places


def _put(array: NDArray[Any], file: BinaryIO) -> None:
    file.write(np.ascontiguousarray(array).data if array.size else b"")


def _view(mapped: NDArray[np.uint8], place: _Place) -> NDArray[Any]:
    size = int(np.prod(place.shape)) * place.dtype.itemsize
    return mapped[place.offset : place.offset + size].view(place.dtype).reshape(place.shape)
