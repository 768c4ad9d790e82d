"""The settings and curves that attacks give, by name, and how each is made coarse; what is not here stays inside."""

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
"""Settings of a result that are let through as they are; lists of columns and numbers of rows are seen to besides."""

STAIRS = ("members", "strangers", "real", "synthetic", "holdout")
GRIDS = ("at_least", "class size", "diversity at most", "distance at most", "presence at most")
CURVES = {"members": "real", "strangers": "holdout"}

SUBGROUP = re.compile(
    r"value \d+, by frequency|all other values|lowest tenth|highest tenth|the middle(?:, and people without a number)?"
    r"|values of fewer than \d+ people on a side(?:, and the next)?"
)
QUANTILES = ("members", "strangers", "to real", "to holdout", "among real", "among holdout")
"""Curves that are quantiles."""
