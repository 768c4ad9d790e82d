"""Disclosive classes: classes of equal keys in which one target value has at least the share tau."""

from __future__ import annotations

from typing import Any

import numpy as np

from divulge.attacks.checks import (
    Floats,
)
from divulge.core.errors import SettingError
from divulge.kernels.counts.contingency import ContingencyTable, Ints


def check_tau(tau: float) -> None:
    """Raise a `SettingError` unless tau is in (0, 1]."""
    if not 0 < tau <= 1:
        raise SettingError(f"tau: {tau} is outside (0, 1]. hint: 1 asks for certainty.")


def disclosive_keys(table: ContingencyTable, tau: float) -> Any:
    """Return for each key whether the largest target share of its synthetic class is at least tau, shape (n_keys,)."""
    return (table.s_key > 0) & (table.largest(table.s) >= least_count(tau, table.s_key))


def disclosive_hits(table: ContingencyTable, tau: float) -> Floats:
    """Return for each cell 1 if its target has at least the share tau in its synthetic class, else 0."""
    total = table.s_key[table.key]
    return ((total > 0) & (table.s > 0) & (table.s >= least_count(tau, total))).astype(float)


def least_count(tau: float, total: Ints) -> Floats:
    """Return tau * total less a margin for rounding: 0.56 of 25 is 14.000000000000002 in floats."""
    return np.asarray(tau * total - 1e-9, dtype=np.float64)
