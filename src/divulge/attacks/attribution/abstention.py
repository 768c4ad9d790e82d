"""Abstention: precision and recall of an attacker who answers only above a confidence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from divulge.attacks.attribution.scores import modal_scores
from divulge.attacks.checks import (
    binned_note,
    checked_keys,
    modal_baseline,
)
from divulge.attacks.entry import Coarse, Withheld, Words, per_pair
from divulge.attacks.registry import CODED, attack
from divulge.case.case import Case
from divulge.core.result import Baseline, Result, Value
from divulge.stats.selective_prediction import abstaining, prc

__all__ = ["abstention"]

_ABSTENTION_WORDS = Words(
    says="I guess only about people of whom the synthetic table looks sure, and keep silent about the rest.",
    knows="The keys of each person of the real table, and the whole synthetic table.",
    data="Real and synthetic table with the keys and one target; a holdout for the coefficient. " + CODED,
    formula=(
        "answer = commonest target of the matching synthetic rows; confidence = its share of them\n"
        "P = right guesses / guesses;  R = guesses / people\n"
        "PRC = P * (1 - (log10 R / log10 0.0001)^3), and R where R <= 0.0001\n"
        "ALC = (PRC of members - PRC of strangers) / (1 - PRC of strangers)\n"
        "The cut-off of confidence that maximises the PRC is chosen on one random half of all people, where\n"
        "the Wilson interval of P is narrower than 0.1, and judged on the other half."
    ),
    reading=(
        "A PRC of 1 is to guess about everybody and to be right; 0 is never right, or no guess. The baseline is the "
        "PRC of naming the commonest value for everybody. An ALC of 1 is as bad as publishing the original, 0 no "
        "better than against strangers, negative worse than that. Precision and recall say how many guesses stand "
        "behind it. Without enough people for any cut-off all are undefined."
    ),
    silent=(
        "It has no interval and no verdict.",
        "Which half chooses the cut-off is drawn: with few people the numbers move with the seed.",
        "The attacker looks keys up and learns nothing: inference has ways to guess that do.",
    ),
)


@attack(
    family="attribution",
    question="I guess only where the synthetic table looks sure; how often am I right, and about how many?",
    needs="keys, target, holdout",
    reference="Francis and Wagner 2025, Towards Better Attribute Inference Vulnerability Measures (PRC, ALC).",
    words=_ABSTENTION_WORDS,
    compared=False,
    sampled=True,
    plan=per_pair(),
    coarse=Coarse(),
    context={
        "ALC": Withheld(),
        "confidence cut-off": Withheld(),
        "precision": Withheld(),
        "precision, strangers": Withheld(),
        "recall": Withheld(),
        "recall, strangers": Withheld(),
    },
    notes=("no cut-off has a precision known to within #: too few people for a choice",),
)
def abstention(case: Case, *, keys: Sequence[str], target: str) -> Result:
    """Return precision and recall of an attacker who abstains below a confidence, and the anonymity loss coefficient.

    The attacker guesses the commonest target of the matching synthetic rows; guesses are ordered by confidence, highest
    first. The cut-off that maximises the PRC is chosen on one half of all people, members and strangers alike
    (precision is the middle of a Wilson interval narrower than 0.1), and evaluated on the other half. `value` is the
    PRC for members and for strangers; `context` has the ALC = (PRC - PRC of strangers) / (1 - PRC of strangers),
    precision, recall and cut-off; `curves` has the precision at each recall. All are None if there are too few people
    for any cut-off.

    Examples
    --------
    >>> import polars as pl
    >>> real = pl.DataFrame({"k": [1, 2] * 500, "t": ["a", "b"] * 500})
    >>> round(abstention(real, real, keys=["k"], target="t").value.real, 3)
    1.0
    """
    keys, notes = checked_keys(case, keys, target)
    table = case.contingency(keys, target)
    sure = np.where(table.s_key > 0, table.largest(table.s) / np.maximum(table.s_key, 1), 0.0)[table.key]
    right = modal_scores(table, "zero")
    found = abstaining(
        np.tile(right, 2), np.tile(sure, 2), np.repeat([True, False], len(right)), case.rng("abstention"),
        count=np.concatenate([table.o, table.c]),
    )  # fmt: skip
    shown = ["precision", "recall", "confidence cut-off"]
    if case.has_holdout:
        shown += ["precision, strangers", "recall, strangers", "ALC"]
    if found.context["confidence cut-off"] is None:
        notes = [*notes, "no cut-off has a precision known to within 0.1: too few people for a choice"]
    prior = modal_baseline(table).rate or 0.0
    return Result(
        attack="abstention",
        keys=keys,
        target=target,
        value=Value(real=found.context["PRC"], holdout=found.context["PRC, strangers"]),
        baseline=Baseline(rate=prc(prior, 1.0), what="PRC of naming the commonest value for everybody"),
        context={k: found.context[k] for k in shown},
        curves=dict(found.curves),
        notes=(*notes, *binned_note(case, [*keys, target])),
    )
