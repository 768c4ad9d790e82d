"""Every measure of fidelity, in the order in which a run makes them; and those of other packages."""

# isort: skip_file

from __future__ import annotations

from functools import cache

from divulge.case.case import Case
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
from divulge.measures.entry import Measure, MeasureWords
from divulge.measures.registry import GROUP, REGISTRY
from divulge.measures.result import TOLERANCE, FidelityResult

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


_PLACES = {name: place for place, name in enumerate(globals())}
"""Of each measure, as imported here; those of other packages come last."""


def all_measures() -> tuple[Measure, ...]:
    """Return every registered measure, after the measures of other packages have registered themselves.

    A measure of another package that cannot be imported is there, too, and is never measured: what somebody else broke
    must not stop a run.
    """
    broken = _load_others()
    own = tuple(sorted(REGISTRY.values(), key=lambda m: _PLACES.get(m.name, len(_PLACES))))
    return own + tuple(m for m in broken if m.name not in REGISTRY)


@cache
def _load_others() -> tuple[Measure, ...]:
    """Import the measures of other packages, and return those that cannot be imported."""
    from importlib.metadata import entry_points

    broken = []
    for point in entry_points(group=GROUP):
        try:
            point.load()
        except Exception as error:
            broken.append(_broken(point.name, type(error).__name__))
    return tuple(broken)


def _broken(name: str, error: str) -> Measure:
    """Return the entry of a measure that cannot be imported."""
    why = f"another package has this measure in {GROUP}, and it cannot be imported: {error}"

    def run(case: Case, *, tolerance: float = TOLERANCE) -> tuple[FidelityResult, ...]:
        return (FidelityResult(measure=name, tolerance=tolerance, notes=(why,)),)

    words = MeasureWords(
        what="Nothing: its package cannot be imported.", formula="-", reading="It is never measured.",
        silent=("Mend or remove its package.",),
    )  # fmt: skip
    return Measure(
        name, "joint", "What does a measure of another package say?", "its package", "Another package.", "lower",
        "Nothing is compared.", words, run,
    )  # fmt: skip
