"""The gate as a test beside those of your synthesizer: `python make_tables.py && pytest test_release.py`."""

import pytest

import divulge
from divulge.testing import assert_policy


@pytest.fixture(scope="module")
def report():
    """Attack the table once for all tests."""
    real, synthetic, holdout = (divulge.read(f"{role}.csv", role=role) for role in ("real", "synthetic", "holdout"))
    return divulge.assess(real, synthetic, holdout=holdout, targets=["vote"], search="off", models=False)


def test_the_table_may_leave_the_house(report):
    """Each condition of the policy is kept."""
    assert_policy(report, "policy.toml")


def test_nobody_is_copied(report):
    """A rule alone will do too."""
    assert_policy(report, fail_on=["copies.low > 0"])
