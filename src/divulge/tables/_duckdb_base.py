"""Connections to DuckDB that divulge opens: what they read, where they write, and how much memory they take.

A view in a file, or the name of a table, may name any other file or address. So a connection reads the files that the
user named, writes into a private folder, and reaches neither the network nor extensions, which run code of their own.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from divulge.core.errors import FrameError
from divulge.core.memory import room_left
from divulge.core.private_folders import PrivateFolder

__all__ = ["base_in_memory", "base_of", "engine_of", "literal", "spilling_into"]

_LEAST = 2**28  # bytes of memory without which DuckDB can hardly work
_THREAD = 2**27  # of each of its threads, about
_OURS = {
    "custom_user_agent": "divulge",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
"""Settings of the connections that divulge opens. DuckDB refuses them where somebody else has the file open in this
process: the settings there are theirs."""

_named: ContextVar[Path | None] = ContextVar("divulge_spill", default=None)
_folders: list[PrivateFolder] = []
"""That of this process, last."""
_numbers = itertools.count()


def engine_of(where: str) -> Any:
    """Return the module of DuckDB; a FrameError where it is not installed, or not pyarrow, in which it answers."""
    try:
        import duckdb
        import pyarrow  # noqa: F401
    except ModuleNotFoundError:
        raise FrameError(f"{where}: DuckDB needs an extra. hint: pip install 'divulge[duckdb]' pyarrow.") from None
    return duckdb


def base_in_memory(where: str, files: Sequence[str] = ()) -> Any:
    """Return a new connection that reads these files alone; `files` are their paths, and patterns for them."""
    return _closed(engine_of(where).connect(config=_OURS), files, ())


def base_of(file: Path, where: str, folders: Sequence[Path] = ()) -> Any:
    """Return a connection to a DuckDB file, which is read, and whose views read files of these folders alone.

    Where the user has the file open in this process, its settings are the user's and stay as they are.
    """
    duckdb = engine_of(where)
    try:
        base = duckdb.connect(str(file), read_only=True, config=_OURS)
    except duckdb.ConnectionException:
        return duckdb.connect(str(file), read_only=True)
    # two tables of one file share a base
    return _closed(base, (), folders) if _setting(base, "enable_external_access") else base


@contextmanager
def spilling_into(folder: Path) -> Iterator[None]:
    """Have connections that are opened meanwhile write what does not fit into memory to a folder."""
    token = _named.set(folder)
    try:
        yield
    finally:
        _named.reset(token)


def _closed(base: Any, files: Sequence[str], folders: Sequence[Path]) -> Any:
    """Return a connection that nobody else uses, set to read some files, to take part of the memory, and to spill.

    What does not fit goes to a private folder, which is removed at the end: by default DuckDB writes beside the
    database or into the working folder. By default it also takes four fifths of the machine's memory.
    """
    spill = _spill()
    settings = {"temp_directory": literal(spill)}
    if (most := _memory()) is not None:
        # a thread that has too little for its buffers fails where fewer would spill
        threads = min(int(_setting(base, "threads")), max(1, most // _THREAD))
        settings |= {"memory_limit": f"'{most >> 20}MiB'", "threads": str(threads)}
    settings |= {
        "preserve_insertion_order": "false",
        "python_enable_replacements": "false",  # a name is no variable of Python
        "allowed_paths": _list(files),
        "allowed_directories": _list([spill, *(str(f.absolute()) for f in folders)]),
        "enable_external_access": "false",  # the last: nothing above can be set after it
    }
    for name, value in settings.items():
        base.execute(f"set {name}={value}")
    return base


def _setting(base: Any, name: str) -> Any:
    return base.execute(f"select current_setting('{name}')").fetchone()[0]


def _memory() -> int | None:
    """Return the bytes that DuckDB may take: half of what is free, as the answers come here; None where it is unknown.

    Of several bases one is asked at a time.
    """
    there = room_left()
    return None if there is None else max(_LEAST, there.free // 2)


def _spill() -> str:
    """Return the folder of one connection: those of two may have the same name."""
    if (parent := _named.get()) is None:
        if not _folders or not _folders[-1].remove.alive:  # it goes with all private folders
            _folders.append(PrivateFolder("divulge-"))
        parent = _folders[-1].path
    return str(parent / f"duckdb{next(_numbers)}")


def _list(texts: Sequence[str]) -> str:
    return f"[{', '.join(map(literal, texts))}]"


def literal(text: str) -> str:
    """Return a text as SQL writes it.

    Examples
    --------
    >>> literal("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"
