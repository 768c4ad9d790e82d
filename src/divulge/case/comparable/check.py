"""One precondition, and what all checks of people share: a hash of the data, and the columns of a record."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence

import numpy as np

from divulge.case.case import Case

__all__ = ["NOT_IN_MEMORY", "data_hash", "numbers", "record_columns"]


NOT_IN_MEMORY = "not tested: not all rows are in memory"
"""Why a check is not tested that looks at rows."""


def numbers(found: Mapping[str, float]) -> dict[str, int | float]:
    """Return numbers of a check without the digits that the order of rows may change.

    Examples
    --------
    >>> numbers({"p": 0.1 + 0.2, "rows": 3})
    {'p': 0.3, 'rows': 3}
    """
    return {name: value if isinstance(value, int) else float(f"{value:.9g}") for name, value in found.items()}


def data_hash(case: Case, columns: Sequence[str] | None = None) -> int:
    """Return a hash of the counts in real and holdout; row order, column order and names of values do not change it.

    `columns` are those that enter; None is all.

    It goes into the seed: with the same seed for all data sets, an unlucky split of ranks would recur in all of them.
    """
    names = tuple(sorted(case.columns if columns is None else columns))
    return case.encoded.once(("data hash", names), lambda: _hashed(case, names), case.encoded.people)


def _hashed(case: Case, columns: Sequence[str]) -> int:
    digest = 0
    for name in columns:
        counts = case.pooled(name).counts
        # counts among people: values of the synthetic table alone, and columns of one value, do not enter
        held = [np.sort(c[c > 0]).astype(np.int64) for c in (counts[0], *counts[2:])]
        if max(map(len, held)) > 1:
            digest += zlib.crc32(np.concatenate([np.append(h, 0) for h in held]).tobytes())
    return digest


def record_columns(case: Case) -> list[str]:
    """Return the columns that make up a record: without identifiers, the unit and ignored columns; all if none is left.

    Two records of one person agree in these, while a row number or a key can differ between two files.
    """
    return list(case.whole_record or case.columns)
