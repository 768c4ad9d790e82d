"""What a command says before and while it attacks, and what it refuses before it reads a table in full."""

import io
import sys
import time
import tomllib

import polars as pl
import pytest

from divulge.cli import show
from divulge.release.policy import read_policy
from divulge.run.cost.expected_time import duration

PEOPLE = pl.DataFrame({"age": [30, 41, 30, 52] * 20, "job": list("abab") * 20, "ill": list("yynn") * 20})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("real", "syn", "holdout"):
        PEOPLE.write_csv(f"{name}.csv")
    return tmp_path


@pytest.fixture
def run(divulge, folder):
    return divulge


BROKEN = "age,job,ill\n1,2\n"


@pytest.mark.parametrize(
    "command", [["assess", "real.csv", "syn.csv"], ["compare", "real.csv", "syn.csv", "holdout.csv"]]
)
@pytest.mark.parametrize(
    ("option", "value", "says"),
    [("--keys", "agee", "keys: no column 'agee'"), ("--targets", "il", "targets: no column 'il'"),
     ("--unit", "person", "unit: no column 'person'"), ("--ignore", "jobb", "ignore: no column 'jobb'")],
)  # fmt: skip
def test_wrong_names_are_told_before_a_table_is_read(folder, run, command, option, value, says):
    (folder / "real.csv").write_text(BROKEN)  # reading it would fail
    code, _, err = run(*command, option, value)
    assert code == 2
    assert says in err and "hint: " in err and "field" not in err


@pytest.mark.parametrize(
    ("option", "value"), [("--keys", "nr"), ("--targets", "nr"), ("--subgroups", "nr"), ("--unit", "nr")]
)
def test_the_file_that_lacks_a_column_is_named_before_a_table_is_read(folder, run, option, value):
    (folder / "real.csv").write_text("nr," + BROKEN)  # reading it would fail
    code, _, err = run("assess", "real.csv", "syn.csv", option, value)
    assert code == 2
    assert f"{option[2:]}: syn.csv has no column 'nr', which other tables have. hint: " in err


def test_a_column_of_one_file_alone_can_be_ignored(folder, run):
    lines = (folder / "real.csv").read_text().splitlines()
    (folder / "real.csv").write_text(
        "\n".join(f"{cell},{line}" for cell, line in zip(["nr", *range(999)], lines, strict=False))
    )
    code, out, _ = run("plan", "real.csv", "syn.csv", "--ignore", "nr")
    assert code == 0
    assert "nr" not in out.split()
    code, _, err = run("plan", "real.csv", "syn.csv", "--ignore", "nn")
    assert code == 2 and "ignore: no column 'nn'; there are 'nr', 'age', " in err


def test_a_broken_file_is_told_where_the_names_are_right(folder, run):
    (folder / "real.csv").write_text(BROKEN)
    assert "field" in run("assess", "real.csv", "syn.csv", "--keys", "age")[2]


@pytest.mark.slow
def test_tests_time_and_reach_are_told_before_the_attacks(run):
    args = (
        "--keys",
        "age",
        "--targets",
        "ill",
        "--holdout",
        "holdout.csv",
        "--no-membership",
        "--no-models",
    )
    lines = run("assess", "real.csv", "syn.csv", *args)[2].splitlines()
    told = next(i for i, line in enumerate(lines) if " tests of " in line)
    assert lines[told].startswith("divulge: ") and ", about " in lines[told]
    assert lines[told + 1].startswith("divulge: with 80 and 80 members and strangers ")
    assert any("attacking (" in line for line in lines[told + 1 :])
    lines = run("compare", "real.csv", "a=syn.csv", "b=holdout.csv", *args[:7])[2].splitlines()
    assert sum(line.startswith("divulge: for each of 2 tables: ") for line in lines) == 2
    assert run("assess", "real.csv", "syn.csv", *args, "--quiet") == (0, "", "")


def test_a_line_every_thirty_seconds(monkeypatch, capsys):
    clock = iter([0.0, 10.0, 31.0, 40.0, 70.0, 71.0])
    monkeypatch.setattr(show.time, "monotonic", lambda: next(clock))
    lines = show._Lines(names=True)
    for done, what in enumerate(["cap ill", "cap ill", "dcr", "dcr", "nnaa"]):
        lines(what, done, 8)
    lines("writing", 8, 8)
    assert capsys.readouterr().err.splitlines() == [
        "divulge: attacking (8 tests)",
        "divulge: 2 of 8 tests done, about 2 min left; now dcr",
        "divulge: 4 of 8 tests done, about 70 s left; now nnaa",
        "divulge: writing",
    ]


def test_what_is_no_attack_is_not_told_as_one(monkeypatch, capsys):
    clock = iter([0.0, 1.0, 40.0, 41.0])
    monkeypatch.setattr(show.time, "monotonic", lambda: next(clock))
    lines = show._Lines(names=True)
    lines("writing the codes of all rows", 0, 22_500)
    lines("writing the codes of all rows", 5_000, 22_500)
    lines("writing the codes of all rows", 11_250, 22_500)
    lines("measuring column pairs", 0, 7)
    assert capsys.readouterr().err.splitlines() == [
        "divulge: writing the codes of all rows (22,500 rows)",
        "divulge: 11,250 of 22,500 rows done, about 40 s left; now writing the codes of all rows",
        "divulge: measuring fidelity (7 measures)",
    ]


def test_lines_of_an_external_run_name_no_column(monkeypatch, capsys):
    clock = iter([0.0, 31.0])
    monkeypatch.setattr(show.time, "monotonic", lambda: next(clock))
    lines = show._Lines(names=False)
    lines("inference hiv", 1, 8)
    lines("inference hiv", 2, 8)
    err = capsys.readouterr().err
    assert "now inference" in err and "hiv" not in err


class Screen(io.StringIO):
    """A terminal that keeps what is written to it."""

    def isatty(self):
        return True


def test_a_stage_without_tests_leaves_the_bar_full(monkeypatch):
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    with show.progress_shown(quiet=False) as shown:
        shown("cap ill", 8, 8)
        shown("measuring tails", 0, 1)
    last = [line for line in screen.getvalue().splitlines() if "measuring tails" in line][-1]
    assert "8/8" in last
    assert "for" in last.split("8/8")[1]


@pytest.mark.parametrize("terminal", [False, True])
def test_the_time_that_was_told_is_what_is_left(monkeypatch, terminal):
    now, screen = [100.0], Screen() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    with show.progress_shown(quiet=False) as shown:
        shown("cap ill", 0, 8)
        for seconds in (50.0, 3.0):
            now[0] += 31.0
            shown.left(seconds)
            shown("dcr", 6, 8)
            time.sleep(0.15 if terminal else 0.0)  # rich draws ten times a second
    assert "about 50 s left" in screen.getvalue()
    assert screen.getvalue().count("left") == screen.getvalue().count("about 50 s left")
    with show.progress_shown(quiet=True) as shown:
        shown.left(50.0)
        shown("dcr", 7, 8)
    assert "7 of 8" not in screen.getvalue()


def test_durations_in_words():
    assert [duration(s) for s in (0, 10, 89, 90, 3600, 5399, 5400, 7300)] == [
        "10 seconds", "10 seconds", "90 seconds", "2 minutes", "60 minutes", "90 minutes", "2 hours", "3 hours",
    ]  # fmt: skip


@pytest.mark.parametrize("option", ["--baseline", "--policy", "--schema"])
def test_a_file_that_is_not_there_is_named(run, option):
    name = "nosuch.toml" if option == "--schema" else "nosuch.json"
    code, _, err = run("assess", "real.csv", "syn.csv", option, name)
    assert code == 2
    assert f"{name}: cannot be read (No such file" in err.replace("read: No", "read (No")


def test_a_wrong_word_of_a_policy_is_told_with_the_words_it_takes(tmp_path):
    (tmp_path / "mine.toml").write_text('verdicts = ["none found", "none fond"]')
    with pytest.raises(
        ValueError,
        match=r"^mine\.toml: verdicts: no such word: 'none fond'\. hint: use 'excess found', .*'no holdout'\.$",
    ):
        read_policy(tmp_path / "mine.toml")
    (tmp_path / "mine.toml").write_text('[change]\nverdict = "none"')
    with pytest.raises(
        ValueError, match=r"^mine\.toml: \[change\]: verdict: no such word: 'none'\. hint: use 'no change found'\.$"
    ):
        read_policy(tmp_path / "mine.toml")


TITLED = "divulge: real: real.csv: the header was taken from line 3: the 2 lines above it were passed over"
COMMANDS = [
    ("assess", "real.csv", "syn.csv", "--no-membership", "--no-models", "--no-fidelity"),
    ("plan", "real.csv", "syn.csv"),
    ("schema", "real.csv"),
    ("compare", "real.csv", "a=syn.csv", "b=holdout.csv", "--no-membership", "--no-fidelity"),
    ("fidelity", "real.csv", "syn.csv"),
    ("membership", "real.csv", "syn.csv", "holdout.csv"),
    ("quality", "real.csv", "syn.csv"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda c: c[0])
def test_every_command_says_once_how_it_read_a_file(folder, run, command):
    path = folder / "real.csv"
    path.write_text(f"Export of people\n\n{path.read_text()}")
    code, _, err = run(*command)
    assert code in (0, 3)
    assert err.splitlines().count(TITLED) == 1
    if command[0] not in ("plan", "schema"):
        assert run(*command, "--quiet", *(["--out", "other"] if command[0] in ("assess", "compare") else []))[2] == ""
    if command[0] == "assess":
        told = TITLED.removeprefix("divulge: ")
        assert f"How the tables were read:\n\n- {told}\n" in (folder / "divulge-report" / "report.md").read_text()


def test_a_large_file_is_read_in_part_and_its_title_is_told(folder, run, monkeypatch):
    monkeypatch.setattr("divulge.tables.sizes._HEAD", 400)
    path = folder / "real.csv"
    path.write_text(f"Export of people\n\n{path.read_text()}")
    assert run("plan", "real.csv", "syn.csv")[2].splitlines().count(TITLED) == 1


@pytest.mark.parametrize("codes", [(-9,), (-8, -9)])
def test_schema_and_plan_tell_of_numbers_that_may_stand_for_missing(codes, run, folder):
    n = PEOPLE.height
    ages = pl.Series([codes[i % len(codes)] if i % 9 == 0 else 20 + i for i in range(n)])
    for name in ("real", "syn", "holdout"):
        PEOPLE.with_columns(age=ages, pay=ages + 0).write_csv(f"{name}.csv")
    listed, it, them = (
        f"{'-8 and -9' if codes[1:] else '-9'}",
        *(("they stand", "them") if codes[1:] else ("it stands", "it")),
    )
    missing = ",".join(map(str, codes))
    said = (
        f"'age' and 'pay' hold {listed}, far from all others: if {it} for missing, --missing {missing} reads {them} so"
    )
    files = ["real.csv", "syn.csv", "--holdout", "holdout.csv"]
    told = run("schema", "real.csv")[1]
    assert told.startswith(f"# {said}\n") and tomllib.loads(told)["columns"]["age"]["kind"] == "numeric"
    assert said in " ".join(run("plan", *files)[1].split())
    for quiet in (["schema", "real.csv"], ["plan", *files]):
        assert "far from all others" not in run(*quiet, f"--missing={missing}")[1]
    (folder / "both").mkdir()
    for name in ("people", "others"):
        PEOPLE.with_columns(age=ages).write_csv(folder / "both" / f"{name}.csv")
    assert "# 'others.age' and 'people.age' hold" in run("schema", "--tables", "both")[1]
