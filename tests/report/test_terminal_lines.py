"""The terminal: the first page in sentences, the questions, and what it tells in a line and not in its table."""

import pytest
from report_helpers import summary
from test_first_page import CALM, EXACT, VERBATIM, found, report

from divulge.report import order
from divulge.report.prose.decision import decision
from divulge.report.prose.tiles import tiles

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


def test_scores_of_membership_fill_no_table_of_the_terminal():
    scores = [found("membership", 900 - i, 200, "excess found", variant=f"score {i}") for i in range(7)]
    text = summary(report(*scores, guesses(950)))
    assert "membership (score" not in text
    line = " ".join(text[text.index("Membership: excess found") :].split("\n\n")[0].split())
    assert " Risk 0.350, 0.340 to 0.370 together with all comparisons of this attack." in line


def test_the_terminal_begins_with_the_sentences_of_the_first_page():
    facts = VERBATIM | {"verbatim": VERBATIM["verbatim"] | {"members": 100, "strangers": 0}}
    data = report(EXACT, *CALM[1:], facts=facts)
    text, page = " ".join(summary(data).split()), decision(data)
    told = [page.headline, page.release, page.at_risk, "Copies: excess found. Of 2,000 members", "Singling out:",
            "In full: What was found."]  # fmt: skip
    places = [text.index(t) for t in told]
    assert places == sorted(places)
    assert "The whole record of" not in text  # the headline says it
    named = facts | {"verbatim": facts["verbatim"] | {"named": 3}}
    assert "3 of these members are named" in " ".join(summary(report(EXACT, facts=named)).split())


def test_a_finding_of_another_variant_is_the_answer_of_the_terminal_as_of_the_tile():
    rest = [found("singling_out", 40, 41, "none found", variant=f"{n} columns") for n in (2, 3)]
    data = report(*rest, found("singling_out", 400, 300, "excess found", variant="4 columns"))
    assert tiles(data)[1].state == "excess found"
    assert "Singling out: excess found. Of 2,000 descriptions of 4 columns" in " ".join(summary(data).split())
