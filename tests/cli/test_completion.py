"""Completion in a shell."""

import os
import subprocess
import sys

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from divulge.cli import cli


@pytest.mark.parametrize(
    ("shell", "words"), [("bash", "complete -o nosort -F"), ("zsh", "#compdef divulge"), ("fish", "complete ")]
)
def test_a_script_is_printed(shell, words):
    done = CliRunner().invoke(cli, ["completion", shell])
    assert done.exit_code == 0
    assert words in done.output
    assert "_DIVULGE_COMPLETE" in done.output


def test_other_shells_are_refused():
    assert CliRunner().invoke(cli, ["completion", "csh"]).exit_code == 2


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("divulge ass", "plain,assess"),
        ("divulge split --hold", "plain,--holdout"),
        ("divulge plan --peo", "plain,--people"),
    ],
)
def test_what_is_begun_is_completed(words, wanted):
    asked = {"_DIVULGE_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    code = "import sys; sys.argv = ['divulge']; from divulge.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | asked, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stdout.split() == [wanted]


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("split", "file"), ("gate", "file"), ("gate a.json --policy", "file"), ("gate a.json --junit", "file"),
        ("policy --check", "file"), ("compare", "file"), ("compare real.csv a.csv", "file"), ("schema --schema", "file"),
        ("compare a b --holdout", "file"), ("assess --policy", "file"), ("assess --baseline", "file"),
        ("assess --junit", "file"), ("assess --out", "dir"), ("split --out", "dir"), ("compare --out", "dir"),
        ("assess", "file"), ("assess real.csv", "file"), ("plan", "file"), ("plan --json", "file"), ("schema", "file"), ("render", "file"), ("split --seed", None),
    ],
)  # fmt: skip
def test_files_and_folders_are_left_to_the_shell(words, kind):
    found = ShellComplete(cli, {}, "divulge", "_DIVULGE_COMPLETE").get_completions(words.split(), "tr")
    assert [(c.value, c.type) for c in found] == ([] if kind is None else [("tr", kind)])


def test_attacks_are_completed():
    found = ShellComplete(cli, {}, "divulge", "_DIVULGE_COMPLETE").get_completions(["explain"], "ca")
    assert [(c.value, c.type) for c in found] == [("cap", "plain"), ("cap_minimum", "plain"), ("cardinality", "plain")]


@pytest.mark.parametrize("command", ["assess a b", "compare a b c"])
def test_no_job_is_not_every_core(command):
    done = CliRunner().invoke(cli, [*command.split(), "--jobs", "0"])
    assert done.exit_code == 2
    assert "'--jobs': 0 is not in the range" in done.output


def test_reveal_says_what_it_takes_and_for_which_edition():
    told = " ".join(CliRunner().invoke(cli, ["assess", "--help"]).output.split())
    assert "'values' shows the values that define subgroups in a custodian's edition" in told
    assert "'columns' shows column names in an external one" in told
