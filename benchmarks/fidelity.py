"""What SDMetrics' fidelity metrics cost here and there: CPU seconds of one thread, peak memory, difference in score.

    python benchmarks/fidelity.py                            all lines, about ten minutes
    python benchmarks/fidelity.py --lines 50000x15,pair      some lines
    python benchmarks/fidelity.py --rounds 1 --json f.json --docs docs/speed.md
    python benchmarks/fidelity.py --lines sound-50000x15 --docs docs/speed.md --mark sound

It needs SDMetrics 0.32.0 and pandas below 3 in the same environment. A line is a quality report of ROWSxCOLUMNS, or

    sound-ROWSxCOLUMNS  SDMetrics' quality report beside divulge.fidelity without models
    pair      counting one pair of columns of a million rows whose codes are given, beside pandas' groupby
    msas      StatisticMSAS (mean) of a million rows in sequences of 100, from pandas
    msas-long the same in ten sequences

Each program runs in a process of its own, on one core, on the same simulated frames: two columns of five are numbers
and three categories of 2 to 42 levels, tied together by a hidden number. A round runs SDMetrics once, and divulge from
each kind of frame: the median of five calls after the first. The ratio is the median of the rounds' ratios.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

LEVELS = (2, 5, 9, 16, 42)
ONE_THREAD = {f"{name}_THREADS": "1" for name in ("OMP_NUM", "OPENBLAS_NUM", "MKL_NUM", "POLARS_MAX")}
KINDS = ("pandas", "polars", "arrow")
LINES = "50000x15,50000x50,1000000x15,50000x400,pair,msas,msas-long"
GOALS = {
    "50000x15": {"pandas": 15, "polars": 15},
    "sound-50000x15": {"pandas": 3, "polars": 3, "arrow": 3},
    "50000x50": {"pandas": 40, "polars": 40},
    "1000000x15": {"pandas": 5, "polars": 10, "arrow": 10},
    "pair": {"codes": 100},
    "msas": {"pandas": 1},
    "msas-long": {"pandas": 1},
}
MOST = 50  # columns beyond which SDMetrics takes a quarter of an hour
PAIR_ROWS = MSAS_ROWS = 1_000_000
HEAD = (
    "what", "from", "SDMetrics, CPU s", "divulge, CPU s", "times", "goal", "met",
    "SDMetrics, MB", "divulge, MB", "frames, MB", "difference",
)  # fmt: skip


# ---------------------------------------------------------------- data


def frame(n: int, k: int, seed: int, kind: str) -> Any:
    """Return a simulated table."""
    rng = np.random.default_rng(seed)
    level = rng.normal(size=n)
    made = {}
    for i in range(k):
        values = level * (0.5 + i % 3 / 2) + rng.normal(size=n)
        if i % 5 < 2:
            made[f"n{i}"] = np.round(values * 10, 2) if i % 5 else np.round(values * 10).astype(np.int64)
        else:
            size = LEVELS[i % 5 if i % 7 else 4]
            codes = np.clip(((values + 4) / 8 * size).astype(int), 0, size - 1)
            made[f"c{i}"] = _texts([f"level {j}" for j in range(size)], codes, kind)
    return _frame(made, kind)


def _texts(levels: list[str], codes: np.ndarray, kind: str) -> Any:
    if kind == "pandas":
        return np.array(levels, dtype=object)[codes]
    import polars as pl

    texts = pl.Series(levels).gather(codes)
    return texts.to_arrow(compat_level=pl.CompatLevel.oldest()) if kind == "arrow" else texts


def _frame(columns: dict[str, Any], kind: str) -> Any:
    if kind == "pandas":
        import pandas as pd

        return pd.DataFrame(columns, copy=False)
    if kind == "arrow":
        import pyarrow as pa

        return pa.table(columns)
    import polars as pl

    return pl.DataFrame(columns)


def metadata(k: int) -> dict[str, Any]:
    """Return the metadata of `frame`."""
    numbers = {f"n{i}": {"sdtype": "numerical"} for i in range(k) if i % 5 < 2}
    columns = {f"{'n' if i % 5 < 2 else 'c'}{i}": numbers.get(f"n{i}", {"sdtype": "categorical"}) for i in range(k)}
    return {"tables": {"people": {"columns": columns}}}


# ---------------------------------------------------------------- what is timed: a call that returns its score


def report(who: str, kind: str, n: int, k: int) -> Callable[[], float]:
    if who == "sdmetrics":
        from sdmetrics.reports import QualityReport
    else:
        from divulge.sdmetrics.reports import QualityReport
    real, synthetic = ({"people": frame(n, k, seed, kind)} for seed in (1, 2))
    given = metadata(k)

    def call() -> float:
        made = QualityReport()
        made.generate(real, synthetic, given, verbose=False)
        return float(made.get_score())

    return call


def sound(kind: str, n: int, k: int) -> Callable[[], float]:
    """Return the call of all measures of fidelity without models; the score is the mean distance of columns."""
    import divulge

    real, synthetic = (frame(n, k, seed, kind) for seed in (1, 2))
    return lambda: float(divulge.fidelity(real, synthetic, models=False).results[0].value)


def pair(who: str) -> Callable[[], float]:
    """Return the counting of the cells of one pair; the score is the sum of squares of the counts."""
    rng = np.random.default_rng(1)
    first = np.minimum(rng.geometric(0.3, PAIR_ROWS) - 1, 14).astype(np.uint8)
    second = np.minimum(first // 2 + rng.integers(0, 5, PAIR_ROWS), 11).astype(np.uint8)
    if who == "sdmetrics":  # which counts so
        import pandas as pd

        texts = np.array([f"level {j}" for j in range(15)], dtype=object)
        table = pd.DataFrame({"a": texts[first], "b": texts[second]})
        return lambda: float((table.groupby(["a", "b"], dropna=False).size() ** 2).sum())
    from divulge.kernels.counts.histograms import pair_histograms

    pair_histograms([first, second] * 3, [15, 12] * 3)  # loads the compiled loop, which counts single pairs if loaded
    return lambda: float((pair_histograms([first, second], [15, 12]).counts ** 2).sum())


def msas(who: str, length: int) -> Callable[[], float]:
    import pandas as pd

    if who == "sdmetrics":
        from sdmetrics.column_pairs import StatisticMSAS
    else:
        from divulge.sdmetrics.column_pairs import StatisticMSAS
    rng = np.random.default_rng(1)
    names = np.array([f"person {i}" for i in range(MSAS_ROWS // length)], dtype=object)
    sides = [
        (pd.Series(np.repeat(names, length)), pd.Series(rng.normal(0, 1 + 0.1 * side, MSAS_ROWS).round(3)))
        for side in range(2)
    ]
    return lambda: float(StatisticMSAS.compute(sides[0], sides[1]))


def call_of(line: str, who: str, kind: str) -> Callable[[], float]:
    if line == "pair":
        return pair(who)
    if line.startswith("msas"):
        return msas(who, 100 if line == "msas" else MSAS_ROWS // 10)
    n, k = _size(line)
    if line.startswith("sound-") and who == "divulge":
        return sound(kind, n, k)
    return report(who, kind, n, k)


def _size(line: str) -> tuple[int, int]:
    n, k = map(int, line.removeprefix("sound-").split("x"))
    return n, k


# ---------------------------------------------------------------- measuring


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def part(line: str, who: str, kind: str, repeats: int) -> dict[str, float]:
    """Measure one program in this process."""
    call = call_of(line, who, kind)
    frames, seconds = _peak(), []
    for _ in range(repeats + 1 if who == "divulge" or line == "pair" else 1):
        began = time.process_time()
        score = call()
        seconds.append(time.process_time() - began)
    return {
        "cpu": statistics.median(seconds[1:] or seconds), "first": seconds[0], "mb": _peak(), "frames": frames,
        "score": score,
    }  # fmt: skip


def in_process(line: str, who: str, kind: str, repeats: int) -> dict[str, float]:
    """Measure one program in a process of its own, on one core."""
    command = [sys.executable, __file__, "--part", line, who, kind, str(repeats)]
    done = subprocess.run(command, env=os.environ | ONE_THREAD, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def measured(line: str, rounds: int, repeats: int) -> list[dict[str, Any]]:
    """Return a row for each kind of frame."""
    kinds = KINDS if "x" in line else tuple(GOALS[line])
    has_peer = "x" not in line or _size(line)[1] <= MOST
    found: list[dict[str, Any]] = [{"line": line, "kind": kind, "theirs": [], "ours": []} for kind in kinds]
    for _ in range(rounds if has_peer else 1):
        theirs = in_process(line, "sdmetrics", "pandas", repeats) if has_peer else None
        for row in found:
            row["ours"].append(in_process(line, "divulge", row["kind"], repeats if has_peer else 1))
            row["theirs"] += [theirs] if theirs else []
    return found


def _median(rounds: list[dict[str, float]], what: str) -> float:
    return statistics.median(r[what] for r in rounds)


def _words(line: str) -> str:
    if line == "pair":
        return "one pair of 1,000,000 rows, codes given"
    if line.startswith("msas"):
        return f"StatisticMSAS, 1,000,000 rows in {'10,000' if line == 'msas' else '10'} sequences"
    n, k = _size(line)
    what = "quality report beside all measures without models" if line.startswith("sound-") else "quality report"
    return f"{what}, {n:,} x {k}"


def cells(row: dict[str, Any]) -> list[str]:
    ours, theirs, goal = row["ours"], row["theirs"], GOALS.get(row["line"], {}).get(row["kind"])
    ratio = statistics.median(t["cpu"] / o["cpu"] for t, o in zip(theirs, ours, strict=True)) if theirs else None
    mb = _median(ours, "mb")
    if goal:
        wanted, met = f">= {goal}", ratio is not None and ratio >= goal
    else:
        wanted, met = ("< 1,000 MB", mb < 1000) if row["line"].endswith("x400") else ("", None)
    return [
        _words(row["line"]),
        row["kind"],
        f"{_median(theirs, 'cpu'):.3g}" if theirs else "not run",
        f"{_median(ours, 'cpu'):.3g}",
        f"{ratio:.3g}" if ratio else "",
        wanted,
        "-" if met is None else "yes" if met else "**no**",
        f"{_median(theirs, 'mb'):.0f}" if theirs else "",
        f"{mb:.0f}",
        f"{_median(ours, 'frames'):.0f}",
        f"{abs(theirs[0]['score'] - ours[0]['score']):.0e}" if theirs and not row["line"].startswith("sound-") else "",
    ]


def _into(page: Path, mark: str, table: str) -> None:
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(f"<!-- {mark} -->")
    after = rest.partition(f"<!-- /{mark} -->")[2]
    page.write_text(f"{before}<!-- {mark} -->\n\n{table}\n\n<!-- /{mark} -->{after}", encoding="utf-8")


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", default=LINES)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--docs", type=Path, help="a page to put the table into")
    parser.add_argument("--mark", default="fidelity", help="name of the table on the page: fidelity, sound")
    parser.add_argument("--part", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.part:
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        line, who, kind, repeats = options.part
        print(json.dumps(part(line, who, kind, int(repeats))))
        return
    lines = ["| " + " | ".join(HEAD) + " |", "|" + " --- |" * len(HEAD)]
    print("\n".join(lines), flush=True)
    found, load = [], [os.getloadavg()[0]]
    for line in options.lines.split(","):
        for row in measured(line, options.rounds, options.repeats):
            found.append(row)
            lines.append("| " + " | ".join(cells(row)) + " |")
            print(lines[-1], flush=True)
        load.append(os.getloadavg()[0])
    versions = ", ".join(f"{name} {version(name)}" for name in ("sdmetrics", "pandas", "polars", "numpy"))
    note = (
        f"Run on {time.strftime('%Y-%m-%d')}, one core of {processor()}, Python {platform.python_version()}, "
        f"{versions}; {options.rounds} rounds; load {min(load):.1f} to {max(load):.1f}."
    )
    print(f"\n{note}")
    if options.json:
        options.json.write_text(json.dumps(found, indent=1), encoding="utf-8")
    if options.docs:
        _into(options.docs, options.mark, "\n".join([*lines, "", note]))


def processor() -> str:
    """Return the name of this machine's processor."""
    info = Path("/proc/cpuinfo")
    names = [x.partition(":")[2].strip() for x in info.read_text().splitlines() if x.startswith("model name")]
    return names[0] if names else platform.processor()


if __name__ == "__main__":
    main()
