"""Read a file that may be of any size: no more of it than it should have."""

from __future__ import annotations

from pathlib import Path

from divulge.core.errors import SettingError

__all__ = ["read_at_most"]

MEGABYTE = 1 << 20


def read_at_most(path: Path, megabytes: int, what: str) -> bytes:
    """Return the bytes of a file.

    Parameters
    ----------
    path
        The file; a device or a pipe is read up to the limit, too.
    megabytes
        The largest size, in units of 2**20 bytes.
    what
        The word for the file at the start of a message.

    Raises
    ------
    SettingError
        The file is larger.
    OSError
        It cannot be read.

    Examples
    --------
    >>> read_at_most(Path("/dev/zero"), 1, "policy")
    Traceback (most recent call last):
    divulge.core.errors.SettingError: policy: larger than 1 MB. hint: name the file that divulge wrote or you edited.
    """
    with path.open("rb") as file:
        content = file.read(megabytes * MEGABYTE + 1)
    if len(content) > megabytes * MEGABYTE:
        raise SettingError(f"{what}: larger than {megabytes} MB. hint: name the file that divulge wrote or you edited.")
    return content
