"""Whether a run fits into memory: known before it begins, and told where it does not."""

import inspect
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import divulge
from divulge.attacks.catalogue import CATALOGUE
from divulge.cli import cli, main
from divulge.core.errors import DivulgeError, FrameError, SettingError, SizeError
from divulge.run.comparing import compare as comparing
from divulge.run.cost import expected_cost
from divulge.run.cost.expected_cost import expected_bytes
from divulge.run.cost.memory import Room, room
from divulge.run.forecasting import forecast, memory_check
from divulge.run.forecasting.forecast import Sizes, prepared, sizes_of
from divulge.run.forecasting.memory_check import work_of_membership
from divulge.run.planning.options import Attacker, Reading, RunOptions
from divulge.sdmetrics.reports import memory_check as report_memory

KNOWN = {"keys": ["age", "area"], "targets": ["job"]}
LITTLE = {"membership": False, "fidelity": False, "models": False}
SENTENCE = (
    r"^memory: about [\d.]+ (MB|GB) are needed for [\d,]+ \+ [\d,]+( \+ [\d,]+)? rows, and this process may use "
    r"[\d.]+ (MB|GB) \(.+\)\. hint: .*--beyond-memory\)\.$"
)


def people(rng, n):
    return pl.DataFrame({"age": rng.integers(18, 60, n), "area": rng.integers(0, 4, n).astype(str),
                         "job": rng.integers(0, 3, n).astype(str)})  # fmt: skip


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(3)
    return people(rng, 400), people(rng, 400), people(rng, 300)


@pytest.fixture
def tiny(monkeypatch):
    for module in (memory_check, report_memory):
        monkeypatch.setattr(module, "room", lambda: Room(10**6, 0, "its container has a limit"))


def refuse_reading(*given, **options):
    raise AssertionError("a table was read")


@pytest.fixture
def files(tables, tmp_path):
    for name, table in zip(("real", "syn", "hold"), tables, strict=True):
        table.write_parquet(tmp_path / f"{name}.parquet")
    return [str(tmp_path / f"{name}.parquet") for name in ("real", "syn", "hold")]


def test_a_run_that_does_not_fit_is_refused_before_a_table_is_read(files, tiny, monkeypatch):
    monkeypatch.setattr("divulge.run.assess.opened", refuse_reading)
    real, synthetic, holdout = files
    with pytest.raises(SizeError, match=SENTENCE):
        divulge.assess(real, synthetic, holdout=holdout)
    found = CliRunner().invoke(cli, ["assess", real, synthetic, "--holdout", holdout])
    assert isinstance(found.exception, SizeError)


def test_comparisons_and_fidelity_are_refused_too(tables, files, tiny, monkeypatch):
    monkeypatch.setattr(comparing, "opened", refuse_reading)
    real, synthetic, holdout = files
    with pytest.raises(SizeError, match=SENTENCE):
        divulge.compare(real, {"a": synthetic, "b": tables[1]}, holdout=holdout)
    with pytest.raises(SizeError, match=SENTENCE):
        divulge.fidelity(real, synthetic, holdout=holdout)


def test_candidates_that_do_not_fit_together_are_refused(tables, monkeypatch):
    """Forty tables of a million rows fit one after the other, and not side by side: ranked, or coded together."""
    real, synthetic, holdout = tables
    monkeypatch.setattr(memory_check, "sizes_of", lambda given, missing: Sizes(*(
        None if size is None else replace(size, rows=10**6) for size in sizes_of(given, missing)
    )))  # fmt: skip

    def checked(gigabytes, n=40, strangers=holdout, fidelity=True):
        monkeypatch.setattr(memory_check, "room", lambda: Room(gigabytes * 10**9, 0, "its container has a limit"))
        options = RunOptions(models=False, membership=False, fidelity=fidelity)
        memory_check.check_comparison(real, [synthetic] * n, strangers, Attacker(), Reading(), options)

    elsewhere = "ask a sample of people (--people), have an engine hold the tables (--engine duckdb), "
    with pytest.raises(SizeError, match=SENTENCE) as ranked:
        checked(12)
    assert "1,000,000 + 40,000,000 + 1,000,000 rows" in str(ranked.value)
    assert f"hint: {elsewhere}compare fewer tables, leave columns out" in str(ranked.value)
    checked(12, n=20)
    with pytest.raises(SizeError, match=SENTENCE) as coded:
        checked(6, strangers=None)
    assert f"hint: {elsewhere}compare fewer tables, leave fidelity out (--no-fidelity), leave columns out" in str(
        coded.value
    )
    checked(6, strangers=None, fidelity=False)
    checked(6, strangers=None, n=15)


def invoked(*arguments):
    return CliRunner().invoke(cli, list(map(str, arguments)))


@pytest.fixture
def doors(files, tmp_path):
    """Commands that read whole tables, by name; the last takes folders."""
    real, synthetic, holdout = files
    for side, table in (("left", real), ("right", synthetic)):
        (tmp_path / side).mkdir()
        (tmp_path / side / "people.parquet").write_bytes(Path(table).read_bytes())
    return {
        "membership": ("membership", real, synthetic, "--holdout", holdout, "--scores", "ratio"),
        "changes": ("changes", real, synthetic, holdout, synthetic, "--unit", "age"),
        "quality": ("quality", real, synthetic),
        "diagnose": ("diagnose", real, synthetic),
        "folders": ("quality", tmp_path / "left", tmp_path / "right"),
    }


@pytest.mark.parametrize("door", ["membership", "changes", "quality", "diagnose", "folders"])
def test_scores_are_refused_before_a_table_is_read(door, doors, tiny, monkeypatch):
    for reading in (
        "cli.membership._read",
        "sdmetrics.reports.read_inputs.read",
        "sdmetrics.reports.read_inputs.read_tables",
    ):
        monkeypatch.setattr(f"divulge.{reading}", refuse_reading)
    found = invoked(*doors[door])
    assert isinstance(found.exception, SizeError)
    told = str(found.exception)
    assert re.match(SENTENCE, told), told
    assert ("--columns" in told) == (door in ("membership", "changes"))
    assert "--ignore" not in told  # these commands have no such option
    begun = invoked(*doors[door], "--beyond-memory")
    assert isinstance(begun.exception, AssertionError)  # it begins to read


def python_doors(real, synthetic, holdout):
    """Calls of the functions that score people, by name; each takes further settings."""
    return {
        "membership": lambda **more: divulge.membership(real, synthetic, holdout=holdout, scores="ratio", **more),
        "several": lambda **more: divulge.membership(
            real, [synthetic, synthetic], holdout=holdout, scores="ratio", **more
        ),
        "changes": lambda **more: divulge.changes(
            real, synthetic, holdout, [synthetic, synthetic], unit="age", scores="nearest", **more
        ),
    }


@pytest.mark.parametrize("door", ["membership", "several", "changes"])
def test_python_refuses_scores_before_a_table_is_read(door, files, tables, tiny, monkeypatch):
    for attack in ("answer", "changes_between"):
        monkeypatch.setattr(f"divulge.run.membership.{attack}", refuse_reading)
    monkeypatch.setattr("divulge.tables.readers.read", refuse_reading)
    for given in (files, tables):
        ask = python_doors(*given)[door]
        with pytest.raises(SizeError, match=SENTENCE):
            ask()
        with pytest.raises(SizeError, match=SENTENCE):
            ask(columns="area")
        with pytest.raises(AssertionError, match="a table was read"):
            ask(beyond_memory=True)


def test_a_setting_that_is_wrong_is_told_as_before(tables, tiny):
    real, synthetic, holdout = tables
    with pytest.raises(SettingError, match="engine: membership needs every row"):
        divulge.membership(real, synthetic, holdout=holdout, engine="duckdb")
    with pytest.raises(TypeError, match="columnz"):
        divulge.membership(real, synthetic, holdout=holdout, columnz=["age"], beyond_memory=True)
    with pytest.raises(FrameError, match="the list has no table"):
        divulge.membership(real, [], holdout=holdout)


def test_the_functions_tell_of_the_setting():
    for function in (divulge.membership, divulge.changes):
        assert inspect.signature(function).parameters["beyond_memory"].default is False
        assert "\nbeyond_memory\n" in inspect.getdoc(function)
        assert "\nSizeError\n" in inspect.getdoc(function)
    assert divulge.membership.run is CATALOGUE["membership"].run


@pytest.mark.parametrize("door", ["membership", "quality", "folders"])
def test_what_cannot_be_read_is_told_by_the_reading(door, doors, tiny, files, tmp_path):
    Path(files[0]).write_text("no table")
    (tmp_path / "left" / "people.parquet").write_text("no table")
    found = invoked(*doors[door])
    assert isinstance(found.exception, DivulgeError)
    assert not isinstance(found.exception, SizeError)


def test_fewer_columns_need_less_memory(files):
    sizes = sizes_of(files, ())
    every, one = (expected_bytes(work_of_membership(sizes, Reading(), c)) for c in (None, ["age"]))
    assert one < every


def test_it_begins_nevertheless_where_the_user_says_so(tables, tiny):
    given = Attacker(**KNOWN), Reading()
    assert memory_check.fitting(tables, *given, RunOptions(beyond_memory=True)) == (
        RunOptions(beyond_memory=True),
        False,
    )


def room_for(tables, people, monkeypatch):
    """Leave memory for a run that asks so many people, and for no more."""
    monkeypatch.setattr(forecast, "_SAMPLES", (250, people, 100))
    sizes = sizes_of(tables, ())
    options = RunOptions(**LITTLE)
    work = prepared(sizes, Attacker(**KNOWN), Reading(), options)[2]
    needed = [expected_bytes(work.of_people((min(n, 400) + min(n, 300)) / 700)) for n in (people, 250)]
    assert needed[0] < needed[1]
    monkeypatch.setattr(memory_check, "room", lambda: Room(sum(needed) // 2, 0, "the machine has no more free"))


def test_where_all_people_do_not_fit_a_sample_does(tables, monkeypatch):
    room_for(tables, 150, monkeypatch)
    given, options = (Attacker(**KNOWN), Reading()), RunOptions(**LITTLE)
    assert memory_check.fitting(tables, *given, options) == (replace(options, people=150), True)
    fewer = replace(options, people=120)
    assert memory_check.fitting(tables, *given, fewer) == (fewer, False)
    with pytest.raises(SizeError, match="with --people 150 it fits"):
        memory_check.fitting(tables, *given, replace(options, people="all"))


def test_a_run_that_fits_with_indices_in_files_is_not_refused(tables, tmp_path, monkeypatch):
    monkeypatch.setattr(expected_cost, "_IN_BLOCKS", 0)
    given, options = (Attacker(**KNOWN), Reading()), RunOptions(people="all", **LITTLE)
    work = prepared(sizes_of(tables, ()), *given, options)[2]
    needed = [expected_bytes(w) for w in (replace(work, in_files=True), work)]
    assert needed[0] < needed[1]
    monkeypatch.setattr(memory_check, "room", lambda: Room(sum(needed) // 2, 0, "the machine has no more free"))
    with pytest.raises(SizeError, match="with --spill FOLDER it fits"):
        memory_check.fitting(tables, *given, options)
    with_folder = replace(options, spill=tmp_path)
    assert memory_check.fitting(tables, *given, with_folder) == (replace(with_folder, people=None), False)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_the_report_says_that_memory_is_why_a_sample_was_asked(tables, monkeypatch):
    room_for(tables, 150, monkeypatch)
    real, synthetic, holdout = tables
    told = []
    report = divulge.assess(real, synthetic, holdout=holdout, **KNOWN, **LITTLE, before=told.append)
    assert report.assessment.settings.people == report.assessment.sampling.members == 150
    assert memory_check.TOO_LARGE in report.assessment.notes
    assert memory_check.TOO_LARGE in told
    assert any("150 of 400 members and 150 of 300 strangers" in note for note in told)
    assert memory_check.TOO_LARGE in report.external().assessment.notes


def no_memory(*given, **settings):
    raise MemoryError


def test_memory_that_ends_is_told_in_a_sentence():
    sentence = r"^memory: there was not enough for 1,100 rows, .*divulge plan"
    with pytest.raises(SizeError, match=sentence), memory_check.memory_told(lambda: 1100):
        raise MemoryError
    with (
        pytest.raises(SizeError, match="finished tests are kept for --resume"),
        memory_check.memory_told(kept=lambda: True),
    ):
        raise MemoryError
    with pytest.raises(SizeError, match=r"^told$"), memory_check.memory_told():
        raise SizeError("told")


@pytest.mark.slow
def test_memory_that_ends_inside_an_attack_ends_the_run(tables, monkeypatch):
    monkeypatch.setitem(CATALOGUE, "linkability", replace(CATALOGUE["linkability"], run=no_memory))
    real, synthetic, holdout = tables
    with pytest.raises(SizeError, match=r"^memory: there was not enough for 1,100 rows"):
        divulge.assess(real, synthetic, holdout=holdout, **KNOWN, **LITTLE)
    with pytest.raises(SizeError, match="there was not enough"):
        divulge.compare(real, {"a": synthetic, "b": real}, holdout=holdout, **KNOWN, fidelity=False)


def test_on_the_command_line_the_status_is_2(monkeypatch, capsys, files):
    monkeypatch.setattr("divulge.run.forecasting.forecast.plan", no_memory)
    monkeypatch.setattr(sys, "argv", ["divulge", "plan", files[0], files[1]])
    with pytest.raises(SystemExit) as left:
        main()
    told = capsys.readouterr().err
    assert (left.value.code, told.count("\n")) == (2, 1)
    assert "there was not enough memory" in told


# ---------------------------------------------------------------- what there is


def machine(folder, limits):
    """Write what a system tells of a process in the control group /a/b."""
    (folder / "proc" / "self").mkdir(parents=True)
    (folder / "proc" / "self" / "status").write_text("Name:\tdivulge\nVmRSS:\t  1000 kB\nVmSize:\t 5000 kB\n")
    (folder / "proc" / "meminfo").write_text("MemTotal: 9000000 kB\nMemAvailable: 8000000 kB\n")
    (folder / "proc" / "self" / "cgroup").write_text("4:cpu,memory:/a/b\n0::/a/b\n")
    for name, text in limits.items():
        path = folder / "groups" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return room(folder / "proc", folder / "groups")


SECOND = {"a/memory.max": "3000000000", "a/memory.current": "1000000000", "a/b/memory.max": "max"}
FIRST = {"memory/a/b/memory.limit_in_bytes": "2500000000", "memory/a/b/memory.usage_in_bytes": "500000000"}
NOWHERE = {"memory.max": "max", "memory/a/b/memory.limit_in_bytes": str(2**63 - 4096)}


@pytest.mark.parametrize(
    ("limits", "free"),
    [
        (SECOND, 2_000_000_000),
        (SECOND | {"a/memory.stat": "anon 5\ninactive_file 400000000\n"}, 2_400_000_000),
        (SECOND | {"a/memory.stat": "inactive_file 400000000\nactive_file 300000000\n"}, 2_700_000_000),
        (FIRST, 2_000_000_000),
        (FIRST | {"memory/a/b/memory.stat": "active_file 1\ntotal_active_file 300000000\n"}, 2_300_000_000),
        (SECOND | FIRST | {"memory/a/b/memory.usage_in_bytes": "2400000000"}, 100_000_000),
        ({"memory.max": "700000000", "memory.current": "600000000"}, 100_000_000),
        (NOWHERE, 8_000_000 * 1024),
    ],
)
def test_the_narrowest_limit_counts(tmp_path, limits, free):
    found = machine(tmp_path, limits)
    assert (found.free, found.used) == (free, 1000 * 1024)
    assert found.why == ("the machine has no more free" if limits is NOWHERE else "its container has a limit")


def test_a_system_that_tells_nothing_sets_no_limit(tmp_path, monkeypatch):
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert room(tmp_path, tmp_path) is None


# ---------------------------------------------------------------- in a process of its own

LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
sys.argv = ["divulge", *sys.argv[2:]]
from divulge.cli import main
main()
"""


def limited(limit, *arguments):
    environment = os.environ | {"PYTHONPATH": str(Path(divulge.__file__).parents[1])}
    given = [sys.executable, "-c", LIMITED, str(limit), *map(str, arguments)]
    return subprocess.run(given, env=environment, capture_output=True, text=True, check=False, timeout=300)


SCORED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
import divulge
real, synthetic, holdout = sys.argv[2:]
try:
    if "{door}" == "membership":
        found = divulge.membership(real, synthetic, holdout=holdout, unit="who", scores="ratio")
    else:
        found = divulge.changes(real, synthetic, holdout, synthetic, unit="who", scores="nearest").left
    print(len(found))
except divulge.SizeError as error:
    print(error)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits of address space are those of Linux")
@pytest.mark.parametrize("door", ["membership", "changes"])
def test_functions_under_a_limit_of_address_space(door, tmp_path):
    """A million rows of twelve columns are refused where 600 are scored."""
    environment = os.environ | {"PYTHONPATH": str(Path(divulge.__file__).parents[1])}
    for n in (600, 1_000_000):
        paths = [tmp_path / f"{n}-{role}.parquet" for role in ("real", "syn", "hold")]
        table = pl.DataFrame({f"x{j}": np.random.default_rng(j).integers(0, 50, n) for j in range(12)})
        for path, first in zip(paths, (0, 0, n // 10 if door == "changes" else n), strict=True):
            table.with_columns(who=np.arange(first, first + n)).write_parquet(path)
        given = [sys.executable, "-c", SCORED.format(door=door), str(3 * 10**9), *map(str, paths)]
        told = subprocess.run(given, env=environment, capture_output=True, text=True, check=False, timeout=300)
        assert told.returncode == 0, told.stderr
        assert (told.stdout == "1\n") if n == 600 else re.match(SENTENCE, told.stdout.strip()), told.stdout


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits of address space are those of Linux")
def test_under_a_limit_of_address_space(tmp_path):
    """Two million rows are refused where 2,000 run: no kill, no traceback."""
    rng = np.random.default_rng(1)
    named = {}
    for n in (2000, 2_000_000):
        for role in ("real", "syn", "hold"):
            named[n, role] = tmp_path / f"{n}-{role}.parquet"
            people(rng, n).write_parquet(named[n, role])
    options = ["--keys", "age,area", "--targets", "job", "--no-membership", "--no-fidelity"]

    def run(n):
        return limited(4 * 10**9, "assess", named[n, "real"], named[n, "syn"], "--holdout", named[n, "hold"], *options,
                       "--people", "all", "--out", tmp_path / f"out-{n}", "--jobs", 1)  # fmt: skip

    large, small = run(2_000_000), run(2000)
    assert (large.returncode, large.stdout) == (2, "")
    (sentence,) = large.stderr.splitlines()[-1:]
    assert re.match(SENTENCE, sentence.removeprefix("divulge: ")), large.stderr
    assert "Traceback" not in large.stderr
    assert small.returncode == 0, small.stderr
    assert (tmp_path / "out-2000" / "report.html").exists()
