"""The process that trains a Python generator once: `python -m divulge.auditing.worker FOLDER`.

The folder has the generator and the training table, pickled by divulge itself. The synthetic table goes into it as
Arrow, under a temporary name first; what divulge may repeat of an error goes into `told.txt`, its message to the log.
"""

from __future__ import annotations

import os
import pickle
import sys
import traceback
from dataclasses import dataclass
from multiprocessing import spawn
from pathlib import Path
from typing import Any

from divulge.core.errors import DivulgeError

__all__ = ["ARROW", "PREPARING", "TOLD", "Pickled", "main", "pickled", "preparation"]

PREPARING = "DIVULGE_PREPARING"
"""Environment variable that is set while the script of the generator is imported."""
TOLD, ARROW = "told.txt", "synthetic.arrow"
_GENERATOR, _TABLE = "generator.pkl", "train.pkl"


@dataclass(frozen=True, slots=True)
class Pickled:
    """A generator that another process can read."""

    generator: bytes
    of_script: bool
    """Whether the process must import the script that runs here, in which the generator is defined."""


def pickled(generator: Any) -> Pickled | None:
    """Return a generator for another process; None where it holds what no process can get, such as an open file.

    Functions of a module or a script go by their name. What has none, as a lambda, or was typed into a session or a
    notebook, goes by value, as joblib sends it.
    """
    script = getattr(sys.modules.get("__main__"), "__file__", None)
    try:
        by_name = pickle.dumps(generator)
    except Exception:  # whatever an object's own pickling raises
        return _by_value(generator)
    of_script = b"__main__" in by_name
    if of_script and (script is None or not Path(script).is_file()):
        return _by_value(generator)
    return Pickled(by_name, of_script)


def _by_value(generator: Any) -> Pickled | None:
    from joblib import wrap_non_picklable_objects

    try:
        return Pickled(pickle.dumps(wrap_non_picklable_objects(generator, keep_wrapper=False)), of_script=False)
    except Exception:
        return None


def preparation(folder: Path, generator: Pickled, table: Any, seed: int, rows: int) -> None:
    """Write what the process needs into its folder."""
    prepared = spawn.get_preparation_data("divulge audit")
    del prepared["authkey"]  # no connection between the processes
    if not generator.of_script:
        prepared = {k: v for k, v in prepared.items() if not k.startswith("init_main")}
    with open(folder / _TABLE, "wb") as file:
        pickle.dump((prepared, table, seed, rows), file)
    (folder / _GENERATOR).write_bytes(generator.generator)


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
    except Exception as error:  # whatever a user's generator raises; its message may hold data values
        traceback.print_exc()
        (folder / TOLD).write_text(f"raised {type(error).__name__}", encoding="utf-8")
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
