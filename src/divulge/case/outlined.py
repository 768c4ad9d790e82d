"""Columns of many numbers in tables that engines hold: their outlines, and the edges of their bins."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from divulge.core.schema import Column, Facts
from divulge.kernels.counts.binning import Binning, binning_by_edges
from divulge.tables.counting import Edges
from divulge.tables.frames import Table
from divulge.tables.outlines import Outline, outline

__all__ = ["Outlines", "facts_of_outline"]

_NUMBERS = ("numeric", "datetime")


class Outlines:
    """The outlines of columns, each made once.

    Parameters
    ----------
    tables
        real, synthetic, and holdout where there is one.
    missing
        Texts that stand for missing.
    without
        Columns that have none, because the codes of their rows are here.
    """

    def __init__(self, tables: Sequence[Table], missing: Sequence[str], without: Iterable[str] = ()) -> None:
        self._tables, self._missing = tuple(tables), tuple(missing)
        self._made: dict[str, Outline | None] = dict.fromkeys(without)

    def without(self, columns: Iterable[str]) -> Outlines:
        """Return the same outlines without those of some columns."""
        out = Outlines(self._tables, self._missing)
        out._made = self._made | dict.fromkeys(columns)
        return out

    def of(self, column: str) -> Outline | None:
        """Return the outline of a column that all tables have; None for one whose values are looked up."""
        if column not in self._made:
            self._made[column] = outline(self._tables, column, self._missing)
        return self._made[column]

    def binning(self, column: Column, people: Sequence[int]) -> Binning | None:
        """Return the bins of a column, fitted on the tables of people; None where a look-up of its values has them."""
        found = self.of(column.name)
        if found is None or column.kind not in _NUMBERS or found.most_distinct <= column.bins.n:
            return None
        if column.bins.how == "none" or (column.bins.how == "width" and not found.is_exact):
            return None
        n = sum(int(found.column.counts[i][1:].sum()) for i in people)
        return binning_by_edges(column.bins, n, *found.ends(people), lambda ranks: found.at(ranks, people))

    def edges(self, column: str, binning: Binning, which: int) -> Edges | None:
        """Return the edges by which an engine codes a column of a table; None where a look-up of its values does."""
        found = None if len(binning.map) else self.of(column)
        return None if found is None else found.edges(binning.edges, which)


def facts_of_outline(outline: Outline, which: int) -> Facts:
    """Return the facts of one column in one table from its outline."""
    column, counts, n = outline.column, outline.column.counts[which], outline.n_distinct(which)
    return Facts(
        name=column.name, family=column.family, integer=column.integer, n_rows=int(counts.sum()),
        n_missing=int(counts[0]), n_distinct=n, number_share=float(n > 0), n_not_numbers=0, mean_length=0.0,
        has_spaces=False, span=outline.spans[which],
    )  # fmt: skip
