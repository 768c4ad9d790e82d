"""Attacks that do no better than guessing without the synthetic table: which they are, and their line in a terminal."""

import pytest
from report_helpers import summary
from test_first_page import found, report

from divulge.report import order

BASELINE = {"hits": 900, "n": 2000, "rate": 0.45}


def guesses(members, verdict="cannot tell", **more):
    """Return a result about guesses of a target, of which 45% are right without the synthetic table."""
    return found("cap", members, members - 10, verdict, keys=("age",), target="income", **{"baseline": BASELINE} | more)


@pytest.mark.parametrize(
    ("result", "blind"),
    [
        (guesses(899), True),
        (guesses(900), True),  # as good as guessing
        (guesses(901), False),
        (guesses(899, "excess found"), False),  # members are hit more often than strangers: told with the others
        (guesses(899, baseline=None), False),  # nothing to guess
    ],
)
def test_blind_is_a_rate_no_higher_than_that_of_guessing(result, blind):
    [made] = report(result).results
    assert order.is_blind(made) is blind


def test_the_terminal_counts_blind_attacks_in_one_line():
    text = summary(report(guesses(899), guesses(800), found("dcr", 100, 90, "cannot tell", variant="closer")))
    assert "2 comparisons do no better than guessing without the table: cap." in text
    one = summary(report(guesses(899), guesses(950)))
    assert "1 comparison does no better than guessing without the table: cap." in one
    assert "guessing without the table" not in summary(report(guesses(950)))
