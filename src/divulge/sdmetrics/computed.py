"""Give a class of metrics its calls: `compute` and `compute_breakdown` with the arguments of one function."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from divulge.sdmetrics.base import BaseMetric
from divulge.sdmetrics.goal import Goal

__all__ = ["computed_by"]

_Metric = TypeVar("_Metric", bound=type[BaseMetric])
_DOCS = {
    "compute": "Return the score; see the class for the parameters.",
    "compute_breakdown": 'Return a dictionary with "score" and what it is made of; see the class for the parameters.',
}


def computed_by(
    breakdown: Callable[..., dict[str, Any]],
    *,
    min_value: float = 0.0,
    max_value: float = 1.0,
    goal: Goal = Goal.MAXIMIZE,
) -> Callable[[_Metric], _Metric]:
    """Return a decorator that gives a class its calls, bounds and goal.

    Parameters
    ----------
    breakdown
        Takes the arguments of SDMetrics' call and returns its breakdown, a dictionary with "score".
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
            setattr(metric, call, classmethod(_call(metric.__name__, call, breakdown, signature, result)))
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
