"""What the quality report costs beside SDMetrics: CPU seconds of one thread, peak memory, and the difference in score.

    python benchmarks/fidelity.py                       50,000 rows by 15 and by 50 columns, 50,000 by 400 (ours alone)
    python benchmarks/fidelity.py --shapes 50000x15     other shapes
    python benchmarks/fidelity.py --json fidelity.json

It needs SDMetrics 0.32.0 and pandas below 3 in the same environment. Both programs run in processes of their own on the
same simulated frames: two columns of five are numbers and three categories of 2 to 42 levels, tied together by a hidden
number. Ours is the median of five calls after the first, from pandas and from polars; SDMetrics runs once.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

LEVELS = (2, 5, 9, 16, 42)
ONE_THREAD = {f"{name}_THREADS": "1" for name in ("OMP_NUM", "OPENBLAS_NUM", "MKL_NUM", "POLARS_MAX")}
HEAD = (
    "rows x columns",
    "SDMetrics CPU s",
    "pandas CPU s",
    "ratio",
    "polars CPU s",
    "ratio",
    "MB theirs",
    "MB ours",
    "difference",
)


def frame(n: int, k: int, seed: int) -> tuple[Any, dict[str, Any]]:
    """Return a simulated table and its metadata."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    level = rng.normal(size=n)
    table, columns = {}, {}
    for i in range(k):
        values = level * (0.5 + i % 3 / 2) + rng.normal(size=n)
        if i % 5 < 2:
            table[f"n{i}"] = np.round(values * 10, 2) if i % 5 else np.round(values * 10).astype(np.int64)
            columns[f"n{i}"] = {"sdtype": "numerical"}
        else:
            size = LEVELS[i % 5 if i % 7 else 4]
            codes = np.clip(((values + 4) / 8 * size).astype(int), 0, size - 1)
            table[f"c{i}"] = np.array([f"level {j}" for j in range(size)], dtype=object)[codes]
            columns[f"c{i}"] = {"sdtype": "categorical"}
    return pd.DataFrame(table), {"tables": {"people": {"columns": columns}}}


def part(who: str, n: int, k: int) -> dict[str, float]:
    """Measure one program in this process."""
    if who == "sdmetrics":
        from sdmetrics.reports import QualityReport
    else:
        from divulge.sdmetrics.reports import QualityReport
    (real, metadata), (synthetic, _) = frame(n, k, 1), frame(n, k, 2)
    if who == "polars":
        import polars as pl

        real, synthetic = pl.from_pandas(real), pl.from_pandas(synthetic)
    seconds = []
    for _ in range(1 if who == "sdmetrics" else 6):
        report = QualityReport()
        began = time.process_time()
        report.generate({"people": real}, {"people": synthetic}, metadata, verbose=False)
        seconds.append(time.process_time() - began)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"cpu": statistics.median(seconds[1:] or seconds), "mb": peak, "score": float(report.get_score())}


def in_process(who: str, n: int, k: int) -> dict[str, float]:
    """Measure one program in a process of its own, on one core."""
    command = [sys.executable, __file__, "--part", who, f"{n}x{k}"]
    done = subprocess.run(command, env=os.environ | ONE_THREAD, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def line(n: int, k: int, sdmetrics: bool) -> dict[str, Any]:
    ours, lazy = in_process("pandas", n, k), in_process("polars", n, k)
    theirs = in_process("sdmetrics", n, k) if sdmetrics else {}
    return {"rows": n, "columns": k, "pandas": ours, "polars": lazy, "sdmetrics": theirs}


def cells(found: dict[str, Any]) -> list[str]:
    ours, lazy, theirs = found["pandas"], found["polars"], found["sdmetrics"]
    times = [f"{theirs['cpu'] / side['cpu']:.1f}" if theirs else "" for side in (ours, lazy)]
    apart = f"{abs(theirs['score'] - ours['score']):.0e}" if theirs else ""
    return [
        f"{found['rows']:,} x {found['columns']}",
        f"{theirs['cpu']:.2f}" if theirs else "not run",
        f"{ours['cpu']:.3f}",
        times[0],
        f"{lazy['cpu']:.3f}",
        times[1],
        f"{theirs['mb']:.0f}" if theirs else "",
        f"{ours['mb']:.0f}",
        apart,
    ]


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shapes", default="50000x15,50000x50,50000x400")
    parser.add_argument("--most", type=int, default=50, help="columns beyond which SDMetrics does not run")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--part", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.part:
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        print(json.dumps(part(options.part[0], *map(int, options.part[1].split("x")))))
        return
    shapes = [tuple(map(int, shape.split("x"))) for shape in options.shapes.split(",")]
    found = []
    print("| " + " | ".join(HEAD) + " |\n|" + " --- |" * len(HEAD))
    for n, k in shapes:
        found.append(line(n, k, k <= options.most))
        print("| " + " | ".join(cells(found[-1])) + " |", flush=True)
    print(f"\nLoad {os.getloadavg()[0]:.1f}, Python {sys.version.split()[0]}.")
    if options.json:
        options.json.write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
