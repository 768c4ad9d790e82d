"""`divulge fidelity`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from divulge.cli.log import say
from divulge.cli.options import FILE, beyond_option, engine_option, names, table_options, with_holdout
from divulge.cli.root import cli
from divulge.cli.show import as_text, cannot_write, check_file, progress_shown
from divulge.core.errors import SettingError
from divulge.report.documents.console import clean

__all__ = ["fidelity"]


@cli.command(short_help="Test whether a difference of the tables is more than chance.")
@click.argument("real", type=FILE)
@click.argument("synthetic", type=FILE)
@click.argument("third", type=FILE, required=False, metavar="[HOLDOUT]")
@click.option(
    "--holdout",
    type=FILE,
    metavar="FILE",
    help="Table of people from the same population that the synthesizer never saw.",
)
@click.option(
    "--targets", multiple=True, callback=names, metavar="COLUMNS", help="Columns that models learn to predict."
)
@click.option(
    "--groups",
    multiple=True,
    callback=names,
    metavar="COLUMNS",
    help="Columns whose values define subgroups of people.",
)
@click.option(
    "--tolerance",
    type=float,
    default=0.05,
    show_default=True,
    help="Largest difference that does not matter, as a distance from 0 to 1.",
)
@click.option(
    "--measures",
    multiple=True,
    callback=names,
    metavar="NAMES",
    help="Measures to make: column_shapes,column_pairs  [default: all; column_rules where it takes little time].",
)
@click.option("--models/--no-models", default=True, show_default=True, help="Fit models, which takes most of the time.")
@click.option(
    "--tables",
    multiple=True,
    callback=names,
    metavar="TABLES",
    help="Tables to take from the folders REAL, SYNTHETIC and --holdout, as users=users.csv,orders=orders.csv  "
    "[default: all files].",
)
@click.option(
    "--sequence-key", multiple=True, callback=names, metavar="COLUMNS", help="Columns that name the sequence of a row."
)
@click.option(
    "--sequence-index",
    multiple=True,
    callback=names,
    metavar="COLUMNS",
    help="Columns that order the rows of a sequence.",
)
@table_options
@engine_option("all measures of one table that fit no model")
@click.option(
    "--json", "json_file", type=FILE, metavar="FILE", help="File for all results; it holds no value of the tables."
)
@click.option("--html", "html_file", type=FILE, metavar="FILE", help="File for the results as one offline page.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of every random step.")
@click.option("--level", type=float, default=0.95, show_default=True, help="Confidence level of intervals.")
@beyond_option("the measures are")
@click.option("-q", "--quiet", is_flag=True, help="Print no progress and no results.")
def fidelity(real: str, synthetic: str, third: str | None, holdout: str | None, **options: Any) -> None:
    """Measure how much of REAL the table SYNTHETIC keeps, beside what a fresh sample of the same people would keep.

    The verdicts are "differs", "like a fresh sample", "cannot tell", and "closer than a fresh sample", which points to
    copied rows: see `divulge assess`. There is no grade.

    REAL and SYNTHETIC may be folders of tables with relations, or lists: users=users.csv,orders=orders.csv. With
    --engine a folder is one table in several files.

    Exit status: 0 done, 2 unusable input.
    """
    from divulge.run.fidelity import fidelity as run
    from divulge.tables.readers import read_relational_schema, read_schema

    _, holdout = with_holdout([synthetic, *([] if third is None else [third])], holdout, together=False)
    paths = {"real": real, "synthetic": synthetic, "holdout": holdout}
    if list(paths.values()).count("-") > 1:
        raise SettingError("-: only one table can come from standard input. hint: name a file.")
    for option in ("json", "html"):
        check_file(f"--{option}", options[f"{option}_file"], [*paths.values(), options["schema_file"]])
    if options["json_file"] and options["json_file"] == options["html_file"]:
        raise SettingError("--json and --html: this is one file. hint: name two.")
    # to an engine a folder is one table in several files
    elsewhere = options["engine"] not in ("auto", "memory") and not options["tables"]
    tables, several = (paths, False) if elsewhere else _tables(paths, options["tables"], options["missing"])
    read_one = read_relational_schema if several else read_schema
    schema = read_one(options["schema_file"]) if options["schema_file"] else None
    with progress_shown(options["quiet"], noun="measure", doing="measuring") as progress:
        found = run(
            **tables, targets=options["targets"] or None, groups=options["groups"] or None,
            tolerance=options["tolerance"], measures=options["measures"] or None, models=options["models"],
            sequence_key=options["sequence_key"] or None, sequence_index=options["sequence_index"] or None,
            schema=schema, unit=options["unit"], ignore=options["ignore"], missing=options["missing"],
            seed=options["seed"], level=options["level"], beyond_memory=options["beyond_memory"],
            engine=options["engine"], progress=progress,
        )  # fmt: skip
    for option, write in (("json", found.to_json), ("html", found.to_html)):
        path = options[f"{option}_file"]
        try:
            write(path) if path else None
        except (OSError, UnicodeError) as error:
            raise cannot_write(f"--{option}", error, "file") from None
    if options["quiet"]:
        return
    for note in found.notes:
        say(clean(note))
    click.echo("\n".join(clean(line) for line in str(found).splitlines()))
    if options["html_file"]:
        click.echo(f"\nReport: {as_text(options['html_file'])}")


def _tables(
    paths: Mapping[str, str | None], chosen: Sequence[str], missing: Sequence[str]
) -> tuple[dict[str, Any], bool]:
    """Return the tables of each role, and whether these are dictionaries of tables; of one table each the path."""
    from divulge.sdmetrics.reports.read_inputs import is_one_file, tables_of

    found: dict[str, Mapping[str | None, Any]] = {
        role: {None: path} if is_one_file(path) and not chosen else tables_of(path, chosen, missing, role)
        for role, path in paths.items()
        if path is not None
    }
    alone = {role for role, tables in found.items() if None in tables}
    if alone and len(alone) < len(found):
        told = ", ".join(role.upper() if role != "holdout" else "--holdout" for role in sorted(alone))
        raise SettingError(f"{told}: this is one file, and another side is several. hint: name files, or folders.")
    out = {role: tables[None] if alone else tables for role, tables in found.items()}
    return {"holdout": None, **out}, not alone
