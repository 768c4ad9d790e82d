"""`divulge compare`."""

from __future__ import annotations

import os
import sys
from logging import ERROR
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from divulge.cli.log import say, say_nothing
from divulge.cli.options import (
    FILE,
    FOLDER,
    PEOPLE,
    beyond_option,
    check_path,
    engine_option,
    names,
    spill_option,
    table_options,
)
from divulge.cli.root import cli
from divulge.cli.show import as_text, check_names, check_place, command_line, printed, progress_shown, written
from divulge.core.errors import DivulgeError, SettingError
from divulge.report.documents.console import clean

if TYPE_CHECKING:
    from divulge.report.comparison.report import ComparisonReport

__all__ = ["compare"]

_PASSED_ON = (
    "acceptable", "membership", "fidelity", "seed", "level", "people", "beyond_memory", "engine", "spill",
)  # fmt: skip
"""Options of the command line that are passed to a comparison unchanged."""
_SIDES = "name folders on each side, or lists: users=users.csv,orders=orders.csv."


@cli.command(short_help="Rank several synthetic tables by risk.")
@click.argument("real", type=FILE)
@click.argument("candidates", type=FILE, nargs=-1, required=True, metavar="[LABEL=]CANDIDATE...")
@click.option(
    "--holdout", type=FILE, metavar="FILE", help="Table of people from the same population that no synthesizer saw."
)
@click.option(
    "--keys", multiple=True, callback=names, metavar="COLUMNS", help="Columns the attacker knows: age,sex,zip."
)
@click.option(
    "--targets", multiple=True, callback=names, metavar="COLUMNS", help="Columns the attacker wants to learn."
)
@engine_option("the same people are asked through each candidate, one candidate after the other")
@spill_option
@click.option(
    "--people",
    type=PEOPLE,
    metavar="N|all",
    help="Ask N members and N strangers, the same through each candidate.  [default: all; with --engine 1 million]",
)
@table_options
@click.option(
    "--out",
    type=FOLDER,
    metavar="DIR",
    default="divulge-comparison",
    show_default=True,
    help="Folder to write the comparison to.",
)
@click.option(
    "--fidelity/--no-fidelity",
    default=True,
    show_default=True,
    help="Compare columns and pairs of columns with the real ones, and name the front of risk and use.",
)
@click.option(
    "--membership/--no-membership",
    default=True,
    show_default=True,
    help="Test who is taken for a member, by scores of distances, margins and a classifier.",
)
@click.option(
    "--acceptable",
    type=float,
    default=0.05,
    show_default=True,
    help="Largest upper limit of risk that counts as none found.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of every random step.")
@click.option(
    "--level", type=float, default=0.95, show_default=True, help="Confidence level of all statements together."
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of threads; the results do not depend on it.  [default: all cores]",
)
@beyond_option("the comparison is")
@click.option("-q", "--quiet", is_flag=True, help="Print no progress and no summary.")
def compare(real: str, candidates: tuple[str, ...], holdout: str | None, **options: Any) -> None:  # fmt: skip
    """Attack the people of REAL through each CANDIDATE, and rank the candidates by risk, beside their use.

    A candidate is FILE or LABEL=FILE. Files with the same label are tables of one generator, and the ranking is then
    of generators. The full report on each candidate is written to a folder of its own below --out.

    Linked tables: REAL, each CANDIDATE and --holdout are folders, or lists: LABEL=users=users.csv,orders=orders.csv.

    Exit status: 0 done, 2 unusable input, 3 a candidate failed (the others are reported).
    """
    from divulge.report.comparison.model import Failed
    from divulge.run.comparing.compare import compare as run
    from divulge.run.comparing.compared_people import check_ranking
    from divulge.run.planning.options import RunOptions
    from divulge.tables.counting import COUNTING
    from divulge.tables.folders import relations_in
    from divulge.tables.readers import read, read_schema

    folder = Path(options["out"])
    if not options["out"].strip() or (folder.exists() and not folder.is_dir()):
        raise SettingError("--out: this is not a folder. hint: name a folder.")
    check_place(folder)
    given = labelled(candidates)
    if [real, holdout, *(path for _, path in given)].count("-") > 1:
        raise SettingError("-: only one table can come from standard input. hint: name a file.")
    missing, engine = options["missing"], options["engine"]
    asked = {name: options[name] for name in _PASSED_ON}
    check_ranking(RunOptions(**asked))
    elsewhere, described = engine in COUNTING, relations_in(options["schema_file"])
    linked = None if elsewhere and described is None else _linked(real, holdout, given, missing, described is not None)
    if linked is not None:
        people, tables, failed = linked
    if linked is None:
        check_names([real] if holdout is None else [real, holdout], options)
    if linked is None and not options["beyond_memory"] and not elsewhere:
        _check_memory(real, [path for _, path in given], holdout, options)
    if linked is None:
        people = [None if path is None else path if elsewhere else read(path, role=role, missing=missing)
                  for path, role in ((real, "real"), (holdout, "holdout"))]  # fmt: skip
        tables, failed = _tables(given, missing, engine)
    schema = described or (read_schema(options["schema_file"]) if options["schema_file"] else None)
    with progress_shown(options["quiet"], noun="table") as progress:
        report = run(
            people[0], tables, holdout=people[1], keys=options["keys"] or None, targets=options["targets"] or None,
            schema=schema, unit=options["unit"], ignore=options["ignore"], missing=missing,
            jobs=options["jobs"],
            **asked | ({} if elsewhere or linked else {"beyond_memory": True}),
            progress=progress, before=say_nothing if options["quiet"] else say,
        )  # fmt: skip
    unread = tuple(Failed(label=f["label"], why=f["why"]) for f in failed)
    report = report.replaced(failed=unread + report.comparison.failed, command=command_line())
    _deliver(report, folder, quiet=options["quiet"])
    if report.failed:
        sys.exit(3)


def _linked(
    real: str, holdout: str | None, given: list[tuple[str, str]], missing: list[str], described: bool
) -> tuple[list[Any], dict[str, list[Any]], list[dict[str, str]]] | None:
    """Return the linked tables of people and of each label, and those that cannot be read; None of single tables."""
    from divulge.tables.folders import is_linked, linked_sides, tables_of_side

    sides = linked_sides({"real": real, "holdout": holdout}, missing, described=described)
    several = {label for label, path in given if is_linked(path, described=described)}
    if sides is None:
        listed = next((label for label, path in given if label in several and not Path(path).is_dir()), None)
        if listed is not None:
            raise SettingError(f"real: this is one table, and candidate {listed!r} is several. hint: {_SIDES}")
        return None  # a folder is then one table in several files, or its reader says what it lacks to be one
    tables: dict[str, list[Any]] = {}
    failed = []
    for label, path in given:
        if label not in several and Path(path).is_file():
            raise SettingError(f"candidates: {label!r} is one table, and real is several. hint: {_SIDES}")
        try:
            tables.setdefault(label, []).append(tables_of_side(path, missing, "synthetic"))
        except DivulgeError as error:
            failed.append({"label": label, "why": str(error)})
    _check_two(tables, failed)
    return [sides["real"], sides["holdout"]], tables, failed


def _tables(
    given: list[tuple[str, str]], missing: list[str], engine: str
) -> tuple[dict[str, list[Any]], list[dict[str, str]]]:
    """Return the tables of each label, and those that cannot be read; an engine opens each path when its turn comes."""
    from divulge.tables.counting import COUNTING
    from divulge.tables.readers import read

    tables: dict[str, list[Any]] = {}
    failed = []
    for label, path in given:
        try:
            table = read(path, role="synthetic", missing=missing, engine=engine)
            tables.setdefault(label, []).append(path if engine in COUNTING else table)
        except DivulgeError as error:
            failed.append({"label": label, "why": str(error)})
    _check_two(tables, failed)
    return tables, failed


def _check_two(tables: dict[str, list[Any]], failed: list[dict[str, str]]) -> None:
    if failed and sum(map(len, tables.values())) < 2:
        raise SettingError(f"candidates: fewer than two can be read. The first that cannot: {failed[0]['why']}")


def _check_memory(real: str, candidates: list[str], holdout: str | None, options: dict[str, Any]) -> None:
    """Raise an error where the comparison does not fit into memory, before a table is read."""
    from divulge.run.forecasting.memory_check import check_comparison
    from divulge.run.planning.options import Attacker, Reading, RunOptions
    from divulge.tables.readers import read_schema

    schema = read_schema(options["schema_file"]) if options["schema_file"] else None
    names = ("membership", "fidelity", "acceptable", "seed", "level", "people")
    check_comparison(
        real, candidates, holdout, Attacker(options["keys"] or None, options["targets"] or None),
        Reading(schema, options["unit"], options["ignore"], options["missing"]),
        RunOptions(models=False, **{name: options[name] for name in names}),
    )  # fmt: skip


def labelled(candidates: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return label and path of each candidate; a path without a label has its file's stem, made unique.

    A list of linked tables has the label before its first name, or that of the folder of its first table.
    """
    from divulge.tables.packed_files import packing_of

    out: list[tuple[str, str]] = []
    taken = {text.partition("=")[0] for text in candidates if _has_label(text)}
    for text in candidates:
        if _has_label(text):
            label, _, path = text.partition("=")
            check_path("candidates", path)
            out.append((as_text(label), path))
            continue
        if _is_list(text):
            first = Path(text.partition(",")[0].partition("=")[2])
            stem = as_text(first.parent.name or first.stem)
        else:
            stem = as_text(Path(text).name.removesuffix(f".{packing_of(Path(text))}").rsplit(".", 1)[0] or text)
        label, n = stem, 1
        while label in taken:
            n += 1
            label = f"{stem} ({n})"
        taken.add(label)
        out.append((label, text))
    return out


def _has_label(text: str) -> bool:
    """Return whether the text is LABEL=FILE, and not the name of a file with an equals sign."""
    label, sign, path = text.partition("=")
    named = bool(sign and label.strip() and path) and not os.path.exists(text) and os.sep not in label
    return named and not _is_list(text)


def _is_list(text: str) -> bool:
    """Return whether the text lists linked tables, users=users.csv,orders=orders.csv, without a label before them."""
    first, comma, rest = text.partition(",")
    return (
        bool(comma)
        and first.count("=") == 1
        and "=" in rest
        and not os.path.exists(first.partition("=")[2] + comma + rest)
    )


def _deliver(report: ComparisonReport, folder: Path, *, quiet: bool) -> None:
    """Write the documents, and print the summary."""
    from divulge.report.comparison.text import summary

    written(report, folder)
    if quiet:
        for failure in report.failed:
            say(f"{clean(failure['label'])} failed: {clean(failure['why'])}", level=ERROR)
        return
    printed(report.comparison, summary)
    click.echo(f"\nComparison: {as_text(folder / 'comparison.html')}")
