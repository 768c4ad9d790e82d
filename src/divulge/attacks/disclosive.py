"""Attribute disclosure by certainty and by confidence: synthpop's funnel, RAPID's gain, attackers who may abstain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, log10
from typing import Any, Literal

import numpy as np
from msgspec.structs import replace

from divulge.attacks.attribution import check_tau, disclosive_hits, disclosive_keys, least_count, modal_scores
from divulge.attacks.catalogue import attack
from divulge.attacks.common import (
    Floats,
    binned_note,
    checked_keys,
    modal_baseline,
    one_of,
    record_result,
)
from divulge.case import Case
from divulge.counts import ContingencyTable, Ints
from divulge.errors import SettingError
from divulge.estimate import wilson
from divulge.result import Baseline, Result, Value

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


@attack(
    family="attribution",
    question="All synthetic rows with this key have one target; is it the person's own?",
    needs="keys, target",
    reference=_RAAB,
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


@attack(
    family="attribution",
    question="How much surer of the true value does the synthetic table make me than its prevalence?",
    needs="keys, target",
    reference="Templ et al. 2026, RAPID: risk of attribute prediction-induced disclosure.",
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
    from divulge.attacks.models import predict_proba

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


_R_MIN = 1e-4
_ALPHA = 3


def prc(precision: float, recall: float) -> float:
    """Return the precision-recall coefficient of an attack that guesses for a share `recall` of the people.

    PRC = P (1 - (log10 R / log10 1e-4)^3), and R where R is at most 1e-4.

    References
    ----------
    Francis and Wagner 2025, Towards Better Attribute Inference Vulnerability Measures.

    Examples
    --------
    >>> round(prc(0.9, 0.01), 4)
    0.7875
    """
    if recall <= _R_MIN:
        return recall
    return precision * (1 - (log10(recall) / log10(_R_MIN)) ** _ALPHA)


@attack(
    family="attribution",
    question="I guess only where the synthetic table looks sure; how often am I right, and about how many?",
    needs="keys, target, holdout",
    reference="Francis and Wagner 2025, Towards Better Attribute Inference Vulnerability Measures (PRC, ALC).",
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
    guesses = _Guesses(table)
    rng = case.rng("abstention")
    one_o, one_c = rng.binomial(guesses.o, 0.5), rng.binomial(guesses.c, 0.5)
    cut = guesses.best_cut(one_o + one_c)
    members = guesses.judged(guesses.o - one_o, cut)
    context: dict[str, float | None] = {
        "precision": members.precision,
        "recall": members.recall,
        "confidence cut-off": cut,
    }
    curves = guesses.curve(guesses.o, "")
    base: float | None = None
    if case.has_holdout:
        strangers = guesses.judged(guesses.c - one_c, cut)
        base = strangers.prc
        context |= {
            "precision, strangers": strangers.precision,
            "recall, strangers": strangers.recall,
            "ALC": None if members.prc is None or base is None or base >= 1 else (members.prc - base) / (1 - base),
        }
        curves |= guesses.curve(guesses.c, ", strangers")
    if cut is None:
        notes = [*notes, "no cut-off has a precision known to within 0.1: too few people for a choice"]
    prior = modal_baseline(table).rate or 0.0
    return Result(
        attack="abstention",
        keys=keys,
        target=target,
        value=Value(real=members.prc, holdout=base),
        baseline=Baseline(rate=prc(prior, 1.0), what="PRC of naming the commonest value for everybody"),
        context=context,
        curves=curves,
        notes=(*notes, *binned_note(case, [*keys, target])),
    )


@dataclass(frozen=True, slots=True)
class _Judged:
    """Precision, recall and PRC of guessing above a cut-off; None without a cut-off or without people."""

    precision: float | None = None
    recall: float | None = None
    prc: float | None = None


class _Guesses:
    """The guesses about all people, surest first; people whose guess is equally sure and equally right are merged."""

    def __init__(self, table: ContingencyTable) -> None:
        sure = np.where(table.s_key > 0, table.largest(table.s) / np.maximum(table.s_key, 1), 0.0)[table.key]
        right = modal_scores(table, "zero")
        used = table.o + table.c > 0
        pairs, place = np.unique(np.stack([-sure[used], right[used]], axis=1), axis=0, return_inverse=True)
        self.sure, self.right = -pairs[:, 0], pairs[:, 1]
        self.o, self.c = (
            np.bincount(place.ravel(), weights=n[used], minlength=len(pairs)).astype(np.int64)
            for n in (table.o, table.c)
        )
        # the last row of each level of confidence above 0: guessing down to there is a cut-off
        last = np.r_[self.sure[1:] != self.sure[:-1], True] if len(pairs) else np.zeros(0, dtype=bool)
        self.ends = np.flatnonzero(last & (self.sure > 0))

    def _down_to(self, people: Ints) -> tuple[Ints, Floats]:
        """Return guesses made and right for each cut-off, shape (n_cuts,)."""
        return np.cumsum(people)[self.ends], np.cumsum(people * self.right)[self.ends]

    def best_cut(self, people: Ints) -> float | None:
        """Return the confidence from which guessing gives the largest PRC; None where no precision is known well."""
        best, cut = -1.0, None
        for end, n, hits in zip(self.ends, *self._down_to(people), strict=True):
            interval = wilson(float(hits), int(n))
            if n and interval.high - interval.low < 0.1:
                value = prc((interval.low + interval.high) / 2, int(n) / int(people.sum()))
                if value > best:
                    best, cut = value, float(self.sure[end])
        return cut

    def judged(self, people: Ints, cut: float | None) -> _Judged:
        """Return what guessing from a confidence on gives on other people."""
        if cut is None or not people.sum():
            return _Judged()
        chosen = self.sure >= cut
        n = int(people[chosen].sum())
        recall = n / int(people.sum())
        precision = float((people * self.right)[chosen].sum() / n) if n else 0.0
        return _Judged(precision, recall, prc(precision, recall) if n else 0.0)

    def curve(self, people: Ints, suffix: str) -> dict[str, list[float]]:
        """Return precision at each recall, at most 50 points."""
        n, hits = self._down_to(people)
        shown = np.unique(np.linspace(0, len(n) - 1, 50).astype(int)) if len(n) else np.zeros(0, dtype=int)
        shown = shown[n[shown] > 0]
        total = max(int(people.sum()), 1)
        return {
            f"recall{suffix}": (n[shown] / total).tolist(),
            f"precision{suffix}": (hits[shown] / np.maximum(n[shown], 1)).tolist(),
        }
