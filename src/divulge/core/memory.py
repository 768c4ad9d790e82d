"""How much memory this process may use: limits of the process and of its container, and what the machine has free."""

from __future__ import annotations

import errno
import functools
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import NamedTuple, ParamSpec, TypeVar

__all__ = [
    "CGROUPS",
    "PROC",
    "Room",
    "beyond_memory",
    "in_bytes",
    "is_of_memory",
    "most_read",
    "read_as_told",
    "room_left",
]

PROC = Path("/proc")
CGROUPS = Path("/sys/fs/cgroup")
_UNLIMITED = 1 << 60  # control groups of the first version write a limit near 2**63 where there is none
_UNITS = ((10**9, "GB"), (10**6, "MB"))

_TOLD = re.compile(
    r"failed to map segment|cannot allocate memory|memory allocation|out of memory|can't (?:start new|allocate)", re.I
)
_P = ParamSpec("_P")
_T = TypeVar("_T")
_LEAST = 1 << 28  # bytes that any file may take
_beyond: ContextVar[bool] = ContextVar("divulge_beyond_memory", default=False)


class Room(NamedTuple):
    """How much memory this process may take beyond what it has."""

    free: int
    """Bytes."""
    used: int
    """Bytes in memory now."""
    why: str
    """What sets the limit, in words."""


def room_left(proc: Path = PROC, cgroups: Path = CGROUPS, unused: int = 0) -> Room | None:
    """Return how much memory this process may still take; None where the system does not tell.

    The least counts of: the limit on its address space (`ulimit -v`), the limits of its control groups (containers,
    batch systems), and the memory that the machine has available.

    Parameters
    ----------
    proc, cgroups
        Where the system tells of processes and of control groups.
    unused
        Bytes of address space that this process has mapped, or will, and never uses.
    """
    status = _fields(proc / "self" / "status")
    used, mapped = status.get("VmRSS", 0), status.get("VmSize", 0)
    found = [*_of_process(used, mapped, unused), *_of_groups(proc, cgroups)]
    if (available := _fields(proc / "meminfo").get("MemAvailable")) is not None:
        found.append((available, "the machine has no more free"))
    if not found:
        return None
    free, why = min(found)
    return Room(max(0, free), used, why)


@contextmanager
def beyond_memory(allowed: bool = True) -> Iterator[None]:
    """Have files be read meanwhile whatever memory they take, if this is allowed."""
    token = _beyond.set(allowed or _beyond.get())
    try:
        yield
    finally:
        _beyond.reset(token)


def read_as_told(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """Return a function that reads files whatever memory they take where its `beyond_memory` is true."""

    @functools.wraps(function)
    def called(*args: _P.args, **settings: _P.kwargs) -> _T:
        with beyond_memory(bool(settings.get("beyond_memory"))):
            return function(*args, **settings)

    return called


def most_read() -> int | None:
    """Return how many bytes a file may take: half of the memory that is free; None where nothing limits it."""
    there = None if _beyond.get() else room_left()
    return None if there is None else max(_LEAST, there.free // 2)


def is_of_memory(error: BaseException) -> bool:
    """Return whether an error says that there is no memory: libraries tell it in several ways.

    Where hardly any is left, an error that says nothing counts, too.

    Examples
    --------
    >>> is_of_memory(ImportError("a.so: failed to map segment from shared object")), is_of_memory(KeyError("a"))
    (True, False)
    """
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM or _TOLD.search(str(error)):
        return True
    silent = isinstance(error, SystemError) or type(error).__name__ == "PanicException"
    return silent and (there := room_left()) is not None and there.free < _LEAST


def in_bytes(n: float) -> str:
    """Return a number of bytes in words, two digits.

    Examples
    --------
    >>> in_bytes(350_000_000), in_bytes(1_249_000_000), in_bytes(61e9), in_bytes(1000)
    ('350 MB', '1.2 GB', '61 GB', '1 MB')
    """
    size, unit = next(((s, u) for s, u in _UNITS if n >= s), _UNITS[-1])
    return f"{float(f'{max(n, size) / size:.2g}'):,g} {unit}"


def _of_process(used: int, mapped: int, unused: int) -> Iterator[tuple[int, str]]:
    """Yield what the limits on address space and on data leave, less what is mapped and never used."""
    try:
        import resource
    except ImportError:  # Windows has none, and without memory it cannot be loaded
        return

    for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
        limit = resource.getrlimit(kind)[0]
        if 0 <= limit < _UNLIMITED:  # -1 is no limit
            yield limit - used - max(unused, mapped - used), "the process has a limit on its address space"


def _of_groups(proc: Path, cgroups: Path) -> Iterator[tuple[int, str]]:
    """Yield what the control groups of this process leave, each with those above it."""
    try:
        lines = (proc / "self" / "cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, kinds, path = line.split(":", 2)
        if kinds == "":  # the second version
            names, top = ("memory.max", "memory.current", ""), cgroups
        elif "memory" in kinds.split(","):
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_")
            top = cgroups / "memory"
        else:
            continue
        # inside a container the path may be that of the host, and its own limits stand at the top
        own = [top.joinpath(*Path(path).parts[1:])]
        for folder in dict.fromkeys([*own, *own[0].parents, top]):
            if folder == top or top in folder.parents:
                yield from _of_group(folder, *names)


def _of_group(folder: Path, limit: str, used: str, prefix: str) -> Iterator[tuple[int, str]]:
    """Yield what a control group leaves; pages of files are used memory there, and the system takes them back."""
    try:
        most = int((folder / limit).read_text())
        taken = int((folder / used).read_text())
    except (OSError, ValueError):  # "max" is no limit
        return
    if most < _UNLIMITED:
        stat = _fields(folder / "memory.stat")
        cached = sum(stat.get(f"{prefix}{pages}_file", 0) for pages in ("active", "inactive"))
        yield most - taken + cached, "its container has a limit"


def _fields(path: Path) -> dict[str, int]:
    """Return the numbers of a file of names and numbers, in bytes."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return {}
    out = {}
    for line in lines:
        name, *rest = line.replace(":", " ").split()
        if rest and rest[0].isdigit():
            out[name] = int(rest[0]) * (1024 if rest[-1] == "kB" else 1)
    return out
