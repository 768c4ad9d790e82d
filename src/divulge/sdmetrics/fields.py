"""The key and sensitive fields of a call, and the check of their types."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from typing import Any

from divulge.sdmetrics.columns import Frame, frame_of
from divulge.sdmetrics.metadata import checked_pair, no_sdtype, table_metadata

__all__ = ["CATEGORICAL", "NUMERICAL", "attack_tables", "check_allowed", "check_names", "settings_of"]

CATEGORICAL: tuple[dict[str, str], ...] = ({"sdtype": "numerical"}, {"sdtype": "categorical"}, {"sdtype": "boolean"})
"""Entries that the categorical metrics take; numbers are among them."""
NUMERICAL: tuple[dict[str, str], ...] = ({"sdtype": "numerical"},)
"""Entries that the numerical metrics take."""


def attack_tables(
    real_data: Any,
    synthetic_data: Any,
    metadata: Any,
    table_name: str | None,
    key_fields: Any,
    sensitive_fields: Any,
    allowed: Collection[dict[str, str]] | None,
) -> tuple[Frame, Frame, list[Hashable], list[Hashable]]:
    """Return both tables and the names of the columns, after the checks of SDMetrics in their order.

    Parameters
    ----------
    real_data, synthetic_data
        Frames of any kind.
    metadata, table_name
        As SDMetrics takes them. "key_fields" and "sensitive_fields" in the metadata of the table go before the
        arguments.
    key_fields, sensitive_fields
        Lists or tuples of names, or None.
    allowed
        The whole metadata entry of each field must equal one of these; None allows any.

    Returns
    -------
    real, synthetic, keys, sensitive
        The tables as given: datetimes that are text stay text.

    Raises
    ------
    TypeError
        Fields are missing or no list, or a column has an entry that is not allowed.
    ValueError
        Fields are empty, or the tables do not fit each other or the metadata.
    KeyError
        A field is no column.
    """
    chosen = table_metadata(metadata, table_name)
    real, synthetic = frame_of(real_data, "real_data"), frame_of(synthetic_data, "synthetic_data")
    entries = checked_pair(real, synthetic, chosen)[2]
    keys = _given(chosen, "key_fields", key_fields)
    sensitive = _given(chosen, "sensitive_fields", sensitive_fields)
    if len(keys) == 0 or len(sensitive) == 0:
        raise ValueError("`key_fields` or `sensitive_fields` is empty")
    for name in [*keys, *sensitive]:
        if name not in entries:
            raise KeyError(f"`key_fields` or `sensitive_fields` names {name!r}, which is no column of the tables.")
        if allowed is not None:
            check_allowed(real, name, entries[name], allowed)
    return real, synthetic, keys, sensitive


def _given(metadata: dict[str, Any] | None, role: str, argument: Any) -> list[Hashable]:
    fields = metadata[role] if metadata is not None and role in metadata else argument
    if fields is None:
        raise TypeError(f"`{role}` must be passed either directly or inside `metadata`")
    if not isinstance(fields, (list, tuple)):
        raise TypeError(f"`{role}` is of type {type(fields).__name__}; it must be a list of names of columns.")
    check_names(role, fields)
    return list(fields)


def check_names(argument: str, names: Collection[Any]) -> None:
    """Raise a `TypeError` where a name is a list or another value that cannot name a column."""
    for name in names:
        try:
            hash(name)
        except TypeError:
            raise TypeError(
                f"`{argument}` holds a value of type {type(name).__name__}; it must be a list of names of columns."
            ) from None


def check_allowed(frame: Frame, name: Hashable, entry: Any, allowed: Collection[dict[str, str]]) -> None:
    """Raise SDMetrics' `TypeError` where a metric does not accept the entry of a column; a note says what to do.

    The text is that of SDMetrics and nothing else: programs may compare it.
    """
    if entry in allowed:
        return
    error = TypeError(f"Column {name} has invalid data type {entry}")
    if entry is None:
        error.add_note(
            f"Column {name!r} holds {no_sdtype(frame[name])}, for which SDMetrics has no sdtype. hint: pass metadata "
            "where the metric takes it, or convert the column, such as by .astype('int64')."
        )
    raise error


def settings_of(argument: str, settings: Any) -> dict[str, Any]:
    """Return the keyword arguments to pass on; none for None.

    Raises
    ------
    TypeError
        `settings` is not a dictionary.
    """
    if settings is None:
        return {}
    if not isinstance(settings, Mapping):
        raise TypeError(f"`{argument}` is of type {type(settings).__name__}; it must be a dictionary.")
    return dict(settings)
