"""The settings and curves that an external edition shows, by name, and how curves are rounded; others are left out."""

from __future__ import annotations

import re

__all__ = [
    "CURVES",
    "GRIDS",
    "QUANTILES",
    "SETTINGS",
    "STAIRS",
    "SUBGROUP",
]

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
    "subsamples",
    "ratio at most",
    "guesses",
    "most people",
    "tries",
    "weight at most",
)
"""Settings of a result that are shown unchanged; `results` handles lists of columns and numbers of rows."""

STAIRS = ("members", "strangers", "real", "synthetic", "holdout")
GRIDS = ("at_least", "class size", "diversity at most", "distance at most", "presence at most")
CURVES = {"members": "real", "strangers": "holdout"}

SUBGROUP = re.compile(
    r"value \d+, by frequency|all other values|lowest tenth|highest tenth|the middle(?:, and people without a number)?"
    r"|values of fewer than \d+ people on a side(?:, and the next)?"
)
QUANTILES = ("members", "strangers", "to real", "to holdout", "among real", "among holdout")
"""Curves that are quantiles."""
