"""Find, load and call the library of compiled loops.

A `Kernel` is declared once, with the kinds of its arguments, and called like a function. It lets go of the
interpreter's lock while it runs.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from divulge.kernels._native.build import FILE_NAME, HERE, digest

__all__ = ["Filled", "Kernel", "Struct", "at_level", "available", "levels", "why_absent"]

_LEVELS = {0: ("plain",), 2: ("v2",), 3: ("v2", "v3"), 4: ("v2", "v3", "v4")}

_SCALARS = {"i8": ctypes.c_int64, "f8": ctypes.c_double}
_PLAIN: dict[str, Callable[[Any], int | float]] = {"i8": int, "f8": float}


class _Loaded(NamedTuple):
    library: Any
    levels: tuple[str, ...]
    """Those of the processor, lowest first."""
    absent: str
    """Why there is no library; empty if there is one."""


_chosen: list[str] = []
"""The level that `at_level` asked for, last."""


@cache
def _loaded() -> _Loaded:
    asked = os.environ.get("DIVULGE_CPU", "")
    if asked == "none":
        return _Loaded(None, (), "DIVULGE_CPU=none was set")
    path = HERE / FILE_NAME
    is_checkout = (HERE / "divulge.h").exists()
    how = "pip install -e ." if is_checkout else "pip install --force-reinstall --no-cache-dir --no-deps divulge"
    if not path.exists():
        return _Loaded(None, (), f"divulge was installed without a C compiler. hint: with gcc or clang, `{how}`")
    try:
        library = ctypes.CDLL(str(path))
    except OSError:
        return _Loaded(None, (), f"the compiled kernels are not for this machine. hint: `{how}`")
    library.divulge_sources.restype = ctypes.c_char_p
    if is_checkout and library.divulge_sources().decode().split()[0] != digest(HERE):
        return _Loaded(None, (), f"the compiled kernels are older than their C sources. hint: `{how}`")
    has = _LEVELS.get(library.divulge_level(), ())
    if asked in has:
        has = has[: has.index(asked) + 1]
    return _Loaded(library if has else None, has, "" if has else "the processor is older than x86-64-v2")


def available() -> bool:
    """Return whether there are compiled kernels; without them their twins in numpy give the same results, slower."""
    return not why_absent()


def why_absent() -> str:
    """Return why there are no compiled kernels, in words; empty if there are."""
    if _chosen and _chosen[-1] == "none":
        return "none were asked for"
    return _loaded().absent


def levels() -> tuple[str, ...]:
    """Return the levels of processor that can be chosen here, lowest first; the highest one is the default."""
    return _loaded().levels


@contextmanager
def at_level(level: str) -> Iterator[None]:
    """Call the kernels of one level within the context; "none": no compiled kernels. For tests."""
    _chosen.append(level)
    try:
        yield
    finally:
        _chosen.pop()


def _pointer(array: Any, kind: str, name: str) -> int | None:
    """Return the address of an array of the declared kind; `!` marks arrays that are written."""
    if array is None:
        return None
    if array.dtype.str[1:] != kind[:-1] or not array.flags.c_contiguous or not array.dtype.isnative:
        raise TypeError(f"{name}: {array.dtype.str}, contiguous: {array.flags.c_contiguous}; wanted is {kind}")
    if kind[-1] == "!" and not array.flags.writeable:
        raise TypeError(f"{name}: not writeable")
    return int(array.__array_interface__["data"][0])


class Struct:
    """A C struct of pointers, int64 and double, declared by name and kind in the order of the C declaration.

    Kinds: "i8" int64, "f8" double, "f4*" a contiguous array of float32 (any numpy code: b1, u1, i2, i4, u4, i8, u8, f4,
    f8), "f4!" one that is written, None for NULL. `Struct(...)(**values)` gives what a `Kernel` takes.
    """

    def __init__(self, **kinds: str) -> None:
        self._kinds = kinds
        fields = [(name, _SCALARS.get(kind, ctypes.c_void_p)) for name, kind in kinds.items()]
        self._type = type("_Struct", (ctypes.Structure,), {"_fields_": fields})

    def __call__(self, **values: Any) -> Filled:
        """Return the filled struct, which keeps its arrays alive."""
        if values.keys() != self._kinds.keys():
            raise TypeError(f"wanted are {sorted(self._kinds)}")
        out = self._type()
        for name, kind in self._kinds.items():
            value = values[name]
            setattr(out, name, _PLAIN[kind](value) if kind in _PLAIN else _pointer(value, kind, name))
        return Filled(out, tuple(v for v in values.values() if isinstance(v, np.ndarray)))


class Filled(NamedTuple):
    """A filled struct."""

    struct: Any
    kept: tuple[Any, ...]
    """Its arrays, which live as long as it."""


class Kernel:
    """A compiled loop, `KERNEL(name)` in C, with the kinds of its arguments: those of `Struct`, and `Struct` itself.

    Raises
    ------
    MemoryError
        There was not enough memory.
    KeyboardInterrupt
        It was asked to stop.
    """

    def __init__(self, name: str, *kinds: str | Struct) -> None:
        self._name, self._kinds = name, kinds
        self._functions: dict[str, Callable[..., int]] = {}

    def __call__(self, *values: Any) -> None:
        """Run it; what it finds it writes into arrays among its arguments."""
        level = _chosen[-1] if _chosen else _loaded().levels[-1]
        function = self._functions.get(level) or self._find(level)
        status = function(
            *(self._given(v, kind, i) for i, (v, kind) in enumerate(zip(values, self._kinds, strict=True)))
        )
        if status == 1:
            raise MemoryError
        if status == 2:
            raise KeyboardInterrupt

    def _find(self, level: str) -> Callable[..., int]:
        function = getattr(_loaded().library, f"divulge_{self._name}_{level}")
        function.restype = ctypes.c_int
        function.argtypes = [
            _SCALARS.get(k, ctypes.c_void_p) if isinstance(k, str) else ctypes.c_void_p for k in self._kinds
        ]
        self._functions[level] = function
        return function  # type: ignore[no-any-return] # ctypes has no types here

    def _given(self, value: Any, kind: str | Struct, place: int) -> Any:
        if isinstance(kind, Struct):
            return ctypes.addressof(value.struct)
        return _PLAIN[kind](value) if kind in _PLAIN else _pointer(value, kind, f"{self._name}, argument {place}")
