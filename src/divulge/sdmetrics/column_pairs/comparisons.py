"""The breakdowns of SDMetrics' metrics of two columns: its arguments in, its dictionary out.

`real_data` and `synthetic_data` are frames, whose first two columns count; those of the real frame name the columns.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.kernels.counts.histograms import pair_histograms
from divulge.measures import column_pairs as measures
from divulge.sdmetrics.columns import Column, drawn_rows
from divulge.sdmetrics.errors import ConstantInputError, IncomputableMetricError
from divulge.sdmetrics.inputs import codes_of, from_least, known, known_codes, numbers_of, sortable, two_columns
from divulge.sdmetrics.readings import as_numbers
from divulge.sdmetrics.single_column.formulas import frequencies

__all__ = ["contingency_similarity", "continuous_divergence", "correlation_similarity", "discrete_divergence"]

Breakdown = dict[str, Any]
Pair = tuple[Column, Column]
_CELLS = 2**24  # cells of the table of counts of a pair beyond which only those that occur are counted
_LEAST = 1e-5  # what SDMetrics adds to each cell of ContinuousKLDivergence


def _pairs(real_data: Any, synthetic_data: Any) -> tuple[tuple[Hashable, Hashable], Pair, Pair]:
    """Return the names of the two columns, and the columns of each table."""
    names, real = two_columns(real_data, "real_data")
    others, synthetic = two_columns(synthetic_data, "synthetic_data")
    first, second = names[:2]
    for name in (first, second):
        if name not in others:
            raise ValueError(f"`synthetic_data` has no column {name!r}, which `real_data` has.")
    return (first, second), (real[0], real[1]), (synthetic[others.index(first)], synthetic[others.index(second)])


# --- correlation ------------------------------------------------------------------------------------------------------


def correlation_similarity(
    real_data: Any, synthetic_data: Any, coefficient: str = "Pearson", real_correlation_threshold: float = 0
) -> Breakdown:
    """Return the breakdown of CorrelationSimilarity."""
    threshold = real_correlation_threshold
    if not isinstance(threshold, (int, float)) or not 0 <= threshold <= 1:
        raise ValueError("real_correlation_threshold must be a number between 0 and 1.")
    names, real, synthetic = _pairs(real_data, synthetic_data)
    _check_constant(names, real, "real data")
    _check_constant(names, synthetic, "synthetic data")
    if coefficient not in ("Pearson", "Spearman"):
        raise ValueError(f"requested coefficient {coefficient} is not valid. Please choose either Pearson or Spearman.")
    correlation = _pearson if coefficient == "Pearson" else _spearman
    ours = correlation(real)
    if abs(ours) <= threshold:
        return {"score": float("nan"), "real": ours, "synthetic": float("nan")}
    theirs = correlation(synthetic)
    return {"score": measures.correlation_similarity(ours, theirs), "real": ours, "synthetic": theirs}


def _check_constant(names: Sequence[Hashable], pair: Pair, which: str) -> None:
    constant = [str(name) for name, column in zip(names, pair, strict=True) if _is_constant(column)]
    if constant:
        what = f"column{'s' if len(constant) > 1 else ''} '{', '.join(constant)}'"
        raise ConstantInputError(
            f"The {which} in {what} contains a constant value. Correlation is undefined for constant data."
        )


def _is_constant(column: Column) -> bool:
    values = known(column)
    if values.dtype == object:
        codes = codes_of([column.take(~column.missing)])[0][0]
        return len(codes) > 0 and bool((codes == codes[0]).all())
    return len(values) > 0 and bool((values == values[0]).all())


def _complete(pair: Pair) -> Pair:
    both = ~(pair[0].missing | pair[1].missing)
    return pair[0].take(both), pair[1].take(both)


def _pearson(pair: Pair) -> float:
    x, y = (_apart(numbers_of(as_numbers([c])[0])) for c in _complete(pair))
    if len(x) < 2:
        raise ValueError("CorrelationSimilarity: there are fewer than 2 rows in which both columns have a value.")
    return measures.pearson(x, y)


def _apart(values: NDArray[Any]) -> NDArray[Any]:
    return from_least(values, values, 1)


def _spearman(pair: Pair) -> float:
    x, y = (_apart(sortable(c, c.take(np.zeros(len(c), dtype=bool)))[0]) for c in _complete(pair))
    return measures.spearman(x, y)


# --- contingency ------------------------------------------------------------------------------------------------------


def contingency_similarity(
    real_data: Any,
    synthetic_data: Any,
    continuous_column_names: Sequence[Hashable] | None = None,
    num_discrete_bins: int = 10,
    num_rows_subsample: int | None = None,
    real_association_threshold: float = 0,
    *,
    seed: int = 0,
) -> Breakdown:
    """Return the breakdown of ContingencySimilarity."""
    names, real, synthetic = _pairs_of_two(real_data, synthetic_data)
    _check_contingency(
        names, continuous_column_names, num_discrete_bins, num_rows_subsample, real_association_threshold
    )
    if num_rows_subsample is not None:
        state = np.random.RandomState(seed)
        real, synthetic = (_drawn(pair, num_rows_subsample, state) for pair in (real, synthetic))
    coded = [
        _binned(a, b, num_discrete_bins) if name in (continuous_column_names or ()) else cell_codes(a, b)
        for name, a, b in zip(names, real, synthetic, strict=True)
    ]
    wanted = real_association_threshold > 0
    counts, association = _cells([c[0] for c in coded], [c[1] for c in coded], wanted)
    if wanted and not association > real_association_threshold:
        return {"score": float("nan"), "real_association": association}
    return {"score": measures.contingency_similarity(*counts), "real_association": association}


def _pairs_of_two(real_data: Any, synthetic_data: Any) -> tuple[tuple[Hashable, Hashable], Pair, Pair]:
    for data in (real_data, synthetic_data):
        if not hasattr(data, "columns") or len(data.columns) != 2:
            raise ValueError("The data must be a pandas DataFrame with two columns.")
    if set(real_data.columns) != set(synthetic_data.columns):
        raise ValueError("The columns in the real and synthetic data must match.")
    return _pairs(real_data, synthetic_data)


def _check_contingency(
    names: Sequence[Hashable], continuous: Sequence[Hashable] | None, bins: Any, subsample: Any, threshold: Any
) -> None:
    bad = [str(name) for name in continuous or () if name not in names]
    if bad:
        raise ValueError("Continuous column(s) '{}' not found in the data.".format("' ,'".join(bad)))
    if not isinstance(bins, int) or bins <= 0:
        raise ValueError("`num_discrete_bins` must be an integer greater than zero.")
    if subsample is not None and (not isinstance(subsample, int) or subsample <= 0):
        raise ValueError("`num_rows_subsample` must be an integer greater than zero.")
    if not isinstance(threshold, (int, float)) or not 0 <= threshold <= 1:
        raise ValueError("real_association_threshold must be a number between 0 and 1.")


def _drawn(pair: Pair, size: int, state: np.random.RandomState) -> Pair:
    rows = drawn_rows(state, len(pair[0]), min(size, len(pair[0])))
    return pair[0].take(rows), pair[1].take(rows)


def _binned(real: Column, synthetic: Column, n_bins: int) -> tuple[list[NDArray[Any]], int]:
    """Return the number of the bin of each row: equal width over the real range; missing values have a bin."""
    for column in (real, synthetic):
        if column.values.dtype.kind in "mM":
            raise TypeError(f"Column {column.name!r} holds dates. hint: convert them to numbers, .astype('int64').")
    real, synthetic = as_numbers([real, synthetic])
    first, second = (_as_floats(c) for c in (real, synthetic))
    bounds = _bounds(real)
    first, second, bounds = (from_least(values, bounds, n_bins) for values in (first, second, bounds))
    with np.errstate(all="ignore"):
        edges = np.histogram_bin_edges(bounds, bins=n_bins)
    edges[0], edges[-1] = -np.inf, np.inf
    return [np.digitize(values, edges) for values in (first, second)], n_bins + 2


def _bounds(column: Column) -> NDArray[Any]:
    values = numbers_of(column)
    return values.astype(np.uint8) if values.dtype.kind == "b" else values


def _as_floats(column: Column) -> NDArray[Any]:
    """Return all values as numbers, nan where one is missing."""
    values = numbers_of(column)
    if len(values) == len(column):
        return values
    full = np.full(len(column), np.nan)
    full[~column.missing] = values
    return full


def cell_codes(real: Column, synthetic: Column) -> tuple[list[NDArray[Any]], int]:
    """Return a code for each value over both tables, where missing values are one value, and the number of codes."""
    codes, size = known_codes([real, synthetic])
    return list(codes), size + 1


def _cells(
    coded: Sequence[list[NDArray[Any]]], sizes: Sequence[int], associated: bool
) -> tuple[list[NDArray[Any]], float]:
    """Return the real and the synthetic counts of the cells, and Cramér's V of the real ones where it is wanted."""
    if sizes[0] * sizes[1] > _CELLS:
        coded, sizes = zip(*(_compressed(c) for c in coded), strict=True)
    rows = [[c[t] for c in coded] for t in range(2)]
    if sizes[0] * sizes[1] > _CELLS:
        counts, distinct = _occupied(rows, sizes)
        codes = np.divmod(distinct, sizes[1])
        return counts, measures.cramers_v_of_cells(*codes, counts[0]) if associated else float("nan")
    counts = [pair_histograms(r, sizes).unit(0) for r in rows]
    return counts, measures.cramers_v(counts[0]) if associated else float("nan")


def _compressed(codes: list[NDArray[Any]]) -> tuple[list[NDArray[Any]], int]:
    distinct, found = np.unique(np.concatenate(codes), return_inverse=True)
    return np.split(found, [len(codes[0])]), len(distinct)


def _occupied(rows: Sequence[Sequence[NDArray[Any]]], sizes: Sequence[int]) -> tuple[list[NDArray[Any]], NDArray[Any]]:
    """Return the counts of the cells that occur in either table, and their numbers: first code * size + second."""
    cells = [r[0].astype(np.int64) * sizes[1] + r[1] for r in rows]
    distinct, place = np.unique(np.concatenate(cells), return_inverse=True)
    first, second = (np.bincount(p, minlength=len(distinct)) for p in np.split(place, [len(cells[0])]))
    return [first, second], distinct


# --- divergences ------------------------------------------------------------------------------------------------------


def continuous_divergence(real_data: Any, synthetic_data: Any) -> Breakdown:
    """Return the breakdown of ContinuousKLDivergence; the tables of the caller stay as they are."""
    _, *pairs = _pairs(real_data, synthetic_data)
    real, synthetic = zip(*(as_numbers(own, shifted=False) for own in zip(*pairs, strict=True)), strict=True)
    with np.errstate(all="ignore"):
        expected, x_edges, y_edges = np.histogram2d(_filled(real[0]), _filled(real[1]))
        observed, _, _ = np.histogram2d(_filled(synthetic[0]), _filled(synthetic[1]), bins=[x_edges, y_edges])
    shares = [(c.ravel() + _LEAST) / (c.ravel() + _LEAST).sum() for c in (observed, expected)]
    return {"score": measures.divergence_score(shares[0], shares[1])}


def _filled(column: Column) -> NDArray[Any]:
    """Return all values as numbers, 0 where one is missing."""
    values = _as_floats(column)
    if values.dtype.kind == "b":
        return values.astype(np.float64)
    return np.where(column.missing, 0.0, values) if column.missing.any() else values


def discrete_divergence(real_data: Any, synthetic_data: Any) -> Breakdown:
    """Return the breakdown of DiscreteKLDivergence; a nan of a column of floats is equal to no other."""
    _, real, synthetic = _pairs(real_data, synthetic_data)
    if not len(synthetic[0]):
        raise IncomputableMetricError("DiscreteKLDivergence: the synthetic table is empty.")
    coded = [codes_of([a, b]) for a, b in zip(real, synthetic, strict=True)]
    rows = [[c[0][t] for c in coded] for t in range(2)]
    counts, _ = _occupied(rows, [c[1] for c in coded])
    observed, expected = frequencies(*counts)
    return {"score": measures.divergence_score(observed, expected)}
