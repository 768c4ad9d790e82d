"""Results of finished tests on disk, so that an interrupted run can be resumed. Foreign code is never executed.

The name of a file is a hash of everything that its results depend on; its content is the pickled results. Files are
read only by an unpickler that accepts the few classes of a result. A file with other content is skipped.
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import tempfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from divulge.core.errors import SettingError
from divulge.core.result import Result

__all__ = ["Checkpoint", "CheckpointStore", "Interrupted", "can_keep", "discard", "key_of"]

_SUFFIX = ".kept"
_UNFINISHED = ".kept-part"
_HEAD = b"divulge kept 1\n"
_PRIVATE = 0o700

_RESULT = ("Baseline", "Difference", "Group", "Individual", "Rate", "Result", "Risk", "Value")
_KNOWN = {
    *(("divulge.core.result", name) for name in _RESULT),
    *(("divulge.stats.two_sample", name) for name in ("Comparison", "Tally", "_Side")),
    *(("divulge.stats.attraction", name) for name in ("Attraction", "_Credits")),
    ("divulge.stats.isolation", "Isolation"),
    ("divulge.stats.pairing", "Paired"),
    ("divulge.stats.intervals", "Interval"),
    ("msgspec._utils", "rebuild"),  # builds one of our structs from its fields
    *((f"numpy.{core}.multiarray", name) for core in ("_core", "core") for name in ("_reconstruct", "scalar")),
    ("numpy", "dtype"),
    ("numpy", "ndarray"),
}
"""All names that a pickle of results may hold."""


class Interrupted(KeyboardInterrupt):
    """A run was interrupted during the attacks; the results of finished tests are kept."""

    def __init__(self, kept: int, planned: int, folder: Path | None) -> None:
        super().__init__(kept, planned, folder)
        self.kept = kept
        """Tests whose results are in the folder; 0 without a folder."""
        self.planned = planned
        """Tests of the whole run, including those of a positive control."""
        self.folder = folder


class Checkpoint(NamedTuple):
    """What is kept of one test: its results, and the columns that had been coded by then."""

    results: tuple[Result, ...]
    coded: tuple[str, ...]


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
        path = self.folder / (key + _SUFFIX)
        if not self.resume or not path.exists():
            return None
        try:
            found = _read(path.read_bytes(), key)
        except (OSError, ValueError):
            self._say("resume: a kept file is damaged or not of divulge; it was skipped and its test made again")
            return None
        self.names.add(key)
        return found

    def put(self, key: str, kept: Checkpoint) -> None:
        """Write the results of a test. A full disk does not stop the run; the test is not kept then."""
        try:
            handle, temporary = tempfile.mkstemp(suffix=_UNFINISHED, dir=self.folder)
            with os.fdopen(handle, "wb") as file:
                file.write(_written(kept, key))
            os.replace(temporary, self.folder / (key + _SUFFIX))
        except (OSError, pickle.PicklingError, TypeError, AttributeError) as error:  # no space; no result of ours
            why = getattr(error, "strerror", None) or type(error).__name__
            self._say(f"keep: a test could not be kept ({why}); --resume would make it again")
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
    for path in folder.iterdir():
        if path.suffix in (_SUFFIX, _UNFINISHED):
            path.unlink(missing_ok=True)
    if not any(folder.iterdir()):
        folder.rmdir()


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


# ---------------------------------------------------------------- one file


def _written(kept: Checkpoint, key: str) -> bytes:
    """Return the bytes of a test's file: a header, the digest of key and content, the content."""
    content = zlib.compress(pickle.dumps(tuple(kept), protocol=4), level=1)
    return _HEAD + _digest(key, content) + content


def _read(file: bytes, key: str) -> Checkpoint:
    """Return the content of a file, or raise a `ValueError`."""
    head, digest, content = file[: len(_HEAD)], file[len(_HEAD) : len(_HEAD) + 32], file[len(_HEAD) + 32 :]
    if head != _HEAD or digest != _digest(key, content):
        raise ValueError("not a kept test, or a damaged one")
    try:
        found = _Unpickler(io.BytesIO(zlib.decompress(content))).load()
    except Exception as error:  # a pickle may fail in any way
        raise ValueError(f"not a kept test: {type(error).__name__}") from None
    match found:
        case (tuple(results), tuple(coded)) if _all(results, Result) and _all(coded, str):
            return Checkpoint(results, coded)
    raise ValueError("not a kept test: other content")


def _all(values: Sequence[Any], kind: type) -> bool:
    return all(isinstance(v, kind) for v in values)


def _digest(key: str, content: bytes) -> bytes:
    return hashlib.sha256(key.encode() + content).digest()


class _Unpickler(pickle.Unpickler):
    """Builds results, and refuses every name that is not in `_KNOWN`."""

    def find_class(self, module: str, name: str) -> Any:
        """Return a class by its exact name, so that "os.system" is refused even through one of our modules."""
        if (module, name) not in _KNOWN:
            raise pickle.UnpicklingError("a name that no result is made of")
        return super().find_class(module, name)
