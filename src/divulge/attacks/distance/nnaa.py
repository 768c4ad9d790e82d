"""NNAA, the nearest neighbour adversarial accuracy: can nearest neighbours tell synthetic rows from real rows?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from divulge.attacks.checks import Floats
from divulge.attacks.distance.attracted import prepared_distances
from divulge.attacks.entry import Coarse, Exact, Withheld, Words, per_table
from divulge.attacks.registry import MIXED, attack
from divulge.case.case import Case
from divulge.case.distances import Distances
from divulge.case.invariant_order import canonical_of
from divulge.core.errors import SettingError
from divulge.core.result import Result, Value
from divulge.kernels.neighbours.index import Index

__all__ = ["nnaa"]

Ints = NDArray[np.int64]


_NNAA_WORDS = Words(
    says=(
        "I tell synthetic rows from people by their nearest neighbours, and strangers give them away more than "
        "members do."
    ),
    knows="The records of members and of strangers, and the whole synthetic table.",
    data=(
        "Columns of numbers, dates or categories, every row in memory; a holdout for the privacy loss. Tables of "
        "unequal size are cut to the smallest. " + MIXED
    ),
    formula=(
        "AA(R) = 1/2 * (share of rows r of R with d(r, S) > d(r, R without r)\n"
        "             + share of rows s of S with d(s, R) > d(s, S without s)), ties count one half\n"
        "privacy loss = AA(holdout) - AA(real)\n"
        "d: distance to the nearest row; S: the synthetic table."
    ),
    reading=(
        "An accuracy of 0.5 means that synthetic rows and people cannot be told apart, 0 that the table was copied "
        "row for row, 1 that the two lie far apart. A privacy loss of 0 is the baseline, which leak-free data give; "
        "above 0 the table is nearer to members, below 0 nearer to strangers. There is no interval, no risk and no "
        "verdict."
    ),
    silent=(
        "A few copies do not show in a mean over all rows.",
        "Each row counts in several neighbourhoods, so that no interval is given.",
        "An accuracy near 0.5 is a matter of quality and no proof that nothing was copied.",
    ),
)


@attack(
    family="distance",
    question="Can a nearest neighbour tell synthetic rows from people, and better from strangers than from members?",
    needs="numbers or categories; a holdout for the privacy loss",
    reference="Yale, Dash, Dutta, Guyon, Pavao and Bennett 2020 (nearest neighbour adversarial accuracy).",
    words=_NNAA_WORDS,
    compared=False,
    plan=per_table(),
    coarse=Coarse(),
    context={
        "accuracy of data that cannot be told apart": Exact(),
        "leak-free privacy loss": Exact(),
        "privacy loss": Withheld(),
    },
)
def nnaa(case: Case, *, columns: Sequence[str] | None = None, subsamples: int = 5) -> Result:
    """Return the nearest neighbour adversarial accuracy of real and of holdout, and the privacy loss between them.

    AA is the mean of two shares: people who are farther from their nearest synthetic row than from the nearest other
    person of their table, and synthetic rows farther from their nearest person than from the nearest other synthetic
    row; ties count half. AA is 0.5 for tables that cannot be told apart, 0 for a table copied row for row, 1 for tables
    far apart. The privacy loss, AA of the holdout less AA of real, is 0 without a leak. There is no interval and no
    verdict, because each row counts in several neighbourhoods. A few copies do not show.

    Parameters
    ----------
    columns
        Compare only these columns; None takes all that can be compared.
    subsamples
        Number of random subsamples, each with all tables cut to the size of the smallest; the result is their mean.

    Raises
    ------
    SettingError
        `subsamples` is below 1.

    Examples
    --------
    >>> import polars as pl
    >>> real = pl.DataFrame({"x": [0.0, 1.0, 2.5, 9.0]})
    >>> nnaa(real, real).value.real
    0.0
    """
    if subsamples < 1:
        raise SettingError(f"subsamples: {subsamples} is below 1. hint: 1 compares all rows once.")
    d, notes, settings = prepared_distances(case, columns)
    roles = ("real", "synthetic", "holdout")[: len(case.tables)]
    sizes = [d.n_rows(r) for r in roles]
    size = min(sizes)
    plain = Result(
        attack="nnaa",
        settings=settings | {"rows": size, "subsamples": subsamples if max(sizes) > size else 0},
        context={"leak-free privacy loss": 0.0, "accuracy of data that cannot be told apart": 0.5},
        notes=tuple(notes),
    )
    if size < 2:
        return replace(plain, value=Value(), notes=(*notes, "a table of one row has no nearest fellow: undefined"))
    found = np.array([_accuracies(d, roles, rows) for rows in _cuts(case, d, sizes, size, subsamples)])
    value = found.mean(axis=0)
    context = plain.context
    if case.has_holdout:
        context = {"privacy loss": float(value[1] - value[0]), **context}
    return replace(
        plain, value=Value(**dict(zip(("real", "holdout"), map(float, value), strict=False))), context=context
    )


def _cuts(case: Case, d: Distances, sizes: Sequence[int], size: int, subsamples: int) -> Iterator[list[Ints | None]]:
    """Return the rows of each table to compare, once for each subsample; None takes all, for tables of equal size."""
    if max(sizes) == size:
        yield [None for _ in sizes]
        return
    canonical = canonical_of(case, d.columns)
    orders = [canonical.order(i) for i in range(len(sizes))]
    rng = case.rng("nnaa")
    for _ in range(subsamples):
        yield [None if n == size else np.sort(o[rng.permutation(n)[:size]]) for o, n in zip(orders, sizes, strict=True)]


def _accuracies(d: Distances, roles: Sequence[str], rows: Sequence[Ints | None]) -> list[float]:
    """Return the adversarial accuracy of each role but "synthetic", on the chosen rows of each table."""
    part = dict(zip(roles, rows, strict=True))
    indices: dict[str, Index] = {}

    def index(role: str) -> Index:
        if role not in indices:
            own = part[role]
            indices[role] = d.index(role) if own is None else Index(d.ruler, d.rows(role).take(own))
        return indices[role]

    def distance(queries: str, reference: str) -> Floats:
        if part[queries] is None and part[reference] is None:
            return d.nearest(queries, reference).distances[:, 0]
        return d.to_nearest_of(queries, part[queries], reference, part[reference], lambda: index(reference))

    among = distance("synthetic", "synthetic")
    out = []
    for role in roles:
        if role != "synthetic":
            own = part[role]
            n = d.n_rows(role) if own is None else len(own)
            credit = _farther(distance(role, "synthetic"), distance(role, role))
            credit += _farther(distance("synthetic", role), among)
            out.append(credit / (4 * n))
    return out


def _farther(one: Floats, other: Floats) -> int:
    """Return twice the number of rows that are farther in `one`; a tie counts half, hence 1."""
    return 2 * int((one > other).sum()) + int((one == other).sum())
