"""`divulge split`."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click

from divulge.cli.options import FILE, FOLDER, beyond_option, names, views_option
from divulge.cli.root import cli
from divulge.core.errors import SettingError
from divulge.report.documents.console import clean

if TYPE_CHECKING:
    from pathlib import Path

    from divulge.run.splitting.holdout_split import Division

__all__ = ["split"]

_SHOWN = 20  # strata


@cli.command(short_help="Split a table at random into training data and a holdout.")
@click.argument("table", type=FILE)
@click.option("--holdout", type=float, default=0.5, show_default=True, help="Share of the people in the holdout.")
@click.option(
    "--unit", metavar="COLUMN", help="Column that identifies the person or household; rows of one unit stay together."
)
@click.option(
    "--schema", "schema_file", type=FILE, metavar="FILE",
    help="Relations of linked tables: TOML from `divulge schema --tables`, or SDV metadata (JSON).",
)  # fmt: skip
@click.option("--together", is_flag=True, help="Keep rows that are equal in all columns together.")
@click.option(
    "--stratify",
    multiple=True,
    callback=names,
    metavar="COLUMNS",
    help="Columns whose distribution is the same in both tables.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the random split.")
@click.option(
    "--out",
    type=FOLDER,
    default="divulge-split",
    show_default=True,
    metavar="DIR",
    help="Folder to write the two tables to.",
)
@click.option(
    "--format", "kind", type=click.Choice(["same", "csv", "parquet"]), default="same", show_default=True,
    help="File format of the two tables.",
)  # fmt: skip
@click.option(
    "--missing",
    multiple=True,
    callback=names,
    metavar="CODES",
    help="Values that stand for missing: '?,-8'. With 'none', '?' and the like are values, also in columns of numbers.",
)
@views_option
@beyond_option("the table is", passed_on=False)
@click.option("--force", is_flag=True, help="Overwrite tables that exist already.")
@click.option(
    "--pairs",
    is_flag=True,
    help="Write tables in which pairs of people exchanged --secrets, for an audit of a "
    "generator that others train, and no holdout.",
)
@click.option("--secrets", multiple=True, callback=names, metavar="COLUMNS", help="Columns to exchange, with --pairs.")
@click.option(
    "--runs",
    type=click.IntRange(min=1, max=999),
    default=1,
    show_default=True,
    metavar="N",
    help="Training tables to write, with --pairs.",
)
def split(table: str, out: str, *, pairs: bool, secrets: list[str], runs: int, **options: Any) -> None:  # fmt: skip
    """Split TABLE at random into training data and a holdout, by person or household.

    The command writes DIR/real.csv, to train on, and DIR/holdout.csv, which the synthesizer must never see. The split
    depends on the values and the seed, not on the order of the rows. Cells are copied unchanged.

    TABLE may be a folder of linked tables, or a list: users=users.csv,orders=orders.csv. Then the people of the table
    above all others, or of that which --unit names, are drawn, and their rows follow into DIR/real and DIR/holdout.
    """
    if pairs:
        _write_pairs(table, out, secrets, runs, options)
        return
    if secrets:
        raise SettingError("--secrets: without --pairs nothing is exchanged. hint: --pairs.")
    from divulge.run.splitting.holdout_files import next_command, split_file
    from divulge.tables.folders import is_linked, relations_in

    schema_file = options.pop("schema_file")
    schema = relations_in(schema_file)
    if is_linked(table, described=schema is not None):
        real, holdout = _split_linked(table, out, schema, options)
    else:
        found, real, holdout = split_file(table, out, **options)
        _show(found, real, holdout, options["unit"])
    click.echo(f"next: train the synthesizer on {_clean(real)} alone, then")
    click.echo(f"  {_clean(next_command(real, holdout, options['unit']))}")


def _split_linked(table: str, out: str, schema: Any, options: dict[str, Any]) -> tuple[Path, Path]:
    """Split linked tables and tell how; return the folders of both sides."""
    from divulge.run.splitting.holdout_files import split_linked_files

    if options.pop("together"):
        raise SettingError("--together: equal rows of linked tables follow their people. hint: leave it out.")
    found, real, holdout = split_linked_files(table, out, schema=schema, **options)
    n_people = len(found.division.real) + len(found.division.holdout)
    for place, folder in enumerate((real, holdout)):
        n = {name: f"{len(rows[place]):,}" for name, rows in found.rows.items()}
        own = n.pop(found.people)
        told = [f"{own} of {n_people:,} people of {found.people}", *(f"{k} rows of {name}" for name, k in n.items())]
        click.echo(f"{_clean(folder)}: {_clean(', '.join(told))}")
    for note in found.notes:
        click.echo(f"note: {_clean(note)}")
    return real, holdout


def _write_pairs(table: str, out: str, secrets: list[str], runs: int, options: dict[str, Any]) -> None:
    """Write the training tables of an audit."""
    from divulge.auditing.designs import Asked
    from divulge.auditing.elsewhere import write_trainings

    paths, outlook = write_trainings(
        table, out, asked=Asked(secrets=tuple(secrets)), runs=runs, seed=options["seed"], unit=options["unit"],
        missing=options["missing"], force=options["force"],
    )  # fmt: skip
    for told in outlook:
        click.echo(_clean(told))
    first = _clean(paths[0])
    click.echo(f"training tables: {first}" + (f" to {_clean(paths[-1].name)}" if len(paths) > 1 else ""))
    click.echo("next: have the synthesizer trained on each of them, and on nothing else; keep plan.json to yourself.")
    click.echo(f"Put what comes back into {_clean(paths[0].parent.parent / 'synthetic')} under the same names, then")
    click.echo(f"  divulge audit --from-runs {_clean(shlex.quote(str(out)))}")


def _show(found: Division, real: Path, holdout: Path, unit: str | None) -> None:
    n_units = sum(found.units)
    for side, path, rows in ((0, real, found.real), (1, holdout, found.holdout)):
        units = f", {found.units[side]:,} of {n_units:,} units" if unit is not None else ""
        total = len(found.real) + len(found.holdout)
        click.echo(f"{_clean(path)}: {len(rows):,} of {total:,} rows{units}")
    what = "rows" if unit is None else "units"
    for number, stratum in enumerate(found.strata[:_SHOWN] if len(found.strata) > 1 else (), 1):
        n = sum(stratum.units)
        click.echo(f"stratum {number}: {n:,} {what}, {100 * stratum.units[1] / n:.1f}% of them in the holdout")
    if len(found.strata) > _SHOWN:
        click.echo(f"and {len(found.strata) - _SHOWN:,} more strata")
    for note in found.notes:
        click.echo(f"note: {_clean(note)}")


def _clean(text: object) -> str:

    return clean(text)
