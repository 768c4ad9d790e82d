"""Folders for what does not fit into memory, which nobody else can read and which are removed at the end.

The end may be an interrupt that leaves the process without its usual end; `remove_private_folders` is for that.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any

__all__ = ["PrivateFolder", "remove_private_folders"]

_REMOVING: list[weakref.finalize[..., Any]] = []


class PrivateFolder:
    """A new folder; it goes when `remove` is called, when nothing holds it, or when the process ends.

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
        self.remove: weakref.finalize[..., Any] = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)
        """Removes the folder; what is mapped stays readable where the system allows that."""
        _REMOVING[:] = [*(r for r in _REMOVING if r.alive), self.remove]


def remove_private_folders() -> None:
    """Remove all that are left."""
    for remove in tuple(_REMOVING):
        remove()
