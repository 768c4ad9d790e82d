"""`divulge render`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from divulge.cli.options import FILE, names
from divulge.cli.root import cli
from divulge.cli.show import as_text, written
from divulge.core.errors import SettingError

__all__ = ["render"]

_DOCUMENTS = {"html": "report.html", "md": "report.md", "json": "assessment.json", "junit": "junit.xml"}


def _formats(_: Any, __: Any, value: str) -> list[str]:
    """Return the requested formats, each once."""
    asked = [part.strip().lower() for part in value.split(",")]
    if "all" in asked:
        return list(_DOCUMENTS)
    if not set(asked) <= set(_DOCUMENTS):
        raise SettingError(f"--format: unknown format. hint: use any of {', '.join(_DOCUMENTS)}, or all.")
    return list(dict.fromkeys(asked))


@cli.command(short_help="Write the documents of a report again, without the data.")
@click.argument("assessment", type=FILE)
@click.option("--out", metavar="DIR", help="Folder to write to  [default: the folder of ASSESSMENT; its subfolder "
              "external/ for the external edition of a custodian's report].")  # fmt: skip
@click.option("--edition", type=click.Choice(["custodian", "external"]),
              help="Edition to write; external leaves out records, small counts and column names.  [default: that of "
              "ASSESSMENT]")  # fmt: skip
@click.option("--reveal", multiple=True, callback=names, metavar="WHAT",
              help="Names that an external edition shows: columns.")  # fmt: skip
@click.option("--format", "formats", default="all", callback=_formats, show_default=True, metavar="LIST",
              help="Documents to write: a list of html,md,json,junit, or all.")  # fmt: skip
def render(assessment: str, out: str | None, edition: str | None, reveal: Sequence[str], formats: list[str]) -> None:
    """Write the documents of a report again from its assessment.json (ASSESSMENT), without the data.

    If records.parquet lies beside ASSESSMENT, a custodian's HTML page lists the most exposed people. --edition external
    writes the report for the recipient of the synthetic table.

    Exit status: 0 done, 2 unusable input.
    """
    from divulge.report.report import Report, other_edition

    report = Report.from_json(assessment)
    has = report.assessment.edition
    wanted = edition or has
    if has == "external" and wanted == "custodian":
        raise SettingError(
            "--edition: an external assessment.json lacks what the custodian's edition shows. hint: render the "
            "custodian's assessment.json."
        )
    if reveal and wanted == "custodian":
        raise SettingError("--reveal: a custodian's edition shows everything. hint: add --edition external.")
    if wanted == "external" and (has == "custodian" or tuple(reveal) != report.assessment.revealed):
        report = report.external(reveal)
    source = Path(assessment)
    folder = Path(out) if out else source.parent / "external" if wanted != has else source.parent
    if why := other_edition(folder, wanted):
        raise SettingError(f"--out: the folder holds {why}. hint: name another folder.")
    documents = [_DOCUMENTS[f] for f in formats]
    lacking = [d for d in documents if not _is(folder / d, source)]  # the file that was read stays unchanged
    written(report, folder, only=lacking)
    for document in documents:
        click.echo(as_text(folder / document))


def _is(path: Path, source: Path) -> bool:
    return path.exists() and path.samefile(source)
