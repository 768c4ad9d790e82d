"""A part of a report made again from the tables, and compared byte for byte."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path
from typing import Any

import msgspec

from divulge.attacks.entry import CATALOGUE
from divulge.core.errors import SettingError
from divulge.core.relations import RelationalSchema
from divulge.core.result import Result, label
from divulge.core.schema import Schema
from divulge.report.model import Assessment, ResultRecord, Table
from divulge.run.assess import assess_with
from divulge.run.planning.options import Attacker, Reading, Remade, RunOptions, n_jobs
from divulge.stats.pairing import Paired

__all__ = ["Again", "attacks_of_part", "check_tables", "made_again", "parts_of"]

_HELD = "was found within this attack, but not after correction for the number of attacks"
_MOST = 20


@dataclass(frozen=True, slots=True)
class Again:
    """What was made again, and what of it has other bytes in the report."""

    n: int
    """Results that were made."""
    faults: tuple[str, ...]


def parts_of(data: Assessment) -> list[str]:
    """Return the parts of a report that can be made again: attacks, and families of attacks."""
    run = {r.attack for r in data.results}
    made = [name for name in CATALOGUE if name in run]
    return list(dict.fromkeys([*made, *(_family(name) for name in made)]))


def attacks_of_part(data: Assessment, part: str) -> list[str]:
    """Return the attacks of a part.

    Raises
    ------
    SettingError
        The report has no such part, or tests of it were left out or failed.
    """
    run = {r.attack for r in data.results}
    named = [name for name in CATALOGUE if name in run and part == name] or [
        name for name in CATALOGUE if name in run and part == _family(name)
    ]
    if not named:
        raise SettingError(
            f"--part: the report has no part of this name. hint: use one of {', '.join(parts_of(data))}."
        )
    late = {o.attack for o in data.left_out} | {f.attack for f in data.failed}
    if gone := [name for name in named if name in late]:
        raise SettingError(
            f"--part: tests of {gone[0]} failed or were left out in the run of this report, so that it cannot be made "
            "again alike. hint: name another part."
        )
    return named


def _family(attack: str) -> str:
    return CATALOGUE[attack].family.replace(" ", "_")


def check_tables(data: Assessment, paths: Mapping[str, str | None]) -> list[str]:
    """Return the roles of the tables whose file is that of the report, by its hash.

    Raises
    ------
    SettingError
        A table is missing or too many, is another one than that of the report, or cannot be read.
    """
    shown, checked = data.tables.by_role(), []
    for role, path in paths.items():
        table = shown[role]
        if path is None and table is not None and (data.edition == "custodian" or role == "synthetic"):
            raise SettingError(f"{role}: the run of this report had one. hint: name the {_NAMES[role]}, too.")
        if path is not None and table is None:
            raise SettingError(f"{role}: the run of this report had none. hint: leave the {_NAMES[role]} out.")
        if path is None or table is None or table.sha256 is None or table.hashed != "file" or not Path(path).is_file():
            continue  # what is no single file is compared once it is read
        _check_hash(role, _sha256(role, path), shown)
        checked.append(role)
    return checked


_NAMES = {"real": "real table", "synthetic": "synthetic table", "holdout": "holdout (--holdout)"}


def _check_hash(role: str, found: str, shown: Mapping[str, Table | None]) -> None:
    table = shown[role]
    if table is None or table.sha256 == found:
        return
    other = next((name for name, t in shown.items() if t is not None and t.sha256 == found), None)
    swapped = f"; it is the {_NAMES[other].partition(' (')[0]} of the report" if other else ""
    hint = "change the order: real, synthetic, holdout" if other else "name the very file that was assessed"
    raise SettingError(f"{role}: not the table of this report, by its sha256{swapped}. hint: {hint}.")


def _sha256(role: str, path: str) -> str:
    try:
        with open(path, "rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise SettingError(f"{role}: cannot be read ({error.strerror}). hint: check the path.") from None


def made_again(
    data: Assessment,
    part: str,
    tables: Mapping[str, Any],
    *,
    schema: Schema | RelationalSchema | None = None,
    missing: Sequence[str] = (),
    jobs: int | None = None,
    before: Callable[[str], None] = lambda told: None,
) -> Again:
    """Return which results of a part have other bytes when they are made again with the settings of the report.

    The attacks of the part have the same seed, and each step a generator of its own, so that they do not depend on
    others. What is corrected over all attacks takes the others from the report. Seconds are not compared.

    Parameters
    ----------
    data
        The report, custodian's edition.
    part
        An attack, or a family of attacks with underscores: "copies", "singling_out", "distance".
    tables
        By role, as `divulge.assess` takes them.
    schema, missing
        As they were given to the run: a report says how columns were read, and not from which texts.
    jobs
        Tests that are made side by side; no result depends on it.
    before
        Takes what is told before the run.

    Raises
    ------
    SettingError
        The report has no such part, lacks a setting that the run needs, or is of other tables.
    """
    attacks, s = attacks_of_part(data, part), data.settings
    if data.edition == "external":
        raise SettingError(
            "--part: an external edition has rounded numbers, and nothing that is made again agrees with them. hint: "
            "verify the custodian's assessment.json."
        )
    if s.missing != len(missing):
        raise SettingError(
            f"--missing: the run of this report had {s.missing:,} texts for missing values, and {len(missing):,} are "
            "given; a report does not hold them. hint: give the same --missing."
        )
    people = s.people if s.people is not None else "all" if s.engine in ("auto", "memory") else None
    own, linked = (None, schema) if isinstance(schema, RelationalSchema) else (schema, None)
    ran = assess_with(
        tables["real"],
        tables["synthetic"],
        tables["holdout"],
        Attacker(s.keys, s.targets, s.subgroups, actors=data.threat.actors),
        Reading(own, s.unit, s.ignore, missing, linked),
        RunOptions(
            search="off" if s.search == "off" else "default",
            models=s.models,
            fidelity=False,
            acceptable=s.acceptable,
            seed=s.seed,
            level=s.level,
            jobs=n_jobs(jobs),
            reveal=tuple(r for r in data.revealed if r == "values"),
            people=people,
            engine=s.engine,
            part=Remade(attacks, [_beside(r) for r in data.results if r.attack not in attacks]),
        ),
        before=before,
    ).assessment
    for role, table in ran.tables.by_role().items():
        if table is not None and table.sha256 is not None:
            _check_hash(role, table.sha256, data.tables.by_role())
    if _read(ran) != _read(data):
        raise SettingError(
            "--part: the columns are read in another way than in the run of this report, which does not hold the "
            "schema file. hint: give the --schema and --missing of that run."
        )
    return _compared([r for r in data.results if r.attack in attacks], [r for r in ran.results if r.attack in attacks])


def _read(data: Assessment) -> object:
    return [(c.name, c.kind, c.roles, c.why, c.bins) for c in data.schema]


def _beside(record: ResultRecord) -> Result:
    """Return a result of another attack as it was before the correction over all attacks.

    What counts there is whether it compares, its family, and whether something was found.
    """
    made = Result(**{f: getattr(record, f) for f in record.__struct_fields__})
    if record.verdict in (None, "no holdout") or record.risk is None:
        return made
    comparison: Any = object.__new__(Paired) if record.holdout is None else object()
    found = next((n.partition(" was ")[0].rpartition(" ")[2] for n in record.notes if n.endswith(_HELD)), None)
    verdict = record.verdict if found is None else f"{found} found"
    return msgspec.structs.replace(made, comparison=comparison, verdict=verdict)


def _compared(shown: Sequence[ResultRecord], made: Sequence[ResultRecord]) -> Again:
    faults = []
    if [_named(r) for r in shown] != [_named(r) for r in made]:
        faults.append(f"the part has {len(made):,} results when it is made again, or in another order")
    again = {_named(r): r for r in made}
    for r in shown:
        other = again.get(_named(r))
        if other is None:
            faults.append(f"{label(r)}: is not made again")
        elif _bytes(r) != _bytes(other):
            places = [f for f in r.__struct_fields__ if f != "seconds" and getattr(r, f) != getattr(other, f)]
            faults.append(f"{label(r)}: other bytes ({', '.join(places)})")
    return Again(len(made), tuple(faults[:_MOST]))


def _named(r: ResultRecord) -> tuple[object, ...]:
    return r.attack, r.variant, r.keys, r.target


def _bytes(r: ResultRecord) -> bytes:
    return msgspec.json.encode(msgspec.structs.replace(r, seconds=0.0))
