"""SIGTERM, by which systemd, Kubernetes, batch systems and `timeout` end a command.

It ends as an interrupt does, with status 143: trainings and queries are stopped, private folders are removed, and what
is kept is told. A loop in C or a query may keep the main thread from hearing it; so another thread waits for the signal
too, and ends the process some seconds later.
"""

from __future__ import annotations

import os
import select
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from divulge.core.private_folders import remove_private_folders

__all__ = ["STATUS", "terminable", "was_terminated"]

STATUS = 143
"""Exit status after SIGTERM, as a shell tells it."""
_GRACE = 3.0  # seconds; Kubernetes kills after 30
_END = b"\0"  # no signal has this number

_told = threading.Event()


def was_terminated() -> bool:
    """Return whether SIGTERM has come."""
    return _told.is_set()


@contextmanager
def terminable() -> Iterator[None]:
    """Have SIGTERM end a command as an interrupt does, unless somebody has other plans for it.

    Outside the main thread, and where a handler is set already or the signal is ignored, nothing is changed.
    """
    if not _may_be_heard():
        yield
        return
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    usual = signal.signal(signal.SIGTERM, _interrupt)
    try:
        threading.Thread(target=_watch, args=(reading, _leave), daemon=True).start()
    except RuntimeError:  # a limit leaves no room for a thread
        os.close(reading)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, usual)
        signal.set_wakeup_fd(before)
        with suppress(OSError):  # nobody reads it
            os.write(writing, _END)
        os.close(writing)


def _may_be_heard() -> bool:
    if os.name == "nt" or threading.current_thread() is not threading.main_thread():
        return False
    return signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def _interrupt(number: int, frame: FrameType | None) -> None:
    if not _told.is_set():  # a second one changes nothing
        _told.set()
        raise KeyboardInterrupt


def _watch(reading: int, leave: Callable[[], None]) -> None:
    """Wait for signals; some time after SIGTERM leave the process, if the command has not ended by then."""
    try:
        while (signals := os.read(reading, 64)) and _END not in signals:
            if signal.SIGTERM in signals:
                if not _ends(reading, _GRACE):
                    leave()
                return
    finally:
        os.close(reading)


def _ends(reading: int, seconds: float) -> bool:
    """Return whether the command ends within so many seconds."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0 and select.select([reading], [], [], left)[0]:
        signals = os.read(reading, 64)
        if not signals or _END in signals:
            return True
    return False


def _leave() -> None:
    remove_private_folders()
    os._exit(STATUS)
