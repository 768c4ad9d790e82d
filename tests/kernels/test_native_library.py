"""The library of compiled loops: found or not, fresh or stale, and what it refuses."""

import os
import shutil
import subprocess
import sys
import warnings

import numpy as np
import pytest
from test_counting_loops import fields

from divulge.kernels import _box_tree, runtime
from divulge.kernels._native import build, library
from divulge.kernels.neighbours import _brute_force, _left_out, left_out_blocks
from divulge.kernels.neighbours.gower import Field, fit_ruler
from divulge.kernels.neighbours.index import Index

STRUCTS = [
    ("box_tree.h", "tree_t", _box_tree.TREE),
    ("box_tree.h", "box_queries_t", _box_tree.BOX_QUERIES),
    ("box_tree.c", "rows_t", _box_tree._ROWS),
    ("neighbours.h", "exact_t", _box_tree.EXACT),
    ("neighbours.h", "asked_t", _box_tree.ASKED),
    ("neighbours.h", "pairs_t", _box_tree.PAIRS),
    ("brute_force.c", "tiles_t", _brute_force.TILES),
    ("leave_one_out.h", "left_out_t", _left_out.LEFT_OUT),
    ("leave_one_out.h", "asking_t", _left_out.ASKING),
    ("left_out_votes.h", "answers_t", _left_out.ANSWERS),
    ("left_out_blocks.c", "carried_t", left_out_blocks._CARRIED_SO_FAR),
    ("left_out_blocks.c", "following_t", left_out_blocks._FOLLOWING),
]


def people(n=300, seed=0):
    rng = np.random.default_rng(seed)
    marks = np.zeros(n, np.int32), np.zeros(n, np.int32)
    columns = [Field("x", (rng.random(n), rng.random(n)), marks)]
    columns += [Field(f"c{j}", None, tuple(rng.integers(0, 4, n).astype(np.int32) for _ in range(2))) for j in range(3)]
    return fit_ruler(columns, [0])


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A copy of the folder of the library, from which it is loaded anew."""
    shutil.copytree(build.HERE, tmp_path / "native")
    monkeypatch.setattr(library, "HERE", tmp_path / "native")
    monkeypatch.delenv("DIVULGE_CPU", raising=False)
    library._loaded.cache_clear()
    yield tmp_path / "native"
    library._loaded.cache_clear()


@pytest.mark.parametrize(("file", "name", "declared"), STRUCTS, ids=[s[1] for s in STRUCTS])
def test_structs_of_the_search_have_the_fields_of_c_in_its_order(file, name, declared):
    assert fields((build.HERE / file).read_text(encoding="utf-8"), name) == list(declared._kinds)


def test_a_checkout_without_library_works_and_says_so_once(place, monkeypatch):
    monkeypatch.setattr(runtime, "_told", [])
    ruler, (a, b) = people()
    found = Index(ruler, a).nearest(b)
    (place / build.FILE_NAME).unlink()
    library._loaded.cache_clear()
    assert not library.available()
    assert "without a C compiler" in library.why_absent()
    monkeypatch.setattr(runtime, "_SLOW_FROM", 1000)
    with pytest.warns(RuntimeWarning, match=r"numbers are the same.*hint: with gcc or clang, `pip install -e \.`"):
        again = Index(ruler, a).nearest(b)
    with warnings.catch_warnings(action="error"):
        Index(ruler, a).nearest(b)
    assert all(np.array_equal(getattr(found, f), getattr(again, f)) for f in found.__slots__)
    assert runtime.note_on_loops(31) == ""
    assert "from 5,000 rows a table on" in runtime.note_on_loops(32)


def test_a_report_that_says_it_is_slow_is_not_warned_of_again(place, monkeypatch):
    monkeypatch.setattr(runtime, "_told", [])
    monkeypatch.setenv("DIVULGE_CPU", "none")
    assert "DIVULGE_CPU=none" in runtime.note_on_loops(10_000)
    with warnings.catch_warnings(action="error"):
        assert not runtime.has_loops(10**9)


def test_a_library_older_than_its_sources_is_not_used(place):
    assert library.available()
    with (place / "box_tree.c").open("a", encoding="utf-8") as file:
        file.write("/* changed */\n")
    library._loaded.cache_clear()
    assert library.why_absent() == "the compiled kernels are older than their C sources. hint: `pip install -e .`"


def test_a_library_stays_where_its_sources_did_not_change(place):
    assert build.is_current(place)
    with (place / "divulge.h").open("a", encoding="utf-8") as file:
        file.write("/* changed */\n")
    assert not build.is_current(place)


@pytest.mark.parametrize("change", ["sanitized", "levels", "foreign", "none"])
def test_a_library_of_another_kind_is_built_again(place, monkeypatch, change):
    path = place / build.FILE_NAME
    bytes_ = path.read_bytes()
    path.unlink()  # not written over: this process has it loaded
    mark = build._made_from(place).encode() + b"\0"
    if change == "sanitized":
        path.write_bytes(bytes_.replace(mark, build._made_from(place, sanitize="thread").encode() + b"\0"))
    elif change == "levels":
        path.write_bytes(bytes_)
        monkeypatch.setenv("DIVULGE_MACHINE", "another")
    elif change == "foreign":
        path.write_bytes(b"a file for another machine " + mark)
    assert not build.is_current(place)


def test_where_a_compiler_is_named_no_other_is_taken(monkeypatch):
    """Else a wheel for another machine would get the library of this one."""
    monkeypatch.setenv("CC", "no-such-compiler -target elsewhere")
    assert build.compilers() == [["no-such-compiler", "-target", "elsewhere"]]
    assert build.working_compiler() is None


def test_a_library_is_called_as_its_platform_calls_libraries():
    named = {"linux": ".so", "manylinux_2_17_aarch64": ".so", "macosx_11_0_arm64": ".dylib", "darwin": ".dylib",
             "win32": ".dll", "win_amd64": ".dll"}  # fmt: skip
    assert {platform: build.file_name(platform).removeprefix("divulge_kernels") for platform in named} == named


def test_an_installed_library_has_no_sources_to_compare(place):
    for path in (*place.glob("*.c"), *place.glob("*.h")):
        path.unlink()
    assert library.available()


def test_a_library_of_another_machine_is_not_used(place):
    (place / build.FILE_NAME).unlink()
    (place / build.FILE_NAME).write_bytes(b"no library")
    assert library.why_absent().startswith("the compiled kernels are not for this machine. hint: ")


@pytest.mark.first(2)
@pytest.mark.parametrize("level", ["none", *library.levels()])
def test_an_environment_variable_chooses_the_level(level):
    code = "from divulge.kernels._native import library; print(*library.levels()[-1:], library.available())"
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "DIVULGE_CPU": level},
                          capture_output=True, text=True, check=True)  # fmt: skip
    assert done.stdout.split() == (["False"] if level == "none" else [level, "True"])


def test_an_unknown_level_is_the_highest_one(place, monkeypatch):
    highest = library.levels()
    monkeypatch.setenv("DIVULGE_CPU", "v9")
    library._loaded.cache_clear()
    assert library.levels() == highest


def a_tree():
    rng = np.random.default_rng(0)
    order = np.arange(500)
    return rng.random((500, 2), dtype=np.float32), np.zeros((500, 1), np.uint8), np.ones(1, np.float32), order


@pytest.mark.parametrize(
    ("place", "wrong"),
    [
        (0, np.zeros((500, 2))),
        (0, np.zeros((2, 500), np.float32).T),
        (0, np.zeros((500, 2), ">f4")),
        (1, np.zeros((500, 1), np.int8)),
        (3, np.arange(500, dtype=np.int32)),
    ],
    ids=["kind", "order", "bytes", "sign", "size"],
)
def test_arrays_of_another_kind_are_refused(place, wrong):
    arrays = list(a_tree())
    arrays[place] = wrong
    with pytest.raises(TypeError, match="wanted is"):
        _box_tree.rows_of(*arrays)


def test_read_only_arrays_are_not_written():
    arrays = a_tree()
    arrays[3].flags.writeable = False
    with pytest.raises(TypeError, match="order: not writeable"):
        _box_tree.rows_of(*arrays)


def test_a_struct_takes_all_its_fields_and_no_other():
    with pytest.raises(TypeError, match="wanted are"):
        _box_tree.PAIRS(query=None, row=None)


@pytest.mark.parametrize("n", [2**40, 2**61])
def test_what_does_not_fit_into_memory_is_a_memory_error(n):
    """Room for 2**40 numbers of 4 bytes; 2**61 of them overflow the size itself."""
    rows = _box_tree.rows_of(*a_tree())
    with pytest.raises(MemoryError):
        _box_tree.split(rows, 0, n)


@pytest.mark.parametrize("level", library.levels())
def test_places_beyond_32_bits(level):
    """The last leaf of 4.5 GB of codes, of which only this leaf is ever touched."""
    n_leaves, n_codes = 70_000_000, 1
    codes = np.zeros((n_leaves, n_codes, 64), np.uint8)
    codes[-1, 0, 5] = 1
    none = dict.fromkeys(("low", "high", "masks", "child", "numbers", "first", "order"))
    sizes = {"n_numbers": 0, "n_codes": n_codes, "n_groups": 1, "depth": 0}
    tree = _box_tree.TREE(**none, **sizes, codes=codes, group=np.array([0, 1]), weight=np.ones(1, np.float32))
    out, within = np.zeros(64, np.float32), np.zeros(1, np.uint64)
    bounds = library.Kernel("leaf_bounds", _box_tree.TREE, "i8", "f4*", "u1*", "f8", "f4!", "u8!")
    with library.at_level(level):
        bounds(tree, n_leaves - 1, None, np.ones(1, np.uint8), 0.5, out, within)
    assert within[0] == 1 << 5


@pytest.mark.parametrize("engine", ["boxes", "tiles"])
def test_a_search_that_is_told_to_stop_stops(engine):
    ruler, (a, b) = people(2000)
    index = Index(
        ruler, a, engine=engine, threads=1, progress=lambda done, total: (_ for _ in ()).throw(KeyboardInterrupt)
    )
    with pytest.raises(KeyboardInterrupt):
        index.nearest(b)


@pytest.mark.parametrize("kernel", [_box_tree.search, _brute_force.scan], ids=["search", "scan"])
def test_the_flag_ends_a_running_loop(kernel):
    ruler, (a, b) = people()
    index = Index(ruler, a)._compiled_index("boxes")
    exact = index._exact(b, None).filled()
    first = (
        (index.built().filled(), index._asked(b).filled())
        if kernel is _box_tree.search
        else (index._packed(b, 1.0).filled(),)
    )
    out = np.full((300, 1), np.inf), np.zeros((300, 1), np.int64), np.zeros(300, np.int64)
    asked = _box_tree.ASKED(
        queries=np.arange(300), radius=np.full(300, np.inf), out_distance=out[0], out_row=out[1], out_beyond=out[2],
        stop=np.ones(1, np.int32), k=1, listing=0,
    )  # fmt: skip
    none = np.empty(0, np.int64)
    with pytest.raises(KeyboardInterrupt):
        kernel(*first, exact, asked, _box_tree.PAIRS(query=none, row=none, room=0), 0, 300, np.zeros(3, np.int64))
    assert np.isinf(out[0]).all()
