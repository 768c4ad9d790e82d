"""The gate as a test beside those of your synthesizer: `python make_tables.py && pytest test_release.py`."""

import pytest

import divulge
from divulge.testing import assert_policy


@pytest.fixture(scope="module")
def report():
    """Attack the table once for all tests; where one fails, the report lies in divulge-report/."""
    found = divulge.assess("real.csv", "synthetic.csv", "holdout.csv", targets=["vote"], search="off", models=False)
    found.write("divulge-report")
    return found


def test_the_table_may_leave_the_house(report):
    """Each condition of the policy is kept."""
    assert_policy(report, "policy.toml")


def test_nobody_is_copied(report):
    """A rule alone will do too."""
    assert_policy(report, fail_on=["copies.low > 0"])
