"""Results of finished tests on disk, so that an interrupted run can be resumed.

The name of a file is a hash of everything that its results depend on; `checkpoint_format.py` describes its content. A
file with other content is skipped.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from divulge.core.atomic_write import open_regular, replaced, why_not
from divulge.core.errors import SettingError, TableError
from divulge.core.result import Individual, Result
from divulge.run.making.checkpoint_format import LARGEST, Checkpoint, from_bytes, to_bytes

__all__ = ["About", "CheckpointStore", "Interrupted", "about_of", "can_keep", "discard", "file_name", "key_of"]

_SUFFIX = ".kept"
_UNFINISHED = ".kept-part"
_PRIVATE = 0o700
_ABOUT = "about" + _SUFFIX


class About(msgspec.Struct, frozen=True):
    """What the kept tests of a run by an engine are about."""

    settings: str
    """A hash of the settings."""
    tables: dict[str, str]
    """A hash of each table, by role."""
    people: int | None = None
    """How many people are asked at most; None where nobody is."""


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
        self._times: list[NDArray[np.int64]] = []
        _make_private(self.folder)

    def has(self, key: str) -> bool:
        """Return whether a test kept under a key would be read."""
        return self.resume and os.path.lexists(self.folder / file_name(key))

    def get(self, key: str) -> Checkpoint | None:
        """Return the test kept under a key; None where there is none, or its file cannot be used."""
        if not self.has(key):
            return None
        try:
            found = from_bytes(_content(self.folder / file_name(key)), key)
        except (OSError, ValueError):
            self.refuse(key)
            return None
        self.names.add(key)
        return found._replace(results=tuple(map(self._sharing, found.results)))

    def check_tables(self, about: About) -> None:
        """Write what the tests of this run are about.

        Raises
        ------
        TableError
            The folder has tests of the same settings about another table, and they were to be used.
        """
        before = about_of(self.folder) if self.resume else None
        if before is not None and before.settings == about.settings:
            changed = [role for role, own in about.tables.items() if before.tables.get(role, own) != own]
            if changed:
                raise TableError(
                    f"resume: the {changed[0]} table is not as it was when the results in {self.folder.name} were "
                    "kept. hint: without --resume the run begins anew."
                )
        try:
            replaced(self.folder / _ABOUT, msgspec.json.encode(about), mode=0o600, suffix=_UNFINISHED)
        except OSError as error:
            self._say(f"keep: a test could not be kept ({why_not(error)}); --resume would make it again")

    def _sharing(self, result: Result) -> Result:
        """Return a result whose counts of equal records are those of the results before, which have the same."""
        own = result.individual
        if own is None or own.real_times is None:
            return result
        real, holdout = own.kept
        shared = Individual(
            real=real, holdout=holdout, real_times=self._once(own.real_times),
            holdout_times=None if own.holdout_times is None else self._once(own.holdout_times),
        )  # fmt: skip
        return replace(result, individual=shared)

    def _once(self, times: NDArray[np.int64]) -> NDArray[np.int64]:
        for known in self._times:
            if np.array_equal(known, times):
                return known
        self._times.append(times)
        return times

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


def about_of(folder: str | Path) -> About | None:
    """Return what the tests kept in a folder are about; None where no run by an engine kept any there.

    Examples
    --------
    >>> about_of("no such folder")
    """
    try:
        return msgspec.json.decode(_content(Path(folder) / _ABOUT), type=About)
    except (OSError, ValueError, msgspec.MsgspecError):
        return None


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
