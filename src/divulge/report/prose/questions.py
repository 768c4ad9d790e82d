"""The three questions of WP216: what each asks, how it is tested, and what the test leaves open."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ASKED", "Question"]


@dataclass(frozen=True, slots=True)
class Question:
    """One question, in words."""

    attack: str
    name: str
    definition: str
    says: str
    example: str
    how: str
    table: str
    untested: tuple[str, ...]


ASKED = (
    Question(
        "singling_out",
        "Singling out",
        "Isolating some or all of the records that identify a person.",
        "From the synthetic table alone I wrote down a description that fits exactly one person in your data.",
        "One synthetic row alone is a widower of 34 in a small region. The attacker guesses that exactly one person in "
        "the real table is that too.",
        "Every guess comes from the synthetic table and fits exactly one of its rows. It succeeds where it fits "
        "exactly one real person; strangers are tried with the same guesses, at equal table size. Guesses that mean "
        "the same count once; how many people they single out stands beside. A rare description can fit one person by "
        "chance.",
        "By number of columns",
        (
            "descriptions by somebody who knows more than the synthetic table says",
            "whether a description leads to a name: that takes a register or an acquaintance",
        ),
    ),
    Question(
        "linkability",
        "Linkability",
        "Connecting two records about the same person or group, in one data set or in two.",
        "I hold two lists about the same people with no common key. The synthetic table told me which lines belong "
        "together.",
        "One list has ages and jobs, another postcodes and diagnoses. The attacker joins two lines when the synthetic "
        "row most like the first is also the one most like the second.",
        "For every person the k nearest synthetic rows are found by the columns of the first list, and again by those "
        "of the second. The person is linked where both find the same row; ties count by their probability.",
        "By split and k",
        (
            "lists that hold errors or other people's lines as well",
            "links between a group and its members",
        ),
    ),
    Question(
        "inference",
        "Inference",
        "Deducing the value of an attribute from the values of others, with significant probability.",
        "I know some facts about a person. The synthetic table told me another one.",
        "Somebody knows a colleague's age, job and household, and reads the income off the most similar row.",
        "For every person the target is guessed from the other columns by way of the synthetic table, and compared "
        "with what is right; a number counts as right within a stated tolerance. The same is done for strangers. "
        "What is guessed right of both is known about the population and is no disclosure in this sense, though it can "
        "still harm.",
        "By target",
        ("several secrets at once", "attackers who know fewer of the columns, or something that is in none"),
    ),
)
