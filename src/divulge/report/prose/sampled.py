"""What a report says where a random sample of people was asked."""

from __future__ import annotations

from divulge.core.result import number
from divulge.report.model import Assessment, Sampling

__all__ = ["RATE", "sample_in_words", "sampled_in_words"]

RATE = 0.02
"""Rate of strangers who are hit, for which the smallest excess is told."""


def sampled_in_words(data: Assessment) -> str:
    """Return who was asked, of how many, and what they show; "" where everybody was asked."""
    if data.settings.people is None:
        return ""
    s = data.sampling
    if s is None:
        return "Attacks whose numbers are means over people asked a random sample of them; all others asked everybody."
    return (
        f"A random sample was asked by the attacks that it will do for: {sample_in_words(s)}. All other attacks asked "
        "everybody, and every attack searched the whole synthetic table."
    )


def sample_in_words(s: Sampling) -> str:
    """Return how many were asked, of how many, and the smallest excess that they show."""
    told = f"{s.members:,} of {s.of_members:,} members"
    if not s.of_strangers:
        return told
    told += f" and {s.strangers:,} of {s.of_strangers:,} strangers"
    if s.excess is None:
        return f"{told}; no excess would be found"
    return f"{told}; an excess of {number(s.excess)} would be found where {RATE:.0%} of strangers are hit"
