"""What the fields of the model say about themselves: how an external edition makes each number and each decision.

A field carries it as a mark of `core/records.py`; a number or a decision without one is withheld, so that a new field
is left out until it has a mark.
"""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar

import msgspec
from msgspec import inspect
from msgspec.structs import replace

__all__ = ["WITHHELD", "marks", "published"]

Struct = TypeVar("Struct", bound=msgspec.Struct)
WITHHELD = "withheld"


@cache
def marks(of: type[msgspec.Struct]) -> dict[str, str]:
    """Return the fields of a struct that hold a number or a decision, each with how it is made.

    Examples
    --------
    >>> from divulge.report.policy_model import Condition, ChangedFidelity
    >>> marks(Condition), marks(ChangedFidelity)["now"]
    ({'kept': 'decision'}, 'withheld')
    """
    return {f.name: _mark(f.type) for f in _fields(of) if _tells(f.type)}


def published(part: Struct) -> Struct:
    """Return a part of an assessment without what is withheld: a field has its default there, or null.

    Examples
    --------
    >>> from divulge.core.records import Difference
    >>> published(Difference(value=0.25, low=0.1234, high=0.3456))
    Difference(value=0.25, low=None, high=None, low_simultaneous=None, high_simultaneous=None)
    """
    made = {name: _published(getattr(part, name)) for name in part.__struct_fields__} | _withheld(type(part))
    return replace(part, **made)


def _published(value: Any) -> Any:
    if isinstance(value, msgspec.Struct):
        return published(value)
    return tuple(map(_published, value)) if isinstance(value, tuple) else value


@cache
def _withheld(of: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the withheld fields of a struct, each with what stands in its place."""
    places = {f.name: _default(f) for f in _fields(of)}
    return {name: places[name] for name, mark in marks(of).items() if mark == WITHHELD}


def _default(field: inspect.Field) -> Any:
    if field.default_factory is not msgspec.NODEFAULT:
        return field.default_factory()
    return None if field.default is msgspec.NODEFAULT else field.default


def _fields(of: type[msgspec.Struct]) -> tuple[inspect.Field, ...]:
    told = inspect.type_info(of)
    assert isinstance(told, inspect.StructType)
    return told.fields


def _mark(kind: inspect.Type) -> str:
    extra = kind.extra if isinstance(kind, inspect.Metadata) else None
    return str((extra or {}).get("outside", WITHHELD))


def _tells(kind: inspect.Type) -> bool:
    """Return whether values of a type are numbers or decisions, by themselves or in lists."""
    match kind:
        case inspect.UnionType():
            return any(map(_tells, kind.types))
        case inspect.Metadata():
            return _tells(kind.type)
        case inspect.DictType():
            return _tells(kind.value_type)
        case inspect.ListType() | inspect.VarTupleType():
            return _tells(kind.item_type)
    return isinstance(kind, inspect.IntType | inspect.FloatType | inspect.BoolType | inspect.AnyType)
