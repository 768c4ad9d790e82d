"""Write a file under a temporary name that nobody can foresee, and give it its name when it is whole.

A link that stands at the name is replaced; nothing is written through it. A write that fails leaves no file behind.
What a killed process left beside a file goes when that file is next written.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, overload

from divulge.core.errors import SettingError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]  # no file locks there

__all__ = [
    "check_target",
    "check_writable",
    "is_of_disk",
    "new_folder",
    "open_regular",
    "replaced",
    "replacing",
    "saved",
    "why_not",
    "written",
]

_OWN = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _OWN
_SUFFIX = ".tmp"
_OF_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS, errno.EACCES, errno.EPERM)
_DEVICES = ("/dev", "/proc")
_DIGITS = 16
_HEAD = 40  # characters of the name; four bytes each at most, and a name has up to 255
_TRIES = 5


@contextmanager
def replacing(
    path: str | Path, *, mode: int | None = None, private: bool = False, suffix: str = _SUFFIX
) -> Iterator[BinaryIO]:
    """Open a new file that takes the place of `path` when the block ends, and is removed when the block fails.

    Parameters
    ----------
    path
        Where the file shall stand. A link there is replaced, not followed.
    mode
        Permissions of the file. None keeps those of the file that is replaced, or takes what the umask allows.
    private
        Whether nobody but the owner may read a new file, whatever the umask allows.
    suffix
        End of the temporary name.

    Raises
    ------
    SettingError
        Something other than a file stands there: a folder, a device, a pipe.
    OSError
        The file cannot be written.
    """
    path = Path(path)
    check_target(path)
    usual = 0o600 if private else 0o666
    temporary, handle = _opened(path, usual if mode is None else mode, suffix)
    try:
        with os.fdopen(handle, "wb") as file:
            if mode is None:
                _keep_mode(path, handle)
            yield file
            file.flush()
            if os.name != "nt":  # under the lock: nobody takes a whole file for one that was left
                os.replace(temporary, path)
        if os.name == "nt":
            os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    _sweep(path, suffix)


def replaced(
    path: str | Path, content: bytes, *, mode: int | None = None, private: bool = False, suffix: str = _SUFFIX
) -> None:
    """Write content to a file as `replacing` does.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     replaced(Path(folder) / "a.txt", b"whole")
    ...     print(*(p.name for p in Path(folder).iterdir()))
    a.txt
    """
    with replacing(path, mode=mode, private=private, suffix=suffix) as file:
        file.write(content)


def written(text: str, path: str | Path | None) -> str:
    """Return a text, and write it to a file as UTF-8 when a path is given."""
    if path is not None:
        replaced(path, text.encode())
    return text


@overload
def saved(text: str, path: None) -> str: ...
@overload
def saved(text: str, path: str | Path) -> Path: ...
@overload
def saved(text: str, path: str | Path | None) -> str | Path: ...
def saved(text: str, path: str | Path | None) -> str | Path:
    """Return a text, or write it to a file as UTF-8 and return the path where one is given."""
    if path is None:
        return text
    replaced(path, text.encode())
    return Path(path)


def new_folder(folder: str | Path, *, private: bool) -> Path:
    """Return a folder, made if it is missing; a private one only its owner can open. One that is there stays as it is.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     oct(new_folder(Path(folder) / "report", private=True).stat().st_mode & 0o777)
    '0o700'
    """
    folder = Path(folder)
    folder.mkdir(0o700 if private else 0o777, parents=True, exist_ok=True)
    return folder


def check_target(path: Path) -> None:
    """Raise a `SettingError` where something other than a file stands at a name: nothing may take its place.

    /dev/stdout is a link to a file where output goes to one, so names in the folders of devices count as devices.

    Examples
    --------
    >>> check_target(Path("/dev/null"))
    Traceback (most recent call last):
    divulge.core.errors.SettingError: null: a folder or a device stands there. hint: name a file.
    """
    place = str(path.absolute().parent.resolve())
    if place in _DEVICES or place.startswith("/proc/") or (os.path.exists(path) and not os.path.isfile(path)):
        raise SettingError(f"{_short(path.name)}: a folder or a device stands there. hint: name a file.")


def check_writable(folder: str | Path) -> None:
    """Raise an `OSError` where no file can be made in a folder, or in the nearest folder above it that exists.

    Examples
    --------
    >>> check_writable("no such folder/below")
    """
    place = Path(folder).absolute()
    place = next(p for p in (place, *place.parents) if os.path.lexists(p))
    probe = place / f".divulge.{secrets.token_hex(_DIGITS // 2)}{_SUFFIX}"
    os.close(os.open(probe, _NEW, 0o600))
    os.unlink(probe)


def open_regular(path: str | Path) -> int:
    """Return a handle to read a regular file; a link, a pipe or a device at its name is an `OSError`."""
    handle = os.open(path, os.O_RDONLY | _OWN | getattr(os, "O_NONBLOCK", 0))
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError("not a regular file")
    return handle


def why_not(error: Exception) -> str:
    """Return in words why a file could not be written, without its name.

    Examples
    --------
    >>> why_not(PermissionError(13, "Permission denied", "/home/somebody"))
    'Permission denied'
    >>> why_not(OSError("polars: No space left on device (os error 28)"))
    'No space left on device'
    """
    told, number = getattr(error, "strerror", None), _number(error)
    return str(told) if told else os.strerror(number) if number else type(error).__name__


def is_of_disk(error: OSError) -> bool:
    """Return whether an error says that a disk is full, or that it or a folder cannot be written.

    Examples
    --------
    >>> is_of_disk(OSError("polars: No space left on device (os error 28)")), is_of_disk(OSError(11, "no process"))
    (True, False)
    """
    return _number(error) in _OF_DISK


def _number(error: Exception) -> int | None:
    """Return the number of an error of the system; polars gives it in its words alone."""
    number = re.search(r"\(os error (\d+)\)", str(error))
    return getattr(error, "errno", None) or (int(number[1]) if number else None)


def _short(name: str) -> str:
    return name if len(name) <= 60 else f"{name[:28]}...{name[-28:]}"


def _opened(path: Path, mode: int, suffix: str) -> tuple[Path, int]:
    """Return name and handle of a new file beside another, locked where the file system has locks."""
    for n in range(_TRIES):
        temporary = path.with_name(f".{path.name[:_HEAD]}.{secrets.token_hex(_DIGITS // 2)}{suffix}")
        handle = os.open(temporary, _NEW, mode)
        if _is_locked(handle) or n == _TRIES - 1:
            break
        os.close(handle)  # another process took it for one that was left
        with suppress(OSError):
            os.unlink(temporary)
    return temporary, handle


def _is_locked(handle: int) -> bool:
    """Lock a new file, and return whether it is locked and has a name still."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return os.fstat(handle).st_nlink > 0


def _keep_mode(path: Path, handle: int) -> None:
    """Give a new file the permissions of the regular file that it replaces."""
    with suppress(OSError):
        status = os.lstat(path)
        if stat.S_ISREG(status.st_mode) and hasattr(os, "fchmod"):
            os.fchmod(handle, stat.S_IMODE(status.st_mode) & 0o777)


def _sweep(path: Path, suffix: str) -> None:
    """Remove what killed processes left beside a file: temporary files that nobody has locked."""
    if fcntl is None:
        return
    head = f".{path.name[:_HEAD]}."
    with suppress(OSError):
        left = [n for n in os.listdir(path.parent) if _is_temporary(n, head, suffix)]
        for name in left:
            _remove_left(path.parent / name)


def _is_temporary(name: str, head: str, suffix: str) -> bool:
    random = name[len(head) : len(name) - len(suffix)]
    fits = name.startswith(head) and name.endswith(suffix) and len(random) == _DIGITS
    return fits and set(random) <= set("0123456789abcdef")


def _remove_left(path: Path) -> None:
    with suppress(OSError):
        handle = open_regular(path)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)  # refused while its writer lives
            os.unlink(path)
        finally:
            os.close(handle)
