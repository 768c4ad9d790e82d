"""Column pair trends: the score of every pair of columns, all tables of counts from one pass over the rows."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from divulge.kernels.counts.histograms import pair_histograms
from divulge.measures import column_pairs as measures
from divulge.sdmetrics.column_pairs.comparisons import correlation_similarity
from divulge.sdmetrics.columns import Column, Frame
from divulge.sdmetrics.inputs import numbers_of
from divulge.sdmetrics.metadata import as_datetimes
from divulge.sdmetrics.reports.correlations import correlations
from divulge.sdmetrics.reports.details import MEETS, Row, described
from divulge.sdmetrics.reports.tables import CONTINUOUS, DISCRETE, Coded, TableData

__all__ = ["Thresholds", "bins_of", "pair_rows"]

Pair = tuple[Hashable, Hashable]
_Kept = TypeVar("_Kept")
_BINS = 10
_CELLS_AT_ONCE = 2**20
_ROWS_AT_ONCE = 2**14
_DENSE = 2**18  # cells of a table of counts that is filled whole, however few the rows
_NAN = float("nan")


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What a pair of real columns must exceed to count; 0 lets every pair count."""

    correlation: float
    association: float


def pair_rows(table: TableData, pairs: Sequence[Pair], thresholds: Thresholds) -> list[Row]:
    """Return the row of each pair whose columns are both continuous or discrete.

    Parameters
    ----------
    table
        Columns of both tables.
    pairs
        Names of columns, in the order of the rows.
    thresholds
        See `Thresholds`.
    """
    chosen = [p for p in pairs if all(_sdtype(table, name) in (*CONTINUOUS, *DISCRETE) for name in p)]
    prepared = _Prepared(table)
    counted = [p for p in chosen if not all(_is_continuous(table, name) for name in p)]
    contingencies = _contingencies(prepared, counted, thresholds.association)
    known = correlations(prepared.all_columns(name for p in chosen if p not in contingencies for name in p))
    rows = []
    for pair in chosen:
        metric = "ContingencySimilarity" if pair in contingencies else "CorrelationSimilarity"
        try:
            found = contingencies.get(pair) or _correlated(prepared, known.get(pair), pair, thresholds.correlation)
            if isinstance(found, Exception):
                raise found
            problem = None
        except Exception as error:
            found, problem = (_NAN, _NAN, _NAN, _NAN, None), _text(error)
        names = ("Score", "Real Correlation", "Synthetic Correlation", "Real Association", MEETS)
        row = {"Column 1": pair[0], "Column 2": pair[1], "Metric": metric}
        rows.append({**row, **dict(zip(names, found, strict=True)), "Error": problem})
    return rows


def _text(error: Exception) -> str:
    return str(error) if isinstance(error, _Failed) else described(error)


class _Failed(Exception):
    """A column that could not be prepared, with the text of its error."""


def _sdtype(table: TableData, name: Hashable) -> str:
    return str(table.entries[name].get("sdtype", ""))


def _is_continuous(table: TableData, name: Hashable) -> bool:
    return _sdtype(table, name) in CONTINUOUS


class _Prepared:
    """The columns as numbers and as codes, each made once; what fails is kept as the error of its pairs."""

    def __init__(self, table: TableData) -> None:
        self.table = table
        self._columns: dict[Hashable, tuple[Column, Column] | _Failed] = {}
        self._coded: dict[Hashable, Coded | _Failed] = {}

    def all_columns(self, names: Iterable[Hashable]) -> dict[Hashable, tuple[Column, Column]]:
        """Return those of the continuous columns that can be had."""
        found = {}
        for name in dict.fromkeys(names):
            with suppress(_Failed):
                found[name] = self.columns(name)
        return found

    def columns(self, name: Hashable) -> tuple[Column, Column]:
        """Return a continuous column of both tables, dates as numbers."""
        return _kept(self._columns, name, self._continuous)

    def coded(self, name: Hashable) -> Coded:
        """Return the codes of a column, those of a continuous one its bins."""
        return _kept(self._coded, name, self._bins if _is_continuous(self.table, name) else self.table.codes)

    def _continuous(self, name: Hashable) -> tuple[Column, Column]:
        real, synthetic = self.table.pair(name)
        if _sdtype(self.table, name) == "datetime":
            entry = self.table.entries[name]
            real, synthetic = (_as_numbers(as_datetimes(name, c, entry), name) for c in (real, synthetic))
        return real, synthetic

    def _bins(self, name: Hashable) -> Coded:
        """As released, each table has bins of its own range, so that a shifted and stretched column looks the same."""
        return [_binned(c) for c in self.columns(name)], _BINS + 2


def _kept(cache: dict[Hashable, _Kept | _Failed], name: Hashable, make: Callable[[Hashable], _Kept]) -> _Kept:
    if name not in cache:
        try:
            cache[name] = make(name)
        except Exception as error:
            cache[name] = error if isinstance(error, _Failed) else _Failed(described(error))
    kept = cache[name]
    if isinstance(kept, _Failed):
        raise kept
    return kept


def _as_numbers(column: Column, name: Hashable) -> Column:
    numbers = numbers_of(column)
    if not column.has_missing:
        return Column("i", numbers, name=name)
    full = np.full(len(column), np.nan)
    full[~column.missing] = numbers
    return Column("f", full, name=name)


def _binned(column: Column) -> NDArray[Any]:
    """Return the number of the bin of each row, 1 to 10; the largest value and missing values have 11."""
    values = numbers_of(column)
    if values.dtype.kind == "b":
        values = values.astype(np.uint8)
    with np.errstate(all="ignore"):
        edges = np.histogram_bin_edges(values, bins=_BINS)
    codes = bins_of(values, edges)
    if len(values) == len(column):
        return codes
    full = np.full(len(column), _BINS + 1, dtype=np.uint8)
    full[~column.missing] = codes
    return full


def bins_of(values: NDArray[Any], edges: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Return `numpy.digitize` for a few edges: the number of edges that a value is not below."""
    found = np.zeros(len(values), dtype=np.uint8)
    for low in range(0, len(values), _ROWS_AT_ONCE):  # a part stays in the processor's cache for all edges
        part, own = values[low : low + _ROWS_AT_ONCE].astype(np.float64), found[low : low + _ROWS_AT_ONCE]
        for edge in edges:
            own += (part >= edge).view(np.uint8)
    return found


# --- contingency ------------------------------------------------------------------------------------------------------

Found = tuple[float, float, float, float, bool | None]


def _contingencies(prepared: _Prepared, pairs: Sequence[Pair], threshold: float) -> dict[Pair, Found | Exception]:
    """Return score, nan, nan, association and whether it exceeds the threshold, for each pair; or its error."""
    found: dict[Pair, Found | Exception] = {}
    dense: list[Pair] = []
    sparse: list[Pair] = []
    for pair in pairs:
        try:
            first, second = (prepared.coded(name) for name in pair)
        except _Failed as error:
            found[pair] = error
            continue
        n_rows = len(first[0][0]) + len(first[0][1])
        (dense if first[1] * second[1] <= max(_DENSE, n_rows) else sparse).append(pair)
    for batch in _batches(prepared, dense):
        found.update(zip(batch, _dense(prepared, batch, threshold), strict=True))
    for pair in sparse:
        found[pair] = _sparse(prepared.coded(pair[0]), prepared.coded(pair[1]), threshold)
    return found


def _dense(prepared: _Prepared, pairs: Sequence[Pair], threshold: float) -> list[Found]:
    """Return what is found of pairs from tables of all their cells; synthetic ones only where the real ones count."""
    names = list(dict.fromkeys(name for pair in pairs for name in pair))
    place = {name: i for i, name in enumerate(names)}
    coded = [prepared.coded(name) for name in names]
    sizes, units = [size for _, size in coded], [(place[a], place[b]) for a, b in pairs]
    real = pair_histograms([codes[0] for codes, _ in coded], sizes, units)
    cells, passed, associations = real.counts[0], np.ones(len(pairs), dtype=bool), np.full(len(pairs), _NAN)
    if threshold > 0:
        associations = measures.cramers_vs(cells, real.start, real.shapes)
        passed = associations > threshold
    chosen = [unit for unit, is_in in zip(units, passed, strict=True) if is_in]
    synthetic = pair_histograms([codes[1] for codes, _ in coded], sizes, chosen)
    cells = cells if passed.all() else cells[np.repeat(passed, np.diff(real.start))]
    scores = np.full(len(pairs), _NAN)
    scores[passed] = measures.contingency_similarities(cells, synthetic.counts[0], synthetic.start)
    return [
        (score, _NAN, _NAN, association, is_in)
        for score, association, is_in in zip(scores.tolist(), associations.tolist(), passed.tolist(), strict=True)
    ]


def _batches(prepared: _Prepared, pairs: Sequence[Pair]) -> Iterator[list[Pair]]:
    batch: list[Pair] = []
    cells = 0
    for pair in pairs:
        size = prepared.coded(pair[0])[1] * prepared.coded(pair[1])[1]
        if batch and cells + size > _CELLS_AT_ONCE:
            yield batch
            batch, cells = [], 0
        batch.append(pair)
        cells += size
    if batch:
        yield batch


def _judged(real: NDArray[Any], synthetic: NDArray[Any], association: float, threshold: float) -> Found:
    if threshold > 0 and not association > threshold:
        return _NAN, _NAN, _NAN, association, False
    return measures.contingency_similarity(real, synthetic), _NAN, _NAN, association, True


def _sparse(first: Coded, second: Coded, threshold: float) -> Found:
    """Return the same from the cells that occur, where the table of counts would be larger than the data."""
    cells = [a.astype(np.int64) * second[1] + b for a, b in zip(first[0], second[0], strict=True)]
    distinct, place = np.unique(np.concatenate(cells), return_inverse=True)
    real, synthetic = (np.bincount(p, minlength=len(distinct)) for p in np.split(place, [len(cells[0])]))
    rows, columns = np.divmod(distinct, second[1])
    association = measures.cramers_v_of_cells(rows, columns, real) if threshold > 0 else _NAN
    return _judged(real, synthetic, association, threshold)


# --- correlation ------------------------------------------------------------------------------------------------------


def _correlated(prepared: _Prepared, known: tuple[float, float] | None, pair: Pair, threshold: float) -> Found:
    """Return score, real and synthetic correlation, nan and whether the real one exceeds the threshold."""
    sides = [prepared.columns(name) for name in pair]
    if known is not None:
        ours, theirs = known
        passed = not abs(ours) <= max(threshold, 0)
        score = measures.correlation_similarity(ours, theirs) if passed else _NAN
        theirs = theirs if passed else _NAN
    else:
        frames = [
            Frame({name: c.named(name) for name, c in zip(pair, columns, strict=True)}, len(columns[0]))
            for columns in zip(*sides, strict=True)
        ]
        found = correlation_similarity(frames[0], frames[1], real_correlation_threshold=max(threshold, 0))
        score, ours, theirs = found["score"], found["real"], found["synthetic"]
    return score, ours, theirs, _NAN, threshold <= 0 or abs(ours) > threshold
