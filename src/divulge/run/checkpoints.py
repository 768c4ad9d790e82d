"""Results of finished tests on disk, so that an interrupted run can be resumed.

The name of a file is a hash of everything that its results depend on; `divulge.run.checkpoint_format` describes its
content. A file with other content is skipped.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from divulge.core.atomic_write import open_regular, replaced, why_not
from divulge.core.errors import SettingError
from divulge.run.checkpoint_format import LARGEST, Checkpoint, from_bytes, to_bytes

__all__ = ["CheckpointStore", "Interrupted", "can_keep", "discard", "file_name", "key_of"]

_SUFFIX = ".kept"
_UNFINISHED = ".kept-part"
_PRIVATE = 0o700


class Interrupted(KeyboardInterrupt):
    """A run was interrupted during the attacks; the results of finished tests are kept."""

    def __init__(self, kept: int, planned: int, folder: Path | None) -> None:
        super().__init__(kept, planned, folder)
        self.kept = kept
        """Tests whose results are in the folder; 0 without a folder."""
        self.planned = planned
        """Tests of the whole run, including those of a positive control."""
        self.folder = folder


class CheckpointStore:
    """A private folder with the results of finished tests.

    Parameters
    ----------
    folder
        Created if it is missing; only its owner can read it. It must hold nothing but kept tests.
    resume
        Whether tests that are in the folder already are read. Finished tests are written in any case.

    Raises
    ------
    SettingError
        The folder cannot be created or written, is a file or a link, belongs to another user, or holds other files.
    """

    def __init__(self, folder: str | Path, *, resume: bool) -> None:
        self.folder = Path(folder)
        self.resume = resume
        self.names: set[str] = set()
        """Tests of this run that are in the folder."""
        self.notes: list[str] = []
        _make_private(self.folder)

    def get(self, key: str) -> Checkpoint | None:
        """Return the test kept under a key; None where there is none, or its file cannot be used."""
        path = self.folder / file_name(key)
        if not self.resume or not os.path.lexists(path):
            return None
        try:
            found = from_bytes(_content(path), key)
        except (OSError, ValueError):
            self.refuse(key)
            return None
        self.names.add(key)
        return found

    def refuse(self, key: str) -> None:
        """Say that the file of a test cannot be used."""
        self.names.discard(key)
        self._say("resume: a kept file is damaged or not of divulge; it was skipped and its test made again")

    def put(self, key: str, kept: Checkpoint) -> None:
        """Write the results of a test. A full disk does not stop the run; the test is not kept then."""
        try:
            replaced(self.folder / file_name(key), to_bytes(kept, key), mode=0o600, suffix=_UNFINISHED)
        except (OSError, TypeError, ValueError, OverflowError) as error:  # no space; no result of ours
            self._say(f"keep: a test could not be kept ({why_not(error)}); --resume would make it again")
            return
        self.names.add(key)

    def _say(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)


def can_keep(folder: str | Path) -> bool:
    """Return whether `CheckpointStore` can use a folder; a folder created for this check is removed again.

    Examples
    --------
    >>> can_keep("/dev/null/kept")
    False
    """
    folder = Path(folder)
    new = not folder.exists()
    try:
        _make_private(folder)
    except SettingError:
        return False
    if new:
        folder.rmdir()
    return True


def discard(folder: str | Path) -> None:
    """Remove the kept tests of a folder, and the folder if it is empty then. A missing folder is no error.

    Examples
    --------
    >>> discard("no such folder")
    """
    folder = Path(folder)
    if folder.is_symlink() or not folder.is_dir():
        return
    with suppress(OSError):  # what is no file of ours, and a folder that somebody else changes, stay
        for path in sorted(folder.iterdir()):
            if path.suffix in (_SUFFIX, _UNFINISHED) and not path.is_dir():
                path.unlink(missing_ok=True)
        if not any(folder.iterdir()):
            folder.rmdir()


def file_name(key: str) -> str:
    """Return the name of a test's file; the key cannot be found from it.

    Examples
    --------
    >>> file_name(key_of(["a"])) == key_of(["a"])
    False
    """
    return hashlib.sha256(f"name {key}".encode()).hexdigest() + _SUFFIX


def key_of(parts: Sequence[str]) -> str:
    """Return a hash of texts in their order; it also depends on where one text ends and the next begins.

    Examples
    --------
    >>> key_of(["a", "bc"]) == key_of(["ab", "c"])
    False
    """
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{len(part)} {part}".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _make_private(folder: Path) -> None:
    where = f"keep: {folder.name or folder}"
    try:
        folder.mkdir(_PRIVATE, parents=True, exist_ok=True)
        status = folder.lstat()
        if folder.is_symlink() or (hasattr(os, "getuid") and status.st_uid != os.getuid()):
            raise SettingError(f"{where}: a link, or the folder of somebody else. hint: name a folder of its own.")
        if any(path.suffix not in (_SUFFIX, _UNFINISHED) for path in folder.iterdir()):
            raise SettingError(f"{where}: the folder holds other files. hint: name a folder of its own.")
        folder.chmod(_PRIVATE)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise SettingError(f"{where}: cannot be written. hint: name another folder.")
    except OSError as error:
        raise SettingError(f"{where}: cannot be made ({error.strerror}). hint: name another folder.") from None


def _content(path: Path) -> bytes:
    """Return the bytes of a regular file of at most `LARGEST` bytes."""
    with os.fdopen(open_regular(path), "rb") as file:
        found = file.read(LARGEST + 1)
    if len(found) > LARGEST:
        raise ValueError("too large")
    return found
