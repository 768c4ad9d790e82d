"""TCAP, targeted CAP: CAP among keys whose synthetic rows nearly all have one target, in four published versions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from divulge.attacks.attribution.disclosive_classes import check_tau, disclosive_hits, disclosive_keys
from divulge.attacks.checks import (
    binned_note,
    checked_keys,
    modal_baseline,
    one_of,
    rate_of,
    record_result,
)
from divulge.attacks.entry import Words, per_pair
from divulge.attacks.registry import CODED, attack
from divulge.case.case import Case
from divulge.core.result import Rate, Result
from divulge.kernels.counts.contingency import ContingencyTable, Ints
from divulge.stats import Outcomes

__all__ = ["tcap"]

_TCAP = {
    "a": "people in disclosive classes who are right, among real records whose key is in the synthetic table",
    "b": "... among real records whose synthetic class is disclosive",
    "c": "mean over certain synthetic rows of the share of real records with that key that have that target",
    "d": "... among all real records (DiSCO under another name)",
}
_TCAP_WORDS = Words(
    says="Where the synthetic table looks certain about the target, I believe it.",
    knows=(
        "The keys of one person of the real table, and the whole synthetic table. He keeps silent where its rows "
        "disagree."
    ),
    data="Real and synthetic table with the keys and one target; a holdout for risk and verdict. " + CODED,
    formula=(
        "a class (key) is disclosive when its largest s_ij / s_j >= tau\n"
        "a person is hit when s_ij / s_j >= tau for the own target i\n"
        "(a) people hit / people whose key the synthetic table has\n"
        "(b) people hit / people whose synthetic class is disclosive\n"
        "(c) mean of o_ij / o_j over synthetic rows with s_ij / s_j >= tau and a key that occurs in real\n"
        "(d) people hit / all people\n"
        "risk of (a), (b), (d) = (p_T - p_C) / (1 - p_C), p_T, p_C being the rate of members, of strangers\n"
        "o, s: real records and synthetic rows with target i and key j; o_j, s_j: with key j."
    ),
    reading=(
        "At 1 apparent certainty is always right, at 0 never, among those whom the letter counts. The baseline of "
        "(a), (b) and (d) is naming the commonest real value for everybody. Risk 0 means that certainty is right "
        "about strangers as often, a negative risk that it is so more often. (c) is a mean over synthetic rows, "
        "with no risk and no verdict. Where nobody is counted the rate is undefined, not 0: there is nothing to "
        "attack."
    ),
    silent=(
        "The four letters differ in whom they count, so that their rates cannot be set against each other.",
        "A class of a single row looks certain whatever the truth is.",
        "A target that everybody with the key has is counted as a hit, though no single record is behind it.",
    ),
    settings={
        "tau": "Share of a class from which its target counts as certain, in (0, 1]; 1 asks for a class of one target.",
        "variants": 'Which of "a", "b", "c" and "d" to give.',
    },
)


@attack(
    family="attribution",
    question="Where the synthetic table looks certain, is it right?",
    needs="keys, target",
    reference=(
        "Taub and Elliot 2019 (c); Raab, Nowok and Dibben, synthpop disclosure, up to 1.9-2 (a) and from 1.9-3 (b); "
        "ONS synthgauge (d)."
    ),
    words=_TCAP_WORDS,
    plan=per_pair(),
    notes=(
        "TCAP (a): people in disclosive classes who are right, among real records whose key is in the synthetic table",
        "TCAP (b): ... among real records whose synthetic class is disclosive",
        "TCAP (c): mean over certain synthetic rows of the share of real records with that key that have that target",
        "TCAP (d): ... among all real records (DiSCO under another name)",
    ),
)
def tcap(
    case: Case, *, keys: Sequence[str], target: str, tau: float = 1.0, variants: Sequence[str] = ("a", "b", "c", "d")
) -> tuple[Result, ...]:
    """Return the targeted CAP in four versions, (a) to (d), which differ only in the denominator.

    A synthetic class is disclosive if its largest target share is at least `tau`; a real record is hit if its own
    target has at least that share in its class. (a), (b) and (d) compare members with strangers record by record.
    (c) is a mean over synthetic rows and has no such comparison.

    Returns
    -------
    tuple of Result
        One for each version. `real.n` is 0 and `real.rate` None where no class is disclosive.

    Examples
    --------
    >>> import polars as pl
    >>> real = pl.DataFrame({"k": [1, 1, 2, 3], "t": ["a", "b", "b", "b"]})
    >>> synthetic = pl.DataFrame({"k": [1, 2], "t": ["a", "b"]})
    >>> [round(r.real.rate, 3) for r in tcap(real, synthetic, keys=["k"], target="t")]
    [0.667, 0.667, 0.75, 0.5]
    """
    check_tau(tau)
    for variant in variants:
        one_of("variants", variant, tuple(_TCAP))
    keys, notes = checked_keys(case, keys, target)
    table = case.contingency(keys, target)
    hit = disclosive_hits(table, tau)
    matched = table.s_key[table.key] > 0
    disclosive = disclosive_keys(table, tau)[table.key]
    scores = {
        "a": np.where(matched, hit, np.nan),
        "b": np.where(disclosive, hit, np.nan),
        "d": hit,
    }
    every = [*notes, *binned_note(case, [*keys, target])]
    shared: dict[str, Any] = {"keys": keys, "target": target, "settings": {"tau": tau}}
    out = []
    for variant in variants:
        says = [f"TCAP ({variant}): {_TCAP[variant]}", *every]
        if variant == "c":
            out.append(_tcap_of_rows(table, tau, notes=tuple(says), **shared))
        else:
            out.append(
                record_result(
                    case, table, scores[variant], attack="tcap", variant=variant,
                    baseline=modal_baseline(table), notes=says, **shared,
                )
            )  # fmt: skip
    return tuple(out)


def _tcap_of_rows(table: ContingencyTable, tau: float, **fields: Any) -> Result:
    kept = disclosive_hits(table, tau) > 0

    def rate(counts: Ints, margin: Ints) -> Rate:
        shares = table.shares(counts, margin)
        used = kept & ~np.isnan(shares)
        return rate_of(Outcomes(shares[used], table.s[used]))

    return Result(
        attack="tcap",
        variant="c",
        real=rate(table.o, table.o_key),
        holdout=rate(table.c, table.c_key) if table.has_holdout else None,
        **fields,
    )
