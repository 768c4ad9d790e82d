"""`assert_policy` takes a report in each form, and says which conditions are broken."""

import json
import subprocess
import sys

import pytest

from divulge.core.errors import SettingError
from divulge.release.policy import policy_from_toml
from divulge.testing import assert_policy


@pytest.fixture
def report(unsearched):
    return unsearched


def test_a_kept_policy_is_silent(report, tmp_path):
    (tmp_path / "p.toml").write_text('required = ["copies"]\nverdicts = ["cannot tell"]\npreconditions = false')
    found = report.verdict
    text = (tmp_path / "p.toml").read_text().replace("cannot tell", found)
    (tmp_path / "p.toml").write_text(text)
    report.to_json(tmp_path / "a.json")
    for form in (report, report.data, tmp_path / "a.json", str(tmp_path / "a.json")):
        for policy in (policy_from_toml(text), tmp_path / "p.toml", str(tmp_path / "p.toml")):
            assert_policy(form, policy)


def test_broken_conditions_are_listed_one_by_one(report):
    policy = policy_from_toml('name = "mine"\nrequired = ["cap", "linkability"]\n[change]\nverdict = "no change found"')
    with pytest.raises(AssertionError) as raised:
        assert_policy(report, policy, fail_on=["linkability.high > -1", "linkability.high > 1"])
    head, *lines = str(raised.value).splitlines()
    assert head == "the policy «mine» is broken:"
    assert "- cap: was run and compared with strangers: it did not run" in lines
    assert "- change: no risk rose since the previous run: no previous run was given" in lines
    assert [line for line in lines if line.startswith("- linkability")] == [
        line for line in lines if line.startswith("- linkability: simultaneous upper limit of risk at most -1: found ")
    ]


def test_rules_alone_are_judged_alone_and_nothing_is_the_default_policy(report):
    data = json.loads(report.to_json()) | {"verdict": {"verdict": "excess found", "sentence": ""}}
    assert_policy(data, fail_on=["linkability.high > 1"])
    with pytest.raises(AssertionError, match="--fail-on"):
        assert_policy(data, fail_on=["excess"])
    with pytest.raises(AssertionError, match="overall verdict"):
        assert_policy(data)


def test_mistakes_are_no_assertion_errors(report, tmp_path):
    with pytest.raises(SettingError):
        assert_policy(report, fail_on=["copies > 1"])
    with pytest.raises(SettingError):
        assert_policy(report, tmp_path / "none.toml")
    with pytest.raises(SettingError):
        assert_policy(tmp_path / "none.json")


@pytest.mark.slow
def test_pytest_is_not_needed():
    code = "import sys; sys.modules['pytest'] = None; import divulge.testing"
    subprocess.run([sys.executable, "-c", code], check=True)
