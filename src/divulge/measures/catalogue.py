"""Every measure of fidelity, in the order in which a run makes them; and those of other packages."""

# isort: skip_file

from __future__ import annotations

from functools import cache

from divulge.core.errors import SettingError
from divulge.measures import column_shapes
from divulge.measures import column_pairs
from divulge.measures import correlations
from divulge.measures import missing_patterns
from divulge.measures import tails
from divulge.measures import coverage
from divulge.measures import validity
from divulge.measures import column_rules
from divulge.measures import subgroups
from divulge.measures import detection
from divulge.measures import pmse
from divulge.measures import energy_distance
from divulge.measures import density_coverage
from divulge.measures import ml_efficacy
from divulge.measures import regression_overlap
from divulge.measures import holdout_likelihood
from divulge.measures.entry import Measure
from divulge.measures.registry import GROUP, REGISTRY

__all__ = [
    "all_measures",
    "column_pairs",
    "column_rules",
    "column_shapes",
    "correlations",
    "coverage",
    "density_coverage",
    "detection",
    "energy_distance",
    "holdout_likelihood",
    "missing_patterns",
    "ml_efficacy",
    "pmse",
    "regression_overlap",
    "subgroups",
    "tails",
    "validity",
]


_ORDER = (column_shapes, column_pairs, correlations, missing_patterns, tails, coverage, validity, column_rules)
"""The order of measures; those of other packages come last."""


def all_measures() -> tuple[Measure, ...]:
    """Return every registered measure, after the measures of other packages have registered themselves.

    Raises
    ------
    SettingError
        A package in the group `divulge.measures` cannot be imported.
    """
    _load_others()
    places = {module.__name__: i for i, module in enumerate(_ORDER)}
    return tuple(sorted(REGISTRY.values(), key=lambda m: places.get(m.run.__module__, len(places))))


@cache
def _load_others() -> None:
    from importlib.metadata import entry_points

    for point in entry_points(group=GROUP):
        try:
            point.load()
        except Exception as error:
            raise SettingError(
                f"{GROUP}: the measure {point.name!r} of another package cannot be imported: {type(error).__name__}. "
                "hint: mend or remove that package."
            ) from error
