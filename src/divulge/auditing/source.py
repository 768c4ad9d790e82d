"""The table of an audit: read once, put in an order of its own, and written again as training tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from divulge.auditing.checks import content_hash
from divulge.auditing.pool import Pool, Training
from divulge.case.case import build_case
from divulge.case.invariant_order import canonical_of
from divulge.core.atomic_write import replacing
from divulge.core.errors import SettingError, TableError
from divulge.core.schema import check_columns
from divulge.tables.folders import is_linked
from divulge.tables.frames import Table, check_missing, collect, table_of
from divulge.tables.readers import EXCEL
from divulge.tables.verbatim import Verbatim, open_verbatim

__all__ = ["Source", "open_source"]

Ints = NDArray[np.int64]

_FEWEST = 4  # rows: two pairs


@dataclass(frozen=True, slots=True)
class Source:
    """The people of an audit, and what writes their training tables."""

    pool: Pool
    digest: str
    """Hash of the values in the order of the pool."""
    notes: tuple[str, ...]
    _verbatim: Verbatim
    _native: Any

    @property
    def suffix(self) -> str:
        """Kind of file that training tables are: that of the table's own file, CSV for a frame and for Excel."""
        return ".csv" if self._verbatim.suffix in EXCEL else self._verbatim.suffix

    def write(self, training: Training, order: Ints, path: Path) -> None:
        """Write a training table to a file, in an order of its rows."""
        rows, columns = self._given(training, order)
        with replacing(path, mode=0o600) as file:
            self._verbatim.write(file, path.suffix, rows, columns)

    def frame(self, training: Training, order: Ints) -> Any:
        """Return a training table as a frame of the kind that was given; polars for a file."""
        rows, columns = self._given(training, order)
        return _taken(self._native, self.pool.table.columns, rows, columns)

    def _given(self, training: Training, order: Ints) -> tuple[Ints, dict[str, Ints]]:
        """Return a training table as rows of the table as it was given."""
        own = self.pool.rows
        return own[training.rows[order]], {c: own[other[order]] for c, other in training.columns.items()}


def open_source(
    data: Any, *, seed: int, unit: str | None = None, ignore: Sequence[str] = (), missing: Sequence[str] = ()
) -> Source:
    """Return the table of an audit: a path, or a frame of any kind.

    Raises
    ------
    DivulgeError
        The table cannot be read, has no such column, or has fewer than four rows.
    """
    missing = check_missing(missing)
    verbatim, native = _opened(data, missing)
    typed = verbatim.table
    if verbatim.header is not None:
        assert typed.frame is not None
        typed = replace(typed, frame=pl.DataFrame([verbatim.typed(c) for c in typed.frame.get_columns()]))
        typed = replace(typed, missing=missing)
    typed = replace(typed, role="real")
    check_columns("unit", [] if unit is None else [unit], typed.columns)
    check_columns("ignore", ignore, typed.columns)
    if typed.n_rows < _FEWEST:
        raise TableError(f"the table has {typed.n_rows} rows, and an audit needs {_FEWEST}. hint: pass all people.")
    rows = _canonical(typed, missing)
    assert typed.frame is not None
    table = replace(typed, frame=typed.frame[rows])
    pool = Pool(table, rows, seed, unit, tuple(ignore), missing)
    native = typed.named() if native is None else native
    return Source(pool, content_hash(table), verbatim.notes, verbatim, native)


def _opened(data: Any, missing: tuple[str, ...]) -> tuple[Verbatim, Any]:
    """Return the table to write from, and the frame that was given; None for a file."""
    if isinstance(data, Mapping) or is_linked(data, described=False):
        raise SettingError(
            "data: these are several tables, and an audit deals the rows of one. hint: audit the table of the people, "
            "or one of theirs by --unit; `divulge assess` attacks linked tables, beside a holdout."
        )
    if isinstance(data, str | PathLike):
        return open_verbatim(Path(data) if str(data) != "-" else str(data), missing), None
    table = collect(table_of(data, "real"))
    home = type(data).__module__.split(".")[0]
    kept = home in ("pandas", "pyarrow") or isinstance(data, pl.DataFrame)
    return Verbatim(table, ".csv", notes=table.notes), data if kept else table.named()


def _canonical(table: Table, missing: Sequence[str]) -> Ints:
    """Return the row numbers in an order that depends neither on the order of the rows nor on names."""
    case = build_case(table, replace(table, role="synthetic"), missing=missing)
    return np.asarray(canonical_of(case, case.columns, (0,)).order(0), dtype=np.int64)


def _taken(native: Any, names: Sequence[str], rows: Ints, columns: Mapping[str, Ints]) -> Any:
    """Return rows of a frame, with some columns of other rows, as a frame of the same kind."""
    place = {name: i for i, name in enumerate(names)}
    home = type(native).__module__.split(".")[0]
    if home == "pandas":
        out = native.iloc[rows].reset_index(drop=True)
        for name, other in columns.items():
            out.isetitem(place[name], native.iloc[:, place[name]].iloc[other].reset_index(drop=True))
        return out
    if home == "pyarrow":
        out = native.take(rows)
        for name, other in columns.items():
            i = place[name]
            out = out.set_column(i, out.schema.field(i), native.column(i).take(other))
        return out
    moved = [native.to_series(place[name])[other] for name, other in columns.items()]
    return native[rows].with_columns(moved)
