"""What the noise floor of all columns and pairs costs: CPU seconds of one thread, peak memory.

    python benchmarks/noise_floor.py                          50,000 and 1,000,000 rows a side, 15 columns
    python benchmarks/noise_floor.py --rows 50000 --columns 15 --rounds 7

Both tables are simulated: two columns of five are numbers and three categories of 2 to 42 levels. Each number of rows
runs in a process of its own. "null" is dealing rows into blocks, coding, 999 relabellings of all columns and all pairs,
and limits; "all" adds correlations, missing patterns, tails, coverage and validity. Reading frames is in neither. The
first call stands alone, as it compiles or loads loops; the others are the median of the rounds.
"""

from __future__ import annotations

import argparse
import gc
import os
import resource
import statistics
import subprocess
import sys
import time
from typing import Any

import numpy as np
import polars as pl

ONE_THREAD = {f"{name}_THREADS": "1" for name in ("OMP_NUM", "OPENBLAS_NUM", "MKL_NUM", "POLARS_MAX", "NUMBA_NUM")}
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


def measured(n: int, k: int, rounds: int) -> None:
    """Print the line of one number of rows."""
    from divulge.case.case import build_case
    from divulge.measures.catalogue import all_measures

    entries = {m.name: m for m in all_measures()}
    tables = [frame(n, k, seed) for seed in (1, 2)]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds: dict[str, list[float]] = {"null": [], "all": []}
    for _ in range(rounds + 1):
        case = build_case(*tables)
        began = time.process_time()
        for name in COUNTED:
            entries[name].run(case)
            if name == NULL[-1]:
                seconds["null"].append(time.process_time() - began)
        seconds["all"].append(time.process_time() - began)
        del case
        gc.collect()  # the memory is that of one case
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    told = [
        f"{name} {statistics.median(s[1:]):.3f} s (least {min(s[1:]):.3f}, first {s[0]:.2f})"
        for name, s in seconds.items()
    ]
    print(f"{n:,} x {k}: {', '.join(told)}; peak {peak / 1024:.0f} MB, {(peak - before) / 1024:.0f} above the tables")


def main() -> None:
    """Run each number of rows in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default="50000,1000000")
    parser.add_argument("--columns", type=int, default=15)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside:
        measured(int(given.rows), given.columns, given.rounds)
        return
    print(f"load {os.getloadavg()[0]:.1f}", flush=True)
    for n in given.rows.split(","):
        rounds = given.rounds if int(n) < 500_000 else 2
        command = [
            sys.executable,
            __file__,
            "--rows",
            n,
            "--columns",
            str(given.columns),
            "--rounds",
            str(rounds),
            "--inside",
        ]
        subprocess.run(command, check=True, env={**os.environ, **ONE_THREAD})


if __name__ == "__main__":
    main()
