"""What is of the whole process: linear algebra in one thread, no warnings, and freed memory."""

from __future__ import annotations

import ctypes
import functools
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from threadpoolctl import ThreadpoolController

__all__ = ["large_arrays_apart", "one_thread", "quiet", "return_memory"]

_MMAP_THRESHOLD = -3  # the name of this option in malloc.h
_LARGE = 1 << 22  # bytes: from here on numpy asks for huge pages, so that clearing an array anew takes little


def one_thread() -> AbstractContextManager[object]:
    """Return a context in which BLAS and OpenMP use one thread each, so that no digit depends on their number.

    Threads share the setting of most libraries, and one that leaves puts back what it found: whoever has several
    threads enter this context is in it himself, before them and until they end.
    """
    context: AbstractContextManager[object] = _pools(len(sys.modules)).limit(limits=1)
    return context


@functools.lru_cache(maxsize=1)
def _pools(n_modules: int) -> ThreadpoolController:
    """Return the pools of threads of all loaded libraries, looked for again once more modules are loaded."""
    return ThreadpoolController()


class _Shared:
    """A context that the first of several threads enters, and that ends when the last of them leaves."""

    def __init__(self, context: Callable[[], AbstractContextManager[object]]) -> None:
        self._context, self._lock, self._inside = context, threading.Lock(), 0
        self._entered = context()

    @contextmanager
    def __call__(self) -> Iterator[None]:
        with self._lock:
            if not self._inside:
                self._entered = self._context()
                self._entered.__enter__()
            self._inside += 1
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if not self._inside:
                    self._entered.__exit__(None, None, None)


quiet = _Shared(lambda: warnings.catch_warnings(action="ignore"))
"""Context in which no warning is shown."""


def return_memory() -> None:
    """Give freed memory back to the system, where the C library keeps it for later (glibc does, for each thread)."""
    if (trim := _of_library("malloc_trim")) is not None:
        trim(0)


def large_arrays_apart() -> None:
    """Give large arrays back to the system as soon as they are freed, from now on and in the whole process.

    glibc maps arrays on their own only until one of that size was freed; after that they lie between others, and what
    is free between them stays with the process.
    """
    if (set_option := _of_library("mallopt")) is not None:
        set_option(_MMAP_THRESHOLD, _LARGE)


@functools.cache
def _of_library(name: str) -> Callable[..., int] | None:
    """Return a function of glibc; None where the C library is another one."""
    try:
        library = ctypes.CDLL(None)
    except (OSError, TypeError):  # Windows
        return None
    return getattr(library, name, None) if hasattr(library, "gnu_get_libc_version") else None
