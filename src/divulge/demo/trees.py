"""A small synthesizer for demonstrations: one tree a column, each given the columns before it, sampled leaf by leaf."""

from __future__ import annotations

import numpy as np
import polars as pl

__all__ = ["synthesize"]


def synthesize(real: pl.DataFrame, rng: np.random.Generator, *, min_leaf: int = 5) -> pl.DataFrame:
    """Return a synthetic table of as many rows, after Reiter 2005 (CART synthesis).

    Parameters
    ----------
    real
        Numbers only, no missing values.
    rng
        Source of every draw.
    min_leaf
        Real records in a leaf at least; 1 copies people.

    Examples
    --------
    >>> synthesize(pl.DataFrame({"a": [1, 2] * 20, "b": [3, 4] * 20}), np.random.default_rng(0)).columns
    ['a', 'b']
    """
    from sklearn.tree import DecisionTreeRegressor

    values = real.to_numpy().astype(float)
    n, n_columns = values.shape
    out = np.empty_like(values)
    out[:, 0] = rng.choice(values[:, 0], n)
    for j in range(1, n_columns):
        tree = DecisionTreeRegressor(min_samples_leaf=min_leaf, random_state=int(rng.integers(2**31)))
        leaf_of = tree.fit(values[:, :j], values[:, j]).apply(values[:, :j])
        wanted = tree.apply(out[:, :j])
        for leaf in np.unique(wanted):
            rows = wanted == leaf
            out[rows, j] = rng.choice(values[leaf_of == leaf, j], int(rows.sum()))
    return pl.DataFrame(out, schema=real.columns).cast(dict(real.schema))
