"""Give a class of metrics its calls: `compute`, `compute_breakdown` and `compute_both`, of one or two functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, TypeVar

import numpy as np

from divulge.core.calls import with_signature
from divulge.sdmetrics.base import BaseMetric
from divulge.sdmetrics.goal import Goal

__all__ = ["MODES", "Breakdown", "computed_by", "in_sound_mode", "refused"]

Breakdown = dict[str, Any]
MODES = ("compatible", "sound")
_Metric = TypeVar("_Metric", bound=type[BaseMetric])
_STRANGERS = "real_validation_data"
_BY_NAME = inspect.Parameter.KEYWORD_ONLY
_MODE = inspect.Parameter("mode", _BY_NAME, default=MODES[0], annotation='Literal["compatible", "sound"]')
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
NotImplementedError, TypeError
    The metric has no sound counterpart; then `compute_breakdown` still gives the released one.
""",
}


def computed_by(
    breakdown: Callable[..., Breakdown],
    *,
    compute: Callable[..., Any] | None = None,
    sound: str | Callable[..., Breakdown] | None = None,
    seeded: bool = False,
    min_value: float = 0.0,
    max_value: float = 1.0,
    goal: Goal = Goal.MAXIMIZE,
) -> Callable[[_Metric], _Metric]:
    """Return a decorator that gives a class its calls, bounds and goal.

    Parameters
    ----------
    breakdown
        Takes the arguments of SDMetrics' call and returns its breakdown, a dictionary with "score".
    compute
        Function of `compute`, with the same arguments by name, where it does not return the breakdown's score.
    sound
        The same question, answered beside a fresh sample: takes both tables, `real_validation_data`, and of the other
        arguments those that mean something there. A text is its module and its name, such as "sound_columns.ks_sound",
        imported when it is called. None gives the class no `mode` and no `compute_both`.
    seeded
        Whether `breakdown` and `compute` take `seed` besides, and the calls with them.
    min_value, max_value, goal
        Attributes of the class.

    Examples
    --------
    >>> from divulge.sdmetrics.base import SingleColumnMetric
    >>> @computed_by(lambda real_data, synthetic_data: {"score": 1.0, "real": 0.5})
    ... class Same(SingleColumnMetric):
    ...     name = "Same"
    >>> Same.compute([1], [1]), Same.compute_breakdown([1], [1]), Same.goal.name
    (1.0, {'score': 1.0, 'real': 0.5}, 'MAXIMIZE')
    """
    own = inspect.signature(breakdown)
    released = own.replace(parameters=[p for n, p in own.parameters.items() if not (seeded and n == "seed")])
    strangers = inspect.Parameter(_STRANGERS, _BY_NAME, default=None, annotation="Any")
    known = released if sound is None else _with(released, strangers)

    def decorate(metric: _Metric) -> _Metric:
        name = metric.__name__

        def run(call: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            seed = {"seed": _checked_seed(name, kwargs.pop("seed", 0))} if seeded else {}
            mode = MODES[0] if sound is None else kwargs.pop("mode", MODES[0])
            if in_sound_mode(name, mode, None if _STRANGERS in released.parameters else kwargs.get(_STRANGERS)):
                counterpart = _imported(sound)
                arguments = _bound(f'{name}, mode="sound"', inspect.signature(counterpart), args, kwargs)
                return counterpart(*arguments.args, **arguments.kwargs)
            if sound is not None and _STRANGERS not in released.parameters:
                kwargs.pop(_STRANGERS, None)
            arguments = _bound(f"{name}.{call}()", released, args, kwargs)
            return function(**arguments.arguments, **seed)

        def compute_breakdown(cls: type[BaseMetric], *args: Any, **kwargs: Any) -> Breakdown:
            return run("compute_breakdown", breakdown, args, kwargs)  # type: ignore[no-any-return] # a breakdown

        def compute_(cls: type[BaseMetric], *args: Any, **kwargs: Any) -> Any:
            found = run("compute", compute or breakdown, args, kwargs)
            return found["score"] if isinstance(found, Mapping) else found

        def compute_both(cls: type[BaseMetric], *args: Any, **kwargs: Any) -> dict[str, Breakdown]:
            seed = {"seed": kwargs.pop("seed")} if seeded and "seed" in kwargs else {}
            given = dict(_bound(f"{name}.compute_both()", known, args, kwargs).arguments)
            takes = inspect.signature(_imported(sound)).parameters
            anything = any(p.kind is p.VAR_KEYWORD for p in takes.values())
            some = {n: v for n, v in given.items() if anything or n in takes}
            sound_one = run("compute_both", breakdown, (), {**some, **seed, "mode": MODES[1]})
            alone = {n: v for n, v in given.items() if n in released.parameters}
            return {"compatible": run("compute_both", breakdown, (), alone | seed), "sound": sound_one}

        calls = [(compute_, "compute", float), (compute_breakdown, "compute_breakdown", dict)]
        for function, call, returns in [*calls, *([] if sound is None else [(compute_both, "compute_both", dict)])]:
            more = [_MODE] if sound is not None and call != "compute_both" else []
            if seeded:
                more.append(inspect.Parameter("seed", _BY_NAME, default=0, annotation="int"))
            shown = _with(known, *more)
            cls = inspect.Parameter("cls", inspect.Parameter.POSITIONAL_ONLY)
            shown = shown.replace(parameters=[cls, *shown.parameters.values()], return_annotation=returns)
            function.__name__, function.__qualname__, function.__doc__ = call, f"{name}.{call}", _DOCS[call]
            setattr(metric, call, classmethod(with_signature(function, shown)))
        metric.min_value, metric.max_value, metric.goal = min_value, max_value, goal
        return metric

    return decorate


def in_sound_mode(metric: str, mode: Any, strangers: Any) -> bool:
    """Return whether a call asks for the sound mode, and refuse other modes and holdouts that would not be used."""
    if not isinstance(mode, str) or mode not in MODES:
        raise ValueError(f"{metric}: unknown mode. hint: one of {', '.join(MODES)}.")
    if mode == MODES[0] and strangers is not None:
        raise TypeError(f'{metric}: `{_STRANGERS}` is used in mode="sound" only.')
    return bool(mode == MODES[1])


def refused(metric: str, why: str, error: type[Exception] = TypeError) -> Callable[..., Breakdown]:
    """Return what stands for the sound counterpart of a metric that has none: it says why."""

    def sound(*args: Any, **arguments: Any) -> Breakdown:
        raise error(f"{metric} has no sound counterpart: {why}")

    sound.why = why  # type: ignore[attr-defined] # functions take attributes
    return sound


def _imported(sound: str | Callable[..., Breakdown] | None) -> Callable[..., Breakdown]:
    """Return a sound counterpart that is given by its module and its name."""
    assert sound is not None
    if not isinstance(sound, str):
        return sound
    module, _, name = sound.partition(".")
    return getattr(import_module(f"divulge.sdmetrics.{module}"), name)  # type: ignore[no-any-return] # a function


def _with(signature: inspect.Signature, *more: inspect.Parameter) -> inspect.Signature:
    """Return the signature with further keyword parameters, except those it already has."""
    new = [p for p in more if p.name not in signature.parameters]
    return signature.replace(parameters=[*signature.parameters.values(), *new])


def _bound(
    call: str, signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> inspect.BoundArguments:
    """Return the arguments by name; an error names the call and not the adapter."""
    try:
        return signature.bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"{call}: {error}") from None


def _checked_seed(metric: str, seed: Any) -> int:
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or not 0 <= seed < 2**32:
        raise ValueError(f"{metric}: `seed` must be a whole number from 0 to 2**32 - 1.")
    return int(seed)
