"""`divulge.utility`: the headline of fidelity, four numbers beside a holdout's and the verdicts that judge them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from divulge.case.case import build_case
from divulge.core.schema import Schema, check_columns, column_names
from divulge.measures.catalogue import all_measures
from divulge.measures.single_table import utility as utility_of
from divulge.report.model import Utility
from divulge.run.fidelity import fidelity_of
from divulge.run.fidelity_in_run import JUDGES, beside_fidelity

__all__ = ["utility"]


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
    """Return how much of the real table a synthetic table keeps, in four numbers; `fidelity` has the whole.

    Each number stands beside that of the holdout (`reference`) and has `ruler`, limits (`low`, `high`) and `verdict` of
    the measure of fidelity that judges the same thing (`judged_by`). p-values are corrected over these measures alone.

    Parameters
    ----------
    real, synthetic
        Tables: a frame of any kind, or the path of a file.
    holdout
        People of the same population that the synthesizer never saw. Without it there is no reference.
    targets
        Columns that models learn to predict.
    models
        Whether detection and learning are judged too, which fits further models.
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
        Marginal total variation, error of pairwise association, AUC of a model that tells the tables apart, and the
        score of models taught by the synthetic table. A value is None where it is undefined; a note says why.

    Examples
    --------
    >>> import polars as pl
    >>> real = pl.DataFrame({"sex": ["f", "m"] * 200, "age": [i % 70 for i in range(400)]})
    >>> found = utility(real, real.sample(400, shuffle=True, seed=1), models=False)[0]
    >>> found.measure, found.value, found.judged_by, found.verdict
    ('marginal total variation', 0.0, 'column_shapes', 'closer than a fresh sample')
    """
    named = None if targets is None else list(column_names("targets", targets))
    case = build_case(
        real, synthetic, holdout, schema=schema, unit=unit, ignore=ignore, missing=missing, seed=seed, level=level
    ).collected("measures of utility need every row")
    check_columns("targets", named or (), case.columns)
    own = [u.to_dict() for u in utility_of(case, targets=named)]
    judges = [m for m in all_measures() if m.name in JUDGES.values() and (models or not m.models)]
    found = fidelity_of(case, judges, targets=named)
    return tuple(msgspec.convert(u, Utility) for u in beside_fidelity(own, found.results))
