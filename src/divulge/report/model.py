"""What a report is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass

__all__ = ["FORMAT", "NOT_TESTED"]

FORMAT = "divulge-assessment/1"
NOT_TESTED = (
    ("membership", "is somebody in the real table at all?"),
    ("singling_out", "can a description that fits one synthetic row single out one person?"),
    ("linkability", "can two sets of columns of one person be joined through the synthetic table?"),
    ("reconstruction", "can secrets be solved for from the counts of the synthetic table?"),
)
"""What is said not to be tested, unless an attack of that name is among the results."""
