"""The constraint that a dictionary describes, and the share of rows that keep it."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

from divulge.sdmetrics.constraints import combinations, keys, numbers, order
from divulge.sdmetrics.constraints.base import Constraint, ConstraintNotApplicableError, Tables
from divulge.sdmetrics.inputs import Columns, columns_from

__all__ = ["CONSTRAINTS", "LazyColumns", "adherence", "constraint_of"]

LOGGER = logging.getLogger(__name__)
CONSTRAINTS: dict[str, type[Constraint]] = {
    name: getattr(module, name) for module in (combinations, keys, numbers, order) for name in module.__all__
}
"""The constraints by the name of their class in SDMetrics."""


def constraint_of(described: Any) -> Constraint:
    """Return the constraint of a dictionary with "class_name" and "parameters".

    Raises
    ------
    ValueError
        The dictionary has another form, or parameters that the constraint does not take.
    """
    if not isinstance(described, dict):
        raise ValueError("Invalid constraint. Please pass in a dictionary with the keys 'class_name' and 'parameters'.")
    extra = set(described) - {"class_name", "parameters"}
    if extra:
        quoted = "', '".join(sorted(map(str, extra)))
        raise ValueError(
            f"Invalid key(s) '{quoted}' in the constraint. Only the keys 'class_name' and 'parameters' are allowed."
        )
    name, parameters = described.get("class_name"), described.get("parameters") or {}
    if not isinstance(name, str):
        raise ValueError("Invalid constraint. Missing the required key 'class_name'.")
    if name not in CONSTRAINTS:
        raise ValueError(f"Unsupported constraint class '{name}'.")
    if not isinstance(parameters, dict):
        raise ValueError("Invalid constraint. The 'parameters' key must be a dictionary.")
    _check_names(name, parameters)
    try:
        return CONSTRAINTS[name](**parameters)
    except TypeError as error:
        raise ValueError(f"Unable to create the constraint '{name}': {error}") from None


def _check_names(name: str, parameters: Mapping[str, Any]) -> None:
    import inspect

    known = [p for p in inspect.signature(CONSTRAINTS[name].__init__).parameters if p != "self"]
    unknown = set(parameters) - set(known)
    if unknown:
        quoted, expected = "', '".join(sorted(unknown)), "', '".join(known)
        raise ValueError(
            f"Invalid parameter(s) '{quoted}' for constraint '{name}'. The supported parameters are: '{expected}'."
        )


def adherence(described: Any, real: Tables, synthetic: Tables) -> float:
    """Return the share of synthetic rows that keep a constraint, over all tables whose rows it can break.

    A warning says so where the real rows do not all keep it.

    Parameters
    ----------
    described
        A dictionary with "class_name" and "parameters".
    real, synthetic
        The tables of both sides.

    Returns
    -------
    float
        nan where there is no row, or where the constraint cannot be checked, which the log says.
    """
    constraint = constraint_of(described)
    fitted: Tables | None = None
    try:
        constraint.check(real)
        fitted = real
        share = _share(constraint, real, fitted)
        if share < 1:
            warnings.warn(
                f"The real data does not adhere to the '{type(constraint).__name__}' constraint "
                f"({round(share * 100, 2)}% of the rows are valid). ",
                stacklevel=3,
            )
    except ConstraintNotApplicableError as error:
        LOGGER.warning("Unable to check the constraint against the real data: %s", error)
    try:
        constraint.check(synthetic)
        return _share(constraint, synthetic, fitted)
    except ConstraintNotApplicableError as error:
        LOGGER.warning("Unable to check the constraint against the synthetic data: %s", error)
        return float("nan")


def _share(constraint: Constraint, data: Tables, real: Tables | None) -> float:
    n_valid = n_rows = 0
    for table, mask in constraint.valid(data, real).items():
        counts = data.counts.get(table)
        n_valid += int(mask.sum() if counts is None else counts[mask].sum())
        n_rows += len(mask) if counts is None else int(counts.sum())
    return n_valid / n_rows if n_rows else float("nan")


class LazyColumns(Mapping[str, Columns]):
    """The columns of each frame of a dictionary, made when a table is asked for."""

    def __init__(self, frames: Mapping[str, Any], role: str) -> None:
        self._frames, self._role = frames, role
        self._made: dict[str, Columns] = {}

    def __getitem__(self, table: str) -> Columns:
        if table not in self._made:
            self._made[table] = columns_from(self._frames[table], f"{self._role}[{table!r}]")
        return self._made[table]

    def __iter__(self) -> Iterator[str]:
        return iter(self._frames)

    def __len__(self) -> int:
        return len(self._frames)
