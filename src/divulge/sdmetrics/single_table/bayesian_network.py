"""SDMetrics' likelihood of the synthetic rows under a Bayesian network of pomegranate (extra `pomegranate`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.sdmetrics.base import SingleTableMetric
from divulge.sdmetrics.columns import Column, frame_of
from divulge.sdmetrics.computed import computed_by
from divulge.sdmetrics.inputs import known_codes
from divulge.sdmetrics.metadata import checked_pair, table_metadata
from divulge.sdmetrics.single_table.selection import chosen_columns
from divulge.sdmetrics.sound_models import likelihood_sound

__all__ = ["BNLikelihood", "BNLikelihoodBase", "BNLogLikelihood"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_IMPOSSIBLE = 1e-8
"""What SDMetrics takes for a probability of 0 before it takes the logarithm."""


class BNLikelihoodBase(SingleTableMetric):
    """Metrics of the probability that a Bayesian network, learnt from the real rows, gives to synthetic rows."""


def _likelihood(mean: Callable[[Floats], float], name: str) -> Callable[..., dict[str, Any]]:
    def breakdown(
        real_data: Any,
        synthetic_data: Any,
        metadata: Any = None,
        table_name: str | None = None,
        structure: Any = None,
    ) -> dict[str, Any]:
        network, torch = _packages(name)
        chosen = table_metadata(metadata, table_name)
        real, synthetic = frame_of(real_data, "real_data"), frame_of(synthetic_data, "synthetic_data")
        real, synthetic, entries = checked_pair(real, synthetic, chosen)
        fields = chosen_columns({**(chosen or {}), "columns": entries}, ("categorical", "boolean"))
        columns = [_codes(real[n], synthetic[n]) for n in fields]
        learnt, asked = (np.stack([c[side] for c in columns], axis=1) for side in (0, 1))
        structure = (chosen or {}).get("structure", structure)
        model = network(structure=structure or None, algorithm="chow-liu").fit(torch.tensor(learnt))
        return {"score": mean(_probabilities(model, torch, learnt, asked))}

    return breakdown


def _packages(metric: str) -> tuple[Any, Any]:
    try:
        import torch
        from pomegranate.bayesian_network import BayesianNetwork
    except ModuleNotFoundError:
        raise ImportError(
            f"{metric} learns a Bayesian network of pomegranate. hint: pip install 'divulge[pomegranate]'"
        ) from None
    return BayesianNetwork, torch


def _codes(real: Column, synthetic: Column) -> tuple[Ints, Ints]:
    """Return the codes of a column in both tables, in the order in which the values first occur; missing is a value."""
    codes, _ = known_codes([real, synthetic])
    both = np.concatenate(codes)
    _, first, inverse = np.unique(both, return_index=True, return_inverse=True)
    ranks = np.argsort(np.argsort(first))[inverse].astype(np.int64)
    return ranks[: len(real)], ranks[len(real) :]


def _probabilities(model: Any, torch: Any, learnt: Ints, asked: Ints) -> Floats:
    """Return the probability of each row; 0 for a row with a value that the model did not learn.

    The model is asked once for equal rows.
    """
    rows, inverse = np.unique(asked, axis=0, return_inverse=True)
    known = (rows <= learnt.max(axis=0, initial=-1)).all(axis=1)
    found = np.zeros(len(rows))
    if known.any():
        found[known] = model.probability(torch.tensor(rows[known])).detach().numpy()
    return found[inverse.reshape(-1)]


def _mean(probabilities: Floats) -> float:
    return float(np.mean(probabilities)) if len(probabilities) else float("nan")


def _mean_log(probabilities: Floats) -> float:
    return _mean(np.log(np.where(probabilities == 0, _IMPOSSIBLE, probabilities)))


@computed_by(_likelihood(_mean, "BNLikelihood"), sound=likelihood_sound)
class BNLikelihood(BNLikelihoodBase):
    """Mean probability of the synthetic rows in a Bayesian network learnt from the real categories and truth values.

    A table that repeats the commonest real row scores highest. Nothing is drawn, so there is no `seed`.

    Parameters
    ----------
    real_data, synthetic_data
        Frames with the same columns.
    metadata, table_name
        As SDMetrics takes them.
    structure
        Has no effect, as released: the network learns a tree (Chow and Liu) in any case.
    """

    name = "BayesianNetwork Likelihood"


@computed_by(_likelihood(_mean_log, "BNLogLikelihood"), sound=likelihood_sound, min_value=-np.inf, max_value=0)
class BNLogLikelihood(BNLikelihoodBase):
    """Mean logarithm of the probability that `BNLikelihood` has, where a probability of 0 counts 1e-8."""

    name = "BayesianNetwork Log Likelihood"
