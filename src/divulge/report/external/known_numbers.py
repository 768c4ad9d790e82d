"""The settings and group names that an external edition shows, by name; others are left out."""

from __future__ import annotations

__all__ = ["SETTINGS"]

SETTINGS = (
    "tau",
    "k",
    "fdr",
    "neighbour",
    "within",
    "known",
    "tolerance",
    "c",
    "split",
    "ratio at most",
    "guesses",
    "tries",
    "weight at most",
    "reads",
)
"""Settings of a result that are shown unchanged; `results` handles lists and numbers of columns. "most people" and
"rows" count people, and "subsamples" tells whether the tables have one size."""
