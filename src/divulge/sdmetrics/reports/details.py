"""The rows of a property: their frame, their mean, and what they say of an error."""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from divulge.core.errors import SettingError, SizeError, TableError

__all__ = ["MEETS", "Row", "as_frame", "described", "is_own", "mean_score", "measured"]

Row = dict[str, Any]
MEETS = "Meets Threshold?"
_HOME = str(Path(__file__).parents[2])


def measured(compute: Callable[[], float]) -> Row:
    """Return the score and the error of a metric: the score of a metric that fails is nan.

    Raises
    ------
    SizeError, TableError
        The memory or the table is at fault, and not the values: a table that an engine counts is written meanwhile.

    Examples
    --------
    >>> measured(lambda: 1 / 0)
    {'Score': nan, 'Error': 'ZeroDivisionError: the values of the column do not allow it'}
    """
    try:
        return {"Score": float(compute()), "Error": None}
    except (SizeError, TableError):
        raise
    except Exception as error:
        return {"Score": float("nan"), "Error": described(error)}


def described(error: Exception) -> str:
    """Return the type and the text of an error; the text of another library may quote data, and is left out."""
    if isinstance(error, KeyError) or is_own(error):
        return f"{type(error).__name__}: {error}"
    return f"{type(error).__name__}: the values of the column do not allow it"


def is_own(error: Exception) -> bool:
    """Return whether a line of divulge raised an error, whose text then quotes no data."""
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and frames[-1].filename.startswith(_HOME) and "raise " in (frames[-1].line or "")


def mean_score(rows: Iterable[Row]) -> float:
    """Return the mean of the scores that are not nan, of the rows that meet the threshold where there is one."""
    scores = [row["Score"] for row in rows if row.get(MEETS, True) and not math.isnan(row["Score"])]
    return math.fsum(scores) / len(scores) if scores else float("nan")


def as_frame(columns: Sequence[str], rows: Sequence[Row]) -> Any:
    """Return the rows as a pandas frame; the column Error is there only if a row has one.

    Raises
    ------
    SettingError
        pandas is not installed.
    """
    try:
        import pandas as pd
    except ModuleNotFoundError as error:  # pragma: no cover # the tests have pandas
        raise SettingError("A report's tables are pandas frames. hint: pip install pandas.") from error
    names = list(columns)
    if any(row.get("Error") is not None for row in rows):
        names.append("Error")
    frame = pd.DataFrame({name: [row.get(name) for row in rows] for name in names})
    if MEETS in names:
        frame[MEETS] = frame[MEETS].astype("boolean")
    if not rows and "Score" in names:
        frame["Score"] = frame["Score"].astype("float64")
    return frame
