"""What runs in the workers of Spark: nearest rows of batches, by an index in a folder or by a block of the reference.

Imported here are numpy and the search alone, so that a worker starts quickly; pyarrow is there where Spark calls this.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from divulge.core import __version__
from divulge.kernels.neighbours.gower import Rows
from divulge.kernels.neighbours.index import Index
from divulge.kernels.neighbours.mapped_index import opened_index, ruler_from
from divulge.kernels.neighbours.nearest import Nearest

__all__ = ["CODE", "NUMBER", "RAISED", "VERSION", "answers_by_folder", "answers_of_pair", "in_columns"]

VERSION = __version__
NUMBER, CODE = "number", "code"
"""What the names of columns begin with."""
RAISED = "divulge-worker:"
"""What the errors that are raised here begin with; a word follows that says which."""


def in_columns(rows: Rows) -> dict[str, Any]:
    """Return the columns of rows, under the names by which a worker finds them."""
    numbers = {f"{NUMBER}{j}": rows.numbers[:, j] for j in range(rows.numbers.shape[1])}
    return numbers | {f"{CODE}{j}": rows.codes[:, j] for j in range(rows.codes.shape[1])}


def answers_by_folder(batches: Iterable[Any], folder: str, k: int) -> Iterator[Any]:
    """Yield the k nearest rows of each query of some batches, by the index in a folder."""
    index = opened_index(folder)
    for batch in batches:
        if batch.num_rows:
            yield _told(batch.column("id"), index.nearest(_rows(batch), k))


def answers_of_pair(queries: Any, reference: Any, ruler: dict[str, Any], k: int) -> Any:
    """Return the k nearest rows of each query of a table in one block of the reference; "row" numbers its rows."""
    import pyarrow

    if not reference.num_rows:
        raise RuntimeError(f"{RAISED} empty")
    near = Index(ruler_from(ruler), _rows(reference), threads=1).nearest(_rows(queries), k)
    number = np.append(reference.column("row").to_numpy(), -1)
    told = _told(queries.column("id").combine_chunks(), Nearest(near.distances, number[near.rows], near.n_ties))
    return pyarrow.Table.from_batches([told])


def _rows(part: Any) -> Rows:
    """Return the rows of a batch or table."""

    def stacked(name: str, dtype: Any) -> Any:
        n = sum(column.startswith(name) for column in part.schema.names)
        out = np.empty((part.num_rows, n), dtype=dtype)
        for j in range(n):
            column = part.column(f"{name}{j}")
            if column.null_count:  # a value that the table did not have when it was counted
                raise RuntimeError(f"{RAISED} changed")
            out[:, j] = np.asarray(column)
        return out

    return Rows(stacked(NUMBER, np.float64), stacked(CODE, np.int32))


def _told(ids: Any, near: Nearest) -> Any:
    """Return the answer as a batch: for each query its id, k distances and rows, and the ties of the last."""
    import pyarrow

    n, k = near.distances.shape
    ends = pyarrow.array(np.arange(n + 1, dtype=np.int32) * np.int32(k))
    listed = [pyarrow.ListArray.from_arrays(ends, pyarrow.array(v.ravel())) for v in (near.distances, near.rows)]
    columns = [ids, *listed, pyarrow.array(near.n_ties)]
    return pyarrow.RecordBatch.from_arrays(columns, names=["id", "distances", "rows", "n_ties"])
