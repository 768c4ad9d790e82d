"""`divulge.utility`: four measures of fidelity under the names that the field gives them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from divulge.core.schema import Schema
from divulge.measures.registry import REGISTRY
from divulge.measures.result import VERDICTS, FidelityResult, FidelityVerdict
from divulge.report.fidelity_model import NO_MODELS
from divulge.run.fidelity import fidelity

__all__ = ["MEASURES", "Utility", "utility"]

MEASURES = {
    "marginal total variation": "column_shapes",
    "pairwise association error": "column_pairs",
    "propensity AUC": "detection",
    "train on synthetic, test on real": "ml_efficacy",
}
"""The field's name of a measure, and the measure of fidelity, in the order in which they are returned."""


class Utility(msgspec.Struct, frozen=True, kw_only=True):
    """How much of the real table the synthetic table keeps, by one measure of fidelity."""

    measure: str
    judged_by: str
    """The measure of fidelity, which is a function of divulge."""
    about: str
    better: str
    value: float | None = None
    """None where it is not measured; a note says why."""
    reference: float | None = None
    """What a fresh sample of the population, as large as the synthetic table, would show."""
    ruler: float | None = None
    """Distances only, value / reference."""
    low: float | None = None
    """Lower limit of the difference between the populations."""
    high: float | None = None
    verdict: FidelityVerdict = "not measured"
    notes: tuple[str, ...] = ()


def utility(
    real: Any,
    synthetic: Any,
    holdout: Any = None,
    *,
    targets: Sequence[str] | None = None,
    models: bool = True,
    schema: Schema | None = None,
    unit: str | None = None,
    ignore: Sequence[str] = (),
    missing: Sequence[str] = (),
    seed: int = 0,
    level: float = 0.95,
) -> tuple[Utility, ...]:
    """Return how much of the real table a synthetic table keeps, in four numbers of `fidelity`, which has the whole.

    Each number stands beside that of a fresh sample (`reference`) and has `ruler`, limits (`low`, `high`) and `verdict`
    of the measure of fidelity that it is (`judged_by`). p-values are corrected over these measures alone.

    Parameters
    ----------
    real, synthetic
        Tables: a frame of any kind, or the path of a file.
    holdout
        People of the same population that the synthesizer never saw. Without it no model is tested on real people.
    targets
        Columns that models learn to predict.
    models
        Whether to fit models; without them the third and the fourth number are not measured.
    schema
        How columns are read; what it does not describe is inferred.
    unit
        The column of the person or household that rows belong to.
    ignore
        Columns to leave out.
    missing
        Texts that stand for missing.
    seed
        Seed of every random step.
    level
        Of intervals; 1 less the chance of a false "differs".

    Returns
    -------
    tuple
        Distance of columns, distance of pairs of columns, AUC of a model that tells the tables apart, and skill of
        models that learn from the synthetic table: mean over the targets, with the means of their limits and the worst
        of their verdicts. A value is None where it is not measured; a note says why.

    Examples
    --------
    >>> import polars as pl
    >>> real = pl.DataFrame({"sex": ["f", "m"] * 200, "age": [i % 70 for i in range(400)]})
    >>> found = utility(real, real.sample(400, shuffle=True, seed=1), models=False)[0]
    >>> found.measure, found.value, found.judged_by, found.verdict
    ('marginal total variation', 0.0, 'column_shapes', 'closer than a fresh sample')
    """
    found = fidelity(
        real, synthetic, holdout, targets=targets, schema=schema, unit=unit, ignore=ignore, missing=missing, seed=seed,
        level=level, measures=[name for name in MEASURES.values() if models or not REGISTRY[name].models],
    )  # fmt: skip
    return tuple(_one(name, judge, found.of(judge)) for name, judge in MEASURES.items())


def _one(name: str, judge: str, results: Sequence[FidelityResult]) -> Utility:
    """Return a measure from its results: the first one, or where results are of targets, all of its kind."""
    entry = REGISTRY[judge]
    heads = [r for r in results if r.variant == results[0].variant and not r.columns]
    empty = Utility(measure=name, judged_by=judge, about=entry.question, better=entry.better)
    if not heads:
        return msgspec.structs.replace(empty, notes=(NO_MODELS,))
    return msgspec.structs.replace(
        empty,
        value=_mean(r.value for r in heads),
        reference=_mean(None if r.fresh_sample is None else r.fresh_sample.mean for r in heads),
        **{field: _mean(getattr(r, field) for r in heads) for field in ("ruler", "low", "high")},
        verdict=min((r.verdict for r in heads), key=VERDICTS.index),
        notes=tuple(dict.fromkeys(note for r in heads for note in r.notes)),
    )


def _mean(values: Any) -> float | None:
    known = list(values)
    return None if None in known else float(np.mean(known))
