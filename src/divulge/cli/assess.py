"""`divulge assess` and `divulge demo`."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from divulge.cli.options import names, run_options, table_options
from divulge.cli.root import cli
from divulge.cli.show import command_line, deliver, progress_shown
from divulge.errors import SettingError

__all__ = ["assess", "demo"]

_LARGE_FILE = 200_000  # bytes: so many hold some thousand rows


@cli.command()
@click.argument("real")
@click.argument("synthetic")
@click.option("--holdout", metavar="FILE", help="People of the same population that the synthesizer never saw.")
@click.option("--keys", multiple=True, callback=names, metavar="COLUMNS", help="What the attacker knows: age,sex,zip.")
@click.option("--targets", multiple=True, callback=names, metavar="COLUMNS", help="What he wants.")
@click.option(
    "--subgroups",
    multiple=True,
    callback=names,
    metavar="COLUMNS",
    help="Report inference for the people of each value of these.",
)
@table_options
@run_options
def assess(real: str, synthetic: str, holdout: str | None, **options: Any) -> None:
    """Attack SYNTHETIC on the people of REAL and compare with the people of a holdout.

    REAL is the table the synthesizer was trained on. CSV, Parquet, Arrow/Feather and Excel files, gzip too; - is
    CSV on standard input. Without --keys, key sets are searched; without --targets, every column is one in turn.

    Exit status: 0 done, 1 a --fail-on rule was broken, 2 unusable input, 3 an attack failed.
    """
    from divulge.files import read
    from divulge.neighbours import warm_up

    if [real, synthetic, holdout].count("-") > 1:
        raise SettingError("-: standard input can be one of the tables only.")
    given = [(real, "real"), (synthetic, "synthetic"), (holdout, "holdout")]
    missing = options["missing"]
    if all(os.path.isfile(path) and os.path.getsize(path) > _LARGE_FILE for path in (real, synthetic)):
        warm_up(2000)  # while the files are read
    tables = {role: None if path is None else read(path, role=role, missing=missing) for path, role in given}
    _assess(tables, options)


def _assess(tables: dict[str, Any], options: dict[str, Any]) -> None:
    from divulge.assessment import assess as run
    from divulge.attacks import CATALOGUE
    from divulge.files import read_schema
    from divulge.gate import breaches, parse_rule

    known = sorted(CATALOGUE)
    if not str(options["out"]).strip():
        raise SettingError("--out: the name of the folder is empty.")
    for rule in options["fail_on"]:
        parse_rule(rule, known)
    schema = read_schema(options["schema_file"]) if options["schema_file"] else None
    with progress_shown(options["quiet"]) as progress:
        report = run(
            tables["real"], tables["synthetic"], holdout=tables["holdout"],
            keys=options["keys"] or None, targets=options["targets"] or None, schema=schema, unit=options["unit"],
            ignore=options["ignore"], missing=options["missing"], search=options["search"],
            subgroups=options.get("subgroups", ()), models=options["models"],
            acceptable=options["acceptable"], seed=options["seed"], level=options["level"],
            positive_control=options["positive_control"],
            jobs=options["jobs"] or os.cpu_count() or 1, progress=progress,
        )  # fmt: skip
    report.data["command"] = command_line()
    deliver(report, options)
    broken = breaches(report.data, options["fail_on"], known)
    for sentence in broken:
        click.echo(f"divulge: rule broken: {sentence}", err=True)
    if broken:
        sys.exit(1)
    if report.failed:
        sys.exit(3)


@cli.command()
@run_options
def demo(**options: Any) -> None:
    """Run the main job on a real table that comes with divulge.

    944 people of the American National Election Study of 1996: half of them train a small tree synthesizer, the
    other half are the holdout.
    """
    from divulge.demo import tables

    real, synthetic, holdout = tables(seed=options["seed"])
    options |= {
        "keys": ["age", "educ", "TVnews"], "targets": ["vote", "PID", "income"], "schema_file": None, "unit": None,
        "ignore": [], "missing": [],
    }  # fmt: skip
    _assess({"real": real, "synthetic": synthetic, "holdout": holdout}, options)
