"""How many children the rows of a parent table have, in the real and in the synthetic tables."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.core.schema import no_such
from divulge.measures.rules import combined
from divulge.sdmetrics.base import MultiTableMetric
from divulge.sdmetrics.columns import Column, Frame, equal_codes, frame_of
from divulge.sdmetrics.computed import in_sound_mode
from divulge.sdmetrics.goal import Goal
from divulge.sdmetrics.metadata import dictionary
from divulge.sdmetrics.single_column.formulas import ks_complement
from divulge.sdmetrics.single_table.wrappers import corrected_parts
from divulge.sdmetrics.sound_scores import scored
from divulge.sdmetrics.warnings import ConstantInputWarning

__all__ = [
    "CardinalityShapeSimilarity",
    "CardinalityStatisticSimilarity",
    "check_types",
    "key_codes",
    "key_columns",
    "n_children",
    "relations_of",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Breakdown = dict[Any, Any]
_STATISTICS = ("mean", "std", "median")
_PARTS = ("parent_table_name", "parent_primary_key", "child_table_name", "child_foreign_key")


def n_children(parent: Sequence[Column], child: Sequence[Column]) -> Floats:
    """Return the number of children of each parent row, as SDMetrics counts them.

    A missing key equals a missing key, and each parent row with a repeated key has all children of that key.
    """
    (above, below), n_keys = key_codes(parent, child)
    return np.bincount(below, minlength=n_keys)[above].astype(np.float64)


def key_codes(parent: Sequence[Column], child: Sequence[Column]) -> tuple[list[Ints], int]:
    """Return one number per key for each parent and each child row, and their number; missing keys are one key.

    Parameters
    ----------
    parent, child
        The columns of the key, in the same order.

    Raises
    ------
    ValueError
        Keys of one side are texts and those of the other numbers or dates.
    """
    parts: list[list[Ints]] = []
    for above, below in zip(parent, child, strict=True):
        check_types(above, below)
        own, n = equal_codes([above, below])
        parts.append([np.where(c.missing, n, o).astype(np.int64) for c, o in zip((above, below), own, strict=True)])
    codes = combined(parts)
    return codes, max((int(c.max()) + 1 for c in codes if len(c)), default=0)


def check_types(parent: Column, child: Column) -> None:
    """Raise a `ValueError` where keys of one side are texts and those of the other numbers or dates."""
    kinds = {
        "number" if c.kind in "biuf" else "date" if c.kind == "M" else _kind_of_objects(c) for c in (parent, child)
    }
    if len(kinds - {"any"}) > 1:
        raise ValueError(
            f"The key of the parent ({parent.name!r}) and that of the child ({child.name!r}) are of different types. "
            "hint: convert one of them, so that equal keys are equal values."
        )


def _kind_of_objects(column: Column) -> str:
    present = column.values[~column.missing]
    if not len(present):
        return "any"
    if all(isinstance(v, str) for v in present):
        return "text"
    return "number" if all(isinstance(v, (int, float, np.number)) for v in present) else "any"


# ---------------------------------------------------------------- relations of the metadata


def relations_of(metadata: Any) -> Iterator[tuple[str, Any, str, Any]]:
    """Yield parent, its key, child and its key of each relation of the metadata."""
    for relation in dictionary(metadata).get("relationships", []):
        for part in _PARTS:
            if part not in relation:
                raise ValueError(f"A relationship of the metadata has no {part!r}. hint: it has {', '.join(_PARTS)}.")
        parent, parent_key, child, child_key = (relation[part] for part in _PARTS)
        yield parent, parent_key, child, child_key


def key_columns(tables: Mapping[str, Any], role: str, table: str, key: Any) -> list[Column]:
    """Return the columns of a key, or raise a `ValueError` with the nearest name."""
    if table not in tables:
        raise ValueError(no_such(role, "table", table, list(map(str, tables))))
    frame = tables[table] if isinstance(tables[table], Frame) else frame_of(tables[table], f"{role}[{table!r}]")
    names = list(key) if isinstance(key, (list, tuple)) else [key]
    for name in names:
        if name not in frame.columns:
            raise ValueError(no_such(f"{role}[{table!r}]", "column", name, list(map(str, frame.names))))
    return [frame[name] for name in names]


def _cardinalities(real: Any, synthetic: Any, metadata: Any) -> list[tuple[tuple[str, str], Floats, Floats]]:
    """Return per relation the names of its tables, and the children per parent in both tables."""
    links = list(relations_of(metadata))
    named = {table for parent, _, child, _ in links for table in (parent, child)}
    sides = [
        ({n: frame_of(t, f"{role}[{n!r}]") if n in named else t for n, t in tables.items()}, role)
        for tables, role in ((real, "real_data"), (synthetic, "synthetic_data"))
    ]
    found = []
    for parent, parent_key, child, child_key in links:
        counts = []
        for tables, role in sides:
            above, below = (key_columns(tables, role, t, k) for t, k in ((parent, parent_key), (child, child_key)))
            if len(above) != len(below):
                raise ValueError(
                    f"Key columns: {len(above)} of {parent!r} and {len(below)} of {child!r}. hint: name them in pairs."
                )
            counts.append(n_children(above, below))
        found.append(((parent, child), counts[0], counts[1]))
    return found


def _check_tables(real: Any, synthetic: Any) -> None:
    for tables, role in ((real, "real_data"), (synthetic, "synthetic_data")):
        if not isinstance(tables, Mapping):
            raise TypeError(f"`{role}` is of type {type(tables).__name__}; it must be a dictionary of tables.")
    if set(real) != set(synthetic):
        raise ValueError("`real_data` and `synthetic_data` must have the same tables.")


def _mean(breakdown: Breakdown) -> float:
    if "score" in breakdown:
        return float(breakdown["score"])
    scores = [part["score"] for part in breakdown.values()]
    return float(sum(scores) / len(scores))


# ---------------------------------------------------------------- metrics


class CardinalityShapeSimilarity(MultiTableMetric):
    """How alike the numbers of children per parent are: the mean over relations of their KSComplement.

    As in SDMetrics, two relations between the same two tables have one place in the breakdown: that of the later one.
    """

    name = "CardinalityShapeSimilarity"
    goal = Goal.MAXIMIZE
    min_value = 0.0
    max_value = 1.0

    @classmethod
    def compute(
        cls, real_data: Any, synthetic_data: Any, metadata: Any, *, mode: str = "compatible",
        real_validation_data: Any = None,
    ) -> float:  # fmt: skip
        """Return the mean score over relations, nan without any.

        Parameters
        ----------
        real_data, synthetic_data
            Dictionaries of frames, with the same tables.
        metadata
            SDV metadata with "relationships".
        mode
            "sound" puts the score of parents relabelled beside it, with p-values corrected over the relations.
        real_validation_data
            In sound mode: the tables of people whom the synthesizer never saw.
        """
        sound = {"mode": mode, "real_validation_data": real_validation_data}
        return _mean(cls.compute_breakdown(real_data, synthetic_data, metadata, **sound))

    @classmethod
    def compute_breakdown(
        cls, real_data: Any, synthetic_data: Any, metadata: Any, *, mode: str = "compatible",
        real_validation_data: Any = None,
    ) -> Breakdown:  # fmt: skip
        """Return {(parent, child): {"score": ...}}, or {"score": nan}; see `compute`."""
        _check_tables(real_data, synthetic_data)
        if in_sound_mode(cls.__name__, mode, real_validation_data):
            return _sound(ks_complement, real_data, synthetic_data, real_validation_data, metadata)
        parts = _cardinalities(real_data, synthetic_data, metadata)
        found = {names: {"score": ks_complement(real, synthetic)} for names, real, synthetic in parts}
        return found or {"score": np.nan}

    @classmethod
    def compute_both(cls, *args: Any, real_validation_data: Any = None, **own: Any) -> Breakdown:
        """Return both breakdowns, as released and sound."""
        sound = cls.compute_breakdown(*args, **own, mode="sound", real_validation_data=real_validation_data)
        return {"compatible": cls.compute_breakdown(*args, **own), "sound": sound}


class CardinalityStatisticSimilarity(MultiTableMetric):
    """How alike a statistic of the number of children per parent is: the mean over relations.

    As in SDMetrics, two relations between the same two tables have one place in the breakdown, that of the later one;
    one relation in which all real parents have equally many children makes the mean nan.
    """

    name = "CardinalityStatisticSimilarity"
    goal = Goal.MAXIMIZE
    min_value = 0.0
    max_value = 1.0

    @classmethod
    def compute(
        cls, real_data: Any, synthetic_data: Any, metadata: Any = None, statistic: str = "mean", *,
        mode: str = "compatible", real_validation_data: Any = None,
    ) -> float:  # fmt: skip
        """Return the mean score over relations, nan without any.

        Parameters
        ----------
        real_data, synthetic_data
            Dictionaries of frames, with the same tables.
        metadata
            SDV metadata with "relationships".
        statistic
            "mean", "std" or "median".
        mode, real_validation_data
            As for CardinalityShapeSimilarity.
        """
        sound = {"mode": mode, "real_validation_data": real_validation_data}
        return _mean(cls.compute_breakdown(real_data, synthetic_data, metadata, statistic, **sound))

    @classmethod
    def compute_breakdown(
        cls, real_data: Any, synthetic_data: Any, metadata: Any = None, statistic: str = "mean", *,
        mode: str = "compatible", real_validation_data: Any = None,
    ) -> Breakdown:  # fmt: skip
        """Return {(parent, child): {"real", "synthetic", "score"}}, or {"score": nan}; see `compute`."""
        _check_tables(real_data, synthetic_data)
        if metadata is None:
            raise ValueError("`metadata` cannot be ``None``.")
        if in_sound_mode(cls.__name__, mode, real_validation_data):
            score = partial(_statistic_score, statistic)
            return _sound(score, real_data, synthetic_data, real_validation_data, metadata)
        parts = _cardinalities(real_data, synthetic_data, metadata)
        found = {names: _by_statistic(real, synthetic, statistic) for names, real, synthetic in parts}
        return found or {"score": np.nan}

    @classmethod
    def compute_both(cls, *args: Any, real_validation_data: Any = None, **own: Any) -> Breakdown:
        """Return both breakdowns, as released and sound."""
        sound = cls.compute_breakdown(*args, **own, mode="sound", real_validation_data=real_validation_data)
        return {"compatible": cls.compute_breakdown(*args, **own), "sound": sound}


def _statistic_score(statistic: str, real: Floats, synthetic: Floats) -> float:
    return _by_statistic(real, synthetic, statistic)["score"]


def _sound(
    score: Callable[[Floats, Floats], float], real: Any, synthetic: Any, holdout: Any, metadata: Any
) -> Breakdown:
    """Return the sound breakdown of each relation; members are parents."""
    parts = _cardinalities(real, synthetic, metadata)
    beside = [None] * len(parts) if holdout is None else [p[2] for p in _cardinalities(real, holdout, metadata)]
    found: Breakdown = {}
    for (names, ours, theirs), strangers in zip(parts, beside, strict=True):
        found[names] = scored(score, [ours, theirs, *([] if strangers is None else [strangers])])
    return corrected_parts(found) or {"score": np.nan}


def _by_statistic(real: Floats, synthetic: Floats, statistic: str) -> dict[str, float]:
    if len(np.unique(real)) == 1:
        warnings.warn(
            ConstantInputWarning(
                "One or more columns of the real data input is constant. The CardinalityStatisticSimilarity metric is "
                "either undefined or infinite for those columns."
            ),
            stacklevel=5,
        )
        return {"score": np.nan}
    if statistic not in _STATISTICS:
        raise ValueError(f"requested statistic {statistic} is not valid. Please choose either mean, std, or median.")
    of_real, of_synthetic = (_statistic(side, statistic) for side in (real, synthetic))
    span = float(real.max() - real.min()) if len(real) else np.nan
    return {"real": of_real, "synthetic": of_synthetic, "score": max(1 - abs(of_real - of_synthetic) / span, 0)}


def _statistic(values: Floats, statistic: str) -> float:
    if not len(values) or (statistic == "std" and len(values) == 1):
        return float("nan")
    return float(np.std(values, ddof=1) if statistic == "std" else getattr(np, statistic)(values))
