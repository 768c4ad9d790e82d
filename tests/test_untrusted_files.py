"""What is read from a file is data, never code; what is written goes to its own name and nowhere else."""

import ast
import errno
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import divulge
from divulge.core import atomic_write
from divulge.core.atomic_write import check_writable, replaced, replacing
from divulge.core.errors import SettingError

SOURCE = Path(divulge.__file__).parent
EXECUTING = {"pickle", "_pickle", "cPickle", "cloudpickle", "dill", "joblib", "marshal", "shelve", "code", "runpy"}
CALLS = {"eval", "exec", "compile", "__import__", "read_pickle", "to_pickle", "unsafe_load", "full_load"}


def executing(text):
    """Names in a source text that execute what a file or a text holds."""
    found = []
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Import(names=names):
                found += [n.name for n in names if n.name.split(".")[0] in EXECUTING]
            case ast.ImportFrom(module=str(module)):
                found += [module] * (module.split(".")[0] in EXECUTING)
            case ast.Call(func=ast.Name(id=name)) if name in CALLS:
                found.append(name)
            case ast.Attribute(value=ast.Name(id="builtins"), attr=name) if name in CALLS:
                found.append(name)
            case ast.Attribute(attr="read_pickle" | "to_pickle" | "unsafe_load" | "full_load" as name):
                found.append(name)
            case ast.Attribute(value=ast.Name(id="np" | "numpy" | "yaml" | "torch"), attr="load"):
                found.append("load")
            case ast.keyword(arg="allow_pickle" | "allow_dangerous_deserialization"):
                found.append("allow_pickle")
    return found


@pytest.mark.parametrize("path", [pytest.param(SOURCE, id="src")])
def test_nothing_that_is_read_is_executed(path):
    files = sorted(path.rglob("*.py"))
    assert len(files) > 100
    assert [(p.name, found) for p in files if (found := executing(p.read_text(encoding="utf-8")))] == []


@pytest.mark.parametrize(
    "text",
    [
        "import pickle", "import os, joblib.numpy_pickle", "from marshal import loads", "import shelve as s",
        "np.load(path)", "f(allow_pickle=True)", "eval(text)", "exec(text)", "pd.read_pickle(path)",
        "builtins.eval(x)", "yaml.load(x)", "from cloudpickle.cloudpickle import loads",
    ],
)  # fmt: skip
def test_the_search_finds_what_executes(text):
    assert executing(text)
    assert not executing("import re\nre.compile(text)\nast.literal_eval(text)\njson.load(file)")


# ---------------------------------------------------------------- one file


def names(folder):
    return sorted(p.name for p in folder.iterdir())


def test_a_file_gets_its_name_when_it_is_whole(tmp_path):
    path = tmp_path / "a.txt"
    with replacing(path) as file:
        file.write(b"part")
        (temporary,) = tmp_path.iterdir()
        assert temporary != path
    assert names(tmp_path) == ["a.txt"]
    assert path.read_bytes() == b"part"


def test_temporary_names_cannot_be_foreseen(tmp_path, monkeypatch):
    seen, usual = [], os.open

    def opened(path, flags, *more, **rest):
        seen.append((os.path.basename(path), flags))
        return usual(path, flags, *more, **rest)

    monkeypatch.setattr(os, "open", opened)
    for _ in range(2):
        replaced(tmp_path / "a.txt", b"x")
    (one, flags), (two, _) = seen
    assert one != two
    assert len(one) > 16 + len("a.txt")
    assert flags & os.O_EXCL
    assert flags & os.O_NOFOLLOW
    for name in (one, two):
        (tmp_path / name).symlink_to(tmp_path / "victim")


@pytest.mark.parametrize("dangling", [False, True])
def test_a_link_at_the_name_is_replaced_and_not_followed(tmp_path, dangling):
    victim, link = tmp_path / "victim", tmp_path / "report.html"
    if not dangling:
        victim.write_bytes(b"precious")
    link.symlink_to(victim)
    replaced(link, b"report")
    assert not link.is_symlink()
    assert link.read_bytes() == b"report"
    assert not victim.exists() if dangling else victim.read_bytes() == b"precious"


def test_a_hard_link_keeps_the_other_name_as_it_was(tmp_path):
    (tmp_path / "victim").write_bytes(b"precious")
    os.link(tmp_path / "victim", tmp_path / "a")
    replaced(tmp_path / "a", b"x")
    assert (tmp_path / "victim").read_bytes() == b"precious"


def test_only_files_are_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "device").symlink_to("/dev/null")
    before = names(tmp_path)
    for name in before:
        with pytest.raises(SettingError, match="folder or a device"):
            replaced(tmp_path / name, b"x")
    assert names(tmp_path) == before
    assert (tmp_path / "device").is_symlink()


def test_a_write_that_fails_leaves_nothing(tmp_path):
    (tmp_path / "a").write_bytes(b"before")
    for error in (OSError(errno.ENOSPC, "full"), KeyboardInterrupt()):
        with pytest.raises(type(error)), replacing(tmp_path / "a") as file:
            file.write(b"x" * 100_000)
            raise error
        assert names(tmp_path) == ["a"]
        assert (tmp_path / "a").read_bytes() == b"before"


def test_permissions_stay_and_follow_the_umask(tmp_path):
    path, usual = tmp_path / "a", os.umask(0o027)
    try:
        replaced(path, b"x")
    finally:
        os.umask(usual)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o600)
    replaced(path, b"y")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_what_a_killed_process_left_goes_and_what_lives_stays(tmp_path):
    path = tmp_path / "a.txt"
    left, others = tmp_path / f".a.txt.{'0' * 16}.tmp", [".a.txt.tmp", ".a.txt.notes.tmp", f".b.txt.{'0' * 16}.tmp"]
    left.write_bytes(b"half")
    for name in others:
        (tmp_path / name).write_bytes(b"mine")
    (tmp_path / f".a.txt.{'1' * 16}.tmp").symlink_to(tmp_path / others[0])
    with replacing(path) as file:
        file.write(b"slow")
        replaced(path, b"quick")  # another process, as it were
        assert not left.exists()
    assert path.read_bytes() == b"slow"
    assert {*others, "a.txt"} <= set(names(tmp_path))
    assert not [n for n in names(tmp_path) if n.endswith("0.tmp") and n.startswith(".a")]


def test_long_names_can_be_written(tmp_path):
    for name in ("n" * 255, "\u4e2d" * 85):
        replaced(tmp_path / name, b"x")
    assert len(names(tmp_path)) == 2


# ---------------------------------------------------------------- the commands


def run(*arguments, **rest):
    environment = os.environ | {"PYTHONPATH": str(SOURCE.parent), "SOURCE_DATE_EPOCH": "0"}
    done = subprocess.run(
        [sys.executable, "-m", "divulge", *map(str, arguments)], capture_output=True, text=True, timeout=120,
        env=environment, **rest,
    )  # fmt: skip
    return done.returncode, done.stderr


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    frame = pl.DataFrame({"a": [str(i % 7) for i in range(600)], "b": [str(i % 5) for i in range(600)]})
    for name, start in (("real", 0), ("synthetic", 100), ("holdout", 300)):
        frame[start : start + 300].write_csv(folder / f"{name}.csv")
    return folder


QUICK = ["--keys", "a", "--targets", "b", "--no-models", "--no-utility"]
