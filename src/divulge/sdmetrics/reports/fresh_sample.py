"""What the quality report scores for a fresh sample of the same people, from the real table alone.

Two random parts of the real table are two samples of its people. Their score is that of a perfect generator at the size
of the parts; how it falls from half as many rows tells what it is at the sizes of both tables.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from divulge.measures.result import FreshSample
from divulge.sdmetrics.reports.details import MEETS, Row
from divulge.sdmetrics.reports.pairs import Thresholds
from divulge.sdmetrics.reports.properties import Inputs
from divulge.sdmetrics.reports.tables import TableData

__all__ = ["SPLITS", "fresh_scores", "matched_size"]

Floats = NDArray[np.float64]

SPLITS = 24
_MOST = 10_000  # rows of a part: the rest of the way falls with the root of the rows
_DRAWN_FROM = 200_000  # rows that are taken of an engine's table, of which parts are drawn
_FEWEST = 20  # rows of a part of the smaller parts
_STEEPEST, _FLATTEST = 0.5, 0.2
"""A distance falls with the root of the rows, and less where cells hold a row or none."""


def matched_size(n: int, m: int) -> float:
    """Return the size of two equal tables whose distance by chance is that of tables of n and m rows.

    Examples
    --------
    >>> matched_size(100, 100), matched_size(100, 300)
    (100.0, 150.0)
    """
    return 2 / (1 / n + 1 / m)


def fresh_scores(
    inputs: Inputs, properties: dict[str, Callable[[Inputs], list[Row]]], shown: dict[str, list[Row]], seed: int = 0
) -> dict[str, FreshSample]:
    """Return what a fresh sample of the same sizes scores in each property and over all ("").

    Parameters
    ----------
    inputs
        Of one table.
    properties
        What computes the rows of each property.
    shown
        The rows of the released report: those with a score count for the fresh sample, too, whether or not a part of
        the real table passes the thresholds.
    seed
        Of the splits.

    Returns
    -------
    dict of FreshSample
        95% of fresh samples score from `low` to `high`. Empty for several tables and where a table has too few rows.
    """
    (table, *others) = inputs.tables.values()
    n, m = (table.n_rows(side) for side in (0, 1))
    size = min(_MOST, n // 2)
    if others or min(n, m) == 0 or size // 2 < _FEWEST:
        return {}
    known = table.some_real_rows(_DRAWN_FROM, seed)
    if known is None:
        return {}
    wanted = matched_size(n, m)
    size = min(size, max(2 * _FEWEST, math.ceil(wanted)))
    all_pairs = replace(inputs, thresholds=Thresholds(0.0, 0.0))
    rng = np.random.default_rng([seed, zlib.crc32(b"fresh sample")])
    scored = {name: [_scores(rows)] for name, rows in shown.items() if name in properties}
    found: dict[int, dict[str, list[float]]] = {size: {}, size // 2: {}}
    for k, of_size in found.items():
        for _ in range(SPLITS * (1 if k == size else 2)):
            drawn = rng.permutation(known.n_rows(0))[: 2 * k]
            part = replace(all_pairs, tables={next(iter(inputs.tables)): _split(known, drawn[:k], drawn[k:])})
            means = {name: _mean(_scores(properties[name](part)), kept[0]) for name, kept in scored.items()}
            for name, score in {**means, "": _mean_of(list(means.values()))}.items():
                of_size.setdefault(name, []).append(score)
    return {
        name: beyond
        for name in found[size]
        if (beyond := _at_size(np.array(found[size][name]), np.array(found[size // 2][name]), size, wanted)) is not None
    }


def _at_size(scores: Floats, of_half: Floats, size: int, wanted: float) -> FreshSample | None:
    """Return the mean and 95% limits at a size, from scores at another and at half of that."""
    lost = [float(1 - s.mean()) for s in (scores, of_half)]
    if not all(map(math.isfinite, lost)):
        return None
    steep = math.log2(lost[1] / lost[0]) if min(lost) > 0 else _STEEPEST
    steep = min(max(steep, _FLATTEST), _STEEPEST)
    if wanted > size:  # it is steeper with more rows
        steep += (_STEEPEST - steep) / 3
    shrinks = (size / wanted) ** steep
    half = float(stdtrit(len(scores) - 1, 0.975)) * float(scores.std(ddof=1)) * math.sqrt(1 + 1 / len(scores))
    half *= math.sqrt(size / wanted)
    mean = 1 - lost[0] * shrinks
    return FreshSample(mean=mean, low=max(0.0, mean - half), high=min(1.0, mean + half))


def _split(table: TableData, first: NDArray[np.intp], second: NDArray[np.intp]) -> TableData:
    real, other = ({n: c.take(rows) for n, c in table.sides[0].items()} for rows in (first, second))
    return TableData(table.metadata, real, other)


def _scores(rows: Sequence[Row]) -> Floats:
    return np.array([r["Score"] if r.get(MEETS, True) else math.nan for r in rows], dtype=np.float64)


def _mean(scores: Floats, kept: Floats) -> float:
    return _mean_of(scores[np.isfinite(kept)].tolist())


def _mean_of(scores: Sequence[float]) -> float:
    known = [s for s in scores if math.isfinite(s)]
    return math.fsum(known) / len(known) if known else math.nan
