"""Cases of SDV's overlaps: real and synthetic columns, and the columns that are asked."""

import numpy as np
import pandas as pd

_RNG = np.random.default_rng(0)


def moments(values):
    return pd.to_datetime(pd.Series(values))


CASES = {
    "texts": ({"a": ["x", "y", None, "z"]}, {"a": ["y", None, "w", "y"]}, ["a"]),
    "whole and decimal": ({"a": [1, 2, 3]}, {"a": [1.0, 2.5, np.nan]}, ["a"]),
    "booleans and numbers": ({"a": [True, False]}, {"a": [1, 7]}, ["a"]),
    "numbers and texts": ({"a": [1, 2, 3]}, {"a": ["1", "2.0", "x"]}, ["a"]),
    "missing numbers": ({"a": [1.5, np.nan]}, {"a": [np.nan, 2.5]}, ["a"]),
    "moments and texts": ({"a": moments(["2020-01-01", "2020-02-03"])}, {"a": ["2020-02-03", "no date"]}, ["a"]),
    "moments": ({"a": moments(["2020-01-01", None])}, {"a": moments(["2020-01-01", "2021-01-01"])}, ["a"]),
    "two columns": (
        {"a": [1, 2, 2, 3], "b": ["u", "v", None, "u"]},
        {"a": [2.0, 3.0, 1.0], "b": [None, "v", "u"]},
        ["a", "b"],
    ),
    "many": (
        {c: _RNG.integers(0, 9, 300) for c in "ab"},
        {c: _RNG.integers(0, 9, 40) for c in "ab"},
        ["a", "b"],
    ),
    "none": ({"a": ["x"]}, {"a": ["y"]}, ["a"]),
    "few": ({"a": list(range(100))}, {"a": [5, *range(200, 300)]}, ["a"]),
}
