"""Run the tests of the kernels on a library built with AddressSanitizer and UndefinedBehaviorSanitizer.

    python tests/sanitize.py [arguments of pytest]      needs gcc; some minutes

The library in the source tree is replaced meanwhile and built again at the end.
"""

import os
import subprocess
import sys
from pathlib import Path

from divulge.kernels._native.build import HERE, build, working_compiler

ROOT = Path(__file__).parent.parent


def main() -> int:
    compiler = working_compiler()
    if compiler is None:
        raise SystemExit("no C compiler was found. hint: install gcc.")
    preloaded = [
        subprocess.run(
            [*compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=True
        ).stdout.strip()
        for name in ("libasan.so", "libubsan.so")
    ]
    surroundings = {
        **os.environ,
        "LD_PRELOAD": " ".join(preloaded),
        # leaks: Python keeps much until it ends; null: what does not fit is a MemoryError, as without the sanitizer
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
        "PYTHONMALLOC": "malloc",
    }
    # a sanitized library is never one that may stay in place
    left_out = "test_native_library.py::test_a_library_stays_where_its_sources_did_not_change"
    command = [sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider", "--deselect", f"tests/kernels/{left_out}",
               *(sys.argv[1:] or ["tests/kernels"])]  # fmt: skip
    try:
        build(HERE, compiler, sanitize=True)
        return subprocess.run(command, cwd=ROOT, env=surroundings, check=False).returncode
    finally:
        build(HERE, compiler)


if __name__ == "__main__":
    sys.exit(main())
