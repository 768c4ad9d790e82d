"""`divulge schema`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from divulge.cli.options import FILE, beyond_option, names, table_options
from divulge.cli.root import cli
from divulge.core.errors import SettingError, escaped

if TYPE_CHECKING:
    from divulge.core.relations import Relation, RelationalSchema
    from divulge.tables.frames import Table

__all__ = ["schema"]


@cli.command(short_help="Print how divulge reads each column of a table, or of several.")
@click.argument("table", type=FILE, required=False)
@click.option(
    "--tables",
    multiple=True,
    callback=names,
    metavar="TABLES",
    help="Several tables instead of TABLE: a folder, or users=users.csv,orders=orders.csv. The schema then "
    "has the keys, relations and sequences that they suggest.",
)
@table_options
@beyond_option("a table is", passed_on=False)
def schema(
    table: str | None,
    tables: list[str],
    schema_file: str | None,
    unit: str | None,
    ignore: list[str],
    missing: list[str],
) -> None:
    """Print how divulge reads each column of TABLE, and why, as TOML to edit and pass back with --schema."""
    if (table is None) == (not tables):
        found = "both are given" if table else "neither is given"
        raise SettingError(f"TABLE or --tables: {found}. hint: name one table, or several with --tables.")
    if tables:
        if unit or ignore:
            raise SettingError("--unit and --ignore are of one table. hint: set the roles in the schema of --tables.")
        click.echo(_of_several(tables, schema_file, missing), nl=False)
        return
    from divulge.case.case import schema_of
    from divulge.tables.readers import read, read_schema

    assert table is not None
    read_in = read(table, role="real", missing=missing)
    given = read_schema(schema_file) if schema_file else None
    full = schema_of(read_in, schema=given, unit=unit, ignore=ignore, missing=missing)
    click.echo(_codes_told({"": read_in}, missing) + full.to_toml(), nl=False)


def _codes_told(tables: Mapping[str, Table], missing: Sequence[str]) -> str:
    """Return comments on numbers that may stand for missing; "" where there are none."""
    from divulge.tables.column_notes import codes_for_missing
    from divulge.tables.pooled_columns import pool

    notes = {
        f"{name}.{c}".removeprefix("."): pool((table,), c, missing).note
        for name, table in tables.items()
        for c in table.columns
    }
    told = "".join(f"# {escaped(line)}\n" for line in codes_for_missing(notes))
    return told and f"{told}\n"


def _of_several(tables: Sequence[str], schema_file: str | None, missing: Sequence[str]) -> str:
    from divulge.case.relational.inferred import infer_relational, possible_relations
    from divulge.tables.folders import read_tables
    from divulge.tables.readers import read_relational_schema

    given = read_relational_schema(schema_file) if schema_file else None
    found = read_tables(tables, missing=missing)
    proposed = infer_relational(found, missing=missing)
    full = proposed if given is None else proposed.override(given)
    possible = possible_relations(found, full.relations, missing=missing)
    return _people_told(full) + _codes_told(found, missing) + _template(full, possible) + full.to_toml()


def _template(schema: RelationalSchema, possible: Sequence[Relation]) -> str:
    """Return comments that hold a relation to write where a table has none; "" where each has one."""
    from divulge.core.relations import Relation

    related = {name for r in schema.relations for name in (r.parent, r.child)}
    alone = [name for name in schema.tables if name not in related]
    if not alone or len(schema.tables) == 1:
        return ""
    told = f"no relation was found of {', '.join(map(repr, alone))}, and nothing compares a table without one"
    how = (
        "the values of these columns overlap; take away the # of a relation that is one"
        if possible
        else "write it like this, with the names of tables and columns"
    )
    form = Relation("TABLE OF PEOPLE", ("ITS KEY",), "TABLE OF ROWS", ("COLUMN WITH THAT KEY",))
    lines = [told, how, *(line for r in possible or (form,) for line in ("", *r.to_toml().splitlines()))]
    return "".join(f"# {escaped(line)}".rstrip() + "\n" for line in lines) + "\n"


def _people_told(schema: RelationalSchema) -> str:
    """Return a comment that says who is a person to `assess` and `split`, and what the other tables are to people."""
    try:
        people = schema.people()
    except SettingError:
        return ""
    ways = {name: schema.paths(name, people) for name in schema.tables if name != people}
    owned = [name for name, way in ways.items() if way]
    about = [r.parent for name in (people, *owned) for r in schema.parents(name) if r.parent not in (people, *owned)]
    told = {
        "rows of people": [name for name in owned if len(ways[name]) == 1],
        "rows that may link people": [name for name in owned if len(ways[name]) > 1],
        "describe rows": dict.fromkeys(about),
        "not compared, as no relation leads there": [n for n in ways if n not in owned and n not in about],
    }
    lines = [f"a person is a row of {people!r} (--unit names another table)"]
    lines += [f"{what}: {', '.join(map(repr, names))}" for what, names in told.items() if names]
    return "".join(f"# {escaped(line)}\n" for line in lines) + "\n"
