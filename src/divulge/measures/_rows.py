"""Rows of the tables as numbers for models of fidelity: drawn by person or household, in an order that rows decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from divulge.case.case import Case
from divulge.case.features import features_of
from divulge.core.hashing import row_hashes, value_hashes

__all__ = [
    "FEWEST",
    "Labelled",
    "TableRows",
    "coarse_codes",
    "indicators",
    "labelled",
    "relabelled",
    "sampled",
    "table_rows",
    "together",
    "tree_matrix",
    "unfit",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

FEWEST = 20
"""Fewest rows of each table that a model is fitted to; start value."""
_CATEGORIES = 254  # categories that scikit-learn's boosting can tell apart
_COMMONEST = 30  # categories with an indicator of their own; the others share one; start value
_BINS = 10
_ROLES = ("real", "synthetic", "holdout")


@dataclass(frozen=True, slots=True, eq=False)
class TableRows:
    """Rows of one table, sorted by content."""

    x: Floats
    """Shape (n, n_columns): rank of a number, or place of a category by frequency; negative where there is none."""
    unit: Ints
    """Shape (n,): number of the person or household, from 0 on."""
    names: tuple[str, ...]
    numeric: tuple[bool, ...]
    row: Ints
    """Shape (n,): number of the row in its table."""
    n_rows: int
    """Rows of the whole table."""

    def __len__(self) -> int:
        return len(self.x)

    def take(self, chosen: Ints | Bools) -> TableRows:
        """Return some of the rows; their units are numbered anew."""
        unit = np.unique(self.unit[chosen], return_inverse=True)[1].ravel()
        return TableRows(self.x[chosen], unit, self.names, self.numeric, self.row[chosen], self.n_rows)

    def halves(self, rng: np.random.Generator) -> tuple[TableRows, TableRows]:
        """Return two halves without a unit in common."""
        first = rng.permutation(int(self.unit.max(initial=-1)) + 1) % 2 == 0
        return self.take(first[self.unit]), self.take(~first[self.unit])


def table_rows(case: Case, columns: Sequence[str], role: str, most: int, step: str) -> TableRows:
    """Return at most about a given number of rows of a table; of a person or household all rows or none are drawn.

    Parameters
    ----------
    columns
        Columns of the model, in any order.
    role
        "real", "synthetic" or "holdout".
    most
        Rows at most; the last unit may exceed it.
    step
        Name of the draw. Nothing is drawn where the table has no more rows.
    """
    names = tuple(sorted(columns))
    x, unit, order, numeric = case.cache.once(("ordered rows", names, role), lambda: _ordered(case, names, role))
    if len(x) > most:
        place = case.rng(step).permutation(int(unit.max()) + 1)
        sizes = np.bincount(unit)[np.argsort(place)]
        n_units = max(1, int(np.searchsorted(np.cumsum(sizes), most, side="right")))
        order = order[place[unit[order]] < n_units]
    number = np.unique(unit[order], return_inverse=True)[1].ravel()
    return TableRows(x[order], number, names, numeric, order, len(x))


def _ordered(case: Case, names: tuple[str, ...], role: str) -> tuple[Floats, Ints, Ints, tuple[bool, ...]]:
    """Return all rows of a table, their units, the order of their contents, and which columns are numbers."""
    features = features_of(case, names)
    n = case.n_rows("real")
    people = {"real": features.people[:n], "holdout": features.people[n:]}
    x = people[role] if role in people else np.asarray(features.synthetic)
    units = case.units(role)
    if units is None:  # each row is a unit, numbered in this order
        order = np.lexsort(x.T[::-1])
        unit = np.empty(len(x), dtype=np.int64)
        unit[order] = np.arange(len(x))
        return x, unit, order, features.numeric
    unit = _numbered(units, x)
    return x, unit, np.lexsort((unit, *x.T[::-1])), features.numeric


def together(one: TableRows, other: TableRows) -> TableRows:
    """Return the rows of two tables as one; their units are different ones, those of the first table come first."""
    return TableRows(
        np.vstack([one.x, other.x]), np.concatenate([one.unit, other.unit + int(one.unit.max(initial=-1)) + 1]),
        one.names, one.numeric, np.concatenate([one.row, other.row]), one.n_rows + other.n_rows,
    )  # fmt: skip


def unfit(case: Case, names: Sequence[str], roles: Sequence[str] = ("real", "synthetic"), fewest: int = FEWEST) -> str:
    """Return why models of these columns and tables cannot be fitted; "" where they can."""
    if not names:
        return "no column is usable: all are constant, identifiers, free text or ignored"
    few = [role for role in roles if case.n_rows(role) < fewest]
    return f"fewer than {fewest} {few[0]} rows" if few else ""


def sampled(who: str, *tables: TableRows) -> tuple[str, ...]:
    """Return a note where not all rows were used."""
    if all(len(t) == t.n_rows for t in tables):
        return ()
    seen, there = (
        " and ".join(f"{n:,}" for n in sizes) for sizes in ([len(t) for t in tables], [t.n_rows for t in tables])
    )
    return (f"{who} saw {seen} of {there} real and synthetic rows",)


def _numbered(units: Ints, x: Floats) -> Ints:
    """Return the number of the person or household of each row; these are numbered by their rows, not by name."""
    hashes = row_hashes(x)
    _, number = np.unique(units, return_inverse=True)
    number = number.ravel()
    content = np.zeros(int(number.max(initial=-1)) + 1, dtype=np.uint64)
    np.add.at(content, number, value_hashes(hashes, 17))
    place = np.empty(len(content), dtype=np.int64)
    place[np.argsort(content, kind="stable")] = np.arange(len(content))
    return np.asarray(place[number])


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """Real and synthetic rows together; equal rows are next to each other, in random order."""

    x: Floats
    """Shape (n, n_columns)."""
    is_real: Bools
    """Shape (n,)."""
    unit: Ints
    """Shape (n,): units of both tables are different ones."""
    source: Ints
    """Shape (n,): place of the row among the real rows followed by the synthetic ones."""
    names: tuple[str, ...]
    numeric: tuple[bool, ...]

    def __len__(self) -> int:
        return len(self.x)


def labelled(real: TableRows, synthetic: TableRows, rng: np.random.Generator) -> Labelled:
    """Return the rows of both tables as one, in an order that says nothing about the table."""
    both = together(real, synthetic)
    x, unit = both.x, both.unit
    is_real = np.arange(len(x)) < len(real)
    # the labels enter so that the order is the same in each run; a random draw then takes them out again
    first = np.lexsort((unit, is_real, *x.T[::-1]))
    content = np.cumsum(np.r_[False, (x[first][1:] != x[first][:-1]).any(axis=1)][: len(x)])
    order = first[np.lexsort((rng.random(len(x)), content))]
    return Labelled(x[order], is_real[order], unit[order], order, real.names, real.numeric)


def relabelled(rows: Labelled, draws: int, rng: np.random.Generator) -> Floats:
    """Return the labels (1 for real) and permutations of them over units, shape (n, 1 + draws)."""
    _, first, unit = np.unique(rows.unit, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")  # units in the order of their first rows
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    labels = rows.is_real[np.sort(first)].astype(np.float64)
    out = np.empty((len(rows), 1 + draws))
    at = place[unit.ravel()]
    for d in range(1 + draws):
        out[:, d] = (labels if d == 0 else rng.permutation(labels))[at]
    return out


def indicators(x: Floats, numeric: Sequence[bool], bins: int = _BINS, commonest: int = _COMMONEST) -> Floats:
    """Return rows as indicators: of bins with about equally many rows for numbers, of categories, of missing.

    The commonest level of each column has no indicator: it is the reference of the others.
    """
    parts = []
    for j, is_number in enumerate(numeric):
        level = _cut(x[:, j], bins) if is_number else np.minimum(x[:, j], commonest)
        values, code, times = np.unique(level, return_inverse=True, return_counts=True)
        kept = np.arange(len(values)) != np.argmax(times)
        parts.append(np.eye(len(values))[:, kept][code.ravel()])
    return np.hstack(parts) if parts else np.zeros((len(x), 0))


def _cut(values: Floats, bins: int) -> Floats:
    there = values >= 0
    if not there.any():
        return values
    inner = np.unique(np.quantile(values[there], np.arange(1, bins) / bins, method="inverted_cdf"))
    return np.where(there, np.searchsorted(inner, values, side="left").astype(np.float64), values)


def tree_matrix(x: Floats, numeric: Sequence[bool]) -> tuple[Floats, list[bool]]:
    """Return rows as scikit-learn's boosting takes them (nan is missing), and which columns are categories."""
    out = np.where(x < 0, np.nan, x)
    categories = [not is_number for is_number in numeric]
    out[:, categories] = np.minimum(out[:, categories], _CATEGORIES - 1)
    for j in np.flatnonzero(np.isnan(out).all(axis=0)):
        out[:, j] = 0.0  # a column that is missing throughout says nothing, and nan there is an error
    return out, categories


def coarse_codes(tables: Sequence[TableRows], bins: int = _BINS, commonest: int = 15) -> tuple[list[Ints], list[int]]:
    """Return codes of the rows of some tables, and the number of codes of each column.

    Numbers are in bins with about equally many rows of all tables together, categories beyond the commonest share a
    code, missing is a code.
    """
    x = np.vstack([t.x for t in tables])
    codes = np.empty(x.shape, dtype=np.int64)
    for j, is_number in enumerate(tables[0].numeric):
        level = _cut(x[:, j], bins) if is_number else np.minimum(x[:, j], commonest)
        codes[:, j] = np.unique(level, return_inverse=True)[1].ravel()
    sizes = [int(c.max()) + 1 for c in codes.T]
    return np.split(codes, np.cumsum([len(t) for t in tables])[:-1]), sizes
