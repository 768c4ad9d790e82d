"""`divulge render`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from divulge.cli.options import FILE, names
from divulge.cli.root import cli
from divulge.core.errors import SettingError

__all__ = ["render"]

_DOCUMENTS = {"html": "report.html", "md": "report.md", "json": "assessment.json", "junit": "junit.xml"}


def _formats(_: Any, __: Any, value: str) -> list[str]:
    """Return the formats that were asked for, each once."""
    asked = [part.strip().lower() for part in value.split(",")]
    if "all" in asked:
        return list(_DOCUMENTS)
    if not set(asked) <= set(_DOCUMENTS):
        raise SettingError(f"--format: not a known format. hint: any of {', '.join(_DOCUMENTS)}, or all.")
    return list(dict.fromkeys(asked))


@cli.command()
@click.argument("assessment", type=FILE)
@click.option("--out", metavar="DIR", help="Folder of the documents  [default: that of ASSESSMENT, for an external "
              "edition of a custodian's one: external/ in it].")  # fmt: skip
@click.option("--edition", type=click.Choice(["custodian", "external"]),
              help="external: no records, no small counts, columns numbered.  [default: as it is]")  # fmt: skip
@click.option("--reveal", multiple=True, callback=names, metavar="WHAT",
              help="Let an external edition show the names of: columns.")  # fmt: skip
@click.option("--format", "formats", default="all", callback=_formats, show_default=True, metavar="LIST",
              help="Of html,md,json,junit; or all.")  # fmt: skip
def render(assessment: str, out: str | None, edition: str | None, reveal: Sequence[str], formats: list[str]) -> None:
    """Make the documents of an ASSESSMENT (the assessment.json of a report) again, without the data.

    The records.parquet beside it, if there is one, gives the page of a custodian its most exposed people. With
    --edition external the same assessment becomes what the recipient of the synthetic table may read.

    Exit status: 0 done, 2 unusable input.
    """
    from divulge.report.report import Report, other_edition

    report = Report.from_json(assessment)
    has = report.assessment.edition
    wanted = edition or has
    if has == "external" and wanted == "custodian":
        raise SettingError(
            "--edition: an external assessment.json does not hold what a custodian's one does. hint: render the "
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
    written = [d for d in documents if not _is(folder / d, source)]  # what was read stays as it was
    try:
        report.write(folder, written)
    except OSError as error:
        raise SettingError(f"--out: cannot write there ({error.strerror}). hint: name another folder.") from None
    for document in documents:
        click.echo(folder / document)


def _is(path: Path, source: Path) -> bool:
    return path.exists() and path.samefile(source)
