"""WEAP: how well the keys of synthetic rows determine their target within the synthetic table."""

from __future__ import annotations

from collections.abc import Sequence

from divulge.attacks.checks import (
    GRID,
    binned_note,
    checked_keys,
    survival,
)
from divulge.attacks.entry import Coarse, Words, per_pair
from divulge.attacks.registry import CODED, attack
from divulge.case.case import Case
from divulge.core.result import Result, Value
from divulge.stats import Outcomes

__all__ = ["weap"]

_WEAP_WORDS = Words(
    says="I trust the synthetic table, and ask how sure each of its rows makes me of the target.",
    knows="The synthetic table, and nobody in particular.",
    data=(
        "The synthetic table with the keys and one target. The other tables only help to settle kinds and bins of "
        "columns. " + CODED
    ),
    formula=(
        "WEAP of a synthetic row with key j and target i = s_ij / s_j\n"
        "value = mean over the m synthetic rows = sum over cells of s_ij^2 / s_j / m\n"
        "s_ij: synthetic rows with key j and target i; s_j: with key j."
    ),
    reading=(
        "The value is never 0 or negative, and at most 1. At 1 every key points at one target, so that each class "
        "looks certain; the lower it is, the more evenly targets mix under one key. The curve says which share of "
        "the rows reaches each level. There is no baseline, no comparison with strangers and no verdict."
    ),
    silent=(
        "It looks at no person: a class that looks certain may be wrong, and tcap says how often it is right.",
        "Small classes look certain by themselves: with more keys the value grows towards 1.",
    ),
)


@attack(
    family="attribution",
    question="How certain does each synthetic row look to somebody who trusts the table?",
    needs="keys, target",
    reference="Taub and Elliot 2019, The Synthetic Data Challenge (WEAP, TCAP).",
    words=_WEAP_WORDS,
    compared=False,
    plan=per_pair(),
    coarse=Coarse("share", rows="", synthetic=True),
)
def weap(case: Case, *, keys: Sequence[str], target: str) -> Result:
    """Return the within-equivalence-class attribution probability of the synthetic rows on themselves.

    A synthetic row scores s_ij / s_.j; `value.synthetic` is the mean, which synthpop calls CAPs. `curves` has the share
    of synthetic rows that reach each score; at score 1 the class has only one target.

    Examples
    --------
    >>> import polars as pl
    >>> synthetic = pl.DataFrame({"k": [1, 1, 2, 2], "t": ["a", "b", "b", "b"]})
    >>> weap(synthetic, synthetic, keys=["k"], target="t").value.synthetic
    0.75
    """
    keys, notes = checked_keys(case, keys, target)
    table = case.contingency(keys, target)
    scores = table.shares(table.s, table.s_key)
    rows = Outcomes(scores[table.s > 0], table.s[table.s > 0])
    return Result(
        attack="weap",
        keys=keys,
        target=target,
        value=Value(synthetic=float(rows.rate)),
        curves={"at_least": GRID.round(2).tolist(), "synthetic": survival(rows)},
        notes=(*notes, *binned_note(case, [*keys, target])),
    )
