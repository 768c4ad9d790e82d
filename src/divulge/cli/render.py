"""`divulge render`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from divulge.cli.options import FILE, names
from divulge.cli.root import cli
from divulge.cli.show import as_text, cannot_write, check_file, print_page, written
from divulge.core.errors import SettingError

if TYPE_CHECKING:
    from divulge.auditing.report import AuditReport
    from divulge.report.report import Report

__all__ = ["render"]

_DOCUMENTS = {"html": "report.html", "md": "report.md", "json": "assessment.json", "junit": "junit.xml"}
_OF_AUDITS = {"html": "audit.html", "md": "audit.md", "json": "audit.json", "junit": "junit.xml"}


def _formats(_: Any, __: Any, value: str | None) -> list[str] | None:
    """Return the requested formats, each once; None where none are named."""
    if value is None:
        return None
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
              help="Names that an external edition shows: columns. Values of subgroups are shown by the run "
              "alone: divulge assess --reveal values.")  # fmt: skip
@click.option(
    "--format",
    "formats",
    default=None,
    callback=_formats,
    metavar="LIST",
    help="Documents to write: a list of html,md,json,junit, or all.  [default: all; none with --pdf]",
)
@click.option("--pdf", metavar="FILE", help="Print the page to FILE by an installed Chromium, Edge or WeasyPrint.")
@click.option(
    "--regime",
    metavar="NAME",
    help="Write what a regime asks, and what the report says of each line: "
    "wp216, gdpr-recipient, ehds, sp800-226, or a TOML file of your own.",
)
@click.option("--annex", is_flag=True, help="Print the annex too: all comparisons, the method in full, the glossary.")
def render(
    assessment: str,
    out: str | None,
    edition: str | None,
    reveal: Sequence[str],
    formats: list[str] | None,
    pdf: str | None,
    regime: str | None,
    annex: bool,
) -> None:
    """Write the documents of a report again from its assessment.json (ASSESSMENT), without the data.

    If records.parquet lies beside ASSESSMENT, a custodian's HTML page lists the most exposed people. --edition external
    writes the report for the recipient of the synthetic table. ASSESSMENT may be an audit.json of `divulge audit`, too.

    --regime NAME writes regime-NAME.html and regime-NAME.md: a mapping by us, no legal statement. It judges nothing.

    Exit status: 0 done, 2 unusable input.
    """
    from divulge.auditing.report import AuditReport, read_audit
    from divulge.report.report import Report, other_edition

    if annex and not pdf:
        raise SettingError("--annex: only a printed report leaves the annex out. hint: add --pdf FILE.")
    if annex and regime:
        raise SettingError("--annex: the document of a regime has none. hint: leave --annex out.")
    if audit := read_audit(assessment):
        if regime:
            raise SettingError("--regime: an audit answers no regime. hint: name an assessment.json.")
        if annex:
            raise SettingError("--annex: an audit has none. hint: leave --annex out.")
        _render_audit(AuditReport(audit), Path(assessment), out, edition, reveal, formats, pdf)
        return
    report = Report.from_json(assessment)
    has = report.assessment.edition
    shown = report.assessment.revealed if has == (edition or has) == "custodian" else ()
    reveal = [r for r in reveal if r not in shown]
    wanted = _edition(has, edition, reveal, "assessment.json")
    if wanted == "external" and (has == "custodian" or tuple(reveal) != report.assessment.revealed):
        report = report.external(reveal)
    if regime:
        _render_regime(report, regime, Path(assessment), out, wanted != has, formats, pdf)
        return
    if pdf:
        check_file("--pdf", pdf, [assessment], Path(assessment).parent)
        print_page(report.to_html(annex=annex), pdf)
    if pdf and formats is None:
        return
    source = Path(assessment)
    folder = Path(out) if out else source.parent / "external" if wanted != has else source.parent
    if why := other_edition(folder, wanted):
        raise SettingError(f"--out: the folder holds {why}. hint: name another folder.")
    documents = [_DOCUMENTS[f] for f in formats or _DOCUMENTS]
    lacking = [d for d in documents if not _is(folder / d, source)]  # the file that was read stays unchanged
    written(report, folder, only=lacking)
    for document in documents:
        click.echo(as_text(folder / document))


def _render_regime(
    report: Report, name: str, source: Path, out: str | None, made: bool, formats: list[str] | None, pdf: str | None
) -> None:
    """Write what a regime asks, with what the report says beside each line."""
    from divulge.core.atomic_write import new_folder, replaced
    from divulge.release.regimes.document import DOCUMENTS, regime_page
    from divulge.release.regimes.regime import read_regime
    from divulge.report.report import other_edition

    regime = read_regime(name)
    data = report.assessment
    lacking = [f for f in formats or () if f not in DOCUMENTS and set(formats or ()) != set(_DOCUMENTS)]
    if lacking:
        raise SettingError(f"--format: a regime has no document {lacking[0]}. hint: use html or md.")
    if pdf:
        check_file("--pdf", pdf, [str(source), name], source.parent)
        print_page(regime_page(regime, data), pdf)
    if pdf and formats is None:
        return
    folder = Path(out) if out else source.parent / "external" if made else source.parent
    if why := other_edition(folder, data.edition):
        raise SettingError(f"--out: the folder holds {why}. hint: name another folder.")
    private = data.edition != "external"
    try:
        new_folder(folder, private=private)
        for kind in (f for f in formats or DOCUMENTS if f in DOCUMENTS):
            path = folder / f"regime-{regime.name}.{kind}"
            replaced(path, DOCUMENTS[kind](regime, data).encode(), private=private)
            click.echo(as_text(path))
    except OSError as error:
        raise cannot_write("--out", error, "folder") from None


def _edition(has: str, asked: str | None, reveal: Sequence[str], name: str) -> str:
    """Return the edition to write."""
    wanted = asked or has
    if has == "external" and wanted == "custodian":
        raise SettingError(
            f"--edition: an external {name} lacks what the custodian's edition shows. hint: render the custodian's "
            f"{name}."
        )
    if "values" in reveal and name == "assessment.json":
        raise SettingError(
            f"--reveal: {name} has the values that define subgroups only if the run that made it was asked for them. "
            "hint: run it again with --reveal values; its custodian's edition then shows them without --reveal."
        )
    if reveal and wanted == "custodian":
        raise SettingError(
            "--reveal: a custodian's edition names all columns. hint: add --edition external, or leave --reveal out."
        )
    return wanted


def _render_audit(
    report: AuditReport,
    source: Path,
    out: str | None,
    edition: str | None,
    reveal: Sequence[str],
    formats: list[str] | None,
    pdf: str | None,
) -> None:
    """Write the documents of an audit again."""
    from divulge.auditing.report import other_edition

    has = report.audit.edition
    wanted = _edition(has, edition, reveal, "audit.json")
    if wanted == "external" and (has == "custodian" or reveal):
        report = report.external(reveal)
    if pdf:
        check_file("--pdf", pdf, [str(source)], source.parent)
        print_page(report.to_html(), pdf)
    if pdf and formats is None:
        return
    folder = Path(out) if out else source.parent / "external" if wanted != has else source.parent
    if why := other_edition(folder, wanted):
        raise SettingError(f"--out: the folder holds {why}. hint: name another folder.")
    made: dict[str, Callable[[Path], object]] = {
        "html": report.to_html, "md": report.to_markdown, "json": report.to_json, "junit": report.to_junit,
    }  # fmt: skip
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in formats or _OF_AUDITS:
            path = folder / _OF_AUDITS[name]
            if not _is(path, source):  # the file that was read stays unchanged
                made[name](path)
            click.echo(as_text(path))
    except OSError as error:
        raise cannot_write("--out", error, "folder") from None


def _is(path: Path, source: Path) -> bool:
    return path.exists() and path.samefile(source)
