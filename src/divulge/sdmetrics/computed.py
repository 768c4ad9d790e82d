"""Give a class of metrics its calls: `compute`, `compute_breakdown` and `compute_both`, of one or two functions."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from divulge.sdmetrics.base import BaseMetric
from divulge.sdmetrics.goal import Goal

__all__ = ["computed_by", "in_sound_mode", "refused"]

_Metric = TypeVar("_Metric", bound=type[BaseMetric])
_DOCS = {
    "compute": "Return the score; see the class for the parameters.",
    "compute_breakdown": 'Return a dictionary with "score" and what it is made of; see the class for the parameters.',
}


def computed_by(
    breakdown: Callable[..., dict[str, Any]],
    *,
    sound: Callable[..., dict[str, Any]] | None = None,
    min_value: float = 0.0,
    max_value: float = 1.0,
    goal: Goal = Goal.MAXIMIZE,
) -> Callable[[_Metric], _Metric]:
    """Return a decorator that gives a class its calls, bounds and goal.

    Parameters
    ----------
    breakdown
        Takes the arguments of SDMetrics' call and returns its breakdown, a dictionary with "score".
    sound
        The same question, answered beside a fresh sample: takes both tables, `real_validation_data`, and of the other
        arguments those that mean something there. None gives the class no `mode` and no `compute_both`.
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
    signature = inspect.signature(breakdown)

    def decorate(metric: _Metric) -> _Metric:
        calls = {"compute": (lambda found: found["score"]), "compute_breakdown": (lambda found: found)}
        for call, result in calls.items():
            released = _call(metric.__name__, call, breakdown, signature, result)
            made = released if sound is None else _with_mode(metric.__name__, released, sound, result)
            setattr(metric, call, classmethod(made))
        if sound is not None:
            metric.compute_both = classmethod(_both(metric.__name__, breakdown, sound))  # type: ignore[attr-defined] # classes take attributes
        metric.min_value, metric.max_value, metric.goal = min_value, max_value, goal
        return metric

    return decorate


def _call(
    metric: str,
    call: str,
    breakdown: Callable[..., dict[str, Any]],
    signature: inspect.Signature,
    result: Callable[[dict[str, Any]], Any],
) -> Callable[..., Any]:
    def function(cls: type[BaseMetric], *args: Any, **kwargs: Any) -> Any:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{metric}.{call}(): {error}") from None
        return result(breakdown(*bound.args, **bound.kwargs))

    first = inspect.Parameter("cls", inspect.Parameter.POSITIONAL_ONLY)
    function.__signature__ = signature.replace(parameters=[first, *signature.parameters.values()])  # type: ignore[attr-defined] # inspect reads it
    function.__name__, function.__qualname__, function.__doc__ = call, f"{metric}.{call}", _DOCS[call]
    return function


MODES = ("compatible", "sound")
_STRANGERS = "real_validation_data"


def in_sound_mode(metric: str, mode: Any, strangers: Any) -> bool:
    """Return whether a call asks for the sound mode, and refuse other modes and holdouts that would not be used."""
    if mode not in MODES:
        raise ValueError(f"{metric}: unknown mode. hint: one of {', '.join(MODES)}.")
    if mode == MODES[0] and strangers is not None:
        raise TypeError(f'{metric}: `{_STRANGERS}` is used in mode="sound" only.')
    return bool(mode == MODES[1])


def refused(metric: str, why: str) -> Callable[..., dict[str, Any]]:
    """Return what stands for the sound counterpart of a metric that has none: it says why."""

    def sound(*args: Any, **kwargs: Any) -> dict[str, Any]:
        raise TypeError(f"{metric} has no sound counterpart: {why}")

    sound.why = why  # type: ignore[attr-defined] # functions take attributes
    return sound


def _with_mode(
    metric: str,
    released: Callable[..., Any],
    sound: Callable[..., dict[str, Any]],
    result: Callable[[dict[str, Any]], Any],
) -> Callable[..., Any]:
    """Return a call that takes `mode` and, where it is "sound", `real_validation_data`."""

    @functools.wraps(released)
    def function(cls: type[BaseMetric], *args: Any, mode: str = MODES[0], **kwargs: Any) -> Any:
        if own_strangers:
            asked = in_sound_mode(metric, mode, None)
        else:
            asked = in_sound_mode(metric, mode, kwargs.get(_STRANGERS))
            if not asked:
                kwargs.pop(_STRANGERS, None)
        return result(_sound(metric, sound, args, kwargs)) if asked else released(cls, *args, **kwargs)

    signature = inspect.signature(released)
    own_strangers = _STRANGERS in signature.parameters
    extra = [
        inspect.Parameter("mode", inspect.Parameter.KEYWORD_ONLY, default=MODES[0]),
        *([] if own_strangers else [inspect.Parameter(_STRANGERS, inspect.Parameter.KEYWORD_ONLY, default=None)]),
    ]
    function.__signature__ = signature.replace(parameters=[*signature.parameters.values(), *extra])  # type: ignore[attr-defined] # inspect reads it
    return function


def _sound(
    metric: str, sound: Callable[..., dict[str, Any]], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    try:
        bound = inspect.signature(sound).bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f'{metric}, mode="sound": {error}') from None
    return sound(*bound.args, **bound.kwargs)


def _both(
    metric: str, breakdown: Callable[..., dict[str, Any]], sound: Callable[..., dict[str, Any]]
) -> Callable[..., dict[str, Any]]:
    def compute_both(cls: type[BaseMetric], *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Return both breakdowns, as released and sound."""
        own = {name: value for name, value in kwargs.items() if name != _STRANGERS}
        known = inspect.signature(sound).parameters
        both = {name: value for name, value in kwargs.items() if name in known}
        return {"compatible": breakdown(*args, **own), "sound": _sound(metric, sound, args[:2], both)}

    return compute_both
