"""`divulge verify`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from logging import ERROR
from pathlib import Path

import click

from divulge.cli.log import say
from divulge.cli.options import FILE, names
from divulge.cli.root import cli
from divulge.core.errors import SettingError
from divulge.report.documents.console import clean

__all__ = ["verify"]

_TOLD = 40  # places that are named one by one


@cli.command(short_help="Say whether a report follows from itself, without the data.")
@click.argument("assessment", type=FILE)
@click.argument("tables", type=FILE, nargs=-1, metavar="[REAL SYNTHETIC [HOLDOUT]]")
@click.option("--holdout", type=FILE, metavar="FILE", help="The holdout, if it is not the third table.")
@click.option("--part", metavar="NAME", help="Make this part again from the tables: an attack, or a family of attacks.")
@click.option("--schema", "schema_file", type=FILE, metavar="FILE", help="The schema file of the run.")
@click.option("--missing", multiple=True, callback=names, metavar="TEXT,...", help="The --missing of the run.")
@click.option(
    "--jobs", type=click.IntRange(min=1), metavar="N", help="Number of threads; the results do not depend on it."
)
@click.option("--signature", type=FILE, metavar="FILE", help="Signature by `ssh-keygen -Y sign -n divulge`.")
@click.option("--signers", type=FILE, metavar="FILE", help="Allowed signers (OpenSSH): a name and a public key a line.")
@click.option("-q", "--quiet", is_flag=True, help="Print only what does not follow.")
def verify(
    assessment: str,
    tables: Sequence[str],
    holdout: str | None,
    part: str | None,
    schema_file: str | None,
    missing: Sequence[str],
    jobs: int | None,
    signature: str | None,
    signers: str | None,
    quiet: bool,
) -> None:
    """Recompute what follows from the results of a report (ASSESSMENT, an assessment.json), and say what does not.

    Verdict, sentences, policy, questions and numbers must follow from each other, in either edition; a custodian's
    report is compared with the external edition beside it (external/assessment.json). Whether the numbers are those of
    the tables only the data can tell: with the tables their hashes are compared, and --part makes an attack, or a
    family of attacks, again, which must give the same bytes. With an external edition, name the synthetic table alone.

    
    divulge verify assessment.json
    divulge verify assessment.json real.csv synthetic.csv holdout.csv --part copies
    divulge verify external/assessment.json synthetic.csv

    Exit status: 0 all of it follows, 1 something does not or the signature is not good, 2 unusable input.
    """
    from divulge.verifying.signature import signer
    from divulge.verifying.verify import verify as verified

    if (signature is None) != (signers is None):
        raise SettingError("--signature: it needs --signers, and --signers needs it. hint: give both files.")
    given = _by_role(tables, holdout, part)
    found = verified(assessment)
    by = None if signature is None or signers is None else signer(assessment, signature, signers)
    faults = [f"does not follow: {f}" for f in found.faults]
    from_data: list[str] = []
    if given:
        from_data, other = _from_data(assessment, given, part, (schema_file, missing, jobs))
        faults += [f"does not follow: {f}" for f in other]
    if signature is not None and by is None:
        faults.append("signature: not of this file, or of nobody among the signers")
    if not quiet:
        edition = "custodian's edition" if found.edition == "custodian" else "external edition"
        click.echo(f"{edition}, {found.n_results:,} results")
        for what in found.checked:
            click.echo(f"recomputed: {what}")
        for line in from_data:
            click.echo(clean(line))
        for what in found.unchecked:
            others = "of the other parts: " if part is not None and what.startswith("whether the numbers") else ""
            click.echo(f"not checked: {others}{what}")
    if by is not None and not quiet:
        click.echo(f"signature: good, by {clean(by)}")
    for fault in faults[:_TOLD]:
        say(clean(fault), level=ERROR)
    if len(faults) > _TOLD:
        say(f"{len(faults) - _TOLD:,} more places do not follow", level=ERROR)
    if not faults and not quiet:
        click.echo("All that was recomputed follows.")
    sys.exit(1 if faults else 0)


def _by_role(tables: Sequence[str], holdout: str | None, part: str | None) -> list[str | None]:
    """Return the tables of the command line in their order, the holdout third; [] where none is named."""
    if part is not None and len(tables) < 2:
        raise SettingError(
            "--part: it needs the tables of the run. hint: divulge verify assessment.json real.csv synthetic.csv "
            "--holdout holdout.csv --part copies."
        )
    if len(tables) > 3 or (len(tables) == 3 and holdout is not None) or (holdout is not None and len(tables) < 2):
        raise SettingError(
            f"{len(tables)} tables{' and --holdout' if holdout else ''}: REAL, SYNTHETIC and one HOLDOUT are expected. "
            "hint: with an external edition, name the synthetic table alone."
        )
    return [*tables, holdout] if holdout is not None or len(tables) == 2 else list(tables)


def _from_data(
    assessment: str, given: Sequence[str | None], part: str | None, how: tuple[str | None, Sequence[str], int | None]
) -> tuple[list[str], Sequence[str]]:
    """Return what was and was not checked with the tables, in lines, and what does not follow."""
    from divulge.report.content import read_assessment
    from divulge.tables.folders import linked_sides, relations_in
    from divulge.tables.readers import read_schema
    from divulge.verifying.part import attacks_of_part, check_tables, made_again, parts_of

    data = read_assessment(Path(assessment))
    if data.edition == "external" and len(given) == 1:
        given = [None, given[0], None]
    elif len(given) == 1:
        raise SettingError(
            "synthetic: a custodian's report is of a real table, too. hint: name both: real.csv synthetic.csv."
        )
    paths = dict(zip(("real", "synthetic", "holdout"), given, strict=True))
    attacks = [] if part is None else attacks_of_part(data, part)
    hashed = check_tables(data, paths)
    lines = [f"compared: the sha256 of the file of {', '.join(hashed)}"] if hashed else []
    if not hashed and part is None:
        lines = ["not checked: the tables: their hashes are of columns or folders, which --part reads"]
    if part is None:
        return lines, ()
    schema_file, missing, jobs = how
    described = relations_in(schema_file)
    linked = linked_sides(paths, missing, described=described is not None, engine=data.settings.engine)
    schema = described or (read_schema(schema_file) if schema_file else None)
    again = made_again(data, part, linked or paths, schema=schema, missing=missing, jobs=jobs)
    lines.append(f"made again with the settings of the report: {part}, {again.n:,} results; seconds are not compared")
    rest = [p for p in parts_of(data) if p not in attacks and any(r.attack == p for r in data.results)]
    return [*lines, f"not made again: {', '.join([*rest, 'preconditions, records, fidelity'])}"], again.faults
