"""Baselines of CAP: the success of guesses without the synthetic table, from margins and from a model of strangers."""

from __future__ import annotations

from collections.abc import Sequence

from divulge.attacks.checks import (
    checked_keys,
    marginal_baseline,
    modal_baseline,
)
from divulge.attacks.entry import Words, per_pair
from divulge.attacks.registry import CODED, attack
from divulge.case.case import Case
from divulge.core.result import Rate, Result

__all__ = ["baseline_cap"]

_MODEL_CLASSES = 50
"""Values of a target up to which a model is trained: it grows one tree for each value and iteration. Start value."""
_BASELINE_CAP_WORDS = Words(
    says="I have never seen the synthetic table, and I guess the target all the same.",
    knows=(
        "Which targets occur in the real table, or how often. The model knows the keys of the person, and has "
        "learnt from the holdout what they say of the target."
    ),
    data=(
        "The real table with the keys and one target. The model needs a holdout of at least 50 rows in memory, and "
        "a target of at most 50 values. The synthetic table is not looked at. " + CODED
    ),
    formula=(
        "uniform = 1 / (number of targets that occur)\n"
        "marginal = sum over targets of (o_i / n_T)^2\n"
        "modal = largest o_i / n_T\n"
        "model = share of members whose target a gradient boosting trained on the holdout names from keys\n"
        "o_i: real records with target i of n_T."
    ),
    reading=(
        "Each rate is the share of members guessed right without the release: a baseline to read other rates by. At "
        "1 the target is no secret; only the model can be at 0, and none is negative. Marginal is the floor of "
        "guessing in proportion, as cap does, modal that of naming one value, and the model shows what statistics "
        "about the population give. There is no risk and no verdict."
    ),
    silent=(
        "It says nothing about the synthetic table.",
        "The model is one learner with one setting; a better one may be right more often.",
    ),
)


@attack(
    family="attribution",
    question="How often would I be right without the synthetic table?",
    needs="keys, target; the model needs a holdout",
    reference="Taub, Elliot, Pampaka and Smith 2018 (baseline CAP); Francis and Wagner 2024 (non-member model).",
    words=_BASELINE_CAP_WORDS,
    compared=False,
    plan=per_pair(counted=False),
)
def baseline_cap(case: Case, *, keys: Sequence[str], target: str) -> tuple[Result, ...]:
    """Return the success rates of four ways to guess without the synthetic table.

    "uniform" guesses each occurring value with equal probability. "marginal" guesses in proportion to the frequency of
    values (its success is the sum of squared shares). "modal" guesses the commonest value. "model" predicts the target
    from the keys with a model trained on holdout rows (at least 50 rows, at most 50 values of the target). Shares are
    those of the real table.

    Examples
    --------
    >>> import polars as pl
    >>> real = pl.DataFrame({"k": [1, 1, 2, 2], "t": ["a", "a", "a", "b"]})
    >>> [r.real.rate for r in baseline_cap(real, real, keys=["k"], target="t")]
    [0.5, 0.625, 0.75]
    """
    keys, notes = checked_keys(case, keys, target)
    table = case.contingency(keys, target)
    n = table.n_o
    margin = table.target_margin(table.o)
    rates = {
        "uniform": 1 / int((margin > 0).sum()),
        "marginal": marginal_baseline(table).rate,
        "modal": modal_baseline(table).rate,
    }
    if case.has_holdout and case.in_memory and case.n_rows("holdout") >= 50:
        if (margin > 0).sum() <= _MODEL_CLASSES:
            rates["model"] = _model_rate(case, keys, target)
        else:
            notes.append(f"no model was trained: {target!r} has more than {_MODEL_CLASSES} values")
    return tuple(
        Result(
            attack="baseline_cap",
            variant=variant,
            keys=keys,
            target=target,
            real=Rate(hits=float((rate or 0.0) * n), n=n, rate=rate),
            notes=tuple(notes),
        )
        for variant, rate in rates.items()
    )


def _model_rate(case: Case, keys: tuple[str, ...], target: str) -> float:
    from divulge.attacks._classifier import predict_target

    guess = predict_target(case, keys, target, fit_on="holdout", ask="real")
    return float((guess == case.codes(target)[0]).mean())
