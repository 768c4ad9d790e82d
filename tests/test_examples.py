"""The examples run as they stand: the steps of the workflow, the policy and the test of a release."""

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from divulge.release.conditions import conditions
from divulge.release.policy import read_policy
from divulge.testing import assert_policy

EXAMPLES = Path(__file__).parent.parent / "examples"
PLANTED = 40
ASKED = len(conditions(read_policy(EXAMPLES / "policy.toml")))


def steps(text):
    """The commands of a workflow's steps, those of a block scalar with its lines."""
    lines, found = text.splitlines(), []
    for i, line in enumerate(lines):
        run = re.match(r"( +)(?:- )?run: (.*)", line)
        if run and run[2] == "|":
            block = []
            for deeper in lines[i + 1 :]:
                if deeper.strip() and len(deeper) - len(deeper.lstrip()) <= len(run[1]):
                    break
                block.append(deeper.strip())
            found.append("\n".join(block))
        elif run:
            found.append(run[2])
    return found


def bash(command, folder):
    environment = os.environ | {
        "GITHUB_STEP_SUMMARY": "summary.md",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    done = subprocess.run(
        ["bash", "-e", "-c", command], cwd=folder, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout


@pytest.fixture(scope="module", params=[0, PLANTED], ids=["kept", "planted"])
def nightly(request, tmp_path_factory):
    """The folder of one night, how many rows are planted, and exit status and output of its steps."""
    folder = tmp_path_factory.mktemp("nightly")
    for name in ("make_tables.py", "policy.toml", "test_release.py"):
        shutil.copy(EXAMPLES / name, folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(sys, "argv", ["make_tables.py", "--plant", str(request.param)])
        runpy.run_path("make_tables.py", run_name="__main__")
    policy, attack, *after = [
        c for c in steps((EXAMPLES / "github-action.yml").read_text()) if c.startswith(("divulge ", "cat "))
    ]
    assert bash(policy, folder)[0] == 0
    code, out = bash(attack, folder)
    for command in after:  # they are made although the gate is closed
        assert bash(command, folder)[0] == 0
    return folder, request.param, code, bash(policy, folder)[1] + out


@pytest.mark.slow
def test_the_workflow_ends_as_its_policy_asks(nightly):
    _, planted, code, out = nightly
    assert code == (1 if planted else 0), out
    assert f"release of the survey: {ASKED} conditions" in out
    assert "Traceback" not in out
    assert ("copies: simultaneous lower limit of risk at most 0: found" in out) == bool(planted)


@pytest.mark.slow
def test_the_workflow_leaves_what_it_uploads(nightly):
    folder, planted, *_ = nightly
    workflow = (EXAMPLES / "github-action.yml").read_text()
    uploaded = folder / re.search(r"upload-artifact@v4\n.*\n.*\n +path: (\S+)\n", workflow)[1]
    assert sorted(p.name for p in uploaded.iterdir()) == ["assessment.json", "junit.xml", "report.html", "report.md"]
    assert json.loads((uploaded / "assessment.json").read_bytes())["edition"] == "external"
    assert (folder / "summary.md").read_text() == (uploaded / "report.md").read_text()
    suite = next(s for s in ET.parse(folder / "divulge-report/junit.xml").getroot() if s.get("name") == "policy")
    # one more where members are named
    assert suite.get("tests") == str(ASKED + bool(planted))
    assert (suite.get("failures") == "0") == (not planted)


@pytest.mark.slow
def test_the_test_of_a_release_runs(nightly):
    folder, planted, *_ = nightly
    if planted:
        # no second attack on the table: the report of the workflow is judged by the same lines
        with pytest.raises(
            AssertionError, match="the policy «release of the survey» is broken:\n- nobody is named by a record"
        ):
            assert_policy(folder / "divulge-report/assessment.json", folder / "policy.toml")
        return
    code, out = bash(f"'{sys.executable}' -m pytest -q -p no:cacheprovider test_release.py", folder)
    assert code == 0, out
    assert "2 passed" in out


def test_the_steps_are_read():
    text = "    steps:\n      - run: one\n      - name: two\n        run: |\n          a \\\n            b\n\n      - uses: x\n"
    assert steps(text) == ["one", "a \\\nb\n"]
    assert sum(c.startswith("divulge ") for c in steps((EXAMPLES / "github-action.yml").read_text())) == 3
