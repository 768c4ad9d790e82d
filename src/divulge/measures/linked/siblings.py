"""How alike the children of one parent are in two groups of tables, over relabelled blocks of families."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from divulge.case.encoded import ROLES
from divulge.case.relational.linked import Linked
from divulge.core.relations import Relation
from divulge.measures._counted import Unit
from divulge.measures.blocks import Dealt
from divulge.measures.entry import MeasureWords
from divulge.measures.linked.families import Families, Floats, Ints, Pair
from divulge.measures.linked.parts import Found, compared, linked_results
from divulge.measures.linked.registry import linked_measure
from divulge.measures.result import TOLERANCE, FidelityResult
from divulge.measures.smooth import agreement_z, correlation_z, moments, smooth_distances, standard_numbers

__all__ = ["add_likeness", "siblings"]


@linked_measure(
    family="relations",
    question="Are children of one parent as alike as in the real tables?",
    needs="a relation, and parents with two children",
    reference="Fisher 1925 (intraclass correlation); Scott 1955 (agreement above chance).",
    words=MeasureWords(
        what="Each parent's children are put into random order, and neighbours compared: by their correlation for "
        "numbers, by how often they agree above chance for categories.",
        formula=(
            "d = tanh(|z_R - z_S|), z = artanh(k)\n"
            "k: the correlation of both numbers of a pair, each counted in both places, or (A - C) / (1 - C)\n"
            "A: share of pairs with one value, C: the chance of it"
        ),
        reading="0 is the same likeness. A generator that draws children one by one has a likeness of 0.",
        silent=("Order: sequences, transitions and autocorrelation look at that.",),
    ),
)
def siblings(linked: Linked, *, tolerance: float = TOLERANCE) -> tuple[FidelityResult, ...]:
    """Return how far the likeness of children of one parent is from the real one, and a fresh sample's would be.

    The first result is the mean over all columns; it differs where any does. `context` has the likeness itself.

    Parameters
    ----------
    tolerance
        The largest difference that does not matter.

    Examples
    --------
    >>> import polars as pl
    >>> def shop(kinds):
    ...     users = pl.DataFrame({"uid": range(200), "sex": ["f", "m"] * 100})
    ...     return {"users": users, "orders": pl.DataFrame({"uid": [i // 2 for i in range(400)], "kind": kinds})}
    >>> found = siblings(shop(["a", "a", "b", "b"] * 100), shop(["a", "b"] * 200))
    >>> found[1].columns, found[1].context, found[1].verdict
    (('orders.kind',), {'real': 1.0, 'synthetic': -1.0}, 'differs')
    """
    return linked_results(
        linked, "siblings", tolerance, partial(_siblings, linked),
        nothing="no relation has three parents with two children in each table",
    )  # fmt: skip


def _siblings(linked: Linked, families: Families, found: Found) -> None:
    for relation in linked.relations:
        _of_relation(linked, relation, families, found)


def _of_relation(linked: Linked, relation: Relation, families: Families, found: Found) -> None:
    numbers = families.draws(relation.child, f"siblings {relation}")
    parents = [linked.rows(relation, role).astype(np.int64) for role in families.roles]
    pairs = [_neighbours(p, d) for p, d in zip(parents, numbers, strict=True)]
    firsts, seconds = ((pairs[0][i], pairs[1][i]) for i in (0, 1))
    rows = families.dealt(relation.child, f"siblings {relation}", firsts)
    if rows is None:
        return
    for name in compared(linked, relation.child):
        add_likeness(families, found, rows, (relation.child, name), (firsts, seconds), str(relation))


def _neighbours(group: Ints, numbers: Floats) -> tuple[Ints, Ints]:
    """Return pairs of rows of one group, each row with the next one in the order of the numbers."""
    order = np.lexsort((numbers, group))
    order = order[group[order] >= 0]
    same = group[order[1:]] == group[order[:-1]]
    return order[:-1][same], order[1:][same]


def add_likeness(
    families: Families, found: Found, rows: Dealt, column: tuple[str, str], pairs: tuple[Pair, Pair], where: str,
    variant: str = "", *, notes: tuple[str, ...] = (), in_order: bool = False,
) -> None:  # fmt: skip
    """Add how alike both rows of pairs are in one column.

    Parameters
    ----------
    families, found
        The families, and the units found.
    rows
        The pairs in blocks.
    column
        Table and column.
    pairs
        Row numbers of both sides: the first of each pair, and the second.
    where
        The table or relation, for the result.
    variant
        Of the result; "" says whether it is a correlation or agreement.
    notes
        Of the result.
    in_order
        Whether the first row of a pair is the earlier one; else both places count alike.
    """
    sums, value = _likeness(families, column, rows, pairs, in_order)
    n_first = rows.labels.n_first
    sides = (sums[:n_first].sum(axis=0), sums[n_first:].sum(axis=0))
    told = {
        role: round(float(np.tanh(value(side[None, :])[0, 0])), 9) + 0.0
        for role, side in zip(families.roles, sides, strict=True)
    }
    kind = "correlation" if value is correlation_z else "agreement"
    unit = Unit((".".join(column),), variant or kind, notes, told, where)
    found.add_distances(rows, unit, lambda labels: smooth_distances(sums, labels, value))


def _likeness(
    families: Families, column: tuple[str, str], rows: Dealt, pairs: tuple[Pair, Pair], in_order: bool
) -> tuple[Floats, Callable[[Floats], Floats]]:
    """Return the sums of each block that tell how alike both rows of pairs are, and the function that tells it."""
    case, n_blocks = families.linked.case(column[0]), len(rows.labels.sizes)
    own = [case.codes(column[1], binned=False)[ROLES.index(role)] for role in families.roles]
    x, y = (rows.both((own[0][side[0]], own[1][side[1]])) for side in pairs)
    if case.encoded.is_number(column[1]):
        z = standard_numbers(np.concatenate([x, y]), case.numbers(column[1]))
        a, b = z[: len(x)], z[len(x) :]
        if in_order:
            return moments(a, b, rows.block, n_blocks), correlation_z
        return moments(np.r_[a, b], np.r_[b, a], np.r_[rows.block, rows.block], n_blocks), correlation_z
    used, codes = np.unique(np.concatenate([x, y]), return_inverse=True)
    cells = codes.ravel() + len(used) * np.r_[rows.block, rows.block].astype(np.int64)
    members = np.bincount(cells, minlength=n_blocks * len(used)).reshape(n_blocks, -1)
    agree = np.bincount(rows.block, weights=(x == y), minlength=n_blocks)
    return np.column_stack([agree, members]).astype(np.float64), agreement_z
