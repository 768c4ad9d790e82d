"""The process that trains a Python generator once: `python -m divulge.auditing.worker FOLDER`.

The folder has the generator and the training table, pickled by divulge itself. The synthetic table goes into it as
Arrow, under a temporary name first; what divulge may repeat of an error goes into `told.txt`.
"""

from __future__ import annotations

import os
import pickle
import sys
from multiprocessing import spawn
from pathlib import Path
from typing import Any

from divulge.core.errors import DivulgeError

__all__ = ["ARROW", "PREPARING", "TOLD", "main", "preparation", "with_main"]

PREPARING = "DIVULGE_PREPARING"
"""Environment variable that is set while the script of the generator is imported."""
TOLD, ARROW = "told.txt", "synthetic.arrow"
_GENERATOR, _TABLE = "generator.pkl", "train.pkl"


def with_main(generator: Any) -> bytes | None:
    """Return a generator pickled so that another process can read it; None where it cannot.

    A function that was typed into a session or a notebook cannot: no other process finds it.
    """
    try:
        pickled = pickle.dumps(generator)
    except Exception:  # whatever an object's own pickling raises
        return None
    script = getattr(sys.modules.get("__main__"), "__file__", None)
    typed_in = script is None or not Path(script).is_file()
    return None if typed_in and b"__main__" in pickled else pickled


def preparation(folder: Path, generator: bytes, table: Any, seed: int, rows: int) -> None:
    """Write what the process needs into its folder."""
    prepared = spawn.get_preparation_data("divulge audit")
    del prepared["authkey"]  # no connection between the processes
    with open(folder / _TABLE, "wb") as file:
        pickle.dump((prepared, table, seed, rows), file)
    (folder / _GENERATOR).write_bytes(generator)


def main(folder: Path) -> int:
    """Train the generator of a folder, and return the exit status."""
    from divulge.auditing.adapters import synthesize

    with open(folder / _TABLE, "rb") as file:
        prepared, table, seed, rows = pickle.load(file)
    try:
        made = synthesize(_generator(folder, prepared), table, seed, rows)
    except DivulgeError as error:
        (folder / TOLD).write_text(str(error), encoding="utf-8")
        return 1
    unfinished = folder / f"{ARROW}.part"
    made.named().write_ipc(unfinished)
    unfinished.replace(folder / ARROW)
    return 0


def _generator(folder: Path, prepared: Any) -> Any:
    """Return the generator; its script is imported as `multiprocessing` does it."""
    os.environ[PREPARING] = "1"
    try:
        spawn.prepare(prepared)
        return pickle.loads((folder / _GENERATOR).read_bytes())
    finally:
        del os.environ[PREPARING]


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
