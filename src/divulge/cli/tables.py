"""`divulge schema`."""

from __future__ import annotations

import click

from divulge.cli.options import FILE, table_options
from divulge.cli.root import cli

__all__ = ["schema"]


@cli.command(short_help="Print how divulge reads each column of a table.")
@click.argument("table", type=FILE)
@table_options
def schema(table: str, schema_file: str | None, unit: str | None, ignore: list[str], missing: list[str]) -> None:
    """Print how divulge reads each column of TABLE, and why, as TOML to edit and pass back with --schema."""
    from divulge.case.case import schema_of
    from divulge.tables.readers import read, read_schema

    read_in = read(table, role="real", missing=missing)
    given = read_schema(schema_file) if schema_file else None
    found = schema_of(read_in, schema=given, unit=unit, ignore=ignore, missing=missing)
    click.echo(found.to_toml(), nl=False)
