"""What a report says where a random sample of people was asked."""

from __future__ import annotations

from divulge.core.result import number
from divulge.report.model import Assessment

__all__ = ["RATE", "sampled_in_words"]

RATE = 0.02
"""Rate of strangers who are hit, for which the smallest excess is told."""


def sampled_in_words(data: Assessment) -> str:
    """Return who was asked, of how many, and what they show; "" where everybody was asked."""
    if data.settings.people is None:
        return ""
    s = data.sampling
    if s is None:
        return "Attacks whose numbers are means over people asked a random sample of them; all others asked everybody."
    told = f"{s.members:,} of {s.of_members:,} members"
    if s.of_strangers:
        told += f" and {s.strangers:,} of {s.of_strangers:,} strangers"
    found = ""
    if s.of_strangers:
        found = "; no excess would be found" if s.excess is None else (
            f"; an excess of {number(s.excess)} would be found where {RATE:.0%} of strangers are hit"
        )  # fmt: skip
    return (
        f"A random sample was asked by the attacks that it will do for: {told}{found}. All other attacks asked "
        "everybody, and every attack searched the whole synthetic table."
    )
