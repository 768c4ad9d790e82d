"""CAP, the correct attribution probability: the share of synthetic rows with a person's key that have their target.

A *cell* is one (key, target); o, c, s count real, holdout and synthetic records in it, and o_key, c_key, s_key in
its key. Every score here is a function of the cell, so it is computed once for each occupied cell.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from divulge.attacks.attribution.scores import (
    _CAP_PAPER,
    _UNSEEN,
    Unseen,
    _weighted,
    cap_scores,
    maximum_of,
    minimum_of,
)
from divulge.attacks.checks import (
    Floats,
    binned_note,
    checked_keys,
    marginal_baseline,
    modal_baseline,
    one_of,
    record_result,
)
from divulge.attacks.entry import Count, Primary, Record, Share, Withheld, Words, per_pair
from divulge.attacks.registry import CODED, attack
from divulge.case.case import Case
from divulge.core.result import Result
from divulge.kernels.counts.contingency import ContingencyTable, Ints

__all__ = ["cap"]


_CAP_WORDS = Words(
    says=(
        "I know some columns of a person, look up the synthetic rows with the same values, and guess the target in "
        "proportion to what they say."
    ),
    knows=(
        "The keys of one person of the real table, and the whole synthetic table, which is believed. "
        "Nothing about the target."
    ),
    data="Real and synthetic table with the keys and one target; a holdout for risk and verdict. " + CODED,
    formula=(
        "score of a person with key j and target i = s_ij / s_j\n"
        "p_T, p_C = mean score of members, of strangers\n"
        "risk = (p_T - p_C) / (1 - p_C)\n"
        "baseline = sum over targets of (o_i / n_T)^2\n"
        "s_ij: synthetic rows with key j and target i; s_j: with key j; o_i: real records with target i, of\n"
        "n_T in all.\n"
        'A key that no synthetic row has: left out ("skip"), score 0 ("zero"), or answered by the synthetic\n'
        'rows whose key differs in the fewest columns ("nearest").'
    ),
    reading=(
        "A rate of 1 means that all matching synthetic rows have the person's own target, 0 that none has. The "
        "baseline is what guessing in proportion to the target's own frequencies gives; a rate above it may be "
        "knowledge about the population. Risk 0 means that strangers are hit as well as members, 1 that members are "
        "always hit, and a negative risk that strangers are hit better. The CAP of the original on itself stands in "
        "the context; it is no upper bound, and the largest attainable CAP stands beside it."
    ),
    silent=(
        "A mean hides single people: the table may be certain and right about a few while the rate is low.",
        "A low rate may belong to a table without any use.",
        "It says nothing about other keys and other targets.",
        "Without a holdout it does not separate inference from disclosure.",
    ),
)


@attack(
    family="attribution",
    question="I know these columns of somebody; what do synthetic rows with the same values say about the target?",
    needs="keys, target",
    reference=_CAP_PAPER + " Generalised: Hittmeir, Mayer and Ekelhart 2020 (GCAP).",
    words=_CAP_WORDS,
    sampled=True,
    plan=per_pair({"unseen": "zero"}, {"unseen": "skip"}, {"unseen": "nearest"}, searched="all"),
    weight=1,
    primary=Primary("cap", named=lambda variant: variant == "zero", by_keys=True),
    record=Record("highest_cap", "highest"),
    context={
        "baseline: commonest value": Share("real"),
        "baseline: uniform": Withheld(),
        "distinct keys in real": Count("real"),
        "maximum attainable": Withheld(),
        "minimum attainable": Withheld(),
        "original on itself": Withheld(),
        "share of records whose key is in the synthetic table": Share("real"),
    },
    notes=(
        "the mean hides # of # real records for which the synthetic table is certain and right",
        "the synthetic table has a single cell of keys and target: its mean CAP says nothing about people",
    ),
)
def cap(case: Case, *, keys: Sequence[str], target: str, unseen: Unseen = "skip") -> Result:
    """Return the correct attribution probability: the share of matching synthetic rows with the person's own target.

    A record with key j and target i scores s_ij / s_.j. `real.rate` is the mean over the real records, `holdout.rate`
    the mean over people the synthesizer never saw, `risk` the excess. Lower is better.

    Parameters
    ----------
    keys
        Columns that the attacker knows.
    target
        Column that the attacker wants to learn.
    unseen
        Records whose key no synthetic row has: "skip" leaves them out (version 2 of the paper), "zero" scores them 0
        (version 1), "nearest" uses all synthetic rows whose key differs in the fewest columns, ties pooled.

    Returns
    -------
    Result
        `context` has the mean CAP of the real table on itself, the largest and smallest mean CAP that any synthetic
        table could have, and the share of records whose key occurs in the synthetic table. `real.rate` is None when
        every record was skipped.

    Examples
    --------
    >>> import polars as pl
    >>> real = pl.DataFrame({"smokes": ["yes", "yes", "no"], "ill": ["yes", "no", "no"]})
    >>> synthetic = pl.DataFrame({"smokes": ["yes", "yes"], "ill": ["yes", "yes"]})
    >>> cap(real, synthetic, keys=["smokes"], target="ill").real.rate
    0.5
    """
    one_of("unseen", unseen, _UNSEEN)
    keys, notes = checked_keys(case, keys, target)
    table = case.contingency(keys, target)
    scores, margin = cap_scores(table, unseen), table.target_margin(table.o)
    return record_result(
        case,
        table,
        scores,
        attack="cap",
        variant=unseen,
        keys=keys,
        target=target,
        baseline=marginal_baseline(table, margin),
        context=_cap_context(table, unseen, margin),
        notes=[*notes, *binned_note(case, [*keys, target]), *_hidden_certainty(table, scores)],
    )


def _cap_context(table: ContingencyTable, unseen: Unseen, margin: Ints) -> dict[str, float | None]:
    n = table.n_o
    return {
        "original on itself": _weighted(table.shares(table.o, table.o_key), table.o),
        "maximum attainable": maximum_of(table, unseen),
        "minimum attainable": minimum_of(table, unseen),
        "baseline: uniform": 1 / int((margin > 0).sum()),
        "baseline: commonest value": modal_baseline(table, margin).rate,
        "share of records whose key is in the synthetic table": float(table.o_key[table.s_key > 0].sum() / n),
        "distinct keys in real": float((table.o_key > 0).sum()),
    }


def _hidden_certainty(table: ContingencyTable, scores: Floats) -> list[str]:
    """Return notes on a mean CAP that hides certain and right answers about some people, or a table of one cell."""
    n = table.n_o
    certain = int(table.o[(scores >= 1) & (table.o > 0)].sum())
    notes = []
    if certain and _weighted(scores, table.o) < 0.5:  # the mean
        notes.append(
            f"the mean hides {certain:,} of {n:,} real records for which the synthetic table is certain and right"
        )
    if np.count_nonzero(table.s) <= 1:
        notes.append("the synthetic table has a single cell of keys and target: its mean CAP says nothing about people")
    return notes
