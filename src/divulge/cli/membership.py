"""`divulge membership` and `divulge changes`."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import click
from msgspec import to_builtins

from divulge.cli.options import FILE, beyond_option, names, views_option, with_holdout
from divulge.cli.root import cli
from divulge.cli.show import as_text, cannot_write, check_file, printed, progress_shown
from divulge.core.errors import SettingError

__all__ = ["changes", "membership"]


def _options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of both commands."""
    options: list[Callable[[Callable[..., Any]], Callable[..., Any]]] = [
        click.option("--columns", multiple=True, callback=names, metavar="COLUMNS",
                     help="Compare only these columns  [default: all that a distance can compare]."),
        click.option("--scores", multiple=True, callback=names, metavar="NAMES",
                     help="Membership scores to compute: ratio,classifier,'3-way margins'."),
        click.option("--schema", "schema_file", type=FILE, metavar="FILE",
                     help="How columns are read: TOML from `divulge schema`, or SDV metadata (JSON)."),
        click.option("--missing", multiple=True, callback=names, metavar="CODES",
                     help="Values that stand for missing: '?,-8'. 'none': '?' and the like are values, too."),
        views_option,
        click.option("--json", "json_file", type=FILE, metavar="FILE", help="File for all numbers; it holds no value "
                     "of the tables."),
        click.option("--seed", type=int, default=0, show_default=True, help="Seed of every random step."),
        click.option("--level", type=float, default=0.95, show_default=True, help="Confidence level of the intervals."),
        beyond_option("the scores are"),
        click.option("-q", "--quiet", is_flag=True, help="Print no progress and no summary."),
    ]  # fmt: skip
    for option in reversed(options):
        function = option(function)
    return function


@cli.command(short_help="Test whether a person is recognised as one of the training data.")
@click.argument("real", type=FILE)
@click.argument("synthetic", type=FILE, nargs=-1, required=True, metavar="SYNTHETIC [HOLDOUT]")
@click.option("--holdout", type=FILE, metavar="FILE",
              help="Table of people from the same population that the synthesizer never saw.")  # fmt: skip
@click.option("--known-members", is_flag=True, help="Add an attacker who knows who most of these people are.")
@click.option(
    "--unit",
    metavar="COLUMN",
    help="Column that identifies the person or household; of linked tables the one of people.",
)
@_options
def membership(real: str, synthetic: Sequence[str], holdout: str | None, **options: Any) -> None:
    """Test whether the people of REAL are told from those of a holdout by SYNTHETIC.

    A second table behind REAL is the HOLDOUT. With --holdout, several SYNTHETIC are several tables of one training set.
    They are attacked together, and the summary shows how the attack gains with their number.

    
    divulge membership real.csv synthetic.csv holdout.csv
    divulge membership real.csv a.csv b.csv c.csv --holdout holdout.csv

    Folders whose files have different columns are linked tables: whole people are tested, with all their rows. --unit
    is then the name of the table of people, and --schema has the relations, where they are not to be inferred.

    Exit status: 0 done, 2 unusable input.
    """
    from divulge.cli.score_text import membership_text
    from divulge.run.membership import membership_checked
    from divulge.tables.folders import linked_sides, relations_in

    synthetic, holdout = with_holdout(synthetic, holdout, together=holdout is not None or len(synthetic) > 2)
    paths = _checked(options, [real, *synthetic, *([] if holdout is None else [holdout])])
    if holdout is None:
        raise SettingError(
            "--holdout: members cannot be compared with anybody. hint: give a table of people that the synthesizer "
            "never saw, as HOLDOUT or, beside several SYNTHETIC, by --holdout; `divulge changes` compares two releases "
            "without one."
        )
    described = relations_in(options["schema_file"])
    sides = {"real": real, "synthetic": synthetic[0] if len(synthetic) == 1 else list(synthetic), "holdout": holdout}
    if linked := linked_sides(sides, options["missing"], described=described is not None):
        _of_people(linked, options, described)
        return
    with progress_shown(options["quiet"]) as progress:
        progress("reading the tables", 0, 1)
        settings = _given(options)
        _check_memory(real, synthetic, holdout, options, settings["schema"])
        tables = _read(paths, ["real", *["synthetic"] * len(synthetic), "holdout"], options)
        progress("scoring people", 0, 1)
        given = settings | {"unit": options["unit"], "known_members": options["known_members"]}
        found, checks = membership_checked(tables[0], tables[1:-1], tables[-1], **given)
    if not options["quiet"]:
        printed((found, checks), membership_text)
    _write(options, lambda: {"preconditions": to_builtins(checks), "results": [r.to_dict() for r in found]})


@cli.command(short_help="Test whether two releases tell who left between them.")
@click.argument("real1", type=FILE)
@click.argument("syn1", type=FILE)
@click.argument("real2", type=FILE)
@click.argument("syn2", type=FILE)
@click.option("--unit", required=True, metavar="COLUMN", help="Column of the person in REAL1 and REAL2.")
@_options
def changes(real1: str, syn1: str, real2: str, syn2: str, **options: Any) -> None:
    """Test whether two releases tell who left between them, and who joined.

    REAL1 and REAL2 are the tables that the synthesizer was trained on before and after, SYN1 and SYN2 its synthetic
    tables. Those who are in REAL1 alone left, those who are in both stayed.

    Exit status: 0 done, 2 unusable input.
    """
    from divulge.attacks.membership.changes import changes as attack
    from divulge.cli.score_text import changes_text

    paths = _checked(options, [real1, syn1, real2, syn2])
    with progress_shown(options["quiet"]) as progress:
        progress("reading the tables", 0, 1)
        roles = [
            "the first real table",
            "the first synthetic table",
            "the second real table",
            "the second synthetic table",
        ]
        given = _given(options)
        _check_memory(real1, [syn1, syn2], real2, options, given["schema"])
        tables = _read(paths, roles, options)
        progress("scoring people", 0, 1)
        found = attack(*tables, unit=options["unit"], **given)
    if not options["quiet"]:
        printed(found, changes_text)
    _write(options, found.to_dict)


def _of_people(tables: dict[str, Any], options: dict[str, Any], schema: Any) -> None:
    """Test whole people of linked tables."""
    from divulge.cli.score_text import membership_text
    from divulge.run.membership import check_settings_of_people, people_checked

    check_settings_of_people({name: options[name] for name in ("columns", "scores", "known_members")})
    with progress_shown(options["quiet"]) as progress:
        progress("scoring people", 0, 1)
        shared = {name: options[name] for name in ("unit", "missing", "seed", "level")}
        found, checks = people_checked(**tables, schema=schema, **shared)
    if not options["quiet"]:
        printed((found, checks), membership_text)
    _write(options, lambda: {"preconditions": to_builtins(checks), "results": [r.to_dict() for r in found]})


def _checked(options: dict[str, Any], paths: Sequence[str]) -> Sequence[str]:
    """Return the paths of the tables; what can be checked before a file is read is right."""
    if list(paths).count("-") > 1:
        raise SettingError("-: only one table can come from standard input. hint: name a file.")
    check_file("--json", options["json_file"], [*paths, options["schema_file"]])
    return paths


def _check_memory(real: str, synthetic: Sequence[str], others: str, options: dict[str, Any], schema: Any) -> None:
    """Refuse scores that are not expected to fit into memory, before a table is read."""
    from divulge.run.forecasting.memory_check import check_membership
    from divulge.run.planning.options import Reading

    if not options["beyond_memory"]:
        reading = Reading(schema, missing=options["missing"])
        check_membership([real, list(synthetic), others], reading, options["columns"] or None)


def _read(paths: Sequence[str], roles: Sequence[str], options: dict[str, Any]) -> list[Any]:
    from divulge.tables.readers import read

    return [read(path, role=role, missing=options["missing"]) for path, role in zip(paths, roles, strict=True)]


def _given(options: dict[str, Any]) -> dict[str, Any]:
    from divulge.tables.readers import read_schema

    return {
        "schema": read_schema(options["schema_file"]) if options["schema_file"] else None,
        "columns": options["columns"] or None,
        "scores": options["scores"] or None,
        **{name: options[name] for name in ("missing", "seed", "level")},
    }


def _write(options: dict[str, Any], content: Callable[[], dict[str, Any]]) -> None:
    """Write the numbers to the file of --json, if one is named."""
    from divulge.core import __version__
    from divulge.core.atomic_write import replaced

    if options["json_file"] is None:
        return
    text = json.dumps({"divulge": __version__, **content()}, indent=1, allow_nan=False)
    try:
        replaced(options["json_file"], f"{text}\n".encode())
    except (OSError, UnicodeError) as error:
        raise cannot_write("--json", error, "file") from None
    if not options["quiet"]:
        click.echo(f"Numbers: {as_text(options['json_file'])}")
