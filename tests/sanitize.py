"""Run the tests of the kernels on a library built with the compiler's sanitizers.

    python tests/sanitize.py [arguments of pytest]            AddressSanitizer and UndefinedBehaviorSanitizer
    python tests/sanitize.py --threads [arguments of pytest]  ThreadSanitizer: loops that write where another one reads

Both need gcc and take some minutes. The library in the source tree is replaced meanwhile and built again at the end.
polars does not start under ThreadSanitizer, so tests that use it are skipped there.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from divulge.kernels._native.build import HERE, build, working_compiler

ROOT = Path(__file__).parent.parent
MEMORY = {
    # leaks: Python keeps much until it ends; null: what does not fit is a MemoryError, as without the sanitizer
    "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
}
THREADS = {
    # of Python and numpy only the locks are seen, so that loops are compared with loops
    "TSAN_OPTIONS": "halt_on_error=1:exitcode=66:ignore_noninstrumented_modules=1:allocator_may_return_null=1",
}
NO_POLARS = """
def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    import pytest
    pytest.skip("polars", allow_module_level=True)
"""
# a sanitized library is never one that may stay in place
LEFT_OUT = "tests/kernels/test_native_library.py::test_a_library_stays_where_its_sources_did_not_change"


def main() -> int:
    given = [one for one in sys.argv[1:] if one != "--threads"] or ["tests/kernels"]
    threads = "--threads" in sys.argv
    compiler = working_compiler()
    if compiler is None:
        raise SystemExit("no C compiler was found. hint: install gcc.")
    libraries = ("libtsan.so",) if threads else ("libasan.so", "libubsan.so")
    preloaded = [
        subprocess.run(
            [*compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=True
        ).stdout.strip()
        for name in libraries
    ]
    # CI: hypothesis sets no deadlines
    surroundings = {**os.environ, "LD_PRELOAD": " ".join(preloaded), "PYTHONMALLOC": "malloc", "CI": "true"}
    command = [sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider", "--deselect", LEFT_OUT, *given]
    with tempfile.TemporaryDirectory() as place:
        if threads:
            Path(place, "polars.py").write_text(NO_POLARS, encoding="utf-8")
            places = [place, str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")]
            surroundings |= THREADS | {"PYTHONPATH": os.pathsep.join(filter(None, places))}
            # memory must lie where ThreadSanitizer expects it; conftest.py has frames
            command = ["setarch", "-R", *command, "--noconftest"]
        else:
            surroundings |= MEMORY
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"):  # pytest would swallow what they print
            surroundings[name] = f"{surroundings.get(name, '')}:log_path={place}/found"
        try:
            build(HERE, compiler, sanitize="thread" if threads else "address,undefined")
            ended = subprocess.run(command, cwd=ROOT, env=surroundings, check=False).returncode
        finally:
            build(HERE, compiler)
        for path in Path(place).glob("found*"):
            print(path.read_text(encoding="utf-8", errors="replace"))
        return ended


if __name__ == "__main__":
    sys.exit(main())
