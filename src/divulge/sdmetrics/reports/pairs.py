"""Column pair trends: the score of every pair of columns, all tables of counts from one pass over the rows."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from divulge.kernels.counts.histograms import pair_histograms
from divulge.measures import column_pairs as measures
from divulge.sdmetrics.column_pairs.comparisons import correlation_similarity
from divulge.sdmetrics.columns import Frame
from divulge.sdmetrics.reports.correlations import correlations
from divulge.sdmetrics.reports.counted_pairs import counted_pairs
from divulge.sdmetrics.reports.counted_table import CountedTable
from divulge.sdmetrics.reports.details import MEETS, Row, described
from divulge.sdmetrics.reports.judged_pairs import DENSE, NAN, Found, Pair, judged_cells, judged_tables
from divulge.sdmetrics.reports.prepared import Failed, Prepared, is_continuous, sdtype
from divulge.sdmetrics.reports.tables import CONTINUOUS, DISCRETE, Coded, TableData

__all__ = ["Thresholds", "pair_rows"]

_CELLS_AT_ONCE = 2**20


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
    chosen = [p for p in pairs if all(sdtype(table, name) in (*CONTINUOUS, *DISCRETE) for name in p)]
    prepared = Prepared(table)
    counted: list[Pair] = []
    numbers: dict[Hashable, None] = {}
    for pair in chosen:
        if all(is_continuous(table, name) for name in pair):
            numbers |= dict.fromkeys(pair)
        else:
            counted.append(pair)
    if isinstance(table, CountedTable):
        contingencies, known = counted_pairs(table, prepared, counted, list(numbers), thresholds.association)
    else:
        contingencies = _contingencies(prepared, counted, thresholds.association)
        known = correlations(prepared.all_columns(numbers))
    rows = []
    for pair in chosen:
        metric = "ContingencySimilarity" if pair in contingencies else "CorrelationSimilarity"
        try:
            found = contingencies.get(pair) or _correlated(prepared, known.get(pair), pair, thresholds.correlation)
            if isinstance(found, Exception):
                raise found
            problem = None
        except Exception as error:
            found, problem = (NAN, NAN, NAN, NAN, None), _text(error)
        names = ("Score", "Real Correlation", "Synthetic Correlation", "Real Association", MEETS)
        row = {"Column 1": pair[0], "Column 2": pair[1], "Metric": metric}
        rows.append({**row, **dict(zip(names, found, strict=True)), "Error": problem})
    return rows


def _text(error: Exception) -> str:
    return str(error) if isinstance(error, Failed) else described(error)


# --- contingency ------------------------------------------------------------------------------------------------------


def _contingencies(prepared: Prepared, pairs: Sequence[Pair], threshold: float) -> dict[Pair, Found | Exception]:
    """Return score, nan, nan, association and whether it exceeds the threshold, for each pair; or its error."""
    found: dict[Pair, Found | Exception] = {}
    dense: list[Pair] = []
    sparse: list[Pair] = []
    for pair in pairs:
        try:
            first, second = (prepared.coded(name) for name in pair)
        except Failed as error:
            found[pair] = error
            continue
        n_rows = len(first[0][0]) + len(first[0][1])
        (dense if first[1] * second[1] <= max(DENSE, n_rows) else sparse).append(pair)
    for batch in _batches(prepared, dense):
        found.update(zip(batch, _dense(prepared, batch, threshold), strict=True))
    for pair in sparse:
        found[pair] = _sparse(prepared.coded(pair[0]), prepared.coded(pair[1]), threshold)
    return found


def _dense(prepared: Prepared, pairs: Sequence[Pair], threshold: float) -> list[Found]:
    """Return what is found of pairs from tables of all their cells; synthetic ones only where the real ones count."""
    names = list(dict.fromkeys(name for pair in pairs for name in pair))
    place = {name: i for i, name in enumerate(names)}
    coded = [prepared.coded(name) for name in names]
    sizes, units = [size for _, size in coded], [(place[a], place[b]) for a, b in pairs]
    real = pair_histograms([codes[0] for codes, _ in coded], sizes, units)
    return judged_tables(
        real.counts[0], real.start, real.shapes, threshold,
        lambda chosen: pair_histograms([codes[1] for codes, _ in coded], sizes, [units[i] for i in chosen]).counts[0],
    )  # fmt: skip


def _batches(prepared: Prepared, pairs: Sequence[Pair]) -> Iterator[list[Pair]]:
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


def _sparse(first: Coded, second: Coded, threshold: float) -> Found:
    """Return the same from the cells that occur, where the table of counts would be larger than the data."""
    real, synthetic = (
        np.unique(a.astype(np.int64) * second[1] + b, return_counts=True)
        for a, b in zip(first[0], second[0], strict=True)
    )
    return judged_cells(real, second[1], lambda: synthetic, threshold)


# --- correlation ------------------------------------------------------------------------------------------------------


def _correlated(prepared: Prepared, known: tuple[float, float] | None, pair: Pair, threshold: float) -> Found:
    """Return score, real and synthetic correlation, nan and whether the real one exceeds the threshold."""
    sides = [prepared.columns(name) for name in pair]
    if known is not None:
        ours, theirs = known
        passed = not abs(ours) <= max(threshold, 0)
        score = measures.correlation_similarity(ours, theirs) if passed else NAN
        theirs = theirs if passed else NAN
    else:
        frames = [
            Frame({name: c.named(name) for name, c in zip(pair, columns, strict=True)}, len(columns[0]))
            for columns in prepared.table.rows_of(pair, list(zip(*sides, strict=True)))
        ]
        found = correlation_similarity(frames[0], frames[1], real_correlation_threshold=max(threshold, 0))
        score, ours, theirs = found["score"], found["real"], found["synthetic"]
    return score, ours, theirs, NAN, threshold <= 0 or abs(ours) > threshold
