"""What is read from a file is data, never code; what is written goes to its own name and nowhere else."""

import ast
import errno
import io
import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import divulge
from divulge.cli import main
from divulge.cli.show import check_file
from divulge.core import atomic_write
from divulge.core.atomic_write import replaced, replacing
from divulge.core.errors import SettingError
from divulge.core.result import Result
from divulge.run.making import runner
from divulge.run.splitting import holdout_files
from divulge.tables import readers

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


HINTS = re.compile(
    r"pickle|joblib|marshal|shelve|dill|builtins|runpy|unsafe_load|full_load|deserialization|__import__|import code"
    r"|from code |\.load\b|(?<![\w.])(?:eval|exec|compile)\("
)
"""What any of them has in its text: to parse every file takes seconds."""


def test_nothing_that_is_read_is_executed():
    texts = {p.name: p.read_text(encoding="utf-8") for p in SOURCE.rglob("*.py")}
    assert len(texts) > 100
    found_in = {name: found for name, text in texts.items() if HINTS.search(text) and (found := executing(text))}
    # the user's own generator, on its way to a process that divulge starts; what comes back is Arrow
    assert found_in == {"worker.py": ["pickle", "joblib"]}


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
    assert HINTS.search(text)
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


def _broken_off(path, error):
    with replacing(path) as file:
        file.write(b"x" * 100_000)
        raise error


def test_a_write_that_fails_leaves_nothing(tmp_path):
    (tmp_path / "a").write_bytes(b"before")
    for error in (OSError(errno.ENOSPC, "full"), KeyboardInterrupt()):
        with pytest.raises(type(error)):
            _broken_off(tmp_path / "a", error)
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


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    frame = pl.DataFrame({"a": [str(i % 7) for i in range(600)], "b": [str(i % 5) for i in range(600)]})
    for name, start in (("real", 0), ("synthetic", 100), ("holdout", 300)):
        frame[start : start + 300].write_csv(folder / f"{name}.csv")
    return folder


QUICK = ["--keys", "a", "--targets", "b", "--no-models"]


@pytest.fixture
def command(files, monkeypatch, capsys):
    """A command in this process; instead of an attack a short result comes. Returns exit status and messages."""
    monkeypatch.setattr(runner, "_attacked", lambda case, task: (Result(attack=task.attack),))

    def command(*arguments):
        monkeypatch.setattr(sys, "argv", ["divulge", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            main()
        return left.value.code, capsys.readouterr().err

    return command


def assessed(files, out, *more):
    tables = [files / "real.csv", files / "synthetic.csv", "--holdout", files / "holdout.csv"]
    return ["assess", *tables, *QUICK, "--quiet", "--out", out, *more]


def commands_that_write(files, out):
    """Each command that writes files into a folder, and whether it is told of the folder as --out."""
    assessment, tables = files / "done" / "assessment.json", [files / "real.csv", files / "synthetic.csv"]
    return {
        "split": ["split", tables[0], "--out", out],
        "assess": assessed(files, out),
        "split to parquet": ["split", tables[0], "--format", "parquet", "--out", out],
        "junit": assessed(files, files / "other", "--junit", out / "junit.xml"),
        "compare": ["compare", *tables, files / "holdout.csv", *QUICK[:4], "--quiet", "--out", out],
        "render": ["render", assessment, "--out", out],
        "gate": ["gate", assessment, "--fail-on", "excess", "--quiet", "--junit", out / "junit.xml"],
    }


COMMANDS = list(commands_that_write(Path(), Path()))


@pytest.fixture
def no_space(monkeypatch):
    """A disk that takes 10 bytes of a file."""
    usual = os.fdopen

    class Small(io.BufferedWriter):
        def write(self, data):
            if len(data) > 10:
                super().write(bytes(data[:10]))
                raise OSError(errno.ENOSPC, "No space left on device")
            return super().write(data)

    def opened(handle, mode="r", *more, **rest):
        return Small(io.FileIO(handle, "wb")) if mode == "wb" else usual(handle, mode, *more, **rest)

    monkeypatch.setattr(atomic_write.os, "fdopen", opened)


@pytest.fixture
def done(files, command, name):
    if name in ("render", "gate") and not (files / "done").exists():
        assert command(*assessed(files, files / "done")) == (0, "")


@pytest.mark.first(2)
@pytest.mark.skipif(os.name == "nt", reason="permissions are others there")
@pytest.mark.parametrize("name", ["split", "assess", "compare", "split to parquet"])
def test_nobody_else_reads_what_is_about_people(files, tmp_path, command, name):
    usual = os.umask(0o022)
    try:
        assert command(*commands_that_write(files, tmp_path / "out" / "new")[name])[0] == 0
    finally:
        os.umask(usual)
    folder = tmp_path / "out" / "new"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    modes = {p.relative_to(folder).as_posix(): oct(stat.S_IMODE(p.stat().st_mode)) for p in folder.rglob("*")}
    assert len(modes) > 1 and set(modes.values()) <= {"0o600", "0o700"}, modes


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="permissions are others there")
def test_the_report_for_others_can_be_read_by_others_and_scores_of_people_never(files, tmp_path, command):
    (tmp_path / "there").mkdir(0o755)
    (tmp_path / "there/records.parquet").write_bytes(b"")
    (tmp_path / "there/report.html").touch(0o644)
    usual = os.umask(0o022)
    try:
        assert command(*assessed(files, tmp_path / "there"))[0] == 0
        assert command(*assessed(files, tmp_path / "others", "--edition", "external"))[0] == 0
    finally:
        os.umask(usual)
    modes = {name: stat.S_IMODE((tmp_path / name).stat().st_mode) for name in
             ("there", "there/records.parquet", "there/report.html", "there/assessment.json", "others", "others/report.html")}  # fmt: skip
    assert list(modes.values()) == [0o755, 0o600, 0o644, 0o600, 0o755, 0o644], modes


@pytest.mark.first(2)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_disk_is_one_sentence_and_leaves_nothing(files, tmp_path, command, done, no_space, name):
    code, told = command(*commands_that_write(files, tmp_path / "out")[name])
    assert code == 2
    assert told.count("\n") == 1
    assert "cannot write there (" in told
    assert "No space left on device). hint:" in told or name.startswith("split")  # polars hides why Python cannot write
    assert not [p for folder in (tmp_path, files) for p in folder.rglob("*") if p.name.endswith((".tmp", "-part"))]
    assert not [p for p in tmp_path.rglob("*") if p.is_file()]


@pytest.mark.first(2)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_folder_that_cannot_be_written_is_told_before_the_tables_are_read(
    files, tmp_path, command, done, monkeypatch, name
):
    usual = os.open

    def opened(path, flags, *more, **rest):
        if flags & os.O_CREAT and str(path).startswith(str(tmp_path)):
            raise OSError(errno.EROFS, "Read-only file system")
        return usual(path, flags, *more, **rest)

    def read(*_, **__):
        raise AssertionError("read")

    monkeypatch.setattr(atomic_write.os, "open", opened)
    if name in ("assess", "junit", "compare"):
        monkeypatch.setattr(readers, "read", read)
    if name.startswith("split"):
        monkeypatch.setattr(holdout_files, "split_rows", read)
    code, told = command(*commands_that_write(files, tmp_path / "out")[name])
    assert (code, told.count("\n")) == (2, 1)
    assert "cannot write there (Read-only file system). hint: name another" in told


@pytest.mark.slow
def test_documents_replace_links_and_refuse_folders_before_the_run(files, tmp_path, command, monkeypatch):
    out, victim = tmp_path / "out", tmp_path / "victim"
    out.mkdir()
    victim.write_text("precious")
    for name in ("assessment.json", "report.html", "report.md", "junit.xml", "records.parquet"):
        (out / name).symlink_to(victim)
    assert command(*assessed(files, out)) == (0, "")
    assert victim.read_text() == "precious"
    assert not any(p.is_symlink() for p in out.iterdir())
    (out / "report.md").unlink()
    (out / "report.md").mkdir()
    monkeypatch.setattr(readers, "read", None)
    code, told = command(*assessed(files, out))
    assert (code, told.count("\n")) == (2, 1)
    assert "report.md: a folder or a device stands there" in told


@pytest.mark.parametrize("name", ["/dev/null", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/dev/new"])
def test_devices_are_not_replaced(monkeypatch, name):
    # a link that leads to a file where output goes to one; without a terminal /dev/stdout was replaced by a file
    monkeypatch.setattr(atomic_write.os, "replace", None)
    with pytest.raises(SettingError, match="device"):
        replaced(name, b"x")
    with pytest.raises(SettingError, match=r"--junit: .*device"):
        check_file("--junit", name, [], Path("out"))


def mounted(folder, options):
    folder.mkdir()
    return (
        shutil.which("mount")
        and not subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True, check=False
        ).returncode
    )


@pytest.mark.slow
@pytest.mark.parametrize("options", ["size=20k", "ro"])
@pytest.mark.first(2)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_real_disk_without_space_or_write_access(files, tmp_path, command, done, options, name):
    place = tmp_path / "disk"
    if not mounted(place, options):
        pytest.skip("no tmpfs can be mounted here")
    try:
        if options != "ro":
            (place / "filling").write_bytes(bytes(20_000))
            (place / "out").mkdir()
        code, told = command(*commands_that_write(files, place / "out")[name])
        assert (code, told.count("\n")) == (2, 1)
        assert "cannot write there (" in told
        left = [p.name for p in place.rglob("*") if p.is_file() and p.name != "filling"]
        assert not [n for n in left if n.endswith((".tmp", "-part"))]
    finally:
        subprocess.run(["umount", str(place)], check=True)
