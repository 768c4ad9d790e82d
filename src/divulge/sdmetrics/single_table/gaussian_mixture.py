"""SDMetrics' likelihood of the synthetic rows under a mixture of normal distributions."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.sdmetrics.base import SingleTableMetric
from divulge.sdmetrics.columns import Column, frame_of
from divulge.sdmetrics.computed import computed_by
from divulge.sdmetrics.errors import IncomputableMetricError
from divulge.sdmetrics.inputs import numbers_of
from divulge.sdmetrics.metadata import checked_pair, table_metadata
from divulge.sdmetrics.single_table.selection import chosen_columns
from divulge.sdmetrics.sound_models import likelihood_sound

__all__ = ["GMLogLikelihood"]

Floats = NDArray[np.float64]
_TITLE = "GaussianMixture Log Likelihood"


def likelihood(
    real_data: Any,
    synthetic_data: Any,
    metadata: Any = None,
    table_name: str | None = None,
    n_components: int | tuple[int, int] = (1, 30),
    covariance_type: str | tuple[str, ...] = "diag",
    iterations: int = 3,
    retries: int = 3,
    *,
    seed: int = 0,
) -> dict[str, Any]:
    """Return the breakdown of GMLogLikelihood."""
    chosen = table_metadata(metadata, table_name)
    real, synthetic = frame_of(real_data, "real_data"), frame_of(synthetic_data, "synthetic_data")
    real, synthetic, entries = checked_pair(real, synthetic, chosen)
    fields = chosen_columns({**(chosen or {}), "columns": entries}, ("numerical",))
    ours, theirs = (np.stack([_filled(t[name]) for name in fields], axis=1) for t in (real, synthetic))
    state = np.random.RandomState(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shape = _shape(ours, n_components, covariance_type, state)
        scores: list[float] = []
        for _ in range(iterations * retries):
            try:
                scores.append(float(_mixture(*shape, state).fit(ours).score(theirs)))
            except ValueError:
                continue
            if len(scores) >= iterations:
                break
    if not scores:
        raise IncomputableMetricError(f"{_TITLE}: Exhausted retries for GaussianMixture")
    return {"score": float(np.mean(scores))}


def _filled(column: Column) -> Floats:
    """Return the numbers of a column, the mean of its table where one is missing."""
    values = np.full(len(column), np.nan)
    values[~column.missing] = numbers_of(column)
    values[column.missing] = values[~column.missing].mean() if not column.missing.all() else np.nan
    return values


def _shape(
    rows: Floats, n_components: int | tuple[int, int], covariance_type: str | tuple[str, ...], state: Any
) -> tuple[int, str]:
    """Return the number of components and the kind of covariance with the smallest BIC."""
    low, high = (n_components, n_components) if isinstance(n_components, int) else n_components
    kinds = (covariance_type,) if isinstance(covariance_type, str) else tuple(covariance_type)
    shapes = list(itertools.product(range(low, high + 1), kinds))
    if len(shapes) == 1:
        return shapes[0]
    best, least = None, np.inf
    for shape in shapes:
        try:
            bic = _mixture(*shape, state).fit(rows).bic(rows)
        except ValueError:
            continue
        if bic < least:
            best, least = shape, bic
    if best is None:
        raise IncomputableMetricError(f"{_TITLE}: Unable to fit GaussianMixture")
    return best


def _mixture(n_components: int, covariance_type: str, state: Any) -> Any:
    from sklearn.mixture import GaussianMixture

    return GaussianMixture(n_components, covariance_type=covariance_type, random_state=state)


@computed_by(likelihood, sound=likelihood_sound, min_value=-np.inf, max_value=np.inf)
class GMLogLikelihood(SingleTableMetric):
    """Mean log-likelihood of the synthetic rows under a Gaussian mixture fitted to the real numbers.

    The score is in units of density, so it changes with the unit of a column. A run with `seed` draws what SDMetrics
    draws after ``numpy.random.seed(seed)``.

    Parameters
    ----------
    real_data, synthetic_data
        Frames with the same columns.
    metadata, table_name
        As SDMetrics takes them.
    n_components, covariance_type
        Number of components or the first and last to try, and the kinds of covariance to try; BIC decides.
    iterations, retries
        Mean of so many fits, of which each may fail so often.
    seed
        Decides where the fits start.
    """

    name = _TITLE
