"""The tables and the metadata of `divulge.quality` and `divulge.diagnose`, and of the commands of these names."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from divulge.core.errors import DivulgeError, SettingError
from divulge.core.relations import RelationalSchema
from divulge.core.schema import Schema, no_such
from divulge.sdmetrics.reports.memory_check import check_scores, check_values
from divulge.tables.folders import read_tables, table_files, table_role
from divulge.tables.frames import Table, collect
from divulge.tables.matched_names import matched_names
from divulge.tables.opening import load, opened
from divulge.tables.readers import read, read_metadata
from divulge.tables.sizes import TableSize, size_of

__all__ = ["Inputs", "check_memory", "is_one_file", "loaded", "read_inputs", "tables_of"]

Tables = dict[str, Table]
Frames = dict[str, pl.DataFrame]

_INFERRED = (
    "no --schema: the types of the columns are those that divulge infers from the real table. hint: `divulge schema` "
    "writes them as TOML to edit."
)
_ALONE = "table"


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a report is made from."""

    real: Any
    synthetic: Any
    """Frames by name; of an engine the table itself."""
    metadata: Any
    source: str
    """Where the metadata come from, in words."""
    notes: list[str] = field(default_factory=list)


def read_inputs(
    real: Any, synthetic: Any, schema: Any, tables: Sequence[str], missing: Sequence[str], *, strict: bool
) -> Inputs:
    """Return the tables of both sides, and their metadata.

    Parameters
    ----------
    real, synthetic
        A file, a folder of tables, or a list of tables: users=users.csv,orders=orders.csv; a frame, or a dictionary of
        them.
    schema
        The file of SDV metadata or TOML, what it says, or None for what divulge infers.
    tables
        Names and files of the tables in both folders; empty for all.
    missing
        Texts that stand for missing.
    strict
        Whether the synthetic tables must have the columns of the metadata, and no others.

    Raises
    ------
    SettingError, TableError, ColumnError
        A file cannot be read, or tables and metadata name different things.
    """
    given = _described(schema)
    found = [tables_of(path, tables, missing, side) for path, side in ((real, "real"), (synthetic, "synthetic"))]
    ours, theirs = _named(found, given)
    if strict:  # the diagnostic report counts names that differ
        theirs |= {n: matched_names((ours[n], table))[1] for n, table in theirs.items() if n in ours}
    notes = [note for side in (ours, theirs) for table in side.values() for note in table.notes]
    if isinstance(given, dict):
        metadata, frames = _unified(given), (_frames(ours), _frames(theirs))
        source = f"SDV metadata{_file(schema)}"
    else:
        metadata, frames = _derived(ours, theirs, given, missing)
        source = "inferred by divulge from the real table" if schema is None else f"schema{_file(schema)}"
        notes += [_INFERRED] if schema is None else []
    _check_names(*frames, list(metadata["tables"]))
    apart = sorted(set(ours) - set(metadata["tables"]))
    notes += [f"the schema does not describe {', '.join(map(repr, apart))}: left out."] if apart else []
    _check_columns(metadata, *frames, strict=strict)
    return Inputs(*frames, metadata, source, notes)


def counted_inputs(
    real: Any,
    synthetic: Any,
    schema: Any,
    tables: Sequence[str],
    missing: Sequence[str],
    engine: str,
    *,
    strict: bool,
    beyond_memory: bool,
) -> Inputs:
    """Return two tables that an engine counts where they are, and their metadata.

    Parameters
    ----------
    real, synthetic
        Each one table: Parquet files, a folder of them, or a table of a DuckDB file.
    schema, missing, strict
        As in `read_inputs`.
    tables
        Must be empty.
    engine
        What counts them.
    beyond_memory
        Whether to begin although the distinct values are not expected to fit into memory.

    Raises
    ------
    SizeError
        They do not fit.
    SettingError, TableError, FrameError
        The engine cannot count them, or tables and metadata name different columns.
    """
    from divulge.sdmetrics.reports.counted_inputs import described

    if tables:
        raise SettingError("--tables: an engine counts one table. hint: leave it out, or --engine memory.")
    ours, theirs = (opened(table, role, (), engine) for table, role in ((real, "real"), (synthetic, "synthetic")))
    given = None if schema is None else described(schema, ours, missing)
    if not beyond_memory:
        sizes: list[TableSize | None] = []
        with suppress(DivulgeError):  # what cannot be read is told by the reading
            sizes = [size_of(path, role, missing) for path, role in ((real, "real"), (synthetic, "synthetic"))]
        _check_values(sizes, given, strict=strict)
    metadata = _whole(given, ours, missing)
    _check_columns(_named_columns(metadata), {_ALONE: ours}, {_ALONE: theirs}, strict=strict)
    if isinstance(metadata, dict):
        source = f"SDV metadata{_file(schema)}"
    else:
        source = "inferred by divulge from the real table" if schema is None else f"schema{_file(schema)}"
    return Inputs(ours, theirs, metadata, source, [_INFERRED] if schema is None else [])


def _described(schema: Any) -> RelationalSchema | dict[str, Any] | None:
    """Return what is said of the tables; metadata stay as they are."""
    if schema is None or isinstance(schema, RelationalSchema):
        return schema
    if isinstance(schema, str | os.PathLike):
        return read_metadata(schema)
    if isinstance(schema, Schema):
        return RelationalSchema({_ALONE: schema}, (), schema.rules)
    schema = schema.to_dict() if hasattr(schema, "to_dict") else schema
    if not isinstance(schema, Mapping):
        raise SettingError(
            f"schema: a {type(schema).__name__} is neither a schema nor metadata. hint: pass a Schema, SDV metadata, "
            "or the path of a file of either."
        )
    return dict(schema)


def _file(schema: Any) -> str:
    """Return the name of the file of a schema, as a part of a sentence; "" where it came from no file."""
    return f" of {Path(schema).name}" if isinstance(schema, str | os.PathLike) else ""


def _check_values(sizes: Sequence[TableSize | None], metadata: Any, *, strict: bool) -> None:
    """Check that the distinct values fit: for a report that is not strict, those of the columns that it lists."""
    from divulge.sdmetrics.reports.diagnosed_inputs import is_listed

    check_values(sizes, None if strict or metadata is None else is_listed(metadata))


def _whole(given: Any, real: Table, missing: Sequence[str]) -> Any:
    """Return metadata, those of divulge's own schema with what is inferred of the columns that it leaves out."""
    from divulge.sdmetrics.reports.counted_inputs import described

    if given is not None and not isinstance(given, RelationalSchema):
        return given
    known = [] if given is None else [c.name for schema in given.tables.values() for c in schema.columns]
    left = tuple(c for c in real.columns if c not in known)
    inferred = described(None, replace(real, columns=left), missing) if left else None
    return inferred if given is None else _completed(given, inferred, real.columns)


def _completed(given: RelationalSchema, inferred: RelationalSchema | None, columns: Sequence[str]) -> RelationalSchema:
    """Return a schema of one table with the columns of another, in the order of the table."""
    ((name, own),) = given.tables.items()
    more = inferred.tables["table"].columns if inferred else ()
    order = {c: i for i, c in enumerate(columns)}
    both = sorted((*own.columns, *more), key=lambda c: order.get(c.name, len(order)))
    return replace(given, tables={name: replace(own, columns=tuple(both))})


def _named_columns(metadata: RelationalSchema | dict[str, Any]) -> dict[str, Any]:
    """Return metadata of one table with the names of its columns alone."""
    if isinstance(metadata, RelationalSchema):
        names = [column.name for schema in metadata.tables.values() for column in schema.columns]
    else:
        names = [column for entry in metadata["tables"].values() for column in entry.get("columns", ())]
    return {"tables": {_ALONE: {"columns": dict.fromkeys(names)}}}


def is_one_file(given: str) -> bool:
    """Return whether a text names one file, and neither a folder nor a list of tables."""
    return not os.path.isdir(given) and ("=" not in given or os.path.exists(given))


def tables_of(given: Any, chosen: Sequence[str], missing: Sequence[str], side: str) -> dict[str | None, Table]:
    """Return the tables by name; one file or frame has the name None."""
    if isinstance(given, Mapping):
        return {str(n): _table(t, table_role(str(n), side), missing) for n, t in given.items()}
    listed = _listed(given, chosen, side)
    if listed is None:
        return {None: _table(given, side, missing)}
    option, paths = listed
    return dict(read_tables(paths, missing=missing, option=option, side=side).items())


def _table(given: Any, role: str, missing: Sequence[str]) -> Table:
    """Return a file or a frame of any kind as a table in memory."""
    if isinstance(given, str | os.PathLike):
        return read(given, role=role, missing=missing)
    return collect(opened(given, role, missing))


def loaded(given: Any, side: str) -> Any:
    """Return frames as tables, so that each is read once; paths stay as they are."""
    if isinstance(given, Mapping):
        return {str(name): load(table, table_role(str(name), side)) for name, table in given.items()}
    return load(given, side)


def check_memory(real: Any, synthetic: Any, chosen: Sequence[str], missing: Sequence[str]) -> None:
    """Raise an error where the tables of both sides do not fit into the memory that there is.

    Raises
    ------
    SizeError
        They do not fit. What cannot be read at all is left to the reading, which says why.
    """
    try:
        sizes = [s for side, given in (("real", real), ("synthetic", synthetic)) for s in
                 _sizes(given, chosen, missing, side)]  # fmt: skip
    except DivulgeError:
        return
    check_scores(sizes)


def _sizes(given: Any, chosen: Sequence[str], missing: Sequence[str], side: str) -> list[TableSize | None]:
    if isinstance(given, Mapping):
        return [size_of(table, table_role(str(name), side), missing) for name, table in given.items()]
    listed = _listed(given, chosen, side)
    if listed is None:
        return [size_of(given, side, missing)]
    files = table_files(listed[1], option=listed[0])
    return [size_of(path, table_role(name, side), missing) for name, path in files.items()]


def _listed(given: Any, chosen: Sequence[str], side: str) -> tuple[str, list[str]] | None:
    """Return the option that names the tables of a side, and the folder or the files; None for a file or a frame."""
    option = side.upper()
    if not isinstance(given, str | os.PathLike):
        if chosen:
            raise SettingError(f"tables: {side} is no folder. hint: pass a dictionary of tables, or a folder.")
        return None
    given = os.fspath(given)
    if os.path.isdir(given):
        return "--tables" if chosen else option, [_below(given, text) for text in chosen] or [given]
    if chosen:
        raise SettingError(f"--tables: {option} is no folder. hint: name the folder that has these files.")
    return None if is_one_file(given) else (option, [part for part in given.split(",") if part.strip()])


def _below(folder: str, text: str) -> str:
    """Return name=path with the path below a folder."""
    name, equals, path = text.rpartition("=")
    return f"{name}{equals}{os.path.join(folder, path.strip())}" if path.strip() else text


def _named(found: Sequence[dict[str | None, Table]], given: RelationalSchema | dict[str, Any] | None) -> list[Tables]:
    """Return the tables of both sides by name: a single file is the table that the metadata describe."""
    single = [None in side for side in found]
    if single[0] != single[1]:
        raise SettingError("REAL and SYNTHETIC: one is a file, the other is not. hint: name two files or two folders.")
    described = list(given.tables) if isinstance(given, RelationalSchema) else list((given or {}).get("tables", ()))
    if single[0] and len(described) > 1:
        raise SettingError(
            f"--schema: it describes {len(described)} tables, and REAL is one file. hint: name two folders with the "
            "files of all tables."
        )
    name = described[0] if described else _ALONE
    return [{name if n is None else n: table for n, table in side.items()} for side in found]


def _unified(metadata: dict[str, Any]) -> dict[str, Any]:
    return metadata if "tables" in metadata else {"tables": {_ALONE: metadata}}


def _derived(
    real: Tables, synthetic: Tables, given: RelationalSchema | None, missing: Sequence[str]
) -> tuple[dict[str, Any], tuple[Frames, Frames]]:
    """Return the metadata that divulge's own schema stands for, and the tables of both sides."""
    from divulge.case.case import schema_of
    from divulge.case.relational.inferred import infer_relational
    from divulge.sdmetrics.derived import derived

    if given is not None:
        _check_names(real, synthetic, list(given.tables))
    if len(real) == 1:
        schema = RelationalSchema({name: schema_of(table, missing=missing) for name, table in real.items()})
    else:
        schema = infer_relational(real, missing=missing)
    if given is not None:
        schema = schema.override(given)
    _check_names(real, synthetic, list(schema.tables))
    metadata, *frames = derived(schema, _frames(real), _frames(synthetic))
    return metadata, (frames[0], frames[1])


def _frames(tables: Tables) -> Frames:
    return {name: collect(table).named() for name, table in tables.items()}


def _check_names(real: Mapping[str, Any], synthetic: Mapping[str, Any], wanted: Sequence[str]) -> None:
    """Check that both sides have the tables of the metadata."""
    for option, tables in (("REAL", real), ("SYNTHETIC", synthetic)):
        for name in wanted:
            if name not in tables:
                raise SettingError(no_such(option, "table", name, list(tables)))


def _check_columns(
    metadata: Mapping[str, Any], real: Mapping[str, Any], synthetic: Mapping[str, Any], *, strict: bool
) -> None:
    """Check that the real tables, and for a strict report the synthetic ones, have the columns of the metadata."""
    for name, entry in metadata["tables"].items():
        described = list(entry["columns"])
        sides = (("real", real), ("synthetic", synthetic)) if strict else (("real", real),)
        for side, frames in sides:
            where = f"{side} table" if len(metadata["tables"]) == 1 else f"{side} table {name!r}"
            columns = frames[name].columns
            for column in described:
                if column not in columns:
                    raise SettingError(no_such(where, "column", column, columns))
            for column in columns if strict else ():
                if column not in described:
                    raise SettingError(
                        f"--schema: it does not describe column {column!r} of the {where}. hint: describe it there, or "
                        "leave it out of the tables."
                    )
