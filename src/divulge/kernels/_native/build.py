"""Build the library of compiled loops from the C sources beside this file.

`python src/divulge/kernels/_native/build.py` builds it in place; pip does so through `hatch_build.py`. It needs nothing
but a C compiler: gcc or clang, or the one of the `ziglang` package.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.util import find_spec
from pathlib import Path

__all__ = ["FILE_NAME", "HERE", "build", "compilers", "digest", "file_name", "is_current", "levels", "working_compiler"]

HERE = Path(__file__).parent


def file_name(platform: str) -> str:
    """Return how the library is called on a platform, be it one of `sys.platform` or one of a wheel."""
    ends = {"win": ".dll", "darwin": ".dylib", "macosx": ".dylib"}
    return "divulge_kernels" + next((end for start, end in ends.items() if platform.startswith(start)), ".so")


FILE_NAME = file_name(sys.platform)

_FLAGS = (
    "-std=gnu11", "-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fno-strict-aliasing",
    "-fno-sanitize=undefined", "-fvisibility=hidden", "-Wall", "-Wextra", "-Wno-psabi", "-Wno-unknown-pragmas",
)  # fmt: skip
"""-fno-trapping-math only says that nobody reads the floating-point exception flags; no value changes."""
_SANITIZED = ("-O1", "-g", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer")

_V2 = ("-mssse3", "-msse4.1", "-msse4.2", "-mpopcnt")
_V3 = (*_V2, "-mavx", "-mavx2", "-mbmi", "-mbmi2", "-mfma", "-mf16c", "-mlzcnt", "-mmovbe")
_V4 = (*_V3, "-mavx512f", "-mavx512bw", "-mavx512cd", "-mavx512dq", "-mavx512vl")


def levels(machine: str | None = None) -> dict[str, tuple[str, ...]]:
    """Return the levels of processor that a library for this machine has, and their flags."""
    machine = machine or os.environ.get("DIVULGE_MACHINE") or platform.machine()
    if machine.lower() in {"x86_64", "amd64"}:
        return {"v2": _V2, "v3": _V3, "v4": _V4}
    return {"plain": ()}


def sources(folder: Path = HERE) -> list[Path]:
    """Return the C files, ordered by name."""
    return sorted(folder.glob("*.c"))


def digest(folder: Path = HERE) -> str:
    """Return a digest of all that the library is made from: the C files, the headers and this file."""
    out = hashlib.sha256()
    for path in [*sources(folder), *sorted(folder.glob("*.h")), folder / Path(__file__).name]:
        out.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return out.hexdigest()


def _made_from(folder: Path, sanitize: str = "") -> str:
    """Return what the library says of itself: the digest, its levels, and whether it is sanitized."""
    return " ".join([digest(folder), *levels(), *(["sanitized"] if sanitize else [])])


def is_current(folder: Path = HERE) -> bool:
    """Return whether the folder's library was made from its sources for this machine, so that it can stay."""
    path = folder / FILE_NAME
    # Looked up in the file first: a sanitized library, once loaded, ends the process.
    if not path.exists() or _made_from(folder).encode() + b"\0" not in path.read_bytes():
        return False
    try:
        ctypes.CDLL(str(path))
    except OSError:
        return False
    return True


def compilers() -> list[list[str]]:
    """Return the commands of C compilers that this machine has, the first one first; CC alone where it is set."""
    if asked := os.environ.get("CC", "").split():
        return [asked]
    found = [[path] for name in ("cc", "gcc", "clang") if (path := shutil.which(name))]
    if find_spec("ziglang") is not None:
        found.append([sys.executable, "-m", "ziglang", "cc"])
    return found


def working_compiler() -> list[str] | None:
    """Return the first compiler that makes a library of a small program with the standard headers; None without."""
    program = "#include <stdlib.h>\n#include <math.h>\nint divulge_try(int n) { return abs(n); }\n"
    for command in compilers():
        with tempfile.TemporaryDirectory() as place:
            source = Path(place, "try.c")
            source.write_text(program, encoding="utf-8")
            made = _run([*command, *_shared(), "-o", str(Path(place, FILE_NAME)), str(source)], Path(place))
            if made.returncode == 0:
                return command
    return None


def build(target: Path, compiler: list[str], sanitize: str = "") -> Path:
    """Compile the C files for each level of processor and link them to one library.

    Parameters
    ----------
    target
        Folder in which the library is put.
    compiler
        The command, as `working_compiler` gives it.
    sanitize
        With the compiler's checks of this name, "address,undefined" or "thread": slow, and needs gcc or clang.

    Raises
    ------
    RuntimeError
        The compiler refused a file; its words are in the message.
    """
    checks = [f"-fsanitize={sanitize}"] if sanitize else []
    flags = [*(f for f in _FLAGS if not (sanitize and "sanitize" in f)), *(_SANITIZED if sanitize else ()), *checks]
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        tasks, lowest = [], next(iter(levels().values()))
        for source in sources():
            if source.name == "cpu.c":
                tasks.append((source, place / "cpu.o", [*lowest, f'-DDIVULGE_SOURCES="{_made_from(HERE, sanitize)}"']))
                continue
            for level, machine in levels().items():
                tasks.append((source, place / f"{source.stem}_{level}.o", [*machine, f"-DDIVULGE_LEVEL={level}"]))

        def one(task: tuple[Path, Path, list[str]]) -> None:
            source, made, more = task
            _checked([*compiler, *flags, *_position(), *more, "-c", "-o", str(made), str(source)], place)

        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            list(pool.map(one, tasks))
        library = place / FILE_NAME
        objects = [str(made) for _, made, _ in tasks]
        _checked([*compiler, *_shared(), *checks, "-o", str(library), *objects, *_libraries()], place)
        moved = target / (FILE_NAME + f".{os.getpid()}")
        shutil.copyfile(library, moved)
        os.replace(moved, target / FILE_NAME)  # a process that has the old one loaded keeps it
    return target / FILE_NAME


def _position() -> list[str]:
    return [] if sys.platform == "win32" else ["-fPIC"]


def _shared() -> list[str]:
    return ["-shared", *_position()]


def _libraries() -> list[str]:
    return [] if sys.platform == "win32" else ["-lm"]


@cache
def _zig_cache() -> tempfile.TemporaryDirectory[str]:
    """Return the folder in which zig keeps what it makes of its own sources, as long as this process runs."""
    return tempfile.TemporaryDirectory()


def _run(command: list[str], place: Path) -> subprocess.CompletedProcess[str]:
    caches = ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR") if "ziglang" in command else ()
    surroundings = {**{name: _zig_cache().name for name in caches if name not in os.environ}, **os.environ}
    try:
        return subprocess.run(command, cwd=place, env=surroundings, capture_output=True, text=True, check=False)
    except OSError as e:
        return subprocess.CompletedProcess(command, 127, "", str(e))


def _checked(command: list[str], place: Path) -> None:
    made = _run(command, place)
    if made.returncode:
        raise RuntimeError(f"{' '.join(command)}\n{made.stderr}")
    if "warning:" in made.stderr:
        sys.stderr.write(made.stderr)


def main() -> None:
    """Build the library in place."""
    parser = argparse.ArgumentParser(description="Build the library of compiled loops in place.")
    parser.add_argument("--sanitize", default="", metavar="CHECKS", help="with address,undefined or thread")
    given = parser.parse_args()
    compiler = working_compiler()
    if compiler is None:
        raise SystemExit("no C compiler was found. hint: install gcc or clang, or `pip install ziglang`.")
    print(build(HERE, compiler, given.sanitize))


if __name__ == "__main__":
    main()
