"""Values of people in a synthetic column that the real table lacks, as where a column was renamed or split."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from divulge.attacks.checks import GRID, judge, rate_of, survival
from divulge.attacks.distance.one_column import is_row_number, recurs, stands_alone
from divulge.case.case import Case
from divulge.case.column_facts import facts_of
from divulge.core.result import Individual, Result
from divulge.stats import Outcomes, compare
from divulge.tables.frames import Table, table_of
from divulge.tables.pooled_columns import PooledColumn, pool
from divulge.tables.texts import folded

__all__ = ["ANOTHER_COLUMN", "ANOTHER_COLUMN_NOTES", "another_column"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ANOTHER_COLUMN = "another column"
_MOST = 10  # columns of a table that are looked at, and of these pairs of texts: a limit on the time
_VALUES = "a person's value stands in a synthetic column that the real table lacks; texts by their words, in any order"
_NOT_HERE = "values were not looked for in synthetic columns that the real table lacks: they need every row in memory"
_FEWER = f"values were looked for in the first {_MOST} of the synthetic columns that the real table lacks"
ANOTHER_COLUMN_NOTES = (_VALUES, _NOT_HERE, _FEWER)
"""Notes for the entry."""


@dataclass(frozen=True, slots=True)
class _Values:
    """The values of a column, or of two columns joined, in each table that has them."""

    columns: tuple[str, ...]
    series: Sequence[pl.Series]


def another_column(case: Case) -> tuple[list[Result], str]:
    """Return how many members and strangers have a value that stands in a synthetic column without a partner.

    Every column of real and holdout in which nearly all people have a value of their own is looked for, and pairs of
    texts that the synthetic table lacks, joined, as a name is split over two columns. The second value says what was
    not looked for.
    """
    left = case.without_members
    if not left or not case.has_holdout:
        return [], ""
    if any(t.frame is None for t in case.tables):
        return [], _NOT_HERE
    real, synthetic, holdout = case.tables
    theirs = list(_values([synthetic], left[:_MOST], left[:_MOST]))
    shared = [c for c in real.columns if c in holdout.columns]
    ours = _values([real, holdout], shared, [c for c in shared if c not in synthetic.columns][:_MOST])
    found = (_compared(case, own, theirs) for own in ours)
    return [r for r in found if r is not None], _FEWER if len(left) > _MOST else ""


def _values(tables: Sequence[Table], columns: Sequence[str], joined: Sequence[str]) -> Iterator[_Values]:
    """Yield the values of columns, and of pairs of columns of text joined by a blank."""
    for column in columns:
        yield _Values((column,), [t.series(column) for t in tables])
    texts = [c for c in joined if all(t.series(c).dtype in (pl.String, pl.Categorical, pl.Enum) for t in tables)]
    for pair in combinations(texts, 2):
        parts = ([t.series(c).cast(pl.String).fill_null("") for c in pair] for t in tables)
        yield _Values(pair, [one + " " + other for one, other in parts])


def _compared(case: Case, own: _Values, theirs: Sequence[_Values]) -> Result | None:
    """Return the rates of people whose value stands in a synthetic column; None where nobody's does, or all share it.

    Values of a column of few values stand in any table.
    """
    best: list[Floats] | None = None
    for other in theirs:
        pooled = _pooled(case, own, other)
        if not stands_alone(pooled) or is_row_number(facts_of(pooled, 0)):
            return None
        scores = recurs(_by_words(pooled), pooled.counts[1])
        rows = [scores[c] for c in (pooled.codes[0], pooled.codes[2]) if c is not None]
        best = rows if best is None else [np.fmax(a, b) for a, b in zip(best, rows, strict=True)]
    if best is None or not any(np.nansum(scores) for scores in best):
        return None
    members, strangers = (
        Outcomes(scores) if (units := case.units(role)) is None else Outcomes(scores, cluster=units)
        for role, scores in zip(("real", "holdout"), best, strict=True)
    )
    plain = Result(
        attack="copies",
        variant=ANOTHER_COLUMN,
        keys=own.columns,
        real=rate_of(members),
        holdout=rate_of(strangers),
        curves={"at_least": GRID.round(2).tolist(), "members": survival(members), "strangers": survival(strangers)},
        notes=(_VALUES,),
        individual=Individual(real=best[0], holdout=best[1]),
    )
    rng = case.rng(f"copies {ANOTHER_COLUMN} {'+'.join(own.columns)}")
    return judge(plain, compare(members, strangers, level=case.level, rng=rng, draws=case.draws), case.level)


def _pooled(case: Case, own: _Values, other: _Values) -> PooledColumn:
    """Return the values of people and of a synthetic column as one column, read in one way."""
    columns = {"real": own.series[0], "synthetic": other.series[0], "holdout": own.series[1]}
    tables = [table_of(pl.DataFrame({"x": s.alias("x")}), role) for role, s in columns.items()]
    return pool(tables, "x", case.missing)


def _by_words(pooled: PooledColumn) -> Ints:
    """Return a number for each code, equal for texts of the same words in any order; 0 is missing."""
    if pooled.family != "text" or not pooled.levels.len():
        return np.arange(pooled.levels.len() + 1)
    sorted_ = folded(pooled.levels).str.extract_all(r"\w+").list.sort().list.join(" ")
    return np.concatenate([[0], sorted_.rank("dense").cast(int).to_numpy()]).astype(np.int64)
