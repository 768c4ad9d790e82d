"""Every design of an audit on several generators: what is found, with intervals, and what could have been found.

    python benchmarks/audit.py DATA.csv --secret COLUMN                 the table generator x test
    python benchmarks/audit.py DATA.csv --secret COLUMN --runs 20       so many trainings for secrets and halves
    python benchmarks/audit.py DATA.csv --secret COLUMN --speed         CPU seconds to read one table for each design

Generators are those of `benchmarks/audit_generators.py`; one that needs a package that is absent is left out. They run
in this process, one after the other. The private ones are tested against what they claim.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import pandas as pd
import polars as pl
from audit_generators import GENERATORS, PRIVATE, train

import divulge
from divulge.auditing.result import AuditRecord

TRAININGS = {"domain": 2, "secrets": 6, "halves": 8, "canaries": 5}


def generator(name: str, domain: pd.DataFrame) -> Callable[[pl.DataFrame, int], pl.DataFrame]:
    """Return a function that trains a generator; it cannot be pickled, so that it runs in this process."""
    return lambda table, seed: pl.from_pandas(train(name, table.to_pandas(), seed, domain))


def shown(result: AuditRecord) -> str:
    """Return what a design found in a cell of the table."""
    if result.test == "canaries" and result.epsilon is not None:
        e = result.epsilon
        told = f"{e.low:.2f} of at most {e.ceiling:.2f}"
        return told if e.claim is None else f"{told}; claim {e.claim:g} {'contradicted' if e.rejected else 'stands'}"
    if result.rate is None or result.interval is None:
        return "-"
    return f"{result.rate:.3f} ({result.interval.low:.3f} to {result.interval.high:.3f})"


def row(name: str, data: pl.DataFrame, secret: str, trainings: dict[str, int]) -> list[str]:
    """Return the cells of one generator."""
    made, cells = generator(name, data.to_pandas()), []
    for design, runs in trainings.items():
        settings = {"secrets": [secret]} if design == "secrets" else {}
        if design == "canaries":
            settings = {"claim": PRIVATE.get(name)}
        results = divulge.audit(data, made, design=design, runs=runs, seed=1, **settings).audit.results
        cells.append(shown(results[-1]))
        if design == "domain":
            cells[-1] = f"{results[-1].hits:.0f} : {results[-1].n - results[-1].hits:.0f}"
    return cells


def speed(data: pl.DataFrame, secret: str) -> None:
    """Print the CPU seconds of one table for each design."""
    from divulge.auditing.designs import Asked, design_of
    from divulge.auditing.source import open_source
    from divulge.tables.frames import table_of

    made = table_of(pl.from_pandas(train("margins", data.to_pandas(), 0)), "synthetic")
    for name in TRAININGS:
        design, _ = design_of(name, Asked(secrets=(secret,)))
        began = time.process_time()
        trial = design.prepare(open_source(data, seed=0, unit=None, ignore=(), missing=()).pool)
        prepared = time.process_time()
        trial.read(0, made)
        once, each = prepared - began, time.process_time() - prepared
        print(f"{name}: {once:.2f} s once, {each:.2f} s a table, {data.height:,} people")


def main() -> None:
    """Print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--secret", required=True)
    parser.add_argument("--runs", type=int)
    parser.add_argument("--only", nargs="*", help="generators")
    parser.add_argument("--speed", action="store_true")
    given = parser.parse_args()
    data = pl.read_csv(given.data, infer_schema_length=None)
    if given.speed:
        speed(data, given.secret)
        return
    trainings = TRAININGS if given.runs is None else TRAININGS | {"secrets": given.runs, "halves": given.runs}
    print("| generator |", " | ".join(f"{d} ({n} trainings)" for d, n in trainings.items()), "|")
    print("|", " | ".join(["---"] * (1 + len(trainings))), "|")
    for name in given.only or [*GENERATORS, *PRIVATE]:
        try:
            cells = row(name, data, given.secret, trainings)
        except (ImportError, divulge.DivulgeError) as error:
            cells = [f"left out: {type(error).__name__}"] + ["-"] * (len(trainings) - 1)
        print(f"| {name} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    np.seterr(all="raise", under="ignore")
    main()
