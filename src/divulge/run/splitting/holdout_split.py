"""Split a table at random into people to train on and a holdout; whole households are drawn and no cell changes.

The draw depends on the content of the table and the seed. Rows are sorted by their values first, so the order of rows
and of columns does not enter.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from divulge.case.column_facts import facts_of
from divulge.core.errors import ColumnError, SettingError, TableError
from divulge.core.schema import check_columns, infer
from divulge.kernels.counts.binning import fit_binning
from divulge.tables.frames import Table, table_of
from divulge.tables.pooled_columns import pool

__all__ = ["Division", "Stratum", "split_rows"]

Ints = NDArray[np.int64]

_SLACK = 1e-9  # for rounding: 0.1 * 30 is 3.0000000000000004
_PEOPLE = ("identifier", "text")


@dataclass(frozen=True, slots=True)
class Stratum:
    """How one stratum was split. Strata are numbered and not named, because their values are data."""

    units: tuple[int, int]
    """In real, in holdout."""
    rows: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Division:
    """Which rows go to which side, and the numbers to report about the split."""

    real: Ints
    """Row numbers, ascending."""
    holdout: Ints
    units: tuple[int, int]
    """Number of people or households in real and in holdout; number of rows where no unit was named."""
    strata: tuple[Stratum, ...]
    """One stratum where there are no columns to stratify by."""
    repeated: int
    """Number of rows that equal an earlier row in all columns."""
    notes: tuple[str, ...]


def split_rows(
    table: Table,
    *,
    holdout: float,
    unit: str | None = None,
    stratify: Sequence[str] = (),
    seed: int = 0,
    together: bool = False,
    missing: Sequence[str] = (),
    typed: Callable[[pl.Series], pl.Series] = lambda column: column,
) -> Division:
    """Return which rows of a table in memory go where; see `divulge.split`.

    `typed` reads a column of text as numbers where it holds some; rows are compared as they are.
    """
    stratify = (stratify,) if isinstance(stratify, str) else tuple(stratify)
    _check(table, holdout, unit, stratify, seed)
    notes: list[str] = []
    unit_code = None if unit is None else _unit_codes(_pooled(table, unit, missing, typed), unit, notes)
    order, first = _ordered(table, unit_code)
    repeated = int((~first).sum())
    new = first if together else np.ones(table.n_rows, dtype=np.bool_)
    if unit_code is not None:
        known = unit_code[order]
        new = np.where(known > 0, np.diff(known, prepend=-1) != 0, new)
    of_row = np.empty(table.n_rows, dtype=np.int64)
    of_row[order] = np.cumsum(new) - 1
    n_units = int(new.sum())
    if unit_code is not None and n_units == table.n_rows:
        notes.append(f"unit: {unit!r} is another in every row, so that rows were drawn")
    _check_share(holdout, n_units, unit, together and repeated > 0)
    stratum_of = _stratum_of(table, of_row, n_units, stratify, missing, typed, notes)
    away = _drawn(stratum_of, holdout, np.random.SeedSequence(seed, spawn_key=(zlib.crc32(b"split"),)))
    if repeated:
        notes.append(_on_repeats(repeated, table.n_rows, unit, together))
    side = away[of_row]
    return Division(
        real=np.flatnonzero(~side),
        holdout=np.flatnonzero(side),
        units=(int((~away).sum()), int(away.sum())),
        strata=_told(stratum_of, away, of_row),
        repeated=repeated,
        notes=tuple(notes),
    )


def _check(table: Table, holdout: float, unit: str | None, stratify: Sequence[str], seed: int) -> None:
    if isinstance(holdout, bool) or not isinstance(holdout, (int, float, np.number)) or not 0 < holdout < 1:
        raise SettingError("holdout: not a share in (0, 1). hint: 0.5 sets half of the people aside.")
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise SettingError("seed: not a whole number from 0 on. hint: 0 is the default.")
    check_columns("unit", [] if unit is None else [unit], table.columns)
    check_columns("stratify", stratify, table.columns)
    if unit in stratify:
        raise ColumnError(f"stratify: {unit!r} is the unit. hint: a unit has one stratum; name other columns.")
    if table.n_rows < 2:
        raise TableError("the table has one row, and a split needs two. hint: pass the table of all people.")


def _check_share(holdout: float, n_units: int, unit: str | None, joined: bool) -> None:
    """Raise a `SettingError` for a share that leaves one side empty; `joined` says that equal rows stay together."""
    if min(holdout, 1 - holdout) * n_units >= 1 - _SLACK:
        return
    if unit is not None:
        what, plural, hint = "unit", "units", "a unit of fewer rows"
    elif joined:
        what, plural, hint = "group of equal rows", "groups of equal rows", "let equal rows part (no --together)"
    else:
        what, plural, hint = "row", "rows", "a longer table"
    if n_units > 1:
        hint = f"a share nearer to 0.5, or {hint}"
    counted = f"the one {what}" if n_units == 1 else f"{n_units:,} {plural}"
    raise SettingError(f"holdout: {holdout:g} of {counted} leaves one side without any. hint: {hint}.")


def _pooled(table: Table, column: str, missing: Sequence[str], typed: Callable[[pl.Series], pl.Series]) -> Any:
    alone = table_of(pl.DataFrame({"c0": typed(table.series(column))}), "table")
    return replace(pool([alone], "c0", missing), name=column)


def _unit_codes(pooled: Any, unit: str, notes: list[str]) -> Ints:
    """Return the unit of each row as a number, missing last as 0 in the order of rows."""
    codes: Ints = pooled.codes[0].astype(np.int64)
    n_missing = int((codes == 0).sum())
    if n_missing == len(codes):
        raise ColumnError(f"unit: {unit!r} is missing in all rows. hint: name the column of the person or household.")
    if pooled.levels.len() == 1 and not n_missing:
        raise ColumnError(f"unit: {unit!r} is the same in all rows, and a unit is never split. hint: name another.")
    if n_missing:
        rows = "1 row, which is" if n_missing == 1 else f"{n_missing:,} rows; each of them is"
        notes.append(f"unit: {unit!r} is missing in {rows} a unit of its own")
    return codes


def _ordered(table: Table, unit_code: Ints | None) -> tuple[Ints, NDArray[np.bool_]]:
    """Return the row numbers sorted by unit (missing last) and values, and which rows are the first of their values.

    Values are compared column by column, in the order of the columns' names.
    """
    assert table.frame is not None
    named = [table.names[c] for c in sorted(table.columns)]
    code = np.zeros(table.n_rows, dtype=np.int64) if unit_code is None else unit_code
    last = np.where(code == 0, code.max() + 1, code)
    frame = table.frame.with_columns(pl.Series("unit", last), pl.Series("row", np.arange(table.n_rows)))
    try:
        frame = frame.sort(["unit", *named], maintain_order=True)
        first = frame.select(pl.struct(named).is_first_distinct()).to_series()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, TypeError) as error:
        raise ColumnError(
            f"the rows cannot be put in order: a column has values that do not compare ({type(error).__name__}). "
            "hint: cast columns of lists or objects to text."
        ) from None
    return frame["row"].to_numpy().astype(np.int64), first.to_numpy()


def _stratum_of(
    table: Table,
    of_row: Ints,
    n_units: int,
    stratify: Sequence[str],
    missing: Sequence[str],
    typed: Callable[[pl.Series], pl.Series],
    notes: list[str],
) -> Ints:
    """Return the stratum of each unit: the stratum of most of its rows, in ties the first one."""
    if not stratify:
        return np.zeros(n_units, dtype=np.int64)
    codes = [_coded(_pooled(table, c, missing, typed), notes) for c in sorted(set(stratify))]
    of_values = np.unique(np.stack(codes, axis=1), axis=0, return_inverse=True)[1].reshape(-1)
    width = int(of_values.max()) + 1
    pair, n_rows = np.unique(of_row * width + of_values, return_counts=True)
    unit, stratum = pair // width, pair % width
    best = np.lexsort((stratum, -n_rows, unit))
    first = best[np.diff(unit[best], prepend=-1) != 0]
    n_mixed = len(pair) - len(np.unique(unit)) and int((np.bincount(unit) > 1).sum())
    if n_mixed:
        units = f"{n_mixed:,} unit{'s' * (n_mixed != 1)}"
        notes.append(f"stratify: the rows of {units} differ; each counts in the stratum of most of them")
    found = np.unique(stratum[first], return_inverse=True)[1]
    n_alone = int((np.bincount(found) == 1).sum())
    if n_alone:
        notes.append(f"stratify: {n_alone:,} of {int(found.max()) + 1:,} strata have one unit; it goes either way")
    return found.astype(np.int64)


def _coded(pooled: Any, notes: list[str]) -> Ints:
    """Return the code of each row for counting: numbers and dates in quantile bins, as everywhere in divulge."""
    column = infer(facts_of(pooled, 0))
    if column.kind in _PEOPLE:
        raise ColumnError(
            f"stratify: {column.name!r} holds {pooled.levels.len():,} values and was taken for {column.kind}. hint: "
            "name columns of few values, or of numbers, which are cut into bins."
        )
    if column.kind == "constant":
        notes.append(f"stratify: {column.name!r} is the same in all rows and tells no strata apart")
    coding = fit_binning(column, pooled.numbers(), pooled.counts[0][1:])
    codes: Ints = coding.map[pooled.codes[0]].astype(np.int64)
    return codes


def _drawn(stratum_of: Ints, share: float, seed: np.random.SeedSequence) -> NDArray[np.bool_]:
    """Return which units are drawn: in each stratum the share of its units, rounded down or up at random.

    Systematic sampling over the strata in random order decides which shares are rounded up, so that every unit has the
    same probability. With the largest remainder method, strata of one unit would be drawn always or never.
    """
    rng = np.random.default_rng(seed)
    size = np.bincount(stratum_of)
    wanted = share * size
    whole = np.floor(wanted + _SLACK)
    rest = np.maximum(0.0, wanted - whole)
    order = rng.permutation(len(size))
    reached = np.floor(np.cumsum(rest[order]) + rng.random() + _SLACK)
    whole[order] += np.diff(reached, prepend=0.0)
    by_chance = np.lexsort((rng.permutation(len(stratum_of)), stratum_of))
    place = np.empty(len(stratum_of), dtype=np.int64)
    place[by_chance] = np.arange(len(stratum_of)) - np.repeat(np.cumsum(size) - size, size)
    return place < whole[stratum_of]  # type: ignore[no-any-return] # an array of booleans


def _told(stratum_of: Ints, away: NDArray[np.bool_], of_row: Ints) -> tuple[Stratum, ...]:
    n = int(stratum_of.max()) + 1
    units = [np.bincount(stratum_of[side], minlength=n).tolist() for side in (~away, away)]
    rows = [np.bincount(stratum_of[of_row[side[of_row]]], minlength=n).tolist() for side in (~away, away)]
    return tuple(Stratum((units[0][s], units[1][s]), (rows[0][s], rows[1][s])) for s in range(n))


def _on_repeats(repeated: int, n_rows: int, unit: str | None, together: bool) -> str:
    said = f"{repeated:,} of {n_rows:,} rows repeat another one in all columns ({100 * repeated / n_rows:.1f}%)"
    if together:
        return f"{said}; equal rows stay on one side"
    if unit is not None:
        return f"{said}; those of one unit stay on one side"
    return (
        f"{said}, and were drawn as different people; if they are the same people, name their column with unit, or "
        "keep equal rows together (--together)"
    )
