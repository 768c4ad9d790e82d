"""An audit whose trainings others make: divulge writes the training tables, and later reads what came back.

The folder has `train/001.csv` and so on, to give away; `synthetic/`, for the tables of the same names that come back;
and `plan.json`, which stays with the custodian: whoever has it and the real table knows every coin.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from divulge.auditing.audit import concluded, open_trial
from divulge.auditing.checks import Unusable, notes_on
from divulge.auditing.design import Evidence, Trial
from divulge.auditing.designs import Asked, design_of
from divulge.auditing.report import AuditReport
from divulge.auditing.result import Run
from divulge.auditing.runner import Ran
from divulge.auditing.source import Source, open_source
from divulge.core.atomic_write import check_writable, replaced, why_not
from divulge.core.errors import DivulgeError, SettingError
from divulge.tables.readers import read

__all__ = ["Elsewhere", "audit_from_runs", "write_trainings"]

_FORMAT = "divulge-audit-elsewhere/1"
_PLAN, _TRAIN, _SYNTHETIC = "plan.json", "train", "synthetic"


class Elsewhere(msgspec.Struct, frozen=True, kw_only=True):
    """What was written for others to train on."""

    format: str = _FORMAT
    data: str
    """Path of the real table; "" for a frame."""
    table: str
    """Hash of its values."""
    design: str
    asked: Asked
    runs: int
    seed: int
    unit: str | None
    ignore: tuple[str, ...]
    missing: tuple[str, ...]
    suffix: str


def write_trainings(
    data: Any,
    folder: str | Path,
    *,
    design: str = "secrets",
    asked: Asked,
    runs: int = 1,
    seed: int = 0,
    unit: str | None = None,
    ignore: Sequence[str] = (),
    missing: Sequence[str] = (),
    force: bool = False,
) -> tuple[list[Path], tuple[str, ...]]:
    """Write the training tables of an audit, and return their paths and what they can find.

    Raises
    ------
    DivulgeError
        The table or an option cannot be used, or the folder holds an audit and `force` is not given.
    """
    folder = Path(folder)
    if (folder / _PLAN).exists() and not force:
        raise SettingError("--out: the folder holds an audit. hint: another folder, or --force.")
    chosen, _ = design_of(design, asked)
    source = open_source(data, seed=seed, unit=unit, ignore=ignore, missing=missing)
    chosen, trial = open_trial(chosen, source.pool)
    asked = replace(asked, secrets=getattr(chosen, "secrets", asked.secrets))
    path = str(Path(data).absolute()) if isinstance(data, str | PathLike) and str(data) != "-" else ""
    plan = Elsewhere(
        data=path, table=source.digest, design=chosen.name, asked=asked, runs=runs, seed=seed, unit=unit,
        ignore=tuple(ignore), missing=tuple(missing), suffix=source.suffix,
    )  # fmt: skip
    try:
        check_writable(folder)
        for name in (_TRAIN, _SYNTHETIC):
            (folder / name).mkdir(0o700, parents=True, exist_ok=True)
        paths = [folder / _TRAIN / f"{n + 1:03d}{source.suffix}" for n in range(runs)]
        for n, place in enumerate(paths):
            training = trial.training(n)
            source.write(training, source.pool.rng("order of rows", n).permutation(len(training.rows)), place)
        replaced(folder / _PLAN, msgspec.json.format(msgspec.json.encode(plan), indent=2), mode=0o600)
    except OSError as error:
        raise SettingError(f"--out: cannot write there ({why_not(error)}). hint: name another folder.") from None
    return paths, trial.outlook(runs)


def audit_from_runs(folder: str | Path, data: Any = None) -> AuditReport:
    """Return the report on the tables that came back.

    Parameters
    ----------
    folder
        What `write_trainings` wrote, with synthetic tables in `synthetic/` under the names of their training tables.
    data
        The real table; None takes the path in the plan.

    Raises
    ------
    DivulgeError
        The folder holds no plan, the table is another one, or no synthetic table can be used.
    """
    began = time.monotonic(), datetime.now(UTC)
    folder = Path(folder)
    plan = _plan_in(folder)
    if data is None and not plan.data:
        raise SettingError("--from-runs: the plan names no table. hint: name the real table first.")
    source = open_source(
        plan.data if data is None else data, seed=plan.seed, unit=plan.unit, ignore=plan.ignore, missing=plan.missing
    )
    if source.digest != plan.table:
        raise SettingError("--from-runs: the real table is another one than the plan was made for. hint: name that.")
    design, _ = design_of(plan.design, plan.asked)
    design, trial = open_trial(design, source.pool)
    runs, evidence = _read_all(plan, folder, source, trial)
    if not evidence:
        raise SettingError(
            f"--from-runs: no synthetic table can be used. The first one: {runs[0].reason}. hint: put them into "
            f"{_SYNTHETIC}/ under the names of their training tables."
        )
    ran = Ran(tuple(runs), evidence, (), 0.0)
    return concluded(
        design, trial, source, ran, "trained elsewhere", plan.asked, began,
        mend=f"Put what is missing into {_SYNTHETIC}/, and repeat the command.",
    )  # fmt: skip


def _plan_in(folder: Path) -> Elsewhere:
    try:
        return msgspec.json.decode((folder / _PLAN).read_bytes(), type=Elsewhere)
    except OSError:
        raise SettingError("--from-runs: no plan.json there. hint: name a folder of `divulge split --pairs`.") from None
    except msgspec.DecodeError:
        raise SettingError("--from-runs: plan.json is of something else. hint: use `divulge split --pairs`.") from None


def _read_all(plan: Elsewhere, folder: Path, source: Source, trial: Trial) -> tuple[list[Run], dict[int, Evidence]]:
    """Return the trainings and what was read in their tables."""
    runs: list[Run] = []
    evidence: dict[int, Evidence] = {}
    for n in range(plan.runs):
        rows = len(trial.training(n).rows)
        try:
            made = read(_found(folder, n, plan.suffix), role="synthetic", missing=plan.missing)
            notes = notes_on(source.pool, made, rows)
        except (DivulgeError, Unusable) as error:
            runs.append(Run(number=n, status="failed", seed=0, reason=str(error).rstrip(".")))
            continue
        runs.append(Run(number=n, status="done", seed=0, rows=made.n_rows, notes=notes))
        evidence[n] = {name: np.asarray(values) for name, values in trial.read(n, made).items()}
    return runs, evidence


def _found(folder: Path, n: int, suffix: str) -> Path:
    """Return the synthetic table of a training; it may be a file of another kind."""
    stem = folder / _SYNTHETIC / f"{n + 1:03d}"
    own = stem.with_suffix(suffix)
    others = sorted(p for p in stem.parent.glob(f"{stem.name}.*") if p.is_file())
    if not own.is_file() and not others:
        raise Unusable(f"no table {own.name} came back")
    return own if own.is_file() else others[0]
