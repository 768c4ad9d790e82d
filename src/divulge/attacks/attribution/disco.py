"""DiSCO and the counts that lead to it: synthpop's funnel of classes of equal keys with one target value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace

from divulge.attacks.attribution.disclosive_classes import check_tau, disclosive_hits, disclosive_keys, least_count
from divulge.attacks.checks import (
    Floats,
    binned_note,
    checked_keys,
    modal_baseline,
    record_result,
)
from divulge.attacks.entry import Coarse, Record, Words, per_pair
from divulge.attacks.registry import CODED, attack
from divulge.case.case import Case
from divulge.core.result import Result, Value
from divulge.kernels.counts.contingency import ContingencyTable

__all__ = ["disco"]

_RAAB = "Raab, Nowok and Dibben 2024, Practical privacy metrics for synthetic data (synthpop: disclosure)."

_FUNNEL = {
    "DiSCO": "synthetic class discloses one target, and it is the record's own",
    "DiSDiO": "DiSCO, and the record's class in the real table has one target too",
    "DiS": "the key's synthetic class has one target",
    "iS": "the key occurs in the synthetic table",
    "Dorig": "the record's class in the real table has one target",
    "Dsyn": "synthetic rows in classes of one target",
}


_DISCO_WORDS = Words(
    says="All synthetic rows with a person's key have one target, so I take it for the person's own.",
    knows="The keys of one person of the real table, and the whole synthetic table, which is taken for the real one.",
    data="Real and synthetic table with the keys and one target; a holdout for risk and verdict of DiSCO. " + CODED,
    formula=(
        "iS = share of people whose key the synthetic table has\n"
        "DiS = share of people whose synthetic class has a target with s_ij / s_j >= tau\n"
        "DiSCO = share of people with s_ij / s_j >= tau for the own target i\n"
        "Dorig = share of members whose real class has a target with o_ij / o_j >= tau\n"
        "DiSDiO = share of members counted both in DiSCO and in Dorig\n"
        "Dsyn = share of synthetic rows in classes as in DiS\n"
        "risk of DiSCO = (p_T - p_C) / (1 - p_C), p_T and p_C being DiSCO of members and of strangers\n"
        "o, s: real records and synthetic rows with target i and key j; o_j, s_j: with key j.\n"
        "tau = 1 as published."
    ),
    reading=(
        "The counts are a funnel: DiSDiO <= DiSCO <= DiS <= iS. DiSCO is 1 when every member's target stands alone "
        "under the key, 0 when nobody's does. The baseline is naming the commonest real value for everybody. Risk 0 "
        "means that the targets of strangers are disclosed as often, a negative risk that they are so more often. "
        "Only DiSCO has a verdict."
    ),
    silent=(
        "A disclosed target may be one that anybody would know; notes name two such cases.",
        "With tau = 1 one dissenting row hides a class in which all others agree.",
        "DiSCO tends to fall with the number of synthetic rows, so releases of different size do not compare.",
    ),
    settings={
        "tau": "Share of a class from which its target counts as disclosed, in (0, 1]; 1 is DiSCO as published.",
    },
)


@attack(
    family="attribution",
    question="All synthetic rows with this key have one target; is it the person's own?",
    needs="keys, target",
    reference=_RAAB,
    words=_DISCO_WORDS,
    plan=per_pair(searched="first"),
    record=Record("n_disclosed", "count", lambda variant: variant == "DiSCO"),
    coarse=Coarse("share", rows="", synthetic=True),
    notes=(
        "one target value holds #% of the # disclosed records: people may know it without the table",
        "# disclosed records have a value of '…' that alone implies the target (#%)",
        "DiS: the key's synthetic class has one target",
        "DiSCO: synthetic class discloses one target, and it is the record's own",
        "DiSDiO: DiSCO, and the record's class in the real table has one target too",
        "Dorig: the record's class in the real table has one target",
        "Dsyn: synthetic rows in classes of one target",
        "iS: the key occurs in the synthetic table",
    ),
)
def disco(case: Case, *, keys: Sequence[str], target: str, tau: float = 1.0) -> tuple[Result, ...]:
    """Return the funnel of disclosive classes: DiSCO, DiSDiO, DiS, iS, Dorig and Dsyn, as fractions.

    DiSCO has a verdict on its excess over strangers; the other counts lead to it. With `tau` below 1 a class is
    disclosive if its largest target share is at least tau, and a record is hit if its own target has at least that
    share (tau = 1 is DiSCO as published).

    Notes name disclosures that people may know without the table, by the limits of synthpop: one target value has over
    90% of more than 50 disclosed records; or, in a disclosed cell of more than 4 records, over 80% of the real records
    with one of the key's values have that target.

    Examples
    --------
    >>> import polars as pl
    >>> real = pl.DataFrame({"k": [1, 1, 2, 3], "t": ["a", "b", "b", "b"]})
    >>> synthetic = pl.DataFrame({"k": [1, 2], "t": ["a", "b"]})
    >>> {r.variant: r.real.rate for r in disco(real, synthetic, keys=["k"], target="t") if r.real}
    {'DiSCO': 0.5, 'DiSDiO': 0.25, 'DiS': 0.75, 'iS': 0.75, 'Dorig': 0.5}
    """
    check_tau(tau)
    keys, notes = checked_keys(case, keys, target)
    table = case.contingency(keys, target)
    hit = disclosive_hits(table, tau)
    shared: dict[str, Any] = {"keys": keys, "target": target, "settings": {"tau": tau}}
    notes = [*notes, *binned_note(case, [*keys, target])]
    single_o = (table.largest(table.o) >= least_count(tau, table.o_key))[table.key]
    # a stranger has no class in the real table, so DiSDiO and Dorig are about members alone
    own_only: dict[str, Floats] = {"DiSDiO": hit * (single_o & (table.o > 0)), "Dorig": single_o.astype(float)}
    scores = {
        "DiSCO": hit,
        "DiSDiO": own_only["DiSDiO"],
        "DiS": disclosive_keys(table, tau)[table.key].astype(float),
        "iS": (table.s_key > 0)[table.key].astype(float),
        "Dorig": own_only["Dorig"],
    }
    out = []
    for variant, score in scores.items():
        judged = variant == "DiSCO"
        result = record_result(
            case, table, score, attack="disco", variant=variant, judged=judged,
            baseline=modal_baseline(table) if judged else None,
            notes=[f"{variant}: {_FUNNEL[variant]}", *notes, *(_dominated(table, keys, hit) if judged else [])],
            **shared,
        )  # fmt: skip
        if variant in own_only:
            result = replace(result, holdout=None)
        out.append(result)
    s_single = table.s[disclosive_keys(table, tau)[table.key]].sum()
    out.append(
        Result(
            attack="disco", variant="Dsyn", value=Value(synthetic=float(s_single / max(table.n_s, 1))),
            notes=(f"Dsyn: {_FUNNEL['Dsyn']}",), **shared,
        )
    )  # fmt: skip
    return tuple(out)


def _dominated(table: ContingencyTable, keys: tuple[str, ...], hit: Floats) -> list[str]:
    """Return notes by synthpop's checks for disclosures that people may know without the table; no value is named."""
    disclosed = np.where(hit > 0, table.o, 0)
    per_target = np.bincount(table.target, weights=disclosed, minlength=table.n_targets)
    total = per_target.sum()
    notes = []
    if total > 50 and per_target.max() > 0.9 * total:
        notes.append(
            f"one target value holds {100 * per_target.max() / total:.0f}% of the {total:,.0f} disclosed records: "
            "people may know it without the table"
        )
    margin = table.target_margin(table.o)
    codes = table.key_codes
    for j, key in enumerate(sorted(keys)):
        code = codes[:, j][table.key]
        pairs = code.astype(np.int64) * table.n_targets + table.target
        size = np.bincount(pairs, weights=disclosed)
        all_of_level = np.bincount(code, weights=table.o)
        own = np.bincount(pairs, weights=table.o)
        level = np.flatnonzero(size > 4)
        share = own[level] / np.maximum(all_of_level[level // table.n_targets], 1)
        obvious = int(size[level[share > 0.8]].sum())
        if obvious and margin.max() < table.n_o:
            notes.append(f"{obvious:,} disclosed records have a value of {key!r} that alone implies the target (80%)")
    return notes
