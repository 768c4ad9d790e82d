"""`divulge assess` and `divulge demo`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from logging import ERROR
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from divulge.cli.log import say, say_nothing
from divulge.cli.options import (
    FILE,
    attacker_options,
    engine_option,
    run_options,
    spill_option,
    table_options,
    with_holdout,
)
from divulge.cli.root import cli
from divulge.cli.show import (
    check_file,
    check_folder,
    check_names,
    command_line,
    deliver,
    finished_shown,
    open_page,
    print_page,
    progress_shown,
)
from divulge.core.errors import SettingError
from divulge.report.documents.console import clean

if TYPE_CHECKING:
    from divulge.core.relations import RelationalSchema
    from divulge.release.policy import Policy
    from divulge.report.model import Assessment
    from divulge.report.report import Report

__all__ = ["assess", "demo"]

_PASSED_ON = (
    "search", "models", "membership", "fidelity", "fidelity_models", "tolerance", "acceptable",
    "positive_control", "seed", "level", "budget", "people", "resume", "beyond_memory", "engine", "spill",
)  # fmt: skip
"""Options of the command line that are passed to a run unchanged."""


@cli.command(short_help="Attack a synthetic table, and report what it divulges.")
@click.argument("real", type=FILE)
@click.argument("synthetic", type=FILE, nargs=-1, required=True, metavar="SYNTHETIC [HOLDOUT]")
@attacker_options
@engine_option("attribution, uniqueness, exact copies and fidelity, and what asks a sample of people")
@spill_option
@table_options
@run_options
def assess(real: str, synthetic: Sequence[str], together: bool, holdout: str | None, **options: Any) -> None:
    """Attack the people of REAL through SYNTHETIC, and compare with the people of a holdout.

    REAL is the table that the synthesizer was trained on. A second table behind it is the HOLDOUT; with --together,
    several SYNTHETIC are attacked as one table of all their rows. Files may be CSV or JSON records, also compressed,
    Parquet, Arrow/Feather or Excel (book.xlsx::SHEET); "-" reads CSV from standard input. Without --keys, divulge
    searches for key sets; without --targets, each column is the target in turn.

    Linked tables: REAL, SYNTHETIC and --holdout are folders of tables with relations, or lists:
    users=users.csv,orders=orders.csv. A person is a row of the table above all others, or of that which --unit names.

    
    divulge assess real.csv synthetic.csv holdout.csv
    divulge assess real.csv synthetic.csv holdout.csv --keys age,sex,zip --targets income --policy policy.toml
    divulge assess real.csv a.csv b.csv c.csv --together --holdout holdout.csv
    divulge assess real/ synthetic/ --holdout holdout/ --schema schema.toml

    Exit status: 0 done, 1 a --fail-on rule or a condition of --policy was broken, 2 unusable input, 3 an attack failed.
    """
    from divulge.tables.folders import linked_sides, relations_in

    synthetic, holdout = with_holdout(synthetic, holdout, together=together)
    paths = [real, *synthetic, *([] if holdout is None else [holdout])]
    if paths.count("-") > 1:
        raise SettingError("-: only one table can come from standard input. hint: name a file.")
    folder = _checked_folder(options, paths)
    tables: dict[str, Any] = {
        "real": real, "synthetic": list(synthetic) if together else synthetic[0], "holdout": holdout,
    }  # fmt: skip
    described = relations_in(options["schema_file"])
    linked = linked_sides(tables, options["missing"], described=described is not None, engine=options["engine"])
    if linked is None:
        check_names(paths, options)
    _assess(linked or tables, options, folder, described)


def _checked_folder(options: dict[str, Any], given: Sequence[str | None] = ()) -> Path:
    """Return the folder of the report; it and the file of --junit can be written."""
    external = options["edition"] == "external"
    folder = Path(_folder(options["out"], external))
    check_folder(folder, external)
    inputs = [*given, options["policy"], options["baseline"], options["schema_file"]]
    check_file("--junit", options["junit"], inputs, folder)
    if options["pdf"]:
        from divulge.report.documents.pdf import check_printer

        check_file("--pdf", options["pdf"], inputs, folder)
        check_printer()
    return folder


def _assess(
    tables: Mapping[str, Any], options: dict[str, Any], folder: Path, linked: RelationalSchema | None = None
) -> None:
    from divulge.cli.gate import previous_run
    from divulge.release.conditions import broken
    from divulge.release.fidelity_rules import parse_rule
    from divulge.release.policy import fixed_by, read_policy
    from divulge.report.external.edition import checked_reveal
    from divulge.run.assess import assess_with
    from divulge.run.making.checkpoints import can_keep, discard
    from divulge.run.planning.options import Attacker, Reading, RunOptions, n_jobs
    from divulge.tables.readers import read_schema

    external, reveal = options["edition"] == "external", options["reveal"]
    if external:
        checked_reveal(reveal)
    for rule in options["fail_on"]:
        parse_rule(rule, _attacks())
    policy = read_policy(options["policy"]) if options["policy"] else None
    previous = previous_run(options["baseline"])
    schema = read_schema(options["schema_file"]) if options["schema_file"] and linked is None else None
    # beside the folder, not in it: checkpoints hold scores of each person, and an external report is passed on
    beside = folder.absolute().with_name(f"{folder.absolute().name}.unfinished")
    keep = beside if options["resume"] or can_keep(beside) else None
    with progress_shown(options["quiet"], names=not external) as progress:
        report = assess_with(
            tables["real"],
            tables["synthetic"],
            tables["holdout"],
            Attacker(options["keys"] or None, options["targets"] or None, options.get("subgroups", ())),
            Reading(schema, options["unit"], options["ignore"], options["missing"], linked),
            RunOptions(
                jobs=n_jobs(options["jobs"]),
                reveal=() if external else reveal,
                keep=keep,
                **{name: options[name] for name in _PASSED_ON} | fixed_by(policy),
            ),
            progress=progress,
            left=progress.left,
            before=say_nothing if options["quiet"] else say,
            finished=finished_shown if options["verbose"] else lambda done: None,
        )
    report = _completed(report, previous, policy, options["fail_on"])
    if external:
        report = report.external(reveal)
    deliver(report, folder, quiet=options["quiet"])
    if options["pdf"]:
        print_page(report.to_html(annex=False), options["pdf"], quiet=options["quiet"])
    if options["open_page"]:
        open_page(folder / "report.html")
    if options["junit"]:
        from divulge.cli.gate import write_junit

        write_junit(options["junit"], report.assessment)
    if keep is not None:
        discard(keep)
    judged = report.assessment.policy
    for sentence in broken(judged) if judged else ():
        say(f"rule broken: {clean(sentence)}", level=ERROR)
    if judged and not judged.kept:
        sys.exit(1)
    if report.failed:
        sys.exit(3)


def _completed(report: Report, previous: Assessment | None, policy: Policy | None, fail_on: Sequence[str]) -> Report:
    """Return the report with the command, what changed, and whether the policy is kept."""
    from divulge.release.baseline import change
    from divulge.release.conditions import judge_policy

    report = report.replaced(command=command_line())
    if previous is not None:
        report = report.replaced(change=change(report.assessment, previous))
    if policy or fail_on:
        report = report.replaced(policy=judge_policy(report.assessment, policy, fail_on, previous))
    return report


def _folder(out: str | None, external: bool) -> str:
    if out is None:
        return "divulge-report-external" if external else "divulge-report"
    if not out.strip():
        raise SettingError("--out: the name of the folder is empty. hint: is a shell variable unset?")
    return out


def _attacks() -> list[str]:
    from divulge.attacks.entry import CATALOGUE

    return sorted(CATALOGUE)


@cli.command(short_help="Assess a synthetic table of a survey that comes with divulge.")
@run_options
def demo(**options: Any) -> None:
    """Assess a synthetic table of a survey that comes with divulge.

    The survey holds 944 people of the American National Election Study of 1996. One half trains a small tree
    synthesizer, the other half is the holdout.
    """
    from divulge.demo import tables

    options |= {
        "keys": ["age", "educ", "TVnews"], "targets": ["vote", "PID", "income"], "schema_file": None, "unit": None,
        "ignore": [], "missing": [], "engine": "auto", "spill": None,
    }  # fmt: skip
    folder = _checked_folder(options)
    real, synthetic, holdout = tables(seed=options["seed"])
    _assess({"real": real, "synthetic": synthetic, "holdout": holdout}, options, folder)
