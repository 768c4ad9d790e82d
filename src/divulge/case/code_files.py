"""The codes of the rows of tables that an engine holds, in files: written once, column by column, and mapped.

A code takes one, two or four bytes. What is looked at is read from the disk, and the system keeps of it in memory what
fits. The order of the rows is that in which the engine told them, and says nothing.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.case.cells import of_values
from divulge.case.encoded import EncodedTables
from divulge.core.errors import SettingError, SizeError, TableError
from divulge.core.private_folders import PrivateFolder
from divulge.tables.counting import narrowest

__all__ = ["CodeFolder", "bytes_of_codes", "check_parent", "codes_in_files", "free_on_disk"]

Codes = NDArray[Any]

_UNWRITABLE = "spill: nothing can be written into this folder. hint: name another one."


class CodeFolder:
    """A folder of its own for codes of rows; only its owner can read it, and it is removed at the end.

    Parameters
    ----------
    parent
        The folder in which it is made; None is that for temporary files.

    Raises
    ------
    SettingError
        There is no such folder, or nothing can be written there.
    """

    def __init__(self, parent: str | Path | None = None) -> None:
        self.parent = check_parent(parent)
        try:
            self._folder = PrivateFolder("divulge-codes-", self.parent)
        except OSError:
            raise SettingError(_UNWRITABLE) from None
        self.path, self.remove = self._folder.path, self._folder.remove

    @property
    def free(self) -> int:
        """Bytes that are free on its disk."""
        return free_on_disk(self.parent)


def check_parent(parent: str | Path | None) -> Path:
    """Return the folder in which private folders are made; None is that for temporary files.

    Raises
    ------
    SettingError
        There is no such folder, or nothing can be written there.
    """
    if parent is None:
        return Path(tempfile.gettempdir())
    place = Path(parent)
    if not str(parent).strip() or not place.is_dir():  # "" would be the current folder
        raise SettingError("spill: no such folder. hint: name one that exists, with room for all codes.")
    if not os.access(place, os.W_OK | os.X_OK):
        raise SettingError(_UNWRITABLE)
    return place


def free_on_disk(parent: str | Path | None) -> int:
    """Return the bytes that are free on the disk of a folder; None is that for temporary files.

    Raises
    ------
    SettingError
        There is no such folder.
    """
    return shutil.disk_usage(check_parent(parent)).free


def bytes_of_codes(encoded: EncodedTables, columns: Sequence[str]) -> int:
    """Return how many bytes the codes of all rows of some columns take.

    Examples
    --------
    >>> import polars as pl
    >>> from divulge.case.case import build_case
    >>> case = build_case(pl.DataFrame({"age": [30, 41, 30]}), pl.DataFrame({"age": [30]}))
    >>> bytes_of_codes(case.encoded, ["age"])
    4
    """
    each = sum(_dtype(encoded, c).itemsize for c in columns)
    return each * sum(t.n_rows for t in encoded.tables)


def codes_in_files(
    encoded: EncodedTables,
    columns: Sequence[str],
    folder: CodeFolder,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, tuple[Codes, ...]]:
    """Return the code of each row of each table in some columns, every value apart, in mapped files.

    Parameters
    ----------
    progress
        Called with the rows that were written and all rows.

    Raises
    ------
    SettingError
        An engine tells no rows.
    SizeError
        The disk has no room for them.
    TableError
        The rows of a table do not add up to what was counted before: it was written meanwhile.
    """
    needed = bytes_of_codes(encoded, columns)
    if needed > folder.free:
        raise _full(needed)
    total, done = sum(t.n_rows for t in encoded.tables), 0
    each: dict[str, list[Codes]] = {c: [] for c in columns}
    for which, table in enumerate(encoded.tables):
        paths = [folder.path / f"{which}-{j}.codes" for j in range(len(columns))]
        counts = [np.zeros(len(encoded.pooled(c).counts[which]), dtype=np.int64) for c in columns]
        if table.counting is None:
            raise SettingError(
                f"people: {table.role} is of an engine that tells counts and no rows. hint: write the table as Parquet."
            )
        coded = [of_values(encoded, c, which, binned=False) for c in columns]
        with ExitStack() as opened:
            files = [opened.enter_context(path.open("wb")) for path in paths]
            for part in table.counting.coded_rows([table.names[c] for c in columns], coded):
                for codes, file, count in zip(part, files, counts, strict=True):
                    count += np.bincount(codes, minlength=len(count))
                    _put(codes, file, needed)
                done += len(part[0])
                progress(done, total)
        for column, count, path in zip(columns, counts, paths, strict=True):
            if (count != encoded.pooled(column).counts[which]).any():
                raise TableError(
                    f"{table.role}: the table changed while it was read. hint: run again on a table, or a copy of it, "
                    "that nothing writes to."
                )
            each[column].append(np.memmap(path, _dtype(encoded, column), "r", shape=(table.n_rows,)))
    return {column: tuple(codes) for column, codes in each.items()}


def _put(codes: Codes, file: Any, needed: int) -> None:
    try:
        file.write(np.ascontiguousarray(codes).data)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise _full(needed) from None


def _full(needed: int) -> SizeError:
    return SizeError(
        f"spill: the codes of all rows need {needed / 1e9:.3g} GB of disk, and there are less. hint: name a folder "
        "with more room."
    )


def _dtype(encoded: EncodedTables, column: str) -> np.dtype[Any]:
    return narrowest(encoded.n_codes(column, binned=False))
