"""`divulge split`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from divulge.cli.options import FILE, FOLDER, names
from divulge.cli.root import cli

if TYPE_CHECKING:
    from pathlib import Path

    from divulge.run.holdout_split import Division

__all__ = ["split"]

_SHOWN = 20  # strata


@cli.command()
@click.argument("table", type=FILE)
@click.option("--holdout", type=float, default=0.5, show_default=True, help="Share of the people to set aside.")
@click.option("--unit", metavar="COLUMN", help="Column of the person or household; its rows are never parted.")
@click.option("--together", is_flag=True, help="Keep rows that are equal in all columns on one side.")
@click.option(
    "--stratify", multiple=True, callback=names, metavar="COLUMNS", help="Columns whose shares both parts keep."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the draw.")
@click.option(
    "--out", type=FOLDER, default="divulge-split", show_default=True, metavar="DIR", help="Folder of the two tables."
)
@click.option(
    "--format", "kind", type=click.Choice(["same", "csv", "parquet"]), default="same", show_default=True,
    help="Of the two tables.",
)  # fmt: skip
@click.option("--missing", multiple=True, callback=names, metavar="CODES", help="Texts that stand for missing: '?,-8'.")
@click.option("--force", is_flag=True, help="Write over tables that are there already.")
def split(table: str, out: str, **options: Any) -> None:
    """Set people of TABLE aside before a synthesizer is trained: an honest holdout, by person or household.

    Writes DIR/real.csv, to train on, and DIR/holdout.csv, which the synthesizer must never see. Who is drawn follows
    from the values and the seed, not from the order of rows. The cells come out as they went in.
    """
    from divulge.run.holdout_split import next_command, split_file

    found, real, holdout = split_file(table, out, **options)
    _show(found, real, holdout, options["unit"])
    click.echo(f"next: train the synthesizer on {_clean(real)} alone, then")
    click.echo(f"  {_clean(next_command(real, holdout, options['unit']))}")


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
    from divulge.report.documents.terminal import clean

    return clean(text)
