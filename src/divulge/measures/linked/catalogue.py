"""Every measure of relations and sequences, in the order in which a run makes them."""

# isort: skip_file

from __future__ import annotations

from divulge.measures.entry import Measure
from divulge.measures.linked import cardinality
from divulge.measures.linked import referential_integrity
from divulge.measures.linked import related_pairs
from divulge.measures.linked import siblings
from divulge.measures.linked import sequences
from divulge.measures.linked import transitions
from divulge.measures.linked import autocorrelation
from divulge.measures.linked import static_by_dynamic
from divulge.measures.linked import aggregates
from divulge.measures.linked.registry import LINKED

__all__ = [
    "aggregates",
    "autocorrelation",
    "cardinality",
    "linked_measures",
    "referential_integrity",
    "related_pairs",
    "sequences",
    "siblings",
    "static_by_dynamic",
    "transitions",
]

_ORDER = (
    cardinality, referential_integrity, related_pairs, siblings, sequences, transitions, autocorrelation,
    static_by_dynamic, aggregates,
)  # fmt: skip


def linked_measures() -> tuple[Measure, ...]:
    """Return every measure of relations and sequences."""
    places = {module.__name__: i for i, module in enumerate(_ORDER)}
    return tuple(sorted(LINKED.values(), key=lambda m: places[m.run.__module__]))
