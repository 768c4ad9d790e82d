"""Folders for what does not fit into memory, which nobody else can read and which are removed at the end.

The end may be a signal that leaves the process without its usual end; `remove_private_folders` is for that. A process
that is killed leaves its folders behind. Each holds a file that its process has locked, so that the next private folder
beside it removes those that nobody has locked any more. The file is named after its machine, as not every disk that
machines share knows the locks of all: a machine removes its own folders alone.
"""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
import weakref
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]  # no file locks there

__all__ = ["PrivateFolder", "remove_private_folders"]

_REMOVING: list[weakref.finalize[..., Any]] = []
_PREFIX = "divulge-"
_MACHINE = sha256(platform.node().encode()).hexdigest()[:8]
_LOCK, _UNLOCKED = f"in-use-{_MACHINE}.lock", "in-use.new"


class PrivateFolder:
    """A new folder; it goes when `remove` is called, when nothing holds it, or when the process ends.

    Folders beside it that processes left which were killed are removed.

    Parameters
    ----------
    prefix
        How its name begins.
    parent
        The folder in which it is made; None is that for temporary files.

    Raises
    ------
    OSError
        Nothing can be written there.

    Examples
    --------
    >>> folder = PrivateFolder("divulge-")
    >>> folder.path.is_dir()
    True
    >>> remove_private_folders()
    >>> folder.path.exists()
    False
    """

    def __init__(self, prefix: str, parent: str | Path | None = None) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        lock = _locked(self.path)
        self.remove: weakref.finalize[..., Any] = weakref.finalize(self, _remove, self.path, lock)
        """Removes the folder; what is mapped stays readable where the system allows that."""
        _REMOVING[:] = [*(r for r in _REMOVING if r.alive), self.remove]
        _sweep(self.path.parent)


def remove_private_folders() -> None:
    """Remove all that are left."""
    for remove in tuple(_REMOVING):
        remove()


def _remove(folder: Path, lock: int | None) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    if lock is not None:
        os.close(lock)


# ---------------------------------------------------------------- folders of processes that are gone


def _locked(folder: Path) -> int | None:
    """Return the open file of a folder by whose lock others see that it is in use; None where there are no locks.

    The file gets its name when it is locked, so that nobody finds it without its lock.
    """
    if fcntl is None:
        return None
    with suppress(OSError):
        lock = os.open(folder / _UNLOCKED, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.rename(folder / _UNLOCKED, folder / _LOCK)
        except OSError:
            os.close(lock)
            raise
        return lock
    return None


def _sweep(parent: Path) -> None:
    """Remove the private folders of this user in a folder whose processes are gone."""
    if fcntl is None:
        return
    with suppress(OSError):
        for entry in os.scandir(parent):
            if entry.name.startswith(_PREFIX) and entry.is_dir(follow_symlinks=False):
                _remove_left(Path(entry.path))


def _remove_left(folder: Path) -> None:
    """Remove a folder if its lock is there and nobody holds it."""
    with suppress(OSError):
        if folder.lstat().st_uid != os.getuid():
            return
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # refused while its process lives
            shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(lock)
