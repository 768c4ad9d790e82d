"""Tells what a run does, how far it is and how much time is left; always in the thread of the caller."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from divulge.run.cost.time_left import TimeLeft
from divulge.run.making.schedule import Posts

__all__ = ["Progress", "Watch", "shown"]

Progress = Callable[[str, int, int], None]


@dataclass
class Watch:
    """Reports which attack runs and, during a long search, how far the search is."""

    progress: Progress
    left: Callable[[float], None] = lambda seconds: None
    """Told the seconds that are left, before each step."""
    time: TimeLeft | None = None
    """None as long as it is not known what there is to do."""
    done: int = 0
    total: int = 1
    stopped: bool = False
    """Whether the run was interrupted; threads in a long search stop when they next report progress."""
    posts: Posts = field(default_factory=Posts)
    _here: threading.local = field(default_factory=threading.local)
    """What the thread does that asks."""
    _caller: int = field(default_factory=threading.get_ident)

    def begin_tests(self, n: int) -> None:
        """Count from 0 again, to `n`."""
        self.done, self.total = 0, n

    def attacking(self, what: str, part: Hashable) -> None:
        """Say that this thread begins a test, a part of the run's time."""
        self._here.what = what
        self._post(lambda: self._begin(what, part))

    def attacked(self, part: Hashable, *, made: bool) -> None:
        """Say that a test is done, or was not `made`."""
        self.done += 1
        if self.time is not None:
            self.time.end(part, made=made)

    def searching(self, rows: int, of: int) -> None:
        """Say how far a search of this thread is."""
        if self.stopped:
            raise KeyboardInterrupt
        what = getattr(self._here, "what", "")
        if what and rows < of:
            self._post(lambda: self._told(f"{what}: {rows:,} of {of:,} rows searched"))

    def step(self, what: str, done: int, total: int) -> None:
        """Say what is done beside the tests."""
        if self.time is not None:
            self.left(self.time.seconds())
        self.progress(what, done, total)

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Begin and end a part of the run's time that is no test."""
        if self.time is not None:
            self.time.begin(name)
        yield
        if self.time is not None:
            self.time.end(name)

    def _begin(self, what: str, part: Hashable) -> None:
        if self.time is not None:
            self.time.begin(part)
        self._told(what)

    def _told(self, what: str) -> None:
        self.step(what, self.done, self.total)

    def _post(self, function: Callable[[], None]) -> None:
        if threading.get_ident() == self._caller:
            function()
        else:
            self.posts.put(function)


# ---------------------------------------------------------------- one line that is written anew


@contextmanager
def shown(progress: Progress | bool | None) -> Iterator[Progress]:
    """Give what tells the steps of a run: what was passed, a line that is written anew, or what shows nothing.

    Parameters
    ----------
    progress
        What is called with a step, the number of steps done and of all; or whether a line is shown: in a notebook by
        its display, elsewhere on standard error if that is a terminal. None shows it in a notebook alone.
    """
    notebook = _notebook()
    if callable(progress):
        yield progress
    elif progress is False or (progress is None and notebook is None):
        yield lambda what, done, total: None
    elif notebook is not None:
        line = notebook({"text/plain": "divulge: reading"}, raw=True, display_id=True)
        yield _OneLine(lambda text: line.update({"text/plain": text}, raw=True)).told
        line.update({"text/plain": "divulge: done"}, raw=True)
    else:
        from rich.console import Console
        from rich.markup import escape

        with Console(stderr=True).status("divulge: reading") as status:
            yield _OneLine(lambda text: status.update(escape(text))).told


class _OneLine:
    """Writes a step, but no more often than three times a second."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write, self._last = write, 0.0

    def told(self, what: str, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._last > 1 / 3:
            self._last = now
            self._write(f"divulge: {what}" + (f", {done:,} of {total:,} steps done" if total > 1 else ""))


def _notebook() -> Any:
    """Return the display of the notebook that runs this process; None outside of notebooks."""
    shell = sys.modules.get("IPython") and sys.modules["IPython"].get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        return None
    from IPython.display import display

    return display
