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
import yaml

from divulge.release.conditions import conditions
from divulge.release.policy import read_policy
from divulge.testing import assert_policy

EXAMPLES = Path(__file__).parent.parent / "examples"
PLANTED = 80
ASKED = len(conditions(read_policy(EXAMPLES / "policy.toml")))


def steps(name):
    """The steps of a workflow, or of an action."""
    read = yaml.safe_load((EXAMPLES / name).read_text())
    return read["runs"]["steps"] if "runs" in read else read["jobs"]["gate"]["steps"]


ACTION_TEXT = (EXAMPLES / "action/action.yml").read_text()
ACTION = steps("action/action.yml")
GIVEN = next(step["with"] for step in steps("github-action.yml") if step.get("uses", "").endswith("/action"))


def bash(command, folder, **variables):
    environment = os.environ | {
        "GITHUB_STEP_SUMMARY": "summary.md",
        "GITHUB_OUTPUT": "output.txt",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", command], cwd=folder,
        env=environment | variables, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout


def run(step, folder):
    """Run a step of the action as GitHub does, with the inputs of the workflow."""
    inputs = {name: one.get("default", "") for name, one in yaml.safe_load(ACTION_TEXT)["inputs"].items()} | GIVEN
    given = {
        name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: inputs[found[1]], value)
        for name, value in step.get("env", {}).items()
    }
    return bash(step["run"], folder, **given)


def night(folder, planted):
    """One night: the tables are made, and the action's own steps run on them, whether or not the gate is open."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(sys, "argv", ["make_tables.py", "--plant", str(planted)])
        runpy.run_path("make_tables.py", run_name="__main__")
    install, attack, *after = [step for step in ACTION if "run" in step]
    assert install["run"] == 'python -m pip install "$GITHUB_ACTION_PATH/../.."'  # not run: it needs an index
    code, out = run(attack, folder)
    for step in after:
        if "!cancelled()" in step.get("if", "") or not code:
            assert run(step, folder)[0] == 0
    return code, out


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """The folder of the first night, its exit status and output."""
    folder = tmp_path_factory.mktemp("nightly")
    for name in ("make_tables.py", "policy.toml", "test_release.py"):
        shutil.copy(EXAMPLES / name, folder)
    return folder, *night(folder, 0)


@pytest.fixture(scope="module", params=[0, PLANTED], ids=["kept", "planted"])
def nightly(request, first, tmp_path_factory):
    """The folder of a night, how many rows are planted, exit status and output; the second night has a baseline."""
    if not request.param:
        return first[0], 0, *first[1:]
    folder = tmp_path_factory.mktemp("next")
    for name in ("make_tables.py", "policy.toml"):
        shutil.copy(EXAMPLES / name, folder)
    shutil.copytree(first[0] / "divulge-baseline", folder / "divulge-baseline")  # GitHub's cache keeps it
    return folder, request.param, *night(folder, request.param)


@pytest.mark.slow
def test_the_workflow_ends_as_its_policy_asks(nightly):
    _, planted, code, out = nightly
    assert code == (1 if planted else 0), out
    assert f"release of the survey: {ASKED} conditions" in out
    assert "Traceback" not in out
    assert ("copies: simultaneous lower limit of risk at most 0: found" in out) == bool(planted)


@pytest.mark.slow
def test_the_action_leaves_what_it_uploads(nightly):
    folder, planted, *_ = nightly
    uploaded = [folder / step["with"]["path"] for step in ACTION if "upload" in step.get("uses", "")]
    assert [sorted(p.name for p in place.iterdir()) for place in uploaded] == [
        ["assessment.json", "junit.xml", "report.html", "report.md"]
    ]
    outside = json.loads((uploaded[0] / "assessment.json").read_bytes())
    assert outside["edition"] == "external"
    assert (folder / "summary.md").read_text() == (uploaded[0] / "report.md").read_text()
    assert (folder / "output.txt").read_text() == f"verdict={outside['verdict']['verdict']}\n"
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


@pytest.mark.slow
def test_the_baseline_is_the_last_build_that_was_let_through(nightly):
    folder, planted, _, out = nightly
    kept = json.loads((folder / "divulge-baseline/assessment.json").read_bytes())
    change = json.loads((folder / "divulge-report/assessment.json").read_bytes())["change"]
    assert (kept["edition"], kept["revealed"], kept["verdict"]["verdict"]) == ("external", ["columns"], "cannot tell")
    assert (change is None) == (not planted)
    if planted:
        assert (change["verdict"], change["previous_started"]) == ("rose", kept["started"])
        assert "Change: Since the run of" in out


def test_the_action_keeps_and_shows_nothing_but_external_editions():
    places = [step["with"]["path"] for step in ACTION if "with" in step]
    assert set(places) == {"${{ inputs.baseline }}", "divulge-report/external"}
    used = {step["uses"].partition("@")[0] for step in ACTION if "uses" in step}
    assert used == {"actions/cache/restore", "actions/cache/save", "actions/upload-artifact"}
    written = [
        line for step in ACTION for line in step.get("run", "").splitlines() if "SUMMARY" in line or "--out" in line
    ]
    assert all("external" in line for line in written) and len(written) == 2
    assert set(GIVEN) <= set(yaml.safe_load(ACTION_TEXT)["inputs"])


def test_options_of_the_action_are_words_and_no_program(tmp_path):
    attack = next(step["run"] for step in ACTION if step.get("id") == "assess")
    words = "\n".join(
        line for line in attack.splitlines() if "options" in line and "divulge" not in line and "BASELINE" not in line
    )
    show = f"{words}\nprintf '<%s>' \"${{options[@]}}\""
    told = [
        bash(show, tmp_path, OPTIONS=o)[1] for o in ("", "--keys 'age, x' \"b c\"", "$(touch evil); `touch evil` -n")
    ]
    assert told == ["<>", "<--keys><age, x><b c>", "<$(touch><evil);><`touch><evil`><-n>"]
    assert not list(tmp_path.iterdir())
