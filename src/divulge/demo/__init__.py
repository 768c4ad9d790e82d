"""The bundled real table, split in half, and a synthetic table made from one half on the spot."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from divulge.demo.trees import synthesize

__all__ = ["TABLE", "tables"]

TABLE = Path(__file__).with_name("anes96.csv")


def tables(*, seed: int = 0) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Return real, synthetic and holdout: two random halves of the table, and a synthesis of the first.

    Examples
    --------
    >>> [len(t) for t in tables()]
    [472, 472, 472]
    """
    rng = np.random.default_rng(seed)
    everybody = pl.read_csv(TABLE)
    order = rng.permutation(len(everybody))
    half = len(everybody) // 2
    real, holdout = everybody[np.sort(order[:half])], everybody[np.sort(order[half:])]
    return real, synthesize(real, rng), holdout
