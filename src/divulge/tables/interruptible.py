"""Questions whose answer takes long, and an interrupt that is heard meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

__all__ = ["interruptible"]

_T = TypeVar("_T")
_LOOK = 0.1  # seconds: after a signal a wait may begin again, so that it is short


def interruptible(ask: Callable[[], _T], interrupt: Callable[[], object]) -> _T:
    """Return an answer that another thread gets, so that an interrupt is heard while it does.

    An engine looks for signals between its tasks alone, and one of them may take long.

    Parameters
    ----------
    ask
        What is asked. In a thread that hears no signals it is called there.
    interrupt
        Called at an interrupt: tells the engine to stop. Nobody waits until it did.

    Examples
    --------
    >>> interruptible(lambda: 3, lambda: None)
    3
    """
    if threading.current_thread() is not threading.main_thread():
        return ask()
    answers: list[_T] = []
    errors: list[BaseException] = []
    ended = threading.Event()

    def answer() -> None:
        try:
            answers.append(ask())
        except BaseException as error:  # it is raised where the answer is awaited
            errors.append(error)
        finally:
            ended.set()

    try:
        threading.Thread(target=answer, daemon=True).start()
    except RuntimeError:  # a limit on memory or on threads leaves no room for one
        return ask()
    try:
        while not ended.wait(_LOOK):
            pass
    except BaseException:
        interrupt()
        raise
    if errors:
        raise errors[0]
    return answers[0]
