"""SDV's functions on values that real and synthetic data share, as SDV 2.0 has them, and beside strangers.

``from sdv.evaluation.utils import get_pii_overlap`` becomes ``from divulge.sdmetrics.sdv import get_pii_overlap``. A
number of shared values says little: of few possible values most are shared by chance. `mode="sound"` compares the
people of the real table with people whom the synthesizer never saw.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from divulge.attacks.copying.copies import copies
from divulge.case.case import build_case
from divulge.core.schema import Column as SchemaColumn
from divulge.core.schema import Schema
from divulge.sdmetrics.columns import Column, frame_of
from divulge.sdmetrics.computed import in_sound_mode
from divulge.sdmetrics.sound import LEVEL, _risk_of, _score

__all__ = ["get_combination_overlap", "get_pii_overlap"]

Breakdown = dict[str, Any]
_MISSING = "__sdv_missing_value__"
_NUMBERS = "biuf"


def get_pii_overlap(
    real_data: Mapping[str, Any],
    synthetic_data: Mapping[str, Any],
    table_name: str,
    pii_column_name: str,
    verbose: bool = True,
    *,
    mode: Literal["compatible", "sound"] = "compatible",
    real_validation_data: Mapping[str, Any] | None = None,
) -> int | Breakdown:
    """Return how many different values of a column the real and the synthetic table share.

    Parameters
    ----------
    real_data, synthetic_data
        Tables by name.
    table_name, pii_column_name
        The table and the column.
    verbose
        Whether to print what the number means, in SDV's words.
    mode
        "compatible" gives SDV's number. "sound" gives a breakdown: the share of people whose value stands in the
        synthetic table, beside that of strangers; nothing is printed.
    real_validation_data
        Tables of people whom the synthesizer never saw; needed in the sound mode, and refused in the other.

    Raises
    ------
    TypeError
        A name is no text.
    ValueError
        A table or the column is missing.

    Examples
    --------
    >>> import pandas as pd
    >>> real, synthetic = ({"people": pd.DataFrame({"mail": mails})} for mails in (["a@x", "b@x"], ["b@x", "c@x"]))
    >>> get_pii_overlap(real, synthetic, "people", "mail", verbose=False)
    1
    """
    if not isinstance(pii_column_name, str):
        raise TypeError(f"'pii_column_name' must be a string, got {type(pii_column_name).__name__}.")
    tables = (real_data, synthetic_data)
    return _overlap("get_pii_overlap", tables, table_name, [pii_column_name], verbose, mode, real_validation_data)


def get_combination_overlap(
    real_data: Mapping[str, Any],
    synthetic_data: Mapping[str, Any],
    table_name: str,
    column_names: list[str],
    verbose: bool = True,
    *,
    mode: Literal["compatible", "sound"] = "compatible",
    real_validation_data: Mapping[str, Any] | None = None,
) -> int | Breakdown:
    """Return how many different combinations of some columns the real and the synthetic table share.

    Parameters
    ----------
    real_data, synthetic_data, table_name, verbose, mode, real_validation_data
        See `get_pii_overlap`.
    column_names
        The columns.

    Raises
    ------
    TypeError, ValueError
        See `get_pii_overlap`.

    Examples
    --------
    >>> import pandas as pd
    >>> real = {"people": pd.DataFrame({"age": [30, 40], "job": ["cook", None]})}
    >>> synthetic = {"people": pd.DataFrame({"age": [40.0, 30.0], "job": [None, "nurse"]})}
    >>> get_combination_overlap(real, synthetic, "people", ["age", "job"], verbose=False)
    1
    """
    tables = (real_data, synthetic_data)
    return _overlap("get_combination_overlap", tables, table_name, column_names, verbose, mode, real_validation_data)


def _overlap(
    name: str,
    tables: tuple[Mapping[str, Any], Mapping[str, Any]],
    table_name: str,
    columns: list[str],
    verbose: bool,
    mode: str,
    strangers: Mapping[str, Any] | None,
) -> int | Breakdown:
    sound = in_sound_mode(name, mode, strangers)
    roles = {"real_data": tables[0], "synthetic_data": tables[1]}
    if sound:
        if strangers is None:
            raise ValueError(f'{name}: mode="sound" needs `real_validation_data`, people whom nobody was trained on.')
        roles["real_validation_data"] = strangers
    _check(roles, table_name, columns)
    if sound:
        return _beside_strangers([data[table_name] for data in roles.values()], columns)
    common, percent = _common([data[table_name] for data in roles.values()], columns)
    if verbose:
        _say(common, percent, _PII if name == "get_pii_overlap" else _COMBINATIONS)
    return common


def _check(roles: Mapping[str, Mapping[str, Any]], table_name: Any, columns: Any) -> None:
    """Raise SDV's errors."""
    if not isinstance(table_name, str):
        raise TypeError(f"'table_name' must be a string, got {type(table_name).__name__}.")
    if not isinstance(columns, list) or not all(isinstance(column, str) for column in columns):
        raise TypeError("'column_names' must be a list of strings.")
    if not columns:
        raise ValueError("'column_names' must contain at least one column name.")
    for role, data in roles.items():
        if table_name not in data:
            raise ValueError(f"Table '{table_name}' is not present in '{role}'.")
        names = frame_of(data[table_name], role).names
        if missing := [column for column in columns if column not in names]:
            shown = "', '".join(missing)
            raise ValueError(f"The columns '{shown}' are not present in table '{table_name}' of '{role}'.")


def _common(tables: list[Any], columns: list[str]) -> tuple[int, float]:
    """Return how many combinations both tables have, and their percentage of all."""
    real, synthetic = (frame_of(table, role) for table, role in zip(tables, ("real", "synthetic"), strict=True))
    pairs = [_alike(real[column], synthetic[column]) for column in columns]
    one, other = (set(zip(*(pair[i] for pair in pairs), strict=True)) for i in range(2))
    common, total = len(one & other), len(one | other)
    return common, round(common / total * 100, 2) if total else 0.0


def _alike(one: Column, other: Column) -> tuple[list[Any], list[Any]]:
    """Return the values of two columns as SDV compares them."""
    if one.kind == other.kind and one.dtype == other.dtype:
        return _plain(one.as_objects(), one.missing), _plain(other.as_objects(), other.missing)
    if one.kind in _NUMBERS and other.kind in _NUMBERS:
        return _as_floats(one), _as_floats(other)
    if "M" in (one.kind, other.kind):
        return _as_moments(one), _as_moments(other)
    return _as_texts(one), _as_texts(other)


def _plain(values: Any, missing: Any) -> list[Any]:
    return [_MISSING if lost else value for value, lost in zip(values, missing, strict=True)]


def _as_floats(column: Column) -> list[Any]:
    values = [np.nan if lost else float(v) for v, lost in zip(column.values, column.missing, strict=True)]
    return _plain(values, column.missing)


def _as_moments(column: Column) -> list[Any]:
    import pandas as pd

    moments = pd.to_datetime(pd.Series(column.as_objects()), errors="coerce")
    return _plain(moments, moments.isna())


def _as_texts(column: Column) -> list[Any]:
    return [str(value) for value in column.as_objects()]


# ---------------------------------------------------------------- in words


_PII = (
    "data points",
    "any PII values from the real data",
    "a few PII values from the real data",
    "a significant number of the same PII values of as the real data",
    "PII values",
)
_COMBINATIONS = (
    "combinations",
    "any of the same combinations from the real data",
    "a few of the same combinations as the real data",
    "a significant number of the same combinations as the real data",
    "combinations",
)


def _say(common: int, percent: float, words: tuple[str, str, str, str, str]) -> None:
    what, none, few, many, values = words
    told = f"❌ The synthetic data contains {many}. This might be due to a small number of possible {values}, a large "
    told += "sample of synthetic data, or a misconfiguration in your synthesizer."
    if common == 0:
        told = f"✅ The synthetic data does not contain {none}"
    elif percent <= 2:
        told = f"⚠️ The synthetic data contains {few}. This might be due to random chance."
    sys.stdout.write(f"Number of common {what}: {common} ({percent}%)\n{told}\n")


# ---------------------------------------------------------------- sound


def _beside_strangers(tables: list[Any], columns: list[str]) -> Breakdown:
    """Return the share of people whose values stand in the synthetic table, beside that of strangers."""
    schema = Schema(tuple(SchemaColumn(column, "categorical") for column in columns))
    case = build_case(*tables, schema=schema, level=LEVEL)
    (found,) = copies.run(case, columns=columns, variants=["exact"])
    assert found.real is not None and found.holdout is not None
    return _score(
        _risk_of(found),
        n=found.real.n,
        n_validation=found.holdout.n,
        overlap=found.real.rate,
        baseline_overlap=found.holdout.rate,
        baseline="the people of real_validation_data",
        p_value=found.p_value,
        verdict=found.verdict,
        notes=list(found.notes),
    )
