"""Classes of metrics of one table made from rows: calls, modes, seed, signature and docstring.

`metric_classes` makes the classes. Arguments of a call are bound by the signature of the row's adapter, so parameters
are named in one place only.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from divulge.sdmetrics.base import SingleTableMetric
from divulge.sdmetrics.goal import Goal

__all__ = ["Row", "metric_classes"]

Breakdown = dict[str, Any]
MODES = ("compatible", "sound")


@dataclass(frozen=True, slots=True)
class Row:
    """One metric."""

    name: str
    """Name of the class."""
    title: str | None
    """Its attribute `name`."""
    breakdown: Callable[..., Breakdown]
    """The adapter: takes the arguments of SDMetrics' `compute_breakdown` and `seed`, and returns the same breakdown."""
    native: str
    """The function of divulge that answers the question, as a call to write down."""
    sound: Callable[..., Breakdown] | None
    """The sound counterpart: takes the same arguments by name, without `seed`, and `real_validation_data`; or None."""
    doc: str
    """First paragraphs of the docstring."""
    sound_doc: str = ""
    """What `mode="sound"` changes, and why."""
    compute: Callable[..., Any] | None = None
    """The function of `compute`, with the same arguments by name, where it does not return the breakdown's score."""
    base: type[SingleTableMetric] | str = SingleTableMetric
    """Class above it, or the name of an earlier row."""
    min_value: float = 0
    max_value: float = 1
    goal: Goal = Goal.MAXIMIZE
    wing: str = "privacy"
    """The part of SDMetrics that it belongs to."""


def metric_classes(rows: Sequence[Row], module: str) -> dict[str, type[SingleTableMetric]]:
    """Return the classes of the rows by name."""
    made: dict[str, type[SingleTableMetric]] = {}
    for row in rows:
        made[row.name] = _metric_class(row, made[row.base] if isinstance(row.base, str) else row.base, module)
    return made


def _metric_class(row: Row, base: type[SingleTableMetric], module: str) -> type[SingleTableMetric]:
    compatible, compute, sound = row.breakdown, row.compute or row.breakdown, row.sound
    released = _released(row)
    with_strangers = _with(released, inspect.Parameter(_STRANGERS, _BY_NAME, default=None, annotation="Any"))

    def run(call: str, function: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
        mode, seed = kwargs.pop("mode", MODES[0]), _seed(row, kwargs.pop("seed", 0))
        if not isinstance(mode, str) or mode not in MODES:
            raise ValueError(f"{row.name}: unknown mode. hint: one of {', '.join(MODES)}.")
        if mode == "sound":
            if sound is None:
                raise NotImplementedError(
                    f"{row.name} has no sound counterpart. hint: {row.native} compares members with strangers, with "
                    "an interval."
                )
            return sound(**_bound(row, call, with_strangers, args, kwargs))
        if _STRANGERS not in released.parameters and kwargs.pop(_STRANGERS, None) is not None:
            raise TypeError(f'{row.name}.{call}: `{_STRANGERS}` is used in mode="sound" only.')
        return function(**_bound(row, call, released, args, kwargs), seed=seed)

    def compute_breakdown(cls: type[SingleTableMetric], *args: Any, **kwargs: Any) -> Breakdown:
        return run("compute_breakdown", compatible, args, kwargs)  # type: ignore[no-any-return] # an adapter gives it

    def compute_(cls: type[SingleTableMetric], *args: Any, **kwargs: Any) -> Any:
        found = run("compute", compute, args, kwargs)
        return found["score"] if isinstance(found, Mapping) else found

    def compute_both(cls: type[SingleTableMetric], *args: Any, **kwargs: Any) -> dict[str, Breakdown]:
        sound_one = run("compute_both", compatible, args, {**kwargs, "mode": "sound"})
        known = {k: v for k, v in kwargs.items() if k != _STRANGERS or k in released.parameters}
        return {"compatible": run("compute_both", compatible, args, known), "sound": sound_one}

    members: dict[str, Any] = {
        "__module__": module,
        "__doc__": _doc(row),
        "name": row.title,
        "goal": row.goal,
        "min_value": row.min_value,
        "max_value": row.max_value,
    }
    calls: dict[str, tuple[Any, type]] = {
        "compute": (compute_, float),
        "compute_breakdown": (compute_breakdown, dict),
        "compute_both": (compute_both, dict),
    }
    for name, (function, returns) in calls.items():
        function.__name__, function.__qualname__ = name, f"{row.name}.{name}"
        function.__signature__ = _signature(
            with_strangers if sound else released, returns, modes=name != "compute_both"
        )
        function.__doc__ = _DOCS[name]
        members[name] = classmethod(function)
    return type(row.name, (base,), members)


_STRANGERS = "real_validation_data"
_DOCS = {
    "compute": """Return the score.

See the class for the parameters.

Returns
-------
float
    The score.
""",
    "compute_breakdown": """Return the score and what it is made of.

See the class for the parameters.

Returns
-------
dict
    "score" and what it is made of.
""",
    "compute_both": """Return the breakdown as released and the sound one beside it.

See the class for the parameters.

Returns
-------
dict
    "compatible" and "sound": the breakdown of each mode.

Raises
------
NotImplementedError
    The metric has no sound counterpart; then `compute_breakdown` still gives the released one.
""",
}


_BY_NAME = inspect.Parameter.KEYWORD_ONLY


def _released(row: Row) -> inspect.Signature:
    """Return the signature of SDMetrics' call, which is that of the adapter without `seed`."""
    signature = inspect.signature(row.breakdown)
    return signature.replace(parameters=[p for n, p in signature.parameters.items() if n != "seed"])


def _with(signature: inspect.Signature, *more: inspect.Parameter) -> inspect.Signature:
    """Return the signature with further keyword parameters, except those it already has."""
    new = [p for p in more if p.name not in signature.parameters]
    return signature.replace(parameters=[*signature.parameters.values(), *new])


def _bound(row: Row, call: str, signature: inspect.Signature, args: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments by name; an error names the call and not the adapter."""
    try:
        return signature.bind(*args, **kwargs).arguments
    except TypeError as error:
        raise TypeError(f"{row.name}.{call}(): {error}") from None


def _seed(row: Row, seed: Any) -> int:
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or not 0 <= seed < 2**32:
        raise ValueError(f"{row.name}: `seed` must be a whole number from 0 to 2**32 - 1.")
    return int(seed)


def _signature(call: inspect.Signature, returns: type, *, modes: bool) -> inspect.Signature:
    """Return the signature that the class shows: the arguments of the adapter, mode and seed."""
    parameter = inspect.Parameter
    seed = parameter("seed", _BY_NAME, default=0, annotation="int")
    mode = parameter("mode", _BY_NAME, default=MODES[0], annotation='Literal["compatible", "sound"]')
    full = _with(call, *([mode] if modes else []), seed)
    cls = parameter("cls", parameter.POSITIONAL_ONLY)
    return full.replace(parameters=[cls, *full.parameters.values()], return_annotation=returns)


def _doc(row: Row) -> str:
    sound = row.sound_doc or (
        f"There is no sound counterpart, and this mode raises an error. Use\n``{row.native}``,\nwhich compares "
        "members with strangers, with an interval."
    )
    return f"""{row.doc.strip()}

Notes
-----
**mode="sound"**

{sound.strip()}

See Also
--------
{row.native}
"""
