"""Every design of an audit on several generators: what is found, with intervals, and what could have been found.

    python benchmarks/audit.py DATA --secret COLUMN --out runs.jsonl           all that is missing in runs.jsonl
    python benchmarks/audit.py DATA --secret COLUMN --out runs.jsonl --python /other/bin/python --only SMOTE CTGAN
    python benchmarks/audit.py --out runs.jsonl --docs docs/audit.md           the tables, without a training
    python benchmarks/audit.py DATA --secret COLUMN --speed                    CPU seconds and memory of one table

DATA is a table in CSV or Parquet, of which --people are drawn. Generators are those of
`benchmarks/audit_generators.py`; they run in this process, one after the other, and those that need other packages by
a command under --python. The private ones are tested against what they claim. Broken ones run as commands.
"""

from __future__ import annotations

import argparse
import json
import resource
import shlex
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from audit_generators import BROKEN, ELSEWHERE, GENERATORS, PRIVATE, train

import divulge
from divulge.auditing.result import AuditRecord

TRAININGS = {"domain": 2, "secrets": 8, "halves": 8, "canaries": 10}
FEWER = {
    "CTGAN": {"domain": 2, "secrets": 3, "halves": 3, "canaries": 3},
    "MST 1": {"canaries": 3},
    "MST 10": {"canaries": 3},
}
"""Trainings of the generators that take long."""
_LONG = 1000
_BROKEN_RUNS = 6
_LIMIT = 4.0  # seconds, for the one that hangs


def generator(name: str, data: Path, python: str | None) -> Any:
    """Return a command, or a function that trains here; it cannot be pickled, so that it runs in this process."""
    if name in ELSEWHERE:
        script = Path(__file__).with_name("audit_generators.py")
        words = [python or sys.executable, str(script), name]
        return f"{shlex.join(words)} {{train}} {{synthetic}} --seed {{seed}} --domain {shlex.quote(str(data))}"
    domain = pd.read_csv(data)
    trained: Callable[[pl.DataFrame, int], pl.DataFrame] = lambda table, seed: pl.from_pandas(  # noqa: E731
        train(name, table.to_pandas(), seed, domain)
    )
    return trained


def cell(result: AuditRecord, design: str) -> str:
    """Return what a design found, as it stands in the table."""
    if design == "canaries" and result.epsilon is not None:
        e = result.epsilon
        told = f"{e.low:.2f} of at most {e.ceiling:.2f}"
        return told if e.claim is None else f"{told}; claim {e.claim:g} {'contradicted' if e.rejected else 'stands'}"
    if design == "domain":
        return f"{result.hits or 0:.0f} : {result.n - (result.hits or 0):.0f}"
    if result.rate is None or result.interval is None:
        return "-"
    return f"{result.rate:.3f} ({result.interval.low:.3f} to {result.interval.high:.3f})"


def cpu() -> float:
    """Return the CPU seconds of this process and of those that it started."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def made(name: str, design: str, data: Path, given: argparse.Namespace) -> dict[str, Any]:
    """Return what a design found about a generator."""
    began, table = cpu(), pl.read_csv(data, infer_schema_length=None)
    settings: dict[str, Any] = {"secrets": [given.secret]} if design == "secrets" else {}
    if design == "canaries":
        settings = {"claim": PRIVATE.get(name)}
    runs = given.runs or FEWER.get(name, TRAININGS)[design]
    audit = divulge.audit(
        table, generator(name, data, given.python), design=design, runs=runs, seed=1, **settings
    ).audit
    found = audit.results[-1]
    return {
        "generator": name, "design": design, "cell": cell(found, design), "trainings": audit.trainings.done,
        "failed": audit.trainings.failed, "people": table.height, "columns": table.width, "secret": given.secret,
        "verdict": found.verdict, "n": found.n, "training": round(audit.trainings.seconds / audit.trainings.planned, 1),
        "cpu": round(cpu() - began, 1),
    }  # fmt: skip


def broken(name: str, data: Path, secret: str) -> dict[str, Any]:
    """Return what an audit says of a broken generator."""
    began, script = cpu(), Path(__file__).with_name("audit_generators.py")
    command = f"{shlex.join([sys.executable, str(script), name])} {{train}} {{synthetic}} --seed {{seed}}"
    try:
        audit = divulge.audit(pl.read_csv(data, infer_schema_length=None), command, secrets=[secret], runs=_BROKEN_RUNS,
                              timeout=_LIMIT if name == "hangs" else None, seed=1).audit  # fmt: skip
        told = f"{audit.verdict}: {audit.sentence}"
    except divulge.DivulgeError as error:
        told = str(error)
    return {"generator": name, "design": "broken", "cell": told, "cpu": round(cpu() - began, 1)}


def page(runs: list[dict[str, Any]]) -> str:
    """Return the tables in Markdown."""
    found = {(r["generator"], r["design"]): r for r in runs}
    some = next(r for r in runs if r["design"] == "secrets")
    lines = [
        f"{some['people']:,} people, {some['columns']} columns, the secret is {some['secret']}.",
        "",
        "| generator | " + " | ".join(f"{d} ({n} trainings)" for d, n in TRAININGS.items()) + " |",
        "| --- " * (1 + len(TRAININGS)) + "|",
    ]
    width = some["columns"]
    lines += [
        "| " + " | ".join([name, *(_shown(found.get((name, d)), n, width) for d, n in TRAININGS.items())]) + " |"
        for name in [*GENERATORS, *PRIVATE]
        if any((name, d) in found for d in TRAININGS)
    ]  # fmt: skip
    own = [found[n, "canaries"] for n in ELSEWHERE if (n, "canaries") in found]
    slow = [f"{r['generator']} {r['cpu'] / (r['trainings'] + r['failed']):.0f}" for r in own]
    if slow:
        lines += [
            "",
            f"CPU seconds of a training as a command, with the start of Python and the audit: {', '.join(slow)}.",
        ]
    lines += ["", "| broken generator | what the audit says |", "| --- | --- |"]
    lines += [f"| {n} | {found[n, 'broken']['cell']} |" for n in BROKEN if (n, "broken") in found]
    return "\n".join([*lines, "", f"{sum(r['cpu'] for r in runs):,.0f} CPU s in all."])


def _shown(run: dict[str, Any] | None, usual: int, columns: int) -> str:
    if run is None:
        return "-"
    failed = f"; {run['failed']} failed" if run["failed"] else ""
    fewer = "" if run["columns"] == columns else f", {run['columns']} columns"
    return run["cell"] + failed + ("" if run["trainings"] == usual else f"; trainings: {run['trainings']}{fewer}")


def speed(data: pl.DataFrame, secret: str) -> None:
    """Print the CPU seconds of one table for each design, and the largest memory of this process so far."""
    from divulge.auditing.designs import Asked, design_of
    from divulge.auditing.source import open_source
    from divulge.tables.frames import table_of

    made = table_of(pl.from_pandas(train("margins", data.to_pandas(), 0)), "synthetic")
    for name in TRAININGS:
        design, _ = design_of(name, Asked(secrets=(secret,)))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        began = time.process_time()
        trial = design.prepare(open_source(data, seed=0, unit=None, ignore=(), missing=()).pool)
        prepared = time.process_time()
        trial.read(0, made)
        once, each = prepared - began, time.process_time() - prepared
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{name}: {once:.2f} s once, {each:.2f} s a table, {data.height:,} people, {before:,.0f} to {peak:,.0f} MB"
        )


def drawn(path: Path, people: int) -> pl.DataFrame:
    """Return so many rows without missing values; of more than there are, long columns of numbers are drawn anew."""
    table = pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_csv(path, infer_schema_length=None)
    table = table.drop_nulls()
    found = table.sample(people, seed=1, with_replacement=people > table.height)
    if people <= table.height:
        return found
    rng = np.random.default_rng(1)
    long = [c for c in found.columns if found[c].dtype.is_numeric() and found[c].n_unique() > _LONG]
    return found.with_columns(pl.Series(c, rng.integers(found[c].min(), found[c].max(), people)) for c in long)


def into(path: Path, text: str) -> None:
    """Put a text between the marks of a page."""
    before, _, rest = path.read_text(encoding="utf-8").partition("<!-- generators -->")
    after = rest.partition("<!-- /generators -->")[2]
    path.write_text(f"{before}<!-- generators -->\n\n{text}\n\n<!-- /generators -->{after}", encoding="utf-8")


def main() -> None:
    """Train what is missing, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--secret")
    parser.add_argument("--people", type=int, default=1000)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--docs", type=Path)
    parser.add_argument("--only", nargs="*", help="generators")
    parser.add_argument("--designs", nargs="*", default=list(TRAININGS))
    parser.add_argument("--columns", nargs="*", help="columns to train on, where a generator takes long")
    parser.add_argument("--runs", type=int, help="trainings of each design")
    parser.add_argument("--python", help="Python of the generators that need other packages")
    parser.add_argument("--speed", action="store_true")
    given = parser.parse_args()
    if given.speed:
        speed(drawn(given.data, given.people), given.secret)
        return
    given.out.touch()
    runs = [json.loads(line) for line in given.out.read_text(encoding="utf-8").splitlines()]
    if given.data:
        done = {(r["generator"], r["design"]) for r in runs}
        names = given.only or [n for n in [*GENERATORS, *PRIVATE, *BROKEN] if given.python or n not in ELSEWHERE]
        asked = {
            n: ["broken"] if n in BROKEN else [d for d in given.designs if d in FEWER.get(n, TRAININGS)] for n in names
        }
        todo = [(n, d) for n in names for d in asked[n] if (n, d) not in done]
        with TemporaryDirectory() as folder, given.out.open("a", encoding="utf-8") as out:
            data = Path(folder) / "data.csv"
            drawn(given.data, given.people).select(given.columns or pl.all()).write_csv(data)
            for name, design in todo:
                run = broken(name, data, given.secret) if design == "broken" else made(
                    name, design, data, given
                )  # fmt: skip
                runs.append(run)
                print(json.dumps(run), file=out, flush=True)
    print(page(runs))
    if given.docs:
        into(given.docs, page(runs))


if __name__ == "__main__":
    np.seterr(all="raise", under="ignore")
    main()
