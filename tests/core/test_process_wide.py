"""Contexts of the process that several threads are in at a time."""

import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from divulge.core import process_wide
from divulge.core.process_wide import _Shared, large_arrays_apart, one_thread, quiet, return_memory


def n_threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def overlapping(context, look):
    """What two threads see, of which the first leaves while the second, who came later, is still inside."""
    came, first_left = threading.Event(), threading.Event()

    def first():
        with context():
            assert came.wait(10)
        first_left.set()

    def second():
        with context():
            came.set()
            assert first_left.wait(10)
            return look()

    with ThreadPoolExecutor(2) as pool:
        one, two = pool.submit(first), pool.submit(second)
        one.result(20)
        return two.result(20)


def test_linear_algebra_has_one_thread():
    assert np.ones((2, 2)) @ np.ones(2) is not None  # the library is loaded
    with threadpool_limits(3, user_api="blas"):
        assert n_threads() == {3}
        with one_thread():
            assert n_threads() == {1}
            with one_thread():
                pass
            assert n_threads() == {1}
        assert n_threads() == {3}


@pytest.mark.slow
def test_a_run_has_all_libraries_before_threads_are_limited_and_leaves_f2py_alone():
    """In a process of its own: here others may have loaded them."""
    program = (
        "import sys, divulge.run.making.runner; from threadpoolctl import threadpool_info\n"
        "before = {p['filepath'] for p in threadpool_info()}\n"
        "assert 'numpy.f2py.crackfortran' not in sys.modules\n"
        "import scipy.linalg\n"
        "assert {p['filepath'] for p in threadpool_info()} == before != set()\n"
        "import numpy.f2py; assert numpy.f2py.get_include() and 'numpy.f2py.crackfortran' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_warnings_are_silent_until_the_last_has_left():
    def shown():
        with warnings.catch_warnings(record=True) as caught:
            warnings.warn("seen", UserWarning, stacklevel=1)
        return [str(w.message) for w in caught]

    before = list(warnings.filters)
    with warnings.catch_warnings(action="always"):
        outside = list(warnings.filters)
        assert shown() == ["seen"]
        assert overlapping(quiet, shown) == []
        assert list(warnings.filters) == outside
        assert shown() == ["seen"]
    assert list(warnings.filters) == before


def test_an_error_leaves_it():
    left = []

    @contextmanager
    def context():
        yield
        left.append("left")

    shared = _Shared(context)
    for _ in range(2):
        try:
            with shared():
                raise ZeroDivisionError
        except ZeroDivisionError:
            pass
    assert left == ["left", "left"]


def test_memory_is_returned_where_the_library_can(monkeypatch):
    asked = []
    monkeypatch.setattr(process_wide, "_of_library", lambda name: lambda *given: asked.append((name, *given)))
    return_memory()
    large_arrays_apart()
    assert asked == [("malloc_trim", 0), ("mallopt", -3, 2**22)]
    monkeypatch.setattr(process_wide, "_of_library", lambda name: None)
    return_memory()
    large_arrays_apart()


linux_with_glibc = pytest.mark.skipif(
    not Path("/proc/self/status").exists() or process_wide._of_library("malloc_trim") is None,
    reason="Linux with glibc",
)


@linux_with_glibc
def test_freed_memory_is_the_systems_again():
    """What small arrays leave behind an array that stays is kept by the library until it is asked."""

    def resident():
        line = next(r for r in Path("/proc/self/status").read_text().splitlines() if r.startswith("VmRSS"))
        return int(line.split()[1]) * 1024

    arrays = [np.ones(8_000) for _ in range(600)]  # 38 MB, each too small to be mapped alone
    last = arrays.pop()
    del arrays
    before = resident()
    return_memory()
    assert resident() < before - 20_000_000
    assert last.all()


FREED = """
import sys
from pathlib import Path
import numpy as np
from divulge.core.process_wide import large_arrays_apart

def resident():
    line = next(r for r in Path("/proc/self/status").read_text().splitlines() if r.startswith("VmRSS"))
    return int(line.split()[1]) * 1024

if sys.argv[1] == "apart":
    large_arrays_apart()
np.ones(3_900_000)  # 31 MB: up to this size glibc maps no array on its own from now on
arrays = [np.ones(1_000_000) for _ in range(20)]
last, before = arrays.pop(), resident()
del arrays
print(before - resident())
"""


@linux_with_glibc
@pytest.mark.parametrize(("how", "is_returned"), [("apart", True), ("as ever", False)])
def test_large_arrays_go_when_they_are_freed(how, is_returned):
    found = subprocess.run([sys.executable, "-c", FREED, how], capture_output=True, text=True, check=True)
    assert (int(found.stdout) > 140_000_000) == is_returned, found.stdout
