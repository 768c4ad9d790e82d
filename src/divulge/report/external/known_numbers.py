"""The numbers and settings that attacks give, by name, and how each is made coarse; what is not here stays inside."""

from __future__ import annotations

import re

from divulge.attacks.checks import SHOWN
from divulge.core.result import TOWARDS

__all__ = [
    "COUNTS",
    "CURVES",
    "DECIMALS",
    "DIGITS",
    "FITTING",
    "GRIDS",
    "MEDIANS",
    "OF_ROWS",
    "QUANTILE",
    "QUANTILES",
    "SETTINGS",
    "SHARES",
    "STAIRS",
    "SUBGROUP",
    "VALUES",
]

SHARES = {
    "CAP of the original on itself": "real",
    "baseline CAP": "real",
    "baseline: commonest value": "real",
    "guessing in proportion to how often each value occurs": "real",
    "maximum attainable": "real",
    "minimum attainable": "real",
    "model trained on other members, about members": "real",
    "model trained on strangers, about members": "real",
    "original on itself": "real",
    "real records alone on their key": "real",
    "real records in classes below 5": "real",
    "share of people whose link is drawn from ties": "real",
    "share of real rows that equal another real row": "real",
    "share of records whose key is in the synthetic table": "real",
    "share of synthetic rows counted": "synthetic",
    "share of synthetic rows that equal a real row": "synthetic",
    "share of synthetic rows with several nearest people": "synthetic",
}
"""Entries of `context` that are shares, and of whose rows."""

COUNTS = {
    "classes in real": "real",
    "distinct keys in real": "real",
    "distinct people singled out": "real",
    "distinct people singled out, strangers": "holdout",
    "guesses that fit nobody": None,
}
"""Entries that are counts, and of whose people."""

DECIMALS = {
    "ALC": 2,
    "confidence cut-off": 2,
    "chance that a member is closer than a stranger": 3,
    "expected under permuted labels": 2,
    "independent guesses": -1,
    "largest share of one column": 2,
    "mean gain": 2,
    "mean presence": 2,
    "privacy loss": 2,
    "risk that a full copy of the real table would have": 2,
    "share of the way from baseline to original": 2,
    SHOWN: 2,
}
"""Entries that are no counts and rest on everybody: decimals."""

DIGITS = (
    "CAP of the synthetic table",
    "accuracy of data that cannot be told apart",
    "baseline: uniform",
    "classes in synthetic",
    "fdr",
    "fewest people that can be flagged",
    "fewest units that can be flagged",
    "leak-free chance that a member is closer",
    "leak-free excess over strangers",
    "leak-free privacy loss",
    "leak-free share of holdout, without ties",
    "leak-free share of real, without ties",
    "leak-free share, without ties",
    TOWARDS,
    "n w (1 - w)^(n - 1)",
    "synthetic records described",
    "tries",
)
"""Entries that sizes, settings or the synthetic table alone decide."""

MEDIANS = {
    "leak-free ratio (that of the holdout)": "holdout",
    "median among holdout": "synthetic",
    "median among real": "synthetic",
    "median of holdout": "holdout",
    "median of members": "real",
    "median of strangers": "holdout",
    "median of synthetic": "synthetic",
    "median of the random table": "synthetic",
}
"""Medians, and of how many rows."""

QUANTILE = re.compile(r"(?:(of|to) (members|strangers|real|holdout), )?(\d+)% quantile(?: of (members|strangers))?")
FITTING = re.compile(r"guesses that fit more than \d+ people")

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

VALUES: dict[str, str] = {
    "authenticity": "share", "identical_match_share": "share", "epsilon_identifiability": "share",
    "disco": "share", "replicated_uniques": "share", "weap": "share",
    "abstention": "two", "dcap": "two", "nnaa": "two", "t_closeness": "two", "delta_presence": "two",
    "k_anonymity": "class", "l_diversity": "digits", "nndr": "tail",
    "dcr": "median", "dcr_baseline": "median", "exposure": "median",
}  # fmt: skip
"""How the three values of an attack are made coarse."""

OF_ROWS = ("authenticity", "identical_match_share", "nndr", "weap", "disco", "replicated_uniques")
"""Attacks whose values are of synthetic rows, beside those of `dcr` by rows; the others are of each table's own."""

STAIRS = ("members", "strangers", "real", "synthetic", "holdout")
GRIDS = ("at_least", "class size", "diversity at most", "distance at most", "presence at most")
CURVES = {"members": "real", "strangers": "holdout"}

SUBGROUP = re.compile(
    r"value \d+, by frequency|all other values|lowest tenth|highest tenth|the middle(?:, and people without a number)?"
    r"|values of fewer than \d+ people on a side(?:, and the next)?"
)
QUANTILES = ("members", "strangers", "to real", "to holdout", "among real", "among holdout")
"""Curves that are quantiles."""
