"""Small faults put into the code one by one, each with the test that is to fail: `python tests/mutants.py`.

    python tests/mutants.py                    all of them, some minutes
    python tests/mutants.py --only stats       those with this in their name
    python tests/mutants.py --list             names, and what each breaks

The faults are in `faults/`: name, what breaks, text, what stands there instead, tests. A fault is put where its text
stands in `src/divulge` (*.py and *.j2), which must be one place: code may move from file to file. This checkout is not
touched; all runs are in a copy of it. A fault is killed where pytest names a test that fails, and the tests pass without
a fault before all runs and after them: a full disk fails everything. The status is 1 where a fault is not killed.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
FAULTS = sorted((ROOT / "tests" / "faults").glob("*.toml"))
LIMIT = 180
"""Seconds of one run, after which a fault is killed, too: without it the test takes a few."""
ALL_TESTS = 1800
"""Seconds of the tests of all faults, without one."""
NOT_COPIED = shutil.ignore_patterns(".git", ".venv*", "venv", "site", ".hypothesis", ".*_cache", "__pycache__")
PASSED, FAILED = 0, 1
NAMED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.M)
TIME_IS_UP = "FAILED time is up"


class Fault(NamedTuple):
    """One entry of a file of faults."""

    name: str
    breaks: str
    old: str
    new: str
    test: str
    """One test or several, with blanks between."""

    def tests(self) -> list[str]:
        return self.test.split()


def faults() -> list[Fault]:
    found = [tomllib.loads(path.read_text(encoding="utf-8")) for path in FAULTS]
    return [Fault(name, **entry) for entries in found for name, entry in entries.items()]


def places(source: Path, text: str) -> list[Path]:
    """Return the files with a text, each as often as the text stands there."""
    files = sorted(path for ending in ("py", "j2") for path in source.rglob(f"*.{ending}"))
    return [path for path in files for _ in range(path.read_bytes().decode().count(text))]


def run(copy: Path, tests: list[str], limit: float = LIMIT) -> tuple[int, str]:
    """Return status and output of pytest on some tests in a copy; the status is that of a failure where time is up."""
    own = {"PYTHONPATH": str(copy / "src"), "CI": "1"}  # hypothesis draws the same examples each time
    given = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", *tests]
    try:
        done = subprocess.run(given, cwd=copy, env=os.environ | own, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return FAILED, TIME_IS_UP
    return done.returncode, done.stdout + done.stderr


def tried(fault: Fault, copy: Path) -> tuple[str, str]:
    """Return how a fault ended, and the file it was in and the test that failed."""
    source = copy / "src" / "divulge"
    found = places(source, fault.old)
    if len(found) != 1 or fault.old == fault.new:
        return "does not apply", f"its text stands in {len(found)} places"
    (path,) = found
    whole, times = path.read_bytes(), path.stat()
    try:
        # its own time: Python takes compiled code of another version for this one if second and size are the same
        path.write_bytes(whole.decode().replace(fault.old, fault.new).encode())
        status, out = run(copy, fault.tests())
    finally:
        path.write_bytes(whole)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    file, failed = str(path.relative_to(source)), NAMED.search(out)
    if status == PASSED:
        return "SURVIVED", f"{file}  [{fault.test}]"
    if status != FAILED or not failed:
        return "no answer", f"{file}  pytest ended with status {status} and names no test: {out.strip()[-200:]}"
    return "killed", f"{file}  [{failed[1]}]"


def without_faults(chosen: list[Fault], copy: Path) -> bool:
    """Return whether all tests pass in the copy as it is, and are tests of the copy; say what fails otherwise."""
    status, out = run(copy, ["--co", "-qq", "tests/test_floors.py"])
    asked = [sys.executable, "-c", "import divulge; print(divulge.__file__)"]
    home = subprocess.run(asked, cwd=copy, env=os.environ | {"PYTHONPATH": str(copy / "src")}, capture_output=True)
    if status == PASSED and not home.stdout.decode().startswith(str(copy)):
        status, out = FAILED, f"divulge is taken from {home.stdout.decode()}"
    if status == PASSED:
        status, out = run(copy, list(dict.fromkeys(test for fault in chosen for test in fault.tests())), ALL_TESTS)
    if status != PASSED:
        print(out[-3000:], "\nThe tests do not pass without a fault.", sep="")
    return status == PASSED


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--only", action="append", metavar="NAME", help="faults with this in their name; may be repeated"
    )
    parser.add_argument("--list", action="store_true", help="list the faults and run nothing")
    given = parser.parse_args()
    chosen = [fault for fault in faults() if not given.only or any(part in fault.name for part in given.only)]
    if given.list or not chosen:
        for fault in chosen:
            print(f"{fault.name:34} {fault.breaks}  [{fault.test}]")
        return 0 if chosen else 1
    ends = []
    with tempfile.TemporaryDirectory(prefix="mutants.") as folder:
        copy = Path(folder).resolve() / "divulge"
        shutil.copytree(ROOT, copy, ignore=NOT_COPIED, symlinks=True)
        if not without_faults(chosen, copy):
            return 1
        for fault in chosen:
            began = time.perf_counter()
            end, where = tried(fault, copy)
            ends.append(end)
            print(f"{end:14} {time.perf_counter() - began:5.1f} s  {fault.name:28} {where}", flush=True)
        if not without_faults(chosen, copy):
            return 1
    times = {end: ends.count(end) for end in ("killed", "SURVIVED", "does not apply", "no answer")}
    print(f"{len(ends)} faults: {', '.join(f'{n} {end}' for end, n in times.items())}")
    return int(times["killed"] < len(ends))


if __name__ == "__main__":
    sys.exit(main())
