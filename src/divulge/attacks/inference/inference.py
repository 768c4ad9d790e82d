"""Inference: an attacker who knows most of a person's record guesses a target from the synthetic table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from divulge.attacks.checks import ACCEPTABLE, SHOWN, Floats, checked_keys, judge, one_of, rate_of
from divulge.attacks.entry import (
    WAYS,
    Cost,
    EngineWork,
    Primary,
    Record,
    SearchBytes,
    Settings,
    Withheld,
    Words,
    per_target,
)
from divulge.attacks.inference._forest import model_answers, reference_answers
from divulge.attacks.inference._from_rows import by_agreement, by_distance, expect, of_a_full_copy
from divulge.attacks.inference._guesses import Guesses
from divulge.attacks.inference._target import TOLERANCE, TargetValues, target_values
from divulge.attacks.inference.mean_over_targets import MEAN, OF_A_COPY, mean_over_targets
from divulge.attacks.inference.subgroups import FEWEST, by_subgroup
from divulge.attacks.registry import attack
from divulge.case.case import Case
from divulge.case.distances import check_count, distance_columns
from divulge.core.errors import SettingError
from divulge.core.result import Baseline, Individual, Result
from divulge.core.schema import check_columns
from divulge.kernels.runtime import in_threads
from divulge.stats import Outcomes, compare
from divulge.stats.selective_prediction import abstaining

__all__ = ["inference"]

Ints = NDArray[np.int64]

_BLIND = (
    "even a full copy of the real table would give this attack hardly any risk, as people share what is known: it is "
    "right about strangers as well, and says nothing about copies"
)
_OTHERS = "right about people without the commonest value"
"""Stated where more than half of the people have one value: about those blind guessing is right, and hides copies."""
_OTHERS_STRANGERS = f"{_OTHERS}, strangers"
_BY_RECORD = ("nearest record", "CAP")
"""Ways in which a copy of the person's own record answers."""


_INFERENCE_WORDS = Words(
    says="I know the rest of a person's record, and read the missing column off the synthetic table.",
    knows=(
        "All other columns that can be compared, or the keys if given, of one person; and the whole synthetic table."
    ),
    data=(
        "Two columns or more, of numbers, dates or categories, every row in memory; a holdout for risk and verdict. "
        "The nearest record and the k that vote are found by a distance over the known columns, numbers as they "
        "are; CAP takes numbers binned."
    ),
    formula=(
        "right = equal, or for numbers off by at most tolerance * (95% quantile - 5% quantile)\n"
        "score of a person = chance that the answer is right, over all ties\n"
        "p_T, p_C = mean score of members, of strangers\n"
        "risk = (p_T - p_C) / (1 - p_C)\n"
        "baseline = share of people for whom the best single answer is right\n"
        "ways: nearest synthetic row; rows that agree in most known columns (CAP); vote of the k nearest;\n"
        "a model trained on the synthetic table. Quantiles are of real and holdout together."
    ),
    reading=(
        "The rate is the share of people guessed right: 1 is everybody, 0 nobody. The baseline is one answer for "
        "everybody; a rate above it that strangers share is inference without disclosure. Risk 0 means that "
        "strangers are guessed right as often, 1 that every member is, and a negative risk that strangers are "
        "guessed right more often. Where most people have one value, guessing blindly is right about them, so the "
        "context has the rates about all others beside. It also has a model that never saw the synthetic table, and "
        "precision, recall, PRC and ALC of an attacker who guesses only where sure."
    ),
    silent=(
        "A better learner, or an attacker who knows other columns, may be right more often.",
        "What is inferred about strangers as well is not counted as risk, though it may be unwelcome.",
        "A mean over people hides groups; the groups of the headline way show values of the target and its tails.",
    ),
)


def _seconds(work: EngineWork, settings: Settings) -> float:
    if "keys" in settings:
        return 3e-8 * work.synthetic + 3.3e-6 * work.asked
    return 1.6e-5 * work.searches


def _of_trees(work: EngineWork, settings: Settings) -> float:
    """Return the seconds of one walk for all targets, where every other column is known."""
    return 0.0 if "keys" in settings else 6e-7 * work.synthetic * work.columns


def _disk(columns: int, in_blocks: bool) -> int:
    return 90 + 10 * columns if in_blocks else 0  # blocks that all targets are searched in


@attack(
    family="inference",
    question="Can somebody who knows the rest of a record guess this column from the synthetic table?",
    needs="two columns; a holdout to say anything about disclosure",
    reference=(
        "Article 29 Working Party (2014), Opinion 05/2014; Giomi et al. (2023); Taub et al. (2018) for CAP; Francis "
        "and Wagner (2025) for attackers who abstain."
    ),
    words=_INFERENCE_WORDS,
    sampled=True,
    plan=per_target(by_parts="by keys"),
    cost=Cost(seconds=_seconds, shared=_of_trees, memory=SearchBytes(10, 500, 2_600), disk=_disk),
    weight=2,
    primary=Primary(
        "inference on average over targets",
        lambda variant: variant == MEAN,
        lambda variant: variant == "nearest record",
        clears=True,
    ),
    summary=mean_over_targets,
    expect=expect,
    record=Record("n_inferred", "count", lambda variant: variant.endswith("nearest record")),
    claimed=lambda variant: "inference excess" if variant == "nearest record" else None,
    context={
        "ALC": Withheld(),
        "ALC, high": Withheld(),
        "ALC, low": Withheld(),
        "PRC": Withheld(),
        "PRC, reference": Withheld(),
        "PRC, strangers": Withheld(),
        "confidence cut-off": Withheld(),
        "guessing in proportion to how often each value occurs": Withheld(),
        "model trained on other members, about members": Withheld(),
        "model trained on strangers, about members": Withheld(),
        "precision": Withheld(),
        "precision, strangers": Withheld(),
        "recall": Withheld(),
        "recall, strangers": Withheld(),
        _OTHERS: Withheld(),
        _OTHERS_STRANGERS: Withheld(),
        OF_A_COPY: Withheld(),
        SHOWN: Withheld(),
    },
    notes=(
        "a forest of randomised trees trained on the synthetic table; the # rarest values are never guessed",
        "a guess is right when it is the value itself: the tolerance is #, or the middle nine tenths of "
        "people have one value; missing is a value",
        "a guess is right when it is off by at most # of the spread between the #% and the #% quantile of real "
        "and holdout together; missing is a value",
        "a guess is right when it is the value itself; missing is a value",
        "a synthetic row that agrees with most of the known columns (binned) answers; of rows that tie each with "
        "equal chance",
        "even a full copy of the real table would give this attack hardly any risk, as people share what is "
        "known: it is right about strangers as well, and says nothing about copies",
        "a forest of randomised trees trained on the synthetic table",
        "no model was trained: '…' has more than # values",
        "the # nearest synthetic rows vote, with all that tie with the last of them; a number collects the votes "
        "within the tolerance",
        "the nearest synthetic row on the known columns answers; of rows that tie each with equal chance",
        "the score of a person is the mean over # targets; what is learnt about one of them alone shows as a part of "
        "itself",
    ),
)
def inference(
    case: Case,
    *,
    target: str | Sequence[str] | None = None,
    keys: Sequence[str] | None = None,
    ways: Sequence[str] | None = None,
    k: int = 10,
    tolerance: float = TOLERANCE,
    subgroups: Sequence[str] = (),
) -> tuple[Result, ...]:
    """Return how often the target is guessed right for members and for strangers, in four ways to guess.

    "nearest record" (the headline): the guess is the target of the nearest synthetic row. "CAP": that of a row that
    agrees in most known columns, with numbers binned. "k-vote": the vote of the k nearest rows. "model": the prediction
    of a forest of extremely randomised trees trained on the synthetic table. There is a guess for every person; ties
    are resolved in expectation. Each target has its own search, over the known columns only.

    A guess of a category is right if it equals the value; missing is a value. A guess of a number is right if it
    differs by at most `tolerance` times the spread between the 5% and the 95% quantile of real and holdout pooled.

    `baseline` is the success of the best constant guess. `context` has the success of a forest trained on other
    people without the synthetic table, and precision, recall, PRC and ALC of an attacker who guesses only above a
    confidence; where more than half of the people have one value, also the rates about all others, of whom there must
    be 20 on each side. `groups` has the results for people with each value of the target, or in each tenth.

    Parameters
    ----------
    target
        Column or columns that the attacker wants to learn; None takes in turn every column that can be attacked.
    keys
        Columns that the attacker knows; None takes every other column that can be compared.
    ways
        Some of "nearest record", "CAP", "k-vote", "model"; None takes all.
    k
        Number of rows that vote.
    tolerance
        Greatest difference at which a guessed number is right, as a share of the spread.
    subgroups
        Columns whose values define further groups of people.

    Examples
    --------
    >>> import polars as pl
    >>> real = pl.DataFrame({"age": [20.5, 30.5, 40.5, 50.5], "job": ["nurse", "baker", "nurse", "baker"]})
    >>> found, = inference(real, real, target="job", ways=["nearest record"])
    >>> found.real.rate, found.baseline.rate
    (1.0, 0.5)
    """
    ways = _checked(case, ways, k, tolerance, subgroups)
    pairs = case.n_rows("synthetic") * (case.n_rows("real") + case.n_rows("holdout"))

    def about(one: str) -> list[Result]:
        return _about(case, one, keys, ways, k, tolerance, subgroups)

    targets = _targets(case, target, keys)
    if len(targets) > 1:
        expect(case, [{"target": t, "keys": keys} for t in targets])
    return tuple(r for results in in_threads(about, targets, pairs) for r in results)


def _checked(
    case: Case, ways: Sequence[str] | None, k: int, tolerance: float, subgroups: Sequence[str]
) -> tuple[str, ...]:
    check_count("k", k)
    if isinstance(tolerance, bool) or not isinstance(tolerance, (int, float, np.integer, np.floating)):
        raise SettingError(f"tolerance: a {type(tolerance).__name__} is no number. hint: 0.05 is the default.")
    if not 0 <= tolerance < 1:
        raise SettingError(f"tolerance: {tolerance} is outside [0, 1). hint: 0.05 is the default.")
    check_columns("subgroups", _listed("subgroups", subgroups), case.by_table, case.levels)
    wanted = WAYS if ways is None else _listed("ways", ways)
    for way in wanted:
        one_of("ways", way, WAYS)
    if not wanted:
        raise SettingError(f"ways: none given. hint: some of {', '.join(WAYS)}.")
    return tuple(w for w in WAYS if w in wanted)


def _listed(name: str, given: Sequence[str]) -> tuple[str, ...]:
    """Return a setting that is a list of names, after checking that no name is given twice."""
    if isinstance(given, str):
        raise SettingError(f"{name}: got the text {given!r}. hint: pass a list, {name}=[{given!r}].")
    if not isinstance(given, Iterable):
        raise SettingError(f"{name}: a {type(given).__name__} is no list. hint: pass a list of names.")
    out = tuple(given)
    if len(set(out)) < len(out):
        raise SettingError(f"{name}: a name is given twice. hint: name each once.")
    return out


def _targets(case: Case, target: str | Sequence[str] | None, keys: Sequence[str] | None) -> list[str]:
    if isinstance(target, str):
        return [target]
    if target is not None:
        wanted = list(_listed("target", target))
        if not wanted:
            raise SettingError("target: none given. hint: name a column that the attacker wants.")
        return wanted
    usable = [t for t in case.schema.usable() if t not in (keys or ())]
    if not usable:
        raise SettingError(
            "target: no column is left to attack: all are known, constant, identifiers, free text, unit or ignored. "
            "hint: name the target, or set kinds in the schema."
        )
    return usable


def _about(
    case: Case,
    target: str,
    keys: Sequence[str] | None,
    ways: Sequence[str],
    k: int,
    tolerance: float,
    subgroups: Sequence[str],
) -> list[Result]:
    """Return the results for one target, one for each way to guess."""
    known, notes = _known(case, target, keys)
    secret = target_values(case, target, tolerance)
    reference = reference_answers(case, known, secret) if "model" in ways else None
    context: dict[str, float | None] = {"guessing in proportion to how often each value occurs": secret.by_prior()}
    plain = Result(
        attack="inference",
        keys=() if keys is None else tuple(keys),
        target=target,
        settings={"known": len(known), "tolerance": tolerance},
        baseline=Baseline(rate=secret.constant(), what="naming one value for everybody, the best one"),
        context=context | _rates(case, reference),
        notes=(secret.in_words(), *notes),
        verdict="no holdout",
    )
    done: dict[str, Guesses] = {}
    out = []
    for way in ways:
        if way not in done:
            done |= _guessed(case, keys, known, secret, way, k)
        settings = plain.settings | ({"k": k} if way == "k-vote" else {})
        described = replace(plain, variant=way, settings=settings, notes=(done[way].what, *plain.notes))
        if case.has_holdout and way in _BY_RECORD:
            shown = of_a_full_copy(case, known, secret, done[way].right, binned=way == "CAP")
            described = replace(described, context=described.context | {OF_A_COPY: shown})
            if shown is not None and shown <= ACCEPTABLE:
                described = replace(described, notes=(*described.notes, _BLIND))
        out.append(_result(case, described, secret, done[way], reference, subgroups if way == WAYS[0] else None))
    return out


def _known(case: Case, target: str, keys: Sequence[str] | None) -> tuple[tuple[str, ...], list[str]]:
    if keys is not None:
        return checked_keys(case, keys, target)
    check_columns("target", [target], case.by_table, case.levels)
    used, notes = distance_columns(case)
    known = tuple(c for c in used if c != target)
    if not known:
        raise SettingError("inference: no column is left that the attacker could know. hint: name keys.")
    return known, notes


# ---------------------------------------------------------------- ways to guess


def _guessed(
    case: Case, keys: Sequence[str] | None, known: Sequence[str], secret: TargetValues, way: str, k: int
) -> dict[str, Guesses]:
    """Return the answers of one way to guess, and those of another that are computed with it."""
    if way == "model":
        return {"model": model_answers(case, known, secret)}
    from_all = None if keys is None else known
    return by_agreement(case, from_all, secret) if way == "CAP" else by_distance(case, from_all, secret, k)


# ---------------------------------------------------------------- results


def _result(
    case: Case,
    plain: Result,
    secret: TargetValues,
    found: Guesses,
    reference: Guesses | None,
    subgroups: Sequence[str] | None,
) -> Result:
    """Return the result of one way to guess, with groups of people where columns for them are given."""
    n = case.n_rows("real")
    sides = [found.right[:n], found.right[n:]]
    units = [case.units(role) for role in ("real", "holdout")]
    members, strangers = (Outcomes(s, cluster=u) for s, u in zip(sides, units, strict=True))
    sure = abstaining(
        found.right,
        found.sure,
        np.arange(len(found.right)) < n,
        case.rng(f"abstaining {plain.variant} {plain.target}"),
        reference=None if reference is None else (reference.right, reference.sure),
        level=case.level if case.unit is None else None,
    )
    plain = replace(
        plain,
        real=rate_of(members),
        individual=Individual(real=sides[0], holdout=sides[1] if case.has_holdout else None),
        context=plain.context | dict(sure.context) | _without_commonest(case, secret, found.right),
        curves=dict(sure.curves),
    )
    if subgroups is not None:
        plain = replace(plain, groups=by_subgroup(case, secret, found.right, subgroups))
    if not case.has_holdout:
        return plain
    step = f"inference {plain.variant} {'+'.join(sorted(plain.keys))} {plain.target}"
    comparison = compare(members, strangers, level=case.level, rng=case.rng(step), draws=case.draws)
    return judge(replace(plain, holdout=rate_of(strangers)), comparison, case.level)


def _without_commonest(case: Case, secret: TargetValues, right: Floats) -> dict[str, float | None]:
    """Return the rates about people without the value that most have; {} without one, or where such people are few."""
    n, others = case.n_rows("real"), secret.without_commonest()
    if others is None:
        return {}
    sides = [right[:n][others[:n]], right[n:][others[n:]]][: 1 + case.has_holdout]
    if min(map(len, sides)) < FEWEST:
        return {}
    return dict(zip((_OTHERS, _OTHERS_STRANGERS), (Outcomes(side).rate for side in sides), strict=False))


def _rates(case: Case, reference: Guesses | None) -> dict[str, float | None]:
    """Return the success of a model trained on other people without the synthetic table."""
    if reference is None:
        return {}
    who = "strangers" if case.has_holdout else "other members"
    return {f"model trained on {who}, about members": Outcomes(reference.right[: case.n_rows("real")]).rate}
