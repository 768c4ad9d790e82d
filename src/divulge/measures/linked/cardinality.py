"""How many children parents have, alone and given what the parent is, against relabelled blocks of families."""

from __future__ import annotations

from functools import partial

import numpy as np

from divulge.case.relational.linked import Linked
from divulge.core.relations import Relation
from divulge.measures._counted import Unit
from divulge.measures.entry import MeasureWords
from divulge.measures.linked.families import Families
from divulge.measures.linked.parts import NOTHING, Cells, Found, binned_numbers, cells_of, compared, linked_results
from divulge.measures.linked.registry import linked_measure
from divulge.measures.result import TOLERANCE, FidelityResult

__all__ = ["cardinality"]

_BINS, _FEW_BINS = 64, 5


@linked_measure(
    family="relations",
    question="Do parents have as many children as in the real tables, and the same kinds of parents many?",
    needs="a relation between two tables",
    reference="Westfall and Young 1993 (max-T).",
    words=MeasureWords(
        what="The number of rows that point at each row of a parent table, and that number with each parent column.",
        formula=(
            "children: d = max over x of |F_R(x) - F_S(x)|, F the distribution function of the number of children\n"
            "childless: d = |share without a child in R - share in S|\n"
            "given a column: d = 1/2 sum over cells of |r - s|, cells of the column and five bins of the number"
        ),
        reading="0 is the same distribution. A fresh sample is never at 0: the ruler divides by what it shows.",
        silent=("Whether the children of one parent fit together: siblings looks at that.",),
    ),
)
def cardinality(linked: Linked, *, tolerance: float = TOLERANCE) -> tuple[FidelityResult, ...]:
    """Return how far the numbers of children are from the real ones, and those of fresh samples would be.

    The first result is the mean over all units; it differs where any does. p-values are corrected over all of them.

    Parameters
    ----------
    tolerance
        The largest difference that does not matter.

    Examples
    --------
    >>> import polars as pl
    >>> def shop(orders):
    ...     users = pl.DataFrame({"uid": range(200), "sex": ["f", "m"] * 100})
    ...     return {"users": users, "orders": pl.DataFrame({"uid": orders, "price": [1, 2] * (len(orders) // 2)})}
    >>> real = shop([i for i in range(200) for _ in range(1 + i % 3)][:398])
    >>> found = cardinality(real, shop([i // 2 for i in range(400)]))
    >>> found[1].table, found[1].variant, found[1].verdict
    ('orders (uid) -> users (uid)', 'children', 'differs')
    """
    nothing = NOTHING if linked.relations else "there is no relation between two tables"
    return linked_results(linked, "cardinality", tolerance, partial(_cardinalities, linked), nothing=nothing)


def _cardinalities(linked: Linked, families: Families, found: Found) -> None:
    for relation in linked.relations:
        _of_relation(linked, relation, families, found)


def _of_relation(linked: Linked, relation: Relation, families: Families, found: Found) -> None:
    rows = families.dealt(relation.parent, f"cardinality {relation}")
    if rows is None:
        return
    numbers = [linked.children(relation, role).astype(np.float64) for role in families.roles]
    many, few = (binned_numbers((numbers[0], numbers[1]), n) for n in (_BINS, _FEW_BINS))
    childless = Cells(((numbers[0] == 0).astype(np.uint8), (numbers[1] == 0).astype(np.uint8)), 2)
    means = {f"mean {role}": round(float(n.mean()), 12) for role, n in zip(families.roles, numbers, strict=True)}
    table = str(relation)
    units = [Unit(variant="children", context=means, table=table), Unit(variant="childless", table=table)]
    columns: list[tuple[Cells, ...]] = [(many,), (childless,)]
    for name in compared(linked, relation.parent):
        units.append(Unit((f"{relation.parent}.{name}",), "given", table=table))
        columns.append((few, cells_of(families, relation.parent, name)))
    found.add_counts(rows, units, columns)
