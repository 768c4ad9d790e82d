"""Attribute disclosure by look-up: people who share a key with synthetic rows, and what those rows say of the target.

A *cell* is one (key, target); o, c, s count real, holdout and synthetic records in it, and o_key, c_key, s_key in
its key. Every score here is a function of the cell, so it is computed once for each occupied cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from divulge.attacks.checks import (
    GRID,
    Floats,
    binned_note,
    checked_keys,
    marginal_baseline,
    modal_baseline,
    one_of,
    rate_of,
    record_result,
    survival,
)
from divulge.attacks.registry import CODED, Words, attack
from divulge.case.case import Case
from divulge.core.errors import SettingError
from divulge.core.result import Baseline, Rate, Result, Value
from divulge.kernels.counts.contingency import ContingencyTable, Ints
from divulge.kernels.counts.hamming import Keys, NearestVotes, nearest_votes
from divulge.stats import Outcomes

__all__ = ["baseline_cap", "cap", "cap_minimum", "dcap", "modal_guess", "tcap", "weap"]

Unseen = Literal["skip", "zero", "nearest"]
_UNSEEN = ("skip", "zero", "nearest")
_MODEL_CLASSES = 50
"""Values of a target up to which a model is trained: it grows one tree a value and round."""
_CAP_PAPER = "Baillargeon and Charest, A Closer Look at the CAP Risk Measure for Synthetic Datasets."


_CAP_WORDS = Words(
    says=(
        "I know some columns of a person, look up the synthetic rows with the same values, and guess the target in "
        "proportion to what they say."
    ),
    knows=(
        "The keys of one person of the real table, and the whole synthetic table, which he believes. Of the target "
        "he knows nothing."
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
)
def cap(case: Case, *, keys: Sequence[str], target: str, unseen: Unseen = "skip") -> Result:
    """Return the correct attribution probability: how much of the matching synthetic rows have a person's own target.

    A record with key j and target i scores s_ij / s_.j; `real.rate` is the mean over the real records,
    `holdout.rate` over people the synthesizer never saw, `risk` the excess. Lower is better.

    Parameters
    ----------
    keys
        Columns that the attacker knows.
    target
        Column that he wants.
    unseen
        Records whose key no synthetic row has: "skip" leaves them out (version 2 of the paper), "zero" scores
        them 0 (version 1), "nearest" asks all synthetic rows whose key differs in the fewest columns, ties pooled.

    Returns
    -------
    Result
        `context` holds the mean CAP of the original on itself, the largest and smallest mean CAP that any
        synthetic table could have, and the share of records whose key the synthetic table has. `real.rate` is
        None when every record was skipped.

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
    scores = cap_scores(table, unseen)
    return record_result(
        case,
        table,
        scores,
        attack="cap",
        variant=unseen,
        keys=keys,
        target=target,
        baseline=marginal_baseline(table),
        context=_cap_context(table, unseen),
        notes=[*notes, *binned_note(case, [*keys, target]), *_hidden_certainty(table, scores)],
    )


def cap_scores(table: ContingencyTable, unseen: Unseen) -> Floats:
    """Return the CAP of each cell, shape (n_cells,); nan where it is skipped."""
    scores = table.shares(table.s, table.s_key)
    if unseen == "zero":
        return np.nan_to_num(scores, nan=0.0)
    if unseen == "nearest":
        votes, cells, key = _nearest(table)
        scores[cells] = votes.of_cell / votes.total[key]
    return scores


def _nearest(table: ContingencyTable, *, modal: bool = False) -> tuple[NearestVotes, Ints, Ints]:
    """Return the votes of the nearest synthetic rows for each unseen key, the cells of such keys, and the key of each.

    The keys are numbered as in the votes.
    """
    if not table.s.any():
        raise SettingError("unseen='nearest': the synthetic table has no rows. hint: check the file.")
    codes = table.key_codes
    cells = np.flatnonzero(table.s_key[table.key] == 0)
    unseen = _keys_of(table, codes, cells)
    seen = _keys_of(table, codes, np.flatnonzero(table.s))
    votes = nearest_votes(unseen, seen, table.n_targets, modal=modal, at_least=1)
    return votes, cells, np.repeat(np.arange(len(unseen)), np.diff(unseen.start))


def _keys_of(table: ContingencyTable, codes: NDArray[np.int32], cells: Ints) -> Keys:
    """Return the keys that some cells have, with these cells and the synthetic records in them."""
    key = table.key[cells]
    start = np.flatnonzero(np.r_[True, key[1:] != key[:-1]]) if len(key) else key
    return Keys(codes[key[start]], np.append(start, len(cells)), table.target[cells], table.s[cells])


def _cap_context(table: ContingencyTable, unseen: Unseen) -> dict[str, float | None]:
    n = table.n_o
    return {
        "original on itself": _weighted(table.shares(table.o, table.o_key), table.o),
        "maximum attainable": maximum_of(table, unseen),
        "minimum attainable": minimum_of(table, unseen),
        "baseline: uniform": 1 / int((table.target_margin(table.o) > 0).sum()),
        "baseline: commonest value": modal_baseline(table).rate,
        "share of records whose key is in the synthetic table": float(table.o_key[table.s_key > 0].sum() / n),
        "distinct keys in real": float((table.o_key > 0).sum()),
    }


def _weighted(values: Floats, weight: Ints) -> float:
    used = weight > 0
    return Outcomes(values[used], weight[used]).rate


def _hidden_certainty(table: ContingencyTable, scores: Floats) -> list[str]:
    """Return notes on a mean that hides people about whom the table is certain and right, or a table of one cell."""
    n = table.n_o
    certain = int(table.o[(scores >= 1) & (table.o > 0)].sum())
    mean = _weighted(scores, table.o)
    notes = []
    if certain and mean < 0.5:
        notes.append(
            f"the mean hides {certain:,} of {n:,} real records for which the synthetic table is certain and right"
        )
    if (table.s > 0).sum() <= 1:
        notes.append("the synthetic table has a single cell of keys and target: its mean CAP says nothing about people")
    return notes


def maximum_of(table: ContingencyTable, unseen: Unseen) -> float:
    """Return the largest mean CAP that any synthetic table has: each key on its commonest target.

    With "skip" a table may leave all keys out but the one whose commonest target has the largest share.
    """
    largest = table.largest(table.o)
    if unseen == "skip":
        used = table.o_key > 0
        return float((largest[used] / table.o_key[used]).max())
    return float(largest.sum() / table.n_o)


def minimum_of(table: ContingencyTable, unseen: Unseen) -> float:
    """Return the smallest mean CAP that any synthetic table over the same keys and targets has (theorems 2 and 3).

    With "nearest" nobody can be left out, so that the best table puts each key on its rarest target.
    """
    if unseen == "nearest":
        full = table.n_distinct_targets(table.o) == _n_targets(table)
        rarest = np.minimum.reduceat(np.where(table.o > 0, table.o, table.n_o), table.start)
        return float(rarest[full].sum() / table.n_o)
    cell = minimising_cell(table, unseen)
    if unseen == "zero":
        return cell[2] / table.n_o
    return cell[2] / int(table.o_key[cell[0]])


def minimising_cell(table: ContingencyTable, unseen: Literal["skip", "zero"]) -> tuple[int, int, int]:
    """Return key, target and real count of a cell on which a synthetic table has the smallest mean CAP.

    Among ties the commonest real key, so that no number depends on the order of the codes; then the first one.
    """
    # keys and targets of the real and synthetic tables, as in the paper; what strangers alone have is no cell
    targets = np.flatnonzero(table.target_margin(table.o + table.s))
    keys = np.flatnonzero(table.o_key > 0 if unseen == "skip" else table.o_key + table.s_key > 0)
    filled = table.n_distinct_targets(table.o)
    gaps = keys[filled[keys] < len(targets)]
    if len(gaps):
        key = int(gaps[np.argmax(table.o_key[gaps])])
        own = set(table.target[(table.key == key) & (table.o > 0)].tolist())
        return key, next(int(t) for t in targets if t not in own), 0
    occupied = np.flatnonzero(table.o > 0)
    of_key = table.o_key[table.key[occupied]]
    value = table.o[occupied] / (of_key if unseen == "skip" else 1)
    best = occupied[np.lexsort([-of_key, value])[0]]
    return int(table.key[best]), int(table.target[best]), int(table.o[best])


def _n_targets(table: ContingencyTable) -> int:
    return int((table.target_margin(table.o + table.s) > 0).sum())


_MODAL_GUESS_WORDS = Words(
    says="I look up the synthetic rows that share a person's key, and name the target that most of them have.",
    knows="The keys of one person of the real table, and the whole synthetic table. Of the target he knows nothing.",
    data="Real and synthetic table with the keys and one target; a holdout for risk and verdict. " + CODED,
    formula=(
        "score = 1 / u if the person's own target is among the u commonest of the matching rows, else 0\n"
        "p_T, p_C = mean score of members, of strangers\n"
        "risk = (p_T - p_C) / (1 - p_C)\n"
        "baseline = share of the commonest target in the real table\n"
        'A key that no synthetic row has: score 0 ("zero"), left out ("skip"), or the synthetic rows vote\n'
        'whose key differs in the fewest columns ("nearest").'
    ),
    reading=(
        "The rate is the share of people guessed right: 1 is everybody, 0 nobody. The baseline is naming the "
        "commonest value for everybody; at or below it the table adds nothing to that. Risk 0 means that strangers "
        "are guessed right as often, 1 that every member is guessed right, and a negative risk that strangers are "
        "guessed right more often."
    ),
    silent=(
        "A bare majority counts like a unanimous class: how sure the table looked is not told.",
        "People with a rare target can be exposed while the rate stands at the baseline.",
        "Without a holdout it does not separate inference from disclosure.",
    ),
    settings={
        "unseen": (
            'Records whose key no synthetic row has: "zero" scores them 0, "skip" leaves them out, "nearest" lets '
            "the synthetic rows vote whose key differs in the fewest columns."
        ),
    },
)


@attack(
    family="attribution",
    question="I name the target that most synthetic rows with the same key have.",
    needs="keys, target",
    reference=_CAP_PAPER + " Section on predictive success.",
    words=_MODAL_GUESS_WORDS,
)
def modal_guess(case: Case, *, keys: Sequence[str], target: str, unseen: Unseen = "zero") -> Result:
    """Return how often the commonest target among the matching synthetic rows is a person's own.

    Ties are shared: of two equally common targets each counts one half. `unseen` as in `cap`.

    Examples
    --------
    >>> import polars as pl
    >>> real = pl.DataFrame({"smokes": ["yes", "yes", "no"], "ill": ["yes", "no", "no"]})
    >>> modal_guess(real, real, keys=["smokes"], target="ill").real.hits
    2.0
    """
    one_of("unseen", unseen, _UNSEEN)
    keys, notes = checked_keys(case, keys, target)
    table = case.contingency(keys, target)
    return record_result(
        case,
        table,
        modal_scores(table, unseen),
        attack="modal_guess",
        variant=unseen,
        keys=keys,
        target=target,
        baseline=modal_baseline(table),
        notes=[*notes, *binned_note(case, [*keys, target])],
    )


def modal_scores(table: ContingencyTable, unseen: Unseen) -> Floats:
    """Return the success of naming the commonest synthetic target, for each cell."""
    largest = table.largest(table.s)[table.key]
    modal = (table.s == largest) & (largest > 0)
    n_modal = np.bincount(table.key, weights=modal, minlength=table.n_keys)[table.key]
    scores = np.where(modal, 1 / np.maximum(n_modal, 1), 0.0)
    unmatched = table.s_key[table.key] == 0
    if unseen == "skip":
        scores[unmatched] = np.nan
    elif unseen == "nearest":
        votes, cells, key = _nearest(table, modal=True)
        scores[cells] = (votes.of_cell == votes.largest[key]) / votes.n_largest[key]
    return scores


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
)
def baseline_cap(case: Case, *, keys: Sequence[str], target: str) -> tuple[Result, ...]:
    """Return the success of four guessers who never saw the synthetic table.

    "uniform" guesses each value that occurs with equal chance, "marginal" in proportion to how often it occurs
    (the sum of squared shares), "modal" names the commonest value, "model" is trained on holdout rows to predict
    the target from the keys (with at least 50 holdout rows and at most 50 values of the target). Shares are those of
    the real table.

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
)
def dcap(case: Case, *, keys: Sequence[str], target: str, unseen: Literal["skip", "zero"] = "zero") -> Result:
    """Return the differential CAP: mean CAP less what the target's own distribution gives.

    `value` is mean CAP less the sum of squared target shares, for real and holdout records; `context` holds the
    anchors: CAP of the original on itself (ceiling of that literature), baseline (floor), and the share of the way
    between them. It has no verdict: `cap` has, on the excess over strangers.

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
)
def weap(case: Case, *, keys: Sequence[str], target: str) -> Result:
    """Return the within-equivalence-class attribution probability of the synthetic rows on themselves.

    A synthetic row scores s_ij / s_.j; `value.synthetic` is the mean, which synthpop calls CAPs. `curves` says
    which share of synthetic rows reaches each level: at 1 the class looks certain.

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
)
def tcap(
    case: Case, *, keys: Sequence[str], target: str, tau: float = 1.0, variants: Sequence[str] = ("a", "b", "c", "d")
) -> tuple[Result, ...]:
    """Return the targeted CAP in its four readings; the letters differ in the denominator only.

    A synthetic class is disclosive when its largest target share is at least `tau`; a real record is hit when its
    own target has at least that share in its class. (a), (b), (d) compare members with strangers record by record;
    (c) is a mean over synthetic rows and has no such comparison.

    Returns
    -------
    tuple of Result
        One per variant. `real.n` is 0 and `real.rate` None where no class is disclosive: nothing to attack.

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


def check_tau(tau: float) -> None:
    """Raise a `SettingError` when tau is no share above 0."""
    if not 0 < tau <= 1:
        raise SettingError(f"tau: {tau} is outside (0, 1]. hint: 1 asks for certainty.")


def disclosive_keys(table: ContingencyTable, tau: float) -> Any:
    """Return which keys have a synthetic class whose largest share is at least tau, shape (n_keys,)."""
    return (table.s_key > 0) & (table.largest(table.s) >= least_count(tau, table.s_key))


def disclosive_hits(table: ContingencyTable, tau: float) -> Floats:
    """Return 1 for the cells whose target has at least the share tau in its synthetic class, else 0."""
    total = table.s_key[table.key]
    return ((total > 0) & (table.s > 0) & (table.s >= least_count(tau, total))).astype(float)


def least_count(tau: float, total: Ints) -> Floats:
    """Return tau * total, less what rounding may add: 0.56 of 25 is 14.000000000000002 in floats."""
    return np.asarray(tau * total - 1e-9, dtype=np.float64)


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


_CAP_MINIMUM_WORDS = Words(
    says="I hold the real table, and make the release whose mean CAP is the lowest that any release can have.",
    knows="The whole real table. He is no intruder but somebody who tunes a release to one number.",
    data=(
        "The real table with the keys and one target; of the synthetic table the number of rows, and which keys and "
        "targets occur. The table that is made holds real values and never enters a report. " + CODED
    ),
    formula=(
        "zero: minimum = smallest o_ij / n_T over all cells\n"
        "skip: minimum = smallest o_ij / o_j over all cells whose key some person has\n"
        "attained by m synthetic rows in one such cell\n"
        "cells: every key with every target that occurs, o_ij = 0 among them; o_j: real records with key j,\n"
        "of n_T in all."
    ),
    reading=(
        "0 means that some key never goes with some target in the real table: a release of that one cell has a mean "
        "CAP of 0. A higher number is a floor below which no release gets, and none is negative. It reaches 1 only "
        "where there is a single target to guess. The baseline is guessing in proportion to how often each value "
        "occurs. There is no risk and no verdict."
    ),
    silent=(
        "It is about no person's risk: it shows what a mean CAP is blind to.",
        "It does not say how near the table under test comes to such a table.",
        "The table that attains the minimum is of no use to anybody.",
    ),
    settings={
        "unseen": 'Records whose key no synthetic row has: "skip" leaves them out, "zero" scores them 0.',
    },
)


@attack(
    family="attribution",
    question="Which synthetic table would look best by its mean CAP, and what is it worth?",
    needs="keys, target",
    reference=_CAP_PAPER + " Theorems 2 and 3.",
    words=_CAP_MINIMUM_WORDS,
)
def cap_minimum(case: Case, *, keys: Sequence[str], target: str, unseen: Literal["skip", "zero"] = "skip") -> Result:
    """Return the smallest mean CAP that any synthetic table can have, and a table that has it.

    The table has as many rows as the synthetic one, all in one cell of keys and target (`result.table`, a polars
    frame of codes' own values; it holds real values and never enters a report). It is a warning: a mean CAP near
    its minimum can belong to a table without any use.

    Examples
    --------
    >>> import polars as pl
    >>> real = pl.DataFrame({"k": [1, 1, 1, 2, 2], "t": ["a", "a", "b", "a", "b"]})
    >>> cap_minimum(real, real, keys=["k"], target="t").real.rate
    0.3333333333333333
    """
    one_of("unseen", unseen, ("skip", "zero"))
    keys, notes = checked_keys(case, keys, target)
    table = case.contingency(keys, target)
    key, value, count = minimising_cell(table, unseen)
    n = int(table.o_key[key]) if unseen == "skip" else table.n_o
    codes = dict(zip(sorted(keys), table.key_codes[key].tolist(), strict=True)) | {target: value}
    return Result(
        attack="cap_minimum",
        variant=unseen,
        keys=keys,
        target=target,
        real=Rate(hits=float(count), n=n, rate=count / n),
        baseline=Baseline(
            rate=marginal_baseline(table).rate, what="guessing in proportion to how often each value occurs"
        ),
        notes=(*notes, "a table of one cell attains this: a low mean CAP does not say that a table is of use"),
        table=case.repeat_values(codes, case.n_rows("synthetic")),
    )
