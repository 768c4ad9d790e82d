"""The parameters of a constraint as a file and a page show them: names of tables and columns, and no value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["parameters_text", "without_values"]

_VALUES = ("conditional_values", "relationships", "type_value_to_table")
"""Parameters that hold values of the tables."""


def without_values(parameters: Any) -> Any:
    """Return parameters in which a list of values is its number; None for what is no dictionary.

    Examples
    --------
    >>> without_values({"conditional_column_name": "kind", "conditional_values": ["a", "b"]})
    {'conditional_column_name': 'kind', 'conditional_values': '2 values'}
    """
    if not isinstance(parameters, Mapping):
        return None
    return {str(k): _counted(v) if k in _VALUES else _named(v) for k, v in parameters.items()}


def _counted(value: Any) -> Any:
    if not isinstance(value, (list, tuple, dict)):
        return _named(value)
    return f"{len(value)} value" + ("" if len(value) == 1 else "s")


def _named(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(k): _named(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_named(v) for v in value]
    return value if value is None or isinstance(value, (str, bool, int, float)) else getattr(value, "__name__", None)


def parameters_text(parameters: Any) -> str:
    """Return parameters in one line.

    Examples
    --------
    >>> parameters_text({"column_names": ["a", "b"], "table_name": "t"})
    "column_names: 'a', 'b'; table_name: 't'"
    """
    return "; ".join(f"{name}: {_text(value)}" for name, value in (without_values(parameters) or {}).items())


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    return (
        "(" + ", ".join(f"{k}: {_text(v)}" for k, v in value.items()) + ")" if isinstance(value, dict) else repr(value)
    )
