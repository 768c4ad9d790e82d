"""How well models that learned from the synthetic table predict people of the holdout, beside models of real rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from divulge.case.case import Case
from divulge.measures._learners import (
    MODELS,
    Answer,
    Lesson,
    block_labels,
    dealt_blocks,
    fitted,
    lesson_of,
    losses,
    ridge_features,
    usual_targets,
)
from divulge.measures._permutation import Tail, permuted_p
from divulge.measures._rows import TableRows, sampled, table_rows, unfit
from divulge.measures.entry import MeasureWords
from divulge.measures.registry import measure
from divulge.measures.result import TOLERANCE, FidelityResult, FreshSample
from divulge.measures.verdicts import judged
from divulge.stats.intervals import Interval, normal_quantile

__all__ = ["Taught", "ml_efficacy", "skill_gap"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_ROWS = 3_000  # rows of each training table; a limit on the time
_TEST_ROWS = 3_000
_IMPORTANCE_ROWS = 500
_DRAWS = 999
_NOISE = 199  # permutations of blocks of real rows
_PENALTY = 5.0
_CHUNK = 100  # permutations whose sums of products are in memory together

_WORDS = MeasureWords(
    what="Models learn a column from synthetic rows, and from two parts of the real rows that are as large; all are "
    "tested on the people of the holdout.",
    formula="skill = 1 - mean loss / mean loss of guessing\n"
    "loss: squared error of a number, Brier score of a category\n"
    "guessing: the mean, or the shares of the values, of the real rows (for a number the skill is R squared)\n"
    "gap = mean skill of the models of both real parts - skill of the synthetic model\n"
    "kept = skill of the synthetic model / mean skill of the real ones\n"
    "importance of a column = loss of test people where its values are exchanged between them, less the loss as it is\n"
    "importance agreement = mean rank correlation of the synthetic importances with those of both real parts",
    reading="A gap of 0, or kept 1, is what a fresh sample has; kept 0 is no better than guessing. The difference "
    "between both real parts shows what chance does.",
    silent=(
        "Columns that are neither targets nor help to predict one.",
        "The p-value is that of a ridge regression, fitted again to exchanged blocks of real and synthetic rows.",
    ),
)


@dataclass(frozen=True, slots=True)
class Taught:
    """What one model learned from the synthetic table, beside real rows."""

    target: str
    model: str
    skill: float
    real: tuple[float, float]
    """Skill of the models of both real parts."""
    gap: Interval
    """Mean skill of the real parts less that of the synthetic table; paired over test people or households, widened by
    the noise of training rows."""
    kept: float
    """Share of the real skill; nan where real rows do not teach the model anything."""
    training_noise: float
    """Standard deviation of the gap of fresh samples that is due to their training rows, from the ridge regression."""
    agreement: tuple[float, float]
    """Rank correlation of the importances of columns: synthetic against real, and between both real parts; nan where
    `no_agreement` says why."""
    no_agreement: str = ""


@measure(
    family="learning",
    question="Do models that learn from synthetic rows predict real people as well?",
    needs="A holdout of 20 people, two usable columns, and 40 real and 20 synthetic rows.",
    reference="Esteban, Hyland and Ratsch (2017), Real-valued medical time series generation with recurrent "
    "conditional GANs (train on synthetic, test on real); Brier (1950), Verification of forecasts expressed in terms "
    "of probability.",
    better="higher",
    null="models of two parts of the real rows, each as large as the synthetic training rows",
    words=_WORDS,
    holdout=True,
    models=True,
)
def ml_efficacy(
    case: Case, *, targets: Sequence[str] | None = None, tolerance: float = TOLERANCE
) -> tuple[FidelityResult, ...]:
    """Return how well models of synthetic rows predict holdout people, beside models of real rows.

    Parameters
    ----------
    targets
        Columns to predict. None takes the columns with the target role, else the three columns most strongly
        associated with another one in the real table.
    tolerance
        The largest gap in skill that does not matter.

    Returns
    -------
    tuple of FidelityResult
        For each target three models: gradient boosting, linear (logistic or ridge regression), one tree. Not measured
        without a holdout or where there are too few rows.

    Examples
    --------
    >>> import polars as pl
    >>> rng = np.random.default_rng(0)
    >>> a = rng.integers(0, 3, 600)
    >>> people = pl.DataFrame({"a": a, "b": (a + rng.integers(0, 2, 600)) % 3}).cast(pl.String)
    >>> real, holdout = people[:400], people[400:]
    >>> shuffled = real.with_columns(real["b"].shuffle(seed=1))
    >>> boosting, linear, tree = ml_efficacy(real, shuffled, holdout=holdout, targets=["b"])
    >>> boosting.verdict, boosting.context["kept"] < 0.2
    ('differs', True)
    """
    names = tuple(sorted(set(case.schema.usable()) | set(targets or ())))
    why = unfit(case, names, ("real", "synthetic", "holdout")) or unfit(case, names, ("real",), 40)
    why = why or ("it needs two usable columns" if len(names) < 2 else "")
    if why:
        return (FidelityResult(measure="ml_efficacy", quantity="skill", notes=(why,)),)
    wanted = tuple(sorted(set(targets))) if targets else usual_targets(case, names)
    most = min(_ROWS, case.n_rows("real") // 2, case.n_rows("synthetic"))
    real = table_rows(case, names, "real", 2 * most, "learning real")
    parts = (
        *real.halves(case.rng("learning halves")),
        table_rows(case, names, "synthetic", most, "learning synthetic"),
    )
    test = table_rows(case, names, "holdout", _TEST_ROWS, "learning holdout")
    notes = sampled("the models", real, parts[2])
    lessons = [lesson_of(case, real, t) for t in wanted]
    lessons, bad = (
        [m for m in lessons if _teachable(m, (*parts, test))],
        [m.target for m in lessons if not _teachable(m, (*parts, test))],
    )
    tails, noises = _refits(case, lessons, parts, test)
    out = [FidelityResult(measure="ml_efficacy", quantity="skill", target=t, notes=(_CONSTANT,)) for t in bad]
    for lesson, tail, noise in zip(lessons, tails, noises, strict=True):
        for model in MODELS:
            found = _taught(case, model, lesson, parts, test, noise)
            out.append(_result(case, found, tail, parts, test, tolerance, notes))
    return tuple(out)


_CONSTANT = "the target has fewer than 20 values or a single one in a table"
_FEW_COLUMNS = "importances of columns are not compared: fewer than three columns predict the target"
_NO_COLUMN = "importances of columns are not compared: a model does not use any column"


def _teachable(lesson: Lesson, tables: Sequence[TableRows]) -> bool:
    outcomes = [lesson.outcome(lesson.taught(t)) for t in tables]
    varied = all(len(o) >= 20 for o in outcomes)
    return varied and all((outcomes[i] != outcomes[i][0]).any() for i in (0, 1, 3))


def _result(
    case: Case, found: Taught, tail: Tail, parts: Sequence[TableRows], test: TableRows, tolerance: float,
    notes: tuple[str, ...],
) -> FidelityResult:  # fmt: skip
    mean = (found.real[0] + found.real[1]) / 2
    reach = normal_quantile(case.level) * found.training_noise
    names = ("importance_agreement", "importance_agreement_real")
    agreement = {} if found.no_agreement else dict(zip(names, found.agreement, strict=True))
    notes = (*notes, *([found.no_agreement] if found.no_agreement else []))
    result = FidelityResult(
        measure="ml_efficacy", variant=found.model, target=found.target, quantity="skill", value=found.skill,
        fresh_sample=FreshSample(mean=mean, low=mean - reach, high=mean + reach), excess=found.skill - mean,
        low=max(0.0, found.gap.low), high=max(0.0, found.gap.high), p_value=tail.p, p_adjusted=tail.p_adjusted,
        tolerance=tolerance, n=len(parts[0]), m=len(parts[2]), notes=notes,
        context={
            "gap": found.gap.value, "gap_low": found.gap.low, "gap_high": found.gap.high,
            "kept": None if math.isnan(found.kept) else found.kept, "skill_real": found.real[0],
            "skill_other_real": found.real[1], "n_test": len(test), **agreement,
        },
    )  # fmt: skip
    return judged(result, case.level)


def _taught(
    case: Case, model: str, lesson: Lesson, parts: Sequence[TableRows], test: TableRows, noise: float
) -> Taught:
    asked = lesson.taught(test)
    answers = [fitted(model, lesson, lesson.taught(p)) for p in parts]
    loss = [losses(a, lesson, asked) for a in answers]
    guess = _guesses(lesson, parts[:2], asked)
    gap, skills = skill_gap(loss[:2], loss[2], guess, asked.unit, noise, case.level)
    mean = (skills[0] + skills[1]) / 2
    agreement, why = (math.nan, math.nan), _FEW_COLUMNS
    if len(lesson.numeric) > 2:
        agreement = _agreement(case, answers, lesson, asked)
        why = _NO_COLUMN if math.isnan(agreement[0]) else ""
    kept = skills[2] / mean if mean > 0.01 else math.nan
    return Taught(lesson.target, model, skills[2], skills[:2], gap, kept, noise, agreement, why)


def _guesses(lesson: Lesson, real: Sequence[TableRows], test: TableRows) -> Floats:
    """Return the loss of each test person if the mean outcome of the real rows is guessed."""
    outcome = np.vstack([lesson.outcome(lesson.taught(r)) for r in real])
    return np.asarray(((lesson.outcome(test) - outcome.mean(axis=0)) ** 2).sum(axis=1))


def skill_gap(
    real: Sequence[Floats], synthetic: Floats, guess: Floats, unit: Ints, noise: float = 0.0, level: float = 0.95
) -> tuple[Interval, tuple[float, float, float]]:
    """Return the gap in skill with its interval, and the skills of both real models and of the synthetic one.

    Parameters
    ----------
    real
        Losses of each test person by two models of real rows, shapes (n,).
    synthetic, guess
        Losses by the synthetic model and by guessing, shape (n,).
    unit
        Person or household of each test row.
    noise
        Standard deviation of the gap due to training rows.
    level
        Coverage aimed at.

    Examples
    --------
    >>> one = np.array([0.0, 1.0, 0.0, 1.0])
    >>> gap, skills = skill_gap([one, one], np.ones(4), np.full(4, 2.0), np.arange(4))
    >>> gap.value, skills
    (0.25, (0.75, 0.75, 0.5))
    """
    base = math.fsum(guess) / len(guess)
    base = base if base > 0 else 1.0
    one, two, own = (1 - math.fsum(loss) / len(loss) / base for loss in (*real, synthetic))
    gap = (one + two) / 2 - own
    influence = (synthetic - (real[0] + real[1]) / 2 - gap * guess) / base / len(guess)
    of_unit = np.bincount(np.unique(unit, return_inverse=True)[1].ravel(), weights=influence)
    n = len(of_unit)
    error = math.sqrt(math.fsum(of_unit**2) * n / max(1, n - 1) + noise**2)
    half = normal_quantile(level) * error
    return Interval(gap, gap - half, gap + half), (one, two, own)


def _agreement(case: Case, answers: Sequence[Answer], lesson: Lesson, test: TableRows) -> tuple[float, float]:
    """Return rank correlations of importances: of the synthetic model with the real ones, and between the real ones."""
    from scipy.stats import spearmanr

    few = test.take(np.sort(case.rng("learning importance rows").permutation(len(test))[:_IMPORTANCE_ROWS]))
    x, outcome = lesson.known(few), lesson.outcome(few)
    n, k = x.shape
    # one call for all columns: a call of a model costs more than its rows
    stacked = np.tile(x, (k + 1, 1))
    for j in range(k):
        order = case.rng(f"learning importance {j}").permutation(n)
        stacked[j * n : (j + 1) * n, j] = x[order, j]
    drops = np.array([_loss_of_parts(answer(stacked), outcome, k + 1) for answer in answers])
    drops = drops[:, :k] - drops[:, k:]
    if any(np.ptp(d) == 0 for d in drops):
        return math.nan, math.nan
    rank = [float(spearmanr(drops[a], drops[b]).statistic) for a, b in ((0, 2), (1, 2), (0, 1))]
    return (rank[0] + rank[1]) / 2, rank[2]


def _loss_of_parts(answers: Floats, outcome: Floats, n_parts: int) -> Floats:
    return np.asarray(((answers - np.tile(outcome, (n_parts, 1))) ** 2).sum(axis=1).reshape(n_parts, -1).sum(axis=1))


# ---------------------------------------------------------------- fitted again


def _refits(
    case: Case, lessons: Sequence[Lesson], parts: Sequence[TableRows], test: TableRows
) -> tuple[list[Tail], list[float]]:
    """Return the p-values of the targets and the noise of training rows, from blocks of rows that change tables.

    The noise is that of blocks of both real parts. Blocks of real and synthetic rows would make tables that differ in
    their mixture, which is no noise.
    """
    if not lessons:
        return [], []
    blocks = [dealt_blocks(p, case.rng(f"learning blocks {i}")) for i, p in enumerate(parts)]
    labels = [
        block_labels(blocks[0], blocks[i], n, case.rng(f"learning labels {i}")) for i, n in ((2, _DRAWS), (1, _NOISE))
    ]
    gaps = np.array([_ridge_gaps(m, (parts[0], parts[2]), blocks[::2], labels[0], test) for m in lessons])
    noise = np.array([_ridge_gaps(m, parts[:2], blocks[:2], labels[1], test)[1:] for m in lessons])
    # the gap to the mean of two real parts has 3/4 of the variance of that to one
    return permuted_p(list(gaps[:, 0]), gaps[:, 1:]), [float(g.std(ddof=1)) * math.sqrt(0.75) for g in noise]


def _ridge_gaps(
    lesson: Lesson, tables: Sequence[TableRows], blocks: Sequence[Ints], labels: Floats, test: TableRows
) -> Floats:
    """Return for each labelling of the blocks the skill of a ridge regression of "real" blocks less that of the others.

    A ridge regression needs the sums of products of its rows alone, which add up over blocks.
    """
    everyone = np.vstack([lesson.known(t) for t in (*tables, test)])
    with threadpool_limits(1):
        features = ridge_features(everyone, lesson.numeric)
        ends = np.cumsum([len(t) for t in tables])
        pieces = np.split(features, ends)
        sums = [_products(lesson, t, f, b) for t, f, b in zip(tables, pieces[:2], blocks, strict=True)]
        grams, moments = (np.concatenate([s[i] for s in sums]) for i in (0, 1))
        [gram], [moment] = _products(lesson, test, pieces[2], np.zeros(len(test), dtype=np.int64))
        skills = [
            np.concatenate([
                _skills(side[i : i + _CHUNK], grams, moments, gram, moment) for i in range(0, len(side), _CHUNK)
            ])
            for side in (labels, 1 - labels)
        ]  # fmt: skip
    asked = lesson.taught(test)
    base = math.fsum(_guesses(lesson, tables[:1], asked)) / len(asked)
    return np.asarray((skills[0] - skills[1]) / len(asked) / (base if base > 0 else 1.0))


def _products(lesson: Lesson, rows: TableRows, features: Floats, block: Ints) -> tuple[Floats, Floats]:
    """Return for each block the sums of products of the features, and of features and outcomes."""
    there = rows.x[:, lesson.column] >= 0 if lesson.is_number else np.ones(len(rows), dtype=bool)
    outcome = np.zeros((len(rows), lesson.n_classes))
    outcome[there] = lesson.outcome(rows.take(there))
    grams, moments = [], []
    for b in range(int(block.max()) + 1):
        own = there & (block == b)
        grams.append(features[own].T @ features[own])
        moments.append(features[own].T @ outcome[own])
    return np.array(grams), np.array(moments)


def _skills(labels: Floats, grams: Floats, moments: Floats, gram: Floats, moment: Floats) -> Floats:
    """Return how much better each fit is than the answer 0, as a sum of squares over the test people."""
    k = gram.shape[0]
    penalty = _PENALTY * np.eye(k)
    penalty[0, 0] = 1e-6  # the constant
    left = (labels @ grams.reshape(len(grams), -1)).reshape(-1, k, k) + penalty
    right = (labels @ moments.reshape(len(moments), -1)).reshape(-1, k, moment.shape[1])
    slopes = np.linalg.solve(left, right)
    return np.asarray(2 * np.einsum("dko,ko->d", slopes, moment) - np.einsum("dko,dko->d", slopes, gram @ slopes))
