"""Run the tests of the kernels on a library built with the compiler's sanitizers.

    python tests/sanitize.py [arguments of pytest]            AddressSanitizer and UndefinedBehaviorSanitizer
    python tests/sanitize.py --threads [arguments of pytest]  ThreadSanitizer: loops that write where another one reads

Both need gcc and take some minutes. The library in the source tree is replaced meanwhile and built again at the end.
"""

import os
import subprocess
import sys
from pathlib import Path

from divulge.kernels._native.build import HERE, build, working_compiler

ROOT = Path(__file__).parent.parent
MEMORY = {
    # leaks: Python keeps much until it ends; null: what does not fit is a MemoryError, as without the sanitizer
    "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
}
THREADS = {
    # what Python and numpy do is not recorded: only their locks are seen, so only the loops are compared
    "TSAN_OPTIONS": "halt_on_error=1:exitcode=66:ignore_noninstrumented_modules=1:allocator_may_return_null=1",
}
CHECKS = {
    "address,undefined": (("libasan.so", "libubsan.so"), MEMORY, []),
    "thread": (("libtsan.so",), THREADS, ["setarch", "-R"]),  # ThreadSanitizer wants memory where it expects it
}
# a sanitized library is never one that may stay in place
LEFT_OUT = "tests/kernels/test_native_library.py::test_a_library_stays_where_its_sources_did_not_change"


def main() -> int:
    given = sys.argv[1:]
    checks = "thread" if "--threads" in given else "address,undefined"
    libraries, options, before = CHECKS[checks]
    compiler = working_compiler()
    if compiler is None:
        raise SystemExit("no C compiler was found. hint: install gcc.")
    preloaded = [
        subprocess.run(
            [*compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=True
        ).stdout.strip()
        for name in libraries
    ]
    surroundings = {**os.environ, **options, "LD_PRELOAD": " ".join(preloaded), "PYTHONMALLOC": "malloc"}
    tests = [one for one in given if one != "--threads"] or ["tests/kernels"]
    command = [*before, sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider", "--deselect", LEFT_OUT, *tests]
    try:
        build(HERE, compiler, sanitize=checks)
        return subprocess.run(command, cwd=ROOT, env=surroundings, check=False).returncode
    finally:
        build(HERE, compiler)


if __name__ == "__main__":
    sys.exit(main())
