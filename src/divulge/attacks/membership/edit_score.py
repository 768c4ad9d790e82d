"""Membership score from edit distances: are the digits and letters of a person's values in the synthetic table?

Language models write rows letter by letter, and keep digits where they change a number (LevAtt, arXiv 2512.08875). A
distance of numbers does not see a value of which every digit but the first is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from divulge.attacks.other_people import DIGITS, pooled_units
from divulge.case.invariant_order import canonical_of
from divulge.kernels.edits import FARTHEST, LONGEST, smallest_edits, texts_of
from divulge.tables.canonical_values import float_text
from divulge.tables.pooled_columns import PooledColumn

if TYPE_CHECKING:
    from divulge.case.case import Case

__all__ = ["EDIT_NOTES", "NAME", "edit_columns", "edit_notes", "edit_score"]

Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NAME = "edit distance"
_WORK = 8e9
"""Nanoseconds that the distances of all people may take, about; of more people a sample is asked."""
_FEWEST = 500  # people who are asked at least
_LOOKED_UP, _COMPARED = 0.3, 4.0  # nanoseconds for a value that is looked up, and for one that is compared
_MANY = 4_096  # different values of a column that are compared, not looked up
_PART, _CELLS = 200_000, 8_000_000  # rows that are searched at a time, and their values

_LONG = "the edit distance leaves out columns with values of more than {} letters: {}"
_ASKED = "edit distance: a random sample of {:,} of {:,} records was asked, since all would take too long"
EDIT_NOTES = (_LONG.format("#", "'…'"), _ASKED.replace("{:,}", "#"))
"""Notes for the entry; "#" stands for a number and "'…'" for quoted names."""


def edit_score(case: Case, columns: Sequence[str]) -> Floats:
    """Return log(d_1(x, W) + 1/2) - log(d_1(x, S) + 1/2) of all people (real rows, then holdout rows).

    d_1 is the smallest sum, over columns, of the edit distances of the values' texts to a row of the other people, or
    of the synthetic table. Whole numbers have no point, other numbers the fewest digits that read back, missing values
    none. Without any other person the distance is that of all letters. Nan for people who were not asked.
    """
    names = edit_columns(case, columns)
    n = sum(_n_rows(case, i) for i in case.encoded.people)
    out = np.full(n, np.nan)
    if not n:
        return out
    asked = _asked(case, columns, n)
    units = pooled_units(case, ("real", "holdout"))
    unit = np.arange(n) if units is None else units["people"]
    to_people = _nearest(case, names, asked, case.encoded.people, (unit[asked], unit))
    to_synthetic = _nearest(case, names, asked, (1,), None)
    out[asked] = (np.log(to_people + 0.5) - np.log(to_synthetic + 0.5)).round(DIGITS)
    return out


def edit_columns(case: Case, columns: Sequence[str]) -> list[str]:
    """Return the columns that are compared, those without long values."""
    return sorted(set(columns).difference(_long_columns(case, columns)))


def edit_notes(case: Case, columns: Sequence[str]) -> list[str]:
    """Return which columns the edit distance leaves out, and how many people were asked where not all were."""
    long = _long_columns(case, columns)
    n = sum(_n_rows(case, i) for i in case.encoded.people)
    notes = [_LONG.format(LONGEST, ", ".join(map(repr, long)))] if long else []
    n_asked = len(_asked(case, columns, n)) if n else 0
    return notes + ([_ASKED.format(n_asked, n)] if n_asked < n else [])


def _n_rows(case: Case, which: int) -> int:
    return case.n_rows(("real", "synthetic", "holdout")[which])


def _long_columns(case: Case, columns: Sequence[str]) -> list[str]:
    """Return the columns in which a value has more letters than are compared."""
    found = (case.pooled(c) for c in sorted(columns))
    texts = (p for p in found if p.family == "text" and p.levels.len())
    return [p.name for p in texts if p.levels.str.len_chars().max() > LONGEST]


def _asked(case: Case, columns: Sequence[str], n: int) -> Ints:
    """Return the people who are asked, ascending: all, or a random sample; units come with all their rows."""
    return case.encoded.once(("people asked for edits", tuple(sorted(columns))), lambda: _drawn(case, columns, n))


def _drawn(case: Case, columns: Sequence[str], n: int) -> Ints:
    many = sum(case.n_codes(c, binned=False) > _MANY for c in columns)
    each = (n + _n_rows(case, 1)) * (_LOOKED_UP * (len(columns) - many) + _COMPARED * many)
    wanted = max(_FEWEST, int(_WORK / max(1.0, each)))
    if n <= wanted:
        return np.arange(n)
    order = np.concatenate(canonical_of(case, columns, case.encoded.people, blind=True).rows).argsort(kind="stable")
    drawn = order[case.rng("membership people asked for edits").permutation(n)]
    units = pooled_units(case, ("real", "holdout"))
    unit = np.arange(n) if units is None else np.unique(units["people"], return_inverse=True)[1].ravel()
    first = np.full(int(unit.max()) + 1, n)
    np.minimum.at(first, unit[drawn], np.arange(n))
    place = np.sort(first[unit])  # units in the order in which their first rows are drawn, with all their rows
    return np.flatnonzero(first[unit] < max(place[wanted], place[0] + 1))


# ---------------------------------------------------------------- distances


def _nearest(
    case: Case, names: Sequence[str], asked: Ints, tables: Sequence[int], units: tuple[Ints, Ints] | None
) -> Floats:
    """Return the distance of the people asked to the nearest row of some tables; units are of these and of all rows."""
    pooled = [case.pooled(name) for name in names]
    codes = [[p.codes[i] for i in tables] for p in pooled]
    queries = [np.concatenate([_given(p.codes[i]) for i in case.encoded.people])[asked] for p in pooled]
    found = np.full(len(asked), FARTHEST, dtype=np.int32)
    step = max(1_000, min(_PART, _CELLS // max(1, len(names))))
    first, longest = 0, 0
    for place, which in enumerate(tables):
        n = _n_rows(case, which)
        for a in range(0, n, step):
            b = min(a + step, n)
            rows = [np.asarray(_given(own[place])[a:b]) for own in codes]
            used = [np.unique(np.concatenate(both)) for both in zip(queries, rows, strict=True)]
            texts = texts_of([_written(p, levels) for p, levels in zip(pooled, used, strict=True)])
            mine, theirs = (
                np.stack([np.searchsorted(u, own).astype(np.int32) for u, own in zip(used, side, strict=True)])
                for side in (queries, rows)
            )
            unit = None if units is None else (units[0], units[1][first + a : first + b])
            np.minimum(found, smallest_edits(texts, mine, theirs, unit), out=found)
            longest = max(longest, len(names) * int(np.diff(texts.start).max(initial=0)))
        first += n
    return np.where(found == FARTHEST, longest, found).astype(np.float64)


def _given(codes: Codes | None) -> Codes:
    assert codes is not None
    return codes


def _written(pooled: PooledColumn, codes: Codes) -> list[str]:
    """Return the texts of some levels of a column; of code 0, which is missing, the empty one."""
    levels = pooled.levels.gather(codes[codes > 0] - 1)
    if pooled.family == "number" and levels.dtype.is_float():
        texts = [float_text(value) for value in levels.to_list()]
    elif pooled.family == "datetime":
        texts = levels.cast(pl.String).str.strip_suffix(".000000").str.strip_suffix(" 00:00:00").to_list()
    else:
        texts = levels.cast(pl.String).to_list()
    return ["", *texts] if len(texts) < len(codes) else texts
