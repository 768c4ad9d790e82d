"""The bytes of a table's file, where they fit into the memory that there is."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import IO

from divulge.core.errors import SizeError, TableError
from divulge.core.memory import in_bytes, most_read

__all__ = ["bytes_of", "bytes_of_stream", "check_fits", "check_kind"]


def bytes_of(path: Path, where: str) -> bytes:
    """Return the bytes of a file, or of a pipe up to the largest size.

    Raises
    ------
    TableError
        A device.
    SizeError
        It takes more than half of the memory that is free.
    OSError
        It cannot be read.
    """
    check_kind(path, where)
    with path.open("rb") as file:
        check_fits(path.stat().st_size, where)
        return bytes_of_stream(file, where)


def bytes_of_stream(stream: IO[bytes], where: str) -> bytes:
    """Return what a stream holds; a `SizeError` as in `bytes_of`."""
    most = most_read()
    content = stream.read() if most is None else stream.read(most + 1)
    check_fits(len(content), where)
    return content


def check_kind(path: Path, where: str) -> None:
    """Raise a `TableError` unless a path is a file or a pipe; devices may have no end."""
    mode = path.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
        raise TableError(f"{where}: a device is no table. hint: name a file.")


def check_fits(n_bytes: int, where: str) -> None:
    """Raise a `SizeError` where a file, or its table, takes more than half of the memory that is free."""
    most = most_read()
    if most is not None and n_bytes > most:
        raise SizeError(
            f"{where}: to read it takes {in_bytes(n_bytes)} or more, and half of the free memory is "
            f"{in_bytes(most)}. hint: take a smaller file, have Parquet counted where it is (--engine duckdb), or "
            "begin nevertheless (--beyond-memory)."
        )
