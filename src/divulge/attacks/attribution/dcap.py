"""DCAP, differential CAP: mean CAP less its baseline, beside the CAP of the real table on itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec.structs import replace

from divulge.attacks.attribution.scores import (
    _weighted,
    cap_scores,
)
from divulge.attacks.checks import (
    binned_note,
    checked_keys,
    marginal_baseline,
    one_of,
    record_result,
)
from divulge.attacks.entry import Coarse, Withheld, Words, per_pair
from divulge.attacks.registry import CODED, attack
from divulge.case.case import Case
from divulge.core.result import Rate, Result, Value

__all__ = ["dcap"]

_DCAP_WORDS = Words(
    says=("I compare what the synthetic table tells me about a person with what the target's own frequencies tell me."),
    knows="The keys of one person of the real table, the whole synthetic table, and how often each target occurs.",
    data="Real and synthetic table with the keys and one target; a holdout shows the same for strangers. " + CODED,
    formula=(
        "value = mean CAP - baseline\n"
        "share of the way = (mean CAP - baseline) / (CAP of the original on itself - baseline)\n"
        "mean CAP = mean over people of s_ij / s_j\n"
        "CAP of the original on itself = sum over cells of o_ij^2 / o_j / n_T\n"
        "baseline = sum over targets of (o_i / n_T)^2\n"
        "o, s: real records and synthetic rows with target i and key j; o_j, s_j: with key j."
    ),
    reading=(
        "0 means no better than guessing in proportion to the real frequencies; 1 less the baseline is the most "
        "there can be; a negative value means that the table misleads. The value of strangers is against the same "
        "baseline: where it is alike, what is gained is knowledge about the population. There is no risk and no "
        "verdict; cap gives both."
    ),
    silent=(
        "A positive value is no leak: a good table about a predictable target has one.",
        "The CAP of the original on itself is no upper bound, although the literature uses it as a ceiling.",
        "A mean hides single people.",
    ),
    settings={
        "unseen": 'Records whose key no synthetic row has: "zero" scores them 0, "skip" leaves them out.',
    },
)


@attack(
    family="attribution",
    question="How far from the floor to the ceiling does the synthetic table bring me?",
    needs="keys, target",
    reference="Taub, Elliot, Pampaka and Smith 2018, Differential Correct Attribution Probability.",
    words=_DCAP_WORDS,
    compared=False,
    sampled=True,
    plan=per_pair(),
    coarse=Coarse(),
    context={
        "CAP of the original on itself": Withheld(),
        "CAP of the synthetic table": Withheld(),
        "baseline CAP": Withheld(),
        "share of the way from baseline to original": Withheld(),
    },
)
def dcap(case: Case, *, keys: Sequence[str], target: str, unseen: Literal["skip", "zero"] = "zero") -> Result:
    """Return the differential CAP: mean CAP less the success of guessing from the target's distribution.

    `value` is mean CAP less the sum of squared target shares, for real and holdout records. `context` has the
    reference points: the CAP of the real table on itself (the ceiling in that literature), the baseline (its floor),
    and the position of the mean CAP between them as a share. There is no verdict; `cap` has one, on the excess over
    strangers.

    Examples
    --------
    >>> import polars as pl
    >>> real = pl.DataFrame({"k": [1, 1, 2, 2], "t": ["a", "a", "b", "b"]})
    >>> dcap(real, real, keys=["k"], target="t").value.real
    0.5
    """
    one_of("unseen", unseen, ("skip", "zero"))
    keys, notes = checked_keys(case, keys, target)
    table = case.contingency(keys, target)
    scores = cap_scores(table, unseen)
    result = record_result(
        case, table, scores, attack="dcap", variant=unseen, keys=keys, target=target,
        baseline=marginal_baseline(table), notes=[*notes, *binned_note(case, [*keys, target])], judged=False,
    )  # fmt: skip
    assert result.baseline is not None and result.baseline.rate is not None
    floor = result.baseline.rate
    ceiling = _weighted(table.shares(table.o, table.o_key), table.o)
    mean, strangers = _rate(result.real), _rate(result.holdout)
    return replace(
        result,
        value=Value(real=_less(mean, floor), holdout=_less(strangers, floor)),
        context={
            "CAP of the original on itself": ceiling,
            "baseline CAP": floor,
            "CAP of the synthetic table": mean,
            "share of the way from baseline to original": (
                (mean - floor) / (ceiling - floor) if mean is not None and ceiling > floor else None
            ),
        },
    )


def _rate(rate: Rate | None) -> float | None:
    return rate.rate if rate else None


def _less(a: float | None, b: float) -> float | None:
    return None if a is None else a - b
