"""Completion in a shell."""

import os
import subprocess
import sys

import pytest
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
    ("words", "wanted"), [("divulge ass", "plain,assess"), ("divulge split --hold", "plain,--holdout")]
)
def test_what_is_begun_is_completed(words, wanted):
    asked = {"_DIVULGE_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    code = "import sys; sys.argv = ['divulge']; from divulge.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | asked, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stdout.split() == [wanted]
