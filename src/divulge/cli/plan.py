"""`divulge plan`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import click

from divulge.cli.options import (
    FILE,
    attacker_options,
    beyond_option,
    engine_option,
    planned_options,
    spill_option,
    table_options,
    with_holdout,
)
from divulge.cli.root import cli
from divulge.cli.show import cannot_write, check_file, check_names
from divulge.report.documents.console import clean

__all__ = ["plan"]


@cli.command(short_help="Tell what an assessment will need and can find, before it begins.")
@click.argument("real", type=FILE)
@click.argument("synthetic", type=FILE, nargs=-1, required=True, metavar="SYNTHETIC [HOLDOUT]")
@attacker_options
@engine_option("as in `divulge assess`")
@spill_option
@table_options
@planned_options
@beyond_option("a table is", passed_on=False)
@click.option(
    "--json", "json_file", type=FILE, metavar="FILE", help="File for the plan; it holds no value of the tables."
)
def plan(real: str, synthetic: Sequence[str], together: bool, holdout: str | None, **options: Any) -> None:  # fmt: skip
    """Tell what `divulge assess` will need with these tables and options, and what it can find. Nothing is attacked.

    Rows, columns, memory, time, the tests of each attack, who is asked, and the smallest excess that these numbers of
    people show. Of the files only headers, counts of lines and some thousand rows are read.

    Exit status: 0 the run fits into memory and onto the disk, 2 it does not, or unusable input.
    """
    from divulge.run.forecasting.forecast import plan as planned
    from divulge.tables.folders import linked_sides, relations_in
    from divulge.tables.readers import read_schema

    synthetic, holdout = with_holdout(synthetic, holdout, together=together)
    paths = [real, *synthetic, *([] if holdout is None else [holdout])]
    check_file("--json", options["json_file"], [*paths, options["schema_file"]])
    json_file, schema_file = options.pop("json_file"), options.pop("schema_file")
    tables: dict[str, Any] = {
        "real": real, "synthetic": list(synthetic) if together else synthetic[0], "holdout": holdout,
    }  # fmt: skip
    described = relations_in(schema_file)
    linked = linked_sides(tables, options["missing"], described=described is not None, engine=options["engine"])
    if linked is None:
        check_names(paths, options)
    passed = options | {
        "keys": options["keys"] or None, "targets": options["targets"] or None,
        "schema": described or (read_schema(schema_file) if schema_file else None), "jobs": options["jobs"],
    }  # fmt: skip
    told = planned(**(linked or tables), **passed)
    if json_file:
        from divulge.core.atomic_write import written

        try:
            written(told.to_json(), json_file)
        except (OSError, UnicodeError) as error:
            raise cannot_write("--json", error, "file") from None
    click.echo("\n".join(clean(line) for line in str(told).splitlines()))
    if not (told.fits and told.fits_on_disk):
        sys.exit(2)
