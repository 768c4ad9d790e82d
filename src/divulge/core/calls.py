"""What Python says of a call that does not fit a public function, with a hint."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

__all__ = ["with_hints", "with_signature"]


def with_hints(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of `divulge` whose TypeErrors of calls have a hint.

    Examples
    --------
    >>> with_hints("count", lambda table, *, keys=(): len(keys))([], key=["age"])
    Traceback (most recent call last):
    TypeError: count() got an unexpected keyword argument 'key'. hint: did you mean 'keys'?
    """
    signature = inspect.signature(function)

    @functools.wraps(function)
    def called(*given: Any, **named: Any) -> Any:
        try:
            signature.bind(*given, **named)
        except TypeError as error:
            raise TypeError(f"{name}() {_told(name, signature, str(error), given, named)}") from None
        return function(*given, **named)

    called.__module__, called.__qualname__ = "divulge", name  # where pickle finds it
    return called


def with_signature(function: Callable[..., Any], signature: inspect.Signature) -> Callable[..., Any]:
    """Return a function that shows this signature to `help` and to editors, whatever it takes itself."""
    function.__signature__ = signature  # type: ignore[attr-defined] # functions take attributes
    return function


def _told(name: str, signature: inspect.Signature, error: str, given: tuple[Any, ...], named: dict[str, Any]) -> str:
    """Return what is wrong with a call, and what to do."""
    parameters = signature.parameters
    places = [p.name for p in parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    others = [n for n in parameters if n not in places]
    if len(given) > len(places):
        told = f"takes at most {len(places)} arguments by position ({', '.join(places)}), and {len(given)} were given"
        return f"{told}. hint: name the others{f' ({others[0]}=...)' if others else ''}."
    unknown = next((n for n in named if n not in parameters), None)
    if unknown is None:
        return f"{error}. hint: call {name}({', '.join(places)}, ...)."
    alike = get_close_matches(unknown, parameters, n=1)
    hint = f"did you mean {alike[0]!r}?" if alike else f"help(divulge.{name}) lists its arguments."
    return f"got an unexpected keyword argument {unknown!r}. hint: {hint}"
