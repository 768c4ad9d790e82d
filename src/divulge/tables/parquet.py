"""Parquet files: how they are called, and how a frame is written as one."""

from __future__ import annotations

import errno
import os
import re
from typing import BinaryIO

import polars as pl

__all__ = ["PARQUET", "write_parquet"]

PARQUET = (".parquet", ".pq")


def write_parquet(frame: pl.DataFrame, file: BinaryIO) -> None:
    """Write a frame to an open file.

    Raises
    ------
    OSError
        The file cannot be written, such as on a full disk, where polars itself raises an error of computing.
    """
    try:
        frame.write_parquet(file)
    except pl.exceptions.ComputeError as error:
        number = re.search(r"\(os error (\d+)\)", str(error))
        found = int(number[1]) if number else errno.EIO
        raise OSError(found, os.strerror(found)) from None
