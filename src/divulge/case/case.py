"""A `Case` holds the three tables with one schema and shared codes, and caches what is counted from them."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from divulge.case.cells import Cells, Gathered, cells_in_parts, cells_of, codes_of_rows, gathered_of
from divulge.case.column_facts import facts_of
from divulge.case.encoded import ROLES, EncodedTables
from divulge.case.outlined import facts_of_outline
from divulge.core.errors import ColumnError, SettingError
from divulge.core.memo import Memo
from divulge.core.schema import FEW_PEOPLE, Column, Facts, Schema, check_columns, column_names, infer
from divulge.kernels.counts.binning import Binning
from divulge.kernels.counts.contingency import ContingencyTable, count, joint
from divulge.kernels.runtime import in_threads
from divulge.tables.frames import Table, check_missing, collect
from divulge.tables.matched_names import LEFT_OUT, matched_names, shared_columns
from divulge.tables.opening import opened
from divulge.tables.pooled_columns import PooledColumn
from divulge.tables.written_forms import said_columns

if TYPE_CHECKING:
    from divulge.case.relational.persons import Persons

__all__ = ["COLLECTED", "IN_FILES", "LEFT_OUT", "READ", "Case", "build_case", "infer_schema", "schema_of"]

COLLECTED = "the tables were read into memory"
READ = "column"
"""How notes begin that say how a column was read."""
IN_FILES = "codes of all rows in files"
"""Where a case keeps another one with the codes of all its rows."""
_GATHERED = "gathered rows"
"""Where a case keeps the distinct rows that an engine gave it."""
_KEPT_BYTES = 2**28  # contingency tables kept: hundreds for a survey of usual size, two or three for millions of rows


@dataclass(frozen=True)
class Case:
    """Two or three tables of the same columns with shared codes. Attacks ask it for arrays and never see a frame."""

    tables: tuple[Table, ...]
    """real, synthetic, and holdout when there is one."""
    columns: tuple[str, ...]
    """Columns that all tables have, in the order of the real table."""
    schema: Schema
    missing: tuple[str, ...]
    seed: int
    level: float
    notes: tuple[str, ...]
    encoded: EncodedTables
    """Codes, rulers, rows and indices, each computed once; cases derived from this one share them."""
    draws: int = 2000
    """Bootstrap draws for one comparison; 0 where a family of comparisons is resampled together later."""
    progress: Callable[[int, int], None] = lambda done, total: None
    """Called during a long search with the number of rows done and the number of all rows."""
    reveal_values: bool = False
    """Whether subgroups are named by their values. Values are data: True only where the user asked for it."""
    ignored: tuple[str, ...] = ()
    """Ignored columns that not all tables have; the schema says which of the others are ignored."""
    persons: Persons | None = None
    """Where the rows are the people of linked tables: what else stands there of them."""
    cache: Memo = field(default_factory=Memo)
    """Results that attacks, measures or a run computed from this case and may need again."""
    _counted: Memo = field(default_factory=lambda: _tables_of_counts())

    @property
    def has_holdout(self) -> bool:
        """Whether there is a holdout: people that the synthesizer never saw."""
        return len(self.tables) == 3

    @property
    def without_strangers(self) -> tuple[str, ...]:
        """Columns that real and synthetic have and the holdout lacks: nothing can be said about them with strangers."""
        real, synthetic, *holdout = (t.columns for t in self.tables)
        return tuple(c for c in real if c in synthetic and any(c not in names for names in holdout))

    @property
    def without_members(self) -> tuple[str, ...]:
        """Columns of the synthetic table that the real table lacks: nobody's value can be compared with theirs."""
        return tuple(c for c in self.tables[1].columns if c not in self.tables[0].columns)

    @property
    def by_table(self) -> dict[str, tuple[str, ...]]:
        """The columns of each table, by its role."""
        return {t.role: t.columns for t in self.tables}

    @property
    def levels(self) -> tuple[str, ...]:
        """Names of the levels of the tables' indexes, which are no columns."""
        return tuple(dict.fromkeys(name for t in self.tables for name in t.levels))

    @property
    def in_memory(self) -> bool:
        """Whether the rows of all tables are here, or their codes; only then are there values for each record."""
        return self.encoded.by_codes or all(t.frame is not None for t in self.tables)

    @property
    def unit(self) -> str | None:
        """The column that says which rows belong to one person or household; None when each row is its own."""
        units = self.schema.with_role("unit")
        return units[0] if units else None

    @property
    def whole_record(self) -> tuple[str, ...]:
        """The columns that make a whole record: all but identifiers, the unit and ignored ones, as in `columns`."""
        left_out = {*self.schema.names("identifier"), *self.schema.with_role("unit"), *self.schema.with_role("ignore")}
        return tuple(c for c in self.columns if c not in left_out)

    @property
    def engine(self) -> str | None:
        """The engine that was asked to count the tables where they are; None where none was."""
        return next((t.counting.engine for t in self.tables if t.counting is not None), None)

    @property
    def in_files(self) -> Case | None:
        """A case with the codes of all rows, where these were written to files; else None."""
        found: Case | None = self.cache.get(IN_FILES)
        return found

    def gather(self, counted: Sequence[str], compared: Sequence[str] = (), *, ordered: bool = False) -> None:
        """Get the distinct rows of some columns, with the unit, from the engines that hold the tables.

        Counts of these columns are then made from them, and people keep their scores: comparisons of several key sets
        and targets are corrected together, and the rows of one unit are one person.

        Parameters
        ----------
        counted
            Columns that are counted by their bins.
        compared
            Columns of which every value is compared.
        ordered
            Whether these rows, and the scores of people, come in an order that is the same in each run.
        """
        coded = None if self.unit is None else self.in_files  # the rows of people, one by one, in the order of files
        encoded = self.encoded if coded is None else coded.encoded
        self.cache[_GATHERED] = gathered_of(encoded, counted, compared, self.unit, ordered=ordered)

    def order_of_people(self, which: int) -> NDArray[np.int64] | None:
        """Return the rows of a table in files in the order of `units`; None where that is the order of the files."""
        gathered: Gathered | None = self.cache.get(_GATHERED)
        return None if gathered is None else gathered.orders[which]

    def with_codes(self, columns: Sequence[str]) -> Case:
        """Return the case with the codes of each row of some columns and of the unit, and with no other values of rows.

        The codes take a byte or two for each value, where a table in memory takes ten. They are those in files, where
        these have all rows, or made of the cells that the engines tell, so that the rows are in no order.
        """
        names = tuple(dict.fromkeys([*columns, *([] if self.unit is None else [self.unit])]))
        coded = self.in_files
        if coded is None:
            return self.derived(self.encoded.with_codes(codes_of_rows(self.encoded, names)))
        return self.derived(self.encoded.with_codes({name: coded.codes(name, binned=False) for name in names}))

    def collected(self, why: str) -> Case:
        """Return the case with all rows in memory; a note gives the reason `why`.

        Raises
        ------
        SettingError
            An engine was asked to count the tables.
        """
        if self.in_memory:
            return self
        tables = tuple(collect(t) for t in self.tables)
        encoded = EncodedTables(tables, self.columns, self.schema, self.missing)
        encoded.said = self.encoded.said
        return Case(
            tables, self.columns, self.schema, self.missing, self.seed, self.level,
            (*self.notes, f"{COLLECTED}: {why}"), encoded, self.draws, self.progress, ignored=self.ignored,
        )  # fmt: skip

    def with_synthetic(self, codes: Mapping[str, NDArray[np.int32]]) -> Case:
        """Return a new case with other codes in some columns of the synthetic table; it shares the rest with this."""
        return self.derived(self.encoded.with_synthetic(codes))

    @property
    def synthetic_parts(self) -> tuple[int, ...]:
        """Rows of each of several synthetic tables of one training set that are taken together; else empty."""
        return self.tables[1].parts

    def synthetic_rows(self, first: int, last: int) -> Case:
        """Return a new case with the synthetic rows from `first` up to, and without, `last`; it shares the rest."""
        table = self.tables[1].rows_at(slice(first, last))
        codes = {c: self.codes(c, binned=False)[1][first:last] for c in self.columns}
        return self.derived(self.encoded.with_synthetic(codes, table), (self.tables[0], table, *self.tables[2:]))

    def derived(self, encoded: EncodedTables, tables: tuple[Table, ...] | None = None) -> Case:
        """Return a case of other codes, and of other tables where some are given; nothing is cached for it yet."""
        own = self.tables if tables is None else tables
        return replace(self, tables=own, encoded=encoded, cache=Memo(), _counted=_tables_of_counts())

    def n_rows(self, role: str) -> int:
        """Return the number of rows of a table, 0 when there is no such table."""
        i = ROLES.index(role)
        return self.tables[i].n_rows if i < len(self.tables) else 0

    def n_people(self, role: str) -> int:
        """Return the number of persons or households of a table: of its rows, where each row is its own."""
        if self.unit is None or role not in ROLES[: len(self.tables)]:
            return self.n_rows(role)
        counts = self.pooled(self.unit).counts[ROLES.index(role)]
        return int(counts[0] + np.count_nonzero(counts[1:]))  # a row whose unit is missing is its own

    def rng(self, step: str) -> np.random.Generator:
        """Return the random generator of one step; its state depends on the seed and the step's name alone."""
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(zlib.crc32(step.encode()),)))

    def pooled(self, column: str) -> PooledColumn:
        """Return the levels of a column over all tables, and the codes of each row."""
        return self.encoded.pooled(column)

    def binning(self, column: str) -> Binning:
        """Return how a column is coded for counting; bins are fitted on real and holdout pooled."""
        return self.encoded.binning(column)

    def codes(self, column: str, *, binned: bool = True) -> tuple[NDArray[np.int32], ...]:
        """Return the code of each row of each table; `binned=False` keeps every value apart.

        Raises
        ------
        SettingError
            The rows are not in memory.
        """
        return self.encoded.codes(column, binned=binned)

    def n_codes(self, column: str, *, binned: bool = True) -> int:
        """Return how many codes a column has, code 0 (missing) included."""
        return self.encoded.n_codes(column, binned=binned)

    def numbers(self, column: str) -> NDArray[np.float64]:
        """Return the numeric value of each code, shape (n_levels + 1,); nan for missing and for non-numbers."""
        return self.encoded.numbers(column)

    def contingency(self, keys: Sequence[str], target: str | Sequence[str], *, binned: bool = True) -> ContingencyTable:
        """Return the counts of keys x targets over the three tables.

        Several targets count as one target whose value is the combination of theirs. Without a target the keys alone
        are counted. `binned=False` compares values as they are.
        """
        if not isinstance(target, str) and not isinstance(target, Iterable):
            raise SettingError(f"target: a {type(target).__name__} is no column name. hint: name a column.")
        targets = (target,) if isinstance(target, str) else tuple(target)
        # sorted: the result must not depend on the order in which columns are named
        request = (tuple(sorted(keys)), tuple(sorted(targets)), binned)
        return self._counted.once(request, lambda: self._count(*request))

    def _count(self, keys: tuple[str, ...], targets: tuple[str, ...], binned: bool) -> ContingencyTable:
        names = keys + targets
        cells = [self._cells(i, names, binned) for i in range(len(self.tables))]
        rows, weights = [c.codes for c in cells], [c.times for c in cells]
        while len(rows) < 3:
            rows.append([np.zeros(0, dtype=np.int32) for _ in names])
            weights.append(None)
        sizes = [self.n_codes(n, binned=binned) for n in names]
        n = len(keys)
        if targets:
            target, n_targets = joint([r[n:] for r in rows], sizes[n:])
        else:
            target, n_targets = [np.zeros(len(r[0]), dtype=np.int32) for r in rows], 1
        return count(
            [r[:n] for r in rows], sizes[:n], target, n_targets, weights=weights, has_holdout=self.has_holdout,
            with_rows=self.in_memory or self._has(names, binned),
        )  # fmt: skip

    def _has(self, names: Sequence[str], binned: bool) -> bool:
        """Return whether the distinct rows of these columns are here."""
        gathered: Gathered | None = self.cache.get(_GATHERED)
        return gathered is not None and gathered.has(names, binned=binned)

    def _cells(self, which: int, names: Sequence[str], binned: bool) -> Cells:
        if self._has(names, binned):
            gathered: Gathered = self.cache.get(_GATHERED)
            return gathered.cells(which, names, binned=binned)
        if which == 1 and self.synthetic_in_files:
            return cells_in_parts(self.encoded, which, names, binned=binned)
        if self.in_memory:
            return Cells([self.encoded.codes_in(n, which, binned=binned) for n in names], None)
        return cells_of(self.encoded, which, names, [binned] * len(names))

    @property
    def synthetic_in_files(self) -> bool:
        """Whether the synthetic rows are codes in files, which may be more than fit into memory."""
        return self.in_memory and self.tables[1].counting is not None

    def units(self, role: str) -> NDArray[np.int64] | None:
        """Return the person or household of each row of a table; None when each row is its own.

        A row whose unit is missing is its own unit.
        """
        if self.unit is None or role not in ROLES[: len(self.tables)]:
            return None
        which = ROLES.index(role)
        gathered: Gathered | None = self.cache.get(_GATHERED)
        known = None if gathered is None else gathered.units[which]
        codes = ((self.in_files or self).codes(self.unit, binned=False)[which] if known is None else known).astype(int)
        alone = codes == 0
        codes[alone] = -1 - np.arange(int(alone.sum()))
        return codes

    def is_unread(self, column: str) -> bool:
        """Whether numbers or dates could not all be read: the column became identifier or text, or lost many values."""
        if column not in self.columns:  # several targets taken together
            return False
        known = self.encoded.known(column)
        return bool(known.unread) and (known.family != "text" or self.schema[column].kind in ("identifier", "text"))

    def facts(self, column: str, which: int = 0) -> Facts:
        """Return the counts that describe one column of one table (0 real, 1 synthetic, 2 holdout)."""
        if (found := self.encoded.outlines.of(column)) is not None:
            return facts_of_outline(found, which)
        return facts_of(self.pooled(column), which, self.numbers(column)[1:])

    def value_in_words(self, column: str, code: int, *, binned: bool = True) -> str:
        """Return the value, or the range of values, that a code stands for. The text is data."""
        of_values = self.encoded.binning_of_values(column).map if binned else None
        return self.values_in_words(column, [code] if of_values is None else np.flatnonzero(of_values == code))

    def values_in_words(self, column: str, codes: Sequence[int] | NDArray[Any]) -> str:
        """Return the value of some codes without bins, the first and the last, or "missing". The text is data."""
        pooled = self.pooled(column)
        inside = [int(code) for code in codes if code > 0]
        if not inside:
            return "missing"
        first, last = (str(pooled.levels[i - 1]) for i in (inside[0], inside[-1]))
        return first if first == last else f"{first} to {last}"

    def repeat_values(self, codes: dict[str, int], n_rows: int) -> pl.DataFrame:
        """Return a frame of `n_rows` equal rows from binned codes; the commonest level of a bin stands for it."""
        data = {}
        for column, code in codes.items():
            pooled, coding = self.pooled(column), self.encoded.binning_of_values(column)
            inside = np.flatnonzero(coding.map == code)
            level = int(inside[np.argmax(np.sum(pooled.counts, axis=0)[inside])])
            value = pl.Series([None], dtype=pooled.levels.dtype) if level == 0 else pooled.levels[[level - 1]]
            data[column] = value.new_from_index(0, n_rows)
        return pl.DataFrame(data)

    def bins_in_words(self, columns: Sequence[str]) -> dict[str, str]:
        """Return for each binned column a text that says how it was cut."""
        return {c: self.binning(c).bins for c in columns if self.binning(c).bins}


def _tables_of_counts() -> Memo:
    """Return an empty memo for contingency tables, by keys, targets and whether values are binned."""
    return Memo(most_bytes=_KEPT_BYTES, last_stays=True)


def build_case(
    real: Any,
    synthetic: Any = None,
    holdout: Any = None,
    *,
    schema: Schema | None = None,
    unit: str | None = None,
    ignore: Sequence[str] = (),
    missing: Sequence[str] = (),
    seed: int = 0,
    level: float = 0.95,
    engine: str = "auto",
    asked: Sequence[str] | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Case:
    """Return the `Case` of two or three tables: columns are matched by name, kinds inferred, roles assigned.

    Parameters
    ----------
    asked
        The only columns that will be asked for. The values of others are not read, and the schema lacks them, but for
        the unit; all columns are read where the tables do not have one of these. None reads all columns.
    engine
        Where the rows are counted, see `divulge.tables.engines`.

    Raises
    ------
    FrameError, TableError, ColumnError, SettingError
        A table cannot be read; the tables have no column in common; the unit or an ignored column is unknown; the
        level is outside (0.5, 1); the seed is negative.
    """
    for name, value in (("level", level), ("seed", seed)):
        whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        if not (whole or (name == "level" and isinstance(value, (float, np.floating)))):
            raise SettingError(
                f"{name}: a {type(value).__name__} is no {'number' if name == 'level' else 'whole number'}. "
                f"hint: {'0.95 gives 95% intervals' if name == 'level' else '0 is the default'}."
            )
    if not 0.5 < level < 1:
        raise SettingError(f"level: {level} is outside (0.5, 1). hint: 0.95 gives 95% intervals.")
    if seed < 0:
        raise SettingError(f"seed: {seed} is negative. hint: use a whole number from 0 on.")
    missing = check_missing(missing)
    given = [(real, "real"), (synthetic, "synthetic")] + ([] if holdout is None else [(holdout, "holdout")])
    tables = matched_names([opened(native, role, missing, engine) for native, role in given])
    columns, left_out = shared_columns(tables)
    notes = [*(n for t in tables for n in t.notes), *left_out]
    roles = {role: () if schema is None else schema.with_role(role) for role in ("unit", "key", "target", "ignore")}
    named = [] if unit is None else list(column_names("unit", unit))
    ignored = column_names("ignore", ignore)
    levels = [name for t in tables for name in t.levels]
    by_table = {t.role: t.columns for t in tables}
    known = tuple(dict.fromkeys(c for t in tables for c in t.columns))
    check_columns("unit", [*named, *(c for c in roles["unit"] if c in known)], by_table, levels)
    check_columns("ignore", ignored, known, levels)  # one table that has it is enough
    for role in ("key", "target"):
        check_columns(f"{role}s", [c for c in roles[role] if c in known], by_table)
    apart = tuple(c for c in known if c not in columns and c in {*ignored, *roles["ignore"]})
    encoded = EncodedTables(tables, columns, Schema(()), missing)
    encoded.said = said_columns(schema)
    case = Case(tables, columns, Schema(()), missing, seed, level, (), encoded)
    if asked is not None and set(asked) <= set(columns):
        read = tuple(c for c in columns if c in {*asked, *named, *roles["unit"]})
    else:
        read = columns
    full = _schema_of(case, schema, named, ignored, progress, read, known)
    notes += [f"{READ} {c!r} {encoded.known(c).note}" for c in read if encoded.known(c).note]
    with_kinds = encoded.with_schema(full)
    return Case(tables, columns, full, missing, seed, level, tuple(notes), with_kinds, ignored=apart)


def _schema_of(
    case: Case, schema: Schema | None, unit: Sequence[str], ignore: Sequence[str], progress: Callable[[str], None],
    read: Sequence[str], known: Iterable[str],
) -> Schema:  # fmt: skip
    """Return the inferred schema of some columns, with those of a given one and the roles that were named."""
    if case.in_memory:  # DuckDB and Spark have their own threads and must not be queried from two threads at once
        in_threads(case.pooled, read, case.tables[0].n_rows)
    inferred = []
    for column in read:
        progress(column)
        inferred.append(_inferred(case, column))
    full = Schema(tuple(inferred))
    if schema is not None:
        check_columns("schema", [c.name for c in schema.columns if c.name not in known], case.columns)
        full = full.override(Schema(tuple(c for c in schema.columns if c.name in read), schema.threat))
    full = full.give_roles(unit=unit, ignore=[c for c in ignore if c in read])
    if len(full.with_role("unit")) > 1:
        raise ColumnError(f"unit: {len(full.with_role('unit'))} columns have this role. hint: keep one.")
    return full


def schema_of(
    table: Any,
    *,
    schema: Schema | None = None,
    unit: str | None = None,
    ignore: Sequence[str] = (),
    missing: Sequence[str] = (),
) -> Schema:
    """Return the schema of one table: kinds inferred or taken from `schema`, with the roles that are named.

    Raises
    ------
    FrameError, TableError, ColumnError, SettingError
        As in `build_case`.
    """
    missing = check_missing(missing)
    given = opened(table, "real", missing)
    named = [] if unit is None else list(column_names("unit", unit))
    ignored = column_names("ignore", ignore)
    check_columns("unit", named, given.columns, given.levels)
    check_columns("ignore", ignored, given.columns, given.levels)
    encoded = EncodedTables((given,), given.columns, Schema(()), missing)
    encoded.said = said_columns(schema)
    case = Case((given,), given.columns, Schema(()), missing, 0, 0.95, (), encoded)
    return _schema_of(case, schema, named, ignored, lambda _: None, given.columns, given.columns)


def infer_schema(table: Any, *, missing: Sequence[str] = ()) -> Schema:
    """Return the inferred schema of one table, to edit and pass as `schema`.

    Examples
    --------
    >>> infer_schema(pl.DataFrame({"sex": ["f", "m"]}))["sex"].kind
    'categorical'
    """
    return schema_of(table, missing=missing)


def _inferred(case: Case, column: str) -> Column:
    """Return the kind of a column by the real table; by the synthetic one if fewer than ten people differ in it.

    The kind decides which attacks are made, so that every reader of a report knows it: by the real table it would tell
    whether nobody or somebody has another value.
    """
    facts = case.facts(column)
    alike = facts.n_commonest >= FEW_PEOPLE > facts.n_rows - facts.n_commonest
    return infer(case.facts(column, 1) if alike and len(case.tables) > 1 else facts)
