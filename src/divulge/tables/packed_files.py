"""Compressed files of text: gzip, Zstandard, bzip2, xz, and zip with one file inside."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
from pathlib import Path
from typing import IO, Any, Literal, cast

from divulge.core.errors import DivulgeError, FrameError, TableError
from divulge.core.memory import most_read

__all__ = ["PACKED", "Packing", "opened_packed", "packing_of", "unpacked", "without_packing"]

Packing = Literal["", "gz", "zst", "bz2", "xz", "zip"]

PACKED = (".gz", ".zst", ".bz2", ".xz", ".zip")
_NAMES = {"gz": "gzip", "zst": "Zstandard", "bz2": "bzip2", "xz": "xz", "zip": "zip"}
_MAGIC: dict[bytes, Packing] = {b"\x1f\x8b": "gz", b"\x28\xb5\x2f\xfd": "zst", b"\xfd7zXZ\0": "xz"}
"""First bytes that no text begins with, so that a file is read whatever its name."""
_STARTS = {"gz": b"\x1f\x8b", "zst": b"\x28\xb5\x2f\xfd", "bz2": b"BZh", "xz": b"\xfd7zXZ\0", "zip": b"PK"}

_LEAST = 1 << 28  # bytes of text that any file may hold
_RATIO = 2000  # gzip reaches 1,032; others reach millions on text that says nothing
_STEP = 1 << 20


def packing_of(path: Path) -> Packing:
    """Return how the name of a file says that it is compressed; "" where it does not.

    Examples
    --------
    >>> packing_of(Path("people.csv.zst")), packing_of(Path("people.csv"))
    ('zst', '')
    """
    suffix = path.suffix.lower()
    return cast(Packing, suffix[1:]) if suffix in PACKED else ""


def without_packing(path: Path, where: str) -> str:
    """Return the name of the file that is compressed, in small letters: that of the path, or the one inside zip.

    Raises
    ------
    TableError
        A zip file is damaged, or has no file inside or several.
    """
    name, packing = path.name.lower(), packing_of(path)
    if packing != "zip":
        return name.removesuffix(f".{packing}") if packing else name
    try:
        with zipfile.ZipFile(path) as archive:
            return _only(archive, where).filename.rpartition("/")[2].lower()
    except (DivulgeError, MemoryError):
        raise
    except Exception:
        raise _damaged(where, "zip") from None


def _only(archive: zipfile.ZipFile, where: str) -> zipfile.ZipInfo:
    """Return the file in a zip file; what systems put beside it is passed over."""
    inside = [
        info
        for info in archive.infolist()
        if not info.is_dir() and not info.filename.startswith("__MACOSX/") and not _hidden(info.filename)
    ]
    if len(inside) != 1:
        what = f"{len(inside)} files" if inside else "no file"
        raise TableError(f"{where}: the zip file has {what} inside, not one. hint: unpack it, and name the table.")
    return inside[0]


def _hidden(name: str) -> bool:
    return name.rpartition("/")[2].startswith(".")


def opened_packed(file: IO[bytes], packing: Packing, where: str) -> IO[bytes]:
    """Return the text of a compressed file as a stream; reading it raises an error of its package where it is damaged.

    Raises
    ------
    FrameError
        Zstandard without a package that reads it.
    TableError
        A zip file has not one file inside.
    """
    if packing == "gz":
        return cast(IO[bytes], gzip.GzipFile(fileobj=file))
    if packing == "bz2":
        return bz2.BZ2File(file)
    if packing == "xz":
        return lzma.LZMAFile(file)
    if packing == "zip":
        archive = zipfile.ZipFile(file)
        return archive.open(_only(archive, where))
    return _zstandard(file, where) if packing == "zst" else file


def _zstandard(file: IO[bytes], where: str) -> IO[bytes]:
    reader: Any
    try:
        from compression import zstd  # type: ignore[import-not-found, unused-ignore]  # Python 3.14

        reader = zstd.ZstdFile(file)
    except ModuleNotFoundError:
        try:
            import zstandard  # type: ignore[import-not-found, unused-ignore]

            reader = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
        except ModuleNotFoundError:
            try:
                import pyarrow

                reader = pyarrow.CompressedInputStream(pyarrow.PythonFile(file, mode="r"), "zstd")
            except ModuleNotFoundError:
                raise FrameError(
                    f"{where}: Zstandard needs one more package. hint: pip install zstandard, or unpack the file."
                ) from None
    return cast(IO[bytes], reader)


def unpacked(data: bytes, packing: Packing, where: str) -> bytes:
    """Return the bytes of a text file, compressed or not.

    Parameters
    ----------
    packing
        How its name says that it is compressed. Bytes that show it themselves are unpacked whatever the name.

    Raises
    ------
    TableError
        It is damaged or not compressed so, has not one file inside, or holds far more than its size lets expect.
    FrameError
        Zstandard without a package that reads it.
    """
    if packing and not data.startswith(_STARTS[packing]):
        raise TableError(
            f"{where}: the name ends in .{packing}, and the file is not {_NAMES[packing]}. hint: rename it."
        )
    packing = packing or next((kind for magic, kind in _MAGIC.items() if data.startswith(magic)), "")
    if not packing:
        return data
    most = _most(len(data))
    parts: list[bytes] = []
    try:
        with opened_packed(io.BytesIO(data), packing, where) as stream:
            while part := stream.read(_STEP):
                parts.append(part)
                if len(parts) * _STEP > most and sum(map(len, parts)) > most:
                    raise TableError(
                        f"{where}: it unpacks to more than {most >> 20:,} MB, for which there is no memory, or which "
                        "is far more than its size lets expect. hint: unpack it, and look at it first."
                    )
    except (DivulgeError, MemoryError):
        raise
    except Exception:  # each package has errors of its own
        raise _damaged(where, packing) from None
    return b"".join(parts)


def _most(size: int) -> int:
    """Return how many bytes a compressed file may unpack to: within its size's ratio, and half of the free memory."""
    most, expected = most_read(), max(_LEAST, _RATIO * size)
    return expected if most is None else min(expected, most)


def _damaged(where: str, packing: str) -> TableError:
    return TableError(
        f"{where}: the {_NAMES[packing]} file is cut off or damaged, or has a password. hint: compress it again."
        if packing == "zip"
        else f"{where}: the {_NAMES[packing]} file is cut off or damaged. hint: compress it again."
    )
