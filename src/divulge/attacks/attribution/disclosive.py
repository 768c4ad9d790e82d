"""Attribute disclosure by certainty and by confidence: synthpop's funnel, RAPID's gain, attackers who may abstain."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import Any, Literal

import numpy as np
from msgspec.structs import replace

from divulge.attacks.attribution.cap import check_tau, disclosive_hits, disclosive_keys, least_count, modal_scores
from divulge.attacks.checks import (
    Floats,
    binned_note,
    checked_keys,
    modal_baseline,
    one_of,
    record_result,
)
from divulge.attacks.registry import CODED, Words, attack
from divulge.case.case import Case
from divulge.core.errors import SettingError
from divulge.core.result import Baseline, Result, Value
from divulge.kernels.counts.contingency import ContingencyTable
from divulge.stats.selective_prediction import abstaining, prc

__all__ = ["abstention", "disco", "prc", "rapid"]

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
    knows="The keys of one person of the real table, and the whole synthetic table, which he takes for the real one.",
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
)
def disco(case: Case, *, keys: Sequence[str], target: str, tau: float = 1.0) -> tuple[Result, ...]:
    """Return the funnel of disclosive classes: DiSCO, DiSDiO, DiS, iS, Dorig and Dsyn, as fractions.

    DiSCO has a verdict on its excess over strangers; the others are counts that lead to it. With `tau` below 1 a
    class is disclosive when its largest share is at least tau, and a record is hit when its own target has at
    least that share (tau = 1 is DiSCO as published).

    Notes name dominated results, of which anybody would know: one target value holding over 90% of more than 50
    disclosed records, and disclosed cells of more than 4 records in which over 80% of real records with one of the
    key's values have that target.

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
    # a stranger has no class of his own in the real table; DiSDiO and Dorig are about the real table alone
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
    """Return synthpop's checks for disclosures that anybody would know; values are never named."""
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

    The gain of a record is (p - b) / (1 - b): p the probability that the synthetic table gives its true value, b
    the share of that value among real and holdout records. `model` says where p comes from: "cap" the synthetic
    rows with the same key (0 where there are none), "boosting" a gradient boosting trained on the synthetic table.
    Records whose value everybody has are skipped. `context` holds the mean gain.

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
    # of real and holdout together: a prevalence of members alone would make members' gains look smaller
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
    # fsum: the cells stand in the order of their codes, and no digit may depend on it
    mean = fsum(gain[used] * table.o[used]) / int(table.o[used].sum()) if used.any() else None
    return record_result(
        case, table, scores, attack="rapid", variant=model, keys=keys, target=target, settings={"tau": tau},
        context={"mean gain": None if mean is None else round(mean, 12)},
        notes=[*notes, *binned_note(case, [*keys, target])],
    )  # fmt: skip


def _model_shares(case: Case, table: ContingencyTable, keys: tuple[str, ...], target: str) -> Floats:
    """Return the probability that a model trained on the synthetic table gives the target of each cell."""
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
)
def abstention(case: Case, *, keys: Sequence[str], target: str) -> Result:
    """Return precision and recall of an attacker who abstains below a confidence, and the anonymity loss coefficient.

    The attacker names the commonest target of the matching synthetic rows, surest first. The cut-off that
    maximises the PRC is chosen on one half of all people, members and strangers alike (precision by the middle of a
    Wilson interval narrower than 0.1), and judged on the other half of each. `value` is the PRC against members
    and against strangers; `context` has the ALC = (PRC - PRC of strangers) / (1 - PRC of strangers), precision,
    recall and cut-off; `curves` the precision at each recall. With too few people for any cut-off all are None.

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
