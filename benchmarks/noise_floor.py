"""What the noise floor of all columns and pairs costs, and all measures with models: CPU seconds of one thread, memory.

    python benchmarks/noise_floor.py --docs docs/speed.md     50,000 and 1,000,000 rows a side, 15 columns
    python benchmarks/noise_floor.py --rows 50000 --rounds 7 --models 0

Both tables are simulated: two columns of five are numbers and three categories of 2 to 42 levels. Each number of rows
runs in a process of its own. "null" is dealing rows into blocks, coding, 999 relabellings of all columns and all pairs,
and limits; "counted" adds correlations, missing patterns, tails, coverage and validity. Reading frames is in neither.
"models" is all of `divulge.fidelity` with a holdout of a fifth and three targets, frames included. The first call is
told alone, as it compiles or loads loops; the numbers are the medians of the rounds.
"""

from __future__ import annotations

import argparse
import datetime
import gc
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

ONE_THREAD = {f"{name}_THREADS": "1" for name in ("OMP_NUM", "OPENBLAS_NUM", "MKL_NUM", "POLARS_MAX", "NUMBA_NUM")}
MARK = "noise floor"
GOALS = {"null": 0.25, "models": 25.0}  # CPU s of 50,000 x 15
TIMES = 20  # CPU time of 1,000,000 rows over that of 50,000, at most
MEGABYTES = 1000
LEVELS = (2, 5, 9, 16, 42)
NULL = ("column_shapes", "column_pairs")
COUNTED = (*NULL, "correlations", "missing_patterns", "tails", "coverage", "validity")


def frame(n: int, k: int, seed: int) -> Any:
    """Return a simulated table."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=n)
    columns: dict[str, Any] = {}
    for j in range(k):
        if j % 5 < 2:
            columns[f"n{j}"] = (40 + 10 * hidden + 10 * rng.normal(size=n)).round(1)
        else:
            levels = LEVELS[j % len(LEVELS)]
            weights = 1 / np.arange(1, levels + 1)
            codes = rng.choice(levels, n, p=weights / weights.sum())
            columns[f"c{j}"] = pl.Series(np.char.add("v", np.arange(levels).astype(str)))[codes]
    return pl.DataFrame(columns)


def counted(n: int, k: int, rounds: int) -> dict[str, Any]:
    """Return what the counted measures of one number of rows cost."""
    from divulge.case.case import build_case
    from divulge.measures.catalogue import all_measures

    entries = {m.name: m for m in all_measures()}
    tables = [frame(n, k, seed) for seed in (1, 2)]
    seconds: dict[str, list[float]] = {"null": [], "counted": []}
    for _ in range(rounds + 1):
        case = build_case(*tables)
        began = time.process_time()
        for name in COUNTED:
            entries[name].run(case)
            if name == NULL[-1]:
                seconds["null"].append(time.process_time() - began)
        seconds["counted"].append(time.process_time() - began)
        del case
        gc.collect()  # the memory is that of one case
    return {"seconds": seconds}


def with_models(n: int, k: int, rounds: int) -> dict[str, Any]:
    """Return what all measures cost, those with models too."""
    import divulge

    real, synthetic, holdout = (frame(rows, k, seed) for seed, rows in ((1, n), (2, n), (3, n // 5)))
    seconds = []
    for _ in range(rounds + 1):
        began = time.process_time()
        divulge.fidelity(real, synthetic, holdout=holdout, targets=["n0", "c2", "c3"])
        seconds.append(time.process_time() - began)
    return {"seconds": {"models": seconds}}


def inside(job: str, n: int, k: int, rounds: int) -> dict[str, Any]:
    """Return what a job cost in a process of its own."""
    command = [
        sys.executable,
        __file__,
        "--inside",
        job,
        "--rows",
        str(n),
        "--columns",
        str(k),
        "--rounds",
        str(rounds),
    ]
    done = subprocess.run(command, check=True, env={**os.environ, **ONE_THREAD}, capture_output=True, text=True)
    return {"n": n, "k": k, **json.loads(done.stdout.splitlines()[-1])}


def lines(found: list[dict[str, Any]]) -> list[str]:
    """Return the table of all jobs."""
    out = [
        "| measures | rows a side | CPU s | least | first call | goal | met | peak, MB |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    base: dict[tuple[str, int], float] = {}
    for job in found:
        for name, seconds in job["seconds"].items():
            first, *others = seconds
            middle = statistics.median(others)
            before = base.setdefault((name, job["k"]), middle)
            goal, met = "", job["peak"] < MEGABYTES
            if before != middle:
                goal, met = f"<= {TIMES} times: {middle / before:.1f}", met and middle <= TIMES * before
            elif name in GOALS and (job["n"], job["k"]) == (50_000, 15):
                goal, met = f"<= {GOALS[name]:g}", met and middle <= GOALS[name]
            out.append(
                f"| {name} | {job['n']:,} x {job['k']} | {middle:.3g} | {min(others):.3g} | {first:.3g} | {goal} | "
                f"{'yes' if met else 'no'} | {job['peak']:.0f} |"
            )
    return out


def main() -> None:
    """Run each number of rows in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default="50000,1000000")
    parser.add_argument("--columns", type=int, default=15)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--models", type=int, default=50_000, help="rows a side with models; 0 leaves them out")
    parser.add_argument("--docs", help=f"page whose table between the marks of {MARK!r} is replaced")
    parser.add_argument("--inside", choices=("counted", "models"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside:
        made = (counted if given.inside == "counted" else with_models)(int(given.rows), given.columns, given.rounds)
        print(json.dumps({**made, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
        return
    from cap import put_between_marks  # not in the processes whose memory is measured
    from fidelity import processor

    load = [os.getloadavg()[0]]
    rounds = {n: given.rounds if n < 500_000 else min(2, given.rounds) for n in map(int, given.rows.split(","))}
    found = [inside("counted", n, given.columns, r) for n, r in rounds.items()]
    if given.models:
        found.append(inside("models", given.models, given.columns, 1))
    load.append(os.getloadavg()[0])
    day = datetime.datetime.now(tz=datetime.UTC).date()
    told = f"Run on {day}, one thread of {processor()}; load {min(load):.1f} to {max(load):.1f}."
    table = "\n".join([*lines(found), "", told])
    print(table)
    if given.docs:
        put_between_marks(Path(given.docs), table, MARK)


if __name__ == "__main__":
    main()
