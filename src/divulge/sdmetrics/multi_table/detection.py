"""Detection on child rows, each beside the row of its parent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from divulge.kernels.relations import parent_rows
from divulge.sdmetrics import single_table
from divulge.sdmetrics.base import BaseMetric, MultiTableMetric
from divulge.sdmetrics.columns import frame_of
from divulge.sdmetrics.computed import in_sound_mode
from divulge.sdmetrics.goal import Goal
from divulge.sdmetrics.multi_table.cardinality import key_codes, key_columns, relations_of

__all__ = ["METRICS", "DetectionMetric", "ParentChildDetectionMetric"]

_NAMES = {"LogisticParentChildDetection": "LogisticDetection", "SVCParentChildDetection": "SVCDetection"}


class DetectionMetric(MultiTableMetric):
    """Metrics that train a model to tell synthetic tables from real ones."""


class ParentChildDetectionMetric(DetectionMetric):
    """Detection on child rows, each beside the row of its parent: the mean over relations.

    Keys are left out. In SDMetrics the metric reads an entry "ref" that no metadata have today, and raises an error;
    here the relations of the metadata count.
    """

    single_table_metric: ClassVar[Any] = None
    goal, min_value, max_value = Goal.MAXIMIZE, 0.0, 1.0

    @classmethod
    def compute(
        cls,
        real_data: Any,
        synthetic_data: Any,
        metadata: Any = None,
        foreign_keys: Sequence[tuple[str, Any, str, Any]] | None = None,
        *,
        seed: int = 0,
        mode: str = "compatible",
        real_validation_data: Any = None,
    ) -> float:
        """Return the mean score over relations.

        Parameters
        ----------
        real_data, synthetic_data
            Dictionaries of frames.
        metadata
            SDV metadata with "relationships"; goes before `foreign_keys`.
        foreign_keys
            Tuples (parent table, parent key, child table, child key).
        seed
            Seed of the folds and of the model.
        mode, real_validation_data
            "sound" is that of the metric of one table; rows are taken for independent. `divulge.aggregate_detection`
            takes parents with their children.

        Raises
        ------
        ValueError
            There is no relation, or a relation names what is not there.
        """
        links = list(relations_of(metadata) if metadata else foreign_keys or ())
        if not links:
            raise ValueError("No foreign keys given")
        if cls.single_table_metric is None:
            raise NotImplementedError(
                f"{cls.__name__} has no `single_table_metric`. hint: derive a class that has one."
            )
        sides = [(real_data, "real_data"), (synthetic_data, "synthetic_data")]
        if in_sound_mode(cls.__name__, mode, real_validation_data) and real_validation_data is not None:
            sides.append((real_validation_data, "real_validation_data"))
        scores = []
        for link in links:
            real, synthetic, *holdout = (_beside(tables, role, *link) for tables, role in sides)
            own = {"mode": mode, "real_validation_data": holdout[0] if holdout else None}
            scores.append(cls.single_table_metric.compute(real, synthetic, seed=seed, **own))
        return float(np.mean(scores))

    @classmethod
    def compute_both(cls, *args: Any, real_validation_data: Any = None, **own: Any) -> dict[str, Any]:
        """Return both scores, as released and sound."""
        sound = cls.compute(*args, **own, mode="sound", real_validation_data=real_validation_data)
        return {"compatible": {"score": cls.compute(*args, **own)}, "sound": {"score": sound}}


def _beside(tables: Mapping[str, Any], role: str, parent: str, parent_key: Any, child: str, child_key: Any) -> Any:
    """Return the rows of the child and, beside each, those of its parent, as a frame of pandas; keys are left out."""
    import pandas as pd

    above, below = (key_columns(tables, role, t, k) for t, k in ((parent, parent_key), (child, child_key)))
    codes, n_keys = key_codes(above, below)
    rows = parent_rows(codes[0], codes[1], n_keys)
    frames = frame_of(tables[parent], role), frame_of(tables[child], role)
    known = rows >= 0
    out: dict[str, Any] = {}
    for table, frame, keys in ((parent, frames[0], above), (child, frames[1], below)):
        left_out = {k.name for k in keys}
        for name in frame.names:
            if name not in left_out:
                column = pd.Series(frame[name].values)
                out[f"{table}.{name}"] = (
                    column if frame is frames[1] else column.reindex(np.where(known, rows, -1)).array
                )
    return pd.DataFrame(out)


def _made(name: str) -> type[ParentChildDetectionMetric]:
    inner: type[BaseMetric] = getattr(single_table, _NAMES[name])
    members = {
        "__doc__": f"`divulge.sdmetrics.single_table.{_NAMES[name]}` of child rows, each beside the row of its parent.",
        "__module__": "divulge.sdmetrics.multi_table",
        "single_table_metric": inner,
        "name": inner.name,
    }
    return type(name, (ParentChildDetectionMetric,), members)


METRICS: dict[str, type[ParentChildDetectionMetric]] = {name: _made(name) for name in _NAMES}
"""The metrics by name."""
