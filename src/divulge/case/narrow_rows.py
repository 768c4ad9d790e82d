"""Rows of whole numbers whose columns lie apart, each in the narrowest type, as the system keeps them of files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["NarrowRows"]

Floats = NDArray[np.float64]


class NarrowRows:
    """Whole numbers of shape (n_rows, n_columns), read as float64: some rows, or some rows of one column.

    Parameters
    ----------
    columns
        One or more, of whole numbers of any type.

    Examples
    --------
    >>> rows = NarrowRows([np.array([1, -2, 3], np.int8), np.array([400, 500, 600], np.int16)])
    >>> rows.shape, rows[[2, 0]].tolist(), rows[1:, 1].tolist()
    ((3, 2), [[3.0, 600.0], [1.0, 400.0]], [500.0, 600.0])
    """

    def __init__(self, columns: Sequence[NDArray[Any]]) -> None:
        self.columns = tuple(columns)

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and of columns."""
        return len(self), len(self.columns)

    def __len__(self) -> int:
        return len(self.columns[0])

    def __getitem__(self, at: Any) -> Floats:
        if isinstance(at, tuple):
            rows, column = at
            return np.asarray(self.columns[column][rows], dtype=np.float64)
        return np.column_stack([c[at] for c in self.columns]).astype(np.float64)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return self[:] if dtype is None else self[:].astype(dtype)

    @staticmethod
    def type_of(numbers: Floats) -> np.dtype[Any]:
        """Return the narrowest type of whole numbers that holds all of some.

        Examples
        --------
        >>> [str(NarrowRows.type_of(np.array([-2.0, 0.0, n]))) for n in (127.0, 128.0)]
        ['int8', 'int16']
        """
        least, most = int(numbers.min(initial=0.0)), int(numbers.max(initial=0.0))
        return np.min_scalar_type(min(least, -most - 1))
