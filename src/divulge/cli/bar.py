"""A bar of progress on a terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeElapsedColumn
from rich.text import Text

from divulge.report.documents.console import clean
from divulge.run.cost.expected_time import time_left

__all__ = ["bar"]


class _Left(ProgressColumn):
    """How much time is left: what was told last, less what has passed since."""

    def render(self, task: Task) -> Text:
        """Return the words of now."""
        seconds, told = task.fields["left"]
        if seconds is None and task.time_remaining is not None:
            return Text(time_left(task.time_remaining))
        return Text("" if seconds is None else time_left(seconds - (time.monotonic() - told)))


class _Bar:
    """Progress shown by a bar."""

    def __init__(self, shown: Progress, words: Callable[[str, int], str]) -> None:
        self._shown, self._words = shown, words
        self._task = shown.add_task("", total=None, left=(None, 0.0))

    def __call__(self, what: str, done: int, total: int) -> None:
        """Show the current step, the number of steps done and the number of all steps."""
        text = escape(clean(self._words(what, total)))
        if total > 1:
            self._shown.update(self._task, description=text, completed=done, total=total)
        else:  # a stage that counts nothing leaves the bar as it is: a total of None changes nothing in rich
            self._shown.update(self._task, description=text)

    def left(self, seconds: float) -> None:
        """Take about how many seconds are left."""
        self._shown.update(self._task, left=(seconds, time.monotonic()))


@contextmanager
def bar(words: Callable[[str, int], str]) -> Iterator[_Bar]:
    """Show a bar on standard error; `words` makes the text of a step from its name and the number of all steps."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("for"),
               TimeElapsedColumn(), _Left())  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        yield _Bar(shown, words)
