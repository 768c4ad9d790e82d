"""Pairs of a column of a child and one of its parent, grandparent or great-grandparent, over relabelled families."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from divulge.case.relational.linked import DEEPEST, Linked
from divulge.core.errors import SettingError
from divulge.core.relations import Relation
from divulge.measures._counted import Unit
from divulge.measures.entry import MeasureWords
from divulge.measures.linked.families import Families, Floats, Ints
from divulge.measures.linked.parts import Found, cells_of, compared, linked_results, taken
from divulge.measures.linked.registry import linked_measure
from divulge.measures.result import TOLERANCE, FidelityResult

__all__ = ["drawn", "related_pairs"]


@linked_measure(
    family="relations",
    question="Do children belong to the parents that they belong to in the real tables?",
    needs="a relation between two tables that both have columns besides keys",
    reference="Westfall and Young 1993 (max-T).",
    words=MeasureWords(
        what="The shares of each pair of a child's value and its parent's, up to three relations up; numbers are in "
        "ten bins.",
        formula=(
            "d = 1/2 sum over cells of |r - s|\n"
            "by child: r, s are shares of the child rows\n"
            "by parent: of the parents that have a child, each with one of its children, drawn"
        ),
        reading="0 is the same counts. By child, parents with many children count most; by parent, each counts once.",
        silent=("Whether the children of one parent fit together: siblings looks at that.",),
    ),
)
def related_pairs(linked: Linked, *, tolerance: float = TOLERANCE, hops: int = DEEPEST) -> tuple[FidelityResult, ...]:
    """Return how far pairs of columns of related tables are from the real ones, and those of fresh samples would be.

    The first result is the mean over all pairs; it differs where any does. p-values are corrected over all of them.

    Parameters
    ----------
    tolerance
        The largest difference that does not matter.
    hops
        Most relations between child and ancestor, 1 to 3.

    Examples
    --------
    >>> import polars as pl
    >>> users = pl.DataFrame({"uid": range(200), "sex": ["f", "m"] * 100})
    >>> def shop(kinds):
    ...     return {"users": users, "orders": pl.DataFrame({"uid": [i % 200 for i in range(400)], "kind": kinds})}
    >>> found = related_pairs(shop(["a", "b"] * 200), shop(["a", "b", "b", "a"] * 100))
    >>> found[1].columns, found[1].variant, found[1].value, found[1].verdict
    (('orders.kind', 'users.sex'), 'by child', 0.5, 'differs')
    """
    if isinstance(hops, bool) or not isinstance(hops, int) or not 1 <= hops <= DEEPEST:
        raise SettingError(f"hops: this is no whole number from 1 to {DEEPEST}. hint: {DEEPEST} is the default.")
    return linked_results(
        linked, "related_pairs", tolerance, partial(_pairs, linked, hops),
        nothing="no two related tables have columns to compare and three families each",
    )  # fmt: skip


def _pairs(linked: Linked, hops: int, families: Families, found: Found) -> None:
    for path in _paths(linked, hops):
        _of_path(linked, path, families, found)


def _paths(linked: Linked, hops: int) -> Iterator[tuple[Relation, ...]]:
    """Yield the ways up, from each table, that come to no table twice."""

    def longer(path: tuple[Relation, ...]) -> Iterator[tuple[Relation, ...]]:
        yield path
        passed = {path[0].child, *(r.parent for r in path)}
        for relation in linked.relations if len(path) < hops else ():
            if relation.child == path[-1].parent and relation.parent not in passed:
                yield from longer((*path, relation))

    for relation in linked.relations:
        yield from longer((relation,))


def _of_path(linked: Linked, path: tuple[Relation, ...], families: Families, found: Found) -> None:
    child, parent = path[0].child, path[-1].parent
    below, above = compared(linked, child), compared(linked, parent)
    if not below or not above:
        return
    ancestors = [linked.ancestor_rows(path, role).astype(np.int64) for role in families.roles]
    table = " -> ".join([f"{r.child} ({', '.join(r.child_key)})" for r in path] + [parent])
    every = [np.flatnonzero(a >= 0) for a in ancestors]
    once = [drawn(a, d) for a, d in zip(ancestors, families.draws(child, f"one {table}"), strict=True)]
    for variant, rows in (("by child", every), ("by parent", once)):
        numbers = (rows[0], rows[1])
        dealt = families.dealt(child, f"{variant} {table}", numbers)
        if dealt is None:
            continue
        up = (ancestors[0][rows[0]], ancestors[1][rows[1]])
        of_child = {name: taken(cells_of(families, child, name), numbers) for name in below}
        of_parent = {name: taken(cells_of(families, parent, name), up) for name in above}
        pairs = [(a, b) for a in below for b in above]
        units = [Unit((f"{child}.{a}", f"{parent}.{b}"), variant, table=table) for a, b in pairs]
        found.add_counts(dealt, units, [(of_child[a], of_parent[b]) for a, b in pairs])


def drawn(group: Ints, numbers: Floats) -> Ints:
    """Return one row of each group, that with the smallest number; rows with a group below 0 are left out.

    Examples
    --------
    >>> drawn(np.array([1, 0, 1, -1]), np.array([0.9, 0.5, 0.2, 0.1])).tolist()
    [1, 2]
    """
    order = np.lexsort((numbers, group))
    order = order[group[order] >= 0]
    first = np.ones(len(order), dtype=bool)
    first[1:] = group[order[1:]] != group[order[:-1]]
    return order[first]
