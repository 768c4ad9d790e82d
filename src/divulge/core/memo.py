"""Values that are made once, however many threads ask for them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping
from typing import Any, TypeVar

__all__ = ["Memo"]

_T = TypeVar("_T")


class Memo:
    """Values by key. Whoever asks first makes the value of a key; others wait for it, and ask for other keys meanwhile.

    A value may be made of others, of this or of another memo: there is a lock for each key, so that threads wait for
    each other in a circle only where values are made in a circle. If making fails, the next who asks tries it.

    Parameters
    ----------
    values
        What is there already, by key.
    most_bytes
        Bytes of values (their `nbytes`) that are kept; what was asked for longest ago goes first. None keeps all.
    last_stays
        Whether the last value is kept even where it alone has more bytes.

    Examples
    --------
    >>> memo = Memo()
    >>> memo.once("a", lambda: 1), memo.once("a", lambda: 2)
    (1, 1)
    """

    def __init__(
        self, values: Mapping[Any, Any] | None = None, *, most_bytes: int | None = None, last_stays: bool = False
    ) -> None:
        self._most, self._last_stays = most_bytes, last_stays
        self._made: dict[Hashable, Any] = {}
        self._bytes = 0  # of the values, where there is a limit
        self._making: dict[Hashable, Any] = {}
        self._guard = threading.Lock()
        for key, value in (values or {}).items():
            self[key] = value

    def once(self, key: Hashable, make: Callable[[], _T]) -> _T:
        """Return the value of a key; it is made if there is none."""
        value = self._found(key)
        if value is not self:
            return value  # type: ignore[no-any-return] # the key says what it is
        with self._guard:
            making = self._making.setdefault(key, threading.RLock())
        with making:
            value = self._found(key)
            if value is self:
                value = make()
                self[key] = value
        return value  # type: ignore[no-any-return] # the key says what it is

    def get(self, key: Hashable) -> Any:
        """Return the value of a key; None where there is none."""
        value = self._found(key)
        return None if value is self else value

    def clear(self) -> None:
        """Forget all values."""
        with self._guard:
            self._made, self._bytes = {}, 0

    def forget(self, which: Callable[[Any], bool]) -> None:
        """Forget the values of some keys, of a memo without a limit."""
        with self._guard:
            for key in [k for k in self._made if which(k)]:
                del self._made[key]

    def values(self) -> dict[Any, Any]:
        """Return the values that there are, by key, the last that was asked for at the end where there is a limit."""
        with self._guard:
            return dict(self._made)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._made

    def __setitem__(self, key: Hashable, value: Any) -> None:
        with self._guard:
            self._made[key] = value
            self._making.pop(key, None)  # who waits has the lock, and finds the value
            if self._most is not None:
                self._bytes += value.nbytes
                while self._bytes > self._most and len(self._made) > self._last_stays:
                    self._bytes -= self._made.pop(next(iter(self._made))).nbytes

    def _found(self, key: Hashable) -> Any:
        """Return the value of a key; this memo where there is none."""
        if self._most is None:
            return self._made.get(key, self)
        with self._guard:
            if key not in self._made:
                return self
            value = self._made[key] = self._made.pop(key)  # the last to go
            return value
