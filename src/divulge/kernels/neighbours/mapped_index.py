"""An index in files, which several processes map and search: the first one writes it, and the others build nothing.

A file holds the distinct rows and their tree; a second one, in JSON, says where each array lies and holds the ruler.
Distances, lowest row numbers and ties equal those of `Index`, to the last bit.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from divulge.kernels.neighbours._block_files import BlockFile, BlockFolder, _Place
from divulge.kernels.neighbours._compiled import CompiledIndex
from divulge.kernels.neighbours.distinct import Distinct
from divulge.kernels.neighbours.gower import Rows, Ruler
from divulge.kernels.neighbours.index import Index
from divulge.kernels.runtime import has_loops

__all__ = ["IndexFolder", "opened_index", "ruler_from", "ruler_in_numbers"]

_NAME = "index.json"
_ARRAYS = ("low", "span", "number_weight", "code_weight")


class IndexFolder:
    """A new folder for one index; only its owner can read it, and it is removed with this object.

    Parameters
    ----------
    parent
        The folder in which it is made.

    Examples
    --------
    >>> import tempfile
    >>> from divulge.kernels.neighbours.gower import Field, fit_ruler
    >>> people, asked = np.array([1.0, 5.0, 5.0, 11.0]), np.array([4.0, 8.0])
    >>> marks = np.zeros(4, np.int32), np.zeros(2, np.int32)
    >>> ruler, (reference, queries) = fit_ruler([Field("x", (people, asked), marks)], ranges_of=[0])
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     folder = IndexFolder(Path(parent))
    ...     folder.write(ruler, reference)
    ...     found = opened_index(folder.path).nearest(queries)
    >>> found.distances.ravel().tolist(), found.rows.ravel().tolist(), found.n_ties.tolist()
    ([0.1, 0.3], [1, 1], [2, 3])
    """

    def __init__(self, parent: Path) -> None:
        self._folder = BlockFolder(parent)
        self.path = self._folder.path
        self.remove = self._folder.remove

    def write(self, ruler: Ruler, reference: Rows) -> None:
        """Write the index of some rows.

        Raises
        ------
        SizeError
            The disk is full.
        """
        distinct = Distinct.of(reference)
        tree = None
        if has_loops(0):
            tree = CompiledIndex(ruler, distinct, "compiled", None, lambda done, total: None).built()
        file = self._folder.written(distinct, tree)
        told = {
            "file": file.path.name,
            "places": [[p.offset, list(p.shape), p.dtype.str] for p in file.places],
            "n_rows": file.n_rows,
            "is_distinct": file.is_distinct,
            "depth": file.depth,
            "ruler": ruler_in_numbers(ruler),
        }
        (self.path / _NAME).write_text(json.dumps(told), encoding="utf-8")


def opened_index(folder: Path | str, *, threads: int = 1) -> Index:
    """Return the index of a folder; its file is read where a search looks at it."""
    place = Path(folder)
    told = json.loads((place / _NAME).read_text(encoding="utf-8"))
    places = [_Place(offset, tuple(shape), np.dtype(dtype)) for offset, shape, dtype in told["places"]]
    file = BlockFile(place / told["file"], places, told["n_rows"], told["is_distinct"], told["depth"])
    ruler = ruler_from(told["ruler"])
    distinct, tree = file.opened()
    compiled = CompiledIndex(ruler, distinct, "compiled", threads, lambda done, total: None, tree=tree)
    return Index(ruler, distinct, threads=threads, compiled=compiled)


def ruler_in_numbers(ruler: Ruler) -> dict[str, Any]:
    """Return a ruler as lists of numbers, which any process can take."""
    numbers: dict[str, Any] = {name: getattr(ruler, name).tolist() for name in _ARRAYS}
    return numbers | {"total": ruler.total, "multiple": ruler.multiple}


def ruler_from(numbers: dict[str, Any]) -> Ruler:
    """Return the ruler of `ruler_in_numbers`, equal to the last bit."""
    low, span, number_weight, code_weight = (np.array(numbers[name], dtype=np.float64) for name in _ARRAYS)
    return Ruler(low, span, number_weight, code_weight, numbers["total"], numbers["multiple"])
