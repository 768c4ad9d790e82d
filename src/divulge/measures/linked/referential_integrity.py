"""Keys that lead nowhere, are missing or repeat, against relabelled blocks of families."""

from __future__ import annotations

from functools import partial

import numpy as np

from divulge.case.relational.linked import Linked
from divulge.core.relations import Relation
from divulge.kernels.relations import MISSING
from divulge.measures._counted import Unit
from divulge.measures.entry import MeasureWords
from divulge.measures.linked.families import Families
from divulge.measures.linked.parts import Cells, Found, linked_results
from divulge.measures.linked.registry import linked_measure
from divulge.measures.result import TOLERANCE, FidelityResult

__all__ = ["referential_integrity"]


@linked_measure(
    family="relations",
    question="Do keys of children lead to a parent as often as in the real tables?",
    needs="a relation between two tables",
    reference="Codd 1970 (foreign keys).",
    words=MeasureWords(
        what="Whether each child row's key is missing, leads to a parent or leads nowhere; and how many parents repeat "
        "an earlier one's key.",
        formula=(
            "keys: d = 1/2 sum over {found, missing, orphan} of |r - s|\n"
            "repeated keys: d = |share of repeated parents in R - share in S|"
        ),
        reading="0 is the same shares. Real tables may have orphans themselves, so that the target is theirs, not 0.",
        silent=("Whether a key leads to the right parent: related_pairs looks at that.",),
    ),
)
def referential_integrity(linked: Linked, *, tolerance: float = TOLERANCE) -> tuple[FidelityResult, ...]:
    """Return how far the shares of keys without a parent are from the real ones, and those of fresh samples would be.

    The first result is the mean over all units; it differs where any does. `context` has the numbers of orphans.

    Parameters
    ----------
    tolerance
        The largest difference that does not matter.

    Examples
    --------
    >>> import polars as pl
    >>> def shop(keys):
    ...     users = pl.DataFrame({"uid": range(100), "sex": ["f", "m"] * 50})
    ...     return {"users": users, "orders": pl.DataFrame({"uid": keys, "price": [i % 7 for i in range(len(keys))]})}
    >>> found = referential_integrity(shop([i % 100 for i in range(250)]), shop([i % 125 for i in range(250)]))
    >>> found[1].variant, found[1].value, found[1].verdict, found[1].context["orphans synthetic"]
    ('keys', 0.2, 'differs', 50)
    """
    return linked_results(
        linked, "referential_integrity", tolerance, partial(_keys, linked),
        nothing="no relation has three families in each table",
    )  # fmt: skip


def _keys(linked: Linked, families: Families, found: Found) -> None:
    for relation in linked.relations:
        _of_relation(linked, relation, families, found)


def _of_relation(linked: Linked, relation: Relation, families: Families, found: Found) -> None:
    facts = [linked.key_facts(relation, role) for role in families.roles]
    table = str(relation)
    children = families.dealt(relation.child, f"keys {relation}")
    if children is not None:
        rows = [linked.rows(relation, role) for role in families.roles]
        states = [np.where(r >= 0, 0, np.where(r == MISSING, 1, 2)).astype(np.uint8) for r in rows]
        told = {f"orphans {role}": f.orphans for role, f in zip(families.roles, facts, strict=True)}
        told |= {f"missing {role}": f.missing for role, f in zip(families.roles, facts, strict=True)}
        unit = Unit(variant="keys", context=dict(told), table=table)
        found.add_counts(children, [unit], [(Cells((states[0], states[1]), 3),)])
    parents = families.dealt(relation.parent, f"repeated {relation}")
    if parents is not None:
        again = [linked.repeats(relation, role).astype(np.uint8) for role in families.roles]
        counts = {f"repeated {role}": f.repeated for role, f in zip(families.roles, facts, strict=True)}
        unit = Unit(variant="repeated keys", context=dict(counts), table=table)
        found.add_counts(parents, [unit], [(Cells((again[0], again[1]), 2),)])
