"""RAPID: the share of records whose target becomes much more probable given the synthetic table."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import Literal

import numpy as np

from divulge.attacks.checks import (
    Floats,
    binned_note,
    checked_keys,
    one_of,
    record_result,
)
from divulge.attacks.entry import Withheld, Words, per_pair
from divulge.attacks.registry import CODED, attack
from divulge.case.case import Case
from divulge.core.errors import SettingError
from divulge.core.result import Result
from divulge.kernels.counts.contingency import ContingencyTable

__all__ = ["rapid"]

_RAPID_WORDS = Words(
    says="With the synthetic table I am much surer of a person's true value than its frequency alone would make me.",
    knows="The keys of one person of the real table, the whole synthetic table, and how often each value occurs.",
    data="Real and synthetic table with the keys and one target; a holdout for risk and verdict. " + CODED,
    formula=(
        "gain of a person = (p - b) / (1 - b)\n"
        "p_T, p_C = share of members, of strangers with gain > tau\n"
        "risk = (p_T - p_C) / (1 - p_C)\n"
        "p: probability that the synthetic rows with the person's key give the true value (0 without such\n"
        "rows), or that a model trained on them gives; b: share of that value in real and holdout."
    ),
    reading=(
        "A gain of 1 is certainty of the true value, 0 is no surer than its frequency, and a negative gain is to be "
        "misled. The rate is the share of people who gain more than tau: 0 nobody, 1 everybody. The baseline is "
        "inside the gain, so none stands beside the rate. Risk 0 means that as many strangers gain, a negative risk "
        "that more of them do. The context has the mean gain of members."
    ),
    silent=(
        "The threshold tau = 0.3 is a convention of the source, and the rate moves with it.",
        "A gain may come from knowledge about the population: only the excess over strangers points at records.",
        "Numeric targets are binned: the percentage error that the source uses for them is not computed.",
        "People whose value everybody has are left out.",
    ),
    settings={
        "tau": "Gain above which a person counts, in [0, 1); the source suggests 0.3.",
        "model": (
            'Where p comes from: "cap" is the synthetic rows with the same key, "boosting" a gradient boosting '
            "trained on the synthetic table."
        ),
    },
)


@attack(
    family="attribution",
    question="How much surer of the true value does the synthetic table make me than its prevalence?",
    needs="keys, target",
    reference="Templ et al. 2026, RAPID: risk of attribute prediction-induced disclosure.",
    words=_RAPID_WORDS,
    plan=per_pair(),
    context={
        "mean gain": Withheld(),
    },
)
def rapid(
    case: Case,
    *,
    keys: Sequence[str],
    target: str,
    tau: float = 0.3,
    model: Literal["cap", "boosting"] = "cap",
) -> Result:
    """Return the share of people whose true value gains more than `tau` in probability over its prevalence.

    The gain of a record is (p - b) / (1 - b), where p is the probability of its true value given the synthetic table
    and b the share of that value among real and holdout records. With `model` "cap" p is the share among the synthetic
    rows with the same key (0 where there are none); with "boosting" it is the prediction of a gradient boosting model
    trained on the synthetic table. Records are skipped if everybody has their value. `context` has the mean gain.

    Examples
    --------
    >>> import polars as pl
    >>> real = pl.DataFrame({"k": [1, 1, 2, 2], "t": ["a", "a", "b", "b"]})
    >>> rapid(real, real, keys=["k"], target="t").real.rate
    1.0
    """
    one_of("model", model, ("cap", "boosting"))
    if not 0 <= tau < 1:
        raise SettingError(f"tau: {tau} is outside [0, 1). hint: the source suggests 0.3.")
    keys, notes = checked_keys(case, keys, target)
    table = case.contingency(keys, target)
    # prevalence in real and holdout pooled: that of members alone would make the members' gains smaller
    prevalence = (table.target_margin(table.o + table.c) / (table.n_o + table.n_c))[table.target]
    if model == "cap":
        p = np.nan_to_num(table.shares(table.s, table.s_key), nan=0.0)
    else:
        p = _model_shares(case, table, keys, target)
    with np.errstate(invalid="ignore", divide="ignore"):
        # rounded: a gain of exactly tau must not exceed it by its last bit
        gain = np.round(np.where(prevalence < 1, (p - prevalence) / (1 - prevalence), np.nan), 12)
    scores = np.where(np.isnan(gain), np.nan, (gain > tau).astype(float))
    used = (table.o > 0) & ~np.isnan(gain)
    # fsum: cells are ordered by code, and the sum must not depend on that order
    mean = fsum(gain[used] * table.o[used]) / int(table.o[used].sum()) if used.any() else None
    return record_result(
        case, table, scores, attack="rapid", variant=model, keys=keys, target=target, settings={"tau": tau},
        context={"mean gain": None if mean is None else round(mean, 12)},
        notes=[*notes, *binned_note(case, [*keys, target])],
    )  # fmt: skip


def _model_shares(case: Case, table: ContingencyTable, keys: tuple[str, ...], target: str) -> Floats:
    """Return the probability of each cell's target, predicted by a model trained on the synthetic table."""
    from divulge.attacks._classifier import predict_proba

    cells = table.cells
    p = np.zeros(len(table.o))
    for role, which in (("real", 0), ("holdout", 2)):
        rows = cells[which]
        if rows is None or not len(rows):
            continue
        classes, share = predict_proba(case, keys, target, fit_on="synthetic", ask=role)
        truth = table.target[rows]
        place = np.searchsorted(classes, truth)
        known = (place < len(classes)) & (classes[np.minimum(place, len(classes) - 1)] == truth)
        own = np.where(known, share[np.arange(len(rows)), np.minimum(place, len(classes) - 1)], 0.0)
        p[rows] = own  # rows of one cell have the same keys, hence the same probability
    return p
